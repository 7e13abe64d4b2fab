/* SPDX-License-Identifier: MIT */
/* Operations of the fast lane, on registers: slots first, then the stack, then constants. */
#ifndef KYMO_KEY_LANE_OP_H
#define KYMO_KEY_LANE_OP_H

#include "base/bytes.h"
#include "key/lane.h"

enum kymo_lane_code {
  LANE_LOAD, /* to = `a` bytes at the part's begin + b, fixed part; x: 1 signed, 2 big, 4 order of the file */
  LANE_TAKE, /* the same at the position, which moves after it; b: a float */
  LANE_BYTES,        /* to = offset and length of `number` bytes at the position … */
  LANE_BYTES_OF,     /* … of register a bytes … */
  LANE_BYTES_TO_END, /* … all to the record's end; x: cut at a zero */
  LANE_FIXED,        /* a part begins: its `number` bytes are there; the position moves after them */
  LANE_SKIP_OF,      /* position += register a */
  LANE_LENGTH,       /* the record has register a bytes */
  LANE_NUMBER,
  LANE_COPY,
  LANE_KEPT,
  LANE_EQUAL,
  LANE_UNEQUAL,
  LANE_LESS,
  LANE_LESS_EQUAL,
  LANE_GREATER,
  LANE_GREATER_EQUAL,
  LANE_ADD,
  LANE_SUBTRACT,
  LANE_MULTIPLY,
  LANE_AND,
  LANE_OR,
  LANE_XOR,
  LANE_FALSE,
  LANE_TRUTH,
  LANE_JUMP,
  LANE_JUMP_FALSE,
  LANE_JUMP_TRUE, /* to op b, by register a */
  LANE_CHECK,     /* register a is true */
  LANE_TIME,      /* to = ns of register a, units of register b; number: flags; x: clock */
  /* only when it runs: */
  LANE_LOAD_32,       /* a little number of 4 bytes without sign */
  LANE_TIME_OF,       /* TIME number `number` of the lane, whose unit is known */
  LANE_TIME_WHOLE,    /* … and nothing needs to be divided */
  LANE_CHECK_AT_MOST, /* register a <= register b */
  LANE_END,
};

struct kymo_lane_op {
  uint8_t code, x;
  uint16_t to, a, b;
  int64_t number;
};

#endif
