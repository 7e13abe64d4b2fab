/* SPDX-License-Identifier: MIT */
#include "view/store.h"
#include "base/fail.h"
#include "base/guard.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define GROW_LEAST (UINT64_C(1) << 20)
#define GROW_MOST (UINT64_C(64) << 20)

/* Maps pages that are about to be written: at once, which takes less time than a fault for each of them.
 * Where that is not possible, they come one by one. */
static void populate(uint8_t *from, uint64_t bytes) {
#ifdef MADV_POPULATE_WRITE
  (void)madvise(from, (size_t)bytes, MADV_POPULATE_WRITE);
#else
  (void)from, (void)bytes;
#endif
}

/* Makes the file larger by a quarter. Its blocks are allocated now: a disk that is full is an error here, not
 * a signal at some store. */
static bool grow(struct view_store *store, uint64_t least) {
  uint64_t more = store->mapped / 4 < GROW_LEAST ? GROW_LEAST : store->mapped / 4;
  more = more > GROW_MOST ? GROW_MOST : more;
  if (least > SIZE_MAX / 2 - more)
    return false;
  uint64_t size = (least + more) & ~(GROW_LEAST - 1);
  size = size < least ? least : size;
  if ((errno = posix_fallocate(store->fd, (off_t)store->mapped, (off_t)(size - store->mapped))) != 0)
    return false;
  void *base = store->base ? mremap(store->base, (size_t)store->mapped, (size_t)size, MREMAP_MAYMOVE)
                           : mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, store->fd, 0);
  if (base == MAP_FAILED)
    return false;
  populate((uint8_t *)base + store->mapped, size - store->mapped);
  store->base = base;
  store->mapped = size;
  return true;
}

int view_store_begin(struct view_store *store, int fd, struct kymo_error *error) {
  *store = (struct view_store){.fd = fd};
  if (grow(store, GROW_LEAST))
    return KYMO_OK;
  kymo_fail_errno(error, NULL, "cannot make the index");
  view_store_end(store);
  return KYMO_E_SYSTEM;
}

int view_store_temporary(struct view_store *store, struct kymo_error *error) {
  const char *folder = getenv("TMPDIR");
  int fd = open(folder && *folder ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  *store = (struct view_store){0};
  if (fd < 0)
    fd = memfd_create("kymo-view", MFD_CLOEXEC);
  return fd < 0 ? kymo_fail_errno(error, NULL, "cannot make a temporary file for the index")
                : view_store_begin(store, fd, error);
}

int view_store_map(struct view_store *store, int fd, struct kymo_error *error) {
  struct stat info;
  *store = (struct view_store){.fd = fd};
  int status = fstat(fd, &info) != 0 ? kymo_fail_errno(error, NULL, "index") : KYMO_OK;
  if (status == KYMO_OK && (info.st_size <= 0 || (uint64_t)info.st_size > SIZE_MAX / 2))
    status = kymo_fail(error, KYMO_E_FORMAT, "the index is empty");
  void *base = status == KYMO_OK ? mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_SHARED, fd, 0) : NULL;
  if (base == MAP_FAILED)
    status = kymo_fail_errno(error, NULL, "index");
  if (status == KYMO_OK) {
    store->base = base;
    store->mapped = store->used = (uint64_t)info.st_size;
    store->guard = kymo_guard_begin(base, (size_t)info.st_size, PROT_READ);
    return KYMO_OK;
  }
  view_store_end(store);
  return status;
}

uint64_t view_store_add(struct view_store *store, uint64_t bytes) {
  uint64_t at = (store->used + 7) & ~UINT64_C(7);
  if (bytes > SIZE_MAX / 2 || at > SIZE_MAX / 2 ||
      (at + bytes + VIEW_STORE_SLACK > store->mapped && !grow(store, at + bytes + VIEW_STORE_SLACK)))
    return UINT64_MAX;
  store->used = at + bytes;
  return at;
}

/* ---- places that are taken again ---- */

/* At the beginning of a free place. */
struct free_place {
  uint64_t next, bytes; /* next: its offset + 1; 0: none */
};

static struct free_place *free_at(const struct view_store *store, uint64_t at) {
  return (struct free_place *)(void *)(store->base + at);
}

static unsigned list_of(uint64_t bytes) {
  uint64_t units = bytes / VIEW_STORE_UNIT;
  return units < VIEW_STORE_LISTS ? (unsigned)units : VIEW_STORE_LISTS - 1;
}

void view_store_give(struct view_store *store, uint64_t at, uint64_t bytes) {
  unsigned list = list_of(bytes);
  if (!bytes)
    return;
  *free_at(store, at) = (struct free_place){store->free[list], bytes};
  store->free[list] = at + 1;
  store->has_free |= UINT64_C(1) << list;
}

/* The smallest place that is large enough; what is left of it is free. */
uint64_t view_store_take(struct view_store *store, uint64_t bytes) {
  uint64_t fitting = store->has_free & UINT64_MAX << list_of(bytes);
  if (!bytes || !fitting || bytes > (VIEW_STORE_LISTS - 1) * VIEW_STORE_UNIT)
    return view_store_add(store, bytes);
  unsigned list = (unsigned)__builtin_ctzll(fitting);
  uint64_t at = store->free[list] - 1;
  const struct free_place place = *free_at(store, at);
  store->free[list] = place.next;
  if (!place.next)
    store->has_free &= ~(UINT64_C(1) << list);
  view_store_give(store, at + bytes, place.bytes - bytes);
  return at;
}

bool view_store_shrink(struct view_store *store) {
  uint64_t size = store->used + VIEW_STORE_SLACK;
  if (size >= store->mapped)
    return true;
  /* Not by mremap: qemu 7.2 for 32-bit machines then takes what follows the old mapping. */
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  uint64_t kept = (size + page - 1) / page * page;
  if (kept < store->mapped && munmap(store->base + kept, (size_t)(store->mapped - kept)) != 0)
    return false;
  store->mapped = size;
  return ftruncate(store->fd, (off_t)size) == 0;
}

void view_store_guard(struct view_store *store) {
  store->guard = kymo_guard_begin(store->base, (size_t)store->mapped, PROT_READ | PROT_WRITE);
}

bool view_store_is_cut(const struct view_store *store) {
  return kymo_guard_missing(store->guard) != SIZE_MAX;
}

void view_store_end(struct view_store *store) {
  if (store->guard)
    kymo_guard_end(store->guard);
  if (store->base)
    munmap(store->base, (size_t)store->mapped);
  if (store->base || store->fd > 0)
    close(store->fd);
  *store = (struct view_store){0};
}
