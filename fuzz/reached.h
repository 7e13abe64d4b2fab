/* SPDX-License-Identifier: MIT */
/* How far an input came: a target counts what it reached after all checks, an event, a symbol, an entry of an
 * index. Seeds that come to nothing look as good as others in a fuzzer; tests/seeds asks replay_NAME
 * --reached which are worth their place. */
#ifndef KYMO_FUZZ_REACHED_H
#define KYMO_FUZZ_REACHED_H

/* One in each program, of the target or of replay.c. */
unsigned long fuzz_reached __attribute__((weak));

#endif
