/* SPDX-License-Identifier: MIT */
/*
 * Bytes that follow others in a file whose number is not known yet. The last ones stay in memory, earlier
 * ones are in an unnamed file beside the output, so that the output may be larger than memory.
 *
 *   0 ─ in the file ─ begin ─ in memory ─ begin + length
 */
#ifndef KYMO_SINK_CPEL_SPOOL_H
#define KYMO_SINK_CPEL_SPOOL_H

#include <kymo/error.h>
#include <stdbool.h>
#include <stddef.h>

/* At least this many of the last bytes stay in memory. */
#define KYMO_SPOOL_KEPT ((size_t)1 << 20)

struct kymo_spool {
  const char *path; /* of the output, borrowed: the file is created beside it, and errors name it */
  uint8_t *bytes;
  size_t length, room;
  uint64_t begin;
  int fd; /* or -1 */
};

/* "-" as path: the output is not a file; then large spools are in the directory of temporary files.
 * kymo_spool_end ends it. */
void kymo_spool_begin(struct kymo_spool *spool, const char *path);
void kymo_spool_end(struct kymo_spool *spool);
/* Adds bytes. KYMO_E_MEMORY, KYMO_E_SYSTEM. */
int kymo_spool_add(struct kymo_spool *spool, const void *bytes, size_t size, struct kymo_error *error);
/* Nothing more is added: memory is released. */
int kymo_spool_close(struct kymo_spool *spool, struct kymo_error *error);

/* Receives `size` bytes, which it may change. */
typedef int kymo_spool_taker(void *user, uint8_t *bytes, size_t size, struct kymo_error *error);
/* Passes all bytes in order, in pieces of a multiple of `unit` bytes (at most 4096). */
int kymo_spool_send(struct kymo_spool *spool, size_t unit, kymo_spool_taker *take, void *user,
                    struct kymo_error *error);

static inline uint64_t kymo_spool_size(const struct kymo_spool *spool) {
  return spool->begin + spool->length;
}

/* The bytes from `at` to the end, or NULL if they are not all in memory. */
static inline const uint8_t *kymo_spool_recent(const struct kymo_spool *spool, uint64_t at) {
  return at >= spool->begin && spool->bytes ? spool->bytes + (at - spool->begin) : NULL;
}

#endif
