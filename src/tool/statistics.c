/* SPDX-License-Identifier: MIT */
/* Statistics of traces: one pass, and memory by the number of groups. */
#include "tool/statistics.h"
#include "base/pattern.h"
#include "stat/libc.h"
#include "stat/functions.h"
#include "stat/latencies.h"
#include "stat/spill.h"
#include "stat/vpp.h"
#include "tool/input.h"
#include "tool/filter.h"
#include "tool/select.h"
#include "tool/words.h"
#include <ctype.h>
#include <inttypes.h>
#include <kymo/filter.h>
#include <stdlib.h>
#include <string.h>

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
  OPTION_MEMORY
};

struct statistics {
  struct tool_input input;
  const char *from, *to, *key, *by, *field; /* field: of the histogram */
  struct tool_texts events; /* of state and distance: what is measured; borrowed from the input */
  struct kymo_report report;
  struct kymo_report_rows rows;
  size_t memory_bytes; /* for groups, before they go to a file */
  unsigned worst;
  bool wants_worst; /* they were asked for */
  uint32_t given;   /* which options of our own: 1 << (key - OPTION_FROM) */
  bool wants_scatter;
  /* while running */
  struct kymo_trace *trace;
  struct kymo_whos whos;
  struct kymo_out out;
  struct kymo_edges edges;
  struct kymo_gaps gaps;
  struct kymo_error error;
};

/* One kind of statistics. */
struct kind {
  const char *name, *summary;
  const char *arguments, *doc; /* for the help of this kind alone; NULL: TRACE..., no more than the summary */
  unsigned takes;              /* which of the options in `limits` */
  int (*run)(struct statistics *statistics); /* KYMO_OK, or negative with the error */
};

/* ---- which events ---- */

static int no_memory(struct statistics *statistics) {
  snprintf(statistics->error.message, sizeof statistics->error.message, "out of memory");
  return statistics->error.code = KYMO_E_MEMORY;
}

/* A pattern, or the number of a class: "2". */
struct wanted {
  struct kymo_patterns *patterns;
  bool is_number;
  uint64_t number;
};

static int wanted_begin(struct wanted *wanted, const char *option, const char *text,
                        struct kymo_error *error) {
  const char *wrong = NULL;
  char *end;
  *wanted = (struct wanted){0};
  wanted->number = strtoull(text, &end, 10);
  wanted->is_number = *text && !*end;
  wanted->patterns = kymo_patterns_new(text, &wrong);
  if (wanted->patterns || wanted->is_number)
    return KYMO_OK;
  snprintf(error->message, sizeof error->message, "%s %s: %s", option, text, wrong);
  return error->code = wrong == kymo_patterns_no_memory ? KYMO_E_MEMORY : KYMO_E_USAGE;
}

static bool wanted_is(void *user, const struct kymo_event_class *class_) {
  const struct wanted *wanted = user;
  return (wanted->patterns && kymo_patterns_match(wanted->patterns, class_->name)) ||
         (wanted->is_number && wanted->number == class_->id);
}

/* Gives the role to all classes that match. */
static int add_role(struct statistics *statistics, const char *option, const char *text, uint8_t role) {
  struct wanted wanted;
  int status = wanted_begin(&wanted, option, text, &statistics->error);
  size_t count = status == KYMO_OK ? kymo_edges_add(&statistics->edges, role, wanted_is, &wanted) : 0;
  kymo_patterns_free(wanted.patterns);
  if (status != KYMO_OK || count)
    return status;
  struct kymo_hint hint = tool_event_hint(statistics->trace, text);
  snprintf(statistics->error.message, sizeof statistics->error.message,
           "%s %s: the traces have no event of such a name%s", option, text, hint.text);
  return statistics->error.code = KYMO_E_USAGE;
}

/* The classes of --from and --to. */
static int add_edges(struct statistics *statistics) {
  int status = add_role(statistics, "--from", statistics->from, KYMO_PAIR_BEGINS);
  if (status == KYMO_OK)
    status = add_role(statistics, "--to", statistics->to, KYMO_PAIR_ENDS);
  if (status == KYMO_OK && kymo_edges_find_kinds(&statistics->edges) != KYMO_OK)
    status = no_memory(statistics);
  return status;
}

/* ---- between events ---- */

static void scatter(void *user, const struct kymo_worst *pair) {
  struct statistics *statistics = user;
  char *at = kymo_out_room(&statistics->out, 64);
  at = kymo_put_i64(at, pair->begin_ns);
  *at++ = ',';
  at = kymo_put_i64(at, pair->duration_ns);
  *at++ = ',';
  statistics->out.at = at;
  kymo_report_put_csv_text(&statistics->report, pair->group->name);
  kymo_out_byte(&statistics->out, '\n');
}

static int read_events(struct statistics *statistics,
                       int (*take)(void *state, const struct kymo_event *event), void *state) {
  const struct kymo_event *event;
  int status;
  while ((status = kymo_get_next_filtered(statistics->trace, &event, &statistics->error)) == KYMO_OK) {
    if (event->is_damaged)
      kymo_gaps_damage(&statistics->gaps, event);
    int taken = take(state, event);
    if (taken != KYMO_OK)
      return taken == KYMO_E_SYSTEM ? taken : no_memory(statistics);
  }
  return status < 0 ? status : KYMO_OK;
}

static int take_pair(void *pairs, const struct kymo_event *event) { return kymo_pairs_event(pairs, event); }

/* The table, and what follows it. */
static int report_pairs(struct statistics *statistics, struct kymo_pairs *pairs) {
  struct kymo_report *report = &statistics->report;
  struct kymo_samples all = {0};
  struct kymo_vpp vpp = {
      .is_state = pairs->is_charged_to_begin, .from = statistics->from, .to = statistics->to};
  int status = kymo_pairs_settle(pairs, report, &all), made = KYMO_OK;
  bool is_worst = report->form == KYMO_REPORT_CSV && statistics->wants_worst;
  if (status == KYMO_OK && !statistics->wants_scatter && is_worst)
    kymo_report_worst(report, pairs);
  else if (status == KYMO_OK && !statistics->wants_scatter)
    made = report->form == KYMO_REPORT_VPP ? kymo_report_vpp(report, &pairs->groups, &all, &vpp)
                                           : kymo_report_groups(report, &pairs->groups, &all);
  if (made != KYMO_OK)
    status = no_memory(statistics);
  if (status == KYMO_OK && !statistics->wants_scatter && !is_worst)
    kymo_report_pairs(report, pairs);
  kymo_samples_free(&all);
  return status;
}

/* Tables of CSV have no place for it. */
static void say_short(const struct statistics *statistics, const struct kymo_pairs *pairs) {
  bool is_table = statistics->wants_scatter || statistics->report.form == KYMO_REPORT_CSV;
  if (is_table && kymo_pairs_are_short(pairs) && !statistics->input.quiet)
    tool_say("not counted: %" PRIu64 " without begin, %" PRIu64 " without end, %" PRIu64
             " without key, %" PRIu64 " over lost events",
             pairs->without_begin, pairs->without_end, pairs->without_key, pairs->over_gaps);
}

static int run_pairs(struct statistics *statistics, struct kymo_pairs *pairs) {
  pairs->edges = &statistics->edges;
  pairs->gaps = &statistics->gaps;
  pairs->error = &statistics->error;
  pairs->groups.bytes_limit = statistics->memory_bytes;
  pairs->worst_wanted = statistics->worst;
  pairs->prefix = statistics->report.prefix;
  pairs->handler = statistics->wants_scatter ? scatter : NULL;
  pairs->user = statistics;
  if (statistics->wants_scatter)
    kymo_out_literal(&statistics->out, "begin,duration,group\n");
  int status = read_events(statistics, take_pair, pairs);
  if (status == KYMO_OK)
    status = report_pairs(statistics, pairs);
  if (status == KYMO_OK)
    say_short(statistics, pairs);
  kymo_pairs_free(pairs);
  kymo_grouping_end(&pairs->key);
  kymo_grouping_end(&pairs->by);
  return status;
}

/* Groups by `key` and `by`, then runs. */
static int group_pairs(struct statistics *statistics, struct kymo_pairs *pairs, const char *key,
                       const char *by) {
  int status =
      kymo_grouping_begin(&pairs->key, key, statistics->trace, &statistics->whos, &statistics->error);
  if (status == KYMO_OK)
    status = kymo_grouping_begin(&pairs->by, by, statistics->trace, &statistics->whos, &statistics->error);
  pairs->keys_are_groups = key && by && strcmp(key, by) == 0;
  pairs->is_chain = pairs->keys_are_groups && !pairs->thread;
  statistics->report.what = by ? by : "all";
  if (status == KYMO_OK)
    return run_pairs(statistics, pairs);
  kymo_grouping_end(&pairs->key);
  kymo_grouping_end(&pairs->by);
  return status;
}

static int usage(struct statistics *statistics, const char *text) {
  snprintf(statistics->error.message, sizeof statistics->error.message, "%s", text);
  return statistics->error.code = KYMO_E_USAGE;
}

static int take_span(void *latencies, const struct kymo_event *event) {
  return kymo_latencies_event(latencies, event);
}

/* All spans, each kind for itself. */
static int run_spans(struct statistics *statistics) {
  struct kymo_latencies latencies = {
      .edges = &statistics->edges, .gaps = &statistics->gaps, .spans = {.is_nested = true}};
  statistics->report.what = "span";
  int status = kymo_grouping_begin(&latencies.thread, "track", statistics->trace, &statistics->whos,
                                   &statistics->error);
  if (status == KYMO_OK && kymo_latencies_begin(&latencies) != KYMO_OK)
    status = no_memory(statistics);
  if (status == KYMO_OK)
    status = read_events(statistics, take_span, &latencies);
  if (status == KYMO_OK && kymo_latencies_report(&latencies, &statistics->report) != KYMO_OK)
    status = no_memory(statistics);
  kymo_latencies_free(&latencies);
  kymo_grouping_end(&latencies.thread);
  return status;
}

static int find_edges(struct statistics *statistics) {
  if (statistics->from && statistics->to)
    return add_edges(statistics);
  if (statistics->from || statistics->to || statistics->report.form == KYMO_REPORT_VPP)
    return usage(
        statistics,
        "latency: --from EVENT and --to EVENT are needed together; without both all spans are shown");
  return kymo_edges_add_spans(&statistics->edges)
             ? KYMO_OK
             : usage(statistics,
                     "latency: the traces have no spans (KYMO_SPAN): --from EVENT and --to EVENT are needed");
}

/* Which of the options ask for times of other groups, or for each time of its own. */
static bool wants_pairs(const struct statistics *statistics) {
  return statistics->from || statistics->key || statistics->by || statistics->wants_worst ||
         statistics->wants_scatter || statistics->report.form == KYMO_REPORT_VPP;
}

static int run_latency(struct statistics *statistics) {
  struct kymo_pairs pairs = {0};
  struct kymo_grouping thread = {0};
  const char *key = statistics->key;
  int status = find_edges(statistics);
  if (status == KYMO_OK && !wants_pairs(statistics))
    return run_spans(statistics);
  if (status == KYMO_OK && statistics->report.order == KYMO_ORDER_SELF)
    return usage(statistics, "latency: --sort self is for all spans");
  /* a function that is left by a jump leaves its begin behind, which must not be taken for that of another
   * one */
  if (status == KYMO_OK && !key)
    key = kymo_edges_function_field(&statistics->edges);
  pairs.crosses_threads =
      status == KYMO_OK && key && strcmp(key, "track") != 0 && !kymo_edges_are_of_threads(&statistics->edges);
  pairs.spans.crosses_threads = pairs.crosses_threads;
  pairs.thread = &thread;
  if (status == KYMO_OK)
    status = kymo_grouping_begin(&thread, "track", statistics->trace, &statistics->whos, &statistics->error);
  if (status == KYMO_OK)
    status = group_pairs(statistics, &pairs, key, statistics->by ? statistics->by : "track");
  kymo_grouping_end(&thread);
  return status;
}

/* The events of --event both begin and end. */
static int add_events(struct statistics *statistics) {
  const struct tool_texts *events = &statistics->events;
  int status = KYMO_OK;
  for (size_t i = 0; i < events->count && status == KYMO_OK; i++)
    status = add_role(statistics, "--event", events->list[i], KYMO_PAIR_BEGINS | KYMO_PAIR_ENDS);
  return status;
}

static int run_state(struct statistics *statistics) {
  struct kymo_pairs pairs = {.is_charged_to_begin = true};
  if (!statistics->events.count)
    return usage(statistics, "state: --event EVENT is needed: the one that begins a state");
  int status = add_events(statistics);
  return status == KYMO_OK
             ? group_pairs(statistics, &pairs, statistics->key, statistics->by ? statistics->by : "track")
             : status;
}

static int run_distance(struct statistics *statistics) {
  struct kymo_pairs pairs = {0};
  const char *by = statistics->by ? statistics->by : "event";
  int status = add_events(statistics);
  if (!statistics->events.count)
    memset(statistics->edges.roles, KYMO_PAIR_BEGINS | KYMO_PAIR_ENDS, statistics->whos.numbers.class_count);
  return status == KYMO_OK ? group_pairs(statistics, &pairs, statistics->key ? statistics->key : by, by)
                           : status;
}

/* ---- regression ---- */

static int take_frame(void *regression, const struct kymo_event *event) {
  return kymo_regression_event(regression, event);
}

static int run_regression(struct statistics *statistics) {
  struct kymo_regression regression = {.edges = &statistics->edges,
                                       .gaps = &statistics->gaps,
                                       .spans = {.is_nested = true},
                                       .error = &statistics->error,
                                       .keys = {.bytes_limit = statistics->memory_bytes}};
  struct kymo_samples all = {0};
  if (!statistics->from || !statistics->to)
    return usage(statistics, "regression: --from EVENT (enter) and --to EVENT (leave) are needed");
  int status = add_edges(statistics);
  if (status == KYMO_OK)
    status = kymo_grouping_begin(&regression.key, statistics->key, statistics->trace, &statistics->whos,
                                 &statistics->error);
  if (status == KYMO_OK)
    status = kymo_grouping_begin(&regression.track, statistics->by ? statistics->by : "track",
                                 statistics->trace, &statistics->whos, &statistics->error);
  statistics->report.what = statistics->key ? statistics->key : "all";
  if (status == KYMO_OK)
    status = read_events(statistics, take_frame, &regression);
  if (status == KYMO_OK)
    status = kymo_groups_settle(&regression.keys, &statistics->report, &all, &statistics->error);
  if (status == KYMO_OK && kymo_report_lines(&statistics->report, &regression, &all) != KYMO_OK)
    status = no_memory(statistics);
  kymo_samples_free(&all);
  kymo_regression_free(&regression);
  kymo_grouping_end(&regression.key);
  kymo_grouping_end(&regression.track);
  return status;
}

/* ---- counts and values ---- */

struct tally {
  struct kymo_grouping by, value; /* value: of histograms, what is drawn */
  struct kymo_groups groups;
  struct kymo_error *error;
  bool has_time;             /* of counts: of all events … */
  int64_t first_ns, last_ns; /* … the times from where to where */
};

/* Nobody points to its groups. */
static void visit_none(void *user, kymo_group_visit *visit) {
  (void)user;
  (void)visit;
}

static int find_tally(struct tally *tally, const struct kymo_event *event, struct kymo_stat_group **group) {
  int status = kymo_groups_are_full(&tally->groups)
                   ? kymo_groups_spill(&tally->groups, visit_none, NULL, tally->error)
                   : KYMO_OK;
  return status == KYMO_OK ? kymo_grouping_find(&tally->by, &tally->groups, event, group) : status;
}

static int take_count(void *state, const struct kymo_event *event) {
  struct tally *tally = state;
  struct kymo_stat_group *group;
  int status = find_tally(tally, event, &group);
  if (status != KYMO_OK)
    return status == KYMO_E_ABSENT ? KYMO_OK : status;
  if (event->has_time) {
    tally->first_ns = tally->has_time && tally->first_ns < event->time_ns ? tally->first_ns : event->time_ns;
    tally->last_ns = tally->has_time && tally->last_ns > event->time_ns ? tally->last_ns : event->time_ns;
    tally->has_time = true;
  }
  group->samples.count++;
  return KYMO_OK;
}

static int run_counts(struct statistics *statistics) {
  struct tally tally = {.groups = {.bytes_limit = statistics->memory_bytes}, .error = &statistics->error};
  struct kymo_samples all = {0};
  struct kymo_report *report = &statistics->report;
  const char *by = statistics->by ? statistics->by : "event";
  report->order = report->order == KYMO_ORDER_NAME ? KYMO_ORDER_NAME : KYMO_ORDER_COUNT;
  int status = kymo_grouping_begin(&tally.by, by, statistics->trace, &statistics->whos, &statistics->error);
  if (status == KYMO_OK)
    status = read_events(statistics, take_count, &tally);
  report->what = by;
  if (status == KYMO_OK)
    status = kymo_groups_settle(&tally.groups, report, &all, &statistics->error);
  if (status == KYMO_OK &&
      kymo_report_counts(report, &tally.groups, all.count,
                         (double)((uint64_t)tally.last_ns - (uint64_t)tally.first_ns)) != KYMO_OK)
    status = no_memory(statistics);
  kymo_samples_free(&all);
  kymo_groups_free(&tally.groups);
  kymo_grouping_end(&tally.by);
  return status;
}

static int take_value(void *state, const struct kymo_event *event) {
  struct tally *tally = state;
  struct kymo_stat_group *group;
  int64_t value;
  if (!kymo_grouping_integer(&tally->value, event, &value))
    return KYMO_OK;
  int status = find_tally(tally, event, &group);
  if (status != KYMO_OK)
    return status == KYMO_E_ABSENT ? KYMO_OK : status;
  size_t bytes = kymo_samples_bytes(&group->samples);
  bool is_added = kymo_samples_add(&group->samples, value);
  tally->groups.bytes += kymo_samples_bytes(&group->samples) - bytes;
  return is_added ? KYMO_OK : KYMO_E_MEMORY;
}

static int run_histogram(struct statistics *statistics) {
  struct tally tally = {.groups = {.bytes_limit = statistics->memory_bytes}, .error = &statistics->error};
  struct kymo_samples all = {0};
  struct kymo_histogram histogram = {.field = statistics->field, .is_grouped = statistics->by != NULL};
  int status = kymo_grouping_begin(&tally.value, statistics->field, statistics->trace, &statistics->whos,
                                   &statistics->error);
  if (status == KYMO_OK)
    status = kymo_grouping_begin(&tally.by, statistics->by, statistics->trace, &statistics->whos,
                                 &statistics->error);
  if (status == KYMO_OK)
    status = read_events(statistics, take_value, &tally);
  statistics->report.what = statistics->by ? statistics->by : "all";
  statistics->report.order =
      statistics->report.order == KYMO_ORDER_TOTAL ? KYMO_ORDER_COUNT : statistics->report.order;
  if (status == KYMO_OK)
    status = kymo_groups_settle(&tally.groups, &statistics->report, &all, &statistics->error);
  kymo_samples_free(&all);
  histogram.unit = status == KYMO_OK ? kymo_grouping_unit(&tally.value) : NULL;
  if (status == KYMO_OK && kymo_report_histograms(&statistics->report, &tally.groups, &histogram) != KYMO_OK)
    status = no_memory(statistics);
  kymo_groups_free(&tally.groups);
  kymo_grouping_end(&tally.by);
  kymo_grouping_end(&tally.value);
  return status;
}

/* ---- functions ---- */

static int take_function(void *functions, const struct kymo_event *event) {
  return kymo_functions_event(functions, event);
}

static int run_functions(struct statistics *statistics) {
  struct kymo_functions functions = {
      .edges = &statistics->edges, .gaps = &statistics->gaps, .spans = {.is_nested = true}};
  const char *field = kymo_edges_add_functions(&statistics->edges);
  if (!field)
    return usage(
        statistics,
        "functions: the traces have no events of functions that are entered and left; kymo record --calls "
        "functions "
        "records them");
  int status = kymo_grouping_begin(&functions.function, field, statistics->trace, &statistics->whos,
                                   &statistics->error);
  if (status == KYMO_OK)
    status = kymo_grouping_begin(&functions.thread, "track", statistics->trace, &statistics->whos,
                                 &statistics->error);
  if (status == KYMO_OK)
    status = read_events(statistics, take_function, &functions);
  if (status == KYMO_OK && (kymo_functions_end(&functions) != KYMO_OK ||
                            kymo_functions_report(&functions, &statistics->report) != KYMO_OK))
    status = no_memory(statistics);
  kymo_functions_free(&functions);
  kymo_grouping_end(&functions.function);
  kymo_grouping_end(&functions.thread);
  return status;
}

static int take_call(void *calls, const struct kymo_event *event) { return kymo_libc_event(calls, event); }

static int run_calls(struct statistics *statistics) {
  struct kymo_libc calls = {0};
  if (!kymo_libc_are_there(statistics->trace))
    return usage(statistics,
                 "calls: the traces have no calls of libc; kymo record --calls libc records them");
  int status =
      kymo_grouping_begin(&calls.event, "event", statistics->trace, &statistics->whos, &statistics->error);
  if (status == KYMO_OK)
    status = read_events(statistics, take_call, &calls);
  if (status == KYMO_OK && kymo_libc_report(&calls, &statistics->report) != KYMO_OK)
    status = no_memory(statistics);
  kymo_libc_free(&calls);
  kymo_grouping_end(&calls.event);
  return status;
}

/* Options that not all kinds know: what is given to one that does not would be passed over. */
enum {
  TAKES_EDGES = 1,
  TAKES_KEY = 2,
  TAKES_LONGEST = 4,
  TAKES_BY = 8,
  TAKES_MEMORY = 16,
  TAKES_VPP = 32,
  TAKES_PAIRS = TAKES_KEY | TAKES_LONGEST | TAKES_BY | TAKES_MEMORY
};

static const struct limit {
  int option;
  unsigned takes;
} limits[] = {
    {OPTION_FROM, TAKES_EDGES},    {OPTION_TO, TAKES_EDGES},      {OPTION_KEY, TAKES_KEY},
    {OPTION_BY, TAKES_BY},         {OPTION_WORST, TAKES_LONGEST}, {OPTION_SCATTER, TAKES_LONGEST},
    {OPTION_MEMORY, TAKES_MEMORY}, {OPTION_KERNEL, TAKES_VPP},
};

static const struct kind kinds[] = {
    {.name = "counts",
     .summary = "how many events of each kind, and how many a second",
     .takes = TAKES_BY | TAKES_MEMORY,
     .run = run_counts},
    {.name = "latency",
     .summary = "durations of all spans, or from one event (--from) to another (--to)",
     .doc =
         "Without options: each kind of spans (KYMO_SPAN), and the longest span with the command that shows "
         "it. An end belongs to the "
         "latest begin of its thread that has no end yet, and has the same value of --key, if one is given.",
     .takes = TAKES_EDGES | TAKES_PAIRS | TAKES_VPP,
     .run = run_latency},
    {.name = "state",
     .summary = "times until the next of --event, charged to the group of the earlier one",
     .doc = "--event names the event that begins a state; it selects nothing else.",
     .takes = TAKES_PAIRS | TAKES_VPP,
     .run = run_state},
    {.name = "distance",
     .summary = "times between successive events of each kind",
     .doc = "--event names the events that are measured; default: all.",
     .takes = TAKES_PAIRS,
     .run = run_distance},
    {.name = "regression",
     .summary = "how nested times from --from to --to grow from instance to instance",
     .doc = "For each --key a straight line through (instance, own time): offset, slope, correlation (r).",
     .takes = TAKES_EDGES | TAKES_KEY | TAKES_BY | TAKES_MEMORY,
     .run = run_regression},
    {.name = "functions",
     .summary = "calls, total and self time of each function",
     .doc = "For functions that kymo record --calls functions or LTTng's cyg_profile recorded.",
     .run = run_functions},
    {.name = "calls",
     .summary = "calls, errors and time of each function of libc",
     .doc = "For calls that kymo record --calls libc recorded.",
     .run = run_calls},
    {.name = "histogram",
     .summary = "how the values of FIELD are distributed",
     .arguments = "FIELD TRACE...",
     .doc = "One bar for each power of two.",
     .takes = TAKES_BY | TAKES_MEMORY,
     .run = run_histogram},
};

static const struct kind *find_kind(const char *word) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (strcmp(kinds[i].name, word) == 0)
      return &kinds[i];
  return NULL;
}

static bool list_kind(size_t index, struct tool_row *row) {
  if (index < sizeof kinds / sizeof *kinds)
    *row = (struct tool_row){kinds[index].name, kinds[index].summary};
  return index < sizeof kinds / sizeof *kinds;
}

char *tool_statistics_help(int key, const char *text, void *input) {
  (void)input;
  return tool_help_table(key, text, "Statistics:", list_kind);
}

bool tool_is_statistics(const char *word) { return find_kind(word) != NULL; }

struct kymo_hint tool_statistics_hint(const char *word) {
  return tool_row_hint(word, list_kind);
}

/* ---- command line ---- */

static const struct argp_option options[] = {
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
    {"worst", OPTION_WORST, "COUNT", 0,
     "How many of the longest are listed (5, at most 100); as CSV, only these", 0},
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
  statistics->report.form = (enum kymo_report_form)form;
}

static void take_order(struct argp_state *state, struct statistics *statistics, const char *word) {
  static const char *const orders[] = {"total", "count", "mean", "max", "name", "self", NULL};
  int order = tool_word(word, orders);
  if (order < 0)
    argp_error(state, "--sort is total, count, mean, max, name or self, not \"%s\"%s", word,
               tool_word_hint(word, orders).text);
  statistics->report.order = (enum kymo_report_order)order;
}

static void take_top(struct argp_state *state, struct statistics *statistics, const char *word) {
  char *end;
  unsigned long count = strtoul(word, &end, 10);
  if (*word < '0' || *word > '9' || *end || count == 0 || count > 1000000000)
    argp_error(state, "--top is a number from 1, not \"%s\"", word);
  statistics->report.top = count;
}

static void take_memory(struct argp_state *state, struct statistics *statistics, const char *word) {
  static const char units[] = "KMG";
  char *end;
  unsigned long long bytes = strtoull(word, &end, 10);
  const char *unit = *end ? strchr(units, *end) : NULL;
  if (*word < '0' || *word > '9' || bytes == 0 || bytes > 1 << 20 || (unit ? end[1] : *end))
    argp_error(state, "--memory is a size as 64M or 1G, not \"%s\"", word);
  uint64_t wanted = (uint64_t)bytes << (unit ? 10 * (unit - units + 1) : 0);
  statistics->memory_bytes = wanted < SIZE_MAX / 4 ? (size_t)wanted : SIZE_MAX / 4;
}

static void take_worst(struct argp_state *state, struct statistics *statistics, const char *word) {
  char *end;
  unsigned long count = strtoul(word, &end, 10);
  if (!*word || *end || count > KYMO_WORST_MAX)
    argp_error(state, "--worst is a number up to %d, not \"%s\"", KYMO_WORST_MAX, word);
  statistics->worst = (unsigned)count;
  statistics->wants_worst = true;
}

static error_t parse(int key, char *argument, struct argp_state *state) {
  struct statistics *statistics = state->input;
  if (key >= OPTION_FROM && key < OPTION_FROM + 32)
    statistics->given |= 1u << (key - OPTION_FROM);
  switch (key) {
  case OPTION_FROM: statistics->from = argument; return 0;
  case OPTION_TO: statistics->to = argument; return 0;
  case OPTION_KEY: statistics->key = argument; return 0;
  case OPTION_BY: statistics->by = argument; return 0;
  case OPTION_SORT: take_order(state, statistics, argument); return 0;
  case OPTION_PREFIX: statistics->report.prefix = argument; return 0;
  case OPTION_TOP: take_top(state, statistics, argument); return 0;
  case OPTION_MEMORY: take_memory(state, statistics, argument); return 0;
  case OPTION_WORST: take_worst(state, statistics, argument); return 0;
  case OPTION_SCATTER: statistics->wants_scatter = true; return 0;
  case 'f': take_format(state, statistics, argument); return 0;
  case OPTION_JSON: statistics->report.form = KYMO_REPORT_JSON; return 0;
  case OPTION_KERNEL: statistics->report.with_kernel = true; return 0;
  case OPTION_CSV: statistics->report.form = KYMO_REPORT_CSV; return 0;
  case ARGP_KEY_INIT: state->child_inputs[0] = &statistics->input; return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp_child children[] = {
    {&tool_input_options, 0, "How the traces are read, and which of their events are used:", 1}, {0}};

enum { OPTIONS = sizeof options / sizeof *options };

static const struct limit *find_limit(int option) {
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
    if (limits[i].option == option)
      return &limits[i];
  return NULL;
}

/* Under the name "kymo stat KIND", and the help has what this kind takes. */
static void parse_arguments(struct statistics *statistics, const struct kind *kind, int argc, char **argv) {
  struct argp_option own[OPTIONS];
  char name[64], doc[512];
  memcpy(own, options, sizeof own);
  for (size_t i = 0; i < OPTIONS; i++) {
    const struct limit *limit = find_limit(own[i].key);
    if (limit && !(kind->takes & limit->takes))
      own[i].flags |= OPTION_HIDDEN;
  }
  snprintf(doc, sizeof doc, "%c%s, in one pass.%s%s\v", toupper((unsigned char)*kind->summary),
           kind->summary + 1, kind->doc ? " " : "", kind->doc ? kind->doc : "");
  const struct argp parser = {.options = own,
                              .children = children,
                              .parser = parse,
                              .doc = doc,
                              .args_doc = kind->arguments ? kind->arguments : "TRACE..."};
  snprintf(name, sizeof name, "%s %s", argv[0], kind->name);
  char *word = argv[1];
  argv[1] = name; /* as messages shall call it */
  tool_parse(&parser, argc - 1, argv + 1, 0, NULL, statistics);
  argv[1] = word;
}

/* ---- work ---- */

/* Whether the form has a place for what is lost; else it is said on stderr. */
static bool says_losses(const struct statistics *statistics) {
  enum kymo_report_form form = statistics->report.form;
  return (form == KYMO_REPORT_TEXT || form == KYMO_REPORT_JSON) && !statistics->wants_scatter;
}

/* Figures of a trace that is not whole are figures of what is there. */
static void report_losses(const struct statistics *statistics) {
  struct kymo_losses losses;
  char text[TOOL_LOSSES_MAX];
  kymo_trace_losses(statistics->trace, &losses);
  if (!tool_losses_text(losses, text) || !says_losses(statistics))
    return;
  if (statistics->report.form == KYMO_REPORT_TEXT)
    kymo_report_put(&statistics->report,
                    "the trace is incomplete: %s; the figures are computed from the other events\n", text);
  else
    kymo_report_put(&statistics->report,
                    "{\"lost\":{\"events\":%" PRIu64 ",\"packets\":%" PRIu64 ",\"unknown\":%" PRIu64 "}}\n",
                    losses.events, losses.packets, losses.unknown);
}

static int measure(struct statistics *statistics, const struct kind *kind) {
  struct kymo_error *error = &statistics->error;
  struct kymo_strbuf command = {0};
  tool_input_command(&command, &statistics->input);
  statistics->report.command = command.text;
  statistics->report.trace = statistics->trace;
  int status = command.failed ? no_memory(statistics) : KYMO_OK;
  if (status == KYMO_OK)
    status = kymo_whos_begin(&statistics->whos, statistics->trace, error);
  if (status == KYMO_OK)
    status = kymo_out_begin(&statistics->out, stdout, error);
  if (status == KYMO_OK)
    status = kymo_gaps_begin(&statistics->gaps, statistics->trace, &statistics->whos, error);
  if (status == KYMO_OK)
    status = kymo_edges_begin(&statistics->edges, statistics->trace, &statistics->whos.numbers, error);
  statistics->report.out = &statistics->out;
  statistics->report.rows = &statistics->rows;
  kymo_set_loss_handler(statistics->trace, kymo_gaps_take, &statistics->gaps);
  if (status == KYMO_OK)
    status = kind->run(statistics);
  if (status == KYMO_OK)
    report_losses(statistics);
  int said = status;
  if (said < 0)
    tool_say_error(error);
  bool has_rest = statistics->report.form != KYMO_REPORT_CSV &&
                  statistics->report.form != KYMO_REPORT_VPP; /* kymo_report_rest */
  if (!has_rest && statistics->rows.shown < statistics->rows.all && !statistics->input.quiet)
    tool_say("%" PRIu64 " of %" PRIu64 " rows are shown (--top)", statistics->rows.shown,
             statistics->rows.all);
  if (statistics->out.data && kymo_out_finish(&statistics->out, error) < 0 && said == KYMO_OK) {
    tool_say_error(error);
    status = KYMO_E_SYSTEM;
  }
  kymo_edges_end(&statistics->edges);
  kymo_gaps_end(&statistics->gaps);
  kymo_whos_end(&statistics->whos);
  kymo_strbuf_free(&command);
  return status == KYMO_E_USAGE ? TOOL_USAGE : status < 0 ? tool_status_of(status) : TOOL_OK;
}

/* What the kind of statistics makes of the arguments. An exit status, after telling why they make no
 * sense. */
static int settle(struct statistics *statistics, const struct kind *kind) {
  struct tool_input *input = &statistics->input;
  /* of these two --event says what is measured, and all events are to be counted */
  if (kind->run == run_state || kind->run == run_distance) {
    statistics->events = input->events;
    input->events.count = 0;
  }
  if (kind->run == run_histogram) {
    statistics->field = *input->paths++;
    if (--input->count == 0) {
      tool_say("histogram: expected FIELD TRACE..., found \"%s\" alone", statistics->field);
      return TOOL_USAGE;
    }
  }
  if (statistics->report.form == KYMO_REPORT_VPP && kind->run != run_latency && kind->run != run_state) {
    tool_say("%s: --format vpp is for latency and state", kind->name);
    return TOOL_USAGE;
  }
  if (statistics->report.order == KYMO_ORDER_SELF && kind->run != run_functions && kind->run != run_latency) {
    tool_say("%s: --sort self is for functions and spans", kind->name);
    return TOOL_USAGE;
  }
  if (statistics->key && !(kind->takes & TAKES_KEY)) {
    tool_say("%s: there is no --key FIELD; a file that describes the traces is given by --description",
             kind->name);
    return TOOL_USAGE;
  }
  for (size_t i = 0; i < OPTIONS; i++) {
    const struct limit *limit = find_limit(options[i].key);
    if (limit && !(kind->takes & limit->takes) && statistics->given & 1u << (limit->option - OPTION_FROM)) {
      tool_say("%s: there is no --%s", kind->name, options[i].name);
      return TOOL_USAGE;
    }
  }
  return TOOL_OK;
}

int tool_statistics(int argc, char **argv) {
  const struct kind *kind = find_kind(argv[1]);
  struct statistics statistics = {.worst = 5,
                                  .memory_bytes = KYMO_SPILL_BYTES,
                                  .report = {.width = tool_columns()},
                                  .error = {.offset = KYMO_ERROR_NO_OFFSET}};
  parse_arguments(&statistics, kind, argc, argv);
  int status = settle(&statistics, kind);
  if (status == TOOL_OK)
    status = tool_open(&statistics.trace, &statistics.input);
  if (status == TOOL_OK) {
    size_t warnings = kymo_trace_warning_count(statistics.trace);
    status = measure(&statistics, kind);
    tool_tell_warnings(statistics.trace, warnings, statistics.input.quiet);
    int end = tool_end_trace(statistics.trace, statistics.input.quiet,
                             says_losses(&statistics) ? TOOL_LOSSES_SAID : TOOL_LOSSES_SAY);
    status = status == TOOL_OK ? end : status;
  }
  kymo_close(statistics.trace);
  tool_input_free(&statistics.input);
  return status;
}
