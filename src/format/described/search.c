/* SPDX-License-Identifier: MIT */
/*
 * Sorted files whose records have one size, searched by time:
 *
 *   header │ cell 0 │ cell 1 │ cell 2 │ …              of CELL_BYTES, whole records
 *                            └ time of its first record: a binary search over these
 *
 * The state of reading at the begin of a cell is the state at the begin of the region (key/search.h), and the
 * times of earlier records. Of these, only the times of the previous cell are used, in any case: so a jump
 * and sequential reading report the same, and produce the same packets. To enter a cell, the previous one is
 * decoded.
 */
#include "format/described/described.h"
#include "plan/search.h"

#define CELL_BYTES UINT64_C(32768)
/* Records before the region: each search for it decodes them. */
#define HEAD_RECORDS 4096

/* ---- looking for the region ---- */

/* The region is the last step of the file, and only the window or a count ends it. */
static bool is_region(const struct described *described, const struct kymo_plan_machine *machine,
                      const struct kymo_plan_frame *frame) {
  const struct kymo_plan_state *state = &machine->state;
  return state->depth == 2 && frame->kind == KYMO_FRAME_REGION && !frame->is_single &&
         frame->until == KYMO_PLAN_NONE && state->frames[0].step >= state->frames[0].stop &&
         kymo_plan_region_bytes(described->plan, frame->dispatch) > 0;
}

static void take_region(struct described_search *search, const struct described *described,
                        const struct kymo_plan_machine *machine, const struct kymo_plan_frame *frame) {
  uint64_t record = kymo_plan_region_bytes(described->plan, frame->dispatch);
  if (machine->note_count || !kymo_plan_snapshot_take(&search->start, machine))
    return;
  search->record = record;
  search->begin = frame->at;
  search->cell = record < CELL_BYTES ? CELL_BYTES / record * record : record;
}

/* A record before the region: its row must be earlier than a time to seek. */
static void take_head(struct described_search *search, const struct described *described,
                      const struct kymo_plan_machine *machine) {
  bool is_row = described->all_classes || described->plan->kinds[machine->kind].class_ == KYMO_CLASS_EVENT;
  int64_t time_ns = kymo_described_time(machine);
  if (!is_row || (search->has_head && time_ns <= search->head_ns))
    return;
  search->has_head = true;
  search->head_ns = time_ns;
}

void kymo_described_search_look(struct described_search *search, const struct described *described,
                                struct kymo_plan_machine *machine) {
  uint64_t decoded = 0; /* all that was decoded */
  search->is_looked = true;
  search->at = UINT64_MAX;
  for (uint32_t i = 0; described->may_search && i < HEAD_RECORDS; i++) {
    const struct kymo_plan_frame *frame = kymo_plan_machine_place(machine);
    if (frame && frame->at >= decoded && is_region(described, machine, frame)) {
      take_region(search, described, machine, frame);
      break;
    }
    if (!frame || kymo_plan_machine_next(machine) != KYMO_OK)
      break;
    take_head(search, described, machine);
    decoded = machine->start + machine->length > decoded ? machine->start + machine->length : decoded;
  }
  if (described->may_search)
    kymo_plan_machine_rewind(machine);
}

void kymo_described_search_free(struct described_search *search, const struct kymo_plan *plan) {
  if (search->record)
    kymo_plan_snapshot_free(&search->start, plan);
  search->record = 0;
}

/* ---- reading on ---- */

/* The region, if the machine is in it. */
static const struct kymo_plan_frame *region_of(const struct described_search *search,
                                               const struct kymo_plan_machine *machine) {
  const struct kymo_plan_frame *frame = &machine->state.frames[1];
  bool is_there = search->record && machine->state.depth == 2 && frame->kind == KYMO_FRAME_REGION &&
                  frame->begin == search->begin;
  return is_there && !machine->state.is_over ? frame : NULL;
}

bool kymo_described_search_is_boundary(const struct described_search *search,
                                       const struct kymo_plan_machine *machine) {
  const struct kymo_plan_frame *frame = region_of(search, machine);
  return frame && (frame->at - search->begin) / search->cell != search->at;
}

void kymo_described_search_pass(struct described_search *search, struct kymo_plan_machine *machine) {
  struct kymo_plan_state *state = &machine->state;
  if (search->at != UINT64_MAX) {
    state->has_latest = search->has_latest;
    state->latest_ns = search->latest_ns;
  }
  search->at = (state->frames[1].at - search->begin) / search->cell;
  search->has_latest = false;
}

void kymo_described_search_note(struct described_search *search, const struct kymo_plan_machine *machine) {
  if (!search->record || !machine->has_time || (search->has_latest && machine->time_ns <= search->latest_ns))
    return;
  search->has_latest = true;
  search->latest_ns = machine->time_ns;
}

/* ---- jumping ---- */

/* Moves the machine before the first record of a cell, as if there were none before it. False: there is no
 * whole record there. */
static bool go(const struct described_search *search, struct kymo_plan_machine *machine, uint64_t cell) {
  uint64_t distance = cell * search->cell;
  if (!kymo_plan_snapshot_restore(&search->start, machine))
    return false;
  struct kymo_plan_state *state = &machine->state;
  struct kymo_plan_frame *frame = &state->frames[1];
  if (frame->end < frame->at || frame->end - frame->at < distance ||
      frame->end - frame->at - distance < search->record ||
      (frame->has_times && frame->times <= distance / search->record))
    return false;
  frame->at += distance;
  frame->times -= frame->has_times ? distance / search->record : 0;
  frame->previous = search->record;
  state->has_latest = state->has_last_time = false;
  return true;
}

bool kymo_described_search_enter(struct described_search *search, struct kymo_plan_machine *machine,
                                 uint64_t offset) {
  uint64_t cell = search->record && offset > search->begin ? (offset - search->begin) / search->cell : 0;
  if (cell < 2 || !go(search, machine, cell) || !go(search, machine, cell - 1))
    return false;
  const struct kymo_plan_frame *frame;
  int status = KYMO_OK;
  while ((frame = region_of(search, machine)) != NULL && frame->at < search->begin + cell * search->cell &&
         status >= KYMO_OK && status != KYMO_END)
    status = kymo_plan_machine_next(machine);
  machine->note_count = 0; /* reported by the reader */
  search->at = cell;
  search->has_latest = false;
  return frame && frame->at == search->begin + cell * search->cell && machine->state.has_last_time;
}

/* Whether the first record of a cell, and so all before it, is earlier than a time: 1, 0; -1: unknown. */
static int is_early(const struct described_search *search, const struct described *described,
                    struct kymo_plan_machine *machine, struct kymo_ns *ns, int64_t time_ns, uint64_t cell) {
  int64_t bias_ns = described->classes.bias_ns;
  if (!go(search, machine, cell) || kymo_plan_machine_next(machine) != KYMO_OK || !machine->has_time ||
      machine->time_ns < -bias_ns)
    return -1;
  return kymo_ns_of(ns, (uint64_t)machine->time_ns + (uint64_t)bias_ns) < time_ns;
}

/* The number of cells that begin with a whole record. */
static uint64_t count_cells(const struct described_search *search, const struct kymo_plan_machine *machine) {
  const struct kymo_plan_frame *frame = &search->start.state.frames[1];
  uint64_t end = frame->end < machine->size ? frame->end : machine->size,
           per_cell = search->cell / search->record;
  uint64_t records = end > search->begin ? (end - search->begin) / search->record : 0;
  if (frame->has_times && frame->times < records)
    records = frame->times;
  return records / per_cell + (records % per_cell != 0);
}

bool kymo_described_search_time(struct described_search *search, const struct described *described,
                                struct kymo_plan_machine *machine, const struct kymo_ns *clock,
                                int64_t time_ns, uint64_t *offset) {
  uint64_t margin = kymo_plan_margin(described->plan), low = 0,
           high = search->record ? count_cells(search, machine) : 0;
  struct kymo_ns ns = *clock;
  int64_t bias_ns = described->classes.bias_ns;
  if (high == 0 || margin > INT64_MAX || (margin && ns.is_rounded) ||
      __builtin_sub_overflow(time_ns, (int64_t)margin, &time_ns))
    return false;
  uint64_t head =
      search->has_head && search->head_ns >= -bias_ns ? (uint64_t)search->head_ns + (uint64_t)bias_ns : 0;
  if ((search->has_head && kymo_ns_of(&ns, head) >= time_ns) ||
      is_early(search, described, machine, &ns, time_ns, 0) != 1)
    return false;
  while (high - low > 1) {
    uint64_t middle = low + (high - low) / 2;
    int early = is_early(search, described, machine, &ns, time_ns, middle);
    if (early < 0)
      return false;
    low = early ? middle : low;
    high = early ? high : middle;
  }
  *offset = search->begin + low * search->cell;
  return low > 1;
}
