/* SPDX-License-Identifier: MIT */
/* expect: kymo_bprintf: the format takes fewer arguments */
#include <kymo/bprintf.h>

void put(struct kymo_log *log);
void put(struct kymo_log *log) { kymo_bprintf(log, "%n%1b", 1, 2); }
