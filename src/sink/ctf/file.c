/* SPDX-License-Identifier: MIT */
#include "sink/ctf/file.h"
#include "base/bytes.h"
#include "base/fail.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

/* Pieces of this size are written to the file directly. */
#define LARGE_BYTES ((uint64_t)16 << 10)
#define LEAST_ROOM ((size_t)4 << 10)

void kymo_ctf_file_begin(struct kymo_ctf_file *file, struct kymo_ctf_files *files, char *path) {
  *file = (struct kymo_ctf_file){.files = files, .path = path, .fd = -1};
}

/* ---- descriptors ---- */

static int fail(struct kymo_ctf_file *file, struct kymo_error *error) {
  file->has_failed = true;
  return kymo_fail_errno(error, file->path, "cannot write");
}

static int no_memory(struct kymo_ctf_file *file, struct kymo_error *error) {
  file->has_failed = true;
  return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
}

/* Some file systems report only here that there is no space. */
static int close_descriptor(struct kymo_ctf_file *file, struct kymo_error *error) {
  int fd = file->fd;
  file->fd = -1;
  return fd >= 0 && close(fd) ? fail(file, error) : KYMO_OK;
}

static int open_descriptor(struct kymo_ctf_file *file, struct kymo_error *error) {
  if (file->fd >= 0)
    return KYMO_OK;
  if (!file->path)
    return no_memory(file, error);
  struct kymo_ctf_file **place = &file->files->open[file->files->next++ % KYMO_CTF_FILES_OPEN];
  if (*place && *place != file && close_descriptor(*place, error) < 0)
    return KYMO_E_SYSTEM;
  *place = file;
  file->fd = open(file->path, O_RDWR | O_CLOEXEC | (file->is_made ? 0 : O_CREAT | O_EXCL), 0666);
  if (file->fd < 0)
    return fail(file, error);
  file->is_made = true;
  if (file->mark)
    file->mark->is_made = true;
  return KYMO_OK;
}

/* ---- writing ---- */

/* Notes how far the packets on disk are whole. */
static void note_sound(struct kymo_ctf_file *file) {
  if (file->closed > file->begin)
    return;
  file->sound = file->closed;
  if (file->mark)
    file->mark->sound = file->sound;
}

/* Writes up to two pieces at the begin of the gathered bytes. */
static int write_pieces(struct kymo_ctf_file *file, struct iovec pieces[2], struct kymo_error *error) {
  if (open_descriptor(file, error) < 0)
    return KYMO_E_SYSTEM;
  uint64_t at = file->begin;
  for (unsigned first = 0; first < 2;) {
    if (pieces[first].iov_len == 0) {
      first++;
      continue;
    }
    ssize_t done = pwritev(file->fd, pieces + first, (int)(2 - first), (off_t)at);
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0) {
      errno = done ? errno : ENOSPC;
      return fail(file, error);
    }
    at += (uint64_t)done;
    for (; first < 2; first++) {
      size_t part = (size_t)done < pieces[first].iov_len ? (size_t)done : pieces[first].iov_len;
      pieces[first].iov_base = (char *)pieces[first].iov_base + part;
      pieces[first].iov_len -= part;
      done -= (ssize_t)part;
      if (pieces[first].iov_len)
        break;
    }
  }
  return KYMO_OK;
}

/* Writes `count` of the gathered bytes, and `more` after them. */
static int write_out(struct kymo_ctf_file *file, size_t count, const void *more, size_t more_count,
                     struct kymo_error *error) {
  struct iovec pieces[2] = {{file->bytes, count}, {(void *)(uintptr_t)more, more_count}};
  int status = count + more_count ? write_pieces(file, pieces, error) : KYMO_OK;
  if (status < 0)
    return status;
  if (file->length > count)
    memmove(file->bytes, file->bytes + count, file->length - count);
  file->length -= count;
  file->begin += count + more_count;
  note_sound(file);
  return KYMO_OK;
}

/* Memory for `size` gathered bytes. */
static int make_room(struct kymo_ctf_file *file, size_t size, struct kymo_error *error) {
  if (size <= file->room)
    return KYMO_OK;
  size_t most = file->files->capacity, room = file->room ? file->room * 2 : LEAST_ROOM;
  room = room > most ? most : room;
  room = room < size ? size : room;
  uint8_t *bytes = realloc(file->bytes, room);
  if (!bytes)
    return no_memory(file, error);
  file->bytes = bytes;
  file->room = room;
  return KYMO_OK;
}

uint8_t *kymo_ctf_file_room(struct kymo_ctf_file *file, uint64_t at, size_t count, struct kymo_error *error) {
  uint64_t end = at + count, there = file->begin + file->length;
  bool is_far = end - file->begin > file->files->capacity;
  if (is_far && write_out(file, at < there ? (size_t)(at - file->begin) : file->length, NULL, 0, error) < 0)
    return NULL;
  if (is_far && at > there)
    file->begin = at; /* a hole, which reads as zeros */
  if (make_room(file, (size_t)(end - file->begin), error) < 0)
    return NULL;
  if (end > file->begin + file->length) {
    size_t length = (size_t)(end - file->begin);
    memset(file->bytes + file->length, 0, length - file->length);
    file->length = length;
  }
  return file->bytes + (at - file->begin);
}

int kymo_ctf_file_copy(struct kymo_ctf_file *file, uint64_t at, const void *bytes, uint64_t count,
                       struct kymo_error *error) {
  uint64_t there = file->begin + file->length;
  if (count >= LARGE_BYTES && at <= there) {
    file->length = (size_t)(at - file->begin); /* the byte at the boundary is in `bytes` as well */
    return write_out(file, file->length, bytes, (size_t)count, error);
  }
  for (const uint8_t *from = bytes; count > 0;) {
    size_t part = count < LARGE_BYTES ? (size_t)count : (size_t)LARGE_BYTES;
    uint8_t *to = kymo_ctf_file_room(file, at, part, error);
    if (!to)
      return error ? error->code : KYMO_E_SYSTEM;
    memcpy(to, from, part);
    from += part;
    at += part;
    count -= part;
  }
  return KYMO_OK;
}

int kymo_ctf_file_patch(struct kymo_ctf_file *file, const struct kymo_ctf_patch *patch,
                        struct kymo_error *error) {
  uint64_t first = patch->at_bits / 8, end = (patch->at_bits + patch->width + 7) / 8;
  uint8_t bytes[9];
  if (first >= file->begin) {
    kymo_bits_put(file->bytes + (first - file->begin), patch->at_bits % 8, patch->width, patch->is_big,
                  patch->value);
    return KYMO_OK;
  }
  size_t count = (size_t)(end - first), old = end <= file->begin ? count : (size_t)(file->begin - first);
  if (open_descriptor(file, error) < 0)
    return KYMO_E_SYSTEM;
  if (pread(file->fd, bytes, old, (off_t)first) != (ssize_t)old)
    return fail(file, error);
  if (count > old)
    memcpy(bytes + old, file->bytes, count - old);
  kymo_bits_put(bytes, patch->at_bits % 8, patch->width, patch->is_big, patch->value);
  if (pwrite(file->fd, bytes, old, (off_t)first) != (ssize_t)old)
    return fail(file, error);
  if (count > old)
    memcpy(file->bytes, bytes + old, count - old);
  return KYMO_OK;
}

int kymo_ctf_file_close_packet(struct kymo_ctf_file *file, uint64_t end, struct kymo_error *error) {
  uint64_t there = file->begin + file->length;
  if (end > there && !kymo_ctf_file_room(file, end - 1, 1, error))
    return error ? error->code : KYMO_E_SYSTEM;
  file->closed = end;
  if (file->length >= LEAST_ROOM) /* so that a full disk costs few packets */
    return write_out(file, file->length, NULL, 0, error);
  note_sound(file);
  return KYMO_OK;
}

/* ---- the end ---- */

/* Keeps only whole packets. */
static void cut(struct kymo_ctf_file *file) {
  if (!file->is_made)
    return;
  if (file->sound == 0)
    unlink(file->path);
  else if (truncate(file->path, (off_t)file->sound))
    return; /* then the readers report it */
}

void kymo_ctf_file_take_over(struct kymo_ctf_file *file, bool is_kept) {
  const struct kymo_ctf_mark *mark = file->mark;
  file->is_made = mark->is_made;
  file->sound = is_kept ? mark->sound : 0;
  if (!is_kept || !mark->is_complete)
    cut(file);
  file->is_made = is_kept && file->is_made;
  file->mark = NULL;
}

int kymo_ctf_file_end(struct kymo_ctf_file *file, struct kymo_error *error) {
  int status = file->has_failed ? KYMO_E_SYSTEM : KYMO_OK;
  if (status == KYMO_OK && file->length)
    status = write_out(file, file->length, NULL, 0, error);
  if (close_descriptor(file, status == KYMO_OK ? error : NULL) < 0)
    status = KYMO_E_SYSTEM;
  if (status < 0)
    cut(file);
  if (file->mark)
    file->mark->is_complete = status == KYMO_OK;
  for (unsigned i = 0; i < KYMO_CTF_FILES_OPEN; i++)
    if (file->files->open[i] == file)
      file->files->open[i] = NULL;
  free(file->bytes);
  free(file->path);
  *file = (struct kymo_ctf_file){.fd = -1};
  return status;
}
