/* SPDX-License-Identifier: MIT */
#include "stat/report.h"
#include "print/duration.h"
#include "print/text_fields.h"
#include "stat/instance.h"
#include "stat/opened.h"
#include "stat/rows.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define BAR_WIDTH 50
#define BAR_BEGIN 32 /* columns before a bar */

void kymo_report_put(const struct kymo_report *report, const char *format, ...) {
  char text[KYMO_OUT_ROOM];
  va_list args;
  va_start(args, format);
  int length = vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (length > 0)
    kymo_out_bytes(report->out, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}

/* ---- order ---- */

static int by_number(double a, double b) { return a < b ? 1 : a > b ? -1 : 0; }

static int compare(const void *a, const void *b, void *user) {
  const struct kymo_stat_group *one = *(struct kymo_stat_group *const *)a,
                               *other = *(struct kymo_stat_group *const *)b;
  const struct kymo_report *report = user;
  const struct kymo_samples *x = &one->samples, *y = &other->samples;
  int order = 0;
  switch (report->order) {
  case KYMO_ORDER_TOTAL: order = by_number(x->total, y->total); break;
  case KYMO_ORDER_COUNT: order = by_number((double)x->count, (double)y->count); break;
  case KYMO_ORDER_MEAN: order = by_number(x->mean, y->mean); break;
  case KYMO_ORDER_MOST: order = by_number((double)x->most, (double)y->most); break;
  case KYMO_ORDER_NAME:
  case KYMO_ORDER_SELF: break;
  }
  return order ? order : strcmp(one->name, other->name);
}

/* VPP's tools leave out tracks whose times add up to nothing, and those of the kernel unless they are
 * requested. */
bool kymo_report_wants(const struct kymo_report *report, const struct kymo_stat_group *group) {
  static const char kernel[] = "kernel ";
  if (report->form == KYMO_REPORT_VPP &&
      (group->samples.mean == 0 ||
       (!report->with_kernel && strncmp(group->name, kernel, sizeof kernel - 1) == 0)))
    return false;
  return kymo_group_is_wanted(group, report->prefix);
}

struct kymo_stat_group **kymo_report_list(const struct kymo_report *report, const struct kymo_groups *groups,
                                          size_t *count) {
  struct kymo_stat_group **list = calloc(groups->count + 1, sizeof *list);
  *count = 0;
  for (size_t i = 0; list && i < groups->count; i++)
    if (groups->list[i]->samples.count && kymo_report_wants(report, groups->list[i]))
      list[(*count)++] = groups->list[i];
  if (*count)
    kymo_report_sort(report, list, *count);
  return list;
}

void kymo_report_sort(const struct kymo_report *report, struct kymo_stat_group **list, size_t count) {
  qsort_r(list, count, sizeof *list, compare, (void *)(uintptr_t)report);
}

size_t kymo_report_rows(const struct kymo_report *report, size_t count, uint64_t all) {
  size_t shown = report->top && report->top < count ? report->top : count;
  if (report->rows)
    *report->rows = (struct kymo_report_rows){shown, all > count ? all : count};
  return shown;
}

int kymo_report_collect(const struct kymo_report *report, struct kymo_stat_group **list, size_t shown) {
  bool is_taken = report->collect(report->user, list, shown);
  free(list);
  return is_taken ? KYMO_OK : KYMO_E_MEMORY;
}

void kymo_report_rest(const struct kymo_report *report) {
  const struct kymo_report_rows *rows = report->rows;
  if (!rows || rows->shown == rows->all)
    return;
  if (report->form == KYMO_REPORT_TEXT)
    kymo_report_put(report, "\n%" PRIu64 " of %" PRIu64 " are shown (--top)\n", rows->shown, rows->all);
  if (report->form == KYMO_REPORT_JSON)
    kymo_report_put(report, "{\"shown\":%" PRIu64 ",\"of\":%" PRIu64 "}\n", rows->shown, rows->all);
}

void kymo_report_uncounted(const struct kymo_report *report, const struct kymo_uncounted *list,
                           size_t count) {
  bool is_any = false;
  for (size_t i = 0; i < count; i++) {
    if (list[i].count)
      kymo_report_put(report, "%s%" PRIu64 " %s", is_any ? ", " : "\nnot counted: ", list[i].count,
                      list[i].what);
    is_any = is_any || list[i].count;
  }
  if (is_any)
    kymo_out_byte(report->out, '\n');
}

/* ---- rows ---- */

static const unsigned shares[] = {500, 900, 990, 999}; /* thousandths */
#define SHARES (sizeof shares / sizeof *shares)

void kymo_report_put_name(const struct kymo_report *report, const char *name) {
  struct kymo_strbuf safe = {0};
  kymo_text_add_name(&safe, name);
  if (safe.failed)
    report->out->error_number = ENOMEM;
  else
    kymo_out_bytes(report->out, safe.text, safe.length);
  kymo_strbuf_free(&safe);
}

void kymo_report_put_duration(const struct kymo_report *report, uint64_t ns) {
  char text[KYMO_DURATION_TEXT];
  kymo_report_put(report, "%s", kymo_duration_exact(ns, text));
}

static void put_text_row(struct kymo_rows *rows, const char *name, struct kymo_samples *samples) {
  kymo_rows_name(rows, name);
  kymo_rows_count(rows, samples->count);
  kymo_rows_duration(rows, samples->mean);
  kymo_rows_duration(rows, kymo_samples_deviation(samples));
  kymo_rows_duration(rows, (double)samples->least);
  for (size_t i = 0; i < SHARES; i++)
    kymo_rows_percentile(rows, kymo_samples_percentile(samples, shares[i]));
  kymo_rows_duration(rows, (double)samples->most);
  kymo_rows_duration(rows, samples->total);
  kymo_rows_next(rows);
}

void kymo_report_put_csv_text(const struct kymo_report *report, const char *text) {
  kymo_out_byte(report->out, '"');
  for (; *text; text++) {
    if (*text == '"')
      kymo_out_byte(report->out, '"');
    kymo_out_byte(report->out, *text);
  }
  kymo_out_byte(report->out, '"');
}

static void put_csv_row(const struct kymo_report *report, const char *name, struct kymo_samples *samples) {
  kymo_report_put_csv_text(report, name);
  kymo_report_put(report, ",%" PRIu64 ",%.3f,%.3f,%" PRId64, samples->count, samples->mean,
                  kymo_samples_deviation(samples), samples->least);
  for (size_t i = 0; i < SHARES; i++)
    kymo_report_put(report, ",%" PRId64, kymo_samples_percentile(samples, shares[i]).value);
  kymo_report_put(report, ",%" PRId64 ",%.0f\n", samples->most, samples->total);
}

static void put_json_row(const struct kymo_report *report, const char *name, struct kymo_samples *samples) {
  static const char *const keys[] = {"p50", "p90", "p99", "p999"};
  struct kymo_json json;
  kymo_json_start(&json, report->out);
  kymo_json_begin(&json, '{');
  kymo_json_key(&json, report->what);
  kymo_json_text(&json, name);
  kymo_json_member(&json, "count", uint, samples->count);
  kymo_json_fixed_key(&json, "mean");
  kymo_json_float(&json, samples->mean, false);
  kymo_json_fixed_key(&json, "stdev");
  kymo_json_float(&json, kymo_samples_deviation(samples), false);
  kymo_json_member(&json, "min", int, samples->least);
  for (size_t i = 0; i < SHARES; i++) {
    kymo_json_key(&json, keys[i]);
    kymo_json_int(&json, kymo_samples_percentile(samples, shares[i]).value);
  }
  kymo_json_member(&json, "max", int, samples->most);
  kymo_json_fixed_key(&json, "total");
  kymo_json_float(&json, samples->total, false);
  kymo_json_end(&json, '}');
  kymo_json_newline(&json);
}

static void put_program_row(const struct kymo_report *report, const char *name,
                            struct kymo_samples *samples) {
  if (report->form == KYMO_REPORT_JSON)
    put_json_row(report, name, samples);
  else
    put_csv_row(report, name, samples);
}

/* The columns on a narrow terminal, from the last one: name, count and sum; the greatest, p50, p99, mean;
 * … */
static void put_text_groups(const struct kymo_report *report, struct kymo_stat_group *const *list,
                            size_t count, struct kymo_samples *all) {
  const struct kymo_column columns[] = {
      {.title = report->what, .kind = KYMO_CELL_NAME},
      {"count", 8, 0, KYMO_CELL_NUMBER},
      {"mean", 8, 4, KYMO_CELL_NUMBER},
      {"stdev", 8, 8, KYMO_CELL_NUMBER},
      {"min", 8, 5, KYMO_CELL_NUMBER},
      {"p50", 8, 3, KYMO_CELL_NUMBER},
      {"p90", 8, 6, KYMO_CELL_NUMBER},
      {"p99", 8, 2, KYMO_CELL_NUMBER},
      {"p99.9", 8, 7, KYMO_CELL_NUMBER},
      {"max", 8, 1, KYMO_CELL_NUMBER},
      {"total", 8, 0, KYMO_CELL_NUMBER},
  };
  struct kymo_rows rows;
  kymo_rows_begin(&rows, report, columns, sizeof columns / sizeof *columns,
                  kymo_rows_name_width(report, list, count));
  for (size_t i = 0; i < count; i++)
    put_text_row(&rows, list[i]->name, &list[i]->samples);
  if (all)
    put_text_row(&rows, "all", all);
  kymo_rows_end(&rows);
}

int kymo_report_groups(const struct kymo_report *report, const struct kymo_groups *groups,
                       struct kymo_samples *all) {
  size_t count;
  struct kymo_stat_group **list = kymo_report_list(report, groups, &count);
  if (!list)
    return KYMO_E_MEMORY;
  bool is_one = count == 1 && groups->merged <= 1;
  count = kymo_report_rows(report, count, groups->merged);
  if (report->collect)
    return kymo_report_collect(report, list, count);
  if (report->form == KYMO_REPORT_CSV)
    kymo_report_put(report, "%s,count,mean,stdev,min,p50,p90,p99,p999,max,total\n", report->what);
  if (report->form == KYMO_REPORT_TEXT)
    put_text_groups(report, list, count, is_one ? NULL : all);
  for (size_t i = 0; i < count && report->form != KYMO_REPORT_TEXT; i++)
    put_program_row(report, list[i]->name, &list[i]->samples);
  if (report->form == KYMO_REPORT_JSON)
    put_json_row(report, NULL, all);
  kymo_report_rest(report);
  free(list);
  return KYMO_OK;
}

/* ---- counts ---- */

/* The counted groups; `name` NULL: of all groups. */
struct tally {
  const char *name;
  uint64_t count;
  double span_ns;
};

static double rate_of(const struct tally *tally) {
  return tally->span_ns > 0 ? (double)tally->count / tally->span_ns * 1e9 : 0;
}

static void put_json_count(const struct kymo_report *report, const struct tally *tally) {
  struct kymo_json json;
  kymo_json_start(&json, report->out);
  kymo_json_begin(&json, '{');
  kymo_json_key(&json, report->what);
  kymo_json_text(&json, tally->name);
  kymo_json_member(&json, "count", uint, tally->count);
  kymo_json_fixed_key(&json, "rate");
  kymo_json_float(&json, rate_of(tally), false);
  if (!tally->name) {
    kymo_json_fixed_key(&json, "span");
    kymo_json_float(&json, tally->span_ns, false);
  }
  kymo_json_end(&json, '}');
  kymo_json_newline(&json);
}

static void put_count(const struct kymo_report *report, struct kymo_rows *rows, const struct tally *tally) {
  double rate = rate_of(tally);
  if (report->form == KYMO_REPORT_CSV) {
    kymo_report_put_csv_text(report, tally->name);
    kymo_report_put(report, ",%" PRIu64 ",%.3f\n", tally->count, rate);
  } else if (report->form == KYMO_REPORT_JSON) {
    put_json_count(report, tally);
  } else {
    kymo_rows_name(rows, tally->name ? tally->name : "all");
    kymo_rows_count(rows, tally->count);
    kymo_rows_text(rows, "%.*f", rate < 100 ? 3 : 1, rate);
    kymo_rows_next(rows);
  }
}

int kymo_report_counts(const struct kymo_report *report, const struct kymo_groups *groups, uint64_t all,
                       double span_ns) {
  size_t count;
  struct kymo_stat_group **list = kymo_report_list(report, groups, &count);
  if (!list)
    return KYMO_E_MEMORY;
  count = kymo_report_rows(report, count, groups->merged);
  if (report->collect)
    return kymo_report_collect(report, list, count);
  const struct kymo_column columns[] = {{.title = report->what, .kind = KYMO_CELL_NAME},
                                        {"count", 12, 0, KYMO_CELL_NUMBER},
                                        {"a second", 14, 0, KYMO_CELL_NUMBER}};
  struct kymo_rows rows = {0};
  if (report->form == KYMO_REPORT_CSV)
    kymo_report_put(report, "%s,count,rate\n", report->what);
  if (report->form == KYMO_REPORT_TEXT)
    kymo_rows_begin(&rows, report, columns, sizeof columns / sizeof *columns,
                    kymo_rows_name_width(report, list, count));
  for (size_t i = 0; i < count; i++)
    put_count(report, &rows, &(struct tally){list[i]->name, list[i]->samples.count, span_ns});
  if (report->form != KYMO_REPORT_CSV)
    put_count(report, &rows, &(struct tally){NULL, all, span_ns});
  if (report->form == KYMO_REPORT_TEXT) {
    kymo_rows_end(&rows);
    if (span_ns > 0) {
      kymo_out_literal(report->out, "over ");
      kymo_report_put_duration(report, (uint64_t)span_ns);
      kymo_out_byte(report->out, '\n');
    }
  }
  kymo_report_rest(report);
  free(list);
  return KYMO_OK;
}

/* ---- lines ---- */

static void put_line(const struct kymo_report *report, struct kymo_rows *rows,
                     const struct kymo_stat_group *group, double all) {
  const struct kymo_samples *samples = &group->samples;
  struct kymo_line line = kymo_regression_line(group);
  double share = all > 0 ? samples->total / all * 100 : 0;
  if (report->form == KYMO_REPORT_CSV) {
    kymo_report_put_csv_text(report, group->name);
    kymo_report_put(report, ",%" PRIu64 ",%.3f,%.3f,%.0f,%" PRId64 ",%" PRId64 ",%.3f,%.4f,%.6f\n",
                    samples->count, line.offset, line.slope, samples->total, samples->least, samples->most,
                    samples->mean, share, line.r);
  } else if (report->form == KYMO_REPORT_JSON) {
    struct kymo_json json;
    static const char *const keys[] = {"offset", "slope", "total", "min", "max", "mean", "percent", "r"};
    const double numbers[] = {line.offset,           line.slope,    samples->total, (double)samples->least,
                              (double)samples->most, samples->mean, share,          line.r};
    kymo_json_start(&json, report->out);
    kymo_json_begin(&json, '{');
    kymo_json_key(&json, report->what);
    kymo_json_text(&json, group->name);
    kymo_json_member(&json, "count", uint, samples->count);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
      kymo_json_key(&json, keys[i]);
      kymo_json_float(&json, numbers[i], false);
    }
    kymo_json_end(&json, '}');
    kymo_json_newline(&json);
  } else {
    const double times[] = {line.offset,           line.slope,   samples->total, (double)samples->least,
                            (double)samples->most, samples->mean};
    kymo_rows_name(rows, group->name);
    kymo_rows_count(rows, samples->count);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
      kymo_rows_duration(rows, times[i]);
    kymo_rows_text(rows, "%.2f", share);
    kymo_rows_text(rows, "%.2f", line.r);
    kymo_rows_next(rows);
  }
}

static void put_lines_short(const struct kymo_report *report, const struct kymo_regression *regression) {
  uint64_t without_leave = regression->without_leave + regression->spans.open;
  if (!regression->without_enter && !without_leave && !regression->over_gaps)
    return;
  if (report->form == KYMO_REPORT_TEXT)
    kymo_report_uncounted(report,
                          (const struct kymo_uncounted[]){{"left and not entered", regression->without_enter},
                                                          {"entered and not left", without_leave},
                                                          {"over lost events", regression->over_gaps}},
                          3);
  if (report->form == KYMO_REPORT_JSON)
    kymo_report_put(report,
                    "{\"without_begin\":%" PRIu64 ",\"without_end\":%" PRIu64 ",\"over_lost_events\":%" PRIu64
                    "}\n",
                    regression->without_enter, without_leave, regression->over_gaps);
}

int kymo_report_lines(const struct kymo_report *report, const struct kymo_regression *regression,
                      const struct kymo_samples *all) {
  size_t count;
  struct kymo_stat_group **list = kymo_report_list(report, &regression->keys, &count);
  if (!list)
    return KYMO_E_MEMORY;
  count = kymo_report_rows(report, count, regression->keys.merged);
  if (report->collect)
    return kymo_report_collect(report, list, count);
  const struct kymo_column columns[] = {
      {.title = report->what, .kind = KYMO_CELL_NAME},
      {"count", 8, 0, KYMO_CELL_NUMBER},
      {"offset", 9, 0, KYMO_CELL_NUMBER},
      {"slope", 9, 0, KYMO_CELL_NUMBER},
      {"total", 9, 0, KYMO_CELL_NUMBER},
      {"min", 9, 4, KYMO_CELL_NUMBER},
      {"max", 9, 3, KYMO_CELL_NUMBER},
      {"mean", 9, 2, KYMO_CELL_NUMBER},
      {"percent", 7, 1, KYMO_CELL_NUMBER},
      {"r", 5, 0, KYMO_CELL_NUMBER},
  };
  struct kymo_rows rows = {0};
  if (report->form == KYMO_REPORT_CSV)
    kymo_report_put(report, "%s,count,offset,slope,total,min,max,mean,percent,r\n", report->what);
  if (report->form == KYMO_REPORT_TEXT)
    kymo_rows_begin(&rows, report, columns, sizeof columns / sizeof *columns,
                    kymo_rows_name_width(report, list, count));
  for (size_t i = 0; i < count; i++)
    put_line(report, &rows, list[i], all->total);
  kymo_rows_end(&rows);
  kymo_report_rest(report);
  put_lines_short(report, regression);
  free(list);
  return KYMO_OK;
}

/* ---- after the table ---- */

static void put_json_worst(const struct kymo_report *report, const struct kymo_worst *worst) {
  struct kymo_json json;
  kymo_json_start(&json, report->out);
  kymo_json_begin(&json, '{');
  kymo_json_member(&json, "longest", int, worst->duration_ns);
  kymo_json_key(&json, report->what);
  kymo_json_text(&json, worst->group->name);
  kymo_json_member(&json, "begin", int, worst->begin_ns);
  kymo_json_member(&json, "events", begin, '[');
  kymo_json_uint(&json, worst->begin_number);
  kymo_json_uint(&json, worst->end_number);
  kymo_json_end(&json, ']');
  kymo_json_end(&json, '}');
  kymo_json_newline(&json);
}

void kymo_report_worst(const struct kymo_report *report, const struct kymo_pairs *pairs) {
  kymo_report_put(report, "duration,%s,begin,begin_event,end_event\n", report->what);
  for (unsigned i = 0; i < pairs->worst_count; i++) {
    const struct kymo_worst *worst = &pairs->worst[i];
    kymo_report_put(report, "%" PRId64 ",", worst->duration_ns);
    kymo_report_put_csv_text(report, worst->group->name);
    kymo_report_put(report, ",%" PRId64 ",%" PRIu64 ",%" PRIu64 "\n", worst->begin_ns, worst->begin_number,
                    worst->end_number);
  }
}

static void put_json_short(const struct kymo_report *report, const struct kymo_pairs *pairs) {
  struct kymo_json json;
  kymo_json_start(&json, report->out);
  kymo_json_begin(&json, '{');
  kymo_json_member(&json, "without_begin", uint, pairs->without_begin);
  kymo_json_member(&json, "without_end", uint, pairs->without_end);
  kymo_json_member(&json, "without_key", uint, pairs->without_key);
  kymo_json_member(&json, "over_lost_events", uint, pairs->over_gaps);
  kymo_json_end(&json, '}');
  kymo_json_newline(&json);
}

static void put_longest(const struct kymo_report *report, const struct kymo_pairs *pairs) {
  const struct kymo_column columns[] = {{"longest", 14, 0, KYMO_CELL_NUMBER},
                                        {"from", 29, 0, KYMO_CELL_NUMBER},
                                        {"events", 12, 1, KYMO_CELL_NUMBER},
                                        {.title = report->what, .kind = KYMO_CELL_NAME}};
  struct kymo_stat_group *groups[KYMO_WORST_MAX];
  struct kymo_rows rows;
  int64_t origin_ns = kymo_instance_origin(report);
  for (unsigned i = 0; i < pairs->worst_count; i++)
    groups[i] = pairs->worst[i].group;
  kymo_out_byte(report->out, '\n');
  kymo_rows_begin(&rows, report, columns, sizeof columns / sizeof *columns,
                  kymo_rows_name_width(report, groups, pairs->worst_count));
  for (unsigned i = 0; i < pairs->worst_count; i++) {
    const struct kymo_worst *worst = &pairs->worst[i];
    kymo_rows_exact(&rows, worst->duration_ns);
    kymo_rows_time(&rows, worst->begin_ns, worst->is_epoch);
    kymo_rows_text(&rows, "%" PRIu64 " to %" PRIu64, worst->begin_number, worst->end_number);
    kymo_rows_name(&rows, worst->group->name);
    kymo_rows_next(&rows);
    const struct kymo_instance instance = {.begin_ns = worst->begin_ns,
                                           .end_ns = worst->begin_ns + worst->duration_ns,
                                           .tid = worst->tid,
                                           .has_tid = worst->has_tid,
                                           .is_epoch = worst->is_epoch};
    kymo_instance_put_command(report, &instance, origin_ns);
  }
  kymo_rows_end(&rows);
}

void kymo_report_pairs(const struct kymo_report *report, const struct kymo_pairs *pairs) {
  if (report->form == KYMO_REPORT_JSON) {
    for (unsigned i = 0; i < pairs->worst_count; i++)
      put_json_worst(report, &pairs->worst[i]);
  }
  if (report->form == KYMO_REPORT_TEXT && pairs->worst_count)
    put_longest(report, pairs);
  if (pairs->thread) /* else each last event is open */
    kymo_opened_report(&(struct kymo_opened){&pairs->spans, pairs->gaps, pairs->last_ns}, report);
  if (report->form == KYMO_REPORT_JSON && kymo_pairs_are_short(pairs))
    put_json_short(report, pairs);
  if (report->form != KYMO_REPORT_TEXT)
    return;
  kymo_report_uncounted(report,
                        (const struct kymo_uncounted[]){{"without begin", pairs->without_begin},
                                                        {"without end", pairs->without_end},
                                                        {"without key", pairs->without_key},
                                                        {"over lost events", pairs->over_gaps}},
                        4);
}

/* ---- histograms ---- */

/* A bar has the numbers of one power of two, or all from -15 to -1 or 0 to 15. */
enum { BAR_BITS = 4, BARS = KYMO_BARS_MAX / 2 };

/* For negative numbers the bar begins with the smallest of them. */
static struct kymo_bar make_bar(const struct kymo_samples *samples, bool is_below, unsigned octave) {
  unsigned bits = octave + BAR_BITS - 1; /* of the first one, all up to that */
  uint64_t first = octave ? UINT64_C(1) << bits : 0,
           last = bits == 63 ? UINT64_MAX : (UINT64_C(2) << bits) - 1;
  bool is_beyond = last > INT64_MAX || (is_below && -(int64_t)last < samples->least);
  struct kymo_bar bar = {.from = !is_below ? (int64_t)first : is_beyond ? samples->least : -(int64_t)last};
  for (unsigned i = octave ? bits : 0; i <= bits; i++)
    bar.count += kymo_samples_in(samples, is_below, i);
  return bar;
}

/* The histogram of one group; `group` NULL: of all events. */
struct drawing {
  const struct kymo_report *report;
  const struct kymo_histogram *histogram;
  const char *group;
  uint64_t most;
};

static void begin_json_bar(const struct drawing *drawing, struct kymo_json *json) {
  kymo_json_start(json, drawing->report->out);
  kymo_json_begin(json, '{');
  if (!drawing->group)
    return;
  kymo_json_key(json, drawing->report->what);
  kymo_json_text(json, drawing->group);
}

static void end_json_bar(const struct drawing *drawing, struct kymo_json *json, uint64_t count) {
  kymo_json_member(json, "count", uint, count);
  if (drawing->histogram->unit)
    kymo_json_member(json, "unit", text, drawing->histogram->unit);
  kymo_json_end(json, '}');
  kymo_json_newline(json);
}

static void put_json_bar(const struct drawing *drawing, const struct kymo_bar *bar) {
  struct kymo_json json;
  begin_json_bar(drawing, &json);
  kymo_json_member(&json, "from", int, bar->from);
  end_json_bar(drawing, &json, bar->count);
}

/* As long as the share of the longest one. */
static void put_text_bar(const struct drawing *drawing, const char *from, uint64_t count) {
  static const char drawn[BAR_WIDTH + 1] = "##################################################";
  const struct kymo_report *report = drawing->report;
  int width = report->width && report->width < BAR_WIDTH + BAR_BEGIN ? report->width - BAR_BEGIN : BAR_WIDTH;
  kymo_report_put(report, "%20s %10" PRIu64 " %.*s\n", from, count,
                  drawing->most && width > 0 ? (int)((double)count / (double)drawing->most * width) : 0,
                  drawn);
}

static void put_csv_group(const struct drawing *drawing) {
  if (!drawing->group)
    return;
  kymo_report_put_csv_text(drawing->report, drawing->group);
  kymo_out_byte(drawing->report->out, ',');
}

static void put_bar(const struct drawing *drawing, const struct kymo_bar *bar) {
  const struct kymo_report *report = drawing->report;
  char from[24];
  if (report->form == KYMO_REPORT_JSON) {
    put_json_bar(drawing, bar);
  } else if (report->form == KYMO_REPORT_CSV) {
    put_csv_group(drawing);
    kymo_report_put(report, "%" PRId64 ",%" PRIu64 "\n", bar->from, bar->count);
  } else {
    snprintf(from, sizeof from, "%" PRId64, bar->from);
    put_text_bar(drawing, from, bar->count);
  }
}

static void put_json_float_bar(const struct drawing *drawing, const struct kymo_float_bar *bar) {
  struct kymo_json json;
  begin_json_bar(drawing, &json);
  kymo_json_fixed_key(&json, "from");
  kymo_json_float(&json, bar->from, false);
  kymo_json_fixed_key(&json, "to");
  kymo_json_float(&json, bar->to, false);
  end_json_bar(drawing, &json, bar->count);
}

static void put_float_bar(const struct drawing *drawing, const struct kymo_float_bar *bar) {
  const struct kymo_report *report = drawing->report;
  char from[40], to[40];
  *kymo_put_double(from, bar->from, false, true) = 0;
  *kymo_put_double(to, bar->to, false, true) = 0;
  if (report->form == KYMO_REPORT_JSON) {
    put_json_float_bar(drawing, bar);
  } else if (report->form == KYMO_REPORT_CSV) {
    put_csv_group(drawing);
    kymo_report_put(report, "%s,%s,%" PRIu64 "\n", from, to, bar->count);
  } else {
    put_text_bar(drawing, from, bar->count);
  }
}

/* What has no place among the bars; nothing if there is none. */
static void put_other_floats(const struct drawing *drawing, double value, uint64_t count) {
  const struct kymo_report *report = drawing->report;
  const char *name = value != value ? "NaN" : value < 0 ? "-Infinity" : "Infinity";
  struct kymo_json json;
  if (!count)
    return;
  if (report->form == KYMO_REPORT_JSON) {
    begin_json_bar(drawing, &json);
    kymo_json_fixed_key(&json, "value");
    kymo_json_float(&json, value, false);
    end_json_bar(drawing, &json, count);
  } else if (report->form == KYMO_REPORT_CSV) {
    put_csv_group(drawing);
    kymo_report_put(report, "%s,,%" PRIu64 "\n", name, count);
  } else {
    kymo_report_put(report, "%20s %10" PRIu64 "\n", value != value ? "not a number" : name, count);
  }
}

static void put_float_bars(struct drawing *drawing, const struct kymo_floats *floats) {
  for (uint32_t i = 0; floats && i < floats->place_count; i++)
    drawing->most = floats->places[i].count > drawing->most ? floats->places[i].count : drawing->most;
  for (uint32_t i = 0; floats && i < floats->place_count; i++) {
    struct kymo_float_bar bar = kymo_floats_bar(floats, i);
    put_float_bar(drawing, &bar);
  }
  put_other_floats(drawing, -INFINITY, floats ? floats->infinities[1] : 0);
  put_other_floats(drawing, INFINITY, floats ? floats->infinities[0] : 0);
  put_other_floats(drawing, NAN, floats ? floats->nans : 0);
}

unsigned kymo_report_bars(const struct kymo_samples *samples, struct kymo_bar bars[KYMO_BARS_MAX]) {
  unsigned count = 0, kept = 0;
  for (unsigned i = BARS; i > 0; i--)
    bars[count++] = make_bar(samples, true, i - 1);
  for (unsigned i = 0; i < BARS; i++)
    bars[count++] = make_bar(samples, false, i);
  while (count && !bars[count - 1].count)
    count--;
  for (unsigned i = 0; i < count; i++)
    if (kept || bars[i].count)
      bars[kept++] = bars[i];
  return kept;
}

static void put_bars(struct drawing *drawing, const struct kymo_samples *samples) {
  if (drawing->histogram->is_float) {
    put_float_bars(drawing, samples->floats);
    return;
  }
  struct kymo_bar bars[KYMO_BARS_MAX];
  unsigned count = kymo_report_bars(samples, bars);
  for (unsigned i = 0; i < count; i++)
    drawing->most = bars[i].count > drawing->most ? bars[i].count : drawing->most;
  bool is_gap = false;
  for (unsigned i = 0; i < count; i++) {
    bool is_in_gap = i > 0 && i + 1 < count && !bars[i].count && !bars[i - 1].count && !bars[i + 1].count;
    if (!is_in_gap || drawing->report->form != KYMO_REPORT_TEXT)
      put_bar(drawing, &bars[i]);
    else if (!is_gap)
      kymo_report_put(drawing->report, "%20s\n", "...");
    is_gap = is_in_gap;
  }
}

/* The columns; in text before the bars of each group. */
static void put_histogram_head(const struct drawing *drawing) {
  const struct kymo_report *report = drawing->report;
  const char *unit = drawing->histogram->unit;
  struct kymo_strbuf from = {0};
  kymo_strbuf_printf(&from, "from%s%s%s", unit ? " (" : "", unit ? unit : "", unit ? ")" : "");
  kymo_strbuf_puts(&from, drawing->histogram->is_float ? ",to" : "");
  if (from.failed)
    report->out->error_number = ENOMEM;
  else if (report->form == KYMO_REPORT_CSV && drawing->histogram->is_grouped)
    kymo_report_put(report, "%s,%s,count\n", report->what, from.text);
  else if (report->form == KYMO_REPORT_CSV)
    kymo_report_put(report, "%s,count\n", from.text);
  kymo_strbuf_free(&from);
  if (report->form != KYMO_REPORT_TEXT)
    return;
  struct kymo_strbuf safe = {0};
  kymo_text_add_name(&safe, drawing->histogram->field);
  if (unit) {
    kymo_strbuf_puts(&safe, " (");
    kymo_text_add_name(&safe, unit);
    kymo_strbuf_puts(&safe, ")");
  }
  if (safe.failed)
    report->out->error_number = ENOMEM;
  kymo_report_put(report, "%20s %10s\n", safe.failed ? "" : safe.text, "count");
  kymo_strbuf_free(&safe);
}

int kymo_report_histograms(const struct kymo_report *report, const struct kymo_groups *groups,
                           const struct kymo_histogram *histogram) {
  size_t count;
  struct kymo_stat_group **list = kymo_report_list(report, groups, &count);
  if (!list)
    return KYMO_E_MEMORY;
  count = kymo_report_rows(report, count, groups->merged);
  if (report->collect)
    return kymo_report_collect(report, list, count);
  put_histogram_head(&(struct drawing){.report = report, .histogram = histogram});
  for (size_t i = 0; i < count; i++) {
    struct drawing drawing = {report, histogram, histogram->is_grouped ? list[i]->name : NULL, 0};
    if (drawing.group && report->form == KYMO_REPORT_TEXT) {
      kymo_report_put(report, "%s = ", report->what);
      kymo_report_put_name(report, drawing.group);
      kymo_report_put(report, ": %" PRIu64 "\n", list[i]->samples.count);
    }
    put_bars(&drawing, &list[i]->samples);
  }
  kymo_report_rest(report);
  free(list);
  return KYMO_OK;
}
