/* SPDX-License-Identifier: MIT */
/*
 * Statements that only count: SELECT class, count(*) FROM events WHERE … GROUP BY class.
 *
 * SQLite asks a virtual table for each row, which costs more than finding it. If a statement does nothing
 * with a row but count it, and reads no column but the class, a table of events returns each class once and
 * says how many rows it replaces (query_source.weight), which count(*) adds.
 *
 * Whether a statement is of this kind is read from the program that SQLite makes of it, not from its text:
 * all operations between one row and the next must be on a list of harmless ones. Anything else, and any
 * operation of an SQLite that is unknown here, leaves the statement as it is.
 */
#ifndef KYMO_QUERY_FOLD_H
#define KYMO_QUERY_FOLD_H

#include "query/source.h"
#include "query/sqlite.h"

/* Whether the rows of the source may be folded while the first statement of `sql` runs. If so, it must be
 * prepared after this call, since count(*) of the connection is another function from then on. */
bool query_can_fold(struct query_source *source, sqlite3 *db, const char *sql, size_t length);

#endif
