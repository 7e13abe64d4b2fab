/* SPDX-License-Identifier: MIT */
/* longer: clang */
/* C finds out by the mistake alone; the first eight members are found one macro below the listing, others by
 * a list of macros: 19 lines */
/* expect: no member named .k.|kymo: a member is not one of the type */
#include <kymo/types.h>

struct wide {
  int a, b, c, d, e, f, g, h, i;
};
KYMO_STRUCT_TYPE(struct wide, a, b, c, d, e, f, g, h, k)
