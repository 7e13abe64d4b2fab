/* SPDX-License-Identifier: MIT */
/* expect: kymo_bprintf: %b, %c take an integer */
#include <kymo/bprintf.h>

void put(struct kymo_bstream *stream, void *pointer);
void put(struct kymo_bstream *stream, void *pointer) { kymo_bprintf(stream, "%1b%4b", 1, pointer); }
