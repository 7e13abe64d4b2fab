/* SPDX-License-Identifier: MIT */
/* How far an input gets: a target counts what it reaches after all checks, an event, a symbol, an entry of
 * an index. A fuzzer does not show that a seed reaches nothing; tests/seeds finds such seeds by replay_NAME
 * --reached. */
#ifndef KYMO_FUZZ_REACHED_H
#define KYMO_FUZZ_REACHED_H

/* One in each program, of the target or of replay.c. */
unsigned long fuzz_reached __attribute__((weak));

#endif
