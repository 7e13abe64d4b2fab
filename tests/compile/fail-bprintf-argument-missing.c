/* SPDX-License-Identifier: MIT */
/* expect: kymo_bprintf: the format takes more arguments */
#include <kymo/bprintf.h>

void put(struct kymo_log *log);
void put(struct kymo_log *log) { kymo_bprintf(log, "%1b*3", 1, 2); }
