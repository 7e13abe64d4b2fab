/* SPDX-License-Identifier: MIT */
#include "ring/unwritten.h"
#include "base/path.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RESERVE_NAME "reserve"
#define RESERVE KYMO_HIDDEN "/" RESERVE_NAME
#define NOT_WRITTEN "stream_not_written"

enum { PATH_SIZE = 4096 };

static const char *in_trace(const struct kymo_collector *c, char path[PATH_SIZE], const char *name) {
  kymo_path_join(path, PATH_SIZE, c->directory, name);
  return path;
}

void kymo_collect_put_losses(const struct kymo_collector *c, uint8_t out[KYMO_COLLECT_LOSSES_SIZE],
                             const struct kymo_collect_losses *losses) {
  struct kymo_packet_header like = {.magic = KYMO_CTF_MAGIC, .stream_instance_id = losses->instance};
  memcpy(like.uuid, c->pool->header->uuid, sizeof like.uuid);
  kymo_ring_empty(out, &like, 0, losses->begin, 0);
  kymo_ring_empty(out + KYMO_PACKET_HEADER_SIZE, &like, 1, losses->end, losses->events);
}

/* ---- the reserve ---- */

/* Writes the whole reserve at its place, which needs no additional space. */
static bool fill(int directory, const char *path, int flags, const uint8_t bytes[KYMO_COLLECT_LOSSES_SIZE]) {
  int fd = openat(directory, path, O_WRONLY | O_CLOEXEC | flags, 0666);
  if (fd < 0)
    return false;
  bool is_written = pwrite(fd, bytes, KYMO_COLLECT_LOSSES_SIZE, 0) == KYMO_COLLECT_LOSSES_SIZE;
  return !close(fd) && is_written;
}

void kymo_collect_reserve(struct kymo_collector *c) {
  static const uint8_t zeros[KYMO_COLLECT_LOSSES_SIZE];
  char path[PATH_SIZE];
  if (c->has_reserve || (mkdir(in_trace(c, path, KYMO_HIDDEN), 0777) && errno != EEXIST))
    return;
  c->has_reserve = fill(AT_FDCWD, in_trace(c, path, RESERVE), O_CREAT, zeros);
  if (!c->has_reserve)
    unlink(path);
}

void kymo_collect_drop_reserve(struct kymo_collector *c) {
  char path[PATH_SIZE];
  if (c->has_reserve)
    unlink(in_trace(c, path, RESERVE));
  c->has_reserve = false;
}

/* The part's directory may be renamed (a single trace becomes the part), with its own .kymo; so .kymo is held
 * open. */
void kymo_collect_keep_reserve(struct kymo_collector *c) {
  char path[PATH_SIZE];
  kymo_collect_drop_kept(c);
  int fd = c->has_reserve ? open(in_trace(c, path, KYMO_HIDDEN), O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
  if (fd < 0)
    kymo_collect_drop_reserve(c);
  c->has_reserve = false;
  c->has_kept = fd >= 0;
  c->kept = fd;
}

void kymo_collect_drop_kept(struct kymo_collector *c) {
  if (!c->has_kept)
    return;
  unlinkat(c->kept, RESERVE_NAME, 0);
  close(c->kept);
  c->has_kept = false;
}

/* ---- giving up ---- */

/* The unwritten part of a ring. */
struct rest {
  uint64_t discarded, overwritten, unwritten, until;
};

static uint64_t first_event_of(const struct kymo_ring_view *ring, uint64_t packet) {
  return __atomic_load_n(&ring->packet[packet & (ring->packets - 1)].first_event, __ATOMIC_RELAXED);
}

static struct rest rest_of(const struct kymo_collector *c, const struct kymo_ring_view *ring) {
  const struct kymo_collected *to = &c->rings[ring->instance];
  uint64_t discarded = kymo_ring_discarded(ring);
  struct rest rest = {.discarded = discarded > to->before.discarded ? discarded - to->before.discarded : 0};
  uint64_t first, end, before = to->events + to->overwritten;
  rest.discarded = rest.discarded > to->discarded ? rest.discarded - to->discarded : 0;
  kymo_ring_range(ring, &first, &end);
  if (!end)
    return rest;
  uint64_t all = kymo_ring_word(ring, end - 1) >> 16, next = first > to->next ? first : to->next;
  if (all <= before)
    return rest;
  uint64_t there = next < end ? first_event_of(ring, next) : all; /* older events are overwritten */
  rest.overwritten = there > before && there <= all ? there - before : 0;
  rest.unwritten = all - before - rest.overwritten;
  rest.until = __atomic_load_n(&ring->control->shared.last, __ATOMIC_RELAXED);
  return rest;
}

/* Counts the unwritten events; the rings are not changed. */
static void count_rest(struct kymo_collector *c, struct kymo_collect_losses *losses) {
  losses->instance = (uint64_t)c->pool->slots * 2 + 1;
  uint64_t start = c->pool->header->start_clock;
  losses->begin = UINT64_MAX;
  losses->end = start;
  for (uint32_t i = 0; i < kymo_pool_slots(c->pool) * 2; i++) {
    struct kymo_ring_view ring = kymo_pool_ring(c->pool, i / 2, i % 2);
    struct rest rest = rest_of(c, &ring);
    c->sums.overwritten += rest.overwritten;
    c->unwritten += rest.unwritten;
    losses->events += rest.unwritten + rest.discarded;
    uint64_t since = c->rings[i].ever ? c->rings[i].last : start;
    if (rest.unwritten + rest.discarded && since < losses->begin)
      losses->begin = since;
    losses->end = rest.until > losses->end ? rest.until : losses->end;
  }
  if (!c->refused_written)
    losses->events += c->pool->header->events_refused - c->refused;
  if (losses->begin > losses->end)
    losses->begin = losses->end;
  c->sums.discarded += losses->events;
}

/* Counts the losses in this part if it can be read, else in the previous one. */
static void put_losses(struct kymo_collector *c, const struct kymo_collect_losses *losses,
                       bool is_described) {
  uint8_t bytes[KYMO_COLLECT_LOSSES_SIZE];
  char from[PATH_SIZE], to[PATH_SIZE];
  if (!losses->events)
    return;
  kymo_collect_put_losses(c, bytes, losses);
  if (is_described && c->has_reserve) {
    in_trace(c, from, RESERVE);
    c->has_reserve = !fill(AT_FDCWD, from, 0, bytes) || rename(from, in_trace(c, to, NOT_WRITTEN));
  } else if (c->has_kept && fill(c->kept, RESERVE_NAME, 0, bytes)) {
    renameat(c->kept, RESERVE_NAME, c->kept, "../" NOT_WRITTEN);
  }
}

bool kymo_collect_abandon(struct kymo_collector *c) {
  struct kymo_collect_losses losses = {0};
  char path[PATH_SIZE];
  count_rest(c, &losses);
  bool is_described = c->described.text || c->metadata_bytes;
  put_losses(c, &losses, is_described);
  if (!is_described) {
    kymo_collect_drop_reserve(c);
    static const char *const names[] = {KYMO_POOL_METADATA, KYMO_HIDDEN_REGISTRY, KYMO_HIDDEN_CLOCKS,
                                        KYMO_HIDDEN_MODULES};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
      unlink(in_trace(c, path, names[i]));
    rmdir(in_trace(c, path, KYMO_HIDDEN));
  }
  return is_described;
}
