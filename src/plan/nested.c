/* SPDX-License-Identifier: MIT */
/*
 * Definitions that name each other: when a record comes whose definition names another one as a type, the
 * fields of that type take the place of the one that has it.
 *
 *   position: u64 t; f32 lat            path: name; next.t, next.lat (fields of the record)
 *   path: s8 name; position next;   ─►        way = [{t, lat}, {t, lat}] (a list of structs)
 *         position[2] way
 *
 * This waits for the record, since a file may define a type after the types that name it, and may define it
 * anew. The result is kept until some definition changes. The bytes of a file do not bound what it costs, so
 * its work and its memory have limits.
 */
#include "base/list.h"
#include "plan/definition.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS_MAX (UINT32_C(1) << 20)   /* resolved between two jumps */
#define RESOLVED_MAX ((size_t)64 << 20)  /* bytes of all resolved definitions */
#define STEPS_MAX (4 * KYMO_PLAN_FIELDS) /* definitions and fields that one resolution looks at */

/* The definitions in each other around a field, from the innermost one on. */
struct chain {
  const struct chain *outer;
  const struct kymo_plan_record *record;
  uint32_t depth;
  struct kymo_expr_value before; /* what its fields' names begin with: NAME. of the fields around it */
  struct kymo_expr_value path;   /* the same of the paths: with lists */
  uint64_t values;               /* how often it is in the record */
};

struct resolving {
  struct kymo_plan_definition d;
  uint32_t steps;
  uint64_t values;
  size_t bytes; /* of names */
};

static const struct kymo_expr_value nothing = {.sort = KYMO_SORT_ABSENT};

static struct kymo_expr_value value_of(const char *text) {
  return kymo_value_bytes((const uint8_t *)text, (uint32_t)strlen(text));
}

/* `before` and `name` and `after`; no bytes if there is no memory, which is raised. */
static struct kymo_expr_value joined(struct resolving *r, const struct kymo_expr_value *before,
                                     const char *name, const char *after) {
  size_t length = strlen(name), size = before->size + length + strlen(after);
  uint8_t *bytes = kymo_plan_work(r->d.machine, size + 1);
  r->bytes += size;
  if (!bytes)
    return kymo_value_bytes((const uint8_t *)"", 0);
  memcpy(bytes, before->p, before->size);
  memcpy(bytes + before->size, name, length);
  memcpy(bytes + before->size + length, after, strlen(after) + 1);
  return kymo_value_bytes(bytes, (uint32_t)size);
}

/* `field`: of the innermost definition, or NULL. */
static void fail(struct resolving *r, const char *wrong, const struct kymo_expr_value *culprit,
                 const struct chain *chain, const struct kymo_plan_field *field) {
  struct kymo_expr_value name = field && !r->d.wrong ? joined(r, &chain->path, field->name, "") : nothing;
  kymo_plan_definition_fail(&r->d, wrong, culprit, &name);
}

/* Adds a field of the record, or of a list in it. */
static struct kymo_plan_member *add(struct resolving *r, const struct chain *chain,
                                    const struct kymo_plan_field *field) {
  struct kymo_plan_member member = {.name = joined(r, &chain->before, field->name, ""),
                                    .path = joined(r, &chain->path, field->name, ""),
                                    .key = nothing,
                                    .absent = field->absent,
                                    .unit = field->unit ? value_of(field->unit) : nothing,
                                    .letter = field->letter,
                                    .override = field->override,
                                    .count = field->count,
                                    .size = field->size,
                                    .order = field->order,
                                    .is_inner = chain->depth > 0,
                                    .has_scale = field->has_scale,
                                    .scale = field->scale,
                                    .over = field->over,
                                    .offset = field->offset};
  uint64_t values = kymo_plan_values_of(r->d.machine->plan, field->letter, field->count);
  if (r->d.count == KYMO_PLAN_FIELDS)
    fail(r, "with more than 1024 fields", &nothing, chain, field);
  else if (values > KYMO_PLAN_REPEAT_LIMIT / chain->values ||
           (r->values += values * chain->values) > KYMO_PLAN_REPEAT_LIMIT)
    fail(r, "with more than 1048576 values", &nothing, chain, field);
  if (r->d.wrong)
    return NULL;
  r->d.members[r->d.count] = member;
  return &r->d.members[r->d.count++];
}

/* Bytes of the fields from `first` on, once each; 0: they are not constant. */
static uint64_t bytes_from(const struct resolving *r, uint32_t first, uint32_t end) {
  const struct kymo_plan *plan = r->d.machine->plan;
  uint64_t sum = 0, one;
  for (uint32_t i = first; i < end; i += 1 + r->d.members[i].inner_count) {
    const struct kymo_plan_member *member = &r->d.members[i];
    if (member->letter == KYMO_PLAN_NONE)
      one = bytes_from(r, i + 1, i + 1 + member->inner_count);
    else
      one = member->size == KYMO_PLAN_NONE
                ? kymo_plan_type_bytes(&plan->types[plan->letters[member->letter].type])
                : member->size;
    if (!one || (sum += one * kymo_plan_values_of(plan, member->letter, member->count)) > UINT32_MAX)
      return 0;
  }
  return sum;
}

static void expand(struct resolving *r, const struct chain *chain);

/* The definition that a field's type names now; NULL: it cannot be had. */
static const struct kymo_plan_record *find(struct resolving *r, const struct chain *chain,
                                           const struct kymo_plan_field *field) {
  const struct kymo_plan_version *version = kymo_plan_table_get(r->d.machine, field->key_table, &field->key);
  const struct kymo_plan_record *record = version ? version->record : NULL;
  if (!record)
    fail(r, "with a type that is not defined", &field->key, chain, field);
  else if (record->is_bytes)
    fail(r, "with a type whose definition makes no sense", &field->key, chain, field);
  else if (record->has_length)
    fail(r, "with a type whose definition has a LENGTH", &field->key, chain, field);
  for (const struct chain *each = chain; each && record; each = each->outer)
    if (each->record == record)
      fail(r, "with a type that contains itself", &field->key, chain, field);
  if (chain->depth == KYMO_PLAN_LISTS)
    fail(r, "with types in each other more than 28 deep", &field->key, chain, field);
  return r->d.wrong ? NULL : record;
}

/* The fields of the type in place of one value of it. */
static void expand_one(struct resolving *r, const struct chain *chain, const struct kymo_plan_field *field,
                       const struct kymo_plan_record *record) {
  struct chain inner = {.outer = chain,
                        .record = record,
                        .depth = chain->depth + 1,
                        .before = joined(r, &chain->before, field->name, "."),
                        .path = joined(r, &chain->path, field->name, "."),
                        .values = chain->values};
  expand(r, &inner);
}

/* A list of `count` structs of the type: its members follow. */
static void expand_list(struct resolving *r, const struct chain *chain, const struct kymo_plan_field *field,
                        const struct kymo_plan_record *record, uint32_t count) {
  struct kymo_plan_field of_list = *field;
  of_list.count = count;
  of_list.size = KYMO_PLAN_NONE;
  struct kymo_plan_member *list = add(r, chain, &of_list);
  uint32_t first = r->d.count;
  if (!list)
    return;
  struct chain inner = {.outer = chain,
                        .record = record,
                        .depth = chain->depth + 1,
                        .before = kymo_value_bytes((const uint8_t *)"", 0),
                        .path = joined(r, &chain->path, field->name, "."),
                        .values = chain->values * count};
  expand(r, &inner);
  list->inner_count = r->d.count - first;
  if (list->inner_count == 0)
    r->d.count--; /* a type without fields */
}

/* One value or a list, by the bytes that it has. */
static void expand_sized(struct resolving *r, const struct chain *chain, const struct kymo_plan_field *field,
                         const struct kymo_plan_record *record) {
  uint32_t first = r->d.count;
  uint64_t values = r->values, one;
  expand_one(r, chain, field, record);
  one = r->d.wrong ? field->size : bytes_from(r, first, r->d.count);
  if (one == field->size)
    return;
  r->d.count = first;
  r->values = values;
  if (!one || !field->size || field->size % one || field->size / one > 65536)
    fail(r, "with a size that its type cannot have", &field->key, chain, field);
  else
    expand_list(r, chain, field, record, field->size / (uint32_t)one);
}

static void expand_field(struct resolving *r, const struct chain *chain,
                         const struct kymo_plan_field *field) {
  if (++r->steps > STEPS_MAX)
    fail(r, "with too many types in each other", &nothing, chain, field);
  if (r->d.wrong)
    return;
  if (field->key.sort == KYMO_SORT_ABSENT) {
    add(r, chain, field);
    return;
  }
  const struct kymo_plan_record *record = find(r, chain, field);
  if (record && field->size != KYMO_PLAN_NONE)
    expand_sized(r, chain, field, record);
  else if (record && field->count)
    expand_list(r, chain, field, record, field->count);
  else if (record)
    expand_one(r, chain, field, record);
}

static void expand(struct resolving *r, const struct chain *chain) {
  if (++r->steps > STEPS_MAX)
    fail(r, "with too many types in each other", &nothing, chain, NULL);
  for (uint32_t i = 0; i < chain->record->field_count && !r->d.wrong && !r->d.machine->r; i++)
    expand_field(r, chain, &chain->record->fields[i]);
}

/* ---- results ---- */

static void describe(const struct resolving *r, struct kymo_plan_resolution *result) {
  const struct kymo_expr_value *const pieces[3] = {&r->d.culprit, &r->d.field, &r->d.name};
  char texts[3][KYMO_PLAN_DESCRIBED];
  for (int i = 0; i < 3; i++)
    kymo_plan_describe(pieces[i], false, texts[i], sizeof texts[i]);
  snprintf(result->wrong, sizeof result->wrong, "a record whose definition is one %s%s%s%s%s%s%s", r->d.wrong,
           *texts[0] ? ", found " : "", texts[0], *texts[1] ? ", in " : "", texts[1],
           *texts[1] ? " of " : ", in ", texts[2]);
}

/* Limits of the whole file. */
static bool limit(struct resolving *r) {
  struct kymo_plan_machine *machine = r->d.machine;
  struct kymo_plan_found *found = machine->found;
  machine->resolved_fields += r->steps;
  if (machine->resolved_fields > FIELDS_MAX)
    return kymo_plan_raise(machine, 9, kymo_plan_offset(machine),
                           "definitions that name each other, and change too often");
  if (machine->may_find && found->resolved_bytes + r->bytes > RESOLVED_MAX)
    return kymo_plan_raise(machine, 9, kymo_plan_offset(machine),
                           "definitions that name each other, with names of more than %zu MiB",
                           RESOLVED_MAX >> 20);
  return true;
}

static bool resolve(struct resolving *r, const struct kymo_plan_record *record,
                    struct kymo_plan_resolution *result) {
  struct kymo_plan_machine *machine = r->d.machine;
  struct chain chain = {.record = record,
                        .before = kymo_value_bytes((const uint8_t *)"", 0),
                        .path = kymo_value_bytes((const uint8_t *)"", 0),
                        .values = 1};
  r->d.name = value_of(record->name);
  r->d.has_length = record->has_length;
  r->d.length = record->length;
  expand(r, &chain);
  if (machine->r || !limit(r))
    return false;
  *result = (struct kymo_plan_resolution){.definitions = machine->definitions + 1};
  uint32_t count = machine->found->records[record->table].count;
  if (r->d.wrong)
    describe(r, result);
  else
    result->record = kymo_plan_definition_keep(&r->d);
  if (machine->found->records[record->table].count > count)
    machine->found->resolved_bytes += r->bytes + r->d.count * sizeof(struct kymo_plan_field);
  if (!r->d.wrong && !result->record) /* the first pass ended before it */
    snprintf(result->wrong, sizeof result->wrong, "a record whose definition was not found before reading");
  return !machine->failed;
}

const struct kymo_plan_record *kymo_plan_resolve(struct kymo_plan_machine *machine,
                                                 const struct kymo_plan_record *record) {
  if (!record->is_unresolved)
    return record;
  if (record->index >= machine->resolution_count) {
    uint32_t had = machine->resolution_count;
    if (!KYMO_LIST_RESERVE(machine->resolutions, machine->resolution_count, (size_t)record->index + 1)) {
      machine->failed = true;
      return NULL;
    }
    memset(machine->resolutions + had, 0, (machine->resolution_count - had) * sizeof *machine->resolutions);
  }
  struct kymo_plan_resolution *result = &machine->resolutions[record->index];
  if (result->definitions != machine->definitions + 1) {
    struct resolving r = {0};
    bool ok = kymo_plan_definition_begin(&r.d, machine, &machine->plan->recipes[record->recipe]) &&
              resolve(&r, record, result);
    free(r.d.members);
    if (!ok)
      return NULL;
  }
  if (result->record)
    return result->record;
  return kymo_plan_mark(machine, 7, "%s", result->wrong) ? record : NULL;
}
