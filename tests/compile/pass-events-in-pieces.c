/* SPDX-License-Identifier: MIT */
/* Events in pieces and spans, beside a program's macros of their words. */
#include <kymo/trace.h>

#define build built
#define size sized
#define room 7
#define begin 8
#define at 9

int run(const char *text, uint16_t *values, int n);
int run(const char *text, uint16_t *values, int n) {
  char memory[100];
  struct kymo_build one;
  KYMO_SPAN(net, run, n);
  KYMO_BUILD(&one, memory, sizeof memory, net, request, n, text, KYMO_BLOB(data, values, n),
             KYMO_LATER(count, unsigned long), KYMO_LATER_ARRAY(values, uint16_t), KYMO_LATER_TEXT(rest),
             KYMO_LATER_BLOB(raw), KYMO_LEVEL(debug), KYMO_ABOUT("x"));
  if (kymo_build_is_on(&one))
    kymo_build_integer(&one, 4);
  kymo_build_bytes(&one, values, sizeof *values);
  kymo_build_next(&one);
  kymo_build_text(&one, text);
  for (int i = 0; i < n; i++) {
    KYMO_SPAN(net, turn);
    if (i == 7)
      return 0;
  }
  KYMO_SPAN_BEGIN(net, by_hand, n);
  KYMO_SPAN_END(net, by_hand);
  KYMO_SAME(net, again, n);
  return kymo_build_commit(&one);
}
