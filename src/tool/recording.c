/* SPDX-License-Identifier: MIT */
/*
 * Signals: a terminal sends Ctrl-C to the command as well as to kymo, so only signals from a process
 * (SI_USER) are passed on. The recorder ends when the command does.
 */
#include "tool/recording.h"
#include "infer/program.h"
#include "tool/tool.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct run {
  const struct tool_recording *what;
  struct kymo_recording *recording;
  sigset_t before;
  int signal_fd;
  size_t crash_snapshots;
  bool complained; /* a write error was reported; it is reported once */
  bool is_partial; /* the trace is not whole */
};

static void complain(struct run *run, const struct kymo_error *error) {
  if (!run->complained)
    tool_say_error(error);
  run->complained = true;
}

static const char *text_of(const struct run *run, enum kymo_recording_text what) {
  return kymo_recording_text(run->recording, what);
}

static uint64_t number_of(const struct run *run, enum kymo_recording_number what) {
  return (uint64_t)kymo_recording_number(run->recording, what);
}

/* ---- signals ---- */

static int signal_of(const char *word) {
  char *end;
  long number = strtol(word, &end, 10);
  if (end != word && !*end)
    return number > 0 && number < NSIG ? (int)number : 0;
  if (!strncmp(word, "SIG", 3))
    word += 3;
  for (int i = 1; i < NSIG; i++)
    if (sigabbrev_np(i) && !strcmp(sigabbrev_np(i), word))
      return i;
  return 0;
}

bool tool_trigger_add(struct tool_triggers *triggers, const char *word) {
  if (!triggers->any)
    sigemptyset(&triggers->signals);
  triggers->any = true;
  if (!strcmp(word, "exit-code"))
    return triggers->exit_code = true;
  if (!strcmp(word, "crash"))
    return triggers->crash = true;
  int number = signal_of(word);
  return number && number != SIGKILL && number != SIGSTOP && number != SIGCHLD &&
         !sigaddset(&triggers->signals, number);
}

/* From now on signals arrive through a descriptor. */
static bool catch_signals(struct run *run, const int *numbers, const sigset_t *more) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int *number = numbers; *number; number++)
    sigaddset(&signals, *number);
  if (more)
    sigorset(&signals, &signals, more);
  sigprocmask(SIG_BLOCK, &signals, &run->before);
  run->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
  if (run->signal_fd < 0)
    tool_say("cannot wait for signals: %s", strerror(errno));
  return run->signal_fd >= 0;
}

/* ---- snapshots ---- */

static void take_snapshot(struct run *run, const char *why) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  int status = kymo_recording_snapshot(run->recording, why, &error);
  if (status < 0) {
    complain(run, &error);
    run->is_partial = true;
  } else if (run->what->quiet) {
    return;
  } else if (status == KYMO_END) {
    tool_say("%s: no process has recorded anything yet", why);
  } else {
    tool_say("%s: snapshot in %s: %" PRIu64 " events, %" PRIu64 " lost, %" PRIu64 " overwritten", why,
             text_of(run, KYMO_RECORDING_SNAPSHOT), number_of(run, KYMO_RECORDING_EVENTS),
             number_of(run, KYMO_RECORDING_LOST), number_of(run, KYMO_RECORDING_OVERWRITTEN));
  }
}

/* A snapshot of processes that have crashed meanwhile, with their names. For a program that crashes
 * repeatedly the first ones are kept. */
static void take_crashes(struct run *run) {
  enum { CRASHES_MAX = 16 };
  const char *names;
  while ((names = kymo_recording_crashes(run->recording))) {
    if (run->crash_snapshots++ < CRASHES_MAX)
      take_snapshot(run, names);
    else if (run->crash_snapshots == CRASHES_MAX + 1 && !run->what->quiet)
      tool_say("%s: no snapshot of this crash or later ones: there are %d", names, CRASHES_MAX);
  }
}

/* Signals that trigger snapshots are for kymo; other signals from a process are for the command. */
static void take_signals(struct run *run) {
  struct signalfd_siginfo info;
  const struct tool_triggers *triggers = &run->what->triggers;
  while (read(run->signal_fd, &info, sizeof info) == sizeof info) {
    int number = (int)info.ssi_signo;
    if (triggers->any && sigismember(&triggers->signals, number) == 1)
      take_snapshot(run, strsignal(number));
    else if (number != SIGCHLD && info.ssi_code == SI_USER)
      kill((pid_t)number_of(run, KYMO_RECORDING_PID), number);
  }
}

/* ---- words ---- */

static void say_sum(const struct run *run) {
  const char *trace = text_of(run, KYMO_RECORDING_DIRECTORY);
  char overwritten[48] = "", parts[64] = "", removed[48] = "", processes[48] = "";
  if (run->what->options.flags & KYMO_RECORD_OVERWRITE)
    snprintf(overwritten, sizeof overwritten, ", %" PRIu64 " overwritten",
             number_of(run, KYMO_RECORDING_OVERWRITTEN));
  if (number_of(run, KYMO_RECORDING_PARTS))
    snprintf(parts, sizeof parts, ", %" PRIu64 " parts", number_of(run, KYMO_RECORDING_PARTS));
  if (number_of(run, KYMO_RECORDING_PARTS_REMOVED))
    snprintf(removed, sizeof removed, " (%" PRIu64 " removed)", number_of(run, KYMO_RECORDING_PARTS_REMOVED));
  if (number_of(run, KYMO_RECORDING_PROCESSES) > 1)
    snprintf(processes, sizeof processes, ", %" PRIu64 " processes",
             number_of(run, KYMO_RECORDING_PROCESSES));
  tool_say("%s %s: %" PRIu64 " events, %" PRIu64 " lost%s%s%s%s",
           access(trace, F_OK) ? "no trace could be written to" : "trace in", trace,
           number_of(run, KYMO_RECORDING_EVENTS), number_of(run, KYMO_RECORDING_LOST), overwritten, parts,
           removed, processes);
}

/* Reports what could not be written, and how to save it. */
static void say_kept(const struct run *run) {
  const char *rings;
  uint64_t unwritten = number_of(run, KYMO_RECORDING_UNWRITTEN);
  if (unwritten)
    tool_say("%" PRIu64
             " of the lost events could not be written; they are still in the rings, and can be saved "
             "elsewhere:",
             unwritten);
  else if (run->what->triggers.any && run->is_partial)
    tool_say("the rings stay, and can be saved elsewhere:");
  else if (kymo_recording_kept(run->recording, 0))
    tool_say("the trace may not be on the disk; the rings stay, and can be saved elsewhere:");
  for (size_t i = 0; (rings = kymo_recording_kept(run->recording, i)); i++)
    fprintf(stderr, "  kymo snapshot -o DIRECTORY %s\n", rings);
}

/* Advice if one event in a hundred or more was lost because a ring was full. */
static void say_advice(const struct run *run, const char *larger) {
  enum { MUCH_PERCENT = 1 };
  double full = (double)number_of(run, KYMO_RECORDING_LOST_FULL),
         all = (double)number_of(run, KYMO_RECORDING_EVENTS) + (double)number_of(run, KYMO_RECORDING_LOST),
         percent = full > 0 ? full * 100 / all : 0;
  if (!run->complained && percent >= MUCH_PERCENT) /* else they were full because nothing could be written */
    tool_say(
        "%.1f %% of the events found their ring full: use larger rings (%s), record less (-e PATTERN), or "
        "keep the newest events instead of the oldest (--mode overwrite)",
        percent, larger);
}

static void summarise(const struct run *run) {
  const char *const *command = (const char *const *)run->what->command;
  const char *enable = run->what->options.enable;
  if (!number_of(run, KYMO_RECORDING_PROCESSES)) {
    tool_say("nothing was recorded: no process had a tracepoint that matches %s%s", enable ? enable : "*",
             kymo_point_hint(command[0], enable ? enable : "*").text);
    return;
  }
  say_sum(run);
  say_kept(run);
  say_advice(run, "--buffer SIZE");
  if (number_of(run, KYMO_RECORDING_RUNNING))
    tool_say("%" PRIu64 " processes still run; what they do from now on is not recorded",
             number_of(run, KYMO_RECORDING_RUNNING));
}

/* ---- a command ---- */

/* The command has ended: the last snapshot, if this triggers one. */
static void finish_flight(struct run *run, int status) {
  char why[64];
  uint64_t unknown = number_of(run, KYMO_RECORDING_UNKNOWN_ENDS);
  take_crashes(run);
  snprintf(why, sizeof why, "exit code %d", WEXITSTATUS(status));
  if (WIFEXITED(status) && WEXITSTATUS(status) && run->what->triggers.exit_code)
    take_snapshot(run, why);
  if (unknown && !run->what->quiet)
    tool_say("the end of %" PRIu64 " process%s is unknown: gone before %s could be read", unknown,
             unknown == 1 ? "" : "es", unknown == 1 ? "it" : "they");
}

/* Stops; reports if the trace is incomplete. */
static void stop(struct run *run) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  int status = kymo_recording_stop(run->recording, &error);
  const char *left_out = text_of(run, KYMO_RECORDING_LEFT_OUT);
  if (status < 0)
    complain(run, &error);
  if (left_out && !run->complained) {
    run->complained = true;
    tool_say("%s", left_out);
  }
  run->is_partial |= status < 0 || left_out || number_of(run, KYMO_RECORDING_LOST) ||
                     number_of(run, KYMO_RECORDING_IS_UNSYNCED);
}

static int finish(struct run *run) {
  int status = (int)number_of(run, KYMO_RECORDING_WAIT_STATUS);
  bool is_flight = run->what->triggers.any, quiet = run->what->quiet;
  if (is_flight)
    finish_flight(run, status);
  bool is_short = run->is_partial;
  stop(run);
  const char *cause = text_of(run, KYMO_RECORDING_CAUSE);
  if (is_flight)
    run->is_partial = is_short; /* events overwritten between snapshots are not lost */
  if (cause && !quiet)
    tool_say("%s", cause);
  if (is_flight && is_short)
    say_kept(run);
  else if (is_flight && !number_of(run, KYMO_RECORDING_SNAPSHOTS) && !quiet)
    tool_say("no snapshot was taken: none of the events of --snapshot-on happened");
  else if (!is_flight && quiet)
    say_kept(run);
  else if (!is_flight)
    summarise(run);
  const char *rings = text_of(run, KYMO_RECORDING_RINGS);
  if (rings && !quiet && !kymo_recording_kept(run->recording, 0) && !(is_flight && is_short))
    tool_say("the rings of processes that began while the command ended are still in %s", rings);
  if (WIFSIGNALED(status))
    return 128 + WTERMSIG(status);
  return WEXITSTATUS(status) ? WEXITSTATUS(status) : run->is_partial ? TOOL_DAMAGED : TOOL_OK;
}

/* Nothing can be recorded here. A command must not fail for that, unless the user has chosen the directory of
 * rings. */
static int run_untraced(const struct run *run, const struct kymo_error *error) {
  bool is_asked = secure_getenv("KYMO_RINGS");
  tool_say("%s%s", error->message,
           is_asked ? "" : "; the command runs untraced; KYMO_RINGS names another directory");
  if (is_asked)
    return TOOL_FAILED;
  sigprocmask(SIG_SETMASK, &run->before, NULL);
  execvp(run->what->command[0], run->what->command);
  int reason = errno;
  tool_say("cannot run %s: %s", run->what->command[0], strerror(reason));
  return reason == ENOENT ? 127 : 126;
}

static int cannot_start(const struct run *run, int status, const struct kymo_error *error) {
  if (status == KYMO_E_ABSENT)
    return run_untraced(run, error);
  tool_say_error(error);
  return status == KYMO_E_UNKNOWN ? 127 : status == KYMO_E_USAGE ? 126 : TOOL_FAILED;
}

int tool_record_command(const struct tool_recording *what) {
  static const int numbers[] = {SIGCHLD, SIGINT,  SIGTERM,  SIGHUP,  SIGQUIT,
                                SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT, 0};
  struct run run = {.what = what};
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  struct kymo_recording_options options = what->options;
  if (!catch_signals(&run, numbers, what->triggers.any ? &what->triggers.signals : NULL))
    return TOOL_FAILED;
  options.signals = &run.before;
  int status = kymo_recording_start(&run.recording, what->command, &options, &error);
  if (status < 0)
    return cannot_start(&run, status, &error);
  signal(SIGXFSZ, SIG_IGN); /* a file that must not grow is a write error */
  while ((status = kymo_recording_work(run.recording, -1, run.signal_fd, &error)) != KYMO_END) {
    if (status < 0)
      complain(&run, &error); /* it stays in the rings, and there may be space later */
    take_signals(&run);
    take_crashes(&run);
  }
  int result = finish(&run);
  kymo_recording_free(run.recording);
  close(run.signal_fd);
  return result;
}

/* ---- a process that runs already ---- */

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void say_rest(const struct run *run) {
  if (!run->what->quiet) {
    say_sum(run);
    say_advice(run, "KYMO_BUFFER=SIZE when the program starts");
  }
  say_kept(run);
}

/* Until the time is over, a signal arrives, or the process is disconnected. */
static void collect(struct run *run, int64_t duration_ns) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  int64_t end_ns = now_ns() + duration_ns;
  int status;
  do {
    int64_t left_ns = duration_ns < 0 ? -1 : end_ns - now_ns();
    if (duration_ns >= 0 && left_ns <= 0)
      return;
    status = kymo_recording_work(run->recording, left_ns, run->signal_fd, &error);
    if (status < 0)
      complain(run, &error);
  } while (status < 0);
}

int tool_record_process(const struct tool_recording *what) {
  static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, 0};
  struct run run = {.what = what};
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  if (!catch_signals(&run, numbers, NULL))
    return TOOL_FAILED;
  signal(SIGXFSZ, SIG_IGN); /* a file that must not grow is a write error */
  if (kymo_recording_attach(&run.recording, what->pid, &what->options, &error) < 0) {
    tool_say_error(&error);
    return TOOL_FAILED;
  }
  collect(&run, what->duration_ns);
  stop(&run);
  say_rest(&run);
  kymo_recording_free(run.recording);
  close(run.signal_fd);
  return run.is_partial ? TOOL_DAMAGED : TOOL_OK;
}
