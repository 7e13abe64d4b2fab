/* SPDX-License-Identifier: MIT */
/*
 * A traced program whose recorder meets faults: traced CASE [ARGUMENT]. Its output and its exit status never
 * depend on them; refusals of the recorder's functions are printed on the standard error stream. Each case
 * emits the number of events that run.sh knows. TRACED_STATUS is the exit status, if it is not 7.
 */
#include <dlfcn.h>
#include <errno.h>
#include <kymo/bprintf.h>
#include <kymo/define.h>
#include <kymo/trace.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS = 20, LATER = 16 };

static const char *argument;

/* What a program does that was refused something. */
static void say(const char *what) { fprintf(stderr, "%s: %s\n", what, strerror(errno)); }

static void record(void) {
  for (int i = 0; i < EVENTS; i++) {
    if (i % 2)
      KYMO(app, number, i, KYMO_AS(text, "some"));
    else
      KYMO_PRINTF(app, printed, "%d of %s", i, "some");
  }
}

static void *record_there(void *unused) {
  record();
  return unused;
}

static void record_in_threads(void) {
  for (int i = 0; i < 2; i++) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, record_there, NULL) || pthread_join(thread, NULL))
      _exit(9);
  }
}

/* ---- cases of tracepoints ---- */

static void events(void) {
  record();
  record_in_threads();
}

/* The second trace, at the end, has all. */
static void save(void) {
  record();
  if (kymo_rings_save("saved"))
    say("kymo_rings_save");
  record();
}

static void switched(void) {
  record(); /* off */
  if (kymo_tracepoint_enable("app:*") < 0)
    say("kymo_tracepoint_enable");
  record_in_threads();
  if (kymo_tracepoint_enable("other:*") < 0)
    say("kymo_tracepoint_enable");
  KYMO(other, number, KYMO_AS(of, 1));
}

static void plugin(void) {
  void *library = dlopen(argument, RTLD_NOW | RTLD_LOCAL);
  void (*run)(int) = library ? (void (*)(int))dlsym(library, "plugin_run") : NULL;
  if (!run)
    _exit(9);
  record();
  run(1);
  dlclose(library);
}

/* The child has its own trace. */
static void forked(void) {
  record();
  fflush(stdout);
  pid_t child = fork();
  int status = 0;
  if (child == 0) {
    record();
    exit(0);
  }
  if (child < 0 || waitpid(child, &status, 0) < 0 || status)
    _exit(8);
  record();
}

/* More than the rings hold. */
static void many(void) {
  for (int i = 0; i < 50; i++)
    record_in_threads();
}

/* ---- switched from outside ---- */

/* Runs kymo REQUEST PID PATTERN, again while the process does not listen yet; not after it has waited for an
 * answer. */
static void ask(const char *request, const char *pattern) {
  char pid[16];
  time_t begin = time(NULL);
  int status = 1;
  snprintf(pid, sizeof pid, "%d", (int)getpid());
  for (int tries = 0; status && tries < 50 && time(NULL) - begin < 5; tries++) {
    if (tries)
      usleep(20000);
    pid_t child = fork();
    if (child == 0) {
      dup2(STDERR_FILENO, STDOUT_FILENO);
      execl(argument, "kymo", request, pid, pattern, (char *)NULL);
      _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0)
      _exit(8);
  }
}

static void control(void) {
  ask("enable", "app:*");
  record();
  ask("disable", "app:number");
  record();
}

/* ---- cases of logs ---- */

static void write_stream(struct kymo_log *log) {
  for (int i = 0; i < EVENTS; i++)
    if (kymo_bprintf(log, "e%4b%0s", i, "some") < 0)
      say("kymo_bprintf");
}

static void define_later(struct kymo_log *log, int which) {
  char name[16];
  snprintf(name, sizeof name, "later%d", which);
  struct kymo_definition *later = kymo_definition_new(log, name, NULL);
  if (!later || kymo_definition_add_field(later, "number", KYMO_FIELD_INT32) || kymo_definition_end(later))
    say("kymo_definition_new");
  else if (kymo_definition_printf(later, "%4b", which) < 0)
    say("kymo_definition_printf");
}

static struct kymo_log *open_stream(bool is_framed) {
  struct kymo_log_options options = {.is_framed = is_framed, .packet_bytes = 256};
  mkdir("out", 0777);
  struct kymo_log *log = kymo_log_open("out/log", &options);
  if (!log)
    say("kymo_log_open");
  return log;
}

static void *write_there(void *log) {
  write_stream(log);
  return NULL;
}

static void stream_of(bool is_framed, bool is_closed) {
  struct kymo_log *log = open_stream(is_framed);
  pthread_t thread;
  if (!log)
    return;
  write_stream(log);
  for (int i = 0; is_framed && i < LATER; i++)
    define_later(log, i);
  if (pthread_create(&thread, NULL, write_there, log) || pthread_join(thread, NULL))
    _exit(9);
  if (is_closed && kymo_log_close(log))
    say("kymo_log_close");
}

static void framed(void) { stream_of(true, true); }

static void framed_to_exit(void) { stream_of(true, false); }

static void raw(void) { stream_of(false, true); }

static void raw_to_exit(void) { stream_of(false, false); }

static const struct {
  const char *name;
  void (*run)(void);
} cases[] = {
    {"events", events},
    {"save", save},
    {"switched", switched},
    {"plugin", plugin},
    {"forked", forked},
    {"many", many},
    {"control", control},
    {"framed", framed},
    {"framed-to-exit", framed_to_exit},
    {"raw", raw},
    {"raw-to-exit", raw_to_exit},
};

int main(int argc, char **argv) {
  argument = argc > 2 ? argv[2] : NULL;
  puts("begins");
  fflush(stdout);
  for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof *cases; i++)
    if (!strcmp(cases[i].name, argv[1]))
      cases[i].run();
  puts("ends");
  const char *status = getenv("TRACED_STATUS");
  return status ? (int)strtol(status, NULL, 10) : 7;
}
