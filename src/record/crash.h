/* SPDX-License-Identifier: MIT */
/*
 * Marking the pool of a process that a fatal signal kills, for a flight recorder that waits for crashes
 * (KYMO_CRASH=mark): only the parent learns from the kernel how a process has ended, and that is not the
 * recorder.
 */
#ifndef KYMO_RECORD_CRASH_H
#define KYMO_RECORD_CRASH_H

/* Takes the fatal signals that nobody has taken. A program that takes them later keeps its own handlers. */
void kymo_crash_watch(void);

#endif
