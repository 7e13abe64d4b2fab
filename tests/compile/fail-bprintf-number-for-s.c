/* SPDX-License-Identifier: MIT */
/* expect: kymo_bprintf: %s, %S take a text */
#include <kymo/bprintf.h>

void put(struct kymo_bstream *stream, int number);
void put(struct kymo_bstream *stream, int number) { kymo_bprintf(stream, "%4b%0s", number, number); }
