/* SPDX-License-Identifier: MIT */
/* The text of TDL and FDL → tokens, and what one compilation shares: words, memory, the first error,
 * warnings. */
#ifndef KYMO_LANG_TDL_LEXER_H
#define KYMO_LANG_TDL_LEXER_H

#include "base/fail.h"
#include "base/table.h"
#include "lang/tdl/tree.h"
#include "lang/text/cursor.h"

/* Punctuation of one character is that character; keywords lie above TDL_TOKEN_KEYWORDS. */
enum tdl_token_kind {
  TDL_TOKEN_END = 0,
  TDL_TOKEN_NAME = 256, /* word; also words in backquotes */
  TDL_TOKEN_NUMBER,     /* value: INTEGER or FRACTION */
  TDL_TOKEN_STRING,     /* bytes, without quotes and escapes */
  TDL_TOKEN_HEX,        /* bytes of x"…" */
  TDL_TOKEN_REGEX,      /* bytes between slashes, only after MATCHES */
  TDL_TOKEN_DOTS,       /* .. */
  TDL_TOKEN_UNEQUAL,    /* <> */
  TDL_TOKEN_LESS_EQUAL,
  TDL_TOKEN_GREATER_EQUAL,
  TDL_TOKEN_SHIFT_LEFT,
  TDL_TOKEN_SHIFT_RIGHT,
  TDL_TOKEN_BAD, /* an error was reported */
  TDL_TOKEN_KEYWORDS,
};

/* Keywords, in the order of the alphabet: KEYWORD(ABSENT) makes TDL_KEYWORD_ABSENT. */
/* clang-format off */
#define TDL_KEYWORDS(KEYWORD) \
  KEYWORD(ABSENT) KEYWORD(ACTIVITY) KEYWORD(ADD) KEYWORD(ADDRESS) KEYWORD(AFTER) KEYWORD(ALIGN) \
  KEYWORD(ALL) KEYWORD(ALWAYS) KEYWORD(AND) KEYWORD(ANY) KEYWORD(AROUND) KEYWORD(ARRAY) KEYWORD(AS) \
  KEYWORD(AT) KEYWORD(BASE) KEYWORD(BCD) KEYWORD(BEFORE) KEYWORD(BETWEEN) KEYWORD(BIG) KEYWORD(BIT) \
  KEYWORD(BITS) KEYWORD(BLOCKS) KEYWORD(BY) KEYWORD(BYTES) KEYWORD(CASE) KEYWORD(CHANGED) KEYWORD(CHAR) \
  KEYWORD(CHECK) KEYWORD(CHECKSUM) KEYWORD(CLOCK) KEYWORD(CONST) KEYWORD(CONTROL) KEYWORD(COUNT) \
  KEYWORD(COUNTED) KEYWORD(DAMAGED) KEYWORD(DEFINE) KEYWORD(DEFINITION) KEYWORD(DISTANCE) KEYWORD(ELSE) \
  KEYWORD(ELSIF) KEYWORD(ENCODING) KEYWORD(END) KEYWORD(ENDED) KEYWORD(EPOCH) KEYWORD(ERROR) KEYWORD(EVENT) \
  KEYWORD(EVERY) KEYWORD(FAIL) KEYWORD(FIELD) KEYWORD(FIELDS) KEYWORD(FILE) KEYWORD(FILES) KEYWORD(FILLER) \
  KEYWORD(FILTER) KEYWORD(FIRST) KEYWORD(FIXED) KEYWORD(FLAGS) KEYWORD(FLOAT) KEYWORD(FOR) KEYWORD(FORGET) \
  KEYWORD(FRACTION) KEYWORD(FROM) KEYWORD(GROUP) KEYWORD(HAS) KEYWORD(HEX) KEYWORD(HOLDS) KEYWORD(IF) \
  KEYWORD(IN) KEYWORD(INCLUSIVE) KEYWORD(INTEGER) KEYWORD(IS) KEYWORD(KEY) KEYWORD(KIND) KEYWORD(KNOWN) \
  KEYWORD(LAST) KEYWORD(LAYOUT) KEYWORD(LEB) KEYWORD(LENGTH) KEYWORD(LET) KEYWORD(LETTERS) KEYWORD(LIKE) \
  KEYWORD(LIMIT) KEYWORD(LIST) KEYWORD(LITTLE) KEYWORD(LOW) KEYWORD(LSB) KEYWORD(LZ4) KEYWORD(MARK) \
  KEYWORD(MASK) KEYWORD(MATCHES) KEYWORD(MAX) KEYWORD(MERGE) KEYWORD(MINUS) KEYWORD(MSB) KEYWORD(NAME) \
  KEYWORD(NAMES) KEYWORD(NO) KEYWORD(NONE) KEYWORD(NOT) KEYWORD(NUMBER) KEYWORD(NUMBERS) KEYWORD(OF) \
  KEYWORD(OFFSET) KEYWORD(ON) KEYWORD(OR) KEYWORD(ORDER) KEYWORD(OVER) KEYWORD(PADDED) KEYWORD(PER) \
  KEYWORD(PLUS) KEYWORD(POINT) KEYWORD(POSITION) KEYWORD(PREFIX) KEYWORD(PRESENT) KEYWORD(PREVIOUS) \
  KEYWORD(RATE) KEYWORD(RECORD) KEYWORD(RECORDS) KEYWORD(REMAINING) KEYWORD(REPEAT) KEYWORD(RESOLUTION) \
  KEYWORD(RESYNC) KEYWORD(SAME) KEYWORD(SCALE) KEYWORD(SEED) KEYWORD(SEGMENT) KEYWORD(SELECT) \
  KEYWORD(SEQUENCE) KEYWORD(SHOW) KEYWORD(SIZE) KEYWORD(SKIP) KEYWORD(SLACK) KEYWORD(SLEB) KEYWORD(SORTED) \
  KEYWORD(SPAN) KEYWORD(SPLIT) KEYWORD(START) KEYWORD(STOP) KEYWORD(STRING) KEYWORD(SYNC) KEYWORD(TABLE) \
  KEYWORD(TEXT) KEYWORD(THEN) KEYWORD(TIME) KEYWORD(TIMES) KEYWORD(TO) KEYWORD(TOKEN) KEYWORD(TRACE) \
  KEYWORD(TYPE) KEYWORD(TYPES) KEYWORD(UNIT) KEYWORD(UNITS) KEYWORD(UNSIGNED) KEYWORD(UNTIL) KEYWORD(USE) \
  KEYWORD(UUID) KEYWORD(VALID) KEYWORD(VALUE) KEYWORD(VARINT) KEYWORD(VERSION) KEYWORD(WHEN) KEYWORD(WITH) \
  KEYWORD(WITHIN) KEYWORD(XOR) KEYWORD(YES) KEYWORD(ZIGZAG) KEYWORD(ZLIB) KEYWORD(ZSTD)
/* clang-format on */

#define TDL_KEYWORD_OF(word) TDL_KEYWORD_##word,
enum tdl_keyword { TDL_KEYWORD_0_ = TDL_TOKEN_KEYWORDS, TDL_KEYWORDS(TDL_KEYWORD_OF) TDL_KEYWORD_END_ };
#undef TDL_KEYWORD_OF

struct tdl_token {
  int kind;
  uint32_t at, length;
  const struct tdl_word *word; /* NAME and keywords */
  struct tdl_value value;      /* NUMBER */
  struct tdl_bytes bytes;      /* STRING, HEX, REGEX */
};

enum tdl_language { TDL_LANGUAGE_TDL, TDL_LANGUAGE_FDL };

/* One compilation of one text. */
struct tdl_session {
  const char *text, *file; /* borrowed */
  uint32_t length;
  enum tdl_language language;
  struct kymo_error *error;
  bool failed;                   /* an error was reported; the first one stays */
  struct kymo_arena *arena;      /* owned by the session's owner */
  struct kymo_hash_table words;  /* struct tdl_word */
  struct kymo_warnings warnings; /* warn NULL: they are dropped */
  uint32_t warning_count;
  bool is_muted;       /* the current construct has a warning already */
  uint32_t depth;      /* of what is being parsed */
  uint32_t item_count; /* of all records */
  bool has_order_file; /* some ORDER FILE was parsed */
};

/*
 * Begins a compilation: `session` is filled in, memory comes from `arena`, both the caller's. Text, file name
 * and error are borrowed until the session's last use. False with `error` if the text is too long (4 GiB) or
 * is not UTF-8 (E11).
 */
bool kymo_tdl_begin(struct tdl_session *session, enum tdl_language language, struct kymo_arena *arena);

/* Reports error `code` ("E31") at `length` bytes of the text. Returns false, for `return
 * kymo_tdl_fail(…)`. */
bool kymo_tdl_fail(struct tdl_session *session, uint32_t at, const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The same for memory that ran out. */
bool kymo_tdl_no_memory(struct tdl_session *session);
/* Reports a warning ("W11"). At most 100 a compilation are reported. */
void kymo_tdl_warn(struct tdl_session *session, uint32_t at, const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Zeroed memory of the session's arena; NULL after reporting. */
void *kymo_tdl_new(struct tdl_session *session, size_t count, size_t size);
/* The word of this text; NULL after reporting. */
const struct tdl_word *kymo_tdl_word(struct tdl_session *session, const char *text, size_t length);
/* "RECORD" of TDL_KEYWORD_RECORD. */
const char *kymo_tdl_keyword(int keyword);
/* A moment, `YYYY-MM-DD[THH:MM[:SS[.digits]]][Z|±HH:MM]`: picoseconds since 1970. False after reporting E14
 * at `at`. */
bool kymo_tdl_moment(struct tdl_session *session, struct tdl_bytes text, uint32_t at,
                     struct kymo_wide *since_ps);

struct tdl_lexer {
  struct tdl_session *session;
  struct kymo_cursor cursor;
  int previous; /* kind of the previous token: a regex comes only after MATCHES */
};

/* The next token; BAD after reporting, END for ever at the end. */
struct tdl_token kymo_tdl_lex(struct tdl_lexer *lexer);

#endif
