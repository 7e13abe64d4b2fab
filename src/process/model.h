/* SPDX-License-Identifier: MIT */
/*
 * What is known of a process that hangs. All of it is on the board (process/bounded.h), where workers add
 * what they find:
 *
 *   threads.c    /proc: the process, its threads, their states and system calls
 *   capture.c    registers and the top of the stack of each thread, by ptrace
 *   unwind.c     these become frames with names; core.c: the same from a core file
 *   rings.c      the last events and the open spans of each thread
 *   locks.c      which lock a thread waits for, and who holds it
 *   findings.c   what follows: who is to blame
 *   page.c       all of that as text, page_json.c as JSON
 */
#ifndef KYMO_PROCESS_MODEL_H
#define KYMO_PROCESS_MODEL_H

#include "process/bounded.h"
#include <stdint.h>

enum {
  PROCESS_NAME_MAX = 64,
  PROCESS_FRAMES_MAX = 128,
  PROCESS_REGISTERS_MAX = 33,
  PROCESS_HOLDERS_MAX = 8,
  PROCESS_EVENTS_MAX = 5,
  PROCESS_SPANS_MAX = 16,
  PROCESS_WORD_BEFORE = 24, /* bytes around a futex that are read: before it … */
  PROCESS_WORD_AFTER = 64,  /* … and from it on */
};

struct process_frame {
  uint64_t address;     /* of the next instruction, or of the current one in the innermost frame */
  const char *function; /* NULL: unknown */
  const char *module;   /* the file, NULL: none */
  uint64_t offset;      /* in the function, or in the module */
  const char *file;     /* of the source, or NULL */
  int line;
  bool is_signal;     /* the kernel called the frame before it for a signal, in the frame after it */
  bool is_activation; /* the address is that of the current instruction */
};

/* How often a thread left its processor: since it waited, or since others were to run. */
struct process_switches {
  uint64_t to_wait, others;
};

/* The system call in which a thread is. */
struct process_call {
  bool is_known, is_inside;
  long number;
  uint64_t arguments[6], stack, instruction;
  const char *text; /* "read(3 <pipe:[12]>, …)", or NULL */
  const char *peer; /* who could end it: "whose other end is open in process 12 (cat)", or NULL */
  bool is_futex;
  const char *futex_name;     /* the object in which its futex is, or NULL … */
  uint64_t futex_name_offset; /* … and where in it */
  bool must_not_stop;         /* it would fail with EINTR if the thread stopped */
};

/* The registers of DWARF's numbers, as many as are known. */
struct process_registers {
  bool are_known;
  bool are_few; /* the thread was not stopped: only those of which the bits are set in `known` */
  uint32_t known;
  int machine; /* EM_… of ELF */
  unsigned count;
  uint64_t list[PROCESS_REGISTERS_MAX];
  uint64_t instruction, stack, thread_pointer; /* thread_pointer: 0 if it is unknown */
};

enum process_lock_kind {
  PROCESS_LOCK_NONE,
  PROCESS_LOCK_MUTEX,
  PROCESS_LOCK_RWLOCK,
  PROCESS_LOCK_FILE, /* of a stdio stream */
  PROCESS_LOCK_CONDITION,
  PROCESS_LOCK_SEMAPHORE,
  PROCESS_LOCK_BARRIER,
  PROCESS_LOCK_JOIN, /* the end of a thread */
  PROCESS_LOCK_OTHER,
};

struct process_wait {
  enum process_lock_kind kind;
  uint64_t address;
  int holders[PROCESS_HOLDERS_MAX]; /* indices of threads */
  unsigned holder_count;
  unsigned readers;  /* of a read-write lock, which does not record who they are */
  int stranger;      /* a number of a thread that the process does not have, which holds it; 0: none */
  bool is_by_events; /* the holders are known from events, not from the lock's memory */
};

struct process_event {
  int64_t age_ns;
  bool has_age;
  const char *name, *text;
};

struct process_span {
  int64_t age_ns;
  const char *name;
};

struct process_thread {
  int tid, inner_tid; /* inner_tid: as the process itself numbers it */
  char name[PROCESS_NAME_MAX];
  char state; /* as /proc shows it; 0: the thread has ended meanwhile */
  int tracer;
  char wchan[PROCESS_NAME_MAX]; /* the function in the kernel in which it waits, "" if that is unknown */
  const char *kernel_stack;     /* its functions in the kernel, of a thread in disk sleep; or NULL */
  uint64_t pending, process_pending, blocked; /* signals */
  uint64_t cpu_ns, cpu_later_ns;
  struct process_switches switches, switches_later;
  char state_later;
  long long seen_ns, seen_later_ns; /* when those were read; 0: not */
  struct process_call call;
  bool has_words;                     /* words: the memory around the futex of its call */
  unsigned words_before, words_after; /* how much of it there is */
  uint8_t words[PROCESS_WORD_BEFORE + PROCESS_WORD_AFTER];
  struct process_registers registers;
  uint64_t stack_begin, stack_size; /* what `stack_bytes` is a copy of */
  uint8_t *stack_bytes;
  struct process_frame *frames;
  unsigned frame_count;
  bool has_names;        /* the frames have names */
  const char *stack_end; /* why the stack is not complete, or not there; NULL: it is complete */
  struct process_wait wait;
  uint64_t wait_on; /* the object of the last wait that its events show, 0: none is open */
  struct process_event events[PROCESS_EVENTS_MAX]; /* the oldest first */
  unsigned event_count;
  uint64_t events_in_all;
  struct process_span spans[PROCESS_SPANS_MAX]; /* the outermost first */
  unsigned span_count, spans_in_all;
};

/* A lock that a thread has taken, by its events. */
struct process_hold {
  uint64_t address;
  int tid; /* as the process itself numbers it */
};

/* Something that could not be seen: "the stacks: …" */
struct process_unseen {
  const struct process_unseen *next;
  const char *text;
};

/* A pipe, and which processes have one of its ends open. */
struct process_pipe {
  const struct process_pipe *next;
  const char *link, *peers;
  bool for_writing;
};

struct process {
  struct process_board *board;
  const struct process_pipe *pipes;
  long long search_end_ns; /* when processes are not searched for ends of pipes any more; 0: not yet known */
  int pid;
  /* a thread that has not ended: the first one may have, and then /proc/PID has no memory and no program */
  int living;
  const char *core; /* the core file, or NULL: it is a process */
  const char *exe;  /* the program's path, or its name */
  char name[PROCESS_NAME_MAX];
  char state;
  int parent, tracer, inner_pid, signal; /* signal: which made the core file, else 0 */
  char parent_name[PROCESS_NAME_MAX];
  uint64_t inner_space; /* the number of its PID namespace if it is not ours, else 0 */
  unsigned user;
  bool has_user, is_32_bit;
  int64_t age_ns;
  size_t threads_in_all; /* more than `count` if there are too many */
  struct process_thread *threads;
  size_t count;
  size_t next;       /* the thread on which a worker is */
  const char *rings; /* the directory of its rings, or NULL … */
  const char *no_rings;
  struct process_hold *holds; /* by events */
  size_t hold_count;
  const struct process_unseen *unseen;
  bool is_incomplete;
};

/* Adds a line to what could not be seen. */
void process_unseen(struct process *process, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "thread 12 'name'" */
const char *process_thread_text(struct process *process, const struct process_thread *thread);
/* The index of the thread with a number of the process's own, or -1. */
int process_thread_of(const struct process *process, int inner_tid);

#endif
