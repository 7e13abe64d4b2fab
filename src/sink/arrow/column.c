/* SPDX-License-Identifier: MIT */
#include "sink/arrow/column.h"
#include "base/hash.h"
#include "base/list.h"
#include "decode/labels.h"
#include "print/unicode.h"
#include "schema/attribute.h"
#include <stdlib.h>
#include <string.h>

#define NO_SLOT UINT32_MAX

/* ---- types ---- */

static bool is_list(const struct kymo_type *type) {
  return type->kind == KYMO_KIND_ARRAY || type->kind == KYMO_KIND_SEQUENCE;
}

static bool is_labelled(const struct kymo_type *type) {
  return type->is_enumeration || type->mapping_count > 0;
}

/* The type of what is there if it is there; and the only member of a struct that is there for one. */
static const struct kymo_type *strip(const struct kymo_type *type) {
  for (;;) {
    const struct kymo_member *inner =
        type->kind == KYMO_KIND_STRUCT || type->kind == KYMO_KIND_UNION ? kymo_element_member(type) : NULL;
    if (type->kind == KYMO_KIND_OPTIONAL)
      type = type->element;
    else if (inner)
      type = inner->type;
    else
      return type;
  }
}

/* The options of a variant, and those of variants in it: *index becomes that of `wanted`; false: it is none
 * of them, and *index is how many there are. */
static bool find_option(const struct kymo_type *variant, const struct kymo_member *wanted, uint32_t *index) {
  for (uint32_t i = 0; i < variant->member_count; i++) {
    const struct kymo_type *type = strip(variant->members[i].type);
    if (type->kind == KYMO_KIND_VARIANT) {
      if (find_option(type, wanted, index))
        return true;
    } else if (&variant->members[i] == wanted) {
      return true;
    } else {
      ++*index;
    }
  }
  return false;
}

/* ---- making ---- */

static bool make(struct kymo_arrow_making *making, struct kymo_arrow_column *column, const char *name,
                 const struct kymo_type *type);

bool kymo_arrow_make(struct kymo_arrow_making *making, struct kymo_arrow_column *column, const char *name,
                     enum kymo_arrow_kind kind) {
  *column = (struct kymo_arrow_column){.kind = kind, .bits = 64, .is_signed = true};
  column->name = kymo_arena_copy(making->arena, name, strlen(name));
  if (kind != KYMO_ARROW_LABEL)
    return column->name != NULL;
  column->dictionary = calloc(1, sizeof *column->dictionary);
  if (!column->dictionary)
    return false;
  column->dictionary->id = making->next_dictionary++;
  return column->name != NULL;
}

static bool make_number(struct kymo_arrow_making *making, struct kymo_arrow_column *column, const char *name,
                        const struct kymo_type *type) {
  const unsigned size = type->kind == KYMO_KIND_VARINT ? 64 : type->size_bits;
  if (!kymo_arrow_make(making, column, name, KYMO_ARROW_INT))
    return false;
  column->bits = size <= 8 ? 8 : size <= 16 ? 16 : size <= 32 ? 32 : 64;
  column->is_signed = type->is_signed;
  return true;
}

/* A label, and beside it the number. */
static bool make_labelled(struct kymo_arrow_making *making, struct kymo_arrow_column *pair, const char *name,
                          const struct kymo_type *type) {
  struct kymo_strbuf text = {0};
  kymo_strbuf_printf(&text, "%s.value", name);
  bool is_made = !text.failed &&
                 kymo_arrow_make(making, pair, name,
                                 type->kind == KYMO_KIND_BITMAP ? KYMO_ARROW_TEXT : KYMO_ARROW_LABEL) &&
                 make_number(making, pair + 1, text.text, type);
  kymo_strbuf_free(&text);
  pair->form = KYMO_ARROW_LABELLED;
  return is_made;
}

/* The name, or with a number if a column before has it. NULL: out of memory. */
static const char *free_name(struct kymo_arrow_making *making, const struct kymo_arrow_column *column,
                             const char *name) {
  struct kymo_strbuf text = {0};
  bool is_taken;
  unsigned number = 1;
  do {
    text.length = 0;
    kymo_strbuf_puts(&text, name);
    if (number > 1)
      kymo_strbuf_printf(&text, "#%u", number);
    is_taken = false;
    for (uint32_t i = 0; i < column->count && !text.failed; i++)
      is_taken |= strcmp(column->columns[i].name, text.text) == 0;
    number++;
  } while (is_taken);
  const char *copy = text.failed ? NULL : kymo_arena_copy(making->arena, text.text, text.length);
  kymo_strbuf_free(&text);
  return copy;
}

/* A member of a struct, or an option: one column or two. */
static bool make_member(struct kymo_arrow_making *making, struct kymo_arrow_column *in, const char *name,
                        const struct kymo_type *type) {
  struct kymo_arrow_column *column = &in->columns[in->count];
  const char *own = free_name(making, in, name);
  bool is_made =
      own && (is_labelled(type) ? make_labelled(making, column, own, type) : make(making, column, own, type));
  in->count += is_labelled(type) ? 2 : 1;
  return is_made;
}

static bool make_space(struct kymo_arrow_making *making, struct kymo_arrow_column *column, uint32_t members) {
  column->columns = kymo_arena_array(making->arena, 2 * (size_t)members + 1, sizeof *column->columns);
  column->slots = kymo_arena_array(making->arena, (size_t)members + 1, sizeof *column->slots);
  column->slot_count = members;
  return column->columns && column->slots;
}

bool kymo_arrow_make_struct(struct kymo_arrow_making *making, struct kymo_arrow_column *column,
                            const char *name, const struct kymo_type *type) {
  if (!kymo_arrow_make(making, column, name, KYMO_ARROW_STRUCT) ||
      !make_space(making, column, type->member_count))
    return false;
  for (uint32_t i = 0; i < type->member_count; i++) {
    const struct kymo_member *member = &type->members[i];
    column->slots[i] = kymo_member_is_hidden(member) ? NO_SLOT : column->count;
    if (column->slots[i] != NO_SLOT &&
        !make_member(making, column, member->name ? member->name : "", strip(member->type)))
      return false;
  }
  return true;
}

static bool make_options(struct kymo_arrow_making *making, struct kymo_arrow_column *column,
                         const struct kymo_type *variant, uint32_t *index) {
  for (uint32_t i = 0; i < variant->member_count; i++) {
    const struct kymo_type *type = strip(variant->members[i].type);
    if (type->kind == KYMO_KIND_VARIANT) {
      if (!make_options(making, column, type, index))
        return false;
      continue;
    }
    column->slots[(*index)++] = column->count;
    if (!make_member(making, column, variant->members[i].name ? variant->members[i].name : "", type))
      return false;
  }
  return true;
}

static bool make_choice(struct kymo_arrow_making *making, struct kymo_arrow_column *column, const char *name,
                        const struct kymo_type *type) {
  uint32_t count = 0, index = 0;
  find_option(type, NULL, &count);
  if (!kymo_arrow_make(making, column, name, KYMO_ARROW_STRUCT) || !make_space(making, column, count))
    return false;
  column->form = KYMO_ARROW_CHOICE;
  return make_options(making, column, type, &index);
}

static bool make_list(struct kymo_arrow_making *making, struct kymo_arrow_column *column, const char *name,
                      const struct kymo_type *type) {
  if (!kymo_arrow_make(making, column, name, KYMO_ARROW_LIST))
    return false;
  column->columns = kymo_arena_array(making->arena, 1, sizeof *column->columns);
  column->count = column->columns ? 1 : 0;
  return column->columns && make(making, column->columns, "item", strip(type->element));
}

/* An element of a list that has a label is a struct. */
static bool make_pair(struct kymo_arrow_making *making, struct kymo_arrow_column *column, const char *name,
                      const struct kymo_type *type) {
  if (!kymo_arrow_make(making, column, name, KYMO_ARROW_STRUCT) || !make_space(making, column, 1))
    return false;
  column->form = KYMO_ARROW_LABELLED;
  return make_member(making, column, "label", type);
}

static bool make(struct kymo_arrow_making *making, struct kymo_arrow_column *column, const char *name,
                 const struct kymo_type *type) {
  if (is_labelled(type))
    return make_pair(making, column, name, type);
  switch (type->kind) {
  case KYMO_KIND_BOOLEAN: return kymo_arrow_make(making, column, name, KYMO_ARROW_BOOL);
  case KYMO_KIND_FLOAT:
    if (!kymo_arrow_make(making, column, name, KYMO_ARROW_FLOAT))
      return false;
    column->bits = type->size_bits <= 32 ? 32 : 64;
    return true;
  case KYMO_KIND_STRING:
  case KYMO_KIND_TEXT_ARRAY:
  case KYMO_KIND_TEXT_SEQUENCE: return kymo_arrow_make(making, column, name, KYMO_ARROW_TEXT);
  case KYMO_KIND_BLOB_ARRAY:
  case KYMO_KIND_BLOB_SEQUENCE: return kymo_arrow_make(making, column, name, KYMO_ARROW_BYTES);
  case KYMO_KIND_ARRAY:
  case KYMO_KIND_SEQUENCE: return make_list(making, column, name, type);
  case KYMO_KIND_STRUCT:
  case KYMO_KIND_UNION: return kymo_arrow_make_struct(making, column, name, type);
  case KYMO_KIND_VARIANT: return make_choice(making, column, name, type);
  default: return make_number(making, column, name, type);
  }
}

bool kymo_arrow_is_same(const struct kymo_arrow_column *one, const struct kymo_arrow_column *other) {
  bool is_same = strcmp(one->name, other->name) == 0 && one->kind == other->kind &&
                 one->form == other->form && one->bits == other->bits && one->is_signed == other->is_signed &&
                 one->count == other->count && one->slot_count == other->slot_count;
  for (uint32_t i = 0; is_same && i < one->slot_count; i++)
    is_same = one->slots[i] == other->slots[i];
  for (uint32_t i = 0; is_same && i < one->count; i++)
    is_same = kymo_arrow_is_same(&one->columns[i], &other->columns[i]);
  return is_same;
}

/* ---- life ---- */

void kymo_arrow_clear(struct kymo_arrow_column *column) {
  column->length = column->null_count = 0;
  column->validity.length = column->offsets.length = column->data.length = 0;
  for (uint32_t i = 0; i < column->count; i++)
    kymo_arrow_clear(&column->columns[i]);
}

void kymo_arrow_free(struct kymo_arrow_column *column) {
  kymo_strbuf_free(&column->validity);
  kymo_strbuf_free(&column->offsets);
  kymo_strbuf_free(&column->data);
  if (column->dictionary) {
    kymo_hash_table_free(&column->dictionary->table);
    kymo_strbuf_free(&column->dictionary->text);
    free(column->dictionary->ends);
    free(column->dictionary);
  }
  for (uint32_t i = 0; i < column->count; i++)
    kymo_arrow_free(&column->columns[i]);
}

size_t kymo_arrow_size(const struct kymo_arrow_column *column) {
  size_t size = column->validity.length + column->offsets.length + column->data.length;
  for (uint32_t i = 0; i < column->count; i++)
    size += kymo_arrow_size(&column->columns[i]);
  return size;
}

/* ---- values ---- */

static bool put_validity(struct kymo_arrow_column *column, bool is_valid) {
  static const char zero;
  if (column->length % 8 == 0)
    kymo_strbuf_add(&column->validity, &zero, 1);
  if (column->validity.failed)
    return false;
  if (is_valid)
    column->validity.text[column->length / 8] |= (char)(1 << column->length % 8);
  column->length++;
  column->null_count += !is_valid;
  return true;
}

/* The low bits, in the order of this machine. */
static bool put_fixed(struct kymo_arrow_column *column, unsigned bits, uint64_t value) {
  const uint8_t one = (uint8_t)value;
  const uint16_t two = (uint16_t)value;
  const uint32_t four = (uint32_t)value;
  const void *from = bits == 8 ? (const void *)&one : bits == 16 ? &two : bits == 32 ? &four : (void *)&value;
  kymo_strbuf_add(&column->data, from, bits / 8);
  return !column->data.failed;
}

static bool put_bit(struct kymo_arrow_column *column, bool is_set) {
  static const char zero;
  if (column->length % 8 == 0)
    kymo_strbuf_add(&column->data, &zero, 1);
  if (column->data.failed)
    return false;
  column->data.text[column->length / 8] |= (char)(is_set << column->length % 8);
  return true;
}

/* Where a text or list ends. */
static bool put_end(struct kymo_arrow_column *column, uint64_t end) {
  const uint32_t stored = (uint32_t)end;
  kymo_strbuf_add(&column->offsets, (const char *)&stored, sizeof stored);
  return end <= INT32_MAX && !column->offsets.failed;
}

static bool put_storage(struct kymo_arrow_column *column, uint64_t value) {
  switch (column->kind) {
  case KYMO_ARROW_BOOL: return put_bit(column, value != 0);
  case KYMO_ARROW_TEXT:
  case KYMO_ARROW_BYTES: return put_end(column, column->data.length);
  case KYMO_ARROW_LIST: return put_end(column, column->columns->length);
  case KYMO_ARROW_STRUCT: return true;
  case KYMO_ARROW_LABEL: return put_fixed(column, 32, value);
  default: return put_fixed(column, column->bits, value);
  }
}

bool kymo_arrow_put_null(struct kymo_arrow_column *column) {
  bool is_put = put_storage(column, 0) && put_validity(column, false);
  for (uint32_t i = 0; column->kind == KYMO_ARROW_STRUCT && i < column->count && is_put; i++)
    is_put = kymo_arrow_put_null(&column->columns[i]);
  return is_put;
}

bool kymo_arrow_put_number(struct kymo_arrow_column *column, uint64_t value) {
  return put_storage(column, value) && put_validity(column, true);
}

bool kymo_arrow_put_float(struct kymo_arrow_column *column, double value) {
  const float narrow = (float)value;
  uint64_t bits = 0;
  uint32_t narrow_bits;
  memcpy(&bits, &value, sizeof value);
  memcpy(&narrow_bits, &narrow, sizeof narrow);
  return kymo_arrow_put_number(column, column->bits == 32 ? narrow_bits : bits);
}

/* The number of a text, which is new or not; UINT32_MAX: out of memory. */
static uint32_t look_up(struct kymo_arrow_dictionary *dictionary, const char *text, size_t length) {
  const uint32_t hash = (uint32_t)kymo_keyed_text(text, length);
  uint32_t at = hash;
  for (uintptr_t item; (item = kymo_hash_table_next(&dictionary->table, hash, &at)) != 0;) {
    const uint32_t index = (uint32_t)item - 1, begin = index ? dictionary->ends[index - 1] : 0;
    if (dictionary->ends[index] - begin == length && memcmp(dictionary->text.text + begin, text, length) == 0)
      return index;
  }
  if (dictionary->text.length + length > INT32_MAX ||
      !KYMO_LIST_ROOM(dictionary->ends, dictionary->capacity, dictionary->count))
    return UINT32_MAX;
  kymo_strbuf_add(&dictionary->text, text, length);
  dictionary->ends[dictionary->count] = (uint32_t)dictionary->text.length;
  if (dictionary->text.failed || !kymo_hash_table_add(&dictionary->table, NULL, hash, dictionary->count + 1u))
    return UINT32_MAX;
  return dictionary->count++;
}

bool kymo_arrow_put_bytes(struct kymo_arrow_column *column, const void *bytes, size_t length) {
  if (column->kind == KYMO_ARROW_LABEL) {
    const uint32_t index = look_up(column->dictionary, bytes, length);
    return index != UINT32_MAX && kymo_arrow_put_number(column, index);
  }
  kymo_strbuf_add(&column->data, bytes, length);
  return !column->data.failed && kymo_arrow_put_number(column, 0);
}

bool kymo_arrow_put_text(struct kymo_arrow_column *column, struct kymo_strbuf *space, const uint8_t *bytes,
                         uint64_t count, enum kymo_encoding encoding) {
  space->length = 0;
  kymo_strbuf_puts(space, "");
  for (const uint8_t *at = bytes, *end = bytes + count; at < end;) {
    char character[8];
    const uint32_t code = kymo_next_character(encoding, &at, end);
    kymo_strbuf_add(space, character, (size_t)(kymo_put_character(character, code) - character));
  }
  return !space->failed && kymo_arrow_put_bytes(column, space->text ? space->text : "", space->length);
}

/* "A|C|8": names of flags, and the bits without a name as a number; of an enumeration the first name. */
static bool put_label(struct kymo_arrow_column *column, struct kymo_strbuf *space,
                      const struct kymo_type *type, uint64_t value) {
  struct kymo_labels labels = kymo_labels_begin(type, value);
  const char *label = kymo_labels_next(&labels), *gap = "";
  struct kymo_strbuf all = {0};
  if (type->kind != KYMO_KIND_BITMAP)
    return label
               ? kymo_arrow_put_text(column, space, (const uint8_t *)label, strlen(label), KYMO_ENCODING_UTF8)
               : kymo_arrow_put_null(column);
  for (; label; label = kymo_labels_next(&labels), gap = "|")
    kymo_strbuf_printf(&all, "%s%s", gap, label);
  if (labels.rest)
    kymo_strbuf_printf(&all, "%s%llu", gap, (unsigned long long)labels.rest);
  bool is_put = all.length ? kymo_arrow_put_text(column, space, (const uint8_t *)all.text, all.length,
                                                 KYMO_ENCODING_UTF8)
                           : kymo_arrow_put_null(column);
  is_put &= !all.failed;
  kymo_strbuf_free(&all);
  return is_put;
}

/* Into a column and the one after it, or into the two of a struct. */
static bool put_labelled(struct kymo_arrow_column *column, struct kymo_strbuf *space,
                         const struct kymo_value *value) {
  struct kymo_arrow_column *pair = column->kind == KYMO_ARROW_STRUCT ? column->columns : column;
  return put_label(pair, space, value->type, value->u) && kymo_arrow_put_number(pair + 1, value->u) &&
         (pair == column || kymo_arrow_put_number(column, 0));
}

struct putting {
  struct kymo_strbuf *space;
  struct kymo_walk *walk;
};

static bool put_value(struct kymo_arrow_column *column, const struct putting *putting,
                      const struct kymo_type *type, enum kymo_token token, const struct kymo_value *value);

/* Columns that have got nothing are null. */
static bool end_struct(struct kymo_arrow_column *column) {
  bool is_put = kymo_arrow_put_number(column, 0);
  for (uint32_t i = 0; i < column->count && is_put; i++)
    while (column->columns[i].length < column->length && is_put)
      is_put = kymo_arrow_put_null(&column->columns[i]);
  return is_put;
}

static bool is_end(enum kymo_token token) {
  return token == KYMO_TOKEN_END || token == KYMO_TOKEN_DONE || token == KYMO_TOKEN_ERROR;
}

/* Goes over a value that is not shown. */
static void skip_value(struct kymo_walk *walk, enum kymo_token token) {
  struct kymo_value value;
  for (unsigned depth = token == KYMO_TOKEN_BEGIN; depth > 0;) {
    token = kymo_walk_next(walk, &value);
    if (token == KYMO_TOKEN_DONE || token == KYMO_TOKEN_ERROR)
      return;
    depth += token == KYMO_TOKEN_BEGIN;
    depth -= token == KYMO_TOKEN_END;
  }
}

static bool put_members(struct kymo_arrow_column *column, const struct putting *putting,
                        const struct kymo_type *type) {
  struct kymo_value value;
  enum kymo_token token;
  bool is_put = true;
  while (is_put && !is_end(token = kymo_walk_next(putting->walk, &value))) {
    const uint32_t index = value.member ? (uint32_t)(value.member - type->members) : 0;
    if (column->slots[index] == NO_SLOT)
      skip_value(putting->walk, token);
    else
      is_put = put_value(&column->columns[column->slots[index]], putting, strip(value.member->type), token,
                         &value);
  }
  return is_put && end_struct(column);
}

bool kymo_arrow_put_members(struct kymo_arrow_column *column, struct kymo_strbuf *space,
                            struct kymo_walk *walk, const struct kymo_type *type) {
  const struct putting putting = {space, walk};
  return put_members(column, &putting, type);
}

static bool put_list(struct kymo_arrow_column *column, const struct putting *putting,
                     const struct kymo_type *type) {
  struct kymo_value value;
  enum kymo_token token;
  bool is_put = true;
  while (is_put && !is_end(token = kymo_walk_next(putting->walk, &value)))
    is_put = put_value(column->columns, putting, strip(type->element), token, &value);
  return is_put && kymo_arrow_put_number(column, 0);
}

static bool put_choice(struct kymo_arrow_column *column, const struct putting *putting,
                       const struct kymo_type *type, enum kymo_token token, const struct kymo_value *value) {
  uint32_t index = 0;
  if (!value->option || !find_option(type, value->option, &index)) {
    skip_value(putting->walk, token);
    return kymo_arrow_put_null(column);
  }
  return put_value(&column->columns[column->slots[index]], putting, strip(value->option->type), token,
                   value) &&
         end_struct(column);
}

/* What is around the only member that is shown. */
static bool put_inner(struct kymo_arrow_column *column, const struct putting *putting,
                      const struct kymo_type *around, const struct kymo_type *type) {
  const struct kymo_member *wanted = kymo_element_member(around);
  struct kymo_value value;
  enum kymo_token token;
  bool is_put = true, is_found = false;
  while (is_put && !is_end(token = kymo_walk_next(putting->walk, &value))) {
    if (value.member == wanted && !is_found)
      is_put = is_found = put_value(column, putting, type, token, &value);
    else
      skip_value(putting->walk, token);
  }
  return is_put && (is_found || put_value(column, putting, type, KYMO_TOKEN_ABSENT, &value));
}

static bool put_scalar(struct kymo_arrow_column *column, struct kymo_strbuf *space, enum kymo_token token,
                       const struct kymo_value *value) {
  switch (token) {
  case KYMO_TOKEN_INTEGER: return kymo_arrow_put_number(column, value->u);
  case KYMO_TOKEN_FLOAT: return kymo_arrow_put_float(column, value->f);
  case KYMO_TOKEN_TEXT:
    return kymo_arrow_put_text(column, space, value->bytes, value->count, value->type->encoding);
  case KYMO_TOKEN_BLOB:
    return kymo_arrow_put_bytes(column, value->count ? (const void *)value->bytes : "", value->count);
  default: return kymo_arrow_put_null(column);
  }
}

static bool put_value(struct kymo_arrow_column *column, const struct putting *putting,
                      const struct kymo_type *type, enum kymo_token token, const struct kymo_value *value) {
  if (token == KYMO_TOKEN_ABSENT)
    return kymo_arrow_put_null(column) &&
           (column->form != KYMO_ARROW_LABELLED || column->kind == KYMO_ARROW_STRUCT ||
            kymo_arrow_put_null(column + 1));
  if (token == KYMO_TOKEN_BEGIN && !is_list(value->type) && kymo_element_member(value->type))
    return put_inner(column, putting, value->type, type);
  if (column->form == KYMO_ARROW_CHOICE)
    return put_choice(column, putting, type, token, value);
  if (column->form == KYMO_ARROW_LABELLED)
    return put_labelled(column, putting->space, value);
  if (token != KYMO_TOKEN_BEGIN)
    return put_scalar(column, putting->space, token, value);
  return is_list(value->type) ? put_list(column, putting, value->type)
                              : put_members(column, putting, value->type);
}
