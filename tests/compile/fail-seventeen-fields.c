/* SPDX-License-Identifier: MIT */
/* expect: KYMO_EACH_ */
#include <kymo/trace.h>

void record(int a);

void record(int a) { KYMO(many, seventeen, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a); }
