/* SPDX-License-Identifier: MIT */
/*
 * What an index is of. It is used while all of this is as it was:
 *
 *   name     the real paths in their order, the options, and what a track is: they choose the file in the
 *            cache, so all spellings of a path have one index
 *   files    device, inode, size and times of each file below the paths. A trace that was copied, moved or
 *            replaced has other ones; one that was overwritten has another time of change, which cannot be
 *            set. And a sample of its bytes, since a file that is longer now may have grown, or have been
 *            overwritten
 *   reading  the schemas by which the trace is read. They come from metadata, C headers beside a Gist log,
 *            descriptions that are installed or named: whichever file changes, they change if it matters.
 *            And the names of files that tracks may have, and the order of the parts
 */
#include "view/state.h"
#include "base/cache.h"
#include "base/list.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <kymo/info.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { DEPTH_MAX = 64, TICK_MS = 50 };

/* ---- samples ---- */

/* Both ends of a file, and places between them; of all further files of a large trace, their ends. */
enum { SAMPLE_BYTES = 4096, SAMPLE_PLACES = 16, SAMPLED_WELL = 256 };

/* The hash of some of the first `size` bytes of a file, which is the number `file` of the trace; 0: it cannot
 * be read. Of up to SAMPLE_PLACES * SAMPLE_BYTES it is of all of them. To read more would take as long as to
 * index. */
static uint64_t sample_of(const char *path, uint64_t size, size_t file) {
  uint8_t bytes[SAMPLE_BYTES];
  uint64_t sample = 1, last = size > sizeof bytes ? size - sizeof bytes : 0,
           steps = file < SAMPLED_WELL ? SAMPLE_PLACES - 1 : 1;
  int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0)
    return 0;
  for (uint64_t i = 0; i <= steps; i++) {
    uint64_t at = last / steps * i + last % steps * i / steps, most = size - at;
    ssize_t count = pread(fd, bytes, most < sizeof bytes ? (size_t)most : sizeof bytes, (off_t)at);
    sample = kymo_hash64(bytes, count > 0 ? (size_t)count : 0, sample);
  }
  close(fd);
  return sample;
}

/* ---- files ---- */

/* What is below a path, in the order of names. As for the reader, links lead to what they name. */
struct below {
  struct view_identity *identity;
  const struct view_identity *then; /* or NULL: what is longer now is sampled as far as it was then */
  struct folder {
    uint64_t device, inode;
  } * visited; /* links may lead round in circles */
  size_t visited_count, visited_capacity;
  unsigned depth;
  bool failed;
};

static bool is_below(const char *path, const char *folder) { return strstr(path, folder) != NULL; }

/* The sample of the next file, in comparison with the one then. Times say whether one of the same size is the
 * same. */
static uint64_t sample_now(const struct below *below, const char *path, uint64_t size) {
  size_t file = below->identity->file_count;
  if (!below->then)
    return sample_of(path, size, file);
  if (file >= below->then->file_count)
    return 0;
  const struct view_file *then = &below->then->files[file];
  return then->size < size ? sample_of(path, then->size, file) : then->sample;
}

static void add_file(struct below *below, const char *path, const struct stat *info) {
  struct view_identity *identity = below->identity;
  if (is_below(path, "/.kymo/index")) /* reading the trace makes it */
    return;
  if (!KYMO_LIST_ROOM(identity->files, identity->file_capacity, identity->file_count)) {
    below->failed = true;
    return;
  }
  identity->bytes += is_below(path, "/.kymo/") ? 0 : (uint64_t)info->st_size;
  const struct view_file file = {.name = kymo_hash128(path, strlen(path), 0),
                                 .device = (uint64_t)info->st_dev,
                                 .inode = (uint64_t)info->st_ino,
                                 .size = (uint64_t)info->st_size,
                                 .sample = sample_now(below, path, (uint64_t)info->st_size),
                                 .written_s = info->st_mtim.tv_sec,
                                 .written_ns = info->st_mtim.tv_nsec,
                                 .changed_s = info->st_ctim.tv_sec,
                                 .changed_ns = info->st_ctim.tv_nsec};
  identity->files[identity->file_count++] = file;
}

static bool is_visited(struct below *below, const struct stat *info) {
  const struct folder folder = {(uint64_t)info->st_dev, (uint64_t)info->st_ino};
  for (size_t i = 0; i < below->visited_count; i++)
    if (below->visited[i].device == folder.device && below->visited[i].inode == folder.inode)
      return true;
  if (KYMO_LIST_ROOM(below->visited, below->visited_capacity, below->visited_count))
    below->visited[below->visited_count++] = folder;
  else
    below->failed = true;
  return below->failed;
}

static void add_entry(struct below *below, const char *path);

static void add_folder(struct below *below, const char *path) {
  struct dirent **names = NULL;
  int count = below->depth < DEPTH_MAX ? scandir(path, &names, NULL, alphasort) : -1;
  below->failed |= count < 0;
  below->depth++;
  for (int i = 0; i < count; i++) {
    struct kymo_strbuf whole = {0};
    if (strcmp(names[i]->d_name, ".") != 0 && strcmp(names[i]->d_name, "..") != 0) {
      kymo_strbuf_printf(&whole, "%s/%s", path, names[i]->d_name);
      below->failed |= whole.failed;
      if (!whole.failed)
        add_entry(below, whole.text);
    }
    kymo_strbuf_free(&whole);
    free(names[i]);
  }
  below->depth--;
  free(names);
}

static void add_entry(struct below *below, const char *path) {
  struct stat info;
  if (stat(path, &info) != 0)
    below->failed |= errno != ENOENT && errno != ELOOP; /* a link that leads nowhere */
  else if (S_ISREG(info.st_mode))
    add_file(below, path, &info);
  else if (S_ISDIR(info.st_mode) && !is_visited(below, &info))
    add_folder(below, path);
}

/* A pipe or a process is not there the next time. */
static bool can_be_read_again(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && (S_ISDIR(info.st_mode) || S_ISREG(info.st_mode));
}

static void name_it(const struct view *view, struct view_identity *identity, const struct kymo_strbuf *what) {
  char folder[sizeof identity->path - 32];
  if (view->options.is_kept && kymo_cache_folder(folder, sizeof folder))
    snprintf(identity->path, sizeof identity->path, "%s/view-%016" PRIx64, folder,
             kymo_hash64(what->text, what->length, 0));
}

static void identify(const struct view *view, struct view_identity *identity,
                     const struct view_identity *then) {
  struct kymo_strbuf what = {0};
  struct below below = {.identity = identity, .then = then};
  *identity = (struct view_identity){.path = ""};
  kymo_strbuf_printf(&what, "%d %s\n%s\n", (int)view->options.by, view->field ? view->field : "",
                     view->identity_text);
  for (size_t i = 0; i < view->options.path_count && !below.failed; i++) {
    char *whole = realpath(view->paths[i], NULL);
    below.failed = !whole || !can_be_read_again(whole);
    if (!below.failed) {
      kymo_strbuf_printf(&what, "%s\n", whole);
      add_entry(&below, whole);
    }
    free(whole);
  }
  identity->is_known = !below.failed && !what.failed && !view->options.is_live;
  identity->bytes = below.failed ? 0 : identity->bytes;
  if (identity->is_known)
    name_it(view, identity, &what);
  kymo_strbuf_free(&what);
  free(below.visited);
}

void view_identify(const struct view *view, struct view_identity *identity) {
  identify(view, identity, NULL);
}

void view_identity_free(struct view_identity *identity) {
  free(identity->files);
  *identity = (struct view_identity){.path = ""};
}

/* ---- changes within one tick ---- */

/* Times of change have the resolution of the clock's ticks, or of the file system. False: the file may change
 * once more without another time. */
static bool is_past(const struct view_file *file) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  int64_t whole_s = file->changed_ns ? 0 : 2; /* a file system of seconds, or of two */
  return now.tv_sec > file->changed_s + whole_s ||
         (!whole_s && now.tv_sec == file->changed_s && now.tv_nsec > file->changed_ns);
}

static bool are_past(const struct view_identity *identity) {
  for (size_t i = 0; i < identity->file_count; i++)
    if (!is_past(&identity->files[i]))
      return false;
  return true;
}

void view_identify_settled(const struct view *view, struct view_identity *identity) {
  view_identify(view, identity);
  if (!identity->is_known || are_past(identity))
    return;
  for (int i = 0; i < TICK_MS && !are_past(identity); i++)
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  view_identity_free(identity);
  view_identify(view, identity);
  if (!are_past(identity))
    *identity->path = 0;
}

/* ---- reading ---- */

static int by_path(const void *a, const void *b) {
  const struct kymo_part *const *x = a, *const *y = b;
  return strcmp((*x)->path, (*y)->path);
}

/* Events of equal times are in the order of the paths of their parts, as they are spelled. False: no
 * memory. */
static bool add_order(struct kymo_strbuf *text, struct kymo_trace *trace) {
  size_t count = kymo_trace_part_count(trace);
  const struct kymo_part **parts = calloc(count + 1, sizeof(struct kymo_part *));
  for (size_t i = 0; i < count && parts; i++)
    parts[i] = kymo_trace_part(trace, i);
  if (parts)
    qsort(parts, count, sizeof(struct kymo_part *), by_path);
  for (size_t i = 0; i < count && parts; i++)
    kymo_strbuf_printf(text, "%" PRIu32 " ", parts[i]->index);
  free(parts);
  return parts;
}

static const char *last_of(const char *path) {
  const char *slash = path ? strrchr(path, '/') : NULL;
  return slash ? slash + 1 : path ? path : "";
}

static bool add_part(struct kymo_strbuf *text, const struct kymo_trace *trace, const struct kymo_part *part) {
  uint8_t *bytes;
  size_t size;
  if (!part->schema || kymo_registry_write(part->schema, &bytes, &size, NULL) != KYMO_OK)
    return false;
  struct kymo_hash128 hash = kymo_hash128(bytes, size, 0);
  free(bytes);
  kymo_strbuf_printf(text, "\n%s %016" PRIx64 "%016" PRIx64, part->format, hash.high, hash.low);
  for (uint32_t i = 0; i < part->stream_count; i++)
    kymo_strbuf_printf(text, "\n %s", last_of(kymo_part_stream(trace, part, i)->path));
  return true;
}

bool view_reading(struct kymo_trace *trace, struct kymo_hash128 *reading) {
  struct kymo_strbuf text = {0};
  bool is_known = add_order(&text, trace);
  for (size_t i = 0; i < kymo_trace_part_count(trace) && is_known; i++)
    is_known = add_part(&text, trace, kymo_trace_part(trace, i));
  kymo_strbuf_printf(&text, "\n%s", KYMO_VERSION);
  is_known &= !text.failed;
  if (is_known)
    *reading = kymo_hash128(text.text, text.length, 0);
  kymo_strbuf_free(&text);
  return is_known;
}

bool view_is_ring(const struct kymo_trace *trace) {
  for (size_t i = 0; i < kymo_trace_part_count(trace); i++)
    if (strcmp(kymo_trace_part(trace, i)->format, "ring") == 0)
      return true;
  return false;
}

struct kymo_hash128 view_hash_of(const struct view_identity *identity) {
  struct kymo_hash128 hash =
      kymo_hash128(identity->files, identity->file_count * sizeof *identity->files, identity->reading.low);
  hash.high ^= identity->reading.high;
  return hash;
}

/* ---- comparing ---- */

static bool is_same_time(const struct view_file *then, const struct view_file *now) {
  return then->written_s == now->written_s && then->written_ns == now->written_ns &&
         then->changed_s == now->changed_s && then->changed_ns == now->changed_ns;
}

static enum view_change compare(const struct view_identity *then, const struct view_identity *now) {
  enum view_change change = VIEW_SAME;
  if (then->file_count != now->file_count)
    return VIEW_OTHER;
  for (size_t i = 0; i < then->file_count; i++) {
    const struct view_file *a = &then->files[i], *b = &now->files[i];
    if (a->name.high != b->name.high || a->name.low != b->name.low || a->device != b->device ||
        a->inode != b->inode || a->sample != b->sample || a->size > b->size ||
        (a->size == b->size && !is_same_time(a, b)))
      return VIEW_OTHER;
    change = a->size < b->size ? VIEW_GROWN : change;
  }
  return change;
}

enum view_change view_change_of(const struct view *view, struct kymo_trace *trace) {
  struct view_identity now;
  struct kymo_hash128 reading = {0, 0};
  enum view_change change = VIEW_SAME;
  if (!view->identity.is_known)
    return VIEW_SAME;
  identify(view, &now, &view->identity);
  change = now.is_known ? compare(&view->identity, &now) : VIEW_GONE;
  /* the schemas of formats without metadata come from the events too */
  if (trace && change == VIEW_SAME && view_reading(trace, &reading) &&
      (reading.high != view->identity.reading.high || reading.low != view->identity.reading.low))
    change = VIEW_OTHER;
  view_identity_free(&now);
  return change;
}
