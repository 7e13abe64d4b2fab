/* SPDX-License-Identifier: MIT */
#include "base/file.h"
#include "base/fail.h"
#include "base/strbuf.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file may grow or shrink meanwhile: at most `room` bytes are read. */
static int fill(int fd, const char *path, uint8_t *bytes, size_t room, size_t *size,
                struct kymo_error *error) {
  *size = 0;
  while (*size < room) {
    ssize_t got = read(fd, bytes + *size, room - *size);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return kymo_fail_errno(error, path, "cannot read");
    if (got == 0)
      break;
    *size += (size_t)got;
  }
  bytes[*size] = 0;
  return KYMO_OK;
}

static int read_open(int fd, const char *path, uint64_t limit, uint8_t **bytes, size_t *size,
                     struct kymo_error *error) {
  struct stat info;
  if (fstat(fd, &info) != 0)
    return kymo_fail_errno(error, path, "cannot look at");
  if (!S_ISREG(info.st_mode))
    return kymo_fail_at(error, KYMO_E_FORMAT, path, KYMO_ERROR_NO_OFFSET, "not a regular file");
  if ((uint64_t)info.st_size > limit)
    return kymo_fail_at(error, KYMO_E_LIMIT, path, KYMO_ERROR_NO_OFFSET,
                        "expected at most %" PRIu64 " bytes, found %" PRIu64, limit, (uint64_t)info.st_size);
  *bytes = malloc((size_t)info.st_size + 1);
  if (!*bytes)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  return fill(fd, path, *bytes, (size_t)info.st_size, size, error);
}

FILE *kymo_file_open(const char *path) {
  struct stat info;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  FILE *file = fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) ? fdopen(fd, "rb") : NULL;
  if (!file && fd >= 0)
    close(fd);
  return file;
}

static int peek(int fd, const char *path, uint8_t *bytes, size_t room, size_t *size, struct stat *info,
                struct kymo_error *error) {
  if (fstat(fd, info) != 0)
    return kymo_fail_errno(error, path, "cannot look at");
  if (!S_ISREG(info->st_mode))
    return kymo_fail_at(error, KYMO_E_UNKNOWN, path, KYMO_ERROR_NO_OFFSET, "not a regular file");
  for (ssize_t got = 1; got != 0 && *size<room; *size += got> 0 ? (size_t)got : 0) {
    got = pread(fd, bytes + *size, room - *size, (off_t)*size);
    if (got < 0 && errno != EINTR)
      return kymo_fail_at(error, KYMO_E_SYSTEM, path, *size, "cannot read: %m");
  }
  return KYMO_OK;
}

int kymo_file_peek(const char *path, void *bytes, size_t room, size_t *size, struct stat *info,
                   struct kymo_error *error) {
  struct stat own;
  *size = 0;
  if (stat(path, &own) != 0) {
    bool is_there = errno != ENOENT && errno != ENOTDIR;
    return is_there ? kymo_fail_errno(error, path, "cannot look at")
                    : kymo_fail_at(error, KYMO_E_UNKNOWN, path, KYMO_ERROR_NO_OFFSET, "no such file");
  }
  if (!S_ISREG(own.st_mode)) /* opening a device may change it */
    return kymo_fail_at(error, KYMO_E_UNKNOWN, path, KYMO_ERROR_NO_OFFSET, "not a regular file");
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return errno == ENOENT ? kymo_fail_at(error, KYMO_E_UNKNOWN, path, KYMO_ERROR_NO_OFFSET, "no such file")
                           : kymo_fail_errno(error, path, "cannot open");
  int status = peek(fd, path, bytes, room, size, info ? info : &own, error);
  close(fd);
  return status;
}

static int open_and_read(const char *path, uint64_t limit, uint8_t **bytes, size_t *size, bool may_lack,
                         struct kymo_error *error) {
  *bytes = NULL;
  *size = 0;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0 && may_lack && (errno == ENOENT || errno == ENOTDIR))
    return KYMO_OK;
  if (fd < 0)
    return kymo_fail_errno(error, path, "cannot open");
  int status = read_open(fd, path, limit, bytes, size, error);
  close(fd);
  if (status != KYMO_OK) {
    free(*bytes);
    *bytes = NULL;
  }
  return status;
}

int kymo_file_read(const char *path, uint64_t limit, uint8_t **bytes, size_t *size,
                   struct kymo_error *error) {
  return open_and_read(path, limit, bytes, size, false, error);
}

int kymo_file_read_if_there(const char *path, uint64_t limit, uint8_t **bytes, size_t *size,
                            struct kymo_error *error) {
  return open_and_read(path, limit, bytes, size, true, error);
}

/* Reads everything up to the end. A file that is too large is refused before it is read, if its size is
 * known. */
static int drain(int fd, const char *path, uint64_t limit, struct kymo_strbuf *out,
                 struct kymo_error *error) {
  char piece[65536];
  struct stat info;
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && (uint64_t)info.st_size > limit)
    return kymo_fail_at(error, KYMO_E_LIMIT, path, KYMO_ERROR_NO_OFFSET,
                        "expected at most %" PRIu64 " bytes, found %" PRIu64, limit, (uint64_t)info.st_size);
  kymo_strbuf_puts(out, "");
  for (;;) {
    ssize_t got = read(fd, piece, sizeof piece);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return kymo_fail_errno(error, path, "cannot read");
    if (got == 0)
      return out->failed ? kymo_fail(error, KYMO_E_MEMORY, "out of memory") : KYMO_OK;
    kymo_strbuf_add(out, piece, (size_t)got);
    if (out->length > limit)
      return kymo_fail_at(error, KYMO_E_LIMIT, path, KYMO_ERROR_NO_OFFSET,
                          "expected at most %" PRIu64 " bytes, found more", limit);
  }
}

int kymo_input_read(const char *path, uint64_t limit, uint8_t **bytes, size_t *size,
                    struct kymo_error *error) {
  struct kymo_strbuf out = {0};
  bool is_input = strcmp(path, "-") == 0;
  *bytes = NULL;
  *size = 0;
  int fd = is_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return kymo_fail_errno(error, path, "cannot open");
  int status = drain(fd, is_input ? "standard input" : path, limit, &out, error);
  if (!is_input)
    close(fd);
  if (status != KYMO_OK) {
    kymo_strbuf_free(&out);
    return status;
  }
  *bytes = (uint8_t *)out.text;
  *size = out.length;
  return KYMO_OK;
}
