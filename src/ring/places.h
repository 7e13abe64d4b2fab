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
 * /dev/shm/kymo-UID, else /tmp/kymo-UID; made with mode 0700 if it is missing. All but `asked` belong to the
 * user alone. Where another user has taken the name kymo-UID, kymo-UID-XXXXXX serves instead. False with
 * errno; `out` then is the directory that was wanted.
 */
bool kymo_pool_base(char out[KYMO_PATH_MAX], const char *asked);
/* Whether somebody else has taken kymo-UID: `out`, and its owner. */
bool kymo_place_is_taken(char out[KYMO_PATH_MAX], unsigned *owner);
/* Calls `visitor` with each directory where pools and sockets of the caller may be by default, until it
 * returns true. */
typedef bool kymo_place_visitor(void *user, const char *directory);
void kymo_places_visit(kymo_place_visitor *visitor, void *user);

/*
 * Control sockets: PREFIX followed by the pid, in one of the same directories of the user alone. `place`
 * counts them from 0; false if there is no such place, it cannot be made (`make`), belongs to somebody else,
 * or its name is too long for a socket.
 */
#define KYMO_CONTROL_PREFIX "control-"
enum { KYMO_CONTROL_PLACES = 3, KYMO_CONTROL_PATH_MAX = 108 };
bool kymo_control_directory(char out[KYMO_CONTROL_PATH_MAX], int place, bool make);
/* Removes the sockets in `directory` after which there is no process any more; returns how many. A number may
 * be of another PID namespace, so one that a process has here is removed too if nobody listens; but not in
 * its first minute as of `now` (time(2)), since it may be bound and not listening yet. */
size_t kymo_control_clean(const char *directory, int64_t now);

/*
 * Makes the directory of a new trace: `asked` (which must be missing or empty), else
 * NAME-yyyy-mm-dd-[AP]M-hh-mm-ss under `parent` (KYMO_OUT), else under $HOME/kymo-traces. False with errno
 * (ENOTEMPTY …); `out` then is the directory that was wanted, perhaps cut, so that errors name it.
 */
bool kymo_trace_place(char out[KYMO_PATH_MAX], const char *asked, const char *parent, const char *name);

#endif
