/* SPDX-License-Identifier: MIT */
/* Names of addresses, for filters: how the layer above (symbols/symbols.c), which knows files of programs, is
 * asked for them. */
#ifndef KYMO_TRACE_NAMER_H
#define KYMO_TRACE_NAMER_H

#include <kymo/read.h>

struct kymo_address_name {
  const char *name, *mangled; /* as people write it, and as the file spells it; hold until the end */
  uint64_t offset;            /* of the address after the begin of what is called so */
};

struct kymo_namer {
  void *(*begin)(const struct kymo_trace *trace); /* NULL: out of memory */
  void (*end)(void *state);
  /* What was at an address when the part's clock showed `cycles`. False: it is unknown. */
  bool (*find)(void *state, const struct kymo_part *part, uint64_t address, uint64_t cycles,
               struct kymo_address_name *out);
};
extern const struct kymo_namer kymo_namer;

#endif
