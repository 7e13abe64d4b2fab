/* SPDX-License-Identifier: MIT */
/* Events as texts: rows of the table, one event with its fields, searching. */
#include "serve/api.h"
#include "base/fail.h"
#include "base/utf8.h"
#include <stdlib.h>
#include <string.h>

/* ---- rows ---- */

enum { ROW_TEXT_MAX = 4096 }; /* bytes: a reply has up to API_ROWS_MAX texts */

/* How far they are. */
struct rows {
  bool has_begun;
  uint64_t next;
};

/* The text of an event in a table, or null. That of one event is whole (api_event). */
static void put_row_text(struct kymo_json *json, const char *text) {
  char cut[ROW_TEXT_MAX + sizeof "…"];
  size_t length = text ? strnlen(text, ROW_TEXT_MAX + 1) : 0;
  if (length <= ROW_TEXT_MAX) {
    api_put_text(json, "text", text);
    return;
  }
  for (length = ROW_TEXT_MAX; !kymo_begins_character(text[length]) && length > 0; length--) {
  }
  memcpy(cut, text, length);
  memcpy(cut + length, "…", sizeof "…");
  api_put_text(json, "text", cut);
}

static bool put_row(void *user, const struct view_row *row) {
  struct api_call *call = user;
  struct kymo_json *json = call->json;
  ((struct rows *)call->state)->next = row->row + 1;
  kymo_json_begin(json, '{');
  api_put_u64(json, "number", row->number);
  api_put_i64(json, "time", row->time_ns);
  api_put_uint(json, "track", row->track);
  api_put_uint(json, "kind", row->kind);
  put_row_text(json, row->text);
  kymo_json_end(json, '}');
  return true;
}

static uint64_t count_rows(const struct api_call *call, const struct view_filter *filter) {
  struct view_info info;
  view_info(call->view, &info);
  return filter ? view_filter_count(filter) - view_filter_added(filter) : info.events;
}

bool api_slews(struct api_call *call, struct api_slews *slews) {
  slews->list = (struct view_slews){slews->tracks, slews->ns, 0};
  return !query_text(call->query, "slew") ||
         query_offsets(call->query, "slew", slews->tracks, slews->ns, API_SLEWS_MAX, &slews->list.count);
}

static int read_rows(struct api_call *call, const struct view_slews *slews, struct view_filter *filter,
                     uint64_t first, uint64_t count) {
  return slews->count ? view_slewed_rows(call->view, slews, filter, first, count, put_row, call, &call->error)
                      : view_rows(call->view, filter, first, count, put_row, call, &call->error);
}

unsigned api_rows(struct api_call *call) {
  struct view_filter *filter;
  struct api_slews slews;
  uint64_t first, count;
  if (!query_u64(call->query, "first", UINT64_MAX / 2, &first) ||
      !query_u64(call->query, "count", API_ROWS_MAX, &count) || !api_slews(call, &slews))
    return API_BAD;
  if (!api_filter(call, &filter))
    return API_ABSENT;
  struct rows *rows = api_state_of(call, sizeof *rows, free);
  if (!rows)
    return API_FAILED;
  if (!rows->has_begun) {
    rows->has_begun = true;
    rows->next = first;
    api_put_u64(call->json, "first", first);
    api_put_u64(call->json, "total", count_rows(call, filter));
    kymo_json_key(call->json, "rows");
    kymo_json_begin(call->json, '[');
  }
  int status = read_rows(call, &slews.list, filter, rows->next, first + count - rows->next);
  if (status != VIEW_LATER)
    kymo_json_end(call->json, ']');
  return api_status(status);
}

unsigned api_row_of(struct api_call *call) {
  struct view_filter *filter;
  struct api_slews slews;
  uint64_t number, row = 0;
  int status = KYMO_OK;
  if (!query_u64(call->query, "number", UINT64_MAX - 1, &number) || !api_slews(call, &slews))
    return API_BAD;
  if (!api_filter(call, &filter))
    return API_ABSENT;
  if (slews.list.count)
    status = view_slewed_row_of(call->view, &slews.list, filter, number, &row);
  else
    row = view_row_of(call->view, filter, number);
  if (status != VIEW_LATER)
    api_put_u64(call->json, "row", row);
  return api_status(status);
}

unsigned api_row_at(struct api_call *call) {
  struct view_filter *filter;
  struct api_slews slews;
  int64_t time_ns;
  uint64_t row;
  if (!query_i64(call->query, "time", &time_ns) || !api_slews(call, &slews))
    return API_BAD;
  if (!api_filter(call, &filter))
    return API_ABSENT;
  int status = slews.list.count ? view_slewed_row_at(call->view, &slews.list, filter, time_ns, &row)
                                : view_row_at(call->view, filter, time_ns, &row);
  if (status != VIEW_LATER)
    api_put_u64(call->json, "row", row);
  return api_status(status);
}

/* ---- one event ---- */

static bool put_field(void *user, const char *path, const char *text) {
  struct kymo_json *json = user;
  kymo_json_begin(json, '{');
  api_put_text(json, "path", path);
  api_put_text(json, "text", text);
  kymo_json_end(json, '}');
  return true;
}

static bool put_text(void *user, const struct view_row *row) {
  struct api_call *call = user;
  struct view_kind_info kind;
  api_put_text(call->json, "name", view_kind(call->view, row->kind, &kind) ? kind.name : "");
  api_put_text(call->json, "text", row->text);
  return true;
}

/* The event has its fields, then its text. */
static int put_fields(struct api_call *call, uint64_t number, struct view_row *row) {
  struct kymo_json *json = call->json;
  if (!call->state) {
    kymo_json_key(json, "fields");
    kymo_json_begin(json, '[');
    if (!api_state_of(call, 1, free))
      return KYMO_E_MEMORY;
  }
  int status = view_event(call->view, number, row, put_field, json, &call->error);
  if (status != VIEW_LATER)
    kymo_json_end(json, ']');
  return status;
}

unsigned api_event(struct api_call *call) {
  struct view_row row;
  uint64_t number;
  if (!query_u64(call->query, "number", UINT64_MAX - 1, &number))
    return API_BAD;
  if (number == 0)
    return api_status(
        kymo_fail(&call->error, KYMO_E_USAGE, "number: expected the number of an event, from 1"));
  int status = put_fields(call, number, &row);
  if (status == KYMO_END || status == KYMO_AGAIN)
    status = kymo_fail(&call->error, KYMO_E_ABSENT, "there is no such event");
  if (status != KYMO_OK)
    return api_status(status);
  api_put_u64(call->json, "number", row.number);
  api_put_i64(call->json, "time", row.time_ns);
  api_put_uint(call->json, "track", row.track);
  api_put_uint(call->json, "kind", row.kind);
  api_put_bool(call->json, "isGone", !row.text);
  view_set_budget(call->view, 0); /* it is where the reader is now */
  return api_status(
      view_rows(call->view, NULL, view_row_of(call->view, NULL, number), 1, put_text, call, &call->error));
}

/* ---- searching ---- */

unsigned api_put_search(struct api_call *call, const struct view_search *wanted) {
  struct view_search *search = api_state_of(call, sizeof *search, free);
  struct view_mark mark;
  if (!search)
    return API_FAILED;
  const struct view_search_at at = search->at;
  *search = *wanted;
  search->at = at;
  int status = view_search(call->view, search, &mark);
  if (status == VIEW_LATER)
    return API_STEP;
  api_put_mark(call->json, "mark", status == KYMO_OK ? &mark : NULL);
  api_put_bool(call->json, "isWrapped", status == KYMO_OK && mark.is_wrapped);
  return api_status(status);
}

unsigned api_search(struct api_call *call) {
  struct api_slews slews;
  struct view_search search = {.kind = UINT32_MAX, .track = UINT32_MAX};
  struct query *query = call->query;
  if (!query_u64(query, "number", UINT64_MAX - 1, &search.number) ||
      !query_flag(query, "back", &search.is_back) ||
      (query_text(query, "kind") && !query_u32(query, "kind", UINT32_MAX - 1, &search.kind)) ||
      (query_text(query, "track") && !query_u32(query, "track", UINT32_MAX - 1, &search.track)) ||
      !api_slews(call, &slews))
    return API_BAD;
  search.slews = slews.list.count ? &slews.list : NULL;
  if (!api_filter(call, &search.filter))
    return API_ABSENT;
  return api_put_search(call, &search);
}

/* ---- tracks in order ---- */

/* Space for the numbers of all tracks; NULL: no memory. */
static uint32_t *new_tracks(const struct api_call *call) {
  struct view_info info;
  view_info(call->view, &info);
  return calloc(info.tracks + 1, sizeof(uint32_t));
}

/* Replies with all tracks in their order if `status`, of view.h, is KYMO_OK; frees them. */
static unsigned answer_tracks(struct api_call *call, int status, uint32_t *tracks) {
  struct view_info info;
  view_info(call->view, &info);
  if (status == KYMO_OK) {
    kymo_json_key(call->json, "tracks");
    kymo_json_begin(call->json, '[');
    for (uint32_t i = 0; i < info.tracks; i++)
      kymo_json_uint(call->json, tracks[i]);
    kymo_json_end(call->json, ']');
  }
  free(tracks);
  return status == KYMO_OK ? API_OK : api_status(status);
}

unsigned api_chase(struct api_call *call) {
  struct api_slews slews;
  struct view_filter *filter;
  uint64_t number;
  bool is_back;
  if (!query_need(call->query, "filter") || !query_u64(call->query, "number", UINT64_MAX - 1, &number) ||
      !query_flag(call->query, "back", &is_back) || !api_slews(call, &slews))
    return API_BAD;
  if (!api_filter(call, &filter))
    return API_ABSENT;
  uint32_t *tracks = new_tracks(call);
  const struct view_slews *list = slews.list.count ? &slews.list : NULL;
  int status = tracks ? view_chase(call->view, list, filter, number, is_back, tracks) : KYMO_E_MEMORY;
  return answer_tracks(call, status, tracks);
}

unsigned api_activity(struct api_call *call) {
  struct view_filter *filter;
  int64_t begin_ns, end_ns;
  if (!query_i64(call->query, "begin", &begin_ns) || !query_i64(call->query, "end", &end_ns))
    return API_BAD;
  if (!api_filter(call, &filter))
    return API_ABSENT;
  uint32_t *tracks = new_tracks(call);
  int status = tracks ? view_activity(call->view, begin_ns, end_ns, filter, tracks) : KYMO_E_MEMORY;
  return answer_tracks(call, status, tracks);
}
