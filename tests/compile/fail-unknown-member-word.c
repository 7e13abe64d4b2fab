/* SPDX-License-Identifier: MIT */
/* longer: g++ */
/* g++ takes the word for a call; the kind, the place and the name of the member are separate mistakes */
/* expect: kymo: (member KYMO_HEXX.y.|a member) is no word of kymo.types.h: KYMO_HEX */
#include <kymo/types.h>

struct point {
  int x, y;
};
KYMO_STRUCT_TYPE(struct point, x, KYMO_HEXX(y))
