/* SPDX-License-Identifier: MIT */
/*
 * The TSDL writer: its output for schemas that did not come from TSDL. tests/tsdl/run.sh passes the same to
 * other readers: "test_tsdl_write --beyond-ctf", "--one-tag", "--random SEED" print the output for a schema,
 * "test_tsdl_write --trace FOLDER" writes a trace of everything that programs record.
 */
#include "read_memory.h"
#include "lang/tsdl/tsdl.h"
#include "lang/tsdl/write.h"
#include "schema/registry_metadata.h"
#include <inttypes.h>
#include <sys/stat.h>

typedef const struct kymo_type *type_ref;

/* ---- making schemas ---- */

/* A copy of `count` items that lives as long as the schema. */
static void *keep(struct kymo_builder *builder, const void *items, size_t count, size_t size) {
  void *copy = kymo_arena_array(kymo_builder_arena(builder), count, size);
  assert_non_null(copy);
  memcpy(copy, items, count * size);
  return copy;
}

static struct kymo_reference reference(struct kymo_builder *builder, uint32_t depth, const uint32_t *steps) {
  return (struct kymo_reference){KYMO_SCOPE_PAYLOAD, depth, keep(builder, steps, depth, sizeof *steps)};
}

static type_ref unsigned_type(struct kymo_builder *builder, uint32_t bits) {
  return make_uint(builder, bits, 1);
}

/* A schema of one event without anything around it. */
static struct kymo_schema *finish_with(struct kymo_builder *builder, type_ref payload) {
  struct kymo_stream_class *stream;
  assert_int_equal(kymo_builder_stream(builder, &(struct kymo_stream_class){0}, &stream, NULL), KYMO_OK);
  struct kymo_event_class event = {.name = "g:e", .payload = payload};
  assert_int_equal(kymo_builder_event(builder, stream, &event, NULL, NULL), KYMO_OK);
  return finish(builder);
}

/* kind, width, alignment. */
static type_ref scalar(struct kymo_builder *builder, enum kymo_type_kind kind, uint32_t bits,
                       uint32_t align) {
  return kymo_builder_type(builder,
                           &(struct kymo_type){.kind = kind, .size_bits = bits, .align_bits = align});
}

static type_ref record(struct kymo_builder *builder, const struct kymo_member *members, uint32_t count) {
  return kymo_builder_type(builder,
                           &(struct kymo_type){.kind = KYMO_KIND_STRUCT,
                                               .member_count = count,
                                               .members = keep(builder, members, count, sizeof *members)});
}

static type_ref optional(struct kymo_builder *builder, type_ref element, uint32_t tag_step, type_ref tag) {
  return kymo_builder_type(builder, &(struct kymo_type){.kind = KYMO_KIND_OPTIONAL,
                                                        .element = element,
                                                        .selector_type = tag,
                                                        .selector = reference(builder, 1, &tag_step)});
}

/* Kinds that CTF 1.8 does not have. */
static struct kymo_schema *schema_beyond_ctf(void) {
  struct kymo_builder *builder = kymo_builder_new();
  type_ref flag = scalar(builder, KYMO_KIND_BOOLEAN, 8, 8), bits = scalar(builder, KYMO_KIND_BITMAP, 4, 1);
  type_ref text = kymo_builder_type(
      builder,
      &(struct kymo_type){.kind = KYMO_KIND_TEXT_ARRAY, .length = 6, .encoding = KYMO_ENCODING_UTF8});
  type_ref blob = kymo_builder_type(builder, &(struct kymo_type){.kind = KYMO_KIND_BLOB_ARRAY, .length = 3});
  type_ref grid = kymo_builder_type(
      builder, &(struct kymo_type){
                   .kind = KYMO_KIND_ARRAY,
                   .length = 2,
                   .element = kymo_builder_type(
                       builder, &(struct kymo_type){.kind = KYMO_KIND_ARRAY, .length = 3, .element = text})});
  struct kymo_member members[] = {
      {.name = "flag", .type = flag},
      {.name = "int", .type = bits},
      {.name = "grid", .type = grid},
      {.name = "blob", .type = blob},
      {.name = "a b", .type = optional(builder, blob, 0, flag)},
      {.name = "half", .type = scalar(builder, KYMO_KIND_FLOAT, 16, 16)},
  };
  return finish_with(builder, record(builder, members, 6));
}

static void tsdl_says_what_it_can_and_comments_the_rest(void **state) {
  (void)state;
  struct kymo_schema *schema = schema_beyond_ctf();
  struct kymo_strbuf text_of = {0};
  kymo_tsdl_write(&text_of, schema);
  assert_string_equal(
      text_of.text,
      "/* CTF 1.8 */\n\ntrace {\n  major = 1;\n  minor = 8;\n  byte_order = le;\n};\n"
      "\nstream {\n};\n"
      "\nevent {\n  name = \"g:e\";\n  id = 0;\n  loglevel = 0;\n  fields := struct {\n"
      "    enum : integer { size = 8; align = 8; signed = false; } { absent = 0, present = 1 ... 255, } /* a "
      "boolean */ _flag;\n"
      "    integer { size = 4; align = 1; signed = false; base = 16; } /* flags */ _int;\n"
      "    integer { size = 8; align = 8; signed = false; encoding = UTF8; } _grid[2][3][6];\n"
      "    integer { size = 8; align = 8; signed = false; base = 16; } _blob[3];\n"
      "    variant <_flag> {\n      struct { } absent;\n"
      "      integer { size = 8; align = 8; signed = false; base = 16; } present[3];\n    } _a_b_4;\n"
      "    integer { size = 16; align = 16; signed = false; base = 16; } /* a float of 16 bits */ _half;\n"
      "  };\n};\n");
  kymo_strbuf_free(&text_of);
  kymo_schema_release(schema);
}

/* One integer that chooses the option of a variant and says whether two optionals are present. */
static struct kymo_schema *schema_of_one_tag(void) {
  struct kymo_builder *builder = kymo_builder_new();
  type_ref u8 = unsigned_type(builder, 8);
  static const struct kymo_range low = {0, 4}, high = {9, 9};
  struct kymo_member options[] = {{.name = "_x", .type = u8, .ranges = &low, .range_count = 1},
                                  {.name = "struct", .type = u8, .ranges = &high, .range_count = 1}};
  struct kymo_type variant = {.kind = KYMO_KIND_VARIANT,
                              .member_count = 2,
                              .selector_type = u8,
                              .members = keep(builder, options, 2, sizeof options[0]),
                              .selector = reference(builder, 1, (uint32_t[]){0})};
  struct kymo_type present = {.kind = KYMO_KIND_OPTIONAL,
                              .element = u8,
                              .selector = variant.selector,
                              .selector_type = u8,
                              .presence_count = 1,
                              .presence = &high};
  struct kymo_type absent = present;
  absent.presence = &low;
  struct kymo_member members[] = {{.name = "tag", .type = u8},
                                  {.name = "v", .type = kymo_builder_type(builder, &variant)},
                                  {.name = "p", .type = kymo_builder_type(builder, &present)},
                                  {.name = "q", .type = kymo_builder_type(builder, &absent)}};
  return finish_with(builder, record(builder, members, 4));
}

static void tsdl_tags_get_labels_for_all_their_dependents(void **state) {
  (void)state;
  struct kymo_schema *schema = schema_of_one_tag();
  struct kymo_strbuf text = {0};
  kymo_tsdl_write_event(&text, schema->streams[0]->events[0]);
  const char *fields = strstr(text.text, "  fields");
  assert_non_null(fields);
  assert_string_equal(
      fields,
      "  fields := struct {\n"
      "    enum : integer { size = 8; align = 1; signed = false; } { __x = 0 ... 4, _struct = 9,"
      " absent = 0 ... 8, absent = 10 ... 255, present = 9, absent_2 = 5 ... 255, present_2 = 0 ... 4, } "
      "_tag;\n"
      "    variant <_tag> {\n"
      "      integer { size = 8; align = 1; signed = false; } __x;\n"
      "      integer { size = 8; align = 1; signed = false; } _struct;\n    } _v;\n"
      "    variant <_tag> {\n      struct { } absent;\n"
      "      integer { size = 8; align = 1; signed = false; } present;\n    } _p;\n"
      "    variant <_tag> {\n      struct { } absent_2;\n"
      "      integer { size = 8; align = 1; signed = false; } present_2;\n    } _q;\n"
      "  };\n};\n");
  kymo_strbuf_free(&text);
  kymo_schema_release(schema);
}

/* ---- all that programs record ---- */

/* Where a type is being made: the steps to it, for references. */
struct making {
  struct kymo_builder *builder;
  uint32_t way[16], depth;
};

static type_ref integer(struct making *m, const char *name, uint32_t bits, bool is_signed) {
  return make(m->builder, (struct kymo_type){.kind = KYMO_KIND_INTEGER,
                                             .name = name,
                                             .size_bits = bits,
                                             .align_bits = 8,
                                             .is_signed = is_signed});
}

static type_ref structure(struct making *m, const char *name, const struct kymo_member *members,
                          uint32_t count) {
  return make(m->builder, (struct kymo_type){.kind = KYMO_KIND_STRUCT,
                                             .name = name,
                                             .align_bits = 8,
                                             .member_count = count,
                                             .members = keep(m->builder, members, count, sizeof *members)});
}

/* The length or tag is member `index` of the struct that the way leads to. */
static void depend(struct making *m, struct kymo_type *type, uint32_t index, type_ref selector) {
  uint32_t steps[17];
  memcpy(steps, m->way, m->depth * sizeof steps[0]);
  steps[m->depth] = index;
  type->selector = reference(m->builder, m->depth + 1, steps);
  type->selector_type = selector;
}

static type_ref point(struct making *m) {
  type_ref number = integer(m, "int", 32, true);
  return structure(m, "struct point",
                   (struct kymo_member[]){{.name = "x", .type = number}, {.name = "y", .type = number}}, 2);
}

static type_ref array(struct making *m, type_ref element, uint64_t length) {
  return make(m->builder, (struct kymo_type){.kind = KYMO_KIND_ARRAY, .length = length, .element = element});
}

/* event app:shapes: structs in structs, arrays of structs. */
static type_ref shapes(struct making *m) {
  type_ref p = point(m);
  type_ref line = structure(
      m, "line_t", (struct kymo_member[]){{.name = "from", .type = p}, {.name = "to", .type = p}}, 2);
  struct kymo_member members[] = {{.name = "at", .type = p},
                                  {.name = "corners", .type = array(m, p, 2)},
                                  {.name = "edge", .type = line},
                                  {.name = "edges", .type = array(m, array(m, line, 1), 2)}};
  return structure(m, NULL, members, 4);
}

/* event app:scalars */
static type_ref scalars(struct making *m) {
  static const struct kymo_mapping states[] = {
      {"CLOSED", 0, 0}, {"OPEN", 1, 1}, {"LOST", (uint64_t)-1, (uint64_t)-1}};
  static const struct kymo_mapping modes[] = {
      {"READ", 0, 0}, {"WRITE", 1, 1}, {"ACCESS", 0, 1}, {"ACCESS", 4, 4}};
  struct kymo_type state = {.kind = KYMO_KIND_INTEGER,
                            .name = "enum state",
                            .size_bits = 32,
                            .align_bits = 8,
                            .is_signed = true,
                            .is_enumeration = true,
                            .mapping_count = 3,
                            .mappings = states};
  struct kymo_type mode = {.kind = KYMO_KIND_BITMAP,
                           .name = "enum mode",
                           .size_bits = 16,
                           .align_bits = 8,
                           .mapping_count = 4,
                           .mappings = modes};
  struct kymo_type alias = state,
                   big = {
                       .kind = KYMO_KIND_INTEGER, .size_bits = 32, .align_bits = 8, .order = KYMO_ORDER_BIG};
  alias.name = "state_t";
  struct kymo_type letter = {
      .kind = KYMO_KIND_INTEGER, .size_bits = 8, .align_bits = 8, .encoding = KYMO_ENCODING_UTF8};
  struct kymo_type pointer = {
      .kind = KYMO_KIND_INTEGER, .size_bits = 64, .align_bits = 8, .base = 16, .is_address = true};
  struct kymo_type truth = {.kind = KYMO_KIND_BOOLEAN, .name = "bool", .size_bits = 8, .align_bits = 8};
  struct kymo_type ratio = {.kind = KYMO_KIND_FLOAT, .name = "double", .size_bits = 64, .align_bits = 8};
  type_ref state_type = make(m->builder, state);
  struct kymo_member members[] = {{.name = "state", .type = state_type},
                                  {.name = "before", .type = state_type},
                                  {.name = "after", .type = make(m->builder, alias)},
                                  {.name = "mode", .type = make(m->builder, mode)},
                                  {.name = "old_mode", .type = make(m->builder, mode)},
                                  {.name = "port", .type = integer(m, "port_t", 16, false)},
                                  {.name = "size", .type = integer(m, "unsigned long", 64, false)},
                                  {.name = "address", .type = make(m->builder, big)},
                                  {.name = "letter", .type = make(m->builder, letter)},
                                  {.name = "letters", .type = array(m, make(m->builder, letter), 2)},
                                  {.name = "where", .type = make(m->builder, pointer)},
                                  {.name = "ok", .type = make(m->builder, truth)},
                                  {.name = "ratio", .type = make(m->builder, ratio)}};
  return structure(m, NULL, members, 13);
}

/* struct buffer { u32 _data_length; u8 data[] } */
static type_ref buffer(struct making *m, uint32_t member) {
  type_ref length =
      make(m->builder, (struct kymo_type){.kind = KYMO_KIND_INTEGER, .size_bits = 32, .align_bits = 8});
  struct kymo_type data = {
      .kind = KYMO_KIND_SEQUENCE, .align_bits = 8, .element = integer(m, "unsigned char", 8, false)};
  m->way[m->depth++] = member;
  depend(m, &data, 0, length);
  m->depth--;
  return structure(m, "struct buffer",
                   (struct kymo_member[]){{.name = "_data_length", .type = length},
                                          {.name = "data", .type = make(m->builder, data)}},
                   2);
}

/* event app:buffers: the same struct twice, with its own lengths; a sequence of structs. */
static type_ref buffers(struct making *m) {
  type_ref length =
      make(m->builder, (struct kymo_type){.kind = KYMO_KIND_INTEGER, .size_bits = 32, .align_bits = 8});
  struct kymo_type points = {.kind = KYMO_KIND_SEQUENCE, .align_bits = 8, .element = point(m)};
  depend(m, &points, 2, length);
  struct kymo_member members[] = {{.name = "first", .type = buffer(m, 0)},
                                  {.name = "second", .type = buffer(m, 1)},
                                  {.name = "_points_length", .type = length},
                                  {.name = "points", .type = make(m->builder, points)}};
  return structure(m, NULL, members, 4);
}

/* event app:choices: a tagged variant, two optionals, an untagged union. */
static type_ref choices(struct making *m) {
  static const struct kymo_range ranges[] = {{1, 1}, {2, 5}, {(uint64_t)-1, (uint64_t)-1}};
  type_ref tag = make(
      m->builder,
      (struct kymo_type){.kind = KYMO_KIND_INTEGER, .size_bits = 32, .align_bits = 8, .is_signed = true});
  type_ref present =
      make(m->builder, (struct kymo_type){.kind = KYMO_KIND_BOOLEAN, .size_bits = 8, .align_bits = 8});
  type_ref word = integer(m, "unsigned int", 32, false);
  struct kymo_member options[] = {
      {.name = "number", .type = word, .ranges = &ranges[0], .range_count = 1},
      {.name = "where", .type = point(m), .ranges = &ranges[1], .range_count = 1},
      {.name = "int", .type = structure(m, NULL, NULL, 0), .ranges = &ranges[2], .range_count = 1}};
  struct kymo_type value = {.kind = KYMO_KIND_VARIANT,
                            .name = "union value",
                            .member_count = 3,
                            .members = keep(m->builder, options, 3, sizeof options[0])};
  struct kymo_type maybe = {.kind = KYMO_KIND_OPTIONAL, .element = point(m)},
                   another = {.kind = KYMO_KIND_OPTIONAL, .element = word};
  depend(m, &value, 0, tag);
  depend(m, &maybe, 2, present);
  depend(m, &another, 4, present);
  struct kymo_member overlaid[] = {
      {.name = "whole", .type = word},
      {.name = "bytes", .type = array(m, integer(m, "unsigned char", 8, false), 4)},
      {.name = "at", .type = integer(m, "short", 16, true)}};
  struct kymo_type all = {.kind = KYMO_KIND_UNION,
                          .name = "union word",
                          .size_bits = 32,
                          .align_bits = 8,
                          .member_count = 3,
                          .members = keep(m->builder, overlaid, 3, sizeof overlaid[0])};
  struct kymo_member members[] = {{.name = "_value_tag", .type = tag},
                                  {.name = "value", .type = make(m->builder, value)},
                                  {.name = "_maybe_present", .type = present},
                                  {.name = "maybe", .type = make(m->builder, maybe)},
                                  {.name = "_another_present", .type = present},
                                  {.name = "another", .type = make(m->builder, another)},
                                  {.name = "word", .type = make(m->builder, all)}};
  return structure(m, NULL, members, 7);
}

static struct kymo_schema *schema_of_programs(void) {
  static type_ref (*const payloads[])(struct making *) = {shapes, scalars, buffers, choices};
  static const char *const names[] = {"app:shapes", "app:scalars", "app:buffers", "app:choices"};
  struct making m = {.builder = kymo_builder_new()};
  struct kymo_builder *b = m.builder;
  struct kymo_clock *clock = kymo_builder_clock(
      b, &(struct kymo_clock){.name = "monotonic", .frequency = 1000000000, .origin_is_epoch = true});
  kymo_builder_schema(b)->packet_header =
      make_struct(b, "magic", make_role(b, 32, 8, KYMO_ROLE_MAGIC, NULL), NULL);
  struct kymo_stream_class stream = {.event_header = make_struct(
                                         b, "id", make_role(b, 8, 8, KYMO_ROLE_EVENT_CLASS_ID, NULL),
                                         "timestamp", make_role(b, 64, 8, KYMO_ROLE_TIMESTAMP, clock), NULL),
                                     .clock = clock},
                           *made;
  assert_int_equal(kymo_builder_stream(b, &stream, &made, NULL), KYMO_OK);
  for (uint32_t i = 0; i < 4; i++) {
    struct kymo_event_class event = {.id = i, .name = names[i], .level = -1, .payload = payloads[i](&m)};
    assert_int_equal(kymo_builder_event(b, made, &event, NULL, NULL), KYMO_OK);
  }
  return finish(b);
}

static void begin_event(struct packet_bytes *out, uint64_t id) {
  put_le(out, id, 8);
  put_le(out, 1000000000 * (id + 1), 64);
}

static void put_words(struct packet_bytes *out, const int32_t *words, size_t count) {
  for (size_t i = 0; i < count; i++)
    put_le(out, (uint32_t)words[i], 32);
}

static void write_events(struct packet_bytes *out) {
  static const int32_t shape[] = {1, -2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18};
  double ratio = 0.25;
  uint64_t ratio_bits;
  memcpy(&ratio_bits, &ratio, sizeof ratio_bits);
  put_le(out, 0xC1FC1FC1, 32);
  begin_event(out, 0);
  put_words(out, shape, 18);
  begin_event(out, 1);
  put_words(out, (int32_t[]){1, -1, 7}, 3);
  put_le(out, 0x0001, 16);
  put_le(out, 0x8012, 16);
  put_le(out, 80, 16);
  put_le(out, UINT64_C(1) << 63, 64);
  put(out, 0x7F000001, 32, true);
  put_text(out, "'a\n", 3);
  put_le(out, 0xDEADBEEF, 64);
  put_le(out, 1, 8);
  put_le(out, ratio_bits, 64);
  begin_event(out, 2);
  put_words(out, (int32_t[]){3}, 1);
  put_text(out, "abc", 3);
  put_words(out, (int32_t[]){0, 2, 1, 2, 3, 4}, 6);
  begin_event(out, 3);
  put_words(out, (int32_t[]){1, 42}, 2);
  put_le(out, 0, 8);
  put_le(out, 1, 8);
  put_words(out, (int32_t[]){17, 0x01020380}, 2);
  begin_event(out, 3);
  put_words(out, (int32_t[]){4, 5, 6}, 3);
  put_le(out, 1, 8);
  put_words(out, (int32_t[]){7, 8}, 2);
  put_le(out, 0, 8);
  put_words(out, (int32_t[]){-1}, 1);
  begin_event(out, 3);
  put_words(out, (int32_t[]){-1}, 1);
  put_le(out, 0, 16);
  put_words(out, (int32_t[]){0}, 1);
}

static void write_file(const char *folder, const char *name, const void *bytes, size_t size) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

/* A trace with both descriptions: metadata for everybody, the registry for us. */
static int write_trace(const char *folder) {
  struct kymo_schema *schema = schema_of_programs();
  struct packet_bytes out = {0};
  struct kymo_strbuf text = {0}, registry = {0};
  char hidden[4096];
  uint8_t *bytes;
  size_t size;
  write_events(&out);
  kymo_tsdl_write(&text, schema);
  assert_int_equal(kymo_registry_write(schema, &bytes, &size, NULL), KYMO_OK);
  kymo_strbuf_add(&registry, (const char *)bytes, size);
  kymo_registry_append_text(&registry, text.text, text.length);
  snprintf(hidden, sizeof hidden, "%s/.kymo", folder);
  assert_int_equal(mkdir(hidden, 0700), 0);
  write_file(folder, "stream", out.bytes, out.bits / 8);
  write_file(folder, "metadata", text.text, text.length);
  write_file(hidden, "registry", registry.text, registry.length);
  free(bytes);
  kymo_strbuf_free(&text);
  kymo_strbuf_free(&registry);
  kymo_schema_release(schema);
  return 0;
}

/* ---- names of types ---- */

/* The event block's lines from "fields" on. */
static char *fields_of(struct kymo_schema *schema) {
  struct kymo_strbuf text = {0};
  kymo_tsdl_write_event(&text, schema->streams[0]->events[0]);
  kymo_schema_release(schema);
  char *fields = strdup(strstr(text.text, "  fields"));
  kymo_strbuf_free(&text);
  return fields;
}

static void assert_fields(struct kymo_builder *builder, type_ref payload, const char *expected) {
  char *found = fields_of(finish_with(builder, payload));
  assert_string_equal(found, expected);
  free(found);
}

static type_ref named(struct kymo_builder *builder, const char *name, uint32_t bits) {
  return make(builder, (struct kymo_type){
                           .kind = KYMO_KIND_INTEGER, .name = name, .size_bits = bits, .align_bits = 8});
}

#define U8 "integer { size = 8; align = 8; signed = false; }"
#define U16 "integer { size = 16; align = 8; signed = false; }"

static void names_that_tsdl_cannot_say_are_left_out(void **state) {
  (void)state;
  static const char *const names[] = {"std::byte",     "",         "event",  "_hidden", "int_",
                                      "unsigned  int", "struct s", "enum e", "a b"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    struct kymo_builder *builder = kymo_builder_new();
    bool is_sayable = strcmp(names[i], "int_") == 0;
    assert_fields(builder, make_struct(builder, "f", named(builder, names[i], 8), NULL),
                  is_sayable ? "  fields := struct {\n    typealias " U8 " := int_;\n    int_ _f;\n  };\n};\n"
                             : "  fields := struct {\n    " U8 " _f;\n  };\n};\n");
  }
}

static void a_second_type_of_one_name_is_written_out(void **state) {
  (void)state;
  struct kymo_builder *builder = kymo_builder_new();
  type_ref narrow = named(builder, "word", 8), wide = named(builder, "word", 16);
  type_ref inner = make_struct(builder, "a", wide, "b", narrow, NULL);
  assert_fields(builder, make_struct(builder, "a", narrow, "b", wide, "c", inner, "d", narrow, NULL),
                "  fields := struct {\n"
                "    typealias " U8 " := word;\n    word _a;\n"
                "    " U16 " _b;\n"
                "    struct {\n      " U16 " _a;\n      word _b;\n    } _c;\n"
                "    word _d;\n  };\n};\n");
}

static void a_type_named_like_an_option_is_written_out(void **state) {
  (void)state;
  static const struct kymo_range one = {1, 1};
  struct kymo_builder *builder = kymo_builder_new();
  type_ref tag = unsigned_type(builder, 8), word = named(builder, "word", 8);
  struct kymo_member option = {.name = "word", .type = word, .ranges = &one, .range_count = 1};
  struct kymo_type variant = {.kind = KYMO_KIND_VARIANT,
                              .member_count = 1,
                              .members = keep(builder, &option, 1, sizeof option),
                              .selector = reference(builder, 1, (uint32_t[]){0}),
                              .selector_type = tag};
  assert_fields(builder, make_struct(builder, "t", tag, "v", make(builder, variant), NULL),
                "  fields := struct {\n"
                "    enum : integer { size = 8; align = 1; signed = false; } { word = 1, } _t;\n"
                "    variant <_t> {\n      " U8 " word;\n    } _v;\n  };\n};\n");
}

static void a_type_that_needs_fields_around_it_is_written_out(void **state) {
  (void)state;
  struct kymo_builder *builder = kymo_builder_new();
  type_ref length = unsigned_type(builder, 8), byte = make_uint(builder, 8, 8);
  struct kymo_type text = {.kind = KYMO_KIND_SEQUENCE,
                           .element = byte,
                           .selector = reference(builder, 1, (uint32_t[]){0}),
                           .selector_type = length};
  struct kymo_member member = {.name = "s", .type = make(builder, text)};
  struct kymo_type outer = {.kind = KYMO_KIND_STRUCT,
                            .name = "struct outer",
                            .member_count = 1,
                            .members = keep(builder, &member, 1, sizeof member)};
  assert_fields(builder, make_struct(builder, "n", length, "o", make(builder, outer), NULL),
                "  fields := struct {\n"
                "    integer { size = 8; align = 1; signed = false; } _n;\n"
                "    struct {\n      " U8 " _s[_n];\n    } _o;\n  };\n};\n");
}

static void flags_without_a_name_are_declared_by_that_of_the_field(void **state) {
  (void)state;
  static const struct kymo_mapping bits[] = {{"A", 0, 0}, {"B C", 1, 2}, {"struct", 7, 63}};
  struct kymo_builder *builder = kymo_builder_new();
  type_ref flags = make(
      builder,
      (struct kymo_type){
          .kind = KYMO_KIND_BITMAP, .size_bits = 8, .align_bits = 8, .mapping_count = 3, .mappings = bits});
  assert_fields(
      builder, make_struct(builder, "mode", flags, NULL),
      "  fields := struct {\n"
      "    typedef enum : integer { size = 8; align = 8; signed = false; base = 16; }"
      " { A = 1, \"B C\" = 6, \"struct\" = 128, } mode_flags;\n"
      "    integer { size = 8; align = 8; signed = false; base = 16; } /* flags mode_flags */ _mode;\n  };\n"
      "};\n");
}

/* ---- the round trip ---- */

static uint64_t seed;

static uint32_t random_below(uint32_t limit) {
  seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
  return (uint32_t)(seed * UINT64_C(2685821657736338717) >> 32) % limit;
}

/* Which names types get. */
static enum { NAMES_UNIQUE, NAMES_COLLIDE } naming;

static const char *random_name(struct making *m, const char *tag) {
  static const char *const names[] = {"point", "word", "port_t", "pair"};
  char text[32];
  if (naming == NAMES_UNIQUE)
    snprintf(text, sizeof text, "%sn%" PRIu32, tag, random_below(UINT32_MAX));
  else
    snprintf(text, sizeof text, "%s%s", random_below(2) ? tag : "", names[random_below(4)]);
  return random_below(4) ? kymo_builder_text(m->builder, text) : NULL;
}

static type_ref random_integer(struct making *m) {
  struct kymo_type type = {.kind = KYMO_KIND_INTEGER,
                           .name = random_name(m, ""),
                           .size_bits = random_below(64) + 1,
                           .align_bits = 1u << random_below(6),
                           .is_signed = random_below(2),
                           .order = (enum kymo_byte_order)random_below(2),
                           .base = random_below(2) ? 16 : 0};
  return make(m->builder, type);
}

static type_ref random_enumeration(struct making *m, bool is_tag) {
  static const struct kymo_mapping labels[] = {
      {"aa", 0, 0}, {"bb", 1, 5}, {"bb", 7, 7}, {"with blank", 9, 10}};
  struct kymo_type type = {.kind = KYMO_KIND_INTEGER,
                           .name = random_name(m, "enum "),
                           .size_bits = 8u << random_below(3),
                           .align_bits = 8,
                           .is_signed = random_below(2),
                           .is_enumeration = true,
                           .mapping_count = is_tag ? 3 : 1 + random_below(4),
                           .mappings = labels};
  return make(m->builder, type);
}

static type_ref random_type(struct making *m, unsigned depth);

static type_ref random_leaf(struct making *m) {
  switch (random_below(5)) {
  case 0: return random_enumeration(m, false);
  case 1:
    return make(m->builder, (struct kymo_type){.kind = KYMO_KIND_STRING, .encoding = KYMO_ENCODING_UTF8});
  case 2:
    return make(m->builder, (struct kymo_type){.kind = KYMO_KIND_FLOAT,
                                               .size_bits = random_below(2) ? 32 : 64,
                                               .align_bits = 8,
                                               .name = random_name(m, "")});
  case 3:
    return make(m->builder, (struct kymo_type){.kind = KYMO_KIND_TEXT_ARRAY,
                                               .length = random_below(9),
                                               .encoding = KYMO_ENCODING_ASCII});
  default: return random_integer(m);
  }
}

/* After the member that contains `selector`: a variant, a sequence. */
static type_ref random_dependent(struct making *m, unsigned depth, uint32_t index, type_ref selector) {
  static const struct kymo_range ranges[] = {{0, 0}, {1, 5}, {7, 7}};
  struct kymo_type type = {.kind = selector->is_enumeration ? KYMO_KIND_VARIANT : KYMO_KIND_SEQUENCE};
  depend(m, &type, index, selector);
  m->way[m->depth] = index + 1;
  m->way[m->depth + 1] = KYMO_STEP_ELEMENT;
  m->depth += 2;
  if (type.kind == KYMO_KIND_SEQUENCE) {
    type.element = random_type(m, depth + 1);
  } else {
    struct kymo_member options[] = {
        {.name = "aa", .source_name = "aa", .ranges = &ranges[0], .range_count = 1},
        {.name = "bb", .source_name = "bb", .ranges = &ranges[1], .range_count = 2}};
    for (uint32_t i = 0; i < 2; i++) {
      m->way[m->depth - 1] = i;
      options[i].type = random_type(m, depth + 1);
    }
    type.members = keep(m->builder, options, 2, sizeof options[0]);
    type.member_count = 2;
  }
  m->depth -= 2;
  return make(m->builder, type);
}

static type_ref random_struct(struct making *m, unsigned depth) {
  static const char *const names[] = {"a", "b", "c", "d", "_e", "f", "int"};
  struct kymo_member members[7] = {{0}};
  uint32_t count = 0, wanted = random_below(7);
  while (count < wanted) {
    members[count].name = names[count];
    m->way[m->depth++] = count;
    bool has_dependent = count + 1 < wanted && random_below(3) == 0;
    if (!has_dependent)
      members[count].type = random_type(m, depth + 1);
    else if (random_below(2))
      members[count].type = random_enumeration(m, true);
    else
      members[count].type = make_uint(m->builder, 16, 8);
    m->depth--;
    count++;
    if (!has_dependent)
      continue;
    members[count].name = names[count];
    members[count].type = random_dependent(m, depth, count - 1, members[count - 1].type);
    count++;
  }
  return structure(m, depth == 0 ? NULL : random_name(m, "struct "), members, count);
}

static type_ref random_type(struct making *m, unsigned depth) {
  if (depth >= 4 || random_below(5) < 3)
    return random_leaf(m);
  if (random_below(3))
    return random_struct(m, depth);
  m->way[m->depth++] = KYMO_STEP_ELEMENT;
  type_ref element = random_type(m, depth + 1);
  m->depth--;
  return array(m, element, random_below(4));
}

static struct kymo_schema *random_schema(void) {
  struct making m = {.builder = kymo_builder_new()};
  struct kymo_stream_class *stream;
  assert_int_equal(
      kymo_builder_stream(
          m.builder,
          &(struct kymo_stream_class){
              .event_header = make_struct(m.builder, "id",
                                          make_role(m.builder, 8, 8, KYMO_ROLE_EVENT_CLASS_ID, NULL), NULL)},
          &stream, NULL),
      0);
  for (uint32_t i = 0; i < 3; i++) {
    struct kymo_event_class event = {.id = i, .name = "g:e", .level = -1, .payload = random_struct(&m, 0)};
    assert_int_equal(kymo_builder_event(m.builder, stream, &event, NULL, NULL), KYMO_OK);
  }
  return finish(m.builder);
}

/* The same but for names that were left out. */
static bool is_kept(type_ref a, type_ref b) {
  bool same = a->kind == b->kind && a->size_bits == b->size_bits && a->align_bits == b->align_bits &&
              a->order == b->order && a->is_signed == b->is_signed && a->base == b->base &&
              a->encoding == b->encoding && a->length == b->length &&
              a->is_enumeration == b->is_enumeration && a->mapping_count == b->mapping_count &&
              a->member_count == b->member_count && a->selector.depth == b->selector.depth &&
              !a->element == !b->element && (!b->name || (a->name && strcmp(a->name, b->name) == 0));
  for (uint32_t i = 0; same && i < a->mapping_count; i++)
    same =
        strcmp(a->mappings[i].name, b->mappings[i].name) == 0 && a->mappings[i].high == b->mappings[i].high;
  for (uint32_t i = 0; same && i < a->member_count; i++)
    same = strcmp(a->members[i].name, b->members[i].name) == 0 &&
           a->members[i].range_count == b->members[i].range_count &&
           is_kept(a->members[i].type, b->members[i].type);
  for (uint32_t i = 0; same && i < a->selector.depth; i++)
    same = a->selector.steps[i] == b->selector.steps[i];
  return same && (!a->element || is_kept(a->element, b->element));
}

static void check_round_trip(const struct kymo_schema *schema) {
  struct kymo_error error;
  struct kymo_strbuf text = {0};
  kymo_tsdl_write(&text, schema);
  struct kymo_schema *again = kymo_tsdl_compile(text.text, text.length, "written", &error);
  if (!again)
    fail_msg("%s\n%s", error.message, text.text);
  for (uint32_t i = 0; i < schema->streams[0]->event_count; i++) {
    const struct kymo_event_class *a = schema->streams[0]->events[i], *b = again->streams[0]->events[i];
    bool is_same = naming == NAMES_UNIQUE ? memcmp(&a->hashes, &b->hashes, sizeof a->hashes) == 0
                                          : is_kept(a->payload, b->payload);
    if (!is_same)
      fail_msg("event %" PRIu32 " is another one:\n%s", i, text.text);
  }
  kymo_schema_release(again);
  kymo_strbuf_free(&text);
}

static void check_random(uint64_t first, uint64_t count) {
  for (uint64_t i = first; i < first + count; i++) {
    seed = i * UINT64_C(0x9E3779B97F4A7C15) + 1;
    struct kymo_schema *schema = random_schema();
    check_round_trip(schema);
    kymo_schema_release(schema);
  }
}

static void what_tsdl_can_say_keeps_its_hashes(void **state) {
  (void)state;
  naming = NAMES_UNIQUE;
  check_random(0, 1000);
}

static void names_that_collide_are_left_out_and_nothing_else(void **state) {
  (void)state;
  naming = NAMES_COLLIDE;
  check_random(5000, 1000);
}

/* For tests/tsdl/run.sh, which gives it to other readers. */
static int print_tsdl(struct kymo_schema *schema) {
  struct kymo_strbuf text = {0};
  kymo_tsdl_write(&text, schema);
  puts(text.text);
  kymo_strbuf_free(&text);
  kymo_schema_release(schema);
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "--beyond-ctf") == 0)
    return print_tsdl(schema_beyond_ctf());
  if (argc == 2 && strcmp(argv[1], "--one-tag") == 0)
    return print_tsdl(schema_of_one_tag());
  if (argc == 3 && strcmp(argv[1], "--trace") == 0)
    return write_trace(argv[2]);
  if (argc == 3 && strcmp(argv[1], "--random") == 0) {
    naming = NAMES_COLLIDE;
    seed = strtoull(argv[2], NULL, 10) * UINT64_C(0x9E3779B97F4A7C15) + 1;
    return print_tsdl(random_schema());
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tsdl_says_what_it_can_and_comments_the_rest),
      cmocka_unit_test(tsdl_tags_get_labels_for_all_their_dependents),
      cmocka_unit_test(names_that_tsdl_cannot_say_are_left_out),
      cmocka_unit_test(a_second_type_of_one_name_is_written_out),
      cmocka_unit_test(a_type_named_like_an_option_is_written_out),
      cmocka_unit_test(a_type_that_needs_fields_around_it_is_written_out),
      cmocka_unit_test(flags_without_a_name_are_declared_by_that_of_the_field),
      cmocka_unit_test(what_tsdl_can_say_keeps_its_hashes),
      cmocka_unit_test(names_that_collide_are_left_out_and_nothing_else),
  };
  return cmocka_run_group_tests_name("tsdl_write", tests, NULL, NULL);
}
