/* SPDX-License-Identifier: MIT */
/* expect: W(error=)?format */
#include <kymo/trace.h>

void note(const wchar_t *text) { KYMO_PRINTF(log, note, "%s", text); }
