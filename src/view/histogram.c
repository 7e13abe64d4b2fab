/* SPDX-License-Identifier: MIT */
/* Values of a field: numbers as `kymo stat histogram` measures them, texts as `kymo stat counts --by` counts
 * them, by the same code. */
#include "view/state.h"
#include "base/arena.h"
#include "base/fail.h"
#include "stat/spill.h"
#include "stat/tally.h"
#include <stdlib.h>
#include <string.h>

struct view_histogram {
  struct view_pass pass;
  struct kymo_whos whos;
  struct kymo_tally tally;
  struct kymo_samples none;
  char *field;
  bool is_text, is_settled;
  struct kymo_report_rows rows;
  struct view_histogram_value *values; /* texts are the tally's */
  size_t value_count;
};

static int no_memory(struct kymo_error *error) { return kymo_fail(error, KYMO_E_MEMORY, "out of memory"); }

static int take(void *user, const struct kymo_event *event) {
  struct view_histogram *histogram = user;
  return histogram->is_text ? kymo_tally_count(&histogram->tally, event)
                            : kymo_tally_value(&histogram->tally, event);
}

/* Whether the field is a text in any class. */
static bool is_text(const struct view_histogram *histogram) {
  struct kymo_trace *trace = histogram->pass.trace;
  for (uint32_t i = 0; i < kymo_trace_class_count(trace); i++) {
    const struct kymo_event_class *class_ = kymo_trace_class(trace, i);
    uint32_t id = kymo_field_id(trace, class_, histogram->field);
    struct kymo_field field;
    if (id != KYMO_FIELD_NONE && kymo_field_info(trace, class_, id, &field) == KYMO_OK &&
        field.kind == KYMO_DATA_TEXT)
      return true;
  }
  return false;
}

static int begin(struct view_histogram *histogram, struct view *view, const struct view_filter *filter,
                 struct kymo_error *error) {
  struct kymo_tally *tally = &histogram->tally;
  tally->groups.bytes_limit = (size_t)32 << 20;
  tally->error = &histogram->pass.error;
  int status = view_pass_begin(&histogram->pass, view, filter, error);
  if (status == KYMO_OK)
    status = kymo_whos_begin(&histogram->whos, histogram->pass.trace, error);
  if (status == KYMO_OK)
    status = kymo_tally_begin_values(tally, histogram->field, histogram->pass.trace, &histogram->whos, error);
  histogram->is_text = status == KYMO_OK && is_text(histogram);
  if (status == KYMO_OK)
    status = kymo_grouping_begin(&tally->by, histogram->is_text ? histogram->field : NULL,
                                 histogram->pass.trace, &histogram->whos, error);
  return status;
}

int view_histogram_new(struct view_histogram **out, struct view *view, const char *field,
                       const struct view_filter *filter, struct kymo_error *error) {
  struct view_histogram *histogram = calloc(1, sizeof *histogram);
  *out = NULL;
  if (!histogram || !(histogram->field = view_copy(field)))
    return free(histogram), no_memory(error);
  histogram->pass.take = take;
  histogram->pass.user = histogram;
  int status = begin(histogram, view, filter, error);
  if (status == KYMO_OK)
    *out = histogram;
  else
    view_histogram_free(histogram);
  return status;
}

/* ---- texts ---- */

static bool collect(void *user, struct kymo_stat_group *const *list, size_t shown) {
  struct view_histogram *histogram = user;
  free(histogram->values);
  histogram->values = calloc(shown + 1, sizeof *histogram->values);
  histogram->value_count = histogram->values ? shown : 0;
  for (size_t i = 0; i < histogram->value_count; i++)
    histogram->values[i] = (struct view_histogram_value){list[i]->name, list[i]->samples.count};
  return histogram->values;
}

/* What there is so far; before the end, groups that were written to a file are left out. */
static int list_values(struct view_histogram *histogram) {
  const struct kymo_report report = {.form = KYMO_REPORT_CSV,
                                     .order = KYMO_ORDER_COUNT,
                                     .top = VIEW_VALUES_MAX,
                                     .rows = &histogram->rows,
                                     .collect = collect,
                                     .user = histogram};
  return kymo_report_counts(&report, &histogram->tally.groups, 0, 0);
}

static int settle(struct view_histogram *histogram, struct kymo_error *error) {
  const struct kymo_report report = {
      .form = KYMO_REPORT_CSV, .order = KYMO_ORDER_COUNT, .top = VIEW_VALUES_MAX};
  struct kymo_samples all = {0};
  int status = kymo_groups_settle(&histogram->tally.groups, &report, &all, &histogram->pass.error);
  kymo_samples_free(&all);
  histogram->is_settled = true;
  return status == KYMO_OK ? KYMO_END : kymo_fail(error, status, "%s", histogram->pass.error.message);
}

int view_histogram_values(struct view_histogram *histogram, const struct view_histogram_value **list,
                          size_t *count, uint64_t *all) {
  int status = histogram->is_text ? list_values(histogram) : KYMO_E_ABSENT;
  bool is_listed = status == KYMO_OK;
  *list = is_listed ? histogram->values : NULL;
  *count = is_listed ? histogram->value_count : 0;
  *all = is_listed ? histogram->rows.all : 0;
  return is_listed || status == KYMO_E_ABSENT ? status : KYMO_E_MEMORY;
}

/* ---- steps ---- */

int view_histogram_step(struct view_histogram *histogram, uint64_t events, struct kymo_error *error) {
  int status = view_pass_step(&histogram->pass, events, error);
  return status == KYMO_END && !histogram->is_settled ? settle(histogram, error) : status;
}

struct kymo_samples *view_histogram_result(struct view_histogram *histogram) {
  struct kymo_groups *groups = &histogram->tally.groups;
  return !histogram->is_text && groups->count ? &groups->list[0]->samples : &histogram->none;
}

double view_histogram_progress(const struct view_histogram *histogram) {
  return view_pass_progress(&histogram->pass);
}

bool view_histogram_from(const struct view_histogram *histogram, int64_t *from_ns) {
  return view_pass_from(&histogram->pass, from_ns);
}

void view_histogram_free(struct view_histogram *histogram) {
  if (!histogram)
    return;
  kymo_tally_free(&histogram->tally);
  kymo_whos_end(&histogram->whos);
  view_pass_end(&histogram->pass);
  free(histogram->values);
  free(histogram->field);
  free(histogram);
}
