/* SPDX-License-Identifier: MIT */
/*
 * Marks the pool of a process that a fatal signal kills, for a flight recorder that waits for crashes
 * (KYMO_CRASH=mark): the kernel reports the end of a process only to its parent, which the recorder is not.
 */
#ifndef KYMO_RECORD_CRASH_H
#define KYMO_RECORD_CRASH_H

/* Handles the fatal signals that have no handler. Handlers that a program installs later replace these. */
void kymo_crash_watch(void);

#endif
