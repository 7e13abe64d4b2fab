/* SPDX-License-Identifier: MIT */
/* longer: gcc g++ clang clang++ */
/* expect: incompatible type|no matching function */
#include <kymo/bprintf.h>

struct point { int x, y; };
void put(struct kymo_bstream *stream, struct point point);
void put(struct kymo_bstream *stream, struct point point) { kymo_bprintf(stream, "%8b", point); }
