/* SPDX-License-Identifier: MIT */
/*
 * The description of what the rings hold, in memory and in the pool: event classes (equal name, level, format
 * and fields = the same class) as metadata text and as registry. Both begin with a part that is the same for
 * all events, and grow piece by piece:
 *
 *   metadata   preamble │ event { } event { } │ event { }
 *   registry   header … preamble's text record │ types, event, types, event, text record │ …
 *
 * The memory is ahead of the files until it is committed, metadata first; the registry's text record at the
 * end of each piece confirms that both are written. A new pool (of a forked child) begins with the committed
 * part. Call all functions with the lock held.
 */
#include "base/hash.h"
#include "base/strbuf.h"
#include "base/table.h"
#include "lang/tsdl/write.h"
#include "record/describe.h"
#include "record/fields.h"
#include "record/session.h"
#include "schema/registry.h"
#include "schema/registry_metadata.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { IDS_MAX = 65536 }; /* limit of the ids in the event header */

/* One of the two forms. */
struct form {
  struct kymo_strbuf text;
  size_t written; /* bytes of it in the pool */
};

static struct {
  struct kymo_builder *builder;
  struct kymo_stream_class *stream;
  struct form metadata, registry;
  struct kymo_registry_writer writer;
  size_t described;         /* bytes of the metadata that the registry has text records for */
  size_t uuid_at, pid_at;   /* offsets in the metadata */
  size_t preamble;          /* length of the metadata's constant part */
  struct kymo_strbuf front; /* the registry's constant part, built again for each pool; its memory is
                             * allocated at the beginning */
  struct kymo_environment *pid;
  uint32_t classes, classes_written;
  struct kymo_hash_table table; /* struct kymo_event_class, by class_hash */
} description;

/* ---- the constant part ---- */

static size_t find(const char *text, const char *what) {
  const char *at = strstr(text, what);
  return at ? (size_t)(at - text) : 0;
}

/* The place of the pid is widened to ten digits, so that a forked child can set its own pid without moving
 * bytes. */
static bool keep_preamble(const struct kymo_strbuf *text) {
  static const char pid[] = "vpid = 0;", uuid[] = "00000000-0000-0000-0000-000000000000";
  struct kymo_strbuf *metadata = &description.metadata.text;
  if (text->failed || !text->text)
    return false;
  size_t at = find(text->text, pid);
  if (!at)
    return false;
  kymo_strbuf_add(metadata, text->text, at);
  kymo_strbuf_puts(metadata, "vpid = ");
  description.pid_at = metadata->length;
  kymo_strbuf_puts(metadata, "         0;");
  kymo_strbuf_puts(metadata, text->text + at + sizeof pid - 1);
  if (metadata->failed)
    return false;
  description.preamble = metadata->length;
  description.uuid_at = find(metadata->text, uuid);
  return description.uuid_at != 0;
}

/* The registry up to the first event class. */
static void begin_registry(struct kymo_registry_writer *writer, struct kymo_strbuf *out) {
  kymo_registry_begin(writer, out, description.builder);
  kymo_registry_append_text(out, description.metadata.text.text, description.preamble);
}

bool kymo_description_start(void) {
  struct kymo_trace_text trace = {&kymo_session_.clock, kymo_session_.host, kymo_session_.program};
  struct kymo_strbuf text = {0};
  description.builder = kymo_trace_describe(&trace, &description.stream);
  if (!description.builder)
    return false;
  const struct kymo_schema *schema = kymo_builder_schema(description.builder);
  /* the builder created it; it is constant for all other code */
  description.pid = (struct kymo_environment *)kymo_schema_environment(schema, "vpid");
  kymo_tsdl_write_preamble(&text, schema);
  bool ok = description.pid && keep_preamble(&text);
  kymo_strbuf_free(&text);
  if (!ok)
    return false;
  begin_registry(&description.writer, &description.registry.text);
  kymo_strbuf_add(&description.front, description.registry.text.text, description.registry.text.length);
  description.described = description.metadata.written = description.preamble;
  description.registry.written = description.registry.text.length;
  return !description.registry.text.failed && !description.front.failed;
}

/* ---- pools ---- */

static void set_uuid_and_pid(const uint8_t uuid[16], int pid) {
  static const char digits[] = "0123456789abcdef";
  memcpy(kymo_builder_schema(description.builder)->uuid, uuid, 16);
  description.pid->integer = pid;
  char *at = description.metadata.text.text + description.uuid_at;
  for (int i = 0; i < 16; i++) {
    if (*at == '-')
      at++;
    *at++ = digits[uuid[i] >> 4];
    *at++ = digits[uuid[i] & 15];
  }
  at = description.metadata.text.text + description.pid_at + 10;
  for (int i = 0; i < 10; i++, pid /= 10)
    *--at = pid || !i ? (char)('0' + pid % 10) : ' ';
}

static struct kymo_pool_file file_of(const char *name, const struct form *form) {
  return (struct kymo_pool_file){name, form->text.text, form->text.length, form->written};
}

void kymo_description_files(const uint8_t uuid[16], int pid, struct kymo_pool_file files[KYMO_POOL_FILES]) {
  struct kymo_registry_writer writer;
  set_uuid_and_pid(uuid, pid);
  description.front.length = 0;
  begin_registry(&writer, &description.front);
  memcpy(description.registry.text.text, description.front.text, description.front.length);
  files[0] = file_of(KYMO_POOL_METADATA, &description.metadata);
  files[1] = file_of(KYMO_HIDDEN_REGISTRY, &description.registry);
}

/* ---- event classes ---- */

static uint32_t class_hash(const char *name, const struct kymo_type *payload) {
  return (uint32_t)kymo_hash64(name, strlen(name), payload->id);
}

/* Call sites with equal identity share one class. */
struct identity {
  const char *name;
  const struct kymo_type *payload;
  int32_t level;
  const char *format; /* or NULL */
};

static bool is_class(const struct kymo_event_class *class_, const struct identity *of) {
  const char *format = class_->template_text;
  return class_->payload == of->payload && class_->level == of->level && !strcmp(class_->name, of->name) &&
         (format && of->format ? !strcmp(format, of->format) : format == of->format);
}

static const struct kymo_event_class *find_class(uint32_t hash, const struct identity *of) {
  const struct kymo_event_class *class_;
  for (uint32_t at = hash;
       (class_ = (const struct kymo_event_class *)kymo_hash_table_next(&description.table, hash, &at));)
    if (is_class(class_, of))
      break;
  return class_;
}

static const struct kymo_event_class *refuse(const struct kymo_point_text *point,
                                             const struct kymo_error *why) {
  char text[512];
  kymo_warn("cannot describe ", point->name, ", which is not recorded", why ? ": " : "",
            why ? kymo_error_text(why, text, sizeof text) : "", NULL);
  return NULL;
}

static const struct kymo_event_class *add_class(const struct kymo_point_text *point,
                                                const struct kymo_type *payload) {
  const struct kymo_event_class *class_ =
      kymo_point_describe(description.builder, description.stream, point, payload, description.classes);
  if (!class_)
    return NULL;
  description.classes++;
  kymo_tsdl_write_event(&description.metadata.text, class_);
  kymo_registry_append_event(&description.writer, class_);
  return class_;
}

const struct kymo_event_class *kymo_description_class(const struct kymo_point_text *point) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  if (point->is_misordered) {
    kymo_warn("not recorded, since a field of KYMO_LATER comes before one with a value: ", point->name, NULL);
    return NULL;
  }
  if (point->wrong) {
    kymo_warn("not recorded, since its format has ", point->wrong, ": ", point->name, NULL);
    return NULL;
  }
  const struct kymo_type *payload = kymo_point_payload(description.builder, point);
  if (!payload || !kymo_hash_table_reserve(&description.table, NULL))
    return refuse(point, NULL);
  uint32_t hash = class_hash(point->name, payload);
  const struct kymo_event_class *class_ =
      find_class(hash, &(struct identity){point->name, payload, point->level, point->format});
  if (class_)
    return class_;
  if (description.classes == IDS_MAX) {
    kymo_warn("more than 65536 kinds of events; not recorded: ", point->name, NULL);
    return NULL;
  }
  if (kymo_builder_check(description.builder, payload, &error))
    return refuse(point, &error);
  class_ = add_class(point, payload);
  if (!class_)
    return refuse(point, NULL);
  kymo_hash_table_put(&description.table, hash, (uintptr_t)class_);
  return class_;
}

static bool append(const char *name, struct form *form) {
  struct kymo_pool_file file = file_of(name, form);
  if (form->text.failed) {
    errno = ENOMEM;
    return false;
  }
  if (!kymo_pool_append(&file))
    return false;
  form->written = form->text.length;
  return true;
}

bool kymo_description_commit(void) {
  struct kymo_strbuf *metadata = &description.metadata.text;
  if (description.classes_written == description.classes)
    return true;
  if (metadata->length > description.described && !metadata->failed)
    kymo_registry_append_text(&description.registry.text, metadata->text + description.described,
                              metadata->length - description.described);
  description.described = metadata->length;
  if (!append(KYMO_POOL_METADATA, &description.metadata) ||
      !append(KYMO_HIDDEN_REGISTRY, &description.registry))
    return false;
  description.classes_written = description.classes;
  return true;
}

bool kymo_description_holds(const struct kymo_event_class *class_) {
  return class_->id < description.classes_written;
}
