/* SPDX-License-Identifier: MIT */
/*
 * Names of addresses: the load map of a trace contains the file at an address, the file's symbol table the
 * symbol there. A file is used only if its build id is that of the load map, or without one, if it is the
 * same file by its number. Names of the kernel's functions come from the format.
 *
 *   address ──► module of the part ──► file (by path and build id, opened once) ──► symbol + offset
 */
#ifndef KYMO_SYMBOLS_SYMBOLS_H
#define KYMO_SYMBOLS_SYMBOLS_H

#include <kymo/read.h>

struct kymo_symbols;

struct kymo_symbol {
  const char *name;    /* readable, may contain anything; valid as long as the kymo_symbols */
  const char *mangled; /* as the file spells it */
  uint64_t offset;     /* of the address from its begin */
  uintptr_t identity;  /* equal for the same function of the same file, in any process */
};

/* For a trace, which must live longer: an unreadable file is listed as damage of the trace, or as a warning
 * if permission is missing. NULL: out of memory. Used by one thread at a time. */
struct kymo_symbols *kymo_symbols_new(const struct kymo_trace *trace);
void kymo_symbols_free(struct kymo_symbols *symbols);
/* Whether the trace has a load map at all. */
bool kymo_symbols_are_there(const struct kymo_trace *trace);
/* The symbol at an address in the process and at the time of an event of the part; event NULL: in any one,
 * at the end. False: unknown. */
bool kymo_symbols_find(struct kymo_symbols *symbols, const struct kymo_part *part, uint64_t address,
                       const struct kymo_event *event, struct kymo_symbol *out);

#endif
