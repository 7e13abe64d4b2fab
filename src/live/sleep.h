/* SPDX-License-Identifier: MIT */
/*
 * Sleeping while nothing is recorded. A reader that empties rings looks at them every few milliseconds. After
 * some looks without anything it sleeps longer, and the recorder wakes it:
 *
 *   reader                                    recorder
 *   header.waits = 1                          closes a packet
 *   looks at the rings once more              header.waits was 1: stores 0, wakes by futex
 *   sleeps: poll(…, sleep.woken, …)
 *
 * Both have a full barrier between their two steps, so one of them sees what the other has done. Nothing can
 * wait for futexes and descriptors together, so a thread waits for the futexes of all pools and raises an
 * eventfd. Where there is no such thread (an older kernel, a pool of an older recorder, too many pools), the
 * reader does not sleep.
 */
#ifndef KYMO_LIVE_SLEEP_H
#define KYMO_LIVE_SLEEP_H

#include "ring/layout.h"
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

/* How long a sleep is: open packets are collected every 250 ms. */
enum { KYMO_SLEEP_MS = 130 };

struct kymo_sleep {
  struct kymo_sleeper *sleeper; /* NULL before the first sleep */
  int changes;                  /* reports new pools in a directory; -1: there is none */
  unsigned quiet;               /* looks without anything in a row */
  bool is_off;                  /* it cannot be done */
};

/* `rings`: a directory in which pools appear, or NULL. */
void kymo_sleep_begin(struct kymo_sleep *sleep, const char *rings);
/* After a look at the rings that found nothing: whether there were enough of them for a sleep. */
bool kymo_sleep_is_due(struct kymo_sleep *sleep);
/* Asks the recorder of a pool, which is mapped for writing, to wake the sleeper. False: it cannot. */
bool kymo_sleep_ask(struct kymo_sleep *sleep, struct kymo_pool_header *header);
/* Begins to wait for the pools that were asked since the last call; false: no sleep. */
bool kymo_sleep_arm(struct kymo_sleep *sleep);
/* Something was found: there will be short pauses for a while. */
static inline void kymo_sleep_end(struct kymo_sleep *sleep) { sleep->quiet = 0; }

/* Adds KYMO_SLEEP_FDS descriptors to a list for poll, and looks at them afterwards. */
enum { KYMO_SLEEP_FDS = 2 };
void kymo_sleep_fds(const struct kymo_sleep *sleep, struct pollfd fds[KYMO_SLEEP_FDS]);
void kymo_sleep_polled(struct kymo_sleep *sleep, const struct pollfd fds[KYMO_SLEEP_FDS]);

void kymo_sleep_free(struct kymo_sleep *sleep);

#endif
