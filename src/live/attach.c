/* SPDX-License-Identifier: MIT */
/*
 * Recording a process that runs already: it makes room (attach), we leave out what its rings hold, it
 * switches on what we want (start), we empty its rings, it goes back to what it was (detach). The connection
 * stays open meanwhile: if we die the process undoes it all by itself, and if it dies or executes another
 * program we notice.
 */
#include "base/fail.h"
#include "base/file.h"
#include "base/path.h"
#include "live/client.h"
#include "live/ctf2.h"
#include "live/find.h"
#include "live/recording.h"
#include "live/sleep.h"
#include "live/sync.h"
#include "ring/collect.h"
#include "ring/pools.h"
#include "schema/registry.h"
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { IDLE_MS = 5, BUSY_MS = 1, CLOCKS_NS = 1000000000 };

struct attached {
  struct kymo_recording recording;
  struct kymo_client client;
  char source[KYMO_PATH_MAX];    /* a path to the rings that stays valid … */
  int held;                      /* … through this descriptor, or -1 */
  char directory[KYMO_PATH_MAX]; /* of the process's trace: the recording's, or in it beside the kernel's */
  struct kymo_pool_view view;
  struct kymo_collector collector;
  struct kymo_sleep sleep; /* while nothing can be collected */
  int64_t clocks_ns;       /* when to read the clocks next */
  bool is_kept;            /* the rings contain events that the trace lacks */
};

static struct attached *of(const struct kymo_recording *recording) {
  return (struct attached *)(uintptr_t)recording;
}

/* Rings of a process with another root are found below /proc/PID/root, a path that ends with the process; an
 * open descriptor does not. */
static int hold_rings(struct attached *a, struct kymo_error *error) {
  char parent[KYMO_PATH_MAX];
  const char *slash = strrchr(a->recording.rings, '/');
  memcpy(a->source, a->recording.rings, sizeof a->source);
  if (strncmp(a->recording.rings, "/proc/", 6) != 0)
    return KYMO_OK;
  snprintf(parent, sizeof parent, "%.*s", (int)(slash - a->recording.rings), a->recording.rings);
  a->held = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (a->held < 0)
    return kymo_fail_errno(error, parent, "cannot open");
  if ((size_t)snprintf(a->source, sizeof a->source, "/proc/self/fd/%d%s", a->held, slash) >= sizeof a->source)
    return kymo_fail(error, KYMO_E_LIMIT, "the path is too long: %s", a->recording.rings);
  return KYMO_OK;
}

/* The rings that the process has reported. */
static int open_rings(struct attached *a, struct kymo_error *error) {
  int status = kymo_find_pool(a->recording.rings, a->recording.pid, error);
  if (!status)
    status = hold_rings(a, error);
  if (!status)
    status = kymo_pool_open(&a->view, a->source, true, error);
  if (!status)
    status = kymo_pool_lock(&a->view, a->source, error);
  return status;
}

/* The text of the clock of the rings; false: there is no registry to read it from. */
static bool read_origin(const struct attached *a, char origin[KYMO_CLOCK_ORIGIN_MAX]) {
  struct kymo_schema *schema = NULL;
  struct kymo_session_clock clock = {.is_none = false};
  char path[KYMO_PATH_MAX + 32];
  uint8_t *bytes = NULL;
  size_t size, used;
  enum { REGISTRY_MAX = 1 << 30 };
  kymo_path_join(path, sizeof path, a->source, KYMO_HIDDEN_REGISTRY);
  bool is_read = kymo_file_read(path, REGISTRY_MAX, &bytes, &size, NULL) == KYMO_OK &&
                 kymo_registry_read_sound(&schema, bytes, size, &used, path, NULL) == KYMO_OK &&
                 schema->stream_count && schema->streams[0]->clock;
  if (is_read) {
    const struct kymo_clock *from = schema->streams[0]->clock;
    clock.is_counter = strcmp(from->name, "counter") == 0;
    clock.frequency = from->frequency;
    clock.offset_seconds = from->offset_seconds;
    clock.offset_cycles = from->offset_cycles;
    kymo_session_clock_put_origin(&clock, origin);
  }
  free(bytes);
  kymo_schema_release(schema);
  return is_read;
}

/* Events of the kernel have the clock of the rings. They and samples have directories of their own beside the
 * process's. */
static int make_others(struct attached *a, const char *program, struct kymo_error *error) {
  struct kymo_recording *recording = &a->recording;
  char origin[KYMO_CLOCK_ORIGIN_MAX];
  memcpy(a->directory, recording->trace, sizeof a->directory);
  if (!kymo_recording_has_others(recording))
    return KYMO_OK;
  int status = kymo_recording_make_others(recording, read_origin(a, origin) ? origin : NULL, false, error);
  if (status)
    return status;
  if ((size_t)snprintf(a->directory, sizeof a->directory, "%s/%s-%d", recording->trace, program,
                       recording->pid) >= sizeof a->directory)
    return kymo_fail(error, KYMO_E_LIMIT, "the path is too long: %s", recording->trace);
  return mkdir(a->directory, 0777) ? kymo_fail_errno(error, a->directory, "cannot make the directory")
                                   : KYMO_OK;
}

static int begin(struct attached *a, struct kymo_error *error) {
  const struct kymo_recording *recording = &a->recording;
  char program[KYMO_PROGRAM_MAX];
  bool overwrites = kymo_recording_has(recording, KYMO_RECORD_OVERWRITE);
  int status = kymo_client_open(&a->client, recording->pid, error);
  if (!status)
    status = kymo_client_ask(&a->client, error, "attach %s - %s", overwrites ? "overwrite" : "discard",
                             recording->options.enable);
  if (!status)
    status = open_rings(a, error);
  if (!status)
    status = kymo_recording_make_trace(&a->recording, kymo_pool_program(&a->view, program), error);
  if (!status)
    status = make_others(a, program, error);
  if (!status)
    status = kymo_collect_begin(&a->collector, &a->view, a->source, a->directory, error);
  if (!status)
    status = kymo_recording_follow(&a->recording, error);
  if (status)
    return status;
  kymo_collect_from_now(&a->collector);
  return kymo_client_ask(&a->client, error, "start");
}

static bool attached_has_ended(struct kymo_recording *recording) {
  return poll(&(struct pollfd){of(recording)->client.fd, POLLIN, 0}, 1, 0) > 0;
}

static int take_clocks(struct attached *a, struct kymo_error *error) {
  int64_t now = kymo_recording_now_ns();
  if (now < a->clocks_ns)
    return KYMO_OK;
  a->clocks_ns = now + CLOCKS_NS;
  int status = kymo_collect_clocks(&a->collector, error);
  if (!status && kymo_recording_has(&a->recording, KYMO_RECORD_SYNC)) {
    status = kymo_sync(a->recording.trace, error);
    a->recording.sum.is_unsynced |= status != KYMO_OK;
  }
  return status;
}

static int collect(struct attached *a, int *pause_ms, struct kymo_error *error) {
  int status = kymo_collect_closed(&a->collector, true, error);
  uint32_t taken = a->collector.fullest;
  *pause_ms = taken * 4 >= a->view.packets ? 0 : taken ? BUSY_MS : IDLE_MS;
  return status;
}

static int attached_pass(struct kymo_recording *recording, int *pause_ms, struct kymo_error *error) {
  struct attached *a = of(recording);
  bool overwrites = kymo_recording_has(recording, KYMO_RECORD_OVERWRITE);
  *pause_ms = overwrites ? KYMO_SLEEP_MS : IDLE_MS; /* such rings are collected at the end */
  int status = take_clocks(a, error);
  if (status || overwrites)
    return status;
  status = collect(a, pause_ms, error);
  if (*pause_ms != IDLE_MS)
    kymo_sleep_end(&a->sleep);
  else if (!status && kymo_sleep_is_due(&a->sleep) &&
           kymo_sleep_ask(&a->sleep, (struct kymo_pool_header *)(uintptr_t)a->view.header)) {
    status = collect(a, pause_ms, error); /* after which the recorder wakes us */
    if (*pause_ms != IDLE_MS)
      kymo_sleep_end(&a->sleep);
    else if (!status && kymo_sleep_arm(&a->sleep))
      *pause_ms = KYMO_SLEEP_MS;
  }
  return status;
}

static bool attached_wait(const struct kymo_recording *recording, int fd, int timeout_ms) {
  struct attached *a = of(recording);
  struct pollfd wait[2 + KYMO_SLEEP_FDS] = {{fd, POLLIN, 0}, {a->client.fd, POLLIN, 0}};
  kymo_sleep_fds(&a->sleep, wait + 2);
  if (poll(wait, 2 + KYMO_SLEEP_FDS, timeout_ms) <= 0)
    return false;
  kymo_sleep_polled(&a->sleep, wait + 2);
  return wait[0].revents;
}

/* The process is disconnected: it is ending, which takes a moment more, or executes another program. */
static void wait_for_end(const struct attached *a) {
  enum { EXEC_MS = 500 };
  int process = (int)syscall(SYS_pidfd_open, a->recording.pid, 0);
  if (process < 0)
    return;
  poll(&(struct pollfd){process, POLLIN, 0}, 1, EXEC_MS);
  close(process);
}

/* Takes the rest. */
static int collect_rest(struct attached *a, struct kymo_error *error) {
  const struct kymo_recording *recording = &a->recording;
  int status = kymo_collect_end(&a->collector, error);
  if (status) {
    if (!kymo_collect_abandon(&a->collector))
      rmdir(a->directory);
    return status;
  }
  status =
      kymo_recording_has(recording, KYMO_RECORD_CTF2) ? kymo_trace_to_ctf2(a->directory, error) : KYMO_OK;
  if (!status) {
    status = kymo_sync(recording->trace, error);
    a->recording.sum.is_unsynced |= status != KYMO_OK;
  }
  return status;
}

/* If the process has ended meanwhile, the recorder removes its rings. */
static int attached_stop(struct kymo_recording *recording, struct kymo_error *error) {
  struct attached *a = of(recording);
  struct kymo_error unused;
  if (kymo_client_ask(&a->client, &unused, "detach")) /* it has ended, or hangs */
    wait_for_end(a);
  int status = collect_rest(a, error);
  const struct kymo_collector *c = &a->collector;
  bool is_alive = kymo_pool_is_alive(&a->view), is_unsynced = recording->sum.is_unsynced;
  recording->sum = (struct kymo_drain_sum){.processes = 1,
                                           .still_running = is_alive,
                                           .events = c->sums.events,
                                           .discarded = c->sums.discarded,
                                           .overwritten = c->sums.overwritten,
                                           .full = c->sums.full,
                                           .unwritten = c->unwritten,
                                           .is_unsynced = is_unsynced,
                                           .left_out = c->left_out};
  a->is_kept = c->unwritten || (is_unsynced && !is_alive);
  recording->has_rings = is_alive || status || is_unsynced;
  if (!recording->has_rings)
    kymo_pool_delete(a->source);
  return status;
}

static const char *attached_kept(const struct kymo_recording *recording, size_t index) {
  return index == 0 && of(recording)->is_kept ? recording->rings : NULL;
}

static void attached_free(struct kymo_recording *recording) {
  struct attached *a = of(recording);
  kymo_sleep_free(&a->sleep);
  kymo_collect_free(&a->collector);
  kymo_pool_close(&a->view);
  kymo_client_close(&a->client);
  if (a->held >= 0)
    close(a->held);
}

static const struct kymo_recording_kind attached_kind = {
    .has_ended = attached_has_ended,
    .pass = attached_pass,
    .wait = attached_wait,
    .stop = attached_stop,
    .kept = attached_kept,
    .free = attached_free,
};

static int become_alone(struct kymo_recording **recording, struct kymo_error *error) {
  const struct kymo_recording_options options = (*recording)->options;
  free(*recording);
  return kymo_recording_alone(recording, 0, &options, error);
}

int kymo_recording_attach_(struct kymo_recording **recording, int pid,
                           const struct kymo_recording_options *options, size_t size,
                           struct kymo_error *error) {
  int status = kymo_recording_new(recording, sizeof(struct attached), &attached_kind, options, size, error);
  if (status)
    return status;
  if (!pid && (*recording)->options.kernel)
    return become_alone(recording, error);
  struct attached *a = of(*recording);
  a->client.fd = -1;
  kymo_sleep_begin(&a->sleep, NULL);
  a->held = -1;
  a->recording.pid = pid;
  const struct kymo_recording_options *asked = &a->recording.options;
  bool is_of_commands = asked->flags & (KYMO_RECORD_SNAPSHOTS | KYMO_RECORD_CRASHES) || asked->buffer ||
                        asked->preload || asked->rotate_bytes || asked->rotate_seconds;
  status = is_of_commands ? kymo_fail(error, KYMO_E_USAGE, "some of the options are for commands alone")
                          : begin(a, error);
  if (!status)
    return KYMO_OK;
  kymo_recording_drop_others(&a->recording);
  if (a->directory[0])
    rmdir(a->directory);
  if (a->recording.trace[0])
    rmdir(a->recording.trace);
  bool is_without = status == KYMO_E_UNKNOWN && kymo_recording_has_others(&a->recording) && kill(pid, 0) == 0;
  struct kymo_recording_options again = *asked;
  kymo_recording_free(*recording);
  *recording = NULL;
  return is_without ? kymo_recording_alone(recording, pid, &again, error) : status;
}
