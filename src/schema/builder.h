/* SPDX-License-Identifier: MIT */
/* Internals of the builder, for the files of this folder. */
#ifndef KYMO_SCHEMA_BUILDER_H
#define KYMO_SCHEMA_BUILDER_H

#include "base/strbuf.h"
#include "schema/model.h"

/* Facts of a type beyond the type itself. */
struct type_facts {
  uint64_t hash;
  uint64_t fields;     /* the type and all below, arrays counting once; saturates */
  uint64_t values;     /* the same with fixed arrays counting by their length; saturates */
  uint64_t least_bits; /* minimum size of one value; saturates */
  uint64_t exact_bits; /* size of each value that begins on its own alignment; UINT64_MAX: they differ */
  uint32_t depth;      /* nesting depth of compounds, itself included */
  bool has_selector;   /* somewhere in it a length, tag or presence refers to another field */
};

struct kymo_builder {
  struct schema_impl *impl;
  const struct kymo_type **types; /* by id; `capacity` of these and of facts */
  struct type_facts *facts;
  struct kymo_hash_table by_structure; /* id + 1 by facts.hash */
  uint32_t type_count, capacity;
  struct kymo_strbuf scratch;
  bool failed; /* an allocation failed, or a type was built from foreign parts */
};

bool kymo_builder_owns(const struct kymo_builder *builder, const struct kymo_type *type);
/* The type that kymo_builder_type would return, if it exists already; else NULL. Keeps nothing of `type`. */
const struct kymo_type *kymo_builder_find(const struct kymo_builder *builder, const struct kymo_type *type);
/* Checks all that schema.h promises of a finished schema. KYMO_E_FORMAT or KYMO_E_LIMIT. */
int kymo_schema_validate(const struct kymo_builder *builder, struct kymo_error *error);

#endif
