/* SPDX-License-Identifier: MIT */
/* Version 6: the sections follow one another, and the last one says where the pages are. */
#include "base/fail.h"
#include "format/ftrace/file.h"
#include <inttypes.h>
#include <string.h>

#define TAG_SIZE 10
#define CPUS_MAX 65536
#define OPTION_BUFFER 3

static int read_cpus(struct ftrace_reader *reader, struct ftrace_buffer *buffer, uint32_t count) {
  struct ftrace_file *file = reader->file;
  if (count > CPUS_MAX || count > (reader->bytes.size - reader->bytes.at) / 16) {
    reader->bytes.failed = true;
    return kymo_ftrace_fail(reader, "offset and size of the pages of each CPU");
  }
  buffer->cpus = kymo_arena_array(&file->arena, count + 1u, sizeof *buffer->cpus);
  if (!buffer->cpus)
    return kymo_fail(reader->error, KYMO_E_MEMORY, "out of memory");
  for (uint32_t i = 0; i < count; i++) {
    uint64_t at = kymo_bytes_u64(&reader->bytes), size = kymo_bytes_u64(&reader->bytes);
    buffer->cpus[buffer->cpu_count++] = (struct ftrace_cpu){.id = i, .at = at, .size = size};
  }
  return KYMO_OK;
}

static int take_instance(struct ftrace_reader *reader, const uint8_t *data, uint32_t size) {
  struct ftrace_file *file = reader->file;
  struct kymo_bytes bytes = {.data = data, .size = size, .is_big = file->is_big};
  uint64_t at = kymo_bytes_u64(&bytes);
  if (bytes.failed)
    return kymo_ftrace_fail(reader, "the offset and name of an instance");
  if (file->buffer_count == FTRACE_BUFFERS_MAX)
    return kymo_ftrace_fail(reader, "at most 256 buffers");
  struct ftrace_buffer *buffer = kymo_ftrace_add_buffer(file);
  if (!buffer)
    return kymo_fail(reader->error, KYMO_E_MEMORY, "out of memory");
  size_t rest = size - bytes.at;
  buffer->name = kymo_arena_copy(&file->arena, (const char *)data + bytes.at,
                                 strnlen((const char *)data + bytes.at, rest));
  /* until its table is read: where that is */
  buffer->cpus = kymo_arena_array(&file->arena, 1, sizeof *buffer->cpus);
  if (!buffer->name || !buffer->cpus)
    return kymo_fail(reader->error, KYMO_E_MEMORY, "out of memory");
  buffer->cpus->at = at;
  return KYMO_OK;
}

static int read_options(struct ftrace_reader *reader) {
  int status = KYMO_OK;
  reader->what = "options";
  for (;;) {
    uint16_t id = kymo_bytes_u16(&reader->bytes);
    if (reader->bytes.failed)
      return kymo_ftrace_fail(reader, "an option");
    if (id == 0)
      return KYMO_OK;
    uint32_t size = kymo_bytes_u32(&reader->bytes);
    const uint8_t *data = reader->bytes.data + reader->bytes.at;
    bool is_whole = !reader->bytes.failed && size <= reader->bytes.size - reader->bytes.at;
    status = is_whole && id == OPTION_BUFFER ? take_instance(reader, data, size) : KYMO_OK;
    if (status == KYMO_OK)
      status = kymo_ftrace_read_option(reader, id, size);
    if (status != KYMO_OK)
      return status;
  }
}

/* Tables of instances are anywhere in the file. */
static void read_instances(struct ftrace_reader *reader, uint32_t first) {
  struct ftrace_file *file = reader->file;
  for (uint32_t i = first; i < file->buffer_count; i++) {
    struct ftrace_buffer *buffer = &file->buffers[i];
    uint64_t at = buffer->cpus->at;
    struct kymo_error why = {.code = KYMO_OK};
    struct ftrace_reader place = *reader;
    place.error = &why;
    place.what = "pages of an instance";
    place.bytes.at = at <= place.bytes.size ? (size_t)at : place.bytes.size;
    place.bytes.failed = false;
    if (place.bytes.size - place.bytes.at >= TAG_SIZE &&
        memcmp(place.bytes.data + place.bytes.at, "flyrecord", TAG_SIZE) == 0)
      place.bytes.at += TAG_SIZE;
    if (read_cpus(&place, buffer, file->cpu_count) != KYMO_OK)
      kymo_ftrace_note_damage(&place, &why);
  }
}

static int read_data(struct ftrace_reader *reader) {
  struct ftrace_file *file = reader->file;
  reader->what = "pages";
  file->cpu_count = kymo_bytes_u32(&reader->bytes);
  uint32_t cpus = file->cpu_count;
  struct ftrace_buffer *top = kymo_ftrace_add_buffer(file);
  if (!top)
    return kymo_fail(reader->error, KYMO_E_MEMORY, "out of memory");
  for (;;) {
    const uint8_t *tag = kymo_bytes_take(&reader->bytes, TAG_SIZE);
    if (!tag)
      return kymo_ftrace_fail(reader, "\"options\" or \"flyrecord\"");
    if (memcmp(tag, "options  ", TAG_SIZE) == 0) {
      int status = read_options(reader);
      if (status != KYMO_OK)
        return status;
      continue;
    }
    if (memcmp(tag, "latency  ", TAG_SIZE) == 0)
      return kymo_fail_at(reader->error, KYMO_E_FORMAT, file->path, reader->base + reader->bytes.at,
                          "expected pages of events, found the text of a latency tracer");
    if (memcmp(tag, "flyrecord", TAG_SIZE) == 0)
      break;
    reader->bytes.at -= TAG_SIZE;
    return kymo_ftrace_fail(reader, "\"options\" or \"flyrecord\"");
  }
  reader->what = "pages";
  int status = read_cpus(reader, &file->buffers[0], cpus);
  if (status == KYMO_OK)
    read_instances(reader, 1);
  return status;
}

int kymo_ftrace_read_version6(struct ftrace_reader *reader) {
  int status = kymo_ftrace_read_texts(reader, true);
  return status == KYMO_OK ? read_data(reader) : status;
}
