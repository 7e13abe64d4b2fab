/* SPDX-License-Identifier: MIT */
/* The streaming JSON writer. */
#include "print/json_writer.h"
#include "print/labels.h"
#include "print/unicode.h"

/* 0: unchanged; 'u': as \u00NN; 'c': begins a character of several bytes; else the character after a
 * backslash. */
static const char escapes[256] = {
    [0 ... 7] = 'u', ['\b'] = 'b',      ['\t'] = 't', ['\n'] = 'n',  [11] = 'u',  ['\f'] = 'f',
    ['\r'] = 'r',    [14 ... 31] = 'u', ['"'] = '"',  ['\\'] = '\\', [127] = 'u', [128 ... 255] = 'c',
};

void kymo_json_start(struct kymo_json *json, struct kymo_out *out) { *json = (struct kymo_json){.out = out}; }

static bool *level(struct kymo_json *json) {
  return &json->more[json->depth < KYMO_JSON_DEPTH ? json->depth : KYMO_JSON_DEPTH];
}

/* The separator before a value. */
static inline void separate(struct kymo_json *json) {
  bool *more = level(json);
  if (*more && !json->after_key && json->depth > 0)
    kymo_out_byte(json->out, ',');
  json->after_key = false;
  *more = true;
}

void kymo_json_begin(struct kymo_json *json, char bracket) {
  separate(json);
  kymo_out_byte(json->out, bracket);
  json->depth++;
  *level(json) = false;
}

void kymo_json_end(struct kymo_json *json, char bracket) {
  json->depth--;
  kymo_out_byte(json->out, bracket);
}

char *kymo_json_put_character(char *at, uint32_t character) {
  if (character >= 128 && kymo_is_obeyed(character)) { /* the same text on every terminal */
    memcpy(at, "\\u", 2);
    return kymo_put_hex_byte(kymo_put_hex_byte(at + 2, (uint8_t)(character >> 8)), (uint8_t)character);
  }
  if (character >= 128 || !escapes[character])
    return kymo_put_character(at, character);
  *at++ = '\\';
  *at++ = escapes[character];
  if (escapes[character] != 'u')
    return at;
  memcpy(at, "00", 2);
  return kymo_put_hex_byte(at + 2, (uint8_t)character);
}

void kymo_json_put_characters(struct kymo_out *out, const uint8_t *from, uint64_t size,
                              enum kymo_encoding encoding) {
  const uint8_t *end = from + size;
  bool is_bytes = kymo_is_byte_encoding(encoding);
  while (from < end) {
    char *at = kymo_out_room(out, KYMO_OUT_ROOM), *stop = at + KYMO_OUT_ROOM - 8;
    while (from < end && at < stop) {
      if (is_bytes && !escapes[*from])
        *at++ = (char)*from++;
      else
        at = kymo_json_put_character(at, kymo_next_character(encoding, &from, end));
    }
    out->at = at;
  }
}

static void put_string(struct kymo_out *out, const uint8_t *from, uint64_t size,
                       enum kymo_encoding encoding) {
  kymo_out_byte(out, '"');
  kymo_json_put_characters(out, from, size, encoding);
  kymo_out_byte(out, '"');
}

void kymo_json_key(struct kymo_json *json, const char *key) {
  separate(json);
  put_string(json->out, (const uint8_t *)key, strlen(key), KYMO_ENCODING_UTF8);
  kymo_out_byte(json->out, ':');
  json->after_key = true;
}

void kymo_json_plain_key(struct kymo_json *json, const char *text, size_t length) {
  separate(json);
  kymo_out_bytes(json->out, text, length);
  json->after_key = true;
}

void kymo_json_label(struct kymo_json *json, const char *text, size_t length) {
  bool *more = level(json), first = !*more;
  kymo_out_piece(json->out, text + first, length - first);
  *more = true;
  json->after_key = true;
}

void kymo_json_uint(struct kymo_json *json, uint64_t value) {
  separate(json);
  json->out->at = kymo_put_u64(kymo_out_room(json->out, 24), value);
}

void kymo_json_int(struct kymo_json *json, int64_t value) {
  separate(json);
  json->out->at = kymo_put_i64(kymo_out_room(json->out, 24), value);
}

void kymo_json_float(struct kymo_json *json, double value, bool single) {
  separate(json);
  if (value != value)
    kymo_out_literal(json->out, "\"NaN\"");
  else if (value - value != 0)
    kymo_out_bytes(json->out, value < 0 ? "\"-Infinity\"" : "\"Infinity\"", value < 0 ? 11 : 10);
  else
    json->out->at = kymo_put_double(kymo_out_room(json->out, 40), value, single, true);
}

void kymo_json_bool(struct kymo_json *json, bool value) {
  separate(json);
  kymo_out_bytes(json->out, value ? "true" : "false", value ? 4 : 5);
}

void kymo_json_null(struct kymo_json *json) {
  separate(json);
  kymo_out_literal(json->out, "null");
}

void kymo_json_string(struct kymo_json *json, const uint8_t *bytes, uint64_t size,
                      enum kymo_encoding encoding) {
  separate(json);
  put_string(json->out, bytes, size, encoding);
}

void kymo_json_text(struct kymo_json *json, const char *text) {
  if (!text)
    kymo_json_null(json);
  else
    kymo_json_string(json, (const uint8_t *)text, strlen(text), KYMO_ENCODING_UTF8);
}

void kymo_json_hex(struct kymo_json *json, const uint8_t *bytes, uint64_t size) {
  separate(json);
  kymo_out_byte(json->out, '"');
  for (uint64_t i = 0; i < size; i++)
    json->out->at = kymo_put_hex_byte(kymo_out_room(json->out, 2), bytes[i]);
  kymo_out_byte(json->out, '"');
}

void kymo_json_raw(struct kymo_json *json, const char *text, size_t length) {
  separate(json);
  kymo_out_piece(json->out, text, length);
}

void kymo_json_open_value(struct kymo_json *json) { separate(json); }

void kymo_json_newline(struct kymo_json *json) { kymo_out_byte(json->out, '\n'); }

/* ---- into memory ---- */

void kymo_json_add_text(struct kymo_strbuf *buf, const char *text) {
  kymo_strbuf_puts(buf, "\"");
  for (const uint8_t *at = (const uint8_t *)text, *end = at + strlen(text); at < end;) {
    const uint8_t *from = at;
    char escaped[8];
    while (at < end && *at < 128 && !escapes[*at])
      at++;
    kymo_strbuf_add(buf, (const char *)from, (size_t)(at - from));
    if (at == end)
      break;
    uint32_t character = kymo_next_character(KYMO_ENCODING_UTF8, &at, end);
    kymo_strbuf_add(buf, escaped, (size_t)(kymo_json_put_character(escaped, character) - escaped));
  }
  kymo_strbuf_puts(buf, "\"");
}

/* All remaining labels; returns the bits of flags without label. */
static uint64_t add_labels(struct kymo_strbuf *buf, struct kymo_labels labels) {
  const char *gap = "";
  kymo_strbuf_puts(buf, ",\"labels\":[");
  for (const char *label; (label = kymo_labels_next(&labels)) != NULL; gap = ",") {
    kymo_strbuf_puts(buf, gap);
    kymo_json_add_text(buf, label);
  }
  kymo_strbuf_puts(buf, "]");
  return labels.rest;
}

void kymo_json_add_labelled(struct kymo_strbuf *buf, const struct kymo_type *type, uint64_t value) {
  if (type->is_signed)
    kymo_strbuf_printf(buf, "{\"value\":%lld", (long long)value);
  else
    kymo_strbuf_printf(buf, "{\"value\":%llu", (unsigned long long)value);
  struct kymo_labels labels = kymo_labels_begin(type, value), all = labels;
  if (type->kind == KYMO_KIND_BITMAP) {
    uint64_t rest = add_labels(buf, all);
    if (rest)
      kymo_strbuf_printf(buf, ",\"rest\":%llu", (unsigned long long)rest);
  } else {
    const char *label = kymo_labels_next(&labels);
    kymo_strbuf_puts(buf, ",\"label\":");
    if (label)
      kymo_json_add_text(buf, label);
    else
      kymo_strbuf_puts(buf, "null");
    if (label && kymo_labels_next(&labels))
      add_labels(buf, all);
  }
  kymo_strbuf_puts(buf, "}");
}
