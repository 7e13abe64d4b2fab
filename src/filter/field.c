/* SPDX-License-Identifier: MIT */
/* Fields in filters: where they are in the events of one class, and the stand-ins for names that are no
 * field. */
#include "decode/load.h"
#include "decode/value.h"
#include "decode/walk.h"
#include "filter/machine.h"
#include "filter/names.h"
#include "schema/attribute.h"
#include "decode/field.h"
#include <string.h>

/* ---- values ---- */

void kymo_filter_take(struct filter_value *out, enum kymo_token token, const struct kymo_value *value) {
  *out = (struct filter_value){.v.sort = KYMO_SORT_ABSENT};
  switch (token) {
  case KYMO_TOKEN_INTEGER:
    out->v.sort = KYMO_SORT_NUMBER;
    out->v.n = value->type->is_signed ? kymo_wide_of_i64(value->i) : kymo_wide_of_u64(value->u);
    break;
  case KYMO_TOKEN_FLOAT:
    out->v.sort = KYMO_SORT_FLOAT;
    out->v.f = value->f;
    break;
  case KYMO_TOKEN_TEXT:
  case KYMO_TOKEN_BLOB: out->v = kymo_value_bytes(value->bytes, value->count); break;
  default: return;
  }
  out->type = value->type;
}

static void get_absent(const struct filter_bound *bound, struct filter_look *look,
                       struct filter_value *value) {
  (void)bound;
  (void)look;
  *value = (struct filter_value){.v.sort = KYMO_SORT_ABSENT};
}

static void get_field(const struct filter_bound *bound, struct filter_look *look,
                      struct filter_value *value) {
  struct kymo_value read;
  enum kymo_token token;
  if (kymo_event_get_value(look->event, bound->field, &read, &token) != KYMO_OK)
    token = KYMO_TOKEN_ABSENT;
  kymo_filter_take(value, token, &read);
  if (bound->value.type && value->v.sort == KYMO_SORT_NUMBER)
    value->type = bound->value.type;
}

static void get_raw(const struct filter_bound *bound, struct filter_look *look, struct filter_value *value) {
  const struct kymo_raw_test *raw = &bound->raw;
  uint64_t at = kymo_body_bits(look->event) + raw->offset_bits;
  uint64_t bits = kymo_fast_bits(look->event->packet->data, at, raw->bits, raw->is_big);
  *value = (struct filter_value){.v.sort = KYMO_SORT_NUMBER, .type = bound->value.type};
  value->v.n = raw->is_signed ? kymo_wide_of_i64(kymo_sign_extend(bits, raw->bits)) : kymo_wide_of_u64(bits);
}

static void get_constant(const struct filter_bound *bound, struct filter_look *look,
                         struct filter_value *value) {
  (void)look;
  *value = bound->value;
}

static void get_time(const struct filter_bound *bound, struct filter_look *look, struct filter_value *value) {
  (void)bound;
  *value = (struct filter_value){.v.sort = look->event->has_time ? KYMO_SORT_MOMENT : KYMO_SORT_ABSENT,
                                 .v.n = kymo_wide_of_i64(look->event->time_ns)};
}

static void get_stream(const struct filter_bound *bound, struct filter_look *look,
                       struct filter_value *value) {
  (void)bound;
  uint64_t instance = look->event->packet->stream->instance;
  *value = (struct filter_value){.v.sort = instance == UINT64_MAX ? KYMO_SORT_ABSENT : KYMO_SORT_NUMBER,
                                 .v.n = kymo_wide_of_u64(instance)};
}

static void get_sequence(const struct filter_bound *bound, struct filter_look *look,
                         struct filter_value *value) {
  (void)bound;
  uint64_t sequence = look->event->packet->sequence;
  *value = (struct filter_value){.v.sort = sequence == UINT64_MAX ? KYMO_SORT_ABSENT : KYMO_SORT_NUMBER,
                                 .v.n = kymo_wide_of_u64(sequence)};
}

/* ---- within arrays ---- */

/* is_reached: a list on the way, or a value at its end, was found. */
struct visit {
  filter_each *each;
  const void *user;
  uint64_t count, wanted;
  bool wants_bytes, is_reached, is_done;
  struct filter_value value;
};

/* How far along the way a step of the walk is; -1: elsewhere. */
static int follow(const struct filter_way *way, int reached, const struct kymo_value *value) {
  if (value->member) {
    bool is_next = reached >= 0 && (uint32_t)reached < way->depth && value->member == way->members[reached];
    reached = is_next ? reached + 1 : -1;
  }
  if (value->option && reached >= 0 && (uint32_t)reached < way->depth &&
      value->option == way->members[reached])
    reached++;
  return reached;
}

/* One value at the end of the way; true: it decides. */
static bool visit_value(struct visit *visit, enum kymo_token token, const struct kymo_value *value) {
  kymo_filter_take(&visit->value, token, value);
  if (visit->value.v.sort == KYMO_SORT_ABSENT)
    return false;
  visit->is_done = visit->each ? visit->each(&visit->value, visit->user) : visit->count == visit->wanted;
  visit->count++;
  visit->is_reached = true;
  return visit->is_done;
}

/* A walk along a way: over all of its scope, or over an element of an EACH. */
struct along {
  const struct filter_way *way;
  struct kymo_walk walk;
  struct kymo_value value; /* of the current step, which is so far along the way: */
  int here;
  uint32_t depth;
  int reached[KYMO_WALK_DEPTH + 1]; /* by depth */
  const struct filter_spot *spot;   /* whose first step is still to come, or NULL */
  bool is_element;
};

static bool begin_along(struct along *along, const struct filter_way *way, const struct filter_look *look) {
  along->way = way;
  along->depth = 0;
  along->reached[0] = 0;
  along->is_element = way->each != NULL;
  along->spot = way->each ? look->machine->spots[way->each->index] : NULL;
  if (along->spot)
    along->walk = along->spot->walk;
  return way->each ? along->spot != NULL : kymo_walk_begin(&along->walk, look->event, way->scope);
}

/* The next step; DONE at the end of the scope or element. */
static enum kymo_token step_along(struct along *along) {
  enum kymo_token token;
  bool is_first = along->spot != NULL;
  if (is_first) {
    along->value = along->spot->value;
    token = along->spot->token;
    along->spot = NULL;
  } else if (along->is_element && along->depth == 0) {
    return KYMO_TOKEN_DONE;
  } else {
    token = kymo_walk_next(&along->walk, &along->value);
  }
  if (token == KYMO_TOKEN_END) {
    along->depth--;
    return token;
  }
  if (is_first) /* the way begins in it */
    along->value.member = NULL;
  along->here = follow(along->way, along->reached[along->depth], &along->value);
  if (token == KYMO_TOKEN_BEGIN)
    along->reached[++along->depth] = along->here;
  return token == KYMO_TOKEN_ERROR ? KYMO_TOKEN_DONE : token;
}

static bool is_list(const struct kymo_type *type) {
  return type->kind == KYMO_KIND_ARRAY || type->kind == KYMO_KIND_SEQUENCE;
}

/* Goes over all values of the way until one decides. Elements of arrays of compounds are only counted. */
static void walk_way(const struct filter_way *way, const struct filter_look *look, struct visit *visit) {
  struct along along;
  if (!begin_along(&along, way, look))
    return;
  for (enum kymo_token token; (token = step_along(&along)) != KYMO_TOKEN_DONE;) {
    const struct kymo_value *value = &along.value;
    bool is_there = token != KYMO_TOKEN_END && along.here == (int)way->depth;
    if (token == KYMO_TOKEN_BEGIN) {
      visit->is_reached |= is_list(value->type) && along.here > 0;
      if (is_list(value->type) && is_there && visit->wants_bytes) {
        static const struct kymo_type address = {.kind = KYMO_KIND_BLOB_SEQUENCE};
        visit->value =
            (struct filter_value){.v = kymo_value_bytes(look->event->packet->data + along.walk.at_bits / 8,
                                                        value->count * value->type->element->size_bits / 8),
                                  .type = &address};
        visit->is_done = true;
        return;
      }
      if (is_list(value->type) && is_there && value->type->element->kind >= KYMO_KIND_STRUCT)
        visit->count += value->count;
    } else if (is_there && visit_value(visit, token, value)) {
      return;
    }
  }
}

static bool holds_lists(const struct kymo_type *type) {
  type = type->element;
  while (type->kind == KYMO_KIND_OPTIONAL)
    type = type->element;
  return is_list(type);
}

bool kymo_filter_for_each(const struct filter_bound *each, struct filter_look *look, filter_visit *visit,
                          void *user) {
  const struct filter_spot **at = &look->machine->spots[each->index], *outer = *at;
  struct filter_spot spot;
  struct along along;
  uint32_t depth = 0; /* of the list whose elements are visited; 0: none is open */
  bool is_reached = false, is_done = false;
  if (!each->way || !begin_along(&along, each->way, look))
    return false;
  for (enum kymo_token token; !is_done && (token = step_along(&along)) != KYMO_TOKEN_DONE;) {
    if (token == KYMO_TOKEN_END) {
      depth = along.depth < depth ? 0 : depth;
      continue;
    }
    bool is_begin = token == KYMO_TOKEN_BEGIN;
    if (depth && along.depth - is_begin == depth) {
      spot.walk = along.walk;
      spot.value = along.value;
      spot.token = token;
      *at = &spot;
      is_done = visit(look, user);
      *at = outer;
    } else if (!depth && is_begin && is_list(along.value.type) && along.here == (int)each->way->depth) {
      is_reached = true;
      depth = holds_lists(along.value.type) ? 0 : along.depth;
    }
  }
  return is_reached;
}

static void get_first(const struct filter_bound *bound, struct filter_look *look,
                      struct filter_value *value) {
  struct visit visit = {.wanted = 0};
  walk_way(bound->way, look, &visit);
  *value = visit.is_done ? visit.value : (struct filter_value){.v.sort = KYMO_SORT_ABSENT};
}

bool kymo_filter_any(const struct filter_bound *bound, struct filter_look *look, filter_each *each,
                     const void *user) {
  if (!bound->is_many) {
    struct filter_value value;
    bound->get(bound, look, &value);
    return value.v.sort != KYMO_SORT_ABSENT && each(&value, user);
  }
  struct visit visit = {.each = each, .user = user};
  walk_way(bound->way, look, &visit);
  return visit.is_done;
}

bool kymo_filter_count_elements(const struct filter_bound *bound, struct filter_look *look, uint64_t *count) {
  struct visit visit = {.wanted = UINT64_MAX};
  if (!bound->way)
    return false;
  walk_way(bound->way, look, &visit);
  *count = visit.count;
  return visit.is_reached;
}

/* The element with index bound->b, from 0. */
static void get_element(const struct filter_bound *bound, struct filter_look *look,
                        struct filter_value *value) {
  struct filter_value index;
  bound->b->get(bound->b, look, &index);
  *value = (struct filter_value){.v.sort = KYMO_SORT_ABSENT};
  if (!bound->way || index.v.sort != KYMO_SORT_NUMBER || index.v.n.high != 0)
    return;
  struct visit visit = {.wanted = index.v.n.low};
  walk_way(bound->way, look, &visit);
  if (visit.is_done)
    *value = visit.value;
}

static void get_count(const struct filter_bound *bound, struct filter_look *look,
                      struct filter_value *value) {
  uint64_t count;
  bool is_there = kymo_filter_count_elements(bound, look, &count);
  *value = (struct filter_value){.v.sort = is_there ? KYMO_SORT_NUMBER : KYMO_SORT_ABSENT};
  if (is_there)
    value->v.n = kymo_wide_of_u64(count);
}

/* The number of bytes of a text or blob, or of whole bytes that a number takes. */
static void get_size(const struct filter_bound *bound, struct filter_look *look, struct filter_value *value) {
  struct filter_value field;
  if (bound->way)
    get_first(bound, look, &field);
  else if (bound->field != KYMO_FIELD_NONE)
    get_field(bound, look, &field);
  else
    field.v.sort = KYMO_SORT_ABSENT;
  *value = (struct filter_value){.v.sort = KYMO_SORT_ABSENT};
  if (field.v.sort == KYMO_SORT_ABSENT)
    return;
  value->v.sort = KYMO_SORT_NUMBER;
  value->v.n =
      kymo_wide_of_u64(field.v.sort == KYMO_SORT_BYTES ? field.v.size : (field.type->size_bits + 7) / 8);
}

/* The bytes of an array of numbers that is an address; they are in network order already. */
static void get_address(const struct filter_bound *bound, struct filter_look *look,
                        struct filter_value *value) {
  struct visit visit = {.wants_bytes = true};
  walk_way(bound->way, look, &visit);
  *value = visit.is_done ? visit.value : (struct filter_value){.v.sort = KYMO_SORT_ABSENT};
}

/* ---- finding ---- */

/* The same as kymo_field_id, and also into arrays. */
static bool find_way(struct filter_way *way, const struct kymo_type *type, const char *path,
                     bool *has_array) {
  while (type->kind == KYMO_KIND_OPTIONAL || type->kind == KYMO_KIND_ARRAY ||
         type->kind == KYMO_KIND_SEQUENCE) {
    *has_array |= type->kind != KYMO_KIND_OPTIONAL;
    type = type->element;
  }
  const struct kymo_member *member = kymo_element_member(type);
  if (member && way->depth < KYMO_WALK_DEPTH) {
    way->members[way->depth++] = member;
    return find_way(way, member->type, path, has_array);
  }
  if (*path == 0)
    return true;
  for (size_t length = strlen(path); length > 0 && way->depth < KYMO_WALK_DEPTH; length--) {
    uint32_t depth = way->depth;
    bool had_array = *has_array;
    if ((path[length] != 0 && path[length] != '.') || !(member = kymo_member_named(type, path, length)))
      continue;
    way->members[way->depth++] = member;
    if (find_way(way, member->type, path + length + (path[length] == '.'), has_array))
      return true;
    way->depth = depth;
    *has_array = had_array;
  }
  return false;
}

/* The list at the end of a path, without its elements. */
static bool find_list(struct filter_way *way, const struct kymo_type *type, const char *path) {
  size_t length = strlen(path), room = KYMO_WALK_DEPTH;
  while (type->kind == KYMO_KIND_OPTIONAL)
    type = type->element;
  if (length == 0 && is_list(type)) {
    while (type->kind == KYMO_KIND_OPTIONAL || is_list(type))
      type = type->element;
    way->element = type;
    return true;
  }
  while (type->kind == KYMO_KIND_OPTIONAL || is_list(type))
    type = type->element;
  const struct kymo_member *member = kymo_element_member(type);
  uint32_t depth = way->depth;
  if (member && depth < room) {
    way->members[way->depth++] = member;
    return find_list(way, member->type, path);
  }
  for (; length > 0 && depth < room; length--) {
    if ((path[length] != 0 && path[length] != '.') || !(member = kymo_member_named(type, path, length)))
      continue;
    way->members[way->depth++] = member;
    if (find_list(way, member->type, path + length + (path[length] == '.')))
      return true;
    way->depth = depth;
  }
  return false;
}

/* What a class has in four scopes. */
#define ROOTS 4
static void list_roots(const struct kymo_event *event, const struct kymo_node *roots[ROOTS]) {
  const struct kymo_decoder *decoder = kymo_decoder_of(event);
  roots[0] = event->plan->payload;
  roots[1] = event->plan->specific_context;
  roots[2] = decoder->plan->common_context;
  roots[3] = decoder->plan->packet_context;
}
static const enum kymo_scope root_scopes[ROOTS] = {KYMO_SCOPE_PAYLOAD, KYMO_SCOPE_SPECIFIC_CONTEXT,
                                                   KYMO_SCOPE_COMMON_CONTEXT, KYMO_SCOPE_PACKET_CONTEXT};

/* Keeps a way for the bound. False: out of memory. */
static bool keep_way(struct filter_machine *machine, struct filter_bound *bound,
                     const struct filter_way *way) {
  struct filter_way *kept = kymo_arena_alloc(&machine->arena, sizeof *kept);
  if (kept)
    *kept = *way;
  bound->way = kept;
  return kept != NULL;
}

/* A field in an array of any scope. */
static bool bind_way(struct filter_machine *machine, const struct kymo_event *event,
                     struct filter_bound *bound, const char *path) {
  const struct kymo_node *roots[ROOTS];
  list_roots(event, roots);
  for (size_t i = 0; i < ROOTS; i++) {
    struct filter_way way = {.scope = root_scopes[i]};
    bool has_array = false;
    if (roots[i] && find_way(&way, roots[i]->type, path, &has_array) && has_array)
      return keep_way(machine, bound, &way);
  }
  return true;
}

/* The place of a plain integer at a constant distance from the event header, for direct loads. */
static bool has_raw_place(const struct kymo_event *event, uint32_t field, struct kymo_raw_test *raw) {
  const struct field *place = kymo_find_field(event->plan, field);
  const struct kymo_node *node = place->node;
  const struct kymo_type *type = node->type;
  if (place->guard_count > 0 || type->kind > KYMO_KIND_BITMAP || type->bits_reversed ||
      node->segment != event->plan->program.first_segment)
    return false;
  *raw = (struct kymo_raw_test){.offset_bits = node->offset_bits,
                                .bits = (uint8_t)type->size_bits,
                                .is_big = type->order == KYMO_ORDER_BIG,
                                .is_signed = type->is_signed};
  return true;
}

/* ---- stand-ins ---- */

static void set_text(struct filter_bound *bound, const char *text) {
  bound->get = get_constant;
  bound->is_constant = true;
  bound->value = (struct filter_value){.v = kymo_value_bytes((const uint8_t *)text, strlen(text))};
}

static void set_level(struct filter_bound *bound, int32_t level) {
  bound->get = get_constant;
  bound->is_constant = true;
  bound->value = (struct filter_value){
      .v.sort = KYMO_SORT_NUMBER, .v.n = kymo_wide_of_i64(level), .type = &kymo_level_type};
}

static void set_environment(struct filter_bound *bound, const struct kymo_environment *entry) {
  if (entry->text)
    set_text(bound, entry->text);
  else {
    bound->get = get_constant;
    bound->is_constant = true;
    bound->value = (struct filter_value){.v.sort = KYMO_SORT_NUMBER, .v.n = kymo_wide_of_i64(entry->integer)};
  }
}

static const struct kymo_environment *
environment_of(struct kymo_trace *trace, const struct kymo_event_class *class_, const char *path) {
  const struct kymo_schema *schema = kymo_class_schema(trace, class_);
  return schema ? kymo_stand_in_environment(schema, path) : NULL;
}

/* Names without a field of their own (docs/filters.md). */
static void bind_stand_in(struct kymo_trace *trace, const struct kymo_event_class *class_,
                          struct filter_bound *bound, const char *path) {
  const struct kymo_environment *entry = environment_of(trace, class_, path);
  enum kymo_stand_in what = kymo_stand_in_of(path);
  bound->get = get_absent;
  switch (what) {
  case KYMO_STAND_IN_EVENT: set_text(bound, class_->name ? class_->name : ""); break;
  case KYMO_STAND_IN_GROUP: set_text(bound, class_->group ? class_->group : ""); break;
  case KYMO_STAND_IN_TIME: bound->get = get_time; break;
  case KYMO_STAND_IN_STREAM: bound->get = get_stream; break;
  case KYMO_STAND_IN_SEQUENCE: bound->get = get_sequence; break;
  case KYMO_STAND_IN_LEVEL:
    if (class_->level >= 0)
      set_level(bound, class_->level);
    break;
  default: break;
  }
  if (entry)
    set_environment(bound, entry);
  bound->is_constant |= bound->get == get_absent;
}

/* Ids of properties that every event has are not accepted here: they mean no field. */
uint32_t kymo_filter_field_id(struct kymo_trace *trace, const struct kymo_event_class *class_,
                              const char *path) {
  uint32_t field = kymo_field_id(trace, class_, path);
  const char *alias;
  if (field >= KYMO_FIELD_STREAM && environment_of(trace, class_, path))
    return KYMO_FIELD_NONE;
  for (size_t i = 0; field >= KYMO_FIELD_STREAM && (alias = kymo_stand_in_alias(path, i)) != NULL; i++)
    field = kymo_field_id(trace, class_, alias);
  return field >= KYMO_FIELD_STREAM ? KYMO_FIELD_NONE : field;
}

/* Whether the field is an array: those are walked. */
static bool is_array(const struct kymo_event *event, uint32_t field) {
  const struct kymo_type *type = kymo_find_field(event->plan, field)->node->type;
  while (type->kind == KYMO_KIND_OPTIONAL)
    type = type->element;
  return type->kind == KYMO_KIND_ARRAY || type->kind == KYMO_KIND_SEQUENCE;
}

struct filter_bound *kymo_filter_bind_address(struct filter_machine *machine, const struct kymo_event *event,
                                              struct filter_bound *bound, const struct filter_bound *text) {
  const struct field *field =
      bound->field != KYMO_FIELD_NONE ? kymo_find_field(event->plan, bound->field) : NULL;
  const struct kymo_type *shown = field ? field->node->shown : NULL;
  if (!text->address.size || !bound->is_many || !shown || !shown->is_address)
    return bound;
  struct filter_bound *address = kymo_arena_alloc(&machine->arena, sizeof *address);
  if (!address)
    return NULL;
  *address = *bound;
  address->is_many = false;
  address->get = get_address;
  return address;
}

bool kymo_filter_bind_field(struct filter_machine *machine, const struct kymo_event *event,
                            struct filter_bound *bound, const char *path) {
  uint8_t op = bound->node ? bound->node->op : KYMO_FILTER_FIELD;
  bound->field = kymo_filter_field_id(machine->trace, event->class_, path);
  bool is_many = bound->field == KYMO_FIELD_NONE || is_array(event, bound->field);
  if (is_many && !bind_way(machine, event, bound, path))
    return false;
  if (op == KYMO_FILTER_ELEMENT || op == KYMO_FILTER_SIZE || op == KYMO_FILTER_COUNT) {
    bound->get = op == KYMO_FILTER_ELEMENT ? get_element : op == KYMO_FILTER_SIZE ? get_size : get_count;
  } else if (bound->way) {
    bound->is_many = true;
    bound->get = get_first;
  } else if (bound->field == KYMO_FIELD_NONE) {
    bind_stand_in(machine->trace, event->class_, bound, path);
  } else if (has_raw_place(event, bound->field, &bound->raw)) {
    bound->value.type = kymo_shown_type(kymo_find_field(event->plan, bound->field)->node);
    bound->get = get_raw;
  } else {
    bound->value.type = kymo_find_field(event->plan, bound->field)->node->shown;
    bound->get = get_field;
  }
  return true;
}

/* ---- elements ---- */

/* The list in the elements of another list, or in any scope. */
static bool bind_list(struct filter_machine *machine, const struct kymo_event *event,
                      struct filter_bound *bound, const struct filter_bound *each, const char *path) {
  const struct kymo_node *roots[ROOTS];
  struct filter_way way = {.each = each};
  if (each)
    return !each->way || !find_list(&way, each->way->element, path) || keep_way(machine, bound, &way);
  list_roots(event, roots);
  for (size_t i = 0; i < ROOTS; i++) {
    way = (struct filter_way){.scope = root_scopes[i]};
    if (roots[i] && find_list(&way, roots[i]->type, path))
      return keep_way(machine, bound, &way);
  }
  return true;
}

bool kymo_filter_bind_each(struct filter_machine *machine, const struct kymo_event *event,
                           struct filter_bound *bound, const struct filter_bound *each, const char *path) {
  static filter_get *const gets[KYMO_FILTER_OP_COUNT] = {[KYMO_FILTER_FIELD] = get_first,
                                                         [KYMO_FILTER_ELEMENT] = get_element,
                                                         [KYMO_FILTER_SIZE] = get_size,
                                                         [KYMO_FILTER_COUNT] = get_count};
  struct filter_way way = {.each = each};
  uint8_t op = bound->node->op;
  bool has_array = false;
  if (op == KYMO_FILTER_EACH)
    return bind_list(machine, event, bound, each, path);
  if (each->way && find_way(&way, each->way->element, path, &has_array) && !keep_way(machine, bound, &way))
    return false;
  bound->get = bound->way ? gets[op] : get_absent;
  bound->is_constant = !bound->way;
  bound->is_many = bound->way && has_array && op == KYMO_FILTER_FIELD;
  return true;
}
