/* SPDX-License-Identifier: MIT */
/* expect: kymo: (field .* |a field )is not a number, pointer or text: use KYMO_STRUCT.*KYMO_BLOB */
#include <kymo/trace.h>

void record(unsigned low);
void record(unsigned low) { KYMO(net, rx, KYMO_AS(wide, (__extension__(unsigned __int128) low))); }
