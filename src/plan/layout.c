/* SPDX-License-Identifier: MIT */
/*
 * Where records are: steps of the LAYOUT, blocks, and regions that records hold, as a stack of frames.
 *
 *   STEPS ─► REGION of a step ─► REGION that a record holds ─► …
 *     └────► BLOCKS ─► STEPS of one block ─► …
 */
#include "plan/machine.h"
#include "base/list.h"
#include <stdlib.h>
#include <string.h>

static struct kymo_plan_frame *push(struct kymo_plan_machine *machine, const struct kymo_plan_frame *frame) {
  struct kymo_plan_state *state = &machine->state;
  if (state->depth > KYMO_PLAN_DEPTH) {
    kymo_plan_raise(machine, 9, frame->begin, "regions nested deeper than %d", KYMO_PLAN_DEPTH);
    return NULL;
  }
  state->frames[state->depth] = *frame;
  return &state->frames[state->depth++];
}

/* Restores a holder's kept values to those from outside. */
static void restore_kept(struct kymo_plan_machine *machine, const struct kymo_plan_kind *kind) {
  struct kymo_plan_state *state = &machine->state;
  for (uint32_t i = kind->keep_count; i-- > 0;) {
    struct kymo_expr_value *kept = &state->kept[machine->plan->keeps[kind->first_keep + i].index];
    if (kept->sort == KYMO_SORT_BYTES)
      free((void *)(uintptr_t)kept->p);
    *kept = state->saved[--state->saved_count];
  }
}

/* Ends the region or list of steps; the enclosing frame continues after it. */
static void pop(struct kymo_plan_machine *machine) {
  struct kymo_plan_state *state = &machine->state;
  const struct kymo_plan_frame *over = &state->frames[--state->depth];
  struct kymo_plan_frame *around = state->depth ? &state->frames[state->depth - 1] : NULL;
  kymo_plan_box_close(machine, state->depth);
  if (over->holder != KYMO_PLAN_NONE)
    restore_kept(machine, &machine->plan->kinds[over->holder]);
  else if (around && around->kind == KYMO_FRAME_STEPS)
    around->at = over->at;
}

/* ---- steps ---- */

/* Evaluates a number of a step outside of any record. */
static bool number_of(struct kymo_plan_machine *machine, const struct kymo_plan_frame *frame, uint32_t block,
                      const char *what, uint64_t *number) {
  machine->window = 0;
  machine->windows[0] = (struct kymo_plan_window){.data = machine->bytes,
                                                  .base = frame->begin,
                                                  .end = frame->end,
                                                  .is_file_end = frame->end == machine->size};
  machine->bit = frame->at * 8;
  machine->start = frame->at;
  machine->record_end = UINT64_MAX;
  machine->has_time = false;
  machine->failed_at = &machine->plan->code[machine->plan->blocks[block].first];
  return kymo_plan_count_of(machine, block, what, number);
}

/* The window of a step: from the end of the previous one, or AT … SIZE. */
static bool place(struct kymo_plan_machine *machine, const struct kymo_plan_frame *frame,
                  const struct kymo_plan_step *step, struct kymo_plan_frame *out) {
  uint64_t size;
  out->begin = frame->at;
  out->end = frame->end;
  if (step->at != KYMO_PLAN_NONE) {
    if (!number_of(machine, frame, step->at, "the place of a step", &out->begin))
      return false;
    out->end = machine->size;
    if (out->begin > machine->size)
      return kymo_plan_raise(machine, 1, machine->size, "a step at byte %llu of a file of %llu",
                             (unsigned long long)out->begin, (unsigned long long)machine->size);
  }
  out->at = out->begin;
  if (step->size == KYMO_PLAN_NONE)
    return true;
  if (!number_of(machine, frame, step->size, "the size of a step", &size))
    return false;
  if (step->dispatch == KYMO_PLAN_NONE) {
    out->block = size;
    return size > 0 || kymo_plan_raise(machine, 2, out->at, "BLOCKS of 0 bytes");
  }
  if (size > out->end - out->begin) {
    if (out->end != machine->size)
      return kymo_plan_raise(machine, 2, out->at, "a step of %llu bytes in a window with %llu left",
                             (unsigned long long)size, (unsigned long long)(out->end - out->begin));
    kymo_plan_note_damage(machine, 1, out->end, 0, "the file ends inside of a step");
    return true;
  }
  out->end = out->begin + size;
  return true;
}

static void start_step(struct kymo_plan_machine *machine, struct kymo_plan_frame *frame) {
  const struct kymo_plan_step *step = &machine->plan->steps[frame->step];
  struct kymo_plan_frame inner = {.kind = KYMO_FRAME_REGION,
                                  .dispatch = step->dispatch,
                                  .until = step->until,
                                  .previous = UINT64_MAX,
                                  .holder = KYMO_PLAN_NONE};
  uint32_t own = frame->step;
  frame->step += 1 + step->inner_count;
  kymo_plan_face(machine, frame);
  if (!place(machine, frame, step, &inner))
    return;
  if (step->times != KYMO_PLAN_NONE) {
    inner.has_times = true;
    if (!number_of(machine, frame, step->times, "the number of records", &inner.times))
      return;
  } else {
    inner.is_single = !step->is_repeat;
  }
  if (step->dispatch == KYMO_PLAN_NONE) {
    inner.kind = KYMO_FRAME_BLOCKS;
    inner.step = own + 1;
    inner.stop = frame->step;
  }
  push(machine, &inner);
}

static void start_block(struct kymo_plan_machine *machine, struct kymo_plan_frame *blocks) {
  uint64_t rest = blocks->end - blocks->at, size = blocks->block < rest ? blocks->block : rest;
  struct kymo_plan_frame inner = {.kind = KYMO_FRAME_STEPS,
                                  .step = blocks->step,
                                  .stop = blocks->stop,
                                  .begin = blocks->at,
                                  .at = blocks->at,
                                  .end = blocks->at + size,
                                  .holder = KYMO_PLAN_NONE};
  blocks->at += size;
  push(machine, &inner);
}

/* ---- places ---- */

/* Whether there is another record in a region. */
static bool has_more(struct kymo_plan_machine *machine, const struct kymo_plan_frame *frame) {
  if (frame->has_times && frame->times == 0)
    return false;
  if (frame->at < frame->end)
    return true;
  kymo_plan_face(machine, frame);
  if (frame->is_single)
    kymo_plan_raise(machine, frame->end == machine->size ? 1 : 2, frame->at,
                    "expected a record, found the end of the %s",
                    frame->end == machine->size ? "file" : "window");
  return false;
}

struct kymo_plan_frame *kymo_plan_next_place(struct kymo_plan_machine *machine) {
  struct kymo_plan_state *state = &machine->state;
  machine->failed_at = NULL;
  while (state->depth > 0 && !machine->r) {
    struct kymo_plan_frame *frame = &state->frames[state->depth - 1];
    switch (frame->kind) {
    case KYMO_FRAME_STEPS:
      if (frame->step >= frame->stop)
        pop(machine);
      else
        start_step(machine, frame);
      break;
    case KYMO_FRAME_BLOCKS:
      if (frame->at >= frame->end)
        pop(machine);
      else
        start_block(machine, frame);
      break;
    case KYMO_FRAME_REGION:
      if (has_more(machine, frame) && kymo_plan_box_ready(machine, frame))
        return frame;
      if (!machine->r)
        pop(machine);
    }
  }
  return NULL;
}

/* ---- after a record ---- */

/* Keeps the values that other records name; the previous values of a holder are saved until its region
 * ends. */
static bool keep(struct kymo_plan_machine *machine, const struct kymo_plan_kind *kind, bool is_holder) {
  struct kymo_plan_state *state = &machine->state;
  size_t saved = (size_t)state->saved_count + (is_holder ? kind->keep_count : 0);
  if (!KYMO_LIST_RESERVE(state->saved, state->saved_capacity, saved)) {
    machine->failed = true;
    return false;
  }
  for (uint32_t i = 0; i < kind->keep_count; i++) {
    const struct kymo_plan_keep *what = &machine->plan->keeps[kind->first_keep + i];
    struct kymo_expr_value *kept = &state->kept[what->index];
    if (is_holder) {
      state->saved[state->saved_count++] = *kept;
      kept->sort = KYMO_SORT_ABSENT;
    }
    if (!kymo_plan_own(kept, &machine->slots[what->slot])) {
      machine->failed = true;
      return false;
    }
  }
  return true;
}

bool kymo_plan_pass_record(struct kymo_plan_machine *machine, struct kymo_plan_frame *frame, uint64_t from) {
  const struct kymo_plan_kind *kind = &machine->plan->kinds[machine->kind];
  bool is_holder = kind->holds != KYMO_PLAN_NONE;
  uint64_t end = machine->record_end != UINT64_MAX ? machine->record_end : is_holder ? frame->end : from;
  if (end <= machine->start)
    return kymo_plan_raise(machine, 2, machine->start, "a record of no bytes");
  machine->length = end - machine->start;
  machine->own_length = is_holder && from > machine->start ? from - machine->start : machine->length;
  frame->at = end;
  frame->previous = machine->length;
  frame->times -= frame->has_times;
  if (frame->is_single || frame->until == machine->kind) {
    frame->has_times = true;
    frame->is_single = false;
    frame->times = 0;
  }
  if (is_holder && machine->state.depth > KYMO_PLAN_DEPTH)
    return kymo_plan_raise(machine, 9, from, "records nested deeper than %d", KYMO_PLAN_DEPTH);
  if (!keep(machine, kind, is_holder))
    return false;
  struct kymo_plan_frame inner = {.kind = KYMO_FRAME_REGION,
                                  .dispatch = kind->holds,
                                  .until = KYMO_PLAN_NONE,
                                  .begin = from,
                                  .at = from,
                                  .end = end,
                                  .previous = UINT64_MAX,
                                  .holder = machine->kind,
                                  .box = frame->box};
  frame->is_after_loss = false;
  return !is_holder || (kymo_plan_box_open(machine, &inner) && push(machine, &inner));
}

void kymo_plan_leave_box(struct kymo_plan_machine *machine) {
  struct kymo_plan_state *state = &machine->state;
  uint32_t region = state->frames[state->depth - 1].box;
  while (state->depth > region)
    pop(machine);
  struct kymo_plan_frame *frame = &state->frames[region - 1];
  state->frames[region - 2].is_lost |= frame->is_joined;
  frame->at = frame->end;
}
