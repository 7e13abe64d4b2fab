/* SPDX-License-Identifier: MIT */
/* Building the index: one pass over the trace by batches. */
#include "view/state.h"
#include "base/fail.h"
#include "base/list.h"
#include "stat/pairs.h"
#include <stdlib.h>
#include <string.h>

static int no_memory(struct kymo_error *error) {
  return kymo_fail(error, KYMO_E_MEMORY, "out of memory, or no space for the index");
}

/* ---- tracks and kinds ---- */

static bool add_track(struct view *view, const struct kymo_event *event, const char *name) {
  if (!KYMO_LIST_ROOM(view->tracks, view->track_capacity, view->track_count))
    return false;
  struct view_track *track = &view->tracks[view->track_count];
  *track = (struct view_track){.name = view_copy(name),
                               .part = event->packet->stream->part->index,
                               .events = {.kind = VIEW_EVENTS, .revision = view->rebuilt << 32}};
  track->has_process = kymo_who_process(view->build->trace, event, &track->process);
  bool is_stream = view_names_stream(view, &view->build->tracker, event, name);
  if (is_stream)
    track->stream = view_copy(event->packet->stream->path);
  view->track_count += track->name != NULL;
  return track->name && (track->stream || !is_stream);
}

static bool add_kind(struct view *view, const struct kymo_event *event, const char *name) {
  const struct view_build *build = view->build;
  uint32_t number =
      kymo_class_number(&build->tracker.whos.numbers, event->packet->stream->part->index, event->class_);
  if (!KYMO_LIST_ROOM(view->kinds, view->kind_capacity, view->kind_count))
    return false;
  struct view_kind *kind = &view->kinds[view->kind_count];
  *kind = (struct view_kind){.name = view_copy(name)};
  kind->edge = !build->edges.kinds[number]                     ? VIEW_KIND_PLAIN
               : build->edges.roles[number] & KYMO_PAIR_BEGINS ? VIEW_KIND_BEGINS
                                                               : VIEW_KIND_ENDS;
  view->kind_count += kind->name != NULL;
  return kind->name;
}

/* ---- spans ---- */

/* Whether a track may have this lane. */
static bool has_room(const struct view *view, const struct view_track *track, uint32_t lane) {
  return lane < track->lane_count || lane < VIEW_LANES_FIRST ||
         (lane < VIEW_LANES_MAX && view->further_lanes < VIEW_LANES_FURTHER);
}

static struct view_lane *lane_of(struct view *view, struct view_track *track, uint32_t lane) {
  if (lane >= track->lane_count) {
    struct view_lane *more = realloc(track->lanes, (lane + 1) * sizeof *more);
    if (!more)
      return NULL;
    track->lanes = more;
    more[track->lane_count++] = (struct view_lane){.spans.kind = VIEW_SPANS};
    view->further_lanes += track->lane_count > VIEW_LANES_FIRST;
  }
  return &track->lanes[lane];
}

static uint32_t kind_of(const struct view *view, const struct kymo_span *span) {
  const struct kymo_span_kind *kind = span->owner;
  return view->build->span_kinds[kind - view->build->latencies.kinds];
}

static void close_lanes(struct view_track *track) {
  track->free = 0;
  for (uint32_t i = 0; i < track->lane_count; i++)
    track->lanes[i].is_open = false;
}

bool view_lane_is_open(const struct view *view, const struct view_lane *lane) {
  return lane->is_open && (!view->build || view->build->gaps.counts[lane->open_slot] == lane->open_loss);
}

/* Spans of a lane come in the order of their begins, since none begins before the last one has ended. What is
 * out of order in the trace is measured, but cannot be drawn. */
static bool add_span(struct view *view, const struct kymo_span *span, const struct kymo_event *event) {
  struct view_series *lane = &view->tracks[span->track].lanes[span->lane].spans;
  const struct view_entry entry = {span->begin_ns, (uint64_t)event->time_ns - (uint64_t)span->begin_ns,
                                   kind_of(view, span)};
  bool is_late =
      event->time_ns < span->begin_ns ||
      (lane->tail_count && (uint64_t)span->begin_ns - (uint64_t)lane->tail[lane->tail_count - 1].time_ns <
                               lane->tail[lane->tail_count - 1].value) ||
      (lane->tail_count && span->begin_ns < lane->tail[lane->tail_count - 1].time_ns);
  view->spans++;
  view->undrawn += is_late;
  return is_late || view_series_add(lane, &view->store, &entry);
}

/* A span begins on the lowest lane of its track that is free: the depth, where spans are one inside the
 * other. What was open when events were lost may never end: its lanes are free again. */
static bool begin_span(struct view *view, struct kymo_span *span, const struct kymo_event *event) {
  struct view_place place;
  if (view_tracker_find(&view->build->tracker, event, &place) != KYMO_OK)
    return false;
  struct view_track *track = &view->tracks[place.track];
  if (track->gap_slot != span->stream || track->gap != span->loss)
    close_lanes(track);
  track->gap_slot = span->stream;
  track->gap = span->loss;
  span->track = place.track;
  while (track->free < track->lane_count && track->lanes[track->free].is_open)
    track->free++;
  span->lane = has_room(view, track, track->free) ? track->free : UINT32_MAX;
  if (span->lane == UINT32_MAX)
    return true;
  struct view_lane *lane = lane_of(view, track, span->lane);
  if (!lane)
    return false;
  lane->is_open = true;
  lane->open_kind = kind_of(view, span);
  lane->open_ns = span->begin_ns;
  lane->open_slot = span->stream;
  lane->open_loss = span->loss;
  return true;
}

static bool take_span(void *user, struct kymo_span *span, const struct kymo_event *event, bool is_end,
                      bool is_measured) {
  struct view *view = user;
  if (!is_end)
    return begin_span(view, span, event);
  struct view_track *track = &view->tracks[span->track];
  if (span->lane == UINT32_MAX) {
    track->deeper += is_measured;
    view->undrawn += is_measured;
    view->spans += is_measured;
    return true;
  }
  if (track->gap_slot == span->stream && track->gap == span->loss) {
    track->lanes[span->lane].is_open = false;
    track->free = span->lane < track->free ? span->lane : track->free;
  }
  return !is_measured || add_span(view, span, event);
}

static bool learn_span_kind(const struct view *view, struct kymo_hash_table *names, uint32_t number) {
  const char *name = view->span_kinds[number].name;
  return kymo_hash_table_add(names, NULL, (uint32_t)kymo_keyed_text(name, strlen(name)),
                             number + (uintptr_t)1);
}

/* The number of a kind of spans, new if need be; further ones than VIEW_KINDS_MAX are the last one.
 * UINT32_MAX: no memory. */
static uint32_t number_of_spans(struct view *view, struct kymo_hash_table *names, const char *name) {
  uint32_t hash = (uint32_t)kymo_keyed_text(name, strlen(name)), at = hash;
  for (uintptr_t item; (item = kymo_hash_table_next(names, hash, &at)) != 0;)
    if (strcmp(view->span_kinds[item - 1].name, name) == 0)
      return (uint32_t)(item - 1);
  if (view->span_kind_count == VIEW_KINDS_MAX)
    return VIEW_KINDS_MAX - 1;
  char *copy = view_copy(name);
  if (!copy || !KYMO_LIST_ROOM(view->span_kinds, view->span_kind_capacity, view->span_kind_count)) {
    free(copy);
    return UINT32_MAX;
  }
  view->span_kinds[view->span_kind_count++] = (struct view_span_kind){.name = copy};
  return learn_span_kind(view, names, view->span_kind_count - 1) ? view->span_kind_count - 1 : UINT32_MAX;
}

static bool number_span_kinds(struct view *view) {
  struct kymo_latencies *latencies = &view->build->latencies;
  uint32_t *numbers = calloc(latencies->kind_count + 1, sizeof *numbers);
  struct kymo_hash_table names = {0};
  bool is_done = numbers;
  free(view->build->span_kinds);
  view->build->span_kinds = numbers;
  for (uint32_t i = 0; i < view->span_kind_count && is_done; i++)
    is_done = learn_span_kind(view, &names, i);
  for (size_t i = 0; i < latencies->kind_count && is_done; i++) {
    numbers[i] = number_of_spans(view, &names, latencies->kinds[i].group.name);
    is_done = numbers[i] != UINT32_MAX;
  }
  kymo_hash_table_free(&names);
  return is_done;
}

bool view_sum_up_spans(struct view *view) {
  bool is_done = true;
  for (size_t i = 0; view->build && view->build->span_kinds && i < view->build->latencies.kind_count; i++) {
    struct view_span_kind *kind = &view->span_kinds[view->build->span_kinds[i]];
    struct kymo_stat_group *group = &view->build->latencies.kinds[i].group;
    is_done = kymo_samples_join(&kind->samples, &group->samples) && is_done;
    kind->total_ns += group->outer_ns;
    kind->self_ns += group->self_ns;
    kymo_samples_free(&group->samples);
    group->samples = (struct kymo_samples){0};
    group->outer_ns = group->self_ns = 0;
  }
  return is_done;
}

static int begin_spans(struct view *view, struct kymo_error *error) {
  struct view_build *build = view->build;
  build->latencies = (struct kymo_latencies){.edges = &build->edges,
                                             .gaps = &build->gaps,
                                             .spans = {.is_nested = true},
                                             .handler = take_span,
                                             .user = view};
  int status = kymo_gaps_begin(&build->gaps, build->trace, &build->tracker.whos, error);
  if (status == KYMO_OK)
    status = kymo_edges_begin(&build->edges, build->trace, &build->tracker.whos.numbers, error);
  if (status == KYMO_OK)
    status =
        kymo_grouping_begin(&build->latencies.thread, "track", build->trace, &build->tracker.whos, error);
  if (status != KYMO_OK)
    return status;
  build->offsets = calloc(build->tracker.whos.numbers.stream_count + 1u, sizeof *build->offsets);
  size_t count;
  if (!build->offsets || kymo_edges_add_spans(&build->edges, &count) != KYMO_OK ||
      kymo_latencies_begin(&build->latencies) != KYMO_OK || !number_span_kinds(view))
    return no_memory(error);
  return KYMO_OK;
}

static void end_spans(struct view_build *build) {
  kymo_latencies_free(&build->latencies);
  kymo_grouping_end(&build->latencies.thread);
  kymo_edges_end(&build->edges);
  kymo_gaps_end(&build->gaps);
  free(build->offsets);
  build->offsets = NULL;
  build->latencies = (struct kymo_latencies){0};
  build->edges = (struct kymo_edges){0};
}

/* ---- what else reading meets ---- */

static void take_loss(void *user, const struct kymo_loss *loss) {
  struct view *view = user;
  if (!view->build->has_grown)
    kymo_gaps_take(&view->build->gaps, loss);
  view->loss_total++;
  if (view->loss_count == VIEW_LOSSES_MAX)
    return;
  if (!KYMO_LIST_ROOM(view->losses, view->loss_capacity, view->loss_count)) {
    view->build->has_missed = true;
    return;
  }
  view->losses[view->loss_count++] = (struct view_loss){
      .begin_ns = loss->has_times ? loss->begin_ns : view->last_ns,
      .end_ns = loss->has_times ? loss->end_ns : view->last_ns,
      .count = loss->count_known ? loss->count : 0,
      .track =
          view->build->has_grown ? UINT32_MAX : view_tracker_of_stream(&view->build->tracker, loss->stream),
      .part = loss->stream->part->index,
      .is_packets = loss->is_packets,
      .has_times = loss->has_times};
}

static void take_growth(void *user) {
  struct view *view = user;
  view->build->has_grown = true;
}

static bool take_parts(struct view *view) {
  uint32_t count = (uint32_t)kymo_trace_part_count(view->build->trace);
  char **more = realloc(view->parts, (count + 1u) * sizeof *more);
  if (!more)
    return false;
  for (view->parts = more; view->part_count < count; view->part_count++) {
    more[view->part_count] = view_copy(kymo_trace_part(view->build->trace, view->part_count)->path);
    if (!more[view->part_count])
      return false;
  }
  return true;
}

/* New streams or classes: what goes by their numbers is made anew. Spans that are open are forgotten. */
static int renew(struct view *view, struct kymo_error *error) {
  struct view_build *build = view->build;
  bool is_summed = view_sum_up_spans(view);
  end_spans(build);
  for (uint32_t i = 0; i < view->track_count; i++)
    close_lanes(&view->tracks[i]);
  int status = view_tracker_renew(&build->tracker, error);
  if (status == KYMO_OK)
    status = begin_spans(view, error);
  if (status == KYMO_OK && !(is_summed && take_parts(view)))
    status = no_memory(error);
  build->has_grown = false;
  return status;
}

static bool take_problems(struct view *view) {
  const struct kymo_trace *trace = view->build->trace;
  for (size_t i = view->problem_count; i < kymo_trace_damage_count(trace) && i < VIEW_PROBLEMS_MAX; i++) {
    const struct kymo_damage *damage = kymo_trace_damage(trace, i);
    if (!KYMO_LIST_ROOM(view->problems, view->problem_capacity, view->problem_count))
      return false;
    const struct view_damage *problem = &view->problems[view->problem_count];
    view->problems[view->problem_count++] = (struct view_damage){
        view_copy(damage->path), view_copy(damage->message), damage->offset, damage->bytes_lost};
    if (!problem->path || !problem->message)
      return false;
  }
  kymo_trace_losses(trace, &view->lost);
  return true;
}

/* ---- events ---- */

/* Until some event has a time, those of events are their numbers; then they are at the first time. False: no
 * memory. */
static bool take_time(struct view *view, const struct kymo_event *event) {
  bool is_first = event->has_time && !view->has_times;
  view->is_in_order &= event->has_time && (!view->has_times || event->time_ns >= view->last_ns);
  if (is_first && !view_put_at(view, view->first_ns = event->time_ns))
    return false;
  if (event->has_time) {
    view->begin_ns = is_first || event->time_ns < view->begin_ns ? event->time_ns : view->begin_ns;
    view->end_ns = is_first || event->time_ns > view->end_ns ? event->time_ns : view->end_ns;
    view->last_ns = event->time_ns;
    view->has_times = true;
    view->is_epoch |= is_first && kymo_event_is_epoch(event);
  } else if (!view->has_times) {
    view->last_ns = view->end_ns = (int64_t)event->number;
    view->begin_ns = view->events == 0 ? view->last_ns : view->begin_ns;
  }
  return true;
}

/* From the first number on that no event has, rows are found by a set of numbers. */
static bool take_number(struct view *view, const struct kymo_event *event) {
  uint64_t number = kymo_event_number(event);
  if (!view->numbered.store.base) {
    if (number == view->events + 1)
      return true;
    if (view_marks_begin(&view->numbered, number, NULL) != KYMO_OK ||
        !view_marks_fill(&view->numbered, view->events))
      return false;
  }
  return view_marks_add(&view->numbered, number);
}

static int take_event(struct view *view, const struct kymo_event *event) {
  struct view_build *build = view->build;
  struct view_place place;
  if (view_tracker_find(&build->tracker, event, &place) != KYMO_OK ||
      (place.new_track && !add_track(view, event, place.new_track)) ||
      (place.new_kind && !add_kind(view, event, place.new_kind)) || !take_time(view, event))
    return KYMO_E_MEMORY;
  const struct view_entry entry = {view->last_ns, event->number, place.kind};
  if (!view_put_event(view, place.track, &entry) || !take_number(view, event))
    return KYMO_E_MEMORY;
  if (view->options.is_live && event->has_time && !view_note_stream(view, event))
    return KYMO_E_MEMORY;
  view->kinds[place.kind].events++;
  view->events++;
  view->last_number = event->number > view->last_number ? event->number : view->last_number;
  if (event->is_damaged)
    kymo_gaps_damage(&build->gaps, event);
  return build->latencies.kind_count ? kymo_latencies_event(&build->latencies, event) : KYMO_OK;
}

/* How far reading is in the files: one event of a batch is enough. A stream in its next file begins again. */
static void note_offset(struct view *view, const struct kymo_event *event) {
  uint64_t *before = &view->build->offsets[event->packet->stream->number],
           now = event->packet->offset + event->offset_bits / 8;
  view->bytes_read += now >= *before ? now - *before : now;
  *before = now;
}

static int take_batch(struct view *view, const struct kymo_batch *batch, struct kymo_error *error) {
  for (size_t i = 0; i < batch->count; i++)
    if (take_event(view, batch->events[i]) != KYMO_OK)
      return no_memory(error);
  if (batch->count)
    note_offset(view, batch->events[batch->count - 1]);
  return KYMO_OK;
}

/* ---- steps ---- */

static int complete(struct view *view, struct kymo_error *error) {
  if (!view_sum_up_spans(view))
    return no_memory(error);
  for (uint32_t i = 0; i < view->track_count; i++)
    for (uint32_t k = 0; k < view->tracks[i].lane_count; k++)
      view->tracks[i].lanes[k].is_open = view_lane_is_open(view, &view->tracks[i].lanes[k]);
  view->is_complete = true;
  view_keep(view);
  view_build_end(view);
  return KYMO_END;
}

static int read_events(struct view *view, uint64_t events, struct kymo_error *error) {
  struct view_build *build = view->build;
  struct kymo_batch batch;
  uint64_t until = view->events + events;
  int status = build->is_over ? KYMO_END : KYMO_OK;
  while (status == KYMO_OK && view->events < until) {
    status = kymo_trace_next_batch(build->trace, &batch, error);
    if (build->has_missed && status >= KYMO_OK)
      status = no_memory(error);
    if (build->has_grown && status >= KYMO_OK) {
      int renewed = renew(view, error);
      status = renewed == KYMO_OK ? status : renewed;
    }
    if (status == KYMO_OK)
      status = take_batch(view, &batch, error);
  }
  build->is_over = status == KYMO_END;
  return status;
}

/* Late events are sorted in when all is read; of a live trace, half of each step goes on reading. */
static int build_step(struct view *view, uint64_t events, struct kymo_error *error) {
  uint64_t before = view->events;
  bool is_sorting = view->unsorted.sorting;
  int status = read_events(view, is_sorting ? events / 2 : events, error);
  uint64_t taken = view->events - before;
  if (status == KYMO_END || status == KYMO_AGAIN || (status == KYMO_OK && is_sorting)) {
    int sorted = view_sort_events(view, taken < events ? events - taken : 1);
    status = sorted == KYMO_E_MEMORY ? no_memory(error) : sorted == KYMO_OK ? KYMO_OK : status;
  }
  if (!take_problems(view) && status >= KYMO_OK)
    status = no_memory(error);
  return status == KYMO_END ? complete(view, error) : status;
}

/* Checks an index that was kept, a part of it. */
static int check_step(struct view *view, uint64_t events) {
  while (view->check_track < view->track_count) {
    const struct view_track *track = &view->tracks[view->check_track];
    const struct view_series *series =
        view->check_lane ? &track->lanes[view->check_lane - 1].spans : &track->events;
    if (view->check_chunk < series->summary_count) {
      uint64_t at = (uint64_t)view->check_chunk++ * VIEW_CHUNK_ENTRIES;
      if (!view_trust(view, series, at, at + VIEW_CHUNK_ENTRIES))
        return KYMO_OK;
      if (events <= VIEW_CHUNK_ENTRIES)
        return KYMO_OK;
      events -= VIEW_CHUNK_ENTRIES;
      continue;
    }
    view->check_chunk = 0;
    if (++view->check_lane > track->lane_count) {
      view->check_lane = 0;
      view->check_track++;
    }
  }
  return KYMO_END;
}

int view_build_step(struct view *view, uint64_t events, struct kymo_error *error) {
  if (view->is_wrong) {
    int status = view_restart(view, error);
    if (status != KYMO_OK)
      return status;
  }
  return view->build ? build_step(view, events, error) : check_step(view, events);
}

/* An index of which it is not known how it was read, or whether that is still so, is not kept. */
static void note_reading(struct view *view) {
  struct view_identity *identity = &view->identity;
  identity->is_known = identity->is_known && view_reading(view->build->trace, &identity->reading);
  if (!identity->is_known || view_is_ring(view->build->trace))
    *identity->path = 0;
}

int view_build_begin(struct view *view, struct kymo_error *error) {
  struct view_build *build = view->build = calloc(1, sizeof *build);
  view->is_in_order = true;
  if (!build)
    return no_memory(error);
  int status = view->options.open(view->options.user, view->options.is_live, &build->trace, error);
  if (status == KYMO_OK)
    status = view_tracker_begin(&build->tracker, build->trace, view->options.by, view->field, error);
  if (status == KYMO_OK)
    status = begin_spans(view, error);
  if (status == KYMO_OK && !take_parts(view))
    status = no_memory(error);
  if (status == KYMO_OK) {
    note_reading(view);
    kymo_trace_set_loss_handler(build->trace, take_loss, view);
    if (view->options.is_live)
      kymo_trace_set_growth_handler(build->trace, take_growth, view);
    return KYMO_OK;
  }
  view_build_end(view);
  return status;
}

void view_build_end(struct view *view) {
  struct view_build *build = view->build;
  if (!build)
    return;
  end_spans(build);
  view_tracker_end(&build->tracker);
  kymo_trace_close(build->trace);
  free(build->span_kinds);
  free(build);
  view->build = NULL;
}
