/* SPDX-License-Identifier: MIT */
/*
 * The CPEL file that is written, from its first byte to its last: header, sections, words in its byte order.
 * It must not exist yet, and is removed again unless all of it could be written.
 */
#ifndef KYMO_SINK_CPEL_OUT_H
#define KYMO_SINK_CPEL_OUT_H

#include "sink/cpel/spool.h"

enum { KYMO_CPEL_OUT_BYTES = 64 << 10, KYMO_CPEL_EVENT_BYTES = 20 };
/* Maximum of a section, so that its end on the boundary of a word fits its size. */
#define KYMO_CPEL_SECTION_MOST (UINT32_MAX - 3)

enum kymo_cpel_type {
  KYMO_CPEL_STRINGS = 1,
  KYMO_CPEL_SYMBOLS,
  KYMO_CPEL_EVENT_DEFINITIONS,
  KYMO_CPEL_TRACK_DEFINITIONS,
  KYMO_CPEL_EVENTS
};

struct kymo_cpel_out {
  const char *path; /* borrowed; "-": standard output */
  int fd;           /* or -1 */
  bool is_big, is_made;
  size_t length;
  uint8_t *bytes;
};

/* Creates the file. kymo_cpel_out_end ends it also after a failure. */
int kymo_cpel_out_begin(struct kymo_cpel_out *out, const char *path, bool is_big, struct kymo_error *error);
/* Writes the rest; unless `is_whole`, or if it fails, the file is removed. */
int kymo_cpel_out_end(struct kymo_cpel_out *out, bool is_whole, struct kymo_error *error);

int kymo_cpel_out_bytes(struct kymo_cpel_out *out, const void *bytes, size_t size, struct kymo_error *error);
int kymo_cpel_out_words(struct kymo_cpel_out *out, const uint32_t *words, size_t count,
                        struct kymo_error *error);
/* `first`: the version; `unused`: the byte after it. */
struct kymo_cpel_head {
  uint8_t first, unused;
  uint32_t sections, date;
};
int kymo_cpel_out_head(struct kymo_cpel_out *out, const struct kymo_cpel_head *head,
                       struct kymo_error *error);
/* The begin of a section of `size` bytes; with the name of its string table, if it has one. */
int kymo_cpel_out_section(struct kymo_cpel_out *out, uint32_t type, uint64_t size, const char *table,
                          struct kymo_error *error);
/* All of a spool. */
int kymo_cpel_out_spool(struct kymo_cpel_out *out, struct kymo_spool *spool, struct kymo_error *error);

/* A word in the file's order. */
static inline void kymo_cpel_store(uint8_t *to, uint32_t value, bool is_big) {
  value = is_big == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? value : __builtin_bswap32(value);
  __builtin_memcpy(to, &value, sizeof value);
}

static inline uint32_t kymo_cpel_load(const uint8_t *from, bool is_big) {
  uint32_t value;
  __builtin_memcpy(&value, from, sizeof value);
  return is_big == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? value : __builtin_bswap32(value);
}

#endif
