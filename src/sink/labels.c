/* SPDX-License-Identifier: MIT */
/* Enumerations and flags. */
#include "sink/labels.h"
#include "base/fail.h"

/* Ranges of one name stand behind one another: a name is new if its predecessor has another one. */
static bool is_same_name(const struct kymo_mapping *mappings, uint32_t i) {
  return i > 0 &&
         (mappings[i].name == mappings[i - 1].name || strcmp(mappings[i].name, mappings[i - 1].name) == 0);
}

/* Moves *index behind all ranges of one name. True if one of them satisfies. */
static const char *next_name(const struct kymo_type *type, uint64_t value, uint32_t *index,
                             bool (*holds)(const struct kymo_type *, const struct kymo_mapping *, uint64_t)) {
  while (*index < type->mapping_count) {
    const char *name = type->mappings[*index].name;
    bool found = false;
    do {
      found = found || holds(type, &type->mappings[*index], value);
      ++*index;
    } while (*index < type->mapping_count && is_same_name(type->mappings, *index));
    if (found)
      return name;
  }
  return NULL;
}

static bool value_in(const struct kymo_type *type, const struct kymo_mapping *mapping, uint64_t value) {
  return kymo_mapping_holds(type, mapping, value);
}

static uint64_t bits_of(const struct kymo_mapping *mapping) {
  if (mapping->low > 63)
    return 0;
  uint64_t high = mapping->high > 63 ? 63 : mapping->high;
  return UINT64_MAX >> (63 - high) & UINT64_MAX << mapping->low;
}

static bool bit_in(const struct kymo_type *type, const struct kymo_mapping *mapping, uint64_t value) {
  (void)type;
  return (bits_of(mapping) & value) != 0;
}

const char *kymo_next_label(const struct kymo_type *type, uint64_t value, uint32_t *index) {
  return next_name(type, value, index, value_in);
}

const char *kymo_next_flag(const struct kymo_type *type, uint64_t value, uint32_t *index) {
  return next_name(type, value, index, bit_in);
}

uint64_t kymo_unnamed_bits(const struct kymo_type *type, uint64_t value) {
  for (uint32_t i = 0; i < type->mapping_count; i++)
    value &= ~bits_of(&type->mappings[i]);
  return value;
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
