/* SPDX-License-Identifier: MIT */
/*
 * Prepared names, and hidden members. The rule is that of babeltrace2, whose output one sink repeats byte for
 * byte: an integer that has a role or belongs to a clock is hidden unless a length or tag refers to it; a
 * struct is hidden if it has members and all of them are; an array if its element is; a variant only if all
 * of its options are.
 */
#include "print/names.h"
#include "base/fail.h"
#include "schema/attribute.h"
#include "schema/parts.h"
#include <string.h>

/* Limit of the resolutions of references to hidden integers; beyond it they stay hidden (only looks). */
#define RESOLVE_LIMIT (UINT64_C(1) << 24)

const char *kymo_names_keep(struct kymo_arena *arena, struct kymo_strbuf *buf, uint32_t *length) {
  char *copy = buf->failed ? NULL : kymo_arena_alloc(arena, buf->length + KYMO_PIECE_SLACK);
  if (copy && buf->length > 0)
    memcpy(copy, buf->text, buf->length);
  *length = (uint32_t)buf->length;
  buf->length = 0;
  return copy;
}

static bool is_service(const struct kymo_type *type) { return type->roles != 0 || type->clock != NULL; }

static const char *name_of(const struct kymo_member *member) { return member->name ? member->name : ""; }

void kymo_names_add_unique(struct kymo_strbuf *out, const struct kymo_type *type, uint32_t index) {
  const struct kymo_member *member = &type->members[index],
                           *first = member->name ? kymo_type_member(type, member->name) : NULL;
  uint32_t number = 1;
  kymo_strbuf_puts(out, name_of(member));
  for (; first && first < member; first++)
    number += strcmp(name_of(first), name_of(member)) == 0;
  if (number == 1)
    return;
  size_t length = strlen(name_of(member)), signs = 1;
  for (uint32_t i = 0; i < type->member_count; i++) /* more signs than any name has there */
    if (strncmp(name_of(&type->members[i]), name_of(member), length) == 0) {
      size_t own = strspn(name_of(&type->members[i]) + length, "#");
      signs = own >= signs ? own + 1 : signs;
    }
  for (size_t i = 0; i < signs; i++)
    kymo_strbuf_puts(out, "#");
  kymo_strbuf_printf(out, "%u", (unsigned)number);
}

static bool write_labels(struct kymo_arena *arena, struct kymo_names_part *part, const struct kymo_type *type,
                         kymo_label_writer *writer, bool are_unique) {
  struct kymo_label *labels = kymo_arena_array(arena, type->member_count, sizeof(*labels));
  struct kymo_strbuf buf = {0}, name = {0};
  bool ok = labels != NULL;
  for (uint32_t i = 0; ok && i < type->member_count; i++) {
    name.length = 0;
    if (are_unique)
      kymo_names_add_unique(&name, type, i);
    writer(&buf, are_unique && name.text ? name.text : name_of(&type->members[i]));
    labels[i].text = name.failed ? NULL : kymo_names_keep(arena, &buf, &labels[i].length);
    labels[i].is_hidden = kymo_member_is_hidden(&type->members[i]);
    ok = labels[i].text != NULL;
  }
  kymo_strbuf_free(&buf);
  kymo_strbuf_free(&name);
  part->labels[type->id] = labels;
  return ok;
}

/* ---- what lengths and tags refer to ---- */

static void mark_reference(struct kymo_names_part *part, const struct kymo_type *type,
                           const struct kymo_reference *reference) {
  struct kymo_label *label = NULL;
  for (uint32_t i = 0; type && i < reference->depth; i++) {
    uint32_t step = reference->steps[i];
    if (step == KYMO_STEP_ELEMENT && type->kind != KYMO_KIND_VARIANT) {
      type = type->element;
      continue;
    }
    if (step == KYMO_STEP_ELEMENT)
      step = 0; /* of options with the same member, the first one represents all */
    if (step >= type->member_count)
      return;
    label = part->labels[type->id] ? &part->labels[type->id][step] : NULL;
    type = type->members[step].type;
  }
  if (label)
    label->is_referenced = true;
}

static void mark_in_stream(struct kymo_names_part *part, const struct kymo_stream_class *stream,
                           const struct kymo_reference *reference) {
  if (reference->scope == KYMO_SCOPE_PACKET_CONTEXT)
    mark_reference(part, stream->packet_context, reference);
  else if (reference->scope == KYMO_SCOPE_COMMON_CONTEXT)
    mark_reference(part, stream->common_context, reference);
  else if (reference->scope >= KYMO_SCOPE_SPECIFIC_CONTEXT)
    for (uint32_t i = 0; i < stream->event_count; i++)
      mark_reference(part,
                     reference->scope == KYMO_SCOPE_PAYLOAD ? stream->events[i]->payload
                                                            : stream->events[i]->specific_context,
                     reference);
}

/* Only references to integers that would be hidden matter: there are few. */
static void mark_references(struct kymo_names_part *part, const struct kymo_schema *schema) {
  uint64_t classes = 1, spent = 0;
  for (uint32_t i = 0; i < schema->stream_count; i++)
    classes += schema->streams[i]->event_count + 1;
  for (uint32_t i = 0; i < schema->type_count; i++) {
    const struct kymo_type *type = schema->types[i];
    if (!type->selector_type || !is_service(type->selector_type) || (spent += classes) > RESOLVE_LIMIT)
      continue;
    for (uint32_t j = 0; j < schema->stream_count; j++)
      mark_in_stream(part, schema->streams[j], &type->selector);
  }
}

/* ---- what is hidden ---- */

static bool hide_members(struct kymo_names_part *part, const struct kymo_type *type) {
  struct kymo_label *labels = part->labels[type->id];
  bool all = type->member_count > 0;
  for (uint32_t i = 0; i < type->member_count; i++) {
    labels[i].is_hidden = kymo_member_is_hidden(&type->members[i]) ||
                          (part->is_hidden[type->members[i].type->id] && !labels[i].is_referenced);
    all = all && labels[i].is_hidden;
  }
  for (uint32_t i = 0; !all && type->kind == KYMO_KIND_VARIANT && i < type->member_count; i++)
    labels[i].is_hidden = false;
  return all;
}

/* Parts of a type have lower ids than itself, since types are interned from the leaves up. */
static bool is_hidden(struct kymo_names_part *part, const struct kymo_type *type) {
  switch (type->kind) {
  case KYMO_KIND_STRUCT:
  case KYMO_KIND_VARIANT: return hide_members(part, type);
  case KYMO_KIND_ARRAY:
  case KYMO_KIND_SEQUENCE:
  case KYMO_KIND_OPTIONAL: return part->is_hidden[type->element->id];
  default: return is_service(type);
  }
}

static bool make_part(struct kymo_arena *arena, struct kymo_names_part *part,
                      const struct kymo_schema *schema, kymo_label_writer *writer, bool are_unique) {
  part->labels = kymo_arena_array(arena, schema->type_count, sizeof(*part->labels));
  part->is_hidden = kymo_arena_array(arena, schema->type_count, sizeof(*part->is_hidden));
  if (!part->labels || !part->is_hidden)
    return false;
  for (uint32_t i = 0; i < schema->type_count; i++)
    if (schema->types[i]->member_count > 0 &&
        !write_labels(arena, part, schema->types[i], writer, are_unique))
      return false;
  return true;
}

int kymo_names_begin(struct kymo_names *names, const struct kymo_trace *trace, kymo_label_writer *writer,
                     struct kymo_error *error) {
  *names = (struct kymo_names){.are_unique = names->are_unique};
  size_t count = kymo_trace_part_count(trace);
  names->parts = kymo_arena_array(&names->arena, count + 1, sizeof(*names->parts));
  bool ok = names->parts != NULL;
  for (size_t i = 0; ok && i < count; i++)
    ok = make_part(&names->arena, &names->parts[i], kymo_trace_part(trace, i)->schema, writer,
                   names->are_unique);
  return ok ? KYMO_OK : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
}

void kymo_names_hide(struct kymo_names *names, const struct kymo_trace *trace) {
  for (size_t i = 0; i < kymo_trace_part_count(trace); i++) {
    const struct kymo_schema *schema = kymo_trace_part(trace, i)->schema;
    mark_references(&names->parts[i], schema);
    for (uint32_t j = 0; j < schema->type_count; j++)
      names->parts[i].is_hidden[j] = is_hidden(&names->parts[i], schema->types[j]);
  }
}

void kymo_names_end(struct kymo_names *names) {
  kymo_arena_free(&names->arena);
  names->parts = NULL;
}
