/* SPDX-License-Identifier: MIT */
#include "stat/slowest.h"
#include "base/list.h"
#include "print/text_fields.h"
#include "stat/opened.h"
#include "stat/rows.h"
#include "stat/threads.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- open spans ---- */

/* A place for the watch of a span; 0: out of memory. */
static uint32_t add_lane(struct kymo_slowest *slowest) {
  if (slowest->free_count)
    return slowest->free_lanes[--slowest->free_count];
  if (slowest->watch_count == UINT32_MAX ||
      !KYMO_LIST_ROOM(slowest->watches, slowest->watch_room, slowest->watch_count) ||
      !KYMO_LIST_ROOM(slowest->free_lanes, slowest->free_room, slowest->watch_count))
    return 0;
  slowest->watches[slowest->watch_count++] = NULL;
  return (uint32_t)slowest->watch_count;
}

static bool begin(struct kymo_slowest *slowest, struct kymo_span *span) {
  span->lane = 0;
  if (!slowest->schedule || !span->has_tid)
    return true;
  struct kymo_sched_thread *thread = kymo_schedule_running(slowest->schedule, span->tid, span->begin_ns);
  uint32_t lane = thread ? add_lane(slowest) : 0;
  if (!lane)
    return false;
  slowest->watches[lane - 1] = kymo_watch_begin(slowest->schedule, thread, span->begin_ns);
  span->lane = lane;
  return slowest->watches[lane - 1];
}

/* ---- slow ones ---- */

static void free_slow(struct kymo_slow_span *slow) { kymo_shares_free(&slow->shares); }

static int64_t duration_of(const struct kymo_slow_span *slow) {
  return (int64_t)((uint64_t)slow->instance.end_ns - (uint64_t)slow->instance.begin_ns);
}

/* Its place among the slowest, the first of equal ones first. */
static unsigned place_of(const struct kymo_slowest *slowest, int64_t duration_ns) {
  unsigned at = slowest->count;
  while (at > 0 && duration_of(&slowest->list[at - 1]) < duration_ns)
    at--;
  return at;
}

static struct kymo_slow_span *insert(struct kymo_slowest *slowest, unsigned at) {
  if (slowest->count == slowest->wanted)
    free_slow(&slowest->list[--slowest->count]);
  memmove(&slowest->list[at + 1], &slowest->list[at], (slowest->count - at) * sizeof *slowest->list);
  slowest->count++;
  slowest->list[at] = (struct kymo_slow_span){0};
  return &slowest->list[at];
}

static bool keep(struct kymo_slowest *slowest, struct kymo_span *span, const struct kymo_event *event) {
  const struct kymo_span_kind *kind = span->owner;
  struct kymo_watch *watch = span->lane ? slowest->watches[span->lane - 1] : NULL;
  unsigned at = place_of(slowest, (int64_t)((uint64_t)event->time_ns - (uint64_t)span->begin_ns));
  if (at == slowest->wanted || !kymo_group_is_wanted(&kind->group, slowest->report->prefix))
    return true;
  struct kymo_slow_span *slow = insert(slowest, at);
  slow->instance = (struct kymo_instance){.begin_ns = span->begin_ns,
                                          .end_ns = event->time_ns,
                                          .tid = span->tid,
                                          .has_tid = span->has_tid,
                                          .begin_number = span->begin_number,
                                          .end_number = kymo_event_number(event),
                                          .is_epoch = span->is_epoch};
  slow->name = kind->group.name;
  memcpy(slow->thread, span->thread, sizeof slow->thread);
  if (!watch)
    return true;
  slow->sched = watch->thread;
  slow->longest = watch->longest;
  slow->doubts =
      watch->thread->doubts - watch->doubts + watch->is_in_gap + (slowest->schedule->open_gaps > 0);
  slow->state = watch->thread->state;
  slow->wait = watch->thread->wait;
  return kymo_watch_shares(watch, event->time_ns, &slow->shares) == KYMO_OK;
}

bool kymo_slowest_take(void *user, struct kymo_span *span, const struct kymo_event *event, bool is_end,
                       bool is_measured) {
  struct kymo_slowest *slowest = user;
  if (!is_end)
    return begin(slowest, span);
  /* the thread runs now, whatever it did before */
  bool is_done = !span->lane || kymo_schedule_running(slowest->schedule, span->tid, event->time_ns);
  if (is_done && is_measured)
    is_done = keep(slowest, span, event);
  if (span->lane) {
    kymo_watch_end(slowest->watches[span->lane - 1]);
    slowest->watches[span->lane - 1] = NULL;
    slowest->free_lanes[slowest->free_count++] = span->lane; /* there is space for all lanes */
  }
  return is_done;
}

/* ---- the end of the kernel's events ---- */

/* What is after their end is not known: the state was thought to go on. */
static void cut(const struct kymo_slowest *slowest, struct kymo_slow_span *slow) {
  int64_t begin_ns = slow->instance.begin_ns, after_ns;
  if (!slow->sched)
    return;
  slow->has_shares = slow->sched->is_of_kernel;
  if (slow->has_shares && *slow->sched->name) /* the kernel's name is the better one */
    memcpy(slow->thread, slow->sched->name, sizeof slow->thread);
  begin_ns = begin_ns > slowest->schedule->end_ns ? begin_ns : slowest->schedule->end_ns;
  after_ns = slow->instance.end_ns - begin_ns;
  if (after_ns <= 0)
    return;
  slow->shares.state_ns[slow->state] -= after_ns;
  slow->shares.state_ns[KYMO_THREAD_UNKNOWN] += after_ns;
  for (size_t i = 0; i < slow->shares.count && slow->state == KYMO_THREAD_BLOCKED; i++)
    if (slow->shares.blocked[i].cause == slow->wait.cause && slow->shares.blocked[i].call == slow->wait.call)
      slow->shares.blocked[i].total_ns -= after_ns;
}

/* ---- text ---- */

static void add_share(struct kymo_strbuf *out, const char *name, int64_t ns, int64_t whole_ns) {
  char text[KYMO_DURATION_TEXT];
  kymo_strbuf_printf(out, "%s%s %s (%.0f %%)", out->length ? ", " : "", name,
                     kymo_duration_text((double)ns, KYMO_DURATION_DIGITS, text),
                     whole_ns > 0 ? (double)ns / (double)whole_ns * 100 : 0.0);
}

/* "on a CPU 2.1 ms (17 %), runnable 0.4 ms (3 %), blocked 9.8 ms (80 %)" */
static void put_shares(const struct kymo_report *report, const struct kymo_slow_span *slow) {
  struct kymo_strbuf line = {0};
  int64_t whole_ns = duration_of(slow);
  const int64_t *state_ns = slow->shares.state_ns;
  add_share(&line, "on a CPU", state_ns[KYMO_THREAD_RUNNING], whole_ns);
  add_share(&line, "runnable", state_ns[KYMO_THREAD_RUNNABLE], whole_ns);
  add_share(&line, "blocked", state_ns[KYMO_THREAD_BLOCKED], whole_ns);
  if (state_ns[KYMO_THREAD_UNKNOWN])
    add_share(&line, "not seen", state_ns[KYMO_THREAD_UNKNOWN], whole_ns);
  if (line.failed)
    report->out->error_number = ENOMEM;
  else
    kymo_report_put(report, "    %s\n", line.text);
  kymo_strbuf_free(&line);
}

/* "futex 8 ms (65 %) in 3 times" */
static void put_causes(const struct kymo_report *report, struct kymo_slow_span *slow) {
  enum { SHOWN_MAX = 6 };
  char cause[KYMO_CAUSE_TEXT];
  kymo_shares_sort(&slow->shares);
  for (size_t i = 0; i < slow->shares.count && i < SHOWN_MAX; i++) {
    const struct kymo_blocked *blocked = &slow->shares.blocked[i];
    struct kymo_strbuf line = {0};
    if (blocked->total_ns <= 0)
      continue;
    add_share(&line, kymo_cause_text(blocked->cause, blocked->call, cause), blocked->total_ns,
              duration_of(slow));
    if (line.failed)
      report->out->error_number = ENOMEM;
    else
      kymo_report_put(report, "    blocked in %s, %" PRIu64 " time%s\n", line.text, blocked->count,
                      blocked->count == 1 ? "" : "s");
    kymo_strbuf_free(&line);
  }
}

static void put_longest(const struct kymo_report *report, const struct kymo_slow_span *slow) {
  char cause[KYMO_CAUSE_TEXT], waker[KYMO_WAKER_TEXT], text[KYMO_DURATION_TEXT];
  int64_t ns = slow->longest.end_ns - slow->longest.begin_ns;
  if (ns <= 0)
    return;
  if (!kymo_waker_text(&slow->longest.waker, waker))
    report->out->error_number = ENOMEM;
  kymo_report_put(
      report, "    longest wait: %s in %s%s%s\n", kymo_duration_text((double)ns, KYMO_DURATION_DIGITS, text),
      kymo_cause_text(slow->longest.cause, slow->longest.call, cause), *waker ? ", woken by " : "", waker);
}

static void put_why(const struct kymo_report *report, struct kymo_slow_span *slow) {
  if (!slow->has_shares) {
    kymo_report_put(report, "    not known: %s\n",
                    slow->instance.has_tid ? "no event of the kernel is of this thread"
                                           : "the span has no number of a thread");
    return;
  }
  put_shares(report, slow);
  put_causes(report, slow);
  put_longest(report, slow);
  if (slow->doubts)
    kymo_report_put(report, "    * events of the kernel are missing in this span\n");
}

/* worker/4711 */
static void thread_text(const struct kymo_report *report, const struct kymo_slow_span *slow,
                        char out[KYMO_WAKER_TEXT]) {
  struct kymo_waker thread = {.is_known = slow->instance.has_tid, .tid = slow->instance.tid};
  snprintf(thread.name, sizeof thread.name, "%.*s", (int)sizeof slow->thread - 1, slow->thread);
  if (!kymo_waker_text(&thread, out))
    report->out->error_number = ENOMEM;
}

static void put_text(struct kymo_slowest *slowest, struct kymo_stat_group *const *groups) {
  static const struct kymo_column columns[] = {{"duration", 14, 0, KYMO_CELL_NUMBER},
                                               {"from", 29, 1, KYMO_CELL_NUMBER},
                                               {"thread", 16, 0, KYMO_CELL_TEXT},
                                               {.title = "span", .kind = KYMO_CELL_NAME}};
  const struct kymo_report *report = slowest->report;
  int64_t origin_ns = kymo_instance_origin(report);
  char thread[KYMO_WAKER_TEXT];
  struct kymo_rows rows;
  kymo_rows_begin(&rows, report, columns, sizeof columns / sizeof *columns,
                  kymo_rows_name_width(report, groups, slowest->count));
  for (unsigned i = 0; i < slowest->count; i++) {
    struct kymo_slow_span *slow = &slowest->list[i];
    thread_text(report, slow, thread);
    kymo_rows_exact(&rows, duration_of(slow));
    kymo_rows_time(&rows, slow->instance.begin_ns, slow->instance.is_epoch);
    kymo_rows_text(&rows, "%s", thread);
    kymo_rows_name(&rows, slow->name);
    kymo_rows_next(&rows);
    if (slowest->schedule)
      put_why(report, slow);
    kymo_instance_put_command(report, &slow->instance, origin_ns);
  }
  kymo_rows_end(&rows);
}

/* ---- for programs ---- */

static void put_json_why(struct kymo_json *json, struct kymo_slow_span *slow) {
  kymo_json_fixed_key(json, "why");
  if (!slow->has_shares) {
    kymo_json_null(json);
    return;
  }
  kymo_shares_sort(&slow->shares);
  kymo_json_begin(json, '{');
  kymo_shares_put_json(json, &slow->shares);
  kymo_wait_put_json(json, &slow->longest);
  kymo_json_member(json, "doubts", uint, slow->doubts);
  kymo_json_end(json, '}');
}

static void put_json_row(const struct kymo_slowest *slowest, struct kymo_slow_span *slow) {
  struct kymo_json json;
  kymo_json_start(&json, slowest->report->out);
  kymo_json_begin(&json, '{');
  kymo_json_member(&json, "span", text, slow->name);
  kymo_json_member(&json, "duration", int, duration_of(slow));
  kymo_json_member(&json, "begin", int, slow->instance.begin_ns);
  kymo_json_member(&json, "end", int, slow->instance.end_ns);
  if (slow->instance.has_tid)
    kymo_json_member(&json, "tid", int, slow->instance.tid);
  if (*slow->thread) {
    kymo_json_fixed_key(&json, "thread");
    kymo_json_string(&json, (const uint8_t *)slow->thread, strnlen(slow->thread, sizeof slow->thread),
                     KYMO_ENCODING_UTF8);
  }
  kymo_json_member(&json, "events", begin, '[');
  kymo_json_uint(&json, slow->instance.begin_number);
  kymo_json_uint(&json, slow->instance.end_number);
  kymo_json_end(&json, ']');
  if (slowest->schedule)
    put_json_why(&json, slow);
  kymo_json_end(&json, '}');
  kymo_json_newline(&json);
}

static void put_csv(const struct kymo_slowest *slowest) {
  const struct kymo_report *report = slowest->report;
  kymo_report_put(report, "span,duration,begin,end,tid%s\n",
                  slowest->schedule ? KYMO_SHARES_CSV ",doubts" : "");
  for (unsigned i = 0; i < slowest->count; i++) {
    const struct kymo_slow_span *slow = &slowest->list[i];
    kymo_report_put_csv_text(report, slow->name);
    kymo_report_put(report, ",%" PRId64 ",%" PRId64 ",%" PRId64 ",", duration_of(slow),
                    slow->instance.begin_ns, slow->instance.end_ns);
    if (slow->instance.has_tid)
      kymo_report_put(report, "%" PRId64, slow->instance.tid);
    if (slowest->schedule && slow->has_shares) {
      kymo_shares_put_csv(report, &slow->shares);
      kymo_report_put(report, ",%" PRIu64, slow->doubts);
    } else if (slowest->schedule) {
      kymo_report_put(report, ",,,,,,,,,,,");
    }
    kymo_out_byte(report->out, '\n');
  }
}

/* ---- all of it ---- */

static void put_all_text(struct kymo_slowest *slowest) {
  struct kymo_stat_group own[KYMO_WORST_MAX], *groups[KYMO_WORST_MAX];
  for (unsigned i = 0; i < slowest->count; i++) {
    own[i] = (struct kymo_stat_group){.name = slowest->list[i].name};
    groups[i] = &own[i];
  }
  put_text(slowest, groups);
}

int kymo_slowest_report(struct kymo_slowest *slowest) {
  const struct kymo_report *report = slowest->report;
  const struct kymo_latencies *latencies = slowest->latencies;
  for (unsigned i = 0; i < slowest->count && slowest->schedule; i++)
    cut(slowest, &slowest->list[i]);
  if (report->collect)
    return kymo_latencies_report(latencies, report);
  if (report->form == KYMO_REPORT_TEXT)
    put_all_text(slowest);
  for (unsigned i = 0; i < slowest->count && report->form == KYMO_REPORT_JSON; i++)
    put_json_row(slowest, &slowest->list[i]);
  if (report->form == KYMO_REPORT_CSV)
    put_csv(slowest);
  if (slowest->schedule)
    kymo_schedule_put_notes(slowest->schedule, report);
  kymo_opened_report(&(struct kymo_opened){&latencies->spans, latencies->gaps, latencies->last_ns}, report);
  kymo_latencies_put_short(latencies, report);
  return KYMO_OK;
}

void kymo_slowest_free(struct kymo_slowest *slowest) {
  for (unsigned i = 0; i < slowest->count; i++)
    free_slow(&slowest->list[i]);
  free(slowest->watches); /* the schedule ends those that are open */
  free(slowest->free_lanes);
}
