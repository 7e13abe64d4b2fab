/* SPDX-License-Identifier: MIT */
/* longer: g++ */
/* 14 lines: the format is also in the function that holds the text of the tracepoint, which g++ names */
/* expect: kymo: KYMO_PRINTF takes a format in quotes */
#include <kymo/trace.h>

void note(const char *format) { KYMO_PRINTF(log, note, format, 1); }
