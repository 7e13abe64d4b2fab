/* SPDX-License-Identifier: MIT */
/*
 * The session's clock: the processor's counter where it runs at a constant rate in all states, else
 * CLOCK_MONOTONIC. The rate of the counter is measured once per boot for the whole machine and kept beside
 * the pools, so that the traces of all processes agree. The real time of the clock's value 0 is fixed when
 * the trace begins.
 */
#ifndef KYMO_RECORD_CLOCK_H
#define KYMO_RECORD_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

enum kymo_clock_choice { KYMO_CLOCK_COUNTER, KYMO_CLOCK_MONOTONIC, KYMO_CLOCK_NONE };

struct kymo_session_clock {
  bool is_counter;
  bool is_none;           /* events have no time: it is 0 */
  uint64_t frequency;     /* Hz */
  int64_t offset_seconds; /* value 0 is this long after the epoch … */
  uint64_t offset_cycles; /* … plus these cycles */
};

/* Chooses the clock and measures it. `directory` keeps this machine's calibration, or is NULL. */
void kymo_session_clock_start(struct kymo_session_clock *clock, enum kymo_clock_choice choice,
                              const char *directory);
/* Its current value. Async-signal-safe. */
uint64_t kymo_session_clock_read(const struct kymo_session_clock *clock);

#endif
