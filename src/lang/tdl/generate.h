/* SPDX-License-Identifier: MIT */
/*
 * From a checked tree to a plan (src/plan/plan.h), and with it the schema that users see.
 *
 *   survey (which values are needed, by whom; what may be absent; how values are delivered)
 *     └─► prefixes ─► kinds: columns, loads at constant offsets, code ─► dispatch ─► layout
 *
 * Values are in *key slots*: those of the tree (tdl_slot.index), and after them slots of our own (a time
 * beside its raw number, where a field begins, one for each option of a variant). A prefix has its slots
 * first, so a record's own ones begin after the prefix's and ours of the prefix.
 */
#ifndef KYMO_LANG_TDL_GENERATE_H
#define KYMO_LANG_TDL_GENERATE_H

#include "plan/plan.h"
#include "lang/tdl/origin.h"
#include "lang/tdl/tdl.h"

/* Compiles a TDL text of `length` bytes to a schema that carries its plan; the caller's, to be released with
 * kymo_schema_release. `file` names the text in errors; warnings go to `warnings` (may be NULL). NULL with
 * `error`: KYMO_E_SYNTAX with line and column, KYMO_E_LIMIT, KYMO_E_MEMORY. The same text gives the same
 * bytes. */
struct kymo_schema *kymo_tdl_compile(const char *text, size_t length, const char *file,
                                     const struct kymo_warnings *warnings, struct kymo_error *error);
/* The same, and where the parts of the plan come from; for kymo_tdl_origins_find. */
struct kymo_schema *kymo_tdl_compile_origins(const char *text, size_t length, const char *file,
                                             struct kymo_tdl_origins *origins, struct kymo_error *error);

/* ---- inside of the generator (generate*.c) ---- */

/* What an integer can be, both ends included. */
struct tdl_range {
  struct kymo_wide low, high;
};

/* One form in which a value is delivered. */
struct tdl_option {
  struct tdl_option *next;
  uint32_t shape, bits, view; /* as in kymo_plan_option */
  bool is_time;
  uint32_t slot; /* key slot that is delivered */
};

/* What the generator knows of a slot of the tree. */
struct tdl_cell {
  const struct tdl_slot *slot;
  bool is_used;     /* some expression or attribute reads the value */
  bool is_measured; /* where it begins and ends is needed */
  bool may_be_absent;
  bool is_bytes; /* of BYTES values: no text */
  struct tdl_range range;
  struct tdl_option *options;
  uint32_t option_count;
  uint32_t begin, end; /* key slots of positions, if is_measured */
  uint32_t column;     /* absolute; of the kind that is being generated */
  uint32_t tally;
  const struct tdl_item *surely_in; /* the REPEAT each turn of which fills it */
  bool is_sure;                     /* … with a value that is not absent */
  struct tdl_list *home;            /* the list of structs that it is a member of; NULL: the record's own */
  bool is_listed;                   /* a DEFINE … BY LIST reads the list of its values */
};

/* What the turns of a REPEAT become (generate_list.c). */
struct tdl_list {
  struct tdl_list *next;   /* of the same frame */
  struct tdl_list *parent; /* of the REPEAT around it, or NULL */
  struct tdl_list *same;   /* a REPEAT in another branch, whose list this one fills; or NULL */
  struct tdl_list *more;   /* the next one that fills the same list */
  const struct tdl_item *item;
  const struct tdl_item *base; /* names of members begin after this USE or REPEAT; NULL: they are whole */
  const struct tdl_trail *trail;
  uint32_t number;      /* in the order of the items, with groups expanded */
  uint32_t depth;       /* the number of REPEATs that a turn is in */
  uint32_t field_count; /* that users see in it */
  bool is_structs;
  bool has_lists;     /* of structs, in it */
  uint32_t kind;      /* one more than the kind that `column`, absolute, is of; 0: none */
  uint32_t last_name; /* number in the last derived name of a list in it */
  uint32_t column;
};

/* A prefix, or a record's own part. */
struct tdl_frame {
  struct tdl_cell *cells; /* by index of slot, less `first` */
  uint32_t first, count;
  uint32_t shift;            /* key slot of a slot's value = index + shift */
  uint32_t slot_count;       /* key slots used so far, with those of the prefix */
  bool has_time;             /* the record's time was seen */
  struct tdl_frame *prefix;  /* or NULL */
  struct tdl_record *record; /* NULL: a prefix */
  bool has_length;
  bool has_lists;          /* prefixes: elements are delivered, which is done in each kind */
  struct tdl_list *lists;  /* of its REPEATs */
  struct tdl_sum *pending; /* checksums over the RECORD */
  uint32_t *kept;          /* records: index of kept values by slot, 0 for none, else one more */
};

/* A checksum that waits for the end of what it covers. */
struct tdl_sum {
  struct tdl_sum *next;
  struct tdl_item *item;
};

struct tdl_generator {
  struct tdl_tree *tree;
  struct tdl_session *session;
  struct kymo_plan_builder *key;
  struct tdl_frame *prefixes, *records; /* by index */
  struct tdl_frame *frame;              /* the current one */
  uint32_t kept_count;                  /* values that records read of others */
  bool failed;
  bool is_wide_text; /* ENCODING has characters of 16 bits */
  /* code of constant offsets: the nominal position is `ahead` bytes before the machine's position */
  struct tdl_item *fixed_end; /* the first item that is not part of it; NULL: none is */
  bool is_fixed;
  int64_t ahead;
  int64_t since_begin; /* bits from where the current field begins to the machine's position; 0 if that is not
                    * known */
  int64_t fixed_bytes, fixed_start; /* their number; where they begin in the record, -1: it depends on the
                                     * data */
  bool is_replay;                   /* a prefix is read once more, for its lists alone */
  uint32_t value_slot;              /* of VALUE in AS */
  struct tdl_range value_range;
  struct tdl_item *last_time; /* what ADD adds to */
  bool last_is_stamp;         /* … is the record's time */
  struct tdl_sum *pending;    /* checksums of this turn, window or part; the last first */
  struct tdl_cell **stack;    /* of the survey: cells that are surely filled */
  uint32_t stack_count, stack_size;
  struct kymo_tdl_origins *origins; /* or NULL */
  struct kymo_tdl_span origin;      /* of the code that is made now */
  uint32_t sequences;               /* counters so far */
  struct {
    uint32_t bits, per;
  } counters[64 * 4]; /* as many as there are widths and PERs */
};

/* origin.c: the parts of a section that are added from here on come from there. */
void kymo_tdl_note_origin(struct tdl_generator *gen, enum kymo_plan_section section,
                          struct kymo_tdl_span span);
/* The same of code; returns where the code before comes from, for going back. */
struct kymo_tdl_span kymo_tdl_come_from(struct tdl_generator *gen, struct kymo_tdl_span span);
static inline struct kymo_tdl_span kymo_tdl_name_span(const struct tdl_name *name) {
  return (struct kymo_tdl_span){name->at, name->length};
}

/* generate_survey.c: what must be known before code can be made. */
bool kymo_tdl_survey(struct tdl_generator *gen);
bool kymo_tdl_push(struct tdl_generator *gen, struct tdl_cell *cell);
/* The properties of a slot of the current frame (or of its prefix); of a slot of another record. */
struct tdl_cell *kymo_tdl_cell(const struct tdl_generator *gen, const struct tdl_slot *slot);
struct tdl_cell *kymo_tdl_cell_in(const struct tdl_generator *gen, const struct tdl_record *record,
                                  const struct tdl_slot *slot);
/* The key slot of a slot's value; a new key slot. */
uint32_t kymo_tdl_key_slot(const struct tdl_generator *gen, const struct tdl_slot *slot);
uint32_t kymo_tdl_new_slot(struct tdl_generator *gen);
/* The index of a kept value. */
uint32_t kymo_tdl_kept(struct tdl_generator *gen, struct tdl_record *record, const struct tdl_slot *slot);

/* generate_range.c: what expressions can come to. */
struct tdl_range kymo_tdl_range_of(const struct tdl_generator *gen, const struct tdl_expr *expr);
bool kymo_tdl_may_be_absent(const struct tdl_generator *gen, const struct tdl_expr *expr);
/* Whether its number may be one that no field can hold, with a sign or without (R10). */
bool kymo_tdl_may_be_out_of_range(const struct tdl_generator *gen, const struct tdl_expr *expr);
/* Whether its number may be one that its own field cannot hold, which has a sign if the number may be
 * negative. */
bool kymo_tdl_may_miss_field(const struct tdl_generator *gen, const struct tdl_expr *expr);
/* Of BYTES values: true for bytes, false for text. */
bool kymo_tdl_is_bytes(const struct tdl_generator *gen, const struct tdl_expr *expr);
/* Every number there is: -2^63 … 2^64-1. */
struct tdl_range kymo_tdl_any_number(void);
/* A constant's value, if it is one: false otherwise. */
bool kymo_tdl_constant(const struct tdl_expr *expr, uint64_t *value);

/* generate_view.c: types and views of fields, and how they are delivered. */
uint32_t kymo_tdl_type(struct tdl_generator *gen, const struct tdl_type *type, enum tdl_order order);
uint32_t kymo_tdl_view(struct tdl_generator *gen, const struct tdl_attributes *attributes);
/* The form in which a FIELD or LET delivers its value; .next, .slot not set. */
struct tdl_option kymo_tdl_option(struct tdl_generator *gen, const struct tdl_item *item);
/* Whether the number that a field or LET comes to may be below 0. */
bool kymo_tdl_may_be_negative(struct tdl_generator *gen, const struct tdl_item *item);
struct tdl_range kymo_tdl_type_range(const struct tdl_generator *gen, const struct tdl_type *type);
bool kymo_tdl_same_option(const struct tdl_option *a, const struct tdl_option *b);
bool kymo_tdl_letters(struct tdl_generator *gen);
void kymo_tdl_add_override(struct tdl_generator *gen, const struct tdl_override *over);
/* Text of the key. */
uint32_t kymo_tdl_key_text(struct tdl_generator *gen, struct tdl_bytes bytes);
uint32_t kymo_tdl_key_word(struct tdl_generator *gen, const struct tdl_word *word);

/* generate_expr.c: code of expressions. Each leaves one value. */
void kymo_tdl_emit(struct tdl_generator *gen, const struct tdl_expr *expr);
/* The same at the end of an expression: a number is held to its bounds (S6). */
void kymo_tdl_emit_whole(struct tdl_generator *gen, const struct tdl_expr *expr);
void kymo_tdl_emit_number(struct tdl_generator *gen, int64_t value);
/* [x] → truth: x is in the set. */
void kymo_tdl_emit_in(struct tdl_generator *gen, const struct tdl_set *set);
void kymo_tdl_emit_here(struct tdl_generator *gen);
void kymo_tdl_emit_get(struct tdl_generator *gen, const struct tdl_slot *slot);
/* A block of one expression, or KYMO_PLAN_NONE for NULL. */
uint32_t kymo_tdl_block(struct tdl_generator *gen, const struct tdl_expr *expr);
static inline uint32_t kymo_tdl_code(struct tdl_generator *gen, enum kymo_plan_code code, uint32_t a,
                                     uint32_t b) {
  return kymo_plan_emit(gen->key, code, a, b, 0);
}
static inline void kymo_tdl_aim(struct tdl_generator *gen, uint32_t jump) {
  kymo_plan_aim(gen->key, jump, kymo_plan_here(gen->key));
}

/* generate_field.c: code of fields and LETs. */
void kymo_tdl_emit_field(struct tdl_generator *gen, struct tdl_item *item);
void kymo_tdl_emit_let(struct tdl_generator *gen, struct tdl_item *item);
void kymo_tdl_emit_load(struct tdl_generator *gen, const struct tdl_item *item, const struct tdl_type *type,
                        enum tdl_order order);
void kymo_tdl_emit_checksum(struct tdl_generator *gen, const struct tdl_item *item);
/* True if users see the value. */
bool kymo_tdl_is_delivered(const struct tdl_cell *cell);
/* True if neither the value nor a check of it is needed. */
bool kymo_tdl_is_idle(const struct tdl_generator *gen, const struct tdl_item *item);

/* generate_items.c: code of items. */
void kymo_tdl_emit_items(struct tdl_generator *gen, struct tdl_item *items);
/* The LENGTH of a record, which has one. */
void kymo_tdl_emit_record_length(struct tdl_generator *gen, const struct tdl_record *record);
/* Checksums that wait, first those that came first; none wait then. */
void kymo_tdl_emit_pending(struct tdl_generator *gen, struct tdl_sum **pending);
/* The current position from the start of the record, if it is constant; -1: it depends on the data. */
static inline int64_t kymo_tdl_fixed_position(const struct tdl_generator *gen) {
  return gen->fixed_start < 0 ? -1 : gen->fixed_start + gen->fixed_bytes - gen->ahead;
}
/* Bytes that a FILLER takes at this constant position; -1: the text does not determine it, or they are
 * checked. */
int64_t kymo_tdl_filler_size(const struct tdl_item *item, int64_t position);

/* generate_list.c: which REPEATs become lists of structs. */
bool kymo_tdl_lists(struct tdl_generator *gen);
/* The list that a REPEAT fills, among those of exclusive branches that fill one. */
struct tdl_list *kymo_tdl_list(struct tdl_list *list);
/* Adds the columns of a frame to the kind that is being made: fields of the record, lists of structs with
 * their members. */
void kymo_tdl_add_columns(struct tdl_generator *gen, struct tdl_frame *frame, struct kymo_plan_kind *kind);
/* Names the lists that the description does not name; all columns of the kind are there. */
void kymo_tdl_name_lists(struct tdl_generator *gen, const struct kymo_plan_kind *kind);

/* generate_kind.c: prefixes and record kinds. */
bool kymo_tdl_kinds(struct tdl_generator *gen);

/* generate_items.c: how AFTER unpacks. */
enum kymo_plan_method kymo_tdl_method(enum tdl_transform transform);

/* generate_layout.c: dispatch, layout, policies. */
uint32_t kymo_tdl_dispatch(struct tdl_generator *gen, const struct tdl_names *kinds);
bool kymo_tdl_layout(struct tdl_generator *gen, struct kymo_plan_root *root);

#endif
