/* SPDX-License-Identifier: MIT */
/*
 * trace-cmd: traces of the Linux kernel, byte for byte as `trace-cmd report -N` of version 3.1.6 prints them:
 *
 *   cpus=2
 *             <idle>-0     [001]   107.730886: sched_switch:         prev_comm=… ==> next_comm=…
 *   CPU:0 [12 EVENTS DROPPED]
 *
 * The text of an event is that of its print fmt, in trace-cmd's arithmetic (decode/kernel_message.h). Where
 * several buffers or files are shown, each line begins with the name of its own.
 */
#include "base/fail.h"
#include "base/likely.h"
#include "decode/kernel_message.h"
#include "print/number.h"
#include "print/options.h"
#include "print/print.h"
#include "trace/part.h"
#include <inttypes.h>
#include <kymo/sink.h>
#include <stdlib.h>

#define FORMAT "trace-cmd"
#define NAME_COLUMN 20 /* of the event, with blanks after it */
#define ROOM_OF_BLANKS 32
#define FAILED "[FAILED TO PARSE]"

struct trace_cmd_class {
  const char *name; /* ": sched_switch:         ", prepared for kymo_out_piece */
  size_t length;
  const struct kymo_kernel_message *message; /* NULL: its print fmt cannot be parsed … */
  const struct kymo_kernel_message *fields;  /* … and its fields are printed */
};

struct kymo_sink_state {
  struct kymo_print print;
  struct trace_cmd_class *classes; /* by class number */
  struct kymo_who_views *writers;  /* by stream number */
  struct kymo_loss *losses;        /* by stream number: before its next event, if `stream` is not NULL */
  struct kymo_strbuf text;
  bool has_names; /* lines begin with the name of a buffer or file */
  size_t name_width;
  bool *is_in_seconds; /* by part: times are seconds, else counts of the clock */
  uint64_t second_us;  /* the begin of the second that was printed last, and its text */
  size_t second_length;
  char second[ROOM_OF_BLANKS + KYMO_DECIMAL_ROOM];
};

/* ---- buffers ---- */

static const char *instance_of(const struct kymo_part *part) {
  const struct kymo_environment *entry = kymo_schema_environment(part->schema, "instance");
  return entry ? entry->text : NULL;
}

static bool has_many_files(const struct kymo_trace *trace) {
  size_t count = 0;
  for (size_t i = 0; i < kymo_trace_part_count(trace); i++)
    count += !instance_of(kymo_trace_part(trace, i));
  return count > 1;
}

/* The name before the lines of a part, or NULL: blanks. */
static const char *name_of(const struct kymo_sink_state *state, const struct kymo_part *part) {
  const char *instance = instance_of(part);
  return instance ? instance : has_many_files(state->print.trace) ? part->path : NULL;
}

static void add_name(struct kymo_sink_state *state, const struct kymo_part *part) {
  if (!state->has_names)
    return;
  const char *name = name_of(state, part);
  struct kymo_out *out = &state->print.out;
  for (size_t i = name ? strlen(name) : 0; i < state->name_width; i++)
    kymo_out_byte(out, ' ');
  if (name)
    kymo_out_bytes(out, name, strlen(name));
  kymo_out_bytes(out, name ? ": " : "  ", 2);
}

/* Other clocks are counters, whose counts trace-cmd prints as they are; it counts boot among them. */
static bool counts_seconds(const struct kymo_schema *schema) {
  static const char *const names[] = {"local", "global", "uptime", "perf", "mono", "mono_raw", "tai"};
  const struct kymo_environment *entry = kymo_schema_environment(schema, "trace_clock");
  const char *clock = entry && entry->text ? entry->text : "local";
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(clock, names[i]) == 0)
      return true;
  return false;
}

/* ---- lines ---- */

static bool make_class(struct kymo_sink_state *state, struct trace_cmd_class *class_,
                       const struct kymo_event_class *from) {
  const char *colon = strchr(from->name, ':');
  struct kymo_arena *arena = &state->print.arena;
  class_->message = kymo_kernel_message_new(arena, from, KYMO_KERNEL_AS_TRACE_CMD);
  class_->fields = kymo_kernel_fields_new(arena, from);
  const char *name = colon ? colon + 1 : from->name;
  size_t length = strlen(name), width = length < NAME_COLUMN ? NAME_COLUMN : length;
  class_->length = width + strlen(": : ");
  char *text = kymo_arena_alloc(arena, class_->length + KYMO_PIECE_SLACK);
  if (!text || !class_->fields)
    return false;
  snprintf(text, class_->length + 1, ": %s: %*s", name, (int)(width - length), "");
  class_->name = text;
  return !arena->failed;
}

/* Blanks up to the width, which is at most ROOM_OF_BLANKS; as many bytes are written. */
static char *put_blanks(char *at, size_t length, size_t width) {
  memset(at, ' ', ROOM_OF_BLANKS);
  return at + (length < width ? width - length : 0);
}

/* A number with blanks before it. */
static char *put_right(char *at, uint64_t number, size_t width) {
  char digits[KYMO_DECIMAL_ROOM] = "";
  size_t length = (size_t)(kymo_put_u64(digits, number) - digits);
  at = put_blanks(at, length, width);
  memcpy(at, digits, sizeof digits);
  return at + length;
}

static void set_second(struct kymo_sink_state *state, uint64_t second) {
  char *end = put_right(state->second, second, 5);
  *end++ = '.';
  state->second_us = second * 1000000;
  state->second_length = (size_t)(end - state->second);
}

/* "%5llu.%06llu" */
static char *put_microseconds(struct kymo_sink_state *state, char *at, uint64_t time_ns) {
  uint64_t us = time_ns / 1000 + (time_ns % 1000 >= 500);
  if (KYMO_UNLIKELY(us - state->second_us >= 1000000))
    set_second(state, us / 1000000);
  memcpy(at, state->second, ROOM_OF_BLANKS);
  at += state->second_length;
  kymo_put_eight(at, (uint32_t)(us - state->second_us) * 100);
  return at + 6;
}

/* "%16s-%-5d [%03d]" */
static char *put_who(char *at, const struct kymo_who *who) {
  at = put_blanks(at, who->name_length, 16);
  memcpy(at, who->name, sizeof who->name);
  at += who->name_length;
  *at++ = '-';
  char *begin = at;
  at = kymo_put_i64(at, who->tid);
  at = put_blanks(at, (size_t)(at - begin), 5);
  memcpy(at, " [00", 4);
  at = kymo_put_u64(at + (who->cpu < 10 ? 4 : who->cpu < 100 ? 3 : 2), who->cpu);
  *at++ = ']';
  return at;
}

/* Usually it is one that was printed before. */
static bool print_who(struct kymo_sink_state *state, const struct kymo_stream *stream,
                      const struct kymo_who *who) {
  struct kymo_who_view *view = kymo_who_view_of(&state->writers[stream->number], &state->print.arena, who);
  if (!view)
    return false;
  if (view->version != who->version) {
    view->version = who->version;
    char *end = put_who(view->text, who);
    if (state->is_in_seconds[stream->part->index])
      *end++ = ' ';
    view->length = (uint32_t)(end - view->text);
  }
  kymo_out_piece(&state->print.out, view->text, view->length);
  return true;
}

static void print_loss(struct kymo_sink_state *state, struct kymo_loss *loss, uint64_t cpu) {
  char text[96];
  int length =
      loss->count_known
          ? snprintf(text, sizeof text, "CPU:%" PRIu64 " [%" PRIu64 " EVENTS DROPPED]\n", cpu, loss->count)
          : snprintf(text, sizeof text, "CPU:%" PRIu64 " [EVENTS DROPPED]\n", cpu);
  kymo_out_bytes(&state->print.out, text, (size_t)length);
  loss->stream = NULL;
}

static bool print_text(struct kymo_sink_state *state, const struct trace_cmd_class *class_,
                       const struct kymo_event *event) {
  struct kymo_strbuf *text = &state->text;
  text->length = 0;
  if (class_->message) {
    kymo_kernel_message_add(class_->message, event, text);
  } else {
    kymo_strbuf_puts(text, FAILED);
    kymo_kernel_message_add_fields(class_->fields, event, text);
  }
  size_t length = kymo_message_line(text);
  if (length)
    kymo_out_bytes(&state->print.out, text->text, length);
  kymo_out_byte(&state->print.out, '\n');
  return !text->failed;
}

static int trace_cmd_event(struct kymo_sink_state *state, const struct kymo_event *event,
                           struct kymo_error *error) {
  struct kymo_out *out = &state->print.out;
  const struct kymo_stream *stream = event->packet->stream;
  struct trace_cmd_class *class_ = &state->classes[kymo_kind_of(event)];
  struct kymo_loss *loss = &state->losses[stream->number];
  const struct kymo_who *who = kymo_who_of(&state->print.whos, event);
  if (!who || (!class_->name && !make_class(state, class_, event->class_)))
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  add_name(state, stream->part);
  if (loss->stream)
    print_loss(state, loss, who->cpu);
  if (!print_who(state, stream, who))
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  char *at = kymo_out_room(out, 128);
  out->at = state->is_in_seconds[stream->part->index] ? put_microseconds(state, at, (uint64_t)event->time_ns)
                                                      : put_right(at, (uint64_t)event->time_ns, 12);
  kymo_out_piece(out, class_->name, class_->length);
  if (!print_text(state, class_, event))
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  return out->error_number ? kymo_out_check(out, error) : KYMO_OK;
}

static int trace_cmd_loss(struct kymo_sink_state *state, const struct kymo_loss *loss,
                          struct kymo_error *error) {
  (void)error;
  if (!loss->is_packets)
    state->losses[loss->stream->number] = *loss;
  return KYMO_OK;
}

/* ---- life ---- */

/* "cpus=N" of each file, and the names that lines begin with. */
static int begin_parts(struct kymo_sink_state *state, struct kymo_error *error) {
  const struct kymo_trace *trace = state->print.trace;
  struct kymo_print *print = &state->print;
  size_t count = kymo_trace_part_count(trace);
  bool has_many = has_many_files(trace);
  state->is_in_seconds = kymo_arena_array(&print->arena, count + 1, sizeof *state->is_in_seconds);
  if (!state->is_in_seconds)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  state->has_names = has_many;
  for (size_t i = 0; i < count; i++) {
    const struct kymo_part *part = kymo_trace_part(trace, i);
    const char *name = instance_of(part) ? instance_of(part) : has_many ? part->path : "";
    if (strcmp(part->format, FORMAT) != 0)
      return kymo_fail(error, KYMO_E_USAGE,
                       "%s is no trace of trace-cmd, and the format trace-cmd prints only these", part->path);
    state->name_width = strlen(name) > state->name_width ? strlen(name) : state->name_width;
    state->is_in_seconds[i] = counts_seconds(part->schema);
  }
  for (size_t i = 0; i < count; i++) {
    const struct kymo_part *part = kymo_trace_part(trace, i);
    const struct kymo_environment *cpus = kymo_schema_environment(part->schema, "cpus");
    if (instance_of(part))
      continue;
    add_name(state, part);
    kymo_out_literal(&print->out, "cpus=");
    print->out.at = kymo_put_i64(kymo_out_room(&print->out, 32), cpus ? cpus->integer : 0);
    kymo_out_byte(&print->out, '\n');
  }
  for (size_t i = 0; i < count; i++)
    state->has_names |= instance_of(kymo_trace_part(trace, i)) != NULL;
  return KYMO_OK;
}

static void write_label(struct kymo_strbuf *buf, const char *name) { kymo_strbuf_puts(buf, name); }

static void write_value(struct kymo_strbuf *buf, const struct kymo_type *type, uint64_t value) {
  (void)buf;
  (void)type;
  (void)value;
}

static int trace_cmd_begin(struct kymo_sink_state **out, struct kymo_trace *trace,
                           const struct kymo_sink_options *options, struct kymo_error *error) {
  static const struct kymo_option_kind none[] = {{0}};
  struct kymo_sink_state *state = *out = calloc(1, sizeof *state);
  if (!state)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  int status = kymo_sink_options_read(FORMAT, options->text, none, state, error);
  if (status >= 0)
    status = kymo_print_begin(&state->print, trace, options->out, write_label, write_value, error);
  if (status < 0)
    return status;
  set_second(state, 0);
  struct kymo_print *print = &state->print;
  const struct kymo_numbers *numbers = &print->whos.numbers;
  state->classes = kymo_arena_array(&print->arena, (size_t)numbers->class_count + 1, sizeof *state->classes);
  state->losses = kymo_arena_array(&print->arena, (size_t)numbers->stream_count + 1, sizeof *state->losses);
  state->writers = kymo_arena_array(&print->arena, (size_t)numbers->stream_count + 1, sizeof *state->writers);
  if (!state->classes || !state->losses || !state->writers)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  return begin_parts(state, error);
}

static int trace_cmd_end(struct kymo_sink_state *state, struct kymo_error *error) {
  if (!state)
    return KYMO_OK;
  kymo_strbuf_free(&state->text);
  int status = kymo_print_end(&state->print, error);
  free(state);
  return status;
}

const struct kymo_sink kymo_sink_trace_cmd = {
    KYMO_SINK_ABI,
    .name = FORMAT,
    .summary = "events of the Linux kernel as trace-cmd report -N prints them",
    .begin = trace_cmd_begin,
    .event = trace_cmd_event,
    .loss = trace_cmd_loss,
    .end = trace_cmd_end,
};
