/* SPDX-License-Identifier: MIT */
#include "format/perf/records.h"
#include "base/fail.h"
#include "source/format.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define HELD_MAX ((size_t)1 << 30) /* unpacked bytes of a round */

void kymo_perf_records_begin(struct perf_records *records, const struct perf_file *file,
                             const uint8_t *data) {
  *records = (struct perf_records){.file = file, .data = data, .at = file->records_at};
}

void kymo_perf_records_forget(struct perf_records *records, uint32_t round) {
  struct perf_unpacked **link = &records->unpacked;
  while (*link && (*link == records->unpacked || (*link)->round >= round)) /* the newest may have a rest */
    link = &(*link)->next;
  while (*link) {
    struct perf_unpacked *old = *link;
    *link = old->next;
    records->held -= old->size;
    free(old);
  }
}

static void forget_all(struct perf_records *records) {
  while (records->unpacked) {
    struct perf_unpacked *old = records->unpacked;
    records->unpacked = old->next;
    free(old);
  }
  records->held = 0;
}

void kymo_perf_records_end(struct perf_records *records) {
  forget_all(records);
  kymo_unzstd_free(records->stream);
}

void kymo_perf_records_seek(struct perf_records *records, uint64_t at) {
  records->at = at;
  records->has_failed = false;
}

static int fail(struct perf_records *records, uint64_t at, struct kymo_error *error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static int fail(struct perf_records *records, uint64_t at, struct kymo_error *error, const char *format,
                ...) {
  va_list args;
  records->has_failed = true;
  va_start(args, format);
  kymo_fail_at_args(error, KYMO_E_FORMAT, records->file->path, at, format, args);
  va_end(args);
  return KYMO_E_FORMAT;
}

static int no_memory(struct perf_records *records, struct kymo_error *error) {
  records->has_failed = true;
  return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
}

/* ---- compressed records ---- */

/* What was unpacked, after the rest of the piece before. */
static int keep(struct perf_records *records, const struct kymo_unpacked *out, uint64_t place,
                struct kymo_error *error) {
  const struct perf_unpacked *before = records->unpacked;
  size_t rest = before ? before->size - before->at : 0, size = rest + out->size;
  if (records->held + size > HELD_MAX)
    return fail(records, place, error, "expected at most %zu bytes unpacked at a time, found more", HELD_MAX);
  struct perf_unpacked *piece = malloc(sizeof *piece + size + KYMO_SLACK);
  if (!piece)
    return no_memory(records, error);
  *piece = (struct perf_unpacked){
      .next = records->unpacked, .round = records->round, .size = size, .place = place};
  if (rest)
    memcpy(piece->bytes, before->bytes + before->at, rest);
  if (out->size)
    memcpy(piece->bytes + rest, out->bytes, out->size);
  memset(piece->bytes + size, 0, KYMO_SLACK);
  records->unpacked = piece;
  records->held += size;
  return KYMO_OK;
}

static int unpack(struct perf_records *records, const struct perf_record *packed, struct kymo_error *error) {
  size_t head = packed->type == PERF_COMPRESSED2 ? PERF_RECORD_HEADER + 8 : PERF_RECORD_HEADER;
  uint64_t size = packed->size - PERF_RECORD_HEADER;
  records->was_packed = true;
  if (packed->type == PERF_COMPRESSED2)
    size = packed->size >= head ? perf_u64(records->file, packed->data + PERF_RECORD_HEADER) : UINT64_MAX;
  if (head > packed->size || size > packed->size - head)
    return fail(records, packed->at, error,
                "expected compressed bytes in a record of %" PRIu32 ", found a size of %" PRIu64,
                packed->size, size);
  if (!records->stream && !(records->stream = kymo_unzstd_new()))
    return no_memory(records, error);
  struct kymo_unpacked out = {0};
  const char *wrong = kymo_unzstd_add(records->stream, &out, packed->data + head, (size_t)size);
  int status = out.failed    ? no_memory(records, error)
               : out.is_over ? fail(records, packed->at, error,
                                    "expected at most %zu unpacked bytes, found more", KYMO_UNPACK_MAX)
               : wrong       ? fail(records, packed->at, error,
                                    "expected %" PRIu64 " compressed bytes, found others: %s", size, wrong)
                             : keep(records, &out, packed->at, error);
  free(out.bytes);
  return status;
}

/* The next whole record of those that are unpacked. KYMO_END: there is none. */
static int next_unpacked(struct perf_records *records, struct perf_record *record, struct kymo_error *error) {
  struct perf_unpacked *piece = records->unpacked;
  size_t rest = piece ? piece->size - piece->at : 0;
  if (rest < PERF_RECORD_HEADER)
    return KYMO_END;
  const uint8_t *data = piece->bytes + piece->at;
  size_t size = perf_u16(records->file, data + 6);
  uint32_t type = perf_u32(records->file, data);
  if (size < PERF_RECORD_HEADER || type >= PERF_USER)
    return fail(records, piece->place, error,
                "expected a record of the kernel in the unpacked bytes, found type %" PRIu32 " of %zu bytes",
                type, size);
  if (size > rest)
    return KYMO_END;
  *record = (struct perf_record){.data = data,
                                 .type = type,
                                 .misc = perf_u16(records->file, data + 4),
                                 .size = (uint32_t)size,
                                 .at = piece->place};
  piece->at += size;
  return KYMO_OK;
}

/* ---- records of the file ---- */

/* The bytes after a record. */
static uint64_t more_after(const struct perf_file *file, const struct perf_record *record) {
  if (record->type < PERF_USER)
    return 0;
  if (record->type == PERF_AUXTRACE && record->size >= 16)
    return perf_u64(file, record->data + 8);
  if (record->type == PERF_HEADER_TRACING_DATA && record->size >= 12)
    return ((uint64_t)perf_u32(file, record->data + 8) + 7) / 8 * 8;
  return 0;
}

static int next_plain(struct perf_records *records, struct perf_record *record, struct kymo_error *error) {
  const struct perf_file *file = records->file;
  uint64_t at = records->at, rest = file->records_end - at;
  if (rest == 0)
    return KYMO_END;
  if (rest < PERF_RECORD_HEADER)
    return fail(records, at, error, "expected a record, found the last %" PRIu64 " bytes of the data", rest);
  const uint8_t *data = records->data + at;
  *record = (struct perf_record){.data = data,
                                 .type = perf_u32(file, data),
                                 .misc = perf_u16(file, data + 4),
                                 .size = perf_u16(file, data + 6),
                                 .at = at};
  if (record->size < PERF_RECORD_HEADER)
    return fail(records, at, error, "expected a record of at least 8 bytes, found one of %" PRIu32,
                record->size);
  if (record->size > rest)
    return fail(records, at, error,
                "expected a record of %" PRIu32 " bytes, found the last %" PRIu64 " of the data",
                record->size, rest);
  record->more_size = more_after(file, record);
  if (record->more_size > rest - record->size)
    return fail(records, at, error,
                "expected %" PRIu64 " bytes after a record, found the last %" PRIu64 " of the data",
                record->more_size, rest - record->size);
  records->at += record->size + record->more_size;
  return KYMO_OK;
}

int kymo_perf_records_next(struct perf_records *records, struct perf_record *record,
                           struct kymo_error *error) {
  if (records->has_failed)
    return KYMO_END;
  for (;;) {
    int status = next_unpacked(records, record, error);
    if (status != KYMO_END)
      return status;
    status = next_plain(records, record, error);
    const struct perf_unpacked *piece = records->unpacked;
    if (status == KYMO_END && piece && piece->at < piece->size)
      return fail(records, records->at, error,
                  "expected the rest of a compressed record, found the end of the data");
    if (status != KYMO_OK || (record->type != PERF_COMPRESSED && record->type != PERF_COMPRESSED2))
      return status;
    status = unpack(records, record, error);
    if (status != KYMO_OK)
      return status;
  }
}
