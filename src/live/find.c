/* SPDX-License-Identifier: MIT */
/*
 * Finds the pool of a process without its help: a live process has it mapped, a dead one has left it in a
 * directory of pools.
 */
#include "live/find.h"
#include "base/fail.h"
#include "base/path.h"
#include "ring/exits.h"
#include "live/inner.h"
#include "ring/life.h"
#include "ring/ring.h"
#include <dirent.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct search {
  int pid, inner;       /* inner: its own number */
  char *found;          /* KYMO_PATH_MAX bytes */
  struct timespec time; /* of it */
  bool is_found;
  char earlier[KYMO_PATH_MAX]; /* a pool of a dead process that had the number of a live one; "": none */
};

/* Whether it was created by the process whose number is `pid` here and `inner` in its own namespace. */
static bool is_pool_of_living(const char *directory, int pid, int inner) {
  struct kymo_pool_view view;
  if (kymo_pool_open(&view, directory, false, NULL))
    return false;
  uint64_t start_time;
  bool is =
      view.header->pid == inner && (!view.header->start_time || !kymo_process_start_time(pid, &start_time) ||
                                    view.header->start_time == start_time);
  kymo_pool_close(&view);
  return is;
}

/* Numbers of other PID namespaces mean other processes here. *is_earlier: the number belongs to another
 * process by now. */
static bool is_pool_of(const char *directory, int pid, bool *is_earlier) {
  struct kymo_pool_view view;
  if (kymo_pool_open(&view, directory, false, NULL))
    return false;
  bool is = view.header->pid == pid &&
            (!view.header->pid_namespace || view.header->pid_namespace == kymo_pid_namespace());
  uint64_t start_time;
  int status;
  *is_earlier = view.header->start_time && kymo_process_start_time(pid, &start_time) &&
                start_time != view.header->start_time &&
                (start_time || !kymo_exit_of_zombie(pid, view.header->start_time,
                                                    &status)); /* 0: a zombie, possibly that of the pool */
  kymo_pool_close(&view);
  return is;
}

/* ---- of a live process ---- */

/* The path of a mapping is the process's own, which may be below another root. */
static bool take_mapping(struct search *search, const char *path, size_t length) {
  char below[KYMO_PATH_MAX];
  if ((size_t)snprintf(search->found, KYMO_PATH_MAX, "%.*s", (int)length, path) < KYMO_PATH_MAX &&
      is_pool_of_living(search->found, search->pid, search->inner))
    return true;
  if ((size_t)snprintf(below, sizeof below, "/proc/%d/root%.*s", search->pid, (int)length, path) >=
          sizeof below ||
      !is_pool_of_living(below, search->pid, search->inner))
    return false;
  memcpy(search->found, below, sizeof below);
  return true;
}

static bool find_mapped(struct search *search) {
  static const char name[] = "/" KYMO_POOL_FILE "\n";
  char maps[64], *line = NULL;
  size_t room = 0;
  snprintf(maps, sizeof maps, "/proc/%d/maps", search->pid);
  FILE *file = fopen(maps, "re");
  for (ssize_t length; file && !search->is_found && (length = getline(&line, &room, file)) > 0;) {
    const char *path = strchr(line, '/');
    size_t left = path ? (size_t)length - (size_t)(path - line) : 0;
    if (left >= sizeof name && !strcmp(path + left - (sizeof name - 1), name))
      search->is_found = take_mapping(search, path, left - (sizeof name - 1));
  }
  free(line);
  if (file)
    fclose(file);
  return search->is_found;
}

/* ---- of a dead one ---- */

static bool is_newer(const struct timespec *a, const struct timespec *b) {
  return a->tv_sec == b->tv_sec ? a->tv_nsec > b->tv_nsec : a->tv_sec > b->tv_sec;
}

static void search_in(struct search *search, const char *base, int depth) {
  DIR *dir = opendir(base);
  for (struct dirent *e; dir && (e = readdir(dir));) {
    char path[KYMO_PATH_MAX];
    struct stat st;
    if (e->d_name[0] == '.' || !kymo_path_join(path, sizeof path, base, e->d_name) || lstat(path, &st) ||
        !S_ISDIR(st.st_mode))
      continue;
    bool is_earlier;
    if (is_pool_of(path, search->pid, &is_earlier)) {
      if (is_earlier)
        memcpy(search->earlier, path, sizeof path);
      else if (!search->is_found || is_newer(&st.st_mtim, &search->time)) {
        memcpy(search->found, path, sizeof path);
        search->time = st.st_mtim;
        search->is_found = true;
      }
    } else if (depth)
      search_in(search, path, depth - 1); /* the directory of a recorder */
  }
  if (dir)
    closedir(dir);
}

static void visit_glob(const char *pattern, kymo_place_visitor *visitor, void *user) {
  glob_t bases;
  if (!glob(pattern, GLOB_NOSORT, NULL, &bases)) {
    bool is_over = false;
    for (size_t i = 0; i < bases.gl_pathc && !is_over; i++)
      is_over = visitor(user, bases.gl_pathv[i]);
    globfree(&bases);
  }
}

void kymo_find_places(kymo_place_visitor *visitor, void *user) {
  const char *asked = getenv("KYMO_RINGS");
  if (asked && *asked)
    visitor(user, asked);
  kymo_places_visit(visitor, user);
  if (!geteuid()) { /* other users', which have a number in their names */
    visit_glob("/run/user/*/kymo", visitor, user);
    visit_glob("/dev/shm/kymo-[0-9]*", visitor, user);
    visit_glob("/tmp/kymo-[0-9]*", visitor, user);
  }
}

static bool search_place(void *user, const char *directory) {
  search_in(user, directory, 1);
  return false;
}

int kymo_find_pool(char out[KYMO_PATH_MAX], int pid, struct kymo_error *error) {
  struct search search = {.pid = pid, .inner = kymo_inner_pid(pid), .found = out};
  if (!find_mapped(&search))
    kymo_find_places(search_place, &search);
  if (search.is_found)
    return KYMO_OK;
  if (search.earlier[0])
    return kymo_fail(error, KYMO_E_ABSENT,
                     "there are no rings of process %d; an earlier process with this number left %s", pid,
                     search.earlier);
  return kymo_fail(error, KYMO_E_UNKNOWN, "there are no rings of a process %d", pid);
}
