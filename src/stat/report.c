/* SPDX-License-Identifier: MIT */
#include "stat/report.h"
#include "sink/text_fields.h"
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define BAR_WIDTH 50

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

static int by_number(double a, double b) {
  return a < b ? 1 : a > b ? -1 : 0;
}

static int compare(const void *a, const void *b, void *user) {
  const struct kymo_stat_group *one = *(struct kymo_stat_group *const *)a, *other = *(struct kymo_stat_group *const *)b;
  const struct kymo_report *report = user;
  const struct kymo_samples *x = &one->samples, *y = &other->samples;
  int order = 0;
  switch (report->order) {
  case KYMO_ORDER_TOTAL: order = by_number(x->total, y->total); break;
  case KYMO_ORDER_COUNT: order = by_number((double)x->count, (double)y->count); break;
  case KYMO_ORDER_MEAN: order = by_number(x->mean, y->mean); break;
  case KYMO_ORDER_MOST: order = by_number((double)x->most, (double)y->most); break;
  case KYMO_ORDER_NAME: case KYMO_ORDER_SELF: break;
  }
  return order ? order : strcmp(one->name, other->name);
}

struct kymo_stat_group **kymo_report_list(const struct kymo_report *report, const struct kymo_groups *groups, size_t *count) {
  struct kymo_stat_group **list = calloc(groups->count + 1, sizeof *list);
  *count = 0;
  for (size_t i = 0; list && i < groups->slot_count; i++)
    if (groups->slots[i] && groups->slots[i]->samples.count && kymo_group_is_wanted(groups->slots[i], report->prefix))
      list[(*count)++] = groups->slots[i];
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

void kymo_report_rest(const struct kymo_report *report) {
  const struct kymo_report_rows *rows = report->rows;
  if (!rows || rows->shown == rows->all)
    return;
  if (report->form == KYMO_REPORT_TEXT)
    kymo_report_put(report, "\n%" PRIu64 " of %" PRIu64 " are shown (--top)\n", rows->shown, rows->all);
  if (report->form == KYMO_REPORT_JSON)
    kymo_report_put(report, "{\"shown\":%" PRIu64 ",\"of\":%" PRIu64 "}\n", rows->shown, rows->all);
}

/* ---- rows ---- */

static const unsigned shares[] = {500, 900, 990, 999}; /* thousandths */
#define SHARES (sizeof shares / sizeof *shares)

/* As the text format shows names: what a terminal would obey, and what is no text, is escaped. To be freed. */
static struct kymo_strbuf safe_name(const struct kymo_report *report, const char *name) {
  struct kymo_strbuf safe = {0};
  kymo_text_add_name(&safe, name);
  if (safe.failed)
    report->out->error_number = ENOMEM;
  return safe;
}

static int safe_width(const struct kymo_report *report, const char *name) {
  struct kymo_strbuf safe = safe_name(report, name);
  int width = (int)safe.length;
  kymo_strbuf_free(&safe);
  return width;
}

void kymo_report_put_name(const struct kymo_report *report, const char *name, int width) {
  struct kymo_strbuf safe = safe_name(report, name);
  kymo_out_bytes(report->out, safe.text, safe.length);
  kymo_report_put(report, "%*s", width > (int)safe.length ? width - (int)safe.length : 0, "");
  kymo_strbuf_free(&safe);
}

static int name_width(const struct kymo_report *report, struct kymo_stat_group *const *list, size_t count) {
  int width = (int)strlen(report->what);
  for (size_t i = 0; i < count; i++)
    width = safe_width(report, list[i]->name) > width ? safe_width(report, list[i]->name) : width;
  return width;
}

/* The digits that are known, in a column whose decimal points are below each other. */
static void put_percentile(const struct kymo_report *report, struct kymo_percentile percentile) {
  double unit = report->is_time ? 1000 : 1;
  int places = report->is_time ? 3 : 0, known = percentile.unknown_digits < (unsigned)places ? places - (int)percentile.unknown_digits : 0;
  int blanks = known == 3 ? 0 : known ? 3 - known : 4;
  kymo_report_put(report, " %*.*f%*s", 12 - blanks, known, (double)percentile.value / unit, blanks, "");
}

static void put_text_row(const struct kymo_report *report, const char *name, struct kymo_samples *samples, int width) {
  double unit = report->is_time ? 1000 : 1;
  kymo_report_put_name(report, name, width);
  kymo_report_put(report, " %10" PRIu64 " %12.3f %12.3f %12.3f", samples->count, samples->mean / unit,
      kymo_samples_deviation(samples) / unit, (double)samples->least / unit);
  for (size_t i = 0; i < SHARES; i++)
    put_percentile(report, kymo_samples_percentile(samples, shares[i]));
  kymo_report_put(report, " %12.3f %14.3f\n", (double)samples->most / unit, samples->total / unit);
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
  kymo_report_put(report, ",%" PRIu64 ",%.3f,%.3f,%" PRId64, samples->count, samples->mean, kymo_samples_deviation(samples),
      samples->least);
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
  if (name)
    kymo_json_text(&json, name);
  else
    kymo_json_null(&json);
  kymo_json_fixed_key(&json, "count");
  kymo_json_uint(&json, samples->count);
  kymo_json_fixed_key(&json, "mean");
  kymo_json_float(&json, samples->mean, false);
  kymo_json_fixed_key(&json, "stdev");
  kymo_json_float(&json, kymo_samples_deviation(samples), false);
  kymo_json_fixed_key(&json, "min");
  kymo_json_int(&json, samples->least);
  for (size_t i = 0; i < SHARES; i++) {
    kymo_json_key(&json, keys[i]);
    kymo_json_int(&json, kymo_samples_percentile(samples, shares[i]).value);
  }
  kymo_json_fixed_key(&json, "max");
  kymo_json_int(&json, samples->most);
  kymo_json_fixed_key(&json, "total");
  kymo_json_float(&json, samples->total, false);
  kymo_json_end(&json, '}');
  kymo_json_newline(&json);
}

static void put_head(const struct kymo_report *report, int width) {
  if (report->form == KYMO_REPORT_CSV)
    kymo_report_put(report, "%s,count,mean,stdev,min,p50,p90,p99,p999,max,total\n", report->what);
  if (report->form != KYMO_REPORT_TEXT)
    return;
  kymo_report_put(report, "%-*s %10s %12s %12s %12s %12s %12s %12s %12s %12s %14s%s\n", width, report->what, "count", "mean", "stdev", "min",
      "p50", "p90", "p99", "p99.9", "max", "total", report->is_time ? "  (microseconds)" : "");
}

static void put_row(const struct kymo_report *report, const char *name, struct kymo_samples *samples, int width) {
  switch (report->form) {
  case KYMO_REPORT_TEXT: put_text_row(report, name, samples, width); break;
  case KYMO_REPORT_JSON: put_json_row(report, name, samples); break;
  case KYMO_REPORT_CSV: put_csv_row(report, name, samples); break;
  case KYMO_REPORT_VPP: break; /* kymo_report_vpp */
  }
}

int kymo_report_groups(const struct kymo_report *report, const struct kymo_groups *groups, struct kymo_samples *all) {
  size_t count;
  struct kymo_stat_group **list = kymo_report_list(report, groups, &count);
  if (!list)
    return KYMO_E_MEMORY;
  bool is_one = count == 1 && groups->merged <= 1;
  count = kymo_report_rows(report, count, groups->merged);
  int width = name_width(report, list, count);
  put_head(report, width);
  for (size_t i = 0; i < count; i++)
    put_row(report, list[i]->name, &list[i]->samples, width);
  if (report->form == KYMO_REPORT_TEXT && !is_one)
    put_text_row(report, "all", all, width);
  if (report->form == KYMO_REPORT_JSON)
    put_json_row(report, NULL, all);
  kymo_report_rest(report);
  free(list);
  return KYMO_OK;
}

/* ---- counts ---- */

/* A row; `name` NULL: of all groups. */
static void put_count(const struct kymo_report *report, const char *name, uint64_t count, double span_ns, int width) {
  double rate = span_ns > 0 ? (double)count / span_ns * 1e9 : 0;
  if (report->form == KYMO_REPORT_CSV) {
    kymo_report_put_csv_text(report, name);
    kymo_report_put(report, ",%" PRIu64 ",%.3f\n", count, rate);
  } else if (report->form == KYMO_REPORT_JSON) {
    struct kymo_json json;
    kymo_json_start(&json, report->out);
    kymo_json_begin(&json, '{');
    kymo_json_key(&json, report->what);
    if (name)
      kymo_json_text(&json, name);
    else
      kymo_json_null(&json);
    kymo_json_fixed_key(&json, "count");
    kymo_json_uint(&json, count);
    kymo_json_fixed_key(&json, "rate");
    kymo_json_float(&json, rate, false);
    if (!name) {
      kymo_json_fixed_key(&json, "span");
      kymo_json_float(&json, span_ns, false);
    }
    kymo_json_end(&json, '}');
    kymo_json_newline(&json);
  } else {
    kymo_report_put_name(report, name ? name : "all", width);
    kymo_report_put(report, " %12" PRIu64 " %14.*f", count, rate < 100 ? 3 : 1, rate);
    if (!name && span_ns > 0)
      kymo_report_put(report, "  (over %.6f s)", span_ns / 1e9);
    kymo_report_put(report, "\n");
  }
}

int kymo_report_counts(const struct kymo_report *report, const struct kymo_groups *groups, double span_ns) {
  struct kymo_report by_count = *report;
  uint64_t all = 0;
  size_t count;
  by_count.order = report->order == KYMO_ORDER_NAME ? KYMO_ORDER_NAME : KYMO_ORDER_COUNT;
  struct kymo_stat_group **list = kymo_report_list(&by_count, groups, &count);
  if (!list)
    return KYMO_E_MEMORY;
  size_t shown = kymo_report_rows(report, count, 0);
  int width = name_width(report, list, count);
  if (report->form == KYMO_REPORT_CSV)
    kymo_report_put(report, "%s,count,rate\n", report->what);
  if (report->form == KYMO_REPORT_TEXT)
    kymo_report_put(report, "%-*s %12s %14s\n", width, report->what, "count", "a second");
  for (size_t i = 0; i < count; i++) {
    if (i < shown)
      put_count(report, list[i]->name, list[i]->samples.count, span_ns, width);
    all += list[i]->samples.count;
  }
  if (report->form != KYMO_REPORT_CSV)
    put_count(report, NULL, all, span_ns, width);
  kymo_report_rest(report);
  free(list);
  return KYMO_OK;
}

/* ---- lines ---- */

static void put_line(const struct kymo_report *report, const struct kymo_stat_group *group, double all, int width) {
  const struct kymo_samples *samples = &group->samples;
  struct kymo_line line = kymo_regression_line(group);
  double share = all > 0 ? samples->total / all * 100 : 0, us = 1000;
  if (report->form == KYMO_REPORT_CSV) {
    kymo_report_put_csv_text(report, group->name);
    kymo_report_put(report, ",%" PRIu64 ",%.3f,%.3f,%.0f,%" PRId64 ",%" PRId64 ",%.3f,%.4f,%.6f\n", samples->count, line.offset, line.slope,
        samples->total, samples->least, samples->most, samples->mean, share, line.r);
  } else if (report->form == KYMO_REPORT_JSON) {
    struct kymo_json json;
    static const char *const keys[] = {"offset", "slope", "total", "min", "max", "mean", "percent", "r"};
    const double numbers[] = {line.offset, line.slope, samples->total, (double)samples->least, (double)samples->most,
                              samples->mean, share, line.r};
    kymo_json_start(&json, report->out);
    kymo_json_begin(&json, '{');
    kymo_json_key(&json, report->what);
    kymo_json_text(&json, group->name);
    kymo_json_fixed_key(&json, "count");
    kymo_json_uint(&json, samples->count);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
      kymo_json_key(&json, keys[i]);
      kymo_json_float(&json, numbers[i], false);
    }
    kymo_json_end(&json, '}');
    kymo_json_newline(&json);
  } else {
    kymo_report_put_name(report, group->name, width);
    kymo_report_put(report, " %10" PRIu64 " %12.3f %12.3f %14.3f %12.3f %12.3f %12.3f %8.2f %6.2f\n", samples->count,
        line.offset / us, line.slope / us, samples->total / us, (double)samples->least / us, (double)samples->most / us,
        samples->mean / us, share, line.r);
  }
}

static void put_lines_short(const struct kymo_report *report, const struct kymo_regression *regression) {
  uint64_t without_leave = regression->without_leave + regression->spans.open;
  if (!regression->without_enter && !without_leave && !regression->over_gaps)
    return;
  if (report->form == KYMO_REPORT_TEXT)
    kymo_report_put(report, "\nnot counted: %" PRIu64 " left and not entered, %" PRIu64 " entered and not left, %" PRIu64 " over lost events\n",
        regression->without_enter, without_leave, regression->over_gaps);
  if (report->form == KYMO_REPORT_JSON)
    kymo_report_put(report, "{\"without_begin\":%" PRIu64 ",\"without_end\":%" PRIu64 ",\"over_lost_events\":%" PRIu64 "}\n",
        regression->without_enter, without_leave, regression->over_gaps);
}

int kymo_report_lines(const struct kymo_report *report, const struct kymo_regression *regression, const struct kymo_samples *all) {
  size_t count;
  struct kymo_stat_group **list = kymo_report_list(report, &regression->keys, &count);
  if (!list)
    return KYMO_E_MEMORY;
  count = kymo_report_rows(report, count, regression->keys.merged);
  int width = name_width(report, list, count);
  if (report->form == KYMO_REPORT_CSV)
    kymo_report_put(report, "%s,count,offset,slope,total,min,max,mean,percent,r\n", report->what);
  if (report->form == KYMO_REPORT_TEXT)
    kymo_report_put(report, "%-*s %10s %12s %12s %14s %12s %12s %12s %8s %6s  (microseconds)\n", width, report->what, "count", "offset",
        "slope", "total", "min", "max", "mean", "percent", "r");
  for (size_t i = 0; i < count; i++)
    put_line(report, list[i], all->total, width);
  kymo_report_rest(report);
  put_lines_short(report, regression);
  free(list);
  return KYMO_OK;
}

/* ---- behind the table ---- */

static void put_moment(const struct kymo_report *report, int64_t time_ns) {
  kymo_report_put(report, "%" PRId64 ".%09" PRId64, time_ns / 1000000000, time_ns % 1000000000);
}

static void put_json_worst(const struct kymo_report *report, const struct kymo_worst *worst) {
  struct kymo_json json;
  kymo_json_start(&json, report->out);
  kymo_json_begin(&json, '{');
  kymo_json_fixed_key(&json, "longest");
  kymo_json_int(&json, worst->duration_ns);
  kymo_json_key(&json, report->what);
  kymo_json_text(&json, worst->group->name);
  kymo_json_fixed_key(&json, "begin");
  kymo_json_int(&json, worst->begin_ns);
  kymo_json_fixed_key(&json, "events");
  kymo_json_begin(&json, '[');
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
    kymo_report_put(report, ",%" PRId64 ",%" PRIu64 ",%" PRIu64 "\n", worst->begin_ns, worst->begin_number, worst->end_number);
  }
}

static void put_json_short(const struct kymo_report *report, const struct kymo_pairs *pairs) {
  struct kymo_json json;
  kymo_json_start(&json, report->out);
  kymo_json_begin(&json, '{');
  kymo_json_fixed_key(&json, "without_begin");
  kymo_json_uint(&json, pairs->without_begin);
  kymo_json_fixed_key(&json, "without_end");
  kymo_json_uint(&json, pairs->spans.open);
  kymo_json_fixed_key(&json, "without_key");
  kymo_json_uint(&json, pairs->without_key);
  kymo_json_fixed_key(&json, "over_lost_events");
  kymo_json_uint(&json, pairs->over_gaps);
  kymo_json_end(&json, '}');
  kymo_json_newline(&json);
}

void kymo_report_pairs(const struct kymo_report *report, const struct kymo_pairs *pairs) {
  if (report->form == KYMO_REPORT_JSON) {
    for (unsigned i = 0; i < pairs->worst_count; i++)
      put_json_worst(report, &pairs->worst[i]);
    if (kymo_pairs_are_short(pairs))
      put_json_short(report, pairs);
  }
  if (report->form != KYMO_REPORT_TEXT)
    return;
  for (unsigned i = 0; i < pairs->worst_count; i++) {
    const struct kymo_worst *worst = &pairs->worst[i];
    kymo_report_put(report, "%s%12.3f us of ", i ? "" : "\nlongest:\n", (double)worst->duration_ns / 1000);
    kymo_report_put_name(report, worst->group->name, 0);
    kymo_out_literal(report->out, ", from ");
    put_moment(report, worst->begin_ns);
    kymo_report_put(report, ", events %" PRIu64 " to %" PRIu64 "\n", worst->begin_number, worst->end_number);
  }
  if (kymo_pairs_are_short(pairs))
    kymo_report_put(report, "\nnot counted: %" PRIu64 " without begin, %zu without end, %" PRIu64 " without key, %" PRIu64 " over lost events\n",
        pairs->without_begin, pairs->spans.open, pairs->without_key, pairs->over_gaps);
}

/* ---- histograms ---- */

/* A bar of the drawing: the numbers of one power of two, or all from -15 to -1 or 0 to 15. */
struct bar { int64_t from; uint64_t count; };

enum { BAR_BITS = 4, BARS = 65 - BAR_BITS };

/* Of numbers below zero the bar begins with the least of them. */
static struct bar make_bar(const struct kymo_samples *samples, bool is_below, unsigned octave) {
  unsigned bits = octave + BAR_BITS - 1; /* of the first one, all up to that */
  uint64_t first = octave ? UINT64_C(1) << bits : 0, last = bits == 63 ? UINT64_MAX : (UINT64_C(2) << bits) - 1;
  bool is_beyond = last > INT64_MAX || (is_below && -(int64_t)last < samples->least);
  struct bar bar = {.from = !is_below ? (int64_t)first : is_beyond ? samples->least : -(int64_t)last};
  for (unsigned i = octave ? bits : 0; i <= bits; i++)
    bar.count += kymo_samples_in(samples, is_below, i);
  return bar;
}

/* What is drawn of one group; `group` NULL: of all events. */
struct drawing { const struct kymo_report *report; const struct kymo_histogram *histogram; const char *group; uint64_t most; };

static void put_json_bar(const struct drawing *drawing, const struct bar *bar) {
  struct kymo_json json;
  kymo_json_start(&json, drawing->report->out);
  kymo_json_begin(&json, '{');
  if (drawing->group) {
    kymo_json_key(&json, drawing->report->what);
    kymo_json_text(&json, drawing->group);
  }
  kymo_json_fixed_key(&json, "from");
  kymo_json_int(&json, bar->from);
  kymo_json_fixed_key(&json, "count");
  kymo_json_uint(&json, bar->count);
  if (drawing->histogram->unit) {
    kymo_json_fixed_key(&json, "unit");
    kymo_json_text(&json, drawing->histogram->unit);
  }
  kymo_json_end(&json, '}');
  kymo_json_newline(&json);
}

static void put_bar(const struct drawing *drawing, const struct bar *bar) {
  static const char drawn[BAR_WIDTH + 1] = "##################################################";
  const struct kymo_report *report = drawing->report;
  if (report->form == KYMO_REPORT_JSON) {
    put_json_bar(drawing, bar);
  } else if (report->form == KYMO_REPORT_CSV) {
    if (drawing->group) {
      kymo_report_put_csv_text(report, drawing->group);
      kymo_out_byte(report->out, ',');
    }
    kymo_report_put(report, "%" PRId64 ",%" PRIu64 "\n", bar->from, bar->count);
  } else {
    kymo_report_put(report, "%20" PRId64 " %10" PRIu64 " %.*s\n", bar->from, bar->count,
                    drawing->most ? (int)((double)bar->count / (double)drawing->most * BAR_WIDTH) : 0, drawn);
  }
}

static void put_bars(struct drawing *drawing, const struct kymo_samples *samples) {
  struct bar bars[2 * BARS];
  unsigned count = 0, first = 0, last = 0;
  for (unsigned i = BARS; i > 0; i--)
    bars[count++] = make_bar(samples, true, i - 1);
  for (unsigned i = 0; i < BARS; i++)
    bars[count++] = make_bar(samples, false, i);
  for (unsigned i = 0; i < count; i++) {
    first = drawing->most == 0 ? i : first;
    last = bars[i].count ? i : last;
    drawing->most = bars[i].count > drawing->most ? bars[i].count : drawing->most;
  }
  bool is_gap = false;
  for (unsigned i = first; i <= last && drawing->most; i++) {
    bool is_in_gap = i > first && !bars[i].count && !bars[i - 1].count && !bars[i + 1].count;
    if (!is_in_gap || drawing->report->form != KYMO_REPORT_TEXT)
      put_bar(drawing, &bars[i]);
    else if (!is_gap)
      kymo_report_put(drawing->report, "%20s\n", "...");
    is_gap = is_in_gap;
  }
}

/* What the columns are; of texts before the bars of each group. */
static void put_histogram_head(const struct drawing *drawing) {
  const struct kymo_report *report = drawing->report;
  const char *unit = drawing->histogram->unit;
  struct kymo_strbuf from = {0};
  kymo_strbuf_printf(&from, "from%s%s%s", unit ? " (" : "", unit ? unit : "", unit ? ")" : "");
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

int kymo_report_histograms(const struct kymo_report *report, const struct kymo_groups *groups, const struct kymo_histogram *histogram) {
  struct kymo_report ordered = *report;
  size_t count;
  ordered.order = report->order == KYMO_ORDER_TOTAL ? KYMO_ORDER_COUNT : report->order;
  struct kymo_stat_group **list = kymo_report_list(&ordered, groups, &count);
  if (!list)
    return KYMO_E_MEMORY;
  put_histogram_head(&(struct drawing){.report = report, .histogram = histogram});
  for (size_t i = 0; i < count; i++) {
    struct drawing drawing = {report, histogram, histogram->is_grouped ? list[i]->name : NULL, 0};
    if (drawing.group && report->form == KYMO_REPORT_TEXT) {
      kymo_report_put(report, "%s = ", report->what);
      kymo_report_put_name(report, drawing.group, 0);
      kymo_report_put(report, ": %" PRIu64 "\n", list[i]->samples.count);
    }
    put_bars(&drawing, &list[i]->samples);
  }
  free(list);
  return KYMO_OK;
}
