/* SPDX-License-Identifier: MIT */
/* expect: kymo_bprintf: the format is written in quotes */
#include <kymo/bprintf.h>

void put(struct kymo_log *log, const char *format);
void put(struct kymo_log *log, const char *format) { kymo_bprintf(log, format, 1); }
