/* SPDX-License-Identifier: MIT */
/*
 * Recording from outside: a program does with these functions of libkymo what `kymo record`, `kymo snapshot`,
 * `kymo list`, `kymo enable`, `kymo mode` and `kymo stat PID` do.
 *
 *   struct kymo_recording *recording;
 *   if (kymo_recording_start(&recording, command, NULL, &error) < 0)
 *     …
 *   while ((status = kymo_recording_work(recording, -1, -1, &error)) == KYMO_OK)
 *     ;
 *   kymo_recording_stop(recording, &error);
 *   printf("%s\n", kymo_recording_text(recording, KYMO_RECORDING_DIRECTORY));
 *   kymo_recording_free(recording);
 *
 * All objects are opaque. What they know is read by accessors that take the number of a question, so later
 * versions can answer more; of a question that the library does not know texts are NULL and numbers -1.
 * Nothing is printed, and no function ends the program. `error` may be NULL, as in all of libkymo. An object
 * is used by one thread at a time.
 */
#ifndef KYMO_LIVE_H
#define KYMO_LIVE_H

#include <kymo/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- recording ---- */

struct kymo_recording;

enum kymo_recording_flag {
  KYMO_RECORD_OVERWRITE = 1, /* full rings overwrite old events; else they discard new ones */
  KYMO_RECORD_CTF2 = 2,      /* the trace is CTF 2, else 1.8 */
  KYMO_RECORD_SYNC = 4,      /* what is written is forced to the disk every second, not only at the end */
  KYMO_RECORD_SNAPSHOTS = 8, /* of commands: nothing is written but what kymo_recording_snapshot copies; with
                                OVERWRITE */
  KYMO_RECORD_CRASHES =
      16, /* of commands, with SNAPSHOTS: kymo_recording_crashes reports crashed processes */
  KYMO_RECORD_KERNEL_OURS =
      32, /* of the kernel: only events of the command or process, its threads and its children */
};

/* All zeroes: all tracepoints, a new directory, CTF 1.8, until the command or process ends. */
struct kymo_recording_options {
  const char *directory; /* of the trace: missing or empty; NULL: a new one below $KYMO_OUT or
                            $HOME/kymo-traces */
  const char *enable; /* patterns of tracepoints, separated by commas: names, globs, groups, re:REGEX, !… to
                            exclude; NULL: all */
  uint32_t flags;     /* enum kymo_recording_flag, added up */
  const char *buffer; /* of commands: the ring of one thread, "16k" to "1G"; NULL: the recorder chooses */
  const char *preload; /* of commands: libraries to load into it, as LD_PRELOAD has them; or NULL */
  /* Of commands: the trace is written in parts of at most this many bytes or seconds, of which the newest
   * `keep` stay; 0: one trace, and all parts stay. Not with OVERWRITE. */
  uint64_t rotate_bytes, rotate_seconds, keep;
  const void
      *signals; /* of commands: a sigset_t, the signals that are blocked when they begin; NULL: as of the
                          caller */
  const char *kernel;        /* patterns of events of the Linux kernel, which are recorded beside those of the
                                programs, in DIRECTORY/kernel; NULL: none. Not with SNAPSHOTS, nor in parts */
  uint64_t kernel_buffer;    /* bytes of each processor for them; 0: the recorder chooses */
  const char *const *probes; /* probes of programs, recorded with them, also if `kernel` is "": lines as in
                                the kernel's uprobe_events, without a group: "p NAME FILE:OFFSET
                                NAME=%REGISTER:TYPE …", and "r …" where the function returns; ends with NULL.
                                NULL: none. With `kernel` */
  uint32_t sample_hz; /* samples a second of CPU time, 1 to 10000, of the threads of the command or process
                         and of its children, in DIRECTORY/samples; 0: none. Not with SNAPSHOTS, nor in
                         parts */
};

int kymo_recording_start_(struct kymo_recording **recording, char *const *command,
                          const struct kymo_recording_options *options, size_t size,
                          struct kymo_error *error);
/*
 * Starts a command, found as execvp finds it, with its tracepoints on: `command` is argv, which ends with
 * NULL. Returns KYMO_OK and the recording, to be freed by kymo_recording_free; or with the error
 * KYMO_E_UNKNOWN: there is no such command; KYMO_E_USAGE: it cannot be run, or the options make no sense;
 * KYMO_E_ABSENT: there is no directory for rings, no tracefs or no event for `kernel`, or no perf_event_open
 * for `sample_hz`; KYMO_E_SYSTEM, KYMO_E_MEMORY. SIGXFSZ should be ignored: a file that may not grow is an
 * error then.
 */
static inline int kymo_recording_start(struct kymo_recording **recording, char *const *command,
                                       const struct kymo_recording_options *options,
                                       struct kymo_error *error) {
  return kymo_recording_start_(recording, command, options, sizeof *options, error);
}
int kymo_recording_attach_(struct kymo_recording **recording, int pid,
                           const struct kymo_recording_options *options, size_t size,
                           struct kymo_error *error);
/*
 * Records process `pid`, which runs already, from now on. When the recording ends the process is as it was.
 * Returns as above; KYMO_E_UNKNOWN: there is no such process, or it has no tracepoints; KYMO_E_USAGE: the
 * process refuses, for instance because it is recorded already. With `kernel` or `sample_hz` the process may
 * be one without tracepoints. With `kernel`, `pid` 0: none, only events of the kernel, until
 * kymo_recording_stop.
 */
static inline int kymo_recording_attach(struct kymo_recording **recording, int pid,
                                        const struct kymo_recording_options *options,
                                        struct kymo_error *error) {
  return kymo_recording_attach_(recording, pid, options, sizeof *options, error);
}

/*
 * Takes what there is to take out of the rings, again and again, until `timeout_ns` nanoseconds have passed
 * (-1: without limit) or the descriptor `fd` can be read (-1: none). Returns KYMO_OK then; KYMO_END if the
 * command or process has ended; or a negative status with the error if something could not be written: it
 * stays in the rings, and the next call tries again. Rings that are not emptied become full: the time between
 * two calls should be short.
 */
int kymo_recording_work(struct kymo_recording *recording, int64_t timeout_ns, int fd,
                        struct kymo_error *error);
/*
 * Ends the recording, once: takes what is left and completes the trace. Processes that run on do so without
 * being recorded. Returns KYMO_OK, or a negative status with the error if the trace is not whole; what could
 * be written is there.
 */
int kymo_recording_stop(struct kymo_recording *recording, struct kymo_error *error);
/* Frees the recording; of one that was not stopped the trace is incomplete. NULL: nothing happens. */
void kymo_recording_free(struct kymo_recording *recording);

/*
 * With KYMO_RECORD_SNAPSHOTS: copies the rings of all processes to DIRECTORY/snapshot-1, …-2, …; `why` is
 * noted in it. Returns KYMO_OK; KYMO_END: no process has recorded anything yet, and there is no snapshot; or
 * a negative status with the error.
 */
int kymo_recording_snapshot(struct kymo_recording *recording, const char *why, struct kymo_error *error);
/* With KYMO_RECORD_CRASHES: names of processes that crashed since the last call, borrowed until the next one;
 * NULL: none. */
const char *kymo_recording_crashes(struct kymo_recording *recording);

enum kymo_recording_text {
  KYMO_RECORDING_DIRECTORY, /* of the trace */
  KYMO_RECORDING_SNAPSHOT,  /* directory of the last snapshot */
  KYMO_RECORDING_RINGS,     /* directory of the rings */
  KYMO_RECORDING_CAUSE,     /* after kymo_recording_stop: how the command crashed, noted in the trace too */
  KYMO_RECORDING_LEFT_OUT,  /* a file beside the events that could not be read and is missing in the trace:
                              why */
};
/* A text, borrowed until the next call of a function with this recording; NULL: there is none. */
const char *kymo_recording_text(const struct kymo_recording *recording, enum kymo_recording_text what);

/* Numbers of a recording, after kymo_recording_stop; events and losses also of the last snapshot. */
enum kymo_recording_number {
  KYMO_RECORDING_PID,           /* of the command or process, at any time */
  KYMO_RECORDING_EVENTS,        /* in the trace */
  KYMO_RECORDING_LOST,          /* events that were discarded or could not be written */
  KYMO_RECORDING_LOST_FULL,     /* of them: because a ring was full */
  KYMO_RECORDING_UNWRITTEN,     /* of them: they are in the rings still (kymo_recording_kept) */
  KYMO_RECORDING_OVERWRITTEN,   /* events */
  KYMO_RECORDING_PROCESSES,     /* that recorded something */
  KYMO_RECORDING_RUNNING,       /* of them: that run on */
  KYMO_RECORDING_PARTS,         /* of a trace that is rotated */
  KYMO_RECORDING_PARTS_REMOVED, /* older than those that stay */
  KYMO_RECORDING_SNAPSHOTS,     /* taken so far, at any time */
  KYMO_RECORDING_IS_UNSYNCED,   /* 1: some of the trace may not be on the disk */
  KYMO_RECORDING_UNKNOWN_ENDS,  /* with CRASHES: processes that ended before their end could be observed */
  KYMO_RECORDING_WAIT_STATUS,   /* after KYMO_END of a command: how it ended, as waitpid reports it */
  KYMO_RECORDING_KERNEL_EVENTS, /* of the kernel, in the trace … */
  KYMO_RECORDING_KERNEL_LOST,   /* … and lost */
  KYMO_RECORDING_SAMPLES,       /* in the trace … */
  KYMO_RECORDING_SAMPLES_LOST,  /* … and lost */
  KYMO_RECORDING_SAMPLES_USER,  /* 1: the caller may not sample the kernel: they are without its part */
};
int64_t kymo_recording_number(const struct kymo_recording *recording, enum kymo_recording_number what);
/* After kymo_recording_stop: directories of rings that hold what could not be written, for
 * kymo_snapshot_take; borrowed. NULL after the last one. */
const char *kymo_recording_kept(const struct kymo_recording *recording, size_t index);

/* ---- snapshots ---- */

struct kymo_snapshot;

struct kymo_snapshot_options {
  const char *directory; /* as above */
  uint32_t flags;        /* KYMO_RECORD_CTF2, or 0 */
  int64_t last_ns;       /* only events of this many nanoseconds before the newest event; 0: all */
};

int kymo_snapshot_take_(struct kymo_snapshot **snapshot, const char *rings,
                        const struct kymo_snapshot_options *options, size_t size, struct kymo_error *error);
/*
 * Saves what the rings in the directory `rings` hold (kymo_process_rings finds it) as a trace. The process
 * is not asked: it may run, be stopped, hang, or be dead. Returns KYMO_OK, or a negative status with the
 * error. In both cases *snapshot is to be freed by kymo_snapshot_free; after an error it knows what was
 * written nevertheless.
 */
static inline int kymo_snapshot_take(struct kymo_snapshot **snapshot, const char *rings,
                                     const struct kymo_snapshot_options *options, struct kymo_error *error) {
  return kymo_snapshot_take_(snapshot, rings, options, sizeof *options, error);
}
void kymo_snapshot_free(struct kymo_snapshot *snapshot);

enum kymo_snapshot_text {
  KYMO_SNAPSHOT_DIRECTORY, /* of the trace; NULL: none was written */
  KYMO_SNAPSHOT_END,       /* how the process died, or NULL: "Segmentation fault in thread 4712" */
  KYMO_SNAPSHOT_LEFT_OUT,  /* a file beside the events that could not be read and is missing: why; or NULL */
};
const char *kymo_snapshot_text(const struct kymo_snapshot *snapshot, enum kymo_snapshot_text what);

enum kymo_snapshot_number {
  KYMO_SNAPSHOT_PID,
  KYMO_SNAPSHOT_EVENTS,
  KYMO_SNAPSHOT_LOST,        /* discarded, or overwritten between events that are in the trace */
  KYMO_SNAPSHOT_OVERWRITTEN, /* before all of them */
  KYMO_SNAPSHOT_COVERED_NS, /* with last_ns: for how long the trace holds the events of all threads if that is
                                   less; -1: for all of it */
  KYMO_SNAPSHOT_IS_OVERWRITTEN, /* 1: older events were overwritten; 0: none was recorded before */
  KYMO_SNAPSHOT_WAS_KILLED,     /* 1: the process died without an orderly end, and how is unknown */
};
int64_t kymo_snapshot_number(const struct kymo_snapshot *snapshot, enum kymo_snapshot_number what);

/* Writes the directory of the rings of process `pid` to `out`, of at least 1024 bytes: of one that runs, or
 * else the newest of a dead one. Returns KYMO_OK, or with the error KYMO_E_UNKNOWN: there are none;
 * KYMO_E_ABSENT: only an earlier process of this number left some, which the message names. */
int kymo_process_rings(char *out, size_t size, int pid, struct kymo_error *error);

/* ---- processes ---- */

struct kymo_processes;

enum kymo_processes_flag {
  KYMO_PROCESSES_LIVING = 1, /* that listen to control */
  KYMO_PROCESSES_RINGS = 2,  /* whose rings are there, living or dead */
};
/* Finds processes of the caller, of all users for root, in containers too: the living by number, then rings,
 * the newest first. Returns KYMO_OK and the list, to be freed; or KYMO_E_MEMORY. */
int kymo_processes_find(struct kymo_processes **processes, uint32_t flags, struct kymo_error *error);
void kymo_processes_free(struct kymo_processes *processes);
size_t kymo_processes_count(const struct kymo_processes *processes);

enum kymo_process_text {
  KYMO_PROCESS_PROGRAM,
  KYMO_PROCESS_MODE,  /* of living: "discard" or "overwrite"; NULL: it does not answer */
  KYMO_PROCESS_END,   /* of rings: "runs", or how the process ended */
  KYMO_PROCESS_RINGS, /* of rings: their directory */
};
/* Borrowed; NULL: unknown. */
const char *kymo_processes_text(const struct kymo_processes *processes, size_t index,
                                enum kymo_process_text what);
enum kymo_process_number {
  KYMO_PROCESS_PID,
  KYMO_PROCESS_INNER_PID,   /* of living: what it calls itself in its PID namespace */
  KYMO_PROCESS_TRACEPOINTS, /* of living: how many it has … */
  KYMO_PROCESS_ON,          /* … and how many are on */
  KYMO_PROCESS_RECORDER,    /* of living: the process that records it; 0: none; -1: its number is unknown */
  KYMO_PROCESS_IS_DEAD,     /* of rings: 1 if so */
  KYMO_PROCESS_AGE_NS,      /* of rings: since they changed last */
  KYMO_PROCESS_BYTES,       /* of rings */
};
int64_t kymo_processes_number(const struct kymo_processes *processes, size_t index,
                              enum kymo_process_number what);

/* ---- tracepoints of a process ---- */

struct kymo_points;

/* Asks process `pid` for its tracepoints. Returns KYMO_OK and the list in order of name, file and line, to be
 * freed; or with the error KYMO_E_UNKNOWN: there is no such process, or it has no tracepoints; KYMO_E_SYSTEM:
 * it does not answer, or may not be asked. */
int kymo_points_find(struct kymo_points **points, int pid, struct kymo_error *error);
void kymo_points_free(struct kymo_points *points);
size_t kymo_points_count(const struct kymo_points *points);
/* Name and file of a tracepoint, borrowed. */
const char *kymo_points_name(const struct kymo_points *points, size_t index);
const char *kymo_points_file(const struct kymo_points *points, size_t index);
enum kymo_point_number {
  KYMO_POINT_IS_ON, /* 1 or 0 */
  KYMO_POINT_LEVEL, /* 0 (emergency) to 14 (debug); -1: none */
  KYMO_POINT_LINE,
};
int64_t kymo_points_number(const struct kymo_points *points, size_t index, enum kymo_point_number what);

/* Switches the tracepoints of process `pid` that match `patterns` on or off, also those that it loads later;
 * only those of `level` or a more urgent one, if that is not negative. *matched is how many there are now.
 * Returns as kymo_points_find; KYMO_E_USAGE: the process refuses, for instance a wrong pattern. */
int kymo_points_switch(int pid, bool on, const char *patterns, int level, uint64_t *matched,
                       struct kymo_error *error);
/* Reads or sets what full rings of process `pid` do: overwrite old events, or discard new ones. */
int kymo_process_overwrites(int pid, bool *overwrites, struct kymo_error *error);
int kymo_process_overwrite(int pid, bool overwrites, struct kymo_error *error);

/* ---- counts ---- */

struct kymo_counts;

/* Opens the rings in a directory, to read their counters; the process is not asked. Returns KYMO_OK and the
 * counts, to be closed; or a negative status with the error. */
int kymo_counts_open(struct kymo_counts **counts, const char *rings, struct kymo_error *error);
void kymo_counts_close(struct kymo_counts *counts);
/* Reads all counters. Returns KYMO_OK; KYMO_END if the process has ended, after reading them; or
 * KYMO_E_MEMORY. */
int kymo_counts_read(struct kymo_counts *counts, struct kymo_error *error);
/* How many threads have or had a ring, as of the last kymo_counts_read. */
size_t kymo_counts_threads(const struct kymo_counts *counts);

enum kymo_count {
  KYMO_COUNT_TID,         /* of the thread that recorded last in this ring; 0: none */
  KYMO_COUNT_EVENTS,      /* since the ring was made */
  KYMO_COUNT_LOST,        /* events */
  KYMO_COUNT_LOST_LARGE,  /* of them: larger than a packet */
  KYMO_COUNT_LOST_NESTED, /* of them: of a signal handler that interrupted another one */
  KYMO_COUNT_OVERWRITTEN, /* events */
  KYMO_COUNT_USED_BYTES,  /* of the ring, which contain events that were not collected */
  KYMO_COUNT_ROOM_BYTES,  /* size of the ring */
  KYMO_COUNT_REFUSED,     /* threads that got no ring, whose events are among the lost; of the sum */
  KYMO_COUNT_PID,         /* of the sum, as KYMO_COUNT_OVERWRITES: 1 if full rings overwrite */
  KYMO_COUNT_OVERWRITES,
};
#define KYMO_COUNTS_SUM SIZE_MAX /* as an index of a thread: all of them together */
/* A counter of a thread, or their sum. */
int64_t kymo_counts_number(const struct kymo_counts *counts, size_t thread, enum kymo_count what);
/* The name of the thread; of the sum that of the program. Borrowed until the next kymo_counts_read. */
const char *kymo_counts_name(const struct kymo_counts *counts, size_t thread);

#ifdef __cplusplus
}
#endif
#endif
