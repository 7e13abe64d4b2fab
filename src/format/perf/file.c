/* SPDX-License-Identifier: MIT */
/* The header of perf.data, its attrs and its features. */
#include "format/perf/file.h"
#include "base/fail.h"
#include "base/list.h"
#include "base/search.h"
#include "format/perf/attr.h"
#include "source/format.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC "PERFILE2"
#define MAGIC_OTHER "2ELIFREP"
#define MAGIC_SIZE 8
#define PIPE_HEADER 16
#define HEADER_BYTES 104
#define FEATURE_WORDS 4

enum {
  FEATURE_TRACING_DATA = 1,
  FEATURE_BUILD_ID = 2,
  FEATURE_HOST = 3,
  FEATURE_RELEASE = 4,
  FEATURE_VERSION = 5,
  FEATURE_MACHINE = 6,
  FEATURE_CPUS = 7,
  FEATURE_PROCESSOR = 8,
  FEATURE_COMMAND = 11,
  FEATURE_EVENTS = 12,
  FEATURE_DIRECTORY = 24,
  FEATURE_CLOCK_DATA = 29,
};

struct section {
  uint64_t at, size;
};

bool kymo_perf_is_file(const uint8_t *data, size_t size) {
  return size >= MAGIC_SIZE &&
         (memcmp(data, MAGIC, MAGIC_SIZE) == 0 || memcmp(data, MAGIC_OTHER, MAGIC_SIZE) == 0);
}

static int no_memory(struct kymo_error *error) { return kymo_fail(error, KYMO_E_MEMORY, "out of memory"); }

static void note(const struct perf_file *file, struct kymo_trace *trace, const struct kymo_error *why) {
  struct kymo_damage damage = {.path = file->path, .offset = why->offset, .message = why->message};
  kymo_trace_add_damage(trace, &damage);
}

/* ---- features ---- */

/* A place in a feature. */
struct feature {
  struct perf_file *file;
  struct kymo_trace *trace;
  struct kymo_bytes bytes;
  uint64_t at; /* of its bytes in the file */
  struct kymo_error *error;
};

static int fail(const struct feature *feature, const char *what) {
  uint64_t at = feature->at + feature->bytes.at;
  return kymo_fail_at(feature->error, KYMO_E_FORMAT, feature->file->path, at,
                      "expected %s, found the end of the feature at %" PRIu64, what,
                      feature->at + feature->bytes.size);
}

/* A text with its length. */
static const char *read_text(struct feature *feature) {
  uint32_t length = kymo_bytes_u32(&feature->bytes);
  const uint8_t *text = kymo_bytes_take(&feature->bytes, length);
  return text
             ? kymo_arena_copy(&feature->file->arena, (const char *)text, strnlen((const char *)text, length))
             : NULL;
}

static int take_text(struct feature *feature, const char **out) {
  *out = read_text(feature);
  return *out                    ? KYMO_OK
         : feature->bytes.failed ? fail(feature, "a text and its length")
                                 : no_memory(feature->error);
}

/* The arguments of the command with blanks between them. */
static int take_command(struct feature *feature) {
  struct perf_file *file = feature->file;
  uint32_t count = kymo_bytes_u32(&feature->bytes);
  char *whole = kymo_arena_alloc(&file->arena, feature->bytes.size + 1), *to = whole;
  if (!whole)
    return no_memory(feature->error);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t length = kymo_bytes_u32(&feature->bytes);
    const uint8_t *text = kymo_bytes_take(&feature->bytes, length);
    if (!text)
      return fail(feature, "the arguments of the command");
    size_t used = strnlen((const char *)text, length);
    if (to > whole)
      *to++ = ' ';
    memcpy(to, text, used);
    to += used;
  }
  *to = '\0';
  file->command = whole;
  return KYMO_OK;
}

/* Names of events. They are in the order of the attrs, unless some have no ids. */
static int take_events(struct feature *feature) {
  struct perf_file *file = feature->file;
  uint32_t count = kymo_bytes_u32(&feature->bytes), size = kymo_bytes_u32(&feature->bytes);
  for (uint32_t i = 0; i < count && i < file->attr_count; i++) {
    kymo_bytes_take(&feature->bytes, size);
    uint32_t ids = kymo_bytes_u32(&feature->bytes);
    const char *name = read_text(feature);
    uint64_t first = ids ? kymo_bytes_u64(&feature->bytes) : 0;
    if (ids > 1)
      kymo_bytes_take(&feature->bytes, (size_t)(ids - 1) * 8);
    if (feature->bytes.failed)
      return fail(feature, "an event, its ids and its name");
    if (!name)
      return no_memory(feature->error);
    kymo_perf_name_attr(file, ids > 0, first, i, name);
  }
  return KYMO_OK;
}

/* A record with the id of a file. */
static int take_build_id(struct perf_file *file, const uint8_t *record, size_t size,
                         struct kymo_error *error) {
  enum { ID_AT = 12, ID_MAX = 20, SIZE_AT = 32, NAME_AT = 36, HAS_SIZE = 1 << 15 };
  if (size <= NAME_AT)
    return KYMO_OK;
  static const uint8_t none[ID_MAX];
  unsigned length = perf_u16(file, record + 4) & HAS_SIZE ? record[SIZE_AT] : ID_MAX;
  if (memcmp(record + ID_AT, none, ID_MAX) == 0) /* perf did not find it */
    return KYMO_OK;
  if (!KYMO_LIST_ROOM(file->build_ids, file->build_id_capacity, file->build_id_count))
    return no_memory(error);
  const char *name = (const char *)record + NAME_AT;
  struct perf_build_id *id = &file->build_ids[file->build_id_count];
  id->path = kymo_arena_copy(&file->arena, name, strnlen(name, size - NAME_AT));
  id->id = kymo_perf_hex(&file->arena, record + ID_AT, length <= ID_MAX ? length : ID_MAX);
  if (!id->path || !id->id)
    return no_memory(error);
  file->build_id_count++;
  return KYMO_OK;
}

static int take_build_ids(struct feature *feature) {
  struct kymo_bytes *bytes = &feature->bytes;
  while (bytes->size - bytes->at >= 8) {
    size_t size = perf_u16(feature->file, bytes->data + bytes->at + 6);
    const uint8_t *record = size >= 8 ? kymo_bytes_take(bytes, size) : NULL;
    if (!record)
      return fail(feature, "the id of a file");
    int status = take_build_id(feature->file, record, size, feature->error);
    if (status != KYMO_OK)
      return status;
  }
  return KYMO_OK;
}

static int take_clock(struct feature *feature) {
  struct perf_file *file = feature->file;
  kymo_bytes_u32(&feature->bytes);
  kymo_bytes_u32(&feature->bytes);
  file->wall_ns = kymo_bytes_u64(&feature->bytes);
  file->clock_ns = kymo_bytes_u64(&feature->bytes);
  file->has_wall_clock = !feature->bytes.failed;
  return feature->bytes.failed ? fail(feature, "a clock and the time of day") : KYMO_OK;
}

/* The formats of tracepoints: the head and the sections of trace.dat. */
static int take_formats(struct feature *feature) {
  struct perf_file *file = feature->file;
  struct ftrace_file *formats = &file->formats;
  struct ftrace_reader reader = {.file = formats,
                                 .trace = feature->trace,
                                 .bytes = feature->bytes,
                                 .base = feature->at,
                                 .what = "formats of tracepoints",
                                 .error = feature->error};
  if (file->has_formats)
    return KYMO_OK;
  formats->path = file->path;
  file->has_formats = true;
  return kymo_ftrace_read_formats(&reader);
}

static int take_feature(struct feature *feature, unsigned kind) {
  struct perf_file *file = feature->file;
  switch (kind) {
  case FEATURE_TRACING_DATA: return take_formats(feature);
  case FEATURE_BUILD_ID: return take_build_ids(feature);
  case FEATURE_HOST: return take_text(feature, &file->host);
  case FEATURE_RELEASE: return take_text(feature, &file->release);
  case FEATURE_VERSION: return take_text(feature, &file->version);
  case FEATURE_MACHINE: return take_text(feature, &file->machine);
  case FEATURE_PROCESSOR: return take_text(feature, &file->processor);
  case FEATURE_COMMAND: return take_command(feature);
  case FEATURE_EVENTS: return take_events(feature);
  case FEATURE_CLOCK_DATA: return take_clock(feature);
  case FEATURE_CPUS:
    file->cpu_count = kymo_bytes_u32(&feature->bytes);
    return feature->bytes.failed ? fail(feature, "the number of CPUs") : KYMO_OK;
  case FEATURE_DIRECTORY:
    return kymo_fail_at(feature->error, KYMO_E_FORMAT, file->path, feature->at,
                        "expected one file, found a recording of several threads: the events in the files "
                        "data.0, data.1 … beside this one are not read");
  default: return KYMO_OK;
  }
}

/* A section of a file, as far as the file has it. */
static bool clip(const struct perf_file *file, struct section *section) {
  uint64_t rest = section->at <= file->size ? file->size - section->at : 0;
  bool is_whole = section->size <= rest && section->at <= file->size;
  section->at = section->at <= file->size ? section->at : file->size;
  section->size = section->size <= rest ? section->size : rest;
  return is_whole;
}

/* Of features that the file does not have as a whole, only the first one is noted. */
static int read_feature(struct perf_file *file, struct kymo_trace *trace, unsigned kind,
                        struct section section, bool *is_cut, struct kymo_error *error) {
  struct kymo_error why = {.code = KYMO_OK, .offset = KYMO_ERROR_NO_OFFSET};
  bool is_whole = clip(file, &section);
  struct feature feature = {
      .file = file,
      .trace = trace,
      .at = section.at,
      .error = &why,
      .bytes = {.data = file->data + section.at, .size = (size_t)section.size, .is_big = file->is_big}};
  int status = take_feature(&feature, kind);
  if (!is_whole && (status == KYMO_OK || status == KYMO_E_FORMAT))
    status =
        kymo_fail_at(&why, KYMO_E_FORMAT, file->path, section.at,
                     "expected all bytes of a feature, found the end of the file at %" PRIu64, file->size);
  if (status == KYMO_E_FORMAT && (is_whole || !*is_cut))
    note(file, trace, &why);
  else if (status != KYMO_OK && status != KYMO_E_FORMAT && error)
    *error = why;
  *is_cut |= !is_whole;
  return status == KYMO_E_FORMAT ? KYMO_OK : status;
}

/* The table of features is after the data. */
static int read_features(struct perf_file *file, struct kymo_trace *trace, uint64_t at,
                         const uint64_t features[FEATURE_WORDS], struct kymo_error *error) {
  struct kymo_bytes bytes = {.data = file->data, .size = (size_t)file->size, .is_big = file->is_big};
  int status = KYMO_OK;
  bool is_cut = false;
  bytes.at = at <= file->size ? (size_t)at : (size_t)file->size;
  for (unsigned kind = 0; status == KYMO_OK && kind < 64 * FEATURE_WORDS; kind++) {
    if (!(features[kind / 64] >> kind % 64 & 1))
      continue;
    struct section section = {.at = kymo_bytes_u64(&bytes)};
    section.size = kymo_bytes_u64(&bytes);
    if (bytes.failed && is_cut)
      break;
    if (bytes.failed) {
      struct kymo_error why;
      kymo_fail_at(&why, KYMO_E_FORMAT, file->path, at,
                   "expected the places of features, found the end of the file at %" PRIu64, file->size);
      note(file, trace, &why);
      break;
    }
    status = read_feature(file, trace, kind, section, &is_cut, error);
  }
  return status;
}

/* ---- attrs ---- */

/* An attr and the place of its ids. */
static int read_attr(struct perf_file *file, uint64_t at, uint64_t size, struct kymo_error *error) {
  struct kymo_bytes bytes = {.data = file->data + at, .size = (size_t)size, .is_big = file->is_big};
  int status = kymo_perf_add_attr(file, bytes.data, bytes.size - 16, at, error);
  bytes.at = bytes.size - 16;
  struct section ids = {.at = kymo_bytes_u64(&bytes)};
  ids.size = kymo_bytes_u64(&bytes);
  if (status != KYMO_OK)
    return status;
  if (!clip(file, &ids))
    return kymo_fail_at(error, KYMO_E_FORMAT, file->path, at + size - 16,
                        "expected the place of ids, found one beyond the end of the file at %" PRIu64,
                        file->size);
  return kymo_perf_add_ids(file, file->attr_count - 1, file->data + ids.at, (size_t)ids.size, error);
}

static int read_attrs(struct perf_file *file, struct section attrs, uint64_t size, struct kymo_error *error) {
  bool is_whole = clip(file, &attrs);
  int status = KYMO_OK;
  if (size < PERF_ATTR_BYTES + 16 || size > 4096)
    return kymo_fail_at(error, KYMO_E_FORMAT, file->path, 16,
                        "expected the size of an attr, 80 to 4096, found %" PRIu64, size);
  for (uint64_t i = 0; status == KYMO_OK && i < attrs.size / size; i++)
    status = read_attr(file, attrs.at + i * size, size, error);
  if (status == KYMO_OK && !is_whole)
    status = kymo_fail_at(error, KYMO_E_FORMAT, file->path, attrs.at,
                          "expected attrs, found the end of the file at %" PRIu64, file->size);
  return status;
}

/* ---- the file ---- */

static int read_sections(struct perf_file *file, struct kymo_trace *trace, struct kymo_bytes *bytes,
                         struct kymo_error *error) {
  uint64_t attr_size = kymo_bytes_u64(bytes), features[FEATURE_WORDS];
  struct section attrs = {.at = kymo_bytes_u64(bytes)};
  attrs.size = kymo_bytes_u64(bytes);
  struct section data = {.at = kymo_bytes_u64(bytes)};
  data.size = kymo_bytes_u64(bytes);
  kymo_bytes_take(bytes, 16);
  for (unsigned i = 0; i < FEATURE_WORDS; i++)
    features[i] = kymo_bytes_u64(bytes);
  struct kymo_error why = {.code = KYMO_OK, .offset = KYMO_ERROR_NO_OFFSET};
  int status = read_attrs(file, attrs, attr_size, &why);
  if (status == KYMO_E_FORMAT)
    note(file, trace, &why);
  else if (status != KYMO_OK)
    return no_memory(error);
  uint64_t end = data.at + data.size;
  file->records_at = data.at;
  bool is_open = data.size == 0 && data.at < file->size;
  if (is_open)
    data.size = file->size - data.at;
  bool is_whole = clip(file, &data);
  file->records_at = data.at;
  file->records_end = data.at + data.size;
  if (is_open || !is_whole) {
    kymo_fail_at(&why, KYMO_E_FORMAT, file->path, is_open ? 48 : data.at,
                 is_open ? "expected the size of the data, found 0: the recording was not ended"
                         : "expected data up to byte %" PRIu64 ", found the end of the file at %" PRIu64,
                 end, file->size);
    note(file, trace, &why);
    return KYMO_OK;
  }
  return read_features(file, trace, end, features, error);
}

static int read_header(struct perf_file *file, struct kymo_trace *trace, struct kymo_error *error) {
  struct kymo_bytes bytes = {.data = file->data, .size = (size_t)file->size};
  bool is_swapped = memcmp(file->data, MAGIC, MAGIC_SIZE) != 0;
  /* the magic number is written as a number: its bytes are those of "PERFILE2" on little-endian machines */
  bytes.is_big = file->is_big = is_swapped;
  kymo_bytes_take(&bytes, MAGIC_SIZE);
  uint64_t size = kymo_bytes_u64(&bytes);
  if (bytes.failed || (size != PIPE_HEADER && size < HEADER_BYTES) || size > file->size)
    return kymo_fail_at(error, KYMO_E_FORMAT, file->path, MAGIC_SIZE,
                        "expected the size of the header, 104 or 16 of a pipe, found %" PRIu64 " in %" PRIu64
                        " bytes",
                        size, file->size);
  if (size != PIPE_HEADER)
    return read_sections(file, trace, &bytes, error);
  file->is_pipe = true;
  file->records_at = PIPE_HEADER;
  file->records_end = file->size;
  return KYMO_OK;
}

int kymo_perf_open(struct perf_file *file, struct kymo_trace *trace, const char *path,
                   struct kymo_error *error) {
  *file = (struct perf_file){.map = {.fd = -1}};
  file->path = kymo_arena_copy(&file->arena, path, strlen(path));
  int status = file->path ? kymo_map_open(&file->map, file->path, error) : no_memory(error);
  if (status == KYMO_OK)
    status = kymo_map_get(&file->map, 0, UINT64_MAX, &file->data, &file->size, error);
  if (status == KYMO_OK)
    status = read_header(file, trace, error);
  return status == KYMO_OK ? kymo_map_check(&file->map, error) : status;
}

void kymo_perf_close(struct perf_file *file) {
  free(file->formats.formats);
  kymo_arena_free(&file->formats.arena);
  free(file->attrs);
  free(file->ids);
  free(file->cpus);
  free(file->build_ids);
  kymo_map_close(&file->map);
  kymo_arena_free(&file->arena);
}

/* ---- records of a pipe ---- */

static int take_update(struct feature *feature) {
  enum { TYPE_AT = 8, ID_AT = 16, NAME_AT = 24, TYPE_NAME = 2 };
  struct perf_file *file = feature->file;
  const struct kymo_bytes *bytes = &feature->bytes;
  if (bytes->size <= NAME_AT || perf_u64(file, bytes->data + TYPE_AT) != TYPE_NAME)
    return KYMO_OK;
  const char *text = (const char *)bytes->data + NAME_AT;
  const char *name = kymo_arena_copy(&file->arena, text, strnlen(text, bytes->size - NAME_AT));
  if (!name)
    return no_memory(feature->error);
  kymo_perf_name_attr(file, true, perf_u64(file, bytes->data + ID_AT), 0, name);
  return KYMO_OK;
}

static int take_attr(struct perf_file *file, const uint8_t *bytes, size_t size, uint64_t at,
                     struct kymo_error *error) {
  size_t length = size >= 16 ? perf_u32(file, bytes + 12) : 0; /* the attr says its size */
  length = length == 0 ? PERF_ATTR_BYTES : length;
  if (length < PERF_ATTR_BYTES || length > size - 8)
    return kymo_fail_at(error, KYMO_E_FORMAT, file->path, at,
                        "expected an attr of 64 to %zu bytes, found %zu", size - 8, length);
  int status = kymo_perf_add_attr(file, bytes + 8, length, at + 8, error);
  return status == KYMO_OK
             ? kymo_perf_add_ids(file, file->attr_count - 1, bytes + 8 + length, size - 8 - length, error)
             : status;
}

int kymo_perf_take(struct perf_file *file, struct kymo_trace *trace, uint32_t type, const uint8_t *bytes,
                   size_t size, uint64_t at, struct kymo_error *error) {
  struct feature feature = {.file = file,
                            .trace = trace,
                            .at = at,
                            .error = error,
                            .bytes = {.data = bytes, .size = size, .is_big = file->is_big}};
  switch (type) {
  case PERF_HEADER_ATTR: return take_attr(file, bytes, size, at, error);
  case PERF_HEADER_TRACING_DATA: return take_formats(&feature);
  case PERF_HEADER_BUILD_ID: return take_build_id(file, bytes, size, error);
  case PERF_EVENT_UPDATE: return take_update(&feature);
  case PERF_ID_INDEX: return kymo_perf_add_cpus(file, bytes, size, error);
  case PERF_HEADER_FEATURE:
    kymo_bytes_take(&feature.bytes, 8);
    uint64_t kind = kymo_bytes_u64(&feature.bytes);
    return feature.bytes.failed ? fail(&feature, "the kind of a feature")
                                : take_feature(&feature, kind < 256 ? (unsigned)kind : 0);
  default: return KYMO_OK;
  }
}
