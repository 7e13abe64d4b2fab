/* SPDX-License-Identifier: MIT */
/*
 * Recording a command: it runs with KYMO_RINGS set to a directory of our own; every process in it that is
 * traced makes its pool there, and we drain those pools from outside. Nothing depends on the processes' help,
 * so the trace is complete up to the last event also when they are killed.
 */
#include "base/fail.h"
#include "base/path.h"
#include "live/crashes.h"
#include "live/flight.h"
#include "live/recording.h"
#include "live/sleep.h"
#include "live/sync.h"
#include "ring/life.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const int pause_ms_of[] = {[KYMO_DRAIN_IDLE] = 5, [KYMO_DRAIN_BUSY] = 1, [KYMO_DRAIN_BEHIND] = 0};

struct command {
  struct kymo_recording recording;
  struct kymo_drain *drain;
  struct kymo_flight flight; /* of snapshots; then nothing is drained */
  struct kymo_sleep sleep;   /* while nothing can be drained */
  struct kymo_crashes crashes;
  struct kymo_strbuf names, returned; /* of processes that crashed: not returned yet, and the last answer */
  char program[256];
  int held;      /* the directory of rings, or -1 */
  int process;   /* a descriptor of the command, or -1 */
  bool is_short; /* a snapshot could not be written */
  bool is_named; /* the command, as crashed */
};

static struct command *of(const struct kymo_recording *recording) {
  return (struct command *)(uintptr_t)recording;
}

/* ---- starting ---- */

static int no_rings(const char *base, struct kymo_error *error) {
  int reason = errno;
  unsigned owner;
  char taken[KYMO_PATH_MAX], whose[64] = "";
  if (!secure_getenv("KYMO_RINGS") && kymo_place_is_taken(taken, &owner) && !strcmp(taken, base))
    snprintf(whose, sizeof whose, ", which belongs to user %u", owner);
  return kymo_fail(error, KYMO_E_ABSENT, "no directory for rings in %s%s: %s", base, whose, strerror(reason));
}

/* The recorder's directory of rings, below the one of all pools. */
static int make_rings(struct command *command, struct kymo_error *error) {
  char base[KYMO_PATH_MAX], *rings = command->recording.rings;
  if (!kymo_pool_base(base, secure_getenv("KYMO_RINGS")))
    return no_rings(base, error);
  if (!kymo_path_join(rings, KYMO_PATH_MAX, base, "record-XXXXXX") || !mkdtemp(rings)) {
    rings[0] = 0;
    return no_rings(base, error);
  }
  /* so that kymo clean removes nothing from it */
  command->held = open(rings, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (command->held >= 0)
    kymo_life_hold(command->held);
  return KYMO_OK;
}

static void name_program(struct command *command, const char *path) {
  const char *slash = strrchr(path, '/');
  snprintf(command->program, sizeof command->program, "%s", slash ? slash + 1 : path);
}

/* Before the libraries that the caller has already preloaded. */
static bool preload(const char *libraries) {
  const char *others = getenv("LD_PRELOAD");
  char *all;
  if (!others || !*others)
    return !setenv("LD_PRELOAD", libraries, 1);
  return asprintf(&all, "%s:%s", libraries, others) >= 0 && !setenv("LD_PRELOAD", all, 1);
}

/* `value` NULL: removes it. */
static bool set(const char *name, const char *value) {
  return value ? !setenv(name, value, 1) : !unsetenv(name);
}

/* Options for the recorder in the command. False with errno. */
static bool set_variables(const struct kymo_recording *recording) {
  const struct kymo_recording_options *options = &recording->options;
  bool overwrites = kymo_recording_has(recording, KYMO_RECORD_OVERWRITE),
       may_grow = !options->buffer && !overwrites;
  return set("KYMO_RINGS", recording->rings) && set("KYMO_ENABLE", options->enable) &&
         set("KYMO_MODE", overwrites ? "overwrite" : "discard") && set("KYMO_SAVE", "outside") &&
         set("KYMO_CRASH", kymo_recording_has(recording, KYMO_RECORD_CRASHES) ? "mark" : NULL) &&
         set("KYMO_BUFFER", options->buffer ? options->buffer : "1M") &&
         set("KYMO_GROW", may_grow ? "64M" : NULL) &&
         set("KYMO_ORIGIN", recording->origin[0] ? recording->origin : NULL) &&
         (!recording->clock || set("KYMO_CLOCK", recording->clock)) &&
         (!options->preload || preload(options->preload));
}

/* Waits until the parent has written a byte. Returns 0 or an errno. If the parent has failed,
 * which it reports, the process ends. */
static int wait_to_go(int go) {
  char byte;
  ssize_t n;
  while ((n = read(go, &byte, 1)) < 0 && errno == EINTR)
    ;
  if (!n)
    _exit(127);
  return n < 0 ? errno : 0;
}

/* The child's half: never returns. A failure is written to the pipe. */
static void run_command(const struct kymo_recording *recording, char *const *arguments, int report, int go) {
  int reason = wait_to_go(go);
  if (!reason && !set_variables(recording))
    reason = errno;
  if (!reason && recording->kernel)
    reason = kymo_kernel_enter(recording->kernel);
  if (!reason) {
    if (recording->options.signals)
      sigprocmask(SIG_SETMASK, recording->options.signals, NULL);
    execvp(arguments[0], arguments);
    reason = errno;
  }
  if (write(report, &reason, sizeof reason) < 0)
    _exit(126);
  _exit(127);
}

static int start(struct command *command, char *const *arguments, struct kymo_error *error) {
  struct kymo_recording *recording = &command->recording;
  int report[2], go[2], reason = 0;
  if (pipe2(report, O_CLOEXEC) || pipe2(go, O_CLOEXEC) || (recording->pid = fork()) < 0)
    return kymo_fail(error, KYMO_E_SYSTEM, "cannot start a process: %s", strerror(errno));
  if (!recording->pid) {
    close(go[1]);
    run_command(recording, arguments, report[1], go[0]);
  }
  close(report[1]);
  int status = recording->samples ? kymo_sampling_follow(recording->samples, recording->pid, error) : KYMO_OK;
  if (!status && write(go[1], "", 1) != 1)
    status = kymo_fail(error, KYMO_E_SYSTEM, "cannot start a process: %s", strerror(errno));
  close(go[0]);
  close(go[1]);
  if (status) {
    close(report[0]);
    waitpid(recording->pid, NULL, 0);
    return status == KYMO_E_UNKNOWN ? KYMO_E_SYSTEM : status;
  }
  ssize_t n = read(report[0], &reason, sizeof reason);
  close(report[0]);
  if (n != sizeof reason) {
    kymo_kernel_keep(recording->kernel);
    kymo_sampling_keep(recording->samples);
    command->process = (int)syscall(SYS_pidfd_open, recording->pid, 0);
    return KYMO_OK;
  }
  waitpid(recording->pid, NULL, 0);
  return kymo_fail(error, reason == ENOENT ? KYMO_E_UNKNOWN : KYMO_E_USAGE, "cannot run %s: %s", arguments[0],
                   strerror(reason));
}

/* ---- while it runs ---- */

static bool command_has_ended(struct kymo_recording *recording) {
  return waitpid(recording->pid, &recording->wait_status, WNOHANG) == recording->pid;
}

static void look_for_crashes(struct command *command) {
  if (!kymo_recording_has(&command->recording, KYMO_RECORD_CRASHES))
    return;
  struct kymo_strbuf names = {0};
  if (kymo_crashes_look(&command->crashes, &names) && names.text) {
    kymo_strbuf_printf(&command->names, "%s%s", command->names.length ? ", " : "", names.text);
    command->recording.crashed = command->names.text;
  }
  kymo_strbuf_free(&names);
  command->recording.unknown_ends = command->crashes.unseen;
}

/* A pass over all rings; if there was nothing for a while, one more, after which the recorders wake us. */
static int drain(struct command *command, int *pause_ms, struct kymo_error *error) {
  enum kymo_drain_load load = KYMO_DRAIN_IDLE;
  int status = kymo_drain_pass(command->drain, &load, error);
  *pause_ms = pause_ms_of[load];
  if (load != KYMO_DRAIN_IDLE)
    kymo_sleep_end(&command->sleep);
  else if (!status && kymo_sleep_is_due(&command->sleep) && kymo_drain_ask(command->drain, &command->sleep)) {
    status = kymo_drain_pass(command->drain, &load, error);
    *pause_ms = pause_ms_of[load];
    if (load != KYMO_DRAIN_IDLE)
      kymo_sleep_end(&command->sleep);
    else if (!status && kymo_sleep_arm(&command->sleep))
      *pause_ms = KYMO_SLEEP_MS;
  }
  return status;
}

static int command_pass(struct kymo_recording *recording, int *pause_ms, struct kymo_error *error) {
  enum { FLIGHT_PAUSE_MS = 1000, CRASH_PAUSE_MS = 200 };
  struct command *command = of(recording);
  if (kymo_recording_has(recording, KYMO_RECORD_SNAPSHOTS)) {
    look_for_crashes(command);
    kymo_flight_clean(&command->flight);
    *pause_ms = kymo_recording_has(recording, KYMO_RECORD_CRASHES) ? CRASH_PAUSE_MS : FLIGHT_PAUSE_MS;
    return KYMO_OK;
  }
  return drain(command, pause_ms, error);
}

/* Without a descriptor of the command, the kernel reports its end only to waitpid. */
static bool command_wait(const struct kymo_recording *recording, int fd, int timeout_ms) {
  enum { BLIND_MS = 20 };
  struct command *command = of(recording);
  if (command->process < 0 && timeout_ms > BLIND_MS)
    timeout_ms = BLIND_MS;
  if (kymo_recording_has(recording, KYMO_RECORD_CRASHES))
    return kymo_crashes_wait(&command->crashes, command->process, fd, timeout_ms);
  struct pollfd wait[2 + KYMO_SLEEP_FDS] = {{fd, POLLIN, 0}, {command->process, POLLIN, 0}};
  kymo_sleep_fds(&command->sleep, wait + 2);
  if (poll(wait, 2 + KYMO_SLEEP_FDS, timeout_ms) <= 0)
    return false;
  kymo_sleep_polled(&command->sleep, wait + 2);
  return wait[0].revents;
}

const char *kymo_recording_crashes(struct kymo_recording *recording) {
  if (!kymo_recording_has(recording, KYMO_RECORD_CRASHES))
    return NULL;
  struct command *command = of(recording);
  if (!recording->is_stopped)
    look_for_crashes(command);
  kymo_strbuf_free(&command->returned);
  command->returned = command->names;
  command->names = (struct kymo_strbuf){0};
  recording->crashed = NULL;
  /* the command itself, if it left no rings that identify it */
  int status = recording->wait_status;
  if (recording->has_ended && WIFSIGNALED(status) &&
      !kymo_crashes_reported(&command->crashes, recording->pid) && !command->returned.length &&
      !command->is_named) {
    command->is_named = true;
    kymo_strbuf_printf(&command->returned, "%s (process %d): %s", command->program, recording->pid,
                       strsignal(WTERMSIG(status)));
  }
  return command->returned.length ? command->returned.text : NULL;
}

int kymo_recording_snapshot(struct kymo_recording *recording, const char *why, struct kymo_error *error) {
  if (!kymo_recording_has(recording, KYMO_RECORD_SNAPSHOTS))
    return kymo_fail(error, KYMO_E_USAGE, "the recording is not one of snapshots");
  struct command *command = of(recording);
  int status = kymo_flight_snapshot(&command->flight, why, &recording->sum, recording->snapshot, error);
  recording->snapshots = command->flight.snapshots;
  command->is_short |= status < 0;
  return status;
}

/* ---- the end ---- */

/* A shell does not report a crash, since it was not its child that died. */
static int note_crash(struct command *command, struct kymo_error *error) {
  struct kymo_recording *recording = &command->recording;
  const struct kymo_recording_options *options = &recording->options;
  int status = recording->wait_status;
  if (!recording->has_ended || !WIFSIGNALED(status) || !kymo_crash_is(WTERMSIG(status)))
    return KYMO_OK;
  snprintf(recording->cause, sizeof recording->cause, "%s (process %d): %s", command->program, recording->pid,
           strsignal(WTERMSIG(status)));
  if (access(recording->trace, F_OK) || options->rotate_bytes || options->rotate_seconds)
    return KYMO_OK;
  int noted = kymo_flight_put_cause(recording->trace, recording->cause, error);
  return noted ? noted : kymo_sync(recording->trace, error);
}

static int stop_trace(struct command *command, struct kymo_error *error) {
  struct kymo_recording *recording = &command->recording;
  struct kymo_error unused = {.offset = KYMO_ERROR_NO_OFFSET};
  int status = kymo_drain_end(command->drain, &recording->sum, error);
  rmdir(recording->trace); /* if nothing is in it */
  int noted = note_crash(command, status ? &unused : error);
  return status ? status : noted;
}

static int stop_flight(struct command *command) {
  if (!command->is_short)
    kymo_flight_end(&command->flight);
  if (!command->flight.snapshots)
    rmdir(command->recording.trace);
  return KYMO_OK;
}

static int command_stop(struct kymo_recording *recording, struct kymo_error *error) {
  struct command *command = of(recording);
  int status = kymo_recording_has(recording, KYMO_RECORD_SNAPSHOTS) ? stop_flight(command)
                                                                    : stop_trace(command, error);
  recording->has_rings = rmdir(recording->rings) && errno == ENOTEMPTY;
  return status;
}

static const char *command_kept(const struct kymo_recording *recording, size_t index) {
  struct command *command = of(recording);
  if (kymo_recording_has(recording, KYMO_RECORD_SNAPSHOTS))
    return command->is_short ? kymo_flight_kept(&command->flight, index) : NULL;
  return kymo_drain_kept(command->drain, index);
}

static void command_free(struct kymo_recording *recording) {
  struct command *command = of(recording);
  kymo_sleep_free(&command->sleep);
  kymo_drain_free(command->drain);
  kymo_crashes_free(&command->crashes);
  kymo_strbuf_free(&command->names);
  kymo_strbuf_free(&command->returned);
  kymo_flight_free(&command->flight);
  if (command->held >= 0)
    close(command->held);
  if (command->process >= 0)
    close(command->process);
}

static const struct kymo_recording_kind command_kind = {
    .has_ended = command_has_ended,
    .pass = command_pass,
    .wait = command_wait,
    .stop = command_stop,
    .kept = command_kept,
    .free = command_free,
};

static int begin(struct command *command, char *const *arguments, struct kymo_error *error) {
  struct kymo_recording *recording = &command->recording;
  const struct kymo_recording_options *options = &recording->options;
  bool overwrites = kymo_recording_has(recording, KYMO_RECORD_OVERWRITE),
       is_ctf2 = kymo_recording_has(recording, KYMO_RECORD_CTF2);
  name_program(command, arguments[0]);
  int status = kymo_recording_make_trace(recording, command->program, error);
  if (!status)
    status = make_rings(command, error);
  if (status)
    return status;
  command->flight =
      (struct kymo_flight){.rings = recording->rings, .directory = recording->trace, .ctf2 = is_ctf2};
  if (kymo_recording_has(recording, KYMO_RECORD_CRASHES))
    kymo_crashes_begin(&command->crashes, recording->rings);
  else
    kymo_sleep_begin(&command->sleep, recording->rings);
  command->drain =
      kymo_drain_new(&(struct kymo_drain_options){.rings = recording->rings,
                                                  .directory = recording->trace,
                                                  .while_running = !overwrites,
                                                  .ctf2 = is_ctf2,
                                                  .sync = kymo_recording_has(recording, KYMO_RECORD_SYNC),
                                                  .rotate_bytes = options->rotate_bytes,
                                                  .rotate_seconds = options->rotate_seconds,
                                                  .keep = options->keep,
                                                  .beside = kymo_recording_has_others(recording)});
  if (!command->drain)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  status = kymo_recording_make_others(recording, NULL, true, error);
  return status ? status : start(command, arguments, error);
}

int kymo_recording_start_(struct kymo_recording **recording, char *const *arguments,
                          const struct kymo_recording_options *options, size_t size,
                          struct kymo_error *error) {
  int status = kymo_recording_new(recording, sizeof(struct command), &command_kind, options, size, error);
  if (status)
    return status;
  struct command *command = of(*recording);
  command->held = command->process = -1;
  command->crashes = (struct kymo_crashes){.changes = -1};
  command->sleep = (struct kymo_sleep){.changes = -1, .is_off = true};
  status = begin(command, arguments, error);
  if (!status)
    return KYMO_OK;
  kymo_recording_drop_others(&command->recording);
  if (command->recording.rings[0])
    rmdir(command->recording.rings);
  if (command->recording.trace[0])
    rmdir(command->recording.trace);
  kymo_recording_free(*recording);
  *recording = NULL;
  return status;
}
