/* SPDX-License-Identifier: MIT */
#include "log/log.h"
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct kymo_thread_buffer_ kymo_no_thread_buffer;
__thread struct kymo_thread_buffer_ *kymo_thread_buffers_[KYMO_LOGS_MAX_] = {[0 ... KYMO_LOGS_MAX_ - 1] =
                                                                                 &kymo_no_thread_buffer};

/* ---- locks ---- */

void kymo_thread_buffer_lock(struct kymo_thread_buffer *buffer, sigset_t *before) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, before);
  while (__atomic_exchange_n(&buffer->lock, 1, __ATOMIC_ACQUIRE))
    sched_yield();
}

void kymo_thread_buffer_unlock(struct kymo_thread_buffer *buffer, const sigset_t *before) {
  __atomic_store_n(&buffer->lock, 0, __ATOMIC_RELEASE);
  pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* ---- packets ---- */

static uint32_t packets_of(const struct kymo_log_state *log) {
  return log->options.is_memory ? log->options.packets : 1;
}

/* The open packet stays in memory: without the bytes before `flushed`, which in a forked child are events of
 * its parent. */
static void keep_packet(struct kymo_thread_buffer *buffer) {
  unsigned char *begin = buffer->packets + buffer->packet * buffer->of->options.packet_bytes;
  size_t size = (size_t)(buffer->hot.at - buffer->flushed);
  if (buffer->flushed != begin)
    memmove(begin, buffer->flushed, size);
  buffer->filled[buffer->packet] = size;
  buffer->bytes += size;
  buffer->packet = (buffer->packet + 1) % buffer->of->options.packets;
}

void kymo_thread_buffer_open_packet(struct kymo_thread_buffer *buffer) {
  size_t size = buffer->of->options.packet_bytes;
  if (buffer->of->options.is_memory)
    keep_packet(buffer);
  buffer->opened++;
  unsigned char *begin = buffer->packets + buffer->packet * size;
  buffer->flushed = begin;
  buffer->hot.end = begin + size;
  __atomic_store_n(&buffer->hot.at, begin, __ATOMIC_RELEASE);
}

int kymo_thread_buffer_flush(struct kymo_thread_buffer *buffer) {
  /* acquire: the bytes before it are stored; partner: kymo_bcommit_ */
  unsigned char *at = __atomic_load_n(&buffer->hot.at, __ATOMIC_ACQUIRE);
  size_t size = (size_t)(at - buffer->flushed);
  if (buffer->of->options.is_memory || size == 0)
    return 0;
  int status = kymo_thread_buffer_write(buffer, buffer->flushed, size);
  if (!status)
    buffer->bytes += size;
  buffer->flushed = at;
  return status;
}

void kymo_thread_buffer_forget(struct kymo_thread_buffer *buffer, bool is_ours) {
  if (buffer->file >= 0)
    close(buffer->file);
  buffer->file = -1;
  buffer->part = 0;
  buffer->lock = 0;
  buffer->flushed = buffer->hot.at;
  buffer->opened = 1;
  buffer->bytes = buffer->write_errors = 0;
  if (is_ours)
    return;
  buffer->hot.busy = buffer->hot.nested = buffer->nested_events = 0;
  buffer->is_owned = 0;
  buffer->hot.log = NULL;
}

/* ---- owners ---- */

static pthread_key_t thread_end;

static void release_all(void *unused) {
  (void)unused;
  for (int i = 0; i < KYMO_LOGS_MAX_; i++) {
    struct kymo_thread_buffer_ *buffer = kymo_thread_buffers_[i];
    kymo_thread_buffers_[i] = &kymo_no_thread_buffer;
    if (buffer != &kymo_no_thread_buffer && buffer->log)
      kymo_thread_buffer_release((struct kymo_thread_buffer *)buffer);
  }
}

void kymo_thread_buffer_watch_threads(void) { pthread_key_create(&thread_end, release_all); }

void kymo_thread_buffer_release(struct kymo_thread_buffer *buffer) {
  sigset_t before;
  kymo_thread_buffer_lock(buffer, &before);
  kymo_thread_buffer_flush(buffer);
  if (!buffer->of->options.is_memory)
    buffer->hot.at = buffer->flushed = buffer->packets;
  buffer->hot.log = NULL;
  __atomic_store_n(&buffer->is_owned, 0, __ATOMIC_RELEASE);
  kymo_thread_buffer_unlock(buffer, &before);
}

/* Mappings are kept: other threads may have pointers to buffers of closed logs. */
static struct kymo_thread_buffer *make(struct kymo_log_state *log) {
  size_t packets = packets_of(log), table = packets * sizeof(size_t);
  size_t size = sizeof(struct kymo_thread_buffer) + table + KYMO_THREAD_BUFFER_NESTED_ROOM +
                packets * log->options.packet_bytes;
  unsigned char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return NULL;
  struct kymo_thread_buffer *buffer = (struct kymo_thread_buffer *)(void *)memory;
  buffer->of = log;
  buffer->file = -1;
  buffer->filled = (size_t *)(void *)(memory + sizeof *buffer);
  buffer->nested = memory + sizeof *buffer + table;
  buffer->packets = buffer->flushed = buffer->nested + KYMO_THREAD_BUFFER_NESTED_ROOM;
  buffer->hot.at = buffer->packets;
  buffer->hot.end = buffer->packets + log->options.packet_bytes;
  buffer->opened = 1;
  buffer->is_owned = 1;
  buffer->number = __atomic_fetch_add(&log->buffer_count, 1, __ATOMIC_RELAXED);
  buffer->next = __atomic_load_n(&log->buffers, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(&log->buffers, &buffer->next, buffer, true, __ATOMIC_RELEASE,
                                      __ATOMIC_RELAXED))
    ;
  return buffer;
}

struct kymo_thread_buffer *kymo_thread_buffer_attach(struct kymo_log_state *log) {
  struct kymo_thread_buffer *buffer = __atomic_load_n(&log->buffers, __ATOMIC_ACQUIRE);
  for (; buffer; buffer = buffer->next)
    if (!__atomic_exchange_n(&buffer->is_owned, 1, __ATOMIC_ACQUIRE))
      break;
  if (!buffer)
    buffer = make(log);
  if (!buffer)
    return NULL;
  buffer->hot.busy = buffer->hot.nested = buffer->nested_events = 0;
  buffer->hot.log = &log->hot;
  if (log->options.files == KYMO_FILES_PER_THREAD) {
    pthread_setspecific(thread_end, buffer);
    kymo_thread_buffers_[log->hot.buffer] = &buffer->hot;
  }
  return buffer;
}
