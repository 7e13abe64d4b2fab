/* SPDX-License-Identifier: MIT */
/* Habits of SQL, C, Python and shells in conditions, most of them in those of filters. Each rule looks at one
 * piece and those around it. */
#include "lang/tdl/habit_pieces.h"

static bool is_text(const struct tdl_line *line, uint32_t i) {
  return is_kind(line, i, TDL_PIECE_TEXT) || is_kind(line, i, TDL_PIECE_QUOTED);
}

static bool is_value(const struct tdl_line *line, uint32_t i) {
  return is_kind(line, i, TDL_PIECE_NUMBER) || is_text(line, i);
}

static bool is_name(const struct tdl_line *line, uint32_t i) {
  static const char *const words[] = {"AND", "OR", "NOT", "IN", "LIKE", "MATCHES", "IS", "HAS", NULL};
  return is_kind(line, i, TDL_PIECE_WORD) && !is_any(line, i, words);
}

static bool is_fault(const struct tdl_line *line, uint32_t i) { return line->fault == i; }

/* The text without its quotes, so that others can be added. */
static void strip(struct tdl_piece *piece) {
  if (piece->kind == TDL_PIECE_TEXT && piece->length >= 2) {
    piece->text++;
    piece->length -= 2;
  }
  piece->kind = TDL_PIECE_REGEX;
}

/* Puts a copy of piece `name` after the word, as "AND port". */
static void change_with(struct tdl_line *line, uint32_t i, const char *before, uint32_t name,
                        const char *after) {
  char put[TDL_PIECE_BYTES];
  const struct tdl_piece *piece = &line->pieces[name];
  if (strlen(before) + piece->length + strlen(after) >= sizeof put)
    return;
  snprintf(put, sizeof put, "%s%.*s%s", before, (int)piece->length, piece->text, after);
  change_word(line, i, put);
}

/* ---- operators ---- */

/* eq, ne, ===, mod, GLOB, REGEXP */
static void rule_operator(struct tdl_line *line, uint32_t i) {
  static const struct {
    const char *word, *sign;
  } words[] = {{"eq", "="},      {"ne", "<>"},          {"gt", ">"},         {"ge", ">="},
               {"lt", "<"},      {"le", "<="},          {"mod", "%"},        {"equals", "="},
               {"GLOB", "LIKE"}, {"REGEXP", "MATCHES"}, {"RLIKE", "MATCHES"}};
  for (size_t w = 0; w < sizeof words / sizeof *words; w++)
    if (is_fault(line, i) && i > 0 && i + 1 < line->count && !is(line, i + 1, ";") &&
        is(line, i, words[w].word))
      change_word(line, i, words[w].sign);
  if ((is(line, i, "==") || is(line, i, "!=")) && is(line, i + 1, "=") && !line->pieces[i + 1].is_spaced)
    drop(line, i + 1);
}

/* ~= /x/, ~* "x", !~ /x/, = /x/, REGEXP "x" */
static void rule_regex(struct tdl_line *line, uint32_t i) {
  bool is_long = is(line, i, "~") && (is(line, i + 1, "=") || is(line, i + 1, "*"));
  bool is_not = is(line, i, "!") && is(line, i + 1, "~");
  bool is_slash = is_kind(line, i + 1, TDL_PIECE_REGEX) && *line->pieces[i + 1].text == '/';
  bool is_compared = (is_relation(line, i) && is_slash) || is(line, i, "REGEXP") || is(line, i, "RLIKE");
  uint32_t pattern = i + 1 + (is_long || is_not);
  if (!(is_long || is_not || is_compared) ||
      !(is_text(line, pattern) || is_kind(line, pattern, TDL_PIECE_REGEX)))
    return;
  change_word(line, i, is_not || is(line, i, "!=") || is(line, i, "<>") ? "NOT MATCHES" : "MATCHES");
  if (is_long || is_not)
    drop(line, i + 1);
  if (is_text(line, pattern)) {
    strip(&line->pieces[pattern]);
    surround(line, pattern, pattern, "/", "/");
  }
}

/* a IS "x", a IS NOT 5 */
static void rule_is(struct tdl_line *line, uint32_t i) {
  static const char *const words[] = {"PRESENT", "VALID", "CHANGED", "NULL", "nil", "None", "ABSENT", NULL};
  bool is_not = is(line, i + 1, "NOT");
  uint32_t value = i + 1 + is_not;
  if (!is(line, i, "IS") || !(is_fault(line, value) || is_fault(line, i)) || value >= line->count ||
      is_any(line, value, words))
    return;
  change_word(line, i, is_not ? "<>" : "=");
  if (is_not)
    drop(line, i + 1);
  if (is_kind(line, value, TDL_PIECE_WORD))
    surround(line, value, value, "\"", "\"");
}

/* ---- conditions ---- */

/* a = 1 OR 2, a <> 1 AND 2 */
static void rule_alternatives(struct tdl_line *line, uint32_t i) {
  bool is_or = is_equal(line, i), is_and = is(line, i, "<>") || is(line, i, "!=");
  const char *word = is_or ? "OR" : "AND", *sign = is_or ? "||" : "&&";
  uint32_t last = i + 1;
  bool is_meant = false;
  if (!(is_or || is_and) || i == 0 || !is_value(line, last))
    return;
  while ((is(line, last + 1, word) || is(line, last + 1, sign)) && is_value(line, last + 2) &&
         !is_relation(line, last + 3)) {
    is_meant |= is_fault(line, last + 1) || is_fault(line, last + 2);
    last += 2;
  }
  if (!is_meant)
    return;
  change_word(line, i, is_or ? "IN" : "NOT IN");
  surround(line, i + 1, last, "(", ")");
  for (uint32_t k = i + 2; k < last; k += 2) {
    change(line, k, ",");
    line->pieces[k].is_spaced = false;
    line->pieces[k + 1].is_spaced = true;
  }
}

/* a >= 80 AND <= 90; 80 < a < 90 */
static void rule_chain(struct tdl_line *line, uint32_t i) {
  bool is_left_out = (is(line, i, "AND") || is(line, i, "OR") || is(line, i, "&&") || is(line, i, "||")) &&
                     is_relation(line, i + 1);
  if (is_left_out && i > 2 && is_fault(line, i + 1) && is_relation(line, i - 2) && is_name(line, i - 3))
    change_with(line, i, is(line, i, "OR") || is(line, i, "||") ? "OR " : "AND ", i - 3, "");
  bool is_second = is_fault(line, i) && i > 2 && is_relation(line, i) && is_relation(line, i - 2);
  if (!is_second || !is_name(line, i - 1))
    return;
  char sign[8];
  snprintf(sign, sizeof sign, " %.*s", (int)line->pieces[i].length,
           line->pieces[i].text); /* two letters at most */
  change_with(line, i, "AND ", i - 1, sign);
}

/* a = 1, b = 2 */
static void rule_between_tests(struct tdl_line *line, uint32_t i) {
  if (is_fault(line, i) && is(line, i, ",") && is_name(line, i + 1) && i > 0) {
    change_word(line, i, "AND");
    line->pieces[i].is_spaced = true;
  }
}

/* ---- sets ---- */

/* IN {1, 2}; = (1, 2); IN (1, 2, ) */
static void rule_set(struct tdl_line *line, uint32_t i) {
  if (is(line, i, "IN") && is(line, i + 1, "{")) {
    change(line, i + 1, "(");
    for (uint32_t end = i + 2; end < line->count; end++)
      if (is(line, end, "}"))
        change(line, end, ")");
  }
  if (is_equal(line, i) && is(line, i + 1, "(") && is_value(line, i + 2) && is(line, i + 3, ",") &&
      is_fault(line, i + 3))
    change_word(line, i, "IN");
  if (is(line, i, ",") && is(line, i + 1, ")") && is_fault(line, i + 1)) {
    drop(line, i);
    line->pieces[i + 1].is_spaced = false;
  }
}

/* IN (80-90), IN 80-90, = 80-90 */
static void rule_difference(struct tdl_line *line, uint32_t i) {
  if (!is(line, i, "-") || i < 2 || !is_kind(line, i - 1, TDL_PIECE_NUMBER) ||
      !is_kind(line, i + 1, TDL_PIECE_NUMBER))
    return;
  uint32_t first = i - 1;
  bool is_meant = line->fault == first || line->fault == first - 1;
  if (is_equal(line, first - 1) || is(line, first - 1, "IN")) {
    if (!is_meant && !is_fault(line, i))
      return;
    change_word(line, first - 1, "IN");
    surround(line, first, i + 1, "(", ")");
  } else if (!is_meant || !(is(line, first - 1, "(") || is(line, first - 1, ","))) {
    return;
  }
  change_word(line, i, "..");
}

/* a NOT BETWEEN 1 AND 5 */
static void rule_not_between(struct tdl_line *line, uint32_t i) {
  if (!is(line, i, "NOT") || i == 0 || !is(line, i + 1, "BETWEEN") || !is(line, i + 3, "AND") ||
      i + 4 >= line->count)
    return;
  change_word(line, i + 1, "IN");
  change(line, i + 3, "..");
  surround(line, i + 2, i + 4, "(", ")");
}

/* ---- texts ---- */

static bool is_search(const struct tdl_line *line, uint32_t i, const char **before, const char **after) {
  static const struct {
    const char *word, *before, *after;
  } words[] = {{"contains", "\"*", "*\""},  {"includes", "\"*", "*\""},   {"startswith", "\"", "*\""},
               {"startsWith", "\"", "*\""}, {"starts_with", "\"", "*\""}, {"endswith", "\"*", "\""},
               {"ends_with", "\"*", "\""}};
  for (size_t w = 0; w < sizeof words / sizeof *words; w++)
    if (is(line, i, words[w].word)) {
      *before = words[w].before;
      *after = words[w].after;
      return true;
    }
  return false;
}

/* contains(a, "x"); a.contains("x"); "x" IN a */
static void rule_call(struct tdl_line *line, uint32_t i) {
  const char *before, *after;
  bool is_called = is_search(line, i, &before, &after) && is(line, i + 1, "(");
  bool is_function = is_called && is_name(line, i + 2) && is(line, i + 3, ",") && is_text(line, i + 4) &&
                     is(line, i + 5, ")");
  bool is_method = is_called && i > 1 && is(line, i - 1, ".") && is_text(line, i + 2) && is(line, i + 3, ")");
  uint32_t text = i + 2 + 2 * is_function;
  if (is_function) {
    drop(line, i);
    drop(line, i + 1);
    change_word(line, i + 3, "LIKE");
  } else if (is_method) {
    drop(line, i - 1);
    change_word(line, i, "LIKE");
    drop(line, i + 1);
  } else if (is_text(line, i) && is(line, i + 1, "IN") && is_name(line, i + 2) &&
             (is_fault(line, i + 2) || is_fault(line, i + 1))) {
    strip(&line->pieces[i]);
    struct tdl_piece text_piece = line->pieces[i];
    line->pieces[i] = line->pieces[i + 2];
    line->pieces[i + 2] = text_piece;
    line->pieces[i].is_spaced = text_piece.is_spaced;
    line->pieces[i].is_changed = true;
    change_word(line, i + 1, "LIKE");
    surround(line, i + 2, i + 2, "\"*", "*\"");
    return;
  } else {
    return;
  }
  strip(&line->pieces[text]);
  surround(line, text, text, before, after);
  drop(line, text + 1);
}

/* port = "80" */
static void rule_quoted_number(struct tdl_line *line, uint32_t i) {
  struct tdl_piece *piece = &line->pieces[i];
  bool is_meant =
      i > 0 && is_text(line, i) && is_fault(line, i) && is_relation(line, i - 1) && piece->length > 2;
  for (uint32_t k = 1; is_meant && k + 1 < piece->length; k++)
    is_meant = piece->text[k] >= '0' && piece->text[k] <= '9';
  if (!is_meant || piece->kind != TDL_PIECE_TEXT)
    return;
  strip(piece);
  piece->is_changed = true;
}

/* ---- names ---- */

/* true; event == "x"; fields.port; $port; exists port; defined(port); len(a) */
static void rule_name(struct tdl_line *line, uint32_t i) {
  static const char *const scopes[] = {"fields", "payload", "context", "args", "data", "event", NULL};
  static const char *const sizes[] = {"len", "length", "strlen", "char_length", NULL}, *const counts[] = {
                                                                                           "size",
                                                                                           "cardinality",
                                                                                           NULL};
  static const char *const tests[] = {"exists", "defined", "isset", "has", NULL};
  bool is_unknown = line->is_unknown && is_fault(line, i),
       is_call = is(line, i + 1, "(") && is_name(line, i + 2) && is(line, i + 3, ")");
  if ((is(line, i, "$") || is(line, i, "@")) &&
      (is_kind(line, i + 1, TDL_PIECE_WORD) || is(line, i + 1, "."))) {
    drop(line, i);
    if (is(line, i + 1, "."))
      drop(line, i + 1);
  } else if (is_call && is_fault(line, i) &&
             (is_any(line, i, sizes) || is_any(line, i, counts) || is(line, i, "any"))) {
    if (is(line, i, "any"))
      drop(line, i);
    else
      change_word(line, i, is_any(line, i, sizes) ? "SIZE OF" : "COUNT OF");
    drop(line, i + 1);
    drop(line, i + 3);
  } else if (is_call && is_fault(line, i) && is_any(line, i, tests)) {
    drop(line, i);
    drop(line, i + 1);
    change_word(line, i + 3, "IS PRESENT");
  } else if (is(line, i, "EXISTS") && is_name(line, i + 1) && line->fault == i + 1) {
    drop(line, i);
    line->pieces[i + 1].after = " IS PRESENT";
    line->pieces[i + 1].is_changed = true;
  } else if (is(line, i, "EXISTS") && is_fault(line, i) && i > 0 && is_name(line, i - 1)) {
    change_word(line, i, "IS PRESENT");
  } else if (is_unknown && (is(line, i, "true") || is(line, i, "false"))) {
    change(line, i, is(line, i, "true") ? "1" : "0");
  } else if (is_unknown && is_any(line, i, scopes) && is(line, i + 1, ".")) {
    drop(line, i);
    drop(line, i + 1);
  } else if (is_relation(line, i + 1) && line->fault == i + 1 && is(line, i, "event")) {
    change(line, i, "EVENT");
  }
}

/* EVENT "x" */
static void rule_event(struct tdl_line *line, uint32_t i) {
  if (!is(line, i, "EVENT") || !is_kind(line, i + 1, TDL_PIECE_TEXT))
    return;
  line->pieces[i + 1].before = "= ";
  line->pieces[i + 1].is_changed = true;
}

/* ---- all of them ---- */

void kymo_tdl_habit_test(struct tdl_line *line, uint32_t i) {
  static void (*const rules[])(struct tdl_line * line, uint32_t i) = {
      rule_operator, rule_alternatives, rule_chain, rule_set, rule_difference, rule_not_between};
  for (size_t r = 0; r < sizeof rules / sizeof *rules; r++)
    rules[r](line, i);
}

void kymo_tdl_habit_filter(struct tdl_line *line, uint32_t i) {
  static void (*const rules[])(struct tdl_line * line, uint32_t i) = {
      rule_regex, rule_is, rule_between_tests, rule_call, rule_quoted_number, rule_name, rule_event};
  for (size_t r = 0; r < sizeof rules / sizeof *rules; r++)
    rules[r](line, i);
}
