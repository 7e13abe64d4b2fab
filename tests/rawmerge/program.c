/* SPDX-License-Identifier: MIT */
/* Writes a raw log: program NAME thread|cpu COUNT. Three threads, on different CPUs if there are some,
 * each COUNT events with a header of the program's own. */
#include <kymo/bprintf.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct kymo_log *log;
static uint32_t count;
static pthread_barrier_t all_done; /* a thread that ends leaves its file to the next one */

static void move(unsigned who) {
  cpu_set_t all, one;
  if (sched_getaffinity(0, sizeof all, &all))
    return;
  unsigned left = who % (unsigned)CPU_COUNT(&all);
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET(cpu, &all) && left-- == 0) {
      CPU_ZERO(&one);
      CPU_SET(cpu, &one);
      sched_setaffinity(0, sizeof one, &one);
      return;
    }
}

static void *work(void *who) {
  static const char text[] = "abcdefghijklmnopqrstuvwxyz";
  move((unsigned)(uintptr_t)who);
  for (uint32_t i = 0; i < count; i++) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (kymo_bprintf(log, "%2n%4b%4b%1b%4b%s", (uint32_t)now.tv_sec, (uint32_t)now.tv_nsec / 1000,
                     (unsigned)(uintptr_t)who, i, text + i % 27) < 0)
      exit(3);
  }
  pthread_barrier_wait(&all_done);
  return NULL;
}

int main(int argc, char **argv) {
  struct kymo_log_options options = {.packet_bytes = 4096};
  pthread_t threads[3];
  if (argc != 4)
    return 2;
  options.files = strcmp(argv[2], "cpu") == 0 ? KYMO_FILES_PER_CPU : KYMO_FILES_PER_THREAD;
  count = (uint32_t)strtoul(argv[3], NULL, 10);
  log = kymo_log_open(argv[1], &options);
  if (!log) {
    perror(argv[1]);
    return 1;
  }
  pthread_barrier_init(&all_done, NULL, 3);
  for (uintptr_t i = 0; i < 3; i++)
    pthread_create(&threads[i], NULL, work, (void *)i);
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], NULL);
  return kymo_log_close(log) != 0;
}
