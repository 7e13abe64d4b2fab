/* SPDX-License-Identifier: MIT */
/*
 * A connection of SQLite that knows traces: its functions, the order of large numbers, and a table for each
 * kind of events, which exists without being created (a module without xCreate).
 */
#ifndef KYMO_QUERY_DATABASE_H
#define KYMO_QUERY_DATABASE_H

#include "query/source.h"
#include "query/sqlite.h"

struct query_database;

/* Adds percentile, ns_to_text, symbol and the collation kymo_number to a connection, which owns the
 * database from then on. Returns a status of SQLite. */
int query_database_new(struct query_database **database, sqlite3 *db);
/* Adds the tables of the traces; the database keeps a share of the source. Tables of earlier traces with
 * the same names are replaced. Returns a status of SQLite. */
int query_database_add(struct query_database *database, struct query_source *source, bool fails_at_damage);
/* The database keeps a share of a source, for its functions, and drops those that no table uses any more.
 * False: out of memory. */
bool query_database_keep(struct query_database *database, struct query_source *source);

/* Calls `each` for the names of all tables that query_database_add adds, until it returns false; `kind` is
 * UINT32_MAX for those that have no class. False also if memory is missing. */
typedef bool query_name_handler(void *user, const char *name, uint32_t kind);
bool query_each_table(const struct query_source *source, query_name_handler *each, void *user);

/* Functions (functions.c); the user data of the last two is the database. */
void query_percentile_step(sqlite3_context *context, int count, sqlite3_value **values);
void query_percentile_final(sqlite3_context *context);
void query_ns_to_text(sqlite3_context *context, int count, sqlite3_value **values);
void query_symbol(sqlite3_context *context, int count, sqlite3_value **values);
/* Of the extension alone (met.c). */
void query_met(sqlite3_context *context, int count, sqlite3_value **values);
/* The sources that the functions use. */
struct query_source *query_database_source(const struct query_database *database, size_t index);

#endif
