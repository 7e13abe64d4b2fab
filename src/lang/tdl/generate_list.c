/* SPDX-License-Identifier: MIT */
/*
 * Which REPEATs become lists of structs, and the columns of a kind.
 *
 *   REPEAT … IS pmid: …; value: …; END        ─► repeat = [{pmid, value}, …]
 *   m: REPEAT … IS …; END                     ─► m = [{…}, …]
 *   REPEAT … IS m: USE …; END                 ─► m = [{…}, …]
 *   REPEAT … IS volts: …; END                 ─► volts = […]
 *
 * A REPEAT without a name that has one field is a list of its values. A field of exclusive branches may be
 * filled by several REPEATs: these fill one list, if no two of them can occur together; otherwise the field
 * is a list of values in what is around all of them.
 */
#include "lang/tdl/generate.h"
#include <stdio.h>
#include <string.h>

/* The most pairs of REPEATs of exclusive branches that are compared for one field. */
#define SHARED_MAX 256
#define NAME "repeat"

/* The branches around a REPEAT. */
struct tdl_trail {
  const struct tdl_trail *outer;
  uint32_t depth;
  const struct tdl_item *item; /* IF or CASE */
  const struct tdl_branch *branch;
};

struct tdl_list *kymo_tdl_list(struct tdl_list *list) {
  while (list && list->same)
    list = list->same;
  return list;
}

static struct tdl_list *parent_of(const struct tdl_list *list) { return kymo_tdl_list(list->parent); }

static bool is_seen(const struct tdl_cell *cell) {
  return cell->slot && kymo_tdl_is_delivered(cell) && !cell->slot->is_hidden;
}

/* ---- one list for several REPEATs ---- */

static bool are_exclusive(const struct tdl_list *a, const struct tdl_list *b) {
  const struct tdl_trail *one = a->trail, *other = b->trail;
  while (one && other && one->outer != other->outer) {
    bool is_deeper = one->depth > other->depth, is_level = one->depth == other->depth;
    one = is_deeper || is_level ? one->outer : one;
    other = !is_deeper ? other->outer : other;
  }
  return one && other && one->item == other->item && one->branch != other->branch;
}

static bool can_share(const struct tdl_list *a, const struct tdl_list *b) {
  uint32_t count = 0;
  for (const struct tdl_list *one = a; one; one = one->more)
    for (const struct tdl_list *other = b; other; other = other->more)
      if (++count > SHARED_MAX || !are_exclusive(one, other))
        return false;
  return true;
}

/* Makes both one list; the first REPEAT represents all. False: they may occur together. */
static bool share(struct tdl_list *a, struct tdl_list *b) {
  a = kymo_tdl_list(a);
  b = kymo_tdl_list(b);
  if (a == b || !a || !b)
    return a == b;
  bool is_named = a->item->list_slot && a->item->list_slot == b->item->list_slot;
  if (a->depth != b->depth || (!is_named && (a->item->name.word || b->item->name.word)) ||
      !share(a->parent, b->parent) || (!is_named && !can_share(a, b)))
    return false;
  struct tdl_list *first = a->number < b->number ? a : b, *other = first == a ? b : a, *last = first;
  while (last->more)
    last = last->more;
  last->more = other;
  other->same = first;
  return true;
}

/* The innermost list around both, or NULL. */
static struct tdl_list *around(struct tdl_list *a, struct tdl_list *b) {
  a = kymo_tdl_list(a);
  b = kymo_tdl_list(b);
  while (a != b && a && b) {
    bool is_deeper = a->depth > b->depth, is_level = a->depth == b->depth;
    a = is_deeper || is_level ? parent_of(a) : a;
    b = !is_deeper ? parent_of(b) : b;
  }
  return a == b ? a : NULL;
}

/* ---- finding them ---- */

struct finding {
  struct tdl_generator *gen;
  struct tdl_frame *frame;
  struct tdl_list **end;
  uint32_t count;
};

static bool find(struct finding *finding, struct tdl_item *items, struct tdl_list *list,
                 const struct tdl_trail *trail);

static bool find_repeat(struct finding *finding, struct tdl_item *item, struct tdl_list *outer,
                        const struct tdl_trail *trail) {
  struct tdl_list *list = kymo_lang_new(finding->gen->session, 1, sizeof *list);
  if (!list)
    return false;
  *list = (struct tdl_list){.parent = outer,
                            .item = item,
                            .trail = trail,
                            .number = finding->count++,
                            .depth = outer ? outer->depth + 1 : 1};
  item->list = *finding->end = list;
  finding->end = &list->next;
  return find(finding, item->items, list, trail);
}

static bool find_branches(struct finding *finding, const struct tdl_item *item, struct tdl_list *list,
                          const struct tdl_trail *outer) {
  for (const struct tdl_branch *branch = item->branches; branch; branch = branch->next) {
    struct tdl_trail *trail = kymo_lang_new(finding->gen->session, 1, sizeof *trail);
    if (!trail)
      return false;
    *trail = (struct tdl_trail){outer, outer ? outer->depth + 1 : 1, item, branch};
    if (!find(finding, branch->items, list, trail))
      return false;
  }
  return true;
}

static void mark_listed(struct tdl_generator *gen, const struct tdl_item *item) {
  for (; item; item = item->then) {
    const struct tdl_expr *const paths[] = {item->list_name,   item->list_type,  item->list_size,
                                            item->list_absent, item->list_scale, item->list_over,
                                            item->list_offset, item->list_units};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
      if (paths[i])
        kymo_tdl_cell(gen, paths[i]->reference.slot)->is_listed = true;
  }
}

static bool find(struct finding *finding, struct tdl_item *items, struct tdl_list *list,
                 const struct tdl_trail *trail) {
  for (struct tdl_item *item = items; item; item = item->next) {
    item->list = list;
    if (item->kind == TDL_ITEM_DEFINE_RECORD)
      mark_listed(finding->gen, item);
    if (item->kind == TDL_ITEM_REPEAT
            ? !find_repeat(finding, item, list, trail)
            : !find(finding, item->items, list, trail) || !find_branches(finding, item, list, trail))
      return false;
  }
  return true;
}

/* ---- what each becomes ---- */

/* REPEATs of one name fill one list: the checker has made sure that they can. */
static void share_named(const struct tdl_generator *gen, struct tdl_list *lists) {
  for (struct tdl_list *list = lists; list; list = list->next) {
    struct tdl_cell *cell = list->item->list_slot ? kymo_tdl_cell(gen, list->item->list_slot) : NULL;
    if (cell && cell->home)
      share(cell->home, list);
    else if (cell)
      cell->home = list;
  }
}

static void share_fields(const struct tdl_frame *frame) {
  for (uint32_t i = 0; i < frame->count; i++)
    if (is_seen(&frame->cells[i]))
      for (const struct tdl_item *item = frame->cells[i].slot->first; item->same_slot; item = item->same_slot)
        share(item->list, item->same_slot->list);
}

static void count_field(const struct tdl_cell *cell) {
  for (struct tdl_list *list = cell->home; list; list = parent_of(list))
    list->field_count++;
}

/* Hidden fields that definitions read are members too, so that their values are known by their elements. */
static void settle_homes(const struct tdl_frame *frame) {
  for (uint32_t i = 0; i < frame->count; i++) {
    struct tdl_cell *cell = &frame->cells[i];
    if (!is_seen(cell) && !cell->is_listed)
      continue;
    const struct tdl_item *item = cell->slot->first;
    cell->home = kymo_tdl_list(item->list);
    for (; item; item = item->same_slot)
      cell->home = around(cell->home, item->list);
    if (is_seen(cell))
      count_field(cell);
  }
}

/* Lists of structs: the inner ones come later in the text, and are known first. */
static void settle_forms(struct tdl_list *lists) {
  bool is_open = true;
  while (is_open) {
    is_open = false;
    for (struct tdl_list *list = lists; list; list = list->next) {
      bool is_structs = !list->same && list->field_count > 0 &&
                        (list->item->name.word || list->field_count > 1 || list->has_lists);
      if (!is_structs || list->is_structs)
        continue;
      list->is_structs = is_open = true;
      if (parent_of(list))
        parent_of(list)->has_lists = true;
    }
  }
}

/* The outermost named USE within the list that the field is part of, or NULL. */
static const struct tdl_item *use_within(const struct tdl_list *list, const struct tdl_slot *slot) {
  const struct tdl_item *use = slot->use;
  while (use && use != list->item->outer_use && use->outer_use != list->item->outer_use)
    use = use->outer_use;
  return use == list->item->outer_use ? NULL : use;
}

static bool is_in(const struct tdl_list *inner, const struct tdl_list *list) {
  while (inner && inner != list)
    inner = parent_of(inner);
  return inner != NULL;
}

/* The USE that all fields of a list are in, if it is its own: it names the list. */
static const struct tdl_item *only_use(const struct tdl_frame *frame, const struct tdl_list *list) {
  const struct tdl_item *only = NULL;
  for (uint32_t i = 0; i < frame->count; i++) {
    const struct tdl_cell *cell = &frame->cells[i];
    if (!is_seen(cell) || !is_in(cell->home, list))
      continue;
    const struct tdl_item *use = use_within(list, cell->slot);
    if (!use || use->kind != TDL_ITEM_USE || kymo_tdl_list(use->list) != list || (only && use != only))
      return NULL;
    only = use;
  }
  return only;
}

static bool settle(struct tdl_generator *gen, struct tdl_frame *frame) {
  share_named(gen, frame->lists);
  share_fields(frame);
  settle_homes(frame);
  settle_forms(frame->lists);
  for (struct tdl_list *list = frame->lists; list; list = list->next) {
    uint32_t depth = 0;
    if (!list->is_structs)
      continue;
    const struct tdl_item *use = list->item->name.word ? list->item : only_use(frame, list);
    list->base = use ? use : list->item->outer_use;
    for (const struct tdl_list *outer = list; outer; outer = parent_of(outer))
      depth += outer->is_structs;
    if (depth > KYMO_PLAN_LISTS)
      return kymo_tdl_fail(gen->session, list->item->at, "E61",
                           "expected at most %d lists of structs within each other", KYMO_PLAN_LISTS);
  }
  for (uint32_t i = 0; i < frame->count; i++)
    while (frame->cells[i].home && !frame->cells[i].home->is_structs)
      frame->cells[i].home = parent_of(frame->cells[i].home);
  return true;
}

static bool make_lists(struct tdl_generator *gen, struct tdl_frame *frame, struct tdl_item *items) {
  struct finding finding = {.gen = gen, .frame = frame, .end = &frame->lists};
  if (frame->count > KYMO_PLAN_SLOTS) /* more than a record may have */
    return true;
  gen->frame = frame;
  if (!find(&finding, items, NULL, NULL) || !settle(gen, frame))
    return false;
  for (const struct tdl_list *list = frame->lists; list; list = list->next)
    frame->has_lists |= list->item->list_slot && list->item->list_slot->is_used;
  return true;
}

bool kymo_tdl_lists(struct tdl_generator *gen) {
  for (const struct tdl_prefix *prefix = gen->tree->prefixes; prefix; prefix = prefix->next)
    if (!make_lists(gen, &gen->prefixes[prefix->index], prefix->items))
      return false;
  for (const struct tdl_record *record = gen->tree->records; record; record = record->next)
    if (!make_lists(gen, &gen->records[record->index], record->items))
      return false;
  return true;
}

/* ---- names ---- */

/* "use.field" for what a named USE has (S2), "outer.inner.field" if that is part of another. In a list of
 * structs, names begin after `base`. */
static uint32_t path_name(struct tdl_generator *gen, const char *text, size_t length,
                          const struct tdl_item *first, const struct tdl_item *base) {
  size_t whole = length;
  for (const struct tdl_item *use = first; use && use != base; use = use->outer_use)
    whole += use->name.word->length + 1;
  char *name = kymo_lang_new(gen->session, whole + 1, 1);
  if (!name)
    return 0;
  char *at = name + whole - length;
  memcpy(at, text, length);
  for (const struct tdl_item *use = first; use && use != base; use = use->outer_use) {
    *--at = '.';
    at -= use->name.word->length;
    memcpy(at, use->name.word->text, use->name.word->length);
  }
  return kymo_plan_add_text(gen->key, name, whole);
}

static const struct tdl_item *base_of(const struct tdl_list *list) { return list ? list->base : NULL; }

/* The name alone for roles (S5). */
static uint32_t column_name(struct tdl_generator *gen, const struct tdl_cell *cell) {
  const struct tdl_slot *slot = cell->slot;
  if (!slot->name || slot->role != TDL_ROLE_NONE)
    return kymo_tdl_key_word(gen, slot->name);
  return path_name(gen, slot->name->text, slot->name->length, slot->use, base_of(cell->home));
}

/* The list of structs around a list of structs, or NULL. */
static struct tdl_list *structs_around(const struct tdl_list *list) {
  struct tdl_list *outer = parent_of(list);
  while (outer && !outer->is_structs)
    outer = parent_of(outer);
  return outer;
}

/* NONE: it gets its name when those of all other columns are known. */
static uint32_t list_name(struct tdl_generator *gen, const struct tdl_list *list) {
  const struct tdl_item *named = list->base;
  if (!named || named == list->item->outer_use)
    return KYMO_PLAN_NONE;
  return path_name(gen, named->name.word->text, named->name.word->length, named->outer_use,
                   base_of(structs_around(list)));
}

static bool is_taken(struct tdl_generator *gen, const struct kymo_plan_kind *kind, uint32_t name,
                     uint32_t parent) {
  for (uint32_t i = kind->first_column; i < kind->first_column + kind->column_count; i++) {
    const struct kymo_plan_column *column = kymo_plan_item(gen->key, KYMO_SECTION_COLUMN, i);
    if (!column || (column->name == name && column->parent == parent && !column->is_hidden))
      return column != NULL;
  }
  return false;
}

/* "repeat", "repeat2" … : the first name after number *last that nothing beside the list has. */
static uint32_t free_name(struct tdl_generator *gen, const struct kymo_plan_kind *kind,
                          const struct tdl_list *list, uint32_t *last) {
  const struct tdl_list *outer = structs_around(list);
  for (uint32_t tries = 0;; tries++) {
    char text[sizeof NAME + 12] = NAME;
    if (++*last > 1)
      snprintf(text, sizeof text, NAME "%u", (unsigned)*last);
    uint32_t name = path_name(gen, text, strlen(text), list->item->outer_use, base_of(outer));
    if (tries > kind->column_count || !is_taken(gen, kind, name, outer ? outer->column + 1 : 0))
      return name;
  }
}

static void name_lists(struct tdl_generator *gen, const struct tdl_frame *frame,
                       const struct kymo_plan_kind *kind) {
  uint32_t last = 0; /* of the record's own lists */
  for (struct tdl_list *list = frame->lists; list; list = list->next)
    list->last_name = 0;
  for (const struct tdl_list *list = frame->lists; list; list = list->next) {
    struct kymo_plan_column *column =
        list->is_structs ? kymo_plan_item(gen->key, KYMO_SECTION_COLUMN, list->column) : NULL;
    if (!column || column->name != KYMO_PLAN_NONE)
      continue;
    struct tdl_list *outer = structs_around(list);
    uint32_t name = free_name(gen, kind, list, outer ? &outer->last_name : &last);
    column = kymo_plan_item(gen->key, KYMO_SECTION_COLUMN, list->column);
    column->name = name;
  }
}

void kymo_tdl_name_lists(struct tdl_generator *gen, const struct kymo_plan_kind *kind) {
  if (gen->frame->prefix)
    name_lists(gen, gen->frame->prefix, kind);
  name_lists(gen, gen->frame, kind);
}

/* ---- columns ---- */

struct adding {
  struct tdl_generator *gen;
  struct tdl_frame *frame;
  struct kymo_plan_kind *kind;
  uint32_t number; /* one more than that of the kind */
};

/* Whether each element has the value. */
static bool is_certain(const struct tdl_cell *cell) {
  const struct tdl_list *home = cell->home;
  return home ? cell->is_sure && cell->surely_in == home->item && !home->more : !cell->may_be_absent;
}

static void add_column(struct adding *adding, struct tdl_cell *cell) {
  struct tdl_generator *gen = adding->gen;
  const struct tdl_slot *slot = cell->slot;
  bool is_list = slot->repeats > (cell->home ? cell->home->depth : 0);
  struct kymo_plan_column column = {
      .name = column_name(gen, cell),
      .first_option = kymo_plan_count(gen->key, KYMO_SECTION_OPTION),
      .option_count = cell->option_count,
      .is_list = is_list,
      .is_hidden = slot->is_hidden,
      .is_optional = !is_list && !is_certain(cell),
      .parent = cell->home ? cell->home->column + 1 : 0,
  };
  for (const struct tdl_option *option = cell->options; option; option = option->next) {
    struct kymo_plan_option out = {option->slot, option->shape, option->bits, option->view};
    kymo_plan_add_option(gen->key, &out);
  }
  cell->column = kymo_plan_add_column(gen->key, &column);
  if (slot->role == TDL_ROLE_EVENT && !cell->home && !is_list)
    adding->kind->event_column = cell->column;
}

static void place_list(struct adding *adding, struct tdl_list *list, struct kymo_plan_column column) {
  column.is_list = column.is_struct = true;
  column.first_option = kymo_plan_count(adding->gen->key, KYMO_SECTION_OPTION);
  list->column = kymo_plan_add_column(adding->gen->key, &column);
  list->kind = adding->number;
  if (list->item->list_slot)
    kymo_tdl_cell(adding->gen, list->item->list_slot)->column = list->column;
}

static void add_members(struct adding *adding, const struct tdl_list *list);

static void add_list(struct adding *adding, struct tdl_list *list) {
  const struct tdl_list *outer = structs_around(list);
  place_list(adding, list,
             (struct kymo_plan_column){.name = list_name(adding->gen, list),
                                       .parent = outer ? outer->column + 1 : 0});
  add_members(adding, list);
  uint32_t count = kymo_plan_count(adding->gen->key, KYMO_SECTION_COLUMN);
  struct kymo_plan_column *column = kymo_plan_item(adding->gen->key, KYMO_SECTION_COLUMN, list->column);
  if (column)
    column->inner_count = count - 1 - list->column;
}

/* The list in `list` on the way to a field's home; NULL: the field is elsewhere. */
static struct tdl_list *list_towards(struct tdl_list *home, const struct tdl_list *list) {
  struct tdl_list *outer;
  while (home && (outer = structs_around(home)) != list)
    home = outer;
  return home;
}

/* What is in a list of structs, or (NULL) in the record, in the order of the text. */
static void add_members(struct adding *adding, const struct tdl_list *list) {
  for (uint32_t i = 0; i < adding->frame->count; i++) {
    struct tdl_cell *cell = &adding->frame->cells[i];
    if (!cell->slot || !kymo_tdl_is_delivered(cell))
      continue;
    struct tdl_list *inner = cell->home == list ? NULL : list_towards(cell->home, list);
    if (cell->home == list)
      add_column(adding, cell);
    else if (inner && inner->kind != adding->number)
      add_list(adding, inner);
  }
}

void kymo_tdl_add_columns(struct tdl_generator *gen, struct tdl_frame *frame, struct kymo_plan_kind *kind) {
  struct adding adding = {gen, frame, kind, kymo_plan_count(gen->key, KYMO_SECTION_KIND) + 1};
  add_members(&adding, NULL);
  /* lists without a field that users see are counted */
  for (struct tdl_list *list = frame->lists; list; list = list->next)
    if (!list->is_structs && !list->same && list->item->list_slot && list->item->list_slot->is_used)
      place_list(&adding, list,
                 (struct kymo_plan_column){.name = kymo_tdl_key_word(gen, list->item->name.word),
                                           .is_hidden = true});
}
