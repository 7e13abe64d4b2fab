/* SPDX-License-Identifier: MIT */
/* Attributes of our own at the top of an object of JSON, found without a library: recorders have none. */
#ifndef KYMO_SCHEMA_ATTRIBUTE_H
#define KYMO_SCHEMA_ATTRIBUTE_H

#include <kymo/schema.h>
#include <string.h>

/* Where the value of `key` (with its quotes) begins; NULL: there is none. The text need not be sound. */
const char *kymo_attribute_find(const char *json, const char *key);

/*
 * An element of a list that needs numbers of its own is a struct of these, which are hidden, and of this member, which is all that users
 * are to see of it. NULL: the type is no such struct.
 */
#define KYMO_ATTRIBUTE_ELEMENT "{\"kymo.element\":true}"
static inline const struct kymo_member *kymo_element_member(const struct kymo_type *type) {
  const struct kymo_member *last = type->kind == KYMO_KIND_STRUCT && type->member_count ? &type->members[type->member_count - 1] : NULL;
  return last && last->attributes && strcmp(last->attributes, KYMO_ATTRIBUTE_ELEMENT) == 0 ? last : NULL;
}

#endif
