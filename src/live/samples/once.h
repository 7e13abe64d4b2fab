/* SPDX-License-Identifier: MIT */
/*
 * Each record once. A thread that is found while others are being sampled already may have inherited events
 * of the thread that started it, for some processors or for all of them, and nothing says which. So it has
 * its own events as well, and it and whatever it starts may record everything twice: by the inherited event
 * and by the other one. Their ids differ. Of the records of a thread on a processor only those of one event
 * are kept: of the one that was seen first, or of the other one if the first one records no more. After the
 * end of a thread its number may be that of a new one.
 */
#ifndef KYMO_LIVE_SAMPLES_ONCE_H
#define KYMO_LIVE_SAMPLES_ONCE_H

#include "base/table.h"

struct kymo_sampling_seen;

/* All zeros: nothing is seen yet. */
struct kymo_sampling_once {
  struct kymo_sampling_seen *list;
  uint32_t count, capacity, cpus;
  struct kymo_hash_table table;
};

/* Removes the ids from whole records that the kernel wrote (PERF_SAMPLE_IDENTIFIER), and if `may_repeat`
 * those records that another event has recorded as well. Returns the size of what is left. */
size_t kymo_sampling_once_take(struct kymo_sampling_once *once, uint8_t *bytes, size_t size, bool may_repeat);
void kymo_sampling_once_free(struct kymo_sampling_once *once);

#endif
