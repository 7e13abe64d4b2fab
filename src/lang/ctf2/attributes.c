/* SPDX-License-Identifier: MIT */
/*
 * Attributes: an object of namespaces. Ours, "kymo", is what src/lang/ctf2/write.h lists; all others are kept
 * as JSON text. Properties of CTF 2 that the model lacks (namespace and uid of classes, accuracy of clocks,
 * and an explicit precision of 0) join the users' attributes as namespace "kymo.identity".
 */
#include "base/strbuf.h"
#include "lang/ctf2/compiler.h"
#include "schema/attribute.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OWN "kymo"
#define IDENTITY KYMO_ATTRIBUTE_IDENTITY

bool kymo_ctf2_attributes_of(const struct ctf2_value *value, struct ctf2_value *attributes,
                             struct ctf2_value *own, bool *has_own) {
  struct ctf2_value extensions;
  const char *name;
  json_t *extension;
  *has_own = false;
  if (kymo_ctf2_get(value, "extensions", &extensions)) {
    if (!kymo_ctf2_object(&extensions))
      return false;
    json_object_foreach(extensions.json, name, extension) return kymo_ctf2_fail(
        &extensions, "the extension \"%.100s\" is not known", name);
  }
  if (!kymo_ctf2_get(value, "attributes", attributes))
    return true;
  if (!kymo_ctf2_object(attributes))
    return false;
  *has_own = kymo_ctf2_get(attributes, OWN, own);
  return !*has_own || kymo_ctf2_object(own);
}

/* ---- as text ---- */

static bool dump(struct kymo_strbuf *out, const json_t *json, unsigned depth);

static bool dump_scalar(struct kymo_strbuf *out, const json_t *json) {
  uint64_t number;
  if (kymo_ctf2_is_marked(json, &number)) {
    kymo_strbuf_printf(out, "%" PRIu64, number);
    return true;
  }
  char *text = json_dumps(json, JSON_ENCODE_ANY | JSON_COMPACT);
  if (text)
    kymo_strbuf_puts(out, text);
  else
    out->failed = true;
  free(text);
  return true;
}

static bool dump_member(struct kymo_strbuf *out, const char *key, const json_t *json, unsigned depth) {
  json_t *text = json_string(key);
  kymo_strbuf_puts(out, out->length > 0 && out->text[out->length - 1] != '{' ? "," : "");
  out->failed |= !text || !dump_scalar(out, text);
  json_decref(text);
  kymo_strbuf_puts(out, ":");
  return dump(out, json, depth + 1);
}

/* Compact, in the order of the source. False: nested too deeply. */
static bool dump(struct kymo_strbuf *out, const json_t *json, unsigned depth) {
  const char *key;
  json_t *part;
  size_t index;
  bool ok = depth <= CTF2_DEPTH_MAX;
  if (!json_is_object(json) && !json_is_array(json))
    return dump_scalar(out, json);
  kymo_strbuf_puts(out, json_is_object(json) ? "{" : "[");
  if (json_is_object(json)) {
    json_object_foreach((json_t *)(uintptr_t)json, key, part) ok = ok && dump_member(out, key, part, depth);
  } else {
    json_array_foreach(json, index, part) {
      kymo_strbuf_puts(out, index > 0 ? "," : "");
      ok = ok && dump(out, part, depth + 1);
    }
  }
  kymo_strbuf_puts(out, json_is_object(json) ? "}" : "]");
  return ok;
}

/* Dumps the properties of a class that the model lacks. */
static void dump_identity(struct kymo_strbuf *out, const struct ctf2_value *object, bool with_uid) {
  static const char *const properties[] = {"namespace", "uid", "accuracy", "precision"};
  bool any = false;
  for (size_t i = 0; i < sizeof properties / sizeof properties[0]; i++) {
    struct ctf2_value value;
    if (!kymo_ctf2_get(object, properties[i], &value) || (i == 1 && !with_uid) ||
        (i == 3 && json_integer_value(value.json) != 0))
      continue;
    kymo_strbuf_puts(out, any ? "" : "\"" IDENTITY "\":{");
    dump_member(out, properties[i], value.json, 0);
    any = true;
  }
  kymo_strbuf_puts(out, any ? "}" : "");
}

static bool keep_text(struct ctf2_session *session, struct kymo_strbuf *text, const char **out) {
  *out = text->failed ? NULL : kymo_lang_keep_text(session, text->text, text->length);
  kymo_strbuf_free(text);
  return *out || kymo_lang_no_memory(session);
}

/* What of all is to be kept. */
struct wanted {
  const struct ctf2_value *object; /* its identity, too; or NULL */
  bool with_uid;
  const char *without; /* a namespace that is understood completely, or NULL */
};

static bool check_identity(const struct ctf2_value *object) {
  const char *ignored;
  return kymo_ctf2_get_text(object, "namespace", &ignored) && kymo_ctf2_get_text(object, "uid", &ignored);
}

/* All namespaces but ours. */
static bool users_text(const struct ctf2_value *attributes, const struct wanted *wanted, const char **out) {
  struct kymo_strbuf text = {0};
  const char *key;
  json_t *part;
  bool ok = true;
  if (wanted->object && !check_identity(wanted->object))
    return false;
  kymo_strbuf_puts(&text, "{");
  if (wanted->object)
    dump_identity(&text, wanted->object, wanted->with_uid);
  bool has_identity = text.length > 1;
  if (attributes->json) {
    json_object_foreach(
        attributes->json, key,
        part) if (strcmp(key, OWN) != 0 && (!wanted->without || strcmp(key, wanted->without) != 0) &&
                  (!has_identity || strcmp(key, IDENTITY) != 0)) ok = ok && dump_member(&text, key, part, 1);
  }
  bool any = text.length > 1;
  kymo_strbuf_puts(&text, "}");
  if (ok && any)
    return keep_text(attributes->fragment->session, &text, out);
  kymo_strbuf_free(&text);
  return ok || kymo_ctf2_fail(attributes, "nested deeper than %d", CTF2_DEPTH_MAX);
}

bool kymo_ctf2_users_attributes(const struct ctf2_value *attributes, const char **out) {
  return users_text(attributes, &(struct wanted){0}, out);
}

static bool class_attributes(const struct ctf2_value *value, bool with_uid, const char **out) {
  static const char *const none[] = {NULL};
  struct ctf2_value attributes = {.fragment = value->fragment}, own;
  bool has_own;
  return kymo_ctf2_attributes_of(value, &attributes, &own, &has_own) &&
         (!has_own || kymo_ctf2_only(&own, none)) &&
         users_text(&attributes, &(struct wanted){.object = value, .with_uid = with_uid}, out);
}

bool kymo_ctf2_class_attributes(const struct ctf2_value *value, const char **out) {
  return class_attributes(value, true, out);
}

bool kymo_ctf2_clock_attributes(const struct ctf2_value *value, bool has_uuid, const char **out) {
  return class_attributes(value, !has_uuid, out);
}

/* ---- of field classes ---- */

static bool get_flag(const struct ctf2_value *own, const char *key, bool *out) {
  struct ctf2_value value;
  return !kymo_ctf2_get(own, key, &value) || kymo_ctf2_bool(&value, out);
}

/* The clock by its id; "" is none. */
static bool get_clock(struct ctf2_compiler *compiler, const struct ctf2_value *own, struct kymo_type *type,
                      struct ctf2_hints *hints) {
  struct ctf2_value value;
  const char *id;
  if (!kymo_ctf2_get(own, "clock", &value))
    return true;
  if (!kymo_ctf2_text(&value, &id))
    return false;
  hints->has_clock = true;
  compiler->is_bound = true;
  return !id[0] || kymo_ctf2_find_clock(compiler, &value, &type->clock);
}

static bool get_own_encoding(const struct ctf2_value *own, struct kymo_type *type, struct ctf2_hints *hints) {
  static const char *const words[] = {"none",     "ascii",    "utf-8",    "utf-16le",
                                      "utf-16be", "utf-32le", "utf-32be", NULL};
  struct ctf2_value value;
  uint32_t encoding = type->encoding;
  hints->has_encoding = kymo_ctf2_get(own, "encoding", &value);
  bool ok = !hints->has_encoding || kymo_ctf2_word(&value, words, &encoding);
  type->encoding = (enum kymo_encoding)encoding;
  return ok;
}

static bool get_base(const struct ctf2_value *own, struct kymo_type *type) {
  uint64_t base = type->base;
  if (!kymo_ctf2_get_unsigned(own, "base", &base))
    return false;
  type->base = base <= 16 ? (uint8_t)base : 255; /* 255 is refused with all others */
  return true;
}

static bool get_align(const struct ctf2_value *own, struct kymo_type *type) {
  struct ctf2_value value;
  return !kymo_ctf2_get(own, "alignment", &value) || kymo_ctf2_alignment(&value, &type->align_bits);
}

bool kymo_ctf2_own_attributes(struct ctf2_compiler *compiler, const struct ctf2_value *own,
                              struct kymo_type *type, struct ctf2_hints *hints) {
  static const char *const known[] = {"name",  "unit",        "encoding",  "address", "signed",
                                      "base",  "enumeration", "order",     "clock",   "options",
                                      "truth", "wrapper",     "alignment", NULL};
  struct ctf2_value said;
  hints->has_options = kymo_ctf2_get(own, "options", &hints->options);
  hints->has_order = kymo_ctf2_get(own, "order", &hints->order);
  hints->has_enumeration = kymo_ctf2_get(own, "enumeration", &said);
  return kymo_ctf2_only(own, known) && kymo_ctf2_get_text(own, "name", &type->name) &&
         kymo_ctf2_get_text(own, "unit", &type->unit) && get_own_encoding(own, type, hints) &&
         get_flag(own, "address", &type->is_address) && get_flag(own, "signed", &type->is_signed) &&
         get_base(own, type) && get_flag(own, "enumeration", &type->is_enumeration) &&
         (!hints->has_order || kymo_ctf2_array(&hints->order)) && get_clock(compiler, own, type, hints) &&
         (!hints->has_options || kymo_ctf2_array(&hints->options)) &&
         get_flag(own, "truth", &hints->is_truth) && get_flag(own, "wrapper", &hints->is_wrapper) &&
         get_align(own, type);
}

/* ---- of event record classes ---- */

#define BABELTRACE "babeltrace.org,2020"
#define LTTNG "lttng.org,2009"

static const char *const levels[] = {
    "emergency",      "alert",         "critical",     "error",
    "warning",        "notice",        "info",         "debug:system",
    "debug:program",  "debug:process", "debug:module", "debug:unit",
    "debug:function", "debug:line",    "debug",        NULL,
};

/* Level and URI as babeltrace reads them; it ignores values that it does not know. True if there is nothing
 * else. */
static bool take_known(const struct ctf2_value *attributes, const char *space, struct kymo_event_class *event,
                       bool *is_known_only) {
  struct ctf2_value object, value;
  *is_known_only = false;
  if (!attributes->json || !kymo_ctf2_get(attributes, space, &object) || !json_is_object(object.json))
    return true;
  size_t known = 0;
  if (event->level < 0 && kymo_ctf2_get(&object, "log-level", &value) && json_is_string(value.json)) {
    for (int32_t i = 0; levels[i]; i++)
      if (strcmp(levels[i], json_string_value(value.json)) == 0)
        event->level = i;
    known += event->level >= 0;
  }
  if (!event->uri && kymo_ctf2_get(&object, "emf-uri", &value) && json_is_string(value.json)) {
    if (!kymo_ctf2_text(&value, &event->uri))
      return false;
    known++;
  }
  *is_known_only = known > 0 && known == json_object_size(object.json);
  return true;
}

static bool take_own_event(const struct ctf2_value *own, struct kymo_event_class *event) {
  static const char *const known[] = {"group",    "description", "source-file", "source-line",
                                      "template", "log-level",   "emf-uri",     NULL};
  uint64_t line = 0;
  int64_t level = -1;
  struct ctf2_value value;
  if (!kymo_ctf2_only(own, known) || !kymo_ctf2_get_text(own, "group", &event->group) ||
      !kymo_ctf2_get_text(own, "description", &event->description) ||
      !kymo_ctf2_get_text(own, "source-file", &event->source_file) ||
      !kymo_ctf2_get_unsigned(own, "source-line", &line) ||
      !kymo_ctf2_get_text(own, "template", &event->template_text) ||
      !kymo_ctf2_get_text(own, "emf-uri", &event->uri))
    return false;
  if (kymo_ctf2_get(own, "log-level", &value) && !kymo_ctf2_signed(&value, &level))
    return false;
  event->source_line = line <= UINT32_MAX ? (uint32_t)line : UINT32_MAX;
  event->level = level >= 0 && level <= INT32_MAX ? (int32_t)level : -1;
  return true;
}

bool kymo_ctf2_event_attributes(const struct ctf2_value *value, struct kymo_event_class *event) {
  struct ctf2_value attributes = {.fragment = value->fragment}, own;
  bool has_own, is_ours, is_lttngs;
  if (!kymo_ctf2_attributes_of(value, &attributes, &own, &has_own) ||
      (has_own && !take_own_event(&own, event)) || !take_known(&attributes, BABELTRACE, event, &is_ours) ||
      !take_known(&attributes, LTTNG, event, &is_lttngs))
    return false;
  const struct wanted wanted = {.object = value, .with_uid = true, .without = is_ours ? BABELTRACE : NULL};
  return users_text(&attributes, &wanted, &event->attributes);
}

/* ---- of the trace class ---- */

static bool get_bytes(const struct ctf2_value *object, const char *key, uint8_t *out, size_t count) {
  struct ctf2_value list;
  return kymo_ctf2_need(object, key, &list) && kymo_ctf2_bytes(&list, out, count);
}

static bool get_machine(struct ctf2_compiler *compiler, const struct ctf2_value *own) {
  struct ctf2_value object;
  const char *name = "";
  uint64_t page_size = 0;
  if (!kymo_ctf2_get(own, "machine", &object))
    return true;
  struct kymo_machine *machine = kymo_lang_keep(compiler->session, 1, sizeof *machine);
  if (!machine || !kymo_ctf2_object(&object) || !kymo_ctf2_get_text(&object, "name", &name) ||
      !kymo_ctf2_get_unsigned(&object, "page-size", &page_size) ||
      !get_flag(&object, "char-is-signed", &machine->char_is_signed) ||
      !get_bytes(&object, "sizes", machine->sizes, KYMO_C_TYPE_COUNT) ||
      !get_bytes(&object, "alignments", machine->alignments, KYMO_C_TYPE_COUNT))
    return false;
  snprintf(machine->name, sizeof machine->name, "%s", name);
  machine->page_size = page_size <= UINT32_MAX ? (uint32_t)page_size : 0;
  compiler->schema->machine = machine;
  return true;
}

bool kymo_ctf2_trace_attributes(struct ctf2_compiler *compiler, const struct ctf2_value *value) {
  static const char *const known[] = {"byte-order", "machine", NULL}, *const orders[] = {"little-endian",
                                                                                         "big-endian", NULL};
  struct ctf2_value attributes = {.fragment = value->fragment}, own, order;
  bool has_own;
  uint32_t index = 0;
  if (!kymo_ctf2_attributes_of(value, &attributes, &own, &has_own) ||
      !users_text(&attributes, &(struct wanted){.object = value, .with_uid = true},
                  &compiler->schema->attributes))
    return false;
  if (!has_own)
    return true;
  if (!kymo_ctf2_only(&own, known) || !get_machine(compiler, &own))
    return false;
  if (!kymo_ctf2_get(&own, "byte-order", &order))
    return true;
  compiler->has_order = kymo_ctf2_word(&order, orders, &index);
  compiler->schema->order = index ? KYMO_ORDER_BIG : KYMO_ORDER_LITTLE;
  return compiler->has_order;
}
