/* SPDX-License-Identifier: MIT */
/* Format files become event classes, and the steps by which a record becomes an event. */
#include "base/fail.h"
#include "lang/ftrace/ftrace.h"
#include "lang/ftrace/print.h"
#include "schema/attribute.h"
#include "schema/build.h"
#include "schema/message.h"
#include <string.h>

#define COUNT_SUFFIX "_count"

struct maker {
  struct kymo_builder *builder;
  const struct kymo_ftrace_machine *machine;
  const struct kymo_ftrace_format *format;
  struct kymo_ftrace_print print;
  const struct kymo_ftrace_node **labels; /* by field: the node with its labels, or NULL */
  struct kymo_member *members;
  uint32_t member_count;
  struct kymo_ftrace_step *steps;
  uint32_t step_count;
  size_t underscores; /* of names of hidden members */
  bool has_print;
};

static void *make(const struct maker *maker, size_t count, size_t size) {
  return kymo_arena_array(kymo_builder_arena(maker->builder), count, size);
}

/* ---- labels ---- */

static uint32_t find_field(const void *user, const char *name, size_t length) {
  const struct kymo_ftrace_format *format = user;
  for (uint32_t i = 0; i < format->count; i++)
    if (strlen(format->fields[i].name) == length && memcmp(format->fields[i].name, name, length) == 0)
      return i;
  return UINT32_MAX;
}

/* The labels of a field are those of the first function that is called with it alone. */
static void note_labels(struct maker *maker, const struct kymo_ftrace_node *node) {
  if (!node)
    return;
  const struct kymo_ftrace_node *value = node->a;
  while (value && value->kind == KYMO_FTRACE_CAST && (value->bits == 0 || value->bits >= 32))
    value = value->a;
  bool has_labels = node->kind == KYMO_FTRACE_FLAGS || node->kind == KYMO_FTRACE_SYMBOLIC;
  if (has_labels && value->kind == KYMO_FTRACE_FIELD && !maker->labels[value->field])
    maker->labels[value->field] = node;
  note_labels(maker, node->a);
  note_labels(maker, node->b);
  note_labels(maker, node->c);
}

static struct kymo_mapping *mappings_of(const struct maker *maker, const struct kymo_ftrace_node *node,
                                        const struct kymo_ftrace_field *field, uint32_t *count) {
  struct kymo_mapping *mappings = make(maker, node->label_count + 1u, sizeof *mappings);
  bool is_flags = node->kind == KYMO_FTRACE_FLAGS;
  unsigned bits = field->size * 8;
  for (uint32_t i = 0; mappings && i < node->label_count; i++) {
    uint64_t value = node->labels[i].value;
    bool fits = field->is_signed ? (int64_t)(value << (64 - bits)) >> (64 - bits) == (int64_t)value
                                 : bits == 64 || value >> bits == 0;
    if (is_flags && (value == 0 || (value & (value - 1)) != 0)) /* not one bit */
      continue;
    if (node->labels[i].is_end)
      break;
    if (!fits || node->labels[i].is_unknown || node->labels[i].name[0] == '\0')
      continue;
    value = is_flags ? (uint64_t)__builtin_ctzll(value) : value;
    mappings[(*count)++] = (struct kymo_mapping){node->labels[i].name, value, value};
  }
  return mappings;
}

/* ---- types ---- */

static enum kymo_byte_order order_of(const struct maker *maker) {
  return maker->machine->is_big ? KYMO_ORDER_BIG : KYMO_ORDER_LITTLE;
}

static const struct kymo_type *integer(const struct maker *maker, const struct kymo_ftrace_field *field,
                                       uint32_t size) {
  struct kymo_type type = {.kind = KYMO_KIND_INTEGER,
                           .align_bits = 8,
                           .size_bits = size * 8,
                           .order = order_of(maker),
                           .name = field->type[0] ? field->type : NULL,
                           .is_signed = field->is_signed && !field->is_pointer,
                           .is_address = field->is_pointer,
                           .base = field->is_pointer ? 16 : 10};
  const struct kymo_ftrace_node *labels =
      field->is_array ? NULL : maker->labels[field - maker->format->fields];
  if (labels && (labels->kind == KYMO_FTRACE_SYMBOLIC || !field->is_signed)) {
    type.mappings = mappings_of(maker, labels, field, &type.mapping_count);
    type.is_enumeration = labels->kind == KYMO_FTRACE_SYMBOLIC && type.mapping_count;
    if (labels->kind == KYMO_FTRACE_FLAGS && type.mapping_count)
      type.kind = KYMO_KIND_BITMAP;
    if (!type.mappings)
      return NULL;
  } else if (field->is_bool) {
    type.kind = KYMO_KIND_BOOLEAN;
    type.is_signed = false;
  }
  return kymo_builder_type(maker->builder, &type);
}

static const struct kymo_type *text(const struct maker *maker) {
  return kymo_builder_type(maker->builder,
                           &(struct kymo_type){.kind = KYMO_KIND_STRING, .encoding = KYMO_ENCODING_UTF8});
}

/* The type of a field of constant size. */
static const struct kymo_type *fixed_type(const struct maker *maker, const struct kymo_ftrace_field *field) {
  bool is_number = field->size == 1 || field->size == 2 || field->size == 4 || field->size == 8;
  struct kymo_type type = {.align_bits = 8, .size_bits = 8 * field->size, .length = field->size};
  if (!field->is_array && is_number)
    return integer(maker, field, field->size);
  if (field->is_text) {
    type.kind = KYMO_KIND_TEXT_ARRAY;
    type.encoding = KYMO_ENCODING_UTF8;
  } else if (field->is_array && field->element_size) {
    type = (struct kymo_type){.kind = KYMO_KIND_ARRAY,
                              .length = field->size / field->element_size,
                              .element = integer(maker, field, field->element_size)};
    if (!type.element)
      return NULL;
  } else {
    type.kind = KYMO_KIND_BLOB_ARRAY;
  }
  return kymo_builder_type(maker->builder, &type);
}

/* ---- members and steps ---- */

static void add_member(struct maker *maker, const char *name, const struct kymo_type *type,
                       const char *attributes) {
  maker->members[maker->member_count++] =
      (struct kymo_member){.name = name, .source_name = name, .type = type, .attributes = attributes};
}

static struct kymo_ftrace_step *add_step(struct maker *maker, enum kymo_ftrace_step_kind kind,
                                         const struct kymo_ftrace_field *field) {
  struct kymo_ftrace_step *step = &maker->steps[maker->step_count++];
  *step = (struct kymo_ftrace_step){kind, field->place, field->offset, field->element_size, field};
  return step;
}

/* Fields that follow one another are copied at once. */
static void copy(struct maker *maker, const struct kymo_ftrace_field *field) {
  struct kymo_ftrace_step *last = maker->step_count ? &maker->steps[maker->step_count - 1] : NULL;
  if (last && last->kind == KYMO_FTRACE_COPY && last->from + last->size == field->offset)
    last->size += field->size;
  else
    add_step(maker, KYMO_FTRACE_COPY, field)->size = field->size;
}

/* The hidden member with the number of elements of the next one. */
static const char *count_name(const struct maker *maker, const struct kymo_ftrace_field *field) {
  size_t length = strlen(field->name), size = maker->underscores + length + sizeof COUNT_SUFFIX;
  char *name = kymo_builder_alloc(maker->builder, size);
  if (name) {
    memset(name, '_', maker->underscores);
    memcpy(name + maker->underscores, field->name, length);
    memcpy(name + maker->underscores + length, COUNT_SUFFIX, sizeof COUNT_SUFFIX);
  }
  return name;
}

/* A list whose length the record determines. */
static void add_sequence(struct maker *maker, const struct kymo_ftrace_field *field) {
  uint32_t *steps = kymo_builder_alloc(maker->builder, sizeof *steps);
  const struct kymo_type *number = kymo_builder_number(maker->builder, 32, 0, NULL);
  struct kymo_type type = {.kind = field->element_size ? KYMO_KIND_SEQUENCE : KYMO_KIND_BLOB_SEQUENCE,
                           .align_bits = 8,
                           .element = field->element_size ? integer(maker, field, field->element_size) : NULL,
                           .selector_type = number,
                           .selector = {.scope = KYMO_SCOPE_PAYLOAD, .depth = 1, .steps = steps}};
  if (steps)
    *steps = maker->member_count;
  add_member(maker, count_name(maker, field), number, KYMO_ATTRIBUTE_HIDDEN);
  bool is_complete = steps && number && (type.element || !field->element_size);
  add_member(maker, field->name, is_complete ? kymo_builder_type(maker->builder, &type) : NULL, NULL);
  struct kymo_ftrace_step *step = add_step(maker, KYMO_FTRACE_PUT_COUNT, field);
  step->size = field->element_size ? field->element_size : 1;
}

static void add_field(struct maker *maker, const struct kymo_ftrace_field *field) {
  if (field->place == KYMO_FTRACE_FIXED) {
    add_member(maker, field->name, fixed_type(maker, field), NULL);
    copy(maker, field);
  } else if (field->is_text) {
    add_member(maker, field->name, text(maker), NULL);
    add_step(maker, KYMO_FTRACE_PUT_TEXT, field);
  } else {
    add_sequence(maker, field);
  }
}

/* The stack of ftrace's kernel_stack has as many addresses as the record has space for, whatever the format
 * says. */
static const struct kymo_ftrace_field *open_field(const struct maker *maker, const char *group,
                                                  const struct kymo_ftrace_field *field) {
  const struct kymo_ftrace_format *format = maker->format;
  bool is_stack = strcmp(group, "ftrace") == 0 && strcmp(format->name, "kernel_stack") == 0 &&
                  field == &format->fields[format->count - 1] && field->is_array;
  struct kymo_ftrace_field *open = is_stack ? make(maker, 1, sizeof *open) : NULL;
  if (!open)
    return field;
  *open = *field;
  open->place = KYMO_FTRACE_REST;
  open->size = 0;
  return open;
}

/* ---- classes ---- */

static bool prepare(struct maker *maker) {
  const struct kymo_ftrace_format *format = maker->format;
  uint32_t count = format->count;
  maker->labels = make(maker, count + 1u, sizeof *maker->labels);
  maker->members = make(maker, 2 * count + 1u, sizeof *maker->members);
  maker->steps = make(maker, count + 1u, sizeof *maker->steps);
  if (!maker->labels || !maker->members || !maker->steps)
    return false;
  maker->underscores = 2;
  for (uint32_t i = 0; i < count; i++)
    maker->underscores =
        kymo_hidden_underscores(maker->underscores, format->fields[i].name, strlen(format->fields[i].name));
  maker->has_print = format->print &&
                     kymo_ftrace_print_parse(&maker->print, kymo_builder_arena(maker->builder), format->print,
                                             KYMO_FTRACE_OF_KERNEL, find_field, format, NULL) == KYMO_OK;
  for (uint32_t i = 0; maker->has_print && i < maker->print.count; i++)
    note_labels(maker, maker->print.pieces[i].argument);
  return true;
}

static char *full_name(const struct maker *maker, const char *group) {
  size_t length = strlen(group), rest = strlen(maker->format->name);
  char *name = kymo_builder_alloc(maker->builder, length + rest + 2);
  if (!name)
    return NULL;
  memcpy(name, group, length);
  name[length] = ':';
  memcpy(name + length + 1, maker->format->name, rest);
  return name;
}

int kymo_ftrace_add_class(struct kymo_ftrace_class *out, struct kymo_builder *builder,
                          struct kymo_stream_class *stream, const struct kymo_ftrace_machine *machine,
                          const char *group, const struct kymo_ftrace_format *format,
                          struct kymo_error *error) {
  struct maker maker = {.builder = builder, .machine = machine, .format = format};
  struct kymo_event_class event = {.id = format->id, .level = -1};
  struct kymo_event_class *class_ = NULL;
  *out = (struct kymo_ftrace_class){0};
  if (!prepare(&maker))
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  for (uint32_t i = format->common_count; i < format->count; i++) {
    const struct kymo_ftrace_field *field = open_field(&maker, group, &format->fields[i]);
    uint32_t end = field->offset + field->size;
    add_field(&maker, field);
    out->least_bytes = end > out->least_bytes ? end : out->least_bytes;
  }
  event.name = full_name(&maker, group);
  event.payload = kymo_builder_struct(builder, maker.members, maker.member_count);
  event.template_text = format->print ? kymo_builder_text(builder, format->print) : NULL;
  event.attributes = maker.has_print ? KYMO_MESSAGE_KERNEL_ATTRIBUTES : NULL;
  if (!event.name || !event.payload || kymo_builder_has_failed(builder))
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  int status = kymo_builder_event(builder, stream, &event, &class_, error);
  out->class_ = class_;
  out->steps = maker.steps;
  out->step_count = maker.step_count;
  return status;
}
