/* SPDX-License-Identifier: MIT */
/*
 * Fragments → schema, in their order: each may refer only to those before it. The preamble comes first; a
 * trace class, if there is one, before the data stream classes, since its packet header is before all
 * they have.
 */
#include "lang/ctf2/compiler.h"
#include "lang/ctf2/ctf2.h"
#include "lang/text/cursor.h"
#include <inttypes.h>
#include <string.h>

#define FIELDS_BASE (UINT64_C(1) << 18)
#define FIELDS_PER_BYTE 64

#define COMMON "type", "attributes", "extensions"
#define IDENTITY "namespace", "name", "uid"

/* ---- preamble ---- */

static bool compile_preamble(struct ctf2_compiler *compiler, const struct ctf2_value *fragment) {
  static const char *const known[] = {COMMON, "version", "uuid", NULL};
  struct ctf2_value version, uuid;
  const char *ignored = NULL;
  uint64_t number = 0;
  if (!kymo_ctf2_only(fragment, known) || !kymo_ctf2_class_attributes(fragment, &ignored) ||
      !kymo_ctf2_need(fragment, "version", &version) || !kymo_ctf2_unsigned(&version, &number))
    return false;
  if (number != 2)
    return kymo_ctf2_expected(&version, "2 (CTF 2)");
  compiler->schema->major = 2;
  compiler->schema->has_uuid = kymo_ctf2_get(fragment, "uuid", &uuid);
  return !compiler->schema->has_uuid || kymo_ctf2_bytes(&uuid, compiler->schema->uuid, 16);
}

/* ---- field class alias ---- */

/* The index of the alias that a fragment defines; another name for an alias is the same one. */
static bool take_alias(struct ctf2_compiler *compiler, const struct ctf2_value *fragment, json_t **index) {
  struct ctf2_value value;
  if (!kymo_ctf2_need(fragment, "field-class", &value))
    return false;
  if (json_is_string(value.json)) {
    *index = json_incref(json_object_get(compiler->alias_names, json_string_value(value.json)));
    return *index || kymo_ctf2_no_alias(&value);
  }
  struct ctf2_alias *alias = &compiler->aliases[compiler->alias_count];
  alias->root = *fragment;
  alias->value = value;
  alias->value.up = &alias->root;
  *index = json_integer(compiler->alias_count++);
  return kymo_ctf2_check_class(&alias->value);
}

static bool compile_alias(struct ctf2_compiler *compiler, const struct ctf2_value *fragment) {
  static const char *const known[] = {COMMON, "name", "field-class", NULL};
  struct ctf2_value name;
  const char *ignored = NULL, *text;
  json_t *index = NULL;
  if (!kymo_ctf2_only(fragment, known) || !kymo_ctf2_class_attributes(fragment, &ignored) ||
      !kymo_ctf2_need(fragment, "name", &name) || !kymo_ctf2_text(&name, &text))
    return false;
  if (json_object_get(compiler->alias_names, text))
    return kymo_ctf2_fail(&name, "a second field class alias \"%.100s\"", text);
  bool ok = take_alias(compiler, fragment, &index);
  if (!ok)
    json_decref(index);
  return ok && (json_object_set_new(compiler->alias_names, text, index) == 0 ||
                kymo_lang_no_memory(compiler->session));
}

/* ---- trace class ---- */

static bool take_environment(struct ctf2_compiler *compiler, const struct ctf2_value *fragment) {
  struct ctf2_value map, value;
  const char *name;
  json_t *json;
  if (!kymo_ctf2_get(fragment, "environment", &map))
    return true;
  if (!kymo_ctf2_object(&map))
    return false;
  json_object_foreach(map.json, name, json) {
    struct kymo_environment entry = {.name = kymo_lang_keep_text(compiler->session, name, strlen(name))};
    kymo_ctf2_get(&map, name, &value);
    if (!entry.name)
      return false;
    uint64_t beyond;
    if (!json_is_integer(json) && (!json_is_string(json) || kymo_ctf2_is_marked(json, &beyond)))
      return kymo_ctf2_expected(&value, "a text or a signed number of 64 bits");
    if (json_is_integer(json) ? !kymo_ctf2_signed(&value, &entry.integer)
                              : !kymo_ctf2_text(&value, &entry.text))
      return false;
    if (kymo_builder_environment(compiler->builder, &entry) < 0)
      return kymo_lang_no_memory(compiler->session);
  }
  return true;
}

static bool compile_trace(struct ctf2_compiler *compiler, const struct ctf2_value *fragment) {
  static const char *const known[] = {COMMON, IDENTITY, "environment", "packet-header-field-class", NULL};
  if (compiler->has_trace_class)
    return kymo_ctf2_fail(fragment, "a second trace class");
  if (compiler->schema->stream_count > 0)
    return kymo_ctf2_fail(fragment, "expected the trace class before data stream classes");
  compiler->has_trace_class = true;
  if (!kymo_ctf2_only(fragment, known) || !kymo_ctf2_trace_attributes(compiler, fragment) ||
      !kymo_ctf2_get_text(fragment, "name", &compiler->schema->trace_name) ||
      !take_environment(compiler, fragment) ||
      !kymo_ctf2_place_scope(compiler, fragment, "packet-header-field-class", KYMO_SCOPE_PACKET_HEADER))
    return false;
  compiler->schema->packet_header = compiler->roots[KYMO_SCOPE_PACKET_HEADER];
  return true;
}

/* ---- clock classes ---- */

static bool take_origin(const struct ctf2_value *fragment, struct kymo_clock *clock) {
  static const char *const known[] = {IDENTITY, NULL};
  struct ctf2_value origin, name, uid;
  if (!kymo_ctf2_get(fragment, "origin", &origin))
    return true;
  clock->origin_is_epoch =
      json_is_string(origin.json) && strcmp(json_string_value(origin.json), "unix-epoch") == 0;
  if (clock->origin_is_epoch)
    return true;
  if (!json_is_object(origin.json))
    return kymo_ctf2_expected(&origin, "\"unix-epoch\" or an object");
  return kymo_ctf2_only(&origin, known) &&
         kymo_ctf2_get_text(&origin, "namespace", &clock->origin_namespace) &&
         kymo_ctf2_need(&origin, "name", &name) && kymo_ctf2_text(&name, &clock->origin_name) &&
         kymo_ctf2_need(&origin, "uid", &uid) && kymo_ctf2_text(&uid, &clock->origin_uid);
}

static bool take_offset(const struct ctf2_value *fragment, struct kymo_clock *clock) {
  static const char *const known[] = {"seconds", "cycles", NULL};
  struct ctf2_value offset, seconds, cycles;
  if (!kymo_ctf2_get(fragment, "offset-from-origin", &offset))
    return true;
  if (!kymo_ctf2_object(&offset) || !kymo_ctf2_only(&offset, known) ||
      (kymo_ctf2_get(&offset, "seconds", &seconds) && !kymo_ctf2_signed(&seconds, &clock->offset_seconds)) ||
      (kymo_ctf2_get(&offset, "cycles", &cycles) && !kymo_ctf2_unsigned(&cycles, &clock->offset_cycles)))
    return false;
  return clock->offset_cycles < clock->frequency || kymo_ctf2_expected(&cycles, "less than the frequency");
}

/* Clocks have a UUID in the model; a uid that is not a UUID stays among the attributes. */
static bool take_uid(const struct ctf2_value *fragment, struct kymo_clock *clock) {
  const char *uid = NULL;
  uint8_t uuid[16];
  if (!kymo_ctf2_get_text(fragment, "uid", &uid))
    return false;
  bool is_lower = uid && !strpbrk(uid, "ABCDEF");
  const char *end = is_lower ? kymo_parse_uuid(uid, uuid) : NULL;
  if (!end || *end)
    return true;
  memcpy(clock->uuid, uuid, sizeof uuid);
  return clock->has_uuid = true;
}

static bool take_frequency(const struct ctf2_value *fragment, struct kymo_clock *clock) {
  struct ctf2_value frequency;
  if (!kymo_ctf2_need(fragment, "frequency", &frequency) ||
      !kymo_ctf2_unsigned(&frequency, &clock->frequency))
    return false;
  return clock->frequency > 0 || kymo_ctf2_expected(&frequency, "a frequency above 0");
}

static bool compile_clock(struct ctf2_compiler *compiler, const struct ctf2_value *fragment) {
  static const char *const known[] = {
      COMMON,      IDENTITY,   "id", "frequency", "description", "origin", "offset-from-origin",
      "precision", "accuracy", NULL};
  struct kymo_clock clock = {0};
  struct ctf2_value id;
  const char *text = NULL;
  uint64_t accuracy;
  if (!kymo_ctf2_only(fragment, known) || !kymo_ctf2_need(fragment, "id", &id) || !kymo_ctf2_text(&id, &text))
    return false;
  if (json_object_get(compiler->clock_ids, text))
    return kymo_ctf2_fail(&id, "a second clock class \"%.100s\"", text);
  clock.id = text;
  if (!kymo_ctf2_get_text(fragment, "name", &clock.name) || !take_uid(fragment, &clock) ||
      !kymo_ctf2_get_text(fragment, "description", &clock.description) || !take_frequency(fragment, &clock) ||
      !take_origin(fragment, &clock) || !take_offset(fragment, &clock) ||
      !kymo_ctf2_get_unsigned(fragment, "precision", &clock.precision) ||
      !kymo_ctf2_get_unsigned(fragment, "accuracy", &accuracy) ||
      !kymo_ctf2_clock_attributes(fragment, clock.has_uuid, &clock.attributes))
    return false;
  json_t *index = json_integer(compiler->schema->clock_count);
  return (kymo_builder_clock(compiler->builder, &clock) &&
          json_object_set_new(compiler->clock_ids, text, index) == 0) ||
         kymo_lang_no_memory(compiler->session);
}

bool kymo_ctf2_find_clock(struct ctf2_compiler *compiler, const struct ctf2_value *id,
                          const struct kymo_clock **clock) {
  const char *text = NULL;
  if (!kymo_ctf2_text(id, &text))
    return false;
  json_t *index = json_object_get(compiler->clock_ids, text);
  if (!index)
    return kymo_ctf2_fail(id, "there is no clock class \"%.100s\" before this place", text);
  *clock = compiler->schema->clocks[json_integer_value(index)];
  return true;
}

/* ---- data stream classes ---- */

static bool compile_stream(struct ctf2_compiler *compiler, const struct ctf2_value *fragment) {
  static const char *const known[] = {COMMON,
                                      IDENTITY,
                                      "id",
                                      "default-clock-class-id",
                                      "packet-context-field-class",
                                      "event-record-header-field-class",
                                      "event-record-common-context-field-class",
                                      NULL};
  struct kymo_stream_class stream = {0}, *made;
  struct ctf2_value id, clock;
  if (!kymo_ctf2_only(fragment, known) ||
      (kymo_ctf2_get(fragment, "id", &id) && !kymo_ctf2_unsigned(&id, &stream.id)) ||
      !kymo_ctf2_get_text(fragment, "name", &stream.name) ||
      !kymo_ctf2_class_attributes(fragment, &stream.attributes) ||
      (kymo_ctf2_get(fragment, "default-clock-class-id", &clock) &&
       !kymo_ctf2_find_clock(compiler, &clock, &stream.clock)))
    return false;
  if (kymo_schema_stream(compiler->schema, stream.id))
    return kymo_ctf2_fail(id.json ? &id : fragment, "a second data stream class with the id %" PRIu64,
                          stream.id);
  compiler->clock = stream.clock;
  if (!kymo_ctf2_place_scope(compiler, fragment, "packet-context-field-class", KYMO_SCOPE_PACKET_CONTEXT) ||
      !kymo_ctf2_place_scope(compiler, fragment, "event-record-header-field-class",
                             KYMO_SCOPE_EVENT_HEADER) ||
      !kymo_ctf2_place_scope(compiler, fragment, "event-record-common-context-field-class",
                             KYMO_SCOPE_COMMON_CONTEXT))
    return false;
  stream.packet_context = compiler->roots[KYMO_SCOPE_PACKET_CONTEXT];
  stream.event_header = compiler->roots[KYMO_SCOPE_EVENT_HEADER];
  stream.common_context = compiler->roots[KYMO_SCOPE_COMMON_CONTEXT];
  return kymo_builder_stream(compiler->builder, &stream, &made, NULL) == KYMO_OK ||
         kymo_lang_no_memory(compiler->session);
}

/* ---- event record classes ---- */

static bool take_stream(struct ctf2_compiler *compiler, const struct ctf2_value *fragment,
                        const struct kymo_stream_class **stream) {
  struct ctf2_value value;
  uint64_t id = 0;
  bool is_said = kymo_ctf2_get(fragment, "data-stream-class-id", &value);
  if (is_said && !kymo_ctf2_unsigned(&value, &id))
    return false;
  *stream = kymo_schema_stream(compiler->schema, id);
  if (!*stream)
    return kymo_ctf2_fail(is_said ? &value : fragment,
                          "there is no data stream class with the id %" PRIu64 " before this place", id);
  compiler->roots[KYMO_SCOPE_PACKET_CONTEXT] = (*stream)->packet_context;
  compiler->roots[KYMO_SCOPE_EVENT_HEADER] = (*stream)->event_header;
  compiler->roots[KYMO_SCOPE_COMMON_CONTEXT] = (*stream)->common_context;
  compiler->clock = (*stream)->clock;
  return true;
}

static bool compile_event(struct ctf2_compiler *compiler, const struct ctf2_value *fragment) {
  static const char *const known[] = {
      COMMON, IDENTITY, "id", "data-stream-class-id", "specific-context-field-class", "payload-field-class",
      NULL};
  struct kymo_event_class event = {.level = -1};
  const struct kymo_stream_class *stream;
  struct ctf2_value id;
  bool has_id = kymo_ctf2_get(fragment, "id", &id);
  if (!kymo_ctf2_only(fragment, known) || (has_id && !kymo_ctf2_unsigned(&id, &event.id)) ||
      !take_stream(compiler, fragment, &stream) || !kymo_ctf2_get_text(fragment, "name", &event.name) ||
      !kymo_ctf2_event_attributes(fragment, &event))
    return false;
  if (kymo_stream_class_event(stream, event.id))
    return kymo_ctf2_fail(has_id ? &id : fragment,
                          "a second event record class with the id %" PRIu64 " in data stream class %" PRIu64,
                          event.id, stream->id);
  if (!kymo_ctf2_place_scope(compiler, fragment, "specific-context-field-class",
                             KYMO_SCOPE_SPECIFIC_CONTEXT) ||
      !kymo_ctf2_place_scope(compiler, fragment, "payload-field-class", KYMO_SCOPE_PAYLOAD))
    return false;
  event.specific_context = compiler->roots[KYMO_SCOPE_SPECIFIC_CONTEXT];
  event.payload = compiler->roots[KYMO_SCOPE_PAYLOAD];
  return kymo_builder_event(compiler->builder, (struct kymo_stream_class *)(uintptr_t)stream, &event, NULL,
                            NULL) == KYMO_OK ||
         kymo_lang_no_memory(compiler->session);
}

/* ---- all ---- */

static bool compile_fragment(struct ctf2_compiler *compiler, const struct ctf2_value *fragment,
                             bool is_first) {
  static const char *const types[] = {"preamble",          "field-class-alias",  "trace-class", "clock-class",
                                      "data-stream-class", "event-record-class", NULL};
  static bool (*const compile[])(struct ctf2_compiler *, const struct ctf2_value *) = {
      compile_preamble, compile_alias, compile_trace, compile_clock, compile_stream, compile_event};
  struct ctf2_value type;
  uint32_t index = 0;
  if (!kymo_ctf2_need(fragment, "type", &type) || !kymo_ctf2_word(&type, types, &index))
    return false;
  if (is_first != (index == 0))
    return kymo_ctf2_fail(&type, is_first ? "expected the preamble first" : "a second preamble");
  return compile[index](compiler, fragment);
}

static bool compile(struct ctf2_compiler *compiler) {
  struct ctf2_session *session = compiler->session;
  compiler->schema = kymo_builder_schema(compiler->builder);
  compiler->fields_left = FIELDS_BASE + FIELDS_PER_BYTE * (uint64_t)session->common.length;
  if (!kymo_ctf2_parse(session))
    return false;
  compiler->aliases = kymo_lang_new(session, session->fragment_count, sizeof *compiler->aliases);
  compiler->alias_names = json_object();
  compiler->clock_ids = json_object();
  if (!compiler->aliases || !compiler->alias_names || !compiler->clock_ids)
    return kymo_lang_no_memory(session);
  for (size_t i = 0; i < session->fragment_count; i++) {
    struct ctf2_value fragment = kymo_ctf2_root(&session->fragments[i]);
    if (!compile_fragment(compiler, &fragment, i == 0))
      return false;
  }
  return session->fragment_count > 0 || kymo_lang_fail(session, 0, "expected the preamble");
}

struct kymo_schema *kymo_ctf2_compile(const char *text, size_t length, const char *file,
                                      struct kymo_error *error) {
  struct ctf2_session session = {.common = {.text = text ? text : "",
                                            .length = length,
                                            .file = file,
                                            .what = "CTF 2 metadata",
                                            .error = error}};
  struct ctf2_compiler compiler = {.session = &session, .builder = kymo_lang_builder(&session)};
  bool ok = compiler.builder && compile(&compiler);
  json_decref(compiler.alias_names);
  json_decref(compiler.clock_ids);
  for (size_t i = 0; i < session.fragment_count; i++)
    json_decref(session.fragments[i].json);
  return kymo_lang_finish(&session, compiler.builder, ok);
}
