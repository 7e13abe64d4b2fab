/* SPDX-License-Identifier: MIT */
#include "format/perf/attr.h"
#include "base/fail.h"
#include "base/list.h"
#include "base/search.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ATTRS_MAX 16384

enum { FLAG_SAMPLE_ID_ALL = 18, FLAG_USE_CLOCK_ID = 25 };

static int no_memory(struct kymo_error *error) { return kymo_fail(error, KYMO_E_MEMORY, "out of memory"); }

/* ---- places ---- */

/* Fields of a sample before all that have no constant place, in their order. */
static void find_places(struct perf_attr *attr) {
  static const uint8_t order[] = {PERF_HAS_IDENTIFIER, PERF_HAS_IP, PERF_HAS_TID,       PERF_HAS_TIME,
                                  PERF_HAS_ADDR,       PERF_HAS_ID, PERF_HAS_STREAM_ID, PERF_HAS_CPU};
  uint32_t at = 0;
  attr->id_at = attr->tid_at = attr->time_at = attr->cpu_at = PERF_NOWHERE;
  for (size_t i = 0; i < sizeof order; i++) {
    if (!PERF_HAS(attr, order[i]))
      continue;
    switch (order[i]) {
    case PERF_HAS_IDENTIFIER: attr->id_at = at; break;
    case PERF_HAS_TID: attr->tid_at = at; break;
    case PERF_HAS_TIME: attr->time_at = at; break;
    case PERF_HAS_ID: attr->id_at = attr->id_at == PERF_NOWHERE ? at : attr->id_at; break;
    case PERF_HAS_CPU: attr->cpu_at = at; break;
    default: break;
    }
    at += 8;
  }
}

/* The end of all other records, backwards. */
static void find_tail(struct perf_attr *attr) {
  static const uint8_t order[] = {PERF_HAS_IDENTIFIER, PERF_HAS_CPU,  PERF_HAS_STREAM_ID,
                                  PERF_HAS_ID,         PERF_HAS_TIME, PERF_HAS_TID};
  uint32_t at = 0;
  attr->tail_id = attr->tail_tid = attr->tail_time = attr->tail_cpu = PERF_NOWHERE;
  for (size_t i = 0; attr->has_tail && i < sizeof order; i++) {
    if (!PERF_HAS(attr, order[i]))
      continue;
    at += 8;
    switch (order[i]) {
    case PERF_HAS_IDENTIFIER: attr->tail_id = at; break;
    case PERF_HAS_CPU: attr->tail_cpu = at; break;
    case PERF_HAS_ID: attr->tail_id = attr->tail_id == PERF_NOWHERE ? at : attr->tail_id; break;
    case PERF_HAS_TIME: attr->tail_time = at; break;
    case PERF_HAS_TID: attr->tail_tid = at; break;
    default: break;
    }
  }
  attr->tail_bytes = at;
}

/* ---- attrs ---- */

int kymo_perf_add_attr(struct perf_file *file, const uint8_t *bytes, size_t size, uint64_t at,
                       struct kymo_error *error) {
  enum {
    TYPE = 0,
    CONFIG = 8,
    SAMPLE_TYPE = 24,
    READ_FORMAT = 32,
    FLAGS = 40,
    BRANCHES = 72,
    USER_REGS = 80,
    CLOCK = 92,
    KERNEL_REGS = 96
  };
  if (!KYMO_LIST_ROOM_UP_TO(file->attrs, file->attr_capacity, file->attr_count, ATTRS_MAX))
    return file->attr_count < ATTRS_MAX ? no_memory(error)
                                        : kymo_fail_at(error, KYMO_E_FORMAT, file->path, at,
                                                       "expected at most %u events, found more", ATTRS_MAX);
  struct perf_attr *attr = &file->attrs[file->attr_count];
  uint64_t flags = perf_u64(file, bytes + FLAGS);
  *attr = (struct perf_attr){.type = perf_u32(file, bytes + TYPE),
                             .config = perf_u64(file, bytes + CONFIG),
                             .sample_type = perf_u64(file, bytes + SAMPLE_TYPE),
                             .read_format = perf_u64(file, bytes + READ_FORMAT),
                             .clock_id = -1};
  /* the first of these bits is the highest one where bytes are big-endian */
  bool has_clock = flags >> (file->is_big ? 63 - FLAG_USE_CLOCK_ID : FLAG_USE_CLOCK_ID) & 1;
  attr->has_tail = flags >> (file->is_big ? 63 - FLAG_SAMPLE_ID_ALL : FLAG_SAMPLE_ID_ALL) & 1;
  if (size >= BRANCHES + 8)
    attr->branch_type = perf_u64(file, bytes + BRANCHES);
  if (size >= USER_REGS + 8)
    attr->user_regs = perf_u64(file, bytes + USER_REGS);
  if (size >= CLOCK + 4 && has_clock)
    attr->clock_id = (int32_t)perf_u32(file, bytes + CLOCK);
  if (size >= KERNEL_REGS + 8)
    attr->kernel_regs = perf_u64(file, bytes + KERNEL_REGS);
  if (attr->sample_type >> PERF_SAMPLE_BITS)
    return kymo_fail_at(error, KYMO_E_FORMAT, file->path, at + SAMPLE_TYPE,
                        "expected fields of samples that are known, bits 0 to %u, found 0x%" PRIx64,
                        PERF_SAMPLE_BITS - 1, attr->sample_type);
  find_places(attr);
  find_tail(attr);
  file->attr_count++;
  return KYMO_OK;
}

int kymo_perf_add_ids(struct perf_file *file, uint32_t attr, const uint8_t *bytes, size_t size,
                      struct kymo_error *error) {
  for (size_t at = 0; at + 8 <= size; at += 8) {
    if (!KYMO_LIST_ROOM(file->ids, file->id_capacity, file->id_count))
      return no_memory(error);
    file->ids[file->id_count++] = (struct perf_id){perf_u64(file, bytes + at), attr, PERF_NOWHERE};
  }
  return KYMO_OK;
}

void kymo_perf_name_attr(struct perf_file *file, bool has_id, uint64_t id, uint32_t index, const char *name) {
  for (uint32_t i = 0; has_id && i < file->id_count; i++)
    if (file->ids[i].id == id)
      index = file->ids[i].attr;
  if (index < file->attr_count && !file->attrs[index].name && *name)
    file->attrs[index].name = name;
}

const char *kymo_perf_hex(struct kymo_arena *arena, const uint8_t *bytes, size_t size) {
  char *text = kymo_arena_alloc(arena, 2 * size + 1);
  if (!text)
    return NULL;
  for (size_t i = 0; i < size; i++)
    snprintf(text + 2 * i, 3, "%02x", bytes[i]);
  text[2 * size] = '\0';
  return text;
}

/* ---- names of events that have none ---- */

static const char *const hardware[] = {
    "cycles",        "instructions", "cache-references",        "cache-misses",           "branches",
    "branch-misses", "bus-cycles",   "stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles"};
static const char *const software[] = {"cpu-clock",        "task-clock",   "page-faults",  "context-switches",
                                       "cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
                                       "emulation-faults", "dummy",        "bpf-output",   "cgroup-switches"};

static bool name_attr(struct perf_file *file, struct perf_attr *attr) {
  char text[64];
  if (attr->type == 0 && attr->config < sizeof hardware / sizeof *hardware)
    attr->name = hardware[attr->config];
  if (attr->type == 1 && attr->config < sizeof software / sizeof *software)
    attr->name = software[attr->config];
  if (attr->name)
    return true;
  snprintf(text, sizeof text, "event of type %" PRIu32 ", config 0x%" PRIx64, attr->type, attr->config);
  attr->name = kymo_arena_copy(&file->arena, text, strlen(text));
  return attr->name != NULL;
}

static int by_id(const void *one, const void *other) {
  const struct perf_id *a = one, *b = other;
  if (a->id != b->id)
    return a->id < b->id ? -1 : 1;
  return a->attr < b->attr ? -1 : a->attr > b->attr;
}

static int by_path(const void *one, const void *other) {
  const struct perf_build_id *a = one, *b = other;
  return strcmp(a->path, b->path);
}

int kymo_perf_add_cpus(struct perf_file *file, const uint8_t *record, size_t size, struct kymo_error *error) {
  enum { BEGIN = 16, ENTRY = 32, CPU = 16 };
  for (size_t at = BEGIN; at + ENTRY <= size; at += ENTRY) {
    if (!KYMO_LIST_ROOM(file->cpus, file->cpus_capacity, file->cpus_count))
      return no_memory(error);
    file->cpus[file->cpus_count++] =
        (struct perf_id){perf_u64(file, record + at), 0, (uint32_t)perf_u64(file, record + at + CPU)};
  }
  return KYMO_OK;
}

static void take_cpus(struct perf_file *file) {
  for (uint32_t i = 0; i < file->cpus_count; i++) {
    uint64_t id = file->cpus[i].id;
    uint32_t at = KYMO_COUNT_BEFORE(file->id_count, k, file->ids[k].id < id);
    if (at < file->id_count && file->ids[at].id == id)
      file->ids[at].cpu = file->cpus[i].cpu;
  }
}

/* Sorts the ids. The kernel numbers events one after another, so few of them share their lowest bits. */
static bool sort_ids(struct perf_file *file) {
  uint32_t places = 2;
  if (!file->id_count)
    return true;
  qsort(file->ids, file->id_count, sizeof *file->ids, by_id);
  while (places < file->id_count * UINT64_C(2))
    places *= 2;
  file->id_mask = places - 1;
  file->id_places = kymo_arena_array(&file->arena, places, sizeof *file->id_places);
  for (uint32_t i = file->id_count; file->id_places && i > 0; i--)
    file->id_places[file->ids[i - 1].id & file->id_mask] = i;
  return file->id_places != NULL;
}

int kymo_perf_finish(struct perf_file *file, struct kymo_error *error) {
  if (!sort_ids(file))
    return no_memory(error);
  take_cpus(file);
  if (file->build_id_count)
    qsort(file->build_ids, file->build_id_count, sizeof *file->build_ids, by_path);
  for (uint32_t i = 0; i < file->attr_count; i++) {
    const struct perf_attr *attr = &file->attrs[i];
    if (!attr->name && !(attr->type == PERF_TRACEPOINT && file->has_formats) &&
        !name_attr(file, &file->attrs[i]))
      return no_memory(error);
    file->common_id_at = i == 0 || file->common_id_at == attr->id_at ? attr->id_at : PERF_NOWHERE;
    file->common_tail_id = i == 0 || file->common_tail_id == attr->tail_id ? attr->tail_id : PERF_NOWHERE;
  }
  return KYMO_OK;
}

const struct perf_id *kymo_perf_find_id(const struct perf_file *file, uint64_t id) {
  uint32_t place = file->id_places ? file->id_places[id & file->id_mask] : 0;
  if (place == 0 || file->ids[place - 1].id == id)
    return place ? &file->ids[place - 1] : NULL;
  uint32_t at = KYMO_COUNT_BEFORE(file->id_count, i, file->ids[i].id < id);
  return at < file->id_count && file->ids[at].id == id ? &file->ids[at] : NULL;
}

bool kymo_perf_lacks_cpus(const struct perf_file *file) {
  bool has = false, lacks = false;
  for (uint32_t i = 0; i < file->attr_count; i++) {
    has |= file->attrs[i].cpu_at != PERF_NOWHERE;
    lacks |= file->attrs[i].cpu_at == PERF_NOWHERE;
  }
  return has && lacks;
}
