/* SPDX-License-Identifier: MIT */
/* longer: gcc g++ clang clang++ */
/* -Wformat says it: gcc 12 and that warnings are errors, clang each macro on the way to the argument */
/* expect: W(error=)?format */
#include <kymo/trace.h>

void note(const char *text) { KYMO_PRINTF(log, note, "%d", text); }
