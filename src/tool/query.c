/* SPDX-License-Identifier: MIT */
/*
 * kymo query: SQL over traces in place. SQLite runs the statements; the tables are those of src/query,
 * nothing is imported.
 */
#include "base/fail.h"
#include "base/file.h"
#include "query/database.h"
#include "query/fold.h"
#include "query/presets.h"
#include "tool/input.h"
#include "tool/query_hint.h"
#include "tool/query_remote.h"
#include "tool/query_rows.h"
#include "tool/query_source.h"
#include "tool/words.h"
#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STATEMENTS_MAX (1u << 20) /* bytes */

enum { OPTION_PRESET = 256, OPTION_EXPLAIN, OPTION_FORMAT, OPTION_CLICKHOUSE };

struct query {
  struct tool_input input;
  const char *file;                  /* with the statements, or NULL */
  const struct query_preset *preset; /* or NULL */
  const char *clickhouse;            /* the address of a server that has the traces, or NULL */
  bool explains;
  enum tool_query_format format;
  /* while running */
  uint8_t *text;          /* what the file holds */
  const char *name, *sql; /* the statements, and their name in messages */
  size_t length;
  struct tool_query_source traces;
  struct query_database *database;
  sqlite3 *db;
};

/* ---- command line ---- */

static const struct argp_option options[] = {
    {"file", 'f', "FILE", 0,
     "Run the statements in FILE (- for the standard input) instead of the last argument", 0},
    {"preset", OPTION_PRESET, "NAME", 0, "Run a statement that is known by NAME (see below)", 0},
    {"explain", OPTION_EXPLAIN, NULL, 0,
     "Print the statements instead of running them, and what the tables do of each without SQLite", 0},
    {"clickhouse", OPTION_CLICKHOUSE, "URL", 0,
     "Ask the ClickHouse server at http://HOST:PORT/DATABASE, in its own SQL, about all traces that kymo "
     "convert has sent there",
     0},
    {"format", OPTION_FORMAT, "FORMAT", 0, "table (default), csv, or json: one object a line", 0},
    {0},
};

static bool list_preset(size_t index, struct tool_row *row) {
  const struct query_preset *preset = &query_presets[index];
  if (preset->name)
    *row = (struct tool_row){preset->name, preset->summary};
  return preset->name;
}

static char *help_presets(int key, const char *text, void *input) {
  (void)input;
  return tool_help_table(key, text, "Presets:", list_preset);
}

static void take_preset(struct argp_state *state, struct query *query, const char *word) {
  const struct query_preset *preset = query_presets;
  while (preset->name && strcmp(preset->name, word) != 0)
    preset++;
  if (!preset->name)
    argp_error(state, "there is no preset \"%s\"%s", word, tool_row_hint(word, list_preset).text);
  query->preset = preset;
}

static void take_format(struct argp_state *state, struct query *query, const char *word) {
  static const char *const formats[] = {"table", "csv", "json", NULL};
  int format = tool_word(word, formats);
  if (format < 0)
    argp_error(state, "--format is table, csv or json, not \"%s\"%s", word,
               tool_word_hint(word, formats).text);
  query->format = (enum tool_query_format)format;
}

static error_t parse(int key, char *argument, struct argp_state *state) {
  struct query *query = state->input;
  switch (key) {
  case 'f': query->file = argument; return 0;
  case OPTION_PRESET: take_preset(state, query, argument); return 0;
  case OPTION_EXPLAIN: query->explains = true; return 0;
  case OPTION_CLICKHOUSE: query->clickhouse = argument; return 0;
  case OPTION_FORMAT: take_format(state, query, argument); return 0;
  case ARGP_KEY_INIT:
    state->child_inputs[0] = &query->input;
    query->input.may_be_none = true;
    return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp_child children[] = {
    {&tool_input_options, 0, "How the traces are read, and which of their events are there:", 1}, {0}};

static const struct argp parser = {
    .options = options,
    .parser = parse,
    .args_doc = "TRACE... STATEMENT",
    .doc =
        "Answer questions in SQL about traces, in place: nothing is imported."
        "\vTables: events, with all events; one for each event class, by its name in double quotes "
        "(\"net:rx\"), with its fields as columns; spans; losses. kymo-query(1) and docs/queries.md describe "
        "their columns.",
    .children = children,
    .help_filter = help_presets};

/* Where the statements are: the last argument, a file, or a preset. Returns an exit status. */
static int find_statements(struct query *query) {
  struct tool_input *input = &query->input;
  if (query->file && query->preset) {
    tool_say("--file and --preset both choose the statements; use one");
    return TOOL_USAGE;
  }
  if (query->preset) {
    query->name = query->preset->name;
    query->sql = query->clickhouse ? query->preset->clickhouse : query->preset->sql;
    query->length = strlen(query->sql);
    return TOOL_OK;
  }
  if (query->file) {
    struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
    query->name = query->file;
    int status = kymo_input_read(query->file, STATEMENTS_MAX, &query->text, &query->length, &error);
    query->sql = (const char *)query->text;
    if (status < 0)
      tool_say_error(&error);
    return status < 0 ? TOOL_FAILED : TOOL_OK;
  }
  if (input->count == 0 && query->clickhouse) {
    tool_say("which statement? kymo query --clickhouse URL \"SELECT ...\"");
    return TOOL_USAGE;
  }
  if (input->count == 0) {
    tool_say("which traces, and which statement? kymo query TRACE... \"SELECT ...\"");
    return TOOL_USAGE;
  }
  query->name = "statement";
  query->sql = input->paths[--input->count];
  query->length = strlen(query->sql);
  if (access(query->sql, F_OK) != 0)
    return TOOL_OK;
  tool_say("expected a statement as the last argument, found the file %s: kymo query TRACE... \"SELECT ...\"",
           query->sql);
  return TOOL_USAGE;
}

/* ---- traces ---- */

static int open_database(struct query *query) {
  query->traces.input = &query->input;
  int end = tool_query_source_open(&query->traces);
  if (end != TOOL_OK)
    return end;
  int status = sqlite3_open(":memory:", &query->db);
  if (status == SQLITE_OK)
    status = query_database_new(&query->database, query->db);
  if (status == SQLITE_OK)
    status = query_database_add(query->database, query->traces.source, false);
  /* a misspelt "column" is an error, not a text */
  sqlite3_db_config(query->db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
  sqlite3_db_config(query->db, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
  if (status != SQLITE_OK)
    tool_say("%s", sqlite3_errstr(status));
  return status == SQLITE_OK ? TOOL_OK : TOOL_FAILED;
}

/* ---- statements ---- */

/* Reports the error of the last call; `at` is where the statement begins. Returns an exit status. */
static int report(const struct query *query, const char *at, int status) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  const char *message = sqlite3_errmsg(query->db);
  int offset = sqlite3_error_offset(query->db);
  char *copy = strdup(message);
  if (!copy)
    tool_end_without_memory();
  struct kymo_hint hint = tool_query_hint(query->db, query->traces.source, query->sql, copy);
  if (offset >= 0)
    kymo_fail_text(&error, query->name, query->sql, query->length,
                   (uint64_t)(at - query->sql) + (uint64_t)offset, "%s%s", copy, hint.text);
  else
    kymo_fail(&error, KYMO_E_SYNTAX, "%s%s", copy, hint.text);
  tool_say_error(&error);
  free(copy);
  return status == SQLITE_ERROR ? TOOL_USAGE : TOOL_FAILED;
}

/* What the tables do themselves stands after a bar in the plan (query/plan.h). */
static void print_step(const char *detail) {
  const char *index = strstr(detail, "VIRTUAL TABLE INDEX "), *bar = index ? strchr(index, '|') : NULL;
  printf("-- ");
  if (bar) {
    printf("%.*s", (int)(index - detail), detail);
    tool_print_safe("(the table itself: ");
    tool_print_safe(bar + 1);
    putchar(')');
  } else {
    tool_print_safe(detail);
  }
  putchar('\n');
}

static int explain(const struct query *query, const char *sql, size_t length) {
  sqlite3_stmt *plan = NULL;
  char *text = sqlite3_mprintf("EXPLAIN QUERY PLAN %.*s", (int)length, sql);
  if (!text)
    tool_end_without_memory();
  int status = sqlite3_prepare_v2(query->db, text, -1, &plan, NULL);
  while (status == SQLITE_OK && sqlite3_step(plan) == SQLITE_ROW)
    print_step((const char *)sqlite3_column_text(plan, 3));
  sqlite3_finalize(plan);
  sqlite3_free(text);
  if (query_can_fold(query->traces.source, query->db, sql, length))
    puts("-- each class is one row, which counts as many");
  return TOOL_OK;
}

static void print_statement(const char *sql, size_t length) {
  while (length && strchr(" \t\r\n;", sql[length - 1]))
    length--;
  while (length && strchr(" \t\r\n", *sql))
    sql++, length--;
  fwrite(sql, 1, length, stdout);
  fputs(";\n", stdout);
}

/* A statement that only counts has rows that stand for several. It is prepared again, and *folds says so;
 * else nothing happens. Returns a status of SQLite. */
static int fold(const struct query *query, const char *at, const char *end, sqlite3_stmt **statement,
                bool *folds) {
  *folds = sqlite3_stmt_readonly(*statement) && sqlite3_column_count(*statement) > 0 &&
           query_can_fold(query->traces.source, query->db, at, (size_t)(end - at));
  if (!*folds)
    return SQLITE_OK;
  sqlite3_finalize(*statement);
  *statement = NULL;
  return sqlite3_prepare_v2(query->db, at, (int)(end - at), statement, NULL);
}

/* Runs a statement and prints its rows. Returns an exit status. */
static int print_rows(const struct query *query, const char *at, const char *end, sqlite3_stmt **statement,
                      bool *is_first) {
  bool folds, has_rows = sqlite3_column_count(*statement) > 0;
  int status = fold(query, at, end, statement, &folds);
  if (has_rows && !*is_first && query->format == TOOL_QUERY_TABLE)
    putchar('\n');
  *is_first &= !has_rows;
  query->traces.source->folds = folds;
  if (status == SQLITE_OK)
    status = tool_query_rows(*statement, query->format);
  query->traces.source->folds = false;
  if (status == SQLITE_DONE)
    return TOOL_OK;
  fflush(stdout);
  return report(query, at, status);
}

/* One statement of the text, from `at` on; *next becomes where the following one begins. */
static int run_statement(const struct query *query, const char *at, const char **next, bool *is_first) {
  sqlite3_stmt *statement = NULL;
  int status = sqlite3_prepare_v2(query->db, at, (int)(query->sql + query->length - at), &statement, next);
  int end = TOOL_OK;
  if (status != SQLITE_OK)
    return report(query, at, status);
  if (!statement) /* a comment */
    return TOOL_OK;
  if (query->explains) {
    print_statement(at, (size_t)(*next - at));
    end = explain(query, at, (size_t)(*next - at));
  } else {
    end = print_rows(query, at, *next, &statement, is_first);
  }
  sqlite3_finalize(statement);
  return end;
}

static int run_statements(const struct query *query) {
  int status = TOOL_OK;
  bool is_first = true;
  for (const char *at = query->sql, *next = at; status == TOOL_OK && at < query->sql + query->length;
       at = next)
    status = run_statement(query, at, &next, &is_first);
  return status;
}

/* ---- the command ---- */

/* A server has the traces already. */
static int run_remote(const struct query *query) {
  if (query->input.count) {
    tool_say("--clickhouse asks about all traces on the server, not about %s", query->input.paths[0]);
    return TOOL_USAGE;
  }
  if (query->explains) {
    print_statement(query->sql, query->length);
    return tool_close_output();
  }
  return tool_query_remote(query->clickhouse, query->sql, query->length, query->format);
}

static int run_query(struct query *query) {
  int status = find_statements(query);
  if (status != TOOL_OK)
    return status;
  if (query->clickhouse)
    return run_remote(query);
  if (query->input.count == 0 && query->explains && query->preset) {
    print_statement(query->sql, query->length);
    return tool_close_output();
  }
  if (query->input.count == 0) {
    tool_say("which trace?");
    return TOOL_USAGE;
  }
  status = open_database(query);
  if (status == TOOL_OK)
    status = run_statements(query);
  if (!query->traces.source)
    return status;
  return tool_query_source_end(&query->traces, "; the answer is of what is readable", status);
}

static int run(int argc, char **argv) {
  struct query query = {0};
  tool_parse(&parser, argc, argv, 0, NULL, &query);
  int status = run_query(&query);
  sqlite3_close(query.db);
  tool_query_source_free(&query.traces);
  tool_input_free(&query.input);
  free(query.text);
  return status;
}

const struct tool_command tool_query = {
    .name = "query",
    .summary = "answer questions in SQL about traces",
    .run = run,
};
