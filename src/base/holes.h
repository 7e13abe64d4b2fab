/* SPDX-License-Identifier: MIT */
/*
 * Holes of a file: ranges to which nothing was ever written, which read as zeros and take no space. The time
 * for reading a sparse file depends on its data, not on its size.
 */
#ifndef KYMO_BASE_HOLES_H
#define KYMO_BASE_HOLES_H

#include <stdint.h>

/* Records are not searched in holes of at least this size: smaller ones may come from a copy that leaves out
 * blocks of zeros. */
#define KYMO_HOLE_LEAST (UINT64_C(1) << 20)

/* The last answers. All zeros but bytes_at and user: nothing was asked yet. */
struct kymo_holes {
  uint64_t (*bytes_at)(void *user, uint64_t at,
                       uint64_t *end); /* where the file has data at or after `at`; *end is its end. NULL:
                                        * holes are unknown */
  void *user;
  uint64_t asked, bytes_from, bytes_to;         /* the first data at or after `asked` */
  uint64_t large_asked, large_begin, large_end; /* the first large hole at or after `large_asked` */
};

/* The first place at or after `at` that is not in a hole, at most `end`. */
uint64_t kymo_holes_pass(struct kymo_holes *holes, uint64_t at, uint64_t end);
/* Returns where the first large hole at or after `at` begins (`at` if that is inside of one), or `end` if
 * there is none. holes->large_end: where it ends. */
uint64_t kymo_holes_large(struct kymo_holes *holes, uint64_t at, uint64_t end);
/* The file has changed. */
void kymo_holes_forget(struct kymo_holes *holes);

#endif
