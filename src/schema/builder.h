/* SPDX-License-Identifier: MIT */
/* The builder's inside, for the files of this folder. */
#ifndef KYMO_SCHEMA_BUILDER_H
#define KYMO_SCHEMA_BUILDER_H

#include "base/strbuf.h"
#include "schema/model.h"

/* What the builder knows of a type beyond the type itself. */
struct type_facts {
  uint64_t hash;
  uint64_t fields;     /* the type and all below, arrays counting once; saturates */
  uint64_t values;     /* the same with fixed arrays counting by their length; saturates */
  uint64_t least_bits; /* that one value takes at least; saturates */
  uint64_t exact_bits; /* that each value takes which begins on its own alignment; UINT64_MAX: they differ */
  uint32_t depth;      /* compounds inside one another, itself included */
  bool has_selector;   /* somewhere in it a length, tag or presence refers to another field */
};

struct kymo_builder {
  struct schema_impl *impl;
  const struct kymo_type **types; /* by id; `capacity` of these and of facts */
  struct type_facts *facts;
  struct kymo_hash_table by_structure; /* id + 1 by facts.hash */
  uint32_t type_count, capacity;
  struct kymo_strbuf scratch;
  bool failed; /* memory ran out, or a type was made of foreign parts */
};

bool kymo_builder_owns(const struct kymo_builder *builder, const struct kymo_type *type);
/* The type that kymo_builder_type would return, if it is there already; else NULL. Keeps nothing of
 * `type`. */
const struct kymo_type *kymo_builder_find(const struct kymo_builder *builder, const struct kymo_type *type);
/* Everything that schema.h promises of a finished schema. KYMO_E_FORMAT or KYMO_E_LIMIT. */
int kymo_schema_validate(const struct kymo_builder *builder, struct kymo_error *error);

#endif
