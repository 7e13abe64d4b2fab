/* SPDX-License-Identifier: MIT */
/*
 * The indexes in the user's cache, `view-HASH`. A process holds a shared lock on each one that it uses; one
 * without a lock may be removed by any process. Their time of change is when they were used last.
 */
#ifndef KYMO_VIEW_KEPT_H
#define KYMO_VIEW_KEPT_H

#include <stdbool.h>
#include <stdint.h>

/* An open index is used from now on, until it is closed. False: it is being removed. */
bool view_kept_use(int fd);
/* Removes indexes that no process uses, those used last the longest ago first, until all have at most this
 * number of bytes. What cannot be removed stays. */
void view_kept_trim(const char *folder, uint64_t most);

#endif
