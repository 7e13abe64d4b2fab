/* SPDX-License-Identifier: MIT */
/* expect: kymo_bprintf: %b, %c take an integer */
#include <kymo/bprintf.h>

void put(struct kymo_log *log, double real);
void put(struct kymo_log *log, double real) { kymo_bprintf(log, "%n%8b", real); }
