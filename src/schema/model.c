/* SPDX-License-Identifier: MIT */
/* Lookups in a finished schema, its reference count, and the arithmetic of clocks. */
#include "schema/model.h"
#include "base/hash.h"
#include <stdlib.h>
#include <string.h>

/* ---- id → class ---- */

struct id_entry {
  uint64_t id;
  const void *value;
};

/* Keyed: untrusted files choose their ids. */
static uint32_t hash_of(uint64_t id) {
  struct kymo_keyed hash;
  kymo_keyed_begin(&hash);
  kymo_keyed_add(&hash, id);
  return (uint32_t)kymo_keyed_end(&hash);
}

const void *kymo_id_table_find(const struct id_table *table, uint64_t id) {
  const struct id_entry *entry;
  uint32_t hash = hash_of(id), at = hash;
  while ((entry = (const struct id_entry *)kymo_hash_table_next(&table->table, hash, &at)))
    if (entry->id == id)
      return entry->value;
  return NULL;
}

bool kymo_id_table_add(struct id_table *table, struct kymo_arena *arena, uint64_t id, const void *value) {
  struct id_entry *entry = kymo_arena_alloc(arena, sizeof *entry);
  if (!entry)
    return false;
  *entry = (struct id_entry){id, value};
  return kymo_hash_table_add(&table->table, arena, hash_of(id), (uintptr_t)entry);
}

const struct kymo_stream_class *kymo_schema_stream(const struct kymo_schema *schema, uint64_t id) {
  return kymo_id_table_find(&((const struct schema_impl *)schema)->streams, id);
}

const struct kymo_event_class *kymo_stream_class_event(const struct kymo_stream_class *stream, uint64_t id) {
  return kymo_id_table_find(&((const struct stream_impl *)stream)->events, id);
}

/* ---- by name ---- */

const struct kymo_environment *kymo_schema_environment(const struct kymo_schema *schema, const char *name) {
  for (uint32_t i = 0; i < schema->environment_count; i++)
    if (strcmp(schema->environment[i]->name, name) == 0)
      return schema->environment[i];
  return NULL;
}

/* ---- references into options ---- */

static bool leads_to(const struct kymo_type *type, const char *const *names, uint32_t count,
                     const struct kymo_type *like) {
  switch (type->kind) {
  case KYMO_KIND_OPTIONAL: return leads_to(type->element, names, count, like);
  case KYMO_KIND_VARIANT: return kymo_options_have(type, names, count, like);
  case KYMO_KIND_STRUCT:
  case KYMO_KIND_UNION: {
    const struct kymo_member *member = count > 0 ? kymo_type_member(type, names[0]) : NULL;
    return member && leads_to(member->type, names + 1, count - 1, like);
  }
  case KYMO_KIND_BOOLEAN: return count == 0 && like->kind == KYMO_KIND_BOOLEAN;
  case KYMO_KIND_INTEGER:
  case KYMO_KIND_VARINT:
    return count == 0 && like->kind != KYMO_KIND_BOOLEAN && type->is_signed == like->is_signed;
  default: return false;
  }
}

bool kymo_options_have(const struct kymo_type *variant, const char *const *names, uint32_t count,
                       const struct kymo_type *like) {
  for (uint32_t i = 0; i < variant->member_count; i++)
    if (!leads_to(variant->members[i].type, names, count, like))
      return false;
  return true;
}

uint32_t kymo_reference_names(const struct kymo_type *type, const struct kymo_reference *reference,
                              uint32_t step, const char **names) {
  uint32_t count = 0;
  for (; step < reference->depth; step++) {
    if (type->kind == KYMO_KIND_STRUCT || type->kind == KYMO_KIND_UNION)
      names[count++] = type->members[reference->steps[step]].name;
    type = kymo_type_step(type, reference->steps[step]);
  }
  return count;
}

/* ---- owners ---- */

struct kymo_schema *kymo_schema_retain(struct kymo_schema *schema) {
  /* relaxed: the caller has a reference already, so nothing can be freed meanwhile */
  __atomic_fetch_add(&((struct schema_impl *)schema)->owners, 1, __ATOMIC_RELAXED);
  return schema;
}

void kymo_schema_release(struct kymo_schema *schema) {
  struct schema_impl *impl = (struct schema_impl *)schema;
  /* release and acquire: the reads of all former owners happen before the last one frees */
  if (!impl || __atomic_sub_fetch(&impl->owners, 1, __ATOMIC_ACQ_REL) > 0)
    return;
  kymo_arena_free(&impl->arena);
  free(impl);
}

/* ---- clocks ---- */

#define NS_PER_S UINT64_C(1000000000)

/* part × 10^9 / frequency, rounded down, for part < frequency, where the product may take
 * more than 64 bits: long division, one bit of 10^9 at a time. */
static uint64_t wide_fraction_ns(uint64_t part, uint64_t frequency) {
  uint64_t quotient = 0, rest = 0;
  for (int bit = 29; bit >= 0; bit--) {
    bool carry = rest >= frequency - rest; /* 2 × rest ≥ frequency, without overflow */
    rest = carry ? rest - (frequency - rest) : rest * 2;
    quotient = quotient * 2 + carry;
    if (NS_PER_S >> bit & 1) {
      carry = rest >= frequency - part;
      rest = carry ? rest - (frequency - part) : rest + part;
      quotient += carry;
    }
  }
  return quotient;
}

/* seconds × 10^9 + ns of a time at or after the origin. */
static int64_t after_origin(uint64_t seconds, uint64_t ns) {
  uint64_t total;
  if (__builtin_mul_overflow(seconds, NS_PER_S, &total) || __builtin_add_overflow(total, ns, &total) ||
      total > INT64_MAX)
    return INT64_MAX;
  return (int64_t)total;
}

/* -seconds × 10^9 + ns of a time before the origin; seconds ≥ 1. */
static int64_t before_origin(uint64_t seconds, uint64_t ns) {
  uint64_t total;
  if (__builtin_mul_overflow(seconds, NS_PER_S, &total) || total - ns > (uint64_t)INT64_MAX + 1)
    return INT64_MIN;
  return (int64_t)(0 - (total - ns));
}

int64_t kymo_clock_ns(const struct kymo_clock *clock, uint64_t cycles) {
  uint64_t frequency = clock->frequency;
  uint64_t part = cycles % frequency, part2 = clock->offset_cycles % frequency;
  bool carry = part >= frequency - part2;
  part = carry ? part - (frequency - part2) : part + part2;
  uint64_t ns =
      frequency <= UINT64_MAX / NS_PER_S ? part * NS_PER_S / frequency : wide_fraction_ns(part, frequency);
  uint64_t seconds;
  bool huge = __builtin_add_overflow(cycles / frequency, clock->offset_cycles / frequency, &seconds);
  huge |= __builtin_add_overflow(seconds, (uint64_t)carry, &seconds);
  if (huge)
    return INT64_MAX; /* at least 2^64 - 2^63 seconds */
  uint64_t offset = (uint64_t)clock->offset_seconds;
  if (clock->offset_seconds >= 0)
    return __builtin_add_overflow(seconds, offset, &seconds) ? INT64_MAX : after_origin(seconds, ns);
  uint64_t back = 0 - offset;
  return seconds >= back ? after_origin(seconds - back, ns) : before_origin(back - seconds, ns);
}
