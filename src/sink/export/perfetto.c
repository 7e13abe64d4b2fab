/* SPDX-License-Identifier: MIT */
/*
 * perfetto: a trace of Perfetto (ui.perfetto.dev, trace_processor), packets of Protocol Buffers.
 *
 *   TracePacket ── clock_snapshot, defaults         the first one: which clock the times are of
 *               ── track_descriptor                 processes, threads, rows of spans that overlap, losses
 *               ── track_event, interned_data       begins and ends of spans, instants; names that are new
 *
 * Numbers of fields: protos/perfetto/trace/trace_packet.proto and track_event/…, of Perfetto's sources.
 */
#include "base/fail.h"
#include "base/hash.h"
#include "base/list.h"
#include "sink/export/annotations.h"
#include "sink/export/file.h"
#include "sink/export/slices.h"
#include <inttypes.h>
#include <stdlib.h>

enum { TRACE_PACKET = 1 };
enum {
  PACKET_CLOCKS = 6,
  PACKET_TIME = 8,
  PACKET_SEQUENCE = 10,
  PACKET_EVENT = 11,
  PACKET_NAMES = 12,
  PACKET_FLAGS = 13,
  PACKET_CLOCK = 58,
  PACKET_DEFAULTS = 59,
  PACKET_TRACK = 60
};
enum { SNAPSHOT_CLOCK = 1, SNAPSHOT_PRIMARY = 2, CLOCK_ID = 1, CLOCK_TIME = 2 };
enum { REALTIME = 1, MONOTONIC = 3 };
enum { FLAG_CLEARED = 1, FLAG_NEEDS_STATE = 2 };
enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_THREAD = 4, TRACK_PARENT = 5 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6, THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum { EVENT_ANNOTATION = 4, EVENT_TYPE = 9, EVENT_NAME = 10, EVENT_TRACK = 11 };
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3 };
enum { NAMES_OF_EVENTS = 2, NAMES_OF_ANNOTATIONS = 3 };

/* Numbers of tracks: what it is of, and which. */
enum track_of { OF_PROCESS = 1, OF_ROW, OF_KIND, OF_LOSSES };

struct kymo_sink_state {
  struct kymo_slices slices;
  struct kymo_annotations annotations;
  struct kymo_interned event_names;
  struct kymo_export_file file;
  struct kymo_strbuf head, packet, names;
  uint64_t *kinds; /* tracks of kinds of rows that are described */
  size_t kind_count, kind_capacity;
  bool *has_losses; /* by stream number: its track of losses is described */
  bool has_begun;
  bool has_failed;
};

static int no_memory(struct kymo_error *error) { return kymo_fail(error, KYMO_E_MEMORY, "out of memory"); }

static uint64_t track(enum track_of what, uint64_t which) { return (uint64_t)what << 56 | (which + 1); }

/* ---- packets ---- */

static void begin_packet(struct kymo_sink_state *state) {
  state->packet.length = state->names.length = 0;
  kymo_proto_number(&state->packet, PACKET_SEQUENCE, 1);
  kymo_proto_number(&state->packet, PACKET_FLAGS, FLAG_NEEDS_STATE);
}

static int put(struct kymo_sink_state *state, const struct kymo_strbuf *packet, struct kymo_error *error) {
  struct kymo_strbuf *head = &state->head;
  head->length = 0;
  kymo_proto_varint(head, TRACE_PACKET << 3 | KYMO_PROTO_LENGTH);
  kymo_proto_varint(head, packet->length);
  if (packet->failed || head->failed)
    return no_memory(error);
  kymo_out_bytes(&state->file.out, head->text, head->length);
  kymo_out_bytes(&state->file.out, packet->text, packet->length);
  return kymo_out_check(&state->file.out, error);
}

/* The first packet: all times are of one clock, which is that of the trace. */
static int put_clock(struct kymo_sink_state *state, bool is_epoch, int64_t time_ns,
                     struct kymo_error *error) {
  const uint64_t clock = is_epoch ? REALTIME : MONOTONIC;
  struct kymo_strbuf *out = &state->packet;
  state->has_begun = true;
  out->length = 0;
  kymo_proto_number(out, PACKET_SEQUENCE, 1);
  kymo_proto_number(out, PACKET_FLAGS, FLAG_CLEARED);
  size_t defaults = kymo_proto_open(out, PACKET_DEFAULTS);
  kymo_proto_number(out, PACKET_CLOCK, clock);
  kymo_proto_close(out, defaults);
  size_t snapshot = kymo_proto_open(out, PACKET_CLOCKS), one = kymo_proto_open(out, SNAPSHOT_CLOCK);
  kymo_proto_number(out, CLOCK_ID, clock);
  kymo_proto_number(out, CLOCK_TIME, (uint64_t)time_ns);
  kymo_proto_close(out, one);
  kymo_proto_number(out, SNAPSHOT_PRIMARY, clock);
  kymo_proto_close(out, snapshot);
  return put(state, out, error);
}

static int begin_trace(struct kymo_sink_state *state, bool is_epoch, int64_t time_ns,
                       struct kymo_error *error) {
  return state->has_begun ? KYMO_OK : put_clock(state, is_epoch, time_ns < 0 ? 0 : time_ns, error);
}

/* ---- tracks ---- */

static bool is_pid(int64_t number) { return number > 0 && number <= INT32_MAX; }

static int put_track(struct kymo_sink_state *state, uint64_t uuid, uint64_t parent, const char *name,
                     struct kymo_error *error) {
  begin_packet(state);
  size_t at = kymo_proto_open(&state->packet, PACKET_TRACK);
  kymo_proto_number(&state->packet, TRACK_UUID, uuid);
  kymo_proto_name(&state->packet, TRACK_NAME, name ? name : "");
  if (parent)
    kymo_proto_number(&state->packet, TRACK_PARENT, parent);
  kymo_proto_close(&state->packet, at);
  return put(state, &state->packet, error);
}

static int put_process(struct kymo_sink_state *state, const struct kymo_slice_process *process,
                       struct kymo_error *error) {
  const uint64_t uuid = track(OF_PROCESS, process->number);
  if (!process->has_id || !is_pid(process->id))
    return put_track(state, uuid, 0, process->name, error);
  begin_packet(state);
  size_t at = kymo_proto_open(&state->packet, PACKET_TRACK);
  kymo_proto_number(&state->packet, TRACK_UUID, uuid);
  size_t own = kymo_proto_open(&state->packet, TRACK_PROCESS);
  kymo_proto_number(&state->packet, PROCESS_PID, (uint64_t)process->id);
  kymo_proto_name(&state->packet, PROCESS_NAME, process->name);
  kymo_proto_close(&state->packet, own);
  kymo_proto_close(&state->packet, at);
  return put(state, &state->packet, error);
}

static int perfetto_row(struct kymo_sink_state *state, const struct kymo_slice_row *row,
                        struct kymo_error *error) {
  const struct kymo_slice_process *process = row->process;
  const uint64_t uuid = track(OF_ROW, row->number);
  int status = row->is_first ? put_process(state, process, error) : KYMO_OK;
  if (status != KYMO_OK)
    return status;
  if (!row->has_thread || !is_pid(row->thread) || !process->has_id || !is_pid(process->id))
    return put_track(state, uuid, track(OF_PROCESS, process->number), row->name, error);
  begin_packet(state);
  size_t at = kymo_proto_open(&state->packet, PACKET_TRACK);
  kymo_proto_number(&state->packet, TRACK_UUID, uuid);
  size_t own = kymo_proto_open(&state->packet, TRACK_THREAD);
  kymo_proto_number(&state->packet, THREAD_PID, (uint64_t)process->id);
  kymo_proto_number(&state->packet, THREAD_TID, (uint64_t)row->thread);
  kymo_proto_name(&state->packet, THREAD_NAME, row->name);
  kymo_proto_close(&state->packet, own);
  kymo_proto_close(&state->packet, at);
  return put(state, &state->packet, error);
}

/* The track of a slice, described if it is that of a kind and new. */
static uint64_t track_of(struct kymo_sink_state *state, const struct kymo_slice *slice,
                         struct kymo_error *error) {
  if (!slice->is_apart)
    return track(OF_ROW, slice->row->number);
  const uint64_t uuid = track(OF_KIND, (uint64_t)slice->row->number << 24 | slice->kind);
  for (size_t i = 0; i < state->kind_count; i++)
    if (state->kinds[i] == uuid)
      return uuid;
  if (!KYMO_LIST_ROOM(state->kinds, state->kind_capacity, state->kind_count)) {
    no_memory(error);
    return 0;
  }
  state->kinds[state->kind_count++] = uuid;
  int status = put_track(state, uuid, track(OF_ROW, slice->row->number), slice->name, error);
  return status == KYMO_OK ? uuid : 0;
}

/* ---- events ---- */

static void add_names(struct kymo_sink_state *state) {
  if (state->names.length)
    kymo_proto_bytes(&state->packet, PACKET_NAMES, state->names.text, state->names.length);
  state->packet.failed |= state->names.failed | state->annotations.arguments.message.failed;
}

static int put_event(struct kymo_sink_state *state, uint64_t type, uint64_t uuid, const char *name,
                     int64_t time_ns, const struct kymo_slice *slice, struct kymo_error *error) {
  if (time_ns < 0)
    return kymo_fail(error, KYMO_E_FORMAT, "perfetto has no times before 0, and \"%s\" is at %" PRId64 " ns",
                     name, time_ns);
  begin_packet(state);
  kymo_proto_number(&state->packet, PACKET_TIME, (uint64_t)time_ns);
  size_t at = kymo_proto_open(&state->packet, PACKET_EVENT);
  kymo_proto_number(&state->packet, EVENT_TYPE, type);
  kymo_proto_number(&state->packet, EVENT_TRACK, uuid);
  if (type != TYPE_END)
    kymo_proto_number(&state->packet, EVENT_NAME,
                      kymo_interned(&state->event_names, name, &state->names, NAMES_OF_EVENTS));
  if (slice && slice->event)
    kymo_annotations_add(&state->annotations, slice->event, &state->packet, EVENT_ANNOTATION, &state->names,
                         NAMES_OF_ANNOTATIONS);
  if (slice && (slice->is_over_loss || slice->goes_on))
    kymo_annotations_flag(&state->annotations, slice->is_over_loss ? "over lost events" : "goes on",
                          &state->packet, EVENT_ANNOTATION, &state->names, NAMES_OF_ANNOTATIONS);
  kymo_proto_close(&state->packet, at);
  add_names(state);
  return put(state, &state->packet, error);
}

static int put_slice(struct kymo_sink_state *state, uint64_t type, const struct kymo_slice *slice,
                     struct kymo_error *error) {
  uint64_t uuid = track_of(state, slice, error);
  return uuid ? put_event(state, type, uuid, slice->name ? slice->name : "", slice->time_ns, slice, error)
              : error->code;
}

static int perfetto_begin_slice(struct kymo_sink_state *state, const struct kymo_slice *slice,
                                struct kymo_error *error) {
  return put_slice(state, TYPE_BEGIN, slice, error);
}

static int perfetto_end_slice(struct kymo_sink_state *state, const struct kymo_slice *slice,
                              struct kymo_error *error) {
  return put_slice(state, TYPE_END, slice, error);
}

static int perfetto_instant(struct kymo_sink_state *state, const struct kymo_slice *slice,
                            struct kymo_error *error) {
  return put_slice(state, TYPE_INSTANT, slice, error);
}

/* ---- the sink ---- */

static int take_event(struct kymo_sink_state *state, const struct kymo_event *event,
                      struct kymo_error *error) {
  if (!event->has_time)
    return kymo_fail(error, KYMO_E_FORMAT, "perfetto: event %" PRIu64 " has no time",
                     kymo_event_number(event));
  int status = begin_trace(state, kymo_event_is_epoch(event), event->time_ns, error);
  return status == KYMO_OK ? kymo_slices_event(&state->slices, event, error) : status;
}

static int perfetto_event(struct kymo_sink_state *state, const struct kymo_event *event,
                          struct kymo_error *error) {
  int status = take_event(state, event, error);
  state->has_failed |= status != KYMO_OK;
  return status;
}

static int put_loss(struct kymo_sink_state *state, const struct kymo_loss *loss, const char *name,
                    struct kymo_error *error) {
  const uint64_t uuid = track(OF_LOSSES, loss->stream->number);
  const struct kymo_clock *clock = loss->stream->class_ ? loss->stream->class_->clock : NULL;
  int status = begin_trace(state, clock && clock->origin_is_epoch, loss->begin_ns, error);
  if (status == KYMO_OK && !state->has_losses[loss->stream->number]) {
    char of[64];
    snprintf(of, sizeof of, "losses of stream %" PRIu32, loss->stream->number);
    state->has_losses[loss->stream->number] = true;
    status = put_track(state, uuid, 0, of, error);
  }
  if (status == KYMO_OK)
    status = put_event(state, TYPE_BEGIN, uuid, name, loss->begin_ns, NULL, error);
  return status == KYMO_OK ? put_event(state, TYPE_END, uuid, name, loss->end_ns, NULL, error) : status;
}

static int perfetto_loss(struct kymo_sink_state *state, const struct kymo_loss *loss,
                         struct kymo_error *error) {
  char name[KYMO_LOSS_NAME];
  kymo_slices_loss(&state->slices, loss, name);
  int status = loss->has_times ? put_loss(state, loss, name, error) : KYMO_OK;
  state->has_failed |= status != KYMO_OK;
  return status;
}

static int perfetto_end(struct kymo_sink_state *state, struct kymo_error *error) {
  if (!state)
    return KYMO_OK;
  int status = kymo_export_file_end(&state->file, !state->has_failed, error);
  kymo_slices_end(&state->slices);
  kymo_annotations_end(&state->annotations);
  kymo_interned_free(&state->event_names);
  kymo_strbuf_free(&state->head);
  kymo_strbuf_free(&state->packet);
  kymo_strbuf_free(&state->names);
  free(state->kinds);
  free(state->has_losses);
  free(state);
  return status;
}

static int perfetto_begin(struct kymo_sink_state **out, struct kymo_trace *trace,
                          const struct kymo_sink_options *options, struct kymo_error *error) {
  static const struct kymo_slice_style style = {perfetto_row, perfetto_begin_slice, perfetto_end_slice,
                                                perfetto_instant};
  struct kymo_sink_state *state = *out = calloc(1, sizeof *state);
  if (!state || !kymo_annotations_begin(&state->annotations))
    return no_memory(error);
  state->has_failed = true;
  int status = kymo_slices_begin(&state->slices, trace, &style, state, error);
  if (status != KYMO_OK)
    return status;
  state->has_losses = calloc(state->slices.whos.numbers.stream_count + 1u, sizeof *state->has_losses);
  if (!state->has_losses)
    return no_memory(error);
  status = kymo_export_file_begin(&state->file, options->path, error);
  state->has_failed = status != KYMO_OK;
  return status;
}

const struct kymo_sink kymo_sink_perfetto = {
    KYMO_SINK_ABI,
    .name = "perfetto",
    .summary = "a trace for ui.perfetto.dev: spans, instants, losses",
    .makes_files = true,
    .begin = perfetto_begin,
    .event = perfetto_event,
    .loss = perfetto_loss,
    .end = perfetto_end,
};
