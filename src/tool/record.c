/* SPDX-License-Identifier: MIT */
/* kymo record: runs a command and records its tracepoints. */
#include "base/strbuf.h"
#include "record/options.h"
#include "tool/supervise.h"
#include "tool/tool.h"
#include <argp.h>
#include <string.h>

enum { OPTION_MODE = 256, OPTION_BUFFER, OPTION_CTF };

struct record {
  struct kymo_supervise what;
  struct kymo_strbuf patterns;
};

static const struct argp_option options[] = {
    {"output", 'o', "DIRECTORY", 0,
     "Write the trace to DIRECTORY, which must be missing or empty; else to a new one "
     "under $KYMO_OUT or $HOME/kymo-traces",
     0},
    {"enable", 'e', "PATTERN", 0,
     "Switch on the tracepoints that match: a name, a glob, a group, re:REGEX, or !… to exclude; "
     "may be given several times (default: all)",
     0},
    {"mode", OPTION_MODE, "MODE", 0,
     "When a ring is full: discard new events (default) or overwrite old ones", 0},
    {"buffer", OPTION_BUFFER, "SIZE", 0, "Ring of one thread, 16k to 1G (default 1M)", 0},
    {"ctf", OPTION_CTF, "VERSION", 0,
     "Describe the trace in TSDL, as CTF 1.8 (default), or in JSON, as CTF 2, which older readers do not know", 0},
    {"quiet", 'q', NULL, 0, "Do not tell where the trace is and what was lost", 0},
    {0},
};

static void take_mode(struct argp_state *state, struct record *record, const char *mode) {
  record->what.overwrite = !strcmp(mode, "overwrite");
  if (!record->what.overwrite && strcmp(mode, "discard"))
    argp_error(state, "--mode is discard or overwrite, not \"%s\"", mode);
}

static error_t parse(int key, char *argument, struct argp_state *state) {
  struct record *record = state->input;
  switch (key) {
  case 'o': record->what.directory = argument; return 0;
  case 'e':
    if (record->patterns.length)
      kymo_strbuf_puts(&record->patterns, ",");
    kymo_strbuf_puts(&record->patterns, argument);
    return 0;
  case OPTION_MODE: take_mode(state, record, argument); return 0;
  case OPTION_BUFFER:
    if (!kymo_options_size(argument, &(uint32_t){0}))
      argp_error(state, "--buffer is a size from 16k to 1G, not \"%s\"", argument);
    record->what.buffer = argument;
    return 0;
  case OPTION_CTF:
    record->what.ctf2 = !strcmp(argument, "2");
    if (!record->what.ctf2 && strcmp(argument, "1.8"))
      argp_error(state, "--ctf is 1.8 or 2, not \"%s\"", argument);
    return 0;
  case 'q': record->what.quiet = true; return 0;
  case ARGP_KEY_ARGS: record->what.command = state->argv + state->next; return 0;
  case ARGP_KEY_NO_ARGS: argp_error(state, "which command?"); return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp parser = {
    .options = options,
    .parser = parse,
    .args_doc = "[--] COMMAND [ARGUMENT...]",
    .doc = "Run a command and record the tracepoints of all its processes.\v"
           "The exit status is the command's, 128 + N if signal N killed it; 1 if it succeeded but the trace "
           "is not whole; "
           "126 or 127 if it cannot be run; 3 if nothing can be recorded.",
};

static int run(int argc, char **argv) {
  struct record record = {.what = {.buffer = "1M"}};
  argp_parse(&parser, argc, argv, ARGP_IN_ORDER, NULL, &record);
  if (record.patterns.failed) {
    tool_say("out of memory");
    return TOOL_FAILED;
  }
  record.what.enable = record.patterns.length ? record.patterns.text : "*";
  int status = kymo_supervise(&record.what);
  kymo_strbuf_free(&record.patterns);
  return status;
}

const struct tool_command tool_record = {
    .name = "record",
    .summary = "run a command and record its tracepoints",
    .run = run,
};
