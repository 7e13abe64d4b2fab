/* SPDX-License-Identifier: MIT */
/* expect: kymo: KYMO_ABOUT takes a text of at most 511 bytes, in quotes */
#include <kymo/trace.h>

extern const char *text;
void record(int a);

void record(int a) { KYMO(net, rx, KYMO_ABOUT(text), a); }
