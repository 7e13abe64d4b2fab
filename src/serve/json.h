/* SPDX-License-Identifier: MIT */
/* What replies of the server consist of, and the page without a server too: members of JSON objects. */
#ifndef KYMO_SERVE_JSON_H
#define KYMO_SERVE_JSON_H

#include "print/json_writer.h"
#include "view/view.h"

/* Each adds a member to the object that is being written; failures are the writer's (print/json_writer.h).
 * 64-bit numbers are texts, since JavaScript has no such numbers in JSON. */
void api_put_u64(struct kymo_json *json, const char *key, uint64_t value);
void api_put_i64(struct kymo_json *json, const char *key, int64_t value);
void api_put_uint(struct kymo_json *json, const char *key, uint64_t value);
void api_put_double(struct kymo_json *json, const char *key, double value);
void api_put_text(struct kymo_json *json, const char *key, const char *value); /* NULL: null */
void api_put_bool(struct kymo_json *json, const char *key, bool value);
void api_put_null(struct kymo_json *json, const char *key);
/* {"time":…,"number":…,"track":…,"kind":…}, or null. */
void api_put_mark(struct kymo_json *json, const char *key, const struct view_mark *mark);
/* "spans": […] of those that were there. */
void api_put_statistics(struct kymo_json *json, const struct view_statistic *list, size_t count);
/* What view_info says, as several members. */
void api_put_info(struct kymo_json *json, const struct view_info *info);
/* "tracks": […] from a number on, at most `count`; "kinds" and "spanKinds", "losses", "problems". */
void api_put_tracks(struct kymo_json *json, const struct view *view, uint32_t first, uint32_t count);
void api_put_kinds(struct kymo_json *json, const struct view *view);
void api_put_losses(struct kymo_json *json, const struct view *view);
void api_put_problems(struct kymo_json *json, const struct view *view);

#endif
