/* SPDX-License-Identifier: MIT */
/*
 * CTF traces: a directory with a file `metadata` and one file per stream.
 *
 *   directories ── same uuid? ──► one part (LTTng cuts a trace into chunks, one directory each)
 *     files ── same stream class and instance? ──► one stream (files rotate), in the order of time
 *       packets in place, in the mapped file
 *
 * Hidden files, and directories inside the trace (`index`), are ignored.
 */
#include "base/fail.h"
#include "base/list.h"
#include "format/clocks.h"
#include "format/ctf_whole.h"
#include "format/description.h"
#include "format/formats.h"
#include "format/modules.h"
#include "format/notes.h"
#include "schema/attribute.h"
#include "source/format.h"
#include "source/map.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* ---- streams ---- */

struct file {
  char *path; /* NULL: given away */
  uint64_t device, inode, size_bytes;
  struct kymo_peek peek;
  bool is_known; /* the head of the first packet was valid */
  int hidden;    /* errno: the file could not be examined; 0: it could */
};

/* The files of a stream, in order. The trace's arena owns the paths. */
struct source {
  const struct kymo_trace *trace;
  struct source_file {
    const char *path;
    uint64_t device, inode;
  } * files;
  size_t file_count, capacity;
};

struct kymo_cursor {
  const struct source *source;
  size_t file; /* the file that `map` shows; file_count: the end */
  struct kymo_map map;
  uint64_t offset;
  uint64_t wanted; /* bytes that should be visible from there */
  uint64_t usual;  /* the same for each packet */
};

/* Packets of this size are always seen whole where files are mapped in windows. */
#define WANTED_BYTES (UINT64_C(1) << 24)

static void move(struct kymo_cursor *cursor, uint64_t offset) {
  cursor->offset = offset;
  cursor->wanted = cursor->usual;
}

static int ctf_begin(struct kymo_cursor **cursor, void *source, struct kymo_error *error) {
  *cursor = calloc(1, sizeof **cursor);
  if (!*cursor)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  (*cursor)->source = source;
  (*cursor)->map.fd = -1;
  (*cursor)->wanted = (*cursor)->usual = WANTED_BYTES;
  return KYMO_OK;
}

static void next_file(struct kymo_cursor *cursor) {
  kymo_map_close(&cursor->map);
  cursor->map.path = NULL;
  cursor->file++;
  move(cursor, 0);
}

static int ctf_next(struct kymo_cursor *cursor, struct kymo_chunk *chunk, struct kymo_error *error) {
  const struct source *source = cursor->source;
  struct kymo_map *map = &cursor->map;
  for (; cursor->file < source->file_count; next_file(cursor)) {
    bool may_grow = kymo_trace_is_growing(source->trace) && cursor->file + 1 == source->file_count;
    int status = map->path ? KYMO_OK : kymo_map_open(map, source->files[cursor->file].path, error);
    map->is_growing = kymo_trace_is_growing(source->trace);
    if (status == KYMO_OK)
      status =
          cursor->wanted > KYMO_GLANCE_BYTES
              ? kymo_map_get(map, cursor->offset, cursor->wanted, &chunk->data, &chunk->size_bytes, error)
              : kymo_map_glance(map, cursor->offset, &chunk->data, &chunk->size_bytes, error);
    if (status != KYMO_OK) {
      next_file(cursor);
      return status;
    }
    chunk->path = map->path;
    chunk->map = map;
    chunk->offset = cursor->offset;
    chunk->rest_bytes = map->size - cursor->offset > chunk->size_bytes ? map->size - cursor->offset : 0;
    chunk->file = (uint32_t)cursor->file;
    chunk->may_grow = may_grow;
    if (chunk->size_bytes > 0)
      return KYMO_OK;
    if (may_grow && kymo_trace_is_followed(source->trace))
      return KYMO_AGAIN;
    if ((status = kymo_map_check_end(map, error)) != KYMO_OK)
      return status;
  }
  return KYMO_END;
}

static void ctf_skip(struct kymo_cursor *cursor, uint64_t size_bytes) {
  move(cursor, cursor->offset + size_bytes);
}

static void ctf_want(struct kymo_cursor *cursor, uint64_t size_bytes) { cursor->wanted = size_bytes; }

static void ctf_glance(struct kymo_cursor *cursor) { cursor->wanted = cursor->usual = KYMO_GLANCE_BYTES; }

static void ctf_seek(struct kymo_cursor *cursor, uint32_t file, uint64_t offset) {
  if (cursor->file != file) {
    kymo_map_close(&cursor->map);
    cursor->map.path = NULL;
  }
  cursor->file = file;
  move(cursor, offset);
}

static const char *ctf_file(const void *source, uint32_t file) {
  const struct source *files = source;
  return file < files->file_count ? files->files[file].path : NULL;
}

static void ctf_end(struct kymo_cursor *cursor) {
  kymo_map_close(&cursor->map);
  free(cursor);
}

static void ctf_free(void *source) {
  struct source *from = source;
  free(from->files);
  free(from);
}

static const struct kymo_source_operations operations = {
    .begin = ctf_begin,
    .next = ctf_next,
    .skip = ctf_skip,
    .want = ctf_want,
    .glance = ctf_glance,
    .seek = ctf_seek,
    .file = ctf_file,
    .end = ctf_end,
    .free = ctf_free,
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

static int ctf_probe(const char *path, struct kymo_error *error) {
  struct stat info;
  char *metadata = join(path, "metadata");
  int status = KYMO_OK;
  if (!metadata)
    status = kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  else if (stat(metadata, &info) != 0)
    status = errno == ENOENT || errno == ENOTDIR ? KYMO_E_UNKNOWN
                                                 : kymo_fail_errno(error, metadata, "cannot look at");
  else if (!S_ISREG(info.st_mode))
    status = KYMO_E_UNKNOWN;
  free(metadata);
  return status;
}

static int is_stream_name(const struct dirent *entry) {
  return entry->d_name[0] != '.' && strcmp(entry->d_name, "metadata") != 0;
}

static int by_name(const struct dirent **a, const struct dirent **b) {
  return strcmp((*a)->d_name, (*b)->d_name);
}

struct files {
  struct file *list;
  size_t count, capacity;
};

static int add_file(struct files *files, char *path, const struct stat *info, int hidden,
                    struct kymo_error *error) {
  if (!KYMO_LIST_ROOM(files->list, files->capacity, files->count)) {
    free(path);
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  }
  files->list[files->count++] = (struct file){.path = path,
                                              .device = (uint64_t)info->st_dev,
                                              .inode = (uint64_t)info->st_ino,
                                              .size_bytes = (uint64_t)info->st_size,
                                              .hidden = hidden};
  return KYMO_OK;
}

static void free_files(struct files *files) {
  for (size_t i = 0; i < files->count; i++)
    free(files->list[i].path);
  free(files->list);
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
    bool is_there = path && stat(path, &info) == 0, is_gone = path && !is_there && errno == ENOENT;
    int hidden = path && !is_there ? errno : 0;
    if (hidden)
      info = (struct stat){.st_mode = S_IFREG};
    if (path && !is_gone && S_ISREG(info.st_mode))
      status = add_file(files, path, &info, hidden, error);
    else
      free(path);
    free(entries[i]);
  }
  free(entries);
  return status;
}

/* As peek_file, from the first bytes alone, in which most heads fit: mapping a file costs several times as
 * much. */
static bool glance_at_file(const struct kymo_part *part, struct file *file, struct kymo_map *map) {
  struct kymo_chunk chunk = {.path = file->path};
  if (kymo_map_glance(map, 0, &chunk.data, &chunk.size_bytes, NULL) != KYMO_OK || chunk.size_bytes == 0)
    return false;
  chunk.rest_bytes = map->size - chunk.size_bytes;
  return kymo_part_peek(part, &chunk, &file->peek, NULL) == KYMO_OK;
}

/* Reads from its first packet which stream a file belongs to. Invalid heads are reported when the file is
 * read. */
static int peek_file(const struct kymo_part *part, struct file *file, struct kymo_error *error) {
  struct kymo_map map;
  struct kymo_chunk chunk = {.path = file->path};
  file->peek = (struct kymo_peek){.instance = UINT64_MAX, .sequence = UINT64_MAX};
  int status = kymo_map_open(&map, file->path, error);
  if (status != KYMO_OK)
    return status;
  file->is_known = glance_at_file(part, file, &map);
  if (!file->is_known)
    status = kymo_map_get(&map, 0, 1, &chunk.data, &chunk.size_bytes, error);
  if (!file->is_known && status == KYMO_OK && chunk.size_bytes > 0) {
    status = kymo_part_peek(part, &chunk, &file->peek, error);
    file->is_known = status == KYMO_OK;
  }
  kymo_map_close(&map);
  return status;
}

/* Files of one stream follow one another, in the order of their times. */
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

/* Files of one instance. Without times their order is unknown: then each is a stream of its own. And files
 * whose first packets have the same number at different times are of two streams that a producer numbered
 * alike. */
static bool is_same_stream(const struct file *a, const struct file *b) {
  const struct kymo_peek *p = &a->peek, *q = &b->peek;
  bool is_alike = a->is_known && b->is_known && p->class_ == q->class_ && p->instance == q->instance &&
                  p->instance != UINT64_MAX && p->has_begin && q->has_begin;
  bool is_contrary =
      p->sequence != UINT64_MAX && p->sequence == q->sequence && p->begin_cycles != q->begin_cycles;
  return is_alike && !is_contrary;
}

/* Appends a file to those of the source. */
static int append_file(struct kymo_trace *trace, struct source *source, const struct file *file,
                       struct kymo_error *error) {
  if (!KYMO_LIST_ROOM(source->files, source->capacity, source->file_count))
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  const char *path = kymo_trace_copy_text(trace, file->path);
  if (!path)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  source->files[source->file_count++] = (struct source_file){path, file->device, file->inode};
  return KYMO_OK;
}

/* Creates a stream of `count` files. */
static int add_stream(struct kymo_trace *trace, struct kymo_part *part, const struct file *files,
                      size_t count, struct kymo_error *error) {
  struct source *source = calloc(1, sizeof *source);
  int status = source ? KYMO_OK : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (source)
    source->trace = trace;
  for (size_t i = 0; i < count && status == KYMO_OK; i++)
    status = append_file(trace, source, &files[i], error);
  if (status != KYMO_OK) {
    if (source)
      ctf_free(source);
    return status;
  }
  struct kymo_stream_source stream = {.operations = &operations,
                                      .source = source,
                                      .path = files[0].path,
                                      .class_ = files[0].is_known ? files[0].peek.class_ : NULL,
                                      .instance = files[0].peek.instance,
                                      .may_repeat = count > 1};
  return kymo_part_add_stream(trace, part, &stream, error);
}

/* A file that cannot be examined is damage, also if it can be read later: the stream it belongs to is
 * unknown. */
static int peek_files(struct kymo_trace *trace, const struct kymo_part *part, struct files *files,
                      struct kymo_error *error) {
  int status = KYMO_OK;
  for (size_t i = 0; i < files->count && status != KYMO_E_MEMORY; i++) {
    struct kymo_error why = {.code = KYMO_OK, .offset = KYMO_ERROR_NO_OFFSET};
    errno = files->list[i].hidden;
    int seen = errno ? kymo_fail_errno(&why, files->list[i].path, "cannot look at") : KYMO_OK;
    status = peek_file(part, &files->list[i], seen ? NULL : &why);
    if (seen || status == KYMO_E_SYSTEM)
      kymo_trace_add_damage(trace, &(struct kymo_damage){.path = files->list[i].path,
                                                         .offset = why.offset,
                                                         .code = KYMO_E_SYSTEM,
                                                         .message = why.message});
  }
  if (files->count)
    qsort(files->list, files->count, sizeof *files->list, compare_files);
  return status == KYMO_E_MEMORY ? kymo_fail(error, KYMO_E_MEMORY, "out of memory") : KYMO_OK;
}

/* Whether two files of one stream in one directory begin with the same packet. Chunks of a trace and
 * snapshots, which overlap, are in several directories. */
static bool is_copy(const struct file *a, const struct file *b) {
  const struct kymo_peek *p = &a->peek, *q = &b->peek;
  size_t length = (size_t)(strrchr(a->path, '/') - a->path);
  return p->begin_cycles == q->begin_cycles && p->sequence == q->sequence &&
         strncmp(a->path, b->path, length + 1) == 0 && !strchr(b->path + length + 1, '/');
}

/* Creates streams of the files, whose first packets have been read. */
static int add_streams(struct kymo_trace *trace, struct kymo_part *part, struct files *files,
                       struct kymo_error *error) {
  for (size_t i = 0, end; i < files->count; i = end) {
    if (kymo_trace_is_growing(trace) && !files->list[i].is_known)
      break; /* it may be known later */
    for (end = i + 1; end < files->count && is_same_stream(&files->list[i], &files->list[end]); end++)
      ;
    for (size_t k = i; k < end; k++) {
      struct file *file = &files->list[k];
      if (k > i && is_copy(file, file - 1))
        kymo_trace_warn(
            trace, file->path, 0, "begins with the packet that %.150s begins with: %s", (file - 1)->path,
            file->peek.sequence != UINT64_MAX ? "duplicate packets are left out" : "events may come twice");
      if (!kymo_trace_is_growing(trace) && !file->hidden)
        kymo_ctf_check_index(trace, file->path, file->size_bytes);
    }
    int status = add_stream(trace, part, &files->list[i], end - i, error);
    if (status != KYMO_OK)
      return status;
  }
  return KYMO_OK;
}

/* ---- all directories ---- */

struct chunk_directory {
  const char *path;
  int64_t offset_ns;     /* kymo_path_offset */
  struct stat described; /* state of the metadata before it was read */
  struct kymo_schema *schema;
  bool is_done;
};

/* State of a part's directories, so that it can be followed. */
struct directory {
  const char *path; /* in the trace's arena */
  struct stat described;
  struct stat listed; /* state of the directory before it was listed */
  time_t listed_at;
  bool is_pending; /* there are files whose stream is still unknown */
};
struct directories {
  struct directory *list;
  size_t count, capacity;
  int64_t offset_ns;
};

static uint32_t count_events(const struct kymo_schema *schema) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < schema->stream_count; i++)
    count += schema->streams[i]->event_count;
  return count;
}

static bool same_text(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

static bool is_same_layout(const struct kymo_type *a, const struct kymo_type *b) {
  return a && b ? memcmp(&a->hashes.layout, &b->hashes.layout, sizeof a->hashes.layout) == 0 : a == b;
}

/* Whether the second schema describes all that the first one describes. */
static bool covers(const struct kymo_schema *schema, const struct kymo_schema *other) {
  bool does = is_same_layout(schema->packet_header, other->packet_header);
  for (uint32_t i = 0; does && i < other->stream_count; i++) {
    const struct kymo_stream_class *one = other->streams[i], *own = kymo_schema_stream(schema, one->id);
    does = own && is_same_layout(own->packet_context, one->packet_context) &&
           is_same_layout(own->event_header, one->event_header) &&
           is_same_layout(own->common_context, one->common_context);
    for (uint32_t k = 0; does && k < one->event_count; k++) {
      const struct kymo_event_class *event = kymo_stream_class_event(own, one->events[k]->id);
      does = event &&
             memcmp(&event->hashes.layout, &one->events[k]->hashes.layout, sizeof event->hashes.layout) == 0;
    }
  }
  return does;
}

/* Equal namespace, name and uid of the trace class of CTF 2 mean the same trace. One description has to fit
 * both. */
static bool is_same_identity(const struct kymo_schema *a, const struct kymo_schema *b) {
  return a->major >= 2 && b->major >= 2 && !(a->has_uuid && b->has_uuid) &&
         same_text(a->trace_name, b->trace_name) && kymo_attribute_same_space(a->attributes, b->attributes) &&
         kymo_attribute_same_uid(a->attributes, b->attributes) && (covers(a, b) || covers(b, a));
}

static bool is_same_trace(const struct chunk_directory *a, const struct chunk_directory *b) {
  bool is_same_uuid =
      a->schema->has_uuid && b->schema->has_uuid && memcmp(a->schema->uuid, b->schema->uuid, 16) == 0;
  return a->offset_ns == b->offset_ns && (is_same_uuid || is_same_identity(a->schema, b->schema));
}

static int64_t version_part(const struct kymo_schema *schema, const char *name) {
  const struct kymo_environment *part = kymo_schema_environment(schema, name);
  return part && !part->text ? part->integer : 0;
}

static uint32_t find_quirks(const struct kymo_schema *schema) {
  const struct kymo_environment *tracer = kymo_schema_environment(schema, "tracer_name");
  if (!tracer || !tracer->text)
    return 0;
  if (strncmp(tracer->text, "lttng-", 6) == 0)
    return KYMO_QUIRK_END_ZERO;
  int64_t major = version_part(schema, "tracer_major"), minor = version_part(schema, "tracer_minor");
  bool is_old =
      major < 2 || (major == 2 && (minor < 3 || (minor == 3 && version_part(schema, "tracer_patch") < 1)));
  return strcmp(tracer->text, "barectf") == 0 && is_old ? KYMO_QUIRK_BEGIN_LATE : 0;
}

/* Reads the files that a recorder wrote beside the trace. */
static int load_beside(struct kymo_trace *trace, struct kymo_part *part, const char *directory,
                       struct kymo_error *error) {
  int status = kymo_part_add_place(trace, part, directory, error);
  if (!status)
    status = kymo_clocks_load(trace, part, directory, error);
  if (!status)
    status = kymo_modules_load(trace, part, directory, error);
  return status ? status : kymo_notes_load(trace, part, directory, error);
}

static struct stat look_at_metadata(const char *directory) {
  struct stat info = {0};
  char *metadata = join(directory, "metadata");
  if (metadata && stat(metadata, &info) != 0)
    info.st_size = -1;
  free(metadata);
  return info;
}

static void free_directories(void *memory) {
  struct directories *directories = memory;
  free(directories->list);
  free(directories);
}

static int remember(struct kymo_trace *trace, struct directories *directories,
                    const struct chunk_directory *chunk, struct kymo_error *error) {
  if (!KYMO_LIST_ROOM(directories->list, directories->capacity, directories->count))
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  const char *path = kymo_trace_copy_text(trace, chunk->path);
  if (!path)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  directories->list[directories->count++] =
      (struct directory){.path = path, .described = chunk->described, .is_pending = true};
  return KYMO_OK;
}

/* Creates a part of list[first] and all later ones with its uuid, with the richest metadata among them. */
static int add_part(struct kymo_trace *trace, struct chunk_directory *list, size_t count,
                    struct kymo_error *error) {
  struct kymo_schema *best = list[0].schema;
  struct files files = {0};
  struct directories *directories = calloc(1, sizeof *directories);
  uint32_t path_count = 0;
  int status = directories ? KYMO_OK : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  for (size_t i = 0; i < count && status == KYMO_OK; i++) {
    if (list[i].is_done || (i > 0 && !is_same_trace(&list[0], &list[i])))
      continue;
    list[i].is_done = true;
    path_count++;
    if (count_events(list[i].schema) > count_events(best))
      best = list[i].schema;
    status = list_files(list[i].path, &files, error);
    if (status == KYMO_OK)
      status = remember(trace, directories, &list[i], error);
  }
  struct kymo_part *part = NULL;
  struct kymo_part_source source = {.format = "ctf",
                                    .path = list[0].path,
                                    .path_count = path_count,
                                    .quirks = find_quirks(best) | KYMO_QUIRK_ROUNDED,
                                    .memory = directories,
                                    .free_memory = free_directories};
  if (status != KYMO_OK && directories)
    free_directories(directories);
  if (status == KYMO_OK) {
    directories->offset_ns = list[0].offset_ns;
    source.schema = kymo_schema_retain(best);
    status = kymo_trace_add_part(trace, &source, &part, error);
  }
  for (size_t i = 0; i < count && status == KYMO_OK; i++) {
    if (i > 0 && !is_same_trace(&list[0], &list[i]))
      continue;
    status = load_beside(trace, part, list[i].path, error);
    if (!kymo_trace_is_growing(trace))
      kymo_ctf_check_noted(trace, list[i].path);
  }
  if (status == KYMO_OK) {
    status = peek_files(trace, part, &files, error);
    if (status == KYMO_OK)
      status = add_streams(trace, part, &files, error);
  }
  free_files(&files);
  return status;
}

static int ctf_open(struct kymo_trace *trace, const char *const *paths, size_t count,
                    struct kymo_error *error) {
  struct chunk_directory *list = calloc(count, sizeof *list);
  struct kymo_error local = {.code = KYMO_OK};
  int status = list ? KYMO_OK : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  for (size_t i = 0; i < count && status == KYMO_OK; i++) {
    list[i].path = paths[i];
    list[i].offset_ns = kymo_path_offset(trace, paths[i]);
    list[i].described = look_at_metadata(paths[i]);
    list[i].schema =
        kymo_metadata_load(trace, paths[i], kymo_trace_is_growing(trace), error ? error : &local);
    if (!list[i].schema && !kymo_trace_is_growing(trace))
      status = (error ? error : &local)->code;
    list[i].is_done = !list[i].schema; /* it may be described later */
  }
  for (size_t i = 0; i < count && status == KYMO_OK; i++)
    if (!list[i].is_done)
      status = add_part(trace, list + i, count - i, error);
  for (size_t i = 0; list && i < count; i++)
    kymo_schema_release(list[i].schema);
  free(list);
  return status;
}

/* ---- growing ---- */

static bool is_ctf(const struct kymo_part *part) { return strcmp(part->format, "ctf") == 0; }

static bool has_changed(const struct stat *before, const struct stat *now) {
  return before->st_size != now->st_size || before->st_ino != now->st_ino ||
         before->st_mtim.tv_sec != now->st_mtim.tv_sec || before->st_mtim.tv_nsec != now->st_mtim.tv_nsec;
}

static struct directory *find_directory(struct kymo_trace *trace, const char *path, struct kymo_part **part) {
  for (size_t i = 0; i < kymo_trace_part_count(trace); i++) {
    *part = kymo_trace_own_part(trace, i);
    struct directories *directories = is_ctf(*part) ? kymo_part_memory(*part) : NULL;
    for (size_t k = 0; directories && k < directories->count; k++)
      if (strcmp(directories->list[k].path, path) == 0)
        return &directories->list[k];
  }
  return NULL;
}

/* The part that this directory is a chunk of, or NULL. */
static struct kymo_part *find_part(struct kymo_trace *trace, const struct chunk_directory *chunk) {
  for (size_t i = 0; i < kymo_trace_part_count(trace); i++) {
    struct kymo_part *part = kymo_trace_own_part(trace, i);
    const struct directories *directories = is_ctf(part) ? kymo_part_memory(part) : NULL;
    struct chunk_directory like = {.schema = (struct kymo_schema *)(uintptr_t)part->schema};
    if (!directories)
      continue;
    like.offset_ns = directories->offset_ns;
    if (is_same_trace(&like, chunk))
      return part;
  }
  return NULL;
}

/* The part uses the schema if it describes more; takes ownership of the schema. A description that does not
 * continue the previous one is not used: events that only it describes are reported as damage when they are
 * read. */
static int describe_better(struct kymo_trace *trace, struct kymo_part *part, struct kymo_schema *schema,
                           struct kymo_error *error) {
  bool is_better =
      count_events(schema) > count_events(part->schema) || schema->stream_count > part->schema->stream_count;
  if (is_better && kymo_part_renew(trace, part, schema, error) == KYMO_E_MEMORY)
    return KYMO_E_MEMORY;
  if (!is_better)
    kymo_schema_release(schema);
  return KYMO_OK;
}

static void note_undescribed(struct kymo_trace *trace, const struct kymo_error *why) {
  char message[640];
  snprintf(message, sizeof message, "line %u, column %u: %s", why->line, why->column, why->message);
  struct kymo_damage damage = {.path = why->file,
                               .offset = why->offset,
                               .code = why->code,
                               .message = why->line ? message : why->message};
  kymo_trace_add_damage(trace, &damage);
}

/* A new directory: a part, a chunk of one, or (as long as its metadata is invalid) nothing yet. */
static int adopt(struct kymo_trace *trace, const char *path, struct kymo_error *error) {
  struct chunk_directory chunk = {
      .path = path, .offset_ns = kymo_path_offset(trace, path), .described = look_at_metadata(path)};
  struct kymo_error why;
  chunk.schema = kymo_metadata_load(trace, path, true, &why);
  if (!chunk.schema && why.code == KYMO_E_MEMORY)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (!chunk.schema && !kymo_trace_is_followed(trace)) /* there is no later time */
    note_undescribed(trace, &why);
  if (!chunk.schema)
    return KYMO_OK;
  struct kymo_part *part = find_part(trace, &chunk);
  int status;
  if (part) {
    part->path_count++;
    status = remember(trace, kymo_part_memory(part), &chunk, error);
    if (status == KYMO_OK)
      return describe_better(trace, part, chunk.schema, error);
  } else {
    status = add_part(trace, &chunk, 1, error);
  }
  kymo_schema_release(chunk.schema);
  return status;
}

static int describe_again(struct kymo_trace *trace, struct kymo_part *part, struct directory *directory,
                          struct kymo_error *error) {
  struct stat now = look_at_metadata(directory->path);
  struct kymo_error why;
  if (!has_changed(&directory->described, &now))
    return KYMO_OK;
  struct kymo_schema *schema = kymo_metadata_load(trace, directory->path, true, &why);
  if (!schema)
    return why.code == KYMO_E_MEMORY ? kymo_fail(error, KYMO_E_MEMORY, "out of memory") : KYMO_OK;
  directory->described = now;
  return describe_better(trace, part, schema, error);
}

/* Whether a file belongs to a stream already; the current path to it is the one to use. */
static bool is_in_stream(struct kymo_trace *trace, const struct kymo_stream *stream,
                         const struct file *file) {
  struct source *source = kymo_stream_source(stream);
  for (size_t i = 0; i < source->file_count; i++) {
    struct source_file *own = &source->files[i];
    if (own->device != file->device || own->inode != file->inode)
      continue;
    const char *path = strcmp(own->path, file->path) == 0 ? NULL : kymo_trace_copy_text(trace, file->path);
    own->path = path ? path : own->path;
    return true;
  }
  return false;
}

/* Keeps only the files that are in no stream yet. */
static void leave_new_ones(struct kymo_trace *trace, const struct kymo_part *part, struct files *files) {
  size_t kept = 0;
  for (size_t i = 0; i < files->count; i++) {
    bool is_new = true;
    for (size_t k = 0; is_new && k < part->stream_count; k++)
      is_new = !is_in_stream(trace, kymo_part_stream(trace, part, k), &files->list[i]);
    if (is_new)
      files->list[kept++] = files->list[i];
    else
      free(files->list[i].path);
  }
  files->count = kept;
}

/* Appends files of existing streams to these; keeps the others. */
static int continue_streams(struct kymo_trace *trace, struct kymo_part *part, struct files *files,
                            struct kymo_error *error) {
  size_t kept = 0;
  int status = KYMO_OK;
  for (size_t i = 0; i < files->count; i++) {
    struct file *file = &files->list[i];
    const struct kymo_stream *stream = NULL;
    for (uint32_t k = 0;
         !stream && file->is_known && file->peek.instance != UINT64_MAX && k < part->stream_count; k++) {
      const struct kymo_stream *one = kymo_part_stream(trace, part, k);
      stream = one->instance == file->peek.instance && one->class_ == file->peek.class_ ? one : NULL;
    }
    if (!stream) {
      files->list[kept++] = *file;
      continue;
    }
    kymo_stream_may_repeat(stream);
    if (status == KYMO_OK)
      status = append_file(trace, kymo_stream_source(stream), file, error);
    free(file->path);
  }
  files->count = kept;
  return status;
}

/* The time of a directory shows that a file was created in it or moved to it; but its resolution may be a
 * second. */
static bool is_to_be_listed(struct directory *directory) {
  struct stat now;
  if (stat(directory->path, &now) != 0)
    return false;
  if (!directory->is_pending && !has_changed(&directory->listed, &now) &&
      directory->listed.st_mtim.tv_sec + 1 < directory->listed_at)
    return false;
  directory->listed = now;
  directory->listed_at = time(NULL);
  directory->is_pending = false;
  return true;
}

static int grow_part(struct kymo_trace *trace, struct kymo_part *part, struct kymo_error *error) {
  struct directories *directories = kymo_part_memory(part);
  struct files files = {0};
  int status = KYMO_OK;
  for (size_t i = 0; i < directories->count && status == KYMO_OK; i++)
    if (is_to_be_listed(&directories->list[i]) &&
        list_files(directories->list[i].path, &files, error) == KYMO_E_MEMORY)
      status = KYMO_E_MEMORY;
  leave_new_ones(trace, part, &files);
  if (status == KYMO_OK)
    status = peek_files(trace, part, &files, error);
  if (status == KYMO_OK)
    status = continue_streams(trace, part, &files, error);
  for (size_t i = 0; i < files.count; i++)
    for (size_t k = 0; !files.list[i].is_known && k < directories->count; k++)
      directories->list[k].is_pending = true;
  if (status == KYMO_OK)
    status = add_streams(trace, part, &files, error);
  free_files(&files);
  return status;
}

static int ctf_grow(struct kymo_trace *trace, const char *const *paths, size_t count,
                    struct kymo_error *error) {
  int status = KYMO_OK;
  for (size_t i = 0; i < count && status == KYMO_OK; i++) {
    struct kymo_part *part;
    struct directory *directory = find_directory(trace, paths[i], &part);
    status = directory ? describe_again(trace, part, directory, error) : adopt(trace, paths[i], error);
  }
  for (size_t i = 0; i < kymo_trace_part_count(trace) && status == KYMO_OK; i++)
    if (is_ctf(kymo_trace_own_part(trace, i)))
      status = grow_part(trace, kymo_trace_own_part(trace, i), error);
  return status;
}

const struct kymo_format kymo_format_ctf = {
    .name = "ctf",
    .summary = "Common Trace Format: LTTng, barectf, babeltrace, kymo and others",
    .probe = ctf_probe,
    .open = ctf_open,
    .grow = ctf_grow,
};
