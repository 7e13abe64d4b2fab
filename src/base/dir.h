/* SPDX-License-Identifier: MIT */
/* Reading directories: the end of one is not mistaken for a directory that cannot be read any further. */
#ifndef KYMO_BASE_DIR_H
#define KYMO_BASE_DIR_H

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

/* The next entry, which holds until the next call. NULL at the end, and if the rest cannot be read: then
 * *failed becomes true, and errno is why. */
static inline struct dirent *kymo_dir_next(DIR *dir, bool *failed) {
  errno = 0;
  struct dirent *entry = readdir(dir);
  *failed |= !entry && errno;
  return entry;
}

#endif
