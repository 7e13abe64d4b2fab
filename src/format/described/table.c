/* SPDX-License-Identifier: MIT */
/* Described files: the contents of their tables. */
#include "format/described/described.h"
#include <string.h>

size_t kymo_described_table_count(const void *source) {
  return ((const struct described *)source)->plan->counts[KYMO_SECTION_TABLE];
}

const char *kymo_described_table_name(const void *source, size_t table, size_t *length) {
  const struct kymo_plan *plan = ((const struct described *)source)->plan;
  const struct kymo_plan_text *text = &plan->texts[plan->tables[table].name];
  *length = text->size;
  return (const char *)plan->bytes + text->offset;
}

int kymo_described_table_get(struct kymo_plan_machine *machine, size_t table,
                             const struct kymo_table_key *key, struct kymo_table_value *value) {
  struct kymo_expr_value wanted =
      key->text ? kymo_value_bytes(key->text, (uint32_t)key->length) : kymo_value_u64(key->number);
  const struct kymo_plan_version *version = kymo_plan_table_get(machine, (uint32_t)table, &wanted);
  *value = (struct kymo_table_value){.bytes = NULL};
  if (!version || (version->value.sort == KYMO_SORT_ABSENT && !version->record))
    return KYMO_E_ABSENT;
  if (version->record) {
    value->bytes = (const uint8_t *)version->record->name;
    value->count = strlen(version->record->name);
  } else if (version->value.sort == KYMO_SORT_BYTES) {
    value->bytes = version->value.p;
    value->count = version->value.size;
  } else if (version->value.sort != KYMO_SORT_NUMBER) {
    return KYMO_E_TYPE;
  } else if (version->value.n.high != 0) {
    return KYMO_E_RANGE;
  } else {
    value->number = version->value.n.low;
  }
  return KYMO_OK;
}
