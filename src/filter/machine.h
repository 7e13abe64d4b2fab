/* SPDX-License-Identifier: MIT */
/*
 * The filter machine: a filter (filter/program.h) at work on one trace.
 *
 *   filter nodes ── bind, once an event class ──► bounds: fields are places, labels are ranges, impossible
 *   tests are false
 *                                                    │
 *   event ──► raw test of bytes at constant places ──┼──► tests with a memory, in order ──► select ──►
 *   activities
 *             (classes that it decides alone)        │
 *
 * A class whose events need no memory is decided by its raw tests or its select; for one that is false by
 * its names alone, only its plan is read. If there is a memory, all events go through it (F6).
 */
#ifndef KYMO_FILTER_MACHINE_H
#define KYMO_FILTER_MACHINE_H

#include "base/regex.h"
#include "base/table.h"
#include "decode/load.h"
#include "decode/plan.h"
#include "decode/walk.h"
#include "expr/operate.h"
#include "filter/program.h"
#include "source/prefilter.h"
#include "trace/trace.h"

/* ---- values ---- */

struct filter_value {
  struct kymo_expr_value v;           /* MOMENT: as the event's time_ns */
  const struct kymo_type *type;       /* of a field, or NULL */
  const struct filter_bound *literal; /* BYTES of the filter itself, or NULL */
};

/* What a text of the filter may mean besides itself. */
struct filter_address {
  uint8_t bytes[16];
  uint8_t size; /* 4, 6, 16; 0: none */
  bool is_uuid;
};

/* ---- bounds ---- */

struct filter_machine;
struct filter_bound;
/* One event that is tested. */
struct filter_look {
  struct filter_machine *machine;
  const struct kymo_event *event;
};

typedef bool filter_test(const struct filter_bound *bound, struct filter_look *look);
typedef void filter_get(const struct filter_bound *bound, struct filter_look *look,
                        struct filter_value *value);

/* A field within arrays, or an array: the members on the way to it, from the scope, or from an element of
 * `each`. */
struct filter_way {
  enum kymo_scope scope;
  const struct filter_bound *each; /* or NULL */
  uint32_t depth;
  const struct kymo_member *members[KYMO_WALK_DEPTH];
  const struct kymo_type *element; /* of an EACH */
};

/* An element of a list: its first step, and the walk after that. */
struct filter_spot {
  struct kymo_walk walk;
  struct kymo_value value;
  enum kymo_token token;
};

/* A node for one event class. */
struct filter_bound {
  const struct kymo_filter_node *node;
  uint32_t index; /* of the node */
  filter_test *test;
  filter_get *get;
  bool is_constant; /* its test or value needs no event */
  struct filter_bound *a, *b, *c, *key;
  struct filter_bound **list; /* arguments; members: low and high each */
  uint32_t list_count;
  uint32_t field;                    /* id, or KYMO_FIELD_NONE */
  const struct filter_way *way;      /* of fields within arrays */
  bool is_many;                      /* it means all values of the way, not one of them or their number */
  struct kymo_raw_test raw;          /* of raw tests */
  struct filter_value value;         /* of constants */
  struct filter_address address;     /* of texts */
  int64_t low_ns, high_ns;           /* of TIME */
  struct kymo_regex_memory *pattern; /* of MATCHES, LIKE: the machine's, one a node */
};

/* FROM, TO and SAME of an activity. */
struct filter_edges {
  struct filter_bound *from, *to, *limit, *keys;
};

/* A filter for the events of one class. */
struct kymo_filter_class {
  struct filter_bound *select;
  bool is_raw;                      /* the raw tests decide */
  bool is_decided, verdict;         /* nothing of the event is needed */
  bool is_unseen;                   /* the records are no events, and the filter is not OVER ALL */
  const struct kymo_raw_test *raws; /* tested first; all must hold */
  uint32_t raw_count;
  struct filter_bound **states; /* in the order of nodes */
  uint32_t state_count;
  struct filter_edges *activities; /* of each activity */
};

/* ---- memory ---- */

/* How tables identify a value: by a number, or by the keyed hash of a text. */
struct filter_key {
  uint64_t number;
  uint32_t kind;
};

/* The state of one test with a memory (for one value of PER). */
struct filter_cell {
  struct filter_key key;
  bool is_open, has_last;
  struct filter_key last; /* CHANGED */
  uint64_t count;         /* EVERY */
  uint64_t first, final;  /* AFTER, BEFORE: numbers of the first and the last match; 0: none */
  int64_t time_ns;        /* WITHIN: of the last match; ACTIVITY: of the begin */
  uint32_t stretch;       /* WITHIN BEFORE: the current stretch */
  uint32_t slot;          /* ACTIVITY: where its SAME values are */
};

struct filter_table {
  struct filter_cell *cells; /* [0 … count), in the order in which they were added */
  uint32_t count, capacity;
  struct kymo_hash_table places; /* index of a cell + 1 */
};

/* Events before a match that are near enough to pass: those with a number up to `last`, not before
 * `begin_ns`. */
struct filter_stretch {
  struct filter_key key;
  uint64_t last;
  int64_t begin_ns, last_ns;
};

struct filter_state {
  bool verdict;              /* for the current event */
  struct filter_table table; /* one cell, if there is no PER */
  uint32_t rank;             /* which first pass it needs, from 1; 0: none */
  uint64_t first, final;     /* found by the first pass */
  struct filter_stretch *stretches;
  uint32_t stretch_count, stretch_capacity;
};

struct filter_memo {
  uint64_t stamp;
  bool verdict;
  struct filter_value value;
};

struct filter_activities;
struct filter_record;

struct filter_machine {
  struct kymo_trace *trace;
  struct kymo_filter *filter;               /* the machine's reference */
  struct kymo_arena arena;                  /* classes */
  struct filter_state *states;              /* by node */
  struct filter_memo *memos;                /* by node */
  const struct filter_spot **spots;         /* by node: the element that an EACH is at; NULL: none */
  struct kymo_regex **regexes;              /* by node */
  struct kymo_regex_memory **patterns;      /* by node */
  uint64_t stamp;                           /* of the current event */
  bool is_ready;                            /* the first passes are done */
  const struct kymo_prefilter **prefilters; /* by stream, or NULL */
  uint64_t seen;                            /* number of the last event that the memory saw */
  uint64_t at;                              /* the trace's count of moves when this was its last event */
  uint32_t pass;                            /* the first pass that is running, 0: none … */
  struct kymo_trace *ahead;                 /* … and what it reads from, NULL before it has begun */
  int64_t begin_ns, end_ns;                 /* of the trace, for moments */
  bool has_range;
  uint64_t given;               /* events selected up to the current one, for FIRST */
  uint64_t added_given;         /* the number delivered of those that the current event has added */
  bool is_ended;                /* KYMO_END was returned after FIRST n */
  struct filter_record *record; /* the selected events, after the first move back; or NULL */
  struct kymo_filter_result counts;
  uint32_t *segments,
      *next_segments;       /* by stream: the current segment; by segment: the next one of the stream */
  size_t segment_count;     /* indices above are + 1; 0: none */
  uint32_t *first_segments; /* by stream */
  int failed;               /* KYMO_E_MEMORY or KYMO_E_LIMIT if a test failed */
  const char *limit;        /* … the message for KYMO_E_LIMIT */
  struct filter_activities *activities; /* or NULL */
  void *names;                          /* of addresses, once one was compared (namer.h); or NULL */
};

/* ---- binding (bind.c, field.c) ---- */

/* The class's filter, made now; NULL: out of memory. */
struct kymo_filter_class *kymo_filter_bind(struct filter_machine *machine, const struct kymo_event *event);
/* The stand-in for a field that is compared with a text: its bytes, if it is an address of a network and the
 * text is one, else `bound` itself. NULL: out of memory. */
struct filter_bound *kymo_filter_bind_address(struct filter_machine *machine, const struct kymo_event *event,
                                              struct filter_bound *bound, const struct filter_bound *text);
/* Makes the bound of an EACH, or of a field of its elements, for the class; neither has a way if the class
 * has no such field. `each`: in whose elements it is, or NULL. */
bool kymo_filter_bind_each(struct filter_machine *machine, const struct kymo_event *event,
                           struct filter_bound *bound, const struct filter_bound *each, const char *path);
/* Makes a field's bound for the class: its place, or its stand-in. */
bool kymo_filter_bind_field(struct filter_machine *machine, const struct kymo_event *event,
                            struct filter_bound *bound, const char *path);
/* The id of a field by this name or another that tracers have for it, or KYMO_FIELD_NONE. */
uint32_t kymo_filter_field_id(struct kymo_trace *trace, const struct kymo_event_class *class_,
                              const char *path);
/* Calls `each` for every value of a bound with many values, or for its only one, until it returns true. */
typedef bool filter_each(const struct filter_value *value, const void *user);
bool kymo_filter_any(const struct filter_bound *bound, struct filter_look *look, filter_each *each,
                     const void *user);
/* The number of the field's elements; false: it is absent. */
bool kymo_filter_count_elements(const struct filter_bound *bound, struct filter_look *look, uint64_t *count);
/* Calls `visit` for each element of the list of an EACH, which is at this element then, until it returns
 * true. False: the event has no such list. */
typedef bool filter_visit(struct filter_look *look, void *user);
bool kymo_filter_for_each(const struct filter_bound *each, struct filter_look *look, filter_visit *visit,
                          void *user);
/* The value that identifies an integer of this type in tables. */
void kymo_filter_take(struct filter_value *out, enum kymo_token token, const struct kymo_value *value);

/* The number of the segment that an event is in, from 1; 0: not known. */
uint64_t kymo_filter_segment_of(struct filter_machine *machine, const struct kymo_event *event);

/* ---- evaluating ---- */

void kymo_filter_calculate(const struct filter_bound *bound, struct filter_look *look,
                           struct filter_value *value);
void kymo_filter_call(const struct filter_bound *bound, struct filter_look *look, struct filter_value *value);
/* Whether a relation holds; false for values that cannot be compared. */
bool kymo_filter_relate(const struct filter_value *a, enum kymo_filter_relation relation,
                        const struct filter_value *b);
/* Whether the value is in low … high, which may be the same. */
bool kymo_filter_is_between(const struct filter_value *value, const struct filter_value *low,
                            const struct filter_value *high);
/* The same for values of one event: addresses also have names if the trace has a load map (address.c). */
bool kymo_filter_relate_at(struct filter_look *look, const struct filter_value *a,
                           enum kymo_filter_relation relation, const struct filter_value *b);
/* Whether the pattern matches the name of an address. */
bool kymo_filter_name_matches(struct filter_look *look, const struct filter_value *address,
                              struct kymo_regex_memory *pattern);
bool kymo_filter_is_true(const struct filter_value *value);
struct filter_address kymo_filter_parse_address(const struct kymo_filter_text *text);

/* Whether the integer at that place passes. */
static inline bool kymo_filter_raw_holds(const struct kymo_raw_test *raw, const struct kymo_event *event) {
  uint64_t at = kymo_body_bits(event) + raw->offset_bits;
  return kymo_raw_test_passes(raw, kymo_fast_bits(event->packet->data, at, raw->bits, raw->is_big));
}

extern filter_test *const kymo_filter_tests[KYMO_FILTER_OP_COUNT];
extern filter_get *const kymo_filter_gets[KYMO_FILTER_OP_COUNT];

/* ---- memory (table.c, state.c) ---- */

struct filter_key kymo_filter_key_of(const struct filter_value *value);
/* The cell of a key, which is new and zeroed if there was none. NULL: no space or out of memory, which the
 * machine remembers. */
struct filter_cell *kymo_filter_cell(struct filter_machine *machine, struct filter_table *table,
                                     struct filter_key key);
/* The cell of a key, or NULL if there is none. */
struct filter_cell *kymo_filter_cell_find(const struct filter_table *table, struct filter_key key);
/* Removes a cell; the last one moves to its place. */
void kymo_filter_cell_remove(struct filter_table *table, struct filter_cell *cell);
void kymo_filter_table_clear(struct filter_table *table);
void kymo_filter_table_free(struct filter_table *table);
/* Passes the event to all tests with a memory. */
void kymo_filter_remember(struct filter_machine *machine, const struct kymo_filter_class *class_,
                          struct filter_look *look);
/* Assigns first passes to the nodes that need them; returns the number of passes. */
uint32_t kymo_filter_rank(struct filter_machine *machine);
/* Goes back to the start; the results of first passes stay. */
void kymo_filter_forget(struct filter_machine *machine);

/* ---- activities (activity.c) ---- */

/* Binds FROM, TO and SAME of all activities. */
bool kymo_filter_bind_activities(struct filter_machine *machine, const struct kymo_event *event,
                                 struct kymo_filter_class *class_, struct filter_bound *const *bounds);
/* Whether this activity has added the event. */
bool kymo_filter_is_of_activity(const struct filter_machine *machine, const struct kymo_event *event,
                                uint32_t activity);

/* ---- the machine (machine.c) ---- */

void kymo_filter_machine_free(struct filter_machine *machine);
/* Whether the select holds for an event that the memory has seen. */
bool kymo_filter_selects(struct filter_machine *machine, const struct kymo_event *event);
/* Determines what must be known before the first event is asked for. */
int kymo_filter_prepare(struct filter_machine *machine, struct kymo_error *error);
/* Fills the error from machine->failed, and returns that code. */
int kymo_filter_failure(const struct filter_machine *machine, struct kymo_error *error);
/* Moves the memory after the event with this number; if `keeps`, the events that this one has added wait. */
int kymo_filter_replay(struct filter_machine *machine, uint64_t last, bool keeps, struct kymo_error *error);
/* Returns the next added event that is selected; false: there is none. */
bool kymo_filter_give_added(struct filter_machine *machine, const struct kymo_event **event);

/* Whether the trace is where the filter left it, and the memory too. */
static inline bool kymo_filter_is_here(const struct filter_machine *machine) {
  return !machine->trace->is_moved && machine->trace->number == machine->at;
}

/* Notes that the filter leaves the trace here; and whether the memory is here too. */
static inline void kymo_filter_leave(struct filter_machine *machine, bool is_here) {
  machine->at = machine->trace->number;
  machine->trace->is_moved = !is_here;
}

/* ---- prefilters (prefilter.c) ---- */

/* Makes prefilters for the streams whose formats accept them. False: out of memory. */
bool kymo_filter_make_prefilters(struct filter_machine *machine);
/* Sets the prefilters of the streams. */
void kymo_filter_set_prefilters(const struct filter_machine *machine);

/* ---- going back (back.c) ---- */

/* Notes that an event was selected, and how many of those that it has added were. False: out of memory. */
bool kymo_filter_record_note(struct filter_record *record, uint64_t number, bool is_selected, uint64_t added);
void kymo_filter_record_free(struct filter_record *record);

#endif
