/* SPDX-License-Identifier: MIT */
/*
 * A stream file that was truncated between two packets is valid by itself. Only files beside it show that
 * packets are missing:
 *
 *   index/NAME.idx    LTTng: big-endian u32 magic 0xc1f1dcc1, major 1, minor, size of an entry; entries that
 *                     begin with u64 offset of the packet in bytes, u64 its size in bits
 *   .kymo/files       kymo: "NAME BYTES", one per line, written when the trace was complete
 *
 * Where a file ends inside of a packet, the damage is reported with its place when it is read.
 */
#include "format/ctf_whole.h"
#include "base/bytes.h"
#include "base/file.h"
#include "base/path.h"
#include "ring/layout.h"
#include "source/format.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define INDEX_MAGIC UINT32_C(0xc1f1dcc1)
#define INDEX_HEAD 16
#define ENTRY_LEAST 16
#define ENTRY_MOST 4096

static uint64_t load_be(const uint8_t *at, unsigned bytes) {
  uint64_t value = 0;
  for (unsigned i = 0; i < bytes; i++)
    value = value << 8 | at[i];
  return value;
}

/* The end of the packet of an entry; false: the entry cannot be read, or is invalid. */
static bool read_entry(FILE *index, uint64_t number, uint64_t entry_bytes, uint64_t *end) {
  uint8_t entry[ENTRY_LEAST];
  if (fseeko(index, (off_t)(INDEX_HEAD + number * entry_bytes), SEEK_SET) != 0 ||
      fread(entry, 1, sizeof entry, index) != sizeof entry)
    return false;
  uint64_t offset = load_be(entry, 8), bits = load_be(entry + 8, 8);
  *end = offset + bits / 8;
  return bits % 8 == 0 && *end >= offset;
}

/* All packets of a file that ends between two packets are read; the missing packets are still damage. */
__attribute__((format(printf, 4, 5))) static void note_missing(struct kymo_trace *trace, const char *path,
                                                               uint64_t offset, const char *format, ...) {
  char text[160];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  kymo_trace_add_damage(
      trace, &(struct kymo_damage){.path = path, .offset = offset, .code = KYMO_E_FORMAT, .message = text});
}

static void compare_index(struct kymo_trace *trace, const char *path, uint64_t size_bytes, FILE *index) {
  uint8_t head[INDEX_HEAD];
  struct stat info;
  uint64_t end = 0, last_end = 0;
  if (fread(head, 1, sizeof head, index) != sizeof head || load_be(head, 4) != INDEX_MAGIC ||
      load_be(head + 4, 4) != 1 || fstat(fileno(index), &info) != 0)
    return;
  uint64_t entry_bytes = load_be(head + 12, 4);
  if (entry_bytes < ENTRY_LEAST || entry_bytes > ENTRY_MOST)
    return;
  uint64_t count = ((uint64_t)info.st_size - INDEX_HEAD) / entry_bytes, whole = count;
  for (; whole > 0 && read_entry(index, whole - 1, entry_bytes, &end) && end > size_bytes; whole--)
    last_end = whole == count ? end : last_end;
  uint64_t missing = count - whole, whole_end = whole > 0 ? end : 0;
  bool is_damage = missing == 1 && size_bytes > whole_end; /* a part of this packet exists */
  if (missing && !is_damage)
    note_missing(trace, path, size_bytes,
                 "expected %" PRIu64 " more packet%s, up to byte %" PRIu64
                 ", as the index says; the file ends here",
                 missing, missing == 1 ? "" : "s", last_end);
}

void kymo_ctf_check_index(struct kymo_trace *trace, const char *path, uint64_t size_bytes) {
  const char *name = strrchr(path, '/');
  char index_path[4096];
  if (size_bytes == 0)
    kymo_trace_warn(trace, path, 0,
                    "the stream is empty: nothing was written to it, or all of it was truncated");
  if (!name || snprintf(index_path, sizeof index_path, "%.*s/index%s.idx", (int)(name - path), path, name) >=
                   (int)sizeof index_path)
    return;
  FILE *index = kymo_file_open(index_path);
  if (!index)
    return;
  compare_index(trace, path, size_bytes, index);
  fclose(index);
}

/* Whether a file of kymo ends inside of a packet, which is damage and reported as such. In the other byte
 * order this is unknown. */
static bool ends_in_packet(const char *path, uint64_t size_bytes) {
  FILE *file = kymo_file_open(path);
  struct kymo_packet_header head;
  uint64_t at = 0;
  while (file && at < size_bytes && fseeko(file, (off_t)at, SEEK_SET) == 0 &&
         fread(&head, sizeof head, 1, file) == 1 && head.magic == KYMO_CTF_MAGIC &&
         head.packet_size >= 8 * sizeof head && head.packet_size / 8 <= UINT32_MAX)
    at += head.packet_size / 8;
  bool is_in_rest = file && at < size_bytes && feof(file);
  if (file)
    fclose(file);
  return at > size_bytes || is_in_rest;
}

void kymo_ctf_check_noted(struct kymo_trace *trace, const char *directory) {
  char path[4096], line[512], name[400];
  uint64_t noted;
  if (snprintf(path, sizeof path, "%s/" KYMO_HIDDEN_FILES, directory) >= (int)sizeof path)
    return;
  FILE *list = kymo_file_open(path);
  while (list && fgets(line, sizeof line, list)) {
    struct stat info;
    if (sscanf(line, "%399s %" SCNu64, name, &noted) != 2 || strchr(name, '/') ||
        !kymo_path_join(path, sizeof path, directory, name))
      continue;
    if (stat(path, &info) != 0)
      note_missing(trace, path, 0,
                   "expected a file of %" PRIu64 " bytes, which the recorder wrote: it is missing", noted);
    else if ((uint64_t)info.st_size < noted && !ends_in_packet(path, (uint64_t)info.st_size))
      note_missing(trace, path, (uint64_t)info.st_size,
                   "expected %" PRIu64 " bytes, which the recorder wrote; the file ends here", noted);
  }
  if (list)
    fclose(list);
}
