/* SPDX-License-Identifier: MIT */
#include "format/described/look.h"
#include "base/fail.h"
#include "base/list.h"
#include "format/described/described.h"
#include <stdlib.h>

/* ---- which bytes are which field ---- */

/* Records the destination of a value that was just loaded: its slot, its list, or both; the slot of a list's
 * field is read again if AS converts the number. */
static struct kymo_look_field name(const struct kymo_plan *plan, const struct kymo_plan_instruction *after) {
  struct kymo_look_field field = {.slot = KYMO_PLAN_NONE, .column = KYMO_PLAN_NONE};
  const struct kymo_plan_instruction *end = plan->code + plan->counts[KYMO_SECTION_INSTRUCTION];
  bool is_here = true; /* the value, or its converted form, is on the stack */
  for (uint32_t before = 0; after < end && after->code != KYMO_DO_LOAD && after->code != KYMO_DO_TURN;
       before = after++->code) {
    if (after->code == KYMO_DO_GET && after->a == field.slot)
      is_here = true;
    if (!is_here)
      continue;
    if (after->code == KYMO_DO_APPEND) {
      field.column = after->a;
      break;
    }
    if (after->code == KYMO_DO_SET && field.slot != KYMO_PLAN_NONE && field.slot != after->a)
      break;
    if (after->code == KYMO_DO_SET) {
      field.slot = after->a;
      is_here = before == KYMO_DO_DUP;
    }
  }
  return field;
}

/* No other value is read before one goes to its list: a value that did not is absent. */
static void settle_last(struct kymo_look *look) {
  struct kymo_look_field *last = look->field_count ? &look->fields[look->field_count - 1] : NULL;
  if (last && last->column != KYMO_PLAN_NONE && last->item >= look->machine->lists[last->column].count)
    last->item = KYMO_PLAN_NONE;
}

static void add_field(void *user, const struct kymo_plan_loaded *loaded) {
  struct kymo_look *look = user;
  settle_last(look);
  if (!KYMO_LIST_ROOM(look->fields, look->field_capacity, look->field_count)) {
    look->failed = true;
    return;
  }
  struct kymo_look_field field = {.slot = loaded->slot, .column = KYMO_PLAN_NONE, .name = loaded->name};
  if (loaded->after)
    field = name(look->plan, loaded->after);
  field.item = field.column == KYMO_PLAN_NONE ? KYMO_PLAN_NONE : look->machine->lists[field.column].count;
  uint32_t parent = field.column == KYMO_PLAN_NONE ? 0 : look->plan->columns[field.column].parent;
  field.element = parent ? look->machine->lists[parent - 1].count - 1 : 0;
  field.load = loaded->load;
  field.code = loaded->code;
  field.bytes = look->machine->bytes;
  field.begin_bits = loaded->begin_bits;
  field.end_bits = loaded->end_bits;
  field.value = loaded->value;
  look->fields[look->field_count++] = field;
}

static int by_place(const void *a, const void *b) {
  const struct kymo_look_field *one = a, *other = b;
  if (one->begin_bits != other->begin_bits)
    return one->begin_bits < other->begin_bits ? -1 : 1;
  return (one->end_bits > other->end_bits) - (one->end_bits < other->end_bits);
}

/* Keeps the fields of the kind that the record turned out to be, among those that were tried, there and in a
 * container that has only its begin. */
static void sort_fields(struct kymo_look *look, uint64_t start) {
  uint64_t begin = start * 8;
  size_t kept = 0;
  if (look->field_count)
    qsort(look->fields, look->field_count, sizeof *look->fields, by_place);
  for (size_t i = 0; i < look->field_count; i++) {
    const struct kymo_look_field *field = &look->fields[i];
    bool is_again = kept && by_place(field, &look->fields[kept - 1]) == 0;
    if (field->bytes == look->machine->bytes && field->begin_bits >= begin && !is_again)
      look->fields[kept++] = *field;
  }
  look->field_count = kept;
}

/* ---- records ---- */

int kymo_look_begin(struct kymo_look *look, const struct kymo_stream *stream, uint32_t number,
                    struct kymo_error *error) {
  *look = (struct kymo_look){.watch = {add_field, look}};
  struct described *described = kymo_described_of(stream);
  if (!described || number >= described->file_count)
    return kymo_fail_at(error, KYMO_E_UNKNOWN, stream->path, KYMO_ERROR_NO_OFFSET,
                        "not described by any description");
  look->described = described;
  look->plan = described->plan;
  const struct described_file *file = &described->files[number];
  look->path = file->path;
  int status = kymo_map_open(&look->map, file->path, error);
  if (status != KYMO_OK)
    return status;
  look->machine = kymo_plan_machine_new(described->plan, described->found, file->number);
  if (!look->machine || (file->filled && !kymo_plan_tables_copy(look->machine, file->filled)))
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  look->machine->watch = &look->watch;
  look->machine->holes = (struct kymo_holes){.bytes_at = kymo_map_bytes, .user = &look->map};
  return KYMO_OK;
}

int kymo_look_next(struct kymo_look *look, struct kymo_error *error) {
  const uint8_t *data;
  uint64_t size;
  int status = kymo_map_get(&look->map, 0, UINT64_MAX, &data, &size, error);
  if (status != KYMO_OK)
    return status;
  if (data != look->machine->data || size != look->machine->size)
    kymo_plan_machine_bytes(look->machine, data, size);
  look->field_count = 0;
  status = kymo_plan_machine_next(look->machine);
  if (status < 0 || look->failed)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (look->machine->note_count == 0) /* else it may have ended at this one */
    settle_last(look);
  if (status == KYMO_OK)
    sort_fields(look, look->machine->start);
  else if (kymo_look_damage(look))
    sort_fields(look, kymo_look_damage(look)->start);
  return status;
}

const struct kymo_plan_note *kymo_look_damage(const struct kymo_look *look) {
  const struct kymo_plan_machine *machine = look->machine;
  for (uint32_t i = machine->note_count; i-- > 0;)
    if (machine->notes[i].kind == KYMO_NOTE_DAMAGE)
      return &machine->notes[i];
  return NULL;
}

uint64_t kymo_look_own_bytes(const struct kymo_look *look) { return look->machine->own_length; }

void kymo_look_end(struct kymo_look *look) {
  free(look->fields);
  kymo_plan_machine_free(look->machine);
  if (look->path)
    kymo_map_close(&look->map);
}
