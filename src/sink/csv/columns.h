/* SPDX-License-Identifier: MIT */
/*
 * The columns of a table with events of several classes: each field is a column, named after the path to it;
 * fields of one name in several classes share a column.
 *
 *   class net:rx  { port; struct { x; y } where }      port  where.x  where.y  state
 *   class net:tx  { port; state }                       ▲─────────────────────────┘
 *
 * The column of a value is found in a tree of nodes, by member and type.
 */
#ifndef KYMO_SINK_CSV_COLUMNS_H
#define KYMO_SINK_CSV_COLUMNS_H

#include "schema/parts.h"
#include "base/arena.h"
#include "base/table.h"
#include <kymo/read.h>

#define KYMO_CSV_NONE UINT32_MAX
/* Between a struct and its member, in names of columns; both are a dot for users. */
#define KYMO_CSV_IN "\x1f"
/* … between a value and its label. */
#define KYMO_CSV_OF "\x1e"

/* A member of a struct or union, or one option of it if it is a variant. */
struct kymo_csv_node {
  const struct kymo_type *type;
  uint32_t member;               /* in the type above */
  uint32_t column, label_column; /* or KYMO_CSV_NONE */
  uint32_t child_count;
  struct kymo_csv_node *children;
};

struct kymo_csv_columns {
  struct kymo_arena arena;
  const char **names; /* members on the path, with KYMO_CSV_IN between them: names may contain dots */
  uint32_t count, capacity;
  struct kymo_hash_table table; /* index of a name + 1 */
};

/* The column of this name, created if it does not exist; KYMO_CSV_NONE: there are too many, or no memory. */
uint32_t kymo_csv_column(struct kymo_csv_columns *columns, const char *name);
/* Creates the columns of a struct's members, their names after `prefix`. KYMO_E_LIMIT, KYMO_E_MEMORY. */
int kymo_csv_add_struct(struct kymo_csv_columns *columns, struct kymo_csv_node *node,
                        const struct kymo_type *type, const char *prefix, struct kymo_error *error);
/* The titles of the columns, in the arena, by column; NULL: out of memory. All are different: a member whose
 * own name contains a dot is put in backquotes if another column would have the same title, and titles that
 * are still equal have a number after them. */
const char *const *kymo_csv_titles(struct kymo_csv_columns *columns);
void kymo_csv_columns_end(struct kymo_csv_columns *columns);

/* The node of a member, or NULL. */
static inline const struct kymo_csv_node *kymo_csv_find(const struct kymo_csv_node *node,
                                                        const struct kymo_value *value) {
  uint32_t member = (uint32_t)(value->member - node->type->members);
  for (uint32_t i = 0; i < node->child_count; i++)
    if (node->children[i].member == member && node->children[i].type == value->type)
      return &node->children[i];
  return NULL;
}

#endif
