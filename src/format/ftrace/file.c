/* SPDX-License-Identifier: MIT */
/* The sections of trace.dat, as far as both versions have them. */
#include "format/ftrace/file.h"
#include "base/fail.h"
#include "base/list.h"
#include "plan/unpack.h"
#include "source/format.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC "\x17\x08\x44tracing"
#define MAGIC_SIZE 10
#define PAGE_MAX (16u << 20)
#define FORMATS_MAX 65536 /* as many as ids */

enum {
  OPTION_DATE = 1,
  OPTION_TRACECLOCK = 4,
  OPTION_UNAME = 5,
  OPTION_OFFSET = 7,
  OPTION_CPUCOUNT = 8,
  OPTION_VERSION = 9,
  OPTION_TSC2NSEC = 14,
};

bool kymo_ftrace_is_file(const uint8_t *data, size_t size) {
  return size >= MAGIC_SIZE && memcmp(data, MAGIC, MAGIC_SIZE) == 0;
}

int kymo_ftrace_fail(struct ftrace_reader *reader, const char *what) {
  const struct kymo_bytes *bytes = &reader->bytes;
  uint64_t at = reader->is_unpacked ? reader->base : reader->base + bytes->at;
  return kymo_fail_at(reader->error, KYMO_E_FORMAT, reader->file->path, at, "%s: expected %s, found %s",
                      reader->what, what,
                      !bytes->failed        ? "other bytes"
                      : reader->is_unpacked ? "the end of its unpacked bytes"
                                            : "the end of the file");
}

static int no_memory(const struct ftrace_reader *reader) {
  return kymo_fail(reader->error, KYMO_E_MEMORY, "out of memory");
}

void kymo_ftrace_note_damage(struct ftrace_reader *reader, const struct kymo_error *why) {
  struct kymo_damage damage = {.path = reader->file->path, .offset = why->offset, .message = why->message};
  kymo_trace_add_damage(reader->trace, &damage);
}

const char *kymo_ftrace_read_string(struct ftrace_reader *reader) {
  struct kymo_bytes *bytes = &reader->bytes;
  const char *text = (const char *)bytes->data + bytes->at;
  const char *end = bytes->failed ? NULL : memchr(text, 0, bytes->size - bytes->at);
  if (!end) {
    bytes->failed = true;
    return NULL;
  }
  bytes->at += (size_t)(end - text) + 1;
  return text;
}

/* ---- header_page and header_event ---- */

/* The tag and its zero. */
static bool take_tag(struct ftrace_reader *reader, const char *tag) {
  size_t size = strlen(tag) + 1;
  struct kymo_bytes *bytes = &reader->bytes;
  if (bytes->size - bytes->at >= size && memcmp(bytes->data + bytes->at, tag, size) != 0)
    return false;
  return kymo_bytes_take(bytes, size) != NULL;
}

int kymo_ftrace_read_text(struct ftrace_reader *reader, unsigned size_bytes, struct ftrace_text *out) {
  struct kymo_bytes *bytes = &reader->bytes;
  uint64_t length = size_bytes == 8 ? kymo_bytes_u64(bytes) : kymo_bytes_u32(bytes);
  uint64_t at = reader->is_unpacked ? reader->base : reader->base + bytes->at;
  const uint8_t *text = bytes->failed || length > SIZE_MAX ? NULL : kymo_bytes_take(bytes, (size_t)length);
  if (!text && !bytes->failed)
    bytes->failed = true;
  if (!text)
    return kymo_ftrace_fail(reader, "a text and its size");
  *out = (struct ftrace_text){(const char *)text, (size_t)length, at};
  return KYMO_OK;
}

/* The size of a long in the kernel is that of the field `commit` of pages. */
static void find_page_layout(struct ftrace_file *file, const struct ftrace_text *page) {
  const char *commit = memmem(page->text, page->length, "commit;", 7);
  const char *end = page->text + page->length;
  const char *size = commit ? memmem(commit, (size_t)(end - commit), "size:", 5) : NULL;
  file->page_long_size = size && size + 5 < end && (size[5] == '4' || size[5] == '8')
                             ? (uint8_t)(size[5] - '0')
                             : file->long_size;
}

int kymo_ftrace_read_header_info(struct ftrace_reader *reader) {
  struct ftrace_text page, event;
  if (!take_tag(reader, "header_page"))
    return kymo_ftrace_fail(reader, "\"header_page\"");
  int status = kymo_ftrace_read_text(reader, 8, &page);
  if (status != KYMO_OK)
    return status;
  if (!take_tag(reader, "header_event"))
    return kymo_ftrace_fail(reader, "\"header_event\"");
  find_page_layout(reader->file, &page);
  return kymo_ftrace_read_text(reader, 8, &event);
}

/* ---- formats ---- */

/* `count` format files of a group. */
static int read_formats(struct ftrace_reader *reader, const char *group, uint32_t count) {
  struct ftrace_file *file = reader->file;
  int status = KYMO_OK;
  for (uint32_t i = 0; i < count && status == KYMO_OK; i++) {
    struct ftrace_text text;
    status = kymo_ftrace_read_text(reader, 8, &text);
    if (status != KYMO_OK)
      break;
    if (!KYMO_LIST_ROOM_UP_TO(file->formats, file->format_capacity, file->format_count, FORMATS_MAX))
      return file->format_count < FORMATS_MAX ? no_memory(reader)
                                              : kymo_ftrace_fail(reader, "at most 65536 formats");
    file->formats[file->format_count++] = (struct ftrace_event_format){group, text};
  }
  return status;
}

int kymo_ftrace_read_ftrace_formats(struct ftrace_reader *reader) {
  uint32_t count = kymo_bytes_u32(&reader->bytes);
  return reader->bytes.failed ? kymo_ftrace_fail(reader, "the number of formats")
                              : read_formats(reader, "ftrace", count);
}

int kymo_ftrace_read_event_formats(struct ftrace_reader *reader) {
  uint32_t groups = kymo_bytes_u32(&reader->bytes);
  int status = reader->bytes.failed ? kymo_ftrace_fail(reader, "the number of groups") : KYMO_OK;
  for (uint32_t i = 0; i < groups && status == KYMO_OK; i++) {
    const char *group = kymo_ftrace_read_string(reader);
    uint32_t count = kymo_bytes_u32(&reader->bytes);
    status = reader->bytes.failed
                 ? kymo_ftrace_fail(reader, "the name of a group and the number of its formats")
                 : read_formats(reader, group, count);
  }
  return status;
}

/* ---- options ---- */

/* The bytes of an option as a text: numbers of it are hexadecimal or decimal. */
static char *option_text(const struct ftrace_reader *reader, const uint8_t *bytes, uint32_t size) {
  return kymo_arena_copy(&reader->file->arena, (const char *)bytes, strnlen((const char *)bytes, size));
}

/* "[local] global counter": the clock in brackets, or NULL. */
static const char *chosen_clock(struct ftrace_file *file, const char *text) {
  const char *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;
  if (close)
    return kymo_arena_copy(&file->arena, open + 1, (size_t)(close - open) - 1);
  return NULL;
}

static void add_offset(struct ftrace_file *file, const char *text, int64_t unit_ns) {
  int64_t value = (int64_t)strtoull(text, NULL, 0), product, sum;
  if (!__builtin_mul_overflow(value, unit_ns, &product) &&
      !__builtin_add_overflow(file->offset_ns, product, &sum))
    file->offset_ns = sum;
}

static void take_tsc(struct ftrace_reader *reader, const uint8_t *data, uint32_t size) {
  struct kymo_bytes bytes = {.data = data, .size = size, .is_big = reader->file->is_big};
  struct ftrace_file *file = reader->file;
  file->tsc_multiplier = kymo_bytes_u32(&bytes);
  file->tsc_shift = kymo_bytes_u32(&bytes);
  file->tsc_offset = kymo_bytes_u64(&bytes);
  file->has_tsc = !bytes.failed && file->tsc_multiplier && file->tsc_shift < 64;
}

int kymo_ftrace_read_option(struct ftrace_reader *reader, uint16_t id, uint32_t size) {
  struct ftrace_file *file = reader->file;
  const uint8_t *data = kymo_bytes_take(&reader->bytes, size);
  if (!data)
    return kymo_ftrace_fail(reader, "the bytes of an option");
  const char *text = option_text(reader, data, size);
  if (!text)
    return no_memory(reader);
  struct kymo_bytes bytes = {.data = data, .size = size, .is_big = file->is_big};
  uint32_t number = kymo_bytes_u32(&bytes);
  switch (id) {
  case OPTION_DATE:
    file->has_date = true;
    add_offset(file, text, 1000); /* microseconds */
    break;
  case OPTION_OFFSET: add_offset(file, text, 1); break;
  case OPTION_TRACECLOCK: file->clock = chosen_clock(file, text); break;
  case OPTION_UNAME: file->uname = text; break;
  case OPTION_VERSION: file->writer = text; break;
  case OPTION_CPUCOUNT: file->cpu_count = bytes.failed ? file->cpu_count : number; break;
  case OPTION_TSC2NSEC: take_tsc(reader, data, size); break;
  default: break;
  }
  return file->arena.failed ? no_memory(reader) : KYMO_OK;
}

struct ftrace_buffer *kymo_ftrace_add_buffer(struct ftrace_file *file) {
  if (!KYMO_LIST_ROOM(file->buffers, file->buffer_capacity, file->buffer_count))
    return NULL;
  file->buffers[file->buffer_count] = (struct ftrace_buffer){.name = "", .page_size = file->page_size};
  return &file->buffers[file->buffer_count++];
}

/* ---- all texts ---- */

int kymo_ftrace_read_texts(struct ftrace_reader *reader, bool has_names) {
  struct ftrace_file *file = reader->file;
  reader->what = "header_page and header_event";
  int status = kymo_ftrace_read_header_info(reader);
  reader->what = "formats of ftrace";
  status = status == KYMO_OK ? kymo_ftrace_read_ftrace_formats(reader) : status;
  reader->what = "formats of events";
  status = status == KYMO_OK ? kymo_ftrace_read_event_formats(reader) : status;
  reader->what = "kallsyms";
  status = status == KYMO_OK ? kymo_ftrace_read_text(reader, 4, &file->functions) : status;
  reader->what = "printk_formats";
  status = status == KYMO_OK ? kymo_ftrace_read_text(reader, 4, &file->printks) : status;
  reader->what = "saved_cmdlines";
  return status == KYMO_OK && has_names ? kymo_ftrace_read_text(reader, 8, &file->names) : status;
}

int kymo_ftrace_read_formats(struct ftrace_reader *reader) {
  struct ftrace_file *file = reader->file;
  const uint8_t *magic = kymo_bytes_take(&reader->bytes, MAGIC_SIZE);
  const char *version = magic ? kymo_ftrace_read_string(reader) : NULL;
  uint8_t order = kymo_bytes_u8(&reader->bytes);
  file->long_size = kymo_bytes_u8(&reader->bytes);
  reader->bytes.is_big = file->is_big = order == 1;
  file->page_size = kymo_bytes_u32(&reader->bytes);
  if (!version || reader->bytes.failed)
    return kymo_ftrace_fail(reader, "their head");
  if (!kymo_ftrace_is_file(magic, MAGIC_SIZE) || order > 1 || (file->long_size != 4 && file->long_size != 8))
    return kymo_fail_at(
        reader->error, KYMO_E_FORMAT, file->path, reader->base,
        "%s: expected \"tracing\", an order of bytes (0 or 1) and the size of a long (4 or 8), found others",
        reader->what);
  file->page_long_size = file->long_size;
  return kymo_ftrace_read_texts(reader, strtod(version, NULL) >= 0.6);
}

/* ---- compression ---- */

uint8_t *kymo_ftrace_unpack(const struct ftrace_file *file, uint64_t at, const uint8_t *from, size_t size,
                            size_t unpacked_size, struct kymo_error *error) {
  struct kymo_unpacked out = {0};
  enum kymo_plan_method method = file->packing == FTRACE_ZLIB ? KYMO_METHOD_ZLIB : KYMO_METHOD_ZSTD;
  const char *wrong = kymo_plan_unpack_bytes(&out, method, from, size);
  if (out.failed)
    kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  else if (wrong)
    kymo_fail_at(error, KYMO_E_FORMAT, file->path, at, "expected %zu compressed bytes, found others: %s",
                 size, wrong);
  else if (out.is_over || out.size != unpacked_size)
    kymo_fail_at(error, KYMO_E_FORMAT, file->path, at, "expected %zu bytes of %zu compressed ones, found %zu",
                 unpacked_size, size, out.size);
  else if (out.bytes)
    return out.bytes;
  else
    return calloc(1, 1);
  free(out.bytes);
  return NULL;
}

/* ---- the file ---- */

/* What both versions begin with. */
static int read_begin(struct ftrace_reader *reader) {
  struct ftrace_file *file = reader->file;
  kymo_bytes_take(&reader->bytes, MAGIC_SIZE);
  const char *version = kymo_ftrace_read_string(reader);
  if (!version)
    return kymo_ftrace_fail(reader, "the version");
  file->version = (unsigned)strtoul(version, NULL, 10);
  if (file->version != 6 && file->version != 7)
    return kymo_fail_at(reader->error, KYMO_E_FORMAT, file->path, MAGIC_SIZE,
                        "expected version 6 or 7 of trace.dat, found \"%.20s\"", version);
  size_t at = reader->bytes.at;
  uint8_t order = kymo_bytes_u8(&reader->bytes);
  file->long_size = kymo_bytes_u8(&reader->bytes);
  reader->bytes.is_big = file->is_big = order == 1;
  file->page_size = kymo_bytes_u32(&reader->bytes);
  if (reader->bytes.failed)
    return kymo_ftrace_fail(reader, "the order of bytes, the size of a long and that of a page");
  if (order > 1 || (file->long_size != 4 && file->long_size != 8))
    return kymo_fail_at(
        reader->error, KYMO_E_FORMAT, file->path, at,
        "expected an order of bytes (0 or 1) and the size of a long (4 or 8), found %u and %u", order,
        file->long_size);
  if (file->page_size < 64 || file->page_size > PAGE_MAX)
    return kymo_fail_at(reader->error, KYMO_E_FORMAT, file->path, at + 2,
                        "expected a page of 64 bytes to 16 MiB, found %" PRIu32, file->page_size);
  file->page_long_size = file->long_size;
  return KYMO_OK;
}

/* After a damaged section, what was read so far counts: at least there is a buffer, which may be empty. */
static int read_sections(struct ftrace_reader *reader) {
  struct ftrace_file *file = reader->file;
  struct kymo_error why = {.code = KYMO_OK, .offset = KYMO_ERROR_NO_OFFSET}, *error = reader->error;
  reader->error = &why;
  int status = file->version == 6 ? kymo_ftrace_read_version6(reader) : kymo_ftrace_read_version7(reader);
  reader->error = error;
  if (status == KYMO_E_FORMAT) {
    kymo_ftrace_note_damage(reader, &why);
    status = KYMO_OK;
  } else if (status != KYMO_OK && error) {
    *error = why;
  }
  if (status == KYMO_OK && file->buffer_count == 0 && !kymo_ftrace_add_buffer(file))
    status = no_memory(reader);
  return status;
}

int kymo_ftrace_open(struct ftrace_file *file, struct kymo_trace *trace, const char *path,
                     struct kymo_error *error) {
  *file = (struct ftrace_file){.map = {.fd = -1}};
  file->path = kymo_arena_copy(&file->arena, path, strlen(path));
  struct ftrace_reader reader = {.file = file, .trace = trace, .what = "head of the file", .error = error};
  int status = file->path ? kymo_map_open(&file->map, file->path, error) : no_memory(&reader);
  if (status == KYMO_OK)
    status = kymo_map_get(&file->map, 0, UINT64_MAX, &file->data, &file->size, error);
  if (status != KYMO_OK)
    return status;
  reader.bytes = (struct kymo_bytes){.data = file->data, .size = (size_t)file->size};
  status = read_begin(&reader);
  if (status == KYMO_OK)
    status = read_sections(&reader);
  return status == KYMO_OK ? kymo_map_check(&file->map, error) : status;
}

void kymo_ftrace_close(struct ftrace_file *file) {
  for (uint32_t i = 0; i < file->unpacked_count; i++)
    free(file->unpacked[i]);
  free(file->unpacked);
  free(file->formats);
  free(file->buffers);
  kymo_map_close(&file->map);
  kymo_arena_free(&file->arena);
}
