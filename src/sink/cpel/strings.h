/* SPDX-License-Identifier: MIT */
/*
 * A string table of a CPEL file that is being written. A recently used string is not stored again: the last
 * KYMO_SPOOL_KEPT bytes are in memory, and frequent strings are usually among them.
 */
#ifndef KYMO_SINK_CPEL_STRINGS_H
#define KYMO_SINK_CPEL_STRINGS_H

#include "sink/cpel/spool.h"

#define KYMO_CPEL_NAME_BYTES 64

struct kymo_cpel_strings {
  char name[KYMO_CPEL_NAME_BYTES]; /* ended by a zero */
  struct kymo_spool spool;
  uint64_t most;  /* bytes it may have */
  uint32_t *late; /* offsets, by hash; 0: none */
};

/* Begins the table with its name. kymo_cpel_strings_end ends it also after a failure. */
int kymo_cpel_strings_begin(struct kymo_cpel_strings *strings, const char *path, const char *name,
                            uint64_t most, struct kymo_error *error);
void kymo_cpel_strings_end(struct kymo_cpel_strings *strings);
/* The offset of a string without zeros. KYMO_E_LIMIT, without an error, if the table is full. */
int kymo_cpel_strings_add(struct kymo_cpel_strings *strings, const char *text, size_t length,
                          uint32_t *offset, struct kymo_error *error);
/* Pads it to whole words; nothing is added any more, and memory is released. */
int kymo_cpel_strings_close(struct kymo_cpel_strings *strings, struct kymo_error *error);

#endif
