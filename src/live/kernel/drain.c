/* SPDX-License-Identifier: MIT */
#include "live/kernel/drain.h"
#include "base/dir.h"
#include "base/fail.h"
#include "base/list.h"
#include "base/path.h"
#include "live/beside.h"
#include "live/kernel/pages.h"
#include "live/recording.h"
#include "live/sync.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PIPE_BYTES = 1 << 20, PAUSE_MS = 100, REST_MS = 2, SECOND_NS = 1000000000 };

struct cpu {
  uint32_t id;
  int from, to; /* trace_pipe_raw; the file */
};

struct kymo_kernel_drain {
  struct kymo_kernel_drain_options options;
  char instance[KYMO_PATH_MAX], directory[KYMO_PATH_MAX];
  struct cpu *cpus;
  uint32_t count, capacity;
  int pipe[2], clocks;  /* clocks: the file */
  struct pollfd *waits; /* the end of the thread, and the CPUs' */
  size_t stuck;         /* bytes in the pipe that could not be written … */
  uint32_t stuck_cpu;   /* … to the file of this CPU (index) */
  struct kymo_beside_thread thread;
  pid_t tid;                 /* of the thread, stored with release before `begin` returns */
  int64_t clocks_ns;         /* when to note the clocks next */
  struct kymo_error failure; /* the first one; code 0: none */
};

/* ---- files ---- */

static int by_id(const void *one, const void *other) {
  const struct cpu *a = one, *b = other;
  return (a->id > b->id) - (a->id < b->id);
}

static int add_cpu(struct kymo_kernel_drain *drain, uint32_t id, struct kymo_error *error) {
  char from[KYMO_PATH_MAX + 64], to[KYMO_PATH_MAX + 32];
  snprintf(from, sizeof from, "%s/per_cpu/cpu%" PRIu32 "/trace_pipe_raw", drain->instance, id);
  snprintf(to, sizeof to, "%s/cpu%" PRIu32, drain->directory, id);
  if (!KYMO_LIST_ROOM(drain->cpus, drain->capacity, drain->count))
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  struct cpu *cpu = &drain->cpus[drain->count++];
  *cpu = (struct cpu){id, open(from, O_RDONLY | O_NONBLOCK | O_CLOEXEC), -1};
  if (cpu->from < 0)
    return kymo_tracefs_fail(from, "cannot open", error);
  cpu->to = open(to, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  return cpu->to < 0 ? kymo_fail_errno(error, to, "cannot write") : KYMO_OK;
}

static int open_cpus(struct kymo_kernel_drain *drain, struct kymo_error *error) {
  char path[KYMO_PATH_MAX + 16];
  int status = KYMO_OK;
  bool is_cut = false;
  snprintf(path, sizeof path, "%s/per_cpu", drain->instance);
  DIR *dir = opendir(path);
  if (!dir)
    return kymo_tracefs_fail(path, "cannot list", error);
  for (struct dirent *e; status == KYMO_OK && (e = kymo_dir_next(dir, &is_cut));) {
    unsigned id;
    int length = 0;
    if (sscanf(e->d_name, "cpu%u%n", &id, &length) == 1 && !e->d_name[length])
      status = add_cpu(drain, id, error);
  }
  closedir(dir);
  if (drain->count)
    qsort(drain->cpus, drain->count, sizeof *drain->cpus, by_id);
  return status;
}

static void note_clocks(struct kymo_kernel_drain *drain) {
  if (!kymo_beside_note_clocks(drain->clocks, drain->options.clock) && !drain->failure.code)
    kymo_fail_errno(&drain->failure, drain->directory, "cannot write the clocks");
}

int kymo_kernel_drain_new(struct kymo_kernel_drain **out, const struct kymo_kernel_drain_options *options,
                          struct kymo_error *error) {
  struct kymo_kernel_drain *drain = *out = calloc(1, sizeof *drain);
  if (!drain)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  drain->options = *options;
  drain->pipe[0] = drain->pipe[1] = drain->clocks = -1;
  snprintf(drain->instance, sizeof drain->instance, "%s", options->instance);
  snprintf(drain->directory, sizeof drain->directory, "%s", options->directory);
  int status = kymo_beside_thread_new(&drain->thread, error);
  if (status)
    return status;
  if (pipe2(drain->pipe, O_CLOEXEC | O_NONBLOCK))
    return kymo_fail(error, KYMO_E_SYSTEM, "cannot make a pipe: %s", strerror(errno));
  fcntl(drain->pipe[0], F_SETPIPE_SZ, PIPE_BYTES); /* else it is smaller, and there are more system calls */
  status = open_cpus(drain, error);
  if (status == KYMO_OK)
    status = kymo_beside_begin_clocks(drain->directory, options->clock, &drain->clocks, error);
  if (status == KYMO_OK && !(drain->waits = calloc(drain->count + 1u, sizeof *drain->waits)))
    status = kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  return status;
}

uint32_t kymo_kernel_drain_cpus(const struct kymo_kernel_drain *drain) {
  return drain->count ? drain->cpus[drain->count - 1].id + 1 : 0;
}

int kymo_kernel_drain_file(const struct kymo_kernel_drain *drain, uint32_t index) {
  return index < drain->count ? drain->cpus[index].to : -1;
}

/* ---- moving ---- */

/* What is in the pipe goes to its file. False: it cannot be written now. */
static bool empty_pipe(struct kymo_kernel_drain *drain) {
  while (drain->stuck) {
    const struct cpu *cpu = &drain->cpus[drain->stuck_cpu];
    ssize_t moved = splice(drain->pipe[0], NULL, cpu->to, NULL, drain->stuck, SPLICE_F_MOVE);
    if (moved < 0 && errno == EINTR)
      continue;
    if (moved <= 0) {
      char path[KYMO_PATH_MAX + 32];
      snprintf(path, sizeof path, "%s/cpu%" PRIu32, drain->directory, cpu->id);
      if (!drain->failure.code)
        kymo_fail_errno(&drain->failure, path, "cannot write");
      return false;
    }
    drain->stuck -= (size_t)moved;
  }
  return true;
}

/* Moves the full pages of all CPUs. Returns whether there were any. */
static bool move_pages(struct kymo_kernel_drain *drain) {
  bool is_any = false;
  for (uint32_t i = 0; i < drain->count; i++) {
    for (;;) {
      if (!empty_pipe(drain))
        return false;
      ssize_t moved = splice(drain->cpus[i].from, NULL, drain->pipe[1], NULL, PIPE_BYTES,
                             SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
      if (moved <= 0)
        break;
      is_any = true;
      drain->stuck = (size_t)moved;
      drain->stuck_cpu = i;
    }
  }
  return is_any;
}

static void keep_time(struct kymo_kernel_drain *drain) {
  int64_t now = kymo_recording_now_ns();
  struct kymo_error error = {.code = KYMO_OK};
  if (now < drain->clocks_ns)
    return;
  drain->clocks_ns = now + SECOND_NS;
  note_clocks(drain);
  if (drain->options.sync && kymo_sync(drain->directory, &error) && !drain->failure.code)
    drain->failure = error;
}

/* ---- the thread ---- */

/* Until a buffer is filled to a part (buffer_percent), for a moment at most. Old kernels do not wait for
 * that: so there is a rest if there was nothing to move. */
static void wait_for_pages(struct kymo_kernel_drain *drain, bool moved) {
  if (!moved && kymo_beside_thread_wait(&drain->thread, REST_MS))
    return;
  drain->waits[0] = (struct pollfd){drain->thread.end, POLLIN, 0};
  for (uint32_t i = 0; i < drain->count; i++)
    drain->waits[i + 1] = (struct pollfd){drain->cpus[i].from, POLLIN, 0};
  poll(drain->waits, drain->count + 1, PAUSE_MS);
}

static void *work(void *argument) {
  struct kymo_kernel_drain *drain = argument;
  __atomic_store_n(&drain->tid, (pid_t)syscall(SYS_gettid),
                   __ATOMIC_RELEASE); /* partner: kymo_kernel_drain_begin */
  while (!kymo_beside_thread_wait(&drain->thread, 0)) {
    bool moved = move_pages(drain);
    keep_time(drain);
    wait_for_pages(drain, moved);
  }
  return NULL;
}

int kymo_kernel_drain_begin(struct kymo_kernel_drain *drain, struct kymo_error *error) {
  int status = kymo_beside_thread_begin(&drain->thread, work, drain, error);
  while (status == KYMO_OK && !__atomic_load_n(&drain->tid, __ATOMIC_ACQUIRE)) /* partner: work */
    sched_yield();
  return status;
}

int kymo_kernel_drain_tid(const struct kymo_kernel_drain *drain) { return drain->tid; }

/* ---- the end ---- */

static bool write_page(const struct cpu *cpu, const uint8_t *page, uint32_t size) {
  for (uint32_t done = 0; done < size;) {
    ssize_t written = write(cpu->to, page + done, size - done);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return false;
    done += (uint32_t)written;
  }
  return true;
}

/* The pages that are left, the one being written too. Those that cannot be written are lost. */
static void read_rest(struct kymo_kernel_drain *drain, uint8_t *page, struct kymo_kernel_pages *lost) {
  uint32_t page_size = drain->options.page_size;
  for (uint32_t i = 0; i < drain->count; i++) {
    const struct cpu *cpu = &drain->cpus[i];
    bool is_writable = !drain->stuck && lseek(cpu->to, 0, SEEK_END) >= 0;
    for (ssize_t size; (size = read(cpu->from, page, page_size)) > 0;) {
      memset(page + size, 0, page_size - (size_t)size);
      if (is_writable && write_page(cpu, page, page_size))
        continue;
      if (is_writable && !drain->failure.code)
        kymo_fail_errno(&drain->failure, drain->directory, "cannot write the last pages");
      is_writable = false;
      kymo_kernel_page_walk(lost, page, page_size);
    }
  }
}

/* What stays in the pipe is lost: counts its events. A piece of a page may be in the file already. */
static void count_stuck(struct kymo_kernel_drain *drain, uint8_t *page, struct kymo_kernel_pages *lost) {
  uint32_t page_size = drain->options.page_size;
  size_t piece = drain->stuck % page_size;
  while (drain->stuck) {
    ssize_t size = read(drain->pipe[0], page, piece ? piece : page_size);
    if (size <= 0)
      return;
    drain->stuck -= (size_t)size < drain->stuck ? (size_t)size : drain->stuck;
    if (!piece)
      kymo_kernel_page_walk(lost, page, (size_t)size);
    piece = 0;
  }
}

int kymo_kernel_drain_end(struct kymo_kernel_drain *drain, uint64_t *lost, struct kymo_error *error) {
  struct kymo_kernel_pages unwritten = {.page_size = drain->options.page_size};
  uint8_t *page = malloc(drain->options.page_size);
  kymo_beside_thread_end(&drain->thread);
  while (move_pages(drain))
    ;
  if (page) {
    read_rest(drain, page, &unwritten);
    count_stuck(drain, page, &unwritten);
  }
  free(page);
  note_clocks(drain);
  *lost = unwritten.events;
  if (!page)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (drain->failure.code && error)
    *error = drain->failure;
  return drain->failure.code;
}

void kymo_kernel_drain_free(struct kymo_kernel_drain *drain) {
  if (!drain)
    return;
  kymo_beside_thread_free(&drain->thread);
  for (uint32_t i = 0; i < drain->count; i++) {
    if (drain->cpus[i].from >= 0)
      close(drain->cpus[i].from);
    if (drain->cpus[i].to >= 0)
      close(drain->cpus[i].to);
  }
  for (int i = 0; i < 2; i++)
    if (drain->pipe[i] >= 0)
      close(drain->pipe[i]);
  if (drain->clocks >= 0)
    close(drain->clocks);
  free(drain->cpus);
  free(drain->waits);
  free(drain);
}
