/* SPDX-License-Identifier: MIT */
/*
 * The event classes of a framed log: NAME:bytes with the bytes of the program, NAME:text with text, the
 * same for events that were cut, if they are wanted, definitions, and one for each definition. Each event has
 * its sequence number, and the CPU or thread of its file.
 */
#include "base/fail.h"
#include "decode/walk.h"
#include "format/frames/frames.h"
#include "schema/attribute.h"
#include "schema/build.h"
#include "schema/message.h"
#include "source/format.h"
#include <stdio.h>

struct maker {
  struct kymo_builder *builder;
  struct kymo_stream_class *stream;
  struct frames_name name;
  struct kymo_error *error;
};

static int no_memory(struct maker *maker) { return kymo_fail(maker->error, KYMO_E_MEMORY, "out of memory"); }

static int make_stream(struct maker *maker, bool is_cpu, bool has_time) {
  const struct kymo_clock *clock = NULL;
  if (has_time &&
      !(clock = kymo_builder_clock(
            maker->builder,
            &(struct kymo_clock){.name = "fields", .frequency = 1000000000, .origin_is_epoch = true})))
    return no_memory(maker);
  const struct kymo_member
      id = {.name = "id", .type = kymo_builder_number(maker->builder, 16, KYMO_ROLE_EVENT_CLASS_ID, NULL)},
      header[] = {id,
                  {.name = "time",
                   .type =
                       has_time ? kymo_builder_number(maker->builder, 64, KYMO_ROLE_TIMESTAMP, clock) : NULL},
                  {.name = KYMO_TIMED, .type = kymo_builder_number(maker->builder, 8, 0, NULL)}},
      lost = {.name = "events_discarded",
              .type = kymo_builder_number(maker->builder, 64, KYMO_ROLE_DISCARDED, NULL)},
      context[] = {
          {.name = "sequence", .type = kymo_builder_number(maker->builder, 32, 0, NULL)},
          {.name = is_cpu ? "cpu" : "thread", .type = kymo_builder_number(maker->builder, 32, 0, NULL)}};
  struct kymo_stream_class stream = {.clock = clock,
                                     .event_header =
                                         kymo_builder_struct(maker->builder, header, has_time ? 3 : 1),
                                     .packet_context = kymo_builder_struct(maker->builder, &lost, 1),
                                     .common_context = kymo_builder_struct(maker->builder, context, 2)};
  if (!stream.event_header || !stream.packet_context || !stream.common_context)
    return no_memory(maker);
  return kymo_builder_stream(maker->builder, &stream, &maker->stream, maker->error);
}

static const struct kymo_type *make_bytes(struct maker *maker) {
  const struct kymo_type *length = kymo_builder_number(maker->builder, 32, 0, NULL);
  uint32_t *steps = kymo_builder_alloc(maker->builder, sizeof *steps);
  struct kymo_type blob = {.kind = KYMO_KIND_BLOB_SEQUENCE,
                           .align_bits = 8,
                           .selector_type = length,
                           .selector = {.scope = KYMO_SCOPE_PAYLOAD, .depth = 1, .steps = steps}};
  const struct kymo_member members[] = {
      {.name = "length", .type = length},
      {.name = "bytes", .type = length && steps ? kymo_builder_type(maker->builder, &blob) : NULL}};
  return kymo_builder_struct(maker->builder, members, 2);
}

static const struct kymo_type *make_text(struct maker *maker) {
  const struct kymo_type *text = kymo_builder_type(
      maker->builder, &(struct kymo_type){.kind = KYMO_KIND_STRING, .encoding = KYMO_ENCODING_UTF8});
  return kymo_builder_struct(maker->builder, &(struct kymo_member){.name = "text", .type = text}, 1);
}

static int add_class(struct maker *maker, enum frames_class id, const char *what) {
  size_t size = maker->name.length + strlen(what) + 2;
  bool is_text = id == FRAMES_TEXT || id == FRAMES_CUT_TEXT;
  char *group = kymo_builder_alloc(maker->builder, maker->name.length + 1),
       *name = kymo_builder_alloc(maker->builder, size);
  struct kymo_event_class event = {.id = id,
                                   .group = group,
                                   .name = name,
                                   .level = -1,
                                   .payload = is_text ? make_text(maker) : make_bytes(maker),
                                   .template_text = is_text ? "%s" : NULL,
                                   .attributes = is_text ? KYMO_MESSAGE_ATTRIBUTES : NULL};
  if (!group || !name || !event.payload)
    return no_memory(maker);
  memcpy(group, maker->name.text, maker->name.length);
  snprintf(name, size, "%s:%s", group, what);
  return kymo_builder_event(maker->builder, maker->stream, &event, NULL, maker->error);
}

/* ---- definitions ---- */

static char *copy_text(struct maker *maker, const char *text, size_t length) {
  char *copy = kymo_builder_alloc(maker->builder, length + 1);
  if (copy && length)
    memcpy(copy, text, length);
  return copy;
}

/* Numbers are little-endian in rows, in any case. */
static const struct kymo_type *make_number(struct maker *maker, uint32_t what, uint32_t bytes) {
  uint32_t kind = kymo_field_kind(what);
  struct kymo_type type = {.kind = KYMO_KIND_INTEGER,
                           .align_bits = 8,
                           .size_bits = bytes * 8,
                           .base = what & KYMO_FIELD_HEX ? 16 : 10,
                           .is_signed = kind == KYMO_FIELD_IS_SIGNED,
                           .unit = kind == KYMO_FIELD_IS_TIME ? "ns" : NULL};
  return kymo_builder_type(maker->builder, &type);
}

static const struct kymo_type *make_float(struct maker *maker, uint32_t what) {
  bool is_time = kymo_field_kind(what) == KYMO_FIELD_IS_TIMEVAL;
  struct kymo_type type = {.kind = KYMO_KIND_FLOAT,
                           .align_bits = 8,
                           .size_bits = is_time ? 64 : kymo_field_bytes(what) * 8,
                           .name = is_time ? KYMO_TIMEVAL_NAME : NULL,
                           .unit = is_time ? "s" : NULL};
  return kymo_builder_type(maker->builder, &type);
}

/* Bytes or elements, after the member `counter` with their number. */
static const struct kymo_type *make_array(struct maker *maker, uint32_t what, uint32_t counter) {
  uint32_t element = kymo_field_element(what), *steps = kymo_builder_alloc(maker->builder, sizeof *steps);
  struct kymo_type type = {.kind = element == 1 ? KYMO_KIND_BLOB_SEQUENCE : KYMO_KIND_SEQUENCE,
                           .align_bits = 8,
                           .selector_type = kymo_builder_number(maker->builder, 32, 0, NULL),
                           .element = element == 1 ? NULL : make_number(maker, what, element),
                           .selector = {.scope = KYMO_SCOPE_PAYLOAD, .depth = 1, .steps = steps}};
  if (!steps || !type.selector_type || (element > 1 && !type.element))
    return NULL;
  *steps = counter;
  return kymo_builder_type(maker->builder, &type);
}

static const struct kymo_type *make_field(struct maker *maker, uint32_t what, uint32_t place) {
  switch (kymo_field_kind(what)) {
  case KYMO_FIELD_IS_FLOAT:
  case KYMO_FIELD_IS_TIMEVAL: return make_float(maker, what);
  case KYMO_FIELD_IS_ARRAY: return make_array(maker, what, place - 1);
  case KYMO_FIELD_IS_ID: return kymo_builder_number(maker->builder, 32, 0, NULL);
  case KYMO_FIELD_IS_MEMORY:
    return kymo_builder_type(
        maker->builder, &(struct kymo_type){.kind = KYMO_KIND_BLOB_ARRAY, .length = kymo_field_bytes(what)});
  case KYMO_FIELD_IS_TEXT:
  case KYMO_FIELD_IS_COUNTED_TEXT:
  case KYMO_FIELD_IS_CHARS:
    return kymo_builder_type(maker->builder,
                             &(struct kymo_type){.kind = KYMO_KIND_STRING, .encoding = KYMO_ENCODING_UTF8});
  default: return make_number(maker, what, kymo_field_bytes(what));
  }
}

/* For the number of elements of an array, the field `index`; NULL: out of memory. */
static char *counter_name(struct maker *maker, size_t underscores, uint32_t index) {
  char *name = kymo_builder_alloc(maker->builder, underscores + 24);
  if (name)
    snprintf((char *)memset(name, '_', underscores) + underscores, 24, "count of field %u", index);
  return name;
}

static const struct kymo_type *make_payload(struct maker *maker,
                                            const struct kymo_event_definition *definition) {
  struct kymo_member members[2 * KYMO_DEFINITION_FIELDS_MAX];
  uint32_t count = 0;
  size_t underscores = 2;
  for (uint32_t i = 0; i < definition->field_count; i++)
    underscores =
        kymo_hidden_underscores(underscores, definition->fields[i].name, definition->fields[i].name_length);
  for (uint32_t i = 0; i < definition->field_count; i++) {
    const struct kymo_event_definition_field *field = &definition->fields[i];
    if (kymo_field_kind(field->what) == KYMO_FIELD_IS_ARRAY &&
        !(members[count++] = (struct kymo_member){.name = counter_name(maker, underscores, i),
                                                  .type = kymo_builder_number(maker->builder, 32, 0, NULL),
                                                  .attributes = KYMO_ATTRIBUTE_HIDDEN})
             .name)
      return NULL;
    members[count] = (struct kymo_member){.name = copy_text(maker, field->name, field->name_length),
                                          .type = make_field(maker, field->what, count)};
    if (!members[count++].name)
      return NULL;
  }
  return kymo_builder_struct(maker->builder, members, count);
}

/* The application's numbers of the definition, and that its template is a printf format. */
static char *make_attributes(struct maker *maker, const struct kymo_event_definition *definition) {
  char text[160];
  int length = snprintf(text, sizeof text,
                        "{%s" KYMO_DEFINITION_ID_KEY ":%u," KYMO_DEFINITION_APPLICATION_KEY
                        ":%u," KYMO_DEFINITION_VERSION_KEY ":%u}",
                        definition->template_length ? KYMO_MESSAGE_KEY ":" KYMO_MESSAGE_VALUE "," : "",
                        definition->id, definition->application, definition->version);
  return copy_text(maker, text, (size_t)length);
}

static int add_defined(struct maker *maker, const struct frames_definition *from) {
  const struct kymo_event_definition *definition = from->parsed;
  const char *colon = memchr(definition->name, ':', definition->name_length);
  struct kymo_event_class event = {
      .id = from->class_index,
      .level = -1,
      .payload = make_payload(maker, definition),
      .name = copy_text(maker, definition->name, definition->name_length),
      .group = copy_text(maker, definition->name, colon ? (size_t)(colon - definition->name) : 0),
      .attributes = make_attributes(maker, definition)};
  if (definition->template_length)
    event.template_text = copy_text(maker, definition->template_text, definition->template_length);
  if (!event.payload || !event.name || !event.group || !event.attributes ||
      (definition->template_length && !event.template_text))
    return no_memory(maker);
  return kymo_builder_event(maker->builder, maker->stream, &event, NULL, maker->error);
}

/* ---- the whole ---- */

struct kymo_schema *kymo_frames_schema(const struct frames *frames, struct kymo_error *error) {
  static const char *const names[] = {[FRAMES_BYTES] = "bytes",
                                      [FRAMES_TEXT] = "text",
                                      [FRAMES_CUT_BYTES] = "cut_bytes",
                                      [FRAMES_CUT_TEXT] = "cut_text",
                                      [FRAMES_DEFINITION] = "definition"};
  const struct frames_file *first = frames->files[0];
  struct maker maker = {
      .builder = kymo_builder_new(), .name = kymo_frames_name(first->path, &first->head), .error = error};
  int status = maker.builder ? KYMO_OK : no_memory(&maker);
  if (status == KYMO_OK) {
    struct kymo_schema *schema = kymo_builder_schema(maker.builder);
    schema->order = KYMO_ORDER_LITTLE;
    schema->major = 1;
    schema->minor = 8;
    status = make_stream(&maker, first->head.is_cpu, frames->has_time);
  }
  for (uint32_t i = 0; i < (frames->all_classes ? FRAMES_CLASSES : FRAMES_DEFINITION) && status == KYMO_OK;
       i++)
    status = add_class(&maker, (enum frames_class)i, names[i]);
  for (uint32_t i = 0; i < frames->definitions.count && status == KYMO_OK; i++)
    status = add_defined(&maker, &frames->definitions.list[i]);
  return kymo_builder_end(maker.builder, status, error);
}
