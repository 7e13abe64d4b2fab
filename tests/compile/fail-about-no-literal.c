/* SPDX-License-Identifier: MIT */
/* longer: g++ clang clang++ */
/* expect: expected .*text|could not convert|expected .\). */
#include <kymo/trace.h>

extern const char *text;
void record(int a);

void record(int a) { KYMO(net, rx, KYMO_ABOUT(text), a); }
