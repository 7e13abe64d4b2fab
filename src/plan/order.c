/* SPDX-License-Identifier: MIT */
/* Byte orders of fields in the file. */
#include "plan/classes.h"
#include "plan/plan.h"
#include "plan/sections.h"
#include <string.h>

static bool is_named(const struct kymo_key *key, const struct kymo_key_column *column, const char *name) {
  const struct kymo_key_text *text = column->name == KYMO_KEY_NONE ? NULL : &key->texts[column->name];
  return text && text->size == strlen(name) && memcmp(key->bytes + text->offset, name, text->size) == 0;
}

static bool fills_by_load(const struct kymo_key *key, const struct kymo_key_part *part, uint32_t slot) {
  bool does = false;
  for (uint32_t i = part->first_load; i < part->first_load + part->load_count; i++)
    does |= key->loads[i].slot == slot && key->loads[i].bits == 32 && key->loads[i].order == KYMO_KEY_LITTLE;
  return does;
}

static bool is_little(const struct kymo_key_type *type) {
  return type->encoding == KYMO_TYPE_UNSIGNED && type->size == 32 && type->order == KYMO_KEY_LITTLE;
}

static bool fills_by_code(const struct kymo_key *key, const struct kymo_key_part *part, uint32_t slot) {
  if (part->block == KYMO_KEY_NONE)
    return false;
  const struct kymo_key_block *block = &key->blocks[part->block];
  bool does = false;
  for (uint32_t i = block->first; i + 1 < block->first + block->count; i++)
    does |= key->code[i].code == KYMO_DO_LOAD && is_little(&key->types[key->code[i].a]) &&
            key->code[i + 1].code == KYMO_DO_SET && key->code[i + 1].a == slot;
  return does;
}

static bool fills(const struct kymo_key *key, const struct kymo_key_part *part, uint32_t slot) {
  return fills_by_load(key, part, slot) || fills_by_code(key, part, slot);
}

bool kymo_key_is_little(const struct kymo_key *key, const char *name) {
  for (uint32_t k = 0; k < KYMO_KEY_COUNT(key, KIND); k++) {
    const struct kymo_key_kind *kind = &key->kinds[k];
    for (uint32_t i = kind->first_column; i < kind->first_column + kind->column_count; i++) {
      const struct kymo_key_column *column = &key->columns[i];
      if (!is_named(key, column, name) || column->is_list || !column->option_count)
        continue;
      uint32_t slot = key->options[column->first_option].slot;
      if (fills(key, &kind->part, slot) ||
          (kind->prefix != KYMO_KEY_NONE && fills(key, &key->prefixes[kind->prefix].part, slot)))
        return true;
    }
  }
  return false;
}
