/* SPDX-License-Identifier: MIT */
/* Rows: the machine's record, stored according to its event class (key/classes.h). */
#include "base/utf8.h"
#include "format/described/described.h"
#include <arpa/inet.h>

struct row {
  const struct described *described;
  struct kymo_plan_machine *machine;
  struct kymo_block *block;
  bool failed; /* memory ran out */
  bool is_odd; /* a value did not fit its field */
};

static bool room(struct row *row, size_t size) {
  row->failed |= !kymo_block_reserve(row->block, size);
  return !row->failed;
}

static void put_number(struct row *row, uint64_t value, size_t size) {
  if (room(row, size))
    kymo_block_number(row->block, value, size);
}

static void put_bytes(struct row *row, const uint8_t *bytes, size_t size) {
  if (size && room(row, size)) {
    memcpy(row->block->at, bytes, size);
    row->block->at += size;
  }
}

/* ---- texts ---- */

static void put_text(struct row *row, const uint8_t *text, size_t length) {
  length = length ? strnlen((const char *)text, length) : 0;
  if (room(row, length + 1))
    kymo_block_text(row->block, length ? (const char *)text : "", length);
}

/* Two digits for each byte, with a sign between groups. */
static void put_hex(struct row *row, const uint8_t *bytes, uint32_t size, const uint8_t *boundaries,
                    char between) {
  static const char digits[] = "0123456789abcdef";
  if (!room(row, (size_t)size * 3 + 1))
    return;
  uint8_t *at = row->block->at;
  for (uint32_t i = 0; i < size; i++) {
    if (i && between && (!boundaries || boundaries[i]))
      *at++ = (uint8_t)between;
    *at++ = (uint8_t)digits[bytes[i] >> 4];
    *at++ = (uint8_t)digits[bytes[i] & 15];
  }
  *at++ = '\0';
  row->block->at = at;
}

/* An address of 4 bytes, of 16 bytes whose last twelve are zeros, of 16 bytes, or of 6. */
static void put_address(struct row *row, const uint8_t *bytes, uint32_t size) {
  static const uint8_t zeros[12];
  char text[INET6_ADDRSTRLEN] = "";
  bool is_short = size == 4 || (size == 16 && memcmp(bytes + 4, zeros, sizeof zeros) == 0);
  if (is_short || size == 16) {
    inet_ntop(is_short ? AF_INET : AF_INET6, bytes, text, sizeof text);
    put_text(row, (const uint8_t *)text, strlen(text));
  } else {
    put_hex(row, bytes, size, NULL, size == 6 ? ':' : '\0');
  }
}

static void put_character(struct row *row, uint64_t code) {
  char text[4], *end = text;
  row->is_odd |= code > 0x10ffff;
  if (code <= 0x10ffff)
    end = kymo_put_character(text, (uint32_t)code);
  put_text(row, (const uint8_t *)text, (size_t)(end - text));
}

/* The code at *text, which moves after it; 0 at the end. */
static uint32_t next_character(const uint8_t **text, const uint8_t *end, uint32_t characters) {
  if (characters == KYMO_CHARACTERS_LATIN1)
    return *text < end ? *(*text)++ : 0;
  return end - *text < 2 ? 0 : kymo_next_utf16(text, end, characters == KYMO_CHARACTERS_UTF16_BIG);
}

/* A text in a custom encoding of the file, as UTF-8. */
static void put_recoded(struct row *row, const uint8_t *text, size_t length, uint32_t characters) {
  const uint8_t *end = text + length;
  if (!room(row, 2 * length + 1))
    return;
  char *at = (char *)row->block->at;
  for (uint32_t code; (code = next_character(&text, end, characters)) != 0;)
    at = kymo_put_character(at, code);
  *at++ = '\0';
  row->block->at = (uint8_t *)at;
}

static void put_form_text(struct row *row, const struct kymo_plan_form *form,
                          const struct kymo_expr_value *value) {
  static const uint8_t uuid[16] = {[4] = 1, [6] = 1, [8] = 1, [10] = 1};
  if (value->sort == KYMO_SORT_NUMBER && form->show == KYMO_SHOW_CHAR)
    put_character(row, value->n.high ? UINT64_MAX : value->n.low);
  else if (value->sort != KYMO_SORT_BYTES)
    put_text(row, NULL, 0);
  else if (form->show == KYMO_SHOW_ADDRESS)
    put_address(row, value->p, (uint32_t)value->size);
  else if (form->show == KYMO_SHOW_UUID)
    put_hex(row, value->p, (uint32_t)value->size, uuid, value->size == 16 ? '-' : '\0');
  else if (row->described->plan->root->characters != KYMO_CHARACTERS_UTF8)
    put_recoded(row, value->p, value->size, row->described->plan->root->characters);
  else
    put_text(row, value->p, value->size);
}

/* ---- numbers ---- */

/* Whether an integer field can hold the value; fields of other forms take all. */
static bool fits(const struct kymo_plan_form *form, const struct kymo_expr_value *value) {
  unsigned bits = form->bytes * 8;
  struct kymo_wide n = value->n;
  if (value->sort != KYMO_SORT_NUMBER || (form->kind != KYMO_FORM_UNSIGNED && form->kind != KYMO_FORM_SIGNED))
    return true;
  if (form->kind == KYMO_FORM_UNSIGNED)
    return n.high == 0 && (bits == 64 || n.low >> bits == 0);
  return n.high == ((int64_t)n.low < 0 ? -1 : 0) && kymo_sign_extend(n.low, bits) == (int64_t)n.low;
}

static void put_integer(struct row *row, const struct kymo_plan_form *form,
                        const struct kymo_expr_value *value) {
  bool is_number = value->sort == KYMO_SORT_NUMBER && fits(form, value);
  row->is_odd |= !is_number && value->sort != KYMO_SORT_ABSENT;
  put_number(row, is_number ? value->n.low : 0, form->bytes);
}

static void put_float(struct row *row, const struct kymo_plan_form *form,
                      const struct kymo_expr_value *value) {
  double number = value->sort == KYMO_SORT_FLOAT    ? value->f
                  : value->sort == KYMO_SORT_NUMBER ? kymo_wide_to_double(value->n)
                                                    : 0;
  uint64_t raw;
  if (form->has_scale && value->sort != KYMO_SORT_ABSENT)
    number = kymo_plan_scaled(number, form->scale, form->divisor, form->offset);
  if (form->bytes == 4) {
    float single = (float)number;
    uint32_t raw32;
    memcpy(&raw32, &single, sizeof raw32);
    raw = raw32;
  } else {
    memcpy(&raw, &number, sizeof raw);
  }
  put_number(row, raw, form->bytes);
}

/* ---- fields ---- */

static void put_value(struct row *row, const struct kymo_plan_form *form,
                      const struct kymo_expr_value *value) {
  uint32_t size = value->sort == KYMO_SORT_BYTES ? (uint32_t)value->size : 0;
  switch (form->kind) {
  case KYMO_FORM_UNSIGNED:
  case KYMO_FORM_SIGNED: put_integer(row, form, value); break;
  case KYMO_FORM_FLOAT: put_float(row, form, value); break;
  case KYMO_FORM_TEXT: put_form_text(row, form, value); break;
  case KYMO_FORM_BLOB: put_bytes(row, value->p, size); break;
  case KYMO_FORM_BLOB_FIXED:
    size = size > form->bytes ? form->bytes : size;
    put_bytes(row, value->p, size);
    if (size < form->bytes && room(row, form->bytes - size)) {
      memset(row->block->at, 0, form->bytes - size);
      row->block->at += form->bytes - size;
    }
  }
}

bool kymo_described_text(const struct described *described, const struct kymo_plan_form *form,
                         const struct kymo_expr_value *value, struct kymo_block *block) {
  struct row row = {.described = described, .block = block};
  if (form->kind != KYMO_FORM_TEXT)
    return false;
  put_form_text(&row, form, value);
  if (row.failed)
    free(block->bytes);
  return !row.failed;
}

static struct kymo_plan_form form_of(const struct row *row, const struct kymo_plan_option *option) {
  return kymo_plan_form(row->described->plan, option->shape, option->bits, option->view);
}

static uint32_t blob_bytes(const struct kymo_expr_value *value, bool is_blob) {
  return is_blob && value->sort == KYMO_SORT_BYTES ? (uint32_t)value->size : 0;
}

static bool has_blob(const struct row *row, const struct kymo_plan_option *options, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (form_of(row, &options[i]).kind == KYMO_FORM_BLOB)
      return true;
  return false;
}

static void put_list(struct row *row, const struct kymo_plan_option *options, uint32_t option_count,
                     const struct kymo_plan_item *items, uint32_t count) {
  bool is_counted = has_blob(row, options, option_count);
  put_number(row, count, 4);
  for (uint32_t i = 0; i < count && !row->failed; i++) {
    struct kymo_plan_form form = form_of(row, &options[items[i].option]);
    if (option_count > 1)
      put_number(row, items[i].option, 1);
    if (is_counted)
      put_number(row, blob_bytes(&items[i].value, form.kind == KYMO_FORM_BLOB), 4);
    put_value(row, &form, &items[i].value);
  }
}

/* One value: which of the options it has, or their number if it is absent. */
static void put_single(struct row *row, const struct kymo_plan_column *column, uint32_t which,
                       const struct kymo_expr_value *value) {
  const struct kymo_plan_option *options = &row->described->plan->options[column->first_option];
  uint32_t count = column->option_count;
  bool is_there = which < count;
  struct kymo_plan_form form = form_of(row, &options[is_there ? which : 0]);
  if ((column->is_optional || count > 1) && is_there && !fits(&form, value)) {
    row->is_odd = true;
    is_there = false;
    which = count;
  }
  if (count > 1)
    put_number(row, which, 1);
  else if (column->is_optional)
    put_number(row, is_there, 1);
  if (has_blob(row, options, count))
    put_number(row, blob_bytes(value, form.kind == KYMO_FORM_BLOB), 4);
  if (is_there || (count == 1 && !column->is_optional))
    put_value(row, &form, value);
}

/* Takes the items of an element of the list that a column is a member of: the first one and their number. */
static uint32_t take_items(struct kymo_plan_list *list, uint32_t element, uint32_t *count) {
  uint32_t first, next = list->next;
  while (next < list->count && list->items[next].element + 1 < element + 1)
    next++; /* of no element, in a plan that no compiler has made */
  for (first = next; next < list->count && list->items[next].element == element;)
    next++;
  list->next = next;
  *count = next - first;
  return first;
}

static void put_column(struct row *row, uint32_t index, uint32_t element);

/* A list of structs in an element of the list around it: its number of elements, and their members. */
static void put_structs(struct row *row, uint32_t index, uint32_t element) {
  const struct kymo_plan_column *columns = row->described->plan->columns;
  uint32_t count, end = index + 1 + columns[index].inner_count;
  uint32_t first = take_items(&row->machine->lists[index], element, &count);
  put_number(row, count, 4);
  for (uint32_t k = first; k < first + count && !row->failed; k++)
    for (uint32_t i = index + 1; i < end; i += 1 + columns[i].inner_count)
      if (!columns[i].is_hidden)
        put_column(row, i, k);
}

static void put_slot(struct row *row, const struct kymo_plan_column *column) {
  const struct kymo_plan_option *options = &row->described->plan->options[column->first_option];
  const struct kymo_expr_value *slots = row->machine->slots;
  uint32_t which = 0, count = column->option_count;
  while (which < count && slots[options[which].slot].sort == KYMO_SORT_ABSENT)
    which++;
  put_single(row, column, which, &slots[options[which < count ? which : 0].slot]);
}

/* `element`: of the list of structs that the column is a member of. */
static void put_column(struct row *row, uint32_t index, uint32_t element) {
  static const struct kymo_expr_value nothing = {.sort = KYMO_SORT_ABSENT};
  const struct kymo_plan_column *column = &row->described->plan->columns[index];
  uint32_t count;
  if (column->is_struct) {
    put_structs(row, index, element);
    return;
  }
  if (kymo_plan_is_single(column)) {
    put_slot(row, column);
    return;
  }
  uint32_t first = take_items(&row->machine->lists[index], element, &count);
  const struct kymo_plan_item *items = count ? &row->machine->lists[index].items[first] : NULL;
  const struct kymo_plan_item *last = count ? &items[count - 1] : NULL;
  if (column->is_list)
    put_list(row, &row->described->plan->options[column->first_option], column->option_count, items, count);
  else
    put_single(row, column, last ? last->option : column->option_count, last ? &last->value : &nothing);
}

/* Values of one form; absent ones are left out. */
static void put_values(struct row *row, const struct kymo_plan_form *form, const struct kymo_plan_item *items,
                       uint32_t count) {
  uint32_t there = 0;
  for (uint32_t i = 0; i < count; i++)
    there += items[i].value.sort != KYMO_SORT_ABSENT;
  put_number(row, there, 4);
  for (uint32_t i = 0; i < count && !row->failed; i++) {
    if (items[i].value.sort == KYMO_SORT_ABSENT)
      continue;
    if (form->kind == KYMO_FORM_BLOB)
      put_number(row, blob_bytes(&items[i].value, true), 4);
    put_value(row, form, &items[i].value);
  }
}

/* A field of a definition at run time; returns the items after its own. */
static const struct kymo_plan_item *put_field(struct row *row, const struct kymo_plan_record *record,
                                              uint32_t index, const struct kymo_plan_item *items) {
  const struct kymo_plan *plan = row->described->plan;
  const struct kymo_plan_field *field = &record->fields[index];
  if (field->override != KYMO_PLAN_NONE && plan->overrides[field->override].is_filler)
    return items;
  uint32_t count = (uint32_t)kymo_plan_values_of(plan, field->letter, field->count);
  if (kymo_plan_is_record_time(plan, record, index))
    return items + count;
  const struct kymo_plan_form form = field->form;
  if (kymo_plan_field_is_list(plan, field)) {
    put_values(row, &form, items, count);
    return items + count;
  }
  bool is_there = !field->is_optional || items->value.sort != KYMO_SORT_ABSENT;
  if (field->is_optional)
    put_number(row, is_there, 1);
  if (form.kind == KYMO_FORM_BLOB)
    put_number(row, blob_bytes(&items->value, true), 4);
  if (is_there)
    put_value(row, &form, &items->value);
  return items + count;
}

/* Fields [first, end) of a definition at run time; returns the items after theirs. */
static const struct kymo_plan_item *put_fields(struct row *row, const struct kymo_plan_record *record,
                                               uint32_t first, uint32_t end,
                                               const struct kymo_plan_item *items) {
  for (uint32_t i = first; i < end && !row->failed; i += 1 + record->fields[i].inner_count) {
    const struct kymo_plan_field *field = &record->fields[i];
    if (!field->inner_count) {
      items = put_field(row, record, i, items);
      continue;
    }
    if (!kymo_plan_is_delivered(row->described->plan, record, i))
      continue;
    put_number(row, field->count, 4);
    for (uint32_t k = 0; k < field->count && !row->failed; k++)
      items = put_fields(row, record, i + 1, i + 1 + field->inner_count, items);
  }
  return items;
}

/* The values that a damaged record lacks are absent. */
static void fill_up(struct row *row, const struct kymo_plan_record *record) {
  static const struct kymo_expr_value nothing = {.sort = KYMO_SORT_ABSENT};
  struct kymo_plan_machine *machine = row->machine;
  while (machine->fields.count < record->item_count && !row->failed)
    row->failed = !kymo_plan_append(machine, &machine->fields, &nothing, 0, 0);
}

static void put_rest(struct row *row, const struct kymo_plan_kind *kind) {
  const struct kymo_plan_record *record = row->machine->record;
  static const struct kymo_expr_value nothing = {.sort = KYMO_SORT_ABSENT};
  if (kind->from_table == KYMO_PLAN_NONE)
    return;
  if (record && !record->is_bytes && !record->is_unresolved) {
    fill_up(row, record);
    put_fields(row, record, 0, record->field_count, row->machine->fields.items);
    return;
  }
  const struct kymo_expr_value *value =
      row->machine->fields.count ? &row->machine->fields.items[0].value : &nothing;
  put_number(row, blob_bytes(value, true), 4);
  put_bytes(row, value->p, blob_bytes(value, true));
}

/* ---- the row ---- */

/* The class of the kind for the value of its EVENT. */
static uint32_t class_of(const struct row *row) {
  const struct described *described = row->described;
  struct kymo_plan_machine *machine = row->machine;
  const struct kymo_plan *plan = described->plan;
  const struct kymo_plan_kind *kind = &plan->kinds[machine->kind];
  uint32_t first = described->classes.first[machine->kind],
           count = described->classes.first[machine->kind + 1] - first;
  uint32_t more = KYMO_PLAN_NONE, item;
  const struct kymo_plan_option *option;
  if (kind->from_table != KYMO_PLAN_NONE) {
    more = machine->record && !machine->record->is_unresolved ? machine->record->index : KYMO_PLAN_NONE;
  } else if ((option = kymo_plan_event_option(plan, kind)) != NULL) {
    const struct kymo_expr_value *value = &machine->slots[option->slot];
    const struct kymo_plan_view *view = option->view == KYMO_PLAN_NONE ? NULL : &plan->views[option->view];
    const struct kymo_plan_version *version;
    if (view && value->sort == KYMO_SORT_NUMBER && view->token != KYMO_PLAN_NONE &&
        kymo_token_find(plan, view->token, &value->n, &item))
      more = described->classes.token_class[view->token][item];
    else if (view && view->names != KYMO_PLAN_NONE &&
             (version = kymo_plan_table_get(machine, view->names, value)))
      more = version->name;
  }
  return more < KYMO_PLAN_NONE && more + 1 < count ? first + 1 + more : first;
}

static void put_header(struct row *row, struct kymo_event_offset *event_offset) {
  struct kymo_plan_machine *machine = row->machine;
  int64_t bias = row->described->classes.bias_ns;
  bool has_place = machine->has_time || machine->state.has_last_time; /* else it is before all times */
  int64_t time = has_place ? kymo_described_time(machine) : -bias;
  row->is_odd |= time < -bias;
  *event_offset = (struct kymo_event_offset){
      time < -bias ? 0 : (uint64_t)time + (uint64_t)bias, (uint32_t)kymo_block_used(row->block),
      class_of(row) & KYMO_EVENT_OFFSET_CLASS, row->described->has_time && !machine->has_time};
  if (row->described->has_time)
    put_number(row, event_offset->cycles, 8);
  put_number(row, event_offset->class_index, 2);
  if (row->described->classes.may_lack_time)
    put_number(row, machine->has_time, 1);
}

bool kymo_described_row(const struct described *described, struct kymo_plan_machine *machine,
                        struct kymo_block *block, struct kymo_event_offset *event_offset) {
  struct row row = {.described = described, .machine = machine, .block = block};
  const struct kymo_plan_kind *kind = &described->plan->kinds[machine->kind];
  put_header(&row, event_offset);
  uint32_t first = kind->first_column, end = first + kind->column_count;
  for (uint32_t i = first; i < end; i++)
    machine->lists[i].next = 0;
  for (uint32_t i = first; i < end && !row.failed; i += 1 + described->plan->columns[i].inner_count)
    if (!described->plan->columns[i].is_hidden)
      put_column(&row, i, 0);
  put_rest(&row, kind);
  if (row.is_odd)
    kymo_plan_note_damage(machine, 10, machine->start, 0, "a value that does not fit its field");
  return !row.failed;
}
