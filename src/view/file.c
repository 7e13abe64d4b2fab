/* SPDX-License-Identifier: MIT */
/*
 * Indexes that are kept: `view-HASH` in the user's cache (kept.h), by what they are of (identity.c).
 *
 *   head · blocks and leaves (series.h) · catalog (catalog.c)
 *
 * An index is taken if it is a regular file of the user's own that no other user may write, of the files
 * of the trace as they are now and as they are read now, with a whole catalog; and if the first events of the
 * trace agree with it. The rest is checked where it is first looked at (view_trust), and all of it while
 * nothing else is to be done. A file is made without a name, which it gets when it is whole.
 */
#include "view/state.h"
#include "base/bytes.h"
#include "base/cache.h"
#include "base/fail.h"
#include "view/kept.h"
#include <fcntl.h>
#include <kymo/info.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PROBED_EVENTS = 256 };

struct head {
  char magic[8];
  uint64_t version; /* of this layout, and of the machine's byte order */
  uint64_t identity[2];
  uint64_t catalog, catalog_bytes, catalog_hash;
  uint64_t unused;
};
static const char magic[8] = "KYMOVIEW";
static const uint64_t version = 7;

/* ---- taking ---- */

static int open_kept(const char *path) {
  struct stat info;
  int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  bool is_ours = fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
                 (info.st_mode & 022) == 0 && view_kept_use(fd);
  if (fd >= 0 && !is_ours)
    close(fd);
  return is_ours ? fd : -1;
}

static bool read_head(struct view *view, struct head *head) {
  const struct view_store *store = &view->store;
  const struct kymo_hash128 hash = view_hash_of(&view->identity);
  if (store->mapped < sizeof *head)
    return false;
  memcpy(head, store->base, sizeof *head);
  return memcmp(head->magic, magic, sizeof magic) == 0 && head->version == version &&
         head->identity[0] == hash.high && head->identity[1] == hash.low && head->catalog >= sizeof *head &&
         head->catalog <= store->mapped && head->catalog_bytes <= store->mapped - head->catalog &&
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
static bool probe(struct view *view, struct kymo_trace *trace) {
  struct view_tracker tracker;
  struct kymo_batch batch;
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
  return is_same && !view->is_wrong;
}

/* Replaces the path of a part, or the begin of a path in it. False: no memory. */
static bool respell_one(char **path, const char *then, const char *now) {
  size_t length = strlen(then);
  struct kymo_strbuf text = {0};
  if (strncmp(*path, then, length) != 0 || ((*path)[length] && (*path)[length] != '/'))
    return true;
  kymo_strbuf_printf(&text, "%s%s", now, *path + length);
  if (text.failed)
    return kymo_strbuf_free(&text), false;
  free(*path);
  *path = text.text;
  return true;
}

/* Paths are shown as they are spelled this time. False: there are other parts, or no memory. */
static bool respell(struct view *view, const struct kymo_trace *trace) {
  bool is_done = view->part_count == kymo_trace_part_count(trace);
  for (uint32_t i = 0; i < view->part_count && is_done; i++) {
    const char *now = kymo_trace_part(trace, i)->path;
    bool is_other = strcmp(now, view->parts[i]) != 0;
    for (size_t k = 0; k < view->problem_count && is_done && is_other; k++)
      is_done = respell_one(&view->problems[k].path, view->parts[i], now);
    is_done = is_done && respell_one(&view->parts[i], view->parts[i], now);
  }
  return is_done;
}

/* False: it is not sound, or of something else; the view then is half full. */
static bool load(struct view *view, int fd, struct kymo_trace *trace) {
  struct head head;
  if (!view_reading(trace, &view->identity.reading)) {
    close(fd);
    return false;
  }
  if (view_store_map(&view->store, fd, NULL) != KYMO_OK || !read_head(view, &head))
    return false;
  view->store.used = head.catalog;
  view->is_complete = view->is_from_cache =
      view_catalog_read(view, view->store.base + head.catalog, (size_t)head.catalog_bytes) &&
      respell(view, trace) && probe(view, trace);
  return view->is_complete;
}

int view_load(struct view *view, struct kymo_error *error) {
  struct kymo_trace *trace;
  int fd = *view->identity.path ? open_kept(view->identity.path) : -1;
  if (fd < 0)
    return KYMO_END;
  int status = view->options.open(view->options.user, false, &trace, error);
  if (status != KYMO_OK) {
    close(fd);
    return status;
  }
  bool is_loaded = load(view, fd, trace);
  kymo_trace_close(trace);
  return is_loaded ? KYMO_OK : KYMO_END;
}

/* ---- keeping ---- */

/* The folder of the file in which the index is kept. False: there is none. */
static bool find_folder(const struct view *view, char folder[sizeof view->identity.path]) {
  const char *last = strrchr(view->identity.path, '/');
  if (!last)
    return false;
  memcpy(folder, view->identity.path, (size_t)(last - view->identity.path));
  folder[last - view->identity.path] = 0;
  return true;
}

int view_new_store(struct view *view, struct kymo_error *error) {
  char folder[sizeof view->identity.path];
  int fd = -1;
  if (find_folder(view, folder) && kymo_cache_make(folder))
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

/* Writes what is not in the blocks. False: there is no space. */
static bool write_rest(struct view *view) {
  struct kymo_strbuf catalog = {0};
  const struct kymo_hash128 hash = view_hash_of(&view->identity);
  view_catalog_write(view, &catalog);
  uint64_t used = view->store.used,
           at = !catalog.failed ? view_store_add(&view->store, catalog.length) : UINT64_MAX;
  bool is_written = at != UINT64_MAX;
  if (is_written) {
    struct head head = {.version = version,
                        .identity = {hash.high, hash.low},
                        .catalog = at,
                        .catalog_bytes = catalog.length,
                        .catalog_hash = kymo_hash64(catalog.text, catalog.length, version)};
    memcpy(head.magic, magic, sizeof magic);
    memcpy(view->store.base + at, catalog.text, catalog.length);
    memcpy(view->store.base, &head, sizeof head);
    is_written = view_store_shrink(&view->store);
  }
  view->store.used = used;
  kymo_strbuf_free(&catalog);
  return is_written;
}

void view_keep(struct view *view) {
  char folder[sizeof view->identity.path];
  uint64_t most = view->options.kept_most ? view->options.kept_most : VIEW_KEPT_MOST;
  /* a trace that has grown or changed meanwhile is another one */
  bool is_kept = find_folder(view, folder) && view_change_of(view, view->build->trace) == VIEW_SAME &&
                 write_rest(view) && view->store.mapped <= most && view_kept_use(view->store.fd);
  if (is_kept) {
    view_store_guard(&view->store);
    is_kept = name_file(view);
  }
  if (is_kept)
    view_kept_trim(folder, most);
  else
    *view->identity.path = 0;
}
