/* SPDX-License-Identifier: MIT */
/*
 * The fast path: a kind that is constant up to counted tails, decoded in numbers of 64 bits without the
 * machine's values.
 *
 *   code of the plan ──kymo_fast_path_new──► fast path: loads, a few plain operations ──kymo_fast_run──►
 *   numbers, places of bytes
 *
 * Before a stretch of records the fast path is specialised for it: values kept from other records, the byte
 * order and the units of times do not change there, and everything that depends on them alone is computed
 * once.
 *
 * A fast path changes no state until a record is decoded completely. In every unusual case (a check that
 * fails, an overflow, the end of the file, an absent value) it gives up, and the machine decodes the same
 * record again: only the machine handles these cases.
 */
#ifndef KYMO_PLAN_FAST_H
#define KYMO_PLAN_FAST_H

#include "plan/machine.h"

#define KYMO_FAST_SLOTS 192
#define KYMO_FAST_CLOCKS 4 /* only plans with such a TIME have a fast path */
#define KYMO_FAST_TIMES 8
#define KYMO_FAST_CONSTANTS 32
#define KYMO_FAST_REGISTERS (KYMO_FAST_SLOTS + KYMO_PLAN_STACK + KYMO_FAST_CONSTANTS) /* in this order */

enum kymo_fast_sort { KYMO_FAST_UNSET, KYMO_FAST_NUMBER, KYMO_FAST_FLOAT, KYMO_FAST_BYTES };

/* Where a slot's number is in a record, if that is constant; `bytes` 0: it is not. x: as FAST_LOAD has
 * it. */
struct kymo_fast_place {
  uint32_t offset;
  uint8_t bytes, x;
};

/* ns = (units × unit [+ the ticks before]) × tick + epoch */
struct kymo_fast_time {
  struct kymo_plan_ratio unit, tick;
  int64_t epoch_ns;
  uint64_t units_max, ticks_max; /* the machine handles more */
  uint8_t clock;
  bool is_add, is_whole; /* is_whole: nothing needs to be divided */
  bool is_record;        /* the record's time is this one */
};

struct kymo_fast_op;
struct kymo_fast_path {
  uint32_t kind;
  struct kymo_fast_op *ops;
  uint32_t op_count;
  enum kymo_fast_sort sorts[KYMO_FAST_REGISTERS];
  struct kymo_fast_place places[KYMO_FAST_SLOTS];
  bool is_read[KYMO_FAST_REGISTERS]; /* by operations */
  bool is_wanted[KYMO_FAST_SLOTS];   /* the slots that the caller needs: other slots may hold anything */
  int64_t constants[KYMO_FAST_CONSTANTS];
  uint32_t constant_count;
};

/* A running fast path: the stretch that it was specialised for, and the current record. */
struct kymo_fast_run {
  const struct kymo_fast_path *fast;
  const struct kymo_plan_machine *machine;
  const uint8_t *data;
  bool is_big;       /* the file */
  uint64_t at, end;  /* of the record, of its region: offsets in the file */
  uint64_t stop;     /* no record begins here or after it: the region's end, or a hole of the file */
  uint64_t next;     /* after the record */
  uint64_t previous; /* bytes of the previous record */
  /* the record's values by slot: numbers; bits of doubles; offsets in the file, and lengths */
  int64_t number[KYMO_FAST_REGISTERS];
  uint32_t length[KYMO_FAST_REGISTERS];
  bool has_time; /* records of this stretch have a time */
  int64_t time_ns;
  int64_t field_ticks; /* of the previous TIME */
  /* by clock: of this record, of the previous one */
  int64_t ticks[KYMO_FAST_CLOCKS], last[KYMO_FAST_CLOCKS];
  uint32_t clocks; /* bits: the clocks that have ticks */
  bool has_moved, has_last_time;
  int64_t last_time_ns; /* of the last record that had a time */
  struct kymo_fast_op *ops;
  uint32_t op_count, op_capacity;
  struct kymo_fast_time times[KYMO_FAST_TIMES];
  uint32_t time_count;
};

/* NULL: the kind is not simple enough, or out of memory. */
struct kymo_fast_path *kymo_fast_path_new(const struct kymo_plan *plan, uint32_t kind);
void kymo_fast_path_free(struct kymo_fast_path *fast);
/* The only kind of the next region, or NONE if there are several, or if notes wait or records are
 * counted. */
uint32_t kymo_fast_path_kind(const struct kymo_plan_machine *machine);

/* Specialises the fast path for the stretch at the position of the innermost region, which has only this
 * kind. `run` is zeroed, or was used before. False: the machine must decode. */
bool kymo_fast_path_begin(struct kymo_fast_run *run, const struct kymo_fast_path *fast,
                          struct kymo_plan_machine *machine);
/* Decodes the record at run->at. False: the machine must decode it. */
bool kymo_fast_path_decode(struct kymo_fast_run *run);
/* Moves after the current record. */
static inline void kymo_fast_path_accept(struct kymo_fast_run *run) {
  run->previous = run->next - run->at;
  run->at = run->next;
  run->has_moved = true;
  run->last[0] = run->ticks[0];
  for (uint32_t i = 1; run->clocks >> i; i++)
    run->last[i] = run->ticks[i];
  if (run->has_time) {
    run->has_last_time = true;
    run->last_time_ns = run->time_ns;
  }
}
/* Moves the machine after the stretch. */
void kymo_fast_path_end(const struct kymo_fast_run *run, struct kymo_plan_machine *machine);
void kymo_fast_path_release(struct kymo_fast_run *run);

#endif
