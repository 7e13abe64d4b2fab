/* SPDX-License-Identifier: MIT */
/*
 * Holes of a file: ranges to which nothing was ever written, which read as zeros and take no space. A sparse
 * file of terabytes is read in the time that its bytes take.
 */
#ifndef KYMO_BASE_HOLES_H
#define KYMO_BASE_HOLES_H

#include <stdint.h>

/* Records are not looked for in holes of this size: what is smaller may come from a copy that leaves out
 * blocks of zeros. */
#define KYMO_HOLE_LEAST (UINT64_C(1) << 20)

/* What the file said last. All zeros but bytes_at and user: nothing was asked. */
struct kymo_holes {
  uint64_t (*bytes_at)(void *user, uint64_t at,
                       uint64_t *end); /* where the file has bytes at or after `at`, up to *end; or NULL:
                                                                    nothing is known of holes */
  void *user;
  uint64_t asked, bytes_from, bytes_to;         /* from `asked` on, there are bytes there first */
  uint64_t large_asked, large_begin, large_end; /* from `large_asked` on, there is a large hole there first */
};

/* The first place at or after `at` that is not in a hole, at most `end`. */
uint64_t kymo_holes_pass(struct kymo_holes *holes, uint64_t at, uint64_t end);
/* Where the first large hole begins at or after `at`, or its rest if `at` is in one; `end` if there is none.
 * holes->large_end: where it ends. */
uint64_t kymo_holes_large(struct kymo_holes *holes, uint64_t at, uint64_t end);
/* The file has changed. */
void kymo_holes_forget(struct kymo_holes *holes);

#endif
