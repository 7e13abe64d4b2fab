/* SPDX-License-Identifier: MIT */
/*
 * victim HOW: hangs in this way, after "ready". It knows nothing of kymo.
 *
 *   deadlock   two threads wait for each other's mutex; the first one waits for the end of one of them
 *   self       a thread waits for a mutex that it holds
 *   chain      two threads wait for a mutex whose holder reads a pipe
 *   gone       a thread waits for a mutex whose holder has ended
 *   readers    a thread wants to write under a read-write lock whose reader sleeps
 *   stream     a thread prints to a stream that another one has locked
 *   spin       a signal handler never returns
 *   pipe       reads a pipe whose other end a child has
 *   vfork      the child of a vfork does not end: the parent is in disk sleep
 *   leader     the first thread has ended, and another one waits for itself
 *   idle       many threads wait for a condition
 *   count      threads in many system calls, which must not fail; a counter goes on
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void say(const char *text) {
  if (write(STDOUT_FILENO, text, strlen(text)) < 0)
    _exit(2);
}

static void start(const char *name, void *(*function)(void *), void *argument, pthread_t *thread) {
  pthread_t other;
  if (pthread_create(thread ? thread : &other, NULL, function, argument))
    _exit(2);
  pthread_setname_np(thread ? *thread : other, name);
}

static void sleep_for_ever(void) {
  for (;;)
    pause();
}

/* ---- locks ---- */

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;

__attribute__((noinline)) static void take_both(pthread_mutex_t *one, pthread_mutex_t *other) {
  pthread_mutex_lock(one);
  pthread_barrier_wait(&both);
  pthread_mutex_lock(other);
}

static void *take_forward(void *unused) {
  take_both(&first, &second);
  return unused;
}

static void *take_backward(void *unused) {
  take_both(&second, &first);
  return unused;
}

static void deadlock(void) {
  pthread_t a;
  pthread_barrier_init(&both, NULL, 2);
  start("forward", take_forward, NULL, &a);
  start("backward", take_backward, NULL, NULL);
  say("ready\n");
  pthread_join(a, NULL);
}

static void self(void) {
  pthread_mutex_lock(&first);
  say("ready\n");
  pthread_mutex_lock(&first);
}

static void *take_twice(void *unused) {
  self();
  return unused;
}

static void leader(void) {
  start("follower", take_twice, NULL, NULL);
  pthread_exit(NULL);
}

static void *want_first(void *unused) {
  pthread_barrier_wait(&both);
  pthread_mutex_lock(&first);
  return unused;
}

static void *hold_and_read(void *end) {
  char byte;
  pthread_mutex_lock(&first);
  pthread_barrier_wait(&both);
  say("ready\n");
  return read(*(int *)end, &byte, 1) < 0 ? NULL : end;
}

static void chain(void) {
  static int ends[2];
  if (pipe(ends))
    _exit(2);
  pthread_barrier_init(&both, NULL, 3);
  start("holder", hold_and_read, &ends[0], NULL);
  start("waiter1", want_first, NULL, NULL);
  start("waiter2", want_first, NULL, NULL);
  sleep_for_ever();
}

static void *hold_and_end(void *unused) {
  pthread_mutex_lock(&first);
  return unused;
}

static void gone(void) {
  pthread_t holder;
  start("holder", hold_and_end, NULL, &holder);
  pthread_join(holder, NULL);
  say("ready\n");
  pthread_mutex_lock(&first);
}

static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;

static void *read_for_ever(void *unused) {
  pthread_rwlock_rdlock(&shared);
  pthread_barrier_wait(&both);
  sleep_for_ever();
  return unused;
}

static void readers(void) {
  pthread_barrier_init(&both, NULL, 2);
  start("reader", read_for_ever, NULL, NULL);
  pthread_barrier_wait(&both);
  say("ready\n");
  pthread_rwlock_wrlock(&shared);
}

static void *lock_stream(void *unused) {
  flockfile(stderr);
  pthread_barrier_wait(&both);
  sleep_for_ever();
  return unused;
}

static void stream(void) {
  pthread_barrier_init(&both, NULL, 2);
  start("locker", lock_stream, NULL, NULL);
  pthread_barrier_wait(&both);
  say("ready\n");
  fputs("text", stderr);
}

/* ---- a signal handler ---- */

static volatile sig_atomic_t turns;

static void on_signal(int number) {
  turns = number;
  say("ready\n");
  for (;;)
    turns = turns + 1 < 1000 ? turns + 1 : 0;
}

__attribute__((noinline)) static void interrupted_work(void) {
  raise(SIGUSR1);
  for (;;)
    turns++;
}

static void *spin_in_handler(void *unused) {
  signal(SIGUSR1, on_signal);
  interrupted_work();
  return unused;
}

static void spin(void) {
  start("spinner", spin_in_handler, NULL, NULL);
  sleep_for_ever();
}

/* ---- other processes ---- */

__attribute__((noinline)) static int read_answer(int end) {
  char byte;
  return (int)read(end, &byte, 1);
}

static void wait_for_child(void) {
  int ends[2];
  if (pipe(ends))
    _exit(2);
  pid_t child = fork();
  if (!child) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(ends[0]);
    sleep_for_ever();
  }
  close(ends[1]);
  printf("child %d\nready\n", (int)child);
  fflush(stdout);
  read_answer(ends[0]);
}

static void never_end(void) {
  pid_t child = vfork();
  if (child)
    return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  say("ready\n");
  for (;;)
    usleep(100000);
}

/* ---- threads that go on ---- */

static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void *wait_for_work(void *unused) {
  pthread_mutex_lock(&first);
  for (;;)
    pthread_cond_wait(&condition, &first);
  return unused;
}

static void idle(void) {
  for (int i = 0; i < 40; i++)
    start("worker", wait_for_work, NULL, NULL);
  say("ready\n");
  sleep_for_ever();
}

static void failed(const char *call) {
  char text[64];
  snprintf(text, sizeof text, "%s: %s\n", call, strerror(errno));
  say(text);
}

static int ends[2];

static void *in_read(void *unused) {
  char byte;
  for (;;)
    if (read(ends[0], &byte, 1) < 0)
      failed("read");
  return unused;
}

static void *in_epoll(void *unused) {
  struct epoll_event event;
  int set = epoll_create1(0);
  for (;;)
    if (epoll_wait(set, &event, 1, -1) < 0)
      failed("epoll_wait");
  return unused;
}

static void *in_poll(void *unused) {
  struct pollfd one = {.fd = ends[0], .events = POLLIN};
  for (;;)
    if (poll(&one, 1, 100000) < 0)
      failed("poll");
  return unused;
}

static void *in_sleep(void *unused) {
  const struct timespec long_time = {.tv_sec = 100000};
  for (;;)
    if (nanosleep(&long_time, NULL))
      failed("nanosleep");
  return unused;
}

static void *in_sem(void *unused) {
  struct sembuf down = {.sem_num = 0, .sem_op = -1};
  int id = semget(IPC_PRIVATE, 1, 0600);
  for (;;)
    if (id < 0 || semop(id, &down, 1)) {
      failed("semop");
      return unused;
    }
}

static void *in_receive(void *unused) {
  const struct timeval limit = {.tv_sec = 100000};
  int pair[2];
  char byte;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) ||
      setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit))
    failed("socketpair");
  for (;;)
    if (recv(pair[0], &byte, 1, 0) < 0)
      failed("recv");
  return unused;
}

static void *in_sigwait(void *unused) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  for (;;)
    if (sigwaitinfo(&set, NULL) < 0)
      failed("sigwaitinfo");
  return unused;
}

static void *in_semaphore(void *unused) {
  static sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  for (;;)
    if (sem_wait(&semaphore))
      failed("sem_wait");
  return unused;
}

static void count(void) {
  if (pipe(ends))
    _exit(2);
  start("read", in_read, NULL, NULL);
  start("epoll", in_epoll, NULL, NULL);
  start("poll", in_poll, NULL, NULL);
  start("sleep", in_sleep, NULL, NULL);
  start("sem", in_sem, NULL, NULL);
  start("receive", in_receive, NULL, NULL);
  start("sigwait", in_sigwait, NULL, NULL);
  start("semaphore", in_semaphore, NULL, NULL);
  usleep(200000);
  say("ready\n");
  for (unsigned number = 0;; number++) {
    char text[32];
    snprintf(text, sizeof text, "%u\n", number);
    say(text);
    usleep(20000);
  }
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*function)(void);
  } ways[] = {{"deadlock", deadlock},   {"self", self},       {"leader", leader}, {"chain", chain},
              {"gone", gone},           {"readers", readers}, {"stream", stream}, {"spin", spin},
              {"pipe", wait_for_child}, {"vfork", never_end}, {"idle", idle},     {"count", count}};
  for (size_t i = 0; argc == 2 && i < sizeof ways / sizeof *ways; i++)
    if (strcmp(argv[1], ways[i].name) == 0)
      ways[i].function();
  return 2;
}
