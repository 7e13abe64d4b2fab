/* SPDX-License-Identifier: MIT */
/* expect: no member named .z.|kymo: a member is not one of the type */
#include <kymo/types.h>

struct point {
  int x, y;
};
KYMO_STRUCT_TYPE(struct point, x, z)
