/* SPDX-License-Identifier: MIT */
/*
 * Snapshots (kymo/live.h): what a process's rings hold, without asking the process, which may be stopped,
 * hung or dead. For the last seconds what is older is left out, to the event: the rings are read once to find
 * where to begin in each, and packets keep their numbers, and events their places in them, until they are
 * overwritten.
 */
#include "base/fail.h"
#include "base/sized.h"
#include "live/ctf2.h"
#include "ring/exits.h"
#include "live/find.h"
#include "live/flight.h"
#include "live/sync.h"
#include "ring/collect.h"
#include "ring/life.h"
#include <kymo/live.h>
#include <kymo/read.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct kymo_snapshot {
  struct kymo_snapshot_options options;
  char rings[KYMO_PATH_MAX], trace[KYMO_PATH_MAX];
  int64_t covered_ns; /* part of the requested last seconds in the rings of all threads; -1: all */
  bool is_overwritten; /* … because older events were overwritten, else because nothing was recorded before */
  bool is_written;     /* at least in part */
  bool is_opened;
  struct kymo_pool_view view;
  struct kymo_collector collector;
  char end[KYMO_EXIT_TEXT_MAX], left_out[1200];
};

/* ---- the last seconds ---- */

/* State of reading one ring. */
struct met {
  uint64_t sequence, events; /* of the packet, and before the event in it */
  bool is_found;
  uint64_t packet, before; /* place of its first event that is new enough */
  uint32_t offset;         /* bytes */
  bool has_first;
  uint64_t first_packet; /* its oldest event … */
  int64_t first_ns;      /* … and when that was */
};

static void meet(struct met *met, const struct kymo_event *event, int64_t since_ns) {
  if (event->packet->sequence != met->sequence) {
    met->sequence = event->packet->sequence;
    met->events = 0;
  }
  if (!met->has_first) {
    met->has_first = true;
    met->first_packet = met->sequence - 1; /* number 0 is the empty one before it */
    met->first_ns = event->time_ns;
  }
  if (!met->is_found && event->time_ns >= since_ns) {
    met->is_found = true;
    met->packet = met->sequence - 1; /* number 0 is the empty one before it */
    met->before = met->events;
    met->offset = (uint32_t)(event->offset_bits / 8);
  }
  met->events++;
}

static int meet_all(struct kymo_trace *trace, struct met *met, uint64_t count, int64_t since_ns) {
  struct kymo_error error;
  const struct kymo_event *event;
  int status;
  while ((status = kymo_trace_next(trace, &event, &error)) == KYMO_OK) {
    uint64_t instance = event->packet->stream->instance;
    if (instance < count && event->has_time && event->packet->sequence != UINT64_MAX)
      meet(&met[instance], event, since_ns);
  }
  return status < 0 ? status : KYMO_OK;
}

/* By cause, as known for the previous packet, or counted up to this one's end if there is none. */
static struct kymo_collect_lost lost_before(const struct kymo_ring_view *ring, uint64_t number,
                                            uint64_t first) {
  const struct kymo_packet_control *packet = &ring->packet[number & (ring->packets - 1)];
  const struct kymo_packet_control *before =
      &ring->packet[(number > first ? number - 1 : number) & (ring->packets - 1)];
  return (struct kymo_collect_lost){.discarded = packet->discarded_before,
                                    .large = before->discarded_large,
                                    .nested = before->discarded_nested};
}

static void start_ring(struct kymo_collector *c, uint32_t index, const struct met *met) {
  struct kymo_ring_view ring = kymo_pool_ring(c->pool, index / 2, index % 2);
  struct kymo_collect_start start = {.lost = kymo_collect_lost_now(&ring)};
  uint64_t first, end;
  kymo_ring_range(&ring, &first, &end);
  if (met->is_found && (met->packet < first || (met->packet == first && !met->before)))
    return; /* no event in the ring is too old */
  if (met->is_found) {
    const struct kymo_packet_control *packet = &ring.packet[met->packet & (ring.packets - 1)];
    start.packet = met->packet;
    start.word = (packet->first_event + met->before) << 16 | met->offset;
    start.lost = lost_before(&ring, met->packet, first);
  } else if (end) {
    start.packet = end - 1;
    start.word = kymo_ring_word(&ring, end - 1);
  } else
    return;
  kymo_collect_from(c, index, &start);
}

/* How much of the requested time the rings contain: for a thread whose older events were overwritten, only
 * the rest. */
static void measure(struct kymo_snapshot *snapshot, const struct met *met, uint32_t count, int64_t begin_ns,
                    int64_t end_ns) {
  int64_t since_ns = end_ns - snapshot->options.last_ns;
  if (begin_ns > since_ns)
    snapshot->covered_ns = end_ns - begin_ns;
  for (uint32_t i = 0; i < count; i++) {
    if (!met[i].has_first || !met[i].first_packet || met[i].first_ns <= since_ns)
      continue;
    snapshot->is_overwritten = true;
    if (snapshot->covered_ns < 0 || end_ns - met[i].first_ns < snapshot->covered_ns)
      snapshot->covered_ns = end_ns - met[i].first_ns;
  }
}

static int find_starts(struct kymo_snapshot *snapshot, struct kymo_error *error) {
  const char *path = snapshot->rings;
  struct kymo_trace_options how = {.format = "ring"};
  struct kymo_trace *trace = NULL;
  uint32_t count = kymo_pool_slots(&snapshot->view) * 2;
  int64_t begin_ns, end_ns;
  struct met *met = calloc((size_t)count + 1, sizeof *met);
  if (!met)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  int status = kymo_trace_open(&trace, &path, 1, &how, error);
  if (!status)
    status = kymo_trace_range(trace, &begin_ns, &end_ns, error);
  if (status == KYMO_E_ABSENT) /* nothing has a time */
    status = KYMO_OK;
  else if (!status) {
    status = meet_all(trace, met, count, end_ns - snapshot->options.last_ns);
    measure(snapshot, met, count, begin_ns, end_ns);
    for (uint32_t i = 0; !status && i < count; i++)
      start_ring(&snapshot->collector, i, &met[i]);
  }
  kymo_trace_close(trace);
  free(met);
  return status;
}

/* ---- saving ---- */

/* "server (process 4711): Segmentation fault in thread 4712" if the rings contain a mark of it. */
static int put_end(const struct kymo_snapshot *snapshot, struct kymo_error *error) {
  const struct kymo_pool_header *header = snapshot->view.header;
  char why[KYMO_PROGRAM_MAX + 160], program[KYMO_PROGRAM_MAX], end[KYMO_EXIT_TEXT_MAX];
  int status, thread;
  if (!kymo_exit_of_pool(header, &status, &thread) || !WIFSIGNALED(status))
    return KYMO_OK;
  kymo_exit_status_text(status, thread, end);
  snprintf(why, sizeof why, "%s (process %d): %s", kymo_pool_program(&snapshot->view, program), header->pid,
           end);
  return kymo_flight_put_cause(snapshot->trace, why, error);
}

static int make_trace(struct kymo_snapshot *snapshot, struct kymo_error *error) {
  char program[KYMO_PROGRAM_MAX];
  const char *asked = snapshot->options.directory;
  if (kymo_trace_place(snapshot->trace, asked, secure_getenv("KYMO_OUT"),
                       kymo_pool_program(&snapshot->view, program)))
    return KYMO_OK;
  int status = kymo_fail_errno(error, asked ? asked : snapshot->trace, "cannot make the directory");
  snapshot->trace[0] = 0; /* it is not ours */
  return status;
}

/* The cause of a process's death, which users look for in its last events. */
static void find_end(struct kymo_snapshot *snapshot) {
  int status, thread;
  if (kymo_exit_of_pool(snapshot->view.header, &status, &thread))
    kymo_exit_status_text(status, thread, snapshot->end);
}

static int save(struct kymo_snapshot *snapshot, struct kymo_error *error) {
  int status = kymo_pool_open(&snapshot->view, snapshot->rings, false, error);
  snapshot->is_opened = !status;
  if (!status)
    status = make_trace(snapshot, error);
  if (!status)
    status =
        kymo_collect_begin(&snapshot->collector, &snapshot->view, snapshot->rings, snapshot->trace, error);
  if (!status && snapshot->options.last_ns > 0)
    status = find_starts(snapshot, error);
  if (!status) {
    status = kymo_collect_end(&snapshot->collector, error);
    snapshot->is_written = !status || kymo_collect_abandon(&snapshot->collector);
  }
  if (!status)
    status = kymo_pool_verify(&snapshot->view, snapshot->rings, error);
  if (!status)
    status = put_end(snapshot, error);
  if (!status && snapshot->options.flags & KYMO_RECORD_CTF2)
    status = kymo_trace_to_ctf2(snapshot->trace, error);
  if (!status)
    status = kymo_sync(snapshot->trace, error);
  return status;
}

int kymo_snapshot_take_(struct kymo_snapshot **out, const char *rings,
                        const struct kymo_snapshot_options *options, size_t size, struct kymo_error *error) {
  struct kymo_snapshot *snapshot = *out = calloc(1, sizeof *snapshot);
  if (!snapshot)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  snapshot->covered_ns = -1;
  if (options)
    kymo_sized_in(&snapshot->options, sizeof snapshot->options, options, size);
  if ((size_t)snprintf(snapshot->rings, sizeof snapshot->rings, "%s", rings) >= sizeof snapshot->rings)
    return kymo_fail(error, KYMO_E_USAGE, "the path is too long: %s", rings);
  int status = save(snapshot, error);
  if (snapshot->collector.left_out.code)
    kymo_error_text(&snapshot->collector.left_out, snapshot->left_out, sizeof snapshot->left_out);
  if (snapshot->is_opened)
    find_end(snapshot);
  if (!snapshot->is_written && snapshot->trace[0])
    rmdir(snapshot->trace);
  return status;
}

void kymo_snapshot_free(struct kymo_snapshot *snapshot) {
  if (!snapshot)
    return;
  kymo_collect_free(&snapshot->collector);
  kymo_pool_close(&snapshot->view);
  free(snapshot);
}

/* ---- what is known ---- */

const char *kymo_snapshot_text(const struct kymo_snapshot *snapshot, enum kymo_snapshot_text what) {
  switch (what) {
  case KYMO_SNAPSHOT_DIRECTORY: return snapshot->is_written ? snapshot->trace : NULL;
  case KYMO_SNAPSHOT_END: return snapshot->end[0] ? snapshot->end : NULL;
  case KYMO_SNAPSHOT_LEFT_OUT: return snapshot->left_out[0] ? snapshot->left_out : NULL;
  }
  return NULL;
}

/* Whether it died without a known cause, from itself or from the kernel. */
static bool was_killed(const struct kymo_snapshot *snapshot) {
  const struct kymo_pool_header *header = snapshot->view.header;
  return !snapshot->end[0] && !header->finished && header->pid_namespace == kymo_pid_namespace() &&
         !kymo_life_by_pid(header);
}

int64_t kymo_snapshot_number(const struct kymo_snapshot *snapshot, enum kymo_snapshot_number what) {
  const struct kymo_collect_sums *sums = &snapshot->collector.sums;
  switch (what) {
  case KYMO_SNAPSHOT_PID: return snapshot->is_opened ? snapshot->view.header->pid : -1;
  case KYMO_SNAPSHOT_EVENTS: return (int64_t)sums->events;
  case KYMO_SNAPSHOT_LOST: return (int64_t)(sums->discarded + sums->overwritten_between);
  case KYMO_SNAPSHOT_OVERWRITTEN:
    return sums->overwritten > sums->overwritten_between
               ? (int64_t)(sums->overwritten - sums->overwritten_between)
               : 0;
  case KYMO_SNAPSHOT_COVERED_NS: return snapshot->covered_ns;
  case KYMO_SNAPSHOT_IS_OVERWRITTEN: return snapshot->is_overwritten;
  case KYMO_SNAPSHOT_WAS_KILLED: return snapshot->is_opened && was_killed(snapshot);
  }
  return -1;
}

int kymo_process_rings(char *out, size_t size, int pid, struct kymo_error *error) {
  char path[KYMO_PATH_MAX];
  int status = kymo_find_pool(path, pid, error);
  if (!status && (size_t)snprintf(out, size, "%s", path) >= size)
    return kymo_fail(error, KYMO_E_USAGE, "expected space for %zu bytes, found %zu", strlen(path) + 1, size);
  return status;
}
