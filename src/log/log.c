/* SPDX-License-Identifier: MIT */
/* Opening, closing and flushing logs. */
#include "log/log.h"
#include "base/sized.h"
#include <errno.h>
#include <kymo/site.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PACKET_BYTES = 64 << 10, PACKETS = 16, EVENT_MAX = 1 << 20, EVENT_LIMIT = KYMO_FRAME_LENGTH_ };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kymo_log_state *logs[KYMO_LOGS_MAX_];

/* ---- fork, exit ---- */

void kymo_logs_lock(void) { pthread_mutex_lock(&lock); }

void kymo_logs_unlock(void) { pthread_mutex_unlock(&lock); }

static void forget(struct kymo_log_state *log) {
  for (struct kymo_thread_buffer *buffer = log->buffers; buffer; buffer = buffer->next)
    kymo_thread_buffer_forget(buffer, log->cpu || kymo_thread_buffers_[log->hot.buffer] == &buffer->hot);
  log->child = getpid();
  log->hot.sequence = 0;
  log->truncated = log->lost = 0;
  log->write_reason = 0;
  if (getrandom(log->uuid, sizeof log->uuid, GRND_NONBLOCK) < 0)
    log->uuid[0]++;
}

static void in_child(void) {
  for (int i = 0; i < KYMO_LOGS_MAX_; i++)
    if (logs[i])
      forget(logs[i]);
  pthread_mutex_unlock(&lock);
}

static void watch(void) {
  kymo_thread_buffer_watch_threads();
  pthread_atfork(kymo_logs_lock, kymo_logs_unlock, in_child);
}

/* The program has not closed these logs, so nothing else checks whether all packets were written. */
__attribute__((destructor)) static void at_exit(void) {
  struct kymo_log_counts counts;
  for (int i = 0; i < KYMO_LOGS_MAX_; i++) {
    struct kymo_log_state *log = logs[i];
    if (!log)
      continue;
    kymo_log_flush(&log->hot);
    kymo_log_count(&log->hot, &counts);
    if (counts.write_errors)
      kymo_console_error("the log %s lacks %llu packets that could not be written: %s", log->path,
                         (unsigned long long)counts.write_errors, strerrordesc_np(log->write_reason));
  }
}

/* ---- opening ---- */

static bool read_options(struct kymo_log_options *out, const struct kymo_log_options *given, size_t size) {
  *out = (struct kymo_log_options){0};
  if (given)
    kymo_sized_in(out, sizeof *out, given, size);
  out->packet_bytes = out->packet_bytes ? out->packet_bytes : PACKET_BYTES;
  out->packets = out->packets ? out->packets : PACKETS;
  out->event_bytes_max = out->event_bytes_max ? out->event_bytes_max : EVENT_MAX;
  if (out->is_memory && out->event_bytes_max > out->packet_bytes - KYMO_FRAME_BYTES_)
    out->event_bytes_max = out->packet_bytes - KYMO_FRAME_BYTES_;
  return out->packet_bytes >= 64 && out->packet_bytes <= EVENT_LIMIT && out->packets <= 1 << 20 &&
         out->event_bytes_max <= EVENT_LIMIT && out->files <= KYMO_FILES_PER_CPU &&
         (!out->is_memory || out->packets > 1) && out->packets <= SIZE_MAX / 4 / out->packet_bytes &&
         !(out->is_memory && out->rotate_bytes);
}

/* The log's tracepoint: "log, NAME", as a macro would have written it. */
static bool name_point(struct kymo_log_state *log) {
  const char *slash = strrchr(log->path, '/'), *name = slash ? slash + 1 : log->path;
  int length = snprintf(log->text, sizeof log->text, "log, %s%c%s", name, 0, __FILE__);
  if (!*name || length < 0 || (size_t)length >= sizeof log->text || strpbrk(name, ",()[]{}\"'\\ \t\n"))
    return false;
  log->point.enabled = 1;
  log->point.flags = KYMO_POINT_LOG_;
  log->entry.offset[0] = (int32_t)((intptr_t)&log->point - (intptr_t)&log->entry.offset[0]);
  log->entry.offset[1] = (int32_t)((intptr_t)log->text - (intptr_t)&log->entry.offset[1]);
  log->hot.point = &log->point;
  return true;
}

static bool make_cpus(struct kymo_log_state *log) {
  long cpus = sysconf(_SC_NPROCESSORS_CONF);
  log->cpus = cpus > 0 ? (uint32_t)cpus : 1;
  log->cpu = calloc(log->cpus, sizeof *log->cpu);
  for (uint32_t i = 0; log->cpu && i < log->cpus; i++)
    if (!(log->cpu[i] = kymo_thread_buffer_attach(log)))
      return false;
  return log->cpu;
}

/* Buffers stay mapped: threads may have pointers to them. Their memory is released. */
static void free_log(struct kymo_log_state *log) {
  struct kymo_thread_buffer *next;
  for (struct kymo_thread_buffer *buffer = log->buffers; buffer; buffer = next) {
    next = buffer->next;
    kymo_thread_buffer_release(buffer);
    if (buffer->file >= 0)
      close(buffer->file);
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE),
              begin = ((uintptr_t)buffer->nested + page - 1) / page * page;
    uintptr_t end = (uintptr_t)buffer->packets +
                    (log->options.is_memory ? log->options.packets : 1) * log->options.packet_bytes;
    if (end > begin)
      madvise((void *)begin, end - begin, MADV_DONTNEED);
  }
  kymo_event_definitions_free(log);
  free(log->cpu);
  free(log);
}

static struct kymo_log_state *make(const char *path, const struct kymo_log_options *options) {
  struct kymo_log_state *log = calloc(1, sizeof *log);
  if (!log)
    return NULL;
  log->options = *options;
  log->hot.frame = options->is_framed ? KYMO_FRAME_BYTES_ : 0;
  log->hot.event_max = options->event_bytes_max;
  snprintf(log->path, sizeof log->path, "%s", path);
  if (getrandom(log->uuid, sizeof log->uuid, 0) < 0)
    memcpy(log->uuid, &log, sizeof log);
  if (!name_point(log)) {
    free(log);
    errno = EINVAL;
    return NULL;
  }
  return log;
}

/* Assigns the log a place in every thread's table. */
static bool enter(struct kymo_log_state *log) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch);
  pthread_mutex_lock(&lock);
  uint32_t index = 0;
  while (index < KYMO_LOGS_MAX_ && logs[index])
    index++;
  if (index < KYMO_LOGS_MAX_) {
    log->hot.buffer = index;
    logs[index] = log;
  }
  pthread_mutex_unlock(&lock);
  errno = ENFILE;
  return index < KYMO_LOGS_MAX_;
}

static void leave(struct kymo_log_state *log) {
  pthread_mutex_lock(&lock);
  logs[log->hot.buffer] = NULL;
  pthread_mutex_unlock(&lock);
}

static struct kymo_log_state *open_one(const char *path, const struct kymo_log_options *options) {
  struct kymo_log_state *log = make(path, options);
  if (!log)
    return NULL;
  if (!enter(log)) {
    free_log(log);
    errno = ENFILE;
    return NULL;
  }
  if (options->files == KYMO_FILES_PER_CPU && !make_cpus(log)) {
    leave(log);
    free_log(log);
    errno = ENOMEM;
    return NULL;
  }
  kymo_register_(log->entry.offset, log->entry.offset + 2);
  return log;
}

struct kymo_log *kymo_log_open_(const char *path, const struct kymo_log_options *options, size_t size) {
  struct kymo_log_options taken;
  if (!path || strlen(path) > KYMO_LOG_PATH_MAX - 16 || !read_options(&taken, options, size)) {
    errno = EINVAL;
    return NULL;
  }
  struct kymo_log_state *log = open_one(path, &taken);
  if (!log || !taken.has_text_apart)
    return log ? &log->hot : NULL;
  char apart[KYMO_LOG_PATH_MAX];
  snprintf(apart, sizeof apart, "%.*s.text", (int)sizeof apart - 6, path);
  log->apart = open_one(apart, &taken);
  if (log->apart)
    return &log->hot;
  int reason = errno;
  kymo_log_close(&log->hot);
  errno = reason;
  return NULL;
}

/* ---- flushing ---- */

int kymo_log_flush(struct kymo_log *hot) {
  struct kymo_log_state *log = kymo_log_state(hot);
  int status = 0, reason = 0;
  sigset_t before;
  for (struct kymo_thread_buffer *buffer = __atomic_load_n(&log->buffers, __ATOMIC_ACQUIRE); buffer;
       buffer = buffer->next) {
    kymo_thread_buffer_lock(buffer, &before);
    if (kymo_thread_buffer_flush(buffer) && !status)
      status = -1, reason = errno;
    kymo_thread_buffer_unlock(buffer, &before);
  }
  if (log->apart && kymo_log_flush(&log->apart->hot) && !status)
    status = -1, reason = errno;
  errno = reason ? reason : errno;
  return status;
}

int kymo_log_close(struct kymo_log *hot) {
  if (!hot)
    return 0;
  struct kymo_log_state *log = kymo_log_state(hot);
  kymo_log_flush(hot);
  int reason = __atomic_load_n(&log->write_reason, __ATOMIC_RELAXED), status = reason ? -1 : 0;
  struct kymo_log_state *apart = log->apart;
  log->apart = NULL;
  kymo_unregister_(log->entry.offset);
  if (kymo_thread_buffers_[hot->buffer]->log == hot)
    kymo_thread_buffers_[hot->buffer] = &kymo_no_thread_buffer;
  leave(log);
  free_log(log);
  if (apart && kymo_log_close(&apart->hot) && !status)
    status = -1, reason = errno;
  errno = reason ? reason : errno;
  return status;
}

int kymo_log_save(struct kymo_log *hot, const char *path) {
  struct kymo_log_state *log = kymo_log_state(hot);
  int status = 0, reason = EINVAL;
  sigset_t before;
  if (!log->options.is_memory) {
    errno = EINVAL;
    return -1;
  }
  for (struct kymo_thread_buffer *buffer = __atomic_load_n(&log->buffers, __ATOMIC_ACQUIRE); buffer;
       buffer = buffer->next) {
    kymo_thread_buffer_lock(buffer, &before);
    if (kymo_thread_buffer_write_to(buffer, path) && !status)
      status = -1, reason = errno;
    kymo_thread_buffer_unlock(buffer, &before);
  }
  errno = status ? reason : errno;
  return status;
}

void kymo_log_count_(struct kymo_log *hot, struct kymo_log_counts *counts, size_t size) {
  struct kymo_log_state *log = kymo_log_state(hot);
  sigset_t before;
  struct kymo_log_counts own = {.truncated = __atomic_load_n(&log->truncated, __ATOMIC_RELAXED),
                                .lost = __atomic_load_n(&log->lost, __ATOMIC_RELAXED)};
  for (struct kymo_thread_buffer *buffer = __atomic_load_n(&log->buffers, __ATOMIC_ACQUIRE); buffer;
       buffer = buffer->next) {
    kymo_thread_buffer_lock(buffer, &before);
    own.bytes +=
        buffer->bytes + (uint64_t)(__atomic_load_n(&buffer->hot.at, __ATOMIC_ACQUIRE) - buffer->flushed);
    own.write_errors += buffer->write_errors;
    kymo_thread_buffer_unlock(buffer, &before);
  }
  kymo_sized_out(counts, size, &own, sizeof own);
}

/* ---- bytes, text ---- */

int kymo_log_lose(struct kymo_log *log) {
  __atomic_fetch_add(&kymo_log_state(log)->lost, 1, __ATOMIC_RELAXED);
  errno = EMSGSIZE;
  return -1;
}

static int store(struct kymo_log *log, const void *bytes, size_t size, uint32_t flags) {
  if (!__atomic_load_n(&log->point->enabled, __ATOMIC_RELAXED))
    return 0;
  if (size > log->event_max)
    return kymo_log_lose(log);
  if (flags & KYMO_FRAME_CUT_)
    __atomic_fetch_add(&kymo_log_state(log)->truncated, 1, __ATOMIC_RELAXED);
  struct kymo_bplace_ place = kymo_breserve_(log, size, flags);
  if (!place.at)
    return -1;
  memcpy(place.at, bytes, size);
  kymo_bcommit_(place, place.at + size);
  return (int)size;
}

int kymo_log_write(struct kymo_log *log, const void *bytes, size_t size) {
  return store(log, bytes, size, 0);
}

int kymo_log_printf(struct kymo_log *log, const char *format, ...) {
  struct kymo_log_state *apart = kymo_log_state(log)->apart;
  char text[4096];
  va_list args;
  if (!__atomic_load_n(&log->point->enabled, __ATOMIC_RELAXED))
    return 0;
  va_start(args, format);
  int length = vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (length < 0)
    return -1;
  bool is_cut = (size_t)length >= sizeof text;
  return store(apart ? &apart->hot : log, text, is_cut ? sizeof text - 1 : (size_t)length,
               KYMO_FRAME_TEXT_ | (is_cut ? KYMO_FRAME_CUT_ : 0));
}

/* ---- what programs put into headers ---- */

uint32_t kymo_log_next_number(struct kymo_log *log) {
  return __atomic_fetch_add(&log->sequence, 1, __ATOMIC_RELAXED);
}

uint64_t kymo_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint32_t kymo_thread_id(void) { return (uint32_t)gettid(); }

uint32_t kymo_cpu(void) {
  int cpu = sched_getcpu();
  return cpu < 0 ? 0 : (uint32_t)cpu;
}
