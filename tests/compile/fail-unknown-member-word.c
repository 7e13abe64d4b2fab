/* SPDX-License-Identifier: MIT */
/* longer: gcc g++ clang clang++ */
/* expect: KYMO_HEXX */
#include <kymo/types.h>

struct point { int x, y; };
KYMO_STRUCT_TYPE(struct point, x, KYMO_HEXX(y))
