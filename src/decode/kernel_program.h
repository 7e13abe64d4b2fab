/* SPDX-License-Identifier: MIT */
/*
 * A print fmt as a flat list of steps: a text that is copied, then a value that is printed.
 *
 *   "vec=%u [action=%s]", REC->vec, __print_symbolic(REC->vec, …)
 *
 *      ──►   "vec=" unsigned vec │ " [action=" symbol vec │ "]" end
 *
 * A condition becomes jumps. What is rare remains a piece of the parsed print fmt, which kernel_print.c
 * prints.
 */
#ifndef KYMO_DECODE_KERNEL_PROGRAM_H
#define KYMO_DECODE_KERNEL_PROGRAM_H

#include "decode/kernel_print.h"

/* Bytes that are copied for each text; this number of bytes can be read from its begin. */
#define KYMO_KERNEL_TEXT 32

enum kymo_kernel_code {
  KYMO_KERNEL_END,
  KYMO_KERNEL_NOTHING,
  KYMO_KERNEL_SIGNED,
  KYMO_KERNEL_UNSIGNED,
  KYMO_KERNEL_HEX,
  KYMO_KERNEL_CHARACTERS, /* of a field, up to its zero */
  KYMO_KERNEL_FLAGS,
  KYMO_KERNEL_SYMBOL,
  KYMO_KERNEL_UNLESS, /* moves by `jump` more steps if the value is 0 */
  KYMO_KERNEL_JUMP,
  KYMO_KERNEL_STRING, /* of `node`, as `piece` says */
  KYMO_KERNEL_PIECE,
};

/* A number: (field >> right) & mask, or an expression. */
struct kymo_kernel_operand {
  uint32_t node; /* of the field: its distance from the payload's root */
  uint8_t unused_bits, right;
  bool is_signed, is_big;
  uint64_t mask;
  const struct kymo_ftrace_node *tree; /* or NULL */
};

/* Labels with the numbers that they mean. */
struct kymo_kernel_label {
  uint64_t value;
  const char *text;
  uint32_t length;
};

struct kymo_kernel_step {
  const char *text; /* before the value */
  uint8_t length, code;
  uint8_t unused_bits, width; /* of a number: of 64, and the least digits of a hexadecimal one */
  bool is_long;               /* it has the bits of the kernel's long instead */
  uint32_t count, jump;       /* count: of labels */
  struct kymo_kernel_operand value;
  const struct kymo_kernel_label *labels;
  const uint8_t *direct; /* the labels of numbers below KYMO_KERNEL_DIRECT: their indices, or 255 */
  const char *between;   /* two flags */
  const struct kymo_ftrace_piece *piece;
  const struct kymo_ftrace_node *node;
};
#define KYMO_KERNEL_DIRECT 256

/* The steps of a message whose print fmt is parsed, in the arena. NULL: no memory. */
const struct kymo_kernel_step *kymo_kernel_compile(const struct kymo_kernel_message *message,
                                                   struct kymo_arena *arena, const struct kymo_type *payload);
/* Prints by the steps of printing->message. */
void kymo_kernel_run(const struct kymo_kernel_printing *printing);

#endif
