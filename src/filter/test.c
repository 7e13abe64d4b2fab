/* SPDX-License-Identifier: MIT */
/* The tests of filters that need no memory, and how each node gets its value. */
#include "decode/load.h"
#include "filter/machine.h"
#include "schema/flag.h"
#include <string.h>

/* ---- values of nodes ---- */

static void get_if(const struct filter_bound *bound, struct filter_look *look, struct filter_value *value) {
  const struct filter_bound *chosen = bound->a->test(bound->a, look) ? bound->b : bound->c;
  chosen->get(chosen, look, value);
}

/* A truth value as a number. */
static void get_truth(const struct filter_bound *bound, struct filter_look *look,
                      struct filter_value *value) {
  *value =
      (struct filter_value){.v.sort = KYMO_SORT_NUMBER, .v.n = kymo_wide_of_u64(bound->test(bound, look))};
}

/* A number as a truth value. */
static bool test_value(const struct filter_bound *bound, struct filter_look *look) {
  struct filter_value value;
  bound->get(bound, look, &value);
  return kymo_filter_is_true(&value);
}

/* ---- logic ---- */

static bool test_and(const struct filter_bound *bound, struct filter_look *look) {
  for (uint32_t i = 0; i < bound->list_count; i++)
    if (!bound->list[i]->test(bound->list[i], look))
      return false;
  return true;
}

static bool test_or(const struct filter_bound *bound, struct filter_look *look) {
  for (uint32_t i = 0; i < bound->list_count; i++)
    if (bound->list[i]->test(bound->list[i], look))
      return true;
  return false;
}

static bool test_not(const struct filter_bound *bound, struct filter_look *look) {
  return !bound->a->test(bound->a, look);
}

/* ---- relations ---- */

struct relation {
  enum kymo_filter_relation relation;
  struct filter_look *look;
  struct filter_value b;
};

static bool relates(const struct filter_value *a, const void *user) {
  const struct relation *relation = user;
  return kymo_filter_relate_at(relation->look, a, relation->relation, &relation->b);
}

static bool relates_turned(const struct filter_value *b, const void *user) {
  const struct relation *relation = user;
  return kymo_filter_relate_at(relation->look, &relation->b, relation->relation, b);
}

static bool test_compare(const struct filter_bound *bound, struct filter_look *look) {
  struct relation relation = {.relation = bound->node->detail, .look = look};
  if (bound->b->is_many && !bound->a->is_many) {
    bound->a->get(bound->a, look, &relation.b);
    return kymo_filter_any(bound->b, look, relates_turned, &relation);
  }
  bound->b->get(bound->b, look, &relation.b);
  if (bound->a->is_many)
    return kymo_filter_any(bound->a, look, relates, &relation);
  struct filter_value a;
  bound->a->get(bound->a, look, &a);
  return kymo_filter_relate_at(look, &a, relation.relation, &relation.b);
}

struct membership {
  const struct filter_bound *bound;
  struct filter_look *look;
};

static bool is_member(const struct filter_value *value, struct filter_bound *const *list, uint32_t count,
                      struct filter_look *look) {
  struct filter_value low, high;
  for (uint32_t i = 0; i < count; i += 2) {
    list[i]->get(list[i], look, &low);
    if (list[i] == list[i + 1]
            ? kymo_filter_relate_at(look, value, KYMO_FILTER_EQUAL, &low)
            : (list[i + 1]->get(list[i + 1], look, &high), kymo_filter_is_between(value, &low, &high)))
      return true;
  }
  return false;
}

static bool is_in(const struct filter_value *value, const void *user) {
  const struct membership *membership = user;
  const struct filter_bound *bound = membership->bound;
  return is_member(value, bound->list, bound->list_count, membership->look) != (bound->node->detail == 1);
}

static bool test_in(const struct filter_bound *bound, struct filter_look *look) {
  struct membership membership = {bound, look};
  return kymo_filter_any(bound->a, look, is_in, &membership);
}

/* ---- patterns ---- */

static bool fits(struct kymo_regex_memory *pattern, struct filter_look *look,
                 const struct filter_value *value) {
  if (value->v.sort == KYMO_SORT_BYTES)
    return kymo_regex_matches(pattern, value->v.p, (size_t)value->v.size);
  if (value->v.sort != KYMO_SORT_NUMBER || !value->type || value->type->kind == KYMO_KIND_BITMAP)
    return false;
  for (uint32_t i = 0; i < value->type->mapping_count; i++) {
    const struct kymo_mapping *mapping = &value->type->mappings[i];
    struct filter_value label = {.v =
                                     kymo_value_bytes((const uint8_t *)mapping->name, strlen(mapping->name))};
    if (kymo_filter_relate(value, KYMO_FILTER_EQUAL, &label) &&
        kymo_regex_matches(pattern, label.v.p, label.v.size))
      return true;
  }
  return kymo_filter_name_matches(look, value, pattern);
}

static bool matches(const struct filter_value *value, const void *user) {
  const struct membership *membership = user;
  const struct filter_bound *bound = membership->bound;
  return fits(bound->pattern, membership->look, value) != (bound->node->detail == 1);
}

static bool test_pattern(const struct filter_bound *bound, struct filter_look *look) {
  struct membership membership = {bound, look};
  return kymo_filter_any(bound->a, look, matches, &membership);
}

/* ---- flags ---- */

/* ANY and NONE ask whether a flag is set, as outputs show it; ALL asks for all of its bits. */
static bool has_flag(const struct filter_value *value, const struct kymo_filter_text *text, bool is_whole) {
  for (uint32_t index = 0; index < value->type->mapping_count;) {
    struct kymo_flag flag = kymo_flag_take(value->type, &index);
    if (strlen(flag.name) == text->length && memcmp(flag.name, text->bytes, text->length) == 0)
      return (is_whole ? kymo_flag_is_whole : kymo_flag_is_set)(&flag, value->v.n.low);
  }
  return false;
}

struct flags {
  const struct filter_bound *bound;
  const struct kymo_filter *filter;
};

static bool has_flags(const struct filter_value *value, const void *user) {
  const struct flags *flags = user;
  const struct kymo_filter_node *node = flags->bound->node;
  if (value->v.sort != KYMO_SORT_NUMBER || !value->type || value->type->kind != KYMO_KIND_BITMAP)
    return false;
  for (uint32_t i = 0; i < node->c; i++) {
    bool is_all = node->detail == KYMO_FILTER_HAS_ALL;
    bool has = has_flag(value, &flags->filter->texts[flags->filter->lists[node->b + i]], is_all);
    if (has != is_all)
      return node->detail == KYMO_FILTER_HAS_ANY;
  }
  return node->detail != KYMO_FILTER_HAS_ANY;
}

static bool test_has(const struct filter_bound *bound, struct filter_look *look) {
  struct flags flags = {bound, look->machine->filter};
  return kymo_filter_any(bound->a, look, has_flags, &flags);
}

/* ---- elements ---- */

struct elements {
  const struct filter_bound *test;
  bool ends_at, is_ended; /* the result that decides; whether some element has it */
  uint64_t count;
};

static bool test_element(struct filter_look *look, void *user) {
  struct elements *elements = user;
  elements->is_ended = elements->test->test(elements->test, look) == elements->ends_at;
  return elements->is_ended;
}

static bool test_elements(const struct filter_bound *bound, struct filter_look *look) {
  bool is_all = bound->node->detail == 1;
  struct elements elements = {.test = bound->b, .ends_at = !is_all};
  return kymo_filter_for_each(bound->a, look, test_element, &elements) && elements.is_ended != is_all;
}

static bool count_element(struct filter_look *look, void *user) {
  struct elements *elements = user;
  elements->count += elements->test->test(elements->test, look);
  return false;
}

static void get_tally(const struct filter_bound *bound, struct filter_look *look,
                      struct filter_value *value) {
  struct elements elements = {.test = bound->b};
  bool is_there = kymo_filter_for_each(bound->a, look, count_element, &elements);
  *value = (struct filter_value){.v.sort = is_there ? KYMO_SORT_NUMBER : KYMO_SORT_ABSENT,
                                 .v.n = kymo_wide_of_u64(elements.count)};
}

/* ---- records ---- */

static bool is_there(const struct filter_value *value, const void *user) {
  (void)value;
  (void)user;
  return true;
}

static bool test_present(const struct filter_bound *bound, struct filter_look *look) {
  uint64_t count;
  if (bound->a->is_many)
    return kymo_filter_count_elements(bound->a, look, &count) && count > 0;
  return kymo_filter_any(bound->a, look, is_there, NULL);
}

/* The value has a known interpretation, or the field has none at all. */
static bool is_valid(const struct filter_value *value, const void *user) {
  (void)user;
  if (value->v.sort != KYMO_SORT_NUMBER || !value->type || !value->type->is_enumeration)
    return true;
  for (uint32_t i = 0; i < value->type->mapping_count; i++) {
    const char *name = value->type->mappings[i].name;
    struct filter_value label = {.v = kymo_value_bytes((const uint8_t *)name, strlen(name))};
    if (kymo_filter_relate(value, KYMO_FILTER_EQUAL, &label))
      return true;
  }
  return false;
}

static bool test_valid(const struct filter_bound *bound, struct filter_look *look) {
  return kymo_filter_any(bound->a, look, is_valid, NULL);
}

static bool test_record(const struct filter_bound *bound, struct filter_look *look) {
  struct filter_value number = {.v.sort = KYMO_SORT_NUMBER, .v.n = kymo_wide_of_u64(look->event->number)};
  return is_member(&number, bound->list, bound->list_count, look);
}

static bool test_segment(const struct filter_bound *bound, struct filter_look *look) {
  uint64_t segment = kymo_filter_segment_of(look->machine, look->event);
  struct filter_value number = {.v.sort = KYMO_SORT_NUMBER, .v.n = kymo_wide_of_u64(segment)};
  return segment != 0 && is_member(&number, bound->list, bound->list_count, look);
}

static bool test_damaged(const struct filter_bound *bound, struct filter_look *look) {
  (void)bound;
  return look->event->is_damaged;
}

static bool test_time(const struct filter_bound *bound, struct filter_look *look) {
  const struct kymo_event *event = look->event;
  return event->has_time && event->time_ns >= bound->low_ns && event->time_ns <= bound->high_ns;
}

static bool test_constant(const struct filter_bound *bound, struct filter_look *look) {
  (void)look;
  return kymo_filter_is_true(&bound->value);
}

static bool test_state(const struct filter_bound *bound, struct filter_look *look) {
  return look->machine->states[bound->index].verdict;
}

/* ---- tables ---- */

filter_test *const kymo_filter_tests[KYMO_FILTER_OP_COUNT] = {
    [KYMO_FILTER_INTEGER... KYMO_FILTER_CALL] = test_value,
    [KYMO_FILTER_AND] = test_and,
    [KYMO_FILTER_OR] = test_or,
    [KYMO_FILTER_NOT] = test_not,
    [KYMO_FILTER_COMPARE] = test_compare,
    [KYMO_FILTER_IN] = test_in,
    [KYMO_FILTER_MATCHES] = test_pattern,
    [KYMO_FILTER_LIKE] = test_pattern,
    [KYMO_FILTER_HAS] = test_has,
    [KYMO_FILTER_PRESENT] = test_present,
    [KYMO_FILTER_VALID] = test_valid,
    [KYMO_FILTER_KIND] = test_constant,
    [KYMO_FILTER_RECORD] = test_record,
    [KYMO_FILTER_SEGMENT] = test_segment,
    [KYMO_FILTER_TIME] = test_time,
    [KYMO_FILTER_DAMAGED] = test_damaged,
    [KYMO_FILTER_JOB] = test_constant,
    [KYMO_FILTER_CHANGED... KYMO_FILTER_EVERY] = test_state,
    [KYMO_FILTER_EACH] = test_constant,
    [KYMO_FILTER_SOME] = test_elements,
    [KYMO_FILTER_TALLY] = test_value,
};

filter_get *const kymo_filter_gets[KYMO_FILTER_OP_COUNT] = {
    [KYMO_FILTER_NEGATE... KYMO_FILTER_BITS_XOR] = kymo_filter_calculate,
    [KYMO_FILTER_IF] = get_if,
    [KYMO_FILTER_CALL] = kymo_filter_call,
    [KYMO_FILTER_AND... KYMO_FILTER_EVERY] = get_truth,
    [KYMO_FILTER_EACH... KYMO_FILTER_SOME] = get_truth,
    [KYMO_FILTER_TALLY] = get_tally,
};
