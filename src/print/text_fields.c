/* SPDX-License-Identifier: MIT */
/* Fields of events in kymo's own spelling. */
#include "print/text_fields.h"
#include "base/fail.h"
#include "base/likely.h"
#include "print/unicode.h"
#include "decode/decoder.h"
#include <arpa/inet.h>
#include <string.h>

/* What scripts and walks pass to the functions below. */
struct kymo_sink_state {
  struct kymo_text_fields fields;
};

/* ---- values ---- */

static char *put_integer(char *at, const struct kymo_type *type, uint64_t value) {
  unsigned bits = type->kind == KYMO_KIND_VARINT || type->size_bits > 64 ? 64 : type->size_bits;
  uint64_t cut = value & UINT64_MAX >> (64 - bits);
  switch (type->is_address ? 16 : type->base) {
  case 2: memcpy(at, "0b", 2); return kymo_put_binary(at + 2, cut, bits);
  case 8: *at = '0'; return cut ? kymo_put_octal(at + 1, cut) : at + 1;
  case 16: memcpy(at, "0x", 2); return kymo_put_hex(at + 2, cut, false);
  default: return type->is_signed ? kymo_put_i64(at, (int64_t)value) : kymo_put_u64(at, value);
  }
}

/* 0: unchanged; 'u': begins a character of several bytes; else the character after a backslash. */
static const char escapes[256] = {
    [0 ... 8] = 'x',   ['\t'] = 't', ['\n'] = 'n',  [11 ... 12] = 'x', ['\r'] = 'r',
    [14 ... 31] = 'x', ['"'] = '"',  ['\\'] = '\\', [127] = 'x',       [128 ... 255] = 'u',
};

/* Invalid characters, and C1 controls, which terminals obey, as \x and digits. */
static char *put_unsound(char *at, const uint8_t *from, const uint8_t *end) {
  for (; from < end; from++) {
    memcpy(at, "\\x", 2);
    at = kymo_put_hex_byte(at + 2, *from);
  }
  return at;
}

static char *put_special(char *at, enum kymo_encoding encoding, const uint8_t **from, const uint8_t *end) {
  const uint8_t *start = *from;
  uint32_t character = kymo_next_character(encoding, from, end);
  if (character == KYMO_BAD_CHARACTER || (character >= 0x7F && character < 0xA0))
    return put_unsound(at, start, *from);
  if (character > 0x7F || !escapes[character])
    return kymo_put_character(at, character);
  *at++ = '\\';
  *at++ = escapes[character];
  return escapes[character] == 'x' ? kymo_put_hex_byte(at, (uint8_t)character) : at;
}

/* What a text in quotes does not copy unchanged. */
static const struct kymo_specials quoted = {
    .own = {KYMO_TIMES_16('"'), KYMO_TIMES_16('\\'), KYMO_TIMES_16('"'), KYMO_TIMES_16('"')}, .high = true};

/* Copies the bytes that precede the first special one. `from` moves after them, up to `stop`; 16 bytes can be
 * read from each place before `stop`. */
static char *put_plain(char *at, const uint8_t **from, const uint8_t *stop,
                       const struct kymo_specials *specials) {
  const uint8_t *next = *from;
  for (; next < stop; next += 16, at += 16) {
    unsigned plain = kymo_copy_plain(at, next, specials);
    if (KYMO_LIKELY(plain == 16) && KYMO_LIKELY(stop - next >= 16))
      continue;
    size_t rest = (size_t)(stop - next), last = plain < rest ? plain : rest;
    *from = next + last;
    return at + last;
  }
  *from = stop;
  return at;
}

/* Each character becomes at most 16 bytes: four bytes of an invalid one, \xNN each. `slack`: bytes that can
 * be read after the text. */
static void print_characters(struct kymo_out *out, enum kymo_encoding encoding, const uint8_t *from,
                             size_t size, size_t slack) {
  const uint8_t *end = from + size;
  bool is_bytes = kymo_is_byte_encoding(encoding);
  while (from < end) {
    char *at = kymo_out_room(out, KYMO_OUT_ROOM), *stop = at + KYMO_OUT_ROOM - 16;
    while (from < end && at < stop) {
      size_t rest = (size_t)(end - from), most = (size_t)(stop - at), wide = rest + slack;
      if (is_bytes && wide >= 16) {
        wide = slack >= 16 ? rest : wide - 15;
        at = put_plain(at, &from, from + (wide < most ? wide : most), &quoted);
        if (from == end || at >= stop)
          break;
      }
      if (is_bytes && !escapes[*from])
        *at++ = (char)*from++;
      else
        at = put_special(at, encoding, &from, end);
    }
    out->at = at;
  }
}

static void print_text(struct kymo_out *out, const struct kymo_value *value) {
  kymo_out_byte(out, '"');
  print_characters(out, value->type->encoding, value->bytes, (size_t)value->count, 0);
  kymo_out_byte(out, '"');
}

/* Names of events and fields: controls of an untrusted trace must not reach the terminal. */
void kymo_text_add_name(struct kymo_strbuf *buf, const char *name) {
  for (const uint8_t *at = (const uint8_t *)name, *end = at + strlen(name); at < end;) {
    char text[16];
    bool is_plain = *at == '"' || *at == '\\';
    text[0] = (char)*at;
    char *stop = is_plain ? (at++, text + 1) : put_special(text, KYMO_ENCODING_UTF8, &at, end);
    kymo_strbuf_add(buf, text, (size_t)(stop - text));
  }
}

void kymo_text_add_class(struct kymo_strbuf *buf, const struct kymo_event_class *class_) {
  if (class_->name && *class_->name)
    kymo_text_add_name(buf, class_->name);
  else
    kymo_strbuf_printf(buf, "event%llu", (unsigned long long)class_->id);
}

/* Labels that look like names are not quoted, others are. */
static void add_label(struct kymo_strbuf *buf, const char *label) {
  static const char bare[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:-";
  const uint8_t *at = (const uint8_t *)label, *end = at + strlen(label);
  if (*label && strspn(label, bare) == (size_t)(end - at)) {
    kymo_strbuf_puts(buf, label);
    return;
  }
  kymo_strbuf_puts(buf, "\"");
  while (at < end) {
    char text[16];
    kymo_strbuf_add(buf, text, (size_t)(put_special(text, KYMO_ENCODING_UTF8, &at, end) - text));
  }
  kymo_strbuf_puts(buf, "\"");
}

/* LABEL|LABEL, with the rest without name as a number. */
static void write_labelled(struct kymo_strbuf *buf, const struct kymo_type *type, uint64_t value) {
  bool is_flags = type->kind == KYMO_KIND_BITMAP;
  char number[72];
  struct kymo_labels labels = kymo_labels_begin(type, value);
  for (const char *label; (label = kymo_labels_next(&labels)) != NULL;) {
    if (buf->length)
      kymo_strbuf_puts(buf, "|");
    add_label(buf, label);
  }
  uint64_t rest = is_flags ? labels.rest : value;
  if (buf->length && (!is_flags || rest == 0))
    return;
  if (buf->length)
    kymo_strbuf_puts(buf, "|");
  if (is_flags && rest)
    kymo_strbuf_puts(buf, "0x");
  char *end = is_flags ? kymo_put_hex(number, rest, false) : put_integer(number, type, value);
  kymo_strbuf_add(buf, number, (size_t)(end - number));
}

static bool is_character(const struct kymo_type *type) {
  return type->encoding != KYMO_ENCODING_NONE && !type->is_address;
}

/* 'a', '\n', '\x80'; an invalid character as a number. */
static char *put_character(char *at, const struct kymo_type *type, uint64_t value) {
  char bytes[4] = {(char)value}, *end = bytes + 1;
  const uint8_t *from = (const uint8_t *)bytes;
  if (type->kind == KYMO_KIND_VARINT || type->size_bits != 8) {
    if (value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF))
      return put_integer(at, type, value);
    end = kymo_put_character(bytes, (uint32_t)value);
  }
  *at++ = '\'';
  if (bytes[0] == '\'')
    *at++ = '\\', *at++ = '\'';
  else
    at = put_special(at, KYMO_ENCODING_UTF8, &from, (const uint8_t *)end);
  *at++ = '\'';
  return at;
}

/* 0x401136 <main+0x10>, if the address has a name */
static void print_number(struct kymo_sink_state *state, uint32_t part, const struct kymo_value *value) {
  struct kymo_symbol symbol;
  char *at =
      put_integer(kymo_out_room(&state->fields.print.out, 72 + 4 + KYMO_SYMBOL_TEXT), value->type, value->u);
  if (kymo_print_symbol(&state->fields.print, part, value, &symbol)) {
    memcpy(at, " <", 2);
    at = kymo_print_put_symbol(at + 2, &symbol);
    *at++ = '>';
  }
  state->fields.print.out.at = at;
}

static void print_integer(struct kymo_sink_state *state, uint32_t part, const struct kymo_value *value) {
  const struct kymo_type *type = value->type;
  struct kymo_out *out = &state->fields.print.out;
  if (type->is_enumeration || type->kind == KYMO_KIND_BITMAP || type->mapping_count > 0)
    kymo_out_labelled(out, &state->fields.print.memory, part, value);
  else if (type->kind == KYMO_KIND_BOOLEAN)
    kymo_out_bytes(out, value->u ? "true" : "false", value->u ? 4 : 5);
  else if (is_character(type))
    out->at = put_character(kymo_out_room(out, 72), type, value->u);
  else
    print_number(state, part, value);
}

static void print_float(struct kymo_out *out, const struct kymo_value *value) {
  double f = value->f;
  if (f != f)
    kymo_out_literal(out, "nan");
  else if (f - f != 0)
    kymo_out_bytes(out, f < 0 ? "-inf" : "inf", f < 0 ? 4 : 3);
  else
    out->at = kymo_put_double(kymo_out_room(out, 40), f, value->type->size_bits <= 32, true);
}

static void print_blob(struct kymo_out *out, const struct kymo_value *value) {
  kymo_out_byte(out, '<');
  for (uint64_t i = 0; i < value->count; i++) {
    char *at = kymo_out_room(out, 3);
    if (i > 0)
      *at++ = ' ';
    out->at = kymo_put_hex_byte(at, value->bytes[i]);
  }
  kymo_out_byte(out, '>');
}

static void print_scalar(struct kymo_sink_state *state, uint32_t part, enum kymo_token token,
                         const struct kymo_value *value) {
  switch (token) {
  case KYMO_TOKEN_INTEGER: print_integer(state, part, value); break;
  case KYMO_TOKEN_FLOAT: print_float(&state->fields.print.out, value); break;
  case KYMO_TOKEN_TEXT: print_text(&state->fields.print.out, value); break;
  case KYMO_TOKEN_BLOB: print_blob(&state->fields.print.out, value); break;
  default: kymo_out_byte(&state->fields.print.out, '-'); break;
  }
}

void kymo_text_print_bytes(struct kymo_out *out, const char *text, size_t length) {
  const uint8_t *at = (const uint8_t *)text, *end = at + length;
  while (at < end) {
    char *to = kymo_out_room(out, KYMO_OUT_ROOM), *stop = to + KYMO_OUT_ROOM - 16;
    while (at < end && to < stop) {
      if (!escapes[*at] || *at == '"' || *at == '\\')
        *to++ = (char)*at++;
      else
        to = put_special(to, KYMO_ENCODING_UTF8, &at, end);
    }
    out->at = to;
  }
}

void kymo_text_print_bare(struct kymo_text_fields *fields, uint32_t part, enum kymo_token token,
                          const struct kymo_value *value) {
  if (token != KYMO_TOKEN_TEXT)
    print_scalar((struct kymo_sink_state *)fields, part, token, value);
  else if (kymo_is_byte_encoding(value->type->encoding))
    kymo_text_print_bytes(&fields->print.out, (const char *)value->bytes, (size_t)value->count);
  else
    print_characters(&fields->print.out, value->type->encoding, value->bytes, (size_t)value->count, 0);
}

/* ---- walking ---- */

static bool walk_lead(struct kymo_sink_state *state, struct kymo_frame *frame,
                      const struct kymo_value *value) {
  struct kymo_out *out = &state->fields.print.out;
  bool first = frame->count == 0;
  if (!frame->labels) {
    if (!first)
      kymo_out_literal(out, ", ");
    frame->count++;
    return true;
  }
  uint32_t index = (uint32_t)(value->member - frame->type->members);
  const struct kymo_label *label = &frame->labels[index];
  if (state->fields.said && kymo_frame_is_outermost(&state->fields.print, frame) &&
      kymo_who_says(state->fields.said, index))
    return false; /* it is in the line already */
  kymo_out_piece(out, label->text + first, label->length - first);
  frame->count++;
  return true;
}

static void walk_begin(struct kymo_sink_state *state, struct kymo_frame *frame) {
  kymo_out_byte(&state->fields.print.out, frame->labels ? '{' : '[');
}

static void walk_end(struct kymo_sink_state *state, const struct kymo_frame *frame) {
  if (!frame->labels)
    kymo_out_byte(&state->fields.print.out, ']');
  else
    kymo_out_bytes(&state->fields.print.out, frame->count ? " }" : "}", frame->count ? 2 : 1);
}

/* ---- scripts ---- */

static unsigned base_of(const struct kymo_type *type) {
  return type->is_address ? 16 : is_character(type) ? 0 : type->base ? type->base : 10;
}

static void print_separator(struct kymo_out *out, uint64_t index, bool is_bare) {
  (void)is_bare;
  if (index > 0)
    kymo_out_literal(out, ", ");
}

/* The fields of the common context that are printed elsewhere. */
static const struct kymo_who_places *said_in(struct kymo_text_fields *fields,
                                             const struct kymo_event *event) {
  fields->places = *kymo_who_common(&fields->print.whos, event);
  if (!(fields->says & KYMO_TEXT_SAYS_THREAD))
    fields->places.tid_index = fields->places.name_index = UINT32_MAX;
  if (!(fields->says & KYMO_TEXT_SAYS_CPU))
    fields->places.cpu_index = UINT32_MAX;
  const struct kymo_type *context = event->class_->stream->common_context;
  const struct kymo_member *member =
      fields->says_member ? kymo_type_member(context, fields->says_member) : NULL;
  if (member)
    fields->places.tid_index = (uint32_t)(member - context->members);
  return &fields->places;
}

static void print_message(struct kymo_text_fields *fields, const struct kymo_event *event,
                          const struct kymo_message *message) {
  struct kymo_out *out = &fields->print.out;
  const struct kymo_strbuf *text = kymo_print_message(&fields->print, event, message);
  kymo_out_bytes(out, " \"", fields->message_is_bare ? 1 : 2);
  if (!text || !text->length)
    ;
  else if (fields->message_is_bare)
    kymo_text_print_bytes(out, text->text, kymo_message_line(text));
  else
    print_characters(out, KYMO_ENCODING_UTF8, (const uint8_t *)text->text, text->length, KYMO_MESSAGE_SLACK);
  if (!fields->message_is_bare)
    kymo_out_byte(out, '"');
}

static void print_walk(struct kymo_sink_state *state, const struct kymo_event *event,
                       const struct kymo_script_step *step) {
  static const struct kymo_walk_style walk_style = {walk_lead, walk_begin, walk_end, print_scalar};
  if (step->message) {
    print_message(&state->fields, event, step->message);
    return;
  }
  state->fields.said = step->scope == KYMO_SCOPE_COMMON_CONTEXT ? said_in(&state->fields, event) : NULL;
  state->fields.print.shown = step->is_bare ? &state->fields.bare : &state->fields.print.names;
  kymo_print_members(&state->fields.print, state, &walk_style, event, step);
}

/* 127.0.0.1, ::1 */
static void print_address(struct kymo_out *out, const uint8_t *bytes, unsigned count) {
  char text[INET6_ADDRSTRLEN];
  if (inet_ntop(count == 4 ? AF_INET : AF_INET6, bytes, text, sizeof text))
    kymo_out_bytes(out, text, strlen(text));
}

static void print_rest(struct kymo_out *out, const uint8_t *from, size_t size) {
  print_characters(out, KYMO_ENCODING_UTF8, from, size, 0);
}

static const struct kymo_script_style style = {
    .open = "{",
    .close = " }",
    .empty = "{}",
    .array_open = "[",
    .array_close = "]",
    .specials = {.own = {KYMO_TIMES_16('"'), KYMO_TIMES_16('\\'), KYMO_TIMES_16('"'), KYMO_TIMES_16('"')},
                 .high = true},
    .base = base_of,
    .element = print_separator,
    .address = print_address,
    .characters = print_rest,
    .integer = print_integer,
    .scalar = print_scalar,
    .walk = print_walk,
};

uint32_t kymo_text_context_count(struct kymo_text_fields *fields, const struct kymo_event *event) {
  return kymo_who_rest(said_in(fields, event), event->class_->stream->common_context) +
         kymo_who_rest(NULL, event->class_->specific_context);
}

/* The following scopes have names, or not. */
static void set_names(struct kymo_text_fields *fields, struct kymo_scripting *script, bool is_bare) {
  kymo_script_names(script, is_bare ? &fields->bare : &fields->print.names, is_bare);
}

static bool is_in_message(const void *message, uint32_t index) { return kymo_message_shows(message, index); }

/* The message, and the fields that it does not show. */
static void add_message(struct kymo_scripting *script, const struct kymo_event *event,
                        const struct kymo_message *message) {
  const struct kymo_type *payload = event->class_->payload;
  bool has_more = false;
  kymo_script_message(script, message);
  for (uint32_t i = 0; payload && i < payload->member_count; i++)
    has_more |= !kymo_message_shows(message, i);
  if (has_more)
    kymo_script_scope(script, KYMO_SCOPE_PAYLOAD, event->plan->payload, is_in_message, message, true);
}

void kymo_text_script_fields(struct kymo_text_fields *fields, struct kymo_scripting *script,
                             const struct kymo_event *event, const struct kymo_text_shape *shape) {
  const struct kymo_decoder *decoder = kymo_decoder_of(event);
  const struct kymo_who_places *said = said_in(fields, event);
  uint32_t common = kymo_who_rest(said, event->class_->stream->common_context);
  bool has_contexts = common + kymo_who_rest(NULL, event->class_->specific_context) > 0;
  set_names(fields, script, shape->is_payload_bare);
  const struct kymo_message *message = kymo_message_new(&fields->print.arena, event->class_);
  if (message)
    add_message(script, event, message);
  else
    kymo_script_scope(script, KYMO_SCOPE_PAYLOAD, event->plan->payload, NULL, NULL, false);
  if (has_contexts || *shape->facts)
    kymo_script_text(script, " |");
  set_names(fields, script, shape->is_context_bare);
  if (common > 0)
    kymo_script_scope(script, KYMO_SCOPE_COMMON_CONTEXT, decoder->plan->common_context, kymo_who_leaves_out,
                      said, false);
  kymo_script_scope(script, KYMO_SCOPE_SPECIFIC_CONTEXT, event->plan->specific_context, NULL, NULL,
                    common > 0);
  kymo_script_text(script, *shape->facts && has_contexts ? "," : "");
  kymo_script_text(script, shape->facts);
}

void kymo_text_print(struct kymo_text_fields *fields, const struct kymo_event *event,
                     const struct kymo_script *script) {
  fields->print.event = event;
  kymo_script_print(&fields->print.style, (struct kymo_sink_state *)fields, &fields->print.out, event,
                    script);
}

/* ---- life ---- */

void kymo_text_label(struct kymo_strbuf *buf, const char *name) {
  kymo_strbuf_puts(buf, ", ");
  kymo_text_add_name(buf, name);
  kymo_strbuf_puts(buf, " = ");
}

static void write_bare_label(struct kymo_strbuf *buf, const char *name) {
  (void)name;
  kymo_strbuf_puts(buf, ", ");
}

int kymo_text_fields_begin(struct kymo_text_fields *fields, const struct kymo_trace *trace, FILE *out,
                           kymo_label_writer *label, struct kymo_error *error) {
  int status = kymo_print_begin(&fields->print, trace, out, label, write_labelled, error);
  if (status >= 0)
    status = kymo_print_names_addresses(&fields->print, trace, &style, error);
  return status < 0 ? status : kymo_names_begin(&fields->bare, trace, write_bare_label, error);
}

int kymo_text_fields_grow(struct kymo_text_fields *fields, struct kymo_error *error) {
  kymo_names_end(&fields->bare);
  int status = kymo_print_grow(&fields->print, error);
  return status < 0 ? status : kymo_names_begin(&fields->bare, fields->print.trace, write_bare_label, error);
}

int kymo_text_fields_end(struct kymo_text_fields *fields, struct kymo_error *error) {
  kymo_names_end(&fields->bare);
  return kymo_print_end(&fields->print, error);
}
