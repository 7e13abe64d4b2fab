/* SPDX-License-Identifier: MIT */
/*
 * The result of the TSDL parser, from which the compiler makes a schema.
 *
 *   text ──lexer──► tokens ──parser──► blocks, attributes, described types ──compile──► schema
 *
 * The parser binds names of types at once (TSDL's scopes are lexical, and a declaration comes before its
 * use), so a described type is a graph without names to look up. Some properties stay open until a type has
 * its place: the native byte order, clocks, lengths and tags that are other fields. The compiler *places*
 * types; one without references is placed once.
 *
 * Words are interned: equal text is one struct. A word knows its innermost declaration in each
 * space of names, so looking up costs nothing and leaving a scope puts back what it hid.
 */
#ifndef KYMO_LANG_TSDL_TREE_H
#define KYMO_LANG_TSDL_TREE_H

#include "base/nearest.h"
#include "base/table.h"
#include "lang/text/session.h"
#include <kymo/schema.h>

#define TSDL_DEPTH_MAX 64

/* ---- words and declarations ---- */

/* SPACE_TYPE: aliases and typedefs; STRUCT, VARIANT, ENUM: tags; MEMBER, ATTRIBUTE: those that the current
 * block has already; FIELD: fields that are placed and can be referred to; CLOCK, ENV: the names that these
 * blocks define. */
enum tsdl_space {
  TSDL_SPACE_TYPE,
  TSDL_SPACE_STRUCT,
  TSDL_SPACE_VARIANT,
  TSDL_SPACE_ENUM,
  TSDL_SPACE_MEMBER,
  TSDL_SPACE_ATTRIBUTE,
  TSDL_SPACE_FIELD,
  TSDL_SPACE_CLOCK,
  TSDL_SPACE_ENV,
  TSDL_SPACES,
};

enum tsdl_keyword {
  TSDL_NO_KEYWORD,
  /* words that can be in the name of a type */
  TSDL_BOOL,
  TSDL_CHAR,
  TSDL_COMPLEX,
  TSDL_DOUBLE,
  TSDL_FLOAT,
  TSDL_IMAGINARY,
  TSDL_INT,
  TSDL_LONG,
  TSDL_SHORT,
  TSDL_SIGNED,
  TSDL_UNSIGNED,
  TSDL_VOID,
  /* words that begin a type */
  TSDL_CONST,
  TSDL_ENUM,
  TSDL_FLOATING_POINT,
  TSDL_INTEGER,
  TSDL_STRING,
  TSDL_STRUCT,
  TSDL_VARIANT,
  /* others */
  TSDL_ALIGN,
  TSDL_CALLSITE,
  TSDL_CLOCK,
  TSDL_ENV,
  TSDL_EVENT,
  TSDL_STREAM,
  TSDL_TRACE,
  TSDL_TYPEALIAS,
  TSDL_TYPEDEF,
};
#define TSDL_IS_NAME_KEYWORD(keyword) ((keyword) >= TSDL_BOOL && (keyword) <= TSDL_VOID)

struct tsdl_type;

/* One declaration of a word, until its scope is left. */
struct tsdl_decl {
  struct tsdl_decl *hidden;   /* the declaration of the same word and space that it hides */
  struct tsdl_decl *previous; /* made before this one, of any word */
  struct tsdl_word *word;
  enum tsdl_space space;
  uint32_t scope;         /* serial number of the scope */
  struct tsdl_type *type; /* TYPE and tags */
  uint32_t frame, member; /* FIELD: which of the structs being placed, which member; CLOCK, ENV:
                                 member is the index in the schema */
};

struct tsdl_word {
  struct tsdl_decl *decls[TSDL_SPACES];
  uint32_t mark, mark_value; /* for passing notes within one function; mark is a serial number */
  uint32_t hash, length;
  enum tsdl_keyword keyword;
  char text[]; /* NUL-ended; lives as long as the schema */
};
#define TSDL_WORD_OF(text_) \
  ((struct tsdl_word *)(void *)((char *)(uintptr_t)(text_)-offsetof(struct tsdl_word, text)))

/* One compilation: words and declarations. */
struct tsdl_session {
  struct kymo_lang_session common;      /* keep: the schema's */
  struct kymo_hash_table words;         /* struct tsdl_word */
  uint32_t serial;                      /* of scopes and marks */
  uint32_t scope;                       /* the innermost one */
  struct tsdl_type *waiting;            /* list by next_waiting */
  struct tsdl_decl *decls, *free_decls; /* the latest declaration; used ones */
};

/* The word of this text; NULL after reporting. */
struct tsdl_word *kymo_tsdl_word(struct tsdl_session *session, const char *text, size_t length);

/* Enters a scope; the result goes to kymo_tsdl_leave. */
uint32_t kymo_tsdl_enter(struct tsdl_session *session);
void kymo_tsdl_leave(struct tsdl_session *session, uint32_t outer);
/* Declares a word in the innermost scope. NULL if it is declared there already (*again is set
 * true) or after reporting. */
struct tsdl_decl *kymo_tsdl_declare(struct tsdl_session *session, enum tsdl_space space,
                                    struct tsdl_word *word, bool *again);
/* " (did you mean \"x\"?)" of the nearest of all words that are declared in a space, or "". */
struct kymo_hint kymo_tsdl_declared_hint(struct tsdl_session *session, enum tsdl_space space,
                                         const char *text);

/* ---- described types ---- */

enum tsdl_kind {
  TSDL_KIND_INTEGER,
  TSDL_KIND_FLOAT,
  TSDL_KIND_STRING,
  TSDL_KIND_ENUM,
  TSDL_KIND_STRUCT,
  TSDL_KIND_VARIANT,
  TSDL_KIND_ARRAY,
  TSDL_KIND_SEQUENCE,
};
enum tsdl_order { TSDL_ORDER_NATIVE, TSDL_ORDER_LITTLE, TSDL_ORDER_BIG };

/* "a.b.c" */
struct tsdl_path {
  uint32_t at, count;
  struct tsdl_word **words;
};

struct tsdl_member {
  uint32_t at;
  struct tsdl_word *word;
  struct tsdl_type *type;
};

struct tsdl_type {
  enum tsdl_kind kind;
  uint32_t at;            /* where it is described */
  struct tsdl_word *name; /* alias, typedef or tag, or NULL */
  uint32_t size, align;   /* INTEGER, FLOAT; STRUCT: align is the least one, or 0 */
  enum tsdl_order order;
  bool is_signed;
  uint8_t base;
  enum kymo_encoding encoding; /* INTEGER, STRING */
  struct tsdl_word *clock;     /* INTEGER: name of the clock that it is mapped to, or NULL */
  uint32_t clock_at;
  struct tsdl_type *element;     /* ARRAY, SEQUENCE; ENUM: the integer it is made of */
  uint32_t count;                /* ENUM: mappings; STRUCT, VARIANT: members */
  struct kymo_mapping *mappings; /* their names are words */
  struct tsdl_member *members;
  bool has_body;         /* STRUCT, VARIANT, ENUM: members or mappings were given */
  uint64_t length;       /* ARRAY */
  struct tsdl_path path; /* SEQUENCE: length, or env.NAME; VARIANT: tag, count 0 if not given */
  bool has_reference;    /* it or a part of it depends on its place */
  uint32_t depth;        /* compounds inside one another, itself included */
  bool is_waiting;       /* SEQUENCE named outside of structs that nothing used yet */
  struct tsdl_type *next_waiting;
  const struct kymo_type *placed; /* if it was placed and does not depend on its place */
};

/* ---- blocks ---- */

enum tsdl_value_kind { TSDL_VALUE_INTEGER, TSDL_VALUE_STRING, TSDL_VALUE_NAME, TSDL_VALUE_TYPE };

struct tsdl_value {
  enum tsdl_value_kind kind;
  uint32_t at;
  bool is_negative; /* INTEGER: value is -magnitude */
  uint64_t magnitude;
  struct tsdl_word *word; /* STRING; NAME: the whole path with dots */
  struct tsdl_type *type;
};

struct tsdl_attribute {
  struct tsdl_attribute *next;
  struct tsdl_word *name; /* the whole path with dots */
  uint32_t at;
  struct tsdl_value value;
};

struct tsdl_block {
  struct tsdl_block *next;
  enum tsdl_keyword kind; /* TRACE, STREAM, EVENT, CLOCK, ENV */
  uint32_t at;
  struct tsdl_attribute *attributes;
};

/* Parses the whole text; the blocks in their order, *blocks NULL if there are none.
 * False after reporting. */
bool kymo_tsdl_parse(struct tsdl_session *session, struct tsdl_block **blocks);

#endif
