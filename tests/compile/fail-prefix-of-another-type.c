/* SPDX-License-Identifier: MIT */
/* expect: kymo: (member to is not of type struct size|a member is not of the type before it: struct line: .struct size. ?to) */
#include <kymo/types.h>

struct point {
  int x, y;
};
struct size {
  int w, h;
};
KYMO_STRUCT_TYPE(struct size, w, h)
struct line {
  struct point to;
};
KYMO_STRUCT_TYPE(struct line, (struct size)to)
