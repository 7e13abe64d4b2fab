/* SPDX-License-Identifier: MIT */
/*
 * Pictures as arrays that a page lays its own typed arrays on: only the cells that have something, all of one
 * kind of number together, little-endian, each array at a multiple of its numbers' size.
 *
 *   u32 magic, generation, rows, cells, pixels, type
 *   u32 start[rows + 1]          the cells of row r are start[r] to start[r + 1] - 1; then up to 8 bytes
 *   tiles, spans:  f64 count[], longest[]; u32 pixel[], kind[], kinds_low[], kinds_high[]
 *   values, texts: f64 count[], least[], most[], last[]; u32 pixel[]; then up to 4 bytes; f64 least and most
 *                  of all tracks and times, NaN if there is no value
 *   texts:         values are numbers of texts; then JSON with these (api.h): {"texts":[{"text","length",
 *                  "events"}, …]}
 */
#include "serve/api.h"
#include "base/fail.h"
#include "base/list.h"
#include <math.h>
#include <stdlib.h>

enum { MAGIC = 0x31564b59, HEADER_WORDS = 6, TYPE_TILE = 0, TYPE_SPANS = 1, TYPE_VALUES = 2, TYPE_TEXTS = 3 };

/* ---- bytes ---- */

static uint8_t *put_u32(uint8_t *at, uint32_t value) {
  for (unsigned i = 0; i < 4; i++)
    *at++ = (uint8_t)(value >> 8 * i);
  return at;
}

static uint8_t *put_f64(uint8_t *at, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return put_u32(put_u32(at, (uint32_t)bits), (uint32_t)(bits >> 32));
}

/* ---- pictures ---- */

/* A cell that has something; of values, `numbers` are least, most, last. */
struct drawn {
  double count, numbers[3];
  uint32_t pixel, kind;
  uint64_t kinds;
};

struct picture {
  struct view_window window;
  struct view_cell *cells; /* one row … */
  struct view_value_cell *values;
  struct drawn *drawn; /* … and what was in all of them */
  size_t count, room;
  uint32_t starts[API_TRACKS_MAX + 2];
  uint32_t rows;      /* so far */
  double least, most; /* of all values */
};

static void end_picture(void *state) {
  struct picture *picture = state;
  free(picture->cells);
  free(picture->values);
  free(picture->drawn);
  free(picture);
}

static bool add(struct picture *picture, const struct drawn *drawn) {
  if (!KYMO_LIST_ROOM(picture->drawn, picture->room, picture->count))
    return false;
  picture->drawn[picture->count++] = *drawn;
  return true;
}

static bool add_row(struct picture *picture) {
  bool is_done = true;
  picture->starts[picture->rows++] = (uint32_t)picture->count;
  for (uint32_t x = 0; x < picture->window.pixels && is_done; x++) {
    const struct view_cell *cell = &picture->cells[x];
    if (cell->count || cell->kind != UINT32_MAX)
      is_done = add(picture, &(struct drawn){.count = (double)cell->count,
                                             .numbers = {(double)cell->longest},
                                             .pixel = x,
                                             .kind = cell->kind,
                                             .kinds = cell->kinds});
  }
  return is_done;
}

static bool add_value_row(struct picture *picture) {
  bool is_done = true;
  picture->starts[picture->rows++] = (uint32_t)picture->count;
  for (uint32_t x = 0; x < picture->window.pixels && is_done; x++) {
    const struct view_value_cell *cell = &picture->values[x];
    if (cell->count)
      is_done = add(picture, &(struct drawn){.count = (double)cell->count,
                                             .numbers = {cell->least, cell->most, cell->last},
                                             .pixel = x});
  }
  return is_done;
}

static uint8_t *put_numbers(uint8_t *at, const struct picture *picture, bool is_values) {
  for (size_t i = 0; i < picture->count; i++)
    at = put_f64(at, picture->drawn[i].count);
  for (size_t k = 0; k < (is_values ? 3 : 1); k++)
    for (size_t i = 0; i < picture->count; i++)
      at = put_f64(at, picture->drawn[i].numbers[k]);
  for (size_t i = 0; i < picture->count; i++)
    at = put_u32(at, picture->drawn[i].pixel);
  for (size_t i = 0; i < picture->count && !is_values; i++)
    at = put_u32(at, picture->drawn[i].kind);
  for (unsigned shift = 0; shift < 64 && !is_values; shift += 32)
    for (size_t i = 0; i < picture->count; i++)
      at = put_u32(at, (uint32_t)(picture->drawn[i].kinds >> shift));
  return at;
}

static unsigned reply(struct api_call *call, struct picture *picture, uint32_t type) {
  bool is_values = type >= TYPE_VALUES;
  size_t words = HEADER_WORDS + picture->rows + 1;
  size_t size = (words + words % 2) * 4 + picture->count * (is_values ? 4 * 8 + 4 : 2 * 8 + 4 * 4);
  size += is_values ? picture->count % 2 * 4 + 2 * 8 : 0;
  uint8_t *bytes = calloc(1, size), *at = bytes;
  if (!bytes)
    return API_FAILED;
  const uint32_t header[HEADER_WORDS] = {
      MAGIC, call->api->generation, picture->rows, (uint32_t)picture->count, picture->window.pixels, type};
  picture->starts[picture->rows] = (uint32_t)picture->count;
  for (size_t i = 0; i < HEADER_WORDS; i++)
    at = put_u32(at, header[i]);
  for (size_t i = 0; i <= picture->rows; i++)
    at = put_u32(at, picture->starts[i]);
  at = put_numbers(at + words % 2 * 4, picture, is_values);
  if (is_values)
    put_f64(put_f64(at + picture->count % 2 * 4, picture->least), picture->most);
  call->bytes = bytes;
  call->size = size;
  return API_OK;
}

/* ---- requests ---- */

static bool need_window(struct query *query, struct view_window *window) {
  if (!query_i64(query, "begin", &window->begin_ns) || !query_i64(query, "end", &window->end_ns) ||
      !query_u32(query, "pixels", API_PIXELS_MAX, &window->pixels))
    return false;
  if (window->end_ns > window->begin_ns && window->pixels > 0)
    return true;
  snprintf(query->error, sizeof query->error, "expected an end after the begin, and pixels");
  return false;
}

/* What is asked for. */
struct rows {
  uint32_t tracks[API_TRACKS_MAX], lanes[API_TRACKS_MAX];
  size_t count;
};

/* The window and the rows: tracks, or lanes of tracks. NULL with the status. */
static struct picture *picture_of(struct api_call *call, const char *name, bool has_lanes, struct rows *rows,
                                  unsigned *status) {
  struct view_window window;
  struct query *query = call->query;
  *status = API_BAD;
  if (!need_window(query, &window) ||
      !query_list(query, name, rows->tracks, has_lanes ? rows->lanes : NULL, API_TRACKS_MAX, &rows->count))
    return NULL;
  if (rows->count * window.pixels > API_CELLS_MAX) {
    snprintf(query->error, sizeof query->error, "expected at most %d pixels in all rows, found %zu",
             API_CELLS_MAX, rows->count * window.pixels);
    return NULL;
  }
  struct picture *picture = api_state_of(call, sizeof *picture, end_picture);
  if (picture) {
    picture->window = window;
    if (!picture->cells)
      picture->cells = calloc(window.pixels, sizeof *picture->cells);
  }
  *status = picture && picture->cells ? API_OK : API_FAILED;
  return *status == API_OK ? picture : NULL;
}

/* The status before the next row: API_STEP when it is the turn of others. */
static unsigned before_row(const struct api_call *call, size_t row) {
  return row > 0 && view_is_late(call->view) ? API_STEP : API_OK;
}

/* One more row at the end: the pairs of a latency. */
static unsigned draw_latency(struct api_call *call, struct picture *picture) {
  uint32_t id;
  if (!query_text(call->query, "latency"))
    return API_OK;
  if (!query_u32(call->query, "latency", UINT32_MAX, &id))
    return API_BAD;
  const struct task *task = tasks_find(&call->api->tasks, &task_of_latencies, id);
  if (!task)
    return api_status(kymo_fail(&call->error, KYMO_E_ABSENT, "there is no such latency any more"));
  int status = view_latency_tile(task->object, &picture->window, picture->cells);
  return status == KYMO_OK && !add_row(picture) ? API_FAILED : api_status(status);
}

unsigned api_tile(struct api_call *call) {
  struct rows rows;
  struct view_filter *filter;
  unsigned status;
  struct picture *picture = picture_of(call, "tracks", false, &rows, &status);
  if (!picture)
    return status;
  if (!api_filter(call, &filter))
    return API_ABSENT;
  for (size_t begun = picture->rows; picture->rows < rows.count && status == API_OK;) {
    status = before_row(call, picture->rows - begun);
    if (status == API_OK)
      status = api_status(
          view_tile(call->view, &picture->window, &rows.tracks[picture->rows], 1, filter, picture->cells));
    if (status == API_OK && !add_row(picture))
      status = API_FAILED;
  }
  if (status == API_OK)
    status = draw_latency(call, picture);
  if (status == API_ABSENT && !*call->error.message)
    kymo_fail(&call->error, KYMO_E_UNKNOWN, "there is no such track");
  return status == API_OK ? reply(call, picture, TYPE_TILE) : status;
}

unsigned api_spans(struct api_call *call) {
  struct rows rows;
  unsigned status;
  struct picture *picture = picture_of(call, "rows", true, &rows, &status);
  if (!picture)
    return status;
  for (size_t begun = picture->rows; picture->rows < rows.count && status == API_OK;) {
    uint32_t row = picture->rows;
    status = before_row(call, row - begun);
    if (status == API_OK)
      status = api_status(
          view_tile_spans(call->view, &picture->window, rows.tracks[row], rows.lanes[row], picture->cells));
    if (status == API_OK && !add_row(picture))
      status = API_FAILED;
  }
  if (status == API_ABSENT)
    kymo_fail(&call->error, KYMO_E_UNKNOWN, "there is no such lane");
  return status == API_OK ? reply(call, picture, TYPE_SPANS) : status;
}

static void put_texts(struct api_call *call, const struct view_text *texts, uint32_t count) {
  struct kymo_json *json = call->json;
  kymo_json_key(json, "texts");
  kymo_json_begin(json, '[');
  for (uint32_t i = 0; i < count; i++) {
    kymo_json_begin(json, '{');
    api_put_text(json, "text", texts[i].text);
    api_put_u64(json, "length", texts[i].length);
    api_put_u64(json, "events", texts[i].events);
    kymo_json_end(json, '}');
  }
  kymo_json_end(json, ']');
  call->has_json = true;
}

static unsigned draw_values(struct api_call *call, struct picture *picture, const struct view_values *values,
                            const struct rows *rows) {
  unsigned status = API_OK;
  if (!picture->values)
    picture->values = calloc(picture->window.pixels, sizeof *picture->values);
  if (!picture->values)
    return API_FAILED;
  if (!view_values_range(values, &picture->least, &picture->most))
    picture->least = picture->most = (double)NAN;
  for (size_t begun = picture->rows; picture->rows < rows->count && status == API_OK;) {
    status = before_row(call, picture->rows - begun);
    if (status == API_OK)
      status = api_status(view_tile_values(call->view, &picture->window, rows->tracks[picture->rows], values,
                                           picture->values));
    if (status == API_OK && !add_value_row(picture))
      status = API_FAILED;
  }
  if (status == API_ABSENT)
    kymo_fail(&call->error, KYMO_E_UNKNOWN, "there is no such track");
  uint32_t count;
  const struct view_text *texts = view_values_texts(values, &count);
  if (status == API_OK && texts)
    put_texts(call, texts, count);
  return status == API_OK ? reply(call, picture, texts ? TYPE_TEXTS : TYPE_VALUES) : status;
}

unsigned api_values(struct api_call *call) {
  struct rows rows;
  unsigned status;
  const char *field = query_need(call->query, "field");
  struct picture *picture = field ? picture_of(call, "tracks", false, &rows, &status) : NULL;
  if (!picture)
    return field ? status : API_BAD;
  struct task_query wanted = {.words = {field, query_text(call->query, "texts")}};
  if (!api_filter_id(call, &wanted.filter))
    return API_ABSENT;
  const struct task *task = tasks_ask(&call->api->tasks, &task_of_values, &wanted, &call->error);
  if (!task)
    return api_status(call->error.code);
  if (task->state == TASK_DONE)
    return draw_values(call, picture, task->object, &rows);
  api_put_task(call->json, task);
  return API_LATER;
}

static uint64_t distance(int64_t a, int64_t b) {
  return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

/* The nearest of a track that a filter selects, beginning at the nearest of all. Results as of
 * view_search. */
static int select_nearest(struct view *view, struct view_filter *filter, int64_t time_ns,
                          struct view_mark *mark) {
  const struct view_mark from = *mark;
  view_set_budget(view, 0);
  if (view_row_of(view, filter, from.number + 1) > view_row_of(view, filter, from.number))
    return KYMO_OK;
  for (unsigned i = 0; i < 2; i++) {
    struct view_search search = {
        .kind = UINT32_MAX, .track = from.track, .filter = filter, .number = from.number, .is_back = i};
    struct view_mark found;
    int status = view_search(view, &search, &found); /* of events that are selected: it takes no time */
    if (status != KYMO_OK && status != KYMO_END)
      return status;
    if (status == KYMO_END || found.is_wrapped)
      continue;
    if (mark->number == from.number || distance(found.time_ns, time_ns) < distance(mark->time_ns, time_ns))
      *mark = found;
  }
  return mark->number != from.number ? KYMO_OK : KYMO_END;
}

unsigned api_nearest(struct api_call *call) {
  struct view_filter *filter;
  struct view_mark mark;
  uint32_t track;
  int64_t time_ns;
  if (!query_u32(call->query, "track", UINT32_MAX - 1, &track) || !query_i64(call->query, "time", &time_ns))
    return API_BAD;
  if (!api_filter(call, &filter))
    return API_ABSENT;
  int status = filter ? view_prepare(call->view, &track, 1, filter) : KYMO_OK;
  if (status == KYMO_OK && !view_nearest(call->view, track, time_ns, &mark))
    status = KYMO_END;
  if (status == KYMO_OK && filter)
    status = select_nearest(call->view, filter, time_ns, &mark);
  if (status == VIEW_LATER)
    return API_STEP;
  api_put_mark(call->json, "mark", status == KYMO_OK ? &mark : NULL);
  return api_status(status == KYMO_E_UNKNOWN ? KYMO_END : status);
}

unsigned api_span_at(struct api_call *call) {
  struct kymo_json *json = call->json;
  struct view_span span;
  uint32_t track, lane;
  int64_t time_ns;
  if (!query_u32(call->query, "track", UINT32_MAX - 1, &track) ||
      !query_u32(call->query, "lane", UINT32_MAX - 1, &lane) || !query_i64(call->query, "time", &time_ns))
    return API_BAD;
  kymo_json_key(json, "span");
  if (!view_span_at(call->view, track, lane, time_ns, &span)) {
    kymo_json_null(json);
    return API_OK;
  }
  kymo_json_begin(json, '{');
  api_put_i64(json, "begin", span.begin_ns);
  api_put_u64(json, "duration", span.duration_ns);
  api_put_uint(json, "kind", span.kind);
  api_put_text(json, "name", view_span_kind(call->view, span.kind));
  api_put_bool(json, "isOpen", span.is_open);
  kymo_json_end(json, '}');
  return API_OK;
}
