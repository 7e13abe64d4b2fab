/* SPDX-License-Identifier: MIT */
/*
 * Time: fields become ticks of a clock, exact in 128 bits; ticks become nanoseconds, rounded down. A tick
 * lasts `tick.over` / `tick.under` picoseconds.
 */
#include "base/hash.h"
#include "base/list.h"
#include "plan/machine.h"
#include <math.h>
#include <stdlib.h>

#define SECOND_PS UINT64_C(1000000000000)
#define DAY_NS INT64_C(86400000000000)
#define PER_MAX 65536

static uint64_t gcd(uint64_t a, uint64_t b) {
  while (b) {
    uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

static bool too_large(struct kymo_plan_machine *machine) {
  return kymo_plan_raise(machine, 9, kymo_plan_offset(machine), "a time beyond the range of its clock");
}

/* a × b / (c × d), where the products may not fit before they are reduced. */
static bool make_ratio(uint64_t a, uint64_t b, uint64_t c, uint64_t d, struct kymo_plan_ratio *out) {
  uint64_t *over[2] = {&a, &b}, *under[2] = {&c, &d};
  for (unsigned i = 0; i < 4; i++) {
    uint64_t *x = over[i / 2], *y = under[i % 2], common = gcd(*x, *y);
    if (common > 1) {
      *x /= common;
      *y /= common;
    }
  }
  return !__builtin_mul_overflow(a, b, &out->over) && !__builtin_mul_overflow(c, d, &out->under) &&
         out->under;
}

/* floor(x × ratio) */
static bool scale(struct kymo_wide x, struct kymo_plan_ratio by, struct kymo_wide *out) {
  int64_t small;
  if (by.under == 1 && kymo_wide_fits(x) && (x.high < 0 || x.low <= INT64_MAX) && by.over <= INT64_MAX &&
      !__builtin_mul_overflow((int64_t)x.low, (int64_t)by.over, &small)) {
    *out = kymo_wide_of_i64(small);
    return true;
  }
  struct kymo_wide product, rest;
  if (!kymo_wide_multiply(x, kymo_wide_of_u64(by.over), &product))
    return false;
  if (by.under == 1) {
    *out = product;
    return true;
  }
  if (!kymo_wide_divide(product, kymo_wide_of_u64(by.under), out, &rest))
    return false;
  return rest.high >= 0 || kymo_wide_subtract(*out, kymo_wide_of_u64(1), out);
}

/* The length of a tick: constant, or by a RATE that is read at first use. */
static bool learn_tick(struct kymo_plan_machine *machine, uint32_t clock) {
  const struct kymo_plan_clock *what = &machine->plan->clocks[clock];
  struct kymo_plan_tick tick = {.ps = {kymo_plan_wide(what->resolution_low, what->resolution_high), 1}};
  if (what->rate != KYMO_PLAN_NONE) {
    if (!kymo_plan_count_of(machine, what->rate, "the rate of a clock", &tick.rate))
      return false;
    if (tick.rate == 0)
      return kymo_plan_raise(machine, 10, kymo_plan_offset(machine), "a clock with a rate of 0");
    if (!make_ratio(SECOND_PS, 1, tick.rate, 1, &tick.ps))
      return too_large(machine);
  }
  if (!make_ratio(tick.ps.over, 1, tick.ps.under, 1000, &tick.ns))
    return too_large(machine);
  machine->ticks[clock] = tick;
  return true;
}

static const struct kymo_plan_tick *tick_of(struct kymo_plan_machine *machine, uint32_t clock) {
  const struct kymo_plan_tick *tick = &machine->ticks[clock];
  return tick->ps.under || learn_tick(machine, clock) ? tick : NULL;
}

static struct kymo_wide epoch_of(const struct kymo_plan_clock *clock) {
  struct kymo_wide epoch = kymo_wide_of_i64((int64_t)kymo_plan_wide(clock->epoch_low, clock->epoch_high)),
                   days;
  if (!clock->has_epoch)
    return kymo_wide_of_i64(0);
  bool ok =
      kymo_wide_multiply(kymo_wide_of_i64((int32_t)clock->epoch_days), kymo_wide_of_i64(DAY_NS), &days) &&
      kymo_wide_add(epoch, days, &epoch);
  (void)ok; /* 96 bits are enough */
  return epoch;
}

static bool to_ns(struct kymo_plan_machine *machine, struct kymo_wide ticks,
                  const struct kymo_plan_tick *tick, struct kymo_wide epoch, int64_t *ns) {
  struct kymo_wide wide;
  bool ok = scale(ticks, tick->ns, &wide) && kymo_wide_add(wide, epoch, &wide) &&
            wide.high == ((int64_t)wide.low < 0 ? -1 : 0);
  *ns = ok ? (int64_t)wide.low : 0;
  return ok || too_large(machine);
}

/* ---- a field in ticks ---- */

/* The ticks of one unit of the field. */
static bool unit_of(struct kymo_plan_machine *machine, uint32_t clock, uint32_t mode,
                    const struct kymo_expr_value *unit, struct kymo_plan_ratio *out) {
  uint32_t kind = mode & KYMO_TIME_UNITS;
  uint64_t amount;
  const struct kymo_plan_tick *tick = &machine->ticks[clock];
  *out = (struct kymo_plan_ratio){1, 1};
  if (!kind)
    return true;
  if (!kymo_plan_as_count(machine, unit, kind == KYMO_TIME_RATE ? "a RATE" : "a UNIT", &amount))
    return false;
  if (amount == 0)
    return kymo_plan_raise(machine, 10, kymo_plan_offset(machine), "a time in units of 0");
  struct kymo_plan_unit *late = &machine->units[KYMO_PLAN_UNIT_PLACE(amount, clock, kind)];
  if (late->ticks.under && late->clock == clock && late->kind == kind && late->amount == amount) {
    *out = late->ticks;
    return true;
  }
  bool ok = kind == KYMO_TIME_TICKS  ? make_ratio(amount, 1, 1, 1, out)
            : kind == KYMO_TIME_UNIT ? make_ratio(amount, tick->ps.under, tick->ps.over, 1, out)
                                     : make_ratio(SECOND_PS, tick->ps.under, tick->ps.over, amount, out);
  if (ok)
    *late = (struct kymo_plan_unit){clock, kind, amount, *out};
  return ok || too_large(machine);
}

static bool to_ticks(struct kymo_plan_machine *machine, const struct kymo_expr_value *x,
                     struct kymo_plan_ratio unit, struct kymo_wide *out) {
  if (x->sort == KYMO_SORT_NUMBER)
    return scale(x->n, unit, out) || too_large(machine);
  if (x->sort != KYMO_SORT_FLOAT)
    return kymo_plan_raise(machine, 10, kymo_plan_offset(machine), "a time that is no number");
  long double ticks = floorl((long double)x->f * (long double)unit.over / (long double)unit.under);
  if (!(ticks > -9.2e18L && ticks < 9.2e18L))
    return too_large(machine);
  *out = kymo_wide_of_i64((int64_t)ticks);
  return true;
}

/* ---- state ---- */

static uint32_t per_hash(const struct kymo_plan_per_state *per) {
  struct kymo_keyed hash;
  kymo_keyed_begin(&hash);
  kymo_keyed_add(&hash, (uint64_t)per->index << 1 | per->is_counter);
  kymo_keyed_add(&hash, per->per_low);
  kymo_keyed_add(&hash, (uint64_t)per->per_high);
  return (uint32_t)kymo_keyed_end(&hash);
}

static struct kymo_plan_per_state *find_per(const struct kymo_plan_state *state, uint32_t hash,
                                            const struct kymo_plan_per_state *wanted) {
  uintptr_t item;
  for (uint32_t at = hash; (item = kymo_hash_table_next(&state->per_table, hash, &at));) {
    struct kymo_plan_per_state *per = &state->per[item - 1];
    if (per->index == wanted->index && per->is_counter == wanted->is_counter &&
        per->per_low == wanted->per_low && per->per_high == wanted->per_high)
      return per;
  }
  return NULL;
}

/* The state for a value of PER; NULL after raising. An absent value has a separate state. */
static struct kymo_plan_per_state *per_of(struct kymo_plan_machine *machine, uint32_t index, bool is_counter,
                                          const struct kymo_expr_value *per) {
  struct kymo_plan_state *state = &machine->state;
  struct kymo_plan_per_state wanted = {.index = index, .is_counter = is_counter, .per_high = INT64_MAX};
  if (per->sort == KYMO_SORT_NUMBER) {
    wanted.per_low = per->n.low;
    wanted.per_high = per->n.high;
  } else if (per->sort == KYMO_SORT_BYTES) {
    wanted.per_low = kymo_keyed_text((const char *)per->p, per->size);
    wanted.per_high = INT64_MAX - 1;
  }
  uint32_t hash = per_hash(&wanted);
  struct kymo_plan_per_state *known = find_per(state, hash, &wanted);
  if (known)
    return known;
  if (state->per_count == PER_MAX) {
    kymo_plan_raise(machine, 9, kymo_plan_offset(machine), "PER with more than %d values", PER_MAX);
    return NULL;
  }
  if (!KYMO_LIST_ROOM(state->per, state->per_capacity, state->per_count) ||
      !kymo_hash_table_add(&state->per_table, NULL, hash, state->per_count + 1)) {
    machine->failed = true;
    return NULL;
  }
  state->per[state->per_count] = wanted;
  return &state->per[state->per_count++];
}

struct kymo_plan_clock_state *kymo_plan_latest_of(struct kymo_plan_machine *machine,
                                                  const struct kymo_expr_value *per) {
  struct kymo_plan_per_state *state =
      per_of(machine, KYMO_PLAN_COUNT(machine->plan, CLOCK), false, per); /* after all clocks */
  return state ? &state->clock : NULL;
}

/* ---- TIME ---- */

struct field {
  uint32_t clock, mode, low;
  const struct kymo_plan_tick *tick;
  struct kymo_plan_ratio unit;
  struct kymo_plan_clock_state *state;
};

/* The smallest value that is not before last − SLACK and equal to `ticks` modulo 2^low units. */
static bool extend(struct kymo_plan_machine *machine, const struct field *field, struct kymo_wide *ticks) {
  const struct kymo_plan_clock *clock = &machine->plan->clocks[field->clock];
  struct kymo_wide from = field->state->last, gap, period, turns, rest;
  if (!field->state->has_last)
    return true;
  if (clock->slack != KYMO_PLAN_NONE) {
    uint64_t slack;
    struct kymo_wide in_ticks;
    struct kymo_plan_ratio by = {1, 1};
    if (!kymo_plan_count_of(machine, clock->slack, "the SLACK of a clock", &slack))
      return false;
    if (!clock->slack_in_ticks && !make_ratio(field->tick->ps.under, 1, field->tick->ps.over, 1, &by))
      return too_large(machine);
    if (!scale(kymo_wide_of_u64(slack), by, &in_ticks) || !kymo_wide_subtract(from, in_ticks, &from))
      return too_large(machine);
  }
  if (!kymo_wide_shift_left(kymo_wide_of_u64(1), field->low, &period) ||
      !scale(period, field->unit, &period) || kymo_wide_is_zero(period) ||
      !kymo_wide_subtract(from, *ticks, &gap) || !kymo_wide_divide(gap, period, &turns, &rest))
    return too_large(machine);
  if (gap.high >= 0 && !kymo_wide_is_zero(rest) && !kymo_wide_add(turns, kymo_wide_of_u64(1), &turns))
    return too_large(machine);
  return (kymo_wide_multiply(turns, period, &gap) && kymo_wide_add(*ticks, gap, ticks)) || too_large(machine);
}

static void set_last(struct kymo_plan_machine *machine, struct kymo_plan_clock_state *state,
                     struct kymo_wide ticks) {
  if (!machine->is_dry)
    *state = (struct kymo_plan_clock_state){ticks, true};
}

/* The record's time is ACQUISITION, else its first of these. */
static bool note_record_time(struct kymo_plan_machine *machine, const struct field *field,
                             bool is_acquisition, struct kymo_wide ticks, int64_t ns) {
  bool is_first = !machine->has_time || (is_acquisition && !machine->time_is_acquisition);
  if (!is_first)
    return false;
  machine->has_time = true;
  machine->time_is_acquisition = is_acquisition;
  machine->time_ticks = ticks;
  machine->time_clock = field->clock;
  machine->time_ns = ns;
  return true;
}

static bool add(struct kymo_plan_machine *machine, struct field *field, struct kymo_wide ticks, int64_t *ns) {
  if (!kymo_wide_add(machine->field_ticks, ticks, &ticks) ||
      !to_ns(machine, ticks, field->tick, epoch_of(&machine->plan->clocks[field->clock]), ns))
    return machine->r ? false : too_large(machine);
  set_last(machine, field->state, ticks);
  machine->field_ticks = ticks;
  if (machine->field_is_record) {
    machine->time_ticks = ticks;
    machine->time_ns = *ns;
  }
  return true;
}

static bool take_time(struct kymo_plan_machine *machine, struct field *field, struct kymo_wide ticks,
                      bool is_acquisition, int64_t *ns) {
  if (field->mode == KYMO_TIME_SPAN)
    return to_ns(machine, ticks, field->tick, kymo_wide_of_i64(0), ns);
  if (field->mode == KYMO_TIME_ADD)
    return add(machine, field, ticks, ns);
  if (field->mode == KYMO_TIME_LOW && !extend(machine, field, &ticks))
    return false;
  if (field->mode == KYMO_TIME_DISTANCE && !kymo_wide_add(ticks, field->state->last, &ticks))
    return too_large(machine);
  if (!to_ns(machine, ticks, field->tick, epoch_of(&machine->plan->clocks[field->clock]), ns))
    return false;
  if (field->mode != KYMO_TIME_UNTIL)
    set_last(machine, field->state, ticks);
  machine->field_ticks = ticks;
  bool is_point = field->mode != KYMO_TIME_UNTIL && field->mode != KYMO_TIME_BASE;
  machine->field_is_record = is_point && note_record_time(machine, field, is_acquisition, ticks, *ns);
  return true;
}

bool kymo_plan_time(struct kymo_plan_machine *machine, const struct kymo_plan_instruction *what,
                    struct kymo_expr_value *operands, struct kymo_expr_value *out) {
  struct field field = {.clock = what->a, .mode = what->b & KYMO_TIME_MODE, .low = what->c};
  struct kymo_wide ticks;
  int64_t ns;
  if (operands->sort == KYMO_SORT_ABSENT) {
    *out = *operands;
    return true;
  }
  field.state = &machine->state.clocks[field.clock];
  if (what->b & KYMO_TIME_PER) {
    struct kymo_plan_per_state *per =
        per_of(machine, field.clock, false, operands + 1 + (what->b & KYMO_TIME_UNITS ? 1 : 0));
    if (!per)
      return false;
    field.state = &per->clock;
  }
  field.tick = tick_of(machine, field.clock);
  if (!field.tick || !unit_of(machine, field.clock, what->b, operands + 1, &field.unit) ||
      !to_ticks(machine, operands, field.unit, &ticks) ||
      !take_time(machine, &field, ticks, (what->b & KYMO_TIME_IS_ACQUISITION) != 0, &ns))
    return false;
  *out = kymo_value_number(kymo_wide_of_i64(ns));
  return true;
}

bool kymo_plan_sync(struct kymo_plan_machine *machine, const struct kymo_plan_instruction *what,
                    const struct kymo_expr_value *operands) {
  bool are_numbers = operands[0].sort == KYMO_SORT_NUMBER && operands[1].sort == KYMO_SORT_NUMBER;
  if (are_numbers && !machine->is_dry)
    machine->state.syncs[what->a] = (struct kymo_plan_sync){true, what->b, operands[0].n, operands[1].n};
  return true;
}

/* ---- SEQUENCE ---- */

bool kymo_plan_sequence(struct kymo_plan_machine *machine, const struct kymo_plan_instruction *what,
                        const struct kymo_expr_value *operands) {
  const struct kymo_plan_machine *keeper = what->c == KYMO_PER_TRACE ? machine->first : machine;
  struct kymo_plan_counter *counter = &keeper->state.counters[what->a];
  if (operands->sort != KYMO_SORT_NUMBER)
    return true;
  uint64_t mask = UINT64_MAX >> (64 - what->b), number = operands->n.low & mask;
  machine->number = (struct kymo_plan_number){number, what->b};
  if (machine->is_dry)
    return true;
  if (what->c == KYMO_PER_VALUE) {
    struct kymo_plan_per_state *per = per_of(machine, what->a, true, operands + 1);
    if (!per)
      return false;
    counter = &per->counter;
  }
  struct kymo_plan_counter last = *counter;
  *counter = (struct kymo_plan_counter){number, true};
  uint64_t gap = (number - last.last - 1) & mask;
  if (!last.has_last || gap == 0)
    return true;
  if (gap <= mask / 2) {
    kymo_plan_note_loss(machine, gap);
    return kymo_plan_mark(machine, 6, "%llu record%s missing before number %llu", (unsigned long long)gap,
                          gap == 1 ? " is" : "s are", (unsigned long long)number);
  }
  return kymo_plan_mark(machine, 6, "expected a number after %llu, found %llu", (unsigned long long)last.last,
                        (unsigned long long)number);
}
