/* SPDX-License-Identifier: MIT */
#include "tool/jobs.h"
#include "base/hash.h"
#include "filter/program.h"
#include "tool/tool.h"
#include <kymo/filter.h>
#include <errno.h>
#include <malloc.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Without --jobs: the least bytes of packets for which several jobs are begun. */
#define BYTES_LEAST (UINT64_C(64) << 20)
/* Slices for each job, so that all of them end at about the same time. */
#define SLICES_A_JOB 4
/* Of packets in a slice: what a job keeps in memory is some times as much. A slice may be larger if there
 * are many streams, since it begins with a seek in all of them. */
#define SLICE_LEAST (UINT64_C(4) << 10)
#define SLICE_MOST (UINT64_C(2) << 20)
#define SLICE_STREAM_BYTES (UINT64_C(32) << 10)

/* The exit statuses of a job. */
enum { JOB_DONE, JOB_UNDONE };

/* What all jobs share. What has no other owner belongs to the job that joins. */
struct shared {
  _Atomic size_t next;   /* slice that no job reads; relaxed, since nothing depends on who takes it */
  _Atomic bool is_ended; /* one job shall do all; release, and acquired after waiting for a turn */
  size_t joined;
  struct kymo_seam seam; /* after the last joined slice */
  struct kymo_losses losses;
  sem_t turns[]; /* by slice: it may be joined */
};

struct run {
  struct kymo_trace *trace;
  const struct kymo_slices *slices;
  const struct tool_job_work *work;
  struct shared *shared;
  size_t size; /* of it */
  pid_t *jobs;
};

/* What a job knows of a slice that it has read. */
struct slice {
  bool is_good;
  struct kymo_seam begin, end;
  struct kymo_losses losses;
};

unsigned tool_jobs_parse(const char *word, const struct argp_state *state) {
  char *end;
  unsigned long count = strtoul(word, &end, 10);
  if (*word < '0' || *word > '9' || *end || count == 0 || count > TOOL_JOBS_MAX)
    argp_error(state, "--jobs is a number from 1 to %d, not \"%s\"", TOOL_JOBS_MAX, word);
  return (unsigned)count;
}

unsigned tool_jobs_usual(void) {
  cpu_set_t processors;
  int count = sched_getaffinity(0, sizeof processors, &processors) == 0 ? CPU_COUNT(&processors) : 1;
  return count < 1 ? 1 : count > TOOL_JOBS_MAX ? TOOL_JOBS_MAX : (unsigned)count;
}

bool tool_jobs_plan(struct kymo_slices *slices, struct kymo_trace *trace, unsigned count, bool is_asked) {
  struct kymo_error error;
  uint64_t most = 0;
  *slices = (struct kymo_slices){.count = 0};
  if (count < 2 || !kymo_filter_is_alone(trace) || kymo_slices_find(slices, trace, &error) != KYMO_OK ||
      !slices->count || (!is_asked && slices->bytes < BYTES_LEAST))
    return false;
  for (size_t i = 0; i < kymo_trace_part_count(trace); i++)
    most += kymo_trace_part(trace, i)->stream_count * SLICE_STREAM_BYTES;
  most = most < SLICE_MOST ? SLICE_MOST : most;
  uint64_t bytes = slices->bytes / (count * SLICES_A_JOB);
  kymo_slices_cut(slices, trace, bytes > most ? most : bytes < SLICE_LEAST ? SLICE_LEAST : bytes);
  return slices->count > 1;
}

void *tool_jobs_share(size_t size) {
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

/* ---- in a job ---- */

/* Nothing is reported that only one job can report in its order. */
static bool is_silent(const struct kymo_trace *trace, size_t warnings) {
  struct kymo_filter_result counts;
  kymo_filter_counts(trace, &counts);
  return kymo_trace_damage_count(trace) == 0 && kymo_trace_warning_count(trace) == warnings &&
         !counts.failed && !counts.replaced && !counts.dropped;
}

static struct slice read_slice(const struct run *run, size_t number) {
  struct kymo_trace *trace = run->trace;
  const struct kymo_slices *slices = run->slices;
  size_t warnings = kymo_trace_warning_count(trace);
  bool is_first = number == 0, is_last = number + 1 == slices->count;
  struct slice slice = {.is_good = true};
  struct kymo_losses before, after;
  struct kymo_error error;
  int status = kymo_slice_begin(trace, is_first ? INT64_MIN : slices->cuts_ns[number - 1],
                                is_last ? INT64_MAX : slices->cuts_ns[number], &error);
  kymo_trace_losses(trace, &before);
  slice.is_good = status == KYMO_OK && (is_first || kymo_slice_seam(trace, &slice.begin)) &&
                  run->work->read(run->work->user, number) &&
                  (is_last || kymo_slice_seam(trace, &slice.end)) && is_silent(trace, warnings);
  kymo_trace_losses(trace, &after);
  slice.losses = (struct kymo_losses){.events = after.events - before.events,
                                      .packets = after.packets - before.packets,
                                      .unknown = after.unknown - before.unknown};
  return slice;
}

static bool are_equal(const struct kymo_seam *a, const struct kymo_seam *b) {
  return a->hash.high == b->hash.high && a->hash.low == b->hash.low;
}

static bool join_slice(const struct run *run, size_t number, const struct slice *slice) {
  struct shared *shared = run->shared;
  bool fits = slice->is_good && (number == 0 || are_equal(&shared->seam, &slice->begin));
  if (!fits || !run->work->join(run->work->user, number))
    return false;
  shared->seam = slice->end;
  shared->losses.events += slice->losses.events;
  shared->losses.packets += slice->losses.packets;
  shared->losses.unknown += slice->losses.unknown;
  shared->joined = number + 1;
  return true;
}

static void wait_for(sem_t *turn) {
  while (sem_wait(turn) != 0 && errno == EINTR)
    ;
}

/* The life of a job. It ends with the command. */
static _Noreturn void live(const struct run *run, pid_t command) {
  struct shared *shared = run->shared;
  size_t number;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  /* Slices use the same memory again and again: it shall not be returned to the system in between. */
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
  if (getppid() != command)
    _exit(JOB_UNDONE);
  while (!atomic_load_explicit(&shared->is_ended, memory_order_acquire) &&
         (number = atomic_fetch_add_explicit(&shared->next, 1, memory_order_relaxed)) < run->slices->count) {
    struct slice slice = read_slice(run, number);
    wait_for(&shared->turns[number]);
    if (!atomic_load_explicit(&shared->is_ended, memory_order_acquire) && !join_slice(run, number, &slice))
      atomic_store_explicit(&shared->is_ended, true, memory_order_release);
    sem_post(&shared->turns[number + 1]);
  }
  bool is_ended = atomic_load_explicit(&shared->is_ended, memory_order_acquire);
  if (!is_ended && run->work->end && !run->work->end(run->work->user)) {
    atomic_store_explicit(&shared->is_ended, true, memory_order_release);
    is_ended = true;
  }
  _exit(is_ended ? JOB_UNDONE : JOB_DONE);
}

/* ---- in the command ---- */

/* One job shall do all: no job waits for a turn any more. */
static void end_jobs(const struct run *run) {
  atomic_store_explicit(&run->shared->is_ended, true, memory_order_release);
  for (size_t i = 0; i <= run->slices->count; i++)
    sem_post(&run->shared->turns[i]);
}

/* Waits for all of them. The number of the signal that has killed one, or 0. */
static int wait_for_jobs(const struct run *run, unsigned count) {
  int killer = 0;
  for (unsigned left = count; left > 0;) {
    int status;
    pid_t job = wait(&status);
    if (job < 0 && errno == EINTR)
      continue;
    if (job < 0)
      break;
    bool is_ours = false;
    for (unsigned i = 0; i < count; i++)
      is_ours |= run->jobs[i] == job;
    left -= is_ours;
    if (!is_ours || (WIFEXITED(status) && WEXITSTATUS(status) == JOB_DONE))
      continue;
    killer = WIFSIGNALED(status) ? WTERMSIG(status) : killer;
    end_jobs(run);
  }
  return killer;
}

static enum tool_jobs_result end_run(const struct run *run, int killer) {
  if (killer == SIGPIPE)
    raise(SIGPIPE); /* as if we had written ourselves */
  if (killer) {
    tool_say("a job was ended by signal %d", killer);
    return TOOL_JOBS_FAILED;
  }
  if (atomic_load(&run->shared->is_ended) || run->shared->joined != run->slices->count)
    return TOOL_JOBS_UNDONE;
  kymo_trace_add_losses(run->trace, &run->shared->losses);
  return TOOL_JOBS_DONE;
}

static bool begin_run(struct run *run, unsigned count) {
  run->size = sizeof *run->shared + (run->slices->count + 1) * sizeof *run->shared->turns;
  run->shared = tool_jobs_share(run->size);
  run->jobs = calloc(count, sizeof *run->jobs);
  if (!run->shared || !run->jobs)
    return false;
  for (size_t i = 0; i <= run->slices->count; i++)
    if (sem_init(&run->shared->turns[i], 1, i == 0) != 0)
      return false;
  return true;
}

enum tool_jobs_result tool_jobs_run(struct kymo_trace *trace, const struct kymo_slices *slices,
                                    unsigned count, const struct tool_job_work *work) {
  struct run run = {.trace = trace, .slices = slices, .work = work};
  enum tool_jobs_result result = TOOL_JOBS_UNDONE;
  unsigned begun = 0;
  pid_t command = getpid();
  kymo_keyed_text("", 0); /* so that all of them have one key */
  fflush(NULL);           /* what is buffered would be written by each of them */
  if (begin_run(&run, count)) {
    while (begun < count && (run.jobs[begun] = fork()) > 0)
      begun++;
    if (begun < count && run.jobs[begun] == 0)
      live(&run, command);
    if (begun < count) /* the system has no more processes: fewer jobs do it */
      run.jobs[begun] = -1;
    int killer = wait_for_jobs(&run, begun);
    result = begun > 0 ? end_run(&run, killer) : result;
  }
  if (run.shared)
    munmap(run.shared, run.size);
  free(run.jobs);
  return result;
}
