/* SPDX-License-Identifier: MIT */
/* The rings of live and dead processes, wherever pools are, and how their processes ended. */
#ifndef KYMO_LIVE_RINGS_H
#define KYMO_LIVE_RINGS_H

#include "ring/exits.h"
#include "ring/places.h"
#include "ring/pools.h"
#include "ring/ring.h"
#include <stddef.h>

struct kymo_rings {
  char path[KYMO_PATH_MAX];       /* of the pool's directory */
  char program[KYMO_PROGRAM_MAX]; /* its name */
  int pid;                        /* its own number, or the caller's if that is known */
  bool is_dead;
  int64_t age_ns; /* since the last change of its files */
  uint64_t bytes;
  unsigned owner;
  uint64_t device, inode;
  char end[KYMO_EXIT_TEXT_MAX]; /* "runs", or how it ended */
};

struct kymo_rings_list {
  struct kymo_rings *list;
  size_t count, room;
  bool failed;
};

/* All rings that the caller may read, by age, the newest first; the list is to be freed. False: out of
 * memory. */
bool kymo_rings_find(struct kymo_rings_list *rings);
void kymo_rings_free(struct kymo_rings_list *rings);

/* The time since the pool was changed. */
int64_t kymo_pool_age_ns(const struct kymo_pool_seen *seen);

#endif
