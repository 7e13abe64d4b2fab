/* SPDX-License-Identifier: MIT */
#include "process/proc.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

ssize_t proc_read(char *out, size_t size, const char *format, ...) {
  char path[PROC_PATH_MAX];
  va_list args;
  va_start(args, format);
  vsnprintf(path, sizeof path, format, args);
  va_end(args);
  *out = 0;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return -1;
  size_t length = 0;
  ssize_t n = 0;
  while (length + 1 < size && (n = read(fd, out + length, size - 1 - length)) > 0)
    length += (size_t)n;
  int reason = errno;
  close(fd);
  out[length] = 0;
  errno = reason;
  return length || !n ? (ssize_t)length : -1;
}

const char *proc_value(const char *text, const char *key) {
  size_t length = strlen(key);
  for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
    if (!strncmp(line, key, length) && line[length] == ':')
      return line + length + 1 + strspn(line + length + 1, " \t");
  return NULL;
}

void proc_name(char out[PROCESS_NAME_MAX], int pid) {
  proc_read(out, PROCESS_NAME_MAX, "/proc/%d/comm", pid);
  out[strcspn(out, "\n")] = 0;
}

size_t proc_memory(const struct process *process, uint64_t address, void *out, size_t size) {
  enum { PIECES_MAX = 64, PIECE = 4096 };
  struct iovec to = {out, size}, from[PIECES_MAX];
  unsigned count = 0;
  size_t used = 0;
  for (; used < size && count < PIECES_MAX; count++) { /* a piece is read as a whole or not at all */
    size_t length = PIECE - (address + used) % PIECE;
    length = length < size - used ? length : size - used;
    from[count] = (struct iovec){(void *)(uintptr_t)(address + used), length};
    used += length;
  }
  to.iov_len = used;
  ssize_t n = process_vm_readv(process->living, &to, 1, from, count, 0);
  return n > 0 ? (size_t)n : 0;
}
