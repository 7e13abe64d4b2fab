/* SPDX-License-Identifier: MIT */
/* Traces from memory and descriptors: they become an unnamed file, which formats open by its descriptor. */
#include "base/fail.h"
#include "trace/trace.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PIECE_BYTES ((size_t)1 << 16)

static int make_file(struct kymo_error *error) {
  const char *folder = getenv("TMPDIR");
  int fd = open(folder && folder[0] == '/' ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0)
    fd = memfd_create("kymo", MFD_CLOEXEC);
  return fd >= 0 ? fd : kymo_fail_errno(error, "", "cannot make a temporary file");
}

static int put(int file, const uint8_t *bytes, size_t size, struct kymo_error *error) {
  while (size > 0) {
    ssize_t put = write(file, bytes, size);
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0)
      return kymo_fail_errno(error, "", "cannot write to a temporary file");
    bytes += put;
    size -= (size_t)put;
  }
  return KYMO_OK;
}

static int copy(int file, int fd, struct kymo_error *error) {
  uint8_t *piece = malloc(PIECE_BYTES);
  int status = piece ? KYMO_OK : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  for (ssize_t got = 1; status == KYMO_OK && got > 0;) {
    got = read(fd, piece, PIECE_BYTES);
    if (got < 0 && errno == EINTR)
      got = 1;
    else if (got < 0)
      status = kymo_fail_errno(error, "", "cannot read");
    else
      status = put(file, piece, (size_t)got, error);
  }
  free(piece);
  return status;
}

/* The trace takes over the file, or it is closed. */
static int open_file(struct kymo_trace **out, int file, int status, const struct kymo_trace_options *options,
                     size_t size, struct kymo_error *error) {
  char path[64];
  const char *paths[] = {path};
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  *out = NULL;
  if (status == KYMO_OK)
    status = kymo_trace_open_(out, paths, 1, options, size, error);
  if (status != KYMO_OK) {
    close(file);
    return status;
  }
  kymo_trace_own_file(*out, file);
  return KYMO_OK;
}

int kymo_trace_open_memory_(struct kymo_trace **out, const void *bytes, size_t size,
                            const struct kymo_trace_options *options, size_t options_size,
                            struct kymo_error *error) {
  int file = make_file(error);
  *out = NULL;
  return file < 0 ? file : open_file(out, file, put(file, bytes, size, error), options, options_size, error);
}

int kymo_trace_open_fd_(struct kymo_trace **out, int fd, const struct kymo_trace_options *options,
                        size_t size, struct kymo_error *error) {
  int file = make_file(error);
  *out = NULL;
  return file < 0 ? file : open_file(out, file, copy(file, fd, error), options, size, error);
}
