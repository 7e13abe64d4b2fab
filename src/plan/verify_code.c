/* SPDX-License-Identifier: MIT */
/*
 * Verifying a block of code: one pass in which the stack's depth is known at every instruction, since jumps
 * lead forward and the depth at a jump is that at its target. Open instructions (LOOP, ENTER, AT) nest, and
 * jumps stay within them.
 */
#include "plan/verify.h"

/* The values that an instruction pops and pushes; and where it is allowed. */
struct effect {
  uint8_t pops, puts;
  bool is_item;
};
static const struct effect effects[KYMO_DO_COUNT] = {
    [KYMO_DO_NUMBER] = {0, 1, 0},
    [KYMO_DO_TEXT] = {0, 1, 0},
    [KYMO_DO_ABSENT] = {0, 1, 0},
    [KYMO_DO_GET] = {0, 1, 0},
    [KYMO_DO_SET] = {1, 0, 1},
    [KYMO_DO_CLEAR] = {0, 0, 1},
    [KYMO_DO_KEPT] = {0, 1, 0},
    [KYMO_DO_DUP] = {1, 2, 0},
    [KYMO_DO_DROP] = {1, 0, 0},
    [KYMO_DO_POSITION] = {0, 1, 0},
    [KYMO_DO_REMAINING] = {0, 1, 0},
    [KYMO_DO_HERE] = {0, 1, 0},
    [KYMO_DO_START] = {0, 1, 0},
    [KYMO_DO_END] = {0, 1, 0},
    [KYMO_DO_PREVIOUS] = {0, 1, 0},
    [KYMO_DO_FILE_SIZE] = {0, 1, 0},
    [KYMO_DO_FILE_NUMBER] = {0, 1, 0},
    [KYMO_DO_COUNT_OF] = {0, 1, 0},
    [KYMO_DO_LIST_COUNT] = {0, 1, 0},
    [KYMO_DO_SIZE_OF] = {1, 1, 0},
    [KYMO_DO_JOIN] = {2, 1, 0},
    [KYMO_DO_LOOKUP] = {1, 1, 0},
    [KYMO_DO_HAS_KEY] = {1, 1, 0},
    [KYMO_DO_KNOWN] = {1, 1, 0},
    [KYMO_DO_ADD] = {2, 1, 0},
    [KYMO_DO_SUBTRACT] = {2, 1, 0},
    [KYMO_DO_MULTIPLY] = {2, 1, 0},
    [KYMO_DO_DIVIDE] = {2, 1, 0},
    [KYMO_DO_REMAINDER] = {2, 1, 0},
    [KYMO_DO_SHIFT_LEFT] = {2, 1, 0},
    [KYMO_DO_SHIFT_RIGHT] = {2, 1, 0},
    [KYMO_DO_AND] = {2, 1, 0},
    [KYMO_DO_OR] = {2, 1, 0},
    [KYMO_DO_XOR] = {2, 1, 0},
    [KYMO_DO_NEGATE] = {1, 1, 0},
    [KYMO_DO_COMPLEMENT] = {1, 1, 0},
    [KYMO_DO_RANGE] = {1, 1, 0},
    [KYMO_DO_EQUAL] = {2, 1, 0},
    [KYMO_DO_UNEQUAL] = {2, 1, 0},
    [KYMO_DO_LESS] = {2, 1, 0},
    [KYMO_DO_LESS_EQUAL] = {2, 1, 0},
    [KYMO_DO_GREATER] = {2, 1, 0},
    [KYMO_DO_GREATER_EQUAL] = {2, 1, 0},
    [KYMO_DO_BETWEEN] = {3, 1, 0},
    [KYMO_DO_FALSE] = {1, 1, 0},
    [KYMO_DO_TRUTH] = {1, 1, 0},
    [KYMO_DO_BITS] = {3, 1, 0},
    [KYMO_DO_SIGNED] = {2, 1, 0},
    [KYMO_DO_POWER] = {2, 1, 0},
    [KYMO_DO_MINIMUM] = {2, 1, 0},
    [KYMO_DO_MAXIMUM] = {2, 1, 0},
    [KYMO_DO_DEFAULT] = {2, 1, 0},
    [KYMO_DO_PRESENT] = {1, 1, 0},
    [KYMO_DO_TEXT_AT] = {2, 1, 0},
    [KYMO_DO_ALIGN_UP] = {2, 1, 0},
    [KYMO_DO_ABSENT_IF] = {2, 1, 0},
    [KYMO_DO_JUMP] = {0, 0, 0},
    [KYMO_DO_JUMP_FALSE] = {1, 0, 0},
    [KYMO_DO_JUMP_TRUE] = {1, 0, 0},
    [KYMO_DO_LOAD] = {0, 1, 1},
    [KYMO_DO_FILL] = {1, 0, 1},
    [KYMO_DO_GO] = {1, 0, 1},
    [KYMO_DO_ALIGN] = {1, 0, 1},
    [KYMO_DO_APPEND] = {1, 0, 1},
    [KYMO_DO_CHECK] = {1, 0, 1},
    [KYMO_DO_FAIL] = {0, 0, 1},
    [KYMO_DO_AT] = {1, 0, 1},
    [KYMO_DO_BACK] = {0, 0, 1},
    [KYMO_DO_ENTER] = {1, 0, 1},
    [KYMO_DO_AFTER] = {0, 0, 1},
    [KYMO_DO_LEAVE] = {0, 0, 1},
    [KYMO_DO_LENGTH] = {1, 0, 1},
    [KYMO_DO_LENGTH_CHECK] = {1, 0, 1},
    [KYMO_DO_LOOP] = {0, 0, 1},
    [KYMO_DO_TURN] = {0, 0, 1},
    [KYMO_DO_ORDER] = {0, 0, 1},
    [KYMO_DO_ORDER_FILE] = {0, 0, 1},
    [KYMO_DO_CHECKSUM] = {4, 1, 1},
    [KYMO_DO_DEFINE] = {2, 0, 1},
    [KYMO_DO_FORGET] = {1, 0, 1},
    [KYMO_DO_DEFINE_RECORD] = {2, 0, 1},
    [KYMO_DO_SYNC] = {2, 0, 1},
    [KYMO_DO_TIME] = {1, 1, 1},
    [KYMO_DO_SEQUENCE] = {1, 0, 1},
    [KYMO_DO_LOST] = {1, 0, 1},
    [KYMO_DO_EXPECT] = {2, 0, 1},
    [KYMO_DO_ELEMENT] = {0, 0, 1},
    [KYMO_DO_NAME_OF] = {1, 1, 0},
    [KYMO_DO_CONCAT] = {2, 1, 0},
    [KYMO_DO_FIELDS] = {0, 0, 1},
    [KYMO_DO_FIELD] = {0, 1, 0},
};

/* An instruction that is open. */
struct nest {
  uint32_t code, at, id, depth;
};

struct walk {
  struct kymo_plan_verify *v;
  const struct kymo_plan_verify_code *owner;
  uint32_t at, end; /* the current instruction, and the end of the block */
  int depth;
  struct nest nests[3 * KYMO_PLAN_DEPTH];
  uint32_t nest_count, next_id, opened[3]; /* LOOP, ENTER, AT */
};

static bool fail(struct walk *walk, const char *what) {
  return kymo_plan_verify_fail(walk->v, "instruction %u: %s", walk->at, what);
}

static uint32_t nest_id(const struct walk *walk) {
  return walk->nest_count ? walk->nests[walk->nest_count - 1].id : 0;
}

/* ---- operands ---- */

static bool is_column(const struct walk *walk, uint32_t column) {
  const struct kymo_plan_kind *kind = walk->owner->kind;
  return kind && column >= kind->first_column && column - kind->first_column < kind->column_count;
}

static bool check_type(struct walk *walk, uint32_t type) {
  return type < KYMO_PLAN_COUNT(walk->v->plan, TYPE) || fail(walk, "a type that there is not");
}

static bool check_time(struct walk *walk, const struct kymo_plan_instruction *what) {
  if (what->a >= KYMO_PLAN_COUNT(walk->v->plan, CLOCK) || (what->b & KYMO_TIME_MODE) >= KYMO_TIME_MODES ||
      (what->b & KYMO_TIME_MODE) == KYMO_TIME_MODES)
    return fail(walk, "a clock or mode of TIME that there is not");
  return (what->b & KYMO_TIME_MODE) != KYMO_TIME_LOW || (what->c >= 1 && what->c <= 64) ||
         fail(walk, "LOW outside 1 to 64");
}

static bool check_sequence(struct walk *walk, const struct kymo_plan_instruction *what) {
  return (what->a < walk->v->plan->root->sequence_count && what->b >= 1 && what->b <= 64 &&
          what->c <= KYMO_PER_VALUE) ||
         fail(walk, "a counter, width or PER of SEQUENCE that there is not");
}

/* Operands that refer to something. */
static bool check_operands(struct walk *walk, const struct kymo_plan_instruction *what) {
  const struct kymo_plan *plan = walk->v->plan;
  bool ok = true;
  switch ((enum kymo_plan_code)what->code) {
  case KYMO_DO_TEXT: ok = what->a < KYMO_PLAN_COUNT(plan, TEXT); break;
  case KYMO_DO_GET:
  case KYMO_DO_SET: ok = what->a < walk->owner->slots; break;
  case KYMO_DO_CLEAR: ok = what->b <= walk->owner->slots && what->a <= walk->owner->slots - what->b; break;
  case KYMO_DO_KEPT: ok = what->a < plan->root->kept_count; break;
  case KYMO_DO_COUNT_OF:
  case KYMO_DO_LOOKUP:
  case KYMO_DO_HAS_KEY:
  case KYMO_DO_DEFINE:
  case KYMO_DO_FORGET: ok = what->a < KYMO_PLAN_COUNT(plan, TABLE); break;
  case KYMO_DO_LIST_COUNT: ok = is_column(walk, what->a); break;
  case KYMO_DO_APPEND: ok = is_column(walk, what->a) && what->b < plan->columns[what->a].option_count; break;
  case KYMO_DO_ELEMENT: ok = is_column(walk, what->a) && plan->columns[what->a].is_struct; break;
  case KYMO_DO_NAME_OF:
  case KYMO_DO_KNOWN: ok = what->a < KYMO_PLAN_COUNT(plan, TOKEN); break;
  case KYMO_DO_FIELD: ok = what->a < KYMO_PLAN_COUNT(plan, TEXT) && what->b <= KYMO_FIELD_TEXT; break;
  case KYMO_DO_FIELDS: /* once: its definition bounds what it costs, not the bytes of the file */
    ok = walk->owner->kind && walk->owner->kind->from_table != KYMO_PLAN_NONE && walk->nest_count == 0;
    break;
  case KYMO_DO_LOAD: return check_type(walk, what->a);
  case KYMO_DO_FILL: ok = (what->a == 1 || what->a == 8) && what->b <= 256; break;
  case KYMO_DO_GO:
  case KYMO_DO_ALIGN: ok = what->b <= 256; break;
  case KYMO_DO_CHECK:
  case KYMO_DO_FAIL:
    ok = (what->code == KYMO_DO_FAIL || what->c == 0 || walk->depth >= 2) && what->a >= 1 && what->a <= 10 &&
         (what->b == KYMO_PLAN_NONE || what->b < KYMO_PLAN_COUNT(plan, TEXT));
    break;
  case KYMO_DO_EXPECT: ok = what->a >= 4 && what->a <= 10 && what->b < KYMO_PLAN_COUNT(plan, TEXT); break;
  case KYMO_DO_AFTER: ok = what->a <= KYMO_METHOD_XOR && walk->opened[1] > 0; break;
  case KYMO_DO_LENGTH: ok = walk->opened[1] == 0; break;
  case KYMO_DO_ORDER:
  case KYMO_DO_ORDER_FILE: ok = what->a <= KYMO_PLAN_BIG; break;
  case KYMO_DO_CHECKSUM: ok = (what->a & 0xff) < KYMO_CHECKSUMS && (what->a & ~UINT32_C(0x1ff)) == 0; break;
  case KYMO_DO_DEFINE_RECORD: ok = what->a < KYMO_PLAN_COUNT(plan, RECIPE); break;
  case KYMO_DO_SYNC:
    ok = what->a < KYMO_PLAN_COUNT(plan, CLOCK) && what->b < KYMO_PLAN_COUNT(plan, CLOCK);
    break;
  case KYMO_DO_TIME: return check_time(walk, what);
  case KYMO_DO_SEQUENCE: return check_sequence(walk, what);
  default: break;
  }
  return ok || fail(walk, "an operand that is out of bounds");
}

/* The number of values that it pops: some depend on operands. */
static int pops_of(const struct walk *walk, const struct kymo_plan_instruction *what) {
  static const int sources[] = {[KYMO_STYLE_LETTERS] = 2, [KYMO_STYLE_TEXT] = 1, [KYMO_STYLE_LIST] = 0};
  const struct kymo_plan *plan = walk->v->plan;
  int pops = effects[what->code].pops;
  switch ((enum kymo_plan_code)what->code) {
  case KYMO_DO_LOAD: return plan->types[what->a].size == KYMO_SIZE_POPPED;
  case KYMO_DO_AFTER: return what->a == KYMO_METHOD_XOR;
  case KYMO_DO_LOOP: return what->b == KYMO_LOOP_TIMES;
  case KYMO_DO_TURN: return plan->code[what->a].b == KYMO_LOOP_UNTIL;
  case KYMO_DO_TIME: return pops + ((what->b & KYMO_TIME_UNITS) != 0) + ((what->b & KYMO_TIME_PER) != 0);
  case KYMO_DO_SEQUENCE: return pops + (what->c == KYMO_PER_VALUE);
  case KYMO_DO_DEFINE_RECORD:
    return pops + sources[plan->recipes[what->a].style] + (plan->recipes[what->a].has_length != 0);
  default: return pops;
  }
}

/* ---- instructions that open and close ---- */

static bool open_nest(struct walk *walk, uint32_t kind, uint32_t code) {
  if (walk->opened[kind] == KYMO_PLAN_DEPTH)
    return fail(walk, "nested too deep");
  walk->opened[kind]++;
  walk->nests[walk->nest_count++] = (struct nest){code, walk->at, ++walk->next_id, (uint32_t)walk->depth};
  return true;
}

static bool close_nest(struct walk *walk, uint32_t kind, uint32_t code) {
  if (walk->nest_count == 0 || walk->nests[walk->nest_count - 1].code != code)
    return fail(walk, "an end without its beginning");
  walk->opened[kind]--;
  walk->nest_count--;
  return true;
}

static bool close_loop(struct walk *walk, const struct kymo_plan_instruction *what) {
  if (!close_nest(walk, 0, KYMO_DO_LOOP))
    return false;
  const struct nest *nest = &walk->nests[walk->nest_count];
  if (nest->at != what->a || walk->v->plan->code[nest->at].a != walk->at + 1 ||
      (int)nest->depth != walk->depth)
    return fail(walk, "a TURN that does not fit its LOOP");
  return true;
}

static bool nest(struct walk *walk, const struct kymo_plan_instruction *what) {
  switch ((enum kymo_plan_code)what->code) {
  case KYMO_DO_LOOP:
    return (what->b <= KYMO_LOOP_UNTIL && what->c >= 1 && what->c <= KYMO_PLAN_REPEAT_LIMIT)
               ? open_nest(walk, 0, what->code)
               : fail(walk, "a LOOP out of bounds");
  case KYMO_DO_TURN: return close_loop(walk, what);
  case KYMO_DO_ENTER: return open_nest(walk, 1, what->code);
  case KYMO_DO_LEAVE: return close_nest(walk, 1, KYMO_DO_ENTER);
  case KYMO_DO_AT: return open_nest(walk, 2, what->code);
  case KYMO_DO_BACK: return close_nest(walk, 2, KYMO_DO_AT);
  default: return true;
  }
}

/* ---- jumps ---- */

/* Notes the stack's depth and the open instructions with which a target is reached. */
static bool jump(struct walk *walk, uint32_t target) {
  struct kymo_plan_label *label = &walk->v->labels[target];
  if (target <= walk->at || target > walk->end)
    return fail(walk, "a jump that does not lead forward in its block");
  if (label->is_set && (label->depth != walk->depth || label->nest != nest_id(walk)))
    return fail(walk, "jumps that meet at different depths");
  *label = (struct kymo_plan_label){true, walk->depth, nest_id(walk)};
  return true;
}

/* Compares the state of jumps to here with the state from the instruction before. */
static bool land(struct walk *walk, bool *is_reached) {
  struct kymo_plan_label *label = &walk->v->labels[walk->at];
  if (!label->is_set)
    return true;
  bool is_same = label->nest == nest_id(walk) && (!*is_reached || label->depth == walk->depth);
  walk->depth = label->depth;
  *is_reached = true;
  label->is_set = false;
  return is_same || fail(walk, "a jump into a loop or window, or to another depth");
}

static bool step(struct walk *walk, const struct kymo_plan_instruction *what) {
  if (what->code == 0 || what->code >= KYMO_DO_COUNT)
    return fail(walk, "a code that this kymo does not know");
  if (effects[what->code].is_item && walk->owner->is_expression)
    return fail(walk, "an item in an expression");
  if (what->code == KYMO_DO_TURN &&
      (walk->nest_count == 0 || what->a != walk->nests[walk->nest_count - 1].at || what->a >= walk->at))
    return fail(walk, "a TURN that does not fit its LOOP");
  if (!check_operands(walk, what))
    return false;
  int pops = pops_of(walk, what);
  if (walk->depth < pops)
    return fail(walk, "more values are taken than there are");
  walk->depth -= pops;
  if (!nest(walk, what))
    return false;
  walk->depth += effects[what->code].puts;
  return walk->depth <= KYMO_PLAN_STACK || fail(walk, "the stack is too deep");
}

bool kymo_plan_verify_block(struct kymo_plan_verify *v, uint32_t block,
                            const struct kymo_plan_verify_code *owner) {
  struct walk walk = {.v = v, .owner = owner};
  bool is_reached = true;
  if (block == KYMO_PLAN_NONE)
    return !owner->is_expression || kymo_plan_verify_fail(v, "an expression without code");
  if (block >= KYMO_PLAN_COUNT(v->plan, BLOCK))
    return kymo_plan_verify_fail(v, "a block that there is not");
  walk.at = v->plan->blocks[block].first;
  walk.end = walk.at + v->plan->blocks[block].count;
  if (v->spent + v->plan->blocks[block].count > v->budget)
    return kymo_plan_verify_fail(v, "code that is used too often");
  v->spent += v->plan->blocks[block].count;
  for (; walk.at < walk.end; walk.at++) {
    const struct kymo_plan_instruction *what = &v->plan->code[walk.at];
    if (!land(&walk, &is_reached) || !step(&walk, what))
      return false;
    bool is_jump =
        what->code == KYMO_DO_JUMP || what->code == KYMO_DO_JUMP_FALSE || what->code == KYMO_DO_JUMP_TRUE;
    if (is_jump && !jump(&walk, what->a))
      return false;
    if (what->code == KYMO_DO_JUMP || what->code == KYMO_DO_FAIL)
      is_reached = false;
  }
  if (!land(&walk, &is_reached))
    return false;
  if (walk.nest_count)
    return fail(&walk, "a beginning without its end");
  return !is_reached || walk.depth == owner->is_expression ||
         fail(&walk, "values are left, or missing, at the end");
}
