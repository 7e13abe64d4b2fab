/* SPDX-License-Identifier: MIT */
/* expect: kymo: (field p|a field) is not a number, pointer or text: use KYMO_STRUCT.*KYMO_BLOB */
#include <kymo/trace.h>

struct point {
  int x, y;
};
void record(struct point p);
void record(struct point p) { KYMO(draw, at, p); }
