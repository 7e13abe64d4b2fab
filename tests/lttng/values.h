/* SPDX-License-Identifier: MIT */
/* What the tracepoints of the test program are given. */
#ifndef KYMO_TEST_VALUES_H
#define KYMO_TEST_VALUES_H

#include <stddef.h>
#include <stdint.h>

struct values {
  int8_t s8;
  uint8_t u8;
  int16_t s16;
  uint16_t u16;
  int32_t s32;
  uint32_t u32;
  int64_t s64;
  uint64_t u64;
  float f;
  double d;
  char text[64], name[8];
  size_t length; /* of `text`, without its end */
  uint16_t list[16];
  int64_t longs[8];
  unsigned count; /* of `list` */
  int colour;
};

#endif
