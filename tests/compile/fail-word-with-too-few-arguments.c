/* SPDX-License-Identifier: MIT */
/* expect: kymo: a word has too few or too many arguments */
#include <kymo/trace.h>

struct point {
  int x, y;
};
KYMO_STRUCT_TYPE(struct point, x, y)
void record(struct point *p);
void record(struct point *p) { KYMO(draw, at, KYMO_STRUCT(p, struct point)); }
