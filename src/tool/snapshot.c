/* SPDX-License-Identifier: MIT */
/* kymo snapshot: saves the contents of a process's rings (kymo/live.h). */
#include "base/fail.h"
#include "live/client.h"
#include "print/duration.h"
#include "tool/rings.h"
#include "tool/tool.h"
#include <argp.h>
#include <inttypes.h>
#include <kymo/live.h>
#include <kymo/time.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_LAST = 256, OPTION_CTF };

struct snapshot {
  const char *process; /* a number, a name, or a directory of rings */
  const char *last;    /* as it was given, or NULL */
  struct kymo_snapshot_options options;
  bool quiet;
  char rings[KYMO_PATH_MAX];
  bool is_ambiguous; /* several processes have the name, which was reported */
};

static const struct argp_option options[] = {
    {"output", 'o', "DIRECTORY", 0,
     "Write the trace to DIRECTORY, which must be missing or empty; default: a new directory "
     "under $KYMO_OUT or $HOME/kymo-traces",
     0},
    {"last", OPTION_LAST, "TIME", 0, "Only events of the last TIME, as 10s or 2min, before the newest event",
     0},
    {"ctf", OPTION_CTF, "VERSION", 0,
     "Describe the trace in TSDL, as CTF 1.8 (default), or in JSON, as CTF 2, which older readers cannot "
     "read",
     0},
    {"quiet", 'q', NULL, 0, "Do not print where the trace is and how many events were lost", 0},
    {0},
};

static error_t parse(int key, char *argument, struct argp_state *state) {
  struct snapshot *snapshot = state->input;
  struct kymo_time_mistake mistake;
  switch (key) {
  case 'o': snapshot->options.directory = argument; return 0;
  case OPTION_LAST:
    if (!kymo_duration_parse(&snapshot->options.last_ns, argument, &mistake) || snapshot->options.last_ns < 0)
      argp_error(state, "--last is a time like 10s, not \"%s\"", argument);
    snapshot->options.last_ns += !snapshot->options.last_ns; /* 0 would be all */
    snapshot->last = argument;
    return 0;
  case OPTION_CTF: snapshot->options.flags = tool_take_ctf2(argument, state) ? KYMO_RECORD_CTF2 : 0; return 0;
  case 'q': snapshot->quiet = true; return 0;
  case ARGP_KEY_ARG: snapshot->process = argument; return state->arg_num ? ARGP_ERR_UNKNOWN : 0;
  case ARGP_KEY_NO_ARGS: argp_error(state, "of which process?"); return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp parser = {
    .options = options,
    .parser = parse,
    .args_doc = "PID|NAME|RINGS",
    .doc = "Save the current contents of the rings of a process as a trace. The process need not respond: it "
           "may be stopped, "
           "hang, or be "
           "dead. NAME is the name of a program of which exactly one process has rings.",
};

static int find_rings(struct snapshot *snapshot, struct kymo_error *error) {
  int pid = kymo_pid_of(snapshot->process);
  if (pid > 0)
    return kymo_process_rings(snapshot->rings, sizeof snapshot->rings, pid, error);
  if (tool_rings_may_name(snapshot->process)) {
    struct kymo_hint hint;
    int found = tool_rings_named(snapshot->rings, snapshot->process, false, &hint);
    snapshot->is_ambiguous = found == TOOL_USAGE;
    return found == TOOL_OK ? KYMO_OK
                            : kymo_fail(error, KYMO_E_UNKNOWN, "there are no rings of a program \"%s\"%s",
                                        snapshot->process, hint.text);
  }
  if ((size_t)snprintf(snapshot->rings, sizeof snapshot->rings, "%s", snapshot->process) >=
      sizeof snapshot->rings)
    return kymo_fail(error, KYMO_E_USAGE, "the path is too long: %s", snapshot->process);
  return KYMO_OK;
}

/* The cause of a process's death is what users look for in its last events. */
static void print_end(const struct kymo_snapshot *saved) {
  int pid = (int)kymo_snapshot_number(saved, KYMO_SNAPSHOT_PID);
  const char *end = kymo_snapshot_text(saved, KYMO_SNAPSHOT_END);
  if (end)
    tool_say("process %d died: %s", pid, end);
  else if (kymo_snapshot_number(saved, KYMO_SNAPSHOT_WAS_KILLED))
    tool_say(
        "process %d was killed, or ended by _exit; with KYMO_CRASH=mark in its environment, a signal that "
        "dumps core is recorded",
        pid);
}

static void summarise(const struct snapshot *snapshot, const struct kymo_snapshot *saved) {
  int64_t before = kymo_snapshot_number(saved, KYMO_SNAPSHOT_OVERWRITTEN),
          covered_ns = kymo_snapshot_number(saved, KYMO_SNAPSHOT_COVERED_NS);
  char overwritten[48] = "", covered[KYMO_DURATION_TEXT];
  if (before)
    snprintf(overwritten, sizeof overwritten, ", %" PRId64 " overwritten", before);
  tool_say("trace in %s: %" PRId64 " events, %" PRId64 " lost%s",
           kymo_snapshot_text(saved, KYMO_SNAPSHOT_DIRECTORY),
           kymo_snapshot_number(saved, KYMO_SNAPSHOT_EVENTS), kymo_snapshot_number(saved, KYMO_SNAPSHOT_LOST),
           overwritten);
  print_end(saved);
  kymo_duration_exact(covered_ns > 0 ? (uint64_t)covered_ns : 0, covered);
  if (kymo_snapshot_number(saved, KYMO_SNAPSHOT_IS_OVERWRITTEN))
    tool_say(
        "it covers %s of all threads, not %s: older events were overwritten; larger rings (KYMO_BUFFER, or "
        "--buffer of kymo "
        "record) keep more",
        covered, snapshot->last);
  else if (covered_ns >= 0)
    tool_say("it covers %s, not %s: no older event was recorded", covered, snapshot->last);
}

static int run(int argc, char **argv) {
  struct snapshot snapshot = {.options = {0}};
  struct kymo_snapshot *saved = NULL;
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  tool_parse(&parser, argc, argv, 0, NULL, &snapshot);
  signal(SIGXFSZ, SIG_IGN); /* a file that must not grow is a write error */
  int status = find_rings(&snapshot, &error);
  if (!status)
    status = kymo_snapshot_take(&saved, snapshot.rings, &snapshot.options, &error);
  const char *left_out = saved ? kymo_snapshot_text(saved, KYMO_SNAPSHOT_LEFT_OUT) : NULL;
  bool is_written = saved && kymo_snapshot_text(saved, KYMO_SNAPSHOT_DIRECTORY);
  if (status && !snapshot.is_ambiguous)
    tool_say_error(&error);
  if (left_out)
    tool_say("%s", left_out);
  if (is_written && !snapshot.quiet)
    summarise(&snapshot, saved);
  uint64_t lost = is_written ? (uint64_t)kymo_snapshot_number(saved, KYMO_SNAPSHOT_LOST) : 0;
  int result = tool_print_losses((struct kymo_losses){.events = lost}, snapshot.quiet);
  if (snapshot.is_ambiguous)
    result = TOOL_USAGE;
  else if (status || left_out)
    result = is_written ? TOOL_DAMAGED : TOOL_FAILED;
  kymo_snapshot_free(saved);
  return result;
}

const struct tool_command tool_snapshot = {
    .name = "snapshot",
    .summary = "save the rings of a process that runs, hangs or is dead",
    .run = run,
};
