/* SPDX-License-Identifier: MIT */
/* expect: KYMO_LEVEL_verbose|kymo: KYMO_LEVEL takes emergency, alert */
#include <kymo/trace.h>

void record(int a);

void record(int a) { KYMO(net, rx, KYMO_LEVEL(verbose), a); }
