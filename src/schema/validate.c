/* SPDX-License-Identifier: MIT */
/*
 * Checks once what every finished schema promises, so that no reader has to.
 *
 * First each type by itself (widths, alignments, mapping ranges), in the order of ids. Then each scope of
 * each packet and event as a tree: the path to each dependent field is kept as steps, and its reference is
 * followed and compared with that path, step by step:
 *
 *   dependent  a . 2 . [] . 4      the path here
 *   reference  a . 2 . [] . 1      common until the last step, then smaller: precedes it
 *
 * A tree of shared types can be exponentially larger than its description (a struct of two structs of two …),
 * for this walk and for every reader that uses the schema; so the number of fields is bounded, and subtrees
 * without references are not walked at all.
 */
#include "base/fail.h"
#include "schema/build.h"
#include "schema/builder.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DEPTH_MAX 64
#define FIELDS_MAX (UINT64_C(1) << 20)       /* in one scope */
#define FIELDS_TOTAL_MAX (UINT64_C(1) << 24) /* in all scopes of all classes */
#define LEAST_BITS_MAX (UINT64_C(1) << 40)   /* of one value */
#define EMPTY_VALUES_MAX (UINT64_C(1) << 20) /* values in an array that takes no bits */

struct checker {
  const struct kymo_builder *builder;
  struct kymo_error *error;
  const struct kymo_type *roots[KYMO_SCOPE_COUNT];
  const struct kymo_stream_class *stream; /* for messages; NULL in the packet header */
  const struct kymo_event_class *event;   /* for messages; NULL outside events */
  enum kymo_scope scope;
  uint64_t fields_total;
  uint32_t depth;
  uint32_t way[DEPTH_MAX + 1];
};

static const char *const scope_names[KYMO_SCOPE_COUNT] = {
    "packet header", "packet context", "event header", "common context", "specific context", "payload",
};

/* ---- types by themselves ---- */

static int bad_type(struct checker *checker, const struct kymo_type *type, const char *what, uint64_t value) {
  const char *name = type->name ? type->name : "", *gap = type->name ? " " : "";
  return kymo_fail(checker->error, KYMO_E_FORMAT, "type%s%s: %s %" PRIu64, gap, name, what, value);
}

static int check_width(struct checker *checker, const struct kymo_type *type) {
  uint32_t bits = type->size_bits;
  switch (type->kind) {
  case KYMO_KIND_INTEGER:
  case KYMO_KIND_BOOLEAN:
  case KYMO_KIND_BITMAP:
    return bits >= 1 && bits <= 64 ? 0
                                   : bad_type(checker, type, "expected a width of 1 to 64 bits, found", bits);
  case KYMO_KIND_FLOAT:
    if (bits == 16 || bits == 32 || bits == 64 || bits == 80 || bits == 128)
      return 0;
    return bad_type(checker, type, "expected a float of 16, 32, 64, 80 or 128 bits, found", bits);
  default: return 0;
  }
}

static bool is_reversed(bool is_signed, uint64_t low, uint64_t high) {
  return is_signed ? (int64_t)low > (int64_t)high : low > high;
}

static int check_ranges(struct checker *checker, const struct kymo_type *type) {
  bool is_signed = type->is_signed && type->kind != KYMO_KIND_BITMAP;
  for (uint32_t i = 0; i < type->mapping_count; i++) {
    const struct kymo_mapping *mapping = &type->mappings[i];
    if (!mapping->name || is_reversed(is_signed, mapping->low, mapping->high))
      return bad_type(checker, type, "empty range in mapping", i);
  }
  is_signed = type->selector_type && type->selector_type->is_signed;
  for (uint32_t i = 0; i < type->presence_count; i++)
    if (is_reversed(is_signed, type->presence[i].low, type->presence[i].high))
      return bad_type(checker, type, "empty presence range", i);
  for (uint32_t i = 0; i < type->member_count; i++)
    for (uint32_t at = 0; at < type->members[i].range_count; at++)
      if (is_reversed(is_signed, type->members[i].ranges[at].low, type->members[i].ranges[at].high))
        return bad_type(checker, type, "empty range in option", i);
  return 0;
}

static bool is_uuid(const struct kymo_type *type) {
  if (type->kind == KYMO_KIND_BLOB_ARRAY || type->kind == KYMO_KIND_TEXT_ARRAY)
    return type->length == 16;
  return type->kind == KYMO_KIND_ARRAY && type->length == 16 && type->element->kind == KYMO_KIND_INTEGER &&
         type->element->size_bits == 8 && type->element->align_bits <= 8;
}

static int check_roles(struct checker *checker, const struct kymo_type *type) {
  if ((type->roles & KYMO_ROLE_UUID) && !is_uuid(type))
    return bad_type(checker, type, "expected 16 bytes as UUID, found kind", type->kind);
  bool is_integer = type->kind == KYMO_KIND_INTEGER || type->kind == KYMO_KIND_VARINT;
  if ((type->roles & ~(uint32_t)KYMO_ROLE_UUID) && (!is_integer || type->is_signed))
    return bad_type(checker, type, "expected an unsigned integer for roles", type->roles);
  return 0;
}

static int check_names(struct checker *checker, const struct kymo_type *type) {
  for (uint32_t i = 0; i < type->member_count; i++)
    if (!type->members[i].name)
      return bad_type(checker, type, "no name for member", i);
  return 0;
}

/* The work that one value causes a reader. */
static int check_extent(struct checker *checker, const struct kymo_type *type) {
  const struct type_facts *facts = &checker->builder->facts[type->id];
  bool is_bytes = type->kind == KYMO_KIND_TEXT_ARRAY || type->kind == KYMO_KIND_BLOB_ARRAY;
  if (is_bytes && type->length > UINT32_MAX / 8)
    return bad_type(checker, type, "too many bytes:", type->length);
  if (facts->depth > DEPTH_MAX)
    return kymo_fail(checker->error, KYMO_E_LIMIT, "types nested deeper than %d", DEPTH_MAX);
  if (facts->least_bits > LEAST_BITS_MAX)
    return kymo_fail(checker->error, KYMO_E_LIMIT, "a type takes more than 2^40 bits");
  if (type->kind == KYMO_KIND_ARRAY && facts->least_bits == 0 && facts->values > EMPTY_VALUES_MAX)
    return kymo_fail(checker->error, KYMO_E_LIMIT, "an array of %" PRIu64 " elements without bits",
                     type->length);
  return 0;
}

/* Checks the members of a union that share bytes: they must always be the same bytes. */
static int check_union(struct checker *checker, const struct kymo_type *type) {
  if (type->size_bits % 8 || type->align_bits % 8)
    return bad_type(checker, type, "expected a union of whole bytes, found bits:", type->size_bits);
  for (uint32_t i = 0; i < type->member_count; i++) {
    const struct type_facts *member = &checker->builder->facts[type->members[i].type->id];
    if (member->has_selector || member->exact_bits == UINT64_MAX)
      return bad_type(checker, type,
                      "expected members of constant size in a union, found a variable one:", i);
    if (member->exact_bits > type->size_bits)
      return bad_type(checker, type, "a union smaller than its member", i);
  }
  return 0;
}

static int check_type(struct checker *checker, const struct kymo_type *type) {
  if (type->align_bits & (type->align_bits - 1))
    return bad_type(checker, type, "expected a power of two as alignment, found", type->align_bits);
  if (type->base != 0 && type->base != 2 && type->base != 8 && type->base != 10 && type->base != 16)
    return bad_type(checker, type, "expected base 2, 8, 10 or 16, found", type->base);
  int status = check_width(checker, type);
  if (status == 0)
    status = check_ranges(checker, type);
  if (status == 0)
    status = check_roles(checker, type);
  if (status == 0)
    status = check_names(checker, type);
  if (status == 0 && type->kind == KYMO_KIND_UNION)
    status = check_union(checker, type);
  return status < 0 ? status : check_extent(checker, type);
}

int kymo_builder_check(const struct kymo_builder *builder, const struct kymo_type *type,
                       struct kymo_error *error) {
  struct checker checker = {.builder = builder, .error = error};
  return check_type(&checker, type);
}

/* ---- references ---- */

/* "event e: payload: a.b[]", the place of the field that the path leads to. */
static void describe_place(const struct checker *checker, char *out, size_t size) {
  int used = checker->event    ? snprintf(out, size, "event \"%.100s\": ", checker->event->name)
             : checker->stream ? snprintf(out, size, "stream %" PRIu64 ": ", checker->stream->id)
                               : 0;
  used += snprintf(out + used, size - (size_t)used, "%s: ", scope_names[checker->scope]);
  const struct kymo_type *type = checker->roots[checker->scope];
  for (uint32_t i = 0; i < checker->depth && (size_t)used < size; i++) {
    bool is_element = checker->way[i] == KYMO_STEP_ELEMENT;
    if (is_element)
      used += snprintf(out + used, size - (size_t)used, "[]");
    else
      used += snprintf(out + used, size - (size_t)used, "%s%s", i > 0 ? "." : "",
                       type->members[checker->way[i]].name);
    type = is_element ? type->element : type->members[checker->way[i]].type;
  }
}

static int bad_reference(struct checker *checker, const char *why) {
  char place[300];
  describe_place(checker, place, sizeof place);
  return kymo_fail(checker->error, KYMO_E_FORMAT, "%s: its length, tag or presence %s", place, why);
}

/* The result of following one step. */
struct follow {
  const struct kymo_type *type;
  bool is_common; /* all steps so far are those of the path to the dependent field */
  const char *fault;
};

static bool is_any_option(const struct follow *follow, uint32_t step) {
  return !follow->is_common && follow->type->kind == KYMO_KIND_VARIANT && step == KYMO_STEP_ELEMENT &&
         follow->type->member_count > 0;
}

static void follow_step(struct follow *follow, uint32_t step, uint32_t own) {
  const struct kymo_type *type = follow->type;
  if (is_any_option(follow, step)) {
    follow->type = type->members[0].type;
    return;
  }
  bool is_struct = type->kind == KYMO_KIND_STRUCT || type->kind == KYMO_KIND_UNION;
  bool is_variant = type->kind == KYMO_KIND_VARIANT;
  if (is_struct || is_variant) {
    if (step >= type->member_count)
      follow->fault = "refers to a member that is not there";
    else if (follow->is_common && is_variant && step != own)
      follow->fault = "refers to another option of its own variant";
    else if (follow->is_common && step > own)
      follow->fault = "refers to a later field";
    follow->type = follow->fault ? NULL : type->members[step].type;
  } else if (!type->element || step != KYMO_STEP_ELEMENT) {
    follow->fault = "refers into what has no members";
  } else if (!follow->is_common && type->kind != KYMO_KIND_OPTIONAL) {
    follow->fault = "refers to elements of another array";
  } else {
    follow->type = type->element;
  }
  follow->is_common = follow->is_common && step == own;
}

static const char *kind_fault(const struct kymo_type *type, const struct kymo_type *selector) {
  bool is_integer = selector->kind == KYMO_KIND_INTEGER || selector->kind == KYMO_KIND_VARINT;
  if (type->kind != KYMO_KIND_OPTIONAL)
    return is_integer ? NULL : "refers to what is no integer";
  if (selector->kind == KYMO_KIND_BOOLEAN)
    return type->presence_count == 0 ? NULL : "has ranges, though it is a boolean";
  return is_integer ? NULL : "refers to what is neither integer nor boolean";
}

/* Checks that all options of a variant agree if any of them may be meant. */
static const char *options_fault(const struct kymo_type *variant, const struct kymo_reference *reference,
                                 uint32_t step, const struct kymo_type *selector) {
  const char *names[DEPTH_MAX];
  if (!variant)
    return NULL;
  uint32_t count = kymo_reference_names(variant, reference, step, names);
  return kymo_options_have(variant, names, count, selector)
             ? NULL
             : "refers to what not all options of a variant have";
}

static int check_reference(struct checker *checker, const struct kymo_type *type) {
  const struct kymo_reference *reference = &type->selector;
  const struct kymo_type *variant = NULL;
  uint32_t variant_step = 0;
  if (reference->scope > checker->scope || reference->depth == 0 || reference->depth > DEPTH_MAX)
    return bad_reference(checker, "refers to a later scope or to no field");
  struct follow follow = {.type = checker->roots[reference->scope],
                          .is_common = reference->scope == checker->scope};
  if (!follow.type)
    return bad_reference(checker, "refers to a scope that is not there");
  for (uint32_t i = 0; i < reference->depth; i++) {
    if (follow.is_common && i >= checker->depth)
      return bad_reference(checker, "refers into itself");
    if (!variant && is_any_option(&follow, reference->steps[i])) {
      variant = follow.type;
      variant_step = i;
    }
    follow_step(&follow, reference->steps[i], i < checker->depth ? checker->way[i] : 0);
    if (follow.fault)
      return bad_reference(checker, follow.fault);
  }
  if (follow.is_common)
    return bad_reference(checker, "refers to itself or to what it is in");
  const char *fault = kind_fault(type, follow.type);
  if (!fault)
    fault = options_fault(variant, reference, variant_step, follow.type);
  if (fault)
    return bad_reference(checker, fault);
  return follow.type == type->selector_type
             ? 0
             : bad_reference(checker, "refers to a field of another type than declared");
}

/* ---- scopes ---- */

static bool needs_selector(const struct kymo_type *type) {
  return type->kind == KYMO_KIND_SEQUENCE || type->kind == KYMO_KIND_TEXT_SEQUENCE ||
         type->kind == KYMO_KIND_BLOB_SEQUENCE || type->kind == KYMO_KIND_VARIANT ||
         type->kind == KYMO_KIND_OPTIONAL;
}

/* Depth is limited: the facts of the root were checked. */
static int walk(struct checker *checker, const struct kymo_type *type) {
  if (type->selector_type) {
    int status = check_reference(checker, type);
    if (status < 0)
      return status;
  }
  uint32_t at = checker->depth++;
  if (type->element) {
    checker->way[at] = KYMO_STEP_ELEMENT;
    int status = walk(checker, type->element);
    if (status < 0)
      return status;
  }
  for (uint32_t i = 0; i < type->member_count; i++) {
    if (!checker->builder->facts[type->members[i].type->id].has_selector)
      continue;
    checker->way[at] = i;
    int status = walk(checker, type->members[i].type);
    if (status < 0)
      return status;
  }
  checker->depth = at;
  return 0;
}

static int check_scope(struct checker *checker, enum kymo_scope scope, const struct kymo_type *root) {
  checker->roots[scope] = root;
  checker->scope = scope;
  checker->depth = 0;
  if (!root)
    return 0;
  if (!kymo_builder_owns(checker->builder, root) || root->kind != KYMO_KIND_STRUCT)
    return kymo_fail(checker->error, KYMO_E_FORMAT, "expected a struct as %s", scope_names[scope]);
  const struct type_facts *facts = &checker->builder->facts[root->id];
  checker->fields_total += facts->fields < FIELDS_TOTAL_MAX ? facts->fields : FIELDS_TOTAL_MAX + 1;
  if (facts->fields > FIELDS_MAX || checker->fields_total > FIELDS_TOTAL_MAX)
    return kymo_fail(checker->error, KYMO_E_LIMIT,
                     "too many fields: %" PRIu64 " in one %s, %" PRIu64 " in all", facts->fields,
                     scope_names[scope], checker->fields_total);
  return facts->has_selector ? walk(checker, root) : 0;
}

/* The scopes that all events of a stream share. */
static int check_stream_scopes(struct checker *checker, const struct kymo_stream_class *stream) {
  checker->stream = stream;
  checker->event = NULL;
  int status = check_scope(checker, KYMO_SCOPE_PACKET_CONTEXT, stream->packet_context);
  if (status == 0)
    status = check_scope(checker, KYMO_SCOPE_EVENT_HEADER, stream->event_header);
  if (status == 0)
    status = check_scope(checker, KYMO_SCOPE_COMMON_CONTEXT, stream->common_context);
  return status;
}

static int check_event(struct checker *checker, const struct kymo_event_class *event) {
  checker->event = event;
  int status = check_scope(checker, KYMO_SCOPE_SPECIFIC_CONTEXT, event->specific_context);
  return status == 0 ? check_scope(checker, KYMO_SCOPE_PAYLOAD, event->payload) : status;
}

static int check_stream(struct checker *checker, const struct kymo_stream_class *stream) {
  int status = check_stream_scopes(checker, stream);
  for (uint32_t i = 0; i < stream->event_count && status == 0; i++)
    status = check_event(checker, stream->events[i]);
  return status;
}

int kymo_schema_check(const struct kymo_builder *builder, const struct kymo_stream_class *stream,
                      const struct kymo_event_class *event, uint64_t *fields, struct kymo_error *error) {
  struct checker checker = {.builder = builder, .error = error, .stream = stream, .fields_total = *fields};
  checker.roots[KYMO_SCOPE_PACKET_HEADER] = builder->impl->schema.packet_header;
  int status;
  if (event) {
    checker.roots[KYMO_SCOPE_PACKET_CONTEXT] = stream->packet_context;
    checker.roots[KYMO_SCOPE_EVENT_HEADER] = stream->event_header;
    checker.roots[KYMO_SCOPE_COMMON_CONTEXT] = stream->common_context;
    status = check_event(&checker, event);
  } else
    status = stream ? check_stream_scopes(&checker, stream)
                    : check_scope(&checker, KYMO_SCOPE_PACKET_HEADER, builder->impl->schema.packet_header);
  *fields = checker.fields_total;
  return status;
}

static int check_clocks(struct checker *checker, const struct kymo_schema *schema) {
  for (uint32_t i = 0; i < schema->clock_count; i++)
    if (schema->clocks[i]->frequency == 0)
      return kymo_fail(checker->error, KYMO_E_FORMAT, "clock \"%s\" has a frequency of 0",
                       schema->clocks[i]->name ? schema->clocks[i]->name : "");
  return 0;
}

int kymo_schema_validate(const struct kymo_builder *builder, struct kymo_error *error) {
  const struct kymo_schema *schema = &builder->impl->schema;
  struct checker checker = {.builder = builder, .error = error};
  int status = check_clocks(&checker, schema);
  for (uint32_t id = 0; id < builder->type_count && status == 0; id++) {
    status = check_type(&checker, builder->types[id]);
    if (status == 0 && needs_selector(builder->types[id]) && !builder->types[id]->selector_type)
      status = bad_type(&checker, builder->types[id], "nothing gives its length, tag or presence; kind",
                        builder->types[id]->kind);
  }
  if (status == 0)
    status = check_scope(&checker, KYMO_SCOPE_PACKET_HEADER, schema->packet_header);
  for (uint32_t i = 0; i < schema->stream_count && status == 0; i++)
    status = check_stream(&checker, schema->streams[i]);
  return status;
}
