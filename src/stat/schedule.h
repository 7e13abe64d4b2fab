/* SPDX-License-Identifier: MIT */
/*
 * What threads do, by the events of a kernel: each is on a processor, waits for one (runnable), or waits for
 * something else (blocked), and in what.
 *
 *   sched_switch      prev: on a CPU ──► runnable (prev_state R) or blocked;   next: ──► on a CPU
 *   sched_waking, sched_wakeup    blocked ──► runnable; the thread in whose context the event is woke it
 *   sched_process_fork            a thread is runnable from its begin
 *   sys_enter_X, sys_exit_X       the system call in which a thread blocks
 *
 * A state is known from the first event that says it, until an event or the end of the trace. Where events
 * are lost, or contradict a state, it is unknown until the next event says it. Names of events and fields are
 * those of ftrace, perf and LTTng. Processors and threads are those of one machine.
 */
#ifndef KYMO_STAT_SCHEDULE_H
#define KYMO_STAT_SCHEDULE_H

#include "base/table.h"
#include "print/who.h"

enum kymo_thread_state {
  KYMO_THREAD_UNKNOWN,
  KYMO_THREAD_RUNNING,
  KYMO_THREAD_RUNNABLE,
  KYMO_THREAD_BLOCKED,
  KYMO_THREAD_ENDED,
  KYMO_THREAD_STATES
};

enum kymo_block_cause {
  KYMO_BLOCK_DISK,   /* uninterruptible sleep, and system calls that write files to the disk */
  KYMO_BLOCK_FUTEX,  /* locks, conditions, ends of threads */
  KYMO_BLOCK_SOCKET, /* system calls of sockets alone */
  KYMO_BLOCK_SLEEP,
  KYMO_BLOCK_OTHER,   /* another system call, which is known */
  KYMO_BLOCK_UNKNOWN, /* no system call was seen */
  KYMO_BLOCK_CAUSES
};
const char *kymo_thread_state_text(enum kymo_thread_state state);
const char *kymo_block_cause_text(enum kymo_block_cause cause);

/* All times that a thread was blocked for one cause, in one system call. */
struct kymo_blocked {
  enum kymo_block_cause cause;
  const char *call; /* "futex"; "" if none is known. Equal texts are one pointer */
  uint64_t count;   /* of those that have ended */
  int64_t total_ns, most_ns;
};

struct kymo_waker {
  bool is_known, is_interrupt;
  int64_t tid;
  char name[KYMO_WHO_NAME];
};

/* One time that a thread was blocked. */
struct kymo_wait {
  int64_t begin_ns, end_ns; /* the end: it is runnable */
  enum kymo_block_cause cause;
  const char *call;
  struct kymo_waker waker;
};

/* How long a thread was in each state. */
struct kymo_shares {
  int64_t state_ns[KYMO_THREAD_STATES];
  struct kymo_blocked *blocked;
  size_t count, room;
};

/* The shares of a thread from one time on, while a span is open. */
struct kymo_watch {
  struct kymo_watch *next; /* of the thread */
  struct kymo_sched_thread *thread;
  int64_t begin_ns;
  struct kymo_shares before; /* its shares at the begin */
  struct kymo_wait longest;  /* since; begin_ns is end_ns: none */
  uint64_t doubts;           /* of the thread at the begin */
  bool is_in_gap;            /* events were missing at the begin */
};

struct kymo_sched_thread {
  int64_t tid;
  char name[KYMO_WHO_NAME]; /* the latest; ended by a zero */
  enum kymo_thread_state state;
  int64_t since_ns; /* the shares are known until then */
  int64_t cpu;      /* while it is on one */
  uint64_t doubts;  /* how often events were lost while it lived, or contradicted what was known of it */
  bool is_exiting, is_of_kernel; /* is_of_kernel: an event of the kernel is of it */
  bool is_woken;                 /* while it is unknown: it is runnable since … */
  int64_t woken_ns;              /* … if the next event is that it runs */
  const char *call;              /* the system call in which it is; "": none; NULL: unknown */
  struct kymo_waker waking;      /* of a sched_waking whose sched_wakeup has not come */
  struct kymo_wait wait;         /* while it is blocked, and then until it runs */
  uint64_t waits;                /* how often it was blocked and went on … */
  struct kymo_wait longest;      /* … and the longest of those; begin_ns is end_ns: none */
  struct kymo_shares shares;
  struct kymo_watch *watches;
};

struct kymo_schedule {
  /* set by the owner; zero before */
  struct kymo_trace *trace;
  struct kymo_whos *whos; /* begun */
  /* what came of it */
  struct kymo_sched_thread **threads; /* in the order in which they were seen */
  size_t thread_count;
  int64_t begin_ns, end_ns; /* of the kernel's events */
  uint64_t switches, wakeups, calls;
  uint64_t unwoken; /* waits that ended, although no event said that the thread was woken … */
  int64_t unwoken_ns;
  uint64_t contradictions, gaps; /* gaps: losses of the kernel's events */
  bool has_begun, is_epoch;      /* the kernel's events have; is_epoch: their times are times of day */
  /* private */
  struct kymo_arena arena;
  struct kymo_sched_class *classes;  /* by class number */
  struct kymo_sched_stream *streams; /* by stream number */
  struct kymo_hash_table by_tid;
  struct kymo_sched_thread **running; /* by processor */
  size_t thread_room, cpu_count;
  struct kymo_hash_table calls_by_name;
  uint32_t open_gaps; /* streams whose events are missing now */
  bool has_failed;    /* a loss could not be stored */
};

/* Whether a part of the trace has sched_switch. */
bool kymo_schedule_is_there(const struct kymo_trace *trace);
/* KYMO_E_MEMORY. */
int kymo_schedule_begin(struct kymo_schedule *schedule);
/* Takes one event of the trace, in order. KYMO_OK or KYMO_E_MEMORY. */
int kymo_schedule_event(struct kymo_schedule *schedule, const struct kymo_event *event);
/* Events of this stream are missing. */
void kymo_schedule_loss(struct kymo_schedule *schedule, const struct kymo_loss *loss);
/* After the last event: all shares go to the end. KYMO_OK or KYMO_E_MEMORY. */
int kymo_schedule_end(struct kymo_schedule *schedule);
void kymo_schedule_free(struct kymo_schedule *schedule);

/* The thread of an event of a program. It is on a processor at the time of the event, if the kernel's events
 * have begun and do not say otherwise. NULL: out of memory. */
struct kymo_sched_thread *kymo_schedule_running(struct kymo_schedule *schedule, int64_t tid, int64_t now_ns);
/* Begins to watch a thread. NULL: out of memory. */
struct kymo_watch *kymo_watch_begin(const struct kymo_schedule *schedule, struct kymo_sched_thread *thread,
                                    int64_t now_ns);
/* Its shares since the begin; the caller frees them. KYMO_E_MEMORY. */
int kymo_watch_shares(struct kymo_watch *watch, int64_t now_ns, struct kymo_shares *shares);
void kymo_watch_end(struct kymo_watch *watch);
void kymo_shares_free(struct kymo_shares *shares);
/* The longest first. */
void kymo_shares_sort(struct kymo_shares *shares);

#endif
