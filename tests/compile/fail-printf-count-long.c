/* SPDX-License-Identifier: MIT */
/* expect: kymo: KYMO_PRINTF takes no %n */
#include <kymo/trace.h>

void count(long *n, const wchar_t *wide) { KYMO_PRINTF(log, note, "%ls%ln", wide, n); }
