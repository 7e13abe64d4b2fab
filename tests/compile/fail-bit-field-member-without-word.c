/* SPDX-License-Identifier: MIT */
/* expect: kymo: (member few|a member) is a bit-field: write KYMO_BITS */
#include <kymo/types.h>

struct flags {
  unsigned few : 3;
};
KYMO_STRUCT_TYPE(struct flags, few)
