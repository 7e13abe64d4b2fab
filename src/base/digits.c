/* SPDX-License-Identifier: MIT */
/* Integers as text. */
#include "base/digits.h"

const char kymo_digit_pairs[200] = "0001020304050607080910111213141516171819202122232425262728293031323334"
                                   "3536373839404142434445464748495051525354555657585960616263646566676869"
                                   "707172737475767778798081828384858687888990919293949596979899";

char *kymo_put_u64_long(char *at, uint64_t value) {
  uint64_t high = value / 100000000;
  at = high < 100000000
           ? kymo_put_short(at, (uint32_t)high)
           : kymo_put_eight(kymo_put_short(at, (uint32_t)(high / 100000000)), (uint32_t)(high % 100000000));
  return kymo_put_eight(at, (uint32_t)(value % 100000000));
}

char *kymo_put_hex_byte(char *at, uint8_t value) {
  static const char digits[] = "0123456789abcdef";
  at[0] = digits[value >> 4];
  at[1] = digits[value & 15];
  return at + 2;
}

char *kymo_put_octal(char *at, uint64_t value) {
  unsigned count = (unsigned)(64 - __builtin_clzll(value | 1) + 2) / 3;
  for (unsigned i = 0; i < count; i++)
    at[i] = (char)('0' + (value >> 3 * (count - 1 - i) & 7));
  return at + count;
}

char *kymo_put_binary(char *at, uint64_t value, unsigned bits) {
  for (unsigned i = 0; i < bits; i++)
    at[i] = (char)('0' + (value >> (bits - 1 - i) & 1));
  return at + bits;
}
