/* SPDX-License-Identifier: MIT */
/*
 * The blocks of the registry's text.
 *
 *   registry 1.0;  machine "x86_64" { … }  trace { … }  env { … }  clock 0 { … }
 *   type #0 = …;   packet_header = #2;     stream { … } event "net:rx" { … }
 *
 * Most blocks are lists of "key = value;" that fill a struct: tables of keys say where.
 */
#include "lang/registry/parser.h"
#include "lang/registry/text.h"
#include "lang/registry/words.h"
#include "schema/registry.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- blocks of keys ---- */

/* The value after a key, and the type of C that stores it. */
enum value {
  VALUE_TEXT, /* const char * */
  VALUE_U32,
  VALUE_U64,
  VALUE_I32,
  VALUE_I64,
  VALUE_TYPE,    /* const struct kymo_type *, a struct */
  VALUE_CLOCK,   /* const struct kymo_clock * */
  VALUE_UUID,    /* 16 bytes */
  VALUE_ORDER,   /* enum kymo_byte_order */
  VALUE_VERSION, /* two uint32_t */
  VALUE_TRUE,    /* bool: the key alone says it */
};

struct key {
  const char *name;
  enum value value;
  size_t offset;
  bool is_needed;
};
#define KEYS_MAX 16

static bool parse_u32(struct registry_parser *parser, uint32_t *out) {
  uint64_t number;
  if (!kymo_registry_number(parser, UINT32_MAX, &number))
    return false;
  *out = (uint32_t)number;
  return true;
}

static bool parse_i32(struct registry_parser *parser, int32_t *out) {
  size_t at = parser->token.at;
  uint64_t number;
  if (!kymo_registry_integer(parser, true, &number))
    return false;
  *out = (int32_t)(int64_t)number;
  return (int64_t)number == *out ? true : kymo_lang_fail(parser, at, "expected a number of 32 bits");
}

static bool parse_scope(struct registry_parser *parser, const struct kymo_type **out) {
  const struct registry_token id = parser->token;
  if (!kymo_registry_type_id(parser, out))
    return false;
  if ((*out)->kind == KYMO_KIND_STRUCT)
    return true;
  return kymo_lang_fail(parser, id.at, "expected a struct, but type #%" PRIu64 " is none", id.number);
}

/* "00112233-4455-6677-8899-aabbccddeeff" */
static bool parse_uuid(struct registry_parser *parser, uint8_t *out) {
  size_t at = parser->token.at;
  const char *text;
  if (!kymo_registry_text(parser, &text))
    return false;
  text = kymo_parse_uuid(text, out);
  if (!text)
    return kymo_lang_fail(parser, at, "expected a UUID, as \"00112233-4455-6677-8899-aabbccddeeff\"");
  return *text == '\0' ? true : kymo_lang_fail(parser, at, "a UUID of more than 16 bytes");
}

static bool parse_order(struct registry_parser *parser, enum kymo_byte_order *out) {
  static const char *const words[] = {"little", "big"};
  int order = kymo_registry_one_of(parser, words, 2, "a byte order, little or big");
  *out = order == 1 ? KYMO_ORDER_BIG : KYMO_ORDER_LITTLE;
  return order >= 0;
}

static bool parse_version(struct registry_parser *parser, uint32_t *out) {
  return parse_u32(parser, &out[0]) && kymo_registry_expect(parser, '.', "\".\" in a version") &&
         parse_u32(parser, &out[1]);
}

static bool parse_value(struct registry_parser *parser, enum value value, void *out) {
  switch (value) {
  case VALUE_TEXT: return kymo_registry_text(parser, out);
  case VALUE_U32: return parse_u32(parser, out);
  case VALUE_U64: return kymo_registry_number(parser, UINT64_MAX, out);
  case VALUE_I32: return parse_i32(parser, out);
  case VALUE_I64: return kymo_registry_integer(parser, true, out);
  case VALUE_TYPE: return parse_scope(parser, out);
  case VALUE_CLOCK: return kymo_registry_clock(parser, out);
  case VALUE_UUID: return parse_uuid(parser, out);
  case VALUE_ORDER: return parse_order(parser, out);
  case VALUE_VERSION: return parse_version(parser, out);
  case VALUE_TRUE: break;
  }
  return true;
}

/* key = value; */
static bool parse_key(struct registry_parser *parser, const struct key *keys, size_t count, uint32_t *seen,
                      void *out) {
  const char *names[KEYS_MAX];
  size_t at = parser->token.at;
  for (size_t i = 0; i < count; i++)
    names[i] = keys[i].name;
  int index = kymo_registry_one_of(parser, names, count, "a key or \"}\"");
  if (index < 0)
    return false;
  const struct key *key = &keys[index];
  if (*seen >> index & 1)
    return kymo_lang_fail(parser, at, "a second \"%s\"", key->name);
  *seen |= UINT32_C(1) << index;
  void *place = (char *)out + key->offset;
  if (key->value == VALUE_TRUE)
    *(bool *)place = true;
  else if (!kymo_registry_expect(parser, '=', "\"=\"") || !parse_value(parser, key->value, place))
    return false;
  return kymo_registry_expect(parser, ';', "\";\"");
}

/* { key = value; … } into the struct `out`; bit i of *seen: the i-th key was there. */
static bool parse_block(struct registry_parser *parser, const struct key *keys, size_t count, uint32_t *seen,
                        void *out) {
  size_t end;
  *seen = 0;
  if (!kymo_registry_expect(parser, '{', "\"{\""))
    return false;
  while (end = parser->token.at, !kymo_registry_skip(parser, '}'))
    if (!parse_key(parser, keys, count, seen, out))
      return false;
  for (size_t i = 0; i < count; i++)
    if (keys[i].is_needed && !(*seen >> i & 1))
      return kymo_lang_fail(parser, end, "expected \"%s\" in this block", keys[i].name);
  return true;
}

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* ---- machine, trace, environment, clocks ---- */

/* int = 4 align 4; */
static bool parse_c_type(struct registry_parser *parser, struct kymo_machine *machine) {
  uint64_t size, align;
  int type = kymo_registry_one_of(parser, kymo_registry_c_types, KYMO_C_TYPE_COUNT, "a type of C or \"}\"");
  if (type < 0 || !kymo_registry_expect(parser, '=', "\"=\"") ||
      !kymo_registry_number(parser, UINT8_MAX, &size))
    return false;
  if (!kymo_registry_skip_word(parser, "align"))
    return kymo_registry_expected(parser, "\"align\"");
  if (!kymo_registry_number(parser, UINT8_MAX, &align))
    return false;
  machine->sizes[type] = (uint8_t)size;
  machine->alignments[type] = (uint8_t)align;
  if (type == KYMO_C_CHAR)
    machine->char_is_signed = kymo_registry_skip_word(parser, "signed");
  return kymo_registry_expect(parser, ';', "\";\"");
}

static bool parse_machine(struct registry_parser *parser) {
  struct kymo_machine *machine = kymo_lang_keep(parser, 1, sizeof *machine);
  const char *name;
  size_t at = parser->token.at;
  if (!machine || !kymo_registry_text(parser, &name) || !kymo_registry_expect(parser, '{', "\"{\""))
    return false;
  if (strlen(name) >= sizeof machine->name)
    return kymo_lang_fail(parser, at, "expected a name of at most %zu bytes", sizeof machine->name - 1);
  memcpy(machine->name, name, strlen(name));
  while (!kymo_registry_skip(parser, '}')) {
    bool is_page = kymo_registry_skip_word(parser, "page_size");
    bool is_good = is_page ? kymo_registry_expect(parser, '=', "\"=\"") &&
                                 parse_u32(parser, &machine->page_size) &&
                                 kymo_registry_expect(parser, ';', "\";\"")
                           : parse_c_type(parser, machine);
    if (!is_good)
      return false;
  }
  kymo_builder_schema(parser->builder)->machine = machine;
  return true;
}

static bool parse_trace(struct registry_parser *parser) {
  static const struct key keys[] = {
      {"uuid", VALUE_UUID, offsetof(struct kymo_schema, uuid), false},
      {"name", VALUE_TEXT, offsetof(struct kymo_schema, trace_name), false},
      {"byte_order", VALUE_ORDER, offsetof(struct kymo_schema, order), true},
      {"version", VALUE_VERSION, offsetof(struct kymo_schema, major), false},
      {"attributes", VALUE_TEXT, offsetof(struct kymo_schema, attributes), false},
  };
  struct kymo_schema *schema = kymo_builder_schema(parser->builder);
  uint32_t seen;
  if (!parse_block(parser, keys, COUNT(keys), &seen, schema))
    return false;
  schema->has_uuid = seen & 1;
  return true;
}

static bool parse_environment(struct registry_parser *parser) {
  if (!kymo_registry_expect(parser, '{', "\"{\""))
    return false;
  while (!kymo_registry_skip(parser, '}')) {
    struct kymo_environment entry = {0};
    uint64_t integer = 0;
    if (!kymo_registry_name(parser, &entry.name) || !kymo_registry_expect(parser, '=', "\"=\""))
      return false;
    bool is_text = parser->token.kind == REGISTRY_TOKEN_TEXT;
    if (is_text ? !kymo_registry_text(parser, &entry.text) : !kymo_registry_integer(parser, true, &integer))
      return false;
    entry.integer = (int64_t)integer;
    if (!kymo_registry_expect(parser, ';', "\";\""))
      return false;
    if (kymo_builder_environment(parser->builder, &entry) < 0)
      return kymo_lang_no_memory(parser);
  }
  return true;
}

static bool parse_clock(struct registry_parser *parser) {
  static const struct key keys[] = {
      {"uuid", VALUE_UUID, offsetof(struct kymo_clock, uuid), false},
      {"name", VALUE_TEXT, offsetof(struct kymo_clock, name), false},
      {"description", VALUE_TEXT, offsetof(struct kymo_clock, description), false},
      {"frequency", VALUE_U64, offsetof(struct kymo_clock, frequency), true},
      {"offset_seconds", VALUE_I64, offsetof(struct kymo_clock, offset_seconds), false},
      {"offset_cycles", VALUE_U64, offsetof(struct kymo_clock, offset_cycles), false},
      {"precision", VALUE_U64, offsetof(struct kymo_clock, precision), false},
      {"origin_is_epoch", VALUE_TRUE, offsetof(struct kymo_clock, origin_is_epoch), false},
      {"origin_namespace", VALUE_TEXT, offsetof(struct kymo_clock, origin_namespace), false},
      {"origin_name", VALUE_TEXT, offsetof(struct kymo_clock, origin_name), false},
      {"origin_uid", VALUE_TEXT, offsetof(struct kymo_clock, origin_uid), false},
      {"attributes", VALUE_TEXT, offsetof(struct kymo_clock, attributes), false},
  };
  struct kymo_clock clock = {0};
  const struct kymo_schema *schema = kymo_builder_schema(parser->builder);
  size_t at = parser->token.at;
  uint64_t number;
  uint32_t seen;
  if (!kymo_registry_number(parser, UINT32_MAX, &number))
    return false;
  if (number != schema->clock_count)
    return kymo_lang_fail(parser, at, "expected %" PRIu32 ", the next clock, found %" PRIu64,
                          schema->clock_count, number);
  if (!parse_block(parser, keys, COUNT(keys), &seen, &clock))
    return false;
  if (clock.frequency == 0)
    return kymo_lang_fail(parser, at, "a clock with a frequency of 0");
  clock.has_uuid = seen & 1;
  return kymo_builder_clock(parser->builder, &clock) ? true : kymo_lang_no_memory(parser);
}

/* ---- classes ---- */

/* Where the references of a class lead, or if both are NULL those of the packet header. */
static bool check(struct registry_parser *parser, size_t at, const struct kymo_stream_class *stream,
                  const struct kymo_event_class *event) {
  struct kymo_error why;
  if (kymo_schema_check(parser->builder, stream, event, &parser->fields, &why) == 0)
    return true;
  return kymo_lang_fail(parser, at, "%s", why.message);
}

static bool parse_packet_header(struct registry_parser *parser) {
  if (!kymo_registry_expect(parser, '=', "\"=\""))
    return false;
  size_t at = parser->token.at;
  return parse_scope(parser, &kymo_builder_schema(parser->builder)->packet_header) &&
         kymo_registry_expect(parser, ';', "\";\"") && check(parser, at, NULL, NULL);
}

static bool parse_stream(struct registry_parser *parser) {
  static const struct key keys[] = {
      {"id", VALUE_U64, offsetof(struct kymo_stream_class, id), true},
      {"name", VALUE_TEXT, offsetof(struct kymo_stream_class, name), false},
      {"clock", VALUE_CLOCK, offsetof(struct kymo_stream_class, clock), false},
      {"packet_context", VALUE_TYPE, offsetof(struct kymo_stream_class, packet_context), false},
      {"event_header", VALUE_TYPE, offsetof(struct kymo_stream_class, event_header), false},
      {"common_context", VALUE_TYPE, offsetof(struct kymo_stream_class, common_context), false},
      {"attributes", VALUE_TEXT, offsetof(struct kymo_stream_class, attributes), false},
  };
  struct kymo_stream_class stream = {0}, *made;
  size_t at = parser->token.at;
  uint32_t seen;
  struct kymo_error why;
  if (!parse_block(parser, keys, COUNT(keys), &seen, &stream))
    return false;
  if (kymo_builder_stream(parser->builder, &stream, &made, &why) < 0)
    return kymo_lang_fail(parser, at, "%s", why.message);
  struct kymo_stream_class **place = kymo_registry_add(parser, &parser->streams, sizeof *place);
  if (place)
    *place = made;
  return place && check(parser, at, made, NULL);
}

struct event {
  struct kymo_event_class class_;
  uint64_t stream;
};

static bool parse_event(struct registry_parser *parser) {
  static const struct key keys[] = {
      {"stream", VALUE_U64, offsetof(struct event, stream), true},
      {"id", VALUE_U64, offsetof(struct event, class_.id), true},
      {"group", VALUE_TEXT, offsetof(struct event, class_.group), false},
      {"level", VALUE_I32, offsetof(struct event, class_.level), false},
      {"description", VALUE_TEXT, offsetof(struct event, class_.description), false},
      {"source_file", VALUE_TEXT, offsetof(struct event, class_.source_file), false},
      {"source_line", VALUE_U32, offsetof(struct event, class_.source_line), false},
      {"template", VALUE_TEXT, offsetof(struct event, class_.template_text), false},
      {"uri", VALUE_TEXT, offsetof(struct event, class_.uri), false},
      {"attributes", VALUE_TEXT, offsetof(struct event, class_.attributes), false},
      {"specific_context", VALUE_TYPE, offsetof(struct event, class_.specific_context), false},
      {"payload", VALUE_TYPE, offsetof(struct event, class_.payload), false},
  };
  struct event event = {.class_.level = -1};
  struct kymo_event_class *made;
  size_t at = parser->token.at;
  uint32_t seen;
  struct kymo_error why;
  if (!kymo_registry_text(parser, &event.class_.name) ||
      !parse_block(parser, keys, COUNT(keys), &seen, &event))
    return false;
  const struct kymo_stream_class *stream =
      kymo_schema_stream(kymo_builder_schema(parser->builder), event.stream);
  if (!stream)
    return kymo_lang_fail(parser, at, "there is no stream %" PRIu64 " before this", event.stream);
  struct kymo_stream_class *owner = ((struct kymo_stream_class **)parser->streams.items)[stream->index];
  if (kymo_builder_event(parser->builder, owner, &event.class_, &made, &why) < 0)
    return kymo_lang_fail(parser, at, "%s", why.message);
  return check(parser, at, stream, made);
}

/* ---- the whole ---- */

enum { MACHINE, TRACE, ENVIRONMENT, CLOCK, TYPE, PACKET_HEADER, STREAM, EVENT, BLOCKS };
static const char *const block_words[BLOCKS] = {"machine", "trace",         "env",    "clock",
                                                "type",    "packet_header", "stream", "event"};
static bool (*const block_parsers[BLOCKS])(struct registry_parser *) = {
    parse_machine,       parse_trace,  parse_environment, parse_clock, kymo_registry_parse_type,
    parse_packet_header, parse_stream, parse_event,
};
static const bool is_single[BLOCKS] = {
    [MACHINE] = true,
    [TRACE] = true,
    [ENVIRONMENT] = true,
    [PACKET_HEADER] = true,
};

/* registry 1.0; */
static bool parse_head(struct registry_parser *parser) {
  uint32_t version[2];
  if (!kymo_registry_skip_word(parser, "registry"))
    return kymo_registry_expected(parser, "\"registry\" and its version");
  size_t at = parser->token.at;
  if (!parse_version(parser, version))
    return false;
  if (version[0] != KYMO_REGISTRY_MAJOR || version[1] != KYMO_REGISTRY_MINOR)
    return kymo_lang_fail(parser, at, "expected version %d.%d, found %" PRIu32 ".%" PRIu32,
                          KYMO_REGISTRY_MAJOR, KYMO_REGISTRY_MINOR, version[0], version[1]);
  return kymo_registry_expect(parser, ';', "\";\"");
}

static bool parse_all(struct registry_parser *parser) {
  uint32_t seen = 0;
  if (!kymo_registry_advance(parser) || !parse_head(parser))
    return false;
  while (parser->token.kind != REGISTRY_TOKEN_END) {
    size_t at = parser->token.at;
    int block = kymo_registry_one_of(parser, block_words, BLOCKS, "a block");
    if (block < 0)
      return false;
    if (block > TRACE && !(seen >> TRACE & 1))
      return kymo_lang_fail(parser, at, "expected the block \"trace\" before this");
    if (is_single[block] && (seen >> block & 1))
      return kymo_lang_fail(parser, at, "a second \"%s\"", block_words[block]);
    seen |= UINT32_C(1) << block;
    if (!block_parsers[block](parser))
      return false;
  }
  if (!parser->common.failed && !(seen >> TRACE & 1))
    return kymo_registry_expected(parser, "the block \"trace\"");
  return !parser->common.failed;
}

struct kymo_schema *kymo_registry_compile(const char *text, size_t length, const char *file,
                                          struct kymo_error *error) {
  struct registry_parser parser = {
      .common = {.text = text, .length = length, .file = file, .what = "a registry", .error = error},
      .cursor = {text, length, 0}};
  parser.builder = kymo_lang_builder(&parser);
  bool ok = parser.builder && parse_all(&parser);
  free(parser.types.items);
  free(parser.members.items);
  free(parser.mappings.items);
  free(parser.ranges.items);
  free(parser.streams.items);
  return kymo_lang_finish(&parser, parser.builder, ok);
}
