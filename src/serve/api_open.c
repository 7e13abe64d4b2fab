/* SPDX-License-Identifier: MIT */
/*
 * Other traces in place of those that are shown, the same ones read again, and the end of the server.
 *
 * No request names a file: the page asks for a number of the last list of offers. A list has a number too, so
 * that a request of an older one is refused instead of showing another trace.
 */
#include "serve/api.h"
#include "base/fail.h"

unsigned api_offers(struct api_call *call) {
  struct api *api = call->api;
  struct kymo_json *json = call->json;
  size_t count = 0;
  const struct serve_offer *list =
      api->options->offers ? api->options->offers(api->options->user, &count) : NULL;
  api_put_uint(json, "list", ++api->list);
  kymo_json_key(json, "offers");
  kymo_json_begin(json, '[');
  for (size_t i = 0; i < count; i++) {
    kymo_json_begin(json, '{');
    api_put_uint(json, "offer", i);
    api_put_text(json, "name", list[i].name);
    api_put_bool(json, "isFolder", list[i].is_folder);
    api_put_u64(json, "bytes", list[i].bytes);
    api_put_i64(json, "changed", list[i].changed_ns);
    kymo_json_end(json, '}');
  }
  kymo_json_end(json, ']');
  return API_OK;
}

/* The clocks that the query names; "none" takes them back. */
static bool take_clocks(struct query *query, struct serve_change *change) {
  static const char *const units[] = {"none", "us", "s", NULL};
  unsigned unit;
  if (query_text(query, "gistclock")) {
    change->has_gist_clock = true;
    if (!query_u64(query, "gistclock", UINT32_MAX, &change->gist_clock))
      return false;
  }
  if (query_text(query, "cpelclock")) {
    change->has_cpel_clock = true;
    if (!query_word(query, "cpelclock", units, &unit))
      return false;
    change->cpel_clock = unit ? units[unit] : NULL;
  }
  return true;
}

/* Opens what the change asks for; what is shown stays if that fails. */
static unsigned open_changed(struct api_call *call, const struct serve_change *change) {
  struct api *api = call->api;
  const struct serve_options *served = api->options;
  struct serve_traces traces = {0};
  struct api_view made;
  if (!served->change) {
    kymo_fail(&call->error, KYMO_E_ABSENT, "nothing can be opened here");
    return API_ABSENT;
  }
  int status = served->change(served->user, change, &traces, &call->error);
  if (status != KYMO_OK)
    return api_status(status);
  struct view_options options = *traces.view;
  if (api->main.view && !change->has_offer) {
    options.by = api->main.options.by;
    options.field = api->main.options.field;
    options.is_fresh = true;
  }
  status = api_open_view(&made, &options, &call->error);
  if (status == KYMO_OK) {
    api_show(api, &made);
    api->main.options.is_fresh = false;
    api->traces = traces;
    api->opened++;
  }
  served->changed(served->user, status == KYMO_OK);
  if (status != KYMO_OK)
    return api_status(status);
  api_put_uint(call->json, "generation", api->generation);
  return API_OK;
}

unsigned api_open(struct api_call *call) {
  struct serve_change change = {.has_offer = true};
  uint64_t offer;
  uint32_t list;
  if (!query_u32(call->query, "list", UINT32_MAX, &list) ||
      !query_u64(call->query, "offer", SIZE_MAX, &offer) || !take_clocks(call->query, &change))
    return API_BAD;
  if (list != call->api->list) {
    kymo_fail(&call->error, KYMO_E_ABSENT,
              "the list of traces is older than the newest one: ask for it again");
    return API_ABSENT;
  }
  change.offer = (size_t)offer;
  return open_changed(call, &change);
}

unsigned api_reload(struct api_call *call) {
  struct serve_change change = {0};
  return take_clocks(call->query, &change) ? open_changed(call, &change) : API_BAD;
}

unsigned api_quit(struct api_call *call) {
  call->api->is_ended = true;
  api_put_bool(call->json, "isEnded", true);
  return API_OK;
}
