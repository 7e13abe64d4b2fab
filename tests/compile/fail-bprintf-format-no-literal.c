/* SPDX-License-Identifier: MIT */
/* expect: error */
#include <kymo/bprintf.h>

void put(struct kymo_bstream *stream, const char *format);
void put(struct kymo_bstream *stream, const char *format) { kymo_bprintf(stream, format, 1); }
