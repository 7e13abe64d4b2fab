/* SPDX-License-Identifier: MIT */
/* For the tests of the reader: schemas in few words, packets in memory, and a stream of them. */
#ifndef TEST_READ_MEMORY_H
#define TEST_READ_MEMORY_H

#include "base/bytes.h"
#include "decode/walk.h"
#include "schema/build.h"
#include "source/format.h"
#include "trace/trace.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* ---- types ---- */

#define MEMBERS_MAX 16

/* Makes an interned copy of a type. */
static inline const struct kymo_type *make(struct kymo_builder *builder, struct kymo_type type) {
  const struct kymo_type *made = kymo_builder_type(builder, &type);
  assert_non_null(made);
  return made;
}

static inline const struct kymo_type *make_uint(struct kymo_builder *builder, uint32_t bits, uint32_t align) {
  return make(builder, (struct kymo_type){.kind = KYMO_KIND_INTEGER, .size_bits = bits, .align_bits = align});
}

static inline const struct kymo_type *make_role(struct kymo_builder *builder, uint32_t bits, uint32_t align,
                                                uint32_t roles, const struct kymo_clock *clock) {
  return make(
      builder,
      (struct kymo_type){
          .kind = KYMO_KIND_INTEGER, .size_bits = bits, .align_bits = align, .roles = roles, .clock = clock});
}

/* A struct of (name, type) pairs, ended by NULL. */
static inline const struct kymo_type *make_struct(struct kymo_builder *builder, ...) {
  struct kymo_member *members = kymo_arena_array(kymo_builder_arena(builder), MEMBERS_MAX, sizeof *members);
  assert_non_null(members);
  uint32_t count = 0;
  va_list args;
  va_start(args, builder);
  for (const char *name = va_arg(args, const char *); name; name = va_arg(args, const char *)) {
    assert_true(count < MEMBERS_MAX);
    members[count].name = members[count].source_name = name;
    members[count++].type = va_arg(args, const struct kymo_type *);
  }
  va_end(args);
  return make(builder,
              (struct kymo_type){.kind = KYMO_KIND_STRUCT, .member_count = count, .members = members});
}

/* A reference to the `index`-th member of a scope's struct. */
static inline struct kymo_reference refer(struct kymo_builder *builder, enum kymo_scope scope,
                                          uint32_t index) {
  uint32_t *steps = kymo_arena_array(kymo_builder_arena(builder), 1, sizeof *steps);
  assert_non_null(steps);
  steps[0] = index;
  return (struct kymo_reference){.scope = scope, .depth = 1, .steps = steps};
}

/* ---- packets ---- */

struct packet_bytes {
  uint8_t bytes[4096 + KYMO_SLACK];
  uint64_t bits;
};

static inline void put(struct packet_bytes *out, uint64_t value, unsigned bits, bool is_big) {
  for (unsigned i = 0; i < bits; i++, out->bits++) {
    unsigned bit = is_big ? bits - 1 - i : i;
    unsigned place = is_big ? 7 - out->bits % 8 : out->bits % 8;
    assert_true(out->bits / 8 < 4096);
    if (value >> bit & 1)
      out->bytes[out->bits / 8] |= (uint8_t)(1u << place);
  }
}

static inline void put_le(struct packet_bytes *out, uint64_t value, unsigned bits) {
  put(out, value, bits, false);
}

static inline void put_text(struct packet_bytes *out, const char *text, size_t size) {
  for (size_t i = 0; i < size; i++)
    put_le(out, (uint8_t)text[i], 8);
}

static inline void pad_to(struct packet_bytes *out, uint64_t align) {
  out->bits = (out->bits + align - 1) / align * align;
}

/* ---- a stream of bytes in memory ---- */

struct memory_source {
  const uint8_t *data;
  uint64_t size;
};
struct kymo_cursor {
  const struct memory_source *source;
  uint64_t at;
};

static inline int memory_begin(struct kymo_cursor **cursor, void *source, struct kymo_error *error) {
  (void)error;
  *cursor = calloc(1, sizeof **cursor);
  (*cursor)->source = source;
  return KYMO_OK;
}

static inline int memory_next(struct kymo_cursor *cursor, struct kymo_chunk *chunk,
                              struct kymo_error *error) {
  (void)error;
  if (cursor->at >= cursor->source->size)
    return KYMO_END;
  *chunk = (struct kymo_chunk){.data = cursor->source->data + cursor->at,
                               .size_bytes = cursor->source->size - cursor->at,
                               .path = "memory",
                               .offset = cursor->at};
  return KYMO_OK;
}

static inline void memory_skip(struct kymo_cursor *cursor, uint64_t size_bytes) { cursor->at += size_bytes; }

static inline void memory_seek(struct kymo_cursor *cursor, uint32_t file, uint64_t offset) {
  (void)file;
  cursor->at = offset;
}

static inline void memory_end(struct kymo_cursor *cursor) { free(cursor); }

static const struct kymo_source_operations memory_operations = {.begin = memory_begin,
                                                                .next = memory_next,
                                                                .skip = memory_skip,
                                                                .seek = memory_seek,
                                                                .end = memory_end,
                                                                .free = free};

/* Opens streams of one schema, which is taken over. Each is the bytes up to the last whole one. */
static inline struct kymo_trace *open_memory(struct kymo_schema *schema, const struct packet_bytes *streams,
                                             size_t count) {
  struct kymo_error error = {0};
  struct kymo_trace *trace = kymo_trace_new();
  struct kymo_part *part;
  assert_non_null(trace);
  struct kymo_part_source source = {.format = "memory", .path = "memory", .schema = schema};
  if (kymo_trace_add_part(trace, &source, &part, &error) != KYMO_OK)
    fail_msg("%s", error.message);
  for (size_t i = 0; i < count; i++) {
    struct memory_source *memory = malloc(sizeof *memory);
    *memory = (struct memory_source){streams[i].bytes, (streams[i].bits + 7) / 8};
    struct kymo_stream_source stream = {
        .operations = &memory_operations, .source = memory, .path = "memory", .instance = i};
    assert_int_equal(kymo_part_add_stream(trace, part, &stream, &error), KYMO_OK);
  }
  assert_int_equal(kymo_trace_finish(trace, &error), KYMO_OK);
  return trace;
}

static inline struct kymo_schema *finish(struct kymo_builder *builder) {
  struct kymo_error error = {0};
  struct kymo_schema *schema = kymo_builder_finish(builder, &error);
  if (!schema)
    fail_msg("%s", error.message);
  return schema;
}

static inline const struct kymo_event *next_event(struct kymo_trace *trace) {
  const struct kymo_event *event = NULL;
  struct kymo_error error = {0};
  int status = kymo_trace_next(trace, &event, &error);
  if (status == KYMO_END)
    return NULL;
  assert_int_equal(status, KYMO_OK);
  return event;
}

/* All fields of a scope as text: "a=1 b={…} c=[…] s="x" o=~". */
static inline const char *walk_text(const struct kymo_event *event, enum kymo_scope scope) {
  static char text[4096];
  size_t at = 0;
  struct kymo_walk walk;
  struct kymo_value value;
  text[0] = 0;
  if (!kymo_walk_begin(&walk, event, scope))
    return "none";
  for (;;) {
    enum kymo_token token = kymo_walk_next(&walk, &value);
    if (token == KYMO_TOKEN_DONE || at > sizeof text - 200)
      return text;
    const char *name = value.member && token != KYMO_TOKEN_END ? value.member->name : "";
    const char *gap = at && token != KYMO_TOKEN_END ? " " : "", *sign = name[0] ? "=" : "";
    bool is_struct = value.type && value.type->kind == KYMO_KIND_STRUCT;
    at += (size_t)snprintf(text + at, sizeof text - at, "%s%s%s", gap, name, sign);
    switch (token) {
    case KYMO_TOKEN_BEGIN: at += (size_t)snprintf(text + at, sizeof text - at, is_struct ? "{" : "["); break;
    case KYMO_TOKEN_END: at += (size_t)snprintf(text + at, sizeof text - at, is_struct ? " }" : " ]"); break;
    case KYMO_TOKEN_INTEGER:
      at += (size_t)(value.type->is_signed
                         ? snprintf(text + at, sizeof text - at, "%lld", (long long)value.i)
                         : snprintf(text + at, sizeof text - at, "%llu", (unsigned long long)value.u));
      break;
    case KYMO_TOKEN_FLOAT: at += (size_t)snprintf(text + at, sizeof text - at, "%g", value.f); break;
    case KYMO_TOKEN_TEXT:
      at += (size_t)snprintf(text + at, sizeof text - at, "\"%.*s\"", (int)value.count,
                             (const char *)value.bytes);
      break;
    case KYMO_TOKEN_BLOB:
      at += (size_t)snprintf(text + at, sizeof text - at, "blob%u", (unsigned)value.count);
      break;
    case KYMO_TOKEN_ABSENT: at += (size_t)snprintf(text + at, sizeof text - at, "~"); break;
    default: snprintf(text + at, sizeof text - at, "ERROR"); return text;
    }
  }
}

#endif
