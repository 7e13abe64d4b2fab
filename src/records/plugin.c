/* SPDX-License-Identifier: MIT */
/* Records that a plug-in finds (kymo/records.h). It is not trusted: lengths are checked against the file. */
#include "base/fail.h"
#include "source/map.h"
#include "records/records.h"
#include "trace/plugin.h"
#include <inttypes.h>
#include <kymo/read.h>
#include <kymo/records.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Size of the part of a file that is mapped at once: larger if more is requested. */
#define WINDOW_BYTES (UINT64_C(1) << 16)
#define RECORD_BYTES_MAX (UINT64_C(1) << 30)

struct reader {
  const char *path; /* of the plug-in */
  struct kymo_plugin plugin;
  struct kymo_records records; /* the plug-in's, with defaults for members that an older one lacks */
  void *state;
};

struct records_file {
  struct records_merge *merge;
  const struct reader *reader;
  const char *path;
  struct kymo_map map;
  uint64_t begin, size;  /* of the current record, in the file … */
  const uint8_t *record; /* … and its bytes */
  const uint8_t *data;   /* of the file from `base` on, `there` bytes */
  uint64_t base, there;
  uint64_t looked; /* up to here the file's size was checked */
  bool is_begun, is_over;
  struct kymo_error error; /* of the plug-in */
};

/* ---- bytes ---- */

/* Maps the file from the current record on, with at least `wanted` bytes, if there are that many. */
static int show(struct records_file *file, uint64_t wanted) {
  int status = kymo_map_get(&file->map, file->begin, wanted, &file->data, &file->there, file->merge->error);
  file->base = file->begin;
  file->record = file->data;
  file->is_begun &= file->there >= file->size;
  file->looked = file->begin + file->size + RECORDS_LOOK_BYTES;
  return status;
}

/* The available bytes of the file at `offset`, in memory. */
static const uint8_t *bytes_at(const struct records_file *file, uint64_t offset, uint64_t *available) {
  uint64_t from = offset - file->base;
  *available = from < file->there ? file->there - from : 0;
  return file->data ? file->data + from : NULL;
}

/* Nothing more of this file. */
static int give_up(struct records_file *file, uint64_t offset, const char *message) {
  kymo_records_damage(file->merge, file->path, offset, file->map.size > offset ? file->map.size - offset : 0,
                      message);
  file->is_over = true;
  return KYMO_END;
}

static int truncated(struct records_file *file, uint64_t offset, uint64_t length) {
  char message[160];
  uint64_t left = file->map.size > offset ? file->map.size - offset : 0;
  if (length)
    snprintf(message, sizeof message,
             "the last record is truncated: expected %" PRIu64 " bytes, found %" PRIu64, length, left);
  else
    snprintf(message, sizeof message,
             "the last record is truncated: %s cannot find its length in the %" PRIu64 " byte%s left",
             file->reader->records.name, left, left == 1 ? "" : "s");
  return give_up(file, offset, message);
}

/* The length at `offset`, all of which is in memory then: KYMO_OK, KYMO_END, or negative. `is_head`: of a
 * head, which may be empty. */
static int measure(struct records_file *file, uint64_t offset, bool is_head, uint64_t *length) {
  const struct kymo_records *records = &file->reader->records;
  uint64_t wanted = WINDOW_BYTES, available;
  char message[640];
  for (;;) {
    const uint8_t *bytes = bytes_at(file, offset, &available);
    file->error.message[0] = '\0';
    int status = (is_head ? records->head_length : records->next_length)(
        file->reader->state, bytes, (size_t)available, length, &file->error);
    if (status < 0) {
      snprintf(message, sizeof message, "%s: %.500s", records->name,
               file->error.message[0] ? file->error.message : "no record begins here");
      return give_up(file, offset, message);
    }
    bool is_unknown = status == KYMO_AGAIN || (!is_head && *length == 0);
    bool is_all = file->map.size <= offset + available;
    if (!is_unknown && *length > RECORD_BYTES_MAX) {
      snprintf(message, sizeof message,
               "%s: expected a record of at most %" PRIu64 " bytes, found one of %" PRIu64, records->name,
               RECORD_BYTES_MAX, *length);
      return give_up(file, offset, message);
    }
    if (!is_unknown && *length <= available)
      return KYMO_OK;
    if (is_all)
      return truncated(file, offset, is_unknown ? 0 : *length);
    if (available > RECORD_BYTES_MAX)
      return give_up(file, offset, "the plug-in returns no length for a record of more than 1 GiB");
    wanted = is_unknown ? available * 2 : *length;
    if ((status = show(file, offset - file->begin + wanted)) < 0)
      return status;
  }
}

/* ---- a file ---- */

static int plugin_open(struct records_file **out, struct records_merge *merge, const char *path) {
  struct records_file *file = *out = calloc(1, sizeof *file);
  if (!file)
    return kymo_fail(merge->error, KYMO_E_MEMORY, "out of memory");
  file->merge = merge;
  file->reader = merge->how;
  file->path = path;
  int status = kymo_map_open(&file->map, path, merge->error);
  return status < 0 ? status : show(file, WINDOW_BYTES);
}

static int plugin_head(struct records_file *file, struct records_piece *head) {
  uint64_t available, length = 0;
  if (!file->reader->records.head_length || file->map.size == 0)
    return KYMO_OK;
  int status = measure(file, 0, true, &length);
  if (status != KYMO_OK)
    return status < 0 ? status : KYMO_OK;
  *head = (struct records_piece){.bytes = bytes_at(file, 0, &available), .size = length};
  file->size = length;
  return KYMO_OK;
}

static int plugin_next(struct records_file *file, struct records_piece *record, bool *is_late) {
  const struct kymo_records *records = &file->reader->records;
  uint64_t offset = file->begin + file->size, available, length;
  int status = KYMO_OK;
  if (file->is_over)
    return KYMO_END;
  if (offset >= file->looked && (status = show(file, file->size + WINDOW_BYTES)) < 0)
    return status;
  if (offset == file->map.size) {
    file->is_over = true;
    return kymo_records_end(file->merge, &file->map, file->path);
  }
  if (offset > file->map.size)
    return give_up(file, file->map.size, "the file was truncated meanwhile");
  bytes_at(file, offset, &available);
  if (available == 0 && (status = show(file, file->size + WINDOW_BYTES)) < 0)
    return status;
  if ((status = measure(file, offset, false, &length)) != KYMO_OK)
    return status;
  const uint8_t *bytes = bytes_at(file, offset, &available);
  *is_late = file->is_begun && records->compare(file->reader->state, bytes, (size_t)length, file->record,
                                                (size_t)file->size) < 0;
  file->is_begun = true;
  file->begin = offset;
  file->size = length;
  file->record = bytes;
  *record = (struct records_piece){.bytes = bytes, .size = length, .offset = offset};
  return KYMO_OK;
}

static int plugin_compare(const struct records_file *a, const struct records_file *b) {
  return a->reader->records.compare(a->reader->state, a->record, (size_t)a->size, b->record, (size_t)b->size);
}

static void plugin_close(struct records_file *file) {
  if (file && file->map.path)
    kymo_map_close(&file->map);
  free(file);
}

static const struct records_kind by_plugin = {
    .open = plugin_open,
    .head = plugin_head,
    .next = plugin_next,
    .compare = plugin_compare,
    .close = plugin_close,
};

/* ---- the plug-in ---- */

/* The oldest descriptors end with `compare`. */
static const struct kymo_plugin_kind kind = {
    .symbol = "kymo_records_plugin",
    .abi_version = KYMO_RECORDS_ABI_VERSION,
    .size_bytes = sizeof(struct kymo_records),
    .least_bytes = offsetof(struct kymo_records, head_length),
};

static int begin(struct reader *reader, const char *options, struct kymo_error *error) {
  const struct kymo_records *records = &reader->records;
  memcpy(&reader->records, reader->plugin.descriptor, reader->plugin.size_bytes);
  const char *missing = !records->name          ? "name"
                        : !records->next_length ? "next_length"
                        : !records->compare     ? "compare"
                                                : NULL;
  if (missing)
    return kymo_fail_at(error, KYMO_E_FORMAT, reader->path, KYMO_ERROR_NO_OFFSET,
                        "expected %s with %s, found NULL", kind.symbol, missing);
  if (!records->begin && options)
    return kymo_fail_at(error, KYMO_E_USAGE, reader->path, KYMO_ERROR_NO_OFFSET,
                        "expected no options, found \"%s\"", options);
  int status = records->begin ? records->begin(&reader->state, options, error) : KYMO_OK;
  if (status < 0 && !error->message[0])
    return kymo_fail_at(error, status, reader->path, KYMO_ERROR_NO_OFFSET,
                        "it failed to begin without a message: %s", kymo_status_text(status));
  return status;
}

int kymo_records_by_plugin(struct records_merge *merge) {
  struct reader reader = {0};
  char *path = strdup(merge->job->plugin);
  if (!path)
    return kymo_fail(merge->error, KYMO_E_MEMORY, "out of memory");
  const char *options = kymo_plugin_split(path);
  reader.path = path;
  int status = kymo_plugin_open(&reader.plugin, path, &kind, merge->error);
  if (status == KYMO_OK)
    status = begin(&reader, options, merge->error);
  merge->kind = &by_plugin;
  merge->how = &reader;
  if (status == KYMO_OK) {
    status = kymo_records_run(merge);
    if (reader.records.end)
      reader.records.end(reader.state);
  }
  kymo_plugin_close(&reader.plugin);
  free(path);
  return status;
}
