/* SPDX-License-Identifier: MIT */
/* Prints the rows of a statement: as a table for people, as CSV, or as one JSON object for each row. */
#ifndef KYMO_TOOL_QUERY_ROWS_H
#define KYMO_TOOL_QUERY_ROWS_H

#include <sqlite3.h>

enum tool_query_format { TOOL_QUERY_TABLE, TOOL_QUERY_CSV, TOOL_QUERY_JSON };

/* Runs a statement and prints its rows to stdout. Returns the last status of SQLite: SQLITE_DONE, or an
 * error, before which the rows so far are printed. */
int tool_query_rows(sqlite3_stmt *statement, enum tool_query_format format);

#endif
