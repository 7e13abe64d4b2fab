/* SPDX-License-Identifier: MIT */
#include "sink/ctf/schema.h"
#include "base/fail.h"
#include "schema/copy.h"
#include "schema/parts.h"
#include "sink/ctf/kernel.h"
#include <stdlib.h>
#include <string.h>

/* ---- what TSDL has no words for ---- */

static bool is_strange(const struct kymo_type *type) {
  return type->kind == KYMO_KIND_VARINT || (type->bits_reversed && type->size_bits <= 64) ||
         (type->kind == KYMO_KIND_STRING && type->encoding > KYMO_ENCODING_UTF8);
}

bool *kymo_ctf_find_strange(const struct kymo_schema *schema, bool *any) {
  bool *strange = calloc((size_t)schema->type_count + 1, sizeof *strange);
  *any = false;
  for (uint32_t id = 0; strange && id < schema->type_count; id++) { /* parts have lower ids */
    const struct kymo_type *type = schema->types[id];
    strange[id] = is_strange(type) || (type->element && strange[type->element->id]);
    for (uint32_t i = 0; i < type->member_count; i++)
      strange[id] |= strange[type->members[i].type->id];
    *any |= strange[id];
  }
  return strange;
}

bool kymo_ctf_is_strange(const struct kymo_schema *schema) {
  bool any;
  free(kymo_ctf_find_strange(schema, &any));
  return any;
}

static bool has_role(const struct kymo_type *type, uint32_t role) {
  for (uint32_t i = 0; type && i < type->member_count; i++)
    if (type->members[i].type->roles & role || has_role(type->members[i].type, role))
      return true;
  return false;
}

bool kymo_ctf_has_sizes(const struct kymo_schema *schema) {
  uint32_t sizes = KYMO_ROLE_PACKET_SIZE | KYMO_ROLE_CONTENT_SIZE;
  for (uint32_t i = 0; i < schema->stream_count; i++)
    if (!has_role(schema->packet_header, sizes) && !has_role(schema->streams[i]->packet_context, sizes))
      return false;
  return true;
}

/* A number that a writer fills in is wide enough for any value. */
static void widen(struct kymo_type *type) {
  type->kind = KYMO_KIND_INTEGER;
  type->size_bits = 64;
}

void kymo_ctf_make_plain(const bool *strange, struct kymo_type *type) {
  if (type->kind == KYMO_KIND_VARINT || type->roles & (KYMO_ROLE_PACKET_SIZE | KYMO_ROLE_CONTENT_SIZE))
    widen(type);
  if (type->size_bits <= 64)
    type->bits_reversed = false;
  if (type->kind == KYMO_KIND_STRING && type->encoding > KYMO_ENCODING_UTF8)
    type->encoding = KYMO_ENCODING_UTF8;
  if (type->kind == KYMO_KIND_UNION && strange[type->id]) {
    type->kind = KYMO_KIND_BLOB_ARRAY;
    type->length = type->size_bits / 8;
    type->members = NULL;
    type->member_count = 0;
  }
}

static void change_type(void *user, struct kymo_type *type) { kymo_ctf_make_plain(user, type); }

/* ---- the parts of a schema ---- */

void kymo_ctf_shift_clock(struct kymo_clock *clock, int64_t ns) {
  int64_t seconds = ns / 1000000000, rest = ns % 1000000000;
  if (rest < 0) {
    rest += 1000000000;
    seconds--;
  }
  uint64_t whole = clock->frequency / 1000000000, part = clock->frequency % 1000000000,
           fraction = (uint64_t)rest;
  uint64_t cycles = fraction * whole + fraction * part / 1000000000;
  clock->offset_seconds += seconds + (int64_t)(clock->offset_cycles / clock->frequency);
  clock->offset_cycles = clock->offset_cycles % clock->frequency + cycles;
  clock->offset_seconds += (int64_t)(clock->offset_cycles / clock->frequency);
  clock->offset_cycles %= clock->frequency;
}

static bool copy_clocks(struct kymo_schema_copy *copy, int64_t offset_ns) {
  for (uint32_t i = 0; i < copy->schema->clock_count; i++) {
    struct kymo_clock clock = kymo_schema_copy_clock(copy, copy->schema->clocks[i]);
    if (offset_ns)
      kymo_ctf_shift_clock(&clock, offset_ns);
    copy->clocks[i] = kymo_builder_clock(copy->builder, &clock);
    copy->failed |= !copy->clocks[i];
  }
  return !copy->failed;
}

static bool copy_trace(struct kymo_schema_copy *copy, bool is_ctf2) {
  const struct kymo_schema *from = copy->schema;
  struct kymo_schema *to = kymo_builder_schema(copy->builder);
  to->order = from->order;
  to->major = is_ctf2 ? 2 : 1;
  to->minor = is_ctf2 ? 0 : 8;
  to->has_uuid = from->has_uuid;
  memcpy(to->uuid, from->uuid, sizeof to->uuid);
  to->trace_name = kymo_schema_copy_text(copy, from->trace_name);
  to->attributes = kymo_schema_copy_text(copy, from->attributes);
  to->machine = from->machine ? kymo_schema_copy_array(copy, from->machine, 1, sizeof *from->machine) : NULL;
  for (uint32_t i = 0; i < from->environment_count && !copy->failed; i++) {
    struct kymo_environment entry = *from->environment[i];
    entry.name = kymo_schema_copy_text(copy, entry.name);
    entry.text = kymo_schema_copy_text(copy, entry.text);
    copy->failed |= kymo_builder_environment(copy->builder, &entry) < 0;
  }
  return !copy->failed;
}

/* A head (NULL: an empty one) with a number of 64 bits at its end, if it has none of this role. NULL if there
 * is no memory. */
static const struct kymo_type *with_number(struct kymo_schema_copy *copy, const struct kymo_type *head,
                                           const char *name, uint32_t role) {
  struct kymo_type wanted = head ? *head : (struct kymo_type){.kind = KYMO_KIND_STRUCT, .align_bits = 8};
  struct kymo_type number = {.kind = KYMO_KIND_INTEGER,
                             .size_bits = 64,
                             .align_bits = 8,
                             .roles = role,
                             .order = kymo_builder_schema(copy->builder)->order};
  if (has_role(head, role))
    return head;
  struct kymo_member *members =
      kymo_builder_alloc(copy->builder, ((size_t)wanted.member_count + 1) * sizeof *members);
  const struct kymo_type *type = kymo_builder_type(copy->builder, &number);
  if (!members || !type)
    return NULL;
  if (wanted.member_count)
    memcpy(members, wanted.members, wanted.member_count * sizeof *members);
  members[wanted.member_count++] = (struct kymo_member){.name = name, .source_name = name, .type = type};
  wanted.members = members;
  return kymo_builder_type(copy->builder, &wanted);
}

static bool add_sizes(struct kymo_schema_copy *copy, struct kymo_stream_class *stream, bool is_kernel) {
  const struct kymo_type *context =
      with_number(copy, stream->packet_context, "content_size", KYMO_ROLE_CONTENT_SIZE);
  stream->packet_context = context ? with_number(copy, context, "packet_size", KYMO_ROLE_PACKET_SIZE) : NULL;
  if (is_kernel && stream->packet_context)
    stream->packet_context = with_number(copy, stream->packet_context, "cpu_id", 0);
  return stream->packet_context;
}

/* Without ids all events are of one class: the only one, or number 0. Babeltrace 2 rejects a CTF 1.8 trace
 * that describes others. */
static bool may_occur(const struct kymo_event_class *event) {
  const struct kymo_stream_class *stream = event->stream;
  return stream->event_count == 1 || event->id == 0 ||
         has_role(stream->event_header, KYMO_ROLE_EVENT_CLASS_ID);
}

static int copy_stream(struct kymo_schema_copy *copy, const struct kymo_stream_class *from,
                       const struct kymo_ctf_demand *demand, struct kymo_error *error) {
  struct kymo_stream_class stream = *from;
  struct kymo_stream_class *made;
  stream.name = kymo_schema_copy_text(copy, from->name);
  stream.attributes = kymo_schema_copy_text(copy, from->attributes);
  stream.packet_context = kymo_copied_type(copy, from->packet_context);
  stream.event_header = kymo_copied_type(copy, from->event_header);
  stream.common_context = kymo_copied_type(copy, from->common_context);
  stream.clock = kymo_copied_clock(copy, from->clock);
  if (copy->change || demand->needs_sizes)
    copy->failed |= !add_sizes(copy, &stream, demand->is_kernel);
  int status = copy->failed ? KYMO_E_MEMORY : kymo_builder_stream(copy->builder, &stream, &made, error);
  for (uint32_t i = 0; i < from->event_count && status == KYMO_OK; i++) {
    if (!demand->is_ctf2 && !may_occur(from->events[i]))
      continue;
    struct kymo_event_class event = kymo_schema_copy_event(copy, from->events[i]);
    if (demand->is_kernel)
      copy->failed |= !kymo_ctf_rename_kernel(copy, &event);
    status = copy->failed ? KYMO_E_MEMORY : kymo_builder_event(copy->builder, made, &event, NULL, error);
  }
  return status;
}

static int copy_all(struct kymo_schema_copy *copy, struct kymo_arena *work,
                    const struct kymo_ctf_demand *demand, struct kymo_error *error) {
  if (!copy->builder || !kymo_schema_copy_begin(copy, work) || !copy_trace(copy, demand->is_ctf2) ||
      !copy_clocks(copy, demand->clock_offset_ns) || !kymo_schema_copy_types(copy, work))
    return KYMO_E_MEMORY;
  const struct kymo_environment domain = {.name = "domain", .text = "kernel"};
  if (demand->is_kernel && kymo_builder_environment(copy->builder, &domain) < 0)
    return KYMO_E_MEMORY;
  const struct kymo_type *header = kymo_copied_type(copy, copy->schema->packet_header);
  bool needs_id = (copy->change || demand->needs_sizes) && copy->schema->stream_count > 1;
  if (needs_id && !(header = with_number(copy, header, "stream_id", KYMO_ROLE_STREAM_CLASS_ID)))
    return KYMO_E_MEMORY;
  kymo_builder_schema(copy->builder)->packet_header = header;
  int status = KYMO_OK;
  for (uint32_t i = 0; i < copy->schema->stream_count && status == KYMO_OK; i++)
    status = copy_stream(copy, copy->schema->streams[i], demand, error);
  return status;
}

int kymo_ctf_schema_new(struct kymo_schema **out, const struct kymo_schema *in,
                        const struct kymo_ctf_demand *demand, struct kymo_error *error) {
  bool any = false, *strange = demand->is_ctf2 ? NULL : kymo_ctf_find_strange(in, &any);
  struct kymo_arena work = {0};
  struct kymo_schema_copy copy = {.builder = kymo_builder_new(), .schema = in, .user = strange};
  *out = NULL;
  copy.change = any ? change_type : NULL;
  int status = strange || demand->is_ctf2 ? copy_all(&copy, &work, demand, error) : KYMO_E_MEMORY;
  if (status == KYMO_E_MEMORY)
    kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (status == KYMO_OK) {
    *out = kymo_builder_finish(copy.builder, error);
    status = *out ? KYMO_OK : error->code;
  } else {
    kymo_builder_free(copy.builder);
  }
  kymo_arena_free(&work);
  free(strange);
  return status;
}
