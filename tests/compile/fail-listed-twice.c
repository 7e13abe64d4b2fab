/* SPDX-License-Identifier: MIT */
/* expect: kymo: (struct point|this type) is listed twice: keep one listing of each type */
#include <kymo/types.h>

struct point {
  int x, y;
};
KYMO_STRUCT_TYPE(struct point, x, y)
KYMO_STRUCT_TYPE(struct point, y)
