/* SPDX-License-Identifier: MIT */
#include "format/perf/fields.h"
#include "schema/attribute.h"
#include <string.h>

/* ---- types ---- */

enum look { PLAIN, SIGNED, HEX, ADDRESS };

static const struct kymo_type *number(const struct perf_fields *fields, uint32_t size, enum look look) {
  return kymo_builder_type(fields->builder, &(struct kymo_type){.kind = KYMO_KIND_INTEGER,
                                                                .align_bits = 8,
                                                                .size_bits = 8 * size,
                                                                .order = fields->order,
                                                                .is_signed = look == SIGNED,
                                                                .is_address = look == ADDRESS,
                                                                .base = look >= HEX ? 16 : 10});
}

static const struct kymo_type *text(const struct perf_fields *fields) {
  return kymo_builder_type(fields->builder,
                           &(struct kymo_type){.kind = KYMO_KIND_STRING, .encoding = KYMO_ENCODING_UTF8});
}

/* ---- members and steps ---- */

static void add_member(struct perf_fields *fields, const char *name, const struct kymo_type *type,
                       const char *attributes) {
  fields->members[fields->count++] =
      (struct kymo_member){.name = name, .source_name = name, .type = type, .attributes = attributes};
}

static void add_step(struct perf_fields *fields, enum perf_step_kind kind, uint32_t size, const char *name) {
  struct perf_step *last = fields->step_count ? &fields->steps[fields->step_count - 1] : NULL;
  if (last && last->kind == kind && (kind == PERF_COPY || kind == PERF_SKIP))
    last->size += size;
  else
    fields->steps[fields->step_count++] = (struct perf_step){.kind = kind, .size = size, .name = name};
}

static void add_number(struct perf_fields *fields, const char *name, uint32_t size, enum look look) {
  add_member(fields, name, number(fields, size, look), NULL);
  add_step(fields, PERF_COPY, size, name);
}

/* A list, or bytes if it has no elements, after its length. */
static void add_sequence(struct perf_fields *fields, const char *count_name, const char *name,
                         const struct kymo_type *element) {
  uint32_t *steps = kymo_builder_alloc(fields->builder, sizeof *steps);
  const struct kymo_type *count = kymo_builder_number(fields->builder, 32, 0, NULL);
  struct kymo_type type = {.kind = element ? KYMO_KIND_SEQUENCE : KYMO_KIND_BLOB_SEQUENCE,
                           .align_bits = 8,
                           .element = element,
                           .selector_type = count,
                           .selector = {.scope = fields->scope, .depth = 1, .steps = steps}};
  if (steps)
    *steps = fields->count;
  add_member(fields, count_name, count, KYMO_ATTRIBUTE_HIDDEN);
  add_member(fields, name, steps && count ? kymo_builder_type(fields->builder, &type) : NULL, NULL);
}

static void add_flag(struct perf_fields *fields, const char *name, uint32_t bit) {
  add_member(
      fields, name,
      kymo_builder_type(fields->builder,
                        &(struct kymo_type){.kind = KYMO_KIND_BOOLEAN, .align_bits = 8, .size_bits = 8}),
      NULL);
  add_step(fields, PERF_FLAG, bit, name);
}

static const struct kymo_type *structure(const struct perf_fields *fields, const char *const *names,
                                         uint32_t count, enum look first, enum look last) {
  struct kymo_member members[4] = {{0}};
  for (uint32_t i = 0; i < count; i++)
    members[i] =
        (struct kymo_member){.name = names[i], .type = number(fields, 8, i + 1 == count ? last : first)};
  return kymo_builder_struct(fields->builder, members, count);
}

/* ---- samples ---- */

static void add_mode(struct perf_fields *fields) {
  static const char *const names[] = {"unknown",    "kernel",       "user",
                                      "hypervisor", "guest kernel", "guest user"};
  enum { COUNT = sizeof names / sizeof *names };
  struct kymo_mapping *labels = kymo_builder_mappings(fields->builder, COUNT);
  for (uint32_t i = 0; labels && i < COUNT; i++)
    labels[i] = (struct kymo_mapping){names[i], i, i};
  add_member(fields, "mode",
             labels ? kymo_builder_type(fields->builder, &(struct kymo_type){.kind = KYMO_KIND_INTEGER,
                                                                             .align_bits = 8,
                                                                             .size_bits = 8,
                                                                             .is_enumeration = true,
                                                                             .mappings = labels,
                                                                             .mapping_count = COUNT})
                    : NULL,
             NULL);
  add_step(fields, PERF_MODE, 1, "mode");
}

/* The values of a counter, or of all counters of its group. */
static void add_read(struct perf_fields *fields, const struct perf_attr *attr) {
  enum { ENABLED = 1, RUNNING = 2, ID = 4, GROUP = 8, LOST = 16 };
  uint64_t format = attr->read_format;
  const char *names[3] = {"value"};
  uint32_t words = 1, times = 0;
  if (!(format & GROUP))
    add_number(fields, "value", 8, PLAIN);
  else
    add_step(fields, PERF_GROUP, 0, "values");
  struct perf_step *group = &fields->steps[fields->step_count - 1];
  static const char *const time_names[] = {"time_enabled", "time_running"};
  for (unsigned i = 0; i < 2; i++) {
    if (!(format & (i ? RUNNING : ENABLED)))
      continue;
    times++;
    if (format & GROUP)
      add_member(fields, time_names[i], number(fields, 8, PLAIN), NULL);
    else
      add_number(fields, time_names[i], 8, PLAIN);
  }
  if (format & ID)
    names[words++] = "id";
  if (format & LOST)
    names[words++] = "lost";
  if (!(format & GROUP)) {
    for (uint32_t i = 1; i < words; i++)
      add_number(fields, strcmp(names[i], "id") == 0 ? "value_id" : "value_lost", 8, PLAIN);
    return;
  }
  group->size = times;
  group->more = words;
  add_sequence(fields, "__values_count", "values", structure(fields, names, words, PLAIN, PLAIN));
}

static void add_branches(struct perf_fields *fields, const struct perf_attr *attr) {
  enum { HAS_INDEX = 1 << 17, HAS_COUNTERS = 1 << 19 };
  static const char *const names[] = {"from", "to", "flags"};
  bool has_index = attr->branch_type & HAS_INDEX, has_counters = attr->branch_type & HAS_COUNTERS;
  add_step(fields, PERF_BRANCHES, (has_index ? 1 : 0) | (has_counters ? 2 : 0), "branches");
  if (has_index)
    add_member(fields, "branch_index", number(fields, 8, PLAIN), NULL);
  add_sequence(fields, "__branches_count", "branches", structure(fields, names, 3, ADDRESS, HEX));
  if (has_counters)
    add_sequence(fields, "__branch_counters_count", "branch_counters", number(fields, 8, HEX));
}

static void add_regs(struct perf_fields *fields, const char *abi, const char *count, const char *name,
                     uint64_t mask) {
  add_step(fields, PERF_REGS, (uint32_t)__builtin_popcountll(mask), name);
  add_member(fields, abi, number(fields, 8, PLAIN), NULL);
  add_sequence(fields, count, name, number(fields, 8, HEX));
}

/* Three numbers in the order of their bytes. */
static void add_weights(struct perf_fields *fields) {
  bool is_big = fields->order == KYMO_ORDER_BIG;
  if (!is_big)
    add_number(fields, "weight", 4, PLAIN);
  add_number(fields, is_big ? "weight3" : "weight2", 2, PLAIN);
  add_number(fields, is_big ? "weight2" : "weight3", 2, PLAIN);
  if (is_big)
    add_number(fields, "weight", 4, PLAIN);
}

static void add_list(struct perf_fields *fields, enum perf_step_kind kind, const char *count,
                     const char *name, const struct kymo_type *element) {
  add_step(fields, kind, 0, name);
  add_sequence(fields, count, name, element);
}

static void add_sample_field(struct perf_fields *fields, const struct perf_attr *attr, unsigned bit,
                             bool is_trace) {
  switch (bit) {
  case PERF_HAS_TID:
  case PERF_HAS_TIME:
  case PERF_HAS_CPU: add_step(fields, PERF_SKIP, 8, "contexts"); break;
  case PERF_HAS_IDENTIFIER: add_number(fields, "id", 8, PLAIN); break;
  case PERF_HAS_ID:
    if (PERF_HAS(attr, PERF_HAS_IDENTIFIER))
      add_step(fields, PERF_SKIP, 8, "id");
    else
      add_number(fields, "id", 8, PLAIN);
    break;
  case PERF_HAS_IP: add_number(fields, "ip", 8, ADDRESS); break;
  case PERF_HAS_ADDR: add_number(fields, "addr", 8, ADDRESS); break;
  case PERF_HAS_STREAM_ID: add_number(fields, "stream_id", 8, PLAIN); break;
  case PERF_HAS_PERIOD: add_number(fields, "period", 8, PLAIN); break;
  case PERF_HAS_READ: add_read(fields, attr); break;
  case PERF_HAS_CALLCHAIN:
    add_list(fields, PERF_CHAIN, "__callchain_count", "callchain", number(fields, 8, ADDRESS));
    break;
  case PERF_HAS_RAW:
    if (is_trace)
      add_step(fields, PERF_TRACE, 0, "the record of the tracepoint");
    else
      add_list(fields, PERF_RAW, "__raw_count", "raw", NULL);
    break;
  case PERF_HAS_BRANCHES: add_branches(fields, attr); break;
  case PERF_HAS_USER_REGS:
    add_regs(fields, "user_abi", "__user_regs_count", "user_regs", attr->user_regs);
    break;
  case PERF_HAS_USER_STACK: add_list(fields, PERF_STACK, "__user_stack_count", "user_stack", NULL); break;
  case PERF_HAS_WEIGHT: add_number(fields, "weight", 8, PLAIN); break;
  case PERF_HAS_WEIGHTS: add_weights(fields); break;
  case PERF_HAS_DATA_SOURCE: add_number(fields, "data_source", 8, HEX); break;
  case PERF_HAS_TRANSACTION: add_number(fields, "transaction", 8, HEX); break;
  case PERF_HAS_KERNEL_REGS: add_regs(fields, "abi", "__regs_count", "regs", attr->kernel_regs); break;
  case PERF_HAS_PHYSICAL: add_number(fields, "physical_address", 8, HEX); break;
  case PERF_HAS_CGROUP: add_number(fields, "cgroup", 8, PLAIN); break;
  case PERF_HAS_DATA_PAGE: add_number(fields, "data_page_size", 8, PLAIN); break;
  case PERF_HAS_CODE_PAGE: add_number(fields, "code_page_size", 8, PLAIN); break;
  case PERF_HAS_AUX: add_list(fields, PERF_BYTES, "__aux_count", "aux", NULL); break;
  default: break;
  }
}

void kymo_perf_sample_fields(struct perf_fields *fields, const struct perf_attr *attr, bool is_trace) {
  static const uint8_t order[] = {
      PERF_HAS_IDENTIFIER, PERF_HAS_IP,          PERF_HAS_TID,         PERF_HAS_TIME,
      PERF_HAS_ADDR,       PERF_HAS_ID,          PERF_HAS_STREAM_ID,   PERF_HAS_CPU,
      PERF_HAS_PERIOD,     PERF_HAS_READ,        PERF_HAS_CALLCHAIN,   PERF_HAS_RAW,
      PERF_HAS_BRANCHES,   PERF_HAS_USER_REGS,   PERF_HAS_USER_STACK,  PERF_HAS_WEIGHT,
      PERF_HAS_WEIGHTS,    PERF_HAS_DATA_SOURCE, PERF_HAS_TRANSACTION, PERF_HAS_KERNEL_REGS,
      PERF_HAS_PHYSICAL,   PERF_HAS_CGROUP,      PERF_HAS_DATA_PAGE,   PERF_HAS_CODE_PAGE,
      PERF_HAS_AUX};
  add_mode(fields);
  for (size_t i = 0; i < sizeof order; i++)
    if (PERF_HAS(attr, order[i]))
      add_sample_field(fields, attr, order[i], is_trace);
}

/* ---- other records ---- */

/* A field in a table: how it is stored, its size or bit, its name. */
struct field {
  enum {
    FIELD_END,
    FIELD_UNSIGNED,
    FIELD_SIGNED,
    FIELD_HEX,
    FIELD_SKIP,
    FIELD_FLAG,
    FIELD_TEXT,
    FIELD_REST,
    FIELD_FILE,
    FIELD_PAIRS,
    FIELD_KIND
  } kind;
  uint8_t size;
  const char *name;
};

static const struct kind {
  const char *name;
  struct field fields[10];
} kinds[PERF_KINDS] = {
    [0] = {"PERF_RECORD_OTHER", {{FIELD_KIND, 4, "type"}, {FIELD_REST, 0, "data"}}},
    [PERF_MMAP] = {"PERF_RECORD_MMAP",
                   {{FIELD_SIGNED, 4, "pid"},
                    {FIELD_SIGNED, 4, "tid"},
                    {FIELD_HEX, 8, "start"},
                    {FIELD_HEX, 8, "length"},
                    {FIELD_HEX, 8, "offset"},
                    {FIELD_FLAG, 13, "is_data"},
                    {FIELD_TEXT, 0, "file"}}},
    [PERF_LOST] = {"PERF_RECORD_LOST", {{FIELD_UNSIGNED, 8, "id"}, {FIELD_UNSIGNED, 8, "lost"}}},
    [PERF_COMM] = {"PERF_RECORD_COMM",
                   {{FIELD_SIGNED, 4, "pid"},
                    {FIELD_SIGNED, 4, "tid"},
                    {FIELD_FLAG, 13, "exec"},
                    {FIELD_TEXT, 0, "comm"}}},
    [PERF_EXIT] = {"PERF_RECORD_EXIT",
                   {{FIELD_SIGNED, 4, "pid"},
                    {FIELD_SIGNED, 4, "ppid"},
                    {FIELD_SIGNED, 4, "tid"},
                    {FIELD_SIGNED, 4, "ptid"},
                    {FIELD_SKIP, 8, "time"}}},
    [5] = {"PERF_RECORD_THROTTLE",
           {{FIELD_SKIP, 8, "time"}, {FIELD_UNSIGNED, 8, "id"}, {FIELD_UNSIGNED, 8, "stream_id"}}},
    [6] = {"PERF_RECORD_UNTHROTTLE",
           {{FIELD_SKIP, 8, "time"}, {FIELD_UNSIGNED, 8, "id"}, {FIELD_UNSIGNED, 8, "stream_id"}}},
    [PERF_FORK] = {"PERF_RECORD_FORK",
                   {{FIELD_SIGNED, 4, "pid"},
                    {FIELD_SIGNED, 4, "ppid"},
                    {FIELD_SIGNED, 4, "tid"},
                    {FIELD_SIGNED, 4, "ptid"},
                    {FIELD_SKIP, 8, "time"}}},
    [8] = {"PERF_RECORD_READ",
           {{FIELD_SIGNED, 4, "pid"}, {FIELD_SIGNED, 4, "tid"}, {FIELD_REST, 0, "values"}}},
    [PERF_MMAP2] = {"PERF_RECORD_MMAP2",
                    {{FIELD_SIGNED, 4, "pid"},
                     {FIELD_SIGNED, 4, "tid"},
                     {FIELD_HEX, 8, "start"},
                     {FIELD_HEX, 8, "length"},
                     {FIELD_HEX, 8, "offset"},
                     {FIELD_FILE, 0, "file"},
                     {FIELD_HEX, 4, "protection"},
                     {FIELD_HEX, 4, "flags"},
                     {FIELD_TEXT, 0, "file"}}},
    [11] = {"PERF_RECORD_AUX", {{FIELD_HEX, 8, "offset"}, {FIELD_HEX, 8, "size"}, {FIELD_HEX, 8, "flags"}}},
    [12] = {"PERF_RECORD_ITRACE_START", {{FIELD_SIGNED, 4, "pid"}, {FIELD_SIGNED, 4, "tid"}}},
    [PERF_LOST_SAMPLES] = {"PERF_RECORD_LOST_SAMPLES", {{FIELD_UNSIGNED, 8, "lost"}}},
    [14] = {"PERF_RECORD_SWITCH", {{FIELD_FLAG, 13, "out"}, {FIELD_FLAG, 14, "preempted"}}},
    [15] = {"PERF_RECORD_SWITCH_CPU_WIDE",
            {{FIELD_FLAG, 13, "out"},
             {FIELD_FLAG, 14, "preempted"},
             {FIELD_SIGNED, 4, "next_prev_pid"},
             {FIELD_SIGNED, 4, "next_prev_tid"}}},
    [16] = {"PERF_RECORD_NAMESPACES",
            {{FIELD_SIGNED, 4, "pid"}, {FIELD_SIGNED, 4, "tid"}, {FIELD_PAIRS, 0, "links"}}},
    [PERF_KSYMBOL] = {"PERF_RECORD_KSYMBOL",
                      {{FIELD_HEX, 8, "start"},
                       {FIELD_UNSIGNED, 4, "length"},
                       {FIELD_UNSIGNED, 2, "type"},
                       {FIELD_HEX, 2, "flags"},
                       {FIELD_TEXT, 0, "name"}}},
    [18] = {"PERF_RECORD_BPF_EVENT",
            {{FIELD_UNSIGNED, 2, "type"},
             {FIELD_HEX, 2, "flags"},
             {FIELD_UNSIGNED, 4, "id"},
             {FIELD_REST, 0, "tag"}}},
    [19] = {"PERF_RECORD_CGROUP", {{FIELD_UNSIGNED, 8, "id"}, {FIELD_TEXT, 0, "path"}}},
    [20] = {"PERF_RECORD_TEXT_POKE",
            {{FIELD_HEX, 8, "start"},
             {FIELD_UNSIGNED, 2, "old_length"},
             {FIELD_UNSIGNED, 2, "new_length"},
             {FIELD_REST, 0, "code"}}},
    [21] = {"PERF_RECORD_AUX_OUTPUT_HW_ID", {{FIELD_UNSIGNED, 8, "hw_id"}}},
    [22] = {"PERF_RECORD_CALLCHAIN_DEFERRED", {{FIELD_UNSIGNED, 8, "cookie"}, {FIELD_REST, 0, "callchain"}}},
};

static void add_file_id(struct perf_fields *fields) {
  add_step(fields, PERF_FILE_ID, 0, "the identity of the file");
  add_member(fields, "major", number(fields, 4, PLAIN), NULL);
  add_member(fields, "minor", number(fields, 4, PLAIN), NULL);
  add_member(fields, "inode", number(fields, 8, PLAIN), NULL);
  add_member(fields, "generation", number(fields, 8, PLAIN), NULL);
  add_member(fields, "build_id", text(fields), NULL);
}

static void add_field(struct perf_fields *fields, const struct field *field) {
  static const char *const pair[] = {"device", "inode"};
  const char *name = field->name;
  switch (field->kind) {
  case FIELD_UNSIGNED: add_number(fields, name, field->size, PLAIN); break;
  case FIELD_SIGNED: add_number(fields, name, field->size, SIGNED); break;
  case FIELD_HEX: add_number(fields, name, field->size, HEX); break;
  case FIELD_SKIP: add_step(fields, PERF_SKIP, field->size, name); break;
  case FIELD_FLAG: add_flag(fields, name, field->size); break;
  case FIELD_TEXT:
    add_member(fields, name, text(fields), NULL);
    add_step(fields, PERF_TEXT, 0, name);
    break;
  case FIELD_REST:
    add_step(fields, PERF_REST, 0, name);
    add_sequence(fields, "__bytes_count", name, NULL);
    break;
  case FIELD_FILE: add_file_id(fields); break;
  case FIELD_PAIRS:
    add_list(fields, PERF_PAIRS, "__pairs_count", name, structure(fields, pair, 2, HEX, PLAIN));
    break;
  case FIELD_KIND:
    add_member(fields, name, kymo_builder_number(fields->builder, 32, 0, NULL), NULL);
    add_step(fields, PERF_KIND, 4, name);
    break;
  case FIELD_END: break;
  }
}

const char *kymo_perf_kind_fields(struct perf_fields *fields, unsigned kind) {
  const struct kind *from = &kinds[kind];
  for (size_t i = 0; from->name && i < sizeof from->fields / sizeof *from->fields && from->fields[i].kind;
       i++)
    add_field(fields, &from->fields[i]);
  return from->name;
}
