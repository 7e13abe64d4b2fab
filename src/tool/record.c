/* SPDX-License-Identifier: MIT */
/*
 * kymo record: runs a command and records its tracepoints, or records a process that runs already
 * (kymo/live.h).
 *
 * Signals: a terminal sends Ctrl-C to the command as well as to kymo, so only signals from a process
 * (SI_USER) are passed on. The recorder ends when the command does.
 */
#include "base/list.h"
#include "base/strbuf.h"
#include "infer/probe.h"
#include "infer/program.h"
#include "live/calls.h"
#include "record/options.h"
#include "tool/rings.h"
#include "tool/words.h"
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <kymo/live.h>
#include <kymo/time.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
  OPTION_MODE = 256,
  OPTION_BUFFER,
  OPTION_CTF,
  OPTION_CALLS,
  OPTION_SNAPSHOT,
  OPTION_ROTATE,
  OPTION_KEEP,
  OPTION_DURATION,
  OPTION_SYNC,
  OPTION_KERNEL,
  OPTION_PROBE,
  OPTION_KERNEL_OURS,
  OPTION_KERNEL_BUFFER,
  OPTION_SAMPLE,
};

/* minimum bytes of a part; enough for a description and some packets */
#define PART_MIN (UINT64_C(64) << 10)

/* The events that trigger a snapshot. */
struct triggers {
  bool any;
  sigset_t signals; /* sent to kymo record */
  bool exit_code;   /* the command's is not 0 */
  bool crash;       /* a signal has killed the command or another recorded process */
};

struct recording {
  char *const *command; /* NULL-ended; or NULL, and … */
  int pid;              /* … a running process */
  int64_t duration_ns;  /* -1: until a signal comes or the process ends */
  struct kymo_recording_options options;
  struct triggers triggers; /* if any: snapshots alone */
  bool quiet;
};

struct record {
  struct recording what;
  struct kymo_calls calls;
  bool mode_given;
  struct kymo_strbuf patterns, preload, kernel;
  char **probes; /* lines, NULL-ended */
  size_t probe_count, probe_capacity;
};

static const struct argp_option options[] = {
    {"output", 'o', "DIRECTORY", 0,
     "Write the trace to DIRECTORY, which must be missing or empty; default: a new directory "
     "under $KYMO_OUT or $HOME/kymo-traces",
     0},
    {"enable", 'e', "PATTERN", 0,
     "Switch on the tracepoints that match: a name, a glob, a group, re:REGEX, or !… to exclude; "
     "may be given several times (default: all)",
     0},
    {"calls", OPTION_CALLS, "CALLS", 0,
     "Trace an unmodified program: libc, or libc:WORD,… with families (malloc, io, lock) or single "
     "functions; "
     "or a program compiled with -finstrument-functions: functions; may be given several times",
     0},
    {"process", 'p', "PID|NAME", 0,
     "Record a running process until it ends or Ctrl-C is pressed; afterwards it runs on as before", 0},
    {"duration", OPTION_DURATION, "TIME", 0, "With -p: stop after TIME, as 10s or 2min", 0},
    {"mode", OPTION_MODE, "MODE", 0,
     "When a ring is full: discard new events (default) or overwrite old ones", 0},
    {"snapshot-on", OPTION_SNAPSHOT, "EVENT", 0,
     "Flight recorder: write no trace, but overwrite the rings and copy them when this happens: a signal "
     "(USR1) that "
     "is sent to kymo record, exit-code (not 0), crash; may be given several times",
     0},
    {"rotate", OPTION_ROTATE, "LIMIT", 0,
     "Record in parts, each a complete trace, of this size (100M) or time (90s, 30m, 1h, 1d); both may be "
     "given",
     0},
    {"keep", OPTION_KEEP, "COUNT", 0, "Keep the newest COUNT parts and remove older ones (default: keep all)",
     0},
    {"buffer", OPTION_BUFFER, "SIZE", 0,
     "Size of the ring of one thread, 16k to 1G (default: 1M, and up to 64M more for all rings of a "
     "process when they "
     "fill faster than they are emptied)",
     0},
    {"ctf", OPTION_CTF, "VERSION", 0,
     "Describe the trace in TSDL, as CTF 1.8 (default), or in JSON, as CTF 2, which older readers cannot "
     "read",
     0},
    {"sync", OPTION_SYNC, NULL, 0,
     "Write the trace to the disk every second, not only at the end: if the machine crashes, one second is "
     "lost",
     0},
    {"kernel", OPTION_KERNEL, "PATTERN", 0,
     "Record events of the Linux kernel that match, too, on the same time line: a name (sched_switch), a "
     "glob, a group (sched, syscalls), re:REGEX, or !… to exclude; may be given several times. Needs root "
     "and tracefs",
     0},
    {"probe", OPTION_PROBE, "BINARY:FUNCTION", 0,
     "Record each call of a function of an unchanged program, by the kernel: FUNCTION, FUNCTION+OFFSET or "
     "FUNCTION%return, and after it (ARGUMENT,…) or (ARGUMENT=TYPE,…); kymo list --functions BINARY lists "
     "them; may be given several times. Needs root and tracefs",
     0},
    {"kernel-only-ours", OPTION_KERNEL_OURS, NULL, 0,
     "Of the kernel, only events of the command or process, its threads and its children", 0},
    {"kernel-buffer", OPTION_KERNEL_BUFFER, "SIZE", 0,
     "Size of the kernel's buffer of one processor, 16k to 1G (default: 8M)", 0},
    {"sample", OPTION_SAMPLE, "HZ", 0,
     "Record where the threads of the command or process and its children are, and by which calls, HZ times "
     "a second (1 to 10000) of their CPU time, on the same time line; times are then of CLOCK_MONOTONIC",
     0},
    {"quiet", 'q', NULL, 0, "Do not print where the trace is and how many events were lost", 0},
    {0},
};

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

/* Adds a trigger: "exit-code", "crash", or the name or number of a signal. False: it is none of these. */
static bool add_trigger(struct triggers *triggers, const char *word) {
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

static void set_flag(struct record *record, uint32_t flag, bool is_on) {
  uint32_t others = record->what.options.flags & ~flag;
  record->what.options.flags = is_on ? others | flag : others;
}

static void take_mode(struct argp_state *state, struct record *record, const char *mode) {
  static const char *const modes[] = {"overwrite", "discard", NULL};
  record->mode_given = true;
  set_flag(record, KYMO_RECORD_OVERWRITE, !strcmp(mode, "overwrite"));
  if (tool_word(mode, modes) < 0)
    argp_error(state, "--mode is discard or overwrite, not \"%s\"%s", mode, tool_word_hint(mode, modes).text);
}

static void take_calls(struct argp_state *state, struct record *record, const char *calls) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  char text[256];
  if (kymo_calls_add(&record->calls, calls, &error))
    argp_error(state, "%s", kymo_error_text(&error, text, sizeof text));
}

static void take_duration(struct argp_state *state, struct record *record, const char *text) {
  struct kymo_time_mistake mistake;
  if (!kymo_duration_parse(&record->what.duration_ns, text, &mistake) || record->what.duration_ns < 0)
    argp_error(state, "--duration is a time like 10s, not \"%s\"", text);
}

static bool records_kernel(const struct record *record) {
  return record->kernel.length || record->probe_count;
}

/* Checks that either a command or a process is given, and only options for that one. */
static void check_what(struct argp_state *state, const struct record *record) {
  const struct recording *what = &record->what;
  const struct kymo_recording_options *how = &what->options;
  const char *only = record->calls.libc                         ? "--calls"
                     : how->buffer                              ? "--buffer"
                     : what->triggers.any                       ? "--snapshot-on"
                     : how->rotate_bytes || how->rotate_seconds ? "--rotate"
                                                                : NULL;
  if (!record->what.pid && !what->command && !records_kernel(record))
    argp_error(state, "expected a command to record");
  if (record->what.pid && what->command)
    argp_error(state, "expected a command or -p, found both");
  if (record->what.pid && only)
    argp_error(state, "%s is for commands, not for a running process", only);
  if (what->command && record->what.duration_ns >= 0)
    argp_error(state, records_kernel(record) ? "--duration is not for commands" : "--duration needs -p");
}

/* "100M" or "1h": a number and its unit, multiplied. */
static bool take_limit(const char *text, struct kymo_recording_options *what) {
  static const struct {
    char unit;
    uint64_t bytes, seconds;
  } units[] = {{'k', 1 << 10, 0}, {'K', 1 << 10, 0}, {'M', 1 << 20, 0}, {'G', 1 << 30, 0},
               {'s', 0, 1},       {'m', 0, 60},      {'h', 0, 3600},    {'d', 0, 86400}};
  char *end;
  unsigned long long number = strtoull(text, &end, 10);
  bool is_sound = end != text && *text != '-' && number && number <= UINT32_MAX && *end && !end[1];
  for (size_t i = 0; is_sound && i < sizeof units / sizeof *units; i++) {
    if (units[i].unit != *end)
      continue;
    what->rotate_bytes = units[i].bytes ? number * units[i].bytes : what->rotate_bytes;
    what->rotate_seconds = units[i].seconds ? number * units[i].seconds : what->rotate_seconds;
    return number * units[i].bytes >= PART_MIN || units[i].seconds;
  }
  return false;
}

static void take_keep(struct argp_state *state, struct record *record, const char *text) {
  char *end;
  unsigned long long keep = strtoull(text, &end, 10);
  if (end == text || *end || *text == '-' || !keep || keep > UINT32_MAX)
    argp_error(state, "--keep is a number of parts from 1, not \"%s\"", text);
  record->what.options.keep = keep;
}

/* Options for events of the kernel, and what they cannot be with. */
static void check_kernel(struct argp_state *state, const struct record *record) {
  const struct kymo_recording_options *how = &record->what.options;
  bool is_ours = how->flags & KYMO_RECORD_KERNEL_OURS;
  if (!records_kernel(record) && (is_ours || how->kernel_buffer))
    argp_error(state, "%s needs --kernel or --probe", is_ours ? "--kernel-only-ours" : "--kernel-buffer");
  if (records_kernel(record) && (how->rotate_bytes || how->rotate_seconds || record->what.triggers.any))
    argp_error(state, "--kernel is neither with --rotate nor with --snapshot-on");
  if (is_ours && !record->what.pid && !record->what.command)
    argp_error(state, "--kernel-only-ours needs a command or -p");
}

static void check_sample(struct argp_state *state, const struct record *record) {
  const struct kymo_recording_options *how = &record->what.options;
  if (how->sample_hz && (how->rotate_bytes || how->rotate_seconds || record->what.triggers.any))
    argp_error(state, "--sample is neither with --rotate nor with --snapshot-on");
  if (how->sample_hz && !record->what.pid && !record->what.command)
    argp_error(state, "--sample needs a command or -p");
}

/* What has to be with what. */
static void check(struct argp_state *state, struct record *record) {
  struct kymo_recording_options *how = &record->what.options;
  const struct triggers *triggers = &record->what.triggers;
  bool rotates = how->rotate_bytes || how->rotate_seconds;
  bool overwrites = how->flags & KYMO_RECORD_OVERWRITE;
  if (triggers->any && record->mode_given && !overwrites)
    argp_error(state, "--snapshot-on needs --mode overwrite");
  if (triggers->any)
    how->flags |= KYMO_RECORD_OVERWRITE | KYMO_RECORD_SNAPSHOTS;
  if (triggers->crash)
    how->flags |= KYMO_RECORD_CRASHES;
  if (rotates && (overwrites || triggers->any))
    argp_error(state, "--rotate needs --mode discard: overwritten rings are collected only at the end");
  if (how->keep && !rotates)
    argp_error(state, "--keep needs --rotate");
}

static void add_pattern(struct kymo_strbuf *patterns, const char *pattern) {
  if (patterns->length)
    kymo_strbuf_puts(patterns, ",");
  kymo_strbuf_puts(patterns, pattern);
}

/* Reads the binary at once, so that a mistake is one of the command line. */
static void add_probe(struct argp_state *state, struct record *record, const char *text) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  struct kymo_strbuf line = {0};
  char why[512];
  if (kymo_probe_line(&line, text, &error))
    argp_error(state, "%s", kymo_error_text(&error, why, sizeof why));
  if (!KYMO_LIST_ROOM(record->probes, record->probe_capacity, record->probe_count + 1))
    tool_end_without_memory();
  record->probes[record->probe_count++] = line.text;
  record->probes[record->probe_count] = NULL;
}

static void take_kernel_buffer(struct argp_state *state, struct record *record, const char *text) {
  uint32_t bytes;
  if (!kymo_options_size(text, &bytes))
    argp_error(state, "--kernel-buffer is a size from 16k to 1G, not \"%s\"", text);
  record->what.options.kernel_buffer = bytes;
}

static void take_sample(struct argp_state *state, struct record *record, const char *text) {
  enum { HZ_MAX = 10000 };
  size_t digits = strspn(text, "0123456789");
  unsigned long hz = digits && digits <= 5 && !text[digits] ? strtoul(text, NULL, 10) : 0;
  if (!hz || hz > HZ_MAX)
    argp_error(state, "--sample is a number of samples a second from 1 to %d, not \"%s\"", HZ_MAX, text);
  record->what.options.sample_hz = (uint32_t)hz;
}

static error_t parse(int key, char *argument, struct argp_state *state) {
  struct record *record = state->input;
  switch (key) {
  case 'o': record->what.options.directory = argument; return 0;
  case 'e': add_pattern(&record->patterns, argument); return 0;
  case OPTION_MODE: take_mode(state, record, argument); return 0;
  case OPTION_SNAPSHOT:
    if (!add_trigger(&record->what.triggers, argument))
      argp_error(state, "--snapshot-on is a signal, exit-code or crash, not \"%s\"", argument);
    return 0;
  case OPTION_ROTATE:
    if (!take_limit(argument, &record->what.options))
      argp_error(state, "--rotate is a size from 64k (100M) or a time (90s, 30m, 1h, 1d), not \"%s\"",
                 argument);
    return 0;
  case OPTION_KEEP: take_keep(state, record, argument); return 0;
  case OPTION_CALLS: take_calls(state, record, argument); return 0;
  case OPTION_BUFFER:
    if (!kymo_options_size(argument, &(uint32_t){0}))
      argp_error(state, "--buffer is a size from 16k to 1G, not \"%s\"", argument);
    record->what.options.buffer = argument;
    return 0;
  case OPTION_CTF: set_flag(record, KYMO_RECORD_CTF2, tool_take_ctf2(argument, state)); return 0;
  case OPTION_KERNEL: add_pattern(&record->kernel, argument); return 0;
  case OPTION_PROBE: add_probe(state, record, argument); return 0;
  case OPTION_KERNEL_OURS: set_flag(record, KYMO_RECORD_KERNEL_OURS, true); return 0;
  case OPTION_KERNEL_BUFFER: take_kernel_buffer(state, record, argument); return 0;
  case OPTION_SAMPLE: take_sample(state, record, argument); return 0;
  case OPTION_SYNC: set_flag(record, KYMO_RECORD_SYNC, true); return 0;
  case 'q': record->what.quiet = true; return 0;
  case ARGP_KEY_ARGS: record->what.command = state->argv + state->next; return 0;
  case 'p': record->what.pid = tool_take_process(argument, state); return 0;
  case OPTION_DURATION: take_duration(state, record, argument); return 0;
  case ARGP_KEY_END:
    check_what(state, record);
    check_kernel(state, record);
    check_sample(state, record);
    check(state, record);
    return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp parser = {
    .options = options,
    .parser = parse,
    .args_doc = "[--] COMMAND [ARGUMENT...]\n-p PID\n--kernel PATTERN",
    .doc = "Run a command and record the tracepoints of all its processes; or record a running "
           "process.\v"
           "With -p the exit status is 0, 1 if the trace is incomplete, 3 if nothing can be recorded. "
           "Otherwise it is "
           "the status of the command, 128 + N if signal N killed it; 1 if it succeeded but the trace "
           "is incomplete; "
           "126 or 127 if it cannot be run; 3 if nothing can be recorded.",
};

/* ---- recording ---- */

struct run {
  const struct recording *what;
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
  const struct triggers *triggers = &run->what->triggers;
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
  char overwritten[48] = "", parts[64] = "", removed[48] = "", processes[48] = "", kernel[96] = "",
       samples[96] = "";
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
  if (run->what->options.kernel)
    snprintf(kernel, sizeof kernel, "; of the kernel %" PRIu64 " events, %" PRIu64 " lost",
             number_of(run, KYMO_RECORDING_KERNEL_EVENTS), number_of(run, KYMO_RECORDING_KERNEL_LOST));
  if (run->what->options.sample_hz)
    snprintf(samples, sizeof samples, "; %" PRIu64 " samples, %" PRIu64 " lost",
             number_of(run, KYMO_RECORDING_SAMPLES), number_of(run, KYMO_RECORDING_SAMPLES_LOST));
  tool_say("%s %s: %" PRIu64 " events, %" PRIu64 " lost%s%s%s%s%s%s",
           access(trace, F_OK) ? "no trace could be written to" : "trace in", trace,
           number_of(run, KYMO_RECORDING_EVENTS), number_of(run, KYMO_RECORDING_LOST), overwritten, parts,
           removed, processes, kernel, samples);
  if (number_of(run, KYMO_RECORDING_SAMPLES_USER))
    tool_say("the samples are without the kernel's part: run as root, or with the capability CAP_PERFMON");
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
  if (!number_of(run, KYMO_RECORDING_PROCESSES) && !run->what->options.kernel &&
      !run->what->options.sample_hz) {
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
                     number_of(run, KYMO_RECORDING_KERNEL_LOST) ||
                     number_of(run, KYMO_RECORDING_SAMPLES_LOST) ||
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
  if (status == KYMO_E_ABSENT && !run->what->options.kernel && !run->what->options.sample_hz)
    return run_untraced(run, error);
  tool_say_error(error);
  return status == KYMO_E_UNKNOWN ? 127 : status == KYMO_E_USAGE ? 126 : TOOL_FAILED;
}

/* Returns the command's exit status (128 + its signal if it was killed), 1 if the command succeeded but the
 * trace is incomplete, 3 if nothing could be started, 126 or 127 if the command cannot be run. */
static int record_command(const struct recording *what) {
  static const int numbers[] = {SIGCHLD, SIGINT,  SIGTERM,  SIGHUP,  SIGQUIT,
                                SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT, 0};
  struct run run = {.what = what};
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  struct kymo_recording_options how = what->options;
  if (!catch_signals(&run, numbers, what->triggers.any ? &what->triggers.signals : NULL))
    return TOOL_FAILED;
  how.signals = &run.before;
  int status = kymo_recording_start(&run.recording, what->command, &how, &error);
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

/* Returns 0, 1 if the trace is incomplete, 3 if nothing could be recorded. */
static int record_process(const struct recording *what) {
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

/* ---- the command line, applied ---- */

static int start(struct record *record) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  kymo_calls_patterns(&record->calls, &record->patterns);
  if (kymo_calls_libraries(&record->calls, KYMO_PRELOAD_FROM_BIN, &record->preload, &error)) {
    tool_say_error(&error);
    return TOOL_FAILED;
  }
  if (record->patterns.failed || record->preload.failed || record->kernel.failed) {
    tool_say("out of memory");
    return TOOL_FAILED;
  }
  record->what.options.enable = record->patterns.text;
  record->what.options.preload = record->preload.text;
  if (record->preload.text && kymo_calls_have_no_effect(record->what.command[0]))
    tool_say("%s is linked statically: --calls has no effect on it", record->what.command[0]);
  return record_command(&record->what);
}

static int attach(struct record *record) {
  if (record->patterns.failed || record->kernel.failed) {
    tool_say("out of memory");
    return TOOL_FAILED;
  }
  record->what.options.enable = record->patterns.length ? record->patterns.text : NULL;
  return record_process(&record->what);
}

static int run(int argc, char **argv) {
  struct record record = {.what = {.duration_ns = -1}};
  tool_parse(&parser, argc, argv, ARGP_IN_ORDER, NULL, &record);
  record.what.options.kernel = record.kernel.length ? record.kernel.text : record.probe_count ? "" : NULL;
  record.what.options.probes = (const char *const *)record.probes;
  int status = record.what.command ? start(&record) : attach(&record);
  kymo_calls_free(&record.calls);
  kymo_strbuf_free(&record.patterns);
  kymo_strbuf_free(&record.preload);
  kymo_strbuf_free(&record.kernel);
  for (size_t i = 0; i < record.probe_count; i++)
    free(record.probes[i]);
  free(record.probes);
  return status;
}

const struct tool_command tool_record = {
    .name = "record",
    .summary = "record a command, or a running process",
    .run = run,
};
