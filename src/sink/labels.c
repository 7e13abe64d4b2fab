/* SPDX-License-Identifier: MIT */
/* Enumerations and flags. */
#include "sink/labels.h"
#include "base/fail.h"

/* Ranges of one name stand behind one another: a name is new if its predecessor has another one. */
static bool is_same_name(const struct kymo_mapping *mappings, uint32_t i) {
  return i > 0 &&
         (mappings[i].name == mappings[i - 1].name || strcmp(mappings[i].name, mappings[i - 1].name) == 0);
}

static uint64_t bits_of(const struct kymo_mapping *mapping) {
  if (mapping->low > 63)
    return 0;
  uint64_t high = mapping->high > 63 ? 63 : mapping->high;
  return UINT64_MAX >> (63 - high) & UINT64_MAX << mapping->low;
}

/* What the name at *index has: bits of a bit map; of an enumeration 1 if a range holds the value, else 0. Moves
 * *index behind the name. */
static uint64_t take_name(const struct kymo_type *type, uint64_t value, uint32_t *index) {
  uint64_t found = 0;
  do {
    const struct kymo_mapping *mapping = &type->mappings[*index];
    found |= type->kind == KYMO_KIND_BITMAP ? bits_of(mapping) : kymo_mapping_holds(type, mapping, value);
    ++*index;
  } while (*index < type->mapping_count && is_same_name(type->mappings, *index));
  return found;
}

struct kymo_labels kymo_labels_begin(const struct kymo_type *type, uint64_t value) {
  struct kymo_labels labels = {.type = type, .value = value, .rest = value};
  uint64_t once = 0;
  for (uint32_t index = 0; type->kind == KYMO_KIND_BITMAP && index < type->mapping_count;) {
    uint64_t bits = take_name(type, value, &index);
    labels.shared |= once & bits;
    once |= bits;
  }
  return labels;
}

const char *kymo_labels_next(struct kymo_labels *labels) {
  const struct kymo_type *type = labels->type;
  while (labels->index < type->mapping_count) {
    const char *name = type->mappings[labels->index].name;
    uint64_t found = take_name(type, labels->value, &labels->index);
    if (type->kind == KYMO_KIND_BITMAP && (labels->value & found) != found)
      found &= labels->value & ~labels->shared;
    if (!found)
      continue;
    labels->rest &= ~found;
    return name;
  }
  return NULL;
}

/* ---- memory ---- */

int kymo_label_memory_begin(struct kymo_label_memory *memory, const struct kymo_trace *trace,
                            kymo_value_writer *writer, struct kymo_error *error) {
  *memory = (struct kymo_label_memory){.writer = writer};
  size_t count = kymo_trace_part_count(trace);
  memory->slots = kymo_arena_array(&memory->arena, count + 1, sizeof(*memory->slots));
  bool ok = memory->slots != NULL;
  for (size_t i = 0; ok && i < count; i++) {
    uint32_t types = kymo_trace_part(trace, i)->schema->type_count;
    memory->slots[i] = kymo_arena_array(&memory->arena, (size_t)types + 1, sizeof(**memory->slots));
    ok = memory->slots[i] != NULL;
  }
  return ok ? KYMO_OK : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
}

void kymo_label_memory_end(struct kymo_label_memory *memory) {
  kymo_arena_free(&memory->arena);
  kymo_strbuf_free(&memory->buf);
  memory->slots = NULL;
}

__attribute__((noinline)) static void out_new(struct kymo_out *out, struct kymo_label_memory *memory,
                                              const struct kymo_value *value, struct kymo_memory_slot *slot) {
  memory->buf.length = 0;
  memory->writer(&memory->buf, value->type, value->u);
  if (memory->buf.failed || memory->buf.length == 0)
    return;
  kymo_out_bytes(out, memory->buf.text, memory->buf.length);
  if (!slot || memory->buf.length > KYMO_MEMORY_TEXT)
    return;
  slot->value = value->u;
  slot->length = (uint32_t)memory->buf.length;
  memcpy(slot->text, memory->buf.text, memory->buf.length);
}

void kymo_out_labelled(struct kymo_out *out, struct kymo_label_memory *memory, uint32_t part,
                       const struct kymo_value *value) {
  struct kymo_memory_slot **slots = &memory->slots[part][value->type->id];
  if (!*slots)
    *slots = kymo_arena_array(&memory->arena, KYMO_MEMORY_SLOTS, sizeof(**slots));
  struct kymo_memory_slot *slot = *slots ? &(*slots)[value->u * 0x9E3779B97F4A7C15u >> 59] : NULL;
  if (slot && slot->length && slot->value == value->u)
    kymo_out_piece(out, slot->text, slot->length);
  else
    out_new(out, memory, value, slot);
}
