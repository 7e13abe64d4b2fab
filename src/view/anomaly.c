/* SPDX-License-Identifier: MIT */
/*
 * Anomalies: events of one kind whose field is more than a number of deviations away from the mean of its
 * track.
 *
 *   read      one pass over the trace: the values of each track, by the numbers of their events
 *   measure   over the values: the deviation of the population, for which the mean must be known first
 *   mark      over the values: the anomalies become a filter, by which they are searched and drawn
 */
#include "view/state.h"
#include "base/fail.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct anomaly_track {
  struct view_series values; /* the "time" is the event's number */
  long double sum, squares;
};

struct view_anomaly {
  struct view *view;
  char *kind, *field;
  double threshold;
  unsigned sides;
  struct view_pass pass;
  struct view_match match; /* a filter leaves events out, so that tracks and kinds have other numbers */
  struct view_number number;
  uint32_t wanted_kind; /* UINT32_MAX: not met yet */
  struct view_store store;
  struct anomaly_track *tracks;
  struct view_anomaly_track *results;
  uint32_t track_count;
  struct view_filter *filter;
  enum { READING, MEASURING, MARKING, DONE } stage;
  uint32_t at_track; /* of the stages after reading */
  uint64_t at_entry;
};

static int no_memory(struct kymo_error *error) { return kymo_fail(error, KYMO_E_MEMORY, "out of memory"); }

/* ---- reading ---- */

static bool make_tracks(struct view_anomaly *anomaly, uint32_t count) {
  if (count <= anomaly->track_count)
    return true;
  struct anomaly_track *tracks = realloc(anomaly->tracks, count * sizeof *tracks);
  if (tracks)
    anomaly->tracks = tracks;
  struct view_anomaly_track *results = realloc(anomaly->results, count * sizeof *results);
  if (results)
    anomaly->results = results;
  for (; tracks && results && anomaly->track_count < count; anomaly->track_count++) {
    tracks[anomaly->track_count] = (struct anomaly_track){.values.kind = VIEW_VALUES};
    results[anomaly->track_count] = (struct view_anomaly_track){0};
  }
  return tracks && results;
}

/* Whether an event is one of those that are asked for: its track, and its number in the index. */
static int find(struct view_anomaly *anomaly, const struct kymo_event *event, uint32_t *track,
                uint64_t *number) {
  uint32_t kind;
  int status = view_match_event(&anomaly->match, event, track, &kind);
  if (status != KYMO_OK)
    return status;
  if (anomaly->kind && anomaly->wanted_kind == UINT32_MAX)
    anomaly->wanted_kind = view_kind_find(anomaly->view, anomaly->kind);
  if (anomaly->kind && kind != anomaly->wanted_kind)
    return KYMO_E_ABSENT;
  *number = event->number;
  return view_must_match(anomaly->view) ? view_match_number_on(&anomaly->match, event, *track, kind, number)
                                        : KYMO_OK;
}

static int take(void *user, const struct kymo_event *event) {
  struct view_anomaly *anomaly = user;
  uint32_t number_of_track;
  uint64_t number;
  double value;
  if (event->number == 0)
    return KYMO_OK; /* those that activities add have no number */
  int status = find(anomaly, event, &number_of_track, &number);
  if (status != KYMO_OK)
    return status == KYMO_E_ABSENT ? KYMO_OK : status;
  if (!view_number_read(&anomaly->number, anomaly->pass.trace, &anomaly->match.tracker.whos.numbers, event,
                        &value))
    return KYMO_OK;
  if (!make_tracks(anomaly, number_of_track + 1))
    return KYMO_E_MEMORY;
  struct anomaly_track *track = &anomaly->tracks[number_of_track];
  struct view_anomaly_track *result = &anomaly->results[number_of_track];
  const struct view_entry entry = {(int64_t)number, view_order_float(value), 0};
  track->sum += value;
  result->least = !result->count || value < result->least ? value : result->least;
  result->most = !result->count || value > result->most ? value : result->most;
  result->count++;
  return view_series_add(&track->values, &anomaly->store, &entry) ? KYMO_OK : KYMO_E_MEMORY;
}

/* ---- measuring and marking ---- */

static void measure(struct anomaly_track *track, const struct view_anomaly_track *result,
                    const struct view_entry *entries, unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    long double distance = (long double)view_unorder_float(entries[i].value) - result->mean;
    track->squares += distance * distance;
  }
}

static bool mark(struct view_anomaly *anomaly, struct view_anomaly_track *result,
                 const struct view_entry *entries, unsigned count) {
  double limit = anomaly->threshold * result->deviation;
  for (unsigned i = 0; i < count; i++) {
    double value = view_unorder_float(entries[i].value);
    bool is_high = anomaly->sides & VIEW_HIGH && value - result->mean > limit,
         is_low = anomaly->sides & VIEW_LOW && result->mean - value > limit;
    if (!is_high && !is_low)
      continue;
    result->anomalies++;
    if (!view_filter_mark(anomaly->filter, (uint64_t)entries[i].time_ns))
      return false;
  }
  return true;
}

/* Before the entries of a track are measured, and after. */
static void begin_track(struct view_anomaly *anomaly, uint32_t number) {
  struct view_anomaly_track *result = &anomaly->results[number];
  if (result->count && anomaly->stage == MEASURING)
    result->mean = (double)(anomaly->tracks[number].sum / (long double)result->count);
}

static void end_track(struct view_anomaly *anomaly, uint32_t number) {
  struct view_anomaly_track *result = &anomaly->results[number];
  if (!result->count || anomaly->stage != MEASURING)
    return;
  result->deviation = sqrt((double)(anomaly->tracks[number].squares / (long double)result->count));
  result->high = result->mean + anomaly->threshold * result->deviation;
  result->low = result->mean - anomaly->threshold * result->deviation;
}

/* One of the stages after reading, a part of it. KYMO_END: it is done. */
static int go_on(struct view_anomaly *anomaly, uint64_t events) {
  for (uint64_t looked = 0; anomaly->at_track < anomaly->track_count;) {
    struct anomaly_track *track = &anomaly->tracks[anomaly->at_track];
    struct view_anomaly_track *result = &anomaly->results[anomaly->at_track];
    struct view_entry entries[VIEW_BLOCK];
    unsigned count;
    if (anomaly->at_entry == 0)
      begin_track(anomaly, anomaly->at_track);
    if (anomaly->at_entry >= track->values.count) {
      end_track(anomaly, anomaly->at_track++);
      anomaly->at_entry = 0;
      continue;
    }
    if (looked >= events)
      return KYMO_OK;
    view_series_block(&track->values, &anomaly->store, anomaly->at_entry, entries, &count);
    if (anomaly->stage == MEASURING)
      measure(track, result, entries, count);
    else if (!mark(anomaly, result, entries, count))
      return KYMO_E_MEMORY;
    anomaly->at_entry += count;
    looked += count;
  }
  anomaly->at_track = 0;
  return KYMO_END;
}

int view_anomaly_step(struct view_anomaly *anomaly, uint64_t events, struct kymo_error *error) {
  if (anomaly->stage == DONE)
    return KYMO_END;
  int status =
      anomaly->stage == READING ? view_pass_step(&anomaly->pass, events, error) : go_on(anomaly, events);
  if (status == KYMO_E_MEMORY)
    return no_memory(error);
  if (status != KYMO_END)
    return status;
  anomaly->stage++;
  if (anomaly->stage != DONE)
    return KYMO_OK;
  view_filter_end(anomaly->filter);
  return KYMO_END;
}

/* ---- life ---- */

static int begin(struct view_anomaly *anomaly, const struct view_filter *filter, struct kymo_error *error) {
  struct view *view = anomaly->view;
  int status = view_pass_begin(&anomaly->pass, view, filter, error);
  if (status == KYMO_OK)
    status = view_match_begin(&anomaly->match, view, anomaly->pass.trace, error);
  if (status == KYMO_OK)
    status = view_number_begin(&anomaly->number, anomaly->field, anomaly->pass.trace,
                               &anomaly->match.tracker.whos.numbers, error);
  if (status == KYMO_OK)
    status = view_store_temporary(&anomaly->store, error);
  if (status == KYMO_OK)
    status = view_filter_begin(&anomaly->filter, view, error);
  return status == KYMO_OK && !make_tracks(anomaly, view->track_count) ? no_memory(error) : status;
}

static int check(const struct view *view, const struct view_anomaly_query *query, struct kymo_error *error) {
  if (!(query->threshold > 0 && query->threshold <= 10))
    return kymo_fail(error, KYMO_E_USAGE, "the threshold must be above 0 and at most 10 deviations");
  if (!(query->sides & (VIEW_HIGH | VIEW_LOW)))
    return kymo_fail(error, KYMO_E_USAGE, "anomalies are high, low, or both");
  if (query->kind && view->is_complete && view_kind_find(view, query->kind) == UINT32_MAX)
    return kymo_fail(error, KYMO_E_USAGE, "the traces have no event \"%s\"", query->kind);
  return KYMO_OK;
}

int view_anomaly_new(struct view_anomaly **out, struct view *view, const struct view_anomaly_query *query,
                     struct kymo_error *error) {
  *out = NULL;
  int status = check(view, query, error);
  if (status != KYMO_OK)
    return status;
  struct view_anomaly *anomaly = calloc(1, sizeof *anomaly);
  if (!anomaly)
    return no_memory(error);
  anomaly->view = view;
  anomaly->threshold = query->threshold;
  anomaly->sides = query->sides;
  anomaly->wanted_kind = UINT32_MAX;
  anomaly->pass.take = take;
  anomaly->pass.user = anomaly;
  anomaly->kind = query->kind ? view_copy(query->kind) : NULL;
  anomaly->field = view_copy(query->field);
  status = anomaly->field && (anomaly->kind || !query->kind) ? begin(anomaly, query->filter, error)
                                                             : no_memory(error);
  if (status == KYMO_OK)
    *out = anomaly;
  else
    view_anomaly_free(anomaly);
  return status;
}

double view_anomaly_progress(const struct view_anomaly *anomaly) {
  return anomaly->stage == DONE ? 1 : .9 * view_pass_progress(&anomaly->pass);
}

bool view_anomaly_from(const struct view_anomaly *anomaly, int64_t *from_ns) {
  return view_pass_from(&anomaly->pass, from_ns);
}

const struct view_anomaly_track *view_anomaly_tracks(const struct view_anomaly *anomaly, uint32_t *count) {
  *count = anomaly->track_count;
  return anomaly->results;
}

struct view_filter *view_anomaly_filter(struct view_anomaly *anomaly) {
  return anomaly->filter;
}

void view_anomaly_free(struct view_anomaly *anomaly) {
  if (!anomaly)
    return;
  for (uint32_t i = 0; i < anomaly->track_count; i++)
    view_series_free(&anomaly->tracks[i].values);
  view_filter_free(anomaly->filter);
  view_number_end(&anomaly->number);
  view_match_end(&anomaly->match);
  view_pass_end(&anomaly->pass);
  view_store_end(&anomaly->store);
  free(anomaly->tracks);
  free(anomaly->results);
  free(anomaly->kind);
  free(anomaly->field);
  free(anomaly);
}
