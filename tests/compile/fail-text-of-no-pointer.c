/* SPDX-License-Identifier: MIT */
/* expect: kymo: KYMO_TEXT takes a pointer to char: member name is none */
#include <kymo/types.h>

struct named { char name[8]; };
KYMO_STRUCT_TYPE(struct named, KYMO_TEXT(name))
