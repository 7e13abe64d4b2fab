/* SPDX-License-Identifier: MIT */
/* Maps files: anonymous pages first, the file over them, so that reading a little beyond its end is safe. */
#include "source/map.h"
#include "base/fail.h"
#include "base/guard.h"
#include "source/format.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Without a descriptor, checking the size costs as much as a hundred events: it is done at this interval. */
#define CHECK_BYTES (UINT64_C(1) << 16)
/* Descriptors above this are not kept: there are many, and the caller needs some too. */
#define FD_MAX 512
/* Windows where address space is scarce; larger packets get larger ones. */
#define WINDOW_BYTES (sizeof(void *) >= 8 ? UINT64_MAX : UINT64_C(1) << 25)

static void unmap(struct kymo_map *map) {
  kymo_guard_end(map->guard);
  map->guard = NULL;
  if (map->base)
    munmap((void *)(uintptr_t)map->base, map->reserved);
  map->base = NULL;
  map->length = 0;
}

static int look(struct kymo_map *map, struct kymo_error *error) {
  struct stat info;
  if (stat(map->path, &info) != 0)
    return kymo_fail_errno(error, map->path, "cannot open");
  if (!S_ISREG(info.st_mode))
    return kymo_fail_at(error, KYMO_E_FORMAT, map->path, KYMO_ERROR_NO_OFFSET, "not a regular file");
  map->size = (uint64_t)info.st_size;
  map->device = (uint64_t)info.st_dev;
  map->inode = (uint64_t)info.st_ino;
  return KYMO_OK;
}

int kymo_map_open(struct kymo_map *map, const char *path, struct kymo_error *error) {
  *map = (struct kymo_map){.path = path, .fd = -1};
  return look(map, error);
}

/* A descriptor, which release_file keeps or closes. */
static int open_file(struct kymo_map *map, struct kymo_error *error) {
  int fd = map->fd >= 0 ? map->fd : open(map->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  return fd >= 0 ? fd : kymo_fail_errno(error, map->path, "cannot open");
}

static void release_file(struct kymo_map *map, int fd) {
  if (fd < FD_MAX)
    map->fd = fd;
  else
    close(fd);
}

static int map_window(struct kymo_map *map, uint64_t offset, uint64_t wanted, struct kymo_error *error) {
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  uint64_t begin = WINDOW_BYTES == UINT64_MAX ? 0 : offset & ~(page - 1);
  uint64_t length = map->size - begin;
  if (length > WINDOW_BYTES)
    length = wanted + (offset - begin) > WINDOW_BYTES ? wanted + (offset - begin) : WINDOW_BYTES;
  if (length > map->size - begin)
    length = map->size - begin;
  unmap(map);
  if (length > SIZE_MAX - 2 * page)
    return kymo_fail_at(error, KYMO_E_LIMIT, map->path, offset, "the file is too large to be mapped");
  size_t reserved = (size_t)(((length + page - 1) & ~(page - 1)) + page);
  int fd = open_file(map, error);
  if (fd < 0)
    return fd;
  uint8_t *base = mmap(NULL, reserved, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  int status = KYMO_OK;
  if (base == MAP_FAILED)
    status = kymo_fail_errno(error, map->path, "cannot map");
  else if (length > 0 &&
           mmap(base, (size_t)length, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, (off_t)begin) == MAP_FAILED) {
    status = kymo_fail_errno(error, map->path, "cannot map");
    munmap(base, reserved);
  }
  release_file(map, fd);
  if (status != KYMO_OK)
    return status;
  madvise(base, reserved, MADV_SEQUENTIAL);
  map->base = base;
  map->window = begin;
  map->length = length;
  map->reserved = reserved;
  map->guard = kymo_guard_begin(base, reserved, PROT_READ);
  if (!map->guard) {
    unmap(map);
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  }
  return KYMO_OK;
}

int kymo_map_check(struct kymo_map *map, struct kymo_error *error) {
  size_t missing = kymo_guard_missing(map->guard);
  if (missing == SIZE_MAX)
    return KYMO_OK;
  uint64_t at = map->window + missing;
  unmap(map);
  return kymo_fail_at(error, KYMO_E_FORMAT, map->path, at,
                      "the file was cut while it was read, or cannot be read here");
}

/* If the file has shrunk, the pages after its end must not be accessed any more, not even as slack. If it has
 * grown, more is mapped. */
static void resize(struct kymo_map *map, uint64_t size) {
  if (size == map->size || (size > map->size && !map->is_growing))
    return;
  map->is_cut |= size < map->size;
  map->size = size;
  unmap(map);
}

static void check_size(struct kymo_map *map, uint64_t offset) {
  struct stat info;
  off_t end = map->fd >= 0 ? lseek(map->fd, 0, SEEK_END) : -1;
  if (end >= 0) {
    resize(map, (uint64_t)end);
    return;
  }
  map->checked = offset + CHECK_BYTES;
  /* Another file with this name does not matter: the mapped one stays what it was. */
  if (stat(map->path, &info) == 0 && (uint64_t)info.st_dev == map->device &&
      (uint64_t)info.st_ino == map->inode)
    resize(map, (uint64_t)info.st_size);
}

int kymo_map_check_end(struct kymo_map *map, struct kymo_error *error) {
  int status = kymo_map_check(map, error);
  bool is_cut = map->is_cut;
  map->is_cut = false;
  return status == KYMO_OK && is_cut ? kymo_fail_at(error, KYMO_E_FORMAT, map->path, map->size,
                                                    "the file was cut here while it was read")
                                     : status;
}

int kymo_map_get(struct kymo_map *map, uint64_t offset, uint64_t wanted, const uint8_t **data, uint64_t *size,
                 struct kymo_error *error) {
  int checked = kymo_map_check(map, error);
  if (checked != KYMO_OK)
    return checked;
  if (map->fd >= 0 || map->is_growing || offset >= map->checked || offset + CHECK_BYTES < map->checked)
    check_size(map, offset);
  if (offset >= map->size) {
    *data = NULL;
    *size = 0;
    return KYMO_OK;
  }
  uint64_t rest = map->size - offset;
  uint64_t need = wanted < rest ? wanted : rest;
  bool is_inside = map->base && offset >= map->window && offset - map->window <= map->length &&
                   need <= map->length - (offset - map->window);
  if (!is_inside) {
    int status = map_window(map, offset, need, error);
    if (status != KYMO_OK)
      return status;
  }
  uint64_t in_window = map->length - (offset - map->window);
  *data = map->base + (offset - map->window);
  *size = rest < in_window ? rest : in_window;
  return KYMO_OK;
}

/* Adjacent bytes are read by the page, distant ones by the piece. */
#define GLANCE_ROOM 4096

/* As many bytes as there are up to `size`: pread may return fewer. */
static ssize_t read_at(int fd, uint8_t *bytes, size_t size, uint64_t offset) {
  size_t done = 0;
  while (done < size) {
    ssize_t got = pread(fd, bytes + done, size - done, (off_t)(offset + done));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return got;
    if (got == 0)
      break;
    done += (size_t)got;
  }
  return (ssize_t)done;
}

static int read_glance(struct kymo_map *map, uint64_t offset, struct kymo_error *error) {
  bool is_near = map->glance_length > 0 && offset - map->glance_offset < GLANCE_ROOM;
  if (!map->glance)
    map->glance = calloc(1, GLANCE_ROOM + KYMO_SLACK);
  if (!map->glance)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  int fd = open_file(map, error);
  if (fd < 0)
    return fd;
  ssize_t got = read_at(fd, map->glance, is_near ? GLANCE_ROOM : KYMO_GLANCE_BYTES, offset);
  int status = got < 0 ? kymo_fail_errno(error, map->path, "cannot read") : KYMO_OK;
  release_file(map, fd);
  map->glance_offset = offset;
  map->glance_length = got < 0 ? 0 : (size_t)got;
  return status;
}

int kymo_map_glance(struct kymo_map *map, uint64_t offset, const uint8_t **data, uint64_t *size,
                    struct kymo_error *error) {
  uint64_t rest = offset < map->size ? map->size - offset : 0, from = offset - map->glance_offset;
  uint64_t need = rest < KYMO_GLANCE_BYTES ? rest : KYMO_GLANCE_BYTES;
  if (need > 0 && (from > map->glance_length || need > map->glance_length - from)) {
    int status = read_glance(map, offset, error);
    if (status != KYMO_OK)
      return status;
    if (map->glance_length < need) /* the file has shrunk */
      resize(map, offset + map->glance_length);
    from = 0;
  }
  rest = offset < map->size ? map->size - offset : 0;
  *data = rest ? map->glance + from : NULL;
  *size = rest && rest < map->glance_length - from ? rest : rest ? map->glance_length - from : 0;
  return KYMO_OK;
}

uint64_t kymo_map_bytes(void *of, uint64_t at, uint64_t *end) {
  struct kymo_map *map = of;
  struct kymo_error error;
  int fd = open_file(map, &error);
  *end = map->size;
  if (fd < 0)
    return at;
  off_t from = lseek(fd, (off_t)at, SEEK_DATA), to = from < 0 ? -1 : lseek(fd, from, SEEK_HOLE);
  uint64_t begin = from >= 0        ? (uint64_t)from
                   : errno == ENXIO ? map->size
                                    : at; /* ENXIO: the rest is a hole */
  if (from >= 0 && to > from && (uint64_t)to < map->size)
    *end = (uint64_t)to;
  release_file(map, fd);
  return begin;
}

void kymo_map_close(struct kymo_map *map) {
  unmap(map);
  free(map->glance);
  map->glance = NULL;
  map->glance_length = 0;
  if (map->fd >= 0)
    close(map->fd);
  map->fd = -1;
}
