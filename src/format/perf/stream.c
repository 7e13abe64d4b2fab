/* SPDX-License-Identifier: MIT */
/*
 * Windows of records (order.h) become packets:
 *
 *   window ─► entries ─► header, common context, the rest by the steps of the class (sample.c) ─► packet
 *
 * A packet ends with its window, before a loss, and before a record that is corrupt, for which `next` fails.
 */
#include "format/perf/stream.h"
#include "base/fail.h"
#include "base/list.h"
#include "source/block.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define PACKET_BYTES ((size_t)48 << 10)
#define HEAD_BYTES (11 + 12 + PERF_NAME_BYTES)
#define THREADS 256 /* recently seen */

struct thread {
  int32_t tid;
  uint64_t since, until; /* until 0: none */
  char name[PERF_NAME_BYTES];
};

struct kymo_cursor {
  struct perf_shared *shared;
  struct kymo_map map;
  struct perf_order order;
  struct kymo_packing packing;
  uint64_t first; /* the packet's first record in the file */
  struct thread threads[THREADS];
};

static int no_memory(struct kymo_error *error) { return kymo_fail(error, KYMO_E_MEMORY, "out of memory"); }

/* ---- one event ---- */

static const char *thread_name(struct kymo_cursor *cursor, int32_t tid, uint64_t time) {
  struct thread *thread = &cursor->threads[(uint32_t)tid % THREADS];
  if (thread->tid == tid && time >= thread->since && time < thread->until)
    return thread->name;
  *thread = (struct thread){.tid = tid, .since = time};
  const struct perf_name *name = kymo_perf_name(&cursor->shared->tasks, tid, time, &thread->until);
  if (name)
    memcpy(thread->name, name->text, sizeof thread->name);
  else if (tid == 0)
    memcpy(thread->name, "swapper", sizeof "swapper");
  else
    snprintf(thread->name, sizeof thread->name, ":%" PRId32, tid);
  return thread->name;
}

/* Process, thread and CPU of a record. One that perf has made itself has none: it is of what it describes. */
static void find_who(const struct perf_file *file, const struct perf_record *record,
                     const struct perf_entry *entry, uint32_t who[3]) {
  const struct perf_attr *attr = entry->attr == PERF_NOWHERE ? NULL : &file->attrs[entry->attr];
  bool is_sample = record->type == PERF_SAMPLE;
  uint32_t tid = !attr ? PERF_NOWHERE : is_sample ? attr->tid_at : attr->tail_tid;
  uint32_t cpu = !attr ? PERF_NOWHERE : is_sample ? attr->cpu_at : attr->tail_cpu;
  uint32_t body = record->size - PERF_RECORD_HEADER;
  const uint8_t *begin = record->data + PERF_RECORD_HEADER, *end = record->data + record->size;
  who[0] = UINT32_MAX;
  who[1] = who[2] = UINT32_MAX; /* -1 */
  if (is_sample && cpu == PERF_NOWHERE && file->common_id_at != PERF_NOWHERE &&
      file->common_id_at + 8 <= body) {
    const struct perf_id *id = kymo_perf_find_id(file, perf_u64(file, begin + file->common_id_at));
    who[0] = id ? id->cpu : UINT32_MAX;
  }
  if (cpu != PERF_NOWHERE && (is_sample ? cpu + 8 : cpu) <= body)
    who[0] = perf_u32(file, is_sample ? begin + cpu : end - cpu);
  if (tid != PERF_NOWHERE && (is_sample ? tid + 8 : tid) <= body) {
    const uint8_t *from = is_sample ? begin + tid : end - tid;
    who[1] = perf_u32(file, from);
    who[2] = perf_u32(file, from + 4);
  }
  bool is_fork = record->type == PERF_FORK || record->type == PERF_EXIT;
  bool describes =
      is_fork || record->type == PERF_COMM || record->type == PERF_MMAP || record->type == PERF_MMAP2;
  if (!entry->is_timed && describes && body >= 16) {
    who[1] = perf_u32(file, begin);
    who[2] = perf_u32(file, begin + (is_fork ? 8 : 4));
  }
}

/* Header and common context. */
static void store_head(struct kymo_cursor *cursor, const struct perf_record *record,
                       const struct perf_entry *entry, const struct perf_class *class_) {
  struct kymo_block *packet = &cursor->packing.packet;
  const struct perf_shared *shared = cursor->shared;
  uint32_t who[3];
  find_who(&shared->file, record, entry, who);
  kymo_block_number(packet, entry->time, 8);
  kymo_block_number(packet, class_->class_->id, 2);
  kymo_block_number(packet, entry->is_timed, 1);
  if (shared->classes.has_cpu)
    kymo_block_number(packet, who[0], 4);
  kymo_block_number(packet, who[1], 4);
  kymo_block_number(packet, who[2], 4);
  memcpy(packet->at, thread_name(cursor, (int32_t)who[2], entry->time), PERF_NAME_BYTES);
  packet->at += PERF_NAME_BYTES;
}

static const struct perf_class *class_of(const struct perf_shared *shared, const struct perf_record *record,
                                         uint32_t attr) {
  const struct perf_classes *classes = &shared->classes;
  bool is_nowhere = attr == PERF_NOWHERE && (record->type == PERF_SAMPLE || shared->file.attr_count);
  if (is_nowhere || record->type >= PERF_USER)
    return NULL;
  if (record->type == PERF_SAMPLE)
    return &classes->samples[attr];
  bool is_known = record->type < PERF_KINDS && classes->kinds[record->type].class_;
  return &classes->kinds[is_known ? record->type : 0];
}

/* What is wrong with a record that is of no class. */
static int refuse(const struct perf_file *file, const struct perf_record *record, struct kymo_error *error) {
  struct perf_place place;
  kymo_perf_locate(file, record, &place);
  if (record->type < PERF_USER)
    return kymo_fail_at(error, KYMO_E_FORMAT, file->path, record->at,
                        file->attr_count ? "expected the id of an event, found %" PRIu64 ", which none has"
                                         : "expected an event that the sample is of, found none in the file",
                        place.id);
  return kymo_fail_at(error, KYMO_E_FORMAT, file->path, record->at,
                      "expected a type of record that is known, 1 to %u, found %" PRIu32, PERF_TYPES - 1,
                      record->type);
}

/* The event of an entry. A corrupt one is noted. False: out of memory. */
static bool store_entry(struct kymo_cursor *cursor, const struct perf_entry *entry) {
  const struct perf_shared *shared = cursor->shared;
  const struct perf_file *file = &shared->file;
  struct kymo_block *packet = &cursor->packing.packet;
  struct perf_record record = {.data = entry->data,
                               .type = perf_u32(file, entry->data),
                               .misc = perf_u16(file, entry->data + 4),
                               .size = perf_u16(file, entry->data + 6),
                               .at = entry->at};
  const struct perf_class *class_ = class_of(shared, &record, entry->attr);
  if (!kymo_block_reserve(packet, HEAD_BYTES) ||
      !KYMO_LIST_ROOM(cursor->packing.event_offsets, cursor->packing.offset_capacity,
                      cursor->packing.offset_count))
    return false;
  size_t begin = kymo_block_used(packet);
  int status = KYMO_OK;
  if (class_) {
    uint32_t tail =
        record.type == PERF_SAMPLE || entry->attr == PERF_NOWHERE ? 0 : file->attrs[entry->attr].tail_bytes;
    store_head(cursor, &record, entry, class_);
    status = kymo_perf_put(packet, file, class_, &record,
                           tail + PERF_RECORD_HEADER <= record.size ? record.size - tail : record.size,
                           &cursor->packing.pending);
  } else {
    status = refuse(file, &record, &cursor->packing.pending);
  }
  if (status == KYMO_E_MEMORY)
    return false;
  if (status != KYMO_OK) {
    packet->at = packet->bytes + begin;
    cursor->packing.has_pending = true;
    cursor->packing.pending_bytes += record.size;
    return true;
  }
  if (cursor->packing.offset_count == 0)
    cursor->first = entry->at;
  cursor->packing.event_offsets[cursor->packing.offset_count++] = (struct kymo_event_offset){
      entry->time, (uint32_t)begin, class_->class_->index & KYMO_EVENT_OFFSET_CLASS, !entry->is_timed};
  return true;
}

/* ---- packets ---- */

/* Whether the entry is a loss, which begins a packet: events before it are missing. */
static bool is_loss(const struct kymo_cursor *cursor, const struct perf_entry *entry, uint64_t *lost) {
  const struct perf_file *file = &cursor->shared->file;
  uint32_t type = perf_u32(file, entry->data);
  uint32_t at = type == PERF_LOST ? 16 : type == PERF_LOST_SAMPLES ? 8 : 0;
  if (at == 0 || perf_u16(file, entry->data + 6) < at + 8)
    return false;
  *lost = perf_u64(file, entry->data + at);
  return *lost > 0;
}

/* The next entry, after those of its window another one. KYMO_END: it is for the next packet. */
static int take_entry(struct kymo_cursor *cursor, struct kymo_error *error) {
  struct perf_order *order = &cursor->order;
  uint64_t lost;
  if (order->next == order->ready) {
    if (cursor->packing.offset_count)
      return KYMO_END;
    int status = kymo_perf_order_fill(order, error);
    if (status != KYMO_OK)
      return status;
  }
  const struct perf_entry *entry = &order->entries[order->next];
  if (is_loss(cursor, entry, &lost)) {
    if (cursor->packing.offset_count)
      return KYMO_END;
    cursor->packing.follows_loss = true;
    cursor->packing.lost_events += lost;
  }
  order->next++;
  return store_entry(cursor, entry) ? KYMO_OK : no_memory(error);
}

/* Fills the packet with the next events. */
static int fill(struct kymo_cursor *cursor, struct kymo_chunk *chunk, struct kymo_error *error) {
  int status = KYMO_OK;
  kymo_packing_clear(&cursor->packing);
  while (status == KYMO_OK && !cursor->packing.has_pending &&
         kymo_block_used(&cursor->packing.packet) < PACKET_BYTES)
    status = take_entry(cursor, error);
  if (cursor->packing.offset_count && status != KYMO_E_MEMORY)
    return KYMO_OK;
  if (status == KYMO_OK && cursor->packing.has_pending)
    return kymo_packing_fail(&cursor->packing, chunk, error);
  if (status == KYMO_E_FORMAT)
    chunk->lost_bytes = cursor->shared->file.records_end - cursor->order.records.at;
  return status;
}

/* ---- cursor ---- */

static int perf_next(struct kymo_cursor *cursor, struct kymo_chunk *chunk, struct kymo_error *error) {
  int status = kymo_packing_next(&cursor->packing, cursor, fill, &cursor->map, cursor->shared->file.path,
                                 chunk, error);
  chunk->offset = cursor->first;
  return status;
}

static void perf_skip(struct kymo_cursor *cursor, uint64_t size_bytes) {
  cursor->packing.packet.skipped += (size_t)size_bytes;
}

static void perf_seek(struct kymo_cursor *cursor, uint32_t file, uint64_t offset) {
  const struct perf_shared *shared = cursor->shared;
  (void)file;
  kymo_packing_forget(&cursor->packing);
  kymo_perf_order_seek(&cursor->order, shared->rounds, shared->round_count, offset);
}

static void perf_end(struct kymo_cursor *cursor) {
  kymo_perf_order_end(&cursor->order);
  kymo_map_close(&cursor->map);
  kymo_packing_end(&cursor->packing);
  free(cursor);
}

static int perf_begin(struct kymo_cursor **out, void *from, struct kymo_error *error) {
  struct kymo_cursor *cursor = *out = calloc(1, sizeof *cursor);
  if (!cursor)
    return no_memory(error);
  struct perf_shared *shared = cursor->shared = from;
  const uint8_t *data = NULL;
  uint64_t size = 0;
  int status = kymo_map_open(&cursor->map, shared->file.path, error);
  if (status == KYMO_OK)
    status = kymo_map_get(&cursor->map, 0, UINT64_MAX, &data, &size, error);
  if (status == KYMO_OK && size < shared->file.size)
    status = kymo_fail_at(error, KYMO_E_FORMAT, shared->file.path, size,
                          "expected %" PRIu64 " bytes, found %" PRIu64 ": the file was cut",
                          shared->file.size, size);
  if (status == KYMO_OK && !kymo_block_reserve(&cursor->packing.packet, KYMO_BLOCK_BYTES))
    status = no_memory(error);
  kymo_perf_order_begin(&cursor->order, &shared->file, data);
  if (status != KYMO_OK)
    perf_end(cursor);
  return status;
}

void kymo_perf_give_up(struct perf_shared *shared) {
  if (--shared->users)
    return;
  kymo_perf_kernel_end(&shared->kernel);
  kymo_perf_tasks_end(&shared->tasks);
  kymo_perf_close(&shared->file);
  free(shared->rounds);
  free(shared->views);
  free(shared);
}

static void perf_free(void *from) { kymo_perf_give_up(from); }

const struct kymo_source_operations kymo_perf_operations = {
    .begin = perf_begin,
    .next = perf_next,
    .skip = perf_skip,
    .seek = perf_seek,
    .end = perf_end,
    .free = perf_free,
};

const struct kymo_source_operations kymo_perf_packed_operations = {
    .begin = perf_begin,
    .next = perf_next,
    .skip = perf_skip,
    .end = perf_end,
    .free = perf_free,
};
