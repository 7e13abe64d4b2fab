/* SPDX-License-Identifier: MIT */
/* Attributes of kymo at the top of a JSON object, found without a library: recorders have none. */
#ifndef KYMO_SCHEMA_ATTRIBUTE_H
#define KYMO_SCHEMA_ATTRIBUTE_H

#include "schema/parts.h"
#include <kymo/schema.h>
#include <string.h>

/* The begin of the value of `key` (with its quotes); NULL: there is none. The text may be malformed. */
const char *kymo_attribute_find(const char *json, const char *key);

/* A text property of the identity of a class in CTF 2 (KYMO_ATTRIBUTE_IDENTITY among its attributes): its
 * JSON with the quotes, equal for equal texts. `key` has its quotes, too. False: there is none. */
#define KYMO_ATTRIBUTE_IDENTITY "kymo.identity"
bool kymo_attribute_identity(const char *json, const char *key, const char **text, size_t *length);
/* Whether two classes have equal namespaces: the same, or none. */
bool kymo_attribute_same_space(const char *one, const char *other);
/* Whether two classes have uids, and they are equal. */
bool kymo_attribute_same_uid(const char *one, const char *other);

/*
 * An element of a list that needs numbers of its own becomes a struct of these numbers, which are hidden, and
 * of this member, which is the only one users see. NULL: the type is not such a struct.
 */
#define KYMO_ATTRIBUTE_ELEMENT "{\"kymo.element\":true}"
static inline bool kymo_member_is_element(const struct kymo_member *member) {
  return member->attributes && strcmp(member->attributes, KYMO_ATTRIBUTE_ELEMENT) == 0;
}
static inline const struct kymo_member *kymo_element_member(const struct kymo_type *type) {
  const struct kymo_member *last =
      type->kind == KYMO_KIND_STRUCT && type->member_count ? &type->members[type->member_count - 1] : NULL;
  return last && kymo_member_is_element(last) ? last : NULL;
}

/*
 * A member for decoding only: a count, a tag, a presence byte that a compiler adds to the fields of a
 * description. It is outside the names of users: no output shows it, no lookup by name finds it, and its name
 * begins with two underscores more than that of any field beside it, so that formats without attributes (CTF
 * 1) have no second member of a user's name. One underscore would be enough, but babeltrace2 2.0 treats `__x`
 * and `_x` of TSDL as two members of one name.
 */
#define KYMO_ATTRIBUTE_HIDDEN "{\"kymo.hidden\":true}"
static inline bool kymo_member_is_hidden(const struct kymo_member *member) {
  if (!member->attributes || strcmp(member->attributes, KYMO_ATTRIBUTE_HIDDEN) == 0)
    return member->attributes != NULL;
  const char *value = kymo_attribute_find(member->attributes, "\"kymo.hidden\"");
  return value && strncmp(value, "true", 4) == 0;
}
/* Number of underscores at the begin of hidden members' names beside fields of these names: pass each name,
 * begin with 2. */
static inline size_t kymo_hidden_underscores(size_t so_far, const char *name, size_t length) {
  size_t count = 0;
  while (count < length && name[count] == '_')
    count++;
  return count + 2 < so_far ? so_far : count + 2;
}

/* The visible member of a struct, variant or union with this name; NULL: there is none. */
const struct kymo_member *kymo_member_named(const struct kymo_type *type, const char *name, size_t length);

/* A member of event headers, an integer: where it is 0, the event has no time, and the header's time is only
 * its place. For formats whose records may have no time, and for traces written from them. */
#define KYMO_TIMED "kymo_timed"

#endif
