/* SPDX-License-Identifier: MIT */
/*
 * A compiled filter: a list of nodes, each made of nodes before it, so that it has no cycles.
 *
 *   port = 80 AND state IN ("OPEN" .. "READY")
 *
 *   0  FIELD port          3  FIELD state        7  IN 3, lists[2..4) = 4, 5
 *   1  INTEGER 80          4  TEXT "OPEN"        8  AND lists[4..6) = 2, 7    ◄── select
 *   2  COMPARE = 0, 1      5  TEXT "READY"
 *
 * Nothing in it depends on a schema: names and labels are texts, and become places and numbers for each event
 * class of a trace when the filter is attached (filter/machine.h). It lives in one arena.
 */
#ifndef KYMO_FILTER_PROGRAM_H
#define KYMO_FILTER_PROGRAM_H

#include "base/arena.h"
#include "base/wide.h"
#include <kymo/filter.h>

#define KYMO_FILTER_NONE UINT32_MAX
/* Limits: the height of the tree, the nodes and other things in a filter, and the values that PER and SAME
 * distinguish. */
#define KYMO_FILTER_DEPTH 2048
#define KYMO_FILTER_PARTS (UINT32_C(1) << 20)
#define KYMO_FILTER_KEYS 65536
#define KYMO_FILTER_PATTERNS 1024
#define KYMO_FILTER_SAME 16 /* fields after SAME */

enum kymo_filter_op {
  /* values; a, b, c are nodes unless they say something else */
  KYMO_FILTER_INTEGER, /* a: in `wides` */
  KYMO_FILTER_FLOAT,   /* a: in `floats` */
  KYMO_FILTER_TEXT,    /* a: in `texts`; detail: 1 for bytes, which are no label, address or moment */
  KYMO_FILTER_SPAN,    /* a length of time; a: in `wides`, picoseconds; with detail 1, ticks of the event's
                     * clock */
  KYMO_FILTER_MOMENT,  /* a: in `moments` */
  KYMO_FILTER_FIELD,   /* a: in `texts`, steps joined by dots; c, of these four: 0, or one more than the EACH
                     * in whose elements the field is */
  KYMO_FILTER_ELEMENT, /* a: in `texts`; b: which element, from 0 */
  KYMO_FILTER_SIZE,    /* a: in `texts`: bytes of this field */
  KYMO_FILTER_COUNT,   /* a: in `texts`: elements of this field */
  KYMO_FILTER_NEGATE,
  KYMO_FILTER_INVERT, /* a */
  KYMO_FILTER_ADD,
  KYMO_FILTER_SUBTRACT,
  KYMO_FILTER_MULTIPLY,
  KYMO_FILTER_DIVIDE,
  KYMO_FILTER_REMAINDER,
  KYMO_FILTER_SHIFT_LEFT,
  KYMO_FILTER_SHIFT_RIGHT,
  KYMO_FILTER_BITS_AND,
  KYMO_FILTER_BITS_OR,
  KYMO_FILTER_BITS_XOR, /* a, b */
  KYMO_FILTER_IF,       /* a: condition; b: value if so; c: else */
  KYMO_FILTER_CALL,     /* detail: enum kymo_filter_function; a: first argument in `lists`; b: how many */
  /* tests */
  KYMO_FILTER_AND,
  KYMO_FILTER_OR,      /* a: first operand in `lists`; b: how many */
  KYMO_FILTER_NOT,     /* a */
  KYMO_FILTER_COMPARE, /* detail: enum kymo_filter_relation; a, b */
  KYMO_FILTER_IN, /* a; b: first member in `lists`, two nodes (low, high) each; c: how many; detail: 1 for
                   * NOT IN */
  KYMO_FILTER_MATCHES,
  KYMO_FILTER_LIKE, /* a; b: pattern in `texts`; detail: 1 for NOT */
  KYMO_FILTER_HAS,  /* a; b: first text in `lists`; c: how many; detail: enum kymo_filter_has */
  KYMO_FILTER_PRESENT,
  KYMO_FILTER_VALID, /* a */
  KYMO_FILTER_KIND,  /* a: first text in `lists`; b: how many */
  KYMO_FILTER_RECORD,
  KYMO_FILTER_SEGMENT, /* b: first member in `lists`, as of IN; c: how many */
  KYMO_FILTER_TIME,    /* a, b: in `moments` */
  KYMO_FILTER_DAMAGED,
  KYMO_FILTER_JOB, /* an event that an activity has added; a: in `activities` */
  /* tests with a memory */
  KYMO_FILTER_CHANGED, /* a; key */
  KYMO_FILTER_BETWEEN, /* a, b: the opening and the closing node; key; detail: 1 for INCLUSIVE */
  KYMO_FILTER_AFTER,
  KYMO_FILTER_BEFORE, /* a; detail: enum kymo_filter_which */
  KYMO_FILTER_WITHIN, /* a; b: SPAN; key; detail: enum kymo_filter_side */
  KYMO_FILTER_EVERY,  /* a: the counted node, or KYMO_FILTER_NONE; b: in `wides` */
  /* elements of lists, since version 1.1 */
  KYMO_FILTER_EACH, /* a list; a: in `texts`; b: KYMO_FILTER_NONE, or the EACH in whose elements it is. Has no
                     * value of its own */
  KYMO_FILTER_SOME, /* a: an EACH; b: a test of an element; detail: 0 ANY, 1 ALL */
  KYMO_FILTER_TALLY, /* the same: how many elements pass */
  KYMO_FILTER_OP_COUNT,
};

enum kymo_filter_relation {
  KYMO_FILTER_EQUAL,
  KYMO_FILTER_UNEQUAL,
  KYMO_FILTER_LESS,
  KYMO_FILTER_AT_MOST,
  KYMO_FILTER_GREATER,
  KYMO_FILTER_AT_LEAST,
  KYMO_FILTER_RELATION_COUNT,
};
enum kymo_filter_has { KYMO_FILTER_HAS_ALL, KYMO_FILTER_HAS_ANY, KYMO_FILTER_HAS_NO };
enum kymo_filter_which { KYMO_FILTER_FIRST, KYMO_FILTER_LAST };
enum kymo_filter_side {
  KYMO_FILTER_BEHIND,
  KYMO_FILTER_AHEAD,
  KYMO_FILTER_AROUND
}; /* AFTER, BEFORE, AROUND */
enum kymo_filter_function {
  KYMO_FILTER_BITS_OF,
  KYMO_FILTER_SIGNED,
  KYMO_FILTER_POWER,
  KYMO_FILTER_MIN,
  KYMO_FILTER_MAX,
  KYMO_FILTER_DEFAULT,
  KYMO_FILTER_IS_PRESENT,
  KYMO_FILTER_TEXT_OF,
  KYMO_FILTER_ALIGN,
  KYMO_FILTER_FUNCTION_COUNT,
};

struct kymo_filter_node {
  uint8_t op, detail;
  bool is_shared; /* a definition that is used more than once: evaluated once an event */
  uint32_t a, b, c;
  uint32_t key; /* PER, in `texts`, or KYMO_FILTER_NONE */
};

struct kymo_filter_text {
  const char *bytes;
  uint32_t length;
}; /* with a zero after it */

enum kymo_filter_anchor { KYMO_FILTER_EPOCH, KYMO_FILTER_START, KYMO_FILTER_END };
/* `span`, picoseconds, from the anchor. */
struct kymo_filter_moment {
  enum kymo_filter_anchor anchor;
  struct kymo_wide span;
};

struct kymo_filter_activity {
  uint32_t name;                 /* in `texts` */
  uint32_t from, to;             /* nodes */
  uint32_t first_key, key_count; /* SAME: in `lists`, of `texts` */
  uint32_t limit;                /* WITHIN: a SPAN node, or KYMO_FILTER_NONE */
};

/* What a filter is for: a hash of the schemas' event classes, in any order, or of the description's plan. */
struct kymo_filter_target {
  uint64_t low, high;
};

struct kymo_filter {
  uint32_t owners; /* atomic: relaxed up, acquire and release down */
  struct kymo_arena arena;
  const char *name;  /* or "" */
  bool over_all;     /* also sees records that are no events */
  bool looks_ahead;  /* needs a first pass */
  bool remembers;    /* has tests with a memory, or activities */
  bool counts;       /* asks for numbers of records */
  bool has_segments; /* … of segments */
  uint64_t first;    /* the most events to select; 0: all */
  struct kymo_filter_target target;
  const struct kymo_filter_node *nodes;
  uint32_t node_count;
  const uint32_t *lists;
  uint32_t list_count;
  const struct kymo_filter_text *texts;
  uint32_t text_count;
  const struct kymo_wide *wides;
  uint32_t wide_count;
  const double *floats;
  uint32_t float_count;
  const struct kymo_filter_moment *moments;
  uint32_t moment_count;
  const struct kymo_filter_activity *activities;
  uint32_t activity_count;
  uint32_t select; /* node */
};

struct kymo_trace;
/* Whether the trace's filter decides by each event alone, wherever reading begins; a trace without filter
 * has none that does not. (machine.c) */
bool kymo_filter_is_alone(const struct kymo_trace *trace);

/* ---- building ---- */

/* Lists that grow; running out of memory or space is remembered. All zeros at first. */
struct kymo_filter_builder {
  struct kymo_filter_node *nodes;
  size_t node_count, node_capacity;
  uint32_t *lists;
  size_t list_count, list_capacity;
  struct kymo_filter_text *texts;
  size_t text_count, text_capacity; /* bytes in `arena` */
  struct kymo_wide *wides;
  size_t wide_count, wide_capacity;
  double *floats;
  size_t float_count, float_capacity;
  struct kymo_filter_moment *moments;
  size_t moment_count, moment_capacity;
  struct kymo_filter_activity *activities;
  size_t activity_count, activity_capacity;
  struct kymo_arena arena;
  const char *name; /* from `arena`, or NULL */
  bool over_all;
  uint64_t first;
  struct kymo_filter_target target;
  int failed; /* KYMO_E_MEMORY, KYMO_E_LIMIT, or 0 */
};

/* Each adds a copy of one item and returns its index. kymo_filter_add_text finds a recently added text
 * again. */
uint32_t kymo_filter_add_node(struct kymo_filter_builder *builder, const struct kymo_filter_node *node);
uint32_t kymo_filter_add_text(struct kymo_filter_builder *builder, const char *bytes, size_t length);
uint32_t kymo_filter_append_text(struct kymo_filter_builder *builder, const char *bytes, size_t length);
uint32_t kymo_filter_add_wide(struct kymo_filter_builder *builder, struct kymo_wide wide);
uint32_t kymo_filter_add_float(struct kymo_filter_builder *builder, double number);
uint32_t kymo_filter_add_moment(struct kymo_filter_builder *builder, const struct kymo_filter_moment *moment);
uint32_t kymo_filter_add_activity(struct kymo_filter_builder *builder,
                                  const struct kymo_filter_activity *activity);
/* Adds `count` numbers after one another; returns the index of the first. */
uint32_t kymo_filter_add_list(struct kymo_filter_builder *builder, const uint32_t *list, size_t count);
/* Makes the filter and verifies it; the builder is freed in any case. */
int kymo_filter_finish(struct kymo_filter **out, struct kymo_filter_builder *builder, uint32_t select,
                       struct kymo_error *error);
void kymo_filter_builder_free(struct kymo_filter_builder *builder);

/* ---- checking ---- */

/* Whether every index is in range, nodes are made of nodes before them, depth and counts are bounded, and
 * patterns can be compiled; fills looks_ahead, remembers and the other properties. KYMO_E_FORMAT with a
 * message, without a place. */
int kymo_filter_verify(struct kymo_filter *filter, struct kymo_error *error);

/* Returns which of a node's a, b, c are nodes: bits 1, 2, 4. */
unsigned kymo_filter_operands(const struct kymo_filter_node *node);
/* Whether a node needs a memory. */
static inline bool kymo_filter_has_state(const struct kymo_filter_node *node) {
  return node->op >= KYMO_FILTER_CHANGED && node->op <= KYMO_FILTER_EVERY;
}
/* Whether its result depends on later events. */
static inline bool kymo_filter_looks_ahead(const struct kymo_filter_node *node) {
  return ((node->op == KYMO_FILTER_AFTER || node->op == KYMO_FILTER_BEFORE) &&
          node->detail == KYMO_FILTER_LAST) ||
         (node->op == KYMO_FILTER_WITHIN && node->detail != KYMO_FILTER_BEHIND);
}

struct kymo_filter_target kymo_filter_target_of(const struct kymo_schema *const *schemas, size_t count);
/* True if the bytes start with the magic of a saved filter. */
bool kymo_filter_is(const uint8_t *bytes, size_t length);

#endif
