/* SPDX-License-Identifier: MIT */
/* expect: W(error=)?format */
#include <kymo/trace.h>

void note(const char *text) { KYMO_PRINTF(log, note, "%d", text); }
