/* SPDX-License-Identifier: MIT */
#include "record/fields.h"
#include "base/strbuf.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64, PREFIXED_NAME_MAX = KYMO_FIELD_NAME_MAX + 32 };

/* The place of the type that is being described. */
struct place {
  struct kymo_builder *builder;
  bool names_only;
  uint32_t depth;
  uint32_t way[DEPTH_MAX]; /* the steps from the payload to here, for references */
};

/* A field to describe: of a tracepoint, a member of a struct, or an option of a variant. */
struct field {
  const char *name;
  uint64_t code;
  int64_t tag;
  uint32_t dimensions[KYMO_LISTED_DIMENSIONS_];
  const struct kymo_listing *listing;
  struct kymo_slice type_name; /* if the listing cannot be read */
};

/* A struct under construction: its fields, and its members so far. */
struct fields {
  const struct field *field;
  uint32_t count;
  struct kymo_member *member;
  uint32_t member_count;
};

static bool enter(struct place *place, uint32_t step) {
  if (place->depth == DEPTH_MAX)
    return false;
  place->way[place->depth++] = step;
  return true;
}

static void leave(struct place *place) { place->depth--; }

static char *copy_text(const struct place *place, const char *text, size_t length) {
  return kymo_arena_copy(kymo_builder_arena(place->builder), text, length);
}

/* The name of a C type in its normal spelling. */
static const char *copy_type_name(const struct place *place, struct kymo_slice written) {
  char *plain = copy_text(place, written.at, written.length);
  size_t size = 2 * written.length + 32; /* "unsigned" grows to "unsigned int" */
  char *out = plain ? kymo_arena_alloc(kymo_builder_arena(place->builder), size) : NULL;
  return out ? kymo_type_name_normalize(out, size, plain) : NULL;
}

static const struct kymo_type *make(struct place *place, const struct kymo_type *type) {
  return kymo_builder_type(place->builder, type);
}

/* ---- scalars ---- */

static const enum kymo_byte_order native =
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? KYMO_ORDER_LITTLE : KYMO_ORDER_BIG;

struct kymo_type kymo_integer_type(uint32_t bits, bool is_signed) {
  return (struct kymo_type){
      .kind = KYMO_KIND_INTEGER, .align_bits = 8, .size_bits = bits, .order = native, .is_signed = is_signed};
}

/* The C type that the compiler saw; NULL for pointers, whose target type is unknown. */
static const char *c_type_name(uint64_t code) {
  bool is_long = code & KYMO_CODE_LONG_, is_unsigned = (code & 0xf0) == KYMO_TYPE_UNSIGNED_;
  switch (code & 0xf0) {
  case KYMO_TYPE_BOOL_: return "bool";
  case KYMO_TYPE_CHAR_: return "char";
  case KYMO_TYPE_FLOAT_: return (code & 15) == 4 ? "float" : "double";
  case KYMO_TYPE_SIGNED_:
  case KYMO_TYPE_UNSIGNED_: break;
  default: return NULL;
  }
  if (is_long)
    return is_unsigned ? "unsigned long" : "long";
  switch (code & 15) {
  case 1: return is_unsigned ? "unsigned char" : "signed char";
  case 2: return is_unsigned ? "unsigned short" : "short";
  case 4: return is_unsigned ? "unsigned int" : "int";
  case 8: return is_unsigned ? "unsigned long long" : "long long";
  default: return NULL;
  }
}

/* The scalar of a code, not interned yet. The code of the field that uses a listed scalar may also specify
 * base, byte order and format. */
static struct kymo_type scalar(uint64_t code, const char *name) {
  struct kymo_type type = kymo_integer_type((code & 15) * 8, (code & 0xf0) == KYMO_TYPE_SIGNED_);
  type.base = code >> 16 & 255;
  type.order = code & KYMO_CODE_BIG_ ? KYMO_ORDER_BIG : code & KYMO_CODE_LITTLE_ ? KYMO_ORDER_LITTLE : native;
  type.name = name ? name : code & (KYMO_CODE_BIG_ | KYMO_CODE_LITTLE_) ? NULL : c_type_name(code);
  switch (code & 0xf0) {
  case KYMO_TYPE_CHAR_: type.is_signed = (char)-1 < 0; break;
  case KYMO_TYPE_FLOAT_: type.kind = KYMO_KIND_FLOAT, type.base = 0; break;
  case KYMO_TYPE_BOOL_: type.kind = KYMO_KIND_BOOLEAN, type.base = 0; break;
  default: break;
  }
  type.is_address = (code & 0xf0) == KYMO_TYPE_POINTER_ || code & KYMO_CODE_ADDRESS_;
  if (type.is_address)
    type.base = 16;
  if (code & KYMO_CODE_CHARACTER_)
    type.encoding = KYMO_ENCODING_UTF8;
  return type;
}

/* ---- what listings say ---- */

/* The second text of a listing: its members as written. */
static struct kymo_slice members_as_written(const struct kymo_listing *listing) {
  const char *at = listing->text + strlen(listing->text) + 1;
  return (struct kymo_slice){at, strlen(at)};
}

/* The name of a member: `x` in "x", "(struct point) x", "KYMO_HEX(x)", "KYMO_ARRAY((pid_t) x, n)"; an option
 * has its tag before it, "(TAG, x)". */
static struct kymo_slice member_name(struct kymo_slice written, bool is_option) {
  if (is_option && written.length > 2 && *written.at == '(') {
    struct kymo_slice inner = {written.at + 1, written.length - 2};
    kymo_next_argument(&inner);
    written = kymo_next_argument(&inner);
  }
  struct kymo_slice name = kymo_argument_name(written);
  const char *end = name.length && *name.at == '(' ? memchr(name.at, ')', name.length) : NULL;
  if (!end)
    return name;
  struct kymo_slice rest = {end + 1, name.length - (size_t)(end + 1 - name.at)};
  return kymo_next_argument(&rest);
}

/* Reads the members; NULL if the text has fewer names. Freed with free. */
static struct field *read_members(const struct place *place, const struct kymo_listing *listing) {
  struct field *field = calloc((size_t)listing->count + 1, sizeof *field);
  struct kymo_slice rest = members_as_written(listing);
  for (uint32_t i = 0; field && i < listing->count; i++) {
    const struct kymo_listed *member = &listing->members[i];
    struct kymo_slice written = kymo_next_argument(&rest);
    char name[KYMO_FIELD_NAME_MAX];
    kymo_identifier(name, sizeof name, member_name(written, listing->kind == KYMO_LISTING_VARIANT_), i + 1);
    field[i] = (struct field){.name = copy_text(place, name, strlen(name)),
                              .code = member->code,
                              .tag = member->tag,
                              .listing = listing->types ? listing->types[i] : NULL};
    memcpy(field[i].dimensions, member->dimensions, sizeof member->dimensions);
    if (written.length && field[i].name)
      continue;
    free(field);
    return NULL;
  }
  return field;
}

/* The label of "state::OPEN" is OPEN. */
static char *copy_label(const struct place *place, struct kymo_slice written) {
  struct kymo_slice name = kymo_argument_name(written);
  for (size_t i = name.length; i > 1; i--)
    if (name.at[i - 1] == ':' && name.at[i - 2] == ':')
      return copy_text(place, name.at + i, name.length - i);
  return copy_text(place, name.at, name.length);
}

static uint64_t within(int64_t value, const struct kymo_type *type) {
  uint64_t bits = (uint64_t)value;
  return type->is_signed || type->size_bits == 64 ? bits : bits & ((UINT64_C(1) << type->size_bits) - 1);
}

static const struct kymo_type *enumeration(struct place *place, const struct kymo_listing *listing,
                                           struct kymo_type *type) {
  struct kymo_mapping *mappings =
      kymo_arena_array(kymo_builder_arena(place->builder), (size_t)listing->count + 1, sizeof *mappings);
  struct kymo_slice rest = members_as_written(listing);
  for (uint32_t i = 0; mappings && i < listing->count; i++) {
    uint64_t value = within(listing->members[i].tag, type);
    struct kymo_slice written = kymo_next_argument(&rest);
    mappings[i] = (struct kymo_mapping){copy_label(place, written), value, value};
    if (!written.length || !mappings[i].name)
      return NULL;
  }
  if (!mappings)
    return NULL;
  type->is_enumeration = true;
  type->mappings = mappings;
  type->mapping_count = listing->count;
  return make(place, type);
}

/* ---- flags ---- */

/* Bit maps name bits, so constants without bits become an attribute. */
struct flags {
  struct kymo_mapping *mappings;
  uint32_t count;
  struct kymo_strbuf zeroes;
};

/* One mapping for each run of bits. */
static void add_bits(struct flags *flags, const char *name, uint64_t bits) {
  while (bits) {
    uint32_t low = (uint32_t)__builtin_ctzll(bits);
    uint64_t gaps = ~(bits >> low);
    uint32_t length = gaps ? (uint32_t)__builtin_ctzll(gaps) : 64;
    uint32_t high = length + low > 63 ? 63 : low + length - 1;
    flags->mappings[flags->count++] = (struct kymo_mapping){name, low, high};
    bits = high == 63 ? 0 : bits >> (high + 1) << (high + 1);
  }
}

/* Enumerators are identifiers, macros or numbers, and need no escapes but these. */
static void add_zero(struct flags *flags, const char *name) {
  kymo_strbuf_puts(&flags->zeroes, flags->zeroes.length ? ",\"" : "{\"kymo\":{\"zero\":[\"");
  for (; *name; name++)
    if ((unsigned char)*name >= ' ')
      kymo_strbuf_printf(&flags->zeroes, *name == '"' || *name == '\\' ? "\\%c" : "%c", *name);
  kymo_strbuf_puts(&flags->zeroes, "\"");
}

static uint32_t count_runs(const struct kymo_listing *listing) {
  uint32_t runs = 0;
  for (uint32_t i = 0; i < listing->count; i++) {
    uint64_t bits = (uint64_t)listing->members[i].tag;
    runs += (uint32_t)__builtin_popcountll(bits & ~(bits << 1));
  }
  return runs;
}

static bool read_flags(struct place *place, const struct kymo_listing *listing, const struct kymo_type *type,
                       struct flags *flags) {
  flags->mappings = kymo_arena_array(kymo_builder_arena(place->builder), (size_t)count_runs(listing) + 1,
                                     sizeof *flags->mappings);
  struct kymo_slice rest = members_as_written(listing);
  for (uint32_t i = 0; flags->mappings && i < listing->count; i++) {
    struct kymo_slice written = kymo_next_argument(&rest);
    const char *name = copy_label(place, written);
    uint64_t bits = within(listing->members[i].tag, type);
    if (!written.length || !name)
      return false;
    if (bits)
      add_bits(flags, name, bits);
    else
      add_zero(flags, name);
  }
  return flags->mappings;
}

static const struct kymo_type *bit_map(struct place *place, const struct kymo_listing *listing,
                                       struct kymo_type *type) {
  struct flags flags = {0};
  type->kind = KYMO_KIND_BITMAP;
  type->is_signed = false;
  bool ok = read_flags(place, listing, type, &flags);
  if (flags.zeroes.length) {
    kymo_strbuf_puts(&flags.zeroes, "]}}");
    type->attributes = flags.zeroes.failed ? NULL : copy_text(place, flags.zeroes.text, flags.zeroes.length);
    ok = ok && type->attributes;
  }
  kymo_strbuf_free(&flags.zeroes);
  type->mappings = flags.mappings;
  type->mapping_count = flags.count;
  return ok ? make(place, type) : NULL;
}

/* ---- structs, unions ---- */

static bool add_field(struct place *place, struct fields *fields, const struct field *field);

static const struct kymo_type *structure(struct place *place, const struct field *field, uint32_t count,
                                         const char *name) {
  struct fields fields = {.field = field, .count = count}; /* a field may need another one before it */
  fields.member =
      kymo_arena_array(kymo_builder_arena(place->builder), 2 * (size_t)count + 1, sizeof *fields.member);
  for (uint32_t i = 0; fields.member && i < count; i++)
    if (!add_field(place, &fields, &field[i]))
      return NULL;
  if (!fields.member)
    return NULL;
  return make(place, &(struct kymo_type){.kind = KYMO_KIND_STRUCT,
                                         .name = name,
                                         .member_count = fields.member_count,
                                         .members = fields.member});
}

static const struct kymo_type *plain(struct place *place, const struct field *field);

/* All members begin at the union's first bit. */
static const struct kymo_type *untagged(struct place *place, const struct field *field,
                                        const struct kymo_listing *listing, const char *name) {
  struct kymo_member *member =
      kymo_arena_array(kymo_builder_arena(place->builder), (size_t)listing->count + 1, sizeof *member);
  for (uint32_t i = 0; member && i < listing->count; i++) {
    if (!enter(place, i))
      return NULL;
    member[i] = (struct kymo_member){field[i].name, field[i].name, plain(place, &field[i]), NULL, 0, NULL};
    leave(place);
    if (!member[i].type)
      return NULL;
  }
  if (!member || listing->size > UINT32_MAX / 8)
    return NULL;
  return make(place, &(struct kymo_type){.kind = KYMO_KIND_UNION,
                                         .align_bits = 8,
                                         .size_bits = (uint32_t)listing->size * 8,
                                         .name = name,
                                         .member_count = listing->count,
                                         .members = member});
}

static const struct kymo_type *listed(struct place *place, const struct field *use) {
  const struct kymo_listing *listing = use->listing;
  if (!listing) /* only its name is known */
    return place->names_only ? structure(place, NULL, 0, copy_type_name(place, use->type_name)) : NULL;
  const char *name = copy_type_name(place, (struct kymo_slice){listing->text, strlen(listing->text)});
  if (!name)
    return NULL;
  /* low bytes: the scalar; the format may be that of the field */
  struct kymo_type type =
      scalar((listing->code & 255) | (use->code >> 16 ? use->code : listing->code) >> 16 << 16, name);
  switch (listing->kind) {
  case KYMO_LISTING_ENUM_: return enumeration(place, listing, &type);
  case KYMO_LISTING_FLAGS_: return bit_map(place, listing, &type);
  case KYMO_LISTING_NAMED_: return make(place, &type);
  case KYMO_LISTING_STRUCT_:
  case KYMO_LISTING_UNION_: break;
  default: return NULL;
  }
  struct field *field = read_members(place, listing);
  if (!field)
    return NULL;
  const struct kymo_type *made = listing->kind == KYMO_LISTING_STRUCT_
                                     ? structure(place, field, listing->count, name)
                                     : untagged(place, field, listing, name);
  free(field);
  return made;
}

/* ---- fields ---- */

static const struct kymo_type *text_array(struct place *place, uint64_t bytes) {
  return make(place, &(struct kymo_type){.kind = KYMO_KIND_TEXT_ARRAY,
                                         .align_bits = 8,
                                         .length = bytes,
                                         .encoding = KYMO_ENCODING_UTF8});
}

/* The type of a field without count, tag or dimensions. */
static const struct kymo_type *element(struct place *place, const struct field *field) {
  if ((field->code & 255) == KYMO_TYPE_LISTED_)
    return listed(place, field);
  if ((field->code & 255) == KYMO_TYPE_TEXT_)
    return make(place, &(struct kymo_type){
                           .kind = KYMO_KIND_STRING, .align_bits = 8, .encoding = KYMO_ENCODING_UTF8});
  struct kymo_type type = scalar(field->code, NULL);
  return make(place, &type);
}

/* The arrays around the element, from dimension `at` on. Arrays of char are texts. */
static const struct kymo_type *arrays(struct place *place, const struct field *field, uint32_t at) {
  uint32_t kind = field->code >> 8 & 255;
  bool is_optional_text =
      kind == KYMO_KIND_OPTIONAL_ && (field->code & 0xf0) == KYMO_TYPE_CHAR_ && field->dimensions[0];
  bool is_text = kind == KYMO_KIND_CHARS_ || is_optional_text;
  uint32_t length = at < KYMO_LISTED_DIMENSIONS_ ? field->dimensions[at] : 0;
  bool is_last = at + 1 >= KYMO_LISTED_DIMENSIONS_ || !field->dimensions[at + 1];
  if (is_text && is_last)
    return length ? text_array(place, length) : NULL;
  if (!length)
    return element(place, field);
  if (!enter(place, KYMO_STEP_ELEMENT))
    return NULL;
  const struct kymo_type *inner = arrays(place, field, at + 1);
  leave(place);
  if (!inner)
    return NULL;
  return make(place, &(struct kymo_type){
                         .kind = KYMO_KIND_ARRAY, .align_bits = 8, .length = length, .element = inner});
}

/* A field that needs no other field before it. */
static const struct kymo_type *plain(struct place *place, const struct field *field) {
  switch (field->code >> 8 & 255) {
  case KYMO_KIND_VALUE_:
  case KYMO_KIND_STRN_:
  case KYMO_KIND_CHARS_: return arrays(place, field, 0);
  case KYMO_KIND_FIXED_:
    return make(place, &(struct kymo_type){
                           .kind = KYMO_KIND_BLOB_ARRAY, .align_bits = 8, .length = field->code >> 32});
  default: return NULL;
  }
}

static bool add(struct fields *fields, const char *name, const struct kymo_type *type) {
  if (!name || !type)
    return false;
  fields->member[fields->member_count++] =
      (struct kymo_member){.name = name, .source_name = name, .type = type};
  return true;
}

static bool is_taken(const struct fields *fields, const char *name) {
  for (uint32_t i = 0; i < fields->member_count; i++)
    if (!strcmp(fields->member[i].name, name))
      return true;
  for (uint32_t i = 0; i < fields->count; i++)
    if (!strcmp(fields->field[i].name, name))
      return true;
  return false;
}

/* Adds "_NAME_length" and the like, which the next member depends on, and sets *to to refer to it. */
static bool add_before(struct place *place, struct fields *fields, const struct field *field,
                       const char *what, const struct kymo_type *type, struct kymo_type *to) {
  char name[PREFIXED_NAME_MAX];
  snprintf(name, sizeof name, "_%s_%s", field->name, what);
  for (uint32_t copy = 2; is_taken(fields, name); copy++)
    snprintf(name, sizeof name, "_%s_%s_%u", field->name, what, copy);
  uint32_t *steps = kymo_arena_array(kymo_builder_arena(place->builder), place->depth + 1u, sizeof *steps);
  if (!steps || !type)
    return false;
  memcpy(steps, place->way, place->depth * sizeof *steps);
  steps[place->depth] = fields->member_count;
  to->selector = (struct kymo_reference){KYMO_SCOPE_PAYLOAD, place->depth + 1, steps};
  to->selector_type = type;
  return add(fields, copy_text(place, name, strlen(name)), type);
}

/* The element of a sequence or optional, which is about to become the next member. */
static const struct kymo_type *inside(struct place *place, const struct fields *fields,
                                      const struct field *field) {
  if (!enter(place, fields->member_count) || !enter(place, KYMO_STEP_ELEMENT))
    return NULL;
  const struct kymo_type *type = arrays(place, field, 0);
  leave(place);
  leave(place);
  return type;
}

static bool add_counted(struct place *place, struct fields *fields, const struct field *field) {
  bool is_blob = (field->code >> 8 & 255) == KYMO_KIND_BLOB_;
  struct kymo_type count = kymo_integer_type(32, false);
  struct kymo_type type = {.kind = is_blob ? KYMO_KIND_BLOB_SEQUENCE : KYMO_KIND_SEQUENCE, .align_bits = 8};
  if (!add_before(place, fields, field, "length", make(place, &count), &type))
    return false;
  if (!is_blob && !(type.element = inside(place, fields, field)))
    return false;
  return add(fields, field->name, make(place, &type));
}

static bool add_optional(struct place *place, struct fields *fields, const struct field *field) {
  struct kymo_type present = {.kind = KYMO_KIND_BOOLEAN, .align_bits = 8, .size_bits = 8, .order = native};
  struct kymo_type type = {.kind = KYMO_KIND_OPTIONAL};
  if (!add_before(place, fields, field, "present", make(place, &present), &type) ||
      !(type.element = inside(place, fields, field)))
    return false;
  return add(fields, field->name, make(place, &type));
}

/* ---- variants ---- */

static int compare_tags(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

/* The 32-bit tags that select no option. NULL: a tag occurs twice, or has more bits. */
static struct kymo_range *other_tags(const struct place *place, const struct field *field, uint32_t count,
                                     uint32_t *ranges) {
  struct kymo_range *out =
      kymo_arena_array(kymo_builder_arena(place->builder), (size_t)count + 1, sizeof *out);
  int64_t *tags = calloc((size_t)count + 1, sizeof *tags), next = INT32_MIN;
  bool ok = out && tags;
  for (uint32_t i = 0; ok && i < count; i++)
    tags[i] = field[i].tag;
  if (ok)
    qsort(tags, count, sizeof *tags, compare_tags);
  for (uint32_t i = 0; ok && i < count; i++) {
    ok = tags[i] >= next && tags[i] <= INT32_MAX;
    if (tags[i] > next)
      out[(*ranges)++] = (struct kymo_range){(uint64_t)next, (uint64_t)tags[i] - 1};
    next = tags[i] + 1;
  }
  if (ok && next <= INT32_MAX)
    out[(*ranges)++] = (struct kymo_range){(uint64_t)next, INT32_MAX};
  free(tags);
  return ok ? out : NULL;
}

/* An option that needs a field before it becomes a struct of both. */
static const struct kymo_type *option(struct place *place, const struct field *field, uint32_t step) {
  if (!enter(place, step))
    return NULL;
  uint32_t kind = field->code >> 8 & 255;
  bool is_alone = kind != KYMO_KIND_BLOB_ && kind != KYMO_KIND_ARRAY_ && kind != KYMO_KIND_VARIANT_ &&
                  kind != KYMO_KIND_OPTIONAL_;
  const struct kymo_type *type = is_alone ? plain(place, field) : structure(place, field, 1, NULL);
  leave(place);
  return type;
}

/* The options in the order of the list, and an empty one for all other tags. */
static struct kymo_member *options_of(struct place *place, const struct field *field, uint32_t count) {
  struct kymo_arena *arena = kymo_builder_arena(place->builder);
  struct kymo_member *out = kymo_arena_array(arena, (size_t)count + 1, sizeof *out);
  struct kymo_range *own = kymo_arena_array(arena, (size_t)count + 1, sizeof *own);
  char name[KYMO_FIELD_NAME_MAX] = "none";
  if (!out || !own)
    return NULL;
  for (uint32_t i = 0; i < count; i++) {
    own[i] = (struct kymo_range){(uint64_t)field[i].tag, (uint64_t)field[i].tag};
    out[i] =
        (struct kymo_member){field[i].name, field[i].name, option(place, &field[i], i), &own[i], 1, NULL};
    if (!out[i].type)
      return NULL;
  }
  const struct fields taken = {.field = field, .count = count};
  for (uint32_t copy = 2; is_taken(&taken, name); copy++)
    snprintf(name, sizeof name, "none_%u", copy);
  struct kymo_member *none = &out[count];
  none->name = none->source_name = copy_text(place, name, strlen(name));
  none->type = structure(place, NULL, 0, NULL);
  none->ranges = other_tags(place, field, count, &none->range_count);
  return none->name && none->type && none->ranges ? out : NULL;
}

static bool add_variant(struct place *place, struct fields *fields, const struct field *field) {
  const struct kymo_listing *listing = field->listing;
  struct kymo_type tag = kymo_integer_type(32, true);
  struct kymo_type type = {.kind = KYMO_KIND_VARIANT};
  if (!listing || listing->kind != KYMO_LISTING_VARIANT_ ||
      !add_before(place, fields, field, "tag", make(place, &tag), &type) ||
      !enter(place, fields->member_count))
    return false;
  struct field *options = read_members(place, listing);
  type.name = copy_type_name(place, (struct kymo_slice){listing->text, strlen(listing->text)});
  type.members = options ? options_of(place, options, listing->count) : NULL;
  type.member_count = listing->count + 1;
  free(options);
  leave(place);
  return type.name && type.members && add(fields, field->name, make(place, &type));
}

static bool add_field(struct place *place, struct fields *fields, const struct field *field) {
  uint32_t kind = field->code >> 8 & 255;
  if (place->names_only && kind == KYMO_KIND_VARIANT_)
    return add(fields, field->name, listed(place, field));
  switch (kind) {
  case KYMO_KIND_BLOB_:
  case KYMO_KIND_ARRAY_: return add_counted(place, fields, field);
  case KYMO_KIND_OPTIONAL_: return add_optional(place, fields, field);
  case KYMO_KIND_VARIANT_: return add_variant(place, fields, field);
  default: break;
  }
  if (!enter(place, fields->member_count))
    return false;
  const struct kymo_type *type = plain(place, field);
  leave(place);
  return add(fields, field->name, type);
}

const struct kymo_type *kymo_point_payload(struct kymo_builder *builder,
                                           const struct kymo_point_text *point) {
  struct place place = {.builder = builder, .names_only = point->names_only};
  struct field field[KYMO_FIELDS_MAX + 1];
  for (uint32_t i = 0; i < point->count; i++)
    field[i] = (struct field){.name = copy_text(&place, point->field[i], strlen(point->field[i])),
                              .code = point->code[i],
                              .listing = point->listing[i],
                              .type_name = point->type[i]};
  for (uint32_t i = 0; i < point->count; i++)
    if (!field[i].name)
      return NULL;
  return structure(&place, field, point->count, NULL);
}
