/* SPDX-License-Identifier: MIT */
#include "log/format.h"

struct parser {
  const char *format;
  size_t at;
  struct kymo_bprogram *out;
};

static char look(const struct parser *parser) { return parser->format[parser->at]; }

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static void parse_flags(struct parser *parser, struct kymo_bop *op) {
  for (;; parser->at++)
    switch (look(parser)) {
    case '-': op->left = true; break;
    case '+': op->plus = true; break;
    case ' ': op->blank = true; break;
    case '#': op->alternate = true; break;
    case '0': op->zero = true; break;
    case '<':
    case '>': op->order = look(parser); break;
    default: return;
    }
}

static const char *parse_number(struct parser *parser, uint32_t *number) {
  for (*number = 0; is_digit(look(parser)); parser->at++) {
    *number = *number * 10 + (uint32_t)(look(parser) - '0');
    if (*number > KYMO_BWIDTH_MAX)
      return "a width or precision above 65536";
  }
  return NULL;
}

/* A width or precision: a number, or a star. */
static const char *parse_extent(struct parser *parser, uint32_t *number, int8_t *arg) {
  if (look(parser) != '*')
    return parse_number(parser, number);
  parser->at++;
  if (parser->out->args == KYMO_BARGS_MAX)
    return "more than 64 arguments";
  *arg = (int8_t)parser->out->args++;
  return NULL;
}

static bool is_size(uint32_t size, uint32_t most) { return size && size <= most && !(size & (size - 1)); }

static bool is_one_of(char c, const char *set) {
  for (; *set; set++)
    if (c == *set)
      return true;
  return false;
}

/* Sizes that the format contains; sizes in arguments are checked at the call. */
static const char *check_binary(const struct kymo_bop *op) {
  bool is_b = op->conversion == 'b';
  if (is_b && op->has_precision && op->precision_arg < 0 && !is_size(op->precision, 8))
    return "%b of other than 1, 2, 4 or 8 bytes";
  if (is_b && !op->has_precision && op->has_width && op->width_arg < 0 && !is_size(op->width, 8))
    return "%b of other than 1, 2, 4 or 8 bytes";
  if (!is_b && op->has_width && (op->width_arg >= 0 || !is_size(op->width, 4)))
    return "a number of other than 1, 2 or 4 bytes";
  if (op->conversion == 'n' && op->has_precision)
    return "%n with a precision";
  return NULL;
}

static const char *check(const struct kymo_bop *op) {
  bool is_binary = is_one_of(op->conversion, "bnSo");
  if (op->order && !is_binary)
    return "a byte order for what has none";
  if (is_binary)
    return check_binary(op);
  if (is_one_of(op->conversion, "diuxXeEfFgGaAp") &&
      (op->width > KYMO_BTEXT_WIDTH_MAX || op->precision > KYMO_BTEXT_WIDTH_MAX))
    return "a width or precision above 200";
  return NULL;
}

static struct kymo_bop *add(struct parser *parser) {
  if (parser->out->count == KYMO_BOPS_MAX)
    return NULL;
  struct kymo_bop *op = &parser->out->ops[parser->out->count++];
  *op = (struct kymo_bop){.width_arg = -1, .precision_arg = -1};
  return op;
}

/* The arguments of the operation, and its repetitions. */
static const char *repeat(struct parser *parser, const struct kymo_bop *op) {
  static const char many[] = "more than 80 pieces";
  uint32_t times = 1, each = op->conversion == 'n' ? 0 : op->conversion == 'o' ? 2 : 1;
  if (op->conversion == 'b' && look(parser) == '*' && is_digit(parser->format[parser->at + 1])) {
    parser->at++;
    const char *wrong = parse_number(parser, &times);
    if (wrong || times == 0 || times > KYMO_BARGS_MAX)
      return "a repetition of other than 1 to 64 times";
  }
  const struct kymo_bop model = *op;
  for (uint32_t i = 0; i < times; i++) {
    struct kymo_bop *copy = i ? add(parser) : &parser->out->ops[parser->out->count - 1];
    if (!copy)
      return many;
    *copy = model;
    copy->arg = (uint8_t)parser->out->args;
    parser->out->args += each;
    if (parser->out->args > KYMO_BARGS_MAX)
      return "more than 64 arguments";
  }
  return NULL;
}

/* After the per cent sign. */
static const char *parse_directive(struct parser *parser) {
  struct kymo_bop *op = add(parser);
  if (!op)
    return "more than 80 pieces";
  parse_flags(parser, op);
  op->has_width = is_digit(look(parser)) || look(parser) == '*';
  const char *wrong = parse_extent(parser, &op->width, &op->width_arg);
  if (!wrong && look(parser) == '.') {
    parser->at++;
    op->has_precision = true;
    wrong = parse_extent(parser, &op->precision, &op->precision_arg);
  }
  for (; !wrong && is_one_of(look(parser), "hlzjtLq"); parser->at++)
    op->modifier = look(parser) == 'h' ? (op->modifier == 'h' ? 'H' : 'h') : 0;
  if (wrong)
    return wrong;
  if (!look(parser))
    return "a directive without its letter";
  if (!is_one_of(look(parser), "bnsSmMocdiuxXeEfFgGaAp"))
    return "a directive that is not known";
  op->conversion = look(parser);
  parser->at++;
  wrong = check(op);
  return wrong ? wrong : repeat(parser, op);
}

/* Text up to the next directive; "%%" ends one piece of it. */
static const char *parse_text(struct parser *parser) {
  size_t begin = parser->at;
  while (look(parser) && look(parser) != '%')
    parser->at++;
  size_t length = parser->at - begin;
  if (look(parser) == '%' && parser->format[parser->at + 1] == '%') {
    length++;
    parser->at += 2;
  }
  if (!length)
    return NULL;
  struct kymo_bop *op = add(parser);
  if (!op)
    return "more than 80 pieces";
  op->text = (uint32_t)begin;
  op->length = (uint32_t)length;
  return NULL;
}

const char *kymo_bformat_parse(struct kymo_bprogram *out, const char *format, size_t *at) {
  struct parser parser = {.format = format, .out = out};
  const char *wrong = strnlen(format, KYMO_BWIDTH_MAX + 1) > KYMO_BWIDTH_MAX ? "more than 65536 bytes" : NULL;
  out->count = out->args = 0;
  while (!wrong && look(&parser)) {
    wrong = parse_text(&parser);
    if (!wrong && look(&parser) == '%' && parser.format[parser.at + 1] != '%') {
      parser.at++;
      wrong = parse_directive(&parser);
    }
  }
  *at = parser.at;
  return wrong;
}

const char *kymo_bformat_fault(const char *format, size_t *at) {
  struct kymo_bprogram program;
  return kymo_bformat_parse(&program, format, at);
}
