/* SPDX-License-Identifier: MIT */
#include "live/samples/drain.h"
#include "base/fail.h"
#include "live/beside.h"
#include "live/recording.h"
#include "live/samples/file.h"
#include "live/samples/once.h"
#include "live/sync.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A sample with a long call chain; the part of a ring that may be full when it is drained. */
enum { LARGE_SAMPLE = 1024, PART = 4, PAUSE_LEAST_MS = 2, PAUSE_MOST_MS = 200, SECOND_NS = 1000000000 };

struct kymo_sampling_drain {
  struct kymo_sampling_drain_options options;
  char path[KYMO_PATH_MAX + 16];
  int file, clocks;
  uint64_t at;   /* where the file ends */
  uint8_t *copy; /* of what a ring holds */
  struct kymo_sampling_once once;
  uint64_t samples, losses;                     /* in the file; and losses that its records show */
  uint64_t unwritten_samples, unwritten_losses; /* the same of records that could not be written */
  struct kymo_beside_thread thread;
  int64_t clocks_ns;         /* when to note the clocks next */
  struct kymo_error failure; /* the first one; code 0: none */
};

/* ---- the file ---- */

/* Writes bytes at the end. False: not all, and they are not in the file. */
static bool append(struct kymo_sampling_drain *drain, const void *bytes, size_t size) {
  for (size_t done = 0; done < size;) {
    ssize_t written = pwrite(drain->file, (const char *)bytes + done, size - done, (off_t)(drain->at + done));
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0) {
      if (!drain->failure.code)
        kymo_fail_errno(&drain->failure, drain->path, "cannot write");
      return false;
    }
    done += (size_t)written;
  }
  drain->at += size;
  return true;
}

static int write_head(struct kymo_sampling_drain *drain, uint64_t data_bytes, bool features,
                      struct kymo_error *error) {
  struct kymo_strbuf head = {0};
  kymo_sampling_put_head(&head, drain->options.events, data_bytes, features);
  int status = head.failed ? kymo_fail(error, KYMO_E_MEMORY, "out of memory")
               : pwrite(drain->file, head.text, head.length, 0) != (ssize_t)head.length
                   ? kymo_fail_errno(error, drain->path, "cannot write")
                   : KYMO_OK;
  kymo_strbuf_free(&head);
  return status;
}

int kymo_sampling_drain_new(struct kymo_sampling_drain **out,
                            const struct kymo_sampling_drain_options *options, struct kymo_error *error) {
  struct kymo_sampling_drain *drain = *out = calloc(1, sizeof *drain);
  if (!drain)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  drain->options = *options;
  drain->file = drain->clocks = -1;
  drain->at = KYMO_SAMPLING_DATA_AT;
  int status = kymo_beside_thread_new(&drain->thread, error);
  if (status)
    return status;
  snprintf(drain->path, sizeof drain->path, "%s/perf.data", options->directory);
  drain->file = open(drain->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (drain->file < 0)
    return kymo_fail_errno(error, drain->path, "cannot write");
  status = write_head(drain, 0, false, error);
  return status ? status
                : kymo_beside_begin_clocks(options->directory, options->clock, &drain->clocks, error);
}

/* ---- moving ---- */

/* Counts the samples in whole records, and the losses that they show. */
static void count_records(const uint8_t *bytes, size_t size, uint64_t *samples, uint64_t *losses) {
  for (size_t at = 0; at + sizeof(struct perf_event_header) <= size;) {
    struct perf_event_header head;
    uint64_t lost = 0;
    memcpy(&head, bytes + at, sizeof head);
    if (head.size < sizeof head || head.size > size - at)
      return;
    *samples += head.type == PERF_RECORD_SAMPLE;
    if (head.type == PERF_RECORD_LOST && head.size >= sizeof head + 16)
      memcpy(&lost, bytes + at + sizeof head + 8, sizeof lost);
    *losses += lost;
    at += head.size;
  }
}

/* Copies what a ring holds; *head is its end. Returns how much. */
static size_t copy_ring(const struct kymo_sampling_drain *drain, const struct kymo_sampling_ring *ring,
                        uint64_t *head) {
  *head = __atomic_load_n(&ring->head->data_head, __ATOMIC_ACQUIRE); /* partner: the kernel */
  uint64_t tail = ring->head->data_tail;
  size_t size = (size_t)(*head - tail), from = (size_t)(tail & (ring->size - 1));
  size_t first = size < ring->size - from ? size : (size_t)ring->size - from;
  memcpy(drain->copy, ring->data + from, first);
  memcpy(drain->copy + first, ring->data, size - first);
  return size;
}

/* What a ring holds goes to the file; at the end what cannot be written is lost. Returns whether there was
 * anything. */
static bool move_ring(struct kymo_sampling_drain *drain, const struct kymo_sampling_ring *ring,
                      bool is_last) {
  const struct kymo_sampling_events *events = drain->options.events;
  uint64_t head;
  size_t held = copy_ring(drain, ring, &head), size = held;
  if (events->attr.sample_type & PERF_SAMPLE_IDENTIFIER)
    size = kymo_sampling_once_take(&drain->once, drain->copy, held, events->may_repeat);
  if (held && append(drain, drain->copy, size)) {
    count_records(drain->copy, size, &drain->samples, &drain->losses);
  } else if (held && is_last) {
    count_records(drain->copy, size, &drain->unwritten_samples, &drain->unwritten_losses);
  } else {
    return false;
  }
  __atomic_store_n(&ring->head->data_tail, head, __ATOMIC_RELEASE); /* partner: the kernel */
  return true;
}

static void move_rings(struct kymo_sampling_drain *drain, bool is_last) {
  const struct kymo_sampling_events *events = drain->options.events;
  struct kymo_strbuf round = {0};
  bool is_any = false;
  for (size_t i = 0; i < events->ring_count; i++)
    is_any |= move_ring(drain, &events->rings[i], is_last);
  kymo_sampling_put_round(&round);
  if (is_any && !round.failed)
    append(drain, round.text, round.length);
  kymo_strbuf_free(&round);
}

static void note_clocks(struct kymo_sampling_drain *drain) {
  if (!kymo_beside_note_clocks(drain->clocks, drain->options.clock) && !drain->failure.code)
    kymo_fail_errno(&drain->failure, drain->options.directory, "cannot write the clocks");
}

static void keep_time(struct kymo_sampling_drain *drain) {
  int64_t now = kymo_recording_now_ns();
  struct kymo_error error = {.code = KYMO_OK};
  if (now < drain->clocks_ns)
    return;
  drain->clocks_ns = now + SECOND_NS;
  note_clocks(drain);
  if (drain->options.sync && kymo_sync(drain->options.directory, &error) && !drain->failure.code)
    drain->failure = error;
}

/* ---- the thread ---- */

/* The time in which the smallest ring fills by a part, if each sample is large. */
static int find_pause(const struct kymo_sampling_events *events) {
  uint64_t least = UINT64_MAX;
  for (size_t i = 0; i < events->ring_count; i++)
    least = events->rings[i].size < least ? events->rings[i].size : least;
  uint64_t ms = least / PART / LARGE_SAMPLE * 1000 / events->attr.sample_freq;
  return ms < PAUSE_LEAST_MS ? PAUSE_LEAST_MS : ms > PAUSE_MOST_MS ? PAUSE_MOST_MS : (int)ms;
}

static void *work(void *argument) {
  struct kymo_sampling_drain *drain = argument;
  int pause_ms = find_pause(drain->options.events);
  do {
    move_rings(drain, false);
    keep_time(drain);
  } while (!kymo_beside_thread_wait(&drain->thread, pause_ms));
  return NULL;
}

int kymo_sampling_drain_begin(struct kymo_sampling_drain *drain, const char *records, size_t size,
                              struct kymo_error *error) {
  const struct kymo_sampling_events *events = drain->options.events;
  size_t most = 0;
  for (size_t i = 0; i < events->ring_count; i++)
    most = events->rings[i].size > most ? (size_t)events->rings[i].size : most;
  if (!(drain->copy = malloc(most + 1)))
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (!append(drain, records, size)) {
    if (error)
      *error = drain->failure;
    return drain->failure.code;
  }
  return kymo_beside_thread_begin(&drain->thread, work, drain, error);
}

/* ---- the end ---- */

/* Counts all losses. Those that no record shows, since nothing was recorded after them, become the last
 * record. */
static void count_lost(struct kymo_sampling_drain *drain, struct kymo_sampling_count *count) {
  struct kymo_strbuf record = {0};
  uint64_t lost = kymo_sampling_events_lost(drain->options.events);
  if (lost < drain->losses + drain->unwritten_losses) /* this kernel does not count */
    lost = drain->losses + drain->unwritten_losses;
  *count = (struct kymo_sampling_count){
      .samples = drain->samples, .shown = drain->losses, .lost = lost + drain->unwritten_samples};
  if (count->lost == count->shown)
    return;
  kymo_sampling_put_lost(&record, count->lost - count->shown, kymo_session_clock_read(drain->options.clock));
  if (!record.failed && append(drain, record.text, record.length))
    count->shown = count->lost;
  kymo_strbuf_free(&record);
}

/* The features after the data, if there is space for them, and the size of the data. */
static int complete(struct kymo_sampling_drain *drain, struct kymo_error *error) {
  struct kymo_strbuf features = {0};
  uint64_t data_end = drain->at;
  kymo_sampling_put_features(&features, drain->options.events, drain->options.clock, data_end);
  bool has_features = !features.failed && append(drain, features.text, features.length);
  kymo_strbuf_free(&features);
  int status = ftruncate(drain->file, (off_t)drain->at)
                   ? kymo_fail_errno(error, drain->path, "cannot cut")
                   : write_head(drain, data_end - KYMO_SAMPLING_DATA_AT, has_features, error);
  if (status == KYMO_OK && drain->failure.code && error)
    *error = drain->failure;
  return status ? status : drain->failure.code;
}

int kymo_sampling_drain_end(struct kymo_sampling_drain *drain, struct kymo_sampling_count *count,
                            struct kymo_error *error) {
  kymo_beside_thread_end(&drain->thread);
  if (drain->copy)
    move_rings(drain, true);
  note_clocks(drain);
  count_lost(drain, count);
  return complete(drain, error);
}

void kymo_sampling_drain_free(struct kymo_sampling_drain *drain) {
  if (!drain)
    return;
  kymo_beside_thread_free(&drain->thread);
  if (drain->file >= 0)
    close(drain->file);
  if (drain->clocks >= 0)
    close(drain->clocks);
  kymo_sampling_once_free(&drain->once);
  free(drain->copy);
  free(drain);
}
