/* SPDX-License-Identifier: MIT */
/* What the conversions of print fmt print. */
#include "decode/kernel_print.h"
#include "base/bytes.h"
#include "base/utf8.h"
#include <stdio.h>
#include <string.h>

static bool is_plain(const struct kymo_printfmt_piece *piece) {
  return piece->width == 0 && !piece->has_precision;
}

static void add_text(const struct kymo_kernel_printing *printing, const struct kymo_printfmt_piece *piece,
                     const char *text, size_t length) {
  if (is_plain(piece))
    kymo_kernel_add(printing->out, text, length);
  else
    kymo_printfmt_add_text(printing->out, piece, text, length);
}

static void add_hex(struct kymo_strbuf *out, uint64_t value) {
  char *at = kymo_kernel_room(out, KYMO_HEX_ROOM);
  if (KYMO_LIKELY(at))
    kymo_kernel_ends(out, kymo_put_hex(at, value, false));
}

/* With zeros before it, so that it has `width` digits. */
static void add_wide_hex(struct kymo_strbuf *out, uint64_t value, uint32_t width) {
  unsigned digits = value ? (67 - (unsigned)__builtin_clzll(value)) / 4 : 1;
  size_t zeros = width > digits ? width - digits : 0;
  char *at = kymo_kernel_room(out, zeros + KYMO_HEX_ROOM);
  if (KYMO_UNLIKELY(!at))
    return;
  for (size_t i = 0; i < zeros; i++)
    at[i] = '0';
  kymo_kernel_ends(out, kymo_put_hex(at + zeros, value, false));
}

static void add_hex_number(struct kymo_strbuf *out, uint64_t value) {
  kymo_kernel_add(out, "0x", 2);
  add_hex(out, value);
}

/* ---- names of numbers ---- */

static bool has_flag(const struct kymo_kernel_printing *printing, const struct kymo_ftrace_label *label,
                     uint64_t value) {
  uint64_t mask = printing->is_trace_cmd ? (uint64_t)label->trace_cmd_value : label->value;
  if (printing->is_trace_cmd ? label->trace_cmd_value < 0 : label->is_unknown)
    return false;
  return mask != 0 && (value & mask) == mask;
}

static void add_flags(const struct kymo_kernel_printing *printing, const struct kymo_printfmt_piece *piece,
                      const struct kymo_ftrace_node *node) {
  uint64_t value = kymo_kernel_value(printing, node->a);
  bool more = false;
  for (uint32_t i = 0; i < node->label_count; i++) {
    const struct kymo_ftrace_label *label = &node->labels[i];
    if (!printing->is_trace_cmd && label->is_end)
      break;
    if (printing->is_trace_cmd && !value && label->trace_cmd_value < 0) {
      add_text(printing, piece, label->name, strlen(label->name));
      return;
    }
    if (!has_flag(printing, label, value))
      continue;
    if (more)
      kymo_strbuf_puts(printing->out, node->text);
    add_text(printing, piece, label->name, strlen(label->name));
    value &= ~(printing->is_trace_cmd ? (uint64_t)label->trace_cmd_value : label->value);
    more = true;
  }
  if (!value)
    return;
  if (more)
    kymo_strbuf_puts(printing->out, node->text);
  add_hex_number(printing->out, value);
}

static void add_symbol(const struct kymo_kernel_printing *printing, const struct kymo_printfmt_piece *piece,
                       const struct kymo_ftrace_node *node) {
  uint64_t value = kymo_kernel_value(printing, node->a);
  for (uint32_t i = 0; i < node->label_count; i++) {
    const struct kymo_ftrace_label *label = &node->labels[i];
    if (!printing->is_trace_cmd && label->is_end)
      break;
    if (!printing->is_trace_cmd && label->is_unknown)
      continue;
    if (value == (printing->is_trace_cmd ? (uint64_t)label->trace_cmd_value : label->value)) {
      add_text(printing, piece, label->name, strlen(label->name));
      return;
    }
  }
  add_hex_number(printing->out, value);
}

/* ---- arrays ---- */

/* The array that an argument means; false: it is none. */
static bool find_array(const struct kymo_kernel_printing *printing, const struct kymo_ftrace_node *node,
                       struct kymo_kernel_bytes *bytes) {
  while (node->kind == KYMO_FTRACE_CAST)
    node = node->a;
  if (node->kind != KYMO_FTRACE_FIELD && node->kind != KYMO_FTRACE_VALUE)
    return false;
  *bytes = kymo_kernel_bytes_of(printing, node->field);
  return true;
}

static void add_hex_bytes(const struct kymo_kernel_printing *printing, const struct kymo_ftrace_node *node) {
  struct kymo_kernel_bytes bytes;
  uint64_t size = kymo_kernel_value(printing, node->b);
  if (!find_array(printing, node->a, &bytes))
    return;
  size = size < bytes.size ? size : bytes.size;
  for (size_t i = 0; i < size; i++) {
    char text[3] = {' ', "0123456789abcdef"[bytes.data[i] >> 4], "0123456789abcdef"[bytes.data[i] & 15]};
    bool has_blank = i && node->kind == KYMO_FTRACE_HEX;
    kymo_kernel_add(printing->out, text + !has_blank, 2u + has_blank);
  }
}

static void add_numbers(const struct kymo_kernel_printing *printing, const struct kymo_ftrace_node *node) {
  struct kymo_kernel_bytes bytes;
  uint64_t count = kymo_kernel_value(printing, node->b);
  uint64_t size = kymo_kernel_value(printing, node->c);
  bool is_number = size == 1 || size == 2 || size == 4 || size == 8;
  if (!find_array(printing, node->a, &bytes))
    return;
  bool is_trace_cmd = printing->is_trace_cmd; /* which prints "1 2 3" instead of "{0x1,0x2,0x3}" */
  kymo_strbuf_puts(printing->out, is_trace_cmd ? "" : "{");
  for (size_t i = 0, at = 0; i < count; i++) {
    unsigned step = is_number ? (unsigned)size : 1;
    if (step > bytes.size - at)
      break;
    if (i)
      kymo_strbuf_puts(printing->out, is_trace_cmd ? " " : ",");
    /* trace-cmd reads them in the order of its own machine: that of most machines here */
    uint64_t value = kymo_kernel_load(bytes.data + at, step, bytes.is_big && !is_trace_cmd);
    if (!is_number && is_trace_cmd)
      kymo_strbuf_printf(printing->out, "BAD SIZE:%d ", (int)size);
    if (is_number && is_trace_cmd)
      kymo_kernel_add_decimal(printing->out, value);
    else
      add_hex_number(printing->out, value);
    size = is_number ? size : 1;
    at += step;
  }
  kymo_strbuf_puts(printing->out, is_trace_cmd ? "" : "}");
}

/* Words of 32 bits as hexadecimal numbers, the highest first, with commas between them. */
static void add_bitmask(const struct kymo_kernel_printing *printing, const struct kymo_ftrace_node *node) {
  struct kymo_kernel_bytes bytes = kymo_kernel_bytes_of(printing, node->field);
  for (size_t i = bytes.size; i-- > 0;) {
    uint8_t byte = bytes.data[bytes.is_big ? bytes.size - 1 - i : i];
    char text[3] = {"0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15], ','};
    kymo_kernel_add(printing->out, text, i % 4 == 0 && i ? 3 : 2);
  }
}

/* "0-3,7" */
static void add_cpumask(const struct kymo_kernel_printing *printing, const struct kymo_ftrace_node *node) {
  struct kymo_kernel_bytes bytes = kymo_kernel_bytes_of(printing, node->field);
  size_t count = bytes.size * 8, begin = SIZE_MAX;
  bool more = false;
  for (size_t i = 0; i <= count; i++) {
    size_t at = bytes.is_big ? bytes.size - 1 - i / 8 : i / 8;
    bool is_set = i < count && bytes.data[at] >> i % 8 & 1;
    if (is_set && begin == SIZE_MAX)
      begin = i;
    if (is_set || begin == SIZE_MAX)
      continue;
    kymo_strbuf_printf(printing->out, "%s%zu", more ? "," : "", begin);
    if (i - 1 > begin)
      kymo_strbuf_printf(printing->out, "-%zu", i - 1);
    more = true;
    begin = SIZE_MAX;
  }
}

/* ---- %s ---- */

/* A field as a text: a number of the size of a pointer is the address of a format of trace_printk. */
static void add_field(const struct kymo_kernel_printing *printing, const struct kymo_printfmt_piece *piece,
                      const struct kymo_ftrace_node *node) {
  const struct kymo_type *type = printing->root[printing->message->nodes[node->field]].type;
  struct kymo_kernel_bytes bytes = kymo_kernel_bytes_of(printing, node->field);
  const struct kymo_kernel *kernel = printing->kernel;
  if (type->kind <= KYMO_KIND_BITMAP && bytes.size == printing->long_size) {
    uint64_t address =
        kymo_kernel_load(bytes.data, (unsigned)bytes.size, bytes.is_big && !printing->is_trace_cmd);
    const char *format = kernel ? kernel->format(kernel->user, address) : NULL;
    if (format)
      kymo_strbuf_puts(printing->out, format);
    else
      add_hex(printing->out, address);
    return;
  }
  add_text(printing, piece, (const char *)bytes.data, strnlen((const char *)bytes.data, bytes.size));
}

void kymo_kernel_print_string(const struct kymo_kernel_printing *printing,
                              const struct kymo_printfmt_piece *piece, const struct kymo_ftrace_node *node) {
  struct kymo_kernel_bytes bytes;
  switch ((enum kymo_ftrace_node_kind)node->kind) {
  case KYMO_FTRACE_TEXT: add_text(printing, piece, node->text, strlen(node->text)); break;
  case KYMO_FTRACE_NUMBER: kymo_kernel_add_decimal(printing->out, node->number); break;
  case KYMO_FTRACE_FIELD: add_field(printing, piece, node); break;
  case KYMO_FTRACE_FLAGS: add_flags(printing, piece, node); break;
  case KYMO_FTRACE_SYMBOLIC: add_symbol(printing, piece, node); break;
  case KYMO_FTRACE_HEX:
  case KYMO_FTRACE_HEX_TEXT: add_hex_bytes(printing, node); break;
  case KYMO_FTRACE_ARRAY: add_numbers(printing, node); break;
  case KYMO_FTRACE_BITMASK: add_bitmask(printing, node); break;
  case KYMO_FTRACE_CPUMASK: add_cpumask(printing, node); break;
  case KYMO_FTRACE_CONDITION:
    kymo_kernel_print_string(printing, piece, kymo_kernel_value(printing, node->a) ? node->b : node->c);
    break;
  case KYMO_FTRACE_VALUE:
    if (printing->is_trace_cmd && !node->is_text)
      break;
    bytes = kymo_kernel_bytes_of(printing, node->field);
    add_text(printing, piece, (const char *)bytes.data, strnlen((const char *)bytes.data, bytes.size));
    break;
  case KYMO_FTRACE_CAST:
    if (!printing->is_trace_cmd)
      kymo_kernel_print_string(printing, piece, node->a);
    break;
  default: break; /* a number is no text */
  }
}

/* ---- %p ---- */

static void add_function(const struct kymo_kernel_printing *printing, char letter, uint64_t address) {
  const struct kymo_kernel *kernel = printing->kernel;
  uint64_t begin = 0;
  const char *name = kernel ? kernel->function(kernel->user, address, &begin) : NULL;
  if (!name) {
    add_hex_number(printing->out, address);
    return;
  }
  kymo_strbuf_puts(printing->out, name);
  if (letter == 'F' || letter == 'S' || letter == 'B') {
    kymo_kernel_add(printing->out, "+", 1);
    add_hex_number(printing->out, address - begin);
  }
}

static void add_pointer(const struct kymo_kernel_printing *printing, const char *letters, uint64_t value) {
  if (value)
    add_hex_number(printing->out, value);
  else
    kymo_strbuf_puts(printing->out, "(nil)");
  if (printing->is_trace_cmd && letters[0]) /* x, K, B: letters that it does not know */
    kymo_strbuf_puts(printing->out, letters);
}

static bool is_function(const struct kymo_kernel_printing *printing, char letter) {
  return letter && (strchr("FfSs", letter) || (letter == 'B' && !printing->is_trace_cmd));
}

static void print_pointer(const struct kymo_kernel_printing *printing,
                          const struct kymo_ftrace_piece *piece) {
  const struct kymo_ftrace_node *node = piece->argument;
  const char *letters = piece->pointer;
  struct kymo_kernel_bytes bytes;
  if (is_function(printing, letters[0])) {
    add_function(printing, letters[0], kymo_kernel_value(printing, node));
    return;
  }
  bool is_address = letters[0] && strchr("MmIiUh", letters[0]);
  size_t most = piece->width ? (size_t)kymo_kernel_value(printing, piece->width) : 1;
  if (is_address && find_array(printing, node, &bytes) &&
      kymo_kernel_print_address(printing, letters, &bytes, most))
    return;
  add_pointer(printing, letters, kymo_kernel_value(printing, node));
}

/* ---- numbers ---- */

static unsigned bits_of(const struct kymo_kernel_printing *printing, int longs) {
  if (longs == 1 && !printing->is_trace_cmd)
    return 8u * printing->long_size;
  return longs >= 1 ? 64 : longs == 0 ? 32 : longs == -1 ? 16 : 8;
}

static void add_number(const struct kymo_kernel_printing *printing, const struct kymo_ftrace_piece *piece,
                       const struct kymo_printfmt_piece *number, uint64_t value) {
  unsigned bits = bits_of(printing, piece->longs);
  if (!piece->is_plain) {
    kymo_printfmt_add_number(printing->out, number, value, bits);
    return;
  }
  if (number->conversion == 'x') {
    add_wide_hex(printing->out, value & kymo_bits_mask(bits), number->width);
  } else if (number->conversion == 'u') {
    kymo_kernel_add_decimal(printing->out, value & kymo_bits_mask(bits));
  } else {
    char *at = kymo_kernel_room(printing->out, KYMO_DECIMAL_ROOM);
    if (KYMO_LIKELY(at))
      kymo_kernel_ends(printing->out, kymo_put_i64(at, kymo_sign_extend(value, bits)));
  }
}

/* The width or precision that an argument gives. */
static void set_star(struct kymo_printfmt_piece *number, int64_t value) {
  if (number->precision_is_argument)
    kymo_printfmt_set_precision(number, value);
  else
    kymo_printfmt_set_width(number, value);
}

void kymo_kernel_print_piece(const struct kymo_kernel_printing *printing,
                             const struct kymo_ftrace_piece *piece) {
  struct kymo_printfmt_piece star;
  const struct kymo_printfmt_piece *number = &piece->number;
  if (piece->width && number->conversion != 'p') {
    star = *number;
    set_star(&star, (int32_t)kymo_kernel_value(printing, piece->width));
    number = &star;
  }
  if (number->conversion == 's')
    kymo_kernel_print_string(printing, number, piece->argument);
  else if (number->conversion == 'p')
    print_pointer(printing, piece);
  else
    add_number(printing, piece, number, kymo_kernel_value(printing, piece->argument));
}

/* ---- trace_printk ---- */

/* The arguments of a format of trace_printk: numbers at multiples of 4 bytes, texts with their zeros. */
struct arguments {
  struct kymo_kernel_bytes bytes;
  size_t at;
};

static uint64_t take_number(struct arguments *arguments, unsigned size) {
  size_t at = (arguments->at + 3) & ~(size_t)3;
  if (at > arguments->bytes.size || size > arguments->bytes.size - at) {
    arguments->at = arguments->bytes.size;
    return 0;
  }
  arguments->at = at + size;
  return kymo_kernel_load(arguments->bytes.data + at, size, arguments->bytes.is_big);
}

static const char *take_text(struct arguments *arguments, size_t *length) {
  const char *text = (const char *)arguments->bytes.data + arguments->at;
  size_t rest = arguments->bytes.size - arguments->at;
  *length = strnlen(text, rest);
  arguments->at += *length < rest ? *length + 1 : rest;
  return text;
}

static unsigned size_of(const struct kymo_kernel_printing *printing, const struct kymo_ftrace_piece *piece) {
  if (piece->number.conversion == 'p' || piece->longs == 1)
    return printing->long_size;
  return piece->longs >= 2 ? 8 : 4;
}

static void print_argument(const struct kymo_kernel_printing *printing, struct kymo_ftrace_piece *piece,
                           struct arguments *arguments) {
  struct kymo_printfmt_piece *number = &piece->number;
  const char *letters = piece->pointer;
  uint8_t first = arguments->at < arguments->bytes.size ? arguments->bytes.data[arguments->at] : 0;
  bool is_text = number->conversion == 's' || (number->conversion == 'p' && letters[0] &&
                                               !strchr("sSxfF", letters[0]) && first >= ' ' && first < 127);
  size_t length;
  if (number->width_is_argument || number->precision_is_argument)
    set_star(number, (int32_t)take_number(arguments, 4));
  if (is_text) {
    const char *text = take_text(arguments, &length);
    struct kymo_printfmt_piece plain = {.conversion = 's'};
    add_text(printing, number->conversion == 's' ? number : &plain, text, length);
    return;
  }
  uint64_t value = take_number(arguments, size_of(printing, piece));
  if (number->conversion != 'p')
    add_number(printing, piece, number, value);
  else if (is_function(printing, letters[0]))
    add_function(printing, letters[0], value);
  else
    add_pointer(printing, letters, value);
}

static uint64_t number_of(const struct kymo_kernel_printing *printing, uint32_t field) {
  struct kymo_kernel_bytes bytes = kymo_kernel_bytes_of(printing, field);
  return kymo_kernel_load(bytes.data, (unsigned)bytes.size, bytes.is_big);
}

void kymo_kernel_print_binary(const struct kymo_kernel_printing *printing) {
  const struct kymo_kernel_message *message = printing->message;
  const struct kymo_kernel *kernel = printing->kernel;
  uint64_t address = number_of(printing, message->bprint_format);
  const char *format = kernel ? kernel->format(kernel->user, address) : NULL;
  struct arguments arguments = {.bytes = kymo_kernel_bytes_of(printing, message->bprint_data)};
  add_function(printing, 's', number_of(printing, message->bprint_address));
  kymo_strbuf_puts(printing->out, ": ");
  if (!format) {
    kymo_strbuf_puts(printing->out, "(NO FORMAT FOUND at ");
    add_hex(printing->out, address);
    kymo_strbuf_puts(printing->out, ")\n");
    return;
  }
  for (size_t at = 0, length = strlen(format); at < length;) {
    struct kymo_ftrace_piece piece = {0};
    at += kymo_ftrace_scan(&piece, printing->out, format + at, length - at);
    if (piece.number.conversion)
      print_argument(printing, &piece, &arguments);
  }
}
