/* SPDX-License-Identifier: MIT */
/* Cached texts of enumerations and flags. */
#include "print/labels.h"
#include "base/fail.h"
#include "trace/part.h"
#include <errno.h>

int kymo_label_memory_begin(struct kymo_label_memory *memory, const struct kymo_trace *trace,
                            kymo_value_writer *writer, struct kymo_error *error) {
  *memory = (struct kymo_label_memory){.writer = writer};
  size_t count = kymo_trace_part_count(trace);
  memory->slots = kymo_arena_array(&memory->arena, count + 1, sizeof(*memory->slots));
  bool ok = memory->slots != NULL;
  for (size_t i = 0; ok && i < count; i++) {
    const struct kymo_part *part = kymo_trace_part(trace, i);
    uint32_t types = part->schema->type_count + kymo_part_plan(part)->shown_count;
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
  if (memory->buf.failed)
    out->error_number = ENOMEM;
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
  struct kymo_memory_slot *slot =
      *slots ? &(*slots)[value->u * 0x9E3779B97F4A7C15u >> (64 - KYMO_MEMORY_BITS)] : NULL;
  if (slot && slot->length && slot->value == value->u)
    kymo_out_piece(out, slot->text, slot->length);
  else
    out_new(out, memory, value, slot);
}
