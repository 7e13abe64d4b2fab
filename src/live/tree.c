/* SPDX-License-Identifier: MIT */
#include "live/tree.h"
#include "base/dir.h"
#include <stdio.h>
#include <stdlib.h>

enum { DEPTH_MAX = 64 };

struct walk {
  kymo_tree_visitor *visit;
  void *user;
};

static size_t walk_process(const struct walk *walk, pid_t pid, unsigned depth);

/* The children of a thread, as the kernel lists them. */
static size_t walk_children(const struct walk *walk, const char *path, unsigned depth) {
  FILE *file = fopen(path, "re");
  size_t count = 0;
  int child;
  while (file && fscanf(file, "%d", &child) == 1)
    count += walk_process(walk, child, depth + 1);
  if (file)
    fclose(file);
  return count;
}

static size_t walk_process(const struct walk *walk, pid_t pid, unsigned depth) {
  char path[600];
  size_t count = 0;
  bool is_cut = false;
  snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
  DIR *dir = depth < DEPTH_MAX ? opendir(path) : NULL;
  for (struct dirent *e; dir && (e = kymo_dir_next(dir, &is_cut));) {
    int tid = (int)strtol(e->d_name, NULL, 10);
    if (tid <= 0)
      continue;
    count += walk->visit(walk->user, pid, tid);
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, tid);
    count += walk_children(walk, path, depth);
  }
  if (dir)
    closedir(dir);
  return count;
}

size_t kymo_tree_walk(pid_t pid, kymo_tree_visitor *visit, void *user) {
  return walk_process(&(struct walk){visit, user}, pid, 0);
}
