/* SPDX-License-Identifier: MIT */
/*
 * Field classes at their place: aliases followed, locations resolved, roles and clocks known.
 *
 * An alias that depends on nothing around it is placed once; one with locations or roles each time anew.
 * Aliases of aliases can make exponentially many fields from a short text, so there is a budget.
 */
#include "lang/ctf2/compiler.h"
#include <inttypes.h>
#include <string.h>

/* A field class with the properties known so far. */
struct part {
  struct ctf2_compiler *compiler;
  const struct ctf2_value *value;
  struct kymo_type type;
  struct ctf2_hints hints;
  bool is_own; /* it is in our attributes; other readers use the "stands-for" type */
};

static const struct kymo_type *place(struct ctf2_compiler *compiler, const struct ctf2_value *value);

/* ---- steps ---- */

/* Places the field class one step further down. */
static const struct kymo_type *place_below(struct ctf2_compiler *compiler, const struct ctf2_value *value,
                                           uint32_t step) {
  compiler->way[compiler->depth++] = step;
  const struct kymo_type *type = place(compiler, value);
  compiler->depth--;
  return type;
}

/* Attributes of a member or option: those of users, and the name in the source if it is another one. */
static bool take_member_attributes(const struct ctf2_value *value, struct kymo_member *member,
                                   const char *const *known) {
  struct ctf2_value attributes = {.fragment = value->fragment}, own;
  bool has_own;
  member->source_name = member->name;
  if (!kymo_ctf2_attributes_of(value, &attributes, &own, &has_own) ||
      !kymo_ctf2_users_attributes(&attributes, &member->attributes))
    return false;
  return !has_own ||
         (kymo_ctf2_only(&own, known) && kymo_ctf2_get_text(&own, "source-name", &member->source_name));
}

/* ---- structures and unions ---- */

/* Two members may have one name (some producers write such), as long as no location names them. */
static bool place_member(struct part *part, struct ctf2_frame *frame, uint32_t index) {
  static const char *const known[] = {"name", "field-class", "attributes", "extensions", NULL},
                           *const own[] = {"source-name", NULL};
  struct ctf2_value object = kymo_ctf2_element(frame->names, index), name, value;
  struct kymo_member *member = &frame->members[index];
  if (!kymo_ctf2_object(&object) || !kymo_ctf2_only(&object, known) ||
      !kymo_ctf2_need(&object, "name", &name) || !kymo_ctf2_text(&name, &member->name) ||
      !take_member_attributes(&object, member, own) || !kymo_ctf2_need(&object, "field-class", &value))
    return false;
  member->type = place_below(part->compiler, &value, index);
  return member->type != NULL;
}

static bool place_members(struct part *part, const struct ctf2_value *list) {
  struct ctf2_compiler *compiler = part->compiler;
  uint32_t count = (uint32_t)json_array_size(list->json);
  struct ctf2_frame *frame = &compiler->frames[compiler->frame_count++];
  *frame = (struct ctf2_frame){.names = list, .depth = compiler->depth};
  frame->members = kymo_lang_keep(compiler->session, count, sizeof *frame->members);
  bool ok = frame->members != NULL;
  for (uint32_t i = 0; i < count && ok; i++, frame->placed++)
    ok = place_member(part, frame, i);
  compiler->frame_count--;
  part->type.members = frame->members;
  part->type.member_count = count;
  return ok;
}

static bool take_minimum_alignment(struct part *part) {
  struct ctf2_value align;
  return !kymo_ctf2_get(part->value, "minimum-alignment", &align) ||
         kymo_ctf2_alignment(&align, &part->type.align_bits);
}

static bool fill_struct(struct part *part) {
  struct ctf2_value list;
  if (!take_minimum_alignment(part))
    return false;
  if (!kymo_ctf2_get(part->value, "member-classes", &list))
    return true;
  return kymo_ctf2_array(&list) && place_members(part, &list);
}

static bool fill_union(struct part *part) {
  struct ctf2_value length;
  uint64_t bits = 0;
  if (!kymo_ctf2_need(part->value, "length", &length) || !kymo_ctf2_unsigned(&length, &bits))
    return false;
  if (bits > UINT32_MAX)
    return kymo_ctf2_expected(&length, "less than 2^32 bits");
  part->type.size_bits = (uint32_t)bits;
  return fill_struct(part);
}

/* ---- what depends on another field ---- */

/* Finds the field that the property locates. */
static bool resolve(struct part *part, const char *key) {
  struct ctf2_value location;
  part->compiler->is_bound = true;
  return kymo_ctf2_need(part->value, key, &location) &&
         kymo_ctf2_resolve(part->compiler, &location, &part->hints, &part->type);
}

static bool is_integer(const struct kymo_type *type) {
  return type->kind == KYMO_KIND_INTEGER || type->kind == KYMO_KIND_VARINT;
}

static bool resolve_length(struct part *part) {
  if (!resolve(part, "length-field-location"))
    return false;
  const struct kymo_type *length = part->type.selector_type;
  if (is_integer(length) && !length->is_signed)
    return true;
  struct ctf2_value location;
  kymo_ctf2_get(part->value, "length-field-location", &location);
  return kymo_ctf2_fail(&location, "expected an unsigned integer as length, found %s",
                        is_integer(length) ? "a signed one" : "a boolean");
}

static bool overlap(bool is_signed, const struct kymo_range *a, const struct kymo_range *b) {
  if (is_signed)
    return (int64_t)a->low <= (int64_t)b->high && (int64_t)b->low <= (int64_t)a->high;
  return a->low <= b->high && b->low <= a->high;
}

/* Ranges that no earlier option has. Comparing them all is paid for from the budget. */
static bool check_overlap(struct part *part, const struct ctf2_value *ranges, uint32_t index) {
  const struct kymo_member *option = &part->type.members[index];
  bool is_signed = part->type.selector_type->is_signed;
  for (uint32_t i = 0; i < index; i++) {
    const struct kymo_member *other = &part->type.members[i];
    uint64_t price = (uint64_t)option->range_count * other->range_count / 8;
    if (part->compiler->fields_left <= price)
      return kymo_ctf2_fail(ranges, "too many ranges");
    part->compiler->fields_left -= price;
    for (uint32_t a = 0; a < option->range_count; a++)
      for (uint32_t b = 0; b < other->range_count; b++)
        if (overlap(is_signed, &option->ranges[a], &other->ranges[b]))
          return kymo_ctf2_fail(ranges, "an earlier option has values of range %" PRIu32, a);
  }
  return true;
}

/* The values that choose an option; those of our own attribute, if it is there, may overlap. */
static bool take_option_ranges(struct part *part, const struct ctf2_value *object,
                               struct kymo_member *options, uint32_t index) {
  struct ctf2_value attributes, own, ranges;
  struct kymo_member *option = &options[index];
  bool is_signed = part->type.selector_type->is_signed, has_own = false;
  if (!kymo_ctf2_attributes_of(object, &attributes, &own, &has_own))
    return false;
  if (has_own && kymo_ctf2_get(&own, "selector-field-ranges", &ranges))
    return kymo_ctf2_ranges(part->compiler, &ranges, is_signed, &option->ranges, &option->range_count);
  return kymo_ctf2_need(object, "selector-field-ranges", &ranges) &&
         kymo_ctf2_ranges(part->compiler, &ranges, is_signed, &option->ranges, &option->range_count) &&
         check_overlap(part, &ranges, index);
}

static bool place_option(struct part *part, const struct ctf2_value *list, struct kymo_member *options,
                         uint32_t index) {
  static const char *const known[] = {"name",       "field-class", "selector-field-ranges",
                                      "attributes", "extensions",  NULL},
                           *const own[] = {"source-name", "selector-field-ranges", NULL};
  struct ctf2_value object = kymo_ctf2_element(list, index), value;
  struct kymo_member *option = &options[index];
  option->name = "";
  if (!kymo_ctf2_object(&object) || !kymo_ctf2_only(&object, known) ||
      !kymo_ctf2_get_text(&object, "name", &option->name) || !take_member_attributes(&object, option, own) ||
      !take_option_ranges(part, &object, options, index) || !kymo_ctf2_need(&object, "field-class", &value))
    return false;
  option->type = place_below(part->compiler, &value, index);
  return option->type != NULL;
}

/* Reports a name that comes twice; `names` are those so far. */
static bool is_new_name(const struct ctf2_value *list, uint32_t index, const char *text, json_t *names) {
  if (json_object_get(names, text)) {
    struct ctf2_value object = kymo_ctf2_element(list, index), name;
    kymo_ctf2_get(&object, "name", &name);
    return kymo_ctf2_fail(&name, "a second \"%.100s\"", text);
  }
  return json_object_set_new(names, text, json_true()) == 0 || kymo_lang_no_memory(list->fragment->session);
}

static bool fill_variant(struct part *part) {
  struct ctf2_value list, location;
  if (!resolve(part, "selector-field-location") || !kymo_ctf2_need(part->value, "options", &list) ||
      !kymo_ctf2_array(&list))
    return false;
  kymo_ctf2_get(part->value, "selector-field-location", &location);
  if (!is_integer(part->type.selector_type))
    return kymo_ctf2_fail(&location, "expected an integer as selector, found a boolean");
  uint32_t count = (uint32_t)json_array_size(list.json);
  if (count == 0)
    return kymo_ctf2_expected(&list, "at least one option");
  struct kymo_member *options = kymo_lang_keep(part->compiler->session, count, sizeof *options);
  json_t *names = json_object();
  part->type.members = options;
  bool ok = options && (names || kymo_lang_no_memory(part->compiler->session));
  for (uint32_t i = 0; i < count && ok; i++)
    ok = place_option(part, &list, options, i) &&
         (!options[i].name[0] || is_new_name(&list, i, options[i].name, names));
  json_decref(names);
  part->type.member_count = count;
  return ok;
}

static bool fill_optional(struct part *part) {
  struct ctf2_value ranges, value;
  bool has_ranges = kymo_ctf2_get(part->value, "selector-field-ranges", &ranges);
  if (!resolve(part, "selector-field-location"))
    return false;
  const struct kymo_type *selector = part->type.selector_type;
  if (!has_ranges && is_integer(selector))
    return kymo_ctf2_fail(part->value, "there is no \"selector-field-ranges\"");
  has_ranges = is_integer(selector); /* those of a boolean mean nothing */
  if (has_ranges && !kymo_ctf2_ranges(part->compiler, &ranges, selector->is_signed, &part->type.presence,
                                      &part->type.presence_count))
    return false;
  if (has_ranges && part->type.presence_count == 0)
    return kymo_ctf2_expected(&ranges, "at least one range");
  if (part->hints.is_truth)
    part->type.presence_count = 0;
  part->type.element = kymo_ctf2_need(part->value, "field-class", &value)
                           ? place_below(part->compiler, &value, KYMO_STEP_ELEMENT)
                           : NULL;
  return part->type.element != NULL;
}

/* ---- scalars, texts, arrays ---- */

static bool fill_scalar(struct part *part) {
  return kymo_ctf2_fixed_scalar(part->compiler, part->value, &part->type);
}

static bool fill_float(struct part *part) {
  struct ctf2_value length;
  if (!fill_scalar(part))
    return false;
  kymo_ctf2_get(part->value, "length", &length);
  return part->type.size_bits != 80 || part->is_own || kymo_ctf2_expected(&length, "16, 32, 64 or 128 bits");
}

static bool fill_integer(struct part *part) {
  return (part->type.kind == KYMO_KIND_VARINT || fill_scalar(part)) &&
         kymo_ctf2_integer(part->compiler, part->value, &part->hints, &part->type);
}

static bool fill_bits(struct part *part) {
  return fill_scalar(part) && kymo_ctf2_base(part->value, &part->type);
}

static bool fill_bit_map(struct part *part) {
  struct ctf2_value flags;
  if (!fill_bits(part) || !kymo_ctf2_need(part->value, "flags", &flags) ||
      !kymo_ctf2_mappings(part->compiler, &flags, &part->hints, &part->type))
    return false;
  return part->type.mapping_count > 0 || kymo_ctf2_fail(&flags, "expected at least one flag");
}

static bool fill_text(struct part *part) {
  return kymo_ctf2_encoding(part->value, &part->hints, &part->type);
}

static bool take_length(struct part *part) {
  struct ctf2_value length;
  return kymo_ctf2_need(part->value, "length", &length) && kymo_ctf2_unsigned(&length, &part->type.length);
}

static bool fill_text_array(struct part *part) {
  return take_length(part) && fill_text(part) &&
         kymo_ctf2_roles(part->compiler, part->value, &part->hints, &part->type);
}

static bool fill_text_sequence(struct part *part) { return resolve_length(part) && fill_text(part); }

static bool fill_blob(struct part *part) {
  bool is_static = part->type.kind == KYMO_KIND_BLOB_ARRAY;
  return (is_static ? take_length(part) : resolve_length(part)) &&
         kymo_ctf2_get_text(part->value, "media-type", &part->type.media_type) &&
         (!is_static || kymo_ctf2_roles(part->compiler, part->value, &part->hints, &part->type));
}

static bool fill_array(struct part *part) {
  struct ctf2_value element;
  bool is_static = part->type.kind == KYMO_KIND_ARRAY;
  if (!(is_static ? take_length(part) : resolve_length(part)) || !take_minimum_alignment(part) ||
      (is_static && !kymo_ctf2_roles(part->compiler, part->value, &part->hints, &part->type)) ||
      !kymo_ctf2_need(part->value, "element-field-class", &element))
    return false;
  part->type.element = place_below(part->compiler, &element, KYMO_STEP_ELEMENT);
  return part->type.element != NULL;
}

/* ---- all ---- */

#define COMMON "type", "attributes", "extensions"
#define BASE "preferred-display-base"
#define FIXED COMMON, "length", "byte-order", "bit-order", "alignment"
#define INTEGER BASE, "mappings"

/* A type of field class, and the properties that it may have. */
static const struct field_class {
  const char *name;
  enum kymo_type_kind kind;
  bool is_signed, is_own;
  bool (*fill)(struct part *part);
  const char *properties[12];
} field_classes[] = {
    {"fixed-length-bit-array", KYMO_KIND_BITMAP, false, false, fill_bits, {FIXED, BASE}},
    {"fixed-length-bit-map", KYMO_KIND_BITMAP, false, false, fill_bit_map, {FIXED, BASE, "flags"}},
    {"fixed-length-boolean", KYMO_KIND_BOOLEAN, false, false, fill_bits, {FIXED, BASE}},
    {"fixed-length-unsigned-integer",
     KYMO_KIND_INTEGER,
     false,
     false,
     fill_integer,
     {FIXED, INTEGER, "roles"}},
    {"fixed-length-signed-integer", KYMO_KIND_INTEGER, true, false, fill_integer, {FIXED, INTEGER}},
    {"fixed-length-floating-point-number", KYMO_KIND_FLOAT, false, false, fill_float, {FIXED}},
    {"variable-length-unsigned-integer",
     KYMO_KIND_VARINT,
     false,
     false,
     fill_integer,
     {COMMON, INTEGER, "roles"}},
    {"variable-length-signed-integer", KYMO_KIND_VARINT, true, false, fill_integer, {COMMON, INTEGER}},
    {"null-terminated-string", KYMO_KIND_STRING, false, false, fill_text, {COMMON, "encoding"}},
    {"static-length-string",
     KYMO_KIND_TEXT_ARRAY,
     false,
     false,
     fill_text_array,
     {COMMON, "encoding", "length"}},
    {"dynamic-length-string",
     KYMO_KIND_TEXT_SEQUENCE,
     false,
     false,
     fill_text_sequence,
     {COMMON, "encoding", "length-field-location"}},
    {"static-length-blob",
     KYMO_KIND_BLOB_ARRAY,
     false,
     false,
     fill_blob,
     {COMMON, "length", "media-type", "roles"}},
    {"dynamic-length-blob",
     KYMO_KIND_BLOB_SEQUENCE,
     false,
     false,
     fill_blob,
     {COMMON, "media-type", "length-field-location"}},
    {"static-length-array",
     KYMO_KIND_ARRAY,
     false,
     false,
     fill_array,
     {COMMON, "length", "element-field-class", "minimum-alignment"}},
    {"dynamic-length-array",
     KYMO_KIND_SEQUENCE,
     false,
     false,
     fill_array,
     {COMMON, "length-field-location", "element-field-class", "minimum-alignment"}},
    {"structure",
     KYMO_KIND_STRUCT,
     false,
     false,
     fill_struct,
     {COMMON, "member-classes", "minimum-alignment"}},
    {"variant",
     KYMO_KIND_VARIANT,
     false,
     false,
     fill_variant,
     {COMMON, "options", "selector-field-location"}},
    {"optional",
     KYMO_KIND_OPTIONAL,
     false,
     false,
     fill_optional,
     {COMMON, "field-class", "selector-field-location", "selector-field-ranges"}},
    /* only as the type to which an alias refers */
    {"static-length-string",
     KYMO_KIND_TEXT_ARRAY,
     false,
     true,
     fill_text_array,
     {COMMON, "encoding", "length", "roles"}},
    {"static-length-array",
     KYMO_KIND_ARRAY,
     false,
     true,
     fill_array,
     {COMMON, "length", "element-field-class", "minimum-alignment", "roles"}},
    {"fixed-length-floating-point-number", KYMO_KIND_FLOAT, false, true, fill_float, {FIXED}},
    {"union",
     KYMO_KIND_UNION,
     false,
     true,
     fill_union,
     {COMMON, "length", "member-classes", "minimum-alignment"}},
};

static const struct field_class *class_of(const struct ctf2_value *value, bool is_own) {
  struct ctf2_value type;
  if (!kymo_ctf2_object(value) || !kymo_ctf2_need(value, "type", &type))
    return NULL;
  for (size_t i = 0; i < sizeof field_classes / sizeof field_classes[0] && json_is_string(type.json); i++)
    if (field_classes[i].is_own == is_own && strcmp(field_classes[i].name, json_string_value(type.json)) == 0)
      return &field_classes[i];
  kymo_ctf2_expected(&type, "a type of field class");
  return NULL;
}

static const struct kymo_type *made(struct part *part) {
  struct kymo_error error;
  const struct kymo_type *type = kymo_builder_type(part->compiler->builder, &part->type);
  if (!type)
    kymo_lang_no_memory(part->compiler->session);
  else if (kymo_builder_check(part->compiler->builder, type, &error) < 0)
    kymo_ctf2_fail(part->value, "%s", error.message);
  return part->compiler->session->common.failed ? NULL : type;
}

/* The one member of a wrapper, which takes over its alignment. */
static const struct kymo_type *place_wrapped(struct part *part) {
  struct ctf2_value list, member, value;
  if (!take_minimum_alignment(part) || !kymo_ctf2_need(part->value, "member-classes", &list))
    return NULL;
  if (!json_is_array(list.json) || json_array_size(list.json) != 1) {
    kymo_ctf2_expected(&list, "one member in a wrapper");
    return NULL;
  }
  member = kymo_ctf2_element(&list, 0);
  if (!kymo_ctf2_object(&member) || !kymo_ctf2_need(&member, "field-class", &value))
    return NULL;
  part->compiler->least_align = part->type.align_bits;
  return place(part->compiler, &value);
}

/* Attributes first: they may change everything else. */
static const struct kymo_type *place_object(struct ctf2_compiler *compiler, const struct ctf2_value *value) {
  struct ctf2_value attributes = {.fragment = value->fragment}, own, other;
  bool has_own, is_own = compiler->is_own;
  uint32_t least_align = compiler->least_align;
  const struct field_class *class_ = class_of(value, is_own);
  compiler->is_own = false;
  compiler->least_align = 0;
  if (!class_ || !kymo_ctf2_only(value, class_->properties) ||
      !kymo_ctf2_attributes_of(value, &attributes, &own, &has_own))
    return NULL;
  if (has_own && kymo_ctf2_get(&own, "stands-for", &other)) {
    compiler->is_own = true;
    return place(compiler, &other);
  }
  struct part part = {.compiler = compiler,
                      .value = value,
                      .is_own = is_own,
                      .type = {.kind = class_->kind, .is_signed = class_->is_signed}};
  if (!kymo_ctf2_users_attributes(&attributes, &part.type.attributes) ||
      (has_own && !kymo_ctf2_own_attributes(compiler, &own, &part.type, &part.hints)))
    return NULL;
  if (part.hints.is_wrapper && class_->kind == KYMO_KIND_STRUCT)
    return place_wrapped(&part);
  if (!class_->fill(&part))
    return NULL;
  if (part.type.align_bits < least_align)
    part.type.align_bits = least_align;
  return made(&part);
}

bool kymo_ctf2_check_class(const struct ctf2_value *value) {
  const struct field_class *class_ = class_of(value, false);
  return class_ && kymo_ctf2_only(value, class_->properties);
}

bool kymo_ctf2_no_alias(const struct ctf2_value *name) {
  return kymo_ctf2_fail(name, "there is no field class alias \"%.100s\" before this place",
                        json_string_value(name->json));
}

static const struct kymo_type *place_alias(struct ctf2_compiler *compiler, const struct ctf2_value *value) {
  json_t *index = json_object_get(compiler->alias_names, json_string_value(value->json));
  if (!index) {
    kymo_ctf2_no_alias(value);
    return NULL;
  }
  struct ctf2_alias *alias = &compiler->aliases[json_integer_value(index)];
  if (alias->placed)
    return alias->placed;
  bool was_bound = compiler->is_bound;
  compiler->is_bound = compiler->least_align > 0;
  const struct kymo_type *type = place(compiler, &alias->value);
  if (!compiler->is_bound)
    alias->placed = type;
  compiler->is_bound |= was_bound;
  return type;
}

static const struct kymo_type *place(struct ctf2_compiler *compiler, const struct ctf2_value *value) {
  if (compiler->fields_left == 0 || compiler->depth > CTF2_DEPTH_MAX) {
    kymo_ctf2_fail(value, compiler->fields_left == 0 ? "too many fields from so little text"
                                                     : "field classes nested too deeply");
    return NULL;
  }
  compiler->fields_left--;
  return json_is_string(value->json) ? place_alias(compiler, value) : place_object(compiler, value);
}

bool kymo_ctf2_place_scope(struct ctf2_compiler *compiler, const struct ctf2_value *fragment, const char *key,
                           enum kymo_scope scope) {
  struct ctf2_value value;
  compiler->roots[scope] = NULL;
  if (!kymo_ctf2_get(fragment, key, &value))
    return true;
  compiler->scope = scope;
  compiler->depth = compiler->frame_count = 0;
  const struct kymo_type *root = place(compiler, &value);
  if (!root)
    return false;
  if (root->kind != KYMO_KIND_STRUCT)
    return kymo_ctf2_fail(&value, "expected a structure");
  compiler->roots[scope] = root;
  return true;
}
