/* SPDX-License-Identifier: MIT */
/* The table of all spans, and under it the longest instance of each kind with the command that shows it. */
#include "stat/latencies.h"
#include "stat/functions.h"
#include "stat/opened.h"
#include "stat/rows.h"
#include <inttypes.h>
#include <stdlib.h>

/* Each under its row. */
static void put_worst(const struct kymo_report *report, struct kymo_stat_group *const *list, size_t count) {
  static const struct kymo_column columns[] = {{"longest", 14, 0, KYMO_CELL_NUMBER},
                                               {"from", 29, 0, KYMO_CELL_NUMBER},
                                               {.title = "span", .kind = KYMO_CELL_NAME}};
  struct kymo_rows rows;
  int64_t origin_ns = kymo_instance_origin(report);
  kymo_out_byte(report->out, '\n');
  kymo_rows_begin(&rows, report, columns, sizeof columns / sizeof *columns,
                  kymo_rows_name_width(report, list, count));
  for (size_t i = 0; i < count; i++) {
    const struct kymo_span_kind *kind = (const struct kymo_span_kind *)list[i];
    kymo_rows_exact(&rows, kind->worst.end_ns - kind->worst.begin_ns);
    kymo_rows_time(&rows, kind->worst.begin_ns, kind->worst.is_epoch);
    kymo_rows_name(&rows, kind->group.name);
    kymo_rows_next(&rows);
    kymo_instance_put_command(report, &kind->worst, origin_ns);
  }
  kymo_rows_end(&rows);
}

/* ---- rows ---- */

static void put_text_row(struct kymo_rows *rows, struct kymo_stat_group *group) {
  kymo_rows_name(rows, group->name);
  kymo_rows_count(rows, group->calls);
  kymo_rows_duration(rows, (double)group->outer_ns);
  kymo_rows_duration(rows, (double)group->self_ns);
  kymo_rows_duration(rows, group->samples.mean);
  kymo_rows_duration(rows, (double)group->samples.least);
  kymo_rows_percentile(rows, kymo_samples_percentile(&group->samples, 500));
  kymo_rows_percentile(rows, kymo_samples_percentile(&group->samples, 990));
  kymo_rows_duration(rows, (double)group->samples.most);
  kymo_rows_next(rows);
}

static void put_text(const struct kymo_report *report, struct kymo_stat_group **list, size_t count) {
  static const struct kymo_column columns[] = {
      {.title = "span", .kind = KYMO_CELL_NAME}, {"count", 6, 0, KYMO_CELL_NUMBER},
      {"total", 8, 0, KYMO_CELL_NUMBER},         {"self", 8, 0, KYMO_CELL_NUMBER},
      {"mean", 8, 1, KYMO_CELL_NUMBER},          {"min", 8, 2, KYMO_CELL_NUMBER},
      {"p50", 8, 0, KYMO_CELL_NUMBER},           {"p99", 8, 0, KYMO_CELL_NUMBER},
      {"max", 8, 0, KYMO_CELL_NUMBER},
  };
  struct kymo_rows rows;
  kymo_rows_begin(&rows, report, columns, sizeof columns / sizeof *columns,
                  kymo_rows_name_width(report, list, count));
  for (size_t i = 0; i < count; i++)
    put_text_row(&rows, list[i]);
  kymo_rows_end(&rows);
  if (count)
    put_worst(report, list, count);
}

static void put_json_worst(struct kymo_json *json, const struct kymo_instance *worst) {
  kymo_json_member(json, "worst", begin, '{');
  kymo_json_member(json, "begin", int, worst->begin_ns);
  kymo_json_member(json, "end", int, worst->end_ns);
  if (worst->has_tid)
    kymo_json_member(json, "tid", int, worst->tid);
  kymo_json_member(json, "events", begin, '[');
  kymo_json_uint(json, worst->begin_number);
  kymo_json_uint(json, worst->end_number);
  kymo_json_end(json, ']');
  kymo_json_end(json, '}');
}

static void put_json_row(const struct kymo_report *report, struct kymo_span_kind *kind) {
  struct kymo_json json;
  kymo_json_start(&json, report->out);
  kymo_json_begin(&json, '{');
  kymo_json_member(&json, "span", text, kind->group.name);
  kymo_json_member(&json, "count", uint, kind->group.samples.count);
  kymo_calls_put_json(&json, &kind->group);
  put_json_worst(&json, &kind->worst);
  kymo_json_end(&json, '}');
  kymo_json_newline(&json);
}

static void put_csv_row(const struct kymo_report *report, struct kymo_span_kind *kind) {
  kymo_report_put_csv_text(report, kind->group.name);
  kymo_report_put(report, ",%" PRIu64, kind->group.samples.count);
  kymo_calls_put_csv(report, &kind->group);
  kymo_report_put(report, ",%" PRId64 ",%" PRId64 "\n", kind->worst.begin_ns, kind->worst.end_ns);
}

/* ---- all of it ---- */

/* The kinds with measurements, in order; the caller frees the list. */
static struct kymo_stat_group **list_kinds(const struct kymo_latencies *latencies,
                                           const struct kymo_report *report, size_t *count) {
  struct kymo_stat_group **list = calloc(latencies->kind_count + 1, sizeof *list);
  *count = 0;
  for (size_t i = 0; list && i < latencies->kind_count; i++) {
    struct kymo_stat_group *group = &latencies->kinds[i].group;
    if (group->samples.count && kymo_group_is_wanted(group, report->prefix))
      list[(*count)++] = group;
  }
  if (*count)
    qsort_r(list, *count, sizeof *list, kymo_calls_compare, (void *)(uintptr_t)report);
  return list;
}

void kymo_latencies_put_short(const struct kymo_latencies *latencies, const struct kymo_report *report) {
  if (!latencies->without_begin && !latencies->spans.open && !latencies->without_key && !latencies->over_gaps)
    return;
  if (report->form == KYMO_REPORT_TEXT)
    kymo_report_uncounted(report,
                          (const struct kymo_uncounted[]){{"without begin", latencies->without_begin},
                                                          {"without end", latencies->spans.open},
                                                          {"without thread", latencies->without_key},
                                                          {"over lost events", latencies->over_gaps}},
                          4);
  if (report->form == KYMO_REPORT_JSON)
    kymo_report_put(report,
                    "{\"without_begin\":%" PRIu64 ",\"without_end\":%zu,\"without_key\":%" PRIu64
                    ",\"over_lost_events\":%" PRIu64 "}\n",
                    latencies->without_begin, latencies->spans.open, latencies->without_key,
                    latencies->over_gaps);
}

int kymo_latencies_report(const struct kymo_latencies *latencies, const struct kymo_report *report) {
  size_t count;
  struct kymo_stat_group **list = list_kinds(latencies, report, &count);
  if (!list)
    return KYMO_E_MEMORY;
  count = kymo_report_rows(report, count, 0);
  if (report->collect)
    return kymo_report_collect(report, list, count);
  if (report->form == KYMO_REPORT_TEXT)
    put_text(report, list, count);
  if (report->form == KYMO_REPORT_CSV)
    kymo_report_put(report, "span,count,total,self,mean,min,p50,p99,max,worst_begin,worst_end\n");
  for (size_t i = 0; i < count; i++) {
    struct kymo_span_kind *kind = (struct kymo_span_kind *)list[i];
    if (report->form == KYMO_REPORT_JSON)
      put_json_row(report, kind);
    if (report->form == KYMO_REPORT_CSV)
      put_csv_row(report, kind);
  }
  kymo_report_rest(report);
  kymo_opened_report(&(struct kymo_opened){&latencies->spans, latencies->gaps, latencies->last_ns}, report);
  kymo_latencies_put_short(latencies, report);
  free(list);
  return KYMO_OK;
}
