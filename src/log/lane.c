/* SPDX-License-Identifier: MIT */
#include "log/log.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct kymo_lane_ kymo_no_lane;
__thread struct kymo_lane_ *kymo_lanes_[KYMO_LOGS_MAX_] = {[0 ... KYMO_LOGS_MAX_ - 1] = &kymo_no_lane};

/* ---- locks ---- */

void kymo_lane_lock(struct kymo_lane *lane, sigset_t *before) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, before);
  while (__atomic_exchange_n(&lane->lock, 1, __ATOMIC_ACQUIRE))
    sched_yield();
}

void kymo_lane_unlock(struct kymo_lane *lane, const sigset_t *before) {
  __atomic_store_n(&lane->lock, 0, __ATOMIC_RELEASE);
  pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* ---- packets ---- */

static uint32_t packets_of(const struct kymo_log_state *log) {
  return log->options.is_memory ? log->options.packets : 1;
}

/* The open packet stays in memory: without the bytes before `flushed`, which in a forked child are events of
 * its parent. */
static void keep_packet(struct kymo_lane *lane) {
  unsigned char *begin = lane->packets + lane->packet * lane->of->options.packet_bytes;
  size_t size = (size_t)(lane->hot.at - lane->flushed);
  if (lane->flushed != begin)
    memmove(begin, lane->flushed, size);
  lane->filled[lane->packet] = size;
  lane->bytes += size;
  lane->packet = (lane->packet + 1) % lane->of->options.packets;
}

void kymo_lane_open_packet(struct kymo_lane *lane) {
  size_t size = lane->of->options.packet_bytes;
  if (lane->of->options.is_memory)
    keep_packet(lane);
  lane->opened++;
  unsigned char *begin = lane->packets + lane->packet * size;
  lane->flushed = begin;
  lane->hot.end = begin + size;
  __atomic_store_n(&lane->hot.at, begin, __ATOMIC_RELEASE);
}

int kymo_lane_flush(struct kymo_lane *lane) {
  /* acquire: the bytes before it are stored; partner: kymo_bcommit_ */
  unsigned char *at = __atomic_load_n(&lane->hot.at, __ATOMIC_ACQUIRE);
  size_t size = (size_t)(at - lane->flushed);
  if (lane->of->options.is_memory || size == 0)
    return 0;
  int status = kymo_lane_write(lane, lane->flushed, size);
  if (!status)
    lane->bytes += size;
  lane->flushed = at;
  return status;
}

void kymo_lane_forget(struct kymo_lane *lane, bool is_ours) {
  if (lane->file >= 0)
    close(lane->file);
  lane->file = -1;
  lane->part = 0;
  lane->lock = 0;
  lane->flushed = lane->hot.at;
  lane->opened = 1;
  lane->bytes = lane->write_errors = 0;
  if (is_ours)
    return;
  lane->hot.busy = lane->hot.nested = lane->nested_events = 0;
  lane->is_owned = 0;
  lane->hot.log = NULL;
}

/* ---- owners ---- */

static pthread_key_t thread_end;

static void release_all(void *unused) {
  (void)unused;
  for (int i = 0; i < KYMO_LOGS_MAX_; i++) {
    struct kymo_lane_ *lane = kymo_lanes_[i];
    kymo_lanes_[i] = &kymo_no_lane;
    if (lane != &kymo_no_lane && lane->log)
      kymo_lane_release((struct kymo_lane *)lane);
  }
}

void kymo_lane_watch_threads(void) { pthread_key_create(&thread_end, release_all); }

void kymo_lane_release(struct kymo_lane *lane) {
  sigset_t before;
  kymo_lane_lock(lane, &before);
  kymo_lane_flush(lane);
  if (!lane->of->options.is_memory)
    lane->hot.at = lane->flushed = lane->packets;
  lane->hot.log = NULL;
  __atomic_store_n(&lane->is_owned, 0, __ATOMIC_RELEASE);
  kymo_lane_unlock(lane, &before);
}

/* Mappings are kept: other threads may have pointers to buffers of closed logs. */
static struct kymo_lane *make(struct kymo_log_state *log) {
  size_t packets = packets_of(log), table = packets * sizeof(size_t);
  size_t size =
      sizeof(struct kymo_lane) + table + KYMO_LANE_NESTED_ROOM + packets * log->options.packet_bytes;
  unsigned char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return NULL;
  struct kymo_lane *lane = (struct kymo_lane *)(void *)memory;
  lane->of = log;
  lane->file = -1;
  lane->filled = (size_t *)(void *)(memory + sizeof *lane);
  lane->nested = memory + sizeof *lane + table;
  lane->packets = lane->flushed = lane->nested + KYMO_LANE_NESTED_ROOM;
  lane->hot.at = lane->packets;
  lane->hot.end = lane->packets + log->options.packet_bytes;
  lane->opened = 1;
  lane->is_owned = 1;
  lane->number = __atomic_fetch_add(&log->lane_count, 1, __ATOMIC_RELAXED);
  lane->next = __atomic_load_n(&log->lanes, __ATOMIC_RELAXED);
  while (
      !__atomic_compare_exchange_n(&log->lanes, &lane->next, lane, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
    ;
  return lane;
}

struct kymo_lane *kymo_lane_attach(struct kymo_log_state *log) {
  struct kymo_lane *lane = __atomic_load_n(&log->lanes, __ATOMIC_ACQUIRE);
  for (; lane; lane = lane->next)
    if (!__atomic_exchange_n(&lane->is_owned, 1, __ATOMIC_ACQUIRE))
      break;
  if (!lane)
    lane = make(log);
  if (!lane)
    return NULL;
  lane->hot.busy = lane->hot.nested = lane->nested_events = 0;
  lane->hot.log = &log->hot;
  if (log->options.files == KYMO_FILES_PER_THREAD) {
    pthread_setspecific(thread_end, lane);
    kymo_lanes_[log->hot.lane] = &lane->hot;
  }
  return lane;
}
