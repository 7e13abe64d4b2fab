/* SPDX-License-Identifier: MIT */
/*
 * Habits of C, SQL and Kaitai: where a text of TDL or FDL is refused, the line that its author probably
 * meant.
 *
 *   line ──► pieces ──► rules change some of them ──► line
 *
 * Rules only see a line that was refused, so a rule may also match text that is correct elsewhere, as long
 * as its piece is near the fault.
 */
#ifndef KYMO_LANG_TDL_HABIT_H
#define KYMO_LANG_TDL_HABIT_H

#include "lang/tdl/lexer.h"

#define TDL_HABIT_BYTES 140

/* Writes the line at byte `at`, which error `code` is about, as it would be accepted, or the part of it that
 * is concerned, to `out`. False: no habit is recognized. */
bool kymo_tdl_habit(const struct tdl_session *session, uint32_t at, const char *code,
                    char out[TDL_HABIT_BYTES]);

/* ---- for the rules, habit_rules.c ---- */

enum { TDL_PIECES_MAX = 96, TDL_PIECE_BYTES = 48 };
enum tdl_piece_kind {
  TDL_PIECE_WORD,
  TDL_PIECE_NUMBER,
  TDL_PIECE_TEXT,
  TDL_PIECE_QUOTED,
  TDL_PIECE_REGEX,
  TDL_PIECE_SIGN
};

struct tdl_piece {
  const char *text;
  uint32_t length;
  enum tdl_piece_kind kind; /* QUOTED: in single quotes, which do not belong to `text` */
  bool is_changed, is_dropped;
  bool is_spaced; /* a blank is before it; `is_apart`: it must be */
  bool is_apart;
  char put[TDL_PIECE_BYTES];  /* instead of `text`, or "" */
  const char *before, *after; /* around it, or NULL */
};

struct tdl_line {
  struct tdl_piece pieces[TDL_PIECES_MAX];
  uint32_t count;
  uint32_t fault; /* the piece that was refused */
  bool is_filter;
  bool is_unknown; /* it is a name that nothing has */
};

/* Habits of conditions, and those that only filters know (habit_filter.c), at piece `i`. */
void kymo_tdl_habit_test(struct tdl_line *line, uint32_t i);
void kymo_tdl_habit_filter(struct tdl_line *line, uint32_t i);
/* Applies the rules. */
void kymo_tdl_habit_rules(struct tdl_line *line);

#endif
