/* SPDX-License-Identifier: MIT */
#include "sink/export/annotations.h"
#include "base/hash.h"
#include "decode/labels.h"
#include "decode/walk.h"
#include "print/out.h"
#include "schema/attribute.h"
#include "schema/parts.h"
#include <string.h>

enum { NAME_NUMBER = 1, NAME_TEXT = 2 }; /* of EventName, DebugAnnotationName */
enum {                                   /* of DebugAnnotation */
       A_NAME = 1,
       A_BOOL = 2,
       A_UINT = 3,
       A_INT = 4,
       A_DOUBLE = 5,
       A_TEXT = 6,
       A_POINTER = 7,
       A_PLAIN_NAME = 10,
       A_MEMBER = 11,
       A_ELEMENT = 12
};

/* ---- names ---- */

struct interned_name {
  const char *text;
  uint64_t number;
};

static struct interned_name *new_name(struct kymo_interned *interned, const char *name, uint32_t hash) {
  struct interned_name *made = kymo_arena_alloc(&interned->arena, sizeof *made);
  const char *copy = kymo_arena_copy(&interned->arena, name, strlen(name));
  if (!made || !copy || !kymo_hash_table_add(&interned->table, NULL, hash, (uintptr_t)made))
    return NULL;
  *made = (struct interned_name){copy, ++interned->count};
  return made;
}

uint64_t kymo_interned(struct kymo_interned *interned, const char *name, struct kymo_strbuf *names,
                       uint32_t field) {
  const uint32_t hash = (uint32_t)kymo_keyed_text(name, strlen(name));
  uintptr_t item;
  for (uint32_t at = hash; (item = kymo_hash_table_next(&interned->table, hash, &at)) != 0;)
    if (strcmp(((const struct interned_name *)item)->text, name) == 0)
      return ((const struct interned_name *)item)->number;
  const struct interned_name *made = new_name(interned, name, hash);
  if (!made) {
    names->failed = true;
    return 0;
  }
  const size_t at = kymo_proto_open(names, field);
  kymo_proto_number(names, NAME_NUMBER, made->number);
  kymo_proto_name(names, NAME_TEXT, name);
  kymo_proto_close(names, at);
  return made->number;
}

void kymo_interned_free(struct kymo_interned *interned) {
  kymo_hash_table_free(&interned->table);
  kymo_arena_free(&interned->arena);
}

/* ---- values ---- */

/* {value: 1, label: "OPEN"}; flags have their labels together. */
static void add_labelled(struct kymo_strbuf *out, const struct kymo_value *value) {
  struct kymo_labels labels = kymo_labels_begin(value->type, value->u);
  size_t at = kymo_proto_open(out, A_MEMBER);
  kymo_proto_name(out, A_PLAIN_NAME, "value");
  kymo_proto_number(out, value->type->is_signed ? A_INT : A_UINT, value->u);
  kymo_proto_close(out, at);
  const char *label = kymo_labels_next(&labels);
  if (!label)
    return;
  at = kymo_proto_open(out, A_MEMBER);
  kymo_proto_name(out, A_PLAIN_NAME, "label");
  const size_t text = kymo_proto_open(out, A_TEXT);
  for (const char *gap = ""; label; label = kymo_labels_next(&labels), gap = "|") {
    kymo_strbuf_puts(out, gap);
    kymo_proto_characters(out, label, strlen(label), KYMO_ENCODING_UTF8);
  }
  kymo_proto_close(out, text);
  kymo_proto_close(out, at);
}

static void add_integer(struct kymo_strbuf *out, const struct kymo_value *value) {
  const struct kymo_type *type = value->type;
  if (type->is_enumeration || type->mapping_count > 0)
    add_labelled(out, value);
  else if (type->kind == KYMO_KIND_BOOLEAN)
    kymo_proto_number(out, A_BOOL, value->u != 0);
  else if (type->is_signed)
    kymo_proto_number(out, A_INT, value->u);
  else
    kymo_proto_number(out, type->base == 16 ? A_POINTER : A_UINT, value->u);
}

static void add_hex(struct kymo_strbuf *out, const struct kymo_value *value) {
  const size_t at = kymo_proto_open(out, A_TEXT);
  for (uint64_t i = 0; i < value->count; i++) {
    char digits[2];
    kymo_put_hex_byte(digits, value->bytes[i]);
    kymo_strbuf_add(out, digits, sizeof digits);
  }
  kymo_proto_close(out, at);
}

static void add_scalar(struct kymo_strbuf *out, enum kymo_token token, const struct kymo_value *value) {
  switch (token) {
  case KYMO_TOKEN_INTEGER: add_integer(out, value); break;
  case KYMO_TOKEN_FLOAT: kymo_proto_double(out, A_DOUBLE, value->f); break;
  case KYMO_TOKEN_TEXT:
    kymo_proto_text(out, A_TEXT, value->bytes, value->count, value->type->encoding);
    break;
  case KYMO_TOKEN_BLOB: add_hex(out, value); break;
  default: break; /* a value that is absent has a name alone */
  }
}

/* ---- structure ---- */

/* A struct or list that is open: the field that its values are in, and its place. */
struct frame {
  uint32_t field;
  bool is_closed; /* a struct that is only there for one element of a list has no message of its own */
  size_t at;
};

struct target {
  struct kymo_annotations *annotations;
  struct kymo_strbuf *out, *names;
  uint32_t name_field;
};

static bool is_list(const struct kymo_type *type) {
  return type->kind == KYMO_KIND_ARRAY || type->kind == KYMO_KIND_SEQUENCE;
}
static bool is_around(const struct kymo_type *type) { return !is_list(type) && kymo_element_member(type); }

static size_t open_annotation(const struct target *to, uint32_t field, const char *name) {
  const size_t at = kymo_proto_open(to->out, field);
  if (field != A_ELEMENT)
    kymo_proto_number(to->out, A_NAME,
                      kymo_interned(&to->annotations->interned, name, to->names, to->name_field));
  return at;
}

static const char *name_of(const struct kymo_value *value) {
  return value->member && value->member->name ? value->member->name : "";
}

static void add_value(const struct target *to, struct frame *frames, int *depth, enum kymo_token token,
                      const struct kymo_value *value) {
  const uint32_t field = frames[*depth].field;
  if (token == KYMO_TOKEN_BEGIN && is_around(value->type)) {
    frames[++*depth] = (struct frame){.field = field, .is_closed = true};
    return;
  }
  const size_t at = open_annotation(to, field, name_of(value));
  if (token == KYMO_TOKEN_BEGIN) {
    frames[++*depth] = (struct frame){.field = is_list(value->type) ? A_ELEMENT : A_MEMBER, .at = at};
    return;
  }
  add_scalar(to->out, token, value);
  kymo_proto_close(to->out, at);
}

static void close_frame(const struct target *to, const struct frame *frame) {
  if (!frame->is_closed)
    kymo_proto_close(to->out, frame->at);
}

static void add_fields(const struct target *to, uint32_t field, struct kymo_walk *walk) {
  struct frame frames[KYMO_WALK_DEPTH + 1] = {{.field = field, .is_closed = true}};
  struct kymo_value value;
  enum kymo_token token;
  int depth = 0;
  while ((token = kymo_walk_next(walk, &value)) != KYMO_TOKEN_DONE && token != KYMO_TOKEN_ERROR) {
    if (token == KYMO_TOKEN_END)
      close_frame(to, &frames[depth--]);
    else if (frames[depth].field == A_ELEMENT || !value.member || !kymo_member_is_hidden(value.member))
      add_value(to, frames, &depth, token, &value);
  }
  for (; depth > 0; depth--) /* a walk that fails is ended as if it were complete */
    close_frame(to, &frames[depth]);
}

/* ---- events ---- */

bool kymo_annotations_begin(struct kymo_annotations *annotations) {
  *annotations = (struct kymo_annotations){0};
  return kymo_arguments_begin(&annotations->arguments);
}

void kymo_annotations_end(struct kymo_annotations *annotations) {
  kymo_arguments_end(&annotations->arguments);
  kymo_interned_free(&annotations->interned);
}

void kymo_annotations_add(struct kymo_annotations *annotations, const struct kymo_event *event,
                          struct kymo_strbuf *out, uint32_t field, struct kymo_strbuf *names,
                          uint32_t name_field) {
  const struct target to = {annotations, out, names, name_field};
  size_t length;
  const char *message = kymo_arguments_message(&annotations->arguments, event, &length);
  if (message) {
    const size_t at = open_annotation(&to, field, "message");
    kymo_proto_text(out, A_TEXT, message, length, KYMO_ENCODING_UTF8);
    kymo_proto_close(out, at);
  }
  if (kymo_walk_begin(annotations->arguments.walk, event, KYMO_SCOPE_PAYLOAD))
    add_fields(&to, field, annotations->arguments.walk);
}

void kymo_annotations_flag(struct kymo_annotations *annotations, const char *name, struct kymo_strbuf *out,
                           uint32_t field, struct kymo_strbuf *names, uint32_t name_field) {
  const struct target to = {annotations, out, names, name_field};
  const size_t at = open_annotation(&to, field, name);
  kymo_proto_number(out, A_BOOL, 1);
  kymo_proto_close(out, at);
}
