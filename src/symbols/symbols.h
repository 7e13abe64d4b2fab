/* SPDX-License-Identifier: MIT */
/*
 * Names of addresses: the load map of a trace tells which file lay there, the file's symbol table what stands
 * at that place of it. A file is believed if its build id is that of the load map.
 *
 *   address ──► kymo_part_module ──► file (by path and build id, opened once) ──► symbol + offset
 */
#ifndef KYMO_SYMBOLS_SYMBOLS_H
#define KYMO_SYMBOLS_SYMBOLS_H

#include <kymo/read.h>

struct kymo_symbols;

struct kymo_symbol {
  const char *name;    /* as people write it, which may be anything; holds as long as the kymo_symbols */
  const char *mangled; /* as the file spells it */
  uint64_t offset;     /* of the address from its begin */
  uintptr_t identity;  /* equal for the same function of the same file, in whatever process */
};

/* Of a trace, which must live longer: what files cannot be read becomes damage of it, or a warning if they
 * may not be read. NULL: out of memory. Used by one thread at a time. */
struct kymo_symbols *kymo_symbols_new(const struct kymo_trace *trace);
void kymo_symbols_free(struct kymo_symbols *symbols);
/* Whether the trace has a load map at all. */
bool kymo_symbols_are_there(const struct kymo_trace *trace);
/* What stood at an address when the part's clock showed `cycles`. False: nobody knows. */
bool kymo_symbols_find(struct kymo_symbols *symbols, const struct kymo_part *part, uint64_t address,
                       uint64_t cycles, struct kymo_symbol *out);

#endif
