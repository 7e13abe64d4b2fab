/* SPDX-License-Identifier: MIT */
#include "stat/edges.h"
#include "base/fail.h"
#include "base/hash.h"
#include <kymo/schema.h>
#include <stdlib.h>
#include <string.h>

/* The names of function entries and exits in tracers. */
static const struct function_edge {
  const char *name;
  uint8_t role;
  const char *field;
} function_edges[] = {
    {"functions:enter", KYMO_PAIR_BEGINS, "function"},
    {"functions:exit", KYMO_PAIR_ENDS, "function"},
    {"lttng_ust_cyg_profile:func_entry", KYMO_PAIR_BEGINS, "addr"},
    {"lttng_ust_cyg_profile:func_exit", KYMO_PAIR_ENDS, "addr"},
};

static const struct function_edge *function_edge_of(const struct kymo_event_class *class_) {
  for (size_t i = 0; class_->name && i < sizeof function_edges / sizeof *function_edges; i++)
    if (strcmp(class_->name, function_edges[i].name) == 0)
      return &function_edges[i];
  return NULL;
}

int kymo_edges_begin(struct kymo_edges *edges, const struct kymo_trace *trace,
                     const struct kymo_numbers *numbers, struct kymo_error *error) {
  *edges = (struct kymo_edges){.trace = trace, .numbers = numbers};
  edges->roles = calloc(numbers->class_count + 1u, sizeof *edges->roles);
  edges->kinds = calloc(numbers->class_count + 1u, sizeof *edges->kinds);
  return edges->roles && edges->kinds ? KYMO_OK : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
}

void kymo_edges_end(struct kymo_edges *edges) {
  free(edges->roles);
  free(edges->kinds);
}

/* Calls `each` for all classes with their numbers until it returns false. */
typedef bool each_class(void *user, const struct kymo_event_class *class_, uint32_t number);
static void for_classes(const struct kymo_edges *edges, each_class *each, void *user) {
  for (size_t i = 0; i < kymo_trace_part_count(edges->trace); i++) {
    const struct kymo_schema *schema = kymo_trace_part(edges->trace, i)->schema;
    for (uint32_t j = 0; j < schema->stream_count; j++)
      for (uint32_t k = 0; k < schema->streams[j]->event_count; k++) {
        const struct kymo_event_class *class_ = schema->streams[j]->events[k];
        if (!each(user, class_, kymo_class_number(edges->numbers, (uint32_t)i, class_)))
          return;
      }
  }
}

/* ---- roles ---- */

struct adding {
  struct kymo_edges *edges;
  uint8_t role;
  kymo_edge_test *is;
  void *user;
  size_t count;
};

static bool add_one(void *user, const struct kymo_event_class *class_, uint32_t number) {
  struct adding *adding = user;
  if (adding->is(adding->user, class_)) {
    adding->edges->roles[number] |= adding->role;
    adding->count++;
  }
  return true;
}

size_t kymo_edges_add(struct kymo_edges *edges, uint8_t role, kymo_edge_test *is, void *user) {
  struct adding adding = {.edges = edges, .role = role, .is = is, .user = user};
  for_classes(edges, add_one, &adding);
  return adding.count;
}

/* ---- functions ---- */

struct function_field {
  const struct kymo_edges *edges;
  const char *field;
  bool is_other;
};

static bool add_function(void *user, const struct kymo_event_class *class_, uint32_t number) {
  struct function_field *found = user;
  const struct function_edge *edge = function_edge_of(class_);
  if (!edge || (found->field && strcmp(found->field, edge->field) != 0))
    return true;
  found->field = edge->field;
  found->edges->roles[number] |= edge->role;
  return true;
}

const char *kymo_edges_add_functions(struct kymo_edges *edges) {
  struct function_field found = {.edges = edges};
  for_classes(edges, add_function, &found);
  return found.field;
}

static bool see_function(void *user, const struct kymo_event_class *class_, uint32_t number) {
  struct function_field *found = user;
  if (!found->edges->roles[number])
    return true;
  const struct function_edge *edge = function_edge_of(class_);
  found->is_other = !edge || (found->field && strcmp(found->field, edge->field) != 0);
  found->field = edge ? edge->field : NULL;
  return !found->is_other;
}

const char *kymo_edges_function_field(const struct kymo_edges *edges) {
  struct function_field found = {.edges = edges};
  for_classes(edges, see_function, &found);
  return found.is_other ? NULL : found.field;
}

/* ---- kinds of spans ---- */

/* Distinguishes kinds; never 0. */
static uint64_t hash_of(const struct kymo_event_class *class_, size_t length) {
  uint64_t hash = kymo_keyed_text(class_->name ? class_->name : "", class_->name ? length : 0);
  return hash ? hash : 1;
}

static bool add_span(void *user, const struct kymo_event_class *class_, uint32_t number) {
  struct adding *adding = user;
  size_t length;
  enum kymo_edge edge = kymo_event_class_edge(class_, &length);
  if (edge == KYMO_EDGE_NONE)
    return true;
  adding->edges->roles[number] |= edge == KYMO_EDGE_BEGIN ? KYMO_PAIR_BEGINS : KYMO_PAIR_ENDS;
  adding->edges->kinds[number] = hash_of(class_, length);
  adding->count++;
  return true;
}

/* The begins, or the ends, of spans. */
struct kind {
  uint64_t hash;
  uint32_t number;
};
struct kinds {
  const struct kymo_edges *edges;
  enum kymo_edge edge;
  uint8_t role;
  struct kind *list;
  size_t count;
};

static int add_named(struct kymo_edges *edges, size_t *count);

int kymo_edges_add_spans(struct kymo_edges *edges, size_t *count) {
  struct adding adding = {.edges = edges};
  for_classes(edges, add_span, &adding);
  *count = adding.count;
  return add_named(edges, count);
}

static bool add_kind(void *user, const struct kymo_event_class *class_, uint32_t number) {
  struct kinds *kinds = user;
  size_t length;
  if (!(kinds->edges->roles[number] & kinds->role) || kymo_event_class_edge(class_, &length) != kinds->edge)
    return true;
  kinds->list[kinds->count++] = (struct kind){hash_of(class_, length), number};
  return true;
}

static int by_hash(const void *a, const void *b) {
  uint64_t x = ((const struct kind *)a)->hash, y = ((const struct kind *)b)->hash;
  return x < y ? -1 : x > y;
}

static bool list_those(struct kinds *kinds, each_class *add) {
  kinds->list = calloc(kinds->edges->numbers->class_count + 1u, sizeof *kinds->list);
  if (!kinds->list)
    return false;
  for_classes(kinds->edges, add, kinds);
  qsort(kinds->list, kinds->count, sizeof *kinds->list, by_hash);
  return true;
}

static bool list_kinds(struct kinds *kinds) { return list_those(kinds, add_kind); }

/* Sets the kinds of those in `kinds` that are also among the others. */
static void set_kinds(struct kymo_edges *edges, const struct kinds *kinds, const struct kinds *others) {
  for (size_t i = 0; i < kinds->count && others->count; i++)
    if (bsearch(&kinds->list[i], others->list, others->count, sizeof *others->list, by_hash))
      edges->kinds[kinds->list[i].number] = kinds->list[i].hash;
}

int kymo_edges_find_kinds(struct kymo_edges *edges) {
  struct kinds begins = {edges, KYMO_EDGE_BEGIN, KYMO_PAIR_BEGINS, NULL, 0},
               ends = {edges, KYMO_EDGE_END, KYMO_PAIR_ENDS, NULL, 0};
  bool is_done = list_kinds(&begins) && list_kinds(&ends);
  if (is_done) {
    set_kinds(edges, &begins, &ends);
    set_kinds(edges, &ends, &begins);
  }
  free(begins.list);
  free(ends.list);
  return is_done ? KYMO_OK : KYMO_E_MEMORY;
}

/* ---- spans that no attribute declares, by the names that tracers give to pairs ---- */

static const struct ending {
  const char *prefix, *ending; /* the kind's name is what is between them */
  enum kymo_edge edge;
} endings[] = {
    {"", "_begin", KYMO_EDGE_BEGIN},         {"", "_end", KYMO_EDGE_END},
    {"", "_entry", KYMO_EDGE_BEGIN},         {"", "_exit", KYMO_EDGE_END},
    {"syscall_entry_", "", KYMO_EDGE_BEGIN}, {"syscall_exit_", "", KYMO_EDGE_END},
};

static const struct ending *ending_of(const char *name, size_t length) {
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
    size_t before = strlen(endings[i].prefix), after = strlen(endings[i].ending);
    if (length > before + after && memcmp(name, endings[i].prefix, before) == 0 &&
        memcmp(name + length - after, endings[i].ending, after) == 0)
      return &endings[i];
  }
  return NULL;
}

const char *kymo_edges_kind_name(const struct kymo_event_class *class_, size_t *length) {
  const char *name = class_->name ? class_->name : "";
  *length = strlen(name);
  if (kymo_event_class_edge(class_, length) != KYMO_EDGE_NONE)
    return name;
  const struct ending *ending = ending_of(name, *length);
  if (!ending)
    return name;
  *length -= strlen(ending->prefix) + strlen(ending->ending);
  return name + strlen(ending->prefix);
}

/* Pairs of different endings are different kinds: "x_begin" is not ended by "x_exit". */
static uint64_t hash_of_named(const struct kymo_event_class *class_, const struct ending *ending) {
  size_t length, pair = (size_t)(ending - endings) / 2;
  const char *name = kymo_edges_kind_name(class_, &length);
  uint64_t hash = kymo_keyed_text(name, length) ^ pair * UINT64_C(0x9e3779b97f4a7c15);
  return hash ? hash : 1;
}

static bool list_named(void *user, const struct kymo_event_class *class_, uint32_t number) {
  struct kinds *kinds = user;
  const char *name = class_->name ? class_->name : "";
  const struct ending *ending =
      kymo_event_class_edge(class_, NULL) == KYMO_EDGE_NONE ? ending_of(name, strlen(name)) : NULL;
  if (ending && ending->edge == kinds->edge)
    kinds->list[kinds->count++] = (struct kind){hash_of_named(class_, ending), number};
  return true;
}

/* Gives the role to those of which the other edge is there, too. */
static size_t add_paired(struct kymo_edges *edges, const struct kinds *kinds, const struct kinds *others) {
  size_t count = 0;
  for (size_t i = 0; i < kinds->count && others->count; i++) {
    if (!bsearch(&kinds->list[i], others->list, others->count, sizeof *others->list, by_hash))
      continue;
    edges->roles[kinds->list[i].number] |= kinds->role;
    edges->kinds[kinds->list[i].number] = kinds->list[i].hash;
    count++;
  }
  return count;
}

static int add_named(struct kymo_edges *edges, size_t *count) {
  struct kinds begins = {edges, KYMO_EDGE_BEGIN, KYMO_PAIR_BEGINS, NULL, 0},
               ends = {edges, KYMO_EDGE_END, KYMO_PAIR_ENDS, NULL, 0};
  bool is_done = list_those(&begins, list_named) && list_those(&ends, list_named);
  if (is_done)
    *count += add_paired(edges, &begins, &ends) + add_paired(edges, &ends, &begins);
  free(begins.list);
  free(ends.list);
  return is_done ? KYMO_OK : KYMO_E_MEMORY;
}

bool kymo_edges_are_of_threads(const struct kymo_edges *edges) {
  bool is_any = false;
  for (uint32_t i = 0; i < edges->numbers->class_count; i++)
    is_any |= edges->kinds[i] != 0;
  return is_any || kymo_edges_function_field(edges);
}
