/* SPDX-License-Identifier: MIT */
/* longer: g++ */
/* g++ needs 14: it names the function that holds the text of the tracepoint */
/* expect: kymo: KYMO_PRINTF takes a format in quotes */
#include <kymo/trace.h>

void note(const char *format) { KYMO_PRINTF(log, note, format, 1); }
