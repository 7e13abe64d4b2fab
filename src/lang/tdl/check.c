/* SPDX-License-Identifier: MIT */
/* Declarations, in the order of their dependencies; then records and layout; then unused declarations. */
#include "lang/tdl/check.h"
#include "lang/tdl/tdl.h"
#include <stdlib.h>
#include <string.h>

/* Tables KNOWN ALWAYS: their dependencies are sets of 64 bits. */
#define ALWAYS_MAX 64

/* ---- names ---- */

#define DECLARE_ALL(list, space)                                \
  for (__typeof__(list) each = (list); each; each = each->next) \
    if (!kymo_tdl_declare(checker, space, each->name, each))    \
  return false

static bool declare_all(struct tdl_checker *checker) {
  struct tdl_tree *tree = checker->tree;
  DECLARE_ALL(tree->constants, TDL_SPACE_CONST);
  DECLARE_ALL(tree->clocks, TDL_SPACE_CLOCK);
  DECLARE_ALL(tree->named_types, TDL_SPACE_TYPE);
  DECLARE_ALL(tree->tokens, TDL_SPACE_TOKEN);
  DECLARE_ALL(tree->flags, TDL_SPACE_FLAGS);
  DECLARE_ALL(tree->types, TDL_SPACE_TYPES);
  DECLARE_ALL(tree->tables, TDL_SPACE_TABLE);
  DECLARE_ALL(tree->groups, TDL_SPACE_GROUP);
  DECLARE_ALL(tree->prefixes, TDL_SPACE_PREFIX);
  DECLARE_ALL(tree->records, TDL_SPACE_RECORD);
  return true;
}

/* ---- clocks ---- */

static bool check_positive(struct tdl_checker *checker, const struct tdl_expr *expr) {
  struct kymo_wide zero = {0};
  return !expr || expr->operation != TDL_CONSTANT || kymo_wide_compare(expr->value.integer, zero) > 0 ||
         kymo_tdl_fail(checker->session, expr->at, "E41", "expected more than zero");
}

static bool check_clock(struct tdl_checker *checker, struct tdl_clock *clock) {
  if (clock->resolution && clock->rate)
    return kymo_tdl_fail(checker->session, clock->rate->at, "E33", "RESOLUTION already defines the rate");
  if (!kymo_tdl_check_unit(checker, clock->resolution, TDL_DURATION) ||
      !kymo_tdl_check_expr(checker, clock->rate, TDL_INTEGER) ||
      !kymo_tdl_check_expr(checker, clock->slack, TDL_UNTYPED))
    return false;
  if (clock->slack && clock->slack->type == TDL_BYTES)
    return kymo_tdl_fail(checker->session, clock->slack->at, "E41",
                         "expected a duration or a count of ticks, found %s",
                         kymo_tdl_type_name(clock->slack->type));
  return check_positive(checker, clock->resolution) && check_positive(checker, clock->rate);
}

/* ---- tokens ---- */

static int compare_items(const void *left, const void *right) {
  const struct tdl_token_item *a = *(struct tdl_token_item *const *)left,
                              *b = *(struct tdl_token_item *const *)right;
  int order = kymo_wide_compare(a->low->value.integer, b->low->value.integer);
  return order ? order : a->at < b->at ? -1 : 1;
}

static struct kymo_wide high_of(const struct tdl_token_item *item) {
  return (item->high ? item->high : item->low)->value.integer;
}

/* W13: codes that two items have; the first one in the text wins. */
static bool warn_of_overlap(struct tdl_checker *checker, const struct tdl_token_list *list) {
  struct tdl_token_item **sorted =
      kymo_lang_new(checker->session, list->count, sizeof(struct tdl_token_item *));
  uint32_t count = 0;
  for (struct tdl_token_item *item = list->items; sorted && item; item = item->next)
    sorted[count++] = item;
  if (!sorted)
    return false;
  qsort(sorted, count, sizeof *sorted, compare_items);
  const struct tdl_token_item *widest = sorted[0];
  for (uint32_t i = 1; i < count; i++) {
    const struct tdl_token_item *item = sorted[i];
    if (kymo_wide_compare(item->low->value.integer, high_of(widest)) <= 0) {
      const struct tdl_token_item *late = item->at > widest->at ? item : widest,
                                  *early = late == item ? widest : item;
      kymo_tdl_warn(checker->session, late->at, "W13",
                    "\"%.*s\" and \"%.*s\" have codes in common: the first one holds",
                    (int)early->text.length, (const char *)early->text.data, (int)late->text.length,
                    (const char *)late->text.data);
    }
    if (kymo_wide_compare(high_of(item), high_of(widest)) > 0)
      widest = item;
  }
  return true;
}

static bool check_tokens(struct tdl_checker *checker, struct tdl_token_list *list) {
  for (struct tdl_token_item *item = list->items; item; item = item->next) {
    if (!kymo_tdl_check_constant(checker, item->low, TDL_INTEGER) ||
        !kymo_tdl_check_constant(checker, item->high, TDL_INTEGER))
      return false;
    if (item->high && kymo_wide_compare(item->low->value.integer, item->high->value.integer) > 0)
      return kymo_tdl_fail(checker->session, item->low->at, "E41", "this range ends before it begins");
  }
  return warn_of_overlap(checker, list);
}

/* ---- lists whose texts must differ ---- */

struct text {
  struct tdl_bytes bytes;
  uint32_t at;
};

static int compare_texts(const void *left, const void *right) {
  const struct text *a = left, *b = right;
  uint32_t length = a->bytes.length < b->bytes.length ? a->bytes.length : b->bytes.length;
  int order = length ? memcmp(a->bytes.data, b->bytes.data, length) : 0;
  if (order == 0 && a->bytes.length != b->bytes.length)
    order = a->bytes.length < b->bytes.length ? -1 : 1;
  return order ? order : a->at < b->at ? -1 : 1;
}

/* E33 for a text that occurs twice. */
static bool check_texts(struct tdl_checker *checker, struct text *texts, uint32_t count) {
  qsort(texts, count, sizeof *texts, compare_texts);
  for (uint32_t i = 1; i < count; i++)
    if (texts[i].bytes.length == texts[i - 1].bytes.length &&
        (texts[i].bytes.length == 0 ||
         memcmp(texts[i].bytes.data, texts[i - 1].bytes.data, texts[i].bytes.length) == 0))
      return kymo_tdl_fail(checker->session, texts[i].at, "E33", "this list has \"%.*s\" already",
                           (int)texts[i].bytes.length, (const char *)texts[i].bytes.data);
  return true;
}

static bool check_flags(struct tdl_checker *checker, const struct tdl_flag_list *list) {
  struct text *texts = kymo_lang_new(checker->session, list->count, sizeof *texts);
  uint32_t count = 0;
  for (const struct tdl_flag *flag = list->flags; texts && flag; flag = flag->next)
    texts[count++] = (struct text){flag->text, flag->at};
  return texts && check_texts(checker, texts, count);
}

/* A type of a list: what means absent is constant, and the bits of a FLOAT. */
static bool check_type(struct tdl_checker *checker, struct tdl_field *field) {
  struct tdl_expr *absent = field->attributes.absent;
  bool is_float = field->type->kind == TDL_TYPE_FLOAT;
  if (absent && is_float)
    field->attributes.absent = NULL;
  bool is_good = kymo_tdl_check_field(checker, field);
  field->attributes.absent = absent ? absent : field->attributes.absent;
  absent = field->attributes.absent;
  return is_good && (!absent || kymo_tdl_check_constant(checker, absent,
                                                        is_float ? TDL_INTEGER : field->type->value_type));
}

static bool check_types(struct tdl_checker *checker, const struct tdl_types *list) {
  struct text *texts = kymo_lang_new(checker->session, list->count, sizeof *texts);
  uint32_t count = 0;
  for (const struct tdl_types_item *item = list->items; texts && item; item = item->next) {
    texts[count++] = (struct text){item->key, item->at};
    if (!check_type(checker, item->field))
      return false;
    if (item->field->attributes.given & ~(uint32_t)(TDL_GIVES_ORDER | TDL_GIVES_ABSENT | TDL_VIEWS) ||
        item->field->attributes.given & (TDL_GIVES_PER | TDL_GIVES_TIME))
      return kymo_tdl_fail(
          checker->session, item->field->attributes.at, "E41",
          "expected LITTLE, BIG, ABSENT WHEN, TOKEN, FLAGS, SCALE, UNITS or SHOW in a list of "
          "types");
    if (item->field->type->fixed_bits < 0 && !kymo_tdl_is_sized_late(item->field->type))
      return kymo_tdl_fail(checker->session, item->field->type->at, "E51",
                           "types in a list need a constant size, or none: use STRING 16, or STRING where "
                           "definitions say the size, by SIZE (BY LIST) or [n] (BY TEXT)");
  }
  return texts && check_texts(checker, texts, count);
}

/* When the prefixes are known, for these may have an ORDER. */
static bool check_order_of_types(struct tdl_checker *checker, const struct tdl_types *list) {
  const struct tdl_place place = {0, 0};
  for (const struct tdl_types_item *item = list->items; item; item = item->next)
    if (!kymo_tdl_check_order(checker, item->field, &place))
      return false;
  return true;
}

/* ---- tables ---- */

static bool number_tables(struct tdl_checker *checker) {
  uint32_t count = 0;
  for (struct tdl_table *table = checker->tree->tables; table; table = table->next) {
    if (table->known != TDL_KNOWN_ALWAYS)
      continue;
    if (count == ALWAYS_MAX)
      return kymo_tdl_fail(checker->session, table->name.at, "E61", "expected at most %d tables KNOWN ALWAYS",
                           ALWAYS_MAX);
    table->bit = UINT64_C(1) << count++;
  }
  return true;
}

/* Ranks of tables KNOWN ALWAYS: above all that they depend on. E56 if there is no such order. */
static bool rank_tables(struct tdl_checker *checker) {
  uint64_t ranked = 0, before;
  uint32_t rank = 0;
  do {
    before = ranked;
    for (struct tdl_table *table = checker->tree->tables; table; table = table->next)
      if (table->bit && !(before & table->bit) && (table->depends & ~before) == 0) {
        table->rank = rank;
        ranked |= table->bit;
      }
    rank++;
  } while (ranked != before);
  for (const struct tdl_table *table = checker->tree->tables; table; table = table->next)
    if (table->bit & ~ranked)
      return kymo_tdl_fail(checker->session, table->name.at, "E56",
                           "table \"%s\" is KNOWN ALWAYS, but what fills it needs itself",
                           table->name.word->text);
  return true;
}

/* ---- unused declarations ---- */

static void warn_unused(struct tdl_checker *checker, struct tdl_name name, const char *what) {
  kymo_tdl_warn(checker->session, name.at, "W11", "%s \"%s\" is not used", what, name.word->text);
}

#define WARN_UNUSED(list, what)                                 \
  for (__typeof__(list) each = (list); each; each = each->next) \
    if (!each->is_used)                                         \
  warn_unused(checker, each->name, what)

static void warn_of_unused(struct tdl_checker *checker) {
  struct tdl_tree *tree = checker->tree;
  WARN_UNUSED(tree->constants, "constant");
  WARN_UNUSED(tree->clocks, "clock");
  WARN_UNUSED(tree->named_types, "type");
  WARN_UNUSED(tree->tokens, "token list");
  WARN_UNUSED(tree->flags, "flags list");
  WARN_UNUSED(tree->types, "list of types");
  for (struct tdl_table *table = tree->tables; table; table = table->next)
    if (!table->is_used && !table->is_filled) /* filling one checks that definitions agree */
      warn_unused(checker, table->name, "table");
  WARN_UNUSED(tree->groups, "group");
  WARN_UNUSED(tree->prefixes, "prefix");
  WARN_UNUSED(tree->records, "record");
}

/* Unused groups, the last one first: the groups that it uses are expanded with it. */
static bool check_unused_groups(struct tdl_checker *checker) {
  uint32_t count = 0;
  for (struct tdl_group *group = checker->tree->groups; group; group = group->next)
    count++;
  struct tdl_group **groups = kymo_lang_new(checker->session, count + 1, sizeof(struct tdl_group *));
  if (!groups)
    return false;
  count = 0;
  for (struct tdl_group *group = checker->tree->groups; group; group = group->next)
    groups[count++] = group;
  while (count--)
    if (!groups[count]->is_used && !kymo_tdl_check_group(checker, groups[count]))
      return false;
  return true;
}

/* Events of one trace are shown on one scale: it has dates, or it has none. */
static void warn_of_scales(struct tdl_checker *checker) {
  const struct tdl_record *first = NULL;
  for (const struct tdl_record *record = checker->tree->records; record; record = record->next) {
    if (record->class_ != TDL_CLASS_EVENT || !record->clock)
      continue;
    if (!first)
      first = record;
    if (!record->clock->epoch.data != !first->clock->epoch.data)
      kymo_tdl_warn(
          checker->session, record->name.at, "W14",
          "the times of \"%s\" %s, those of \"%s\" %s: they are shown beside each other as if they were one "
          "kind",
          record->name.word->text, record->clock->epoch.data ? "have an EPOCH" : "have no EPOCH",
          first->name.word->text, first->clock->epoch.data ? "have one" : "have none");
  }
}

/* ---- all of it ---- */

#define CHECK_ALL(list, check)                                  \
  for (__typeof__(list) each = (list); each; each = each->next) \
    if (!(check))                                               \
  return false

static bool check_declarations(struct tdl_checker *checker) {
  struct tdl_tree *tree = checker->tree;
  CHECK_ALL(tree->constants, kymo_tdl_check_constant(checker, each->expr, TDL_UNTYPED));
  CHECK_ALL(tree->clocks, check_clock(checker, each));
  CHECK_ALL(tree->tokens, check_tokens(checker, each));
  CHECK_ALL(tree->flags, check_flags(checker, each));
  CHECK_ALL(tree->named_types, kymo_tdl_check_field(checker, each->field) && (each->is_known = true));
  CHECK_ALL(tree->types, check_types(checker, each));
  CHECK_ALL(tree->prefixes, kymo_tdl_check_prefix(checker, each));
  CHECK_ALL(tree->records, kymo_tdl_check_record(checker, each));
  CHECK_ALL(tree->types, check_order_of_types(checker, each));
  return check_unused_groups(checker) && kymo_tdl_check_late(checker) && kymo_tdl_check_layout(checker) &&
         rank_tables(checker);
}

static bool check_all(struct tdl_checker *checker) {
  struct tdl_tree *tree = checker->tree;
  struct tdl_session *session = checker->session;
  checker->record_scopes = kymo_lang_new(session, tree->record_count + 1, sizeof(struct tdl_scope *));
  checker->prefix_scopes = kymo_lang_new(session, tree->prefix_count + 1, sizeof(struct tdl_scope *));
  checker->record_progress = kymo_lang_new(session, tree->record_count + 1, 1);
  checker->prefix_progress = kymo_lang_new(session, tree->prefix_count + 1, 1);
  if (session->common.failed || !declare_all(checker) || !number_tables(checker) ||
      !check_declarations(checker))
    return false;
  warn_of_unused(checker);
  warn_of_scales(checker);
  return !session->common.failed;
}

int kymo_tdl_check(struct tdl_tree *tree, const struct kymo_warnings *warnings, struct kymo_error *error) {
  struct kymo_error ignored, *to = error ? error : &ignored;
  struct tdl_checker checker = {.session = &tree->session, .tree = tree};
  tree->session.common.error = to;
  if (warnings)
    tree->session.warnings = *warnings;
  to->code = KYMO_OK;
  if (check_all(&checker))
    return KYMO_OK;
  return to->code < 0 ? to->code : KYMO_E_MEMORY;
}
