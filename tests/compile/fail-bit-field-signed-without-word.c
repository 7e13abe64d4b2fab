/* SPDX-License-Identifier: MIT */
/* expect: kymo: (member all|a member) is a bit-field: write KYMO_BITS */
/* longer: clang */
/* C finds out by the mistake alone: clang needs 19 lines */
#include <kymo/types.h>

struct flags {
  int more;
  int all : 4;
};
KYMO_STRUCT_TYPE(struct flags, more, all)
