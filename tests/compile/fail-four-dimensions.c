/* SPDX-License-Identifier: MIT */
/* expect: kymo: (member cells|a member) has more than three dimensions */
#include <kymo/types.h>

struct space {
  int cells[2][2][2][2];
};
KYMO_STRUCT_TYPE(struct space, cells)
