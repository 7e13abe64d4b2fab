/* SPDX-License-Identifier: MIT */
/* expect: kymo: (field state: type struct point is not listed by KYMO_ENUM_TYPE|a field's type is not listed by the word's own list: KYMO_STRUCT takes KYMO_STRUCT_TYPE, KYMO_ENUM takes KYMO_ENUM_TYPE) */
#include <kymo/trace.h>

struct point {
  int x, y;
};
KYMO_STRUCT_TYPE(struct point, x, y)
void record(int state);

void record(int state) { KYMO(group, name, KYMO_ENUM(state, struct point, state)); }
