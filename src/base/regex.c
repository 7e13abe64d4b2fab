/* SPDX-License-Identifier: MIT */
/*
 * Patterns → instructions, from the end: when a piece is compiled, what follows it is compiled already.
 *
 * It runs on small stacks (the recorder's control thread has 128 KiB): only groups recurse, to DEPTH_MAX.
 */
#include "base/list.h"
#include "base/regex_program.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX
#define DEPTH_MAX 64
#define REPEAT_MAX 1000

static const char too_long[] = "a pattern of more than 4096 steps";

/* ---- the pattern as a tree ---- */

enum piece_kind { PIECE_EMPTY, PIECE_SET, PIECE_BEGIN, PIECE_END, PIECE_ROW, PIECE_CHOICE, PIECE_REPEAT };

struct piece {
  enum piece_kind kind;
  struct piece *first, *next; /* parts: of CHOICE in order, of ROW from the last to the first; REPEAT: what */
  struct regex_set set;
  uint32_t low, high; /* REPEAT; high NONE: without end */
  struct piece *made; /* all pieces, to be freed */
};

struct parser {
  const char *at, *begin, *end;
  const char *wrong;
  bool failed, escapes;
  uint32_t depth, made_count;
  struct piece *made;
};

static struct piece *fail(struct parser *parser, const char *wrong) {
  if (!parser->failed)
    parser->wrong = wrong;
  parser->failed = true;
  return NULL;
}

static struct piece *new_piece(struct parser *parser, enum piece_kind kind) {
  if (++parser->made_count > 4 * KYMO_REGEX_STEPS)
    return fail(parser, too_long);
  struct piece *piece = parser->failed ? NULL : calloc(1, sizeof *piece);
  if (!piece) {
    parser->failed = true;
    return NULL;
  }
  piece->kind = kind;
  piece->made = parser->made;
  parser->made = piece;
  return piece;
}

static void set_range(struct regex_set *set, unsigned low, unsigned high) {
  for (unsigned i = low; i <= high; i++)
    set->bits[i / 64] |= UINT64_C(1) << i % 64;
}

static struct piece *new_range(struct parser *parser, unsigned low, unsigned high) {
  struct piece *piece = new_piece(parser, PIECE_SET);
  if (piece)
    set_range(&piece->set, low, high);
  return piece;
}

static void append(struct piece *choice, struct piece *part) {
  struct piece **last = &choice->first;
  while (*last)
    last = &(*last)->next;
  *last = part;
}

static void add_to_row(struct piece *row, struct piece *part) {
  if (!part)
    return;
  part->next = row->first;
  row->first = part;
}

/* Appends a sequence of bytes: a lead byte of low … high and the `count` bytes that follow it. */
static void append_character(struct parser *parser, struct piece *choice, unsigned low, unsigned high,
                             unsigned count) {
  struct piece *row = new_piece(parser, PIECE_ROW);
  if (!row || !choice)
    return;
  add_to_row(row, new_range(parser, low, high));
  for (unsigned i = 0; i < count; i++)
    add_to_row(row, new_range(parser, 0x80, 0xbf));
  append(choice, row);
}

/* One character of UTF-8 beyond ASCII, or one of `ascii`. */
static struct piece *any_character(struct parser *parser, const struct regex_set *ascii) {
  struct piece *choice = new_piece(parser, PIECE_CHOICE), *one = new_piece(parser, PIECE_SET);
  if (!choice || !one)
    return NULL;
  one->set = *ascii;
  append(choice, one);
  append_character(parser, choice, 0xc2, 0xdf, 1);
  append_character(parser, choice, 0xe0, 0xef, 2);
  append_character(parser, choice, 0xf0, 0xf4, 3);
  return choice;
}

static unsigned length_of_character(const struct parser *parser) {
  uint8_t lead = (uint8_t)*parser->at;
  unsigned length = lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  size_t left = (size_t)(parser->end - parser->at);
  return length <= left ? length : (unsigned)left;
}

/* The bytes of one character. */
static struct piece *literal(struct parser *parser) {
  unsigned length = length_of_character(parser);
  struct piece *row = new_piece(parser, PIECE_ROW);
  for (unsigned i = 0; row && i < length; i++) {
    uint8_t byte = (uint8_t)*parser->at++;
    add_to_row(row, new_range(parser, byte, byte));
  }
  return row;
}

/* \d, \w, \s: adds them to a set of ASCII; false if the letter is none of these. */
static bool add_letter_class(struct regex_set *set, char letter) {
  switch (letter) {
  case 'd': set_range(set, '0', '9'); return true;
  case 'w':
    set_range(set, '0', '9');
    set_range(set, 'A', 'Z');
    set_range(set, '_', '_');
    set_range(set, 'a', 'z');
    return true;
  case 's':
    set_range(set, '\t', '\r');
    set_range(set, ' ', ' ');
    return true;
  default: return false;
  }
}

static void invert_ascii(struct regex_set *set) {
  set->bits[0] = ~set->bits[0];
  set->bits[1] = ~set->bits[1];
  set->bits[2] = set->bits[3] = 0;
}

/* The byte that \n, \t, \xHH or escaped punctuation means; -1 with a failure for anything else. */
static int escaped(struct parser *parser) {
  static const char letters[] = "ntrfv0", bytes[] = "\n\t\r\f\v";
  if (parser->at == parser->end) {
    fail(parser, "a backslash at the end");
    return -1;
  }
  char letter = *parser->at++;
  const char *known = letter ? strchr(letters, letter) : NULL;
  if (known)
    return bytes[known - letters];
  if (letter == 'x' && parser->end - parser->at >= 2) {
    char hex[3] = {parser->at[0], parser->at[1], 0}, *rest;
    unsigned long byte = strtoul(hex, &rest, 16);
    if (*rest == 0 && hex[0] != '-' && hex[0] != '+' && hex[0] != ' ') {
      parser->at += 2;
      return (int)byte;
    }
  }
  bool is_plain = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                  (letter >= '0' && letter <= '9');
  if (is_plain || (uint8_t)letter >= 0x80) {
    parser->at--;
    fail(parser, letter >= '1' && letter <= '9' ? "no references back" : "an escape that is not known");
    return -1;
  }
  return letter;
}

/* One end of a range in brackets: a byte, or -1 where there is none (failure, or a class of letters). */
static int bracket_byte(struct parser *parser, struct regex_set *set) {
  if ((uint8_t)*parser->at >= 0x80) {
    fail(parser, "brackets take ASCII characters only; choose by |");
    return -1;
  }
  if (*parser->at != '\\')
    return (uint8_t)*parser->at++;
  parser->at++;
  if (parser->at < parser->end && add_letter_class(set, *parser->at)) {
    parser->at++;
    return -1;
  }
  return escaped(parser);
}

/* One character of the set, or one that is not in it. */
static struct piece *set_piece(struct parser *parser, struct regex_set *set, bool is_inverted) {
  if (is_inverted) {
    invert_ascii(set);
    return any_character(parser, set);
  }
  struct piece *piece = new_piece(parser, PIECE_SET);
  if (piece)
    piece->set = *set;
  return piece;
}

/* [:alpha:] and its like, as they are in the C locale. */
static bool add_posix_class(struct parser *parser, struct regex_set *set) {
  static const struct {
    const char *name;
    int (*has)(int);
  } classes[] = {{"alnum", isalnum}, {"alpha", isalpha}, {"blank", isblank}, {"cntrl", iscntrl},
                 {"digit", isdigit}, {"graph", isgraph}, {"lower", islower}, {"print", isprint},
                 {"punct", ispunct}, {"space", isspace}, {"upper", isupper}, {"xdigit", isxdigit}};
  const char *name = parser->at + 2;
  for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
    size_t length = strlen(classes[i].name);
    if ((size_t)(parser->end - name) < length + 2 || memcmp(name, classes[i].name, length) ||
        memcmp(name + length, ":]", 2))
      continue;
    for (int c = 0; c < 128; c++)
      if (classes[i].has(c))
        set_range(set, (unsigned)c, (unsigned)c);
    parser->at = name + length + 2;
    return true;
  }
  return false;
}

/* "[:NAME:]" */
static bool is_posix(const struct parser *parser) {
  const char *at = parser->at;
  if (parser->end - at < 2 || at[0] != '[' || at[1] != ':')
    return false;
  for (at += 2; at < parser->end && *at >= 'a' && *at <= 'z'; at++) {
  }
  return parser->end - at >= 2 && at[0] == ':' && at[1] == ']';
}

/* After the bracket, and a sign of negation. */
static struct piece *parse_bracket(struct parser *parser, char sign) {
  const char *begin = parser->at - 1;
  struct regex_set set = {{0}};
  bool is_negated = parser->at < parser->end && (*parser->at == '^' || *parser->at == sign);
  parser->at += is_negated;
  for (bool is_first = true;; is_first = false) {
    if (parser->at == parser->end) {
      parser->at = begin;
      return fail(parser, "a bracket that is not closed");
    }
    if (*parser->at == ']' && !is_first)
      break;
    if (is_posix(parser)) {
      if (!add_posix_class(parser, &set))
        return fail(parser, "a class that is not known; [:alnum:], [:alpha:], [:digit:], [:space:] … are");
      continue;
    }
    int low = bracket_byte(parser, &set), high = low;
    if (parser->failed)
      return NULL;
    if (low >= 0 && parser->end - parser->at >= 2 && parser->at[0] == '-' && parser->at[1] != ']') {
      parser->at++;
      high = bracket_byte(parser, &set);
    }
    if (parser->failed || (low >= 0 && high < low))
      return fail(parser, "a range that ends before it begins");
    if (low >= 0)
      set_range(&set, (unsigned)low, (unsigned)high);
  }
  parser->at++;
  return set_piece(parser, &set, is_negated);
}

static struct piece *parse_choice(struct parser *parser);

static struct piece *parse_group(struct parser *parser) {
  const char *begin = parser->at - 1;
  if (parser->end - parser->at >= 1 && parser->at[0] == '?') {
    if (parser->end - parser->at < 2 || parser->at[1] != ':')
      return fail(parser, "groups are ( ) or (?: )");
    parser->at += 2;
  }
  if (++parser->depth > DEPTH_MAX)
    return fail(parser, "groups are nested deeper than 64");
  struct piece *inner = parse_choice(parser);
  parser->depth--;
  if (!parser->failed && (parser->at == parser->end || *parser->at != ')')) {
    parser->at = begin;
    return fail(parser, "a parenthesis that is not closed");
  }
  parser->at++;
  return inner;
}

static struct piece *parse_escape(struct parser *parser) {
  struct regex_set set = {{0}};
  char letter = parser->at < parser->end ? *parser->at : 0;
  bool is_inverted = letter == 'D' || letter == 'W' || letter == 'S';
  if (add_letter_class(&set, is_inverted ? (char)(letter + 'a' - 'A') : letter)) {
    parser->at++;
    return set_piece(parser, &set, is_inverted);
  }
  int byte = escaped(parser);
  return byte < 0 ? NULL : new_range(parser, (unsigned)byte, (unsigned)byte);
}

static struct piece *parse_atom(struct parser *parser) {
  static const struct regex_set no_newline = {{~(UINT64_C(1) << '\n'), UINT64_MAX, 0, 0}};
  switch (*parser->at) {
  case '(': parser->at++; return parse_group(parser);
  case '[': parser->at++; return parse_bracket(parser, '^');
  case '.': parser->at++; return any_character(parser, &no_newline);
  case '^': parser->at++; return new_piece(parser, PIECE_BEGIN);
  case '$': parser->at++; return new_piece(parser, PIECE_END);
  case '\\': parser->at++; return parse_escape(parser);
  case '*':
  case '+':
  case '?': return fail(parser, "nothing to repeat");
  default: return literal(parser);
  }
}

static bool parse_number(struct parser *parser, uint32_t *number) {
  const char *begin = parser->at;
  for (*number = 0;
       parser->at < parser->end && *parser->at >= '0' && *parser->at <= '9' && *number <= REPEAT_MAX;
       parser->at++)
    *number = *number * 10 + (uint32_t)(*parser->at - '0');
  return parser->at > begin && *number <= REPEAT_MAX;
}

/* {n}, {n,}, {n,m}; false without failure if this brace is an ordinary character. */
static bool parse_braces(struct parser *parser, uint32_t *low, uint32_t *high) {
  if (parser->end - parser->at < 2 || parser->at[1] < '0' || parser->at[1] > '9')
    return false;
  parser->at++;
  bool is_good = parse_number(parser, low);
  *high = *low;
  if (is_good && parser->at < parser->end && *parser->at == ',') {
    parser->at++;
    *high = NONE;
    if (parser->at < parser->end && *parser->at != '}')
      is_good = parse_number(parser, high);
  }
  if (!is_good || parser->at == parser->end || *parser->at != '}' || *high < *low)
    return fail(parser, "repetitions are {n}, {n,} or {n,m}, at most 1000") != NULL;
  parser->at++;
  return true;
}

/* The repetition after a piece, if there is one. */
static bool parse_sign(struct parser *parser, uint32_t *low, uint32_t *high) {
  char sign = *parser->at;
  if (sign != '*' && sign != '+' && sign != '?')
    return sign == '{' && parse_braces(parser, low, high);
  *low = sign == '+';
  *high = sign == '?' ? 1 : NONE;
  parser->at++;
  return true;
}

static struct piece *parse_repeated(struct parser *parser) {
  struct piece *piece = parse_atom(parser);
  uint32_t low, high;
  if (parser->failed || parser->at == parser->end || !parse_sign(parser, &low, &high))
    return parser->failed ? NULL : piece;
  if (parser->at < parser->end && *parser->at == '?') /* lazy: makes no difference here */
    parser->at++;
  if (parser->at < parser->end && strchr("*+?", *parser->at) && *parser->at)
    return fail(parser, "nothing to repeat");
  struct piece *repeat = new_piece(parser, PIECE_REPEAT);
  if (!repeat)
    return NULL;
  repeat->first = piece;
  repeat->low = low;
  repeat->high = high;
  return repeat;
}

static struct piece *parse_row(struct parser *parser) {
  struct piece *row = new_piece(parser, PIECE_ROW);
  while (!parser->failed && parser->at < parser->end && *parser->at != '|' && *parser->at != ')') {
    struct piece *part = parse_repeated(parser);
    if (!part)
      return NULL;
    add_to_row(row, part);
  }
  return parser->failed ? NULL : row;
}

static struct piece *parse_choice(struct parser *parser) {
  struct piece *choice = new_piece(parser, PIECE_CHOICE), **last = choice ? &choice->first : NULL;
  while (!parser->failed) {
    struct piece *row = parse_row(parser);
    if (!row)
      return NULL;
    *last = row;
    last = &row->next;
    if (parser->at == parser->end || *parser->at != '|')
      return choice;
    parser->at++;
  }
  return NULL;
}

/* ---- the tree as instructions ---- */

struct maker {
  struct kymo_regex *regex;
  uint32_t capacity;
  bool is_full, failed;
};

static uint32_t add_step(struct maker *maker, struct regex_step step) {
  struct kymo_regex *regex = maker->regex;
  if (maker->is_full || maker->failed || regex->count == KYMO_REGEX_STEPS) {
    maker->is_full = maker->is_full || regex->count == KYMO_REGEX_STEPS;
    return 0;
  }
  if (!KYMO_LIST_ROOM(regex->steps, maker->capacity, regex->count)) {
    maker->failed = true;
    return 0;
  }
  regex->steps[regex->count] = step;
  return regex->count++;
}

static uint32_t add_set(struct maker *maker, const struct regex_set *set) {
  struct kymo_regex *regex = maker->regex;
  for (uint32_t i = 0; i < regex->set_count; i++)
    if (memcmp(&regex->sets[i], set, sizeof *set) == 0)
      return i;
  if (!KYMO_LIST_ROOM(regex->sets, regex->set_capacity, regex->set_count)) {
    maker->failed = true;
    return 0;
  }
  regex->sets[regex->set_count] = *set;
  return regex->set_count++;
}

static uint32_t make(struct maker *maker, const struct piece *piece, uint32_t next);

static uint32_t make_row(struct maker *maker, const struct piece *part, uint32_t next) {
  for (; part; part = part->next)
    next = make(maker, part, next);
  return next;
}

static uint32_t make_choice(struct maker *maker, const struct piece *part, uint32_t next) {
  uint32_t first = NONE;
  for (; part; part = part->next) {
    uint32_t way = make(maker, part, next);
    first = first == NONE
                ? way
                : add_step(maker, (struct regex_step){.op = REGEX_SPLIT, .next = first, .other = way});
  }
  return first;
}

/* x{2,4} is xx(x(x)?)?, x{2,} is xxx* */
static uint32_t make_repeat(struct maker *maker, const struct piece *piece, uint32_t next) {
  if (piece->high == NONE) {
    uint32_t loop = add_step(maker, (struct regex_step){.op = REGEX_SPLIT, .other = next});
    uint32_t body = make(maker, piece->first, loop);
    if (maker->is_full || maker->failed)
      return 0;
    maker->regex->steps[loop].next = body;
    next = loop;
  }
  for (uint32_t i = piece->low; piece->high != NONE && i < piece->high && !maker->is_full && !maker->failed;
       i++)
    next = add_step(maker, (struct regex_step){
                               .op = REGEX_SPLIT, .next = make(maker, piece->first, next), .other = next});
  for (uint32_t i = 0; i < piece->low && !maker->is_full && !maker->failed; i++) {
    uint32_t whole = make(maker, piece->first, next);
    if (whole == next) /* a piece without steps stays without: (((a{0}){1000}){1000}){1000} must end */
      break;
    next = whole;
  }
  return next;
}

static uint32_t make(struct maker *maker, const struct piece *piece, uint32_t next) {
  if (maker->is_full || maker->failed)
    return 0;
  switch (piece->kind) {
  case PIECE_SET:
    return add_step(maker,
                    (struct regex_step){.op = REGEX_BYTES, .next = next, .set = add_set(maker, &piece->set)});
  case PIECE_BEGIN: return add_step(maker, (struct regex_step){.op = REGEX_BEGIN, .next = next});
  case PIECE_END: return add_step(maker, (struct regex_step){.op = REGEX_END, .next = next});
  case PIECE_ROW: return make_row(maker, piece->first, next);
  case PIECE_CHOICE: return make_choice(maker, piece->first, next);
  case PIECE_REPEAT: return make_repeat(maker, piece, next);
  default: return next;
  }
}

static struct kymo_regex *finish(struct parser *parser, const struct piece *piece, const char **wrong,
                                 size_t *at) {
  struct kymo_regex *regex = parser->failed ? NULL : calloc(1, sizeof *regex);
  *wrong = parser->wrong;
  *at = (size_t)(parser->at - parser->begin);
  if (regex) {
    struct maker maker = {.regex = regex};
    regex->start = make(&maker, piece, add_step(&maker, (struct regex_step){.op = REGEX_MATCH}));
    if (maker.is_full || maker.failed) {
      *wrong = maker.failed ? NULL : too_long;
      *at = 0;
      kymo_regex_free(regex);
      regex = NULL;
    } else {
      regex->is_anchored = regex->steps[regex->start].op == REGEX_BEGIN;
    }
  }
  while (parser->made) {
    struct piece *made = parser->made;
    parser->made = made->made;
    free(made);
  }
  return regex;
}

struct kymo_regex *kymo_regex_new(const char *pattern, size_t length, const char **wrong, size_t *at) {
  struct parser parser = {.at = pattern, .begin = pattern, .end = pattern + length};
  struct piece *piece = parse_choice(&parser);
  if (!parser.failed && parser.at < parser.end)
    fail(&parser, "a parenthesis that was not opened");
  return finish(&parser, piece, wrong, at);
}

/* *, ?, [a-z], [!a-z], or a character; in globs of names also one after a backslash. */
static struct piece *parse_like(struct parser *parser) {
  static const struct regex_set all = {{UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}},
                                ascii = {{UINT64_MAX, UINT64_MAX, 0, 0}};
  switch (*parser->at) {
  case '*': {
    parser->at++;
    struct piece *any = new_piece(parser, PIECE_SET), *repeat = new_piece(parser, PIECE_REPEAT);
    if (!any || !repeat)
      return NULL;
    any->set = all;
    repeat->first = any;
    repeat->high = NONE;
    return repeat;
  }
  case '?': parser->at++; return any_character(parser, &ascii);
  case '[': parser->at++; return parse_bracket(parser, '!');
  case '\\': parser->at += parser->escapes && parser->end - parser->at > 1; return literal(parser);
  default: return literal(parser);
  }
}

/* The whole text must match: from the begin to the end. */
static struct kymo_regex *parse_whole(struct parser *parser, const char **wrong, size_t *at) {
  struct piece *row = new_piece(parser, PIECE_ROW);
  if (row)
    add_to_row(row, new_piece(parser, PIECE_BEGIN));
  while (!parser->failed && parser->at < parser->end)
    add_to_row(row, parse_like(parser));
  if (!parser->failed)
    add_to_row(row, new_piece(parser, PIECE_END));
  return finish(parser, row, wrong, at);
}

struct kymo_regex *kymo_regex_new_like(const char *pattern, size_t length, const char **wrong, size_t *at) {
  struct parser parser = {.at = pattern, .begin = pattern, .end = pattern + length};
  return parse_whole(&parser, wrong, at);
}

struct kymo_regex *kymo_regex_new_glob(const char *pattern, size_t length, const char **wrong, size_t *at) {
  struct parser parser = {.at = pattern, .begin = pattern, .end = pattern + length, .escapes = true};
  return parse_whole(&parser, wrong, at);
}

uint32_t kymo_regex_steps(const struct kymo_regex *regex) { return regex->count; }

void kymo_regex_free(struct kymo_regex *regex) {
  if (!regex)
    return;
  free(regex->steps);
  free(regex->sets);
  free(regex);
}
