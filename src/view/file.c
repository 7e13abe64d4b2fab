/* SPDX-License-Identifier: MIT */
/*
 * Where indexes are kept: `kymo/view-HASH` in the user's cache, by the paths and options.
 *
 *   head · blocks and leaves (series.h) · catalog (catalog.c)
 *
 * An index is taken if it is a regular file of the user's own that no other user may write, of the files
 * of the trace as they are now, with a whole catalog; and if the first events of the trace agree with it.
 * The rest is checked where it is first looked at (view_trust), and all of it while nothing else is to be
 * done. A file is made without a name, which it gets
 * when it is whole.
 */
#include "view/state.h"
#include "base/bytes.h"
#include "base/fail.h"
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PROBED_EVENTS = 256, DEPTH_MAX = 64 };

struct head {
  char magic[8];
  uint64_t version; /* of this layout, and of the machine's byte order */
  uint64_t files[2];
  uint64_t catalog, catalog_bytes, catalog_hash;
  uint64_t unused;
};
static const char magic[8] = "KYMOVIEW";
static const uint64_t version = 5;

/* ---- what the index is of ---- */

/* What is below a path, in the order of names. Links below it are not followed. */
struct below {
  struct kymo_strbuf *text;
  uint64_t *bytes;
  unsigned depth;
};

static void add_file(const struct below *below, const char *path, const struct stat *info) {
  if (strstr(path, "/.kymo/index")) /* reading the trace makes it */
    return;
  *below->bytes += strstr(path, "/.kymo/") ? 0 : (uint64_t)info->st_size;
  kymo_strbuf_printf(below->text, "%s %" PRIu64 " %" PRIu64, path, (uint64_t)info->st_ino,
                     (uint64_t)info->st_size);
  /* that of the content can be set (touch -r, cp -p), that of the status cannot */
  const struct timespec times[] = {info->st_mtim, info->st_ctim};
  for (size_t i = 0; i < 2; i++)
    kymo_strbuf_printf(below->text, " %lld.%09ld", (long long)times[i].tv_sec, times[i].tv_nsec);
  kymo_strbuf_printf(below->text, "\n");
}

static void add_files(const struct below *below, const char *path);

static void add_folder(const struct below *below, const char *path) {
  const struct below deeper = {below->text, below->bytes, below->depth + 1};
  struct dirent **names = NULL;
  int count = below->depth < DEPTH_MAX ? scandir(path, &names, NULL, alphasort) : -1;
  below->text->failed |= count < 0;
  for (int i = 0; i < count; i++) {
    struct kymo_strbuf whole = {0};
    if (strcmp(names[i]->d_name, ".") != 0 && strcmp(names[i]->d_name, "..") != 0) {
      kymo_strbuf_printf(&whole, "%s/%s", path, names[i]->d_name);
      below->text->failed |= whole.failed;
      if (!whole.failed)
        add_files(&deeper, whole.text);
    }
    kymo_strbuf_free(&whole);
    free(names[i]);
  }
  free(names);
}

static void add_files(const struct below *below, const char *path) {
  struct stat info;
  if (lstat(path, &info) != 0)
    below->text->failed = true;
  else if (S_ISDIR(info.st_mode))
    add_folder(below, path);
  else if (S_ISREG(info.st_mode))
    add_file(below, path, &info);
}

enum { FOLDER_BYTES = 4000 };

static bool find_folder(char folder[FOLDER_BYTES]) {
  const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  int length = cache && *cache == '/' ? snprintf(folder, FOLDER_BYTES, "%s/kymo", cache)
               : home && *home == '/' ? snprintf(folder, FOLDER_BYTES, "%s/.cache/kymo", home)
                                      : FOLDER_BYTES;
  return length < FOLDER_BYTES;
}

/* Makes the folder and the one above. */
static bool make_folder(char *folder) {
  char *last = strrchr(folder, '/');
  if (mkdir(folder, 0700) == 0 || access(folder, W_OK | X_OK) == 0)
    return true;
  *last = 0;
  mkdir(folder, 0700);
  *last = '/';
  return mkdir(folder, 0700) == 0;
}

void view_identify(struct view *view) {
  struct kymo_strbuf what = {0}, files = {0};
  char folder[FOLDER_BYTES];
  view->identity = (struct view_identity){.path = ""};
  kymo_strbuf_printf(&what, "%d %s\n%s\n", (int)view->options.by, view->field ? view->field : "",
                     view->identity_text);
  for (size_t i = 0; i < view->options.path_count; i++) {
    char *whole = realpath(view->paths[i], NULL);
    kymo_strbuf_printf(&what, "%s\n", whole ? whole : view->paths[i]);
    if (whole)
      add_files(&(struct below){&files, &view->identity.bytes, 0}, whole);
    else
      files.failed = true, view->identity.bytes = 0; /* a pipe, a process: it is not there the next time */
    free(whole);
  }
  kymo_strbuf_printf(&files, "%s", KYMO_VERSION);
  if (!files.failed && !view->options.is_live)
    view->identity.files = kymo_hash128(files.text, files.length, version);
  if (!what.failed && !files.failed && view->options.is_kept && !view->options.is_live &&
      find_folder(folder)) {
    snprintf(view->identity.path, sizeof view->identity.path, "%s/view-%016" PRIx64, folder,
             kymo_hash64(what.text, what.length, version));
  }
  kymo_strbuf_free(&what);
  kymo_strbuf_free(&files);
}

static bool is_known(const struct kymo_hash128 *files) { return files->high || files->low; }

bool view_has_changed(struct view *view) {
  const struct view_identity before = view->identity;
  view_identify(view);
  const struct kymo_hash128 now = view->identity.files;
  view->identity = before;
  return is_known(&before.files) && is_known(&now) &&
         (now.high != before.files.high || now.low != before.files.low);
}

/* ---- taking ---- */

static int open_kept(const char *path) {
  struct stat info;
  int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  bool is_ours = fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
                 (info.st_mode & 022) == 0;
  if (fd >= 0 && !is_ours)
    close(fd);
  return is_ours ? fd : -1;
}

static bool read_head(struct view *view, struct head *head) {
  const struct view_store *store = &view->store;
  if (store->mapped < sizeof *head)
    return false;
  memcpy(head, store->base, sizeof *head);
  return memcmp(head->magic, magic, sizeof magic) == 0 && head->version == version &&
         head->files[0] == view->identity.files.high && head->files[1] == view->identity.files.low &&
         head->catalog >= sizeof *head && head->catalog <= store->mapped &&
         head->catalog_bytes <= store->mapped - head->catalog &&
         head->catalog_hash == kymo_hash64(store->base + head->catalog, (size_t)head->catalog_bytes, version);
}

/* Whether an event is what the index says it is; `at`: how many events each track had before. */
static bool is_as_indexed(struct view *view, const struct kymo_event *event, const struct view_place *place) {
  const struct view_track *track = place->track < view->track_count ? &view->tracks[place->track] : NULL;
  if (!track || place->kind >= view->kind_count ||
      (place->new_track && strcmp(place->new_track, track->name) != 0) ||
      (place->new_kind && strcmp(place->new_kind, view->kinds[place->kind].name) != 0))
    return false;
  int64_t time_ns = event->has_time ? event->time_ns : INT64_MIN;
  if (!view_trust_times(view, &track->events, time_ns, time_ns))
    return false;
  uint64_t at = event->has_time ? view_series_find(&track->events, &view->store, time_ns, 0) : 0;
  for (; at < track->events.count; at++) {
    if (!view_trust(view, &track->events, at, at + 1))
      return false;
    struct view_entry entry = view_series_get(&track->events, &view->store, at);
    if (event->has_time && entry.time_ns > time_ns)
      return false;
    if (entry.value == event->number)
      return entry.code == place->kind;
  }
  return false;
}

/* Compares the first events of the trace with the index. */
static bool probe(struct view *view) {
  struct kymo_trace *trace;
  struct view_tracker tracker;
  struct kymo_batch batch;
  if (view->options.open(view->options.user, false, &trace, NULL) != KYMO_OK)
    return false;
  bool is_same = view_tracker_begin(&tracker, trace, view->options.by, view->field, NULL) == KYMO_OK;
  uint64_t seen = 0;
  for (int status = KYMO_OK; is_same && status == KYMO_OK && seen < PROBED_EVENTS;) {
    struct view_place place;
    status = kymo_trace_next_batch(trace, &batch, NULL);
    for (size_t i = 0; i < batch.count && is_same; i++, seen++)
      is_same = view_tracker_find(&tracker, batch.events[i], &place) == KYMO_OK &&
                is_as_indexed(view, batch.events[i], &place);
    is_same = is_same && status >= KYMO_OK && (status != KYMO_END || seen == view->events);
  }
  view_tracker_end(&tracker);
  kymo_trace_close(trace);
  return is_same && !view->is_wrong;
}

int view_load(struct view *view) {
  struct head head;
  int fd = *view->identity.path ? open_kept(view->identity.path) : -1;
  if (fd < 0 || view_store_map(&view->store, fd, NULL) != KYMO_OK)
    return KYMO_E_ABSENT;
  if (!read_head(view, &head))
    return KYMO_E_ABSENT;
  view->store.used = head.catalog;
  if (!view_catalog_read(view, view->store.base + head.catalog, (size_t)head.catalog_bytes) || !probe(view))
    return KYMO_E_ABSENT;
  view->is_complete = view->is_from_cache = true;
  return KYMO_OK;
}

/* ---- keeping ---- */

int view_new_store(struct view *view, struct kymo_error *error) {
  char folder[FOLDER_BYTES];
  int fd = -1;
  if (*view->identity.path && find_folder(folder) && make_folder(folder))
    fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0)
    *view->identity.path = 0;
  int status =
      fd >= 0 ? view_store_begin(&view->store, fd, error) : view_store_temporary(&view->store, error);
  if (status == KYMO_OK && view_store_add(&view->store, sizeof(struct head)) == UINT64_MAX)
    status = kymo_fail(error, KYMO_E_SYSTEM, "no space for the index");
  return status;
}

/* Gives the file its name, in place of an older one. */
static bool name_file(const struct view *view) {
  char from[64], other[sizeof view->identity.path + 32];
  snprintf(from, sizeof from, "/proc/self/fd/%d", view->store.fd);
  snprintf(other, sizeof other, "%s.%ld", view->identity.path, (long)getpid());
  unlink(other);
  if (linkat(AT_FDCWD, from, AT_FDCWD, other, AT_SYMLINK_FOLLOW) != 0)
    return false;
  if (rename(other, view->identity.path) == 0)
    return true;
  unlink(other);
  return false;
}

void view_keep(struct view *view) {
  struct kymo_strbuf catalog = {0};
  const struct view_identity before = view->identity;
  if (!*view->identity.path)
    return;
  view_identify(view); /* a trace that has grown or changed meanwhile is another one */
  bool is_same =
      view->identity.files.high == before.files.high && view->identity.files.low == before.files.low;
  view_catalog_write(view, &catalog);
  uint64_t used = view->store.used,
           at = is_same && !catalog.failed ? view_store_add(&view->store, catalog.length) : UINT64_MAX;
  if (at != UINT64_MAX) {
    struct head head = {.version = version,
                        .files = {before.files.high, before.files.low},
                        .catalog = at,
                        .catalog_bytes = catalog.length,
                        .catalog_hash = kymo_hash64(catalog.text, catalog.length, version)};
    memcpy(head.magic, magic, sizeof magic);
    memcpy(view->store.base + at, catalog.text, catalog.length);
    memcpy(view->store.base, &head, sizeof head);
    if (view_store_shrink(&view->store))
      name_file(view);
  }
  view->store.used = used;
  kymo_strbuf_free(&catalog);
}
