/* SPDX-License-Identifier: MIT */
/*
 * Records as the options say, at full speed:
 *
 *   worker [-t THREADS] [-n EVENTS a thread; 0: for ever] [-c COUNTERS] [-e END] [-k EVENTS] [-a
 *   MICROSECONDS]
 *          [-s DIRECTORY] [-S DIRECTORY -r SAVES] [-p] [-m] [-w MICROSECONDS] [-l BYTES]
 *
 *   -e END   how the process ends: return (default), exit, _exit, abort, segv, kill (-9), stop (waits)
 *   -k N     thread 0 ends the process in this way after its own N events
 *   -a US    interrupts the threads by SIGALRM, from a timer and as fast as another thread can; its handler
 *            records too
 *   -s DIR   saves there at the end, all threads being done;  -S DIR: -r times while they run, to DIR/0 …
 *   -p       one thread after the other instead of all at once
 *   -m       all threads meet after their first event
 *   -w US    pauses between events
 *   -l N     each 100th event has N bytes more
 */
#include "work.h"
#include <errno.h>
#include <fcntl.h>
#include <kymo/trace.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

static struct {
  uint32_t threads;
  uint64_t events, end_after;
  const char *end, *save, *save_meanwhile;
  int saves, alarm_us, pause_us;
  size_t large;
  bool one_by_one, meet;
} asked = {.threads = 1, .events = 1000, .end = "return"};
static struct work_counters *counters;
static uint32_t threads_done;
static pthread_barrier_t meeting;
static __thread uint32_t self = UINT32_MAX;

/* The count rises when the event is published, so a killed process has certainly recorded this number, and
 * at most one more a thread. */
static void record(uint32_t thread) {
  uint64_t seq = counters->recorded[thread];
  if (asked.large && seq % 100 == 99) {
    static const unsigned char zeroes[1 << 20];
    KYMO(work, large, thread, seq, KYMO_BLOB(data, zeroes, asked.large));
  } else if (seq % 3 == 0) {
    char text[WORK_TEXT_MAX];
    work_text(text, thread, seq);
    KYMO(work, text, thread, seq, KYMO_AS(sum, work_sum(thread, seq)), KYMO_STRN(text, text, sizeof text));
  } else if (seq % 3 == 1) {
    KYMO(work, pair, thread, seq, KYMO_AS(sum, work_sum(thread, seq)));
  } else {
    unsigned char data[WORK_DATA_MAX];
    size_t length = work_data(data, thread, seq);
    KYMO(work, data, thread, seq, KYMO_BLOB(data, data, length));
  }
  __atomic_store_n(&counters->recorded[thread], seq + 1, __ATOMIC_RELEASE);
}

static void on_alarm(int signal) {
  (void)signal;
  if (self != UINT32_MAX)
    record(self + WORK_HANDLER);
}

static void end_process(void) {
  if (!strcmp(asked.end, "exit"))
    exit(0);
  if (!strcmp(asked.end, "_exit"))
    _exit(0);
  if (!strcmp(asked.end, "abort"))
    abort();
  if (!strcmp(asked.end, "kill"))
    kill(getpid(), SIGKILL);
  if (!strcmp(asked.end, "segv")) {
    /* a page without access: a null pointer would be UBSan's, not the processor's */
    volatile char *nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *nowhere = 1;
  }
  if (!strcmp(asked.end, "stop"))
    for (;;)
      pause();
}

static void *work(void *number) {
  self = (uint32_t)(uintptr_t)number;
  for (uint64_t n = 0; !asked.events || n < asked.events; n++) {
    record(self);
    if (asked.meet && !n)
      pthread_barrier_wait(&meeting);
    if (asked.pause_us)
      usleep((useconds_t)asked.pause_us);
    if (self == 0 && asked.end_after && n + 1 == asked.end_after)
      end_process();
  }
  self = UINT32_MAX;
  __atomic_fetch_add(&threads_done, 1, __ATOMIC_RELAXED);
  return NULL;
}

static void map_counters(const char *path) {
  int fd = path ? open(path, O_RDWR | O_CREAT, 0666) : -1,
      flags = path ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
  if (path && (fd < 0 || ftruncate(fd, sizeof *counters)))
    perror(path), exit(2);
  counters = mmap(NULL, sizeof *counters, PROT_READ | PROT_WRITE, flags, fd, 0);
  if (counters == MAP_FAILED)
    perror("mmap"), exit(2);
  if (fd >= 0)
    close(fd);
}

static void start_alarms(void) {
  struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
  struct itimerval timer = {{0, asked.alarm_us}, {0, asked.alarm_us}};
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &timer, NULL);
}

/* The timer's signals go to any thread but this one and the main one. */
static void *storm(void *threads) {
  const pthread_t *thread = threads;
  while (__atomic_load_n(&threads_done, __ATOMIC_RELAXED) < asked.threads)
    for (uint32_t i = 0; i < asked.threads; i++)
      pthread_kill(thread[i], SIGALRM);
  return NULL;
}

static void block_alarms(int how) {
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  pthread_sigmask(how, &alarm, NULL);
}

static void save(const char *directory, int number) {
  char path[4096];
  if (number < 0)
    snprintf(path, sizeof path, "%s", directory);
  else
    snprintf(path, sizeof path, "%s/%d", directory, number);
  if (kymo_rings_save(path))
    perror(path), _exit(3);
}

static void run(void) {
  pthread_t *thread = calloc(asked.threads, sizeof *thread), stormy;
  if (!thread || pthread_barrier_init(&meeting, NULL, asked.threads))
    exit(2);
  for (uint32_t i = 0; i < asked.threads; i++) {
    if (pthread_create(&thread[i], NULL, work, (void *)(uintptr_t)i))
      perror("pthread_create"), exit(2);
    if (asked.one_by_one)
      pthread_join(thread[i], NULL);
  }
  block_alarms(SIG_BLOCK);
  if (asked.alarm_us && pthread_create(&stormy, NULL, storm, thread))
    perror("pthread_create"), exit(2);
  if (asked.save_meanwhile)
    kymo_thread_init(); /* on a busy machine the others may not have begun: there is something to save */
  for (int i = 0; asked.save_meanwhile && i < asked.saves; i++) {
    usleep(2000);
    save(asked.save_meanwhile, i);
  }
  for (uint32_t i = 0; !asked.one_by_one && i < asked.threads; i++)
    pthread_join(thread[i], NULL);
  if (asked.alarm_us)
    pthread_join(stormy, NULL);
  free(thread);
}

int main(int argc, char **argv) {
  const char *count = NULL;
  kymo_args_apply(&argc, argv);
  for (int option; (option = getopt(argc, argv, "t:n:c:e:k:a:s:S:r:pmw:l:")) > 0;)
    switch (option) {
    case 't': asked.threads = (uint32_t)strtoul(optarg, NULL, 0); break;
    case 'n': asked.events = strtoull(optarg, NULL, 0); break;
    case 'c': count = optarg; break;
    case 'e': asked.end = optarg; break;
    case 'k': asked.end_after = strtoull(optarg, NULL, 0); break;
    case 'a': asked.alarm_us = (int)strtol(optarg, NULL, 0); break;
    case 's': asked.save = optarg; break;
    case 'S': asked.save_meanwhile = optarg; break;
    case 'r': asked.saves = (int)strtol(optarg, NULL, 0); break;
    case 'p': asked.one_by_one = true; break;
    case 'm': asked.meet = true; break;
    case 'w': asked.pause_us = (int)strtol(optarg, NULL, 0); break;
    case 'l': asked.large = strtoul(optarg, NULL, 0); break;
    default: return 2;
    }
  map_counters(count);
  if (asked.alarm_us)
    start_alarms();
  run();
  if (asked.alarm_us)
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
  if (asked.save)
    save(asked.save, -1);
  end_process();
  return 0;
}
