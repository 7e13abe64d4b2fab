/* SPDX-License-Identifier: MIT */
/*
 * Feeds every file of a folder to a fuzz target, in the order of their names: so the corpus, and inputs that
 * once crashed, are tests on machines without a fuzzer. Each name is printed before its file is read, so the
 * last one names the file that crashes. With --reached it prints "reached NAME" for those that pass all
 * checks.
 */
#include "reached.h"
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int is_shown(const struct dirent *entry) { return entry->d_name[0] != '.'; }

/* The copy is exactly as big as the file, so that a sanitizer sees the first byte read too far. */
static int replay(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file)
    return perror(path), -1;
  int status = -1;
  long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
  uint8_t *data = size >= 0 ? malloc((size_t)size) : NULL;
  rewind(file);
  if ((data || size == 0) && fread(data, 1, (size_t)size, file) == (size_t)size) {
    LLVMFuzzerTestOneInput(data, (size_t)size);
    status = 0;
  }
  free(data);
  fclose(file);
  return status;
}

int main(int argc, char **argv) {
  setvbuf(stdout, NULL, _IONBF, 0);
  int asks = argc == 3 && strcmp(argv[1], "--reached") == 0;
  if (argc != 2 && !asks)
    return fprintf(stderr, "usage: %s [--reached] CORPUS\n", argv[0]), 2;
  const char *corpus = argv[argc - 1];
  struct dirent **entries;
  int count = scandir(corpus, &entries, is_shown, alphasort);
  if (count <= 0) {
    printf("not ok %s: no file to replay\n", corpus);
    return 1;
  }
  int failures = 0;
  for (int i = 0; i < count; i++) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", corpus, entries[i]->d_name);
    if (!asks)
      printf("replay %s\n", path);
    fuzz_reached = 0;
    if (replay(path) != 0)
      failures++;
    if (asks && fuzz_reached)
      printf("reached %s\n", entries[i]->d_name);
    free(entries[i]);
  }
  free(entries);
  if (failures)
    printf("not ok replay: %d of %d files cannot be read\n", failures, count);
  else
    printf("ok replays %d inputs without a fault\n", count);
  return failures != 0;
}
