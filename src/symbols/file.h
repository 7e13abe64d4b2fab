/* SPDX-License-Identifier: MIT */
/* The symbol table of one ELF file, by address. */
#ifndef KYMO_SYMBOLS_FILE_H
#define KYMO_SYMBOLS_FILE_H

#include "source/modules.h"
#include <stdbool.h>
#include <stddef.h>

struct kymo_symbol_entry {
  uint64_t start, size; /* size 0: up to the next one */
  const char *name;     /* in `names` */
  char *title;          /* the readable name, created when it is needed; NULL: not yet, or the same */
  bool is_asked;
};

/* Bytes of the file that are loaded. */
struct kymo_symbol_segment {
  uint64_t offset, size, address; /* in the file; and where it says that they are loaded */
};

struct kymo_symbol_table {
  struct kymo_symbol_entry *list; /* ordered by start */
  size_t count;
  struct kymo_symbol_segment *segments;
  size_t segment_count;
  char *names;
};

/* Reads functions and objects of a module's file, or, if it was stripped, of its debug file under
 * /usr/lib/debug.
 * KYMO_E_ABSENT: there is no such file, it is another one, or it has no symbols; KYMO_E_SYSTEM: a file
 * cannot be read; KYMO_E_USAGE: it must not be read; KYMO_E_MEMORY. To be freed in any case. */
int kymo_symbol_table_read(struct kymo_symbol_table *table, const struct kymo_module *module,
                           struct kymo_error *error);
/* The file's address of a byte of it; UINT64_MAX: it is not loaded. */
uint64_t kymo_symbol_table_address(const struct kymo_symbol_table *table, uint64_t offset);
void kymo_symbol_table_free(struct kymo_symbol_table *table);

#endif
