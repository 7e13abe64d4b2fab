/* SPDX-License-Identifier: MIT */
#include "lang/tdl/habit.h"
#include <string.h>

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* ---- a line as pieces ---- */

struct scan {
  const char *at, *end;
  const struct tdl_piece *previous;
};

static bool is_pattern_next(const struct tdl_piece *previous) {
  static const char *const before[] = {"MATCHES", "REGEXP", "RLIKE", "=", "==", "!=", "<>"};
  bool is_next = previous && previous->length > 0 && previous->text[previous->length - 1] == '~';
  for (size_t i = 0; previous && i < sizeof before / sizeof *before; i++)
    is_next |= previous->length == strlen(before[i]) &&
               strncasecmp(previous->text, before[i], previous->length) == 0;
  return is_next;
}

/* The number of bytes in quotes, or to the end of the line. */
static uint32_t quoted_length(const struct scan *scan) {
  const char *at = scan->at + 1;
  while (at < scan->end && *at != *scan->at)
    at += *at == '\\' && at + 1 < scan->end ? 2 : 1;
  return (uint32_t)((at < scan->end ? at + 1 : scan->end) - scan->at);
}

static uint32_t sign_length(const struct scan *scan) {
  static const char *const signs[] = {"==", "!=", "&&", "||", "=<", "=>", "=~", "->", ":=", "<>",
                                      "<=", ">=", "<<", ">>", "..", "//", "/*", "*/", "--", "::"};
  for (size_t i = 0; scan->at + 1 < scan->end && i < sizeof signs / sizeof *signs; i++)
    if (memcmp(scan->at, signs[i], 2) == 0)
      return 2;
  return 1;
}

/* A number with all letters that touch it, and its fraction. */
static uint32_t number_length(const struct scan *scan) {
  const char *at = scan->at;
  while (at < scan->end && (is_word(*at) || (*at == '.' && at + 1 < scan->end && at[1] >= '0' &&
                                             at[1] <= '9' && at[-1] != '.')))
    at++;
  return (uint32_t)(at - scan->at);
}

static void take(struct scan *scan, struct tdl_piece *piece) {
  char c = *scan->at;
  *piece = (struct tdl_piece){.text = scan->at, .kind = TDL_PIECE_SIGN};
  if (c >= '0' && c <= '9') {
    piece->kind = TDL_PIECE_NUMBER;
    piece->length = number_length(scan);
  } else if (is_word(c)) {
    piece->kind = TDL_PIECE_WORD;
    while (scan->at + piece->length < scan->end && is_word(scan->at[piece->length]))
      piece->length++;
  } else if (c == '"' || c == '\'' || c == '`' || (c == '/' && is_pattern_next(scan->previous))) {
    piece->kind = c == '\'' ? TDL_PIECE_QUOTED : c == '/' ? TDL_PIECE_REGEX : TDL_PIECE_TEXT;
    piece->length = quoted_length(scan);
  } else {
    piece->length = sign_length(scan);
  }
  scan->at += piece->length;
  if (piece->kind == TDL_PIECE_QUOTED && piece->length >= 2 && piece->text[piece->length - 1] == '\'') {
    piece->text++;
    piece->length -= 2;
  }
}

/* False: the line is too long to look at. */
static bool split(struct tdl_line *line, const char *begin, const char *end, const char *fault) {
  struct scan scan = {begin, end, NULL};
  for (;;) {
    const char *from = scan.at;
    while (scan.at < end && (*scan.at == ' ' || *scan.at == '\t' || *scan.at == '\r'))
      scan.at++;
    if (scan.at >= end)
      break;
    if (line->count == TDL_PIECES_MAX)
      return false;
    struct tdl_piece *piece = &line->pieces[line->count];
    bool is_spaced = scan.at > from;
    if (scan.at <= fault)
      line->fault = line->count;
    take(&scan, piece);
    piece->is_spaced = is_spaced;
    scan.previous = piece;
    line->count++;
  }
  return line->count > 0;
}

/* ---- pieces as a line ---- */

struct writing {
  char *out;
  size_t used;
  bool is_full;
};

static void put(struct writing *to, const char *text, size_t length) {
  to->is_full |= length >= TDL_HABIT_BYTES - to->used;
  if (to->is_full)
    return;
  memcpy(to->out + to->used, text, length);
  to->used += length;
  to->out[to->used] = '\0';
}

static void put_piece(struct writing *to, const struct tdl_piece *piece) {
  if (piece->before)
    put(to, piece->before, strlen(piece->before));
  if (*piece->put)
    put(to, piece->put, strlen(piece->put));
  else
    put(to, piece->text, piece->length);
  if (piece->after)
    put(to, piece->after, strlen(piece->after));
}

/* The pieces from one to another. */
static bool write_line(const struct tdl_line *line, uint32_t from, uint32_t to, char *out) {
  struct writing writing = {.out = out};
  bool is_apart = false;
  *out = '\0';
  for (uint32_t i = from; i < to; i++) {
    const struct tdl_piece *piece = &line->pieces[i];
    if (piece->is_dropped)
      continue;
    if (writing.used && (piece->is_spaced || is_apart || piece->is_apart))
      put(&writing, " ", 1);
    put_piece(&writing, piece);
    is_apart = piece->is_apart;
  }
  return !writing.is_full && writing.used > 0;
}

/* Operands of the wrong type were understood, except these: a value where a condition is expected, "x" IN
 * text, number = "80". */
static bool is_type_meant(const struct tdl_line *line) {
  static const char *const words[] = {"AND", "OR", "NOT", "IN", "&&", "||", "=", "==", "<>", "!="};
  const struct tdl_piece *previous = line->fault ? &line->pieces[line->fault - 1] : NULL;
  bool is_meant = previous && previous->text[previous->length - 1] == '~';
  for (size_t i = 0; previous && line->is_filter && i < sizeof words / sizeof *words; i++)
    is_meant |=
        previous->length == strlen(words[i]) && strncasecmp(previous->text, words[i], previous->length) == 0;
  return is_meant;
}

bool kymo_tdl_habit(const struct tdl_session *session, uint32_t at, const char *code,
                    char out[TDL_HABIT_BYTES]) {
  struct tdl_line line = {.is_filter = session->language == TDL_LANGUAGE_FDL,
                          .is_unknown = strcmp(code, "E31") == 0};
  const char *text = session->common.text,
             *fault = text + (at < session->common.length ? at : session->common.length), *begin = fault;
  while (begin > text && begin[-1] != '\n')
    begin--;
  const char *end = memchr(begin, '\n', (size_t)(text + session->common.length - begin));
  if (!split(&line, begin, end ? end : text + session->common.length, fault))
    return false;
  if (strcmp(code, "E41") == 0 && !is_type_meant(&line))
    return false;
  kymo_tdl_habit_rules(&line);
  uint32_t first = 0, last = line.count;
  while (first < line.count && !line.pieces[first].is_changed)
    first++;
  while (last > first && !line.pieces[last - 1].is_changed)
    last--;
  if (first == line.count || first > line.fault + 1)
    return false;
  return write_line(&line, 0, line.count, out) ||
         write_line(&line, first > 3 ? first - 3 : 0, last + 3 < line.count ? last + 3 : line.count, out);
}
