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

/* What stands in the brackets of "KYMO_HEX(flags, p->flags)" or, when another macro has expanded it, of
 * "(kymo_value, flags, …, kymo_field)" behind the first word. False: it is no wrapper. */
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

/* Wrappers of listed types name the type behind the field. */
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

/* ---- tracepoints ---- */

static bool parse_field(struct kymo_point_text *out, uint32_t i, struct kymo_slice *rest, uint64_t code) {
  struct kymo_slice field = kymo_next_argument(rest);
  if (!field.length)
    return false;
  kymo_identifier(out->field[i], sizeof out->field[i], kymo_argument_name(field), i + 1);
  make_unique(out, i);
  out->code[i] = code;
  out->listing[i] = NULL;
  out->type[i] = (code & 255) == KYMO_TYPE_LISTED_ ? type_name(field) : (struct kymo_slice){"", 0};
  return true;
}

bool kymo_point_parse(struct kymo_point_text *out, const struct kymo_tracepoint *point, const uint64_t *codes,
                      const char *text, size_t size) {
  const char *end = memchr(text, 0, size);
  if (!end || point->count > KYMO_FIELDS_MAX)
    return false;
  struct kymo_slice rest = {text, (size_t)(end - text)};
  out->count = point->count;
  out->line = point->line;
  out->file = memchr(end + 1, 0, size - (size_t)(end + 1 - text)) ? end + 1 : "";
  out->names_only = false;
  struct kymo_slice name = kymo_next_argument(&rest);
  if (point->flags & KYMO_POINT_NAMED_)
    snprintf(out->name, sizeof out->name, "%.*s", (int)name.length, name.at);
  else {
    struct kymo_slice second = kymo_next_argument(&rest);
    snprintf(out->name, sizeof out->name, "%.*s:%.*s", (int)name.length, name.at, (int)second.length,
             second.at);
  }
  if (!name.length)
    return false;
  for (uint32_t i = 0; i < out->count; i++)
    if (!parse_field(out, i, &rest, codes[i]))
      return false;
  return true;
}
