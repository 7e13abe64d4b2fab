/* SPDX-License-Identifier: MIT */
#include "tool/jobs.h"
#include "base/hash.h"
#include "filter/program.h"
#include "tool/tool.h"
#include "trace/apart.h"
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

/* Slices for each job, so that all of them end at about the same time. */
#define SLICES_A_JOB 4
#define SLICE_LEAST (UINT64_C(4) << 10)
/* Of packets in a slice whose text a job keeps in memory, which is some times as much. A slice may be larger
 * if there are many streams, since it begins with a seek in all of them. */
#define SLICE_MOST (UINT64_C(2) << 20)
#define SLICE_STREAM_BYTES (UINT64_C(32) << 10)

/* The exit statuses of a job. */
enum { JOB_DONE, JOB_UNDONE };

/* What all jobs share. What has no other owner belongs to the job that joins. */
struct shared {
  _Atomic size_t next;   /* piece that no job reads; relaxed, since nothing depends on who takes it */
  _Atomic bool is_ended; /* one job shall do all; release, and acquired after waiting for a turn */
  size_t joined;
  struct kymo_seam seam; /* after the last joined slice */
  struct kymo_losses losses;
  sem_t turns[]; /* by slice: it may be joined; of streams only the first, for the sums */
};

struct run {
  struct kymo_trace *trace;
  const struct kymo_slices *slices;         /* … or */
  const struct kymo_stream *const *streams; /* … */
  size_t count;                             /* of them */
  const struct tool_job_work *work;
  struct shared *shared;
  size_t size; /* of it */
  pid_t *jobs;
};

/* What a job knows of a slice that it reads, or has read. */
struct slice {
  size_t number;
  size_t warnings; /* before it */
  bool has_turn;
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

bool tool_jobs_plan(struct kymo_slices *slices, struct kymo_trace *trace, unsigned count, bool is_asked,
                    bool keeps_text) {
  struct kymo_error error;
  uint64_t most = 0;
  *slices = (struct kymo_slices){.count = 0};
  if (count < 2 || !kymo_filter_is_alone(trace) || kymo_slices_find(slices, trace, &error) != KYMO_OK ||
      !slices->count || (!is_asked && slices->bytes < TOOL_JOBS_BYTES_LEAST))
    return false;
  for (size_t i = 0; i < kymo_trace_part_count(trace); i++)
    most += kymo_trace_part(trace, i)->stream_count * SLICE_STREAM_BYTES;
  most = !keeps_text ? UINT64_MAX : most < SLICE_MOST ? SLICE_MOST : most;
  uint64_t bytes = slices->bytes / (count * SLICES_A_JOB);
  kymo_slices_cut(slices, trace, bytes > most ? most : bytes < SLICE_LEAST ? SLICE_LEAST : bytes);
  return slices->count > 1;
}

void *tool_jobs_share(size_t size) {
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

/* ---- in a job ---- */

/* In jobs; NULL in the command. */
static const struct run *run_of_job;
static struct slice slice_of_job;

static bool is_ended(const struct run *run) {
  return atomic_load_explicit(&run->shared->is_ended, memory_order_acquire);
}

bool tool_jobs_are_ended(void) { return is_ended(run_of_job) || kymo_trace_damage_count(run_of_job->trace); }

/* Nothing is reported that only one job can report in its order. */
static bool is_silent(const struct kymo_trace *trace, size_t warnings) {
  struct kymo_filter_result counts;
  kymo_filter_counts(trace, &counts);
  return kymo_trace_damage_count(trace) == 0 && kymo_trace_warning_count(trace) == warnings &&
         !kymo_trace_lacks_memory(trace) && !counts.failed && !counts.replaced && !counts.dropped;
}

static struct kymo_losses losses_since(const struct kymo_trace *trace, const struct kymo_losses *before) {
  struct kymo_losses after;
  kymo_trace_losses(trace, &after);
  return (struct kymo_losses){.events = after.events - before->events,
                              .packets = after.packets - before->packets,
                              .unknown = after.unknown - before->unknown};
}

static void add_losses(struct shared *shared, const struct kymo_losses *losses) {
  shared->losses.events += losses->events;
  shared->losses.packets += losses->packets;
  shared->losses.unknown += losses->unknown;
}

static void read_slice(const struct run *run, struct slice *slice, size_t number) {
  struct kymo_trace *trace = run->trace;
  const struct kymo_slices *slices = run->slices;
  bool is_first = number == 0, is_last = number + 1 == slices->count;
  struct kymo_losses before;
  struct kymo_error error;
  *slice = (struct slice){.number = number, .warnings = kymo_trace_warning_count(trace)};
  int status = kymo_slice_begin(trace, is_first ? INT64_MIN : slices->cuts_ns[number - 1],
                                is_last ? INT64_MAX : slices->cuts_ns[number], &error);
  kymo_trace_losses(trace, &before);
  slice->is_good = status == KYMO_OK && (is_first || kymo_slice_seam(trace, &slice->begin)) &&
                   run->work->read(run->work->user, number) &&
                   (is_last || kymo_slice_seam(trace, &slice->end)) && is_silent(trace, slice->warnings);
  slice->losses = losses_since(trace, &before);
}

static bool are_equal(const struct kymo_seam *a, const struct kymo_seam *b) {
  return a->hash.high == b->hash.high && a->hash.low == b->hash.low;
}

/* At its turn. */
static bool fits(const struct run *run, const struct slice *slice) {
  return slice->number == 0 || are_equal(&run->shared->seam, &slice->begin);
}

static bool join_slice(const struct run *run, const struct slice *slice) {
  struct shared *shared = run->shared;
  if (!slice->is_good || !fits(run, slice) || !run->work->join(run->work->user, slice->number))
    return false;
  shared->seam = slice->end;
  add_losses(shared, &slice->losses);
  shared->joined = slice->number + 1;
  return true;
}

static void wait_for(sem_t *turn) {
  while (sem_wait(turn) != 0 && errno == EINTR)
    ;
}

bool tool_jobs_have_turn(void) {
  const struct run *run = run_of_job;
  struct slice *slice = &slice_of_job;
  slice->has_turn = slice->has_turn || sem_trywait(&run->shared->turns[slice->number]) == 0;
  return slice->has_turn && !is_ended(run) && fits(run, slice) && is_silent(run->trace, slice->warnings);
}

static void end_all(const struct run *run) {
  atomic_store_explicit(&run->shared->is_ended, true, memory_order_release);
}

/* The next piece that this job does; false: there is none any more. */
static bool take_piece(const struct run *run, size_t *number) {
  if (is_ended(run))
    return false;
  *number = atomic_fetch_add_explicit(&run->shared->next, 1, memory_order_relaxed);
  return *number < run->count;
}

static void do_slices(const struct run *run) {
  struct slice *slice = &slice_of_job;
  sem_t *turns = run->shared->turns;
  for (size_t number; take_piece(run, &number); sem_post(&turns[number + 1])) {
    read_slice(run, slice, number);
    if (!slice->has_turn)
      wait_for(&turns[number]);
    if (!is_ended(run) && !join_slice(run, slice))
      end_all(run);
  }
}

static void do_streams(const struct run *run) {
  struct kymo_losses before, losses;
  struct kymo_error error;
  size_t warnings = kymo_trace_warning_count(run->trace), number, done = 0;
  kymo_trace_losses(run->trace, &before);
  for (; take_piece(run, &number); done++)
    if (kymo_trace_read_apart(run->trace, run->streams[number], &error) != KYMO_OK ||
        !run->work->read(run->work->user, number) || !is_silent(run->trace, warnings))
      end_all(run);
  losses = losses_since(run->trace, &before);
  wait_for(&run->shared->turns[0]);
  add_losses(run->shared, &losses);
  run->shared->joined += done;
  sem_post(&run->shared->turns[0]);
}

/* The life of a job. It ends with the command. */
static _Noreturn void live(const struct run *run, pid_t command) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  run_of_job = run;
  /* Slices use the same memory again and again: it shall not be returned to the system in between. */
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
  if (getppid() != command)
    _exit(JOB_UNDONE);
  if (run->slices)
    do_slices(run);
  else
    do_streams(run);
  if (!is_ended(run) && run->work->end && !run->work->end(run->work->user))
    end_all(run);
  _exit(is_ended(run) ? JOB_UNDONE : JOB_DONE);
}

/* ---- in the command ---- */

/* One job shall do all: no job waits for a turn any more. */
static void end_jobs(const struct run *run) {
  end_all(run);
  for (size_t i = 0; i <= run->count; i++)
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
  if (killer == SIGPIPE || killer == SIGXFSZ)
    raise(killer); /* as if we had written ourselves */
  if (killer) {
    tool_say("a job was ended by signal %d", killer);
    return TOOL_JOBS_FAILED;
  }
  if (atomic_load(&run->shared->is_ended) || run->shared->joined != run->count)
    return TOOL_JOBS_UNDONE;
  kymo_trace_add_losses(run->trace, &run->shared->losses);
  return TOOL_JOBS_DONE;
}

static bool begin_run(struct run *run, unsigned count) {
  run->size = sizeof *run->shared + (run->count + 1) * sizeof *run->shared->turns;
  run->shared = tool_jobs_share(run->size);
  run->jobs = calloc(count, sizeof *run->jobs);
  if (!run->shared || !run->jobs)
    return false;
  for (size_t i = 0; i <= run->count; i++)
    if (sem_init(&run->shared->turns[i], 1, i == 0) != 0)
      return false;
  return true;
}

static enum tool_jobs_result run_jobs(struct run *run, unsigned count) {
  enum tool_jobs_result result = TOOL_JOBS_UNDONE;
  unsigned begun = 0;
  pid_t command = getpid();
  kymo_keyed_text("", 0); /* so that all of them have one key */
  fflush(NULL);           /* what is buffered would be written by each of them */
  if (begin_run(run, count)) {
    while (begun < count && (run->jobs[begun] = fork()) > 0)
      begun++;
    if (begun < count && run->jobs[begun] == 0)
      live(run, command);
    if (begun < count) /* the system has no more processes: fewer jobs do it */
      run->jobs[begun] = -1;
    int killer = wait_for_jobs(run, begun);
    result = begun > 0 ? end_run(run, killer) : result;
  }
  if (run->shared)
    munmap(run->shared, run->size);
  free(run->jobs);
  return result;
}

enum tool_jobs_result tool_jobs_run(struct kymo_trace *trace, const struct kymo_slices *slices,
                                    unsigned count, const struct tool_job_work *work) {
  struct run run = {.trace = trace, .slices = slices, .count = slices->count, .work = work};
  return run_jobs(&run, count);
}

enum tool_jobs_result tool_jobs_run_streams(struct kymo_trace *trace,
                                            const struct kymo_stream *const *streams, size_t stream_count,
                                            unsigned count, const struct tool_job_work *work) {
  struct run run = {.trace = trace, .streams = streams, .count = stream_count, .work = work};
  return run_jobs(&run, count);
}
