/* SPDX-License-Identifier: MIT */
/* The directories of pools and saved traces. */
#ifndef KYMO_RING_PLACES_H
#define KYMO_RING_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KYMO_PATH_MAX = 1024 };

/*
 * The directory of all pools: `asked` (KYMO_RINGS) if not NULL, else kymo/ under XDG_RUNTIME_DIR, else
 * /dev/shm/kymo-UID, else /tmp/kymo-UID; created with mode 0700 if it is missing. All but `asked` belong to
 * the user alone. If another user has taken the name kymo-UID, kymo-UID-XXXXXX is used instead. False with
 * errno; `out` is then the directory that was wanted.
 */
bool kymo_pool_base(char out[KYMO_PATH_MAX], const char *asked);
/* Whether another user has taken kymo-UID: `out`, and its owner. */
bool kymo_place_is_taken(char out[KYMO_PATH_MAX], unsigned *owner);
/* Calls `visitor` with each directory where pools and sockets of the caller may be by default, until it
 * returns true. */
typedef bool kymo_place_visitor(void *user, const char *directory);
void kymo_places_visit(kymo_place_visitor *visitor, void *user);

/*
 * Control sockets: PREFIX followed by the pid, in one of the same directories of the user alone. `place`
 * counts them from 0; false if there is no such place, it cannot be created (`make`), belongs to another
 * user, or its name is too long for a socket.
 */
#define KYMO_CONTROL_PREFIX "control-"
enum { KYMO_CONTROL_PLACES = 3, KYMO_CONTROL_PATH_MAX = 108 };
bool kymo_control_directory(char out[KYMO_CONTROL_PATH_MAX], int place, bool make);
/* Removes the sockets in `directory` whose process does not exist any more; returns how many. A number may be
 * of another PID namespace, so a socket whose number is in use here is also removed if no process listens on
 * it; but not in its first minute as of `now` (time(2)), since it may be bound and not listening yet. */
size_t kymo_control_clean(const char *directory, int64_t now);

/*
 * Creates the directory of a new trace: `asked` (which must be missing or empty), else
 * NAME-yyyy-mm-dd-[AP]M-hh-mm-ss under `parent` (KYMO_OUT), else under $HOME/kymo-traces. False with errno
 * (ENOTEMPTY …); `out` is then the directory that was wanted, possibly cut, so that errors can name it.
 */
bool kymo_trace_place(char out[KYMO_PATH_MAX], const char *asked, const char *parent, const char *name);

#endif
