/* SPDX-License-Identifier: MIT */
/* Operations of the fast path, on registers: slots first, then the stack, then constants. */
#ifndef KYMO_PLAN_FAST_OP_H
#define KYMO_PLAN_FAST_OP_H

#include "base/bytes.h"
#include "plan/fast.h"

enum kymo_fast_code {
  FAST_LOAD, /* to = `a` bytes at the part's begin + b, fixed part; x: 1 signed, 2 big, 4 order of the file */
  FAST_TAKE, /* the same at the position, which moves after it; b: a float */
  FAST_BYTES,        /* to = offset and length of `number` bytes at the position … */
  FAST_BYTES_OF,     /* … of register a bytes … */
  FAST_BYTES_TO_END, /* … all to the record's end; x: cut at a zero */
  FAST_FIXED,        /* a part begins: its `number` bytes are there; the position moves after them */
  FAST_SKIP_OF,      /* position += register a */
  FAST_LENGTH,       /* the record has register a bytes */
  FAST_NUMBER,
  FAST_COPY,
  FAST_KEPT,
  FAST_EQUAL,
  FAST_UNEQUAL,
  FAST_LESS,
  FAST_LESS_EQUAL,
  FAST_GREATER,
  FAST_GREATER_EQUAL,
  FAST_ADD,
  FAST_SUBTRACT,
  FAST_MULTIPLY,
  FAST_AND,
  FAST_OR,
  FAST_XOR,
  FAST_FALSE,
  FAST_TRUTH,
  FAST_JUMP,
  FAST_JUMP_FALSE,
  FAST_JUMP_TRUE, /* to op b, by register a */
  FAST_CHECK,     /* register a is true */
  FAST_TIME,      /* to = ns of register a, units of register b; number: flags; x: clock */
  /* made only for a stretch: */
  FAST_TIME_OF,    /* TIME number `number` of the fast path, whose unit is known */
  FAST_TIME_WHOLE, /* … and nothing needs to be divided */
  FAST_END,
};

struct kymo_fast_op {
  uint8_t code, x;
  uint16_t to, a, b;
  int64_t number;
};

#endif
