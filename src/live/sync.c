/* SPDX-License-Identifier: MIT */
#include "live/sync.h"
#include "base/dir.h"
#include "base/fail.h"
#include "base/path.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH_MAX = 8 }; /* a part, a trace, its hidden directory; and some more */

/* Some file systems do not support this, or have nothing to do. */
static bool cannot_be_synced(int reason) {
  return reason == EINVAL || reason == ENOSYS || reason == EOPNOTSUPP || reason == EROFS;
}

/* Forces what is open, and closes it. */
static int sync_file(int fd, const char *path, struct kymo_error *error) {
  int status = KYMO_OK;
  if (fsync(fd) && !cannot_be_synced(errno))
    status = kymo_fail_errno(error, path, "cannot be forced to the disk");
  close(fd);
  return status;
}

/* A file or directory that may have been removed meanwhile. */
static int sync_entry(int directory, const char *name, const char *path, unsigned depth,
                      struct kymo_error *error);

static int sync_directory(int fd, const char *path, unsigned depth, struct kymo_error *error) {
  struct kymo_error later;
  int status = KYMO_OK, copy = dup(fd);
  bool is_cut = false;
  DIR *dir = copy >= 0 && depth < DEPTH_MAX ? fdopendir(copy) : NULL;
  if (!dir && copy >= 0)
    close(copy);
  for (struct dirent *e; dir && (e = kymo_dir_next(dir, &is_cut));) {
    char inner[4096];
    if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
      continue;
    kymo_path_join(inner, sizeof inner, path, e->d_name);
    int one = sync_entry(fd, e->d_name, inner, depth + 1, status ? &later : error);
    status = status ? status : one;
  }
  if (is_cut && !status)
    status = kymo_fail_errno(error, path, "cannot read the directory");
  if (dir)
    closedir(dir);
  int own = sync_file(fd, path, status ? &later : error);
  return status ? status : own;
}

static int sync_entry(int directory, const char *name, const char *path, unsigned depth,
                      struct kymo_error *error) {
  struct stat st;
  int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0 || fstat(fd, &st)) {
    int status = errno == ENOENT || errno == ELOOP
                     ? KYMO_OK
                     : kymo_fail_errno(error, path, "cannot be forced to the disk");
    if (fd >= 0)
      close(fd);
    return status;
  }
  if (S_ISDIR(st.st_mode))
    return sync_directory(fd, path, depth, error);
  if (S_ISREG(st.st_mode))
    return sync_file(fd, path, error);
  close(fd);
  return KYMO_OK;
}

int kymo_sync(const char *directory, struct kymo_error *error) {
  struct kymo_error later;
  char above[4096];
  snprintf(above, sizeof above, "%s/..", directory);
  int status = sync_entry(AT_FDCWD, directory, directory, 0, error);
  int fd = open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int entry = fd >= 0 ? sync_file(fd, above, status ? &later : error)
                      : KYMO_OK; /* an unreadable file was not written by kymo */
  return status ? status : entry;
}
