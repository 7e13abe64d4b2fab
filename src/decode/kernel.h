/* SPDX-License-Identifier: MIT */
/*
 * Numbers of the Linux kernel by name. Traces of LTTng's kernel tracer have arguments and results of system
 * calls as plain numbers: the trace does not contain that 524288 is O_CLOEXEC. Such a field has a second
 * type, with the names. Text, filters and statistics use it, other code uses the type in the trace.
 */
#ifndef KYMO_DECODE_KERNEL_H
#define KYMO_DECODE_KERNEL_H

#include "base/arena.h"
#include <kymo/schema.h>

/* The types created for a schema so far. */
struct kymo_kernel_names {
  struct kymo_arena *arena;
  const struct kymo_schema *schema;
  bool is_kernel; /* its trace is of the kernel */
  uint32_t count, capacity;
  struct kymo_kernel_type {
    const struct kymo_type *of, *shown;
    const void *table;
  } * types;
};

struct kymo_kernel_names kymo_kernel_names_begin(struct kymo_arena *arena, const struct kymo_schema *schema);
/* The second type of a field of a class, in the arena and with an id after those of the schema and of the
 * earlier second types; NULL: the field has none. An address of a network is an array with is_address.
 * arena->failed reports that there was no memory. */
const struct kymo_type *kymo_kernel_shown(struct kymo_kernel_names *names,
                                          const struct kymo_event_class *class_, const char *field,
                                          const struct kymo_type *type);

#endif
