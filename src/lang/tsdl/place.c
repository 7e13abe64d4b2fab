/* SPDX-License-Identifier: MIT */
/*
 * Described types at their place: references are resolved, the native byte order and clocks
 * are known, and integers of headers and packet contexts get their roles by name.
 */
#include "lang/tsdl/compiler.h"
#include <inttypes.h>
#include <string.h>

#define TOO_MANY_FIELDS "too many fields from so little text"

static const struct kymo_type *place(struct tsdl_compiler *compiler, struct tsdl_type *type,
                                     const struct tsdl_word *name);

static const struct kymo_type *made(struct tsdl_compiler *compiler, uint32_t at,
                                    const struct kymo_type *type) {
  struct kymo_error error;
  const struct kymo_type *interned = kymo_builder_type(compiler->builder, type);
  if (!interned)
    kymo_lang_no_memory(compiler->session);
  else if (kymo_builder_check(compiler->builder, interned, &error) < 0)
    kymo_lang_fail(compiler->session, at, "%s", error.message);
  return compiler->session->common.failed ? NULL : interned;
}

static const char *text_of(const struct tsdl_word *word) { return word ? word->text : NULL; }

static enum kymo_byte_order order_of(const struct tsdl_compiler *compiler, const struct tsdl_type *type) {
  if (type->order == TSDL_ORDER_NATIVE)
    return compiler->schema->order;
  return type->order == TSDL_ORDER_BIG ? KYMO_ORDER_BIG : KYMO_ORDER_LITTLE;
}

/* ---- roles ---- */

static const struct {
  enum kymo_scope scope;
  const char *name;
  uint32_t role;
} roles[] = {
    {KYMO_SCOPE_PACKET_HEADER, "magic", KYMO_ROLE_MAGIC},
    {KYMO_SCOPE_PACKET_HEADER, "stream_id", KYMO_ROLE_STREAM_CLASS_ID},
    {KYMO_SCOPE_PACKET_HEADER, "stream_instance_id", KYMO_ROLE_STREAM_ID},
    {KYMO_SCOPE_PACKET_CONTEXT, "timestamp_begin", KYMO_ROLE_TIMESTAMP},
    {KYMO_SCOPE_PACKET_CONTEXT, "timestamp_end", KYMO_ROLE_TIMESTAMP_END},
    {KYMO_SCOPE_PACKET_CONTEXT, "packet_size", KYMO_ROLE_PACKET_SIZE},
    {KYMO_SCOPE_PACKET_CONTEXT, "content_size", KYMO_ROLE_CONTENT_SIZE},
    {KYMO_SCOPE_PACKET_CONTEXT, "packet_seq_num", KYMO_ROLE_SEQUENCE_NUMBER},
    {KYMO_SCOPE_PACKET_CONTEXT, "events_discarded", KYMO_ROLE_DISCARDED},
    {KYMO_SCOPE_EVENT_HEADER, "id", KYMO_ROLE_EVENT_CLASS_ID},
    {KYMO_SCOPE_EVENT_HEADER, "timestamp", KYMO_ROLE_TIMESTAMP},
};

static uint32_t role_of(const struct tsdl_compiler *compiler, const struct tsdl_word *name) {
  for (size_t i = 0; name && i < sizeof roles / sizeof roles[0]; i++)
    if (roles[i].scope == compiler->scope && strcmp(roles[i].name, kymo_tsdl_shown_name(name)) == 0)
      return roles[i].role;
  return 0;
}

/* The clock of time stamps without a map: the only clock of the trace, or one of nanoseconds without origin
 * if there is none, or NULL. babeltrace reads old traces in this way. */
static const struct kymo_clock *implied_clock(struct tsdl_compiler *compiler) {
  if (compiler->schema->clock_count == 1)
    return compiler->schema->clocks[0];
  if (compiler->schema->clock_count > 1)
    return NULL;
  return kymo_builder_clock(compiler->builder,
                            &(struct kymo_clock){.name = "default", .frequency = 1000000000});
}

/* The clock of an integer, by its map or implied by its role; NULL also after reporting. */
static const struct kymo_clock *clock_of(struct tsdl_compiler *compiler, const struct tsdl_type *type,
                                         uint32_t role) {
  const struct kymo_clock *clock = NULL;
  if (type->clock) {
    const struct tsdl_decl *decl = type->clock->decls[TSDL_SPACE_CLOCK];
    if (!decl) {
      kymo_lang_fail(compiler->session, type->clock_at, "unknown clock \"%.100s\"%s", type->clock->text,
                     kymo_tsdl_declared_hint(compiler->session, TSDL_SPACE_CLOCK, type->clock->text).text);
      return NULL;
    }
    clock = compiler->schema->clocks[decl->member];
  } else if ((role & (KYMO_ROLE_TIMESTAMP | KYMO_ROLE_TIMESTAMP_END)) && compiler->frame_count == 1) {
    clock = implied_clock(compiler);
  }
  bool is_time = compiler->scope == KYMO_SCOPE_PACKET_CONTEXT || compiler->scope == KYMO_SCOPE_EVENT_HEADER;
  if (!clock || !is_time)
    return clock;
  if (compiler->clock && compiler->clock != clock) {
    kymo_lang_fail(compiler->session, type->clock ? type->clock_at : type->at,
                   "a second clock in one stream: \"%.100s\" besides \"%.100s\"", clock->name,
                   compiler->clock->name);
    return NULL;
  }
  compiler->clock = clock;
  return clock;
}

static bool check_role(struct tsdl_compiler *compiler, const struct tsdl_type *type,
                       const struct tsdl_word *name, uint32_t role) {
  const char *shown = role ? kymo_tsdl_shown_name(name) : "";
  if (role && type->is_signed)
    return kymo_lang_fail(compiler->session, type->at,
                          "expected an unsigned integer as \"%s\", found a signed one", shown);
  if (role == KYMO_ROLE_MAGIC && type->size != 32)
    return kymo_lang_fail(compiler->session, type->at, "expected 32 bits as \"magic\", found %" PRIu32,
                          type->size);
  return true;
}

/* ---- scalars ---- */

/* An integer, or an enumeration of this integer. */
static const struct kymo_type *place_integer(struct tsdl_compiler *compiler, const struct tsdl_type *integer,
                                             const struct tsdl_type *enumeration,
                                             const struct tsdl_word *name) {
  uint32_t role = role_of(compiler, name);
  if (!check_role(compiler, integer, name, role))
    return NULL;
  const struct kymo_clock *clock = clock_of(compiler, integer, role);
  if (compiler->session->common.failed)
    return NULL;
  if (clock && compiler->scope == KYMO_SCOPE_EVENT_HEADER && !integer->is_signed)
    role |= KYMO_ROLE_TIMESTAMP;
  else if (!clock)
    role &= ~(uint32_t)(KYMO_ROLE_TIMESTAMP | KYMO_ROLE_TIMESTAMP_END);
  const struct tsdl_word *type_name = enumeration ? enumeration->name : integer->name;
  struct kymo_type type = {.kind = KYMO_KIND_INTEGER,
                           .size_bits = integer->size,
                           .align_bits = integer->align,
                           .order = order_of(compiler, integer),
                           .is_signed = integer->is_signed,
                           .base = integer->base,
                           .encoding = integer->encoding,
                           .roles = role,
                           .clock = clock,
                           .name = text_of(type_name)};
  if (enumeration) {
    type.is_enumeration = true;
    type.mapping_count = enumeration->count;
    type.mappings = enumeration->mappings;
  }
  return made(compiler, (enumeration ? enumeration : integer)->at, &type);
}

static const struct kymo_type *place_float(struct tsdl_compiler *compiler, const struct tsdl_type *type) {
  return made(compiler, type->at,
              &(struct kymo_type){.kind = KYMO_KIND_FLOAT,
                                  .size_bits = type->size,
                                  .align_bits = type->align,
                                  .order = order_of(compiler, type),
                                  .name = text_of(type->name)});
}

static const struct kymo_type *place_string(struct tsdl_compiler *compiler, const struct tsdl_type *type) {
  return made(
      compiler, type->at,
      &(struct kymo_type){.kind = KYMO_KIND_STRING, .encoding = type->encoding, .name = text_of(type->name)});
}

/* ---- arrays ---- */

/* Characters: whole bytes with an encoding. Arrays of them are texts. */
static bool is_character(const struct tsdl_type *type) {
  return type->kind == TSDL_KIND_INTEGER && type->size == 8 && type->align == 8 &&
         type->encoding != KYMO_ENCODING_NONE;
}

static bool is_uuid(const struct tsdl_compiler *compiler, const struct kymo_type *array,
                    const struct tsdl_word *name) {
  const struct kymo_type *element = array->element;
  return compiler->scope == KYMO_SCOPE_PACKET_HEADER && compiler->frame_count == 1 && name &&
         strcmp(kymo_tsdl_shown_name(name), "uuid") == 0 && array->length == 16 &&
         (array->kind == KYMO_KIND_TEXT_ARRAY ||
          (element->kind == KYMO_KIND_INTEGER && element->size_bits == 8 && element->align_bits <= 8));
}

/* The value of env.NAME as a length. */
static bool length_of_environment(struct tsdl_compiler *compiler, const struct tsdl_path *path,
                                  uint64_t *length) {
  struct tsdl_session *session = compiler->session;
  if (path->count != 2)
    return kymo_lang_fail(session, path->at, "expected env.NAME as length");
  const struct tsdl_word *name = path->words[1];
  const struct tsdl_decl *decl = name->decls[TSDL_SPACE_ENV];
  if (!decl)
    return kymo_lang_fail(session, path->at, "the environment has no entry \"%.100s\"%s", name->text,
                          kymo_tsdl_declared_hint(session, TSDL_SPACE_ENV, name->text).text);
  const struct kymo_environment *entry = compiler->schema->environment[decl->member];
  if (entry->text || entry->integer < 0)
    return kymo_lang_fail(session, path->at, "expected a length, but the entry \"%.100s\" is %s", name->text,
                          entry->text ? "a text" : "negative");
  *length = (uint64_t)entry->integer;
  return true;
}

/* The length of a sequence that is another field. */
static bool resolve_length(struct tsdl_compiler *compiler, const struct tsdl_type *type,
                           struct kymo_type *sequence) {
  const struct kymo_type *length = kymo_tsdl_resolve(compiler, &type->path, &sequence->selector);
  if (!length)
    return false;
  if (length->kind != KYMO_KIND_INTEGER || length->is_signed)
    return kymo_lang_fail(compiler->session, type->path.at,
                          "expected an unsigned integer as length, but \"%.100s\" is %s",
                          type->path.words[type->path.count - 1]->text,
                          length->kind == KYMO_KIND_INTEGER ? "signed" : "no integer");
  sequence->selector_type = length;
  return true;
}

static const struct kymo_type *place_array(struct tsdl_compiler *compiler, struct tsdl_type *type,
                                           const struct tsdl_word *name) {
  bool is_text = is_character(type->element), is_fixed = type->kind == TSDL_KIND_ARRAY;
  struct kymo_type array = {.length = type->length, .name = text_of(type->name)};
  type->is_waiting = false;
  if (!is_fixed && type->path.words[0]->keyword == TSDL_ENV) {
    if (!length_of_environment(compiler, &type->path, &array.length))
      return NULL;
    is_fixed = true;
  }
  if (is_fixed)
    array.kind = is_text ? KYMO_KIND_TEXT_ARRAY : KYMO_KIND_ARRAY;
  else
    array.kind = is_text ? KYMO_KIND_TEXT_SEQUENCE : KYMO_KIND_SEQUENCE;
  if (!is_fixed && !resolve_length(compiler, type, &array))
    return NULL;
  if (is_text) {
    array.encoding = type->element->encoding;
  } else {
    compiler->way[compiler->depth++] = KYMO_STEP_ELEMENT;
    array.element = place(compiler, type->element, NULL);
    compiler->depth--;
    if (!array.element)
      return NULL;
  }
  if (is_fixed && is_uuid(compiler, &array, name))
    array.roles = KYMO_ROLE_UUID;
  return made(compiler, type->at, &array);
}

/* ---- struct and variant ---- */

/* Opens a frame; the caller closes it by frame_count--. */
static struct tsdl_frame *open_frame(struct tsdl_compiler *compiler, const struct tsdl_type *type) {
  struct tsdl_frame *frame = &compiler->frames[compiler->frame_count++];
  *frame = (struct tsdl_frame){.type = type, .depth = compiler->depth};
  frame->members = kymo_lang_keep(compiler->session, type->count, sizeof *frame->members);
  return frame->members ? frame : NULL;
}

static bool place_member(struct tsdl_compiler *compiler, struct tsdl_frame *frame, uint32_t index) {
  const struct tsdl_member *described = &frame->type->members[index];
  struct kymo_member *member = &frame->members[index];
  compiler->way[frame->depth] = index;
  compiler->depth = frame->depth + 1;
  member->name = kymo_tsdl_shown_name(described->word);
  member->source_name = described->word->text;
  member->type = place(compiler, described->type, described->word);
  compiler->depth = frame->depth;
  return member->type != NULL;
}

static bool declare_field(struct tsdl_compiler *compiler, const struct tsdl_frame *frame, uint32_t index) {
  bool again = false;
  struct tsdl_decl *decl =
      kymo_tsdl_declare(compiler->session, TSDL_SPACE_FIELD, frame->type->members[index].word, &again);
  if (!decl)
    return false;
  decl->frame = (uint32_t)(frame - compiler->frames);
  decl->member = index;
  return true;
}

static const struct kymo_type *place_struct(struct tsdl_compiler *compiler, const struct tsdl_type *type) {
  struct tsdl_frame *frame = open_frame(compiler, type);
  if (!frame)
    return NULL;
  uint32_t outer = kymo_tsdl_enter(compiler->session);
  for (uint32_t i = 0; i < type->count; i++)
    if (!place_member(compiler, frame, i) || !declare_field(compiler, frame, i))
      return NULL;
  kymo_tsdl_leave(compiler->session, outer);
  compiler->frame_count--;
  return made(compiler, type->at,
              &(struct kymo_type){.kind = KYMO_KIND_STRUCT,
                                  .align_bits = type->align,
                                  .name = text_of(type->name),
                                  .member_count = type->count,
                                  .members = frame->members});
}

/* Gives each option the ranges of the tag that have its name. Labels without an option are
 * allowed; an option without a label could never be chosen. */
static bool share_ranges(struct tsdl_compiler *compiler, const struct tsdl_type *type,
                         const struct kymo_type *tag, struct kymo_member *options) {
  uint32_t mark = ++compiler->session->serial;
  if (compiler->fields_left <= tag->mapping_count)
    return kymo_lang_fail(compiler->session, type->at, TOO_MANY_FIELDS);
  compiler->fields_left -= tag->mapping_count;
  struct kymo_range *ranges = kymo_lang_keep(compiler->session, tag->mapping_count, sizeof *ranges);
  if (!ranges)
    return false;
  for (uint32_t i = 0; i < type->count; i++) {
    type->members[i].word->mark = mark;
    type->members[i].word->mark_value = i;
  }
  /* mappings of one label are adjacent */
  for (uint32_t i = 0; i < tag->mapping_count; i++) {
    const struct tsdl_word *word = TSDL_WORD_OF(tag->mappings[i].name);
    ranges[i] = (struct kymo_range){tag->mappings[i].low, tag->mappings[i].high};
    if (word->mark != mark)
      continue;
    struct kymo_member *option = &options[word->mark_value];
    if (option->range_count++ == 0)
      option->ranges = &ranges[i];
  }
  for (uint32_t i = 0; i < type->count; i++)
    if (options[i].range_count == 0)
      return kymo_lang_fail(compiler->session, type->members[i].at,
                            "the tag \"%.100s\" has no label \"%.100s\"",
                            type->path.words[type->path.count - 1]->text, type->members[i].word->text);
  return true;
}

static const struct kymo_type *place_variant(struct tsdl_compiler *compiler, const struct tsdl_type *type) {
  struct kymo_type variant = {
      .kind = KYMO_KIND_VARIANT, .name = text_of(type->name), .member_count = type->count};
  if (type->path.count == 0) {
    kymo_lang_fail(compiler->session, type->at,
                   "this variant has no tag: expected \"<\" and the name of a field");
    return NULL;
  }
  const struct kymo_type *tag = kymo_tsdl_resolve(compiler, &type->path, &variant.selector);
  if (tag && !tag->is_enumeration)
    kymo_lang_fail(compiler->session, type->path.at, "expected an enumeration as tag, but \"%.100s\" is none",
                   type->path.words[type->path.count - 1]->text);
  if (compiler->session->common.failed)
    return NULL;
  variant.selector_type = tag;
  struct tsdl_frame *frame = open_frame(compiler, type);
  if (!frame || !share_ranges(compiler, type, tag, frame->members))
    return NULL;
  for (uint32_t i = 0; i < type->count; i++)
    if (!place_member(compiler, frame, i))
      return NULL;
  compiler->frame_count--;
  variant.members = frame->members;
  return made(compiler, type->at, &variant);
}

/* ---- all ---- */

static const struct kymo_type *place_any(struct tsdl_compiler *compiler, struct tsdl_type *type,
                                         const struct tsdl_word *name) {
  switch (type->kind) {
  case TSDL_KIND_INTEGER: return place_integer(compiler, type, NULL, name);
  case TSDL_KIND_ENUM: return place_integer(compiler, type->element, type, name);
  case TSDL_KIND_FLOAT: return place_float(compiler, type);
  case TSDL_KIND_STRING: return place_string(compiler, type);
  case TSDL_KIND_STRUCT: return place_struct(compiler, type);
  case TSDL_KIND_VARIANT: return place_variant(compiler, type);
  default: return place_array(compiler, type, name);
  }
}

/* `name` is that of the member that has directly this type, or NULL. */
static const struct kymo_type *place(struct tsdl_compiler *compiler, struct tsdl_type *type,
                                     const struct tsdl_word *name) {
  if (compiler->fields_left == 0 || compiler->depth > TSDL_DEPTH_MAX) {
    kymo_lang_fail(compiler->session, type->at, "%s",
                   compiler->fields_left == 0 ? TOO_MANY_FIELDS : "fields nested too deeply");
    return NULL;
  }
  compiler->fields_left--;
  /* contexts and payloads know no roles, so a type without references is the same everywhere */
  bool is_same_everywhere = !type->has_reference && compiler->scope > KYMO_SCOPE_EVENT_HEADER;
  if (is_same_everywhere && type->placed)
    return type->placed;
  const struct kymo_type *placed = place_any(compiler, type, name);
  if (is_same_everywhere)
    type->placed = placed;
  return placed;
}

const struct kymo_type *kymo_tsdl_place_scope(struct tsdl_compiler *compiler, enum kymo_scope scope,
                                              struct tsdl_type *type) {
  if (type->kind != TSDL_KIND_STRUCT) {
    kymo_lang_fail(compiler->session, type->at, "expected a struct");
    return NULL;
  }
  compiler->scope = scope;
  compiler->depth = 0;
  compiler->frame_count = 0;
  return compiler->roots[scope] = place(compiler, type, NULL);
}
