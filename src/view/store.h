/* SPDX-License-Identifier: MIT */
/*
 * A file that is mapped into memory and grows at its end. What is in it is known by its offset, since the
 * mapping moves when it grows. Its pages are the system's to write and to drop, so a view of any size needs
 * little memory of its own.
 */
#ifndef KYMO_VIEW_STORE_H
#define KYMO_VIEW_STORE_H

#include <kymo/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VIEW_STORE_SLACK 8 /* bytes after the last used one that may be read, too */

/* Blocks are taken in units of these bytes; there is a list of free places for each number of units. */
enum { VIEW_STORE_UNIT = 64, VIEW_STORE_LISTS = 64 };

struct kymo_guard;
struct view_store {
  int fd;
  uint8_t *base;
  uint64_t mapped, used;           /* bytes */
  uint64_t free[VIEW_STORE_LISTS]; /* the first free place of each list, + 1; the last list: or larger … */
  uint64_t has_free;               /* … and a bit for each list that is not empty */
  struct kymo_guard *guard;        /* of a file that others may cut; or NULL */
};

/* An empty store in the open file `fd`, which becomes the store's. KYMO_E_SYSTEM. */
int view_store_begin(struct view_store *store, int fd, struct kymo_error *error);
/* An empty store in a file without a name, in the folder for temporary files. KYMO_E_SYSTEM. */
int view_store_temporary(struct view_store *store, struct kymo_error *error);
/* A store of the bytes that the open file `fd` has, to be read only. KYMO_E_SYSTEM, KYMO_E_FORMAT if it is
 * empty. The descriptor becomes the store's in any case. */
int view_store_map(struct view_store *store, int fd, struct kymo_error *error);
/* Room for `bytes` more, zeroed; its offset, a multiple of eight. UINT64_MAX: the file cannot grow. */
uint64_t view_store_add(struct view_store *store, uint64_t bytes);
/* The same for whole units, which may have been given back: they are not zeroed. */
uint64_t view_store_take(struct view_store *store, uint64_t bytes);
/* Gives back a place, or several that follow one another, so that they are taken again. */
void view_store_give(struct view_store *store, uint64_t at, uint64_t bytes);
/* Gives back what the file has beyond its used bytes and the slack. False: it cannot. */
bool view_store_shrink(struct view_store *store);
/* From now on the file has a name, and others may cut it; it does not grow any more. */
void view_store_guard(struct view_store *store);
/* Whether bytes of a guarded file were missing when they were read: it was cut meanwhile. */
bool view_store_is_cut(const struct view_store *store);
/* Closes the file and unmaps it; a store that was never begun may be all zeros. */
void view_store_end(struct view_store *store);

#endif
