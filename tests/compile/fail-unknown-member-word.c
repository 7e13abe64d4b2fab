/* SPDX-License-Identifier: MIT */
/* longer: gcc g++ */
/* expect: kymo: (member KYMO_HEXX.y.|a member) is no word of kymo.types.h: KYMO_HEX */
#include <kymo/types.h>

struct point { int x, y; };
KYMO_STRUCT_TYPE(struct point, x, KYMO_HEXX(y))
