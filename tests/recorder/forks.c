/* SPDX-License-Identifier: MIT */
/*
 * Processes that make processes, each of which records its own sequence (see work.h):
 *
 *   forks COUNTERS HOW...    does each in turn; the parent (thread 0) records between them
 *
 *   fork      a child that records at once _fork the same by _Fork, which runs no atfork handlers
 *   clone     the same by the bare system call          vfork     a child that replaces itself
 *   exec      a child that replaces itself by itself    silent    a child that records nothing
 *   threads   a child while other threads record handler a child made by a handler in the middle of an event
 *   chain     a child, its child, its child
 */
#include "work.h"
#include <fcntl.h>
#include <kymo/trace.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EVENTS = 500, FIRST_CHILD = 100 };
static struct work_counters *counters;
static const char *counters_path, *self_path;
static bool stop;
static char *trap;

static void record_some(uint32_t thread, int events) {
  for (int i = 0; i < events; i++) {
    uint64_t seq = counters->recorded[thread];
    if (seq % 3 == 1)
      KYMO(work, pair, thread, seq, KYMO_AS(sum, work_sum(thread, seq)));
    else if (seq % 3 == 0) {
      char text[WORK_TEXT_MAX];
      work_text(text, thread, seq);
      KYMO(work, text, thread, seq, KYMO_AS(sum, work_sum(thread, seq)), KYMO_STRN(text, text, sizeof text));
    } else {
      unsigned char data[WORK_DATA_MAX];
      size_t length = work_data(data, thread, seq);
      KYMO(work, data, thread, seq, KYMO_BLOB(data, data, length));
    }
    __atomic_store_n(&counters->recorded[thread], seq + 1, __ATOMIC_RELEASE);
  }
}

/* The next free number for a child's thread. */
static uint32_t number(void) {
  return (uint32_t)__atomic_add_fetch(&counters->recorded[WORK_THREADS_MAX - 1], 1, __ATOMIC_RELAXED) +
         FIRST_CHILD;
}

static void exec_self(uint32_t thread) {
  char text[16];
  snprintf(text, sizeof text, "%u", thread);
  execl(self_path, self_path, counters_path, "child", text, (char *)NULL);
  _exit(9);
}

static void finish(pid_t pid) {
  int status = 0;
  if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
    fprintf(stderr, "a child ended with %d\n", status), exit(3);
}

/* The end of a child that may not run exit handlers of its parent's, but has a trace to save. */
static void end_child(void) { exit(0); }

static void chain(int depth) {
  pid_t pid = fork();
  if (pid) {
    finish(pid);
    return;
  }
  uint32_t thread = number();
  record_some(thread, EVENTS);
  if (depth)
    chain(depth - 1);
  record_some(thread, EVENTS);
  end_child();
}

static void *work(void *thread) {
  while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
    record_some((uint32_t)(uintptr_t)thread, 10), usleep(100);
  return NULL;
}

/* A child that looks for leaks at its end waits for locks of threads that it does not have. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "detect_leaks=0"; }

static void fork_among_threads(void) {
  pthread_t thread[3];
  stop = false;
  for (uintptr_t i = 0; i < 3; i++)
    pthread_create(&thread[i], NULL, work, (void *)(i + 1));
  for (int i = 0; i < 5; i++) {
    pid_t pid = fork();
    if (!pid)
      record_some(number(), EVENTS), end_child();
    finish(pid);
  }
  __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
  for (int i = 0; i < 3; i++)
    pthread_join(thread[i], NULL);
}

/* The event goes on in both processes; only the parent's may be seen, once. */
static void on_fault(int signal) {
  (void)signal;
  pid_t pid = fork();
  if (pid)
    finish(pid);
  mprotect(trap, 4096, PROT_READ);
}

static void fork_in_handler(void) {
  pid_t self = getpid();
  uint64_t seq = counters->recorded[0];
  while (seq % 3 != 2)
    record_some(0, 1), seq = counters->recorded[0];
  trap = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  size_t length = work_data((unsigned char *)trap, 0, seq);
  mprotect(trap, 4096, PROT_NONE);
  struct sigaction action = {.sa_handler = on_fault};
  sigaction(SIGSEGV, &action, NULL);
  uint32_t thread = 0;
  KYMO(work, data, thread, seq, KYMO_BLOB(data, trap, length));
  signal(SIGSEGV, SIG_DFL);
  if (getpid() != self) {
    record_some(number(), EVENTS);
    end_child();
  }
  counters->recorded[0] = seq + 1;
}

static pid_t bare_clone(void) { return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0); }

static bool make(const char *how) {
  pid_t pid = -1;
  if (!strcmp(how, "fork") || !strcmp(how, "silent") || !strcmp(how, "exec"))
    pid = fork();
  else if (!strcmp(how, "_fork"))
    pid = _Fork();
  else if (!strcmp(how, "clone"))
    pid = bare_clone();
  else if (!strcmp(how, "vfork")) {
    uint32_t thread = number();
    pid = vfork();
    if (!pid)
      exec_self(thread);
  } else if (!strcmp(how, "chain")) {
    chain(2);
    return true;
  } else if (!strcmp(how, "threads")) {
    fork_among_threads();
    return true;
  } else if (!strcmp(how, "handler")) {
    fork_in_handler();
    return true;
  } else
    return false;
  if (!pid) {
    if (!strcmp(how, "exec"))
      record_some(number(), EVENTS), exec_self(number());
    if (strcmp(how, "silent"))
      record_some(number(), EVENTS);
    end_child();
  }
  finish(pid);
  return true;
}

int main(int argc, char **argv) {
  kymo_args_apply(&argc, argv);
  if (argc < 3)
    return 2;
  self_path = argv[0];
  counters_path = argv[1];
  int fd = open(counters_path, O_RDWR | O_CREAT, 0666);
  if (fd < 0 || ftruncate(fd, sizeof *counters))
    return perror(counters_path), 2;
  counters = mmap(NULL, sizeof *counters, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (counters == MAP_FAILED)
    return perror("mmap"), 2;
  if (!strcmp(argv[2], "child")) {
    record_some((uint32_t)strtoul(argv[3], NULL, 10), EVENTS);
    return 0;
  }
  for (int i = 2; i < argc; i++) {
    record_some(0, EVENTS);
    if (!make(argv[i]))
      return fprintf(stderr, "unknown: %s\n", argv[i]), 2;
  }
  record_some(0, EVENTS);
  counters->recorded[WORK_THREADS_MAX - 1] = 0; /* the numbers given out are no events */
  return 0;
}
