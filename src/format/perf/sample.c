/* SPDX-License-Identifier: MIT */
#include "format/perf/sample.h"
#include "base/fail.h"
#include "base/likely.h"
#include "format/ftrace/payload.h"
#include "format/perf/attr.h"
#include <inttypes.h>

#define FILE_ID_BYTES 24
#define BUILD_ID_MAX 20

enum { MISC_BUILD_ID = 1 << 14 };

/* ---- where things are ---- */

static uint64_t load_at(const struct perf_file *file, const struct perf_record *record, uint32_t at) {
  uint32_t place = PERF_RECORD_HEADER + at;
  return at != PERF_NOWHERE && place + 8 <= record->size ? perf_u64(file, record->data + place) : 0;
}

static uint64_t load_before_end(const struct perf_file *file, const struct perf_record *record,
                                uint32_t distance) {
  bool is_there = distance != PERF_NOWHERE && distance + PERF_RECORD_HEADER <= record->size;
  return is_there ? perf_u64(file, record->data + record->size - distance) : 0;
}

static uint32_t find_attr(const struct perf_file *file, uint64_t id) {
  if (file->attr_count == 1 || id == 0)
    return file->attr_count ? 0 : PERF_NOWHERE;
  const struct perf_id *found = kymo_perf_find_id(file, id);
  return found ? found->attr : PERF_NOWHERE;
}

void kymo_perf_locate(const struct perf_file *file, const struct perf_record *record,
                      struct perf_place *out) {
  bool is_sample = record->type == PERF_SAMPLE;
  out->id = is_sample ? load_at(file, record, file->common_id_at)
                      : load_before_end(file, record, file->common_tail_id);
  out->attr = find_attr(file, out->id);
  out->end = record->size;
  out->time = 0;
  if (out->attr == PERF_NOWHERE)
    return;
  const struct perf_attr *attr = &file->attrs[out->attr];
  if (is_sample) {
    out->time = load_at(file, record, attr->time_at);
  } else if (attr->tail_bytes + PERF_RECORD_HEADER <= record->size) {
    out->time = load_before_end(file, record, attr->tail_time);
    out->end = record->size - attr->tail_bytes;
  }
  out->time = out->time == UINT64_MAX ? 0 : out->time;
}

/* ---- steps ---- */

/* A record that is being stored. */
struct putting {
  struct kymo_block *packet;
  const struct perf_file *file;
  const struct perf_record *record;
  struct kymo_bytes bytes; /* the rest of its body */
  const uint8_t *trace;    /* the record of a tracepoint */
  uint32_t trace_size;
};

/* Numbers as they are in the file. A few are copied with the bytes after them. False: there are fewer. */
static bool copy(struct putting *putting, uint64_t size) {
  const uint8_t *from = size <= UINT32_MAX ? kymo_bytes_take(&putting->bytes, (size_t)size) : NULL;
  if (!from)
    return false;
  if (KYMO_LIKELY(size <= KYMO_SLACK))
    memcpy(putting->packet->at, from, KYMO_SLACK);
  else
    memcpy(putting->packet->at, from, (size_t)size);
  putting->packet->at += size;
  return true;
}

/* A count in the packet, and that many elements. */
static bool copy_list(struct putting *putting, uint64_t count, uint32_t element_bytes) {
  const struct kymo_bytes *bytes = &putting->bytes;
  if (bytes->failed || count > (bytes->size - bytes->at) / element_bytes)
    return false;
  kymo_block_number(putting->packet, count, 4);
  return copy(putting, count * element_bytes);
}

/* What separates the parts of a callchain: PERF_CONTEXT_HV, _KERNEL, _USER, and those of guests. */
static bool is_mark(uint64_t address) {
  switch (-address) {
  case 32:
  case 128:
  case 512:
  case 2048:
  case 2176:
  case 2560: return true;
  default: return false;
  }
}

static bool put_chain(struct putting *putting) {
  uint64_t count = kymo_bytes_u64(&putting->bytes);
  struct kymo_bytes *bytes = &putting->bytes;
  if (bytes->failed || count > (bytes->size - bytes->at) / 8)
    return false;
  const uint8_t *from = kymo_bytes_take(bytes, (size_t)count * 8);
  uint8_t *counted = putting->packet->at, *to = counted + 4;
  for (uint64_t i = 0; i < count; i++, from += 8) {
    if (is_mark(perf_u64(putting->file, from)))
      continue;
    memcpy(to, from, 8);
    to += 8;
  }
  kymo_block_number(putting->packet, (uint64_t)(to - counted - 4) / 8, 4);
  putting->packet->at = to;
  return true;
}

static bool put_group(struct putting *putting, const struct perf_step *step) {
  uint64_t count = kymo_bytes_u64(&putting->bytes);
  return copy(putting, UINT64_C(8) * step->size) && copy_list(putting, count, 8 * step->more);
}

static bool put_branches(struct putting *putting, uint32_t flags) {
  uint64_t count = kymo_bytes_u64(&putting->bytes);
  return (!(flags & 1) || copy(putting, 8)) && copy_list(putting, count, 24) &&
         (!(flags & 2) || copy_list(putting, count, 8));
}

static bool put_regs(struct putting *putting, uint32_t count) {
  uint64_t abi = kymo_bytes_u64(&putting->bytes);
  if (putting->bytes.failed)
    return false;
  putting->bytes.at -= 8;
  return copy(putting, 8) && copy_list(putting, abi ? count : 0, 8);
}

/* The stack as far as it is valid: the size after it says that. */
static bool put_stack(struct putting *putting) {
  struct kymo_bytes *bytes = &putting->bytes;
  uint64_t size = kymo_bytes_u64(bytes);
  const uint8_t *from = size <= UINT32_MAX ? kymo_bytes_take(bytes, (size_t)size) : NULL;
  uint64_t valid = size ? kymo_bytes_u64(bytes) : 0;
  if (!from || bytes->failed)
    return false;
  valid = valid < size ? valid : size;
  kymo_block_number(putting->packet, valid, 4);
  memcpy(putting->packet->at, from, (size_t)valid);
  putting->packet->at += valid;
  return true;
}

static bool take_trace(struct putting *putting) {
  putting->trace_size = kymo_bytes_u32(&putting->bytes);
  putting->trace = kymo_bytes_take(&putting->bytes, putting->trace_size);
  return putting->trace != NULL;
}

static bool put_file_id(struct putting *putting) {
  static const char digits[] = "0123456789abcdef";
  const uint8_t *from = kymo_bytes_take(&putting->bytes, FILE_ID_BYTES);
  struct kymo_block *packet = putting->packet;
  bool has_build_id = putting->record->misc & MISC_BUILD_ID;
  if (!from)
    return false;
  memset(packet->at, 0, FILE_ID_BYTES);
  if (!has_build_id)
    memcpy(packet->at, from, FILE_ID_BYTES);
  packet->at += FILE_ID_BYTES;
  for (unsigned i = 0; has_build_id && i < from[0] && i < BUILD_ID_MAX; i++) {
    *packet->at++ = (uint8_t)digits[from[4 + i] >> 4];
    *packet->at++ = (uint8_t)digits[from[4 + i] & 15];
  }
  *packet->at++ = '\0';
  return true;
}

static bool put_text(struct putting *putting) {
  struct kymo_bytes *bytes = &putting->bytes;
  const uint8_t *from = bytes->data + bytes->at;
  size_t rest = bytes->size - bytes->at;
  if (bytes->failed)
    return false;
  kymo_block_text(putting->packet, from, strnlen((const char *)from, rest));
  bytes->at = bytes->size;
  return true;
}

static bool put_step(struct putting *putting, const struct perf_step *step) {
  struct kymo_bytes *bytes = &putting->bytes;
  switch (step->kind) {
  case PERF_COPY: return copy(putting, step->size);
  case PERF_SKIP: return kymo_bytes_take(bytes, step->size) != NULL;
  case PERF_MODE: kymo_block_number(putting->packet, putting->record->misc & 7, 1); return true;
  case PERF_FLAG: kymo_block_number(putting->packet, putting->record->misc >> step->size & 1, 1); return true;
  case PERF_KIND: kymo_block_number(putting->packet, putting->record->type, 4); return true;
  case PERF_GROUP: return put_group(putting, step);
  case PERF_CHAIN: return put_chain(putting);
  case PERF_TRACE: return take_trace(putting);
  case PERF_RAW: return copy_list(putting, kymo_bytes_u32(bytes), 1);
  case PERF_BRANCHES: return put_branches(putting, step->size);
  case PERF_REGS: return put_regs(putting, step->size);
  case PERF_STACK: return put_stack(putting);
  case PERF_BYTES: return copy_list(putting, kymo_bytes_u64(bytes), 1);
  case PERF_PAIRS: return copy_list(putting, kymo_bytes_u64(bytes), 16);
  case PERF_FILE_ID: return put_file_id(putting);
  case PERF_TEXT: return put_text(putting);
  case PERF_REST: return copy_list(putting, bytes->size - bytes->at, 1);
  }
  return false;
}

/* ---- records ---- */

static int fail(const struct putting *putting, const struct perf_class *class_, const struct perf_step *step,
                struct kymo_error *error) {
  return kymo_fail_at(error, KYMO_E_FORMAT, putting->file->path, putting->record->at,
                      "%s: expected %s, found the end of the record after %" PRIu32 " bytes",
                      class_->class_->name, step->name, putting->record->size);
}

/* The payload of a tracepoint. */
static int put_trace(const struct putting *putting, const struct kymo_ftrace_class *class_,
                     struct kymo_error *error) {
  struct ftrace_missing missing;
  const char *name = class_->class_->name, *path = putting->file->path;
  uint64_t at = putting->record->at;
  if (putting->trace_size < class_->least_bytes)
    return kymo_fail_at(error, KYMO_E_FORMAT, path, at,
                        "%s: expected at least %" PRIu32 " bytes of its fields, found %" PRIu32, name,
                        class_->least_bytes, putting->trace_size);
  int status = kymo_ftrace_put_payload(putting->packet, class_, putting->trace, putting->trace_size,
                                       putting->file->formats.is_big, &missing);
  if (status != KYMO_E_FORMAT)
    return status;
  if (!missing.step)
    return kymo_fail_at(error, KYMO_E_FORMAT, path, at,
                        "%s: expected at most %zu bytes of values, found more", name, FTRACE_PAYLOAD_MAX);
  return kymo_fail_at(error, KYMO_E_FORMAT, path, at,
                      "%s: expected %s in %" PRIu32 " bytes, found %zu bytes at %zu", name,
                      missing.step->field->name, putting->trace_size, missing.length, missing.from);
}

int kymo_perf_put(struct kymo_block *packet, const struct perf_file *file, const struct perf_class *class_,
                  const struct perf_record *record, uint32_t end, struct kymo_error *error) {
  struct putting putting = {
      .packet = packet,
      .file = file,
      .record = record,
      .bytes = {.data = record->data, .at = PERF_RECORD_HEADER, .size = end, .is_big = file->is_big}};
  /* no step stores more than twice what it reads, or a few bytes of its own */
  if (!kymo_block_reserve(packet, (size_t)2 * record->size + 512))
    return KYMO_E_MEMORY;
  for (uint32_t i = 0; i < class_->step_count; i++)
    if (!put_step(&putting, &class_->steps[i]))
      return fail(&putting, class_, &class_->steps[i], error);
  return class_->tracepoint ? put_trace(&putting, class_->tracepoint, error) : KYMO_OK;
}
