/* SPDX-License-Identifier: MIT */
/* A function with a fast-path tracepoint, or (-DWITHOUT) without it. */
#include <kymo/trace.h>

KYMO_EVENT_FP(fast, turn, KYMO_ARGS(int number, const char *text), KYMO_LEVEL(debug), number, text);

int turn(int number, const char *text);
int turn(int number, const char *text) {
#ifdef WITHOUT
  (void)text;
#else
  kymo_fast_turn(number, text);
#endif
  return number * 3;
}
