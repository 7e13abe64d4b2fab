/* SPDX-License-Identifier: MIT */
/* Where pools and saved traces lie. */
#ifndef KYMO_RING_PLACES_H
#define KYMO_RING_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KYMO_PATH_MAX = 1024 };

/*
 * The directory of all pools: `asked` (KYMO_RINGS) if not NULL, else kymo/ under XDG_RUNTIME_DIR, else
 * /dev/shm/kymo-UID; made with mode 0700 if it is missing. The last two must belong to the user alone. False
 * with errno.
 */
bool kymo_pool_base(char out[KYMO_PATH_MAX], const char *asked);

/*
 * Makes the directory of a new trace: `asked` (which must be missing or empty), else
 * NAME-yyyy-mm-dd-[AP]M-hh-mm-ss under `parent` (KYMO_OUT), else under $HOME/kymo-traces. False with errno
 * (ENOTEMPTY …).
 */
bool kymo_trace_place(char out[KYMO_PATH_MAX], const char *asked, const char *parent, const char *name);

/* Removes a pool's directory with what is known to lie in it. */
void kymo_pool_delete(const char *directory);

/*
 * Removes the pools of dead processes under `base`, all but the newest `keep` of them; only those of the
 * program `name`, if not NULL. Looks one level deeper where a recorder has made a directory of its own.
 * Returns how many were removed.
 */
size_t kymo_pool_clean(const char *base, const char *name, size_t keep);

#endif
