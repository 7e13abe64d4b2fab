/* SPDX-License-Identifier: MIT */
/* Draining samples: a thread copies what the rings of all processors hold to the file, in rounds. */
#ifndef KYMO_LIVE_SAMPLES_DRAIN_H
#define KYMO_LIVE_SAMPLES_DRAIN_H

#include "live/samples/events.h"
#include "ring/clock.h"

struct kymo_sampling_drain;

struct kymo_sampling_drain_options {
  const char *directory; /* which is there; live until the end */
  const struct kymo_sampling_events *events;
  const struct kymo_session_clock *clock;
  bool sync; /* force what is written to the disk every second */
};

/* What was drained. */
struct kymo_sampling_count {
  uint64_t samples; /* in the file */
  uint64_t shown;   /* losses that records in the file show */
  uint64_t lost;    /* all of them */
};

/* Makes the file; nothing is drained yet. *drain is to be freed in any case. */
int kymo_sampling_drain_new(struct kymo_sampling_drain **drain,
                            const struct kymo_sampling_drain_options *options, struct kymo_error *error);
/* Starts the thread. First writes records that describe what runs already. */
int kymo_sampling_drain_begin(struct kymo_sampling_drain *drain, const char *records, size_t size,
                              struct kymo_error *error);
/* Ends the thread, takes what is left and completes the file. Nothing may be sampled any more. The result is
 * the first failure of writing. */
int kymo_sampling_drain_end(struct kymo_sampling_drain *drain, struct kymo_sampling_count *count,
                            struct kymo_error *error);
/* Closes the file. */
void kymo_sampling_drain_free(struct kymo_sampling_drain *drain);

#endif
