/* SPDX-License-Identifier: MIT */
/*
 * perf.data, the file of perf (tools/perf/Documentation/perf.data-file-format.txt, linux/perf_event.h):
 *
 *   "PERFILE2" | size of the header | size of an attr | attrs, data, event types: offset, size | feature bits
 *   attrs:  struct perf_event_attr, offset and size of its ids                             one for each event
 *   data:   records
 *   after the data: offset and size of each feature: formats of tracepoints, build ids, names of events …
 *
 * A pipe has "PERFILE2", 16 and the records only; attrs and features are records, too. The first eight bytes
 * are reversed in files of machines of the other byte order.
 *
 * file.c reads all but the records; records.c goes over them; tasks.c keeps names of threads and load maps;
 * kernel.c has names of the kernel's functions; schema.c makes the schema; sample.c stores records as events
 * of it; stream.c puts them in order and makes packets.
 */
#ifndef KYMO_FORMAT_PERF_FILE_H
#define KYMO_FORMAT_PERF_FILE_H

#include "base/arena.h"
#include "base/bytes.h"
#include "format/beside.h"
#include "format/ftrace/file.h"
#include "source/map.h"

enum perf_record_type {
  PERF_MMAP = 1,
  PERF_LOST = 2,
  PERF_COMM = 3,
  PERF_EXIT = 4,
  PERF_FORK = 7,
  PERF_SAMPLE = 9,
  PERF_MMAP2 = 10,
  PERF_LOST_SAMPLES = 13,
  PERF_KSYMBOL = 17,
  PERF_USER = 64, /* from here on they are of perf, not of the kernel */
  PERF_HEADER_ATTR = 64,
  PERF_HEADER_TRACING_DATA = 66,
  PERF_HEADER_BUILD_ID = 67,
  PERF_FINISHED_ROUND = 68,
  PERF_ID_INDEX = 69,
  PERF_AUXTRACE = 71,
  PERF_EVENT_UPDATE = 78,
  PERF_HEADER_FEATURE = 80,
  PERF_COMPRESSED = 81,
  PERF_COMPRESSED2 = 83,
  PERF_TYPES = 84,
};

/* Bits of sample_type. */
enum perf_sample_bit {
  PERF_HAS_IP,
  PERF_HAS_TID,
  PERF_HAS_TIME,
  PERF_HAS_ADDR,
  PERF_HAS_READ,
  PERF_HAS_CALLCHAIN,
  PERF_HAS_ID,
  PERF_HAS_CPU,
  PERF_HAS_PERIOD,
  PERF_HAS_STREAM_ID,
  PERF_HAS_RAW,
  PERF_HAS_BRANCHES,
  PERF_HAS_USER_REGS,
  PERF_HAS_USER_STACK,
  PERF_HAS_WEIGHT,
  PERF_HAS_DATA_SOURCE,
  PERF_HAS_IDENTIFIER,
  PERF_HAS_TRANSACTION,
  PERF_HAS_KERNEL_REGS,
  PERF_HAS_PHYSICAL,
  PERF_HAS_AUX,
  PERF_HAS_CGROUP,
  PERF_HAS_DATA_PAGE,
  PERF_HAS_CODE_PAGE,
  PERF_HAS_WEIGHTS,
  PERF_SAMPLE_BITS,
};
#define PERF_HAS(attr, bit) ((attr)->sample_type >> (bit)&1)

#define PERF_NOWHERE UINT32_MAX

/* An event that was recorded. */
struct perf_attr {
  uint32_t type;
  uint64_t config, sample_type, read_format, branch_type, user_regs, kernel_regs;
  int32_t clock_id; /* -1: perf's own clock */
  bool has_tail;    /* records that are no samples end with thread, time, CPU, id */
  const char *name; /* or NULL */
  /* Where a sample has its id, thread, time and CPU: bytes after the record's header, or PERF_NOWHERE. */
  uint32_t id_at, tid_at, time_at, cpu_at;
  /* … and where other records have them: bytes before their end. */
  uint32_t tail_bytes, tail_id, tail_tid, tail_time, tail_cpu;
};

struct perf_id {
  uint64_t id;
  uint32_t attr;
  uint32_t cpu; /* on which it counts, or PERF_NOWHERE */
};

struct perf_build_id {
  const char *path, *id; /* hexadecimal */
};

struct perf_file {
  struct kymo_arena arena;
  const char *path;
  const char *directory; /* of a recording of kymo, in which the file is; or NULL */
  struct kymo_beside beside;
  struct kymo_map map;
  const uint8_t *data;
  uint64_t size;
  bool is_big, is_pipe;
  uint64_t records_at, records_end; /* as far as the file has them */
  struct perf_attr *attrs;
  uint32_t attr_count, attr_capacity;
  struct perf_id *ids; /* sorted once all are known */
  uint32_t
      *id_places;   /* by the lowest bits of an id: 1 + the index of one that has them, or 0; NULL: no ids */
  uint32_t id_mask; /* these bits */
  struct perf_id *cpus; /* of ids, which may not be known yet */
  uint32_t cpus_count, cpus_capacity;
  uint32_t id_count, id_capacity;
  uint32_t common_id_at, common_tail_id; /* where records have their id, if all events agree */
  struct perf_build_id *build_ids;
  uint32_t build_id_count, build_id_capacity;
  const char *host, *release, *version, *machine, *command, *processor; /* or NULL */
  uint32_t cpu_count;                                                   /* 0: unknown */
  bool has_wall_clock; /* at clock_ns of the events' clock it was wall_ns */
  uint64_t wall_ns, clock_ns;
  bool has_formats;
  struct ftrace_file formats; /* what perf has in common with trace-cmd */
};

/* Whether a file begins as one of perf. */
bool kymo_perf_is_file(const uint8_t *data, size_t size);
/* Reads all but the records; of a pipe only the header. To be cleared by kymo_perf_close in any case. KYMO_OK
 * also if a section is damaged, which is noted as damage of the trace. */
int kymo_perf_open(struct perf_file *file, struct kymo_trace *trace, const char *path,
                   struct kymo_error *error);
void kymo_perf_close(struct perf_file *file);

/* Records of a pipe that describe the others: the bytes of the record, which are at `at` in the file. For
 * TRACING_DATA the bytes that follow it. KYMO_OK, KYMO_E_FORMAT or KYMO_E_MEMORY. */
int kymo_perf_take(struct perf_file *file, struct kymo_trace *trace, uint32_t type, const uint8_t *bytes,
                   size_t size, uint64_t at, struct kymo_error *error);
/* All attrs are known: sorts their ids, names events without a name. */
int kymo_perf_finish(struct perf_file *file, struct kymo_error *error);
/* An id; NULL: there is none. */
const struct perf_id *kymo_perf_find_id(const struct perf_file *file, uint64_t id);
/* Whether samples of some events have their CPU, and those of others do not. */
bool kymo_perf_lacks_cpus(const struct perf_file *file);

static inline uint16_t perf_u16(const struct perf_file *file, const uint8_t *from) {
  return file->is_big ? kymo_load_be16(from) : kymo_load_le16(from);
}
static inline uint32_t perf_u32(const struct perf_file *file, const uint8_t *from) {
  return file->is_big ? kymo_load_be32(from) : kymo_load_le32(from);
}
static inline uint64_t perf_u64(const struct perf_file *file, const uint8_t *from) {
  return file->is_big ? kymo_load_be64(from) : kymo_load_le64(from);
}

#endif
