/* SPDX-License-Identifier: MIT */
/* expect: kymo: (field act..|a field) is not a number, pointer or text */
#include <kymo/trace.h>

void act(void);
void record(void);
void record(void) { KYMO(net, rx, act()); }
