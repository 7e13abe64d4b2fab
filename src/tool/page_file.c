/* SPDX-License-Identifier: MIT */
#include "tool/page_file.h"
#include "tool/tool.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int say_failed(const char *path, int cause) {
  tool_say("%s: %s", path, strerror(cause));
  return TOOL_FAILED;
}

/* A file beside `path` that takes its place when it is complete. */
static FILE *open_beside(const char *path, char **name) {
  mode_t mask = umask(0);
  umask(mask);
  if (asprintf(name, "%s.XXXXXX", path) < 0)
    tool_end_without_memory();
  int fd = mkostemp(*name, O_CLOEXEC);
  FILE *file = fd >= 0 && fchmod(fd, 0666 & ~mask) == 0 ? fdopen(fd, "w") : NULL;
  if (!file && fd >= 0) {
    int cause = errno;
    close(fd);
    unlink(*name);
    errno = cause;
  }
  return file;
}

int tool_page_file(const char *path, int (*put)(FILE *file, const void *user), const void *user) {
  char *name;
  errno = 0;
  FILE *file = open_beside(path, &name);
  if (!file) {
    int cause = errno;
    free(name);
    return say_failed(path, cause);
  }
  int status = put(file, user);
  bool is_written = !ferror(file);
  errno = is_written ? 0 : errno;
  is_written &= fclose(file) == 0;
  int cause = errno ? errno : EIO, result = TOOL_OK;
  if (status != KYMO_OK)
    result = tool_status_of(status) == TOOL_OK ? TOOL_FAILED : tool_status_of(status);
  else if (!is_written || rename(name, path) != 0)
    result = say_failed(path, is_written ? errno : cause);
  if (result != TOOL_OK)
    unlink(name);
  free(name);
  return result;
}
