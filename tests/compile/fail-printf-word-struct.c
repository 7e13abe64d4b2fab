/* SPDX-License-Identifier: MIT */
/* expect: kymo: KYMO_PRINTF takes what printf takes, and KYMO_AS, KYMO_LEVEL, KYMO_ABOUT: for a text */
#include <kymo/trace.h>

struct point {
  int x, y;
};
KYMO_STRUCT_TYPE(struct point, x, y)
void note(const struct point *at);
void note(const struct point *at) { KYMO_PRINTF(log, note, "%p", KYMO_STRUCT(at, struct point, at)); }
