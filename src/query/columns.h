/* SPDX-License-Identifier: MIT */
/*
 * The columns of a table of events, typed by the schema:
 *
 *   events      ts  time  class  group  …  fields                        the columns that every event has
 *   "net:rx"    ts  thread  tid  cpu  port  state  state.value  where.x   … and the fields of its class
 *               └─ of every event ──┘ └──────────── of the class ──────┘
 *
 * Fields of one name in several versions of a class (other processes, other traces) share a column. An
 * enumeration has two columns: its name, and its number as `.value`. All names of columns differ also for
 * SQLite, to which `A` and `a` are one name: the second one is `A#2`.
 */
#ifndef KYMO_QUERY_COLUMNS_H
#define KYMO_QUERY_COLUMNS_H

#include "query/source.h"

/* What a column is: a property of every event, or the place of the field decides. */
enum query_column_kind {
  QUERY_TS,
  QUERY_TIME,
  QUERY_CLASS,
  QUERY_GROUP,
  QUERY_PROCESS,
  QUERY_PID,
  QUERY_THREAD,
  QUERY_TID,
  QUERY_CPU,
  QUERY_STREAM,
  QUERY_TRACE,
  QUERY_PATH,
  QUERY_LEVEL,
  QUERY_MESSAGE,
  QUERY_FIELDS,
  QUERY_CONTEXT,
  QUERY_FIELD,
};
#define QUERY_FIXED QUERY_FIELD /* how many columns every event has */

/* How SQLite sees the values of a column. */
enum query_type {
  QUERY_INTEGER,
  QUERY_UNSIGNED, /* 64 bits without a sign: values of 2^63 and more are the text of their digits */
  QUERY_REAL,
  QUERY_TEXT,
  QUERY_BLOB,
  QUERY_JSON, /* a list as text */
  QUERY_ANY,  /* it differs between versions of the class, or between events */
};

/* How the value of a field is read. */
enum query_get {
  QUERY_GET_NOTHING,
  QUERY_GET_INTEGER,
  QUERY_GET_FLOAT,
  QUERY_GET_TEXT,
  QUERY_GET_BYTES,
  QUERY_GET_LIST,
  QUERY_GET_LABEL,
  QUERY_GET_ANY
};

/* The field that a column is in one event class. */
struct query_place {
  uint32_t index;               /* in the list of the class's fields */
  enum query_get get;           /* QUERY_GET_NOTHING: the class does not have it */
  const struct kymo_type *type; /* in the schema of the source's first reader */
};

struct query_column {
  const char *name;
  enum query_column_kind kind;
  enum query_type type;
  bool is_hidden; /* not in SELECT * */
};

struct query_columns {
  struct kymo_arena arena;
  struct query_column *list;
  uint32_t count, capacity;
  uint32_t kind;               /* of the events in the table; UINT32_MAX: all */
  struct query_place **places; /* by class number: by column; NULL: of other kinds */
  uint32_t left_out;           /* fields that have no column, since there are too many */
};

/* More would be too many for SQLite as it is compiled usually (2000). */
#define QUERY_COLUMNS_MAX 1900

/* The columns of all events, or of those of a kind. KYMO_OK or KYMO_E_MEMORY; ended in either case. */
int query_columns_begin(struct query_columns *columns, struct query_source *source, uint32_t kind,
                        struct kymo_error *error);
void query_columns_end(struct query_columns *columns);
/* The type in a declaration, after a blank, or "". */
const char *query_type_name(enum query_type type);
/* The collation of columns that are QUERY_UNSIGNED. */
#define QUERY_NUMBER "kymo_number"
/* The text for sqlite3_declare_vtab. */
void query_columns_declare(const struct query_columns *columns, struct kymo_strbuf *out);
/* A name as SQL spells it. */
void query_add_name(struct kymo_strbuf *out, const char *name);

#endif
