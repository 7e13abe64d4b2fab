/* SPDX-License-Identifier: MIT */
/* expect: kymo: KYMO_PRINTF takes what printf takes, and KYMO_AS, KYMO_LEVEL, KYMO_ABOUT: for a text */
#include <kymo/trace.h>

void note(int n);
void note(int n) { KYMO_PRINTF(log, note, "%d %d", n, KYMO_OPTIONAL(n, n > 1, n)); }
