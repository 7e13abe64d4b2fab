/* SPDX-License-Identifier: MIT */
/*
 * One schema that has everything of several. Types are copied in the order of their ids, so that parts come first,
 * and interning makes equal ones one; then stream classes, and the event classes that are not there yet.
 */
#include "base/fail.h"
#include "schema/build.h"
#include "schema/lookup.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* One of the schemas on its way into the builder. */
struct copying {
  struct kymo_builder *builder;
  struct kymo_arena *arena;
  const struct kymo_schema *from;
  const struct kymo_type **types;   /* by id in `from`: the copy */
  const struct kymo_clock **clocks; /* by index in `from` */
};

static const struct kymo_type *copied(const struct copying *c, const struct kymo_type *type) {
  return type ? c->types[type->id] : NULL;
}

static const struct kymo_clock *copied_clock(const struct copying *c, const struct kymo_clock *clock) {
  return clock ? c->clocks[clock->index] : NULL;
}

/* A copy in the arena of what is no text; NULL for nothing. */
static const void *keep(const struct copying *c, const void *items, size_t count, size_t size, bool *ok) {
  if (count == 0)
    return NULL;
  void *copy = kymo_arena_array(c->arena, count, size);
  *ok = *ok && copy;
  return copy ? memcpy(copy, items, count * size) : NULL;
}

static const char *keep_text(const struct copying *c, const char *text, bool *ok) {
  char *copy = kymo_builder_text(c->builder, text);
  *ok = *ok && (copy || !text);
  return copy;
}

/* ---- types and clocks ---- */

static const struct kymo_member *copy_members(const struct copying *c, const struct kymo_type *type, bool *ok) {
  struct kymo_member *members = (struct kymo_member *)(uintptr_t)keep(c, type->members, type->member_count, sizeof *members, ok);
  for (uint32_t i = 0; members && i < type->member_count; i++) {
    struct kymo_member *member = &members[i];
    member->name = keep_text(c, member->name, ok);
    member->source_name = keep_text(c, member->source_name, ok);
    member->attributes = keep_text(c, member->attributes, ok);
    member->ranges = keep(c, member->ranges, member->range_count, sizeof *member->ranges, ok);
    member->type = copied(c, member->type);
  }
  return members;
}

static const struct kymo_mapping *copy_mappings(const struct copying *c, const struct kymo_type *type, bool *ok) {
  struct kymo_mapping *mappings =
      (struct kymo_mapping *)(uintptr_t)keep(c, type->mappings, type->mapping_count, sizeof *mappings, ok);
  for (uint32_t i = 0; mappings && i < type->mapping_count; i++)
    mappings[i].name = keep_text(c, mappings[i].name, ok);
  return mappings;
}

static const struct kymo_type *copy_type(const struct copying *c, const struct kymo_type *type) {
  bool ok = true;
  struct kymo_type copy = *type;
  copy.name = keep_text(c, type->name, &ok);
  copy.unit = keep_text(c, type->unit, &ok);
  copy.media_type = keep_text(c, type->media_type, &ok);
  copy.attributes = keep_text(c, type->attributes, &ok);
  copy.clock = copied_clock(c, type->clock);
  copy.element = copied(c, type->element);
  copy.selector_type = copied(c, type->selector_type);
  copy.selector.steps = keep(c, type->selector.steps, type->selector.depth, sizeof *type->selector.steps, &ok);
  copy.presence = keep(c, type->presence, type->presence_count, sizeof *type->presence, &ok);
  copy.members = copy_members(c, type, &ok);
  copy.mappings = copy_mappings(c, type, &ok);
  return ok ? kymo_builder_type(c->builder, &copy) : NULL;
}

static bool copy_types(const struct copying *c) {
  for (uint32_t id = 0; id < c->from->type_count; id++)
    if (!(c->types[id] = copy_type(c, c->from->types[id])))
      return false;
  return true;
}

static bool is_same_text(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

/* Clocks of one name are one: processes calibrate theirs each. */
static const struct kymo_clock *copy_clock(const struct copying *c, const struct kymo_clock *clock) {
  const struct kymo_schema *schema = kymo_builder_schema(c->builder);
  for (uint32_t i = 0; i < schema->clock_count; i++)
    if (is_same_text(schema->clocks[i]->name, clock->name))
      return schema->clocks[i];
  bool ok = true;
  struct kymo_clock copy = *clock;
  copy.name = keep_text(c, clock->name, &ok);
  copy.description = keep_text(c, clock->description, &ok);
  copy.origin_namespace = keep_text(c, clock->origin_namespace, &ok);
  copy.origin_name = keep_text(c, clock->origin_name, &ok);
  copy.origin_uid = keep_text(c, clock->origin_uid, &ok);
  copy.attributes = keep_text(c, clock->attributes, &ok);
  return ok ? kymo_builder_clock(c->builder, &copy) : NULL;
}

static bool copy_clocks(const struct copying *c) {
  for (uint32_t i = 0; i < c->from->clock_count; i++)
    if (!(c->clocks[i] = copy_clock(c, c->from->clocks[i])))
      return false;
  return true;
}

/* ---- classes ---- */

static struct kymo_stream_class *find_stream(const struct kymo_builder *builder, uint64_t id) {
  return (struct kymo_stream_class *)(uintptr_t)kymo_id_table_find(&builder->impl->streams, id);
}

static int add_stream(const struct copying *c, const struct kymo_stream_class *stream, struct kymo_stream_class **out,
                      struct kymo_error *error) {
  bool ok = true;
  struct kymo_stream_class copy = {.id = stream->id, .name = keep_text(c, stream->name, &ok),
                                   .packet_context = copied(c, stream->packet_context),
                                   .event_header = copied(c, stream->event_header),
                                   .common_context = copied(c, stream->common_context),
                                   .clock = copied_clock(c, stream->clock),
                                   .attributes = keep_text(c, stream->attributes, &ok)};
  return ok ? kymo_builder_stream(c->builder, &copy, out, error) : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
}

/* Types are interned, so equal ones are the same. */
static bool fits(const struct copying *c, const struct kymo_stream_class *there, const struct kymo_stream_class *stream) {
  return there->packet_context == copied(c, stream->packet_context) &&
         there->event_header == copied(c, stream->event_header) &&
         there->common_context == copied(c, stream->common_context);
}

static bool is_same_event(const struct copying *c, const struct kymo_event_class *there,
                          const struct kymo_event_class *event) {
  return there->level == event->level && there->payload == copied(c, event->payload) &&
         there->specific_context == copied(c, event->specific_context);
}

static bool has_room(const struct kymo_stream_class *stream, uint64_t id) {
  return !kymo_id_table_find(&((const struct stream_impl *)stream)->events, id);
}

/* Events of the builder by name, with all versions in one chain, until it is finished. */
static const void **versions_of(const struct copying *c, const char *name) {
  return kymo_name_table_add(&c->builder->impl->events_by_name, c->arena, name);
}

static int add_event(const struct copying *c, struct kymo_stream_class *stream, const struct kymo_event_class *event,
                     uint64_t *free_id, struct kymo_error *error) {
  bool ok = true;
  struct kymo_event_class copy = *event, *made = NULL;
  copy.name = keep_text(c, event->name, &ok);
  copy.group = keep_text(c, event->group, &ok);
  copy.uri = keep_text(c, event->uri, &ok);
  copy.source_file = keep_text(c, event->source_file, &ok);
  copy.template_text = keep_text(c, event->template_text, &ok);
  copy.attributes = keep_text(c, event->attributes, &ok);
  copy.description = keep_text(c, event->description, &ok);
  const void **versions = ok ? versions_of(c, copy.name) : NULL;
  if (!versions)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  for (const struct kymo_event_class *there = *versions; there; there = there->next_version)
    if (there->stream == stream && is_same_event(c, there, event))
      return KYMO_OK;
  copy.payload = copied(c, event->payload);
  copy.specific_context = copied(c, event->specific_context);
  copy.next_version = *versions;
  while (!has_room(stream, copy.id))
    copy.id = (*free_id)++;
  int status = kymo_builder_event(c->builder, stream, &copy, &made, error);
  *versions = made ? made : *versions;
  return status;
}

static int copy_stream(const struct copying *c, const struct kymo_stream_class *stream, struct kymo_error *error) {
  struct kymo_stream_class *there = find_stream(c->builder, stream->id);
  if (there && !fits(c, there, stream))
    return kymo_fail(error, KYMO_E_USAGE,
                     "stream class %" PRIu64 " has other packets or event headers than that of another schema",
                     stream->id);
  int status = there ? KYMO_OK : add_stream(c, stream, &there, error);
  uint64_t free_id = 0;
  for (uint32_t i = 0; i < stream->event_count && status == KYMO_OK; i++)
    status = add_event(c, there, stream->events[i], &free_id, error);
  return status;
}

/* ---- the trace ---- */

static bool copy_trace(const struct copying *c) {
  bool ok = true;
  struct kymo_schema *to = kymo_builder_schema(c->builder);
  const struct kymo_schema *from = c->from;
  to->order = from->order;
  to->major = from->major;
  to->minor = from->minor;
  to->has_uuid = from->has_uuid;
  memcpy(to->uuid, from->uuid, sizeof to->uuid);
  to->trace_name = keep_text(c, from->trace_name, &ok);
  to->attributes = keep_text(c, from->attributes, &ok);
  to->packet_header = copied(c, from->packet_header);
  to->machine = keep(c, from->machine, from->machine != NULL, sizeof *from->machine, &ok);
  for (uint32_t i = 0; i < from->environment_count && ok; i++) {
    struct kymo_environment entry = from->environment[i];
    entry.name = keep_text(c, entry.name, &ok);
    entry.text = keep_text(c, entry.text, &ok);
    ok = ok && kymo_builder_environment(c->builder, &entry) == KYMO_OK;
  }
  return ok;
}

/* What is true of one of them only is not said of all. */
static int reconcile_trace(const struct copying *c, struct kymo_error *error) {
  struct kymo_schema *to = kymo_builder_schema(c->builder);
  const struct kymo_schema *from = c->from;
  if (to->packet_header != copied(c, from->packet_header))
    return kymo_fail(error, KYMO_E_USAGE, "the packet headers of the schemas differ");
  to->has_uuid = to->has_uuid && from->has_uuid && memcmp(to->uuid, from->uuid, sizeof to->uuid) == 0;
  if (!to->has_uuid)
    memset(to->uuid, 0, sizeof to->uuid);
  if (to->machine && (!from->machine || memcmp(to->machine, from->machine, sizeof *to->machine) != 0))
    to->machine = NULL;
  return KYMO_OK;
}

static int copy_schema(struct copying *c, bool is_first, struct kymo_error *error) {
  c->types = calloc(c->from->type_count + 1u, sizeof *c->types);
  c->clocks = calloc(c->from->clock_count + 1u, sizeof *c->clocks);
  int status = KYMO_OK;
  if (!c->types || !c->clocks || !copy_clocks(c) || !copy_types(c) || (is_first && !copy_trace(c)))
    status = kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  else if (!is_first)
    status = reconcile_trace(c, error);
  for (uint32_t i = 0; i < c->from->stream_count && status == KYMO_OK; i++)
    status = copy_stream(c, c->from->streams[i], error);
  free(c->types);
  free(c->clocks);
  return status;
}

int kymo_schema_merge(struct kymo_schema **out, const struct kymo_schema *const *schemas, size_t count,
                      struct kymo_error *error) {
  struct kymo_error local = {.offset = KYMO_ERROR_NO_OFFSET}, *told = error ? error : &local;
  struct kymo_builder *builder = kymo_builder_new();
  int status = builder ? KYMO_OK : kymo_fail(told, KYMO_E_MEMORY, "out of memory");
  *out = NULL;
  for (size_t i = 0; i < count && status == KYMO_OK; i++) {
    struct copying c = {.builder = builder, .arena = kymo_builder_arena(builder), .from = schemas[i]};
    status = copy_schema(&c, i == 0, told);
  }
  if (status != KYMO_OK) {
    kymo_builder_free(builder);
    return status;
  }
  builder->impl->events_by_name = (struct name_table){0}; /* made anew, in the order of the streams */
  *out = kymo_builder_finish(builder, told);
  return *out ? KYMO_OK : told->code;
}
