/* SPDX-License-Identifier: MIT */
/* Format strings from files: parsing and rendering. */
#include "base/printfmt.h"
#include "base/bytes.h"
#include "base/utf8.h"
#include <string.h>

/* ---- parsing ---- */

struct parser {
  const char *text;
  size_t length, at;
  const char *conversions;
  bool is_whole; /* C's syntax */
  struct kymo_printfmt_fault *fault;
};

static bool fail(struct parser *parser, const char *what) {
  *parser->fault = (struct kymo_printfmt_fault){parser->at, what};
  return false;
}

static char look(const struct parser *parser) {
  return parser->at < parser->length ? parser->text[parser->at] : '\0';
}

static bool parse_number(struct parser *parser, uint32_t *number) {
  for (*number = 0; look(parser) >= '0' && look(parser) <= '9'; parser->at++) {
    *number = *number * 10 + (uint32_t)(look(parser) - '0');
    if (*number > (parser->is_whole ? KYMO_PRINTFMT_MOST : KYMO_PRINTFMT_WIDTH))
      return fail(parser,
                  parser->is_whole ? "a width or precision above 65536" : "a width or precision above 200");
  }
  return true;
}

/* A width or precision: a number, or a star. */
static bool parse_extent(struct parser *parser, uint32_t *number, bool *is_argument) {
  *is_argument = parser->is_whole && look(parser) == '*';
  parser->at += *is_argument;
  return *is_argument || parse_number(parser, number);
}

static void parse_modifier(struct parser *parser, struct kymo_printfmt_piece *piece) {
  const char *known = parser->is_whole ? "hlzjtLq" : "hlz";
  for (char c; (c = look(parser)) && strchr(known, c); parser->at++)
    piece->modifier = c == 'h' && piece->modifier == 'h' ? 'H' : c == 'q' ? 'L' : c;
}

static void parse_flags(struct parser *parser, struct kymo_printfmt_piece *piece) {
  for (;; parser->at++)
    switch (look(parser)) {
    case '-': piece->left = true; break;
    case '+': piece->plus = true; break;
    case ' ': piece->blank = true; break;
    case '#': piece->alternate = true; break;
    case '0': piece->zero = true; break;
    case '\'':
      if (parser->is_whole)
        break;
      return; /* grouped digits: the C locale has none */
    default: return;
    }
}

/* This is not a conversion of ours; in C's syntax the message names two that other libraries have. */
static const char *why_unknown(const struct parser *parser) {
  size_t at = parser->at;
  if (parser->text[at] == 'n')
    return "%n, which stores a number where a pointer says";
  while (at < parser->length && parser->text[at] >= '0' && parser->text[at] <= '9')
    at++;
  return at < parser->length && parser->text[at] == '$' ? "a numbered argument, which is POSIX and not C"
                                                        : "a conversion that is not known";
}

/* After the percent sign. */
static bool parse_conversion(struct parser *parser, struct kymo_printfmt_piece *piece) {
  parse_flags(parser, piece);
  if (!parse_extent(parser, &piece->width, &piece->width_is_argument))
    return false;
  if (look(parser) == '.') {
    parser->at++;
    piece->has_precision = true;
    if (!parse_extent(parser, &piece->precision, &piece->precision_is_argument))
      return false;
  }
  parse_modifier(parser, piece);
  char conversion = look(parser);
  if (!conversion)
    return fail(parser, "a conversion without its letter");
  if (!strchr(parser->conversions, conversion) || conversion == '*')
    return fail(parser, parser->is_whole ? why_unknown(parser) : "a conversion that is not known");
  piece->conversion = conversion;
  if (parser->is_whole && (conversion == 'C' || conversion == 'S')) { /* as X/Open calls %lc and %ls */
    piece->conversion = conversion == 'C' ? 'c' : 's';
    piece->modifier = 'l';
  }
  parser->at++;
  return true;
}

/* Text up to the next conversion. A %% becomes a separate piece that ends after its first percent sign. */
static bool parse_piece(struct parser *parser, struct kymo_printfmt_piece *piece) {
  *piece = (struct kymo_printfmt_piece){.text = parser->text + parser->at};
  while (parser->at < parser->length && look(parser) != '%')
    parser->at++;
  piece->length = (size_t)(parser->text + parser->at - piece->text);
  if (parser->at == parser->length)
    return true;
  parser->at++;
  if (look(parser) == '%') {
    piece->length++;
    piece->conversion = '%';
    parser->at++;
    return true;
  }
  return parse_conversion(parser, piece);
}

bool kymo_printfmt_parse(struct kymo_printfmt *out, struct kymo_arena *arena, const char *text, size_t length,
                         const char *conversions, struct kymo_printfmt_fault *fault) {
  struct parser parser = {.text = text,
                          .length = length,
                          .conversions = conversions,
                          .is_whole = strchr(conversions, '*'),
                          .fault = fault};
  size_t most = 1;
  for (size_t i = 0; i < length; i++)
    most += text[i] == '%';
  struct kymo_printfmt_piece *pieces = kymo_arena_array(arena, most, sizeof *pieces);
  *out = (struct kymo_printfmt){.pieces = pieces};
  if (!pieces)
    return fail(&parser, NULL);
  do {
    if (!parse_piece(&parser, &pieces[out->count]))
      return false;
  } while (pieces[out->count++].conversion);
  return true;
}

/* ---- rendering ---- */

size_t kymo_printfmt_padding(const struct kymo_printfmt_piece *piece, size_t length) {
  return piece->width > length ? piece->width - length : 0;
}

static char *put_fill(char *at, char fill, size_t count) {
  memset(at, fill, count);
  return at + count;
}

static char *put_character(char *at, const struct kymo_printfmt_piece *piece, char character) {
  size_t padding = kymo_printfmt_padding(piece, 1);
  if (!piece->left)
    at = put_fill(at, ' ', padding);
  *at++ = character;
  return piece->left ? put_fill(at, ' ', padding) : at;
}

/* Writes digits to the end of `text`; returns the first one. No digit for 0. */
static char *digits_before(char *end, uint64_t value, unsigned base, bool is_upper) {
  const char *digits = is_upper ? "0123456789ABCDEF" : "0123456789abcdef";
  for (; value; value /= base)
    *--end = digits[value % base];
  return end;
}

/* 10.0.0.1, the highest byte first. */
static char *put_address(char *at, const struct kymo_printfmt_piece *piece, uint64_t value) {
  char text[sizeof "255.255.255.255"];
  size_t length = 0;
  for (int shift = 24; shift >= 0; shift -= 8) {
    unsigned byte = value >> shift & 255;
    for (unsigned digits = byte >= 100 ? 100 : byte >= 10 ? 10 : 1; digits; digits /= 10)
      text[length++] = (char)('0' + byte / digits % 10);
    if (shift)
      text[length++] = '.';
  }
  size_t padding = kymo_printfmt_padding(piece, length);
  if (!piece->left)
    at = put_fill(at, ' ', padding);
  memcpy(at, text, length);
  at += length;
  return piece->left ? put_fill(at, ' ', padding) : at;
}

char *kymo_printfmt_number(char *at, const struct kymo_printfmt_piece *piece, uint64_t value, unsigned bits) {
  char conversion = piece->conversion, text[24], *end = text + sizeof text;
  value &= kymo_bits_mask(bits);
  if (conversion == 'c')
    return put_character(at, piece, (char)value);
  if (conversion == 'I')
    return put_address(at, piece, value);
  bool is_signed = conversion == 'd' || conversion == 'i', is_negative = is_signed && value >> (bits - 1);
  if (is_negative)
    value = (0 - value) & kymo_bits_mask(bits);
  unsigned base = conversion == 'o' ? 8 : conversion == 'x' || conversion == 'X' ? 16 : 10;
  const char *begin = digits_before(end, value, base, conversion == 'X');
  size_t length = (size_t)(end - begin), precision = piece->has_precision ? piece->precision : 1;
  if (conversion == 'o' && piece->alternate && precision <= length)
    precision = length + 1;
  size_t zeros = precision > length ? precision - length : 0;
  const char *sign = is_negative                               ? "-"
                     : is_signed && piece->plus                ? "+"
                     : is_signed && piece->blank               ? " "
                     : base == 16 && piece->alternate && value ? conversion == 'X' ? "0X" : "0x"
                                                               : "";
  size_t padding = kymo_printfmt_padding(piece, strlen(sign) + zeros + length);
  if (piece->zero && !piece->left && !piece->has_precision) {
    zeros += padding;
    padding = 0;
  }
  if (!piece->left)
    at = put_fill(at, ' ', padding);
  at = stpcpy(at, sign);
  at = put_fill(at, '0', zeros);
  memcpy(at, begin, length);
  at += length;
  return piece->left ? put_fill(at, ' ', padding) : at;
}

/* ---- rendering to texts of any length ---- */

void kymo_printfmt_set_width(struct kymo_printfmt_piece *piece, int64_t width) {
  uint64_t wide = width < 0 ? 0 - (uint64_t)width : (uint64_t)width;
  piece->left |= width < 0;
  piece->width = wide < KYMO_PRINTFMT_MOST ? (uint32_t)wide : KYMO_PRINTFMT_MOST;
}

void kymo_printfmt_set_precision(struct kymo_printfmt_piece *piece, int64_t precision) {
  piece->has_precision = precision >= 0;
  piece->precision = precision < 0                    ? 0
                     : precision < KYMO_PRINTFMT_MOST ? (uint32_t)precision
                                                      : KYMO_PRINTFMT_MOST;
}

void kymo_printfmt_add_number(struct kymo_strbuf *out, const struct kymo_printfmt_piece *piece,
                              uint64_t value, unsigned bits) {
  size_t most = (size_t)piece->width + piece->precision + KYMO_PRINTFMT_ROOM;
  char *at = kymo_strbuf_room(out, most);
  if (at)
    kymo_strbuf_used(out, (size_t)(kymo_printfmt_number(at, piece, value, bits) - at));
}

void kymo_printfmt_add_text(struct kymo_strbuf *out, const struct kymo_printfmt_piece *piece,
                            const char *text, size_t length) {
  if (piece->has_precision && length > piece->precision)
    length = piece->precision;
  size_t padding = kymo_printfmt_padding(piece, length);
  char *at = kymo_strbuf_room(out, length + padding);
  if (!at)
    return;
  memset(at, ' ', length + padding);
  if (length)
    memcpy(piece->left ? at : at + padding, text, length);
  kymo_strbuf_used(out, length + padding);
}

void kymo_printfmt_add_wide(struct kymo_strbuf *out, const struct kymo_printfmt_piece *piece,
                            uint32_t character) {
  struct kymo_printfmt_piece whole = *piece;
  char text[4];
  size_t length = (size_t)(kymo_put_character(text, kymo_sound_character(character)) - text);
  whole.has_precision = false;
  kymo_printfmt_add_text(out, &whole, text, length);
}

void kymo_printfmt_add_address(struct kymo_strbuf *out, const struct kymo_printfmt_piece *piece,
                               uint64_t value) {
  struct kymo_printfmt_piece plain = *piece;
  plain.conversion = 'x';
  plain.alternate = true;
  if (value) {
    kymo_printfmt_add_number(out, &plain, value, 64);
    return;
  }
  plain.has_precision = false;
  kymo_printfmt_add_text(out, &plain, "(nil)", 5);
}

/* libc formats floats; the format that it receives is built here, not taken from the file. */
void kymo_printfmt_add_float(struct kymo_strbuf *out, const struct kymo_printfmt_piece *piece, double value) {
  char format[16], *at = format;
  *at++ = '%';
  for (int i = 0; i < 5; i++)
    if ((bool[]){piece->left, piece->plus, piece->blank, piece->alternate, piece->zero}[i])
      *at++ = "-+ #0"[i];
  at = stpcpy(at, "*.*");
  bool is_long = piece->modifier == 'L';
  if (is_long)
    *at++ = 'L';
  *at++ = strchr("aAeEfFgG", piece->conversion) ? piece->conversion : 'g';
  *at = 0;
  int width = (int)piece->width, precision = piece->has_precision ? (int)piece->precision : -1;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  if (is_long)
    kymo_strbuf_printf(out, format, width, precision, (long double)value);
  else
    kymo_strbuf_printf(out, format, width, precision, value);
#pragma GCC diagnostic pop
}
