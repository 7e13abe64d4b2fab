/* SPDX-License-Identifier: MIT */
/* For LD_PRELOAD: a process that finishes its rings just when kymo record asks whether they are finished. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Bytes 0 to 7 of a file that has none yet come from the file LATE_MAGIC. */
static void finish(int fd) {
  char path[64], magic[8];
  const char *late = getenv("LATE_MAGIC");
  int from = late ? open(late, O_RDONLY) : -1;
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  int to = open(path, O_RDWR);
  if (from >= 0 && to >= 0 && read(from, magic, sizeof magic) == sizeof magic)
    (void)!write(to, magic, sizeof magic);
  close(from);
  close(to);
}

ssize_t pread64(int fd, void *data, size_t size, off64_t offset) {
  ssize_t got = syscall(SYS_pread64, fd, data, size, offset);
  if (got != sizeof(uint64_t) || size != sizeof(uint64_t) || offset || *(uint64_t *)data)
    return got;
  finish(fd);
  return syscall(SYS_pread64, fd, data, size, offset);
}
