/* SPDX-License-Identifier: MIT */
/*
 * CTF traces: a directory with a file `metadata` and a file a stream.
 *
 *   directories ── same uuid? ──► one part (LTTng cuts a trace into chunks, one directory each)
 *     files ── same stream class and instance? ──► one stream (files rotate), in the order of time
 *       packets in place, in the mapped file
 *
 * Hidden files, and directories inside the trace (`index`), are none of our business.
 */
#include "base/fail.h"
#include "format/description.h"
#include "format/formats.h"
#include "read/map.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- streams ---- */

struct file {
  char *path;
  struct kymo_peek peek;
  bool is_known;         /* the first packet's head was good */
};

/* The files of a stream, in order. */
struct source { size_t file_count; char *paths[]; };

struct kymo_cursor {
  const struct source *source;
  size_t file;           /* the one that `map` shows; file_count: the end */
  struct kymo_map map;
  uint64_t offset;
};

static int ctf_begin(struct kymo_cursor **cursor, void *source, struct kymo_error *error) {
  *cursor = calloc(1, sizeof **cursor);
  if (!*cursor)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  (*cursor)->source = source;
  (*cursor)->map.fd = -1;
  return KYMO_OK;
}

/* Packets of this size are surely seen whole where files are mapped in windows. */
#define WANTED_BYTES (UINT64_C(1) << 24)

static void next_file(struct kymo_cursor *cursor) {
  kymo_map_close(&cursor->map);
  cursor->map.path = NULL;
  cursor->file++;
  cursor->offset = 0;
}

static int ctf_next(struct kymo_cursor *cursor, struct kymo_chunk *chunk, struct kymo_error *error) {
  const struct source *source = cursor->source;
  struct kymo_map *map = &cursor->map;
  for (; cursor->file < source->file_count; next_file(cursor)) {
    int status = map->path ? KYMO_OK : kymo_map_open(map, source->paths[cursor->file], error);
    if (status == KYMO_OK)
      status = kymo_map_get(map, cursor->offset, WANTED_BYTES, &chunk->data, &chunk->size_bytes, error);
    if (status != KYMO_OK) {
      next_file(cursor);
      return status;
    }
    chunk->path = map->path;
    chunk->offset = cursor->offset;
    if (chunk->size_bytes > 0)
      return KYMO_OK;
  }
  return KYMO_END;
}

static void ctf_skip(struct kymo_cursor *cursor, uint64_t size_bytes) {
  cursor->offset += size_bytes;
}

static void ctf_end(struct kymo_cursor *cursor) {
  kymo_map_close(&cursor->map);
  free(cursor);
}

static void ctf_free(void *source) {
  struct source *files = source;
  for (size_t i = 0; files && i < files->file_count; i++)
    free(files->paths[i]);
  free(files);
}

static const struct kymo_source_operations operations = {
    .begin = ctf_begin, .next = ctf_next, .skip = ctf_skip, .end = ctf_end, .free = ctf_free,
};

/* ---- one directory ---- */

static char *join(const char *directory, const char *name) {
  size_t size = strlen(directory) + strlen(name) + 2;
  char *path = malloc(size);
  bool has_slash = directory[0] != 0 && directory[strlen(directory) - 1] == '/';
  if (path)
    snprintf(path, size, "%s%s%s", directory, has_slash ? "" : "/", name);
  return path;
}

static bool ctf_probe(const char *path) {
  struct stat info;
  char *metadata = join(path, "metadata");
  bool is_trace = metadata && stat(metadata, &info) == 0 && S_ISREG(info.st_mode);
  free(metadata);
  return is_trace;
}

static int is_stream_name(const struct dirent *entry) {
  return entry->d_name[0] != '.' && strcmp(entry->d_name, "metadata") != 0;
}

static int by_name(const struct dirent **a, const struct dirent **b) {
  return strcmp((*a)->d_name, (*b)->d_name);
}

struct files { struct file *list; size_t count, capacity; };

static int add_file(struct files *files, char *path, struct kymo_error *error) {
  if (files->count == files->capacity) {
    size_t capacity = files->capacity ? files->capacity * 2 : 16;
    struct file *list = realloc(files->list, capacity * sizeof *list);
    if (!list) {
      free(path);
      return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
    }
    files->list = list;
    files->capacity = capacity;
  }
  files->list[files->count++] = (struct file){.path = path};
  return KYMO_OK;
}

static int list_files(const char *directory, struct files *files, struct kymo_error *error) {
  struct dirent **entries = NULL;
  int count = scandir(directory, &entries, is_stream_name, by_name);
  if (count < 0)
    return kymo_fail_errno(error, directory, "cannot list");
  int status = KYMO_OK;
  for (int i = 0; i < count; i++) {
    struct stat info;
    char *path = status == KYMO_OK ? join(directory, entries[i]->d_name) : NULL;
    if (status == KYMO_OK && !path)
      status = kymo_fail(error, KYMO_E_MEMORY, "out of memory");
    if (path && stat(path, &info) == 0 && S_ISREG(info.st_mode))
      status = add_file(files, path, error);
    else
      free(path);
    free(entries[i]);
  }
  free(entries);
  return status;
}

/* Learns from its first packet what stream a file belongs to. Bad heads are told when it is read. */
static void peek_file(const struct kymo_part *part, struct file *file) {
  struct kymo_map map;
  struct kymo_chunk chunk = {.path = file->path};
  file->peek = (struct kymo_peek){.instance = UINT64_MAX, .sequence = UINT64_MAX};
  if (kymo_map_open(&map, file->path, NULL) != KYMO_OK)
    return;
  if (kymo_map_get(&map, 0, 1, &chunk.data, &chunk.size_bytes, NULL) == KYMO_OK && chunk.size_bytes > 0)
    file->is_known = kymo_part_peek(part, &chunk, &file->peek, NULL) == KYMO_OK;
  kymo_map_close(&map);
}

/* Files of one stream stand behind one another, in the order of their times. */
static int compare_files(const void *a, const void *b) {
  const struct file *one = a, *other = b;
  const struct kymo_peek *p = &one->peek, *q = &other->peek;
  if (one->is_known != other->is_known)
    return one->is_known ? -1 : 1;
  if (one->is_known) {
    if (p->class_->id != q->class_->id)
      return p->class_->id < q->class_->id ? -1 : 1;
    if (p->instance != q->instance)
      return p->instance < q->instance ? -1 : 1;
    if (p->has_begin && q->has_begin && p->begin_cycles != q->begin_cycles)
      return p->begin_cycles < q->begin_cycles ? -1 : 1;
    if (p->sequence != q->sequence)
      return p->sequence < q->sequence ? -1 : 1;
  }
  return strcmp(one->path, other->path);
}

/* Files of one instance; but files whose first packets have one number at two times are of two streams that some
 * producer numbered alike. */
static bool is_same_stream(const struct file *a, const struct file *b) {
  bool is_contrary = a->is_known && b->is_known && a->peek.sequence != UINT64_MAX &&
                     a->peek.sequence == b->peek.sequence && a->peek.has_begin && b->peek.has_begin &&
                     a->peek.begin_cycles != b->peek.begin_cycles;
  return !is_contrary && a->is_known && b->is_known && a->peek.class_ == b->peek.class_ && a->peek.instance == b->peek.instance &&
         a->peek.instance != UINT64_MAX;
}

/* Makes a stream of `count` files; their paths are given away. */
static int add_stream(struct kymo_trace *trace, struct kymo_part *part, struct file *files, size_t count,
                      struct kymo_error *error) {
  struct source *source = calloc(1, sizeof *source + count * sizeof *source->paths);
  if (!source)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  for (size_t i = 0; i < count; i++) {
    source->paths[source->file_count++] = files[i].path;
    files[i].path = NULL;
  }
  struct kymo_stream_source stream = {.operations = &operations, .source = source, .path = source->paths[0],
                                      .class_ = files[0].is_known ? files[0].peek.class_ : NULL,
                                      .instance = files[0].peek.instance, .may_repeat = count > 1};
  return kymo_part_add_stream(trace, part, &stream, error);
}

static int add_streams(struct kymo_trace *trace, struct kymo_part *part, struct files *files,
                       struct kymo_error *error) {
  for (size_t i = 0; i < files->count; i++)
    peek_file(part, &files->list[i]);
  if (files->count)
    qsort(files->list, files->count, sizeof *files->list, compare_files);
  for (size_t i = 0, end; i < files->count; i = end) {
    for (end = i + 1; end < files->count && is_same_stream(&files->list[i], &files->list[end]); end++)
      ;
    int status = add_stream(trace, part, &files->list[i], end - i, error);
    if (status != KYMO_OK)
      return status;
  }
  return KYMO_OK;
}

/* ---- all directories ---- */

struct chunk_directory {
  const char *path;
  struct kymo_schema *schema;
  bool is_done;
};

static uint32_t count_events(const struct kymo_schema *schema) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < schema->stream_count; i++)
    count += schema->streams[i]->event_count;
  return count;
}

static bool is_same_trace(const struct chunk_directory *a, const struct chunk_directory *b) {
  return a->schema->has_uuid && b->schema->has_uuid && memcmp(a->schema->uuid, b->schema->uuid, 16) == 0;
}

static uint32_t find_quirks(const struct kymo_schema *schema) {
  const struct kymo_environment *tracer = kymo_schema_environment(schema, "tracer_name");
  bool is_lttng = tracer && tracer->text && strncmp(tracer->text, "lttng-", 6) == 0;
  return is_lttng ? KYMO_QUIRK_END_ZERO : 0;
}

/* Makes a part of list[first] and all later ones with its uuid, by the richest metadata of theirs. */
static int add_part(struct kymo_trace *trace, struct chunk_directory *list, size_t count, struct kymo_error *error) {
  struct kymo_schema *best = list[0].schema;
  struct files files = {0};
  int status = KYMO_OK;
  for (size_t i = 0; i < count && status == KYMO_OK; i++) {
    if (list[i].is_done || (i > 0 && !is_same_trace(&list[0], &list[i])))
      continue;
    list[i].is_done = true;
    if (count_events(list[i].schema) > count_events(best))
      best = list[i].schema;
    status = list_files(list[i].path, &files, error);
  }
  struct kymo_part *part = NULL;
  struct kymo_part_source source = {.format = "ctf", .path = list[0].path, .quirks = find_quirks(best)};
  if (status == KYMO_OK) {
    source.schema = kymo_schema_retain(best);
    status = kymo_trace_add_part(trace, &source, &part, error);
  }
  if (status == KYMO_OK)
    status = add_streams(trace, part, &files, error);
  for (size_t i = 0; i < files.count; i++)
    free(files.list[i].path);
  free(files.list);
  return status;
}

static int ctf_open(struct kymo_trace *trace, const char *const *paths, size_t count, struct kymo_error *error) {
  struct chunk_directory *list = calloc(count, sizeof *list);
  struct kymo_error local = {.code = KYMO_OK};
  int status = list ? KYMO_OK : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  for (size_t i = 0; i < count && status == KYMO_OK; i++) {
    list[i].path = paths[i];
    list[i].schema = kymo_description_load(trace, paths[i], false, error ? error : &local);
    if (!list[i].schema)
      status = (error ? error : &local)->code;
  }
  for (size_t i = 0; i < count && status == KYMO_OK; i++)
    if (!list[i].is_done)
      status = add_part(trace, list + i, count - i, error);
  for (size_t i = 0; list && i < count; i++)
    kymo_schema_release(list[i].schema);
  free(list);
  return status;
}

const struct kymo_format kymo_format_ctf = {
    .name = "ctf",
    .summary = "Common Trace Format: LTTng, barectf, babeltrace, kymo and others",
    .probe = ctf_probe,
    .open = ctf_open,
};
