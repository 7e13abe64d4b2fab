/* SPDX-License-Identifier: MIT */
#include "live/samples/events.h"
#include "base/fail.h"
#include "base/list.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"
#define RATE_MAX "/proc/sys/kernel/perf_event_max_sample_rate"

/* What the headers of older kernels do not name. */
#define FORMAT_LOST (UINT64_C(1) << 4)

enum { RING_BYTES = 2 << 20, RING_LEAST = 32 << 10 };

static int open_event(const struct perf_event_attr *attr, pid_t tid, int cpu) {
  return (int)syscall(SYS_perf_event_open, attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* A number that a file has; -1: none. */
static long read_number(const char *path) {
  long number;
  FILE *file = fopen(path, "re");
  int count = file ? fscanf(file, "%ld", &number) : 0;
  if (file)
    fclose(file);
  return count == 1 ? number : -1;
}

static int no_memory(struct kymo_error *error) { return kymo_fail(error, KYMO_E_MEMORY, "out of memory"); }

/* ---- what there is ---- */

/* Why the system call failed, and what helps. */
static int refuse(int reason, struct kymo_error *error) {
  long paranoid = read_number(PARANOID);
  if (reason == ENOSYS)
    return kymo_fail(error, KYMO_E_ABSENT,
                     "samples need the system call perf_event_open, which this kernel does not have: it is "
                     "built without CONFIG_PERF_EVENTS");
  if ((reason == EACCES || reason == EPERM) && paranoid > 2)
    return kymo_fail(error, KYMO_E_SYSTEM,
                     "samples are not permitted (%s is %ld): run as root, or with the capability "
                     "CAP_PERFMON; or, as root: sysctl kernel.perf_event_paranoid=2",
                     PARANOID, paranoid);
  if (reason == EACCES || reason == EPERM)
    return kymo_fail(error, KYMO_E_SYSTEM,
                     "samples are not permitted: perf_event_open: %s: run as root, or with the capability "
                     "CAP_PERFMON; in a container, allow the system call (seccomp)",
                     strerror(reason));
  return kymo_fail(error, KYMO_E_SYSTEM, "cannot sample: perf_event_open: %s", strerror(reason));
}

/* Whether this process may have such an event. */
static int try(const struct perf_event_attr *attr) {
  int event = open_event(attr, 0, -1), reason = event < 0 ? errno : 0;
  if (event >= 0)
    close(event);
  return reason;
}

/* Leaves out what this kernel does not know, and then the kernel's part if that is not permitted. */
static int adapt(struct perf_event_attr *attr) {
  int reason = try(attr);
  if (reason == EINVAL) {
    attr->read_format = 0;
    reason = try(attr);
  }
  if (reason == EINVAL) {
    attr->build_id = 0;
    reason = try(attr);
  }
  if (reason == EACCES || reason == EPERM) {
    attr->exclude_kernel = attr->exclude_hv = 1;
    reason = try(attr);
  }
  return reason;
}

int kymo_sampling_events_choose(struct kymo_sampling_events *events, uint32_t hz, bool at_exec,
                                struct kymo_error *error) {
  static const struct {
    const char *name;
    uint32_t type;
    uint64_t config;
  } kinds[] = {{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
               {"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK}};
  long most = read_number(RATE_MAX);
  int reason = 0;
  if (most > 0 && hz > (unsigned long)most)
    return kymo_fail(error, KYMO_E_SYSTEM,
                     "this machine takes at most %ld samples a second (%s), not %" PRIu32, most, RATE_MAX,
                     hz);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    events->name = kinds[i].name;
    events->attr = (struct perf_event_attr){
        .size = sizeof events->attr,
        .type = kinds[i].type,
        .config = kinds[i].config,
        .freq = 1,
        .sample_freq = hz,
        .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN |
                       PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
                       (at_exec ? 0 : (unsigned)PERF_SAMPLE_IDENTIFIER),
        .read_format = FORMAT_LOST,
        .disabled = 1,
        .inherit = 1,
        .enable_on_exec = at_exec,
        .mmap = 1,
        .mmap2 = 1,
        .comm = 1,
        .comm_exec = 1,
        .task = 1,
        .sample_id_all = 1,
        .build_id = 1,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
    };
    reason = adapt(&events->attr);
    if (!reason)
      return KYMO_OK;
  }
  return refuse(reason, error);
}

/* ---- opening ---- */

/* The ring's memory. A user may lock only so much of it: then it is smaller. */
static int make_ring(struct kymo_sampling_ring *ring, struct kymo_error *error) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  for (ring->size = RING_BYTES; ring->size >= RING_LEAST; ring->size /= 2) {
    void *memory = mmap(NULL, page + ring->size, PROT_READ | PROT_WRITE, MAP_SHARED, ring->event, 0);
    if (memory != MAP_FAILED) {
      ring->head = memory;
      ring->data = (const uint8_t *)memory + page;
      return KYMO_OK;
    }
  }
  return kymo_fail(
      error, KYMO_E_SYSTEM,
      "no memory for samples may be locked: %s (/proc/sys/kernel/perf_event_mlock_kb, ulimit -l)",
      strerror(errno));
}

static struct kymo_sampling_ring *find_ring(const struct kymo_sampling_events *events, uint32_t cpu) {
  for (size_t i = 0; i < events->ring_count; i++)
    if (events->rings[i].cpu == cpu)
      return &events->rings[i];
  return NULL;
}

/* Takes a new event: it has its processor's ring, or writes to it. */
static int take(struct kymo_sampling_events *events, int event, uint32_t cpu, struct kymo_error *error) {
  const struct kymo_sampling_ring *ring = find_ring(events, cpu);
  if (ring) {
    if (!KYMO_LIST_ROOM(events->others, events->other_capacity, events->other_count)) {
      close(event);
      return no_memory(error);
    }
    events->others[events->other_count++] = event;
    return ioctl(event, PERF_EVENT_IOC_SET_OUTPUT, ring->event) ? refuse(errno, error) : KYMO_OK;
  }
  if (!KYMO_LIST_ROOM(events->rings, events->ring_capacity, events->ring_count)) {
    close(event);
    return no_memory(error);
  }
  struct kymo_sampling_ring *made = &events->rings[events->ring_count++];
  *made = (struct kymo_sampling_ring){.cpu = cpu, .event = event};
  return make_ring(made, error);
}

static int fail_open(pid_t tid, int reason, struct kymo_error *error) {
  if (reason == ESRCH)
    return kymo_fail(error, KYMO_E_UNKNOWN, "there is no process %d", (int)tid);
  if (reason == EMFILE)
    return kymo_fail(error, KYMO_E_SYSTEM,
                     "too many open files: samples need one for each thread and processor (ulimit -n)");
  return refuse(reason, error);
}

int kymo_sampling_events_add(struct kymo_sampling_events *events, pid_t tid, struct kymo_error *error) {
  long cpus = sysconf(_SC_NPROCESSORS_CONF);
  int status = KYMO_OK;
  for (int cpu = 0; cpu < cpus && status == KYMO_OK; cpu++) {
    int event = open_event(&events->attr, tid, cpu);
    if (event < 0 && errno == ENODEV) /* this processor is off */
      continue;
    status = event < 0 ? fail_open(tid, errno, error) : take(events, event, (uint32_t)cpu, error);
    if (status == KYMO_OK && !events->attr.enable_on_exec && ioctl(event, PERF_EVENT_IOC_ENABLE, 0))
      status = refuse(errno, error);
  }
  return status;
}

/* ---- the end ---- */

/* What an event counts: its value and its losses. */
static uint64_t lost_of(int event) {
  uint64_t values[2] = {0};
  return read(event, values, sizeof values) == (ssize_t)sizeof values ? values[1] : 0;
}

uint64_t kymo_sampling_events_lost(const struct kymo_sampling_events *events) {
  uint64_t lost = 0;
  if (!(events->attr.read_format & FORMAT_LOST))
    return 0;
  for (size_t i = 0; i < events->ring_count; i++)
    lost += lost_of(events->rings[i].event);
  for (size_t i = 0; i < events->other_count; i++)
    lost += lost_of(events->others[i]);
  return lost;
}

void kymo_sampling_events_stop(struct kymo_sampling_events *events) {
  for (size_t i = 0; i < events->ring_count; i++)
    ioctl(events->rings[i].event, PERF_EVENT_IOC_DISABLE, 0);
  for (size_t i = 0; i < events->other_count; i++)
    ioctl(events->others[i], PERF_EVENT_IOC_DISABLE, 0);
}

void kymo_sampling_events_free(struct kymo_sampling_events *events) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  for (size_t i = 0; i < events->other_count; i++)
    close(events->others[i]);
  for (size_t i = 0; i < events->ring_count; i++) {
    if (events->rings[i].head)
      munmap(events->rings[i].head, page + events->rings[i].size);
    close(events->rings[i].event);
  }
  free(events->others);
  free(events->rings);
  *events = (struct kymo_sampling_events){0};
}
