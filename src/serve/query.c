/* SPDX-License-Identifier: MIT */
#include "serve/query.h"
#include "base/utf8.h"
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- taking apart ---- */

static bool fail(struct query *query, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The first error is kept. */
static bool fail(struct query *query, const char *format, ...) {
  va_list args;
  if (*query->error)
    return false;
  va_start(args, format);
  vsnprintf(query->error, sizeof query->error, format, args);
  va_end(args);
  return false;
}

static int digit_of(char character) {
  if (character >= '0' && character <= '9')
    return character - '0';
  if (character >= 'a' && character <= 'f')
    return character - 'a' + 10;
  return character >= 'A' && character <= 'F' ? character - 'A' + 10 : -1;
}

/* Decodes in place; NUL and what is no UTF-8 cannot be in a value. */
static bool decode(char *text) {
  char *to = text, *begin = text;
  for (; *text; text++) {
    if (*text != '%') {
      *to++ = *text == '+' ? ' ' : *text;
      continue;
    }
    int high = digit_of(text[1]), low = high < 0 ? -1 : digit_of(text[2]);
    if (low < 0 || high + low == 0)
      return false;
    *to++ = (char)(high << 4 | low);
    text += 2;
  }
  *to = 0;
  for (const uint8_t *at = (const uint8_t *)begin, *end = (const uint8_t *)to; at < end;)
    if (kymo_next_utf8(&at, end) == KYMO_BAD_CHARACTER)
      return false;
  return true;
}

static bool add(struct query *query, char *pair) {
  char *value = strchr(pair, '=');
  if (!value || value == pair || !decode(value + 1))
    return fail(query, "expected NAME=VALUE in the query, with values encoded as UTF-8");
  *value++ = 0;
  if (pair[strspn(pair, "abcdefghijklmnopqrstuvwxyz")])
    return fail(query, "expected names of lower-case letters in the query");
  if (query_text(query, pair))
    return fail(query, "expected each name once in the query");
  if (query->count == QUERY_PAIRS)
    return fail(query, "expected at most %d names in the query", QUERY_PAIRS);
  query->pairs[query->count++] = (struct query_pair){pair, value};
  return true;
}

bool query_parse(struct query *query, const char *text) {
  size_t length = text ? strlen(text) : 0;
  query->count = 0;
  query->error[0] = 0;
  if (length > QUERY_BYTES)
    return fail(query, "expected at most %d bytes of query, found %zu", QUERY_BYTES, length);
  memcpy(query->bytes, text ? text : "", length + 1);
  for (char *at = query->bytes, *next; at && *at; at = next) {
    if ((next = strchr(at, '&')) != NULL)
      *next++ = 0;
    if (!add(query, at))
      return false;
  }
  return true;
}

/* ---- values ---- */

const char *query_text(const struct query *query, const char *name) {
  for (size_t i = 0; i < query->count; i++)
    if (strcmp(query->pairs[i].name, name) == 0)
      return query->pairs[i].value;
  return NULL;
}

const char *query_need(struct query *query, const char *name) {
  const char *value = query_text(query, name);
  if (!value)
    fail(query, "%s: expected a value, found none", name);
  return value;
}

/* Decimal digits alone; *end is after them. */
static bool read_u64(const char *text, const char **end, uint64_t *out) {
  char *after;
  if (*text < '0' || *text > '9')
    return false;
  errno = 0;
  *out = strtoull(text, &after, 10);
  *end = after;
  return errno == 0;
}

bool query_u64(struct query *query, const char *name, uint64_t most, uint64_t *out) {
  const char *value = query_need(query, name), *end;
  *out = 0;
  if (!value)
    return false;
  if (!read_u64(value, &end, out) || *end || *out > most)
    return fail(query, "%s: expected a number up to %" PRIu64 ", found \"%.40s\"", name, most, value);
  return true;
}

bool query_u32(struct query *query, const char *name, uint32_t most, uint32_t *out) {
  uint64_t value;
  bool is_done = query_u64(query, name, most, &value);
  *out = (uint32_t)value;
  return is_done;
}

static bool read_i64(const char *text, const char **end, int64_t *out) {
  uint64_t size;
  bool is_negative = *text == '-';
  if (!read_u64(text + is_negative, end, &size) || size > (uint64_t)INT64_MAX + is_negative)
    return false;
  *out = (int64_t)(is_negative ? 0 - size : size);
  return true;
}

bool query_i64(struct query *query, const char *name, int64_t *out) {
  const char *value = query_need(query, name), *end;
  *out = 0;
  if (!value)
    return false;
  if (!read_i64(value, &end, out) || *end)
    return fail(query, "%s: expected a number of 64 bits, found \"%.40s\"", name, value);
  return true;
}

bool query_offsets(struct query *query, const char *name, uint32_t *numbers, int64_t *offsets, size_t room,
                   size_t *count) {
  const char *value = query_text(query, name), *at = value;
  *count = 0;
  for (bool is_more = value; is_more; ++*count) {
    uint64_t number;
    if (*count == room)
      return fail(query, "%s: expected at most %zu, found more", name, room);
    if (!read_u64(at, &at, &number) || number > UINT32_MAX || *at != ':' ||
        !read_i64(at + 1, &at, &offsets[*count]) || (*at && *at != ','))
      return fail(query, "%s: expected pairs NUMBER:NUMBER with commas, found \"%.40s\"", name, value);
    numbers[*count] = (uint32_t)number;
    is_more = *at++;
  }
  return true;
}

bool query_double(struct query *query, const char *name, double *out) {
  const char *value = query_need(query, name);
  char *end;
  *out = 0;
  if (!value)
    return false;
  *out = strtod(value, &end);
  if (!*value || value[strspn(value, "0123456789.eE+-")] || *end || *out - *out != 0)
    return fail(query, "%s: expected a number, found \"%.40s\"", name, value);
  return true;
}

bool query_flag(struct query *query, const char *name, bool *out) {
  const char *value = query_text(query, name);
  *out = value && strcmp(value, "1") == 0;
  return !value || *out || strcmp(value, "0") == 0 ||
         fail(query, "%s: expected 0 or 1, found \"%.40s\"", name, value);
}

bool query_word(struct query *query, const char *name, const char *const *words, unsigned *out) {
  const char *value = query_text(query, name);
  *out = 0;
  if (!value)
    return true;
  for (; words[*out]; ++*out)
    if (strcmp(words[*out], value) == 0)
      return true;
  return fail(query, "%s: expected one of a few words, found \"%.40s\"", name, value);
}

bool query_list(struct query *query, const char *name, uint32_t *out, uint32_t *seconds, size_t room,
                size_t *count) {
  const char *value = query_need(query, name), *at = value;
  *count = 0;
  if (!value)
    return false;
  for (;;) {
    uint64_t first, second = 0;
    if (*count == room)
      return fail(query, "%s: expected at most %zu, found more", name, room);
    if (!read_u64(at, &at, &first) || first > UINT32_MAX ||
        (seconds && (*at != ':' || !read_u64(at + 1, &at, &second) || second > UINT32_MAX)) ||
        (*at && *at != ','))
      return fail(query, "%s: expected %s with commas, found \"%.40s\"", name,
                  seconds ? "pairs NUMBER:NUMBER" : "numbers", value);
    out[*count] = (uint32_t)first;
    if (seconds)
      seconds[*count] = (uint32_t)second;
    ++*count;
    if (!*at++)
      return true;
  }
}
