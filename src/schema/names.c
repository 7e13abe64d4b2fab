/* SPDX-License-Identifier: MIT */
/*
 * C type names in one spelling. Specifiers come in any order and are counted; in the rest (pointers,
 * dimensions) only the spaces are normalised.
 *
 *   "long unsigned const*[ 4 ]"   = specifiers { const, unsigned, long } + "*[ 4 ]" → "const unsigned long
 *                                 *[4]"
 */
#include <ctype.h>
#include <kymo/schema.h>
#include <string.h>

/* The text so far; cut at the end of `out`. */
struct spelling {
  char *out;
  size_t size, length;
};

static void put_char(struct spelling *s, char c) {
  if (s->length + 1 < s->size)
    s->out[s->length++] = c;
}

static void put_word(struct spelling *s, const char *word, size_t length) {
  if (s->length > 0 && s->out[s->length - 1] != ' ')
    put_char(s, ' ');
  for (size_t i = 0; i < length; i++)
    put_char(s, word[i]);
}

enum specifier { CONST, VOLATILE, SIGNED, UNSIGNED, SHORT, LONG, INT, CHAR, FLOAT, DOUBLE, BOOL, SPECIFIERS };
static const struct {
  const char *word;
  enum specifier specifier;
} words[] = {
    {"const", CONST},       {"volatile", VOLATILE}, {"signed", SIGNED}, {"__signed__", SIGNED},
    {"unsigned", UNSIGNED}, {"short", SHORT},       {"long", LONG},     {"int", INT},
    {"char", CHAR},         {"float", FLOAT},       {"double", DOUBLE}, {"_Bool", BOOL},
    {"bool", BOOL},
};

static bool is_word_char(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$' || (c & 0x80); }

static size_t word_length(const char *at) {
  size_t length = 0;
  while (is_word_char(at[length]) || (at[length] == ':' && at[length + 1] == ':') ||
         (length > 0 && at[length] == ':' && at[length - 1] == ':'))
    length++;
  return length;
}

static bool count_specifier(unsigned counts[SPECIFIERS], const char *word, size_t length) {
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strlen(words[i].word) == length && memcmp(words[i].word, word, length) == 0) {
      counts[words[i].specifier]++;
      return true;
    }
  return false;
}

/* "unsigned long" and so on, after the qualifiers. */
static void put_basic(struct spelling *s, const unsigned counts[SPECIFIERS]) {
  static const char *const bases[] = {
      [CHAR] = "char", [FLOAT] = "float", [DOUBLE] = "double", [BOOL] = "bool"};
  if (counts[UNSIGNED])
    put_word(s, "unsigned", 8);
  else if (counts[SIGNED] && counts[CHAR])
    put_word(s, "signed", 6);
  if (counts[SHORT])
    put_word(s, "short", 5);
  for (unsigned i = 0; i < counts[LONG] && i < 2; i++)
    put_word(s, "long", 4);
  bool has_base = false;
  for (int i = CHAR; i <= BOOL; i++)
    if (counts[i]) {
      put_word(s, bases[i], strlen(bases[i]));
      has_base = true;
    }
  if (!has_base && !counts[SHORT] && !counts[LONG] && (counts[INT] || counts[UNSIGNED] || counts[SIGNED]))
    put_word(s, "int", 3);
}

/* Pointers and dimensions: "*const [4][2]". */
static void put_declarator(struct spelling *s, const char *at) {
  char before = ' ';
  for (; *at; at++) {
    if (isspace((unsigned char)*at))
      continue;
    bool begins = (*at == '*' && before != '*' && before != '(') || (*at == '[' && before != ']') ||
                  (*at == '(' && before != ')');
    bool parts = is_word_char(*at) && is_word_char(before) && isspace((unsigned char)at[-1]);
    if ((begins || parts) && s->length > 0)
      put_char(s, ' ');
    put_char(s, *at);
    before = *at;
  }
}

char *kymo_type_name_normalize(char *out, size_t size, const char *name) {
  struct spelling s = {.out = out, .size = size};
  unsigned counts[SPECIFIERS] = {0};
  const char *at = name, *others = NULL;
  char kept[512];
  struct spelling rest = {.out = kept, .size = sizeof kept};
  if (size == 0)
    return out;
  for (;;) {
    at += strspn(at, " \t\n\r\v\f");
    size_t length = word_length(at);
    if (length == 0)
      break;
    if (!count_specifier(counts, at, length)) {
      others = at;
      put_word(&rest, at, length);
    }
    at += length;
  }
  if (counts[CONST])
    put_word(&s, "const", 5);
  if (counts[VOLATILE])
    put_word(&s, "volatile", 8);
  put_basic(&s, counts);
  if (others)
    put_word(&s, kept, rest.length);
  put_declarator(&s, at);
  out[s.length] = 0;
  return out;
}

char kymo_type_format(const struct kymo_type *type) {
  static const char formats[17] = {[2] = 'b', [8] = 'o', [16] = 'x'};
  switch (type->kind) {
  case KYMO_KIND_INTEGER:
  case KYMO_KIND_BOOLEAN:
  case KYMO_KIND_BITMAP:
  case KYMO_KIND_VARINT:
    if (type->is_address)
      return 'p';
    if (type->encoding != KYMO_ENCODING_NONE)
      return 'c';
    if (type->base <= 16 && formats[type->base])
      return formats[type->base];
    return type->is_signed ? 'd' : 'u';
  case KYMO_KIND_FLOAT: return 'f';
  case KYMO_KIND_STRING:
  case KYMO_KIND_TEXT_ARRAY:
  case KYMO_KIND_TEXT_SEQUENCE: return 's';
  default: return 0;
  }
}
