/* SPDX-License-Identifier: MIT */
/*
 * What is read from the trace itself: rows of a table, an event with all its fields.
 *
 * Where all events are in the order of their times, an event is reached by its time, for which traces have
 * indexes: the index knows how many events of that time are before it. Elsewhere, and where finding a time
 * takes long, it is reached by its number, for which a trace has checkpoints where it has gone over events.
 */
#include "view/event_text.h"
#include "view/state.h"
#include "base/fail.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

void view_close_reader(struct view *view) {
  view_match_end(&view->match);
  kymo_trace_close(view->reader);
  free(view->fields.list);
  view->fields = (struct view_field_list){0};
  view->same = (struct view_same){0};
  view->hole = (struct view_hole){0};
  view->reader = NULL;
  view->reached = view->read = 0;
}

struct kymo_trace *view_trace(struct view *view, struct kymo_error *error) {
  if (view->reader)
    return view->reader;
  if (view->options.open(view->options.user, false, &view->reader, error) != KYMO_OK)
    view->reader = NULL;
  view->reader_number = view->last_number;
  if (view->reader && view->options.is_live &&
      view_match_begin(&view->match, view, view->reader, error) != KYMO_OK)
    view_close_reader(view);
  return view->reader;
}

/* A trace by which an event can be read: a live one had fewer when it was opened. */
static bool open_reader(struct view *view, uint64_t number, struct kymo_error *error) {
  if (view->options.is_live && number > view->reader_number)
    view_close_reader(view);
  return view_trace(view, error);
}

/* How many events are at the same time and have smaller numbers. KYMO_OK, KYMO_AGAIN. */
static int count_before(struct view *view, const struct view_mark *mark, uint64_t *count) {
  *count = 0;
  for (uint32_t i = 0; i < view->track_count; i++) {
    const struct view_series *series = &view->tracks[i].events;
    if (!view_trust_times(view, series, mark->time_ns, mark->time_ns) ||
        !view_trust_numbers(view, series, mark->number, mark->number))
      return KYMO_AGAIN;
    uint64_t begin = view_series_find(series, &view->store, mark->time_ns, 0),
             end = view_series_find_value(series, &view->store, mark->number);
    *count += end > begin ? end - begin : 0;
  }
  return view_is_whole(view) ? KYMO_OK : KYMO_AGAIN;
}

/* ---- reaching events ---- */

/* The events of the reader's time on a track, of a kind and of a stream; NULL: they are not counted. */
static struct view_same_sort *sort_of(struct view_same *same, uint32_t track, uint32_t kind,
                                      uint32_t origin) {
  for (unsigned i = 0; i < same->sort_count; i++)
    if (same->sorts[i].track == track && same->sorts[i].kind == kind && same->sorts[i].origin == origin)
      return &same->sorts[i];
  if (same->sort_count == VIEW_SAME_SORTS || !origin)
    return NULL;
  same->sorts[same->sort_count] = (struct view_same_sort){.track = track, .kind = kind, .origin = origin};
  return &same->sorts[same->sort_count++];
}

/* Reads an event of a live trace, and counts it among those of its time. */
static int next_live(struct view *view, const struct kymo_event **event, struct kymo_error *error) {
  struct view_same *same = &view->same;
  struct view_same_sort *sort = NULL;
  int status = kymo_trace_next(view->reader, event, error);
  same->track = same->kind = UINT32_MAX;
  same->origin = 0;
  if (status != KYMO_OK || !(*event)->has_time)
    return status;
  if ((*event)->time_ns != same->time_ns)
    *same = (struct view_same){.time_ns = (*event)->time_ns,
                               .is_set = same->is_set && (*event)->time_ns > same->time_ns};
  same->origin = view_match_origin(&view->match, (*event)->packet->stream);
  if (view_match_event(&view->match, *event, &same->track, &same->kind) == KYMO_OK)
    sort = sort_of(same, same->track, same->kind, same->origin);
  if (sort)
    sort->read++;
  same->has_others |= !sort;
  return KYMO_OK;
}

/* Whether the event that was read last is one that is looked for, or the same but for its number. */
static bool is_match(const struct view *view, const struct view_mark *mark, const struct kymo_event *event) {
  return event->has_time && event->time_ns == mark->time_ns && view->same.track == mark->track &&
         view->same.kind == mark->kind &&
         view_is_origin(view->same.origin, view_origin_of(view, mark->number));
}

/* Those that the reader has gone over, if that is known; or NULL. */
static struct view_same_sort *read_before(struct view *view, const struct view_mark *mark) {
  struct view_same *same = &view->same;
  return same->is_set && !same->has_others && same->time_ns == mark->time_ns
             ? sort_of(same, mark->track, mark->kind, view_origin_of(view, mark->number))
             : NULL;
}

/* Of a live trace: how many events of the stream and track are the same but for their smaller numbers. Those
 * that were counted before are not looked at again. */
static uint64_t count_same(struct view *view, const struct view_mark *mark) {
  const struct view_series *series = &view->tracks[mark->track].events;
  struct view_same_sort *sort = read_before(view, mark), counted = {0};
  uint64_t end = view_series_find_equal(series, &view->store, mark->time_ns, mark->number);
  if (sort && sort->at && sort->at <= end && sort->revision == series->revision)
    counted = *sort;
  else
    counted.at = view_series_find(series, &view->store, mark->time_ns, 0);
  for (; counted.at < end; counted.at++) {
    struct view_entry entry = view_series_get(series, &view->store, counted.at);
    counted.before += entry.code == mark->kind &&
                      view_is_origin(view_origin_of(view, entry.value), view_origin_of(view, mark->number));
  }
  if (sort) {
    sort->at = counted.at;
    sort->before = counted.before;
    sort->revision = series->revision;
  }
  return counted.before;
}

/* The event is gone, and so are all others of the index up to the next one that was read: further ones need
 * no search. KYMO_END. */
static int note_hole(struct view *view, int64_t begin_ns, int64_t end_ns) {
  view->hole = (struct view_hole){begin_ns, end_ns};
  return KYMO_END;
}

/* From where the reader is, unless it has gone over the event. KYMO_END: its ring has overwritten it. */
static int reach_live(struct view *view, const struct view_mark *mark, const struct kymo_event **event,
                      struct kymo_error *error) {
  if (mark->time_ns >= view->hole.begin_ns && mark->time_ns < view->hole.end_ns)
    return KYMO_END;
  uint64_t before = count_same(view, mark);
  const struct view_same_sort *sort = read_before(view, mark);
  bool has_others = true; /* of the same time */
  int status = KYMO_OK;
  if (sort && sort->read <= before) {
    before -= sort->read;
  } else {
    status = kymo_trace_goto_time(view->reader, mark->time_ns, error);
    view->same = (struct view_same){.time_ns = mark->time_ns, .is_set = true};
    has_others = false;
  }
  while (status == KYMO_OK && (status = next_live(view, event, error)) == KYMO_OK) {
    if (is_match(view, mark, *event) && before-- == 0)
      return KYMO_OK;
    if ((*event)->has_time && (*event)->time_ns > mark->time_ns)
      return note_hole(view, mark->time_ns + has_others, (*event)->time_ns);
    has_others = true;
  }
  return status == KYMO_END ? note_hole(view, mark->time_ns + has_others, INT64_MAX) : status;
}

/* Where the reader was not yet it has to read all events before: by steps. */
static int reach_number(struct view *view, uint64_t number, const struct kymo_event **event,
                        struct kymo_error *error) {
  enum { STEP = 1 << 17 };
  int status = KYMO_OK;
  while (status == KYMO_OK && number > view->reached && number - view->reached > STEP) {
    status = kymo_trace_goto_event(view->reader, view->reached + STEP, event, error);
    view->reached += STEP;
    if (status == KYMO_OK && view_is_late(view))
      return VIEW_LATER;
  }
  if (status == KYMO_OK)
    status = kymo_trace_goto_event(view->reader, number, event, error);
  view->reached = status == KYMO_OK && number > view->reached ? number : view->reached;
  return status;
}

static int64_t cpu_now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* Some formats have no index of times, or packets that are large: all events before are stepped over. The
 * first seek of others may take long, too, since it makes their index. */
static int reach_time(struct view *view, const struct view_mark *mark, const struct kymo_event **event,
                      struct kymo_error *error) {
  enum { SLOW_US = 3000 };
  struct kymo_trace *trace = view->reader;
  int64_t begin_us = cpu_now_us();
  uint64_t before;
  int status = count_before(view, mark, &before);
  if (status == KYMO_OK)
    status = kymo_trace_goto_time(trace, mark->time_ns, error);
  for (uint64_t i = 0; i <= before && status == KYMO_OK; i++)
    status = kymo_trace_next(trace, event, error);
  view->slow_seeks += cpu_now_us() - begin_us > SLOW_US;
  if (view->slow_seeks == VIEW_SLOW_SEEKS)
    view->reached = 0; /* checkpoints are made from here on */
  return status;
}

static int reach(struct view *view, const struct view_mark *mark, const struct kymo_event **event,
                 struct kymo_error *error) {
  if (view_must_match(view))
    return reach_live(view, mark, event, error);
  if (view->is_in_order && view->slow_seeks < VIEW_SLOW_SEEKS)
    return reach_time(view, mark, event, error);
  return reach_number(view, mark->number, event, error);
}

/* Whether the event that was read is the one that the index has. */
static bool is_same(const struct view *view, const struct view_mark *mark, const struct kymo_event *event) {
  const char *name = event->class_->name;
  return mark->kind < view->kind_count &&
         (!name || !*name || strcmp(name, view->kinds[mark->kind].name) == 0 ||
          mark->kind == VIEW_KINDS_MAX - 1) &&
         (!event->has_time || event->time_ns == mark->time_ns);
}

/* The result of reaching an event: that of a trace that is not live must be there, and be the one that the
 * index has. */
static int agree(struct view *view, const struct view_mark *mark, int status, const struct kymo_event *event,
                 struct kymo_error *error) {
  bool is_missing = status == KYMO_END && !view->options.is_live;
  return is_missing || (status == KYMO_OK && !is_same(view, mark, event))
             ? view_disagree(view, view->reader, error)
             : status;
}

/* Whether that result says that the event is in the index alone. */
static bool is_gone(const struct view *view, int status) {
  return status == KYMO_END && view->options.is_live;
}

/* ---- rows ---- */

/* The same by a step, if it is the next event. False: it is not, or that is not known. */
static bool is_next_live(struct view *view, const struct view_mark *mark, const struct kymo_event **event,
                         struct kymo_error *error) {
  if (next_live(view, event, error) != KYMO_OK || !is_match(view, mark, *event))
    return false;
  const struct view_same_sort *sort = read_before(view, mark);
  return sort && sort->read == count_same(view, mark) + 1;
}

/* From one event to another one, by a step if it is the next. */
static int go_to(struct view *view, const struct view_mark *mark, bool is_next,
                 const struct kymo_event **event, struct kymo_error *error) {
  int status = KYMO_AGAIN;
  if (is_next && view_must_match(view))
    return is_next_live(view, mark, event, error) ? KYMO_OK : reach(view, mark, event, error);
  if (is_next)
    status = kymo_trace_next(view->reader, event, error);
  return status == KYMO_AGAIN ? reach(view, mark, event, error) : status;
}

/* Rows that are looked up together. */
enum { ROWS_AT_ONCE = 256 };

struct rows {
  struct view *view;
  const struct view_filter *filter;
  bool is_slewed; /* they are not in the order of the trace */
  struct kymo_strbuf text;
  uint64_t at; /* the number of the event that was read last, or 0 */
  view_row_handler *handler;
  void *user;
};

/* KYMO_OK, KYMO_END: the handler wants no more, KYMO_AGAIN, VIEW_LATER, negative. */
static int read_row(struct rows *rows, uint64_t place, const struct view_mark *mark,
                    struct kymo_error *error) {
  struct view *view = rows->view;
  const struct kymo_event *event = NULL;
  bool is_next =
      (rows->at && !rows->filter && !rows->is_slewed) || (view->read && view->read + 1 == mark->number);
  int status = go_to(view, mark, is_next, &event, error);
  rows->at = view->read = status == KYMO_OK ? mark->number : 0;
  status = agree(view, mark, status, event, error);
  const char *text = NULL;
  if (status == KYMO_OK && view_event_text(view->reader, event, &view->text, &rows->text) != KYMO_OK)
    status = kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (status == KYMO_OK)
    text = rows->text.text && rows->text.length ? rows->text.text : "";
  else if (!is_gone(view, status))
    return status;
  const struct view_row row = {place, mark->number, mark->time_ns, mark->track, mark->kind, text};
  return rows->handler(rows->user, &row) ? KYMO_OK : KYMO_END;
}

/* Reads up to ROWS_AT_ONCE rows; results as of read_row. */
static int read_rows(struct rows *rows, uint64_t first, uint64_t count, struct kymo_error *error) {
  uint64_t numbers[ROWS_AT_ONCE];
  struct view_mark marks[ROWS_AT_ONCE];
  size_t found = 0;
  while (found < count && (numbers[found] = view_number_in(rows->view, rows->filter, first + found)))
    found++;
  int status = view_prepare_numbers(rows->view);
  if (status == KYMO_OK && !view_find_all(rows->view, numbers, found, marks))
    status = KYMO_AGAIN;
  for (size_t i = 0; i < found && status == KYMO_OK; i++) {
    if (marks[i].number)
      status = read_row(rows, first + i, &marks[i], error);
    else
      rows->at = 0; /* it waits to be sorted */
    if (status == KYMO_OK && i + 1 < found && view_is_late(rows->view))
      status = VIEW_LATER;
  }
  return status == KYMO_OK && found < count ? KYMO_END : status;
}

int view_rows(struct view *view, struct view_filter *filter, uint64_t first, uint64_t count,
              view_row_handler *handler, void *user, struct kymo_error *error) {
  struct rows rows = {.view = view, .filter = filter, .handler = handler, .user = user};
  uint64_t last = view_number_in(view, filter, first + (count ? count - 1 : 0));
  int status = open_reader(view, last ? last : view->last_number, error) ? KYMO_OK : KYMO_E_SYSTEM;
  for (uint64_t i = 0; i < count && status == KYMO_OK; i += ROWS_AT_ONCE)
    status = read_rows(&rows, first + i, count - i < ROWS_AT_ONCE ? count - i : ROWS_AT_ONCE, error);
  kymo_strbuf_free(&rows.text);
  return status == KYMO_END ? KYMO_OK : status;
}

int view_read_marks(struct view *view, const struct view_mark *marks, size_t count, uint64_t first,
                    view_row_handler *handler, void *user, struct kymo_error *error) {
  struct rows rows = {.view = view, .is_slewed = true, .handler = handler, .user = user};
  uint64_t last = 0;
  for (size_t i = 0; i < count; i++)
    last = marks[i].number > last ? marks[i].number : last;
  int status = open_reader(view, last, error) ? KYMO_OK : KYMO_E_SYSTEM;
  for (size_t i = 0; i < count && status == KYMO_OK; i++) {
    status = read_row(&rows, first + i, &marks[i], error);
    if (status == KYMO_OK && i + 1 < count && view_is_late(view))
      status = VIEW_LATER;
  }
  kymo_strbuf_free(&rows.text);
  return status == KYMO_END ? KYMO_OK : status;
}

int view_event(struct view *view, uint64_t number, struct view_row *row, view_field_handler *handler,
               void *user, struct kymo_error *error) {
  struct view_mark mark;
  const struct kymo_event *event = NULL;
  if (!open_reader(view, number, error))
    return KYMO_E_SYSTEM;
  int status = view_prepare_numbers(view);
  if (status == KYMO_OK && !view_find(view, number, &mark))
    return view->is_wrong ? KYMO_AGAIN : KYMO_END;
  if (status == KYMO_OK) {
    status = reach(view, &mark, &event, error);
    view->read = status == KYMO_OK ? number : 0;
    status = agree(view, &mark, status, event, error);
  }
  bool is_row = status == KYMO_OK || is_gone(view, status);
  if (is_row)
    *row =
        (struct view_row){0, mark.number, mark.time_ns, mark.track, mark.kind, status == KYMO_OK ? "" : NULL};
  if (status != KYMO_OK)
    return is_row ? KYMO_OK : status;
  return view_each_field(view->reader, event, VIEW_FIELDS_ALL, &view->text, handler, user) == KYMO_OK
             ? KYMO_OK
             : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
}
