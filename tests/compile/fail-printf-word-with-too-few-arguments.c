/* SPDX-License-Identifier: MIT */
/* expect: kymo: a word has too few or too many arguments: kymo.trace.h and kymo.types.h list them */
#include <kymo/trace.h>

void note(int n);
void note(int n) { KYMO_PRINTF(log, note, "%d %d", n, KYMO_AS(n)); }
