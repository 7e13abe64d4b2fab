/* SPDX-License-Identifier: MIT */
/*
 * The kernel's list of mappings has the path of every program and library as the kernel knows it. dladdr()
 * knows only the name that was given: a relative one is wrong after chdir(), and of the program itself it is
 * argv[0].
 */
#include "base/self.h"
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The path in a line of the list if `address` is in its range, or NULL. */
static char *path_if_inside(char *line, uintptr_t address) {
  char *rest;
  uintmax_t begin = strtoumax(line, &rest, 16);
  if (*rest != '-' || address < begin || address >= strtoumax(rest + 1, &rest, 16))
    return NULL;
  line[strcspn(line, "\n")] = '\0';
  return strchr(line, '/');
}

bool kymo_self_directory(char out[PATH_MAX]) {
  FILE *maps = fopen("/proc/self/maps", "re");
  char *line = NULL, *path = NULL;
  size_t space = 0;
  out[0] = '\0';
  while (maps && !path && getline(&line, &space, maps) > 0)
    path = path_if_inside(line, (uintptr_t)&kymo_self_directory);
  if (path) {
    char *slash = strrchr(path, '/');
    slash[slash == path] = '\0';
    size_t length = strlen(path);
    if (length < PATH_MAX)
      memcpy(out, path, length + 1);
  }
  free(line);
  if (maps)
    fclose(maps);
  return out[0] != '\0';
}
