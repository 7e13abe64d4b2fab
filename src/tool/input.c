/* SPDX-License-Identifier: MIT */
#include "tool/input.h"
#include "base/list.h"
#include "format/language.h"
#include "live/client.h"
#include "live/find.h"
#include "tool/filter.h"
#include "tool/offsets.h"
#include "tool/rings.h"
#include "tool/select.h"
#include <kymo/time.h>
#include "tool/window.h"
#include "tool/words.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- command line ---- */

enum {
  OPTION_FORCE = 512,
  OPTION_BEGIN,
  OPTION_END,
  OPTION_RANGE,
  OPTION_INTERSECT,
  OPTION_EVENT,
  OPTION_OFFSET,
  OPTION_OFFSET_NS,
  OPTION_KEY,
  OPTION_AS,
  OPTION_CPEL_CLOCK,
  OPTION_GIST_HEADER,
  OPTION_GIST_CLOCK,
  OPTION_FILTER,
  OPTION_FILTER_FILE
};

static const struct argp_option options[] = {
    {"begin", OPTION_BEGIN, "TIME", 0,
     "Only events from TIME on: 2026-11-21 15:04:05.123, 15:04, +1.5s after the begin, -10s before the end",
     0},
    {"end", OPTION_END, "TIME", 0, "Only events up to TIME", 0},
    {"stream-intersection", OPTION_INTERSECT, NULL, 0,
     "Only events in the time range in which all streams of the trace have packets", 0},
    {"timerange", OPTION_RANGE, "BEGIN,END", 0, "--begin and --end together; \"[BEGIN,END]\" is the same", 0},
    {"clock-offset", OPTION_OFFSET, "[PATH=]SECONDS", 0,
     "Add this to all times, or to those of the traces at PATH", 0},
    {"clock-offset-ns", OPTION_OFFSET_NS, "[PATH=]NS", 0, "The same in nanoseconds", 0},
    {"event", OPTION_EVENT, "PATTERN", 0,
     "Only events whose name matches: a name, group, glob or re:REGEX, several with commas or by several "
     "options; "
     "a leading ! excludes",
     0},
    {"filter", OPTION_FILTER, "EXPRESSION", 0,
     "Only events for which this is true, as 'port = 80 AND state IN (\"OPEN\", \"READY\")'; see "
     "docs/filters.md",
     0},
    {"filter-file", OPTION_FILTER_FILE, "FILE", 0,
     "Only events that the filter in FILE selects; a text (.fdl), or compiled (.filter)", 0},
    {0, 'f', "FORMAT", OPTION_HIDDEN, NULL, 0}, /* of commands that have formats; the others refuse it here */
    {"key", OPTION_KEY, "FILE", 0,
     "Read the traces as described by this compiled description, or by a text that kymo compile takes", 0},
    {"description", OPTION_KEY, "FILE", OPTION_ALIAS, NULL, 0}, /* in commands where --key is something
                                                                 * else */
    {"as", OPTION_AS, "NAME", 0, "Read the traces as described by the installed description NAME", 0},
    {"cpel-clock", OPTION_CPEL_CLOCK, "UNIT", 0,
     "The clocks of CPEL files count ticks per us or per s (default: found by their numbers)", 0},
    {"gist-header", OPTION_GIST_HEADER, "FILE", 0,
     "The C header with the definitions of Gist logs (default: found beside each log)", 0},
    {"gist-clock", OPTION_GIST_CLOCK, "HZ", 0,
     "The clocks of Gist logs tick this many times per second; the logs do not state it "
     "(default: 1000000000)",
     0},
    {"force-correlate", OPTION_FORCE, NULL, 0,
     "Merge traces by time even if their clocks have no common origin", 0},
    {"quiet", 'q', NULL, 0,
     "Print no warnings and no list of damaged places; the exit status still reports them", 0},
    {0},
};

static void add_text(struct tool_texts *texts, const char *text, struct argp_state *state) {
  if (!KYMO_LIST_ROOM(texts->list, texts->capacity, texts->count))
    argp_failure(state, TOOL_FAILED, 0, "out of memory");
  else
    texts->list[texts->count++] = text;
}

/* "BEGIN,END" or "[BEGIN,END]" */
static void set_range(struct tool_input *input, const char *text, struct argp_state *state) {
  size_t length = strlen(text);
  bool has_brackets = length > 1 && text[0] == '[' && text[length - 1] == ']';
  free(input->range);
  input->range = strndup(text + has_brackets, length - 2 * has_brackets);
  if (!input->range)
    argp_failure(state, TOOL_FAILED, 0, "out of memory");
  char *comma = input->range ? strchr(input->range, ',') : NULL;
  if (!comma || comma == input->range || !comma[1] || strchr(comma + 1, ',')) {
    argp_error(state, "--timerange is BEGIN,END, not \"%s\"", text);
    return;
  }
  *comma = '\0';
  input->begin = input->range;
  input->end = comma + 1;
}

static void set_gist_clock(struct tool_input *input, const char *text, struct argp_state *state) {
  char *end;
  unsigned long clock = strtoul(text, &end, 10);
  if (*text < '0' || *text > '9' || *end || clock == 0 || clock > UINT32_MAX)
    argp_error(state, "--gist-clock is a number from 1 to 4294967295, not \"%s\"", text);
  input->gist_clock = clock;
}

static void set_filter(struct tool_input *input, const char *expression, struct argp_state *state) {
  if (input->filter || input->filter_file)
    argp_error(state, "one filter at a time; AND joins expressions");
  input->filter = expression;
}

static void set_filter_file(struct tool_input *input, const char *path, struct argp_state *state) {
  if (input->filter || input->filter_file)
    argp_error(state, "one filter at a time");
  input->filter_file = path;
}

static error_t parse(int key, char *argument, struct argp_state *state) {
  struct tool_input *input = state->input;
  switch (key) {
  case OPTION_BEGIN: input->begin = argument; return 0;
  case OPTION_END: input->end = argument; return 0;
  case OPTION_INTERSECT: input->intersect = true; return 0;
  case OPTION_RANGE: set_range(input, argument, state); return 0;
  case OPTION_EVENT: add_text(&input->events, argument, state); return 0;
  case OPTION_FILTER: set_filter(input, argument, state); return 0;
  case OPTION_FILTER_FILE: set_filter_file(input, argument, state); return 0;
  case 'f':
    tool_filter_refuse_letter(argument, state);
    argp_error(state,
               "-f is a format, which this command does not take; a filter in a file is --filter-file");
    return 0;
  case OPTION_OFFSET: add_text(&input->clock_offsets, argument, state); return 0;
  case OPTION_OFFSET_NS: add_text(&input->clock_offsets_ns, argument, state); return 0;
  case OPTION_FORCE: input->force_correlate = true; return 0;
  case OPTION_CPEL_CLOCK:
    if (tool_word(argument, (const char *const[]){"us", "s", NULL}) < 0)
      argp_error(state, "--cpel-clock is us or s, not \"%s\"", argument);
    input->cpel_clock = argument;
    return 0;
  case OPTION_KEY: input->key = argument; return 0;
  case OPTION_AS: input->as = argument; return 0;
  case OPTION_GIST_HEADER: input->gist_header = argument; return 0;
  case OPTION_GIST_CLOCK: set_gist_clock(input, argument, state); return 0;
  case 'q': input->quiet = true; return 0;
  case ARGP_KEY_ARGS:
    input->paths = (const char **)state->argv + state->next;
    input->count = (size_t)(state->argc - state->next);
    return 0;
  case ARGP_KEY_NO_ARGS:
    if (!input->may_be_none)
      argp_error(state, "which trace?");
    return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

const struct argp tool_input_options = {.options = options, .parser = parse};

void tool_input_free(struct tool_input *input) {
  free(input->range);
  free(input->events.list);
  free(input->clock_offsets.list);
  free(input->clock_offsets_ns.list);
}

/* ---- the same again ---- */

/* A word in the form of a shell. */
static void add_word(struct kymo_strbuf *out, const char *word) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,@%+-";
  if (*word && !word[strspn(word, plain)]) {
    kymo_strbuf_puts(out, word);
    return;
  }
  kymo_strbuf_puts(out, "'");
  for (; *word; word++)
    if (*word == '\'')
      kymo_strbuf_puts(out, "'\\''");
    else
      kymo_strbuf_add(out, word, 1);
  kymo_strbuf_puts(out, "'");
}

void tool_input_option(struct kymo_strbuf *out, const char *name, const char *value) {
  if (!value)
    return;
  kymo_strbuf_printf(out, "\f%s ", name);
  add_word(out, value);
}

void tool_input_command(struct kymo_strbuf *out, const struct tool_input *input) {
  kymo_strbuf_puts(out, "kymo cat");
  for (size_t i = 0; i < input->count; i++) {
    kymo_strbuf_puts(out, *input->paths[i] == '-' && input->paths[i][1] ? "\f./" : "\f");
    add_word(out, input->paths[i]);
  }
  tool_input_option(out, "--description", input->key);
  tool_input_option(out, "--as", input->as);
  tool_input_option(out, "--cpel-clock", input->cpel_clock);
  tool_input_option(out, "--gist-header", input->gist_header);
  if (input->gist_clock)
    kymo_strbuf_printf(out, "\f--gist-clock %" PRIu64, input->gist_clock);
  for (size_t i = 0; i < input->clock_offsets.count; i++)
    tool_input_option(out, "--clock-offset", input->clock_offsets.list[i]);
  for (size_t i = 0; i < input->clock_offsets_ns.count; i++)
    tool_input_option(out, "--clock-offset-ns", input->clock_offsets_ns.list[i]);
  if (input->force_correlate)
    kymo_strbuf_puts(out, "\f--force-correlate");
}

/* ---- opening ---- */

/* The first path that is a registry or a text in a language of descriptions, or NULL. */
static const char *find_description(const struct tool_input *input) {
  for (size_t i = 0; i < input->count; i++)
    if (strcmp(input->paths[i], "-") != 0 && kymo_language_is_known(input->paths[i]))
      return input->paths[i];
  return NULL;
}

/* A description in KYMO_DESCRIPTIONS, where a directory is expected, would be ignored silently. */
static void report_no_directories(void) {
  const char *list = getenv("KYMO_DESCRIPTIONS");
  for (size_t length; list && *list; list += length + (list[length] == ':')) {
    struct stat info;
    length = strcspn(list, ":");
    char *path = strndup(list, length);
    if (path && stat(path, &info) == 0 && !S_ISDIR(info.st_mode))
      tool_say(
          "KYMO_DESCRIPTIONS: %s: expected a directory, found a file (--key FILE reads by a description)",
          path);
    free(path);
  }
}

static void report_not_opened(const struct tool_input *input, const struct kymo_error *error) {
  const char *description = error->code == KYMO_E_UNKNOWN ? find_description(input) : NULL;
  if (description)
    tool_say("%s: expected a trace, found a description of events; \"kymo describe\" prints it", description);
  else
    tool_say_error(error);
  if (error->code == KYMO_E_UNKNOWN && !input->key)
    report_no_directories();
}

void tool_print_warnings(const struct kymo_trace *trace, size_t from, bool quiet) {
  for (size_t i = from; !quiet && i < kymo_trace_warning_count(trace); i++) {
    const struct kymo_warning *warning = kymo_trace_warning(trace, i);
    char offset[40] = "";
    if (warning->offset != KYMO_ERROR_NO_OFFSET)
      snprintf(offset, sizeof offset, " byte %" PRIu64 ":", warning->offset);
    tool_say("warning: %s:%s %s", warning->path, offset, warning->message);
  }
}

/* How long events are held back when following. Returns an exit status; reports the reason on failure. */
static int parse_hold(const struct tool_input *input, int64_t *hold_ns) {
  struct kymo_time_mistake mistake;
  *hold_ns = -1;
  if (!input->hold)
    return TOOL_OK;
  if (!kymo_duration_parse(hold_ns, input->hold, &mistake))
    tool_say("--hold %s: %s", input->hold, mistake.why);
  else if (*hold_ns < 0)
    tool_say("--hold %s: expected a time of 0 or more, found a negative one", input->hold);
  else
    return TOOL_OK;
  return TOOL_USAGE;
}

static int load_key(struct kymo_schema **description, const struct tool_input *input) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  int status = KYMO_OK;
  if (input->key && input->as) {
    tool_say("--key and --as both choose the description; use one");
    return TOOL_USAGE;
  }
  if (input->key)
    status = kymo_description_load(description, input->key, &error);
  else if (input->as)
    status = kymo_description_find(description, input->as, &error);
  if (status < 0)
    tool_say_error(&error);
  return status < 0 ? TOOL_FAILED : TOOL_OK;
}

/* Names and numbers of processes become the directories of their rings, if no file has that name. */
struct named {
  const char **paths;
  char (*rings)[KYMO_PATH_MAX];
  struct kymo_hint hint;
};

static int find_named(struct named *named, const struct tool_input *input) {
  int status = TOOL_OK;
  *named = (struct named){.paths = calloc(input->count + 1, sizeof *named->paths),
                          .rings = calloc(input->count + 1, sizeof *named->rings)};
  if (!named->paths || !named->rings)
    tool_end_without_memory();
  for (size_t i = 0; i < input->count && status != TOOL_USAGE; i++) {
    const char *word = input->paths[i];
    struct kymo_error error;
    named->paths[i] = word;
    if (!tool_rings_may_name(word))
      continue;
    int pid = kymo_pid_of(word);
    status = pid > 0 ? (kymo_find_pool(named->rings[i], pid, &error) == KYMO_OK ? TOOL_OK : TOOL_FAILED)
                     : tool_rings_named(named->rings[i], word, input->follow, &named->hint);
    if (status == TOOL_OK)
      named->paths[i] = named->rings[i];
  }
  return status == TOOL_USAGE ? TOOL_USAGE : TOOL_OK; /* for an unknown name, opening it reports the error */
}

static void free_named(struct named *named) {
  free(named->paths);
  free(named->rings);
}

static int open_paths(struct kymo_trace **trace, const struct tool_input *input, const int64_t *offsets_ns) {
  struct kymo_trace_options open_options = {.force_correlate = input->force_correlate,
                                            .as_babeltrace2 = input->as_babeltrace2,
                                            .unmerged = input->unmerged,
                                            .cpel_clock = input->cpel_clock,
                                            .path_offsets_ns = offsets_ns,
                                            .follow = input->follow,
                                            .gist_header = input->gist_header,
                                            .gist_clock = input->gist_clock,
                                            .all_classes =
                                                input->all_classes || tool_filter_is_over_all(input)};
  int status = parse_hold(input, &open_options.hold_ns);
  if (status != TOOL_OK)
    return status;
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  if ((status = load_key(&open_options.description, input)) != TOOL_OK)
    return status;
  struct named named;
  if (find_named(&named, input) != TOOL_OK) {
    kymo_description_release(open_options.description);
    free_named(&named);
    return TOOL_USAGE;
  }
  status = kymo_trace_open(trace, named.paths, input->count, &open_options, &error);
  kymo_description_release(open_options.description);
  if (status >= 0)
    tool_print_warnings(*trace, 0, input->quiet);
  else
    report_not_opened(input, &error);
  if (status < 0 && input->why)
    *input->why = error;
  if (status < 0 && *named.hint.text)
    tool_say("a process with rings has a name that is near%s", named.hint.text);
  free_named(&named);
  return status >= 0 ? TOOL_OK : TOOL_FAILED;
}

int tool_open(struct kymo_trace **trace, const struct tool_input *input) {
  int64_t *offsets_ns = NULL;
  struct tool_window window;
  *trace = NULL;
  int status = tool_window_parse(&window, input);
  if (status == TOOL_OK)
    status = tool_offsets_make(&offsets_ns, input);
  if (status == TOOL_OK)
    status = open_paths(trace, input, offsets_ns);
  free(offsets_ns);
  if (status == TOOL_OK)
    status = tool_select(*trace, &input->events, input->follow);
  if (status == TOOL_OK)
    status = tool_filter_attach(*trace, input);
  if (status == TOOL_OK)
    status = tool_window_apply(&window, *trace, input->intersect);
  if (status != TOOL_OK && *trace &&
      kymo_trace_damage_count(*trace)) { /* then the arguments may be valid, and the trace is not */
    tool_print_damage(*trace, input->quiet);
    status = TOOL_FAILED;
  }
  if (status != TOOL_OK) {
    kymo_trace_close(*trace);
    *trace = NULL;
  }
  return status;
}
