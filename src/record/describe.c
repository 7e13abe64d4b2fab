/* SPDX-License-Identifier: MIT */
#include "record/describe.h"
#include "record/fields.h"
#include "ring/layout.h"
#include "schema/message.h"
#include "schema/span.h"
#include <string.h>

/* ---- event classes ---- */

const struct kymo_event_class *kymo_point_describe(struct kymo_builder *builder,
                                                   struct kymo_stream_class *stream,
                                                   const struct kymo_point_text *point,
                                                   const struct kymo_type *payload, uint64_t id) {
  const char *colon = strchr(point->name, ':');
  struct kymo_arena *arena = kymo_builder_arena(builder);
  struct kymo_event_class *out = NULL;
  struct kymo_event_class event = {
      .id = id,
      .group = kymo_arena_copy(arena, point->name, colon ? (size_t)(colon - point->name) : 0),
      .name = kymo_arena_copy(arena, point->name, strlen(point->name)),
      .level = point->level,
      .description = *point->about ? kymo_arena_copy(arena, point->about, strlen(point->about)) : NULL,
      .source_file = kymo_arena_copy(arena, point->file, strlen(point->file)),
      .source_line = point->line,
      .payload = payload,
      .template_text = point->format ? kymo_arena_copy(arena, point->format, strlen(point->format)) : NULL,
      .attributes = point->edge     ? kymo_span_attributes(point->edge)
                    : point->format ? KYMO_MESSAGE_ATTRIBUTES
                                    : NULL,
  };
  if (!event.group || !event.name || !event.source_file || !event.payload ||
      (*point->about && !event.description) || (point->format && !event.template_text))
    return NULL;
  return kymo_builder_event(builder, stream, &event, &out, NULL) ? NULL : out;
}

/* ---- headers ---- */

/* A struct of the trace's headers, under construction. */
struct members {
  struct kymo_builder *builder;
  struct kymo_member *member;
  uint32_t count;
};

static bool begin(struct members *m, struct kymo_builder *b, size_t room) {
  *m = (struct members){b, kymo_arena_array(kymo_builder_arena(b), room, sizeof *m->member), 0};
  return m->member;
}

/* `name` is a literal. */
static bool add(struct members *m, const char *name, const struct kymo_type *type) {
  const struct kymo_type *made = kymo_builder_type(m->builder, type);
  m->member[m->count++] = (struct kymo_member){.name = name, .source_name = name, .type = made};
  return made;
}

static bool add_integer(struct members *m, const char *name, uint32_t bits, uint32_t role) {
  struct kymo_type type = kymo_integer_type(bits, false);
  type.roles = role;
  return add(m, name, &type);
}

/* Without a clock the number has no meaning, and no reader may use it as a time. */
static bool add_time(struct members *m, const char *name, uint32_t role, const struct kymo_clock *clock) {
  if (!clock)
    return add_integer(m, role == KYMO_ROLE_TIMESTAMP ? "no_begin" : "no_end", 64, 0);
  struct kymo_type type = kymo_integer_type(64, false);
  type.roles = role;
  type.clock = clock;
  return add(m, name, &type);
}

static const struct kymo_type *structure(struct members *m) {
  return kymo_builder_struct(m->builder, m->member, m->count);
}

/* struct kymo_packet_header (ring/layout.h), member by member; the members after the first four are the
 * context. */
static const struct kymo_type *packet_header(struct kymo_builder *b) {
  struct members m;
  struct kymo_type magic = kymo_integer_type(32, false);
  magic.base = 16;
  magic.roles = KYMO_ROLE_MAGIC;
  const struct kymo_type uuid = {
      .kind = KYMO_KIND_BLOB_ARRAY, .align_bits = 8, .length = 16, .size_bits = 128, .roles = KYMO_ROLE_UUID};
  bool ok = begin(&m, b, 4) && add(&m, "magic", &magic) && add(&m, "uuid", &uuid) &&
            add_integer(&m, "stream_id", 32, KYMO_ROLE_STREAM_CLASS_ID) &&
            add_integer(&m, "stream_instance_id", 64, KYMO_ROLE_STREAM_ID);
  return ok ? structure(&m) : NULL;
}

static const struct kymo_type *packet_context(struct kymo_builder *b, const struct kymo_clock *clock) {
  struct members m;
  const struct kymo_type tid = kymo_integer_type(32, true);
  const struct kymo_type name = {.kind = KYMO_KIND_TEXT_ARRAY,
                                 .align_bits = 8,
                                 .length = 16,
                                 .size_bits = 128,
                                 .encoding = KYMO_ENCODING_UTF8};
  bool ok = begin(&m, b, 12) && add_time(&m, "timestamp_begin", KYMO_ROLE_TIMESTAMP, clock) &&
            add_time(&m, "timestamp_end", KYMO_ROLE_TIMESTAMP_END, clock) &&
            add_integer(&m, "content_size", 64, KYMO_ROLE_CONTENT_SIZE) &&
            add_integer(&m, "packet_size", 64, KYMO_ROLE_PACKET_SIZE) &&
            add_integer(&m, "packet_seq_num", 64, KYMO_ROLE_SEQUENCE_NUMBER) &&
            add_integer(&m, "events_discarded", 64, KYMO_ROLE_DISCARDED) &&
            add_integer(&m, "first_event", 64, 0) && add_integer(&m, "event_count", 32, 0) &&
            add_integer(&m, "discarded_large", 32, 0) && add_integer(&m, "discarded_nested", 32, 0) &&
            add(&m, "tid", &tid) && add(&m, "thread_name", &name);
  return ok ? structure(&m) : NULL;
}

/* One 64-bit word, 16 bits of id and 48 of time; each event begins on an 8-byte boundary. */
static const struct kymo_type *event_header(struct kymo_builder *b, const struct kymo_clock *clock) {
  struct members m;
  struct kymo_type id = kymo_integer_type(16, false), time = kymo_integer_type(48, false);
  id.align_bits = 64;
  id.roles = KYMO_ROLE_EVENT_CLASS_ID;
  time.align_bits = 1;
  time.roles = clock ? KYMO_ROLE_TIMESTAMP : 0;
  time.clock = clock;
  bool ok = begin(&m, b, 2) && add(&m, "id", &id) && add(&m, clock ? "timestamp" : "no_time", &time);
  return ok ? structure(&m) : NULL;
}

/* ---- the trace itself ---- */

static bool environment(struct kymo_builder *b, const char *name, const char *text, int64_t integer_value) {
  struct kymo_arena *arena = kymo_builder_arena(b);
  char *copy = text ? kymo_arena_copy(arena, text, strlen(text)) : NULL;
  return !kymo_builder_environment(b, &(struct kymo_environment){name, copy, integer_value});
}

static const struct kymo_clock *describe_clock(struct kymo_builder *b,
                                               const struct kymo_session_clock *clock) {
  return kymo_builder_clock(
      b,
      &(struct kymo_clock){.name = clock->is_counter ? "counter" : "monotonic",
                           .description = clock->is_counter ? "The processor's counter" : "CLOCK_MONOTONIC",
                           .frequency = clock->frequency,
                           .offset_seconds = clock->offset_seconds,
                           .offset_cycles = clock->offset_cycles,
                           .origin_is_epoch = true});
}

struct kymo_builder *kymo_trace_describe(const struct kymo_trace_text *trace,
                                         struct kymo_stream_class **stream) {
  struct kymo_builder *b = kymo_builder_new();
  if (!b)
    return NULL;
  struct kymo_schema *schema = kymo_builder_schema(b);
  schema->order = kymo_integer_type(8, false).order;
  schema->major = 1;
  schema->minor = 8;
  schema->has_uuid = true;
  struct kymo_machine *machine = kymo_arena_alloc(kymo_builder_arena(b), sizeof *machine);
  if (machine)
    kymo_machine_describe(machine);
  schema->machine = machine;
  const struct kymo_clock *clock = trace->clock->is_none ? NULL : describe_clock(b, trace->clock);
  bool ok = machine && (clock || trace->clock->is_none) && environment(b, "hostname", trace->host, 0) &&
            environment(b, "procname", trace->program, 0) && environment(b, "vpid", NULL, 0) &&
            environment(b, "tracer_name", "kymo", 0);
  schema->packet_header = ok ? packet_header(b) : NULL;
  struct kymo_stream_class class_ = {.id = 0, .clock = clock};
  if (schema->packet_header) {
    class_.packet_context = packet_context(b, clock);
    class_.event_header = event_header(b, clock);
  }
  if (class_.packet_context && class_.event_header && !kymo_builder_stream(b, &class_, stream, NULL))
    return b;
  kymo_builder_free(b);
  return NULL;
}
