/* SPDX-License-Identifier: MIT */
/*
 * None of the files that are read here waits for a lock of the process's memory, except `mem`, whose opening
 * may wait for an exec that does not end.
 */
#include "process/threads.h"
#include "process/proc.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { STATUS_MAX = 8192, STAT_MAX = 2048, THREADS_MAX = 4096 };

/* ---- one thread ---- */

/* The field of a stat with this number (man 5 proc), from 3 on. */
static uint64_t stat_field(const char *stat, int number) {
  const char *at = strrchr(stat, ')');
  for (int i = 2; at && i < number; i++)
    at = strchr(at + 1, ' ');
  return at ? strtoull(at + 1, NULL, 10) : 0;
}

static uint64_t number_in(const char *status, const char *key, int base) {
  const char *value = proc_value(status, key);
  return value ? strtoull(value, NULL, base) : 0;
}

/* The last number of a line of numbers. */
static int last_number(const char *status, const char *key, int otherwise) {
  const char *value = proc_value(status, key);
  size_t length = value ? strcspn(value, "\n") : 0;
  while (length && !isdigit((unsigned char)value[length - 1]))
    length--;
  while (length && isdigit((unsigned char)value[length - 1]))
    length--;
  return value && isdigit((unsigned char)value[length]) ? (int)strtol(value + length, NULL, 10) : otherwise;
}

/* Time on processors, by the scheduler's account or else by ticks. */
static uint64_t cpu_ns(const struct process *process, int tid, const char *stat) {
  char text[128];
  if (proc_read(text, sizeof text, "/proc/%d/task/%d/schedstat", process->pid, tid) > 0)
    return strtoull(text, NULL, 10);
  long hertz = sysconf(_SC_CLK_TCK);
  return (stat_field(stat, 14) + stat_field(stat, 15)) * (1000000000u / (uint64_t)(hertz > 0 ? hertz : 100));
}

static struct process_switches switches(const char *status) {
  return (struct process_switches){.to_wait = number_in(status, "voluntary_ctxt_switches", 10),
                                   .others = number_in(status, "nonvoluntary_ctxt_switches", 10)};
}

/* The functions of the kernel in which it is: only root may see them. */
static void read_kernel_stack(struct process *process, struct process_thread *thread) {
  enum { FUNCTIONS_MAX = 4 };
  char text[4096], list[512] = "";
  if (proc_read(text, sizeof text, "/proc/%d/task/%d/stack", process->pid, thread->tid) <= 0)
    return;
  size_t length = 0;
  int count = 0;
  for (char *rest = text, *line; count < FUNCTIONS_MAX && (line = strsep(&rest, "\n"));) {
    char *name = strstr(line, "] ");
    if (!name || length > sizeof list - PROCESS_NAME_MAX - 8 || strstr(name, "_syscall") ||
        strncmp(name, "] entry_", 8) == 0)
      continue; /* how every system call begins says nothing */
    name[strcspn(name, "+")] = 0;
    length += (size_t)snprintf(list + length, PROCESS_NAME_MAX, "%s%s", count++ ? " < " : "", name + 2);
    length = length < sizeof list - 1 ? length : sizeof list - 1;
  }
  if (count)
    thread->kernel_stack = process_board_text(process->board, "%s", list);
}

static void read_waiting(struct process *process, struct process_thread *thread) {
  char *wchan = thread->wchan;
  proc_read(wchan, sizeof thread->wchan, "/proc/%d/task/%d/wchan", process->pid, thread->tid);
  if (strcmp(wchan, "0") == 0)
    *wchan = 0;
  if (thread->state == 'D')
    read_kernel_stack(process, thread);
}

/* False: it has ended. */
static bool read_thread(struct process *process, struct process_thread *thread) {
  char status[STATUS_MAX], stat[STAT_MAX];
  thread->state = 0;
  if (proc_read(stat, sizeof stat, "/proc/%d/task/%d/stat", process->pid, thread->tid) <= 0 ||
      proc_read(status, sizeof status, "/proc/%d/task/%d/status", process->pid, thread->tid) <= 0)
    return false;
  thread->seen_ns = process_now_ns();
  proc_read(thread->name, sizeof thread->name, "/proc/%d/task/%d/comm", process->pid, thread->tid);
  thread->name[strcspn(thread->name, "\n")] = 0;
  const char *state = proc_value(status, "State");
  thread->state = state && *state != 'X' ? *state : 0;
  thread->inner_tid = last_number(status, "NSpid", thread->tid);
  thread->tracer = (int)number_in(status, "TracerPid", 10);
  thread->pending = number_in(status, "SigPnd", 16);
  thread->process_pending = number_in(status, "ShdPnd", 16);
  thread->blocked = number_in(status, "SigBlk", 16);
  thread->cpu_ns = cpu_ns(process, thread->tid, stat);
  thread->switches = switches(status);
  read_waiting(process, thread);
  return thread->state;
}

/* ---- all threads ---- */

static int by_tid(const void *a, const void *b) {
  const struct process_thread *x = a, *y = b;
  return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static bool list_threads(struct process *process) {
  char path[PROC_PATH_MAX];
  snprintf(path, sizeof path, "/proc/%d/task", process->pid);
  DIR *dir = opendir(path);
  if (!dir)
    return false;
  size_t room = 0;
  process->count = process->threads_in_all = 0;
  while (readdir(dir))
    room++;
  room = room < THREADS_MAX ? room + 16 : THREADS_MAX;
  process->threads = process_board_take(process->board, room * sizeof *process->threads);
  rewinddir(dir);
  for (struct dirent *entry; process->threads && (entry = readdir(dir));) {
    int tid = isdigit((unsigned char)entry->d_name[0]) ? (int)strtol(entry->d_name, NULL, 10) : 0;
    process->threads_in_all += tid > 0;
    if (tid > 0 && process->count < room)
      process->threads[process->count++] = (struct process_thread){.tid = tid, .inner_tid = tid};
  }
  closedir(dir);
  return process->threads && process->count;
}

/* ---- the process ---- */

static void read_age(struct process *process, const char *stat) {
  struct timespec now;
  long hertz = sysconf(_SC_CLK_TCK);
  uint64_t ticks = stat_field(stat, 22);
  if (clock_gettime(CLOCK_BOOTTIME, &now) || hertz <= 0)
    return;
  process->age_ns =
      (int64_t)now.tv_sec * 1000000000 + now.tv_nsec - (int64_t)(ticks * (1000000000u / (uint64_t)hertz));
}

static void read_exe(struct process *process) {
  char link[PROC_PATH_MAX], path[4096];
  unsigned char head[5] = {0};
  snprintf(link, sizeof link, "/proc/%d/exe", process->living);
  ssize_t length = readlink(link, path, sizeof path - 1);
  process->exe = process_board_text(process->board, "%.*s", length > 0 ? (int)length : 0, path);
  int fd = length > 0 ? open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
  if (fd >= 0) {
    process->is_32_bit = read(fd, head, sizeof head) == (ssize_t)sizeof head && head[4] == 1;
    close(fd);
  }
}

/* The number of the PID namespace, if it is another one than ours. */
static uint64_t other_space(int pid) {
  char path[PROC_PATH_MAX];
  struct stat own, other;
  snprintf(path, sizeof path, "/proc/%d/ns/pid", pid);
  return !stat("/proc/self/ns/pid", &own) && !stat(path, &other) && own.st_ino != other.st_ino
             ? (uint64_t)other.st_ino
             : 0;
}

bool process_read_threads(struct process *process) {
  char status[STATUS_MAX], stat[STAT_MAX];
  if (proc_read(stat, sizeof stat, "/proc/%d/stat", process->pid) <= 0 ||
      proc_read(status, sizeof status, "/proc/%d/status", process->pid) <= 0)
    return false;
  proc_name(process->name, process->pid);
  const char *state = proc_value(status, "State"), *user = proc_value(status, "Uid");
  process->state = state ? *state : '?';
  process->inner_pid = last_number(status, "NSpid", process->pid);
  process->inner_space = other_space(process->pid);
  process->parent = (int)number_in(status, "PPid", 10);
  process->tracer = (int)number_in(status, "TracerPid", 10);
  process->has_user = user;
  process->user = user ? (unsigned)strtoul(user, NULL, 10) : 0;
  if (process->parent > 0)
    proc_name(process->parent_name, process->parent);
  read_age(process, stat);
  if (!list_threads(process))
    return false;
  qsort(process->threads, process->count, sizeof *process->threads, by_tid);
  process->living = process->pid;
  for (size_t i = process->count; i-- > 0;)
    if (read_thread(process, &process->threads[i]) && process->threads[i].state != 'Z')
      process->living = process->threads[i].tid;
  read_exe(process);
  return true;
}

void process_read_again(struct process *process) {
  char status[STATUS_MAX], stat[STAT_MAX];
  for (size_t i = 0; i < process->count; i++) {
    struct process_thread *thread = &process->threads[i];
    if (!thread->state ||
        proc_read(stat, sizeof stat, "/proc/%d/task/%d/stat", process->pid, thread->tid) <= 0 ||
        proc_read(status, sizeof status, "/proc/%d/task/%d/status", process->pid, thread->tid) <= 0)
      continue;
    thread->cpu_later_ns = cpu_ns(process, thread->tid, stat);
    thread->switches_later = switches(status);
    const char *state = proc_value(status, "State");
    thread->state_later = state ? *state : 0;
    thread->seen_later_ns = process_now_ns();
  }
}

bool process_has_run(const struct process_thread *thread) {
  return !thread->seen_later_ns || thread->cpu_later_ns != thread->cpu_ns ||
         thread->switches_later.to_wait != thread->switches.to_wait ||
         thread->switches_later.others != thread->switches.others;
}

bool process_never_waits(const struct process_thread *thread) {
  return thread->seen_later_ns && thread->state == 'R' && thread->state_later == 'R' &&
         thread->switches_later.to_wait == thread->switches.to_wait;
}

int process_load(const struct process_thread *thread) {
  long long time = thread->seen_later_ns - thread->seen_ns;
  if (!thread->seen_later_ns || time <= 0 || thread->cpu_later_ns < thread->cpu_ns)
    return -1;
  uint64_t percent = (thread->cpu_later_ns - thread->cpu_ns) * 100 / (uint64_t)time;
  return percent > 100 ? 100 : (int)percent;
}

/* ---- permission ---- */

static const char *user_text(struct process *process, unsigned user) {
  struct passwd *known = getpwuid(user);
  return known ? process_board_text(process->board, "%s", known->pw_name)
               : process_board_text(process->board, "%u", user);
}

/* The level of the security module Yama; -1: there is none. */
static int yama_scope(void) {
  char text[16];
  return proc_read(text, sizeof text, "/proc/sys/kernel/yama/ptrace_scope") > 0 ? (int)strtol(text, NULL, 10)
                                                                                : -1;
}

const char *process_denial(struct process *process, bool *refused) {
  char path[PROC_PATH_MAX];
  struct stat st;
  snprintf(path, sizeof path, "/proc/%d/mem", process->living);
  int fd = open(path, O_RDONLY | O_CLOEXEC), reason = errno;
  *refused = false;
  if (fd >= 0) {
    close(fd);
    return NULL;
  }
  if (reason != EACCES && reason != EPERM)
    return process_board_text(process->board, "its memory cannot be read: %s", strerror(reason));
  if (process->has_user && process->user != geteuid()) {
    *refused = true;
    return process_board_text(process->board,
                              "it belongs to user %s; use the account of that user, or root (CAP_SYS_PTRACE)",
                              user_text(process, process->user));
  }
  int scope = yama_scope();
  if (scope > 0)
    return process_board_text(process->board, "kernel.yama.ptrace_scope is %d; use root (CAP_SYS_PTRACE)%s",
                              scope,
                              scope >= 3   ? ", after a restart without this setting"
                              : scope == 1 ? ", or sysctl kernel.yama.ptrace_scope=0"
                                           : "");
  snprintf(path, sizeof path, "/proc/%d/status", process->pid);
  bool is_shielded = !stat(path, &st) && st.st_uid != geteuid();
  return process_board_text(process->board, "%s; use root (CAP_SYS_PTRACE)",
                            is_shielded
                                ? "the process is not dumpable (prctl PR_SET_DUMPABLE, or a program with "
                                  "set-user-ID or capabilities)"
                                : "the kernel denies it: the process has capabilities or a user namespace "
                                  "that this one does not have");
}

const char *process_state_text(char state) {
  switch (state) {
  case 'R': return "running";
  case 'S': return "sleeping";
  case 'D': return "in disk sleep";
  case 'T': return "stopped";
  case 't': return "stopped by a debugger";
  case 'Z': return "ended (zombie)";
  case 'I': return "idle";
  case 0:
  case 'X': return "ended";
  default: return "in an unknown state";
  }
}
