/* SPDX-License-Identifier: MIT */
/* What the rendering of print fmt consists of: fields and expressions (kernel_message.c), conversions
 * (kernel_print.c), addresses of networks (kernel_address.c). */
#ifndef KYMO_DECODE_KERNEL_PRINT_H
#define KYMO_DECODE_KERNEL_PRINT_H

#include "base/digits.h"
#include "base/likely.h"
#include "base/strbuf.h"
#include "decode/decoder.h"
#include "decode/kernel_message.h"
#include "decode/load.h"
#include "decode/plan.h"
#include "lang/ftrace/print.h"
#include "source/kernel.h"
#include <string.h>

struct kymo_kernel_step;

struct kymo_kernel_message {
  struct kymo_ftrace_print print;
  const struct kymo_kernel_step *steps; /* of it (kernel_program.h) */
  enum kymo_kernel_style style;
  const uint32_t *nodes; /* of the payload's members: their distance from its root */
  uint32_t bprint_address, bprint_format, bprint_data; /* of trace_printk: the members; else UINT32_MAX */
};

/* An event that is being printed. */
struct kymo_kernel_printing {
  const struct kymo_kernel_message *message;
  const struct kymo_decoder *decoder; /* with the places of the event */
  const struct kymo_node *root;       /* of the payload */
  const struct kymo_kernel *kernel;   /* or NULL */
  bool is_trace_cmd;
  uint8_t long_size;
  struct kymo_strbuf *out;
};

struct kymo_kernel_number {
  uint64_t value;
  bool is_unsigned;
};

/* The bytes of a field; of a text those before its zero. */
struct kymo_kernel_bytes {
  const uint8_t *data;
  size_t size;
  unsigned element_size;
  bool is_big;
};

/* memcpy without a call for the few bytes that most texts have. */
static inline void kymo_kernel_copy(char *to, const char *from, size_t length) {
  uint64_t first, last;
  uint32_t one, other;
  if (length > 16) {
    memcpy(to, from, length);
  } else if (length >= 8) {
    memcpy(&first, from, 8);
    memcpy(&last, from + length - 8, 8);
    memcpy(to, &first, 8);
    memcpy(to + length - 8, &last, 8);
  } else if (length >= 4) {
    memcpy(&one, from, 4);
    memcpy(&other, from + length - 4, 4);
    memcpy(to, &one, 4);
    memcpy(to + length - 4, &other, 4);
  } else if (length) {
    to[0] = from[0];
    to[length / 2] = from[length / 2];
    to[length - 1] = from[length - 1];
  }
}

/* kymo_strbuf_add without a call where there is space, as nearly always. */
static inline void kymo_kernel_add(struct kymo_strbuf *out, const char *text, size_t length) {
  if (KYMO_LIKELY(length < out->capacity - out->length)) {
    kymo_kernel_copy(out->text + out->length, text, length);
    out->length += length;
    out->text[out->length] = '\0';
  } else {
    kymo_strbuf_add(out, text, length);
  }
}

/* Space for a few bytes after the text. NULL: there is no memory. */
static inline char *kymo_kernel_room(struct kymo_strbuf *out, size_t size) {
  return KYMO_LIKELY(size < out->capacity - out->length) ? out->text + out->length
                                                         : kymo_strbuf_room(out, size);
}

/* The text ends at a place in that space. */
static inline void kymo_kernel_ends(struct kymo_strbuf *out, char *end) {
  *end = '\0';
  out->length = (size_t)(end - out->text);
}

/* A number in base 10. */
static inline void kymo_kernel_add_decimal(struct kymo_strbuf *out, uint64_t value) {
  char *at = kymo_kernel_room(out, KYMO_DECIMAL_ROOM);
  if (KYMO_LIKELY(at))
    kymo_kernel_ends(out, kymo_put_u64(at, value));
}

/* A field as a number; 0 if it is none. */
static inline struct kymo_kernel_number kymo_kernel_number_of(const struct kymo_kernel_printing *printing,
                                                              uint32_t field) {
  const struct kymo_node *node = printing->root + printing->message->nodes[field];
  const struct kymo_type *type = node->type;
  struct kymo_kernel_number number = {0};
  if (type->kind > KYMO_KIND_BITMAP || type->bits_reversed)
    return number;
  uint64_t at = printing->decoder->segments[node->segment] + node->offset_bits;
  number.value =
      kymo_fast_bits(printing->decoder->packet.data, at, type->size_bits, type->order == KYMO_ORDER_BIG);
  number.is_unsigned = printing->is_trace_cmd || (type->size_bits == 64 && !type->is_signed);
  if (type->is_signed && !printing->is_trace_cmd)
    number.value = (uint64_t)kymo_sign_extend(number.value, type->size_bits);
  return number;
}

/* Whether a cast keeps all 64 bits of a number. */
static inline bool kymo_kernel_is_whole(const struct kymo_ftrace_node *node, bool is_trace_cmd) {
  return node->is_pointer || node->bits == 0 || node->bits == 64 || (is_trace_cmd && !node->is_masked);
}

struct kymo_kernel_number kymo_kernel_evaluate(const struct kymo_kernel_printing *printing,
                                               const struct kymo_ftrace_node *node);
/* The value of an expression: most are fields, cast to types that trace-cmd does not heed. */
static inline uint64_t kymo_kernel_value(const struct kymo_kernel_printing *printing,
                                         const struct kymo_ftrace_node *node) {
  while (printing->is_trace_cmd && node->kind == KYMO_FTRACE_CAST && kymo_kernel_is_whole(node, true))
    node = node->a;
  return KYMO_LIKELY(node->kind == KYMO_FTRACE_FIELD) ? kymo_kernel_number_of(printing, node->field).value
                                                      : kymo_kernel_evaluate(printing, node).value;
}

struct kymo_kernel_bytes kymo_kernel_bytes_of(const struct kymo_kernel_printing *printing, uint32_t field);
/* A number of 1, 2, 4, or 8 bytes; 0 of other sizes. */
uint64_t kymo_kernel_load(const uint8_t *from, unsigned size, bool is_big);

/* The value of a conversion, and one of %s, without the text before it. */
void kymo_kernel_print_piece(const struct kymo_kernel_printing *printing,
                             const struct kymo_ftrace_piece *piece);
void kymo_kernel_print_string(const struct kymo_kernel_printing *printing,
                              const struct kymo_printfmt_piece *piece, const struct kymo_ftrace_node *node);
/* By the format of trace_printk that the event points to. */
void kymo_kernel_print_binary(const struct kymo_kernel_printing *printing);

/* Conversions %pM, %pI, %pi, %pU, %ph of these bytes; `most`: of %ph. False: not one of them. */
bool kymo_kernel_print_address(const struct kymo_kernel_printing *printing, const char *letters,
                               const struct kymo_kernel_bytes *bytes, size_t most);

#endif
