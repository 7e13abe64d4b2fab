/* SPDX-License-Identifier: MIT */
/* Columns: which ones a type needs, and adding values to them. */
#include "arrow.h"
#include <stdio.h>
#include <string.h>

/* ---- buffers ---- */

static bool reserve(struct buffer *buffer, size_t size) {
  if (size > (size_t)INT32_MAX - buffer->size) /* offsets of Arrow's texts and lists have 32 bits */
    return false;
  if (buffer->size + size <= buffer->capacity)
    return true;
  size_t capacity = 2 * buffer->capacity + 64;
  capacity = capacity < buffer->size + size ? buffer->size + size : capacity;
  uint8_t *larger = realloc(buffer->bytes, capacity);
  if (!larger)
    return false;
  buffer->bytes = larger;
  buffer->capacity = capacity;
  return true;
}

static bool append(struct buffer *buffer, const void *bytes, size_t size) {
  if (!reserve(buffer, size))
    return false;
  if (size)
    memcpy(buffer->bytes + buffer->size, bytes, size);
  buffer->size += size;
  return true;
}

/* ---- characters ---- */

/* The length of the character of UTF-8 at `at`, or 0. */
static size_t utf8_length(const uint8_t *at, const uint8_t *end) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  size_t length = *at < 0x80                  ? 1
                  : *at >= 0xC2 && *at < 0xE0 ? 2
                  : *at >= 0xE0 && *at < 0xF0 ? 3
                  : *at >= 0xF0 && *at < 0xF5 ? 4
                                              : 0;
  uint32_t character = length > 1 ? *at & (0x7Fu >> length) : *at;
  if (length == 0 || length > (size_t)(end - at))
    return 0;
  for (size_t i = 1; i < length; i++) {
    if ((at[i] & 0xC0) != 0x80)
      return 0;
    character = character << 6 | (at[i] & 0x3Fu);
  }
  return character < least[length] || character > 0x10FFFF || (character & ~0x7FFu) == 0xD800 ? 0 : length;
}

static bool append_character(struct buffer *out, uint32_t character) {
  uint8_t bytes[4];
  size_t length = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
  static const uint8_t marks[] = {0, 0, 0xC0, 0xE0, 0xF0};
  for (size_t i = length; i-- > 0; character >>= 6)
    bytes[i] = (uint8_t)(i ? 0x80 | (character & 0x3F) : marks[length] | character);
  return append(out, bytes, length);
}

static bool append_utf8(struct buffer *out, const uint8_t *at, const uint8_t *end) {
  bool ok = true;
  while (at < end && ok) {
    const uint8_t *from = at;
    size_t length = 0;
    while (at < end && (length = utf8_length(at, end)) > 0)
      at += length;
    ok = append(out, from, (size_t)(at - from)) && (at == end || append_character(out, 0xFFFD));
    at += at < end;
  }
  return ok;
}

static uint32_t unit_at(const uint8_t *at, size_t size, bool is_big) {
  uint32_t unit = 0;
  for (size_t i = 0; i < size; i++)
    unit |= (uint32_t)at[i] << 8 * (is_big ? size - 1 - i : i);
  return unit;
}

/* UTF-16 and UTF-32; the last bytes may be less than a unit. */
static bool append_wide(struct buffer *out, const uint8_t *at, const uint8_t *end, size_t size, bool is_big) {
  bool ok = true;
  while (at < end && ok) {
    bool is_whole = (size_t)(end - at) >= size;
    uint32_t unit = is_whole ? unit_at(at, size, is_big) : UINT32_MAX;
    at = is_whole ? at + size : end;
    if (size == 2 && (unit & ~0x3FFu) == 0xD800 && end - at >= 2) {
      uint32_t second = unit_at(at, size, is_big);
      if ((second & ~0x3FFu) == 0xDC00) {
        unit = 0x10000 + ((unit & 0x3FF) << 10) + (second & 0x3FF);
        at += 2;
      }
    }
    ok = append_character(out, unit > 0x10FFFF || (unit & ~0x7FFu) == 0xD800 ? 0xFFFD : unit);
  }
  return ok;
}

/* ---- life ---- */

/* A name as UTF-8, which Arrow requires. */
static char *sound_copy(const char *name) {
  const uint8_t *from = (const uint8_t *)name;
  struct buffer copy = {0};
  if (append_utf8(&copy, from, from + strlen(name)) && append(&copy, "", 1))
    return (char *)copy.bytes;
  free(copy.bytes);
  return NULL;
}

struct column *column_new(enum column_kind kind, const char *name, const char *format, unsigned width) {
  struct column *column = calloc(1, sizeof *column);
  if (!column)
    return NULL;
  column->kind = kind;
  column->width = width;
  snprintf(column->format, sizeof column->format, "%s", format);
  column->name = sound_copy(name);
  if (column->name)
    return column;
  free(column);
  return NULL;
}

void column_free(struct column *column) {
  if (!column)
    return;
  for (size_t i = 0; i < column->child_count; i++)
    column_free(column->children[i]);
  for (size_t i = 0; i < column->name_count; i++)
    free(column->names[i]);
  free(column->children);
  free(column->slots);
  free(column->names);
  free(column->validity.bytes);
  free(column->offsets.bytes);
  free(column->data.bytes);
  free(column->name);
  free(column);
}

bool column_add_slot(struct column *parent, struct column *column, struct column *number) {
  struct slot *slots = realloc(parent->slots, (parent->slot_count + 1) * sizeof *slots);
  parent->slots = slots ? slots : parent->slots;
  struct column **children = realloc(parent->children, (parent->child_count + 2) * sizeof(struct column *));
  parent->children = children ? children : parent->children;
  if (!slots || !children) {
    column_free(column);
    column_free(number);
    return false;
  }
  slots[parent->slot_count++] = (struct slot){column, number};
  if (column)
    children[parent->child_count++] = column;
  if (number)
    children[parent->child_count++] = number;
  return true;
}

/* ---- columns of types ---- */

static struct column *integer_column(const struct kymo_type *type, const char *name) {
  static const char *const formats[2][4] = {{"C", "S", "I", "L"}, {"c", "s", "i", "l"}};
  unsigned bits = type->kind == KYMO_KIND_VARINT ? 64 : type->size_bits;
  unsigned step = bits <= 8 ? 0 : bits <= 16 ? 1 : bits <= 32 ? 2 : 3;
  return column_new(COLUMN_INTEGER, name, formats[type->is_signed][step], 1u << step);
}

static struct column *float_column(const struct kymo_type *type, const char *name) {
  bool is_short = type->size_bits <= 32;
  return column_new(COLUMN_FLOAT, name, is_short ? "f" : "g", is_short ? 4 : 8);
}

static bool has_name(const struct column *column, const char *name) {
  for (size_t i = 0; i < column->name_count; i++)
    if (strcmp(column->names[i], name) == 0)
      return true;
  return false;
}

/* The names of an enumeration, each once. */
static struct column *label_column(const struct kymo_type *type, const char *name) {
  struct column *column = column_new(COLUMN_LABEL, name, "i", 4);
  if (column)
    column->names = calloc((size_t)type->mapping_count + 1, sizeof *column->names);
  for (uint32_t i = 0; column && column->names && i < type->mapping_count; i++) {
    const char *label = kymo_mapping_get(type->mappings, i, NULL, NULL);
    if (has_name(column, label))
      continue;
    column->names[column->name_count] = strdup(label);
    if (!column->names[column->name_count]) {
      column_free(column);
      return NULL;
    }
    column->name_count++;
  }
  if (column && column->names)
    return column;
  column_free(column);
  return NULL;
}

/* A label or flags, and their number, as NAME.value. */
static bool labelled_slot(struct slot *slot, const struct kymo_type *type, const char *name) {
  size_t length = strlen(name) + sizeof ".value";
  char *number = malloc(length);
  if (!number)
    return false;
  snprintf(number, length, "%s.value", name);
  slot->column =
      type->kind == KYMO_KIND_BITMAP ? column_new(COLUMN_FLAGS, name, "u", 0) : label_column(type, name);
  slot->number = integer_column(type, number);
  free(number);
  return slot->column && slot->number;
}

static bool add_member_slots(struct column *column, const struct kymo_type *type) {
  for (uint32_t i = 0; i < type->member_count; i++) {
    struct slot slot = {NULL, NULL};
    bool is_hidden = reader_is_hidden(type, i);
    char *key = is_hidden ? NULL : reader_member_key(type, i);
    bool ok =
        is_hidden || (key && column_slot_of(&slot, kymo_member_type(kymo_type_member_at(type, i)), key));
    ok = ok && column_add_slot(column, slot.column, slot.number);
    free(key);
    if (!ok)
      return false;
  }
  return true;
}

static struct column *struct_column(const struct kymo_type *type, const char *name) {
  bool is_variant = type->kind == KYMO_KIND_VARIANT;
  struct column *column = column_new(is_variant ? COLUMN_VARIANT : COLUMN_STRUCT, name, "+s", 0);
  if (!column)
    return NULL;
  column->type = is_variant ? type : NULL;
  if (add_member_slots(column, type))
    return column;
  column_free(column);
  return NULL;
}

static bool rename_column(struct column *column, const char *name) {
  free(column->name);
  column->name = strdup(name);
  return column->name != NULL;
}

/* A label and its number as one column, a struct. Takes the columns. */
static struct column *pair_column(const struct slot *slot) {
  struct column *pair = column_new(COLUMN_STRUCT, "item", "+s", 0);
  if (!pair || !rename_column(slot->column, "label") || !rename_column(slot->number, "value")) {
    column_free(slot->column);
    column_free(slot->number);
    column_free(pair);
    return NULL;
  }
  if (column_add_slot(pair, slot->column, slot->number))
    return pair;
  column_free(pair);
  return NULL;
}

static struct column *list_column(const struct kymo_type *type, const char *name) {
  struct column *column = column_new(COLUMN_LIST, name, "+l", 0), *element = NULL;
  struct slot slot;
  if (column && column_slot_of(&slot, type->element, "item"))
    element = slot.number ? pair_column(&slot) : slot.column;
  if (element && column_add_slot(column, element, NULL))
    return column;
  column_free(column);
  return NULL;
}

static const struct kymo_type *inside(const struct kymo_type *type) {
  while (type->kind == KYMO_KIND_OPTIONAL)
    type = type->element;
  return type;
}

bool column_slot_of(struct slot *slot, const struct kymo_type *type, const char *name) {
  *slot = (struct slot){NULL, NULL};
  type = inside(type);
  switch (type->kind) {
  case KYMO_KIND_BOOLEAN: slot->column = column_new(COLUMN_BOOLEAN, name, "b", 0); break;
  case KYMO_KIND_INTEGER:
  case KYMO_KIND_BITMAP:
  case KYMO_KIND_VARINT:
    if (!type->is_enumeration && type->mapping_count == 0)
      slot->column = integer_column(type, name);
    else if (!labelled_slot(slot, type, name)) {
      column_free(slot->column);
      column_free(slot->number);
      *slot = (struct slot){NULL, NULL};
    }
    break;
  case KYMO_KIND_FLOAT: slot->column = float_column(type, name); break;
  case KYMO_KIND_STRING:
  case KYMO_KIND_TEXT_ARRAY:
  case KYMO_KIND_TEXT_SEQUENCE: slot->column = column_new(COLUMN_TEXT, name, "u", 0); break;
  case KYMO_KIND_BLOB_ARRAY:
  case KYMO_KIND_BLOB_SEQUENCE: slot->column = column_new(COLUMN_BYTES, name, "z", 0); break;
  case KYMO_KIND_ARRAY:
  case KYMO_KIND_SEQUENCE: slot->column = list_column(type, name); break;
  default: slot->column = struct_column(type, name); break;
  }
  return slot->column != NULL;
}

bool column_is_same(const struct column *a, const struct column *b) {
  if (!a || !b)
    return a == b;
  bool is_same = a->kind == b->kind && strcmp(a->name, b->name) == 0 && strcmp(a->format, b->format) == 0 &&
                 a->child_count == b->child_count && a->slot_count == b->slot_count &&
                 a->name_count == b->name_count && a->type == b->type;
  for (size_t i = 0; is_same && i < a->name_count; i++)
    is_same = strcmp(a->names[i], b->names[i]) == 0;
  for (size_t i = 0; is_same && i < a->child_count; i++)
    is_same = column_is_same(a->children[i], b->children[i]);
  return is_same;
}

/* ---- rows ---- */

static bool append_bit(struct buffer *buffer, int64_t index, bool bit) {
  static const uint8_t zero;
  if (index % 8 == 0 && !append(buffer, &zero, 1))
    return false;
  buffer->bytes[index / 8] |= (uint8_t)(bit << index % 8);
  return true;
}

static bool append_offset(struct column *column, size_t end) {
  static const int32_t zero;
  int32_t offset = (int32_t)end;
  return (column->offsets.size || append(&column->offsets, &zero, sizeof zero)) && end <= INT32_MAX &&
         append(&column->offsets, &offset, sizeof offset);
}

static bool end_value(struct column *column, bool is_there) {
  bool ok = append_bit(&column->validity, column->length, is_there);
  column->length += ok;
  column->null_count += ok && !is_there;
  return ok;
}

size_t column_size(const struct column *column) {
  size_t size = column->data.size > column->offsets.size ? column->data.size : column->offsets.size;
  for (size_t i = 0; i < column->child_count; i++) {
    size_t child = column_size(column->children[i]);
    size = child > size ? child : size;
  }
  return size;
}

/* ---- values ---- */

bool column_add_integer(struct column *column, uint64_t bits) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  bits <<= 64 - 8 * column->width;
#endif
  return append(&column->data, &bits, column->width) && end_value(column, true);
}

static bool add_float(struct column *column, double value) {
  float narrow = (float)value;
  const void *from = column->width == sizeof narrow ? (const void *)&narrow : &value;
  return append(&column->data, from, column->width) && end_value(column, true);
}

bool column_add_null(struct column *column) {
  static const uint64_t zero;
  bool ok = true;
  switch (column->kind) {
  case COLUMN_INTEGER:
  case COLUMN_FLOAT:
  case COLUMN_LABEL: ok = append(&column->data, &zero, column->width); break;
  case COLUMN_BOOLEAN: ok = append_bit(&column->data, column->length, false); break;
  case COLUMN_TEXT:
  case COLUMN_BYTES:
  case COLUMN_FLAGS: ok = append_offset(column, column->data.size); break;
  case COLUMN_LIST: ok = append_offset(column, (size_t)column->children[0]->length); break;
  default:
    for (size_t i = 0; i < column->child_count && ok; i++)
      ok = column_add_null(column->children[i]);
    break;
  }
  return ok && end_value(column, false);
}

bool slot_add_null(const struct slot *slot) {
  return (!slot->column || column_add_null(slot->column)) && (!slot->number || column_add_null(slot->number));
}

/* ---- texts ---- */

bool column_add_text(struct column *column, const void *bytes, uint64_t count, enum kymo_encoding encoding) {
  const uint8_t *at = bytes, *end = at + count;
  struct buffer *out = &column->data;
  bool ok;
  switch (encoding) {
  case KYMO_ENCODING_UTF16LE: ok = append_wide(out, at, end, 2, false); break;
  case KYMO_ENCODING_UTF16BE: ok = append_wide(out, at, end, 2, true); break;
  case KYMO_ENCODING_UTF32LE: ok = append_wide(out, at, end, 4, false); break;
  case KYMO_ENCODING_UTF32BE: ok = append_wide(out, at, end, 4, true); break;
  default: ok = append_utf8(out, at, end); break;
  }
  return ok && append_offset(column, out->size) && end_value(column, true);
}

/* ---- labels ---- */

static bool holds(const struct kymo_type *type, uint64_t low, uint64_t high, uint64_t value) {
  if (type->is_signed)
    return (int64_t)low <= (int64_t)value && (int64_t)value <= (int64_t)high;
  return low <= value && value <= high;
}

/* The index of the first name of a value, or -1. */
static int32_t label_of(const struct column *column, const struct kymo_type *type, uint64_t value) {
  for (uint32_t i = 0; i < type->mapping_count; i++) {
    uint64_t low, high;
    const char *name = kymo_mapping_get(type->mappings, i, &low, &high);
    if (!holds(type, low, high, value))
      continue;
    for (size_t k = 0; k < column->name_count; k++)
      if (strcmp(column->names[k], name) == 0)
        return (int32_t)k;
  }
  return -1;
}

static bool add_label(struct column *column, const struct kymo_type *type, uint64_t value) {
  if (column->known_type != type || column->known_value != value) {
    column->known_label = label_of(column, type, value);
    column->known_type = type;
    column->known_value = value;
  }
  if (column->known_label < 0)
    return column_add_null(column);
  return append(&column->data, &column->known_label, sizeof column->known_label) && end_value(column, true);
}

/* The bits that the flag of this name has. */
static uint64_t flag_bits(const struct kymo_type *type, const char *flag) {
  uint64_t bits = 0, low, high;
  for (uint32_t i = 0; i < type->mapping_count; i++)
    if (strcmp(kymo_mapping_get(type->mappings, i, &low, &high), flag) == 0 && low <= 63)
      bits |= UINT64_MAX >> (63 - (high > 63 ? 63 : high)) & UINT64_MAX << low;
  return bits;
}

/* "READ|WRITE|8": the bits without a name as a number; null: no bit is set. */
static bool add_flags(struct column *column, const struct kymo_type *type, uint64_t value) {
  size_t begin = column->data.size;
  uint64_t rest = value;
  const char *name;
  char number[24];
  for (uint32_t i = 0; (name = kymo_type_flag_text(type, value, i)); i++) {
    const uint8_t *from = (const uint8_t *)name;
    rest &= ~flag_bits(type, name);
    if (!append(&column->data, "|", column->data.size > begin) ||
        !append_utf8(&column->data, from, from + strlen(name)))
      return false;
  }
  int length = rest ? snprintf(number, sizeof number, "%s%llu", column->data.size > begin ? "|" : "",
                               (unsigned long long)rest)
                    : 0;
  if (!append(&column->data, number, (size_t)length))
    return false;
  if (column->data.size == begin)
    return column_add_null(column);
  return append_offset(column, column->data.size) && end_value(column, true);
}

static bool add_number(const struct slot *slot, const struct kymo_value *value) {
  struct column *column = slot->column;
  switch (column->kind) {
  case COLUMN_BOOLEAN:
    return append_bit(&column->data, column->length, value->u != 0) && end_value(column, true);
  case COLUMN_LABEL:
    return add_label(column, value->type, value->u) && column_add_integer(slot->number, value->u);
  case COLUMN_FLAGS:
    return add_flags(column, value->type, value->u) && column_add_integer(slot->number, value->u);
  default: return column_add_integer(column, value->u);
  }
}

/* ---- compounds ---- */

/* Whether an option is one of a variant, or of a variant in one of its options. */
static bool has_option(const struct kymo_type *type, const struct kymo_member *option) {
  type = inside(type);
  for (uint32_t i = 0; type->kind == KYMO_KIND_VARIANT && i < type->member_count; i++) {
    const struct kymo_member *member = kymo_type_member_at(type, i);
    if (member == option || has_option(kymo_member_type(member), option))
      return true;
  }
  return false;
}

static bool is_option(const struct column *variant, size_t index, const struct kymo_member *option) {
  const struct kymo_member *member = kymo_type_member_at(variant->type, (uint32_t)index);
  return member == option || has_option(kymo_member_type(member), option);
}

static bool add_option(struct column *column, struct kymo_walk *walk, enum kymo_token token,
                       const struct kymo_value *value) {
  bool ok = true, is_found = false;
  for (size_t i = 0; i < column->slot_count && ok; i++) {
    bool is_it = !is_found && is_option(column, i, value->option);
    is_found |= is_it;
    ok = is_it ? slot_add(&column->slots[i], walk, token, value) : slot_add_null(&column->slots[i]);
  }
  return ok && end_value(column, is_found);
}

static bool add_members(struct column *column, struct kymo_walk *walk) {
  struct kymo_value value;
  bool ok = true;
  for (size_t i = 0; i < column->slot_count && ok; i++) {
    enum kymo_token token = kymo_walk_next(walk, &value);
    ok = slot_add(&column->slots[i], walk, token, &value);
  }
  return ok && kymo_walk_next(walk, &value) == KYMO_TOKEN_END && end_value(column, true);
}

static bool add_elements(struct column *column, struct kymo_walk *walk) {
  struct kymo_value value;
  enum kymo_token token;
  while ((token = kymo_walk_next(walk, &value)) != KYMO_TOKEN_END)
    if (!slot_add(&column->slots[0], walk, token, &value))
      return false;
  return append_offset(column, (size_t)column->children[0]->length) && end_value(column, true);
}

/* The pair of a label and its number, in a list. */
static bool add_pair(struct column *column, const struct kymo_value *value) {
  return add_number(&column->slots[0], value) && end_value(column, true);
}

/* Goes past a value that no column has. */
static bool pass_by(struct kymo_walk *walk, enum kymo_token token) {
  struct kymo_value value;
  for (size_t depth = 0;; token = kymo_walk_next(walk, &value)) {
    if (token == KYMO_TOKEN_ERROR || token == KYMO_TOKEN_DONE)
      return false;
    depth += token == KYMO_TOKEN_BEGIN;
    depth -= token == KYMO_TOKEN_END;
    if (depth == 0)
      return true;
  }
}

bool slot_add(const struct slot *slot, struct kymo_walk *walk, enum kymo_token token,
              const struct kymo_value *value) {
  struct column *column = slot->column;
  if (!column)
    return pass_by(walk, token);
  if (column->kind == COLUMN_VARIANT && value->option && token != KYMO_TOKEN_ERROR)
    return add_option(column, walk, token, value);
  switch (token) {
  case KYMO_TOKEN_INTEGER:
    return column->kind == COLUMN_STRUCT ? add_pair(column, value) : add_number(slot, value);
  case KYMO_TOKEN_FLOAT: return add_float(column, value->f);
  case KYMO_TOKEN_TEXT: return column_add_text(column, value->bytes, value->count, value->type->encoding);
  case KYMO_TOKEN_BLOB:
    return append(&column->data, value->bytes, value->count) && append_offset(column, column->data.size) &&
           end_value(column, true);
  case KYMO_TOKEN_BEGIN:
    return column->kind == COLUMN_LIST ? add_elements(column, walk) : add_members(column, walk);
  case KYMO_TOKEN_ABSENT: return slot_add_null(slot);
  default: return false;
  }
}

bool column_end_row(struct column *column) { return end_value(column, true); }
