/* SPDX-License-Identifier: MIT */
/*
 * One stream class for all CPUs of a buffer:
 *
 *   header           time (64), id (16)                          little-endian
 *   common context   cpu_id, procname; tid, common_flags …       from the record, in its order
 *   payload          the record's own fields (lang/ftrace/schema.c)
 */
#include "format/ftrace/schema.h"
#include "base/fail.h"
#include "base/hash.h"
#include "format/ftrace/names.h"
#include "schema/build.h"
#include "source/format.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define COMMON_MAX 32
#define HASHED_BYTES 65536

struct maker {
  struct ftrace_file *file;
  const struct ftrace_buffer *buffer;
  struct kymo_trace *trace;
  struct ftrace_classes *classes;
  struct kymo_builder *builder;
  struct kymo_stream_class *stream;
  struct kymo_arena *arena; /* of the builder */
  struct kymo_ftrace_field common[COMMON_MAX];
  uint32_t common_count;
  struct kymo_error *error;
};

static int no_memory(const struct maker *maker) {
  return kymo_fail(maker->error, KYMO_E_MEMORY, "out of memory");
}

/* ---- clock ---- */

/* Clocks of ftrace that count nanoseconds. */
static bool counts_nanoseconds(const char *clock) {
  static const char *const names[] = {"local", "global", "perf", "mono", "mono_raw", "boot", "tai"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(clock, names[i]) == 0)
      return true;
  return false;
}

/* The buffers of a file have one clock, if it has one name. */
static void set_identity(const struct ftrace_file *file, struct kymo_clock *clock) {
  struct kymo_hash128 hash =
      kymo_hash128(file->data, file->size < HASHED_BYTES ? (size_t)file->size : HASHED_BYTES, file->size);
  hash.low ^= kymo_hash64(clock->name, strlen(clock->name), 0);
  clock->has_uuid = true;
  kymo_store_le64(clock->uuid, hash.high);
  kymo_store_le64(clock->uuid + 8, hash.low);
}

static const struct kymo_clock *take_origin(struct maker *maker) {
  struct kymo_clock clock;
  const struct ftrace_file *file = maker->file;
  return kymo_beside_clock(&clock, file->beside.origin, file->path, maker->error)
             ? NULL
             : kymo_builder_clock(maker->builder, &clock);
}

static const struct kymo_clock *make_clock(struct maker *maker) {
  const struct ftrace_file *file = maker->file;
  if (file->beside.origin)
    return take_origin(maker);
  const char *name = maker->buffer->clock ? maker->buffer->clock : file->clock ? file->clock : "local";
  bool is_exact = counts_nanoseconds(name) || file->has_tsc;
  int64_t seconds = file->offset_ns / 1000000000, rest = file->offset_ns % 1000000000;
  if (!is_exact)
    kymo_trace_warn(maker->trace, file->path, KYMO_ERROR_NO_OFFSET,
                    "the file does not say how fast the clock %s counts: one count is shown as a nanosecond",
                    name);
  struct kymo_clock clock = {.name = kymo_builder_text(maker->builder, name),
                             .description = "trace_clock of ftrace",
                             .frequency = 1000000000,
                             .offset_seconds = rest < 0 ? seconds - 1 : seconds,
                             .offset_cycles = (uint64_t)(rest < 0 ? rest + 1000000000 : rest),
                             .origin_is_epoch = file->has_date || strcmp(name, "tai") == 0};
  if (!clock.name)
    return NULL;
  set_identity(file, &clock);
  return kymo_builder_clock(maker->builder, &clock);
}

/* ---- the common fields ---- */

/* The formats agree on them; those of the first count. */
static bool take_common(struct maker *maker, const struct kymo_ftrace_format *format) {
  struct ftrace_common *common = &maker->classes->common;
  if (format->common_count == 0 || format->common_count > COMMON_MAX ||
      strcmp(format->fields[0].name, "common_type") != 0 || format->fields[0].offset != 0 ||
      format->fields[0].size != 2)
    return false;
  if (!maker->common_count) {
    for (uint32_t i = 0; i < format->common_count; i++) {
      const struct kymo_ftrace_field *field = &format->fields[i];
      uint32_t end = field->offset + field->size;
      if (field->place != KYMO_FTRACE_FIXED || field->is_array || field->size > 8 ||
          (field->size & (field->size - 1)) != 0)
        return false;
      common->end = end > common->end ? end : common->end;
      if (strcmp(field->name, "common_pid") == 0 && field->size == 4)
        common->pid_offset = field->offset;
      maker->common[i] = *field;
    }
    maker->common_count = format->common_count;
    return true;
  }
  bool is_same = format->common_count == maker->common_count;
  for (uint32_t i = 0; is_same && i < format->common_count; i++)
    is_same = strcmp(format->fields[i].name, maker->common[i].name) == 0 &&
              format->fields[i].offset == maker->common[i].offset &&
              format->fields[i].size == maker->common[i].size;
  return is_same;
}

static const struct kymo_type *common_type(const struct maker *maker, const struct kymo_ftrace_field *field) {
  return kymo_builder_type(
      maker->builder, &(struct kymo_type){.kind = KYMO_KIND_INTEGER,
                                          .size_bits = 8 * field->size,
                                          .align_bits = 8,
                                          .is_signed = field->is_signed,
                                          .order = maker->file->is_big ? KYMO_ORDER_BIG : KYMO_ORDER_LITTLE});
}

/* All common fields but the type, in the order of the record, without bytes between them. */
static const struct kymo_type *make_context(struct maker *maker) {
  struct kymo_member members[COMMON_MAX + 2] = {
      {.name = "cpu_id", .type = kymo_builder_number(maker->builder, 32, 0, NULL)},
      {.name = "procname",
       .type = kymo_builder_type(maker->builder, &(struct kymo_type){.kind = KYMO_KIND_TEXT_ARRAY,
                                                                     .align_bits = 8,
                                                                     .size_bits = 8 * FTRACE_NAME_BYTES,
                                                                     .length = FTRACE_NAME_BYTES,
                                                                     .encoding = KYMO_ENCODING_UTF8})}};
  uint32_t count = 2;
  for (uint32_t i = 1; i < maker->common_count; i++) {
    bool is_pid = strcmp(maker->common[i].name, "common_pid") == 0;
    members[count++] = (struct kymo_member){
        .name = is_pid ? "tid" : kymo_builder_text(maker->builder, maker->common[i].name),
        .type = common_type(maker, &maker->common[i])};
  }
  return kymo_builder_struct(maker->builder, members, count);
}

/* Whether the common fields follow one another, so that they are copied at once. */
static bool is_common_dense(const struct maker *maker) {
  uint32_t at = 2;
  for (uint32_t i = 1; i < maker->common_count; at += maker->common[i++].size)
    if (maker->common[i].offset != at)
      return false;
  return true;
}

/* ---- environment ---- */

static void add_entry(const struct maker *maker, const char *name, const char *text, int64_t integer) {
  kymo_builder_environment(maker->builder,
                           &(struct kymo_environment){.name = name, .text = text, .integer = integer});
}

/* "Linux HOST RELEASE MACHINE", as `uname -snrm` prints. */
static void add_uname(const struct maker *maker) {
  static const char *const names[] = {"sysname", "hostname", "kernel_release", "architecture"};
  const char *at = maker->file->uname;
  for (size_t i = 0; at && i < sizeof names / sizeof *names; i++) {
    size_t length = strcspn(at, " \n");
    char *text = kymo_arena_copy(maker->arena, at, length);
    if (length && text)
      add_entry(maker, names[i], text, 0);
    at += length;
    at += *at != '\0';
  }
}

static void add_environment(const struct maker *maker) {
  add_entry(maker, "tracer_name", "ftrace", 0);
  add_uname(maker);
  if (maker->buffer->name[0])
    add_entry(maker, "instance", kymo_builder_text(maker->builder, maker->buffer->name), 0);
  add_entry(maker, "cpus", NULL, maker->file->cpu_count);
  if (maker->file->clock) /* a counter that the file converts is as good as a clock */
    add_entry(maker, "trace_clock",
              maker->file->has_tsc ? "local" : kymo_builder_text(maker->builder, maker->file->clock), 0);
}

/* The sizes of basic types matter to messages: a long is one of the kernel. */
static void set_machine(const struct maker *maker) {
  struct kymo_machine *machine = kymo_builder_alloc(maker->builder, sizeof *machine);
  uint8_t size = maker->file->page_long_size;
  if (!machine)
    return;
  static const uint8_t fixed[] = {[KYMO_C_CHAR] = 1,      [KYMO_C_SHORT] = 2, [KYMO_C_INT] = 4,
                                  [KYMO_C_LONG_LONG] = 8, [KYMO_C_FLOAT] = 4, [KYMO_C_DOUBLE] = 8};
  memcpy(machine->sizes, fixed, sizeof fixed);
  machine->sizes[KYMO_C_LONG] = machine->sizes[KYMO_C_POINTER] = machine->sizes[KYMO_C_SIZE_T] =
      machine->sizes[KYMO_C_PTRDIFF_T] = size;
  memcpy(machine->alignments, machine->sizes, sizeof machine->sizes);
  machine->page_size = maker->buffer->page_size;
  kymo_builder_schema(maker->builder)->machine = machine;
}

/* ---- classes ---- */

static int make_stream(struct maker *maker) {
  if (maker->error)
    maker->error->code = KYMO_OK;
  const struct kymo_clock *clock = make_clock(maker);
  const struct kymo_member header[] = {
      {.name = "time", .type = kymo_builder_number(maker->builder, 64, KYMO_ROLE_TIMESTAMP, clock)},
      {.name = "id", .type = kymo_builder_number(maker->builder, 16, KYMO_ROLE_EVENT_CLASS_ID, NULL)}};
  struct kymo_stream_class stream = {.clock = clock,
                                     .event_header = kymo_builder_struct(maker->builder, header, 2)};
  if (!clock || !stream.event_header)
    return maker->error && maker->error->code ? maker->error->code : no_memory(maker);
  return kymo_builder_stream(maker->builder, &stream, &maker->stream, maker->error);
}

/* A format that cannot be understood is damage: its events cannot be read. */
static void note_format(const struct maker *maker, const struct ftrace_event_format *format,
                        const struct kymo_error *why) {
  char text[640];
  if (maker->buffer != maker->file->buffers)
    return;
  snprintf(text, sizeof text, "a format of %s, line %u: %s: events of it cannot be read", format->group,
           (unsigned)why->line, why->message);
  struct kymo_damage damage = {.path = maker->file->path, .offset = format->text.at, .message = text};
  kymo_trace_add_damage(maker->trace, &damage);
}

static int add_class(struct maker *maker, const struct ftrace_event_format *from) {
  struct ftrace_classes *classes = maker->classes;
  const struct kymo_ftrace_machine machine = {maker->file->is_big, maker->file->page_long_size};
  struct kymo_ftrace_format format;
  struct kymo_error why = {.code = KYMO_OK};
  int status = kymo_ftrace_parse(&format, maker->arena, &machine, from->text.text, from->text.length,
                                 maker->file->path, &why);
  if (status == KYMO_OK && !take_common(maker, &format))
    status = kymo_fail(&why, KYMO_E_SYNTAX, "expected the common fields of all other events");
  if (status == KYMO_E_SYNTAX) {
    note_format(maker, from, &why);
    return KYMO_OK;
  }
  if (status != KYMO_OK)
    return no_memory(maker);
  if (classes->by_id[format.id]) /* the same format in two sections */
    return KYMO_OK;
  struct kymo_ftrace_class *class_ = kymo_arena_alloc(maker->arena, sizeof *class_);
  if (!class_)
    return no_memory(maker);
  status = kymo_ftrace_add_class(class_, maker->builder, maker->stream, &machine, from->group, &format,
                                 maker->error);
  if (class_->least_bytes < classes->common.end)
    class_->least_bytes = classes->common.end;
  classes->by_id[format.id] = class_;
  return status;
}

static int add_classes(struct maker *maker) {
  int status = KYMO_OK;
  maker->classes->id_count = UINT16_MAX + 1;
  maker->classes->by_id =
      kymo_arena_array(maker->arena, maker->classes->id_count, sizeof *maker->classes->by_id);
  if (!maker->classes->by_id)
    return no_memory(maker);
  for (uint32_t i = 0; status == KYMO_OK && i < maker->file->format_count; i++)
    status = add_class(maker, &maker->file->formats[i]);
  if (status == KYMO_OK && !is_common_dense(maker))
    status = kymo_fail_at(maker->error, KYMO_E_FORMAT, maker->file->path, KYMO_ERROR_NO_OFFSET,
                          "expected common fields without bytes between them");
  if (status != KYMO_OK)
    return status;
  maker->stream->common_context = make_context(maker);
  return maker->stream->common_context ? KYMO_OK : no_memory(maker);
}

struct kymo_schema *kymo_ftrace_schema(struct ftrace_classes *classes, struct ftrace_file *file,
                                       const struct ftrace_buffer *buffer, struct kymo_trace *trace,
                                       struct kymo_error *error) {
  struct maker maker = {.file = file,
                        .buffer = buffer,
                        .trace = trace,
                        .classes = classes,
                        .builder = kymo_builder_new(),
                        .error = error};
  *classes = (struct ftrace_classes){0};
  int status = maker.builder ? KYMO_OK : no_memory(&maker);
  if (status == KYMO_OK) {
    maker.arena = kymo_builder_arena(maker.builder);
    kymo_builder_schema(maker.builder)->major = file->directory ? 1 : file->version;
    kymo_builder_schema(maker.builder)->order = file->is_big ? KYMO_ORDER_BIG : KYMO_ORDER_LITTLE;
    set_machine(&maker);
    add_environment(&maker);
    status = make_stream(&maker);
  }
  if (status == KYMO_OK)
    status = add_classes(&maker);
  return kymo_builder_end(maker.builder, status, error);
}
