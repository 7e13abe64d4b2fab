/* SPDX-License-Identifier: MIT */
#include "ring/places.h"
#include "base/dir.h"
#include "base/path.h"
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

/* ---- directories of the user alone ---- */

static bool is_private(const char *path) {
  struct stat st;
  if (lstat(path, &st))
    return false;
  if (S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 077))
    return true;
  errno = EPERM;
  return false;
}

static bool make(const char *path) { return !mkdir(path, 0700) || errno == EEXIST; }

/* Directories where all users may create directories, but cannot rename those of others. */
static const char *const shared_places[] = {"/dev/shm", "/tmp"};
enum { SHARED_PLACES = sizeof shared_places / sizeof *shared_places, SUFFIX = sizeof "-XXXXXX" - 1 };

/* Calls `visitor` with each directory PLACE/kymo-UID-XXXXXX that belongs to the user alone, until it returns
 * true. */
static bool visit_substitutes(const char *place, kymo_place_visitor *visitor, void *user) {
  char prefix[32], path[KYMO_PATH_MAX];
  int length = snprintf(prefix, sizeof prefix, "kymo-%u-", (unsigned)geteuid());
  DIR *dir = opendir(place);
  bool is_over = false;
  for (struct dirent *e; dir && !is_over && (e = readdir(dir));)
    if (!strncmp(e->d_name, prefix, (size_t)length) && kymo_path_join(path, sizeof path, place, e->d_name) &&
        is_private(path))
      is_over = visitor(user, path);
  if (dir)
    closedir(dir);
  return is_over;
}

/* All processes use the same one, which is the first by name. */
static bool take_first(void *user, const char *path) {
  char *out = user;
  if (!*out || strcmp(path, out) < 0)
    memcpy(out, path, strlen(path) + 1);
  return false;
}

/* PLACE/kymo-UID; if that belongs to another user, which any user can cause, one with a name that cannot be
 * guessed. */
static bool take_shared(char out[KYMO_PATH_MAX], const char *place, bool may_make) {
  snprintf(out, KYMO_PATH_MAX, "%s/kymo-%u", place, (unsigned)geteuid());
  if ((!may_make || make(out)) && is_private(out))
    return true;
  int reason = errno;
  if (reason == EPERM) {
    char found[KYMO_PATH_MAX] = "";
    visit_substitutes(place, take_first, found);
    if (!*found && may_make) {
      snprintf(found, sizeof found, "%s/kymo-%u-XXXXXX", place, (unsigned)geteuid());
      if (!mkdtemp(found))
        found[0] = 0;
    }
    if (*found)
      memcpy(out, found, sizeof found);
    if (*found)
      return true;
  }
  errno = reason;
  return false;
}

static bool runtime_place(char out[KYMO_PATH_MAX]) {
  const char *runtime = secure_getenv("XDG_RUNTIME_DIR");
  return runtime && *runtime == '/' &&
         (size_t)snprintf(out, KYMO_PATH_MAX, "%s/kymo", runtime) < KYMO_PATH_MAX;
}

void kymo_places_visit(kymo_place_visitor *visitor, void *user) {
  char path[KYMO_PATH_MAX];
  bool is_over = runtime_place(path) && is_private(path) && visitor(user, path);
  for (int i = 0; i < SHARED_PLACES && !is_over; i++) {
    snprintf(path, sizeof path, "%s/kymo-%u", shared_places[i], (unsigned)geteuid());
    is_over = (is_private(path) && visitor(user, path)) || visit_substitutes(shared_places[i], visitor, user);
  }
}

bool kymo_place_is_taken(char out[KYMO_PATH_MAX], unsigned *owner) {
  struct stat st;
  for (int i = 0; i < SHARED_PLACES; i++) {
    snprintf(out, KYMO_PATH_MAX, "%s/kymo-%u", shared_places[i], (unsigned)geteuid());
    if (!lstat(out, &st) && st.st_uid != geteuid()) {
      *owner = (unsigned)st.st_uid;
      return true;
    }
  }
  return false;
}

/* ---- pools ---- */

bool kymo_pool_base(char out[KYMO_PATH_MAX], const char *asked) {
  if (asked) {
    if ((size_t)snprintf(out, KYMO_PATH_MAX, "%s", asked) < KYMO_PATH_MAX)
      return make(out);
    errno = ENAMETOOLONG;
    return false;
  }
  if (runtime_place(out) && make(out) && is_private(out) && !access(out, W_OK))
    return true;
  for (int i = 0; i < SHARED_PLACES; i++)
    if (take_shared(out, shared_places[i], true) && !access(out, W_OK))
      return true;
  int reason = errno;
  snprintf(out, KYMO_PATH_MAX, "%s/kymo-%u", shared_places[0],
           (unsigned)geteuid()); /* the path that errors name */
  errno = reason;
  return false;
}

/* ---- control sockets ---- */

bool kymo_control_directory(char out[KYMO_CONTROL_PATH_MAX], int place, bool may_make) {
  enum { NAME_MAX_ = sizeof "/" KYMO_CONTROL_PREFIX "2147483647" - 1 };
  char path[KYMO_PATH_MAX];
  bool is = false;
  errno = ENOENT;
  if (place > 0 && place <= SHARED_PLACES)
    is = take_shared(path, shared_places[place - 1], may_make);
  else if (!place)
    is = runtime_place(path) && (!may_make || make(path)) && is_private(path);
  if (is && strlen(path) + NAME_MAX_ >= KYMO_CONTROL_PATH_MAX) {
    errno = ENAMETOOLONG;
    is = false;
  }
  if (is)
    memcpy(out, path, strlen(path) + 1);
  return is;
}

/* No process listens there any more: it is gone, or is in another PID namespace, where its number is not
 * valid here. */
static bool is_stale(const char *path, int pid, int64_t now) {
  enum { OLD_SECONDS = 60 };
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  struct stat st;
  if (pid <= 0 || strlen(path) >= sizeof address.sun_path || lstat(path, &st) || !S_ISSOCK(st.st_mode))
    return false;
  bool is_gone = kill(pid, 0) && errno == ESRCH;
  if (!is_gone && now - st.st_ctime < OLD_SECONDS)
    return false;
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  memcpy(address.sun_path, path, strlen(path));
  bool refused = fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) && errno == ECONNREFUSED;
  if (fd >= 0)
    close(fd);
  return refused;
}

size_t kymo_control_clean(const char *directory, int64_t now) {
  size_t removed = 0, prefix = sizeof KYMO_CONTROL_PREFIX - 1;
  DIR *dir = opendir(directory);
  for (struct dirent *e; dir && (e = readdir(dir));) {
    char path[2 * KYMO_PATH_MAX];
    kymo_path_join(path, sizeof path, directory, e->d_name);
    if (!strncmp(e->d_name, KYMO_CONTROL_PREFIX, prefix) &&
        is_stale(path, (int)strtol(e->d_name + prefix, NULL, 10), now))
      removed += !unlink(path);
  }
  if (dir)
    closedir(dir);
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
  bool is_cut = false;
  while (dir && kymo_dir_next(dir, &is_cut))
    entries++;
  if (dir)
    closedir(dir);
  return dir && !is_cut && entries <= 2;
}

/* Named as by DPDK; a second one in the same second is numbered. */
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
  if ((size_t)snprintf(traces, sizeof traces, "%s/kymo-traces", home && *home ? home : ".") >=
      sizeof traces) {
    memcpy(out, traces, sizeof traces);
    errno = ENAMETOOLONG;
    return false;
  }
  return make_dated(out, traces, name);
}
