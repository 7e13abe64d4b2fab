/* SPDX-License-Identifier: MIT */
/* expect: (field where takes a pointer to struct point|size ?\*.* to .*point ?\*|const struct point \*' with an lvalue of type 'const struct size \*') */
#include <kymo/trace.h>

struct point { int x, y; };
KYMO_STRUCT_TYPE(struct point, x, y)
struct size { int w, h; };
void record(const struct size *s);

void record(const struct size *s) { KYMO(draw, move, KYMO_STRUCT(where, struct point, s)); }
