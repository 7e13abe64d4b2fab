/* SPDX-License-Identifier: MIT */
#include "sink/csv/columns.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/list.h"
#include "base/strbuf.h"
#include "print/names.h"
#include "schema/attribute.h"
#include "schema/parts.h"
#include <stdlib.h>
#include <string.h>

/* Structs of structs of structs may have too many fields to count. */
#define COLUMNS_MAX 16384

/* ---- names ---- */

uint32_t kymo_csv_column(struct kymo_csv_columns *columns, const char *name) {
  uintptr_t item;
  uint32_t hash = (uint32_t)kymo_keyed_text(name, strlen(name)), at = hash;
  while ((item = kymo_hash_table_next(&columns->table, hash, &at)))
    if (strcmp(columns->names[item - 1], name) == 0)
      return (uint32_t)item - 1;
  const char *copy =
      columns->count < COLUMNS_MAX ? kymo_arena_copy(&columns->arena, name, strlen(name)) : NULL;
  if (!copy || !KYMO_LIST_ROOM(columns->names, columns->capacity, columns->count) ||
      !kymo_hash_table_add(&columns->table, NULL, hash, columns->count + 1))
    return KYMO_CSV_NONE;
  columns->names[columns->count] = copy;
  return columns->count++;
}

/* ---- titles ---- */

/* A column's name as users see it. */
static const char *make_title(struct kymo_csv_columns *columns, const char *name, bool is_quoted,
                              uint32_t number) {
  struct kymo_strbuf title = {0};
  for (const char *at = name; *at;) {
    size_t length = strcspn(at, KYMO_CSV_IN KYMO_CSV_OF);
    bool has_dot = is_quoted && memchr(at, '.', length);
    kymo_strbuf_puts(&title, has_dot ? "`" : "");
    kymo_strbuf_add(&title, at, length);
    kymo_strbuf_puts(&title, has_dot ? "`" : "");
    at += length;
    kymo_strbuf_puts(&title, *at ? "." : "");
    at += *at != 0;
  }
  if (number)
    kymo_strbuf_printf(&title, "#%u", (unsigned)number);
  const char *kept =
      title.failed ? NULL : kymo_arena_copy(&columns->arena, title.text ? title.text : "", title.length);
  kymo_strbuf_free(&title);
  return kept;
}

struct titled {
  const char *title;
  uint32_t column;
};

static int by_title(const void *a, const void *b) {
  const struct titled *one = a, *other = b;
  int order = strcmp(one->title, other->title);
  return order ? order : one->column < other->column ? -1 : one->column > other->column;
}

/* Makes titles that several columns share unique: in backquotes, then with numbers. False: out of memory. */
static bool distinguish(struct kymo_csv_columns *columns, struct titled *list, bool is_numbered) {
  qsort(list, columns->count, sizeof *list, by_title);
  for (uint32_t i = 0, end; i < columns->count; i = end) {
    for (end = i + 1; end < columns->count && strcmp(list[end].title, list[i].title) == 0;)
      end++;
    for (uint32_t k = i; end - i > 1 && k < end; k++) {
      uint32_t number = is_numbered && k > i ? k - i + 1 : 0;
      list[k].title = make_title(columns, columns->names[list[k].column], true, number);
      if (!list[k].title)
        return false;
    }
  }
  return true;
}

const char *const *kymo_csv_titles(struct kymo_csv_columns *columns) {
  struct titled *list = calloc((size_t)columns->count + 1, sizeof *list);
  const char **titles = kymo_arena_array(&columns->arena, (size_t)columns->count + 1, sizeof *titles);
  bool ok = list && titles;
  for (uint32_t i = 0; ok && i < columns->count; i++) {
    list[i] = (struct titled){make_title(columns, columns->names[i], false, 0), i};
    ok = list[i].title != NULL;
  }
  ok = ok && distinguish(columns, list, false) && distinguish(columns, list, true);
  for (uint32_t i = 0; ok && i < columns->count; i++)
    titles[list[i].column] = list[i].title;
  free(list);
  return ok ? titles : NULL;
}

void kymo_csv_columns_end(struct kymo_csv_columns *columns) {
  free(columns->names);
  kymo_hash_table_free(&columns->table);
  kymo_arena_free(&columns->arena);
  *columns = (struct kymo_csv_columns){0};
}

/* ---- nodes ---- */

static int fail_many(const struct kymo_csv_columns *columns, struct kymo_error *error) {
  if (columns->count < COLUMNS_MAX)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  return kymo_fail(error, KYMO_E_LIMIT, "the events have more than %d fields: choose some events",
                   COLUMNS_MAX);
}

static bool has_labels(const struct kymo_type *type) {
  return type->is_enumeration || type->mapping_count > 0;
}

/* Number of nodes for a member. */
static uint32_t count_nodes(const struct kymo_type *type) {
  uint32_t count = 0;
  if (type->kind == KYMO_KIND_OPTIONAL)
    return count_nodes(type->element);
  if (type->kind != KYMO_KIND_VARIANT)
    return 1;
  for (uint32_t i = 0; i < type->member_count; i++)
    count += count_nodes(type->members[i].type);
  return count;
}

static int add_leaf(struct kymo_csv_columns *columns, struct kymo_csv_node *node, const char *name,
                    struct kymo_error *error) {
  node->column = kymo_csv_column(columns, name);
  if (node->column == KYMO_CSV_NONE)
    return fail_many(columns, error);
  if (!has_labels(node->type))
    return KYMO_OK;
  struct kymo_strbuf label = {0};
  kymo_strbuf_printf(&label, "%s" KYMO_CSV_OF "label", name);
  node->label_column = label.failed ? KYMO_CSV_NONE : kymo_csv_column(columns, label.text);
  kymo_strbuf_free(&label);
  return node->label_column == KYMO_CSV_NONE ? fail_many(columns, error) : KYMO_OK;
}

/* Adds the nodes of a member to those of `node`, which has space. */
static int add_member(struct kymo_csv_columns *columns, struct kymo_csv_node *node, uint32_t member,
                      const struct kymo_type *type, const char *name, struct kymo_error *error) {
  int status = KYMO_OK;
  if (type->kind == KYMO_KIND_OPTIONAL)
    return add_member(columns, node, member, type->element, name, error);
  if (type->kind == KYMO_KIND_VARIANT) {
    for (uint32_t i = 0; i < type->member_count && status == KYMO_OK; i++)
      status = add_member(columns, node, member, type->members[i].type, name, error);
    return status;
  }
  struct kymo_csv_node *child = &node->children[node->child_count++];
  *child = (struct kymo_csv_node){
      .type = type, .member = member, .column = KYMO_CSV_NONE, .label_column = KYMO_CSV_NONE};
  if (type->kind != KYMO_KIND_STRUCT && type->kind != KYMO_KIND_UNION)
    return add_leaf(columns, child, name, error);
  struct kymo_strbuf prefix = {0};
  kymo_strbuf_printf(&prefix, "%s" KYMO_CSV_IN, name);
  status = prefix.failed ? kymo_fail(error, KYMO_E_MEMORY, "out of memory")
                         : kymo_csv_add_struct(columns, child, type, prefix.text, error);
  kymo_strbuf_free(&prefix);
  return status;
}

int kymo_csv_add_struct(struct kymo_csv_columns *columns, struct kymo_csv_node *node,
                        const struct kymo_type *type, const char *prefix, struct kymo_error *error) {
  size_t count = 0;
  for (uint32_t i = 0; i < type->member_count; i++)
    count += count_nodes(type->members[i].type);
  node->type = type;
  node->children = kymo_arena_array(&columns->arena, count + 1, sizeof *node->children);
  int status = node->children ? KYMO_OK : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  for (uint32_t i = 0; i < type->member_count && status == KYMO_OK; i++) {
    struct kymo_strbuf name = {0};
    if (kymo_member_is_hidden(&type->members[i]))
      continue;
    kymo_strbuf_puts(&name, prefix);
    kymo_names_add_unique(&name, type, i);
    status = name.failed ? kymo_fail(error, KYMO_E_MEMORY, "out of memory")
                         : add_member(columns, node, i, type->members[i].type, name.text, error);
    kymo_strbuf_free(&name);
  }
  return status;
}
