/* SPDX-License-Identifier: MIT */
#include "sink/cpel/out.h"
#include "base/fail.h"
#include "sink/cpel/strings.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fail(const struct kymo_cpel_out *out, struct kymo_error *error) {
  return kymo_fail_errno(error, out->path, "cannot write");
}

int kymo_cpel_out_begin(struct kymo_cpel_out *out, const char *path, bool is_big, struct kymo_error *error) {
  *out =
      (struct kymo_cpel_out){.path = path, .fd = -1, .is_big = is_big, .bytes = malloc(KYMO_CPEL_OUT_BYTES)};
  if (!out->bytes)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (strcmp(path, "-") == 0 && isatty(STDOUT_FILENO))
    return kymo_fail(error, KYMO_E_USAGE,
                     "the standard output is a terminal: CPEL is written to files and pipes");
  if (strcmp(path, "-") == 0) {
    out->fd = dup(STDOUT_FILENO);
    return out->fd < 0 ? fail(out, error) : KYMO_OK;
  }
  out->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  out->is_made = out->fd >= 0;
  return out->is_made ? KYMO_OK : fail(out, error);
}

static int flush(struct kymo_cpel_out *out, struct kymo_error *error) {
  for (size_t at = 0; at < out->length;) {
    ssize_t done = write(out->fd, out->bytes + at, out->length - at);
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0) {
      errno = done ? errno : ENOSPC;
      return fail(out, error);
    }
    at += (size_t)done;
  }
  out->length = 0;
  return KYMO_OK;
}

int kymo_cpel_out_end(struct kymo_cpel_out *out, bool is_whole, struct kymo_error *error) {
  int status = is_whole && out->fd >= 0 ? flush(out, error) : KYMO_OK;
  if (out->fd >= 0 && close(out->fd) && status == KYMO_OK && is_whole)
    status = fail(out, error);
  if (out->is_made && (status < 0 || !is_whole))
    unlink(out->path);
  free(out->bytes);
  *out = (struct kymo_cpel_out){.fd = -1};
  return status;
}

int kymo_cpel_out_bytes(struct kymo_cpel_out *out, const void *bytes, size_t size, struct kymo_error *error) {
  const uint8_t *from = bytes;
  while (size > 0) {
    size_t room = KYMO_CPEL_OUT_BYTES - out->length, part = size < room ? size : room;
    memcpy(out->bytes + out->length, from, part);
    out->length += part;
    from += part;
    size -= part;
    if (out->length == KYMO_CPEL_OUT_BYTES && flush(out, error) < 0)
      return KYMO_E_SYSTEM;
  }
  return KYMO_OK;
}

int kymo_cpel_out_words(struct kymo_cpel_out *out, const uint32_t *words, size_t count,
                        struct kymo_error *error) {
  int status = KYMO_OK;
  for (size_t i = 0; i < count && status == KYMO_OK; i++) {
    uint8_t bytes[4];
    kymo_cpel_store(bytes, words[i], out->is_big);
    status = kymo_cpel_out_bytes(out, bytes, sizeof bytes, error);
  }
  return status;
}

int kymo_cpel_out_head(struct kymo_cpel_out *out, const struct kymo_cpel_head *head,
                       struct kymo_error *error) {
  uint8_t low = (uint8_t)head->sections, high = (uint8_t)(head->sections >> 8);
  if (head->sections > UINT16_MAX)
    return kymo_fail_at(error, KYMO_E_LIMIT, out->path, KYMO_ERROR_NO_OFFSET, "more than 65535 sections");
  uint8_t bytes[] = {(uint8_t)((head->first & 0x7f) | (out->is_big ? 0 : 0x80)), head->unused,
                     out->is_big ? high : low, out->is_big ? low : high};
  int status = kymo_cpel_out_bytes(out, bytes, sizeof bytes, error);
  return status == KYMO_OK ? kymo_cpel_out_words(out, &head->date, 1, error) : status;
}

int kymo_cpel_out_section(struct kymo_cpel_out *out, uint32_t type, uint64_t size, const char *table,
                          struct kymo_error *error) {
  char name[KYMO_CPEL_NAME_BYTES] = {0};
  uint32_t words[] = {type, (uint32_t)size};
  if (size > UINT32_MAX)
    return kymo_fail_at(error, KYMO_E_LIMIT, out->path, KYMO_ERROR_NO_OFFSET, "a section of more than 4 GiB");
  int status = kymo_cpel_out_words(out, words, 2, error);
  if (!table || status < 0)
    return status;
  memcpy(name, table, strnlen(table, sizeof name));
  return kymo_cpel_out_bytes(out, name, sizeof name, error);
}

static int take(void *user, uint8_t *bytes, size_t size, struct kymo_error *error) {
  return kymo_cpel_out_bytes(user, bytes, size, error);
}

int kymo_cpel_out_spool(struct kymo_cpel_out *out, struct kymo_spool *spool, struct kymo_error *error) {
  return kymo_spool_send(spool, 1, take, out, error);
}
