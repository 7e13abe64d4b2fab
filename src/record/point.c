/* SPDX-License-Identifier: MIT */
#include "record/point.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* ---- arguments ---- */

/* The length of the first argument in `text`: up to a comma outside brackets and quotes. */
static size_t argument_length(const char *text, size_t size) {
  int depth = 0;
  char quote = 0;
  size_t i = 0;
  for (; i < size; i++) {
    char c = text[i];
    if (quote) {
      if (c == '\\')
        i++;
      else if (c == quote)
        quote = 0;
    } else if (c == '"' || c == '\'')
      quote = c;
    else if (strchr("([{", c))
      depth++;
    else if (strchr(")]}", c))
      depth--;
    else if (c == ',' && !depth)
      break;
  }
  return i < size ? i : size;
}

static struct kymo_slice trim(struct kymo_slice s) {
  while (s.length && isspace((unsigned char)*s.at))
    s.at++, s.length--;
  while (s.length && isspace((unsigned char)s.at[s.length - 1]))
    s.length--;
  return s;
}

struct kymo_slice kymo_next_argument(struct kymo_slice *rest) {
  struct kymo_slice argument = {rest->at, argument_length(rest->at, rest->length)};
  size_t step = argument.length < rest->length ? argument.length + 1 : rest->length;
  rest->at += step;
  rest->length -= step;
  return trim(argument);
}

/* ---- wrappers ---- */

static bool ends(struct kymo_slice s, const char *with) {
  size_t length = strlen(with);
  return s.length > length && !memcmp(s.at + s.length - length, with, length);
}

static bool starts(struct kymo_slice s, const char *with) {
  return s.length >= strlen(with) && !memcmp(s.at, with, strlen(with));
}

/* The contents of the brackets of "KYMO_HEX(flags, p->flags)" or, when another macro has expanded it, of
 * "(kymo_value, flags, …, kymo_field)" after the first word. False: it is not a wrapper. */
static bool wrapped(struct kymo_slice s, struct kymo_slice *inner) {
  bool expanded = s.length && *s.at == '(' && (ends(s, "kymo_field)") || ends(s, "kymo_member)"));
  if (!expanded && !(starts(s, "KYMO_") && s.at[s.length - 1] == ')'))
    return false;
  const char *open = memchr(s.at, '(', s.length);
  if (!open)
    return false;
  *inner = (struct kymo_slice){open + 1, s.length - (size_t)(open + 1 - s.at) - 1};
  if (expanded)
    kymo_next_argument(inner);
  return true;
}

struct kymo_slice kymo_argument_name(struct kymo_slice argument) {
  struct kymo_slice inner;
  return wrapped(argument, &inner) ? kymo_next_argument(&inner) : argument;
}

/* Wrappers of listed types have the type after the field. */
static struct kymo_slice type_name(struct kymo_slice argument) {
  struct kymo_slice inner;
  if (!wrapped(argument, &inner))
    return (struct kymo_slice){"", 0};
  kymo_next_argument(&inner);
  return kymo_next_argument(&inner);
}

/* ---- identifiers ---- */

void kymo_identifier(char *out, size_t size, struct kymo_slice s, uint32_t number) {
  size_t n = 0;
  for (size_t i = 0; i < s.length && n + 1 < size; i++) {
    unsigned char c = (unsigned char)s.at[i];
    if (isalnum(c) || c == '_')
      out[n++] = (char)c;
    else if (n && out[n - 1] != '_')
      out[n++] = '_';
  }
  while (n && out[n - 1] == '_' && !(s.length && s.at[s.length - 1] == '_'))
    n--;
  out[n] = 0;
  if (!n)
    snprintf(out, size, "field%u", number);
  else if (isdigit((unsigned char)out[0])) {
    memmove(out + 1, out, n < size - 1 ? n + 1 : n);
    out[0] = 'v';
    out[size - 1] = 0;
  }
}

/* A second `len` becomes len_2. */
static void make_unique(struct kymo_point_text *out, uint32_t index) {
  char plain[KYMO_FIELD_NAME_MAX];
  memcpy(plain, out->field[index], sizeof plain);
  for (uint32_t copy = 2, i = 0; i < index;) {
    if (strcmp(out->field[i], out->field[index])) {
      i++;
      continue;
    }
    snprintf(out->field[index], sizeof out->field[index], "%.*s_%u", 58, plain, copy++);
    i = 0;
  }
}

/* ---- descriptions ---- */

/* The text of adjacent string literals. Escape sequences of one letter are decoded; of others only the
 * backslash is dropped. */
static void join_literals(char *out, size_t size, struct kymo_slice literals) {
  bool inside = false;
  size_t n = 0;
  for (size_t i = 0; i < literals.length && n + 1 < size; i++) {
    char c = literals.at[i];
    if (c == '"') {
      inside = !inside;
      continue;
    }
    if (!inside)
      continue;
    if (c == '\\' && i + 1 < literals.length) {
      c = literals.at[++i];
      c = (char)(c == 'n' ? '\n' : c == 't' ? '\t' : c);
    }
    out[n++] = c;
  }
  out[n] = 0;
}

/* ---- tracepoints ---- */

void kymo_point_add_field(struct kymo_point_text *out, struct kymo_slice name, uint64_t code) {
  uint32_t i = out->count++;
  out->is_misordered |= i && out->code[i - 1] & KYMO_CODE_LATER_ && !(code & KYMO_CODE_LATER_);
  kymo_identifier(out->field[i], sizeof out->field[i], name, i + 1);
  make_unique(out, i);
  out->code[i] = code;
  out->listing[i] = NULL;
  out->type[i] = (struct kymo_slice){"", 0};
}

static void parse_field(struct kymo_point_text *out, struct kymo_slice field, uint64_t code) {
  kymo_point_add_field(out, kymo_argument_name(field), code);
  if ((code & 255) == KYMO_TYPE_LISTED_)
    out->type[out->count - 1] = type_name(field);
}

/* A field, or a property of the event. */
static bool parse_argument(struct kymo_point_text *out, const struct kymo_tracepoint *point,
                           struct kymo_slice *rest, uint64_t code) {
  struct kymo_slice argument = kymo_next_argument(rest);
  if (!argument.length)
    return false;
  switch (code >> 8 & 255) {
  case KYMO_KIND_LEVEL_: out->level = (int32_t)(code >> 32); break;
  case KYMO_KIND_ABOUT_: join_literals(out->about, sizeof out->about, kymo_argument_name(argument)); break;
  default:
    if (!(point->flags & KYMO_POINT_BARE_))
      parse_field(out, argument, code);
    break;
  }
  return true;
}

static bool parse_name(struct kymo_point_text *out, uint32_t flags, struct kymo_slice *rest) {
  struct kymo_slice name = kymo_next_argument(rest);
  out->edge = flags & KYMO_POINT_BEGIN_ ? "begin" : flags & KYMO_POINT_END_ ? "end" : NULL;
  const char *line = out->edge ? "_" : "", *edge = out->edge ? out->edge : "";
  if (flags & KYMO_POINT_NAMED_)
    snprintf(out->name, sizeof out->name, "%.*s%s%s", (int)name.length, name.at, line, edge);
  else {
    struct kymo_slice second = kymo_next_argument(rest);
    snprintf(out->name, sizeof out->name, "%.*s:%.*s%s%s", (int)name.length, name.at, (int)second.length,
             second.at, line, edge);
  }
  return name.length > 0;
}

/* The texts after the first one: a format, if there is one, and the file. */
static bool read_texts(struct kymo_point_text *out, uint32_t flags, const char *at, const char *end) {
  const char *zero = memchr(at, 0, (size_t)(end - at));
  out->format = NULL;
  if (flags & KYMO_POINT_PRINTF_) {
    if (!zero)
      return false;
    out->format = at;
    at = zero + 1;
    zero = memchr(at, 0, (size_t)(end - at));
  }
  out->file = zero ? at : "";
  return true;
}

bool kymo_point_parse(struct kymo_point_text *out, const struct kymo_tracepoint *point, const uint64_t *codes,
                      const char *text, size_t size) {
  const char *end = memchr(text, 0, size);
  if (!end || point->count > KYMO_FIELDS_MAX)
    return false;
  struct kymo_slice rest = {text, (size_t)(end - text)};
  out->count = 0;
  out->about[0] = 0;
  out->is_misordered = false;
  out->line = point->line;
  out->level = -1;
  out->wrong = NULL;
  out->has_errno = false;
  out->names_only = false;
  if (!read_texts(out, point->flags, end + 1, text + size) || !parse_name(out, point->flags, &rest))
    return false;
  if (point->flags & (KYMO_POINT_DECLARED_ | KYMO_POINT_PRINTF_))
    kymo_next_argument(&rest);
  for (uint32_t i = 0; i < point->count; i++)
    if (!parse_argument(out, point, &rest, codes[i]))
      return false;
  if (out->format)
    kymo_point_fit_format(out);
  return true;
}
