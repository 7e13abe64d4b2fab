/* SPDX-License-Identifier: MIT */
/* expect: kymo: KYMO_PRINTF takes no %n */
#include <kymo/trace.h>

void count(int *n) { KYMO_PRINTF(log, note, "%d%n", 1, n); }
