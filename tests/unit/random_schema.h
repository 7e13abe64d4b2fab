/* SPDX-License-Identifier: MIT */
/*
 * Random schemas: integers of all widths, alignments and byte orders, texts, floats, varints, blobs; arrays,
 * structs, and types that depend on another field: sequences, variants, optionals. The same seed gives the
 * same schema.
 *
 *   random_seed(number);
 *   schema = random_schema(&(struct making){0});
 */
#ifndef TEST_RANDOM_SCHEMA_H
#define TEST_RANDOM_SCHEMA_H

#include "read_memory.h"

#define EVENT_CLASSES 3

static uint64_t seed;

static inline void random_seed(uint64_t number) { seed = number * UINT64_C(0x9e3779b97f4a7c15) + 1; }

static inline uint64_t random_below(uint64_t limit) {
  seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
  return (seed * UINT64_C(2685821657736338717) >> 32) % limit;
}

/* ---- types ---- */

struct making {
  struct kymo_builder *builder;
  bool odd_is_big; /* byte order of all bits that may share a byte */
  enum kymo_scope scope;
  uint32_t way[16], depth;
  const struct kymo_type *outer_length; /* a length in the common context, or NULL */
  void (*more)(struct making *);        /* adds to the schema before it is finished, or NULL */
};

static inline const struct kymo_type *random_type(struct making *m, unsigned depth);

static inline struct kymo_reference way_to(struct making *m, uint32_t last) {
  uint32_t *steps = kymo_arena_array(kymo_builder_arena(m->builder), m->depth + 1, sizeof *steps);
  memcpy(steps, m->way, m->depth * sizeof *steps);
  steps[m->depth] = last;
  return (struct kymo_reference){.scope = m->scope, .depth = m->depth + 1, .steps = steps};
}

static inline const struct kymo_type *random_integer(struct making *m) {
  uint32_t bits = random_below(3) ? 8u << random_below(4) : (uint32_t)random_below(64) + 1;
  uint32_t align = random_below(3) ? 8u << random_below(4) : 1u << random_below(4);
  bool is_odd = bits % 8 != 0 || align < 8;
  return make(m->builder,
              (struct kymo_type){.kind = KYMO_KIND_INTEGER,
                                 .size_bits = bits,
                                 .align_bits = align,
                                 .is_signed = random_below(2),
                                 .bits_reversed = random_below(8) == 0,
                                 .order = (enum kymo_byte_order)(is_odd ? m->odd_is_big : random_below(2))});
}

static inline const struct kymo_type *random_leaf(struct making *m) {
  switch (random_below(8)) {
  case 0: return make(m->builder, (struct kymo_type){.kind = KYMO_KIND_STRING});
  case 1:
    return make(m->builder, (struct kymo_type){.kind = KYMO_KIND_FLOAT,
                                               .size_bits = random_below(2) ? 64 : 32,
                                               .align_bits = 8,
                                               .order = (enum kymo_byte_order)random_below(2)});
  case 2:
    return make(m->builder, (struct kymo_type){.kind = KYMO_KIND_TEXT_ARRAY,
                                               .length = random_below(5),
                                               .encoding = KYMO_ENCODING_UTF8});
  case 3: return make(m->builder, (struct kymo_type){.kind = KYMO_KIND_VARINT, .is_signed = random_below(2)});
  case 4:
    return make(m->builder, (struct kymo_type){.kind = KYMO_KIND_BLOB_ARRAY, .length = random_below(4)});
  default: return random_integer(m);
  }
}

static inline const struct kymo_type *random_length(struct making *m) {
  uint32_t bits = 4 + (uint32_t)random_below(20), align = 1u << random_below(5);
  bool is_big = bits % 8 || align < 8 ? m->odd_is_big : random_below(2);
  return make(m->builder, (struct kymo_type){.kind = KYMO_KIND_INTEGER,
                                             .size_bits = bits,
                                             .align_bits = align,
                                             .order = (enum kymo_byte_order)is_big});
}

static inline const struct kymo_type *random_variant(struct making *m, unsigned depth,
                                                     struct kymo_reference tag,
                                                     const struct kymo_type *tag_type) {
  struct kymo_arena *arena = kymo_builder_arena(m->builder);
  uint32_t count = 1 + (uint32_t)random_below(3);
  struct kymo_member *options = kymo_arena_array(arena, count, sizeof *options);
  struct kymo_range *ranges = kymo_arena_array(arena, count, sizeof *ranges);
  static const char *const names[] = {"oa", "ob", "oc"};
  for (uint32_t i = 0; i < count; i++) {
    ranges[i] = (struct kymo_range){i, i + 1 == count ? 9 : i};
    m->way[m->depth++] = i;
    options[i] = (struct kymo_member){.name = names[i],
                                      .source_name = names[i],
                                      .type = random_type(m, depth + 1),
                                      .ranges = &ranges[i],
                                      .range_count = 1};
    m->depth--;
  }
  return make(m->builder, (struct kymo_type){.kind = KYMO_KIND_VARIANT,
                                             .members = options,
                                             .member_count = count,
                                             .selector = tag,
                                             .selector_type = tag_type});
}

/* A type that depends on the member before it, or on the common context. */
static inline const struct kymo_type *random_dependent(struct making *m, unsigned depth, uint32_t previous,
                                                       const struct kymo_type *length) {
  struct kymo_reference selector = way_to(m, previous);
  if (m->outer_length && random_below(4) == 0) {
    selector = refer(m->builder, KYMO_SCOPE_COMMON_CONTEXT, 0);
    length = m->outer_length;
  }
  struct kymo_type type = {.selector = selector, .selector_type = length};
  m->way[m->depth++] = previous + 1;
  const struct kymo_type *made;
  switch (random_below(5)) {
  case 0:
    type.kind = KYMO_KIND_TEXT_SEQUENCE;
    type.encoding = KYMO_ENCODING_UTF8;
    break;
  case 1: type.kind = KYMO_KIND_BLOB_SEQUENCE; break;
  case 2:
    made = random_variant(m, depth, selector, length);
    m->depth--;
    return made;
  case 3: type.kind = KYMO_KIND_OPTIONAL; break;
  default: type.kind = KYMO_KIND_SEQUENCE; break;
  }
  if (type.kind == KYMO_KIND_OPTIONAL || type.kind == KYMO_KIND_SEQUENCE) {
    m->way[m->depth++] = KYMO_STEP_ELEMENT;
    type.element = random_type(m, depth + 1);
    m->depth--;
  }
  if (type.kind == KYMO_KIND_OPTIONAL) {
    struct kymo_range *range = kymo_arena_array(kymo_builder_arena(m->builder), 1, sizeof *range);
    *range = (struct kymo_range){1, 2};
    type.presence = range;
    type.presence_count = 1;
  }
  m->depth--;
  return make(m->builder, type);
}

static inline const struct kymo_type *random_struct(struct making *m, unsigned depth) {
  static const char *const names[] = {"ma", "mb", "mc", "md", "me", "mf", "mg", "mh"};
  struct kymo_member *members = kymo_arena_array(kymo_builder_arena(m->builder), 8, sizeof *members);
  uint32_t count = 0, wanted = (uint32_t)random_below(depth == 0 ? 7 : 4);
  while (count < wanted) {
    const struct kymo_type *length = random_below(3) == 0 && count + 2 <= wanted ? random_length(m) : NULL;
    if (length) {
      members[count].name = members[count].source_name = names[count];
      members[count++].type = length;
    }
    members[count].name = members[count].source_name = names[count];
    m->way[m->depth++] = count;
    const struct kymo_type *type = length ? NULL : random_type(m, depth + 1);
    m->depth--;
    members[count].type = length ? random_dependent(m, depth, count - 1, length) : type;
    count++;
  }
  return make(m->builder, (struct kymo_type){.kind = KYMO_KIND_STRUCT,
                                             .members = members,
                                             .member_count = count,
                                             .align_bits = random_below(5) ? 1 : 1u << random_below(7)});
}

static inline const struct kymo_type *random_type(struct making *m, unsigned depth) {
  if (depth >= 4 || random_below(3))
    return random_leaf(m);
  if (random_below(2))
    return random_struct(m, depth);
  m->way[m->depth++] = KYMO_STEP_ELEMENT;
  const struct kymo_type *element = random_type(m, depth + 1);
  m->depth--;
  return make(m->builder,
              (struct kymo_type){.kind = KYMO_KIND_ARRAY, .element = element, .length = random_below(4)});
}

/* ---- the whole ---- */

static inline const struct kymo_type *random_scope(struct making *m, enum kymo_scope scope) {
  m->scope = scope;
  m->depth = 0;
  return random_below(4) ? random_struct(m, 0) : NULL;
}

static inline struct kymo_schema *random_schema(struct making *m) {
  m->builder = kymo_builder_new();
  struct kymo_builder *b = m->builder;
  m->odd_is_big = random_below(2);
  m->outer_length = NULL;
  struct kymo_stream_class stream = {.packet_context = make_struct(
                                         b, "content", make_role(b, 32, 8, KYMO_ROLE_CONTENT_SIZE, NULL),
                                         NULL)},
                           *made;
  const struct kymo_type *id = make(b, (struct kymo_type){.kind = KYMO_KIND_INTEGER,
                                                          .size_bits = 3 + (uint32_t)random_below(20),
                                                          .align_bits = 1u << random_below(6),
                                                          .order = (enum kymo_byte_order)m->odd_is_big,
                                                          .roles = KYMO_ROLE_EVENT_CLASS_ID});
  stream.event_header = make_struct(b, "id", id, NULL);
  if (random_below(2)) {
    const struct kymo_type *length = random_length(m);
    stream.common_context = make_struct(b, "outer", length, "x", random_integer(m), NULL);
    m->outer_length = length;
  }
  assert_int_equal(kymo_builder_stream(b, &stream, &made, NULL), KYMO_OK);
  for (uint64_t i = 0; i < EVENT_CLASSES; i++) {
    struct kymo_event_class class_ = {.id = i, .name = "e", .group = "", .level = -1};
    class_.specific_context = random_scope(m, KYMO_SCOPE_SPECIFIC_CONTEXT);
    class_.payload = random_scope(m, KYMO_SCOPE_PAYLOAD);
    assert_int_equal(kymo_builder_event(b, made, &class_, NULL, NULL), KYMO_OK);
  }
  if (m->more)
    m->more(m);
  return finish(b);
}

#endif
