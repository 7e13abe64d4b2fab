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

void query_put_unsigned(sqlite3_context *context, uint64_t value) {
  char text[32];
  if (value <= INT64_MAX)
    sqlite3_result_int64(context, (int64_t)value);
  else
    sqlite3_result_text(context, text, (int)(kymo_put_u64(text, value) - text), SQLITE_TRANSIENT);
}

static void put_buffer(sqlite3_context *context, const struct kymo_strbuf *text) {
  if (text->failed)
    sqlite3_result_error_nomem(context);
  else
    sqlite3_result_text64(context, text->length ? text->text : "", text->length, SQLITE_TRANSIENT,
                          SQLITE_UTF8);
}

static bool is_plain(const uint8_t *bytes, uint64_t count) {
  uint8_t all = 0;
  for (uint64_t i = 0; i < count; i++)
    all |= bytes[i];
  return all < 0x80;
}

void query_put_text(sqlite3_context *context, struct kymo_strbuf *text, const uint8_t *bytes, uint64_t count,
                    enum kymo_encoding encoding) {
  if (kymo_is_byte_encoding(encoding) && is_plain(bytes, count)) {
    sqlite3_result_text64(context, count ? (const char *)bytes : "", count, SQLITE_TRANSIENT, SQLITE_UTF8);
    return;
  }
  text->length = 0;
  for (const uint8_t *at = bytes, *end = bytes + count; at < end;) {
    char character[8];
    uint32_t code = kymo_next_character(encoding, &at, end);
    kymo_strbuf_add(text, character, (size_t)(kymo_put_character(character, code) - character));
  }
  put_buffer(context, text);
}

static void put_name(sqlite3_context *context, struct query_reader *reader, const char *name) {
  if (name)
    query_put_text(context, &reader->text, (const uint8_t *)name, strlen(name), KYMO_ENCODING_UTF8);
}

/* "A|C|8": names of flags, and the bits without a name as a number; of an enumeration the first name. */
static void put_label(sqlite3_context *context, struct query_reader *reader, const struct kymo_type *type,
                      uint64_t value) {
  struct kymo_labels labels = kymo_labels_begin(type, value);
  const char *label = kymo_labels_next(&labels), *gap = "";
  char rest[32];
  if (type->kind != KYMO_KIND_BITMAP) {
    put_name(context, reader, label);
    return;
  }
  struct kymo_strbuf all = {0};
  for (; label; label = kymo_labels_next(&labels), gap = "|") {
    kymo_strbuf_puts(&all, gap);
    kymo_strbuf_puts(&all, label);
  }
  if (labels.rest) {
    kymo_strbuf_puts(&all, gap);
    kymo_strbuf_add(&all, rest, (size_t)(kymo_put_u64(rest, labels.rest) - rest));
  }
  if (all.failed)
    sqlite3_result_error_nomem(context);
  else if (all.length)
    put_name(context, reader, all.text);
  kymo_strbuf_free(&all);
}

static void put_integer(sqlite3_context *context, const struct kymo_type *type, uint64_t value) {
  if (type->kind == KYMO_KIND_BOOLEAN)
    sqlite3_result_int(context, value != 0);
  else if (type->is_signed)
    sqlite3_result_int64(context, (int64_t)value);
  else
    query_put_unsigned(context, value);
}

/* ---- fields ---- */

static void put_value(sqlite3_context *context, struct query_reader *reader, enum kymo_token token,
                      const struct kymo_value *value) {
  switch (token) {
  case KYMO_TOKEN_INTEGER: put_integer(context, value->type, value->u); break;
  case KYMO_TOKEN_FLOAT: sqlite3_result_double(context, value->f); break;
  case KYMO_TOKEN_TEXT:
    query_put_text(context, &reader->text, value->bytes, value->count, value->type->encoding);
    break;
  case KYMO_TOKEN_BLOB:
    sqlite3_result_blob64(context, value->count ? (const void *)value->bytes : "", value->count,
                          SQLITE_TRANSIENT);
    break;
  default: break;
  }
}

static void put_any(sqlite3_context *context, struct query_reader *reader, const struct kymo_event *event,
                    uint32_t field) {
  struct kymo_value value;
  enum kymo_token token;
  if (kymo_event_get_value(event, field, &value, &token) != KYMO_OK)
    return;
  if (token != KYMO_TOKEN_BEGIN)
    put_value(context, reader, token, &value);
  else if (query_json_field(reader, event, field))
    put_buffer(context, &reader->text);
}

static void put_number(sqlite3_context *context, struct query_reader *reader, const struct kymo_event *event,
                       uint32_t field, const struct query_place *place) {
  int64_t number;
  uint64_t large;
  bool is_label = place->get == QUERY_GET_LABEL;
  if (!is_label && place->type->kind != KYMO_KIND_BOOLEAN &&
      kymo_event_get_int(event, field, &number) == KYMO_OK)
    sqlite3_result_int64(context, number);
  else if (kymo_event_get_uint(event, field, &large) == KYMO_OK ||
           (kymo_event_get_int(event, field, &number) == KYMO_OK && ((large = (uint64_t)number), true))) {
    if (is_label)
      put_label(context, reader, place->type, large);
    else
      put_integer(context, place->type, large);
  }
}

static void put_field(sqlite3_context *context, struct query_reader *reader, const struct kymo_event *event,
                      const struct query_place *place) {
  uint32_t number = kymo_kind_of(event);
  if (place->get == QUERY_GET_NOTHING)
    return;
  const struct query_fields *fields = query_reader_fields(reader, number);
  if (!fields) {
    sqlite3_result_error_nomem(context);
    return;
  }
  uint32_t field = fields->ids[place->index];
  switch (place->get) {
  case QUERY_GET_INTEGER:
  case QUERY_GET_LABEL: put_number(context, reader, event, field, place); break;
  case QUERY_GET_LIST:
    if (query_json_field(reader, event, field))
      put_buffer(context, &reader->text);
    break;
  default: put_any(context, reader, event, field); break;
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

bool query_pid_of(struct query_reader *reader, const struct kymo_event *event, int64_t *pid) {
  uint32_t *known = &reader->pids[kymo_kind_of(event)]; /* + 1; 0: not looked for yet */
  if (*known == 0)
    *known = find_pid(reader, event->class_) + 2;
  if (*known > 1 && kymo_event_get_int(event, *known - 2, pid) == KYMO_OK)
    return true;
  const struct kymo_schema *schema = event->packet->stream->part->schema;
  const struct kymo_environment *entry = kymo_schema_environment(schema, "vpid");
  if (!entry || entry->text)
    return false;
  *pid = entry->integer;
  return true;
}

static void put_time(sqlite3_context *context, const struct kymo_event *event) {
  const struct kymo_clock *clock = event->class_->stream->clock;
  char text[KYMO_TIME_TEXT];
  if (!event->has_time)
    return;
  kymo_time_to_text(event->time_ns, clock && clock->origin_is_epoch ? KYMO_TIME_UTC : KYMO_TIME_SECONDS,
                    text);
  sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
}

static void put_who(sqlite3_context *context, struct query_reader *reader, const struct kymo_event *event,
                    enum query_column_kind kind) {
  const struct kymo_who *who = kymo_who_of(&reader->whos, event);
  if (!who)
    sqlite3_result_error_nomem(context);
  else if (kind == QUERY_THREAD && who->name_length)
    query_put_text(context, &reader->text, (const uint8_t *)who->name, who->name_length, KYMO_ENCODING_UTF8);
  else if (kind == QUERY_TID && who->has_tid)
    sqlite3_result_int64(context, who->tid);
  else if (kind == QUERY_CPU && who->has_cpu)
    query_put_unsigned(context, who->cpu);
}

static void put_message(sqlite3_context *context, struct query_reader *reader,
                        const struct kymo_event *event) {
  size_t length = 0;
  int status = kymo_event_format_message(event, NULL, 0, &length);
  if (status != KYMO_OK && status != KYMO_E_RANGE)
    return;
  char *text = malloc(length + 1);
  if (text && kymo_event_format_message(event, text, length + 1, &length) == KYMO_OK)
    query_put_text(context, &reader->text, (const uint8_t *)text, length, KYMO_ENCODING_UTF8);
  else if (!text)
    sqlite3_result_error_nomem(context);
  free(text);
}

static void put_scope(sqlite3_context *context, struct query_reader *reader, const struct kymo_event *event,
                      enum kymo_scope scope) {
  query_json_scope(reader, event, scope);
  put_buffer(context, &reader->text);
}

static void put_property(sqlite3_context *context, struct query_reader *reader,
                         const struct kymo_event *event, enum query_column_kind kind) {
  const struct kymo_part *part = event->packet->stream->part;
  int64_t pid;
  switch (kind) {
  case QUERY_TS:
    if (event->has_time)
      sqlite3_result_int64(context, event->time_ns);
    break;
  case QUERY_TIME: put_time(context, event); break;
  case QUERY_CLASS: put_name(context, reader, event->class_->name ? event->class_->name : ""); break;
  case QUERY_GROUP: put_name(context, reader, event->class_->group); break;
  case QUERY_PROCESS: put_name(context, reader, query_process_of(part)); break;
  case QUERY_PID:
    if (query_pid_of(reader, event, &pid))
      sqlite3_result_int64(context, pid);
    break;
  case QUERY_STREAM: query_put_unsigned(context, query_stream_of(event)); break;
  case QUERY_TRACE: sqlite3_result_int64(context, part->index); break;
  case QUERY_PATH: put_name(context, reader, part->path); break;
  case QUERY_LEVEL:
    if (event->class_->level >= 0)
      sqlite3_result_int(context, event->class_->level);
    break;
  case QUERY_MESSAGE: put_message(context, reader, event); break;
  case QUERY_FIELDS: put_scope(context, reader, event, KYMO_SCOPE_PAYLOAD); break;
  case QUERY_CONTEXT: put_scope(context, reader, event, KYMO_SCOPE_COMMON_CONTEXT); break;
  default: put_who(context, reader, event, kind); break;
  }
}

void query_put_column(sqlite3_context *context, struct query_reader *reader, const struct kymo_event *event,
                      const struct query_columns *columns, uint32_t column) {
  const struct query_place *row =
      columns->list[column].kind == QUERY_FIELD ? columns->places[kymo_kind_of(event)] : NULL;
  if (row)
    put_field(context, reader, event, &row[column]);
  else
    put_property(context, reader, event, columns->list[column].kind);
}
