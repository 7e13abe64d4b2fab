/* SPDX-License-Identifier: MIT */
/* Getting fields by their ids, as what they mean; refused calls; fields as text; and their properties. */
#include "read_memory.h"
#include <float.h>

/* ---- a trace of one event class with a field of every sort ---- */

static const struct kymo_mapping states[] = {{"idle", 0, 0}, {"busy", 1, 3}};
static const struct kymo_mapping rights[] = {{"read", 0, 0}, {"write", 1, 1}, {"any", 4, 5}};
static const struct kymo_range there[] = {{1, 1}}, first[] = {{0, 0}}, second[] = {{1, 9}};

static const struct kymo_type *integer(struct kymo_builder *b, uint32_t bits, struct kymo_type more) {
  more.size_bits = bits;
  more.align_bits = 8;
  return make(b, more);
}

/* Indexes of members that others refer to. */
enum { AT_LENGTH = 9, AT_HAS = 12, AT_TAG = 14 };

static struct kymo_schema *make_schema(void) {
  struct kymo_builder *b = kymo_builder_new();
  struct kymo_clock *clock =
      kymo_builder_clock(b, &(struct kymo_clock){.name = "c", .frequency = 1000000, .offset_seconds = 2});
  const struct kymo_type *u8 = make_uint(b, 8, 8), *u16 = make_uint(b, 16, 8), *u32 = make_uint(b, 32, 8);
  const struct kymo_type *text =
      make(b, (struct kymo_type){.kind = KYMO_KIND_STRING, .encoding = KYMO_ENCODING_UTF8});
  const struct kymo_type *pair = make_struct(b, "a", u8, "b", text, NULL);
  struct kymo_member *options = kymo_arena_array(kymo_builder_arena(b), 2, sizeof *options);
  options[0] =
      (struct kymo_member){.name = "x", .source_name = "x", .type = u32, .ranges = first, .range_count = 1};
  options[1] =
      (struct kymo_member){.name = "y", .source_name = "y", .type = text, .ranges = second, .range_count = 1};
  struct kymo_stream_class class_ = {.clock = clock,
                                     .event_header = make_struct(
                                         b, "t", make_role(b, 64, 8, KYMO_ROLE_TIMESTAMP, clock), NULL)},
                           *stream;
  assert_int_equal(kymo_builder_stream(b, &class_, &stream, NULL), KYMO_OK);
  struct kymo_member members[] = {
      {.name = "state",
       .type =
           integer(b, 8, (struct kymo_type){.mappings = states, .mapping_count = 2, .is_enumeration = true})},
      {.name = "rights",
       .type = integer(b, 8,
                       (struct kymo_type){.kind = KYMO_KIND_BITMAP, .mappings = rights, .mapping_count = 3})},
      {.name = "stamp",
       .type = integer(b, 64, (struct kymo_type){.clock = clock, .roles = KYMO_ROLE_TIMESTAMP})},
      {.name = "took", .type = integer(b, 32, (struct kymo_type){.unit = "us"})},
      {.name = "n", .type = integer(b, 32, (struct kymo_type){.is_signed = true})},
      {.name = "hex", .type = integer(b, 16, (struct kymo_type){.base = 16})},
      {.name = "load", .type = integer(b, 64, (struct kymo_type){.kind = KYMO_KIND_FLOAT})},
      {.name = "text", .type = text},
      {.name = "blob", .type = make(b, (struct kymo_type){.kind = KYMO_KIND_BLOB_ARRAY, .length = 3})},
      {.name = "length", .type = u8},
      {.name = "list",
       .type = make(b, (struct kymo_type){.kind = KYMO_KIND_SEQUENCE,
                                          .element = u16,
                                          .selector_type = u8,
                                          .selector = refer(b, KYMO_SCOPE_PAYLOAD, AT_LENGTH)})},
      {.name = "pairs",
       .type = make(b, (struct kymo_type){.kind = KYMO_KIND_ARRAY, .length = 2, .element = pair})},
      {.name = "has", .type = u8},
      {.name = "maybe",
       .type = make(b, (struct kymo_type){.kind = KYMO_KIND_OPTIONAL,
                                          .element = u32,
                                          .presence = there,
                                          .presence_count = 1,
                                          .selector_type = u8,
                                          .selector = refer(b, KYMO_SCOPE_PAYLOAD, AT_HAS)})},
      {.name = "tag", .type = u8},
      {.name = "choice",
       .type = make(b, (struct kymo_type){.kind = KYMO_KIND_VARIANT,
                                          .members = options,
                                          .member_count = 2,
                                          .selector_type = u8,
                                          .selector = refer(b, KYMO_SCOPE_PAYLOAD, AT_TAG)})},
      {.name = "group", .type = pair},
  };
  uint32_t count = sizeof members / sizeof *members;
  struct kymo_member *kept = kymo_arena_array(kymo_builder_arena(b), count, sizeof *kept);
  for (uint32_t i = 0; i < count; i++) {
    kept[i] = members[i];
    kept[i].source_name = members[i].name;
  }
  struct kymo_event_class event = {
      .name = "group:all",
      .group = "group",
      .level = -1,
      .payload =
          make(b, (struct kymo_type){.kind = KYMO_KIND_STRUCT, .members = kept, .member_count = count})};
  assert_int_equal(kymo_builder_event(b, stream, &event, NULL, NULL), KYMO_OK);
  struct kymo_error error = {0};
  struct kymo_schema *schema = kymo_builder_finish(b, &error);
  if (!schema)
    fail_msg("%s", error.message);
  return schema;
}

struct choice {
  uint64_t state, has, tag, took;
};

static void put_event(struct packet_bytes *out, struct choice choice) {
  double load = 0.1;
  uint64_t bits;
  memcpy(&bits, &load, sizeof bits);
  put_le(out, 5, 64);
  put_le(out, choice.state, 8);
  put_le(out, 0x92, 8);
  put_le(out, 1500000, 64);
  put_le(out, choice.took, 32);
  put_le(out, (uint32_t)-7, 32);
  put_le(out, 0xbeef, 16);
  put_le(out, bits, 64);
  put_text(out, "hello", 6);
  put_text(out, "\x01\xab\xff", 3);
  put_le(out, 3, 8);
  for (uint64_t i = 0; i < 3; i++)
    put_le(out, 100 + i, 16);
  put_text(out, "\x01one", 5);
  put_text(out, "\x02", 2);
  put_le(out, choice.has, 8);
  if (choice.has == 1)
    put_le(out, 77, 32);
  put_le(out, choice.tag, 8);
  if (choice.tag == 0)
    put_le(out, 88, 32);
  else
    put_text(out, "why", 4);
  put_text(out, "\x09z", 3);
}

struct opened {
  struct packet_bytes *bytes;
  struct kymo_trace *trace;
  const struct kymo_event *event;
};

static struct opened open_choice(struct choice choice) {
  struct opened o = {.bytes = calloc(1, sizeof *o.bytes)};
  put_event(o.bytes, choice);
  o.trace = open_memory(make_schema(), o.bytes, 1);
  o.event = next_event(o.trace);
  assert_non_null(o.event);
  return o;
}

static void close_all(struct opened *o) {
  kymo_trace_close(o->trace);
  free(o->bytes);
}

static uint32_t id(const struct opened *o, const char *path) {
  uint32_t field = kymo_field_id(o->trace, o->event->class_, path);
  assert_int_not_equal(field, KYMO_FIELD_NONE);
  return field;
}

static const struct choice plain = {1, 1, 0, 250};

/* ---- values ---- */

static void tokens_have_codes_and_interpretations(void **state) {
  (void)state;
  struct opened o = open_choice(plain), other = open_choice((struct choice){9, 0, 1, 0});
  uint64_t code = 0;
  const char *text;
  assert_int_equal(kymo_event_get_token(o.event, id(&o, "state"), &code, &text), KYMO_OK);
  assert_int_equal(code, 1);
  assert_string_equal(text, "busy");
  assert_int_equal(kymo_event_get_token(other.event, id(&other, "state"), &code, &text), KYMO_OK);
  assert_int_equal(code, 9);
  assert_null(text);
  assert_int_equal(kymo_event_get_token(o.event, id(&o, "EVENT"), &code, &text), KYMO_OK);
  assert_int_equal(code, 0);
  assert_string_equal(text, "group:all");
  assert_int_equal(kymo_event_get_token(o.event, id(&o, "hex"), &code, &text), KYMO_E_TYPE);
  assert_int_equal(kymo_event_get_token(o.event, id(&o, "rights"), &code, &text), KYMO_E_TYPE);
  assert_int_equal(kymo_event_get_token(o.event, id(&o, "text"), &code, &text), KYMO_E_TYPE);
  close_all(&o);
  close_all(&other);
}

static void flags_are_named_one_by_one(void **state) {
  (void)state;
  struct opened o = open_choice(plain);
  uint64_t bits = 0;
  uint32_t field = id(&o, "rights");
  assert_int_equal(kymo_event_get_flags(o.event, field, &bits), KYMO_OK);
  assert_int_equal(bits, 0x92);
  const struct kymo_type *type = kymo_event_get_type(o.event, field);
  assert_string_equal(kymo_type_flag_text(type, bits, 0), "write");
  assert_string_equal(kymo_type_flag_text(type, bits, 1), "any");
  assert_null(kymo_type_flag_text(type, bits, 2));
  assert_int_equal(kymo_event_get_flags(o.event, id(&o, "state"), &bits), KYMO_E_TYPE);
  close_all(&o);
}

static void times_are_nanoseconds_whatever_they_count(void **state) {
  (void)state;
  struct opened o = open_choice(plain);
  int64_t ns = 0;
  assert_int_equal(kymo_event_get_time(o.event, id(&o, "stamp"), &ns), KYMO_OK);
  assert_int_equal(ns, 3500000000);
  assert_int_equal(kymo_event_get_time(o.event, id(&o, "took"), &ns), KYMO_OK);
  assert_int_equal(ns, 250000);
  assert_int_equal(kymo_event_get_time(o.event, id(&o, "ACQUISITION"), &ns), KYMO_OK);
  assert_int_equal(ns, o.event->time_ns);
  assert_int_equal(kymo_event_get_time(o.event, id(&o, "n"), &ns), KYMO_E_TYPE);
  close_all(&o);
}

static void wrong_types_and_ranges_are_refused(void **state) {
  (void)state;
  struct opened o = open_choice(plain);
  uint64_t unsigned_ = 42;
  int64_t signed_;
  double number;
  const char *text;
  const uint8_t *bytes;
  assert_int_equal(kymo_event_get_uint(o.event, id(&o, "n"), &unsigned_), KYMO_E_RANGE);
  assert_int_equal(unsigned_, 42);
  assert_int_equal(kymo_event_get_int(o.event, id(&o, "n"), &signed_), KYMO_OK);
  assert_int_equal(signed_, -7);
  assert_int_equal(kymo_event_get_float(o.event, id(&o, "n"), &number), KYMO_E_TYPE);
  assert_int_equal(kymo_event_get_float(o.event, id(&o, "load"), &number), KYMO_OK);
  assert_true(number == 0.1);
  assert_int_equal(kymo_event_get_string(o.event, id(&o, "blob"), &text, &unsigned_), KYMO_E_TYPE);
  assert_int_equal(kymo_event_get_bytes(o.event, id(&o, "blob"), &bytes, &unsigned_), KYMO_OK);
  assert_int_equal(unsigned_, 3);
  assert_memory_equal(bytes, "\x01\xab\xff", 3);
  assert_int_equal(kymo_event_get_string(o.event, id(&o, "text"), &text, &unsigned_), KYMO_OK);
  assert_int_equal(unsigned_, 5);
  assert_memory_equal(text, "hello", 5);
  assert_int_equal(kymo_event_get_uint(o.event, 1000, &unsigned_), KYMO_E_UNKNOWN);
  close_all(&o);
}

static void what_is_absent_is_told_so(void **state) {
  (void)state;
  struct opened o = open_choice(plain), other = open_choice((struct choice){1, 0, 3, 0});
  uint64_t value;
  const char *text;
  assert_true(kymo_event_has(o.event, id(&o, "maybe")));
  assert_int_equal(kymo_event_get_uint(o.event, id(&o, "maybe"), &value), KYMO_OK);
  assert_int_equal(value, 77);
  assert_false(kymo_event_has(other.event, id(&other, "maybe")));
  assert_int_equal(kymo_event_get_uint(other.event, id(&other, "maybe"), &value), KYMO_E_ABSENT);
  assert_int_equal(kymo_event_get_uint(o.event, id(&o, "choice.x"), &value), KYMO_OK);
  assert_int_equal(value, 88);
  assert_int_equal(kymo_event_get_string(o.event, id(&o, "choice.y"), &text, &value), KYMO_E_ABSENT);
  assert_int_equal(kymo_event_get_string(other.event, id(&other, "choice.y"), &text, &value), KYMO_OK);
  assert_int_equal(kymo_event_get_string(other.event, id(&other, "choice"), &text, &value), KYMO_OK);
  assert_false(kymo_event_has(other.event, id(&other, "choice.x")));
  close_all(&o);
  close_all(&other);
}

static void lists_give_their_elements(void **state) {
  (void)state;
  struct opened o = open_choice(plain);
  struct kymo_value value;
  enum kymo_token token;
  uint64_t count;
  assert_int_equal(kymo_event_get_count(o.event, id(&o, "list"), &count), KYMO_OK);
  assert_int_equal(count, 3);
  assert_int_equal(kymo_event_get_element(o.event, id(&o, "list"), 2, &value, &token), KYMO_OK);
  assert_int_equal(token, KYMO_TOKEN_INTEGER);
  assert_int_equal(value.u, 102);
  assert_int_equal(kymo_event_get_element(o.event, id(&o, "list"), 3, &value, &token), KYMO_E_RANGE);
  assert_int_equal(kymo_event_get_element(o.event, id(&o, "pairs"), 1, &value, &token), KYMO_OK);
  assert_int_equal(token, KYMO_TOKEN_BEGIN);
  assert_int_equal(value.count, 2);
  struct kymo_walk *walk = kymo_walk_new();
  assert_int_equal(kymo_walk_element(walk, o.event, id(&o, "pairs"), 1), KYMO_OK);
  assert_int_equal(kymo_walk_next(walk, &value), KYMO_TOKEN_INTEGER);
  assert_string_equal(value.member->name, "a");
  assert_int_equal(value.u, 2);
  assert_int_equal(kymo_walk_next(walk, &value), KYMO_TOKEN_TEXT);
  assert_string_equal(value.member->name, "b");
  assert_int_equal(kymo_walk_next(walk, &value), KYMO_TOKEN_DONE);
  assert_int_equal(kymo_walk_next(walk, &value), KYMO_TOKEN_DONE);
  assert_int_equal(kymo_walk_element(walk, o.event, id(&o, "pairs"), 2), KYMO_E_RANGE);
  assert_int_equal(kymo_walk_element(walk, o.event, id(&o, "list"), 0), KYMO_E_TYPE);
  assert_int_equal(kymo_walk_element(walk, o.event, id(&o, "group"), 0), KYMO_E_TYPE);
  assert_int_equal(kymo_walk_next(walk, &value), KYMO_TOKEN_DONE);
  kymo_walk_free(walk);
  assert_int_equal(kymo_event_get_count(o.event, id(&o, "group"), &count), KYMO_E_TYPE);
  assert_int_equal(kymo_event_get_value(o.event, id(&o, "group.b"), &value, &token), KYMO_OK);
  assert_int_equal(token, KYMO_TOKEN_TEXT);
  assert_int_equal(value.count, 1);
  close_all(&o);
}

/* ---- text ---- */

static void every_field_has_a_text(void **state) {
  (void)state;
  static const struct {
    const char *path, *text;
  } expected[] = {
      {"state", "busy"},
      {"rights", "write | any | 0x80"},
      {"stamp", "1500000"},
      {"took", "250"},
      {"n", "-7"},
      {"hex", "0xbeef"},
      {"load", "0.1"},
      {"text", "hello"},
      {"blob", "01abff"},
      {"list", "[100, 101, 102]"},
      {"pairs", "[{a = 1, b = one}, {a = 2, b = }]"},
      {"maybe", "77"},
      {"choice", "88"},
      {"group", "{a = 9, b = z}"},
      {"EVENT", "group:all"},
      {"STREAM", "0"},
  };
  struct opened o = open_choice(plain);
  char text[64];
  size_t length;
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
    assert_int_equal(kymo_event_format_field(o.event, id(&o, expected[i].path), text, sizeof text, &length),
                     KYMO_OK);
    assert_string_equal(text, expected[i].text);
    assert_int_equal(length, strlen(text));
  }
  assert_int_equal(kymo_event_format_field(o.event, id(&o, "text"), text, 4, &length), KYMO_E_RANGE);
  assert_string_equal(text, "hel");
  assert_int_equal(length, 5);
  assert_int_equal(kymo_event_format_field(o.event, id(&o, "text"), NULL, 0, &length), KYMO_E_RANGE);
  close_all(&o);
}

/* ---- messages ---- */

/* A class whose template is a format of printf over a number and a text. */
static struct kymo_schema *make_message_schema(const char *template) {
  struct kymo_builder *b = kymo_builder_new();
  struct kymo_stream_class class_ = {0}, *stream;
  const struct kymo_type *text =
      make(b, (struct kymo_type){.kind = KYMO_KIND_STRING, .encoding = KYMO_ENCODING_UTF8});
  assert_int_equal(kymo_builder_stream(b, &class_, &stream, NULL), KYMO_OK);
  struct kymo_event_class event = {.name = "said",
                                   .level = -1,
                                   .template_text = template,
                                   .attributes = "{\"kymo.template\":\"printf\"}",
                                   .payload = make_struct(b, "n", make_uint(b, 16, 8), "who", text, NULL)};
  assert_int_equal(kymo_builder_event(b, stream, &event, NULL, NULL), KYMO_OK);
  return kymo_builder_finish(b, NULL);
}

static struct opened open_message(const char *template) {
  struct opened o = {.bytes = calloc(1, sizeof *o.bytes)};
  put_le(o.bytes, 42, 16);
  for (const char *at = "Ada"; at; at = *at ? at + 1 : NULL)
    put_le(o.bytes, (uint8_t)*at, 8);
  o.trace = open_memory(make_message_schema(template), o.bytes, 1);
  o.event = next_event(o.trace);
  assert_non_null(o.event);
  return o;
}

static void messages_are_rendered(void **state) {
  (void)state;
  struct opened o = open_message("job %04u of %s\n"), unfit = open_message("%f"), none = open_choice(plain);
  char text[64];
  size_t length;
  assert_int_equal(kymo_event_format_message(o.event, text, sizeof text, &length), KYMO_OK);
  assert_string_equal(text, "job 0042 of Ada");
  assert_int_equal(length, 15);
  assert_int_equal(kymo_event_format_message(o.event, text, 5, &length), KYMO_E_RANGE);
  assert_string_equal(text, "job ");
  assert_int_equal(length, 15);
  assert_int_equal(kymo_event_format_message(o.event, NULL, 0, NULL), KYMO_E_RANGE);
  assert_int_equal(kymo_event_format_message(unfit.event, text, sizeof text, NULL), KYMO_E_ABSENT);
  assert_int_equal(kymo_event_format_message(none.event, text, sizeof text, &length), KYMO_E_ABSENT);
  assert_int_equal(length, 0);
  close_all(&o);
  close_all(&unfit);
  close_all(&none);
}

/* ---- information ---- */

static void fields_are_listed_with_what_they_are(void **state) {
  (void)state;
  static const char expected[] =
      "state:0 rights:1 stamp:2 took:2 n:3 hex:3 load:3 text:4 blob:5 length:3 list:6 pairs:6 has:3 "
      "maybe:3? tag:3 choice:8 choice.x:3? choice.y:4? group:7 group.a:3 group.b:4 ";
  struct opened o = open_choice(plain);
  struct kymo_field info;
  const uint32_t *ids;
  size_t count;
  char text[1024] = "";
  uint32_t before = id(&o, "group.a");
  assert_int_equal(kymo_field_list(o.trace, o.event->class_, &ids, &count), KYMO_OK);
  for (size_t i = 0; i < count; i++) {
    assert_int_equal(kymo_field_info(o.trace, o.event->class_, ids[i], &info), KYMO_OK);
    assert_int_equal(kymo_field_id(o.trace, o.event->class_, info.path), ids[i]);
    assert_int_equal(info.scope, KYMO_SCOPE_PAYLOAD);
    snprintf(text + strlen(text), sizeof text - strlen(text), "%s:%d%s ", info.path, (int)info.kind,
             info.is_optional ? "?" : "");
  }
  assert_string_equal(text, expected);
  assert_int_equal(id(&o, "group.a"), before);
  assert_int_equal(kymo_field_info(o.trace, o.event->class_, KYMO_FIELD_EVENT, &info), KYMO_OK);
  assert_int_equal(info.kind, KYMO_DATA_TOKEN);
  assert_int_equal(kymo_field_info(o.trace, o.event->class_, 1000, &info), KYMO_E_UNKNOWN);
  close_all(&o);
}

static void interpretations_are_listed(void **state) {
  (void)state;
  struct opened o = open_choice(plain);
  const struct kymo_mapping *list;
  uint32_t count;
  assert_int_equal(kymo_field_interpretations(o.trace, o.event->class_, id(&o, "rights"), &list, &count),
                   KYMO_OK);
  assert_int_equal(count, 3);
  assert_string_equal(list[2].name, "any");
  assert_int_equal(kymo_field_interpretations(o.trace, o.event->class_, id(&o, "n"), &list, &count),
                   KYMO_E_TYPE);
  assert_int_equal(kymo_trace_class_count(o.trace), 1);
  assert_int_equal(kymo_event_get_class_number(o.event), 0);
  assert_string_equal(kymo_trace_class_name(o.trace, 0), "group:all");
  assert_null(kymo_trace_class_name(o.trace, 1));
  assert_int_equal(kymo_trace_clock_count(o.trace), 1);
  assert_string_equal(kymo_trace_clock(o.trace, 0)->name, "c");
  assert_null(kymo_trace_clock(o.trace, 1));
  close_all(&o);
}

static void raw_bytes_are_those_of_the_event(void **state) {
  (void)state;
  struct opened o = open_choice(plain);
  const uint8_t *bytes;
  uint64_t count;
  assert_int_equal(kymo_event_get_raw(o.event, &bytes, &count), KYMO_OK);
  assert_int_equal(count, o.bytes->bits / 8);
  assert_memory_equal(bytes, o.bytes->bytes, count);
  close_all(&o);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tokens_have_codes_and_interpretations),
      cmocka_unit_test(flags_are_named_one_by_one),
      cmocka_unit_test(times_are_nanoseconds_whatever_they_count),
      cmocka_unit_test(wrong_types_and_ranges_are_refused),
      cmocka_unit_test(what_is_absent_is_told_so),
      cmocka_unit_test(lists_give_their_elements),
      cmocka_unit_test(every_field_has_a_text),
      cmocka_unit_test(messages_are_rendered),
      cmocka_unit_test(fields_are_listed_with_what_they_are),
      cmocka_unit_test(interpretations_are_listed),
      cmocka_unit_test(raw_bytes_are_those_of_the_event),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
