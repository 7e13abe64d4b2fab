/* SPDX-License-Identifier: MIT */
/* Records whose fields a definition of the file lists. */
#include "plan/machine.h"
#include <stdio.h>
#include <string.h>

static bool is_time(const struct kymo_plan *plan, const struct kymo_plan_field *field) {
  return field->override != KYMO_PLAN_NONE && plan->overrides[field->override].clock != KYMO_PLAN_NONE;
}

bool kymo_plan_is_record_time(const struct kymo_plan *plan, const struct kymo_plan_record *record,
                              uint32_t field) {
  if (!is_time(plan, &record->fields[field]))
    return false;
  for (uint32_t i = 0; i <= field; i++) {
    const struct kymo_plan_field *each = &record->fields[i];
    uint32_t mode =
        is_time(plan, each) && !each->is_inner ? plan->overrides[each->override].time_mode : KYMO_TIME_MODES;
    if (mode == KYMO_TIME_POINT || mode == KYMO_TIME_DISTANCE || mode == KYMO_TIME_LOW)
      return i == field;
  }
  return false;
}

static bool is_filler(const struct kymo_plan *plan, const struct kymo_plan_field *field) {
  return field->override != KYMO_PLAN_NONE && plan->overrides[field->override].is_filler;
}

bool kymo_plan_is_delivered(const struct kymo_plan *plan, const struct kymo_plan_record *record,
                            uint32_t field) {
  const struct kymo_plan_field *fields = record->fields;
  if (!fields[field].inner_count)
    return !is_filler(plan, &fields[field]) && !kymo_plan_is_record_time(plan, record, field);
  bool is = false;
  for (uint32_t i = field + 1; i <= field + fields[field].inner_count && !is; i++)
    is = !fields[i].inner_count && !is_filler(plan, &fields[i]);
  return is;
}

/* What a type in another definition says of times is not about the record's. */
static bool convert(struct kymo_plan_machine *machine, const struct kymo_plan_field *field,
                    struct kymo_expr_value *value) {
  const struct kymo_plan_override *how = &machine->plan->overrides[field->override];
  struct kymo_expr_value operands[2] = {*value,
                                        kymo_value_u64(kymo_plan_wide(how->unit_low, how->unit_high))};
  uint32_t mode = field->is_inner && how->time_mode == KYMO_TIME_POINT ? KYMO_TIME_UNTIL : how->time_mode;
  struct kymo_plan_instruction what = {KYMO_DO_TIME, how->clock, mode | how->unit_kind, how->low_bits};
  bool has_time = machine->has_time;
  bool ok = kymo_plan_time(machine, &what, operands, value);
  machine->has_time &= has_time || !field->is_inner;
  return ok;
}

/* Bits of a value of constant size; 0: it has none. */
static uint64_t bits_of(const struct kymo_plan_type *type, uint32_t size) {
  switch ((enum kymo_plan_encoding)type->encoding) {
  case KYMO_TYPE_UNSIGNED:
  case KYMO_TYPE_SIGNED:
  case KYMO_TYPE_FLOAT:
  case KYMO_TYPE_BCD:
  case KYMO_TYPE_FIXED: return size;
  case KYMO_TYPE_BYTES:
  case KYMO_TYPE_STRING:
  case KYMO_TYPE_STRING_WHOLE:
  case KYMO_TYPE_TEXT_NUMBER: return size == KYMO_SIZE_TO_END ? 0 : (uint64_t)size * 8;
  default: return 0;
  }
}

/* FILLER of constant size ends where the record ends: writers may leave out what aligns the next one. */
static bool pass_filler(struct kymo_plan_machine *machine, const struct kymo_plan_field *field, uint64_t bits,
                        uint64_t times) {
  const struct kymo_expr_value nothing = {.sort = KYMO_SORT_ABSENT};
  uint64_t begin = machine->bit, rest = kymo_plan_rest_bits(machine);
  machine->bit += bits * times < rest ? bits * times : rest;
  if (machine->bit > begin)
    KYMO_PLAN_REPORT_LOADED(machine, .begin_bits = begin, .end_bits = machine->bit, .slot = KYMO_PLAN_NONE,
                            .code = machine->failed_at, .name = field->path, .value = nothing);
  return true;
}

/* ---- absent values ---- */

/* The raw value that means absent: what FIELD says, else the definition, else the type. */
static struct kymo_expr_value absent_of(const struct kymo_plan *plan, const struct kymo_plan_field *field) {
  const struct kymo_plan_letter *letter = &plan->letters[field->letter];
  const struct kymo_plan_override *how =
      field->override == KYMO_PLAN_NONE ? NULL : &plan->overrides[field->override];
  bool is_of_field = how && how->absent != KYMO_ABSENT_NONE;
  uint32_t sort = is_of_field ? how->absent : letter->absent,
           low = is_of_field ? how->absent_low : letter->absent_low, size;
  uint64_t number = kymo_plan_wide(low, is_of_field ? how->absent_high : letter->absent_high);
  const uint8_t *text;
  if (!is_of_field && field->absent.sort != KYMO_SORT_ABSENT)
    return field->absent;
  switch ((enum kymo_plan_absent)sort) {
  case KYMO_ABSENT_SIGNED: return kymo_value_number(kymo_wide_of_i64((int64_t)number));
  case KYMO_ABSENT_UNSIGNED: return kymo_value_u64(number);
  case KYMO_ABSENT_TEXT: text = kymo_plan_text(plan, low, &size); return kymo_value_bytes(text, size);
  default: return (struct kymo_expr_value){.sort = KYMO_SORT_ABSENT};
  }
}

/* The bits of a FLOAT that was just read, as a number. */
static struct kymo_expr_value bits_at(struct kymo_plan_machine *machine, const struct kymo_plan_type *type,
                                      enum kymo_plan_order order, uint64_t begin) {
  struct kymo_plan_type number = *type;
  struct kymo_expr_value value = {0};
  uint64_t end = machine->bit;
  number.encoding = KYMO_TYPE_UNSIGNED;
  machine->bit = begin;
  if (type->size <= 64)
    kymo_plan_load_value(machine, &number, type->size, true, order, &value);
  machine->bit = end;
  return value;
}

/* ---- fields ---- */

/* The byte order of a field: what FIELD says, else its type, else the definition, else the whole. */
static uint32_t order_of(const struct kymo_plan *plan, const struct kymo_plan_field *field) {
  const struct kymo_plan_letter *letter = &plan->letters[field->letter];
  uint32_t order =
      field->override == KYMO_PLAN_NONE ? KYMO_PLAN_NONE : plan->overrides[field->override].order;
  if (order == KYMO_PLAN_NONE && !letter->has_order)
    order = field->order;
  return order == KYMO_PLAN_NONE ? plan->types[letter->type].order : order;
}

static struct kymo_plan_form form_of(const struct kymo_plan *plan, const struct kymo_plan_field *field) {
  const struct kymo_plan_letter *letter = &plan->letters[field->letter];
  const struct kymo_plan_override *override =
      field->override == KYMO_PLAN_NONE ? NULL : &plan->overrides[field->override];
  if (override && override->clock != KYMO_PLAN_NONE)
    return kymo_plan_form(plan, KYMO_SHAPE_SIGNED, 64, KYMO_PLAN_NONE);
  bool has_view = override && override->view != KYMO_PLAN_NONE;
  struct kymo_plan_form form =
      kymo_plan_form(plan, letter->shape, letter->bits, has_view ? override->view : letter->view);
  bool is_number =
      form.kind == KYMO_FORM_UNSIGNED || form.kind == KYMO_FORM_SIGNED || form.kind == KYMO_FORM_FLOAT;
  if (is_number && !(has_view && form.has_scale) && field->has_scale) {
    form.has_scale = true;
    form.divisor = field->scale == 1 ? field->over : 0;
    form.scale = field->scale / field->over;
    form.offset = field->offset;
    form.kind = KYMO_FORM_FLOAT;
    form.bytes = 8;
  }
  if (is_number && !(has_view && form.view->unit != KYMO_PLAN_NONE))
    form.unit = field->unit;
  return form;
}

void kymo_plan_field_settle(const struct kymo_plan *plan, struct kymo_plan_field *field) {
  if (field->letter == KYMO_PLAN_NONE)
    return;
  uint32_t encoding = plan->types[plan->letters[field->letter].type].encoding;
  field->order = order_of(plan, field);
  field->absent = absent_of(plan, field);
  field->is_optional = encoding == KYMO_TYPE_TEXT_NUMBER || encoding == KYMO_TYPE_TEXT_NUMBER_ENDED ||
                       field->absent.sort != KYMO_SORT_ABSENT;
  field->form = form_of(plan, field);
}

/* One value. */
static bool run_value(struct kymo_plan_machine *machine, const struct kymo_plan_field *field, uint32_t size) {
  const struct kymo_plan *plan = machine->plan;
  const struct kymo_plan_type *type = &plan->types[plan->letters[field->letter].type];
  enum kymo_plan_order order = (enum kymo_plan_order)field->order;
  struct kymo_expr_value value = {0};
  uint64_t begin = machine->bit;
  if (!kymo_plan_load_value(machine, type, size, true, order, &value)) {
    machine->bit = begin;
    return false;
  }
  KYMO_PLAN_REPORT_LOADED(machine, .begin_bits = begin, .end_bits = machine->bit, .slot = KYMO_PLAN_NONE,
                          .code = machine->failed_at, .name = field->path, .value = value);
  if (field->absent.sort != KYMO_SORT_ABSENT) {
    struct kymo_expr_value raw = value.sort == KYMO_SORT_FLOAT ? bits_at(machine, type, order, begin) : value;
    if (kymo_value_is_equal(&raw, &field->absent))
      value.sort = KYMO_SORT_ABSENT;
  }
  return (!is_time(plan, field) || convert(machine, field, &value)) &&
         (is_filler(plan, field) || kymo_plan_append(machine, &machine->fields, &value, 0, 0));
}

static bool run_field(struct kymo_plan_machine *machine, const struct kymo_plan_field *field) {
  const struct kymo_plan *plan = machine->plan;
  const struct kymo_plan_type *type = &plan->types[plan->letters[field->letter].type];
  uint32_t size = field->size == KYMO_PLAN_NONE ? type->size : field->size;
  uint64_t times = kymo_plan_values_of(plan, field->letter, field->count);
  if (is_filler(plan, field) && bits_of(type, size))
    return pass_filler(machine, field, bits_of(type, size), times);
  for (uint64_t i = 0; i < times; i++)
    if (!run_value(machine, field, size))
      return false;
  return true;
}

static bool is_name(const struct kymo_plan_field *field, const uint8_t *name, uint32_t size) {
  return strlen(field->name) == size && memcmp(field->name, name, size) == 0;
}

uint64_t kymo_plan_items_of(const struct kymo_plan *plan, const struct kymo_plan_record *record,
                            uint32_t index) {
  const struct kymo_plan_field *field = &record->fields[index];
  uint64_t count = 0;
  if (!field->inner_count)
    return is_filler(plan, field) ? 0 : kymo_plan_values_of(plan, field->letter, field->count);
  for (uint32_t i = index + 1; i <= index + field->inner_count; i += 1 + record->fields[i].inner_count)
    count += kymo_plan_items_of(plan, record, i);
  return count * field->count;
}

struct kymo_expr_value kymo_plan_defined_value(const struct kymo_plan_machine *machine, uint32_t name,
                                               enum kymo_plan_field_sort sort) {
  const struct kymo_plan *plan = machine->plan;
  const struct kymo_plan_record *record = machine->has_fields ? machine->record : NULL;
  struct kymo_expr_value nothing = {.sort = KYMO_SORT_ABSENT};
  uint32_t size, wanted = sort == KYMO_FIELD_NUMBER ? KYMO_SORT_NUMBER : KYMO_SORT_BYTES;
  const uint8_t *text = kymo_plan_text(plan, name, &size);
  uint64_t at = 0;
  if (!record || record->is_bytes || record->is_unresolved)
    return nothing;
  for (uint32_t i = 0; i < record->field_count; i += 1 + record->fields[i].inner_count) {
    const struct kymo_plan_field *field = &record->fields[i];
    bool is_list = field->inner_count || field->count || plan->letters[field->letter].count;
    if (!is_list && !is_filler(plan, field) && at < machine->fields.count && is_name(field, text, size))
      return machine->fields.items[at].value.sort == wanted ? machine->fields.items[at].value : nothing;
    at += kymo_plan_items_of(plan, record, i);
  }
  return nothing;
}

/* All remaining bytes as one value. */
static bool run_bytes(struct kymo_plan_machine *machine) {
  static const struct kymo_plan_type rest = {.encoding = KYMO_TYPE_BYTES, .size = KYMO_SIZE_TO_END};
  struct kymo_expr_value value = {0};
  machine->fields.count = 0;
  return kymo_plan_load_value(machine, &rest, rest.size, false, KYMO_PLAN_LITTLE, &value) &&
         kymo_plan_append(machine, &machine->fields, &value, 0, 0);
}

/* Fields [first, end): the first one for which there are no bytes, or `end`. */
static uint32_t run_fields(struct kymo_plan_machine *machine, const struct kymo_plan_record *record,
                           uint32_t first, uint32_t end) {
  for (uint32_t i = first; i < end; i += 1 + record->fields[i].inner_count) {
    const struct kymo_plan_field *field = &record->fields[i];
    uint32_t inner = i + 1 + field->inner_count;
    if (!field->inner_count && !run_field(machine, field))
      return i;
    for (uint32_t k = 0; field->inner_count && k < field->count; k++) {
      uint32_t failed = run_fields(machine, record, i + 1, inner);
      if (failed < inner)
        return failed;
    }
  }
  return end;
}

/* Delivers a record that does not fit its definition as bytes, from `field` on. False after raising: the
 * file ends. */
static bool run_misfit(struct kymo_plan_machine *machine, const struct kymo_plan_record *record,
                       uint32_t field, uint64_t begin) {
  char place[2 * KYMO_PLAN_DESCRIBED + 16];
  kymo_plan_describe_field(record, field, place, sizeof place);
  if (machine->r == 1) {
    size_t used = strlen(machine->r_text);
    snprintf(machine->r_text + used, sizeof machine->r_text - used, "%s", place);
    return false;
  }
  machine->r = 0;
  bool goes_on = kymo_plan_mark(machine, 7, "a record whose definition does not fit its length%s", place);
  if (!record->is_bytes) /* a record that came after the first pass, whose class has these fields */
    machine->record = NULL;
  machine->bit = begin;
  return goes_on && run_bytes(machine);
}

bool kymo_plan_run_record(struct kymo_plan_machine *machine, const struct kymo_plan_record *record) {
  record = kymo_plan_resolve(machine, record);
  if (!record)
    return false;
  const struct kymo_plan_watch *watch = machine->watch;
  uint64_t begin = machine->bit;
  machine->record = record;
  machine->fields.count = 0;
  if (record->has_length && machine->record_end == UINT64_MAX &&
      !kymo_plan_set_length(machine, record->length))
    return false;
  if (record->is_unresolved)
    return run_bytes(machine);
  /* then the fields only show where the record does not fit */
  machine->watch = record->is_bytes ? NULL : watch;
  uint32_t fitting = record->is_bytes && !record->is_misfit
                         ? record->field_count
                         : run_fields(machine, record, 0, record->field_count);
  machine->watch = watch;
  machine->r = record->is_bytes ? 0 : machine->r;
  bool ok =
      fitting == record->field_count && (!record->has_length || machine->bit == machine->record_end * 8);
  if (machine->failed || (ok && !record->is_bytes))
    return ok && !machine->failed;
  if (!record->is_bytes && machine->r != 1 && machine->may_find) {
    struct kymo_plan_record *found = (struct kymo_plan_record *)(uintptr_t)record;
    found->is_bytes = found->is_misfit = true;
  }
  return run_misfit(machine, record, fitting, begin);
}
