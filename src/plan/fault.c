/* SPDX-License-Identifier: MIT */
/*
 * Which field a fault is in, from the instruction that failed. Plans name delivered fields only: a fault in
 * other bytes is reported as after the last of these fields that the record has.
 */
#include "plan/machine.h"
#include <stdio.h>
#include <string.h>

/* A part of a record: that of a kind or of a prefix, with the columns that show its slots. */
struct place {
  const struct kymo_plan *plan;
  const struct kymo_plan_part *part;
  uint32_t first_column, column_count;
};

static const struct kymo_plan_column *column_of(const struct place *place, uint32_t slot) {
  const struct kymo_plan *plan = place->plan;
  for (uint32_t i = place->first_column;
       slot != KYMO_PLAN_NONE && i < place->first_column + place->column_count; i++)
    for (uint32_t j = 0; kymo_plan_is_single(&plan->columns[i]) && j < plan->columns[i].option_count; j++)
      if (plan->options[plan->columns[i].first_option + j].slot == slot)
        return &plan->columns[i];
  return NULL;
}

/* The column of the value that a LOAD reads, from the instructions after it. */
static const struct kymo_plan_column *loaded_column(const struct place *place,
                                                    const struct kymo_plan_instruction *load,
                                                    const struct kymo_plan_instruction *end) {
  uint32_t slot = KYMO_PLAN_NONE;
  for (const struct kymo_plan_instruction *what = load + 1; what < end && slot == KYMO_PLAN_NONE; what++) {
    if (what->code == KYMO_DO_LOAD || what->code == KYMO_DO_TURN)
      return NULL;
    if (what->code == KYMO_DO_APPEND)
      return &place->plan->columns[what->a];
    slot = what->code == KYMO_DO_SET ? what->a : KYMO_PLAN_NONE;
  }
  return column_of(place, slot);
}

/* The field that is cut at `bits`, among the bytes at the part's start that are read at once. */
static const struct kymo_plan_column *cut_column(const struct place *place, uint64_t bits) {
  for (uint32_t i = 0; i < place->part->load_count; i++) {
    const struct kymo_plan_load *load = &place->plan->loads[place->part->first_load + i];
    if ((uint64_t)load->offset * 8 + load->bits > bits)
      return column_of(place, load->slot);
  }
  return NULL;
}

/* The last of these fields that is before `bits`. */
static const struct kymo_plan_column *last_constant(const struct place *place, uint64_t bits) {
  const struct kymo_plan_column *last = NULL;
  for (uint32_t i = 0; i < place->part->load_count; i++) {
    const struct kymo_plan_load *load = &place->plan->loads[place->part->first_load + i];
    const struct kymo_plan_column *column =
        (uint64_t)load->offset * 8 + load->bits <= bits ? column_of(place, load->slot) : NULL;
    last = column ? column : last;
  }
  return last;
}

static bool has_value(const struct kymo_plan_machine *machine, const struct kymo_plan_column *column) {
  const struct kymo_plan *plan = machine->plan;
  if (!kymo_plan_is_single(column))
    return machine->lists[column - plan->columns].count > 0;
  for (uint32_t i = 0; i < column->option_count; i++)
    if (machine->slots[plan->options[column->first_option + i].slot].sort != KYMO_SORT_ABSENT)
      return true;
  return false;
}

/* The last field that code reads before the instruction; fields of other branches have no value. */
static const struct kymo_plan_column *last_loaded(const struct kymo_plan_machine *machine,
                                                  const struct place *place,
                                                  const struct kymo_plan_instruction *at,
                                                  const struct kymo_plan_instruction *end) {
  const struct kymo_plan_instruction *first =
      place->plan->code + place->plan->blocks[place->part->block].first;
  while (at-- > first) {
    const struct kymo_plan_column *column = at->code == KYMO_DO_LOAD ? loaded_column(place, at, end) : NULL;
    if (column && has_value(machine, column))
      return column;
  }
  return NULL;
}

static void add_name(struct kymo_plan_machine *machine, const char *before, uint32_t text) {
  size_t used = strlen(machine->r_text);
  uint32_t size;
  const uint8_t *name = kymo_plan_text(machine->plan, text, &size);
  snprintf(machine->r_text + used, sizeof machine->r_text - used, "%s%.*s", before, (int)size,
           name ? (const char *)name : "");
}

/* The name of a column: "list.member" for a member of a list of structs. */
static void add_column(struct kymo_plan_machine *machine, const char *before,
                       const struct kymo_plan_column *column) {
  const struct kymo_plan_column *path[KYMO_PLAN_LISTS + 1];
  uint32_t count = 0;
  for (path[count++] = column; path[count - 1]->parent; count++)
    path[count] = &machine->plan->columns[path[count - 1]->parent - 1];
  for (; count > 0; before = ".")
    add_name(machine, before, path[--count]->name);
}

/* Adds the field, or the last one before the fault. `name`: of the kind or prefix. */
static void name_place(struct kymo_plan_machine *machine, const struct place *place, const char *what,
                       uint32_t name) {
  const struct kymo_plan *plan = machine->plan;
  const struct kymo_plan_block *block =
      place->part->block == KYMO_PLAN_NONE ? NULL : &plan->blocks[place->part->block];
  const struct kymo_plan_instruction *failed = machine->failed_at,
                                     *first = block ? plan->code + block->first : NULL;
  const struct kymo_plan_instruction *end = block ? first + block->count : NULL;
  const struct kymo_plan_column *column = NULL, *last = NULL;
  bool is_of_code = failed && block && failed >= first && failed < end;
  if (!is_of_code) {
    column = cut_column(place, kymo_plan_rest_bits(machine));
    last = column ? NULL : last_constant(place, kymo_plan_rest_bits(machine));
  } else if (failed->code == KYMO_DO_LENGTH && failed->a && machine->record_end != UINT64_MAX) {
    uint64_t begin = (machine->bit + 7) / 8 -
                     place->part->fixed; /* a wrong LENGTH is reported directly after the constant bytes */
    column = machine->record_end >= begin ? cut_column(place, (machine->record_end - begin) * 8) : NULL;
  } else {
    column = failed->code == KYMO_DO_LOAD ? loaded_column(place, failed, end) : NULL;
    last = column ? NULL : last_loaded(machine, place, failed, end);
    last = column || last ? last : last_constant(place, UINT64_MAX);
  }
  if (column) {
    add_column(machine, ", in ", column);
    return;
  }
  add_name(machine, what, name);
  if (last)
    add_column(machine, " after ", last);
}

/* Errors in fields of a definition have their place already. */
static bool is_named(const struct kymo_plan_machine *machine) {
  bool is_late = machine->failed_at && machine->failed_at->code == KYMO_DO_FIELDS;
  return !is_late && (machine->r == 1 || machine->r == 2);
}

bool kymo_plan_name_in_kind(struct kymo_plan_machine *machine, const struct kymo_plan_kind *kind) {
  const struct place place = {machine->plan, &kind->part, kind->first_column, kind->column_count};
  if (is_named(machine))
    name_place(machine, &place, ", in ", kind->name);
  return false;
}

bool kymo_plan_name_in_prefix(struct kymo_plan_machine *machine, uint32_t prefix) {
  const struct kymo_plan *plan = machine->plan;
  struct place place = {.plan = plan, .part = &plan->prefixes[prefix].part};
  for (uint32_t i = 0; i < KYMO_PLAN_COUNT(plan, KIND) && !place.column_count; i++)
    if (plan->kinds[i].prefix == prefix) {
      place.first_column = plan->kinds[i].first_column;
      place.column_count = plan->kinds[i].column_count;
    }
  if (is_named(machine))
    name_place(machine, &place, ", in the prefix ", plan->prefixes[prefix].name);
  return false;
}

void kymo_plan_describe_field(const struct kymo_plan_record *record, uint32_t field, char *out, size_t room) {
  char names[2][KYMO_PLAN_DESCRIBED] = {"", ""};
  const char *const texts[2] = {record->name, field < record->field_count ? record->fields[field].path : ""};
  for (int i = 0; i < 2; i++) {
    struct kymo_expr_value text = kymo_value_bytes((const uint8_t *)texts[i], (uint32_t)strlen(texts[i]));
    kymo_plan_describe(&text, false, names[i], sizeof names[i]);
  }
  if (field < record->field_count)
    snprintf(out, room, ", in %s of %s", names[1], names[0]);
  else
    snprintf(out, room, ", in %s", names[0]);
}
