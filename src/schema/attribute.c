/* SPDX-License-Identifier: MIT */
#include "schema/attribute.h"
#include <string.h>

/* Behind the string that begins at `json`, a quote; NULL: it has no end. */
static const char *skip_string(const char *json) {
  for (json++; *json && *json != '"'; json++)
    if (*json == '\\' && !*++json)
      return NULL;
  return *json ? json + 1 : NULL;
}

static const char *skip_blanks(const char *json) {
  return json + strspn(json, " \t\r\n");
}

const char *kymo_attribute_find(const char *json, const char *key) {
  for (unsigned depth = 0; json && *json;) {
    if (*json != '"') {
      depth += *json == '{' || *json == '[';
      depth -= *json == '}' || *json == ']';
      json++;
      continue;
    }
    const char *behind = skip_string(json);
    if (behind && depth == 1 && !strncmp(json, key, strlen(key)) && *skip_blanks(behind) == ':')
      return skip_blanks(skip_blanks(behind) + 1);
    json = behind;
  }
  return NULL;
}

const struct kymo_member *kymo_member_named(const struct kymo_type *type, const char *name, size_t length) {
  for (uint32_t i = 0; i < type->member_count; i++) {
    const struct kymo_member *member = &type->members[i];
    if (member->name && strncmp(member->name, name, length) == 0 && !member->name[length] && !kymo_member_is_hidden(member))
      return member;
  }
  return NULL;
}
