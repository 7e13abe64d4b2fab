/* SPDX-License-Identifier: MIT */
/* From text to fragments: records of RFC 7464 between record separators, each one JSON object. */
#include "lang/ctf2/session.h"
#include <inttypes.h>
#include <string.h>

#define RECORD_SEPARATOR 0x1e

/* ---- marks ---- */

#define MARK_DIGITS 11 /* of 6 bits */
#define MARK_LENGTH 19 /* "\u0000 and the digits and "; 2^63 has as many digits */

static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";

bool kymo_ctf2_is_marked(const json_t *json, uint64_t *value) {
  if (!json_is_string(json) || json_string_length(json) != 1 + MARK_DIGITS ||
      json_string_value(json)[0] != '\0')
    return false;
  *value = 0;
  for (int i = 0; i < MARK_DIGITS; i++)
    *value = *value << 6 | (uint64_t)(strchr(digits, json_string_value(json)[1 + i]) - digits);
  return true;
}

/* Marks the number at `text`, of `length` digits, if it is one that needs it. */
static void mark_number(char *text, size_t length) {
  uint64_t value = 0;
  bool is_plain = text[length] != '.' && text[length] != 'e' && text[length] != 'E';
  if (!is_plain || length < MARK_LENGTH || length > MARK_LENGTH + 1 || text[0] == '0')
    return;
  for (size_t i = 0; i < length; i++)
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, (uint64_t)(text[i] - '0'), &value))
      return;
  if (value <= INT64_MAX)
    return;
  memset(text, ' ', length);
  memcpy(text, "\"\\u0000", 7);
  for (int i = 0; i < MARK_DIGITS; i++)
    text[7 + i] = digits[value >> (6 * (MARK_DIGITS - 1 - i)) & 63];
  text[7 + MARK_DIGITS] = '"';
}

/* Marks numbers in the copy. The parser reports faults of the text, except zero characters in texts. */
static bool mark_numbers(struct ctf2_session *session) {
  char *copy = session->copy;
  bool in_text = false;
  for (size_t i = 0; i < session->common.length; i++) {
    if (in_text && copy[i] == '\\') {
      if (strncmp(copy + i, "\\u0000", 6) == 0)
        return kymo_lang_fail(session, i, "a zero character in a text");
      i++;
    } else if (copy[i] == '"') {
      in_text = !in_text;
    } else if (copy[i] == RECORD_SEPARATOR) {
      in_text = false;
    } else if (!in_text && copy[i] >= '0' && copy[i] <= '9') {
      size_t length = strspn(copy + i, "0123456789");
      if (i == 0 || !strchr("-+.eE", copy[i - 1]))
        mark_number(copy + i, length);
      i += length - 1;
    }
  }
  return true;
}

/* ---- records ---- */

static bool parse_record(struct ctf2_session *session, struct ctf2_fragment *fragment) {
  json_error_t error;
  fragment->session = session;
  fragment->json = json_loadb(session->copy + fragment->at, fragment->length,
                              JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
  if (fragment->json)
    return json_is_object(fragment->json) ||
           kymo_lang_fail(session, fragment->at, "expected a fragment, which is an object");
  if (json_error_code(&error) == json_error_out_of_memory)
    return kymo_lang_no_memory(session);
  size_t position = error.position > 0 ? (size_t)error.position - 1 : 0;
  size_t last = fragment->length > 0 ? fragment->length - 1 : 0;
  return kymo_lang_fail(session, fragment->at + (position < last ? position : last), "%s", error.text);
}

static bool is_blank(const char *text, size_t length) { return strspn(text, " \t\r\n") >= length; }

static bool parse_records(struct ctf2_session *session) {
  const char *copy = session->copy;
  size_t count = 0;
  for (size_t i = 0; i < session->common.length; i++)
    count += copy[i] == RECORD_SEPARATOR;
  session->fragments = kymo_lang_new(session, count + 1, sizeof *session->fragments);
  if (!session->fragments)
    return false;
  if (session->common.length == 0 || copy[0] != RECORD_SEPARATOR)
    return kymo_lang_fail(session, 0, "expected a record separator (0x1e)");
  for (size_t at = 1, end; at <= session->common.length; at = end + 1) {
    const char *next = memchr(copy + at, RECORD_SEPARATOR, session->common.length - at);
    end = next ? (size_t)(next - copy) : session->common.length;
    if (is_blank(copy + at, end - at))
      continue;
    struct ctf2_fragment *fragment = &session->fragments[session->fragment_count++];
    fragment->at = at;
    fragment->length = end - at;
    if (!parse_record(session, fragment))
      return false;
  }
  return true;
}

bool kymo_ctf2_parse(struct ctf2_session *session) {
  session->copy = kymo_arena_copy(&session->common.temp, session->common.text, session->common.length);
  if (!session->copy)
    return kymo_lang_no_memory(session);
  return mark_numbers(session) && parse_records(session);
}
