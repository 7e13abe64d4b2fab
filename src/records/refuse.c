/* SPDX-License-Identifier: MIT */
/*
 * Which records can be moved: those with the same meaning at any place. The description shows when a record
 * needs earlier ones, or its place; then merged bytes would silently be read as something else.
 */
#include "records/described.h"
#include "base/fail.h"
#include <stdlib.h>
#include <string.h>

/* A check of the description, which fills the error once. */
struct refusal {
  struct records_description *description;
  struct kymo_error *error;
};

static bool refuse(const struct refusal *refusal, const char *what, uint32_t name) {
  uint32_t size;
  const uint8_t *text = kymo_plan_text(refusal->description->plan, name, &size);
  kymo_fail_at(
      refusal->error, KYMO_E_FORMAT, refusal->description->name, KYMO_ERROR_NO_OFFSET,
      "its records cannot be moved to another place: %s%s%.*s%s; kymo merge --to ctf1 merges the events",
      what, size ? " \"" : "", (int)size, text ? (const char *)text : "", size ? "\"" : "");
  return false;
}

/* One step with REPEAT, up to the end of the file, after single records. */
static bool check_layout(const struct refusal *refusal) {
  struct records_description *description = refusal->description;
  const struct kymo_plan *plan = description->plan;
  uint32_t count = KYMO_PLAN_COUNT(plan, STEP), repeated = 0;
  if (KYMO_PLAN_COUNT(plan, BOX) > 0)
    return refuse(refusal, "some are in containers", plan->kinds[plan->boxes[0].kind].name);
  for (uint32_t i = 0; i < count; i++) {
    const struct kymo_plan_step *step = &plan->steps[i];
    if (step->dispatch == KYMO_PLAN_NONE)
      return refuse(refusal, "they are in BLOCKS", KYMO_PLAN_NONE);
    if (step->at != KYMO_PLAN_NONE || step->size != KYMO_PLAN_NONE)
      return refuse(refusal, "the layout contains their place (AT) or size (SIZE)", KYMO_PLAN_NONE);
    if (step->times != KYMO_PLAN_NONE || (step->is_repeat && step->until != KYMO_PLAN_NONE))
      return refuse(refusal, "the layout contains their number (TIMES, UNTIL)", KYMO_PLAN_NONE);
    if (repeated)
      return refuse(refusal, "other records follow them", KYMO_PLAN_NONE);
    if (step->is_repeat)
      description->step = i;
    repeated += step->is_repeat;
  }
  return repeated || refuse(refusal, "the layout repeats none (REPEAT)", KYMO_PLAN_NONE);
}

static bool check_kinds(const struct refusal *refusal) {
  const struct records_description *description = refusal->description;
  const struct kymo_plan *plan = description->plan;
  const struct kymo_plan_dispatch *dispatch = &plan->dispatches[plan->steps[description->step].dispatch];
  for (uint32_t i = 0; i < dispatch->count; i++) {
    const struct kymo_plan_kind *kind = &plan->kinds[plan->kind_refs[dispatch->first + i].kind];
    if (kind->holds != KYMO_PLAN_NONE)
      return refuse(refusal, "other records are inside (HOLDS)", kind->name);
    if (kind->align != KYMO_PLAN_NONE)
      return refuse(refusal, "the start of a record depends on its place (ALIGN):", kind->name);
    if (kind->keep_count)
      return refuse(refusal, "other records need the fields of the last", kind->name);
    if (kind->class_ == KYMO_CLASS_SEGMENT)
      return refuse(refusal, "other records belong to the SEGMENT that begins with", kind->name);
  }
  return true;
}

/* ---- what repeated records do ---- */

/* reaches[i]: instruction i can be reached before the length is known. */
static bool *reaches_of(const struct kymo_plan *plan, struct kymo_error *error) {
  bool *reaches = calloc((size_t)KYMO_PLAN_COUNT(plan, INSTRUCTION) + 1, sizeof *reaches);
  if (!reaches)
    kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  return reaches;
}

static bool is_to_end(const struct kymo_plan *plan, const struct kymo_plan_instruction *what) {
  switch (what->code) {
  case KYMO_DO_LOAD: return plan->types[what->a].size == KYMO_SIZE_TO_END;
  case KYMO_DO_LOOP: return what->b == KYMO_LOOP_TO_END;
  default: return what->code == KYMO_DO_REMAINING || what->code == KYMO_DO_END;
  }
}

/* Sets *is_open, whether the record may have no length after the block. NULL, or what would be lost. Jumps
 * lead forward, and out of no WITHIN, which has its own end. */
static const char *look_at(const struct kymo_plan *plan, uint32_t number, bool *reaches, bool *is_open) {
  if (number == KYMO_PLAN_NONE)
    return NULL;
  const struct kymo_plan_block block = plan->blocks[number];
  unsigned depth = 0;
  memset(reaches + block.first, 0, (size_t)block.count + 1);
  reaches[block.first] = *is_open;
  for (uint32_t i = block.first; i < block.first + block.count; i++) {
    const struct kymo_plan_instruction *what = &plan->code[i];
    bool may_jump =
        what->code == KYMO_DO_JUMP_FALSE || what->code == KYMO_DO_JUMP_TRUE || what->code == KYMO_DO_LOOP;
    if (what->code == KYMO_DO_ORDER_FILE)
      return "they set the byte order of the records after them (ORDER FILE)";
    if (reaches[i] && !depth && is_to_end(plan, what))
      return "they extend to the end of the file";
    depth += (what->code == KYMO_DO_ENTER) - (what->code == KYMO_DO_LEAVE);
    if (may_jump || what->code == KYMO_DO_JUMP)
      reaches[what->a] |= reaches[i];
    if (what->code != KYMO_DO_JUMP && what->code != KYMO_DO_LENGTH)
      reaches[i + 1] |= reaches[i];
  }
  *is_open = reaches[block.first + block.count];
  return NULL;
}

/* Only for the repeated ones: a head may do this for the records after it. */
static bool check_code(const struct refusal *refusal) {
  const struct records_description *description = refusal->description;
  const struct kymo_plan *plan = description->plan;
  const struct kymo_plan_dispatch *dispatch = &plan->dispatches[plan->steps[description->step].dispatch];
  bool *reaches = reaches_of(plan, refusal->error), ok = reaches != NULL;
  for (uint32_t i = 0; i < dispatch->count && ok; i++) {
    const struct kymo_plan_kind *kind = &plan->kinds[plan->kind_refs[dispatch->first + i].kind];
    const struct kymo_plan_part *prefix =
        kind->prefix == KYMO_PLAN_NONE ? NULL : &plan->prefixes[kind->prefix].part;
    bool is_open = true;
    const char *why = prefix ? look_at(plan, prefix->block, reaches, &is_open) : NULL;
    if (!why)
      why = look_at(plan, kind->part.block, reaches, &is_open);
    ok = !why || refuse(refusal, why, KYMO_PLAN_NONE);
  }
  free(reaches);
  return ok;
}

/* ---- what any does ---- */

static const char *depends(const struct kymo_plan_instruction *what) {
  unsigned mode = what->b & KYMO_TIME_MODE;
  switch (what->code) {
  case KYMO_DO_PREVIOUS: return "they contain the length of the previous record (PREVIOUS)";
  case KYMO_DO_FILE_SIZE: return "they depend on the file's size";
  case KYMO_DO_FILE_NUMBER: return "they depend on the number of their file";
  case KYMO_DO_SYNC: return "they set clocks (SYNC)";
  case KYMO_DO_TIME:
    return mode == KYMO_TIME_DISTANCE ? "their times are distances from the previous records (DISTANCE)"
           : mode == KYMO_TIME_BASE   ? "they set the base time of the records after them (BASE)"
                                      : NULL;
  default: return NULL;
  }
}

static bool check(const struct refusal *refusal) {
  struct records_description *description = refusal->description;
  const struct kymo_plan *plan = description->plan;
  if (!check_layout(refusal) || !check_kinds(refusal) || !check_code(refusal))
    return false;
  if (KYMO_PLAN_COUNT(plan, TABLE))
    return refuse(refusal, "they need what other records write to the table", plan->tables[0].name);
  for (uint32_t i = 0; i < KYMO_PLAN_COUNT(plan, INSTRUCTION); i++) {
    const char *why = depends(&plan->code[i]);
    if (why)
      return refuse(refusal, why, KYMO_PLAN_NONE);
    description->has_low |=
        plan->code[i].code == KYMO_DO_TIME && (plan->code[i].b & KYMO_TIME_MODE) == KYMO_TIME_LOW;
  }
  if (description->has_low && description->fields[0].by != RECORDS_BY_TIME)
    return refuse(
        refusal,
        "only the lowest bits of their times are stored (LOW), so they must stay in time order (--by time)",
        KYMO_PLAN_NONE);
  return true;
}

int kymo_records_can_move(struct records_description *description, struct kymo_error *error) {
  struct refusal refusal = {description, error};
  return check(&refusal) ? KYMO_OK : error->code;
}
