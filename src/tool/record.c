/* SPDX-License-Identifier: MIT */
/* kymo record: runs a command and records its tracepoints, or records a process that runs already. */
#include "base/strbuf.h"
#include "tool/calls.h"
#include "record/options.h"
#include "tool/recording.h"
#include "tool/rings.h"
#include <kymo/time.h>
#include "tool/words.h"
#include <argp.h>
#include <stdlib.h>
#include <string.h>

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
};

/* minimum bytes of a part; enough for a description and some packets */
#define PART_MIN (UINT64_C(64) << 10)

struct record {
  struct tool_recording what;
  struct kymo_calls calls;
  bool mode_given;
  struct kymo_strbuf patterns, preload;
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
    {"quiet", 'q', NULL, 0, "Do not print where the trace is and how many events were lost", 0},
    {0},
};

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

/* Checks that either a command or a process is given, and only options for that one. */
static void check_what(struct argp_state *state, const struct record *record) {
  const struct tool_recording *what = &record->what;
  const struct kymo_recording_options *how = &what->options;
  const char *only = record->calls.libc                         ? "--calls"
                     : how->buffer                              ? "--buffer"
                     : what->triggers.any                       ? "--snapshot-on"
                     : how->rotate_bytes || how->rotate_seconds ? "--rotate"
                                                                : NULL;
  if (!record->what.pid && !what->command)
    argp_error(state, "expected a command to record");
  if (record->what.pid && what->command)
    argp_error(state, "expected a command or -p, found both");
  if (record->what.pid && only)
    argp_error(state, "%s is for commands, not for a running process", only);
  if (!record->what.pid && record->what.duration_ns >= 0)
    argp_error(state, "--duration needs -p");
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

/* What has to be with what. */
static void check(struct argp_state *state, struct record *record) {
  struct kymo_recording_options *how = &record->what.options;
  const struct tool_triggers *triggers = &record->what.triggers;
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

static error_t parse(int key, char *argument, struct argp_state *state) {
  struct record *record = state->input;
  switch (key) {
  case 'o': record->what.options.directory = argument; return 0;
  case 'e':
    if (record->patterns.length)
      kymo_strbuf_puts(&record->patterns, ",");
    kymo_strbuf_puts(&record->patterns, argument);
    return 0;
  case OPTION_MODE: take_mode(state, record, argument); return 0;
  case OPTION_SNAPSHOT:
    if (!tool_trigger_add(&record->what.triggers, argument))
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
  case OPTION_CTF:
    set_flag(record, KYMO_RECORD_CTF2, !strcmp(argument, "2"));
    if (strcmp(argument, "2") && strcmp(argument, "1.8"))
      argp_error(state, "--ctf is 1.8 or 2, not \"%s\"", argument);
    return 0;
  case OPTION_SYNC: set_flag(record, KYMO_RECORD_SYNC, true); return 0;
  case 'q': record->what.quiet = true; return 0;
  case ARGP_KEY_ARGS: record->what.command = state->argv + state->next; return 0;
  case 'p': record->what.pid = tool_take_process(argument, state); return 0;
  case OPTION_DURATION: take_duration(state, record, argument); return 0;
  case ARGP_KEY_END:
    check_what(state, record);
    check(state, record);
    return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp parser = {
    .options = options,
    .parser = parse,
    .args_doc = "[--] COMMAND [ARGUMENT...]\n-p PID",
    .doc = "Run a command and record the tracepoints of all its processes; or record a running "
           "process.\v"
           "With -p the exit status is 0, 1 if the trace is incomplete, 3 if nothing can be recorded. "
           "Otherwise it is "
           "the status of the command, 128 + N if signal N killed it; 1 if it succeeded but the trace "
           "is incomplete; "
           "126 or 127 if it cannot be run; 3 if nothing can be recorded.",
};

static int start(struct record *record) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  kymo_calls_patterns(&record->calls, &record->patterns);
  if (kymo_calls_libraries(&record->calls, &record->preload, &error)) {
    tool_say_error(&error);
    return TOOL_FAILED;
  }
  if (record->patterns.failed || record->preload.failed) {
    tool_say("out of memory");
    return TOOL_FAILED;
  }
  record->what.options.enable = record->patterns.text;
  record->what.options.preload = record->preload.text;
  if (record->preload.text && kymo_calls_have_no_effect(record->what.command[0]))
    tool_say("%s is linked statically: --calls has no effect on it", record->what.command[0]);
  return tool_record_command(&record->what);
}

static int attach(struct record *record) {
  if (record->patterns.failed) {
    tool_say("out of memory");
    return TOOL_FAILED;
  }
  record->what.options.enable = record->patterns.length ? record->patterns.text : NULL;
  return tool_record_process(&record->what);
}

static int run(int argc, char **argv) {
  struct record record = {.what = {.duration_ns = -1}};
  tool_parse(&parser, argc, argv, ARGP_IN_ORDER, NULL, &record);
  int status = record.what.pid ? attach(&record) : start(&record);
  kymo_calls_free(&record.calls);
  kymo_strbuf_free(&record.patterns);
  kymo_strbuf_free(&record.preload);
  return status;
}

const struct tool_command tool_record = {
    .name = "record",
    .summary = "record a command, or a running process",
    .run = run,
};
