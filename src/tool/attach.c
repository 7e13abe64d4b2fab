/* SPDX-License-Identifier: MIT */
/*
 * kymo record -p: the process makes room (attach), we leave out what its rings hold, it switches on what we
 * want (start), we empty its rings, it goes back to what it was (detach). The connection stays open
 * meanwhile: if we die the process undoes it all by itself, and if it dies or executes another program we
 * notice.
 */
#include "tool/attach.h"
#include "base/fail.h"
#include "live/advice.h"
#include "live/client.h"
#include "live/ctf2.h"
#include "live/find.h"
#include "live/sync.h"
#include "ring/collect.h"
#include "ring/pools.h"
#include "tool/tool.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { IDLE_MS = 5, BUSY_MS = 1, RETRY_MS = 1000, CLOCKS_NS = 1000000000 };

struct attached {
  const struct kymo_attach *what;
  struct kymo_client client;
  char rings[KYMO_PATH_MAX], trace[KYMO_PATH_MAX];
  char source[KYMO_PATH_MAX]; /* a way to the rings that lasts … */
  int held;                   /* … through this descriptor, or -1 */
  struct kymo_pool_view view;
  struct kymo_collector collector;
  int signal_fd;
  bool complained, is_unsynced;
};

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int catch_signals(struct attached *a, struct kymo_error *error) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGHUP);
  sigprocmask(SIG_BLOCK, &signals, NULL);
  signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error of writing */
  a->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC);
  return a->signal_fd < 0 ? kymo_fail_errno(error, "", "cannot wait for signals") : KYMO_OK;
}

/* Rings of a process with another root than ours are found below /proc/PID/root, a way that ends with the
 * process; what is open does not. */
static int hold_rings(struct attached *a, struct kymo_error *error) {
  char parent[KYMO_PATH_MAX];
  const char *slash = strrchr(a->rings, '/');
  memcpy(a->source, a->rings, sizeof a->source);
  if (strncmp(a->rings, "/proc/", 6) != 0)
    return KYMO_OK;
  snprintf(parent, sizeof parent, "%.*s", (int)(slash - a->rings), a->rings);
  a->held = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (a->held < 0)
    return kymo_fail_errno(error, parent, "cannot open");
  if ((size_t)snprintf(a->source, sizeof a->source, "/proc/self/fd/%d%s", a->held, slash) >= sizeof a->source)
    return kymo_fail(error, KYMO_E_LIMIT, "the path is too long: %s", a->rings);
  return KYMO_OK;
}

/* The rings that the process has told us it has. */
static int open_rings(struct attached *a, struct kymo_error *error) {
  int status = kymo_find_pool(a->rings, a->what->pid, error);
  if (!status)
    status = hold_rings(a, error);
  if (!status)
    status = kymo_pool_open(&a->view, a->source, true, error);
  if (!status)
    status = kymo_pool_lock(&a->view, a->source, error);
  return status;
}

static int make_trace(struct attached *a, struct kymo_error *error) {
  char program[KYMO_PROGRAM_MAX];
  const char *asked = a->what->directory;
  if (kymo_trace_place(a->trace, asked, secure_getenv("KYMO_OUT"), kymo_pool_program(&a->view, program)))
    return KYMO_OK;
  int status = kymo_fail_errno(error, asked ? asked : a->trace, "cannot make the directory");
  a->trace[0] = 0; /* it is not ours */
  return status;
}

static int begin(struct attached *a, struct kymo_error *error) {
  const struct kymo_attach *what = a->what;
  int status = kymo_client_open(&a->client, what->pid, error);
  if (!status)
    status = kymo_client_ask(&a->client, error, "attach %s - %s", what->overwrite ? "overwrite" : "discard",
                             what->enable);
  if (!status)
    status = open_rings(a, error);
  if (!status)
    status = make_trace(a, error);
  if (!status)
    status = kymo_collect_begin(&a->collector, &a->view, a->source, a->trace, error);
  if (status)
    return status;
  kymo_collect_from_now(&a->collector);
  return kymo_client_ask(&a->client, error, "start");
}

/* That something cannot be written is said once. It stays in the rings, and is tried again. */
static void complain(struct attached *a, const struct kymo_error *error) {
  if (!a->complained)
    tool_say_error(error);
  a->complained = true;
}

/* What there is to take now; returns how long to wait then. */
static int take(struct attached *a) {
  struct kymo_error error;
  if (kymo_collect_closed(&a->collector, true, &error)) {
    complain(a, &error);
    return RETRY_MS;
  }
  uint32_t taken = a->collector.fullest;
  return taken * 4 >= a->view.packets ? 0 : taken ? BUSY_MS : IDLE_MS;
}

/* Until the time is over, a signal comes, or the process hangs up. */
static void collect(struct attached *a) {
  int64_t end = a->what->duration_ns < 0 ? INT64_MAX : now_ns() + a->what->duration_ns, clocks = 0;
  int pause_ms = IDLE_MS;
  for (int64_t now; (now = now_ns()) < end;) {
    struct kymo_error error;
    if (now >= clocks) {
      if (kymo_collect_clocks(&a->collector, &error))
        complain(a, &error);
      if (a->what->sync && kymo_sync(a->trace, &error)) {
        complain(a, &error);
        a->is_unsynced = true;
      }
      clocks = now + CLOCKS_NS;
    }
    struct pollfd wait[] = {{a->signal_fd, POLLIN, 0}, {a->client.fd, POLLIN, 0}};
    int64_t left_ms = (end - now) / 1000000 + 1;
    if (poll(wait, 2, left_ms < pause_ms ? (int)left_ms : pause_ms) > 0)
      break;
    if (!a->what->overwrite)
      pause_ms = take(a);
  }
}

/* The process has hung up: it ends, which takes a moment more, or executes another program. */
static void wait_for_end(const struct attached *a) {
  enum { EXEC_MS = 500 };
  int process = (int)syscall(SYS_pidfd_open, a->what->pid, 0);
  if (process < 0)
    return;
  poll(&(struct pollfd){process, POLLIN, 0}, 1, EXEC_MS);
  close(process);
}

/* Takes the rest. The rings of a process that has ended meanwhile are ours to remove. */
static int finish(struct attached *a, struct kymo_error *error) {
  struct kymo_error unused;
  if (kymo_client_ask(&a->client, &unused, "detach")) /* it does not live any more, or hangs */
    wait_for_end(a);
  int status = kymo_collect_end(&a->collector, error);
  if (status) {
    if (!kymo_collect_abandon(&a->collector))
      rmdir(a->trace);
    return status;
  }
  status = a->what->ctf2 ? kymo_trace_to_ctf2(a->trace, error) : KYMO_OK;
  if (!status) {
    status = kymo_sync(a->trace, error);
    a->is_unsynced |= status != KYMO_OK;
  }
  if (!status && !a->is_unsynced && !kymo_pool_is_alive(&a->view))
    kymo_pool_delete(a->source);
  return status;
}

static void summarise(const struct attached *a) {
  const struct kymo_collector *c = &a->collector;
  bool is_there = !access(a->trace, F_OK);
  fprintf(stderr,
          is_there ? "kymo record: trace in %s: %llu events, %llu lost"
                   : "kymo record: no trace could be written to %s: %llu events, %llu lost",
          a->trace, (unsigned long long)c->sums.events, (unsigned long long)c->sums.discarded);
  if (a->what->overwrite)
    fprintf(stderr, ", %llu overwritten", (unsigned long long)c->sums.overwritten);
  fputc('\n', stderr);
  if (!a->complained)
    kymo_advise_on_losses(c->sums.events, c->sums.discarded, c->sums.full,
                          "KYMO_BUFFER=SIZE when the program starts");
}

static void say_kept(const struct attached *a) {
  if (a->collector.unwritten)
    fprintf(
        stderr,
        "kymo record: %llu of the lost events could not be written; they are still in the rings, and can be "
        "saved elsewhere:\n"
        "  kymo snapshot -o DIRECTORY %s\n",
        (unsigned long long)a->collector.unwritten, a->rings);
  else if (a->is_unsynced && !kymo_pool_is_alive(&a->view))
    fprintf(stderr,
            "kymo record: the trace may not be on the disk; the rings stay, and can be saved elsewhere:\n"
            "  kymo snapshot -o DIRECTORY %s\n",
            a->rings);
}

int kymo_attach(const struct kymo_attach *what) {
  struct attached a = {.what = what, .client = {.fd = -1}, .signal_fd = -1, .held = -1};
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  int result = TOOL_FAILED, status = catch_signals(&a, &error);
  if (!status)
    status = begin(&a, &error);
  if (!status) {
    collect(&a);
    status = finish(&a, &error);
    result = status || a.is_unsynced || a.collector.sums.discarded || a.collector.left_out.code ? TOOL_DAMAGED
                                                                                                : TOOL_OK;
    if (status)
      complain(&a, &error);
    if (a.collector.left_out.code)
      tool_say_error(&a.collector.left_out);
    if (!what->quiet)
      summarise(&a);
    say_kept(&a);
  } else {
    if (a.trace[0])
      rmdir(a.trace);
    tool_say_error(&error);
  }
  kymo_collect_free(&a.collector);
  kymo_pool_close(&a.view);
  kymo_client_close(&a.client);
  if (a.signal_fd >= 0)
    close(a.signal_fd);
  if (a.held >= 0)
    close(a.held);
  return result;
}
