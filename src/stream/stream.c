/* SPDX-License-Identifier: MIT */
/* Opening, closing and flushing streams. */
#include "stream/stream.h"
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
static struct kymo_stream_state *streams[KYMO_STREAMS_MAX_];

/* ---- fork, exit ---- */

void kymo_streams_lock(void) { pthread_mutex_lock(&lock); }

void kymo_streams_unlock(void) { pthread_mutex_unlock(&lock); }

static void forget(struct kymo_stream_state *stream) {
  for (struct kymo_lane *lane = stream->lanes; lane; lane = lane->next)
    kymo_lane_forget(lane, stream->cpu || kymo_lanes_[stream->hot.lane] == &lane->hot);
  stream->child = getpid();
  stream->hot.sequence = 0;
  stream->truncated = stream->lost = 0;
  stream->write_reason = 0;
  if (getrandom(stream->uuid, sizeof stream->uuid, GRND_NONBLOCK) < 0)
    stream->uuid[0]++;
}

static void in_child(void) {
  for (int i = 0; i < KYMO_STREAMS_MAX_; i++)
    if (streams[i])
      forget(streams[i]);
  pthread_mutex_unlock(&lock);
}

static void watch(void) {
  kymo_lane_watch_threads();
  pthread_atfork(kymo_streams_lock, kymo_streams_unlock, in_child);
}

/* The program has not closed these streams, so nothing else checks whether all packets were written. */
__attribute__((destructor)) static void at_exit(void) {
  struct kymo_stream_counts counts;
  for (int i = 0; i < KYMO_STREAMS_MAX_; i++) {
    struct kymo_stream_state *stream = streams[i];
    if (!stream)
      continue;
    kymo_stream_flush(&stream->hot);
    kymo_stream_count(&stream->hot, &counts);
    if (counts.write_errors)
      kymo_console_error("the stream %s lacks %llu packets that could not be written: %s", stream->path,
                         (unsigned long long)counts.write_errors, strerrordesc_np(stream->write_reason));
  }
}

/* ---- opening ---- */

static bool read_options(struct kymo_stream_options *out, const struct kymo_stream_options *given,
                         size_t size) {
  *out = (struct kymo_stream_options){0};
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

/* The stream's tracepoint: "stream, NAME", as a macro would have written it. */
static bool name_point(struct kymo_stream_state *stream) {
  const char *slash = strrchr(stream->path, '/'), *name = slash ? slash + 1 : stream->path;
  int length = snprintf(stream->text, sizeof stream->text, "stream, %s%c%s", name, 0, __FILE__);
  if (!*name || length < 0 || (size_t)length >= sizeof stream->text || strpbrk(name, ",()[]{}\"'\\ \t\n"))
    return false;
  stream->point.enabled = 1;
  stream->point.flags = KYMO_POINT_STREAM_;
  stream->entry.offset[0] = (int32_t)((intptr_t)&stream->point - (intptr_t)&stream->entry.offset[0]);
  stream->entry.offset[1] = (int32_t)((intptr_t)stream->text - (intptr_t)&stream->entry.offset[1]);
  stream->hot.point = &stream->point;
  return true;
}

static bool make_cpus(struct kymo_stream_state *stream) {
  long cpus = sysconf(_SC_NPROCESSORS_CONF);
  stream->cpus = cpus > 0 ? (uint32_t)cpus : 1;
  stream->cpu = calloc(stream->cpus, sizeof *stream->cpu);
  for (uint32_t i = 0; stream->cpu && i < stream->cpus; i++)
    if (!(stream->cpu[i] = kymo_lane_attach(stream)))
      return false;
  return stream->cpu;
}

/* Buffers stay mapped: threads may have pointers to them. Their memory is released. */
static void free_stream(struct kymo_stream_state *stream) {
  struct kymo_lane *next;
  for (struct kymo_lane *lane = stream->lanes; lane; lane = next) {
    next = lane->next;
    kymo_lane_release(lane);
    if (lane->file >= 0)
      close(lane->file);
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE),
              begin = ((uintptr_t)lane->nested + page - 1) / page * page;
    uintptr_t end = (uintptr_t)lane->packets +
                    (stream->options.is_memory ? stream->options.packets : 1) * stream->options.packet_bytes;
    if (end > begin)
      madvise((void *)begin, end - begin, MADV_DONTNEED);
  }
  kymo_definitions_free(stream);
  free(stream->cpu);
  free(stream);
}

static struct kymo_stream_state *make(const char *path, const struct kymo_stream_options *options) {
  struct kymo_stream_state *stream = calloc(1, sizeof *stream);
  if (!stream)
    return NULL;
  stream->options = *options;
  stream->hot.frame = options->is_framed ? KYMO_FRAME_BYTES_ : 0;
  stream->hot.event_max = options->event_bytes_max;
  snprintf(stream->path, sizeof stream->path, "%s", path);
  if (getrandom(stream->uuid, sizeof stream->uuid, 0) < 0)
    memcpy(stream->uuid, &stream, sizeof stream);
  if (!name_point(stream)) {
    free(stream);
    errno = EINVAL;
    return NULL;
  }
  return stream;
}

/* Assigns the stream a place in every thread's table. */
static bool enter(struct kymo_stream_state *stream) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch);
  pthread_mutex_lock(&lock);
  uint32_t index = 0;
  while (index < KYMO_STREAMS_MAX_ && streams[index])
    index++;
  if (index < KYMO_STREAMS_MAX_) {
    stream->hot.lane = index;
    streams[index] = stream;
  }
  pthread_mutex_unlock(&lock);
  errno = ENFILE;
  return index < KYMO_STREAMS_MAX_;
}

static void leave(struct kymo_stream_state *stream) {
  pthread_mutex_lock(&lock);
  streams[stream->hot.lane] = NULL;
  pthread_mutex_unlock(&lock);
}

static struct kymo_stream_state *open_one(const char *path, const struct kymo_stream_options *options) {
  struct kymo_stream_state *stream = make(path, options);
  if (!stream)
    return NULL;
  if (!enter(stream)) {
    free_stream(stream);
    errno = ENFILE;
    return NULL;
  }
  if (options->files == KYMO_FILES_PER_CPU && !make_cpus(stream)) {
    leave(stream);
    free_stream(stream);
    errno = ENOMEM;
    return NULL;
  }
  kymo_register_(stream->entry.offset, stream->entry.offset + 2);
  return stream;
}

struct kymo_bstream *kymo_stream_open_(const char *path, const struct kymo_stream_options *options,
                                       size_t size) {
  struct kymo_stream_options taken;
  if (!path || strlen(path) > KYMO_STREAM_PATH_MAX - 16 || !read_options(&taken, options, size)) {
    errno = EINVAL;
    return NULL;
  }
  struct kymo_stream_state *stream = open_one(path, &taken);
  if (!stream || !taken.has_text_apart)
    return stream ? &stream->hot : NULL;
  char apart[KYMO_STREAM_PATH_MAX];
  snprintf(apart, sizeof apart, "%.*s.text", (int)sizeof apart - 6, path);
  stream->apart = open_one(apart, &taken);
  if (stream->apart)
    return &stream->hot;
  int reason = errno;
  kymo_stream_close(&stream->hot);
  errno = reason;
  return NULL;
}

/* ---- flushing ---- */

int kymo_stream_flush(struct kymo_bstream *hot) {
  struct kymo_stream_state *stream = kymo_stream_state(hot);
  int status = 0, reason = 0;
  sigset_t before;
  for (struct kymo_lane *lane = __atomic_load_n(&stream->lanes, __ATOMIC_ACQUIRE); lane; lane = lane->next) {
    kymo_lane_lock(lane, &before);
    if (kymo_lane_flush(lane) && !status)
      status = -1, reason = errno;
    kymo_lane_unlock(lane, &before);
  }
  if (stream->apart && kymo_stream_flush(&stream->apart->hot) && !status)
    status = -1, reason = errno;
  errno = reason ? reason : errno;
  return status;
}

int kymo_stream_close(struct kymo_bstream *hot) {
  if (!hot)
    return 0;
  struct kymo_stream_state *stream = kymo_stream_state(hot);
  kymo_stream_flush(hot);
  int reason = __atomic_load_n(&stream->write_reason, __ATOMIC_RELAXED), status = reason ? -1 : 0;
  struct kymo_stream_state *apart = stream->apart;
  stream->apart = NULL;
  kymo_unregister_(stream->entry.offset);
  if (kymo_lanes_[hot->lane]->stream == hot)
    kymo_lanes_[hot->lane] = &kymo_no_lane;
  leave(stream);
  free_stream(stream);
  if (apart && kymo_stream_close(&apart->hot) && !status)
    status = -1, reason = errno;
  errno = reason ? reason : errno;
  return status;
}

int kymo_stream_save(struct kymo_bstream *hot, const char *path) {
  struct kymo_stream_state *stream = kymo_stream_state(hot);
  int status = 0, reason = EINVAL;
  sigset_t before;
  if (!stream->options.is_memory) {
    errno = EINVAL;
    return -1;
  }
  for (struct kymo_lane *lane = __atomic_load_n(&stream->lanes, __ATOMIC_ACQUIRE); lane; lane = lane->next) {
    kymo_lane_lock(lane, &before);
    if (kymo_lane_write_to(lane, path) && !status)
      status = -1, reason = errno;
    kymo_lane_unlock(lane, &before);
  }
  errno = status ? reason : errno;
  return status;
}

void kymo_stream_count_(struct kymo_bstream *hot, struct kymo_stream_counts *counts, size_t size) {
  struct kymo_stream_state *stream = kymo_stream_state(hot);
  sigset_t before;
  struct kymo_stream_counts own = {.truncated = __atomic_load_n(&stream->truncated, __ATOMIC_RELAXED),
                                   .lost = __atomic_load_n(&stream->lost, __ATOMIC_RELAXED)};
  for (struct kymo_lane *lane = __atomic_load_n(&stream->lanes, __ATOMIC_ACQUIRE); lane; lane = lane->next) {
    kymo_lane_lock(lane, &before);
    own.bytes += lane->bytes + (uint64_t)(__atomic_load_n(&lane->hot.at, __ATOMIC_ACQUIRE) - lane->flushed);
    own.write_errors += lane->write_errors;
    kymo_lane_unlock(lane, &before);
  }
  kymo_sized_out(counts, size, &own, sizeof own);
}

/* ---- bytes, text ---- */

int kymo_stream_lose(struct kymo_bstream *stream) {
  __atomic_fetch_add(&kymo_stream_state(stream)->lost, 1, __ATOMIC_RELAXED);
  errno = EMSGSIZE;
  return -1;
}

static int store(struct kymo_bstream *stream, const void *bytes, size_t size, uint32_t flags) {
  if (!__atomic_load_n(&stream->point->enabled, __ATOMIC_RELAXED))
    return 0;
  if (size > stream->event_max)
    return kymo_stream_lose(stream);
  if (flags & KYMO_FRAME_CUT_)
    __atomic_fetch_add(&kymo_stream_state(stream)->truncated, 1, __ATOMIC_RELAXED);
  struct kymo_bplace_ place = kymo_breserve_(stream, size, flags);
  if (!place.at)
    return -1;
  memcpy(place.at, bytes, size);
  kymo_bcommit_(place, place.at + size);
  return (int)size;
}

int kymo_stream_write(struct kymo_bstream *stream, const void *bytes, size_t size) {
  return store(stream, bytes, size, 0);
}

int kymo_stream_printf(struct kymo_bstream *stream, const char *format, ...) {
  struct kymo_stream_state *apart = kymo_stream_state(stream)->apart;
  char text[4096];
  va_list args;
  if (!__atomic_load_n(&stream->point->enabled, __ATOMIC_RELAXED))
    return 0;
  va_start(args, format);
  int length = vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (length < 0)
    return -1;
  bool is_cut = (size_t)length >= sizeof text;
  return store(apart ? &apart->hot : stream, text, is_cut ? sizeof text - 1 : (size_t)length,
               KYMO_FRAME_TEXT_ | (is_cut ? KYMO_FRAME_CUT_ : 0));
}

/* ---- what programs put into headers ---- */

uint32_t kymo_sequence(struct kymo_bstream *stream) {
  return __atomic_fetch_add(&stream->sequence, 1, __ATOMIC_RELAXED);
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
