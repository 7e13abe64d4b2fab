/* SPDX-License-Identifier: MIT */
/*
 * What the viewer knows of traces: an index of all events by track and time, of which any picture is drawn
 * without reading the trace, and what is read from the trace itself.
 *
 *   view_open ──► view_build_step, again and again ──► complete
 *       │              one pass by batches; what is indexed so far can be asked for in between
 *       ├── lists: view_track, view_kind, view_span_kind, view_losses, view_problem
 *       ├── pictures: view_tile, view_tile_spans, view_tile_values
 *       ├── tasks, each a pass by steps: view_filter_new, view_latency_new, view_histogram_new, …
 *       └── texts: view_rows, view_event; view_search, view_statistics, view_compare
 *
 * Times are nanoseconds as in events. Events are known by their numbers, from 1, as `kymo cat` counts them.
 * Counts and percentiles are those of `kymo stat` and `kymo cat --filter`: the code is the same (src/stat,
 * src/span, src/filter). A view, with its tasks, belongs to one thread at a time. What functions hand out is
 * the view's and holds until its next step, unless they say otherwise.
 *
 * The index is kept in the user's cache. It is never trusted: an index that is of other files, damaged, or
 * not what the trace says is built anew, which view_build_step then does; until then pictures are empty, not
 * wrong.
 */
#ifndef KYMO_VIEW_VIEW_H
#define KYMO_VIEW_VIEW_H

#include "stat/samples.h"
#include "view/tracker.h"
#include <kymo/filter.h>

struct view;

/* More bytes than this are not kept in the user's cache: what was used the longest ago is removed. */
#define VIEW_KEPT_MOST (UINT64_C(4) << 30)

struct view_options {
  /* Opens the traces, at their start: once for building, and once for each task that reads them. is_live:
   * they are followed. */
  int (*open)(void *user, bool is_live, struct kymo_trace **out, struct kymo_error *error);
  void *user;
  const char *const *paths; /* what is opened: the index holds as long as these files are the same */
  size_t path_count;
  const char *identity; /* the options that decide what is read, as a text; or NULL */
  enum view_track_by by;
  const char *field;  /* of VIEW_BY_FIELD */
  bool is_live;       /* the traces grow */
  bool is_kept;       /* in the user's cache; else in a temporary file */
  uint64_t kept_most; /* bytes of all indexes that are kept; 0: VIEW_KEPT_MOST */
  bool is_fresh;      /* an index that is kept is not taken, since something else may have changed */
};

/* ---- life ---- */

/* Opens the traces, and their index if one is kept. On success *out is the caller's, to be closed. Paths and
 * texts of the options are copied. What `open` says, KYMO_E_USAGE if there is no such field, KYMO_E_MEMORY,
 * KYMO_E_SYSTEM. */
int view_open(struct view **out, const struct view_options *options, struct kymo_error *error);
/* NULL is fine. Tasks are to be freed before. */
void view_close(struct view *view);
/* Indexes about `events` events more, or checks as many of an index that was kept. KYMO_OK: there is more to
 * do; KYMO_AGAIN: all of a live trace so far is done; KYMO_END: the index is complete; negative: nothing more
 * can be read, and what is indexed stays. */
int view_build_step(struct view *view, uint64_t events, struct kymo_error *error);

struct view_info {
  uint64_t events;          /* indexed so far */
  int64_t begin_ns, end_ns; /* of these */
  bool has_times;           /* else times are the numbers of events */
  bool is_epoch;            /* times are times of day */
  bool is_complete;
  bool is_from_cache;
  bool is_kept;     /* for the next start, when it is complete */
  bool is_gone;     /* its files were not there when view_agree looked; what was indexed stays */
  uint64_t rebuilt; /* how often an index was found wrong and thrown away */
  uint32_t tracks, kinds, span_kinds;
  uint64_t spans, undrawn_spans; /* undrawn: those for which a track has no lane, or that are out of order */
  uint64_t index_bytes;
  uint64_t losses, lost_events, lost_packets, unknown_losses;
  double progress; /* how much of the files is indexed, 0 to 1; negative: that is not known */
};
void view_info(const struct view *view, struct view_info *info);
/* Whether the index was found wrong: the next step throws it away and builds it anew. */
bool view_is_wrong(const struct view *view);
/* Whether what was looked up in the index holds: KYMO_OK, also if the files are gone; KYMO_E_FORMAT with the
 * error if the index was found wrong, or if the files are others now, which is looked at twice a second. */
int view_agree(struct view *view, struct kymo_error *error);
/* The trace by which rows are read, for what is to be asked of it besides: schemas, fields, clocks. NULL with
 * the error. */
struct kymo_trace *view_trace(struct view *view, struct kymo_error *error);

/* ---- what there is ---- */

struct view_track_info {
  const char *name; /* of the trace: untrusted */
  const char *part; /* the path of the part that it is of */
  uint32_t part_index;
  bool has_process;
  int64_t process; /* the process, if events say it */
  uint64_t events, spans;
  uint32_t lanes;        /* spans are drawn on this number of lanes, one inside the other … */
  uint64_t deeper_spans; /* … and these are deeper */
  int64_t begin_ns, end_ns;
};
/* False: there is no such track. */
bool view_track(const struct view *view, uint32_t track, struct view_track_info *info);

struct view_kind_info {
  const char *name;
  uint64_t events;
  enum { VIEW_KIND_PLAIN, VIEW_KIND_BEGINS, VIEW_KIND_ENDS } edge; /* of a span */
};
/* False: there is no such kind. */
bool view_kind(const struct view *view, uint32_t kind, struct view_kind_info *info);
/* The kind of a name, or UINT32_MAX. */
uint32_t view_kind_find(const struct view *view, const char *name);
/* The name of a kind of spans; NULL: there is no such kind. */
const char *view_span_kind(const struct view *view, uint32_t kind);

struct view_loss {
  int64_t begin_ns, end_ns;
  uint64_t count; /* 0: not known */
  uint32_t track; /* UINT32_MAX: all tracks of the part */
  uint32_t part;
  bool is_packets;
  bool has_times; /* while building: else its times are those of the event before it */
};
/* In the order in which they were met; at most VIEW_LOSSES_MAX are listed. */
enum { VIEW_LOSSES_MAX = 65536, VIEW_PROBLEMS_MAX = 4096 };
const struct view_loss *view_losses(const struct view *view, size_t *count);

struct view_problem {
  const char *path;
  uint64_t offset; /* or KYMO_ERROR_NO_OFFSET */
  uint64_t bytes_lost;
  const char *message;
};
/* Damaged places. False: there is none of this index. */
bool view_problem(const struct view *view, size_t index, struct view_problem *problem);

/* Whether the rings of a live process have overwritten events of the index: those before *before_ns, of some
 * threads at least. */
bool view_overwritten(struct view *view, int64_t *before_ns);

/* ---- time ---- */

struct view_filter;
struct view_values;

/* From now on, calls that may return VIEW_LATER do so when about this many microseconds are over, until this
 * is called again: the same call, once more, goes on. 0: they go on to the end. */
void view_set_budget(struct view *view, int64_t us);
/* Whether the time is over. */
bool view_is_late(const struct view *view);
enum { VIEW_LATER = 100 };
/* Does what searching in tracks, and drawing what a filter selects of them, needs: an index that was kept is
 * checked, and what is selected is looked up. tracks NULL: all of them. KYMO_OK, KYMO_AGAIN, VIEW_LATER,
 * KYMO_E_UNKNOWN, KYMO_E_MEMORY. */
int view_prepare(struct view *view, const uint32_t *tracks, size_t count, struct view_filter *filter);

/* ---- pictures ---- */

struct view_window {
  int64_t begin_ns, end_ns; /* end_ns is not in it */
  uint32_t pixels;
};
/* The first time that is in a pixel: where it begins, rounded up; that of `pixels` is the end. */
int64_t view_window_edge(const struct view_window *window, uint32_t pixel);

struct view_cell {
  uint64_t count;
  uint64_t kinds;   /* a set: 1 << kind % 64 */
  uint64_t longest; /* nanoseconds: to the next event of the track; of spans how long it lasts */
  uint32_t kind;    /* of that event or span; UINT32_MAX: there is none */
};
/* Fills `pixels` cells for each of `count` tracks, one track after the other: exactly how many events are in
 * each pixel, of which kinds, and the one that lasts longest until the next. Of a filter, of the events that
 * it selects. KYMO_OK; KYMO_AGAIN: the index was wrong and is thrown away, all cells are empty; VIEW_LATER;
 * KYMO_E_UNKNOWN: there is no such track; KYMO_E_MEMORY. */
int view_tile(struct view *view, const struct view_window *window, const uint32_t *tracks, size_t count,
              struct view_filter *filter, struct view_cell *cells);
/* The same of the spans on one lane of a track: `count` are those that begin in the pixel and have an end,
 * the longest is of all that are in it at any time. A span without an end goes to the end of the trace; those
 * that may have ended among lost events are left out, as `kymo stat latency` does. */
int view_tile_spans(struct view *view, const struct view_window *window, uint32_t track, uint32_t lane,
                    struct view_cell *cells);

struct view_value_cell {
  uint64_t count;
  double least, most, last;
};
/* The same of a field's values; the cells of a track without values are empty. KYMO_OK. */
int view_tile_values(struct view *view, const struct view_window *window, uint32_t track,
                     const struct view_values *values, struct view_value_cell *cells);

/* One event of a track. */
struct view_mark {
  int64_t time_ns;
  uint64_t number;
  uint32_t track, kind;
  bool is_wrapped; /* of view_search: it is on the other side of the end */
};
/* The event with a number. False: there is none. */
bool view_find(struct view *view, uint64_t number, struct view_mark *mark);
/* The same of several numbers, which rise, in one pass; the number of a mark is 0 if there is no such event.
 * False: the index was wrong. */
bool view_find_all(struct view *view, const uint64_t *numbers, size_t count, struct view_mark *marks);
/* The event of a track nearest to a time. False: the track has none. */
bool view_nearest(struct view *view, uint32_t track, int64_t time_ns, struct view_mark *mark);
/* A span of a lane that is open at a time. */
struct view_span {
  int64_t begin_ns;
  uint64_t duration_ns;
  uint32_t kind;
  bool is_open; /* it has no end: the duration is that to the end of the trace */
};
/* False: no span of the lane is open at the time, or there is no such lane, or the index was wrong. */
bool view_span_at(struct view *view, uint32_t track, uint32_t lane, int64_t time_ns, struct view_span *span);
/* A span of a lane by its place, from 0, in the order of the begins; one that is open is the last. False:
 * there are no more. */
bool view_span(struct view *view, uint32_t track, uint32_t lane, uint64_t place, struct view_span *span);

/* Tracks whose times are shown shifted: to each time of tracks[i] ns[i] is added. */
struct view_slews {
  const uint32_t *tracks; /* of one that comes twice the last offset counts */
  const int64_t *ns;
  size_t count;
};

/* ---- tasks: passes over the trace, by steps ---- */

/* Steps of a task look at about `events` events. KYMO_OK: there is more to do; KYMO_END: it is done;
 * negative: it failed. Their progress is from 0 to 1. The _from functions: of the rings of a live process,
 * whether the result lacks events that were overwritten: it is complete from *from_ns on. What _new makes is
 * the caller's, to be freed by _free before the view is closed; on failure *out is NULL. Texts are copied; a
 * filter must live as long as the tasks that use it. */

/* A filter in FDL (docs/filters.md). KYMO_E_SYNTAX … as kymo_filter_compile. Of a live trace
 * it selects among what was there when it was made. */
int view_filter_new(struct view_filter **out, struct view *view, const char *text, struct kymo_error *error);
int view_filter_step(struct view_filter *filter, uint64_t events, struct kymo_error *error);
/* How many events it selects so far, as `kymo cat --filter | wc -l`: with those that activities add. */
uint64_t view_filter_count(const struct view_filter *filter);
/* … and how many of these activities add: they have no numbers, and no place in pictures and rows. */
uint64_t view_filter_added(const struct view_filter *filter);
double view_filter_progress(const struct view_filter *filter);
bool view_filter_from(const struct view_filter *filter, int64_t *from_ns);
void view_filter_free(struct view_filter *filter);

struct view_latency;
struct view_latency_query {
  const char *from, *to;            /* names of kinds */
  const char *key;                  /* a field by which they belong together, or NULL: the thread */
  const struct view_filter *filter; /* of the events that it selects, or NULL: all */
  const int64_t *slews;             /* by track: how much later its events are shown; copied */
  uint32_t slew_count;              /* of further tracks: 0 */
  bool is_limited; /* pairs from low_ns to high_ns, which is in it, are listed, and only they drawn */
  int64_t low_ns, high_ns;
};
struct view_pair {
  int64_t begin_ns, duration_ns;
  uint64_t begin_number, end_number;
};
enum { VIEW_PAIRS_MAX = 1000 };
struct view_latency_result {
  struct kymo_samples *all; /* for kymo_samples_percentile, kymo_samples_in */
  uint64_t without_begin, without_end, without_key, over_gaps;
  const struct kymo_worst *worst; /* the longest first */
  unsigned worst_count;
  uint64_t limited;              /* how many pairs are within the limits … */
  const struct view_pair *pairs; /* … and the first of them, as they end */
  unsigned pair_count;
};
/* Times from one kind to another: the same as `kymo stat latency --from … --to … --key … --filter …`. With
 * slews times are those that are shown; which events are a pair is decided by their order in the trace.
 * KYMO_E_USAGE if there is no such kind or field. */
int view_latency_new(struct view_latency **out, struct view *view, const struct view_latency_query *query,
                     struct kymo_error *error);
int view_latency_step(struct view_latency *latency, uint64_t events, struct kymo_error *error);
/* KYMO_OK, KYMO_E_MEMORY. */
int view_latency_result(struct view_latency *latency, struct view_latency_result *result);
/* Draws the pairs as cells: as view_tile_spans, all of them on one lane, by when they end. */
int view_latency_tile(const struct view_latency *latency, const struct view_window *window,
                      struct view_cell *cells);
double view_latency_progress(const struct view_latency *latency);
bool view_latency_from(const struct view_latency *latency, int64_t *from_ns);
void view_latency_free(struct view_latency *latency);

/* Values of a field, of all events or of those that a filter selects: numbers as `kymo stat histogram FIELD`,
 * texts as `kymo stat counts --by FIELD`. */
struct view_histogram;
int view_histogram_new(struct view_histogram **out, struct view *view, const char *field,
                       const struct view_filter *filter, struct kymo_error *error);
int view_histogram_step(struct view_histogram *histogram, uint64_t events, struct kymo_error *error);
/* The numbers; the samples are the histogram's, and empty if the field is a text. */
struct kymo_samples *view_histogram_result(struct view_histogram *histogram);
struct view_histogram_value {
  const char *text; /* of the trace: untrusted */
  uint64_t count;
};
enum { VIEW_VALUES_MAX = 1000 };
/* The most common texts, of *all that there are; the list holds until the next call or step. KYMO_E_ABSENT:
 * the field is a number; KYMO_E_MEMORY. */
int view_histogram_values(struct view_histogram *histogram, const struct view_histogram_value **list,
                          size_t *count, uint64_t *all);
double view_histogram_progress(const struct view_histogram *histogram);
bool view_histogram_from(const struct view_histogram *histogram, int64_t *from_ns);
void view_histogram_free(struct view_histogram *histogram);

/* Values of a numeric field by track and time, for view_tile_values: of all events, or of those that a filter
 * selects. KYMO_E_USAGE: no event has such a field; KYMO_E_MEMORY, or what opening the trace says. */
int view_values_new(struct view_values **out, struct view *view, const char *field,
                    const struct view_filter *filter, struct kymo_error *error);
/* The same of a field of texts: the values are their numbers, from 0, in the order in which they first come.
 * All that come after VIEW_TEXTS_MAX of them have the number VIEW_TEXTS_MAX. */
int view_values_new_texts(struct view_values **out, struct view *view, const char *field,
                          const struct view_filter *filter, struct kymo_error *error);
enum { VIEW_TEXTS_MAX = 255, VIEW_TEXT_BYTES = 100 };
struct view_text {
  const char *text; /* of the trace: untrusted; its first VIEW_TEXT_BYTES … */
  uint64_t length;  /* … of this number of bytes */
  uint64_t events;
};
/* Those of them that have a number, which hold until the next step. NULL: the values are numbers. */
const struct view_text *view_values_texts(const struct view_values *values, uint32_t *count);
int view_values_step(struct view_values *values, uint64_t events, struct kymo_error *error);
double view_values_progress(const struct view_values *values);
bool view_values_from(const struct view_values *values, int64_t *from_ns);
/* The least and the largest value of all tracks. False: there is none. */
bool view_values_range(const struct view_values *values, double *least, double *most);
void view_values_free(struct view_values *values);

/* What is in a window of time: events by track and kind, and spans; of those that a filter selects, unless it
 * is NULL. The filter must live as long as the selection. */
struct view_selection;
struct view_selection_query {
  int64_t begin_ns, end_ns; /* end_ns is not in it */
  struct view_filter *filter;
  const int64_t *slews; /* by track: how much later its events are shown, and in the window; copied */
  uint32_t slew_count;  /* of further tracks: 0 */
};
struct view_selection_result {
  uint64_t events;
  const uint64_t *tracks, *kinds; /* by their numbers: how many events */
  uint32_t track_count, kind_count;
  const struct view_statistic *spans; /* whose begin and end are in it, as `kymo stat latency` has them */
  size_t span_count;
};
/* KYMO_E_MEMORY. */
int view_selection_new(struct view_selection **out, struct view *view,
                       const struct view_selection_query *query, struct kymo_error *error);
int view_selection_step(struct view_selection *selection, uint64_t events, struct kymo_error *error);
double view_selection_progress(const struct view_selection *selection);
bool view_selection_from(const struct view_selection *selection, int64_t *from_ns);
/* What is known so far; the lists are the selection's and hold until its next step. */
void view_selection_result(const struct view_selection *selection, struct view_selection_result *result);
void view_selection_free(struct view_selection *selection);

/* Anomalies: events whose field is further from the mean of its track than a number of deviations (of the
 * population). */
struct view_anomaly;
enum { VIEW_HIGH = 1, VIEW_LOW = 2 };
struct view_anomaly_query {
  const char *kind, *field;         /* kind: NULL: any */
  double threshold;                 /* the number of deviations, above 0, at most 10 */
  unsigned sides;                   /* VIEW_HIGH, VIEW_LOW, or both */
  const struct view_filter *filter; /* of the events that it selects, or NULL: all */
};
struct view_anomaly_track {
  uint64_t count; /* events with the field; 0: the track has none */
  double least, most, mean, deviation;
  double high, low; /* what is above, or below, is an anomaly */
  uint64_t anomalies;
};
/* KYMO_E_USAGE: there is no such kind or field, or the threshold or the sides make no sense. */
int view_anomaly_new(struct view_anomaly **out, struct view *view, const struct view_anomaly_query *query,
                     struct kymo_error *error);
int view_anomaly_step(struct view_anomaly *anomaly, uint64_t events, struct kymo_error *error);
double view_anomaly_progress(const struct view_anomaly *anomaly);
bool view_anomaly_from(const struct view_anomaly *anomaly, int64_t *from_ns);
/* By the numbers of the tracks; it is the anomaly's. Complete when the last step is done. */
const struct view_anomaly_track *view_anomaly_tracks(const struct view_anomaly *anomaly, uint32_t *count);
/* The anomalies as a filter, for view_search, view_tile and view_rows. It is the anomaly's. */
struct view_filter *view_anomaly_filter(struct view_anomaly *anomaly);
void view_anomaly_free(struct view_anomaly *anomaly);

/* ---- texts ---- */

/* One event as a row of a table. */
struct view_row {
  uint64_t row, number; /* row: of all, or of those that a filter selects, from 0 */
  int64_t time_ns;
  uint32_t track, kind; /* UINT32_MAX: the index does not have it */
  const char *text;     /* its message, or its fields, untrusted; holds during the call; NULL: its ring has
                         * overwritten it, and the index has the rest */
};
typedef bool view_row_handler(void *user, const struct view_row *row);
/* Reads rows from the trace, from the `first`th on (from 0) of all, or of those that a filter selects. Stops
 * after `count` rows or when the handler returns false. KYMO_OK; KYMO_AGAIN as view_tile; VIEW_LATER: the
 * rest is asked for by another call; negative. */
int view_rows(struct view *view, struct view_filter *filter, uint64_t first, uint64_t count,
              view_row_handler *handler, void *user, struct kymo_error *error);
/* The row in which an event is: how many rows are before it. */
uint64_t view_row_of(const struct view *view, const struct view_filter *filter, uint64_t number);
/* The row of the first event at or after a time; how many rows there are if there is none. Results as of
 * view_tile. */
int view_row_at(struct view *view, struct view_filter *filter, int64_t time_ns, uint64_t *row);

/* The three above with the events in the order of their shifted times; of equal times in that of their
 * numbers. Of rows that do not exist `*row` is how many there are. KYMO_OK, KYMO_AGAIN as view_tile,
 * VIEW_LATER as view_rows, KYMO_E_UNKNOWN: there is no such track, KYMO_E_MEMORY, or what reading says. */
int view_slewed_rows(struct view *view, const struct view_slews *slews, struct view_filter *filter,
                     uint64_t first, uint64_t count, view_row_handler *handler, void *user,
                     struct kymo_error *error);
int view_slewed_row_of(struct view *view, const struct view_slews *slews, struct view_filter *filter,
                       uint64_t number, uint64_t *row);
int view_slewed_row_at(struct view *view, const struct view_slews *slews, struct view_filter *filter,
                       int64_t time_ns, uint64_t *row);

/* All fields of an event, in order; row->text is NULL if its ring has overwritten them, else "". KYMO_END:
 * there is no such event; VIEW_LATER; others as view_rows. */
typedef bool view_field_handler(void *user, const char *path, const char *text);
int view_event(struct view *view, uint64_t number, struct view_row *row, view_field_handler *handler,
               void *user, struct kymo_error *error);

/* The next event that is asked for, after (before) `number`, by time; at the end it goes on at the start.
 * Members that are not asked for are UINT32_MAX or NULL; data are looked for by a filter ("field = value").
 * KYMO_OK; KYMO_END: there is none; VIEW_LATER; KYMO_AGAIN, KYMO_E_MEMORY as view_tile. */
struct view_search {
  uint32_t kind, track;
  struct view_filter *filter;
  const struct view_slews *slews; /* the order is that of the shifted times; NULL: no track is shifted */
  uint64_t number;                /* from where; 0: before the first */
  bool is_back;
  struct view_search_at { /* where it goes on after VIEW_LATER; zeros at first */
    bool is_wrapped, is_within, has_best;
    uint32_t track;
    uint64_t index;
    struct view_mark best;
  } at;
};
int view_search(struct view *view, struct view_search *search, struct view_mark *mark);

/* ---- tracks in order ---- */

/* Fills in the numbers of all tracks, in the order of the first event from `number` on (back from it) that
 * the filter selects, by the shifted times (slews NULL: no track is shifted); then the others, by their first
 * event in the file. KYMO_OK, KYMO_AGAIN, VIEW_LATER as view_tile, KYMO_E_MEMORY. */
int view_chase(struct view *view, const struct view_slews *slews, struct view_filter *filter, uint64_t number,
               bool is_back, uint32_t *tracks);
/* The same by how many events they have from one time to before another, most first; of those that the filter
 * selects, unless it is NULL. */
int view_activity(struct view *view, int64_t begin_ns, int64_t end_ns, struct view_filter *filter,
                  uint32_t *tracks);

/* A field of events, by its path. */
struct view_field {
  const char *name;
  bool is_numeric; /* else it is a text */
};
/* All fields of all kinds of events, by name; the list is the view's. KYMO_E_MEMORY, or what opening the
 * trace says. */
int view_fields(struct view *view, const struct view_field **list, size_t *count, struct kymo_error *error);

/* ---- statistics ---- */

/* Spans of one kind, as `kymo stat latency` has them. */
struct view_statistic {
  const char *name;
  uint64_t count;
  int64_t total_ns, self_ns; /* as stat/latencies.h has them */
  int64_t least_ns, most_ns;
  double mean_ns;
  struct kymo_percentile p50, p90, p99, p999;
};
/* All kinds of spans; *list is the caller's, to be freed with free(), its names are the view's.
 * KYMO_E_MEMORY. */
int view_statistics(struct view *view, struct view_statistic **list, size_t *count);

/* What differs between two views: kinds and spans by their names, those of either one. */
struct view_difference {
  const char *name;
  bool is_span;
  uint64_t counts[2];
  double rates[2]; /* a second */
  int64_t p50_ns[2], p99_ns[2];
};
/* *list is the caller's, to be freed with free(); its names are the views'. KYMO_E_MEMORY. */
int view_compare(struct view *a, struct view *b, struct view_difference **list, size_t *count);

#endif
