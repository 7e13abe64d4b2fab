/* SPDX-License-Identifier: MIT */
/*
 * Filters: one pass over the trace by the machine of `kymo cat --filter` gives the set of selected events by
 * their numbers (marks.h). What a track has of them is looked up in steps after the pass, or when the track
 * is first drawn: its entries have their events' numbers.
 */
#include "view/state.h"
#include "base/fail.h"
#include <stdlib.h>
#include <string.h>

struct track_bits {
  struct view_bits bits;
  uint64_t decided;  /* up to which number of an event the bits are right … */
  uint64_t revision; /* … of this state of the track */
};

struct view_filter {
  struct view *view;
  struct view_pass pass;
  struct kymo_filter *filter;
  char *text;
  struct view_marks marks;
  struct view_match match; /* of a live trace */
  uint64_t decided; /* events up to this number are known to be selected or not; of a live trace: how often
                     * that has changed */
  uint64_t added;   /* by activities: they have no numbers */
  struct track_bits *tracks;
  uint32_t track_count;
  uint32_t next_track; /* for which bits are made in steps */
};

/* What is not indexed yet is left out. */
static int take_live(struct view_filter *filter, const struct kymo_event *event) {
  uint64_t number;
  int status = view_match_number(&filter->match, event, &number);
  if (status == KYMO_OK && !view_marks_put(&filter->marks, number))
    return KYMO_E_MEMORY;
  return status == KYMO_E_ABSENT ? KYMO_OK : status;
}

static int take(void *user, const struct kymo_event *event) {
  struct view_filter *filter = user;
  if (event->number == 0)
    filter->added++;
  else if (view_must_match(filter->view))
    return take_live(filter, event);
  else if (event->number > filter->decided && !view_marks_add(&filter->marks, event->number))
    return KYMO_E_MEMORY;
  return KYMO_OK;
}

static int compile(struct view_filter *filter, struct kymo_error *error) {
  struct kymo_trace *trace = filter->pass.trace;
  size_t count = kymo_trace_part_count(trace);
  const struct kymo_schema **schemas = calloc(count + 1, sizeof(struct kymo_schema *));
  if (!schemas)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  for (size_t i = 0; i < count; i++)
    schemas[i] = kymo_trace_part(trace, i)->schema;
  const struct kymo_filter_options options = {.schemas = schemas, .schema_count = count};
  int status = kymo_filter_compile(&filter->filter, filter->text, strlen(filter->text), &options, error);
  free(schemas);
  return status == KYMO_OK ? kymo_filter_attach(trace, filter->filter, error) : status;
}

static int begin_pass(struct view_filter *filter, struct kymo_error *error) {
  filter->pass = (struct view_pass){.take = take, .user = filter};
  int status = view_pass_begin(&filter->pass, filter->view, NULL, error);
  if (status == KYMO_OK && filter->view->options.is_live)
    status = view_match_begin(&filter->match, filter->view, filter->pass.trace, error);
  filter->match.is_part = true;
  return status == KYMO_OK ? compile(filter, error) : status;
}

int view_filter_begin(struct view_filter **out, struct view *view, struct kymo_error *error) {
  struct view_filter *filter = calloc(1, sizeof *filter);
  *out = NULL;
  if (!filter)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  filter->view = view;
  int status = view_marks_begin(&filter->marks, view->last_number, error);
  if (status == KYMO_OK)
    *out = filter;
  else
    view_filter_free(filter);
  return status;
}

bool view_filter_mark(struct view_filter *filter, uint64_t number) {
  return view_marks_put(&filter->marks, number);
}

void view_filter_end(struct view_filter *filter) {
  view_marks_settle(&filter->marks);
  filter->decided = UINT64_MAX;
}

int view_filter_attach(const struct view_filter *filter, struct kymo_trace *trace, struct kymo_error *error) {
  return filter->filter ? kymo_filter_attach(trace, filter->filter, error) : KYMO_E_ABSENT;
}

int view_filter_new(struct view_filter **out, struct view *view, const char *text, struct kymo_error *error) {
  struct view_filter *filter;
  *out = NULL;
  int status = view_filter_begin(&filter, view, error);
  if (status != KYMO_OK)
    return status;
  filter->text = view_copy(text);
  status = filter->text ? begin_pass(filter, error) : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (status == KYMO_OK)
    *out = filter;
  else
    view_filter_free(filter);
  return status;
}

void view_filter_free(struct view_filter *filter) {
  if (!filter)
    return;
  view_match_end(&filter->match);
  view_pass_end(&filter->pass);
  kymo_filter_release(filter->filter);
  view_marks_end(&filter->marks);
  free(filter->text);
  free(filter->tracks);
  free(filter);
}

/* ---- by track ---- */

static bool selects(void *user, const struct view_entry *entry) {
  const struct view_filter *filter = user;
  return view_marks_have(&filter->marks, entry->value);
}

static bool have_tracks(struct view_filter *filter) {
  uint32_t count = filter->view->track_count;
  if (count <= filter->track_count)
    return true;
  struct track_bits *tracks = realloc(filter->tracks, count * sizeof *tracks);
  if (!tracks)
    return false;
  memset(tracks + filter->track_count, 0, (count - filter->track_count) * sizeof *tracks);
  filter->tracks = tracks;
  filter->track_count = count;
  return true;
}

/* Where numbers grow on the track, what was decided already stays. */
static void forget_undecided(const struct view_filter *filter, struct track_bits *made,
                             const struct view_track *track) {
  const struct view *view = filter->view;
  if (made->revision != track->events.revision ||
      (made->decided < filter->decided && (!view->is_in_order || view->options.is_live))) {
    made->bits.count = 0;
  } else if (made->decided < filter->decided) {
    uint64_t count = view_series_find_value(&track->events, &view->store, made->decided + 1);
    made->bits.count = count < made->bits.count ? count : made->bits.count;
  }
  made->revision = track->events.revision;
  made->decided = filter->decided;
}

/* For how many entries of a track bits are made. Of what is not decided yet nothing is selected, so it needs
 * none. */
static uint64_t count_decided(const struct view_filter *filter, const struct view_series *series) {
  const struct view *view = filter->view;
  if (filter->decided == UINT64_MAX || !view->is_in_order || view->options.is_live)
    return series->count;
  uint64_t count = view_series_find_value(series, &view->store, filter->decided + 1);
  count = (count + VIEW_BLOCK - 1) / VIEW_BLOCK * VIEW_BLOCK;
  return count < series->count ? count : series->count;
}

/* Makes bits for this number of entries more. False: no memory. */
static bool make_bits(struct view_filter *filter, uint32_t number, uint64_t more) {
  struct track_bits *made = &filter->tracks[number];
  const struct view_track *track = &filter->view->tracks[number];
  uint64_t count = count_decided(filter, &track->events);
  forget_undecided(filter, made, track);
  if (made->bits.count >= count && made->bits.store)
    return true;
  if (more < count - made->bits.count)
    count = (made->bits.count + more) / VIEW_CHUNK_ENTRIES * VIEW_CHUNK_ENTRIES;
  return view_bits_make(&made->bits, &filter->marks.store, &track->events, &filter->view->store, count,
                        selects, filter);
}

const struct view_bits *view_filter_bits(struct view_filter *filter, uint32_t number) {
  return have_tracks(filter) && make_bits(filter, number, UINT64_MAX) ? &filter->tracks[number].bits : NULL;
}

int view_filter_prepare(struct view_filter *filter, uint32_t number) {
  enum { TOGETHER = 16 * VIEW_CHUNK_ENTRIES };
  const struct view_series *series = &filter->view->tracks[number].events;
  if (!have_tracks(filter))
    return KYMO_E_MEMORY;
  const struct view_bits *bits = &filter->tracks[number].bits;
  for (uint64_t before = UINT64_MAX; before != bits->count || !bits->store;) {
    before = bits->store ? bits->count : UINT64_MAX;
    if (!make_bits(filter, number, TOGETHER))
      return KYMO_E_MEMORY;
    if (bits->count < count_decided(filter, series) && view_is_late(filter->view))
      return VIEW_LATER;
  }
  return KYMO_OK;
}

/* ---- steps ---- */

/* KYMO_END: all tracks have their bits. */
static int step_bits(struct view_filter *filter, uint64_t events, struct kymo_error *error) {
  struct view *view = filter->view;
  uint64_t chunk = events < VIEW_CHUNK_ENTRIES ? VIEW_CHUNK_ENTRIES : events;
  if (!have_tracks(filter))
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  for (; filter->next_track < view->track_count; filter->next_track++) {
    const struct view_series *series = &view->tracks[filter->next_track].events;
    const struct view_bits *bits = &filter->tracks[filter->next_track].bits;
    if (!view_trust(view, series, bits->count, bits->count + chunk))
      return KYMO_END; /* the index is built anew, and bits are made when they are needed */
    if (!make_bits(filter, filter->next_track, chunk))
      return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
    if (bits->count < series->count)
      return KYMO_OK;
    if (series->count >= events)
      return filter->next_track++, KYMO_OK;
    events -= series->count;
  }
  return KYMO_END;
}

static int step_pass(struct view_filter *filter, uint64_t events, struct kymo_error *error) {
  bool is_live = filter->view->options.is_live;
  int status = view_pass_step(&filter->pass, events, error);
  if (is_live)
    filter->decided++;
  else
    filter->decided = status == KYMO_END ? UINT64_MAX : filter->pass.number;
  if (status != KYMO_END)
    return status;
  if (is_live)
    view_marks_settle(&filter->marks);
  filter->next_track = 0;
  return KYMO_OK;
}

int view_filter_step(struct view_filter *filter, uint64_t events, struct kymo_error *error) {
  return filter->pass.is_done ? step_bits(filter, events, error) : step_pass(filter, events, error);
}

double view_filter_progress(const struct view_filter *filter) { return view_pass_progress(&filter->pass); }

bool view_filter_from(const struct view_filter *filter, int64_t *from_ns) {
  return view_pass_from(&filter->pass, from_ns);
}

uint64_t view_filter_added(const struct view_filter *filter) { return filter->added; }

uint64_t view_filter_count(const struct view_filter *filter) { return filter->marks.count + filter->added; }

/* ---- by number ---- */

uint64_t view_filter_rank(const struct view_filter *filter, uint64_t number) {
  return view_marks_rank(&filter->marks, number);
}

uint64_t view_filter_select(const struct view_filter *filter, uint64_t row) {
  return view_marks_select(&filter->marks, row);
}
