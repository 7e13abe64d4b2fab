/* SPDX-License-Identifier: MIT */
#include "stat/threads.h"
#include "print/text_fields.h"
#include "stat/rows.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS_SHOWN = 20 };

/* A row; its group is the first member, so that groups are sorted as those of other tables. */
struct thread_row {
  struct kymo_stat_group group; /* name, calls: waits, samples.most: the longest wait, self_ns: running */
  struct kymo_sched_thread *thread;
};

/* ---- texts ---- */

const char *kymo_cause_text(enum kymo_block_cause cause, const char *call, char out[KYMO_CAUSE_TEXT]) {
  const char *text = kymo_block_cause_text(cause);
  if (!*call || strcmp(call, text) == 0)
    snprintf(out, KYMO_CAUSE_TEXT, "%s", text);
  else
    snprintf(out, KYMO_CAUSE_TEXT, "%s (%.*s)", text, KYMO_CAUSE_TEXT - 16, call);
  return out;
}

/* "worker/12" */
static bool set_name(const char *name, int64_t tid, char out[KYMO_WAKER_TEXT]) {
  struct kymo_strbuf safe = {0};
  kymo_text_add_name(&safe, name);
  snprintf(out, KYMO_WAKER_TEXT, "%.*s%s%" PRId64, KYMO_WAKER_TEXT - 32, safe.text ? safe.text : "",
           safe.length ? "/" : "", tid);
  bool is_set = !safe.failed;
  kymo_strbuf_free(&safe);
  return is_set;
}

bool kymo_waker_text(const struct kymo_waker *waker, char out[KYMO_WAKER_TEXT]) {
  char thread[KYMO_WAKER_TEXT] = "";
  bool is_of_thread = waker->is_known && waker->tid;
  if (is_of_thread && !set_name(waker->name, waker->tid, thread))
    return false;
  /* what an interrupt does for a thread, as to deliver what it sends, is in its context */
  snprintf(out, KYMO_WAKER_TEXT, "%s%s%.*s", waker->is_interrupt ? "an interrupt" : "",
           waker->is_interrupt && is_of_thread ? " in " : "", KYMO_WAKER_TEXT - 32, thread);
  return true;
}

int64_t kymo_shares_of(const struct kymo_shares *shares, enum kymo_block_cause cause) {
  int64_t sum = 0;
  for (size_t i = 0; i < shares->count; i++)
    sum += shares->blocked[i].cause == cause ? shares->blocked[i].total_ns : 0;
  return sum;
}

/* ---- rows ---- */

static int compare(const void *a, const void *b, void *user) {
  const struct thread_row *x = *(struct thread_row *const *)a, *y = *(struct thread_row *const *)b;
  const struct kymo_report *report = user;
  int64_t p = x->group.self_ns, q = y->group.self_ns;
  if (report->order == KYMO_ORDER_COUNT) {
    p = (int64_t)x->thread->waits;
    q = (int64_t)y->thread->waits;
  } else if (report->order == KYMO_ORDER_MOST) {
    p = x->thread->longest.end_ns - x->thread->longest.begin_ns;
    q = y->thread->longest.end_ns - y->thread->longest.begin_ns;
  } else if (report->order == KYMO_ORDER_NAME) {
    int order = strcmp(x->group.name, y->group.name);
    if (order)
      return order;
  }
  if (p != q && report->order != KYMO_ORDER_NAME)
    return p < q ? 1 : -1;
  return x->thread->tid < y->thread->tid ? -1 : x->thread->tid > y->thread->tid;
}

/* The rows of all threads of which something is known; the caller frees them and the list. */
struct rows_of {
  struct kymo_arena names;
  struct thread_row *all;
  struct kymo_stat_group **list;
  size_t count;
};

static bool add_row(struct rows_of *rows, const struct kymo_report *report,
                    struct kymo_sched_thread *thread) {
  struct thread_row *row = &rows->all[rows->count];
  char name[KYMO_WAKER_TEXT];
  snprintf(name, sizeof name, "%s%s%" PRId64, thread->name, *thread->name ? "/" : "", thread->tid);
  *row = (struct thread_row){.thread = thread};
  row->group.name = kymo_arena_copy(&rows->names, name, strlen(name));
  row->group.calls = thread->waits;
  row->group.self_ns = thread->shares.state_ns[KYMO_THREAD_RUNNING];
  for (int i = KYMO_THREAD_RUNNING; i <= KYMO_THREAD_BLOCKED; i++)
    row->group.outer_ns += thread->shares.state_ns[i];
  if (!row->group.name)
    return false;
  if (kymo_report_wants(report, &row->group))
    rows->list[rows->count++] = &row->group;
  return true;
}

static bool list_rows(struct rows_of *rows, const struct kymo_schedule *schedule,
                      const struct kymo_report *report) {
  rows->all = calloc(schedule->thread_count + 1, sizeof *rows->all);
  rows->list = calloc(schedule->thread_count + 1, sizeof *rows->list);
  bool is_done = rows->all && rows->list;
  for (size_t i = 0; i < schedule->thread_count && is_done; i++)
    is_done = add_row(rows, report, schedule->threads[i]);
  if (is_done)
    qsort_r(rows->list, rows->count, sizeof *rows->list, compare, (void *)(uintptr_t)report);
  return is_done;
}

static const struct kymo_sched_thread *thread_of(const struct kymo_stat_group *group) {
  return ((const struct thread_row *)group)->thread;
}

/* ---- text ---- */

static void put_table(const struct kymo_report *report, struct kymo_stat_group *const *list, size_t count) {
  static const struct kymo_column columns[] = {
      {.title = "thread", .kind = KYMO_CELL_NAME},
      {"running", 8, 0, KYMO_CELL_NUMBER},
      {"runnable", 8, 0, KYMO_CELL_NUMBER},
      {"blocked", 8, 0, KYMO_CELL_NUMBER},
      {"disk", 8, 3, KYMO_CELL_NUMBER},
      {"futex", 8, 3, KYMO_CELL_NUMBER},
      {"socket", 8, 4, KYMO_CELL_NUMBER},
      {"sleep", 8, 4, KYMO_CELL_NUMBER},
      {"other", 8, 5, KYMO_CELL_NUMBER},
      {"unknown", 8, 6, KYMO_CELL_NUMBER},
      {"not seen", 8, 1, KYMO_CELL_NUMBER},
      {"at the end", 10, 2, KYMO_CELL_TEXT},
  };
  struct kymo_rows rows;
  kymo_rows_begin(&rows, report, columns, sizeof columns / sizeof *columns,
                  kymo_rows_name_width(report, list, count));
  for (size_t i = 0; i < count; i++) {
    const struct kymo_sched_thread *thread = thread_of(list[i]);
    const struct kymo_shares *shares = &thread->shares;
    kymo_rows_name(&rows, list[i]->name);
    for (int k = KYMO_THREAD_RUNNING; k <= KYMO_THREAD_BLOCKED; k++)
      kymo_rows_duration(&rows, (double)shares->state_ns[k]);
    for (int k = 0; k < KYMO_BLOCK_CAUSES; k++)
      kymo_rows_duration(&rows, (double)kymo_shares_of(shares, (enum kymo_block_cause)k));
    kymo_rows_duration(&rows, (double)shares->state_ns[KYMO_THREAD_UNKNOWN]);
    kymo_rows_text(&rows, "%s%s", kymo_thread_state_text(thread->state), thread->doubts ? " *" : "");
    kymo_rows_next(&rows);
  }
  kymo_rows_end(&rows);
}

static int by_wait(const void *a, const void *b) {
  const struct thread_row *x = *(struct thread_row *const *)a, *y = *(struct thread_row *const *)b;
  int64_t p = x->thread->longest.end_ns - x->thread->longest.begin_ns,
          q = y->thread->longest.end_ns - y->thread->longest.begin_ns;
  if (p != q)
    return p < q ? 1 : -1;
  return x->thread->tid < y->thread->tid ? -1 : x->thread->tid > y->thread->tid;
}

/* The longest wait of each thread, the longest first. */
static void put_waits(const struct kymo_schedule *schedule, const struct kymo_report *report,
                      struct kymo_stat_group **list, size_t count) {
  static const struct kymo_column columns[] = {
      {"longest wait", 14, 0, KYMO_CELL_NUMBER},   {"from", 19, 1, KYMO_CELL_NUMBER},
      {"blocked in", 20, 0, KYMO_CELL_TEXT},       {"woken by", 16, 0, KYMO_CELL_TEXT},
      {.title = "thread", .kind = KYMO_CELL_NAME},
  };
  char cause[KYMO_CAUSE_TEXT], waker[KYMO_WAKER_TEXT];
  struct kymo_rows rows;
  kymo_out_byte(report->out, '\n');
  kymo_rows_begin(&rows, report, columns, sizeof columns / sizeof *columns,
                  kymo_rows_name_width(report, list, count));
  for (size_t i = 0; i < count; i++) {
    const struct kymo_wait *wait = &thread_of(list[i])->longest;
    kymo_rows_exact(&rows, wait->end_ns - wait->begin_ns);
    kymo_rows_time(&rows, wait->begin_ns, schedule->is_epoch);
    kymo_rows_text(&rows, "%s", kymo_cause_text(wait->cause, wait->call, cause));
    if (!kymo_waker_text(&wait->waker, waker))
      report->out->error_number = ENOMEM;
    kymo_rows_text(&rows, "%s", waker);
    kymo_rows_name(&rows, list[i]->name);
    kymo_rows_next(&rows);
  }
  kymo_rows_end(&rows);
}

/* One cause of one thread. */
struct call_row {
  const struct kymo_blocked *blocked;
  struct kymo_stat_group *group;
};

static int by_blocked(const void *a, const void *b) {
  const struct call_row *x = a, *y = b;
  if (x->blocked->total_ns != y->blocked->total_ns)
    return x->blocked->total_ns < y->blocked->total_ns ? 1 : -1;
  const struct kymo_sched_thread *p = thread_of(x->group), *q = thread_of(y->group);
  return p->tid != q->tid ? (p->tid < q->tid ? -1 : 1) : strcmp(x->blocked->call, y->blocked->call);
}

static void put_call_rows(const struct kymo_report *report, const struct call_row *list, size_t count) {
  static const struct kymo_column columns[] = {
      {"blocked", 8, 0, KYMO_CELL_NUMBER},         {"times", 7, 0, KYMO_CELL_NUMBER},
      {"longest", 8, 1, KYMO_CELL_NUMBER},         {"in", 20, 0, KYMO_CELL_TEXT},
      {.title = "thread", .kind = KYMO_CELL_NAME},
  };
  struct kymo_stat_group *groups[CALLS_SHOWN];
  char cause[KYMO_CAUSE_TEXT];
  struct kymo_rows rows;
  for (size_t i = 0; i < count; i++)
    groups[i] = list[i].group;
  kymo_out_byte(report->out, '\n');
  kymo_rows_begin(&rows, report, columns, sizeof columns / sizeof *columns,
                  kymo_rows_name_width(report, groups, count));
  for (size_t i = 0; i < count; i++) {
    const struct kymo_blocked *blocked = list[i].blocked;
    kymo_rows_duration(&rows, (double)blocked->total_ns);
    kymo_rows_count(&rows, blocked->count);
    kymo_rows_duration(&rows, (double)blocked->most_ns);
    kymo_rows_text(&rows, "%s", kymo_cause_text(blocked->cause, blocked->call, cause));
    kymo_rows_name(&rows, groups[i]->name);
    kymo_rows_next(&rows);
  }
  kymo_rows_end(&rows);
}

/* Where threads were blocked, the longest sums first. */
static int put_calls(const struct kymo_report *report, struct kymo_stat_group **list, size_t count) {
  size_t all = 0;
  for (size_t i = 0; i < count; i++)
    all += thread_of(list[i])->shares.count;
  struct call_row *rows = calloc(all + 1, sizeof *rows);
  if (!rows)
    return KYMO_E_MEMORY;
  all = 0;
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < thread_of(list[i])->shares.count; k++)
      rows[all++] = (struct call_row){&thread_of(list[i])->shares.blocked[k], list[i]};
  qsort(rows, all, sizeof *rows, by_blocked);
  size_t shown = all < CALLS_SHOWN ? all : CALLS_SHOWN;
  if (shown)
    put_call_rows(report, rows, shown);
  if (shown < all)
    kymo_report_put(report, "the longest %zu of %zu; --json has all\n", shown, all);
  free(rows);
  return KYMO_OK;
}

static int put_text(const struct kymo_schedule *schedule, const struct kymo_report *report,
                    struct kymo_stat_group **list, size_t count, unsigned worst) {
  size_t waiting = 0;
  put_table(report, list, count);
  int status = put_calls(report, list, count);
  if (status != KYMO_OK)
    return status;
  qsort(list, count, sizeof *list, by_wait);
  while (waiting < count && waiting < worst && thread_of(list[waiting])->waits)
    waiting++;
  if (waiting)
    put_waits(schedule, report, list, waiting);
  return KYMO_OK;
}

/* ---- for programs ---- */

static void put_waker(struct kymo_json *json, const struct kymo_waker *waker) {
  kymo_json_fixed_key(json, "woken_by");
  if (!waker->is_known && !waker->is_interrupt) {
    kymo_json_null(json);
    return;
  }
  kymo_json_begin(json, '{');
  kymo_json_member(json, "interrupt", bool, waker->is_interrupt);
  if (waker->is_known) {
    kymo_json_member(json, "tid", int, waker->tid);
    kymo_json_fixed_key(json, "thread");
    kymo_json_string(json, (const uint8_t *)waker->name, strlen(waker->name), KYMO_ENCODING_UTF8);
  }
  kymo_json_end(json, '}');
}

void kymo_wait_put_json(struct kymo_json *json, const struct kymo_wait *wait) {
  kymo_json_fixed_key(json, "longest");
  if (wait->end_ns == wait->begin_ns) {
    kymo_json_null(json);
    return;
  }
  kymo_json_begin(json, '{');
  kymo_json_member(json, "begin", int, wait->begin_ns);
  kymo_json_member(json, "end", int, wait->end_ns);
  kymo_json_member(json, "cause", text, kymo_block_cause_text(wait->cause));
  kymo_json_member(json, "call", text, wait->call);
  put_waker(json, &wait->waker);
  kymo_json_end(json, '}');
}

void kymo_shares_put_json(struct kymo_json *json, const struct kymo_shares *shares) {
  for (int i = KYMO_THREAD_RUNNING; i <= KYMO_THREAD_BLOCKED; i++) {
    kymo_json_key(json, kymo_thread_state_text((enum kymo_thread_state)i));
    kymo_json_int(json, shares->state_ns[i]);
  }
  kymo_json_member(json, "not_seen", int, shares->state_ns[KYMO_THREAD_UNKNOWN]);
  kymo_json_member(json, "blocked_in", begin, '[');
  for (size_t i = 0; i < shares->count; i++) {
    kymo_json_begin(json, '{');
    kymo_json_member(json, "cause", text, kymo_block_cause_text(shares->blocked[i].cause));
    kymo_json_member(json, "call", text, shares->blocked[i].call);
    kymo_json_member(json, "count", uint, shares->blocked[i].count);
    kymo_json_member(json, "total", int, shares->blocked[i].total_ns);
    kymo_json_end(json, '}');
  }
  kymo_json_end(json, ']');
}

void kymo_shares_put_csv(const struct kymo_report *report, const struct kymo_shares *shares) {
  for (int i = KYMO_THREAD_RUNNING; i <= KYMO_THREAD_BLOCKED; i++)
    kymo_report_put(report, ",%" PRId64, shares->state_ns[i]);
  for (int i = 0; i < KYMO_BLOCK_CAUSES; i++)
    kymo_report_put(report, ",%" PRId64, kymo_shares_of(shares, (enum kymo_block_cause)i));
  kymo_report_put(report, ",%" PRId64, shares->state_ns[KYMO_THREAD_UNKNOWN]);
}

static void put_json_row(const struct kymo_report *report, const struct kymo_sched_thread *thread) {
  struct kymo_json json;
  kymo_json_start(&json, report->out);
  kymo_json_begin(&json, '{');
  kymo_json_fixed_key(&json, "thread");
  kymo_json_string(&json, (const uint8_t *)thread->name, strlen(thread->name), KYMO_ENCODING_UTF8);
  kymo_json_member(&json, "tid", int, thread->tid);
  kymo_shares_put_json(&json, &thread->shares);
  kymo_json_member(&json, "waits", uint, thread->waits);
  kymo_wait_put_json(&json, &thread->longest);
  kymo_json_member(&json, "at_end", text, kymo_thread_state_text(thread->state));
  kymo_json_member(&json, "doubts", uint, thread->doubts);
  kymo_json_end(&json, '}');
  kymo_json_newline(&json);
}

static void put_csv_row(const struct kymo_report *report, const struct kymo_sched_thread *thread) {
  kymo_report_put_csv_text(report, thread->name);
  kymo_report_put(report, ",%" PRId64, thread->tid);
  kymo_shares_put_csv(report, &thread->shares);
  kymo_report_put(report, ",%" PRIu64 ",%" PRId64 ",%s,%" PRIu64 "\n", thread->waits,
                  thread->longest.end_ns - thread->longest.begin_ns, kymo_thread_state_text(thread->state),
                  thread->doubts);
}

/* ---- what the figures rest on ---- */

static void put_text_notes(const struct kymo_schedule *schedule, const struct kymo_report *report) {
  char text[KYMO_DURATION_TEXT];
  if (!schedule->wakeups || schedule->unwoken || !schedule->calls || schedule->gaps ||
      schedule->contradictions)
    kymo_out_byte(report->out, '\n');
  if (!schedule->wakeups)
    kymo_report_put(report,
                    "The traces have no sched_wakeup and no sched_waking: blocked is also the time in "
                    "which a thread waits for a CPU.\n");
  else if (schedule->unwoken)
    kymo_report_put(
        report,
        "%" PRIu64 " waits, together %s, ended without sched_wakeup: in these, blocked is also the "
        "time in which the thread waited for a CPU.\n",
        schedule->unwoken, kymo_duration_text((double)schedule->unwoken_ns, KYMO_DURATION_DIGITS, text));
  if (!schedule->calls)
    kymo_report_put(report, "The traces have no system calls (sys_enter_*, sys_exit_*): only waits in "
                            "uninterruptible sleep (disk) have a cause.\n");
  if (schedule->gaps || schedule->contradictions)
    kymo_report_put(report,
                    "Events of the kernel are missing (losses: %" PRIu64 ", contradictions: %" PRIu64
                    "): what rests on them has a *, and what is not known is \"not seen\".\n",
                    schedule->gaps, schedule->contradictions);
}

void kymo_schedule_put_notes(const struct kymo_schedule *schedule, const struct kymo_report *report) {
  if (report->form == KYMO_REPORT_TEXT)
    put_text_notes(schedule, report);
  if (report->form == KYMO_REPORT_JSON)
    kymo_report_put(
        report,
        "{\"kernel\":{\"begin\":%" PRId64 ",\"end\":%" PRId64 ",\"switches\":%" PRIu64 ",\"wakeups\":%" PRIu64
        ",\"calls\":%" PRIu64 ",\"without_wakeup\":%" PRIu64 ",\"without_wakeup_ns\":%" PRId64
        ",\"losses\":%" PRIu64 ",\"contradictions\":%" PRIu64 "}}\n",
        schedule->begin_ns, schedule->end_ns, schedule->switches, schedule->wakeups, schedule->calls,
        schedule->unwoken, schedule->unwoken_ns, schedule->gaps, schedule->contradictions);
}

/* ---- all of it ---- */

int kymo_threads_report(const struct kymo_schedule *schedule, const struct kymo_report *report,
                        unsigned worst) {
  struct rows_of rows = {0};
  int status = list_rows(&rows, schedule, report) ? KYMO_OK : KYMO_E_MEMORY;
  size_t shown = status == KYMO_OK ? kymo_report_rows(report, rows.count, 0) : 0;
  if (status == KYMO_OK && report->collect) {
    status = report->collect(report->user, rows.list, shown) ? KYMO_OK : KYMO_E_MEMORY;
  } else if (status == KYMO_OK) {
    for (size_t i = 0; i < shown; i++)
      kymo_shares_sort(&((struct thread_row *)rows.list[i])->thread->shares);
    if (report->form == KYMO_REPORT_CSV)
      kymo_report_put(report, "thread,tid" KYMO_SHARES_CSV ",waits,longest,at_end,doubts\n");
    for (size_t i = 0; i < shown && report->form == KYMO_REPORT_JSON; i++)
      put_json_row(report, thread_of(rows.list[i]));
    for (size_t i = 0; i < shown && report->form == KYMO_REPORT_CSV; i++)
      put_csv_row(report, thread_of(rows.list[i]));
    if (report->form == KYMO_REPORT_TEXT)
      status = put_text(schedule, report, rows.list, shown, worst);
    kymo_schedule_put_notes(schedule, report);
    kymo_report_rest(report);
  }
  free(rows.list);
  free(rows.all);
  kymo_arena_free(&rows.names);
  return status;
}
