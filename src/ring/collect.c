/* SPDX-License-Identifier: MIT */
#include "ring/collect.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "ring/clocks.h"
#include "ring/unwritten.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
  BATCH = 1 << 20,           /* bytes gathered before a write */
  NOTE_LINE_MAX = 64,        /* of a file in KYMO_HIDDEN_FILES */
  APART = 1000,              /* cycles between empty packets of parts and their neighbours */
  DESCRIPTION_MAX = 1 << 30, /* bytes of metadata or registry, far more than 65536 classes take */
};

static int write_all(int fd, const void *data, size_t size) {
  for (const uint8_t *at = data; size;) {
    ssize_t n = write(fd, at, size);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return -1;
    at += n;
    size -= (size_t)n;
  }
  return 0;
}

/* Appends to a file of the trace. A partial write is truncated again, so the file stays readable; a new file
 * is removed. */
static int append(const char *path, uint64_t length, const void *data, size_t size,
                  struct kymo_error *error) {
  int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0)
    return kymo_fail_errno(error, path, "cannot write");
  int status = KYMO_OK;
  if (lseek(fd, (off_t)length, SEEK_SET) < 0 || write_all(fd, data, size)) {
    status = kymo_fail_errno(error, path, "cannot write");
    if (length ? ftruncate(fd, (off_t)length) : unlink(path))
      status = kymo_fail_errno(error, path, "cannot cut off what was half written");
  }
  if (close(fd) && !status)
    status = kymo_fail_errno(error, path, "cannot write");
  return status;
}

/* ---- room ---- */

static bool has_room(const struct kymo_collector *c, uint64_t bytes) {
  return !c->room || !c->room->packets || bytes <= c->room->bytes;
}

static void use_room(struct kymo_collector *c, uint64_t bytes) {
  if (c->room)
    c->room->bytes -= bytes < c->room->bytes ? bytes : c->room->bytes;
}

/* ---- the description ---- */

/* Reads a file from `at` to its end. The caller frees *bytes, which is NULL if there is nothing. */
static int read_rest(const char *path, uint64_t at, uint8_t **bytes, size_t *size, struct kymo_error *error) {
  struct stat st;
  *bytes = NULL;
  *size = 0;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || fstat(fd, &st)) {
    int status = kymo_fail_errno(error, path, "cannot read");
    if (fd >= 0)
      close(fd);
    return status;
  }
  int status = KYMO_OK;
  uint64_t there = (uint64_t)st.st_size > at ? (uint64_t)st.st_size - at : 0;
  if (there > DESCRIPTION_MAX)
    status = kymo_fail_at(error, KYMO_E_LIMIT, path, at, "expected at most %d bytes, found %llu",
                          DESCRIPTION_MAX, (unsigned long long)there);
  else if (there && !(*bytes = malloc(there)))
    status = kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  while (!status && *size < there) {
    ssize_t n = pread(fd, *bytes + *size, there - *size, (off_t)(at + *size));
    if (n < 0 && errno != EINTR)
      status = kymo_fail_errno(error, path, "cannot read");
    if (!n)
      break;
    if (n > 0)
      *size += (size_t)n;
  }
  close(fd);
  return status;
}

/* Copies the bytes of one of the two files from `at` to `end`. */
static int copy_file(const struct kymo_collector *c, const char *name, uint64_t at, uint64_t end,
                     uint64_t *copied, struct kymo_error *error) {
  char from[4096], to[4096];
  uint8_t *bytes;
  size_t size;
  kymo_path_join(from, sizeof from, c->source, name);
  kymo_path_join(to, sizeof to, c->directory, name);
  int status = read_rest(from, at, &bytes, &size, error);
  if (size > end - at)
    size = end - at;
  if (!status && size)
    status = append(to, at, bytes, size, error);
  if (!status)
    *copied = at + size;
  free(bytes);
  return status;
}

/* The length of metadata and registry that belong together now: 0 if there is no registry. */
static int measure(const struct kymo_collector *c, struct kymo_registry_extent *extent,
                   struct kymo_error *error) {
  char path[4096];
  uint8_t *bytes;
  size_t size;
  kymo_path_join(path, sizeof path, c->source, KYMO_HIDDEN_REGISTRY);
  *extent = c->described;
  bytes = NULL;
  int status = access(path, F_OK) && errno == ENOENT
                   ? KYMO_OK
                   : read_rest(path, extent->registry, &bytes, &size, error);
  if (!status && bytes)
    kymo_registry_extend(extent, bytes, size);
  free(bytes);
  return status;
}

static int make_hidden(const struct kymo_collector *c, struct kymo_error *error) {
  char path[4096];
  kymo_path_join(path, sizeof path, c->directory, KYMO_HIDDEN);
  return mkdir(path, 0777) && errno != EEXIST ? kymo_fail_errno(error, path, "cannot make the directory")
                                              : KYMO_OK;
}

/* Copies the new part of the description; if the process died while it was writing, the part that it
 * completed. */
static int copy_description(struct kymo_collector *c, struct kymo_error *error) {
  struct kymo_registry_extent extent;
  uint64_t text = c->described.text, registry = c->described.registry;
  int status = measure(c, &extent, error);
  if (status)
    return status;
  if (!extent.registry) /* of a recorder that wrote no registry */
    return copy_file(c, KYMO_POOL_METADATA, c->metadata_bytes, UINT64_MAX, &c->metadata_bytes, error);
  if (extent.registry == registry)
    return KYMO_OK;
  uint64_t more = extent.text - text + extent.registry - registry;
  if (!has_room(c, more))
    return KYMO_COLLECT_FULL;
  status = make_hidden(c, error);
  if (!status)
    status = copy_file(c, KYMO_POOL_METADATA, text, extent.text, &text, error);
  if (!status)
    status = copy_file(c, KYMO_HIDDEN_REGISTRY, registry, extent.registry, &registry, error);
  if (status)
    return status;
  c->described = (struct kymo_registry_extent){registry, text};
  use_room(c, more);
  return KYMO_OK;
}

/* Called before anything else is written, so that readers find every class described, and can count
 * losses. */
static int begin_description(struct kymo_collector *c, struct kymo_error *error) {
  kymo_collect_reserve(c);
  int status = copy_description(c, error);
  if (!status && c->has_reserve)
    kymo_collect_drop_kept(c);
  return status;
}

/* The trace goes on without the data that this error is about, which is recorded: its events are complete. */
static void leave_out(struct kymo_collector *c, const struct kymo_error *why) {
  if (c->left_out.code)
    return;
  c->left_out = *why;
  snprintf(c->left_out.message, sizeof c->left_out.message, "the trace lacks it: %.480s", why->message);
}

/* Copies the new part of the load map, if there is one. */
static int copy_modules(struct kymo_collector *c, struct kymo_error *error) {
  char path[4096];
  struct stat st;
  struct kymo_error why;
  kymo_path_join(path, sizeof path, c->source, KYMO_HIDDEN_MODULES);
  if (stat(path, &st)) {
    if (errno != ENOENT && kymo_fail_errno(&why, path, "cannot look at"))
      leave_out(c, &why);
    return KYMO_OK;
  }
  if ((uint64_t)st.st_size <= c->modules_bytes)
    return KYMO_OK;
  uint64_t end = (uint64_t)st.st_size, more = end - c->modules_bytes;
  if (!has_room(c, more))
    return KYMO_COLLECT_FULL;
  int status = make_hidden(c, error);
  if (!status)
    status = copy_file(c, KYMO_HIDDEN_MODULES, c->modules_bytes, end, &c->modules_bytes, error);
  if (!status)
    use_room(c, more);
  return status;
}

/* ---- clocks ---- */

/* Whether the machine has not been rebooted since the pool was created. */
static bool is_same_boot(struct kymo_collector *c, const struct kymo_clocks *clocks) {
  char boot[KYMO_BOOT_ID_SIZE];
  struct kymo_error why;
  errno = kymo_boot_id(boot);
  if (errno && errno != ENOENT &&
      kymo_fail_errno(&why, KYMO_BOOT_ID_FILE, "cannot read")) /* ENOENT: the machine has no /proc */
    leave_out(c, &why);
  return !strcmp(boot, clocks->head.boot);
}

/* Reads the clock snapshots of the pool. More are added only if the machine has not been rebooted since. */
static int read_clocks(struct kymo_collector *c, struct kymo_error *error) {
  char path[4096];
  struct kymo_clocks clocks = {0};
  struct kymo_error why;
  uint8_t *text = NULL;
  size_t size = 0;
  kymo_path_join(path, sizeof path, c->source, KYMO_HIDDEN_CLOCKS);
  int status = kymo_file_read_if_there(path, DESCRIPTION_MAX, &text, &size, &why);
  if (!status && !text) /* the trace has no clock */
    return KYMO_OK;
  if (!status)
    status = kymo_clocks_parse(&clocks, (const char *)text, size, path, &why);
  if (status && status != KYMO_E_MEMORY)
    leave_out(c, &why);
  bool ours = !status && is_same_boot(c, &clocks);
  if (ours) {
    c->clocks.text = (char *)text;
    c->clocks.head_size = clocks.head_size;
    c->clocks.size = size;
    c->clocks.is_counter = clocks.head.is_counter;
  } else {
    free(text);
  }
  kymo_clocks_free(&clocks);
  return status == KYMO_E_MEMORY ? kymo_fail(error, status, "out of memory") : KYMO_OK;
}

int kymo_collect_clocks(struct kymo_collector *c, struct kymo_error *error) {
  char path[4096], line[KYMO_CLOCKS_LINE_MAX];
  struct kymo_collect_clocks *clocks = &c->clocks;
  struct kymo_clock_snapshot now;
  if (!clocks->text || !has_room(c, (clocks->bytes ? 0 : clocks->size) + KYMO_CLOCKS_LINE_MAX))
    return KYMO_OK;
  int status = make_hidden(c, error);
  kymo_path_join(path, sizeof path, c->directory, KYMO_HIDDEN_CLOCKS);
  if (!status && !clocks->bytes) { /* the snapshots of the process itself are in the first part */
    uint64_t size = clocks->is_begun ? clocks->head_size : clocks->size;
    status = append(path, 0, clocks->text, size, error);
    if (!status) {
      clocks->bytes = size;
      use_room(c, size);
    }
  }
  kymo_clocks_look(clocks->is_counter, &now);
  size_t length = kymo_clocks_put(line, &now);
  if (!status)
    status = append(path, clocks->bytes, line, length, error);
  if (status)
    return status;
  clocks->is_begun = true;
  clocks->bytes += length;
  use_room(c, length);
  return KYMO_OK;
}

/* ---- packets ---- */

static uint64_t less(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

/* Packets of one ring on their way to its file. The counts of a packet are valid once the batch is written;
 * if that fails they are restored to the begin of the batch, so that the packets stay in the ring, uncounted,
 * and may be tried again. */
struct batch {
  struct kymo_collector *c;
  const struct kymo_ring_view *ring;
  struct kymo_collected *to;
  uint32_t used;
  struct kymo_collected to_before;
  struct kymo_collect_sums sums_before;
  struct kymo_collect_room room_before;
};

static void begin_batch(struct batch *b) {
  b->used = 0;
  b->to_before = *b->to;
  b->sums_before = b->c->sums;
  if (b->c->room)
    b->room_before = *b->c->room;
}

static void undo_batch(struct batch *b) {
  *b->to = b->to_before;
  b->c->sums = b->sums_before;
  if (b->c->room)
    *b->c->room = b->room_before;
}

static bool has_more_description(const struct kymo_collector *c) {
  char path[4096];
  struct stat st;
  kymo_path_join(path, sizeof path, c->source, KYMO_HIDDEN_REGISTRY);
  if (!stat(path, &st))
    return (uint64_t)st.st_size > c->described.registry;
  kymo_path_join(path, sizeof path, c->source, KYMO_POOL_METADATA);
  return !stat(path, &st) && (uint64_t)st.st_size > c->metadata_bytes;
}

/* Copies what was described since the pass began: no event is written before its class, since this part of
 * the trace may end with the batch. */
static int describe_batch(struct batch *b, struct kymo_error *error) {
  struct kymo_collect_room *room = b->c->room;
  if (!has_more_description(b->c))
    return KYMO_OK;
  uint64_t packets = room ? room->packets : 0, bytes = room ? room->bytes : 0;
  if (room)
    room->packets = b->room_before.packets; /* those of the batch are not in the part yet */
  int status = copy_description(b->c, error);
  if (room) {
    room->packets = packets;
    b->room_before.bytes = less(b->room_before.bytes, bytes - room->bytes);
  }
  return status;
}

static int flush(struct batch *b, struct kymo_error *error) {
  if (!b->used)
    return KYMO_OK;
  char path[4096];
  snprintf(path, sizeof path, "%s/stream_%llu%s", b->c->directory, (unsigned long long)b->ring->instance / 2,
           b->ring->instance % 2 ? "_signals" : "");
  int status = describe_batch(b, error);
  if (!status)
    status = append(path, b->to->bytes, b->c->buffer, b->used, error);
  if (status)
    undo_batch(b);
  else
    b->to->bytes += b->used;
  begin_batch(b);
  return status;
}

static uint64_t size_in_file(const struct kymo_collected *to, uint32_t bytes) {
  return to->started ? bytes : bytes + KYMO_PACKET_HEADER_SIZE;
}

static uint64_t size_in_part(const struct kymo_collected *to, uint32_t bytes) {
  return size_in_file(to, bytes) + (to->started ? 0 : NOTE_LINE_MAX);
}

/* The time of an empty packet. In a trace without parts it is the time of its neighbour. Parts can be read as
 * one trace; there babeltrace2 sorts packets of several files by time, and swaps those of equal times, so the
 * times must differ. */
static uint64_t time_before(const struct batch *b, uint64_t begin) {
  if (!b->c->room)
    return begin;
  if (b->to->ever)
    return b->to->last + (begin - b->to->last) / 2;
  return begin > APART ? begin - APART : begin; /* a trace without a clock has no times at all */
}

static uint64_t time_after(const struct kymo_collector *c, uint64_t end, uint64_t number) {
  return c->room ? end + number * APART : end;
}

/* Puts an empty packet before the file's first one, which is at `at`. In later parts it has a number of its
 * own. */
static void begin_file(struct batch *b, uint8_t *at, struct kymo_packet_header *h, uint32_t bytes) {
  bool known = b->to->ever || b->to->is_late;
  uint64_t discarded = known ? b->to->discarded : kymo_ring_discarded_before(b->ring, h);
  if (!known)
    b->c->sums.discarded_before += discarded;
  b->to->empty += b->to->ever;
  h->packet_seq_num += b->to->ever;
  memmove(at + KYMO_PACKET_HEADER_SIZE, at, bytes);
  kymo_ring_empty(at, h, h->packet_seq_num - 1, time_before(b, h->timestamp_begin), discarded);
  b->to->started = b->to->ever = true;
}

/* Rings count losses from their creation, traces from their begin: earlier losses are subtracted. */
static void count_from_begin(struct kymo_packet_header *h, const struct kymo_collect_lost *before) {
  h->events_discarded = less(h->events_discarded, before->discarded);
  h->discarded_large = (uint32_t)less(h->discarded_large, before->large);
  h->discarded_nested = (uint32_t)less(h->discarded_nested, before->nested);
}

/* Adds the packet of `bytes` bytes after the batch to it. */
static void take(struct batch *b, uint32_t bytes) {
  uint8_t *at = b->c->buffer + b->used;
  uint64_t before = b->to->events + b->to->overwritten, in_file = size_in_file(b->to, bytes),
           in_part = size_in_part(b->to, bytes);
  struct kymo_packet_header h;
  memcpy(&h, at, sizeof h);
  count_from_begin(&h, &b->to->before);
  if (h.first_event > before) { /* the writer was faster */
    b->c->sums.overwritten += h.first_event - before;
    b->c->sums.overwritten_between += b->to->ever ? h.first_event - before : 0;
    b->to->overwritten += h.first_event - before;
  }
  b->to->empty += h.packet_seq_num == b->to->split; /* another piece */
  h.packet_seq_num += b->to->empty;
  if (!b->to->started)
    begin_file(b, at, &h, bytes);
  memcpy(at + (in_file - bytes), &h, sizeof h);
  b->used += (uint32_t)in_file;
  use_room(b->c, in_part);
  if (b->c->room)
    b->c->room->packets++;
  b->to->events += h.event_count;
  b->c->sums.events += h.event_count;
  b->to->last = h.timestamp_end;
  b->to->sequence = h.packet_seq_num;
  b->c->sums.discarded += h.events_discarded - b->to->discarded;
  b->to->discarded = h.events_discarded;
}

/* Removes from packet `number` after the batch the events that are too early, or were taken while it was
 * open; false if nothing is left. */
static bool cut(const struct batch *b, uint64_t number, uint32_t *bytes) {
  uint8_t *at = b->c->buffer + b->used;
  if (!b->to->is_late || number != b->to->first)
    return true;
  kymo_ring_cut_front(at, b->to->first_word, bytes);
  return *bytes > KYMO_PACKET_HEADER_SIZE;
}

/*
 * The current contents of an open packet become a packet, and its later events another one. The end time of a
 * copy may be that of a later event if the writer is active meanwhile; if nothing was published since, it is
 * at most the time of the next event, with which the rest begins. False: something was published, and the
 * packet is skipped.
 */
static bool take_open(struct batch *b, uint64_t number, uint32_t bytes) {
  struct kymo_packet_header h;
  memcpy(&h, b->c->buffer + b->used, sizeof h);
  uint64_t word = (h.first_event + h.event_count) << 16 | h.content_size / 8;
  if (kymo_ring_word(b->ring, number) != word)
    return false;
  if (!cut(b, number, &bytes) || bytes <= KYMO_PACKET_HEADER_SIZE)
    return true;
  take(b, bytes);
  b->to->is_late = true;
  b->to->first = number;
  b->to->first_word = word;
  b->to->split = number + 1;
  return true;
}

/* Copies the ring's open packet after the batch, again until the writer does not interfere. A part without
 * space for it is full. */
static void collect_open(struct batch *b, uint64_t number, bool *is_full) {
  enum { TRIES = 4 };
  for (int i = 0; i < TRIES; i++) {
    uint32_t bytes;
    if (kymo_ring_copy(b->ring, number, b->c->buffer + b->used, &bytes) != KYMO_COPY_OPEN)
      break; /* closed meanwhile: the next pass takes it */
    *is_full = !has_room(b->c, size_in_part(b->to, bytes));
    if (*is_full || take_open(b, number, bytes))
      return;
  }
}

static int collect_ring(struct kymo_collector *c, const struct kymo_ring_view *ring, bool last,
                        struct kymo_error *error) {
  struct batch b = {.c = c, .ring = ring, .to = &c->rings[ring->instance]};
  uint64_t first, end;
  begin_batch(&b);
  kymo_ring_range(ring, &first, &end);
  if (b.to->next > first)
    first = b.to->next;
  for (uint64_t n = first; n < end; n++) {
    uint32_t bytes;
    enum kymo_copy copy = kymo_ring_copy(ring, n, c->buffer + b.used, &bytes);
    if (copy == KYMO_COPY_OPEN && !last) {
      bool is_full = false;
      if (c->takes_open)
        collect_open(&b, n, &is_full);
      int status = flush(&b, error);
      return status || !is_full ? status : KYMO_COLLECT_FULL;
    }
    if (copy != KYMO_COPY_GONE && !has_room(c, size_in_part(b.to, bytes))) {
      int status = flush(&b, error);
      return status ? status : KYMO_COLLECT_FULL;
    }
    b.to->next = n + 1;
    if (n + 1 - first > c->fullest)
      c->fullest = (uint32_t)(n + 1 - first);
    if (copy == KYMO_COPY_GONE || !cut(&b, n, &bytes))
      continue;
    take(&b, bytes);
    if (b.used >= BATCH) {
      int status = flush(&b, error);
      if (status)
        return status;
    }
  }
  return flush(&b, error);
}

static int for_each_ring(struct kymo_collector *c, bool last, bool release, struct kymo_error *error) {
  uint32_t slots = kymo_pool_slots(c->pool);
  for (uint32_t slot = 0; slot < slots; slot++)
    for (uint32_t alternate = 0; alternate < 2; alternate++) {
      struct kymo_ring_view ring = kymo_pool_ring(c->pool, slot, alternate);
      int status = collect_ring(c, &ring, last, error);
      if (release) /* releases the written packets, also if the rest cannot be written */
        kymo_ring_release(&ring, c->rings[ring.instance].next);
      if (status)
        return status;
    }
  return KYMO_OK;
}

int kymo_collect_begin(struct kymo_collector *c, const struct kymo_pool_view *pool, const char *source,
                       const char *directory, struct kymo_error *error) {
  *c = (struct kymo_collector){.pool = pool, .source = source};
  c->buffer_size = BATCH + pool->packet_size + 2 * KYMO_PACKET_HEADER_SIZE;
  c->directory = strdup(directory);
  c->rings = calloc((size_t)pool->slots * 2, sizeof *c->rings);
  c->buffer = malloc(c->buffer_size);
  int status = c->directory && c->rings && c->buffer ? read_clocks(c, error)
                                                     : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (status)
    kymo_collect_free(c);
  return status;
}

int kymo_collect_part(struct kymo_collector *c, const char *directory, struct kymo_error *error) {
  char *copy = strdup(directory);
  if (!copy)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  kymo_collect_drop_reserve(c);
  free(c->directory);
  c->directory = copy;
  c->described = (struct kymo_registry_extent){0};
  c->metadata_bytes = c->modules_bytes = c->clocks.bytes = c->refused_bytes = 0;
  for (uint32_t i = 0; i < c->pool->slots * 2; i++) {
    c->rings[i].started = false;
    c->rings[i].bytes = 0;
  }
  return KYMO_OK;
}

void kymo_collect_from(struct kymo_collector *c, uint64_t instance, const struct kymo_collect_start *start) {
  struct kymo_collected *to = &c->rings[instance];
  to->is_late = true;
  to->next = to->first = start->packet;
  to->first_word = start->word;
  to->overwritten = start->word >> 16; /* not lost, but before the begin of this trace */
  to->before = start->lost;
}

struct kymo_collect_lost kymo_collect_lost_now(const struct kymo_ring_view *ring) {
  return (struct kymo_collect_lost){
      .discarded = kymo_ring_discarded(ring),
      .large = __atomic_load_n(&ring->control->discarded_large, __ATOMIC_RELAXED),
      .nested = __atomic_load_n(&ring->control->discarded_nested, __ATOMIC_RELAXED)};
}

void kymo_collect_from_now(struct kymo_collector *c) {
  c->refused = __atomic_load_n(&c->pool->header->events_refused, __ATOMIC_RELAXED);
  for (uint32_t i = 0; i < kymo_pool_slots(c->pool) * 2; i++) {
    struct kymo_ring_view ring = kymo_pool_ring(c->pool, i / 2, i % 2);
    uint64_t first, end;
    kymo_ring_range(&ring, &first, &end);
    if (end)
      kymo_collect_from(c, i,
                        &(struct kymo_collect_start){end - 1, kymo_ring_word(&ring, end - 1),
                                                     kymo_collect_lost_now(&ring)});
    kymo_ring_release(&ring, end ? end - 1 : 0);
  }
}

/* Whether it is time to collect open packets. */
static bool is_open_due(struct kymo_collector *c) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  int64_t ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
  if (ns - c->open_taken_ns < KYMO_COLLECT_OPEN_NS)
    return false;
  c->open_taken_ns = ns;
  return true;
}

int kymo_collect_closed(struct kymo_collector *c, bool release, struct kymo_error *error) {
  /* first, so that a follower of the trace finds every class described */
  c->fullest = 0;
  c->takes_open = is_open_due(c);
  int status = begin_description(c, error);
  if (!status)
    status = copy_modules(c, error);
  if (!status && !c->clocks.bytes)
    status = kymo_collect_clocks(c, error);
  if (!status)
    status = for_each_ring(c, false, release, error);
  return status ? status : copy_description(c, error); /* a class may have been described meanwhile */
}

/* An empty packet reports losses after the last packet; two of them report those of a ring without any
 * events. */
static int end_ring(struct kymo_collector *c, const struct kymo_ring_view *ring, struct kymo_error *error) {
  struct batch b = {.c = c, .ring = ring, .to = &c->rings[ring->instance]};
  uint64_t discarded = less(kymo_ring_discarded(ring), b.to->before.discarded);
  if (discarded <= b.to->discarded)
    return KYMO_OK;
  uint64_t note = b.to->started ? 0 : NOTE_LINE_MAX;
  if (!has_room(c, 2 * KYMO_PACKET_HEADER_SIZE + note))
    return KYMO_COLLECT_FULL;
  begin_batch(&b);
  struct kymo_packet_header like = kymo_ring_header(ring);
  count_from_begin(&like, &b.to->before);
  like.first_event = b.to->events + b.to->overwritten;
  uint64_t time = b.to->ever ? b.to->last : like.timestamp_begin;
  if (!b.to->started) {
    b.to->sequence += b.to->ever;
    kymo_ring_empty(c->buffer, &like, b.to->sequence, time_after(c, time, 1), b.to->discarded);
    b.used = KYMO_PACKET_HEADER_SIZE;
  }
  kymo_ring_empty(c->buffer + b.used, &like, b.to->sequence + 1, time_after(c, time, 2), discarded);
  b.used += KYMO_PACKET_HEADER_SIZE;
  use_room(c, b.used + note);
  c->sums.discarded += discarded - b.to->discarded;
  b.to->discarded = discarded;
  return flush(&b, error);
}

/* Threads without a ring have no file; their losses are in a separate file, between two empty packets. */
static int end_refused(struct kymo_collector *c, struct kymo_error *error) {
  uint64_t refused = c->pool->header->events_refused - c->refused;
  if (!refused || c->refused_written)
    return KYMO_OK;
  if (!has_room(c, KYMO_COLLECT_LOSSES_SIZE + NOTE_LINE_MAX))
    return KYMO_COLLECT_FULL;
  uint64_t begin = c->pool->header->start_clock, end = begin;
  for (uint32_t i = 0; i < kymo_pool_slots(c->pool) * 2; i++)
    if (c->rings[i].ever && c->rings[i].last > end)
      end = c->rings[i].last;
  kymo_collect_put_losses(c, c->buffer,
                          &(struct kymo_collect_losses){(uint64_t)c->pool->slots * 2, begin, end, refused});
  char path[4096];
  snprintf(path, sizeof path, "%s/stream_without_ring", c->directory);
  int status = append(path, 0, c->buffer, KYMO_COLLECT_LOSSES_SIZE, error);
  if (status)
    return status;
  use_room(c, KYMO_COLLECT_LOSSES_SIZE + NOTE_LINE_MAX);
  c->sums.discarded += refused;
  c->refused_written = true;
  c->refused_bytes = KYMO_COLLECT_LOSSES_SIZE;
  return KYMO_OK;
}

/* Writes the length of each file, so that readers detect later truncation, also at the end of a packet. */
static int note_files(const struct kymo_collector *c, struct kymo_error *error) {
  char path[4096];
  struct kymo_strbuf lines = {0};
  snprintf(path, sizeof path, "%s/" KYMO_HIDDEN_FILES, c->directory);
  for (uint32_t i = 0; i < kymo_pool_slots(c->pool) * 2; i++)
    if (c->rings[i].bytes)
      kymo_strbuf_printf(&lines, "stream_%u%s %llu\n", i / 2, i % 2 ? "_signals" : "",
                         (unsigned long long)c->rings[i].bytes);
  if (c->refused_bytes)
    kymo_strbuf_printf(&lines, "stream_without_ring %llu\n", (unsigned long long)c->refused_bytes);
  int status = lines.failed ? kymo_fail(error, KYMO_E_MEMORY, "out of memory") : make_hidden(c, error);
  if (!status && lines.length)
    status = append(path, 0, lines.text, lines.length, error);
  kymo_strbuf_free(&lines);
  return status;
}

int kymo_collect_end_part(struct kymo_collector *c, struct kymo_error *error) {
  int status = note_files(c, error);
  if (!status)
    kymo_collect_keep_reserve(c);
  return status;
}

/* The number of lost events that found their ring full. */
static uint64_t lost_to_full(const struct kymo_collector *c) {
  uint64_t other = c->pool->header->events_refused - c->refused;
  for (uint32_t i = 0; i < kymo_pool_slots(c->pool) * 2; i++) {
    struct kymo_ring_view ring = kymo_pool_ring(c->pool, i / 2, i % 2);
    struct kymo_collect_lost now = kymo_collect_lost_now(&ring);
    other += less(now.large, c->rings[i].before.large) + less(now.nested, c->rings[i].before.nested);
  }
  return less(c->sums.discarded, other);
}

/* Packets cannot contain this number: a reader counts losses between packets, and there is none before the
 * first one. */
static int note_not_kept(struct kymo_collector *c, struct kymo_error *error) {
  char path[4096], text[128];
  bool overwrites = __atomic_load_n(&c->pool->header->mode, __ATOMIC_RELAXED) == KYMO_MODE_OVERWRITE;
  if (!overwrites && !c->sums.overwritten && !c->sums.discarded_before)
    return KYMO_OK;
  int size = snprintf(text, sizeof text, "overwritten %llu\ndiscarded %llu\n",
                      (unsigned long long)c->sums.overwritten, (unsigned long long)c->sums.discarded_before);
  kymo_path_join(path, sizeof path, c->directory, KYMO_HIDDEN_NOT_KEPT);
  int status = make_hidden(c, error);
  return status ? status : append(path, 0, text, (size_t)size, error);
}

int kymo_collect_end(struct kymo_collector *c, struct kymo_error *error) {
  int status = begin_description(c, error);
  if (!status)
    status = for_each_ring(c, true, false, error);
  uint32_t slots = kymo_pool_slots(c->pool);
  for (uint32_t i = 0; !status && i < slots * 2; i++) {
    struct kymo_ring_view ring = kymo_pool_ring(c->pool, i / 2, i % 2);
    status = end_ring(c, &ring, error);
  }
  if (!status)
    status = end_refused(c, error);
  if (!status)
    status = copy_description(c, error);
  if (!status)
    status = copy_modules(c, error);
  if (!status)
    status = kymo_collect_clocks(c, error);
  if (!status)
    status = note_not_kept(c, error);
  if (!status)
    status = note_files(c, error);
  c->sums.full = lost_to_full(c);
  if (!status)
    kymo_collect_drop_reserve(c);
  return status;
}

void kymo_collect_free(struct kymo_collector *c) {
  kymo_collect_drop_reserve(c);
  kymo_collect_drop_kept(c);
  free(c->directory);
  free(c->rings);
  free(c->buffer);
  free(c->clocks.text);
  memset(c, 0, sizeof *c);
}
