/* SPDX-License-Identifier: MIT */
/*
 * details: what `babeltrace2 TRACE -c sink.text.details` (2.1) prints, byte for byte: every message with all
 * its properties, in blocks with an empty line between them.
 *
 *   [CYCLES cycles, NS ns from origin]          the time, if the kind of message has one
 *   {Trace 0, Stream class ID 0, Stream ID 0}   traces are numbered in the order of their begin
 *   Event `NAME` (Class ID 3):
 *     Payload:
 *       FIELD: VALUE
 *
 * Options: "2.0" prints as babeltrace2 2.0 does.
 */
#include "sink/details/details.h"
#include "base/fail.h"
#include "print/called.h"
#include "print/options.h"
#include "print/text_fields.h"
#include "print/unicode.h"
#include <stdlib.h>

struct part_view {
  bool has_begun;
  uint64_t number;
};

struct kymo_sink_state {
  struct kymo_trace *trace;
  struct kymo_sink_options options;
  bool as_2_0;
  bool has_printed;
  bool is_too_long; /* a trace class was */
  uint64_t trace_count;
  struct part_view *parts;
  struct kymo_piece *tags; /* by stream number; without text until it is needed */
  struct kymo_print print; /* last, since most of it is for walking */
};

/* ---- values ---- */

static void put_indent(struct kymo_out *out, size_t indent) {
  char *at = kymo_out_room(out, KYMO_OUT_ROOM);
  size_t spaces = indent < KYMO_OUT_ROOM ? indent : KYMO_OUT_ROOM;
  memset(at, ' ', spaces);
  out->at = at + spaces;
}

static void put_unsigned(struct kymo_out *out, uint64_t value) {
  out->at = kymo_details_put_unsigned(kymo_out_room(out, KYMO_DETAILS_NUMBER), value, 10);
}

static void put_signed(struct kymo_out *out, int64_t value) {
  out->at = kymo_details_put_signed(kymo_out_room(out, KYMO_DETAILS_NUMBER), value, 10);
}

static void print_integer(struct kymo_out *out, const struct kymo_value *value) {
  const struct kymo_type *type = value->type;
  unsigned base = type->kind == KYMO_KIND_BITMAP ? 16 : type->base ? type->base : 10;
  if (type->kind == KYMO_KIND_BOOLEAN)
    kymo_out_bytes(out, value->u ? "Yes" : "No", value->u ? 3 : 2);
  else if (type->is_signed)
    out->at = kymo_details_put_signed(kymo_out_room(out, KYMO_DETAILS_NUMBER), value->i, base);
  else
    out->at = kymo_details_put_unsigned(kymo_out_room(out, KYMO_DETAILS_NUMBER), value->u, base);
}

static void print_text(struct kymo_out *out, const struct kymo_value *value) {
  const uint8_t *at = value->bytes, *end = at + value->count;
  if (kymo_is_byte_encoding(value->type->encoding)) {
    kymo_out_bytes(out, at, (size_t)value->count);
    return;
  }
  while (at < end) {
    uint32_t character = kymo_next_character(value->type->encoding, &at, end);
    out->at = kymo_put_character(kymo_out_room(out, 4), character);
  }
}

static void print_blob(struct kymo_out *out, const struct kymo_value *value) {
  if (value->count == 0) {
    kymo_out_literal(out, "Empty");
    return;
  }
  kymo_out_literal(out, "Length ");
  put_unsigned(out, value->count);
  kymo_out_literal(out, ":");
  for (uint64_t i = 0; i < value->count; i++) {
    char *at = kymo_out_room(out, 3);
    *at = ' ';
    out->at = kymo_put_hex_byte(at + 1, value->bytes[i]);
  }
}

static void walk_scalar(struct kymo_sink_state *state, uint32_t part, enum kymo_token token,
                        const struct kymo_value *value) {
  struct kymo_out *out = &state->print.out;
  (void)part;
  kymo_out_byte(out, ' ');
  switch (token) {
  case KYMO_TOKEN_INTEGER: print_integer(out, value); break;
  case KYMO_TOKEN_FLOAT: {
    char *at = kymo_out_room(out, 400); /* 309 digits before the point */
    out->at = at + snprintf(at, 400, "%f", value->f);
    break;
  }
  case KYMO_TOKEN_TEXT: print_text(out, value); break;
  case KYMO_TOKEN_BLOB: print_blob(out, value); break;
  default: kymo_out_literal(out, "None"); break;
  }
}

/* ---- walking ---- */

/* The text after the name of a struct or array that begins. */
static void put_count(struct kymo_out *out, const struct kymo_value *value) {
  switch (value->type->kind) {
  case KYMO_KIND_STRUCT:
  case KYMO_KIND_UNION:
    if (value->count == 0)
      kymo_out_literal(out, " Empty");
    break;
  case KYMO_KIND_ARRAY:
  case KYMO_KIND_SEQUENCE:
    if (value->count == 0) {
      kymo_out_literal(out, " Empty");
      break;
    }
    kymo_out_literal(out, " Length ");
    put_unsigned(out, value->count);
    kymo_out_byte(out, ':');
    break;
  default: break;
  }
}

/* A line of its own with name or index. */
static bool walk_lead(struct kymo_sink_state *state, struct kymo_frame *frame,
                      const struct kymo_value *value) {
  struct kymo_out *out = &state->print.out;
  const struct kymo_label *label = NULL;
  if (frame->labels && (label = &frame->labels[value->member - frame->type->members])->is_hidden)
    return false;
  kymo_out_byte(out, '\n');
  put_indent(out, 4 + 2 * (size_t)(frame - state->print.frames));
  if (label) {
    kymo_out_bytes(out, label->text, label->length);
  } else {
    kymo_out_byte(out, '[');
    put_unsigned(out, frame->count++);
    kymo_out_literal(out, "]:");
  }
  put_count(out, value);
  return true;
}

static void walk_begin(struct kymo_sink_state *state, struct kymo_frame *frame) {
  (void)state;
  (void)frame;
}

static void walk_end(struct kymo_sink_state *state, const struct kymo_frame *frame) {
  (void)state;
  (void)frame;
}

/* "  NAME:" and the members below it. */
static void print_scope(struct kymo_sink_state *state, const struct kymo_event *event, enum kymo_scope scope,
                        const struct kymo_type *type) {
  static const char *const names[KYMO_SCOPE_COUNT] = {
      "", "Context", "", "Common context", "Specific context", "Payload",
  };
  static const struct kymo_walk_style walk_style = {walk_lead, walk_begin, walk_end, walk_scalar};
  struct kymo_out *out = &state->print.out;
  if (!type || state->print.names.parts[event->packet->stream->part->index].is_hidden[type->id])
    return;
  kymo_out_literal(out, "  ");
  kymo_out_bytes(out, names[scope], strlen(names[scope]));
  kymo_out_byte(out, ':');
  if (type->member_count == 0)
    kymo_out_literal(out, " Empty");
  kymo_print_members(&state->print, state, &walk_style, event,
                     &(struct kymo_script_step){.scope = scope, .type = type});
  kymo_out_byte(out, '\n');
}

/* ---- what all messages begin with ---- */

static void begin_block(struct kymo_sink_state *state) {
  if (state->has_printed)
    kymo_out_byte(&state->print.out, '\n');
  state->has_printed = true;
}

static void print_time(struct kymo_out *out, uint64_t cycles, int64_t time_ns) {
  kymo_out_byte(out, '[');
  put_unsigned(out, cycles);
  kymo_out_literal(out, " cycles, ");
  put_signed(out, time_ns);
  kymo_out_literal(out, " ns from origin]\n");
}

static bool make_tag(struct kymo_sink_state *state, const struct kymo_stream *stream,
                     struct kymo_piece *tag) {
  struct kymo_strbuf buf = {0};
  kymo_strbuf_printf(&buf, "{Trace %llu, Stream class ID %llu, Stream ID %llu}\n",
                     (unsigned long long)state->parts[stream->part->index].number,
                     (unsigned long long)stream->class_->id,
                     (unsigned long long)kymo_called_stream(state->trace, stream));
  tag->text = kymo_names_keep(&state->print.arena, &buf, &tag->length);
  kymo_strbuf_free(&buf);
  return tag->text != NULL;
}

static bool print_tag(struct kymo_sink_state *state, const struct kymo_stream *stream) {
  struct kymo_piece *tag = &state->tags[stream->number];
  if (!tag->text && !make_tag(state, stream, tag))
    return false;
  kymo_out_piece(&state->print.out, tag->text, tag->length);
  return true;
}

static int end_block(const struct kymo_sink_state *state, bool is_done, struct kymo_error *error) {
  if (!is_done && state->is_too_long)
    return kymo_fail(error, KYMO_E_LIMIT, "a trace class takes more than %u MiB as text",
                     KYMO_DETAILS_MAX >> 20);
  if (!is_done)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  return state->print.out.error_number ? kymo_out_check(&state->print.out, error) : KYMO_OK;
}

/* ---- events ---- */

static bool make_head(struct kymo_sink_state *state, const struct kymo_event_class *class_,
                      struct kymo_piece *head) {
  struct kymo_details details = {0};
  kymo_strbuf_puts(&details.text, "Event");
  if (class_->name && *class_->name)
    kymo_strbuf_printf(&details.text, " `%s`", class_->name);
  kymo_strbuf_puts(&details.text, " (Class ID ");
  kymo_details_unsigned(&details, class_->id);
  kymo_strbuf_puts(&details.text, "):\n");
  head->text = kymo_names_keep(&state->print.arena, &details.text, &head->length);
  kymo_strbuf_free(&details.text);
  return head->text != NULL;
}

/* "  Message: TEXT", which babeltrace2 does not print. */
static void print_message(struct kymo_sink_state *state, const struct kymo_event *event,
                          const struct kymo_message *message) {
  const struct kymo_strbuf *text = kymo_print_message(&state->print, event, message);
  if (!text)
    return;
  kymo_out_literal(&state->print.out, "  Message: ");
  kymo_text_print_bytes(&state->print.out, text->text, kymo_message_line(text));
  kymo_out_byte(&state->print.out, '\n');
}

static int details_event(struct kymo_sink_state *state, const struct kymo_event *event,
                         struct kymo_error *error) {
  const struct kymo_event_class *class_ = event->class_;
  struct kymo_print_class *view = kymo_print_class_of(&state->print, event);
  begin_block(state);
  if (event->has_time)
    print_time(&state->print.out, event->cycles, event->time_ns);
  if (!view->head.text && !state->as_2_0)
    view->message = kymo_message_new(&state->print.arena, class_);
  if (!print_tag(state, event->packet->stream) ||
      (!view->head.text && !make_head(state, class_, &view->head)))
    return end_block(state, false, error);
  kymo_out_piece(&state->print.out, view->head.text, view->head.length);
  if (view->message)
    print_message(state, event, view->message);
  print_scope(state, event, KYMO_SCOPE_COMMON_CONTEXT, class_->stream->common_context);
  print_scope(state, event, KYMO_SCOPE_SPECIFIC_CONTEXT, class_->specific_context);
  print_scope(state, event, KYMO_SCOPE_PAYLOAD, class_->payload);
  return end_block(state, true, error);
}

/* ---- losses ---- */

static int details_loss(struct kymo_sink_state *state, const struct kymo_loss *loss,
                        struct kymo_error *error) {
  struct kymo_out *out = &state->print.out;
  const char *what = loss->is_packets ? "packets" : "events";
  if (!loss->stream->class_)
    return KYMO_OK;
  begin_block(state);
  if (loss->has_times) {
    print_time(out, loss->begin_cycles, loss->begin_ns);
    print_time(out, loss->end_cycles, loss->end_ns);
  }
  if (!print_tag(state, loss->stream))
    return end_block(state, false, error);
  kymo_out_literal(out, "Discarded ");
  kymo_out_bytes(out, what, strlen(what));
  if (loss->count_known) {
    kymo_out_literal(out, " (");
    put_unsigned(out, loss->count);
    kymo_out_byte(out, ' ');
    kymo_out_bytes(out, what, strlen(what));
    kymo_out_byte(out, ')');
  }
  kymo_out_byte(out, '\n');
  return end_block(state, true, error);
}

/* ---- streams ---- */

static int by_name(const void *a, const void *b) {
  const struct kymo_environment *const *x = a, *const *y = b;
  return strcmp((*x)->name, (*y)->name);
}

static void add_environment(struct kymo_details *details, const struct kymo_schema *schema) {
  uint32_t count = schema->environment_count;
  const struct kymo_environment **list = malloc((count + (size_t)1) * sizeof(*list));
  details->text.failed |= !list;
  if (!list || count == 0) {
    free(list);
    return;
  }
  memcpy(list, schema->environment, count * sizeof(*list));
  qsort(list, count, sizeof(*list), by_name);
  kymo_details_indent(details);
  kymo_strbuf_puts(&details->text, "Environment (");
  kymo_details_unsigned(details, count);
  kymo_strbuf_puts(&details->text, count == 1 ? " entry):\n" : " entries):\n");
  details->indent += 2;
  for (uint32_t i = 0; i < count; i++) {
    kymo_details_indent(details);
    kymo_strbuf_printf(&details->text, "%s: ", list[i]->name);
    if (list[i]->text)
      kymo_strbuf_puts(&details->text, list[i]->text);
    else
      kymo_details_signed(details, list[i]->integer);
    kymo_strbuf_puts(&details->text, "\n");
  }
  details->indent -= 2;
  free(list);
}

struct listed {
  uint64_t id, class_id;
};

static int by_id(const void *a, const void *b) {
  const struct listed *one = a, *other = b;
  if (one->id != other->id)
    return one->id > other->id ? 1 : -1;
  return (one->class_id > other->class_id) - (one->class_id < other->class_id);
}

/* The streams that have a class, by their numbers: numbered as by kymo_called_stream, but all at once. */
static size_t list_streams(struct listed *list, uint64_t *counts, const struct kymo_trace *trace,
                           const struct kymo_part *part) {
  size_t count = 0;
  for (uint32_t i = 0; i < part->stream_count; i++) {
    const struct kymo_stream *stream = kymo_part_stream(trace, part, i);
    if (!stream->class_)
      continue;
    uint64_t id = counts[stream->class_->index]++;
    list[count++] =
        (struct listed){kymo_called_by_instance(stream) ? stream->instance : id, stream->class_->id};
  }
  if (count > 0)
    qsort(list, count, sizeof(*list), by_id);
  return count;
}

static void add_streams(struct kymo_details *details, const struct kymo_trace *trace,
                        const struct kymo_part *part) {
  struct listed *list = calloc(part->stream_count + (size_t)1, sizeof(*list));
  uint64_t *counts = calloc(part->schema->stream_count + (size_t)1, sizeof(*counts));
  details->text.failed |= !list || !counts;
  size_t count = list && counts ? list_streams(list, counts, trace, part) : 0;
  free(counts);
  for (size_t i = 0; i < count; i++) {
    kymo_details_indent(details);
    kymo_strbuf_puts(&details->text, "Stream (ID ");
    kymo_details_unsigned(details, list[i].id);
    kymo_strbuf_puts(&details->text, ", Class ID ");
    kymo_details_unsigned(details, list[i].class_id);
    kymo_strbuf_puts(&details->text, ")\n");
  }
  free(list);
}

static void add_trace(struct kymo_details *details, const struct kymo_sink_state *state,
                      const struct kymo_part *part) {
  const struct kymo_schema *schema = part->schema;
  char uuid[40];
  kymo_details_indent(details);
  kymo_strbuf_puts(&details->text, "Trace `");
  kymo_called_trace(&details->text, &state->options, part);
  kymo_strbuf_puts(&details->text, "`");
  kymo_details_trace_identity(details, schema);
  kymo_strbuf_puts(&details->text, ":\n");
  details->indent += 2;
  if (details->as_2_0 && schema->has_uuid) {
    *kymo_put_uuid(uuid, schema->uuid) = 0;
    kymo_details_line(details, "UUID", uuid);
  }
  add_environment(details, schema);
  add_streams(details, state->trace, part);
  details->indent -= 2;
}

/* The block of a stream that begins, after time and tag. */
static void add_stream(struct kymo_details *details, const struct kymo_sink_state *state,
                       const struct kymo_stream *stream) {
  kymo_strbuf_puts(&details->text, "Stream beginning:\n");
  details->indent += 2;
  kymo_details_indent(details);
  kymo_strbuf_puts(&details->text, "Name: ");
  kymo_called_path(&details->text, stream->path);
  kymo_strbuf_puts(&details->text, "\n");
  if (stream->class_->name)
    kymo_details_line(details, "Class name", stream->class_->name);
  add_trace(details, state, stream->part);
  details->indent -= 2;
}

static bool print_details(struct kymo_sink_state *state, struct kymo_details *details) {
  bool ok = !details->text.failed && !details->is_too_long;
  state->is_too_long |= details->is_too_long;
  if (ok)
    kymo_out_bytes(&state->print.out, details->text.text, details->text.length);
  kymo_strbuf_free(&details->text);
  return ok;
}

/* The first stream of a trace prints the trace class. */
static bool begin_trace(struct kymo_sink_state *state, const struct kymo_part *part) {
  struct kymo_details details = {.as_2_0 = state->as_2_0};
  struct part_view *view = &state->parts[part->index];
  if (view->has_begun)
    return true;
  *view = (struct part_view){true, state->trace_count++};
  begin_block(state);
  kymo_details_trace_class(&details, part->schema, &state->print.names.parts[part->index]);
  return print_details(state, &details);
}

static bool print_stream_begin(struct kymo_sink_state *state, const struct kymo_stream *stream) {
  struct kymo_details details = {.as_2_0 = state->as_2_0};
  if (!begin_trace(state, stream->part))
    return false;
  begin_block(state);
  if (stream->class_->clock)
    kymo_out_literal(&state->print.out, "[Unknown]\n");
  if (!print_tag(state, stream))
    return false;
  add_stream(&details, state, stream);
  return print_details(state, &details);
}

/* ---- other boundaries ---- */

static void print_packet_begin(struct kymo_sink_state *state, const struct kymo_boundary *boundary) {
  const struct kymo_type *context = boundary->stream->class_->packet_context;
  bool is_shown = context && !state->print.names.parts[boundary->stream->part->index].is_hidden[context->id];
  kymo_out_bytes(&state->print.out, is_shown ? "Packet beginning:\n" : "Packet beginning\n",
                 is_shown ? 18 : 17);
  if (is_shown)
    print_scope(state, boundary->place, KYMO_SCOPE_PACKET_CONTEXT, context);
}

static bool print_boundary(struct kymo_sink_state *state, const struct kymo_boundary *boundary) {
  struct kymo_out *out = &state->print.out;
  begin_block(state);
  if (boundary->has_time)
    print_time(out, boundary->cycles, boundary->time_ns);
  else if (boundary->kind == KYMO_BOUNDARY_STREAM_END && boundary->stream->class_->clock)
    kymo_out_literal(out, "[Unknown]\n");
  if (!print_tag(state, boundary->stream))
    return false;
  switch (boundary->kind) {
  case KYMO_BOUNDARY_PACKET_BEGIN: print_packet_begin(state, boundary); break;
  case KYMO_BOUNDARY_PACKET_END: kymo_out_literal(out, "Packet end\n"); break;
  default: kymo_out_literal(out, "Stream end\n"); break;
  }
  return true;
}

static int details_boundary(struct kymo_sink_state *state, const struct kymo_boundary *boundary,
                            struct kymo_error *error) {
  bool begins = boundary->kind == KYMO_BOUNDARY_STREAM_BEGIN;
  return end_block(
      state, begins ? print_stream_begin(state, boundary->stream) : print_boundary(state, boundary), error);
}

/* ---- life ---- */

static int details_end(struct kymo_sink_state *state, struct kymo_error *error) {
  int status = state ? kymo_print_end(&state->print, error) : KYMO_OK;
  free(state);
  return status;
}

static void write_label(struct kymo_strbuf *buf, const char *name) {
  kymo_strbuf_puts(buf, name);
  kymo_strbuf_puts(buf, ":");
}

/* Labels of enumerations are not shown with values. */
static void write_nothing(struct kymo_strbuf *buf, const struct kymo_type *type, uint64_t value) {
  (void)buf;
  (void)type;
  (void)value;
}

static const struct kymo_option_kind option_kinds[] = {
    {"2.0", offsetof(struct kymo_sink_state, as_2_0), NULL},
    {0},
};

/* The order of traces in 2.1 for messages with the same time. */
struct trace_order {
  struct kymo_details_trace identity;
  char *name;
  uint32_t index;
};

/* A missing text comes last. */
static int compare_texts(const char *a, const char *b) { return a && b ? strcmp(a, b) : !a - !b; }

static int by_identity(const void *a, const void *b) {
  const struct trace_order *one = a, *other = b;
  int order = compare_texts(one->identity.space, other->identity.space);
  order = order ? order : compare_texts(one->name, other->name);
  return order ? order : compare_texts(one->identity.uid, other->identity.uid);
}

static bool order_traces(struct kymo_sink_state *state) {
  size_t count = kymo_trace_part_count(state->trace);
  struct trace_order *orders = calloc(count + 1, sizeof(*orders));
  uint32_t *places = calloc(count + 1, sizeof(*places));
  bool ok = orders && places;
  for (size_t i = 0; ok && i < count; i++) {
    const struct kymo_part *part = kymo_trace_part(state->trace, i);
    struct kymo_strbuf name = {0};
    kymo_strbuf_puts(&name, "");
    kymo_called_trace(&name, &state->options, part);
    orders[i] = (struct trace_order){kymo_details_trace_of(part->schema), name.text, (uint32_t)i};
    ok = !name.failed && !orders[i].identity.failed;
  }
  if (ok && count > 0)
    qsort(orders, count, sizeof(*orders), by_identity);
  for (size_t i = 0; ok && i < count; i++)
    places[orders[i].index] = (uint32_t)i;
  if (ok)
    kymo_trace_order_parts(state->trace, places);
  for (size_t i = 0; orders && i < count; i++) {
    free(orders[i].identity.space);
    free(orders[i].identity.uid);
    free(orders[i].name);
  }
  free(orders);
  free(places);
  return ok;
}

static int details_begin(struct kymo_sink_state **out, struct kymo_trace *trace,
                         const struct kymo_sink_options *options, struct kymo_error *error) {
  struct kymo_sink_state *state = *out = calloc(1, sizeof(*state));
  if (!state)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  state->trace = trace;
  state->options = *options;
  int status = kymo_sink_options_read("details", options->text, option_kinds, state, error);
  if (status >= 0)
    status = kymo_print_begin(&state->print, trace, options->out, write_label, write_nothing, error);
  if (status < 0)
    return status;
  kymo_names_hide(&state->print.names, trace);
  state->parts =
      kymo_arena_array(&state->print.arena, kymo_trace_part_count(trace) + 1, sizeof(*state->parts));
  state->tags = kymo_arena_array(&state->print.arena, (size_t)state->print.whos.numbers.stream_count + 1,
                                 sizeof(*state->tags));
  bool ok = state->parts && state->tags && (state->as_2_0 || order_traces(state));
  return ok ? KYMO_OK : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
}

const struct kymo_sink kymo_sink_details = {
    KYMO_SINK_ABI,
    .name = "details",
    .summary = "what babeltrace2's sink.text.details prints, byte for byte",
    .as_babeltrace2 = true,
    .begin = details_begin,
    .event = details_event,
    .loss = details_loss,
    .boundary = details_boundary,
    .end = details_end,
};
