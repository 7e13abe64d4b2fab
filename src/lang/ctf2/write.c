/* SPDX-License-Identifier: MIT */
/* The fragments of CTF 2 metadata: preamble, trace class, clock, data stream and event record classes. */
#include "lang/ctf2/write.h"
#include "lang/ctf2/writer.h"
#include <stdio.h>
#include <string.h>

/* babeltrace's own namespace, with the properties of event classes that it shows. */
#define BABELTRACE "babeltrace.org,2020"

static void begin_fragment(struct ctf2_writer *writer, const char *type) {
  kymo_strbuf_add(writer->json.out, "\x1e", 1);
  writer->json.has_item = false;
  kymo_ctf2_open(&writer->json, NULL, '{');
  kymo_ctf2_put_text(&writer->json, "type", type);
}

static void end_fragment(struct ctf2_writer *writer) {
  kymo_ctf2_close(&writer->json, '}');
  kymo_strbuf_add(writer->json.out, "\n", 1);
}

static void put_text(struct ctf2_writer *writer, const char *key, const char *text) {
  if (text)
    kymo_ctf2_put_text(&writer->json, key, text);
}

static void write_preamble(struct ctf2_writer *writer) {
  begin_fragment(writer, "preamble");
  kymo_ctf2_put_uint(&writer->json, "version", 2);
  if (writer->schema->has_uuid)
    kymo_ctf2_put_bytes(&writer->json, "uuid", writer->schema->uuid, 16);
  end_fragment(writer);
}

/* ---- trace class ---- */

static void put_environment(struct ctf2_writer *writer) {
  const struct kymo_schema *schema = writer->schema;
  if (schema->environment_count == 0)
    return;
  kymo_ctf2_open(&writer->json, "environment", '{');
  for (uint32_t i = 0; i < schema->environment_count; i++) {
    const struct kymo_environment *entry = schema->environment[i];
    if (entry->text)
      kymo_ctf2_put_text(&writer->json, entry->name, entry->text);
    else
      kymo_ctf2_put_int(&writer->json, entry->name, entry->integer);
  }
  kymo_ctf2_close(&writer->json, '}');
}

static void put_machine(struct ctf2_writer *writer) {
  const struct kymo_machine *machine = writer->schema->machine;
  if (!machine)
    return;
  kymo_ctf2_open(&writer->json, "machine", '{');
  kymo_ctf2_put_text(&writer->json, "name", machine->name);
  kymo_ctf2_put_uint(&writer->json, "page-size", machine->page_size);
  kymo_ctf2_put_bool(&writer->json, "char-is-signed", machine->char_is_signed);
  kymo_ctf2_put_bytes(&writer->json, "sizes", machine->sizes, KYMO_C_TYPE_COUNT);
  kymo_ctf2_put_bytes(&writer->json, "alignments", machine->alignments, KYMO_C_TYPE_COUNT);
  kymo_ctf2_close(&writer->json, '}');
}

static void write_trace(struct ctf2_writer *writer) {
  const struct kymo_schema *schema = writer->schema;
  begin_fragment(writer, "trace-class");
  put_text(writer, "name", schema->trace_name);
  put_environment(writer);
  struct ctf2_attributes attributes = kymo_ctf2_attributes(schema->attributes);
  kymo_ctf2_own_text(writer, &attributes, "byte-order",
                     schema->order == KYMO_ORDER_BIG ? "big-endian" : "little-endian");
  put_machine(writer);
  kymo_ctf2_attributes_end(writer, &attributes);
  kymo_ctf2_put_scope(writer, "packet-header-field-class", KYMO_SCOPE_PACKET_HEADER);
  end_fragment(writer);
}

/* ---- clock classes ---- */

static bool clocks_have_names(const struct kymo_schema *schema) {
  for (uint32_t i = 0; i < schema->clock_count; i++) {
    const char *name = schema->clocks[i]->name;
    if (!name || strlen(name) >= sizeof(struct ctf2_name))
      return false;
    for (uint32_t at = 0; at < i; at++)
      if (strcmp(schema->clocks[at]->name, name) == 0)
        return false;
  }
  return true;
}

static void put_origin(struct ctf2_writer *writer, const struct kymo_clock *clock) {
  if (clock->origin_is_epoch) {
    kymo_ctf2_put_text(&writer->json, "origin", "unix-epoch");
  } else if (clock->origin_name && clock->origin_uid) {
    kymo_ctf2_open(&writer->json, "origin", '{');
    put_text(writer, "namespace", clock->origin_namespace);
    kymo_ctf2_put_text(&writer->json, "name", clock->origin_name);
    kymo_ctf2_put_text(&writer->json, "uid", clock->origin_uid);
    kymo_ctf2_close(&writer->json, '}');
  }
}

static void put_offset(struct ctf2_writer *writer, const struct kymo_clock *clock) {
  uint64_t cycles = clock->offset_cycles % clock->frequency, more = clock->offset_cycles / clock->frequency;
  int64_t seconds;
  if (__builtin_add_overflow(clock->offset_seconds, more, &seconds))
    seconds = INT64_MAX; /* the times do not fit in any case */
  if (seconds == 0 && cycles == 0)
    return;
  kymo_ctf2_open(&writer->json, "offset-from-origin", '{');
  kymo_ctf2_put_int(&writer->json, "seconds", seconds);
  kymo_ctf2_put_uint(&writer->json, "cycles", cycles);
  kymo_ctf2_close(&writer->json, '}');
}

static void put_uuid(struct ctf2_writer *writer, const uint8_t uuid[16]) {
  char text[37];
  for (int i = 0, at = 0; i < 16; i++)
    at += snprintf(text + at, sizeof text - (size_t)at, "%s%02x",
                   i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
  kymo_ctf2_put_text(&writer->json, "uid", text);
}

static void write_clock(struct ctf2_writer *writer, const struct kymo_clock *clock) {
  begin_fragment(writer, "clock-class");
  kymo_ctf2_put_text(&writer->json, "id", kymo_ctf2_clock_id(writer, clock).text);
  put_text(writer, "name", clock->name);
  if (clock->has_uuid)
    put_uuid(writer, clock->uuid);
  put_text(writer, "description", clock->description);
  kymo_ctf2_put_uint(&writer->json, "frequency", clock->frequency);
  put_origin(writer, clock);
  put_offset(writer, clock);
  if (clock->precision)
    kymo_ctf2_put_uint(&writer->json, "precision", clock->precision);
  struct ctf2_attributes attributes = kymo_ctf2_attributes(clock->attributes);
  kymo_ctf2_attributes_end(writer, &attributes);
  end_fragment(writer);
}

/* ---- data stream classes ---- */

static void enter_stream(struct ctf2_writer *writer, const struct kymo_stream_class *stream) {
  writer->stream = stream;
  writer->roots[KYMO_SCOPE_PACKET_CONTEXT] = stream->packet_context;
  writer->roots[KYMO_SCOPE_EVENT_HEADER] = stream->event_header;
  writer->roots[KYMO_SCOPE_COMMON_CONTEXT] = stream->common_context;
}

static void write_stream(struct ctf2_writer *writer, const struct kymo_stream_class *stream) {
  enter_stream(writer, stream);
  begin_fragment(writer, "data-stream-class");
  kymo_ctf2_put_uint(&writer->json, "id", stream->id);
  put_text(writer, "name", stream->name);
  if (stream->clock)
    kymo_ctf2_put_text(&writer->json, "default-clock-class-id",
                       kymo_ctf2_clock_id(writer, stream->clock).text);
  struct ctf2_attributes attributes = kymo_ctf2_attributes(stream->attributes);
  kymo_ctf2_attributes_end(writer, &attributes);
  kymo_ctf2_put_scope(writer, "packet-context-field-class", KYMO_SCOPE_PACKET_CONTEXT);
  kymo_ctf2_put_scope(writer, "event-record-header-field-class", KYMO_SCOPE_EVENT_HEADER);
  kymo_ctf2_put_scope(writer, "event-record-common-context-field-class", KYMO_SCOPE_COMMON_CONTEXT);
  end_fragment(writer);
}

/* ---- event record classes ---- */

static const char *const levels[] = {
    "emergency",    "alert",      "critical",       "error",         "warning",
    "notice",       "info",       "debug:system",   "debug:program", "debug:process",
    "debug:module", "debug:unit", "debug:function", "debug:line",    "debug",
};
#define LEVEL_COUNT (int32_t)(sizeof levels / sizeof levels[0])

/* True if the class has a group that is not the part of its name before the colon. */
static bool has_own_group(const struct kymo_event_class *event) {
  const char *colon = strchr(event->name, ':');
  size_t length = colon && colon[1] != ':' ? (size_t)(colon - event->name) : 0;
  return event->group && (strlen(event->group) != length || memcmp(event->group, event->name, length) != 0);
}

/* Level and URI are written where babeltrace looks for them, if user attributes leave the place free and
 * babeltrace has a word for the level. */
static void put_event_attributes(struct ctf2_writer *writer, const struct kymo_event_class *event) {
  struct ctf2_attributes attributes = kymo_ctf2_attributes(event->attributes);
  bool has_place = !attributes.users || !strstr(attributes.users, "\"" BABELTRACE "\"");
  bool has_level = event->level >= 0, has_word = has_place && event->level < LEVEL_COUNT;
  kymo_ctf2_own_text(writer, &attributes, "group", has_own_group(event) ? event->group : NULL);
  kymo_ctf2_own_text(writer, &attributes, "description", event->description);
  kymo_ctf2_own_text(writer, &attributes, "source-file", event->source_file);
  if (event->source_line) {
    kymo_ctf2_own(writer, &attributes, CTF2_OWN_SPACE);
    kymo_ctf2_put_uint(&writer->json, "source-line", event->source_line);
  }
  kymo_ctf2_own_text(writer, &attributes, "template", event->template_text);
  if (has_level && !has_word) {
    kymo_ctf2_own(writer, &attributes, CTF2_OWN_SPACE);
    kymo_ctf2_put_int(&writer->json, "log-level", event->level);
  }
  kymo_ctf2_own_text(writer, &attributes, "emf-uri", has_place ? NULL : event->uri);
  if ((has_level && has_word) || (event->uri && has_place)) {
    kymo_ctf2_own(writer, &attributes, BABELTRACE);
    put_text(writer, "log-level", has_level && has_word ? levels[event->level] : NULL);
    put_text(writer, "emf-uri", event->uri);
  }
  kymo_ctf2_attributes_end(writer, &attributes);
}

static void write_event(struct ctf2_writer *writer, const struct kymo_event_class *event) {
  enter_stream(writer, event->stream);
  writer->roots[KYMO_SCOPE_SPECIFIC_CONTEXT] = event->specific_context;
  writer->roots[KYMO_SCOPE_PAYLOAD] = event->payload;
  begin_fragment(writer, "event-record-class");
  kymo_ctf2_put_uint(&writer->json, "id", event->id);
  kymo_ctf2_put_uint(&writer->json, "data-stream-class-id", event->stream->id);
  put_text(writer, "name", event->name[0] ? event->name : NULL);
  put_event_attributes(writer, event);
  kymo_ctf2_put_scope(writer, "specific-context-field-class", KYMO_SCOPE_SPECIFIC_CONTEXT);
  kymo_ctf2_put_scope(writer, "payload-field-class", KYMO_SCOPE_PAYLOAD);
  end_fragment(writer);
}

void kymo_ctf2_write(struct kymo_strbuf *out, const struct kymo_schema *schema) {
  struct ctf2_writer writer = {.json = {.out = out}, .schema = schema};
  writer.clocks_have_names = clocks_have_names(schema);
  writer.roots[KYMO_SCOPE_PACKET_HEADER] = schema->packet_header;
  write_preamble(&writer);
  write_trace(&writer);
  for (uint32_t i = 0; i < schema->clock_count; i++)
    write_clock(&writer, schema->clocks[i]);
  for (uint32_t i = 0; i < schema->stream_count; i++)
    write_stream(&writer, schema->streams[i]);
  for (uint32_t i = 0; i < schema->stream_count; i++)
    for (uint32_t at = 0; at < schema->streams[i]->event_count; at++)
      write_event(&writer, schema->streams[i]->events[at]);
}
