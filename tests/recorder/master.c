/* SPDX-License-Identifier: MIT */
/*
 * master HOW...: a server that forks a worker for each HOW in turn, each of which records 100 events, ends
 * so, and is waited for at once:
 *
 *   segv      a fault own a fault, whose handler passes the signal back
 *   deep      a stack that overflows                abort     abort()
 *   exit      exit(3)                               _exit     _exit(3)
 *   term      a signal that asks it to end          trap      a breakpoint without a debugger
 *
 *   dfl       a fault, after the signal was given back to the kernel
 *   thread    a stack that overflows, of another thread than the first
 *
 * Prints "PID HOW STATUS", as the kernel reports it. With +HOW the parent ignores the ends of its children,
 * and the worker prints "PID HOW" and waits for SIGUSR1 before it ends so.
 */
#include <kymo/trace.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct sigaction before;
static void give_back(int number) { sigaction(number, &before, NULL); }

__attribute__((noinline, no_sanitize("address"))) static int deeper(volatile char *above) {
  volatile char room[4096];
  room[0] = above[0];
  return room[0] ? deeper(room) + room[0] : 0;
}

/* Sanitizers would report it and exit. */
__attribute__((noinline, no_sanitize("address"), no_sanitize("undefined"))) static void fault(void) {
  static volatile int *volatile nowhere;
  *nowhere = 1;
}

static void *run_deep(void *unused) {
  deeper((volatile char[]){1});
  return unused;
}

static void end(const char *how) {
  pthread_t thread;
  if (!strcmp(how, "dfl")) {
    signal(SIGSEGV, SIG_DFL);
    fault();
  }
  if (!strcmp(how, "thread") && !pthread_create(&thread, NULL, run_deep, NULL))
    pthread_join(thread, NULL);
  if (!strcmp(how, "own"))
    sigaction(SIGSEGV, &(struct sigaction){.sa_handler = give_back}, &before);
  if (!strcmp(how, "segv") || !strcmp(how, "own"))
    fault();
  if (!strcmp(how, "deep"))
    deeper((volatile char[]){1});
  if (!strcmp(how, "abort"))
    abort();
  if (!strcmp(how, "term"))
    raise(SIGTERM);
  if (!strcmp(how, "trap"))
    raise(SIGTRAP);
  if (!strcmp(how, "_exit"))
    _exit(3);
  exit(3);
}

static void work(const char *how) {
  for (int n = 0; n < 100; n++)
    KYMO(master, works, n);
  end(how);
}

/* The kernel reaps the worker, without a report to anyone. */
static void begin_unwatched(const char *how) {
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGUSR1);
  sigprocmask(SIG_BLOCK, &wanted, NULL);
  signal(SIGCHLD, SIG_IGN);
  if (!fork()) {
    KYMO(master, begins, 0);
    printf("%d %s\n", (int)getpid(), how);
    fflush(stdout);
    sigwait(&wanted, &(int){0});
    work(how);
  }
  wait(NULL); /* until there are none */
  _exit(0);
}

int main(int argc, char **argv) {
#ifdef __SANITIZE_ADDRESS__
  /* fork does not lock the allocator of gcc 12's sanitizer, in which the recorder's thread may be at first */
  usleep(200000);
#endif
  KYMO(master, begins, argc);
  for (int i = 1; i < argc; i++) {
    int status = 0;
    pid_t pid = fork();
    if (!pid && *argv[i] == '+')
      begin_unwatched(argv[i] + 1);
    if (!pid)
      work(argv[i]);
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
      return 2;
    KYMO(master, waited, pid);
    if (*argv[i] != '+')
      printf("%d %s %d\n", (int)pid, argv[i], WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    fflush(stdout);
  }
  return 0;
}
