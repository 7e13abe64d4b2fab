/* SPDX-License-Identifier: MIT */
/* expect: kymo: (member all|a member) is a bit-field: write KYMO_BITS|of bit-field .all.|to bit-field */
/* also: KYMO_BITS */
/* longer: clang */
/* C finds out by the mistake alone: gcc names the function that says what to do, clang needs 19 lines */
#include <kymo/types.h>

struct flags {
  int more;
  unsigned all : 32;
};
KYMO_STRUCT_TYPE(struct flags, more, all)
