/* SPDX-License-Identifier: MIT */
/*
 * Tracepoints and their event classes. A DSO's call sites are registered when it is loaded; a call site that
 * is to be on gets an event class (equal name and equal fields = the same class), the class is written to the
 * pool's metadata, and only then the call site's enable word is set: no event is ever older than its
 * description. Descriptions are copies, so they outlive dlclose.
 */
#include "base/hash.h"
#include "base/strbuf.h"
#include "record/describe.h"
#include "record/pattern.h"
#include "record/session.h"
#include "schema/tsdl.h"
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { IDS_MAX = 65536 }; /* what the event header has room for */

struct dso {
  struct dso *next;
  const int32_t *begin, *end;
};

static struct {
  int32_t owner; /* pid of the process that holds the lock */
  struct dso *dsos;
  struct kymo_builder *builder;
  struct kymo_stream_class *stream;
  struct kymo_strbuf metadata;
  size_t uuid_at, pid_at; /* places in the metadata */
  uint32_t classes, capacity;
  struct class_slot {
    uint64_t hash;
    uint32_t id;
    struct kymo_strbuf key;
  } * table; /* open addressing */
} registry;

/* ---- lock ---- */

bool kymo_try_lock(void) {
  int32_t self = getpid(), seen = 0;
  if (__atomic_compare_exchange_n(&registry.owner, &seen, self, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
    return true;
  /* the holder was a thread of our parent, which we do not have */
  return seen != self &&
         __atomic_compare_exchange_n(&registry.owner, &seen, self, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

void kymo_lock(void) {
  while (!kymo_try_lock())
    sched_yield();
}

void kymo_unlock(void) {
  __atomic_store_n(&registry.owner, 0, __ATOMIC_RELEASE);
}

/* ---- metadata ---- */

static size_t find(const char *text, const char *what) {
  const char *at = strstr(text, what);
  return at ? (size_t)(at - text) : 0;
}

/* The pid's place is widened to ten digits, so that a forked child can set its own without moving anything.
 */
static bool keep_preamble(struct kymo_strbuf *text) {
  static const char pid[] = "vpid = 0;", uuid[] = "00000000-0000-0000-0000-000000000000";
  if (text->failed || !text->text)
    return false;
  size_t at = find(text->text, pid);
  if (!at)
    return false;
  kymo_strbuf_add(&registry.metadata, text->text, at);
  kymo_strbuf_puts(&registry.metadata, "vpid = ");
  registry.pid_at = registry.metadata.length;
  kymo_strbuf_puts(&registry.metadata, "         0;");
  kymo_strbuf_puts(&registry.metadata, text->text + at + sizeof pid - 1);
  if (registry.metadata.failed)
    return false;
  registry.uuid_at = find(registry.metadata.text, uuid);
  return registry.uuid_at != 0;
}

bool kymo_registry_start(void) {
  struct kymo_trace_text trace = {&kymo_session_.clock, kymo_session_.host, kymo_session_.program};
  struct kymo_stream_class *stream;
  struct kymo_builder *builder = kymo_trace_describe(&trace, &stream);
  struct kymo_schema *schema = builder ? kymo_builder_finish(builder, NULL) : NULL;
  struct kymo_strbuf text = {0};
  if (schema)
    kymo_tsdl_write_preamble(&text, schema);
  bool ok = schema && keep_preamble(&text);
  kymo_strbuf_free(&text);
  kymo_schema_release(schema);
  registry.builder = ok ? kymo_trace_describe(&trace, &registry.stream) : NULL; /* the one that grows */
  return registry.builder;
}

const char *kymo_registry_metadata(const uint8_t uuid[16], int pid, size_t *length) {
  static const char digits[] = "0123456789abcdef";
  char *at = registry.metadata.text + registry.uuid_at;
  for (int i = 0; i < 16; i++) {
    if (*at == '-')
      at++;
    *at++ = digits[uuid[i] >> 4];
    *at++ = digits[uuid[i] & 15];
  }
  at = registry.metadata.text + registry.pid_at + 10;
  for (int i = 0; i < 10; i++, pid /= 10)
    *--at = pid || !i ? (char)('0' + pid % 10) : ' ';
  *length = registry.metadata.length;
  return registry.metadata.text;
}

/* ---- classes ---- */

static void class_key(struct kymo_strbuf *key, const struct kymo_point_text *point) {
  kymo_strbuf_puts(key, point->name);
  for (uint32_t i = 0; i < point->count; i++)
    kymo_strbuf_printf(key, "|%s %llx", point->field[i], (unsigned long long)point->code[i]);
}

static bool grow_table(void) {
  uint32_t capacity = registry.capacity ? registry.capacity * 2 : 256;
  struct class_slot *table = calloc(capacity, sizeof *table);
  if (!table)
    return false;
  for (uint32_t i = 0; i < registry.capacity; i++) {
    if (!registry.table[i].key.text)
      continue;
    uint32_t at = (uint32_t)registry.table[i].hash & (capacity - 1);
    while (table[at].key.text)
      at = (at + 1) & (capacity - 1);
    table[at] = registry.table[i];
  }
  free(registry.table);
  registry.table = table;
  registry.capacity = capacity;
  return true;
}

/* Describes a new class in the metadata, in memory and in the pool. */
static bool add_class(const struct kymo_point_text *point, uint32_t id) {
  const struct kymo_event_class *event = kymo_point_describe(registry.builder, registry.stream, point, id);
  if (!event)
    return false;
  size_t before = registry.metadata.length;
  kymo_tsdl_write_event(&registry.metadata, event);
  if (!registry.metadata.failed &&
      kymo_pool_append(registry.metadata.text + before, registry.metadata.length - before))
    return true;
  registry.metadata.length = before;
  if (registry.metadata.text)
    registry.metadata.text[before] = 0;
  return false;
}

/* The class of a tracepoint, made if it is new. -1: it cannot be recorded. */
static int64_t class_of(const struct kymo_point_text *point) {
  struct kymo_strbuf key = {0};
  class_key(&key, point);
  if (key.failed || (registry.classes * 2 >= registry.capacity && !grow_table()))
    goto fail;
  uint64_t hash = kymo_hash64(key.text, key.length, 0);
  uint32_t at = (uint32_t)hash & (registry.capacity - 1);
  for (; registry.table[at].key.text; at = (at + 1) & (registry.capacity - 1)) {
    if (registry.table[at].hash != hash || strcmp(registry.table[at].key.text, key.text))
      continue;
    kymo_strbuf_free(&key);
    return registry.table[at].id;
  }
  if (registry.classes == IDS_MAX) {
    kymo_warn("more than 65536 kinds of events; not recorded: ", point->name, NULL);
    goto fail;
  }
  if (!add_class(point, registry.classes)) {
    kymo_warn("cannot describe ", point->name, ", which is not recorded", NULL);
    goto fail;
  }
  registry.table[at] = (struct class_slot){hash, registry.classes, key};
  return registry.classes++;
fail:
  kymo_strbuf_free(&key);
  return -1;
}

/* ---- call sites ---- */

static void switch_site(const int32_t *entry, const struct kymo_patterns *patterns) {
  struct kymo_tracepoint *point = (struct kymo_tracepoint *)((uintptr_t)entry + (intptr_t)entry[0]);
  const char *text = (const char *)((uintptr_t)&entry[1] + (intptr_t)entry[1]);
  const uint64_t *codes = (const uint64_t *)(point + 1) + 1;
  struct kymo_point_text parsed;
  size_t written = strlen(text) + 1;
  if (!kymo_point_parse(&parsed, point, codes, text, written + strlen(text + written) + 1))
    return;
  bool on = kymo_patterns_match(patterns, parsed.name);
  if (on && kymo_pool_make(false)) {
    int64_t id = class_of(&parsed);
    on = id >= 0;
    if (on)
      point->id = (uint32_t)id;
  } else
    on = false;
  /* release: id and description come first; partner: the test in KYMO_POINT_ */
  __atomic_store_n(&point->enabled, on, __ATOMIC_RELEASE);
}

static struct kymo_patterns *compile_patterns(void) {
  const char *wrong = "";
  if (!kymo_session_.options.enable)
    return NULL;
  struct kymo_patterns *patterns = kymo_patterns_new(kymo_session_.options.enable, &wrong);
  if (!patterns)
    kymo_warn("cannot enable tracepoints: ", wrong, NULL);
  return patterns;
}

static void apply(const struct dso *dso) {
  struct kymo_patterns *patterns = compile_patterns();
  for (; patterns && dso; dso = dso->next)
    for (const int32_t *entry = dso->begin; entry < dso->end; entry += 2)
      switch_site(entry, patterns);
  kymo_patterns_free(patterns);
}

void kymo_registry_apply(void) {
  kymo_lock();
  apply(registry.dsos);
  kymo_unlock();
}

void kymo_register_(const int32_t *begin, const int32_t *end) {
  kymo_session_init();
  kymo_lock();
  struct dso *dso = registry.dsos;
  while (dso && dso->begin != begin)
    dso = dso->next; /* each of its source files comes here */
  if (!dso && (dso = calloc(1, sizeof *dso))) {
    *dso = (struct dso){NULL, begin, end};
    apply(dso);
    dso->next = registry.dsos;
    registry.dsos = dso;
  }
  kymo_unlock();
}

void kymo_unregister_(const int32_t *begin) {
  kymo_lock();
  struct dso **at = &registry.dsos;
  while (*at && (*at)->begin != begin)
    at = &(*at)->next;
  struct dso *dso = *at;
  if (dso)
    *at = dso->next;
  free(dso);
  kymo_unlock();
}
