/* SPDX-License-Identifier: MIT */
/* expect: kymo: union word is a variant: write KYMO_VARIANT\(\(union word\) w, member that is its tag\) */
#include <kymo/types.h>

union word { int number; float real; };
KYMO_VARIANT_TYPE(union word, (1, number), (2, real))
struct holder { int tag; union word w; };
KYMO_STRUCT_TYPE(struct holder, tag, (union word) w)
