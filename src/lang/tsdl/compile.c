/* SPDX-License-Identifier: MIT */
/*
 * Blocks → schema: the trace first, since its byte order is that of types before it, then what
 * others refer to (env, clocks), then stream classes, then event classes.
 */
#include "base/fail.h"
#include "lang/tsdl/attributes.h"
#include "lang/tsdl/compiler.h"
#include "lang/tsdl/tsdl.h"
#include <inttypes.h>
#include <string.h>

#define FIELDS_BASE (UINT64_C(1) << 18)
#define FIELDS_PER_BYTE 64

/* A scope described by an attribute, and where. */
struct described {
  struct tsdl_type *type;
  uint32_t at;
};

static bool take_scope(struct tsdl_compiler *compiler, const struct tsdl_attribute *attribute,
                       struct described *described) {
  described->at = attribute->value.at;
  return kymo_tsdl_value_type(compiler->session, attribute, &described->type);
}

/* Places a scope if it is described; *root NULL if not. */
static bool place_scope(struct tsdl_compiler *compiler, enum kymo_scope scope,
                        const struct described *described, const struct kymo_type **root) {
  compiler->roots[scope] = *root = NULL;
  if (!described->type)
    return true;
  if (described->type->kind != TSDL_KIND_STRUCT)
    return kymo_lang_fail(compiler->session, described->at, "expected a struct");
  *root = kymo_tsdl_place_scope(compiler, scope, described->type);
  return *root != NULL;
}

/* ---- trace ---- */

static bool missing(struct tsdl_compiler *compiler, const struct tsdl_block *block, const char *name) {
  return kymo_lang_fail(compiler->session, block->at, "this block has no \"%s\"", name);
}

static bool take_version(struct tsdl_compiler *compiler, const struct tsdl_attribute *attribute,
                         uint64_t wanted, uint32_t *out) {
  uint64_t value = 0;
  if (!kymo_tsdl_value_unsigned(compiler->session, attribute, &value))
    return false;
  if (value != wanted)
    return kymo_lang_fail(compiler->session, attribute->value.at,
                          "expected %s %" PRIu64 " (CTF 1.8), found %" PRIu64, attribute->name->text, wanted,
                          value);
  *out = (uint32_t)value;
  return true;
}

static bool take_trace_order(struct tsdl_compiler *compiler, const struct tsdl_attribute *attribute,
                             bool *has_order) {
  enum tsdl_order order = TSDL_ORDER_NATIVE;
  if (!kymo_tsdl_value_order(compiler->session, attribute, &order))
    return false;
  if (order == TSDL_ORDER_NATIVE)
    return kymo_lang_fail(compiler->session, attribute->value.at,
                          "expected network, be or le: this says what native is");
  compiler->schema->order = order == TSDL_ORDER_BIG ? KYMO_ORDER_BIG : KYMO_ORDER_LITTLE;
  *has_order = true;
  return true;
}

static bool compile_trace(struct tsdl_compiler *compiler, const struct tsdl_block *block,
                          struct described *header) {
  struct kymo_schema *schema = compiler->schema;
  bool has_order = false;
  for (const struct tsdl_attribute *attribute = block->attributes; attribute; attribute = attribute->next) {
    bool ok = true;
    if (kymo_tsdl_is_attribute(attribute, "major"))
      ok = take_version(compiler, attribute, 1, &schema->major);
    else if (kymo_tsdl_is_attribute(attribute, "minor"))
      ok = take_version(compiler, attribute, 8, &schema->minor);
    else if (kymo_tsdl_is_attribute(attribute, "uuid"))
      ok = schema->has_uuid = kymo_tsdl_value_uuid(compiler->session, attribute, schema->uuid);
    else if (kymo_tsdl_is_attribute(attribute, "byte_order"))
      ok = take_trace_order(compiler, attribute, &has_order);
    else if (kymo_tsdl_is_attribute(attribute, "packet.header"))
      ok = take_scope(compiler, attribute, header);
    if (!ok)
      return false;
  }
  if (schema->major == 0)
    return missing(compiler, block, "major");
  if (schema->minor == 0)
    return missing(compiler, block, "minor");
  return has_order || missing(compiler, block, "byte_order");
}

/* ---- env ---- */

static bool compile_environment(struct tsdl_compiler *compiler, const struct tsdl_block *block) {
  for (const struct tsdl_attribute *attribute = block->attributes; attribute; attribute = attribute->next) {
    struct kymo_environment entry = {.name = attribute->name->text};
    bool again = false, ok = attribute->value.kind == TSDL_VALUE_INTEGER
                                 ? kymo_tsdl_value_signed(compiler->session, attribute, &entry.integer)
                                 : kymo_tsdl_value_text(compiler->session, attribute, &entry.text);
    if (!ok)
      return false;
    struct tsdl_decl *decl = kymo_tsdl_declare(compiler->session, TSDL_SPACE_ENV, attribute->name, &again);
    if (!decl)
      return false;
    decl->member = compiler->schema->environment_count;
    if (kymo_builder_environment(compiler->builder, &entry) < 0)
      return kymo_lang_no_memory(compiler->session);
  }
  return true;
}

/* ---- clock ---- */

static bool take_clock_attribute(struct tsdl_compiler *compiler, const struct tsdl_attribute *attribute,
                                 struct kymo_clock *clock, struct tsdl_word **name) {
  static const char *const known[] = {"name",      "uuid",   "description", "freq",
                                      "precision", "offset", "offset_s",    "absolute"};
  struct tsdl_session *session = compiler->session;
  if (kymo_tsdl_is_attribute(attribute, "name"))
    return kymo_tsdl_value_name(session, attribute, name);
  if (kymo_tsdl_is_attribute(attribute, "uuid"))
    return clock->has_uuid = kymo_tsdl_value_uuid(session, attribute, clock->uuid);
  if (kymo_tsdl_is_attribute(attribute, "description"))
    return kymo_tsdl_value_text(session, attribute, &clock->description);
  if (kymo_tsdl_is_attribute(attribute, "freq"))
    return kymo_tsdl_value_unsigned(session, attribute, &clock->frequency);
  if (kymo_tsdl_is_attribute(attribute, "precision"))
    return kymo_tsdl_value_unsigned(session, attribute, &clock->precision);
  if (kymo_tsdl_is_attribute(attribute, "offset"))
    return kymo_tsdl_value_unsigned(session, attribute, &clock->offset_cycles);
  if (kymo_tsdl_is_attribute(attribute, "offset_s"))
    return kymo_tsdl_value_signed(session, attribute, &clock->offset_seconds);
  if (kymo_tsdl_is_attribute(attribute, "absolute"))
    return kymo_tsdl_value_boolean(session, attribute, &clock->origin_is_epoch);
  return kymo_lang_fail(session, attribute->at, "a clock has no attribute \"%.60s\"%s", attribute->name->text,
                        kymo_hint_among(attribute->name->text, known, sizeof known / sizeof known[0]).text);
}

/* LTTng calls its clock not absolute though its offset is that of the epoch. */
static bool is_lttng_clock(const struct tsdl_compiler *compiler, const struct kymo_clock *clock) {
  const struct kymo_environment *tracer = kymo_schema_environment(compiler->schema, "tracer_name");
  return strcmp(clock->name, "monotonic") == 0 && tracer && tracer->text &&
         strncmp(tracer->text, "lttng", 5) == 0;
}

static bool compile_clock(struct tsdl_compiler *compiler, const struct tsdl_block *block) {
  struct kymo_clock clock = {.frequency = 1000000000};
  struct tsdl_word *name = NULL;
  bool again = false;
  for (const struct tsdl_attribute *attribute = block->attributes; attribute; attribute = attribute->next) {
    if (!take_clock_attribute(compiler, attribute, &clock, &name))
      return false;
    if (clock.frequency == 0)
      return kymo_lang_fail(compiler->session, attribute->value.at, "expected a frequency above 0");
  }
  if (!name)
    return missing(compiler, block, "name");
  struct tsdl_decl *decl = kymo_tsdl_declare(compiler->session, TSDL_SPACE_CLOCK, name, &again);
  if (!decl)
    return again ? kymo_lang_fail(compiler->session, block->at, "a second clock named \"%.100s\"", name->text)
                 : false;
  decl->member = compiler->schema->clock_count;
  clock.name = name->text;
  clock.origin_is_epoch |= is_lttng_clock(compiler, &clock);
  return kymo_builder_clock(compiler->builder, &clock) || kymo_lang_no_memory(compiler->session);
}

/* ---- stream ---- */

static bool add_stream(struct tsdl_compiler *compiler, const struct kymo_stream_class *stream, uint32_t at) {
  struct kymo_stream_class *made;
  if (kymo_schema_stream(compiler->schema, stream->id))
    return kymo_lang_fail(compiler->session, at, "a second stream with the id %" PRIu64, stream->id);
  return kymo_builder_stream(compiler->builder, stream, &made, NULL) == KYMO_OK ||
         kymo_lang_no_memory(compiler->session);
}

static bool compile_stream(struct tsdl_compiler *compiler, const struct tsdl_block *block) {
  struct kymo_stream_class stream = {0};
  struct described context = {0}, header = {0}, common = {0};
  uint32_t at = block->at;
  for (const struct tsdl_attribute *attribute = block->attributes; attribute; attribute = attribute->next) {
    bool ok = true;
    if (kymo_tsdl_is_attribute(attribute, "id")) {
      at = attribute->value.at;
      ok = kymo_tsdl_value_unsigned(compiler->session, attribute, &stream.id);
    } else if (kymo_tsdl_is_attribute(attribute, "packet.context")) {
      ok = take_scope(compiler, attribute, &context);
    } else if (kymo_tsdl_is_attribute(attribute, "event.header")) {
      ok = take_scope(compiler, attribute, &header);
    } else if (kymo_tsdl_is_attribute(attribute, "event.context")) {
      ok = take_scope(compiler, attribute, &common);
    }
    if (!ok)
      return false;
  }
  compiler->clock = NULL;
  if (!place_scope(compiler, KYMO_SCOPE_PACKET_CONTEXT, &context, &stream.packet_context) ||
      !place_scope(compiler, KYMO_SCOPE_EVENT_HEADER, &header, &stream.event_header) ||
      !place_scope(compiler, KYMO_SCOPE_COMMON_CONTEXT, &common, &stream.common_context))
    return false;
  stream.clock = compiler->clock;
  return add_stream(compiler, &stream, at);
}

/* ---- event ---- */

/* The attributes of one event. */
struct event_block {
  struct kymo_event_class event;
  struct described context, payload;
  struct tsdl_word *name;
  bool has_stream;
  uint64_t stream;
  uint32_t id_at, stream_at;
};

static bool take_level(struct tsdl_compiler *compiler, const struct tsdl_attribute *attribute, int32_t *out) {
  int64_t level = -1;
  if (!kymo_tsdl_value_signed(compiler->session, attribute, &level))
    return false;
  *out = level >= 0 && level <= INT32_MAX ? (int32_t)level : -1;
  return true;
}

static bool take_uri(struct tsdl_session *session, const struct tsdl_attribute *attribute, const char **out) {
  struct tsdl_word *word;
  if (!kymo_tsdl_value_name(session, attribute, &word))
    return false;
  *out = word->text;
  return true;
}

static bool take_event_attribute(struct tsdl_compiler *compiler, const struct tsdl_attribute *attribute,
                                 struct event_block *event) {
  struct tsdl_session *session = compiler->session;
  if (kymo_tsdl_is_attribute(attribute, "name"))
    return kymo_tsdl_value_name(session, attribute, &event->name);
  if (kymo_tsdl_is_attribute(attribute, "id")) {
    event->id_at = attribute->value.at;
    return kymo_tsdl_value_unsigned(session, attribute, &event->event.id);
  }
  if (kymo_tsdl_is_attribute(attribute, "stream_id")) {
    event->has_stream = true;
    event->stream_at = attribute->value.at;
    return kymo_tsdl_value_unsigned(session, attribute, &event->stream);
  }
  if (kymo_tsdl_is_attribute(attribute, "loglevel"))
    return take_level(compiler, attribute, &event->event.level);
  if (kymo_tsdl_is_attribute(attribute, "model.emf.uri"))
    return take_uri(session, attribute, &event->event.uri);
  if (kymo_tsdl_is_attribute(attribute, "context"))
    return take_scope(compiler, attribute, &event->context);
  return !kymo_tsdl_is_attribute(attribute, "fields") || take_scope(compiler, attribute, &event->payload);
}

/* The stream of an event; a trace without streams has one with nothing in it. */
static const struct kymo_stream_class *stream_of(struct tsdl_compiler *compiler,
                                                 const struct event_block *event) {
  const struct kymo_schema *schema = compiler->schema;
  if (schema->stream_count == 0 && event->stream == 0 &&
      !add_stream(compiler, &(struct kymo_stream_class){0}, 0))
    return NULL;
  if (schema->stream_count == 1 && !event->has_stream)
    return schema->streams[0];
  const struct kymo_stream_class *stream = kymo_schema_stream(schema, event->stream);
  if (!stream)
    kymo_lang_fail(compiler->session, event->stream_at, "there is no stream with the id %" PRIu64 "%s",
                   event->stream, event->has_stream ? "" : ", and this event says no stream_id");
  return stream;
}

static bool compile_event(struct tsdl_compiler *compiler, const struct tsdl_block *block) {
  struct event_block event = {.event = {.level = -1}, .id_at = block->at, .stream_at = block->at};
  for (const struct tsdl_attribute *attribute = block->attributes; attribute; attribute = attribute->next)
    if (!take_event_attribute(compiler, attribute, &event))
      return false;
  if (!event.name)
    return missing(compiler, block, "name");
  event.event.name = event.name->text;
  const struct kymo_stream_class *stream = stream_of(compiler, &event);
  if (!stream)
    return false;
  if (kymo_stream_class_event(stream, event.event.id))
    return kymo_lang_fail(compiler->session, event.id_at,
                          "a second event with the id %" PRIu64 " in stream %" PRIu64, event.event.id,
                          stream->id);
  compiler->roots[KYMO_SCOPE_PACKET_CONTEXT] = stream->packet_context;
  compiler->roots[KYMO_SCOPE_EVENT_HEADER] = stream->event_header;
  compiler->roots[KYMO_SCOPE_COMMON_CONTEXT] = stream->common_context;
  if (!place_scope(compiler, KYMO_SCOPE_SPECIFIC_CONTEXT, &event.context, &event.event.specific_context) ||
      !place_scope(compiler, KYMO_SCOPE_PAYLOAD, &event.payload, &event.event.payload))
    return false;
  struct kymo_stream_class *owner = (struct kymo_stream_class *)(uintptr_t)stream;
  return kymo_builder_event(compiler->builder, owner, &event.event, NULL, NULL) == KYMO_OK ||
         kymo_lang_no_memory(compiler->session);
}

/* ---- all blocks ---- */

/* The only block of a kind, or NULL; *ok false after reporting a second one. */
static const struct tsdl_block *only_block(struct tsdl_compiler *compiler, const struct tsdl_block *blocks,
                                           enum tsdl_keyword kind, bool *ok) {
  const struct tsdl_block *found = NULL;
  *ok = true;
  for (; blocks; blocks = blocks->next) {
    if (blocks->kind != kind)
      continue;
    if (found)
      *ok = kymo_lang_fail(compiler->session, blocks->at, "a second %s block",
                           kind == TSDL_TRACE ? "trace" : "env");
    found = found ? found : blocks;
  }
  return found;
}

static bool compile_all_of(struct tsdl_compiler *compiler, const struct tsdl_block *blocks,
                           enum tsdl_keyword kind,
                           bool (*compile)(struct tsdl_compiler *, const struct tsdl_block *)) {
  for (; blocks; blocks = blocks->next)
    if (blocks->kind == kind && !compile(compiler, blocks))
      return false;
  return true;
}

static bool compile_blocks(struct tsdl_compiler *compiler, const struct tsdl_block *blocks) {
  bool ok;
  struct described header = {0};
  const struct tsdl_block *trace = only_block(compiler, blocks, TSDL_TRACE, &ok);
  if (!trace)
    return kymo_lang_fail(compiler->session, 0, "there is no trace block");
  only_block(compiler, blocks, TSDL_ENV, &ok);
  return !compiler->session->common.failed && compile_trace(compiler, trace, &header) &&
         compile_all_of(compiler, blocks, TSDL_ENV, compile_environment) &&
         compile_all_of(compiler, blocks, TSDL_CLOCK, compile_clock) &&
         place_scope(compiler, KYMO_SCOPE_PACKET_HEADER, &header, &compiler->schema->packet_header) &&
         compile_all_of(compiler, blocks, TSDL_STREAM, compile_stream) &&
         compile_all_of(compiler, blocks, TSDL_EVENT, compile_event);
}

/* An unresolved length is a mistake, even if nothing uses it. */
static bool check_waiting(struct tsdl_session *session) {
  for (const struct tsdl_type *type = session->waiting; type; type = type->next_waiting)
    if (type->is_waiting)
      return kymo_lang_fail(session, type->path.at,
                            "there is no field \"%.100s\" here, and nothing uses this type",
                            type->path.words[0]->text);
  return true;
}

static bool compile(struct tsdl_compiler *compiler) {
  struct tsdl_session *session = compiler->session;
  struct tsdl_block *blocks;
  compiler->schema = kymo_builder_schema(compiler->builder);
  compiler->fields_left = FIELDS_BASE + FIELDS_PER_BYTE * (uint64_t)session->common.length;
  if (!kymo_tsdl_parse(session, &blocks))
    return false;
  kymo_tsdl_enter(session);
  return compile_blocks(compiler, blocks) && check_waiting(session);
}

struct kymo_schema *kymo_tsdl_compile(const char *text, size_t length, const char *file,
                                      struct kymo_error *error) {
  if (length > INT32_MAX) {
    kymo_fail_at(error, KYMO_E_LIMIT, file, KYMO_ERROR_NO_OFFSET, "TSDL of more than 2 GiB");
    return NULL;
  }
  struct tsdl_session session = {
      .common = {.text = text ? text : "", .length = length, .file = file, .what = "TSDL", .error = error}};
  struct tsdl_compiler compiler = {.session = &session, .builder = kymo_lang_builder(&session)};
  bool ok = compiler.builder && compile(&compiler);
  return kymo_lang_finish(&session, compiler.builder, ok);
}
