/* SPDX-License-Identifier: MIT */
/* longer: g++ clang clang++ */
/* expect: KYMO_LEVEL_verbose */
#include <kymo/trace.h>

void record(int a);

void record(int a) { KYMO(net, rx, KYMO_LEVEL(verbose), a); }
