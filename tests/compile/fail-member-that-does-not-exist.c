/* SPDX-License-Identifier: MIT */
/* longer: gcc g++ clang clang++ */
/* expect: no member named .z. */
#include <kymo/types.h>

struct point { int x, y; };
KYMO_STRUCT_TYPE(struct point, x, z)
