/* SPDX-License-Identifier: MIT */
/* expect: kymo_bprintf: %b, %c take an integer */
#include <kymo/bprintf.h>

void put(struct kymo_bstream *stream, const char *text);
void put(struct kymo_bstream *stream, const char *text) { kymo_bprintf(stream, "text %b", text); }
