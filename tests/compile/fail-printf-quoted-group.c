/* SPDX-License-Identifier: MIT */
/* expect: kymo: write group and name without quotes and hyphens, as in KYMO */
#include <kymo/trace.h>

void note(int a);
void note(int a) { KYMO_PRINTF("log", note, "%d", a); }
