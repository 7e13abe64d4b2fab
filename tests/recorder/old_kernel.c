/* SPDX-License-Identifier: MIT */
/* For LD_PRELOAD: a kernel before 6.15, which says nothing of a process whose parent has waited for it. */
#include <errno.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

int ioctl(int fd, unsigned long request, ...) {
  va_list rest;
  va_start(rest, request);
  void *argument = va_arg(rest, void *);
  va_end(rest);
  if ((request >> 8 & 0xff) == 0xff && (request & 0xff) == 11) { /* PIDFD_GET_INFO */
    errno = ENOTTY;
    return -1;
  }
  return (int)syscall(SYS_ioctl, fd, request, argument);
}
