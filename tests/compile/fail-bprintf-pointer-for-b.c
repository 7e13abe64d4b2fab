/* SPDX-License-Identifier: MIT */
/* expect: kymo_bprintf: %b, %c take an integer */
#include <kymo/bprintf.h>

void put(struct kymo_log *log, void *pointer);
void put(struct kymo_log *log, void *pointer) { kymo_bprintf(log, "%1b%4b", 1, pointer); }
