/* SPDX-License-Identifier: MIT */
/*
 * The table of all spans, and under it the longest instance of each kind with the command that shows it. The command can be pasted as it
 * is printed: where a line of a terminal ends it goes on with a new line inside of the filter, or after a backslash.
 */
#include "stat/latencies.h"
#include "stat/functions.h"
#include "stat/rows.h"
#include <errno.h>
#include <inttypes.h>
#include <kymo/time.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- the command ---- */

/* Where the command may be broken: between words, and inside of the filter's quotes. */
#define BREAK "\f"
#define BREAK_INSIDE "\v"

/* As a filter reads it, in local time as kymo cat prints it. */
static void add_moment(struct kymo_strbuf *out, int64_t time_ns) {
  char text[KYMO_TIME_TEXT], *gap;
  time_t second = (time_t)(time_ns / 1000000000);
  struct tm local;
  bool is_local = time_ns >= 0 && localtime_r(&second, &local) && local.tm_gmtoff % 60 == 0;
  long zone = is_local ? local.tm_gmtoff / 60 : 0;
  kymo_time_to_text(time_ns, is_local ? KYMO_TIME_LOCAL : KYMO_TIME_UTC, text);
  if ((gap = strchr(text, ' ')))
    *gap = 'T';
  kymo_strbuf_printf(out, "\"%s", text);
  if (is_local && zone)
    kymo_strbuf_printf(out, "%c%02ld:%02ld", zone < 0 ? '-' : '+', labs(zone) / 60, labs(zone) % 60);
  else if (is_local)
    kymo_strbuf_puts(out, "Z");
  kymo_strbuf_puts(out, "\"");
}

/* A clock that has no epoch counts from the begin of the trace. */
static void add_distance(struct kymo_strbuf *out, int64_t time_ns, int64_t begin_ns) {
  int64_t distance = (int64_t)((uint64_t)time_ns - (uint64_t)begin_ns);
  kymo_strbuf_printf(out, "+%" PRId64 " ns", distance > 0 ? distance : 0);
}

static void add_filter(struct kymo_strbuf *out, const struct kymo_instance *worst, int64_t begin_ns) {
  kymo_strbuf_puts(out, "--filter 'TIME IN (");
  if (worst->is_epoch)
    add_moment(out, worst->begin_ns);
  else
    add_distance(out, worst->begin_ns, begin_ns);
  kymo_strbuf_puts(out, " .." BREAK_INSIDE);
  if (worst->is_epoch)
    add_moment(out, worst->end_ns);
  else
    add_distance(out, worst->end_ns, begin_ns);
  kymo_strbuf_puts(out, ")");
  if (worst->has_tid)
    kymo_strbuf_printf(out, BREAK_INSIDE "AND tid = %" PRId64, worst->tid);
  kymo_strbuf_puts(out, "'");
}

/* Prints it in lines that fit. */
static void put_command(const struct kymo_report *report, const char *text) {
  enum { INDENT = 4, BACKSLASH = 2 };
  int at = 0;
  for (bool is_first = true; *text; is_first = false) {
    size_t length = strcspn(text, BREAK BREAK_INSIDE);
    bool is_inside = !is_first && text[-1] == *BREAK_INSIDE;
    int width = 0;
    for (size_t i = 0; i < length; i++)
      width += ((unsigned char)text[i] & 0xc0) != 0x80;
    if (!is_first && report->width && at + 1 + width + BACKSLASH > report->width) {
      kymo_report_put(report, "%s\n%*s", is_inside ? "" : " \\", 2 * INDENT, "");
      at = 2 * INDENT;
    } else {
      kymo_report_put(report, "%*s", is_first ? INDENT : 1, "");
      at += is_first ? INDENT : 1;
    }
    kymo_out_bytes(report->out, text, length);
    at += width;
    text += length;
    text += *text != 0;
  }
  kymo_out_byte(report->out, '\n');
}

static void put_worst_command(const struct kymo_report *report, const struct kymo_instance *worst, int64_t begin_ns) {
  struct kymo_strbuf command = {0};
  kymo_strbuf_printf(&command, "%s" BREAK, report->command);
  add_filter(&command, worst, begin_ns);
  if (command.failed)
    report->out->error_number = ENOMEM;
  else
    put_command(report, command.text);
  kymo_strbuf_free(&command);
}

/* Each under its row. */
static void put_worst(const struct kymo_latencies *latencies, const struct kymo_report *report, struct kymo_stat_group *const *list,
                      size_t count) {
  static const struct kymo_column columns[] = {{"longest", 14, 0, KYMO_CELL_NUMBER}, {"from", 29, 0, KYMO_CELL_NUMBER}, {.title = "span", .kind = KYMO_CELL_NAME}};
  struct kymo_rows rows;
  struct kymo_error error;
  int64_t begin_ns, end_ns;
  if (kymo_trace_range(latencies->thread.trace, &begin_ns, &end_ns, &error) < 0)
    begin_ns = 0;
  kymo_out_byte(report->out, '\n');
  kymo_rows_begin(&rows, report, columns, sizeof columns / sizeof *columns, kymo_rows_name_width(report, list, count));
  for (size_t i = 0; i < count; i++) {
    const struct kymo_span_kind *kind = (const struct kymo_span_kind *)list[i];
    kymo_rows_exact(&rows, kind->worst.end_ns - kind->worst.begin_ns);
    kymo_rows_time(&rows, kind->worst.begin_ns, kind->worst.is_epoch);
    kymo_rows_name(&rows, kind->group.name);
    kymo_rows_next(&rows);
    put_worst_command(report, &kind->worst, begin_ns);
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

static void put_text(const struct kymo_latencies *latencies, const struct kymo_report *report, struct kymo_stat_group **list, size_t count) {
  static const struct kymo_column columns[] = {
      {.title = "span", .kind = KYMO_CELL_NAME}, {"count", 6, 0, KYMO_CELL_NUMBER}, {"total", 8, 0, KYMO_CELL_NUMBER}, {"self", 8, 0, KYMO_CELL_NUMBER}, {"mean", 8, 1, KYMO_CELL_NUMBER},
      {"min", 8, 2, KYMO_CELL_NUMBER}, {"p50", 8, 0, KYMO_CELL_NUMBER}, {"p99", 8, 0, KYMO_CELL_NUMBER}, {"max", 8, 0, KYMO_CELL_NUMBER},
  };
  struct kymo_rows rows;
  kymo_rows_begin(&rows, report, columns, sizeof columns / sizeof *columns, kymo_rows_name_width(report, list, count));
  for (size_t i = 0; i < count; i++)
    put_text_row(&rows, list[i]);
  kymo_rows_end(&rows);
  if (count)
    put_worst(latencies, report, list, count);
}

static void put_json_worst(struct kymo_json *json, const struct kymo_instance *worst) {
  kymo_json_fixed_key(json, "worst");
  kymo_json_begin(json, '{');
  kymo_json_fixed_key(json, "begin");
  kymo_json_int(json, worst->begin_ns);
  kymo_json_fixed_key(json, "end");
  kymo_json_int(json, worst->end_ns);
  if (worst->has_tid) {
    kymo_json_fixed_key(json, "tid");
    kymo_json_int(json, worst->tid);
  }
  kymo_json_fixed_key(json, "events");
  kymo_json_begin(json, '[');
  kymo_json_uint(json, worst->begin_number);
  kymo_json_uint(json, worst->end_number);
  kymo_json_end(json, ']');
  kymo_json_end(json, '}');
}

static void put_json_row(const struct kymo_report *report, struct kymo_span_kind *kind) {
  struct kymo_json json;
  kymo_json_start(&json, report->out);
  kymo_json_begin(&json, '{');
  kymo_json_fixed_key(&json, "span");
  kymo_json_text(&json, kind->group.name);
  kymo_json_fixed_key(&json, "count");
  kymo_json_uint(&json, kind->group.samples.count);
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

/* The kinds of which something was measured, in order; the caller's, to be freed. */
static struct kymo_stat_group **list_kinds(const struct kymo_latencies *latencies, const struct kymo_report *report, size_t *count) {
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

static void put_short(const struct kymo_latencies *latencies, const struct kymo_report *report) {
  if (!latencies->without_begin && !latencies->spans.open && !latencies->without_key && !latencies->over_gaps)
    return;
  if (report->form == KYMO_REPORT_TEXT)
    kymo_report_uncounted(report, (const struct kymo_uncounted[]){{"without begin", latencies->without_begin},
                                                                  {"without end", latencies->spans.open},
                                                                  {"without thread", latencies->without_key},
                                                                  {"over lost events", latencies->over_gaps}}, 4);
  if (report->form == KYMO_REPORT_JSON)
    kymo_report_put(report, "{\"without_begin\":%" PRIu64 ",\"without_end\":%zu,\"without_key\":%" PRIu64 ",\"over_lost_events\":%" PRIu64 "}\n",
                    latencies->without_begin, latencies->spans.open, latencies->without_key, latencies->over_gaps);
}

int kymo_latencies_report(const struct kymo_latencies *latencies, const struct kymo_report *report) {
  size_t count;
  struct kymo_stat_group **list = list_kinds(latencies, report, &count);
  if (!list)
    return KYMO_E_MEMORY;
  count = kymo_report_rows(report, count, 0);
  if (report->form == KYMO_REPORT_TEXT)
    put_text(latencies, report, list, count);
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
  put_short(latencies, report);
  free(list);
  return KYMO_OK;
}
