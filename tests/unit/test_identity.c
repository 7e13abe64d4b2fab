/* SPDX-License-Identifier: MIT */
/*
 * What hashes promise, over random schemas and the sample of everything: a schema built in any order among
 * any other types has the same hashes; one that differs in a single thing that they cover has others, and in
 * a thing that they do not cover the same. The environment variable KYMO_SEED repeats one case.
 */
#include "random_schema.h"
#include "rounds.h"
#include "schema_sample.h"
#include <inttypes.h>

static uint64_t case_number;

static void hold(bool holds, const char *what) {
  if (!holds)
    fail_msg("KYMO_SEED=%" PRIu64 ": %s", case_number, what);
}

/* ---- building a schema again ---- */

/* The effect of a change of a type on the hashes of the types that contain it. */
enum effect { NOT_POSSIBLE, NO_CHANGE, NEW_LAYOUT, NEW_CONTENT };

struct change {
  const char *name;
  /* Changes a type whose members are a copy; new memory comes from the builder. */
  enum effect (*apply)(struct kymo_builder *builder, struct kymo_type *type, struct kymo_member *members);
};

struct rebuilding {
  const struct kymo_schema *from;
  struct kymo_builder *builder;
  const struct kymo_type **types; /* by id in `from` */
  const struct kymo_clock *clocks[4];
  const struct kymo_type *changed; /* the type in `from` to be changed, or NULL */
  const struct change *change;
  enum effect effect;
};

static const struct kymo_type *rebuild(struct rebuilding *r, const struct kymo_type *type);

/* Parts in random order, and now and then a type that has nothing to do with them. */
static void rebuild_parts(struct rebuilding *r, const struct kymo_type *type) {
  if (random_below(3) == 0)
    make(r->builder, (struct kymo_type){.kind = KYMO_KIND_INTEGER,
                                        .size_bits = 1 + (uint32_t)random_below(64),
                                        .name = "other"});
  if (type->element && random_below(2))
    rebuild(r, type->element);
  if (type->selector_type)
    rebuild(r, type->selector_type);
  uint32_t first = type->member_count ? (uint32_t)random_below(type->member_count) : 0;
  for (uint32_t i = 0; i < type->member_count; i++)
    rebuild(r, type->members[(first + i) % type->member_count].type);
}

static const struct kymo_type *rebuild(struct rebuilding *r, const struct kymo_type *type) {
  if (!type || r->types[type->id])
    return type ? r->types[type->id] : NULL;
  rebuild_parts(r, type);
  struct kymo_type copy = *type;
  struct kymo_member *members = kymo_builder_alloc(r->builder, (type->member_count + 1) * sizeof *members);
  for (uint32_t i = 0; i < type->member_count; i++) {
    members[i] = type->members[i];
    members[i].type = rebuild(r, type->members[i].type);
  }
  copy.members = members;
  copy.element = rebuild(r, type->element);
  copy.selector_type = rebuild(r, type->selector_type);
  copy.clock = type->clock ? r->clocks[type->clock->index] : NULL;
  if (type == r->changed)
    r->effect = r->change->apply(r->builder, &copy, members);
  return r->types[type->id] = make(r->builder, copy);
}

/* Types of one schema in a new builder; the objects that they point to stay in the schema. */
static struct rebuilding begin(const struct kymo_schema *from) {
  struct rebuilding r = {.from = from, .builder = kymo_builder_new()};
  r.types = calloc(from->type_count, sizeof *r.types);
  for (uint32_t i = from->clock_count; i-- > 0;) {
    assert_true(i < 4);
    r.clocks[i] = kymo_builder_clock(r.builder, from->clocks[i]);
  }
  return r;
}

static void end(struct rebuilding *r) {
  free(r->types);
  kymo_builder_free(r->builder);
}

static bool same(struct kymo_hash a, struct kymo_hash b) { return a.low == b.low && a.high == b.high; }

static bool same_hashes(const struct kymo_hashes *a, const struct kymo_hashes *b) {
  return same(a->content, b->content) && same(a->layout, b->layout);
}

/* The stream class in the new builder, with its scopes. */
static struct kymo_stream_class *rebuild_stream(struct rebuilding *r, const struct kymo_stream_class *from) {
  struct kymo_stream_class stream = *from, *made = NULL;
  stream.packet_context = rebuild(r, from->packet_context);
  stream.event_header = rebuild(r, from->event_header);
  stream.common_context = rebuild(r, from->common_context);
  stream.clock = from->clock ? r->clocks[from->clock->index] : NULL;
  assert_int_equal(kymo_builder_stream(r->builder, &stream, &made, NULL), KYMO_OK);
  return made;
}

/* Streams and events from the last to the first. */
static struct kymo_schema *rebuild_schema(struct rebuilding *r) {
  kymo_builder_schema(r->builder)->packet_header = rebuild(r, r->from->packet_header);
  for (uint32_t i = r->from->stream_count; i-- > 0;) {
    const struct kymo_stream_class *from = r->from->streams[i];
    struct kymo_stream_class *stream = rebuild_stream(r, from);
    for (uint32_t k = from->event_count; k-- > 0;) {
      struct kymo_event_class event = *from->events[k];
      event.payload = rebuild(r, event.payload);
      event.specific_context = rebuild(r, event.specific_context);
      assert_int_equal(kymo_builder_event(r->builder, stream, &event, NULL, NULL), KYMO_OK);
    }
  }
  struct kymo_schema *schema = finish(r->builder);
  r->builder = NULL;
  return schema;
}

/* ---- the order in which types are made does not matter ---- */

static void check_order(const struct kymo_schema *schema) {
  struct rebuilding r = begin(schema);
  struct kymo_schema *again = rebuild_schema(&r);
  for (uint32_t id = 0; id < schema->type_count; id++)
    hold(!r.types[id] || same_hashes(&r.types[id]->hashes, &schema->types[id]->hashes),
         "another hash of a type");
  for (uint32_t i = 0; i < schema->stream_count; i++)
    for (uint32_t k = 0; k < schema->streams[i]->event_count; k++) {
      const struct kymo_event_class *event = schema->streams[i]->events[k];
      const struct kymo_event_class *other =
          kymo_stream_class_event(kymo_schema_stream(again, event->stream->id), event->id);
      hold(same_hashes(&event->hashes, &other->hashes), "another hash of an event class");
    }
  end(&r);
  kymo_schema_release(again);
}

/* ---- merging equal types ---- */

/* Each event class of the first is in the merged one, and each of that differs from all others of its
 * stream. */
static void check_merge(const struct kymo_schema *schema) {
  struct rebuilding r = begin(schema);
  struct kymo_schema *again = rebuild_schema(&r), *all = NULL;
  struct kymo_error error = {0};
  if (kymo_schema_merge(&all, (const struct kymo_schema *const[]){schema, again}, 2, &error) != KYMO_OK)
    fail_msg("%s", error.message);
  for (uint32_t i = 0; i < schema->stream_count; i++) {
    const struct kymo_stream_class *from = schema->streams[i], *to = kymo_schema_stream(all, from->id);
    for (uint32_t k = 0; k < from->event_count; k++) {
      uint32_t found = 0;
      for (uint32_t at = 0; at < to->event_count; at++)
        found += same_hashes(&from->events[k]->hashes, &to->events[at]->hashes);
      hold(found == 1, "an event class is merged to none or several");
    }
    hold(to->event_count <= from->event_count, "event classes come from nowhere");
  }
  end(&r);
  kymo_schema_release(again);
  kymo_schema_release(all);
}

/* ---- one thing that differs ---- */

#define CHANGE(what)                                                               \
  static enum effect change_##what(struct kymo_builder *b, struct kymo_type *type, \
                                   struct kymo_member *members)
#define UNUSED (void)b, (void)members

static bool is_scalar(const struct kymo_type *type) { return type->kind <= KYMO_KIND_FLOAT; }

CHANGE(name) {
  UNUSED;
  type->name = type->name ? NULL : "named";
  return NEW_CONTENT;
}
CHANGE(unit) {
  UNUSED;
  type->unit = type->unit ? "other" : "";
  return NEW_CONTENT;
}
CHANGE(base) {
  UNUSED;
  type->base = type->base == 16 ? 8 : 16;
  return NEW_CONTENT;
}
CHANGE(encoding) {
  UNUSED;
  type->encoding = (enum kymo_encoding)((type->encoding + 1) % 7);
  return NEW_CONTENT;
}
CHANGE(roles) {
  UNUSED;
  type->roles ^= KYMO_ROLE_DISCARDED;
  return NEW_CONTENT;
}
CHANGE(sign) {
  UNUSED;
  type->is_signed = !type->is_signed;
  return NEW_CONTENT;
}
CHANGE(address) {
  UNUSED;
  type->is_address = !type->is_address;
  return NEW_CONTENT;
}
CHANGE(enumeration) {
  UNUSED;
  type->is_enumeration = !type->is_enumeration;
  return NEW_CONTENT;
}
CHANGE(media_type) {
  UNUSED;
  type->media_type = type->media_type ? NULL : "text/plain";
  return NEW_CONTENT;
}
CHANGE(attributes) {
  UNUSED;
  type->attributes = type->attributes ? "[1]" : "{}";
  return NEW_CONTENT;
}
CHANGE(alignment) {
  UNUSED;
  type->align_bits *= 2;
  return NEW_LAYOUT;
}
CHANGE(clock) {
  UNUSED;
  type->clock = kymo_builder_clock(b, &(struct kymo_clock){.name = "one more", .frequency = 1});
  return NEW_CONTENT;
}

CHANGE(kind) {
  UNUSED;
  if (type->kind == KYMO_KIND_STRING || type->kind == KYMO_KIND_VARINT)
    type->kind = type->kind == KYMO_KIND_STRING ? KYMO_KIND_VARINT : KYMO_KIND_STRING;
  else if (is_scalar(type))
    type->kind = (enum kymo_type_kind)((type->kind + 1) % (KYMO_KIND_FLOAT + 1));
  else
    return NOT_POSSIBLE;
  return NEW_CONTENT;
}

CHANGE(width) {
  UNUSED;
  if (!is_scalar(type) && type->kind != KYMO_KIND_UNION)
    return NOT_POSSIBLE;
  type->size_bits += 8;
  return NEW_CONTENT;
}

CHANGE(length) {
  UNUSED;
  if (type->kind != KYMO_KIND_ARRAY && type->kind != KYMO_KIND_TEXT_ARRAY &&
      type->kind != KYMO_KIND_BLOB_ARRAY)
    return NOT_POSSIBLE;
  type->length++;
  return NEW_CONTENT;
}

CHANGE(order) {
  UNUSED;
  if (!is_scalar(type))
    return NOT_POSSIBLE;
  type->order = type->order == KYMO_ORDER_BIG ? KYMO_ORDER_LITTLE : KYMO_ORDER_BIG;
  return type->size_bits <= 8 && type->align_bits >= 8 ? NO_CHANGE : NEW_LAYOUT;
}

CHANGE(bit_order) {
  UNUSED;
  type->bits_reversed = !type->bits_reversed;
  return NEW_LAYOUT;
}

CHANGE(one_mapping_more) {
  (void)members;
  struct kymo_mapping *mappings = kymo_builder_alloc(b, (type->mapping_count + 1) * sizeof *mappings);
  for (uint32_t i = 0; i < type->mapping_count; i++)
    mappings[i] = type->mappings[i];
  mappings[type->mapping_count] = (struct kymo_mapping){"MORE", 1, 1};
  type->mappings = mappings;
  type->mapping_count++;
  return NEW_CONTENT;
}

CHANGE(mapping) {
  (void)members;
  if (type->mapping_count == 0)
    return NOT_POSSIBLE;
  struct kymo_mapping *mappings = kymo_builder_alloc(b, type->mapping_count * sizeof *mappings);
  memcpy(mappings, type->mappings, type->mapping_count * sizeof *mappings);
  struct kymo_mapping *one = &mappings[random_below(type->mapping_count)];
  switch (random_below(3)) {
  case 0: one->name = "CHANGED"; break;
  case 1: one->low--; break;
  default: one->high++; break;
  }
  type->mappings = mappings;
  return NEW_CONTENT;
}

CHANGE(member_name) {
  (void)b;
  if (type->member_count == 0)
    return NOT_POSSIBLE;
  members[random_below(type->member_count)].name = "changed";
  return NEW_CONTENT;
}

CHANGE(member_source_name) {
  (void)b;
  if (type->member_count == 0)
    return NOT_POSSIBLE;
  members[random_below(type->member_count)].source_name = "changed";
  return NO_CHANGE;
}

CHANGE(member_attributes) {
  (void)b;
  if (type->member_count == 0)
    return NOT_POSSIBLE;
  members[random_below(type->member_count)].attributes = "{\"changed\":1}";
  return NEW_CONTENT;
}

CHANGE(one_member_less) {
  UNUSED;
  if (type->member_count == 0)
    return NOT_POSSIBLE;
  type->member_count--;
  return NEW_CONTENT;
}

CHANGE(order_of_members) {
  (void)b;
  if (type->member_count < 2)
    return NOT_POSSIBLE;
  struct kymo_member first = members[0];
  members[0] = members[type->member_count - 1];
  members[type->member_count - 1] = first;
  return NEW_CONTENT;
}

CHANGE(option_ranges) {
  if (type->kind != KYMO_KIND_VARIANT || type->member_count == 0)
    return NOT_POSSIBLE;
  struct kymo_member *option = &members[random_below(type->member_count)];
  struct kymo_range *ranges = kymo_builder_alloc(b, option->range_count * sizeof *ranges);
  memcpy(ranges, option->ranges, option->range_count * sizeof *ranges);
  ranges[random_below(option->range_count)].high++;
  option->ranges = ranges;
  return NEW_CONTENT;
}

CHANGE(selector) {
  (void)members;
  if (!type->selector_type)
    return NOT_POSSIBLE;
  uint32_t *steps = kymo_builder_alloc(b, (type->selector.depth + 1) * sizeof *steps);
  memcpy(steps, type->selector.steps, type->selector.depth * sizeof *steps);
  uint64_t which = random_below(3);
  if (which == 0)
    type->selector.scope = (enum kymo_scope)((type->selector.scope + 1) % KYMO_SCOPE_COUNT);
  else if (which == 1)
    type->selector.depth++;
  else
    steps[random_below(type->selector.depth)]++;
  type->selector.steps = steps;
  return NEW_CONTENT;
}

CHANGE(presence) {
  (void)members;
  if (type->presence_count == 0)
    return NOT_POSSIBLE;
  struct kymo_range *ranges = kymo_builder_alloc(b, type->presence_count * sizeof *ranges);
  memcpy(ranges, type->presence, type->presence_count * sizeof *ranges);
  ranges[random_below(type->presence_count)].low++;
  type->presence = ranges;
  return NEW_CONTENT;
}

#define LISTED(what) \
  { #what, change_##what }
static const struct change changes[] = {
    LISTED(name),
    LISTED(unit),
    LISTED(base),
    LISTED(encoding),
    LISTED(roles),
    LISTED(sign),
    LISTED(address),
    LISTED(enumeration),
    LISTED(media_type),
    LISTED(attributes),
    LISTED(alignment),
    LISTED(clock),
    LISTED(kind),
    LISTED(width),
    LISTED(length),
    LISTED(order),
    LISTED(bit_order),
    LISTED(one_mapping_more),
    LISTED(mapping),
    LISTED(member_name),
    LISTED(member_source_name),
    LISTED(member_attributes),
    LISTED(one_member_less),
    LISTED(order_of_members),
    LISTED(option_ranges),
    LISTED(selector),
    LISTED(presence),
};
enum { CHANGES = sizeof changes / sizeof *changes };

static void check_effect(const struct change *change, enum effect effect, const struct kymo_hashes *is,
                         const struct kymo_hashes *was) {
  bool content = same(is->content, was->content), layout = same(is->layout, was->layout);
  if (content != (effect != NEW_CONTENT) || layout != (effect == NO_CHANGE))
    fail_msg("KYMO_SEED=%" PRIu64 ": after a change of %s, content is %s and layout is %s", case_number,
             change->name, content ? "the same" : "new", layout ? "the same" : "new");
}

/* One change of a random type that the event class has somewhere. `counts`: how often each change was
 * possible. */
static void check_change(const struct kymo_event_class *event, const struct kymo_schema *schema,
                         unsigned *counts) {
  struct rebuilding whole = begin(schema), r = begin(schema);
  struct kymo_event_class copy = *event, *made = NULL;
  rebuild(&whole, event->payload);
  for (uint32_t tries = 0; !r.changed && tries < 1000; tries++) {
    const struct kymo_type *type = schema->types[random_below(schema->type_count)];
    r.changed = whole.types[type->id] ? type : NULL;
  }
  end(&whole);
  uint64_t which = random_below(CHANGES);
  r.change = &changes[which];
  struct kymo_stream_class *stream = NULL;
  assert_int_equal(kymo_builder_stream(r.builder, &(struct kymo_stream_class){0}, &stream, NULL), KYMO_OK);
  copy.payload = rebuild(&r, event->payload);
  copy.specific_context = rebuild(&r, event->specific_context);
  copy.description = "another", copy.source_file = "x.c", copy.source_line = 99, copy.template_text = "t",
  copy.id = 7;
  assert_int_equal(kymo_builder_event(r.builder, stream, &copy, &made, NULL), KYMO_OK);
  if (r.changed && r.effect != NOT_POSSIBLE) {
    check_effect(r.change, r.effect, &made->hashes, &event->hashes);
    counts[which]++;
  }
  end(&r);
}

/* ---- the tests ---- */

static void check_schema(struct kymo_schema *schema, unsigned *counts, unsigned times) {
  check_order(schema);
  check_merge(schema);
  for (unsigned i = 0; i < times; i++) {
    const struct kymo_stream_class *stream = schema->streams[0];
    const struct kymo_event_class *event = stream->events[random_below(stream->event_count)];
    if (event->payload)
      check_change(event, schema, counts);
  }
  kymo_schema_release(schema);
}

static void hashes_keep_what_they_promise(void **state) {
  (void)state;
  unsigned counts[CHANGES] = {0};
  const char *only = getenv("KYMO_SEED");
  for (uint64_t number = only ? strtoull(only, NULL, 10) : 0; only || number < rounds(1000); number++) {
    random_seed(number);
    case_number = number;
    check_schema(random_schema(&(struct making){0}), counts, 20);
    if (only)
      return;
  }
  random_seed(++case_number);
  check_schema(sample_schema(), counts, 3000);
  for (size_t i = 0; i < CHANGES; i++)
    if (counts[i] < rounds(10))
      fail_msg("%s was changed %u times only", changes[i].name, counts[i]);
}

static void the_event_class_itself_counts(void **state) {
  (void)state;
  struct kymo_builder *b = kymo_builder_new();
  struct kymo_stream_class *stream = NULL;
  assert_int_equal(kymo_builder_stream(b, &(struct kymo_stream_class){0}, &stream, NULL), KYMO_OK);
  const struct kymo_type *type = make_struct(b, "x", make_uint(b, 8, 8), NULL);
  const struct kymo_event_class events[] = {
      {.name = "a", .level = 1, .payload = type},
      {.name = "b", .level = 1, .payload = type},
      {.name = "a", .level = 2, .payload = type},
      {.name = "a", .level = 1, .specific_context = type},
      {.name = "a", .level = 1, .specific_context = type, .payload = type},
      {.name = "a", .level = 1},
  };
  enum { EVENTS = sizeof events / sizeof *events };
  struct kymo_event_class *made[EVENTS];
  for (uint64_t i = 0; i < EVENTS; i++) {
    struct kymo_event_class event = events[i];
    event.id = i;
    assert_int_equal(kymo_builder_event(b, stream, &event, &made[i], NULL), KYMO_OK);
    for (uint64_t k = 0; k < i; k++) {
      assert_false(same(made[i]->hashes.content, made[k]->hashes.content));
      assert_false(same(made[i]->hashes.layout, made[k]->hashes.layout));
    }
  }
  kymo_builder_free(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(hashes_keep_what_they_promise),
      cmocka_unit_test(the_event_class_itself_counts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
