/* SPDX-License-Identifier: MIT */
/* The table of functions. */
#include "stat/functions.h"
#include "stat/rows.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int by_number(double a, double b) { return a < b ? 1 : a > b ? -1 : 0; }

int kymo_calls_compare(const void *a, const void *b, void *user) {
  const struct kymo_stat_group *x = *(struct kymo_stat_group *const *)a,
                               *y = *(struct kymo_stat_group *const *)b;
  const struct kymo_report *report = user;
  int order = 0;
  switch (report->order) {
  case KYMO_ORDER_TOTAL: order = by_number((double)x->outer_ns, (double)y->outer_ns); break;
  case KYMO_ORDER_SELF: order = by_number((double)x->self_ns, (double)y->self_ns); break;
  case KYMO_ORDER_COUNT: order = by_number((double)x->calls, (double)y->calls); break;
  case KYMO_ORDER_MEAN: order = by_number(x->samples.mean, y->samples.mean); break;
  case KYMO_ORDER_MOST: order = by_number((double)x->samples.most, (double)y->samples.most); break;
  case KYMO_ORDER_NAME: break;
  }
  return order ? order : strcmp(x->name, y->name);
}

void kymo_calls_put_json(struct kymo_json *json, struct kymo_stat_group *group) {
  static const char *const keys[] = {"total", "self", "min", "p50", "p99", "max"};
  struct kymo_samples *samples = &group->samples;
  const int64_t numbers[] = {group->outer_ns,
                             group->self_ns,
                             samples->least,
                             kymo_samples_percentile(samples, 500).value,
                             kymo_samples_percentile(samples, 990).value,
                             samples->most};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    kymo_json_key(json, keys[i]);
    kymo_json_int(json, numbers[i]);
  }
  kymo_json_fixed_key(json, "mean");
  kymo_json_float(json, samples->mean, false);
}

void kymo_calls_put_csv(const struct kymo_report *report, struct kymo_stat_group *group) {
  struct kymo_samples *samples = &group->samples;
  kymo_report_put(report, ",%" PRId64 ",%" PRId64 ",%.3f,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64,
                  group->outer_ns, group->self_ns, samples->mean, samples->least,
                  kymo_samples_percentile(samples, 500).value, kymo_samples_percentile(samples, 990).value,
                  samples->most);
}

static void put_json_row(const struct kymo_report *report, struct kymo_stat_group *group) {
  struct kymo_json json;
  kymo_json_start(&json, report->out);
  kymo_json_begin(&json, '{');
  kymo_json_member(&json, "function", text, group->name);
  kymo_json_member(&json, "calls", uint, group->calls);
  kymo_json_member(&json, "measured", uint, group->samples.count);
  kymo_calls_put_json(&json, group);
  kymo_json_end(&json, '}');
  kymo_json_newline(&json);
}

static void put_csv_row(const struct kymo_report *report, struct kymo_stat_group *group) {
  kymo_report_put_csv_text(report, group->name);
  kymo_report_put(report, ",%" PRIu64 ",%" PRIu64, group->calls, group->samples.count);
  kymo_calls_put_csv(report, group);
  kymo_report_put(report, "\n");
}

/* The name is last, since those of C++ are long. */
static const struct kymo_column columns[] = {
    {"calls", 8, 0, KYMO_CELL_NUMBER},
    {"total", 9, 0, KYMO_CELL_NUMBER},
    {"self", 9, 0, KYMO_CELL_NUMBER},
    {"mean", 9, 2, KYMO_CELL_NUMBER},
    {"min", 9, 3, KYMO_CELL_NUMBER},
    {"max", 9, 1, KYMO_CELL_NUMBER},
    {.title = "function", .kind = KYMO_CELL_NAME},
};

static void put_text_row(struct kymo_rows *rows, const struct kymo_stat_group *group) {
  const struct kymo_samples *samples = &group->samples;
  const double times[] = {(double)group->outer_ns, (double)group->self_ns, samples->mean,
                          (double)samples->least, (double)samples->most};
  kymo_rows_count(rows, group->calls);
  for (size_t i = 0; i < sizeof times / sizeof *times; i++)
    kymo_rows_duration(rows, times[i]);
  kymo_rows_name(rows, group->name);
  kymo_rows_next(rows);
}

static void put_short(const struct kymo_functions *functions, const struct kymo_report *report) {
  const struct {
    const char *key, *text;
    uint64_t count;
  } missing[] = {
      {"over_lost_events", "calls are counted without times, since events are lost in between",
       functions->over_gaps},
      {"without_begin", "exits have no entry in the trace", functions->without_enter},
      {"left_by_caller", "calls have no exit (longjmp): they are taken to end with their callers",
       functions->left_by_caller},
      {"open", "calls were not left: they are taken to end with the last event of their threads",
       functions->open},
      {"without_key", "events have no time, function or thread", functions->without_key},
  };
  bool is_any = false;
  for (size_t i = 0; i < sizeof missing / sizeof *missing; i++) {
    if (!missing[i].count)
      continue;
    if (report->form == KYMO_REPORT_TEXT)
      kymo_report_put(report, "%s%" PRIu64 " %s\n", is_any ? "" : "\n", missing[i].count, missing[i].text);
    if (report->form == KYMO_REPORT_JSON)
      kymo_report_put(report, "%s\"%s\":%" PRIu64, is_any ? "," : "{", missing[i].key, missing[i].count);
    is_any = true;
  }
  if (is_any && report->form == KYMO_REPORT_JSON)
    kymo_report_put(report, "}\n");
}

int kymo_functions_report(const struct kymo_functions *functions, const struct kymo_report *report) {
  const struct kymo_groups *groups = &functions->groups;
  struct kymo_stat_group **list = calloc(groups->count + 1, sizeof *list);
  size_t count = 0;
  if (!list)
    return KYMO_E_MEMORY;
  for (size_t i = 0; i < groups->count; i++)
    if (groups->list[i]->calls && kymo_group_is_wanted(groups->list[i], report->prefix))
      list[count++] = groups->list[i];
  qsort_r(list, count, sizeof *list, kymo_calls_compare, (void *)(uintptr_t)report);
  count = kymo_report_rows(report, count, 0);
  if (report->collect)
    return kymo_report_collect(report, list, count);
  struct kymo_rows rows = {0};
  if (report->form == KYMO_REPORT_CSV)
    kymo_report_put(report, "function,calls,measured,total,self,mean,min,p50,p99,max\n");
  if (report->form == KYMO_REPORT_TEXT)
    kymo_rows_begin(&rows, report, columns, sizeof columns / sizeof *columns,
                    kymo_rows_name_width(report, list, count));
  for (size_t i = 0; i < count; i++)
    switch (report->form) {
    case KYMO_REPORT_JSON: put_json_row(report, list[i]); break;
    case KYMO_REPORT_CSV: put_csv_row(report, list[i]); break;
    default: put_text_row(&rows, list[i]); break;
    }
  kymo_rows_end(&rows);
  kymo_report_rest(report);
  put_short(functions, report);
  free(list);
  return KYMO_OK;
}
