/* SPDX-License-Identifier: MIT */
/* The open view: what its files share. */
#ifndef KYMO_VIEW_STATE_H
#define KYMO_VIEW_STATE_H

#include "base/hash.h"
#include "base/strbuf.h"
#include "stat/latencies.h"
#include "view/marks.h"
#include "view/series.h"
#include "view/view.h"

/* Each track has the first lanes; further ones are limited for all tracks together. */
enum { VIEW_LANES_MAX = 1024, VIEW_LANES_FIRST = 64, VIEW_LANES_FURTHER = 65536 };
enum { VIEW_SAME_SORTS = 64 };
enum { VIEW_SLOW_SEEKS = 2 };

/* Spans of a track that are not at the same time. */
struct view_lane {
  struct view_series spans; /* that have ended */
  bool is_open;             /* one has begun after them and not ended … */
  uint32_t open_kind;
  int64_t open_ns;
  uint64_t open_loss; /* … after this number of losses … */
  uint32_t open_slot; /* … of these streams (stat/gaps.h) */
};

struct view_track {
  char *name,
      *stream; /* stream: of a live trace the path of the stream by whose number it is called; or NULL */
  uint32_t part;
  bool has_process;
  int64_t process;
  struct view_series events;
  struct view_lane *lanes; /* by depth */
  uint32_t lane_count;
  uint64_t deeper;   /* spans that have no lane */
  uint32_t free;     /* while building: on all lanes before this one a span is open … */
  uint64_t gap;      /* … begun after this number of losses … */
  uint32_t gap_slot; /* … of these streams (stat/gaps.h) */
};

struct view_kind {
  char *name;
  uint64_t events;
  uint8_t edge;
};

struct view_span_kind {
  char *name;
  int64_t total_ns, self_ns;
  struct kymo_samples samples; /* durations */
};

struct view_damage {
  char *path, *message;
  uint64_t offset, bytes_lost;
};

/* A file that is read: where and which it is; when its bytes were written, and when its state changed. */
struct view_file {
  struct kymo_hash128 name; /* of its path */
  uint64_t device, inode, size;
  uint64_t sample; /* a hash of some of its bytes; 0: it cannot be read */
  int64_t written_s, written_ns, changed_s, changed_ns;
};

/* What an index is of (identity.c). */
struct view_identity {
  struct view_file *files; /* below the paths */
  size_t file_count, file_capacity;
  struct kymo_hash128 reading; /* how they are read */
  bool is_known;               /* else it cannot be said whether they change */
  uint64_t bytes;              /* of all files; 0: not known */
  char path[4096];             /* where the index is kept; "": nowhere */
};

/* A stream of a live trace, by its number in the trace that is followed. */
struct view_stream {
  uint32_t part;
  uint64_t instance;
  int64_t first_ns; /* the time of its first event that is indexed; INT64_MAX: none is */
};

/* What only building needs. */
struct view_build {
  struct kymo_trace *trace;
  struct view_tracker tracker;
  struct kymo_gaps gaps;
  struct kymo_edges edges;
  struct kymo_latencies latencies;
  uint32_t *span_kinds; /* by place in latencies.kinds: the view's number */
  uint64_t *offsets;    /* by stream number: where in its file reading is */
  bool is_over;         /* all is read */
  bool has_grown;
  bool has_missed; /* a loss: there was no memory for it */
};

/* An entry that is earlier than what its series has already. */
struct view_waiting {
  struct view_entry entry;
  uint32_t series;
};

/* Those of several series that are sorted together, in the order in which they came … */
struct view_unsorted {
  struct view_store store; /* of struct view_waiting */
  uint64_t count;
  struct view_sorting { /* … and those that are being sorted in meanwhile */
    struct view_store lists[2];
    unsigned list; /* which of these has them: from there they are merged to the other one … */
    uint64_t count;
    uint64_t run;                /* … by runs of this length that are in order, two at a time … */
    uint64_t begin, left, right; /* … which begin here, and are done so far */
    uint64_t next;               /* of the list: what is before is in its series */
    bool is_merging;             /* a series with it: … */
    uint32_t series;
    uint64_t chunk, old;     /* … from this chunk on, and so far of those that it has already */
    struct view_series made; /* what takes their place */
    struct view_rest rest;   /* of the series before */
  } * sorting;               /* NULL: nothing is sorted */
};

struct view {
  struct view_options options;
  char **paths, *identity_text, *field; /* copies */
  struct view_identity identity;
  struct view_store store;
  struct view_track *tracks;
  uint32_t track_count, track_capacity;
  struct view_kind *kinds;
  uint32_t kind_count, kind_capacity;
  struct view_span_kind *span_kinds;
  uint32_t span_kind_count, span_kind_capacity;
  char **parts; /* their paths */
  uint32_t part_count;
  struct view_stream *streams; /* of a live trace */
  uint32_t stream_count, stream_capacity;
  struct view_store origins; /* by event number, u32: of which of these it is, + 1; 0: not known */
  int64_t overwritten_ns; /* its rings have overwritten events before this time; INT64_MIN: none is known */
  struct view_loss *losses;
  size_t loss_count, loss_capacity;
  struct kymo_losses lost;
  uint64_t loss_total;
  struct view_damage *problems;
  size_t problem_count, problem_capacity;
  /* events */
  uint64_t events, spans, last_number;
  struct view_marks numbered; /* which numbers have events, if some have none: classes that are not wanted */
  uint64_t undrawn;           /* of the spans: they have no place on a lane */
  uint32_t further_lanes;     /* of all tracks: beyond the first ones */
  int64_t begin_ns, end_ns, last_ns;
  int64_t first_ns; /* the first time, at which the events without a time before it are, too */
  bool has_times, is_epoch, is_complete, is_from_cache;
  bool is_in_order; /* by time too: no event was without a time, or earlier than one before */
  uint64_t rebuilt;
  int64_t looked_us;    /* when view_agree looked at the files … */
  bool is_gone;         /* … and they were not there */
  bool is_wrong;        /* what was read does not fit: the index is thrown away at the next occasion */
  uint64_t check_track; /* of an index that was kept: how far all of it is checked … */
  uint32_t check_lane, check_chunk;
  struct view_unsorted unsorted;
  struct view_build *build; /* NULL: nothing is to be built */
  uint64_t bytes_read;      /* of the files, by building */
  int64_t until_us;         /* when calls return VIEW_LATER; 0: never */
  /* reading */
  struct kymo_trace *reader;
  uint64_t reached;       /* the largest number to which it has gone */
  unsigned slow_seeks;    /* how often finding a time took long; from VIEW_SLOW_SEEKS on, numbers are used */
  uint64_t read;          /* the number of the event that it has read last; 0: not known */
  uint64_t reader_number; /* how far the index was when it was opened … */
  struct view_match {     /* … and of a live trace, where its events are in the index */
    struct view *view;
    struct view_tracker tracker;
    bool is_part; /* the pass leaves events out */
    struct view_aliases {
      struct view_alias {
        const char *part, *name; /* paths and names of the trace */
        bool is_stream;          /* the name is the path of a stream */
        uint32_t number;         /* the view's; UINT32_MAX: not known yet … */
        uint32_t tried;          /* … when the view had this number of them */
      } * list;
      uint32_t count, capacity;
      struct kymo_hash_table names; /* of the view's … */
      uint32_t known;               /* … first ones */
    } tracks, kinds;                /* by the tracker's numbers */
    struct view_origin {            /* by the trace's numbers of streams: … */
      uint32_t number;              /* … the view's + 1; 0: not known … */
      uint32_t tried;               /* … when the view had this number of them, + 1 */
    } * origins;
    uint32_t origin_count, origin_capacity;
    struct view_marks seen; /* numbers that were found */
    struct view_turn {
      int64_t time_ns;   /* of the last event that was looked for … */
      uint64_t at;       /* … and the first entry of that time that was not found yet … */
      uint64_t revision; /* … in this state of the track */
      bool is_set;
    } * turns; /* by the view's tracks */
    uint32_t turn_count;
  } match;
  struct view_same { /* of a live trace: the events of one time, over which the reader goes */
    int64_t time_ns;
    bool is_set;          /* it has gone over all of them up to the last one that was read; … */
    bool has_others;      /* … some are not counted here */
    uint32_t track, kind; /* of the last one; UINT32_MAX: not known … */
    uint32_t origin;      /* … and its stream, + 1; 0: not known */
    struct view_same_sort {
      uint32_t track, kind, origin;
      uint64_t read;                 /* by the reader */
      uint64_t at, before, revision; /* of the track: `before` of them are before this entry */
    } sorts[VIEW_SAME_SORTS];
    unsigned sort_count;
  } same;
  struct view_hole { /* of a live trace: from begin_ns to before end_ns the reader has no events */
    int64_t begin_ns, end_ns;
  } hole;
  struct view_field_list {
    struct view_field *list; /* names are the reader's */
    size_t count, capacity;
    bool is_made;
  } fields;
  struct kymo_strbuf text;
};

/* ---- build.c ---- */

/* Begins to build from the start, with an empty store. */
int view_build_begin(struct view *view, struct kymo_error *error);
void view_build_end(struct view *view);

/* Whether a span is open on a lane, which cannot have ended among lost events. */
bool view_lane_is_open(const struct view *view, const struct view_lane *lane);

/* ---- sort.c ---- */

/* Puts an entry into one of several series that are sorted together, of which `number` says which one it is;
 * one that is too early waits. False: no memory. */
bool view_put_sorted(struct view_unsorted *unsorted, struct view_series *series, struct view_store *store,
                     uint32_t number, const struct view_entry *entry);
typedef struct view_series *view_series_of(void *user, uint32_t number);
/* Puts what waits into these series, as far as that is done by going over this number of entries: a series
 * is as it was, until it has all of them. KYMO_OK, KYMO_END: nothing waits any more, KYMO_E_MEMORY. */
int view_sort_step(struct view_unsorted *unsorted, struct view_store *store, view_series_of *series_of,
                   void *user, uint64_t entries);
void view_unsorted_free(struct view_unsorted *unsorted);
/* The same of the events. */
bool view_put_event(struct view *view, uint32_t track, const struct view_entry *entry);
int view_sort_events(struct view *view, uint64_t entries);
/* Puts all events so far, which had no times, at this one. False: no memory. */
bool view_put_at(struct view *view, int64_t time_ns);

/* ---- view.c ---- */

/* What is read from a trace is not what was indexed: if the files have changed, or the index was kept, it is
 * built anew. Returns KYMO_AGAIN of an index that was kept, as it may never have been of this trace; else an
 * error. */
int view_disagree(struct view *view, struct kymo_trace *trace, struct kymo_error *error);
/* Throws the index away; the next step builds it anew. */
int view_restart(struct view *view, struct kymo_error *error);
/* Frees what is known, but not the options. */
void view_clear(struct view *view);
/* What building has measured of spans since the last time goes to their kinds. False: no memory. */
bool view_sum_up_spans(struct view *view);
/* A file that another program has cut reads as zeros from then on: to be asked after the last look into the
 * index, too. False: the index is thrown away. */
bool view_is_whole(struct view *view);
/* Before a series is read: an index that was kept is checked there. False: it is wrong, and thrown away. */
bool view_trust(struct view *view, const struct view_series *series, uint64_t begin, uint64_t end);
/* The same for all of it, as far as there is time. KYMO_OK, KYMO_AGAIN, VIEW_LATER. */
int view_trust_all(struct view *view, const struct view_series *series);
/* The same for all that finding these times and what is between them looks at … */
bool view_trust_times(struct view *view, const struct view_series *series, int64_t begin_ns, int64_t end_ns);
/* … and for the leaves alone: a picture looks into few of the blocks, and into those only after
 * view_trust_block. */
bool view_trust_window(struct view *view, const struct view_series *series, int64_t begin_ns, int64_t end_ns);
bool view_check_block(struct view *view, const struct view_series *series, uint64_t block);
static inline bool view_trust_block(struct view *view, const struct view_series *series, uint64_t block) {
  return !series->unchecked || block >= series->blocks ||
         !(series->unchecked[block / VIEW_CHUNK].blocks >> block % VIEW_CHUNK & 1) ||
         view_check_block(view, series, block);
}
/* The same for all that finding numbers from one to another looks at. */
bool view_trust_numbers(struct view *view, const struct view_series *series, uint64_t first, uint64_t last);
/* Adds a copy of a name. NULL: no memory. */
char *view_copy(const char *text);

/* ---- slews.c ---- */

/* A time that is shifted, and what it was before; as far as there are such times. */
static inline int64_t view_shift(int64_t time_ns, int64_t by_ns) {
  int64_t sum;
  return __builtin_add_overflow(time_ns, by_ns, &sum) ? (by_ns < 0 ? INT64_MIN : INT64_MAX) : sum;
}
static inline int64_t view_shift_back(int64_t time_ns, int64_t by_ns) {
  int64_t sum;
  return __builtin_sub_overflow(time_ns, by_ns, &sum) ? (by_ns < 0 ? INT64_MAX : INT64_MIN) : sum;
}

/* ---- search.c ---- */

/* Checks what finding numbers looks at where all of a track may have to be looked at. KYMO_OK, KYMO_AGAIN,
 * VIEW_LATER. */
int view_prepare_numbers(struct view *view);

/* How many events of a track are within the times of a window; of those that a filter selects, unless it is
 * NULL. KYMO_OK, KYMO_AGAIN, KYMO_E_MEMORY. */
int view_count(struct view *view, uint32_t track, const struct view_window *window,
               struct view_filter *filter, uint64_t *count);

/* The number of the event in a row of the table; 0: there is no such row. */
uint64_t view_number_in(const struct view *view, const struct view_filter *filter, uint64_t row);

/* ---- text.c ---- */

void view_close_reader(struct view *view);
/* Reads these events from the trace, in this order, as rows from `first` on; results as of view_rows. */
int view_read_marks(struct view *view, const struct view_mark *marks, size_t count, uint64_t first,
                    view_row_handler *handler, void *user, struct kymo_error *error);

/* ---- identity.c ---- */

/* What the files are now, and where their index is kept; the caller frees it. */
void view_identify(const struct view *view, struct view_identity *identity);
/* The same for an index that is built from now on: further changes of the files have other times, or the
 * index is not kept. */
void view_identify_settled(const struct view *view, struct view_identity *identity);
void view_identity_free(struct view_identity *identity);
/* How an open trace is read. False: that cannot be said. */
bool view_reading(struct kymo_trace *trace, struct kymo_hash128 *reading);
/* Whether it has rings of a process, which can change without another time of change. */
bool view_is_ring(const struct kymo_trace *trace);
struct kymo_hash128 view_hash_of(const struct view_identity *identity);
/* What the files are in comparison with when they were indexed. GROWN: some are longer, the samples of what
 * they had are the same, and no other has changed. GONE: they cannot be found. OTHER also if they are the
 * same and a trace of them that was opened since (or NULL) is read in another way. SAME also if nothing is
 * known of them. */
enum view_change { VIEW_SAME, VIEW_GROWN, VIEW_GONE, VIEW_OTHER };
enum view_change view_change_of(const struct view *view, struct kymo_trace *trace);

/* ---- file.c ---- */

/* Takes the index that is kept. KYMO_END: there is none, or none of these files, or it is not sound; what
 * opening the trace says. */
int view_load(struct view *view, struct kymo_error *error);
/* Keeps the index; where that is impossible, nothing happens. */
void view_keep(struct view *view);
/* A store for an index that is built: in the cache if it is kept there. */
int view_new_store(struct view *view, struct kymo_error *error);

/* ---- catalog.c: all but the blocks, as bytes ---- */

void view_catalog_write(const struct view *view, struct kymo_strbuf *out);
/* False: it is not sound; the view then is half full. */
bool view_catalog_read(struct view *view, const uint8_t *bytes, size_t size);

/* ---- match.c ---- */

/* Whether events are to be matched, since their numbers do not say which they are. */
static inline bool view_must_match(const struct view *view) {
  return view->options.is_live && view->has_times;
}
/* The trace is at its start. Ended also after a failure. */
int view_match_begin(struct view_match *match, struct view *view, struct kymo_trace *trace,
                     struct kymo_error *error);
void view_match_end(struct view_match *match);
/* The view's numbers of an event's track and kind. KYMO_OK, KYMO_E_ABSENT: the index has none of them yet,
 * KYMO_E_MEMORY. */
int view_match_event(struct view_match *match, const struct kymo_event *event, uint32_t *track,
                     uint32_t *kind);
/* The number of an event in the index. Of several that are the same each is found once, in their order; if
 * the pass leaves events out, that with the number of the event before others. Results as above. */
int view_match_number(struct view_match *match, const struct kymo_event *event, uint64_t *number);
/* The same if its track and kind are known. */
int view_match_number_on(struct view_match *match, const struct kymo_event *event, uint32_t track,
                         uint32_t kind, uint64_t *number);
/* The view's number of a stream of the trace, + 1; 0: not known. Events of different streams may be the same
 * but for their fields. */
uint32_t view_match_origin(struct view_match *match, const struct kymo_stream *stream);
/* The same of an event of the index. */
uint32_t view_origin_of(const struct view *view, uint64_t number);
/* Whether these may be one stream. */
static inline bool view_is_origin(uint32_t a, uint32_t b) { return !a || !b || a == b; }
/* Whether a new track is called by the number of the event's stream, which another pass may not have. */
static inline bool view_names_stream(const struct view *view, const struct view_tracker *tracker,
                                     const struct kymo_event *event, const char *name) {
  return view->options.is_live && event->packet->stream->path &&
         view_tracker_names_stream(tracker, event, name);
}

/* ---- overwritten.c ---- */

/* Notes the stream of an event that is indexed. False: no memory. */
bool view_note_stream(struct view *view, const struct kymo_event *event);
/* From when on the rings of an open trace have all events of the index. False: they have all. `is_growing`:
 * the trace is followed, so a ring that cannot be read now may be readable later. */
bool view_ask_rings(struct view *view, const struct kymo_trace *trace, bool is_growing, int64_t *from_ns);

/* ---- pass.c ---- */

/* One pass over the trace by steps, for a task. */
struct view_pass {
  struct view *view;
  struct kymo_trace *trace;
  bool is_done, is_other; /* other: the trace is not that of the index */
  uint64_t number;        /* of the last event that was looked at */
  uint64_t first, events; /* of a window: before it, and in it */
  bool is_of;             /* it is of a window … */
  int64_t begin_ns;       /* … from this time on */
  int64_t from_ns; /* of a live trace, when it is done: it has all events of the index from this time on */
  bool has_from;   /* … and not those before, which were overwritten */
  int (*take)(void *user, const struct kymo_event *event); /* KYMO_OK, KYMO_E_MEMORY, or KYMO_E_SYSTEM … */
  void *user;
  struct kymo_error error; /* … with this error */
};

/* Of the events that a filter selects; NULL: all. */
int view_pass_begin(struct view_pass *pass, struct view *view, const struct view_filter *filter,
                    struct kymo_error *error);
int view_pass_step(struct view_pass *pass, uint64_t events, struct kymo_error *error);
/* Only events from one time to before another, of which there are about `events`. */
int view_pass_window(struct view_pass *pass, int64_t begin_ns, int64_t end_ns, uint64_t events,
                     struct kymo_error *error);
/* Whether it lacks events that the rings of a live process have overwritten: those before *from_ns. */
bool view_pass_from(const struct view_pass *pass, int64_t *from_ns);
/* Of what is made without a pass: KYMO_OK, or an error if the trace is another one than was indexed. */
int view_expect_same(struct view *view, struct kymo_error *error);
double view_pass_progress(const struct view_pass *pass);
void view_pass_end(struct view_pass *pass);

/* ---- number.c ---- */

/* A field of events, as a number or a text. */
struct view_number {
  const char *path;
  uint32_t *fields; /* by class number: id + 2; 0: not looked up yet, 1: none */
};

/* The path must live on. KYMO_E_MEMORY; KYMO_E_USAGE: no event has the field. */
int view_number_begin(struct view_number *number, const char *path, struct kymo_trace *trace,
                      const struct kymo_numbers *numbers, struct kymo_error *error);
/* False: the event has no such number. */
bool view_number_read(const struct view_number *number, struct kymo_trace *trace,
                      const struct kymo_numbers *numbers, const struct kymo_event *event, double *value);
/* The same of a text. */
bool view_text_read(const struct view_number *number, struct kymo_trace *trace,
                    const struct kymo_numbers *numbers, const struct kymo_event *event, const char **text,
                    uint64_t *length);
void view_number_end(struct view_number *number);

/* ---- compare.c ---- */

struct view_statistic view_statistic_of(const char *name, struct kymo_samples *samples, int64_t total_ns,
                                        int64_t self_ns);

/* ---- filter.c ---- */

/* Selects the same events of a trace. KYMO_E_ABSENT: the filter has no text. */
int view_filter_attach(const struct view_filter *filter, struct kymo_trace *trace, struct kymo_error *error);

/* What a filter selects of a track, made now if need be; NULL: no memory. */
const struct view_bits *view_filter_bits(struct view_filter *filter, uint32_t track);
/* The same as far as there is time. KYMO_OK, VIEW_LATER, KYMO_E_MEMORY. */
int view_filter_prepare(struct view_filter *filter, uint32_t track);
/* A filter that nothing is selected by yet; then numbers are marked, in any order, until the end. */
int view_filter_begin(struct view_filter **out, struct view *view, struct kymo_error *error);
bool view_filter_mark(struct view_filter *filter, uint64_t number);
void view_filter_end(struct view_filter *filter);
/* The number of the selected event with this place among those that are selected; 0: there is none. */
uint64_t view_filter_select(const struct view_filter *filter, uint64_t row);
/* How many selected events are before a number. */
uint64_t view_filter_rank(const struct view_filter *filter, uint64_t number);

#endif
