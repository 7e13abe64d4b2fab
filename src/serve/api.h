/* SPDX-License-Identifier: MIT */
/* What the page asks for. Each handler answers one path: a table of them is in api.c. */
#ifndef KYMO_SERVE_API_H
#define KYMO_SERVE_API_H

#include "serve/http.h"
#include "serve/json.h"
#include "serve/query.h"
#include "serve/serve.h"
#include "serve/tasks.h"

enum {
  API_PIXELS_MAX = 8192,
  API_TRACKS_MAX = 256,    /* of one picture … */
  API_CELLS_MAX = 1 << 19, /* … and pixels of all its tracks */
  API_ROWS_MAX = 1000,
  API_SLEWS_MAX = 1000,
  API_STEP_US = 20 * 1000,       /* of one request, before others have their turn … */
  API_CPU_US = 10 * 1000 * 1000, /* … and of CPU in all its steps; then it is refused */
};

/* A view and how far it is. */
struct api_view {
  struct view *view;
  struct view_options options;
  bool is_built;           /* all that there is now is indexed, or nothing more can be */
  bool is_over;            /* and nothing more will come */
  int64_t again_us;        /* of a live trace: when it is looked at again */
  struct kymo_error error; /* why building ended; code KYMO_OK: it did not fail */
};

struct api {
  const struct serve_options *options;
  struct serve_traces traces;  /* that are shown */
  unsigned opened;             /* how often they have changed */
  uint32_t list;               /* the number of the last list of offers */
  bool is_ended;               /* the page has ended the server */
  struct api_view main, other; /* main.view: NULL if nothing is shown; other.view: nothing is compared */
  struct tasks tasks;
  uint32_t generation; /* of what is indexed: grows when it has changed */
  struct view_info seen;
  size_t seen_problems;
  int64_t seen_us;
  char *field;             /* of tracks by a field */
  int64_t step_us, cpu_us; /* limits of a request; step_us 0: it has no steps */
  uint64_t epoch;          /* of the main view: grows when it is another one */
};

/* One request. */
struct api_call {
  struct api *api;
  struct view *view;
  struct query *query;
  struct kymo_json *json; /* of the reply … */
  void *bytes;            /* … or bytes, allocated with malloc … */
  size_t size;
  bool has_json;           /* … with the JSON after them: its bytes, up to 3 zeros, and its size (u32) */
  struct kymo_error error; /* of a reply from 400 on, unless the query has one */
  void *state;             /* how far a handler is that has more than one step (api_state_of) … */
  void (*end_state)(void *state);
};

/* Returns the status of the reply: 200 (OK), 202 (not yet), 400, 404, 500; or API_STEP: it is called again
 * with the same call, which holds what it has done so far. */
typedef unsigned api_handler(struct api_call *call);
enum { API_STEP = 1, API_OK = 200, API_LATER = 202, API_BAD = 400, API_ABSENT = 404, API_FAILED = 500 };

/* Opens the views of the options, which must live on. Errors are those of view_open; api_end ends it also
 * after a failure. */
int api_begin(struct api *api, const struct serve_options *options, struct kymo_error *error);
void api_end(struct api *api);
/* Does some work. False: there is none now. */
bool api_work(struct api *api);
/* Opens a view; *out is the caller's, also on failure. */
int api_open_view(struct api_view *out, const struct view_options *options, struct kymo_error *error);
/* Shows another view in place of the main one, which is closed with its tasks; the new one becomes the
 * api's. */
void api_show(struct api *api, const struct api_view *view);
/* When there may be work again, in microseconds from now; negative: only a request brings it. */
int64_t api_rest_us(const struct api *api);
/* http_handler and http_step; `user` is the api. */
void api_answer(void *user, const char *target, bool has_token, struct http_reply *reply, void **rest);
bool api_go_on(void *user, void *rest, struct http_reply *reply);

/* ---- for handlers ---- */

/* What the call's state is, of zeros in its first step; `end` frees it. NULL: no memory. */
void *api_state_of(struct api_call *call, size_t size, void (*end)(void *state));
/* The status for one of view.h; KYMO_AGAIN is fine: pictures are empty until the index is built anew. */
unsigned api_status(int status);
/* The filter that the query names; NULL if it names none. False with the error: there is no such filter. */
bool api_filter(struct api_call *call, struct view_filter **filter);
/* The same, as the id of its task for a task that uses it; 0: none. */
bool api_filter_id(struct api_call *call, unsigned *id);

/* The slews that the query names, if it names any. */
struct api_slews {
  uint32_t tracks[API_SLEWS_MAX];
  int64_t ns[API_SLEWS_MAX];
  struct view_slews list;
};
/* False with the error: they are not as they should be. */
bool api_slews(struct api_call *call, struct api_slews *slews);
/* Those of a task, "3:-500,7:20", which its handler has checked, by track. NULL: none, or no memory. */
int64_t *api_read_slews(const char *text, uint32_t tracks, uint32_t *count);

/* "mark", "isWrapped" of what is searched; the status. */
unsigned api_put_search(struct api_call *call, const struct view_search *search);

/* "id", "state", "done", "error" of a task; "indexed": how many events there were for the result; "from": the
 * time from which on it is complete, or null (view.h). */
void api_put_task(struct kymo_json *json, const struct task *task);

extern const struct task_kind task_of_filters, task_of_latencies, task_of_histograms, task_of_values;
extern const struct task_kind task_of_selections, task_of_anomalies;

/* ---- handlers, by file ---- */

api_handler api_state, api_tracks, api_kinds, api_losses, api_problems, api_fields, api_schema;
api_handler api_tile, api_spans, api_values, api_nearest, api_span_at;
api_handler api_event, api_rows, api_row_of, api_row_at, api_search, api_chase, api_activity;
api_handler api_filter_task, api_latency, api_histogram, api_statistics, api_compare;
api_handler api_selection, api_anomaly, api_anomaly_next;
api_handler api_track_by;
api_handler api_offers, api_open, api_reload, api_quit;

#endif
