/* SPDX-License-Identifier: MIT */
/*
 * Tests with a memory. Each sees every event once, before the select is evaluated; its result for this event
 * is in its verdict until the next one. Results that depend on later events were found by a first pass:
 *
 *   AFTER LAST, BEFORE LAST   the number of the last match
 *   WITHIN … BEFORE, AROUND   stretches: for runs of matches that are near to one another, the last one's
 *                             number and the time from which on events before it are near enough
 */
#include "base/list.h"
#include "base/search.h"
#include "filter/machine.h"
#include <stdlib.h>

#define STRETCHES_MAX (UINT32_C(1) << 20)

struct step {
  struct filter_machine *machine;
  struct filter_state *state;
  const struct filter_bound *bound;
  struct filter_look *look;
};

/* The cell for the event's value of PER; NULL: it has none. */
static struct filter_cell *cell_of(const struct step *step, struct filter_key *key) {
  *key = (struct filter_key){0, KYMO_SORT_ABSENT};
  if (step->bound->key) {
    struct filter_value value;
    step->bound->key->get(step->bound->key, step->look, &value);
    if (value.v.sort == KYMO_SORT_ABSENT)
      return NULL;
    *key = kymo_filter_key_of(&value);
  }
  return kymo_filter_cell(step->machine, &step->state->table, *key);
}

static bool test(const struct filter_bound *bound, struct filter_look *look) {
  return bound->test(bound, look);
}

/* ---- CHANGED, BETWEEN, EVERY ---- */

static bool step_changed(const struct step *step) {
  struct filter_value value;
  struct filter_key key;
  step->bound->a->get(step->bound->a, step->look, &value);
  struct filter_cell *cell = value.v.sort == KYMO_SORT_ABSENT ? NULL : cell_of(step, &key);
  if (!cell)
    return false;
  struct filter_key now = kymo_filter_key_of(&value);
  bool has_changed = !cell->has_last || cell->last.number != now.number || cell->last.kind != now.kind;
  cell->has_last = true;
  cell->last = now;
  return has_changed;
}

static bool step_between(const struct step *step) {
  struct filter_key key;
  bool opens = test(step->bound->a, step->look), closes = test(step->bound->b, step->look);
  struct filter_cell *cell = cell_of(step, &key);
  if (!cell)
    return false;
  bool was_open = cell->is_open;
  cell->is_open = was_open ? !closes : opens;
  return was_open != cell->is_open ? step->bound->node->detail == 1 : was_open;
}

static bool step_every(const struct step *step) {
  struct filter_key key;
  if (step->bound->a && !test(step->bound->a, step->look))
    return false;
  struct filter_cell *cell = cell_of(step, &key);
  return cell && cell->count++ % step->machine->filter->wides[step->bound->node->b].low == 0;
}

/* ---- AFTER, BEFORE ---- */

static bool step_after(const struct step *step) {
  struct filter_key key;
  uint64_t number = step->look->event->number;
  bool is_match = test(step->bound->a, step->look);
  if (step->bound->node->detail == KYMO_FILTER_LAST) {
    if (is_match && step->machine->pass == step->state->rank)
      step->state->final = number;
    return step->state->final != 0 && number > step->state->final;
  }
  struct filter_cell *cell = cell_of(step, &key);
  if (!cell)
    return false;
  bool is_after = cell->is_open;
  cell->is_open |= is_match;
  return is_after;
}

static bool step_before(const struct step *step) {
  struct filter_key key;
  uint64_t number = step->look->event->number;
  bool is_match = test(step->bound->a, step->look);
  if (step->bound->node->detail == KYMO_FILTER_LAST) {
    if (is_match && step->machine->pass == step->state->rank)
      step->state->final = number;
    return number < step->state->final;
  }
  struct filter_cell *cell = cell_of(step, &key);
  if (!cell)
    return false;
  cell->is_open |= is_match;
  return !cell->is_open;
}

/* ---- WITHIN ---- */

/* The time `span` before, rounded down. */
static int64_t time_before(int64_t time_ns, int64_t span_ns) {
  int64_t before;
  return __builtin_sub_overflow(time_ns, span_ns, &before) ? INT64_MIN : before;
}

/* A span in nanoseconds, limited to a number beyond all times. */
static bool span_ns_of(const struct step *step, int64_t *span_ns) {
  const struct filter_value *span = &step->bound->b->value;
  struct kymo_wide ns;
  if (span->v.sort != KYMO_SORT_SPAN || !kymo_wide_divide(span->v.n, kymo_wide_of_u64(1000), &ns, NULL))
    return false;
  *span_ns = kymo_wide_compare(ns, kymo_wide_of_i64(INT64_MAX)) > 0 ? INT64_MAX : (int64_t)ns.low;
  return true;
}

/* Notes a match in the first pass: it extends the stretch of its key, or begins one. */
static void note_match(const struct step *step, struct filter_cell *cell, int64_t span_ns) {
  struct filter_state *state = step->state;
  const struct kymo_event *event = step->look->event;
  struct filter_stretch *last = cell->has_last ? &state->stretches[cell->stretch] : NULL;
  int64_t begin_ns = time_before(event->time_ns, span_ns);
  if (last && begin_ns <= last->last_ns) {
    last->last = event->number;
    last->last_ns = event->time_ns;
    return;
  }
  if (state->stretch_count == STRETCHES_MAX) {
    step->machine->failed = KYMO_E_LIMIT;
    step->machine->limit = "R9 WITHIN … BEFORE or AROUND has more than 1048576 stretches of matches";
    return;
  }
  if (!KYMO_LIST_ROOM(state->stretches, state->stretch_capacity, state->stretch_count)) {
    step->machine->failed = KYMO_E_MEMORY;
    return;
  }
  cell->has_last = true;
  cell->stretch = state->stretch_count;
  state->stretches[state->stretch_count++] =
      (struct filter_stretch){cell->key, event->number, begin_ns, event->time_ns};
}

static bool is_key_less(const struct filter_key *a, const struct filter_key *b) {
  return a->number != b->number ? a->number < b->number : a->kind < b->kind;
}

/* Whether a near match follows. Stretches are ordered by key, then by number. */
static bool is_match_ahead(const struct step *step, struct filter_cell *cell) {
  const struct filter_state *state = step->state;
  const struct kymo_event *event = step->look->event;
  if (!cell->has_last) { /* where the stretches of this key begin */
    cell->has_last = true;
    cell->stretch =
        KYMO_COUNT_BEFORE(state->stretch_count, i, is_key_less(&state->stretches[i].key, &cell->key));
  }
  for (; cell->stretch < state->stretch_count; cell->stretch++) {
    const struct filter_stretch *stretch = &state->stretches[cell->stretch];
    if (stretch->key.number != cell->key.number || stretch->key.kind != cell->key.kind)
      return false;
    if (stretch->last >= event->number)
      return event->time_ns >= stretch->begin_ns;
  }
  return false;
}

static bool step_within(const struct step *step) {
  const struct kymo_event *event = step->look->event;
  enum kymo_filter_side side = step->bound->node->detail;
  struct filter_key key;
  int64_t span_ns;
  bool is_match = test(step->bound->a, step->look);
  struct filter_cell *cell = event->has_time && span_ns_of(step, &span_ns) ? cell_of(step, &key) : NULL;
  if (!cell)
    return false;
  if (step->machine->pass && step->machine->pass == step->state->rank) {
    if (is_match)
      note_match(step, cell, span_ns);
    return false;
  }
  bool is_ahead = side != KYMO_FILTER_BEHIND && is_match_ahead(step, cell);
  if (is_match) {
    cell->is_open = true;
    cell->time_ns = event->time_ns;
  }
  bool is_after = side != KYMO_FILTER_AHEAD && cell->is_open && event->time_ns >= cell->time_ns &&
                  time_before(event->time_ns, span_ns) <= cell->time_ns;
  return is_ahead || is_after;
}

/* ---- all ---- */

void kymo_filter_remember(struct filter_machine *machine, const struct kymo_filter_class *class_,
                          struct filter_look *look) {
  for (uint32_t i = 0; i < class_->state_count; i++) {
    const struct filter_bound *bound = class_->states[i];
    struct step step = {machine, &machine->states[bound->index], bound, look};
    bool verdict = false;
    if (machine->pass && step.state->rank > machine->pass)
      continue; /* it belongs to a later pass */
    switch (bound->node->op) {
    case KYMO_FILTER_CHANGED: verdict = step_changed(&step); break;
    case KYMO_FILTER_BETWEEN: verdict = step_between(&step); break;
    case KYMO_FILTER_AFTER: verdict = step_after(&step); break;
    case KYMO_FILTER_BEFORE: verdict = step_before(&step); break;
    case KYMO_FILTER_WITHIN: verdict = step_within(&step); break;
    default: verdict = step_every(&step); break;
    }
    step.state->verdict = verdict;
  }
}

/* The highest pass among a node's parts. */
static uint32_t rank_below(const struct kymo_filter *filter, const uint32_t *ranks,
                           const struct kymo_filter_node *node) {
  unsigned operands = kymo_filter_operands(node);
  bool is_list = node->op == KYMO_FILTER_AND || node->op == KYMO_FILTER_OR || node->op == KYMO_FILTER_CALL;
  bool is_set =
      node->op == KYMO_FILTER_IN || node->op == KYMO_FILTER_RECORD || node->op == KYMO_FILTER_SEGMENT;
  uint32_t first = is_list ? node->a : node->b,
           count = is_list  ? node->b
                   : is_set ? 2 * node->c
                            : 0,
           rank = 0;
  const uint32_t parts[] = {node->a, node->b, node->c};
  for (unsigned i = 0; i < 3; i++)
    if (operands >> i & 1 && ranks[parts[i]] > rank)
      rank = ranks[parts[i]];
  for (uint32_t i = 0; i < count; i++)
    if (ranks[filter->lists[first + i]] > rank)
      rank = ranks[filter->lists[first + i]];
  return rank;
}

uint32_t kymo_filter_rank(struct filter_machine *machine) {
  const struct kymo_filter *filter = machine->filter;
  uint32_t *ranks = calloc(filter->node_count + 1u, sizeof *ranks), highest = 0;
  if (!ranks) {
    machine->failed = KYMO_E_MEMORY;
    return 0;
  }
  for (uint32_t i = 0; i < filter->node_count; i++) {
    ranks[i] = rank_below(filter, ranks, &filter->nodes[i]) + kymo_filter_looks_ahead(&filter->nodes[i]);
    machine->states[i].rank = kymo_filter_looks_ahead(&filter->nodes[i]) ? ranks[i] : 0;
    highest = ranks[i] > highest ? ranks[i] : highest;
  }
  free(ranks);
  return highest;
}

static int compare_stretches(const void *a, const void *b) {
  const struct filter_stretch *x = a, *y = b;
  if (x->key.number != y->key.number)
    return x->key.number < y->key.number ? -1 : 1;
  if (x->key.kind != y->key.kind)
    return x->key.kind < y->key.kind ? -1 : 1;
  return x->last < y->last ? -1 : x->last > y->last;
}

void kymo_filter_forget(struct filter_machine *machine) {
  for (uint32_t i = 0; i < machine->filter->node_count; i++) {
    struct filter_state *state = &machine->states[i];
    if (machine->pass && machine->pass == state->rank && state->stretch_count)
      qsort(state->stretches, state->stretch_count, sizeof *state->stretches, compare_stretches);
    state->verdict = false;
    kymo_filter_table_clear(&state->table);
  }
}
