/* SPDX-License-Identifier: MIT */
/*
 * The pools in a directory: looking at them, and removing those of dead processes.
 *
 * Other users may write to that directory, or to its contents, while root reads it. Each file is opened
 * relative to a descriptor of its directory, without following symbolic links or blocking on a FIFO, and is
 * used only if it has the expected type and owner. Headers are read, not mapped, since files may shrink.
 */
#ifndef KYMO_RING_POOLS_H
#define KYMO_RING_POOLS_H

#include "ring/life.h"
#include "ring/places.h"
#include <sys/types.h>
#include <time.h>

struct kymo_pool_seen {
  char path[KYMO_PATH_MAX]; /* of the pool's directory */
  const char *name;         /* its last part */
  int parent, directory;    /* descriptors: of the directory that contains the pool, and of the pool */
  uint64_t device, inode;   /* of the directory */
  uid_t owner;
  struct kymo_pool_header header;
  enum kymo_life life;
  bool is_recorded;        /* a recorder empties it, or will */
  const char *odd;         /* why it is not removed, or NULL */
  uint64_t bytes;          /* of memory or disk */
  struct timespec changed; /* the newest time of its files */
};

/* Borrowed for the call. False ends the visit. */
typedef bool kymo_pool_visitor(void *user, const struct kymo_pool_seen *seen);

/* Visits the pools in `base`, and one level deeper if `deep`: in directories of recorders, which are removed
 * if the visit has emptied them. `base` may be a pool itself. Pools of other users are left out, except for
 * root. False with errno if `base` cannot be opened. */
bool kymo_pools_visit(const char *base, bool deep, kymo_pool_visitor *visitor, void *user);

/* Removes the pool, with the files that pools have. False with errno. */
bool kymo_pool_remove(const struct kymo_pool_seen *seen);

/* Removes a pool's directory with its known files: one of the caller, or for root of any owner.
 * Async-signal-safe. */
void kymo_pool_delete(const char *directory);

/*
 * Removes the caller's pools of dead processes in `base`, all but the newest `keep` of them; only those of
 * the program `name`, if not NULL, else one level deeper too. Returns how many were removed.
 */
size_t kymo_pool_clean(const char *base, const char *name, size_t keep);

#endif
