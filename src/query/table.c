/* SPDX-License-Identifier: MIT */
#include "query/tables.h"
#include <stdlib.h>

int query_table_connect(sqlite3 *db, const struct query_choice *choice, const char *declaration,
                        sqlite3_vtab **out, char **message) {
  struct query_table *table = calloc(1, sizeof *table);
  int status = table ? sqlite3_declare_vtab(db, declaration) : SQLITE_NOMEM;
  if (status != SQLITE_OK) {
    *message = sqlite3_mprintf("%s", sqlite3_errmsg(db));
    free(table);
    return status;
  }
  table->choice = *choice;
  query_source_retain(choice->source);
  *out = &table->base;
  return SQLITE_OK;
}

int query_table_disconnect(sqlite3_vtab *base) {
  struct query_table *table = (struct query_table *)base;
  query_source_release(table->choice.source);
  free(table);
  return SQLITE_OK;
}
