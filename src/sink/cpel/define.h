/* SPDX-License-Identifier: MIT */
/*
 * Tracks and event codes of a CPEL file that is written: each has a number of 32 bits, and its definition has
 * formats.
 *
 *   key, wished number  ──►  definition  { number, format, datum format }
 *
 * The first key that wishes a number gets it; others, and keys without a wish, get the lowest free number.
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
  const char *format, *datum_format; /* set by the caller for a new one; datum_format: events only */
};

struct kymo_cpel_definitions {
  struct kymo_arena arena;
  struct kymo_cpel_definition **list; /* in the order of coming */
  size_t count, room;
  struct kymo_hash_table by_key, by_number;
  uint32_t least, next; /* all numbers between them are taken */
};

/* The least number is 0 or 1. */
void kymo_cpel_definitions_begin(struct kymo_cpel_definitions *all, uint32_t least);
void kymo_cpel_definitions_end(struct kymo_cpel_definitions *all);

#define KYMO_CPEL_NO_WISH UINT64_MAX
/* The definition of a key; without formats if it is new. NULL: out of memory. */
struct kymo_cpel_definition *kymo_cpel_define(struct kymo_cpel_definitions *all, const void *key,
                                              size_t length, uint64_t wish);
/* A copy of a text in which percent signs are escaped; NULL: out of memory. */
const char *kymo_cpel_literal(struct kymo_cpel_definitions *all, const char *text, size_t length);
/* Orders the list by number; nothing may be defined afterwards. */
void kymo_cpel_definitions_sort(struct kymo_cpel_definitions *all);

#endif
