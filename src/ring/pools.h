/* SPDX-License-Identifier: MIT */
/*
 * The pools in a directory: looking at them, and removing those of dead processes.
 *
 * Others may write to that directory, or to what is in it, while root looks. Everything is opened relative to
 * a descriptor of the directory that it is in, follows no symbolic link, waits for no FIFO, and is used only
 * if it has the type and the owner that it should have. Headers are read, not mapped, since files may shrink.
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
  int parent, directory;    /* descriptors: of what the pool is in, and of the pool */
  uint64_t device, inode;   /* of the directory */
  uid_t owner;
  struct kymo_pool_header header;
  enum kymo_life life;
  bool is_recorded;        /* somebody empties it, or will */
  const char *odd;         /* why it is not removed, or NULL */
  uint64_t bytes;          /* of memory or disk */
  struct timespec changed; /* the newest time of its files */
};

/* Borrowed for the call. False ends the visit. */
typedef bool kymo_pool_visitor(void *user, const struct kymo_pool_seen *seen);

/* Visits the pools in `base`, and one level deeper where `deep`: in directories of recorders, which are
 * removed when they have become empty by the visit. `base` may be a pool itself. Pools of other users are
 * left out, but for root. False with errno if `base` cannot be opened. */
bool kymo_pools_visit(const char *base, bool deep, kymo_pool_visitor *visitor, void *user);

/* Removes it, with the files that pools have. False with errno. */
bool kymo_pool_remove(const struct kymo_pool_seen *seen);

/* Removes a pool's directory with what is known to be in it: of the caller, or for root of any owner.
 * Async-signal-safe. */
void kymo_pool_delete(const char *directory);

/*
 * Removes the caller's pools of dead processes in `base`, all but the newest `keep` of them; only those of
 * the program `name`, if not NULL, else one level deeper too. Returns how many were removed.
 */
size_t kymo_pool_clean(const char *base, const char *name, size_t keep);

#endif
