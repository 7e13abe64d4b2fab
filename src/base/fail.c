/* SPDX-License-Identifier: MIT */
/*
 * Errors: filling them and showing them. What comes from files (names, source lines, paths) is cleaned when
 * it is copied: control bytes become '?', so that no message can span several lines or control a terminal.
 *
 * A source line longer than the excerpt is shown from EXCERPT_LEAD bytes before the fault; both
 * sides compute that start from the column alone (excerpt_start).
 */
#include "base/fail.h"
#include "base/utf8.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define EXCERPT_MAX (sizeof((struct kymo_error){0}.excerpt) - 1)
#define EXCERPT_LEAD 80

static void make_harmless(char *text) {
  for (unsigned char *at = (unsigned char *)text; *at; at++)
    if (*at < 0x20 || *at == 0x7f)
      *at = '?';
}

static void reset(struct kymo_error *error, int code) {
  *error = (struct kymo_error){.code = code, .offset = KYMO_ERROR_NO_OFFSET};
}

static void set_file(struct kymo_error *error, const char *file) {
  size_t length = file ? strlen(file) : 0, room = sizeof error->file - 1;
  if (length > room)
    snprintf(error->file, sizeof error->file, "...%s", file + length - (room - 3));
  else if (length > 0)
    memcpy(error->file, file, length + 1);
  make_harmless(error->file);
}

static void set_message(struct kymo_error *error, const char *format, va_list args) {
  vsnprintf(error->message, sizeof error->message, format, args);
  make_harmless(error->message);
}

int kymo_fail(struct kymo_error *error, int code, const char *format, ...) {
  if (!error)
    return code;
  va_list args;
  va_start(args, format);
  reset(error, code);
  set_message(error, format, args);
  va_end(args);
  return code;
}

int kymo_fail_at_args(struct kymo_error *error, int code, const char *file, uint64_t offset,
                      const char *format, va_list args) {
  if (!error)
    return code;
  reset(error, code);
  set_file(error, file);
  error->offset = offset;
  set_message(error, format, args);
  return code;
}

int kymo_fail_at(struct kymo_error *error, int code, const char *file, uint64_t offset, const char *format,
                 ...) {
  va_list args;
  va_start(args, format);
  kymo_fail_at_args(error, code, file, offset, format, args);
  va_end(args);
  return code;
}

int kymo_fail_errno(struct kymo_error *error, const char *file, const char *what) {
  /* %m is thread-safe, which strerror is not; strerror_r exists in two forms. */
  return kymo_fail_at(error, KYMO_E_SYSTEM, file, KYMO_ERROR_NO_OFFSET, "%s: %m", what);
}

/* The number of bytes at the start of a source line that the excerpt leaves out if the fault is at
 * `column`. */
static uint64_t excerpt_start(uint32_t column) {
  return column > EXCERPT_MAX - EXCERPT_LEAD ? column - 1 - EXCERPT_LEAD : 0;
}

static void set_excerpt(struct kymo_error *error, const char *line, uint64_t length) {
  uint64_t start = excerpt_start(error->column);
  uint64_t shown = length > start ? length - start : 0;
  if (shown > EXCERPT_MAX)
    shown = EXCERPT_MAX;
  memcpy(error->excerpt, line + start, shown);
  for (uint64_t i = 0; i < shown; i++) {
    unsigned char byte = (unsigned char)error->excerpt[i];
    if ((byte < 0x20 && byte != '\t') || byte == 0x7f)
      error->excerpt[i] = '?';
  }
}

int kymo_fail_text_args(struct kymo_error *error, const char *file, const char *text, uint64_t length,
                        uint64_t at, const char *format, va_list args) {
  if (!error)
    return KYMO_E_SYNTAX;
  if (at > length)
    at = length;
  uint64_t line_start = 0;
  uint32_t line = 1;
  for (const char *end; (end = memchr(text + line_start, '\n', at - line_start)); line++)
    line_start = (uint64_t)(end - text) + 1;
  const char *line_end = memchr(text + line_start, '\n', length - line_start);
  uint64_t line_length = line_end ? (uint64_t)(line_end - text) - line_start : length - line_start;
  if (line_length > 0 && text[line_start + line_length - 1] == '\r')
    line_length--;
  uint64_t column = at - line_start + 1;
  reset(error, KYMO_E_SYNTAX);
  set_file(error, file);
  error->line = line;
  error->column = column > UINT32_MAX ? UINT32_MAX : (uint32_t)column;
  error->offset = at;
  set_excerpt(error, text + line_start, line_length);
  set_message(error, format, args);
  return KYMO_E_SYNTAX;
}

int kymo_fail_text(struct kymo_error *error, const char *file, const char *text, uint64_t length, uint64_t at,
                   const char *format, ...) {
  va_list args;
  va_start(args, format);
  kymo_fail_text_args(error, file, text, length, at, format, args);
  va_end(args);
  return KYMO_E_SYNTAX;
}

/* Text of bounded size that is appended to; what does not fit is cut. */
struct bounded {
  char *out;
  uint64_t size, used;
};

static void put(struct bounded *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct bounded *to, const char *format, ...) {
  if (to->used + 1 >= to->size)
    return;
  va_list args;
  va_start(args, format);
  int length = vsnprintf(to->out + to->used, to->size - to->used, format, args);
  va_end(args);
  if (length > 0)
    to->used += (uint64_t)length < to->size - to->used ? (uint64_t)length : to->size - to->used - 1;
}

/* The source line and a caret under it: tabs stay tabs, and a UTF-8 character takes one column. */
static void put_excerpt(struct bounded *to, const struct kymo_error *error) {
  uint64_t before = error->column - 1 - excerpt_start(error->column);
  put(to, "\n  %s\n  ", error->excerpt);
  for (uint64_t i = 0; i < before && error->excerpt[i]; i++) {
    char byte = error->excerpt[i];
    if (kymo_begins_character(byte))
      put(to, "%c", byte == '\t' ? '\t' : ' ');
  }
  put(to, "^");
}

const char *kymo_error_text(const struct kymo_error *error, char *out, uint64_t size) {
  if (size == 0)
    return out;
  struct bounded to = {.out = out, .size = size};
  out[0] = '\0';
  if (error->line > 0) {
    put(&to, "%s:%" PRIu32 ":%" PRIu32 ": %s: %s", error->file, error->line, error->column,
        error->code == KYMO_OK ? "warning" : "error", error->message);
    if (error->column > 0 && error->excerpt[0])
      put_excerpt(&to, error);
  } else if (error->file[0] && error->offset != KYMO_ERROR_NO_OFFSET) {
    put(&to, "%s: byte %" PRIu64 ": %s", error->file, error->offset, error->message);
  } else if (error->file[0]) {
    put(&to, "%s: %s", error->file, error->message);
  } else {
    put(&to, "%s", error->message);
  }
  return out;
}
