/* SPDX-License-Identifier: MIT */
/* Paths of files in folders. */
#ifndef KYMO_BASE_PATH_H
#define KYMO_BASE_PATH_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Writes "folder/name". False if that does not fit with its zero: then `out` is empty, a path of no file,
 * and errno is ENAMETOOLONG. Safe in signal handlers. */
static inline bool kymo_path_join(char *out, size_t size, const char *folder, const char *name) {
  size_t length = strlen(folder), rest = strlen(name) + 1;
  if (length >= size || rest >= size - length) {
    errno = ENAMETOOLONG;
    if (size > 0)
      *out = '\0';
    return false;
  }
  memcpy(out, folder, length);
  out[length] = '/';
  memcpy(out + length + 1, name, rest);
  return true;
}

#endif
