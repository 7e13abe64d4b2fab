/* SPDX-License-Identifier: MIT */
#include "sink/cpel/datum.h"
#include "schema/parts.h"

bool kymo_cpel_is_word(const struct kymo_type *type) {
  return type->kind == KYMO_KIND_INTEGER && type->size_bits <= 32;
}

static bool is_of_datum(const struct kymo_member *member) {
  if (strcmp(member->name, "datum") == 0)
    return kymo_cpel_is_word(member->type);
  return (strcmp(member->name, "text") == 0 || strcmp(member->name, "symbol") == 0) &&
         member->type->kind == KYMO_KIND_STRING;
}

bool kymo_cpel_has_datum(const struct kymo_event_class *class_) {
  const struct kymo_type *payload = class_->payload, *context = class_->stream->common_context;
  if (class_->specific_context || !payload || !kymo_type_member(context, "track") ||
      context->member_count > 1u + (kymo_type_member(context, "source") != NULL))
    return false;
  for (uint32_t i = 0; i < payload->member_count; i++)
    if (!is_of_datum(&payload->members[i]))
      return false;
  return true;
}

static void print_blanks(struct kymo_out *out, size_t count) {
  for (; count > 0; count--)
    kymo_out_byte(out, ' ');
}

/* A string or symbol, cut by the precision and padded to the width. */
static void print_text(struct kymo_out *out, const struct kymo_printfmt_piece *piece,
                       const struct kymo_event *event, uint32_t field) {
  const uint8_t *bytes = NULL;
  uint64_t length = 0;
  if (kymo_event_get_bytes(event, field, &bytes, &length) != KYMO_OK)
    return;
  if (piece->has_precision && piece->precision < length)
    length = piece->precision;
  size_t padding = kymo_printfmt_padding(piece, (size_t)length);
  if (!piece->left)
    print_blanks(out, padding);
  kymo_out_bytes(out, bytes, (size_t)length);
  if (piece->left)
    print_blanks(out, padding);
}

uint64_t kymo_cpel_number_of(const struct kymo_event *event, uint32_t field) {
  int64_t signed_value;
  uint64_t value;
  if (kymo_event_get_uint(event, field, &value) == KYMO_OK)
    return value;
  return kymo_event_get_int(event, field, &signed_value) == KYMO_OK ? (uint64_t)signed_value : 0;
}

/* A number; most formats need only the digits. */
static char *put_number(char *at, const struct kymo_printfmt_piece *piece, uint64_t value) {
  bool is_plain =
      !piece->width && !piece->has_precision && !piece->alternate && !piece->plus && !piece->blank;
  switch (is_plain ? piece->conversion : 0) {
  case 'd':
  case 'i': return kymo_put_i64(at, (int32_t)value);
  case 'u': return kymo_put_u64(at, (uint32_t)value);
  case 'x': return kymo_put_hex(at, (uint32_t)value, false);
  default: return kymo_printfmt_number(at, piece, value, 32);
  }
}

void kymo_cpel_datum_print(struct kymo_out *out, const struct kymo_cpel_datum *datum,
                           const struct kymo_event *event) {
  for (size_t i = 0; i < datum->format.count; i++) {
    const struct kymo_printfmt_piece *piece = &datum->format.pieces[i];
    kymo_out_bytes(out, piece->text, piece->length);
    switch (piece->conversion) {
    case 0:
    case '%': break;
    case 's': print_text(out, piece, event, datum->text); break;
    case 'k': print_text(out, piece, event, datum->symbol); break;
    default:
      out->at = put_number(kymo_out_room(out, KYMO_PRINTFMT_ROOM), piece,
                           kymo_cpel_number_of(event, datum->number));
    }
  }
}

bool kymo_cpel_datum_begin(struct kymo_cpel_datum *datum, struct kymo_arena *arena, struct kymo_trace *trace,
                           const struct kymo_event_class *class_, const char *format,
                           struct kymo_printfmt_fault *fault) {
  datum->number = kymo_field_id(trace, class_, "datum");
  datum->text = kymo_field_id(trace, class_, "text");
  datum->symbol = kymo_field_id(trace, class_, "symbol");
  return kymo_printfmt_parse(&datum->format, arena, format, strlen(format), KYMO_CPEL_CONVERSIONS, fault);
}
