/* SPDX-License-Identifier: MIT */
#include "schema/attribute.h"
#include "schema/parts.h"
#include <string.h>

/* Returns the end of the string that begins at `json`, a quote; NULL: it is not terminated. */
static const char *skip_string(const char *json) {
  for (json++; *json && *json != '"'; json++)
    if (*json == '\\' && !*++json)
      return NULL;
  return *json ? json + 1 : NULL;
}

static const char *skip_blanks(const char *json) { return json + strspn(json, " \t\r\n"); }

const char *kymo_attribute_find(const char *json, const char *key) {
  for (unsigned depth = 0; json && *json;) {
    if (*json != '"') {
      depth += *json == '{' || *json == '[';
      depth -= *json == '}' || *json == ']';
      json++;
      continue;
    }
    const char *after = skip_string(json);
    if (after && depth == 1 && !strncmp(json, key, strlen(key)) && *skip_blanks(after) == ':')
      return skip_blanks(skip_blanks(after) + 1);
    json = after;
  }
  return NULL;
}

/* After the object or array that begins at `json`; NULL: it has no end. */
static const char *skip_compound(const char *json) {
  unsigned depth = 0;
  do {
    if (*json == '"') {
      json = skip_string(json);
      continue;
    }
    depth += *json == '{' || *json == '[';
    depth -= *json == '}' || *json == ']';
    json++;
  } while (depth > 0 && json && *json);
  return depth == 0 ? json : NULL;
}

bool kymo_attribute_identity(const char *json, const char *key, const char **text, size_t *length) {
  const char *identity = json ? kymo_attribute_find(json, "\"" KYMO_ATTRIBUTE_IDENTITY "\"") : NULL;
  const char *end = identity && *identity == '{' ? skip_compound(identity) : NULL;
  const char *value = end ? kymo_attribute_find(identity, key) : NULL;
  const char *after = value && value < end && *value == '"' ? skip_string(value) : NULL;
  if (!after)
    return false;
  *text = value;
  *length = (size_t)(after - value);
  return true;
}

static bool is_same(const char *one, const char *other, const char *key, bool if_missing) {
  const char *a, *b;
  size_t a_length, b_length;
  bool has_a = kymo_attribute_identity(one, key, &a, &a_length),
       has_b = kymo_attribute_identity(other, key, &b, &b_length);
  return has_a && has_b ? a_length == b_length && memcmp(a, b, a_length) == 0
                        : !has_a && !has_b && if_missing;
}

bool kymo_attribute_same_space(const char *one, const char *other) {
  return is_same(one, other, "\"namespace\"", true);
}

bool kymo_attribute_same_uid(const char *one, const char *other) {
  return is_same(one, other, "\"uid\"", false);
}

const struct kymo_member *kymo_member_named(const struct kymo_type *type, const char *name, size_t length) {
  for (uint32_t i = 0; i < type->member_count; i++) {
    const struct kymo_member *member = &type->members[i];
    if (member->name && strncmp(member->name, name, length) == 0 && !member->name[length] &&
        !kymo_member_is_hidden(member))
      return member;
  }
  return NULL;
}
