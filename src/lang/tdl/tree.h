/* SPDX-License-Identifier: MIT */
/*
 * The syntax tree of TDL, the results of checking in it, and the expressions that FDL shares.
 *
 *   text ──lexer──► tokens ──parser──► tree ──check──► the same tree, every name bound, every
 *                                                      expression typed, constants folded, fields numbered
 *
 * "Checked:" marks what kymo_tdl_check fills in; all else is set by parsing. Positions (`at`, `length`) are
 * bytes of the source text. Lists are linked by `next`, in the order of the text. Everything is in the
 * memory of the tree's session.
 *
 * Groups are expanded: checking copies the items of a group into every USE of it, so fields in a used group
 * are fields like others, with slots of the record that uses it. Names of types are expanded too: the type
 * of a field is never a name, and its attributes are those of the named type overridden by the field's own.
 */
#ifndef KYMO_LANG_TDL_TREE_H
#define KYMO_LANG_TDL_TREE_H

#include "base/wide.h"
#include "lang/tdl/session.h"

#define TDL_DEPTH_MAX 64
/* Of one expression: chains like a+b+c… are as high as they are long. */
#define TDL_HEIGHT_MAX 1000
/* The items of all records, with expanded groups. */
#define TDL_ITEMS_MAX 65536

/* A name; equal names are one word, so words are compared by address. */
struct tdl_word {
  uint32_t hash, length;
  int keyword; /* enum tdl_keyword of lexer.h; 0 = none */
  char text[]; /* NUL-ended, holds no NUL itself */
};

/* Octets, of "…" or x"…". */
struct tdl_bytes {
  const uint8_t *data;
  uint32_t length;
};

/* A name where it is used. */
struct tdl_name {
  const struct tdl_word *word;
  uint32_t at, length;
};
struct tdl_names {
  struct tdl_names *next;
  struct tdl_name name;
  struct tdl_record *record; /* checked: of lists of kinds */
};

/* ---- expressions ---- */

enum tdl_value_type {
  TDL_UNTYPED,  /* not checked yet; in FDL: known late */
  TDL_INTEGER,  /* truth too: 0 or 1 */
  TDL_BYTES,    /* text or bytes */
  TDL_DURATION, /* in picoseconds */
  TDL_TICKS,    /* a count of a clock's ticks: `5 ticks` */
  TDL_FRACTION, /* number with a fraction, or a FLOAT: filters only */
  TDL_MOMENT,   /* filters only */
  TDL_MIXED,    /* a variant of several of these: not usable in expressions of TDL */
};

struct tdl_value {
  enum tdl_value_type type;
  struct kymo_wide integer; /* INTEGER, TICKS; DURATION: picoseconds */
  double fraction;          /* FRACTION */
  struct tdl_bytes bytes;   /* BYTES */
};

enum tdl_operation {
  /* leaves */
  TDL_CONSTANT, /* value */
  TDL_PATH,     /* names; checked: reference */
  TDL_VALUE,
  TDL_POSITION,
  TDL_REMAINING,
  TDL_FILE_SIZE,
  TDL_FILE_NUMBER,
  TDL_SIZE_OF,
  TDL_COUNT_OF,  /* names; checked: reference */
  TDL_NUMBER_OF, /* a field of the record's definition: value.bytes is its name */
  TDL_TEXT_OF,
  /* names[0] is a table or function */
  TDL_LOOKUP, /* names[0], in FDL a path [ operands[0] ]; checked: reference.table, or token */
  TDL_CALL,   /* function ( arguments ) */
  /* operands[0 …] */
  TDL_IF,     /* condition, then, else */
  TDL_NEGATE, /* arithmetic, to TDL_BIT_AND */
  TDL_INVERT, /* - ~ */
  TDL_ADD,
  TDL_SUBTRACT,
  TDL_BIT_OR,
  TDL_BIT_XOR,
  TDL_MULTIPLY,
  TDL_DIVIDE,
  TDL_REST,
  TDL_SHIFT_LEFT,
  TDL_SHIFT_RIGHT,
  TDL_BIT_AND,
  TDL_EQUAL, /* comparisons, to TDL_GREATER_EQUAL */
  TDL_UNEQUAL,
  TDL_LESS,
  TDL_LESS_EQUAL,
  TDL_GREATER,
  TDL_GREATER_EQUAL,
  TDL_IN, /* operands[0] in set; is_negated */
  TDL_NOT,
  TDL_AND,
  TDL_OR,
  TDL_IS_PRESENT, /* operands[0]; is_negated */
  /* FDL only, all of them (E43 in TDL) */
  TDL_MATCHES,    /* operands[0], pattern; is_negated */
  TDL_LIKE,       /* operands[0], pattern; is_negated */
  TDL_HAS,        /* operands[0], quantifier, texts */
  TDL_IS_VALID,   /* operands[0]; is_negated */
  TDL_IS_CHANGED, /* operands[0], per; is_negated */
  TDL_KIND_IN,    /* kinds */
  TDL_RECORD_IN,
  TDL_SEGMENT_IN, /* set */
  TDL_TIME_IN,    /* moments[0 … 1] */
  TDL_DAMAGED,
  TDL_BETWEEN, /* operands[0], operands[1], is_inclusive, per */
  TDL_AFTER,
  TDL_BEFORE, /* operands[0], is_last */
  TDL_WITHIN, /* duration (value), around, operands[0], per */
  TDL_EVERY,  /* value.integer = n, operands[0] or NULL */
  TDL_ANY_WITH,
  TDL_ALL_WITH,
  TDL_COUNT_WITH, /* path, operands[0]: the condition for an element */
};

static inline bool kymo_tdl_is_arithmetic(enum tdl_operation operation) {
  return operation >= TDL_NEGATE && operation <= TDL_BIT_AND;
}
static inline bool kymo_tdl_is_comparison(enum tdl_operation operation) {
  return operation >= TDL_EQUAL && operation <= TDL_GREATER_EQUAL;
}

enum tdl_function {
  TDL_BITS,
  TDL_SIGNED,
  TDL_POWER,
  TDL_MIN,
  TDL_MAX,
  TDL_DEFAULT,
  TDL_PRESENT,
  TDL_TEXT,
  TDL_JOIN,
  TDL_ALIGN,
};

enum tdl_quantifier { TDL_ALL_OF, TDL_ANY_OF, TDL_NONE_OF };
enum tdl_around { TDL_WITHIN_AFTER, TDL_WITHIN_BEFORE, TDL_WITHIN_AROUND };

enum tdl_moment_kind {
  TDL_MOMENT_START,
  TDL_MOMENT_END,
  TDL_MOMENT_TEXT, /* text, checked to be well formed (E14): see `since` */
  TDL_MOMENT_PLUS,
  TDL_MOMENT_MINUS, /* distance from start or end */
};
struct tdl_moment {
  enum tdl_moment_kind kind;
  uint32_t at, length;
  struct kymo_wide since;    /* TEXT: picoseconds since 1970-01-01T00:00:00Z */
  struct tdl_value distance; /* PLUS, MINUS: DURATION or TICKS */
};

/* `low .. high`, both ends included; high NULL: low alone. */
struct tdl_member {
  struct tdl_member *next;
  struct tdl_expr *low, *high;
};
struct tdl_set {
  struct tdl_member *members;
  struct tdl_name name;    /* word not NULL: a set with a name and no members */
  struct tdl_table *table; /* checked: what the name means in TDL (its keys) */
  uint32_t at, length;
};

/* a.b.c */
struct tdl_path {
  struct tdl_name *names;
  uint32_t count;
};

enum tdl_reference_kind {
  TDL_NO_REFERENCE,
  TDL_REFERENCE_FIELD,  /* slot: earlier field, LET or group parameter of this record */
  TDL_REFERENCE_RECORD, /* slot of another record kind (or an earlier record of this one): its last value */
  TDL_REFERENCE_TABLE,  /* table: LOOKUP, COUNT OF */
};
struct tdl_reference {
  enum tdl_reference_kind kind;
  struct tdl_slot *slot;
  struct tdl_record
      *record; /* RECORD: if it has HOLDS, the innermost enclosing one, else the last completed one */
  struct tdl_table *table;
  struct tdl_token_list *token; /* TABLE: it is looked up instead, if table is NULL */
};

struct tdl_expr {
  enum tdl_operation operation;
  uint32_t at, length;
  uint32_t height;          /* of the tree below, at most TDL_HEIGHT_MAX */
  enum tdl_value_type type; /* checked */
  struct tdl_value value; /* CONSTANT; after checking, all that is constant is CONSTANT (constants folded) */
  struct tdl_expr *operands[3];
  struct tdl_expr *next;          /* in a list of arguments */
  struct tdl_path path;           /* PATH, SIZE_OF, COUNT_OF, LOOKUP, CALL, … WITH */
  struct tdl_reference reference; /* checked */
  enum tdl_function function;     /* CALL */
  struct tdl_expr *arguments;
  uint32_t argument_count;
  bool is_negated, is_inclusive, is_last;
  bool is_cut; /* checked: a duration that was divided, less than a picosecond of which is lost */
  struct tdl_set *set;
  struct tdl_bytes pattern; /* MATCHES: between the slashes, \/ made /; LIKE */
  enum tdl_quantifier quantifier;
  enum tdl_around around;
  struct tdl_texts *texts;    /* HAS */
  struct tdl_names *kinds;    /* KIND_IN */
  struct tdl_moment *moments; /* TIME_IN: two */
  struct tdl_path per;        /* count 0: none */
};
struct tdl_texts {
  struct tdl_texts *next;
  struct tdl_bytes text;
  uint32_t at, length;
};

/* ---- declarations ---- */

enum tdl_order { TDL_ORDER_NONE, TDL_LITTLE, TDL_BIG, TDL_ORDER_DYNAMIC /* checked: set by an ORDER item */ };
enum tdl_bit_order { TDL_BITS_BY_ORDER, TDL_BITS_LSB, TDL_BITS_MSB };

struct tdl_clock {
  struct tdl_clock *next;
  struct tdl_name name;
  uint32_t index;
  struct tdl_bytes epoch;                     /* data NULL: none */
  struct kymo_wide epoch_ps;                  /* checked: picoseconds since 1970-01-01T00:00:00Z */
  struct tdl_expr *resolution, *rate, *slack; /* NULL: 1 ns; -; 0 */
  struct tdl_name per; /* a field by name, bound in each record: tdl_time.per; word NULL: none */
  bool is_used;
};

struct tdl_token_item {
  struct tdl_token_item *next;
  struct tdl_bytes text;
  uint32_t at, length;
  struct tdl_expr *low, *high; /* checked: CONSTANT; high NULL: low alone */
};
struct tdl_token_list {
  struct tdl_token_list *next;
  struct tdl_name name;
  uint32_t index, count;
  struct tdl_token_item *items;
  bool or_error;
  bool is_used;
};

struct tdl_flag {
  struct tdl_flag *next;
  struct tdl_bytes text;
  uint32_t at, length;
  uint64_t mask,
      value; /* set if (x & mask) == value; BIT n: mask and value are 1 << n; MASK alone: value = mask */
};
struct tdl_flag_list {
  struct tdl_flag_list *next;
  struct tdl_name name;
  uint32_t index, count;
  struct tdl_flag *flags;
  bool is_used;
};

struct tdl_types_item {
  struct tdl_types_item *next;
  struct tdl_bytes key;
  uint32_t at, length;
  struct tdl_field *field; /* type and attributes */
};
struct tdl_types {
  struct tdl_types *next;
  struct tdl_name name;
  uint32_t index, count;
  struct tdl_types_item *items;
  bool is_used;
};

enum tdl_key { TDL_KEY_NUMBER, TDL_KEY_NAME };
enum tdl_holds { TDL_HOLDS_RECORDS, TDL_HOLDS_NAMES, TDL_HOLDS_NUMBERS, TDL_HOLDS_BYTES };
enum tdl_per { TDL_PER_NONE, TDL_PER_FILE, TDL_PER_SEGMENT, TDL_PER_TRACE, TDL_PER_NAME };
enum tdl_known { TDL_KNOWN_EARLIER, TDL_KNOWN_BY_TIME, TDL_KNOWN_ALWAYS };
struct tdl_table {
  struct tdl_table *next;
  struct tdl_name name;
  uint32_t index;
  enum tdl_key key;
  enum tdl_holds holds;
  enum tdl_per per;         /* FILE (default), SEGMENT, NAME */
  struct tdl_name per_name; /* NAME: a field by name, bound at each use: tdl_item.per, tdl_expr.operands[1] */
  enum tdl_known known;
  uint64_t limit;        /* default 65536 */
  uint32_t rank;         /* checked: KNOWN ALWAYS: tables of lower rank are filled in earlier passes */
  uint64_t bit, depends; /* checked: KNOWN ALWAYS: its own bit, and those of tables that it is filled from */
  bool is_used, is_filled;
};

struct tdl_constant {
  struct tdl_constant *next;
  struct tdl_name name;
  struct tdl_expr *expr; /* checked: CONSTANT */
  bool is_used;
};

/* ---- types and attributes ---- */

enum tdl_type_kind {
  TDL_TYPE_UNSIGNED,
  TDL_TYPE_INTEGER,
  TDL_TYPE_FLOAT,
  TDL_TYPE_BCD,    /* bits */
  TDL_TYPE_FIXED,  /* bits, number = bits of the fraction */
  TDL_TYPE_VARINT, /* varint, number = most bytes (0: 10) */
  TDL_TYPE_BYTES,
  TDL_TYPE_STRING,      /* size_form */
  TDL_TYPE_TEXT_NUMBER, /* size_form, number = base */
  TDL_TYPE_ARRAY,       /* count, element */
  TDL_TYPE_NAME,        /* name; never after checking */
};
enum tdl_varint { TDL_LEB, TDL_SLEB, TDL_ZIGZAG, TDL_MSB };
enum tdl_size_form {
  TDL_SIZE_NONE,    /* another field is its LENGTH OF: tdl_item.size_slot */
  TDL_SIZE_BYTES,   /* size; PADDED: number and is_padded */
  TDL_SIZE_ENDED,   /* by the byte `end`, which belongs to it */
  TDL_SIZE_COUNTED, /* bytes after a number of type `element` */
  TDL_SIZE_TO_END,
};
struct tdl_type {
  enum tdl_type_kind kind;
  uint32_t at, length;
  struct tdl_expr *bits;  /* UNSIGNED, INTEGER, FLOAT, BCD, FIXED */
  struct tdl_expr *count; /* ARRAY */
  struct tdl_expr *size;  /* SIZE_BYTES */
  enum tdl_size_form size_form;
  bool is_padded;
  uint8_t pad, end;
  uint32_t number;
  enum tdl_varint varint;
  struct tdl_type *element;
  struct tdl_name name;
  /* checked */
  enum tdl_order order;           /* of the number of COUNTED */
  int64_t fixed_bits;             /* size of the whole value if the text determines it, else -1 */
  enum tdl_value_type value_type; /* in expressions */
};

/* BYTES, STRING or TEXT NUMBER whose size something else says: a LENGTH OF it, or the definition of a record
 * (TYPES). */
static inline bool kymo_tdl_is_sized_late(const struct tdl_type *type) {
  bool is_bytes =
      type->kind == TDL_TYPE_BYTES || type->kind == TDL_TYPE_STRING || type->kind == TDL_TYPE_TEXT_NUMBER;
  return is_bytes && type->size_form == TDL_SIZE_NONE;
}

enum tdl_show { TDL_SHOW_NONE, TDL_SHOW_HEX, TDL_SHOW_ADDRESS, TDL_SHOW_UUID, TDL_SHOW_CHAR };
enum tdl_time_mode {
  TDL_TIME_NONE,
  TDL_TIME_POINT,
  TDL_TIME_DISTANCE,
  TDL_TIME_ADD,
  TDL_TIME_LOW,
  TDL_TIME_BASE,
  TDL_TIME_UNTIL,
  TDL_TIME_SPAN,
};
/* TIME clock mode. */
struct tdl_time {
  enum tdl_time_mode mode; /* NONE: the field has no TIME */
  struct tdl_name name;
  struct tdl_clock *clock; /* checked */
  uint32_t low_bits;       /* LOW n */
  struct tdl_expr *unit;   /* DURATION, TICKS or INTEGER (ticks); NULL: none */
  struct tdl_expr *rate;   /* INTEGER, a second; NULL: none */
  struct tdl_slot *per;    /* checked: the clock's PER in this record; NULL: none */
};

enum tdl_length_kind { TDL_LENGTH_NONE, TDL_LENGTH_OF_FIELD, TDL_LENGTH_OF_RECORD, TDL_LENGTH_OF_PREVIOUS };
/* LENGTH OF what PLUS or MINUS plus: the value + plus is the length in bytes. */
struct tdl_length {
  enum tdl_length_kind kind;
  struct tdl_name name;
  int64_t plus;
  struct tdl_slot *slot; /* checked: FIELD; it comes later */
  bool is_check;         /* checked: RECORD: the length is known already, this one is compared (R4) */
};

enum tdl_checksum_algorithm {
  TDL_CHECKSUM_NONE,
  TDL_SUM8,
  TDL_SUM16,
  TDL_SUM32,
  TDL_XOR8,
  TDL_CRC8,
  TDL_CRC16CCITT,
  TDL_CRC16ARC,
  TDL_CRC32,
  TDL_CRC32C,
  TDL_ADLER32,
};
struct tdl_checksum {
  struct tdl_name name;
  enum tdl_checksum_algorithm algorithm; /* NONE: the field has none */
  bool has_seed, is_record;
  uint64_t seed;
  struct tdl_name from, to;
  struct tdl_slot *from_slot, *to_slot; /* checked; not RECORD */
};

/* Bits of tdl_attributes.given. */
enum tdl_attribute {
  TDL_GIVES_ORDER = 1,
  TDL_GIVES_EQUALS = 2,
  TDL_GIVES_IN = 4,
  TDL_GIVES_AT = 8,
  TDL_GIVES_ABSENT = 16,
  TDL_GIVES_AS = 32,
  TDL_GIVES_TOKEN = 64,
  TDL_GIVES_FLAGS = 128,
  TDL_GIVES_SCALE = 256,
  TDL_GIVES_UNITS = 512,
  TDL_GIVES_SHOW = 1024,
  TDL_GIVES_TIME = 2048,
  TDL_GIVES_PER = 4096,
  TDL_GIVES_LENGTH = 8192,
  TDL_GIVES_CHECKSUM = 16384,
};
#define TDL_VIEWS                                                                                            \
  (TDL_GIVES_TOKEN | TDL_GIVES_FLAGS | TDL_GIVES_SCALE | TDL_GIVES_UNITS | TDL_GIVES_SHOW | TDL_GIVES_TIME | \
   TDL_GIVES_PER)

struct tdl_attributes {
  uint32_t given; /* of enum tdl_attribute */
  uint32_t at;    /* of the first one */
  enum tdl_order order;
  struct tdl_expr *equals;
  struct tdl_set *in;
  struct tdl_expr *where;  /* AT */
  struct tdl_expr *absent; /* ABSENT WHEN */
  struct tdl_expr *as;     /* VALUE is the raw number */
  struct tdl_name token_name;
  struct tdl_token_list *token; /* checked: TOKEN: this or the table (HOLDS NAMES), one of both */
  struct tdl_table *token_table;
  struct tdl_name flags_name;
  struct tdl_flag_list *flags; /* checked */
  bool has_scale;
  double scale, offset;
  struct tdl_bytes units; /* data NULL: none */
  enum tdl_show show;
  struct tdl_time time;
  struct tdl_length length;
  struct tdl_checksum checksum;
  enum tdl_per per; /* of SEQUENCE: NONE, NAME, FILE, TRACE */
  struct tdl_name per_name;
  struct tdl_slot *per_slot; /* checked; the value at the record's end */
};

/* A type with its attributes. Joined names share one. */
struct tdl_field {
  struct tdl_type *type;
  struct tdl_attributes attributes;
  /* checked */
  bool is_checked;
  enum tdl_order order; /* NONE: of no influence */
};

/* ---- items ---- */

enum tdl_role {
  TDL_ROLE_NONE,
  TDL_ROLE_EVENT,
  TDL_ROLE_ACQUISITION,
  TDL_ROLE_STREAM,
  TDL_ROLE_SEQUENCE,
  TDL_ROLE_LOST,
  TDL_ROLE_DURATION,
  TDL_ROLE_TEXT,
};

/*
 * Checked: a value of a record: a field, a LET or a parameter of a group. A name that recurs in exclusive
 * branches is one slot, filled by the item whose branch is taken. Slots of a prefix are the first ones of
 * each record that has the prefix, with the same numbers (and the same struct).
 */
struct tdl_slot {
  struct tdl_slot *next;       /* of the same record or prefix, by index */
  const struct tdl_word *name; /* NULL: nameless */
  uint32_t index;              /* in the record; a record's own slots begin after those of its prefix */
  enum tdl_value_type type;    /* in expressions */
  enum tdl_role role;
  bool is_hidden;    /* _name, and nameless ones */
  bool is_parameter; /* of a group: has no item, the USE defines its value */
  bool is_let;
  bool is_used;           /* an expression of its own record, or an attribute, needs its value */
  bool is_kept;           /* another record needs it after this one's end */
  uint32_t repeats;       /* the number of REPEATs and ARRAYs around it: a sequence, if any */
  struct tdl_item *use;   /* the innermost named USE or REPEAT that it is part of, or NULL */
  struct tdl_item *first; /* the items that fill it, by tdl_item.same_slot */
  /* for the checker: */
  struct tdl_item *last,
      *top;       /* the latest of these, and the top-level item of the record that it is part of */
  bool is_active; /* a second field of this name would not be exclusive */
  bool has_range; /* its value is from low to high */
  struct kymo_wide low, high;
  uint64_t depends; /* tables KNOWN ALWAYS that a LET reads, by their bits */
};

enum tdl_item_kind {
  TDL_ITEM_FIELD,
  TDL_ITEM_USE,
  TDL_ITEM_FILLER,
  TDL_ITEM_LET,
  TDL_ITEM_CHECK,
  TDL_ITEM_IF,
  TDL_ITEM_CASE,
  TDL_ITEM_REPEAT,
  TDL_ITEM_ORDER,
  TDL_ITEM_SYNC,
  TDL_ITEM_DEFINE,
  TDL_ITEM_FORGET,
  TDL_ITEM_DEFINE_RECORD,
};
enum tdl_filler { TDL_FILLER_TO, TDL_FILLER_ALIGN, TDL_FILLER_BYTES, TDL_FILLER_BITS };
enum tdl_repeat { TDL_REPEAT_TIMES, TDL_REPEAT_TO_END, TDL_REPEAT_UNTIL };
enum tdl_transform { TDL_TRANSFORM_NONE, TDL_ZLIB, TDL_LZ4, TDL_ZSTD, TDL_XOR };
enum tdl_source { TDL_BY_LETTERS, TDL_BY_TEXT, TDL_BY_LIST };

/* One branch of IF (condition) or CASE (set); neither: ELSE. */
struct tdl_branch {
  struct tdl_branch *next;
  uint32_t at, length;
  struct tdl_expr *condition;
  struct tdl_set *set;
  struct tdl_item *items;
};

struct tdl_order_choice {
  struct tdl_order_choice *next;
  enum tdl_order order;
  struct tdl_expr *condition;
};

/* FIELD "label" IS attributes: for fields of records that are defined at run time. */
struct tdl_override {
  struct tdl_override *next;
  struct tdl_bytes label;
  bool is_pattern, is_filler; /* LIKE label; FILLER instead of attributes */
  uint32_t at, length;
  struct tdl_attributes attributes;
};

struct tdl_item {
  struct tdl_item *next;
  enum tdl_item_kind kind;
  uint32_t at, length;
  struct tdl_name name;    /* FIELD, LET, USE, REPEAT: word NULL: nameless */
  struct tdl_field *field; /* FIELD; LET: attributes (view only), type NULL */
  struct tdl_expr *expr;   /* LET, CHECK, CASE, FILLER, REPEAT TIMES and UNTIL, DEFINE (value) */
  /* USE */
  struct tdl_name group_name;
  struct tdl_expr *arguments; /* by next */
  uint32_t argument_count;
  struct tdl_expr *within; /* bytes, or NULL */
  enum tdl_transform transform;
  struct tdl_expr *key;         /* TDL_XOR: the byte or bytes; DEFINE, FORGET, DEFINE_RECORD: table[key] */
  struct tdl_group *group;      /* checked */
  struct tdl_slot **parameters; /* checked: argument_count slots */
  struct tdl_item *items;       /* USE (checked: a copy of the group's), REPEAT */
  struct tdl_item *outer_use; /* USE, REPEAT, checked: the innermost named one that it is part of, or NULL */
  /* FILLER */
  enum tdl_filler filler;
  bool has_fill; /* = fill: every byte (or the bits' number) is checked */
  uint64_t fill;
  struct tdl_bytes message;    /* CHECK, ORDER … FAIL */
  struct tdl_branch *branches; /* IF, CASE */
  /* REPEAT */
  enum tdl_repeat repeat;
  uint64_t limit;             /* default 1048576 */
  struct tdl_slot *list_slot; /* checked: with a name: represents the list, for COUNT OF */
  /* ORDER */
  bool is_file;
  struct tdl_order_choice *choices;
  enum tdl_order otherwise; /* NONE: FAIL message */
  /* SYNC name = expr TO to = to_expr */
  struct tdl_name to;
  struct tdl_expr *to_expr;
  struct tdl_clock *clock, *to_clock; /* checked */
  /* DEFINE, FORGET, DEFINE_RECORD */
  struct tdl_name table_name;
  struct tdl_table *table; /* checked */
  struct tdl_slot *per;    /* checked: the table's PER field in this record, or NULL */
  /* DEFINE_RECORD */
  struct tdl_expr *record_name, *record_length; /* length may be NULL */
  enum tdl_source source;
  struct tdl_name types_name;   /* of a TYPES list */
  struct tdl_types *types;      /* checked */
  struct tdl_name nested_name;  /* OR table: of the definitions of other types; word NULL: none */
  struct tdl_table *nested;     /* checked */
  struct tdl_expr *of, *labels; /* LETTERS, TEXT: of; LETTERS: labels */
  struct tdl_bytes split;
  struct tdl_expr *list_name, *list_type, *list_size; /* LIST: paths; size may be NULL, and so may … */
  struct tdl_expr *list_absent, *list_scale, *list_over, *list_offset, *list_units;
  double list_factor;      /* SCALE num: instead of a path; 0: none */
  bool is_offset_negative; /* OFFSET - path */
  bool has_same_order;     /* SAME ORDER */
  struct tdl_item *then;   /* THEN BY LIST: a DEFINE_RECORD with the rest of the fields, or NULL */
  struct tdl_override *overrides;
  /* checked, for FIELD and LET */
  struct tdl_slot *slot;
  struct tdl_item *same_slot; /* the next item that fills the same slot */
  struct tdl_slot *size_slot; /* SIZE_NONE: value of this slot + size_plus is the size in bytes */
  int64_t size_plus;
  uint32_t option;       /* generated: in which of the forms of its slot it is delivered */
  struct tdl_list *list; /* generated: of a REPEAT the list that it fills, of others the one around them */
  /* checked, for all: */
  int64_t offset_bits; /* from the start of the record, prefix included; -1: depends on the data */
};

/* ---- records and layout ---- */

struct tdl_group {
  struct tdl_group *next;
  struct tdl_name name;
  struct tdl_names *parameters;
  uint32_t parameter_count;
  struct tdl_item *items; /* as written: checked in each USE, not here */
  uint32_t end;           /* byte after it */
  bool is_used;
};

struct tdl_prefix {
  struct tdl_prefix *next;
  struct tdl_name name;
  uint32_t index;
  struct tdl_item *items;
  struct tdl_slot *slots; /* checked: indices 0 … slot_count - 1 */
  uint32_t slot_count;
  int64_t fixed_bits;      /* checked: -1: depends on the data */
  struct tdl_item *length; /* checked: the field that is LENGTH OF RECORD, or NULL */
  struct tdl_clock *clock; /* checked: of its first POINT, DISTANCE or LOW; NULL: it has none */
  bool has_order;          /* checked: it has an ORDER, which holds in the records, too */
  bool is_used;
};

enum tdl_class { TDL_CLASS_EVENT, TDL_CLASS_CONTROL, TDL_CLASS_DEFINITION, TDL_CLASS_SEGMENT };

struct tdl_record {
  struct tdl_record *next;
  struct tdl_name name;
  uint32_t index;
  enum tdl_class class_;
  struct tdl_name prefix_name;
  struct tdl_expr *when, *align, *length; /* or NULL */
  struct tdl_names *holds;                /* kinds, or NULL; the rest is only of records that HOLD some */
  struct tdl_expr *holds_within;          /* bytes of the region; NULL: to the end */
  enum tdl_transform holds_transform;     /* AFTER */
  struct tdl_expr *holds_key;             /* … XOR */
  bool is_joined;                         /* JOINED */
  struct tdl_item *items;
  struct tdl_name from_name; /* FROM table [ key ]; word NULL: none */
  struct tdl_expr *from_key;
  /* checked */
  struct tdl_prefix *prefix;                 /* or NULL */
  struct tdl_table *from;                    /* or NULL */
  struct tdl_slot *slots;                    /* its own, after those of the prefix */
  uint32_t slot_count;                       /* with those of the prefix */
  struct tdl_slot *roles[TDL_ROLE_TEXT + 1]; /* NULL: it has no such field */
  struct tdl_slot *when_slot;                /* WHEN is `prefix field = constant`: both sides; else NULL */
  struct tdl_value when_value;
  struct tdl_item *length_item; /* the field that is LENGTH OF RECORD and defines the length, or NULL */
  struct tdl_item
      *length_after;       /* top-level item after which the length is known; NULL: after the prefix (at the
                                    start, if there is none); only of records that have a length */
  int64_t fixed_bits;      /* size of prefix and items; -1: depends on the data */
  struct tdl_clock *clock; /* of its time; NULL: it has none */
  bool is_named;           /* others refer to its fields: keep the last one */
  bool is_used;            /* in the layout, or held */
};

struct tdl_step {
  struct tdl_step *next;
  uint32_t at, length;
  bool is_repeat;
  struct tdl_names *kinds;               /* NULL: a BLOCKS step */
  struct tdl_expr *times, *where, *size; /* or NULL */
  struct tdl_name until_name;
  struct tdl_record *until; /* checked; or NULL */
  struct tdl_expr *block;   /* BLOCKS: bytes */
  struct tdl_step *steps;   /* BLOCKS */
};

enum tdl_policy_action {
  TDL_POLICY_DEFAULT,
  TDL_POLICY_STOP,
  TDL_POLICY_SKIP,
  TDL_POLICY_MARK,
  TDL_POLICY_RESYNC
};
struct tdl_policy {
  enum tdl_policy_action action;
  struct tdl_bytes pattern; /* RESYNC */
  uint64_t within;          /* bytes; 0: no limit */
};
#define TDL_POLICIES 11 /* R1 … R10 by number; 0 is unused */

enum tdl_sorted { TDL_SORTED_NO, TDL_SORTED_YES, TDL_SORTED_WITHIN, TDL_SORTED_PER };
enum tdl_merge { TDL_MERGE_NONE, TDL_MERGE_BY_TIME, TDL_MERGE_BY_SEQUENCE };

struct tdl_layout {
  uint32_t at;
  struct tdl_step *steps;
  struct tdl_policy policies[TDL_POLICIES];
  enum tdl_sorted sorted;
  struct tdl_expr *sorted_within; /* WITHIN: DURATION or TICKS */
  struct tdl_name sorted_per;
  enum tdl_merge merge;
  struct tdl_bytes merge_files; /* pattern of file names; data NULL: the files that are opened together */
};

struct tdl_tree {
  struct tdl_session session; /* words, source and memory; of the parser, the checker and the generator */
  struct tdl_name name;
  uint32_t version;     /* 0: none given */
  enum tdl_order order; /* BYTES */
  enum tdl_bit_order bit_order;
  struct tdl_bytes encoding; /* data NULL: UTF-8 */
  uint32_t encoding_at;
  bool has_order_file; /* checked: some record has ORDER FILE */
  struct tdl_constant *constants;
  struct tdl_clock *clocks;
  struct tdl_token_list *tokens;
  struct tdl_flag_list *flags;
  struct tdl_types *types;
  struct tdl_named_type *named_types;
  struct tdl_table *tables;
  struct tdl_group *groups;
  struct tdl_prefix *prefixes;
  struct tdl_record *records;
  uint32_t clock_count, token_count, flag_count, types_count, table_count, prefix_count, record_count;
  struct tdl_layout layout;
};

/* TYPE name = type attributes. */
struct tdl_named_type {
  struct tdl_named_type *next;
  struct tdl_name name;
  struct tdl_field *field;
  bool is_known; /* checked already; until then it may not be named */
  bool is_used;
};

#endif
