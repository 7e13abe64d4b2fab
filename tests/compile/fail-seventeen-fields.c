/* SPDX-License-Identifier: MIT */
/* expect: kymo: a tracepoint has at most 16 fields: store a struct */
#include <kymo/trace.h>

extern int a;
void record(void);

void record(void) { KYMO(many, seventeen, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a); }
