/* SPDX-License-Identifier: MIT */
/* Statistics as rows (kymo/stat.h): the rows of a report are copied instead of being printed. */
#include "base/arena.h"
#include "base/fail.h"
#include "base/list.h"
#include "base/nearest.h"
#include "base/sized.h"
#include "stat/run.h"
#include <kymo/stat.h>
#include <stdlib.h>
#include <string.h>

enum { INTEGERS = KYMO_STAT_P999 + 1, FLOATS = KYMO_STAT_R + 1 };

struct row {
  const char *name;
  uint32_t has_integer, has_float; /* 1 << the number */
  int64_t integer[INTEGERS];
  double real[FLOATS];
  struct kymo_bar *bars;
  unsigned bar_count;
};

struct kymo_stat {
  struct kymo_arena arena; /* names and bars */
  struct row *rows;
  size_t count;
  uint64_t all, uncounted;
  char *what;
  const struct kymo_stat_kind *kind;
  void (*each)(void *user, int64_t begin_ns, int64_t duration_ns, const char *group);
  void *user;
};

/* ---- rows ---- */

static void put(struct row *row, enum kymo_stat_number what, int64_t value) {
  row->integer[what] = value;
  row->has_integer |= 1u << what;
}

static void put_float(struct row *row, enum kymo_stat_float what, double value) {
  row->real[what] = value;
  row->has_float |= 1u << what;
}

static bool is_kind(const struct kymo_stat *stat, const char *name) {
  return strcmp(stat->kind->name, name) == 0;
}

static int64_t total_of(double total) {
  return total >= 9223372036854775807.0    ? INT64_MAX
         : total <= -9223372036854775808.0 ? INT64_MIN
                                           : (int64_t)total;
}

static void put_samples(struct row *row, struct kymo_samples *samples) {
  static const unsigned shares[] = {500, 900, 990, 999};
  put(row, KYMO_STAT_TOTAL, total_of(samples->total));
  put(row, KYMO_STAT_MIN, samples->least);
  put(row, KYMO_STAT_MAX, samples->most);
  for (unsigned i = 0; i < sizeof shares / sizeof *shares; i++)
    put(row, (enum kymo_stat_number)(KYMO_STAT_P50 + i), kymo_samples_percentile(samples, shares[i]).value);
  put_float(row, KYMO_STAT_MEAN, samples->mean);
  put_float(row, KYMO_STAT_DEVIATION, kymo_samples_deviation(samples));
}

static void put_line(struct row *row, const struct kymo_stat_group *group) {
  struct kymo_line line = kymo_regression_line(group);
  put(row, KYMO_STAT_TOTAL, total_of(group->samples.total));
  put(row, KYMO_STAT_MIN, group->samples.least);
  put(row, KYMO_STAT_MAX, group->samples.most);
  put_float(row, KYMO_STAT_MEAN, group->samples.mean);
  put_float(row, KYMO_STAT_OFFSET, line.offset);
  put_float(row, KYMO_STAT_SLOPE, line.slope);
  put_float(row, KYMO_STAT_R, line.r);
}

/* Of libc's calls only the sum and the longest are measured. */
static void put_calls(struct row *row, const struct kymo_stat_group *group) {
  put(row, KYMO_STAT_ERRORS, (int64_t)group->errors);
  if (!group->samples.count)
    return;
  put(row, KYMO_STAT_TOTAL, group->self_ns);
  put(row, KYMO_STAT_MAX, group->samples.most);
}

/* They are of whole numbers: floating-point numbers have none. */
static bool put_bars(struct kymo_stat *stat, struct row *row, const struct kymo_samples *samples) {
  struct kymo_bar bars[KYMO_BARS_MAX];
  row->bar_count = samples->floats ? 0 : kymo_report_bars(samples, bars);
  row->bars = kymo_arena_alloc(&stat->arena, (row->bar_count + 1) * sizeof *bars);
  if (row->bars)
    memcpy(row->bars, bars, row->bar_count * sizeof *bars);
  return row->bars;
}

static bool take_row(struct kymo_stat *stat, struct row *row, struct kymo_stat_group *group) {
  bool has_self = (group->calls && !is_kind(stat, "calls")) || is_kind(stat, "threads");
  row->name = kymo_arena_copy(&stat->arena, group->name, strlen(group->name));
  put(row, KYMO_STAT_COUNT, (int64_t)group->samples.count);
  if (group->calls || is_kind(stat, "threads"))
    put(row, KYMO_STAT_CALLS, (int64_t)group->calls);
  if (is_kind(stat, "calls"))
    put_calls(row, group);
  else if (is_kind(stat, "regression"))
    put_line(row, group);
  else if (!is_kind(stat, "counts") && group->samples.count && !group->samples.floats)
    put_samples(row, &group->samples);
  if (has_self) {
    put(row, KYMO_STAT_TOTAL, group->outer_ns);
    put(row, KYMO_STAT_SELF, group->self_ns);
  }
  return row->name && (!is_kind(stat, "histogram") || put_bars(stat, row, &group->samples));
}

static bool take_rows(void *user, struct kymo_stat_group *const *list, size_t shown) {
  struct kymo_stat *stat = user;
  stat->rows = calloc(shown + 1, sizeof *stat->rows);
  for (size_t i = 0; stat->rows && i < shown; i++, stat->count++)
    if (!take_row(stat, &stat->rows[i], list[i]))
      return false;
  return stat->rows;
}

static void take_pair(void *user, const struct kymo_worst *pair) {
  const struct kymo_stat *stat = user;
  stat->each(stat->user, pair->begin_ns, pair->duration_ns, pair->group->name);
}

/* ---- running ---- */

const char *kymo_stat_kind(size_t index) {
  for (size_t i = 0; i < index; i++)
    if (!kymo_stat_kinds[i].name)
      return NULL;
  return kymo_stat_kinds[index].name;
}

static int find_kind(const struct kymo_stat_kind **kind, const char *name, struct kymo_error *error) {
  struct kymo_nearest nearest = kymo_nearest_to(name);
  *kind = kymo_stat_find_kind(name);
  if (*kind)
    return KYMO_OK;
  for (size_t i = 0; kymo_stat_kinds[i].name; i++)
    kymo_nearest_consider(&nearest, kymo_stat_kinds[i].name);
  return kymo_fail(error, KYMO_E_UNKNOWN, "there is no kind of statistics \"%s\"%s", name,
                   kymo_nearest_hint(&nearest).text);
}

static int find_order(enum kymo_report_order *order, const char *word, struct kymo_error *error) {
  static const char *const words[] = {
      [KYMO_ORDER_TOTAL] = "total", [KYMO_ORDER_COUNT] = "count", [KYMO_ORDER_MEAN] = "mean",
      [KYMO_ORDER_MOST] = "max",    [KYMO_ORDER_NAME] = "name",   [KYMO_ORDER_SELF] = "self"};
  *order = KYMO_ORDER_TOTAL;
  for (unsigned i = 0; word && i < sizeof words / sizeof *words; i++)
    if (strcmp(word, words[i]) == 0) {
      *order = (enum kymo_report_order)i;
      return KYMO_OK;
    }
  return word ? kymo_fail(error, KYMO_E_USAGE,
                          "sort: expected total, count, mean, max, name or self, found \"%s\"", word)
              : KYMO_OK;
}

/* An option that the kind does not take would be passed over. */
static int check(const struct kymo_stat_kind *kind, const struct kymo_stat_options *options,
                 struct kymo_error *error) {
  const struct {
    bool is_given;
    unsigned takes;
    const char *name;
  } all[] = {
      {options->from || options->to, KYMO_STAT_TAKES_EDGES, "from and no to"},
      {options->key, KYMO_STAT_TAKES_KEY, "key"},
      {options->by, KYMO_STAT_TAKES_BY, "by"},
      {options->field, KYMO_STAT_TAKES_FIELD, "field"},
      {options->event_count, KYMO_STAT_TAKES_EVENTS, "events"},
      {options->memory_bytes, KYMO_STAT_TAKES_MEMORY, "memory_bytes"},
      {options->each, KYMO_STAT_TAKES_LONGEST, "each"},
      {options->sort && strcmp(options->sort, "self") == 0, KYMO_STAT_TAKES_SELF, "sort by self"},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (all[i].is_given && !(kind->takes & all[i].takes))
      return kymo_fail(error, KYMO_E_USAGE, "%s: there is no %s", kind->name, all[i].name);
  if (kind->takes & KYMO_STAT_TAKES_FIELD && !options->field)
    return kymo_fail(error, KYMO_E_USAGE, "%s: a field is needed", kind->name);
  return KYMO_OK;
}

static int run(struct kymo_stat *stat, struct kymo_trace *trace, const struct kymo_stat_options *options,
               struct kymo_error *error) {
  struct kymo_statistics statistics = {.trace = trace,
                                       .from = options->from,
                                       .to = options->to,
                                       .key = options->key,
                                       .by = options->by,
                                       .field = options->field,
                                       .events = options->events,
                                       .event_count = options->event_count,
                                       .report = {.form = KYMO_REPORT_CSV,
                                                  .prefix = options->prefix,
                                                  .top = options->top,
                                                  .collect = take_rows,
                                                  .user = stat},
                                       .memory_bytes =
                                           options->memory_bytes ? options->memory_bytes : KYMO_SPILL_BYTES,
                                       .each = options->each ? take_pair : NULL,
                                       .user = stat,
                                       .error = error};
  int status = check(stat->kind, options, error);
  if (status == KYMO_OK)
    status = find_order(&statistics.report.order, options->sort, error);
  if (status == KYMO_OK)
    status = kymo_statistics_run(&statistics, stat->kind);
  stat->all = statistics.rows.all;
  stat->uncounted = statistics.uncounted;
  stat->what = status == KYMO_OK && statistics.report.what ? strdup(statistics.report.what) : NULL;
  return status;
}

int kymo_stat_run_(struct kymo_stat **out, struct kymo_trace *trace, const char *kind,
                   const struct kymo_stat_options *options, size_t size, struct kymo_error *error) {
  struct kymo_stat_options known = {0};
  struct kymo_error unused;
  const struct kymo_stat_kind *found;
  *out = NULL;
  error = error ? error : &unused;
  if (options)
    kymo_sized_in(&known, sizeof known, options, size);
  int status = find_kind(&found, kind, error);
  if (status != KYMO_OK)
    return status;
  struct kymo_stat *stat = calloc(1, sizeof *stat);
  if (!stat)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  stat->kind = found;
  stat->each = known.each;
  stat->user = known.user;
  status = run(stat, trace, &known, error);
  if (status == KYMO_OK)
    *out = stat;
  else
    kymo_stat_free(stat);
  return status;
}

void kymo_stat_free(struct kymo_stat *stat) {
  if (!stat)
    return;
  kymo_arena_free(&stat->arena);
  free(stat->rows);
  free(stat->what);
  free(stat);
}

/* ---- what was measured ---- */

const char *kymo_stat_what(const struct kymo_stat *stat) {
  return stat->what ? stat->what : stat->kind->name;
}
size_t kymo_stat_rows(const struct kymo_stat *stat) { return stat->count; }
uint64_t kymo_stat_all(const struct kymo_stat *stat) { return stat->all; }
uint64_t kymo_stat_uncounted(const struct kymo_stat *stat) { return stat->uncounted; }

const char *kymo_stat_name(const struct kymo_stat *stat, size_t row) {
  return row < stat->count ? stat->rows[row].name : NULL;
}

bool kymo_stat_get(const struct kymo_stat *stat, size_t row, enum kymo_stat_number what, int64_t *value) {
  if (row >= stat->count || (unsigned)what >= INTEGERS || !(stat->rows[row].has_integer & 1u << what))
    return false;
  *value = stat->rows[row].integer[what];
  return true;
}

bool kymo_stat_get_float(const struct kymo_stat *stat, size_t row, enum kymo_stat_float what, double *value) {
  if (row >= stat->count || (unsigned)what >= FLOATS || !(stat->rows[row].has_float & 1u << what))
    return false;
  *value = stat->rows[row].real[what];
  return true;
}

size_t kymo_stat_bars(const struct kymo_stat *stat, size_t row) {
  return row < stat->count ? stat->rows[row].bar_count : 0;
}

bool kymo_stat_bar(const struct kymo_stat *stat, size_t row, size_t bar, int64_t *from, uint64_t *count) {
  if (bar >= kymo_stat_bars(stat, row))
    return false;
  *from = stat->rows[row].bars[bar].from;
  *count = stat->rows[row].bars[bar].count;
  return true;
}
