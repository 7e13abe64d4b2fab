/* SPDX-License-Identifier: MIT */
#include "ring/places.h"
#include "ring/ring.h"
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* ---- pools ---- */

static bool is_private(const char *path) {
  struct stat st;
  if (lstat(path, &st))
    return false;
  if (S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 077))
    return true;
  errno = EPERM;
  return false;
}

static bool make(const char *path) {
  return !mkdir(path, 0700) || errno == EEXIST;
}

bool kymo_pool_base(char out[KYMO_PATH_MAX], const char *asked) {
  const char *runtime = secure_getenv("XDG_RUNTIME_DIR");
  if (asked) {
    if ((size_t)snprintf(out, KYMO_PATH_MAX, "%s", asked) < KYMO_PATH_MAX)
      return make(out);
    errno = ENAMETOOLONG;
    return false;
  }
  if (runtime && *runtime && (size_t)snprintf(out, KYMO_PATH_MAX, "%s/kymo", runtime) < KYMO_PATH_MAX)
    if (make(out) && is_private(out))
      return true;
  snprintf(out, KYMO_PATH_MAX, "/dev/shm/kymo-%u", (unsigned)geteuid());
  return make(out) && is_private(out);
}

/* ---- control sockets ---- */

bool kymo_control_directory(char out[KYMO_CONTROL_PATH_MAX], int place, bool may_make) {
  enum { NAME_MAX_ = sizeof "/" KYMO_CONTROL_PREFIX "2147483647" - 1 };
  static const char *const parents[KYMO_CONTROL_PLACES] = {NULL, "/dev/shm", "/tmp"};
  const char *runtime = secure_getenv("XDG_RUNTIME_DIR");
  int length = -1;
  if (place > 0 && place < KYMO_CONTROL_PLACES)
    length = snprintf(out, KYMO_CONTROL_PATH_MAX, "%s/kymo-%u", parents[place], (unsigned)geteuid());
  else if (!place && runtime && *runtime == '/')
    length = snprintf(out, KYMO_CONTROL_PATH_MAX, "%s/kymo", runtime);
  if (length < 0 || length + NAME_MAX_ >= KYMO_CONTROL_PATH_MAX) {
    errno = ENAMETOOLONG;
    return false;
  }
  return (!may_make || make(out)) && is_private(out);
}

/* The process is gone, and nobody answers in its place (in a container its number may be another one). */
static bool is_stale(const char *path, int pid) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (pid <= 0 || !kill(pid, 0) || errno != ESRCH || strlen(path) >= sizeof address.sun_path)
    return false;
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  memcpy(address.sun_path, path, strlen(path));
  bool refused = fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) && errno == ECONNREFUSED;
  if (fd >= 0)
    close(fd);
  return refused;
}

size_t kymo_control_clean(const char *directory) {
  size_t removed = 0, prefix = sizeof KYMO_CONTROL_PREFIX - 1;
  DIR *dir = opendir(directory);
  for (struct dirent *e; dir && (e = readdir(dir));) {
    char path[2 * KYMO_PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", directory, e->d_name);
    if (!strncmp(e->d_name, KYMO_CONTROL_PREFIX, prefix) && is_stale(path, (int)strtol(e->d_name + prefix, NULL, 10)))
      removed += !unlink(path);
  }
  if (dir)
    closedir(dir);
  return removed;
}

/* ---- removing pools ---- */

void kymo_pool_delete(const char *directory) {
  static const char *const names[] = {KYMO_POOL_FILE, KYMO_POOL_METADATA, KYMO_HIDDEN_REGISTRY, KYMO_HIDDEN_CLOCKS, KYMO_HIDDEN_MODULES};
  char path[KYMO_PATH_MAX + 16];
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    snprintf(path, sizeof path, "%s/%s", directory, names[i]);
    unlink(path);
  }
  snprintf(path, sizeof path, "%s/%s", directory, KYMO_HIDDEN);
  rmdir(path);
  rmdir(directory);
}

struct dead_pool {
  char path[KYMO_PATH_MAX];
  struct timespec time;
};

struct dead_pools {
  struct dead_pool *pool;
  size_t count, room;
};

static bool is_dead(const char *path, const char *name) {
  struct kymo_pool_view view;
  if (kymo_pool_open(&view, path, false, NULL))
    return false;
  bool dead =
      !kymo_pool_is_alive(&view) && (!name || !strncmp(view.header->name, name, sizeof view.header->name));
  kymo_pool_close(&view);
  return dead;
}

static void add_dead(struct dead_pools *pools, const char *path, const struct stat *st) {
  if (pools->count == pools->room) {
    size_t room = pools->room ? pools->room * 2 : 16;
    struct dead_pool *grown = realloc(pools->pool, room * sizeof *grown);
    if (!grown)
      return;
    pools->pool = grown;
    pools->room = room;
  }
  struct dead_pool *pool = &pools->pool[pools->count++];
  memcpy(pool->path, path, sizeof pool->path);
  pool->time = st->st_mtim;
}

static void find_dead(struct dead_pools *pools, const char *base, const char *name, int depth) {
  DIR *dir = opendir(base);
  for (struct dirent *e; dir && (e = readdir(dir));) {
    char path[KYMO_PATH_MAX];
    struct stat st;
    if (e->d_name[0] == '.' || (size_t)snprintf(path, sizeof path, "%s/%s", base, e->d_name) >= sizeof path)
      continue;
    if (lstat(path, &st) || !S_ISDIR(st.st_mode))
      continue;
    if (is_dead(path, name))
      add_dead(pools, path, &st);
    else if (depth) {
      find_dead(pools, path, name, depth - 1);
    }
  }
  if (dir)
    closedir(dir);
}

static int newest_first(const void *a, const void *b) {
  const struct timespec *x = &((const struct dead_pool *)a)->time, *y = &((const struct dead_pool *)b)->time;
  if (x->tv_sec != y->tv_sec)
    return x->tv_sec < y->tv_sec ? 1 : -1;
  return x->tv_nsec == y->tv_nsec ? 0 : x->tv_nsec < y->tv_nsec ? 1 : -1;
}

size_t kymo_pool_clean(const char *base, const char *name, size_t keep) {
  struct dead_pools pools = {0};
  find_dead(&pools, base, name, name ? 0 : 1);
  if (pools.count)
    qsort(pools.pool, pools.count, sizeof *pools.pool, newest_first);
  size_t removed = 0;
  for (size_t i = keep; i < pools.count; i++, removed++) {
    kymo_pool_delete(pools.pool[i].path);
    *strrchr(pools.pool[i].path, '/') = 0; /* a recorder's own directory goes when it is empty */
    if (strcmp(pools.pool[i].path, base))
      rmdir(pools.pool[i].path);
  }
  free(pools.pool);
  return removed;
}

/* ---- traces ---- */

/* mkdir -p */
static bool make_path(const char *path) {
  char part[KYMO_PATH_MAX];
  snprintf(part, sizeof part, "%s", path);
  for (char *c = part + 1; *c; c++) {
    if (*c != '/')
      continue;
    *c = 0;
    if (mkdir(part, 0777) && errno != EEXIST)
      return false;
    *c = '/';
  }
  return !mkdir(part, 0777) || errno == EEXIST;
}

static bool is_empty(const char *path) {
  DIR *dir = opendir(path);
  int entries = 0;
  while (dir && readdir(dir))
    entries++;
  if (dir)
    closedir(dir);
  return dir && entries <= 2;
}

/* As DPDK names them; a second one in the same second is numbered. */
static bool make_dated(char out[KYMO_PATH_MAX], const char *parent, const char *name) {
  char stamp[64];
  time_t now = time(NULL);
  struct tm tm;
  if (!localtime_r(&now, &tm) || !strftime(stamp, sizeof stamp, "%Y-%m-%d-%p-%I-%M-%S", &tm))
    stamp[0] = 0;
  for (int again = 1; again < 10000; again++) {
    int n = snprintf(out, KYMO_PATH_MAX, again > 1 ? "%s/%s-%s-%d" : "%s/%s-%s", parent, name, stamp, again);
    if (n >= KYMO_PATH_MAX)
      errno = ENAMETOOLONG;
    else if (again == 1 && !make_path(parent))
      return false;
    else if (!mkdir(out, 0777))
      return true;
    if (errno != EEXIST)
      return false;
  }
  return false;
}

bool kymo_trace_place(char out[KYMO_PATH_MAX], const char *asked, const char *parent, const char *name) {
  char traces[KYMO_PATH_MAX];
  if (asked) {
    errno = ENAMETOOLONG;
    if ((size_t)snprintf(out, KYMO_PATH_MAX, "%s", asked) >= KYMO_PATH_MAX || !make_path(out))
      return false;
    if (is_empty(out))
      return true;
    errno = ENOTEMPTY;
    return false;
  }
  if (parent)
    return make_dated(out, parent, name);
  const char *home = secure_getenv("HOME");
  if ((size_t)snprintf(traces, sizeof traces, "%s/kymo-traces", home && *home ? home : ".") >= sizeof traces) {
    memcpy(out, traces, sizeof traces);
    errno = ENAMETOOLONG;
    return false;
  }
  return make_dated(out, traces, name);
}
