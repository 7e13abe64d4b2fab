/* SPDX-License-Identifier: MIT */
/* What one compilation of TDL or FDL shares: words, memory, the first error, warnings. */
#ifndef KYMO_LANG_TDL_SESSION_H
#define KYMO_LANG_TDL_SESSION_H

#include "base/fail.h"
#include "base/table.h"
#include "lang/text/session.h"
#include <stdint.h>

enum tdl_language { TDL_LANGUAGE_TDL, TDL_LANGUAGE_FDL };

struct tdl_session {
  struct kymo_lang_session common; /* temp: all memory */
  enum tdl_language language;
  struct kymo_hash_table words;  /* struct tdl_word */
  struct kymo_warnings warnings; /* warn NULL: they are dropped */
  uint32_t warning_count;
  bool is_muted;       /* the current construct has a warning already */
  uint32_t depth;      /* of what is being parsed */
  uint32_t item_count; /* of all records */
  bool has_order_file; /* some ORDER FILE was parsed */
};

/*
 * Begins a compilation: text, file name and error are those of the session, which borrows them until its last
 * use; kymo_lang_end frees the memory. False with the error if the text is too long (4 MiB) or is not UTF-8
 * (E11).
 */
bool kymo_tdl_begin(struct tdl_session *session, enum tdl_language language);

/* Reports error `code` ("E31") at byte `at` of the text. Returns false, for `return kymo_tdl_fail(…)`. */
bool kymo_tdl_fail(struct tdl_session *session, uint32_t at, const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Reports a warning ("W11"). At most 100 a compilation are reported. */
void kymo_tdl_warn(struct tdl_session *session, uint32_t at, const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The word of this text; NULL after reporting. */
const struct tdl_word *kymo_tdl_word(struct tdl_session *session, const char *text, size_t length);

#endif
