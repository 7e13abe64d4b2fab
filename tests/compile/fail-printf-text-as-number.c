/* SPDX-License-Identifier: MIT */
/* longer: clang clang++ */
/* 24 lines: clang prints the three macros of the word and the four that its expression passes through */
/* expect: W(error=|error,-W)?format */
#include <kymo/trace.h>

void note(const char *text) { KYMO_PRINTF(log, note, "%d", KYMO_AS(n, text)); }
