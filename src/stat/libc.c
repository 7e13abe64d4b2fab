/* SPDX-License-Identifier: MIT */
#include "stat/libc.h"
#include "stat/rows.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define GROUP "libc:"

/* How the events of one class show that a call failed. */
enum failure { FAILS_NEVER, FAILS_BY_ERROR, FAILS_BY_RESULT, FAILS_BY_NULL };

struct kymo_libc_class {
  bool is_met, is_call;
  enum failure failure;
  uint32_t time, failing,
      size; /* fields: nanoseconds; the sign of a failure; the requested size; or KYMO_FIELD_NONE */
};

static bool is_call(const struct kymo_event_class *class_) {
  size_t length;
  return class_->name && strncmp(class_->name, GROUP, strlen(GROUP)) == 0 &&
         kymo_event_class_edge(class_, &length) == KYMO_EDGE_NONE;
}

bool kymo_libc_are_there(const struct kymo_trace *trace) {
  for (size_t i = 0; i < kymo_trace_part_count(trace); i++) {
    const struct kymo_schema *schema = kymo_trace_part(trace, i)->schema;
    for (uint32_t j = 0; j < schema->stream_count; j++)
      for (uint32_t k = 0; k < schema->streams[j]->event_count; k++)
        if (is_call(schema->streams[j]->events[k]))
          return true;
  }
  return false;
}

/* errno if there is one; functions of pthreads return it; a failed allocation is NULL. */
static void find_failure(const struct kymo_libc *calls, const struct kymo_event *event,
                         struct kymo_libc_class *call) {
  struct kymo_trace *trace = calls->event.trace;
  call->failing = kymo_field_id(trace, event->class_, "error");
  if (call->failing != KYMO_FIELD_NONE) {
    call->failure = FAILS_BY_ERROR;
    return;
  }
  call->failing = kymo_field_id(trace, event->class_, "result");
  const struct kymo_type *type =
      call->failing != KYMO_FIELD_NONE ? kymo_event_get_type(event, call->failing) : NULL;
  if (type && type->is_address)
    call->failure = FAILS_BY_NULL;
  else if (type && strncmp(event->class_->name, GROUP "pthread_", strlen(GROUP "pthread_")) == 0)
    call->failure = FAILS_BY_RESULT;
}

static void meet(const struct kymo_libc *calls, const struct kymo_event *event,
                 struct kymo_libc_class *call) {
  struct kymo_trace *trace = calls->event.trace;
  call->is_met = true;
  call->is_call = is_call(event->class_);
  if (!call->is_call)
    return;
  call->time = kymo_field_id(trace, event->class_, "duration_ns");
  if (call->time == KYMO_FIELD_NONE)
    call->time = kymo_field_id(trace, event->class_, "wait_ns");
  call->size = kymo_field_id(trace, event->class_, "size");
  find_failure(calls, event, call);
}

static int64_t number_of(const struct kymo_event *event, uint32_t field) {
  uint64_t bits = 0;
  int64_t number = 0;
  if (field == KYMO_FIELD_NONE)
    return 0;
  if (kymo_event_get_uint(event, field, &bits) == KYMO_OK)
    return (int64_t)bits;
  return kymo_event_get_int(event, field, &number) == KYMO_OK ? number : 0;
}

static bool has_failed(const struct kymo_event *event, const struct kymo_libc_class *call) {
  switch (call->failure) {
  case FAILS_BY_ERROR:
  case FAILS_BY_RESULT: return number_of(event, call->failing) != 0;
  case FAILS_BY_NULL: return number_of(event, call->failing) == 0 && number_of(event, call->size) != 0;
  default: return false;
  }
}

int kymo_libc_event(struct kymo_libc *calls, const struct kymo_event *event) {
  uint32_t number = kymo_kind_of(event);
  if (!calls->classes &&
      !(calls->classes = calloc(calls->event.whos->numbers.class_count + 1u, sizeof *calls->classes)))
    return KYMO_E_MEMORY;
  struct kymo_libc_class *call = &calls->classes[number];
  struct kymo_stat_group *group;
  if (!call->is_met)
    meet(calls, event, call);
  if (!call->is_call)
    return KYMO_OK;
  int status = kymo_grouping_find(&calls->event, &calls->groups, event, &group);
  if (status != KYMO_OK)
    return status;
  group->calls++;
  group->errors += has_failed(event, call);
  if (call->time == KYMO_FIELD_NONE)
    return KYMO_OK;
  int64_t took_ns = number_of(event, call->time);
  group->self_ns += took_ns;
  kymo_samples_note(&group->samples, took_ns);
  return KYMO_OK;
}

/* ---- the table ---- */

static int compare(const void *a, const void *b, void *user) {
  const struct kymo_stat_group *x = *(struct kymo_stat_group *const *)a,
                               *y = *(struct kymo_stat_group *const *)b;
  const struct kymo_report *report = user;
  double p = 0, q = 0;
  switch (report->order) {
  case KYMO_ORDER_COUNT:
    p = (double)x->calls;
    q = (double)y->calls;
    break;
  case KYMO_ORDER_MEAN:
    p = x->samples.mean;
    q = y->samples.mean;
    break;
  case KYMO_ORDER_MOST:
    p = (double)x->samples.most;
    q = (double)y->samples.most;
    break;
  case KYMO_ORDER_NAME: break;
  default:
    p = (double)x->self_ns;
    q = (double)y->self_ns;
    break;
  }
  if (p != q)
    return p < q ? 1 : -1;
  if (report->order != KYMO_ORDER_NAME && x->calls != y->calls)
    return x->calls < y->calls ? 1 : -1;
  return strcmp(x->name, y->name);
}

static const char *name_of(const struct kymo_stat_group *group) { return group->name + strlen(GROUP); }

static const struct kymo_column columns[] = {
    {"% time", 6, 0, KYMO_CELL_NUMBER}, {"total", 9, 0, KYMO_CELL_NUMBER},
    {"mean", 9, 0, KYMO_CELL_NUMBER},   {"calls", 9, 0, KYMO_CELL_NUMBER},
    {"errors", 9, 0, KYMO_CELL_NUMBER}, {.title = "function", .kind = KYMO_CELL_NAME},
};

static void put_text_row(struct kymo_rows *rows, const struct kymo_stat_group *row, int64_t all_ns,
                         const char *name) {
  if (row->samples.count) {
    kymo_rows_text(rows, "%.2f", all_ns > 0 ? (double)row->self_ns / (double)all_ns * 100 : 0);
    kymo_rows_duration(rows, (double)row->self_ns);
    kymo_rows_duration(rows, (double)row->self_ns / (double)row->samples.count);
  } else
    for (int i = 0; i < 3; i++)
      kymo_rows_text(rows, "%s", "");
  kymo_rows_count(rows, row->calls);
  if (row->errors)
    kymo_rows_count(rows, row->errors);
  else
    kymo_rows_text(rows, "%s", "");
  kymo_rows_name(rows, name);
  kymo_rows_next(rows);
}

static void put_json_row(const struct kymo_report *report, const struct kymo_stat_group *row) {
  struct kymo_json json;
  kymo_json_start(&json, report->out);
  kymo_json_begin(&json, '{');
  kymo_json_member(&json, "function", text, name_of(row));
  kymo_json_member(&json, "calls", uint, row->calls);
  kymo_json_member(&json, "errors", uint, row->errors);
  kymo_json_fixed_key(&json, "total");
  if (row->samples.count)
    kymo_json_int(&json, row->self_ns);
  else
    kymo_json_null(&json);
  kymo_json_fixed_key(&json, "max");
  if (row->samples.count)
    kymo_json_int(&json, row->samples.most);
  else
    kymo_json_null(&json);
  kymo_json_end(&json, '}');
  kymo_json_newline(&json);
}

static void put_csv_row(const struct kymo_report *report, const struct kymo_stat_group *row) {
  kymo_report_put_csv_text(report, name_of(row));
  kymo_report_put(report, ",%" PRIu64 ",%" PRIu64 ",", row->calls, row->errors);
  if (row->samples.count)
    kymo_report_put(report, "%" PRId64 ",%" PRId64, row->self_ns, row->samples.most);
  kymo_report_put(report, row->samples.count ? "\n" : ",\n");
}

static void put_text(const struct kymo_report *report, struct kymo_stat_group *const *list, size_t count,
                     size_t shown) {
  struct kymo_stat_group all = {.name = "total"};
  for (size_t i = 0; i < count; i++) {
    all.self_ns += list[i]->self_ns;
    all.calls += list[i]->calls;
    all.errors += list[i]->errors;
    all.samples.count += list[i]->samples.count;
  }
  struct kymo_rows rows;
  kymo_rows_begin(&rows, report, columns, sizeof columns / sizeof *columns,
                  kymo_rows_name_width(report, list, shown));
  for (size_t i = 0; i < shown; i++)
    put_text_row(&rows, list[i], all.self_ns, name_of(list[i]));
  put_text_row(&rows, &all, all.self_ns, all.name);
  kymo_rows_end(&rows);
}

int kymo_libc_report(const struct kymo_libc *calls, const struct kymo_report *report) {
  const struct kymo_groups *groups = &calls->groups;
  struct kymo_stat_group **list = calloc(groups->count + 1, sizeof *list);
  size_t count = 0;
  if (!list)
    return KYMO_E_MEMORY;
  for (size_t i = 0; i < groups->count; i++)
    if (!report->prefix || strncmp(name_of(groups->list[i]), report->prefix, strlen(report->prefix)) == 0)
      list[count++] = groups->list[i];
  qsort_r(list, count, sizeof *list, compare, (void *)(uintptr_t)report);
  size_t shown = kymo_report_rows(report, count, 0);
  if (report->collect)
    return kymo_report_collect(report, list, shown);
  if (report->form == KYMO_REPORT_TEXT)
    put_text(report, list, count, shown);
  if (report->form == KYMO_REPORT_CSV)
    kymo_report_put(report, "function,calls,errors,total,max\n");
  for (size_t i = 0; i < shown; i++) {
    if (report->form == KYMO_REPORT_JSON)
      put_json_row(report, list[i]);
    if (report->form == KYMO_REPORT_CSV)
      put_csv_row(report, list[i]);
  }
  kymo_report_rest(report);
  free(list);
  return KYMO_OK;
}

void kymo_libc_free(struct kymo_libc *calls) {
  kymo_groups_free(&calls->groups);
  free(calls->classes);
}
