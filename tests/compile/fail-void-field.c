/* SPDX-License-Identifier: MIT */
/* longer: gcc g++ clang++ */
/* expect: void|kymo: a field is no number, pointer or text */
#include <kymo/trace.h>

void act(void);
void record(void);
void record(void) { KYMO(net, rx, act()); }
