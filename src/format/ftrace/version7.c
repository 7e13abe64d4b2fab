/* SPDX-License-Identifier: MIT */
/*
 * Version 7: options point to sections, and to the next options.
 *
 *   options ──► header info, formats of ftrace, formats of events, kallsyms, printk_formats, names
 *      │  └───► pages of a buffer
 *      ▼
 *   options ──► …
 */
#include "base/fail.h"
#include "base/list.h"
#include "format/ftrace/file.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SECTION_HEADER 16
#define CPUS_MAX 65536
#define OPTIONS_MAX 256 /* sections of options: a chain that comes back to one has no end */

enum {
  OPTION_DONE = 0,
  OPTION_BUFFER = 3,
  OPTION_HEADER_INFO = 16,
  OPTION_FTRACE_EVENTS = 17,
  OPTION_EVENT_FORMATS = 18,
  OPTION_KALLSYMS = 19,
  OPTION_PRINTK = 20,
  OPTION_CMDLINES = 21,
  OPTION_BUFFER_TEXT = 22,
};

struct section {
  uint16_t id;
  bool is_packed;
};

/* Keeps unpacked bytes until the file is closed. */
static bool keep(struct ftrace_file *file, uint8_t *bytes) {
  if (!KYMO_LIST_ROOM(file->unpacked, file->unpacked_capacity, file->unpacked_count)) {
    free(bytes);
    return false;
  }
  file->unpacked[file->unpacked_count++] = bytes;
  return true;
}

/* The contents of a compressed section. */
static int unpack_section(struct ftrace_reader *reader) {
  struct ftrace_file *file = reader->file;
  uint32_t size = kymo_bytes_u32(&reader->bytes), unpacked_size = kymo_bytes_u32(&reader->bytes);
  const uint8_t *from = kymo_bytes_take(&reader->bytes, size);
  if (!from)
    return kymo_ftrace_fail(reader, "compressed bytes and their sizes");
  if (file->packing == FTRACE_PLAIN)
    return kymo_ftrace_fail(reader,
                            "a section without compression, which the head of the file does not name");
  uint64_t at = reader->base + (uint64_t)(from - reader->bytes.data);
  uint8_t *bytes = kymo_ftrace_unpack(file, at, from, size, unpacked_size, reader->error);
  if (!bytes)
    return reader->error->code;
  if (!keep(file, bytes))
    return kymo_fail(reader->error, KYMO_E_MEMORY, "out of memory");
  reader->base = at;
  reader->is_unpacked = true;
  reader->bytes = (struct kymo_bytes){.data = bytes, .size = unpacked_size, .is_big = file->is_big};
  return KYMO_OK;
}

/* Moves to the contents of the section at `at`, which has this id. */
static int enter_section(struct ftrace_reader *reader, uint64_t at, uint16_t id, struct section *out) {
  struct ftrace_file *file = reader->file;
  reader->base = 0;
  reader->is_unpacked = false;
  reader->bytes = (struct kymo_bytes){.data = file->data, .size = (size_t)file->size, .is_big = file->is_big};
  if (at > file->size)
    return kymo_fail_at(reader->error, KYMO_E_FORMAT, file->path, at,
                        "%s: expected a section, found the end of the file at %" PRIu64, reader->what,
                        file->size);
  reader->bytes.at = (size_t)at;
  out->id = kymo_bytes_u16(&reader->bytes);
  out->is_packed = kymo_bytes_u16(&reader->bytes) & 1;
  kymo_bytes_u32(&reader->bytes);
  uint64_t size = kymo_bytes_u64(&reader->bytes);
  if (reader->bytes.failed)
    return kymo_ftrace_fail(reader, "the header of a section");
  if (out->id != id)
    return kymo_fail_at(reader->error, KYMO_E_FORMAT, file->path, at,
                        "%s: expected a section of kind %u, found %u", reader->what, id, out->id);
  if (size > file->size - reader->bytes.at)
    size = file->size - reader->bytes.at; /* what there is of it */
  reader->bytes.size = reader->bytes.at + (size_t)size;
  return out->is_packed && id != OPTION_BUFFER ? unpack_section(reader) : KYMO_OK;
}

static int read_functions(struct ftrace_reader *reader) {
  return kymo_ftrace_read_text(reader, 4, &reader->file->functions);
}
static int read_printks(struct ftrace_reader *reader) {
  return kymo_ftrace_read_text(reader, 4, &reader->file->printks);
}
static int read_names(struct ftrace_reader *reader) {
  return kymo_ftrace_read_text(reader, 8, &reader->file->names);
}

static const struct kind {
  uint16_t id;
  const char *what;
  int (*read)(struct ftrace_reader *reader);
} kinds[] = {
    {OPTION_HEADER_INFO, "header_page and header_event", kymo_ftrace_read_header_info},
    {OPTION_FTRACE_EVENTS, "formats of ftrace", kymo_ftrace_read_ftrace_formats},
    {OPTION_EVENT_FORMATS, "formats of events", kymo_ftrace_read_event_formats},
    {OPTION_KALLSYMS, "kallsyms", read_functions},
    {OPTION_PRINTK, "printk_formats", read_printks},
    {OPTION_CMDLINES, "saved_cmdlines", read_names},
};

/* Reads the section that an option points to. A damaged one is noted: the others may be sound. */
static int follow_option(const struct ftrace_reader *from, const struct kind *kind, uint64_t at) {
  uint32_t bit = UINT32_C(1) << kind->id;
  if (from->file->sections_read & bit) /* another option of the kind: the first one counts */
    return KYMO_OK;
  from->file->sections_read |= bit;
  struct kymo_error why = {.code = KYMO_OK, .offset = KYMO_ERROR_NO_OFFSET};
  struct ftrace_reader reader = *from;
  struct section section;
  reader.what = kind->what;
  reader.error = &why;
  int status = enter_section(&reader, at, kind->id, &section);
  if (status == KYMO_OK)
    status = kind->read(&reader);
  if (status == KYMO_E_FORMAT)
    kymo_ftrace_note_damage(&reader, &why);
  else if (status != KYMO_OK && from->error)
    *from->error = why;
  return status == KYMO_E_FORMAT ? KYMO_OK : status;
}

/* ---- buffers ---- */

static int read_cpus(struct ftrace_reader *reader, struct ftrace_buffer *buffer) {
  struct ftrace_file *file = reader->file;
  uint32_t count = kymo_bytes_u32(&reader->bytes);
  if (count > CPUS_MAX || count > (reader->bytes.size - reader->bytes.at) / 20) {
    reader->bytes.failed = true;
    return kymo_ftrace_fail(reader, "id, offset and size of the pages of each CPU");
  }
  buffer->cpus = kymo_arena_array(&file->arena, count + 1u, sizeof *buffer->cpus);
  if (!buffer->cpus)
    return kymo_fail(reader->error, KYMO_E_MEMORY, "out of memory");
  for (uint32_t i = 0; i < count; i++) {
    uint32_t id = kymo_bytes_u32(&reader->bytes);
    uint64_t at = kymo_bytes_u64(&reader->bytes), size = kymo_bytes_u64(&reader->bytes);
    buffer->cpus[buffer->cpu_count++] = (struct ftrace_cpu){.id = id, .at = at, .size = size};
  }
  return KYMO_OK;
}

/* The option that describes the pages of a buffer. */
static int read_buffer(struct ftrace_reader *reader) {
  struct ftrace_file *file = reader->file;
  uint64_t at = kymo_bytes_u64(&reader->bytes);
  const char *name = kymo_ftrace_read_string(reader), *clock = kymo_ftrace_read_string(reader);
  uint32_t page_size = kymo_bytes_u32(&reader->bytes);
  if (reader->bytes.failed)
    return kymo_ftrace_fail(reader, "the description of a buffer");
  if (page_size < 64 || page_size > 16u << 20)
    return kymo_ftrace_fail(reader, "a page of 64 bytes to 16 MiB");
  struct ftrace_buffer *buffer =
      file->buffer_count < FTRACE_BUFFERS_MAX ? kymo_ftrace_add_buffer(file) : NULL;
  if (!buffer && file->buffer_count == FTRACE_BUFFERS_MAX)
    return kymo_ftrace_fail(reader, "at most 256 buffers");
  if (!buffer)
    return kymo_fail(reader->error, KYMO_E_MEMORY, "out of memory");
  buffer->name = name;
  buffer->clock = *clock ? clock : NULL;
  buffer->page_size = page_size;
  int status = read_cpus(reader, buffer);
  struct kymo_error why = {.code = KYMO_OK, .offset = KYMO_ERROR_NO_OFFSET};
  struct ftrace_reader pages = *reader;
  struct section section = {0};
  pages.what = "pages of a buffer";
  pages.error = &why;
  if (status == KYMO_OK && enter_section(&pages, at, OPTION_BUFFER, &section) != KYMO_OK) {
    kymo_ftrace_note_damage(&pages, &why);
    buffer->cpu_count = 0;
  }
  buffer->is_packed = section.is_packed;
  return status;
}

/* ---- options ---- */

static int read_one(struct ftrace_reader *reader, uint16_t id, uint32_t size) {
  struct kymo_bytes *bytes = &reader->bytes;
  if (size > bytes->size - bytes->at) {
    bytes->failed = true;
    return kymo_ftrace_fail(reader, "the bytes of an option");
  }
  if (id == OPTION_BUFFER) {
    struct ftrace_reader option = *reader;
    option.bytes.size = bytes->at + size;
    bytes->at += size;
    return read_buffer(&option);
  }
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (id == kinds[i].id) {
      struct kymo_bytes option = {.data = bytes->data + bytes->at, .size = size, .is_big = bytes->is_big};
      bytes->at += size;
      return follow_option(reader, &kinds[i], kymo_bytes_u64(&option));
    }
  return kymo_ftrace_read_option(reader, id, size);
}

/* Options up to DONE, which says where more are: *next, or 0. */
static int read_options(struct ftrace_reader *reader, uint64_t *next) {
  struct section section;
  reader->what = "options";
  int status = enter_section(reader, *next, 0, &section);
  while (status == KYMO_OK) {
    uint16_t id = kymo_bytes_u16(&reader->bytes);
    uint32_t size = kymo_bytes_u32(&reader->bytes);
    if (reader->bytes.failed)
      return kymo_ftrace_fail(reader, "an option");
    if (id == OPTION_DONE) {
      *next = kymo_bytes_u64(&reader->bytes);
      return reader->bytes.failed ? kymo_ftrace_fail(reader, "the offset of more options") : KYMO_OK;
    }
    status = read_one(reader, id, size);
  }
  return status;
}

static int read_packing(struct ftrace_reader *reader) {
  struct ftrace_file *file = reader->file;
  size_t at = reader->bytes.at;
  const char *name = kymo_ftrace_read_string(reader), *version = kymo_ftrace_read_string(reader);
  if (!name || !version)
    return kymo_ftrace_fail(reader, "the name and version of the compression");
  if (strcmp(name, "zlib") == 0)
    file->packing = FTRACE_ZLIB;
  else if (strcmp(name, "zstd") == 0)
    file->packing = FTRACE_ZSTD;
  else if (strcmp(name, "none") != 0)
    return kymo_fail_at(reader->error, KYMO_E_FORMAT, file->path, at,
                        "expected the compression none, zlib or zstd, found \"%.20s\"", name);
  return KYMO_OK;
}

int kymo_ftrace_read_version7(struct ftrace_reader *reader) {
  struct ftrace_file *file = reader->file;
  int status = read_packing(reader);
  uint64_t next = status == KYMO_OK ? kymo_bytes_u64(&reader->bytes) : 0;
  if (status == KYMO_OK && (reader->bytes.failed || next == 0))
    status = kymo_ftrace_fail(reader, "the offset of the options");
  for (unsigned i = 0; status == KYMO_OK && next != 0; i++) {
    struct kymo_error why = {.code = KYMO_OK, .offset = KYMO_ERROR_NO_OFFSET};
    struct ftrace_reader options = *reader;
    uint64_t at = next;
    options.error = &why;
    status = i < OPTIONS_MAX
                 ? read_options(&options, &next)
                 : kymo_fail_at(&why, KYMO_E_FORMAT, file->path, at, "options: a chain without end");
    if (status == KYMO_OK)
      continue;
    *reader->error = why;
  }
  return status;
}
