/* SPDX-License-Identifier: MIT */
/* One record: which kind it is, its prefix, its body. */
#include "base/search.h"
#include "plan/machine.h"
#include <string.h>

/* ---- beginning ---- */

static void clear_slots(struct kymo_plan_machine *machine, uint32_t from, uint32_t to) {
  for (uint32_t i = from; i < to; i++)
    machine->slots[i].sort = KYMO_SORT_ABSENT;
}

/* Begins at the first byte of a record, or of a possible one. */
static void begin(struct kymo_plan_machine *machine, const struct kymo_plan_frame *frame, uint64_t start) {
  machine->windows[0] = (struct kymo_plan_window){
      .data = machine->bytes,
      .base = start,
      .end = frame->end,
      .is_file_end = frame->is_joined || (frame->box == 0 && frame->end == machine->size)};
  machine->window = machine->loop_count = machine->return_count = 0;
  machine->idle_turns = 0;
  machine->bit = start * 8;
  machine->start = start;
  machine->record_end = UINT64_MAX;
  machine->wanted_end = 0;
  machine->order = machine->state.order;
  machine->has_time = machine->time_is_acquisition = machine->field_is_record = false;
  machine->is_damaged = false;
  machine->record = NULL;
  machine->has_fields = false;
}

/* ---- dispatch ---- */

/* The last attempt at this place. */
struct trial {
  uint64_t start;
  uint32_t prefix;
  bool is_begun, is_good;
  uint32_t r;
  uint64_t r_offset;
  const struct kymo_plan_instruction *failed_at;
  char text[160];
};

/* A decode error of one of several kinds is reported if no kind fits. A record that is too short for one may
 * be long enough for another. */
static void remember(struct kymo_plan_machine *machine, struct trial *trial) {
  if (!trial->r || (trial->r == 3 && machine->r != 3)) {
    trial->r = machine->r;
    trial->r_offset = machine->r_offset;
    trial->failed_at = machine->failed_at;
    memcpy(trial->text, machine->r_text, sizeof trial->text);
  }
  machine->r = 0;
}

/* Where a record of this kind would begin; false if that is beyond the region. */
static bool align(struct kymo_plan_machine *machine, const struct kymo_plan_frame *frame,
                  const struct kymo_plan_kind *kind, uint64_t *start) {
  uint64_t to, rest;
  *start = frame->at;
  if (kind->align == KYMO_PLAN_NONE)
    return true;
  begin(machine, frame, frame->at);
  if (!kymo_plan_count_of(machine, kind->align, "the alignment of a record", &to))
    return false;
  rest = to ? (frame->at - frame->begin) % to : 0;
  if (rest && to - rest > frame->end - frame->at)
    return kymo_plan_raise(machine, 2, frame->at, "no place for a record aligned to %llu bytes",
                           (unsigned long long)to);
  *start += rest ? to - rest : 0;
  return true;
}

/* The prefix, unless it was decoded at this place already. */
static bool run_prefix(struct kymo_plan_machine *machine, const struct kymo_plan_frame *frame,
                       uint32_t prefix, uint64_t start, struct trial *trial) {
  if (trial->is_begun && trial->start == start && trial->prefix == prefix)
    return trial->is_good;
  begin(machine, frame, start);
  trial->is_begun = true;
  trial->start = start;
  trial->prefix = prefix;
  trial->is_good = true;
  if (prefix == KYMO_PLAN_NONE)
    return true;
  clear_slots(machine, 0, machine->prefix_slots[prefix]);
  trial->is_good = kymo_plan_run_part(machine, &machine->plan->prefixes[prefix].part);
  if (!trial->is_good) {
    kymo_plan_name_in_prefix(machine, prefix);
    remember(machine, trial);
  }
  return trial->is_good;
}

/* Whether the kind fits. *ok becomes false if that is unknown. */
static bool fits(struct kymo_plan_machine *machine, const struct kymo_plan_frame *frame,
                 const struct kymo_plan_kind *kind, struct trial *trial) {
  uint64_t start;
  struct kymo_expr_value value;
  if (!align(machine, frame, kind, &start)) {
    remember(machine, trial);
    trial->is_begun = false;
    return false;
  }
  if (kind->align != KYMO_PLAN_NONE) /* computing it has moved the machine back to the begin */
    trial->is_begun = false;
  if (!run_prefix(machine, frame, kind->prefix, start, trial))
    return false;
  if (kind->when == KYMO_PLAN_NONE)
    return true;
  if (!kymo_plan_evaluate(machine, kind->when, &value)) {
    remember(machine, trial);
    return false;
  }
  return kymo_value_is_true(&value);
}

static bool is_unfit(struct kymo_plan_machine *machine, const struct kymo_plan_frame *frame,
                     const struct trial *trial) {
  machine->failed_at = trial->r ? trial->failed_at : NULL;
  if (trial->r)
    return kymo_plan_raise(machine, trial->r, trial->r_offset, "%s", trial->text);
  return kymo_plan_raise(machine, 3, frame->at, "no kind of record fits");
}

/* The kind that the table has for the value of a slot. */
static bool choose(struct kymo_plan_machine *machine, const struct kymo_plan_frame *frame,
                   const struct kymo_plan_dispatch *dispatch) {
  const struct kymo_plan *plan = machine->plan;
  const struct kymo_plan_kind *first = &plan->kinds[plan->kind_refs[dispatch->first].kind];
  struct trial trial = {0};
  uint64_t start;
  if (!align(machine, frame, first, &start))
    return false;
  if (!run_prefix(machine, frame, first->prefix, start, &trial))
    return is_unfit(machine, frame, &trial);
  const struct kymo_expr_value *value = &machine->slots[dispatch->slot];
  bool is_number = value->sort == KYMO_SORT_NUMBER && value->n.high == 0;
  uint32_t count = is_number ? dispatch->case_count : 0;
  const struct kymo_plan_case *cases = plan->cases + dispatch->first_case;
  uint32_t at = KYMO_COUNT_BEFORE(count, i, kymo_plan_wide(cases[i].low, cases[i].high) < value->n.low);
  bool is_case = at < count && kymo_plan_wide(cases[at].low, cases[at].high) == value->n.low;
  machine->kind = is_case ? cases[at].kind : dispatch->otherwise;
  return machine->kind != KYMO_PLAN_NONE || is_unfit(machine, frame, &trial);
}

static bool find_kind(struct kymo_plan_machine *machine, const struct kymo_plan_frame *frame) {
  const struct kymo_plan *plan = machine->plan;
  const struct kymo_plan_dispatch *dispatch = &plan->dispatches[frame->dispatch];
  struct trial trial = {0};
  if (dispatch->slot != KYMO_PLAN_NONE)
    return choose(machine, frame, dispatch);
  for (uint32_t i = 0; i < dispatch->count; i++) {
    uint32_t kind = plan->kind_refs[dispatch->first + i].kind;
    if (fits(machine, frame, &plan->kinds[kind], &trial)) {
      machine->kind = kind;
      return true;
    }
  }
  return is_unfit(machine, frame, &trial);
}

/* ---- body ---- */

void *kymo_plan_work(struct kymo_plan_machine *machine, size_t size) {
  if (size > KYMO_PLAN_WORK_MAX - machine->work_bytes) {
    kymo_plan_raise(machine, 9, kymo_plan_offset(machine),
                    "a record with more than %zu MiB of unpacked bytes, joined keys and words",
                    KYMO_PLAN_WORK_MAX >> 20);
    return NULL;
  }
  void *memory = kymo_arena_alloc(&machine->work, size);
  machine->work_bytes += size;
  machine->failed |= !memory;
  if (!memory)
    kymo_plan_raise(machine, 9, kymo_plan_offset(machine), "out of memory");
  return memory;
}

bool kymo_plan_run_fields(struct kymo_plan_machine *machine) {
  const struct kymo_plan_kind *kind = &machine->plan->kinds[machine->kind];
  struct kymo_expr_value value;
  machine->has_fields = true;
  machine->failed_at = &machine->plan->code[machine->plan->blocks[kind->from_key].first];
  if (!kymo_plan_evaluate(machine, kind->from_key, &value))
    return false;
  const struct kymo_plan_version *version = kymo_plan_table_get(machine, kind->from_table, &value);
  if (!version || !version->record) {
    char found[KYMO_PLAN_DESCRIBED];
    kymo_plan_describe(&value, false, found, sizeof found);
    return kymo_plan_mark(machine, 7, "a record without a definition%s%s", *found ? ", found the key " : "",
                          found);
  }
  return kymo_plan_run_record(machine, version->record);
}

bool kymo_plan_decode(struct kymo_plan_machine *machine, const struct kymo_plan_frame *frame) {
  machine->kind = KYMO_PLAN_NONE;
  machine->is_damaged = false;
  machine->record_end = UINT64_MAX;
  machine->wanted_end = 0;
  machine->start = frame->at;
  kymo_plan_face(machine, frame);
  kymo_arena_free(&machine->work);
  machine->work_bytes = 0;
  if (!find_kind(machine, frame))
    return false;
  const struct kymo_plan_kind *kind = &machine->plan->kinds[machine->kind];
  clear_slots(machine, kind->prefix == KYMO_PLAN_NONE ? 0 : machine->prefix_slots[kind->prefix],
              kind->slot_count);
  for (uint32_t i = 0; i < kind->column_count; i++)
    machine->lists[kind->first_column + i].count = 0;
  machine->elements_bytes = 0;
  if (kind->class_ == KYMO_CLASS_SEGMENT)
    kymo_plan_tables_clear(machine, KYMO_PER_SEGMENT);
  if (!kymo_plan_run_part(machine, &kind->part) && !kymo_plan_name_in_kind(machine, kind))
    return false;
  return kind->from_table == KYMO_PLAN_NONE || machine->has_fields || kymo_plan_run_fields(machine);
}
