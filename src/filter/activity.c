/* SPDX-License-Identifier: MIT */
/*
 * Activities of a filter. All activities of a filter are event classes of one part of the trace, which has
 * one stream. The stream takes no part in merging: activities that an event ends wait in a queue, and are
 * read from it after that event.
 *
 *   event ── TO? ──► key in the table ──► queue ──► stream ──► kymo_trace_next_filtered
 *        └── FROM? ► table[key] = time
 */
#include "filter/activity.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/strbuf.h"
#include "decode/value.h"
#include "decode/field.h"
#include "schema/build.h"
#include <stdlib.h>
#include <string.h>

#define FORMAT "filter"

/* An activity that has ended: its payload is `size` bytes at `offset` of the queue's payloads. */
struct ended {
  uint32_t activity;
  int64_t begin_ns;
  size_t offset, size;
};

struct filter_activities {
  const struct kymo_filter *filter;
  struct kymo_part *part;
  struct stream_state *stream;
  struct filter_table *tables;             /* by activity: those that have begun */
  const struct kymo_event_class **classes; /* by activity */
  struct ended *queue;                     /* at most one of each activity */
  uint32_t queue_next, queue_count;
  struct kymo_strbuf bytes; /* payloads, KYMO_SLACK after each */
  struct kymo_event added;  /* the last one that was returned */
};

/* ---- the stream ---- */

struct kymo_cursor {
  struct filter_activities *activities;
};

static int begin(struct kymo_cursor **cursor, void *source, struct kymo_error *error) {
  *cursor = malloc(sizeof **cursor);
  if (!*cursor)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  (*cursor)->activities = *(struct filter_activities **)source;
  return KYMO_OK;
}

static int next_event(struct kymo_cursor *cursor, struct kymo_raw_event *event, struct kymo_error *error) {
  struct filter_activities *activities = cursor->activities;
  (void)error;
  if (!activities || activities->queue_next == activities->queue_count)
    return KYMO_END;
  const struct ended *ended = &activities->queue[activities->queue_next++];
  *event = (struct kymo_raw_event){.class_ = activities->classes[ended->activity],
                                   .data = (const uint8_t *)activities->bytes.text + ended->offset,
                                   .size_bits = ended->size * 8,
                                   .cycles = (uint64_t)ended->begin_ns,
                                   .path = FORMAT};
  return KYMO_OK;
}

static void end(struct kymo_cursor *cursor) { free(cursor); }

static const struct kymo_source_operations operations = {
    .begin = begin, .next_event = next_event, .end = end, .free = free};

/* ---- the classes ---- */

struct maker {
  struct filter_machine *machine;
  struct kymo_builder *builder;
  struct kymo_stream_class *stream;
  struct kymo_error *error;
};

/* The types that a field has in the trace's event classes. */
struct types {
  const struct kymo_type *first;
  bool has_whole, has_sign, has_large, has_float, has_text, has_other_labels;
};

static bool same_labels(const struct kymo_type *a, const struct kymo_type *b) {
  bool is_same = a->kind == b->kind && a->mapping_count == b->mapping_count;
  for (uint32_t i = 0; is_same && i < a->mapping_count && a->mappings != b->mappings; i++)
    is_same = a->mappings[i].low == b->mappings[i].low && a->mappings[i].high == b->mappings[i].high &&
              strcmp(a->mappings[i].name, b->mappings[i].name) == 0;
  return is_same;
}

/* The types inside of optional fields and variants, at any depth. */
static void see_type(struct types *types, const struct kymo_type *type) {
  while (type->kind == KYMO_KIND_OPTIONAL)
    type = type->element;
  for (uint32_t i = 0; type->kind == KYMO_KIND_VARIANT && i < type->member_count; i++)
    see_type(types, type->members[i].type);
  if (type->kind == KYMO_KIND_VARIANT)
    return;
  types->first = types->first ? types->first : type;
  types->has_other_labels |= !same_labels(types->first, type);
  types->has_text |= type->kind >= KYMO_KIND_STRING;
  types->has_float |= type->kind == KYMO_KIND_FLOAT;
  bool is_whole = type->kind < KYMO_KIND_STRING && type->kind != KYMO_KIND_FLOAT;
  types->has_whole |= is_whole;
  types->has_sign |= is_whole && type->is_signed;
  types->has_large |=
      is_whole && !type->is_signed && (type->size_bits == 64 || type->kind == KYMO_KIND_VARINT);
}

/* Event classes without the field have its stand-in. */
static void see_stand_in(struct types *types, enum kymo_stand_in what) {
  types->has_text |=
      what == KYMO_STAND_IN_EVENT || what == KYMO_STAND_IN_GROUP || what == KYMO_STAND_IN_PROCESS;
  types->has_whole |= what == KYMO_STAND_IN_STREAM || what == KYMO_STAND_IN_SEQUENCE ||
                      what == KYMO_STAND_IN_LEVEL || what == KYMO_STAND_IN_PID;
}

static struct types find_types(const struct maker *maker, const char *path) {
  struct kymo_trace *trace = maker->machine->trace;
  struct types types = {.first = NULL};
  for (size_t i = 0; i < trace->part_count; i++) {
    const struct kymo_schema_plan *plan = trace->parts[i]->plan;
    for (uint32_t j = 0; j < plan->schema->stream_count; j++)
      for (uint32_t k = 0; k < plan->schema->streams[j]->event_count; k++) {
        const struct kymo_event_plan *event = &plan->streams[j].events[k];
        uint32_t id = kymo_filter_field_id(trace, event->class_, path);
        if (id != KYMO_FIELD_NONE)
          see_type(&types, kymo_find_field(event, id)->node->type);
        else if (!kymo_filter_is_no_event(event->class_))
          see_stand_in(&types, kymo_stand_in_of(path));
      }
  }
  return types;
}

static const struct kymo_mapping *copy_mappings(const struct maker *maker, const struct kymo_type *type) {
  struct kymo_mapping *mappings =
      kymo_builder_alloc(maker->builder, (type->mapping_count + 1) * sizeof *mappings);
  for (uint32_t i = 0; mappings && i < type->mapping_count; i++) {
    mappings[i] = type->mappings[i];
    mappings[i].name = kymo_builder_text(maker->builder, type->mappings[i].name);
  }
  return mappings;
}

/* How a value of SAME is stored: whole numbers in 64 bits, fractions as doubles, and values of several sorts
 * as texts. */
static const struct kymo_type *make_type(const struct maker *maker, const char *path) {
  struct types types = find_types(maker, path);
  struct kymo_type made = {.kind = KYMO_KIND_STRING, .align_bits = 8, .encoding = KYMO_ENCODING_UTF8};
  bool is_whole =
      types.has_whole && !types.has_float && !types.has_text && !(types.has_sign && types.has_large);
  if (is_whole)
    made = (struct kymo_type){.kind = KYMO_KIND_INTEGER,
                              .align_bits = 8,
                              .size_bits = 64,
                              .order = KYMO_ORDER_LITTLE,
                              .is_signed = types.has_sign};
  else if (types.has_float && !types.has_whole && !types.has_text)
    made = (struct kymo_type){
        .kind = KYMO_KIND_FLOAT, .align_bits = 8, .size_bits = 64, .order = KYMO_ORDER_LITTLE};
  if (is_whole && types.first && types.first->is_signed == types.has_sign && !types.has_other_labels) {
    made.kind = types.first->kind == KYMO_KIND_BITMAP ? KYMO_KIND_BITMAP : KYMO_KIND_INTEGER;
    made.base = types.first->base;
    made.is_enumeration = types.first->is_enumeration;
    made.mapping_count = types.first->mapping_count;
    made.mappings = copy_mappings(maker, types.first);
  }
  return kymo_builder_type(maker->builder, &made);
}

static int make_class(const struct maker *maker, const struct kymo_filter_activity *activity) {
  const struct kymo_filter *filter = maker->machine->filter;
  const struct kymo_type duration = {.kind = KYMO_KIND_INTEGER,
                                     .align_bits = 8,
                                     .size_bits = 64,
                                     .is_signed = true,
                                     .order = KYMO_ORDER_LITTLE,
                                     .unit = "ns"};
  uint32_t count = activity->key_count + 1;
  struct kymo_member *members = kymo_builder_members(maker->builder, count);
  char *name = kymo_builder_text(maker->builder, filter->texts[activity->name].bytes);
  if (!members || !name)
    return kymo_fail(maker->error, KYMO_E_MEMORY, "out of memory");
  members[0] = (struct kymo_member){.name = "DURATION", .type = kymo_builder_type(maker->builder, &duration)};
  for (uint32_t i = 1; i < count; i++) {
    const char *path = filter->texts[filter->lists[activity->first_key + i - 1]].bytes;
    members[i].name = kymo_builder_text(maker->builder, path);
    members[i].type = make_type(maker, path);
  }
  const struct kymo_type *payload = kymo_builder_struct(maker->builder, members, count);
  if (!payload)
    return kymo_fail(maker->error, KYMO_E_MEMORY, "out of memory");
  struct kymo_event_class class_ = {
      .id = maker->stream->event_count, .name = name, .level = -1, .payload = payload};
  return kymo_builder_event(maker->builder, maker->stream, &class_, NULL, maker->error);
}

static bool has_epoch(const struct kymo_trace *trace) {
  for (size_t i = 0; i < trace->part_count; i++)
    for (uint32_t j = 0; j < trace->parts[i]->schema->clock_count; j++)
      if (trace->parts[i]->schema->clocks[j]->origin_is_epoch)
        return true;
  return false;
}

static struct kymo_schema *make_schema(struct maker *maker) {
  const struct kymo_filter *filter = maker->machine->filter;
  struct kymo_clock clock = {
      .name = FORMAT, .frequency = 1000000000, .origin_is_epoch = has_epoch(maker->machine->trace)};
  struct kymo_stream_class stream = {.name = FORMAT};
  struct kymo_schema *schema = kymo_builder_schema(maker->builder);
  schema->order = KYMO_ORDER_LITTLE;
  schema->major = 2;
  stream.clock = kymo_builder_clock(maker->builder, &clock);
  int status = kymo_builder_stream(maker->builder, &stream, &maker->stream, maker->error);
  for (uint32_t i = 0; i < filter->activity_count && status == KYMO_OK; i++)
    status = make_class(maker, &filter->activities[i]);
  if (status == KYMO_OK)
    return kymo_builder_finish(maker->builder, maker->error);
  kymo_builder_free(maker->builder);
  return NULL;
}

/* Makes the trace's part for activities, with its stream. */
static int add_part(struct filter_activities *activities, struct kymo_trace *trace,
                    struct kymo_schema *schema, struct kymo_error *error) {
  struct kymo_part_source part = {.format = FORMAT, .path = FORMAT, .schema = schema};
  struct filter_activities **source = malloc(sizeof(struct filter_activities *));
  int status = source ? kymo_trace_add_part(trace, &part, &activities->part, error)
                      : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (status != KYMO_OK) {
    free(source);
    return status;
  }
  *source = activities;
  struct kymo_stream_source stream = {.operations = &operations,
                                      .source = source,
                                      .class_ = schema->streams[0],
                                      .path = FORMAT,
                                      .instance = UINT64_MAX};
  status = kymo_part_add_stream(trace, activities->part, &stream, error);
  if (status != KYMO_OK)
    return status;
  activities->stream = ((struct part_state *)activities->part)->streams[0];
  activities->stream->is_begun = activities->stream->is_ended = false;
  status = kymo_stream_prepare(activities->stream, error);
  activities->stream->is_begun = true; /* it has no boundaries to report */
  for (uint32_t i = 0; i < activities->filter->activity_count; i++)
    activities->classes[i] = schema->streams[0]->events[i];
  return status;
}

int kymo_filter_activities_begin(struct filter_machine *machine, struct kymo_error *error) {
  uint32_t count = machine->filter->activity_count;
  if (count == 0)
    return KYMO_OK;
  struct filter_activities *activities = machine->activities = calloc(1, sizeof *activities);
  if (!activities)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  activities->filter = machine->filter;
  activities->tables = calloc(count, sizeof *activities->tables);
  activities->classes = calloc(count, sizeof *activities->classes);
  activities->queue = calloc(count, sizeof *activities->queue);
  struct maker maker = {.machine = machine, .builder = kymo_builder_new(), .error = error};
  if (!activities->tables || !activities->classes || !activities->queue || !maker.builder) {
    kymo_builder_free(maker.builder);
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  }
  struct kymo_schema *schema = make_schema(&maker);
  return schema ? add_part(activities, machine->trace, schema, error) : KYMO_E_MEMORY;
}

void kymo_filter_activities_free(struct filter_activities *activities) {
  if (!activities)
    return;
  for (uint32_t i = 0; activities->tables && i < activities->filter->activity_count; i++)
    kymo_filter_table_free(&activities->tables[i]);
  if (activities->stream)
    *(struct filter_activities **)activities->stream->source = NULL; /* the part stays as long as the trace */
  free(activities->tables);
  free(activities->classes);
  free(activities->queue);
  kymo_strbuf_free(&activities->bytes);
  free(activities);
}

bool kymo_filter_is_added(const struct kymo_part *part) { return strcmp(part->format, FORMAT) == 0; }

/* ---- binding ---- */

bool kymo_filter_bind_activities(struct filter_machine *machine, const struct kymo_event *event,
                                 struct kymo_filter_class *class_, struct filter_bound *const *bounds) {
  const struct kymo_filter *filter = machine->filter;
  class_->activities =
      kymo_arena_array(&machine->arena, filter->activity_count + 1u, sizeof *class_->activities);
  for (uint32_t i = 0; class_->activities && i < filter->activity_count; i++) {
    const struct kymo_filter_activity *activity = &filter->activities[i];
    struct filter_edges *edges = &class_->activities[i];
    *edges =
        (struct filter_edges){.from = bounds[activity->from],
                              .to = bounds[activity->to],
                              .limit = activity->limit == KYMO_FILTER_NONE ? NULL : bounds[activity->limit]};
    edges->keys = kymo_arena_array(&machine->arena, activity->key_count + 1u, sizeof *edges->keys);
    for (uint32_t j = 0; edges->keys && j < activity->key_count; j++)
      if (!kymo_filter_bind_field(machine, event, &edges->keys[j],
                                  filter->texts[filter->lists[activity->first_key + j]].bytes))
        return false;
    if (!edges->keys)
      return false;
  }
  return class_->activities != NULL;
}

bool kymo_filter_is_of_activity(const struct filter_machine *machine, const struct kymo_event *event,
                                uint32_t activity) {
  return machine->activities && event->class_ == machine->activities->classes[activity];
}

/* ---- seeing events ---- */

struct sight {
  struct filter_machine *machine;
  const struct kymo_filter_activity *activity;
  const struct filter_edges *edges;
  struct filter_look *look;
  uint32_t index;
  struct filter_value values[KYMO_FILTER_SAME];
  struct filter_key key;
};

/* The event's values of SAME; false: one of them is absent. */
static bool find_key(struct sight *sight) {
  struct kymo_keyed hash;
  kymo_keyed_begin(&hash);
  for (uint32_t i = 0; i < sight->activity->key_count; i++) {
    const struct filter_bound *key = &sight->edges->keys[i];
    key->get(key, sight->look, &sight->values[i]);
    if (sight->values[i].v.sort == KYMO_SORT_ABSENT)
      return false;
    sight->key = kymo_filter_key_of(&sight->values[i]);
    kymo_keyed_add(&hash, sight->key.number);
    kymo_keyed_add(&hash, sight->key.kind);
  }
  if (sight->activity->key_count != 1)
    sight->key = (struct filter_key){kymo_keyed_end(&hash), sight->activity->key_count};
  return true;
}

static void put_u64(struct kymo_strbuf *out, uint64_t value) {
  char little[8];
  for (unsigned i = 0; i < sizeof little; i++)
    little[i] = (char)(value >> 8 * i);
  kymo_strbuf_add(out, little, sizeof little);
}

/* A value as text: texts as they are, numbers by their labels or in digits, and bytes that are no text in
 * hexadecimal digits. */
static void put_text(struct kymo_strbuf *out, const struct filter_value *value) {
  bool has_labels = value->v.sort == KYMO_SORT_NUMBER && value->type && value->type->kind != KYMO_KIND_BITMAP;
  const struct kymo_mapping *label = has_labels ? kymo_mapping_find(value->type, value->v.n.low) : NULL;
  bool is_blob = value->type &&
                 (value->type->kind == KYMO_KIND_BLOB_ARRAY || value->type->kind == KYMO_KIND_BLOB_SEQUENCE);
  size_t length = value->v.sort == KYMO_SORT_BYTES ? (size_t)value->v.size : 0;
  const uint8_t *zero = length && !is_blob ? memchr(value->v.p, 0, length) : NULL;
  if (label)
    kymo_strbuf_puts(out, label->name);
  else if (value->v.sort == KYMO_SORT_FLOAT)
    kymo_strbuf_printf(out, "%.17g", value->v.f);
  else if (value->v.sort != KYMO_SORT_BYTES && value->v.n.high < 0)
    kymo_strbuf_printf(out, "%lld", (long long)value->v.n.low);
  else if (value->v.sort != KYMO_SORT_BYTES)
    kymo_strbuf_printf(out, "%llu", (unsigned long long)value->v.n.low);
  else if (!is_blob)
    kymo_strbuf_add(out, (const char *)value->v.p, zero ? (size_t)(zero - value->v.p) : length);
  for (size_t i = 0; is_blob && i < length; i++)
    kymo_strbuf_printf(out, "%02x", value->v.p[i]);
  kymo_strbuf_add(out, "", 1);
}

static void put_value(struct kymo_strbuf *out, const struct kymo_type *type,
                      const struct filter_value *value) {
  uint64_t bits = value->v.n.low;
  if (type->kind == KYMO_KIND_STRING) {
    put_text(out, value);
    return;
  }
  if (type->kind == KYMO_KIND_FLOAT)
    memcpy(&bits, &(double){value->v.sort == KYMO_SORT_FLOAT ? value->v.f : kymo_wide_to_double(value->v.n)},
           sizeof bits);
  put_u64(out, bits);
}

static void put_ended(struct sight *sight, int64_t begin_ns, int64_t duration_ns) {
  static const char slack[KYMO_SLACK] = {0};
  struct filter_activities *activities = sight->machine->activities;
  const struct kymo_type *payload = activities->classes[sight->index]->payload;
  struct kymo_strbuf *out = &activities->bytes;
  struct ended ended = {.activity = sight->index, .begin_ns = begin_ns, .offset = out->length};
  put_u64(out, (uint64_t)duration_ns);
  for (uint32_t i = 0; i < sight->activity->key_count; i++)
    put_value(out, payload->members[i + 1].type, &sight->values[i]);
  ended.size = out->length - ended.offset;
  kymo_strbuf_add(out, slack, sizeof slack);
  if (out->failed)
    sight->machine->failed = KYMO_E_MEMORY;
  else
    activities->queue[activities->queue_count++] = ended;
}

/* Whether an activity that began then is older than WITHIN allows. */
static bool is_old(const struct sight *sight, int64_t begin_ns) {
  struct kymo_wide age;
  const struct filter_bound *limit = sight->edges->limit;
  if (!limit || limit->value.v.sort != KYMO_SORT_SPAN)
    return false;
  kymo_wide_subtract(kymo_wide_of_i64(sight->look->event->time_ns), kymo_wide_of_i64(begin_ns), &age);
  kymo_wide_multiply(age, kymo_wide_of_u64(1000), &age);
  return kymo_wide_compare(age, limit->value.v.n) > 0;
}

static void see_end(struct sight *sight, struct filter_table *table) {
  struct filter_cell *cell = kymo_filter_cell_find(table, sight->key);
  int64_t duration_ns;
  if (!cell)
    return;
  if (is_old(sight, cell->time_ns))
    sight->machine->counts.dropped++;
  else if (__builtin_sub_overflow(sight->look->event->time_ns, cell->time_ns, &duration_ns))
    sight->machine->counts.failed++;
  else
    put_ended(sight, cell->time_ns, duration_ns);
  kymo_filter_cell_remove(table, cell);
}

/* Makes space by dropping activities that are too old to end. */
static void drop_old(struct sight *sight, struct filter_table *table) {
  for (uint32_t i = table->count; i > 0; i--)
    if (is_old(sight, table->cells[i - 1].time_ns)) {
      kymo_filter_cell_remove(table, &table->cells[i - 1]);
      sight->machine->counts.dropped++;
    }
}

static void see_begin(struct sight *sight, struct filter_table *table) {
  if (table->count == KYMO_FILTER_KEYS)
    drop_old(sight, table);
  struct filter_cell *cell = kymo_filter_cell(sight->machine, table, sight->key);
  if (!cell)
    return;
  if (cell->is_open)
    is_old(sight, cell->time_ns) ? sight->machine->counts.dropped++ : sight->machine->counts.replaced++;
  cell->is_open = true;
  cell->time_ns = sight->look->event->time_ns;
}

void kymo_filter_activities_see(struct filter_machine *machine, const struct kymo_filter_class *class_,
                                struct filter_look *look) {
  struct filter_activities *activities = machine->activities;
  if (!activities || !look->event->has_time)
    return;
  for (uint32_t i = 0; i < machine->filter->activity_count; i++) {
    struct sight sight = {.machine = machine,
                          .activity = &machine->filter->activities[i],
                          .edges = &class_->activities[i],
                          .look = look,
                          .index = i};
    bool ends = sight.edges->to->test(sight.edges->to, look),
         begins = sight.edges->from->test(sight.edges->from, look);
    if ((!ends && !begins) || !find_key(&sight))
      continue;
    if (ends)
      see_end(&sight, &activities->tables[i]);
    if (begins)
      see_begin(&sight, &activities->tables[i]);
  }
}

/* ---- events that activities added ---- */

bool kymo_filter_activities_next(struct filter_machine *machine, const struct kymo_event **event) {
  struct filter_activities *activities = machine->activities;
  if (!activities || activities->queue_next == activities->queue_count) {
    kymo_filter_activities_drop(activities);
    return false;
  }
  int64_t begin_ns = activities->queue[activities->queue_next].begin_ns;
  struct stream_state *stream = activities->stream;
  if (kymo_stream_advance(stream, NULL) != KYMO_OK || stream->decoder.event_count == 0) {
    machine->failed = KYMO_E_MEMORY;
    return false;
  }
  struct kymo_event *added = &activities->added;
  kymo_event_build(added, &stream->decoder.found[0], &stream->decoder.packet, stream->decoder.plan->events);
  added->number = 0;
  added->time_ns = begin_ns;
  added->has_time = true;
  *event = added;
  return true;
}

void kymo_filter_activities_drop(struct filter_activities *activities) {
  if (!activities)
    return;
  activities->queue_next = activities->queue_count = 0;
  activities->bytes.length = 0;
}

void kymo_filter_activities_forget(struct filter_activities *activities) {
  kymo_filter_activities_drop(activities);
  for (uint32_t i = 0; activities && i < activities->filter->activity_count; i++)
    kymo_filter_table_clear(&activities->tables[i]);
}
