/* SPDX-License-Identifier: MIT */
#include "live/samples/once.h"
#include "base/list.h"
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

/* After as many records of another event in succession the first one records no more; threads and processors
 * that are remembered. */
enum { OTHERS_MOST = 3, SEEN_MOST = 1 << 16, ID_BYTES = 8 };

/* The event of a thread on a processor. */
struct kymo_sampling_seen {
  uint64_t id;
  uint32_t tid, cpu;
  uint32_t others; /* records of other events since its last one */
  bool is_over;    /* the thread has ended: what comes next may be of another one with its number */
};

/* What a record says about itself. */
struct origin {
  uint64_t id;
  uint32_t tid, cpu;
};

static uint32_t hash_of(uint32_t tid, uint32_t cpu) { return tid * 31 + cpu; }

/* Whether the record is one that each event of the thread makes; then who made it. In samples these fields
 * are first, in other records last. */
static bool find_origin(struct origin *origin, const uint8_t *record, const struct perf_event_header *head) {
  enum { SAMPLE_ID = 8, SAMPLE_TID = 28, SAMPLE_CPU = 40, TAIL_TID = 28, TAIL_CPU = 16, TAIL_ID = 8 };
  enum { LEAST = 48 };
  bool is_sample = head->type == PERF_RECORD_SAMPLE;
  if (head->size < LEAST ||
      (!is_sample && head->type != PERF_RECORD_FORK && head->type != PERF_RECORD_EXIT &&
       head->type != PERF_RECORD_COMM && head->type != PERF_RECORD_MMAP && head->type != PERF_RECORD_MMAP2))
    return false;
  const uint8_t *end = record + head->size;
  memcpy(&origin->id, is_sample ? record + SAMPLE_ID : end - TAIL_ID, sizeof origin->id);
  memcpy(&origin->tid, is_sample ? record + SAMPLE_TID : end - TAIL_TID, sizeof origin->tid);
  memcpy(&origin->cpu, is_sample ? record + SAMPLE_CPU : end - TAIL_CPU, sizeof origin->cpu);
  return true;
}

static struct kymo_sampling_seen *find(const struct kymo_sampling_once *once, uint32_t tid, uint32_t cpu) {
  uint32_t hash = hash_of(tid, cpu);
  uintptr_t item;
  for (uint32_t at = hash; (item = kymo_hash_table_next(&once->table, hash, &at)) != 0;)
    if (once->list[item - 1].tid == tid && once->list[item - 1].cpu == cpu)
      return &once->list[item - 1];
  return NULL;
}

/* Without memory the record is kept. */
static void add(struct kymo_sampling_once *once, const struct origin *origin) {
  if (once->count == SEEN_MOST) {
    kymo_hash_table_clear(&once->table);
    once->count = 0;
  }
  if (!KYMO_LIST_ROOM(once->list, once->capacity, once->count) ||
      !kymo_hash_table_add(&once->table, NULL, hash_of(origin->tid, origin->cpu), once->count + 1))
    return;
  once->cpus = origin->cpu < once->cpus ? once->cpus : origin->cpu + 1;
  once->list[once->count++] =
      (struct kymo_sampling_seen){.id = origin->id, .tid = origin->tid, .cpu = origin->cpu};
}

/* The end of a thread is recorded by each of its events; anything later is of another thread. */
static bool is_first(struct kymo_sampling_once *once, const struct origin *origin, bool is_end) {
  struct kymo_sampling_seen *seen = find(once, origin->tid, origin->cpu);
  if (!seen) {
    add(once, origin);
    return true;
  }
  bool is_other_thread = seen->is_over && !is_end;
  if (!is_other_thread && seen->id != origin->id && ++seen->others < OTHERS_MOST)
    return false;
  seen->id = origin->id;
  seen->others = 0;
  seen->is_over = false;
  return true;
}

static void end_thread(struct kymo_sampling_once *once, uint32_t tid) {
  for (uint32_t cpu = 0; cpu < once->cpus; cpu++) {
    struct kymo_sampling_seen *seen = find(once, tid, cpu);
    if (seen)
      seen->is_over = true;
  }
}

/* Whether a record is to be kept. */
static bool look(struct kymo_sampling_once *once, const uint8_t *record,
                 const struct perf_event_header *head) {
  enum { EXIT_TID = 16 };
  struct origin origin;
  uint32_t ended;
  if (!find_origin(&origin, record, head))
    return true;
  if (!is_first(once, &origin, head->type == PERF_RECORD_EXIT))
    return false;
  memcpy(&ended, record + EXIT_TID, sizeof ended);
  if (head->type == PERF_RECORD_EXIT)
    end_thread(once, ended);
  return true;
}

/* Copies a record to `to`, which may be before it, without its id. Returns its size there. */
static size_t put_without_id(uint8_t *to, const uint8_t *record, struct perf_event_header head) {
  size_t body = head.size - sizeof head - ID_BYTES;
  memmove(to + sizeof head, record + sizeof head + (head.type == PERF_RECORD_SAMPLE ? ID_BYTES : 0), body);
  head.size -= ID_BYTES;
  memcpy(to, &head, sizeof head);
  return head.size;
}

size_t kymo_sampling_once_take(struct kymo_sampling_once *once, uint8_t *bytes, size_t size,
                               bool may_repeat) {
  size_t kept = 0;
  struct perf_event_header head;
  for (size_t at = 0; at + sizeof head <= size; at += head.size) {
    memcpy(&head, bytes + at, sizeof head);
    if (head.size < sizeof head + ID_BYTES || head.size > size - at)
      break;
    if (!may_repeat || look(once, bytes + at, &head))
      kept += put_without_id(bytes + kept, bytes + at, head);
  }
  return kept;
}

void kymo_sampling_once_free(struct kymo_sampling_once *once) {
  free(once->list);
  kymo_hash_table_free(&once->table);
}
