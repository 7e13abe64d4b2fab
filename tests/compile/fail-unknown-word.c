/* SPDX-License-Identifier: MIT */
/* longer: gcc */
/* gcc C takes the word for a call of an unknown function with an unknown argument, 14 lines */
/* expect: kymo: (KYMO_HEXX.port, a.|this) is no word of kymo.trace.h: KYMO_AS, KYMO_HEX */
#include <kymo/trace.h>

void record(int a);
void record(int a) { KYMO(net, rx, KYMO_HEXX(port, a)); }
