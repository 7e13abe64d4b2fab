/* SPDX-License-Identifier: MIT */
#include "serve/json.h"

void api_put_info(struct kymo_json *json, const struct view_info *info) {
  api_put_u64(json, "events", info->events);
  api_put_i64(json, "begin", info->begin_ns);
  api_put_i64(json, "end", info->end_ns);
  api_put_bool(json, "hasTimes", info->has_times);
  api_put_bool(json, "isEpoch", info->is_epoch);
  api_put_bool(json, "isComplete", info->is_complete);
  api_put_bool(json, "isFromCache", info->is_from_cache);
  api_put_bool(json, "isKept", info->is_kept);
  api_put_u64(json, "rebuilt", info->rebuilt);
  api_put_uint(json, "tracks", info->tracks);
  api_put_uint(json, "kinds", info->kinds);
  api_put_uint(json, "spanKinds", info->span_kinds);
  api_put_u64(json, "spans", info->spans);
  api_put_u64(json, "undrawnSpans", info->undrawn_spans);
  api_put_u64(json, "losses", info->losses);
  api_put_u64(json, "lostEvents", info->lost_events);
  api_put_u64(json, "lostPackets", info->lost_packets);
  api_put_u64(json, "unknownLosses", info->unknown_losses);
  api_put_u64(json, "indexBytes", info->index_bytes);
}

static void put_track(struct kymo_json *json, uint32_t track, const struct view_track_info *info) {
  kymo_json_begin(json, '{');
  api_put_uint(json, "track", track);
  api_put_text(json, "name", info->name);
  api_put_text(json, "part", info->part);
  api_put_uint(json, "partIndex", info->part_index);
  if (info->has_process)
    api_put_i64(json, "process", info->process);
  else
    api_put_null(json, "process");
  api_put_u64(json, "events", info->events);
  api_put_u64(json, "spans", info->spans);
  api_put_uint(json, "lanes", info->lanes);
  api_put_u64(json, "deeperSpans", info->deeper_spans);
  api_put_i64(json, "begin", info->begin_ns);
  api_put_i64(json, "end", info->end_ns);
  kymo_json_end(json, '}');
}

void api_put_tracks(struct kymo_json *json, const struct view *view, uint32_t first, uint32_t count) {
  struct view_track_info track;
  kymo_json_key(json, "tracks");
  kymo_json_begin(json, '[');
  for (uint32_t i = first; i < first + count && view_track(view, i, &track); i++)
    put_track(json, i, &track);
  kymo_json_end(json, ']');
}

void api_put_kinds(struct kymo_json *json, const struct view *view) {
  static const char *const edges[] = {
      [VIEW_KIND_PLAIN] = "plain", [VIEW_KIND_BEGINS] = "begins", [VIEW_KIND_ENDS] = "ends"};
  struct view_kind_info kind;
  const char *name;
  kymo_json_key(json, "kinds");
  kymo_json_begin(json, '[');
  for (uint32_t i = 0; view_kind(view, i, &kind); i++) {
    kymo_json_begin(json, '{');
    api_put_uint(json, "kind", i);
    api_put_text(json, "name", kind.name);
    api_put_u64(json, "events", kind.events);
    api_put_text(json, "edge", edges[kind.edge]);
    kymo_json_end(json, '}');
  }
  kymo_json_end(json, ']');
  kymo_json_key(json, "spanKinds");
  kymo_json_begin(json, '[');
  for (uint32_t i = 0; (name = view_span_kind(view, i)) != NULL; i++)
    kymo_json_text(json, name);
  kymo_json_end(json, ']');
}

void api_put_losses(struct kymo_json *json, const struct view *view) {
  size_t count;
  const struct view_loss *losses = view_losses(view, &count);
  kymo_json_key(json, "losses");
  kymo_json_begin(json, '[');
  for (size_t i = 0; i < count; i++) {
    kymo_json_begin(json, '{');
    api_put_i64(json, "begin", losses[i].begin_ns);
    api_put_i64(json, "end", losses[i].end_ns);
    if (losses[i].count)
      api_put_u64(json, "count", losses[i].count);
    else
      api_put_null(json, "count");
    if (losses[i].track != UINT32_MAX)
      api_put_uint(json, "track", losses[i].track);
    else
      api_put_null(json, "track");
    api_put_uint(json, "part", losses[i].part);
    api_put_bool(json, "isPackets", losses[i].is_packets);
    kymo_json_end(json, '}');
  }
  kymo_json_end(json, ']');
}

void api_put_problems(struct kymo_json *json, const struct view *view) {
  struct view_problem problem;
  kymo_json_key(json, "problems");
  kymo_json_begin(json, '[');
  for (size_t i = 0; view_problem(view, i, &problem); i++) {
    kymo_json_begin(json, '{');
    api_put_text(json, "path", problem.path);
    if (problem.offset != KYMO_ERROR_NO_OFFSET)
      api_put_u64(json, "offset", problem.offset);
    else
      api_put_null(json, "offset");
    api_put_u64(json, "bytesLost", problem.bytes_lost);
    api_put_text(json, "message", problem.message);
    kymo_json_end(json, '}');
  }
  kymo_json_end(json, ']');
}

void api_put_statistics(struct kymo_json *json, const struct view_statistic *list, size_t count) {
  kymo_json_key(json, "spans");
  kymo_json_begin(json, '[');
  for (size_t i = 0; i < count; i++) {
    if (!list[i].count)
      continue;
    kymo_json_begin(json, '{');
    api_put_text(json, "name", list[i].name);
    api_put_u64(json, "count", list[i].count);
    api_put_i64(json, "total", list[i].total_ns);
    api_put_i64(json, "self", list[i].self_ns);
    api_put_i64(json, "least", list[i].least_ns);
    api_put_i64(json, "most", list[i].most_ns);
    api_put_double(json, "mean", list[i].mean_ns);
    api_put_i64(json, "p50", list[i].p50.value);
    api_put_i64(json, "p90", list[i].p90.value);
    api_put_i64(json, "p99", list[i].p99.value);
    api_put_i64(json, "p999", list[i].p999.value);
    kymo_json_end(json, '}');
  }
  kymo_json_end(json, ']');
}
