/* SPDX-License-Identifier: MIT */
/* CUT_AT=N: in the command kymo, the Nth entry of all directories that are read cannot be read. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int is_cut(void) {
  static unsigned long seen;
  const char *at = getenv("CUT_AT");
  if (!at || strcmp(program_invocation_short_name, "kymo") != 0 || ++seen != strtoul(at, NULL, 10))
    return 0;
  errno = EIO;
  return 1;
}

struct dirent *readdir(DIR *dir) {
  struct dirent *(*next)(DIR *) = (struct dirent * (*)(DIR *)) dlsym(RTLD_NEXT, "readdir");
  return is_cut() ? NULL : next(dir);
}

struct dirent64 *readdir64(DIR *dir) {
  struct dirent64 *(*next)(DIR *) = (struct dirent64 * (*)(DIR *)) dlsym(RTLD_NEXT, "readdir64");
  return is_cut() ? NULL : next(dir);
}
