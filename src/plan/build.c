/* SPDX-License-Identifier: MIT */
/* The builder of plans: a growing array for each section, and a table of the texts. */
#include "base/fail.h"
#include "base/hash.h"
#include "base/list.h"
#include "base/table.h"
#include "plan/classes.h"
#include "plan/sections.h"
#include "schema/build.h"
#include <stdlib.h>
#include <string.h>

struct kymo_plan_builder {
  uint32_t *arrays[KYMO_SECTION_COUNT];
  uint32_t counts[KYMO_SECTION_COUNT], capacities[KYMO_SECTION_COUNT];
  struct kymo_strbuf bytes;
  struct kymo_hash_table texts; /* index + 1 */
  uint32_t block;               /* the first instruction of the current block */
  bool failed;                  /* memory ran out */
};

struct kymo_plan_builder *kymo_plan_builder_new(void) {
  return calloc(1, sizeof(struct kymo_plan_builder));
}

void kymo_plan_builder_free(struct kymo_plan_builder *builder) {
  if (!builder)
    return;
  for (uint32_t i = 0; i < KYMO_SECTION_COUNT; i++)
    free(builder->arrays[i]);
  kymo_strbuf_free(&builder->bytes);
  kymo_hash_table_free(&builder->texts);
  free(builder);
}

/* ---- items ---- */

uint32_t kymo_plan_add(struct kymo_plan_builder *builder, enum kymo_plan_section section, const void *item) {
  uint32_t index = builder->counts[section], words = kymo_plan_words[section];
  if (!KYMO_LIST_ROOM_OF(words * sizeof(uint32_t), builder->arrays[section], builder->capacities[section],
                         index)) {
    builder->failed = true;
    return 0;
  }
  memcpy(builder->arrays[section] + (size_t)index * words, item, words * sizeof(uint32_t));
  builder->counts[section]++;
  return index;
}

void *kymo_plan_item(struct kymo_plan_builder *builder, enum kymo_plan_section section, uint32_t index) {
  return builder->arrays[section] + (size_t)index * kymo_plan_words[section];
}

uint32_t kymo_plan_count(const struct kymo_plan_builder *builder, enum kymo_plan_section section) {
  return builder->counts[section];
}

/* ---- texts ---- */

static struct kymo_plan_text *text_of(struct kymo_plan_builder *builder, uint32_t index) {
  return kymo_plan_item(builder, KYMO_SECTION_TEXT, index);
}

/* Its index + 1, or 0. */
static uintptr_t find_text(struct kymo_plan_builder *builder, uint32_t hash, const void *bytes, size_t size) {
  uintptr_t item;
  for (uint32_t at = hash; (item = kymo_hash_table_next(&builder->texts, hash, &at));) {
    const struct kymo_plan_text *text = text_of(builder, (uint32_t)item - 1);
    if (text->size == size && (size == 0 || memcmp(builder->bytes.text + text->offset, bytes, size) == 0))
      break;
  }
  return item;
}

uint32_t kymo_plan_add_text(struct kymo_plan_builder *builder, const void *bytes, size_t size) {
  if (size > UINT32_MAX / 2 || builder->bytes.length > UINT32_MAX / 2)
    builder->failed = true;
  if (builder->failed)
    return 0;
  uint32_t hash = (uint32_t)kymo_hash64(bytes, size, 0);
  uintptr_t known = find_text(builder, hash, bytes, size);
  if (known)
    return (uint32_t)known - 1;
  struct kymo_plan_text text = {.offset = (uint32_t)builder->bytes.length, .size = (uint32_t)size};
  kymo_strbuf_add(&builder->bytes, bytes, size);
  builder->failed |= builder->bytes.failed;
  uint32_t index = kymo_plan_add(builder, KYMO_SECTION_TEXT, &text);
  builder->failed |= !kymo_hash_table_add(&builder->texts, NULL, hash, index + 1);
  return index;
}

/* ---- code ---- */

uint32_t kymo_plan_here(const struct kymo_plan_builder *builder) {
  return builder->counts[KYMO_SECTION_INSTRUCTION];
}

void kymo_plan_block_begin(struct kymo_plan_builder *builder) { builder->block = kymo_plan_here(builder); }

uint32_t kymo_plan_block_end(struct kymo_plan_builder *builder) {
  struct kymo_plan_block block = {builder->block, kymo_plan_here(builder) - builder->block};
  return block.count ? kymo_plan_add(builder, KYMO_SECTION_BLOCK, &block) : KYMO_PLAN_NONE;
}

uint32_t kymo_plan_emit(struct kymo_plan_builder *builder, enum kymo_plan_code code, uint32_t a, uint32_t b,
                        uint32_t c) {
  struct kymo_plan_instruction instruction = {(uint32_t)code, a, b, c};
  return kymo_plan_add(builder, KYMO_SECTION_INSTRUCTION, &instruction);
}

uint32_t kymo_plan_emit_number(struct kymo_plan_builder *builder, uint64_t value, bool is_unsigned) {
  return kymo_plan_emit(builder, KYMO_DO_NUMBER, is_unsigned, (uint32_t)value, (uint32_t)(value >> 32));
}

void kymo_plan_aim(struct kymo_plan_builder *builder, uint32_t instruction, uint32_t target) {
  if (instruction < kymo_plan_here(builder))
    ((struct kymo_plan_instruction *)kymo_plan_item(builder, KYMO_SECTION_INSTRUCTION, instruction))->a =
        target;
}

/* ---- the end ---- */

static void view_of(struct kymo_plan_builder *builder, struct kymo_plan *plan) {
  for (uint32_t i = 0; i < KYMO_SECTION_COUNT; i++) {
    plan->counts[i] = builder->counts[i];
    kymo_plan_set_array(plan, (enum kymo_plan_section)i, builder->arrays[i]);
  }
  plan->bytes = (const uint8_t *)(builder->bytes.text ? builder->bytes.text : "");
  plan->byte_count = (uint32_t)builder->bytes.length;
}

/* The hash covers the plan with a hash of zeros. It identifies the plan. */
static void sign(struct kymo_plan_builder *builder, const struct kymo_plan *plan, struct kymo_strbuf *out) {
  struct kymo_plan_root *root = kymo_plan_item(builder, KYMO_SECTION_ROOT, 0);
  memset(root->hash, 0, sizeof root->hash);
  kymo_plan_write(plan, out);
  if (out->failed)
    return;
  struct kymo_hash128 hash = kymo_hash128(out->text, out->length, 0);
  root->hash[0] = (uint32_t)hash.low;
  root->hash[1] = (uint32_t)(hash.low >> 32);
  root->hash[2] = (uint32_t)hash.high;
  root->hash[3] = (uint32_t)(hash.high >> 32);
  out->length = 0;
  kymo_plan_write(plan, out);
}

/* The schema of a plan and its bytes. */
static struct kymo_schema *make_schema(const struct kymo_plan *plan, const struct kymo_strbuf *bytes,
                                       struct kymo_error *error) {
  struct kymo_builder *schema = kymo_builder_new();
  uint8_t *copy = schema ? kymo_builder_alloc(schema, bytes->length) : NULL;
  if (!copy) {
    kymo_builder_free(schema);
    kymo_fail(error, KYMO_E_MEMORY, "out of memory");
    return NULL;
  }
  memcpy(copy, bytes->text, bytes->length);
  kymo_builder_schema(schema)->plan = copy;
  kymo_builder_schema(schema)->plan_size = bytes->length;
  return kymo_plan_schema(plan, schema, NULL, error);
}

struct kymo_schema *kymo_plan_finish(struct kymo_plan_builder *builder, struct kymo_error *error) {
  struct kymo_plan plan = {0};
  struct kymo_strbuf bytes = {0};
  struct kymo_schema *schema = NULL;
  if (!builder->failed && builder->counts[KYMO_SECTION_ROOT] == 1) {
    view_of(builder, &plan);
    sign(builder, &plan, &bytes);
  }
  if (builder->failed || bytes.failed)
    kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  else if (builder->counts[KYMO_SECTION_ROOT] != 1)
    kymo_fail(error, KYMO_E_FORMAT, "a plan with %u roots", builder->counts[KYMO_SECTION_ROOT]);
  else if (kymo_plan_verify(&plan, "", error) == KYMO_OK)
    schema = make_schema(&plan, &bytes, error);
  kymo_strbuf_free(&bytes);
  kymo_plan_builder_free(builder);
  return schema;
}
