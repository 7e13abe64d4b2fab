/* SPDX-License-Identifier: MIT */
#include "decode/message.h"
#include "base/printfmt.h"
#include "decode/kernel_message.h"
#include "decode/labels.h"
#include "decode/plan.h"
#include "decode/walk.h"
#include "schema/attribute.h"
#include "schema/message.h"
#include <stdio.h>
#include <string.h>

enum { ARGUMENTS_MAX = 64 };

/* The conversions of a CPEL format. */
#define CPEL_CONVERSIONS "diuoxXcskI"
enum { CPEL_DATUM, CPEL_TEXT, CPEL_SYMBOL, CPEL_FIELDS };
static const char *const cpel_fields[CPEL_FIELDS] = {"datum", "text", "symbol"};

struct kymo_message {
  struct kymo_printfmt format;
  uint32_t count; /* of the payload's members */
  uint64_t shown; /* members, a bit each */
  bool is_cpel;
  const struct kymo_kernel_message *kernel; /* a print fmt of the kernel; then nothing else is used */
  uint32_t cpel[CPEL_FIELDS];               /* places of the fields among the members, or `count` */
};

/* ---- taking apart ---- */

/* The message's value in the attributes, without its members; NULL: the template is not a format. */
static const char *kind_of(const struct kymo_event_class *class_) {
  const char *value = class_->attributes ? kymo_attribute_find(class_->attributes, KYMO_MESSAGE_KEY) : NULL;
  return class_->template_text ? value : NULL;
}

static bool is_kind(const char *value, const char *kind) { return strncmp(value, kind, strlen(kind)) == 0; }

static bool is_number(const struct kymo_type *type) {
  return (type->kind == KYMO_KIND_INTEGER || type->kind == KYMO_KIND_BOOLEAN ||
          type->kind == KYMO_KIND_BITMAP) &&
         type->size_bits <= 64 && type->size_bits > 0;
}

static bool fits(const struct kymo_printfmt_piece *piece, const struct kymo_type *type) {
  switch (kymo_printfmt_kind(piece->conversion)) {
  case KYMO_PRINTFMT_TEXT:
    return (!piece->modifier || piece->modifier == 'l') &&
           (type->kind == KYMO_KIND_STRING || (type->is_enumeration && is_number(type)));
  case KYMO_PRINTFMT_FLOAT: return type->kind == KYMO_KIND_FLOAT;
  default: return is_number(type);
  }
}

/* The member that a conversion prints, from *next on; errno is the last one. */
static uint32_t take_member(const struct kymo_message *message, const struct kymo_printfmt_piece *piece,
                            uint32_t *next) {
  if (message->is_cpel)
    return message->cpel[piece->conversion == 's'   ? CPEL_TEXT
                         : piece->conversion == 'k' ? CPEL_SYMBOL
                                                    : CPEL_DATUM];
  return piece->conversion == 'm' ? message->count - 1 : (*next)++;
}

/* CPEL's own conversions: k prints a text, I a number. */
static bool fits_cpel(const struct kymo_printfmt_piece *piece, const struct kymo_type *type) {
  return kymo_printfmt_kind(piece->conversion) == KYMO_PRINTFMT_TEXT ? type->kind == KYMO_KIND_STRING
                                                                     : is_number(type);
}

/* Also marks the members that are shown. */
static bool fits_all(struct kymo_message *message, const struct kymo_type *payload) {
  uint32_t next = 0;
  for (size_t i = 0; i + 1 < message->format.count; i++) {
    const struct kymo_printfmt_piece *piece = &message->format.pieces[i];
    if (piece->conversion == '%')
      continue;
    for (int stars = piece->width_is_argument + piece->precision_is_argument; stars > 0; stars--, next++) {
      if (next >= message->count || !is_number(payload->members[next].type))
        return false;
      message->shown |= UINT64_C(1) << next;
    }
    uint32_t index = take_member(message, piece, &next);
    if (index >= message->count)
      return false;
    const struct kymo_type *type = payload->members[index].type;
    if (!(message->is_cpel ? fits_cpel(piece, type) : fits(piece, type)))
      return false;
    message->shown |=
        message->is_cpel ? UINT64_MAX : UINT64_C(1) << index; /* all of CPEL's conversions print one datum */
  }
  return true;
}

static void find_cpel_fields(struct kymo_message *message, const struct kymo_type *payload) {
  for (uint32_t field = 0; field < CPEL_FIELDS; field++) {
    const struct kymo_member *member = kymo_type_member(payload, cpel_fields[field]);
    message->cpel[field] = member ? (uint32_t)(member - payload->members) : message->count;
  }
}

/* A print fmt shows what the kernel wants to show: no other fields are printed beside it. */
static const struct kymo_message *new_kernel(struct kymo_arena *arena,
                                             const struct kymo_event_class *class_) {
  const struct kymo_kernel_message *kernel = kymo_kernel_message_new(arena, class_, KYMO_KERNEL_AS_KERNEL);
  struct kymo_message *message = kernel ? kymo_arena_alloc(arena, sizeof *message) : NULL;
  if (message)
    *message = (struct kymo_message){.shown = UINT64_MAX, .kernel = kernel};
  return message;
}

const struct kymo_message *kymo_message_new(struct kymo_arena *arena, const struct kymo_event_class *class_) {
  static const struct kymo_type none = {.kind = KYMO_KIND_STRUCT};
  const struct kymo_type *payload = class_->payload ? class_->payload : &none;
  const char *kind = kind_of(class_);
  struct kymo_printfmt_fault fault;
  bool is_cpel = kind && is_kind(kind, KYMO_MESSAGE_CPEL_VALUE);
  if (kind && is_kind(kind, KYMO_MESSAGE_KERNEL_VALUE))
    return new_kernel(arena, class_);
  if (!kind || (!is_cpel && !is_kind(kind, KYMO_MESSAGE_VALUE)) || payload->member_count > ARGUMENTS_MAX)
    return NULL;
  struct kymo_message *message = kymo_arena_alloc(arena, sizeof *message);
  if (!message ||
      !kymo_printfmt_parse(&message->format, arena, class_->template_text, strlen(class_->template_text),
                           is_cpel ? CPEL_CONVERSIONS : KYMO_PRINTFMT_WHOLE, &fault))
    return NULL;
  message->count = payload->member_count;
  message->is_cpel = is_cpel;
  if (is_cpel)
    find_cpel_fields(message, payload);
  return fits_all(message, payload) ? message : NULL;
}

int kymo_event_format_message(const struct kymo_event *event, char *out, size_t size, size_t *length) {
  struct kymo_strbuf text = {0};
  const struct kymo_message *message = event->plan ? event->plan->message : NULL;
  size_t whole = 0, shown = 0;
  int status = !message                                  ? KYMO_E_ABSENT
               : kymo_message_add(message, event, &text) ? KYMO_OK
               : text.failed                             ? KYMO_E_MEMORY
                                                         : KYMO_E_FORMAT;
  if (status == KYMO_OK) {
    whole = kymo_message_line(&text);
    shown = whole < size ? whole : size ? size - 1 : 0;
    status = shown < whole ? KYMO_E_RANGE : KYMO_OK;
  }
  if (shown)
    memcpy(out, text.text, shown);
  if (size)
    out[shown] = '\0';
  if (length)
    *length = whole;
  kymo_strbuf_free(&text);
  return status;
}

bool kymo_message_shows(const struct kymo_message *message, uint32_t index) {
  return message->kernel || (index < ARGUMENTS_MAX && message->shown >> index & 1);
}

/* ---- printing ---- */

/* An integer as it is passed to a variadic function, at least as wide as an int. */
static int64_t promoted(const struct kymo_value *value) {
  unsigned bits = value->type->size_bits;
  return value->type->is_signed && bits < 64 ? (int64_t)(value->u << (64 - bits)) >> (64 - bits) : value->i;
}

static unsigned bits_of(const struct kymo_printfmt_piece *piece, const struct kymo_type *type) {
  unsigned own = type->size_bits > 32 ? 64 : 32;
  return piece->modifier == 'H' ? 8 : piece->modifier == 'h' ? 16 : own;
}

static void add_error(const struct kymo_printfmt_piece *piece, int number, struct kymo_strbuf *out) {
  char unknown[40];
  const char *text = piece->alternate ? strerrorname_np(number) : strerrordesc_np(number);
  struct kymo_printfmt_piece decimal = *piece;
  decimal.conversion = 'd';
  decimal.alternate = false;
  if (!text && piece->alternate) {
    kymo_printfmt_add_number(out, &decimal, (uint64_t)(int64_t)number, 32);
    return;
  }
  if (!text)
    snprintf(unknown, sizeof unknown, "Unknown error %d", number);
  kymo_printfmt_add_text(out, piece, text ? text : unknown, strlen(text ? text : unknown));
}

/* The text of an enumeration's value; without one, the number. */
static void add_label(const struct kymo_printfmt_piece *piece, const struct kymo_value *value,
                      struct kymo_strbuf *out) {
  struct kymo_labels labels = kymo_labels_begin(value->type, value->u);
  const char *label = kymo_labels_next(&labels);
  struct kymo_printfmt_piece decimal = *piece;
  if (label) {
    kymo_printfmt_add_text(out, piece, label, strlen(label));
    return;
  }
  decimal.conversion = value->type->is_signed ? 'd' : 'u';
  kymo_printfmt_add_number(out, &decimal, (uint64_t)promoted(value), bits_of(&decimal, value->type));
}

static void add_value(const struct kymo_printfmt_piece *piece, const struct kymo_value *value,
                      struct kymo_strbuf *out) {
  switch (kymo_printfmt_kind(piece->conversion)) {
  case KYMO_PRINTFMT_TEXT:
    if (value->type->kind == KYMO_KIND_STRING)
      kymo_printfmt_add_text(out, piece, (const char *)value->bytes, (size_t)value->count);
    else
      add_label(piece, value, out);
    break;
  case KYMO_PRINTFMT_ADDRESS: kymo_printfmt_add_address(out, piece, value->u); break;
  case KYMO_PRINTFMT_ERRNO: add_error(piece, (int)promoted(value), out); break;
  case KYMO_PRINTFMT_FLOAT: kymo_printfmt_add_float(out, piece, value->f); break;
  case KYMO_PRINTFMT_NOTHING: break;
  case KYMO_PRINTFMT_CHARACTER:
    if (piece->modifier == 'l') {
      kymo_printfmt_add_wide(out, piece, (uint32_t)promoted(value));
      break;
    }
    /* fallthrough */
  case KYMO_PRINTFMT_INTEGER:
    kymo_printfmt_add_number(out, piece, (uint64_t)promoted(value), bits_of(piece, value->type));
    break;
  }
}

static bool read_values(const struct kymo_message *message, const struct kymo_event *event,
                        struct kymo_value *values) {
  struct kymo_walk walk;
  if (message->count == 0)
    return true;
  if (!kymo_walk_begin(&walk, event, KYMO_SCOPE_PAYLOAD))
    return false;
  for (uint32_t i = 0; i < message->count; i++) {
    enum kymo_token token = kymo_walk_next(&walk, &values[i]);
    if (token != KYMO_TOKEN_INTEGER && token != KYMO_TOKEN_FLOAT && token != KYMO_TOKEN_TEXT)
      return false;
  }
  return true;
}

static bool add_arguments(const struct kymo_message *message, const struct kymo_event *event,
                          struct kymo_strbuf *out) {
  struct kymo_value values[ARGUMENTS_MAX];
  uint32_t next = 0;
  if (!read_values(message, event, values))
    return false;
  for (size_t i = 0; i < message->format.count; i++) {
    struct kymo_printfmt_piece piece = message->format.pieces[i];
    kymo_strbuf_add(out, piece.text, piece.length);
    if (piece.conversion == '%' || !piece.conversion)
      continue;
    if (piece.width_is_argument)
      kymo_printfmt_set_width(&piece, promoted(&values[next++]));
    if (piece.precision_is_argument)
      kymo_printfmt_set_precision(&piece, promoted(&values[next++]));
    add_value(&piece, &values[take_member(message, &piece, &next)], out);
  }
  return !out->failed;
}

bool kymo_message_add(const struct kymo_message *message, const struct kymo_event *event,
                      struct kymo_strbuf *out) {
  return message->kernel ? kymo_kernel_message_add(message->kernel, event, out)
                         : add_arguments(message, event, out);
}
