/* SPDX-License-Identifier: MIT */
/*
 * The file of samples is a perf.data (format/perf/file.h): header, attr, data, features. While it is written
 * the size of its data is 0.
 */
#ifndef KYMO_LIVE_SAMPLES_FILE_H
#define KYMO_LIVE_SAMPLES_FILE_H

#include "base/strbuf.h"
#include "live/samples/events.h"
#include "ring/clock.h"

/* Where the data begins. */
#define KYMO_SAMPLING_DATA_AT (104 + sizeof(struct perf_event_attr) + 16)

/* Header and attr. `data_bytes` 0: it is being written; `features`: they follow the data. */
void kymo_sampling_put_head(struct kymo_strbuf *out, const struct kymo_sampling_events *events,
                            uint64_t data_bytes, bool features);
/* The features, and their table before them, which are at `at` in the file. */
void kymo_sampling_put_features(struct kymo_strbuf *out, const struct kymo_sampling_events *events,
                                const struct kymo_session_clock *clock, uint64_t at);
/* A record that ends a round: those after the next one are later than those before this one. */
void kymo_sampling_put_round(struct kymo_strbuf *out);
/* A number of samples that were lost before a time, as nothing else in the data shows. */
void kymo_sampling_put_lost(struct kymo_strbuf *out, uint64_t count, uint64_t time);
/* Records without a time that say where the kernel's code is … */
void kymo_sampling_put_kernel(struct kymo_strbuf *out);
/* … the name of a thread that runs already, … */
void kymo_sampling_put_thread(struct kymo_strbuf *out, int pid, int tid);
/* … and which files a process has loaded. */
void kymo_sampling_put_modules(struct kymo_strbuf *out, int pid);

#endif
