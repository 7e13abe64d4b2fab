/* SPDX-License-Identifier: MIT */
/* With KYMO_DISABLE listings expand to nothing, and a variable that is only traced does not count as
 * unused. */
#define KYMO_DISABLE
#include <kymo/trace.h>

struct point {
  int x, y;
};
KYMO_STRUCT_TYPE(struct point, x, y)
enum state { IDLE, BUSY };
KYMO_ENUM_TYPE(enum state, IDLE, BUSY)
KYMO_FLAGS_TYPE(enum never, NEVER)
KYMO_UNION_TYPE(union never, never)
KYMO_VARIANT_TYPE(union never, (NEVER, never))

int never(int a) __attribute__((error("evaluated")));
void record(const struct point *where, enum state state, int tag, int has);

void record(const struct point *where, enum state state, int tag, int has) {
  KYMO(none, one, KYMO_STRUCT(where, struct point, where), KYMO_ENUM(state, enum state, state));
  KYMO(none, two, KYMO_OPTIONAL(x, has, never(1)), KYMO_VARIANT(v, union never, tag, where));
  KYMO(none, three, KYMO_STRUCT_ARRAY(points, struct point, where, never(2)), KYMO_TYPED(tag, tag_t, tag));
  KYMO(none, four, KYMO_OPTIONAL_STRUCT(p, struct point, where), KYMO_UNION(u, union never, where),
       KYMO_BE(be, tag));
}
