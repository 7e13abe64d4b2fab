/* SPDX-License-Identifier: MIT */
/* Snapshots of the state that outlives records (S25): the state is copied, tables are restored by undoing or
 * redoing their changes. */
#include "plan/machine.h"
#include <stdlib.h>
#include <string.h>

static bool copy_values(struct kymo_expr_value **out, const struct kymo_expr_value *values, uint32_t count) {
  *out = calloc((size_t)count + 1, sizeof **out);
  for (uint32_t i = 0; *out && i < count; i++)
    if (!kymo_plan_own(&(*out)[i], &values[i]))
      return false;
  return *out != NULL;
}

static void *copy_array(const void *from, size_t count, size_t size) {
  void *to = calloc(count + 1, size);
  if (to && count)
    memcpy(to, from, count * size);
  return to;
}

static bool copy_state(struct kymo_plan_state *to, const struct kymo_plan_state *from,
                       const struct kymo_plan *plan) {
  uint32_t clocks = KYMO_PLAN_COUNT(plan, CLOCK);
  *to = *from;
  to->kept = to->saved = NULL;
  bool ok = kymo_plan_boxes_copy(to, from);
  to->saved_capacity = from->saved_count;
  to->clocks = copy_array(from->clocks, clocks, sizeof *to->clocks);
  to->syncs = copy_array(from->syncs, clocks, sizeof *to->syncs);
  to->counters = copy_array(from->counters, plan->root->sequence_count, sizeof *to->counters);
  to->per = copy_array(from->per, from->per_count, sizeof *to->per);
  to->per_capacity = from->per_count;
  ok = kymo_hash_table_copy(&to->per_table, &from->per_table) && ok;
  ok = copy_values(&to->kept, from->kept, plan->root->kept_count) &&
       copy_values(&to->saved, from->saved, from->saved_count) && ok;
  return ok && to->clocks && to->syncs && to->counters && to->per;
}

bool kymo_plan_snapshot_take(struct kymo_plan_snapshot *snapshot, const struct kymo_plan_machine *machine) {
  if (machine->is_placed && (machine->r || machine->note_count))
    return false; /* the decode error is no part of the state */
  snapshot->changes = machine->change_count;
  snapshot->generation = machine->generation;
  bool ok = copy_state(&snapshot->state, &machine->state, machine->plan);
  if (!ok)
    kymo_plan_snapshot_free(snapshot, machine->plan);
  return ok;
}

/* The file may have been truncated since. False: it ends before the place. */
static bool fit(struct kymo_plan_state *state, uint64_t size) {
  for (uint32_t i = 0; i < state->depth; i++) {
    if (state->frames[i].box)
      continue;
    if (state->frames[i].at > size)
      return false;
    if (state->frames[i].end > size)
      state->frames[i].end = size;
  }
  return true;
}

bool kymo_plan_snapshot_restore(const struct kymo_plan_snapshot *snapshot,
                                struct kymo_plan_machine *machine) {
  struct kymo_plan_state state;
  if (snapshot->generation != machine->generation || snapshot->changes > machine->change_high)
    return false;
  bool ok = copy_state(&state, &snapshot->state, machine->plan);
  if (!ok || !fit(&state, machine->size)) {
    kymo_plan_state_free(machine->plan, &state);
    return false;
  }
  kymo_plan_boxes_take(&state, &machine->state);
  kymo_plan_state_free(machine->plan, &machine->state);
  machine->state = state;
  machine->note_count = machine->r = 0;
  machine->is_placed = false;
  machine->resolved_fields = 0;
  kymo_plan_changes_go(machine, snapshot->changes);
  return true;
}

void kymo_plan_snapshot_free(struct kymo_plan_snapshot *snapshot, const struct kymo_plan *plan) {
  kymo_plan_state_free(plan, &snapshot->state);
  memset(snapshot, 0, sizeof *snapshot);
}
