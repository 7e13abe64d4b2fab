/* SPDX-License-Identifier: MIT */
/*
 * One sleeping thread per process that has tracepoints. It serves the control socket (control.c). It also
 * closes old packets: event headers hold 48 bits of the clock, which is unambiguous as long as a packet holds
 * no gap of 2^48 ticks (a day or so): a thread that traces rarely would keep its packet open for longer, so
 * packets older than a quarter of that are closed, by their owners, at their next event.
 *
 * It runs in programs that did not ask for it: it blocks all signals, has a small stack and its own
 * descriptors, wakes at a request and once an hour, and never ends. So the library that it is loaded with (a
 * plugin, for example) stays loaded. A child of fork starts its own thread, which waits a moment in case an
 * exec follows; a child of _Fork or clone has none.
 */
#include "record/service.h"
#include "record/session.h"
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static const uint64_t QUARTER = UINT64_C(1) << 46;
enum { PERIOD_MS = 3600 * 1000, AFTER_FORK_MS = 20 };

static struct {
  int32_t pid; /* pid of the process that started the thread */
  bool is_forked;
} service;

static void sleep_ms(long ms) {
  struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&pause, NULL);
}

#ifdef KYMO_NO_CONTROL
static bool wants_control(void) { return false; }
#else
static bool wants_control(void) { return kymo_session_.options.control; }
#endif

static void *serve(void *unused) {
  (void)unused;
  kymo_self_.own_work++;
  pthread_setname_np(pthread_self(), "kymo");
  if (service.is_forked)
    sleep_ms(AFTER_FORK_MS);
  bool listens = wants_control() && kymo_control_open();
  for (;;) {
    if (listens)
      kymo_control_serve(PERIOD_MS);
    else
      sleep_ms(PERIOD_MS);
    uint64_t now = kymo_pool_is_ours() ? kymo_session_clock_read(&kymo_session_.clock) : 0;
    if (now > QUARTER)
      kymo_writer_poison(now - QUARTER);
  }
  return NULL;
}

extern __typeof__(dladdr) dladdr __attribute__((weak)); /* a static program has nothing to unload */
extern __typeof__(dlopen) dlopen __attribute__((weak));

static void stay_loaded(void) {
  Dl_info self;
  if (dladdr && dlopen && dladdr((void *)(uintptr_t)&serve, &self) && self.dli_fname)
    dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

static void start(void) {
  sigset_t all, before;
  pthread_attr_t attributes;
  pthread_t thread;
  size_t usual;
  if (pthread_attr_init(&attributes))
    return;
  pthread_attr_getstacksize(&attributes, &usual);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, 128 << 10);
  /* without it no other process can switch tracepoints, and very long gaps are misread */
  if (pthread_create(&thread, &attributes, serve,
                     NULL)) { /* the program's thread-local variables are also on this stack, and are large */
    pthread_attr_setstacksize(&attributes, usual);
    pthread_create(&thread, &attributes, serve, NULL);
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
}

void kymo_service_start(enum kymo_service_need need) {
  int32_t self = getpid();
  if ((need == KYMO_SERVICE_CONTROL && !wants_control()) ||
      __atomic_exchange_n(&service.pid, self, __ATOMIC_RELAXED) == self)
    return;
  kymo_self_.own_work++;
  stay_loaded();
  start();
  kymo_self_.own_work--;
}

void kymo_no_control_(void) {
  kymo_session_init();
  kymo_session_.options.control = false;
}

/* ---- fork ---- */

/* So that all data under the lock is consistent in the child. */
static void before_fork(void) { kymo_lock(); }

static void in_parent(void) { kymo_unlock(); }

static void in_child(void) {
  bool had_one = service.pid;
  kymo_control_forget();
  kymo_request_forget();
  kymo_unlock();
  service.is_forked = true;
  if (had_one)
    kymo_service_start(wants_control() ? KYMO_SERVICE_CONTROL : KYMO_SERVICE_RINGS);
}

void kymo_service_watch_fork(void) { pthread_atfork(before_fork, in_parent, in_child); }
