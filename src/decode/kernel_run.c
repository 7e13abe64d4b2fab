/* SPDX-License-Identifier: MIT */
/* Prints by the steps of a print fmt. */
#include "decode/kernel_program.h"
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* What a step writes at most before it checks the space again. */
#define ROOM (KYMO_KERNEL_TEXT + 64)

/* The functions below return the end of the text, or NULL: out of memory. `at` has space for ROOM bytes. */

static __attribute__((noinline)) char *grow(struct kymo_strbuf *out, const char *at) {
  out->length = (size_t)(at - out->text);
  return kymo_strbuf_room(out, 2 * ROOM);
}

static inline char *make_room(struct kymo_strbuf *out, char *at) {
  return KYMO_LIKELY(out->text + out->capacity - at > ROOM) ? at : grow(out, at);
}

/* A short text of which KYMO_KERNEL_TEXT bytes can be read. */
static inline char *put_text(char *at, const char *from, size_t length) {
  memcpy(at, from, KYMO_KERNEL_TEXT);
  return at + length;
}

/* ---- values ---- */

static inline uint64_t operand_of(const struct kymo_kernel_printing *printing,
                                  const struct kymo_kernel_operand *value) {
  if (KYMO_UNLIKELY(value->tree))
    return kymo_kernel_value(printing, value->tree);
  const struct kymo_node *node = printing->root + value->node;
  const struct kymo_decoder *decoder = printing->decoder;
  const uint8_t *from = decoder->packet.data + (decoder->segments[node->segment] + node->offset_bits) / 8;
  uint64_t word = value->is_big ? kymo_load_be64(from) : kymo_load_le64(from) << value->unused_bits;
  uint64_t number =
      value->is_signed ? (uint64_t)((int64_t)word >> value->unused_bits) : word >> value->unused_bits;
  return number >> value->right & value->mask;
}

/* How many of 16 bytes precede the first zero; all of them are copied. */
static inline unsigned copy_characters(char *at, const uint8_t *from) {
#ifdef __SSE2__
  __m128i bytes = _mm_loadu_si128((const __m128i *)from);
  _mm_storeu_si128((__m128i *)at, bytes);
  return (unsigned)__builtin_ctz((unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_setzero_si128())) |
                                 1u << 16);
#else
  memcpy(at, from, 16);
  return (unsigned)strnlen((const char *)from, 16);
#endif
}

/* All packets have space for 16 bytes after them. */
static char *put_characters(const struct kymo_kernel_printing *printing, const struct kymo_kernel_step *step,
                            char *to) {
  const struct kymo_node *node = printing->root + step->value.node;
  const struct kymo_decoder *decoder = printing->decoder;
  uint64_t at = decoder->segments[node->segment] + node->offset_bits;
  uint64_t most = at < decoder->packet.content_bits ? (decoder->packet.content_bits - at) / 8 : 0;
  const uint8_t *from = decoder->packet.data + at / 8;
  if (node->type->kind == KYMO_KIND_TEXT_ARRAY && node->type->length < most)
    most = node->type->length;
  while (most && to) {
    unsigned length = copy_characters(to, from);
    if (length >= most)
      return to + most;
    to += length;
    if (length < 16)
      break;
    from += 16;
    most -= 16;
    to = make_room(printing->out, to);
  }
  return to;
}

/* ---- numbers ---- */

static inline unsigned unused_bits(const struct kymo_kernel_printing *printing,
                                   const struct kymo_kernel_step *step) {
  return step->is_long ? 64u - 8u * printing->long_size : step->unused_bits;
}

/* With zeros before it, so that it has `width` digits, at most 16. */
static inline char *put_wide_hex(char *at, uint64_t value, unsigned width) {
  unsigned digits = (67 - (unsigned)__builtin_clzll(value | 1)) / 4;
  memset(at, '0', 16);
  return kymo_put_hex(width > digits ? at + width - digits : at, value, false);
}

static char *put_hex(char *at, uint64_t value) {
  memcpy(at, "0x", 2);
  return kymo_put_hex(at + 2, value, false);
}

static char *put_symbol(const struct kymo_kernel_step *step, uint64_t value, char *at) {
  uint32_t index = value < KYMO_KERNEL_DIRECT ? step->direct[value] : 0;
  while (index < step->count && step->labels[index].value != value)
    index++;
  if (index >= step->count)
    return put_hex(at, value);
  return put_text(at, step->labels[index].text, step->labels[index].length);
}

static char *put_flags(struct kymo_strbuf *out, const struct kymo_kernel_step *step, uint64_t value,
                       char *at) {
  bool more = false;
  for (uint32_t i = 0; value && at && i < step->count; i++) {
    const struct kymo_kernel_label *label = &step->labels[i];
    if ((value & label->value) != label->value)
      continue;
    if (more)
      at = put_text(at, step->between, step->width);
    at = make_room(out, put_text(at, label->text, label->length));
    value &= ~label->value;
    more = true;
  }
  if (!value || !at)
    return at;
  if (more)
    at = put_text(at, step->between, step->width);
  return put_hex(at, value);
}

/* ---- the whole ---- */

/* What kernel_print.c prints. */
static __attribute__((noinline)) char *put_other(const struct kymo_kernel_printing *printing,
                                                 const struct kymo_kernel_step *step, char *at) {
  kymo_kernel_ends(printing->out, at);
  if (step->code == KYMO_KERNEL_STRING)
    kymo_kernel_print_string(printing, &step->piece->number, step->node);
  else
    kymo_kernel_print_piece(printing, step->piece);
  return kymo_strbuf_room(printing->out, 2 * ROOM);
}

void kymo_kernel_run(const struct kymo_kernel_printing *printing) {
  struct kymo_strbuf *out = printing->out;
  char *at = kymo_strbuf_room(out, 2 * ROOM);
  uint64_t value;
  unsigned unused;
  for (const struct kymo_kernel_step *step = printing->message->steps; at; step++) {
    if (!(at = make_room(out, at)))
      return;
    at = put_text(at, step->text, step->length);
    switch ((enum kymo_kernel_code)step->code) {
    case KYMO_KERNEL_END: kymo_kernel_ends(out, at); return;
    case KYMO_KERNEL_NOTHING: break;
    case KYMO_KERNEL_SIGNED:
      value = operand_of(printing, &step->value);
      unused = unused_bits(printing, step);
      at = kymo_put_i64(at, (int64_t)(value << unused) >> unused);
      break;
    case KYMO_KERNEL_UNSIGNED:
      value = operand_of(printing, &step->value);
      unused = unused_bits(printing, step);
      at = kymo_put_u64(at, value << unused >> unused);
      break;
    case KYMO_KERNEL_HEX:
      value = operand_of(printing, &step->value);
      unused = unused_bits(printing, step);
      at = put_wide_hex(at, value << unused >> unused, step->width);
      break;
    case KYMO_KERNEL_CHARACTERS: at = put_characters(printing, step, at); break;
    case KYMO_KERNEL_FLAGS: at = put_flags(out, step, operand_of(printing, &step->value), at); break;
    case KYMO_KERNEL_SYMBOL: at = put_symbol(step, operand_of(printing, &step->value), at); break;
    case KYMO_KERNEL_UNLESS: step += operand_of(printing, &step->value) ? 0 : step->jump; break;
    case KYMO_KERNEL_JUMP: step += step->jump; break;
    case KYMO_KERNEL_STRING:
    case KYMO_KERNEL_PIECE: at = put_other(printing, step, at); break;
    }
  }
}
