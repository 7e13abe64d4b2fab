/* SPDX-License-Identifier: MIT */
#include "live/kernel/instance.h"
#include "base/dir.h"
#include "base/fail.h"
#include "base/path.h"
#include "ring/life.h"
#include "ring/ring.h"
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- whose it is ---- */

struct owner {
  uint64_t space, start; /* PID namespace; start time of the process */
  int pid;
};

static bool parse_owner(const char *name, char separator, struct owner *owner) {
  char form[64], again[80];
  int length = 0;
  snprintf(form, sizeof form, "kymo%c%%" SCNu64 "%c%%d%c%%" SCNu64 "%%n", separator, separator, separator);
  if (sscanf(name, form, &owner->space, &owner->pid, &owner->start, &length) != 3 || !length)
    return false;
  snprintf(again, sizeof again, "kymo%c%" PRIu64 "%c%d%c%" PRIu64, separator, owner->space, separator,
           owner->pid, separator, owner->start);
  return (size_t)length == strlen(again) && strncmp(name, again, (size_t)length) == 0 &&
         (name[length] == '\0' || name[length] == '/');
}

/* Of another PID namespace nothing is known but the lock, which it takes a moment after it made the
 * directory. */
static bool is_unlocked(const char *path) {
  enum { AGE_SECONDS = 60 };
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  struct stat st;
  bool is_old = fd >= 0 && !fstat(fd, &st) && time(NULL) - st.st_ctime > AGE_SECONDS;
  bool is_free = is_old && kymo_life_by_lock(fd) == KYMO_LIFE_DEAD;
  if (fd >= 0)
    close(fd);
  return is_free;
}

static bool is_dead(const struct owner *owner, const char *path) {
  static const struct kymo_pool_header none;
  struct kymo_pool_header header = none;
  header.pid = owner->pid;
  header.start_time = owner->start;
  uint64_t here = kymo_pid_namespace();
  return here && here == owner->space ? kymo_life_by_pid(&header) == KYMO_LIFE_DEAD : is_unlocked(path);
}

/* ---- probes ---- */

/* "p:GROUP/NAME PATH:0x1234 …" or "r…:": its group and name. */
static bool name_probe(const char *line, size_t length, char out[160]) {
  const char *from = memchr(line, ':', length), *end = line + length;
  const char *to = from ? memchr(from, ' ', (size_t)(end - from)) : NULL;
  if (!from || !to || (*line != 'p' && *line != 'r') || to - from > 150)
    return false;
  snprintf(out, 160, "%.*s", (int)(to - from - 1), from + 1);
  return true;
}

/* Removes the probes of a group; NULL: those whose recorder has no instance. Each alone, since one that is
 * enabled elsewhere stays. */
static size_t remove_probes(const char *tracefs, const char *group) {
  struct kymo_strbuf list = {0};
  size_t count = 0;
  kymo_tracefs_read_if_there(tracefs, "uprobe_events", &list);
  for (const char *at = list.text; at && *at;) {
    size_t length = strcspn(at, "\n");
    char name[160], path[2 * KYMO_PATH_MAX], command[170];
    struct owner owner;
    if (name_probe(at, length, name) && parse_owner(name, '_', &owner)) {
      size_t group_length = strcspn(name, "/");
      snprintf(path, sizeof path, "%s/instances/kymo-%" PRIu64 "-%d-%" PRIu64, tracefs, owner.space,
               owner.pid, owner.start);
      bool is_asked = group ? strlen(group) == group_length && strncmp(name, group, group_length) == 0
                            : access(path, F_OK) && errno == ENOENT;
      struct kymo_error unused;
      snprintf(command, sizeof command, "-:%s", name);
      count += is_asked && kymo_tracefs_write(tracefs, "uprobe_events", command, &unused) == KYMO_OK;
    }
    at += length + (at[length] == '\n');
  }
  kymo_strbuf_free(&list);
  return count;
}

/* ---- the dead ---- */

size_t kymo_instances_clean(const char *tracefs) {
  char path[KYMO_PATH_MAX + 16], one[2 * KYMO_PATH_MAX];
  size_t count = 0;
  bool is_cut = false;
  snprintf(path, sizeof path, "%s/instances", tracefs);
  DIR *dir = opendir(path);
  for (struct dirent *e; dir && (e = kymo_dir_next(dir, &is_cut));) {
    struct owner owner;
    if (!parse_owner(e->d_name, '-', &owner) || strchr(e->d_name, '/') ||
        !kymo_path_join(one, sizeof one, path, e->d_name))
      continue;
    count += is_dead(&owner, one) && !rmdir(one);
  }
  if (dir)
    closedir(dir);
  return count + remove_probes(tracefs, NULL);
}

/* ---- the caller's ---- */

static bool name_instance(struct kymo_instance *instance) {
  uint64_t start = 0, space = kymo_pid_namespace();
  int pid = getpid();
  if (!kymo_process_start_time(pid, &start))
    start = 0;
  snprintf(instance->group, sizeof instance->group, "kymo_%" PRIu64 "_%d_%" PRIu64, space, pid, start);
  return (size_t)snprintf(instance->path, sizeof instance->path, "%s/instances/kymo-%" PRIu64 "-%d-%" PRIu64,
                          instance->tracefs, space, pid, start) < sizeof instance->path;
}

int kymo_instance_make(struct kymo_instance *instance, struct kymo_error *error) {
  *instance = (struct kymo_instance){.held = -1};
  int status = kymo_tracefs_find(instance->tracefs, error);
  if (status)
    return status;
  kymo_instances_clean(instance->tracefs);
  if (!name_instance(instance))
    return kymo_fail(error, KYMO_E_LIMIT, "the path is too long: %s", instance->tracefs);
  if (mkdir(instance->path, 0750)) {
    int reason = errno;
    status = reason == EEXIST
                 ? kymo_fail(error, KYMO_E_USAGE, "%s: this process records events of the kernel already",
                             instance->path)
                 : (errno = reason, kymo_tracefs_fail(instance->path, "cannot make an instance", error));
    instance->path[0] = '\0';
    return status;
  }
  instance->held = open(instance->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (instance->held >= 0)
    kymo_life_hold(instance->held);
  return kymo_tracefs_write(instance->path, "tracing_on", "0", error);
}

int kymo_instance_remove(struct kymo_instance *instance, struct kymo_error *error) {
  struct kymo_error unused;
  if (!instance->path[0])
    return KYMO_OK;
  kymo_tracefs_write(instance->path, "events/enable", "0", &unused);
  remove_probes(instance->tracefs, instance->group);
  int status = rmdir(instance->path) ? kymo_tracefs_fail(instance->path, "cannot remove the instance", error)
                                     : KYMO_OK;
  if (instance->held >= 0)
    close(instance->held);
  instance->held = -1;
  instance->path[0] = '\0';
  return status;
}
