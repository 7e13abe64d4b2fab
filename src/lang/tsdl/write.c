/* SPDX-License-Identifier: MIT */
/* The blocks of TSDL: trace, env, clock, stream, event. */
#include "lang/tsdl/write.h"
#include "lang/tsdl/writer.h"
#include "schema/model.h"
#include <inttypes.h>
#include <string.h>

static void write_uuid(struct kymo_strbuf *out, const uint8_t uuid[16]) {
  kymo_strbuf_puts(out, "  uuid = \"");
  for (int i = 0; i < 16; i++)
    kymo_strbuf_printf(out, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
  kymo_strbuf_puts(out, "\";\n");
}

static void write_text(struct kymo_strbuf *out, const char *name, const char *text) {
  kymo_strbuf_printf(out, "  %s = ", name);
  kymo_tsdl_write_quoted(out, text);
  kymo_strbuf_puts(out, ";\n");
}

static void write_root(struct tsdl_writer *writer, const char *name, enum kymo_scope scope) {
  if (!writer->roots[scope])
    return;
  kymo_strbuf_printf(writer->out, "  %s := ", name);
  writer->indent = 1;
  kymo_tsdl_write_scope(writer, scope);
  kymo_strbuf_puts(writer->out, ";\n");
}

static void write_trace(struct tsdl_writer *writer) {
  const struct kymo_schema *schema = writer->schema;
  kymo_strbuf_puts(writer->out, "/* CTF 1.8 */\n\ntrace {\n  major = 1;\n  minor = 8;\n");
  if (schema->has_uuid)
    write_uuid(writer->out, schema->uuid);
  kymo_strbuf_printf(writer->out, "  byte_order = %s;\n", schema->order == KYMO_ORDER_BIG ? "be" : "le");
  write_root(writer, "packet.header", KYMO_SCOPE_PACKET_HEADER);
  kymo_strbuf_puts(writer->out, "};\n");
}

static void write_environment(struct tsdl_writer *writer) {
  const struct kymo_schema *schema = writer->schema;
  if (schema->environment_count == 0)
    return;
  kymo_strbuf_puts(writer->out, "\nenv {\n");
  for (uint32_t i = 0; i < schema->environment_count; i++) {
    const struct kymo_environment *entry = schema->environment[i];
    struct tsdl_name name = kymo_tsdl_entry_name(entry->name, i);
    if (entry->text)
      write_text(writer->out, name.text, entry->text);
    else
      kymo_strbuf_printf(writer->out, "  %s = %" PRId64 ";\n", name.text, entry->integer);
  }
  kymo_strbuf_puts(writer->out, "};\n");
}

static void write_clock(struct tsdl_writer *writer, const struct kymo_clock *clock, uint32_t index) {
  struct kymo_strbuf *out = writer->out;
  kymo_strbuf_puts(out, "\nclock {\n");
  kymo_strbuf_printf(out, "  name = %s;\n",
                     kymo_tsdl_identifier(clock->name ? clock->name : "clock", index).text);
  if (clock->has_uuid)
    write_uuid(out, clock->uuid);
  if (clock->description)
    write_text(out, "description", clock->description);
  kymo_strbuf_printf(out, "  freq = %" PRIu64 ";\n", clock->frequency);
  if (clock->precision)
    kymo_strbuf_printf(out, "  precision = %" PRIu64 ";\n", clock->precision);
  if (clock->offset_seconds)
    kymo_strbuf_printf(out, "  offset_s = %" PRId64 ";\n", clock->offset_seconds);
  if (clock->offset_cycles)
    kymo_strbuf_printf(out, "  offset = %" PRIu64 ";\n", clock->offset_cycles);
  kymo_strbuf_printf(out, "  absolute = %s;\n};\n", clock->origin_is_epoch ? "true" : "false");
}

static bool has_role(const struct kymo_type *type, uint32_t role) {
  for (uint32_t i = 0; type && i < type->member_count; i++)
    if (type->members[i].type->roles & role)
      return true;
  return false;
}

/* Ids are useful only if packets have one; otherwise babeltrace refuses them. */
static bool says_stream_id(const struct tsdl_writer *writer) {
  return writer->schema->stream_count > 1 ||
         has_role(writer->schema->packet_header, KYMO_ROLE_STREAM_CLASS_ID);
}

/* Makes `stream` the one whose blocks are written; NULL for the blocks of the trace. */
static void enter_stream(struct tsdl_writer *writer, const struct kymo_stream_class *stream) {
  if (writer->stream == stream)
    return;
  writer->stream = stream;
  for (int scope = KYMO_SCOPE_PACKET_CONTEXT; scope < KYMO_SCOPE_COUNT; scope++)
    writer->dependents[scope].is_ready = false;
  writer->roots[KYMO_SCOPE_PACKET_CONTEXT] = stream->packet_context;
  writer->roots[KYMO_SCOPE_EVENT_HEADER] = stream->event_header;
  writer->roots[KYMO_SCOPE_COMMON_CONTEXT] = stream->common_context;
}

static void write_stream(struct tsdl_writer *writer, const struct kymo_stream_class *stream) {
  enter_stream(writer, stream);
  kymo_strbuf_puts(writer->out, "\nstream {\n");
  if (says_stream_id(writer))
    kymo_strbuf_printf(writer->out, "  id = %" PRIu64 ";\n", stream->id);
  write_root(writer, "packet.context", KYMO_SCOPE_PACKET_CONTEXT);
  write_root(writer, "event.header", KYMO_SCOPE_EVENT_HEADER);
  write_root(writer, "event.context", KYMO_SCOPE_COMMON_CONTEXT);
  kymo_strbuf_puts(writer->out, "};\n");
}

static void write_event(struct tsdl_writer *writer, const struct kymo_event_class *event) {
  struct kymo_strbuf *out = writer->out;
  enter_stream(writer, event->stream);
  writer->event = event;
  writer->dependents[KYMO_SCOPE_SPECIFIC_CONTEXT].is_ready = false;
  writer->dependents[KYMO_SCOPE_PAYLOAD].is_ready = false;
  writer->roots[KYMO_SCOPE_SPECIFIC_CONTEXT] = event->specific_context;
  writer->roots[KYMO_SCOPE_PAYLOAD] = event->payload;
  kymo_strbuf_puts(out, "\nevent {\n");
  write_text(out, "name", event->name);
  kymo_strbuf_printf(out, "  id = %" PRIu64 ";\n", event->id);
  if (says_stream_id(writer))
    kymo_strbuf_printf(out, "  stream_id = %" PRIu64 ";\n", event->stream->id);
  if (event->level >= 0)
    kymo_strbuf_printf(out, "  loglevel = %" PRId32 ";\n", event->level);
  if (event->uri)
    write_text(out, "model.emf.uri", event->uri);
  write_root(writer, "context", KYMO_SCOPE_SPECIFIC_CONTEXT);
  write_root(writer, "fields", KYMO_SCOPE_PAYLOAD);
  kymo_strbuf_puts(out, "};\n");
}

static void write_preamble(struct tsdl_writer *writer) {
  const struct kymo_schema *schema = writer->schema;
  writer->roots[KYMO_SCOPE_PACKET_HEADER] = schema->packet_header;
  write_trace(writer);
  write_environment(writer);
  for (uint32_t i = 0; i < schema->clock_count; i++)
    write_clock(writer, schema->clocks[i], i);
  for (uint32_t i = 0; i < schema->stream_count; i++)
    write_stream(writer, schema->streams[i]);
}

void kymo_tsdl_write_preamble(struct kymo_strbuf *out, const struct kymo_schema *schema) {
  struct tsdl_writer writer = {.out = out, .schema = schema};
  write_preamble(&writer);
  kymo_arena_free(&writer.arena);
}

void kymo_tsdl_write_event(struct kymo_strbuf *out, const struct kymo_event_class *event) {
  const struct kymo_schema *schema = &((const struct stream_impl *)event->stream)->owner->schema;
  struct tsdl_writer writer = {.out = out, .schema = schema};
  writer.roots[KYMO_SCOPE_PACKET_HEADER] = schema->packet_header;
  write_event(&writer, event);
  kymo_arena_free(&writer.arena);
}

void kymo_tsdl_write(struct kymo_strbuf *out, const struct kymo_schema *schema) {
  struct tsdl_writer writer = {.out = out, .schema = schema};
  write_preamble(&writer);
  for (uint32_t i = 0; i < schema->stream_count; i++)
    for (uint32_t at = 0; at < schema->streams[i]->event_count; at++)
      write_event(&writer, schema->streams[i]->events[at]);
  kymo_arena_free(&writer.arena);
}
