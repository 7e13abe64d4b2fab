/* SPDX-License-Identifier: MIT */
/*
 * Passes before reading: tables KNOWN ALWAYS are filled, one after the tables that their definitions read;
 * definitions KNOWN BY TIME take effect in time order; and all names of classes and interpretations are
 * collected.
 */
#include "base/fail.h"
#include "base/list.h"
#include "format/described/described.h"
#include <stdlib.h>

/* A record whose definitions take effect in the order of time. */
struct late {
  bool has_time;
  int64_t time_ns;
  struct kymo_plan_frame frame;
};
struct lates {
  struct late *list;
  size_t count, capacity;
  bool failed;
};

struct pass {
  struct described *described;
  struct described_file *file;
  struct kymo_trace *trace;
  struct kymo_map map;
  struct kymo_plan_machine *machine;
  bool *is_late; /* by kind: it defines something KNOWN BY TIME */
  struct lates lates;
  struct kymo_error *error;
};

/* ---- what is needed ---- */

static bool has_code(const struct kymo_plan *plan, uint32_t block, enum kymo_plan_code code,
                     enum kymo_plan_known known) {
  for (uint32_t i = 0; block != KYMO_PLAN_NONE && i < plan->blocks[block].count; i++) {
    const struct kymo_plan_instruction *what = &plan->code[plan->blocks[block].first + i];
    if (what->code == code && plan->tables[what->a].known == (uint32_t)known)
      return true;
  }
  return false;
}

static bool defines_late(const struct kymo_plan *plan, const struct kymo_plan_kind *kind) {
  return has_code(plan, kind->part.block, KYMO_DO_DEFINE, KYMO_KNOWN_BY_TIME) ||
         has_code(plan, kind->part.block, KYMO_DO_FORGET, KYMO_KNOWN_BY_TIME);
}

/* Passes for tables KNOWN ALWAYS; *names: one more for objects that are defined during reading, but named in
 * the schema. */
static uint32_t passes_of(const struct kymo_plan *plan, bool *names, bool *is_late) {
  uint32_t passes = 0;
  *names = *is_late = false;
  for (uint32_t i = 0; i < KYMO_PLAN_COUNT(plan, TABLE); i++) {
    const struct kymo_plan_table *table = &plan->tables[i];
    if (table->known == KYMO_KNOWN_ALWAYS && table->pass + 1 > passes)
      passes = table->pass + 1;
    *is_late |= table->known == KYMO_KNOWN_BY_TIME;
    *names |= table->holds == KYMO_HOLDS_RECORDS && table->known != KYMO_KNOWN_ALWAYS;
  }
  for (uint32_t i = 0; i < KYMO_PLAN_COUNT(plan, VIEW); i++)
    *names |= plan->views[i].names != KYMO_PLAN_NONE &&
              plan->tables[plan->views[i].names].known == KYMO_KNOWN_EARLIER;
  return passes;
}

/* ---- one pass ---- */

static bool remember(struct pass *pass, const struct kymo_plan_frame *frame) {
  struct lates *lates = &pass->lates;
  if (frame->box) /* no compiler makes such a plan */
    return true;
  if (!KYMO_LIST_ROOM(lates->list, lates->capacity, lates->count))
    return false;
  struct kymo_plan_machine *machine = pass->machine;
  lates->list[lates->count] =
      (struct late){machine->has_time, machine->has_time ? machine->time_ns : INT64_MIN, *frame};
  lates->list[lates->count++].frame.at = machine->start;
  return true;
}

/* The frame of the current record: the frame of a holder's region is above it. */
static const struct kymo_plan_frame *frame_of(const struct kymo_plan_machine *machine) {
  const struct kymo_plan_state *state = &machine->state;
  bool is_holder = machine->plan->kinds[machine->kind].holds != KYMO_PLAN_NONE;
  return &state->frames[state->depth - 1 - is_holder];
}

/* Contradictions between definitions that take effect before reading are only found here. */
static void report(struct pass *pass) {
  for (uint32_t i = 0; i < pass->machine->note_count; i++) {
    const struct kymo_plan_note *note = &pass->machine->notes[i];
    char text[KYMO_PLAN_NOTE_BYTES];
    kymo_plan_note_text(note, text);
    struct kymo_damage damage = {.path = pass->file->path,
                                 .offset = note->offset,
                                 .bytes_lost = 0,
                                 .code = KYMO_E_FORMAT,
                                 .message = text};
    if (note->kind == KYMO_NOTE_DAMAGE && note->r == 7)
      kymo_trace_add_damage(pass->trace, &damage);
  }
}

static int show(struct pass *pass) {
  const uint8_t *data;
  uint64_t size;
  int status = kymo_map_get(&pass->map, 0, UINT64_MAX, &data, &size, pass->error);
  if (status == KYMO_OK)
    kymo_plan_machine_bytes(pass->machine, data, size);
  return status;
}

static int run(struct pass *pass, uint32_t number, bool looks_for_late) {
  struct kymo_plan_machine *machine = pass->machine;
  machine->pass = number;
  kymo_plan_machine_rewind(machine);
  for (;;) {
    int status = show(pass);
    status = status == KYMO_OK ? kymo_plan_machine_next(machine) : status;
    if (number)
      report(pass);
    if (status == KYMO_END || status < 0)
      return status < 0 ? status : KYMO_OK;
    if (status == KYMO_OK && looks_for_late && pass->is_late[machine->kind] &&
        !remember(pass, frame_of(machine)))
      return KYMO_E_MEMORY;
  }
}

static int by_time(const void *a, const void *b) {
  const struct late *one = a, *other = b;
  if (one->time_ns != other->time_ns)
    return one->time_ns < other->time_ns ? -1 : 1;
  return one->frame.at < other->frame.at ? -1 : one->frame.at > other->frame.at;
}

/* Applies definitions again, in time order. */
static int order(struct pass *pass) {
  struct kymo_plan_machine *machine = pass->machine;
  if (pass->lates.count)
    qsort(pass->lates.list, pass->lates.count, sizeof *pass->lates.list, by_time);
  machine->is_ordering = true;
  for (size_t i = 0; i < pass->lates.count && !machine->failed; i++) {
    machine->r = machine->note_count = 0;
    kymo_plan_decode(machine, &pass->lates.list[i].frame);
    report(pass);
  }
  machine->is_ordering = false;
  return machine->failed ? KYMO_E_MEMORY : KYMO_OK;
}

static int run_all(struct pass *pass, uint32_t passes, bool names, bool is_late) {
  const struct kymo_plan *plan = pass->described->plan;
  int status = kymo_map_open(&pass->map, pass->file->path, pass->error);
  for (uint32_t i = 0; i < KYMO_PLAN_COUNT(plan, KIND); i++)
    pass->is_late[i] = defines_late(plan, &plan->kinds[i]);
  status = status == KYMO_OK ? show(pass) : status;
  for (uint32_t i = 1; i <= passes && status == KYMO_OK; i++)
    status = run(pass, i, false);
  if (status == KYMO_OK && (names || is_late))
    status = run(pass, 0, is_late);
  if (status == KYMO_OK && is_late)
    status = order(pass);
  kymo_plan_machine_rewind(pass->machine);
  return status;
}

static int pass_file(struct pass *pass, uint32_t passes, bool names, bool is_late) {
  pass->machine = pass->file->filled =
      kymo_plan_machine_new(pass->described->plan, pass->described->found, pass->file->number);
  if (!pass->machine)
    return KYMO_E_MEMORY;
  pass->machine->may_find = true;
  pass->machine->holes = (struct kymo_holes){.bytes_at = kymo_map_bytes, .user = &pass->map};
  int status = run_all(pass, passes, names, is_late);
  pass->machine->holes = (struct kymo_holes){0};
  pass->machine->may_find = false;
  kymo_map_close(&pass->map);
  free(pass->lates.list);
  pass->lates = (struct lates){0};
  return status;
}

int kymo_described_pass(struct described *described, struct kymo_trace *trace, struct kymo_error *error) {
  const struct kymo_plan *plan = described->plan;
  struct pass pass = {.described = described, .trace = trace, .error = error};
  bool names, is_late;
  uint32_t passes = passes_of(plan, &names, &is_late);
  if (!passes && !names && !is_late)
    return KYMO_OK;
  described->found = kymo_plan_found_new(plan);
  pass.is_late = calloc((size_t)KYMO_PLAN_COUNT(plan, KIND) + 1, sizeof *pass.is_late);
  int status = described->found && pass.is_late ? KYMO_OK : KYMO_E_MEMORY;
  for (uint32_t i = 0; i < described->file_count && status == KYMO_OK; i++) {
    pass.file = &described->files[i];
    status = pass_file(&pass, passes, names, is_late);
  }
  free(pass.is_late);
  if (status == KYMO_OK && described->found->failed)
    status = KYMO_E_MEMORY;
  return status == KYMO_E_MEMORY ? kymo_fail(error, KYMO_E_MEMORY, "out of memory") : status;
}
