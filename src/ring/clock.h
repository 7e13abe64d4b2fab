/* SPDX-License-Identifier: MIT */
/*
 * The session's clock: the processor's counter where it runs at a constant rate in all states, else
 * CLOCK_MONOTONIC. The rate of the counter is measured once per boot for the whole machine and kept beside
 * the pools, so that the traces of all processes agree. The real time of the clock's value 0 is fixed when
 * the trace begins.
 */
#ifndef KYMO_RING_CLOCK_H
#define KYMO_RING_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
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

/*
 * The origin of a recording's clock, as text: "counter 2499998765 1700000000 123456" (or "monotonic …"), the
 * clock, its frequency and offset, and the id of the boot. Programs that take the same origin have the same
 * times for the same values, to the last cycle; those that measure it themselves differ by the error of
 * measuring.
 */
#define KYMO_CLOCK_ORIGIN_MAX 160
/* Returns the length, without the zero. */
size_t kymo_session_clock_put_origin(const struct kymo_session_clock *clock, char out[KYMO_CLOCK_ORIGIN_MAX]);
/* Takes frequency and offset from a text if it is an origin of this kind of clock, and of this boot unless
 * `any_boot`. Else nothing changes, and the result is false. */
bool kymo_session_clock_take_origin(struct kymo_session_clock *clock, const char *text, bool any_boot);
/* Its current value. Async-signal-safe. */
uint64_t kymo_session_clock_read(const struct kymo_session_clock *clock);

#endif
