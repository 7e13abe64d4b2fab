/* SPDX-License-Identifier: MIT */
/* Traces types by the listings that kymo types made of shapes.c. */
#include "shapes.h"
/* the types come first */
#include "shape_listings.h"
#include <kymo/trace.h>

static struct shape shape = {.from = {1, 2},
                             .to = {-3, 4},
                             .state = HALF,
                             .permission = READ | EXECUTE,
                             .color = GREEN,
                             .rgb = {0.5f, 0.25f, 1},
                             .owner = 77,
                             .size32 = 32,
                             .size = 64,
                             .is_open = true,
                             .name = "circle",
                             .letter = 'c',
                             .matrix = {{1, 2, 3}, {4, 5, 6}},
                             .corners = {{1, 1}, {2, 2}, {3, 3}, {4, 4}},
                             .position = {7, 8, 9},
                             .far = 1.5L,
                             .low = 5,
                             .some = WRITE,
                             .bits = -3,
                             .as_int = 11,
                             .inner = 12,
                             .innermost = 'i',
                             .value = {.points = {{1, 2}, {3, 4}}},
                             .head = {.value = 13},
                             .shared = 14,
                             .side = RIGHT};

int main(void) {
  KYMO(draw, shape, KYMO_STRUCT(shape, struct shape, &shape), KYMO_ENUM(row, enum row, THREE),
       KYMO_FLAGS(twice, enum twice, BIT), KYMO_TYPED(owner, owner_t, 5));
  KYMO(draw, corners, KYMO_STRUCT_ARRAY(corners, struct point, shape.corners, 4),
       KYMO_UNION(value, union value, &shape.value));
  KYMO(draw, maybe, KYMO_OPTIONAL_STRUCT(at, struct point, &shape.from),
       KYMO_AS(text, "KYMO_STRUCT(no, struct none, 0)"));
  return 0;
}
