/* SPDX-License-Identifier: MIT */
/*
 * What the compilation of a text needs in every language: the text, memory, and the first error.
 *
 *   struct toy_session {
 *     struct kymo_lang_session common; … what only this language has
 *   };
 *   struct toy_session session = {.common = {.text = …, .length = …, .file = …, .what = "TOY", .error = …}};
 *   struct toy_word *word = kymo_lang_new(&session, 1, sizeof *word);
 *   if (word && …)
 *     return kymo_lang_fail(&session, at, "expected …");
 *   kymo_lang_end(&session);
 *
 * These are macros, so that they take the session of any language: a struct with the member `common`.
 */
#ifndef KYMO_LANG_TEXT_SESSION_H
#define KYMO_LANG_TEXT_SESSION_H

#include "base/arena.h"
#include <kymo/error.h>
#include <stdbool.h>
#include <stddef.h>

struct kymo_builder;
struct kymo_schema;

struct kymo_lang_session {
  const char *text, *file;  /* borrowed; the file is named in errors only */
  const char *what;         /* is compiled: "TSDL"; for the error that memory ran out */
  size_t length;            /* of the text */
  struct kymo_error *error; /* or NULL */
  bool failed;              /* an error was reported; the first one stays */
  struct kymo_arena temp;   /* until kymo_lang_end */
  struct kymo_arena *keep;  /* of what is compiled, whose owner frees it; or NULL */
};

/* Reports an error at a byte of the text. Returns false, for `return kymo_lang_fail(…)`. */
#define kymo_lang_fail(session, at, ...) kymo_lang_fail_(&(session)->common, at, __VA_ARGS__)
/* The same for memory that ran out. */
#define kymo_lang_no_memory(session) kymo_lang_no_memory_(&(session)->common)
/* Zeroed memory for `count` × `size` bytes, until kymo_lang_end; NULL after reporting. */
#define kymo_lang_new(session, count, size) \
  kymo_lang_memory_(&(session)->common, &(session)->common.temp, count, size)
/* The same in the memory of what is compiled. */
#define kymo_lang_keep(session, count, size) \
  kymo_lang_memory_(&(session)->common, (session)->common.keep, count, size)
/* A copy of `length` bytes there, with a NUL after them; NULL after reporting. */
#define kymo_lang_keep_text(session, text, length) kymo_lang_keep_text_(&(session)->common, text, length)
/* Frees what kymo_lang_new returned. */
#define kymo_lang_end(session) kymo_arena_free(&(session)->common.temp)
/* A builder, whose memory is from now on that of kymo_lang_keep; NULL after reporting. */
#define kymo_lang_builder(session) kymo_lang_builder_(&(session)->common)
/* Ends a compilation with a builder: frees what kymo_lang_new returned, and the builder. NULL after
 * reporting: the compilation was not good (then the builder may be NULL), or the schema is not. */
#define kymo_lang_finish(session, builder, is_good) kymo_lang_finish_(&(session)->common, builder, is_good)

bool kymo_lang_fail_(struct kymo_lang_session *session, size_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool kymo_lang_no_memory_(struct kymo_lang_session *session);
void *kymo_lang_memory_(struct kymo_lang_session *session, struct kymo_arena *arena, size_t count,
                        size_t size);
char *kymo_lang_keep_text_(struct kymo_lang_session *session, const char *text, size_t length);
struct kymo_builder *kymo_lang_builder_(struct kymo_lang_session *session);
struct kymo_schema *kymo_lang_finish_(struct kymo_lang_session *session, struct kymo_builder *builder,
                                      bool is_good);

#endif
