/* SPDX-License-Identifier: MIT */
#include "schema/copy.h"
#include "schema/build.h"
#include "schema/lookup.h"
#include <string.h>

bool kymo_schema_copy_begin(struct kymo_schema_copy *copy, struct kymo_arena *work) {
  copy->types = kymo_arena_array(work, (size_t)copy->schema->type_count + 1, sizeof *copy->types);
  copy->clocks = kymo_arena_array(work, (size_t)copy->schema->clock_count + 1, sizeof *copy->clocks);
  return copy->types && copy->clocks;
}

void *kymo_schema_copy_array(struct kymo_schema_copy *copy, const void *from, size_t count, size_t size) {
  if (count == 0)
    return NULL;
  void *to = kymo_arena_array(kymo_builder_arena(copy->builder), count, size);
  if (to)
    memcpy(to, from, count * size);
  copy->failed |= !to;
  return to;
}

const char *kymo_schema_copy_text(struct kymo_schema_copy *copy, const char *text) {
  const char *copied = kymo_builder_text(copy->builder, text);
  copy->failed |= text && !copied;
  return copied;
}

static void own_texts(struct kymo_schema_copy *copy, const char **const *texts, size_t count) {
  for (size_t i = 0; i < count; i++)
    *texts[i] = kymo_schema_copy_text(copy, *texts[i]);
}

struct kymo_clock kymo_schema_copy_clock(struct kymo_schema_copy *copy, const struct kymo_clock *from) {
  struct kymo_clock clock = *from;
  const char **texts[] = {&clock.name,        &clock.description, &clock.origin_namespace,
                          &clock.origin_name, &clock.origin_uid,  &clock.attributes,
                          &clock.id};
  own_texts(copy, texts, sizeof texts / sizeof *texts);
  return clock;
}

struct kymo_event_class kymo_schema_copy_event(struct kymo_schema_copy *copy,
                                               const struct kymo_event_class *from) {
  struct kymo_event_class event = *from;
  const char **texts[] = {&event.group,         &event.name,       &event.uri,        &event.source_file,
                          &event.template_text, &event.attributes, &event.description};
  own_texts(copy, texts, sizeof texts / sizeof *texts);
  event.specific_context = kymo_copied_type(copy, from->specific_context);
  event.payload = kymo_copied_type(copy, from->payload);
  return event;
}

/* ---- types ---- */

/* Copies everything that the type points to into the new schema. */
static void own_parts(struct kymo_schema_copy *copy, struct kymo_type *type) {
  const char **texts[] = {&type->name, &type->unit, &type->media_type, &type->attributes};
  own_texts(copy, texts, sizeof texts / sizeof *texts);
  struct kymo_mapping *mappings =
      kymo_schema_copy_array(copy, type->mappings, type->mapping_count, sizeof *mappings);
  struct kymo_member *members =
      kymo_schema_copy_array(copy, type->members, type->member_count, sizeof *members);
  for (uint32_t i = 0; mappings && i < type->mapping_count; i++)
    mappings[i].name = kymo_schema_copy_text(copy, mappings[i].name);
  for (uint32_t i = 0; members && i < type->member_count; i++) {
    members[i].name = kymo_schema_copy_text(copy, members[i].name);
    members[i].source_name = kymo_schema_copy_text(copy, members[i].source_name);
    members[i].attributes = kymo_schema_copy_text(copy, members[i].attributes);
    members[i].ranges =
        kymo_schema_copy_array(copy, members[i].ranges, members[i].range_count, sizeof *members[i].ranges);
  }
  type->mappings = mappings;
  type->members = members;
  type->selector.steps =
      kymo_schema_copy_array(copy, type->selector.steps, type->selector.depth, sizeof *type->selector.steps);
  type->presence = kymo_schema_copy_array(copy, type->presence, type->presence_count, sizeof *type->presence);
}

/* `members` has space for those of the type. */
static const struct kymo_type *add_type(struct kymo_schema_copy *copy, const struct kymo_type *type,
                                        struct kymo_member *members) {
  struct kymo_type wanted = *type;
  wanted.clock = kymo_copied_clock(copy, type->clock);
  wanted.element = kymo_copied_type(copy, type->element);
  wanted.selector_type = kymo_copied_type(copy, type->selector_type);
  wanted.members = members;
  for (uint32_t i = 0; i < type->member_count; i++) {
    members[i] = type->members[i];
    members[i].type = kymo_copied_type(copy, members[i].type);
  }
  if (copy->change)
    copy->change(copy->user, &wanted);
  const struct kymo_type *known = kymo_builder_find(copy->builder, &wanted);
  if (known)
    return known;
  own_parts(copy, &wanted);
  return copy->failed ? NULL : kymo_builder_type(copy->builder, &wanted);
}

/* Ordered by id, parts come before the types that contain them. */
bool kymo_schema_copy_types(struct kymo_schema_copy *copy, struct kymo_arena *work) {
  const struct kymo_schema *schema = copy->schema;
  uint32_t most = 0;
  for (uint32_t id = 0; id < schema->type_count; id++)
    if (schema->types[id]->member_count > most)
      most = schema->types[id]->member_count;
  struct kymo_member *members = kymo_arena_array(work, (size_t)most + 1, sizeof *members);
  copy->failed |= !members;
  for (uint32_t id = 0; !copy->failed && id < schema->type_count; id++) {
    if (copy->wanted && !copy->wanted[id])
      continue;
    copy->types[id] = add_type(copy, schema->types[id], members);
    copy->failed |= !copy->types[id];
  }
  return !copy->failed;
}
