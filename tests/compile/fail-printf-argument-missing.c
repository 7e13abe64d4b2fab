/* SPDX-License-Identifier: MIT */
/* expect: W(error=)?format */
#include <kymo/trace.h>

void note(void) { KYMO_PRINTF(log, note, "%d %d", 1); }
