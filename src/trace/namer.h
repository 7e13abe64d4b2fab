/* SPDX-License-Identifier: MIT */
/* Names of addresses, for filters: the interface to the layer above (symbols/symbols.c), which reads files of
 * programs. */
#ifndef KYMO_TRACE_NAMER_H
#define KYMO_TRACE_NAMER_H

#include <kymo/read.h>

struct kymo_address_name {
  const char *name, *mangled; /* readable, and as in the file; valid until the end */
  uint64_t offset;            /* distance of the address from the begin of the named object */
};

struct kymo_namer {
  void *(*begin)(const struct kymo_trace *trace); /* NULL: out of memory */
  void (*end)(void *state);
  /* The object at an address in the process and at the time of an event. False: it is unknown. */
  bool (*find)(void *state, const struct kymo_part *part, uint64_t address, const struct kymo_event *event,
               struct kymo_address_name *out);
};
extern const struct kymo_namer kymo_namer;

#endif
