/* SPDX-License-Identifier: MIT */
/* Building filters, and identifying what they are for. */
#include "filter/program.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/list.h"
#include <stdlib.h>
#include <string.h>

/* ---- building ---- */

/* Space for one more; false if there is none. */
static bool reserve(struct kymo_filter_builder *builder, void *list, size_t count, size_t *capacity,
                    size_t size) {
  void **items = list;
  if (builder->failed)
    return false;
  if (count >= KYMO_FILTER_PARTS) {
    builder->failed = KYMO_E_LIMIT;
    return false;
  }
  if (count < *capacity)
    return true;
  void *grown = kymo_list_reserve(*items, capacity, count + 1, size, SIZE_MAX);
  if (!grown) {
    builder->failed = KYMO_E_MEMORY;
    return false;
  }
  *items = grown;
  return true;
}

#define RESERVE(builder, kind)                                                                \
  reserve(builder, &(builder)->kind##s, (builder)->kind##_count, &(builder)->kind##_capacity, \
          sizeof *(builder)->kind##s)

uint32_t kymo_filter_add_node(struct kymo_filter_builder *builder, const struct kymo_filter_node *node) {
  if (!RESERVE(builder, node))
    return 0;
  builder->nodes[builder->node_count] = *node;
  return (uint32_t)builder->node_count++;
}

uint32_t kymo_filter_append_text(struct kymo_filter_builder *builder, const char *bytes, size_t length) {
  if (!RESERVE(builder, text))
    return 0;
  char *copy = kymo_arena_copy(&builder->arena, bytes, length);
  if (!copy) {
    builder->failed = KYMO_E_MEMORY;
    return 0;
  }
  builder->texts[builder->text_count] = (struct kymo_filter_text){copy, (uint32_t)length};
  return (uint32_t)builder->text_count++;
}

uint32_t kymo_filter_add_text(struct kymo_filter_builder *builder, const char *bytes, size_t length) {
  enum { LATEST = 1024 }; /* enough to find the texts that filters repeat */
  size_t count = builder->text_count;
  for (size_t i = count > LATEST ? count - LATEST : 0; i < count; i++)
    if (builder->texts[i].length == length && memcmp(builder->texts[i].bytes, bytes, length) == 0)
      return (uint32_t)i;
  return kymo_filter_append_text(builder, bytes, length);
}

uint32_t kymo_filter_add_wide(struct kymo_filter_builder *builder, struct kymo_wide wide) {
  if (!RESERVE(builder, wide))
    return 0;
  builder->wides[builder->wide_count] = wide;
  return (uint32_t)builder->wide_count++;
}

uint32_t kymo_filter_add_float(struct kymo_filter_builder *builder, double number) {
  if (!RESERVE(builder, float))
    return 0;
  builder->floats[builder->float_count] = number;
  return (uint32_t)builder->float_count++;
}

uint32_t kymo_filter_add_moment(struct kymo_filter_builder *builder,
                                const struct kymo_filter_moment *moment) {
  if (!RESERVE(builder, moment))
    return 0;
  builder->moments[builder->moment_count] = *moment;
  return (uint32_t)builder->moment_count++;
}

uint32_t kymo_filter_add_activity(struct kymo_filter_builder *builder,
                                  const struct kymo_filter_activity *activity) {
  if (!reserve(builder, &builder->activities, builder->activity_count, &builder->activity_capacity,
               sizeof *builder->activities))
    return 0;
  builder->activities[builder->activity_count] = *activity;
  return (uint32_t)builder->activity_count++;
}

uint32_t kymo_filter_add_list(struct kymo_filter_builder *builder, const uint32_t *list, size_t count) {
  size_t first = builder->list_count;
  for (size_t i = 0; i < count; i++) {
    if (!RESERVE(builder, list))
      return 0;
    builder->lists[builder->list_count++] = list[i];
  }
  return (uint32_t)first;
}

void kymo_filter_builder_free(struct kymo_filter_builder *builder) {
  free(builder->nodes);
  free(builder->lists);
  free(builder->texts);
  free(builder->wides);
  free(builder->floats);
  free(builder->moments);
  free(builder->activities);
  kymo_arena_free(&builder->arena);
  *builder = (struct kymo_filter_builder){0};
}

static const void *keep(struct kymo_arena *arena, const void *list, size_t count, size_t size) {
  void *copy = kymo_arena_array(arena, count + 1, size);
  if (copy && count)
    memcpy(copy, list, count * size);
  return copy;
}

#define KEEP(filter, builder, list, number)                                                                  \
  (((filter)->list = keep(&(filter)->arena, (builder)->list, (builder)->number, sizeof *(builder)->list)) && \
   ((filter)->number = (uint32_t)(builder)->number, true))

static bool keep_all(struct kymo_filter *filter, struct kymo_filter_builder *builder) {
  filter->arena = builder->arena; /* the texts are in it */
  builder->arena = (struct kymo_arena){0};
  filter->name = builder->name ? builder->name : "";
  filter->over_all = builder->over_all;
  filter->first = builder->first;
  filter->target = builder->target;
  return KEEP(filter, builder, nodes, node_count) && KEEP(filter, builder, lists, list_count) &&
         KEEP(filter, builder, texts, text_count) && KEEP(filter, builder, wides, wide_count) &&
         KEEP(filter, builder, floats, float_count) && KEEP(filter, builder, moments, moment_count) &&
         KEEP(filter, builder, activities, activity_count);
}

int kymo_filter_finish(struct kymo_filter **out, struct kymo_filter_builder *builder, uint32_t select,
                       struct kymo_error *error) {
  struct kymo_filter *filter = calloc(1, sizeof *filter);
  int status = builder->failed;
  *out = NULL;
  if (status == 0 && (!filter || !keep_all(filter, builder)))
    status = KYMO_E_MEMORY;
  if (status < 0)
    kymo_fail(error, status, status == KYMO_E_LIMIT ? "E61 a filter of more than %u parts" : "out of memory",
              KYMO_FILTER_PARTS);
  kymo_filter_builder_free(builder);
  if (status == 0) {
    filter->owners = 1;
    filter->select = select;
    status = kymo_filter_verify(filter, error);
  }
  if (status == KYMO_OK)
    *out = filter;
  else if (filter) {
    kymo_arena_free(&filter->arena);
    free(filter);
  }
  return status;
}

struct kymo_filter *kymo_filter_retain(struct kymo_filter *filter) {
  __atomic_fetch_add(&filter->owners, 1, __ATOMIC_RELAXED);
  return filter;
}

void kymo_filter_release(struct kymo_filter *filter) {
  if (!filter || __atomic_sub_fetch(&filter->owners, 1, __ATOMIC_ACQ_REL) > 0)
    return;
  kymo_arena_free(&filter->arena);
  free(filter);
}

/* ---- what for ---- */

static void mix(struct kymo_filter_target *target, uint64_t low, uint64_t high) {
  struct kymo_hash128 hash = kymo_hash128((uint64_t[]){low, high}, 2 * sizeof low, 0);
  target->low += hash.low; /* a sum does not depend on the order */
  target->high += hash.high;
}

/* Equal classes count once, so that several traces of one program give the same result as one of them. */
static bool is_known(const struct kymo_schema *const *schemas, size_t count,
                     const struct kymo_event_class *class_) {
  for (size_t i = 0; i < count; i++)
    for (const struct kymo_event_class *other = kymo_schema_lookup_event(schemas[i], class_->name); other;
         other = other->next_version)
      if (memcmp(&other->hashes.content, &class_->hashes.content, sizeof other->hashes.content) == 0)
        return true;
  return false;
}

/* The hash of the plan that all classes come from, or that describes how files define their own; zero: there
 * is none. */
static struct kymo_hash plan_of(const struct kymo_schema *schema) {
  if (!schema->plan_size)
    return schema->plan_hash;
  struct kymo_hash128 hash = kymo_hash128(schema->plan, schema->plan_size, 0);
  return (struct kymo_hash){hash.low, hash.high};
}

/* A plan describes what its files may contain, and so counts instead of the classes that one of them has. */
static bool is_by_plan(struct kymo_filter_target *target, const struct kymo_schema *const *schemas,
                       size_t at) {
  struct kymo_hash plan = plan_of(schemas[at]);
  bool has_plan = plan.low || plan.high, is_first = true;
  for (size_t i = 0; i < at && has_plan; i++) {
    struct kymo_hash other = plan_of(schemas[i]);
    is_first &= other.low != plan.low || other.high != plan.high;
  }
  if (has_plan && is_first)
    mix(target, plan.low, plan.high);
  return has_plan;
}

struct kymo_filter_target kymo_filter_target_of(const struct kymo_schema *const *schemas, size_t count) {
  struct kymo_filter_target target = {0, 0};
  for (size_t i = 0; i < count; i++)
    for (uint32_t j = 0, streams = is_by_plan(&target, schemas, i) ? 0 : schemas[i]->stream_count;
         j < streams; j++)
      for (uint32_t k = 0; k < schemas[i]->streams[j]->event_count; k++) {
        const struct kymo_event_class *class_ = schemas[i]->streams[j]->events[k];
        if (!class_->name || !is_known(schemas, i, class_))
          mix(&target, class_->hashes.content.low, class_->hashes.content.high);
      }
  return target;
}
