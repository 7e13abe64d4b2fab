/* SPDX-License-Identifier: MIT */
/* expect: kymo_bprintf: %b, %c take an integer */
#include <kymo/bprintf.h>

struct point {
  int x, y;
};
void put(struct kymo_log *log, struct point point);
void put(struct kymo_log *log, struct point point) { kymo_bprintf(log, "%8b", point); }
