/* SPDX-License-Identifier: MIT */
/*
 * Several processors for one command (--jobs): a trace is read in slices of its time (trace/slice.h), each
 * by one of several processes, and what they find is joined in the order of the slices.
 *
 *   command ─┬─ job ── read slice 0 ── join ──────────────── read slice 2 ── wait ─ join ── …
 *            └─ job ── read slice 1 ────────── wait ─ join ────── read slice 3 ── …
 *
 * Processes instead of threads: a fork has a reader of its own, with filter and positions, in the state
 * that the command line has given it, and nothing that two of them could change at the same time. A slice
 * is joined when all slices before it are: only one job at a time joins, and it knows what the slice before
 * has left. A job may begin to join a slice while it still reads it (tool_jobs_have_turn).
 *
 * Where each stream has an output of its own, nothing is joined: a job reads whole streams, one after
 * another (trace/apart.h).
 *
 * The result is that of one job, or none: if two slices do not fit, or something is corrupt, the jobs stop,
 * and one job begins again. What they have joined until then is right.
 */
#ifndef KYMO_TOOL_JOBS_H
#define KYMO_TOOL_JOBS_H

#include "trace/slice.h"
#include <argp.h>
#include <stdbool.h>

enum { TOOL_JOBS_MAX = 64 };

/* The number after --jobs; another word ends the command. */
unsigned tool_jobs_parse(const char *word, const struct argp_state *state);
/* How many jobs there are without --jobs: one for each processor. */
unsigned tool_jobs_usual(void);

/* What jobs do. All functions run in jobs, and return false if one job shall do all instead. */
struct tool_job_work {
  /* Reads the slice at whose begin the trace is, or the stream, until KYMO_END. */
  bool (*read)(void *user, size_t number);
  /* Its turn: all slices before it were joined. */
  bool (*join)(void *user, size_t slice);
  /* There is nothing more for this job; or NULL. */
  bool (*end)(void *user);
  void *user;
};

enum tool_jobs_result {
  TOOL_JOBS_NONE, /* nothing was tried */
  TOOL_JOBS_DONE,
  TOOL_JOBS_UNDONE, /* one job shall do all; some slices, the first ones, may be joined */
  TOOL_JOBS_FAILED, /* a job was killed; reported */
};
/* Reads the slices by `count` jobs. After TOOL_JOBS_DONE the trace has the losses that they met. */
enum tool_jobs_result tool_jobs_run(struct kymo_trace *trace, const struct kymo_slices *slices,
                                    unsigned count, const struct tool_job_work *work);
/* Reads the streams, each of which kymo_trace_can_read_apart allows, in about this order. */
enum tool_jobs_result tool_jobs_run_streams(struct kymo_trace *trace,
                                            const struct kymo_stream *const *streams, size_t stream_count,
                                            unsigned count, const struct tool_job_work *work);
/* In a job, from time to time while it reads a slice: whether all slices before it are joined, and what it
 * has read until now is right: it may join that. */
bool tool_jobs_have_turn(void);
/* In a job, from time to time while it reads a stream: whether it can stop, since one job shall do all. */
bool tool_jobs_are_ended(void);
/* The least bytes of packets for which several jobs are begun without --jobs. */
#define TOOL_JOBS_BYTES_LEAST (UINT64_C(64) << 20)
/* Cuts the trace for this many jobs. `is_asked`: with --jobs; else only if there is enough to read.
 * `keeps_text`: a job keeps its slice's text in memory, so slices must be small. False: one job is better.
 * The caller frees the slices in any case. */
bool tool_jobs_plan(struct kymo_slices *slices, struct kymo_trace *trace, unsigned count, bool is_asked,
                    bool keeps_text);
/* Memory that all jobs share, with zeros; NULL: there is none. */
void *tool_jobs_share(size_t size);

#endif
