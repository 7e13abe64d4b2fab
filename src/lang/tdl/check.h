/* SPDX-License-Identifier: MIT */
/*
 * Checking a tree: names are bound, expressions typed and folded, fields numbered.
 *
 *   check.c         declarations in the order of the text; unused ones
 *   check_record.c  prefixes, records, lengths      check_layout.c  steps, dispatch, merging
 *   check_item.c    items in the order of the file, and their places
 *   slot.c          their names, and fields whose length other fields say
 *   check_field.c   types and attributes
 *   check_expr.c    expressions, with fold.c
 *   scope.c         the meaning of names            clone.c  expansion of groups
 *
 * A record is checked in the order of the text, or earlier if another one names its fields. Where records
 * name each other's fields in a cycle, the type comes from the declaration, and the slot is filled in at the
 * end (struct tdl_late).
 */
#ifndef KYMO_LANG_TDL_CHECK_H
#define KYMO_LANG_TDL_CHECK_H

#include "base/table.h"
#include "lang/tdl/lexer.h"

/* Spaces of names; those of fields begin at TDL_SPACES, one a scope. */
enum tdl_space {
  TDL_SPACE_CONST,
  TDL_SPACE_CLOCK,
  TDL_SPACE_TYPE,
  TDL_SPACE_TOKEN,
  TDL_SPACE_FLAGS,
  TDL_SPACE_TYPES,
  TDL_SPACE_TABLE,
  TDL_SPACE_GROUP,
  TDL_SPACE_PREFIX,
  TDL_SPACE_RECORD,
  TDL_SPACES,
};

/* What a name means in one space. */
struct tdl_binding {
  struct tdl_binding *next;    /* of the same space */
  const struct tdl_word *word; /* NULL: an empty place of the table */
  uint32_t space, at;          /* at: where it is declared */
  void *declaration;           /* of global spaces */
  struct tdl_slot *slot;       /* of scopes: a slot, or */
  struct tdl_scope *use;       /* a named USE or REPEAT */
};

/* Names of fields: of a record, a prefix, an expanded group, or the turns of a named REPEAT. */
struct tdl_scope {
  uint32_t space;
  struct tdl_scope *outer; /* of a group: where it is used; of a record: its prefix's, or NULL */
  bool is_group;
  bool is_open;          /* an unnamed USE: its names are the outer scope's too */
  struct tdl_slot *list; /* of a named REPEAT: represents its list. It sees the outer scope's names, too */
  struct tdl_item *item; /* … and the first such REPEAT; those of exclusive branches share the scope */
  const struct tdl_item *around; /* … and the REPEAT around it, or NULL */
  struct tdl_binding *bindings;
  struct tdl_pending *pendings;
};

enum tdl_pending_kind { TDL_PENDING_LENGTH, TDL_PENDING_CHECKSUM, TDL_PENDING_PER };
/* An attribute that names a field which may come later. */
struct tdl_pending {
  struct tdl_pending *next; /* of the same scope */
  struct tdl_pending *same; /* LENGTH: an earlier one of the same name */
  enum tdl_pending_kind kind;
  struct tdl_name name;
  struct tdl_attributes *attributes;
  struct tdl_slot *slot; /* LENGTH: of the field that says it */
  bool is_done;          /* LENGTH: a field took it */
};

/* A reference to another record's field that could not be bound yet. */
struct tdl_late {
  struct tdl_late *next;
  struct tdl_expr *expr;
  struct tdl_record *record;
};

enum tdl_progress { TDL_UNCHECKED, TDL_CHECKING, TDL_CHECKED };

/* The place of the next item. */
struct tdl_place {
  int64_t bits; /* from the record's start; -1: it depends on the data */
  int modulo;   /* of 8; -1: unknown */
};

/* The prefix or record that is being filled. */
struct tdl_body {
  struct tdl_record *record; /* NULL: a prefix */
  struct tdl_prefix *prefix; /* the prefix itself, or that of the record, or NULL */
  struct tdl_scope *scope;   /* the innermost one */
  struct tdl_slot **slot_end;
  uint32_t slot_count;
  struct tdl_place place;
  int64_t base_bits;          /* of the innermost WITHIN; -1: unknown */
  struct tdl_item *top;       /* the current top-level item */
  struct tdl_item *use;       /* the innermost named USE or REPEAT */
  struct tdl_slot **declared; /* stack: slots of the current branches */
  uint32_t declared_count, declared_size;
  uint32_t repeats, uses;        /* how deep */
  const struct tdl_item *repeat; /* the innermost REPEAT, or NULL */
  bool has_order;                /* an ORDER came before */
  struct tdl_clock
      *clock;     /* of its time: ACQUISITION, else the first POINT, DISTANCE or LOW; NULL: it has none */
  bool has_base;  /* something that TIME ADD can add to */
  bool is_unused; /* of an unused group: see kymo_tdl_check_group */
  bool has_order_file;  /* its own items have ORDER FILE, not yet met */
  bool is_after_fields; /* of a record FROM a table: its definition has been read */
  uint64_t depends;     /* tables KNOWN ALWAYS that conditions around the current item read */
};

struct tdl_checker {
  struct tdl_session *session;
  struct tdl_tree *tree;
  struct kymo_hash_table names; /* struct tdl_binding of all spaces */
  uint32_t space_count;
  struct tdl_binding *globals[TDL_SPACES];
  struct tdl_body *body;                             /* NULL: outside of records */
  struct tdl_scope **record_scopes, **prefix_scopes; /* by index */
  uint8_t *record_progress, *prefix_progress;        /* enum tdl_progress */
  struct tdl_late *lates;
  uint32_t record_depth, scan_depth, scanned, cloned;
  uint64_t depends;          /* tables KNOWN ALWAYS that the current expression reads */
  struct tdl_item *last_top; /* the last top-level item that the current expression names a field of */
  bool allows_value;         /* in AS */
  uint32_t unneeded;         /* depth of operands that are never evaluated: they may have no value */
};

/* ---- scope.c ---- */

/* Declares a name of a global space; E33 if it is declared already. */
bool kymo_tdl_declare(struct tdl_checker *checker, enum tdl_space space, struct tdl_name name,
                      void *declaration);
/* What the name means: NULL after reporting E31, or E34 if it is declared after its use. `what` is for the
 * message. */
void *kymo_tdl_find(struct tdl_checker *checker, enum tdl_space space, struct tdl_name name,
                    const char *what);
/* The same without reports; a name that is declared after its use counts too. */
struct tdl_binding *kymo_tdl_look(struct tdl_checker *checker, uint32_t space, const struct tdl_word *word);
/* A new scope; NULL after reporting. */
struct tdl_scope *kymo_tdl_new_scope(struct tdl_checker *checker, struct tdl_scope *outer);
/* Notes a LENGTH OF, to be found by its field; NULL after reporting. The latest one of a name, with
 * `same`. */
bool kymo_tdl_add_length(struct tdl_checker *checker, struct tdl_pending *pending);
struct tdl_pending *kymo_tdl_lengths(struct tdl_checker *checker, const struct tdl_scope *scope,
                                     const struct tdl_word *word);
/* Adds a name to a scope and to those around that see it. Either slot or use is given. */
bool kymo_tdl_bind(struct tdl_checker *checker, struct tdl_scope *scope, struct tdl_name name,
                   struct tdl_slot *slot, struct tdl_scope *use);
/* The name in the scope, or in its record's prefix; NULL: not there. */
struct tdl_binding *kymo_tdl_look_in(struct tdl_checker *checker, const struct tdl_scope *scope,
                                     const struct tdl_word *word);
/* What the name means where the innermost scope may declare it: there, and around unnamed USEs. */
struct tdl_binding *kymo_tdl_look_same(struct tdl_checker *checker, const struct tdl_word *word);
/* What the name means among those that a new one in this scope must differ from: names of a REPEAT's turns
 * may be those of fields around it. */
struct tdl_binding *kymo_tdl_look_here(struct tdl_checker *checker, const struct tdl_scope *scope,
                                       const struct tdl_word *word);
/* The field, LET or parameter of this name in the current body; NULL after reporting E31 or E34. */
struct tdl_slot *kymo_tdl_find_slot(struct tdl_checker *checker, struct tdl_name name);
/* Reports that the current body has no such name: E34 if it comes later, else E31 with a suggestion. */
bool kymo_tdl_unknown(struct tdl_checker *checker, struct tdl_name name);
/* The first FIELD or LET of this name among items, groups and prefixes included; NULL: none. */
const struct tdl_item *kymo_tdl_scan(struct tdl_checker *checker, const struct tdl_item *items,
                                     const struct tdl_word *word);

/* ---- clone.c ---- */

/* A copy of items that can be checked by itself; NULL after reporting. */
bool kymo_tdl_clone(struct tdl_checker *checker, const struct tdl_item *items, struct tdl_item **copy);

/* ---- check_expr.c, fold.c ---- */

/* Binds, types and folds; the type must be `want` unless that is TDL_UNTYPED. NULL is an expression without
 * faults. */
bool kymo_tdl_check_expr(struct tdl_checker *checker, struct tdl_expr *expr, enum tdl_value_type want);
/* The same; E42 unless it is constant. */
bool kymo_tdl_check_constant(struct tdl_checker *checker, struct tdl_expr *expr, enum tdl_value_type want);
/* The same for the length of a counted unit: W15 if it is finer than the stored resolution. */
bool kymo_tdl_check_unit(struct tdl_checker *checker, struct tdl_expr *expr, enum tdl_value_type want);
/* Checks the members of a set against the searched value: all have type `type`. */
bool kymo_tdl_check_set(struct tdl_checker *checker, struct tdl_set *set, enum tdl_value_type type);
/* An expression that is a condition; W21 if it is always true or false. */
bool kymo_tdl_check_condition(struct tdl_checker *checker, struct tdl_expr *expr);
/* The name of this type in messages. */
const char *kymo_tdl_type_name(enum tdl_value_type type);
/* Makes a CONSTANT of a node whose operands are. False after reporting. */
bool kymo_tdl_fold(struct tdl_checker *checker, struct tdl_expr *expr);
/* True if the expression is a constant of type INTEGER; its value. */
bool kymo_tdl_is_constant(const struct tdl_expr *expr, struct kymo_wide *value);

/* ---- check_field.c ---- */

/* Expands names of types and binds names of lists; once a field. */
bool kymo_tdl_check_field(struct tdl_checker *checker, struct tdl_field *field);
/* Attributes of a value of this type, without a type of a field. */
bool kymo_tdl_check_view(struct tdl_checker *checker, struct tdl_attributes *attributes,
                         enum tdl_value_type type);
/* The byte order of a field at `place`; E57. */
bool kymo_tdl_check_order(struct tdl_checker *checker, struct tdl_field *field,
                          const struct tdl_place *place);
/* Values that the field can have, if they are bounded. */
bool kymo_tdl_range(const struct tdl_field *field, struct kymo_wide *low, struct kymo_wide *high);
/* Bits of a type: its width, or -1. */
int64_t kymo_tdl_width(const struct tdl_type *type);

/* ---- slot.c ---- */

/* The slot of a field or LET: a new one, or that of the same name in another branch. NULL after reporting. */
struct tdl_slot *kymo_tdl_declare_slot(struct tdl_checker *checker, struct tdl_item *item,
                                       enum tdl_value_type type);
/* The slot that represents the list of a named REPEAT; it has no value. */
struct tdl_slot *kymo_tdl_declare_list(struct tdl_checker *checker, const struct tdl_item *item);
/* A parameter of the group whose scope is the innermost. */
struct tdl_slot *kymo_tdl_declare_parameter(struct tdl_checker *checker, struct tdl_name name,
                                            enum tdl_value_type type);
/* Binds what attributes of the item's field name: lengths, checksums, PER. */
bool kymo_tdl_bind_attributes(struct tdl_checker *checker, struct tdl_item *item);
/* Finds the length of a field whose type has no size; E51, E54. */
bool kymo_tdl_bind_size(struct tdl_checker *checker, struct tdl_item *item);
/* A name that another declaration wants (PER), in this scope or one around. NULL after reporting. */
struct tdl_slot *kymo_tdl_find_around(struct tdl_checker *checker, struct tdl_name name);

/* ---- check_item.c ---- */

bool kymo_tdl_check_items(struct tdl_checker *checker, struct tdl_item *items, bool is_top);
/* Checks the items of an unused group as if an unknown record used it: one with any byte order, place, time
 * and fields that clocks and tables are PER. */
bool kymo_tdl_check_group(struct tdl_checker *checker, struct tdl_group *group);
/* Ends a body or group: reports names of later fields that are still open. */
bool kymo_tdl_close_scope(struct tdl_checker *checker, struct tdl_scope *scope);
/* True if some of the items may consume bytes. */
bool kymo_tdl_consumes(const struct tdl_item *items);

/* ---- check_record.c, check_layout.c ---- */

bool kymo_tdl_check_prefix(struct tdl_checker *checker, struct tdl_prefix *prefix);
/* The key of AFTER XOR: a number or bytes; NULL is none. */
bool kymo_tdl_check_key(struct tdl_checker *checker, struct tdl_expr *key);
bool kymo_tdl_check_record(struct tdl_checker *checker, struct tdl_record *record);
/* Fills in references that were late. */
bool kymo_tdl_check_late(struct tdl_checker *checker);
bool kymo_tdl_check_layout(struct tdl_checker *checker);

#endif
