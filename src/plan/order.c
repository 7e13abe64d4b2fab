/* SPDX-License-Identifier: MIT */
/* Byte orders of fields in the file. */
#include "plan/classes.h"
#include "plan/plan.h"
#include "plan/sections.h"
#include <string.h>

static bool is_named(const struct kymo_plan *plan, const struct kymo_plan_column *column, const char *name) {
  const struct kymo_plan_text *text = column->name == KYMO_PLAN_NONE ? NULL : &plan->texts[column->name];
  return text && text->size == strlen(name) && memcmp(plan->bytes + text->offset, name, text->size) == 0;
}

static bool fills_by_load(const struct kymo_plan *plan, const struct kymo_plan_part *part, uint32_t slot) {
  bool does = false;
  for (uint32_t i = part->first_load; i < part->first_load + part->load_count; i++)
    does |=
        plan->loads[i].slot == slot && plan->loads[i].bits == 32 && plan->loads[i].order == KYMO_PLAN_LITTLE;
  return does;
}

static bool is_little(const struct kymo_plan_type *type) {
  return type->encoding == KYMO_TYPE_UNSIGNED && type->size == 32 && type->order == KYMO_PLAN_LITTLE;
}

static bool fills_by_code(const struct kymo_plan *plan, const struct kymo_plan_part *part, uint32_t slot) {
  if (part->block == KYMO_PLAN_NONE)
    return false;
  const struct kymo_plan_block *block = &plan->blocks[part->block];
  bool does = false;
  for (uint32_t i = block->first; i + 1 < block->first + block->count; i++)
    does |= plan->code[i].code == KYMO_DO_LOAD && is_little(&plan->types[plan->code[i].a]) &&
            plan->code[i + 1].code == KYMO_DO_SET && plan->code[i + 1].a == slot;
  return does;
}

static bool fills(const struct kymo_plan *plan, const struct kymo_plan_part *part, uint32_t slot) {
  return fills_by_load(plan, part, slot) || fills_by_code(plan, part, slot);
}

bool kymo_plan_is_little(const struct kymo_plan *plan, const char *name) {
  for (uint32_t k = 0; k < KYMO_PLAN_COUNT(plan, KIND); k++) {
    const struct kymo_plan_kind *kind = &plan->kinds[k];
    for (uint32_t i = kind->first_column; i < kind->first_column + kind->column_count; i++) {
      const struct kymo_plan_column *column = &plan->columns[i];
      if (!is_named(plan, column, name) || !kymo_plan_is_single(column))
        continue;
      uint32_t slot = plan->options[column->first_option].slot;
      if (fills(plan, &kind->part, slot) ||
          (kind->prefix != KYMO_PLAN_NONE && fills(plan, &plan->prefixes[kind->prefix].part, slot)))
        return true;
    }
  }
  return false;
}
