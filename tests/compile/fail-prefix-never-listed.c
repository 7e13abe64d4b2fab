/* SPDX-License-Identifier: MIT */
/* expect: kymo: (type struct point of member to|a member's type) has no listing before this one: write KYMO_STRUCT_TYPE */
#include <kymo/types.h>

struct point {
  int x, y;
};
struct line {
  struct point to;
};
KYMO_STRUCT_TYPE(struct line, (struct point)to)
