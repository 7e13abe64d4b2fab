/* SPDX-License-Identifier: MIT */
/* Reads values from the bytes at the position, which moves after them. */
#include "base/bytes.h"
#include "plan/machine.h"
#include <math.h>

bool kymo_plan_need(struct kymo_plan_machine *machine, uint64_t bits) {
  if (bits <= kymo_plan_rest_bits(machine))
    return true;
  const struct kymo_plan_window *window = &machine->windows[machine->window];
  if (window->is_file_end)
    return kymo_plan_raise(machine, 1, kymo_plan_offset(machine),
                           "the file ends %llu bytes before the record does",
                           (unsigned long long)((bits - kymo_plan_rest_bits(machine) + 7) / 8));
  return kymo_plan_raise(machine, 2, kymo_plan_offset(machine),
                         "%llu bits of a field in a window with %llu left", (unsigned long long)bits,
                         (unsigned long long)kymo_plan_rest_bits(machine));
}

static const uint8_t *data_of(const struct kymo_plan_machine *machine) {
  return machine->windows[machine->window].data;
}

/* The byte at the position; NULL after raising: not on a byte boundary. */
static const uint8_t *byte_at(struct kymo_plan_machine *machine) {
  if (machine->bit % 8 == 0)
    return data_of(machine) + machine->bit / 8;
  kymo_plan_raise(machine, 2, kymo_plan_offset(machine),
                  "a field that must begin on a byte boundary does not");
  return NULL;
}

/* ---- integers ---- */

static uint64_t load_bytes(const uint8_t *from, unsigned bytes, bool is_big) {
  uint64_t value = 0;
  switch (bytes) {
  case 1: return *from;
  case 2: return is_big ? kymo_load_be16(from) : kymo_load_le16(from);
  case 4: return is_big ? kymo_load_be32(from) : kymo_load_le32(from);
  case 8: return is_big ? kymo_load_be64(from) : kymo_load_le64(from);
  }
  for (unsigned i = 0; i < bytes; i++)
    value |= (uint64_t)from[i] << 8 * (is_big ? bytes - 1 - i : i);
  return value;
}

static uint64_t load_bits(struct kymo_plan_machine *machine, const struct kymo_plan_type *type, unsigned bits,
                          bool is_big) {
  uint64_t at = machine->bit;
  machine->bit += bits;
  if (at % 8 == 0 && bits % 8 == 0)
    return load_bytes(data_of(machine) + at / 8, bits / 8, is_big);
  bool is_msb = type->is_msb_first == 2 ? is_big : type->is_msb_first;
  return is_msb ? kymo_bits_be(data_of(machine), at, bits) : kymo_bits_le(data_of(machine), at, bits);
}

static bool load_integer(struct kymo_plan_machine *machine, const struct kymo_plan_type *type, uint32_t bits,
                         bool is_big, struct kymo_expr_value *out) {
  if (bits < 1 || bits > 64)
    return kymo_plan_raise(machine, 2, kymo_plan_offset(machine),
                           "a width of %u bits, which is none of 1 to 64", bits);
  if (!kymo_plan_need(machine, bits))
    return false;
  uint64_t raw = load_bits(machine, type, bits, is_big);
  bool is_signed = type->encoding == KYMO_TYPE_SIGNED || type->encoding == KYMO_TYPE_FIXED;
  *out = kymo_value_number(is_signed ? kymo_wide_of_i64(kymo_sign_extend(raw, bits)) : kymo_wide_of_u64(raw));
  if (type->encoding == KYMO_TYPE_FIXED)
    *out = (struct kymo_expr_value){.sort = KYMO_SORT_FLOAT,
                                    .f = ldexp((double)kymo_sign_extend(raw, bits), -(int)type->fraction)};
  return true;
}

/* The digits are in reading order, the high half of each byte first. */
static bool load_bcd(struct kymo_plan_machine *machine, uint32_t bits, struct kymo_expr_value *out) {
  if (bits < 4 || bits > 64 || bits % 4)
    return kymo_plan_raise(machine, 2, kymo_plan_offset(machine),
                           "a width of %u bits for decimal digits of four bits", bits);
  if (!kymo_plan_need(machine, bits))
    return false;
  uint64_t value = 0;
  for (uint32_t i = 0; i < bits / 4; i++, machine->bit += 4) {
    unsigned digit = (unsigned)kymo_bits_be(data_of(machine), machine->bit, 4);
    if (digit > 9 && !kymo_plan_mark(machine, 4, "a decimal digit of 0x%x", digit))
      return false;
    value = value * 10 + digit;
  }
  *out = kymo_value_u64(value);
  return true;
}

/* ---- floats ---- */

static double half(uint16_t raw) {
  int exponent = raw >> 10 & 31;
  double fraction = raw & 0x3ff;
  double value = exponent == 31 ? (fraction != 0 ? (double)NAN : (double)INFINITY)
                 : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                : ldexp(fraction, -24);
  return raw & 0x8000 ? -value : value;
}

/* 80 bits: explicit leading bit; 128: none. Rounded to double. */
static double extended(const uint8_t *from, unsigned bits, bool is_big) {
  unsigned bytes = bits / 8;
  uint8_t b[16] = {0};
  for (unsigned i = 0; i < bytes; i++)
    b[i] = from[is_big ? i : bytes - 1 - i]; /* most significant first */
  bool negative = b[0] & 0x80;
  int exponent = (b[0] & 0x7f) << 8 | b[1];
  uint64_t high = kymo_load_be64(b + 2), low = bits == 128 ? (uint64_t)load_bytes(b + 10, 6, true) : 0;
  bool has_fraction = bits == 80 ? (high << 1) != 0 : (high | low) != 0;
  double value;
  if (exponent == 0x7fff)
    value = has_fraction ? (double)NAN : (double)INFINITY;
  else if (bits == 80)
    value = ldexp((double)high, (exponent ? exponent : 1) - 16383 - 63);
  else
    value = ldexp((exponent ? 1.0 : 0.0) + ldexp((double)high, -64) + ldexp((double)low, -112),
                  (exponent ? exponent : 1) - 16383);
  return negative ? -value : value;
}

static bool load_float(struct kymo_plan_machine *machine, uint32_t bits, bool is_big,
                       struct kymo_expr_value *out) {
  if (bits != 16 && bits != 32 && bits != 64 && bits != 80 && bits != 128)
    return kymo_plan_raise(machine, 2, kymo_plan_offset(machine), "a float of %u bits", bits);
  const uint8_t *from = byte_at(machine);
  if (!from || !kymo_plan_need(machine, bits))
    return false;
  uint64_t raw = bits <= 64 ? load_bytes(from, bits / 8, is_big) : 0;
  uint32_t raw32 = (uint32_t)raw;
  float single;
  out->sort = KYMO_SORT_FLOAT;
  switch (bits) {
  case 16: out->f = half((uint16_t)raw); break;
  case 32:
    memcpy(&single, &raw32, sizeof single);
    out->f = (double)single;
    break;
  case 64: memcpy(&out->f, &raw, sizeof out->f); break;
  default: out->f = extended(from, bits, is_big);
  }
  machine->bit += bits;
  return true;
}

/* ---- variable length ---- */

static bool load_varint(struct kymo_plan_machine *machine, const struct kymo_plan_type *type,
                        struct kymo_expr_value *out) {
  uint32_t most = type->size ? type->size : 10, shift = 0;
  uint64_t value = 0;
  uint8_t byte = 0x80;
  bool is_big = type->encoding == KYMO_TYPE_VARINT_MSB, is_lost = false;
  const uint8_t *from = byte_at(machine);
  if (!from)
    return false;
  for (uint32_t i = 0; byte & 0x80; i++) {
    if (i == most)
      return kymo_plan_raise(machine, 2, kymo_plan_offset(machine),
                             "a variable-length integer of more than %u bytes", most);
    if (!kymo_plan_need(machine, 8))
      return false;
    byte = *from++;
    machine->bit += 8;
    uint64_t part = byte & 0x7f;
    if (is_big) {
      is_lost |= value >> 57 != 0;
      value = value << 7 | part;
    } else if (shift < 64) {
      /* dropping sign bits beyond the 64th loses nothing */
      uint64_t top = shift == 63 ? part >> 1 : 0;
      is_lost |= type->encoding == KYMO_TYPE_SLEB ? shift == 63 && top != 0 && top != 0x3f : top != 0;
      value |= part << shift;
      shift += 7;
    } else {
      is_lost |= part != 0 && !(type->encoding == KYMO_TYPE_SLEB && part == 0x7f);
    }
  }
  if (is_lost)
    return kymo_plan_raise(machine, 2, kymo_plan_offset(machine),
                           "a variable-length integer of more than 64 bits");
  if (type->encoding == KYMO_TYPE_SLEB && shift < 64 && byte & 0x40)
    value |= UINT64_MAX << shift;
  if (type->encoding == KYMO_TYPE_ZIGZAG)
    value = value >> 1 ^ (0 - (value & 1));
  bool is_signed = type->encoding == KYMO_TYPE_SLEB || type->encoding == KYMO_TYPE_ZIGZAG;
  *out = kymo_value_number(is_signed ? kymo_wide_of_i64((int64_t)value) : kymo_wide_of_u64(value));
  return true;
}

/* ---- texts and bytes ---- */

/* `size` bytes, or all remaining ones. NULL after raising. */
static const uint8_t *take(struct kymo_plan_machine *machine, uint32_t size, uint32_t *taken) {
  const uint8_t *from = byte_at(machine);
  uint64_t rest = kymo_plan_rest_bits(machine) / 8;
  if (!from)
    return NULL;
  if (size == KYMO_SIZE_TO_END && rest >= KYMO_SIZE_TO_END) {
    kymo_plan_raise(machine, 9, kymo_plan_offset(machine), "a field of 4 GiB or more");
    return NULL;
  }
  *taken = size == KYMO_SIZE_TO_END ? (uint32_t)rest : size;
  if (!kymo_plan_need(machine, (uint64_t)*taken * 8))
    return NULL;
  machine->bit += (uint64_t)*taken * 8;
  return from;
}

/* Up to the byte `end`, which is consumed; `is_lenient`: or to the window's end. */
static const uint8_t *take_ended(struct kymo_plan_machine *machine, uint8_t end, bool is_lenient,
                                 uint32_t *taken) {
  const uint8_t *from = byte_at(machine);
  uint64_t rest = kymo_plan_rest_bits(machine) / 8;
  if (!from)
    return NULL;
  const uint8_t *found = rest ? memchr(from, end, (size_t)rest) : NULL;
  if (!found && !is_lenient) {
    kymo_plan_need(machine, rest * 8 + 8); /* raises */
    return NULL;
  }
  uint64_t length = found ? (uint64_t)(found - from) : rest;
  if (length >= KYMO_SIZE_TO_END) {
    kymo_plan_raise(machine, 9, kymo_plan_offset(machine), "a text of 4 GiB or more");
    return NULL;
  }
  if (!found && machine->windows[machine->window].is_file_end)
    machine->open_end = end;
  *taken = (uint32_t)length;
  machine->bit += (length + (found != NULL)) * 8;
  return from;
}

static bool load_bytes_value(struct kymo_plan_machine *machine, const struct kymo_plan_type *type,
                             uint32_t size, struct kymo_expr_value *out) {
  uint32_t taken = 0;
  const uint8_t *from = type->encoding == KYMO_TYPE_STRING_ENDED
                            ? take_ended(machine, (uint8_t)type->extra, false, &taken)
                            : take(machine, size, &taken);
  if (!from)
    return false;
  if (type->encoding == KYMO_TYPE_STRING) {
    const uint8_t *end = taken && !type->extra ? memchr(from, 0, taken) : NULL;
    taken = end ? (uint32_t)(end - from) : taken;
    while (type->extra && taken > 0 && from[taken - 1] == (uint8_t)(type->extra - 1))
      taken--;
  }
  *out = kymo_value_bytes(from, taken);
  return true;
}

static unsigned digit_of(uint8_t c) {
  unsigned low = c | 32u;
  return c >= '0' && c <= '9' ? c - 48u : low >= 'a' && low <= 'z' ? low - 'a' + 10u : 99u;
}

static bool is_blank(uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r') || c == '\0'; }

/* Parses digits of a base with a sign before and blanks around them; false if there are none, or other
 * characters. */
static bool parse_digits(const uint8_t *from, uint32_t size, unsigned base, struct kymo_wide *out) {
  struct kymo_wide value = {0};
  bool is_negative = false;
  while (size > 0 && is_blank(*from)) {
    from++;
    size--;
  }
  while (size > 0 && is_blank(from[size - 1]))
    size--;
  if (size > 0 && (*from == '-' || *from == '+')) {
    is_negative = *from++ == '-';
    size--;
  }
  if (base == 16 && size > 2 && from[0] == '0' && (from[1] | 32) == 'x') {
    from += 2;
    size -= 2;
  }
  for (uint32_t i = 0; i < size; i++) {
    unsigned digit = digit_of(from[i]);
    if (digit >= base || !kymo_wide_multiply(value, kymo_wide_of_u64(base), &value) ||
        !kymo_wide_add(value, kymo_wide_of_u64(digit), &value))
      return false;
  }
  if (is_negative && !kymo_wide_subtract(kymo_wide_of_u64(0), value, &value))
    return false;
  *out = value;
  return size > 0 && kymo_wide_fits(value);
}

static bool load_text_number(struct kymo_plan_machine *machine, const struct kymo_plan_type *type,
                             uint32_t size, struct kymo_expr_value *out) {
  uint32_t taken = 0, base = type->extra ? type->extra : 10;
  const uint8_t *from = type->encoding == KYMO_TYPE_TEXT_NUMBER
                            ? take(machine, size, &taken)
                            : take_ended(machine, (uint8_t)type->fraction, true, &taken);
  if (!from)
    return false;
  *out = (struct kymo_expr_value){.sort = KYMO_SORT_NUMBER};
  if (parse_digits(from, taken, base, &out->n))
    return true;
  out->sort = KYMO_SORT_ABSENT;
  uint64_t bits = machine->bit - (uint64_t)(from - machine->windows[machine->window].data) * 8;
  return kymo_plan_mark_field(machine, 4, bits, "expected a number in base %u, found \"%.*s\"", base,
                              taken < 40 ? (int)taken : 40, (const char *)from);
}

bool kymo_plan_load_value(struct kymo_plan_machine *machine, const struct kymo_plan_type *type, uint32_t size,
                          bool has_order, enum kymo_plan_order order, struct kymo_expr_value *out) {
  enum kymo_plan_order given = has_order ? order : (enum kymo_plan_order)type->order;
  bool is_big = (given == KYMO_PLAN_CURRENT ? machine->order : given) == KYMO_PLAN_BIG;
  switch ((enum kymo_plan_encoding)type->encoding) {
  case KYMO_TYPE_UNSIGNED:
  case KYMO_TYPE_SIGNED:
  case KYMO_TYPE_FIXED: return load_integer(machine, type, size, is_big, out);
  case KYMO_TYPE_FLOAT: return load_float(machine, size, is_big, out);
  case KYMO_TYPE_BCD: return load_bcd(machine, size, out);
  case KYMO_TYPE_LEB:
  case KYMO_TYPE_SLEB:
  case KYMO_TYPE_ZIGZAG:
  case KYMO_TYPE_VARINT_MSB: return load_varint(machine, type, out);
  case KYMO_TYPE_BYTES:
  case KYMO_TYPE_STRING:
  case KYMO_TYPE_STRING_WHOLE:
  case KYMO_TYPE_STRING_ENDED: return load_bytes_value(machine, type, size, out);
  case KYMO_TYPE_TEXT_NUMBER:
  case KYMO_TYPE_TEXT_NUMBER_ENDED: return load_text_number(machine, type, size, out);
  }
  return kymo_plan_raise(machine, 2, kymo_plan_offset(machine), "a type that there is not");
}
