/* SPDX-License-Identifier: MIT */
/* expect: kymo: (type point_t of member to|a member's type) has no listing before this one: write KYMO_STRUCT_TYPE */
#include <kymo/types.h>

typedef struct {
  int x, y;
} point_t;
struct line {
  point_t to;
};
KYMO_STRUCT_TYPE(struct line, (point_t)to)
