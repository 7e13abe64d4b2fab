/* SPDX-License-Identifier: MIT */
/*
 * The builder: interns types, collects clocks, streams and events, and returns the schema.
 *
 * Interning is one hash table over all types made so far. A type's children are interned before it, so
 * children compare by address, and a whole tree compares in the time of its own members. Facts of a type that
 * only the builder needs (depth, number of fields below) are in a side table by type id; the checks in
 * validate.c use it to stay linear.
 */
#include "schema/build.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/list.h"
#include "base/sized.h"
#include "schema/builder.h"
#include "schema/identity.h"
#include "schema/lookup.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- life ---- */

struct kymo_builder *kymo_builder_new(void) {
  struct kymo_builder *builder = calloc(1, sizeof *builder);
  if (!builder)
    return NULL;
  builder->impl = calloc(1, sizeof *builder->impl);
  if (!builder->impl) {
    free(builder);
    return NULL;
  }
  builder->impl->owners = 1;
  return builder;
}

void kymo_builder_free(struct kymo_builder *builder) {
  if (!builder)
    return;
  if (builder->impl) {
    kymo_arena_free(&builder->impl->arena);
    free(builder->impl);
  }
  free(builder->types);
  free(builder->facts);
  kymo_hash_table_free(&builder->by_structure);
  kymo_strbuf_free(&builder->scratch);
  free(builder);
}

void *kymo_builder_alloc(struct kymo_builder *builder, size_t size) {
  return kymo_arena_alloc(kymo_builder_arena(builder), size);
}

char *kymo_builder_text(struct kymo_builder *builder, const char *text) {
  return text ? kymo_arena_copy(kymo_builder_arena(builder), text, strlen(text)) : NULL;
}

struct kymo_arena *kymo_builder_arena(struct kymo_builder *builder) {
  return &builder->impl->arena;
}

bool kymo_builder_has_failed(struct kymo_builder *builder) {
  return builder->failed || builder->impl->arena.failed;
}

struct kymo_schema *kymo_builder_schema(struct kymo_builder *builder) {
  return &builder->impl->schema;
}

/* ---- equality and hash of types ---- */

static bool same_text(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

static bool same_bytes(const void *a, const void *b, size_t count, size_t size) {
  return a == b || count == 0 || memcmp(a, b, count * size) == 0;
}

static bool same_mappings(const struct kymo_type *a, const struct kymo_type *b) {
  if (a->mapping_count != b->mapping_count)
    return false;
  for (uint32_t i = 0; i < a->mapping_count; i++) {
    const struct kymo_mapping *x = &a->mappings[i], *y = &b->mappings[i];
    if (x->low != y->low || x->high != y->high || !same_text(x->name, y->name))
      return false;
  }
  return true;
}

static bool same_members(const struct kymo_type *a, const struct kymo_type *b) {
  if (a->member_count != b->member_count)
    return false;
  for (uint32_t i = 0; i < a->member_count; i++) {
    const struct kymo_member *x = &a->members[i], *y = &b->members[i];
    if (x->type != y->type || x->range_count != y->range_count || !same_text(x->name, y->name) ||
        !same_text(x->source_name, y->source_name) || !same_text(x->attributes, y->attributes) ||
        !same_bytes(x->ranges, y->ranges, x->range_count, sizeof *x->ranges))
      return false;
  }
  return true;
}

static bool same_selector(const struct kymo_type *a, const struct kymo_type *b) {
  const struct kymo_reference *x = &a->selector, *y = &b->selector;
  return a->selector_type == b->selector_type && x->scope == y->scope && x->depth == y->depth &&
         same_bytes(x->steps, y->steps, x->depth, sizeof *x->steps) &&
         a->presence_count == b->presence_count &&
         same_bytes(a->presence, b->presence, a->presence_count, sizeof *a->presence);
}

static bool same_scalars(const struct kymo_type *a, const struct kymo_type *b) {
  return a->kind == b->kind && a->align_bits == b->align_bits && a->size_bits == b->size_bits &&
         a->order == b->order && a->bits_reversed == b->bits_reversed && a->is_signed == b->is_signed &&
         a->base == b->base && a->is_address == b->is_address && a->encoding == b->encoding &&
         a->roles == b->roles && a->clock == b->clock && a->is_enumeration == b->is_enumeration &&
         a->length == b->length && a->element == b->element;
}

static bool same_type(const struct kymo_type *a, const struct kymo_type *b) {
  return same_scalars(a, b) && same_text(a->name, b->name) && same_text(a->unit, b->unit) &&
         same_text(a->media_type, b->media_type) && same_text(a->attributes, b->attributes) &&
         same_mappings(a, b) && same_members(a, b) && same_selector(a, b);
}

/* The hash need not cover all that same_type compares, only the main differences. */
static uint64_t hash_type(const struct kymo_type *type) {
  struct kymo_keyed hash;
  kymo_keyed_begin(&hash);
  kymo_keyed_add(&hash, (uint64_t)type->align_bits << 32 | type->size_bits);
  kymo_keyed_add(&hash, (uint64_t)type->roles << 32 | (uint64_t)type->kind << 24 |
                            (uint64_t)type->encoding << 16 | (uint64_t)type->base << 8 |
                            (uint64_t)type->is_signed << 1 | (type->order == KYMO_ORDER_BIG));
  kymo_keyed_add(&hash, type->length);
  kymo_keyed_add(&hash, type->element ? type->element->id : UINT64_MAX);
  kymo_keyed_add_text(&hash, type->name);
  for (uint32_t i = 0; i < type->mapping_count; i++) {
    kymo_keyed_add(&hash, type->mappings[i].low);
    kymo_keyed_add(&hash, type->mappings[i].high);
    kymo_keyed_add_text(&hash, type->mappings[i].name);
  }
  for (uint32_t i = 0; i < type->member_count; i++) {
    kymo_keyed_add(&hash, type->members[i].type->id);
    kymo_keyed_add_text(&hash, type->members[i].source_name);
  }
  if (type->selector_type) {
    kymo_keyed_add(&hash, (uint64_t)type->selector_type->id << 32 | type->selector.scope);
    for (uint32_t i = 0; i < type->selector.depth; i++)
      kymo_keyed_add(&hash, type->selector.steps[i]);
  }
  return kymo_keyed_end(&hash);
}

/* ---- interning ---- */

/* Fills in members that callers may leave out. */
static void normalise(struct kymo_type *type) {
  uint32_t least = 1;
  switch (type->kind) {
  case KYMO_KIND_VARINT:
  case KYMO_KIND_STRING:
  case KYMO_KIND_TEXT_SEQUENCE:
  case KYMO_KIND_BLOB_SEQUENCE: least = 8; break;
  case KYMO_KIND_TEXT_ARRAY:
  case KYMO_KIND_BLOB_ARRAY:
    least = 8;
    if (type->length <= UINT32_MAX / 8)
      type->size_bits = (uint32_t)type->length * 8;
    break;
  case KYMO_KIND_ARRAY:
  case KYMO_KIND_SEQUENCE: least = type->element->align_bits; break;
  case KYMO_KIND_STRUCT:
  case KYMO_KIND_UNION:
    least = type->kind == KYMO_KIND_UNION ? 8 : 1;
    for (uint32_t i = 0; i < type->member_count; i++)
      if (type->members[i].type->align_bits > least)
        least = type->members[i].type->align_bits;
    break;
  default: break;
  }
  if (type->align_bits < least)
    type->align_bits = least;
}

/* True if all children exist and were created by this builder. */
static bool children_are_known(const struct kymo_builder *builder, const struct kymo_type *type) {
  bool needs_element =
      type->kind == KYMO_KIND_ARRAY || type->kind == KYMO_KIND_SEQUENCE || type->kind == KYMO_KIND_OPTIONAL;
  if (needs_element && !kymo_builder_owns(builder, type->element))
    return false;
  for (uint32_t i = 0; i < type->member_count; i++)
    if (!kymo_builder_owns(builder, type->members[i].type))
      return false;
  return !type->selector_type || kymo_builder_owns(builder, type->selector_type);
}

bool kymo_builder_owns(const struct kymo_builder *builder, const struct kymo_type *type) {
  return type && type->id < builder->type_count && builder->types[type->id] == type;
}

static uint64_t saturating_add(uint64_t a, uint64_t b) {
  uint64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static uint64_t saturating_mul(uint64_t a, uint64_t b) {
  uint64_t product;
  return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* Adds the facts of a part that occurs `times` times to those of a compound. */
static void add_part(struct type_facts *facts, const struct type_facts *part, uint64_t times) {
  facts->depth = part->depth + 1 > facts->depth ? part->depth + 1 : facts->depth;
  facts->fields = saturating_add(facts->fields, part->fields);
  facts->values = saturating_add(facts->values, saturating_mul(part->values, times));
  facts->least_bits = saturating_add(facts->least_bits, saturating_mul(part->least_bits, times));
  facts->has_selector |= part->has_selector;
}

static uint64_t aligned(uint64_t bits, uint64_t align) {
  return bits > UINT64_MAX - align ? UINT64_MAX : (bits + align - 1) & ~(align - 1);
}

/* Each element of an array begins on its alignment; the array ends at the end of its last element. */
static uint64_t exact_bits_of_array(uint64_t element, uint64_t align, uint64_t count) {
  if (count == 0 || element == UINT64_MAX)
    return count == 0 ? 0 : UINT64_MAX;
  return saturating_add(saturating_mul(aligned(element, align), count - 1), element);
}

static uint64_t exact_bits_of(const struct kymo_builder *builder, const struct kymo_type *type) {
  uint64_t bits = 0;
  if (type->kind < KYMO_KIND_VARINT || type->kind == KYMO_KIND_TEXT_ARRAY ||
      type->kind == KYMO_KIND_BLOB_ARRAY || type->kind == KYMO_KIND_UNION)
    return type->size_bits;
  if (type->kind == KYMO_KIND_ARRAY)
    return exact_bits_of_array(builder->facts[type->element->id].exact_bits, type->element->align_bits,
                               type->length);
  if (type->kind != KYMO_KIND_STRUCT)
    return UINT64_MAX;
  for (uint32_t i = 0; i < type->member_count; i++) {
    const struct kymo_type *member = type->members[i].type;
    bits = saturating_add(aligned(bits, member->align_bits), builder->facts[member->id].exact_bits);
  }
  return bits;
}

static struct type_facts facts_of(const struct kymo_builder *builder, const struct kymo_type *type,
                                  uint64_t hash) {
  bool is_union = type->kind == KYMO_KIND_UNION;
  bool is_compound =
      type->element || type->kind == KYMO_KIND_STRUCT || type->kind == KYMO_KIND_VARIANT || is_union;
  struct type_facts facts = {.hash = hash,
                             .depth = is_compound,
                             .fields = 1,
                             .values = 1,
                             .least_bits = type->size_bits,
                             .has_selector = type->selector_type != NULL};
  if (type->kind == KYMO_KIND_STRING || type->kind == KYMO_KIND_VARINT)
    facts.least_bits = 8;
  if (type->element)
    add_part(&facts, &builder->facts[type->element->id], type->kind == KYMO_KIND_ARRAY ? type->length : 0);
  uint64_t times =
      type->kind == KYMO_KIND_STRUCT || is_union; /* any option of a variant may be the absent one */
  for (uint32_t i = 0; i < type->member_count; i++)
    add_part(&facts, &builder->facts[type->members[i].type->id], times);
  if (is_union)
    facts.least_bits = type->size_bits;
  facts.exact_bits = exact_bits_of(builder, type);
  return facts;
}

/* Allocates space for one more type. */
static bool grow(struct kymo_builder *builder) {
  uint32_t capacity = builder->capacity;
  if (!KYMO_LIST_ROOM(builder->types, capacity, builder->type_count) ||
      !KYMO_LIST_ROOM(builder->facts, builder->capacity, builder->type_count))
    return false;
  return kymo_hash_table_reserve(&builder->by_structure, NULL);
}

static const struct kymo_type *out_of_memory(struct kymo_builder *builder) {
  builder->failed = true;
  return NULL;
}

/* The type of this structure, or NULL. */
static const struct kymo_type *find(const struct kymo_builder *builder, const struct kymo_type *wanted,
                                    uint64_t hash) {
  uintptr_t item;
  for (uint32_t at = (uint32_t)hash;
       (item = kymo_hash_table_next(&builder->by_structure, (uint32_t)hash, &at));)
    if (builder->facts[item - 1].hash == hash && same_type(builder->types[item - 1], wanted))
      return builder->types[item - 1];
  return NULL;
}

const struct kymo_type *kymo_builder_find(const struct kymo_builder *builder, const struct kymo_type *type) {
  if (builder->type_count == 0 || !children_are_known(builder, type))
    return NULL;
  struct kymo_type wanted = *type;
  normalise(&wanted);
  return find(builder, &wanted, hash_type(&wanted));
}

const struct kymo_type *kymo_builder_type_(struct kymo_builder *builder, const struct kymo_type *type,
                                           size_t size) {
  struct kymo_type wanted;
  kymo_sized_in(&wanted, sizeof wanted, type, size);
  if (!children_are_known(builder, &wanted) || !grow(builder))
    return out_of_memory(builder);
  normalise(&wanted);
  uint64_t hash = hash_type(&wanted);
  const struct kymo_type *known = find(builder, &wanted, hash);
  if (known)
    return known;
  struct kymo_type *made = kymo_arena_alloc(kymo_builder_arena(builder), sizeof *made);
  if (!made)
    return out_of_memory(builder);
  *made = wanted;
  made->id = builder->type_count;
  if (!kymo_identify_type(made, &builder->scratch) ||
      !kymo_index_members(made, kymo_builder_arena(builder)) ||
      (made->name && !kymo_name_type(&builder->impl->types_by_name, kymo_builder_arena(builder), made)))
    return out_of_memory(builder);
  builder->facts[made->id] = facts_of(builder, made, hash);
  builder->types[made->id] = made;
  kymo_hash_table_put(&builder->by_structure, (uint32_t)hash, ++builder->type_count);
  return made;
}

/* ---- lists ---- */

/* Space for one more item in a list of `count` items of `size` bytes that doubles at powers of two; the
 * previous array stays in the arena. Returns the list, or NULL if there is no memory. */
static void *list_room(struct kymo_builder *builder, const void *list, uint32_t count, size_t size) {
  if (count > 0 && (count & (count - 1)) != 0)
    return (void *)(uintptr_t)list;
  void *larger = count < UINT32_MAX / 2
                     ? kymo_arena_array(kymo_builder_arena(builder), (size_t)count * 2 + 1, size)
                     : NULL;
  if (!larger)
    builder->failed = true;
  else if (count > 0)
    memcpy(larger, list, count * size);
  return larger;
}

struct kymo_clock *kymo_builder_clock_(struct kymo_builder *builder, const struct kymo_clock *clock,
                                       size_t size) {
  struct kymo_schema *schema = kymo_builder_schema(builder);
  const struct kymo_clock **list = list_room(builder, schema->clocks, schema->clock_count, sizeof *list);
  struct kymo_clock *made = kymo_arena_alloc(kymo_builder_arena(builder), sizeof *made);
  if (!list || !made) {
    builder->failed = true;
    return NULL;
  }
  kymo_sized_in(made, sizeof *made, clock, size);
  made->index = schema->clock_count;
  list[schema->clock_count++] = made;
  schema->clocks = list;
  return made;
}

int kymo_builder_environment_(struct kymo_builder *builder, const struct kymo_environment *entry,
                              size_t size) {
  struct kymo_schema *schema = kymo_builder_schema(builder);
  const struct kymo_environment **list =
      list_room(builder, schema->environment, schema->environment_count, sizeof *list);
  struct kymo_environment *made = kymo_arena_alloc(kymo_builder_arena(builder), sizeof *made);
  if (!list || !made) {
    builder->failed = true;
    return KYMO_E_MEMORY;
  }
  kymo_sized_in(made, sizeof *made, entry, size);
  list[schema->environment_count++] = made;
  schema->environment = list;
  return KYMO_OK;
}

static int no_memory(struct kymo_builder *builder, struct kymo_error *error) {
  builder->failed = true;
  return kymo_fail(error, KYMO_E_MEMORY, "out of memory while building a schema");
}

int kymo_builder_stream_(struct kymo_builder *builder, const struct kymo_stream_class *stream, size_t size,
                         struct kymo_stream_class **out, struct kymo_error *error) {
  struct kymo_schema *schema = kymo_builder_schema(builder);
  if (kymo_id_table_find(&builder->impl->streams, stream->id))
    return kymo_fail(error, KYMO_E_FORMAT, "a second stream class with id %" PRIu64, stream->id);
  const struct kymo_stream_class **list =
      list_room(builder, schema->streams, schema->stream_count, sizeof *list);
  struct stream_impl *impl = kymo_arena_alloc(kymo_builder_arena(builder), sizeof *impl);
  if (!list || !impl ||
      !kymo_id_table_add(&builder->impl->streams, kymo_builder_arena(builder), stream->id, impl))
    return no_memory(builder, error);
  impl->owner = builder->impl;
  kymo_sized_in(&impl->stream, sizeof impl->stream, stream, size);
  impl->stream.index = schema->stream_count;
  impl->stream.events = NULL;
  impl->stream.event_count = 0;
  list[schema->stream_count++] = &impl->stream;
  schema->streams = list;
  *out = &impl->stream;
  return KYMO_OK;
}

/* The text before the first single ':' of "group:name"; C++ names ("a::b") have no group. */
static const char *group_of(struct kymo_builder *builder, const char *name) {
  const char *colon = strchr(name, ':');
  if (!colon || colon[1] == ':')
    return "";
  return kymo_arena_copy(kymo_builder_arena(builder), name, (size_t)(colon - name));
}

int kymo_builder_event_(struct kymo_builder *builder, struct kymo_stream_class *stream,
                        const struct kymo_event_class *event, size_t size, struct kymo_event_class **out,
                        struct kymo_error *error) {
  struct stream_impl *impl = (struct stream_impl *)stream;
  if (kymo_id_table_find(&impl->events, event->id))
    return kymo_fail(error, KYMO_E_FORMAT,
                     "a second event class with id %" PRIu64 " in stream class %" PRIu64, event->id,
                     stream->id);
  const struct kymo_event_class **list =
      list_room(builder, stream->events, stream->event_count, sizeof *list);
  struct kymo_event_class *made = kymo_arena_alloc(kymo_builder_arena(builder), sizeof *made);
  if (!list || !made || !kymo_id_table_add(&impl->events, kymo_builder_arena(builder), event->id, made))
    return no_memory(builder, error);
  kymo_sized_in(made, sizeof *made, event, size);
  made->index = stream->event_count;
  made->stream = stream;
  if (!made->name)
    made->name = "";
  if (!made->group && !(made->group = group_of(builder, made->name)))
    return no_memory(builder, error);
  if (!kymo_identify_event(made, &builder->scratch))
    return no_memory(builder, error);
  list[stream->event_count++] = made;
  stream->events = list;
  if (out)
    *out = made;
  return KYMO_OK;
}

/* ---- the end ---- */

/* Again, since descriptions may change an event class after they added it. */
static bool identify_events(struct kymo_builder *builder) {
  const struct kymo_schema *schema = kymo_builder_schema(builder);
  for (uint32_t i = 0; i < schema->stream_count; i++)
    for (uint32_t at = 0; at < schema->streams[i]->event_count; at++)
      if (!kymo_identify_event((struct kymo_event_class *)(uintptr_t)schema->streams[i]->events[at],
                               &builder->scratch))
        return false;
  return true;
}

struct kymo_schema *kymo_builder_finish(struct kymo_builder *builder, struct kymo_error *error) {
  struct schema_impl *impl = builder->impl;
  const struct kymo_type **types =
      kymo_arena_array(kymo_builder_arena(builder), builder->type_count, sizeof *types);
  if (kymo_builder_has_failed(builder) || !types || !identify_events(builder) || !kymo_schema_index(impl)) {
    no_memory(builder, error);
    kymo_builder_free(builder);
    return NULL;
  }
  if (builder->type_count > 0)
    memcpy(types, builder->types, builder->type_count * sizeof *types);
  impl->schema.types = types;
  impl->schema.type_count = builder->type_count;
  if (kymo_schema_validate(builder, error) < 0) {
    kymo_builder_free(builder);
    return NULL;
  }
  builder->impl = NULL;
  kymo_builder_free(builder);
  return &impl->schema;
}

struct kymo_schema *kymo_builder_end(struct kymo_builder *builder, int status, struct kymo_error *error) {
  if (status == KYMO_OK)
    return kymo_builder_finish(builder, error);
  kymo_builder_free(builder);
  return NULL;
}

struct kymo_schema *kymo_builder_finish_file(struct kymo_builder *builder, const char *file,
                                             struct kymo_error *error) {
  struct kymo_schema *schema = kymo_builder_finish(builder, error);
  if (!schema && error && file)
    snprintf(error->file, sizeof error->file, "%s", file);
  return schema;
}
