/* SPDX-License-Identifier: MIT */
/* Compares formats with the fields of a definition: the kymo_bprintf format that stores them, and the printf
 * format that shows them. */
#include "base/arena.h"
#include "base/printfmt.h"
#include "log/define.h"

/* ---- what stores ---- */

/* Operations of a format, from `next` on. */
struct ops {
  const struct kymo_bop *next, *end;
};

/* Whether an operation and a field store numbers in the same byte order: little, big, or the machine's. */
static bool is_order(const struct kymo_bop *op, uint32_t what) {
  char field = what & KYMO_FIELD_BIG ? '>' : what & KYMO_FIELD_LITTLE ? '<' : 0;
  return op->order == field;
}

static bool is_bare(const struct kymo_bop *op) { return op->width_arg < 0 && op->precision_arg < 0; }

/* An integer of this size, without padding zeroes. */
static bool stores_number(const struct kymo_bop *op, uint32_t bytes) {
  uint32_t width = op->has_width ? op->width : 8, stored = op->has_precision ? op->precision : width;
  return op->conversion == 'b' && is_bare(op) && stored == bytes && (!op->has_width || op->width <= bytes);
}

/* Exactly this number of bytes, whatever the argument is. */
static bool stores_bytes(const struct kymo_bop *op, uint32_t bytes) {
  uint32_t precision = op->has_precision ? op->precision : 1, width = op->has_width ? op->width : 0;
  if (op->conversion == 0)
    return op->length == bytes;
  if (op->conversion == 'c')
    return is_bare(op) && (op->has_width && op->width ? op->width : 1) == bytes;
  uint32_t own = op->conversion == 'M' ? 2 * precision : precision;
  return (op->conversion == 'm' || op->conversion == 'M') && is_bare(op) &&
         (width > own ? width : own) == bytes;
}

static bool stores_integer(const struct kymo_bop *op, uint32_t what) {
  uint32_t bytes = kymo_field_bytes(what);
  bool is_unsigned = kymo_field_kind(what) == KYMO_FIELD_IS_UNSIGNED;
  if (bytes == 1 && op->conversion == 'c')
    return stores_bytes(op, 1);
  if (is_unsigned && op->conversion == 'n')
    return (op->has_width ? op->width : 2) == bytes && is_order(op, what);
  return stores_number(op, bytes) && (bytes == 1 || is_order(op, what));
}

static bool stores_counted(const struct kymo_bop *op, uint32_t what) {
  bool is_text = kymo_field_kind(what) == KYMO_FIELD_IS_COUNTED_TEXT;
  uint32_t count = op->has_width ? op->width
                   : is_text     ? 2
                                 : 4,
           element = !is_text && op->has_precision && op->precision ? op->precision : 1;
  if (op->conversion != (is_text ? 'S' : 'o') || count != kymo_field_bytes(what) || !is_order(op, what))
    return false;
  return is_text || (op->precision_arg < 0 && element == kymo_field_element(what));
}

/* Whether the next operations store a field; they are consumed. */
static bool take(struct ops *ops, uint32_t what) {
  uint32_t kind = kymo_field_kind(what), bytes = kymo_field_bytes(what);
  if (kind == KYMO_FIELD_IS_ID)
    return true;
  if (ops->next == ops->end)
    return false;
  const struct kymo_bop *op = ops->next++;
  switch (kind) {
  case KYMO_FIELD_IS_SIGNED:
  case KYMO_FIELD_IS_UNSIGNED: return stores_integer(op, what);
  case KYMO_FIELD_IS_TEXT: return op->conversion == 's' && op->zero;
  case KYMO_FIELD_IS_COUNTED_TEXT:
  case KYMO_FIELD_IS_ARRAY: return stores_counted(op, what);
  case KYMO_FIELD_IS_MEMORY:
  case KYMO_FIELD_IS_CHARS: return stores_bytes(op, bytes);
  case KYMO_FIELD_IS_TIMEVAL:
    return ops->next < ops->end && stores_number(op, bytes - 4) && is_order(op, what) &&
           stores_number(ops->next, 4) && is_order(ops->next++, what);
  case KYMO_FIELD_IS_FLOAT:
    return is_order(op, what) &&
           (stores_number(op, bytes) || (op->conversion == 'm' && stores_bytes(op, bytes)));
  default: return stores_number(op, bytes) && is_order(op, what);
  }
}

const char *kymo_event_definition_format_fault(const struct kymo_event_definition *definition,
                                               const char *format) {
  struct kymo_bprogram program;
  size_t at;
  const char *wrong = kymo_bformat_parse(&program, format, &at);
  struct ops ops = {program.ops, program.ops + program.count};
  if (wrong)
    return wrong;
  for (uint32_t i = 0; i < definition->field_count; i++)
    if (!take(&ops, definition->fields[i].what))
      return "a field is not stored as it is defined";
  return ops.next == ops.end ? NULL : "more is stored than the fields";
}

/* ---- what shows ---- */

static bool is_number(uint32_t what) {
  uint32_t kind = kymo_field_kind(what);
  return kind == KYMO_FIELD_IS_SIGNED || kind == KYMO_FIELD_IS_UNSIGNED || kind == KYMO_FIELD_IS_TIME ||
         kind == KYMO_FIELD_IS_ID;
}

static bool is_float(uint32_t what) {
  return kymo_field_kind(what) == KYMO_FIELD_IS_FLOAT || kymo_field_kind(what) == KYMO_FIELD_IS_TIMEVAL;
}

static bool is_text(uint32_t what) {
  uint32_t kind = kymo_field_kind(what);
  return kind == KYMO_FIELD_IS_TEXT || kind == KYMO_FIELD_IS_COUNTED_TEXT || kind == KYMO_FIELD_IS_CHARS;
}

/* Consumes the fields of one conversion. */
static const char *fit_piece(const struct kymo_event_definition *definition,
                             const struct kymo_printfmt_piece *piece, uint32_t *next) {
  for (int stars = piece->width_is_argument + piece->precision_is_argument; stars > 0; stars--, ++*next)
    if (*next >= definition->field_count || !is_number(definition->fields[*next].what))
      return "* in the template for no integer";
  if (*next >= definition->field_count)
    return "more conversions in the template than fields";
  uint32_t what = definition->fields[(*next)++].what;
  switch (kymo_printfmt_kind(piece->conversion)) {
  case KYMO_PRINTFMT_TEXT: return is_text(what) && !piece->modifier ? NULL : "%s in the template for no text";
  case KYMO_PRINTFMT_INTEGER:
  case KYMO_PRINTFMT_CHARACTER:
  case KYMO_PRINTFMT_ADDRESS:
    return is_number(what) ? NULL : "an integer's conversion in the template for no integer";
  case KYMO_PRINTFMT_FLOAT:
    return is_float(what) ? NULL : "a float's conversion in the template for no float";
  default: return "a conversion in the template that is not known";
  }
}

const char *kymo_event_definition_template_fault(const struct kymo_event_definition *definition,
                                                 bool with_fields) {
  struct kymo_arena arena = {0};
  struct kymo_printfmt format = {0};
  struct kymo_printfmt_fault fault = {0, NULL};
  const char *wrong = NULL;
  uint32_t next = 0;
  if (!definition->template_length)
    return NULL;
  if (!kymo_printfmt_parse(&format, &arena, definition->template_text, definition->template_length,
                           KYMO_PRINTFMT_WHOLE, &fault))
    wrong = fault.what ? fault.what : "more than memory holds";
  for (size_t i = 0; with_fields && !wrong && i + 1 < format.count; i++)
    if (format.pieces[i].conversion != '%')
      wrong = fit_piece(definition, &format.pieces[i], &next);
  kymo_arena_free(&arena);
  return wrong;
}
