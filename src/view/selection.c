/* SPDX-License-Identifier: MIT */
/*
 * What is in a window of time: how many events by track and kind, from the index; and its spans, by the code
 * of `kymo stat latency` in one pass over the events of the window, so that a span is one whose begin and end
 * are in it. Of the whole trace without a filter the spans are known already.
 */
#include "view/state.h"
#include "base/fail.h"
#include <stdlib.h>
#include <string.h>

struct view_selection {
  struct view *view;
  struct view_window window;
  struct view_filter *filter;
  int64_t *slews; /* by track; NULL: they are all 0 */
  uint32_t slew_count;
  struct view_match match;  /* with slews: which track an event is on */
  uint64_t *tracks, *kinds; /* of a live trace there may be more of them at each step */
  uint32_t track_count, kind_count;
  uint64_t events, looked;
  uint32_t at_track; /* of counting kinds … */
  uint64_t at_entry; /* … from its first one in the window */
  struct view_pass pass;
  struct kymo_whos whos;
  struct kymo_gaps gaps;
  struct kymo_edges edges;
  struct kymo_latencies latencies;
  bool has_pass;
  struct view_statistic *spans;
  size_t span_count;
  enum { COUNTING, PAIRING, DONE } stage;
};

static int no_memory(struct kymo_error *error) { return kymo_fail(error, KYMO_E_MEMORY, "out of memory"); }

/* ---- slews ---- */

/* The times of a track that are shown in the window. */
static struct view_window window_of(const struct view_selection *selection, uint32_t track) {
  const struct view_window *window = &selection->window;
  int64_t slew_ns = track < selection->slew_count ? selection->slews[track] : 0;
  return (struct view_window){view_shift_back(window->begin_ns, slew_ns),
                              view_shift_back(window->end_ns, slew_ns), 1};
}

/* … of any track. */
static struct view_window widest(const struct view_selection *selection) {
  struct view_window all = selection->window;
  for (uint32_t i = 0; i < selection->slew_count; i++) {
    const struct view_window one = window_of(selection, i);
    all.begin_ns = one.begin_ns < all.begin_ns ? one.begin_ns : all.begin_ns;
    all.end_ns = one.end_ns > all.end_ns ? one.end_ns : all.end_ns;
  }
  return all;
}

/* KYMO_OK: the event is shown in the window; KYMO_E_ABSENT: it is not. */
static int is_shown(struct view_selection *selection, const struct kymo_event *event) {
  uint32_t track, kind;
  int status = selection->slews ? view_match_event(&selection->match, event, &track, &kind) : KYMO_OK;
  if (status != KYMO_OK || !selection->slews)
    return status;
  const struct view_window window = window_of(selection, track);
  return event->time_ns >= window.begin_ns && event->time_ns < window.end_ns ? KYMO_OK : KYMO_E_ABSENT;
}

/* ---- spans ---- */

static int take(void *user, const struct kymo_event *event) {
  struct view_selection *selection = user;
  if (event->is_damaged)
    kymo_gaps_damage(&selection->gaps, event);
  int status = is_shown(selection, event);
  if (status != KYMO_OK)
    return status == KYMO_E_ABSENT ? KYMO_OK : status;
  return kymo_latencies_event(&selection->latencies, event);
}

static bool is_whole(const struct view_selection *selection) {
  const struct view *view = selection->view;
  return !selection->filter && !selection->slews && selection->window.begin_ns <= view->begin_ns &&
         selection->window.end_ns > view->end_ns;
}

static int begin_latencies(struct view_selection *selection, struct kymo_error *error) {
  struct kymo_trace *trace = selection->pass.trace;
  selection->latencies = (struct kymo_latencies){
      .edges = &selection->edges, .gaps = &selection->gaps, .spans = {.is_nested = true}};
  int status = kymo_whos_begin(&selection->whos, trace, error);
  if (status == KYMO_OK)
    status = kymo_gaps_begin(&selection->gaps, trace, &selection->whos, error);
  if (status == KYMO_OK)
    status = kymo_edges_begin(&selection->edges, trace, &selection->whos.numbers, error);
  if (status == KYMO_OK)
    status = kymo_grouping_begin(&selection->latencies.thread, "track", trace, &selection->whos, error);
  if (status != KYMO_OK)
    return status;
  kymo_trace_set_loss_handler(trace, kymo_gaps_take, &selection->gaps);
  size_t count;
  return kymo_edges_add_spans(&selection->edges, &count) == KYMO_OK &&
                 kymo_latencies_begin(&selection->latencies) == KYMO_OK
             ? KYMO_OK
             : no_memory(error);
}

/* What is marked by number, or has no times, has no spans. */
static int begin_pass(struct view_selection *selection, struct kymo_error *error) {
  const struct view_window window = widest(selection);
  int status = view_pass_begin(&selection->pass, selection->view, selection->filter, error);
  selection->has_pass = status == KYMO_OK;
  if (status == KYMO_E_ABSENT || (status == KYMO_OK && !selection->view->has_times))
    return selection->has_pass = false, KYMO_OK;
  if (status == KYMO_OK)
    status = begin_latencies(selection, error);
  if (status == KYMO_OK && selection->slews)
    status = view_match_begin(&selection->match, selection->view, selection->pass.trace, error);
  if (status == KYMO_OK)
    status = view_pass_window(&selection->pass, window.begin_ns, window.end_ns, selection->looked, error);
  return status;
}

/* Those that there are become a list. */
static int list_spans(struct view_selection *selection, struct kymo_error *error) {
  const struct kymo_latencies *latencies = &selection->latencies;
  selection->spans = calloc(latencies->kind_count + 1, sizeof *selection->spans);
  if (!selection->spans)
    return no_memory(error);
  for (size_t i = 0; i < latencies->kind_count; i++) {
    struct kymo_stat_group *group = &latencies->kinds[i].group;
    if (group->samples.count)
      selection->spans[selection->span_count++] =
          view_statistic_of(group->name, &group->samples, group->outer_ns, group->self_ns);
  }
  return KYMO_END;
}

static int pair(struct view_selection *selection, uint64_t events, struct kymo_error *error) {
  bool reads = selection->has_pass && selection->latencies.kind_count;
  int status = reads ? KYMO_OK : view_expect_same(selection->view, error);
  if (status != KYMO_OK)
    return status;
  if (!selection->has_pass && is_whole(selection))
    return view_statistics(selection->view, &selection->spans, &selection->span_count) == KYMO_OK
               ? KYMO_END
               : no_memory(error);
  status = reads ? view_pass_step(&selection->pass, events, error) : KYMO_END;
  return status == KYMO_END ? list_spans(selection, error) : status;
}

/* ---- events ---- */

/* Makes space for as many numbers; new ones are 0. */
static bool extend(uint64_t **list, uint32_t *count, uint32_t wanted) {
  if (wanted <= *count && *list)
    return true;
  uint64_t *more = realloc(*list, (wanted + 1u) * sizeof *more);
  if (!more)
    return false;
  memset(more + *count, 0, (wanted + 1u - *count) * sizeof *more);
  *list = more;
  *count = wanted;
  return true;
}

static bool extend_lists(struct view_selection *selection) {
  const struct view *view = selection->view;
  return extend(&selection->tracks, &selection->track_count, view->track_count) &&
         extend(&selection->kinds, &selection->kind_count, view->kind_count);
}

/* Counts a part of the events of a track. What is added up is what was counted, so that a track that grows
 * meanwhile has as many events as its kinds have. KYMO_OK: there is more. */
static int count_track(struct view_selection *selection, uint64_t *events) {
  struct view *view = selection->view;
  const struct view_series *series = &view->tracks[selection->at_track].events;
  const struct view_window window = window_of(selection, selection->at_track);
  if (!view_trust_times(view, series, window.begin_ns, window.end_ns) ||
      (selection->filter && !view_trust(view, series, 0, series->count)))
    return KYMO_AGAIN;
  const struct view_bits *bits =
      selection->filter ? view_filter_bits(selection->filter, selection->at_track) : NULL;
  if (selection->filter && !bits)
    return KYMO_E_MEMORY;
  uint64_t first = view_series_find(series, &view->store, window.begin_ns, 0),
           last = view_series_find(series, &view->store, window.end_ns, first),
           begin = first + selection->at_entry,
           end = last > begin && last - begin > *events ? begin + *events : last;
  if (begin < end) {
    uint64_t count = view_series_count_codes(series, &view->store, bits, begin, end, selection->kinds);
    selection->tracks[selection->at_track] += count;
    selection->events += count;
    selection->at_entry += end - begin;
    selection->looked += end - begin;
    *events -= end - begin;
  }
  return !view_is_whole(view) ? KYMO_AGAIN : end < last ? KYMO_OK : KYMO_END;
}

static int count(struct view_selection *selection, uint64_t events, struct kymo_error *error) {
  int status = extend_lists(selection) ? KYMO_END : KYMO_E_MEMORY;
  for (; status == KYMO_END && selection->at_track < selection->track_count; selection->at_track++) {
    status = count_track(selection, &events);
    if (status != KYMO_END)
      break;
    selection->at_entry = 0;
  }
  if (status == KYMO_AGAIN)
    return kymo_fail(error, KYMO_E_FORMAT, "the index is built anew");
  return status == KYMO_E_MEMORY ? no_memory(error) : status;
}

int view_selection_step(struct view_selection *selection, uint64_t events, struct kymo_error *error) {
  int status = KYMO_END;
  if (selection->stage == DONE)
    return KYMO_END;
  if (selection->stage == COUNTING) {
    status = count(selection, events, error);
    if (status == KYMO_END && !is_whole(selection))
      status = begin_pass(selection, error);
    else if (status == KYMO_END)
      status = KYMO_OK;
    else
      return status;
    selection->stage = PAIRING;
    return status;
  }
  status = pair(selection, events, error);
  selection->stage = status == KYMO_END ? DONE : PAIRING;
  return status;
}

/* ---- life ---- */

static bool copy_slews(struct view_selection *selection, const struct view_selection_query *query) {
  if (!query->slew_count)
    return true;
  selection->slews = calloc(query->slew_count, sizeof *selection->slews);
  if (!selection->slews)
    return false;
  memcpy(selection->slews, query->slews, query->slew_count * sizeof *selection->slews);
  selection->slew_count = query->slew_count;
  return true;
}

int view_selection_new(struct view_selection **out, struct view *view,
                       const struct view_selection_query *query, struct kymo_error *error) {
  struct view_selection *selection = calloc(1, sizeof *selection);
  *out = NULL;
  if (!selection)
    return no_memory(error);
  selection->view = view;
  selection->window = (struct view_window){query->begin_ns, query->end_ns, 1};
  selection->filter = query->filter;
  selection->pass.take = take;
  selection->pass.user = selection;
  if (!extend_lists(selection) || !copy_slews(selection, query))
    return view_selection_free(selection), no_memory(error);
  if (query->begin_ns >= query->end_ns)
    selection->stage = DONE;
  *out = selection;
  return KYMO_OK;
}

double view_selection_progress(const struct view_selection *selection) {
  double part = selection->track_count ? (double)selection->at_track / selection->track_count : 0;
  return selection->stage == DONE       ? 1
         : selection->stage == COUNTING ? part / 4
         : selection->has_pass          ? .25 + .75 * view_pass_progress(&selection->pass)
                                        : .25;
}

/* Counts are complete, but for those of a filter; spans are of the trace. */
bool view_selection_from(const struct view_selection *selection, int64_t *from_ns) {
  int64_t filter_ns;
  bool has_from = view_pass_from(&selection->pass, from_ns);
  if (selection->stage == DONE && selection->filter && view_filter_from(selection->filter, &filter_ns) &&
      filter_ns > widest(selection).begin_ns && (!has_from || filter_ns > *from_ns)) {
    *from_ns = filter_ns;
    has_from = true;
  }
  return has_from;
}

void view_selection_result(const struct view_selection *selection, struct view_selection_result *result) {
  *result = (struct view_selection_result){.events = selection->events,
                                           .tracks = selection->tracks,
                                           .kinds = selection->kinds,
                                           .track_count = selection->track_count,
                                           .kind_count = selection->kind_count,
                                           .spans = selection->spans,
                                           .span_count = selection->span_count};
}

void view_selection_free(struct view_selection *selection) {
  if (!selection)
    return;
  view_match_end(&selection->match);
  kymo_latencies_free(&selection->latencies);
  kymo_grouping_end(&selection->latencies.thread);
  kymo_edges_end(&selection->edges);
  kymo_gaps_end(&selection->gaps);
  kymo_whos_end(&selection->whos);
  view_pass_end(&selection->pass);
  free(selection->spans);
  free(selection->slews);
  free(selection->tracks);
  free(selection->kinds);
  free(selection);
}
