/* SPDX-License-Identifier: MIT */
/*
 * Plain records: all that decides about them is in numbers at constant places, and at most the last part
 * differs in size.
 *
 *   0       offset          fixed                size
 *   ├───────┬─number─┬──────┬────── tail ────────┤
 *
 * A stretch whose operations (fast_op.h) come to no more than this is decoded without them: each number is
 * loaded once, compared with its limits, and added to time and size as often as these contain it. What is
 * outside the limits is left to the machine. Loads are of 8 bytes: KYMO_PLAN_SLACK readable bytes follow a
 * file.
 */
#ifndef KYMO_PLAN_PLAIN_H
#define KYMO_PLAN_PLAIN_H

#include "base/bytes.h"
#include "base/likely.h"
#include "plan/fast.h"

/* Decides whether the records of the stretch are plain, and sets run->plain. (plain.c) */
void kymo_fast_plain_make(struct kymo_fast_run *run);
/* The bytes before the first zero. */
uint32_t kymo_fast_cut(const uint8_t *bytes, uint32_t length);

static inline __attribute__((always_inline)) int64_t kymo_fast_part_load(const struct kymo_fast_part *part,
                                                                         const uint8_t *record) {
  uint64_t word = kymo_load_le64(record + part->offset);
  if (part->is_big)
    word = __builtin_bswap64(word) >> part->shift;
  return (int64_t)(((word & part->mask) ^ part->sign) - part->sign);
}

/* The places of bytes that are wanted. */
static inline __attribute__((always_inline)) void
kymo_fast_plain_bytes(struct kymo_fast_run *run, const uint8_t *record, uint64_t size) {
  const struct kymo_fast_bytes *bytes = run->plain.bytes;
  for (unsigned left = run->plain.bytes_count; left > 0; left--, bytes++) {
    uint32_t length = bytes->is_tail ? (uint32_t)size - bytes->offset : bytes->length;
    if (KYMO_UNLIKELY(bytes->is_cut))
      length = kymo_fast_cut(record + bytes->offset, length);
    run->number[bytes->slot] = (int64_t)(run->at + bytes->offset);
    run->length[bytes->slot] = length;
  }
}

/* As kymo_fast_path_decode, for plain records; but run->ticks stay as they are. */
static inline __attribute__((always_inline)) bool kymo_fast_plain_decode(struct kymo_fast_run *run) {
  const struct kymo_fast_plain *plain = &run->plain;
  const uint8_t *record = run->data + run->at;
  uint64_t left = run->end - run->at, size = plain->size_add, ns = 0;
  bool is_outside = false;
  if (KYMO_UNLIKELY(run->at >= run->stop || plain->fixed > left))
    return false;
  for (const struct kymo_fast_part *part = plain->parts, *end = part + plain->part_count; part < end;
       part++) {
    int64_t number = kymo_fast_part_load(part, record);
    run->number[part->slot] = number;
    is_outside |= (uint64_t)number - (uint64_t)part->low > part->span;
    ns += (uint64_t)number * (uint64_t)part->time_by;
    size += (uint64_t)number * (uint64_t)part->size_by;
  }
  if (KYMO_UNLIKELY(is_outside | (size < plain->fixed) | (size > left) | (size > UINT32_MAX / 2) |
                    (ns > plain->ns_max)))
    return false;
  run->time_ns = (int64_t)ns + plain->epoch_ns;
  kymo_fast_plain_bytes(run, record, size);
  run->next = run->at + size;
  return size > 0;
}

/* Decodes the record at run->at by the quickest way that the stretch allows. False: the machine must decode
 * it. */
static inline __attribute__((always_inline)) bool kymo_fast_decode(struct kymo_fast_run *run) {
  return KYMO_LIKELY(run->plain.is) ? kymo_fast_plain_decode(run) : kymo_fast_path_decode(run);
}

#endif
