/* SPDX-License-Identifier: MIT */
#include "stat/opened.h"
#include "print/text_fields.h"
#include "stat/rows.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define SHOWN_MAX 10

struct latest {
  const struct kymo_gaps *gaps;
  const struct kymo_span *list[SHOWN_MAX];
  unsigned count;
  uint64_t all;
};

void kymo_opened_note(struct kymo_span *span, struct kymo_whos *whos, const struct kymo_event *event) {
  const struct kymo_who *who = kymo_who_of(whos, event);
  span->is_epoch = kymo_event_is_epoch(event);
  if (!who)
    return;
  size_t length = who->name_length < sizeof span->thread ? who->name_length : sizeof span->thread;
  span->has_tid = who->has_tid;
  span->tid = who->tid;
  memcpy(span->thread, who->name, length);
}

static bool is_later(const struct kymo_span *a, const struct kymo_span *b) {
  return a->begin_ns != b->begin_ns ? a->begin_ns > b->begin_ns : a->begin_number > b->begin_number;
}

static bool take(void *user, struct kymo_span *span) {
  struct latest *latest = user;
  if (!span->owner || latest->gaps->counts[span->stream] != span->loss)
    return true;
  latest->all++;
  unsigned at = latest->count;
  if (at == SHOWN_MAX && !is_later(span, latest->list[at - 1]))
    return true;
  if (at < SHOWN_MAX)
    latest->count++;
  else
    at--;
  for (; at > 0 && is_later(span, latest->list[at - 1]); at--)
    latest->list[at] = latest->list[at - 1];
  latest->list[at] = span;
  return true;
}

/* worker/4711 */
static void set_thread(const struct kymo_span *span, char text[64]) {
  int length = snprintf(text, 64, "%.*s", (int)sizeof span->thread, span->thread);
  if (span->has_tid)
    snprintf(text + length, 64 - (size_t)length, "%s%" PRId64, length ? "/" : "", span->tid);
}

static void put_text(const struct kymo_opened *opened, const struct kymo_report *report,
                     const struct latest *latest) {
  enum { TITLE = 6 };
  struct kymo_stat_group *groups[SHOWN_MAX];
  char threads[SHOWN_MAX][64];
  int width = TITLE;
  for (unsigned i = 0; i < latest->count; i++) {
    struct kymo_strbuf safe = {0};
    groups[i] = latest->list[i]->owner;
    set_thread(latest->list[i], threads[i]);
    kymo_text_add_name(&safe, threads[i]);
    if (safe.failed)
      report->out->error_number = ENOMEM;
    snprintf(threads[i], sizeof threads[i], "%s", safe.text ? safe.text : "");
    width = kymo_text_width(threads[i]) > width ? kymo_text_width(threads[i]) : width;
    kymo_strbuf_free(&safe);
  }
  const struct kymo_column columns[] = {{"open for", 14, 0, KYMO_CELL_NUMBER},
                                        {"from", 29, 0, KYMO_CELL_NUMBER},
                                        {"thread", width, 0, KYMO_CELL_TEXT},
                                        {.title = report->what, .kind = KYMO_CELL_NAME}};
  struct kymo_rows rows;
  int64_t origin_ns = kymo_instance_origin(report);
  kymo_out_byte(report->out, '\n');
  kymo_rows_begin(&rows, report, columns, sizeof columns / sizeof *columns,
                  kymo_rows_name_width(report, groups, latest->count));
  for (unsigned i = 0; i < latest->count; i++) {
    const struct kymo_span *span = latest->list[i];
    kymo_rows_exact(&rows, (int64_t)((uint64_t)opened->last_ns - (uint64_t)span->begin_ns));
    kymo_rows_time(&rows, span->begin_ns, span->is_epoch);
    kymo_rows_text(&rows, "%s", threads[i]);
    kymo_rows_name(&rows, groups[i]->name);
    kymo_rows_next(&rows);
    const struct kymo_instance instance = {.begin_ns = span->begin_ns,
                                           .tid = span->tid,
                                           .has_tid = span->has_tid,
                                           .is_epoch = span->is_epoch,
                                           .is_open = true};
    kymo_instance_put_command(report, &instance, origin_ns);
  }
  kymo_rows_end(&rows);
  if (latest->all > latest->count)
    kymo_report_put(report, "the latest %u of %" PRIu64 " that are open\n", latest->count, latest->all);
}

static void put_json(const struct kymo_opened *opened, const struct kymo_report *report,
                     const struct kymo_span *span) {
  const struct kymo_stat_group *group = span->owner;
  struct kymo_json json;
  kymo_json_start(&json, report->out);
  kymo_json_begin(&json, '{');
  kymo_json_member(&json, "open", begin, '{');
  kymo_json_key(&json, report->what);
  kymo_json_text(&json, group->name);
  kymo_json_member(&json, "for", int, (int64_t)((uint64_t)opened->last_ns - (uint64_t)span->begin_ns));
  kymo_json_member(&json, "begin", int, span->begin_ns);
  if (span->has_tid)
    kymo_json_member(&json, "tid", int, span->tid);
  if (*span->thread) {
    kymo_json_fixed_key(&json, "thread");
    kymo_json_string(&json, (const uint8_t *)span->thread, strnlen(span->thread, sizeof span->thread),
                     KYMO_ENCODING_UTF8);
  }
  kymo_json_member(&json, "event", uint, span->begin_number);
  kymo_json_end(&json, '}');
  kymo_json_end(&json, '}');
  kymo_json_newline(&json);
}

void kymo_opened_report(const struct kymo_opened *opened, const struct kymo_report *report) {
  struct latest latest = {.gaps = opened->gaps};
  if (report->form != KYMO_REPORT_TEXT && report->form != KYMO_REPORT_JSON)
    return;
  kymo_spans_each(opened->spans, take, &latest);
  if (latest.count && report->form == KYMO_REPORT_TEXT)
    put_text(opened, report, &latest);
  for (unsigned i = 0; i < latest.count && report->form == KYMO_REPORT_JSON; i++)
    put_json(opened, report, latest.list[i]);
}
