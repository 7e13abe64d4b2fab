/* SPDX-License-Identifier: MIT */
#include "query/fold.h"
#include "query/columns.h"
#include <string.h>

/* Statements with longer programs do more than count. */
#define STEPS_MAX 128

/* ---- programs ---- */

/* An operation of SQLite's program, as EXPLAIN lists it; its address is its place. */
struct step {
  char name[20];
  int p1, p2;
  bool is_count; /* AggStep of count(*) */
};

struct program {
  struct step steps[STEPS_MAX];
  int count;
};

static bool add_step(struct program *program, sqlite3_stmt *statement) {
  const char *name = (const char *)sqlite3_column_text(statement, 1);
  const char *p4 = (const char *)sqlite3_column_text(statement, 5);
  struct step *step = &program->steps[program->count];
  if (program->count == STEPS_MAX || !name || strlen(name) >= sizeof step->name ||
      sqlite3_column_int(statement, 0) != program->count)
    return false;
  *step = (struct step){.p1 = sqlite3_column_int(statement, 2),
                        .p2 = sqlite3_column_int(statement, 3),
                        .is_count = p4 && strcmp(p4, "count(0)") == 0};
  memcpy(step->name, name, strlen(name));
  program->count++;
  return true;
}

static bool read_program(struct program *program, sqlite3 *db, const char *sql, size_t length) {
  sqlite3_stmt *statement = NULL;
  char *text = sqlite3_mprintf("EXPLAIN %.*s", (int)length, sql);
  bool is_read = text && sqlite3_prepare_v2(db, text, -1, &statement, NULL) == SQLITE_OK;
  int status = SQLITE_ERROR;
  program->count = 0;
  while (is_read && (status = sqlite3_step(statement)) == SQLITE_ROW)
    is_read = add_step(program, statement);
  sqlite3_finalize(statement);
  sqlite3_free(text);
  return is_read && status == SQLITE_DONE;
}

static bool is_named(const struct step *step, const char *name) { return strcmp(step->name, name) == 0; }

static bool is_in(const struct step *step, const char *const *names) {
  while (*names && !is_named(step, *names))
    names++;
  return *names;
}

/* The address of the only operation of a name, or -1. */
static int find_only(const struct program *program, const char *name) {
  int found = -1;
  for (int i = 0; i < program->count; i++)
    if (is_named(&program->steps[i], name)) {
      if (found >= 0)
        return -1;
      found = i;
    }
  return found;
}

/* ---- what is done with a row ---- */

/* The operations between one row and the next. */
struct body {
  int begin, end;  /* the last one is VNext */
  int jump, equal; /* Jump of GROUP BY, or -1, and where it goes if the row is of the same group */
};

/* Whether an operation depends on the class alone and does nothing that could be noticed, so that it may be
 * repeated for each row of a class, or not: then rows of a class that follow one another are as good as one.
 * GROUP BY's operations for the first row of a group are between its Jump and where this leads for others. */
static bool is_harmless(const struct program *program, const struct body *body, int at) {
  static const char *const branches[] = {"If", "IfNot", "IsNull", "NotNull", "Eq", "Ne",
                                         "Lt", "Le",    "Gt",     "Ge",      NULL};
  static const char *const of_groups[] = {"Move", "Gosub", "IfPos", NULL};
  const struct step *step = &program->steps[at];
  if (is_named(step, "VColumn"))
    return step->p2 == QUERY_CLASS;
  if (is_named(step, "AggStep"))
    return step->is_count;
  if (is_in(step, branches))
    return step->p2 > at && step->p2 <= body->end;
  if (is_in(step, of_groups))
    return at > body->jump && at < body->equal;
  return is_named(step, "Compare") ? at + 1 == body->jump : at == body->jump || is_named(step, "Integer");
}

static bool find_body(const struct program *program, struct body *body) {
  int filter = find_only(program, "VFilter");
  *body = (struct body){filter + 1, find_only(program, "VNext"), find_only(program, "Jump"), -1};
  if (filter < 0 || body->end <= filter || program->steps[body->end].p2 != body->begin ||
      find_only(program, "VOpen") < 0)
    return false;
  if (body->jump < 0)
    return true;
  body->equal = program->steps[body->jump].p2;
  return body->jump > body->begin && body->equal > body->jump && body->equal < body->end;
}

static bool only_counts(const struct program *program) {
  struct body body;
  bool counts = false;
  if (!find_body(program, &body))
    return false;
  for (int i = 0; i < program->count; i++) {
    bool is_inside = i >= body.begin && i < body.end;
    if (is_inside
            ? !is_harmless(program, &body, i)
            : strncmp(program->steps[i].name, "Agg", 3) == 0 && !is_named(&program->steps[i], "AggFinal"))
      return false;
    counts |= is_inside && program->steps[i].is_count;
  }
  return counts;
}

/* ---- count(*) ---- */

static void add(sqlite3_context *context, int count, sqlite3_value **values) {
  const struct query_source *source = sqlite3_user_data(context);
  sqlite3_int64 *sum = sqlite3_aggregate_context(context, sizeof *sum);
  (void)count;
  (void)values;
  if (sum)
    *sum += (sqlite3_int64)source->weight;
}

/* For windows, whose rows are never folded. */
static void take_away(sqlite3_context *context, int count, sqlite3_value **values) {
  sqlite3_int64 *sum = sqlite3_aggregate_context(context, sizeof *sum);
  (void)count;
  (void)values;
  if (sum)
    --*sum;
}

static void put(sqlite3_context *context) {
  const sqlite3_int64 *sum = sqlite3_aggregate_context(context, sizeof *sum);
  sqlite3_result_int64(context, sum ? *sum : 0);
}

bool query_can_fold(struct query_source *source, sqlite3 *db, const char *sql, size_t length) {
  struct program program;
  if (!read_program(&program, db, sql, length) || !only_counts(&program))
    return false;
  if (source->has_weights)
    return true;
  if (sqlite3_create_window_function(db, "count", 0, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
                                     source, add, put, put, take_away, NULL) != SQLITE_OK)
    return false;
  source->has_weights = true;
  return read_program(&program, db, sql, length) && only_counts(&program);
}
