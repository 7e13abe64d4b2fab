/* SPDX-License-Identifier: MIT */
#include "format/perf/schema.h"
#include "base/fail.h"
#include "base/hash.h"
#include "format/perf/attr.h"
#include "format/perf/fields.h"
#include "format/perf/tasks.h"
#include "schema/attribute.h"
#include "source/format.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define HASHED_BYTES 65536

struct maker {
  struct perf_file *file;
  struct kymo_trace *trace;
  struct perf_classes *classes;
  struct kymo_builder *builder;
  struct kymo_stream_class *stream;
  struct kymo_arena *arena; /* of the builder */
  struct kymo_ftrace_format *formats;
  const char **groups; /* of the formats */
  uint32_t format_count;
  uint64_t next_id;
  struct kymo_error *error;
};

static int no_memory(const struct maker *maker) {
  return kymo_fail(maker->error, KYMO_E_MEMORY, "out of memory");
}

static enum kymo_byte_order order_of(const struct perf_file *file) {
  return file->is_big ? KYMO_ORDER_BIG : KYMO_ORDER_LITTLE;
}

/* ---- clock and stream ---- */

/* Clocks by their number in clock_gettime; all count nanoseconds. */
static const char *clock_name(int32_t id) {
  switch (id) {
  case 0: return "realtime";
  case 1: return "monotonic";
  case 4: return "monotonic_raw";
  case 7: return "boottime";
  case 11: return "tai";
  default: return "perf";
  }
}

static const struct kymo_clock *make_clock(const struct maker *maker) {
  const struct perf_file *file = maker->file;
  struct kymo_clock recorded;
  if (file->beside.origin)
    return kymo_beside_clock(&recorded, file->beside.origin, file->path, maker->error)
               ? NULL
               : kymo_builder_clock(maker->builder, &recorded);
  int32_t id = file->attr_count ? file->attrs[0].clock_id : -1;
  uint64_t offset = file->wall_ns - file->clock_ns;
  bool is_wall = file->has_wall_clock && file->wall_ns >= file->clock_ns;
  struct kymo_clock clock = {.name = clock_name(id),
                             .description = "clock of perf",
                             .frequency = 1000000000,
                             .offset_seconds = is_wall ? (int64_t)(offset / 1000000000) : 0,
                             .offset_cycles = is_wall ? offset % 1000000000 : 0,
                             .origin_is_epoch = is_wall || id == 0,
                             .has_uuid = true};
  struct kymo_hash128 hash =
      kymo_hash128(file->data, file->size < HASHED_BYTES ? (size_t)file->size : HASHED_BYTES, file->size);
  kymo_store_le64(clock.uuid, hash.high);
  kymo_store_le64(clock.uuid + 8, hash.low);
  return kymo_builder_clock(maker->builder, &clock);
}

static const struct kymo_type *make_context(const struct maker *maker) {
  const struct kymo_type *id = kymo_builder_type(
      maker->builder,
      &(struct kymo_type){.kind = KYMO_KIND_INTEGER, .size_bits = 32, .align_bits = 8, .is_signed = true});
  const struct kymo_member members[] = {
      {.name = "cpu_id", .type = kymo_builder_number(maker->builder, 32, 0, NULL)},
      {.name = "pid", .type = id},
      {.name = "tid", .type = id},
      {.name = "procname",
       .type = kymo_builder_type(maker->builder, &(struct kymo_type){.kind = KYMO_KIND_TEXT_ARRAY,
                                                                     .align_bits = 8,
                                                                     .size_bits = 8 * PERF_NAME_BYTES,
                                                                     .length = PERF_NAME_BYTES,
                                                                     .encoding = KYMO_ENCODING_UTF8})}};
  uint32_t first = maker->classes->has_cpu ? 0 : 1;
  return kymo_builder_struct(maker->builder, members + first, 4 - first);
}

static int make_stream(struct maker *maker) {
  const struct kymo_clock *clock = make_clock(maker);
  const struct kymo_member header[] = {
      {.name = "time", .type = kymo_builder_number(maker->builder, 64, KYMO_ROLE_TIMESTAMP, clock)},
      {.name = "id", .type = kymo_builder_number(maker->builder, 16, KYMO_ROLE_EVENT_CLASS_ID, NULL)},
      {.name = KYMO_TIMED, .type = kymo_builder_number(maker->builder, 8, 0, NULL)}};
  struct kymo_stream_class stream = {.clock = clock,
                                     .event_header = kymo_builder_struct(maker->builder, header, 3),
                                     .common_context = make_context(maker)};
  if (!clock && maker->error && maker->error->code)
    return maker->error->code;
  if (!clock || !stream.event_header || !stream.common_context)
    return no_memory(maker);
  return kymo_builder_stream(maker->builder, &stream, &maker->stream, maker->error);
}

/* ---- environment ---- */

static void add_entry(const struct maker *maker, const char *name, const char *text) {
  if (text)
    kymo_builder_environment(
        maker->builder,
        &(struct kymo_environment){.name = name, .text = kymo_builder_text(maker->builder, text)});
}

static void add_environment(const struct maker *maker) {
  const struct perf_file *file = maker->file;
  add_entry(maker, "tracer_name", file->directory ? "kymo" : "perf");
  add_entry(maker, "tracer_version", file->version);
  add_entry(maker, "sysname", "Linux");
  add_entry(maker, "hostname", file->host);
  add_entry(maker, "kernel_release", file->release);
  add_entry(maker, "architecture", file->machine);
  add_entry(maker, "processor", file->processor);
  add_entry(maker, "command", file->command);
  if (file->cpu_count)
    kymo_builder_environment(maker->builder,
                             &(struct kymo_environment){.name = "cpus", .integer = file->cpu_count});
}

/* The sizes of basic types matter to messages: a long is one of the kernel. */
static void set_machine(const struct maker *maker) {
  struct kymo_machine *machine = kymo_builder_alloc(maker->builder, sizeof *machine);
  uint8_t size = maker->file->formats.page_long_size;
  static const uint8_t fixed[] = {[KYMO_C_CHAR] = 1,      [KYMO_C_SHORT] = 2, [KYMO_C_INT] = 4,
                                  [KYMO_C_LONG_LONG] = 8, [KYMO_C_FLOAT] = 4, [KYMO_C_DOUBLE] = 8};
  if (!machine || !maker->file->has_formats || !size)
    return;
  memcpy(machine->sizes, fixed, sizeof fixed);
  machine->sizes[KYMO_C_LONG] = machine->sizes[KYMO_C_POINTER] = machine->sizes[KYMO_C_SIZE_T] =
      machine->sizes[KYMO_C_PTRDIFF_T] = size;
  memcpy(machine->alignments, machine->sizes, sizeof machine->sizes);
  machine->page_size = maker->file->formats.page_size;
  kymo_builder_schema(maker->builder)->machine = machine;
}

/* ---- formats of tracepoints ---- */

static void note_format(const struct maker *maker, const struct ftrace_event_format *format,
                        const struct kymo_error *why) {
  char text[640];
  snprintf(text, sizeof text, "a format of %s, line %u: %s: the fields of its events cannot be read",
           format->group, (unsigned)why->line, why->message);
  struct kymo_damage damage = {.path = maker->file->path, .offset = format->text.at, .message = text};
  kymo_trace_add_damage(maker->trace, &damage);
}

static struct kymo_ftrace_machine machine_of(const struct perf_file *file) {
  return (struct kymo_ftrace_machine){file->formats.is_big, file->formats.page_long_size};
}

static int parse_formats(struct maker *maker) {
  const struct ftrace_file *file = &maker->file->formats;
  const struct kymo_ftrace_machine machine = machine_of(maker->file);
  maker->formats = kymo_arena_array(maker->arena, file->format_count + 1u, sizeof *maker->formats);
  maker->groups = kymo_arena_array(maker->arena, file->format_count + 1u, sizeof *maker->groups);
  if (!maker->formats || !maker->groups)
    return no_memory(maker);
  for (uint32_t i = 0; i < file->format_count; i++) {
    const struct ftrace_event_format *from = &file->formats[i];
    struct kymo_error why = {.code = KYMO_OK};
    int status = kymo_ftrace_parse(&maker->formats[maker->format_count], maker->arena, &machine,
                                   from->text.text, from->text.length, maker->file->path, &why);
    if (status == KYMO_E_SYNTAX)
      note_format(maker, from, &why);
    else if (status != KYMO_OK)
      return no_memory(maker);
    else
      maker->groups[maker->format_count++] = from->group;
  }
  return KYMO_OK;
}

/* The format of an event; NULL: it is no tracepoint, or the file does not have it. */
static struct kymo_ftrace_format *format_of(const struct maker *maker, const struct perf_attr *attr,
                                            const char **group) {
  for (uint32_t i = 0; attr->type == PERF_TRACEPOINT && i < maker->format_count; i++)
    if (maker->formats[i].id == attr->config) {
      *group = maker->groups[i];
      return &maker->formats[i];
    }
  return NULL;
}

/* ---- classes ---- */

static void begin_fields(const struct maker *maker, struct perf_fields *fields, enum kymo_scope scope) {
  fields->builder = maker->builder;
  fields->order = order_of(maker->file);
  fields->scope = scope;
  fields->count = fields->step_count = 0;
}

static bool keep_steps(const struct maker *maker, struct perf_class *class_,
                       const struct perf_fields *fields) {
  struct perf_step *steps = kymo_arena_array(maker->arena, fields->step_count + 1u, sizeof *steps);
  if (steps)
    memcpy(steps, fields->steps, fields->step_count * sizeof *steps);
  class_->steps = steps;
  class_->step_count = fields->step_count;
  return steps != NULL;
}

static int add_tracepoint(struct maker *maker, struct perf_class *out, struct kymo_ftrace_format *from,
                          const char *group, const struct kymo_type *context) {
  const struct kymo_ftrace_machine machine = machine_of(maker->file);
  struct kymo_ftrace_format format = *from;
  struct kymo_ftrace_class *class_ = kymo_arena_alloc(maker->arena, sizeof *class_);
  if (!class_)
    return no_memory(maker);
  format.id = (uint32_t)maker->next_id++;
  int status =
      kymo_ftrace_add_class(class_, maker->builder, maker->stream, &machine, group, &format, maker->error);
  if (status != KYMO_OK)
    return status;
  class_->class_->specific_context = context;
  out->tracepoint = class_;
  out->class_ = class_->class_;
  return KYMO_OK;
}

static int add_class(struct maker *maker, struct perf_class *out, const char *name,
                     const struct kymo_type *payload) {
  struct kymo_event_class event = {.id = maker->next_id++,
                                   .level = -1,
                                   .name = kymo_builder_text(maker->builder, name),
                                   .payload = payload};
  struct kymo_event_class *class_ = NULL;
  if (!event.name)
    return no_memory(maker);
  int status = kymo_builder_event(maker->builder, maker->stream, &event, &class_, maker->error);
  out->class_ = class_;
  return status;
}

static int add_sample(struct maker *maker, uint32_t index) {
  const struct perf_attr *attr = &maker->file->attrs[index];
  struct perf_class *out = &maker->classes->samples[index];
  struct perf_fields fields;
  const char *group = NULL;
  char name[48];
  struct kymo_ftrace_format *format = PERF_HAS(attr, PERF_HAS_RAW) ? format_of(maker, attr, &group) : NULL;
  begin_fields(maker, &fields, format ? KYMO_SCOPE_SPECIFIC_CONTEXT : KYMO_SCOPE_PAYLOAD);
  kymo_perf_sample_fields(&fields, attr, format != NULL);
  const struct kymo_type *type = kymo_builder_struct(maker->builder, fields.members, fields.count);
  if (!type || !keep_steps(maker, out, &fields))
    return no_memory(maker);
  snprintf(name, sizeof name, "tracepoint %" PRIu64, attr->config);
  return format ? add_tracepoint(maker, out, format, group, type)
                : add_class(maker, out, attr->name ? attr->name : name, type);
}

static int add_kind(struct maker *maker, unsigned kind) {
  struct perf_class *out = &maker->classes->kinds[kind];
  struct perf_fields fields;
  begin_fields(maker, &fields, KYMO_SCOPE_PAYLOAD);
  const char *name = kymo_perf_kind_fields(&fields, kind);
  if (!name)
    return KYMO_OK;
  const struct kymo_type *type = kymo_builder_struct(maker->builder, fields.members, fields.count);
  if (!type || !keep_steps(maker, out, &fields))
    return no_memory(maker);
  return add_class(maker, out, name, type);
}

static int add_classes(struct maker *maker) {
  uint32_t count = maker->file->attr_count;
  int status = parse_formats(maker);
  maker->classes->samples = kymo_arena_array(maker->arena, count + 1u, sizeof *maker->classes->samples);
  if (!maker->classes->samples)
    return no_memory(maker);
  for (uint32_t i = 0; status == KYMO_OK && i < count; i++)
    status = add_sample(maker, i);
  for (unsigned i = 0; status == KYMO_OK && i < PERF_KINDS; i++)
    status = add_kind(maker, i);
  return status;
}

struct kymo_schema *kymo_perf_schema(struct perf_classes *classes, struct perf_file *file,
                                     struct kymo_trace *trace, struct kymo_error *error) {
  struct maker maker = {
      .file = file, .trace = trace, .classes = classes, .builder = kymo_builder_new(), .error = error};
  *classes = (struct perf_classes){0};
  for (uint32_t i = 0; i < file->attr_count; i++)
    classes->has_cpu |= file->attrs[i].cpu_at != PERF_NOWHERE;
  int status = maker.builder ? KYMO_OK : no_memory(&maker);
  if (status == KYMO_OK) {
    maker.arena = kymo_builder_arena(maker.builder);
    kymo_builder_schema(maker.builder)->major = 2;
    kymo_builder_schema(maker.builder)->order = order_of(file);
    set_machine(&maker);
    add_environment(&maker);
    status = make_stream(&maker);
  }
  if (status == KYMO_OK)
    status = add_classes(&maker);
  return kymo_builder_end(maker.builder, status, error);
}
