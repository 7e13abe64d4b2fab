/* SPDX-License-Identifier: MIT */
/*
 * The catalog of an index: all but the blocks and leaves, in bytes. Nothing that is read is trusted: sizes
 * are checked where they are used, numbers lead to something that is there, sums fit.
 *
 *   totals · parts · kinds · kinds of spans · tracks (events, lanes) · losses · problems
 */
#include "view/state.h"
#include "base/bytes.h"
#include <stdlib.h>
#include <string.h>

/* ---- writing ---- */

static void put(struct kymo_strbuf *out, uint64_t value) {
  uint8_t bytes[8];
  kymo_store_le64(bytes, value);
  kymo_strbuf_add(out, (const char *)bytes, sizeof bytes);
}

static void put_text(struct kymo_strbuf *out, const char *text) {
  put(out, text ? strlen(text) : 0);
  kymo_strbuf_puts(out, text ? text : "");
}

static void put_samples(struct kymo_strbuf *out, const struct kymo_samples *samples) {
  const double floats[] = {samples->total, samples->mean, samples->squares};
  put(out, samples->count);
  put(out, (uint64_t)samples->least);
  put(out, (uint64_t)samples->most);
  for (size_t i = 0; i < 3; i++)
    put(out, view_order_float(floats[i]));
  put(out, samples->below_zero);
  put(out, samples->room ? samples->count : 0);
  for (uint64_t i = 0; samples->room && i < samples->count; i++)
    put(out, (uint64_t)samples->values[i]);
  for (uint64_t side = 0; side < 2; side++)
    for (uint64_t i = 0; samples->sides[side] && i < KYMO_SAMPLES_OCTAVES; i++)
      for (uint64_t k = 0; samples->sides[side]->octaves[i] && k < KYMO_SAMPLES_STEPS; k++)
        if (samples->sides[side]->octaves[i][k]) {
          put(out, samples->sides[side]->octaves[i][k]);
          put(out, (i * KYMO_SAMPLES_STEPS + k) << 1 | side);
        }
  put(out, 0);
}

static void put_series(struct kymo_strbuf *out, const struct view_series *series) {
  put(out, series->blocks);
  put(out, series->tail_count);
  put(out, series->has_falls);
  for (size_t i = 0; i < series->summary_count; i++) {
    const struct view_summary *summary = &series->summaries[i];
    const uint64_t words[] = {(uint64_t)summary->time_ns,
                              summary->leaves,
                              summary->least,
                              summary->mask,
                              summary->most,
                              summary->where,
                              summary->check};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
      put(out, words[k]);
  }
  for (uint32_t i = 0; i < series->tail_count; i++) {
    put(out, (uint64_t)series->tail[i].time_ns);
    put(out, series->tail[i].value);
    put(out, series->tail[i].code);
  }
}

static void put_lane(struct kymo_strbuf *out, const struct view_lane *lane) {
  put(out, lane->is_open ? lane->open_kind + UINT64_C(1) : 0);
  put(out, lane->is_open ? (uint64_t)lane->open_ns : 0);
  put_series(out, &lane->spans);
}

static void put_tracks(struct kymo_strbuf *out, const struct view *view) {
  put(out, view->track_count);
  for (uint32_t i = 0; i < view->track_count; i++) {
    const struct view_track *track = &view->tracks[i];
    put_text(out, track->name);
    put(out, track->part);
    put(out, track->has_process);
    put(out, (uint64_t)track->process);
    put(out, track->lane_count);
    put(out, track->deeper);
    put_series(out, &track->events);
    for (uint32_t k = 0; k < track->lane_count; k++)
      put_lane(out, &track->lanes[k]);
  }
}

/* Which numbers have events; as many words as there are, 0: all have. */
static void put_numbers(struct kymo_strbuf *out, const struct view *view) {
  const struct view_marks *marks = &view->numbered;
  uint64_t words = marks->store.base ? (view->last_number + 63) / 64 : 0;
  put(out, words);
  for (uint64_t i = 0; i < words; i++)
    put(out, ((const uint64_t *)(const void *)(marks->store.base + marks->words))[i]);
}

static void put_losses(struct kymo_strbuf *out, const struct view *view) {
  put(out, view->loss_count);
  for (size_t i = 0; i < view->loss_count; i++) {
    const struct view_loss *loss = &view->losses[i];
    put(out, (uint64_t)loss->begin_ns);
    put(out, (uint64_t)loss->end_ns);
    put(out, loss->count);
    put(out, (uint64_t)loss->track << 32 | loss->part);
    put(out, loss->is_packets);
  }
}

void view_catalog_write(const struct view *view, struct kymo_strbuf *out) {
  const uint64_t totals[] = {view->events,
                             view->spans,
                             view->undrawn,
                             view->last_number,
                             (uint64_t)view->begin_ns,
                             (uint64_t)view->end_ns,
                             (uint64_t)view->first_ns,
                             (uint64_t)view->has_times | (uint64_t)view->is_epoch << 1 |
                                 (uint64_t)view->is_in_order << 2,
                             view->loss_total,
                             view->lost.events,
                             view->lost.packets,
                             view->lost.unknown};
  for (size_t i = 0; i < sizeof totals / sizeof *totals; i++)
    put(out, totals[i]);
  put(out, view->part_count);
  for (uint32_t i = 0; i < view->part_count; i++)
    put_text(out, view->parts[i]);
  put(out, view->kind_count);
  for (uint32_t i = 0; i < view->kind_count; i++) {
    put_text(out, view->kinds[i].name);
    put(out, view->kinds[i].events);
    put(out, view->kinds[i].edge);
  }
  put(out, view->span_kind_count);
  for (uint32_t i = 0; i < view->span_kind_count; i++) {
    put_text(out, view->span_kinds[i].name);
    put(out, (uint64_t)view->span_kinds[i].total_ns);
    put(out, (uint64_t)view->span_kinds[i].self_ns);
    put_samples(out, &view->span_kinds[i].samples);
  }
  put_tracks(out, view);
  put_numbers(out, view);
  put_losses(out, view);
  put(out, view->problem_count);
  for (size_t i = 0; i < view->problem_count; i++) {
    put_text(out, view->problems[i].path);
    put_text(out, view->problems[i].message);
    put(out, view->problems[i].offset);
    put(out, view->problems[i].bytes_lost);
  }
}

/* ---- reading ---- */

static char *get_text(struct kymo_bytes *in) {
  uint64_t length = kymo_bytes_u64(in);
  const uint8_t *at = length <= in->size ? kymo_bytes_take(in, (size_t)length) : NULL;
  char *text = at && !memchr(at, 0, (size_t)length) ? strndup((const char *)at, (size_t)length) : NULL;
  in->failed |= !text;
  return text;
}

/* How many elements follow, each of at least `bytes`: an array for them can be made. */
static uint64_t get_count(struct kymo_bytes *in, uint64_t bytes, uint64_t most) {
  uint64_t count = kymo_bytes_u64(in);
  if (in->failed || count > most || count > (in->size - in->at) / bytes) {
    in->failed = true;
    return 0;
  }
  return count;
}

static bool get_summaries(struct kymo_bytes *in, struct view_series *series, uint32_t codes) {
  for (size_t i = 0; i < series->summary_count; i++) {
    struct view_summary *summary = &series->summaries[i];
    summary->time_ns = (int64_t)kymo_bytes_u64(in);
    summary->leaves = kymo_bytes_u64(in);
    summary->least = kymo_bytes_u64(in);
    summary->mask = kymo_bytes_u64(in);
    summary->most = kymo_bytes_u64(in);
    summary->where = kymo_bytes_u64(in);
    summary->check = kymo_bytes_u64(in);
    series->mask |= summary->mask;
    uint64_t blocks = series->blocks - i * UINT64_C(64);
    series->unchecked[i] =
        (struct view_unchecked){blocks < VIEW_CHUNK ? ~(UINT64_MAX << blocks) : UINT64_MAX, true};
    if (view_where_index(summary->where) >= series->count || view_where_code(summary->where) >= codes ||
        (i > 0 && summary->time_ns < summary[-1].time_ns))
      return false;
  }
  return !in->failed;
}

static bool get_tail(struct kymo_bytes *in, struct view_series *series, uint32_t codes) {
  for (uint32_t i = 0; i < series->tail_count; i++) {
    struct view_entry *entry = &series->tail[i];
    entry->time_ns = (int64_t)kymo_bytes_u64(in);
    entry->value = kymo_bytes_u64(in);
    uint64_t code = kymo_bytes_u64(in);
    const int64_t *before = i > 0                   ? &entry[-1].time_ns
                            : series->summary_count ? &series->summaries[series->summary_count - 1].time_ns
                                                    : NULL;
    if (code >= codes || (before && entry->time_ns < *before))
      return false;
    entry->code = (uint32_t)code;
    series->mask |= UINT64_C(1) << code % 64;
  }
  return !in->failed;
}

static bool get_series(struct kymo_bytes *in, struct view_series *series, enum view_series_kind kind,
                       uint32_t codes) {
  *series = (struct view_series){.kind = kind, .blocks = kymo_bytes_u64(in)};
  uint64_t tail = kymo_bytes_u64(in), falls = kymo_bytes_u64(in), left = in->size - in->at;
  if (in->failed || falls > 1 || tail > VIEW_BLOCK || tail > left / 24 ||
      series->blocks > left * VIEW_CHUNK || (series->blocks + VIEW_CHUNK - 1) / VIEW_CHUNK > left / 56 ||
      (series->blocks && !tail))
    return false;
  series->has_falls = falls;
  series->summary_count = series->summary_capacity = (size_t)((series->blocks + VIEW_CHUNK - 1) / VIEW_CHUNK);
  series->tail_count = series->tail_capacity = (uint32_t)tail;
  series->count = series->blocks * VIEW_BLOCK + tail;
  series->summaries = calloc(series->summary_count + 1, sizeof *series->summaries);
  series->unchecked = calloc(series->summary_count + 1, sizeof *series->unchecked);
  series->tail = calloc(tail + 1, sizeof *series->tail);
  return series->summaries && series->unchecked && series->tail && get_summaries(in, series, codes) &&
         get_tail(in, series, codes);
}

static bool get_lane(struct kymo_bytes *in, const struct view *view, struct view_lane *lane) {
  uint64_t open = kymo_bytes_u64(in);
  lane->open_ns = (int64_t)kymo_bytes_u64(in);
  lane->is_open = open > 0;
  lane->open_kind = (uint32_t)(open - lane->is_open);
  return open <= view->span_kind_count && get_series(in, &lane->spans, VIEW_SPANS, view->span_kind_count);
}

static bool get_track(struct kymo_bytes *in, struct view *view, struct view_track *track) {
  track->name = get_text(in);
  uint64_t part = kymo_bytes_u64(in), has_process = kymo_bytes_u64(in);
  track->process = (int64_t)kymo_bytes_u64(in);
  uint64_t lanes = get_count(in, 32, VIEW_LANES_MAX);
  track->deeper = kymo_bytes_u64(in);
  if (in->failed || part >= view->part_count || has_process > 1)
    return false;
  track->part = (uint32_t)part;
  track->has_process = has_process;
  if (!get_series(in, &track->events, VIEW_EVENTS, view->kind_count))
    return false;
  track->lanes = calloc((size_t)lanes + 1, sizeof *track->lanes);
  for (uint64_t i = 0; i < lanes && track->lanes; i++) {
    track->lane_count++;
    if (!get_lane(in, view, &track->lanes[i]))
      return false;
  }
  return track->lanes;
}

static bool get_tracks(struct kymo_bytes *in, struct view *view) {
  uint64_t count = get_count(in, 64, VIEW_TRACKS_MAX), events = 0;
  view->tracks = calloc((size_t)count + 1, sizeof *view->tracks);
  view->track_capacity = (uint32_t)count;
  for (uint64_t i = 0; i < count && view->tracks; i++) {
    view->track_count++;
    if (!get_track(in, view, &view->tracks[i]))
      return false;
    events += view->tracks[i].events.count;
  }
  return view->tracks && !in->failed && events == view->events;
}

static bool get_numbers(struct kymo_bytes *in, struct view *view) {
  struct view_marks *marks = &view->numbered;
  uint64_t count = get_count(in, 8, UINT64_MAX / 64);
  if (count == 0)
    return !in->failed && view->last_number == view->events;
  if (view->last_number == 0 || (view->last_number - 1) / 64 + 1 != count ||
      view_marks_begin(marks, view->last_number, NULL) != KYMO_OK)
    return false;
  for (uint64_t i = 0; i < count; i++)
    for (uint64_t left = kymo_bytes_u64(in); left; left &= left - 1)
      if (!view_marks_add(marks, i * 64 + (uint64_t)__builtin_ctzll(left) + 1))
        return false;
  return marks->count == view->events && view_marks_have(marks, view->last_number);
}

static bool get_buckets(struct kymo_bytes *in, struct kymo_samples *samples) {
  uint64_t bucket_count;
  while ((bucket_count = kymo_bytes_u64(in)) != 0) {
    uint64_t place = kymo_bytes_u64(in);
    if (place > UINT32_MAX || !kymo_samples_fill(samples, place & 1, (unsigned)(place >> 1), bucket_count))
      return false;
  }
  return !in->failed;
}

/* Durations of spans; sums of numbers of any size are taken as they are. */
static bool get_samples(struct kymo_bytes *in, struct kymo_samples *samples) {
  samples->count = kymo_bytes_u64(in);
  samples->least = (int64_t)kymo_bytes_u64(in);
  samples->most = (int64_t)kymo_bytes_u64(in);
  samples->total = view_unorder_float(kymo_bytes_u64(in));
  samples->mean = view_unorder_float(kymo_bytes_u64(in));
  samples->squares = view_unorder_float(kymo_bytes_u64(in));
  samples->below_zero = kymo_bytes_u64(in);
  uint64_t values = get_count(in, 8, KYMO_SAMPLES_EXACT);
  if (in->failed || (values && values != samples->count))
    return false;
  if (values && !(samples->values = calloc((size_t)values, sizeof *samples->values)))
    return false;
  samples->room = (uint32_t)values;
  for (uint64_t i = 0; i < values; i++)
    samples->values[i] = (int64_t)kymo_bytes_u64(in);
  return get_buckets(in, samples);
}

static bool get_names(struct kymo_bytes *in, struct view *view) {
  uint64_t events = 0, count = get_count(in, 8, UINT32_MAX);
  view->parts = calloc((size_t)count + 1, sizeof *view->parts);
  for (uint64_t i = 0; i < count && view->parts && !in->failed; i++)
    view->parts[view->part_count++] = get_text(in);
  count = get_count(in, 24, VIEW_KINDS_MAX);
  view->kinds = calloc((size_t)count + 1, sizeof *view->kinds);
  for (uint64_t i = 0; i < count && view->kinds && !in->failed; i++) {
    struct view_kind *kind = &view->kinds[view->kind_count++];
    kind->name = get_text(in);
    events += kind->events = kymo_bytes_u64(in);
    uint64_t edge = kymo_bytes_u64(in);
    kind->edge = edge <= VIEW_KIND_ENDS ? (uint8_t)edge : VIEW_KIND_PLAIN;
  }
  count = get_count(in, 96, VIEW_KINDS_MAX);
  view->span_kinds = calloc((size_t)count + 1, sizeof *view->span_kinds);
  for (uint64_t i = 0; i < count && view->span_kinds && !in->failed; i++) {
    struct view_span_kind *kind = &view->span_kinds[view->span_kind_count++];
    kind->name = get_text(in);
    kind->total_ns = (int64_t)kymo_bytes_u64(in);
    kind->self_ns = (int64_t)kymo_bytes_u64(in);
    in->failed |= !get_samples(in, &kind->samples);
  }
  return view->parts && view->kinds && view->span_kinds && !in->failed && events == view->events;
}

static bool get_losses(struct kymo_bytes *in, struct view *view) {
  uint64_t count = get_count(in, 40, VIEW_LOSSES_MAX);
  view->losses = calloc((size_t)count + 1, sizeof *view->losses);
  for (uint64_t i = 0; i < count && view->losses; i++) {
    struct view_loss *loss = &view->losses[view->loss_count++];
    loss->begin_ns = (int64_t)kymo_bytes_u64(in);
    loss->end_ns = (int64_t)kymo_bytes_u64(in);
    loss->count = kymo_bytes_u64(in);
    uint64_t place = kymo_bytes_u64(in);
    loss->track = (uint32_t)(place >> 32);
    loss->part = (uint32_t)place;
    loss->is_packets = kymo_bytes_u64(in);
    if (loss->part >= view->part_count || (loss->track >= view->track_count && loss->track != UINT32_MAX))
      return false;
  }
  return view->losses && !in->failed;
}

static bool get_problems(struct kymo_bytes *in, struct view *view) {
  uint64_t count = get_count(in, 32, VIEW_PROBLEMS_MAX);
  view->problems = calloc((size_t)count + 1, sizeof *view->problems);
  for (uint64_t i = 0; i < count && view->problems && !in->failed; i++) {
    struct view_damage *damage = &view->problems[view->problem_count++];
    damage->path = get_text(in);
    damage->message = get_text(in);
    damage->offset = kymo_bytes_u64(in);
    damage->bytes_lost = kymo_bytes_u64(in);
  }
  return view->problems && !in->failed;
}

bool view_catalog_read(struct view *view, const uint8_t *bytes, size_t size) {
  struct kymo_bytes in = {.data = bytes, .size = size};
  view->events = kymo_bytes_u64(&in);
  view->spans = kymo_bytes_u64(&in);
  view->undrawn = kymo_bytes_u64(&in);
  view->last_number = kymo_bytes_u64(&in);
  view->begin_ns = (int64_t)kymo_bytes_u64(&in);
  view->end_ns = (int64_t)kymo_bytes_u64(&in);
  view->first_ns = (int64_t)kymo_bytes_u64(&in);
  uint64_t flags = kymo_bytes_u64(&in);
  view->loss_total = kymo_bytes_u64(&in);
  view->lost.events = kymo_bytes_u64(&in);
  view->lost.packets = kymo_bytes_u64(&in);
  view->lost.unknown = kymo_bytes_u64(&in);
  view->has_times = flags & 1;
  view->is_epoch = flags & 2;
  view->is_in_order = flags & 4;
  return !in.failed && view->begin_ns <= view->end_ns && get_names(&in, view) && get_tracks(&in, view) &&
         get_numbers(&in, view) && get_losses(&in, view) && get_problems(&in, view) && in.at == in.size;
}
