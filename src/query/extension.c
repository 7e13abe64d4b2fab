/* SPDX-License-Identifier: MIT */
/*
 * The tables of kymo query for any program with SQLite:
 *
 *   .load libkymo-sqlite
 *   SELECT kymo_open('mytrace');                                  events, "net:rx", spans, losses …
 *   SELECT kymo_open_skip('mytrace');                             the same; statements end at damage
 * without an error
 *   SELECT kymo_met();                                            what was damaged and lost so far
 *   CREATE VIRTUAL TABLE t USING kymo('mytrace');                 all events, under a name of one's choice
 *   CREATE VIRTUAL TABLE rx USING kymo('mytrace', 'net:rx');      those of one class
 *   CREATE VIRTUAL TABLE s USING kymo_spans('mytrace');
 *   CREATE VIRTUAL TABLE l USING kymo_losses('mytrace');
 *
 * A scan of a damaged trace ends with an error after the rows that are readable, since nothing else would
 * report it; damage='skip' ends it as if nothing had happened.
 */
#include "base/fail.h"
#include "base/list.h"
#include "base/nearest.h"
#include "query/database.h"
#include "query/tables.h"
#include <kymo/read.h>
#include <stdlib.h>
#include <string.h>

SQLITE_EXTENSION_INIT1

/* Older versions lack functions of virtual tables, which are then not used (query/plan.c); these are missing
 * from all before. */
#define VERSION_LEAST 3026000

/* ---- sources ---- */

struct paths {
  char **list;
  size_t count, capacity;
};

static void free_paths(void *user) {
  struct paths *paths = user;
  for (size_t i = 0; i < paths->count; i++)
    free(paths->list[i]);
  free(paths->list);
  free(paths);
}

static int open_paths(void *user, struct kymo_trace **trace, struct kymo_error *error) {
  const struct paths *paths = user;
  return kymo_trace_open(trace, (const char *const *)paths->list, paths->count, NULL, error);
}

/* Takes `text`. */
static bool add_path(struct paths *paths, char *text) {
  if (!text || !KYMO_LIST_ROOM(paths->list, paths->capacity, paths->count)) {
    free(text);
    return false;
  }
  paths->list[paths->count++] = text;
  return true;
}

/* Opens the traces at the paths, which it takes. The caller owns the share. */
static int open_source(struct query_source **source, struct paths *paths, struct kymo_error *error) {
  struct query_opening opening = {.open = open_paths, .free = free_paths, .user = paths};
  return query_source_new(source, &opening, error);
}

/* ---- CREATE VIRTUAL TABLE ---- */

/* An argument of USING kymo(…): a text in quotes, or a bare word. The caller owns the result. */
static char *unquote(const char *text, size_t length) {
  char quote = length > 1 && (*text == '\'' || *text == '"') && text[length - 1] == *text ? *text : 0;
  char *out = malloc(length + 1), *at = out;
  if (!out)
    return NULL;
  for (size_t i = quote ? 1 : 0, end = quote ? length - 1 : length; i < end; i++) {
    *at++ = text[i];
    i += quote && text[i] == quote; /* doubled */
  }
  *at = 0;
  return out;
}

struct arguments {
  struct paths *paths;
  char *table; /* the second text, or NULL */
  bool skips_damage;
};

static int take_option(struct arguments *arguments, const char *name, size_t length, const char *value,
                       struct kymo_error *error) {
  if (length != strlen("damage") || strncmp(name, "damage", length) != 0)
    return kymo_fail(error, KYMO_E_USAGE, "kymo has no argument \"%.*s\": expected damage", (int)length,
                     name);
  arguments->skips_damage = strcmp(value, "skip") == 0;
  if (!arguments->skips_damage && strcmp(value, "fail") != 0)
    return kymo_fail(error, KYMO_E_USAGE, "damage is 'fail' or 'skip', not '%s'", value);
  return KYMO_OK;
}

static size_t trimmed(const char **text) {
  *text += strspn(*text, " \t\r\n");
  size_t length = strlen(*text);
  while (length && strchr(" \t\r\n", (*text)[length - 1]))
    length--;
  return length;
}

static int take_argument(struct arguments *arguments, const char *text, struct kymo_error *error) {
  size_t length = trimmed(&text);
  const char *equal = *text != '\'' && *text != '"' ? memchr(text, '=', length) : NULL;
  if (equal) {
    const char *value_text = equal + 1;
    size_t value_length = length - (size_t)(value_text - text), name_length = (size_t)(equal - text);
    size_t blanks = strspn(value_text, " \t\r\n");
    char *value = unquote(value_text + blanks, value_length - blanks);
    while (name_length && strchr(" \t\r\n", text[name_length - 1]))
      name_length--;
    int status = value ? take_option(arguments, text, name_length, value, error)
                       : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
    free(value);
    return status;
  }
  char *word = unquote(text, length);
  if (word && arguments->paths->count == 0)
    return add_path(arguments->paths, word) ? KYMO_OK : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (word && !arguments->table) {
    arguments->table = word;
    return KYMO_OK;
  }
  free(word);
  return word ? kymo_fail(error, KYMO_E_USAGE, "expected kymo('TRACE') or kymo('TRACE', 'CLASS')")
              : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
}

/* The kind of the wanted class. */
static int find_kind(struct query_choice *choice, const char *table, struct kymo_error *error) {
  if (!table)
    return KYMO_OK;
  choice->kind = query_source_kind(choice->source, table);
  if (choice->kind != UINT32_MAX)
    return KYMO_OK;
  struct kymo_nearest nearest = kymo_nearest_to(table);
  for (uint32_t i = 0; i < choice->source->kind_count; i++)
    kymo_nearest_consider(&nearest, choice->source->kinds[i]);
  return kymo_fail(error, KYMO_E_UNKNOWN, "the trace has no events \"%s\"%s", table,
                   kymo_nearest_hint(&nearest).text);
}

/* From the arguments of a module, of which the first three are SQLite's. `may_choose`: a class may follow the
 * path. The caller owns the share. */
static int choose(struct query_choice *choice, int count, const char *const *words, bool may_choose,
                  struct kymo_error *error) {
  struct arguments arguments = {.paths = calloc(1, sizeof *arguments.paths)};
  *choice = (struct query_choice){.kind = UINT32_MAX};
  int status = arguments.paths ? KYMO_OK : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  for (int i = 3; i < count && status == KYMO_OK; i++)
    status = take_argument(&arguments, words[i], error);
  if (status == KYMO_OK && (arguments.paths->count == 0 || (arguments.table && !may_choose)))
    status = kymo_fail(error, KYMO_E_USAGE, "expected the path of a trace: USING %s('TRACE')", words[0]);
  if (status == KYMO_OK) {
    status = open_source(&choice->source, arguments.paths, error);
    arguments.paths = NULL;
  }
  choice->fails_at_damage = !arguments.skips_damage;
  if (status == KYMO_OK && (status = find_kind(choice, arguments.table, error)) != KYMO_OK)
    query_source_release(choice->source);
  if (arguments.paths)
    free_paths(arguments.paths);
  free(arguments.table);
  return status;
}

typedef int connect_table(sqlite3 *db, const struct query_choice *choice, sqlite3_vtab **out, char **message);

static int create(sqlite3 *db, struct query_database *database, int count, const char *const *words,
                  connect_table *connect, sqlite3_vtab **out, char **message) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  struct query_choice choice;
  char text[2048];
  if (choose(&choice, count, words, connect == query_events_connect, &error) != KYMO_OK) {
    *message = sqlite3_mprintf("%s", kymo_error_text(&error, text, sizeof text));
    return SQLITE_ERROR;
  }
  int status = connect(db, &choice, out, message);
  if (status == SQLITE_OK && !query_database_keep(database, choice.source))
    status = SQLITE_NOMEM;
  query_source_release(choice.source);
  return status;
}

static int create_events(sqlite3 *db, void *user, int count, const char *const *words, sqlite3_vtab **out,
                         char **message) {
  return create(db, user, count, words, query_events_connect, out, message);
}

static int create_spans(sqlite3 *db, void *user, int count, const char *const *words, sqlite3_vtab **out,
                        char **message) {
  return create(db, user, count, words, query_spans_connect, out, message);
}

static int create_losses(sqlite3 *db, void *user, int count, const char *const *words, sqlite3_vtab **out,
                         char **message) {
  return create(db, user, count, words, query_losses_connect, out, message);
}

/* ---- kymo_open ---- */

static void put_error(sqlite3_context *context, const struct kymo_error *error) {
  char text[2048];
  if (error->code == KYMO_E_MEMORY)
    sqlite3_result_error_nomem(context);
  else
    sqlite3_result_error(context, kymo_error_text(error, text, sizeof text), -1);
}

/* Tables of these traces, all together, under their own names; returns how many there are. */
static void open_all(sqlite3_context *context, int count, sqlite3_value **values, bool fails_at_damage) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  struct paths *paths = calloc(1, sizeof *paths);
  struct query_source *source;
  bool is_complete = paths != NULL;
  for (int i = 0; i < count && is_complete; i++) {
    const char *path = (const char *)sqlite3_value_text(values[i]);
    is_complete = add_path(paths, strdup(path ? path : ""));
  }
  if (!is_complete) {
    if (paths)
      free_paths(paths);
    sqlite3_result_error_nomem(context);
    return;
  }
  if (count == 0) {
    free_paths(paths);
    sqlite3_result_error(context, "kymo_open('TRACE', ...): which trace?", -1);
    return;
  }
  if (open_source(&source, paths, &error) != KYMO_OK) {
    put_error(context, &error);
    return;
  }
  int status = query_database_add(sqlite3_user_data(context), source, fails_at_damage);
  if (status != SQLITE_OK)
    sqlite3_result_error_code(context, status);
  else
    sqlite3_result_int64(context, (sqlite3_int64)source->kind_count + 3);
  query_source_release(source);
}

/* kymo_open('TRACE', …), and kymo_open_skip('TRACE', …), for programs that ask kymo_met() at the end. */
static void open_function(sqlite3_context *context, int count, sqlite3_value **values) {
  open_all(context, count, values, true);
}

static void open_skip_function(sqlite3_context *context, int count, sqlite3_value **values) {
  open_all(context, count, values, false);
}

/* Functions that read files, or say what they hold, are not for views and triggers of a database. */
static int add_functions(sqlite3 *db, struct query_database *database) {
  static const struct {
    const char *name;
    int count;
    void (*function)(sqlite3_context *, int, sqlite3_value **);
  } functions[] = {{"kymo_open", -1, open_function},
                   {"kymo_open_skip", -1, open_skip_function},
                   {"kymo_met", 0, query_met}};
  int status = SQLITE_OK;
  for (size_t i = 0; i < sizeof functions / sizeof *functions && status == SQLITE_OK; i++)
    status =
        sqlite3_create_function_v2(db, functions[i].name, functions[i].count, SQLITE_UTF8 | SQLITE_DIRECTONLY,
                                   database, functions[i].function, NULL, NULL, NULL);
  return status;
}

/* ---- loading ---- */

static sqlite3_module created_events, created_spans, created_losses;

/* The same tables, made by CREATE VIRTUAL TABLE. Threads may load the extension at the same time. */
__attribute__((constructor)) static void make_modules(void) {
  created_events = query_events_module;
  created_events.xCreate = created_events.xConnect = create_events;
  created_spans = query_spans_module;
  created_spans.xCreate = created_spans.xConnect = create_spans;
  created_losses = query_losses_module;
  created_losses.xCreate = created_losses.xConnect = create_losses;
}

/* The library stays loaded, since its handler of truncated files does (base/guard.h). */
static int load(sqlite3 *db, char **message, const sqlite3_api_routines *api) {
  struct query_database *database;
  SQLITE_EXTENSION_INIT2(api);
  if (sqlite3_libversion_number() < VERSION_LEAST) {
    *message = sqlite3_mprintf("kymo needs SQLite 3.26, this is %s", sqlite3_libversion());
    return SQLITE_ERROR;
  }
  int status = query_database_new(&database, db);
  if (status == SQLITE_OK)
    status = sqlite3_create_module_v2(db, "kymo", &created_events, database, NULL);
  if (status == SQLITE_OK)
    status = sqlite3_create_module_v2(db, "kymo_spans", &created_spans, database, NULL);
  if (status == SQLITE_OK)
    status = sqlite3_create_module_v2(db, "kymo_losses", &created_losses, database, NULL);
  if (status == SQLITE_OK)
    status = add_functions(db, database);
  return status == SQLITE_OK ? SQLITE_OK_LOAD_PERMANENTLY : status;
}

/* The name that SQLite makes of the file's … */
__attribute__((visibility("default"))) int sqlite3_kymosqlite_init(sqlite3 *db, char **message,
                                                                   const sqlite3_api_routines *api);
int sqlite3_kymosqlite_init(sqlite3 *db, char **message, const sqlite3_api_routines *api) {
  return load(db, message, api);
}

/* … and the one that it tries first. */
__attribute__((visibility("default"))) int sqlite3_extension_init(sqlite3 *db, char **message,
                                                                  const sqlite3_api_routines *api);
int sqlite3_extension_init(sqlite3 *db, char **message, const sqlite3_api_routines *api) {
  return load(db, message, api);
}
