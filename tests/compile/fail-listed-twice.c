/* SPDX-License-Identifier: MIT */
/* longer: gcc */
/* gcc C reports the listing and its two functions again, 22 lines: file scope has no other names for them */
/* expect: kymo: (struct point|this type) is listed twice: keep one listing of each type */
#include <kymo/types.h>

struct point {
  int x, y;
};
KYMO_STRUCT_TYPE(struct point, x, y)
KYMO_STRUCT_TYPE(struct point, y)
