/* SPDX-License-Identifier: MIT */
/*
 * The command runs with KYMO_RINGS pointing at a directory of our own; every process in it that is
 * traced makes its pool there, and we drain those pools from outside. Nothing depends on the processes' help,
 * so the trace is complete up to the last event also when they are killed.
 *
 * Signals: a terminal sends Ctrl-C to the command as well as to us, so only what a process has sent us
 * (SI_USER) is passed on. We end when the command does.
 */
#include "live/supervise.h"
#include "live/advice.h"
#include "live/crashes.h"
#include "live/drain.h"
#include "live/program.h"
#include "live/sync.h"
#include "ring/life.h"
#include "ring/places.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <kymo/error.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_PARTIAL = 1, EXIT_CANNOT = 3 };
static const int pause_ms[] = {[KYMO_DRAIN_IDLE] = 5, [KYMO_DRAIN_BUSY] = 1, [KYMO_DRAIN_BEHIND] = 0};

struct run {
  const struct kymo_supervise *what;
  char rings[KYMO_PATH_MAX], trace[KYMO_PATH_MAX];
  struct kymo_drain *drain;
  struct kymo_flight flight; /* if there are triggers; then nothing is drained */
  struct kymo_crashes crashes;
  size_t crash_snapshots;
  sigset_t signals, before;
  int signal_fd;
  pid_t pid;
  bool complained;  /* that something cannot be written is said once */
  bool is_partial;  /* the trace is not whole */
  bool keeps_rings; /* of what could not be written, which is said */
};

static void complain(struct run *run, const struct kymo_error *error) {
  char text[1600];
  if (!run->complained)
    fprintf(stderr, "kymo record: %s\n", kymo_error_text(error, text, sizeof text));
  run->complained = true;
}

/* Our directory of rings, below the one of all pools; `base` is that one, also if it cannot be used. */
static bool make_rings(struct run *run, char base[KYMO_PATH_MAX]) {
  if (!kymo_pool_base(base, secure_getenv("KYMO_RINGS")))
    return false;
  errno = ENAMETOOLONG;
  if ((size_t)snprintf(run->rings, sizeof run->rings, "%s/record-XXXXXX", base) >= sizeof run->rings)
    return false;
  if (!mkdtemp(run->rings))
    return false;
  /* kymo clean takes nothing out of it meanwhile; open until we end */
  int held = open(run->rings, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (held >= 0)
    kymo_life_hold(held);
  return true;
}

/* Nothing can be recorded here. A command must not fail for that, unless the user has said where rings go. */
static int run_untraced(const struct run *run, const char *base, int reason) {
  bool is_asked = secure_getenv("KYMO_RINGS");
  unsigned owner;
  char taken[KYMO_PATH_MAX], whose[64] = "";
  if (!is_asked && kymo_place_is_taken(taken, &owner) && !strcmp(taken, base))
    snprintf(whose, sizeof whose, ", which belongs to user %u", owner);
  rmdir(run->trace);
  fprintf(stderr, "kymo record: no directory for rings in %s%s: %s%s\n", base, whose, strerror(reason),
          is_asked ? "" : "; the command runs untraced; KYMO_RINGS names another directory");
  if (is_asked)
    return EXIT_CANNOT;
  execvp(run->what->command[0], run->what->command);
  reason = errno;
  fprintf(stderr, "kymo record: cannot run %s: %s\n", run->what->command[0], strerror(reason));
  return reason == ENOENT ? 127 : 126;
}

static const char *program_name(const char *command) {
  const char *slash = strrchr(command, '/');
  return slash ? slash + 1 : command;
}

/* Before what the caller has loaded already. */
static bool preload(const char *libraries) {
  const char *others = getenv("LD_PRELOAD");
  char *all;
  if (!others || !*others)
    return !setenv("LD_PRELOAD", libraries, 1);
  return asprintf(&all, "%s:%s", libraries, others) >= 0 && !setenv("LD_PRELOAD", all, 1);
}

/* `value` NULL: takes it away. */
static bool set(const char *name, const char *value) {
  return value ? !setenv(name, value, 1) : !unsetenv(name);
}

/* What the recorder in the command is to do. False with errno. */
static bool set_variables(const struct run *run) {
  const struct kymo_supervise *what = run->what;
  bool may_grow = !what->buffer && !what->overwrite;
  return set("KYMO_RINGS", run->rings) && set("KYMO_ENABLE", what->enable) &&
         set("KYMO_MODE", what->overwrite ? "overwrite" : "discard") && set("KYMO_SAVE", "outside") &&
         set("KYMO_CRASH", what->triggers.crash ? "mark" : NULL) &&
         set("KYMO_BUFFER", what->buffer ? what->buffer : "1M") &&
         set("KYMO_GROW", may_grow ? "64M" : NULL) && (!what->preload || preload(what->preload));
}

/* The child's half: never returns. A failure is written to the pipe. */
static void run_command(const struct run *run, int tell) {
  bool is_set = set_variables(run);
  if (is_set) {
    sigprocmask(SIG_SETMASK, &run->before, NULL);
    execvp(run->what->command[0], run->what->command);
  }
  int reason = errno;
  if (write(tell, &reason, sizeof reason) < 0)
    _exit(126);
  _exit(127);
}

/* 0, or the exit status for a command that cannot be run. */
static int start(struct run *run) {
  int tell[2], reason = 0;
  sigemptyset(&run->signals);
  for (const int *s =
           (const int[]){SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT, 0};
       *s; s++)
    sigaddset(&run->signals, *s);
  if (run->what->triggers.any)
    sigorset(&run->signals, &run->signals, &run->what->triggers.signals);
  sigprocmask(SIG_BLOCK, &run->signals, &run->before);
  run->signal_fd = signalfd(-1, &run->signals, SFD_CLOEXEC | SFD_NONBLOCK);
  if (run->signal_fd < 0 || pipe2(tell, O_CLOEXEC) || (run->pid = fork()) < 0) {
    fprintf(stderr, "kymo record: cannot start a process: %s\n", strerror(errno));
    return EXIT_CANNOT;
  }
  if (!run->pid)
    run_command(run, tell[1]);
  signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error of writing */
  close(tell[1]);
  ssize_t n = read(tell[0], &reason, sizeof reason);
  close(tell[0]);
  if (n != sizeof reason)
    return 0;
  waitpid(run->pid, NULL, 0);
  fprintf(stderr, "kymo record: cannot run %s: %s\n", run->what->command[0], strerror(reason));
  return reason == ENOENT ? 127 : 126;
}

static void take_snapshot(struct run *run, const char *why) {
  struct kymo_error error = {0};
  if (kymo_flight_snapshot(&run->flight, why, &error)) {
    complain(run, &error);
    run->is_partial = true;
  }
}

/* A snapshot of what has crashed meanwhile, which is named. Of a program that crashes again and again the
 * first ones are kept. */
static void take_crashes(struct run *run) {
  enum { CRASHES_MAX = 16 };
  struct kymo_strbuf names = {0};
  if (run->what->triggers.crash && kymo_crashes_look(&run->crashes, &names) && names.text &&
      run->crash_snapshots++ < CRASHES_MAX)
    take_snapshot(run, names.text);
  if (run->crash_snapshots == CRASHES_MAX + 1 && names.text && !run->what->quiet)
    fprintf(stderr, "kymo record: %s: no snapshot of this crash or later ones: there are %d already\n",
            names.text, CRASHES_MAX);
  kymo_strbuf_free(&names);
}

/* Signals that a snapshot is taken on are ours; what a process has sent is the command's. */
static void take_signals(struct run *run) {
  struct signalfd_siginfo info;
  const struct kymo_flight_triggers *triggers = &run->what->triggers;
  while (read(run->signal_fd, &info, sizeof info) == sizeof info) {
    int number = (int)info.ssi_signo;
    if (triggers->any && sigismember(&triggers->signals, number) == 1)
      take_snapshot(run, strsignal(number));
    else if (number != SIGCHLD && info.ssi_code == SI_USER)
      kill(run->pid, number);
  }
}

/* Takes what there is to take; returns for how many milliseconds to wait then. */
static int work(struct run *run) {
  enum { FLIGHT_PAUSE_MS = 1000, CRASH_PAUSE_MS = 200, RETRY_MS = 1000 };
  struct kymo_error error = {0};
  enum kymo_drain_load load = KYMO_DRAIN_IDLE;
  if (run->what->triggers.any) {
    take_crashes(run);
    kymo_flight_clean(&run->flight);
    return run->what->triggers.crash ? CRASH_PAUSE_MS : FLIGHT_PAUSE_MS;
  }
  if (!kymo_drain_pass(run->drain, &load, &error))
    return pause_ms[load];
  complain(run, &error);
  return RETRY_MS; /* it stays in the rings, and there may be space again */
}

static int wait_and_work(struct run *run) {
  int status, wait_ms = 0;
  for (;;) {
    pid_t pid = waitpid(run->pid, &status, WNOHANG);
    if (pid == run->pid)
      return status;
    if (kymo_crashes_wait(&run->crashes, run->signal_fd, wait_ms))
      take_signals(run);
    wait_ms = work(run);
  }
}

static void say_sum(const struct run *run, const struct kymo_drain_sum *sum) {
  bool is_there = !access(run->trace, F_OK);
  fprintf(stderr,
          is_there ? "kymo record: trace in %s: %llu events, %llu lost"
                   : "kymo record: no trace could be written to %s: %llu events, %llu lost",
          run->trace, (unsigned long long)sum->events, (unsigned long long)sum->discarded);
  if (run->what->overwrite)
    fprintf(stderr, ", %llu overwritten", (unsigned long long)sum->overwritten);
  if (sum->parts)
    fprintf(stderr, ", %llu parts", (unsigned long long)sum->parts);
  if (sum->parts_removed)
    fprintf(stderr, " (%llu removed)", (unsigned long long)sum->parts_removed);
  if (sum->processes > 1)
    fprintf(stderr, ", %zu processes", sum->processes);
  fputc('\n', stderr);
}

/* What could not be written, and how to get it. */
static void say_kept(const struct run *run, const struct kymo_drain_sum *sum) {
  const char *rings;
  if (sum->unwritten)
    fprintf(
        stderr,
        "kymo record: %llu of the lost events could not be written; they are still in the rings, and can be "
        "saved elsewhere:\n",
        (unsigned long long)sum->unwritten);
  else if (kymo_drain_kept(run->drain, 0))
    fprintf(stderr,
            "kymo record: the trace may not be on the disk; the rings stay, and can be saved elsewhere:\n");
  for (size_t i = 0; (rings = kymo_drain_kept(run->drain, i)); i++)
    fprintf(stderr, "  kymo snapshot -o DIRECTORY %s\n", rings);
}

static void summarise(const struct run *run, const struct kymo_drain_sum *sum) {
  if (!sum->processes) {
    fprintf(stderr, "kymo record: nothing was recorded: no process had a tracepoint that matches %s%s\n",
            run->what->enable, tool_point_hint(run->what->command[0], run->what->enable).text);
    return;
  }
  say_sum(run, sum);
  say_kept(run, sum);
  if (!run->complained) /* else the rings were full because nothing could be written */
    kymo_advise_on_losses(sum->events, sum->discarded, sum->full, "--buffer SIZE");
  if (sum->still_running)
    fprintf(stderr, "kymo record: %zu processes still run; what they do from now on is not recorded\n",
            sum->still_running);
}

/* The rings that a snapshot was to be of. */
static void say_rings(const struct run *run) {
  DIR *dir = opendir(run->rings);
  fputs("kymo record: the rings stay, and can be saved elsewhere:\n", stderr);
  for (struct dirent *e; dir && (e = readdir(dir));)
    if (e->d_name[0] != '.')
      fprintf(stderr, "  kymo snapshot -o DIRECTORY %s/%s\n", run->rings, e->d_name);
  if (dir)
    closedir(dir);
}

/* The command has ended: the last snapshot, if that is what it is taken on. */
static void finish_flight(struct run *run, int status) {
  const struct kymo_flight_triggers *triggers = &run->what->triggers;
  char why[KYMO_PATH_MAX];
  take_crashes(run);
  snprintf(why, sizeof why, "%s (process %d): %s", program_name(run->what->command[0]), (int)run->pid,
           WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "");
  if (WIFSIGNALED(status) && triggers->crash && !kymo_crashes_told(&run->crashes, run->pid))
    take_snapshot(run, why);
  snprintf(why, sizeof why, "exit code %d", WEXITSTATUS(status));
  if (WIFEXITED(status) && WEXITSTATUS(status) && triggers->exit_code)
    take_snapshot(run, why);
  if (run->crashes.unseen && !run->what->quiet)
    fprintf(stderr, "kymo record: the end of %zu process%s is unknown: gone before %s could be read\n",
            run->crashes.unseen, run->crashes.unseen == 1 ? "" : "es",
            run->crashes.unseen == 1 ? "it" : "they");
  run->keeps_rings = run->is_partial; /* a snapshot could not be written */
  if (run->keeps_rings)
    say_rings(run);
  else
    kymo_flight_end(&run->flight);
  if (!run->is_partial && !run->flight.snapshots && !run->what->quiet)
    fprintf(stderr, "kymo record: no snapshot was taken: none of the events of --snapshot-on happened\n");
  if (!run->flight.snapshots)
    rmdir(run->trace);
}

/* A shell says nothing of a crash, since it is not its child that died. */
static void note_crash(struct run *run, int status) {
  char why[KYMO_PATH_MAX];
  struct kymo_error error = {0};
  if (!WIFSIGNALED(status) || !kymo_crash_is(WTERMSIG(status)))
    return;
  snprintf(why, sizeof why, "%s (process %d): %s", program_name(run->what->command[0]), (int)run->pid,
           strsignal(WTERMSIG(status)));
  if (!run->what->quiet)
    fprintf(stderr, "kymo record: %s\n", why);
  bool has_trace = !access(run->trace, F_OK) && !run->what->rotate_bytes && !run->what->rotate_seconds;
  if (has_trace && (kymo_flight_put_cause(run->trace, why, &error) || tool_sync(run->trace, &error))) {
    complain(run, &error);
    run->is_partial = true;
  }
}

static void finish_trace(struct run *run, int status) {
  struct kymo_drain_sum sum;
  struct kymo_error error = {0};
  if (kymo_drain_end(run->drain, &sum, &error)) {
    complain(run, &error);
    run->is_partial = true;
  }
  if (sum.left_out.code)
    complain(run, &sum.left_out);
  run->is_partial |= sum.discarded > 0 || sum.is_unsynced || sum.left_out.code;
  run->keeps_rings = kymo_drain_kept(run->drain, 0) != NULL;
  rmdir(run->trace); /* if nothing is in it */
  note_crash(run, status);
  if (run->what->quiet)
    say_kept(run, &sum);
  else
    summarise(run, &sum);
}

static int finish(struct run *run, int status) {
  if (run->what->triggers.any)
    finish_flight(run, status);
  else
    finish_trace(run, status);
  if (rmdir(run->rings) && errno == ENOTEMPTY && !run->keeps_rings && !run->what->quiet)
    fprintf(stderr,
            "kymo record: the rings of processes that began while the command ended are still in %s\n",
            run->rings);
  if (WIFSIGNALED(status))
    return 128 + WTERMSIG(status);
  return WEXITSTATUS(status) ? WEXITSTATUS(status) : run->is_partial ? EXIT_PARTIAL : 0;
}

int kymo_supervise(const struct kymo_supervise *what) {
  struct run run = {.what = what};
  char base[KYMO_PATH_MAX];
  if (!kymo_trace_place(run.trace, what->directory, secure_getenv("KYMO_OUT"),
                        program_name(what->command[0]))) {
    fprintf(stderr, "kymo record: cannot make the directory %s: %s\n",
            what->directory ? what->directory : run.trace, strerror(errno));
    return EXIT_CANNOT;
  }
  if (!make_rings(&run, base))
    return run_untraced(&run, base, errno);
  run.flight = (struct kymo_flight){
      .rings = run.rings, .directory = run.trace, .ctf2 = what->ctf2, .quiet = what->quiet};
  run.crashes = (struct kymo_crashes){.changes = -1};
  if (what->triggers.crash)
    kymo_crashes_begin(&run.crashes, run.rings);
  run.drain = kymo_drain_new(&(struct kymo_drain_options){.rings = run.rings,
                                                          .directory = run.trace,
                                                          .while_running = !what->overwrite,
                                                          .ctf2 = what->ctf2,
                                                          .sync = what->sync,
                                                          .rotate_bytes = what->rotate_bytes,
                                                          .rotate_seconds = what->rotate_seconds,
                                                          .keep = what->keep});
  if (!run.drain)
    fprintf(stderr, "kymo record: out of memory\n");
  int status = run.drain ? start(&run) : EXIT_CANNOT;
  if (status) {
    rmdir(run.rings);
    rmdir(run.trace);
  } else {
    status = finish(&run, wait_and_work(&run));
  }
  kymo_drain_free(run.drain);
  kymo_crashes_free(&run.crashes);
  return status;
}
