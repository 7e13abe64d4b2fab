/* SPDX-License-Identifier: MIT */
/* Words and scopes of one compilation. */
#include "base/hash.h"
#include "lang/tsdl/tree.h"
#include <string.h>

/* ---- words ---- */

static const struct {
  const char *text;
  enum tsdl_keyword keyword;
} keywords[] = {
    {"_Bool", TSDL_BOOL},
    {"_Complex", TSDL_COMPLEX},
    {"_Imaginary", TSDL_IMAGINARY},
    {"align", TSDL_ALIGN},
    {"callsite", TSDL_CALLSITE},
    {"char", TSDL_CHAR},
    {"clock", TSDL_CLOCK},
    {"const", TSDL_CONST},
    {"double", TSDL_DOUBLE},
    {"enum", TSDL_ENUM},
    {"env", TSDL_ENV},
    {"event", TSDL_EVENT},
    {"float", TSDL_FLOAT},
    {"floating_point", TSDL_FLOATING_POINT},
    {"int", TSDL_INT},
    {"integer", TSDL_INTEGER},
    {"long", TSDL_LONG},
    {"short", TSDL_SHORT},
    {"signed", TSDL_SIGNED},
    {"stream", TSDL_STREAM},
    {"string", TSDL_STRING},
    {"struct", TSDL_STRUCT},
    {"trace", TSDL_TRACE},
    {"typealias", TSDL_TYPEALIAS},
    {"typedef", TSDL_TYPEDEF},
    {"unsigned", TSDL_UNSIGNED},
    {"variant", TSDL_VARIANT},
    {"void", TSDL_VOID},
};

static enum tsdl_keyword keyword_of(const char *text) {
  for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++)
    if (strcmp(keywords[i].text, text) == 0)
      return keywords[i].keyword;
  return TSDL_NO_KEYWORD;
}

struct tsdl_word *kymo_tsdl_word(struct tsdl_session *session, const char *text, size_t length) {
  struct tsdl_word *word;
  uint32_t hash = (uint32_t)kymo_keyed_text(text, length), at = hash;
  while ((word = (struct tsdl_word *)kymo_hash_table_next(&session->words, hash, &at)))
    if (word->length == length && memcmp(word->text, text, length) == 0)
      return word;
  word = kymo_lang_keep(session, 1, sizeof *word + length + 1);
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

/* ---- scopes ---- */

uint32_t kymo_tsdl_enter(struct tsdl_session *session) {
  uint32_t outer = session->scope;
  session->scope = ++session->serial;
  return outer;
}

void kymo_tsdl_leave(struct tsdl_session *session, uint32_t outer) {
  while (session->decls && session->decls->scope == session->scope) {
    struct tsdl_decl *decl = session->decls;
    session->decls = decl->previous;
    decl->word->decls[decl->space] = decl->hidden;
    decl->previous = session->free_decls;
    session->free_decls = decl;
  }
  session->scope = outer;
}

struct tsdl_decl *kymo_tsdl_declare(struct tsdl_session *session, enum tsdl_space space,
                                    struct tsdl_word *word, bool *again) {
  struct tsdl_decl *hidden = word->decls[space];
  *again = hidden && hidden->scope == session->scope;
  if (*again)
    return NULL;
  struct tsdl_decl *decl = session->free_decls;
  if (decl)
    session->free_decls = decl->previous;
  else if (!(decl = kymo_lang_new(session, 1, sizeof *decl)))
    return NULL;
  *decl = (struct tsdl_decl){
      .hidden = hidden, .previous = session->decls, .word = word, .space = space, .scope = session->scope};
  word->decls[space] = decl;
  session->decls = decl;
  return decl;
}

/* ---- suggestions ---- */

struct kymo_hint kymo_tsdl_declared_hint(struct tsdl_session *session, enum tsdl_space space,
                                         const char *text) {
  struct kymo_nearest nearest = kymo_nearest_to(text);
  unsigned left = 100000; /* an error may cost time, but not a second */
  for (const struct tsdl_decl *decl = session->decls; decl && left > 0; decl = decl->previous, left--)
    if (decl->space == space)
      kymo_nearest_consider(&nearest, decl->word->text);
  return kymo_nearest_hint(&nearest);
}
