/* SPDX-License-Identifier: MIT */
/* longer: clang */
/* C finds out by the mistake alone: clang prints the three macros of the word and those below, 23 lines */
/* expect: no member named .z.|kymo: a member is not one of the type */
#include <kymo/types.h>

struct point {
  int x, y;
};
KYMO_STRUCT_TYPE(struct point, x, KYMO_HEX(z))
