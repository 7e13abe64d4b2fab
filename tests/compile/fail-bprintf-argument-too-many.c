/* SPDX-License-Identifier: MIT */
/* expect: kymo_bprintf: the format takes fewer arguments */
#include <kymo/bprintf.h>

void put(struct kymo_bstream *stream);
void put(struct kymo_bstream *stream) { kymo_bprintf(stream, "%n%1b", 1, 2); }
