/* SPDX-License-Identifier: MIT */
#include "base/cache.h"
#include "base/path.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

bool kymo_cache_folder(char *out, size_t size) {
  const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  if (cache && *cache == '/')
    return kymo_path_join(out, size, cache, "kymo");
  return home && *home == '/' && kymo_path_join(out, size, home, ".cache/kymo");
}

bool kymo_cache_make(const char *folder) {
  char above[PATH_MAX];
  const char *last = strrchr(folder, '/');
  int status = mkdir(folder, 0700);
  if (status != 0 && errno == ENOENT && last && (size_t)(last - folder) < sizeof above) {
    snprintf(above, sizeof above, "%.*s", (int)(last - folder), folder);
    status = mkdir(above, 0700);
    status = status == 0 || errno == EEXIST ? mkdir(folder, 0700) : status;
  }
  return (status == 0 || errno == EEXIST) && access(folder, W_OK | X_OK) == 0;
}
