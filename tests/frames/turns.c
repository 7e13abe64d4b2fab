/* SPDX-License-Identifier: MIT */
/* Threads that write in turn into a framed log: turns NAME THREADS EVENTS [live]. Events are "w", who,
 * number, a text of changing length. Live: each event is in its file at once, and "go" on the standard input
 * lets the next ten be written. */
#include <kymo/bprintf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct kymo_log *log;
static uint32_t threads, events, turn;
static bool is_live;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;

static void write_event(uint32_t who, uint32_t number) {
  static const char text[] = "abcdefghijklmnopqrstuvwxyz";
  char line[16];
  if (is_live && turn % 10 == 0 && !fgets(line, sizeof line, stdin))
    exit(0);
  if (number % 5 == 4)
    kymo_log_printf(log, "line %u of %u\n", number, who);
  else if (kymo_bprintf(log, "w%4b%4b%s", who, number, text + number % 27) < 0)
    exit(3);
  if (is_live && kymo_log_flush(log))
    exit(3);
}

static void *work(void *argument) {
  uint32_t who = (uint32_t)(uintptr_t)argument;
  for (uint32_t i = 0; i < events; i++) {
    pthread_mutex_lock(&lock);
    while (turn % threads != who)
      pthread_cond_wait(&turned, &lock);
    write_event(who, i);
    turn++;
    pthread_cond_broadcast(&turned);
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

int main(int argc, char **argv) {
  struct kymo_log_options options = {.is_framed = true, .packet_bytes = 4096};
  pthread_t thread[64];
  if (argc < 4)
    return 2;
  threads = (uint32_t)strtoul(argv[2], NULL, 10);
  events = (uint32_t)strtoul(argv[3], NULL, 10);
  is_live = argc > 4 && !strcmp(argv[4], "live");
  log = kymo_log_open(argv[1], &options);
  if (!log || threads > 64)
    return 1;
  for (uint32_t i = 0; i < threads; i++)
    pthread_create(&thread[i], NULL, work, (void *)(uintptr_t)i);
  for (uint32_t i = 0; i < threads; i++)
    pthread_join(thread[i], NULL);
  return kymo_log_close(log) ? 3 : 0;
}
