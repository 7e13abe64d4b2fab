/* SPDX-License-Identifier: MIT */
/* Parsed formats of kymo_bprintf: one operation for each text between directives and each directive. */
#ifndef KYMO_LOG_FORMAT_H
#define KYMO_LOG_FORMAT_H

#include <kymo/bprintf.h>

enum { KYMO_BOPS_MAX = 80, KYMO_BARGS_MAX = 64, KYMO_BWIDTH_MAX = 65536, KYMO_BTEXT_WIDTH_MAX = 200 };

struct kymo_bop {
  char conversion;      /* 0: text of the format */
  char order, modifier; /* 0, '<', '>'; 0, 'h', 'H' (hh) */
  bool left, plus, blank, alternate, zero, has_width, has_precision;
  int8_t width_arg, precision_arg; /* arguments with their values, or -1 */
  uint8_t arg;                     /* the first of its own */
  uint32_t width, precision;
  uint32_t text, length; /* the place of the text */
};

struct kymo_bprogram {
  struct kymo_bop ops[KYMO_BOPS_MAX];
  uint32_t count, args; /* args: that it takes */
};

/* NULL, or the fault of the format, at *at. */
const char *kymo_bformat_parse(struct kymo_bprogram *out, const char *format, size_t *at);

#endif
