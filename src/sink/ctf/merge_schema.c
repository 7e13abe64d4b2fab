/* SPDX-License-Identifier: MIT */
#include "sink/ctf/merge_schema.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/strbuf.h"
#include "schema/attribute.h"
#include "schema/build.h"
#include "schema/copy.h"
#include "schema/lookup.h"
#include "trace/part.h"
#include <stdlib.h>
#include <string.h>

enum { NOT_KEPT = UINT32_MAX };

/* A stream class of the result. */
struct group {
  struct kymo_stream_class *stream;
  struct id_table events; /* struct made_event by a hash */
  uint64_t next_id;
};

struct made_event {
  const struct kymo_type *specific_context, *payload;
  const char *name;
  uint64_t id;
};

struct making {
  const struct kymo_ctf_merge_demand *demand;
  struct kymo_ctf_merged *out;
  struct kymo_builder *builder;
  struct kymo_arena work, scratch; /* scratch: for one stream class, so that many do not need more memory */
  struct kymo_clock *clock;        /* of the result, or NULL */
  const struct kymo_type *source;  /* of the field `source`, or NULL */
  struct group *groups;
  uint32_t group_count;
  struct kymo_error *error;
  bool failed;

  /* The current stream class. */
  struct kymo_schema_copy copy;
  bool *strange; /* NULL: CTF 2 can say it */
  const struct kymo_stream_class *stream;
  uint32_t *packet_places; /* of the packet context's members in the new common context */
  uint32_t common_base;    /* where the old common context's members begin there */
  bool is_headed;          /* something depends on a field of a header */
};

/* ---- which fields of packets go with their events ---- */

bool kymo_ctf_goes_with_events(const struct kymo_member *member) {
  return !member->type->roles && strncmp(member->name, "discarded_", 10) != 0 &&
         strcmp(member->name, "first_event") != 0 && strcmp(member->name, "event_count") != 0;
}

static uint32_t place_packet_fields(struct making *making) {
  const struct kymo_type *context = making->stream->packet_context;
  uint32_t next = making->source ? 1 : 0, count = context ? context->member_count : 0;
  making->packet_places =
      kymo_arena_array(&making->scratch, (size_t)count + 1, sizeof *making->packet_places);
  making->failed |= !making->packet_places;
  for (uint32_t i = 0; i < count && !making->failed; i++)
    making->packet_places[i] = kymo_ctf_goes_with_events(&context->members[i]) ? next++ : (uint32_t)NOT_KEPT;
  return making->common_base = next;
}

/* ---- types ---- */

static void redirect(struct making *making, struct kymo_type *type) {
  struct kymo_reference *to = &type->selector;
  bool is_packet = to->scope == KYMO_SCOPE_PACKET_CONTEXT;
  if (!type->selector_type || to->depth == 0 || to->scope > KYMO_SCOPE_COMMON_CONTEXT)
    return;
  uint32_t *steps = kymo_builder_alloc(making->builder, to->depth * sizeof *steps);
  if (!steps) {
    making->failed = true;
    return;
  }
  memcpy(steps, to->steps, to->depth * sizeof *steps);
  uint32_t place = is_packet ? making->packet_places[steps[0]] : steps[0] + making->common_base;
  making->is_headed |= place == NOT_KEPT || (!is_packet && to->scope != KYMO_SCOPE_COMMON_CONTEXT);
  steps[0] = place;
  to->steps = steps;
  to->scope = KYMO_SCOPE_COMMON_CONTEXT;
}

/* Fields lose their meaning for the reader, and the fields that they depend on move. */
static void change_type(void *user, struct kymo_type *type) {
  struct making *making = user;
  if (making->strange)
    kymo_ctf_make_plain(making->strange, type);
  type->roles = 0;
  type->clock = NULL;
  redirect(making, type);
}

static void want(bool *wanted, const struct kymo_type *type) {
  if (!type || wanted[type->id])
    return;
  wanted[type->id] = true;
  want(wanted, type->element);
  want(wanted, type->selector_type);
  for (uint32_t i = 0; i < type->member_count; i++)
    want(wanted, type->members[i].type);
}

/* Creates all types of the current stream class that are written. */
static bool copy_types(struct making *making, const struct kymo_schema *schema) {
  const struct kymo_stream_class *stream = making->stream;
  const struct kymo_type *context = stream->packet_context;
  bool *wanted = kymo_arena_array(&making->scratch, (size_t)schema->type_count + 1, sizeof *wanted);
  making->copy = (struct kymo_schema_copy){
      .builder = making->builder, .schema = schema, .change = change_type, .user = making, .wanted = wanted};
  if (!wanted || making->failed || !kymo_schema_copy_begin(&making->copy, &making->scratch))
    return false;
  for (uint32_t i = 0; context && i < context->member_count; i++)
    if (kymo_ctf_goes_with_events(&context->members[i]))
      want(wanted, context->members[i].type);
  want(wanted, stream->common_context);
  for (uint32_t i = 0; i < stream->event_count; i++) {
    want(wanted, stream->events[i]->specific_context);
    want(wanted, stream->events[i]->payload);
  }
  return kymo_schema_copy_types(&making->copy, &making->scratch) && !making->failed;
}

/* ---- heads ---- */

struct number {
  const char *name;
  uint32_t role;
  unsigned bits;
};

static const struct kymo_type *make_number(struct making *making, const struct number *number) {
  bool is_time = number->role & (KYMO_ROLE_TIMESTAMP | KYMO_ROLE_TIMESTAMP_END);
  return kymo_builder_type(making->builder,
                           &(struct kymo_type){.kind = KYMO_KIND_INTEGER,
                                               .size_bits = number->bits,
                                               .align_bits = 8,
                                               .roles = number->role,
                                               .order = kymo_builder_schema(making->builder)->order,
                                               .clock = is_time ? making->clock : NULL});
}

/* The numbers of a packet context. */
#define NUMBERS_MAX 6

/* A struct of those of the numbers that have a width. */
static const struct kymo_type *make_numbers(struct making *making, const struct number *numbers,
                                            size_t count) {
  struct kymo_member members[NUMBERS_MAX];
  uint32_t made = 0;
  for (size_t i = 0; i < count; i++)
    if (numbers[i].bits)
      members[made++] =
          (struct kymo_member){.name = numbers[i].name, .type = make_number(making, &numbers[i])};
  return kymo_builder_struct(making->builder, members, made);
}

/* In the order of struct kymo_ctf_merge_head. */
static const struct kymo_type *make_packet_context(struct making *making) {
  unsigned time_bits = making->clock ? 64 : 0;
  const struct number numbers[] = {
      {"timestamp_begin", KYMO_ROLE_TIMESTAMP, time_bits},
      {"timestamp_end", KYMO_ROLE_TIMESTAMP_END, time_bits},
      {"content_size", KYMO_ROLE_CONTENT_SIZE, 64},
      {"packet_size", KYMO_ROLE_PACKET_SIZE, 64},
      {"packet_seq_num", KYMO_ROLE_SEQUENCE_NUMBER, 64},
      {"events_discarded", KYMO_ROLE_DISCARDED, 64},
  };
  return make_numbers(making, numbers, sizeof numbers / sizeof *numbers);
}

static const struct kymo_type *make_event_header(struct making *making) {
  const struct number numbers[] = {{"id", KYMO_ROLE_EVENT_CLASS_ID, making->out->id_bits},
                                   {"timestamp", KYMO_ROLE_TIMESTAMP, making->clock ? 64 : 0},
                                   {KYMO_TIMED, 0, making->out->may_lack_time ? 8 : 0}};
  return make_numbers(making, numbers, sizeof numbers / sizeof *numbers);
}

static const struct kymo_type *make_packet_header(struct making *making) {
  const struct kymo_type *byte = kymo_builder_type(
      making->builder, &(struct kymo_type){.kind = KYMO_KIND_INTEGER, .size_bits = 8, .align_bits = 8});
  if (!byte)
    return NULL;
  struct kymo_type uuid = {
      .kind = KYMO_KIND_ARRAY, .length = 16, .element = byte, .roles = KYMO_ROLE_UUID, .align_bits = 8};
  const struct kymo_member members[] = {
      {.name = "magic", .type = make_number(making, &(struct number){"", KYMO_ROLE_MAGIC, 32})},
      {.name = "uuid", .type = kymo_builder_type(making->builder, &uuid)},
      {.name = "stream_id",
       .type = make_number(making, &(struct number){"", KYMO_ROLE_STREAM_CLASS_ID, 64})}};
  return kymo_builder_struct(making->builder, members, 3);
}

/* An enumeration of all streams that are read. */
static const struct kymo_type *make_source(struct making *making) {
  const struct kymo_ctf_merge_demand *demand = making->demand;
  struct kymo_mapping *mappings =
      kymo_builder_alloc(making->builder, demand->source_count * sizeof *mappings);
  for (size_t i = 0; mappings && i < demand->source_count; i++)
    mappings[i] = (struct kymo_mapping){kymo_builder_text(making->builder, demand->sources[i]), i, i};
  for (size_t i = 0; mappings && i < demand->source_count; i++)
    if (!mappings[i].name)
      return NULL;
  return !mappings
             ? NULL
             : kymo_builder_type(making->builder,
                                 &(struct kymo_type){.kind = KYMO_KIND_INTEGER,
                                                     .size_bits = making->out->source_bits,
                                                     .align_bits = 8,
                                                     .is_enumeration = true,
                                                     .mappings = mappings,
                                                     .mapping_count = (uint32_t)demand->source_count,
                                                     .order = kymo_builder_schema(making->builder)->order});
}

/* ---- common contexts ---- */

static void add_member(struct making *making, struct kymo_type *type, const struct kymo_member *from,
                       const struct kymo_type *as) {
  struct kymo_member *members = (struct kymo_member *)(uintptr_t)type->members;
  struct kymo_member member = {.type = as,
                               .attributes = kymo_schema_copy_text(&making->copy, from->attributes)};
  struct kymo_strbuf name = {0};
  kymo_strbuf_puts(&name, from->name);
  for (uint32_t i = 0; i < type->member_count; i++)
    if (name.text && strcmp(members[i].name, name.text) == 0) {
      kymo_strbuf_puts(&name, "_");
      i = UINT32_MAX; /* from the first again */
    }
  member.name = member.source_name = kymo_schema_copy_text(&making->copy, name.text ? name.text : "");
  making->failed |= name.failed || !member.name || making->copy.failed;
  if (!making->failed)
    members[type->member_count++] = member;
  kymo_strbuf_free(&name);
}

/* NULL without error: it is empty. */
static const struct kymo_type *make_common_context(struct making *making) {
  const struct kymo_type *packet = making->stream->packet_context, *common = making->stream->common_context;
  size_t most = 1 + (packet ? packet->member_count : 0) + (common ? common->member_count : 0);
  struct kymo_type type = {.kind = KYMO_KIND_STRUCT, .align_bits = common ? common->align_bits : 8};
  type.members = kymo_builder_alloc(making->builder, most * sizeof *type.members);
  making->failed |= !type.members;
  if (making->source && !making->failed)
    add_member(making, &type, &(struct kymo_member){.name = "source"}, making->source);
  for (uint32_t i = 0; packet && i < packet->member_count && !making->failed; i++)
    if (kymo_ctf_goes_with_events(&packet->members[i]))
      add_member(making, &type, &packet->members[i],
                 kymo_copied_type(&making->copy, packet->members[i].type));
  for (uint32_t i = 0; common && i < common->member_count && !making->failed; i++)
    add_member(making, &type, &common->members[i], kymo_copied_type(&making->copy, common->members[i].type));
  const struct kymo_type *made =
      !making->failed && type.member_count > 0 ? kymo_builder_type(making->builder, &type) : NULL;
  making->failed |= !made && type.member_count > 0;
  return made;
}

/* ---- streams and events ---- */

static int no_memory(struct making *making) {
  return kymo_fail(making->error, KYMO_E_MEMORY, "out of memory");
}

/* The group of this common context: equal contexts are one type. */
static struct group *find_group(struct making *making, const struct kymo_type *context) {
  for (uint32_t i = 0; i < making->group_count; i++)
    if (making->groups[i].stream->common_context == context)
      return &making->groups[i];
  struct group *group = &making->groups[making->group_count];
  struct kymo_stream_class stream = {.id = making->group_count,
                                     .clock = making->clock,
                                     .common_context = context,
                                     .packet_context = make_packet_context(making),
                                     .event_header = make_event_header(making)};
  if (!stream.packet_context || !stream.event_header ||
      kymo_builder_stream(making->builder, &stream, &group->stream, making->error) < 0)
    return NULL;
  making->group_count++;
  return group;
}

static uint64_t key_of(const struct kymo_event_class *event) {
  uint64_t key = kymo_hash64(event->name, strlen(event->name), (uint64_t)(uint32_t)event->level);
  const char *text = event->template_text;
  key = kymo_hash64(text, text ? strlen(text) : 0, key);
  key = event->payload ? key ^ (event->payload->id + 1) * UINT64_C(0x9e3779b97f4a7c15) : key;
  return event->specific_context ? key ^ (event->specific_context->id + 1) * UINT64_C(0xc2b2ae3d27d4eb4f)
                                 : key;
}

/* The class of the result for one that is read. */
static int add_event(struct making *making, struct group *group, const struct kymo_event_class *from,
                     uint64_t *id) {
  struct kymo_event_class event = kymo_schema_copy_event(&making->copy, from);
  if (making->copy.failed)
    return no_memory(making);
  uint64_t key = key_of(&event);
  const struct made_event *known;
  while ((known = kymo_id_table_find(&group->events, key))) {
    if (known->payload == event.payload && known->specific_context == event.specific_context &&
        strcmp(known->name, event.name) == 0) {
      *id = known->id;
      return KYMO_OK;
    }
    key++;
  }
  struct made_event *made = kymo_arena_alloc(&making->work, sizeof *made);
  if (!made || !kymo_id_table_add(&group->events, &making->work, key, made))
    return no_memory(making);
  *made = (struct made_event){event.specific_context, event.payload, event.name, group->next_id};
  *id = event.id = group->next_id++;
  return kymo_builder_event(making->builder, group->stream, &event, NULL, making->error);
}

static int add_stream(struct making *making, const struct kymo_part *part, struct kymo_ctf_origin *origin) {
  making->is_headed = false;
  place_packet_fields(making);
  if (!copy_types(making, part->schema))
    return no_memory(making);
  if (making->is_headed)
    return kymo_fail_at(making->error, KYMO_E_LIMIT, part->path, KYMO_ERROR_NO_OFFSET,
                        "cannot be merged: the size of a field depends on a header");
  const struct kymo_type *context = make_common_context(making);
  struct group *group = making->failed ? NULL : find_group(making, context);
  if (!group)
    return no_memory(making);
  origin->stream = group->stream;
  origin->ids = calloc((size_t)making->stream->event_count + 1, sizeof *origin->ids);
  if (!origin->ids)
    return no_memory(making);
  int status = KYMO_OK;
  for (uint32_t i = 0; i < making->stream->event_count && status == KYMO_OK; i++)
    status = add_event(making, group, making->stream->events[i], &origin->ids[i]);
  return status;
}

/* ---- the trace ---- */

static bool same_text(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

/* What all parts say alike. */
static bool copy_environment(struct making *making) {
  const struct kymo_schema *first = making->demand->parts[0]->schema;
  making->copy = (struct kymo_schema_copy){.builder = making->builder, .schema = first};
  for (uint32_t i = 0; i < first->environment_count; i++) {
    struct kymo_environment entry = *first->environment[i];
    bool is_common = true;
    for (size_t k = 1; k < making->demand->part_count; k++) {
      const struct kymo_environment *other =
          kymo_schema_environment(making->demand->parts[k]->schema, entry.name);
      is_common = is_common && other && same_text(other->text, entry.text) && other->integer == entry.integer;
    }
    entry.name = kymo_schema_copy_text(&making->copy, entry.name);
    entry.text = kymo_schema_copy_text(&making->copy, entry.text);
    if (making->copy.failed || (is_common && kymo_builder_environment(making->builder, &entry) < 0))
      return false;
  }
  return true;
}

/* Derived from the uuids of all parts, so that the same traces result in the same one. */
static void make_uuid(struct making *making, struct kymo_schema *schema) {
  uint64_t low = 0, high = 1;
  for (size_t i = 0; i < making->demand->part_count; i++) {
    const struct kymo_schema *part = making->demand->parts[i]->schema;
    low = kymo_hash64(part->uuid, sizeof part->uuid, low);
    high = kymo_hash64(part->uuid, sizeof part->uuid, high);
  }
  for (size_t i = 0; i < making->demand->source_count; i++)
    high = kymo_hash64(making->demand->sources[i], strlen(making->demand->sources[i]), high);
  for (int i = 0; i < 8; i++) {
    schema->uuid[i] = (uint8_t)(low >> 8 * i);
    schema->uuid[8 + i] = (uint8_t)(high >> 8 * i);
  }
  schema->uuid[6] = (uint8_t)(0x80 | (schema->uuid[6] & 0x0f)); /* RFC 9562: version 8, custom */
  schema->uuid[8] = (uint8_t)(0x80 | (schema->uuid[8] & 0x3f));
  schema->has_uuid = true;
}

static bool same_clock(const struct kymo_clock *a, const struct kymo_clock *b) {
  return a->frequency == b->frequency && a->offset_seconds == b->offset_seconds &&
         a->offset_cycles == b->offset_cycles && a->origin_is_epoch == b->origin_is_epoch;
}

/* One clock for all: their own if all have the same one, else one of nanoseconds. */
static bool make_clock(struct making *making) {
  const struct kymo_ctf_merge_demand *demand = making->demand;
  struct kymo_ctf_merged *out = making->out;
  struct kymo_clock clock = {0};
  for (size_t i = 0; i < demand->part_count; i++) {
    const struct kymo_schema *schema = demand->parts[i]->schema;
    for (uint32_t k = 0; k < schema->stream_count; k++) {
      out->may_lack_time |=
          !schema->streams[k]->clock || kymo_type_member(schema->streams[k]->event_header, KYMO_TIMED);
      if (!schema->streams[k]->clock)
        continue;
      struct kymo_clock one = *schema->streams[k]->clock;
      kymo_ctf_shift_clock(&one, kymo_part_offset_ns(demand->parts[i]));
      out->is_ns |= out->has_time && !same_clock(&clock, &one);
      clock = out->has_time ? clock : one;
      out->has_time = true;
    }
  }
  out->may_lack_time &= out->has_time;
  if (!out->has_time)
    return true;
  int64_t begin_ns = 0, end_ns;
  out->is_ns |= out->may_lack_time;
  if (out->is_ns) {
    if (kymo_trace_range(demand->trace, &begin_ns, &end_ns, NULL) == KYMO_E_MEMORY)
      return false;
    int64_t seconds = begin_ns < 0 ? begin_ns / 1000000000 - 1 : 0;
    clock = (struct kymo_clock){.name = "time",
                                .frequency = 1000000000,
                                .offset_seconds = seconds,
                                .origin_is_epoch = clock.origin_is_epoch};
    out->ns_offset = seconds * 1000000000;
    out->first = out->may_lack_time ? (uint64_t)(begin_ns - out->ns_offset) : 0;
  }
  clock = kymo_schema_copy_clock(&making->copy, &clock);
  making->clock = kymo_builder_clock(making->builder, &clock);
  return making->clock && !making->copy.failed;
}

static unsigned width_for(uint64_t count) { return count <= UINT64_C(1) << 16 ? 16 : 32; }

static bool begin(struct making *making) {
  const struct kymo_ctf_merge_demand *demand = making->demand;
  uint64_t events = 0, streams = 0;
  for (size_t i = 0; i < demand->part_count; i++)
    for (uint32_t k = 0; k < demand->parts[i]->schema->stream_count; k++, streams++)
      events += demand->parts[i]->schema->streams[k]->event_count;
  making->groups = kymo_arena_array(&making->work, (size_t)streams + 1, sizeof *making->groups);
  making->out->id_bits = width_for(events);
  making->out->source_bits = demand->source_count > 1 ? width_for(demand->source_count) : 0;
  struct kymo_schema *schema = kymo_builder_schema(making->builder);
  schema->order = demand->parts[0]->schema->order;
  schema->major = demand->is_ctf2 ? 2 : 1;
  schema->minor = demand->is_ctf2 ? 0 : 8;
  make_uuid(making, schema);
  schema->packet_header = make_packet_header(making);
  if (!making->groups || !schema->packet_header || !copy_environment(making) || !make_clock(making))
    return false;
  making->source = making->out->source_bits ? make_source(making) : NULL;
  return making->source || !making->out->source_bits;
}

static int compare_ids(const void *a, const void *b) {
  uint64_t one = (*(const struct kymo_stream_class *const *)a)->id,
           other = (*(const struct kymo_stream_class *const *)b)->id;
  return (one > other) - (one < other);
}

/* The stream classes by their ids: events with equal times come in this order, independent of the order of
 * the description, and keep it in the result. The caller frees it. */
static const struct kymo_stream_class **streams_by_id(const struct kymo_schema *schema) {
  const struct kymo_stream_class **streams = calloc((size_t)schema->stream_count + 1, sizeof *streams);
  if (streams && schema->stream_count > 0) {
    memcpy(streams, schema->streams, schema->stream_count * sizeof *streams);
    qsort(streams, schema->stream_count, sizeof *streams, compare_ids);
  }
  return streams;
}

static int add_part(struct making *making, size_t index) {
  const struct kymo_part *part = making->demand->parts[index];
  const struct kymo_schema *schema = part->schema;
  struct kymo_ctf_origin *origins = calloc((size_t)schema->stream_count + 1, sizeof *origins);
  bool any;
  making->out->origins[index] = origins;
  bool *strange = kymo_ctf_find_strange(schema, &any);
  making->strange = any && !making->demand->is_ctf2 ? strange : NULL;
  const struct kymo_stream_class **streams = streams_by_id(schema);
  int status = origins && strange && streams ? KYMO_OK : no_memory(making);
  for (uint32_t i = 0; i < schema->stream_count && status == KYMO_OK; i++) {
    making->stream = streams[i];
    status = add_stream(making, part, &origins[streams[i]->index]);
    kymo_arena_free(&making->scratch);
  }
  free(streams);
  free(strange);
  return status;
}

int kymo_ctf_merge_schema(struct kymo_ctf_merged *out, const struct kymo_ctf_merge_demand *demand,
                          struct kymo_error *error) {
  *out = (struct kymo_ctf_merged){.part_count = demand->part_count};
  struct making making = {.demand = demand, .out = out, .builder = kymo_builder_new(), .error = error};
  out->origins = calloc(demand->part_count + 1, sizeof *out->origins);
  int status = making.builder && out->origins && begin(&making) ? KYMO_OK : no_memory(&making);
  for (size_t i = 0; i < demand->part_count && status == KYMO_OK; i++)
    status = add_part(&making, i);
  if (status == KYMO_OK) {
    out->schema = kymo_builder_finish(making.builder, error);
    status = out->schema ? KYMO_OK : error->code;
  } else {
    kymo_builder_free(making.builder);
  }
  kymo_arena_free(&making.work);
  return status;
}

void kymo_ctf_merged_free(struct kymo_ctf_merged *merged) {
  for (size_t i = 0; merged->origins && i < merged->part_count; i++) {
    uint32_t count = 0;
    for (const struct kymo_ctf_origin *origin = merged->origins[i]; origin && origin[count].stream; count++)
      free(origin[count].ids);
    free(merged->origins[i]);
  }
  free(merged->origins);
  kymo_schema_release(merged->schema);
  *merged = (struct kymo_ctf_merged){0};
}
