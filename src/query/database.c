/* SPDX-License-Identifier: MIT */
#include "query/database.h"
#include "base/list.h"
#include "base/strbuf.h"
#include "query/columns.h"
#include "query/tables.h"
#include <stdlib.h>
#include <string.h>

struct query_database {
  unsigned owners; /* functions and the collation of the connection */
  sqlite3 *db;
  struct query_source **sources; /* shares */
  size_t count, capacity;
};

/* ---- life ---- */

static void release(void *user) {
  struct query_database *database = user;
  if (--database->owners > 0)
    return;
  for (size_t i = 0; i < database->count; i++)
    query_source_release(database->sources[i]);
  free(database->sources);
  free(database);
}

static bool is_number(const char *text, int length) {
  for (int i = 0; i < length; i++)
    if (text[i] < '0' || text[i] > '9')
      return false;
  return length > 0;
}

/* Numbers of 2^63 and more are texts of digits: in the order of the numbers, and before any other text. */
static int compare_numbers(void *user, int a_length, const void *a, int b_length, const void *b) {
  (void)user;
  bool is_a = is_number(a, a_length), is_b = is_number(b, b_length);
  if (is_a != is_b)
    return is_a ? -1 : 1;
  if (is_a && a_length != b_length)
    return a_length < b_length ? -1 : 1;
  int order = memcmp(a, b, (size_t)(a_length < b_length ? a_length : b_length));
  return order ? order : a_length - b_length;
}

static int add_functions(struct query_database *database) {
  sqlite3 *db = database->db;
  const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  database->owners++;
  int status = sqlite3_create_function_v2(db, "percentile", 2, flags, database, NULL, query_percentile_step,
                                          query_percentile_final, release);
  if (status == SQLITE_OK) {
    database->owners++;
    status = sqlite3_create_function_v2(db, "ns_to_text", 1, SQLITE_UTF8, database, query_ns_to_text, NULL,
                                        NULL, release);
  }
  for (int count = 1; count <= 2 && status == SQLITE_OK; count++) {
    database->owners++;
    status = sqlite3_create_function_v2(db, "symbol", count, SQLITE_UTF8, database, query_symbol, NULL, NULL,
                                        release);
  }
  if (status == SQLITE_OK)
    status = sqlite3_create_collation_v2(db, QUERY_NUMBER, SQLITE_UTF8, NULL, compare_numbers, NULL);
  return status;
}

int query_database_new(struct query_database **out, sqlite3 *db) {
  struct query_database *database = *out = calloc(1, sizeof *database);
  if (!database)
    return SQLITE_NOMEM;
  *database = (struct query_database){.owners = 1, .db = db};
  int status = add_functions(database);
  release(database); /* if nothing could be added, it is freed here */
  if (status != SQLITE_OK)
    *out = NULL;
  return status;
}

struct query_source *query_database_source(const struct query_database *database, size_t index) {
  return index < database->count ? database->sources[index] : NULL;
}

bool query_database_keep(struct query_database *database, struct query_source *source) {
  size_t kept = 0;
  for (size_t i = 0; i < database->count; i++)
    if (database->sources[i]->owners > 1)
      database->sources[kept++] = database->sources[i];
    else
      query_source_release(database->sources[i]);
  database->count = kept;
  for (size_t i = 0; i < kept; i++)
    if (database->sources[i] == source)
      return true;
  if (!KYMO_LIST_ROOM(database->sources, database->capacity, kept))
    return false;
  database->sources[database->count++] = query_source_retain(source);
  return true;
}

/* ---- tables ---- */

/* Names that stay what they are: our tables, and those of SQLite that statements may use. */
static bool is_reserved(const char *name) {
  static const char *const reserved[] = {"events",          "spans",        "losses",     "kymo",
                                         "kymo_spans",      "kymo_losses",  "json_each",  "json_tree",
                                         "generate_series", "fts3tokenize", "fts5vocab",  "dbstat",
                                         "sqlite_stmt",     "bytecode",     "tables_used"};
  for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
    if (sqlite3_stricmp(reserved[i], name) == 0)
      return true;
  return false;
}

struct named_kind {
  const char *name;
  uint32_t kind;
};

static int by_name(const void *a, const void *b) {
  const struct named_kind *one = a, *other = b;
  int order = sqlite3_stricmp(one->name, other->name);
  return order ? order : one->kind < other->kind ? -1 : one->kind > other->kind;
}

static int by_name_alone(const void *a, const void *b) {
  return sqlite3_stricmp(((const struct named_kind *)a)->name, ((const struct named_kind *)b)->name);
}

/* Calls for the kinds of one name, which SQLite does not distinguish if only case does: "A", "a#2". */
static bool each_of_name(const struct named_kind *list, size_t all, size_t first, size_t end,
                         query_name_handler *each, void *user) {
  struct kymo_strbuf name = {0};
  unsigned number = is_reserved(list[first].name) ? 1 : 0;
  bool goes_on = true;
  for (size_t i = first; i < end && goes_on; i++) {
    struct named_kind wanted;
    do {
      name.length = 0;
      kymo_strbuf_puts(&name, list[i].name);
      if (++number > 1)
        kymo_strbuf_printf(&name, "#%u", number);
      wanted.name = name.text;
    } while (number > 1 && !name.failed && bsearch(&wanted, list, all, sizeof *list, by_name_alone));
    goes_on = !name.failed && each(user, name.text, list[i].kind);
  }
  kymo_strbuf_free(&name);
  return goes_on;
}

bool query_each_table(const struct query_source *source, query_name_handler *each, void *user) {
  struct named_kind *list = calloc(source->kind_count + 1u, sizeof *list);
  bool goes_on = list && each(user, "events", UINT32_MAX) && each(user, "spans", UINT32_MAX) &&
                 each(user, "losses", UINT32_MAX);
  size_t count = 0;
  for (uint32_t i = 0; list && i < source->kind_count; i++)
    if (*source->kinds[i]) /* events without a name are in `events` alone */
      list[count++] = (struct named_kind){source->kinds[i], i};
  if (list)
    qsort(list, count, sizeof *list, by_name);
  for (size_t i = 0, end; i < count && goes_on; i = end) {
    for (end = i + 1; end < count && by_name_alone(&list[i], &list[end]) == 0;)
      end++;
    goes_on = each_of_name(list, count, i, end, each, user);
  }
  free(list);
  return goes_on;
}

struct adding {
  sqlite3 *db;
  struct query_choice choice;
  int status;
};

static void free_choice(void *user) {
  struct query_choice *choice = user;
  query_source_release(choice->source);
  free(choice);
}

static bool add_module(void *user, const char *name, uint32_t kind) {
  struct adding *adding = user;
  const sqlite3_module *module = kind != UINT32_MAX            ? &query_events_module
                                 : strcmp(name, "spans") == 0  ? &query_spans_module
                                 : strcmp(name, "losses") == 0 ? &query_losses_module
                                                               : &query_events_module;
  struct query_choice *choice = malloc(sizeof *choice);
  if (!choice) {
    adding->status = SQLITE_NOMEM;
    return false;
  }
  *choice = adding->choice;
  choice->kind = kind;
  query_source_retain(choice->source);
  adding->status = sqlite3_create_module_v2(adding->db, name, module, choice, free_choice);
  return adding->status == SQLITE_OK;
}

int query_database_add(struct query_database *database, struct query_source *source, bool fails_at_damage) {
  struct adding adding = {.db = database->db,
                          .choice = {.source = source, .fails_at_damage = fails_at_damage}};
  bool is_done = query_database_keep(database, source) && query_each_table(source, add_module, &adding);
  return is_done ? SQLITE_OK : adding.status != SQLITE_OK ? adding.status : SQLITE_NOMEM;
}
