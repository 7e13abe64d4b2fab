/* SPDX-License-Identifier: MIT */
#include "view/kept.h"
#include "base/list.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct kept {
  char *name;
  uint64_t bytes;
  struct timespec used;
};

struct kept_list {
  struct kept *list;
  size_t count, capacity;
  uint64_t bytes;
};

bool view_kept_use(int fd) {
  if (flock(fd, LOCK_SH | LOCK_NB) != 0)
    return false;
  futimens(fd, NULL);
  return true;
}

static void add(struct kept_list *kept, int folder, const char *name) {
  struct stat info;
  if (strncmp(name, "view-", 5) != 0 || fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
      !S_ISREG(info.st_mode) || !KYMO_LIST_ROOM(kept->list, kept->capacity, kept->count))
    return;
  char *copy = strdup(name);
  if (!copy)
    return;
  kept->list[kept->count++] = (struct kept){copy, (uint64_t)info.st_size, info.st_mtim};
  kept->bytes += (uint64_t)info.st_size;
}

static int by_use(const void *a, const void *b) {
  const struct kept *x = a, *y = b;
  if (x->used.tv_sec != y->used.tv_sec)
    return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
  if (x->used.tv_nsec != y->used.tv_nsec)
    return x->used.tv_nsec < y->used.tv_nsec ? -1 : 1;
  return strcmp(x->name, y->name);
}

/* Whether the name is still that of the open file: another process may have put a newer one in its place. */
static bool is_at(int fd, int folder, const char *name) {
  struct stat open, named;
  return fstat(fd, &open) == 0 && fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

/* False: it is in use, or it cannot be removed. */
static bool remove_unused(int folder, const char *name) {
  int fd = openat(folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0)
    return errno == ENOENT; /* another process has removed it */
  bool is_gone =
      flock(fd, LOCK_EX | LOCK_NB) == 0 && is_at(fd, folder, name) && unlinkat(folder, name, 0) == 0;
  close(fd);
  return is_gone;
}

void view_kept_trim(const char *path, uint64_t most) {
  struct kept_list kept = {0};
  DIR *folder = opendir(path);
  if (!folder)
    return;
  for (struct dirent *entry; (entry = readdir(folder));)
    add(&kept, dirfd(folder), entry->d_name);
  if (kept.count)
    qsort(kept.list, kept.count, sizeof *kept.list, by_use);
  for (size_t i = 0; i < kept.count; i++) {
    if (kept.bytes > most && remove_unused(dirfd(folder), kept.list[i].name))
      kept.bytes -= kept.list[i].bytes;
    free(kept.list[i].name);
  }
  free(kept.list);
  closedir(folder);
}
