/* SPDX-License-Identifier: MIT */
/*
 * births IDLE SECONDS FIFO: has IDLE threads that do nothing, and after them one that starts threads all the
 * time until a byte comes from FIFO, but at least LEAST. Then each of those uses SECONDS of CPU time, and
 * their numbers are printed, one a line.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { LEAST = 100, MOST = 20000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t is_go = PTHREAD_COND_INITIALIZER;
static int go, ends;
static double seconds;
static pthread_attr_t attr; /* of all threads */
static pthread_t threads[MOST];
static int count, tids[MOST];

static void wait_for_go(void) {
  pthread_mutex_lock(&lock);
  while (!go)
    pthread_cond_wait(&is_go, &lock);
  pthread_mutex_unlock(&lock);
}

static double used(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void *idle(void *unused) {
  wait_for_go();
  return unused;
}

static void *born(void *tid) {
  *(int *)tid = (int)syscall(SYS_gettid);
  wait_for_go();
  for (double end = used() + seconds; used() < end;)
    ;
  return NULL;
}

static void *start(void *unused) {
  while ((!__atomic_load_n(&ends, __ATOMIC_ACQUIRE) || count < LEAST) && count < MOST) {
    if (pthread_create(&threads[count], &attr, born, &tids[count]))
      abort();
    count++;
    usleep(2500);
  }
  return unused;
}

int main(int argc, char **argv) {
  pthread_t starter, unused;
  char byte;
  if (argc != 4)
    return 1;
  seconds = strtod(argv[2], NULL);
  pthread_attr_init(&attr);
  pthread_attr_setstacksize(&attr, 64 << 10);
  long idles = strtol(argv[1], NULL, 10);
  for (long i = 0; i < idles; i++)
    if (pthread_create(&unused, &attr, idle, NULL))
      return 1;
  if (pthread_create(&starter, &attr, start, NULL))
    return 1;
  int file = open(argv[3], O_RDONLY);
  if (file < 0 || read(file, &byte, 1) != 1)
    return 1;
  __atomic_store_n(&ends, 1, __ATOMIC_RELEASE);
  pthread_join(starter, NULL);
  pthread_mutex_lock(&lock);
  go = 1;
  pthread_cond_broadcast(&is_go);
  pthread_mutex_unlock(&lock);
  for (int i = 0; i < count; i++) {
    pthread_join(threads[i], NULL);
    printf("%d\n", tids[i]);
  }
  return 0;
}
