/* SPDX-License-Identifier: MIT */
/* expect: kymo: (field where takes a pointer to struct point|a field takes a pointer to its type)|cannot (convert|initialize) */
#include <kymo/trace.h>

struct point {
  int x, y;
};
KYMO_STRUCT_TYPE(struct point, x, y)
struct size {
  int w, h;
};
void record(const struct size *s);

void record(const struct size *s) { KYMO(draw, move, KYMO_STRUCT(where, struct point, s)); }
