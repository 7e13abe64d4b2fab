/* SPDX-License-Identifier: MIT */
/*
 * Space for events where the macros find none: a thread's first event, a full packet, events larger than one,
 * events of handlers, and all events of files per CPU.
 */
#include "log/log.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

enum slow { FAST, NESTED, LARGE, OF_CPU, OF_CPU_LARGE };

/* Number of events that this thread has in progress in buffers of CPUs: a handler must not wait for the code
 * that it interrupted. */
static __thread uint32_t cpu_depth;

static const struct kymo_bplace_ nowhere;

static void put_frame(struct kymo_log *log, unsigned char *at, size_t size, uint32_t flags) {
  uint32_t sequence = kymo_log_next_number(log), length = (uint32_t)size | flags;
  memcpy(at, KYMO_FRAME_MAGIC_, 4);
  memcpy(at + 4, &sequence, 4);
  memcpy(at + 8, &length, 4);
}

/* A lost event of a framed log leaves a gap in the numbers. */
static struct kymo_bplace_ lose(struct kymo_log_state *log) {
  if (log->hot.frame)
    kymo_log_next_number(&log->hot);
  __atomic_fetch_add(&log->lost, 1, __ATOMIC_RELAXED);
  errno = ENOBUFS;
  return nowhere;
}

static struct kymo_bplace_ place_at(struct kymo_log_state *log, struct kymo_thread_buffer *buffer,
                                    unsigned char *at, enum slow slow) {
  return (struct kymo_bplace_){at + log->hot.frame, &buffer->hot, slow};
}

/* ---- room in packets ---- */

/* Where `size` bytes are stored: in the open packet or the next one, or in separate memory. With the lock
 * held. NULL: there is no space. */
static unsigned char *find_room(struct kymo_thread_buffer *buffer, size_t size, bool *is_large) {
  size_t packet = buffer->of->options.packet_bytes;
  *is_large = size > packet;
  if (size <= (size_t)(buffer->hot.end - buffer->hot.at))
    return buffer->hot.at;
  if (*is_large && buffer->of->options.is_memory)
    return NULL;
  kymo_thread_buffer_flush(buffer);
  kymo_thread_buffer_open_packet(buffer);
  if (!*is_large)
    return buffer->hot.at;
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  buffer->large = memory == MAP_FAILED ? NULL : memory;
  buffer->large_bytes = size;
  return buffer->large;
}

/* Writes the events in separate memory. With the lock held. */
static void end_large(struct kymo_thread_buffer *buffer, uint32_t events) {
  if (kymo_thread_buffer_write(buffer, buffer->large, buffer->large_bytes))
    __atomic_fetch_add(&buffer->of->lost, events, __ATOMIC_RELAXED);
  else
    buffer->bytes += buffer->large_bytes;
  munmap(buffer->large, buffer->large_bytes);
  buffer->large = NULL;
}

/* ---- files a thread ---- */

static struct kymo_bplace_ reserve_nested(struct kymo_log_state *log, struct kymo_thread_buffer *buffer,
                                          size_t size, uint32_t flags) {
  /* the pending events are put into one packet; a log in memory has no larger one */
  bool is_little = log->options.is_memory && log->options.packet_bytes < KYMO_THREAD_BUFFER_NESTED_ROOM;
  size_t room = is_little ? log->options.packet_bytes : KYMO_THREAD_BUFFER_NESTED_ROOM;
  uint32_t used = __atomic_load_n(&buffer->hot.nested, __ATOMIC_RELAXED);
  do
    if (size > room - used)
      return lose(log);
  while (!__atomic_compare_exchange_n(&buffer->hot.nested, &used, used + (uint32_t)size, true,
                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  __atomic_fetch_add(&buffer->nested_events, 1, __ATOMIC_RELAXED);
  if (log->hot.frame)
    put_frame(&log->hot, buffer->nested + used, size - log->hot.frame, flags);
  return place_at(log, buffer, buffer->nested + used, NESTED);
}

void kymo_bnested_(struct kymo_thread_buffer_ *hot) {
  struct kymo_thread_buffer *buffer = (struct kymo_thread_buffer *)hot;
  sigset_t before;
  bool is_large;
  kymo_thread_buffer_lock(buffer, &before);
  uint32_t size = hot->nested, events = buffer->nested_events;
  unsigned char *at = size ? find_room(buffer, size, &is_large) : NULL;
  if (at) {
    memcpy(at, buffer->nested, size);
    if (is_large)
      end_large(buffer, events);
    else
      __atomic_store_n(&hot->at, at + size, __ATOMIC_RELEASE);
  } else {
    __atomic_fetch_add(&buffer->of->lost, events, __ATOMIC_RELAXED);
  }
  hot->nested = buffer->nested_events = 0;
  kymo_thread_buffer_unlock(buffer, &before);
}

/* Signals are blocked. */
static struct kymo_bplace_ reserve_own(struct kymo_log_state *log, size_t size, uint32_t flags) {
  struct kymo_thread_buffer *buffer = (struct kymo_thread_buffer *)kymo_thread_buffers_[log->hot.buffer];
  if (buffer->hot.log != &log->hot)
    buffer = kymo_thread_buffer_attach(log);
  if (!buffer)
    return lose(log);
  if (buffer->hot.busy)
    return reserve_nested(log, buffer, size, flags);
  if (buffer->hot.nested)
    kymo_bnested_(&buffer->hot);
  sigset_t unused;
  bool is_large;
  kymo_thread_buffer_lock(buffer, &unused);
  unsigned char *at = find_room(buffer, size, &is_large);
  __atomic_store_n(&buffer->lock, 0, __ATOMIC_RELEASE);
  if (!at)
    return lose(log);
  if (log->hot.frame)
    put_frame(&log->hot, at, size - log->hot.frame, flags);
  buffer->hot.busy = 1;
  return place_at(log, buffer, at, is_large ? LARGE : FAST);
}

static void commit_large(struct kymo_thread_buffer *buffer) {
  sigset_t before;
  kymo_thread_buffer_lock(buffer, &before);
  end_large(buffer, 1);
  kymo_thread_buffer_unlock(buffer, &before);
  __atomic_store_n(&buffer->hot.busy, 0, __ATOMIC_RELAXED);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  if (buffer->hot.nested)
    kymo_bnested_(&buffer->hot);
}

/* ---- files a CPU ---- */

static bool try_buffer(struct kymo_thread_buffer *buffer) {
  return !__atomic_exchange_n(&buffer->lock, 1, __ATOMIC_ACQUIRE);
}

/* The buffer of this CPU, or for handlers any; NULL: all are in use. */
static struct kymo_thread_buffer *take_buffer(struct kymo_log_state *log) {
  uint32_t cpu = kymo_cpu();
  for (uint32_t i = 0; cpu_depth > 1 && i < log->cpus; i++)
    if (try_buffer(log->cpu[(cpu + i) % log->cpus]))
      return log->cpu[(cpu + i) % log->cpus];
  while (cpu_depth == 1) {
    struct kymo_thread_buffer *buffer = log->cpu[kymo_cpu() % log->cpus];
    if (try_buffer(buffer))
      return buffer;
    sched_yield();
  }
  return NULL;
}

static struct kymo_bplace_ reserve_of_cpu(struct kymo_log_state *log, size_t size, uint32_t flags) {
  bool is_large = false;
  cpu_depth++;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  struct kymo_thread_buffer *buffer = take_buffer(log);
  unsigned char *at = buffer ? find_room(buffer, size, &is_large) : NULL;
  if (!at) {
    if (buffer)
      __atomic_store_n(&buffer->lock, 0, __ATOMIC_RELEASE);
    cpu_depth--;
    return lose(log);
  }
  if (log->hot.frame)
    put_frame(&log->hot, at, size - log->hot.frame, flags);
  return place_at(log, buffer, at, is_large ? OF_CPU_LARGE : OF_CPU);
}

/* ---- what the macros call ---- */

struct kymo_bplace_ kymo_breserve_slow_(struct kymo_log *hot, size_t size, uint32_t flags) {
  struct kymo_log_state *log = kymo_log_state(hot);
  sigset_t all, before;
  size += hot->frame;
  if (log->options.files == KYMO_FILES_PER_CPU)
    return reserve_of_cpu(log, size, flags);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  struct kymo_bplace_ place = reserve_own(log, size, flags);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return place;
}

void kymo_bcommit_slow_(struct kymo_bplace_ place, unsigned char *end) {
  struct kymo_thread_buffer *buffer = (struct kymo_thread_buffer *)place.buffer;
  switch (place.slow) {
  case LARGE: commit_large(buffer); break;
  case OF_CPU_LARGE:
  case OF_CPU:
    if (place.slow == OF_CPU_LARGE)
      end_large(buffer, 1);
    else
      __atomic_store_n(&buffer->hot.at, end, __ATOMIC_RELEASE);
    __atomic_store_n(&buffer->lock, 0, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    cpu_depth--;
    break;
  default: break;
  }
}
