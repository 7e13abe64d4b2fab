/* SPDX-License-Identifier: MIT */
#include "live/sleep.h"
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Older headers do not have futex_waitv, which is in Linux since 5.16. */
#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif
#ifndef SYS_futex
#define SYS_futex SYS_futex_time64
#endif
struct futex_of {
  uint64_t value, address;
  uint32_t flags, reserved;
};
enum { WORD_32 = 2, FUTEXES_MAX = 128, QUIET_LOOKS = 10 };

/* Shared with the thread. `turn` is a futex, too: it changes with the list, and at the end. */
struct kymo_sleeper {
  pthread_t thread;
  pthread_mutex_t lock; /* of the list */
  uint32_t turn;
  bool is_waiting; /* for the list; stored by both */
  bool is_over, is_broken;
  int woken; /* an eventfd */
  size_t count;
  struct futex_of futexes[FUTEXES_MAX]; /* the first is `turn` */
  /* being collected by the reader */
  size_t asked;
  struct futex_of next[FUTEXES_MAX];
};

/* ---- the thread ---- */

/* Waits until one of the words changes. A pool that was unmapped meanwhile is an error, which ends the
 * wait. */
static int wait_for_any(struct futex_of *futexes, size_t count) {
  return (int)syscall(SYS_futex_waitv, futexes, (unsigned)count, 0, NULL, 0);
}

static void wait_for_turn(uint32_t *turn, uint32_t value) {
  syscall(SYS_futex, turn, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void *sleep_for(void *argument) {
  struct kymo_sleeper *sleeper = argument;
  struct futex_of futexes[FUTEXES_MAX];
  for (bool is_over = false; !is_over;) {
    pthread_mutex_lock(&sleeper->lock);
    size_t count = sleeper->count;
    uint32_t turn = (uint32_t)sleeper->futexes[0].value;
    memcpy(futexes, sleeper->futexes, count * sizeof *futexes);
    is_over = sleeper->is_over;
    pthread_mutex_unlock(&sleeper->lock);
    if (is_over)
      break;
    int woken = wait_for_any(futexes, count);
    if (woken < 0 && errno == ENOSYS)
      __atomic_store_n(&sleeper->is_broken, true, __ATOMIC_RELAXED); /* partner: kymo_sleep_ask */
    if (__atomic_load_n(&sleeper->turn, __ATOMIC_ACQUIRE) != turn)   /* partner: hand_over */
      continue;
    __atomic_store_n(&sleeper->is_waiting, false, __ATOMIC_RELAXED); /* partner: kymo_sleep_arm */
    eventfd_write(sleeper->woken, 1);
    wait_for_turn(&sleeper->turn, turn);
  }
  return NULL;
}

/* ---- the reader ---- */

/* The collected list becomes the thread's. */
static void hand_over(struct kymo_sleeper *sleeper, bool is_over) {
  pthread_mutex_lock(&sleeper->lock);
  uint32_t turn = sleeper->turn + 1;
  sleeper->futexes[0] = (struct futex_of){
      .value = turn, .address = (uintptr_t)&sleeper->turn, .flags = WORD_32 | FUTEX_PRIVATE_FLAG};
  memcpy(&sleeper->futexes[1], sleeper->next, sleeper->asked * sizeof *sleeper->next);
  sleeper->count = 1 + sleeper->asked;
  sleeper->asked = 0;
  sleeper->is_over = is_over;
  __atomic_store_n(&sleeper->is_waiting, true, __ATOMIC_RELAXED);
  __atomic_store_n(&sleeper->turn, turn, __ATOMIC_RELEASE); /* partner: sleep_for */
  pthread_mutex_unlock(&sleeper->lock);
  syscall(SYS_futex, &sleeper->turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void kymo_sleep_begin(struct kymo_sleep *sleep, const char *rings) {
  *sleep = (struct kymo_sleep){.changes = rings ? inotify_init1(IN_CLOEXEC | IN_NONBLOCK) : -1};
  if (rings && (sleep->changes < 0 || inotify_add_watch(sleep->changes, rings, IN_CREATE | IN_MOVED_TO) < 0))
    sleep->is_off = true;
}

bool kymo_sleep_is_due(struct kymo_sleep *sleep) {
  if (sleep->is_off || ++sleep->quiet <= QUIET_LOOKS)
    return false;
  if (sleep->sleeper)
    sleep->sleeper->asked = 0; /* an earlier attempt ended half-way */
  return true;
}

/* The thread leaves all signals to others. */
static bool start(struct kymo_sleeper *sleeper) {
  sigset_t all, before;
  sigfillset(&all);
  sleeper->woken = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (sleeper->woken < 0)
    return false;
  pthread_mutex_init(&sleeper->lock, NULL);
  hand_over(sleeper, false);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool is_started = !pthread_create(&sleeper->thread, NULL, sleep_for, sleeper);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (is_started)
    return true;
  pthread_mutex_destroy(&sleeper->lock);
  close(sleeper->woken);
  return false;
}

/* The thread, from the first sleep on. */
static struct kymo_sleeper *sleeper_of(struct kymo_sleep *sleep) {
  if (sleep->sleeper || sleep->is_off)
    return sleep->sleeper;
  struct kymo_sleeper *sleeper = calloc(1, sizeof *sleeper);
  if (sleeper && start(sleeper))
    return sleep->sleeper = sleeper;
  free(sleeper);
  sleep->is_off = true;
  return NULL;
}

bool kymo_sleep_ask(struct kymo_sleep *sleep, struct kymo_pool_header *header) {
  struct kymo_sleeper *sleeper = sleeper_of(sleep);
  if (!sleeper || !header->wakes || sleeper->asked + 1 == FUTEXES_MAX)
    return false;
  if (__atomic_load_n(&sleeper->is_broken, __ATOMIC_RELAXED)) {
    sleep->is_off = true;
    return false;
  }
  sleeper->next[sleeper->asked++] =
      (struct futex_of){.value = 1, .address = (uintptr_t)&header->waits, .flags = WORD_32};
  __atomic_store_n(&header->waits, 1, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_SEQ_CST); /* before the last look; partner: wake_reader of writer.c */
  return true;
}

bool kymo_sleep_arm(struct kymo_sleep *sleep) {
  if (!sleeper_of(sleep))
    return false;
  struct kymo_sleeper *sleeper = sleep->sleeper;
  bool is_same = sleeper->count == 1 + sleeper->asked &&
                 !memcmp(&sleeper->futexes[1], sleeper->next, sleeper->asked * sizeof *sleeper->next);
  if (!is_same ||
      !__atomic_load_n(&sleeper->is_waiting, __ATOMIC_RELAXED)) /* it may stop to wait only now: then
                                                                            * `woken` can be read */
    hand_over(sleeper, false);
  return true;
}

void kymo_sleep_fds(const struct kymo_sleep *sleep, struct pollfd fds[KYMO_SLEEP_FDS]) {
  fds[0] = (struct pollfd){sleep->changes, POLLIN, 0};
  fds[1] = (struct pollfd){sleep->sleeper ? sleep->sleeper->woken : -1, POLLIN, 0};
}

void kymo_sleep_polled(struct kymo_sleep *sleep, const struct pollfd fds[KYMO_SLEEP_FDS]) {
  char events[4096];
  eventfd_t count;
  if (fds[0].revents || fds[1].revents)
    sleep->quiet = 0;
  while (fds[0].revents && read(sleep->changes, events, sizeof events) > 0) {
  }
  if (fds[1].revents)
    eventfd_read(sleep->sleeper->woken, &count);
}

void kymo_sleep_free(struct kymo_sleep *sleep) {
  struct kymo_sleeper *sleeper = sleep->sleeper;
  if (sleeper) {
    sleeper->asked = 0;
    hand_over(sleeper, true);
    pthread_join(sleeper->thread, NULL);
    pthread_mutex_destroy(&sleeper->lock);
    close(sleeper->woken);
    free(sleeper);
  }
  if (sleep->changes >= 0)
    close(sleep->changes);
  *sleep = (struct kymo_sleep){.changes = -1, .is_off = true};
}
