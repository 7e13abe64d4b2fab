/* SPDX-License-Identifier: MIT */
/* What was meant by a misspelt name in a statement. */
#ifndef KYMO_TOOL_QUERY_HINT_H
#define KYMO_TOOL_QUERY_HINT_H

#include "base/nearest.h"
#include "query/source.h"
#include <sqlite3.h>

/* " (did you mean "x"?)" for a message of SQLite about an unknown column, table or function; else "". `sql`
 * is the statement, whose tables are looked at. */
struct kymo_hint tool_query_hint(sqlite3 *db, const struct query_source *source, const char *sql,
                                 const char *message);

#endif
