/* SPDX-License-Identifier: MIT */
/*
 * Prints what a program sees of a trace through all structs of libkymo, and notices when the library writes
 * past one of the program's structs. It does not read the last member of a struct, which run.sh removes to
 * make it a program of an older version. client TRACE
 */
#include <inttypes.h>
#include <kymo/filter.h>
#include <kymo/read.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A struct, and bytes after it that must not be written. */
#define GUARDED(type, name)    \
  struct {                     \
    struct type it;            \
    unsigned char guard[1024]; \
  } name;                      \
  memset(&name, 0xaa, sizeof name)
#define CHECK_GUARD(name) check_guard(#name, name.guard, sizeof name.guard)

static void check_guard(const char *name, const unsigned char *guard, size_t size) {
  for (size_t i = 0; i < size; i++)
    if (guard[i] != 0xaa) {
      printf("the library wrote past struct %s\n", name);
      exit(1);
    }
}

static void fail(const char *what, const struct kymo_error *error) {
  printf("%s: %s\n", what, error->message);
  exit(1);
}

/* ---- schema ---- */

static void print_type(const struct kymo_type *type, unsigned depth) {
  printf(" kind %d size %" PRIu32 " align %" PRIu32 " base %d\n", (int)type->kind, type->size_bits,
         type->align_bits, type->base);
  for (uint32_t i = 0; i < type->mapping_count; i++) {
    uint64_t low, high;
    const char *name = kymo_mapping_get(type->mappings, i, &low, &high);
    printf("%*s%s = %" PRIu64 " to %" PRIu64 "\n", (int)depth * 2, "", name, low, high);
  }
  for (uint32_t i = 0; i < type->member_count && depth < 8; i++) {
    const struct kymo_member *member = kymo_type_member_at(type, i);
    uint32_t ranges;
    kymo_member_ranges(member, &ranges);
    printf("%*s%s, %s, %" PRIu32 " ranges:", (int)depth * 2, "", kymo_member_name(member),
           kymo_member_source_name(member), ranges);
    print_type(kymo_member_type(member), depth + 1);
  }
}

static void print_schema(const struct kymo_schema *schema) {
  for (uint32_t i = 0; i < schema->environment_count; i++)
    if (strcmp(schema->environment[i]->name, "vpid") != 0 && schema->environment[i]->text)
      printf("environment %s: %s\n", schema->environment[i]->name, schema->environment[i]->text);
  for (uint32_t i = 0; i < schema->clock_count; i++)
    printf("clock %s: %" PRIu64 " Hz\n", schema->clocks[i]->name, schema->clocks[i]->frequency);
  for (uint32_t i = 0; i < schema->group_count; i++)
    printf("group %s: %" PRIu32 " classes\n", schema->groups[i]->name, schema->groups[i]->event_count);
  if (schema->machine)
    printf("machine %s: long has %d bytes, aligned to %d\n", schema->machine->name,
           schema->machine->sizes[KYMO_C_LONG], schema->machine->alignments[KYMO_C_LONG]);
  for (uint32_t i = 0; i < schema->stream_count; i++)
    for (uint32_t j = 0; j < schema->streams[i]->event_count; j++) {
      const struct kymo_event_class *class_ = schema->streams[i]->events[j];
      printf("event class %s, level %d:", class_->name, (int)class_->level);
      print_type(class_->payload, 1);
    }
}

static struct kymo_schema *build(void) {
  struct kymo_error error;
  struct kymo_builder *builder = kymo_builder_new();
  const struct kymo_type *number = kymo_builder_type(
      builder, &(struct kymo_type){.kind = KYMO_KIND_INTEGER, .size_bits = 32, .is_signed = true});
  struct kymo_mapping *mappings = kymo_builder_mappings(builder, 2);
  kymo_mapping_set(mappings, 0, "off", 0, 0);
  kymo_mapping_set(mappings, 1, "on", 1, 9);
  const struct kymo_type *state = kymo_builder_type(builder, &(struct kymo_type){.kind = KYMO_KIND_INTEGER,
                                                                                 .size_bits = 8,
                                                                                 .is_enumeration = true,
                                                                                 .mapping_count = 2,
                                                                                 .mappings = mappings});
  struct kymo_member *members = kymo_builder_members(builder, 2);
  kymo_member_set(members, 0, "number", number);
  kymo_member_set(members, 1, "state", state);
  const struct kymo_type *payload = kymo_builder_type(
      builder, &(struct kymo_type){.kind = KYMO_KIND_STRUCT, .member_count = 2, .members = members});
  struct kymo_stream_class *stream;
  kymo_builder_environment(builder, &(struct kymo_environment){.name = "hostname", .text = "box"});
  kymo_builder_clock(builder, &(struct kymo_clock){.name = "clock", .frequency = 1000});
  if (kymo_builder_stream(builder, &(struct kymo_stream_class){.id = 0}, &stream, &error) < 0 ||
      kymo_builder_event(builder, stream, &(struct kymo_event_class){.name = "made:here", .payload = payload},
                         NULL, &error) < 0)
    fail("build", &error);
  struct kymo_schema *schema = kymo_builder_finish(builder, &error);
  if (!schema)
    fail("finish", &error);
  return schema;
}

/* ---- trace ---- */

static void print_parts(struct kymo_trace *trace) {
  struct kymo_error error;
  for (size_t i = 0; i < kymo_trace_part_count(trace); i++) {
    const struct kymo_part *part = kymo_trace_part(trace, i);
    printf("part %" PRIu32 ", format %s, %zu snapshots of clocks\n", part->index, part->format,
           kymo_part_clock_snapshot_count(part));
    for (uint32_t j = 0; j < part->stream_count; j++) {
      GUARDED(kymo_stream_info, info);
      const struct kymo_stream *stream = kymo_part_stream(trace, part, j);
      if (kymo_stream_describe(trace, stream, &info.it, &error) < 0)
        fail("kymo_stream_describe", &error);
      CHECK_GUARD(info);
      printf("stream %" PRIu64 ": %" PRIu64 " packets, %" PRIu64 " bytes, lost %" PRIu64 ", %" PRIu64 "\n",
             stream->instance, info.it.packets, info.it.bytes, info.it.discarded_events,
             info.it.lost_packets);
      const char *name;
      uint64_t count;
      for (uint32_t k = 0; (name = kymo_stream_loss_cause(stream, k, &count)); k++)
        printf("lost by %s: %" PRIu64 "\n", name, count);
    }
    print_schema(part->schema);
    GUARDED(kymo_description_summary, summary);
    kymo_description_info(part->schema, &summary.it);
    CHECK_GUARD(summary);
    printf("%" PRIu32 " classes, %" PRIu32 " streams\n", summary.it.event_classes, summary.it.stream_classes);
  }
}

static void print_fields(struct kymo_trace *trace, const struct kymo_event *event) {
  const uint32_t *ids;
  size_t count;
  if (kymo_field_list(trace, event->class_, &ids, &count) < 0)
    return;
  for (size_t i = 0; i < count; i++) {
    GUARDED(kymo_field, field);
    GUARDED(kymo_value, value);
    enum kymo_token token;
    char text[256];
    kymo_field_info(trace, event->class_, ids[i], &field.it);
    CHECK_GUARD(field);
    int status = kymo_event_get_value(event, ids[i], &value.it, &token);
    CHECK_GUARD(value);
    kymo_event_format_field(event, ids[i], text, sizeof text, NULL);
    bool is_same = strncmp(field.it.path, "cpu", 3) && !strstr(field.it.path, "timestamp");
    printf("  %s (%s), sort %d: %d, token %d%s%s\n", field.it.path, field.it.name, (int)field.it.kind, status,
           (int)token, is_same ? ", " : "", is_same ? text : "");
  }
}

static void print_walk(struct kymo_walk *walk, const struct kymo_event *event) {
  enum kymo_token token;
  GUARDED(kymo_value, value);
  if (kymo_walk_begin(walk, event, KYMO_SCOPE_PAYLOAD))
    while ((token = kymo_walk_next(walk, &value.it)) != KYMO_TOKEN_DONE && token != KYMO_TOKEN_ERROR)
      printf("  walk: %s token %d type %d\n", kymo_member_name(value.it.member), (int)token,
             (int)value.it.type->kind);
  CHECK_GUARD(value);
}

static void print_status(struct kymo_trace *trace) {
  GUARDED(kymo_bookmark, here);
  GUARDED(kymo_trace_counts, stats);
  GUARDED(kymo_losses, losses);
  GUARDED(kymo_filter_result, result);
  kymo_trace_tell(trace, &here.it);
  CHECK_GUARD(here);
  kymo_trace_count(trace, &stats.it);
  CHECK_GUARD(stats);
  kymo_trace_losses(trace, &losses.it);
  CHECK_GUARD(losses);
  kymo_filter_counts(trace, &result.it);
  CHECK_GUARD(result);
  printf("at %" PRIu64 " offset %" PRIu64 ", delivered %" PRIu64 " of %" PRIu64 " packets, lost %" PRIu64
         " and %" PRIu64 ", replaced %" PRIu64 "\n",
         here.it.number, here.it.offset, stats.it.delivered, stats.it.packets, losses.it.events,
         losses.it.packets, result.it.replaced);
}

static void read_trace(const char *path) {
  struct kymo_error error;
  struct kymo_trace *trace;
  struct kymo_filter *filter;
  const struct kymo_event *event;
  struct kymo_trace_options options = {.clock_offset_ns = 5};
  struct kymo_input inputs[2] = {{.path = path, .format = "ctf"}, {.path = path}};
  if (kymo_trace_open(&trace, &path, 1, &options, &error) < 0)
    fail("kymo_trace_open", &error);
  kymo_trace_set_limits(trace, &(struct kymo_trace_limits){.damage = 100});
  print_parts(trace);
  struct kymo_walk *walk = kymo_walk_new();
  while (kymo_trace_next(trace, &event, &error) == KYMO_OK) {
    printf("event %" PRIu64 ": %s in packet %" PRIu64 "\n", event->number, event->class_->name,
           event->packet->sequence);
    print_fields(trace, event);
    print_walk(walk, event);
    print_status(trace);
  }
  kymo_walk_free(walk);
  kymo_trace_rewind(trace);
  GUARDED(kymo_batch, batch);
  while (kymo_trace_next_batch(trace, &batch.it, &error) == KYMO_OK) {
    CHECK_GUARD(batch);
    for (size_t i = 0; i < batch.it.count; i++)
      printf("batch: %s %s\n", batch.it.classes[i]->name,
             batch.it.times_ns[i] == batch.it.events[i]->time_ns ? "" : "?");
  }
  const struct kymo_schema *schema = kymo_trace_part(trace, 0)->schema;
  kymo_trace_close(trace);
  if (kymo_trace_open_set(&trace, inputs, 2, &options, &error) < 0)
    fail("kymo_trace_open_set", &error);
  schema = kymo_trace_part(trace, 0)->schema;
  const struct kymo_schema *schemas[] = {schema, kymo_trace_part(trace, 1)->schema};
  if (kymo_filter_compile(&filter, "number = 3", 10,
                          &(struct kymo_filter_options){.schemas = schemas, .schema_count = 2}, &error) < 0 ||
      kymo_filter_attach(trace, filter, &error) < 0)
    fail("filter", &error);
  kymo_filter_release(filter);
  while (kymo_trace_next_filtered(trace, &event, &error) == KYMO_OK)
    printf("selected: %s of part %" PRIu32 "\n", event->class_->name, event->packet->stream->part->index);
  print_status(trace);
  kymo_trace_close(trace);
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  struct kymo_schema *schema = build();
  print_schema(schema);
  kymo_schema_release(schema);
  read_trace(argv[1]);
  return 0;
}
