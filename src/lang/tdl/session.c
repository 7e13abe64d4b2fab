/* SPDX-License-Identifier: MIT */
/* Words, errors and warnings of one compilation. */
#include "base/fail.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "lang/tdl/habit.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX (4u << 20)
#define WARNINGS_MAX 100

/* ---- errors ---- */

/* Adds to the error the line without the habit of another language. */
static void add_habit(const struct tdl_session *session, uint32_t at, const char *code, char *message,
                      size_t size) {
  static const char codes[] = "E11 E12 E13 E21 E22 E31 E41";
  char right[TDL_HABIT_BYTES];
  size_t used = strlen(message);
  if (strstr(codes, code) && !strstr(message, "; write: ") && kymo_tdl_habit(session, at, code, right))
    snprintf(message + used, size - used, "; write: %s", right);
}

bool kymo_tdl_fail(struct tdl_session *session, uint32_t at, const char *code, const char *format, ...) {
  if (session->common.failed)
    return false;
  char message[sizeof session->common.error->message];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  add_habit(session, at, code, message, sizeof message);
  return kymo_lang_fail(session, at, "%s %s", code, message);
}

void kymo_tdl_warn(struct tdl_session *session, uint32_t at, const char *code, const char *format, ...) {
  if (session->common.failed || session->is_muted || !session->warnings.warn ||
      session->warning_count >= WARNINGS_MAX)
    return;
  session->warning_count++;
  struct kymo_error warning;
  char message[sizeof warning.message];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  kymo_fail_text(&warning, session->common.file, session->common.text, session->common.length, at, "%s %s",
                 code, message);
  warning.code = KYMO_OK;
  session->warnings.warn(session->warnings.context, &warning);
}

/* ---- words ---- */

#define TEXT_OF(word) #word,
static const char *const keywords[] = {TDL_KEYWORDS(TEXT_OF)};
#undef TEXT_OF
#define KEYWORDS (sizeof keywords / sizeof keywords[0])

const char *kymo_tdl_keyword(int keyword) { return keywords[keyword - TDL_TOKEN_KEYWORDS - 1]; }

static int compare_keywords(const void *text, const void *keyword) {
  return strcmp(text, *(const char *const *)keyword);
}

static int keyword_of(const char *text) {
  const char *const *found = bsearch(text, keywords, KEYWORDS, sizeof keywords[0], compare_keywords);
  return found ? TDL_TOKEN_KEYWORDS + 1 + (int)(found - keywords) : 0;
}

const struct tdl_word *kymo_tdl_word(struct tdl_session *session, const char *text, size_t length) {
  struct tdl_word *word;
  uint32_t hash = (uint32_t)kymo_keyed_text(text, length), at = hash;
  while ((word = (struct tdl_word *)kymo_hash_table_next(&session->words, hash, &at)))
    if (word->length == length && memcmp(word->text, text, length) == 0)
      return word;
  word = kymo_lang_new(session, 1, sizeof *word + length + 1);
  if (!word)
    return NULL;
  memcpy(word->text, text, length);
  word->hash = hash;
  word->length = (uint32_t)length;
  word->keyword = keyword_of(word->text);
  if (kymo_hash_table_add(&session->words, &session->common.temp, hash, (uintptr_t)word))
    return word;
  kymo_lang_no_memory(session);
  return NULL;
}

/* ---- the beginning ---- */

bool kymo_tdl_begin(struct tdl_session *session, enum tdl_language language) {
  session->language = language;
  if (session->common.length > TEXT_MAX)
    return kymo_tdl_fail(session, 0, "E61", "expected at most %u bytes of text, found %zu", TEXT_MAX,
                         session->common.length);
  for (size_t at = 0, length; at < session->common.length; at += length)
    if ((length = kymo_character_length(session->common.text + at, session->common.length - at)) == 0)
      return kymo_tdl_fail(session, (uint32_t)at, "E11", "expected UTF-8, found byte 0x%02x",
                           (unsigned char)session->common.text[at]);
  return true;
}
