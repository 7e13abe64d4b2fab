/* SPDX-License-Identifier: MIT */
/* expect: kymo_bprintf: %s, %S take a text */
#include <kymo/bprintf.h>

void put(struct kymo_log *log, int number);
void put(struct kymo_log *log, int number) { kymo_bprintf(log, "%4b%0s", number, number); }
