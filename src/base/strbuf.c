/* SPDX-License-Identifier: MIT */
/* The string builder: doubles its space, keeps a NUL after the text, and ignores additions after a failed
 * allocation (what was built before stays valid). */
#include "base/strbuf.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool kymo_strbuf_reserve(struct kymo_strbuf *buf, size_t more) {
  if (buf->failed)
    return false;
  if (buf->capacity > more && buf->length < buf->capacity - more)
    return true;
  size_t capacity = buf->capacity ? buf->capacity : 128;
  while (capacity <= more || capacity - more <= buf->length) {
    if (capacity > SIZE_MAX / 2) {
      buf->failed = true;
      return false;
    }
    capacity *= 2;
  }
  char *text = realloc(buf->text, capacity);
  if (!text) {
    buf->failed = true;
    return false;
  }
  buf->text = text;
  buf->capacity = capacity;
  return true;
}

void kymo_strbuf_add(struct kymo_strbuf *buf, const char *text, size_t length) {
  if (!kymo_strbuf_reserve(buf, length))
    return;
  if (length > 0)
    memcpy(buf->text + buf->length, text, length);
  buf->length += length;
  buf->text[buf->length] = '\0';
}

void kymo_strbuf_used(struct kymo_strbuf *buf, size_t length) {
  buf->length += length;
  buf->text[buf->length] = '\0';
}

void kymo_strbuf_puts(struct kymo_strbuf *buf, const char *text) { kymo_strbuf_add(buf, text, strlen(text)); }

void kymo_strbuf_vprintf(struct kymo_strbuf *buf, const char *format, va_list args) {
  va_list again;
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  if (length < 0)
    buf->failed = true;
  else if (kymo_strbuf_reserve(buf, (size_t)length)) {
    vsnprintf(buf->text + buf->length, (size_t)length + 1, format, again);
    buf->length += (size_t)length;
  }
  va_end(again);
}

void kymo_strbuf_printf(struct kymo_strbuf *buf, const char *format, ...) {
  va_list args;
  va_start(args, format);
  kymo_strbuf_vprintf(buf, format, args);
  va_end(args);
}

void kymo_strbuf_free(struct kymo_strbuf *buf) {
  free(buf->text);
  *buf = (struct kymo_strbuf){0};
}
