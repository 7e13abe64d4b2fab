/* SPDX-License-Identifier: MIT */
/* Variants and optionals around a value. */
#include "print/wrap.h"
#include "decode/walk.h"
#include "schema/parts.h"

static bool is_option_of(const struct kymo_type *variant, const struct kymo_member *option) {
  return option >= variant->members && option < variant->members + variant->member_count;
}

/* The number of steps from `type` down to the value, or -1. Types are at most KYMO_WALK_DEPTH deep. */
static int find(const struct kymo_type *type, const struct kymo_value *value, unsigned depth) {
  if (depth > KYMO_WALK_DEPTH)
    return -1;
  int below = -1;
  if (type->kind == KYMO_KIND_OPTIONAL) {
    if (type == value->type)
      return 0; /* absent */
    below = find(type->element, value, depth + 1);
  } else if (type->kind != KYMO_KIND_VARIANT) {
    return type == value->type ? 0 : -1;
  } else if (value->option && is_option_of(type, value->option)) {
    below = find(value->option->type, value, depth + 1);
  } else {
    for (uint32_t i = 0; below < 0 && i < type->member_count; i++)
      if (type->members[i].type->kind == KYMO_KIND_VARIANT ||
          type->members[i].type->kind == KYMO_KIND_OPTIONAL)
        below = find(type->members[i].type, value, depth + 1);
  }
  return below < 0 ? -1 : below + 1;
}

unsigned kymo_wrap_count(const struct kymo_type *declared, const struct kymo_value *value) {
  int count = find(declared, value, 0);
  return count < 0 ? 0 : (unsigned)count;
}
