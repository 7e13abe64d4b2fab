/* SPDX-License-Identifier: MIT */
/* The machine as a whole: creation, decode errors and policies, and the steps from record to record. */
#include "plan/classes.h"
#include "base/list.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOTES_MAX 256 /* of one record */

/* ---- decode errors ---- */

uint64_t kymo_plan_offset(const struct kymo_plan_machine *machine) {
  uint32_t w = machine->window;
  uint64_t at = machine->bit / 8;
  for (; w > 0 && machine->windows[w].data != machine->bytes; w--)
    at = machine->windows[w].at; /* inside of unpacked bytes: where the packed ones end */
  return at;
}

enum kymo_plan_policy kymo_plan_policy_of(const struct kymo_plan *plan, uint32_t r) {
  static const enum kymo_plan_policy usual[11] = {
      [1] = KYMO_PLAN_POLICY_MARK, [2] = KYMO_PLAN_POLICY_STOP, [3] = KYMO_PLAN_POLICY_STOP,
      [4] = KYMO_PLAN_POLICY_MARK, [5] = KYMO_PLAN_POLICY_MARK, [6] = KYMO_PLAN_POLICY_MARK,
      [7] = KYMO_PLAN_POLICY_MARK, [8] = KYMO_PLAN_POLICY_STOP, [9] = KYMO_PLAN_POLICY_STOP,
      [10] = KYMO_PLAN_POLICY_MARK};
  enum kymo_plan_policy given = (enum kymo_plan_policy)plan->root->policies[r];
  if (given != KYMO_PLAN_POLICY_DEFAULT)
    return given;
  return (r == 2 || r == 3) && plan->root->resync != KYMO_PLAN_NONE ? KYMO_PLAN_POLICY_RESYNC : usual[r];
}

bool kymo_plan_raise(struct kymo_plan_machine *machine, uint32_t r, uint64_t offset, const char *format,
                     ...) {
  va_list args;
  if (machine->r)
    return false;
  machine->r = r;
  machine->r_offset = offset;
  va_start(args, format);
  vsnprintf(machine->r_text, sizeof machine->r_text, format, args);
  va_end(args);
  return false;
}

static struct kymo_plan_note *add_note(struct kymo_plan_machine *machine) {
  if (machine->is_dry || machine->note_count == NOTES_MAX)
    return NULL;
  if (!KYMO_LIST_ROOM(machine->notes, machine->note_capacity, machine->note_count)) {
    machine->failed = true;
    return NULL;
  }
  return &machine->notes[machine->note_count++];
}

void kymo_plan_note_damage(struct kymo_plan_machine *machine, uint32_t r, uint64_t begin, uint64_t end,
                           const char *text) {
  struct kymo_plan_place place = kymo_plan_place_at(&machine->state, machine->box, begin);
  uint32_t count = machine->note_count;
  kymo_plan_note_damage_at(machine, r, &place, end > begin ? end - begin : 0, text);
  if (machine->note_count > count) {
    machine->notes[count].at = begin;
    machine->notes[count].fault = machine->r ? machine->r_offset : begin;
  }
}

void kymo_plan_note_damage_at(struct kymo_plan_machine *machine, uint32_t r,
                              const struct kymo_plan_place *place, uint64_t bytes_lost, const char *text) {
  struct kymo_plan_note *note = add_note(machine);
  if (!note)
    return;
  const struct kymo_plan_state *state = &machine->state;
  *note = (struct kymo_plan_note){
      .kind = KYMO_NOTE_DAMAGE,
      .r = r,
      .offset = place->offset,
      .place = *place,
      .bytes_lost = bytes_lost,
      .start = machine->box ? place->offset : machine->start,
      .fault = machine->r_offset,
      .code = machine->failed_at,
      .dispatch = state->depth ? state->frames[state->depth - 1].dispatch : KYMO_PLAN_NONE,
  };
  if (r)
    snprintf(note->text, sizeof note->text, "R%u: %s", r, text);
  else
    snprintf(note->text, sizeof note->text, "%s", text);
}

void kymo_plan_note_loss(struct kymo_plan_machine *machine, uint64_t count) {
  struct kymo_plan_note *note = add_note(machine);
  if (note)
    *note = (struct kymo_plan_note){
        .kind = KYMO_NOTE_LOSS, .offset = kymo_plan_record_place(machine).offset, .count = count};
}

static bool mark(struct kymo_plan_machine *machine, uint32_t r, uint64_t bits, const char *format,
                 va_list args) {
  bool is_unpacked = machine->windows[machine->window].data != machine->bytes;
  uint64_t offset =
      is_unpacked || bits > machine->bit ? kymo_plan_offset(machine) : (machine->bit - bits) / 8;
  char text[160];
  if (machine->is_dry)
    return true;
  vsnprintf(text, sizeof text, format, args);
  if (kymo_plan_policy_of(machine->plan, r) != KYMO_PLAN_POLICY_MARK)
    return kymo_plan_raise(machine, r, offset, "%s", text);
  machine->is_damaged = true;
  kymo_plan_note_damage(machine, r, offset, 0, text);
  return true;
}

bool kymo_plan_mark(struct kymo_plan_machine *machine, uint32_t r, const char *format, ...) {
  va_list args;
  va_start(args, format);
  bool goes_on = mark(machine, r, 0, format, args);
  va_end(args);
  return goes_on;
}

bool kymo_plan_mark_field(struct kymo_plan_machine *machine, uint32_t r, uint64_t bits, const char *format,
                          ...) {
  va_list args;
  va_start(args, format);
  bool goes_on = mark(machine, r, bits, format, args);
  va_end(args);
  return goes_on;
}

uint64_t kymo_plan_bits_since(const struct kymo_plan_machine *machine, const struct kymo_expr_value *bytes) {
  const uint8_t *data = machine->windows[machine->window].data;
  bool is_here = bytes->sort == KYMO_SORT_BYTES && bytes->p >= data && bytes->p <= data + machine->bit / 8;
  return is_here ? machine->bit - (uint64_t)(bytes->p - data) * 8 : 0;
}

/* Marks without a field have the current position: after the record's last byte another record begins, which
 * has no fault. */
static void keep_in_record(struct kymo_plan_machine *machine, uint64_t end) {
  for (uint32_t i = 0; i < machine->note_count; i++) {
    struct kymo_plan_note *note = &machine->notes[i];
    bool is_of_record = note->kind == KYMO_NOTE_DAMAGE && note->at >= end && note->bytes_lost == 0;
    if (!is_of_record || !machine->is_damaged || end <= machine->start)
      continue;
    note->at = note->fault = machine->start;
    note->place = kymo_plan_record_place(machine);
    note->offset = note->place.offset;
  }
}

/* ---- creation ---- */

/* The slots that a prefix sets: those up to the highest. */
static uint32_t slots_of_prefix(const struct kymo_plan *plan, const struct kymo_plan_part *part) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < part->load_count; i++)
    if (plan->loads[part->first_load + i].slot >= count)
      count = plan->loads[part->first_load + i].slot + 1;
  if (part->block == KYMO_PLAN_NONE)
    return count;
  const struct kymo_plan_block *block = &plan->blocks[part->block];
  for (uint32_t i = 0; i < block->count; i++) {
    const struct kymo_plan_instruction *what = &plan->code[block->first + i];
    if (what->code == KYMO_DO_SET && what->a >= count)
      count = what->a + 1;
  }
  return count;
}

/* What the direct members of each list of structs take, with the numbers before them. */
static void measure_elements(const struct kymo_plan *plan, uint32_t *bytes) {
  for (uint32_t i = 0; i < KYMO_PLAN_COUNT(plan, COLUMN); i++) {
    const struct kymo_plan_column *column = &plan->columns[i];
    uint32_t size = 8;
    for (uint32_t k = 0; k < column->option_count && column->parent && !column->is_list; k++) {
      const struct kymo_plan_option *option = &plan->options[column->first_option + k];
      uint32_t own = kymo_plan_form(plan, option->shape, option->bits, option->view).bytes;
      size = own > size ? own : size;
    }
    if (column->parent)
      bytes[column->parent - 1] += size + 8;
  }
}

static bool make_arrays(struct kymo_plan_machine *machine) {
  const struct kymo_plan *plan = machine->plan;
  uint32_t slots = 0, clocks = KYMO_PLAN_COUNT(plan, CLOCK), prefixes = KYMO_PLAN_COUNT(plan, PREFIX);
  for (uint32_t i = 0; i < KYMO_PLAN_COUNT(plan, KIND); i++)
    if (plan->kinds[i].slot_count > slots)
      slots = plan->kinds[i].slot_count;
  machine->slots = calloc(slots + 1, sizeof *machine->slots);
  machine->lists = calloc(KYMO_PLAN_COUNT(plan, COLUMN) + 1, sizeof *machine->lists);
  machine->element_bytes = calloc(KYMO_PLAN_COUNT(plan, COLUMN) + 1, sizeof *machine->element_bytes);
  machine->tables = calloc(KYMO_PLAN_COUNT(plan, TABLE) + 1, sizeof *machine->tables);
  machine->ticks = calloc(clocks + 1, sizeof *machine->ticks);
  machine->prefix_slots = calloc(prefixes + 1, sizeof *machine->prefix_slots);
  machine->state.clocks = calloc(clocks + 1, sizeof *machine->state.clocks);
  machine->state.syncs = calloc(clocks + 1, sizeof *machine->state.syncs);
  machine->state.counters = calloc(plan->root->sequence_count + 1, sizeof *machine->state.counters);
  machine->state.kept = calloc(plan->root->kept_count + 1, sizeof *machine->state.kept);
  for (uint32_t i = 0; machine->prefix_slots && i < prefixes; i++)
    machine->prefix_slots[i] = slots_of_prefix(plan, &plan->prefixes[i].part);
  if (machine->element_bytes)
    measure_elements(plan, machine->element_bytes);
  return machine->slots && machine->lists && machine->element_bytes && machine->tables && machine->ticks &&
         machine->prefix_slots && machine->state.clocks && machine->state.syncs && machine->state.counters &&
         machine->state.kept && kymo_plan_boxes_make(machine) && kymo_plan_globs_make(machine);
}

struct kymo_plan_machine *kymo_plan_machine_new(const struct kymo_plan *plan, struct kymo_plan_found *found,
                                                uint64_t file_number) {
  struct kymo_plan_machine *machine = calloc(1, sizeof *machine);
  if (!machine)
    return NULL;
  machine->plan = plan;
  machine->found = found;
  machine->file_number = file_number;
  machine->first = machine;
  if (make_arrays(machine)) {
    kymo_plan_machine_rewind(machine);
    return machine;
  }
  kymo_plan_machine_free(machine);
  return NULL;
}

static void free_values(struct kymo_expr_value *values, uint32_t count) {
  for (uint32_t i = 0; values && i < count; i++)
    if (values[i].sort == KYMO_SORT_BYTES)
      free((void *)(uintptr_t)values[i].p);
}

void kymo_plan_state_free(const struct kymo_plan *plan, struct kymo_plan_state *state) {
  free_values(state->kept, plan->root->kept_count);
  free_values(state->saved, state->saved_count);
  free(state->clocks);
  free(state->syncs);
  free(state->counters);
  free(state->per);
  kymo_hash_table_free(&state->per_table);
  free(state->kept);
  free(state->saved);
  kymo_plan_boxes_free(state);
}

void kymo_plan_machine_free(struct kymo_plan_machine *machine) {
  if (!machine)
    return;
  for (uint32_t i = 0; machine->tables && i < KYMO_PLAN_COUNT(machine->plan, TABLE); i++) {
    struct kymo_plan_map *map = &machine->tables[i];
    for (uint32_t k = 0; k < map->count; k++)
      free(map->entries[k].history);
    free(map->entries);
    kymo_hash_table_free(&map->large);
    free(map->small);
  }
  for (uint32_t i = 0; machine->lists && i < KYMO_PLAN_COUNT(machine->plan, COLUMN); i++)
    free(machine->lists[i].items);
  kymo_plan_state_free(machine->plan, &machine->state);
  free(machine->slots);
  free(machine->lists);
  free(machine->element_bytes);
  free(machine->tables);
  free(machine->ticks);
  free(machine->prefix_slots);
  free((void *)(uintptr_t)machine->box_of);
  free(machine->changes);
  free(machine->fields.items);
  free(machine->resolutions);
  kymo_plan_globs_free(machine);
  free(machine->notes);
  kymo_arena_free(&machine->texts);
  kymo_arena_free(&machine->work);
  free(machine);
}

void kymo_plan_machine_bytes(struct kymo_plan_machine *machine, const uint8_t *data, uint64_t size) {
  if (machine->data != data || machine->size != size)
    kymo_holes_forget(&machine->holes);
  machine->data = data;
  machine->size = size;
  if (machine->box == 0) {
    machine->bytes = data;
    machine->bytes_size = size;
  }
  for (uint32_t i = 0; i < machine->state.depth; i++)
    if (machine->state.frames[i].end > size && machine->state.frames[i].box == 0)
      machine->state.frames[i].end = size;
  if (machine->state.depth == 1 && machine->state.frames[0].kind == KYMO_FRAME_STEPS &&
      machine->state.frames[0].at == 0)
    machine->state.frames[0].end = size;
}

bool kymo_plan_own(struct kymo_expr_value *own, const struct kymo_expr_value *value) {
  struct kymo_expr_value copy = *value;
  if (copy.sort == KYMO_SORT_BYTES) {
    uint8_t *bytes = malloc(copy.size + 1);
    if (!bytes)
      return false;
    if (copy.size)
      memcpy(bytes, copy.p, copy.size);
    copy.p = bytes;
  }
  if (own->sort == KYMO_SORT_BYTES)
    free((void *)(uintptr_t)own->p);
  *own = copy;
  return true;
}

/* ---- from state to state ---- */

void kymo_plan_machine_rewind(struct kymo_plan_machine *machine) {
  const struct kymo_plan *plan = machine->plan;
  struct kymo_plan_state *state = &machine->state;
  uint32_t clocks = KYMO_PLAN_COUNT(plan, CLOCK);
  kymo_plan_tables_reset(machine);
  machine->resolved_fields = 0;
  free_values(state->kept, plan->root->kept_count);
  free_values(state->saved, state->saved_count);
  memset(state->kept, 0, plan->root->kept_count * sizeof *state->kept);
  memset(state->clocks, 0, clocks * sizeof *state->clocks);
  memset(state->syncs, 0, clocks * sizeof *state->syncs);
  memset(state->counters, 0, plan->root->sequence_count * sizeof *state->counters);
  kymo_hash_table_clear(&state->per_table);
  state->per_count = state->saved_count = 0;
  kymo_plan_boxes_clear(state);
  state->has_last_time = state->has_latest = state->is_over = false;
  state->order = (enum kymo_plan_order)plan->root->order;
  state->depth = 1;
  state->frames[0] = (struct kymo_plan_frame){.kind = KYMO_FRAME_STEPS,
                                              .stop = KYMO_PLAN_COUNT(plan, STEP),
                                              .end = machine->size,
                                              .holder = KYMO_PLAN_NONE};
  kymo_plan_face(machine, &state->frames[0]);
  machine->note_count = machine->r = 0;
  machine->is_placed = false;
}

/* ---- from record to record ---- */

/* Whether a record is at `at` and fits; the attempt leaves no state. */
static bool is_record(struct kymo_plan_machine *machine, const struct kymo_plan_frame *frame, uint64_t at) {
  struct kymo_plan_frame trial = *frame;
  trial.at = at;
  machine->is_dry = true;
  bool fits = kymo_plan_decode(machine, &trial);
  machine->is_dry = false;
  machine->r = 0;
  return fits;
}

static bool is_zero(const uint8_t *bytes, uint32_t size) {
  while (size > 0 && bytes[size - 1] == 0)
    size--;
  return size == 0;
}

/* The next place of a pattern of `size` bytes from `at` on, or NULL. One that is not all zeros has no place
 * in a hole of the file. */
static const uint8_t *find_pattern(struct kymo_plan_machine *machine, uint64_t at, uint64_t end,
                                   const uint8_t *pattern, uint32_t size) {
  struct kymo_holes *holes = &machine->holes;
  if (machine->box || !holes->bytes_at || is_zero(pattern, size))
    return memmem(machine->bytes + at, (size_t)(end - at), pattern, size);
  for (uint64_t overlap = size - 1; at<end; at = holes->bytes_to> at ? holes->bytes_to : end) {
    uint64_t first = kymo_holes_pass(holes, at, end), from = first > at + overlap ? first - overlap : at;
    uint64_t to = holes->bytes_to < end && end - holes->bytes_to > overlap ? holes->bytes_to + overlap : end;
    const uint8_t *place =
        from < to ? memmem(machine->data + from, (size_t)(to - from), pattern, size) : NULL;
    if (place)
      return place;
  }
  return NULL;
}

/* Where the begin of the pattern is the end of a box whose last record may continue, or `end`. */
static uint64_t find_begin(const struct kymo_plan_machine *machine, const struct kymo_plan_frame *frame,
                           uint64_t at, const uint8_t *pattern, uint32_t size) {
  uint64_t end = frame->end, begin = end - at < size ? at : end - size + 1;
  while (frame->is_joined && begin < end &&
         memcmp(machine->bytes + begin, pattern, (size_t)(end - begin)) != 0)
    begin++;
  return frame->is_joined ? begin : end;
}

/* Whether a record is there, or its begin, at the end of a box whose last record may continue. */
static bool is_begin(struct kymo_plan_machine *machine, const struct kymo_plan_frame *frame, uint64_t at) {
  struct kymo_plan_frame trial = *frame;
  const struct kymo_plan_watch *watch = machine->watch;
  trial.at = at;
  machine->is_dry = true;
  machine->watch = NULL; /* these are not the fields of the record that is given up */
  bool fits = kymo_plan_decode(machine, &trial) || (frame->is_joined && machine->r == 1);
  machine->is_dry = false;
  machine->watch = watch;
  machine->r = 0;
  return fits;
}

/* Moves from the second byte to the pattern's next place where a record fits, else to the end of the region
 * or of WITHIN. What a lost container has left of a record was reported with it. */
static void resync(struct kymo_plan_machine *machine, struct kymo_plan_frame *frame) {
  const struct kymo_plan_root *root = machine->plan->root;
  char text[sizeof machine->r_text];
  uint32_t size, r = machine->r;
  const uint8_t *pattern = kymo_plan_text(machine->plan, root->resync, &size);
  uint64_t begin = frame->at, at = begin + 1, end = frame->end, fault = machine->r_offset;
  const struct kymo_plan_instruction *failed_at = machine->failed_at;
  memcpy(text, machine->r_text, sizeof text);
  machine->r = 0;
  if (root->resync_within && end - begin > root->resync_within)
    end = begin + root->resync_within;
  while (at < end) {
    const uint8_t *place = find_pattern(machine, at, end, pattern, size);
    at = place ? (uint64_t)(place - machine->bytes) : end;
    if (place && is_begin(machine, frame, at))
      break;
    at += place != NULL;
  }
  if (at >= end && end == frame->end)
    at = find_begin(machine, frame, begin + 1, pattern, size);
  bool is_found = at < end;
  machine->r = r;
  machine->r_offset = fault;
  machine->start = begin;
  machine->failed_at = failed_at;
  if (!frame->is_after_loss)
    kymo_plan_note_damage(machine, r, begin, is_found ? at : frame->end, text);
  machine->r = 0;
  frame->at = is_found ? at : frame->end;
  frame->is_after_loss &= !is_found;
  if (!is_found && frame->box)
    kymo_plan_leave_box(machine);
  else
    machine->state.is_over |= !is_found && root->resync_within != 0;
}

/* Ends the innermost container: reading goes on after it, as its end is known. */
static void give_up_box(struct kymo_plan_machine *machine, const struct kymo_plan_frame *frame) {
  kymo_plan_note_damage(machine, machine->r, frame->at, machine->bytes_size, machine->r_text);
  machine->r = 0;
  kymo_plan_leave_box(machine);
}

/* Applies the policy to the decode error that ended a record. True: the record is delivered as damaged. */
static bool settle(struct kymo_plan_machine *machine, struct kymo_plan_frame *frame) {
  enum kymo_plan_policy policy = kymo_plan_policy_of(machine->plan, machine->r);
  bool is_known = frame && machine->record_end != UINT64_MAX && machine->record_end > machine->start;
  if (frame && policy == KYMO_PLAN_POLICY_RESYNC) {
    resync(machine, frame);
    return false;
  }
  if ((policy == KYMO_PLAN_POLICY_SKIP || policy == KYMO_PLAN_POLICY_MARK) && is_known) {
    kymo_plan_note_damage(machine, machine->r, machine->r_offset,
                          policy == KYMO_PLAN_POLICY_SKIP ? machine->record_end : 0, machine->r_text);
    machine->r = 0;
    machine->window = 0;
    machine->bit = machine->record_end * 8;
    machine->is_damaged = true;
    if (policy == KYMO_PLAN_POLICY_MARK)
      return true;
    frame->at = machine->record_end;
    frame->times -= frame->has_times;
    return false;
  }
  if (frame && frame->box && machine->plan->root->policies[machine->r] != KYMO_PLAN_POLICY_STOP) {
    give_up_box(machine, frame);
    return false;
  }
  uint64_t from = frame && frame->at < machine->bytes_size ? frame->at : machine->r_offset;
  struct kymo_plan_place place = kymo_plan_place_at(&machine->state, machine->box, from);
  uint32_t count = machine->note_count;
  kymo_plan_note_damage_at(machine, machine->r, &place,
                           machine->size > place.offset ? machine->size - place.offset : 0, machine->r_text);
  if (machine->note_count > count)
    machine->notes[count].at = from;
  machine->r = 0;
  machine->state.is_over = true;
  return false;
}

uint64_t kymo_plan_margin(const struct kymo_plan *plan) {
  const struct kymo_plan_root *root = plan->root;
  if (root->sorted == KYMO_SORTED_WITHIN)
    return kymo_plan_wide(root->sorted_low, root->sorted_high) / 1000;
  return root->sorted == KYMO_SORTED_YES ? 0 : UINT64_MAX;
}

/* The value of the column of this name in the record; NULL: it has none, or it is absent. */
static const struct kymo_expr_value *find_value(const struct kymo_plan_machine *machine, uint32_t name) {
  const struct kymo_plan *plan = machine->plan;
  const struct kymo_plan_kind *kind = &plan->kinds[machine->kind];
  for (uint32_t i = kind->first_column; i < kind->first_column + kind->column_count; i++) {
    const struct kymo_plan_column *column = &plan->columns[i];
    for (uint32_t j = 0; column->name == name && kymo_plan_is_single(column) && j < column->option_count;
         j++) {
      const struct kymo_expr_value *value = &machine->slots[plan->options[column->first_option + j].slot];
      if (value->sort != KYMO_SORT_ABSENT)
        return value;
    }
  }
  return NULL;
}

/* SORTED PER: the same for records with one value of a field. */
static bool check_order_per(struct kymo_plan_machine *machine) {
  const struct kymo_expr_value *per = find_value(machine, machine->plan->root->sorted_low);
  struct kymo_plan_clock_state *latest = per ? kymo_plan_latest_of(machine, per) : NULL;
  if (!latest)
    return !per; /* more values than can be kept */
  struct kymo_wide time = kymo_wide_of_i64(machine->time_ns), back = {0};
  bool is_early = latest->has_last && kymo_wide_compare(time, latest->last) < 0 &&
                  kymo_wide_subtract(latest->last, time, &back);
  if (!is_early)
    *latest = (struct kymo_plan_clock_state){.last = time, .has_last = true};
  return !is_early || kymo_plan_mark_field(machine, 6, machine->bit - machine->start * 8,
                                           "a time %" PRIu64
                                           " ns before that of another record, where SORTED PER allows none",
                                           back.low);
}

/* Checks the time of a record against the promise of SORTED. False: reading ends here. */
static bool check_order(struct kymo_plan_machine *machine) {
  struct kymo_plan_state *state = &machine->state;
  uint64_t margin = kymo_plan_margin(machine->plan);
  bool is_per = machine->plan->root->sorted == KYMO_SORTED_PER;
  if ((margin == UINT64_MAX && !is_per) || !machine->has_time ||
      machine->plan->kinds[machine->kind].class_ != KYMO_CLASS_EVENT)
    return true;
  if (is_per)
    return check_order_per(machine);
  bool is_latest = !state->has_latest || machine->time_ns >= state->latest_ns;
  uint64_t back = is_latest ? 0 : (uint64_t)state->latest_ns - (uint64_t)machine->time_ns;
  if (is_latest)
    state->latest_ns = machine->time_ns;
  state->has_latest = true;
  return back <= margin || kymo_plan_mark_field(machine, 6, machine->bit - machine->start * 8,
                                                "a time %" PRIu64 " ns before that of another record, "
                                                "where SORTED allows %" PRIu64,
                                                back, margin);
}

/* ---- holes of the file ---- */

uint64_t kymo_plan_hole(struct kymo_plan_machine *machine, uint64_t at) {
  return kymo_holes_large(&machine->holes, at, machine->size);
}

/*
 * Skips the records of zeros in a large hole, to which nothing was ever written: no program recorded them,
 * and there may be billions. The places of later records do not change: the skipped part is a multiple of the
 * first record's length.
 */
static void pass_hole(struct kymo_plan_machine *machine, struct kymo_plan_frame *frame) {
  char text[96];
  uint64_t begin = frame->at, room = frame->end < machine->size ? frame->end : machine->size;
  if (frame->box || frame->is_single || frame->until != KYMO_PLAN_NONE ||
      kymo_plan_hole(machine, begin) != begin || begin >= room)
    return;
  uint64_t end = machine->holes.large_end < room ? machine->holes.large_end : room;
  if (end - begin < KYMO_HOLE_LEAST || !is_record(machine, frame, begin))
    return;
  uint64_t after = machine->record_end != UINT64_MAX ? machine->record_end : (machine->bit + 7) / 8;
  uint64_t size = after > begin ? after - begin : 0, count = size ? (end - begin) / size : 0;
  if (frame->has_times && count > frame->times)
    count = frame->times;
  if (count < 2 || machine->failed)
    return;
  machine->failed_at = NULL;
  snprintf(text, sizeof text, "a hole in the file (never written), where %" PRIu64 " records have space",
           count);
  kymo_plan_note_damage(machine, 0, begin, begin + count * size, text);
  frame->at = begin + count * size;
  frame->previous = size;
  frame->times -= frame->has_times ? count : 0;
}

/* The place of the next record. */
static struct kymo_plan_frame *next_place(struct kymo_plan_machine *machine) {
  for (;;) {
    struct kymo_plan_frame *frame = kymo_plan_next_place(machine);
    uint64_t at = frame ? frame->at : 0;
    if (frame)
      pass_hole(machine, frame);
    if (!frame || frame->at == at)
      return frame;
  }
}

/* Called when the record is complete: true if it may be delivered. */
static bool complete(struct kymo_plan_machine *machine, struct kymo_plan_frame *frame) {
  uint64_t from = (machine->bit + 7) / 8;
  machine->failed_at = NULL;
  keep_in_record(machine, from);
  if (machine->has_time) {
    machine->state.has_last_time = true;
    machine->state.last_time_ns = machine->time_ns;
  }
  return check_order(machine) && kymo_plan_pass_record(machine, frame, from);
}

const struct kymo_plan_frame *kymo_plan_machine_place(struct kymo_plan_machine *machine) {
  if (machine->state.is_over || machine->failed)
    return NULL;
  if (!machine->is_placed)
    machine->note_count = machine->r = 0;
  machine->is_placed = true;
  return next_place(machine);
}

bool kymo_plan_machine_peek(struct kymo_plan_machine *machine, struct kymo_plan_number *number) {
  *number = (struct kymo_plan_number){0};
  if (machine->state.is_over || machine->failed)
    return machine->failed;
  const struct kymo_plan_frame *frame = kymo_plan_machine_place(machine);
  if (!frame || machine->note_count)
    return machine->r || machine->note_count;
  machine->number.bits = 0;
  if (is_record(machine, frame, frame->at))
    *number = machine->number;
  return true;
}

/* Decodes the next record. False: it cannot be read, or is cut, which *is_cut says, and nothing was noted. */
static bool decode(struct kymo_plan_machine *machine, struct kymo_plan_frame *frame, bool *is_cut) {
  uint32_t notes = machine->note_count;
  bool is_good = true;
  if (frame->is_joined && machine->is_careful) { /* the attempt must not change the state */
    machine->is_dry = true;
    is_good = kymo_plan_decode(machine, frame);
    machine->is_dry = false;
    *is_cut = !is_good && kymo_plan_box_carry(machine, frame);
    if (*is_cut)
      return false;
    machine->r = 0;
  }
  is_good = kymo_plan_decode(machine, frame);
  *is_cut = !is_good && kymo_plan_box_carry(machine, frame);
  machine->note_count = *is_cut ? notes : machine->note_count;
  return is_good;
}

int kymo_plan_machine_next(struct kymo_plan_machine *machine) {
  bool is_placed = machine->is_placed;
  machine->is_placed = false;
  if (!is_placed)
    machine->note_count = machine->r = 0;
  for (; !machine->state.is_over && !machine->failed; machine->r = 0) {
    struct kymo_plan_frame *frame = next_place(machine);
    if (!frame && !machine->r)
      break;
    bool is_cut = false, is_good = frame && decode(machine, frame, &is_cut);
    if (is_cut)
      continue;
    if (!is_good && machine->r && settle(machine, frame))
      is_good = true;
    if (is_good && complete(machine, frame))
      return KYMO_OK;
    if (is_good && machine->r)
      settle(machine, frame);
    if (machine->note_count)
      return machine->failed ? KYMO_E_MEMORY : KYMO_AGAIN;
  }
  return machine->failed ? KYMO_E_MEMORY : machine->note_count ? KYMO_AGAIN : KYMO_END;
}
