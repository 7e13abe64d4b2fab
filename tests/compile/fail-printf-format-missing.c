/* SPDX-License-Identifier: MIT */
/* expect: kymo: KYMO_PRINTF takes a format in quotes */
#include <kymo/trace.h>

void note(void);
void note(void) { KYMO_PRINTF(log, note); }
