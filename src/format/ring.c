/* SPDX-License-Identifier: MIT */
/*
 * The rings of a process, live or dead: a directory with a pool file and the metadata of its events. Each
 * packet is copied with a complete header, so the reader sees an ordinary CTF stream.
 *
 * A live process goes on meanwhile, and may overwrite its packets within microseconds. So each pass takes the
 * rings as they are when it begins (or at each look, if they are followed). If the description has grown
 * since it was read, events may be of unknown classes, and the pass ends where the rings ended before that.
 */
#include "ring/ring.h"
#include "base/fail.h"
#include "base/path.h"
#include "format/clocks.h"
#include "format/description.h"
#include "format/formats.h"
#include "format/modules.h"
#include "format/notes.h"
#include "ring/exits.h"
#include "source/format.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* How often a pass tries again to copy a ring that is overwritten faster than it can be copied. */
#define LOOKS_MAX 16

enum { CAUSE_MAX = KYMO_PROGRAM_MAX + KYMO_EXIT_TEXT_MAX + 32 };

/* One pool, shared by its streams. */
struct pool {
  struct kymo_pool_view view;
  bool is_cut; /* truncated while it was read; already reported */
  uint32_t users;
  off_t described; /* length of the metadata before it was read */
  bool is_over;    /* the process has ended: no more events follow */
  char path[4096], metadata[4096];
};

/* The end of a ring: the packet, and its fill level. */
struct extent {
  uint64_t end, word;
};

struct ring_source {
  const struct kymo_trace *trace;
  struct pool *pool;
  uint32_t slot, alternate;
  struct extent described; /* before the description was read */
};

/* One pass over a ring: an empty packet, the packets, and an empty packet if events were lost after them. */
struct kymo_cursor {
  const struct ring_source *source;
  struct kymo_ring_view ring;
  uint64_t next;
  uint32_t shown; /* bytes of that packet that were returned while it was open, if followed; 0: none */
  struct extent extent;
  unsigned looks;
  struct kymo_packet_header last;
  enum { AT_START, AT_PACKETS, AT_LOSS, AT_END } at;
  uint32_t bytes, used; /* in the buffer, and how many of them were skipped */
  uint8_t *buffer;      /* space for one empty packet and a full one */
};

/* ---- cursor ---- */

static off_t length_of(const char *path) {
  struct stat st;
  return stat(path, &st) ? -1 : st.st_size;
}

static struct extent extent_now(const struct kymo_ring_view *ring, uint64_t *first) {
  struct extent extent;
  kymo_ring_range(ring, first, &extent.end);
  extent.word = extent.end ? kymo_ring_word(ring, extent.end - 1) : 0;
  return extent;
}

/* Determines what the pass is to copy. A class is described before its first event, so if the description has
 * not grown, all events in the ring up to here are of known classes. */
static void look(struct kymo_cursor *c) {
  uint64_t first;
  c->extent = extent_now(&c->ring, &first);
  if (first > c->next) {
    c->next = first;
    c->shown = 0;
  }
  off_t length = length_of(c->source->pool->metadata);
  if (length >= 0 &&
      length != c->source->pool->described) /* below 0: the process removed it, and adds no more */
    c->extent = c->source->described;
}

static int ring_begin(struct kymo_cursor **cursor, void *source, struct kymo_error *error) {
  const struct ring_source *from = source;
  struct kymo_cursor *c = calloc(1, sizeof *c);
  if (c)
    c->buffer = calloc(1, KYMO_PACKET_HEADER_SIZE + from->pool->view.packet_size + KYMO_SLACK);
  if (!c || !c->buffer) {
    free(c);
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  }
  c->source = from;
  c->ring = kymo_pool_ring(&from->pool->view, from->slot, from->alternate);
  look(c);
  *cursor = c;
  return KYMO_OK;
}

/* Copies the next packet that still exists to `at`; false if there is none. */
static bool copy_packet(struct kymo_cursor *c, uint8_t *at, uint32_t *bytes) {
  while (c->next < c->extent.end) {
    if (kymo_ring_copy(&c->ring, c->next++, at, bytes) == KYMO_COPY_GONE)
      continue;
    if (c->next == c->extent.end)
      kymo_ring_cut(at, c->extent.word, bytes);
    return true;
  }
  return false;
}

static uint32_t content_of(const uint8_t *packet) {
  struct kymo_packet_header h;
  memcpy(&h, packet, sizeof h);
  return (uint32_t)(h.content_size / 8);
}

/* Removes from a copied packet the part that was returned already; false if nothing is left. */
static bool take_off(uint8_t *packet, uint32_t shown, uint32_t *bytes) {
  struct kymo_packet_header h;
  memcpy(&h, packet, sizeof h);
  uint32_t content = (uint32_t)(h.content_size / 8), from = (shown + 7) & ~7u; /* where events may begin */
  if (!shown || content <= from)
    return !shown;
  uint32_t less = from - (uint32_t)sizeof h;
  memmove(packet + sizeof h, packet + from, *bytes - from);
  *bytes -= less;
  h.content_size -= (uint64_t)less * 8;
  h.packet_size -= (uint64_t)less * 8;
  memcpy(packet, &h, sizeof h);
  return true;
}

/* The same for followed rings: the new events of an open packet become a packet of their own. */
static bool copy_more(struct kymo_cursor *c, uint8_t *at, uint32_t *bytes) {
  while (c->next < c->extent.end) {
    enum kymo_copy copy = kymo_ring_copy(&c->ring, c->next, at, bytes);
    uint32_t whole = copy == KYMO_COPY_GONE ? 0 : content_of(at), content = whole, shown = c->shown;
    if (copy != KYMO_COPY_GONE && c->next + 1 == c->extent.end) {
      kymo_ring_cut(at, c->extent.word, bytes);
      content = content_of(at);
    }
    bool is_through = copy != KYMO_COPY_OPEN && content == whole;
    c->next += is_through;
    c->shown = is_through ? 0 : content > shown ? content : shown;
    if (copy != KYMO_COPY_GONE && take_off(at, shown, bytes))
      return true;
    if (!is_through)
      return false;
  }
  return false;
}

/* Fills the buffer with the next packet; false at the end. */
static bool take_packet(struct kymo_cursor *c) {
  uint8_t *at = c->buffer + (c->at == AT_START ? KYMO_PACKET_HEADER_SIZE : 0);
  bool (*copy)(struct kymo_cursor *, uint8_t *, uint32_t *) =
      kymo_trace_is_growing(c->source->trace) ? copy_more : copy_packet;
  uint32_t bytes;
  bool found = copy(c, at, &bytes);
  while (!found && c->at == AT_START && c->extent.end && c->looks++ < LOOKS_MAX) {
    look(c);
    found = copy(c, at, &bytes);
  }
  if (!found)
    return false;
  memcpy(&c->last, at, sizeof c->last);
  c->bytes = (uint32_t)(at - c->buffer) + bytes;
  if (c->at == AT_START)
    kymo_ring_empty(c->buffer, &c->last, c->last.packet_seq_num - 1, c->last.timestamp_begin,
                    kymo_ring_discarded_before(&c->ring, &c->last));
  c->at = AT_PACKETS;
  return true;
}

/* KYMO_OK, KYMO_END, KYMO_AGAIN. */
static int refill(struct kymo_cursor *c) {
  bool may_grow = kymo_trace_is_followed(c->source->trace) && !c->source->pool->is_over;
  c->used = c->bytes = 0;
  if (c->at < AT_LOSS && kymo_trace_is_growing(c->source->trace))
    look(c);
  if (c->at < AT_LOSS && take_packet(c))
    return KYMO_OK;
  if (c->at < AT_LOSS && may_grow)
    return KYMO_AGAIN;
  uint64_t discarded = kymo_ring_discarded(&c->ring), time = c->last.timestamp_end;
  bool is_first = c->at == AT_START, lost = c->at < AT_LOSS && discarded > c->last.events_discarded;
  c->at = AT_END;
  if (!lost)
    return KYMO_END;
  if (is_first) { /* the ring lost events and stored none */
    c->last = kymo_ring_header(&c->ring);
    time = c->last.timestamp_begin;
    kymo_ring_empty(c->buffer, &c->last, 0, time, 0);
    c->bytes = KYMO_PACKET_HEADER_SIZE;
  }
  kymo_ring_empty(c->buffer + c->bytes, &c->last, c->last.packet_seq_num + 1, time, discarded);
  c->bytes += KYMO_PACKET_HEADER_SIZE;
  return KYMO_OK;
}

static int ring_next(struct kymo_cursor *c, struct kymo_chunk *chunk, struct kymo_error *error) {
  int status = c->used < c->bytes ? KYMO_OK : c->at == AT_END ? KYMO_END : refill(c);
  if (status == KYMO_END && !c->source->pool->is_cut &&
      kymo_pool_verify(&c->source->pool->view, c->source->pool->path, error)) {
    c->source->pool->is_cut = true;
    return KYMO_E_FORMAT;
  }
  if (status != KYMO_OK)
    return status;
  *chunk = (struct kymo_chunk){
      .data = c->buffer + c->used,
      .size_bytes = c->bytes - c->used,
      .path = c->source->pool->path,
      .offset = (uint64_t)(c->ring.data - (const uint8_t *)c->source->pool->view.header) +
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

static void give_up(void *memory) {
  struct pool *pool = memory;
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

static int ring_probe(const char *path, struct kymo_error *error) {
  char file[4096];
  struct stat st;
  if (!kymo_path_join(file, sizeof file, path, KYMO_POOL_FILE))
    return KYMO_E_UNKNOWN;
  if (stat(file, &st) != 0)
    return errno == ENOENT || errno == ENOTDIR ? KYMO_E_UNKNOWN
                                               : kymo_fail_errno(error, file, "cannot look at");
  return S_ISREG(st.st_mode) ? KYMO_OK : KYMO_E_UNKNOWN;
}

/* Every used ring, in its current state, for the caller to free. NULL: out of memory. */
static struct ring_source *list_rings(struct pool *pool, size_t *count) {
  uint32_t slots = kymo_pool_slots(&pool->view);
  struct ring_source *list = calloc((size_t)slots * 2 + 1, sizeof *list);
  *count = 0;
  for (uint32_t i = 0; list && i < slots * 2; i++) {
    struct ring_source source = {.pool = pool, .slot = i / 2, .alternate = i % 2};
    struct kymo_ring_view ring = kymo_pool_ring(&pool->view, source.slot, source.alternate);
    uint64_t first;
    source.described = extent_now(&ring, &first);
    if (source.described.end || kymo_ring_discarded(&ring))
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
  source->trace = trace;
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

/* "server (process 4711): Killed" if its process has died, else NULL. */
static const char *cause_of(const struct kymo_pool_view *view, char out[CAUSE_MAX]) {
  char program[KYMO_PROGRAM_MAX], end[KYMO_EXIT_TEXT_MAX];
  if (kymo_pool_life(view) != KYMO_LIFE_DEAD)
    return NULL;
  kymo_exit_text(view->header, end);
  snprintf(out, CAUSE_MAX, "%s (process %d): %s", kymo_pool_program(view, program), view->header->pid, end);
  return out;
}

/* The notes that a recorder would write if it collected the rings now. */
static int add_notes(struct kymo_trace *trace, struct kymo_part *part, const struct kymo_pool_view *view,
                     struct kymo_error *error) {
  char cause[CAUSE_MAX];
  struct kymo_recorder_notes notes = {
      .has_not_kept = __atomic_load_n(&view->header->mode, __ATOMIC_RELAXED) == KYMO_MODE_OVERWRITE,
      .cause = cause_of(view, cause)};
  for (uint32_t i = 0; i < kymo_pool_slots(view) * 2; i++) {
    struct kymo_ring_view ring = kymo_pool_ring(view, i / 2, i % 2);
    uint64_t first, end;
    kymo_ring_range(&ring, &first, &end);
    const struct kymo_packet_control *oldest = &ring.packet[first & (ring.packets - 1)];
    notes.overwritten += __atomic_load_n(&ring.control->overwritten, __ATOMIC_RELAXED);
    notes.discarded_before +=
        first < end && first ? __atomic_load_n(&oldest->discarded_before, __ATOMIC_RELAXED) : 0;
  }
  if (!notes.has_not_kept)
    notes.overwritten = notes.discarded_before = 0;
  return kymo_part_add_notes(trace, part, &notes, error);
}

/* Reads the description after the rings, so that each event in them is of a described class. The length of
 * the description is read before its contents: a class that is added meanwhile makes it longer. */
static int add_rings(struct kymo_trace *trace, const char *path, struct pool *pool,
                     struct kymo_error *error) {
  size_t count;
  struct kymo_part *part = NULL;
  struct ring_source *rings = list_rings(pool, &count);
  if (!rings)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  struct kymo_error local = {0}, *why = error ? error : &local;
  struct kymo_part_source source = {
      .format = "ring", .path = path, .quirks = KYMO_QUIRK_ROUNDED, .memory = pool, .free_memory = give_up};
  pool->described = length_of(pool->metadata);
  source.schema = kymo_metadata_load(trace, path, true, why);
  if (source.schema)
    pool->users++; /* the part */
  int status = source.schema ? kymo_trace_add_part(trace, &source, &part, error) : why->code;
  if (!status)
    status = kymo_part_add_place(trace, part, path, error);
  if (!status)
    status = kymo_clocks_load(trace, part, path, error);
  if (!status)
    status = kymo_modules_load(trace, part, path, error);
  if (!status)
    status = add_notes(trace, part, &pool->view, error);
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
  kymo_path_join(pool->path, sizeof pool->path, path, KYMO_POOL_FILE);
  kymo_path_join(pool->metadata, sizeof pool->metadata, path, KYMO_POOL_METADATA);
  int status = kymo_pool_open(&pool->view, path, false, error);
  if (!status)
    status = add_rings(trace, path, pool, error);
  give_up(pool);
  return status;
}

static int ring_open(struct kymo_trace *trace, const char *const *paths, size_t count,
                     struct kymo_error *error) {
  return kymo_open_each(trace, paths, count, open_one, error);
}

/* ---- growing ---- */

static bool is_ring(const struct kymo_part *part) { return strcmp(part->format, "ring") == 0; }

static const struct ring_source *find_ring(struct kymo_trace *trace, const struct kymo_part *part,
                                           const struct ring_source *like) {
  for (uint32_t i = 0; i < part->stream_count; i++) {
    const struct ring_source *source = kymo_stream_source(kymo_part_stream(trace, part, i));
    if (source->slot == like->slot && source->alternate == like->alternate)
      return source;
  }
  return NULL;
}

/* The rings are examined before the description is read again, as when the part was opened. */
static int describe_again(struct kymo_trace *trace, struct kymo_part *part, struct pool *pool,
                          struct kymo_error *error) {
  struct kymo_error why;
  for (uint32_t i = 0; i < part->stream_count; i++) {
    struct ring_source *source = kymo_stream_source(kymo_part_stream(trace, part, i));
    struct kymo_ring_view ring = kymo_pool_ring(&pool->view, source->slot, source->alternate);
    uint64_t first;
    source->described = extent_now(&ring, &first);
  }
  off_t described = length_of(pool->metadata);
  struct kymo_schema *schema = kymo_metadata_load(trace, part->path, true, &why);
  if (!schema) /* it may be incomplete while it is being written */
    return why.code == KYMO_E_MEMORY ? kymo_fail(error, KYMO_E_MEMORY, "out of memory") : KYMO_OK;
  pool->described = described;
  return kymo_part_renew(trace, part, schema, error);
}

static int grow_part(struct kymo_trace *trace, struct kymo_part *part, struct kymo_error *error) {
  struct pool *pool = kymo_part_memory(part);
  size_t count;
  int status = KYMO_OK;
  if (pool->is_over)
    return KYMO_OK;
  pool->is_over = !kymo_pool_is_alive(&pool->view);
  struct ring_source *rings = list_rings(pool, &count);
  if (!rings)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  for (size_t i = 0; i < count && status == KYMO_OK; i++)
    if (!find_ring(trace, part, &rings[i]))
      status = add_ring(trace, part, &rings[i], error);
  free(rings);
  off_t length = length_of(pool->metadata);
  if (status == KYMO_OK && length >= 0 && length != pool->described)
    status = describe_again(trace, part, pool, error);
  return status;
}

/* The pool is not initialised yet. */
static int adopt(struct kymo_trace *trace, const char *path, struct kymo_error *error) {
  struct kymo_error why;
  int status = open_one(trace, path, &why);
  return status == KYMO_E_MEMORY ? kymo_fail(error, KYMO_E_MEMORY, "out of memory") : KYMO_OK;
}

static int ring_grow(struct kymo_trace *trace, const char *const *paths, size_t count,
                     struct kymo_error *error) {
  int status = KYMO_OK;
  for (size_t i = 0; i < kymo_trace_part_count(trace) && status == KYMO_OK; i++)
    if (is_ring(kymo_trace_own_part(trace, i)))
      status = grow_part(trace, kymo_trace_own_part(trace, i), error);
  for (size_t i = 0; i < count && status == KYMO_OK; i++) {
    bool is_known = false;
    for (size_t k = 0; k < kymo_trace_part_count(trace) && !is_known; k++)
      is_known = strcmp(kymo_trace_part(trace, k)->path, paths[i]) == 0;
    if (!is_known)
      status = adopt(trace, paths[i], error);
  }
  return status;
}

const struct kymo_format kymo_format_ring = {
    .name = "ring",
    .summary = "the rings of a live or dead process, as kymo's recorder leaves them",
    .probe = ring_probe,
    .open = ring_open,
    .grow = ring_grow,
    .is_memory = true,
};
