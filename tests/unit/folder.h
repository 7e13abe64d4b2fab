/* SPDX-License-Identifier: MIT */
/* A folder for each test, and files in it: make_top and remove_top are its setup and teardown. */
#ifndef TEST_FOLDER_H
#define TEST_FOLDER_H

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static char top[64];

static inline int remove_entry(const char *path, const struct stat *info, int type, struct FTW *walk) {
  (void)info, (void)type, (void)walk;
  return remove(path);
}

static inline int make_top(void **state) {
  (void)state;
  const char *base = getenv("TMPDIR");
  snprintf(top, sizeof top, "%s/kymo-ctf-XXXXXX", base && strlen(base) < 40 ? base : "/tmp");
  return mkdtemp(top) ? 0 : -1;
}

static inline int remove_top(void **state) {
  (void)state;
  return nftw(top, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static inline const char *below(const char *name) {
  static char paths[8][256];
  static unsigned turn;
  char *path = paths[turn++ % 8];
  snprintf(path, sizeof paths[0], "%s/%s", top, name);
  return path;
}

static inline void make_folders(const char *path) {
  char part[256];
  for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    snprintf(part, sizeof part, "%.*s", (int)(slash - path), path);
    mkdir(part, 0700);
  }
}

static inline void write_file(const char *name, const void *bytes, size_t size) {
  const char *path = below(name);
  make_folders(path);
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

#endif
