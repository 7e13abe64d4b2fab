/* SPDX-License-Identifier: MIT */
#include "live/inner.h"
#include "live/client.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int kymo_inner_pid(int pid) {
  char path[64], text[4096];
  snprintf(path, sizeof path, "/proc/%d/status", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
  if (fd >= 0)
    close(fd);
  text[length > 0 ? length : 0] = 0;
  char *line = strstr(text, "\nNSpid:"), *end = line ? strchr(line + 1, '\n') : NULL;
  if (!end)
    return pid;
  *end = 0;
  char *last = strrchr(line + 1, '\t');
  int inner = last ? (int)strtol(last, NULL, 10) : 0;
  return inner > 0 ? inner : pid;
}

void kymo_inner_visit(kymo_inner_visitor *visitor, void *user) {
  DIR *dir = opendir("/proc");
  bool is_over = false;
  for (struct dirent *e; dir && !is_over && (e = readdir(dir));) {
    int pid = kymo_pid_of(e->d_name);
    is_over = pid > 0 && visitor(user, pid, kymo_inner_pid(pid));
  }
  if (dir)
    closedir(dir);
}
