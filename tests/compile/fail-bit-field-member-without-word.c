/* SPDX-License-Identifier: MIT */
/* longer: gcc clang clang++ */
/* expect: bit-field */
#include <kymo/types.h>

struct flags { unsigned few : 3; };
KYMO_STRUCT_TYPE(struct flags, few)
