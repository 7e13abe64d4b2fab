/* SPDX-License-Identifier: MIT */
/*
 * Format strings as of printf that come from files: parsed against a whitelist, and rendered here. They
 * never reach printf.
 *
 *   "port %d: 0x%08x"   ──►   { "port " %d } { ": 0x" %08x } { "" 0 }
 *
 * Known are the flags - + blank # 0, a width and a precision up to KYMO_PRINTFMT_WIDTH, the lengths h l z,
 * %% and the conversions that the caller allows. If '*' is among them, it is all of C's syntax: the flag '
 * too, widths and precisions up to KYMO_PRINTFMT_MOST or taken from arguments, all lengths.
 */
#ifndef KYMO_BASE_PRINTFMT_H
#define KYMO_BASE_PRINTFMT_H

#include "base/arena.h"
#include "base/strbuf.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KYMO_PRINTFMT_WIDTH 200
/* The most bytes that one number takes. */
#define KYMO_PRINTFMT_ROOM (KYMO_PRINTFMT_WIDTH + 40)
/* The largest width and precision of C's whole syntax; larger ones from arguments count as this. */
#define KYMO_PRINTFMT_MOST 65536

/* What a conversion prints. */
enum kymo_printfmt_kind {
  KYMO_PRINTFMT_INTEGER, /* d i o u x X, and CPEL's I */
  KYMO_PRINTFMT_CHARACTER,
  KYMO_PRINTFMT_FLOAT,
  KYMO_PRINTFMT_TEXT, /* s, and CPEL's k */
  KYMO_PRINTFMT_ADDRESS,
  KYMO_PRINTFMT_ERRNO,
  KYMO_PRINTFMT_NOTHING, /* the end, and % */
};

static inline enum kymo_printfmt_kind kymo_printfmt_kind(char conversion) {
  switch (conversion) {
  case 'd':
  case 'i':
  case 'o':
  case 'u':
  case 'x':
  case 'X':
  case 'I': return KYMO_PRINTFMT_INTEGER;
  case 'c': return KYMO_PRINTFMT_CHARACTER;
  case 's':
  case 'k': return KYMO_PRINTFMT_TEXT;
  case 'p': return KYMO_PRINTFMT_ADDRESS;
  case 'm': return KYMO_PRINTFMT_ERRNO;
  case '%':
  case 0: return KYMO_PRINTFMT_NOTHING;
  default: return KYMO_PRINTFMT_FLOAT; /* no other letter is let through */
  }
}

struct kymo_printfmt_piece {
  const char *text; /* the text before the conversion; not NUL-terminated */
  size_t length;
  char conversion; /* 0: the end */
  char modifier;   /* 0, h l j z t L (also for q), or H for hh */
  bool left, plus, blank, alternate, zero, has_precision;
  bool width_is_argument, precision_is_argument; /* a separate int argument before the value */
  uint32_t width, precision;
};

struct kymo_printfmt {
  const struct kymo_printfmt_piece *pieces; /* at least one; the last one is the end */
  size_t count;
};

/* What is wrong with a format, and where. */
struct kymo_printfmt_fault {
  size_t at;
  const char *what;
};

/* Parses `length` bytes of a format; the pieces live in the arena, and texts in them point to `text` unless
 * it has %%. `conversions` are the allowed letters. False: the format is invalid, and *fault says why;
 * fault->what is NULL when memory ran out. */
bool kymo_printfmt_parse(struct kymo_printfmt *out, struct kymo_arena *arena, const char *text, size_t length,
                         const char *conversions, struct kymo_printfmt_fault *fault);

/* Renders a number of `bits` (1 to 64) bits by a piece of conversion d i u o x X c, or I (IPv4 address): at
 * most KYMO_PRINTFMT_ROOM bytes. Returns the place after the last one. */
char *kymo_printfmt_number(char *at, const struct kymo_printfmt_piece *piece, uint64_t value, unsigned bits);

/* C's whole syntax without %n; what KYMO_PRINTF takes. */
#define KYMO_PRINTFMT_WHOLE "diouxXcspaAeEfFgGmCS*"

/* Sets a width or precision that an argument gave: a negative width aligns to the left, a negative precision
 * counts as none. */
void kymo_printfmt_set_width(struct kymo_printfmt_piece *piece, int64_t width);
void kymo_printfmt_set_precision(struct kymo_printfmt_piece *piece, int64_t precision);

/* The same as kymo_printfmt_number for widths and precisions of any size, appended. */
void kymo_printfmt_add_number(struct kymo_strbuf *out, const struct kymo_printfmt_piece *piece,
                              uint64_t value, unsigned bits);
/* A float by a piece of conversion a A e E f F g G; an address by one of p; a text by one of s. */
void kymo_printfmt_add_float(struct kymo_strbuf *out, const struct kymo_printfmt_piece *piece, double value);
void kymo_printfmt_add_address(struct kymo_strbuf *out, const struct kymo_printfmt_piece *piece,
                               uint64_t value);
void kymo_printfmt_add_text(struct kymo_strbuf *out, const struct kymo_printfmt_piece *piece,
                            const char *text, size_t length);
/* A wide character by a piece of conversion c with modifier l: as UTF-8; a code that is no character as
 * U+FFFD. (Wide texts are UTF-8 already.) */
void kymo_printfmt_add_wide(struct kymo_strbuf *out, const struct kymo_printfmt_piece *piece,
                            uint32_t character);

/* The number of blanks before (or, if it is left-aligned, after) a text of `length` bytes. */
size_t kymo_printfmt_padding(const struct kymo_printfmt_piece *piece, size_t length);

#endif
