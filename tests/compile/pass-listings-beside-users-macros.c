/* SPDX-License-Identifier: MIT */
/* Names of a program's own do not disturb listings, nor the reverse. */
#include <kymo/trace.h>

#define TYPE 1
#define ID 2
#define OP 3
#define kind 4
#define text 5
#define count 6
#define size 7
#define m 8
#define n 9
#define before 10
#define tag 11
#define format 12
#define member 13
#define info 14

struct point {
  int x, y;
};
KYMO_STRUCT_TYPE(struct point, x, y)
union value {
  int i;
  struct point p;
};
KYMO_VARIANT_TYPE(union value, (TYPE, i), (ID, (struct point)p))
void record(const struct point *p, const union value *v);

void record(const struct point *p, const union value *v) {
  KYMO(group, name, KYMO_STRUCT(p, struct point, p), KYMO_VARIANT(v, union value, TYPE, v));
}
