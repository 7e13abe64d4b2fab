/* SPDX-License-Identifier: MIT */
/* Checksums over bytes, some of which count as zeros. */
#include "base/bytes.h"
#include "plan/machine.h"

/* The bytes, and those of the checksum itself. */
struct range {
  const uint8_t *data;
  uint64_t begin, end, own_begin, own_end;
};

static uint8_t byte_of(const struct range *range, uint64_t at) {
  return at >= range->own_begin && at < range->own_end ? 0 : range->data[at];
}

/* CRC with the lowest bit first; a table of sixteen entries is quickly computed from the polynomial. */
static uint32_t crc_low(const struct range *range, uint32_t polynomial, uint32_t crc) {
  uint32_t table[16];
  for (uint32_t i = 0; i < 16; i++) {
    table[i] = i;
    for (int k = 0; k < 4; k++)
      table[i] = table[i] >> 1 ^ (polynomial & (0 - (table[i] & 1)));
  }
  for (uint64_t at = range->begin; at < range->end; at++) {
    crc ^= byte_of(range, at);
    crc = crc >> 4 ^ table[crc & 15];
    crc = crc >> 4 ^ table[crc & 15];
  }
  return crc;
}

/* CRC of 8 or 16 bits with the highest bit first. */
static uint32_t crc_high(const struct range *range, uint32_t polynomial, unsigned bits, uint32_t crc) {
  uint32_t top = 1u << (bits - 1), mask = (top << 1) - 1;
  for (uint64_t at = range->begin; at < range->end; at++) {
    crc ^= (uint32_t)byte_of(range, at) << (bits - 8);
    for (int k = 0; k < 8; k++)
      crc = (crc << 1 ^ (crc & top ? polynomial : 0)) & mask;
  }
  return crc;
}

static uint32_t adler(const struct range *range, uint32_t seed) {
  uint32_t a = seed & 0xffff, b = seed >> 16;
  for (uint64_t at = range->begin; at < range->end; at++) {
    a = (a + byte_of(range, at)) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

static uint32_t sum(const struct range *range, uint32_t value) {
  for (uint64_t at = range->begin; at < range->end; at++)
    value += byte_of(range, at);
  return value;
}

static uint32_t exclusive(const struct range *range, uint32_t value) {
  for (uint64_t at = range->begin; at < range->end; at++)
    value ^= byte_of(range, at);
  return value;
}

static uint32_t compute(enum kymo_plan_checksum algorithm, const struct range *range, bool has_seed,
                        uint32_t seed) {
  uint32_t start = has_seed ? seed : 0;
  switch (algorithm) {
  case KYMO_SUM8: return sum(range, start) & 0xff;
  case KYMO_SUM16: return sum(range, start) & 0xffff;
  case KYMO_SUM32: return sum(range, start);
  case KYMO_XOR8: return exclusive(range, start) & 0xff;
  case KYMO_CRC8: return crc_high(range, 0x07, 8, start & 0xff);
  case KYMO_CRC16_CCITT: return crc_high(range, 0x1021, 16, has_seed ? seed & 0xffff : 0xffff);
  case KYMO_CRC16_ARC: return crc_low(range, 0xa001, start & 0xffff);
  case KYMO_CRC32: return ~crc_low(range, 0xedb88320, has_seed ? seed : UINT32_MAX);
  case KYMO_CRC32C: return ~crc_low(range, 0x82f63b78, has_seed ? seed : UINT32_MAX);
  case KYMO_ADLER32: return adler(range, has_seed ? seed : 1);
  default: return 0;
  }
}

static bool is_place(const struct kymo_expr_value *value, uint64_t limit) {
  return value->sort == KYMO_SORT_NUMBER && value->n.high == 0 && value->n.low <= limit;
}

bool kymo_plan_checksum(struct kymo_plan_machine *machine, const struct kymo_plan_instruction *what,
                        const struct kymo_expr_value *operands, struct kymo_expr_value *out) {
  const struct kymo_plan_window *window = &machine->windows[machine->window];
  for (unsigned i = 0; i < 4; i++)
    if (!is_place(&operands[i], window->end))
      return kymo_plan_raise(machine, 2, kymo_plan_offset(machine),
                             "a checksum over bytes outside of its window");
  machine->checksum_at = operands[2].n.low;
  struct range range = {window->data, operands[0].n.low, operands[1].n.low, operands[2].n.low,
                        operands[3].n.low};
  uint64_t seed = kymo_plan_wide(what->b, what->c);
  *out = kymo_value_u64(compute((enum kymo_plan_checksum)(what->a & 0xff), &range,
                                what->a & KYMO_CHECKSUM_SEEDED, (uint32_t)seed));
  return true;
}
