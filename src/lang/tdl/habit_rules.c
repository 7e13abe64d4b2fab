/* SPDX-License-Identifier: MIT */
/* Rules for what users of C, SQL or Kaitai write, and its form in TDL and FDL. Each rule looks at one piece
 * and those around it. */
#include "lang/tdl/address.h"
#include "lang/tdl/habit_pieces.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_near(const struct tdl_line *line, uint32_t i) {
  return i == line->fault || i + 1 == line->fault;
}

/* The last piece of the compared operand, from `i` on: up to AND, OR, the end of the statement or of the
 * parentheses. */
static uint32_t end_of_test(const struct tdl_line *line, uint32_t i) {
  static const char *const ends[] = {"AND", "OR", "&&", "||", ";", "PER", "THEN", NULL};
  for (unsigned depth = 0; i + 1 < line->count; i++) {
    bool is_end = is_any(line, i + 1, ends) || (is(line, i + 1, ".") && i + 2 == line->count);
    depth += is(line, i, "(") || is(line, i, "[");
    depth -= depth && (is(line, i, ")") || is(line, i, "]"));
    if (depth == 0 && (is_end || is(line, i + 1, ")")))
      break;
  }
  return i;
}

/* The last piece of a list of values and ranges from `i` on. */
static uint32_t end_of_list(const struct tdl_line *line, uint32_t i) {
  while (i + 2 < line->count && (is(line, i + 1, "..") || is(line, i + 1, ",")))
    i += 2;
  return i;
}

/* ---- signs ---- */

static const struct {
  const char *from, *to;
  bool is_word;
} signs[] = {
    {"==", "=", false},  {"!=", "<>", false}, {"&&", "AND", true}, {"||", "OR", true},  {"=<", "<=", false},
    {"=>", ">=", false}, {":=", "=", false},  {"->", ".", false},  {"//", "--", false},
};

static void rule_sign(struct tdl_line *line, uint32_t i) {
  struct tdl_piece *piece = &line->pieces[i];
  for (size_t s = 0; s < sizeof signs / sizeof *signs && !piece->is_changed && piece->kind == TDL_PIECE_SIGN;
       s++)
    if (is(line, i, signs[s].from)) {
      change(line, i, signs[s].to);
      piece->is_apart = signs[s].is_word;
    }
  if (is(line, i, "!") && i + 1 < line->count && !is(line, i + 1, "=") && !line->pieces[i].is_changed)
    change_word(line, i, "NOT");
  if (is(line, i, "#"))
    change(line, i, "--");
  if (is(line, i, "/*"))
    change(line, i, "--");
  if (is(line, i, "*/"))
    drop(line, i);
}

/* ---- texts and patterns ---- */

/* A wildcard of SQL. */
static void change_wildcards(struct tdl_line *line, uint32_t i) {
  struct tdl_piece *piece = &line->pieces[i];
  if (piece->length >= sizeof piece->put || !memchr(piece->text, '%', piece->length))
    return;
  char put[TDL_PIECE_BYTES];
  snprintf(put, sizeof put, "%.*s", (int)piece->length, piece->text);
  for (char *at = put; (at = strchr(at, '%')) != NULL;)
    *at = '*';
  change(line, i, put);
}

static void rule_quotes(struct tdl_line *line, uint32_t i) {
  struct tdl_piece *piece = &line->pieces[i];
  if (piece->kind == TDL_PIECE_QUOTED && !memchr(piece->text, '"', piece->length))
    surround(line, i, i, "\"", "\"");
  if (i > 0 && is(line, i - 1, "LIKE") && (piece->kind == TDL_PIECE_QUOTED || piece->kind == TDL_PIECE_TEXT))
    change_wildcards(line, i);
}

/* A string that is to be a regular expression. */
static void change_to_regex(struct tdl_line *line, uint32_t i) {
  struct tdl_piece *piece = &line->pieces[i];
  bool has_quotes = piece->kind == TDL_PIECE_TEXT && piece->length >= 2 && *piece->text == '"';
  if (!has_quotes && piece->kind != TDL_PIECE_QUOTED)
    return;
  if (has_quotes) {
    piece->text++;
    piece->length -= 2;
  }
  piece->kind = TDL_PIECE_REGEX;
  surround(line, i, i, "/", "/");
}

static void rule_pattern(struct tdl_line *line, uint32_t i) {
  bool is_sign =
      !line->pieces[i].is_changed && (is(line, i, "=~") || (is(line, i, "~") && i > 0 && line->fault >= i));
  bool is_next = is_kind(line, i + 1, TDL_PIECE_TEXT) || is_kind(line, i + 1, TDL_PIECE_QUOTED) ||
                 is_kind(line, i + 1, TDL_PIECE_REGEX);
  if (is_sign && is_next)
    change_word(line, i, "MATCHES");
  if ((is_sign && is_next) || is(line, i, "MATCHES"))
    if (i + 1 < line->count)
      change_to_regex(line, i + 1);
}

static void rule_search(struct tdl_line *line, uint32_t i) {
  static const struct {
    const char *word, *before, *after;
  } words[] = {{"contains", "\"*", "*\""}, {"startswith", "\"", "*\""}, {"endswith", "\"*", "\""}};
  for (size_t w = 0; w < sizeof words / sizeof *words && i + 1 < line->count; w++) {
    struct tdl_piece *text = &line->pieces[i + 1];
    bool is_text = text->kind == TDL_PIECE_TEXT && text->length >= 2;
    if (!is(line, i, words[w].word) || !(is_text || text->kind == TDL_PIECE_QUOTED))
      continue;
    change_word(line, i, "LIKE");
    text->text += is_text;
    text->length -= is_text ? 2 : 0;
    text->kind = TDL_PIECE_REGEX;
    surround(line, i + 1, i + 1, words[w].before, words[w].after);
  }
}

/* A name as C writes those of constants: no field, most likely. */
static bool is_constant(const struct tdl_piece *piece) {
  for (uint32_t i = 0; i < piece->length; i++)
    if (piece->text[i] >= 'a' && piece->text[i] <= 'z')
      return false;
  return piece->length > 1;
}

/* The last piece of a name with colons, group:name. */
static uint32_t end_of_name(const struct tdl_line *line, uint32_t i) {
  while (is(line, i + 1, ":") && is_kind(line, i + 2, TDL_PIECE_WORD) && !line->pieces[i + 1].is_spaced &&
         !line->pieces[i + 2].is_spaced)
    i += 2;
  return i;
}

/* Whether a piece is one of the values of IN; kinds of records are names. */
static bool is_in_set(const struct tdl_line *line, uint32_t i) {
  while (i > 0 &&
         (is(line, i - 1, ",") || is_kind(line, i - 1, TDL_PIECE_WORD) ||
          is_kind(line, i - 1, TDL_PIECE_TEXT)) &&
         !is(line, i - 1, "IN"))
    i--;
  return i > 2 && is(line, i - 1, "(") && is(line, i - 2, "IN") && !is(line, i - 3, "KIND");
}

/* A compared word that is unknown: a text. */
static void rule_bare_word(struct tdl_line *line, uint32_t i) {
  bool is_true = is(line, i, "true"), is_false = is(line, i, "false"),
       is_compared = i > 0 && is_relation(line, i - 1);
  if (line->pieces[i].kind != TDL_PIECE_WORD || line->pieces[i].is_changed || !line->is_filter)
    return;
  bool is_event = is_compared && i > 1 && is(line, i - 2, "EVENT"),
       is_like = i > 0 && is(line, i - 1, "LIKE");
  if (is_compared && (is_true || is_false))
    change(line, i, is_true ? "1" : "0");
  else if (is_like && is(line, i + 1, "*") && !line->pieces[i + 1].is_spaced)
    surround(line, i, i + 1, "\"", "\"");
  else if (is_event || (is_compared && line->fault <= i && is_constant(&line->pieces[i]) &&
                        !is(line, i, "DURATION") && !is(line, i, "STREAM")))
    surround(line, i, end_of_name(line, i), "\"", "\"");
  else if (i == line->fault && line->is_unknown && !is(line, i + 1, ".") &&
           (is_compared || is_like || is_in_set(line, i)))
    surround(line, i, i, "\"", "\"");
  else if (line->is_unknown && i > line->fault && is_constant(&line->pieces[i]) && is_in_set(line, i) &&
           is_in_set(line, line->fault))
    surround(line, i, i, "\"", "\"");
}

/* ---- numbers ---- */

static const struct {
  const char *word, *unit;
  uint32_t times;
} durations[] = {
    {"sec", "s", 1},           {"secs", "s", 1},   {"second", "s", 1},  {"seconds", "s", 1},
    {"msec", "ms", 1},         {"msecs", "ms", 1}, {"millis", "ms", 1}, {"millisecond", "ms", 1},
    {"milliseconds", "ms", 1}, {"usec", "us", 1},  {"usecs", "us", 1},  {"microsecond", "us", 1},
    {"microseconds", "us", 1}, {"nsec", "ns", 1},  {"nsecs", "ns", 1},  {"nanosecond", "ns", 1},
    {"nanoseconds", "ns", 1},  {"min", "s", 60},   {"mins", "s", 60},   {"minute", "s", 60},
    {"minutes", "s", 60},      {"h", "s", 3600},   {"hour", "s", 3600}, {"hours", "s", 3600},
};

static void put_duration(struct tdl_line *line, uint32_t i, const char *digits, size_t unit, bool has_unit) {
  char put[TDL_PIECE_BYTES];
  uint64_t number = strtoull(digits, NULL, 10);
  const char *name = durations[unit].unit;
  if (durations[unit].times == 1)
    snprintf(put, sizeof put, "%.30s%s%s", digits, has_unit ? " " : "", has_unit ? name : "");
  else
    snprintf(put, sizeof put, "%" PRIu64 "%s%s", number * durations[unit].times, has_unit ? " " : "",
             has_unit ? name : "");
  change(line, i, put);
}

/* 1 sec, 1sec */
static void rule_unit(struct tdl_line *line, uint32_t i) {
  const struct tdl_piece *piece = &line->pieces[i];
  char digits[32], letters[32];
  if (piece->kind != TDL_PIECE_NUMBER || piece->length >= sizeof digits)
    return;
  size_t length = 0;
  while (length < piece->length &&
         ((piece->text[length] >= '0' && piece->text[length] <= '9') || piece->text[length] == '.'))
    length++;
  snprintf(digits, sizeof digits, "%.*s", (int)length, piece->text);
  snprintf(letters, sizeof letters, "%.*s", (int)(piece->length - length), piece->text + length);
  for (size_t d = 0; d < sizeof durations / sizeof *durations; d++) {
    if (*letters && strcasecmp(letters, durations[d].word) == 0) {
      put_duration(line, i, digits, d, true);
    } else if (!*letters && is(line, i + 1, durations[d].word) &&
               line->pieces[i + 1].kind == TDL_PIECE_WORD) {
      put_duration(line, i, digits, d, false);
      change(line, i + 1, durations[d].unit);
    }
  }
}

/* 0X1F, 10UL */
static void rule_number(struct tdl_line *line, uint32_t i) {
  const struct tdl_piece *piece = &line->pieces[i];
  char put[TDL_PIECE_BYTES];
  if (piece->kind != TDL_PIECE_NUMBER || piece->length >= sizeof put || piece->is_changed)
    return;
  snprintf(put, sizeof put, "%.*s", (int)piece->length, piece->text);
  size_t length = strlen(put), had = length;
  bool is_hex = length > 2 && put[0] == '0' && (put[1] == 'X' || put[1] == 'x'),
       is_capital = is_hex && put[1] == 'X';
  put[1] = is_capital ? 'x' : put[1];
  while (length > 1 && strchr("uUlL", put[length - 1]))
    put[--length] = '\0';
  if (is_capital || length < had)
    change(line, i, put);
}

/* 127.0.0.1: filters have it as a text, descriptions as a number of 32 bits. */
static void rule_address(struct tdl_line *line, uint32_t i) {
  const struct tdl_piece *piece = &line->pieces[i];
  struct tdl_bytes text = {(const uint8_t *)piece->text, piece->length};
  char put[TDL_PIECE_BYTES];
  uint32_t number;
  if (piece->kind != TDL_PIECE_NUMBER || !is_near(line, i) || !kymo_tdl_ipv4(text, &number))
    return;
  if (line->is_filter) {
    surround(line, i, i, "\"", "\"");
    return;
  }
  snprintf(put, sizeof put, "0x%08" PRIx32, number);
  change(line, i, put);
}

/* ---- ranges and sets ---- */

/* = 80..90, IN 80..90, IN [1, 2], x BETWEEN 80 AND 90 */
static void rule_range(struct tdl_line *line, uint32_t i) {
  bool is_range = is(line, i + 2, "..");
  bool is_moment = i > 0 && is(line, i - 1, "TIME") && is_kind(line, i + 1, TDL_PIECE_NUMBER);
  bool is_operand =
      i > 0 && !is_moment &&
      (line->pieces[i - 1].kind == TDL_PIECE_WORD || is(line, i - 1, ")") || is(line, i - 1, "]")) &&
      !is(line, i - 1, "AND") && !is(line, i - 1, "OR") && !is(line, i - 1, "NOT");
  if (is_equal(line, i) && is_range && i + 3 < line->count) {
    change_word(line, i, "IN");
    surround(line, i + 1, i + 3, "(", ")");
  } else if (is(line, i, "BETWEEN") && is_operand && is(line, i + 2, "AND") && i + 3 < line->count) {
    change_word(line, i, "IN");
    change(line, i + 2, "..");
    surround(line, i + 1, i + 3, "(", ")");
  } else if (is(line, i, "IN") && is(line, i + 1, "[")) {
    uint32_t end = i + 2;
    while (end < line->count && !is(line, end, "]"))
      end++;
    change(line, i + 1, "(");
    if (end < line->count)
      change(line, end, ")");
  } else if (is(line, i, "IN") && !is(line, i + 2, "-") &&
             (is_kind(line, i + 1, TDL_PIECE_NUMBER) || is_kind(line, i + 1, TDL_PIECE_TEXT) ||
              is_kind(line, i + 1, TDL_PIECE_QUOTED))) {
    surround(line, i + 1, end_of_list(line, i + 1), "(", ")");
  }
}

static void rule_null(struct tdl_line *line, uint32_t i) {
  static const char *const nothing[] = {"NULL", "nil", "None", "ABSENT", NULL};
  bool is_not = is(line, i + 1, "NOT"), is_unequal = is(line, i, "!=") || is(line, i, "<>");
  if (is(line, i, "IS") && is_any(line, i + 1 + is_not, nothing) && !is(line, i + 2 + is_not, "WHEN")) {
    if (is_not)
      drop(line, i + 1);
    change_word(line, i + 1 + is_not, is_not ? "PRESENT" : "NOT PRESENT");
  } else if ((is_equal(line, i) || is_unequal) && is_any(line, i + 1, nothing) &&
             line->pieces[i + 1].kind == TDL_PIECE_WORD) {
    change_word(line, i, "IS");
    change_word(line, i + 1, is_unequal ? "PRESENT" : "NOT PRESENT");
  }
}

/* HAS "x", HAS x, HAS ("x"), HAS ANY ("x") */
static void rule_flags(struct tdl_line *line, uint32_t i) {
  bool is_quantified = is(line, i + 1, "ANY") || is(line, i + 1, "ALL") || is(line, i + 1, "NONE");
  uint32_t next = i + 1 + is_quantified;
  if (!is(line, i, "HAS") || i == 0 || next >= line->count || is(line, next, "OF") || is_relation(line, next))
    return;
  if (is_quantified)
    change_word(line, i + 1,
                is(line, i + 1, "ANY")   ? "ANY OF"
                : is(line, i + 1, "ALL") ? "ALL OF"
                                         : "NONE OF");
  else
    change_word(line, i, "HAS ANY OF");
  bool has_parenthesis = is(line, next, "(");
  uint32_t value = next + has_parenthesis;
  bool is_bare = is_kind(line, value, TDL_PIECE_WORD);
  if (!has_parenthesis && value < line->count)
    surround(line, value, value, is_bare || is_kind(line, value, TDL_PIECE_QUOTED) ? "(\"" : "(",
             is_bare || is_kind(line, value, TDL_PIECE_QUOTED) ? "\")" : ")");
  else if (is_bare)
    surround(line, value, value, "\"", "\"");
}

/* ---- what only filters have ---- */

/* AFTER EVENT = "x", AFTER EVENT "x" */
static void rule_side(struct tdl_line *line, uint32_t i) {
  static const char *const sides[] = {"AFTER", "BEFORE", "AROUND", NULL};
  uint32_t operand = i + 1 + (is(line, i + 1, "FIRST") || is(line, i + 1, "LAST"));
  static const char *const tests[] = {"LIKE", "IN", "MATCHES", "HAS", "IS", "=~", NULL};
  if (is_any(line, i, sides) && is_kind(line, operand, TDL_PIECE_WORD) &&
      (is_relation(line, operand + 1) || is_any(line, operand + 1, tests)))
    surround(line, operand, end_of_test(line, operand), "(", ")");
  if (is_any(line, i, sides) && is(line, operand, "EVENT") && is_kind(line, operand + 1, TDL_PIECE_TEXT))
    surround(line, operand, operand + 1, "(", ")");
}

/* TIME > 10 ms */
static void rule_distance(struct tdl_line *line, uint32_t i, bool is_from) {
  uint32_t last =
      i + 2 + (is_kind(line, i + 3, TDL_PIECE_WORD) && !is(line, i + 3, "AND") && !is(line, i + 3, "OR"));
  change_word(line, i + 1, "IN");
  surround(line, i + 2, last, is_from ? "(+" : "(START .. +", is_from ? " .. END)" : ")");
}

/* Moments have a date; which one a time of day belongs to, only the trace knows. */
static bool has_date(const struct tdl_piece *piece) {
  uint32_t quote = piece->kind == TDL_PIECE_TEXT;
  return piece->length > quote + 4 && piece->text[quote + 4] == '-';
}

/* TIME >= "2026-01-01" */
static void rule_time(struct tdl_line *line, uint32_t i) {
  bool is_from = is(line, i + 1, ">") || is(line, i + 1, ">=") || is(line, i + 1, "=>");
  bool is_to = is(line, i + 1, "<") || is(line, i + 1, "<=") || is(line, i + 1, "=<");
  bool is_text = is_kind(line, i + 2, TDL_PIECE_TEXT);
  bool is_time = is(line, i, "TIME");
  if (is_time && (is_from || is_to) && is_kind(line, i + 2, TDL_PIECE_NUMBER))
    rule_distance(line, i, is_from);
  if (!is_time || !(is_from || is_to) || !(is_text || is_kind(line, i + 2, TDL_PIECE_QUOTED)) ||
      !has_date(&line->pieces[i + 2]))
    return;
  change_word(line, i + 1, "IN");
  line->pieces[i + 2].kind = TDL_PIECE_REGEX; /* its quotes are in `before` and `after` */
  surround(line, i + 2, i + 2,
           is_text   ? is_from ? "(" : "(START .. "
           : is_from ? "(\""
                     : "(START .. \"",
           is_text   ? is_from ? " .. END)" : ")"
           : is_from ? "\" .. END)"
                     : "\")");
}

/* SELECT * FROM t WHERE test, WHERE test; in a filter of a command line: SELECT test */
static void rule_select(struct tdl_line *line, uint32_t i) {
  uint32_t where = i;
  bool is_select = is(line, i, "SELECT") && line->fault == 0;
  bool is_where = is(line, i, "WHERE") && is_kind(line, i + 1, TDL_PIECE_WORD) && line->fault <= 1;
  if (i > 0 || !(is_select || is_where))
    return;
  while (where < line->count && !is(line, where, "WHERE"))
    where++;
  for (uint32_t drops = 0; drops <= (where < line->count ? where : 0); drops++)
    drop(line, drops);
  if (is(line, line->count - 1, ";") || is(line, line->count - 1, "."))
    drop(line, line->count - 1);
}

static void rule_count(struct tdl_line *line, uint32_t i) {
  bool is_call = is(line, i + 1, "(") && is_kind(line, i + 2, TDL_PIECE_WORD) && is(line, i + 3, ")");
  if (!is_call || line->fault > i + 1)
    return;
  if (is(line, i, "count"))
    change_word(line, i, "COUNT OF");
  else if (is(line, i, "strlen") || is(line, i, "length") || is(line, i, "len"))
    change_word(line, i, "SIZE OF");
  else if (is(line, i, "exists"))
    drop(line, i);
  else
    return;
  drop(line, i + 1);
  if (is(line, i, "exists"))
    change_word(line, i + 3, "IS PRESENT");
  else
    drop(line, i + 3);
}

/* The name of an event alone: net:rx, net:* */
static void rule_event(struct tdl_line *line, uint32_t i) {
  static const char *const befores[] = {"AND", "OR", "NOT", "(", "&&", "||", "!", NULL}, *const afters[] = {
                                                                                             "AND", "OR",
                                                                                             ")",   "&&",
                                                                                             "||",  NULL};
  bool is_glob = is(line, i + 1, ":") && is(line, i + 2, "*");
  uint32_t end = is_glob ? i + 2 : end_of_name(line, i);
  bool begins = i == 0 || is_any(line, i - 1, befores),
       ends = end + 1 == line->count || is_any(line, end + 1, afters);
  if (is_kind(line, i, TDL_PIECE_WORD) && end > i && begins && ends)
    surround(line, i, end, is_glob ? "EVENT LIKE \"" : "EVENT = \"", "\"");
}

/* Names that other tools have for the name and the time of an event. */
static void rule_name(struct tdl_line *line, uint32_t i) {
  static const char *const names[] = {"name", "event_name", "tracepoint", NULL},
                           *const times[] = {"ts", "timestamp", NULL},
                           *const tests[] = {"LIKE", "IN", "MATCHES", NULL};
  bool is_tested = is_relation(line, i + 1) || is_any(line, i + 1, tests);
  if (i != line->fault || !line->is_unknown || !is_tested)
    return;
  if (is(line, i, "EVENT") || is_any(line, i, names))
    change_word(line, i, "EVENT");
  else if (is_any(line, i, times) && !is_kind(line, i + 2, TDL_PIECE_NUMBER))
    change_word(line, i, "ACQUISITION");
}

/* test LIMIT 10; */
static void rule_end(struct tdl_line *line, uint32_t i) {
  if (is(line, i, "LIMIT") && is_kind(line, i + 1, TDL_PIECE_NUMBER) && line->fault <= i)
    change_word(line, i, "FIRST");
  else if (i > 0 && i == line->fault && i + 1 == line->count && is(line, i, ";") && !is(line, 0, "SELECT"))
    drop(line, i);
}

/* ---- keywords in small letters ---- */

static void rule_small(struct tdl_line *line, uint32_t i) {
  static const char *const words[] = {"and",     "or",      "not",    "in",    "is",      "like",
                                      "matches", "has",     "any",    "all",   "none",    "of",
                                      "present", "changed", "valid",  "per",   "between", "after",
                                      "before",  "within",  "around", "every", "select",  NULL};
  static const char *const items[] = {"unsigned", "integer", "float",  "string", "bytes", "record",
                                      "event",    "end",     "let",    "check",  "if",    "then",
                                      "else",     "case",    "token",  "flags",  "type",  "trace",
                                      "layout",   "repeat",  "filler", "units",  "scale", NULL};
  const struct tdl_piece *piece = &line->pieces[i];
  bool is_small =
      piece->kind == TDL_PIECE_WORD && !piece->is_changed && *piece->text >= 'a' && *piece->text <= 'z';
  bool is_meant = is_any(line, i, words) || (!line->is_filter && is_near(line, i) && is_any(line, i, items));
  char put[TDL_PIECE_BYTES];
  bool is_seen = false; /* the fault is at some keyword in small letters */
  for (uint32_t k = line->fault ? line->fault - 1 : 0; k <= line->fault && k < line->count; k++)
    is_seen |= is_any(line, k, words) && *line->pieces[k].text >= 'a';
  if (!is_small || !is_meant || !(is_near(line, i) || is_seen))
    return;
  snprintf(put, sizeof put, "%.*s", (int)piece->length, piece->text);
  for (char *at = put; *at; at++)
    *at = *at >= 'a' && *at <= 'z' ? (char)(*at - 'a' + 'A') : *at;
  change(line, i, put);
}

/* ---- types of C ---- */

static const struct {
  const char *name, *type;
} types[] = {
    {"double", "FLOAT 64"},    {"float", "FLOAT 32"},    {"bool", "UNSIGNED 8"},    {"boolean", "UNSIGNED 8"},
    {"_Bool", "UNSIGNED 8"},   {"byte", "UNSIGNED 8"},   {"uchar", "UNSIGNED 8"},   {"word", "UNSIGNED 16"},
    {"dword", "UNSIGNED 32"},  {"qword", "UNSIGNED 64"}, {"short", "INTEGER 16"},   {"int", "INTEGER 32"},
    {"long", "INTEGER 64"},    {"uint", "UNSIGNED 32"},  {"ushort", "UNSIGNED 16"}, {"ulong", "UNSIGNED 64"},
    {"size_t", "UNSIGNED 64"}, {"char", "UNSIGNED 8"},   {"varchar", "STRING"},     {"signed", "INTEGER 32"},
};

/* UINT32, uint32_t, u8, INT16, UNSIGNED32 */
static bool find_type(const struct tdl_piece *piece, char put[TDL_PIECE_BYTES]) {
  static const struct {
    const char *stem, *type;
  } stems[] = {{"uint", "UNSIGNED"},   {"unsigned", "UNSIGNED"}, {"u", "UNSIGNED"},     {"int", "INTEGER"},
               {"integer", "INTEGER"}, {"sint", "INTEGER"},      {"signed", "INTEGER"}, {"s", "INTEGER"},
               {"i", "INTEGER"},       {"float", "FLOAT"},       {"f", "FLOAT"},        {"string", "STRING"}};
  char name[TDL_PIECE_BYTES];
  if (piece->kind != TDL_PIECE_WORD || piece->length >= sizeof name)
    return false;
  snprintf(name, sizeof name, "%.*s", (int)piece->length, piece->text);
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (strcasecmp(name, types[i].name) == 0 && snprintf(put, TDL_PIECE_BYTES, "%s", types[i].type) > 0)
      return true;
  for (size_t i = 0; i < sizeof stems / sizeof *stems; i++) {
    size_t length = strlen(stems[i].stem);
    char *end, *digits = name + length;
    if (strncasecmp(name, stems[i].stem, length) != 0 || *digits < '1' || *digits > '9')
      continue;
    unsigned long bits = strtoul(digits, &end, 10);
    if ((*end == '\0' || strcasecmp(end, "_t") == 0) && bits <= 4096) {
      snprintf(put, TDL_PIECE_BYTES, "%s %lu", stems[i].type, bits);
      return true;
    }
  }
  return false;
}

/* The number of bits in a type of Kaitai: u4le, s2, f8be. 0: it is none. */
static unsigned kaitai_bits(const char *name, const char **order) {
  size_t length = strlen(name);
  bool has_order = length == 4 && (strcmp(name + 2, "le") == 0 || strcmp(name + 2, "be") == 0);
  unsigned bytes = length >= 2 && name[1] > '0' && name[1] < '9' ? (unsigned)(name[1] - '0') : 0;
  bool is_size = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
  *order = !has_order ? "" : name[2] == 'b' ? " BIG" : " LITTLE";
  if (!is_size || !strchr("usf", *name) || (!has_order && length != 2) || (*name == 'f' && bytes < 4))
    return 0;
  return !has_order && bytes == 8 && *name != 'f' ? 0 : bytes * 8; /* u8 alone is that of other languages */
}

static bool find_kaitai(const struct tdl_piece *piece, char put[TDL_PIECE_BYTES]) {
  char name[TDL_PIECE_BYTES];
  const char *order;
  if (piece->kind != TDL_PIECE_WORD || piece->length >= sizeof name)
    return false;
  snprintf(name, sizeof name, "%.*s", (int)piece->length, piece->text);
  unsigned bits = kaitai_bits(name, &order);
  if (strcmp(name, "strz") == 0)
    return snprintf(put, TDL_PIECE_BYTES, "STRING ENDED 0") > 0;
  return bits && snprintf(put, TDL_PIECE_BYTES, "%s %u%s",
                          *name == 'u'   ? "UNSIGNED"
                          : *name == 's' ? "INTEGER"
                                         : "FLOAT",
                          bits, order) > 0;
}

/* uint32_t a[3]; a: uint32_t[3] */
static bool change_array(struct tdl_line *line, uint32_t i) {
  char type[TDL_PIECE_BYTES], put[TDL_PIECE_BYTES];
  uint32_t at = is(line, i + 1, "[") ? i + 1 : i + 2;
  const struct tdl_piece *name = &line->pieces[i + 1], *count = &line->pieces[at + 1];
  bool has_name = at == i + 2;
  if (!is(line, at, "[") || !is_kind(line, at + 1, TDL_PIECE_NUMBER) || !is(line, at + 2, "]") ||
      (has_name && !is_kind(line, i + 1, TDL_PIECE_WORD)) || count->length > 8 || name->length > 16 ||
      !(find_kaitai(&line->pieces[i], type) || find_type(&line->pieces[i], type)))
    return false;
  int length = snprintf(put, sizeof put, "%.*s%sARRAY %.*s OF %s", has_name ? (int)name->length : 0,
                        name->text, has_name ? ": " : "", (int)count->length, count->text, type);
  if (length < 0 || (size_t)length >= sizeof put)
    return false;
  change(line, i, put);
  for (uint32_t k = i + 1; k <= at + 2; k++)
    drop(line, k);
  return true;
}

/* struct point p; struct point { … */
static void rule_struct(struct tdl_line *line, uint32_t i) {
  char put[TDL_PIECE_BYTES];
  bool is_word = i == 0 && is(line, i, "struct") && is_kind(line, i + 1, TDL_PIECE_WORD) && line->fault <= 1;
  const struct tdl_piece *name = &line->pieces[i + 1], *field = &line->pieces[i + 2];
  if (is_word && is(line, i + 2, "{")) {
    change_word(line, i, "GROUP");
    change_word(line, i + 2, "IS");
  } else if (is_word && is_kind(line, i + 2, TDL_PIECE_WORD) && is(line, i + 3, ";") && name->length < 20 &&
             field->length < 20) {
    snprintf(put, sizeof put, "%.*s: USE %.*s", (int)field->length, field->text, (int)name->length,
             name->text);
    change(line, i, put);
    drop(line, i + 1);
    drop(line, i + 2);
  }
}

/* Lines of Kaitai: meta: seq: repeat: expr */
static void rule_kaitai(struct tdl_line *line, uint32_t i) {
  bool is_key = i == 0 && line->fault <= 2 && is(line, 1, ":"), is_repeat = is_key && is(line, 0, "repeat");
  const char *put = is_key && line->count == 2 && is(line, 0, "meta")  ? "TRACE name"
                    : is_key && line->count == 2 && is(line, 0, "seq") ? "RECORD name EVENT IS"
                    : is_repeat && is(line, 2, "eos")                  ? "REPEAT TO END IS a: UNSIGNED 8; END"
                    : is_repeat && is(line, 2, "expr")  ? "REPEAT TIMES 2 IS a: UNSIGNED 8; END"
                    : is_repeat && is(line, 2, "until") ? "REPEAT UNTIL a=0 IS a: UNSIGNED 8; END"
                                                        : NULL;
  if (!put)
    return;
  change(line, 0, put);
  for (uint32_t k = 1; k < line->count; k++)
    if (!is(line, k, ";"))
      drop(line, k);
  if (line->count == 2 && is(line, 0, "meta"))
    line->pieces[0].after = ";";
}

/* a: UINT32; uint32_t a; a: char[16] */
static void rule_type(struct tdl_line *line, uint32_t i) {
  char put[TDL_PIECE_BYTES];
  bool is_array = is(line, i + 1, "[") && is_kind(line, i + 2, TDL_PIECE_NUMBER) && is(line, i + 3, "]");
  bool is_text =
      is(line, i, "char") || is(line, i, "CHAR") || is(line, i, "STRING") || is(line, i, "varchar");
  bool are_bytes =
      is(line, i, "BYTES") || is(line, i, "byte") || is(line, i, "uchar") || is(line, i, "uint8_t");
  if (line->pieces[i].is_changed || line->fault > i + 1 ||
      (i > 0 && !is(line, i - 1, ":") && !is(line, i - 1, ";") && !is(line, i - 1, "OF")))
    return;
  if (is_array && (is_text || are_bytes)) {
    change_word(line, i, is_text ? "STRING" : "BYTES");
    drop(line, i + 1);
    line->pieces[i + 2].is_apart = false;
    drop(line, i + 3);
    return;
  }
  if (!is_text && !are_bytes && (i == line->fault || i + 1 == line->fault) && change_array(line, i))
    return;
  if (is(line, i, "CHAR") && is_kind(line, i + 1, TDL_PIECE_NUMBER)) {
    change_word(line, i, "STRING");
    return;
  }
  if (is_kind(line, i + 1, TDL_PIECE_NUMBER) ||
      !(find_kaitai(&line->pieces[i], put) || find_type(&line->pieces[i], put)) ||
      !(i == line->fault || i + 1 == line->fault))
    return;
  bool is_array_after =
      is(line, i + 2, "[") && is_kind(line, i + 3, TDL_PIECE_NUMBER) && is(line, i + 4, "]");
  bool is_before = is_kind(line, i + 1, TDL_PIECE_WORD) && (is(line, i + 2, ";") || is(line, i + 2, "[")) &&
                   !(i > 0 && is(line, i - 1, ":"));
  if (!is_before) {
    change(line, i, put);
    return;
  }
  struct tdl_piece *name = &line->pieces[i + 1];
  char both[TDL_PIECE_BYTES];
  bool is_array_of_bytes = is_array_after && (is_text || are_bytes);
  snprintf(both, sizeof both, "%.*s: %.20s", name->length < 24 ? (int)name->length : 24, name->text,
           !is_array_of_bytes ? put
           : is_text          ? "STRING"
                              : "BYTES");
  change(line, i, both);
  drop(line, i + 1);
  if (is_array_of_bytes) {
    drop(line, i + 2);
    line->pieces[i].is_apart = true;
    drop(line, i + 4);
  }
}

/* a: UNSIGNED 16 BE; a UNSIGNED 8 */
static void rule_order(struct tdl_line *line, uint32_t i) {
  static const char *const names[] = {"UNSIGNED", "INTEGER", "FLOAT", "STRING", "BYTES", NULL};
  bool is_small = *line->pieces[i].text >= 'a'; /* else it is no habit */
  bool is_big = is(line, i, "BE") || (is(line, i, "big") && is_small),
       is_little = is(line, i, "LE") || (is(line, i, "little") && is_small);
  if (i == line->fault && is_kind(line, i - (i > 0), TDL_PIECE_NUMBER) && (is_big || is_little))
    change(line, i, is_big ? "BIG" : "LITTLE");
  if (i == line->fault && i > 0 && is(line, i, "ENDIAN") &&
      (is(line, i - 1, "BIG") || is(line, i - 1, "LITTLE")))
    drop(line, i);
  if (i == 0 && line->fault == 1 && is_kind(line, 0, TDL_PIECE_WORD) && is_any(line, 1, names)) {
    line->pieces[0].after = ":";
    line->pieces[0].is_changed = true;
  }
}

/* a: UNSIGNED 8, */
static void rule_comma(struct tdl_line *line, uint32_t i) {
  if (i > 2 && i + 1 == line->count && i == line->fault && is(line, i, ","))
    change(line, i, ";");
}

void kymo_tdl_habit_rules(struct tdl_line *line) {
  static void (*const rules[])(struct tdl_line * line, uint32_t i) = {
      rule_null, rule_range,  rule_flags,   rule_pattern, rule_search, rule_quotes,
      rule_unit, rule_number, rule_address, rule_sign,    rule_small,  rule_bare_word};
  static void (*const filters[])(struct tdl_line * line, uint32_t i) = {
      kymo_tdl_habit_filter, rule_side, rule_time, rule_select, rule_count, rule_event, rule_name, rule_end};
  static void (*const descriptions[])(struct tdl_line * line, uint32_t i) = {
      rule_kaitai, rule_struct, rule_type, rule_order, rule_comma};
  for (uint32_t i = 0; i < line->count; i++) {
    if (is(line, i, "--")) {
      line->count = i;
      break;
    }
    kymo_tdl_habit_test(line, i);
    for (size_t r = 0; line->is_filter && r < sizeof filters / sizeof *filters; r++)
      filters[r](line, i);
    for (size_t r = 0; !line->is_filter && r < sizeof descriptions / sizeof *descriptions; r++)
      descriptions[r](line, i);
    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++)
      rules[r](line, i);
  }
}
