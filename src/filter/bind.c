/* SPDX-License-Identifier: MIT */
/*
 * Binding a filter to one event class. Whatever the class alone decides becomes constant, and constants are
 * folded, so that events of classes that cannot pass are not examined. A comparison of a field at a constant
 * place with constants becomes a raw test of bytes.
 */
#include "base/fail.h"
#include "decode/load.h"
#include "filter/machine.h"
#include "filter/names.h"
#include <string.h>

struct binding {
  struct filter_machine *machine;
  const struct kymo_event *event;
  struct filter_bound **bounds; /* by node */
  bool failed;
};

static void get_constant(const struct filter_bound *bound, struct filter_look *look,
                         struct filter_value *value) {
  (void)look;
  *value = bound->value;
}

static bool test_false(const struct filter_bound *bound, struct filter_look *look) {
  (void)bound;
  (void)look;
  return false;
}

static bool test_true(const struct filter_bound *bound, struct filter_look *look) {
  (void)bound;
  (void)look;
  return true;
}

static void set_constant(struct filter_bound *bound, const struct filter_value *value) {
  bound->value = *value;
  bound->get = get_constant;
  bound->is_constant = true;
  bound->test = kymo_filter_is_true(value) ? test_true : test_false;
}

static void set_truth(struct filter_bound *bound, bool is_true) {
  struct filter_value value = {.v.sort = KYMO_SORT_NUMBER, .v.n = kymo_wide_of_u64(is_true)};
  set_constant(bound, &value);
}

static bool is_true(const struct filter_bound *bound) {
  return bound->is_constant && bound->test == test_true;
}

static bool is_false(const struct filter_bound *bound) {
  return bound->is_constant && bound->test == test_false;
}

/* ---- leaves ---- */

static void bind_literal(struct binding *binding, struct filter_bound *bound) {
  const struct kymo_filter *filter = binding->machine->filter;
  const struct kymo_filter_node *node = bound->node;
  struct filter_value value = {.v.sort = KYMO_SORT_NUMBER};
  switch (node->op) {
  case KYMO_FILTER_INTEGER: value.v.n = filter->wides[node->a]; break;
  case KYMO_FILTER_FLOAT:
    value.v.sort = KYMO_SORT_FLOAT;
    value.v.f = filter->floats[node->a];
    break;
  case KYMO_FILTER_TEXT:
    value = (struct filter_value){
        .v = kymo_value_bytes((const uint8_t *)filter->texts[node->a].bytes, filter->texts[node->a].length),
        .literal = bound};
    if (node->detail == 0)
      bound->address = kymo_filter_parse_address(&filter->texts[node->a]);
    break;
  default: break;
  }
  set_constant(bound, &value);
}

static void bind_span(struct binding *binding, struct filter_bound *bound) {
  const struct kymo_clock *clock = binding->event->class_->stream->clock;
  struct filter_value value = {.v.sort = KYMO_SORT_SPAN,
                               .v.n = binding->machine->filter->wides[bound->node->a]};
  const struct kymo_wide second = kymo_wide_of_u64(UINT64_C(1000000000000));
  bool is_ticks = bound->node->detail == 1;
  if (is_ticks && (!clock || !kymo_wide_multiply(value.v.n, second, &value.v.n) ||
                   !kymo_wide_divide(value.v.n, kymo_wide_of_u64(clock->frequency), &value.v.n, NULL)))
    value.v.sort = KYMO_SORT_ABSENT;
  set_constant(bound, &value);
}

/* The moment in the nanoseconds of this class's events; false: a clock without epoch has no such moment. */
static bool moment_ns(const struct binding *binding, uint32_t index, struct kymo_wide *ns) {
  const struct filter_machine *machine = binding->machine;
  const struct kymo_filter_moment *moment = &machine->filter->moments[index];
  const struct kymo_clock *clock = binding->event->class_->stream->clock;
  struct kymo_wide base = kymo_wide_of_u64(0), rest;
  if (moment->anchor == KYMO_FILTER_EPOCH ? !clock || !clock->origin_is_epoch : !machine->has_range)
    return false;
  if (moment->anchor != KYMO_FILTER_EPOCH)
    base = kymo_wide_of_i64(moment->anchor == KYMO_FILTER_START ? machine->begin_ns : machine->end_ns);
  kymo_wide_divide(moment->span, kymo_wide_of_u64(1000), ns, &rest);
  if (rest.high < 0)
    kymo_wide_subtract(*ns, kymo_wide_of_u64(1), ns);
  return kymo_wide_add(base, *ns, ns);
}

static void bind_moment(struct binding *binding, struct filter_bound *bound) {
  struct filter_value value = {.v.sort = KYMO_SORT_MOMENT};
  if (!moment_ns(binding, bound->node->a, &value.v.n))
    value.v.sort = KYMO_SORT_ABSENT;
  set_constant(bound, &value);
}

static int64_t clamp(struct kymo_wide ns) {
  return kymo_wide_compare(ns, kymo_wide_of_i64(INT64_MAX)) > 0   ? INT64_MAX
         : kymo_wide_compare(ns, kymo_wide_of_i64(INT64_MIN)) < 0 ? INT64_MIN
                                                                  : (int64_t)ns.low;
}

static void bind_time(struct binding *binding, struct filter_bound *bound) {
  struct kymo_wide low, high;
  if (!moment_ns(binding, bound->node->a, &low) || !moment_ns(binding, bound->node->b, &high)) {
    set_truth(bound, false);
    return;
  }
  bound->low_ns = clamp(low);
  bound->high_ns = clamp(high);
}

static void bind_kind(struct binding *binding, struct filter_bound *bound) {
  const struct kymo_filter *filter = binding->machine->filter;
  bool is_one = false;
  for (uint32_t i = 0; i < bound->node->b; i++)
    is_one |=
        kymo_filter_is_kind(binding->event->class_, filter->texts[filter->lists[bound->node->a + i]].bytes);
  set_truth(bound, is_one);
}

static bool bind_pattern(struct binding *binding, struct filter_bound *bound) {
  struct filter_machine *machine = binding->machine;
  const struct kymo_filter_text *text = &machine->filter->texts[bound->node->b];
  struct kymo_regex_memory **pattern = &machine->patterns[bound->index];
  struct kymo_regex **regex = &machine->regexes[bound->index];
  const char *wrong;
  size_t at;
  if (!*regex)
    *regex = (bound->node->op == KYMO_FILTER_LIKE ? kymo_regex_new_like
                                                  : kymo_regex_new)(text->bytes, text->length, &wrong, &at);
  if (*regex && !*pattern)
    *pattern = kymo_regex_memory_new(*regex);
  bound->pattern = *pattern;
  return bound->pattern != NULL;
}

/* ---- folding ---- */

/* Drops constant nodes from a list of AND (or OR); a deciding constant decides the whole list. */
static void fold_logic(struct filter_bound *bound) {
  bool is_and = bound->node->op == KYMO_FILTER_AND;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < bound->list_count; i++) {
    struct filter_bound *operand = bound->list[i];
    if (is_and ? is_false(operand) : is_true(operand)) {
      set_truth(bound, !is_and);
      return;
    }
    if (!operand->is_constant)
      bound->list[kept++] = operand;
  }
  bound->list_count = kept;
  if (kept == 0)
    set_truth(bound, is_and);
}

static bool are_constant(const struct filter_bound *bound) {
  for (uint32_t i = 0; i < bound->list_count; i++)
    if (!bound->list[i]->is_constant)
      return false;
  return (!bound->a || bound->a->is_constant) && (!bound->b || bound->b->is_constant) &&
         (!bound->c || bound->c->is_constant);
}

/* A constant that is absent; no relation holds for it. */
static bool is_absent(const struct filter_bound *bound) {
  return bound && bound->is_constant && bound->value.v.sort == KYMO_SORT_ABSENT;
}

static void fold(struct binding *binding, struct filter_bound *bound) {
  struct filter_look look = {binding->machine, binding->event};
  uint8_t op = bound->node->op;
  if (bound->is_constant || op == KYMO_FILTER_RECORD || op == KYMO_FILTER_SEGMENT || op == KYMO_FILTER_TIME ||
      op == KYMO_FILTER_DAMAGED || kymo_filter_has_state(bound->node))
    return;
  if (op == KYMO_FILTER_AND || op == KYMO_FILTER_OR) {
    fold_logic(bound);
  } else if ((op >= KYMO_FILTER_COMPARE && op <= KYMO_FILTER_VALID) &&
             (is_absent(bound->a) || (op == KYMO_FILTER_COMPARE && is_absent(bound->b)))) {
    set_truth(bound, false);
  } else if (op == KYMO_FILTER_IF && bound->a->is_constant) {
    struct filter_bound *chosen = is_true(bound->a) ? bound->b : bound->c;
    *bound = *chosen;
  } else if (op >= KYMO_FILTER_NEGATE && op <= KYMO_FILTER_VALID && are_constant(bound)) {
    uint64_t failed = binding->machine->counts.failed;
    struct filter_value value;
    bound->get(bound, &look, &value);
    if (binding->machine->counts.failed == failed) /* else each event counts */
      set_constant(bound, &value);
    binding->machine->counts.failed = failed;
  }
}

/* ---- raw tests ---- */

static bool test_raw(const struct filter_bound *bound, struct filter_look *look) {
  return kymo_filter_raw_holds(&bound->raw, look->event);
}

/* A whole number clamped to the range of the field's type; false: it is below or above that range. */
static int place(struct kymo_wide number, bool is_signed, uint64_t *out) {
  struct kymo_wide low = is_signed ? kymo_wide_of_i64(INT64_MIN) : kymo_wide_of_u64(0);
  struct kymo_wide high = is_signed ? kymo_wide_of_i64(INT64_MAX) : kymo_wide_of_u64(UINT64_MAX);
  *out = number.low;
  return kymo_wide_compare(number, low) < 0 ? -1 : kymo_wide_compare(number, high) > 0;
}

struct ranges {
  struct kymo_raw_range *list;
  uint32_t count, capacity;
  bool is_signed;
};

/* Adds low … high; nothing if it is empty. */
static bool add_range(struct binding *binding, struct ranges *ranges, struct kymo_wide low,
                      struct kymo_wide high) {
  struct kymo_raw_range range;
  int below = place(low, ranges->is_signed, &range.low), above = place(high, ranges->is_signed, &range.high);
  if (below > 0 || above < 0 || kymo_wide_compare(low, high) > 0)
    return true;
  if (below < 0)
    range.low = ranges->is_signed ? (uint64_t)INT64_MIN : 0;
  if (above > 0)
    range.high = ranges->is_signed ? (uint64_t)INT64_MAX : UINT64_MAX;
  if (ranges->count == ranges->capacity) {
    uint32_t capacity = ranges->capacity ? ranges->capacity * 2 : 4;
    struct kymo_raw_range *list = kymo_arena_array(&binding->machine->arena, capacity, sizeof *list);
    if (!list)
      return false;
    if (ranges->count)
      memcpy(list, ranges->list, ranges->count * sizeof *list);
    ranges->list = list;
    ranges->capacity = capacity;
  }
  ranges->list[ranges->count++] = range;
  return true;
}

/* All codes of an interpretation. */
static bool add_label(struct binding *binding, struct ranges *ranges, const struct kymo_type *type,
                      const struct filter_value *text) {
  for (uint32_t i = 0; i < type->mapping_count; i++) {
    const struct kymo_mapping *mapping = &type->mappings[i];
    bool is_it =
        strlen(mapping->name) == text->v.size && memcmp(mapping->name, text->v.p, (size_t)text->v.size) == 0;
    struct kymo_wide low =
        type->is_signed ? kymo_wide_of_i64((int64_t)mapping->low) : kymo_wide_of_u64(mapping->low);
    struct kymo_wide high =
        type->is_signed ? kymo_wide_of_i64((int64_t)mapping->high) : kymo_wide_of_u64(mapping->high);
    if (is_it && !add_range(binding, ranges, low, high))
      return false;
  }
  return true;
}

static bool has_labels(const struct kymo_type *type) {
  return type->kind != KYMO_KIND_BITMAP && (type->is_enumeration || type->mapping_count > 0);
}

/* The ranges of values for which a relation to a number holds; false if it is no such relation. */
static bool add_relation(struct binding *binding, struct ranges *ranges, enum kymo_filter_relation relation,
                         struct kymo_wide number) {
  const struct kymo_wide one = kymo_wide_of_u64(1), least = {0, INT64_MIN}, most = {UINT64_MAX, INT64_MAX};
  struct kymo_wide next = number;
  switch (relation) {
  case KYMO_FILTER_EQUAL:
  case KYMO_FILTER_UNEQUAL: return add_range(binding, ranges, number, number);
  case KYMO_FILTER_LESS:
    return kymo_wide_subtract(number, one, &next) && add_range(binding, ranges, least, next);
  case KYMO_FILTER_AT_MOST: return add_range(binding, ranges, least, number);
  case KYMO_FILTER_GREATER:
    return kymo_wide_add(number, one, &next) && add_range(binding, ranges, next, most);
  default: return add_range(binding, ranges, number, most);
  }
}

static bool make_compare_raw(struct binding *binding, struct filter_bound *bound, struct ranges *ranges) {
  const struct filter_value *b = &bound->b->value;
  enum kymo_filter_relation relation = bound->node->detail;
  if (b->v.sort == KYMO_SORT_NUMBER)
    return add_relation(binding, ranges, relation, b->v.n);
  return b->v.sort == KYMO_SORT_BYTES && has_labels(bound->a->value.type) &&
         relation <= KYMO_FILTER_UNEQUAL && add_label(binding, ranges, bound->a->value.type, b);
}

static bool make_in_raw(struct binding *binding, struct filter_bound *bound, struct ranges *ranges) {
  const struct kymo_type *type = bound->a->value.type;
  for (uint32_t i = 0; i < bound->list_count; i += 2) {
    const struct filter_bound *low = bound->list[i], *high = bound->list[i + 1];
    if (!low->is_constant || !high->is_constant)
      return false;
    if (low->value.v.sort == KYMO_SORT_NUMBER && high->value.v.sort == KYMO_SORT_NUMBER) {
      if (!add_range(binding, ranges, low->value.v.n, high->value.v.n))
        return false;
    } else if (low != high || low->value.v.sort != KYMO_SORT_BYTES || !has_labels(type) ||
               !add_label(binding, ranges, type, &low->value)) {
      return false;
    }
  }
  return true;
}

/* Makes the test raw if it is of a plain integer at a constant place, with constants. */
static void make_raw(struct binding *binding, struct filter_bound *bound) {
  bool is_compare = bound->node->op == KYMO_FILTER_COMPARE, is_in = bound->node->op == KYMO_FILTER_IN;
  if ((!is_compare && !is_in) || bound->is_constant || bound->a->raw.bits == 0 ||
      bound->a->node->op != KYMO_FILTER_FIELD || (is_compare && !bound->b->is_constant))
    return;
  struct ranges ranges = {.is_signed = bound->a->raw.is_signed};
  if (is_compare ? !make_compare_raw(binding, bound, &ranges) : !make_in_raw(binding, bound, &ranges))
    return;
  bound->raw = bound->a->raw;
  bound->raw.ranges = ranges.list;
  bound->raw.range_count = ranges.count;
  bound->raw.is_negated = is_compare ? bound->node->detail == KYMO_FILTER_UNEQUAL : bound->node->detail == 1;
  bound->test = test_raw;
  if (ranges.count == 0)
    set_truth(bound, bound->raw.is_negated);
}

/* ---- nodes ---- */

static void get_memo(const struct filter_bound *bound, struct filter_look *look, struct filter_value *value) {
  struct filter_memo *memo = &look->machine->memos[bound->index];
  if (memo->stamp != look->machine->stamp) {
    bound->a->get(bound->a, look, &memo->value);
    memo->stamp = look->machine->stamp;
  }
  *value = memo->value;
}

static bool test_memo(const struct filter_bound *bound, struct filter_look *look) {
  struct filter_value value;
  get_memo(bound, look, &value);
  return kymo_filter_is_true(&value);
}

/* Puts a bound that keeps the value before one that is used more than once. */
static struct filter_bound *remember(struct binding *binding, struct filter_bound *bound) {
  if (!bound->node->is_shared || bound->is_constant || bound->test == test_raw || bound->raw.bits ||
      bound->way || kymo_filter_has_state(bound->node))
    return bound;
  struct filter_bound *memo = kymo_arena_alloc(&binding->machine->arena, sizeof *memo);
  if (!memo) {
    binding->failed = true;
    return bound;
  }
  *memo = (struct filter_bound){.node = bound->node,
                                .index = bound->index,
                                .test = test_memo,
                                .get = get_memo,
                                .a = bound,
                                .field = KYMO_FIELD_NONE,
                                .value.type = bound->value.type};
  return memo;
}

static bool bind_list(struct binding *binding, struct filter_bound *bound) {
  const struct kymo_filter_node *node = bound->node;
  const uint32_t *lists = binding->machine->filter->lists;
  bool is_logic = node->op == KYMO_FILTER_AND || node->op == KYMO_FILTER_OR || node->op == KYMO_FILTER_CALL;
  bool is_set =
      node->op == KYMO_FILTER_IN || node->op == KYMO_FILTER_RECORD || node->op == KYMO_FILTER_SEGMENT;
  if (!is_logic && !is_set)
    return true;
  uint32_t first = is_logic ? node->a : node->b, count = is_logic ? node->b : 2 * node->c;
  bound->list = kymo_arena_array(&binding->machine->arena, count + 1u, sizeof(struct filter_bound *));
  bound->list_count = count;
  for (uint32_t i = 0; bound->list && i < count; i++)
    bound->list[i] = binding->bounds[lists[first + i]];
  return bound->list != NULL;
}

static bool bind_key(struct binding *binding, struct filter_bound *bound) {
  if (bound->node->key == KYMO_FILTER_NONE)
    return true;
  bound->key = kymo_arena_alloc(&binding->machine->arena, sizeof *bound->key);
  if (!bound->key)
    return false;
  bound->key->field = KYMO_FIELD_NONE;
  return kymo_filter_bind_field(binding->machine, binding->event, bound->key,
                                binding->machine->filter->texts[bound->node->key].bytes);
}

static const char *path_of(const struct binding *binding, const struct filter_bound *bound) {
  return binding->machine->filter->texts[bound->node->a].bytes;
}

/* A class without the list decides the test. */
static void bind_elements(struct filter_bound *bound) {
  static const struct filter_value absent = {.v.sort = KYMO_SORT_ABSENT};
  if (!bound->a->way)
    set_constant(bound, &absent);
}

static bool bind_leaf(struct binding *binding, struct filter_bound *bound) {
  switch (bound->node->op) {
  case KYMO_FILTER_INTEGER:
  case KYMO_FILTER_FLOAT:
  case KYMO_FILTER_TEXT: bind_literal(binding, bound); return true;
  case KYMO_FILTER_SPAN: bind_span(binding, bound); return true;
  case KYMO_FILTER_MOMENT: bind_moment(binding, bound); return true;
  case KYMO_FILTER_FIELD:
  case KYMO_FILTER_ELEMENT:
  case KYMO_FILTER_SIZE:
  case KYMO_FILTER_COUNT:
    if (bound->node->c)
      return kymo_filter_bind_each(binding->machine, binding->event, bound,
                                   binding->bounds[bound->node->c - 1], path_of(binding, bound));
    return kymo_filter_bind_field(binding->machine, binding->event, bound, path_of(binding, bound));
  case KYMO_FILTER_EACH:
    return kymo_filter_bind_each(binding->machine, binding->event, bound,
                                 bound->node->b == KYMO_FILTER_NONE ? NULL : binding->bounds[bound->node->b],
                                 path_of(binding, bound));
  case KYMO_FILTER_SOME:
  case KYMO_FILTER_TALLY: bind_elements(bound); return true;
  case KYMO_FILTER_KIND: bind_kind(binding, bound); return true;
  case KYMO_FILTER_TIME: bind_time(binding, bound); return true;
  case KYMO_FILTER_JOB:
    set_truth(bound, kymo_filter_is_of_activity(binding->machine, binding->event, bound->node->a));
    return true;
  case KYMO_FILTER_MATCHES:
  case KYMO_FILTER_LIKE: return bind_pattern(binding, bound);
  default: return true;
  }
}

static void bind_node(struct binding *binding, uint32_t index) {
  struct filter_bound *bound = kymo_arena_alloc(&binding->machine->arena, sizeof *bound);
  if (!bound) {
    binding->failed = true;
    return;
  }
  const struct kymo_filter_node *node = &binding->machine->filter->nodes[index];
  unsigned operands = kymo_filter_operands(node);
  *bound = (struct filter_bound){.node = node,
                                 .index = index,
                                 .test = kymo_filter_tests[node->op],
                                 .get = kymo_filter_gets[node->op],
                                 .field = KYMO_FIELD_NONE};
  bound->a = operands & 1 ? binding->bounds[node->a] : NULL;
  bound->b = operands & 2 ? binding->bounds[node->b] : NULL;
  bound->c = operands & 4 ? binding->bounds[node->c] : NULL;
  if (node->op == KYMO_FILTER_COMPARE &&
      !(bound->a = kymo_filter_bind_address(binding->machine, binding->event, bound->a, bound->b))) {
    binding->failed = true;
    return;
  }
  if (!bind_list(binding, bound) || !bind_key(binding, bound) || !bind_leaf(binding, bound)) {
    binding->failed = true;
    return;
  }
  if (bound->is_constant && !kymo_filter_has_state(node))
    bound->test = kymo_filter_is_true(&bound->value) ? test_true : test_false;
  fold(binding, bound);
  make_raw(binding, bound);
  binding->bounds[index] = remember(binding, bound);
}

/* ---- classes ---- */

/* The raw tests to run first: those of a conjunction, or the only one. */
static bool take_raws(struct binding *binding, struct kymo_filter_class *class_) {
  struct filter_bound *select = class_->select, **list = &select;
  bool is_and = select->node->op == KYMO_FILTER_AND && select->test == kymo_filter_tests[KYMO_FILTER_AND];
  uint32_t count = is_and ? select->list_count : 1, rest = 0;
  struct kymo_raw_test *raws = kymo_arena_array(&binding->machine->arena, count + 1u, sizeof *raws);
  if (!raws)
    return false;
  list = is_and ? select->list : list;
  for (uint32_t i = 0; i < count; i++) {
    if (list[i]->test == test_raw)
      raws[class_->raw_count++] = list[i]->raw;
    else
      rest++;
  }
  class_->raws = raws;
  class_->is_raw = rest == 0;
  return true;
}

static bool take_states(struct binding *binding, struct kymo_filter_class *class_) {
  const struct kymo_filter *filter = binding->machine->filter;
  class_->states =
      kymo_arena_array(&binding->machine->arena, filter->node_count + 1u, sizeof(struct filter_bound *));
  for (uint32_t i = 0; class_->states && i < filter->node_count; i++)
    if (kymo_filter_has_state(&filter->nodes[i]))
      class_->states[class_->state_count++] = binding->bounds[i];
  return class_->states &&
         kymo_filter_bind_activities(binding->machine, binding->event, class_, binding->bounds);
}

struct kymo_filter_class *kymo_filter_bind(struct filter_machine *machine, const struct kymo_event *event) {
  struct binding binding = {.machine = machine, .event = event};
  const struct kymo_filter *filter = machine->filter;
  struct kymo_filter_class *class_ = kymo_arena_alloc(&machine->arena, sizeof *class_);
  binding.bounds = kymo_arena_array(&machine->arena, filter->node_count + 1u, sizeof(struct filter_bound *));
  if (!class_ || !binding.bounds)
    return NULL;
  for (uint32_t i = 0; i < filter->node_count && !binding.failed; i++)
    bind_node(&binding, i);
  if (binding.failed)
    return NULL;
  class_->select = binding.bounds[filter->select];
  class_->is_unseen = !filter->over_all && kymo_filter_is_no_event(event->class_);
  class_->is_decided = class_->is_unseen || (class_->select->is_constant && !filter->remembers);
  class_->verdict = is_true(class_->select) && !class_->is_unseen;
  return take_raws(&binding, class_) && take_states(&binding, class_) ? class_ : NULL;
}
