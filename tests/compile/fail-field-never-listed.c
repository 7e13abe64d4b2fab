/* SPDX-License-Identifier: MIT */
/* expect: kymo: (field where: type struct point|a field's type) is not listed: write KYMO_STRUCT_TYPE */
#include <kymo/trace.h>

struct point {
  int x, y;
};
void record(const struct point *p);

void record(const struct point *p) { KYMO(draw, move, KYMO_STRUCT(where, struct point, p)); }
