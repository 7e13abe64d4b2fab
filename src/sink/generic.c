/* SPDX-License-Identifier: MIT */
/*
 * generic: each event as its definition says, and at the end the number of events. It is the default for
 * streams that define their events:
 *
 *   <0> read: id: 1, timeval: 1142896381.115226, tgid: 13495, name: read, fd: 3, count: 8192,
 *   events_processed: 1
 *
 * The line begins with the CPU; for files per thread, with the number of the thread; else with that of the
 * stream. Each value, also the last one, is followed by a comma and a blank. Events of traces with a clock
 * begin with their time, unless definitions in the stream name the field with the time. A print template
 * replaces the fields.
 */
#include "base/fail.h"
#include "print/clock.h"
#include "print/options.h"
#include "print/text_fields.h"
#include "schema/definition.h"
#include <inttypes.h>
#include <kymo/sink.h>
#include <stdlib.h>

/* Prepared data of an event class. */
struct generic_class {
  struct kymo_piece name;             /* " NAME: " */
  const struct kymo_message *message; /* or NULL */
  bool is_defined; /* in its stream: only the values that the definitions name are printed */
  uint32_t thread; /* id of the field with the thread, or KYMO_FIELD_NONE */
};

struct kymo_sink_state {
  struct kymo_trace *trace;
  struct generic_class *classes;  /* by class number */
  uint64_t count;                 /* of events */
  struct kymo_text_fields fields; /* last, since most of it is for walking */
};

/* ---- fields ---- */

static bool walk_lead(struct kymo_sink_state *state, struct kymo_frame *frame,
                      const struct kymo_value *value) {
  struct kymo_out *out = &state->fields.print.out;
  bool is_first = frame->count++ == 0;
  if (frame->labels) {
    const struct kymo_label *label = &frame->labels[value->member - frame->type->members];
    kymo_out_piece(out, label->text + is_first, label->length - is_first);
  } else if (!is_first) {
    kymo_out_literal(out, ", ");
  }
  return true;
}

static void walk_begin(struct kymo_sink_state *state, struct kymo_frame *frame) {
  kymo_out_byte(&state->fields.print.out, frame->labels ? '{' : '[');
}

static void walk_end(struct kymo_sink_state *state, const struct kymo_frame *frame) {
  if (frame->labels)
    kymo_out_literal(&state->fields.print.out, " }");
  else
    kymo_out_byte(&state->fields.print.out, ']');
}

/* Microseconds are shown as they were stored, with all their digits. */
static void walk_scalar(struct kymo_sink_state *state, uint32_t part, enum kymo_token token,
                        const struct kymo_value *value) {
  bool is_time =
      token == KYMO_TOKEN_FLOAT && value->type->name && strcmp(value->type->name, KYMO_TIMEVAL_NAME) == 0;
  struct kymo_out *out = &state->fields.print.out;
  char text[340];
  if (is_time)
    kymo_out_bytes(out, text, (size_t)snprintf(text, sizeof text, "%.6f", value->f));
  else
    kymo_text_print_bare(&state->fields, part, token, value);
}

static void print_fields(struct kymo_sink_state *state, const struct kymo_event *event, bool shows_time) {
  static const struct kymo_walk_style style = {walk_lead, walk_begin, walk_end, walk_scalar};
  struct kymo_print *print = &state->fields.print;
  struct kymo_script_step payload = {
      .scope = KYMO_SCOPE_PAYLOAD, .type = event->class_->payload, .more = shows_time};
  print->frames[0].count = payload.more;
  if (payload.type)
    kymo_print_members(print, state, &style, event, &payload);
  if (print->frames[0].count)
    kymo_out_literal(&print->out, ", ");
  else
    kymo_out_byte(&print->out, ' ');
}

static void print_message(struct kymo_sink_state *state, const struct kymo_event *event,
                          const struct kymo_message *message) {
  const struct kymo_strbuf *text = kymo_print_message(&state->fields.print, event, message);
  if (!text)
    return;
  kymo_out_byte(&state->fields.print.out, ' ');
  kymo_text_print_bytes(&state->fields.print.out, text->text, kymo_message_line(text));
}

/* ---- lines ---- */

static bool make_class(struct kymo_sink_state *state, struct generic_class *class_,
                       const struct kymo_event *event) {
  struct kymo_strbuf name = {0};
  kymo_text_add_class(&name, event->class_);
  kymo_strbuf_puts(&name, ":");
  class_->name.text = kymo_names_keep(&state->fields.print.arena, &name, &class_->name.length);
  kymo_strbuf_free(&name);
  class_->is_defined = kymo_has_definitions(event->class_->stream);
  class_->message = kymo_message_new(&state->fields.print.arena, event->class_);
  class_->thread = kymo_type_member(event->class_->stream->common_context, "thread")
                       ? kymo_field_id(state->trace, event->class_, "thread")
                       : KYMO_FIELD_NONE;
  return class_->name.text;
}

/* "<NUMBER> " */
static bool print_where(struct kymo_sink_state *state, const struct kymo_event *event,
                        const struct generic_class *class_) {
  struct kymo_print *print = &state->fields.print;
  const struct kymo_who *who = kymo_who_of(&print->whos, event);
  const struct kymo_stream *stream = event->packet->stream;
  uint64_t number = stream->instance == UINT64_MAX ? stream->number : stream->instance;
  if (!who)
    return false;
  if (who->has_cpu)
    number = who->cpu;
  else if (class_->thread != KYMO_FIELD_NONE)
    kymo_event_get_uint(event, class_->thread, &number);
  kymo_out_byte(&print->out, '<');
  print->out.at = kymo_put_u64(kymo_out_room(&print->out, 32), number);
  kymo_out_literal(&print->out, "> ");
  return true;
}

static void print_time(struct kymo_out *out, const struct kymo_event *event) {
  kymo_out_literal(out, " time: ");
  out->at = kymo_put_seconds(kymo_out_room(out, 48), event->time_ns);
}

static int generic_event(struct kymo_sink_state *state, const struct kymo_event *event,
                         struct kymo_error *error) {
  struct kymo_print *print = &state->fields.print;
  uint32_t number = kymo_kind_of(event);
  struct generic_class *class_ = &state->classes[number];
  if ((!class_->name.text && !make_class(state, class_, event)) || !print_where(state, event, class_))
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  print->event = event;
  kymo_out_piece(&print->out, class_->name.text, class_->name.length);
  bool shows_time = event->has_time && !class_->is_defined;
  if (shows_time)
    print_time(&print->out, event);
  if (class_->message && shows_time)
    kymo_out_literal(&print->out, ",");
  if (class_->message)
    print_message(state, event, class_->message);
  else
    print_fields(state, event, shows_time);
  kymo_out_byte(&print->out, '\n');
  state->count++;
  return print->out.error_number ? kymo_out_check(&print->out, error) : KYMO_OK;
}

static int generic_loss(struct kymo_sink_state *state, const struct kymo_loss *loss,
                        struct kymo_error *error) {
  struct kymo_strbuf text = {0};
  const char *what = loss->is_packets ? "packets" : "events";
  if (loss->count_known)
    kymo_strbuf_printf(&text, "%s_lost: %" PRIu64 "\n", what, loss->count);
  else
    kymo_strbuf_printf(&text, "%s_lost: unknown\n", what);
  if (!text.failed)
    kymo_out_bytes(&state->fields.print.out, text.text, text.length);
  bool failed = text.failed;
  kymo_strbuf_free(&text);
  return failed ? kymo_fail(error, KYMO_E_MEMORY, "out of memory") : KYMO_OK;
}

/* ---- life ---- */

static void write_label(struct kymo_strbuf *buf, const char *name) {
  kymo_strbuf_puts(buf, ", ");
  kymo_text_add_name(buf, name);
  kymo_strbuf_puts(buf, ": ");
}

static int make_ready(struct kymo_sink_state *state, struct kymo_error *error) {
  struct kymo_print *print = &state->fields.print;
  state->classes =
      kymo_arena_array(&print->arena, (size_t)print->whos.numbers.class_count + 1, sizeof *state->classes);
  return state->classes ? KYMO_OK : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
}

static int generic_begin(struct kymo_sink_state **out, struct kymo_trace *trace,
                         const struct kymo_sink_options *options, struct kymo_error *error) {
  struct kymo_sink_state *state = *out = calloc(1, sizeof *state);
  if (!state)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  state->trace = trace;
  static const struct kymo_option_kind none[] = {{0}};
  int status = kymo_sink_options_read("generic", options->text, none, state, error);
  if (status >= 0)
    status = kymo_text_fields_begin(&state->fields, trace, options->out, write_label, error);
  state->fields.print.style.address = NULL; /* by the description alone */
  return status < 0 ? status : make_ready(state, error);
}

static int generic_flush(struct kymo_sink_state *state, struct kymo_error *error) {
  return kymo_print_flush(&state->fields.print, error);
}

static int generic_grow(struct kymo_sink_state *state, struct kymo_error *error) {
  int status = kymo_text_fields_grow(&state->fields, error);
  return status < 0 ? status : make_ready(state, error);
}

static int generic_end(struct kymo_sink_state *state, struct kymo_error *error) {
  if (!state)
    return KYMO_OK;
  if (state->classes) { /* else it has not begun */
    struct kymo_out *out = &state->fields.print.out;
    kymo_out_literal(out, "events_processed: ");
    out->at = kymo_put_u64(kymo_out_room(out, 32), state->count);
    kymo_out_byte(out, '\n');
  }
  int status = kymo_text_fields_end(&state->fields, error);
  free(state);
  return status;
}

const struct kymo_sink kymo_sink_generic = {
    KYMO_SINK_ABI,
    .name = "generic",
    .summary = "each event as its definition says; at the end, their number",
    .begin = generic_begin,
    .event = generic_event,
    .loss = generic_loss,
    .end = generic_end,
    .flush = generic_flush,
    .grow = generic_grow,
};
