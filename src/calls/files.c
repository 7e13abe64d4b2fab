/* SPDX-License-Identifier: MIT */
/* Files. The variants for large files and those of -D_FORTIFY_SOURCE are recorded under the plain name. */
#include "calls/calls.h"
#include <fcntl.h>
#include <stdarg.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

/* of -D_FORTIFY_SOURCE; `room`: size of the buffer */
EXPORT int __open_2(const char *path, int flags);
EXPORT int __open64_2(const char *path, int flags);
EXPORT int __openat_2(int directory, const char *path, int flags);
EXPORT int __openat64_2(int directory, const char *path, int flags);
EXPORT ssize_t __read_chk(int fd, void *buffer, size_t size, size_t room);
EXPORT ssize_t __pread_chk(int fd, void *buffer, size_t size, off_t offset, size_t room);
EXPORT ssize_t __pread64_chk(int fd, void *buffer, size_t size, off64_t offset, size_t room);

/* ---- opening and closing ---- */

/* A path that the kernel could not read cannot be read here. */
static const char *readable(const char *path, int error) { return error == EFAULT ? "(bad address)" : path; }

static mode_t take_mode(int flags, va_list arguments) {
  return __OPEN_NEEDS_MODE(flags) ? va_arg(arguments, mode_t) : 0;
}

#define MODE_OF_ARGUMENTS(flags)             \
  va_list arguments;                         \
  va_start(arguments, flags);                \
  mode_t mode = take_mode(flags, arguments); \
  va_end(arguments)
#define OPENED(call, name, ...)                                             \
  TRACED(int, call, name, __VA_ARGS__ KYMO_AS(path, readable(path, error)), \
         KYMO_FLAGS(flags, libc_open, flags), KYMO_OCT(mode, mode))

EXPORT int open(const char *path, int flags, ...) {
  MODE_OF_ARGUMENTS(flags);
  OPENED(REAL(open)(path, flags, mode), open, );
}

EXPORT int open64(const char *path, int flags, ...) {
  MODE_OF_ARGUMENTS(flags);
  OPENED(REAL(open64)(path, flags, mode), open, );
}

EXPORT int __open_2(const char *path, int flags) {
  mode_t mode = 0;
  OPENED(REAL(__open_2)(path, flags), open, );
}

EXPORT int __open64_2(const char *path, int flags) {
  mode_t mode = 0;
  OPENED(REAL(__open64_2)(path, flags), open, );
}

EXPORT int openat(int directory, const char *path, int flags, ...) {
  MODE_OF_ARGUMENTS(flags);
  OPENED(REAL(openat)(directory, path, flags, mode), openat,
         KYMO_ENUM(directory, libc_directory, directory), );
}

EXPORT int openat64(int directory, const char *path, int flags, ...) {
  MODE_OF_ARGUMENTS(flags);
  OPENED(REAL(openat64)(directory, path, flags, mode), openat,
         KYMO_ENUM(directory, libc_directory, directory), );
}

EXPORT int __openat_2(int directory, const char *path, int flags) {
  mode_t mode = 0;
  OPENED(REAL(__openat_2)(directory, path, flags), openat, KYMO_ENUM(directory, libc_directory, directory), );
}

EXPORT int __openat64_2(int directory, const char *path, int flags) {
  mode_t mode = 0;
  OPENED(REAL(__openat64_2)(directory, path, flags), openat,
         KYMO_ENUM(directory, libc_directory, directory), );
}

EXPORT int creat(const char *path, mode_t mode) {
  TRACED(int, REAL(creat)(path, mode), creat, KYMO_AS(path, readable(path, error)), KYMO_OCT(mode, mode));
}

EXPORT int creat64(const char *path, mode_t mode) {
  TRACED(int, REAL(creat64)(path, mode), creat, KYMO_AS(path, readable(path, error)), KYMO_OCT(mode, mode));
}

EXPORT int close(int fd) { TRACED(int, REAL(close)(fd), close, fd); }

/* ---- reading and writing ---- */

EXPORT ssize_t read(int fd, void *buffer, size_t size) {
  TRACED(ssize_t, REAL(read)(fd, buffer, size), read, fd, size);
}

EXPORT ssize_t __read_chk(int fd, void *buffer, size_t size, size_t room) {
  TRACED(ssize_t, REAL(__read_chk)(fd, buffer, size, room), read, fd, size);
}

EXPORT ssize_t write(int fd, const void *buffer, size_t size) {
  TRACED(ssize_t, REAL(write)(fd, buffer, size), write, fd, size);
}

EXPORT ssize_t pread(int fd, void *buffer, size_t size, off_t offset) {
  TRACED(ssize_t, REAL(pread)(fd, buffer, size, offset), pread, fd, size, offset);
}

EXPORT ssize_t pread64(int fd, void *buffer, size_t size, off64_t offset) {
  TRACED(ssize_t, REAL(pread64)(fd, buffer, size, offset), pread, fd, size, offset);
}

EXPORT ssize_t __pread_chk(int fd, void *buffer, size_t size, off_t offset, size_t room) {
  TRACED(ssize_t, REAL(__pread_chk)(fd, buffer, size, offset, room), pread, fd, size, offset);
}

EXPORT ssize_t __pread64_chk(int fd, void *buffer, size_t size, off64_t offset, size_t room) {
  TRACED(ssize_t, REAL(__pread64_chk)(fd, buffer, size, offset, room), pread, fd, size, offset);
}

EXPORT ssize_t pwrite(int fd, const void *buffer, size_t size, off_t offset) {
  TRACED(ssize_t, REAL(pwrite)(fd, buffer, size, offset), pwrite, fd, size, offset);
}

EXPORT ssize_t pwrite64(int fd, const void *buffer, size_t size, off64_t offset) {
  TRACED(ssize_t, REAL(pwrite64)(fd, buffer, size, offset), pwrite, fd, size, offset);
}

EXPORT ssize_t readv(int fd, const struct iovec *parts, int count) {
  TRACED(ssize_t, REAL(readv)(fd, parts, count), readv, fd, count);
}

EXPORT ssize_t writev(int fd, const struct iovec *parts, int count) {
  TRACED(ssize_t, REAL(writev)(fd, parts, count), writev, fd, count);
}

EXPORT ssize_t preadv(int fd, const struct iovec *parts, int count, off_t offset) {
  TRACED(ssize_t, REAL(preadv)(fd, parts, count, offset), preadv, fd, count, offset);
}

EXPORT ssize_t preadv64(int fd, const struct iovec *parts, int count, off64_t offset) {
  TRACED(ssize_t, REAL(preadv64)(fd, parts, count, offset), preadv, fd, count, offset);
}

EXPORT ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) {
  TRACED(ssize_t, REAL(pwritev)(fd, parts, count, offset), pwritev, fd, count, offset);
}

EXPORT ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset) {
  TRACED(ssize_t, REAL(pwritev64)(fd, parts, count, offset), pwritev, fd, count, offset);
}

EXPORT ssize_t sendfile(int out_fd, int in_fd, off_t *offset, size_t size) {
  TRACED(ssize_t, REAL(sendfile)(out_fd, in_fd, offset, size), sendfile, out_fd, in_fd, size);
}

EXPORT ssize_t sendfile64(int out_fd, int in_fd, off64_t *offset, size_t size) {
  TRACED(ssize_t, REAL(sendfile64)(out_fd, in_fd, offset, size), sendfile, out_fd, in_fd, size);
}

EXPORT int fsync(int fd) { TRACED(int, REAL(fsync)(fd), fsync, fd); }

EXPORT int fdatasync(int fd) { TRACED(int, REAL(fdatasync)(fd), fdatasync, fd); }
