/* SPDX-License-Identifier: MIT */
#include "ring/pools.h"
#include "base/list.h"
#include "base/path.h"
#include "ring/ring.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPEN_DIRECTORY = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC };

/* The files in a pool's directory. The rings are removed last, so that an unfinished removal is found
 * again. */
static const char *const hidden_files[] = {KYMO_HIDDEN_REGISTRY, KYMO_HIDDEN_CLOCKS, KYMO_HIDDEN_MODULES};
static const char *const files[] = {KYMO_POOL_METADATA, KYMO_POOL_FILE};
enum { HIDDEN_FILES = sizeof hidden_files / sizeof *hidden_files, FILES = sizeof files / sizeof *files };

/* ---- removing ---- */

static bool is_directory_of(int fd, uid_t owner) {
  struct stat st;
  return !fstat(fd, &st) && S_ISDIR(st.st_mode) && st.st_uid == owner;
}

static void empty(int directory, uid_t owner) {
  int hidden = openat(directory, KYMO_HIDDEN, OPEN_DIRECTORY);
  for (size_t i = 0; i < HIDDEN_FILES && hidden >= 0 && is_directory_of(hidden, owner); i++)
    unlinkat(hidden, hidden_files[i] + sizeof KYMO_HIDDEN, 0);
  if (hidden >= 0)
    close(hidden);
  unlinkat(directory, KYMO_HIDDEN, AT_REMOVEDIR);
  for (size_t i = 0; i < FILES; i++)
    unlinkat(directory, files[i], 0);
}

bool kymo_pool_remove(const struct kymo_pool_seen *seen) {
  empty(seen->directory, seen->owner);
  return !unlinkat(seen->parent, seen->name, AT_REMOVEDIR);
}

void kymo_pool_delete(const char *directory) {
  struct stat st;
  int fd = open(directory, OPEN_DIRECTORY);
  if (fd < 0)
    return;
  bool is_ours = !fstat(fd, &st) && (st.st_uid == geteuid() || !geteuid());
  if (is_ours)
    empty(fd, st.st_uid);
  close(fd);
  if (is_ours)
    rmdir(directory);
}

/* ---- looking ---- */

static bool is_newer(const struct timespec *a, const struct timespec *b) {
  return a->tv_sec == b->tv_sec ? a->tv_nsec > b->tv_nsec : a->tv_sec > b->tv_sec;
}

static void add_file(struct kymo_pool_seen *seen, const struct stat *st) {
  seen->bytes += (uint64_t)st->st_blocks * 512;
  if (is_newer(&st->st_mtim, &seen->changed))
    seen->changed = st->st_mtim;
}

/* A reader has the lock of readers that release packets. */
static bool has_reader(int fd) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  return !fcntl(fd, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK;
}

static bool read_header(struct kymo_pool_seen *seen, int fd) {
  struct kymo_pool_view view;
  struct stat st;
  if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != seen->owner ||
      pread(fd, &seen->header, sizeof seen->header, 0) != (ssize_t)sizeof seen->header ||
      kymo_pool_check(&view, &seen->header, (uint64_t)st.st_size, "", NULL))
    return false;
  add_file(seen, &st);
  seen->life = kymo_life_of(&seen->header, fd);
  seen->is_recorded = has_reader(fd);
  return true;
}

/* The other files in the pool's directory. */
static void look_beside(struct kymo_pool_seen *seen) {
  struct stat st;
  if (!fstatat(seen->directory, KYMO_POOL_METADATA, &st, AT_SYMLINK_NOFOLLOW))
    add_file(seen, &st);
  if (!fstatat(seen->directory, KYMO_HIDDEN, &st, AT_SYMLINK_NOFOLLOW) &&
      (!S_ISDIR(st.st_mode) || st.st_uid != seen->owner))
    seen->odd = "its " KYMO_HIDDEN " is no directory of the same owner";
}

/* Whether `seen->directory` is a pool that the caller may remove. */
static bool look_at(struct kymo_pool_seen *seen) {
  struct stat st;
  if (fstat(seen->directory, &st) || !S_ISDIR(st.st_mode) || (st.st_uid != geteuid() && geteuid()))
    return false;
  seen->owner = st.st_uid;
  seen->device = (uint64_t)st.st_dev;
  seen->inode = (uint64_t)st.st_ino;
  seen->changed = st.st_mtim;
  seen->bytes = 0;
  seen->odd = NULL;
  /* the type first: opening a device may have side effects */
  if (fstatat(seen->directory, KYMO_POOL_FILE, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
    return false;
  int fd = openat(seen->directory, KYMO_POOL_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  bool is_pool = fd >= 0 && read_header(seen, fd);
  if (fd >= 0)
    close(fd);
  if (is_pool)
    look_beside(seen);
  return is_pool;
}

/* ---- visiting ---- */

struct visit {
  kymo_pool_visitor *visitor;
  void *user;
  bool is_over, is_recorded, is_met; /* is_met: the directory had pools */
};

/* Visits a pool that may be visited; true if it was a pool. */
static bool visit_one(struct visit *visit, struct kymo_pool_seen *seen) {
  if (!look_at(seen))
    return false;
  seen->is_recorded = seen->is_recorded || visit->is_recorded;
  visit->is_met = true;
  visit->is_over = !visit->visitor(visit->user, seen);
  return true;
}

static void visit_in(struct visit *visit, int directory, const char *path, bool deep);

static void visit_entry(struct visit *visit, int parent, const char *path, const char *name, bool deep) {
  struct kymo_pool_seen seen = {.name = name, .parent = parent};
  if (!kymo_path_join(seen.path, sizeof seen.path, path, name))
    return;
  seen.directory = openat(parent, name, OPEN_DIRECTORY);
  if (seen.directory < 0)
    return;
  if (!visit_one(visit, &seen) && deep) {
    visit->is_recorded = kymo_life_by_lock(seen.directory) != KYMO_LIFE_DEAD;
    visit->is_met = false;
    visit_in(visit, seen.directory, seen.path, false);
    if (visit->is_met && !visit->is_recorded)
      unlinkat(parent, name, AT_REMOVEDIR); /* if it is empty now */
    visit->is_recorded = false;
  }
  close(seen.directory);
}

/* Only directories are opened: opening a FIFO or a device may block, or have side effects. */
static bool is_directory(int parent, const struct dirent *entry) {
  struct stat st;
  if (entry->d_name[0] == '.' || (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN))
    return false;
  return entry->d_type == DT_DIR ||
         (!fstatat(parent, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISDIR(st.st_mode));
}

static void visit_in(struct visit *visit, int directory, const char *path, bool deep) {
  int fd = openat(directory, ".", OPEN_DIRECTORY);
  DIR *dir = fd < 0 ? NULL : fdopendir(fd);
  if (!dir && fd >= 0)
    close(fd);
  for (struct dirent *e; dir && !visit->is_over && (e = readdir(dir));)
    if (is_directory(directory, e))
      visit_entry(visit, directory, path, e->d_name, deep);
  if (dir)
    closedir(dir);
}

/* The directory that contains `path`. */
static int open_parent(const char *path) {
  char parent[KYMO_PATH_MAX];
  const char *slash = strrchr(path, '/');
  if (!slash)
    return open(".", OPEN_DIRECTORY);
  snprintf(parent, sizeof parent, "%.*s", slash == path ? 1 : (int)(slash - path), path);
  return open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

bool kymo_pools_visit(const char *base, bool deep, kymo_pool_visitor *visitor, void *user) {
  struct visit visit = {.visitor = visitor, .user = user};
  struct kymo_pool_seen seen = {.parent = -1};
  size_t length = strlen(base);
  while (length > 1 && base[length - 1] == '/')
    length--;
  errno = ENAMETOOLONG;
  if ((size_t)snprintf(seen.path, sizeof seen.path, "%.*s", (int)length, base) >= sizeof seen.path)
    return false;
  /* the caller has chosen this one, which may be a link; only its contents belong to others */
  seen.directory = open(seen.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (seen.directory < 0)
    return false;
  seen.name = strrchr(seen.path, '/');
  seen.name = seen.name ? seen.name + 1 : seen.path;
  seen.parent = open_parent(seen.path);
  if (seen.parent < 0 || !visit_one(&visit, &seen))
    visit_in(&visit, seen.directory, seen.path, deep);
  close(seen.directory);
  if (seen.parent >= 0)
    close(seen.parent);
  return true;
}

/* ---- cleaning ---- */

struct dead_pool {
  uint64_t device, inode;
  struct timespec changed;
};

struct dead_pools {
  const char *name;
  struct dead_pool *pool; /* pools to be removed, once all are found */
  size_t count, room, removed;
};

static bool is_dead(const struct dead_pools *pools, const struct kymo_pool_seen *seen) {
  return seen->life == KYMO_LIFE_DEAD && !seen->is_recorded && !seen->odd && seen->owner == geteuid() &&
         (!pools->name || !strncmp(seen->header.name, pools->name, sizeof seen->header.name));
}

static bool add_dead(void *user, const struct kymo_pool_seen *seen) {
  struct dead_pools *pools = user;
  if (!is_dead(pools, seen))
    return true;
  if (!KYMO_LIST_ROOM(pools->pool, pools->room, pools->count))
    return false;
  pools->pool[pools->count++] = (struct dead_pool){seen->device, seen->inode, seen->changed};
  return true;
}

static int oldest_first(const void *a, const void *b) {
  const struct dead_pool *x = a, *y = b;
  return is_newer(&x->changed, &y->changed) - is_newer(&y->changed, &x->changed);
}

static bool remove_dead(void *user, const struct kymo_pool_seen *seen) {
  struct dead_pools *pools = user;
  for (size_t i = 0; i < pools->count; i++)
    if (pools->pool[i].inode == seen->inode && pools->pool[i].device == seen->device && is_dead(pools, seen))
      pools->removed += kymo_pool_remove(seen);
  return true;
}

size_t kymo_pool_clean(const char *base, const char *name, size_t keep) {
  struct dead_pools pools = {.name = name};
  kymo_pools_visit(base, !name, add_dead, &pools);
  if (pools.count > keep) {
    qsort(pools.pool, pools.count, sizeof *pools.pool, oldest_first);
    pools.count -= keep;
    kymo_pools_visit(base, !name, remove_dead, &pools);
  }
  free(pools.pool);
  return pools.removed;
}
