/* SPDX-License-Identifier: MIT */
/*
 * A CPEL file taken apart (the layout stands in docs/cpel.md): its sections, and what they define.
 *
 *   header ── sections ─┬─ 1 string tables ◄── names and formats of all others
 *                       ├─ 2 symbols
 *                       ├─ 3 event definitions   code  → formats of event and datum
 *                       ├─ 4 track definitions   track → format
 *                       └─ 5 events              a stream each
 *
 * All positions are bytes of the file, checked against its size when they are used: it may shrink under us.
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

/* `size`: of the data, as far as the file goes; is_cut: it says more. */
struct cpel_section {
  uint32_t type;
  uint64_t at;
  uint32_t size;
  bool is_cut;
};

/* A string table, named by its first string (NULL: that is too long, or has no end). `bytes`: of one that
 * does not stand in the file, else NULL. */
struct cpel_table {
  uint64_t at;
  uint32_t size;
  const char *name;
  const uint8_t *bytes;
};

/* Names and formats are offsets in a table; 0 stands for "none said". `at`: where a definition is in its
 * file; of those that are in no file of ours, their order. */
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
  uint64_t frequency;                  /* in Hz, as that is understood */
  bool is_per_microsecond, is_assumed; /* is_assumed: the file does not say the clock */
  const struct cpel_table *table;      /* or NULL */
  char table_name[CPEL_NAME_SIZE + 1];
};

struct cpel_file {
  struct kymo_arena arena;
  const char *format, *path; /* format: "cpel", or "gist" */
  const char *conversions;   /* those of formats, see base/printfmt.h */
  struct kymo_map map;       /* while it is being taken apart */
  const uint8_t *data;
  uint64_t size;
  bool is_big, has_date, is_cut; /* is_cut: there are fewer or more bytes than the sections say */
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

/* Takes the file at `path` apart; what is wrong but leaves something to read is noted as damage of `trace`.
 * KYMO_E_FORMAT for what is no CPEL file of version 1. Ended by kymo_cpel_close also after a failure. */
int kymo_cpel_open(struct cpel_file *file, struct kymo_trace *trace, const char *path,
                   struct kymo_error *error);
void kymo_cpel_close(struct cpel_file *file);

/* Which of `count` events is the first, from `next` on, that has no byte outside of a large hole of the file;
 * `count` if there is none. */
uint64_t kymo_cpel_hole(struct kymo_holes *holes, const struct cpel_events *events, uint64_t next,
                        uint64_t count);
/* How many events, one at least, from that on are in the hole: zeros that nobody wrote, of which there may be
 * millions. */
uint64_t kymo_cpel_hole_events(const struct kymo_holes *holes, const struct cpel_events *events,
                               uint64_t next, uint64_t count);

/* Tells the trace's part what sections the file has; before its bytes are let go. KYMO_OK or
 * KYMO_E_MEMORY. */
int kymo_cpel_tell_sections(const struct cpel_file *file, struct kymo_trace *trace, struct kymo_part *part,
                            struct kymo_error *error);

/* The string at an offset of a table, in the bytes `data` of which `size` are there; NULL if it does not end
 * in the table. */
const char *kymo_cpel_string(const uint8_t *data, uint64_t size, const struct cpel_table *table,
                             uint32_t offset, size_t *length);
/* The symbol at or next below a value, or NULL. */
const struct cpel_symbol *kymo_cpel_symbol(const struct cpel_file *file, uint32_t value);
/* Orders definitions by key; of several with one key the first one stays. Returns how many are left. */
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
