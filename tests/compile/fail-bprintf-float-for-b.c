/* SPDX-License-Identifier: MIT */
/* expect: kymo_bprintf: %b, %c take an integer */
#include <kymo/bprintf.h>

void put(struct kymo_bstream *stream, double real);
void put(struct kymo_bstream *stream, double real) { kymo_bprintf(stream, "%n%8b", real); }
