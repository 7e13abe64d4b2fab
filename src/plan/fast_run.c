/* SPDX-License-Identifier: MIT */
/* Running the fast path: it is specialised for a stretch, then run for each record. */
#include "base/list.h"
#include "plan/fast_op.h"
#include "plan/plain.h"
#include <stdlib.h>

/* ---- numbers ---- */

static inline int64_t load_number(const uint8_t *from, unsigned bytes, bool is_big, bool is_signed) {
  switch (bytes) {
  case 1: return is_signed ? (int8_t)*from : *from;
  case 2: {
    uint16_t raw = is_big ? kymo_load_be16(from) : kymo_load_le16(from);
    return is_signed ? (int16_t)raw : raw;
  }
  case 4: {
    uint32_t raw = is_big ? kymo_load_be32(from) : kymo_load_le32(from);
    return is_signed ? (int32_t)raw : (int64_t)raw;
  }
  default: return (int64_t)(is_big ? kymo_load_be64(from) : kymo_load_le64(from));
  }
}

/* An unsigned number of 64 bits must fit int64_t here. */
static inline bool load(struct kymo_fast_run *run, const struct kymo_fast_op *op, const uint8_t *from,
                        bool is_float) {
  int64_t number = load_number(from, op->a, op->x & 2, op->x & 1);
  run->number[op->to] = number;
  run->length[op->to] = op->a; /* which float it is */
  return op->a < 8 || op->x & 1 || is_float || number >= 0;
}

static inline __attribute__((always_inline)) bool compute(const struct kymo_fast_op *op, int64_t *v) {
  int64_t a = v[op->a], b = v[op->b];
  switch ((enum kymo_fast_code)op->code) {
  case FAST_EQUAL: v[op->to] = a == b; return true;
  case FAST_UNEQUAL: v[op->to] = a != b; return true;
  case FAST_LESS: v[op->to] = a < b; return true;
  case FAST_LESS_EQUAL: v[op->to] = a <= b; return true;
  case FAST_GREATER: v[op->to] = a > b; return true;
  case FAST_GREATER_EQUAL: v[op->to] = a >= b; return true;
  case FAST_ADD: return !__builtin_add_overflow(a, b, &v[op->to]);
  case FAST_SUBTRACT: return !__builtin_sub_overflow(a, b, &v[op->to]);
  case FAST_MULTIPLY: return !__builtin_mul_overflow(a, b, &v[op->to]);
  case FAST_AND: v[op->to] = a & b; return true;
  case FAST_OR: v[op->to] = a | b; return true;
  case FAST_XOR: v[op->to] = a ^ b; return true;
  case FAST_FALSE: v[op->to] = !a; return true;
  default: v[op->to] = a != 0; return true;
  }
}

static bool get_kept(struct kymo_fast_run *run, const struct kymo_fast_op *op) {
  const struct kymo_expr_value *kept = &run->machine->state.kept[op->number];
  run->number[op->to] = (int64_t)kept->n.low;
  return kept->sort == KYMO_SORT_NUMBER && kept->n.high == ((int64_t)kept->n.low < 0 ? -1 : 0);
}

/* ---- times ---- */

#define MOST (UINT64_C(1) << 62)     /* sums of two such numbers fit */
#define IS_RECORD (INT64_C(1) << 32) /* among the flags of TIME: the record's time is this one */

/* floor(x × by) for an x that is not negative and small enough. The division is the slowest step: most
 * ratios are whole. */
static inline int64_t scale(int64_t x, const struct kymo_plan_ratio *by, bool is_whole) {
  int64_t product = x * (int64_t)by->over;
  return is_whole ? product : product / (int64_t)by->under;
}

static bool is_small(const struct kymo_plan_ratio *ratio) {
  return ratio->over <= INT64_MAX && ratio->under <= INT64_MAX && ratio->under > 0;
}

/* The TIME with this unit. False: the machine has not seen the unit yet, or numbers of 64 bits are too
 * small. */
static bool make_time(const struct kymo_fast_run *run, const struct kymo_fast_op *op, uint64_t amount,
                      struct kymo_fast_time *time) {
  const struct kymo_plan_machine *machine = run->machine;
  const struct kymo_plan_clock *clock = &machine->plan->clocks[op->x];
  uint32_t kind = op->number & KYMO_TIME_UNITS;
  *time = (struct kymo_fast_time){.unit = {1, 1},
                                  .tick = machine->ticks[op->x].ns,
                                  .clock = op->x,
                                  .is_add = (op->number & KYMO_TIME_MODE) == KYMO_TIME_ADD,
                                  .is_record = op->number & IS_RECORD};
  if (clock->has_epoch)
    time->epoch_ns = (int64_t)kymo_plan_wide(clock->epoch_low, clock->epoch_high);
  if (kind) {
    const struct kymo_plan_unit *unit = &machine->units[KYMO_PLAN_UNIT_PLACE(amount, op->x, kind)];
    if (unit->clock != op->x || unit->kind != kind || unit->amount != amount)
      return false;
    time->unit = unit->ticks;
  }
  time->is_whole = time->unit.under == 1 && time->tick.under == 1;
  if (!is_small(&time->unit) || !is_small(&time->tick) || time->unit.over == 0 || time->tick.over == 0)
    return false;
  time->units_max = MOST / time->unit.over;
  time->ticks_max = (MOST - (time->epoch_ns > 0 ? (uint64_t)time->epoch_ns : 0)) / time->tick.over;
  return time->epoch_ns < (int64_t)MOST;
}

static inline __attribute__((always_inline)) bool set_time(struct kymo_fast_run *run,
                                                           const struct kymo_fast_op *op,
                                                           const struct kymo_fast_time *time, bool is_whole) {
  uint64_t units = (uint64_t)run->number[op->a];
  if (units > time->units_max)
    return false;
  int64_t ticks = scale((int64_t)units, &time->unit, is_whole) + (time->is_add ? run->field_ticks : 0);
  if ((uint64_t)ticks > time->ticks_max)
    return false;
  int64_t ns = scale(ticks, &time->tick, is_whole) + time->epoch_ns;
  if (time->is_record)
    run->time_ns = ns;
  run->field_ticks = run->ticks[time->clock] = ticks;
  run->number[op->to] = ns;
  return true;
}

/* ---- specialising it for a stretch ---- */

/* The registers that have the same value in all records of the stretch (known), and those that emitted
 * operations set. */
struct folding {
  struct kymo_fast_run *run;
  bool known[KYMO_FAST_REGISTERS], written[KYMO_FAST_REGISTERS];
  uint32_t *places;                /* by operation of the fast path: its place in the output */
  uint32_t guard;                  /* operations of the fast path before it may be jumped over */
  bool has_acquisition, is_record; /* of the TIMEs so far; the last one is the record's */
};

static bool put(struct folding *folding, struct kymo_fast_op op) {
  struct kymo_fast_run *run = folding->run;
  if (run->op_count == run->op_capacity)
    return false;
  run->ops[run->op_count++] = op;
  return true;
}

/* Before operations read a register it must hold its known value. */
static bool settle(struct folding *folding, uint16_t from) {
  if (!folding->known[from] || from >= KYMO_FAST_SLOTS + KYMO_PLAN_STACK)
    return true;
  folding->known[from] = false;
  folding->written[from] = true;
  return put(folding,
             (struct kymo_fast_op){.code = FAST_NUMBER, .to = from, .number = folding->run->number[from]});
}

static bool settle_all(struct folding *folding) {
  bool ok = true;
  for (uint16_t i = 0; ok && i < KYMO_FAST_SLOTS + KYMO_PLAN_STACK; i++)
    ok = settle(folding, i);
  return ok;
}

/* The register's number is known now; where an earlier operation sets the register, another one must set it
 * again. */
static bool know(struct folding *folding, uint16_t to) {
  folding->known[to] = true;
  return !folding->written[to] || settle(folding, to);
}

static bool put_setting(struct folding *folding, struct kymo_fast_op op) {
  folding->known[op.to] = false;
  folding->written[op.to] = true;
  return put(folding, op);
}

/* The record's time is ACQUISITION, else its first. */
static bool is_record_time(struct folding *folding, const struct kymo_fast_op *op) {
  bool is_acquisition = op->number & KYMO_TIME_IS_ACQUISITION;
  if ((op->number & KYMO_TIME_MODE) == KYMO_TIME_ADD)
    return folding->is_record;
  folding->is_record = !folding->run->has_time || (is_acquisition && !folding->has_acquisition);
  folding->has_acquisition |= is_acquisition;
  folding->run->has_time = true;
  return folding->is_record;
}

static bool fold_time(struct folding *folding, const struct kymo_fast_op *op) {
  struct kymo_fast_run *run = folding->run;
  bool has_unit = op->number & KYMO_TIME_UNITS;
  struct kymo_fast_op time = *op;
  time.number |= is_record_time(folding, op) ? IS_RECORD : 0;
  run->clocks |= 1u << op->x;
  if (!settle(folding, op->a))
    return false;
  if (has_unit && !folding->known[op->b])
    return put_setting(folding, time);
  if (run->time_count == KYMO_FAST_TIMES ||
      !make_time(run, &time, (uint64_t)run->number[op->b], &run->times[run->time_count]))
    return false;
  time.code = run->times[run->time_count].is_whole ? FAST_TIME_WHOLE : FAST_TIME_OF;
  time.number = run->time_count++;
  return put_setting(folding, time);
}

static bool fold_load(struct folding *folding, const struct kymo_fast_op *op) {
  const struct kymo_fast_path *fast = folding->run->fast;
  struct kymo_fast_op load = *op;
  if (op->code == FAST_LOAD && !fast->is_read[op->to] && !fast->is_wanted[op->to])
    return true;
  bool is_big = op->x & 2 || (op->x & 4 && folding->run->is_big);
  load.x = (uint8_t)((op->x & 1) | (is_big ? 2 : 0));
  return put_setting(folding, load);
}

/* Operations on two registers (or one: b is 0 then). */
static bool fold_compute(struct folding *folding, const struct kymo_fast_op *op) {
  bool is_single = op->code == FAST_FALSE || op->code == FAST_TRUTH;
  if (folding->known[op->a] && (is_single || folding->known[op->b]))
    return compute(op, folding->run->number) && know(folding, op->to);
  return settle(folding, op->a) && (is_single || settle(folding, op->b)) && put_setting(folding, *op);
}

/* An unconditional jump, or one with a known condition, needs no operation. *next: the operation of the fast
 * path that follows. */
static bool fold_jump(struct folding *folding, const struct kymo_fast_op *op, uint32_t *next) {
  bool is_known = op->code == FAST_JUMP || folding->known[op->a];
  bool is_true = is_known && (op->code == FAST_JUMP || folding->run->number[op->a] != 0);
  if (is_known) {
    *next = is_true != (op->code == FAST_JUMP_FALSE) ? op->b : *next;
    return true;
  }
  folding->guard = op->b;
  return settle_all(folding) && put(folding, *op);
}

/* Operations that may be jumped over are copied unchanged. */
static bool fold_guarded(struct folding *folding, const struct kymo_fast_op *op) {
  bool is_jump = op->code >= FAST_JUMP && op->code <= FAST_JUMP_TRUE;
  if (is_jump && op->b > folding->guard)
    folding->guard = op->b;
  return is_jump ? put(folding, *op) : put_setting(folding, *op);
}

static bool fold(struct folding *folding, const struct kymo_fast_op *op, uint32_t *next) {
  struct kymo_fast_run *run = folding->run;
  switch ((enum kymo_fast_code)op->code) {
  case FAST_LOAD:
  case FAST_TAKE: return fold_load(folding, op);
  case FAST_BYTES:
  case FAST_BYTES_TO_END: return put_setting(folding, *op);
  case FAST_BYTES_OF: return settle(folding, op->a) && put_setting(folding, *op);
  case FAST_FIXED: return op->number == 0 || put(folding, *op);
  case FAST_SKIP_OF:
  case FAST_LENGTH: return settle(folding, op->a) && put(folding, *op);
  case FAST_NUMBER: run->number[op->to] = op->number; return know(folding, op->to);
  case FAST_KEPT: return get_kept(run, op) && know(folding, op->to);
  case FAST_COPY:
    if (!folding->known[op->a])
      return put_setting(folding, *op);
    run->number[op->to] = run->number[op->a];
    return know(folding, op->to);
  case FAST_JUMP:
  case FAST_JUMP_FALSE:
  case FAST_JUMP_TRUE: return fold_jump(folding, op, next);
  case FAST_CHECK: return folding->known[op->a] ? run->number[op->a] != 0 : put(folding, *op);
  case FAST_TIME: return fold_time(folding, op);
  default: return fold_compute(folding, op);
  }
}

static bool fold_all(struct folding *folding) {
  struct kymo_fast_run *run = folding->run;
  const struct kymo_fast_path *fast = run->fast;
  for (uint32_t i = KYMO_FAST_SLOTS + KYMO_PLAN_STACK; i < KYMO_FAST_REGISTERS; i++)
    folding->known[i] = true;
  for (uint32_t i = 0; i < fast->op_count;) {
    uint32_t now = i++;
    folding->places[now] = run->op_count;
    if (!(now < folding->guard ? fold_guarded(folding, &fast->ops[now]) : fold(folding, &fast->ops[now], &i)))
      return false;
  }
  folding->places[fast->op_count] = run->op_count;
  for (uint32_t i = 0; i < run->op_count; i++)
    if (run->ops[i].code >= FAST_JUMP && run->ops[i].code <= FAST_JUMP_TRUE)
      run->ops[i].b = (uint16_t)folding->places[run->ops[i].b];
  return put(folding, (struct kymo_fast_op){.code = FAST_END});
}

static bool make_room(struct kymo_fast_run *run, const struct kymo_fast_path *fast) {
  if (run->fast == fast)
    return true;
  uint32_t wanted = 4 * fast->op_count + KYMO_FAST_REGISTERS;
  if (!KYMO_LIST_RESERVE(run->ops, run->op_capacity, wanted))
    return false;
  run->fast = fast;
  memcpy(run->number + KYMO_FAST_SLOTS + KYMO_PLAN_STACK, fast->constants, sizeof fast->constants);
  return true;
}

bool kymo_fast_path_begin(struct kymo_fast_run *run, const struct kymo_fast_path *fast,
                          struct kymo_plan_machine *machine) {
  const struct kymo_plan_state *state = &machine->state;
  const struct kymo_plan_frame *frame = &state->frames[state->depth - 1];
  struct folding folding = {.run = run};
  if (!make_room(run, fast))
    return false;
  run->machine = machine;
  run->data = machine->data;
  run->is_big = state->order == KYMO_PLAN_BIG;
  run->at = frame->at;
  run->end = frame->end;
  uint64_t hole = kymo_plan_hole(machine, frame->at);
  run->stop = hole < frame->end ? hole : frame->end;
  run->last_time_ns = state->has_last_time ? state->last_time_ns : INT64_MIN;
  run->clocks = run->op_count = run->time_count = 0;
  run->last = UINT64_MAX;
  run->has_time = false;
  folding.places = calloc((size_t)fast->op_count + 1, sizeof *folding.places);
  bool ok = folding.places && fold_all(&folding);
  free(folding.places);
  if (ok)
    kymo_fast_plain_make(run);
  return ok;
}

/* The last record that was taken is decoded again, since only its clocks and its time are state. */
void kymo_fast_path_end(struct kymo_fast_run *run, struct kymo_plan_machine *machine) {
  struct kymo_plan_state *state = &machine->state;
  struct kymo_plan_frame *frame = &state->frames[state->depth - 1];
  uint64_t after = run->at;
  if (run->last == UINT64_MAX)
    return;
  machine->start = run->last;
  frame->previous = after - run->last;
  frame->at = after;
  run->at = run->last;
  if (run->clocks && kymo_fast_path_decode(run)) {
    for (uint32_t i = 0; run->clocks >> i; i++)
      if (run->clocks >> i & 1)
        state->clocks[i] = (struct kymo_plan_clock_state){kymo_wide_of_i64(run->ticks[i]), true};
    state->has_last_time |= run->has_time;
    state->last_time_ns = run->has_time ? run->time_ns : state->last_time_ns;
  }
  run->at = after;
}

void kymo_fast_path_release(struct kymo_fast_run *run) { free(run->ops); }

/* ---- a record ---- */

static inline bool take_bytes(struct kymo_fast_run *run, const struct kymo_fast_op *op, int64_t size,
                              uint64_t *at, uint64_t end) {
  if (size < 0 || (uint64_t)size > end - *at || size > UINT32_MAX / 2)
    return false;
  const uint8_t *bytes = run->data + *at, *zero = op->x && size ? memchr(bytes, 0, (size_t)size) : NULL;
  run->number[op->to] = (int64_t)*at;
  run->length[op->to] = zero ? (uint32_t)(zero - bytes) : (uint32_t)size;
  *at += (uint64_t)size;
  return true;
}

static bool set_any_time(struct kymo_fast_run *run, const struct kymo_fast_op *op) {
  struct kymo_fast_time time;
  return make_time(run, op, (uint64_t)run->number[op->b], &time) && set_time(run, op, &time, false);
}

static inline bool skip(uint64_t *at, uint64_t end, int64_t size) {
  bool ok = size >= 0 && (uint64_t)size <= end - *at;
  *at += ok ? (uint64_t)size : 0;
  return ok;
}

static inline bool take(struct kymo_fast_run *run, const struct kymo_fast_op *op, uint64_t *at,
                        uint64_t end) {
  uint64_t from = *at;
  return skip(at, end, op->a) && load(run, op, run->data + from, op->b);
}

/* The record's end, given by its length. */
static inline bool set_length(const struct kymo_fast_run *run, uint64_t at, uint64_t *end, int64_t size) {
  if (size < 0 || (uint64_t)size > *end - run->at || (uint64_t)size < at - run->at)
    return false;
  *end = run->at + (uint64_t)size;
  return true;
}

/* Operations that few records need. */
static __attribute__((noinline)) bool operate(struct kymo_fast_run *run, const struct kymo_fast_op *op,
                                              const uint8_t *part) {
  int64_t *v = run->number;
  switch ((enum kymo_fast_code)op->code) {
  case FAST_LOAD: return load(run, op, part + op->b, false);
  case FAST_COPY:
    v[op->to] = v[op->a];
    run->length[op->to] = run->length[op->a];
    return true;
  case FAST_KEPT: return get_kept(run, op);
  case FAST_TIME: return set_any_time(run, op);
  default: return compute(op, v);
  }
}

/* Each operation jumps to the next one directly: a central switch would take as long as the operations. */
bool kymo_fast_path_decode(struct kymo_fast_run *run) {
  static const void *const ways[] = {
      [FAST_LOAD] = &&other,
      [FAST_TAKE] = &&take,
      [FAST_BYTES] = &&bytes,
      [FAST_BYTES_OF] = &&bytes_of,
      [FAST_BYTES_TO_END] = &&bytes_to_end,
      [FAST_FIXED] = &&fixed,
      [FAST_SKIP_OF] = &&skip_of,
      [FAST_LENGTH] = &&length,
      [FAST_NUMBER] = &&number,
      [FAST_COPY] = &&other,
      [FAST_KEPT] = &&other,
      [FAST_EQUAL] = &&other,
      [FAST_UNEQUAL] = &&other,
      [FAST_LESS] = &&other,
      [FAST_LESS_EQUAL] = &&other,
      [FAST_GREATER] = &&other,
      [FAST_GREATER_EQUAL] = &&other,
      [FAST_ADD] = &&other,
      [FAST_SUBTRACT] = &&other,
      [FAST_MULTIPLY] = &&other,
      [FAST_AND] = &&other,
      [FAST_OR] = &&other,
      [FAST_XOR] = &&other,
      [FAST_FALSE] = &&other,
      [FAST_TRUTH] = &&other,
      [FAST_JUMP] = &&jump,
      [FAST_JUMP_FALSE] = &&jump_false,
      [FAST_JUMP_TRUE] = &&jump_true,
      [FAST_CHECK] = &&check,
      [FAST_TIME] = &&other,
      [FAST_TIME_OF] = &&time_of,
      [FAST_TIME_WHOLE] = &&time_whole,
      [FAST_END] = &&end,
  };
#define NEXT goto *ways[(++op)->code]
#define NEXT_IF(ok) \
  if (!(ok))        \
    return false;   \
  NEXT
  const uint8_t *part = run->data + run->at;
  const struct kymo_fast_op *op = run->ops - 1;
  uint64_t at = run->at, limit = run->end;
  int64_t *v = run->number;
  bool has_length = false;
  run->field_ticks = 0;
  NEXT_IF(at < run->stop);
number:
  v[op->to] = op->number;
  NEXT;
fixed:
  part = run->data + at;
  NEXT_IF(skip(&at, limit, op->number));
take:
  NEXT_IF(take(run, op, &at, limit));
bytes:
  NEXT_IF(take_bytes(run, op, op->number, &at, limit));
bytes_of:
  NEXT_IF(take_bytes(run, op, v[op->a], &at, limit));
bytes_to_end:
  NEXT_IF(take_bytes(run, op, (int64_t)(limit - at), &at, limit));
skip_of:
  NEXT_IF(skip(&at, limit, v[op->a]));
length:
  has_length = true;
  NEXT_IF(set_length(run, at, &limit, v[op->a]));
check:
  NEXT_IF(v[op->a] != 0);
time_of:
  NEXT_IF(set_time(run, op, &run->times[op->number], false));
time_whole:
  NEXT_IF(set_time(run, op, &run->times[op->number], true));
other:
  NEXT_IF(operate(run, op, part));
jump:
  op = run->ops + op->b - 1;
  NEXT;
jump_false:
  op = v[op->a] ? op : run->ops + op->b - 1;
  NEXT;
jump_true:
  op = v[op->a] ? run->ops + op->b - 1 : op;
  NEXT;
end:
  run->next = has_length ? limit : at;
  return run->next != run->at;
#undef NEXT_IF
#undef NEXT
}
