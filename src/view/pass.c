/* SPDX-License-Identifier: MIT */
#include "view/state.h"
#include "base/fail.h"
#include "trace/pause.h"

int view_pass_begin(struct view_pass *pass, struct view *view, const struct view_filter *filter,
                    struct kymo_error *error) {
  pass->view = view;
  int status = view->options.open(view->options.user, false, &pass->trace, error);
  /* before a filter adds parts of its own */
  pass->is_other = status == KYMO_OK && view_change_of(view, pass->trace) >= VIEW_GONE;
  return status == KYMO_OK && filter ? view_filter_attach(filter, pass->trace, error) : status;
}

/* Damage that building did not meet: a file could not be read this time, so the result would be short. */
static bool has_more_damage(const struct view_pass *pass) {
  const struct view *view = pass->view;
  return view->is_complete && view->problem_count < VIEW_PROBLEMS_MAX &&
         kymo_trace_damage_count(pass->trace) > view->problem_count;
}

/* The index has all events, and the pass goes over all of them. */
static bool is_whole(const struct view_pass *pass) {
  return pass->view->is_complete && !pass->view->options.is_live && !pass->is_of;
}

/* Whether the trace is another one than that of the index. Events that have come to its end since are left
 * out; a filter that selects the first events of some number ends before. */
static bool is_another(const struct view_pass *pass) {
  const struct view *view = pass->view;
  if (!view->is_complete || view->options.is_live)
    return false;
  enum view_change change = view_change_of(view, NULL);
  return pass->is_other || change >= VIEW_GONE ||
         (change == VIEW_GROWN && is_whole(pass) && pass->number <= view->last_number);
}

static int fail_by_damage(const struct kymo_trace *trace, struct kymo_error *error) {
  const struct kymo_damage *damage = kymo_trace_damage(trace, kymo_trace_damage_count(trace) - 1);
  return kymo_fail_at(error, damage->code < 0 ? damage->code : KYMO_E_FORMAT, damage->path, damage->offset,
                      "%s", damage->message);
}

int view_expect_same(struct view *view, struct kymo_error *error) {
  enum view_change change =
      view->is_complete && !view->options.is_live ? view_change_of(view, NULL) : VIEW_SAME;
  view->is_gone = change == VIEW_GONE;
  if (change != VIEW_OTHER)
    return KYMO_OK;
  view->is_wrong = true;
  return kymo_fail(error, KYMO_E_FORMAT, "the trace has changed: it is indexed anew");
}

int view_pass_step(struct view_pass *pass, uint64_t events, struct kymo_error *error) {
  const struct kymo_event *event;
  int status = KYMO_OK;
  if (pass->is_done)
    return KYMO_END;
  kymo_trace_pause_after(pass->trace, events);
  for (uint64_t i = 0; i < events && status == KYMO_OK; i++) {
    status = kymo_trace_next_filtered(pass->trace, &event, error);
    if (status == KYMO_OK && is_whole(pass) && kymo_trace_passed(pass->trace) > pass->view->last_number)
      status = KYMO_END;
    if (status == KYMO_OK && (status = pass->take(pass->user, event)) != KYMO_OK)
      return status == KYMO_E_SYSTEM ? kymo_fail(error, status, "%s", pass->error.message)
                                     : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  }
  pass->number = kymo_trace_passed(pass->trace);
  if (status == KYMO_END && view_must_match(pass->view))
    pass->has_from = view_ask_rings(pass->view, pass->trace, false, &pass->from_ns);
  if (status == KYMO_END && has_more_damage(pass))
    return fail_by_damage(pass->trace, error);
  if (status == KYMO_END && is_another(pass)) {
    status = view_disagree(pass->view, pass->trace, error);
    return status == KYMO_AGAIN ? kymo_fail(error, KYMO_E_FORMAT, "the index is built anew") : status;
  }
  pass->is_done = status == KYMO_END;
  return status == KYMO_AGAIN ? KYMO_OK : status;
}

double view_pass_progress(const struct view_pass *pass) {
  uint64_t all = pass->is_of ? pass->events : pass->view->last_number;
  double part = all && pass->number ? (double)(pass->number - pass->first) / (double)all : 0;
  return pass->is_done ? 1 : part < 1 ? part : 1;
}

int view_pass_window(struct view_pass *pass, int64_t begin_ns, int64_t end_ns, uint64_t events,
                     struct kymo_error *error) {
  int status = kymo_trace_goto_time(pass->trace, begin_ns, error);
  kymo_trace_set_end_time(pass->trace, end_ns - 1);
  pass->first = kymo_trace_passed(pass->trace);
  pass->events = events;
  pass->begin_ns = begin_ns;
  pass->is_of = true;
  return status;
}

bool view_pass_from(const struct view_pass *pass, int64_t *from_ns) {
  *from_ns = pass->from_ns;
  return pass->has_from && !(pass->is_of && pass->from_ns <= pass->begin_ns);
}

void view_pass_end(struct view_pass *pass) {
  kymo_trace_close(pass->trace);
  pass->trace = NULL;
}
