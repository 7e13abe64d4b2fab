/* SPDX-License-Identifier: MIT */
/*
 * Records whose boundaries are computed instead of walked to: those of a region whose kinds all have one
 * constant size. Reading may begin at any of them if the state there is the same as after reading from the
 * start:
 *
 *   header ─► kept values, order of bytes, rates, tables ─► │ r │ r │ r │ r │ …      known at its begin, and
 *             (read in any case)                            └ the same from here to its end ┘
 *
 * So no record of the region may leave state for others: kept values, definitions, SYNC, ORDER FILE,
 * counters, losses, a clock that LOW, BASE or DISTANCE refer to, segments; nor may it use the length of the
 * previous one. And no record may end the reading or change how the next boundary is found, for a reader that
 * has not decoded it would not know: every possible error in a record has a policy that continues after it.
 */
#include "plan/search.h"
#include "plan/machine.h"

#define BITS_MAX (UINT64_C(1) << 40)

/* ---- sizes ---- */

/* The end of the items so far. */
struct extent {
  const struct kymo_plan *plan;
  uint64_t bits, length;
  bool has_length, is_loop;
};

/* The number that the instruction at `at` takes, if it is constant: nothing from `guard` on is jumped
 * over. */
static bool constant_for(const struct extent *extent, uint32_t at, uint32_t guard, uint64_t *number) {
  const struct kymo_plan_instruction *push = &extent->plan->code[at - 1];
  *number = kymo_plan_wide(push->b, push->c);
  return at > guard && push->code == KYMO_DO_NUMBER && *number <= UINT32_MAX;
}

static bool add_load(struct extent *extent, const struct kymo_plan_type *type, uint64_t size) {
  switch ((enum kymo_plan_encoding)type->encoding) {
  case KYMO_TYPE_UNSIGNED:
  case KYMO_TYPE_SIGNED:
  case KYMO_TYPE_FLOAT:
  case KYMO_TYPE_BCD:
  case KYMO_TYPE_FIXED: extent->bits += size; return true;
  case KYMO_TYPE_BYTES:
  case KYMO_TYPE_STRING:
  case KYMO_TYPE_STRING_WHOLE:
  case KYMO_TYPE_TEXT_NUMBER: extent->bits += size * 8; return size < KYMO_SIZE_TO_END;
  default: return false; /* its end depends on the bytes themselves */
  }
}

/* Items that pop a number. */
static bool add_counted(struct extent *extent, const struct kymo_plan_instruction *what, uint64_t number) {
  uint64_t bytes = (extent->bits + 7) / 8;
  switch ((enum kymo_plan_code)what->code) {
  case KYMO_DO_FILL: extent->bits += number * what->a; return true;
  case KYMO_DO_LENGTH:
    extent->has_length = true;
    extent->length = number;
    return !extent->is_loop;
  case KYMO_DO_GO: extent->bits = number * 8; return !extent->is_loop && number >= bytes;
  default: /* ALIGN */
    if (number == 0 || extent->is_loop)
      return false;
    extent->bits = (bytes + number - 1) / number * number * 8;
    return true;
  }
}

static bool add_code(struct extent *extent, uint32_t first, uint32_t end);

/* A loop with a constant number of turns, each as long as the others. */
static bool add_loop(struct extent *extent, uint32_t at, uint64_t turns) {
  const struct kymo_plan_instruction *loop = &extent->plan->code[at];
  struct extent turn = {.plan = extent->plan, .is_loop = true};
  if (loop->b != KYMO_LOOP_TIMES || turns > loop->c || !add_code(&turn, at + 1, loop->a - 1))
    return false;
  extent->bits += turns * turn.bits;
  return true;
}

static bool add_code(struct extent *extent, uint32_t first, uint32_t end) {
  const struct kymo_plan *plan = extent->plan;
  /* instructions before `guard` may be jumped over */
  for (uint32_t i = first, guard = first; i < end; i++) {
    const struct kymo_plan_instruction *what = &plan->code[i];
    const struct kymo_plan_type *type;
    uint64_t number = 0;
    bool is_constant = i > first && constant_for(extent, i, guard, &number);
    switch ((enum kymo_plan_code)what->code) {
    case KYMO_DO_JUMP:
    case KYMO_DO_JUMP_FALSE:
    case KYMO_DO_JUMP_TRUE: guard = what->a > guard ? what->a : guard; break;
    case KYMO_DO_LOAD:
      type = &plan->types[what->a];
      if (i < guard || (type->size == KYMO_SIZE_POPPED && !is_constant) ||
          !add_load(extent, type, type->size == KYMO_SIZE_POPPED ? number : type->size))
        return false;
      break;
    case KYMO_DO_FILL:
    case KYMO_DO_GO:
    case KYMO_DO_ALIGN:
    case KYMO_DO_LENGTH:
      if (!is_constant || !add_counted(extent, what, number))
        return false;
      break;
    case KYMO_DO_LOOP:
      if (!is_constant || !add_loop(extent, i, number))
        return false;
      i = what->a - 1;
      break;
    case KYMO_DO_AT:
    case KYMO_DO_BACK:
    case KYMO_DO_ENTER:
    case KYMO_DO_AFTER:
    case KYMO_DO_LEAVE: return false;
    default: break;
    }
    if (extent->bits > BITS_MAX)
      return false;
  }
  return true;
}

static bool add_part(struct extent *extent, const struct kymo_plan_part *part) {
  const struct kymo_plan_block *block =
      part->block == KYMO_PLAN_NONE ? NULL : &extent->plan->blocks[part->block];
  extent->bits += (uint64_t)part->fixed * 8;
  return !block || add_code(extent, block->first, block->first + block->count);
}

/* The size of every record of the kind; 0: it depends on the contents. */
static uint64_t bytes_of(const struct kymo_plan *plan, const struct kymo_plan_kind *kind) {
  struct extent extent = {.plan = plan};
  bool is_plain =
      kind->align == KYMO_PLAN_NONE && kind->holds == KYMO_PLAN_NONE && kind->from_table == KYMO_PLAN_NONE;
  if (!is_plain ||
      (kind->prefix != KYMO_PLAN_NONE && !add_part(&extent, &plan->prefixes[kind->prefix].part)) ||
      !add_part(&extent, &kind->part))
    return 0;
  uint64_t bytes = (extent.bits + 7) / 8;
  return !extent.has_length ? bytes : extent.length >= bytes ? extent.length : 0;
}

/* ---- state ---- */

/* Whether reading continues after a record with this error. */
static bool goes_on(const struct kymo_plan *plan, uint32_t r) {
  return kymo_plan_policy_of(plan, r) == KYMO_PLAN_POLICY_MARK;
}

/* The code of a kind, part by part. */
struct look {
  const struct kymo_plan *plan;
  const struct kymo_plan_part *part;
  bool has_acquisition;      /* the name of some TIME makes it the record's time */
  bool has_point, is_record; /* a TIME was found; the current one is the record's */
};

/* The bits of the whole number that the instruction before `at` has pushed; 0: it is a float, UINT32_MAX:
 * unknown. */
static uint32_t bits_before(const struct look *look, uint32_t at) {
  const struct kymo_plan *plan = look->plan;
  uint32_t first = plan->blocks[look->part->block].first;
  while (at > first && (plan->code[at - 1].code == KYMO_DO_SET || plan->code[at - 1].code == KYMO_DO_DUP))
    at--; /* a copy of it */
  const struct kymo_plan_instruction *what = at > first ? &plan->code[at - 1] : NULL;
  const struct kymo_plan_type *type = what && what->code == KYMO_DO_LOAD ? &plan->types[what->a] : NULL;
  if (type)
    return type->encoding <= KYMO_TYPE_SIGNED ? type->size : type->encoding == KYMO_TYPE_BCD ? 64 : 0;
  for (uint32_t i = 0; what && what->code == KYMO_DO_GET && i < look->part->load_count; i++)
    if (plan->loads[look->part->first_load + i].slot == what->a)
      return plan->loads[look->part->first_load + i].bits;
  return UINT32_MAX;
}

/* Whether all times in this unit fit int64 nanoseconds. */
static bool is_small(const struct look *look, uint32_t at, uint32_t bits) {
  const struct kymo_plan_instruction *what = &look->plan->code[at],
                                     *unit = what->b & KYMO_TIME_UNITS ? what - 1 : NULL;
  const struct kymo_plan_clock *clock = &look->plan->clocks[what->a];
  uint64_t tick_ps = kymo_plan_wide(clock->resolution_low, clock->resolution_high);
  bool is_given = !unit || (unit->code == KYMO_DO_NUMBER && (what->b & KYMO_TIME_UNITS) == KYMO_TIME_UNIT);
  uint64_t most_ps = unit ? kymo_plan_wide(unit->b, unit->c) : tick_ps;
  return bits <= 32 && is_given && clock->rate == KYMO_PLAN_NONE && most_ps <= UINT64_C(1000000000000);
}

/* Whether a time refers to no other record. A time outside int64 nanoseconds ends the reading: in a sorted
 * file such times of the sorting clock can only be at either end, and other times must be too small for
 * that. */
static bool is_own_time(struct look *look, uint32_t at) {
  const struct kymo_plan_instruction *what = &look->plan->code[at];
  uint32_t mode = what->b & KYMO_TIME_MODE, first = look->plan->blocks[look->part->block].first;
  bool has_unit = what->b & KYMO_TIME_UNITS;
  enum kymo_plan_code unit = has_unit && at > first ? (enum kymo_plan_code)what[-1].code : KYMO_DO_NUMBER;
  uint32_t bits = bits_before(look, has_unit && at > first ? at - 1 : at);
  if (mode == KYMO_TIME_POINT) {
    look->is_record = look->has_acquisition ? (what->b & KYMO_TIME_IS_ACQUISITION) != 0 : !look->has_point;
    look->has_point = true;
  }
  return !(what->b & KYMO_TIME_PER) && (unit == KYMO_DO_NUMBER || unit == KYMO_DO_KEPT) && bits > 0 &&
         (mode == KYMO_TIME_POINT || mode == KYMO_TIME_ADD || mode == KYMO_TIME_SPAN) &&
         ((look->is_record && mode != KYMO_TIME_SPAN) || is_small(look, at, bits));
}

/* Whether an instruction concerns its record alone, and reading continues after that record in any case. */
static bool is_harmless(struct look *look, uint32_t at) {
  const struct kymo_plan_instruction *what = &look->plan->code[at];
  switch ((enum kymo_plan_code)what->code) {
  case KYMO_DO_PREVIOUS:
  case KYMO_DO_END:
  case KYMO_DO_FAIL:
  case KYMO_DO_LENGTH_CHECK:
  case KYMO_DO_CHECKSUM:
  case KYMO_DO_ORDER_FILE:
  case KYMO_DO_DEFINE:
  case KYMO_DO_FORGET:
  case KYMO_DO_DEFINE_RECORD:
  case KYMO_DO_SYNC:
  case KYMO_DO_SEQUENCE:
  case KYMO_DO_LOST:
  case KYMO_DO_CONCAT: return false; /* … with a limit of its own */
  case KYMO_DO_CHECK:
  case KYMO_DO_EXPECT: return what->a >= 4 && goes_on(look->plan, what->a);
  case KYMO_DO_TIME: return is_own_time(look, at);
  default: return true; /* R4 and R10 at most; data that is read elsewhere has no constant size */
  }
}

static bool are_harmless(struct look *look, const struct kymo_plan_part *part) {
  const struct kymo_plan_block *block =
      part->block == KYMO_PLAN_NONE ? NULL : &look->plan->blocks[part->block];
  look->part = part;
  for (uint32_t i = 0; block && i < block->count; i++)
    if (!is_harmless(look, block->first + i))
      return false;
  return true;
}

static bool has_acquisition(const struct kymo_plan *plan, const struct kymo_plan_part *part) {
  const struct kymo_plan_block *block = part->block == KYMO_PLAN_NONE ? NULL : &plan->blocks[part->block];
  for (uint32_t i = 0; block && i < block->count; i++)
    if (plan->code[block->first + i].code == KYMO_DO_TIME &&
        plan->code[block->first + i].b & KYMO_TIME_IS_ACQUISITION)
      return true;
  return false;
}

static bool is_alone(const struct kymo_plan *plan, const struct kymo_plan_kind *kind) {
  static const struct kymo_plan_part none = {.block = KYMO_PLAN_NONE};
  const struct kymo_plan_part *prefix =
      kind->prefix == KYMO_PLAN_NONE ? &none : &plan->prefixes[kind->prefix].part;
  struct kymo_plan_part when = {.block = kind->when};
  struct look look = {.plan = plan,
                      .has_acquisition = has_acquisition(plan, prefix) || has_acquisition(plan, &kind->part)};
  return kind->class_ == KYMO_CLASS_EVENT && kind->keep_count == 0 && are_harmless(&look, prefix) &&
         are_harmless(&look, &when) && are_harmless(&look, &kind->part);
}

uint64_t kymo_plan_region_bytes(const struct kymo_plan *plan, uint32_t index) {
  const struct kymo_plan_dispatch *dispatch = &plan->dispatches[index];
  const struct kymo_plan_kind *last =
      &plan->kinds[plan->kind_refs[dispatch->first + dispatch->count - 1].kind];
  bool fits_any =
      dispatch->slot == KYMO_PLAN_NONE ? last->when == KYMO_PLAN_NONE : dispatch->otherwise != KYMO_PLAN_NONE;
  uint64_t bytes = 0;
  if (!fits_any || !goes_on(plan, 4) || !goes_on(plan, 5) || !goes_on(plan, 6) || !goes_on(plan, 10))
    return 0;
  for (uint32_t i = 0; i < dispatch->count; i++) {
    const struct kymo_plan_kind *kind = &plan->kinds[plan->kind_refs[dispatch->first + i].kind];
    uint64_t its = bytes_of(plan, kind);
    if (!its || (i > 0 && its != bytes) || !is_alone(plan, kind))
      return 0;
    bytes = its;
  }
  return bytes;
}
