/* SPDX-License-Identifier: MIT */
#include "sink/cpel/spool.h"
#include "base/fail.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LEAST_ROOM ((size_t)4 << 10)
#define MOST_ROOM (2 * KYMO_SPOOL_KEPT)
#define PIECE_BYTES ((size_t)64 << 10)

void kymo_spool_begin(struct kymo_spool *spool, const char *path) {
  *spool = (struct kymo_spool){.path = path, .fd = -1};
}

void kymo_spool_end(struct kymo_spool *spool) {
  if (spool->fd >= 0)
    close(spool->fd);
  free(spool->bytes);
  kymo_spool_begin(spool, spool->path);
}

static int fail(const struct kymo_spool *spool, struct kymo_error *error) {
  return kymo_fail_errno(error, spool->path, "cannot write");
}

/* An unnamed file, beside the output. */
static int open_file(struct kymo_spool *spool, struct kymo_error *error) {
  const char *slash = strrchr(spool->path, '/'), *temporary = getenv("TMPDIR");
  int length = slash ? (int)(slash - spool->path) + 1 : 0;
  char *name = NULL;
  if (strcmp(spool->path, "-") == 0)
    length = asprintf(&name, "%s/kymo.XXXXXX", temporary && *temporary ? temporary : "/tmp");
  else
    length = asprintf(&name, "%.*s.kymo.XXXXXX", length, spool->path);
  if (length < 0)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  spool->fd = mkostemp(name, O_CLOEXEC);
  int status = spool->fd < 0 || unlink(name) ? fail(spool, error) : KYMO_OK;
  free(name);
  return status;
}

/* Moves the first `count` bytes to the file. */
static int write_out(struct kymo_spool *spool, size_t count, struct kymo_error *error) {
  if (spool->fd < 0 && open_file(spool, error) < 0)
    return KYMO_E_SYSTEM;
  for (size_t at = 0; at < count;) {
    ssize_t done = pwrite(spool->fd, spool->bytes + at, count - at, (off_t)(spool->begin + at));
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0) {
      errno = done ? errno : ENOSPC;
      return fail(spool, error);
    }
    at += (size_t)done;
  }
  memmove(spool->bytes, spool->bytes + count, spool->length - count);
  spool->length -= count;
  spool->begin += count;
  return KYMO_OK;
}

static int make_room(struct kymo_spool *spool, size_t size, struct kymo_error *error) {
  size_t room = spool->room ? spool->room : LEAST_ROOM;
  while (room < MOST_ROOM && room - spool->length < size)
    room *= 2;
  uint8_t *bytes = room > spool->room ? realloc(spool->bytes, room) : spool->bytes;
  if (!bytes)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  spool->bytes = bytes;
  spool->room = room;
  return KYMO_OK;
}

int kymo_spool_add(struct kymo_spool *spool, const void *bytes, size_t size, struct kymo_error *error) {
  const uint8_t *from = bytes;
  while (size > 0) {
    if (spool->room - spool->length < size && spool->room < MOST_ROOM && make_room(spool, size, error) < 0)
      return KYMO_E_MEMORY;
    if (spool->length == spool->room) {
      int status = write_out(spool, spool->length - KYMO_SPOOL_KEPT, error);
      if (status < 0)
        return status;
    }
    size_t room = spool->room - spool->length, part = size < room ? size : room;
    memcpy(spool->bytes + spool->length, from, part);
    spool->length += part;
    from += part;
    size -= part;
  }
  return KYMO_OK;
}

int kymo_spool_close(struct kymo_spool *spool, struct kymo_error *error) {
  int status = spool->length ? write_out(spool, spool->length, error) : KYMO_OK;
  free(spool->bytes);
  spool->bytes = NULL;
  spool->room = 0;
  return status;
}

static int send_file(struct kymo_spool *spool, size_t unit, kymo_spool_taker *take, void *user,
                     struct kymo_error *error) {
  size_t most = PIECE_BYTES / unit * unit;
  uint8_t *piece = malloc(most);
  int status = piece ? KYMO_OK : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  for (uint64_t at = 0; at < spool->begin && status == KYMO_OK;) {
    uint64_t rest = spool->begin - at;
    size_t size = rest < most ? (size_t)rest : most;
    for (size_t have = 0; have < size && status == KYMO_OK;) {
      ssize_t done = pread(spool->fd, piece + have, size - have, (off_t)(at + have));
      if (done == 0)
        errno = EIO;
      if (done <= 0 && errno != EINTR)
        status = fail(spool, error);
      have += done > 0 ? (size_t)done : 0;
    }
    status = status == KYMO_OK ? take(user, piece, size, error) : status;
    at += size;
  }
  free(piece);
  return status;
}

int kymo_spool_send(struct kymo_spool *spool, size_t unit, kymo_spool_taker *take, void *user,
                    struct kymo_error *error) {
  size_t odd = unit - (size_t)(spool->begin % unit);
  if (odd < unit && odd <= spool->length && write_out(spool, odd, error) < 0)
    return KYMO_E_SYSTEM;
  int status = spool->begin ? send_file(spool, unit, take, user, error) : KYMO_OK;
  return status == KYMO_OK && spool->length ? take(user, spool->bytes, spool->length, error) : status;
}
