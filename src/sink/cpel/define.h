/* SPDX-License-Identifier: MIT */
/*
 * What gets a number of 32 bits in a CPEL file that is written, and is defined there by formats: tracks and
 * event codes.
 *
 *   key, wished number  ──►  definition  { number, format, datum format }
 *
 * The first key that wishes a number has it; others, and those that wish none, get the lowest that nobody has
 * so far.
 */
#ifndef KYMO_SINK_CPEL_DEFINE_H
#define KYMO_SINK_CPEL_DEFINE_H

#include "base/table.h"
#include <stdbool.h>
#include <stdint.h>

struct kymo_cpel_definition {
  const char *key;
  size_t key_length;
  uint32_t number;
  const char *format, *datum_format; /* to be set by who gets it new; datum_format: events only */
};

struct kymo_cpel_definitions {
  struct kymo_arena arena;
  struct kymo_cpel_definition **list; /* in the order of coming */
  size_t count, room;
  struct kymo_hash_table by_key, by_number;
  uint32_t least, next; /* between them all are taken */
};

/* The least number is 0 or 1. */
void kymo_cpel_definitions_begin(struct kymo_cpel_definitions *all, uint32_t least);
void kymo_cpel_definitions_end(struct kymo_cpel_definitions *all);

#define KYMO_CPEL_NO_WISH UINT64_MAX
/* The definition of a key; without formats if it is a new one. NULL: out of memory. */
struct kymo_cpel_definition *kymo_cpel_define(struct kymo_cpel_definitions *all, const void *key,
                                              size_t length, uint64_t wish);
/* A copy of a text, in which the conversions of a format have no meaning; NULL: out of memory. */
const char *kymo_cpel_literal(struct kymo_cpel_definitions *all, const char *text, size_t length);
/* Orders the list by number; nothing may be defined any more. */
void kymo_cpel_definitions_sort(struct kymo_cpel_definitions *all);

#endif
