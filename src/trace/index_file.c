/* SPDX-License-Identifier: MIT */
/*
 * The place of an index: one file per part, `.kymo/index` in the trace's folder; if that cannot be written,
 * `kymo/index-HASH` in the user's cache, by the folder's path. Small traces have none: reading their headers
 * takes little time.
 *
 * A stream's index is used if its files have not changed; the last may have grown, and others may follow it.
 * A folder may belong to another user, so only a directory is entered there, only a regular file is read, and
 * a complete new file replaces the old one.
 */
#include "trace/index_file.h"
#include "base/cache.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/path.h"
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reading fewer headers than this takes less than a few milliseconds. */
#define PACKETS_LEAST 1024
/* Longer ones are neither written nor read. */
#define FILE_BYTES_MAX (UINT64_C(1) << 24)
#define PATH_BYTES 4096

/* ---- places ---- */

/* A folder, created if necessary, and the file in it. */
struct place {
  char folder[PATH_BYTES];
  char name[32];
};

static bool beside_trace(struct place *place, const char *trace_path) {
  snprintf(place->name, sizeof place->name, "index");
  return kymo_path_join(place->folder, sizeof place->folder, trace_path, ".kymo");
}

static bool in_cache(struct place *place, const char *trace_path) {
  char *whole = realpath(trace_path, NULL);
  bool is_there = whole != NULL;
  if (is_there)
    snprintf(place->name, sizeof place->name, "index-%016" PRIx64, kymo_hash64(whole, strlen(whole), 0));
  free(whole);
  return is_there && kymo_cache_folder(place->folder, sizeof place->folder);
}

static bool (*const find_place[])(struct place *, const char *) = {beside_trace, in_cache};
#define PLACES (sizeof find_place / sizeof *find_place)

/* ---- loading ---- */

static bool look_at(const char *path, struct kymo_index_file *file) {
  struct stat info;
  if (!path || stat(path, &info) != 0)
    return false;
  *file = (struct kymo_index_file){(uint64_t)info.st_ino, (uint64_t)info.st_size,
                                   (uint64_t)info.st_mtim.tv_sec, (uint64_t)info.st_mtim.tv_nsec};
  return true;
}

static bool is_same(const struct kymo_index_file *then, const struct kymo_index_file *now,
                    bool may_have_grown) {
  return then->inode == now->inode && ((may_have_grown && now->size > then->size) ||
                                       (now->size == then->size && now->seconds == then->seconds &&
                                        now->nanoseconds == then->nanoseconds));
}

/* Whether the index is about the files of the stream; `first` is the first of these. */
static bool is_about(const struct kymo_index_bytes *bytes, const struct stream_state *stream,
                     const struct kymo_index_file *first) {
  struct kymo_index_file now = *first;
  for (uint32_t i = 0; i < bytes->file_count; i++) {
    struct kymo_index_file then = kymo_index_read_file(bytes, i);
    if ((i > 0 && !look_at(stream->operations->file(stream->source, i), &now)) ||
        !is_same(&then, &now, i + 1 == bytes->file_count))
      return false;
  }
  return true;
}

static bool has_place_for_index(const struct stream_state *stream) {
  return stream->operations->seek && stream->operations->file && stream->index.count == 0 &&
         !stream->index.is_useless;
}

/* Gives each stream its index. They are in the order of the streams when it was written. `firsts`: their
 * first files. */
static void take_all(struct part_state *part, const struct kymo_index_file *firsts,
                     struct kymo_bytes *bytes) {
  struct kymo_index_bytes kept;
  uint32_t count = part->part.stream_count, at = 0;
  while (kymo_index_read(bytes, &kept)) {
    uint32_t found = at;
    while (found < count && !(has_place_for_index(part->streams[found]) &&
                              is_about(&kept, part->streams[found], &firsts[found])))
      found++;
    if (found == count)
      continue;
    if (!kymo_index_take(&part->streams[found]->index, &kept))
      kymo_index_clear(&part->streams[found]->index);
    at = found + 1;
  }
}

static void take(struct part_state *part, const uint8_t *data, size_t size) {
  struct kymo_bytes bytes;
  struct kymo_index_file *firsts = calloc(part->part.stream_count, sizeof *firsts);
  for (uint32_t i = 0; firsts && i < part->part.stream_count; i++)
    if (part->streams[i]->operations->file)
      look_at(part->streams[i]->operations->file(part->streams[i]->source, 0), &firsts[i]);
  if (firsts && kymo_index_read_begin(&bytes, data, size))
    take_all(part, firsts, &bytes);
  free(firsts);
}

static void load(struct part_state *part) {
  bool is_loaded = false;
  for (size_t i = 0; i < PLACES && !is_loaded; i++) {
    struct place place;
    char path[PATH_BYTES];
    uint8_t *data;
    size_t size;
    if (!find_place[i](&place, part->part.path) ||
        !kymo_path_join(path, sizeof path, place.folder, place.name) ||
        kymo_file_read(path, FILE_BYTES_MAX, &data, &size, NULL) != KYMO_OK)
      continue;
    take(part, data, size);
    free(data);
    for (uint32_t k = 0; k < part->part.stream_count; k++)
      is_loaded |= part->streams[k]->index.count > 0;
  }
}

void kymo_index_load(struct kymo_trace *trace) {
  for (size_t i = 0; i < trace->part_count; i++) {
    struct part_state *part = trace->parts[i];
    if (part->has_index || trace->follow)
      continue;
    part->has_index = true;
    if (part->part.stream_count > 0 && part->streams[0]->operations->file)
      load(part);
  }
}

/* ---- keeping ---- */

static bool write_all(int fd, const char *bytes, size_t size) {
  while (size > 0) {
    ssize_t done = write(fd, bytes, size);
    if (done <= 0)
      return false;
    bytes += done;
    size -= (size_t)done;
  }
  return true;
}

/* Writes a new file, which then replaces the old one. */
static bool replace(const struct place *place, const struct kymo_strbuf *text) {
  char other[64];
  mkdir(place->folder, 0777);
  int folder = open(place->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0)
    return false;
  snprintf(other, sizeof other, "%s.%ld", place->name, (long)getpid());
  int fd = openat(folder, other, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  bool is_done = fd >= 0 && write_all(fd, text->text, text->length);
  if (fd >= 0)
    is_done = close(fd) == 0 && is_done;
  is_done = is_done && renameat(folder, other, folder, place->name) == 0;
  if (fd >= 0 && !is_done)
    unlinkat(folder, other, 0);
  close(folder);
  return is_done;
}

static void write_stream(struct kymo_strbuf *text, const struct stream_state *stream) {
  const struct kymo_index *index = &stream->index;
  if (index->count == 0 || index->is_useless || !stream->operations->file)
    return;
  uint32_t file_count = kymo_index_position(index, index->count - 1).file + 1;
  struct kymo_index_file *files = calloc(file_count, sizeof *files);
  bool is_whole = files != NULL;
  for (uint32_t i = 0; is_whole && i < file_count; i++)
    is_whole = look_at(stream->operations->file(stream->source, i), &files[i]);
  if (is_whole)
    kymo_index_write(text, index, files, file_count);
  free(files);
}

static void keep(struct part_state *part) {
  struct kymo_strbuf text = {0};
  bool is_kept = false;
  kymo_index_write_begin(&text);
  for (uint32_t i = 0; i < part->part.stream_count; i++)
    write_stream(&text, part->streams[i]);
  kymo_index_write_end(&text);
  for (size_t i = 0; i < PLACES && !is_kept && !text.failed && text.length <= FILE_BYTES_MAX; i++) {
    struct place place;
    is_kept = find_place[i](&place, part->part.path) && replace(&place, &text);
  }
  kymo_strbuf_free(&text);
}

void kymo_index_keep(struct kymo_trace *trace) {
  for (size_t i = 0; i < trace->part_count; i++) {
    struct part_state *part = trace->parts[i];
    uint64_t learnt = 0;
    for (uint32_t k = 0; k < part->part.stream_count; k++)
      learnt += part->streams[k]->index.packets - part->streams[k]->index.kept;
    if (learnt < PACKETS_LEAST || trace->follow)
      continue;
    keep(part);
    for (uint32_t k = 0; k < part->part.stream_count;
         k++) /* also if there is no place: another try would fail as well */
      part->streams[k]->index.kept = part->streams[k]->index.packets;
  }
}
