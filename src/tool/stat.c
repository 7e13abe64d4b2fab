/* SPDX-License-Identifier: MIT */
/*
 * kymo stat: prints what a running process records, and loses (stat/counters.h), from its rings, which the
 * process need not know about; or computes statistics of traces (stat/run.h).
 *
 *   process 1234 (server), overwrite
 *       TID  THREAD                 EVENTS    EVENTS/S        LOST    LOST/S  BUFFER
 *      1240  worker               12345678      250000           0         0     75%
 */
#include "base/nearest.h"
#include "live/client.h"
#include "ring/places.h"
#include "stat/counters.h"
#include "stat/run.h"
#include "tool/filter.h"
#include "tool/input.h"
#include "tool/jobs_count.h"
#include "tool/rings.h"
#include "tool/words.h"
#include <argp.h>
#include <ctype.h>
#include <inttypes.h>
#include <kymo/live.h>
#include <kymo/time.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* ---- of traces ---- */

enum {
  OPTION_FROM = 256,
  OPTION_TO,
  OPTION_KEY,
  OPTION_BY,
  OPTION_SORT,
  OPTION_PREFIX,
  OPTION_WORST,
  OPTION_SCATTER,
  OPTION_JSON,
  OPTION_CSV,
  OPTION_KERNEL,
  OPTION_TOP,
  OPTION_MEMORY,
  OPTION_JOBS,
  OPTION_WHY
};

struct statistics {
  struct tool_input input;
  struct kymo_statistics run;
  uint32_t given; /* which of our options were given: 1 << (key - OPTION_FROM) */
  bool wants_scatter;
  unsigned jobs; /* 0: it is not given */
  struct kymo_out out;
  struct kymo_error error;
};

/* Options that not all kinds know. */
static const struct limit {
  int option;
  unsigned takes;
} limits[] = {
    {OPTION_FROM, KYMO_STAT_TAKES_EDGES},
    {OPTION_TO, KYMO_STAT_TAKES_EDGES},
    {OPTION_KEY, KYMO_STAT_TAKES_KEY},
    {OPTION_BY, KYMO_STAT_TAKES_BY},
    {OPTION_WORST, KYMO_STAT_TAKES_LONGEST | KYMO_STAT_TAKES_WORST},
    {OPTION_SCATTER, KYMO_STAT_TAKES_LONGEST},
    {OPTION_WHY, KYMO_STAT_TAKES_WHY},
    {OPTION_MEMORY, KYMO_STAT_TAKES_MEMORY},
    {OPTION_KERNEL, KYMO_STAT_TAKES_VPP},
};

static bool list_kind(size_t index, struct tool_row *row) {
  const struct kymo_stat_kind *kind = &kymo_stat_kinds[index];
  if (kind->name)
    *row = (struct tool_row){kind->name, kind->summary};
  return kind->name;
}

static char *statistics_help(int key, const char *text, void *input) {
  (void)input;
  return tool_help_table(key, text, "Statistics:", list_kind);
}

static struct kymo_hint statistics_hint(const char *word) { return tool_row_hint(word, list_kind); }

/* ---- of traces: command line ---- */

static const struct argp_option statistics_options[] = {
    {"from", OPTION_FROM, "EVENT", 0,
     "The event that begins: a name, glob, re:REGEX or the number of its class", 0},
    {"to", OPTION_TO, "EVENT", 0, "The event that ends", 0},
    {"key", OPTION_KEY, "FIELD", 0, "Field that connects begin and end (default: the track)", 0},
    {"by", OPTION_BY, "FIELD", 0, "Group by: track, event, or a field", 0},
    {"sort", OPTION_SORT, "ORDER", 0,
     "total (default), count, mean, max or name; of functions and spans also self", 0},
    {"prefix", OPTION_PREFIX, "TEXT", 0, "Only groups whose names begin with TEXT", 0},
    {"top", OPTION_TOP, "COUNT", 0, "Only the first COUNT groups", 0},
    {"memory", OPTION_MEMORY, "BYTES", 0,
     "Memory for groups; further groups go to a temporary file (default 256M)", 0},
    {"jobs", OPTION_JOBS, "COUNT", 0,
     "How many processes read the traces (default: one; for counts of 64 MiB of packets or more, one for "
     "each processor). The figures are the same",
     0},
    {"worst", OPTION_WORST, "COUNT", 0,
     "How many of the longest are listed (5, at most 100); as CSV, only these", 0},
    {"why", OPTION_WHY, NULL, 0, "What the threads of the spans did, by the events of a kernel", 0},
    {"scatter", OPTION_SCATTER, NULL, 0, "Each time as one line of CSV: begin, duration, group", 0},
    {"format", 'f', "FORMAT", 0,
     "text (default), json, csv; of latency and state vpp: as cpelatency and cpelstate", 0},
    {"kernel-included", OPTION_KERNEL, NULL, 0,
     "With --format vpp: also tracks that are called \"kernel ...\"", 0},
    {"json", OPTION_JSON, NULL, 0, "The same as --format json", 0},
    {"csv", OPTION_CSV, NULL, 0, "The same as --format csv", 0},
    {0},
};

static void take_format(struct argp_state *state, struct statistics *statistics, const char *word) {
  static const char *const formats[] = {"text", "json", "csv", "vpp", NULL};
  int form = tool_word(word, formats);
  tool_filter_refuse_letter(word, state);
  if (form < 0)
    argp_error(state, "--format is text, json, csv or vpp, not \"%s\"%s", word,
               tool_word_hint(word, formats).text);
  statistics->run.report.form = (enum kymo_report_form)form;
}

static void take_order(struct argp_state *state, struct statistics *statistics, const char *word) {
  static const char *const orders[] = {"total", "count", "mean", "max", "name", "self", NULL};
  int order = tool_word(word, orders);
  if (order < 0)
    argp_error(state, "--sort is total, count, mean, max, name or self, not \"%s\"%s", word,
               tool_word_hint(word, orders).text);
  statistics->run.report.order = (enum kymo_report_order)order;
}

static void take_top(struct argp_state *state, struct statistics *statistics, const char *word) {
  char *end;
  unsigned long count = strtoul(word, &end, 10);
  if (*word < '0' || *word > '9' || *end || count == 0 || count > 1000000000)
    argp_error(state, "--top is a number from 1, not \"%s\"", word);
  statistics->run.report.top = count;
}

static void take_memory(struct argp_state *state, struct statistics *statistics, const char *word) {
  static const char units[] = "KMG";
  char *end;
  unsigned long long bytes = strtoull(word, &end, 10);
  const char *unit = *end ? strchr(units, *end) : NULL;
  if (*word < '0' || *word > '9' || bytes == 0 || bytes > 1 << 20 || (unit ? end[1] : *end))
    argp_error(state, "--memory is a size as 64M or 1G, not \"%s\"", word);
  uint64_t wanted = (uint64_t)bytes << (unit ? 10 * (unit - units + 1) : 0);
  statistics->run.memory_bytes = wanted < SIZE_MAX / 4 ? (size_t)wanted : SIZE_MAX / 4;
}

static void take_worst(struct argp_state *state, struct statistics *statistics, const char *word) {
  char *end;
  unsigned long count = strtoul(word, &end, 10);
  if (!*word || *end || count > KYMO_WORST_MAX)
    argp_error(state, "--worst is a number up to %d, not \"%s\"", KYMO_WORST_MAX, word);
  statistics->run.worst = (unsigned)count;
  statistics->run.wants_worst = true;
}

static error_t parse_statistics(int key, char *argument, struct argp_state *state) {
  struct statistics *statistics = state->input;
  if (key >= OPTION_FROM && key < OPTION_FROM + 32)
    statistics->given |= 1u << (key - OPTION_FROM);
  switch (key) {
  case OPTION_FROM: statistics->run.from = argument; return 0;
  case OPTION_TO: statistics->run.to = argument; return 0;
  case OPTION_KEY: statistics->run.key = argument; return 0;
  case OPTION_BY: statistics->run.by = argument; return 0;
  case OPTION_SORT: take_order(state, statistics, argument); return 0;
  case OPTION_PREFIX: statistics->run.report.prefix = argument; return 0;
  case OPTION_TOP: take_top(state, statistics, argument); return 0;
  case OPTION_JOBS: statistics->jobs = tool_jobs_parse(argument, state); return 0;
  case OPTION_MEMORY: take_memory(state, statistics, argument); return 0;
  case OPTION_WORST: take_worst(state, statistics, argument); return 0;
  case OPTION_WHY: statistics->run.wants_why = true; return 0;
  case OPTION_SCATTER: statistics->wants_scatter = true; return 0;
  case 'f': take_format(state, statistics, argument); return 0;
  case OPTION_JSON: statistics->run.report.form = KYMO_REPORT_JSON; return 0;
  case OPTION_KERNEL: statistics->run.report.with_kernel = true; return 0;
  case OPTION_CSV: statistics->run.report.form = KYMO_REPORT_CSV; return 0;
  case ARGP_KEY_INIT: state->child_inputs[0] = &statistics->input; return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp_child children[] = {
    {&tool_input_options, 0, "How the traces are read, and which of their events are used:", 1}, {0}};

enum { OPTIONS = sizeof statistics_options / sizeof *statistics_options };

static const struct limit *find_limit(int option) {
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
    if (limits[i].option == option)
      return &limits[i];
  return NULL;
}

/* Under the name "kymo stat KIND"; the help lists what this kind accepts. */
static void parse_arguments(struct statistics *statistics, const struct kymo_stat_kind *kind, int argc,
                            char **argv) {
  struct argp_option own[OPTIONS];
  char name[64], doc[512];
  memcpy(own, statistics_options, sizeof own);
  for (size_t i = 0; i < OPTIONS; i++) {
    const struct limit *limit = find_limit(own[i].key);
    if (limit && !(kind->takes & limit->takes))
      own[i].flags |= OPTION_HIDDEN;
  }
  snprintf(doc, sizeof doc, "%c%s, in one pass.%s%s\v", toupper((unsigned char)*kind->summary),
           kind->summary + 1, kind->doc ? " " : "", kind->doc ? kind->doc : "");
  const struct argp parser = {.options = own,
                              .children = children,
                              .parser = parse_statistics,
                              .doc = doc,
                              .args_doc = kind->arguments ? kind->arguments : "TRACE..."};
  snprintf(name, sizeof name, "%s %s", argv[0], kind->name);
  char *word = argv[1];
  argv[1] = name; /* as messages shall call it */
  tool_parse(&parser, argc - 1, argv + 1, 0, NULL, statistics);
  argv[1] = word;
}

/* ---- of traces: work ---- */

/* Whether the form can contain losses; else they are reported on stderr. */
static bool says_losses(const struct statistics *statistics) {
  enum kymo_report_form form = statistics->run.report.form;
  return (form == KYMO_REPORT_TEXT || form == KYMO_REPORT_JSON) && !statistics->wants_scatter;
}

/* Figures of an incomplete trace are computed from its events. */
static void report_losses(const struct statistics *statistics) {
  struct kymo_losses losses;
  char text[TOOL_LOSSES_MAX];
  kymo_trace_losses(statistics->run.trace, &losses);
  if (!tool_losses_text(losses, text) || !says_losses(statistics))
    return;
  if (statistics->run.report.form == KYMO_REPORT_TEXT)
    kymo_report_put(&statistics->run.report,
                    "the trace is incomplete: %s; the figures are computed from the other events\n", text);
  else
    kymo_report_put(&statistics->run.report,
                    "{\"lost\":{\"events\":%" PRIu64 ",\"packets\":%" PRIu64 ",\"unknown\":%" PRIu64 "}}\n",
                    losses.events, losses.packets, losses.unknown);
}

static void scatter(void *user, const struct kymo_worst *pair) {
  struct statistics *statistics = user;
  char *at = kymo_out_room(&statistics->out, 64);
  at = kymo_put_i64(at, pair->begin_ns);
  *at++ = ',';
  at = kymo_put_i64(at, pair->duration_ns);
  *at++ = ',';
  statistics->out.at = at;
  kymo_report_put_csv_text(&statistics->run.report, pair->group->name);
  kymo_out_byte(&statistics->out, '\n');
}

static void warn(void *user, const char *text) {
  const struct statistics *statistics = user;
  if (!statistics->input.quiet)
    tool_say("%s", text);
}

/* Only counts can be added up exactly, whatever they are counts of. */
static int count_apart(void *user, struct kymo_tally *tally) {
  struct statistics *statistics = user;
  enum tool_jobs_result result = tool_jobs_count(statistics->run.trace, tally, statistics->jobs);
  if (result == TOOL_JOBS_FAILED) /* it has said why */
    exit(TOOL_FAILED);
  return result == TOOL_JOBS_DONE ? KYMO_OK : KYMO_E_ABSENT;
}

static int begin(struct statistics *statistics, struct kymo_strbuf *command) {
  struct kymo_statistics *run = &statistics->run;
  tool_input_command(command, &statistics->input);
  if (command->failed) {
    snprintf(statistics->error.message, sizeof statistics->error.message, "out of memory");
    return KYMO_E_MEMORY;
  }
  run->report.command = command->text;
  run->report.out = &statistics->out;
  run->error = &statistics->error;
  run->warn = warn;
  run->user = statistics;
  run->count_apart = count_apart;
  run->each = statistics->wants_scatter ? scatter : NULL;
  int status = kymo_out_begin(&statistics->out, stdout, &statistics->error);
  if (status == KYMO_OK && statistics->wants_scatter)
    kymo_out_literal(&statistics->out, "begin,duration,group\n");
  return status;
}

static int measure(struct statistics *statistics, const struct kymo_stat_kind *kind) {
  struct kymo_error *error = &statistics->error;
  struct kymo_strbuf command = {0};
  const struct kymo_report_rows *rows = &statistics->run.rows;
  int status = begin(statistics, &command);
  if (status == KYMO_OK)
    status = kymo_statistics_run(&statistics->run, kind);
  if (status == KYMO_OK)
    report_losses(statistics);
  int said = status;
  if (said < 0)
    tool_say_error(error);
  bool has_rest = statistics->run.report.form != KYMO_REPORT_CSV &&
                  statistics->run.report.form != KYMO_REPORT_VPP; /* kymo_report_rest */
  if (!has_rest && rows->shown < rows->all && !statistics->input.quiet)
    tool_say("%" PRIu64 " of %" PRIu64 " rows are shown (--top)", rows->shown, rows->all);
  if (statistics->out.data && kymo_out_finish(&statistics->out, error) < 0 && said == KYMO_OK) {
    tool_say_error(error);
    status = KYMO_E_SYSTEM;
  }
  kymo_strbuf_free(&command);
  return status == KYMO_E_USAGE ? TOOL_USAGE : status < 0 ? tool_status_of(status) : TOOL_OK;
}

/* Applies the arguments to the kind of statistics. Returns an exit status; reports the reason on failure. */
static int settle(struct statistics *statistics, const struct kymo_stat_kind *kind) {
  struct tool_input *input = &statistics->input;
  /* for these two --event selects the measured events, and all events are counted */
  if (kind->takes & KYMO_STAT_TAKES_EVENTS) {
    statistics->run.events = input->events.list;
    statistics->run.event_count = input->events.count;
    input->events.count = 0;
  }
  if (kind->takes & KYMO_STAT_TAKES_FIELD) {
    statistics->run.field = *input->paths++;
    if (--input->count == 0) {
      tool_say("histogram: expected FIELD TRACE..., found \"%s\" alone", statistics->run.field);
      return TOOL_USAGE;
    }
  }
  if (statistics->run.report.form == KYMO_REPORT_VPP && !(kind->takes & KYMO_STAT_TAKES_VPP)) {
    tool_say("%s: --format vpp is for latency and state", kind->name);
    return TOOL_USAGE;
  }
  if (statistics->run.report.order == KYMO_ORDER_SELF && !(kind->takes & KYMO_STAT_TAKES_SELF)) {
    tool_say("%s: --sort self is for functions and spans", kind->name);
    return TOOL_USAGE;
  }
  if (statistics->run.key && !(kind->takes & KYMO_STAT_TAKES_KEY)) {
    tool_say("%s: there is no --key FIELD; a file that describes the traces is given by --description",
             kind->name);
    return TOOL_USAGE;
  }
  for (size_t i = 0; i < OPTIONS; i++) {
    const struct limit *limit = find_limit(statistics_options[i].key);
    if (limit && !(kind->takes & limit->takes) && statistics->given & 1u << (limit->option - OPTION_FROM)) {
      tool_say("%s: there is no --%s", kind->name, statistics_options[i].name);
      return TOOL_USAGE;
    }
  }
  return TOOL_OK;
}

static int run_statistics(int argc, char **argv) {
  const struct kymo_stat_kind *kind = kymo_stat_find_kind(argv[1]);
  struct statistics statistics = {
      .run = {.worst = 5, .memory_bytes = KYMO_SPILL_BYTES, .report = {.width = tool_columns()}},
      .error = {.offset = KYMO_ERROR_NO_OFFSET}};
  parse_arguments(&statistics, kind, argc, argv);
  int status = settle(&statistics, kind);
  if (status == TOOL_OK)
    status = tool_open(&statistics.run.trace, &statistics.input);
  if (status == TOOL_OK) {
    size_t warnings = kymo_trace_warning_count(statistics.run.trace);
    status = measure(&statistics, kind);
    tool_print_warnings(statistics.run.trace, warnings, statistics.input.quiet);
    int end = tool_end_trace(statistics.run.trace, statistics.input.quiet,
                             says_losses(&statistics) ? TOOL_LOSSES_SAID : TOOL_LOSSES_SAY);
    status = status == TOOL_OK ? end : status;
  }
  kymo_trace_close(statistics.run.trace);
  tool_input_free(&statistics.input);
  return status;
}

/* ---- of a process: command line ---- */

struct process_stat {
  int pid;
  char *rings; /* of a process that was given by its name; else NULL */
  int64_t interval_ns;
  bool once, json;
  bool is_live; /* on a terminal: replaces the previous table */
};

enum { OPTION_ONCE = 256 };

static const struct argp_option process_options[] = {
    {"interval", 'i', "TIME", 0, "Time between two readings of the rings; default 1s", 0},
    {"once", OPTION_ONCE, NULL, 0, "Print one interval and stop", 0},
    {"json", 'j', NULL, 0, "Print one line of JSON per interval", 0},
    {0},
};

/* A live process, if there is one, since a dead one does nothing more. */
static void take_name(struct process_stat *stat, const char *name, struct argp_state *state) {
  struct kymo_hint program = {""}, kind = statistics_hint(name);
  char rings[KYMO_PATH_MAX];
  int found = tool_rings_may_name(name) ? tool_rings_named(rings, name, true, &program) : TOOL_FAILED;
  if (found == TOOL_USAGE)
    exit(TOOL_USAGE);
  if (found != TOOL_OK && !*kind.text && !access(name, F_OK))
    argp_error(state,
               "which statistics of the trace %s? For example: kymo stat latency %s, kymo stat counts %s",
               name, name, name);
  else if (found != TOOL_OK)
    argp_error(state,
               "expected the number or name of a process, or a kind of statistics and traces, found \"%s\"%s",
               name, *kind.text ? kind.text : program.text);
  else if (!(stat->rings = strdup(rings)))
    tool_end_without_memory();
}

static error_t parse_process(int key, char *argument, struct argp_state *state) {
  struct process_stat *stat = state->input;
  struct kymo_time_mistake mistake;
  switch (key) {
  case 'i':
    if (!kymo_duration_parse(&stat->interval_ns, argument, &mistake) || stat->interval_ns < 1000000)
      argp_error(state, "--interval is a time from 1ms, not \"%s\"", argument);
    return 0;
  case OPTION_ONCE: stat->once = true; return 0;
  case 'j': stat->json = true; return 0;
  case ARGP_KEY_ARG:
    if (state->arg_num)
      return ARGP_ERR_UNKNOWN;
    stat->pid = kymo_pid_of(argument);
    if (stat->pid < 0)
      take_name(stat, argument, state);
    return 0;
  case ARGP_KEY_NO_ARGS: argp_error(state, "of which process?"); return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp process_parser = {
    .options = process_options,
    .parser = parse_process,
    .args_doc = "PID|NAME\nSTATISTICS TRACE...\nhistogram FIELD TRACE...",
    .doc =
        "Print how many events the threads of a running process record, how many are lost, and how full its "
        "rings are, again "
        "and again until it ends. The process need not respond. For traces: compute statistics in one pass; "
        "kymo help stat latency "
        "shows the options of latency, and so on.\v",
    .help_filter = statistics_help,
};

/* ---- of a process: work ---- */

static size_t rows_of_terminal(void) {
  struct winsize size;
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_row ? 24 : size.ws_row;
}

/* The lines before the table. */
static void print_who(const struct process_stat *stat, const struct kymo_counts *counts) {
  char who[128];
  if (stat->is_live)
    tool_clear_screen();
  tool_print_safe(kymo_process_name(stat->pid, who, sizeof who));
  if (!strchr(who, '(')) { /* it is dead */
    printf(" (");
    tool_print_safe(kymo_counts_name(counts, KYMO_COUNTS_SUM));
    putchar(')');
  }
  printf(", %s\n", kymo_ring_counters_mode(counts));
}

static void print_counters(const struct process_stat *stat, const struct kymo_counts *counts,
                           const struct kymo_ring_counters *before, const struct kymo_ring_counters *now) {
  enum { OTHER_LINES = 5 };
  struct kymo_strbuf text = {0};
  size_t rows = stat->is_live ? rows_of_terminal() : SIZE_MAX;
  if (stat->json) {
    kymo_ring_counters_json(&text, stat->pid, counts, before, now);
  } else {
    print_who(stat, counts);
    kymo_ring_counters_table(&text, before, now, tool_columns(), rows > OTHER_LINES ? rows - OTHER_LINES : 0);
  }
  if (text.failed)
    tool_end_without_memory();
  fputs(text.text, stdout);
  kymo_strbuf_free(&text);
}

static void wait_ns(int64_t ns) {
  struct timespec pause = {ns / 1000000000, ns % 1000000000};
  while (nanosleep(&pause, &pause)) {
  }
}

static int watch(const struct process_stat *stat, struct kymo_counts *counts) {
  struct kymo_ring_counters before, now;
  bool ok = kymo_ring_counters_read(&before, counts);
  if (ok && !stat->is_live && !stat->once && !stat->json &&
      !before.is_over) /* in a pipe nothing shows that it goes on */
    tool_say("until the process ends: Ctrl-C stops it earlier, --once prints one table");
  while (ok) {
    wait_ns(stat->interval_ns);
    ok = kymo_ring_counters_read(&now, counts);
    if (ok)
      print_counters(stat, counts, &before, &now);
    kymo_ring_counters_free(&before);
    before = now;
    if (fflush(stdout) || stat->once || now.is_over)
      break;
  }
  kymo_ring_counters_free(&before);
  if (!ok)
    tool_say("out of memory");
  return ok ? TOOL_OK : TOOL_FAILED;
}

/* A process that exists and has recorded nothing has no rings. */
static int no_rings(const struct process_stat *stat, const struct kymo_error *error) {
  struct kymo_client client;
  struct kymo_error refused = {.offset = KYMO_ERROR_NO_OFFSET};
  char who[128];
  int status = kymo_client_once(&client, stat->pid, "info", &refused);
  kymo_client_close(&client);
  if (status)
    tool_say_error(refused.code == KYMO_E_UNKNOWN && error->code != KYMO_E_ABSENT ? &refused : error);
  else
    tool_say("%s has no rings: no tracepoint was ever enabled",
             kymo_process_name(stat->pid, who, sizeof who));
  return TOOL_FAILED;
}

/* Reads the rings of the process and prints until it ends. Returns an exit status. */
static int watch_process(struct process_stat *stat) {
  char rings[KYMO_PATH_MAX];
  struct kymo_counts *counts;
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  int status = stat->rings ? KYMO_OK : kymo_process_rings(rings, sizeof rings, stat->pid, &error);
  if (status)
    return no_rings(stat, &error);
  status = kymo_counts_open(&counts, stat->rings ? stat->rings : rings, &error);
  if (status) {
    tool_say_error(&error);
    return TOOL_FAILED;
  }
  if (stat->rings)
    stat->pid = (int)kymo_counts_number(counts, KYMO_COUNTS_SUM, KYMO_COUNT_PID);
  int result = watch(stat, counts);
  kymo_counts_close(counts);
  return result;
}

/* ---- both ---- */

/* The help for a misspelt kind of statistics would be that of kymo stat. */
static bool is_misspelt_help(int argc, char **argv) {
  struct kymo_hint hint = statistics_hint(argv[1]);
  bool is_help = *argv[1] != '-' && *hint.text && strcmp(argv[argc - 1], "--help") == 0;
  if (is_help)
    tool_say("there is no kind of statistics \"%s\"%s", argv[1], hint.text);
  return is_help;
}

static int run(int argc, char **argv) {
  if (argc > 1 && kymo_stat_find_kind(argv[1]))
    return run_statistics(argc, argv);
  if (argc > 1 && is_misspelt_help(argc, argv))
    return TOOL_USAGE;
  struct process_stat stat = {.interval_ns = 1000000000};
  tool_parse(&process_parser, argc, argv, 0, NULL, &stat);
  stat.is_live = !stat.once && !stat.json && isatty(STDOUT_FILENO);
  int status = watch_process(&stat);
  free(stat.rings);
  return status == TOOL_OK ? tool_close_output() : status;
}

const struct tool_command tool_stat = {
    .name = "stat",
    .summary = "print what a process records and loses, or statistics of traces",
    .run = run,
};
