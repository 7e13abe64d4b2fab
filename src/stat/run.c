/* SPDX-License-Identifier: MIT */
/* Statistics of traces: one pass, and memory by the number of groups. */
#include "stat/run.h"
#include "base/fail.h"
#include "base/pattern.h"
#include "print/hint.h"
#include "stat/functions.h"
#include "stat/latencies.h"
#include "stat/libc.h"
#include "stat/slowest.h"
#include "stat/tally.h"
#include "stat/threads.h"
#include "stat/vpp.h"
#include <inttypes.h>
#include <kymo/filter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- which events ---- */

static int no_memory(struct kymo_statistics *statistics) {
  return kymo_fail(statistics->error, KYMO_E_MEMORY, "out of memory");
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
  return kymo_fail(error, wrong == kymo_patterns_no_memory ? KYMO_E_MEMORY : KYMO_E_USAGE, "%s %s: %s",
                   option, text, wrong);
}

static bool wanted_is(void *user, const struct kymo_event_class *class_) {
  const struct wanted *wanted = user;
  return (wanted->patterns && kymo_patterns_match(wanted->patterns, class_->name)) ||
         (wanted->is_number && wanted->number == class_->id);
}

/* Gives the role to all classes that match. */
static int add_role(struct kymo_statistics *statistics, const char *option, const char *text, uint8_t role) {
  struct wanted wanted;
  int status = wanted_begin(&wanted, option, text, statistics->error);
  size_t count = status == KYMO_OK ? kymo_edges_add(&statistics->edges, role, wanted_is, &wanted) : 0;
  kymo_patterns_free(wanted.patterns);
  if (status != KYMO_OK || count)
    return status;
  struct kymo_hint hint = kymo_event_hint(statistics->trace, text);
  return kymo_fail(statistics->error, KYMO_E_USAGE, "%s %s: the traces have no event of such a name%s",
                   option, text, hint.text);
}

/* The classes of --from and --to. */
static int add_edges(struct kymo_statistics *statistics) {
  int status = add_role(statistics, "--from", statistics->from, KYMO_PAIR_BEGINS);
  if (status == KYMO_OK)
    status = add_role(statistics, "--to", statistics->to, KYMO_PAIR_ENDS);
  if (status == KYMO_OK && kymo_edges_find_kinds(&statistics->edges) != KYMO_OK)
    status = no_memory(statistics);
  return status;
}

/* ---- between events ---- */

static int read_events(struct kymo_statistics *statistics,
                       int (*take)(void *state, const struct kymo_event *event), void *state) {
  const struct kymo_event *event;
  int status;
  while ((status = kymo_trace_next_filtered(statistics->trace, &event, statistics->error)) == KYMO_OK) {
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
static int report_pairs(struct kymo_statistics *statistics, struct kymo_pairs *pairs) {
  struct kymo_report *report = &statistics->report;
  struct kymo_samples all = {0};
  struct kymo_vpp vpp = {
      .is_state = pairs->is_charged_to_begin, .from = statistics->from, .to = statistics->to};
  int status = kymo_pairs_settle(pairs, report, &all), made = KYMO_OK;
  bool shows = report->collect || !statistics->each;
  bool is_worst = report->form == KYMO_REPORT_CSV && statistics->wants_worst;
  if (status == KYMO_OK && shows && is_worst)
    kymo_report_worst(report, pairs);
  else if (status == KYMO_OK && shows)
    made = report->form == KYMO_REPORT_VPP ? kymo_report_vpp(report, &pairs->groups, &all, &vpp)
                                           : kymo_report_groups(report, &pairs->groups, &all);
  if (made != KYMO_OK)
    status = no_memory(statistics);
  if (status == KYMO_OK && shows && !is_worst)
    kymo_report_pairs(report, pairs);
  kymo_samples_free(&all);
  return status;
}

/* Tables of CSV have no place for it. */
static void say_short(const struct kymo_statistics *statistics, const struct kymo_pairs *pairs) {
  char text[200];
  bool is_table = statistics->each || statistics->report.form == KYMO_REPORT_CSV;
  if (!is_table || !kymo_pairs_are_short(pairs) || !statistics->warn)
    return;
  snprintf(text, sizeof text,
           "not counted: %" PRIu64 " without begin, %" PRIu64 " without end, %" PRIu64
           " without key, %" PRIu64 " over lost events",
           pairs->without_begin, pairs->without_end, pairs->without_key, pairs->over_gaps);
  statistics->warn(statistics->user, text);
}

static int run_pairs(struct kymo_statistics *statistics, struct kymo_pairs *pairs) {
  pairs->edges = &statistics->edges;
  pairs->gaps = &statistics->gaps;
  pairs->error = statistics->error;
  pairs->groups.bytes_limit = statistics->memory_bytes;
  pairs->worst_wanted = statistics->worst;
  pairs->prefix = statistics->report.prefix;
  pairs->handler = statistics->each;
  pairs->user = statistics->user;
  int status = read_events(statistics, take_pair, pairs);
  if (status == KYMO_OK)
    status = report_pairs(statistics, pairs);
  if (status == KYMO_OK)
    say_short(statistics, pairs);
  statistics->uncounted = pairs->without_begin + pairs->without_end + pairs->without_key + pairs->over_gaps;
  kymo_pairs_free(pairs);
  kymo_grouping_end(&pairs->key);
  kymo_grouping_end(&pairs->by);
  return status;
}

/* After the pairs were grouped. */
static int run_grouped(struct kymo_statistics *statistics, struct kymo_pairs *pairs, const char *by,
                       int status) {
  statistics->report.what = by ? by : "all";
  if (status == KYMO_OK)
    return run_pairs(statistics, pairs);
  kymo_grouping_end(&pairs->key);
  kymo_grouping_end(&pairs->by);
  return status;
}

/* Groups by `key` and `by`, then runs. */
static int group_pairs(struct kymo_statistics *statistics, struct kymo_pairs *pairs, const char *key,
                       const char *by) {
  return run_grouped(statistics, pairs, by,
                     kymo_pairs_group(pairs, statistics->trace, &statistics->whos,
                                      &(struct kymo_pair_groups){key, by}, statistics->error));
}

static int usage(struct kymo_statistics *statistics, const char *text) {
  return kymo_fail(statistics->error, KYMO_E_USAGE, "%s", text);
}

static int take_span(void *latencies, const struct kymo_event *event) {
  return kymo_latencies_event(latencies, event);
}

/* All spans, each kind for itself. */
static int run_spans(struct kymo_statistics *statistics) {
  struct kymo_latencies latencies = {
      .edges = &statistics->edges, .gaps = &statistics->gaps, .spans = {.is_nested = true}};
  statistics->report.what = "span";
  int status = kymo_grouping_begin(&latencies.thread, "track", statistics->trace, &statistics->whos,
                                   statistics->error);
  if (status == KYMO_OK && kymo_latencies_begin(&latencies) != KYMO_OK)
    status = no_memory(statistics);
  if (status == KYMO_OK)
    status = read_events(statistics, take_span, &latencies);
  if (status == KYMO_OK && kymo_latencies_report(&latencies, &statistics->report) != KYMO_OK)
    status = no_memory(statistics);
  statistics->uncounted =
      latencies.without_begin + latencies.spans.open + latencies.without_key + latencies.over_gaps;
  kymo_latencies_free(&latencies);
  kymo_grouping_end(&latencies.thread);
  return status;
}

static int find_edges(struct kymo_statistics *statistics) {
  if (statistics->from && statistics->to)
    return add_edges(statistics);
  if (statistics->from || statistics->to || statistics->report.form == KYMO_REPORT_VPP)
    return usage(
        statistics,
        "latency: --from EVENT and --to EVENT are needed together; without both all spans are shown");
  size_t count;
  if (kymo_edges_add_spans(&statistics->edges, &count) != KYMO_OK)
    return no_memory(statistics);
  return count
             ? KYMO_OK
             : usage(statistics,
                     "latency: the traces have no spans (KYMO_SPAN): --from EVENT and --to EVENT are needed");
}

/* Which of the options ask for times of other groups, or for each time of its own. */
static bool wants_pairs(const struct kymo_statistics *statistics) {
  return statistics->from || statistics->key || statistics->by || statistics->wants_worst ||
         statistics->each || statistics->report.form == KYMO_REPORT_VPP;
}

static int run_latency(struct kymo_statistics *statistics) {
  struct kymo_pairs pairs = {.edges = &statistics->edges};
  struct kymo_grouping thread = {0};
  const struct kymo_pair_groups groups = {statistics->key, statistics->by ? statistics->by : "track"};
  int status = find_edges(statistics);
  if (status == KYMO_OK && !wants_pairs(statistics))
    return run_spans(statistics);
  if (status == KYMO_OK && statistics->report.order == KYMO_ORDER_SELF)
    return usage(statistics, "latency: --sort self is for all spans");
  if (status == KYMO_OK)
    status = kymo_pairs_group_latency(&pairs, &thread, statistics->trace, &statistics->whos, &groups,
                                      statistics->error);
  status = run_grouped(statistics, &pairs, groups.by, status);
  kymo_grouping_end(&thread);
  return status;
}

/* The events of --event both begin and end. */
static int add_events(struct kymo_statistics *statistics) {
  int status = KYMO_OK;
  for (size_t i = 0; i < statistics->event_count && status == KYMO_OK; i++)
    status = add_role(statistics, "--event", statistics->events[i], KYMO_PAIR_BEGINS | KYMO_PAIR_ENDS);
  return status;
}

static int run_state(struct kymo_statistics *statistics) {
  struct kymo_pairs pairs = {.is_charged_to_begin = true};
  if (!statistics->event_count)
    return usage(statistics, "state: --event EVENT is needed: the one that begins a state");
  int status = add_events(statistics);
  return status == KYMO_OK
             ? group_pairs(statistics, &pairs, statistics->key, statistics->by ? statistics->by : "track")
             : status;
}

static int run_distance(struct kymo_statistics *statistics) {
  struct kymo_pairs pairs = {0};
  const char *by = statistics->by ? statistics->by : "event";
  int status = add_events(statistics);
  if (!statistics->event_count)
    memset(statistics->edges.roles, KYMO_PAIR_BEGINS | KYMO_PAIR_ENDS, statistics->whos.numbers.class_count);
  return status == KYMO_OK ? group_pairs(statistics, &pairs, statistics->key ? statistics->key : by, by)
                           : status;
}

/* ---- regression ---- */

static int take_frame(void *regression, const struct kymo_event *event) {
  return kymo_regression_event(regression, event);
}

static int run_regression(struct kymo_statistics *statistics) {
  struct kymo_regression regression = {.edges = &statistics->edges,
                                       .gaps = &statistics->gaps,
                                       .spans = {.is_nested = true},
                                       .error = statistics->error,
                                       .keys = {.bytes_limit = statistics->memory_bytes}};
  struct kymo_samples all = {0};
  if (!statistics->from || !statistics->to)
    return usage(statistics, "regression: --from EVENT (enter) and --to EVENT (leave) are needed");
  int status = add_edges(statistics);
  if (status == KYMO_OK)
    status = kymo_grouping_begin(&regression.key, statistics->key, statistics->trace, &statistics->whos,
                                 statistics->error);
  if (status == KYMO_OK)
    status = kymo_grouping_begin(&regression.track, statistics->by ? statistics->by : "track",
                                 statistics->trace, &statistics->whos, statistics->error);
  statistics->report.what = statistics->key ? statistics->key : "all";
  if (status == KYMO_OK)
    status = read_events(statistics, take_frame, &regression);
  if (status == KYMO_OK)
    status = kymo_groups_settle(&regression.keys, &statistics->report, &all, statistics->error);
  if (status == KYMO_OK && kymo_report_lines(&statistics->report, &regression, &all) != KYMO_OK)
    status = no_memory(statistics);
  kymo_samples_free(&all);
  statistics->uncounted = regression.without_enter + regression.without_leave + regression.over_gaps;
  kymo_regression_free(&regression);
  kymo_grouping_end(&regression.key);
  kymo_grouping_end(&regression.track);
  return status;
}

/* ---- counts and values ---- */

static int take_count(void *tally, const struct kymo_event *event) { return kymo_tally_count(tally, event); }

static int run_counts(struct kymo_statistics *statistics) {
  struct kymo_tally tally = {.groups = {.bytes_limit = statistics->memory_bytes}, .error = statistics->error};
  struct kymo_samples all = {0};
  struct kymo_report *report = &statistics->report;
  const char *by = statistics->by ? statistics->by : "event";
  report->order = report->order == KYMO_ORDER_NAME ? KYMO_ORDER_NAME : KYMO_ORDER_COUNT;
  int status = kymo_grouping_begin(&tally.by, by, statistics->trace, &statistics->whos, statistics->error);
  if (status == KYMO_OK)
    status = statistics->count_apart ? statistics->count_apart(statistics->user, &tally) : KYMO_E_ABSENT;
  if (status == KYMO_E_ABSENT)
    status = read_events(statistics, take_count, &tally);
  report->what = by;
  if (status == KYMO_OK)
    status = kymo_groups_settle(&tally.groups, report, &all, statistics->error);
  if (status == KYMO_OK &&
      kymo_report_counts(report, &tally.groups, all.count,
                         (double)((uint64_t)tally.last_ns - (uint64_t)tally.first_ns)) != KYMO_OK)
    status = no_memory(statistics);
  kymo_samples_free(&all);
  kymo_tally_free(&tally);
  return status;
}

static int take_value(void *tally, const struct kymo_event *event) { return kymo_tally_value(tally, event); }

static int run_histogram(struct kymo_statistics *statistics) {
  struct kymo_tally tally = {.groups = {.bytes_limit = statistics->memory_bytes}, .error = statistics->error};
  struct kymo_samples all = {0};
  struct kymo_histogram histogram = {.field = statistics->field, .is_grouped = statistics->by != NULL};
  int status = kymo_tally_begin_values(&tally, statistics->field, statistics->trace, &statistics->whos,
                                       statistics->error);
  if (status == KYMO_OK)
    status = kymo_grouping_begin(&tally.by, statistics->by, statistics->trace, &statistics->whos,
                                 statistics->error);
  if (status == KYMO_OK)
    status = read_events(statistics, take_value, &tally);
  statistics->report.what = statistics->by ? statistics->by : "all";
  statistics->report.order =
      statistics->report.order == KYMO_ORDER_TOTAL ? KYMO_ORDER_COUNT : statistics->report.order;
  if (status == KYMO_OK)
    status = kymo_groups_settle(&tally.groups, &statistics->report, &all, statistics->error);
  kymo_samples_free(&all);
  histogram.is_float = tally.is_float;
  histogram.unit = status == KYMO_OK ? kymo_grouping_unit(&tally.value) : NULL;
  if (status == KYMO_OK && kymo_report_histograms(&statistics->report, &tally.groups, &histogram) != KYMO_OK)
    status = no_memory(statistics);
  kymo_tally_free(&tally);
  return status;
}

/* ---- functions ---- */

static int take_function(void *functions, const struct kymo_event *event) {
  return kymo_functions_event(functions, event);
}

static int run_functions(struct kymo_statistics *statistics) {
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
                                   statistics->error);
  if (status == KYMO_OK)
    status = kymo_grouping_begin(&functions.thread, "track", statistics->trace, &statistics->whos,
                                 statistics->error);
  if (status == KYMO_OK)
    status = read_events(statistics, take_function, &functions);
  if (status == KYMO_OK && (kymo_functions_end(&functions) != KYMO_OK ||
                            kymo_functions_report(&functions, &statistics->report) != KYMO_OK))
    status = no_memory(statistics);
  statistics->uncounted = functions.without_enter + functions.over_gaps + functions.without_key;
  kymo_functions_free(&functions);
  kymo_grouping_end(&functions.function);
  kymo_grouping_end(&functions.thread);
  return status;
}

static int take_call(void *calls, const struct kymo_event *event) { return kymo_libc_event(calls, event); }

static int run_calls(struct kymo_statistics *statistics) {
  struct kymo_libc calls = {0};
  if (!kymo_libc_are_there(statistics->trace))
    return usage(statistics,
                 "calls: the traces have no calls of libc; kymo record --calls libc records them");
  int status =
      kymo_grouping_begin(&calls.event, "event", statistics->trace, &statistics->whos, statistics->error);
  if (status == KYMO_OK)
    status = read_events(statistics, take_call, &calls);
  if (status == KYMO_OK && kymo_libc_report(&calls, &statistics->report) != KYMO_OK)
    status = no_memory(statistics);
  kymo_libc_free(&calls);
  kymo_grouping_end(&calls.event);
  return status;
}

/* ---- threads ---- */

/* For the whole trace: what the scheduler's events say, and which events are missing. */
struct scheduled {
  struct kymo_statistics *statistics;
  struct kymo_schedule schedule;
  struct kymo_latencies *latencies; /* or NULL */
};

static void take_loss(void *user, const struct kymo_loss *loss) {
  struct scheduled *scheduled = user;
  kymo_gaps_take(&scheduled->statistics->gaps, loss);
  kymo_schedule_loss(&scheduled->schedule, loss);
}

static int take_scheduled(void *user, const struct kymo_event *event) {
  struct scheduled *scheduled = user;
  if (event->is_damaged)
    kymo_schedule_loss(&scheduled->schedule, &(struct kymo_loss){.stream = event->packet->stream});
  int status = kymo_schedule_event(&scheduled->schedule, event);
  return status == KYMO_OK && scheduled->latencies ? kymo_latencies_event(scheduled->latencies, event)
                                                   : status;
}

static const char no_scheduler[] = "the traces have no events of a kernel's scheduler (sched_switch)";

static int read_scheduled(struct scheduled *scheduled) {
  struct kymo_statistics *statistics = scheduled->statistics;
  struct kymo_schedule *schedule = &scheduled->schedule;
  schedule->trace = statistics->trace;
  schedule->whos = &statistics->whos;
  if (!kymo_schedule_is_there(statistics->trace))
    return usage(statistics, no_scheduler);
  if (kymo_schedule_begin(schedule) != KYMO_OK)
    return no_memory(statistics);
  kymo_trace_set_loss_handler(statistics->trace, take_loss, scheduled);
  int status = read_events(statistics, take_scheduled, scheduled);
  if (status == KYMO_OK && !schedule->switches)
    status = usage(statistics, no_scheduler);
  if (status == KYMO_OK && kymo_schedule_end(schedule) != KYMO_OK)
    status = no_memory(statistics);
  return status;
}

static int run_threads(struct kymo_statistics *statistics) {
  struct scheduled scheduled = {.statistics = statistics};
  statistics->report.what = "thread";
  if (statistics->report.order == KYMO_ORDER_MEAN)
    return usage(statistics, "threads: --sort is total, count, max or name");
  int status = read_scheduled(&scheduled);
  if (status == KYMO_OK &&
      kymo_threads_report(&scheduled.schedule, &statistics->report, statistics->worst) != KYMO_OK)
    status = no_memory(statistics);
  kymo_schedule_free(&scheduled.schedule);
  return status;
}

static int run_slowest(struct kymo_statistics *statistics) {
  struct scheduled scheduled = {.statistics = statistics};
  struct kymo_slowest slowest = {.report = &statistics->report, .wanted = statistics->worst};
  struct kymo_latencies latencies = {.edges = &statistics->edges,
                                     .gaps = &statistics->gaps,
                                     .handler = kymo_slowest_take,
                                     .user = &slowest,
                                     .spans = {.is_nested = true}};
  slowest.latencies = scheduled.latencies = &latencies;
  slowest.schedule = statistics->wants_why ? &scheduled.schedule : NULL;
  statistics->report.what = "span";
  if (statistics->report.order != KYMO_ORDER_TOTAL && !statistics->report.collect)
    return usage(statistics, "spans: there is no --sort: the slowest come first");
  int status = find_edges(statistics);
  if (status == KYMO_OK)
    status = kymo_grouping_begin(&latencies.thread, "track", statistics->trace, &statistics->whos,
                                 statistics->error);
  if (status == KYMO_OK && kymo_latencies_begin(&latencies) != KYMO_OK)
    status = no_memory(statistics);
  if (status == KYMO_OK)
    status =
        statistics->wants_why ? read_scheduled(&scheduled) : read_events(statistics, take_span, &latencies);
  if (status == KYMO_OK && kymo_slowest_report(&slowest) != KYMO_OK)
    status = no_memory(statistics);
  statistics->uncounted =
      latencies.without_begin + latencies.spans.open + latencies.without_key + latencies.over_gaps;
  kymo_slowest_free(&slowest);
  kymo_schedule_free(&scheduled.schedule);
  kymo_latencies_free(&latencies);
  kymo_grouping_end(&latencies.thread);
  return status;
}

/* ---- kinds ---- */

const struct kymo_stat_kind kymo_stat_kinds[] = {
    {.name = "counts",
     .summary = "how many events of each kind, and how many a second",
     .takes = KYMO_STAT_TAKES_BY | KYMO_STAT_TAKES_MEMORY,
     .run = run_counts},
    {.name = "latency",
     .summary = "durations of all spans, or from one event (--from) to another (--to)",
     .doc =
         "Without options: each kind of spans (KYMO_SPAN), and the longest span with the command that shows "
         "it. An end belongs to the "
         "latest begin of its thread that has no end yet, and has the same value of --key, if one is given.",
     .takes = KYMO_STAT_TAKES_EDGES | KYMO_STAT_TAKES_PAIRS | KYMO_STAT_TAKES_VPP | KYMO_STAT_TAKES_SELF,
     .run = run_latency},
    {.name = "spans",
     .summary = "the slowest spans, and with --why what their threads did meanwhile",
     .doc = "With --why, traces with events of the kernel's scheduler are needed, too: how much of each span "
            "its thread was on a CPU, runnable (waiting for one), or blocked, and in what.",
     .takes = KYMO_STAT_TAKES_WHY | KYMO_STAT_TAKES_WORST,
     .run = run_slowest},
    {.name = "state",
     .summary = "times from one --event to the next, counted in the group of the earlier one",
     .doc = "--event names the event that begins a state; it selects nothing else.",
     .takes = KYMO_STAT_TAKES_PAIRS | KYMO_STAT_TAKES_VPP | KYMO_STAT_TAKES_EVENTS,
     .run = run_state},
    {.name = "distance",
     .summary = "times between successive events of each kind",
     .doc = "--event names the events that are measured; default: all.",
     .takes = KYMO_STAT_TAKES_PAIRS | KYMO_STAT_TAKES_EVENTS,
     .run = run_distance},
    {.name = "regression",
     .summary = "how times from --from to --to, without nested ones, grow from instance to instance",
     .doc = "For each --key a straight line through (instance, own time): offset, slope, correlation (r).",
     .takes = KYMO_STAT_TAKES_EDGES | KYMO_STAT_TAKES_KEY | KYMO_STAT_TAKES_BY | KYMO_STAT_TAKES_MEMORY,
     .run = run_regression},
    {.name = "functions",
     .summary = "calls, total and self time of each function",
     .doc = "For functions that kymo record --calls functions or LTTng's cyg_profile recorded.",
     .takes = KYMO_STAT_TAKES_SELF,
     .run = run_functions},
    {.name = "calls",
     .summary = "calls, errors and time of each function of libc",
     .doc = "For calls that kymo record --calls libc recorded.",
     .run = run_calls},
    {.name = "threads",
     .summary = "how long each thread ran, waited for a CPU, and was blocked, by cause",
     .doc = "For events of a kernel: sched_switch, and as far as they are there sched_waking, sched_wakeup, "
            "sched_process_fork, sys_enter_* and sys_exit_*.",
     .takes = KYMO_STAT_TAKES_WORST,
     .run = run_threads},
    {.name = "histogram",
     .summary = "how the values of FIELD are distributed",
     .arguments = "FIELD TRACE...",
     .doc = "One bar for each power of two. Infinities, and what is not a number (NaN), are counted apart.",
     .takes = KYMO_STAT_TAKES_BY | KYMO_STAT_TAKES_MEMORY | KYMO_STAT_TAKES_FIELD,
     .run = run_histogram},
    {0},
};

const struct kymo_stat_kind *kymo_stat_find_kind(const char *word) {
  for (const struct kymo_stat_kind *kind = kymo_stat_kinds; kind->name; kind++)
    if (strcmp(kind->name, word) == 0)
      return kind;
  return NULL;
}

int kymo_statistics_run(struct kymo_statistics *statistics, const struct kymo_stat_kind *kind) {
  statistics->report.trace = statistics->trace;
  statistics->report.rows = &statistics->rows;
  int status = kymo_whos_begin(&statistics->whos, statistics->trace, statistics->error);
  if (status == KYMO_OK)
    status = kymo_gaps_begin(&statistics->gaps, statistics->trace, &statistics->whos, statistics->error);
  if (status == KYMO_OK)
    status =
        kymo_edges_begin(&statistics->edges, statistics->trace, &statistics->whos.numbers, statistics->error);
  kymo_trace_set_loss_handler(statistics->trace, kymo_gaps_take, &statistics->gaps);
  if (status == KYMO_OK)
    status = kind->run(statistics);
  kymo_trace_set_loss_handler(statistics->trace, NULL, NULL);
  kymo_edges_end(&statistics->edges);
  kymo_gaps_end(&statistics->gaps);
  kymo_whos_end(&statistics->whos);
  return status;
}
