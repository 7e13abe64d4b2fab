/* SPDX-License-Identifier: MIT */
/*
 * Tests of events by constraints of a statement, as SQLite would decide them. A test passes an event if it
 * cannot decide.
 */
#ifndef KYMO_QUERY_TEST_H
#define KYMO_QUERY_TEST_H

#include "query/columns.h"
#include "query/sqlite.h"

struct query_operand {
  enum {
    QUERY_UNDECIDED,
    QUERY_NEVER,
    QUERY_IS_INTEGER,
    QUERY_IS_UNSIGNED,
    QUERY_IS_REAL,
    QUERY_IS_TEXT
  } kind;
  int64_t integer;
  uint64_t large;
  double real;
  const char *text; /* borrowed while the scan begins; copied into the arena of the test's owner */
  size_t length;
};

struct query_test {
  uint32_t column;
  char letter;                    /* of query/plan.h */
  struct query_operand *operands; /* several for 'I': one of them shall be equal */
  size_t count;
};

/* Takes a value of a statement. KYMO_OK, KYMO_E_MEMORY, or KYMO_E_USAGE if comparing with it would be
 * wrong. */
int query_test_add(struct query_test *test, struct kymo_arena *arena, const struct query_column *column,
                   sqlite3_value *value, struct kymo_error *error);
/* Whether the event may fulfil the constraint. */
bool query_test_passes(const struct query_test *test, const struct query_columns *columns,
                       struct query_reader *reader, const struct kymo_event *event);
/* Whether a name, which need not be valid UTF-8, may be equal to one of the texts. */
bool query_test_names(const struct query_test *test, const char *name, size_t length);
/* Narrows a window of time. False: no event can be in it. */
bool query_test_narrow(const struct query_test *test, int64_t *begin_ns, int64_t *end_ns);

#endif
