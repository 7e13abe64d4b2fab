/* SPDX-License-Identifier: MIT */
/*
 * The tables of kymo query for any program with SQLite:
 *
 *   .load libkymo-sqlite
 *   SELECT kymo_open('mytrace');                                  events, "net:rx", spans, losses …
 *   SELECT kymo_open('mytrace', kymo_option('filter', 'len > 9'));  the same of some events (query/traces.h)
 *   SELECT kymo_met();                                            what was damaged and lost so far
 *   CREATE VIRTUAL TABLE t USING kymo('mytrace');                 all events, under a name of one's choice
 *   CREATE VIRTUAL TABLE rx USING kymo('mytrace', 'net:rx');      those of one class
 *   CREATE VIRTUAL TABLE s USING kymo_spans('mytrace', filter='len > 9');
 *   CREATE VIRTUAL TABLE l USING kymo_losses('mytrace');
 *
 * A scan of a damaged trace ends with an error after the rows that are readable, since nothing else would
 * report it; the option damage='skip' ends it as if nothing had happened.
 */
#include "base/fail.h"
#include "base/nearest.h"
#include "query/database.h"
#include "query/tables.h"
#include "query/traces.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

SQLITE_EXTENSION_INIT1

/* Older versions lack functions of virtual tables, which are then not used (query/plan.c); these are missing
 * from all before. */
#define VERSION_LEAST 3026000

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
  struct query_traces *traces;
  char *table; /* the second text, or NULL */
};

static size_t trimmed(const char **text) {
  *text += strspn(*text, " \t\r\n");
  size_t length = strlen(*text);
  while (length && strchr(" \t\r\n", (*text)[length - 1]))
    length--;
  return length;
}

/* An option: NAME='text', NAME=word, or NAME=number. */
static int take_option(struct arguments *arguments, const char *text, size_t length, const char *equal,
                       struct kymo_error *error) {
  const char *from = equal + 1;
  size_t blanks = strspn(from, " \t\r\n"), name_length = (size_t)(equal - text);
  while (name_length && strchr(" \t\r\n", text[name_length - 1]))
    name_length--;
  char *name = strndup(text, name_length), *end;
  char *word = unquote(from + blanks, length - (size_t)(from - text) - blanks);
  int status = KYMO_E_MEMORY;
  if (name && word) {
    errno = 0;
    int64_t number = strtoll(from, &end, 10);
    bool is_number = end > from && end == text + length && errno == 0;
    status = query_traces_set(arguments->traces, name, &(struct query_value){is_number ? NULL : word, number},
                              error);
  } else {
    kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  }
  free(name);
  free(word);
  return status;
}

static int take_argument(struct arguments *arguments, const char *text, struct kymo_error *error) {
  size_t length = trimmed(&text);
  const char *equal = *text != '\'' && *text != '"' ? memchr(text, '=', length) : NULL;
  if (equal)
    return take_option(arguments, text, length, equal, error);
  char *word = unquote(text, length);
  int status = KYMO_OK;
  if (!word)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (query_traces_count(arguments->traces) == 0) {
    status = query_traces_add(arguments->traces, word, error);
  } else if (!arguments->table) {
    arguments->table = word;
    return KYMO_OK;
  } else {
    status = kymo_fail(error, KYMO_E_USAGE, "expected kymo('TRACE') or kymo('TRACE', 'CLASS')");
  }
  free(word);
  return status;
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
  struct arguments arguments = {.traces = query_traces_new()};
  *choice = (struct query_choice){.kind = UINT32_MAX};
  int status = arguments.traces ? KYMO_OK : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  for (int i = 3; i < count && status == KYMO_OK; i++)
    status = take_argument(&arguments, words[i], error);
  if (status == KYMO_OK && (query_traces_count(arguments.traces) == 0 || (arguments.table && !may_choose)))
    status = kymo_fail(error, KYMO_E_USAGE, "expected the path of a trace: USING %s('TRACE')", words[0]);
  if (status == KYMO_OK) {
    choice->fails_at_damage = !query_traces_skips_damage(arguments.traces);
    status = query_traces_open(&choice->source, arguments.traces, error);
    arguments.traces = NULL;
  }
  if (status == KYMO_OK && (status = find_kind(choice, arguments.table, error)) != KYMO_OK)
    query_source_release(choice->source);
  query_traces_free(arguments.traces);
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

/* A name and a value, which kymo_open takes from kymo_option by this type of pointer. */
#define OPTION "kymo_option"

struct option {
  char *name;
  struct query_value value;
  char text[]; /* the value, if it is no number */
};

static void free_option(void *user) {
  struct option *option = user;
  free(option->name);
  free(option);
}

static void option_function(sqlite3_context *context, int count, sqlite3_value **values) {
  int type = sqlite3_value_type(values[1]);
  const char *name = (const char *)sqlite3_value_text(values[0]);
  const char *text = type == SQLITE_INTEGER ? "" : (const char *)sqlite3_value_text(values[1]);
  (void)count;
  if (!name || type == SQLITE_NULL) {
    sqlite3_result_error(context, "kymo_option('NAME', VALUE): the name or the value is NULL", -1);
    return;
  }
  struct option *option = text ? calloc(1, sizeof *option + strlen(text) + 1) : NULL;
  if (!option || !(option->name = strdup(name))) {
    free(option);
    sqlite3_result_error_nomem(context);
    return;
  }
  memcpy(option->text, text, strlen(text));
  option->value =
      (struct query_value){type == SQLITE_INTEGER ? NULL : option->text, sqlite3_value_int64(values[1])};
  sqlite3_result_pointer(context, option, OPTION, free_option);
}

/* The traces of the arguments. The caller owns *traces, also if this fails. */
static int take_values(struct query_traces **traces, int count, sqlite3_value **values,
                       struct kymo_error *error) {
  *traces = query_traces_new();
  int status = *traces ? KYMO_OK : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  for (int i = 0; i < count && status == KYMO_OK; i++) {
    const struct option *option = sqlite3_value_pointer(values[i], OPTION);
    const char *path = (const char *)sqlite3_value_text(values[i]);
    status = option ? query_traces_set(*traces, option->name, &option->value, error)
                    : query_traces_add(*traces, path ? path : "", error);
  }
  if (status == KYMO_OK && query_traces_count(*traces) == 0)
    status = kymo_fail(error, KYMO_E_USAGE, "kymo_open('TRACE', ...): which trace?");
  return status;
}

/* Tables of these traces, all together, under their own names; returns how many there are. */
static void open_function(sqlite3_context *context, int count, sqlite3_value **values) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  struct query_traces *traces;
  struct query_source *source;
  int status = take_values(&traces, count, values, &error);
  bool fails_at_damage = status == KYMO_OK && !query_traces_skips_damage(traces);
  if (status == KYMO_OK)
    status = query_traces_open(&source, traces, &error);
  else
    query_traces_free(traces);
  if (status < 0) {
    put_error(context, &error);
    return;
  }
  status = query_database_add(sqlite3_user_data(context), source, fails_at_damage);
  if (status != SQLITE_OK)
    sqlite3_result_error_code(context, status);
  else
    sqlite3_result_int64(context, (sqlite3_int64)source->kind_count + 3);
  query_source_release(source);
}

/* Functions that read files, or say what they hold, are not for views and triggers of a database. */
static int add_functions(sqlite3 *db, struct query_database *database) {
  static const struct {
    const char *name;
    int count;
    void (*function)(sqlite3_context *, int, sqlite3_value **);
  } functions[] = {
      {"kymo_open", -1, open_function}, {"kymo_option", 2, option_function}, {"kymo_met", 0, query_met}};
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
