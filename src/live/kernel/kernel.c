/* SPDX-License-Identifier: MIT */
#include "live/kernel/kernel.h"
#include "base/arena.h"
#include "base/fail.h"
#include "live/beside.h"
#include "live/kernel/drain.h"
#include "live/kernel/events.h"
#include "live/kernel/head.h"
#include "live/kernel/names.h"
#include "live/kernel/pages.h"
#include "live/sync.h"
#include "live/tree.h"
#include "ring/life.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The inode of the first PID namespace, by which the kernel numbers processes in its events. */
#define PID_NAMESPACE_INITIAL UINT64_C(0xeffffffc)

struct kymo_kernel {
  struct kymo_kernel_options options;
  struct kymo_session_clock clock;
  struct kymo_instance instance;
  struct kymo_kernel_events events;
  struct kymo_arena arena; /* names of probes */
  struct kymo_kernel_names *names;
  struct kymo_kernel_drain *drain;
  char directory[KYMO_PATH_MAX]; /* "" until it is made */
  uint32_t page_size;
  int pids, on; /* set_event_pid, or -1; tracing_on */
  bool is_kept;
  bool has_numbers; /* processes have the same numbers here and in the kernel's events */
};

/* ---- the clock ---- */

/* Whether "[local] global x86-tsc" has a clock of that name. */
static bool has_clock(const char *clocks, const char *name) {
  size_t length = strlen(name);
  for (const char *at = clocks; *at;) {
    at += strspn(at, "[] \n");
    size_t here = strcspn(at, "[] \n");
    if (here == length && strncmp(at, name, length) == 0)
      return true;
    at += here;
  }
  return false;
}

static bool kernel_has_counter(void) {
  char tracefs[KYMO_PATH_MAX];
  struct kymo_strbuf clocks = {0};
  struct kymo_error unused;
  if (kymo_tracefs_find(tracefs, &unused) == KYMO_OK)
    kymo_tracefs_read_if_there(tracefs, "trace_clock", &clocks);
  bool has = clocks.text && has_clock(clocks.text, "x86-tsc");
  kymo_strbuf_free(&clocks);
  return has;
}

void kymo_kernel_clock(struct kymo_session_clock *clock, bool is_counter, const char **must_choose) {
  char machine[KYMO_PATH_MAX];
  bool shared = kymo_pool_base(machine, NULL);
  bool has_counter = is_counter && kernel_has_counter();
  *must_choose = is_counter && !has_counter ? "monotonic" : NULL;
  kymo_session_clock_start(clock, has_counter ? KYMO_CLOCK_COUNTER : KYMO_CLOCK_MONOTONIC,
                           shared ? machine : NULL);
}

/* ---- making ---- */

/* The size of a page: of newer kernels it can be chosen, of others it is in a description. */
static int find_page_size(struct kymo_kernel *kernel, struct kymo_error *error) {
  struct kymo_strbuf text = {0};
  kymo_tracefs_read_if_there(kernel->instance.path, "buffer_subbuf_size_kb", &text);
  kernel->page_size =
      text.text ? (uint32_t)strtoul(text.text, NULL, 10) * 1024 : (uint32_t)sysconf(_SC_PAGESIZE);
  kymo_strbuf_free(&text);
  return kernel->page_size >= 1024 && kernel->page_size <= 16u << 20
             ? KYMO_OK
             : kymo_fail(error, KYMO_E_SYSTEM, "%s/buffer_subbuf_size_kb: expected a size of pages",
                         kernel->instance.path);
}

/* A setting that only newer kernels have. */
static void set_if_there(const struct kymo_kernel *kernel, const char *name, const char *value) {
  struct kymo_error unused;
  kymo_tracefs_write(kernel->instance.path, name, value, &unused);
}

static int set_up(struct kymo_kernel *kernel, struct kymo_error *error) {
  const char *path = kernel->instance.path;
  char size[32], tid[16];
  uint64_t bytes = kernel->options.buffer_bytes ? kernel->options.buffer_bytes : KYMO_KERNEL_BUFFER;
  snprintf(size, sizeof size, "%" PRIu64, bytes / 1024);
  snprintf(tid, sizeof tid, "%d", (int)getpid());
  int status = kymo_tracefs_write(path, "trace_clock", kernel->clock.is_counter ? "x86-tsc" : "mono", error);
  if (status == KYMO_OK)
    status = kymo_tracefs_write(path, "buffer_size_kb", size, error);
  set_if_there(kernel, "buffer_percent", "25");
  if (status == KYMO_OK && kernel->options.only_ours) {
    status = kymo_tracefs_write(path, "options/event-fork", "1", error);
    char file[KYMO_PATH_MAX + 32];
    snprintf(file, sizeof file, "%s/set_event_pid", path);
    kernel->pids = open(file, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (status == KYMO_OK && kernel->pids < 0)
      status = kymo_tracefs_fail(file, "cannot open", error);
  } else if (kernel->has_numbers) {
    set_if_there(kernel, "set_event_notrace_pid", tid); /* else draining would make events */
  }
  return status;
}

/* "p NAME FILE:OFFSET …" becomes "p:GROUP/NAME FILE:OFFSET …", and an event of the instance as well. */
static int add_probe(struct kymo_kernel *kernel, const char *line, struct kymo_error *error) {
  struct kymo_strbuf command = {0};
  size_t length = strlen(line) > 2 ? strcspn(line + 2, " ") : 0;
  char *name = length ? kymo_arena_copy(&kernel->arena, line + 2, length) : NULL;
  if (!name)
    return kymo_fail(error, KYMO_E_USAGE, "expected a probe, found \"%s\"", line);
  for (size_t i = 0; i < kernel->events.count; i++)
    if (!strcmp(kernel->events.list[i].group, kernel->instance.group) &&
        !strcmp(kernel->events.list[i].name, name))
      return kymo_fail(error, KYMO_E_USAGE, "two probes are called \"%s\"", name);
  kymo_strbuf_printf(&command, "%c:%s/%s%s", line[0], kernel->instance.group, name, line + 2 + length);
  int status = command.failed
                   ? kymo_fail(error, KYMO_E_MEMORY, "out of memory")
                   : kymo_tracefs_write(kernel->instance.tracefs, "uprobe_events", command.text, error);
  kymo_strbuf_free(&command);
  if (!status && !kymo_kernel_events_add(&kernel->events, kernel->instance.group, name))
    status = kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  return status;
}

static int add_probes(struct kymo_kernel *kernel, struct kymo_error *error) {
  int status = KYMO_OK;
  for (const char *const *line = kernel->options.probes; line && *line && !status; line++)
    status = add_probe(kernel, *line, error);
  return status;
}

/* ---- starting ---- */

static int begin(struct kymo_kernel *kernel, struct kymo_error *error) {
  char path[KYMO_PATH_MAX + 32], tid[16];
  const struct kymo_kernel_drain_options options = {.instance = kernel->instance.path,
                                                    .directory = kernel->directory,
                                                    .page_size = kernel->page_size,
                                                    .clock = &kernel->clock,
                                                    .sync = kernel->options.sync};
  int status = kymo_kernel_drain_new(&kernel->drain, &options, error);
  const struct kymo_kernel_head head = {&kernel->instance, &kernel->events,
                                        status == KYMO_OK ? kymo_kernel_drain_cpus(kernel->drain) : 0,
                                        kernel->page_size};
  snprintf(path, sizeof path, "%s/head.dat", kernel->directory);
  if (status == KYMO_OK)
    status = kymo_kernel_head_write(&head, path, error);
  if (status == KYMO_OK)
    status = kymo_kernel_events_switch_on(&kernel->events, kernel->instance.path, error);
  if (status == KYMO_OK)
    status = kymo_kernel_drain_begin(kernel->drain, error);
  if (status != KYMO_OK)
    return status;
  snprintf(tid, sizeof tid, "%d", kymo_kernel_drain_tid(kernel->drain));
  if (!kernel->options.only_ours && kernel->has_numbers)
    set_if_there(kernel, "set_event_notrace_pid", tid);
  snprintf(path, sizeof path, "%s/tracing_on", kernel->instance.path);
  kernel->on = open(path, O_WRONLY | O_CLOEXEC);
  return kernel->on < 0 ? kymo_tracefs_fail(path, "cannot open", error) : KYMO_OK;
}

int kymo_kernel_new(struct kymo_kernel **out, const struct kymo_kernel_options *options,
                    const struct kymo_session_clock *clock, struct kymo_error *error) {
  struct kymo_kernel *kernel = *out = calloc(1, sizeof *kernel);
  if (!kernel)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  kernel->options = *options;
  kernel->clock = *clock;
  kernel->pids = kernel->on = -1;
  kernel->has_numbers = kymo_pid_namespace() == PID_NAMESPACE_INITIAL;
  int status = kernel->has_numbers || !options->only_ours
                   ? kymo_instance_make(&kernel->instance, error)
                   : kymo_fail(error, KYMO_E_USAGE,
                               "the kernel cannot select by process here: in this PID namespace processes "
                               "have other numbers than in the kernel's events");
  if (status == KYMO_OK)
    status = kymo_kernel_events_find(&kernel->events, kernel->instance.tracefs, options->events, error);
  /* two rare events, without which threads that end before the recording have no names */
  kymo_kernel_events_want(&kernel->events, "task", "task_newtask");
  kymo_kernel_events_want(&kernel->events, "task", "task_rename");
  if (status == KYMO_OK)
    status = add_probes(kernel, error);
  if (status == KYMO_OK)
    status = find_page_size(kernel, error);
  if (status == KYMO_OK)
    status = kymo_beside_make(kernel->directory, options->directory, KYMO_KERNEL_DIRECTORY, clock, error);
  if (status == KYMO_OK)
    status = set_up(kernel, error);
  if (status == KYMO_OK && !(kernel->names = kymo_kernel_names_new()))
    status = kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (status == KYMO_OK) {
    kymo_kernel_names_learn(kernel->names, &kernel->events, kernel->instance.tracefs);
    if (kernel->has_numbers)
      kymo_kernel_names_look(kernel->names, 0);
    status = begin(kernel, error);
  }
  if (status != KYMO_OK) {
    kymo_kernel_free(kernel);
    *out = NULL;
  }
  return status;
}

/* ---- whose events ---- */

static int put_pid(int file, long pid) {
  char text[24], *at = text + sizeof text;
  size_t length;
  for (; pid; pid /= 10)
    *--at = (char)('0' + pid % 10);
  length = (size_t)(text + sizeof text - at);
  return write(file, at, length) == (ssize_t)length ? 0 : errno;
}

int kymo_kernel_enter(const struct kymo_kernel *kernel) {
  int reason = kernel->pids >= 0 ? put_pid(kernel->pids, syscall(SYS_getpid)) : 0;
  return reason ? reason : write(kernel->on, "1", 1) == 1 ? 0 : errno;
}

static bool add_thread(void *kernel, pid_t pid, pid_t tid) {
  (void)pid;
  return put_pid(((struct kymo_kernel *)kernel)->pids, tid) == 0;
}

/* What is forked while the tree is read is in the next reading, or is added by the kernel (event-fork). */
int kymo_kernel_follow(struct kymo_kernel *kernel, pid_t pid, struct kymo_error *error) {
  enum { ROUNDS = 2 };
  size_t count = 0;
  for (int i = 0; i < ROUNDS && kernel->pids >= 0 && pid > 0; i++)
    count = kymo_tree_walk(pid, add_thread, kernel);
  if (kernel->pids >= 0 && !count)
    return kymo_fail(error, KYMO_E_UNKNOWN, "there is no process %d", (int)pid);
  kernel->is_kept = write(kernel->on, "1", 1) == 1;
  return kernel->is_kept ? KYMO_OK : kymo_tracefs_fail(kernel->instance.path, "cannot switch on", error);
}

void kymo_kernel_keep(struct kymo_kernel *kernel) {
  if (kernel)
    kernel->is_kept = true;
}

/* ---- the end ---- */

/* "overrun: 12" */
static uint64_t number_of(const char *stats, const char *name) {
  for (const char *line = stats; line && *line; line += strcspn(line, "\n"), line += *line == '\n')
    if (strncmp(line, name, strlen(name)) == 0 && line[strlen(name)] == ':')
      return strtoull(line + strlen(name) + 1, NULL, 10);
  return 0;
}

/* What the kernel could not keep, by its own counters. */
static uint64_t count_lost(const struct kymo_kernel *kernel) {
  uint64_t lost = 0;
  for (uint32_t i = 0; i < kymo_kernel_drain_cpus(kernel->drain); i++) {
    struct kymo_strbuf stats = {0};
    char name[64];
    snprintf(name, sizeof name, "per_cpu/cpu%" PRIu32 "/stats", i);
    kymo_tracefs_read_if_there(kernel->instance.path, name, &stats);
    lost += number_of(stats.text, "overrun") + number_of(stats.text, "commit overrun") +
            number_of(stats.text, "dropped events");
    kymo_strbuf_free(&stats);
  }
  return lost;
}

/* Counts the events of all pages and takes names from them. */
static int read_pages(struct kymo_kernel *kernel, struct kymo_kernel_sum *sum, struct kymo_error *error) {
  struct kymo_kernel_pages pages = {
      .page_size = kernel->page_size, .each = kymo_kernel_names_take, .user = kernel->names};
  char path[KYMO_PATH_MAX + 16];
  int file;
  for (uint32_t i = 0; (file = kymo_kernel_drain_file(kernel->drain, i)) >= 0; i++)
    if (!kymo_kernel_pages_walk(&pages, file))
      return kymo_fail_errno(error, kernel->directory, "cannot read the pages again");
  sum->events = pages.events;
  if (kernel->has_numbers)
    kymo_kernel_names_look(kernel->names, UINT64_MAX);
  snprintf(path, sizeof path, "%s/names", kernel->directory);
  int status = kymo_kernel_names_write(kernel->names, path, error);
  bool is_shown = sum->lost <= pages.lost || pages.gaps;
  int noted = is_shown
                  ? KYMO_OK
                  : kymo_beside_note_lost(kernel->directory, sum->lost - pages.lost, status ? NULL : error);
  return status ? status : noted;
}

static void close_switches(struct kymo_kernel *kernel) {
  if (kernel->pids >= 0)
    close(kernel->pids);
  if (kernel->on >= 0)
    close(kernel->on);
  kernel->pids = kernel->on = -1;
}

int kymo_kernel_stop(struct kymo_kernel *kernel, struct kymo_kernel_sum *sum, struct kymo_error *error) {
  struct kymo_error later, *at = error;
  uint64_t unwritten = 0;
  *sum = (struct kymo_kernel_sum){0};
  kernel->is_kept = true;
  int status = kymo_tracefs_write(kernel->instance.path, "tracing_on", "0", at);
  at = status ? &later : error;
  int one = kymo_kernel_drain_end(kernel->drain, &unwritten, at);
  status = status ? status : one;
  at = status ? &later : error;
  sum->lost = count_lost(kernel) + unwritten;
  one = read_pages(kernel, sum, at);
  status = status ? status : one;
  at = status ? &later : error;
  kymo_kernel_drain_free(kernel->drain);
  kernel->drain = NULL;
  close_switches(kernel);
  one = kymo_instance_remove(&kernel->instance, at);
  status = status ? status : one;
  at = status ? &later : error;
  one = kymo_sync(kernel->directory, at);
  sum->is_unsynced = one != KYMO_OK;
  return status ? status : one;
}

/* A directory of a recording that never began. */
static void remove_directory(const struct kymo_kernel *kernel) {
  static const char *const files[] = {"head.dat", "names"};
  char path[KYMO_PATH_MAX + 32];
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    snprintf(path, sizeof path, "%s/%s", kernel->directory, files[i]);
    unlink(path);
  }
  for (unsigned i = 0; kernel->drain && i < kymo_kernel_drain_cpus(kernel->drain); i++) {
    snprintf(path, sizeof path, "%s/cpu%u", kernel->directory, i);
    unlink(path);
  }
  kymo_beside_remove(kernel->directory);
}

void kymo_kernel_free(struct kymo_kernel *kernel) {
  struct kymo_error unused;
  if (!kernel)
    return;
  if (kernel->directory[0] && !kernel->is_kept)
    remove_directory(kernel);
  kymo_kernel_drain_free(kernel->drain);
  close_switches(kernel);
  kymo_instance_remove(&kernel->instance, &unused);
  kymo_kernel_events_free(&kernel->events);
  kymo_kernel_names_free(kernel->names);
  kymo_arena_free(&kernel->arena);
  free(kernel);
}
