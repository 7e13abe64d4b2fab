/* SPDX-License-Identifier: MIT */
/* compilers: gcc g++ */
/* expect: W(error=|error,-Wimplicit-)float-conversion */
#include <kymo/trace.h>

#pragma GCC diagnostic error "-Wfloat-conversion"
#ifdef __clang__
#pragma GCC diagnostic error "-Wimplicit-float-conversion"
#endif

void note(long double exact) { KYMO_PRINTF(log, note, "%Lf", exact); }
