/* SPDX-License-Identifier: MIT */
/* expect: expected a scalar type, or an array of scalars of up to three dimensions */
#include <kymo/schema.h>

struct point {
  int x, y;
};
uint32_t take(struct kymo_builder *builder) {
  return kymo_builder_lookup_or_create_type_id(builder, struct point[2]);
}
