/* SPDX-License-Identifier: MIT */
/*
 * One sleeping thread a traced process. Event headers hold 48 bits of the clock, which is unambiguous as long
 * as a packet holds no gap of 2^48 ticks (a day or so). A thread that traces rarely would keep its packet
 * open for longer, so packets older than a quarter of that are closed: by their owners, at their next event.
 *
 * It blocks all signals, has a small stack, and never ends; a forked child goes without it.
 */
#include "record/session.h"
#include <pthread.h>
#include <signal.h>
#include <time.h>

static const uint64_t QUARTER = UINT64_C(1) << 46;

static void *serve(void *unused) {
  (void)unused;
  pthread_setname_np(pthread_self(), "kymo");
  time_t seconds = (time_t)(QUARTER / 2 / kymo_session_.clock.frequency);
  for (;;) {
    struct timespec pause = {seconds, 0};
    nanosleep(&pause, NULL);
    uint64_t now = kymo_session_clock_read(&kymo_session_.clock);
    if (kymo_pool_is_ours() && now > QUARTER)
      kymo_writer_poison(now - QUARTER);
  }
  return NULL;
}

void kymo_service_start(void) {
  static bool started;
  sigset_t all, before;
  pthread_attr_t attributes;
  pthread_t thread;
  if (started || pthread_attr_init(&attributes))
    return;
  started = true;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, 128 << 10);
  pthread_create(&thread, &attributes, serve, NULL); /* without it only very long gaps are misread */
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
}
