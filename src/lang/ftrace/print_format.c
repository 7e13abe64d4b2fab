/* SPDX-License-Identifier: MIT */
/* The format of a print fmt: its conversions, and the arguments that belong to them. */
#include "base/fail.h"
#include "lang/ftrace/print_parser.h"
#include <string.h>

/* ---- conversions ---- */

/* How many letters after %p belong to it. */
static size_t pointer_letters(const char *letters, size_t length) {
  char first = length > 0 ? letters[0] : 0, second = length > 1 ? letters[1] : 0;
  size_t count = 1;
  if (first && strchr("FSfsxKB", first))
    return 1;
  if (first && strchr("Mm", first))
    return second && strchr("RF", second) ? 2 : 1;
  if (first == 'U')
    return second && strchr("LlBb", second) ? 2 : 1;
  if (first == 'h')
    return second && strchr("CDN", second) ? 2 : 1;
  if ((first != 'I' && first != 'i') || !second || !strchr("46S", second))
    return 0;
  count = 2;
  while (second == 'S' && count < length && strchr("pfs", letters[count]))
    count++;
  if (second != '6' && count < length && strchr("hnbl", letters[count]))
    count++;
  if (second != '4' && count < length && letters[count] == 'c')
    count++;
  return count;
}

/* Flags, width, precision and lengths from *at on. False: the format ends in the middle. */
static bool parse_flags(struct kymo_ftrace_piece *piece, const char *format, size_t length, size_t *at) {
  struct kymo_printfmt_piece *number = &piece->number;
  for (; *at < length; ++*at) {
    char c = format[*at];
    uint32_t *digits = number->has_precision ? &number->precision : &number->width;
    switch (c) {
    case '#': number->alternate = true; break;
    case '-': number->left = true; break;
    case '+': number->plus = true; break;
    case ' ': number->blank = true; break;
    case '.': number->has_precision = true; break;
    case 'h': piece->longs--; break;
    case 'l': piece->longs++; break;
    case 'L':
    case 'q': piece->longs = 2; break;
    case 'z':
    case 'Z':
    case 't': piece->longs = 1; break;
    case '*':
      number->precision_is_argument = number->has_precision;
      number->width_is_argument = !number->has_precision;
      break;
    default:
      if (!kymo_is_digit(c))
        return true;
      if (c == '0' && *digits == 0 && !number->has_precision)
        number->zero = true;
      *digits = *digits * 10 + (uint32_t)(c - '0');
      if (*digits > KYMO_PRINTFMT_WIDTH)
        *digits = KYMO_PRINTFMT_WIDTH;
    }
  }
  return false;
}

static bool take_argument(struct print_session *session, const struct kymo_ftrace_node **from,
                          const struct kymo_ftrace_node **out) {
  *out = *from;
  if (!*from)
    return kymo_lang_fail(session, session->token.at, "a conversion without an argument");
  *from = (*from)->next;
  return true;
}

/* After "%". Returns what is wrong, or NULL. */
static const char *scan_conversion(struct kymo_ftrace_piece *piece, const char *format, size_t length,
                                   size_t *at) {
  if (!parse_flags(piece, format, length, at))
    return "a conversion without end";
  char c = format[(*at)++];
  if (!c || !strchr("cduixXosp", c))
    return "a conversion that is not known";
  if (c == 'p') {
    size_t letters = pointer_letters(format + *at, length - *at);
    if (letters >= sizeof piece->pointer)
      return "a conversion that is too long";
    memcpy(piece->pointer, format + *at, letters);
    *at += letters;
  }
  if (piece->longs > 2 || piece->longs < -2)
    return "a conversion of too many lengths";
  const struct kymo_printfmt_piece *number = &piece->number;
  bool has_flags = number->left || number->plus || number->blank || number->alternate ||
                   number->has_precision || number->width_is_argument;
  bool is_padded = number->zero && c == 'x';
  piece->is_plain = strchr("diux", c) && !has_flags && (is_padded || (!number->zero && number->width == 0));
  piece->number.conversion = c;
  return NULL;
}

static bool parse_conversion(struct print_session *session, struct kymo_ftrace_piece *piece,
                             const char *format, size_t length, size_t *at,
                             const struct kymo_ftrace_node **arguments) {
  const char *wrong = scan_conversion(piece, format, length, at);
  if (wrong)
    return kymo_lang_fail(session, session->token.at, "%s", wrong);
  bool has_star = piece->number.width_is_argument || piece->number.precision_is_argument;
  return (!has_star || take_argument(session, arguments, &piece->width)) &&
         take_argument(session, arguments, &piece->argument);
}

/* ---- text ---- */

/* The text up to a conversion, whose escapes become bytes. Returns how much of the format it is. */
static size_t parse_text(struct kymo_ftrace_piece *piece, char *out, const char *format, size_t length) {
  size_t at = 0;
  piece->text = out;
  for (; at < length; at++) {
    char c = format[at];
    if (c == '%' && (at + 1 == length || format[at + 1] != '%'))
      break;
    if ((c == '%' || c == '\\') && at + 1 < length) {
      bool is_escape = c == '\\';
      c = format[++at];
      if (is_escape)
        c = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
    }
    *out++ = c;
  }
  piece->length = (size_t)(out - piece->text);
  return at;
}

/* "%c" */
static bool is_unknown(const char *format, size_t length) { return length >= 2 && format[1] == 'c'; }

bool kymo_print_format(struct print_session *session, struct kymo_ftrace_print *out, const char *format,
                       size_t length, const struct kymo_ftrace_node *arguments) {
  size_t most = 1, at = 0;
  for (size_t i = 0; i < length; i++)
    most += format[i] == '%';
  struct kymo_ftrace_piece *pieces = kymo_lang_keep(session, most, sizeof *pieces);
  char *text = pieces ? kymo_lang_keep(session, 2 * length + 1, 1) : NULL; /* ">c<" is longer than "%c" */
  if (!text)
    return false;
  for (;;) {
    struct kymo_ftrace_piece *piece = &pieces[out->count++];
    at += parse_text(piece, text, format + at, length - at);
    text += piece->length;
    if (at < length && session->rules == KYMO_FTRACE_OF_TRACE_CMD && is_unknown(format + at, length - at)) {
      at += 2; /* trace-cmd prints such a conversion so, and it takes no argument */
      memcpy(text, ">c<", 3);
      piece->length += 3;
      text += 3;
      continue;
    }
    if (at == length)
      break;
    at++;
    if (!parse_conversion(session, piece, format, length, &at, &arguments))
      return false;
  }
  out->pieces = pieces;
  return true;
}

size_t kymo_ftrace_scan(struct kymo_ftrace_piece *piece, struct kymo_strbuf *out, const char *format,
                        size_t length) {
  char *text = kymo_strbuf_room(out, length + 1);
  if (!text)
    return length;
  size_t at = parse_text(piece, text, format, length);
  kymo_strbuf_used(out, piece->length);
  if (at == length)
    return at;
  at++;
  return scan_conversion(piece, format, length, &at) == NULL ? at : length;
}

/* ---- the whole ---- */

/* Texts in a row are one. */
static bool parse_texts(struct print_session *session, const char **format, size_t *length) {
  char *joined = NULL;
  size_t size = 0;
  if (session->token.kind != PRINT_TOKEN_TEXT)
    return kymo_lang_fail(session, session->token.at, "expected a format in quotes");
  joined = kymo_lang_keep(session, session->cursor.length + 1, 1);
  while (joined && session->token.kind == PRINT_TOKEN_TEXT) {
    memcpy(joined + size, session->token.text, session->token.length);
    size += session->token.length;
    if (!kymo_print_next(session))
      return false;
  }
  *format = joined;
  *length = size;
  return joined != NULL;
}

static bool parse_whole(struct print_session *session, struct kymo_ftrace_print *out) {
  struct kymo_ftrace_node *first = NULL, **last = &first;
  const char *format = NULL;
  size_t length = 0;
  if (!kymo_print_next(session) || !parse_texts(session, &format, &length))
    return false;
  while (kymo_print_is(session, ",")) {
    if (!kymo_print_next(session) || !(*last = kymo_print_expression(session)))
      return false;
    last = &(*last)->next;
  }
  if (session->token.kind != PRINT_TOKEN_END)
    return kymo_lang_fail(session, session->token.at, "expected \",\" or the end");
  return kymo_print_format(session, out, format, length, first);
}

int kymo_ftrace_print_parse(struct kymo_ftrace_print *out, struct kymo_arena *arena, const char *text,
                            enum kymo_ftrace_rules rules, kymo_ftrace_find *find, const void *user,
                            struct kymo_error *error) {
  struct kymo_error local = {.code = KYMO_OK};
  struct print_session session = {.common = {.text = text,
                                             .length = strlen(text),
                                             .file = "print fmt",
                                             .what = "a print fmt",
                                             .error = error ? error : &local,
                                             .keep = arena},
                                  .cursor = {.text = text, .length = strlen(text)},
                                  .rules = rules,
                                  .find = find,
                                  .user = user};
  *out = (struct kymo_ftrace_print){0};
  bool is_good = parse_whole(&session, out);
  kymo_lang_end(&session);
  if (is_good && session.is_beyond && rules == KYMO_FTRACE_OF_TRACE_CMD)
    is_good = kymo_lang_fail(&session, 0, "what trace-cmd does not know");
  return is_good ? KYMO_OK : session.common.error->code;
}
