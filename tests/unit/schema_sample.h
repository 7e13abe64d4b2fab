/* SPDX-License-Identifier: MIT */
/* For tests of code that stores schemas: a schema that uses the whole model, and equality of two schemas. */
#ifndef TEST_SCHEMA_SAMPLE_H
#define TEST_SCHEMA_SAMPLE_H

#include "schema/build.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define SAMPLE_COUNT(list) (uint32_t)(sizeof(list) / sizeof(list)[0])

/* ---- equality: the first difference as "what", or NULL ---- */

static inline bool same_text(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

static inline bool same_ranges(const struct kymo_range *a, uint32_t a_count, const struct kymo_range *b,
                               uint32_t b_count) {
  return a_count == b_count && (a_count == 0 || memcmp(a, b, a_count * sizeof *a) == 0);
}

static inline uint32_t id_of(const struct kymo_type *type) { return type ? type->id : UINT32_MAX; }

static inline uint32_t number_of(const struct kymo_clock *clock) { return clock ? clock->index : UINT32_MAX; }

static inline const char *members_differ(const struct kymo_type *a, const struct kymo_type *b) {
  for (uint32_t i = 0; i < a->member_count; i++) {
    const struct kymo_member *x = &a->members[i], *y = &b->members[i];
    if (!same_text(x->name, y->name))
      return "name of a member";
    if (!same_text(x->source_name ? x->source_name : x->name, y->source_name))
      return "source name of a member";
    if (!same_text(x->attributes, y->attributes))
      return "attributes of a member";
    if (id_of(x->type) != id_of(y->type))
      return "type of a member";
    if (!same_ranges(x->ranges, x->range_count, y->ranges, y->range_count))
      return "ranges of a member";
  }
  return NULL;
}

static inline const char *mappings_differ(const struct kymo_type *a, const struct kymo_type *b) {
  for (uint32_t i = 0; i < a->mapping_count; i++)
    if (a->mappings[i].low != b->mappings[i].low || a->mappings[i].high != b->mappings[i].high ||
        !same_text(a->mappings[i].name, b->mappings[i].name))
      return "mapping";
  return NULL;
}

static inline const char *selectors_differ(const struct kymo_type *a, const struct kymo_type *b) {
  const struct kymo_reference *x = &a->selector, *y = &b->selector;
  if (id_of(a->selector_type) != id_of(b->selector_type) || x->scope != y->scope || x->depth != y->depth ||
      (x->depth > 0 && memcmp(x->steps, y->steps, x->depth * sizeof *x->steps) != 0))
    return "selector";
  return same_ranges(a->presence, a->presence_count, b->presence, b->presence_count) ? NULL : "presence";
}

static inline const char *types_differ(const struct kymo_type *a, const struct kymo_type *b) {
  if (a->kind != b->kind || a->id != b->id)
    return "kind or id of a type";
  if (a->align_bits != b->align_bits || a->size_bits != b->size_bits || a->length != b->length)
    return "alignment, size or length of a type";
  if (a->order != b->order || a->bits_reversed != b->bits_reversed || a->is_signed != b->is_signed ||
      a->base != b->base || a->is_address != b->is_address || a->encoding != b->encoding ||
      a->roles != b->roles || a->is_enumeration != b->is_enumeration)
    return "property of a type";
  if (!same_text(a->name, b->name) || !same_text(a->unit, b->unit) ||
      !same_text(a->media_type, b->media_type) || !same_text(a->attributes, b->attributes))
    return "text of a type";
  if (number_of(a->clock) != number_of(b->clock) || id_of(a->element) != id_of(b->element) ||
      a->member_count != b->member_count || a->mapping_count != b->mapping_count)
    return "part of a type";
  if (memcmp(&a->hashes, &b->hashes, sizeof a->hashes) != 0)
    return "hash of a type";
  const char *what = members_differ(a, b);
  what = what ? what : mappings_differ(a, b);
  return what ? what : selectors_differ(a, b);
}

static inline const char *clocks_differ(const struct kymo_clock *a, const struct kymo_clock *b) {
  if (!same_text(a->name, b->name) || !same_text(a->description, b->description) ||
      !same_text(a->origin_namespace, b->origin_namespace) || !same_text(a->origin_name, b->origin_name) ||
      !same_text(a->origin_uid, b->origin_uid) || !same_text(a->attributes, b->attributes))
    return "text of a clock";
  bool same = a->frequency == b->frequency && a->offset_seconds == b->offset_seconds &&
              a->offset_cycles == b->offset_cycles && a->precision == b->precision &&
              a->origin_is_epoch == b->origin_is_epoch && a->has_uuid == b->has_uuid &&
              memcmp(a->uuid, b->uuid, 16) == 0 && a->index == b->index;
  return same ? NULL : "clock";
}

static inline const char *events_differ(const struct kymo_event_class *a, const struct kymo_event_class *b) {
  if (a->id != b->id || a->index != b->index || a->level != b->level || a->source_line != b->source_line)
    return "number of an event";
  if (!same_text(a->name, b->name) || !same_text(a->group, b->group) || !same_text(a->uri, b->uri) ||
      !same_text(a->source_file, b->source_file) || !same_text(a->template_text, b->template_text) ||
      !same_text(a->attributes, b->attributes) || !same_text(a->description, b->description))
    return "text of an event";
  if (id_of(a->payload) != id_of(b->payload) || id_of(a->specific_context) != id_of(b->specific_context))
    return "type of an event";
  return memcmp(&a->hashes, &b->hashes, sizeof a->hashes) == 0 ? NULL : "hash of an event";
}

static inline const char *streams_differ(const struct kymo_stream_class *a,
                                         const struct kymo_stream_class *b) {
  if (a->id != b->id || !same_text(a->name, b->name) || !same_text(a->attributes, b->attributes) ||
      id_of(a->packet_context) != id_of(b->packet_context) ||
      id_of(a->event_header) != id_of(b->event_header) ||
      id_of(a->common_context) != id_of(b->common_context) || number_of(a->clock) != number_of(b->clock) ||
      a->event_count != b->event_count)
    return "stream";
  const char *what = NULL;
  for (uint32_t i = 0; i < a->event_count && !what; i++)
    what = events_differ(a->events[i], b->events[i]);
  return what;
}

static inline const char *traces_differ(const struct kymo_schema *a, const struct kymo_schema *b) {
  if (a->order != b->order || a->major != b->major || a->minor != b->minor || a->has_uuid != b->has_uuid ||
      memcmp(a->uuid, b->uuid, 16) != 0 || !same_text(a->trace_name, b->trace_name) ||
      !same_text(a->attributes, b->attributes) || id_of(a->packet_header) != id_of(b->packet_header))
    return "trace";
  if (!a->machine != !b->machine || (a->machine && memcmp(a->machine, b->machine, sizeof *a->machine) != 0))
    return "machine";
  if (a->environment_count != b->environment_count)
    return "environment";
  for (uint32_t i = 0; i < a->environment_count; i++)
    if (!same_text(a->environment[i]->name, b->environment[i]->name) ||
        !same_text(a->environment[i]->text, b->environment[i]->text) ||
        (!a->environment[i]->text && a->environment[i]->integer != b->environment[i]->integer))
      return "entry of the environment";
  return NULL;
}

static inline const char *schemas_differ(const struct kymo_schema *a, const struct kymo_schema *b) {
  const char *what = traces_differ(a, b);
  if (a->clock_count != b->clock_count || a->type_count != b->type_count ||
      a->stream_count != b->stream_count)
    return "count";
  for (uint32_t i = 0; i < a->clock_count && !what; i++)
    what = clocks_differ(a->clocks[i], b->clocks[i]);
  for (uint32_t i = 0; i < a->type_count && !what; i++)
    what = types_differ(a->types[i], b->types[i]);
  for (uint32_t i = 0; i < a->stream_count && !what; i++)
    what = streams_differ(a->streams[i], b->streams[i]);
  return what;
}

/* ---- the sample ---- */

struct sample {
  struct kymo_builder *builder;
  struct kymo_stream_class *stream;
  const struct kymo_clock *clock;
};

static inline const struct kymo_type *sample_type(struct sample *s, struct kymo_type type) {
  return kymo_builder_type(s->builder, &type);
}

static inline void *sample_keep(struct sample *s, const void *items, size_t size) {
  void *copy = kymo_arena_alloc(kymo_builder_arena(s->builder), size);
  return copy && size > 0 ? memcpy(copy, items, size) : copy;
}

static inline const struct kymo_type *sample_struct(struct sample *s, const struct kymo_member *members,
                                                    uint32_t count) {
  return sample_type(s, (struct kymo_type){.kind = KYMO_KIND_STRUCT,
                                           .member_count = count,
                                           .members = sample_keep(s, members, count * sizeof *members)});
}

static inline const struct kymo_type *sample_role(struct sample *s, uint32_t bits, uint32_t roles) {
  bool is_time = roles & (KYMO_ROLE_TIMESTAMP | KYMO_ROLE_TIMESTAMP_END);
  return sample_type(s, (struct kymo_type){.kind = KYMO_KIND_INTEGER,
                                           .size_bits = bits,
                                           .align_bits = 8,
                                           .roles = roles,
                                           .clock = is_time ? s->clock : NULL});
}

static const struct kymo_machine sample_machine = {
    .name = "s390x",
    .page_size = 4096,
    .char_is_signed = false,
    .sizes = {1, 2, 4, 8, 8, 8, 8, 8, 8, 4, 8, 16},
    .alignments = {1, 2, 4, 8, 8, 8, 8, 8, 8, 4, 8, 8},
};

static inline void sample_trace(struct sample *s) {
  struct kymo_schema *schema = kymo_builder_schema(s->builder);
  *schema = (struct kymo_schema){.order = KYMO_ORDER_BIG,
                                 .major = 2,
                                 .minor = 0,
                                 .has_uuid = true,
                                 .uuid = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 255},
                                 .trace_name = "all \"kinds\"",
                                 .attributes = "{\"a\":1}",
                                 .machine = &sample_machine};
  kymo_builder_environment(s->builder, &(struct kymo_environment){"hostname", "böx\n", 0});
  kymo_builder_environment(s->builder, &(struct kymo_environment){"vpid", NULL, -17});
  kymo_builder_environment(s->builder, &(struct kymo_environment){"no name", "", 0});
  s->clock = kymo_builder_clock(s->builder, &(struct kymo_clock){.name = "counter",
                                                                 .frequency = 2400000000,
                                                                 .offset_seconds = 1700000000,
                                                                 .offset_cycles = 5,
                                                                 .origin_is_epoch = true});
  kymo_builder_clock(s->builder, &(struct kymo_clock){.name = "other clock",
                                                      .description = "of another",
                                                      .frequency = UINT64_MAX,
                                                      .offset_seconds = INT64_MIN,
                                                      .offset_cycles = UINT64_MAX,
                                                      .precision = 7,
                                                      .has_uuid = true,
                                                      .uuid = {9},
                                                      .origin_namespace = "ns",
                                                      .origin_name = "on",
                                                      .origin_uid = "",
                                                      .attributes = "{}"});
}

/* Types without parts: one of every kind and property. */
static inline uint32_t sample_scalars(struct sample *s, struct kymo_member *members) {
  static const struct kymo_mapping states[] = {
      {"CLOSED", 0, 0}, {"OPEN", 1, 1}, {"odd name", 3, 200}, {"OPEN", 201, 201}};
  static const struct kymo_mapping minus[] = {{"below", (uint64_t)INT64_MIN, (uint64_t)-1},
                                              {"above", 0, INT64_MAX}};
  static const struct kymo_mapping bits[] = {{"READ", 0, 0}, {"MODE", 4, 6}};
  const struct kymo_type list[] = {
      {.kind = KYMO_KIND_INTEGER,
       .size_bits = 32,
       .align_bits = 32,
       .is_signed = true,
       .name = "int",
       .unit = "ns"},
      {.kind = KYMO_KIND_INTEGER, .size_bits = 3, .order = KYMO_ORDER_BIG, .bits_reversed = true, .base = 2},
      {.kind = KYMO_KIND_INTEGER,
       .size_bits = 64,
       .align_bits = 8,
       .base = 16,
       .is_address = true,
       .name = "void *"},
      {.kind = KYMO_KIND_INTEGER,
       .size_bits = 8,
       .align_bits = 8,
       .encoding = KYMO_ENCODING_ASCII,
       .base = 8},
      {.kind = KYMO_KIND_INTEGER,
       .size_bits = 8,
       .align_bits = 8,
       .is_enumeration = true,
       .mapping_count = 4,
       .mappings = states,
       .name = "enum state"},
      {.kind = KYMO_KIND_INTEGER,
       .size_bits = 64,
       .align_bits = 64,
       .is_enumeration = true,
       .is_signed = true,
       .mapping_count = 2,
       .mappings = minus,
       .base = 10},
      {.kind = KYMO_KIND_INTEGER, .size_bits = 16, .align_bits = 16, .is_enumeration = true},
      {.kind = KYMO_KIND_BOOLEAN, .size_bits = 8, .align_bits = 8, .name = "bool"},
      {.kind = KYMO_KIND_BITMAP, .size_bits = 32, .align_bits = 32, .mapping_count = 2, .mappings = bits},
      {.kind = KYMO_KIND_FLOAT, .size_bits = 64, .align_bits = 64, .order = KYMO_ORDER_BIG},
      {.kind = KYMO_KIND_FLOAT, .size_bits = 16, .align_bits = 8},
      {.kind = KYMO_KIND_VARINT, .is_signed = true},
      {.kind = KYMO_KIND_VARINT, .is_enumeration = true, .mapping_count = 4, .mappings = states},
      {.kind = KYMO_KIND_STRING, .encoding = KYMO_ENCODING_UTF16LE},
      {.kind = KYMO_KIND_TEXT_ARRAY, .length = 16, .encoding = KYMO_ENCODING_UTF8, .name = "char [16]"},
      {.kind = KYMO_KIND_BLOB_ARRAY, .length = 5, .media_type = "image/png", .attributes = "{\"b\":[]}"},
  };
  static const char *const names[] = {"count",   "bits", "where", "letter", "state", "sign",
                                      "nothing", "yes",  "flags", "ratio",  "half",  "zig",
                                      "zag",     "text", "comm",  "blob"};
  for (uint32_t i = 0; i < SAMPLE_COUNT(list); i++)
    members[i] =
        (struct kymo_member){.name = names[i], .source_name = names[i], .type = sample_type(s, list[i])};
  members[1].source_name = "_bits";
  members[2].attributes = "{\"where\":\"here\"}";
  return SAMPLE_COUNT(list);
}

/* Types with parts: types that depend on a length in the common context, nested containers. */
static inline uint32_t sample_compounds(struct sample *s, struct kymo_member *members,
                                        const struct kymo_type *length, const struct kymo_type *flag) {
  static const uint32_t steps[] = {0, 1};
  static const struct kymo_range ranges[] = {{0, 0}, {3, 9}, {20, 20}};
  struct kymo_reference to_length = {KYMO_SCOPE_COMMON_CONTEXT, 1, steps},
                        to_flag = {KYMO_SCOPE_COMMON_CONTEXT, 1, steps + 1};
  const struct kymo_type *byte =
      sample_type(s, (struct kymo_type){.kind = KYMO_KIND_INTEGER, .size_bits = 8, .align_bits = 8});
  const struct kymo_type *nothing = sample_struct(s, NULL, 0);
  struct kymo_member options[] = {
      {.name = "a", .source_name = "_a", .type = byte, .ranges = ranges, .range_count = 2},
      {.name = "b c", .source_name = "b c", .type = nothing, .ranges = ranges + 2, .range_count = 1}};
  struct kymo_member sides[] = {{.name = "l", .source_name = "l", .type = byte},
                                {.name = "r", .source_name = "r", .type = flag}};
  const struct kymo_type *pair = sample_struct(s, sides, 2);
  const struct kymo_type list[] = {
      {.kind = KYMO_KIND_TEXT_SEQUENCE,
       .encoding = KYMO_ENCODING_UTF8,
       .selector = to_length,
       .selector_type = length},
      {.kind = KYMO_KIND_BLOB_SEQUENCE, .selector = to_length, .selector_type = length, .media_type = "a/b"},
      {.kind = KYMO_KIND_SEQUENCE,
       .element = pair,
       .selector = to_length,
       .selector_type = length,
       .align_bits = 64},
      {.kind = KYMO_KIND_ARRAY, .element = byte, .length = 3, .name = "unsigned char [3]"},
      {.kind = KYMO_KIND_ARRAY, .element = pair},
      {.kind = KYMO_KIND_VARIANT,
       .selector = to_length,
       .selector_type = length,
       .member_count = 2,
       .members = sample_keep(s, options, sizeof options)},
      {.kind = KYMO_KIND_OPTIONAL,
       .element = byte,
       .selector = to_length,
       .selector_type = length,
       .presence_count = 3,
       .presence = ranges},
      {.kind = KYMO_KIND_OPTIONAL, .element = pair, .selector = to_flag, .selector_type = flag},
      {.kind = KYMO_KIND_UNION,
       .size_bits = 16,
       .align_bits = 8,
       .member_count = 2,
       .name = "union side",
       .members = sample_keep(s, sides, sizeof sides)},
  };
  static const char *const names[] = {"note", "data",  "pairs",   "three", "none",
                                      "any",  "maybe", "perhaps", "either"};
  for (uint32_t i = 0; i < SAMPLE_COUNT(list); i++)
    members[i] =
        (struct kymo_member){.name = names[i], .source_name = names[i], .type = sample_type(s, list[i])};
  return SAMPLE_COUNT(list);
}

/* Packet header and stream, whose common context has a length and a flag. */
static inline void sample_stream(struct sample *s, const struct kymo_type **length,
                                 const struct kymo_type **flag) {
  struct kymo_error error;
  const struct kymo_type *uuid =
      sample_type(s, (struct kymo_type){.kind = KYMO_KIND_BLOB_ARRAY, .length = 16, .roles = KYMO_ROLE_UUID});
  struct kymo_member head[] = {
      {.name = "magic", .source_name = "magic", .type = sample_role(s, 32, KYMO_ROLE_MAGIC)},
      {.name = "uuid", .source_name = "uuid", .type = uuid}};
  kymo_builder_schema(s->builder)->packet_header = sample_struct(s, head, 2);
  struct kymo_member context[] = {
      {.name = "size", .source_name = "size", .type = sample_role(s, 64, KYMO_ROLE_CONTENT_SIZE)},
      {.name = "end", .source_name = "end", .type = sample_role(s, 64, KYMO_ROLE_TIMESTAMP_END)}};
  struct kymo_member event[] = {
      {.name = "id", .source_name = "id", .type = sample_role(s, 16, KYMO_ROLE_EVENT_CLASS_ID)},
      {.name = "time", .source_name = "time", .type = sample_role(s, 48, KYMO_ROLE_TIMESTAMP)}};
  *length = sample_type(s, (struct kymo_type){.kind = KYMO_KIND_INTEGER, .size_bits = 8, .align_bits = 8});
  *flag = sample_type(s, (struct kymo_type){.kind = KYMO_KIND_BOOLEAN, .size_bits = 8, .align_bits = 8});
  struct kymo_member common[] = {{.name = "length", .source_name = "length", .type = *length},
                                 {.name = "flag", .source_name = "flag", .type = *flag}};
  struct kymo_stream_class stream = {.id = 7, .name = "first", .clock = s->clock, .attributes = "[]"};
  stream.packet_context = sample_struct(s, context, 2);
  stream.event_header = sample_struct(s, event, 2);
  stream.common_context = sample_struct(s, common, 2);
  kymo_builder_stream(s->builder, &stream, &s->stream, &error);
}

/* A builder with everything but events, which sample_event_1 and _2 add. */
static inline struct sample sample_begin(const struct kymo_type **length, const struct kymo_type **flag) {
  struct sample s = {.builder = kymo_builder_new()};
  struct kymo_stream_class *second;
  struct kymo_error error;
  sample_trace(&s);
  sample_stream(&s, length, flag);
  kymo_builder_stream(s.builder, &(struct kymo_stream_class){.id = UINT64_MAX}, &second, &error);
  kymo_builder_event(s.builder, second, &(struct kymo_event_class){.id = 0, .name = "", .level = -1}, NULL,
                     &error);
  return s;
}

static inline struct kymo_event_class *sample_event_1(struct sample *s) {
  struct kymo_member members[16];
  struct kymo_error error;
  struct kymo_event_class *made = NULL;
  uint32_t count = sample_scalars(s, members);
  kymo_builder_event(s->builder, s->stream,
                     &(struct kymo_event_class){.id = 5,
                                                .name = "net:rx",
                                                .level = 6,
                                                .uri = "http://example.org/",
                                                .source_file = "src/net.c",
                                                .source_line = 120,
                                                .template_text = "{count} of\t{state}",
                                                .attributes = "{\"c\":\"é\"}",
                                                .description = "A packet came.",
                                                .payload = sample_struct(s, members, count)},
                     &made, &error);
  return made;
}

static inline struct kymo_event_class *sample_event_2(struct sample *s, const struct kymo_type *length,
                                                      const struct kymo_type *flag) {
  struct kymo_member members[9];
  struct kymo_error error;
  struct kymo_event_class *made = NULL;
  const struct kymo_type *word = sample_role(s, 64, 0);
  struct kymo_member context[] = {{.name = "tid", .source_name = "_tid", .type = word}};
  uint32_t count = sample_compounds(s, members, length, flag);
  kymo_builder_event(s->builder, s->stream,
                     &(struct kymo_event_class){.id = UINT64_MAX,
                                                .name = "ns::call",
                                                .group = "of its own",
                                                .level = -1,
                                                .specific_context = sample_struct(s, context, 1),
                                                .payload = sample_struct(s, members, count)},
                     &made, &error);
  return made;
}

/* The whole schema; an unused type is last. NULL if a step failed. */
static inline struct kymo_schema *sample_schema(void) {
  const struct kymo_type *length, *flag;
  struct kymo_error error = {0};
  struct sample s = sample_begin(&length, &flag);
  sample_event_1(&s);
  sample_event_2(&s, length, flag);
  sample_type(&s, (struct kymo_type){.kind = KYMO_KIND_STRING, .name = "unused"});
  struct kymo_schema *schema = kymo_builder_finish(s.builder, &error);
  if (!schema)
    fprintf(stderr, "the sample is no schema: %s\n", error.message);
  return schema;
}

#endif
