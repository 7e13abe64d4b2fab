/* SPDX-License-Identifier: MIT */
/* The values of a numeric field by track and time: a series for each track, of which the least and the
 * largest in any range are known. */
#include "view/state.h"
#include "base/fail.h"
#include <stdlib.h>

struct view_values {
  struct view *view;
  struct view_pass pass;
  struct view_match match;
  struct view_store store;
  char *field;
  struct view_number number;
  struct view_series *tracks;
  uint32_t track_count;
  struct view_unsorted unsorted;
  int64_t last_ns;
  bool is_part; /* a filter leaves events out */
};

static struct view_series *series_of(struct view_values *values, uint32_t track) {
  if (track >= values->track_count) {
    struct view_series *more = realloc(values->tracks, (track + 1u) * sizeof *more);
    if (!more)
      return NULL;
    for (values->tracks = more; values->track_count <= track; values->track_count++)
      more[values->track_count] = (struct view_series){.kind = VIEW_VALUES};
  }
  return &values->tracks[track];
}

/* An event without a time is at that of the event before it, which a filter may leave out. */
static int64_t time_of(const struct view_values *values, const struct kymo_event *event) {
  struct view *view = values->view;
  struct view_mark mark;
  if (event->has_time)
    return event->time_ns;
  if (!view->has_times)
    return (int64_t)event->number;
  return values->is_part && !view_must_match(view) && view_find(view, event->number, &mark) ? mark.time_ns
                                                                                            : values->last_ns;
}

static int take(void *user, const struct kymo_event *event) {
  struct view_values *values = user;
  uint32_t track, kind;
  double value;
  if (event->number == 0)
    return KYMO_OK; /* those that activities add have no place */
  int status = view_match_event(&values->match, event, &track, &kind);
  if (status == KYMO_E_MEMORY)
    return status;
  values->last_ns = time_of(values, event);
  if (status == KYMO_E_ABSENT || !view_number_read(&values->number, values->pass.trace,
                                                   &values->match.tracker.whos.numbers, event, &value))
    return KYMO_OK;
  struct view_series *series = series_of(values, track);
  if (!series)
    return KYMO_E_MEMORY;
  const struct view_entry entry = {values->last_ns, view_order_float(value), 0};
  return view_put_sorted(&values->unsorted, series, &values->store, track, &entry) ? KYMO_OK : KYMO_E_MEMORY;
}

int view_values_new(struct view_values **out, struct view *view, const char *field,
                    const struct view_filter *filter, struct kymo_error *error) {
  struct view_values *values = calloc(1, sizeof *values);
  *out = NULL;
  if (!values || !(values->field = view_copy(field)))
    return free(values), kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  values->view = view;
  values->last_ns = view->first_ns;
  values->is_part = filter;
  values->pass.take = take;
  values->pass.user = values;
  int status = view_pass_begin(&values->pass, view, filter, error);
  if (status == KYMO_OK)
    status = view_match_begin(&values->match, view, values->pass.trace, error);
  if (status == KYMO_OK)
    status = view_store_temporary(&values->store, error);
  if (status == KYMO_OK)
    status = view_number_begin(&values->number, values->field, values->pass.trace,
                               &values->match.tracker.whos.numbers, error);
  if (status == KYMO_OK)
    *out = values;
  else
    view_values_free(values);
  return status;
}

static struct view_series *get_series(void *user, uint32_t number) {
  struct view_values *values = user;
  return &values->tracks[number];
}

int view_values_step(struct view_values *values, uint64_t events, struct kymo_error *error) {
  int status = view_pass_step(&values->pass, events, error);
  if (status == KYMO_END)
    status = view_sort_step(&values->unsorted, &values->store, get_series, values, events);
  return status == KYMO_E_MEMORY ? kymo_fail(error, status, "out of memory") : status;
}

double view_values_progress(const struct view_values *values) { return view_pass_progress(&values->pass); }

bool view_values_from(const struct view_values *values, int64_t *from_ns) {
  return view_pass_from(&values->pass, from_ns);
}

void view_values_free(struct view_values *values) {
  if (!values)
    return;
  for (uint32_t i = 0; i < values->track_count; i++)
    view_series_free(&values->tracks[i]);
  view_match_end(&values->match);
  view_pass_end(&values->pass);
  view_unsorted_free(&values->unsorted);
  view_store_end(&values->store);
  free(values->tracks);
  view_number_end(&values->number);
  free(values->field);
  free(values);
}

int view_tile_values(struct view *view, const struct view_window *window, uint32_t track,
                     const struct view_values *values, struct view_value_cell *cells) {
  (void)view;
  for (uint32_t x = 0; x < window->pixels; x++)
    cells[x] = (struct view_value_cell){0};
  if (track >= values->track_count || window->begin_ns >= window->end_ns)
    return KYMO_OK;
  const struct view_series *series = &values->tracks[track];
  uint64_t at = view_series_find(series, &values->store, window->begin_ns, 0);
  for (uint32_t x = 0; x < window->pixels && at < series->count; x++) {
    uint64_t end = view_series_find(series, &values->store, view_window_edge(window, x + 1), at);
    struct view_range range;
    if (end == at)
      continue;
    view_series_range(series, &values->store, NULL, at, end, &range);
    cells[x] =
        (struct view_value_cell){range.count, view_unorder_float(range.least), view_unorder_float(range.most),
                                 view_unorder_float(view_series_get(series, &values->store, end - 1).value)};
    at = end;
  }
  return KYMO_OK;
}

bool view_values_range(const struct view_values *values, double *least, double *most) {
  struct view_range range;
  bool is_any = false;
  for (uint32_t i = 0; i < values->track_count; i++) {
    const struct view_series *series = &values->tracks[i];
    if (!series->count)
      continue;
    view_series_range(series, &values->store, NULL, 0, series->count, &range);
    double low = view_unorder_float(range.least), high = view_unorder_float(range.most);
    *least = is_any && *least < low ? *least : low;
    *most = is_any && *most > high ? *most : high;
    is_any = true;
  }
  return is_any;
}
