/* SPDX-License-Identifier: MIT */
#include "lang/text/session.h"
#include "base/fail.h"
#include "schema/build.h"

bool kymo_lang_fail_(struct kymo_lang_session *session, size_t at, const char *format, ...) {
  va_list args;
  if (session->failed)
    return false;
  session->failed = true;
  va_start(args, format);
  kymo_fail_text_args(session->error, session->file, session->text, session->length, at, format, args);
  va_end(args);
  return false;
}

bool kymo_lang_no_memory_(struct kymo_lang_session *session) {
  if (!session->failed)
    kymo_fail(session->error, KYMO_E_MEMORY, "out of memory while compiling %s", session->what);
  session->failed = true;
  return false;
}

void *kymo_lang_memory_(struct kymo_lang_session *session, struct kymo_arena *arena, size_t count,
                        size_t size) {
  void *memory = kymo_arena_array(arena, count, size);
  if (!memory)
    kymo_lang_no_memory_(session);
  return memory;
}

char *kymo_lang_keep_text_(struct kymo_lang_session *session, const char *text, size_t length) {
  char *copy = kymo_arena_copy(session->keep, text, length);
  if (!copy)
    kymo_lang_no_memory_(session);
  return copy;
}

struct kymo_builder *kymo_lang_builder_(struct kymo_lang_session *session) {
  struct kymo_builder *builder = kymo_builder_new();
  if (builder)
    session->keep = kymo_builder_arena(builder);
  else
    kymo_lang_no_memory_(session);
  return builder;
}

struct kymo_schema *kymo_lang_finish_(struct kymo_lang_session *session, struct kymo_builder *builder,
                                      bool is_good) {
  kymo_arena_free(&session->temp);
  if (is_good)
    return kymo_builder_finish_file(builder, session->file, session->error);
  kymo_builder_free(builder);
  return NULL;
}
