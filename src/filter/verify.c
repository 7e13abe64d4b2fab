/* SPDX-License-Identifier: MIT */
/* Checks that a filter is valid: after this, code that follows its indices needs no checks. */
#include "base/fail.h"
#include "filter/program.h"
#include "base/regex.h"
#include <stdlib.h>

/* The meaning of a node's a, b, c. */
enum part {
  NO = 0,
  NODE,
  MAYBE,
  TEXT,
  WIDE,
  FLOAT,
  MOMENT,
  ACTIVITY,
  SPAN,
  ARGUMENTS,
  LABELS,
  MEMBERS,
  LIST,
  OUTER,
  INNER
};

struct shape {
  uint8_t a, b, c;
  uint8_t details;
  bool has_key;
};

static const struct shape shapes[KYMO_FILTER_OP_COUNT] = {
    [KYMO_FILTER_INTEGER] = {WIDE, 0, 0, 1, false},
    [KYMO_FILTER_FLOAT] = {FLOAT, 0, 0, 1, false},
    [KYMO_FILTER_TEXT] = {TEXT, 0, 0, 2, false},
    [KYMO_FILTER_SPAN] = {WIDE, 0, 0, 2, false},
    [KYMO_FILTER_MOMENT] = {MOMENT, 0, 0, 1, false},
    [KYMO_FILTER_FIELD] = {TEXT, 0, INNER, 1, false},
    [KYMO_FILTER_ELEMENT] = {TEXT, NODE, INNER, 1, false},
    [KYMO_FILTER_SIZE] = {TEXT, 0, INNER, 1, false},
    [KYMO_FILTER_COUNT] = {TEXT, 0, INNER, 1, false},
    [KYMO_FILTER_NEGATE] = {NODE, 0, 0, 1, false},
    [KYMO_FILTER_INVERT] = {NODE, 0, 0, 1, false},
    [KYMO_FILTER_ADD] = {NODE, NODE, 0, 1, false},
    [KYMO_FILTER_SUBTRACT] = {NODE, NODE, 0, 1, false},
    [KYMO_FILTER_MULTIPLY] = {NODE, NODE, 0, 1, false},
    [KYMO_FILTER_DIVIDE] = {NODE, NODE, 0, 1, false},
    [KYMO_FILTER_REMAINDER] = {NODE, NODE, 0, 1, false},
    [KYMO_FILTER_SHIFT_LEFT] = {NODE, NODE, 0, 1, false},
    [KYMO_FILTER_SHIFT_RIGHT] = {NODE, NODE, 0, 1, false},
    [KYMO_FILTER_BITS_AND] = {NODE, NODE, 0, 1, false},
    [KYMO_FILTER_BITS_OR] = {NODE, NODE, 0, 1, false},
    [KYMO_FILTER_BITS_XOR] = {NODE, NODE, 0, 1, false},
    [KYMO_FILTER_IF] = {NODE, NODE, NODE, 1, false},
    [KYMO_FILTER_CALL] = {ARGUMENTS, 0, 0, KYMO_FILTER_FUNCTION_COUNT, false},
    [KYMO_FILTER_AND] = {ARGUMENTS, 0, 0, 1, false},
    [KYMO_FILTER_OR] = {ARGUMENTS, 0, 0, 1, false},
    [KYMO_FILTER_NOT] = {NODE, 0, 0, 1, false},
    [KYMO_FILTER_COMPARE] = {NODE, NODE, 0, KYMO_FILTER_RELATION_COUNT, false},
    [KYMO_FILTER_IN] = {NODE, MEMBERS, 0, 2, false},
    [KYMO_FILTER_MATCHES] = {NODE, TEXT, 0, 2, false},
    [KYMO_FILTER_LIKE] = {NODE, TEXT, 0, 2, false},
    [KYMO_FILTER_HAS] = {NODE, LABELS, 0, 3, false},
    [KYMO_FILTER_PRESENT] = {NODE, 0, 0, 1, false},
    [KYMO_FILTER_VALID] = {NODE, 0, 0, 1, false},
    [KYMO_FILTER_KIND] = {LABELS, 0, 0, 1, false},
    [KYMO_FILTER_RECORD] = {NO, MEMBERS, 0, 1, false},
    [KYMO_FILTER_SEGMENT] = {NO, MEMBERS, 0, 1, false},
    [KYMO_FILTER_TIME] = {MOMENT, MOMENT, 0, 1, false},
    [KYMO_FILTER_DAMAGED] = {0, 0, 0, 1, false},
    [KYMO_FILTER_JOB] = {ACTIVITY, 0, 0, 1, false},
    [KYMO_FILTER_CHANGED] = {NODE, 0, 0, 1, true},
    [KYMO_FILTER_BETWEEN] = {NODE, NODE, 0, 2, true},
    [KYMO_FILTER_AFTER] = {NODE, 0, 0, 2, false},
    [KYMO_FILTER_BEFORE] = {NODE, 0, 0, 2, false},
    [KYMO_FILTER_WITHIN] = {NODE, SPAN, 0, 3, true},
    [KYMO_FILTER_EVERY] = {MAYBE, WIDE, 0, 1, false},
    [KYMO_FILTER_EACH] = {TEXT, OUTER, 0, 1, false},
    [KYMO_FILTER_SOME] = {LIST, NODE, 0, 2, false},
    [KYMO_FILTER_TALLY] = {LIST, NODE, 0, 1, false},
};

unsigned kymo_filter_operands(const struct kymo_filter_node *node) {
  const struct shape *shape = &shapes[node->op];
  bool has_a = shape->a == NODE || shape->a == LIST || (shape->a == MAYBE && node->a != KYMO_FILTER_NONE);
  return (has_a ? 1 : 0) | (shape->b == NODE || shape->b == SPAN ? 2 : 0) | (shape->c == NODE ? 4 : 0);
}

/* `costs`: the number of nodes that are evaluated for one; those whose results are kept for the event count
 * once. */
struct verification {
  const struct kymo_filter *filter;
  uint32_t index;
  uint16_t *depths;
  uint32_t *costs;
  uint16_t *levels; /* how many lists deep the element is that the node's result depends on */
  uint16_t depth, level;
  uint32_t cost, patterns;
};

/* A node before the current one. */
static bool is_node(struct verification *check, uint32_t index) {
  if (index >= check->index)
    return false;
  if (check->depths[index] >= check->depth)
    check->depth = (uint16_t)(check->depths[index] + 1);
  if (check->levels[index] > check->level)
    check->level = check->levels[index];
  check->cost += check->filter->nodes[index].is_shared ? 1 : check->costs[index];
  return check->depth <= KYMO_FILTER_DEPTH && check->cost <= KYMO_FILTER_PARTS;
}

static bool is_each(struct verification *check, uint32_t index) {
  return is_node(check, index) && check->filter->nodes[index].op == KYMO_FILTER_EACH;
}

static bool is_list_good(struct verification *check, uint8_t part, uint32_t first, uint32_t count) {
  const struct kymo_filter *filter = check->filter;
  uint64_t width = part == MEMBERS ? 2 : 1, end = first + count * width;
  if (end > filter->list_count)
    return false;
  for (uint64_t i = first; i < end; i++)
    if (part == LABELS ? filter->lists[i] >= filter->text_count : !is_node(check, filter->lists[i]))
      return false;
  return true;
}

static bool is_part(struct verification *check, uint8_t part, uint32_t value, uint32_t count) {
  const struct kymo_filter *filter = check->filter;
  switch (part) {
  case NODE: return is_node(check, value);
  case MAYBE: return value == KYMO_FILTER_NONE || is_node(check, value);
  case TEXT: return value < filter->text_count;
  case WIDE: return value < filter->wide_count;
  case FLOAT: return value < filter->float_count;
  case MOMENT: return value < filter->moment_count;
  case ACTIVITY: return value < filter->activity_count;
  case SPAN: return is_node(check, value) && filter->nodes[value].op == KYMO_FILTER_SPAN;
  case LIST: return is_each(check, value);
  case OUTER: return value == KYMO_FILTER_NONE || is_each(check, value);
  case INNER: return value == 0 || is_each(check, value - 1);
  case NO: return true;
  default: return is_list_good(check, part, value, count);
  }
}

static uint32_t least_arguments(const struct kymo_filter_node *node) {
  static const uint8_t counts[KYMO_FILTER_FUNCTION_COUNT] = {3, 2, 2, 1, 1, 2, 1, 2, 2};
  return node->op == KYMO_FILTER_CALL ? counts[node->detail] : 1;
}

static bool is_pattern(struct verification *check, const struct kymo_filter_node *node) {
  const struct kymo_filter *filter = check->filter;
  const struct kymo_filter_text *text = &filter->texts[node->b];
  const char *wrong;
  size_t at;
  if (++check->patterns > KYMO_FILTER_PATTERNS)
    return false;
  struct kymo_regex *regex = (node->op == KYMO_FILTER_LIKE ? kymo_regex_new_like : kymo_regex_new)(
      text->bytes, text->length, &wrong, &at);
  kymo_regex_free(regex);
  return regex != NULL;
}

static bool is_good(struct verification *check) {
  const struct kymo_filter_node *node = &check->filter->nodes[check->index];
  if (node->op >= KYMO_FILTER_OP_COUNT)
    return false;
  const struct shape *shape = &shapes[node->op];
  bool has_key = node->key != KYMO_FILTER_NONE;
  if (node->detail >= shape->details ||
      (has_key && (!shape->has_key || node->key >= check->filter->text_count)))
    return false;
  if (!is_part(check, shape->a, node->a, node->b) || !is_part(check, shape->b, node->b, node->c) ||
      !is_part(check, shape->c, node->c, 0))
    return false;
  if (shape->a == ARGUMENTS) {
    bool is_open =
        node->op != KYMO_FILTER_CALL || node->detail == KYMO_FILTER_MIN || node->detail == KYMO_FILTER_MAX;
    return is_open ? node->b >= least_arguments(node) : node->b == least_arguments(node);
  }
  if (node->op == KYMO_FILTER_EVERY)
    return check->filter->wides[node->b].high == 0 && check->filter->wides[node->b].low > 0;
  return (node->op != KYMO_FILTER_MATCHES && node->op != KYMO_FILTER_LIKE) || is_pattern(check, node);
}

/* What depends on an element is tested for each: it is not kept for the event, nor is it remembered. */
static bool settle_level(struct verification *check) {
  const struct kymo_filter_node *node = &check->filter->nodes[check->index];
  if (node->op == KYMO_FILTER_EACH)
    check->level++;
  else if (node->op == KYMO_FILTER_SOME || node->op == KYMO_FILTER_TALLY)
    check->level = (uint16_t)(check->levels[node->a] - 1);
  check->levels[check->index] = check->level;
  return check->level == 0 || (!node->is_shared && !kymo_filter_has_state(node));
}

static bool needs_end(const struct kymo_filter *filter, const struct kymo_filter_node *node) {
  return node->op == KYMO_FILTER_TIME && (filter->moments[node->a].anchor == KYMO_FILTER_END ||
                                          filter->moments[node->b].anchor == KYMO_FILTER_END);
}

static int verify_nodes(struct kymo_filter *filter, struct verification *check, struct kymo_error *error) {
  for (; check->index < filter->node_count; check->index++) {
    const struct kymo_filter_node *node = &filter->nodes[check->index];
    check->depth = 1;
    check->cost = 1;
    check->level = 0;
    if (!is_good(check) || !settle_level(check))
      return check->depth > KYMO_FILTER_DEPTH
                 ? kymo_fail(error, KYMO_E_LIMIT, "E61 more than %d operations lie above one another",
                             KYMO_FILTER_DEPTH)
             : check->cost > KYMO_FILTER_PARTS
                 ? kymo_fail(error, KYMO_E_LIMIT, "E61 a filter of more than %u operations an event",
                             KYMO_FILTER_PARTS)
             : check->patterns > KYMO_FILTER_PATTERNS
                 ? kymo_fail(error, KYMO_E_LIMIT, "E61 a filter of more than %d patterns",
                             KYMO_FILTER_PATTERNS)
                 : kymo_fail(error, KYMO_E_FORMAT, "node %u of the filter is none", (unsigned)check->index);
    check->depths[check->index] = check->depth;
    check->costs[check->index] = check->cost;
    filter->remembers |= kymo_filter_has_state(node);
    filter->has_segments |= node->op == KYMO_FILTER_SEGMENT;
    filter->counts |= node->op == KYMO_FILTER_RECORD || node->op == KYMO_FILTER_SEGMENT;
    filter->looks_ahead |= kymo_filter_looks_ahead(node) || needs_end(filter, node);
  }
  return KYMO_OK;
}

static bool is_activity(const struct kymo_filter *filter, const struct kymo_filter_activity *activity) {
  uint64_t end = (uint64_t)activity->first_key + activity->key_count;
  if (activity->key_count > KYMO_FILTER_SAME || activity->name >= filter->text_count ||
      activity->from >= filter->node_count || activity->to >= filter->node_count || end > filter->list_count)
    return false;
  for (uint64_t i = activity->first_key; i < end; i++)
    if (filter->lists[i] >= filter->text_count)
      return false;
  return activity->limit == KYMO_FILTER_NONE ||
         (activity->limit < filter->node_count && filter->nodes[activity->limit].op == KYMO_FILTER_SPAN);
}

int kymo_filter_verify(struct kymo_filter *filter, struct kymo_error *error) {
  struct verification check = {.filter = filter,
                               .depths = calloc(filter->node_count + 1u, sizeof *check.depths),
                               .costs = calloc(filter->node_count + 1u, sizeof *check.costs),
                               .levels = calloc(filter->node_count + 1u, sizeof *check.levels)};
  int status = check.depths && check.costs && check.levels ? verify_nodes(filter, &check, error)
                                                           : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  free(check.depths);
  free(check.costs);
  free(check.levels);
  for (uint32_t i = 0; status == KYMO_OK && i < filter->activity_count; i++)
    if (!is_activity(filter, &filter->activities[i]))
      status = kymo_fail(error, KYMO_E_FORMAT, "activity %u of the filter is none", (unsigned)i);
  for (uint32_t i = 0; status == KYMO_OK && i < filter->moment_count; i++)
    if ((unsigned)filter->moments[i].anchor > KYMO_FILTER_END)
      status = kymo_fail(error, KYMO_E_FORMAT, "moment %u of the filter is none", (unsigned)i);
  if (status == KYMO_OK && filter->select >= filter->node_count)
    status = kymo_fail(error, KYMO_E_FORMAT, "the filter selects by a node that is none");
  filter->remembers |= filter->activity_count > 0;
  return status;
}
