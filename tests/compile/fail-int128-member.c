/* SPDX-License-Identifier: MIT */
/* expect: kymo: (member wide|a member) is not a number */
#include <kymo/types.h>

__extension__ typedef unsigned __int128 wide_t;
struct sum {
  wide_t wide;
};
KYMO_STRUCT_TYPE(struct sum, wide)
