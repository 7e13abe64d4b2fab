/* SPDX-License-Identifier: MIT */
#include "query/plan.h"
#include "base/strbuf.h"
#include <string.h>

/* What a full scan costs, in rows, if nothing better is known; and which part of the rows a test passes. */
#define SCAN_ROWS 1e6
#define EQUAL_PART 0.1
#define RANGE_PART 0.3

/* ---- SQLite of different ages ---- */

/* Functions that are newer than 3.38 are not in the table of an older SQLite that loads the extension. */
static bool is_new(void) { return sqlite3_libversion_number() >= 3038000; }

static int distinct_of(sqlite3_index_info *info) { return is_new() ? sqlite3_vtab_distinct(info) : 0; }

static bool is_in(sqlite3_index_info *info, int index) {
  return is_new() && sqlite3_vtab_in(info, index, -1);
}

/* The type of a constant, or SQLITE_NULL if it is not known yet. */
static int constant_type(sqlite3_index_info *info, int index) {
  sqlite3_value *value = NULL;
  return is_new() && sqlite3_vtab_rhs_value(info, index, &value) == SQLITE_OK && value
             ? sqlite3_value_type(value)
             : SQLITE_NULL;
}

/* ---- constraints ---- */

static char letter_of(int operation) {
  switch (operation) {
  case SQLITE_INDEX_CONSTRAINT_EQ: return '=';
  case SQLITE_INDEX_CONSTRAINT_GT: return '>';
  case SQLITE_INDEX_CONSTRAINT_GE: return 'G';
  case SQLITE_INDEX_CONSTRAINT_LT: return '<';
  case SQLITE_INDEX_CONSTRAINT_LE: return 'L';
  default: return 0;
  }
}

static bool is_number(const struct query_column *column) {
  switch (column->kind) {
  case QUERY_TS:
  case QUERY_PID:
  case QUERY_TID:
  case QUERY_CPU:
  case QUERY_STREAM:
  case QUERY_TRACE:
  case QUERY_LEVEL: return true;
  case QUERY_FIELD: return column->type <= QUERY_REAL;
  default: return false;
  }
}

static bool is_text(const struct query_column *column) {
  switch (column->kind) {
  case QUERY_CLASS:
  case QUERY_GROUP:
  case QUERY_PROCESS:
  case QUERY_THREAD:
  case QUERY_PATH: return true;
  case QUERY_FIELD: return column->type == QUERY_TEXT;
  default: return false;
  }
}

/* The letter of a constraint that tests can decide, or 0. */
static char choose(const struct query_columns *columns, sqlite3_index_info *info, int index) {
  int number = info->aConstraint[index].iColumn;
  char letter = info->aConstraint[index].usable ? letter_of(info->aConstraint[index].op) : 0;
  if (!letter || number < 0 || (uint32_t)number >= columns->count)
    return 0;
  const struct query_column *column = &columns->list[number];
  if (is_text(column)) {
    if (letter != '=' || strcmp(sqlite3_vtab_collation(info, index), "BINARY") != 0)
      return 0;
  } else if (!is_number(column)) {
    return 0;
  }
  if (!is_in(info, index))
    return letter;
  return sqlite3_vtab_in(info, index, 1) ? 'I' : 0;
}

/* Whether the test of a constant leaves nothing for SQLite to test again. */
static bool is_exact(const struct query_column *column, sqlite3_index_info *info, int index, char letter) {
  if (letter == 'I')
    return false;
  int type = constant_type(info, index);
  return column->kind == QUERY_CLASS
             ? type == SQLITE_TEXT
             : type == SQLITE_INTEGER && is_number(column) && column->type != QUERY_REAL;
}

static const char *word_of(char letter) {
  switch (letter) {
  case 'G': return ">=";
  case 'L': return "<=";
  case '>': return ">";
  case '<': return "<";
  case 'I': return "IN";
  default: return "=";
  }
}

struct planned {
  struct kymo_strbuf text;  /* operators and columns */
  struct kymo_strbuf words; /* the same for people, as EXPLAIN QUERY PLAN shows it */
  double rows;              /* which part of all */
  bool has_class;           /* one kind is wanted, or some */
  bool has_time;            /* a window of time is */
  bool is_all_exact;
  bool is_counted; /* the rows of a class do not differ */
  int distinct;    /* sqlite3_vtab_distinct */
};

static void take_constraints(struct planned *planned, const struct query_columns *columns,
                             sqlite3_index_info *info) {
  int count = 0;
  for (int i = 0; i < info->nConstraint; i++) {
    char letter = choose(columns, info, i);
    if (!letter) {
      planned->is_all_exact = false;
      continue;
    }
    const struct query_column *column = &columns->list[info->aConstraint[i].iColumn];
    kymo_strbuf_printf(&planned->text, "%c%d;", letter, info->aConstraint[i].iColumn);
    kymo_strbuf_printf(&planned->words, "%s%s %s", planned->words.length ? ", " : "", column->name,
                       word_of(letter));
    info->aConstraintUsage[i].argvIndex = ++count;
    info->aConstraintUsage[i].omit = is_exact(column, info, i, letter);
    planned->is_all_exact &= info->aConstraintUsage[i].omit != 0;
    planned->has_class |= column->kind == QUERY_CLASS;
    planned->has_time |= column->kind == QUERY_TS;
    planned->rows *= letter == '=' || letter == 'I' ? EQUAL_PART : RANGE_PART;
  }
}

/* ---- order ---- */

/* The kinds that occur are few enough to be read one after another. */
static bool are_few(struct query_source *source) {
  uint32_t present = 0;
  const uint64_t *counts = query_source_counts(source, NULL);
  for (uint32_t i = 0; counts && i < source->kind_count; i++)
    present += counts[i] > 0;
  return counts && present <= QUERY_PASSES_MAX;
}

/* Whether the statement uses no column but the class. */
static bool uses_kinds_alone(const sqlite3_index_info *info) {
  return (info->colUsed & ~((sqlite3_uint64)1 << QUERY_CLASS)) == 0;
}

/* … or the time. */
static bool uses_kinds_and_times(const sqlite3_index_info *info) {
  return (info->colUsed & ~((sqlite3_uint64)1 << QUERY_CLASS | (sqlite3_uint64)1 << QUERY_TS)) == 0;
}

/* The bits of an order that the scan keeps, or 0. To count the kinds in a window of time would read
 * everything, so there must be few at all. */
static int plan_order(const struct query_columns *columns, struct query_source *source,
                      const sqlite3_index_info *info, const struct planned *planned) {
  if (info->nOrderBy != 1 || info->aOrderBy[0].iColumn < 0)
    return 0;
  enum query_column_kind kind = columns->list[info->aOrderBy[0].iColumn].kind;
  bool is_back = info->aOrderBy[0].desc, needs_order = planned->distinct == 0 || planned->distinct == 3;
  if (kind == QUERY_TS)
    return is_back ? 0 : QUERY_BY_TIME;
  if (kind != QUERY_CLASS || (is_back && needs_order))
    return 0;
  if (planned->is_counted || planned->has_class || source->kind_count <= QUERY_PASSES_MAX)
    return QUERY_BY_KIND;
  return !planned->has_time && are_few(source) ? QUERY_BY_KIND : 0;
}

/* Rows that differ in nothing, or that are wanted class by class, need not be read one by one. */
static bool may_be_counted(const sqlite3_index_info *info, const struct planned *planned, int order) {
  return planned->is_counted && order != QUERY_BY_TIME &&
         (order == QUERY_BY_KIND || planned->has_class || info->colUsed == 0);
}

static void add_order(struct kymo_strbuf *words, int bits) {
  const char *gap = words->length ? ", " : "";
  if (bits & QUERY_BY_TIME)
    kymo_strbuf_printf(words, "%sORDER BY ts", gap);
  if (bits & QUERY_BY_KIND)
    kymo_strbuf_printf(words, "%sclass by class", gap);
  gap = words->length ? ", " : "";
  if (bits & QUERY_COUNTED)
    kymo_strbuf_printf(words, "%scounted", gap);
}

int query_plan_make(const struct query_columns *columns, struct query_source *source,
                    sqlite3_index_info *info) {
  struct planned planned = {.rows = 1, .is_all_exact = true};
  take_constraints(&planned, columns, info);
  planned.is_counted = planned.is_all_exact && uses_kinds_alone(info);
  planned.distinct = distinct_of(info);
  int order = plan_order(columns, source, info, &planned);
  bool is_counted = may_be_counted(info, &planned, order);
  info->orderByConsumed = order != 0;
  info->idxNum = order | (is_counted ? QUERY_COUNTED : 0) |
                 (is_counted && order == QUERY_BY_KIND && planned.distinct == 2 ? QUERY_DISTINCT : 0) |
                 (!is_counted && order == QUERY_BY_KIND && uses_kinds_and_times(info) ? QUERY_BUCKETS : 0);
  add_order(&planned.words, info->idxNum);
  kymo_strbuf_printf(&planned.text, "|%s", planned.words.text ? planned.words.text : "every row");
  info->idxStr =
      planned.text.failed || planned.words.failed ? NULL : sqlite3_mprintf("%s", planned.text.text);
  info->needToFreeIdxStr = 1;
  kymo_strbuf_free(&planned.text);
  kymo_strbuf_free(&planned.words);
  info->estimatedRows = (sqlite3_int64)(SCAN_ROWS * planned.rows) + 1;
  info->estimatedCost = SCAN_ROWS * (info->orderByConsumed ? 1 : 1.1) + (double)info->estimatedRows;
  return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}
