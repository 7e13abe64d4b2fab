/* SPDX-License-Identifier: MIT */
/* Records of a description, ordered by their fields. */
#include "base/fail.h"
#include "base/nearest.h"
#include "format/sequence.h"
#include "plan/plain.h"
#include "source/map.h"
#include "records/records.h"
#include "records/described.h"
#include <kymo/read.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct records_file {
  struct records_merge *merge;
  struct records_description *description;
  const char *path;
  struct kymo_map map;
  struct kymo_plan_machine *machine;
  uint64_t end;    /* of the current record, or the head */
  uint64_t looked; /* up to here the file's size was checked */
  uint64_t lost;   /* bytes after `end` that were reported as damage */
  bool is_over;
  bool is_fast; /* `run` is ahead of the machine, and has decoded the current record */
  struct kymo_fast_run run;
  struct kymo_expr_value *keys,
      *before; /* by field, of the current record and of the previous one; bytes are copies */
};

/* ---- order ---- */

static int rank(const struct kymo_expr_value *value) {
  return value->sort == KYMO_SORT_ABSENT ? 0 : value->sort == KYMO_SORT_BYTES ? 2 : 1;
}

static double as_double(const struct kymo_expr_value *value) {
  return value->sort == KYMO_SORT_FLOAT ? value->f : kymo_wide_to_double(value->n);
}

static int compare_bytes(const struct kymo_expr_value *a, const struct kymo_expr_value *b) {
  uint32_t size = a->size < b->size ? a->size : b->size;
  int order = size ? memcmp(a->p, b->p, size) : 0;
  return order ? order : (a->size > b->size) - (a->size < b->size);
}

/* Absent values come first, other values than numbers after all numbers, then bytes. */
static int compare_values(const struct kymo_expr_value *a, const struct kymo_expr_value *b) {
  if (rank(a) != rank(b) || a->sort == KYMO_SORT_ABSENT)
    return rank(a) - rank(b);
  if (a->sort == KYMO_SORT_BYTES)
    return compare_bytes(a, b);
  if (a->sort == KYMO_SORT_NUMBER && b->sort == KYMO_SORT_NUMBER)
    return kymo_wide_compare(a->n, b->n);
  double x = as_double(a), y = as_double(b);
  return isnan(x) || isnan(y) ? isnan(x) - isnan(y) : (x > y) - (x < y);
}

/* Counters wrap around to 0: the shorter distance determines the order. */
static int compare_numbers(const struct kymo_expr_value *a, const struct kymo_expr_value *b) {
  if (a->sort == KYMO_SORT_ABSENT || b->sort == KYMO_SORT_ABSENT)
    return rank(a) - rank(b);
  int64_t distance = kymo_sequence_distance(a->n.low, b->n.low, a->size);
  return (distance < 0) - (distance > 0);
}

static int compare_keys(const struct records_description *description, const struct kymo_expr_value *a,
                        const struct kymo_expr_value *b) {
  int order = 0;
  for (size_t i = 0; i < description->field_count && order == 0; i++)
    order = description->fields[i].by == RECORDS_BY_SEQUENCE ? compare_numbers(&a[i], &b[i])
                                                             : compare_values(&a[i], &b[i]);
  return order;
}

static int described_compare(const struct records_file *a, const struct records_file *b) {
  return compare_keys(a->description, a->keys, b->keys);
}

/* ---- keys ---- */

static const struct kymo_expr_value absent = {.sort = KYMO_SORT_ABSENT};

/* The value of a column: of the first of its options that is present. */
static struct kymo_expr_value column_value(const struct kymo_plan_machine *machine, uint32_t number) {
  const struct kymo_plan_column *column = &machine->plan->columns[number];
  for (uint32_t i = 0; i < column->option_count; i++) {
    const struct kymo_expr_value *value =
        &machine->slots[machine->plan->options[column->first_option + i].slot];
    if (value->sort != KYMO_SORT_ABSENT)
      return *value;
  }
  return absent;
}

static struct kymo_expr_value fast_value(const struct records_file *file, size_t field) {
  const struct kymo_fast_run *run = &file->run;
  if (file->description->fields[field].by == RECORDS_BY_TIME && !run->has_time)
    return absent;
  bool is_time = file->description->fields[field].by == RECORDS_BY_TIME;
  return kymo_value_number(
      kymo_wide_of_i64(is_time ? run->time_ns : run->number[file->description->slots[field]]));
}

/* Borrowed from the machine. For a SEQUENCE, `size` is the number of bits. */
static struct kymo_expr_value key_value(const struct records_file *file, size_t field) {
  const struct kymo_plan_machine *machine = file->machine;
  const struct records_description *description = file->description;
  struct kymo_expr_value number;
  uint32_t column;
  if (file->is_fast)
    return fast_value(file, field);
  switch (description->fields[field].by) {
  case RECORDS_BY_TIME:
    return machine->has_time ? kymo_value_number(kymo_wide_of_i64(machine->time_ns)) : absent;
  case RECORDS_BY_SEQUENCE:
    number = kymo_value_u64(machine->number.number);
    number.size = machine->number.bits;
    return machine->number.bits ? number : absent;
  default:
    column = description->columns[machine->kind * description->field_count + field];
    return column == KYMO_PLAN_NONE ? absent : column_value(machine, column);
  }
}

/* Takes the sort key of the current record, and compares it with the previous one. A record without any of
 * the fields stays right after the previous one. False: out of memory. */
static bool take_keys(struct records_file *file, bool *is_late) {
  size_t count = file->description->field_count;
  bool has_any = false;
  for (size_t i = 0; i < count && !has_any; i++)
    has_any = key_value(file, i).sort != KYMO_SORT_ABSENT;
  if (!has_any)
    return true;
  struct kymo_expr_value *free_ones = file->before;
  file->before = file->keys;
  file->keys = free_ones;
  for (size_t i = 0; i < count; i++) {
    struct kymo_expr_value value = key_value(file, i);
    if (!kymo_plan_own(&file->keys[i], &value))
      return false;
  }
  *is_late = compare_keys(file->description, file->keys, file->before) < 0;
  return true;
}

/* ---- records ---- */

static int out_of_memory(const struct records_merge *merge) {
  return kymo_fail(merge->error, KYMO_E_MEMORY, "out of memory");
}

static void report_notes(struct records_file *file) {
  const struct kymo_plan_machine *machine = file->machine;
  for (uint32_t i = 0; i < machine->note_count; i++) {
    const struct kymo_plan_note *note = &machine->notes[i];
    if (note->kind == KYMO_NOTE_LOSS)
      continue;
    char text[KYMO_PLAN_NOTE_BYTES];
    kymo_plan_note_text(note, text);
    kymo_records_damage(file->merge, file->path, note->offset, note->bytes_lost, text);
    file->lost += note->bytes_lost;
  }
}

/* Bytes up to `to` that are in no record: they must not be lost silently. */
static void report_gap(struct records_file *file, uint64_t to) {
  if (to > file->end && file->lost == 0)
    kymo_records_damage(file->merge, file->path, file->end, to - file->end,
                        "these bytes belong to no record");
  file->lost = 0;
}

static void leave_fast_path(struct records_file *file) {
  if (file->is_fast)
    kymo_fast_path_end(&file->run, file->machine);
  file->is_fast = false;
}

static int look_again(struct records_file *file) {
  const uint8_t *data;
  uint64_t size;
  leave_fast_path(file);
  int status = kymo_map_get(&file->map, 0, UINT64_MAX, &data, &size, file->merge->error);
  if (status >= 0 && (data != file->machine->data || size != file->machine->size))
    kymo_plan_machine_bytes(file->machine, data, size);
  file->looked = file->end + RECORDS_LOOK_BYTES;
  return status;
}

/* The next record, if it is plain. */
static bool fast_step(struct records_file *file, struct records_piece *record) {
  const struct kymo_fast_path *fast = file->description->fast;
  struct kymo_fast_run *run = &file->run;
  if (!file->is_fast)
    file->is_fast =
        kymo_fast_path_kind(file->machine) == fast->kind && kymo_fast_path_begin(run, fast, file->machine);
  if (!file->is_fast || !kymo_fast_decode(run)) {
    leave_fast_path(file);
    return false;
  }
  *record =
      (struct records_piece){.bytes = run->data + run->at, .size = run->next - run->at, .offset = run->at};
  kymo_fast_path_accept(run);
  return true;
}

static int machine_step(struct records_file *file, struct records_piece *record) {
  struct kymo_plan_machine *machine = file->machine;
  uint32_t counters = machine->plan->root->sequence_count;
  if (counters) /* other files contain the missing numbers */
    memset(machine->state.counters, 0, counters * sizeof *machine->state.counters);
  machine->number.bits = 0;
  machine->open_end = KYMO_PLAN_NONE;
  int status = kymo_plan_machine_next(machine);
  report_notes(file);
  bool is_open = machine->open_end != KYMO_PLAN_NONE && machine->start + machine->length == machine->size;
  *record = (struct records_piece){machine->data + machine->start, machine->length, machine->start, is_open,
                                   (uint8_t)machine->open_end};
  return status;
}

/* The next record of any class. */
static int step(struct records_file *file, struct records_piece *record) {
  int status = KYMO_AGAIN;
  while (status == KYMO_AGAIN) {
    if (file->end >= file->looked && (status = look_again(file)) < 0)
      return status;
    bool is_plain = file->description->fast && fast_step(file, record);
    status = is_plain ? KYMO_OK : machine_step(file, record);
  }
  if (status == KYMO_OK) {
    report_gap(file, record->offset);
    file->end = record->offset + record->size;
  }
  return status < 0 ? out_of_memory(file->merge) : status;
}

/* Whether records after another head would be read like those after this one: the properties of the head that
 * affect the others. */
static const char *different_head(const struct kymo_plan_machine *one, const struct kymo_plan_machine *other,
                                  bool has_low) {
  const struct kymo_plan *plan = one->plan;
  if (one->state.order != other->state.order)
    return "the order of bytes";
  for (uint32_t i = 0; i < plan->root->kept_count; i++)
    if (!kymo_value_is_equal(&one->state.kept[i], &other->state.kept[i]) &&
        (one->state.kept[i].sort != KYMO_SORT_ABSENT || other->state.kept[i].sort != KYMO_SORT_ABSENT))
      return "what it says about the records";
  for (uint32_t i = 0; has_low && i < KYMO_PLAN_COUNT(plan, CLOCK); i++)
    if (one->state.clocks[i].has_last != other->state.clocks[i].has_last ||
        (one->state.clocks[i].has_last &&
         kymo_wide_compare(one->state.clocks[i].last, other->state.clocks[i].last) != 0))
      return "a time that other records are relative to";
  return NULL;
}

/* Compares the head with that of the first file which has one. */
static int check_head(struct records_file *file) {
  struct records_description *description = file->description;
  if (!description->first)
    description->first = file->machine;
  const char *what = different_head(description->first, file->machine, description->has_low);
  if (!what)
    return KYMO_OK;
  return kymo_fail_at(file->merge->error, KYMO_E_FORMAT, file->path, 0,
                      "its head differs from that of the first file in %s: the records would be read wrongly "
                      "after the other",
                      what);
}

/* Each step of the layout before the repeated one is one record. */
static int described_head(struct records_file *file, struct records_piece *head) {
  struct records_piece record = {0};
  int status = KYMO_OK;
  for (uint32_t i = 0; i < file->description->step && status == KYMO_OK; i++)
    status = step(file, &record);
  if (status != KYMO_OK) { /* nothing can be read after it, and its loss was reported */
    file->is_over = true;
    return status < 0 ? status : KYMO_OK;
  }
  *head = (struct records_piece){file->machine->data, file->end, 0, record.is_open, record.end};
  return file->end ? check_head(file) : KYMO_OK;
}

static int described_next(struct records_file *file, struct records_piece *record, bool *is_late) {
  int status = file->is_over ? KYMO_END : step(file, record);
  if (status == KYMO_END && !file->is_over) {
    report_gap(file, file->machine->size);
    kymo_records_end(file->merge, &file->map, file->path);
  }
  file->is_over = status != KYMO_OK;
  if (status != KYMO_OK)
    return status;
  return take_keys(file, is_late) ? KYMO_OK : out_of_memory(file->merge);
}

/* ---- files ---- */

static int described_open(struct records_file **out, struct records_merge *merge, const char *path) {
  struct records_description *description = merge->how;
  struct records_file *file = *out = calloc(1, sizeof *file);
  if (!file)
    return out_of_memory(merge);
  file->merge = merge;
  file->description = description;
  file->path = path;
  file->keys = calloc(description->field_count, sizeof *file->keys);
  file->before = calloc(description->field_count, sizeof *file->before);
  file->machine = kymo_plan_machine_new(description->plan, NULL, 0);
  if (!file->keys || !file->before || !file->machine)
    return out_of_memory(merge);
  int status = kymo_map_open(&file->map, path, merge->error);
  return status < 0 ? status : look_again(file);
}

static void free_keys(struct kymo_expr_value *keys, size_t count) {
  for (size_t i = 0; keys && i < count; i++)
    if (keys[i].sort == KYMO_SORT_BYTES)
      free((void *)(uintptr_t)keys[i].p);
  free(keys);
}

static void described_close(struct records_file *file) {
  if (!file)
    return;
  if (file->map.path)
    kymo_map_close(&file->map);
  kymo_fast_path_release(&file->run);
  kymo_plan_machine_free(file->machine);
  free_keys(file->keys, file->description->field_count);
  free_keys(file->before, file->description->field_count);
  free(file);
}

static const struct records_kind by_description = {
    .open = described_open,
    .head = described_head,
    .next = described_next,
    .compare = described_compare,
    .close = described_close,
};

/* ---- the description ---- */

static bool is_text(const struct kymo_plan *plan, uint32_t text, const struct records_field *field) {
  uint32_t size;
  const uint8_t *bytes = kymo_plan_text(plan, text, &size);
  return size == field->length && memcmp(bytes, field->name, size) == 0;
}

static uint32_t find_column(const struct kymo_plan *plan, const struct kymo_plan_kind *kind,
                            const struct records_field *field) {
  for (uint32_t i = 0; i < kind->column_count; i++)
    if (kymo_plan_is_single(&plan->columns[kind->first_column + i]) &&
        is_text(plan, plan->columns[kind->first_column + i].name, field))
      return kind->first_column + i;
  return KYMO_PLAN_NONE;
}

static int no_such_field(const struct records_merge *merge, const struct records_description *description,
                         const struct records_field *field) {
  const struct kymo_plan *plan = description->plan;
  char wanted[128], name[128];
  snprintf(wanted, sizeof wanted, "%.*s", (int)field->length, field->name);
  struct kymo_nearest nearest = kymo_nearest_to(wanted);
  struct kymo_hint hint = {{0}};
  for (uint32_t i = 0; i < KYMO_PLAN_COUNT(plan, COLUMN); i++) {
    uint32_t size;
    const uint8_t *text = kymo_plan_text(plan, plan->columns[i].name, &size);
    snprintf(name, sizeof name, "%.*s", (int)size, (const char *)text);
    const unsigned distance = nearest.best_distance;
    kymo_nearest_consider(&nearest, name);
    if (nearest.best_distance != distance)
      hint = kymo_nearest_hint(&nearest);
  }
  return kymo_fail_at(merge->error, KYMO_E_USAGE, description->name, KYMO_ERROR_NO_OFFSET,
                      "no record to be merged has a field \"%s\"%s", wanted, hint.text);
}

/* Where each field is in each kind of record. */
static int find_fields(const struct records_merge *merge, struct records_description *description) {
  const struct kymo_plan *plan = description->plan;
  const struct kymo_plan_dispatch *dispatch = &plan->dispatches[plan->steps[description->step].dispatch];
  uint32_t kinds = KYMO_PLAN_COUNT(plan, KIND);
  description->columns = calloc((size_t)kinds * description->field_count, sizeof *description->columns);
  if (!description->columns)
    return out_of_memory(merge);
  for (size_t i = 0; i < description->field_count; i++) {
    bool is_found = description->fields[i].by != RECORDS_BY_FIELD;
    for (uint32_t k = 0; k < dispatch->count && description->fields[i].by == RECORDS_BY_FIELD; k++) {
      uint32_t kind = plan->kind_refs[dispatch->first + k].kind;
      uint32_t column = find_column(plan, &plan->kinds[kind], &description->fields[i]);
      description->columns[kind * description->field_count + i] = column;
      is_found |= column != KYMO_PLAN_NONE;
    }
    if (!is_found)
      return no_such_field(merge, description, &description->fields[i]);
  }
  return KYMO_OK;
}

/* Where each field is in the fast path; no fast path, if one is not a number. */
static void make_fast(struct records_description *description) {
  const struct kymo_plan *plan = description->plan;
  const struct kymo_plan_dispatch *dispatch = &plan->dispatches[plan->steps[description->step].dispatch];
  uint32_t kind = plan->kind_refs[dispatch->first].kind;
  description->fast = dispatch->count == 1 ? kymo_fast_path_new(plan, kind) : NULL;
  description->slots =
      description->fast ? calloc(description->field_count, sizeof *description->slots) : NULL;
  bool ok = description->slots != NULL;
  for (size_t i = 0; ok && i < description->field_count; i++) {
    uint32_t number = description->columns[kind * description->field_count + i];
    if (description->fields[i].by == RECORDS_BY_TIME)
      continue;
    const struct kymo_plan_column *column = &plan->columns[number];
    uint32_t slot = plan->options[column->first_option].slot;
    ok = description->fields[i].by == RECORDS_BY_FIELD && column->option_count == 1 &&
         slot < KYMO_FAST_SLOTS && description->fast->sorts[slot] == KYMO_FAST_NUMBER;
    if (ok)
      description->fast->is_wanted[slot] = true;
    description->slots[i] = slot;
  }
  if (!ok)
    kymo_fast_path_free(description->fast);
  if (!ok)
    description->fast = NULL;
}

/* "sec,usec" */
static int parse_fields(const struct records_merge *merge, struct records_description *description) {
  const char *by = merge->job->by;
  size_t count = 1;
  for (const char *at = by; *at; at++)
    count += *at == ',';
  description->fields = calloc(count, sizeof *description->fields);
  if (!description->fields)
    return out_of_memory(merge);
  for (const char *at = by; description->field_count < count; at++) {
    size_t length = strcspn(at, ",");
    struct records_field *field = &description->fields[description->field_count++];
    *field = (struct records_field){RECORDS_BY_FIELD, at, length};
    if (length == 4 && memcmp(at, "time", 4) == 0)
      field->by = RECORDS_BY_TIME;
    else if (length == 8 && memcmp(at, "sequence", 8) == 0)
      field->by = RECORDS_BY_SEQUENCE;
    if (length == 0)
      return kymo_fail(merge->error, KYMO_E_USAGE,
                       "expected fields, as \"sec,usec\", or time or sequence, found \"%s\"", by);
    at += length;
  }
  return KYMO_OK;
}

static int load(const struct records_merge *merge, struct records_description *description,
                struct kymo_schema **schema) {
  const struct records_job *job = merge->job;
  description->name = job->description ? job->description : job->as;
  int status = job->description ? kymo_description_load(schema, job->description, merge->error)
                                : kymo_description_find(schema, job->as, merge->error);
  if (status >= 0 && !(description->plan = kymo_plan_open(*schema, description->name, merge->error)))
    status = merge->error->code;
  return status;
}

int kymo_records_by_description(struct records_merge *merge) {
  struct records_description description = {0};
  struct kymo_schema *schema = NULL;
  int status = parse_fields(merge, &description);
  if (status == KYMO_OK)
    status = load(merge, &description, &schema);
  if (status == KYMO_OK)
    status = kymo_records_can_move(&description, merge->error);
  if (status == KYMO_OK)
    status = find_fields(merge, &description);
  merge->kind = &by_description;
  merge->how = &description;
  if (status == KYMO_OK) {
    make_fast(&description);
    status = kymo_records_run(merge);
  }
  kymo_fast_path_free(description.fast);
  free(description.slots);
  free(description.fields);
  free(description.columns);
  kymo_plan_close(description.plan);
  kymo_description_release(schema);
  return status;
}
