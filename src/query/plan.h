/* SPDX-License-Identifier: MIT */
/*
 * What of a statement the table does itself, before SQLite sees a row (xBestIndex):
 *
 *   WHERE class = 'a' AND ts >= 5 AND x > 100   ──►  constraints as text: "=2;G0;>16;|class =, ts >=, x >"
 *   ORDER BY ts, GROUP BY class                 ──►  bits of the number
 *
 * A constraint is an operator and a column; its value comes when the scan begins. The part after the bar is
 * for EXPLAIN QUERY PLAN. A test may pass an event that does not fulfil the constraint, since SQLite tests
 * again what is not exact, but never the other way round.
 */
#ifndef KYMO_QUERY_PLAN_H
#define KYMO_QUERY_PLAN_H

#include "query/columns.h"
#include "query/sqlite.h"

enum query_plan_bits {
  QUERY_BY_TIME = 1,  /* the rows come in the order of their times */
  QUERY_BY_KIND = 2,  /* … of their classes' names */
  QUERY_COUNTED = 4,  /* only how many there are of each class is needed */
  QUERY_DISTINCT = 8, /* … and one of each is enough */
  QUERY_BUCKETS = 16, /* BY_KIND, and of each event only the class and the time are needed */
};

/* The most kinds for which GROUP BY class reads the traces once for each: sorting the rows costs more. */
#define QUERY_PASSES_MAX 32

/* Fills the answer to sqlite3_index_info. Returns a status of SQLite. */
int query_plan_make(const struct query_columns *columns, struct query_source *source,
                    sqlite3_index_info *info);

#endif
