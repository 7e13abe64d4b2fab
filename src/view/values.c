/* SPDX-License-Identifier: MIT */
/* The values of a field by track and time: a series for each track, of which the least and the largest in
 * any range are known. Texts are numbered as they first come, so of several in a pixel the one that is known
 * is the newest. */
#include "view/state.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/table.h"
#include <stdlib.h>
#include <string.h>

/* Texts by their numbers. */
struct texts {
  struct kymo_hash_table table; /* number + 1, by hash */
  uint32_t count;
  uint64_t hashes[VIEW_TEXTS_MAX]; /* of the whole texts, of which only the begin is kept */
  struct view_text list[VIEW_TEXTS_MAX];
};

struct view_values {
  struct view *view;
  struct view_pass pass;
  struct view_match match;
  struct view_store store;
  char *field;
  struct view_number number;
  struct texts *texts; /* NULL: the values are numbers */
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

/* ---- texts ---- */

static bool add_text(struct texts *texts, const char *text, uint64_t length, uint64_t hash) {
  struct view_text *added = &texts->list[texts->count];
  size_t kept = length < VIEW_TEXT_BYTES ? (size_t)length : VIEW_TEXT_BYTES;
  char *copy = malloc(kept + 1);
  if (!copy || !kymo_hash_table_add(&texts->table, NULL, (uint32_t)hash, texts->count + (uintptr_t)1))
    return free(copy), false;
  memcpy(copy, text, kept);
  copy[kept] = 0;
  *added = (struct view_text){.text = copy, .length = length};
  texts->hashes[texts->count++] = hash;
  return true;
}

/* False: no memory. */
static bool number_text(struct texts *texts, const char *text, uint64_t length, double *value) {
  uint64_t hash = kymo_keyed_text(text, (size_t)length);
  uint32_t at = (uint32_t)hash;
  for (uintptr_t item; (item = kymo_hash_table_next(&texts->table, (uint32_t)hash, &at)) != 0;)
    if (texts->hashes[item - 1] == hash && texts->list[item - 1].length == length) {
      texts->list[item - 1].events++;
      *value = (double)(item - 1);
      return true;
    }
  *value = texts->count;
  if (texts->count == VIEW_TEXTS_MAX)
    return true;
  if (!add_text(texts, text, length, hash))
    return false;
  texts->list[texts->count - 1].events = 1;
  return true;
}

static void free_texts(struct texts *texts) {
  for (uint32_t i = 0; texts && i < texts->count; i++)
    free((char *)(uintptr_t)texts->list[i].text);
  if (texts)
    kymo_hash_table_free(&texts->table);
  free(texts);
}

const struct view_text *view_values_texts(const struct view_values *values, uint32_t *count) {
  *count = values->texts ? values->texts->count : 0;
  return values->texts ? values->texts->list : NULL;
}

/* ---- taking ---- */

/* KYMO_OK, KYMO_E_ABSENT: the event has no such value, KYMO_E_MEMORY. */
static int value_of(const struct view_values *values, const struct kymo_event *event, double *value) {
  const struct kymo_numbers *numbers = &values->match.tracker.whos.numbers;
  const char *text;
  uint64_t length;
  if (!values->texts)
    return view_number_read(&values->number, values->pass.trace, numbers, event, value) ? KYMO_OK
                                                                                        : KYMO_E_ABSENT;
  if (!view_text_read(&values->number, values->pass.trace, numbers, event, &text, &length))
    return KYMO_E_ABSENT;
  return number_text(values->texts, text, length, value) ? KYMO_OK : KYMO_E_MEMORY;
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
  if (status == KYMO_OK)
    status = value_of(values, event, &value);
  if (status != KYMO_OK)
    return status == KYMO_E_ABSENT ? KYMO_OK : status;
  struct view_series *series = series_of(values, track);
  if (!series)
    return KYMO_E_MEMORY;
  const struct view_entry entry = {values->last_ns, view_order_float(value), 0};
  return view_put_sorted(&values->unsorted, series, &values->store, track, &entry) ? KYMO_OK : KYMO_E_MEMORY;
}

static struct view_values *make_values(const char *field, bool are_texts) {
  struct view_values *values = calloc(1, sizeof *values);
  if (!values)
    return NULL;
  values->field = view_copy(field);
  values->texts = are_texts ? calloc(1, sizeof *values->texts) : NULL;
  if (values->field && (values->texts || !are_texts))
    return values;
  view_values_free(values);
  return NULL;
}

/* Takes the values over. */
static int begin(struct view_values **out, struct view_values *values, struct view *view,
                 const struct view_filter *filter, struct kymo_error *error) {
  *out = NULL;
  if (!values)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
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

int view_values_new(struct view_values **out, struct view *view, const char *field,
                    const struct view_filter *filter, struct kymo_error *error) {
  return begin(out, make_values(field, false), view, filter, error);
}

int view_values_new_texts(struct view_values **out, struct view *view, const char *field,
                          const struct view_filter *filter, struct kymo_error *error) {
  return begin(out, make_values(field, true), view, filter, error);
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
  free_texts(values->texts);
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
