/* SPDX-License-Identifier: MIT */
#include "live/crashes.h"
#include "base/dir.h"
#include "base/list.h"
#include "base/path.h"
#include "ring/exits.h"
#include "ring/life.h"
#include "ring/places.h"
#include "ring/ring.h"
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* At most this many processes are waited for at a time; crashes of others are found at the next look. */
enum { WAITED_MAX = 256 };

struct kymo_crash_watch {
  char name[NAME_MAX + 1]; /* of the pool's directory */
  struct kymo_pool_view view;
  int pid, process;                   /* its descriptor, or -1 */
  bool is_over, is_reported, is_seen; /* is_seen: in the present look */
};

static struct kymo_crash_watch *find(struct kymo_crashes *crashes, const char *name) {
  for (size_t i = 0; i < crashes->count; i++)
    if (!strcmp(crashes->list[i].name, name))
      return &crashes->list[i];
  return NULL;
}

/* A descriptor of the process of a pool; -1: it has ended, or its number is of another PID namespace. */
static int open_process(const struct kymo_pool_view *view) {
  const struct kymo_pool_header *header = view->header;
  if (header->pid_namespace && header->pid_namespace != kymo_pid_namespace())
    return -1;
  int process = (int)syscall(SYS_pidfd_open, header->pid, 0);
  if (process < 0 || kymo_life_by_pid(header)) /* now that it is open, the number cannot be reused any more */
    return process;
  close(process);
  return -1;
}

/* A pool that is being created is found at the next look. */
static struct kymo_crash_watch *add(struct kymo_crashes *crashes, const char *name) {
  char path[2 * KYMO_PATH_MAX];
  struct kymo_pool_view view;
  if (!KYMO_LIST_ROOM(crashes->list, crashes->room, crashes->count))
    return NULL;
  kymo_path_join(path, sizeof path, crashes->rings, name);
  if (strlen(name) > NAME_MAX || kymo_pool_open(&view, path, false, NULL))
    return NULL;
  struct kymo_crash_watch *watch = &crashes->list[crashes->count++];
  *watch = (struct kymo_crash_watch){.view = view, .pid = view.header->pid};
  memcpy(watch->name, name, strlen(name) + 1);
  watch->process = open_process(&watch->view);
  return watch;
}

static void drop(struct kymo_crash_watch *watch) {
  if (watch->process >= 0)
    close(watch->process);
  kymo_pool_close(&watch->view);
}

bool kymo_crash_is(int number) {
  static const int crashes[] = {SIGSEGV, SIGBUS,  SIGILL,  SIGFPE,  SIGABRT, SIGTRAP,
                                SIGSYS,  SIGQUIT, SIGXCPU, SIGXFSZ, SIGKILL};
  for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
    if (crashes[i] == number)
      return true;
  return false;
}

/* Whether another image of the process has a pool too: it went on by exec. */
static bool has_later(const struct kymo_crashes *crashes, const struct kymo_crash_watch *watch) {
  for (const struct kymo_crash_watch *other = watch + 1; other < crashes->list + crashes->count; other++)
    if (other->pid == watch->pid && other->view.header->start_clock > watch->view.header->start_clock)
      return true;
  return false;
}

/* The signal of a process that has crashed since the last look; NO_SIGNAL; else 0. */
enum { NO_SIGNAL = -1, UNKNOWN_MAX = 4 };
static int look_at(struct kymo_crashes *crashes, struct kymo_crash_watch *watch) {
  if (watch->is_over)
    return 0;
  int status = 0, number = (int)__atomic_load_n(&watch->view.header->crash_signal,
                                                __ATOMIC_ACQUIRE); /* partner: on_fatal of crash.c */
  enum kymo_exit end =
      watch->process >= 0 ? kymo_exit_of(watch->process, watch->pid, &status) : KYMO_EXIT_UNKNOWN;
  bool was_seen = watch->process >= 0,
       is_silent = !number && end == KYMO_EXIT_UNKNOWN && !kymo_pool_is_alive(&watch->view) &&
                   !watch->view.header->finished && !has_later(crashes, watch);
  if (!number && end == KYMO_EXIT_KNOWN && WIFSIGNALED(status) && kymo_crash_is(WTERMSIG(status)))
    number = WTERMSIG(status);
  if (is_silent && was_seen && crashes->unknown++ < UNKNOWN_MAX)
    number = NO_SIGNAL;
  else if (is_silent)
    crashes->unseen++;
  watch->is_over = number || end == KYMO_EXIT_KNOWN || !kymo_pool_is_alive(&watch->view);
  return number;
}

bool kymo_crashes_reported(const struct kymo_crashes *crashes, int pid) {
  for (size_t i = 0; i < crashes->count; i++)
    if (crashes->list[i].pid == pid && crashes->list[i].is_reported)
      return true;
  return false;
}

size_t kymo_crashes_look(struct kymo_crashes *crashes, struct kymo_strbuf *names) {
  size_t found = 0, kept = 0, unready = 0;
  bool is_cut = false;
  DIR *dir = opendir(crashes->rings);
  for (size_t i = 0; i < crashes->count; i++)
    crashes->list[i].is_seen = !dir;
  for (struct dirent *e; dir && (e = kymo_dir_next(dir, &is_cut));) {
    struct kymo_crash_watch *watch = e->d_name[0] == '.' ? NULL : find(crashes, e->d_name);
    if (!watch && e->d_name[0] != '.') {
      watch = add(crashes, e->d_name);
      unready += !watch;
    }
    if (watch)
      watch->is_seen = true;
  }
  for (size_t i = 0; is_cut && i < crashes->count; i++)
    crashes->list[i].is_seen = true;
  crashes->unready_looks = unready ? crashes->unready_looks + 1 : 0;
  if (dir)
    closedir(dir);
  for (size_t i = 0; i < crashes->count; i++) {
    struct kymo_crash_watch *watch = &crashes->list[i];
    char program[KYMO_PROGRAM_MAX];
    int number = look_at(crashes, watch);
    bool is_new =
        number && !kymo_crashes_reported(crashes, watch->pid); /* after an exec a process has two pools */
    if (is_new)
      kymo_strbuf_printf(names, "%s%s (process %d): %s", found++ ? ", " : "",
                         kymo_pool_program(&watch->view, program), watch->pid,
                         number == NO_SIGNAL ? "killed or crashed (signal unknown)" : strsignal(number));
    if (is_new && number == (int)watch->view.header->crash_signal)
      kymo_strbuf_printf(names, " in thread %d", watch->view.header->crash_tid);
    watch->is_reported |= number != 0;
    if (watch->is_seen)
      crashes->list[kept++] = *watch;
    else
      drop(watch);
  }
  crashes->count = kept;
  return found;
}

/* Changes in the directory so far are found by the next look. */
static void forget_changes(const struct kymo_crashes *crashes) {
  char events[4096];
  while (read(crashes->changes, events, sizeof events) > 0) {
  }
}

bool kymo_crashes_wait(const struct kymo_crashes *crashes, int process, int fd, int timeout_ms) {
  enum { UNREADY_MS = 1, UNREADY_LOOKS = 50 };
  struct pollfd wait[WAITED_MAX + 3] = {{fd, POLLIN, 0}, {crashes->changes, POLLIN, 0}, {process, POLLIN, 0}};
  nfds_t count = 3;
  for (size_t i = 0; i < crashes->count && count < sizeof wait / sizeof *wait; i++)
    if (!crashes->list[i].is_over && crashes->list[i].process >= 0)
      wait[count++] = (struct pollfd){crashes->list[i].process, POLLIN, 0};
  if (crashes->unready_looks && crashes->unready_looks < UNREADY_LOOKS && timeout_ms > UNREADY_MS)
    timeout_ms = UNREADY_MS;
  bool is_woken = poll(wait, count, timeout_ms) > 0;
  if (is_woken && wait[1].revents)
    forget_changes(crashes);
  return is_woken && wait[0].revents;
}

void kymo_crashes_begin(struct kymo_crashes *crashes, const char *rings) {
  *crashes = (struct kymo_crashes){.rings = rings, .changes = inotify_init1(IN_CLOEXEC | IN_NONBLOCK)};
  if (crashes->changes >= 0)
    inotify_add_watch(crashes->changes, rings, IN_CREATE);
}

void kymo_crashes_free(struct kymo_crashes *crashes) {
  for (size_t i = 0; i < crashes->count; i++)
    drop(&crashes->list[i]);
  free(crashes->list);
  if (crashes->changes >= 0)
    close(crashes->changes);
  *crashes = (struct kymo_crashes){.changes = -1};
}
