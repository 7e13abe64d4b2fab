/* SPDX-License-Identifier: MIT */
/*
 * chrome: the JSON of Chrome's trace viewer ("Trace Event Format"), which Perfetto and Speedscope open too.
 *
 *   {"displayTimeUnit":"ns","traceEvents":[
 *   {"ph":"M","name":"thread_name","pid":4700,"tid":4711,"args":{"name":"worker"}},
 *   {"ph":"B","name":"job","pid":4700,"tid":4711,"ts":12.345,"args":{"i":1}},
 *   {"ph":"E","pid":4700,"tid":4711,"ts":13.001,"args":{}},
 *   {"ph":"i","s":"t","name":"net:rx","pid":4700,"tid":4711,"ts":14.000,"args":{"port":80}}
 *   ],"otherData":{"origin_ns":"1700000000123456789","epoch":"true"}}
 *
 * Times are microseconds since the first event, since viewers read them as doubles. Spans that overlap others
 * are asynchronous ("b" and "e"), with the number of their row and kind as their id; so are losses.
 */
#include "base/fail.h"
#include "print/json_writer.h"
#include "sink/export/arguments.h"
#include "sink/export/file.h"
#include "sink/export/slices.h"
#include <inttypes.h>
#include <stdlib.h>

struct kymo_sink_state {
  struct kymo_slices slices;
  struct kymo_arguments arguments;
  struct kymo_export_file file;
  struct kymo_strbuf line;
  bool has_origin, is_epoch, has_lines;
  int64_t origin_ns;
  uint64_t loss_count;
  bool has_failed;
};

static int no_memory(struct kymo_error *error) { return kymo_fail(error, KYMO_E_MEMORY, "out of memory"); }

/* ---- lines ---- */

static void begin_line(struct kymo_sink_state *state, const char *phase) {
  state->line.length = 0;
  kymo_strbuf_puts(&state->line, state->has_lines ? ",\n{\"ph\":\"" : "{\"ph\":\"");
  kymo_strbuf_puts(&state->line, phase);
  kymo_strbuf_puts(&state->line, "\"");
  state->has_lines = true;
}

static void add_text(struct kymo_sink_state *state, const char *key, const char *text) {
  kymo_strbuf_printf(&state->line, ",\"%s\":", key);
  kymo_json_add_text(&state->line, text ? text : "");
}

static int end_line(struct kymo_sink_state *state, struct kymo_error *error) {
  kymo_strbuf_puts(&state->line, "}");
  if (state->line.failed || state->arguments.text.failed || state->arguments.message.failed)
    return no_memory(error);
  kymo_out_bytes(&state->file.out, state->line.text, state->line.length);
  return kymo_out_check(&state->file.out, error);
}

static void set_origin(struct kymo_sink_state *state, int64_t time_ns, bool is_epoch) {
  if (state->has_origin)
    return;
  state->has_origin = true;
  state->origin_ns = time_ns;
  state->is_epoch = is_epoch;
}

static void add_time(struct kymo_sink_state *state, int64_t time_ns) {
  const bool is_below = time_ns < state->origin_ns;
  const uint64_t ns = is_below ? (uint64_t)state->origin_ns - (uint64_t)time_ns
                               : (uint64_t)time_ns - (uint64_t)state->origin_ns;
  kymo_strbuf_printf(&state->line, ",\"ts\":%s%" PRIu64 ".%03u", is_below ? "-" : "", ns / 1000,
                     (unsigned)(ns % 1000));
}

/* A process and thread that are not known have their own numbers. */
static int64_t process_of(const struct kymo_slice_row *row) {
  return row->process->has_id ? row->process->id : (int64_t)row->process->number + 1;
}
static int64_t thread_of(const struct kymo_slice_row *row) {
  return row->has_thread ? row->thread : (int64_t)row->number + 1;
}

static void add_row(struct kymo_sink_state *state, const struct kymo_slice_row *row) {
  kymo_strbuf_printf(&state->line, ",\"pid\":%" PRId64 ",\"tid\":%" PRId64, process_of(row), thread_of(row));
}

static void add_arguments(struct kymo_sink_state *state, const struct kymo_slice *slice) {
  kymo_strbuf_puts(&state->line, ",\"args\":{");
  if (slice->event) {
    kymo_arguments_add(&state->arguments, slice->event);
    kymo_strbuf_add(&state->line, state->arguments.text.text ? state->arguments.text.text : "",
                    state->arguments.text.length);
  }
  const bool has_more = slice->event && state->arguments.text.length > 0;
  if (slice->is_over_loss)
    kymo_strbuf_printf(&state->line, "%s\"over lost events\":true", has_more ? "," : "");
  else if (slice->goes_on)
    kymo_strbuf_puts(&state->line, "\"goes on\":true");
  kymo_strbuf_puts(&state->line, "}");
}

/* ---- rows and slices ---- */

static int add_name(struct kymo_sink_state *state, const struct kymo_slice_row *row, const char *what,
                    const char *name, struct kymo_error *error) {
  begin_line(state, "M");
  add_text(state, "name", what);
  add_row(state, row);
  kymo_strbuf_puts(&state->line, ",\"args\":{\"name\":");
  kymo_json_add_text(&state->line, name);
  kymo_strbuf_puts(&state->line, "}");
  return end_line(state, error);
}

static int chrome_row(struct kymo_sink_state *state, const struct kymo_slice_row *row,
                      struct kymo_error *error) {
  int status = row->is_first ? add_name(state, row, "process_name", row->process->name, error) : KYMO_OK;
  return status == KYMO_OK ? add_name(state, row, "thread_name", row->name, error) : status;
}

static int put_edge(struct kymo_sink_state *state, const struct kymo_slice *slice, const char *phase,
                    const char *apart, struct kymo_error *error) {
  begin_line(state, slice->is_apart ? apart : phase);
  add_text(state, "name", slice->name);
  if (slice->is_apart)
    kymo_strbuf_printf(&state->line, ",\"cat\":\"span\",\"id\":\"%" PRIu32 ".%" PRIu32 "\"",
                       slice->row->number, slice->kind);
  add_row(state, slice->row);
  add_time(state, slice->time_ns);
  add_arguments(state, slice);
  return end_line(state, error);
}

static int chrome_begin_slice(struct kymo_sink_state *state, const struct kymo_slice *slice,
                              struct kymo_error *error) {
  return put_edge(state, slice, "B", "b", error);
}

static int chrome_end_slice(struct kymo_sink_state *state, const struct kymo_slice *slice,
                            struct kymo_error *error) {
  return put_edge(state, slice, "E", "e", error);
}

static int chrome_instant(struct kymo_sink_state *state, const struct kymo_slice *slice,
                          struct kymo_error *error) {
  begin_line(state, "i");
  kymo_strbuf_puts(&state->line, ",\"s\":\"t\"");
  add_text(state, "name", slice->name);
  add_row(state, slice->row);
  add_time(state, slice->time_ns);
  add_arguments(state, slice);
  return end_line(state, error);
}

/* ---- the sink ---- */

static int take_event(struct kymo_sink_state *state, const struct kymo_event *event,
                      struct kymo_error *error) {
  if (!event->has_time)
    return kymo_fail(error, KYMO_E_FORMAT, "chrome: event %" PRIu64 " has no time", kymo_event_number(event));
  set_origin(state, event->time_ns, kymo_event_is_epoch(event));
  return kymo_slices_event(&state->slices, event, error);
}

static int chrome_event(struct kymo_sink_state *state, const struct kymo_event *event,
                        struct kymo_error *error) {
  int status = take_event(state, event, error);
  state->has_failed |= status != KYMO_OK;
  return status;
}

static int put_loss(struct kymo_sink_state *state, const struct kymo_loss *loss, const char *name,
                    const char *phase, int64_t time_ns, struct kymo_error *error) {
  begin_line(state, phase);
  add_text(state, "name", name);
  kymo_strbuf_printf(&state->line,
                     ",\"cat\":\"lost\",\"id\":\"lost %" PRIu64 "\",\"pid\":%" PRIu32 ",\"tid\":0",
                     state->loss_count, loss->stream->part->index + 1);
  add_time(state, time_ns);
  kymo_strbuf_puts(&state->line, ",\"args\":{\"stream\":");
  kymo_json_add_text(&state->line, loss->stream->path ? loss->stream->path : "");
  kymo_strbuf_puts(&state->line, "}");
  return end_line(state, error);
}

static int chrome_loss(struct kymo_sink_state *state, const struct kymo_loss *loss,
                       struct kymo_error *error) {
  char name[KYMO_LOSS_NAME];
  kymo_slices_loss(&state->slices, loss, name);
  if (!loss->has_times)
    return KYMO_OK;
  set_origin(state, loss->begin_ns, true);
  state->loss_count++;
  int status = put_loss(state, loss, name, "b", loss->begin_ns, error);
  if (status == KYMO_OK)
    status = put_loss(state, loss, name, "e", loss->end_ns, error);
  state->has_failed |= status != KYMO_OK;
  return status;
}

static int chrome_end(struct kymo_sink_state *state, struct kymo_error *error) {
  if (!state)
    return KYMO_OK;
  char tail[128];
  if (state->file.out.data && !state->has_failed) {
    int length =
        snprintf(tail, sizeof tail, "\n],\"otherData\":{\"origin_ns\":\"%" PRId64 "\",\"epoch\":\"%s\"}}\n",
                 state->origin_ns, state->is_epoch ? "true" : "false");
    kymo_out_bytes(&state->file.out, tail, (size_t)length);
  }
  int status = kymo_export_file_end(&state->file, !state->has_failed, error);
  kymo_slices_end(&state->slices);
  kymo_arguments_end(&state->arguments);
  kymo_strbuf_free(&state->line);
  free(state);
  return status;
}

static int chrome_begin(struct kymo_sink_state **out, struct kymo_trace *trace,
                        const struct kymo_sink_options *options, struct kymo_error *error) {
  static const struct kymo_slice_style style = {chrome_row, chrome_begin_slice, chrome_end_slice,
                                                chrome_instant};
  struct kymo_sink_state *state = *out = calloc(1, sizeof *state);
  if (!state || !kymo_arguments_begin(&state->arguments))
    return no_memory(error);
  state->has_failed = true;
  int status = kymo_slices_begin(&state->slices, trace, &style, state, error);
  if (status == KYMO_OK)
    status = kymo_export_file_begin(&state->file, options->path, error);
  if (status != KYMO_OK)
    return status;
  state->has_failed = false;
  kymo_out_literal(&state->file.out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
  return KYMO_OK;
}

const struct kymo_sink kymo_sink_chrome = {
    KYMO_SINK_ABI,
    .name = "chrome",
    .summary = "JSON for Chrome's trace viewer, Perfetto and Speedscope",
    .makes_files = true,
    .begin = chrome_begin,
    .event = chrome_event,
    .loss = chrome_loss,
    .end = chrome_end,
};
