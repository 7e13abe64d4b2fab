/* SPDX-License-Identifier: MIT */
/* The view as a whole: opening, what it says of itself, throwing an index away. */
#include "view/state.h"
#include "base/fail.h"
#include "base/list.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

char *view_copy(const char *text) { return strdup(text ? text : ""); }

/* ---- life ---- */

static void clear_tracks(struct view *view) {
  for (uint32_t i = 0; i < view->track_count; i++) {
    struct view_track *track = &view->tracks[i];
    for (uint32_t k = 0; k < track->lane_count; k++)
      view_series_free(&track->lanes[k].spans);
    view_series_free(&track->events);
    free(track->lanes);
    free(track->name);
    free(track->stream);
  }
  free(view->tracks);
}

void view_clear(struct view *view) {
  view_build_end(view);
  if (view->options.is_live)
    view_close_reader(view);
  clear_tracks(view);
  for (uint32_t i = 0; i < view->kind_count; i++)
    free(view->kinds[i].name);
  for (uint32_t i = 0; i < view->span_kind_count; i++) {
    kymo_samples_free(&view->span_kinds[i].samples);
    free(view->span_kinds[i].name);
  }
  for (uint32_t i = 0; i < view->part_count; i++)
    free(view->parts[i]);
  for (size_t i = 0; i < view->problem_count; i++) {
    free(view->problems[i].path);
    free(view->problems[i].message);
  }
  free(view->kinds);
  free(view->span_kinds);
  free(view->parts);
  free(view->problems);
  free(view->losses);
  free(view->streams);
  view_marks_end(&view->numbered);
  view_unsorted_free(&view->unsorted);
  view_store_end(&view->store);
  view_store_end(&view->origins);
  *view = (struct view){.options = view->options,
                        .paths = view->paths,
                        .identity_text = view->identity_text,
                        .field = view->field,
                        .identity = view->identity,
                        .rebuilt = view->rebuilt,
                        .reader = view->reader,
                        .reader_number = view->reader_number,
                        .overwritten_ns = INT64_MIN,
                        .hole = view->hole,
                        .match = view->match,
                        .until_us = view->until_us,
                        .reached = view->reached,
                        .read = view->read,
                        .fields = view->fields,
                        .text = view->text};
}

static int begin(struct view *view, struct kymo_error *error) {
  view_identity_free(&view->identity);
  view_identify_settled(view, &view->identity);
  int status = view_new_store(view, error);
  return status == KYMO_OK ? view_build_begin(view, error) : status;
}

int view_restart(struct view *view, struct kymo_error *error) {
  view_clear(view);
  view_close_reader(view); /* the files may be others */
  view->rebuilt++;
  return begin(view, error);
}

static bool copy_options(struct view *view, const struct view_options *options) {
  view->options = *options;
  view->paths = calloc(options->path_count + 1, sizeof *view->paths);
  view->identity_text = view_copy(options->identity);
  view->field = options->by == VIEW_BY_FIELD ? view_copy(options->field) : NULL;
  bool is_done = view->paths && view->identity_text && (options->by != VIEW_BY_FIELD || view->field);
  for (size_t i = 0; i < options->path_count && is_done; i++)
    is_done = (view->paths[i] = view_copy(options->paths[i])) != NULL;
  return is_done;
}

int view_open(struct view **out, const struct view_options *options, struct kymo_error *error) {
  struct view *view = calloc(1, sizeof *view);
  *out = NULL;
  if (!view || !copy_options(view, options)) {
    view_close(view);
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  }
  view->overwritten_ns = INT64_MIN;
  view_identify(view, &view->identity);
  int status = options->is_fresh ? KYMO_END : view_load(view, error);
  if (status == KYMO_END) {
    view_clear(view);
    status = begin(view, error);
  }
  if (status == KYMO_OK)
    *out = view;
  else
    view_close(view);
  return status;
}

void view_close(struct view *view) {
  if (!view)
    return;
  view_clear(view);
  view_close_reader(view);
  for (size_t i = 0; view->paths && i < view->options.path_count; i++)
    free(view->paths[i]);
  free(view->paths);
  free(view->identity_text);
  free(view->field);
  view_identity_free(&view->identity);
  kymo_strbuf_free(&view->text);
  free(view);
}

/* ---- time ---- */

static int64_t now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

void view_set_budget(struct view *view, int64_t us) { view->until_us = us ? now_us() + us : 0; }

bool view_is_late(const struct view *view) { return view->until_us && now_us() >= view->until_us; }

int view_prepare(struct view *view, const uint32_t *tracks, size_t count, struct view_filter *filter) {
  int status = KYMO_OK;
  for (size_t i = 0; i < (tracks ? count : view->track_count) && status == KYMO_OK; i++) {
    uint32_t track = tracks ? tracks[i] : (uint32_t)i;
    if (track >= view->track_count)
      return KYMO_E_UNKNOWN;
    status = view_trust_all(view, &view->tracks[track].events);
    if (status == KYMO_OK && filter)
      status = view_filter_prepare(filter, track);
  }
  return status == KYMO_OK && !view_is_whole(view) ? KYMO_AGAIN : status;
}

/* ---- trust ---- */

int view_agree(struct view *view, struct kymo_error *error) {
  enum { LOOK_US = 500000 };
  int64_t time_us = now_us();
  if (time_us - view->looked_us > LOOK_US) {
    view->looked_us = time_us;
    view_expect_same(view, NULL);
  }
  return view->is_wrong ? kymo_fail(error, KYMO_E_FORMAT, "the trace is indexed anew: ask again") : KYMO_OK;
}

int view_disagree(struct view *view, struct kymo_trace *trace, struct kymo_error *error) {
  enum view_change change = view_change_of(view, trace);
  bool has_changed = change != VIEW_SAME;
  if (change == VIEW_GONE)
    return kymo_fail(error, KYMO_E_FORMAT, "the files of the trace are gone");
  view->is_wrong |= !view->options.is_live && (has_changed || view->is_from_cache);
  if (view->is_from_cache)
    return KYMO_AGAIN;
  return kymo_fail(error, KYMO_E_FORMAT,
                   has_changed ? "the trace has changed: it is indexed anew"
                               : "the trace is not what was indexed");
}

static uint32_t count_codes(const struct view *view, const struct view_series *series) {
  return series->kind == VIEW_SPANS ? view->span_kind_count : view->kind_count;
}

bool view_is_whole(struct view *view) {
  view->is_wrong |= view->store.guard && view_store_is_cut(&view->store);
  return !view->is_wrong;
}

static bool trust_leaves(struct view *view, const struct view_series *series, size_t chunk) {
  struct view_unchecked *unchecked = &series->unchecked[chunk];
  if (!unchecked->has_leaves)
    return true;
  if (!view_series_check_leaves(series, &view->store, chunk, count_codes(view, series)))
    return view->is_wrong = true, false;
  unchecked->has_leaves = false;
  return true;
}

bool view_check_block(struct view *view, const struct view_series *series, uint64_t block) {
  struct view_unchecked *unchecked = &series->unchecked[block / VIEW_CHUNK];
  if (view->is_wrong || !trust_leaves(view, series, (size_t)(block / VIEW_CHUNK)))
    return false;
  if (!view_series_check_block(series, &view->store, block, count_codes(view, series)))
    return view->is_wrong = true, false;
  unchecked->blocks &= ~(UINT64_C(1) << block % VIEW_CHUNK);
  return true;
}

static bool trust_chunk(struct view *view, const struct view_series *series, size_t chunk) {
  if (!trust_leaves(view, series, chunk))
    return false;
  for (uint64_t left; (left = series->unchecked[chunk].blocks) != 0;)
    if (!view_check_block(view, series, chunk * UINT64_C(64) + (uint64_t)__builtin_ctzll(left)))
      return false;
  return true;
}

int view_trust_all(struct view *view, const struct view_series *series) {
  for (size_t i = 0; series->unchecked && i < series->summary_count && !view->is_wrong; i++) {
    bool is_new = series->unchecked[i].has_leaves || series->unchecked[i].blocks;
    if (!trust_chunk(view, series, i))
      return KYMO_AGAIN;
    if (is_new && view_is_late(view))
      return VIEW_LATER;
  }
  return view_is_whole(view) ? KYMO_OK : KYMO_AGAIN;
}

bool view_trust(struct view *view, const struct view_series *series, uint64_t begin, uint64_t end) {
  if (view->is_wrong)
    return false;
  for (uint64_t i = begin / VIEW_CHUNK_ENTRIES; series->unchecked && i < series->summary_count; i++) {
    if (i > begin / VIEW_CHUNK_ENTRIES && i * VIEW_CHUNK_ENTRIES >= end)
      break;
    if (!trust_chunk(view, series, (size_t)i))
      return false;
  }
  return view_is_whole(view);
}

bool view_trust_times(struct view *view, const struct view_series *series, int64_t begin_ns, int64_t end_ns) {
  if (!series->unchecked)
    return view_trust(view, series, 0, 0);
  return view_trust(view, series, view_series_chunk(series, begin_ns) * (uint64_t)VIEW_CHUNK_ENTRIES,
                    (view_series_chunk(series, end_ns) + UINT64_C(1)) * VIEW_CHUNK_ENTRIES);
}

bool view_trust_window(struct view *view, const struct view_series *series, int64_t begin_ns,
                       int64_t end_ns) {
  if (view->is_wrong)
    return false;
  if (!series->unchecked || !series->summary_count)
    return view_is_whole(view);
  size_t last = view_series_chunk(series, end_ns);
  for (size_t i = view_series_chunk(series, begin_ns); i <= last; i++)
    if (!trust_leaves(view, series, i))
      return false;
  return view_is_whole(view);
}

/* ---- what there is ---- */

/* How much of the files is read. */
static double progress_of(const struct view *view) {
  double part = view->identity.bytes ? (double)view->bytes_read / (double)view->identity.bytes : -1;
  return view->is_complete ? 1 : view->options.is_live ? -1 : part < 1 ? part : 1;
}

void view_info(const struct view *view, struct view_info *info) {
  *info = (struct view_info){.events = view->events,
                             .begin_ns = view->begin_ns,
                             .end_ns = view->end_ns,
                             .has_times = view->has_times,
                             .is_epoch = view->is_epoch,
                             .is_complete = view->is_complete,
                             .is_from_cache = view->is_from_cache,
                             .is_gone = view->is_gone,
                             .is_kept = *view->identity.path,
                             .rebuilt = view->rebuilt,
                             .tracks = view->track_count,
                             .kinds = view->kind_count,
                             .span_kinds = view->span_kind_count,
                             .spans = view->spans,
                             .undrawn_spans = view->undrawn,
                             .index_bytes = view->store.used,
                             .progress = progress_of(view),
                             .losses = view->loss_total,
                             .lost_events = view->lost.events,
                             .lost_packets = view->lost.packets,
                             .unknown_losses = view->lost.unknown};
}

bool view_is_wrong(const struct view *view) { return view->is_wrong; }

static void range_of(const struct view_series *series, struct view_track_info *info) {
  info->begin_ns = series->summary_count ? series->summaries[0].time_ns
                   : series->tail_count  ? series->tail[0].time_ns
                                         : 0;
  info->end_ns = series->tail_count ? series->tail[series->tail_count - 1].time_ns : info->begin_ns;
}

bool view_track(const struct view *view, uint32_t number, struct view_track_info *info) {
  if (number >= view->track_count)
    return false;
  const struct view_track *track = &view->tracks[number];
  *info = (struct view_track_info){.name = track->name,
                                   .part = view->parts[track->part],
                                   .part_index = track->part,
                                   .has_process = track->has_process,
                                   .process = track->process,
                                   .events = track->events.count,
                                   .lanes = track->lane_count,
                                   .deeper_spans = track->deeper};
  for (uint32_t i = 0; i < track->lane_count; i++)
    info->spans += track->lanes[i].spans.count;
  range_of(&track->events, info);
  return true;
}

bool view_kind(const struct view *view, uint32_t number, struct view_kind_info *info) {
  if (number >= view->kind_count)
    return false;
  *info =
      (struct view_kind_info){view->kinds[number].name, view->kinds[number].events, view->kinds[number].edge};
  return true;
}

uint32_t view_kind_find(const struct view *view, const char *name) {
  for (uint32_t i = 0; i < view->kind_count; i++)
    if (strcmp(view->kinds[i].name, name) == 0)
      return i;
  return UINT32_MAX;
}

const char *view_span_kind(const struct view *view, uint32_t kind) {
  return kind < view->span_kind_count ? view->span_kinds[kind].name : NULL;
}

const struct view_loss *view_losses(const struct view *view, size_t *count) {
  *count = view->loss_count;
  return view->losses;
}

bool view_problem(const struct view *view, size_t index, struct view_problem *problem) {
  if (index >= view->problem_count)
    return false;
  const struct view_damage *damage = &view->problems[index];
  *problem = (struct view_problem){damage->path, damage->offset, damage->bytes_lost, damage->message};
  return true;
}
