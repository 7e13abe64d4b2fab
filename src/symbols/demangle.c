/* SPDX-License-Identifier: MIT */
/*
 * A recursive descent over the grammar of the Itanium C++ ABI, section "External names". A type is two texts,
 * since a declaration is written around its name:
 *
 *   int (*)(char)      left "int (*"      right ")(char)"
 *
 * All texts are in one piece of memory of limited size; a name that does not fit, or is nested too deep, is
 * shown mangled.
 */
#include "symbols/demangle.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  MEMORY_BYTES = 1 << 16,
  SUBSTITUTIONS_MAX = 256,
  ARGUMENTS_MAX = 128,
  DEPTH_MAX = 48,
  STEPS_MAX = 20000
};

/* What a modifier is applied to: for functions and arrays in parentheses, which WRAPPED already has. */
enum shape { PLAIN, FUNCTION, ARRAY, WRAPPED };

struct piece {
  const char *left, *right;
  const char *base; /* of a class: its name alone, for constructors */
  enum shape shape;
  char reference;     /* 'R', 'O' or 0 */
  unsigned parameter; /* of a lambda: the number of its parameter `auto`, + 1, which is a template parameter
                  * elsewhere */
  bool is_of_lambda;  /* it was read within the parameters of one */
  bool is_pack;       /* a list of template arguments: `list` */
  const struct arguments *list;
};

struct arguments {
  unsigned count;
  struct piece *items;
};

struct demangler {
  const char *at;
  char *memory;
  size_t used;
  unsigned depth, steps;
  bool failed;
  struct piece substitutions[SUBSTITUTIONS_MAX];
  unsigned substitution_count;
  bool keeps_substitutions;          /* text that is read again adds none */
  const struct arguments *arguments; /* of the function's template */
  const struct arguments *pack;      /* that is expanded … */
  unsigned pack_index;               /* … and which of it */
  unsigned pack_length;              /* length of a pack that was found while a pattern was read, + 1 */
  bool is_in_lambda;
};

/* A name: its text and the facts that the rest of the encoding depends on. */
struct name {
  struct piece piece;
  bool is_template, has_no_return;
  const char *qualifiers;
};

static struct piece read_type(struct demangler *d);
static struct name read_name(struct demangler *d, bool is_of_encoding);
static const char *read_encoding(struct demangler *d);
static struct piece find_template_parameter(struct demangler *d, unsigned long index);

/* ---- texts ---- */

static const char *fail(struct demangler *d) {
  d->failed = true;
  d->at = "";
  return "";
}

static void *take(struct demangler *d, size_t size) {
  size = (size + 7) & ~(size_t)7;
  if (size > MEMORY_BYTES - d->used) {
    fail(d);
    return NULL;
  }
  void *memory = d->memory + d->used;
  d->used += size;
  return memory;
}

static const char *join(struct demangler *d, const char *a, const char *b, const char *c) {
  size_t x = strlen(a), y = strlen(b), z = strlen(c);
  if (!y && !z)
    return a;
  char *text = take(d, x + y + z + 1);
  if (!text)
    return "";
  memcpy(text, a, x);
  memcpy(text + x, b, y);
  memcpy(text + x + y, c, z + 1);
  return text;
}

static const char *cut(struct demangler *d, const char *from, size_t length) {
  char *text = take(d, length + 1);
  if (!text)
    return "";
  memcpy(text, from, length);
  text[length] = 0;
  return text;
}

static const char *number_text(struct demangler *d, const char *before, unsigned long number,
                               const char *after) {
  char text[96];
  snprintf(text, sizeof text, "%s%lu%s", before, number, after);
  return cut(d, text, strlen(text));
}

static const char *whole(struct demangler *d, const struct piece *piece) {
  return join(d, piece->left, piece->right, "");
}

static struct piece plain(const char *text) {
  return (struct piece){.left = text, .right = "", .base = text};
}

/* ---- characters ---- */

static bool next_is(struct demangler *d, char c) {
  if (*d->at != c)
    return false;
  d->at++;
  return true;
}

static bool next_are(struct demangler *d, const char *text) {
  if (strncmp(d->at, text, strlen(text)) != 0)
    return false;
  d->at += strlen(text);
  return true;
}

static void expect(struct demangler *d, char c) {
  if (!next_is(d, c))
    fail(d);
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static unsigned long read_number(struct demangler *d) {
  unsigned long number = 0;
  if (!is_digit(*d->at))
    fail(d);
  while (is_digit(*d->at) && number < 1000000)
    number = number * 10 + (unsigned long)(*d->at++ - '0');
  return number;
}

/* "_" is 0, "0_" is 1, … */
static unsigned long read_index(struct demangler *d) {
  unsigned long number = is_digit(*d->at) ? read_number(d) + 1 : 0;
  expect(d, '_');
  return number;
}

/* "_" is 0, "0_" is 1, "Z_" is 36, … */
static unsigned long read_sequence(struct demangler *d) {
  unsigned long number = 0;
  if (next_is(d, '_'))
    return 0;
  for (; *d->at && *d->at != '_' && number < 1000000; d->at++) {
    if (!is_digit(*d->at) && !(*d->at >= 'A' && *d->at <= 'Z')) {
      fail(d);
      return 0;
    }
    number = number * 36 + (unsigned long)(is_digit(*d->at) ? *d->at - '0' : *d->at - 'A' + 10);
  }
  expect(d, '_');
  return number + 1;
}

static bool enter(struct demangler *d) {
  if (d->failed || ++d->steps > STEPS_MAX || d->depth >= DEPTH_MAX) {
    fail(d);
    return false;
  }
  d->depth++;
  return true;
}

/* ---- substitutions ---- */

static void add_substitution(struct demangler *d, struct piece piece) {
  if (d->keeps_substitutions || d->failed)
    return;
  piece.is_of_lambda = d->is_in_lambda;
  if (d->substitution_count == SUBSTITUTIONS_MAX)
    fail(d);
  else
    d->substitutions[d->substitution_count++] = piece;
}

/* After the 'S', except "St". */
static struct piece read_substitution(struct demangler *d) {
  static const struct {
    char letter;
    const char *text, *base;
  } known[] = {
      {'a', "std::allocator", "allocator"},   {'b', "std::basic_string", "basic_string"},
      {'s', "std::string", "basic_string"},   {'i', "std::istream", "basic_istream"},
      {'o', "std::ostream", "basic_ostream"}, {'d', "std::iostream", "basic_iostream"},
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (next_is(d, known[i].letter))
      return (struct piece){.left = known[i].text, .right = "", .base = known[i].base};
  unsigned long index = read_sequence(d);
  if (d->failed || index >= d->substitution_count) {
    fail(d);
    return plain("");
  }
  struct piece piece = d->substitutions[index];
  bool is_elsewhere = piece.is_of_lambda && !d->is_in_lambda;
  if (is_elsewhere && piece.parameter)
    return find_template_parameter(d, piece.parameter - 1);
  if (is_elsewhere && (strstr(piece.left, "auto:") || strstr(piece.right, "auto:")))
    fail(d);
  return piece;
}

/* The constructors of std::string and similar are those of the full class. */
static struct piece spell_out(struct piece piece) {
  static const struct {
    const char *text, *full;
  } known[] = {
      {"std::string", "std::basic_string<char, std::char_traits<char>, std::allocator<char> >"},
      {"std::istream", "std::basic_istream<char, std::char_traits<char> >"},
      {"std::ostream", "std::basic_ostream<char, std::char_traits<char> >"},
      {"std::iostream", "std::basic_iostream<char, std::char_traits<char> >"},
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcmp(piece.left, known[i].text) == 0)
      piece.left = known[i].full;
  return piece;
}

/* ---- template arguments ---- */

static struct piece find_template_parameter(struct demangler *d, unsigned long index) {
  if (!d->arguments || index >= d->arguments->count) {
    fail(d);
    return plain("");
  }
  struct piece piece = d->arguments->items[index];
  if (!piece.is_pack)
    return piece;
  d->pack_length = piece.list->count + 1;
  if (!d->pack)
    return plain(""); /* the pattern is read only to learn how often it is read */
  return d->pack_index < piece.list->count ? piece.list->items[d->pack_index] : plain("");
}

static struct piece read_template_parameter(struct demangler *d) {
  unsigned long index = read_index(d);
  if (!d->is_in_lambda)
    return find_template_parameter(d, index);
  struct piece piece = plain(number_text(d, "auto:", index + 1, ""));
  piece.parameter = (unsigned)index + 1;
  return piece;
}

static struct piece read_literal(struct demangler *d) {
  static const struct {
    char type;
    const char *suffix;
  } known[] = {{'i', ""}, {'j', "u"}, {'l', "l"}, {'m', "ul"}, {'x', "ll"}, {'y', "ull"}};
  if (*d->at == '_' || *d->at == 'Z') {
    d->at += *d->at == '_';
    expect(d, 'Z');
    const char *text = read_encoding(d);
    expect(d, 'E');
    return plain(text);
  }
  char kind = *d->at;
  if (kind == 'f' || kind == 'd' || kind == 'e' || kind == 'g')
    fail(d);
  struct piece type = read_type(d);
  const char *sign = next_is(d, 'n') ? "-" : "", *from = d->at;
  while (is_digit(*d->at))
    d->at++;
  size_t length = (size_t)(d->at - from);
  if (!length)
    fail(d);
  const char *digits = join(d, sign, cut(d, from, length), "");
  expect(d, 'E');
  if (kind == 'b' && length == 1 && (*from == '0' || *from == '1') && !*sign)
    return plain(*from == '1' ? "true" : "false");
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (kind == known[i].type)
      return plain(join(d, digits, known[i].suffix, ""));
  return plain(join(d, join(d, "(", whole(d, &type), ")"), digits, ""));
}

static struct arguments *read_arguments(struct demangler *d);

static struct piece read_argument(struct demangler *d) {
  if (next_is(d, 'L'))
    return read_literal(d);
  if (*d->at == 'X') {
    fail(d);
    return plain("");
  }
  if (*d->at == 'J') {
    struct arguments *list = read_arguments(d);
    return (struct piece){.left = "", .right = "", .base = "", .is_pack = true, .list = list};
  }
  struct piece type = read_type(d);
  return type;
}

/* From after 'I', or 'J' of a pack, to after 'E'. */
static struct arguments *read_arguments(struct demangler *d) {
  static const struct arguments none = {0};
  struct piece items[ARGUMENTS_MAX];
  unsigned count = 0;
  if (!enter(d))
    return (struct arguments *)(uintptr_t)&none;
  d->at++;
  while (!d->failed && *d->at != 'E') {
    if (count == ARGUMENTS_MAX)
      fail(d);
    else
      items[count++] = read_argument(d);
  }
  expect(d, 'E');
  d->depth--;
  struct arguments *list = take(d, sizeof *list);
  struct piece *copy = list ? take(d, (count + 1) * sizeof *copy) : NULL;
  if (!copy)
    return (struct arguments *)(uintptr_t)&none;
  memcpy(copy, items, count * sizeof *copy);
  *list = (struct arguments){count, copy};
  return list;
}

static const char *list_text(struct demangler *d, const struct arguments *list, const char *text) {
  for (unsigned i = 0; i < list->count && !d->failed; i++) {
    const struct piece *item = &list->items[i];
    if (item->is_pack)
      text = list_text(d, item->list, text);
    else
      text = join(d, text, *text ? ", " : "", whole(d, item));
  }
  return text;
}

static const char *arguments_text(struct demangler *d, const struct arguments *list) {
  const char *text = list_text(d, list, "");
  size_t length = strlen(text);
  return join(d, "<", text, length && text[length - 1] == '>' ? " >" : ">");
}

/* Appends template arguments to a name. */
static struct piece apply_arguments(struct demangler *d, struct piece piece, const struct arguments *list) {
  size_t length = strlen(piece.left);
  const char *left = length && piece.left[length - 1] == '<' ? join(d, piece.left, " ", "") : piece.left;
  piece.left = join(d, left, arguments_text(d, list), "");
  piece.parameter = 0;
  return piece;
}

/* ---- names ---- */

static const char *read_source_name(struct demangler *d) {
  unsigned long length = read_number(d);
  if (d->failed || strnlen(d->at, length) < length || !length)
    return fail(d);
  const char *from = d->at;
  d->at += length;
  if (length >= 10 && strncmp(from, "_GLOBAL_", 8) == 0 &&
      (from[8] == '_' || from[8] == '.' || from[8] == '$') && from[9] == 'N')
    return "(anonymous namespace)";
  return cut(d, from, length);
}

static const char *read_operator(struct demangler *d, bool *is_conversion) {
  static const char table[][2][12] = {
      {"nw", " new"}, {"na", " new[]"}, {"dl", " delete"},   {"da", " delete[]"}, {"ps", "+"},
      {"ng", "-"},    {"ad", "&"},      {"de", "*"},         {"co", "~"},         {"pl", "+"},
      {"mi", "-"},    {"ml", "*"},      {"dv", "/"},         {"rm", "%"},         {"an", "&"},
      {"or", "|"},    {"eo", "^"},      {"aS", "="},         {"pL", "+="},        {"mI", "-="},
      {"mL", "*="},   {"dV", "/="},     {"rM", "%="},        {"aN", "&="},        {"oR", "|="},
      {"eO", "^="},   {"ls", "<<"},     {"rs", ">>"},        {"lS", "<<="},       {"rS", ">>="},
      {"eq", "=="},   {"ne", "!="},     {"lt", "<"},         {"gt", ">"},         {"le", "<="},
      {"ge", ">="},   {"ss", "<=>"},    {"nt", "!"},         {"aa", "&&"},        {"oo", "||"},
      {"pp", "++"},   {"mm", "--"},     {"cm", ","},         {"pm", "->*"},       {"pt", "->"},
      {"cl", "()"},   {"ix", "[]"},     {"aw", " co_await"},
  };
  *is_conversion = next_are(d, "cv");
  if (*is_conversion) {
    struct piece type = read_type(d);
    return join(d, "operator ", whole(d, &type), "");
  }
  if (next_are(d, "li"))
    return join(d, "operator\"\" ", read_source_name(d), "");
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (next_are(d, table[i][0]))
      return join(d, "operator", table[i][1], "");
  return fail(d);
}

static const char *read_parameters(struct demangler *d);

/* After "Ul": the parameters, 'E', its number. */
static const char *read_lambda(struct demangler *d) {
  bool was_in_lambda = d->is_in_lambda;
  d->is_in_lambda = true;
  const char *parameters = read_parameters(d);
  d->is_in_lambda = was_in_lambda;
  expect(d, 'E');
  unsigned long index = read_index(d);
  return join(d, join(d, "{lambda", parameters, ""), number_text(d, "#", index + 1, "}"), "");
}

/* The last part of a name; `scope` is the class of constructors. */
static const char *read_unqualified(struct demangler *d, const char *scope, bool *has_no_return) {
  const char *text;
  *has_no_return = false;
  next_is(d, 'L');
  if (is_digit(*d->at)) {
    text = read_source_name(d);
  } else if (*d->at == 'C' && d->at[1] >= '1' && d->at[1] <= '5') {
    d->at += 2;
    *has_no_return = true;
    text = scope ? scope : fail(d);
  } else if (*d->at == 'D' && d->at[1] >= '0' && d->at[1] <= '5') {
    d->at += 2;
    *has_no_return = true;
    text = scope ? join(d, "~", scope, "") : fail(d);
  } else if (next_are(d, "Ut")) {
    text = number_text(d, "{unnamed type#", read_index(d) + 1, "}");
  } else if (next_are(d, "Ul")) {
    text = read_lambda(d);
  } else {
    text = read_operator(d, has_no_return);
  }
  while (next_is(d, 'B'))
    text = join(d, join(d, text, "[abi:", ""), read_source_name(d), "]");
  return text;
}

/* The part before "::", or the whole name. */
static struct piece add_part(struct demangler *d, const struct piece *prefix, const char *part) {
  const char *left = *prefix->left ? join(d, prefix->left, "::", part) : part;
  return (struct piece){.left = left, .right = "", .base = part};
}

/* After 'N'. */
static struct name read_nested(struct demangler *d, bool is_of_encoding) {
  struct name name = {.piece = plain(""), .qualifiers = ""};
  const char *qualifiers = "";
  if (next_is(d, 'r'))
    qualifiers = " restrict";
  if (next_is(d, 'V'))
    qualifiers = join(d, " volatile", qualifiers, "");
  if (next_is(d, 'K'))
    qualifiers = join(d, " const", qualifiers, "");
  if (next_is(d, 'R'))
    qualifiers = join(d, qualifiers, " &", "");
  else if (next_is(d, 'O'))
    qualifiers = join(d, qualifiers, " &&", "");
  name.qualifiers = qualifiers;
  while (!d->failed && *d->at != 'E') {
    bool is_known = false;
    if (*d->at == 'I') {
      const struct arguments *list = read_arguments(d);
      name.piece = apply_arguments(d, name.piece, list);
      name.is_template = true;
      d->arguments = is_of_encoding ? list : d->arguments;
    } else if (!*name.piece.left && *d->at == 'T') {
      d->at++;
      name.piece = read_template_parameter(d);
    } else if (!*name.piece.left && *d->at == 'S') {
      is_known = true;
      d->at++;
      name.piece = next_is(d, 't') ? plain("std") : read_substitution(d);
    } else if (next_is(d, 'M')) {
      continue;
    } else {
      bool is_structor = (*d->at == 'C' || *d->at == 'D') && is_digit(d->at[1]);
      struct piece prefix = is_structor ? spell_out(name.piece) : name.piece;
      const char *part = read_unqualified(d, *prefix.left ? prefix.base : NULL, &name.has_no_return);
      name.piece = add_part(d, &prefix, part);
      name.is_template = false;
    }
    if (!is_known && *d->at != 'E')
      add_substitution(d, name.piece);
  }
  expect(d, 'E');
  return name;
}

/* After 'Z': a name inside a function. */
static struct name read_local(struct demangler *d, bool is_of_encoding) {
  const struct arguments *outer = d->arguments;
  struct piece function = plain(read_encoding(d));
  expect(d, 'E');
  if (!is_of_encoding)
    d->arguments = outer;
  if (next_is(d, 's')) {
    if (next_is(d, '_'))
      read_number(d);
    function = add_part(d, &function, "string literal");
    return (struct name){.piece = function, .qualifiers = ""};
  }
  if (next_is(d, 'd')) { /* of a default argument */
    fail(d);
    return (struct name){.piece = plain(""), .qualifiers = ""};
  }
  struct name name = read_name(d, is_of_encoding);
  if (next_is(d, '_')) { /* number among several with one name */
    if (next_is(d, '_')) {
      read_number(d);
      expect(d, '_');
    } else {
      read_number(d);
    }
  }
  const char *base = name.piece.base;
  name.piece = add_part(d, &function, name.piece.left);
  name.piece.base = base;
  return name;
}

static struct name read_plain_name(struct demangler *d, bool is_of_encoding) {
  struct name name = {.piece = plain(""), .qualifiers = ""};
  bool is_substitution = *d->at == 'S' && d->at[1] != 't';
  if (is_substitution) {
    d->at++;
    name.piece = read_substitution(d);
    if (*d->at != 'I')
      fail(d);
  } else {
    bool is_std = next_are(d, "St");
    const char *part = read_unqualified(d, NULL, &name.has_no_return);
    struct piece prefix = plain(is_std ? "std" : "");
    name.piece = add_part(d, &prefix, part);
  }
  if (*d->at != 'I')
    return name;
  if (!is_substitution)
    add_substitution(d, name.piece);
  const struct arguments *list = read_arguments(d);
  name.piece = apply_arguments(d, name.piece, list);
  name.is_template = true;
  d->arguments = is_of_encoding ? list : d->arguments;
  return name;
}

static struct name read_name(struct demangler *d, bool is_of_encoding) {
  struct name name = {.piece = plain(""), .qualifiers = ""};
  if (!enter(d))
    return name;
  if (next_is(d, 'N'))
    name = read_nested(d, is_of_encoding);
  else if (next_is(d, 'Z'))
    name = read_local(d, is_of_encoding);
  else
    name = read_plain_name(d, is_of_encoding);
  d->depth--;
  return name;
}

/* ---- types ---- */

static const char *builtin(char c) {
  static const char *const names[26] = {
      "signed char",
      "bool",
      "char",
      "double",
      "long double",
      "float",
      "__float128",
      "unsigned char",
      "int",
      "unsigned int",
      NULL,
      "long",
      "unsigned long",
      "__int128",
      "unsigned __int128",
      NULL,
      NULL,
      NULL,
      "short",
      "unsigned short",
      NULL,
      "void",
      "wchar_t",
      "long long",
      "unsigned long long",
      "...",
  };
  return c >= 'a' && c <= 'z' ? names[c - 'a'] : NULL;
}

static struct piece modify(struct demangler *d, struct piece piece, const char *modifier) {
  if (piece.shape == FUNCTION || piece.shape == ARRAY) {
    piece.left = join(d, piece.left, "(", modifier);
    piece.right = join(d, piece.shape == ARRAY ? ") " : ")", piece.right, "");
    piece.shape = WRAPPED;
  } else {
    piece.left = join(d, piece.left, modifier, "");
  }
  piece.reference = 0;
  piece.parameter = 0;
  return piece;
}

/* A reference to a reference, through a template argument, is of the lesser kind. */
static struct piece refer(struct demangler *d, struct piece piece, char kind) {
  if (piece.reference == 'R' || (piece.reference == 'O' && kind == 'O'))
    return piece;
  if (piece.reference == 'O') {
    size_t length = strlen(piece.left);
    piece.left = cut(d, piece.left, length ? length - 1 : 0);
  } else {
    piece = modify(d, piece, kind == 'R' ? "&" : "&&");
  }
  piece.reference = kind;
  piece.parameter = 0;
  return piece;
}

static struct piece read_qualified(struct demangler *d) {
  bool is_restrict = next_is(d, 'r'), is_volatile = next_is(d, 'V'), is_const = next_is(d, 'K');
  struct piece piece = read_type(d);
  const char *text =
      join(d, is_const ? " const" : "", is_volatile ? " volatile" : "", is_restrict ? " restrict" : "");
  if (piece.shape == FUNCTION)
    piece.right = join(d, piece.right, text, "");
  else if (piece.shape == ARRAY) /* of its elements */
    fail(d);
  else if (!piece.reference)
    piece.left = join(d, piece.left, text, "");
  piece.parameter = 0;
  return piece;
}

/* Expands "Dp" PATTERN into a list of types. */
static const char *read_expansion(struct demangler *d, const char *text) {
  const struct arguments *outer_pack = d->pack;
  const char *from = d->at;
  static const struct arguments expanding = {0};
  if (outer_pack || d->is_in_lambda)
    return fail(d);
  d->pack_length = 0;
  d->pack = NULL;
  struct piece piece = read_type(d);
  unsigned length = d->pack_length;
  if (!length) /* nothing known is expanded */
    return fail(d);
  bool kept = d->keeps_substitutions;
  d->keeps_substitutions = true;
  d->pack = &expanding;
  for (unsigned i = 0; i + 1 < length && !d->failed; i++) {
    d->at = from;
    d->pack_index = i;
    piece = read_type(d);
    text = join(d, text, *text ? ", " : "", whole(d, &piece));
  }
  d->pack = NULL;
  d->keeps_substitutions = kept;
  return text;
}

/* Types up to 'E' or the end, as "(a, b)". */
static const char *read_parameters(struct demangler *d) {
  const char *text = "";
  if (*d->at == 'v' && (!d->at[1] || d->at[1] == 'E' || d->at[1] == '.' || d->at[1] == '@')) {
    d->at++;
    return "()";
  }
  if (!*d->at || *d->at == 'E')
    return fail(d);
  while (!d->failed && *d->at && *d->at != 'E' && *d->at != '.' && *d->at != '@' &&
         !(*d->at == 'R' && d->at[1] == 'E') && !(*d->at == 'O' && d->at[1] == 'E')) {
    if (next_are(d, "Dp")) {
      text = read_expansion(d, text);
      continue;
    }
    struct piece type = read_type(d);
    text = join(d, text, *text ? ", " : "", whole(d, &type));
  }
  return join(d, "(", text, ")");
}

/* After 'F'. */
static struct piece read_function(struct demangler *d, const char *suffix) {
  next_is(d, 'Y');
  struct piece result = read_type(d);
  const char *parameters = read_parameters(d);
  const char *reference = next_is(d, 'R') ? " &" : next_is(d, 'O') ? " &&" : "";
  expect(d, 'E');
  result.left = join(d, result.left, result.shape == WRAPPED ? "" : " ", "");
  result.right = join(d, parameters, join(d, reference, suffix, ""), result.right);
  return (struct piece){.left = result.left, .right = result.right, .base = "", .shape = FUNCTION};
}

/* After 'A'. */
static struct piece read_array(struct demangler *d) {
  const char *from = d->at;
  while (is_digit(*d->at))
    d->at++;
  const char *length = cut(d, from, (size_t)(d->at - from));
  expect(d, '_');
  struct piece element = read_type(d);
  if (element.shape != ARRAY)
    element.left = join(d, element.left, element.shape == WRAPPED ? "" : " ", "");
  element.right = join(d, join(d, "[", length, "]"), element.right, "");
  return (struct piece){.left = element.left, .right = element.right, .base = "", .shape = ARRAY};
}

/* After 'M'. */
static struct piece read_member(struct demangler *d) {
  struct piece class_ = read_type(d), type = read_type(d);
  const char *name = join(d, whole(d, &class_), "::*", "");
  if (type.shape == PLAIN || type.shape == WRAPPED)
    name = join(d, " ", name, "");
  return modify(d, type, name);
}

/* After 'D'; *is_builtin: it is not a candidate for substitution. */
static struct piece read_special_type(struct demangler *d, bool *is_builtin) {
  static const char table[][2][20] = {{"n", "decltype(nullptr)"}, {"i", "char32_t"}, {"s", "char16_t"},
                                      {"u", "char8_t"},           {"a", "auto"},     {"c", "decltype(auto)"}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (next_are(d, table[i][0])) {
      *is_builtin = true;
      return plain(table[i][1]);
    }
  if (next_are(d, "oF"))
    return read_function(d, " noexcept");
  return plain(fail(d));
}

static struct piece read_class(struct demangler *d, bool *is_known) {
  if (*d->at == 'S' && d->at[1] != 't') {
    d->at++;
    struct piece piece = read_substitution(d);
    if (*d->at != 'I') {
      *is_known = true;
      return piece;
    }
    return apply_arguments(d, piece, read_arguments(d));
  }
  return read_name(d, false).piece;
}

static struct piece read_parameter_type(struct demangler *d) {
  struct piece piece = read_template_parameter(d);
  if (*d->at != 'I')
    return piece;
  add_substitution(d, piece);
  return apply_arguments(d, piece, read_arguments(d));
}

static struct piece read_type_of(struct demangler *d, bool *is_known) {
  const char *name = builtin(*d->at);
  if (name) {
    d->at++;
    *is_known = true;
    return plain(name);
  }
  switch (*d->at) {
  case 'r':
  case 'V':
  case 'K': return read_qualified(d);
  case 'P': d->at++; return modify(d, read_type(d), "*");
  case 'R':
  case 'O': {
    char kind = *d->at++;
    return refer(d, read_type(d), kind);
  }
  case 'C': d->at++; return modify(d, read_type(d), " _Complex");
  case 'F': d->at++; return read_function(d, "");
  case 'A': d->at++; return read_array(d);
  case 'M': d->at++; return read_member(d);
  case 'T': d->at++; return read_parameter_type(d);
  case 'D': d->at++; return read_special_type(d, is_known);
  case 'u': d->at++; return plain(read_source_name(d));
  default: return read_class(d, is_known);
  }
}

static struct piece read_type(struct demangler *d) {
  bool is_known = false;
  if (!enter(d))
    return plain("");
  struct piece piece = read_type_of(d, &is_known);
  if (!is_known)
    add_substitution(d, piece);
  d->depth--;
  return piece;
}

/* ---- encodings ---- */

static void skip_offset(struct demangler *d) {
  next_is(d, 'n');
  read_number(d);
  expect(d, '_');
}

/* Tables and thunks; NULL: it is none of these. */
static const char *read_special(struct demangler *d) {
  static const char types[][2][24] = {
      {"TV", "vtable for "}, {"TT", "VTT for "}, {"TI", "typeinfo for "}, {"TS", "typeinfo name for "}};
  static const char names[][2][32] = {
      {"GV", "guard variable for "}, {"TW", "TLS wrapper function for "}, {"TH", "TLS init function for "}};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (next_are(d, types[i][0])) {
      struct piece type = read_type(d);
      return join(d, types[i][1], whole(d, &type), "");
    }
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (next_are(d, names[i][0]))
      return join(d, names[i][1], read_name(d, true).piece.left, "");
  if (next_are(d, "Th")) {
    skip_offset(d);
    return join(d, "non-virtual thunk to ", read_encoding(d), "");
  }
  if (next_are(d, "Tv")) {
    skip_offset(d);
    skip_offset(d);
    return join(d, "virtual thunk to ", read_encoding(d), "");
  }
  return NULL;
}

static const char *read_encoding(struct demangler *d) {
  if (!enter(d))
    return "";
  const char *special = read_special(d);
  if (special || d->failed) {
    d->depth--;
    return special ? special : "";
  }
  struct name name = read_name(d, true);
  const char *text = name.piece.left;
  if (*d->at && *d->at != 'E' && *d->at != '.' && *d->at != '@') {
    struct piece result = plain("");
    if (name.is_template && !name.has_no_return) {
      result = read_type(d);
      result.left = join(d, result.left, result.shape == WRAPPED ? "" : " ", "");
    }
    const char *parameters = read_parameters(d);
    text = join(d, join(d, result.left, text, parameters), name.qualifiers, result.right);
  } else if (*name.qualifiers) {
    fail(d);
  }
  d->depth--;
  return text;
}

/* " [clone .part.0]" for suffixes that compilers append to names. */
static const char *read_clones(struct demangler *d, const char *text) {
  while (!d->failed && *d->at == '.') {
    const char *from = d->at++;
    if (is_digit(*d->at) || !*d->at)
      return fail(d);
    while (*d->at == '_' || (*d->at >= 'a' && *d->at <= 'z') || (*d->at >= 'A' && *d->at <= 'Z'))
      d->at++;
    while (*d->at == '.' && is_digit(d->at[1]))
      for (d->at++; is_digit(*d->at);)
        d->at++;
    text = join(d, text, " [clone ", join(d, cut(d, from, (size_t)(d->at - from)), "]", ""));
  }
  return text;
}

bool kymo_demangle(const char *mangled, char *out, size_t size) {
  if (strncmp(mangled, "_Z", 2) != 0 || strlen(mangled) > MEMORY_BYTES / 8)
    return false;
  struct demangler *d = calloc(1, sizeof *d);
  char *memory = malloc(MEMORY_BYTES);
  bool is_done = d && memory;
  if (is_done) {
    d->at = mangled + 2;
    d->memory = memory;
    const char *text = read_encoding(d);
    text = read_clones(d, text);
    size_t length = strlen(text);
    is_done = !d->failed && !*d->at && length < size && length > 0;
    if (is_done)
      memcpy(out, text, length + 1);
  }
  free(memory);
  free(d);
  return is_done;
}
