/* SPDX-License-Identifier: MIT */
/* What a call site is when it is off; the test disassembles it. */
#include <kymo/trace.h>

int compute(int a);
int plain(int a);
int traced(int a);

int plain(int a) { return a * 3; }

int traced(int a) {
  KYMO(nop, traced, KYMO_AS(computed, compute(a)), KYMO_AS(text, "a text"));
  return a * 3;
}
