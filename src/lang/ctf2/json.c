/* SPDX-License-Identifier: MIT */
#include "lang/ctf2/json.h"
#include "base/utf8.h"
#include <inttypes.h>
#include <string.h>

/* ---- texts ---- */

/* How many bytes the UTF-8 character takes; 0: it is none. Ends at a NUL. */
static size_t character_size(const char *at) { return kymo_character_length(at, strnlen(at, 4)); }

static void put_quoted(struct kymo_strbuf *out, const char *text) {
  kymo_strbuf_add(out, "\"", 1);
  for (const char *at = text; *at;) {
    size_t size = character_size(at);
    if (size == 0)
      kymo_strbuf_puts(out, "\xef\xbf\xbd");
    else if (*at == '"' || *at == '\\')
      kymo_strbuf_printf(out, "\\%c", *at);
    else if ((unsigned char)*at < 0x20)
      kymo_strbuf_printf(out, "\\u%04x", *at);
    else
      kymo_strbuf_add(out, at, size);
    at += size ? size : 1;
  }
  kymo_strbuf_add(out, "\"", 1);
}

/* ---- values ---- */

static void put_line(struct ctf2_json *json) {
  kymo_strbuf_add(json->out, "\n", 1);
  for (uint32_t i = 0; i < json->indent; i++)
    kymo_strbuf_add(json->out, "  ", 2);
}

/* Writes the separator and the key before a value. */
static void begin_value(struct ctf2_json *json, const char *key) {
  if (json->has_item)
    kymo_strbuf_puts(json->out, json->flat ? ", " : ",");
  if (json->indent > 0 && json->flat == 0)
    put_line(json);
  if (key) {
    put_quoted(json->out, key);
    kymo_strbuf_add(json->out, ": ", 2);
  }
  json->has_item = true;
}

void kymo_ctf2_open(struct ctf2_json *json, const char *key, char bracket) {
  begin_value(json, key);
  kymo_strbuf_add(json->out, &bracket, 1);
  json->indent++;
  json->flat += json->flat > 0;
  json->has_item = false;
}

void kymo_ctf2_open_flat(struct ctf2_json *json, const char *key, char bracket) {
  kymo_ctf2_open(json, key, bracket);
  if (json->flat == 0)
    json->flat = 1;
}

void kymo_ctf2_close(struct ctf2_json *json, char bracket) {
  json->indent--;
  if (json->flat > 0)
    json->flat--;
  else if (json->has_item)
    put_line(json);
  kymo_strbuf_add(json->out, &bracket, 1);
  json->has_item = true;
}

void kymo_ctf2_put_text(struct ctf2_json *json, const char *key, const char *text) {
  begin_value(json, key);
  put_quoted(json->out, text);
}

void kymo_ctf2_put_uint(struct ctf2_json *json, const char *key, uint64_t value) {
  begin_value(json, key);
  kymo_strbuf_printf(json->out, "%" PRIu64, value);
}

void kymo_ctf2_put_int(struct ctf2_json *json, const char *key, int64_t value) {
  begin_value(json, key);
  kymo_strbuf_printf(json->out, "%" PRId64, value);
}

void kymo_ctf2_put_bool(struct ctf2_json *json, const char *key, bool value) {
  begin_value(json, key);
  kymo_strbuf_puts(json->out, value ? "true" : "false");
}

void kymo_ctf2_put_bytes(struct ctf2_json *json, const char *key, const uint8_t *bytes, size_t count) {
  begin_value(json, key);
  kymo_strbuf_add(json->out, "[", 1);
  for (size_t i = 0; i < count; i++)
    kymo_strbuf_printf(json->out, "%s%u", i > 0 ? ", " : "", bytes[i]);
  kymo_strbuf_add(json->out, "]", 1);
}

void kymo_ctf2_put_ranges(struct ctf2_json *json, const char *key, const struct kymo_range *ranges,
                          size_t count, bool is_signed) {
  begin_value(json, key);
  kymo_strbuf_add(json->out, "[", 1);
  for (size_t i = 0; i < count; i++) {
    kymo_strbuf_puts(json->out, i > 0 ? ", " : "");
    if (is_signed)
      kymo_strbuf_printf(json->out, "[%" PRId64 ", %" PRId64 "]", (int64_t)ranges[i].low,
                         (int64_t)ranges[i].high);
    else
      kymo_strbuf_printf(json->out, "[%" PRIu64 ", %" PRIu64 "]", ranges[i].low, ranges[i].high);
  }
  kymo_strbuf_add(json->out, "]", 1);
}

/* ---- JSON that is there already ---- */

#define DEPTH_MAX 64

static const char *skip_space(const char *at) { return at + strspn(at, " \t\r\n"); }

/* Each of these returns the end of a value, or NULL if there is none. */
static const char *skip_value(const char *at, unsigned depth);

static const char *skip_text(const char *at) {
  if (*at++ != '"')
    return NULL;
  while (*at != '"') {
    size_t size = character_size(at);
    if (size == 0 || (unsigned char)*at < 0x20)
      return NULL;
    if (*at == '\\' && at[1] == 'u') {
      if (strspn(at + 2, "0123456789abcdefABCDEF") < 4)
        return NULL;
      size = 6;
    } else if (*at == '\\') {
      if (!at[1] || !strchr("\"\\/bfnrt", at[1]))
        return NULL;
      size = 2;
    }
    at += size;
  }
  return at + 1;
}

static const char *skip_digits(const char *at) {
  size_t count = strspn(at, "0123456789");
  return count ? at + count : NULL;
}

static const char *skip_number(const char *at) {
  at += *at == '-';
  if (*at == '0' && at[1] >= '0' && at[1] <= '9')
    return NULL;
  at = skip_digits(at);
  if (at && *at == '.')
    at = skip_digits(at + 1);
  if (at && (*at == 'e' || *at == 'E'))
    at = skip_digits(at + 1 + (at[1] == '+' || at[1] == '-'));
  return at;
}

static const char *skip_member(const char *at, unsigned depth, bool is_object) {
  if (is_object) {
    at = skip_text(at);
    at = at ? skip_space(at) : NULL;
    if (!at || *at++ != ':')
      return NULL;
    at = skip_space(at);
  }
  at = skip_value(at, depth);
  return at ? skip_space(at) : NULL;
}

/* An object or array; `at` is after its bracket. */
static const char *skip_compound(const char *at, unsigned depth, bool is_object) {
  char end = is_object ? '}' : ']';
  at = skip_space(at);
  if (*at == end)
    return at + 1;
  while ((at = skip_member(at, depth + 1, is_object)) && *at == ',')
    at = skip_space(at + 1);
  return at && *at == end ? at + 1 : NULL;
}

static const char *skip_value(const char *at, unsigned depth) {
  static const char *const words[] = {"true", "false", "null"};
  if (depth > DEPTH_MAX)
    return NULL;
  if (*at == '"')
    return skip_text(at);
  if (*at == '{' || *at == '[')
    return skip_compound(at + 1, depth, *at == '{');
  for (size_t i = 0; i < 3; i++)
    if (strncmp(at, words[i], strlen(words[i])) == 0)
      return at + strlen(words[i]);
  return skip_number(at);
}

bool kymo_ctf2_has_members(const char *text) {
  const char *at = skip_space(text);
  if (*at != '{' || *skip_space(at + 1) == '}')
    return false;
  at = skip_value(at, 1);
  return at && *skip_space(at) == '\0';
}

void kymo_ctf2_put_members(struct ctf2_json *json, const char *object) {
  const char *begin = skip_space(strchr(object, '{') + 1), *end = strrchr(object, '}');
  begin_value(json, NULL);
  kymo_strbuf_add(json->out, begin, (size_t)(end - begin));
}
