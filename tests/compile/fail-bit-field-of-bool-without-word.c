/* SPDX-License-Identifier: MIT */
/* expect: kymo: (member on|a member) is a bit-field: write KYMO_BITS|of bit-field .on.|to bit-field */
/* also: KYMO_BITS */
/* longer: clang */
/* C finds out by the mistake alone: gcc names the function that says what to do, clang needs 19 lines */
#include <kymo/types.h>
#include <stdbool.h>

struct flags {
  bool on : 1;
  int more;
};
KYMO_STRUCT_TYPE(struct flags, more, on)
