/* SPDX-License-Identifier: MIT */
#include "live/tracefs.h"
#include "base/fail.h"
#include "base/path.h"
#include <fcntl.h>
#include <mntent.h>
#include <stdio.h>
#include <unistd.h>

#define USUAL_PLACE "/sys/kernel/tracing"

static int fail_absent(struct kymo_error *error) {
  if (access(USUAL_PLACE, F_OK) && errno == ENOENT)
    return kymo_fail(error, KYMO_E_ABSENT, "this kernel has no tracefs (%s): it is built without tracing",
                     USUAL_PLACE);
  return kymo_fail(
      error, KYMO_E_ABSENT,
      "events of the kernel need tracefs, which is not mounted; as root: mount -t tracefs nodev %s",
      USUAL_PLACE);
}

int kymo_tracefs_find(char out[KYMO_PATH_MAX], struct kymo_error *error) {
  FILE *mounts = setmntent("/proc/self/mounts", "re");
  char text[4096];
  struct mntent entry;
  bool is_found = false;
  while (mounts && getmntent_r(mounts, &entry, text, sizeof text)) {
    bool is_usual = strcmp(entry.mnt_dir, USUAL_PLACE) == 0;
    if (strcmp(entry.mnt_type, "tracefs") != 0 || (is_found && !is_usual) ||
        strlen(entry.mnt_dir) >= KYMO_PATH_MAX / 2)
      continue;
    snprintf(out, KYMO_PATH_MAX, "%s", entry.mnt_dir);
    is_found = true;
  }
  if (mounts)
    endmntent(mounts);
  return is_found ? KYMO_OK : fail_absent(error);
}

int kymo_tracefs_fail(const char *path, const char *what, struct kymo_error *error) {
  int reason = errno;
  if (reason == EACCES)
    return kymo_fail(error, KYMO_E_SYSTEM, "%s: %s: %s: run as root, or with the capability CAP_DAC_OVERRIDE",
                     path, what, strerror(reason));
  if (reason == EPERM)
    return kymo_fail(error, KYMO_E_SYSTEM,
                     "%s: %s: %s: the kernel is locked down (/sys/kernel/security/lockdown)", path, what,
                     strerror(reason));
  errno = reason;
  return kymo_fail_errno(error, path, what);
}

static int read_all(int fd, struct kymo_strbuf *out) {
  enum { PIECE = 64 << 10 };
  for (;;) {
    char *room = kymo_strbuf_room(out, PIECE);
    ssize_t size = room ? read(fd, room, PIECE) : -1;
    if (size < 0 && room && errno == EINTR)
      continue;
    if (size <= 0)
      return size < 0 ? -1 : 0;
    kymo_strbuf_used(out, (size_t)size);
  }
}

int kymo_tracefs_read(const char *directory, const char *name, struct kymo_strbuf *out,
                      struct kymo_error *error) {
  char path[2 * KYMO_PATH_MAX];
  if (!kymo_path_join(path, sizeof path, directory, name))
    return kymo_fail(error, KYMO_E_LIMIT, "the path is too long: %s/%s", directory, name);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return kymo_tracefs_fail(path, "cannot open", error);
  int status = read_all(fd, out) ? kymo_tracefs_fail(path, "cannot read", error) : KYMO_OK;
  close(fd);
  kymo_strbuf_add(out, "", 0); /* its end, also if the file is empty */
  return out->failed ? kymo_fail(error, KYMO_E_MEMORY, "out of memory") : status;
}

void kymo_tracefs_read_if_there(const char *directory, const char *name, struct kymo_strbuf *out) {
  struct kymo_error unused;
  kymo_tracefs_read(directory, name, out, &unused);
}

int kymo_tracefs_write(const char *directory, const char *name, const char *text, struct kymo_error *error) {
  char path[2 * KYMO_PATH_MAX];
  size_t length = strlen(text);
  if (!kymo_path_join(path, sizeof path, directory, name))
    return kymo_fail(error, KYMO_E_LIMIT, "the path is too long: %s/%s", directory, name);
  int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (fd < 0)
    return kymo_tracefs_fail(path, "cannot open", error);
  int status =
      write(fd, text, length) == (ssize_t)length ? KYMO_OK : kymo_tracefs_fail(path, "cannot write", error);
  close(fd);
  return status;
}
