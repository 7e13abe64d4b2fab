/* SPDX-License-Identifier: MIT */
#include "tool/crashes.h"
#include "ring/places.h"
#include "ring/ring.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* So many processes are waited for at a time; crashes of others are found at the next look. */
enum { WAITED_MAX = 256 };

struct kymo_crash_watch {
  char name[NAME_MAX + 1]; /* of the pool's directory */
  struct kymo_pool_view view;
  int pid, process; /* its descriptor, or -1 */
  bool is_over, is_told, is_seen; /* is_seen: in the present look */
};

static struct kymo_crash_watch *find(struct kymo_crashes *crashes, const char *name) {
  for (size_t i = 0; i < crashes->count; i++)
    if (!strcmp(crashes->list[i].name, name))
      return &crashes->list[i];
  return NULL;
}

/* A pool that is being made is found at the next look. */
static struct kymo_crash_watch *add(struct kymo_crashes *crashes, const char *name) {
  char path[2 * KYMO_PATH_MAX];
  struct kymo_pool_view view;
  if (crashes->count == crashes->room) {
    size_t room = crashes->room ? crashes->room * 2 : 16;
    struct kymo_crash_watch *list = realloc(crashes->list, room * sizeof *list);
    if (!list)
      return NULL;
    crashes->list = list;
    crashes->room = room;
  }
  snprintf(path, sizeof path, "%s/%s", crashes->rings, name);
  if (strlen(name) > NAME_MAX || kymo_pool_open(&view, path, false, NULL))
    return NULL;
  struct kymo_crash_watch *watch = &crashes->list[crashes->count++];
  *watch = (struct kymo_crash_watch){.view = view, .pid = view.header->pid};
  memcpy(watch->name, name, strlen(name) + 1);
  watch->process = (int)syscall(SYS_pidfd_open, watch->pid, 0);
  return watch;
}

static void drop(struct kymo_crash_watch *watch) {
  if (watch->process >= 0)
    close(watch->process);
  kymo_pool_close(&watch->view);
}

/* Field 22 of /proc/PID/stat is the start time, field 52 what its parent will get. */
bool kymo_crash_zombie(int pid, uint64_t start_time, int *status) {
  char path[64], text[1024];
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  FILE *file = fopen(path, "re");
  size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
  if (file)
    fclose(file);
  text[n] = 0;
  const char *at = strrchr(text, ')'); /* the name may hold anything */
  if (!at || at[1] != ' ' || at[2] != 'Z')
    return false;
  for (int field = 2; at && field < 52; field++) {
    at = strchr(at + 1, ' ');
    if (at && field == 21 && start_time && strtoull(at + 1, NULL, 10) != start_time)
      return false;
  }
  *status = at ? (int)strtol(at + 1, NULL, 10) : 0;
  return true;
}

/* By which signal a process was killed that nobody has waited for yet; 0: by none, or that cannot be seen. */
static int signal_of_zombie(const struct kymo_pool_header *header) {
  int status;
  return kymo_crash_zombie(header->pid, header->start_time, &status) && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/* The signal of a process that has crashed since it was looked at last; else 0. */
static int look_at(struct kymo_crash_watch *watch) {
  if (watch->is_over)
    return 0;
  int number = (int)__atomic_load_n(&watch->view.header->crash_signal, __ATOMIC_ACQUIRE); /* partner: on_fatal of crash.c */
  struct pollfd ended = {watch->process, POLLIN, 0};
  bool is_over = watch->process < 0 || poll(&ended, 1, 0) > 0;
  if (!number && is_over && !watch->view.header->finished)
    number = signal_of_zombie(watch->view.header);
  watch->is_over = is_over || number;
  return number;
}

bool kymo_crashes_told(const struct kymo_crashes *crashes, int pid) {
  for (size_t i = 0; i < crashes->count; i++)
    if (crashes->list[i].pid == pid && crashes->list[i].is_told)
      return true;
  return false;
}

size_t kymo_crashes_look(struct kymo_crashes *crashes, struct kymo_strbuf *names) {
  size_t found = 0, kept = 0;
  DIR *dir = opendir(crashes->rings);
  for (size_t i = 0; i < crashes->count; i++)
    crashes->list[i].is_seen = !dir;
  for (struct dirent *e; dir && (e = readdir(dir));) {
    struct kymo_crash_watch *watch = e->d_name[0] == '.' ? NULL : find(crashes, e->d_name);
    if (!watch && e->d_name[0] != '.')
      watch = add(crashes, e->d_name);
    if (watch)
      watch->is_seen = true;
  }
  if (dir)
    closedir(dir);
  for (size_t i = 0; i < crashes->count; i++) {
    struct kymo_crash_watch *watch = &crashes->list[i];
    char program[KYMO_PROGRAM_MAX];
    int number = look_at(watch);
    if (number && !kymo_crashes_told(crashes, watch->pid)) /* after an exec a process has two pools */
      kymo_strbuf_printf(names, "%s%s (process %d): %s", found++ ? ", " : "", kymo_pool_program(&watch->view, program), watch->pid,
                         strsignal(number));
    watch->is_told |= number;
    if (watch->is_seen)
      crashes->list[kept++] = *watch;
    else
      drop(watch);
  }
  crashes->count = kept;
  return found;
}

bool kymo_crashes_wait(const struct kymo_crashes *crashes, int fd, int timeout_ms) {
  struct pollfd wait[WAITED_MAX + 1] = {{fd, POLLIN, 0}};
  nfds_t count = 1;
  for (size_t i = 0; i < crashes->count && count <= WAITED_MAX; i++)
    if (!crashes->list[i].is_over && crashes->list[i].process >= 0)
      wait[count++] = (struct pollfd){crashes->list[i].process, POLLIN, 0};
  return poll(wait, count, timeout_ms) > 0 && wait[0].revents;
}

void kymo_crashes_free(struct kymo_crashes *crashes) {
  for (size_t i = 0; i < crashes->count; i++)
    drop(&crashes->list[i]);
  free(crashes->list);
  *crashes = (struct kymo_crashes){.rings = crashes->rings};
}
