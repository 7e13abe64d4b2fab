/* SPDX-License-Identifier: MIT */
#include "query/value.h"
#include "base/utf8.h"
#include "decode/labels.h"
#include "print/out.h"
#include "print/unicode.h"
#include "query/json.h"
#include <kymo/time.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- scalars ---- */

void query_put_unsigned(struct query_out *out, uint64_t value) {
  char text[32];
  if (value <= INT64_MAX) {
    query_out_integer(out, (int64_t)value);
    return;
  }
  size_t length = (size_t)(kymo_put_u64(text, value) - text);
  query_out_text(out, text, length);
  out->large |= query_large_of(length);
}

static void put_buffer(struct query_out *out, const struct kymo_strbuf *text) {
  if (text->failed)
    query_out_no_memory(out);
  else
    query_out_text(out, text->length ? text->text : "", text->length);
}

static bool is_plain(const uint8_t *bytes, uint64_t count) {
  uint8_t all = 0;
  for (uint64_t i = 0; i < count; i++)
    all |= bytes[i];
  return all < 0x80;
}

void query_add_text(struct kymo_strbuf *text, const uint8_t *bytes, uint64_t count,
                    enum kymo_encoding encoding) {
  for (const uint8_t *at = bytes, *end = bytes + count; at < end;) {
    char character[8];
    uint32_t code = kymo_next_character(encoding, &at, end);
    kymo_strbuf_add(text, character, (size_t)(kymo_put_character(character, code) - character));
  }
}

void query_put_text(struct query_out *out, struct kymo_strbuf *text, const uint8_t *bytes, uint64_t count,
                    enum kymo_encoding encoding) {
  if (kymo_is_byte_encoding(encoding) && is_plain(bytes, count)) {
    query_out_text(out, count ? (const char *)bytes : "", count);
    return;
  }
  text->length = 0;
  query_add_text(text, bytes, count, encoding);
  put_buffer(out, text);
}

static void put_name(struct query_out *out, struct query_reader *reader, const char *name) {
  if (name)
    query_put_text(out, &reader->text, (const uint8_t *)name, strlen(name), KYMO_ENCODING_UTF8);
}

bool query_add_label(struct kymo_strbuf *out, const struct kymo_type *type, uint64_t value) {
  struct kymo_labels labels = kymo_labels_begin(type, value);
  const char *label = kymo_labels_next(&labels), *gap = "";
  char rest[32];
  if (type->kind != KYMO_KIND_BITMAP) {
    kymo_strbuf_puts(out, label ? label : "");
    return label;
  }
  size_t length = out->length;
  for (; label; label = kymo_labels_next(&labels), gap = "|") {
    kymo_strbuf_puts(out, gap);
    kymo_strbuf_puts(out, label);
  }
  if (labels.rest) {
    kymo_strbuf_puts(out, gap);
    kymo_strbuf_add(out, rest, (size_t)(kymo_put_u64(rest, labels.rest) - rest));
  }
  return out->length > length;
}

static void put_label(struct query_out *out, struct query_reader *reader, const struct kymo_type *type,
                      uint64_t value) {
  struct kymo_strbuf label = {0};
  bool has = query_add_label(&label, type, value);
  if (label.failed)
    query_out_no_memory(out);
  else if (has)
    query_put_text(out, &reader->text, (const uint8_t *)label.text, label.length, KYMO_ENCODING_UTF8);
  kymo_strbuf_free(&label);
}

static void put_integer(struct query_out *out, const struct kymo_type *type, uint64_t value) {
  if (type->kind == KYMO_KIND_BOOLEAN)
    query_out_integer(out, value != 0);
  else if (type->is_signed)
    query_out_integer(out, (int64_t)value);
  else
    query_put_unsigned(out, value);
}

/* ---- fields ---- */

static void put_value(struct query_out *out, struct query_reader *reader, enum kymo_token token,
                      const struct kymo_value *value) {
  switch (token) {
  case KYMO_TOKEN_INTEGER: put_integer(out, value->type, value->u); break;
  case KYMO_TOKEN_FLOAT: query_out_real(out, value->f); break;
  case KYMO_TOKEN_TEXT:
    query_put_text(out, &reader->text, value->bytes, value->count, value->type->encoding);
    break;
  case KYMO_TOKEN_BLOB:
    query_out_blob(out, value->count ? (const void *)value->bytes : "", value->count);
    break;
  default: break;
  }
}

static void put_any(struct query_out *out, struct query_reader *reader, const struct kymo_event *event,
                    uint32_t field) {
  struct kymo_value value;
  enum kymo_token token;
  if (kymo_event_get_value(event, field, &value, &token) != KYMO_OK)
    return;
  if (token != KYMO_TOKEN_BEGIN)
    put_value(out, reader, token, &value);
  else if (query_json_field(reader, event, field))
    put_buffer(out, &reader->text);
}

static void put_number(struct query_out *out, struct query_reader *reader, const struct kymo_event *event,
                       uint32_t field, const struct query_place *place) {
  int64_t number;
  uint64_t large;
  bool is_label = place->get == QUERY_GET_LABEL;
  if (!is_label && place->type->kind != KYMO_KIND_BOOLEAN &&
      kymo_event_get_int(event, field, &number) == KYMO_OK)
    query_out_integer(out, number);
  else if (kymo_event_get_uint(event, field, &large) == KYMO_OK ||
           (kymo_event_get_int(event, field, &number) == KYMO_OK && ((large = (uint64_t)number), true))) {
    if (is_label)
      put_label(out, reader, place->type, large);
    else
      put_integer(out, place->type, large);
  }
}

static void put_field(struct query_out *out, struct query_reader *reader, const struct kymo_event *event,
                      const struct query_place *place) {
  uint32_t number = kymo_kind_of(event);
  if (place->get == QUERY_GET_NOTHING)
    return;
  const struct query_fields *fields = query_reader_fields(reader, number);
  if (!fields) {
    query_out_no_memory(out);
    return;
  }
  uint32_t field = fields->ids[place->index];
  switch (place->get) {
  case QUERY_GET_INTEGER:
  case QUERY_GET_LABEL: put_number(out, reader, event, field, place); break;
  case QUERY_GET_LIST:
    if (query_json_field(reader, event, field))
      put_buffer(out, &reader->text);
    break;
  default: put_any(out, reader, event, field); break;
  }
}

/* ---- properties of every event ---- */

static const char *environment_text(const struct kymo_part *part, const char *name) {
  const struct kymo_environment *entry = part->schema ? kymo_schema_environment(part->schema, name) : NULL;
  return entry ? entry->text : NULL;
}

const char *query_process_of(const struct kymo_part *part) { return environment_text(part, "procname"); }

uint64_t query_stream_of(const struct kymo_event *event) {
  const struct kymo_stream *stream = event->packet->stream;
  return stream->instance != UINT64_MAX ? stream->instance : stream->index;
}

/* The field of a class's contexts that is the number of the process; UINT32_MAX: there is none. */
static uint32_t find_pid(struct query_reader *reader, const struct kymo_event_class *class_) {
  static const char *const names[] = {"vpid", "pid"};
  struct kymo_field field;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    uint32_t id = kymo_field_id(reader->trace, class_, names[i]);
    if (id < KYMO_FIELD_STREAM && kymo_field_info(reader->trace, class_, id, &field) == KYMO_OK &&
        field.scope != KYMO_SCOPE_PAYLOAD)
      return id;
  }
  return UINT32_MAX;
}

bool query_part_pid(const struct kymo_part *part, int64_t *pid) {
  const struct kymo_environment *entry = part->schema ? kymo_schema_environment(part->schema, "vpid") : NULL;
  if (!entry || entry->text)
    return false;
  *pid = entry->integer;
  return true;
}

bool query_has_pid(struct query_reader *reader, const struct kymo_event_class *class_) {
  return find_pid(reader, class_) != UINT32_MAX;
}

bool query_pid_of(struct query_reader *reader, const struct kymo_event *event, int64_t *pid) {
  uint32_t *known = &reader->pids[kymo_kind_of(event)]; /* + 2, 1: there is none; 0: not looked for yet */
  if (*known == 0)
    *known = find_pid(reader, event->class_) + 2;
  if (*known > 1 && kymo_event_get_int(event, *known - 2, pid) == KYMO_OK)
    return true;
  return query_part_pid(event->packet->stream->part, pid);
}

static void put_time(struct query_out *out, const struct kymo_event *event) {
  const struct kymo_clock *clock = event->class_->stream->clock;
  char text[KYMO_TIME_TEXT];
  if (!event->has_time)
    return;
  kymo_time_to_text(event->time_ns, clock && clock->origin_is_epoch ? KYMO_TIME_UTC : KYMO_TIME_SECONDS,
                    text);
  query_out_text(out, text, strlen(text));
}

static void put_who(struct query_out *out, struct query_reader *reader, const struct kymo_event *event,
                    enum query_column_kind kind) {
  const struct kymo_who *who = kymo_who_of(&reader->whos, event);
  if (!who)
    query_out_no_memory(out);
  else if (kind == QUERY_THREAD && who->name_length)
    query_put_text(out, &reader->text, (const uint8_t *)who->name, who->name_length, KYMO_ENCODING_UTF8);
  else if (kind == QUERY_TID && who->has_tid)
    query_out_integer(out, who->tid);
  else if (kind == QUERY_CPU && who->has_cpu)
    query_put_unsigned(out, who->cpu);
}

static void put_message(struct query_out *out, struct query_reader *reader, const struct kymo_event *event) {
  size_t length = 0;
  int status = kymo_event_format_message(event, NULL, 0, &length);
  if (status != KYMO_OK && status != KYMO_E_RANGE)
    return;
  char *text = malloc(length + 1);
  if (text && kymo_event_format_message(event, text, length + 1, &length) == KYMO_OK)
    query_put_text(out, &reader->text, (const uint8_t *)text, length, KYMO_ENCODING_UTF8);
  else if (!text)
    query_out_no_memory(out);
  free(text);
}

static void put_scope(struct query_out *out, struct query_reader *reader, const struct kymo_event *event,
                      enum kymo_scope scope) {
  query_json_scope(reader, event, scope);
  put_buffer(out, &reader->text);
}

static void put_property(struct query_out *out, struct query_reader *reader, const struct kymo_event *event,
                         enum query_column_kind kind) {
  const struct kymo_part *part = event->packet->stream->part;
  int64_t pid;
  switch (kind) {
  case QUERY_TS:
    if (event->has_time)
      query_out_integer(out, event->time_ns);
    break;
  case QUERY_TIME: put_time(out, event); break;
  case QUERY_CLASS: put_name(out, reader, event->class_->name ? event->class_->name : ""); break;
  case QUERY_GROUP: put_name(out, reader, event->class_->group); break;
  case QUERY_PROCESS: put_name(out, reader, query_process_of(part)); break;
  case QUERY_PID:
    if (query_pid_of(reader, event, &pid))
      query_out_integer(out, pid);
    break;
  case QUERY_STREAM: query_put_unsigned(out, query_stream_of(event)); break;
  case QUERY_TRACE: query_out_integer(out, part->index); break;
  case QUERY_PATH: put_name(out, reader, part->path); break;
  case QUERY_LEVEL:
    if (event->class_->level >= 0)
      query_out_integer(out, event->class_->level);
    break;
  case QUERY_MESSAGE: put_message(out, reader, event); break;
  case QUERY_FIELDS: put_scope(out, reader, event, KYMO_SCOPE_PAYLOAD); break;
  case QUERY_CONTEXT: put_scope(out, reader, event, KYMO_SCOPE_COMMON_CONTEXT); break;
  default: put_who(out, reader, event, kind); break;
  }
}

void query_put_column(struct query_out *out, struct query_reader *reader, const struct kymo_event *event,
                      const struct query_columns *columns, uint32_t column) {
  const struct query_place *row =
      columns->list[column].kind == QUERY_FIELD ? columns->places[kymo_kind_of(event)] : NULL;
  if (row)
    put_field(out, reader, event, &row[column]);
  else
    put_property(out, reader, event, columns->list[column].kind);
}
