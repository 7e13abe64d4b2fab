/* SPDX-License-Identifier: MIT */
/* A tracepoint is one statement, and names of its surroundings do not disturb it. */
#include <kymo/trace.h>

static inline int twice(int x) {
  KYMO(where, inline_function, x);
  return 2 * x;
}

int record(int i, int n, int at);

int record(int i, int n, int at) {
  if (i)
    KYMO(where, then, i);
  else
    KYMO(where, otherwise, i, n, at);
  for (; i < n; i++)
    KYMO(where, loop, twice(i));
  switch (n) {
  case 1: KYMO(where, case_label, n); break;
  default: break;
  }
  return twice(at);
}
