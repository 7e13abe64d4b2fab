/* SPDX-License-Identifier: MIT */
/*
 * Records that files define themselves: a definition becomes a list of fields, each a letter of TYPES or the
 * name of another definition (nested.c), and is kept once for all equal ones. Records of a definition that
 * makes no sense (R7) are delivered as bytes.
 */
#include "base/hash.h"
#include "base/list.h"
#include "base/search.h"
#include "plan/definition.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_MAX_BYTES 0x7fffffff /* of a value that the definition sizes */

/* ---- patterns of FIELD ---- */

bool kymo_plan_globs_make(struct kymo_plan_machine *machine) {
  const struct kymo_plan *plan = machine->plan;
  uint32_t count = KYMO_PLAN_COUNT(plan, OVERRIDE), size;
  for (uint32_t i = 0; i < count; i++) {
    const uint8_t *text = kymo_plan_text(plan, plan->overrides[i].name, &size);
    size_t at;
    if (!plan->overrides[i].is_pattern)
      continue;
    if (!machine->globs)
      machine->globs = calloc(count, sizeof *machine->globs);
    if (!machine->globs)
      return false;
    kymo_glob_make(&machine->globs[i], (const char *)text, size, &at); /* a wrong one matches nothing */
  }
  return true;
}

void kymo_plan_globs_free(struct kymo_plan_machine *machine) {
  for (uint32_t i = 0; machine->globs && i < KYMO_PLAN_COUNT(machine->plan, OVERRIDE); i++)
    kymo_glob_free(&machine->globs[i]);
  free(machine->globs);
}

static bool matches(struct kymo_plan_machine *machine, uint32_t override,
                    const struct kymo_expr_value *name) {
  char *text = kymo_plan_work(machine, name->size + 1);
  if (!text)
    return false;
  memcpy(text, name->p, name->size);
  text[name->size] = '\0';
  return kymo_glob_matches(&machine->globs[override], text);
}

static struct kymo_expr_value text_value(const struct kymo_plan *plan, uint32_t text) {
  uint32_t size;
  const uint8_t *bytes = kymo_plan_text(plan, text, &size);
  return kymo_value_bytes(bytes, size);
}

/* ---- fields ---- */

/* Most words differ in their first byte already. */
static bool is_word(const struct kymo_plan *plan, uint32_t text, const struct kymo_expr_value *word) {
  struct kymo_expr_value value = text_value(plan, text);
  bool is_other = value.size && word->size && value.p[0] != word->p[0];
  return !is_other && kymo_value_is_equal(&value, word);
}

static uint32_t find_letter(const struct kymo_plan_definition *d, const struct kymo_expr_value *word) {
  const struct kymo_plan *plan = d->machine->plan;
  const struct kymo_plan_letters *list =
      d->source->letters == KYMO_PLAN_NONE ? NULL : &plan->letter_lists[d->source->letters];
  for (uint32_t i = 0; list && i < list->count; i++)
    if (is_word(plan, plan->letters[list->first + i].text, word))
      return list->first + i;
  return KYMO_PLAN_NONE;
}

static uint32_t find_override(const struct kymo_plan_definition *d, const struct kymo_expr_value *name) {
  const struct kymo_plan *plan = d->machine->plan;
  uint32_t first = d->source->first_override;
  for (uint32_t i = first; i < first + d->source->override_count; i++)
    if (plan->overrides[i].is_pattern ? matches(d->machine, i, name)
                                      : is_word(plan, plan->overrides[i].name, name))
      return i;
  return KYMO_PLAN_NONE;
}

void kymo_plan_definition_fail(struct kymo_plan_definition *d, const char *wrong,
                               const struct kymo_expr_value *culprit, const struct kymo_expr_value *field) {
  if (d->wrong)
    return;
  d->wrong = wrong;
  d->culprit = *culprit;
  d->field = *field;
}

static const struct kymo_plan_type *type_of(const struct kymo_plan_definition *d, uint32_t letter) {
  return letter == KYMO_PLAN_NONE ? NULL : &d->machine->plan->types[d->machine->plan->letters[letter].type];
}

/* Whether the definition says how many bytes a value of this letter has. */
static bool is_sized(const struct kymo_plan_definition *d, uint32_t letter) {
  return letter != KYMO_PLAN_NONE && type_of(d, letter)->size == KYMO_SIZE_POPPED;
}

/* Adds a field; NULL: something is wrong. `key`: of the definition that a type names which no letter has. */
static struct kymo_plan_member *add(struct kymo_plan_definition *d, struct kymo_expr_value name,
                                    const struct kymo_expr_value *word, const struct kymo_expr_value *key) {
  static const struct kymo_expr_value nothing = {.sort = KYMO_SORT_ABSENT};
  struct kymo_plan_member member = {.name = name,
                                    .path = nothing,
                                    .key = nothing,
                                    .absent = nothing,
                                    .unit = nothing,
                                    .letter = find_letter(d, word),
                                    .size = KYMO_PLAN_NONE,
                                    .order = d->recipe->same_order ? d->machine->order : KYMO_PLAN_NONE};
  member.override = find_override(d, &name);
  if (member.letter == KYMO_PLAN_NONE && d->source->nested && key->sort != KYMO_SORT_ABSENT) {
    member.key = *key;
    member.key_table = d->source->nested - 1;
    d->is_unresolved = true;
  } else if (member.letter == KYMO_PLAN_NONE) {
    kymo_plan_definition_fail(d, "a definition of a record with a type that is not known", word, &name);
  }
  if (d->count == KYMO_PLAN_FIELDS)
    kymo_plan_definition_fail(d, "a definition of a record with more than 1024 fields", word, &name);
  if (d->wrong)
    return NULL;
  d->members[d->count] = member;
  return &d->members[d->count++];
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
static void by_letters(struct kymo_plan_definition *d, struct kymo_expr_value letters,
                       struct kymo_expr_value names) {
  static const struct kymo_expr_value nothing = {.sort = KYMO_SORT_ABSENT};
  struct kymo_expr_value split = text_value(d->machine->plan, d->recipe->split);
  for (uint32_t i = 0; i < letters.size && !d->wrong; i++) {
    struct kymo_expr_value letter = kymo_value_bytes(letters.p + i, 1);
    if (names.size == 0) {
      kymo_plan_definition_fail(d, "a definition of a record with fewer names than types", &letter, &nothing);
      return;
    }
    struct kymo_plan_member *member = add(d, trim(next_piece(&names, &split)), &letter, &nothing);
    if (member && is_sized(d, member->letter)) /* no compiler makes such a plan */
      member->size = 0;
  }
  if (names.size)
    kymo_plan_definition_fail(d, "a definition of a record with more names than types", &names, &nothing);
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
static void by_text(struct kymo_plan_definition *d, struct kymo_expr_value text) {
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
    struct kymo_plan_member *member = add(d, name, &type, &type);
    count = count ? count : other;
    if (member && is_sized(d, member->letter))
      member->size = count ? count : 1;
    else if (member)
      member->count = count;
  }
}

/* Bytes of an element of a type, 0 if they are not constant. */
uint64_t kymo_plan_type_bytes(const struct kymo_plan_type *type) {
  switch ((enum kymo_plan_encoding)type->encoding) {
  case KYMO_TYPE_UNSIGNED:
  case KYMO_TYPE_SIGNED:
  case KYMO_TYPE_FLOAT:
  case KYMO_TYPE_BCD:
  case KYMO_TYPE_FIXED: return type->size / 8;
  case KYMO_TYPE_BYTES:
  case KYMO_TYPE_STRING:
  case KYMO_TYPE_STRING_WHOLE:
  case KYMO_TYPE_TEXT_NUMBER: return type->size >= KYMO_SIZE_TO_END ? 0 : type->size;
  default: return 0;
  }
}

/* A name or type as text; formats that use numbers have their digits instead. */
static struct kymo_expr_value word_of(struct kymo_plan_definition *d, const struct kymo_expr_value *value) {
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

/* The size of a field in bytes, which a list says: that of its value, or of all elements. */
static void set_size(struct kymo_plan_definition *d, struct kymo_plan_member *member,
                     const struct kymo_plan_item *item) {
  const struct kymo_plan_type *type = type_of(d, member->letter);
  uint64_t one = type ? kymo_plan_type_bytes(type) : 0, size = item->value.n.low;
  uint32_t each = type ? d->machine->plan->letters[member->letter].count : 0;
  bool is_number = item->value.n.high == 0 && size <= SIZE_MAX_BYTES;
  if (is_number && (!type || type->size == KYMO_SIZE_POPPED)) {
    member->size = (uint32_t)size;
    return;
  }
  if (!one || !is_number || size % one || size / one > 65536 || size == 0) {
    d->at = item->at;
    kymo_plan_definition_fail(d, "a definition of a record with a size that its type cannot have",
                              &item->value, &member->name);
  } else if (size / one != (each ? each : 1)) {
    member->count = (uint32_t)(size / one);
  }
}

/* Whether two columns are members of one list of structs. */
static bool are_together(const struct kymo_plan *plan, uint32_t a, uint32_t b) {
  return plan->columns[a].parent && plan->columns[a].parent == plan->columns[b].parent;
}

/* Whether values of each field are at the same place in both lists. */
static bool are_parallel(const struct kymo_plan_definition *d, uint32_t a, uint32_t b) {
  const struct kymo_plan_list *one = &d->machine->lists[a], *other = &d->machine->lists[b];
  bool are = one->count == other->count;
  for (uint32_t i = 0; i < one->count && are && are_together(d->machine->plan, a, b); i++)
    are = one->items[i].element == other->items[i].element;
  return are;
}

/* Whether the values in a list are each of a known field. */
static bool is_beside(const struct kymo_plan_definition *d, uint32_t column) {
  return !column || are_together(d->machine->plan, d->source->name_column, column - 1) ||
         are_parallel(d, d->source->name_column, column - 1);
}

/* The value for a field in one of the lists beside that of the names: that of the same element, or place. */
static struct kymo_expr_value beside(const struct kymo_plan_definition *d, uint32_t column, uint32_t i) {
  static const struct kymo_expr_value nothing = {.sort = KYMO_SORT_ABSENT};
  const struct kymo_plan_machine *machine = d->machine;
  const struct kymo_plan_list *names = &machine->lists[d->source->name_column];
  const struct kymo_plan_list *list = column ? &machine->lists[column - 1] : NULL;
  if (!list)
    return nothing;
  if (!are_together(machine->plan, d->source->name_column, column - 1))
    return i < list->count ? list->items[i].value : nothing;
  uint32_t element = names->items[i].element,
           at = KYMO_COUNT_BEFORE(list->count, k, list->items[k].element < element);
  return at < list->count && list->items[at].element == element ? list->items[at].value : nothing;
}

static double number_or(struct kymo_expr_value value, double otherwise) {
  return value.sort == KYMO_SORT_NUMBER ? kymo_wide_to_double(value.n) : otherwise;
}

/* What lists say of a field besides its name, type and size. */
static void add_attributes(const struct kymo_plan_definition *d, struct kymo_plan_member *member,
                           uint32_t i) {
  const struct kymo_plan_recipe *source = d->source;
  uint64_t bits = kymo_plan_wide(source->scale_low, source->scale_high);
  struct kymo_expr_value unit = beside(d, source->unit_column, i);
  double scale = 1;
  if (bits && !source->scale_column)
    memcpy(&scale, &bits, sizeof scale);
  member->scale = number_or(beside(d, source->scale_column, i), scale);
  member->over = number_or(beside(d, source->over_column, i), 1);
  member->offset = number_or(beside(d, source->offset_column, i), 0);
  member->offset = source->offset_is_negative ? 0 - member->offset : member->offset;
  member->over = member->over == 0 ? 1 : member->over; /* as if it said nothing */
  member->scale = member->scale == 0 ? 1 : member->scale;
  member->has_scale = member->scale != member->over || member->offset != 0;
  member->absent = beside(d, source->absent_column, i);
  if (unit.sort == KYMO_SORT_BYTES && unit.size && unit.p[0])
    member->unit = unit;
}

/* Parallel lists of names and types, and optionally of sizes in bytes and more. */
static void by_list(struct kymo_plan_definition *d) {
  static const struct kymo_expr_value nothing = {.sort = KYMO_SORT_ABSENT};
  const struct kymo_plan_machine *machine = d->machine;
  const struct kymo_plan_recipe *source = d->source;
  const struct kymo_plan_list *names = &machine->lists[source->name_column],
                              *types = &machine->lists[source->type_column];
  const struct kymo_plan_list *sizes =
      source->size_column == KYMO_PLAN_NONE ? NULL : &machine->lists[source->size_column];
  bool is_by_name = source->nested && machine->plan->tables[source->nested - 1].is_by_name;
  if (!are_parallel(d, source->name_column, source->type_column) ||
      (sizes && !are_parallel(d, source->name_column, source->size_column)) ||
      !is_beside(d, source->scale_column) || !is_beside(d, source->over_column) ||
      !is_beside(d, source->offset_column) || !is_beside(d, source->unit_column) ||
      !is_beside(d, source->absent_column))
    kymo_plan_definition_fail(d, "a definition of a record by lists of different lengths", &nothing,
                              &nothing);
  for (uint32_t i = 0; i < names->count && !d->wrong; i++) {
    struct kymo_expr_value word = word_of(d, &types->items[i].value);
    d->at = types->items[i].at;
    struct kymo_plan_member *member =
        add(d, word_of(d, &names->items[i].value), &word, is_by_name ? &word : &types->items[i].value);
    if (!member)
      return;
    add_attributes(d, member, i);
    if (sizes && sizes->items[i].value.sort == KYMO_SORT_NUMBER)
      set_size(d, member, &sizes->items[i]);
    else if (is_sized(d, member->letter))
      kymo_plan_definition_fail(d, "a definition of a record with a type that has no size", &word,
                                &member->name);
  }
}

/* Types may have no bytes, so that the data do not bound the number of values in a record. */
static void limit_values(struct kymo_plan_definition *d) {
  static const struct kymo_expr_value nothing = {.sort = KYMO_SORT_ABSENT};
  uint64_t values = 0;
  for (uint32_t i = 0; i < d->count; i++)
    values += kymo_plan_values_of(d->machine->plan, d->members[i].letter, d->members[i].count);
  if (values > KYMO_PLAN_REPEAT_LIMIT)
    kymo_plan_definition_fail(d, "a definition of a record with more than 1048576 values", &d->name,
                              &nothing);
}

static bool is_delivered(const struct kymo_plan_definition *d, const struct kymo_plan_member *member) {
  return member->override == KYMO_PLAN_NONE || !d->machine->plan->overrides[member->override].is_filler;
}

/* Users could not distinguish two fields of one name. */
static void find_twins(struct kymo_plan_definition *d) {
  struct kymo_hash_table names = {0};
  for (uint32_t i = 0; i < d->count && !d->wrong; i++) {
    const struct kymo_expr_value *name = &d->members[i].name;
    uint32_t hash = (uint32_t)kymo_keyed_text((const char *)name->p, name->size), at = hash;
    uintptr_t item;
    if (!is_delivered(d, &d->members[i]))
      continue;
    while ((item = kymo_hash_table_next(&names, hash, &at)))
      if (kymo_value_is_equal(&d->members[item - 1].name, name))
        kymo_plan_definition_fail(d, "a definition of a record with two fields of one name", name, name);
    d->machine->failed |= !kymo_hash_table_add(&names, NULL, hash, i + 1);
  }
  kymo_hash_table_free(&names);
}

/* ---- keeping definitions ---- */

static void put(struct kymo_strbuf *out, const void *bytes, size_t size) {
  kymo_strbuf_add(out, (const char *)bytes, size);
}

static uint32_t size_of(const struct kymo_expr_value *value) {
  return value->sort == KYMO_SORT_BYTES ? (uint32_t)value->size : 0;
}

/* Its sort and size come before. */
static void put_value(struct kymo_strbuf *out, const struct kymo_expr_value *value) {
  if (value->sort == KYMO_SORT_BYTES)
    put(out, value->p, value->size);
  else if (value->sort == KYMO_SORT_NUMBER)
    put(out, &value->n, sizeof value->n);
}

static void spell_member(const struct kymo_plan_member *member, struct kymo_strbuf *out) {
  const struct kymo_expr_value *values[] = {&member->name, &member->key, &member->absent, &member->unit};
  const uint32_t numbers[] = {member->letter,      member->override,   member->count,    member->size,
                              member->inner_count, member->order,      member->is_inner, member->has_scale,
                              values[0]->sort,     size_of(values[0]), values[1]->sort,  size_of(values[1]),
                              values[2]->sort,     size_of(values[2]), values[3]->sort,  size_of(values[3])};
  const double factors[] = {member->scale, member->over, member->offset};
  put(out, numbers, sizeof numbers);
  if (member->has_scale)
    put(out, factors, sizeof factors);
  for (size_t i = 0; i < sizeof values / sizeof *values; i++)
    put_value(out, values[i]);
}

/* The identity of a definition. */
static void spell(const struct kymo_plan_definition *d, struct kymo_strbuf *out) {
  const uint64_t numbers[] = {(uint64_t)(d->recipe - d->machine->plan->recipes), d->length,
                              size_of(&d->name)};
  put(out, numbers, sizeof numbers);
  put_value(out, &d->name);
  for (uint32_t i = 0; i < d->count; i++)
    spell_member(&d->members[i], out);
}

/* A copy up to the first zero. */
static const char *text_copy(struct kymo_arena *arena, const struct kymo_expr_value *text) {
  return kymo_arena_copy(arena, (const char *)text->p, strnlen((const char *)text->p, text->size));
}

static bool own(struct kymo_arena *arena, struct kymo_expr_value *value) {
  if (value->sort == KYMO_SORT_BYTES)
    value->p = (const uint8_t *)kymo_arena_copy(arena, (const char *)value->p, value->size);
  return value->sort != KYMO_SORT_BYTES || value->p;
}

static bool make_field(struct kymo_plan_field *field, const struct kymo_plan_member *member,
                       const struct kymo_plan *plan, struct kymo_arena *arena) {
  *field = (struct kymo_plan_field){.name = text_copy(arena, &member->name),
                                    .letter = member->letter,
                                    .override = member->override,
                                    .count = member->count,
                                    .size = member->size,
                                    .inner_count = member->inner_count,
                                    .order = member->order,
                                    .is_inner = member->is_inner,
                                    .has_scale = member->has_scale,
                                    .scale = member->scale,
                                    .over = member->over,
                                    .offset = member->offset,
                                    .absent = member->absent,
                                    .key = member->key,
                                    .key_table = member->key_table};
  field->path = member->path.sort == KYMO_SORT_BYTES ? text_copy(arena, &member->path) : field->name;
  if (member->unit.sort == KYMO_SORT_BYTES)
    field->unit = text_copy(arena, &member->unit);
  bool is_own = own(arena, &field->key) && own(arena, &field->absent);
  kymo_plan_field_settle(plan, field);
  return field->name && field->path && is_own && (field->unit || member->unit.sort != KYMO_SORT_BYTES);
}

static struct kymo_plan_record *make(const struct kymo_plan_definition *d, struct kymo_arena *arena) {
  struct kymo_plan_record *record = kymo_arena_alloc(arena, sizeof *record);
  struct kymo_plan_field *fields = kymo_arena_array(arena, d->count + 1, sizeof *fields);
  if (!record || !fields)
    return NULL;
  *record = (struct kymo_plan_record){.name = text_copy(arena, &d->name),
                                      .recipe = (uint32_t)(d->recipe - d->machine->plan->recipes),
                                      .table = d->recipe->table,
                                      .field_count = d->count,
                                      .fields = fields,
                                      .is_unresolved = d->is_unresolved && !d->wrong,
                                      .is_bytes = d->wrong != NULL,
                                      .has_length = d->has_length,
                                      .length = d->length};
  for (uint32_t i = 0; i < d->count; i++)
    if (!make_field(&fields[i], &d->members[i], d->machine->plan, arena))
      return NULL;
  for (uint32_t i = 0; i < d->count && !record->is_bytes && !record->is_unresolved;
       i += 1 + fields[i].inner_count)
    record->item_count += kymo_plan_items_of(d->machine->plan, record, i);
  return record->name ? record : NULL;
}

struct kymo_plan_record *kymo_plan_definition_keep(const struct kymo_plan_definition *d) {
  struct kymo_plan_found *found = d->machine->found;
  bool is_unresolved = d->is_unresolved && !d->wrong;
  struct kymo_plan_records *records = !found          ? NULL
                                      : is_unresolved ? &found->unresolved
                                                      : &found->records[d->recipe->table];
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
static bool mark_wrong(const struct kymo_plan_definition *d) {
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

/* Makes a definition with space for its members. */
static bool define(struct kymo_plan_definition *d, const struct kymo_expr_value *operands) {
  struct kymo_plan_machine *machine = d->machine;
  const struct kymo_expr_value *source = operands + 2;
  if (d->recipe->style == KYMO_STYLE_LETTERS)
    by_letters(d, source[0], source[1]);
  else if (d->recipe->style == KYMO_STYLE_TEXT)
    by_text(d, source[0]);
  else
    by_list(d);
  while (d->source->next && !d->wrong) {
    d->source = &machine->plan->recipes[d->source->next - 1];
    by_list(d);
  }
  find_twins(d);
  limit_values(d);
  if (machine->r || (d->wrong && !mark_wrong(d)))
    return false;
  const struct kymo_plan_record *record = kymo_plan_definition_keep(d);
  return !record || kymo_plan_table_set(machine, d->recipe->table, &operands[0], NULL, record);
}

bool kymo_plan_definition_begin(struct kymo_plan_definition *d, struct kymo_plan_machine *machine,
                                const struct kymo_plan_recipe *recipe) {
  *d = (struct kymo_plan_definition){
      .machine = machine, .recipe = recipe, .source = recipe, .at = KYMO_PLAN_NONE};
  d->members = reallocarray(NULL, KYMO_PLAN_FIELDS, sizeof *d->members);
  machine->failed |= !d->members;
  return d->members != NULL;
}

bool kymo_plan_define_record(struct kymo_plan_machine *machine, const struct kymo_plan_recipe *recipe,
                             const struct kymo_expr_value *operands) {
  struct kymo_plan_definition d;
  const struct kymo_expr_value *source = operands + 2;
  uint32_t sources = recipe->style == KYMO_STYLE_LETTERS ? 2 : recipe->style == KYMO_STYLE_TEXT ? 1 : 0;
  bool ok = operands[0].sort != KYMO_SORT_ABSENT && operands[1].sort == KYMO_SORT_BYTES;
  uint64_t length = 0;
  for (uint32_t i = 0; i < sources; i++)
    ok = ok && source[i].sort == KYMO_SORT_BYTES;
  if (!ok || machine->is_dry)
    return true;
  if (recipe->has_length && !kymo_plan_as_count(machine, source + sources, "the LENGTH of a record", &length))
    return false;
  if (!kymo_plan_definition_begin(&d, machine, recipe))
    return false;
  d.name = operands[1];
  d.has_length = recipe->has_length != 0;
  d.length = length;
  ok = define(&d, operands);
  free(d.members);
  return ok;
}
