/* SPDX-License-Identifier: MIT */
/* Which servers there are, what they can do, and the tables that are made there. */
#include "fleet/table.h"
#include "base/fail.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

const char *const fleet_reserved[] = {"events", "losses", "spans", NULL};

/* A table that another sender makes at the same time is there after a moment. */
#define ASKED_MAX 100
#define ASKED_AGAIN_MS 100L

static int no_memory(struct kymo_error *error) { return kymo_fail(error, KYMO_E_MEMORY, "out of memory"); }

/* ---- servers ---- */

/* The oldest version whose answers were compared with those of kymo. */
#define OLDEST_MAJOR 18
#define OLDEST_MINOR 16

static int ask_version(struct fleet_database *database, struct fleet_server *server,
                       struct kymo_error *error) {
  struct kymo_strbuf answer = {0};
  unsigned major = 0, minor = 0;
  int status = fleet_ask(server, "SELECT version()", &answer, NULL, error);
  if (status == KYMO_OK &&
      (answer.failed || sscanf(answer.text ? answer.text : "", "%u.%u", &major, &minor) != 2))
    status =
        kymo_fail(error, KYMO_E_SYSTEM, "%s: expected the version of a ClickHouse server, found \"%.40s\"",
                  server->shown, answer.text ? answer.text : "");
  else if (status == KYMO_OK && (major < OLDEST_MAJOR || (major == OLDEST_MAJOR && minor < OLDEST_MINOR)))
    status = kymo_fail(error, KYMO_E_UNKNOWN, "%s: ClickHouse %u.%u is older than %u.%u", server->shown,
                       major, minor, OLDEST_MAJOR, OLDEST_MINOR);
  database->has_low_cardinality = database->has_codecs = major > 20 || (major == 20 && minor >= 3);
  kymo_strbuf_free(&answer);
  return status;
}

/* A database that is not there is noticed before anything is made. */
static int ask_database(struct fleet_server *server, struct kymo_error *error) {
  struct kymo_strbuf sql = {0}, answer = {0};
  kymo_strbuf_puts(&sql, "SELECT count() FROM system.databases WHERE name = ");
  fleet_add_text(&sql, server->database, strlen(server->database));
  int status = sql.failed ? no_memory(error) : fleet_ask(server, sql.text, &answer, NULL, error);
  if (status == KYMO_OK && (!answer.text || answer.text[0] != '1'))
    status =
        kymo_fail(error, KYMO_E_SYSTEM, "%s: there is no database \"%s\"", server->shown, server->database);
  kymo_strbuf_free(&sql);
  kymo_strbuf_free(&answer);
  return status;
}

static int add_server(struct fleet_database *database, struct fleet_server *server,
                      struct kymo_error *error) {
  struct fleet_server **list =
      realloc(database->servers, (database->server_count + 1u) * sizeof *database->servers);
  if (!list) {
    fleet_server_free(server);
    return no_memory(error);
  }
  database->servers = list;
  list[database->server_count++] = server;
  return KYMO_OK;
}

/* One server of each shard, at the same port as the one that is known: its list has the ports of another
 * protocol. */
static int find_shards(struct fleet_database *database, struct fleet_server *known,
                       struct kymo_error *error) {
  struct kymo_strbuf sql = {0}, answer = {0};
  kymo_strbuf_puts(&sql, "SELECT host_name FROM system.clusters WHERE replica_num = 1 AND cluster = ");
  fleet_add_text(&sql, database->cluster, strlen(database->cluster));
  kymo_strbuf_puts(&sql, " ORDER BY shard_num");
  int status = sql.failed ? no_memory(error) : fleet_ask(known, sql.text, &answer, NULL, error);
  char *rest = answer.text;
  for (char *host; status == KYMO_OK && rest && (host = strsep(&rest, "\n"));) {
    struct fleet_server *server;
    if (!*host)
      continue;
    status = fleet_server_beside(&server, known, host, error);
    if (status == KYMO_OK)
      status = add_server(database, server, error);
  }
  if (status == KYMO_OK && database->server_count == 0)
    status =
        kymo_fail(error, KYMO_E_SYSTEM, "%s: there is no cluster \"%s\"", known->shown, database->cluster);
  kymo_strbuf_free(&sql);
  kymo_strbuf_free(&answer);
  fleet_server_free(known);
  return status;
}

int fleet_database_open(struct fleet_database *database, struct fleet_server *server, const char *cluster,
                        unsigned jobs, struct kymo_error *error) {
  *database = (struct fleet_database){.cluster = cluster};
  database->posts = fleet_posts_new(jobs);
  int status = database->posts ? ask_version(database, server, error) : no_memory(error);
  if (status != KYMO_OK)
    fleet_server_free(server);
  else
    status = cluster ? find_shards(database, server, error) : add_server(database, server, error);
  for (unsigned i = 0; status == KYMO_OK && i < database->server_count; i++)
    status = ask_database(database->servers[i], error);
  return status;
}

void fleet_database_close(struct fleet_database *database) {
  fleet_posts_free(database->posts);
  for (unsigned i = 0; i < database->server_count; i++)
    fleet_server_free(database->servers[i]);
  free(database->servers);
  *database = (struct fleet_database){0};
}

/* ---- columns ---- */

/* The answer: "name\ttype\n" for each column. */
static int ask_columns(struct fleet_server *server, const char *name, struct kymo_strbuf *answer,
                       struct kymo_error *error) {
  struct kymo_strbuf sql = {0};
  kymo_strbuf_puts(&sql, "SELECT name, type FROM system.columns WHERE database = ");
  fleet_add_text(&sql, server->database, strlen(server->database));
  kymo_strbuf_puts(&sql, " AND table = ");
  fleet_add_text(&sql, name, strlen(name));
  int status = sql.failed ? no_memory(error) : fleet_ask(server, sql.text, answer, NULL, error);
  kymo_strbuf_free(&sql);
  return status;
}

/* Adds a text as TabSeparated has it. */
static void add_escaped(struct kymo_strbuf *out, const char *text) {
  static const char special[] = "\b\f\n\r\t\\'", letters[] = "bfnrt\\'";
  for (; *text; text++) {
    const char *at = strchr(special, *text);
    if (at)
      kymo_strbuf_printf(out, "\\%c", letters[at - special]);
    else
      kymo_strbuf_add(out, text, 1);
  }
}

/* The type of a column in such an answer, up to its line's end; NULL: the table does not have it. */
static const char *find_declared(const struct kymo_strbuf *answer, const char *name) {
  struct kymo_strbuf wanted = {0};
  const char *found = NULL;
  add_escaped(&wanted, name);
  kymo_strbuf_puts(&wanted, "\t");
  for (const char *line = answer->text; line && *line && wanted.text && !found;) {
    const char *end = strchr(line, '\n');
    if (strncmp(line, wanted.text, wanted.length) == 0)
      found = line + wanted.length;
    line = end ? end + 1 : NULL;
  }
  kymo_strbuf_free(&wanted);
  return found;
}

/* Whether a declared type is this one, however it is stored. */
static bool is_type(const char *declared, const char *type) {
  static const char *const around[] = {"LowCardinality(", "Nullable("};
  for (size_t i = 0; i < 2; i++)
    if (strncmp(declared, around[i], strlen(around[i])) == 0)
      declared += strlen(around[i]);
  size_t length = strlen(type);
  return strncmp(declared, type, length) == 0 && strchr(")\n", declared[length]);
}

static const struct {
  const char *name, *type;
  bool is_repeated; /* a text of few values */
} head[] = {{"host", "String", true},
            {"trace", "UUID", false},
            {"piece", "UInt64", false},
            {"batch", "UInt32", false},
            {"digest", "UInt64", false},
            {"day", "Date", false},
            {"process", "Nullable(String)", true},
            {"class", "String", true}};
#define HEAD_COUNT (sizeof head / sizeof *head)

static void add_text_type(struct kymo_strbuf *out, const struct fleet_database *database, const char *type,
                          bool is_repeated) {
  kymo_strbuf_printf(out, database->has_low_cardinality && is_repeated ? "LowCardinality(%s)" : "%s", type);
}

/* Times and numbers that grow from row to row. */
static bool is_growing(const struct fleet_table *table, uint32_t column) {
  const char *name = table->block.columns[column].name;
  return !table->block.columns[column].may_be_null && table->block.columns[column].type != FLEET_TEXT &&
         (strcmp(name, "ts") == 0 || strcmp(name, "seq") == 0 || strcmp(name, "packet") == 0);
}

static void add_column_type(struct kymo_strbuf *out, const struct fleet_table *table, uint32_t index) {
  const struct fleet_column *column = &table->block.columns[index];
  char type[40];
  snprintf(type, sizeof type, column->may_be_null ? "Nullable(%s)" : "%s", fleet_type_name(column->type));
  add_text_type(out, table->database, type, column->is_label && column->type == FLEET_TEXT);
  if (table->database->has_codecs && is_growing(table, index))
    kymo_strbuf_puts(out, " CODEC(Delta, LZ4)");
}

/* The declaration of the columns, `count` of those of the block. */
static void add_columns(struct kymo_strbuf *out, const struct fleet_table *table, uint32_t count) {
  kymo_strbuf_puts(out, " (");
  for (size_t i = 0; i < HEAD_COUNT - !table->class_name; i++) {
    kymo_strbuf_printf(out, "%s%s ", i ? ", " : "", head[i].name);
    add_text_type(out, table->database, head[i].type, head[i].is_repeated);
  }
  for (uint32_t i = 0; i < count; i++) {
    kymo_strbuf_puts(out, ", ");
    fleet_add_name(out, table->titles[i]);
    kymo_strbuf_puts(out, " ");
    add_column_type(out, table, i);
  }
  kymo_strbuf_puts(out, ")");
}

/* ---- tables ---- */

static int fail_table(const struct fleet_table *table, struct kymo_error *error) {
  char message[sizeof error->message];
  if (error->code == KYMO_E_MEMORY)
    return error->code;
  snprintf(message, sizeof message, "%s", error->message);
  return kymo_fail(error, error->code, "table %s: %s", table->name, message);
}

static void add_engine(struct kymo_strbuf *sql, const struct fleet_table *table, const char *local) {
  const struct fleet_database *database = table->database;
  if (!local) {
    kymo_strbuf_printf(sql, " ENGINE = MergeTree() PARTITION BY day ORDER BY (%s)", table->order);
    return;
  }
  kymo_strbuf_puts(sql, " ENGINE = Distributed(");
  fleet_add_text(sql, database->cluster, strlen(database->cluster));
  kymo_strbuf_puts(sql, ", ");
  fleet_add_text(sql, database->servers[0]->database, strlen(database->servers[0]->database));
  kymo_strbuf_puts(sql, ", ");
  fleet_add_text(sql, local, strlen(local));
  kymo_strbuf_puts(sql, ")");
}

/* Makes a table; that another sender makes it meanwhile is fine. */
static int create(struct fleet_server *server, const char *sql, struct kymo_error *error) {
  unsigned refusal = 0;
  int status = fleet_ask(server, sql, NULL, &refusal, error);
  return refusal == FLEET_TABLE_EXISTS ? KYMO_OK : status;
}

/* The columns of a table that is made: another sender may be making it. */
static int await_columns(struct fleet_server *server, const char *name, struct kymo_strbuf *answer,
                         struct kymo_error *error) {
  for (unsigned i = 0; i < ASKED_MAX; i++) {
    int status = ask_columns(server, name, answer, error);
    if (status != KYMO_OK || answer->length)
      return status;
    nanosleep(&(struct timespec){.tv_nsec = ASKED_AGAIN_MS * 1000000}, NULL);
  }
  return kymo_fail(error, KYMO_E_SYSTEM, "%s has no columns of it", server->shown);
}

/* Gives each column the name that it has in the table: a field whose type is another one there has a column
 * of its own, "field:type". False: out of memory. */
static bool name_columns(struct fleet_table *table, const struct kymo_strbuf *answer) {
  for (uint32_t i = 0; i < table->block.column_count; i++) {
    const struct fleet_column *column = &table->block.columns[i];
    const char *type = fleet_type_name(column->type), *declared = find_declared(answer, column->name);
    struct kymo_strbuf title = {0};
    kymo_strbuf_puts(&title, column->name);
    if (declared && !is_type(declared, type))
      kymo_strbuf_printf(&title, ":%s", type);
    table->titles[i] = title.failed ? NULL : kymo_arena_copy(&table->arena, title.text, title.length);
    kymo_strbuf_free(&title);
    if (!table->titles[i])
      return false;
  }
  return true;
}

/* Adds a column; that another sender has added it meanwhile is fine. */
static int add_column(const struct fleet_table *table, struct fleet_server *server, const char *name,
                      uint32_t column, struct kymo_error *error) {
  struct kymo_strbuf sql = {0}, answer = {0};
  kymo_strbuf_puts(&sql, "ALTER TABLE ");
  fleet_add_name(&sql, name);
  kymo_strbuf_puts(&sql, " ADD COLUMN ");
  fleet_add_name(&sql, table->titles[column]);
  kymo_strbuf_puts(&sql, " ");
  add_column_type(&sql, table, column);
  int status = sql.failed ? no_memory(error) : fleet_ask(server, sql.text, NULL, NULL, error);
  struct kymo_error other;
  if (status == KYMO_E_SYSTEM && ask_columns(server, name, &answer, &other) == KYMO_OK &&
      find_declared(&answer, table->titles[column]))
    status = KYMO_OK;
  kymo_strbuf_free(&sql);
  kymo_strbuf_free(&answer);
  return status;
}

/* Makes the table or adds what it lacks. `local`: the servers' own table, if it is distributed. */
static int make_at(struct fleet_table *table, struct fleet_server *server, const char *name,
                   const char *local, struct kymo_error *error) {
  struct kymo_strbuf sql = {0}, answer = {0};
  int status = ask_columns(server, name, &answer, error);
  if (status == KYMO_OK && !name_columns(table, &answer))
    status = no_memory(error);
  if (status == KYMO_OK && answer.length == 0) {
    kymo_strbuf_puts(&sql, "CREATE TABLE IF NOT EXISTS ");
    fleet_add_name(&sql, name);
    add_columns(&sql, table, table->block.column_count);
    add_engine(&sql, table, local);
    status = sql.failed ? no_memory(error) : create(server, sql.text, error);
    if (status == KYMO_OK)
      status = await_columns(server, name, &answer, error);
  }
  for (uint32_t i = 0; status == KYMO_OK && i < table->block.column_count; i++)
    if (!find_declared(&answer, table->titles[i]))
      status = add_column(table, server, name, i, error);
  kymo_strbuf_free(&sql);
  kymo_strbuf_free(&answer);
  return status;
}

static char *local_name_of(struct kymo_arena *arena, const struct fleet_database *database,
                           const char *name) {
  struct kymo_strbuf text = {0};
  kymo_strbuf_printf(&text, "%s%s", name, database->cluster ? ".local" : "");
  char *copy = text.failed ? NULL : kymo_arena_copy(arena, text.text, text.length);
  kymo_strbuf_free(&text);
  return copy;
}

int fleet_table_make(struct fleet_table *table, struct kymo_error *error) {
  const struct fleet_database *database = table->database;
  if (table->is_ready)
    return KYMO_OK;
  table->local_name = local_name_of(&table->arena, database, table->name);
  table->titles = kymo_arena_array(&table->arena, table->block.column_count, sizeof *table->titles);
  int status = table->local_name && table->titles ? KYMO_OK : no_memory(error);
  for (unsigned i = 0; status == KYMO_OK && i < database->server_count; i++)
    status = make_at(table, database->servers[i], table->local_name, NULL, error);
  for (unsigned i = 0; status == KYMO_OK && database->cluster && i < database->server_count; i++)
    status = make_at(table, database->servers[i], table->name, table->local_name, error);
  table->is_ready = status == KYMO_OK;
  return status == KYMO_OK ? status : fail_table(table, error);
}

/* ---- the table of all events ---- */

/* A regular expression for all texts but the words from `from` to before `to`, which are ordered and
 * begin with the same `at` letters. */
static void add_all_but(struct kymo_strbuf *out, const char *const *from, const char *const *to, size_t at) {
  bool ends = from < to && !(*from)[at];
  const char *const *first = from + ends;
  kymo_strbuf_puts(out, ends ? "(?:" : "(?:|");
  if (first == to) {
    kymo_strbuf_puts(out, ends ? ".+)" : ".*)");
    return;
  }
  kymo_strbuf_puts(out, "[^");
  for (const char *const *word = first; word < to; word++)
    if (word == first || (*word)[at] != word[-1][at])
      kymo_strbuf_add(out, *word + at, 1);
  kymo_strbuf_puts(out, "].*");
  for (const char *const *word = first, *const *next; word < to; word = next) {
    for (next = word; next < to && (*next)[at] == (*word)[at];)
      next++;
    kymo_strbuf_printf(out, "|%c", (*word)[at]);
    add_all_but(out, word, next, at + 1);
  }
  kymo_strbuf_puts(out, ")");
}

static const char *const *end_of(const char *const *list) {
  while (*list)
    list++;
  return list;
}

static int make_events_at(const struct fleet_table *like, struct fleet_server *server, const char *name,
                          const char *local, struct kymo_error *error) {
  struct kymo_strbuf sql = {0}, pattern = {0};
  kymo_strbuf_puts(&sql, "CREATE TABLE IF NOT EXISTS ");
  fleet_add_name(&sql, name);
  add_columns(&sql, like, like->block.column_count);
  if (local) {
    add_engine(&sql, like, local);
  } else {
    kymo_strbuf_puts(&pattern, "(?s)^");
    add_all_but(&pattern, fleet_reserved, end_of(fleet_reserved), 0);
    kymo_strbuf_puts(&pattern, like->database->cluster ? "\\.local$" : "$");
    kymo_strbuf_puts(&sql, " ENGINE = Merge(");
    fleet_add_text(&sql, server->database, strlen(server->database));
    kymo_strbuf_puts(&sql, ", ");
    fleet_add_text(&sql, pattern.text ? pattern.text : "", pattern.length);
    kymo_strbuf_puts(&sql, ")");
  }
  int status = sql.failed || pattern.failed ? no_memory(error) : create(server, sql.text, error);
  kymo_strbuf_free(&sql);
  kymo_strbuf_free(&pattern);
  return status == KYMO_OK ? status : fail_table(like, error);
}

int fleet_make_events(struct fleet_table *like, struct kymo_error *error) {
  const struct fleet_database *database = like->database;
  int status = KYMO_OK;
  like->local_name = local_name_of(&like->arena, database, like->name);
  like->titles = kymo_arena_array(&like->arena, like->block.column_count, sizeof *like->titles);
  if (!like->local_name || !like->titles || !name_columns(like, &(struct kymo_strbuf){0}))
    return no_memory(error);
  for (unsigned i = 0; status == KYMO_OK && i < database->server_count; i++)
    status = make_events_at(like, database->servers[i], like->local_name, NULL, error);
  for (unsigned i = 0; status == KYMO_OK && database->cluster && i < database->server_count; i++)
    status = make_events_at(like, database->servers[i], like->name, like->local_name, error);
  return status;
}
