/* SPDX-License-Identifier: MIT */
/* expect: kymo_bprintf: %b, %c take an integer */
#include <kymo/bprintf.h>

struct point {
  int x, y;
};
void put(struct kymo_bstream *stream, struct point point);
void put(struct kymo_bstream *stream, struct point point) { kymo_bprintf(stream, "%8b", point); }
