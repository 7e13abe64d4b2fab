/* SPDX-License-Identifier: MIT */
/*
 * Types: specifiers (what a member is of), declarators (stars, name, lengths), and what they are
 * made of. A declarator with several lengths is an array of arrays, the first one outermost:
 *
 *   uint8_t a[2][n];   ►   array 2 of sequence n of uint8_t
 */
#include "lang/tsdl/parser.h"
#include "schema/parts.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define KEY_WORDS_MAX 8

/* The lengths after a name, outermost first. */
struct dimensions {
  uint32_t count;
  struct dimension {
    uint32_t at;
    bool is_path;
    uint64_t length;
    struct tsdl_path path;
  } list[TSDL_DEPTH_MAX];
};

struct declarator {
  uint32_t at;
  struct tsdl_word *name;
  struct tsdl_type *type;
};

static bool parse_struct_or_variant(struct tsdl_parser *parser, struct tsdl_specifier *specifier);
static bool parse_enum(struct tsdl_parser *parser, struct tsdl_specifier *specifier);

static struct tsdl_type *new_type(struct tsdl_parser *parser, enum tsdl_kind kind, uint32_t at) {
  struct tsdl_type *type = kymo_lang_new(parser->session, 1, sizeof *type);
  if (type) {
    type->kind = kind;
    type->at = at;
  }
  return type;
}

/* Notes the properties of a part in its compound. */
static bool add_part(struct tsdl_parser *parser, struct tsdl_type *type, const struct tsdl_type *part) {
  type->has_reference |= part->has_reference;
  if (part->depth + 1 > type->depth)
    type->depth = part->depth + 1;
  if (type->depth > TSDL_DEPTH_MAX)
    return kymo_lang_fail(parser->session, type->at, "types nested deeper than %d", TSDL_DEPTH_MAX);
  return true;
}

/* ---- names of types ---- */

/* The words of an alias's name joined by blanks, and the text after them, as one word. */
static struct tsdl_word *join_key(struct tsdl_parser *parser, struct tsdl_word *const *words, uint32_t count,
                                  const char *suffix) {
  if (count == 1 && !suffix[0])
    return words[0];
  size_t size = strlen(suffix) + 1, length = 0;
  for (uint32_t i = 0; i < count; i++)
    size += words[i]->length + 1;
  char *text = kymo_lang_new(parser->session, size, 1);
  if (!text)
    return NULL;
  for (uint32_t i = 0; i < count; i++)
    length += (size_t)snprintf(text + length, size - length, "%s%s", i > 0 ? " " : "", words[i]->text);
  length += (size_t)snprintf(text + length, size - length, "%s", suffix);
  return kymo_tsdl_word(parser->session, text, length);
}

/* "unsigned long", "uint8_t": words of C, or one other. */
static bool parse_key(struct tsdl_parser *parser, struct tsdl_specifier *specifier) {
  struct tsdl_word *words[KEY_WORDS_MAX];
  uint32_t count = 0;
  bool is_other = false;
  while (parser->token.kind == TSDL_TOKEN_WORD) {
    enum tsdl_keyword keyword = parser->token.word->keyword;
    bool is_first_other = keyword == TSDL_NO_KEYWORD && count == 0;
    if (keyword != TSDL_CONST && !is_first_other && (is_other || !TSDL_IS_NAME_KEYWORD(keyword)))
      break;
    if (count == KEY_WORDS_MAX)
      return kymo_lang_fail(parser->session, parser->token.at, "too many words in the name of a type");
    if (keyword == TSDL_CONST)
      specifier->is_const = true;
    else
      words[count++] = parser->token.word;
    is_other |= is_first_other;
    kymo_tsdl_next(parser);
  }
  if (count == 0)
    return kymo_tsdl_unexpected(parser, "a type");
  specifier->key = join_key(parser, words, count, "");
  return specifier->key != NULL;
}

/* " *" for each star, with the const of pointers dropped. */
static bool parse_stars(struct tsdl_parser *parser, char *stars, size_t size) {
  size_t length = 0;
  stars[0] = '\0';
  while (parser->token.kind == '*') {
    if (length + 3 > size)
      return kymo_lang_fail(parser->session, parser->token.at, "too many stars");
    memcpy(stars + length, " *", 3);
    length += 2;
    kymo_tsdl_next(parser);
    while (kymo_tsdl_at_keyword(parser, TSDL_CONST))
      kymo_tsdl_next(parser);
  }
  return true;
}

static struct tsdl_type *find_alias(struct tsdl_parser *parser, const struct tsdl_specifier *specifier,
                                    struct tsdl_word *key) {
  struct tsdl_decl *decl = NULL;
  if (specifier->is_const) {
    struct tsdl_word *with_const = join_key(parser, &key, 1, " const");
    if (!with_const)
      return NULL;
    decl = with_const->decls[TSDL_SPACE_TYPE];
  }
  if (!decl)
    decl = key->decls[TSDL_SPACE_TYPE];
  if (decl)
    return decl->type;
  kymo_lang_fail(parser->session, specifier->at, "unknown type \"%.100s\"%s", key->text,
                 kymo_tsdl_declared_hint(parser->session, TSDL_SPACE_TYPE, key->text).text);
  return NULL;
}

struct tsdl_type *kymo_tsdl_parse_pointers(struct tsdl_parser *parser,
                                           const struct tsdl_specifier *specifier) {
  char stars[33];
  uint32_t at = parser->token.at;
  if (!parse_stars(parser, stars, sizeof stars))
    return NULL;
  if (!stars[0])
    return specifier->type ? specifier->type : find_alias(parser, specifier, specifier->key);
  if (!specifier->key) {
    kymo_lang_fail(parser->session, at, "only types with a name have pointers");
    return NULL;
  }
  struct tsdl_word *key = join_key(parser, &specifier->key, 1, stars);
  return key ? find_alias(parser, specifier, key) : NULL;
}

/* ---- specifiers ---- */

static bool parse_scalar(struct tsdl_parser *parser, struct tsdl_specifier *specifier, enum tsdl_kind kind) {
  struct tsdl_attribute *attributes = NULL;
  struct tsdl_type *type = new_type(parser, kind, parser->token.at);
  if (!type)
    return false;
  kymo_tsdl_next(parser);
  type->encoding = kind == TSDL_KIND_STRING ? KYMO_ENCODING_UTF8 : KYMO_ENCODING_NONE;
  specifier->type = type;
  if (kind == TSDL_KIND_STRING && parser->token.kind != '{')
    return true;
  if (!kymo_tsdl_parse_attributes(parser, &attributes))
    return false;
  return kind == TSDL_KIND_INTEGER  ? kymo_tsdl_integer_attributes(parser->session, type, attributes)
         : kind == TSDL_KIND_STRING ? kymo_tsdl_string_attributes(parser->session, type, attributes)
                                    : kymo_tsdl_float_attributes(parser->session, type, attributes);
}

static bool parse_described(struct tsdl_parser *parser, struct tsdl_specifier *specifier,
                            enum tsdl_keyword keyword) {
  switch (keyword) {
  case TSDL_INTEGER: return parse_scalar(parser, specifier, TSDL_KIND_INTEGER);
  case TSDL_FLOATING_POINT: return parse_scalar(parser, specifier, TSDL_KIND_FLOAT);
  case TSDL_STRING: return parse_scalar(parser, specifier, TSDL_KIND_STRING);
  case TSDL_ENUM: return parse_enum(parser, specifier);
  default: return parse_struct_or_variant(parser, specifier);
  }
}

static bool begins_described(enum tsdl_keyword keyword) {
  return keyword >= TSDL_ENUM && keyword <= TSDL_VARIANT;
}

bool kymo_tsdl_parse_specifier(struct tsdl_parser *parser, struct tsdl_specifier *specifier) {
  *specifier = (struct tsdl_specifier){.at = parser->token.at};
  while (kymo_tsdl_at_keyword(parser, TSDL_CONST)) {
    specifier->is_const = true;
    kymo_tsdl_next(parser);
  }
  if (parser->token.kind != TSDL_TOKEN_WORD)
    return kymo_tsdl_unexpected(parser, "a type");
  enum tsdl_keyword keyword = parser->token.word->keyword;
  if (!begins_described(keyword))
    return parse_key(parser, specifier);
  if (parser->depth > TSDL_DEPTH_MAX)
    return kymo_lang_fail(parser->session, parser->token.at, "types nested deeper than %d", TSDL_DEPTH_MAX);
  parser->depth++;
  bool ok = parse_described(parser, specifier, keyword);
  parser->depth--;
  while (ok && kymo_tsdl_at_keyword(parser, TSDL_CONST))
    kymo_tsdl_next(parser);
  return ok;
}

/* ---- declarators ---- */

static bool parse_dimension(struct tsdl_parser *parser, struct dimensions *dimensions) {
  if (dimensions->count == TSDL_DEPTH_MAX)
    return kymo_lang_fail(parser->session, parser->token.at, "more than %d lengths", TSDL_DEPTH_MAX);
  struct dimension *dimension = &dimensions->list[dimensions->count++];
  *dimension = (struct dimension){.at = parser->token.at};
  int kind = parser->token.kind;
  if (kind == TSDL_TOKEN_WORD) {
    dimension->is_path = true;
    enum tsdl_keyword keyword = parser->token.word->keyword;
    if (keyword && keyword != TSDL_TRACE && keyword != TSDL_STREAM && keyword != TSDL_EVENT &&
        keyword != TSDL_ENV)
      return kymo_tsdl_unexpected(parser, "a length");
    if (!kymo_tsdl_parse_path(parser, &dimension->path))
      return false;
  } else if (kind == '-' || kind == '+' || kind == TSDL_TOKEN_NUMBER) {
    struct tsdl_value value = {0};
    if (!kymo_tsdl_parse_number(parser, &value))
      return false;
    if (value.is_negative && value.magnitude > 0)
      return kymo_lang_fail(parser->session, value.at,
                            "expected a length, found the negative number -%" PRIu64, value.magnitude);
    dimension->length = value.magnitude;
  } else {
    return kymo_tsdl_unexpected(parser, "a length");
  }
  return kymo_tsdl_expect(parser, ']', "\"]\"");
}

/* The name, in any number of parentheses, and the lengths after it. */
static bool parse_name(struct tsdl_parser *parser, struct declarator *declarator,
                       struct dimensions *dimensions, uint32_t depth) {
  if (parser->token.kind == '(') {
    if (depth == TSDL_DEPTH_MAX)
      return kymo_lang_fail(parser->session, parser->token.at, "too many parentheses");
    kymo_tsdl_next(parser);
    if (!parse_name(parser, declarator, dimensions, depth + 1) || !kymo_tsdl_expect(parser, ')', "\")\""))
      return false;
  } else {
    if (parser->token.kind != TSDL_TOKEN_WORD || parser->token.word->keyword)
      return kymo_tsdl_unexpected(parser, "a name");
    declarator->at = parser->token.at;
    declarator->name = parser->token.word;
    kymo_tsdl_next(parser);
  }
  while (parser->token.kind == '[') {
    kymo_tsdl_next(parser);
    if (!parse_dimension(parser, dimensions))
      return false;
  }
  return true;
}

/* Arrays of `type`, the last length innermost. */
static struct tsdl_type *wrap(struct tsdl_parser *parser, struct tsdl_type *type,
                              const struct dimensions *dimensions) {
  for (uint32_t i = dimensions->count; i-- > 0;) {
    const struct dimension *dimension = &dimensions->list[i];
    struct tsdl_type *array =
        new_type(parser, dimension->is_path ? TSDL_KIND_SEQUENCE : TSDL_KIND_ARRAY, dimension->at);
    if (!array || !add_part(parser, array, type))
      return NULL;
    array->element = type;
    array->length = dimension->length;
    array->path = dimension->path;
    array->has_reference |= dimension->is_path;
    type = array;
  }
  return type;
}

static bool parse_declarator(struct tsdl_parser *parser, const struct tsdl_specifier *specifier,
                             struct declarator *declarator) {
  struct dimensions dimensions = {.count = 0};
  struct tsdl_type *type = kymo_tsdl_parse_pointers(parser, specifier);
  if (!type || !parse_name(parser, declarator, &dimensions, 0))
    return false;
  if (parser->token.kind == ':')
    return kymo_lang_fail(parser->session, parser->token.at, "bit fields of C are no part of TSDL");
  return (declarator->type = wrap(parser, type, &dimensions)) != NULL;
}

/* ---- declarations ---- */

/* A named type outside of all structs has no fields around it. A variant with a tag there is
 * refused by all readers; a length may be found where the type is used, if it is. */
static bool check_outside(struct tsdl_parser *parser, struct tsdl_type *type) {
  while (type->kind == TSDL_KIND_ARRAY || type->kind == TSDL_KIND_SEQUENCE) {
    if (type->kind == TSDL_KIND_SEQUENCE && !type->path.words[0]->keyword && !type->is_waiting) {
      type->is_waiting = true;
      type->next_waiting = parser->session->waiting;
      parser->session->waiting = type;
    }
    type = type->element;
  }
  if (type->kind != TSDL_KIND_VARIANT || type->path.count == 0 || type->path.words[0]->keyword)
    return true;
  return kymo_lang_fail(parser->session, type->path.at, "there is no field \"%.100s\" here",
                        type->path.words[0]->text);
}

/* "struct", "variant", "enum" for their spaces of names, "" for that of aliases. */
static const char *keyword_of(enum tsdl_space space) {
  return space == TSDL_SPACE_STRUCT    ? "struct"
         : space == TSDL_SPACE_VARIANT ? "variant"
         : space == TSDL_SPACE_ENUM    ? "enum"
                                       : "";
}

/* As the type is used: "point_t", "struct point". */
static struct tsdl_word *name_as_used(struct tsdl_parser *parser, enum tsdl_space space,
                                      struct tsdl_word *name) {
  if (space == TSDL_SPACE_TYPE)
    return name;
  size_t size = name->length + sizeof "variant ";
  char *text = kymo_lang_new(parser->session, size, 1);
  int length = text ? snprintf(text, size, "%s %s", keyword_of(space), name->text) : 0;
  return text ? kymo_tsdl_word(parser->session, text, (size_t)length) : NULL;
}

static bool declare_type(struct tsdl_parser *parser, enum tsdl_space space, struct tsdl_word *name,
                         uint32_t at, struct tsdl_type *type) {
  bool again = false;
  struct tsdl_decl *decl = kymo_tsdl_declare(parser->session, space, name, &again);
  if (!decl)
    return again ? kymo_lang_fail(parser->session, at, "a second type named \"%.100s\" in this scope",
                                  name->text)
                 : false;
  decl->type = type;
  if (!type->name && !(type->name = name_as_used(parser, space, name)))
    return false;
  return parser->depth > (space != TSDL_SPACE_TYPE) || check_outside(parser, type);
}

static bool parse_typedef(struct tsdl_parser *parser) {
  struct tsdl_specifier specifier;
  kymo_tsdl_next(parser);
  if (!kymo_tsdl_parse_specifier(parser, &specifier))
    return false;
  for (;;) {
    struct declarator declarator;
    if (!parse_declarator(parser, &specifier, &declarator) ||
        !declare_type(parser, TSDL_SPACE_TYPE, declarator.name, declarator.at, declarator.type))
      return false;
    if (parser->token.kind != ',')
      return kymo_tsdl_expect(parser, ';', "\";\"");
    kymo_tsdl_next(parser);
  }
}

static bool parse_typealias(struct tsdl_parser *parser) {
  struct tsdl_specifier specifier, name = {0};
  char stars[33];
  struct dimensions dimensions = {.count = 0};
  kymo_tsdl_next(parser);
  struct tsdl_type *type =
      kymo_tsdl_parse_specifier(parser, &specifier) ? kymo_tsdl_parse_pointers(parser, &specifier) : NULL;
  if (!type || !kymo_tsdl_expect(parser, TSDL_TOKEN_IS_TYPE, "\":=\""))
    return false;
  name.at = parser->token.at;
  if (!parse_key(parser, &name) || !parse_stars(parser, stars, sizeof stars))
    return false;
  struct tsdl_word *key = join_key(parser, &name.key, 1, stars);
  if (key && name.is_const)
    key = join_key(parser, &key, 1, " const");
  while (parser->token.kind == '[') {
    kymo_tsdl_next(parser);
    if (!parse_dimension(parser, &dimensions))
      return false;
  }
  return key && (type = wrap(parser, type, &dimensions)) &&
         declare_type(parser, TSDL_SPACE_TYPE, key, name.at, type) && kymo_tsdl_expect(parser, ';', "\";\"");
}

bool kymo_tsdl_at_declaration(const struct tsdl_parser *parser) {
  return kymo_tsdl_at_keyword(parser, TSDL_TYPEDEF) || kymo_tsdl_at_keyword(parser, TSDL_TYPEALIAS) ||
         kymo_tsdl_at_keyword(parser, TSDL_STRUCT) || kymo_tsdl_at_keyword(parser, TSDL_VARIANT) ||
         kymo_tsdl_at_keyword(parser, TSDL_ENUM);
}

bool kymo_tsdl_parse_declaration(struct tsdl_parser *parser) {
  if (kymo_tsdl_at_keyword(parser, TSDL_TYPEDEF))
    return parse_typedef(parser);
  if (kymo_tsdl_at_keyword(parser, TSDL_TYPEALIAS))
    return parse_typealias(parser);
  struct tsdl_specifier specifier;
  if (!kymo_tsdl_parse_specifier(parser, &specifier))
    return false;
  if (!specifier.is_new)
    return kymo_lang_fail(parser->session, specifier.at, "this declares nothing: expected a name and a body");
  return kymo_tsdl_expect(parser, ';', "\";\"");
}

/* ---- struct and variant ---- */

static bool add_member(struct tsdl_parser *parser, struct tsdl_type *type,
                       const struct declarator *declarator) {
  bool again = false;
  if (!kymo_tsdl_declare(parser->session, TSDL_SPACE_MEMBER, declarator->name, &again))
    return again ? kymo_lang_fail(parser->session, declarator->at, "a second member \"%.100s\"",
                                  declarator->name->text)
                 : false;
  struct tsdl_member *members = kymo_tsdl_grow(parser->session, type->members, type->count, sizeof *members);
  if (!members || !add_part(parser, type, declarator->type))
    return false;
  type->members = members;
  members[type->count++] = (struct tsdl_member){declarator->at, declarator->name, declarator->type};
  return true;
}

/* "TYPE name, name[3];" */
static bool parse_members(struct tsdl_parser *parser, struct tsdl_type *type) {
  struct tsdl_specifier specifier;
  if (!kymo_tsdl_parse_specifier(parser, &specifier))
    return false;
  if (specifier.is_new && parser->token.kind == ';') {
    kymo_tsdl_next(parser);
    return true;
  }
  for (;;) {
    struct declarator declarator;
    if (!parse_declarator(parser, &specifier, &declarator) || !add_member(parser, type, &declarator))
      return false;
    if (parser->token.kind != ',')
      return kymo_tsdl_expect(parser, ';', "\";\"");
    kymo_tsdl_next(parser);
  }
}

static bool parse_body(struct tsdl_parser *parser, struct tsdl_type *type) {
  uint32_t outer = kymo_tsdl_enter(parser->session);
  kymo_tsdl_next(parser);
  type->has_body = true;
  while (parser->token.kind != '}') {
    bool is_alias =
        kymo_tsdl_at_keyword(parser, TSDL_TYPEDEF) || kymo_tsdl_at_keyword(parser, TSDL_TYPEALIAS);
    if (parser->token.kind == ';')
      kymo_tsdl_next(parser);
    else if (parser->token.kind != TSDL_TOKEN_WORD)
      return kymo_tsdl_unexpected(parser, "a type or \"}\"");
    else if (is_alias ? !kymo_tsdl_parse_declaration(parser) : !parse_members(parser, type))
      return false;
  }
  kymo_tsdl_leave(parser->session, outer);
  kymo_tsdl_next(parser);
  if (type->kind == TSDL_KIND_VARIANT && type->count == 0)
    return kymo_lang_fail(parser->session, type->at, "this variant has no options");
  return true;
}

/* "align(8)" after a struct. */
static bool parse_align(struct tsdl_parser *parser, struct tsdl_type *type) {
  struct tsdl_value value = {0};
  kymo_tsdl_next(parser);
  if (!kymo_tsdl_expect(parser, '(', "\"(\"") || !kymo_tsdl_parse_number(parser, &value) ||
      !kymo_tsdl_expect(parser, ')', "\")\""))
    return false;
  uint64_t align = value.magnitude;
  if ((value.is_negative && align > 0) || align == 0 || align > UINT32_MAX || (align & (align - 1)))
    return kymo_lang_fail(parser->session, value.at, "expected a power of two below 2^32, found %s%" PRIu64,
                          value.is_negative ? "-" : "", align);
  type->align = (uint32_t)align;
  return true;
}

/* "<a.b>" after variant. */
static bool parse_tag(struct tsdl_parser *parser, struct tsdl_path *path) {
  kymo_tsdl_next(parser);
  if (parser->token.kind != TSDL_TOKEN_WORD)
    return kymo_tsdl_unexpected(parser, "the name of the tag");
  return kymo_tsdl_parse_path(parser, path) && kymo_tsdl_expect(parser, '>', "\">\"");
}

/* The type that a tag names; `space` says of which kind. */
static struct tsdl_type *find_tagged(struct tsdl_parser *parser, enum tsdl_space space,
                                     const struct tsdl_word *name, uint32_t at) {
  if (name->decls[space])
    return name->decls[space]->type;
  kymo_lang_fail(parser->session, at, "unknown %s \"%.100s\"%s", keyword_of(space), name->text,
                 kymo_tsdl_declared_hint(parser->session, space, name->text).text);
  return NULL;
}

/* The name after struct, variant or enum, or NULL. */
static struct tsdl_word *parse_type_name(struct tsdl_parser *parser, uint32_t *at) {
  *at = parser->token.at;
  if (parser->token.kind != TSDL_TOKEN_WORD || parser->token.word->keyword)
    return NULL;
  struct tsdl_word *name = parser->token.word;
  kymo_tsdl_next(parser);
  return name;
}

/* A known type by its tag, and a variant with the tag field given where it is used. */
static bool use_tagged(struct tsdl_parser *parser, struct tsdl_specifier *specifier, enum tsdl_space space,
                       const struct tsdl_path *path) {
  struct tsdl_type *known = find_tagged(parser, space, specifier->key, specifier->at);
  specifier->key = NULL;
  specifier->type = known;
  if (!known || path->count == 0)
    return known != NULL;
  if (known->path.count > 0)
    return kymo_lang_fail(parser->session, path->at, "this variant has a tag already: \"%.100s\"",
                          known->path.words[known->path.count - 1]->text);
  struct tsdl_type *tagged = new_type(parser, TSDL_KIND_VARIANT, specifier->at);
  if (!tagged)
    return false;
  *tagged = *known;
  tagged->at = specifier->at;
  tagged->path = *path;
  specifier->type = tagged;
  return true;
}

static bool parse_struct_or_variant(struct tsdl_parser *parser, struct tsdl_specifier *specifier) {
  bool is_struct = kymo_tsdl_at_keyword(parser, TSDL_STRUCT);
  struct tsdl_type *type =
      new_type(parser, is_struct ? TSDL_KIND_STRUCT : TSDL_KIND_VARIANT, parser->token.at);
  uint32_t name_at;
  if (!type)
    return false;
  kymo_tsdl_next(parser);
  struct tsdl_word *name = parse_type_name(parser, &name_at);
  if (!is_struct && parser->token.kind == '<' && !parse_tag(parser, &type->path))
    return false;
  enum tsdl_space space = is_struct ? TSDL_SPACE_STRUCT : TSDL_SPACE_VARIANT;
  if (parser->token.kind != '{') {
    if (!name)
      return kymo_tsdl_unexpected(parser, is_struct ? "a name or \"{\"" : "a name, \"<\" or \"{\"");
    specifier->key = name;
    specifier->at = name_at;
    return use_tagged(parser, specifier, space, &type->path);
  }
  type->depth = 1;
  type->has_reference = !is_struct;
  if (!parse_body(parser, type))
    return false;
  if (is_struct && kymo_tsdl_at_keyword(parser, TSDL_ALIGN) && !parse_align(parser, type))
    return false;
  specifier->type = type;
  specifier->is_new = name != NULL;
  return !name || declare_type(parser, space, name, name_at, type);
}

/* ---- enum ---- */

/* The integer that the enumeration is made of: after ':', or the alias "int". */
static struct tsdl_type *parse_container(struct tsdl_parser *parser, uint32_t at) {
  struct tsdl_specifier specifier;
  struct tsdl_type *type = NULL;
  if (parser->token.kind == ':') {
    kymo_tsdl_next(parser);
    at = parser->token.at;
    if (kymo_tsdl_parse_specifier(parser, &specifier))
      type = kymo_tsdl_parse_pointers(parser, &specifier);
  } else {
    struct tsdl_word *word = kymo_tsdl_word(parser->session, "int", 3);
    if (word && word->decls[TSDL_SPACE_TYPE])
      type = word->decls[TSDL_SPACE_TYPE]->type;
    else
      kymo_lang_fail(parser->session, at, "an enumeration without a type needs an alias named \"int\"");
  }
  if (type && type->kind != TSDL_KIND_INTEGER) {
    kymo_lang_fail(parser->session, at, "expected an integer as the type of an enumeration");
    return NULL;
  }
  return type;
}

/* One end of a range, as 64 bits of the container's signedness. */
static bool parse_bound(struct tsdl_parser *parser, bool is_signed, uint64_t *bound) {
  struct tsdl_value value = {0};
  if (!kymo_tsdl_parse_number(parser, &value))
    return false;
  bool is_negative = value.is_negative && value.magnitude > 0;
  uint64_t most = !is_signed ? UINT64_MAX : is_negative ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX;
  if (value.magnitude > most || (is_negative && !is_signed))
    return kymo_lang_fail(parser->session, value.at, "expected %s number of 64 bits, found %s%" PRIu64,
                          is_signed ? "a signed" : "an unsigned", is_negative ? "-" : "", value.magnitude);
  *bound = is_negative ? 0 - value.magnitude : value.magnitude;
  return true;
}

/* The value of the next mapping without one: the highest of the last mapping plus one. */
struct counter {
  uint64_t next;
  bool is_over;
};

static bool parse_range(struct tsdl_parser *parser, bool is_signed, struct counter *counter,
                        struct kymo_mapping *mapping) {
  uint32_t at = parser->token.at;
  mapping->low = mapping->high = counter->next;
  if (parser->token.kind == '=') {
    kymo_tsdl_next(parser);
    at = parser->token.at;
    if (!parse_bound(parser, is_signed, &mapping->low))
      return false;
    mapping->high = mapping->low;
    if (parser->token.kind == TSDL_TOKEN_DOTS) {
      kymo_tsdl_next(parser);
      if (!parse_bound(parser, is_signed, &mapping->high))
        return false;
    }
  } else if (counter->is_over) {
    return kymo_lang_fail(parser->session, at, "expected \"=\": no 64-bit number follows the last one");
  }
  if (is_signed ? (int64_t)mapping->low > (int64_t)mapping->high : mapping->low > mapping->high)
    return kymo_lang_fail(parser->session, at, "this range ends before it begins");
  counter->is_over = mapping->high == (is_signed ? (uint64_t)INT64_MAX : UINT64_MAX);
  counter->next = mapping->high + 1;
  return true;
}

static bool parse_mappings(struct tsdl_parser *parser, struct tsdl_type *type) {
  struct counter counter = {0};
  while (parser->token.kind == TSDL_TOKEN_WORD || parser->token.kind == TSDL_TOKEN_TEXT) {
    struct kymo_mapping *mappings =
        kymo_tsdl_grow(parser->session, type->mappings, type->count, sizeof *mappings);
    if (!mappings)
      return false;
    type->mappings = mappings;
    mappings[type->count].name = parser->token.word->text;
    kymo_tsdl_next(parser);
    if (!parse_range(parser, type->element->is_signed, &counter, &mappings[type->count++]))
      return false;
    if (parser->token.kind != ',')
      break;
    kymo_tsdl_next(parser);
  }
  if (type->count == 0)
    return kymo_tsdl_unexpected(parser, "a label");
  return kymo_tsdl_expect(parser, '}', "\",\" or \"}\"");
}

/* Puts the mappings of each label after one another, labels in the order of their first one,
 * into memory that the schema keeps. */
static bool group_mappings(struct tsdl_parser *parser, struct tsdl_type *type) {
  uint32_t mark = ++parser->session->serial, labels = 0, count = type->count;
  uint32_t *starts = kymo_lang_new(parser->session, count, sizeof *starts);
  struct kymo_mapping *grouped = kymo_lang_keep(parser->session, count, sizeof *grouped);
  if (!starts || !grouped)
    return false;
  for (uint32_t i = 0; i < count; i++) {
    struct tsdl_word *word = TSDL_WORD_OF(type->mappings[i].name);
    if (word->mark != mark)
      word->mark_value = labels++;
    word->mark = mark;
    starts[word->mark_value]++;
  }
  for (uint32_t i = 0, at = 0; i < labels; i++) {
    uint32_t size = starts[i];
    starts[i] = at;
    at += size;
  }
  for (uint32_t i = 0; i < count; i++)
    grouped[starts[TSDL_WORD_OF(type->mappings[i].name)->mark_value]++] = type->mappings[i];
  type->mappings = grouped;
  return true;
}

static bool parse_enum(struct tsdl_parser *parser, struct tsdl_specifier *specifier) {
  struct tsdl_type *type = new_type(parser, TSDL_KIND_ENUM, parser->token.at);
  uint32_t name_at, at = parser->token.at;
  if (!type)
    return false;
  kymo_tsdl_next(parser);
  struct tsdl_word *name = parse_type_name(parser, &name_at);
  if (name && parser->token.kind != '{' && parser->token.kind != ':') {
    specifier->type = find_tagged(parser, TSDL_SPACE_ENUM, name, name_at);
    return specifier->type != NULL;
  }
  if (!(type->element = parse_container(parser, at)) || !kymo_tsdl_expect(parser, '{', "\"{\""))
    return false;
  type->has_body = true;
  if (!parse_mappings(parser, type) || !group_mappings(parser, type))
    return false;
  specifier->type = type;
  specifier->is_new = name != NULL;
  return !name || declare_type(parser, TSDL_SPACE_ENUM, name, name_at, type);
}
