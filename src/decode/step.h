/* SPDX-License-Identifier: MIT */
/*
 * Finding the events of a packet: the hot path of all reading. The fast path handles nearly all events, in
 * registers: a header by loads, a body of constant size or with strings and counted sequences. It leaves all
 * else, damage too, to the slow step.
 */
#ifndef KYMO_DECODE_STEP_H
#define KYMO_DECODE_STEP_H

#include "base/likely.h"
#include "decode/decoder.h"
#include "decode/load.h"
#include "decode/text.h"

enum kymo_step { KYMO_STEP_EVENT, KYMO_STEP_END, KYMO_STEP_ERROR };

/* Any event at decoder->next_bits, and all its possible decode errors: decoder->run has them. The time in
 * nanoseconds is left out. (slow.c) */
enum kymo_step kymo_step_slow(struct kymo_decoder *decoder, struct kymo_found *found);

static inline uint64_t kymo_load(const uint8_t *header, const struct kymo_load *load) {
  uint64_t word = kymo_load_le64(header + load->offset);
  if (KYMO_UNLIKELY(load->is_big))
    word = __builtin_bswap64(word);
  return word >> load->shift & load->mask;
}

/* The data of a packet for the fast path. */
struct kymo_sight {
  const uint8_t *data;
  uint64_t end;
  uint64_t *slots;
};

/* After the elements of any sequence that begins at `from`; UINT64_MAX if there is no end. */
static inline uint64_t kymo_sequence_end(const struct kymo_op *op, uint64_t from, uint64_t count) {
  uint64_t total;
  if (op->count || op->bits || __builtin_mul_overflow(count, op->stride, &total) || total > KYMO_MAX_BITS)
    return UINT64_MAX;
  return kymo_round_up(from, op->align) + total - (count ? op->stride - op->size : 0);
}

/* Continues with the operation `op`, which acts at bit `from`, with the first four operations; stops at any
 * other and at data that does not fit. Returns the end of the event, or UINT64_MAX. */
static inline __attribute__((always_inline)) uint64_t
kymo_program_end(const struct kymo_op *op, const struct kymo_sight *sight, uint64_t from) {
  for (; op->code != KYMO_OP_END; from += (++op)->offset) {
    if (KYMO_UNLIKELY(from > sight->end))
      return UINT64_MAX;
    if (op->code == KYMO_OP_STRING) {
      const uint8_t *after = kymo_string_end(sight->data + from / 8, sight->data + sight->end / 8);
      from = (uint64_t)(after - sight->data) * 8;
    } else if (op->code == KYMO_OP_COUNTED) {
      uint64_t at = from - op->count_distance;
      uint64_t word = kymo_load_le64(sight->data + at / 8);
      if (KYMO_UNLIKELY(op->is_big))
        word = kymo_fast_be(sight->data, at, op->bits);
      else
        word = word >> at % 8 & (UINT64_MAX >> (64 - op->bits));
      sight->slots[op->slot] = word;
      from = kymo_round_up(from, op->align) + word * op->stride - (word ? op->stride - op->size : 0);
    } else if (op->code == KYMO_OP_SEQUENCE) {
      from = kymo_sequence_end(op, from, sight->slots[op->slot]);
    } else {
      return UINT64_MAX;
    }
    if (KYMO_UNLIKELY(from > sight->end))
      return UINT64_MAX;
  }
  return from;
}

/* The end of an event whose lead acts at bit `from`, which is not after the packet's content. Most are plain:
 * then no branch depends on the class, and the next event's place is known soon. May be after the content. */
static inline __attribute__((always_inline)) uint64_t
kymo_lead_end(const struct kymo_lead *lead, const struct kymo_sight *sight, uint64_t from) {
  const uint8_t *bytes = sight->data + from / 8;
  uint64_t count = kymo_load_le64(bytes - lead->count_distance) & lead->count_mask;
  uint64_t text = kymo_text_glance(bytes);
  bool is_long = (text & lead->text_mask) == KYMO_TEXT_GLANCE;
  if (KYMO_UNLIKELY(!lead->is_plain | is_long | ((from & 7) != 0)))
    return kymo_program_end(lead->op, sight, from);
  return from + count * lead->stride_bits + (text * 8 & lead->text_mask) + lead->tail_bits;
}

#endif
