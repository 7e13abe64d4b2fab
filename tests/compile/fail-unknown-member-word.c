/* SPDX-License-Identifier: MIT */
/* longer: gcc g++ */
/* gcc takes the word for a call; what the member is, where it is and its name are mistakes of their own */
/* expect: kymo: (member KYMO_HEXX.y.|a member) is no word of kymo.types.h: KYMO_HEX */
#include <kymo/types.h>

struct point {
  int x, y;
};
KYMO_STRUCT_TYPE(struct point, x, KYMO_HEXX(y))
