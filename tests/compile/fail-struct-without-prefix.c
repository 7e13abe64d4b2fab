/* SPDX-License-Identifier: MIT */
/* expect: kymo: (member from|a member) is not a number: write its listed type before it */
#include <kymo/types.h>

struct point {
  int x, y;
};
KYMO_STRUCT_TYPE(struct point, x, y)
struct line {
  struct point from, to;
};
KYMO_STRUCT_TYPE(struct line, from, (struct point)to)
