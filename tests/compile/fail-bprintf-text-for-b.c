/* SPDX-License-Identifier: MIT */
/* expect: kymo_bprintf: %b, %c take an integer */
#include <kymo/bprintf.h>

void put(struct kymo_log *log, const char *text);
void put(struct kymo_log *log, const char *text) { kymo_bprintf(log, "text %b", text); }
