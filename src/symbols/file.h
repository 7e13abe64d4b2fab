/* SPDX-License-Identifier: MIT */
/* The symbol table of one ELF file, by address. */
#ifndef KYMO_SYMBOLS_FILE_H
#define KYMO_SYMBOLS_FILE_H

#include <kymo/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kymo_symbol_entry {
  uint64_t start, size; /* size 0: up to the next one */
  const char *name;     /* in `names` */
  char *title;          /* the readable name, created when it is needed; NULL: not yet, or the same */
  bool is_asked;
};

struct kymo_symbol_table {
  struct kymo_symbol_entry *list; /* ordered by start */
  size_t count;
  char *names;
};

/* Reads functions and objects of the file, or, if it was stripped, of its debug file under /usr/lib/debug.
 * KYMO_E_ABSENT: there is no such file, its build id is another, or it has no symbols; KYMO_E_SYSTEM: a file
 * cannot be read; KYMO_E_USAGE: it must not be read; KYMO_E_MEMORY. To be freed in any case. */
int kymo_symbol_table_read(struct kymo_symbol_table *table, const char *path, const char *build_id,
                           struct kymo_error *error);
void kymo_symbol_table_free(struct kymo_symbol_table *table);

#endif
