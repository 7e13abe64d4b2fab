/* SPDX-License-Identifier: MIT */
/* Functions by which rules query and change the pieces of a line. */
#ifndef KYMO_LANG_TDL_HABIT_PIECES_H
#define KYMO_LANG_TDL_HABIT_PIECES_H

#include "lang/tdl/habit.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>

static inline bool is(const struct tdl_line *line, uint32_t i, const char *text) {
  return i < line->count && line->pieces[i].kind != TDL_PIECE_TEXT &&
         line->pieces[i].length == strlen(text) &&
         strncasecmp(line->pieces[i].text, text, line->pieces[i].length) == 0;
}

static inline bool is_kind(const struct tdl_line *line, uint32_t i, enum tdl_piece_kind kind) {
  return i < line->count && line->pieces[i].kind == kind;
}

static inline bool is_any(const struct tdl_line *line, uint32_t i, const char *const *texts) {
  for (; *texts; texts++)
    if (is(line, i, *texts))
      return true;
  return false;
}

static inline bool is_relation(const struct tdl_line *line, uint32_t i) {
  static const char *const relations[] = {"=", "==", "<>", "!=", "<", "<=", "=<", ">", ">=", "=>", NULL};
  return is_any(line, i, relations);
}

static inline bool is_equal(const struct tdl_line *line, uint32_t i) {
  return is(line, i, "=") || is(line, i, "==");
}

static inline void change(struct tdl_line *line, uint32_t i, const char *put) {
  struct tdl_piece *piece = &line->pieces[i];
  snprintf(piece->put, sizeof piece->put, "%s", put);
  piece->is_changed = true;
}

static inline void change_word(struct tdl_line *line, uint32_t i, const char *put) {
  change(line, i, put);
  line->pieces[i].is_apart = true;
}

static inline void drop(struct tdl_line *line, uint32_t i) {
  line->pieces[i].is_dropped = line->pieces[i].is_changed = true;
}

static inline void surround(struct tdl_line *line, uint32_t first, uint32_t last, const char *before,
                            const char *after) {
  line->pieces[first].before = before;
  line->pieces[last].after = after;
  line->pieces[first].is_changed = line->pieces[last].is_changed = true;
}

#endif
