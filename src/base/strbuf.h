/* SPDX-License-Identifier: MIT */
/* A string builder. Running out of memory is remembered and reported once, at the end. */
#ifndef KYMO_BASE_STRBUF_H
#define KYMO_BASE_STRBUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kymo_strbuf {
  char *text; /* NUL-terminated once something was added; NULL while empty */
  size_t length, capacity;
  bool failed; /* memory ran out: the text is not complete */
};

void kymo_strbuf_add(struct kymo_strbuf *buf, const char *text, size_t length);
void kymo_strbuf_puts(struct kymo_strbuf *buf, const char *text);
void kymo_strbuf_printf(struct kymo_strbuf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void kymo_strbuf_vprintf(struct kymo_strbuf *buf, const char *format, va_list args);
/* Makes space for `more` bytes and a NUL. False: memory ran out. */
bool kymo_strbuf_reserve(struct kymo_strbuf *buf, size_t more);
/* Returns space for `length` bytes after the text (NULL when memory ran out); and adds those that were
 * written to the text. */
static inline char *kymo_strbuf_room(struct kymo_strbuf *buf, size_t length) {
  bool has_room = !buf->failed && buf->capacity > length && buf->length < buf->capacity - length;
  return has_room || kymo_strbuf_reserve(buf, length) ? buf->text + buf->length : NULL;
}
void kymo_strbuf_used(struct kymo_strbuf *buf, size_t length);
void kymo_strbuf_free(struct kymo_strbuf *buf);

#endif
