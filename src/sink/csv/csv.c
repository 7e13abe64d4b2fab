/* SPDX-License-Identifier: MIT */
/*
 * csv: one table, one line per event, as docs/viewing.md describes it.
 *
 *   ts,time,event,tid,thread,cpu,port,state,state.label,lengths
 *   1700000000000001505,2023-11-14T22:13:20.000001505Z,net:rx,4711,worker,0,443,1,OPEN,"[1,2,65535]"
 *
 * Where event classes have messages (schema/message.h), there is a column for them.
 *
 * Values are walked over in the order of the class and written in that of the columns: each is kept as a cell
 * until the line is whole.
 */
#include "base/fail.h"
#include "decode/message.h"
#include "decode/walk.h"
#include "print/clock.h"
#include "print/json_value.h"
#include "print/labels.h"
#include "print/names.h"
#include "print/options.h"
#include "print/unicode.h"
#include "print/who.h"
#include "schema/attribute.h"
#include "sink/csv/columns.h"
#include "trace/part.h"
#include <errno.h>
#include <inttypes.h>
#include <kymo/sink.h>
#include <kymo/time.h>
#include <stdlib.h>

enum { AT_TS, AT_TIME, AT_EVENT, AT_TID, AT_THREAD, AT_CPU, AT_TRACE, FIXED_COUNT };
static const char *const fixed_names[FIXED_COUNT] = {"ts", "time", "event", "tid", "thread", "cpu", "trace"};
#define MESSAGE_NAME "message"

#define SCOPES 3
static const enum kymo_scope scopes[SCOPES] = {KYMO_SCOPE_PAYLOAD, KYMO_SCOPE_COMMON_CONTEXT,
                                               KYMO_SCOPE_SPECIFIC_CONTEXT};

struct csv_class {
  struct kymo_csv_node scopes[SCOPES];
  const struct kymo_message *message;
};

/* The value of a column in the current line. */
struct cell {
  uint32_t line;
  uint32_t length;
  size_t from;
};

struct kymo_sink_state {
  struct kymo_out out;
  struct kymo_whos whos;
  struct kymo_csv_columns columns;
  struct csv_class *classes;  /* by class number */
  bool has_trace;             /* a column for the trace's number */
  uint32_t message_column;    /* or KYMO_CSV_NONE */
  bool has_guard;             /* texts that a spreadsheet would compute have a quote before them */
  struct cell *cells;         /* by column */
  uint32_t line;              /* number of the line: cells with another number are empty */
  struct kymo_strbuf text;    /* of the cells */
  struct kymo_strbuf json;    /* of an array */
  struct kymo_strbuf message; /* of the current event */
  struct kymo_clock_text clock;
  struct kymo_walk walk;
};

/* ---- cells ---- */

static void begin_cell(struct kymo_sink_state *state, uint32_t column) {
  state->cells[column] = (struct cell){.line = state->line, .from = state->text.length};
}

static void end_cell(struct kymo_sink_state *state, uint32_t column) {
  state->cells[column].length = (uint32_t)(state->text.length - state->cells[column].from);
}

static void set_cell(struct kymo_sink_state *state, uint32_t column, const char *text, size_t length) {
  begin_cell(state, column);
  kymo_strbuf_add(&state->text, text, length);
  end_cell(state, column);
}

static void set_number(struct kymo_sink_state *state, uint32_t column, bool is_signed, uint64_t value) {
  char text[32];
  char *end = is_signed ? kymo_put_i64(text, (int64_t)value) : kymo_put_u64(text, value);
  set_cell(state, column, text, (size_t)(end - text));
}

/* Properties of bytes for a cell. */
enum { IS_SPECIAL = 1, IS_NO_ASCII = 2 };
static const uint8_t meanings[256] = {
    [','] = IS_SPECIAL,  ['"'] = IS_SPECIAL, ['\n'] = IS_SPECIAL,
    ['\r'] = IS_SPECIAL, [0] = IS_NO_ASCII,  [128 ... 255] = IS_NO_ASCII,
};

static unsigned look_at(const uint8_t *bytes, uint64_t count) {
  unsigned found = 0;
  for (uint64_t i = 0; i < count; i++)
    found |= meanings[bytes[i]];
  return found;
}

/* Adds UTF-8 to the cell in quotes, or without if it needs none; an empty text is two quotes, a missing value
 * is an empty cell. */
static void add_quoted(struct kymo_strbuf *out, const char *text, size_t length) {
  if (length > 0 && !(look_at((const uint8_t *)text, length) & IS_SPECIAL)) {
    kymo_strbuf_add(out, text, length);
    return;
  }
  kymo_strbuf_add(out, "\"", 1);
  for (const char *quote; length > 0 && (quote = memchr(text, '"', length)) != NULL;) {
    size_t part = (size_t)(quote + 1 - text);
    kymo_strbuf_add(out, text, part);
    kymo_strbuf_add(out, "\"", 1);
    text += part;
    length -= part;
  }
  kymo_strbuf_add(out, text, length);
  kymo_strbuf_add(out, "\"", 1);
}

/* First characters of text that spreadsheets treat as a formula, or as its begin after a blank. */
static bool is_formula(uint8_t first) {
  return first == '=' || first == '+' || first == '-' || first == '@' || first == '\t' || first == '\r';
}

static void set_text(struct kymo_sink_state *state, uint32_t column, const uint8_t *bytes, uint64_t count,
                     enum kymo_encoding encoding) {
  begin_cell(state, column);
  unsigned found = kymo_is_byte_encoding(encoding) ? look_at(bytes, count) : IS_NO_ASCII;
  if (state->has_guard && count > 0 && is_formula(bytes[0]))
    found |= IS_NO_ASCII;
  if (!found && count > 0) {
    kymo_strbuf_add(&state->text, (const char *)bytes, (size_t)count);
  } else if (!(found & IS_NO_ASCII)) {
    add_quoted(&state->text, (const char *)bytes, (size_t)count);
  } else {
    state->json.length = 0;
    for (const uint8_t *at = bytes, *end = bytes + count; at < end;) {
      char character[8];
      uint32_t code = kymo_next_character(encoding, &at, end);
      if (state->has_guard && state->json.length == 0 && code < 0x80 && is_formula((uint8_t)code))
        kymo_strbuf_add(&state->json, "'", 1);
      kymo_strbuf_add(&state->json, character, (size_t)(kymo_put_character(character, code) - character));
    }
    add_quoted(&state->text, state->json.text ? state->json.text : "", state->json.length);
  }
  end_cell(state, column);
}

/* ---- values ---- */

static size_t float_text(char *text, const struct kymo_value *value) {
  if (value->f != value->f)
    return (size_t)snprintf(text, 40, "NaN");
  if (value->f - value->f != 0)
    return (size_t)snprintf(text, 40, value->f < 0 ? "-Infinity" : "Infinity");
  return (size_t)(kymo_put_double(text, value->f, value->type->size_bits <= 32, true) - text);
}

static void add_hex(struct kymo_strbuf *out, const struct kymo_value *value) {
  char digits[128], *end = digits;
  for (uint64_t i = 0; i < value->count; i++) {
    end = kymo_put_hex_byte(end, value->bytes[i]);
    if (end == digits + sizeof digits) {
      kymo_strbuf_add(out, digits, sizeof digits);
      end = digits;
    }
  }
  kymo_strbuf_add(out, digits, (size_t)(end - digits));
}

/* "A|C|8": labels, and the bits without label as a number. */
static void set_labels(struct kymo_sink_state *state, uint32_t column, const struct kymo_value *value) {
  struct kymo_labels labels = kymo_labels_begin(value->type, value->u);
  const char *label = kymo_labels_next(&labels), *gap = "";
  bool is_flags = value->type->kind == KYMO_KIND_BITMAP;
  struct kymo_strbuf all = {0};
  for (; label; label = is_flags ? kymo_labels_next(&labels) : NULL, gap = "|")
    kymo_strbuf_printf(&all, "%s%s", gap, label);
  if (is_flags && labels.rest)
    kymo_strbuf_printf(&all, "%s%" PRIu64, gap, labels.rest);
  if (all.length)
    set_text(state, column, (const uint8_t *)all.text, all.length, KYMO_ENCODING_UTF8);
  state->text.failed |= all.failed;
  kymo_strbuf_free(&all);
}

static void set_integer(struct kymo_sink_state *state, const struct kymo_csv_node *node,
                        const struct kymo_value *value) {
  if (value->type->kind == KYMO_KIND_BOOLEAN)
    set_cell(state, node->column, value->u ? "true" : "false", value->u ? 4 : 5);
  else
    set_number(state, node->column, value->type->is_signed, value->u);
  if (node->label_column != KYMO_CSV_NONE)
    set_labels(state, node->label_column, value);
}

static void set_value(struct kymo_sink_state *state, const struct kymo_csv_node *node, enum kymo_token token,
                      const struct kymo_value *value) {
  char text[40];
  switch (token) {
  case KYMO_TOKEN_INTEGER: set_integer(state, node, value); break;
  case KYMO_TOKEN_FLOAT: set_cell(state, node->column, text, float_text(text, value)); break;
  case KYMO_TOKEN_TEXT:
    set_text(state, node->column, value->bytes, value->count, value->type->encoding);
    break;
  case KYMO_TOKEN_BLOB:
    begin_cell(state, node->column);
    if (value->count)
      add_hex(&state->text, value);
    else
      add_quoted(&state->text, "", 0);
    end_cell(state, node->column);
    break;
  default: break;
  }
}

/* ---- arrays ---- */

static bool is_array(const struct kymo_type *type) {
  return type->kind == KYMO_KIND_ARRAY || type->kind == KYMO_KIND_SEQUENCE;
}

/* The rest of an array after its BEGIN, as JSON. False: the walk is over. */
static bool add_json_array(struct kymo_sink_state *state, const struct kymo_type *array) {
  state->json.length = 0;
  kymo_strbuf_puts(&state->json, "[");
  if (!kymo_json_add_rest(&state->json, &state->walk, array))
    return false;
  kymo_strbuf_puts(&state->json, "]");
  return true;
}

/* ---- lines ---- */

static void walk_scope(struct kymo_sink_state *state, const struct kymo_event *event,
                       const struct csv_class *class_, unsigned scope) {
  const struct kymo_csv_node *path[KYMO_WALK_DEPTH + 1]; /* not cleared: that would cost as much as the
                                                          * walk */
  struct kymo_value value;
  enum kymo_token token;
  unsigned depth = 0;
  path[0] = &class_->scopes[scope];
  if (!class_->scopes[scope].type || !kymo_walk_begin(&state->walk, event, scopes[scope]))
    return;
  while ((token = kymo_walk_next(&state->walk, &value)) != KYMO_TOKEN_DONE && token != KYMO_TOKEN_ERROR) {
    if (token == KYMO_TOKEN_END) {
      depth--;
      continue;
    }
    const struct kymo_csv_node *node = kymo_csv_find(path[depth], &value);
    if (!node && (token == KYMO_TOKEN_ABSENT || kymo_member_is_hidden(value.member)))
      continue;
    if (!node) /* its type is not in the class */
      return;
    if (token == KYMO_TOKEN_BEGIN && !is_array(value.type)) {
      path[++depth] = node;
    } else if (token == KYMO_TOKEN_BEGIN) {
      bool goes_on = add_json_array(state, value.type);
      begin_cell(state, node->column);
      add_quoted(&state->text, state->json.text, state->json.length);
      end_cell(state, node->column);
      if (!goes_on)
        return;
    } else {
      set_value(state, node, token, &value);
    }
  }
}

/* 2023-11-14T22:13:20.000001505Z */
static void set_time(struct kymo_sink_state *state, const struct kymo_event *event) {
  const struct kymo_clock *clock = event->class_->stream->clock;
  char text[64];
  if (!event->has_time)
    return;
  set_number(state, AT_TS, true, (uint64_t)event->time_ns);
  if (!clock || !clock->origin_is_epoch || event->time_ns < 0 ||
      (!kymo_clock_text_has(&state->clock, event->time_ns) &&
       !kymo_clock_text_set(&state->clock, event->time_ns)))
    return;
  char *end = kymo_put_date(text, &state->clock.day);
  end[-1] = 'T';
  end = kymo_put_clock(end, &state->clock, event->time_ns);
  *end++ = 'Z';
  set_cell(state, AT_TIME, text, (size_t)(end - text));
}

static void set_who(struct kymo_sink_state *state, const struct kymo_who *who) {
  if (who->has_tid)
    set_number(state, AT_TID, true, (uint64_t)who->tid);
  if (who->name_length)
    set_text(state, AT_THREAD, (const uint8_t *)who->name, who->name_length, KYMO_ENCODING_UTF8);
  if (who->has_cpu)
    set_number(state, AT_CPU, false, who->cpu);
}

static void set_message(struct kymo_sink_state *state, const struct kymo_event *event,
                        const struct kymo_message *message) {
  state->message.length = 0;
  if (message && kymo_message_add(message, event, &state->message))
    set_text(state, state->message_column, (const uint8_t *)state->message.text,
             kymo_message_line(&state->message), KYMO_ENCODING_UTF8);
}

/* Longer cells are written in pieces. */
#define CELL_ROOM 256

static void print_line(struct kymo_sink_state *state) {
  uint32_t count = state->columns.count;
  for (uint32_t i = 0; i < count; i++) {
    const struct cell *cell = &state->cells[i];
    size_t length = cell->line == state->line ? cell->length : 0;
    if (length > CELL_ROOM) {
      kymo_out_long(&state->out, state->text.text + cell->from, length);
      length = 0;
    }
    char *at = kymo_out_room(&state->out, CELL_ROOM + 1);
    if (length > 0)
      memcpy(at, state->text.text + cell->from, length);
    at[length] = i + 1 < count ? ',' : '\n';
    state->out.at = at + length + 1;
  }
}

static int csv_event(struct kymo_sink_state *state, const struct kymo_event *event,
                     struct kymo_error *error) {
  uint32_t part = event->packet->stream->part->index;
  const struct csv_class *class_ = &state->classes[kymo_kind_of(event)];
  const struct kymo_who *who = kymo_who_of(&state->whos, event);
  const char *name = event->class_->name ? event->class_->name : "";
  if (!who)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  state->line++;
  state->text.length = 0;
  set_time(state, event);
  set_text(state, AT_EVENT, (const uint8_t *)name, strlen(name), KYMO_ENCODING_UTF8);
  set_who(state, who);
  if (state->has_trace)
    set_number(state, AT_TRACE, false, part);
  set_message(state, event, class_->message);
  for (unsigned i = 0; i < SCOPES; i++)
    walk_scope(state, event, class_, i);
  if (state->text.failed || state->json.failed || state->message.failed)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  print_line(state);
  return state->out.error_number ? kymo_out_check(&state->out, error) : KYMO_OK;
}

/* A table has no place for losses. */
static int csv_loss(struct kymo_sink_state *state, const struct kymo_loss *loss, struct kymo_error *error) {
  (void)state;
  (void)error;
  const char *what = loss->is_packets ? "packets" : "events";
  if (loss->count_known)
    fprintf(stderr, "lost %" PRIu64 " %s", loss->count, what);
  else
    fprintf(stderr, "lost some %s", what);
  if (loss->has_times) {
    const struct kymo_clock *clock = loss->stream->class_ ? loss->stream->class_->clock : NULL;
    enum kymo_time_form form = clock && clock->origin_is_epoch ? KYMO_TIME_LOCAL : KYMO_TIME_SECONDS;
    char begin[KYMO_TIME_TEXT], end[KYMO_TIME_TEXT];
    fprintf(stderr, " between %s and %s", kymo_time_to_text(loss->begin_ns, form, begin),
            kymo_time_to_text(loss->end_ns, form, end));
  }
  fprintf(stderr, " in %s\n", loss->stream->path);
  return KYMO_OK;
}

/* ---- life ---- */

static bool is_wanted(const struct kymo_part *part, const struct kymo_event_class *class_) {
  return !kymo_part_plan(part)->streams[class_->stream->index].events[class_->index].is_unwanted;
}

/* Whether one of the columns before those of fields has this name. */
static bool is_taken(const struct kymo_sink_state *state, const char *name) {
  for (uint32_t i = 0; i < FIXED_COUNT; i++)
    if (strcmp(name, fixed_names[i]) == 0)
      return true;
  return state->message_column != KYMO_CSV_NONE && strcmp(name, MESSAGE_NAME) == 0;
}

/* The fields have "fields." before their names if one of them has the name of a column before them. */
static int add_payload(struct kymo_sink_state *state, struct kymo_csv_node *node,
                       const struct kymo_type *type, struct kymo_error *error) {
  for (uint32_t i = 0; i < type->member_count; i++)
    if (type->members[i].name && is_taken(state, type->members[i].name))
      return kymo_csv_add_struct(&state->columns, node, type, "fields" KYMO_CSV_IN, error);
  return kymo_csv_add_struct(&state->columns, node, type, "", error);
}

static int add_scope(struct kymo_sink_state *state, const struct kymo_part *part,
                     const struct kymo_event_class *class_, unsigned scope, struct kymo_error *error) {
  struct csv_class *into = &state->classes[kymo_class_number(&state->whos.numbers, part->index, class_)];
  struct kymo_csv_node *node = &into->scopes[scope];
  const struct kymo_type *common = class_->stream->common_context;
  if (scope == 0)
    return class_->payload ? add_payload(state, node, class_->payload, error) : KYMO_OK;
  if (scope == 1)
    return common ? kymo_csv_add_struct(&state->columns, node, common, "context" KYMO_CSV_IN, error)
                  : KYMO_OK;
  if (!class_->specific_context)
    return KYMO_OK;
  return kymo_csv_add_struct(&state->columns, node, class_->specific_context, "event_context" KYMO_CSV_IN,
                             error);
}

static int add_part(struct kymo_sink_state *state, const struct kymo_part *part, unsigned scope,
                    struct kymo_error *error) {
  int status = KYMO_OK;
  for (uint32_t i = 0; i < part->schema->stream_count; i++)
    for (uint32_t k = 0; k < part->schema->streams[i]->event_count && status == KYMO_OK; k++)
      if (is_wanted(part, part->schema->streams[i]->events[k]))
        status = add_scope(state, part, part->schema->streams[i]->events[k], scope, error);
  return status;
}

/* Parses the messages of the wanted classes; the first one creates the column. */
static int add_messages(struct kymo_sink_state *state, const struct kymo_part *part,
                        struct kymo_error *error) {
  for (uint32_t i = 0; i < part->schema->stream_count; i++)
    for (uint32_t k = 0; k < part->schema->streams[i]->event_count; k++) {
      const struct kymo_event_class *class_ = part->schema->streams[i]->events[k];
      struct csv_class *into = &state->classes[kymo_class_number(&state->whos.numbers, part->index, class_)];
      if (!is_wanted(part, class_) || !(into->message = kymo_message_new(&state->columns.arena, class_)))
        continue;
      if ((state->message_column = kymo_csv_column(&state->columns, MESSAGE_NAME)) == KYMO_CSV_NONE)
        return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
    }
  return state->columns.arena.failed ? kymo_fail(error, KYMO_E_MEMORY, "out of memory") : KYMO_OK;
}

/* The payloads' fields first. */
static int add_classes(struct kymo_sink_state *state, const struct kymo_trace *trace,
                       struct kymo_error *error) {
  int status = KYMO_OK;
  for (size_t i = 0; i < kymo_trace_part_count(trace) && status == KYMO_OK; i++)
    status = add_messages(state, kymo_trace_part(trace, i), error);
  for (unsigned scope = 0; scope < SCOPES; scope++)
    for (size_t i = 0; i < kymo_trace_part_count(trace) && status == KYMO_OK; i++)
      status = add_part(state, kymo_trace_part(trace, i), scope, error);
  return status;
}

static void print_header(struct kymo_sink_state *state) {
  const char *const *titles = kymo_csv_titles(&state->columns);
  if (!titles) {
    state->out.error_number = ENOMEM;
    return;
  }
  state->text.length = 0;
  state->line++;
  for (uint32_t i = 0; i < state->columns.count; i++)
    set_text(state, i, (const uint8_t *)titles[i], strlen(titles[i]), KYMO_ENCODING_UTF8);
  print_line(state);
}

static int make_columns(struct kymo_sink_state *state, const struct kymo_trace *trace,
                        struct kymo_error *error) {
  size_t classes = (size_t)state->whos.numbers.class_count + 1;
  state->classes = kymo_arena_array(&state->columns.arena, classes, sizeof *state->classes);
  state->has_trace = kymo_trace_part_count(trace) > 1;
  state->message_column = KYMO_CSV_NONE;
  for (uint32_t i = 0; i < (state->has_trace ? FIXED_COUNT : AT_TRACE); i++)
    if (kymo_csv_column(&state->columns, fixed_names[i]) == KYMO_CSV_NONE)
      return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  int status =
      state->classes ? add_classes(state, trace, error) : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (status != KYMO_OK)
    return status;
  state->cells = kymo_arena_array(&state->columns.arena, state->columns.count, sizeof *state->cells);
  if (!state->cells)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  print_header(state);
  return state->text.failed ? kymo_fail(error, KYMO_E_MEMORY, "out of memory") : KYMO_OK;
}

static int csv_end(struct kymo_sink_state *state, struct kymo_error *error) {
  if (!state)
    return KYMO_OK;
  int status = kymo_out_finish(&state->out, error);
  kymo_whos_end(&state->whos);
  kymo_csv_columns_end(&state->columns);
  kymo_strbuf_free(&state->text);
  kymo_strbuf_free(&state->json);
  kymo_strbuf_free(&state->message);
  free(state);
  return status;
}

static int csv_begin(struct kymo_sink_state **out, struct kymo_trace *trace,
                     const struct kymo_sink_options *options, struct kymo_error *error) {
  struct kymo_sink_state *state = *out = calloc(1, sizeof *state);
  if (!state)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  static const struct kymo_option_kind kinds[] = {
      {"guard", offsetof(struct kymo_sink_state, has_guard), NULL}, {0}};
  state->clock.is_gmt = true;
  int status = kymo_sink_options_read("csv", options->text, kinds, state, error);
  if (status >= 0)
    status = kymo_out_begin(&state->out, options->out, error);
  if (status >= 0)
    status = kymo_whos_begin(&state->whos, trace, error);
  return status < 0 ? status : make_columns(state, trace, error);
}

const struct kymo_sink kymo_sink_csv = {
    KYMO_SINK_ABI,
    .name = "csv",
    .summary = "a table, one line an event, for spreadsheets, pandas, databases",
    .begin = csv_begin,
    .event = csv_event,
    .loss = csv_loss,
    .end = csv_end,
};
