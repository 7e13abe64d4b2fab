/* SPDX-License-Identifier: MIT */
/* Reading JSON values, and reporting the place of one that is not as expected. */
#include "lang/ctf2/session.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- the place of a value ---- */

static const char *skip_space(const char *at) { return at + strspn(at, " \t\r\n"); }

/* The functions below walk through a fragment that was parsed already. Each returns the place after it. */

static const char *skip_text(const char *at) {
  for (at++; *at != '"'; at++)
    at += *at == '\\';
  return at + 1;
}

static const char *skip_value(const char *at) {
  if (*at == '"')
    return skip_text(at);
  if (*at != '{' && *at != '[')
    return at + strcspn(at, " \t\r\n,]}\x1e");
  unsigned depth = 0;
  do {
    if (*at == '"') {
      at = skip_text(at);
      continue;
    }
    depth += *at == '{' || *at == '[';
    depth -= *at == '}' || *at == ']';
    at++;
  } while (depth > 0);
  return at;
}

static bool is_key(const char *at, const char *end, const char *key) {
  json_t *text = json_loadb(at, (size_t)(end - at), JSON_DECODE_ANY, NULL);
  bool same = text && strcmp(json_string_value(text), key) == 0;
  json_decref(text);
  return same;
}

/* The start of the property's value, or of the object if there is no such property. */
static const char *enter_object(const char *object, const char *key) {
  const char *at = skip_space(object + 1);
  while (*at == '"') {
    const char *end = skip_text(at), *value = skip_space(skip_space(end) + 1);
    if (is_key(at, end, key))
      return value;
    at = skip_space(skip_value(value));
    at = *at == ',' ? skip_space(at + 1) : at;
  }
  return object;
}

static const char *enter_array(const char *array, size_t index) {
  const char *at = skip_space(array + 1);
  for (; index > 0; index--)
    at = skip_space(skip_space(skip_value(at)) + 1);
  return at;
}

static const char *place_of(const struct ctf2_value *value) {
  if (!value->up)
    return skip_space(value->fragment->session->copy + value->fragment->at);
  const char *up = place_of(value->up);
  return value->key ? enter_object(up, value->key) : enter_array(up, value->index);
}

#define PATH_SHOWN 200

/* Written from the back, so that of a long path the end is shown. */
struct path {
  char text[PATH_SHOWN + 1];
  size_t room;
};

/* Puts a text before the others. False if only its end fits. */
static bool put_front(struct path *path, const char *text) {
  size_t length = strlen(text), shown = length < path->room ? length : path->room;
  path->room -= shown;
  memcpy(path->text + path->room, text + length - shown, shown);
  return shown == length;
}

/* "$.a.b[2]"; returns where it begins in path->text. */
static const char *path_to(struct path *path, const struct ctf2_value *value) {
  char index[30];
  bool fits = true;
  path->text[PATH_SHOWN] = '\0';
  path->room = PATH_SHOWN;
  for (; value->up && fits && path->room > 4; value = value->up) {
    snprintf(index, sizeof index, "[%zu]", value->index);
    fits = value->key ? put_front(path, value->key) && put_front(path, ".") : put_front(path, index);
  }
  if (!value->up && fits && put_front(path, "$"))
    return path->text + path->room;
  memcpy(path->text, "$...", 4);
  return path->text;
}

bool kymo_ctf2_fail(const struct ctf2_value *value, const char *format, ...) {
  struct ctf2_session *session = value->fragment->session;
  struct path path;
  char message[300];
  va_list args;
  if (session->common.failed)
    return false;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  return kymo_lang_fail(session, (size_t)(place_of(value) - session->copy), "%s: %s", path_to(&path, value),
                        message);
}

bool kymo_ctf2_expected(const struct ctf2_value *value, const char *what) {
  uint64_t number;
  if (kymo_ctf2_is_marked(value->json, &number))
    return kymo_ctf2_fail(value, "expected %s, found %" PRIu64, what, number);
  switch (json_typeof(value->json)) {
  case JSON_OBJECT: return kymo_ctf2_fail(value, "expected %s, found an object", what);
  case JSON_ARRAY:
    return kymo_ctf2_fail(value, "expected %s, found an array of %zu", what, json_array_size(value->json));
  case JSON_STRING:
    return kymo_ctf2_fail(value, "expected %s, found \"%.60s\"", what, json_string_value(value->json));
  case JSON_INTEGER:
    return kymo_ctf2_fail(value, "expected %s, found %" JSON_INTEGER_FORMAT, what,
                          json_integer_value(value->json));
  case JSON_REAL: return kymo_ctf2_fail(value, "expected %s, found %g", what, json_real_value(value->json));
  case JSON_TRUE: return kymo_ctf2_fail(value, "expected %s, found true", what);
  case JSON_FALSE: return kymo_ctf2_fail(value, "expected %s, found false", what);
  default: return kymo_ctf2_fail(value, "expected %s, found null", what);
  }
}

/* ---- parts ---- */

struct ctf2_value kymo_ctf2_root(const struct ctf2_fragment *fragment) {
  return (struct ctf2_value){.json = fragment->json, .fragment = fragment};
}

bool kymo_ctf2_get(const struct ctf2_value *object, const char *key, struct ctf2_value *out) {
  *out = (struct ctf2_value){
      .json = json_object_get(object->json, key), .fragment = object->fragment, .up = object, .key = key};
  return out->json != NULL;
}

bool kymo_ctf2_need(const struct ctf2_value *object, const char *key, struct ctf2_value *out) {
  return kymo_ctf2_get(object, key, out) || kymo_ctf2_fail(object, "there is no \"%s\"", key);
}

struct ctf2_value kymo_ctf2_element(const struct ctf2_value *array, size_t index) {
  return (struct ctf2_value){
      .json = json_array_get(array->json, index), .fragment = array->fragment, .up = array, .index = index};
}

bool kymo_ctf2_only(const struct ctf2_value *object, const char *const *known) {
  const char *key;
  json_t *value;
  json_object_foreach(object->json, key, value) {
    size_t i = 0;
    while (known[i] && strcmp(known[i], key) != 0)
      i++;
    struct ctf2_value property;
    if (!known[i] && kymo_ctf2_get(object, key, &property))
      return kymo_ctf2_fail(&property, "there is no such property");
  }
  return true;
}

/* ---- kinds ---- */

bool kymo_ctf2_object(const struct ctf2_value *value) {
  return json_is_object(value->json) || kymo_ctf2_expected(value, "an object");
}

bool kymo_ctf2_array(const struct ctf2_value *value) {
  return json_is_array(value->json) || kymo_ctf2_expected(value, "an array");
}

bool kymo_ctf2_unsigned(const struct ctf2_value *value, uint64_t *out) {
  if (kymo_ctf2_is_marked(value->json, out))
    return true;
  if (!json_is_integer(value->json) || json_integer_value(value->json) < 0)
    return kymo_ctf2_expected(value, "an unsigned number");
  *out = (uint64_t)json_integer_value(value->json);
  return true;
}

bool kymo_ctf2_signed(const struct ctf2_value *value, int64_t *out) {
  if (!json_is_integer(value->json))
    return kymo_ctf2_expected(value, "a signed number of 64 bits");
  *out = json_integer_value(value->json);
  return true;
}

bool kymo_ctf2_bool(const struct ctf2_value *value, bool *out) {
  *out = json_is_true(value->json);
  return json_is_boolean(value->json) || kymo_ctf2_expected(value, "true or false");
}

bool kymo_ctf2_text(const struct ctf2_value *value, const char **out) {
  uint64_t number;
  struct ctf2_session *session = value->fragment->session;
  if (!json_is_string(value->json) || kymo_ctf2_is_marked(value->json, &number))
    return kymo_ctf2_expected(value, "a text");
  *out = kymo_lang_keep_text(session, json_string_value(value->json), json_string_length(value->json));
  return *out != NULL;
}

bool kymo_ctf2_word(const struct ctf2_value *value, const char *const *words, uint32_t *out) {
  char list[400] = "";
  size_t length = 0;
  for (uint32_t i = 0; words[i]; i++) {
    if (json_is_string(value->json) && strcmp(json_string_value(value->json), words[i]) == 0) {
      *out = i;
      return true;
    }
    const char *gap = i == 0 ? "" : words[i + 1] ? ", " : " or ";
    if (length < sizeof list)
      length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", gap, words[i]);
  }
  return kymo_ctf2_expected(value, length < 150 ? list : "a known type");
}

bool kymo_ctf2_alignment(const struct ctf2_value *value, uint32_t *out) {
  uint64_t number = 0;
  if (!json_is_integer(value->json))
    return kymo_ctf2_expected(value, "a power of two");
  number = (uint64_t)json_integer_value(value->json);
  if (number == 0 || number > UINT32_C(1) << 31 || (number & (number - 1)))
    return kymo_ctf2_expected(value, "a power of two, up to 2^31");
  *out = (uint32_t)number;
  return true;
}

bool kymo_ctf2_bytes(const struct ctf2_value *value, uint8_t *out, size_t count) {
  char what[40];
  snprintf(what, sizeof what, "an array of %zu bytes", count);
  if (!json_is_array(value->json) || json_array_size(value->json) != count)
    return kymo_ctf2_expected(value, what);
  for (size_t i = 0; i < count; i++) {
    struct ctf2_value byte = kymo_ctf2_element(value, i);
    uint64_t number = 0;
    if (!kymo_ctf2_unsigned(&byte, &number))
      return false;
    if (number > UINT8_MAX)
      return kymo_ctf2_expected(&byte, "a number up to 255");
    out[i] = (uint8_t)number;
  }
  return true;
}

bool kymo_ctf2_get_unsigned(const struct ctf2_value *object, const char *key, uint64_t *out) {
  struct ctf2_value value;
  return !kymo_ctf2_get(object, key, &value) || kymo_ctf2_unsigned(&value, out);
}

bool kymo_ctf2_get_text(const struct ctf2_value *object, const char *key, const char **out) {
  struct ctf2_value value;
  return !kymo_ctf2_get(object, key, &value) || kymo_ctf2_text(&value, out);
}
