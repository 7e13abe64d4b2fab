/* SPDX-License-Identifier: MIT */
/*
 * Several schemas → one. Types, clocks and classes are created in a builder, which finds existing ones; a map
 * of each schema leads from its types and clocks to those of the result.
 *
 *   schemas[0] ─ types, clocks ─ map ─┐
 *   schemas[1] ─ types, clocks ─ map ─┼─► builder ─ streams ─ events, each once ─► one schema
 *
 * All ids of event classes are known before the first class is added, so a class whose own id is taken is
 * assigned an id that no later class has. Memory beyond the result is linear and freed at the end.
 */
#include "base/fail.h"
#include "base/hash.h"
#include "schema/copy.h"
#include "schema/lookup.h"
#include <inttypes.h>
#include <string.h>

/* Data of a stream class of the result. */
struct merged_stream {
  struct kymo_stream_class *made;
  size_t first;            /* the schema that it came from */
  struct id_table own_ids; /* of all schemas' event classes */
  struct id_table ids;     /* given so far */
  struct id_table equals;  /* event classes of schemas by their identity */
  uint64_t next_id;        /* all lower ids are own ids or assigned */
};

struct merge {
  const struct kymo_schema *const *schemas;
  size_t count, at;                /* `at`: the current schema */
  struct kymo_schema_copy *copies; /* of each schema */
  struct kymo_builder *builder;
  struct kymo_arena work;
  struct id_table streams;  /* struct merged_stream by the id of the stream class */
  struct name_table clocks; /* of the result */
  struct kymo_error *error;
};

static int no_memory(struct merge *merge) {
  return kymo_fail(merge->error, KYMO_E_MEMORY, "out of memory while merging schemas");
}

static bool same_text(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

/* The copy of the current schema. */
static struct kymo_schema_copy *here(const struct merge *merge) { return &merge->copies[merge->at]; }

/* ---- clocks ---- */

/* By name; two clocks of one name in one schema would be merged by mistake. */
static int add_clocks(struct merge *merge) {
  const struct kymo_schema *schema = merge->schemas[merge->at];
  struct name_table own = {0};
  for (uint32_t i = 0; i < schema->clock_count; i++) {
    const char *name = schema->clocks[i]->name ? schema->clocks[i]->name : "";
    const void **seen = kymo_name_table_add(&own, &merge->work, name);
    const void **known = kymo_name_table_add(&merge->clocks, &merge->work, name);
    if (!seen || !known)
      return no_memory(merge);
    if (*seen)
      return kymo_fail(merge->error, KYMO_E_USAGE, "schemas[%zu] has two clocks named \"%.100s\"", merge->at,
                       name);
    *seen = &schema->clocks[i];
    if (!*known) {
      struct kymo_clock clock = kymo_schema_copy_clock(here(merge), schema->clocks[i]);
      *known = kymo_builder_clock(merge->builder, &clock);
    }
    here(merge)->clocks[i] = *known;
    if (here(merge)->failed || !*known)
      return no_memory(merge);
  }
  return 0;
}

/* ---- streams ---- */

static bool are_equal(const struct kymo_type *a, const struct kymo_type *b) {
  if (!a || !b)
    return a == b;
  return a->hashes.layout.low == b->hashes.layout.low && a->hashes.layout.high == b->hashes.layout.high;
}

static int add_packet_header(struct merge *merge) {
  struct kymo_schema *result = kymo_builder_schema(merge->builder);
  const struct kymo_type *header = kymo_copied_type(here(merge), merge->schemas[merge->at]->packet_header);
  if (merge->at == 0)
    result->packet_header = header;
  return are_equal(result->packet_header, header)
             ? 0
             : kymo_fail(merge->error, KYMO_E_USAGE, "schemas[%zu] has another packet header than schemas[0]",
                         merge->at);
}

/* Why two stream classes of one id cannot be merged, or NULL. */
static const char *difference(const struct kymo_stream_class *a, const struct kymo_stream_class *b) {
  if (!are_equal(a->packet_context, b->packet_context))
    return "packet context";
  if (!are_equal(a->event_header, b->event_header))
    return "event header";
  if (!are_equal(a->common_context, b->common_context))
    return "common context";
  return a->clock == b->clock ? NULL : "clock";
}

static int add_stream(struct merge *merge, const struct kymo_stream_class *source,
                      struct merged_stream **out) {
  struct kymo_stream_class stream = *source;
  stream.packet_context = kymo_copied_type(here(merge), source->packet_context);
  stream.event_header = kymo_copied_type(here(merge), source->event_header);
  stream.common_context = kymo_copied_type(here(merge), source->common_context);
  stream.clock = kymo_copied_clock(here(merge), source->clock);
  struct merged_stream *merged =
      (struct merged_stream *)(uintptr_t)kymo_id_table_find(&merge->streams, source->id);
  *out = merged;
  if (merged) {
    const char *what = difference(merged->made, &stream);
    return what ? kymo_fail(merge->error, KYMO_E_USAGE,
                            "stream class %" PRIu64 " of schemas[%zu] has another %s than that of "
                            "schemas[%zu]",
                            source->id, merge->at, what, merged->first)
                : 0;
  }
  *out = merged = kymo_arena_alloc(&merge->work, sizeof *merged);
  stream.name = kymo_schema_copy_text(here(merge), source->name);
  stream.attributes = kymo_schema_copy_text(here(merge), source->attributes);
  if (!merged || here(merge)->failed || !kymo_id_table_add(&merge->streams, &merge->work, source->id, merged))
    return no_memory(merge);
  merged->first = merge->at;
  return kymo_builder_stream(merge->builder, &stream, &merged->made, merge->error);
}

/* Also collects the ids of the event classes. */
static int add_streams(struct merge *merge) {
  const struct kymo_schema *schema = merge->schemas[merge->at];
  for (uint32_t i = 0; i < schema->stream_count; i++) {
    const struct kymo_stream_class *source = schema->streams[i];
    struct merged_stream *merged;
    int status = add_stream(merge, source, &merged);
    if (status < 0)
      return status;
    for (uint32_t k = 0; k < source->event_count; k++)
      if (!kymo_id_table_find(&merged->own_ids, source->events[k]->id) &&
          !kymo_id_table_add(&merged->own_ids, &merge->work, source->events[k]->id, source->events[k]))
        return no_memory(merge);
  }
  return 0;
}

/* ---- event classes ---- */

static uint64_t key_of(const struct kymo_event_class *event) {
  const char *text = event->template_text;
  return kymo_hash64(text, text ? strlen(text) : 0, event->hashes.layout.low);
}

static bool is_same_event(const struct kymo_event_class *a, const struct kymo_event_class *b) {
  return a->hashes.layout.low == b->hashes.layout.low && a->hashes.layout.high == b->hashes.layout.high &&
         same_text(a->template_text, b->template_text);
}

/* The event class's own id if it is the first one to want it; else the lowest free id. */
static uint64_t id_for(struct merged_stream *stream, const struct kymo_event_class *event) {
  if (!kymo_id_table_find(&stream->ids, event->id))
    return event->id;
  while (kymo_id_table_find(&stream->own_ids, stream->next_id))
    stream->next_id++;
  return stream->next_id++;
}

static int add_event(struct merge *merge, struct merged_stream *stream,
                     const struct kymo_event_class *source) {
  uint64_t key = key_of(source);
  const struct kymo_event_class *known = kymo_id_table_find(&stream->equals, key);
  if (known && is_same_event(known, source))
    return 0;
  struct kymo_event_class event = kymo_schema_copy_event(here(merge), source);
  event.id = id_for(stream, source);
  if (here(merge)->failed || !kymo_id_table_add(&stream->ids, &merge->work, event.id, source) ||
      (!known && !kymo_id_table_add(&stream->equals, &merge->work, key, source)))
    return no_memory(merge);
  return kymo_builder_event(merge->builder, stream->made, &event, NULL, merge->error);
}

static int add_events(struct merge *merge) {
  const struct kymo_schema *schema = merge->schemas[merge->at];
  int status = 0;
  for (uint32_t i = 0; i < schema->stream_count; i++) {
    const struct kymo_stream_class *source = schema->streams[i];
    struct merged_stream *stream =
        (struct merged_stream *)(uintptr_t)kymo_id_table_find(&merge->streams, source->id);
    for (uint32_t k = 0; k < source->event_count && status == 0; k++)
      status = add_event(merge, stream, source->events[k]);
  }
  return status;
}

/* ---- properties of the trace as a whole ---- */

static bool same_machine(const struct kymo_machine *a, const struct kymo_machine *b) {
  return a == b ||
         (a && b && strncmp(a->name, b->name, sizeof a->name) == 0 && a->page_size == b->page_size &&
          a->char_is_signed == b->char_is_signed && memcmp(a->sizes, b->sizes, sizeof a->sizes) == 0 &&
          memcmp(a->alignments, b->alignments, sizeof a->alignments) == 0);
}

/* Keeps the properties that are equal in all schemas. */
static void add_trace(struct merge *merge) {
  const struct kymo_schema *first = merge->schemas[0];
  struct kymo_schema *result = kymo_builder_schema(merge->builder);
  bool uuid = first->has_uuid, name = true, attributes = true, machine = first->machine;
  for (size_t i = 1; i < merge->count; i++) {
    const struct kymo_schema *other = merge->schemas[i];
    uuid &= other->has_uuid && memcmp(first->uuid, other->uuid, sizeof first->uuid) == 0;
    name &= same_text(first->trace_name, other->trace_name);
    attributes &= same_text(first->attributes, other->attributes);
    machine &= same_machine(first->machine, other->machine);
  }
  result->order = first->order;
  result->major = first->major;
  result->minor = first->minor;
  if (uuid)
    memcpy(result->uuid, first->uuid, sizeof first->uuid);
  result->has_uuid = uuid;
  result->trace_name = name ? kymo_schema_copy_text(here(merge), first->trace_name) : NULL;
  result->attributes = attributes ? kymo_schema_copy_text(here(merge), first->attributes) : NULL;
  result->machine =
      machine ? kymo_schema_copy_array(here(merge), first->machine, 1, sizeof *first->machine) : NULL;
}

static bool same_entry(const struct kymo_environment *a, const struct kymo_environment *b) {
  return same_text(a->text, b->text) && (a->text || a->integer == b->integer);
}

/* An entry of the first schema, and in how many other schemas it is equal. */
struct agreement {
  const struct kymo_environment *entry;
  size_t others;
};

static bool note_agreements(struct merge *merge, struct name_table *table, struct agreement *list) {
  const struct kymo_schema *first = merge->schemas[0];
  for (uint32_t i = 0; i < first->environment_count; i++) {
    const void **value = kymo_name_table_add(table, &merge->work, first->environment[i]->name);
    if (!value)
      return false;
    list[i].entry = *value ? NULL : first->environment[i]; /* of one name the first one counts */
    *value = *value ? *value : &list[i];
  }
  for (size_t at = 1; at < merge->count; at++)
    for (uint32_t i = 0; i < merge->schemas[at]->environment_count; i++) {
      const struct kymo_environment *entry = merge->schemas[at]->environment[i];
      struct agreement *known = (struct agreement *)(uintptr_t)kymo_name_table_find(table, entry->name);
      if (known && known->others == at - 1 && same_entry(known->entry, entry))
        known->others++;
    }
  return true;
}

static int add_environment(struct merge *merge) {
  uint32_t count = merge->schemas[0]->environment_count;
  struct name_table table = {0};
  struct agreement *list = kymo_arena_array(&merge->work, (size_t)count + 1, sizeof *list);
  if (!list || !note_agreements(merge, &table, list))
    return no_memory(merge);
  for (uint32_t i = 0; i < count; i++) {
    if (!list[i].entry || list[i].others != merge->count - 1)
      continue;
    struct kymo_environment entry = *list[i].entry;
    entry.name = kymo_schema_copy_text(here(merge), entry.name);
    entry.text = kymo_schema_copy_text(here(merge), entry.text);
    if (here(merge)->failed || kymo_builder_environment(merge->builder, &entry) < 0)
      return no_memory(merge);
  }
  return here(merge)->failed ? no_memory(merge) : 0;
}

/* ---- the whole ---- */

static int add_description(struct merge *merge) {
  if (!kymo_schema_copy_begin(here(merge), &merge->work))
    return no_memory(merge);
  int status = add_clocks(merge);
  if (status == 0 && !kymo_schema_copy_types(here(merge), &merge->work))
    status = no_memory(merge);
  if (status == 0)
    status = add_packet_header(merge);
  return status == 0 ? add_streams(merge) : status;
}

static int merge_all(struct merge *merge) {
  int status = 0;
  merge->builder = kymo_builder_new();
  merge->copies = kymo_arena_array(&merge->work, merge->count, sizeof *merge->copies);
  if (!merge->builder || !merge->copies)
    return no_memory(merge);
  for (size_t i = 0; i < merge->count; i++)
    merge->copies[i] = (struct kymo_schema_copy){.builder = merge->builder, .schema = merge->schemas[i]};
  add_trace(merge);
  status = add_environment(merge);
  for (merge->at = 0; merge->at < merge->count && status == 0; merge->at++)
    status = add_description(merge);
  for (merge->at = 0; merge->at < merge->count && status == 0; merge->at++)
    status = add_events(merge);
  return status;
}

int kymo_schema_merge(struct kymo_schema **out, const struct kymo_schema *const *schemas, size_t count,
                      struct kymo_error *error) {
  struct merge merge = {.schemas = schemas, .count = count, .error = error};
  *out = NULL;
  if (count == 0)
    return kymo_fail(error, KYMO_E_USAGE, "no schemas to merge");
  int status = merge_all(&merge);
  struct kymo_error why = {0};
  if (status == 0) {
    *out = kymo_builder_finish(merge.builder, &why);
    status = *out ? KYMO_OK : kymo_fail(error, why.code, "%s", why.message);
  } else {
    kymo_builder_free(merge.builder);
  }
  kymo_arena_free(&merge.work);
  return status;
}
