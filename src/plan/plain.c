/* SPDX-License-Identifier: MIT */
/* Deciding whether the operations of a stretch come to plain records: each register gets a meaning. */
#include "plan/plain.h"
#include "plan/fast_op.h"
#include <string.h>

/* What a register holds. */
enum sort {
  SORT_UNSET,  /* what it held before the stretch */
  SORT_OTHER,  /* what decides nothing and is not wanted: a time */
  SORT_NUMBER, /* `low` */
  SORT_FLOAT,  /* the bits of `place` */
  SORT_TERM,   /* by × the number at `place` + add */
  SORT_RANGE,  /* whether the number at `place` is from `low` to `high` */
  SORT_BYTES,  /* `bytes` */
};
struct meaning {
  struct kymo_fast_place place;
  int64_t by, add, low, high;
  struct kymo_fast_bytes bytes;
};

struct plain_making {
  struct kymo_fast_run *run;
  struct kymo_fast_plain *plain;
  uint64_t at;   /* the position in the record, as far as it is constant */
  uint64_t part; /* begin of the part that loads are in */
  bool is_after_tail, has_size;
  uint8_t clock, time_count; /* of the time so far; the numbers that it is the sum of */
  uint8_t sorts[KYMO_FAST_REGISTERS];
  struct meaning meanings[KYMO_FAST_REGISTERS]; /* of those with a sort */
};

static enum sort sort_of(const struct plain_making *making, uint16_t at) {
  return (enum sort)making->sorts[at];
}

static const struct meaning *get(const struct plain_making *making, uint16_t at) {
  return &making->meanings[at];
}

static void set(struct plain_making *making, uint16_t at, enum sort sort, struct meaning meaning) {
  making->sorts[at] = (uint8_t)sort;
  making->meanings[at] = meaning;
}

static void know_constants(struct plain_making *making) {
  for (uint16_t i = 0; i < making->run->fast->constant_count; i++)
    set(making, (uint16_t)(KYMO_FAST_SLOTS + KYMO_PLAN_STACK + i), SORT_NUMBER,
        (struct meaning){.low = making->run->fast->constants[i]});
}

/* The part for a number that no slot wants yet, or a new one; NULL: there are too many. */
static struct kymo_fast_part *part_of(struct plain_making *making, const struct kymo_fast_place *place,
                                      bool is_float) {
  struct kymo_fast_plain *plain = making->plain;
  uint64_t mask = UINT64_MAX >> (64 - 8 * place->bytes);
  bool is_signed = place->x & 1, is_big = place->x & 2;
  uint64_t sign = is_signed && !is_float ? (mask >> 1) + 1 : 0;
  for (uint32_t i = 0; i < plain->part_count; i++) {
    struct kymo_fast_part *part = &plain->parts[i];
    if (part->offset == place->offset && part->mask == mask && part->sign == sign && part->is_big == is_big &&
        part->slot == KYMO_FAST_NO_SLOT)
      return part;
  }
  if (plain->part_count == KYMO_FAST_PARTS)
    return NULL;
  struct kymo_fast_part *part = &plain->parts[plain->part_count++];
  bool is_limited = place->bytes == 8 && !is_signed && !is_float; /* those from 2^63 on are the machine's */
  *part = (struct kymo_fast_part){.mask = mask,
                                  .sign = sign,
                                  .low = is_limited ? 0 : INT64_MIN,
                                  .span = is_limited ? INT64_MAX : UINT64_MAX,
                                  .offset = place->offset,
                                  .slot = KYMO_FAST_NO_SLOT,
                                  .shift = (uint8_t)(64 - 8 * place->bytes),
                                  .is_big = is_big};
  return part;
}

static bool add_limit(struct plain_making *making, const struct kymo_fast_place *place, int64_t low,
                      int64_t high) {
  struct kymo_fast_part *part = part_of(making, place, false);
  if (!part)
    return false;
  int64_t end = (int64_t)((uint64_t)part->low + part->span);
  low = low > part->low ? low : part->low;
  high = high < end ? high : end;
  part->low = low;
  part->span = (uint64_t)high - (uint64_t)low;
  return low <= high;
}

static bool load(struct plain_making *making, const struct kymo_fast_op *op, uint64_t offset) {
  struct kymo_fast_place place = {(uint32_t)offset, (uint8_t)op->a, op->x};
  bool is_float = op->code == FAST_TAKE && op->b;
  set(making, op->to, is_float ? SORT_FLOAT : SORT_TERM, (struct meaning){.place = place, .by = 1});
  return offset <= UINT32_MAX / 2 && (op->a < 8 || is_float || part_of(making, &place, false));
}

/* The position moves after constant bytes. */
static bool move(struct plain_making *making, int64_t bytes) {
  if (bytes < 0 || bytes > UINT32_MAX / 4 || making->is_after_tail || making->at > UINT32_MAX / 4)
    return false;
  making->at += (uint64_t)bytes;
  return true;
}

static void set_bytes(struct plain_making *making, const struct kymo_fast_op *op, uint32_t length,
                      bool is_tail) {
  struct kymo_fast_bytes bytes = {
      .offset = (uint32_t)making->at, .length = length, .is_tail = is_tail, .is_cut = op->x};
  set(making, op->to, SORT_BYTES, (struct meaning){.bytes = bytes});
}

static bool take_bytes(struct plain_making *making, const struct kymo_fast_op *op, int64_t bytes) {
  set_bytes(making, op, (uint32_t)bytes, false);
  return move(making, bytes);
}

/* What a term adds to the size of records. */
static bool add_size(struct plain_making *making, const struct meaning *term) {
  struct kymo_fast_part *part = part_of(making, &term->place, false);
  if (!part)
    return false;
  making->has_size = true;
  part->size_by += term->by;
  making->plain->size_add = (uint64_t)term->add;
  return part->mask < UINT64_MAX || add_limit(making, &term->place, 0, UINT32_MAX);
}

/* As many bytes as a register says: the record ends after them. */
static bool take_counted(struct plain_making *making, const struct kymo_fast_op *op, bool is_kept) {
  const struct meaning *count = get(making, op->a);
  if (sort_of(making, op->a) == SORT_NUMBER)
    return is_kept ? take_bytes(making, op, count->low) : move(making, count->low);
  if (sort_of(making, op->a) != SORT_TERM || making->is_after_tail || making->has_size ||
      !add_size(making, count))
    return false;
  making->plain->size_add += making->at;
  making->is_after_tail = true;
  if (is_kept)
    set_bytes(making, op, 0, true);
  return true;
}

/* All up to the end of a record whose size is known. */
static bool take_rest(struct plain_making *making, const struct kymo_fast_op *op) {
  bool ok = making->has_size && !making->is_after_tail;
  making->is_after_tail = true;
  set_bytes(making, op, 0, true);
  return ok;
}

static bool set_size(struct plain_making *making, const struct kymo_fast_op *op) {
  enum sort sort = sort_of(making, op->a);
  bool was_known = making->has_size;
  if (sort == SORT_TERM)
    return !was_known && add_size(making, get(making, op->a));
  making->has_size = true;
  making->plain->size_add = sort == SORT_NUMBER ? (uint64_t)get(making, op->a)->low : 0;
  return !was_known && sort == SORT_NUMBER;
}

static uint8_t turned(uint8_t code) {
  switch ((enum kymo_fast_code)code) {
  case FAST_LESS: return FAST_GREATER;
  case FAST_LESS_EQUAL: return FAST_GREATER_EQUAL;
  case FAST_GREATER: return FAST_LESS;
  case FAST_GREATER_EQUAL: return FAST_LESS_EQUAL;
  default: return code;
  }
}

/* A comparison of a number of the record with a known one is a range. */
static bool compare(struct plain_making *making, const struct kymo_fast_op *op) {
  bool is_turned = sort_of(making, op->a) == SORT_NUMBER;
  uint16_t term = is_turned ? op->b : op->a, number = is_turned ? op->a : op->b;
  uint8_t code = is_turned ? turned(op->code) : op->code;
  if (sort_of(making, term) != SORT_TERM || sort_of(making, number) != SORT_NUMBER)
    return false;
  struct meaning range = *get(making, term);
  bool is_same = range.by == 1 && range.add == 0;
  int64_t limit = get(making, number)->low;
  range.low = range.high = limit;
  if (code == FAST_LESS || code == FAST_LESS_EQUAL) {
    range.low = INT64_MIN;
    range.high -= code == FAST_LESS;
  } else if (code != FAST_EQUAL) {
    range.low += code == FAST_GREATER;
    range.high = INT64_MAX;
  }
  set(making, op->to, SORT_RANGE, range);
  return is_same;
}

/* Sums and products with known numbers, as long as nothing can overflow. */
static bool calculate(struct plain_making *making, const struct kymo_fast_op *op) {
  enum { MOST = 1 << 20 };
  bool is_turned = sort_of(making, op->a) == SORT_NUMBER && op->code != FAST_SUBTRACT;
  uint16_t from = is_turned ? op->b : op->a, by = is_turned ? op->a : op->b;
  if (sort_of(making, from) != SORT_TERM || sort_of(making, by) != SORT_NUMBER)
    return false;
  struct meaning term = *get(making, from);
  int64_t number = get(making, by)->low;
  if (term.place.bytes == 8 || number > MOST || number < -MOST)
    return false;
  if (op->code == FAST_MULTIPLY) {
    term.by *= number;
    term.add *= number;
  } else {
    term.add += op->code == FAST_ADD ? number : -number;
  }
  set(making, op->to, SORT_TERM, term);
  return term.by <= MOST && term.by >= -MOST && term.add <= MOST && term.add >= -MOST;
}

/* Each number that is added to the time is at most 2^62. */
#define TIME_MAX 3

/* The record's time: units of one clock that are added. */
static bool set_time(struct plain_making *making, const struct kymo_fast_op *op) {
  struct kymo_fast_plain *plain = making->plain;
  const struct kymo_fast_time *time = &making->run->times[op->number];
  struct meaning units = *get(making, op->a);
  int64_t by;
  if (sort_of(making, op->a) != SORT_TERM || units.by != 1 || units.add || !time->is_record ||
      time->is_add != (making->time_count > 0) || making->time_count == TIME_MAX ||
      (time->is_add && time->clock != making->clock) ||
      __builtin_mul_overflow((int64_t)time->unit.over, (int64_t)time->tick.over, &by))
    return false;
  plain->epoch_ns = time->epoch_ns;
  plain->ns_max = time->ticks_max * time->tick.over;
  making->clock = time->clock;
  making->time_count++;
  set(making, op->to, SORT_OTHER, units);
  struct kymo_fast_part *part = part_of(making, &units.place, false);
  if (!part || part->time_by || !add_limit(making, &units.place, 0, (int64_t)(plain->ns_max / (uint64_t)by)))
    return false;
  part->time_by = by;
  return true;
}

static bool check(struct plain_making *making, const struct kymo_fast_op *op) {
  const struct meaning *range = get(making, op->a);
  return sort_of(making, op->a) == SORT_RANGE && add_limit(making, &range->place, range->low, range->high);
}

static bool copy(struct plain_making *making, const struct kymo_fast_op *op) {
  enum sort sort = sort_of(making, op->a);
  if (sort == SORT_UNSET)
    return false;
  set(making, op->to, sort, *get(making, op->a));
  return true;
}

static bool mean(struct plain_making *making, const struct kymo_fast_op *op) {
  switch ((enum kymo_fast_code)op->code) {
  case FAST_LOAD: return load(making, op, making->part + op->b);
  case FAST_TAKE: return load(making, op, making->at) && move(making, op->a);
  case FAST_FIXED: making->part = making->at; return move(making, op->number);
  case FAST_BYTES: return take_bytes(making, op, op->number);
  case FAST_BYTES_OF: return take_counted(making, op, true);
  case FAST_SKIP_OF: return take_counted(making, op, false);
  case FAST_BYTES_TO_END: return take_rest(making, op);
  case FAST_LENGTH: return set_size(making, op);
  case FAST_NUMBER: set(making, op->to, SORT_NUMBER, (struct meaning){.low = op->number}); return true;
  case FAST_COPY: return copy(making, op);
  case FAST_EQUAL:
  case FAST_LESS:
  case FAST_LESS_EQUAL:
  case FAST_GREATER:
  case FAST_GREATER_EQUAL: return compare(making, op);
  case FAST_ADD:
  case FAST_SUBTRACT:
  case FAST_MULTIPLY: return calculate(making, op);
  case FAST_TRUTH: return sort_of(making, op->a) == SORT_RANGE && copy(making, op);
  case FAST_CHECK: return check(making, op);
  case FAST_TIME_WHOLE: return set_time(making, op);
  default: return false;
  }
}

static bool add_bytes(struct plain_making *making, uint16_t slot) {
  struct kymo_fast_plain *plain = making->plain;
  if (plain->bytes_count == KYMO_FAST_PARTS)
    return false;
  struct kymo_fast_bytes *bytes = &plain->bytes[plain->bytes_count++];
  *bytes = get(making, slot)->bytes;
  bytes->slot = slot;
  return true;
}

/* A slot that the caller needs; known numbers are there already. */
static bool add_value(struct plain_making *making, uint16_t slot) {
  const struct meaning *meaning = get(making, slot);
  enum sort sort = sort_of(making, slot);
  if (sort == SORT_UNSET || sort == SORT_NUMBER)
    return true;
  if (sort == SORT_BYTES)
    return add_bytes(making, slot);
  bool is_float = sort == SORT_FLOAT;
  if (!is_float && (sort != SORT_TERM || meaning->by != 1 || meaning->add))
    return false;
  struct kymo_fast_part *part = part_of(making, &meaning->place, is_float);
  if (!part)
    return false;
  part->slot = slot;
  making->run->length[slot] = meaning->place.bytes; /* which float it is */
  return true;
}

void kymo_fast_plain_make(struct kymo_fast_run *run) {
  struct plain_making making;
  struct kymo_fast_plain *plain = making.plain = &run->plain;
  const struct kymo_fast_op *op = run->ops;
  plain->is = false;
  plain->part_count = plain->bytes_count = 0;
  plain->size_add = plain->ns_max = 0;
  plain->epoch_ns = 0;
  making.run = run;
  making.at = making.part = 0;
  making.is_after_tail = making.has_size = false;
  making.time_count = 0;
  memset(making.sorts, SORT_UNSET, sizeof making.sorts);
  know_constants(&making);
  while (op->code != FAST_END && mean(&making, op))
    op++;
  bool ok = op->code == FAST_END;
  for (uint16_t slot = 0; ok && slot < KYMO_FAST_SLOTS; slot++)
    ok = !run->fast->is_wanted[slot] || add_value(&making, slot);
  plain->fixed = making.at;
  if (!making.has_size)
    plain->size_add = making.at;
  plain->is = ok;
}

uint32_t kymo_fast_cut(const uint8_t *bytes, uint32_t length) {
  return (uint32_t)strnlen((const char *)bytes, length);
}
