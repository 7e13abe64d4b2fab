/* SPDX-License-Identifier: MIT */
/*
 * Finds event headers that need no program. The header program is followed as if it ran from bit 0 of an
 * aligned header; at its only SELECT, every case is followed. The numbers on a path of constant offsets
 * become a struct kymo_header_case:
 *
 *   5 bits tag · SELECT ─┬─ 0…30  27 bits time                       id = tag, time at +5, 32 bits
 *                        └─ 31    align 8, 32 bits id, 64 bits time  id at +8, time at +40, 104 bits
 */
#include "decode/load.h"
#include "decode/plan.h"
#include "source/format.h"

struct way {
  const struct kymo_program *program;
  uint64_t align; /* of the header: absolute positions are known modulo this */
  uint32_t index; /* next operation */
  uint64_t base;  /* where the current segment begins, from the header's first bit */
  struct kymo_header_case found;
  const struct kymo_op *select;
  struct {
    uint32_t slot;
    struct kymo_load load;
  } saved[4];
  unsigned saved_count;
};

/* A number that one load can fetch wherever the header is. */
static bool is_loadable(const struct way *way, const struct kymo_op *op, struct kymo_load *load) {
  uint64_t at = way->base + op->offset;
  unsigned before = (unsigned)(at & 7);
  if (way->align < 8 || op->is_reversed || op->bits == 0 || before + op->bits > 64 || at > UINT32_MAX)
    return false;
  *load = (struct kymo_load){.offset = (uint32_t)at / 8,
                             .bits = op->bits,
                             .is_big = op->is_big,
                             .shift = (uint8_t)(op->is_big ? 64 - before - op->bits : before),
                             .mask = kymo_bits_mask(op->bits)};
  return true;
}

static bool follow_role(struct way *way, const struct kymo_op *op) {
  struct kymo_load load;
  bool is_id = op->roles & KYMO_ROLE_EVENT_CLASS_ID, is_time = op->roles & KYMO_ROLE_TIMESTAMP;
  if (!is_id && !is_time)
    return true;
  if (op->is_signed || !is_loadable(way, op, &load) || (is_time && way->found.has_time))
    return false;
  if (is_id) {
    way->found.has_id = true;
    way->found.id = load;
  }
  if (is_time) {
    way->found.has_time = true;
    way->found.time = load;
  }
  return true;
}

/* Follows one path to its end, or to a SELECT. False if it is not of constant shape. */
static bool follow(struct way *way) {
  for (;;) {
    const struct kymo_op *op = &way->program->ops[way->index];
    uint64_t at = way->base + op->offset;
    if (at >= UINT32_MAX)
      return false;
    switch ((enum kymo_op_code)op->code) {
    case KYMO_OP_END: way->found.size_bits = at; return true;
    case KYMO_OP_SELECT:
      way->base = at;
      if (way->select)
        return false;
      way->select = op;
      return true;
    case KYMO_OP_GOTO:
      way->base = at;
      way->index = op->target;
      continue;
    case KYMO_OP_ALIGN:
      if (op->align > way->align)
        return false;
      way->base = kymo_round_up(at, op->align);
      break;
    case KYMO_OP_SAVE: {
      struct kymo_load load;
      if (way->saved_count == 4 || op->is_signed || !is_loadable(way, op, &load))
        return false;
      way->saved[way->saved_count].slot = op->slot;
      way->saved[way->saved_count++].load = load;
      break;
    }
    case KYMO_OP_ROLE:
      if (!follow_role(way, op))
        return false;
      break;
    default: return false;
    }
    way->index++;
  }
}

static const struct kymo_load *find_saved(const struct way *way, uint32_t slot) {
  for (unsigned i = 0; i < way->saved_count; i++)
    if (way->saved[i].slot == slot)
      return &way->saved[i].load;
  return NULL;
}

static bool follow_cases(struct kymo_header *header, const struct way *stem) {
  const struct kymo_op *select = stem->select;
  const struct kymo_load *tag = find_saved(stem, select->slot);
  if (!tag || tag->offset + 8 > KYMO_SLACK) /* it is loaded before the header is known to fit */
    return false;
  header->has_tag = true;
  header->tag = *tag;
  for (uint32_t i = 0; i < select->case_count; i++) {
    struct way way = *stem;
    way.index = select->cases[i].target;
    if (select->cases[i].is_signed || !follow(&way) || way.program->ops[way.index].code != KYMO_OP_END)
      return false;
    way.found.low = select->cases[i].low;
    way.found.high = select->cases[i].high;
    header->cases[i] = way.found;
  }
  header->case_count = select->case_count;
  return true;
}

static bool is_in_word(const struct kymo_load *load) {
  return !load->is_big && load->offset * 8 + load->shift + load->bits <= 64;
}

/* A cheaper form of the usual case: one word contains it all, and its loads are shifts of that. */
static void fold_into_word(struct kymo_header *header) {
  struct kymo_header_case *first = &header->cases[0];
  struct kymo_load *loads[] = {&header->tag, &first->id, &first->time};
  header->is_word = header->case_count > 0 && first->has_id && first->has_time;
  for (size_t i = 0; i < sizeof loads / sizeof *loads; i++)
    header->is_word = header->is_word && is_in_word(loads[i]);
  for (size_t i = 0; header->is_word && i < sizeof loads / sizeof *loads; i++) {
    loads[i]->shift = (uint8_t)(loads[i]->shift + loads[i]->offset * 8);
    loads[i]->offset = 0;
  }
}

/* The program of the header begins with an ALIGN unless nothing is aligned in it. */
int kymo_header_analyse(struct kymo_stream_plan *plan, struct kymo_arena *arena) {
  struct way way = {.program = &plan->header_program, .align = plan->header_align};
  if (!follow(&way))
    return KYMO_OK;
  size_t count = way.select && way.select->case_count > 0 ? way.select->case_count : 1;
  plan->header.cases = kymo_arena_array(arena, count, sizeof *plan->header.cases);
  if (!plan->header.cases)
    return KYMO_E_MEMORY;
  if (way.select) {
    plan->has_fast_header = follow_cases(&plan->header, &way);
  } else {
    plan->header.cases[0] = way.found;
    plan->header.case_count = 1;
    plan->has_fast_header = true;
  }
  for (uint32_t i = 0; i < plan->header.case_count; i++)
    if (plan->header.cases[i].size_bits == 0) /* lookahead relies on progress */
      plan->has_fast_header = false;
  if (plan->has_fast_header)
    fold_into_word(&plan->header);
  return KYMO_OK;
}
