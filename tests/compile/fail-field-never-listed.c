/* SPDX-License-Identifier: MIT */
/* expect: (kymo_listed_struct_point.* undeclared|undeclared identifier 'kymo_listed_struct_point'|kymo_listed_.*(const )?point ?\*|undeclared identifier 'kymo_listed_'|kymo_listed_.* was not declared) */
#include <kymo/trace.h>

struct point { int x, y; };
void record(const struct point *p);

void record(const struct point *p) { KYMO(draw, move, KYMO_STRUCT(where, struct point, p)); }
