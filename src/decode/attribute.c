/* SPDX-License-Identifier: MIT */
/* User attributes. Where there is no JSON library (readers built for other machines), none is found. */
#include "decode/attribute.h"
#ifdef KYMO_WITHOUT_JANSSON

bool kymo_attribute_text(const char *attributes, const char *space, const char *key,
                         struct kymo_strbuf *out) {
  (void)attributes, (void)space, (void)key, (void)out;
  return false;
}

bool kymo_attribute_uint(const char *attributes, const char *space, const char *key, uint64_t *out) {
  (void)attributes, (void)space, (void)key, (void)out;
  return false;
}

#else
#include <jansson.h>

/* The whole object, to be released, and the value in it. */
struct found {
  json_t *all, *value;
};

static struct found find(const char *attributes, const char *space, const char *key) {
  json_t *all = attributes ? json_loads(attributes, JSON_ALLOW_NUL, NULL) : NULL;
  return (struct found){all, json_object_get(json_object_get(all, space), key)};
}

bool kymo_attribute_text(const char *attributes, const char *space, const char *key,
                         struct kymo_strbuf *out) {
  struct found found = find(attributes, space, key);
  bool is_text = json_is_string(found.value);
  if (is_text)
    kymo_strbuf_add(out, json_string_value(found.value), json_string_length(found.value));
  json_decref(found.all);
  return is_text;
}

bool kymo_attribute_uint(const char *attributes, const char *space, const char *key, uint64_t *out) {
  struct found found = find(attributes, space, key);
  bool is_there = json_is_integer(found.value) && json_integer_value(found.value) >= 0;
  if (is_there)
    *out = (uint64_t)json_integer_value(found.value);
  json_decref(found.all);
  return is_there;
}

#endif
