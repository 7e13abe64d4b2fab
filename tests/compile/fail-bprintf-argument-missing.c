/* SPDX-License-Identifier: MIT */
/* expect: kymo_bprintf: the format takes more arguments */
#include <kymo/bprintf.h>

void put(struct kymo_bstream *stream);
void put(struct kymo_bstream *stream) { kymo_bprintf(stream, "%1b*3", 1, 2); }
