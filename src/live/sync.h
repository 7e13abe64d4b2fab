/* SPDX-License-Identifier: MIT */
/*
 * A saved trace is evidence: after kymo has reported it, it must survive a crash of the machine. The system
 * keeps written data for half a minute before it reaches the disk.
 */
#ifndef KYMO_LIVE_SYNC_H
#define KYMO_LIVE_SYNC_H

#include <kymo/error.h>

/* Forces all files of a directory, its directories and its own entry to the disk. Symbolic links are not
 * followed. KYMO_E_SYSTEM with the first file for which that fails; the others are tried. File systems
 * without this operation are not an error. */
int kymo_sync(const char *directory, struct kymo_error *error);

#endif
