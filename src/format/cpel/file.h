/* SPDX-License-Identifier: MIT */
/*
 * A parsed CPEL file (docs/cpel.md describes the layout): its sections, and their definitions.
 *
 *   header ── sections ─┬─ 1 string tables ◄── names and formats of all others
 *                       ├─ 2 symbols
 *                       ├─ 3 event definitions   code  → formats of event and datum
 *                       ├─ 4 track definitions   track → format
 *                       └─ 5 events              one stream each
 *
 * All positions are bytes of the file, checked against its size when they are used: it may shrink meanwhile.
 */
#ifndef KYMO_FORMAT_CPEL_FILE_H
#define KYMO_FORMAT_CPEL_FILE_H

#include "base/arena.h"
#include "base/holes.h"
#include "source/format.h"
#include "source/map.h"

#define CPEL_NAME_SIZE 64
#define CPEL_EVENT_SIZE 20

enum cpel_type {
  CPEL_STRINGS = 1,
  CPEL_SYMBOLS,
  CPEL_EVENT_DEFINITIONS,
  CPEL_TRACK_DEFINITIONS,
  CPEL_EVENTS
};

/* `size`: of the available data; is_cut: the section claims more. */
struct cpel_section {
  uint32_t type;
  uint64_t at;
  uint32_t size;
  bool is_cut;
};

/* A string table, named by its first string (NULL: that is too long, or has no end). `bytes`: for a table
 * that is not in the file, else NULL. */
struct cpel_table {
  uint64_t at;
  uint32_t size;
  const char *name;
  const uint8_t *bytes;
};

/* Names and formats are offsets in a table; 0: none. `at`: the offset of a definition in its file; for
 * definitions outside of the file, their order. */
struct cpel_symbol {
  uint32_t value, name;
  const struct cpel_table *table;
};
struct cpel_definition {
  uint64_t at;
  uint32_t key, format, datum_format;
  const struct cpel_table *table;
};

/* One event section: `count` events from `at`. */
struct cpel_events {
  uint64_t at;
  uint32_t count, clock;               /* as the file says it */
  uint64_t frequency;                  /* in Hz, after the unit is known */
  bool is_per_microsecond, is_assumed; /* is_assumed: the file does not state the clock */
  const struct cpel_table *table;      /* or NULL */
  char table_name[CPEL_NAME_SIZE + 1];
};

struct cpel_file {
  struct kymo_arena arena;
  const char *format, *path; /* format: "cpel", or "gist" */
  const char *conversions;   /* conversions of formats, see base/printfmt.h */
  struct kymo_map map;       /* while it is being parsed */
  const uint8_t *data;
  uint64_t size;
  bool is_big, has_date, is_cut; /* is_cut: there are fewer or more bytes than the sections claim */
  uint32_t date;                 /* seconds since the epoch */
  struct cpel_section *sections;
  size_t section_count;
  struct cpel_table *tables;
  size_t table_count; /* by name */
  struct cpel_symbol *symbols;
  size_t symbol_count; /* by value */
  struct cpel_definition *event_definitions;
  size_t event_count; /* by key, each once */
  struct cpel_definition *track_definitions;
  size_t track_count;
  struct cpel_events *events;
  size_t events_count;
};

/* Parses the file at `path`; a fault that leaves readable parts is listed as damage of `trace`. KYMO_E_FORMAT
 * if it is not a CPEL file of version 1. kymo_cpel_close ends it also after a failure. */
int kymo_cpel_open(struct cpel_file *file, struct kymo_trace *trace, const char *path,
                   struct kymo_error *error);
void kymo_cpel_close(struct cpel_file *file);

/* The first of `count` events, from `next` on, that has no byte in a large hole of the file; `count` if there
 * is none. */
uint64_t kymo_cpel_hole(struct kymo_holes *holes, const struct cpel_events *events, uint64_t next,
                        uint64_t count);
/* How many events, at least one, from that one on are in the hole: zeros that were never written, possibly
 * millions. */
uint64_t kymo_cpel_hole_events(const struct kymo_holes *holes, const struct cpel_events *events,
                               uint64_t next, uint64_t count);

/* Adds the file's sections to the trace's part; call it before its bytes are released. KYMO_OK or
 * KYMO_E_MEMORY. */
int kymo_cpel_add_sections(const struct cpel_file *file, struct kymo_trace *trace, struct kymo_part *part,
                           struct kymo_error *error);

/* The string at an offset of a table, in the `size` bytes at `data`; NULL if it does not end in the table. */
const char *kymo_cpel_string(const uint8_t *data, uint64_t size, const struct cpel_table *table,
                             uint32_t offset, size_t *length);
/* The symbol at or next below a value, or NULL. */
const struct cpel_symbol *kymo_cpel_symbol(const struct cpel_file *file, uint32_t value);
/* Orders definitions by key; of several with one key the first one is kept. Returns the number of kept
 * ones. */
size_t kymo_cpel_sort(struct cpel_definition *list, size_t count);
/* The definition of a code or track, or NULL. */
const struct cpel_definition *kymo_cpel_find(const struct cpel_definition *list, size_t count, uint32_t key);
/* Notes damage of the file at byte `at`. */
void kymo_cpel_damage(const struct cpel_file *file, struct kymo_trace *trace, uint64_t at, const char *format,
                      ...) __attribute__((format(printf, 4, 5)));

static inline uint32_t cpel_load(const uint8_t *from, bool is_big) {
  uint32_t value;
  __builtin_memcpy(&value, from, sizeof value);
  return is_big == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? value : __builtin_bswap32(value);
}

#endif
