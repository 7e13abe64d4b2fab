/* SPDX-License-Identifier: MIT */
#include "serve/json.h"
#include <inttypes.h>
#include <stdio.h>

void api_put_u64(struct kymo_json *json, const char *key, uint64_t value) {
  char digits[24];
  snprintf(digits, sizeof digits, "%" PRIu64, value);
  api_put_text(json, key, digits);
}

void api_put_i64(struct kymo_json *json, const char *key, int64_t value) {
  char digits[24];
  snprintf(digits, sizeof digits, "%" PRId64, value);
  api_put_text(json, key, digits);
}

void api_put_uint(struct kymo_json *json, const char *key, uint64_t value) {
  kymo_json_key(json, key);
  kymo_json_uint(json, value);
}

void api_put_double(struct kymo_json *json, const char *key, double value) {
  kymo_json_key(json, key);
  if (value - value == 0)
    kymo_json_float(json, value, false);
  else
    kymo_json_null(json);
}

void api_put_text(struct kymo_json *json, const char *key, const char *value) {
  kymo_json_key(json, key);
  if (value)
    kymo_json_text(json, value);
  else
    kymo_json_null(json);
}

void api_put_bool(struct kymo_json *json, const char *key, bool value) {
  kymo_json_key(json, key);
  kymo_json_bool(json, value);
}

void api_put_null(struct kymo_json *json, const char *key) {
  kymo_json_key(json, key);
  kymo_json_null(json);
}

void api_put_mark(struct kymo_json *json, const char *key, const struct view_mark *mark) {
  kymo_json_key(json, key);
  if (!mark) {
    kymo_json_null(json);
    return;
  }
  kymo_json_begin(json, '{');
  api_put_i64(json, "time", mark->time_ns);
  api_put_u64(json, "number", mark->number);
  api_put_uint(json, "track", mark->track);
  api_put_uint(json, "kind", mark->kind);
  kymo_json_end(json, '}');
}
