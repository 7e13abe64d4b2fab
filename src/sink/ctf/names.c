/* SPDX-License-Identifier: MIT */
#include "sink/ctf/names.h"
#include "base/dir.h"
#include "base/fail.h"
#include "base/strbuf.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- names ---- */

char *kymo_ctf_join(const char *directory, const char *name) {
  char *path = NULL;
  return asprintf(&path, "%s/%s", directory, name) < 0 ? NULL : path;
}

/* Without `.`, `..` and links; unchanged if it is not a path. */
static char *real_path(const char *path) {
  char *real = realpath(path, NULL);
  return real ? real : strdup(path);
}

/* The length of the common begin of both, up to a slash. */
static size_t common_length(const char *a, const char *b) {
  size_t length = 0;
  for (size_t i = 0;; i++) {
    bool ends_a = !a[i] || a[i] == '/', ends_b = !b[i] || b[i] == '/';
    if (ends_a && ends_b)
      length = i;
    if (!a[i] || a[i] != b[i])
      return length;
  }
}

/* Several parts of one file get folders with numbers. */
static bool number_equal(char **paths, size_t count) {
  bool *is_equal = calloc(count + 1, sizeof *is_equal), ok = is_equal != NULL;
  for (size_t i = 0; i < count && ok; i++)
    for (size_t k = 0; k < count; k++)
      is_equal[i] |= k != i && strcmp(paths[k], paths[i]) == 0;
  for (size_t i = 0; i < count && ok; i++) {
    char *numbered = NULL;
    if (!is_equal[i])
      continue;
    ok = asprintf(&numbered, "%s%spart_%zu", paths[i], paths[i][0] ? "/" : "", i) >= 0;
    if (ok) {
      free(paths[i]);
      paths[i] = numbered;
    }
  }
  free(is_equal);
  return ok;
}

bool kymo_ctf_name_parts(char **paths, const struct kymo_trace *trace) {
  size_t common = 0, count = kymo_trace_part_count(trace);
  for (size_t i = 0; i < count; i++) {
    paths[i] = real_path(kymo_trace_part(trace, i)->path);
    if (!paths[i])
      return false;
    size_t length = common_length(paths[0], paths[i]);
    common = i == 0 || length < common ? length : common;
  }
  for (size_t i = 0; i < count; i++) {
    const char *rest = paths[i] + common;
    while (*rest == '/')
      rest++;
    memmove(paths[i], rest, strlen(rest) + 1);
  }
  return number_equal(paths, count);
}

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

char *kymo_ctf_name_stream(const struct kymo_trace *trace, const struct kymo_part *part, uint32_t index) {
  const char *name = base_name(kymo_part_stream(trace, part, index)->path);
  bool is_taken = !*name || *name == '.' || strcmp(name, "metadata") == 0 ||
                  strcmp(name, "rings") == 0; /* a pool's file */
  for (uint32_t i = 0; i < part->stream_count && !is_taken; i++)
    is_taken = i != index && strcmp(base_name(kymo_part_stream(trace, part, i)->path), name) == 0;
  char *made = NULL;
  if (!is_taken)
    return strdup(name);
  return asprintf(&made, "stream_%u", index) < 0 ? NULL : made;
}

/* ---- directories and files ---- */

static int make_directories(char *path, struct kymo_error *error) {
  for (char *at = path + 1;; at++) {
    char end = *at;
    if (end != '/' && end)
      continue;
    *at = 0;
    bool is_made = mkdir(path, 0777) == 0 || errno == EEXIST;
    *at = end;
    if (!is_made)
      return kymo_fail_errno(error, path, "cannot make the directory");
    if (!end)
      return KYMO_OK;
  }
}

int kymo_ctf_make_directory(const char *path, struct kymo_error *error) {
  char *copy = strdup(path);
  int status = copy ? make_directories(copy, error) : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  free(copy);
  return status;
}

int kymo_ctf_check_empty(const char *path, struct kymo_error *error) {
  DIR *directory = opendir(path);
  if (!directory)
    return errno == ENOENT ? KYMO_OK : kymo_fail_errno(error, path, "cannot write");
  int count = 0;
  bool is_cut = false;
  for (struct dirent *entry; (entry = kymo_dir_next(directory, &is_cut));)
    count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
  int status = is_cut ? kymo_fail_errno(error, path, "cannot read the directory") : KYMO_OK;
  closedir(directory);
  if (status != KYMO_OK)
    return status;
  return count ? kymo_fail_at(error, KYMO_E_SYSTEM, path, KYMO_ERROR_NO_OFFSET, "the directory is not empty")
               : KYMO_OK;
}

int kymo_ctf_write_file(const char *directory, const char *name, const struct kymo_strbuf *text,
                        struct kymo_error *error) {
  char *path = kymo_ctf_join(directory, name);
  if (!path || text->failed) {
    free(path);
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  }
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666), status = KYMO_OK;
  for (size_t at = 0; fd >= 0 && at < text->length && status == KYMO_OK;) {
    ssize_t done = write(fd, text->text + at, text->length - at);
    if (done < 0 && errno != EINTR)
      status = kymo_fail_errno(error, path, "cannot write");
    at += done > 0 ? (size_t)done : 0;
  }
  if (fd < 0 || (close(fd) && status == KYMO_OK))
    status = kymo_fail_errno(error, path, "cannot write");
  free(path);
  return status;
}
