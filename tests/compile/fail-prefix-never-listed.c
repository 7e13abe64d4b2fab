/* SPDX-License-Identifier: MIT */
/* expect: kymo: type struct point of member to has no listing before this one */
#include <kymo/types.h>

struct point { int x, y; };
struct line { struct point to; };
KYMO_STRUCT_TYPE(struct line, (struct point) to)
