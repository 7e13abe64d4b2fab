/* SPDX-License-Identifier: MIT */
/*
 * Golden files of languages: pass-NAME.ENDING is right, fail-NAME.ENDING is not, and NAME.expect is the
 * expected output. With KYMO_REWRITE=1 the output replaces the expectation.
 */
#ifndef TEST_GOLDEN_H
#define TEST_GOLDEN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/strbuf.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Compiles one file; the result goes to `out`. False if it is not as its name says. */
typedef bool golden_try(const char *path, bool should_pass, struct kymo_strbuf *out);

static inline bool read_file(const char *path, struct kymo_strbuf *out) {
  char buffer[65536];
  FILE *file = fopen(path, "rb");
  if (!file)
    return false;
  kymo_strbuf_puts(out, "");
  for (size_t got; (got = fread(buffer, 1, sizeof buffer, file)) > 0;)
    kymo_strbuf_add(out, buffer, got);
  fclose(file);
  return !out->failed;
}

static inline void golden_rewrite(const char *path, const struct kymo_strbuf *text) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  fwrite(text->text, 1, text->length, file);
  fclose(file);
}

static inline bool golden_check(const char *path, golden_try *try_file) {
  char expect_path[4096];
  const char *name = strrchr(path, '/') + 1;
  struct kymo_strbuf out = {0}, expected = {0};
  snprintf(expect_path, sizeof expect_path, "%.*s.expect", (int)(strrchr(path, '.') - path), path);
  bool ok = try_file(path, strncmp(name, "pass-", 5) == 0, &out);
  if (getenv("KYMO_REWRITE"))
    golden_rewrite(expect_path, &out);
  if (!read_file(expect_path, &expected) || strcmp(expected.text, out.text) != 0) {
    print_error("%s: expected\n%s\nfound\n%s\n", name, expected.text ? expected.text : "(nothing)", out.text);
    ok = false;
  }
  if (!ok)
    print_error("%s: not as expected\n", name);
  kymo_strbuf_free(&out);
  kymo_strbuf_free(&expected);
  return ok;
}

/* Calls `check` for each file of tests/FOLDER that ends so; returns their number. */
static inline int golden_each(const char *folder_name, const char *ending,
                              bool (*check)(const char *path, golden_try *), golden_try *try_file, int *bad) {
  char directory[2048], path[4096];
  const char *source = getenv("KYMO_SOURCE");
  int files = 0;
  snprintf(directory, sizeof directory, "%s/tests/%s", source ? source : "..", folder_name);
  DIR *folder = opendir(directory);
  if (!folder)
    return 0;
  for (struct dirent *entry; (entry = readdir(folder));) {
    const char *dot = strrchr(entry->d_name, '.');
    if (!dot || strcmp(dot, ending) != 0)
      continue;
    snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
    files++;
    *bad += !check(path, try_file);
  }
  closedir(folder);
  return files;
}

/* All golden files of a folder, at least `least`; a checkout without the folder skips. */
static inline void check_golden_files(const char *folder, const char *ending, golden_try *try_file,
                                      int least) {
  int bad = 0, files = golden_each(folder, ending, golden_check, try_file, &bad);
  if (files == 0)
    skip();
  assert_int_equal(bad, 0);
  assert_true(files >= least);
}

#endif
