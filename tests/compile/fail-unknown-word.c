/* SPDX-License-Identifier: MIT */
/* longer: gcc */
/* expect: kymo: (KYMO_HEXX.port, a.|this) is no word of kymo.trace.h: KYMO_AS, KYMO_HEX */
#include <kymo/trace.h>

void record(int a);
void record(int a) { KYMO(net, rx, KYMO_HEXX(port, a)); }
