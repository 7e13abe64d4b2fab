/* SPDX-License-Identifier: MIT */
/* Finding the rings of a process. */
#ifndef KYMO_LIVE_FIND_H
#define KYMO_LIVE_FIND_H

#include "ring/places.h"
#include <kymo/error.h>

/*
 * The directory of the pool of a running process, found without its help, or else of a dead one: the newest
 * of that pid in KYMO_RINGS or in the default directories; for root, of any user. KYMO_E_UNKNOWN;
 * KYMO_E_ABSENT if another process has the pid by now, and only the earlier one left rings: the message
 * contains them.
 */
int kymo_find_pool(char out[KYMO_PATH_MAX], int pid, struct kymo_error *error);

/* Calls `visitor` with each directory where pools of the caller may be, for root those of all users, until it
 * returns true: KYMO_RINGS and the default places; some may come twice. */
void kymo_find_places(kymo_place_visitor *visitor, void *user);

#endif
