/* SPDX-License-Identifier: MIT */
/*
 * kymo view: shows traces in a browser. A server on this machine (serve/serve.h) has the traces and an index
 * of their events; the page in the browser asks it for pictures.
 */
#include "base/cache.h"
#include "base/fail.h"
#include "base/list.h"
#include "serve/serve.h"
#include "tool/browser.h"
#include "tool/input.h"
#include "tool/view_html.h"
#include "tool/view_offers.h"
#include "tool/view_traces.h"
#include "tool/window.h"
#include <errno.h>
#include <kymo/time.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
  OPTION_BROWSER = 256,
  OPTION_PORT,
  OPTION_IDLE,
  OPTION_TRACK,
  OPTION_COMPARE,
  OPTION_OFFER,
  OPTION_SLEW,
  OPTION_HTML
};

struct command {
  struct tool_input input;
  struct tool_offers offers;
  struct serve_slew *slews; /* their names are allocated */
  size_t slew_count, slew_capacity;
  const char *compare, *html;
  bool no_browser;
  unsigned port;
  int64_t idle_ns;
  enum view_track_by by;
  const char *field;
  struct tool_browser browser;
};

static const struct argp_option options[] = {
    {"no-browser", OPTION_BROWSER, NULL, 0, "Print the address, and open no browser", 0},
    {"port", OPTION_PORT, "PORT", 0, "Listen on this port of 127.0.0.1 (default: any that is free)", 0},
    {"idle-exit", OPTION_IDLE, "TIME", 0, "End when no page has asked for anything during TIME: 600, 10min",
     0},
    {"track", OPTION_TRACK, "WHAT", 0,
     "What a track is: thread (default; in CPEL files, their tracks), cpu, stream, class, or a field", 0},
    {"compare", OPTION_COMPARE, "TRACE", 0, "Compare with the events of another trace", 0},
    {"offer", OPTION_OFFER, "PATH", 0,
     "Let the page open this trace instead, or those in a folder; may be repeated. Without TRACE: those in "
     "the current folder",
     0},
    {"slew", OPTION_SLEW, "TRACK=NS", 0,
     "Show the events of a track this number of nanoseconds later (negative: earlier); may be repeated", 0},
    {"follow", 'F', NULL, 0, "Go on with what is still being written; so it is for a process by PID or name",
     0},
    {"hold", OPTION_HTML + 1, "SECONDS", 0,
     "When following: how long events wait for streams that may still deliver earlier ones; 1s for files", 0},
    {"html", OPTION_HTML, "OUT.html", 0,
     "Write one file with page and events, which needs no server, and end; see --begin, --end and --filter",
     0},
    {0},
};

static void take_track(struct command *command, const char *word) {
  static const struct {
    const char *word;
    enum view_track_by by;
  } words[] = {
      {"thread", VIEW_BY_THREAD}, {"cpu", VIEW_BY_CPU}, {"stream", VIEW_BY_STREAM}, {"class", VIEW_BY_EVENT}};
  command->by = VIEW_BY_FIELD;
  command->field = word;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strcmp(word, words[i].word) == 0)
      command->by = words[i].by;
}

static void take_port(struct command *command, const char *word, struct argp_state *state) {
  char *end;
  unsigned long port = strtoul(word, &end, 10);
  if (*word < '0' || *word > '9' || *end || port > 65535)
    argp_error(state, "--port is a number up to 65535, not \"%s\"", word);
  command->port = (unsigned)port;
}

static void add_offer(struct tool_texts *roots, const char *path, struct argp_state *state) {
  if (!KYMO_LIST_ROOM(roots->list, roots->capacity, roots->count))
    argp_failure(state, TOOL_FAILED, 0, "out of memory");
  else
    roots->list[roots->count++] = path;
}

/* "TRACK=NS"; names may have '=' in them. */
static void add_slew(struct command *command, const char *text, struct argp_state *state) {
  const char *equals = strrchr(text, '=');
  char *end = NULL;
  errno = 0;
  long long ns = equals ? strtoll(equals + 1, &end, 10) : 0;
  if (!end || end == equals + 1 || *end || errno || equals[1] == ' ') {
    argp_error(state, "--slew is TRACK=NANOSECONDS, not \"%s\"", text);
    return;
  }
  char *name = strndup(text, (size_t)(equals - text));
  if (!name || !KYMO_LIST_ROOM(command->slews, command->slew_capacity, command->slew_count))
    argp_failure(state, TOOL_FAILED, 0, "out of memory");
  else
    command->slews[command->slew_count++] = (struct serve_slew){name, ns};
}

static void free_slews(struct command *command) {
  for (size_t i = 0; i < command->slew_count; i++)
    free((char *)(uintptr_t)command->slews[i].track);
  free(command->slews);
}

/* Options that make no sense together. */
static void check(struct command *command, struct argp_state *state) {
  const struct tool_input *input = &command->input;
  bool has_start = command->slew_count || input->filter || input->filter_file || input->begin || input->end ||
                   input->intersect;
  if (!input->count && (command->html || command->compare || input->follow || has_start))
    argp_error(state, "which trace?");
  else if (!command->html && (input->filter_file || input->intersect))
    argp_error(state, "--%s is for --html; the page takes a --filter",
               input->filter_file ? "filter-file" : "stream-intersection");
  else if (command->html &&
           (command->compare || input->follow || command->offers.roots.count || command->slew_count))
    argp_error(state, "--html writes what one trace has now; --%s is for the server",
               command->compare      ? "compare"
               : input->follow       ? "follow"
               : command->slew_count ? "slew"
                                     : "offer");
  if (!input->count && !command->offers.roots.count)
    add_offer(&command->offers.roots, ".", state);
}

static error_t parse(int key, char *argument, struct argp_state *state) {
  struct command *command = state->input;
  struct kymo_time_mistake mistake;
  switch (key) {
  case OPTION_BROWSER: command->no_browser = true; return 0;
  case OPTION_PORT: take_port(command, argument, state); return 0;
  case OPTION_IDLE:
    if (!kymo_duration_parse(&command->idle_ns, argument, &mistake) || command->idle_ns < 1000000)
      argp_error(state, "--idle-exit is a time from 1ms, not \"%s\"", argument);
    return 0;
  case OPTION_TRACK: take_track(command, argument); return 0;
  case OPTION_COMPARE: command->compare = argument; return 0;
  case OPTION_HTML: command->html = argument; return 0;
  case 'F': command->input.follow = true; return 0;
  case OPTION_HTML + 1: command->input.hold = argument; return 0;
  case OPTION_OFFER: add_offer(&command->offers.roots, argument, state); return 0;
  case OPTION_SLEW: add_slew(command, argument, state); return 0;
  case ARGP_KEY_INIT:
    command->input.may_be_none = true;
    state->child_inputs[0] = &command->input;
    return 0;
  case ARGP_KEY_END: check(command, state); return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp_child children[] = {
    {&tool_input_options, 0, "How the traces are read, and which of their events are shown:", 1}, {0}};

static const struct argp parser = {
    .children = children,
    .options = options,
    .parser = parse,
    .args_doc = "[TRACE|PID|NAME...]",
    .doc = "Show traces in a browser, until Ctrl-C. The address that is printed contains a secret of this "
           "run: who knows it can read the traces.\v--begin, --end and --filter are where the page begins; "
           "with --html, what the file has.\n\nThe index of the traces is kept for the next start in "
           "$XDG_CACHE_HOME/kymo (~/.cache/kymo), in files view-* that have at most 4 GiB together. They may "
           "be removed at any time.",
};

/* ---- serving ---- */

/* What is shown, what the page asks for in its place, and what may be asked for. */
struct viewing {
  struct command *command;
  struct tool_traces *shown, *next, other;
  struct tool_traces_options options;
};

static int ready(void *user, const char *address, unsigned port) {
  struct command *command = ((struct viewing *)user)->command;
  puts(address);
  if (fflush(stdout) != 0) {
    tool_say("standard output: the address cannot be written");
    return KYMO_E_SYSTEM;
  }
  tool_browser_open(&command->browser, address, port, !command->no_browser);
  return KYMO_OK;
}

static const struct serve_offer *offers(void *user, size_t *count) {
  return tool_offers_list(&((struct viewing *)user)->command->offers, count);
}

static void describe(struct serve_traces *out, const struct tool_traces *traces) {
  out->view = traces->input.count ? &traces->options : NULL;
  out->file_count = traces->input.count;
  out->title = traces->title;
  out->command = traces->command;
  out->gist_clock = traces->input.gist_clock;
  out->cpel_clock = traces->input.cpel_clock;
}

/* The input for what the page asks for: as the command line says, or as it was shown last. */
static bool ask_for(struct tool_traces *next, const struct viewing *viewing,
                    const struct serve_change *change) {
  const struct tool_traces *shown = viewing->shown;
  struct tool_input *input = &next->input;
  const char *path =
      change->has_offer ? tool_offers_path(&viewing->command->offers, change->offer) : shown->own;
  *input = shown->input;
  input->quiet = viewing->command->input.quiet;
  input->paths = shown->words;
  if (change->has_gist_clock)
    input->gist_clock = change->gist_clock;
  if (change->has_cpel_clock)
    input->cpel_clock = change->cpel_clock;
  if (!path)
    return !change->has_offer;
  next->own = strdup(path);
  if (!next->own)
    tool_end_without_memory();
  input->paths = (const char **)&next->own;
  input->count = 1;
  input->clock_offsets = input->clock_offsets_ns = (struct tool_texts){0};
  return true;
}

static void give_up(struct tool_traces *traces) {
  tool_traces_free(traces);
  free(traces);
}

static int change(void *user, const struct serve_change *change, struct serve_traces *out,
                  struct kymo_error *error) {
  struct viewing *viewing = user;
  struct tool_traces *next = calloc(1, sizeof *next);
  if (!next)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  int status = ask_for(next, viewing, change)
                   ? KYMO_OK
                   : kymo_fail(error, KYMO_E_ABSENT, "there is no such trace in the list");
  if (status == KYMO_OK && tool_traces_prepare(next, &viewing->options) != TOOL_OK)
    status =
        kymo_fail(error, KYMO_E_SYSTEM, "the traces cannot be opened; the terminal of kymo view says why");
  if (status != KYMO_OK) {
    give_up(next);
    return status;
  }
  viewing->next = next;
  *out = (struct serve_traces){0};
  describe(out, next);
  return KYMO_OK;
}

static void changed(void *user, bool is_done) {
  struct viewing *viewing = user;
  give_up(is_done ? viewing->shown : viewing->next);
  if (is_done)
    viewing->shown = viewing->next;
  viewing->next = NULL;
}

/* Where the page begins; the traces themselves are read without it. Returns an exit status. */
static int start_at(struct serve_traces *start, struct tool_input *input) {
  struct kymo_trace *trace;
  struct tool_window window;
  if (!input->filter && !input->begin && !input->end)
    return TOOL_OK;
  int status = tool_open(&trace, input);
  if (status == TOOL_OK && (status = tool_window_parse(&window, input)) == TOOL_OK)
    status = tool_window_apply(&window, trace, false);
  if (status == TOOL_OK) {
    start->filter = input->filter;
    start->has_begin = input->begin;
    start->has_end = input->end;
    start->begin_ns = input->begin ? window.begin.ns : 0;
    start->end_ns = input->end ? window.end.ns : 0;
    input->filter = input->begin = input->end = NULL;
    input->quiet = true;
  }
  kymo_trace_close(trace);
  return status;
}

/* Says why the index is not kept. */
static void check_cache(const struct viewing *viewing) {
  char folder[PATH_MAX];
  const struct tool_traces *shown = viewing->shown;
  if (!shown->options.is_kept || !shown->input.count || shown->input.quiet)
    return;
  if (!kymo_cache_folder(folder, sizeof folder))
    tool_say("the index is not kept for the next start: neither $XDG_CACHE_HOME nor $HOME is a folder");
  else if (!kymo_cache_make(folder))
    tool_say("the index is not kept for the next start: %s: %s", folder, strerror(errno));
}

static int serve_traces(struct viewing *viewing, struct serve_options *serving) {
  struct command *command = viewing->command;
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  serving->port = command->port;
  serving->idle_ns = command->idle_ns;
  serving->ready = ready;
  serving->offers = offers;
  serving->change = change;
  serving->changed = changed;
  serving->user = viewing;
  int status = serve(serving, &error);
  tool_browser_close(&command->browser);
  if (status == KYMO_OK)
    return TOOL_OK;
  if (viewing->shown->is_said || viewing->other.is_said)
    return viewing->shown->is_said ? viewing->shown->status : viewing->other.status;
  if (*error.message)
    tool_say_error(&error);
  return status == KYMO_E_USAGE ? TOOL_USAGE : TOOL_FAILED;
}

static int run_server(struct command *command) {
  struct viewing viewing = {.command = command,
                            .shown = calloc(1, sizeof *viewing.shown),
                            .other = {.input = command->input},
                            .options = {command->by, command->field, true}};
  struct serve_options serving = {0};
  struct tool_input *input = &viewing.other.input;
  if (!viewing.shown)
    tool_end_without_memory();
  int status = start_at(&serving.traces, input);
  viewing.shown->input = *input;
  input->paths = &command->compare;
  input->count = 1;
  input->clock_offsets = input->clock_offsets_ns = (struct tool_texts){0};
  if (status == TOOL_OK)
    status = tool_traces_prepare(viewing.shown, &viewing.options);
  if (status == TOOL_OK && command->compare)
    status = tool_traces_prepare(&viewing.other, &viewing.options);
  describe(&serving.traces, viewing.shown);
  serving.traces.slews = command->slews;
  serving.traces.slew_count = command->slew_count;
  serving.other = command->compare ? &viewing.other.options : NULL;
  serving.other_title = viewing.other.title;
  if (status == TOOL_OK) {
    check_cache(&viewing);
    status = serve_traces(&viewing, &serving);
  }
  give_up(viewing.shown);
  tool_traces_free(&viewing.other);
  return status;
}

static int run_html(struct command *command) {
  struct tool_traces traces = {.input = command->input};
  int status =
      tool_traces_prepare(&traces, &(struct tool_traces_options){command->by, command->field, false});
  if (status == TOOL_OK)
    status = tool_view_html(command->html, &traces, command->input.quiet);
  tool_traces_free(&traces);
  return status;
}

static int run(int argc, char **argv) {
  struct command command = {0};
  tool_parse(&parser, argc, argv, 0, NULL, &command);
  int status = command.html ? run_html(&command) : run_server(&command);
  tool_input_free(&command.input);
  tool_offers_free(&command.offers);
  free_slews(&command);
  return status;
}

const struct tool_command tool_view = {
    .name = "view",
    .summary = "show traces in a browser",
    .run = run,
};
