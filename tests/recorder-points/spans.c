/* SPDX-License-Identifier: MIT */
/* Scopes that are left in every way. The comments beside them have the expected payloads as babeltrace2
 * prints them. */
#include <kymo/trace.h>

static int leave(int how) {
  KYMO_SPAN(spans, outer, how, KYMO_LEVEL(info), KYMO_ABOUT("all of it"));
  while (how < 9) {
    KYMO_SPAN(spans, inner, KYMO_AS(way, (short)how));
    if (how == 1)
      return 1;
    if (how == 2)
      break;
    if (how == 3)
      goto out;
    if (how++ == 4)
      continue;
    how = 9;
  }
out:
  return how;
}

int main(void) {
  leave(1);
  //= spans:outer_begin: { how = 1 }
  //= spans:inner_begin: { way = 1 }
  //= spans:inner_end: { }
  //= spans:outer_end: { }
  leave(2);
  //= spans:outer_begin: { how = 2 }
  //= spans:inner_begin: { way = 2 }
  //= spans:inner_end: { }
  //= spans:outer_end: { }
  leave(3);
  //= spans:outer_begin: { how = 3 }
  //= spans:inner_begin: { way = 3 }
  //= spans:inner_end: { }
  //= spans:outer_end: { }
  leave(4);
  //= spans:outer_begin: { how = 4 }
  //= spans:inner_begin: { way = 4 }
  //= spans:inner_end: { }
  //= spans:inner_begin: { way = 5 }
  //= spans:inner_end: { }
  //= spans:outer_end: { }
  KYMO_SPAN_BEGIN(spans, by_hand, KYMO_AS(text, "from here"));
  //= spans:by_hand_begin: { text = "from here" }
  KYMO_SPAN_END(spans, by_hand, KYMO_AS(result, -1));
  //= spans:by_hand_end: { result = -1 }
  return 0;
}
