/* SPDX-License-Identifier: MIT */
/* expect: kymo: write group and name without quotes and hyphens, as in KYMO */
#include <kymo/trace.h>

void record(int a);
void record(int a) { KYMO(net, rx - tx, a); }
