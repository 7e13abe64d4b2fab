/* SPDX-License-Identifier: MIT */
/* Without libelf no file has symbols. */
#include "symbols/file.h"

int kymo_symbol_table_read(struct kymo_symbol_table *table, const char *path, const char *build_id,
                           struct kymo_error *error) {
  (void)path, (void)build_id, (void)error;
  *table = (struct kymo_symbol_table){0};
  return KYMO_E_ABSENT;
}

void kymo_symbol_table_free(struct kymo_symbol_table *table) { (void)table; }
