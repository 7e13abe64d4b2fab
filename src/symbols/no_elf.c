/* SPDX-License-Identifier: MIT */
/* Without libelf no file has symbols. */
#include "symbols/file.h"

int kymo_symbol_table_read(struct kymo_symbol_table *table, const struct kymo_module *module,
                           struct kymo_error *error) {
  (void)module, (void)error;
  *table = (struct kymo_symbol_table){0};
  return KYMO_E_ABSENT;
}

uint64_t kymo_symbol_table_address(const struct kymo_symbol_table *table, uint64_t offset) {
  (void)table, (void)offset;
  return UINT64_MAX;
}

void kymo_symbol_table_free(struct kymo_symbol_table *table) { (void)table; }
