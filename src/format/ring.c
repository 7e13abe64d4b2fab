/* SPDX-License-Identifier: MIT */
/*
 * The rings of a process, live or dead: a directory with a pool file and the metadata of what it holds. Each
 * packet is copied out with its header finished, so the reader sees an ordinary CTF stream. What a live process
 * records after it was opened is not part of the trace: it may be of classes that were described later.
 */
#include "ring/ring.h"
#include "base/fail.h"
#include "format/description.h"
#include "format/formats.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* One pool, shared by its streams. */
struct pool {
  struct kymo_pool_view view;
  uint32_t users;
  char path[4096];
};

struct ring_source {
  struct pool *pool;
  uint32_t slot, alternate;
  uint64_t end, word; /* where the ring ended before the description was read: the packet, and how far it was filled */
};

/* One pass over a ring: an empty packet, the packets, an empty packet if events were lost behind them. */
struct kymo_cursor {
  const struct ring_source *source;
  struct kymo_ring_view ring;
  uint64_t next;
  struct kymo_packet_header last;
  enum { AT_START, AT_PACKETS, AT_LOSS, AT_END } at;
  uint32_t bytes, used; /* in the buffer, and how much of it has been skipped */
  uint8_t *buffer;      /* room for one empty packet and a full one */
};

/* ---- cursor ---- */

static int ring_begin(struct kymo_cursor **cursor, void *source, struct kymo_error *error) {
  const struct ring_source *from = source;
  struct kymo_cursor *c = calloc(1, sizeof *c);
  if (c)
    c->buffer = calloc(1, KYMO_PACKET_HEADER_SIZE + from->pool->view.packet_size + KYMO_SLACK);
  if (!c || !c->buffer) {
    free(c);
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  }
  uint64_t end;
  c->source = from;
  c->ring = kymo_pool_ring(&from->pool->view, from->slot, from->alternate);
  kymo_ring_range(&c->ring, &c->next, &end);
  *cursor = c;
  return KYMO_OK;
}

/* Fills the buffer with the next packet that is still there; false at the end. */
static bool take_packet(struct kymo_cursor *c) {
  uint8_t *at = c->buffer + (c->at == AT_START ? KYMO_PACKET_HEADER_SIZE : 0);
  while (c->next < c->source->end) {
    uint32_t bytes;
    if (kymo_ring_copy(&c->ring, c->next++, at, &bytes) == KYMO_COPY_GONE)
      continue;
    if (c->next == c->source->end)
      kymo_ring_cut(at, c->source->word, &bytes);
    memcpy(&c->last, at, sizeof c->last);
    c->bytes = (uint32_t)(at - c->buffer) + bytes;
    if (c->at == AT_START)
      kymo_ring_empty(c->buffer, &c->last, c->last.packet_seq_num - 1, c->last.timestamp_begin,
                      kymo_ring_discarded_before(&c->ring, &c->last));
    c->at = AT_PACKETS;
    return true;
  }
  return false;
}

static bool refill(struct kymo_cursor *c) {
  c->used = c->bytes = 0;
  if (c->at < AT_LOSS && take_packet(c))
    return true;
  uint64_t discarded = kymo_ring_discarded(&c->ring), time = c->last.timestamp_end;
  bool is_first = c->at == AT_START, lost = c->at < AT_LOSS && discarded > c->last.events_discarded;
  c->at = AT_END;
  if (!lost)
    return false;
  if (is_first) { /* the ring lost events and stored none */
    c->last = kymo_ring_header(&c->ring);
    time = c->last.timestamp_begin;
    kymo_ring_empty(c->buffer, &c->last, 0, time, 0);
    c->bytes = KYMO_PACKET_HEADER_SIZE;
  }
  kymo_ring_empty(c->buffer + c->bytes, &c->last, c->last.packet_seq_num + 1, time, discarded);
  c->bytes += KYMO_PACKET_HEADER_SIZE;
  return true;
}

static int ring_next(struct kymo_cursor *c, struct kymo_chunk *chunk, struct kymo_error *error) {
  (void)error;
  if (c->used == c->bytes && (c->at == AT_END || !refill(c)))
    return KYMO_END;
  *chunk = (struct kymo_chunk){.data = c->buffer + c->used,
                               .size_bytes = c->bytes - c->used,
                               .path = c->source->pool->path,
                               .offset =
                                   (uint64_t)(c->ring.data - (const uint8_t *)c->source->pool->view.header) +
                                   (c->next ? c->next - 1 : 0) % c->ring.packets * c->source->pool->view.packet_size};
  return KYMO_OK;
}

static void ring_skip(struct kymo_cursor *c, uint64_t size_bytes) {
  c->used += size_bytes < c->bytes - c->used ? (uint32_t)size_bytes : c->bytes - c->used;
}

static void ring_end(struct kymo_cursor *c) {
  free(c->buffer);
  free(c);
}

static void give_up(struct pool *pool) {
  if (--pool->users)
    return;
  kymo_pool_close(&pool->view);
  free(pool);
}

static void ring_free(void *source) {
  struct ring_source *from = source;
  give_up(from->pool);
  free(from);
}

static const struct kymo_source_operations operations = {
    .begin = ring_begin,
    .next = ring_next,
    .skip = ring_skip,
    .end = ring_end,
    .free = ring_free,
};

/* ---- opening ---- */

static bool ring_probe(const char *path) {
  char file[4096];
  struct stat st;
  return (size_t)snprintf(file, sizeof file, "%s/%s", path, KYMO_POOL_FILE) < sizeof file &&
         !stat(file, &st) && S_ISREG(st.st_mode);
}

/* Every ring that was used, as it stands now, for the caller to free. NULL: out of memory. */
static struct ring_source *list_rings(struct pool *pool, size_t *count) {
  uint32_t slots = kymo_pool_slots(&pool->view);
  struct ring_source *list = calloc((size_t)slots * 2 + 1, sizeof *list);
  *count = 0;
  for (uint32_t i = 0; list && i < slots * 2; i++) {
    struct ring_source source = {.pool = pool, .slot = i / 2, .alternate = i % 2};
    struct kymo_ring_view ring = kymo_pool_ring(&pool->view, source.slot, source.alternate);
    uint64_t first;
    kymo_ring_range(&ring, &first, &source.end);
    source.word = source.end ? kymo_ring_word(&ring, source.end - 1) : 0;
    if (source.end || kymo_ring_discarded(&ring))
      list[(*count)++] = source;
  }
  return list;
}

static int add_ring(struct kymo_trace *trace, struct kymo_part *part, const struct ring_source *which,
                    struct kymo_error *error) {
  struct ring_source *source = malloc(sizeof *source);
  if (!source)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  *source = *which;
  source->pool->users++;
  return kymo_part_add_stream(
      trace, part,
      &(struct kymo_stream_source){.operations = &operations,
                                   .source = source,
                                   .class_ = part->schema->stream_count ? part->schema->streams[0] : NULL,
                                   .path = which->pool->path,
                                   .instance = (uint64_t)which->slot * 2 + which->alternate},
      error);
}

/* Describes the rings after they were looked at, so that nothing in them is of a class that is not described. */
static int add_rings(struct kymo_trace *trace, const char *path, struct pool *pool, struct kymo_error *error) {
  size_t count;
  struct kymo_part *part = NULL;
  struct ring_source *rings = list_rings(pool, &count);
  if (!rings)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  struct kymo_error local = {0}, *told = error ? error : &local;
  struct kymo_part_source source = {.format = "ring", .path = path};
  source.schema = kymo_description_load(trace, path, true, told);
  int status = source.schema ? kymo_trace_add_part(trace, &source, &part, error) : told->code;
  for (size_t i = 0; i < count && !status; i++)
    status = add_ring(trace, part, &rings[i], error);
  free(rings);
  return status;
}

static int open_one(struct kymo_trace *trace, const char *path, struct kymo_error *error) {
  struct pool *pool = calloc(1, sizeof *pool);
  if (!pool)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  pool->users = 1;
  snprintf(pool->path, sizeof pool->path, "%s/%s", path, KYMO_POOL_FILE);
  int status = kymo_pool_open(&pool->view, path, false, error);
  if (!status)
    status = add_rings(trace, path, pool, error);
  give_up(pool);
  return status;
}

static int ring_open(struct kymo_trace *trace, const char *const *paths, size_t count,
                     struct kymo_error *error) {
  int status = KYMO_OK;
  for (size_t i = 0; i < count && !status; i++)
    status = open_one(trace, paths[i], error);
  return status;
}

const struct kymo_format kymo_format_ring = {
    .name = "ring",
    .summary = "the rings of a live or dead process, as kymo's recorder leaves them",
    .probe = ring_probe,
    .open = ring_open,
};
