/* SPDX-License-Identifier: MIT */
/*
 * A saved trace is evidence: when kymo says that it is there it must survive a machine that goes down. The
 * system keeps what is written for half a minute before it reaches the disk.
 */
#ifndef KYMO_LIVE_SYNC_H
#define KYMO_LIVE_SYNC_H

#include <kymo/error.h>

/* Forces all files of a directory, its directories and its own entry to the disk. Symbolic links are not
 * followed. KYMO_E_SYSTEM with the first file of which that fails; the others are tried. File systems that
 * have nothing to force are fine. */
int kymo_sync(const char *directory, struct kymo_error *error);

#endif
