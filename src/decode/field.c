/* SPDX-License-Identifier: MIT */
/* From names to fields, and their types. */
#include "decode/field.h"
#include "decode/value.h"
#include "decode/walk.h"
#include "schema/attribute.h"
#include <string.h>

#define GUARDS_MAX KYMO_WALK_DEPTH

struct way {
  const struct kymo_node *root, *node; /* of the scope, and the current node */
  struct guard guards[GUARDS_MAX];
  uint32_t guard_count;
  enum kymo_scope scope;
};

static bool pass(struct way *way, uint32_t option) {
  if (way->guard_count == GUARDS_MAX)
    return false;
  way->guards[way->guard_count++] = (struct guard){way->node, option};
  return true;
}

/* Goes to the member `name` (`length` bytes) of the struct or variant at way->node. */
static bool go_down(struct way *way, const char *name, size_t length) {
  while (way->node->type->kind == KYMO_KIND_OPTIONAL) {
    if (!pass(way, 0))
      return false;
    way->node = kymo_node_first(way->node);
  }
  const struct kymo_type *type = way->node->type;
  if (type->kind != KYMO_KIND_STRUCT && type->kind != KYMO_KIND_VARIANT && type->kind != KYMO_KIND_UNION)
    return false;
  const struct kymo_member *member = kymo_member_named(type, name, length);
  if (!member || (type->kind == KYMO_KIND_VARIANT && !pass(way, (uint32_t)(member - type->members))))
    return false;
  const struct kymo_node *part = kymo_node_first(way->node);
  for (; member > type->members; member--)
    part += part->span;
  way->node = part;
  return true;
}

/* Member names may contain dots themselves (CTF 2), so every split is tried, the longest name first. */
static bool find(struct way *way, const char *path) {
  struct way start = *way;
  for (size_t length = strlen(path); length > 0; length--) {
    if (path[length] != 0 && path[length] != '.')
      continue;
    *way = start;
    if (go_down(way, path, length) && (path[length] == 0 || find(way, path + length + 1)))
      return true;
  }
  return false;
}

/* How one load reads the integer, if it can. */
static struct near near_of(const struct kymo_node *node, const struct kymo_event_plan *plan) {
  const struct kymo_type *type = node->type;
  if (type->kind != KYMO_KIND_INTEGER || type->bits_reversed || node->segment != plan->program.first_segment)
    return (struct near){0};
  return (struct near){.is_there = true,
                       .is_signed = type->is_signed,
                       .is_big = type->order == KYMO_ORDER_BIG,
                       .size_bits = (uint8_t)type->size_bits,
                       .offset_bits = node->offset_bits};
}

/* The member of a scope whose value is in this slot, or NULL. */
static const struct kymo_node *find_kept(const struct kymo_node *root, uint32_t slot) {
  const struct kymo_node *member = kymo_node_first(root);
  while (member < root + root->span && member->save_slot != slot)
    member += member->span;
  return member < root + root->span ? member : NULL;
}

/* Stores what is known of the field's place before any event; `root` is its scope's. */
static void note_place(struct field *field, const struct kymo_event_plan *plan,
                       const struct kymo_node *root) {
  const struct kymo_node *node = field->node;
  bool is_chosen = node->type->kind == KYMO_KIND_VARIANT || node->type->kind == KYMO_KIND_OPTIONAL;
  if (field->guard_count > 0 || is_chosen || field->scope == KYMO_SCOPE_PACKET_CONTEXT ||
      node->segment != plan->program.first_segment)
    return;
  field->near = near_of(node, plan);
  field->has_place = node->selector_slot == KYMO_SLOT_NONE;
  const struct kymo_node *length = field->has_place ? NULL : find_kept(root, node->selector_slot);
  if (length)
    field->length = near_of(length, plan);
  field->has_place |= field->length.is_there && !field->length.is_signed;
}

static uint32_t add_field(struct kymo_arena *arena, struct kymo_event_plan *plan, const struct way *way,
                          const char *path) {
  struct kymo_fields *fields = plan->fields;
  if (!fields && !(fields = plan->fields = kymo_arena_alloc(arena, sizeof *fields)))
    return KYMO_FIELD_NONE;
  for (uint32_t i = 0; i < fields->count; i++)
    if (fields->list[i].node == way->node)
      return i;
  if (fields->count == fields->capacity) {
    uint32_t capacity = fields->capacity ? fields->capacity * 2 : 8;
    struct field *list = kymo_arena_array(arena, capacity, sizeof *list);
    if (!list)
      return KYMO_FIELD_NONE;
    if (fields->count)
      memcpy(list, fields->list, fields->count * sizeof *list);
    fields->list = list;
    fields->capacity = capacity;
  }
  struct guard *guards = kymo_arena_array(arena, way->guard_count + 1u, sizeof *guards);
  path = kymo_arena_copy(arena, path, strlen(path));
  if (!guards || !path)
    return KYMO_FIELD_NONE;
  memcpy(guards, way->guards, way->guard_count * sizeof *guards);
  fields->list[fields->count] = (struct field){.node = way->node,
                                               .guards = guards,
                                               .guard_count = way->guard_count,
                                               .scope = way->scope,
                                               .path = path};
  note_place(&fields->list[fields->count], plan, way->root);
  return fields->count++;
}

/* The scopes that are searched for fields, nearest first. */
#define SCOPES 4
static void list_scopes(struct way ways[SCOPES], const struct kymo_event_plan *plan,
                        const struct kymo_stream_plan *stream) {
  ways[0] = (struct way){.root = plan->payload, .node = plan->payload, .scope = KYMO_SCOPE_PAYLOAD};
  ways[1] = (struct way){
      .root = plan->specific_context, .node = plan->specific_context, .scope = KYMO_SCOPE_SPECIFIC_CONTEXT};
  ways[2] = (struct way){
      .root = stream->common_context, .node = stream->common_context, .scope = KYMO_SCOPE_COMMON_CONTEXT};
  ways[3] = (struct way){
      .root = stream->packet_context, .node = stream->packet_context, .scope = KYMO_SCOPE_PACKET_CONTEXT};
}

/* Fields of every event, if its class has no field of that name. */
static const struct {
  const char *name;
  uint32_t id;
  enum kymo_data_kind kind;
} roles[] = {
    {"EVENT", KYMO_FIELD_EVENT, KYMO_DATA_TOKEN},
    {"ACQUISITION", KYMO_FIELD_ACQUISITION, KYMO_DATA_TIME},
    {"STREAM", KYMO_FIELD_STREAM, KYMO_DATA_NUMBER},
};
#define ROLES (sizeof roles / sizeof *roles)

uint32_t kymo_event_plan_field_id(struct kymo_event_plan *plan, const struct kymo_stream_plan *stream,
                                  struct kymo_arena *arena, const char *path) {
  struct way ways[SCOPES];
  list_scopes(ways, plan, stream);
  for (size_t i = 0; i < SCOPES; i++)
    if (ways[i].node && find(&ways[i], path))
      return add_field(arena, plan, &ways[i], path);
  for (size_t i = 0; i < ROLES; i++)
    if (strcmp(path, roles[i].name) == 0)
      return roles[i].id;
  return KYMO_FIELD_NONE;
}

const struct field *kymo_find_field(const struct kymo_event_plan *plan, uint32_t id) {
  return plan->fields && id < plan->fields->count ? &plan->fields->list[id] : NULL;
}

/* ---- all fields ---- */

#define PATH_BYTES 1024

struct listing {
  struct kymo_arena *arena;
  struct kymo_event_plan *plan;
  uint32_t *ids;
  size_t count, capacity;
  char path[PATH_BYTES];
};

static void list_members(struct listing *listing, const struct way *at, size_t length);

/* A field, and its parts up to lists; the path so far has `length` bytes. */
static void list_field(struct listing *listing, const struct way *at, size_t length) {
  if (listing->count == listing->capacity) {
    size_t capacity = listing->capacity ? listing->capacity * 2 : 16;
    uint32_t *ids = kymo_arena_array(listing->arena, capacity, sizeof *ids);
    if (!ids)
      return;
    if (listing->count)
      memcpy(ids, listing->ids, listing->count * sizeof *ids);
    listing->ids = ids;
    listing->capacity = capacity;
  }
  uint32_t id = add_field(listing->arena, listing->plan, at, listing->path);
  if (id != KYMO_FIELD_NONE)
    listing->ids[listing->count++] = id;
  list_members(listing, at, length);
}

static void list_members(struct listing *listing, const struct way *at, size_t length) {
  struct way way = *at;
  while (way.node->type->kind == KYMO_KIND_OPTIONAL) {
    if (!pass(&way, 0))
      return;
    way.node = kymo_node_first(way.node);
  }
  const struct kymo_type *type = way.node->type;
  if (type->kind != KYMO_KIND_STRUCT && type->kind != KYMO_KIND_VARIANT && type->kind != KYMO_KIND_UNION)
    return;
  const struct kymo_node *part = kymo_node_first(way.node);
  for (uint32_t i = 0; i < type->member_count; i++, part += part->span) {
    const char *name = type->members[i].name ? type->members[i].name : "";
    size_t room = PATH_BYTES - length, dot = length > 0;
    struct way below = way;
    if (kymo_member_is_hidden(&type->members[i]) || strlen(name) + dot >= room ||
        (type->kind == KYMO_KIND_VARIANT && !pass(&below, i)))
      continue;
    memcpy(listing->path + length, ".", dot);
    memcpy(listing->path + length + dot, name, strlen(name) + 1);
    below.node = part;
    list_field(listing, &below, length + dot + strlen(name));
  }
}

int kymo_event_plan_fields(struct kymo_event_plan *plan, const struct kymo_stream_plan *stream,
                           struct kymo_arena *arena, const uint32_t **ids, size_t *count) {
  struct listing listing = {.arena = arena, .plan = plan};
  struct way ways[SCOPES];
  if (!plan->fields && !(plan->fields = kymo_arena_alloc(arena, sizeof *plan->fields)))
    return KYMO_E_MEMORY;
  struct kymo_fields *fields = plan->fields;
  list_scopes(ways, plan, stream);
  for (size_t i = 0; i < SCOPES && !fields->all; i++)
    if (ways[i].node)
      list_members(&listing, &ways[i], 0);
  if (!fields->all) {
    fields->all = listing.ids;
    fields->all_count = listing.count;
  }
  *ids = fields->all;
  *count = fields->all_count;
  return KYMO_OK;
}

/* ---- what a field is ---- */

static enum kymo_data_kind kind_of(const struct kymo_type *type) {
  switch (type->kind) {
  case KYMO_KIND_BITMAP: return KYMO_DATA_FLAGS;
  case KYMO_KIND_STRING:
  case KYMO_KIND_TEXT_ARRAY:
  case KYMO_KIND_TEXT_SEQUENCE: return KYMO_DATA_TEXT;
  case KYMO_KIND_BLOB_ARRAY:
  case KYMO_KIND_BLOB_SEQUENCE: return KYMO_DATA_BYTES;
  case KYMO_KIND_ARRAY:
  case KYMO_KIND_SEQUENCE: return KYMO_DATA_LIST;
  case KYMO_KIND_STRUCT:
  case KYMO_KIND_UNION: return KYMO_DATA_GROUP;
  case KYMO_KIND_VARIANT: return KYMO_DATA_CHOICE;
  case KYMO_KIND_FLOAT: return KYMO_DATA_NUMBER;
  default:
    return type->is_enumeration || type->mapping_count ? KYMO_DATA_TOKEN
           : kymo_is_time(type)                        ? KYMO_DATA_TIME
                                                       : KYMO_DATA_NUMBER;
  }
}

int kymo_event_plan_field_info(const struct kymo_event_plan *plan, uint32_t id, struct kymo_field *info) {
  const struct field *field = kymo_find_field(plan, id);
  for (size_t i = 0; i < ROLES; i++)
    if (roles[i].id == id) {
      *info = (struct kymo_field){.path = roles[i].name,
                                  .name = roles[i].name,
                                  .kind = roles[i].kind,
                                  .scope = KYMO_SCOPE_EVENT_HEADER,
                                  .type = NULL};
      return KYMO_OK;
    }
  if (!field)
    return KYMO_E_UNKNOWN;
  const struct kymo_type *type = field->node->type;
  bool is_optional = field->guard_count > 0 || type->kind == KYMO_KIND_OPTIONAL;
  while (type->kind == KYMO_KIND_OPTIONAL)
    type = type->element;
  const struct kymo_type *of = type;
  while (of->kind == KYMO_KIND_ARRAY || of->kind == KYMO_KIND_SEQUENCE)
    of = of->element;
  *info = (struct kymo_field){.path = field->path,
                              .name = field->node->member ? field->node->member->name : NULL,
                              .kind = kind_of(type),
                              .scope = field->scope,
                              .type = type,
                              .is_optional = is_optional,
                              .unit = of->unit,
                              .interpretations = of->mappings,
                              .interpretation_count = of->mapping_count};
  return KYMO_OK;
}
