/* SPDX-License-Identifier: MIT */
/* Steps of the layout: which records they hold, and which of these can never occur. */
#include "lang/tdl/check.h"
#include <stdlib.h>
#include <string.h>

/* ---- dispatch ---- */

/* A kind in a list, in the order of what its WHEN asks for. */
struct choice {
  const struct tdl_record *record;
  uint32_t at, place;
};

static int compare_bytes(struct tdl_bytes a, struct tdl_bytes b) {
  uint32_t length = a.length < b.length ? a.length : b.length;
  int order = length ? memcmp(a.data, b.data, length) : 0;
  return order ? order : a.length < b.length ? -1 : a.length > b.length;
}

static int compare_choices(const void *left, const void *right) {
  const struct choice *a = left, *b = right;
  const struct tdl_value *x = &a->record->when_value, *y = &b->record->when_value;
  if (a->record->when_slot != b->record->when_slot)
    return (uintptr_t)a->record->when_slot < (uintptr_t)b->record->when_slot ? -1 : 1;
  int order =
      x->type == TDL_BYTES ? compare_bytes(x->bytes, y->bytes) : kymo_wide_compare(x->integer, y->integer);
  return order ? order : a->place < b->place ? -1 : 1;
}

static bool fail_overlap(struct tdl_checker *checker, const struct choice *taken, const struct choice *late) {
  return kymo_tdl_fail(checker->session, late->at, "E52",
                       "\"%s\" is never reached: \"%s\" takes all of these", late->record->name.word->text,
                       taken->record->name.word->text);
}

/* Two kinds whose WHEN asks for the same constant of the same field. */
static bool check_constants(struct tdl_checker *checker, struct choice *choices, uint32_t count) {
  uint32_t used = 0;
  for (uint32_t i = 0; i < count; i++)
    if (choices[i].record->when_slot)
      choices[used++] = choices[i];
  qsort(choices, used, sizeof *choices, compare_choices);
  for (uint32_t i = 1; i < used; i++) {
    const struct tdl_record *a = choices[i - 1].record, *b = choices[i].record;
    bool is_same = a->when_slot == b->when_slot &&
                   (a->when_value.type == TDL_BYTES
                        ? compare_bytes(a->when_value.bytes, b->when_value.bytes) == 0
                        : kymo_wide_compare(a->when_value.integer, b->when_value.integer) == 0);
    if (is_same)
      return fail_overlap(checker, &choices[i - 1], &choices[i]);
  }
  return true;
}

/* A kind without WHEN takes all that have its prefix, or everything if it has none. */
static bool check_order(struct tdl_checker *checker, const struct choice *choices, uint32_t count) {
  const struct choice *all = NULL;
  const struct choice **by_prefix =
      kymo_lang_new(checker->session, checker->tree->prefix_count + 1, sizeof(void *));
  for (uint32_t i = 0; by_prefix && i < count; i++) {
    const struct tdl_record *record = choices[i].record;
    const struct choice **taken = record->prefix ? &by_prefix[record->prefix->index] : &all;
    if (all || *taken)
      return fail_overlap(checker, all ? all : *taken, &choices[i]);
    bool can_fail = record->when || (record->prefix && record->prefix->items);
    if (!record->when && (record->prefix || !can_fail))
      *taken = &choices[i];
    if (!record->when && !record->prefix)
      all = &choices[i];
  }
  return by_prefix != NULL;
}

static bool check_kinds(struct tdl_checker *checker, struct tdl_names *kinds) {
  uint32_t count = 0, i = 0;
  for (const struct tdl_names *kind = kinds; kind; kind = kind->next)
    count++;
  struct choice *choices = kymo_lang_new(checker->session, count + 1, sizeof *choices);
  for (struct tdl_names *kind = kinds; choices && kind; kind = kind->next, i++)
    choices[i] = (struct choice){.record = kind->record, .at = kind->name.at, .place = i};
  return choices && check_order(checker, choices, count) && check_constants(checker, choices, count);
}

/* ---- steps ---- */

static bool find_kinds(struct tdl_checker *checker, struct tdl_names *kinds) {
  for (; kinds; kinds = kinds->next) {
    kinds->record = kymo_tdl_find(checker, TDL_SPACE_RECORD, kinds->name, "kind of records");
    if (!kinds->record)
      return false;
    kinds->record->is_used = true;
  }
  return true;
}

/* Whether the record has at least one bit, as far as the text determines it. */
static bool can_consume(const struct tdl_record *record) {
  return record->from || record->length || record->holds || record->align ||
         kymo_tdl_consumes(record->items) || (record->prefix && kymo_tdl_consumes(record->prefix->items));
}

static bool check_until(struct tdl_checker *checker, struct tdl_step *step) {
  if (!step->until_name.word)
    return true;
  step->until = kymo_tdl_find(checker, TDL_SPACE_RECORD, step->until_name, "kind of records");
  const struct tdl_names *kind = step->kinds;
  while (step->until && kind && kind->record != step->until)
    kind = kind->next;
  return step->until &&
         (kind || kymo_tdl_fail(checker->session, step->until_name.at, "E31",
                                "\"%s\" is no kind of this step", step->until_name.word->text));
}

static bool check_steps(struct tdl_checker *checker, struct tdl_step *steps);

static bool check_step(struct tdl_checker *checker, struct tdl_step *step) {
  if (step->block)
    return kymo_tdl_check_expr(checker, step->block, TDL_INTEGER) && check_steps(checker, step->steps);
  if (!find_kinds(checker, step->kinds) || !check_kinds(checker, step->kinds) || !check_until(checker, step))
    return false;
  for (const struct tdl_names *kind = step->kinds; step->is_repeat && !step->times && kind; kind = kind->next)
    if (!can_consume(kind->record))
      return kymo_tdl_fail(checker->session, kind->name.at, "E55",
                           "records \"%s\" are empty: they would repeat for ever", kind->name.word->text);
  return kymo_tdl_check_expr(checker, step->times, TDL_INTEGER) &&
         kymo_tdl_check_expr(checker, step->where, TDL_INTEGER) &&
         kymo_tdl_check_expr(checker, step->size, TDL_INTEGER);
}

static bool check_steps(struct tdl_checker *checker, struct tdl_step *steps) {
  for (; steps; steps = steps->next)
    if (!check_step(checker, steps))
      return false;
  return true;
}

/* ---- order of time, and of files ---- */

static bool some_record_has(const struct tdl_checker *checker, const struct tdl_word *word,
                            enum tdl_role role) {
  for (const struct tdl_record *record = checker->tree->records; record; record = record->next) {
    const struct tdl_slot *lists[] = {record->slots, record->prefix ? record->prefix->slots : NULL};
    for (int i = 0; i < 2; i++)
      for (const struct tdl_slot *slot = lists[i]; slot; slot = slot->next)
        if (word ? slot->name == word : slot->role == role)
          return true;
  }
  return false;
}

static bool check_sorted(struct tdl_checker *checker, struct tdl_layout *layout) {
  if (layout->sorted == TDL_SORTED_PER && !some_record_has(checker, layout->sorted_per.word, TDL_ROLE_NONE))
    return kymo_tdl_fail(checker->session, layout->sorted_per.at, "E31",
                         "unknown name \"%s\": no record has this field", layout->sorted_per.word->text);
  struct tdl_expr *within = layout->sorted_within;
  if (!within)
    return true;
  return kymo_tdl_check_constant(checker, within, TDL_UNTYPED) &&
         (within->type == TDL_DURATION ||
          kymo_tdl_fail(checker->session, within->at, "E41", "expected a duration, found %s",
                        kymo_tdl_type_name(within->type)));
}

/* ---- records in unpacked bytes ---- */

/* Definitions that take effect in the order of time are read again by their place in the file. */
static bool check_late(struct tdl_checker *checker, const struct tdl_item *items) {
  for (const struct tdl_item *item = items; item; item = item->next) {
    if (item->table && item->table->known == TDL_KNOWN_BY_TIME)
      return kymo_tdl_fail(checker->session, item->at, "E41",
                           "records in unpacked bytes cannot fill \"%s\", which is KNOWN BY TIME",
                           item->table->name.word->text);
    for (const struct tdl_branch *branch = item->branches; branch; branch = branch->next)
      if (!check_late(checker, branch->items))
        return false;
    if (!check_late(checker, item->items))
      return false;
  }
  return true;
}

/* Of the kinds that are packed, and of those that they hold. */
static bool check_packed(struct tdl_checker *checker, const struct tdl_names *kinds, bool *is_seen) {
  for (; kinds; kinds = kinds->next) {
    struct tdl_record *record = kinds->record;
    if (is_seen[record->index])
      continue;
    is_seen[record->index] = true;
    if (!check_late(checker, record->items) || !check_packed(checker, record->holds, is_seen))
      return false;
  }
  return true;
}

static bool check_boxes(struct tdl_checker *checker) {
  bool *is_seen = kymo_lang_new(checker->session, checker->tree->record_count + 1, sizeof *is_seen);
  for (const struct tdl_record *record = checker->tree->records; is_seen && record; record = record->next)
    if ((record->holds_transform != TDL_TRANSFORM_NONE || record->is_joined) &&
        !check_packed(checker, record->holds, is_seen))
      return false;
  return is_seen != NULL;
}

bool kymo_tdl_check_layout(struct tdl_checker *checker) {
  struct tdl_layout *layout = &checker->tree->layout;
  for (struct tdl_record *record = checker->tree->records; record; record = record->next)
    if (!check_kinds(checker, record->holds))
      return false;
  if (!check_steps(checker, layout->steps) || !check_sorted(checker, layout) || !check_boxes(checker))
    return false;
  if (layout->merge == TDL_MERGE_BY_TIME && layout->sorted != TDL_SORTED_YES &&
      layout->sorted != TDL_SORTED_WITHIN)
    return kymo_tdl_fail(
        checker->session, layout->at - (uint32_t)strlen("LAYOUT"), "E58",
        "files that are merged by time must be sorted: expected SORTED YES or SORTED WITHIN");
  return layout->merge != TDL_MERGE_BY_SEQUENCE || some_record_has(checker, NULL, TDL_ROLE_SEQUENCE) ||
         kymo_tdl_fail(checker->session, layout->at - (uint32_t)strlen("LAYOUT"), "E58",
                       "files that are merged by sequence need a field SEQUENCE");
}
