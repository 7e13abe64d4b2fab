/* SPDX-License-Identifier: MIT */
#include "sink/export/proto.h"
#include "base/bytes.h"
#include "print/unicode.h"
#include <string.h>

enum { LENGTH_BYTES = 4, NUMBER_BYTES = 10 };

void kymo_proto_varint(struct kymo_strbuf *out, uint64_t value) {
  char bytes[NUMBER_BYTES];
  size_t count = 0;
  for (; value >= 0x80; value >>= 7)
    bytes[count++] = (char)(value | 0x80);
  bytes[count++] = (char)value;
  kymo_strbuf_add(out, bytes, count);
}

static void add_key(struct kymo_strbuf *out, uint32_t field, unsigned kind) {
  kymo_proto_varint(out, (uint64_t)field << 3 | kind);
}

void kymo_proto_number(struct kymo_strbuf *out, uint32_t field, uint64_t value) {
  add_key(out, field, KYMO_PROTO_NUMBER);
  kymo_proto_varint(out, value);
}

void kymo_proto_double(struct kymo_strbuf *out, uint32_t field, double value) {
  uint8_t bytes[8];
  uint64_t word;
  memcpy(&word, &value, sizeof word);
  kymo_store_le64(bytes, word);
  add_key(out, field, KYMO_PROTO_64_BITS);
  kymo_strbuf_add(out, (const char *)bytes, sizeof bytes);
}

void kymo_proto_bytes(struct kymo_strbuf *out, uint32_t field, const void *bytes, size_t size) {
  add_key(out, field, KYMO_PROTO_LENGTH);
  kymo_proto_varint(out, size);
  kymo_strbuf_add(out, bytes, size);
}

void kymo_proto_characters(struct kymo_strbuf *out, const void *bytes, size_t size,
                           enum kymo_encoding encoding) {
  const uint8_t *from = bytes, *end = from + size;
  while (from < end) {
    char character[4];
    const char *after = kymo_put_character(character, kymo_next_character(encoding, &from, end));
    kymo_strbuf_add(out, character, (size_t)(after - character));
  }
}

void kymo_proto_text(struct kymo_strbuf *out, uint32_t field, const void *bytes, size_t size,
                     enum kymo_encoding encoding) {
  const size_t at = kymo_proto_open(out, field);
  kymo_proto_characters(out, bytes, size, encoding);
  kymo_proto_close(out, at);
}

void kymo_proto_name(struct kymo_strbuf *out, uint32_t field, const char *text) {
  kymo_proto_text(out, field, text, strlen(text), KYMO_ENCODING_UTF8);
}

size_t kymo_proto_open(struct kymo_strbuf *out, uint32_t field) {
  add_key(out, field, KYMO_PROTO_LENGTH);
  kymo_strbuf_add(out, "\0\0\0", LENGTH_BYTES);
  return out->length;
}

void kymo_proto_close(struct kymo_strbuf *out, size_t at) {
  if (out->failed)
    return;
  uint64_t length = out->length - at;
  out->failed = length >> 7 * LENGTH_BYTES;
  for (unsigned i = 0; i < LENGTH_BYTES; i++, length >>= 7)
    out->text[at - LENGTH_BYTES + i] = (char)((length & 0x7f) | (i + 1 < LENGTH_BYTES ? 0x80 : 0));
}
