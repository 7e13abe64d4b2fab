/* SPDX-License-Identifier: MIT */
/*
 * cpel and cpeldump: CPEL files as VPP's cpeldump prints them, byte for byte.
 *
 *   HHH:MM:SS:mmm:uuu TRACK EVENT DATUM
 *   └ since the section's first event, whole microseconds of both
 *
 * The columns are as wide as the longest format of the file, at least 5. The events of a section are in the
 * order of the file, sections one after another. For missing definitions, `cpel` prints what the format's
 * page says (event E%d, no datum) and `cpeldump` prints what VPP's tool does.
 */
#include "base/fail.h"
#include "decode/attribute.h"
#include "print/labels.h"
#include "print/number.h"
#include "schema/parts.h"
#include "sink/cpel/datum.h"
#include <kymo/sink.h>
#include <stdlib.h>

#define COLUMN_MIN 5
#define TRACKS 256 /* remembered */

/* How an event class is printed. */
struct view {
  const char *name; /* padded, with the blank after it */
  size_t name_length;
  struct kymo_cpel_datum datum;
  uint32_t track; /* id of the field */
  const struct kymo_type *track_type;
  size_t track_width;
};

struct track {
  const struct kymo_type *type;
  uint64_t value;
  size_t length;
  char *text;
};

struct stream_start {
  bool is_set;
  uint64_t us;
};

struct kymo_sink_state {
  struct kymo_trace *trace;
  struct kymo_out out;
  struct kymo_arena arena;
  struct kymo_numbers numbers;
  bool is_vpp;
  struct view **views;         /* by class number */
  struct stream_start *starts; /* by stream number */
  struct track tracks[TRACKS];
};

/* ---- classes ---- */

static char *pad(struct kymo_sink_state *state, const char *text, size_t length, size_t width,
                 size_t *padded) {
  *padded = (length > width ? length : width) + 1;
  char *copy = kymo_arena_alloc(&state->arena, *padded + KYMO_PIECE_SLACK);
  if (copy) {
    memset(copy, ' ', *padded);
    memcpy(copy, text, length);
  }
  return copy;
}

static size_t width_of(const struct kymo_event *event, const char *key) {
  uint64_t width = 0;
  kymo_attribute_uint(event->class_->stream->attributes, "cpel", key, &width);
  return width > COLUMN_MIN && width < 4096 ? (size_t)width : COLUMN_MIN;
}

/* The text that VPP's tool prints instead of `text`, or the same. NULL: out of memory. */
static const char *vpp_text(struct kymo_sink_state *state, const struct kymo_event *event, const char *key,
                            const char *text) {
  struct kymo_strbuf out = {0};
  if (state->is_vpp && kymo_attribute_text(event->class_->attributes, "cpel", key, &out))
    text = kymo_arena_copy(&state->arena, out.text ? out.text : "", out.length);
  bool failed = out.failed;
  kymo_strbuf_free(&out);
  return failed ? NULL : text;
}

static int fail_class(const struct kymo_event *event, struct kymo_error *error, const char *what) {
  return kymo_fail_at(error, KYMO_E_USAGE, event->packet->stream->path, KYMO_ERROR_NO_OFFSET,
                      "event \"%s\" %s: this format is for CPEL files", event->class_->name, what);
}

static int make_view(struct kymo_sink_state *state, const struct kymo_event *event, struct view **out,
                     struct kymo_error *error) {
  const struct kymo_event_class *class_ = event->class_;
  struct kymo_printfmt_fault fault;
  struct view *view = kymo_arena_alloc(&state->arena, sizeof *view);
  const char *name = vpp_text(state, event, "vpp-event", class_->name);
  const char *datum = class_->template_text ? vpp_text(state, event, "vpp-datum", class_->template_text) : "";
  if (!view || !name || !datum)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  view->name = pad(state, name, strlen(name),
                   width_of(event, state->is_vpp ? "vpp-event-width" : "event-width"), &view->name_length);
  view->track_width = width_of(event, "track-width");
  view->track = kymo_field_id(state->trace, class_, "track");
  if (!kymo_cpel_has_datum(class_) || !class_->template_text)
    return fail_class(event, error, "has not a track and a datum alone");
  view->track_type = kymo_type_member(class_->stream->common_context, "track")->type;
  if (!view->name)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (!kymo_cpel_datum_begin(&view->datum, &state->arena, state->trace, class_, datum, &fault))
    return fault.what ? fail_class(event, error, "has a format of others")
                      : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  *out = view;
  return KYMO_OK;
}

/* ---- columns ---- */

/* HHH:MM:SS:mmm:uuu and a blank. An event before the first of its section has a negative time. */
static void print_time(struct kymo_sink_state *state, const struct kymo_event *event) {
  struct stream_start *start = &state->starts[event->packet->stream->number];
  uint64_t now = (uint64_t)(event->time_ns / 1000);
  if (!start->is_set)
    *start = (struct stream_start){true, now};
  char *at = kymo_out_room(&state->out, 64);
  uint64_t us = now - start->us;
  if (now < start->us) {
    *at++ = '-';
    us = 0 - us;
  }
  uint64_t seconds = us / 1000000, hours = seconds / 3600, rest = seconds % 3600;
  uint32_t micros = (uint32_t)(us % 1000000);
  *at = '0';
  at = hours < 100 ? kymo_put_pair(at + 1, (uint32_t)hours) : kymo_put_u64(at, hours);
  *at++ = ':';
  at = kymo_put_pair(at, (uint32_t)rest / 60);
  *at++ = ':';
  at = kymo_put_pair(at, (uint32_t)rest % 60);
  *at++ = ':';
  char digits[8];
  kymo_put_eight(digits, micros);
  memcpy(at, digits + 2, 3);
  at[3] = ':';
  memcpy(at + 4, digits + 5, 3);
  at[7] = ' ';
  state->out.at = at + 8;
}

/* The text of a track, padded; NULL: out of memory. */
static const struct track *find_track(struct kymo_sink_state *state, const struct view *view,
                                      uint64_t value) {
  struct track *track = &state->tracks[value % TRACKS];
  if (track->text && track->value == value && track->type == view->track_type)
    return track;
  char number[24];
  *kymo_put_i64(number, (int32_t)value) = '\0';
  struct kymo_labels labels = kymo_labels_begin(view->track_type, value);
  const char *label = view->track_type->mapping_count ? kymo_labels_next(&labels) : NULL;
  const char *text = label ? label : number;
  size_t length = strlen(text), padded = (length > view->track_width ? length : view->track_width) + 1;
  char *copy = realloc(track->text, padded);
  if (!copy)
    return NULL;
  memset(copy, ' ', padded);
  memcpy(copy, text, length);
  *track = (struct track){view->track_type, value, padded, copy};
  return track;
}

static int cpel_event(struct kymo_sink_state *state, const struct kymo_event *event,
                      struct kymo_error *error) {
  struct view **view = &state->views[kymo_event_get_class_number(event)];
  int status = *view ? KYMO_OK : make_view(state, event, view, error);
  if (status != KYMO_OK)
    return status;
  const struct track *track = find_track(state, *view, kymo_cpel_number_of(event, (*view)->track));
  if (!track)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  print_time(state, event);
  kymo_out_bytes(&state->out, track->text, track->length);
  kymo_out_bytes(&state->out, (*view)->name, (*view)->name_length);
  kymo_cpel_datum_print(&state->out, &(*view)->datum, event);
  kymo_out_byte(&state->out, '\n');
  return state->out.error_number ? kymo_out_check(&state->out, error) : KYMO_OK;
}

/* ---- life ---- */

static int cpel_end(struct kymo_sink_state *state, struct kymo_error *error) {
  int status = KYMO_OK;
  if (!state)
    return status;
  if (state->out.data)
    status = kymo_out_finish(&state->out, error);
  for (size_t i = 0; i < TRACKS; i++)
    free(state->tracks[i].text);
  kymo_numbers_end(&state->numbers);
  kymo_arena_free(&state->arena);
  free(state);
  return status;
}

static int begin(struct kymo_sink_state **out, struct kymo_trace *trace,
                 const struct kymo_sink_options *options, bool is_vpp, struct kymo_error *error) {
  struct kymo_sink_state *state = *out = calloc(1, sizeof *state);
  if (!state)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  state->trace = trace;
  state->is_vpp = is_vpp;
  int status = kymo_out_begin(&state->out, options->out, error);
  if (status == KYMO_OK)
    status = kymo_numbers_begin(&state->numbers, trace, error);
  if (status != KYMO_OK)
    return status;
  state->views = kymo_arena_array(&state->arena, state->numbers.class_count + 1u, sizeof *state->views);
  state->starts = kymo_arena_array(&state->arena, state->numbers.stream_count + 1u, sizeof *state->starts);
  return state->views && state->starts ? KYMO_OK : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
}

static int cpel_begin(struct kymo_sink_state **out, struct kymo_trace *trace,
                      const struct kymo_sink_options *options, struct kymo_error *error) {
  return begin(out, trace, options, false, error);
}

static int cpeldump_begin(struct kymo_sink_state **out, struct kymo_trace *trace,
                          const struct kymo_sink_options *options, struct kymo_error *error) {
  return begin(out, trace, options, true, error);
}

const struct kymo_sink kymo_sink_cpel = {
    KYMO_SINK_ABI,
    .name = "cpel",
    .summary = "CPEL files as cpeldump prints them, with the defaults of the format's page",
    .unmerged = true,
    .begin = cpel_begin,
    .event = cpel_event,
    .end = cpel_end,
};

const struct kymo_sink kymo_sink_cpeldump = {
    KYMO_SINK_ABI,    .name = "cpeldump",      .summary = "what VPP's cpeldump prints, byte for byte",
    .unmerged = true, .begin = cpeldump_begin, .event = cpel_event,
    .end = cpel_end,
};
