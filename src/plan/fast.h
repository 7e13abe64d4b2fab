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

/* A number at a constant place of each record, its limits, and what it adds to time and size. */
struct kymo_fast_part {
  uint64_t mask, sign; /* sign: its highest bit, or 0 */
  int64_t low;         /* low <= number <= low + span */
  uint64_t span;
  int64_t time_by, size_by;
  uint32_t offset;
  uint16_t slot; /* that wants it */
  uint8_t shift; /* of a big-endian number, read as 8 bytes */
  bool is_big;
};
/* A slot that wants `length` bytes at that offset; is_tail: all up to the record's end. */
struct kymo_fast_bytes {
  uint32_t offset, length;
  uint16_t slot;
  bool is_tail, is_cut; /* is_cut: up to a zero */
};

#define KYMO_FAST_PARTS 32
#define KYMO_FAST_NO_SLOT KYMO_FAST_REGISTERS

/* What the operations of a stretch come to, if its records are plain (plain.h). */
struct kymo_fast_plain {
  bool is;
  uint8_t part_count, bytes_count;
  uint64_t fixed;    /* bytes that each record has */
  uint64_t size_add; /* to what the parts add to the size */
  uint64_t ns_max;   /* of what they add to the time */
  int64_t epoch_ns;
  struct kymo_fast_part parts[KYMO_FAST_PARTS];
  struct kymo_fast_bytes bytes[KYMO_FAST_PARTS];
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
  bool is_big;      /* the file */
  uint64_t at, end; /* of the record, of its region: offsets in the file */
  uint64_t stop;    /* no record begins here or after it: the region's end, or a hole of the file */
  uint64_t next;    /* after the record */
  uint64_t last;    /* the last record that was taken; UINT64_MAX: none */
  /* the record's values by slot: numbers; bits of doubles; offsets in the file, and lengths */
  int64_t number[KYMO_FAST_REGISTERS + 1];
  uint32_t length[KYMO_FAST_REGISTERS];
  bool has_time; /* records of this stretch have a time */
  int64_t time_ns;
  int64_t field_ticks;             /* of the previous TIME */
  int64_t ticks[KYMO_FAST_CLOCKS]; /* of this record, by clock */
  uint32_t clocks;                 /* bits: the clocks that have ticks */
  int64_t last_time_ns;            /* of the last record with a time before the stretch; INT64_MIN: none */
  struct kymo_fast_op *ops;
  uint32_t op_count, op_capacity;
  struct kymo_fast_time times[KYMO_FAST_TIMES];
  uint32_t time_count;
  struct kymo_fast_plain plain;
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
  run->last = run->at;
  run->at = run->next;
}
/* Moves the machine after the stretch. The current record is undefined then. */
void kymo_fast_path_end(struct kymo_fast_run *run, struct kymo_plan_machine *machine);
void kymo_fast_path_release(struct kymo_fast_run *run);

#endif
