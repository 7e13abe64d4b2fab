/* SPDX-License-Identifier: MIT */
#include "lang/tdl/origin.h"
#include "base/fail.h"
#include "base/list.h"
#include "base/search.h"
#include "lang/tdl/generate.h"
#include <stdlib.h>
#include <string.h>

/* ---- for the generator ---- */

void kymo_tdl_note_origin(struct tdl_generator *gen, enum kymo_plan_section section,
                          struct kymo_tdl_span span) {
  struct kymo_tdl_origins *origins = gen->origins;
  if (!origins)
    return;
  struct kymo_tdl_origin_list *list = &origins->sections[section];
  if (!KYMO_LIST_ROOM(list->list, list->capacity, list->count)) {
    origins->failed = true;
    return;
  }
  list->list[list->count++] = (struct kymo_tdl_origin){kymo_plan_count(gen->key, section), span};
}

struct kymo_tdl_span kymo_tdl_come_from(struct tdl_generator *gen, struct kymo_tdl_span span) {
  struct kymo_tdl_span before = gen->origin;
  gen->origin = span;
  kymo_tdl_note_origin(gen, KYMO_SECTION_INSTRUCTION, span);
  return before;
}

/* ---- for readers ---- */

bool kymo_tdl_origin_of(const struct kymo_tdl_origins *origins, enum kymo_plan_section section,
                        uint32_t index, struct kymo_tdl_span *span) {
  const struct kymo_tdl_origin_list *list = &origins->sections[section];
  size_t after = KYMO_COUNT_BEFORE(list->count, i, list->list[i].first <= index);
  if (after == 0 || list->list[after - 1].span.length == 0)
    return false;
  *span = list->list[after - 1].span;
  return true;
}

void kymo_tdl_origins_free(struct kymo_tdl_origins *origins) {
  for (size_t i = 0; i < KYMO_SECTION_COUNT; i++)
    free(origins->sections[i].list);
  *origins = (struct kymo_tdl_origins){0};
}

/* Whether the schema carries the same plan. */
static bool is_same(const struct kymo_schema *schema, const struct kymo_plan *plan) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  struct kymo_plan *again = kymo_plan_open(schema, "plan", &error);
  bool is_same = again && memcmp(again->root->hash, plan->root->hash, sizeof plan->root->hash) == 0;
  kymo_plan_close(again);
  return is_same;
}

int kymo_tdl_origins_find(struct kymo_tdl_origins *origins, const struct kymo_plan *plan,
                          struct kymo_error *error) {
  struct kymo_error why = {.offset = KYMO_ERROR_NO_OFFSET};
  *origins = (struct kymo_tdl_origins){0};
  if (plan->root->source == KYMO_PLAN_NONE)
    return kymo_fail(error, KYMO_E_ABSENT, "the compiled description has no text");
  const struct kymo_plan_text *text = &plan->texts[plan->root->source];
  struct kymo_schema *schema = kymo_tdl_compile_origins((const char *)plan->bytes + text->offset, text->size,
                                                        "description", origins, &why);
  bool is_found = schema && !origins->failed && is_same(schema, plan);
  bool is_without_memory = origins->failed || (!schema && why.code == KYMO_E_MEMORY);
  kymo_schema_release(schema);
  if (is_found)
    return KYMO_OK;
  kymo_tdl_origins_free(origins);
  if (is_without_memory)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  return kymo_fail(error, KYMO_E_ABSENT, "the description was compiled by another version");
}
