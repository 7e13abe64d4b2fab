/* SPDX-License-Identifier: MIT */
/* expect: kymo: KYMO_PRINTF takes what printf takes, and KYMO_AS, KYMO_LEVEL, KYMO_ABOUT: for a text */
#include <kymo/trace.h>

void note(const char *text, unsigned n);
void note(const char *text, unsigned n) { KYMO_PRINTF(log, note, "%s", KYMO_STRN(text, text, n)); }
