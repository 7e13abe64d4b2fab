/* SPDX-License-Identifier: MIT */
/*
 * Records that files define themselves: a definition becomes a list of fields, each a letter of TYPES, and is
 * kept once for all equal ones. A definition that makes no sense (R7) is delivered as bytes.
 */
#include "base/list.h"
#include "plan/machine.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS_MAX 1024

/* A definition that is being parsed; its names are collected in `text`. */
struct definition {
  struct kymo_plan_machine *machine;
  const struct kymo_plan_recipe *recipe;
  struct kymo_expr_value name;
  bool has_length;
  uint64_t length;
  const char *wrong;              /* or NULL … */
  struct kymo_expr_value culprit; /* … and the wrong piece: the place of its bytes is known … */
  uint32_t at;                    /* … or this is the place, in bytes from the record's start; NONE:
                                   * unknown */
  struct kymo_expr_value field;   /* the name of its field; absent: it has none */
  struct part {
    struct kymo_expr_value name;
    uint32_t letter, override, count;
  } * parts;
  uint32_t count;
};

static struct kymo_expr_value text_value(const struct kymo_plan *plan, uint32_t text) {
  uint32_t size;
  const uint8_t *bytes = kymo_plan_text(plan, text, &size);
  return kymo_value_bytes(bytes, size);
}

/* ---- fields ---- */

static uint32_t find_letter(const struct definition *d, const struct kymo_expr_value *word) {
  const struct kymo_plan *plan = d->machine->plan;
  const struct kymo_plan_letters *list =
      d->recipe->letters == KYMO_PLAN_NONE ? NULL : &plan->letter_lists[d->recipe->letters];
  for (uint32_t i = 0; list && i < list->count; i++) {
    struct kymo_expr_value text = text_value(plan, plan->letters[list->first + i].text);
    if (kymo_value_is_equal(&text, word))
      return list->first + i;
  }
  return KYMO_PLAN_NONE;
}

static uint32_t find_override(const struct definition *d, const struct kymo_expr_value *name) {
  const struct kymo_plan *plan = d->machine->plan;
  for (uint32_t i = 0; i < d->recipe->override_count; i++) {
    struct kymo_expr_value text = text_value(plan, plan->overrides[d->recipe->first_override + i].name);
    if (kymo_value_is_equal(&text, name))
      return d->recipe->first_override + i;
  }
  return KYMO_PLAN_NONE;
}

static void add(struct definition *d, struct kymo_expr_value name, const struct kymo_expr_value *word,
                uint32_t count) {
  uint32_t letter = find_letter(d, word);
  d->culprit = *word;
  d->field = name;
  if (letter == KYMO_PLAN_NONE)
    d->wrong = "a definition of a record with a type that is not known";
  else if (d->count == FIELDS_MAX)
    d->wrong = "a definition of a record with more than 1024 fields";
  else
    d->parts[d->count++] = (struct part){name, letter, find_override(d, &name), count};
}

/* The next piece up to `split`; `rest` moves after it. */
static struct kymo_expr_value next_piece(struct kymo_expr_value *rest, const struct kymo_expr_value *split) {
  const uint8_t *at = split->size && rest->size ? memmem(rest->p, rest->size, split->p, split->size) : NULL;
  struct kymo_expr_value piece = kymo_value_bytes(rest->p, at ? (uint32_t)(at - rest->p) : rest->size);
  uint32_t used = (uint32_t)(piece.size + (at ? split->size : 0));
  rest->p += used;
  rest->size -= used;
  return piece;
}

static bool is_blank(uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r') || c == '\0'; }

static struct kymo_expr_value trim(struct kymo_expr_value text) {
  while (text.size && is_blank(text.p[0])) {
    text.p++;
    text.size--;
  }
  while (text.size && is_blank(text.p[text.size - 1]))
    text.size--;
  return text;
}

/* One letter a field, and a list of names. */
static void by_letters(struct definition *d, struct kymo_expr_value letters, struct kymo_expr_value names) {
  struct kymo_expr_value split = text_value(d->machine->plan, d->recipe->split);
  for (uint32_t i = 0; i < letters.size && !d->wrong; i++) {
    struct kymo_expr_value letter = kymo_value_bytes(letters.p + i, 1);
    d->culprit = letter;
    d->field.sort = KYMO_SORT_ABSENT;
    if (names.size == 0)
      d->wrong = "a definition of a record with fewer names than types";
    else
      add(d, trim(next_piece(&names, &split)), &letter, 0);
  }
  if (names.size && !d->wrong) {
    d->wrong = "a definition of a record with more names than types";
    d->culprit = names;
    d->field.sort = KYMO_SORT_ABSENT;
  }
}

/* Removes "[n]" from the end and returns n; 0: there is none. */
static uint32_t take_count(struct kymo_expr_value *text) {
  uint32_t at = (uint32_t)text->size, count = 0, factor = 1;
  if (at < 3 || text->p[at - 1] != ']')
    return 0;
  for (at--; at > 0 && text->p[at - 1] >= '0' && text->p[at - 1] <= '9' && factor <= 100000;
       at--, factor *= 10)
    count += factor * (text->p[at - 1] - '0');
  if (at == 0 || text->p[at - 1] != '[' || count > 65536)
    return 0;
  text->size = at - 1;
  *text = trim(*text);
  return count;
}

/* `type name`, `type[n] name` or `type name[n]`. */
static void by_text(struct definition *d, struct kymo_expr_value text) {
  struct kymo_expr_value split = text_value(d->machine->plan, d->recipe->split);
  while (text.size && !d->wrong) {
    struct kymo_expr_value piece = trim(next_piece(&text, &split));
    uint32_t count = take_count(&piece), at = (uint32_t)piece.size;
    if (piece.size == 0)
      continue;
    while (at > 0 && !is_blank(piece.p[at - 1]))
      at--;
    struct kymo_expr_value name = kymo_value_bytes(piece.p + at, piece.size - at);
    struct kymo_expr_value type = trim(kymo_value_bytes(piece.p, at));
    uint32_t other = take_count(&type);
    add(d, name, &type, count ? count : other);
  }
}

/* Bytes of an element of a type, 0 if they are not constant. */
static uint64_t bytes_of(const struct kymo_plan_type *type) {
  switch ((enum kymo_plan_encoding)type->encoding) {
  case KYMO_TYPE_UNSIGNED:
  case KYMO_TYPE_SIGNED:
  case KYMO_TYPE_FLOAT:
  case KYMO_TYPE_BCD:
  case KYMO_TYPE_FIXED: return type->size / 8;
  case KYMO_TYPE_BYTES:
  case KYMO_TYPE_STRING:
  case KYMO_TYPE_STRING_WHOLE:
  case KYMO_TYPE_TEXT_NUMBER: return type->size == KYMO_SIZE_TO_END ? 0 : type->size;
  default: return 0;
  }
}

/* A name or type as text; formats that use numbers have their digits instead. */
static struct kymo_expr_value word_of(struct definition *d, const struct kymo_expr_value *value) {
  enum { DIGITS = 24 };
  if (value->sort != KYMO_SORT_NUMBER)
    return value->sort == KYMO_SORT_BYTES ? *value : kymo_value_bytes((const uint8_t *)"", 0);
  char *digits = kymo_plan_work(d->machine, DIGITS);
  if (!digits)
    return kymo_value_bytes((const uint8_t *)"", 0);
  const char *sign = value->n.high < 0 ? "-" : "";
  uint64_t magnitude = value->n.high < 0 ? -value->n.low : value->n.low;
  return kymo_value_bytes((const uint8_t *)digits,
                          (uint32_t)snprintf(digits, DIGITS, "%s%" PRIu64, sign, magnitude));
}

/* Parallel lists of names and types, and optionally of sizes in bytes. */
static void by_list(struct definition *d) {
  const struct kymo_plan_machine *machine = d->machine;
  const struct kymo_plan_list *names = &machine->lists[d->recipe->name_column],
                              *types = &machine->lists[d->recipe->type_column];
  const struct kymo_plan_list *sizes =
      d->recipe->size_column == KYMO_PLAN_NONE ? NULL : &machine->lists[d->recipe->size_column];
  if (names->count != types->count || (sizes && sizes->count != names->count))
    d->wrong = "a definition of a record by lists of different lengths";
  for (uint32_t i = 0; i < names->count && !d->wrong; i++) {
    struct kymo_expr_value word = word_of(d, &types->items[i].value);
    d->at = types->items[i].at;
    add(d, word_of(d, &names->items[i].value), &word, 0);
    if (d->wrong || !sizes || sizes->items[i].value.sort != KYMO_SORT_NUMBER)
      continue;
    const struct kymo_plan_letter *letter = &machine->plan->letters[d->parts[d->count - 1].letter];
    uint64_t one = bytes_of(&machine->plan->types[letter->type]), size = sizes->items[i].value.n.low;
    if (!one || size % one || size / one > 65536 || size == 0) {
      d->wrong = "a definition of a record with a size that its type cannot have";
      d->culprit = sizes->items[i].value;
      d->at = sizes->items[i].at;
    } else if (size / one != (letter->count ? letter->count : 1))
      d->parts[d->count - 1].count = (uint32_t)(size / one);
  }
}

/* The number of values of a field: the count in the definition times that of its type. */
static uint64_t values_of(const struct kymo_plan *plan, uint32_t letter, uint32_t count) {
  uint64_t each = plan->letters[letter].count;
  return (each ? each : 1) * (count ? count : 1);
}

/* Types may have no bytes, so that the data do not bound the number of values in a record. */
static void limit_values(struct definition *d) {
  uint64_t values = 0;
  for (uint32_t i = 0; i < d->count; i++)
    values += values_of(d->machine->plan, d->parts[i].letter, d->parts[i].count);
  if (values > KYMO_PLAN_REPEAT_LIMIT && !d->wrong) {
    d->wrong = "a definition of a record with more than 1048576 values";
    d->culprit = d->name;
    d->field.sort = KYMO_SORT_ABSENT;
  }
}

/* ---- keeping definitions ---- */

static void put(struct kymo_strbuf *out, const void *bytes, uint32_t size) {
  kymo_strbuf_add(out, (const char *)&size, sizeof size);
  kymo_strbuf_add(out, bytes, size);
}

/* The identity of a definition. */
static void spell(const struct definition *d, struct kymo_strbuf *out) {
  put(out, &d->recipe, sizeof d->recipe);
  put(out, d->name.p, (uint32_t)d->name.size);
  put(out, &d->length, sizeof d->length);
  for (uint32_t i = 0; i < d->count; i++) {
    const uint32_t numbers[3] = {d->parts[i].letter, d->parts[i].override, d->parts[i].count};
    put(out, numbers, sizeof numbers);
    put(out, d->parts[i].name.p, (uint32_t)d->parts[i].name.size);
  }
}

static struct kymo_plan_record *make(const struct definition *d, struct kymo_arena *arena) {
  struct kymo_plan_record *record = kymo_arena_alloc(arena, sizeof *record);
  struct kymo_plan_field *fields = kymo_arena_array(arena, d->count + 1, sizeof *fields);
  if (!record || !fields)
    return NULL;
  *record = (struct kymo_plan_record){.recipe = (uint32_t)(d->recipe - d->machine->plan->recipes),
                                      .table = d->recipe->table,
                                      .field_count = d->count,
                                      .fields = fields,
                                      .is_bytes = d->wrong != NULL,
                                      .has_length = d->has_length,
                                      .length = d->length};
  record->name =
      kymo_arena_copy(arena, (const char *)d->name.p, strnlen((const char *)d->name.p, d->name.size));
  for (uint32_t i = 0; i < d->count && record->name; i++) {
    const struct part *part = &d->parts[i];
    fields[i] =
        (struct kymo_plan_field){.letter = part->letter, .override = part->override, .count = part->count};
    fields[i].name = kymo_arena_copy(arena, (const char *)part->name.p,
                                     strnlen((const char *)part->name.p, part->name.size));
    if (!fields[i].name)
      return NULL;
  }
  return record->name ? record : NULL;
}

/* The one record of this definition, which the first pass has found or finds now. NULL: it was not found, or
 * out of memory. */
static struct kymo_plan_record *intern(const struct definition *d) {
  struct kymo_plan_found *found = d->machine->found;
  struct kymo_plan_records *records = found ? &found->records[d->recipe->table] : NULL;
  struct kymo_strbuf spelled = {0};
  struct kymo_plan_record *record = NULL;
  if (!records)
    return NULL;
  spell(d, &spelled);
  struct kymo_expr_value text = kymo_value_bytes((const uint8_t *)spelled.text, (uint32_t)spelled.length);
  uint32_t index = spelled.failed
                       ? KYMO_PLAN_NONE
                       : kymo_plan_found_text(found, &records->spelled, &text, d->machine->may_find);
  kymo_strbuf_free(&spelled);
  if (index == KYMO_PLAN_NONE)
    return NULL;
  if (index < records->count)
    return records->list[index];
  record = make(d, &found->arena);
  if (!KYMO_LIST_ROOM(records->list, records->capacity, records->count))
    record = NULL;
  found->failed |= !record;
  if (record) {
    record->index = records->count;
    records->list[records->count++] = record;
  }
  return record;
}

/* Raises at the wrong piece, with its text, its field and the record. */
static bool mark_wrong(const struct definition *d) {
  const struct kymo_plan_machine *machine = d->machine;
  const struct kymo_expr_value *const pieces[3] = {&d->culprit, &d->field, &d->name};
  char texts[3][KYMO_PLAN_DESCRIBED];
  for (int i = 0; i < 3; i++)
    kymo_plan_describe(pieces[i], false, texts[i], sizeof texts[i]);
  uint64_t bits = kymo_plan_bits_since(machine, &d->culprit), begin = (machine->start + d->at) * 8;
  if (!bits && d->at != KYMO_PLAN_NONE && begin <= machine->bit)
    bits = machine->bit - begin;
  return kymo_plan_mark_field(d->machine, 7, bits, "%s%s%s%s%s%s%s", d->wrong, *texts[0] ? ", found " : "",
                              texts[0], *texts[1] ? ", in " : "", texts[1],
                              *texts[2] ? *texts[1] ? " of " : ", in " : "", texts[2]);
}

/* Makes a definition with space for its parts. */
static bool define(struct definition *d, const struct kymo_expr_value *operands) {
  struct kymo_plan_machine *machine = d->machine;
  const struct kymo_expr_value *source = operands + 2;
  if (d->recipe->style == KYMO_STYLE_LETTERS)
    by_letters(d, source[0], source[1]);
  else if (d->recipe->style == KYMO_STYLE_TEXT)
    by_text(d, source[0]);
  else
    by_list(d);
  limit_values(d);
  if (machine->r || (d->wrong && !mark_wrong(d)))
    return false;
  const struct kymo_plan_record *record = intern(d);
  return !record || kymo_plan_table_set(machine, d->recipe->table, &operands[0], NULL, record);
}

bool kymo_plan_define_record(struct kymo_plan_machine *machine, const struct kymo_plan_recipe *recipe,
                             const struct kymo_expr_value *operands) {
  struct definition d = {.machine = machine,
                         .recipe = recipe,
                         .name = operands[1],
                         .has_length = recipe->has_length != 0,
                         .at = KYMO_PLAN_NONE};
  const struct kymo_expr_value *source = operands + 2;
  uint32_t sources = recipe->style == KYMO_STYLE_LETTERS ? 2 : recipe->style == KYMO_STYLE_TEXT ? 1 : 0;
  bool ok = operands[0].sort != KYMO_SORT_ABSENT && d.name.sort == KYMO_SORT_BYTES;
  for (uint32_t i = 0; i < sources; i++)
    ok = ok && source[i].sort == KYMO_SORT_BYTES;
  if (!ok || machine->is_dry)
    return true;
  if (d.has_length && !kymo_plan_as_count(machine, source + sources, "the LENGTH of a record", &d.length))
    return false;
  d.parts = reallocarray(NULL, FIELDS_MAX, sizeof *d.parts);
  if (!d.parts) {
    machine->failed = true;
    return false;
  }
  ok = define(&d, operands);
  free(d.parts);
  return ok;
}

/* ---- decoding by a definition ---- */

static bool is_time(const struct kymo_plan *plan, const struct kymo_plan_field *field) {
  return field->override != KYMO_PLAN_NONE && plan->overrides[field->override].clock != KYMO_PLAN_NONE;
}

bool kymo_plan_is_record_time(const struct kymo_plan *plan, const struct kymo_plan_record *record,
                              uint32_t field) {
  for (uint32_t i = 0; i < record->field_count; i++) {
    uint32_t mode = is_time(plan, &record->fields[i]) ? plan->overrides[record->fields[i].override].time_mode
                                                      : KYMO_TIME_MODES;
    if (mode == KYMO_TIME_POINT || mode == KYMO_TIME_DISTANCE || mode == KYMO_TIME_LOW)
      return i == field;
  }
  return false;
}

static bool convert(struct kymo_plan_machine *machine, const struct kymo_plan_override *how,
                    struct kymo_expr_value *value) {
  struct kymo_expr_value operands[2] = {*value,
                                        kymo_value_u64(kymo_plan_wide(how->unit_low, how->unit_high))};
  struct kymo_plan_instruction what = {KYMO_DO_TIME, how->clock, how->time_mode | how->unit_kind,
                                       how->low_bits};
  return kymo_plan_time(machine, &what, operands, value);
}

static bool run_field(struct kymo_plan_machine *machine, const struct kymo_plan_field *field,
                      uint32_t *count) {
  const struct kymo_plan *plan = machine->plan;
  const struct kymo_plan_letter *letter = &plan->letters[field->letter];
  const struct kymo_plan_type *type = &plan->types[letter->type];
  const struct kymo_plan_override *how =
      field->override == KYMO_PLAN_NONE ? NULL : &plan->overrides[field->override];
  bool has_order = how && how->order != KYMO_PLAN_NONE;
  uint64_t times = values_of(plan, field->letter, field->count);
  for (*count = 0; *count < times; ++*count) {
    struct kymo_expr_value value = {0};
    uint64_t begin = machine->bit;
    if (!kymo_plan_load_value(machine, type, type->size, has_order,
                              has_order ? (enum kymo_plan_order)how->order : KYMO_PLAN_LITTLE, &value)) {
      machine->bit = begin;
      return false;
    }
    kymo_plan_report_loaded(
        machine, (struct kymo_plan_loaded){begin, machine->bit, KYMO_PLAN_NONE, NULL, field->name, value});
    if ((is_time(plan, field) && !convert(machine, how, &value)) ||
        !kymo_plan_append(machine, &machine->fields, &value, 0, 0))
      return false;
  }
  return true;
}

/* All remaining bytes as one value. */
static bool run_bytes(struct kymo_plan_machine *machine) {
  static const struct kymo_plan_type rest = {.encoding = KYMO_TYPE_BYTES, .size = KYMO_SIZE_TO_END};
  struct kymo_expr_value value = {0};
  machine->fields.count = 0;
  return kymo_plan_load_value(machine, &rest, rest.size, false, KYMO_PLAN_LITTLE, &value) &&
         kymo_plan_append(machine, &machine->fields, &value, 0, 0);
}

/* The number of fields for which there are bytes: the record does not fit if that is less than all, or if
 * bytes remain. */
static uint32_t run_fields(struct kymo_plan_machine *machine, const struct kymo_plan_record *record) {
  uint32_t i = 0;
  while (i < record->field_count && run_field(machine, &record->fields[i], &machine->field_counts[i]))
    i++;
  return i;
}

/* Delivers a record that does not fit its definition as bytes, from `field` on. False after raising: the
 * file ends. */
static bool run_misfit(struct kymo_plan_machine *machine, const struct kymo_plan_record *record,
                       uint32_t field, uint64_t begin) {
  char place[2 * KYMO_PLAN_DESCRIBED + 16];
  kymo_plan_describe_field(record, field, place, sizeof place);
  if (machine->r == 1) {
    size_t used = strlen(machine->r_text);
    snprintf(machine->r_text + used, sizeof machine->r_text - used, "%s", place);
    return false;
  }
  machine->r = 0;
  bool goes_on = kymo_plan_mark(machine, 7, "a record whose definition does not fit its length%s", place);
  machine->bit = begin;
  return goes_on && run_bytes(machine);
}

bool kymo_plan_run_record(struct kymo_plan_machine *machine, const struct kymo_plan_record *record) {
  const struct kymo_plan_watch *watch = machine->watch;
  uint64_t begin = machine->bit;
  machine->record = record;
  machine->fields.count = 0;
  if (record->has_length && machine->record_end == UINT64_MAX &&
      !kymo_plan_set_length(machine, record->length))
    return false;
  if (!KYMO_LIST_RESERVE(machine->field_counts, machine->field_capacity, record->field_count)) {
    machine->failed = true;
    return false;
  }
  /* then the fields only show where the record does not fit */
  machine->watch = record->is_bytes ? NULL : watch;
  uint32_t fitting =
      record->is_bytes && !record->is_misfit ? record->field_count : run_fields(machine, record);
  machine->watch = watch;
  machine->r = record->is_bytes ? 0 : machine->r;
  bool ok =
      fitting == record->field_count && (!record->has_length || machine->bit == machine->record_end * 8);
  if (machine->failed || (ok && !record->is_bytes))
    return ok && !machine->failed;
  if (!record->is_bytes && machine->r != 1 && machine->may_find) {
    struct kymo_plan_record *found = (struct kymo_plan_record *)(uintptr_t)record;
    found->is_bytes = found->is_misfit = true;
  }
  return run_misfit(machine, record, fitting, begin);
}
