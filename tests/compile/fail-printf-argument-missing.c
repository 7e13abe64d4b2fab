/* SPDX-License-Identifier: MIT */
/* longer: clang clang++ */
/* -Wformat says it; clang points to the function that is checked too */
/* expect: W(error=)?format */
#include <kymo/trace.h>

void note(void) { KYMO_PRINTF(log, note, "%d %d", 1); }
