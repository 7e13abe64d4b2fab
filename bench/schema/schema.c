/* SPDX-License-Identifier: MIT */
/*
 * The cost of a large schema: making it, opening its descriptions, merging, and lookups. A program of 10,000
 * event classes in 100 groups, each of five fields. Prints "what TAB number" lines: seconds of CPU time (the
 * least of the given rounds) for work on the whole, nanoseconds for one lookup, beside those of a plain hash
 * table over the same names in the same order. bench/schema/run makes ratios of them.
 */
#include "base/hash.h"
#include "lang/tsdl/tsdl.h"
#include "lang/tsdl/write.h"
#include "schema/parts.h"
#include <kymo/schema.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EVENTS = 10000, FEW = 1000, GROUPS = 100, FIELDS = 5, LOOKS = 2000000 };

static int rounds = 7;

static void die(const char *what, const struct kymo_error *error) {
  fprintf(stderr, "bench/schema: %s: %s\n", what, error ? error->message : "");
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* ---- a schema like that of a large program ---- */

static const struct kymo_type *field_type(struct kymo_builder *b, unsigned event, unsigned field) {
  static const uint32_t bits[] = {8, 16, 32, 64};
  static const char *const names[] = {"unsigned char", "unsigned short", "unsigned int", "unsigned long"};
  unsigned which = (event + field * 7) % 6;
  if (which == 5)
    return kymo_builder_type(b,
                             &(struct kymo_type){.kind = KYMO_KIND_STRING, .encoding = KYMO_ENCODING_UTF8});
  if (which == 4) /* a type of this event's own */
    return kymo_builder_type(b, &(struct kymo_type){.kind = KYMO_KIND_TEXT_ARRAY,
                                                    .length = 1 + event % 64,
                                                    .encoding = KYMO_ENCODING_UTF8});
  return kymo_builder_type(
      b, &(struct kymo_type){
             .kind = KYMO_KIND_INTEGER, .size_bits = bits[which], .align_bits = 8, .name = names[which]});
}

static char *text(struct kymo_builder *b, const char *format, unsigned x, unsigned y) {
  char buffer[80];
  snprintf(buffer, sizeof buffer, format, x, y);
  return kymo_builder_text(b, buffer);
}

static const struct kymo_type *payload(struct kymo_builder *b, unsigned event) {
  struct kymo_member *members = kymo_builder_alloc(b, FIELDS * sizeof *members);
  for (unsigned i = 0; i < FIELDS; i++) {
    members[i].name = members[i].source_name = text(b, "field_%u_%u", event % 50, i);
    members[i].type = field_type(b, event, i);
  }
  return kymo_builder_type(b, &(struct kymo_type){.kind = KYMO_KIND_STRUCT,
                                                  .member_count = FIELDS,
                                                  .members = members,
                                                  .name = text(b, "struct call_%u", event, 0)});
}

/* `version` makes each tenth event class another one. */
static struct kymo_schema *make(unsigned events, unsigned version) {
  struct kymo_builder *b = kymo_builder_new();
  struct kymo_error error;
  struct kymo_member *id = kymo_builder_alloc(b, sizeof *id);
  *id = (struct kymo_member){"id",
                             "id",
                             kymo_builder_type(b, &(struct kymo_type){.kind = KYMO_KIND_INTEGER,
                                                                      .size_bits = 16,
                                                                      .align_bits = 8,
                                                                      .roles = KYMO_ROLE_EVENT_CLASS_ID}),
                             NULL,
                             0,
                             NULL};
  struct kymo_stream_class *stream;
  const struct kymo_type *header =
      kymo_builder_type(b, &(struct kymo_type){.kind = KYMO_KIND_STRUCT, .member_count = 1, .members = id});
  kymo_builder_stream(b, &(struct kymo_stream_class){.event_header = header}, &stream, &error);
  for (unsigned i = 0; i < events; i++) {
    struct kymo_event_class event = {
        .id = i, .name = text(b, "group_%u:event_%u", i % GROUPS, i), .level = 6};
    event.payload = payload(b, i % 10 == 0 ? i + version : i);
    if (kymo_builder_event(b, stream, &event, NULL, &error) < 0)
      die("event", &error);
  }
  struct kymo_schema *schema = kymo_builder_finish(b, &error);
  if (!schema)
    die("finish", &error);
  return schema;
}

/* ---- whole schemas ---- */

struct descriptions {
  struct kymo_strbuf tsdl;
  uint8_t *registry;
  size_t registry_size;
};

static struct kymo_schema *from_tsdl(const struct descriptions *d) {
  struct kymo_error error;
  struct kymo_schema *schema = kymo_tsdl_compile(d->tsdl.text, d->tsdl.length, "bench", &error);
  if (!schema)
    die("TSDL", &error);
  return schema;
}

static struct kymo_schema *from_registry(const struct descriptions *d) {
  struct kymo_error error;
  struct kymo_schema *schema;
  if (kymo_registry_read(&schema, d->registry, d->registry_size, "bench", &error) < 0)
    die("registry", &error);
  return schema;
}

static void least(double *best, double begin) {
  double time = now() - begin;
  if (*best == 0 || time < *best)
    *best = time;
}

static void measure_opening(unsigned events) {
  double made = 0, tsdl = 0, registry = 0;
  struct descriptions d = {0};
  for (int round = 0; round < rounds; round++) {
    double begin = now();
    struct kymo_schema *schema = make(events, 0);
    least(&made, begin);
    if (round == 0) {
      kymo_tsdl_write(&d.tsdl, schema);
      if (d.tsdl.failed || kymo_registry_write(schema, &d.registry, &d.registry_size, NULL) < 0)
        die("writing", NULL);
    }
    kymo_schema_release(schema);
    begin = now();
    schema = from_tsdl(&d);
    least(&tsdl, begin);
    kymo_schema_release(schema);
    begin = now();
    schema = from_registry(&d);
    least(&registry, begin);
    kymo_schema_release(schema);
  }
  printf("make %u\t%.9f\ntsdl %u\t%.9f\nregistry %u\t%.9f\n", events, made, events, tsdl, events, registry);
  printf("tsdl bytes %u\t%zu\nregistry bytes %u\t%zu\n", events, d.tsdl.length, events, d.registry_size);
  kymo_strbuf_free(&d.tsdl);
  free(d.registry);
}

static void measure_merging(unsigned events) {
  struct kymo_schema *a = make(events, 0), *b = make(events, 1), *all;
  struct kymo_error error;
  double merged = 0;
  for (int round = 0; round < rounds; round++) {
    double begin = now();
    if (kymo_schema_merge(&all, (const struct kymo_schema *const[]){a, b}, 2, &error) < 0)
      die("merge", &error);
    least(&merged, begin);
    if (all->streams[0]->event_count != events + events / 10)
      die("merge gives another number of event classes", NULL);
    kymo_schema_release(all);
  }
  printf("merge %u\t%.9f\n", events, merged);
  kymo_schema_release(a);
  kymo_schema_release(b);
}

/* ---- the floor: a plain hash table of names ---- */

struct plain {
  struct {
    const char *name;
    const void *value;
  } slots[4 * EVENTS];
};
enum { PLAIN_SIZE = 1 << 15 };

static uint32_t plain_hash(const char *name) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (; *name; name++)
    hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
  return (uint32_t)(hash ^ hash >> 32) & (PLAIN_SIZE - 1);
}

static void plain_add(struct plain *table, const char *name, const void *value) {
  uint32_t at = plain_hash(name);
  while (table->slots[at].name)
    at = (at + 1) & (PLAIN_SIZE - 1);
  table->slots[at].name = name;
  table->slots[at].value = value;
}

static const void *plain_find(const struct plain *table, const char *name) {
  uint32_t at = plain_hash(name);
  while (table->slots[at].name && strcmp(table->slots[at].name, name) != 0)
    at = (at + 1) & (PLAIN_SIZE - 1);
  return table->slots[at].value;
}

/* ---- looking things up ---- */

/* The names to look up, in random order; names are copies, as a caller's are. */
struct looks {
  const struct kymo_schema *schema;
  struct plain *events, *types;
  char (*event_names)[40], (*type_names)[40], (*group_names)[40], (*member_names)[40];
  const struct kymo_type **structs;
  uint32_t *ids;
};

static const void *look_event(const struct looks *l, uint32_t i) {
  return kymo_schema_lookup_event(l->schema, l->event_names[i]);
}
static const void *look_type(const struct looks *l, uint32_t i) {
  return kymo_schema_lookup_type(l->schema, l->type_names[i]);
}
static const void *look_group(const struct looks *l, uint32_t i) {
  return kymo_schema_lookup_group(l->schema, l->group_names[i]);
}
static const void *look_member(const struct looks *l, uint32_t i) {
  return kymo_type_member(l->structs[i], l->member_names[i]);
}
static const void *look_id(const struct looks *l, uint32_t i) {
  return kymo_stream_class_event(l->schema->streams[0], l->ids[i]);
}
static const void *floor_event(const struct looks *l, uint32_t i) {
  return plain_find(l->events, l->event_names[i]);
}
static const void *floor_type(const struct looks *l, uint32_t i) {
  return plain_find(l->types, l->type_names[i]);
}

static void measure_look(const struct looks *l, const char *what,
                         const void *(*look)(const struct looks *, uint32_t)) {
  double best = 0;
  for (int round = 0; round < rounds; round++) {
    uintptr_t sum = 0;
    double begin = now();
    for (uint32_t i = 0; i < LOOKS; i++) {
      const void *found = look(l, i % EVENTS);
      sum += (uintptr_t)found;
      if (!found)
        die(what, NULL);
    }
    least(&best, begin);
    if (sum == 1) /* keeps the looks from being left out */
      putchar('\n');
  }
  printf("%s\t%.3f\n", what, best / LOOKS * 1e9);
}

static void *items(size_t size) {
  void *memory = calloc(EVENTS, size);
  if (!memory)
    die("memory", NULL);
  return memory;
}

static void measure_looking(void) {
  struct kymo_schema *schema = make(EVENTS, 0);
  struct looks l = {.schema = schema,
                    .events = calloc(1, sizeof *l.events),
                    .types = calloc(1, sizeof *l.types),
                    .event_names = items(40),
                    .type_names = items(40),
                    .group_names = items(40),
                    .member_names = items(40),
                    .structs = items(sizeof *l.structs),
                    .ids = items(sizeof *l.ids)};
  if (!l.events || !l.types)
    die("memory", NULL);
  for (uint32_t i = 0; i < EVENTS; i++) {
    uint32_t at = (uint32_t)((uint64_t)i * 7919 % EVENTS); /* prime to EVENTS: each once, far apart */
    const struct kymo_event_class *event = schema->streams[0]->events[at];
    plain_add(l.events, event->name, event);
    plain_add(l.types, event->payload->name, event->payload);
    snprintf(l.event_names[i], 40, "%s", event->name);
    snprintf(l.type_names[i], 40, "%s", event->payload->name);
    snprintf(l.group_names[i], 40, "%s", event->group);
    snprintf(l.member_names[i], 40, "%s", event->payload->members[i % FIELDS].name);
    l.structs[i] = event->payload;
    l.ids[i] = at;
  }
  measure_look(&l, "floor event", floor_event);
  measure_look(&l, "look event", look_event);
  measure_look(&l, "look group", look_group);
  measure_look(&l, "look member", look_member);
  measure_look(&l, "look id", look_id);
  measure_look(&l, "floor type", floor_type);
  measure_look(&l, "look type", look_type);
  kymo_schema_release(schema);
}

int main(int argc, char **argv) {
  if (argc > 1)
    rounds = (int)strtol(argv[1], NULL, 10);
  measure_opening(FEW);
  measure_opening(EVENTS);
  measure_merging(FEW);
  measure_merging(EVENTS);
  measure_looking();
  return 0;
}
