/* SPDX-License-Identifier: MIT */
/* languages: c */
/* expect: incomplete type|kymo: a field is an array of unknown size: use KYMO_ARRAY */
#include <kymo/trace.h>

extern int table[];
void record(void);
void record(void) { KYMO(net, rx, table); }
