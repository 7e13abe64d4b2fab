/* SPDX-License-Identifier: MIT */
/*
 * One table of a database file (query/save.h). Columns that follow from others are computed by SQLite, and
 * need no space:
 *
 *   class "TEXT AS ('net:rx')"      time: from ts, if all clocks count from 1970      path: from trace
 */
#ifndef KYMO_QUERY_SAVED_TABLE_H
#define KYMO_QUERY_SAVED_TABLE_H

#include "query/value.h"

struct query_saved_column {
  const char *name, *type;
  const char *expression; /* of a computed column, or NULL */
  uint32_t index;         /* of the column where its values come from */
  bool has_numbers;       /* 64 bits without a sign */
  unsigned large;         /* enum query_large, of the values so far */
};

struct query_saved_table {
  const char *name;
  const char *time; /* the column that an index is made of */
  struct query_saved_column *list;
  uint32_t count, capacity;
  sqlite3_stmt *insert; /* once there are rows */
};

/* Appends a column; name and texts are borrowed. False: out of memory. */
bool query_saved_add(struct query_saved_table *table, const struct query_saved_column *column);
/* Creates the table. This and the others return a status of SQLite. */
int query_saved_create(struct query_saved_table *table, sqlite3 *db);
/* Inserts the current event. */
int query_saved_put_event(struct query_saved_table *table, sqlite3 *db, struct query_reader *reader,
                          const struct kymo_event *event, const struct query_columns *columns);
/* Inserts the current row of a statement. */
int query_saved_put_row(struct query_saved_table *table, sqlite3 *db, sqlite3_stmt *from);
/* After all rows: collations, and an index of the times. */
int query_saved_finish(struct query_saved_table *table, sqlite3 *db);
void query_saved_end(struct query_saved_table *table);

#endif
