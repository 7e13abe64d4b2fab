/* SPDX-License-Identifier: MIT */
/* expect: kymo: (member name|a member) is none: KYMO_TEXT takes a pointer to char */
#include <kymo/types.h>

struct named {
  char name[8];
};
KYMO_STRUCT_TYPE(struct named, KYMO_TEXT(name))
