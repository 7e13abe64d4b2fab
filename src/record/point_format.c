/* SPDX-License-Identifier: MIT */
/* Compares formats of KYMO_PRINTF with its fields. The compiler has done so too, unless the program was built
 * without these warnings. */
#include "base/printfmt.h"
#include "record/point.h"
#include <string.h>

static uint32_t type_of(const struct kymo_point_text *point, uint32_t index) {
  return point->code[index] & 0xf0;
}

static bool is_number(const struct kymo_point_text *point, uint32_t index) {
  return index < point->count && type_of(point, index) <= KYMO_TYPE_CHAR_;
}

static uint64_t limited(uint64_t code, uint32_t limit) { return (code & UINT32_MAX) | (uint64_t)limit << 32; }

static const char *fit_text(struct kymo_point_text *out, const struct kymo_printfmt_piece *piece,
                            uint32_t index) {
  bool is_wide = piece->modifier == 'l';
  if (is_wide && !(out->code[index] & KYMO_CODE_WIDE_))
    return "%ls for no text of wchar_t";
  if (!is_wide && (piece->modifier || type_of(out, index) != KYMO_TYPE_TEXT_))
    return "%s for no text of char";
  uint32_t limit = piece->precision_is_argument ? KYMO_LIMIT_GIVEN_
                   : piece->has_precision       ? piece->precision + 1
                   : is_wide                    ? KYMO_LIMIT_WIDE_
                                                : 0;
  out->code[index] =
      limited(is_wide ? KYMO_CODE_(KYMO_KIND_VALUE_, KYMO_TYPE_TEXT_, 0, 0) : out->code[index], limit);
  return NULL;
}

static const char *fit_address(struct kymo_point_text *out, uint32_t index) {
  uint32_t type = type_of(out, index);
  if (type == KYMO_TYPE_TEXT_)
    out->code[index] =
        limited(KYMO_CODE_(KYMO_KIND_VALUE_, KYMO_TYPE_POINTER_ | sizeof(void *), 0, 0), KYMO_LIMIT_ADDRESS_);
  return type == KYMO_TYPE_TEXT_ || type == KYMO_TYPE_POINTER_ ? NULL : "%p for no pointer";
}

/* Takes the arguments of one conversion, from *index on. Returns the mismatch, or NULL. */
static const char *fit_piece(struct kymo_point_text *out, const struct kymo_printfmt_piece *piece,
                             uint32_t *index) {
  for (int star = piece->width_is_argument + piece->precision_is_argument; star > 0; star--)
    if (!is_number(out, (*index)++))
      return "* for no int";
  enum kymo_printfmt_kind kind = kymo_printfmt_kind(piece->conversion);
  if (kind == KYMO_PRINTFMT_ERRNO) {
    out->has_errno = true;
    return NULL;
  }
  uint32_t i = (*index)++;
  if (i >= out->count)
    return "more conversions than arguments";
  switch (kind) {
  case KYMO_PRINTFMT_TEXT: return fit_text(out, piece, i);
  case KYMO_PRINTFMT_ADDRESS: return fit_address(out, i);
  case KYMO_PRINTFMT_FLOAT:
    return type_of(out, i) == KYMO_TYPE_FLOAT_ ? NULL : "a float's conversion for no float";
  default: return is_number(out, i) ? NULL : "an integer's conversion for no integer";
  }
}

void kymo_point_fit_format(struct kymo_point_text *out) {
  struct kymo_arena arena = {0};
  struct kymo_printfmt format;
  struct kymo_printfmt_fault fault = {0, NULL};
  uint32_t index = 0;
  for (uint32_t i = 0; i < out->count; i++)
    out->code[i] = limited(out->code[i], 0);
  if (!kymo_printfmt_parse(&format, &arena, out->format, strlen(out->format), KYMO_PRINTFMT_WHOLE, &fault))
    out->wrong = fault.what ? fault.what : "more than memory holds";
  for (size_t i = 0; !out->wrong && i + 1 < format.count; i++)
    if (format.pieces[i].conversion != '%')
      out->wrong = fit_piece(out, &format.pieces[i], &index);
  kymo_arena_free(&arena);
  static const struct kymo_slice name = {"errno", 5};
  if (out->has_errno)
    kymo_point_add_field(out, name, KYMO_CODE_(KYMO_KIND_VALUE_, KYMO_TYPE_SIGNED_ | sizeof(int), 0, 0));
}
