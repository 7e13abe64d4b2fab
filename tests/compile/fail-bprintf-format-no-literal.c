/* SPDX-License-Identifier: MIT */
/* longer: gcc g++ clang clang++ */
/* expect: error */
#include <kymo/bprintf.h>

void put(struct kymo_bstream *stream, const char *format);
void put(struct kymo_bstream *stream, const char *format) { kymo_bprintf(stream, format, 1); }
