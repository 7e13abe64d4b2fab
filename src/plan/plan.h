/* SPDX-License-Identifier: MIT */
/*
 * The plan: a TDL description, compiled for the machine (machine.h) that decodes records.
 *
 *   layout steps ─► dispatch ─► kind ─► prefix: part ─┐
 *                     (WHEN)      └───► body: part ───┴─► slots ─► columns ─► a row of the schema's event
 *                                 class
 *
 *   part = loads at constant offsets under one bounds check, then a block of instructions for the rest
 *
 * A plan is a handful of *sections*, each an array of one struct. All structs consist of uint32_t only, so
 * the bytes of a plan (docs/key.md) are these arrays as little-endian words, and loading it is copying.
 * Things refer to each other by index; KYMO_PLAN_NONE is none. Texts are indices of the section TEXT; equal
 * texts are one.
 *
 * A compiler uses the builder below: it adds items by kymo_plan_add_*(), instructions by kymo_plan_emit()
 * between kymo_plan_block_begin() and kymo_plan_block_end(), then kymo_plan_finish(), which verifies all and
 * makes the schema with the event classes that users see. Plans are immutable once finished.
 */
#ifndef KYMO_PLAN_PLAN_H
#define KYMO_PLAN_PLAN_H

#include <kymo/schema.h>

#define KYMO_PLAN_NONE UINT32_MAX
#define KYMO_PLAN_MAGIC UINT32_C(0x59454b4b) /* "KKEY" */

enum { KYMO_PLAN_MAJOR = 1, KYMO_PLAN_MINOR = 2 };

/* Limits of every plan, which the verifier checks (E61 in a description). */
enum {
  KYMO_PLAN_SLOTS = 4096, /* of one kind, its prefix's included */
  KYMO_PLAN_STACK = 64,   /* values on the expression stack */
  KYMO_PLAN_DEPTH = 64,   /* of WITHIN, REPEAT, AT, HOLDS, BLOCKS */
  KYMO_PLAN_LISTS = 28,   /* lists of structs in each other; types of the schema are nested to 64 */
  KYMO_PLAN_REPEAT_LIMIT = 1048576,
  KYMO_PLAN_TABLE_LIMIT = 65536,
};

/* ---- description as a whole ---- */

enum kymo_plan_policy {
  KYMO_PLAN_POLICY_DEFAULT,
  KYMO_PLAN_POLICY_STOP,
  KYMO_PLAN_POLICY_SKIP,
  KYMO_PLAN_POLICY_MARK,
  KYMO_PLAN_POLICY_RESYNC,
};
enum kymo_plan_sorted { KYMO_SORTED_NO, KYMO_SORTED_YES, KYMO_SORTED_WITHIN, KYMO_SORTED_PER };
enum kymo_plan_characters {
  KYMO_CHARACTERS_UTF8,
  KYMO_CHARACTERS_LATIN1,
  KYMO_CHARACTERS_UTF16_LITTLE,
  KYMO_CHARACTERS_UTF16_BIG
};
enum kymo_plan_merge { KYMO_MERGE_NONE, KYMO_MERGE_BY_TIME, KYMO_MERGE_BY_SEQUENCE };
enum kymo_plan_order {
  KYMO_PLAN_LITTLE,
  KYMO_PLAN_BIG,
  KYMO_PLAN_CURRENT
}; /* CURRENT: the order that the last ORDER or ORDER FILE set */

/* Section ROOT: exactly one. */
struct kymo_plan_root {
  uint32_t name, version; /* texts; version NONE: not given */
  uint32_t order;         /* BYTES: LITTLE or BIG; the value of CURRENT before any ORDER (LITTLE if not
                           * given) */
  uint32_t policies[11];  /* [1]…[10] for R1…R10; DEFAULT: according to the table of errors */
  uint32_t resync, resync_within; /* text: the pattern, NONE; WITHIN: the most bytes, 0: no limit */
  uint32_t sorted, sorted_low,
      sorted_high;               /* WITHIN: picoseconds, 64 bits; PER: column name (text) in sorted_low */
  uint32_t merge, merge_pattern; /* pattern: text, or NONE */
  uint32_t sequence_count;       /* the number of counters that SEQUENCE refers to */
  uint32_t source;               /* text: the description itself, or NONE */
  uint32_t kept_count;           /* the number of values that KEPT refers to */
  uint32_t characters;           /* enum kymo_plan_characters: of all texts that are delivered */
  uint32_t hash[4];              /* of the plan, 128 bits, lowest first; set by kymo_plan_finish */
};

/* A duration counts picoseconds. A tick of a clock lasts `resolution` ps, or 1/RATE s if there is a block
 * `rate`. */
struct kymo_plan_clock {
  uint32_t name;
  uint32_t has_epoch, epoch_low, epoch_high; /* EPOCH: nanoseconds since 1970-01-01T00:00:00Z, int64 */
  uint32_t resolution_low, resolution_high;  /* ps, > 0; default 1000 */
  uint32_t rate;  /* block that leaves ticks a second, evaluated at first use in a file; NONE */
  uint32_t slack; /* block that leaves picoseconds (duration) or, with slack_in_ticks, ticks; NONE: 0 */
  uint32_t slack_in_ticks;
  uint32_t epoch_days; /* … plus this number of days, int32: for epochs that do not fit 64 bits of
                        * nanoseconds */
};

/* TOKEN and FLAGS: items [first, first + count) of TOKEN_ITEM, FLAG_ITEM. */
struct kymo_plan_token {
  uint32_t name, first, count, or_error;
};
struct kymo_plan_token_item {
  uint32_t text, is_unsigned, low_low, low_high, high_low, high_high;
}; /* int64, or uint64 */
struct kymo_plan_flag {
  uint32_t name, first, count;
};
struct kymo_plan_flag_item {
  uint32_t text, mask_low, mask_high, value_low, value_high;
}; /* BIT n: mask 1<<n, value mask */

enum kymo_plan_table_holds { KYMO_HOLDS_RECORDS, KYMO_HOLDS_NAMES, KYMO_HOLDS_NUMBERS, KYMO_HOLDS_BYTES };
enum kymo_plan_per { KYMO_PER_FILE, KYMO_PER_SEGMENT, KYMO_PER_TRACE, KYMO_PER_VALUE };
enum kymo_plan_known { KYMO_KNOWN_EARLIER, KYMO_KNOWN_BY_TIME, KYMO_KNOWN_ALWAYS };
struct kymo_plan_table {
  uint32_t name, is_by_name; /* KEY NAME */
  uint32_t holds, per, known, limit;
  uint32_t pass; /* KNOWN ALWAYS: 0, or one more than the passes of the tables that its definitions read */
};

/* ---- types of fields in the file ---- */

/* of a type */
enum kymo_plan_encoding {
  KYMO_TYPE_UNSIGNED,
  KYMO_TYPE_SIGNED,
  KYMO_TYPE_FLOAT,
  KYMO_TYPE_BCD,
  KYMO_TYPE_FIXED, /* signed, value = raw / 2^fraction: a float */
  KYMO_TYPE_LEB,
  KYMO_TYPE_SLEB,
  KYMO_TYPE_ZIGZAG,
  KYMO_TYPE_VARINT_MSB,        /* `size`: bytes at most (MAX), default 10 */
  KYMO_TYPE_BYTES,             /* size: bytes */
  KYMO_TYPE_STRING,            /* size: bytes; cut at the first zero; extra: PADDED byte + 1, or 0 */
  KYMO_TYPE_STRING_WHOLE,      /* size: bytes; not cut at zeros (COUNTED: load the count, then this) */
  KYMO_TYPE_STRING_ENDED,      /* up to byte `extra`, which is consumed */
  KYMO_TYPE_TEXT_NUMBER,       /* size: bytes; digits in base `extra` (2…36) with a sign and blanks around
                           * them: a number */
  KYMO_TYPE_TEXT_NUMBER_ENDED, /* digits up to byte `fraction` (or the window's end) */
};
#define KYMO_SIZE_POPPED UINT32_C(0xfffffffe) /* the size is taken from the stack */
#define KYMO_SIZE_TO_END UINT32_C(0xfffffffd) /* all remaining bytes of the innermost window */
struct kymo_plan_type {
  uint32_t encoding;
  uint32_t size; /* numbers: bits (1…64, FLOAT 16 32 64 80 128); texts and bytes: bytes; or POPPED, TO_END */
  uint32_t order;        /* enum kymo_plan_order */
  uint32_t is_msb_first; /* bit fields: 0 from the lowest bit, 1 from the highest, 2 as the byte order says */
  uint32_t fraction, extra;
};

/* Delivered form of a value, in rows: numbers of 8, 16, 32, 64 bits, floats of 32, 64; a TEXT or BLOB of
 * constant `bits`/8 bytes, or of any length if that is 0. */
enum kymo_plan_shape {
  KYMO_SHAPE_UNSIGNED,
  KYMO_SHAPE_SIGNED,
  KYMO_SHAPE_FLOAT,
  KYMO_SHAPE_TEXT,
  KYMO_SHAPE_BLOB
};
enum kymo_plan_show { KYMO_SHOW_NONE, KYMO_SHOW_HEX, KYMO_SHOW_ADDRESS, KYMO_SHOW_UUID, KYMO_SHOW_CHAR };

/* How a value is shown. SCALE makes shape FLOAT 64, value × scale + offset; the machine computes it. */
struct kymo_plan_view {
  uint32_t token, names, flags; /* TOKEN list; TOKEN of a NAMES table; FLAGS: indices or NONE */
  uint32_t has_scale, scale_low, scale_high, offset_low, offset_high; /* bits of doubles */
  uint32_t unit;                                                      /* text, or NONE */
  uint32_t show;
};

/* ABSENT WHEN in TYPES: a number, as int64 or uint64; or a text, in absent_low. A FLOAT is compared by its
 * bits. */
enum kymo_plan_absent { KYMO_ABSENT_NONE, KYMO_ABSENT_SIGNED, KYMO_ABSENT_UNSIGNED, KYMO_ABSENT_TEXT };

/* TYPES: the meaning of a letter or word of a run-time definition. */
struct kymo_plan_letters {
  uint32_t name, first, count;
}; /* of LETTER */
struct kymo_plan_letter {
  uint32_t text;              /* "b", "uint8_t" */
  uint32_t type, shape, bits; /* of an element; size POPPED: the definition says how many bytes each has */
  uint32_t count;             /* ARRAY n OF: n; else 0 */
  uint32_t view;              /* or NONE */
  uint32_t has_order; /* LITTLE or BIG is of this type, not of the whole. Since version 1.2, as all below */
  uint32_t absent, absent_low, absent_high; /* enum kymo_plan_absent: the raw value that means absent */
};

/* ---- record kinds ---- */

/* A load: `bits` (8, 16, 32, 64 unsigned or signed; other multiples of 8 up to 64 too) at `offset` bytes from
 * where the part began, to slot. Runs before the part's code. */
struct kymo_plan_load {
  uint32_t offset, bits, is_signed, order, slot;
};

/* A unit of the file: one bounds check covers `fixed` bytes, loads read in them, the position moves after
 * them, then the code runs. A part begins on a byte boundary. */
struct kymo_plan_part {
  uint32_t fixed, first_load, load_count, block;
};

struct kymo_plan_prefix {
  uint32_t name;
  struct kymo_plan_part part;
};

enum kymo_plan_class { KYMO_CLASS_EVENT, KYMO_CLASS_CONTROL, KYMO_CLASS_DEFINITION, KYMO_CLASS_SEGMENT };

struct kymo_plan_kind {
  uint32_t name, class_;
  uint32_t prefix; /* or NONE; its slots are the first ones of the kind's */
  uint32_t when;   /* block that leaves one value, or NONE; for dispatch. Sees the prefix's slots only */
  uint32_t
      align; /* block that leaves bytes, or NONE: record begins there, counted from the enclosing window */
  struct kymo_plan_part part; /* after the prefix */
  uint32_t slot_count;
  uint32_t first_column, column_count;
  uint32_t first_keep, keep_count;
  uint32_t holds; /* dispatch of the region after the items, or NONE */
  uint32_t
      event_column; /* column (absolute index) named EVENT, or NONE: refines the event class by its TOKEN */
  uint32_t from_table,
      from_key; /* FROM table[key]: RECORDS table or NONE, and block that leaves the key. The fields of
                 * the definition follow those of the part and become columns of a separate class */
};

/*
 * A field as users see it, in order. Options: one, or several where the name has several types in exclusive
 * branches (a variant): the first whose slot is not absent is delivered. is_list: REPEAT and ARRAY, filled by
 * APPEND; its options' slots are not used. is_optional: may be absent (delivered as nothing); an absent value
 * of another is delivered as zero.
 *
 * is_struct: a list of structs (is_list, without options), to which ELEMENT adds one. The next `inner_count`
 * columns are its members and theirs. A member is a list for each element, or else one value, the last that
 * is appended for the element; its options' slots are not used. `parent`: of a member, one more than the
 * index (absolute) of its list; 0: the column is one of the record.
 */
struct kymo_plan_column {
  uint32_t name, first_option, option_count, is_list, is_optional, is_hidden;
  uint32_t is_struct, inner_count, parent; /* since version 1.1; 0 before */
};
/* Whether the column's value is in a slot. */
static inline bool kymo_plan_is_single(const struct kymo_plan_column *column) {
  return !column->is_list && !column->parent;
}
struct kymo_plan_option {
  uint32_t slot, shape, bits, view;
};

/* At the end of a record (of one with HOLDS: before its region) kept[index] = slot, for KEPT in other
 * records. Index: 0 to root.kept_count - 1, each in one kind only. In the region of a kind with HOLDS it is
 * that of the innermost enclosing record and absent outside. */
struct kymo_plan_keep {
  uint32_t slot, index;
};

/* Where the records are that a kind HOLDS, if they are not simply the rest of its own bytes; at most one of
 * each kind, in the order of kinds. The blocks are run after the kind's items. */
struct kymo_plan_box {
  uint32_t kind;
  uint32_t bytes;     /* block that leaves the size of the region; NONE: to the record's end */
  uint32_t method;    /* enum kymo_plan_method */
  uint32_t key;       /* XOR: block that leaves a byte, or bytes; else NONE */
  uint32_t is_joined; /* a record may continue in the next such region beside it */
};

/* ---- dispatch and layout ---- */

/* Decides which of some kinds a record is. Kinds: indices [first, first + count) of KIND_REF, in order. With
 * a table, the value of the slot after the (one) prefix selects the case of this value, else the kind
 * `otherwise` (or NONE: R3), and WHEN is not run; cases [first_case, …) ascend by value (unsigned 64).
 * Without, slot is NONE and the WHENs are tried in order. */
struct kymo_plan_dispatch {
  uint32_t first, count, slot, first_case, case_count, otherwise;
};
struct kymo_plan_kind_ref {
  uint32_t kind;
};
struct kymo_plan_case {
  uint32_t low, high, kind;
};

/* LAYOUT: steps in order; those of BLOCKS follow it directly, `inner_count` of them (with all nested
 * ones). */
struct kymo_plan_step {
  uint32_t dispatch; /* NONE: BLOCKS */
  uint32_t is_repeat;
  uint32_t times, at, size; /* blocks that leave one value, or NONE. Of BLOCKS `size` is that of each block */
  uint32_t until;           /* kind, or NONE */
  uint32_t inner_count;
};

/* ---- definitions at run time: DEFINE … AS RECORD ---- */

enum kymo_plan_style { KYMO_STYLE_LETTERS, KYMO_STYLE_TEXT, KYMO_STYLE_LIST };
struct kymo_plan_recipe {
  uint32_t table, style, letters;
  uint32_t split; /* text; LETTERS, TEXT */
  uint32_t name_column, type_column,
      size_column;     /* LIST: columns (absolute) of the record with the lists; size or NONE */
  uint32_t has_length; /* a value of the record's LENGTH is on the stack */
  uint32_t first_override, override_count;
  /* since version 1.2; 0: none */
  uint32_t nested; /* one more than the table (HOLDS RECORDS) of the types that are in no list */
  uint32_t next; /* one more than the recipe (LIST, later than this one) that lists the fields after these */
  uint32_t same_order; /* fields have the byte order of the defining record */
  /* LIST: one more than the columns with values of each field; its value is raw × scale / over ± offset */
  uint32_t scale_column, over_column, offset_column, unit_column, absent_column;
  uint32_t scale_low, scale_high,
      offset_is_negative; /* scale: bits of a double, if there is no column of it */
};
/* FIELD name IS …: replaces the letter's attributes. */
struct kymo_plan_override {
  uint32_t name;
  uint32_t view;  /* or NONE */
  uint32_t order; /* enum kymo_plan_order, or NONE */
  uint32_t clock, time_mode, low_bits, unit_kind, unit_low,
      unit_high;       /* TIME: clock or NONE; constant unit as TIME has it */
  uint32_t is_pattern; /* FIELD LIKE: `name` is a glob. Since version 1.2 */
  uint32_t is_filler;  /* FILLER: bytes that are not delivered, and of which a record's end may cut any. Since
                        * version 1.2 */
  uint32_t absent, absent_low, absent_high; /* as those of a letter */
};

/* ---- instructions ---- */

/*
 * An expression machine with a stack of values: absent, a number (128 bits, exact), a float, or bytes (texts
 * too), which are references. A truth value is the number 1 or 0; absent and 0 are false. `a`, `b`, `c` are
 * operands; [x y] are popped from the stack, y from its top; → is pushed. Jumps lead forward, within the
 * block, to `a` (absolute instruction index; the block's end is allowed). Where jumps meet, the stack has
 * one depth; a block of items ends with an empty stack, an expression with one value. LOOP and TURN pair and
 * nest, as do ENTER/LEAVE and AT/BACK; jumps do not cross them.
 */
enum kymo_plan_code {
  /* values */
  KYMO_DO_NUMBER = 1, /* → number: int64 with low half b, high half c; a = 1: as uint64 */
  KYMO_DO_TEXT,       /* → bytes of text a */
  KYMO_DO_ABSENT,     /* → absent */
  KYMO_DO_GET,        /* → slot a */
  KYMO_DO_SET,        /* [x]  slot a = x */
  KYMO_DO_CLEAR,      /* slots a … a + b - 1 become absent (at the start of a turn) */
  KYMO_DO_KEPT,       /* → kept value a, from another record */
  KYMO_DO_DUP,        /* [x] → x x */
  KYMO_DO_DROP,       /* [x] */
  KYMO_DO_POSITION,   /* → bytes from the base of the innermost record or WITHIN */
  KYMO_DO_REMAINING,  /* → bytes to the end of the innermost window */
  KYMO_DO_HERE,       /* → byte position in the window's data; differences of two are sizes; for CHECKSUM */
  KYMO_DO_START,      /* → HERE of the record's first byte */
  KYMO_DO_END,       /* → HERE of the record's end (LENGTH), or of the innermost window's end if there is no
                * LENGTH yet */
  KYMO_DO_PREVIOUS,  /* → size in bytes of the previous record at this level, absent for the first */
  KYMO_DO_FILE_SIZE, /* → bytes */
  KYMO_DO_FILE_NUMBER, /* → from 0 */
  KYMO_DO_COUNT_OF,    /* → keys in table a */
  KYMO_DO_LIST_COUNT,  /* → elements appended to column a (absolute) of this record so far */
  KYMO_DO_SIZE_OF,     /* [x] → bytes of a bytes value, absent of others */
  KYMO_DO_JOIN,        /* [per key] → both as one key, for tables with KYMO_PER_VALUE; absent if one is */
  KYMO_DO_LOOKUP,      /* [key] → the value of table a for it, or absent. RECORDS tables return 1 */
  KYMO_DO_HAS_KEY,     /* [key] → truth: table a has it */
  KYMO_DO_KNOWN,       /* [x] → truth: token list a has an interpretation of it */
  /* arithmetic: absent if an operand is; R10 for overflow beyond −2^127…2^127−1, zero divisors, shifts
   * outside 0…63, and operands that are not numbers */
  KYMO_DO_ADD,
  KYMO_DO_SUBTRACT,
  KYMO_DO_MULTIPLY,
  KYMO_DO_DIVIDE,
  KYMO_DO_REMAINDER, /* [x y] → x op y, truncating */
  KYMO_DO_SHIFT_LEFT,
  KYMO_DO_SHIFT_RIGHT,
  KYMO_DO_AND,
  KYMO_DO_OR,
  KYMO_DO_XOR, /* [x y] → x op y */
  KYMO_DO_NEGATE,
  KYMO_DO_COMPLEMENT, /* [x] → -x, ~x */
  KYMO_DO_RANGE, /* [x] → x; R10 unless absent, no number, or −2^63 … 2^64−1: at the end of an expression
                  * (S6) */
  /* comparison: 0 if an operand is absent or they are of different sorts */
  KYMO_DO_EQUAL,
  KYMO_DO_UNEQUAL,
  KYMO_DO_LESS,
  KYMO_DO_LESS_EQUAL,
  KYMO_DO_GREATER,
  KYMO_DO_GREATER_EQUAL, /* [x y] → truth */
  KYMO_DO_BETWEEN,       /* [x low high] → truth: low ≤ x ≤ high */
  KYMO_DO_FALSE,         /* [x] → NOT x */
  KYMO_DO_TRUTH,         /* [x] → x as truth */
  /* functions, S9 */
  KYMO_DO_BITS,   /* [x low n] → bits(x, low, n) */
  KYMO_DO_SIGNED, /* [x n] */
  KYMO_DO_POWER,  /* [a n] */
  KYMO_DO_MINIMUM,
  KYMO_DO_MAXIMUM,   /* [x y] */
  KYMO_DO_DEFAULT,   /* [x y] → x, or y if x is absent */
  KYMO_DO_PRESENT,   /* [x] → truth */
  KYMO_DO_TEXT_AT,   /* [bytes offset] → text up to a zero or the end; absent if offset is beyond */
  KYMO_DO_ALIGN_UP,  /* [x n] → x rounded up to a multiple of n */
  KYMO_DO_ABSENT_IF, /* [x truth] → x, or absent if truth */
  /* jumps */
  KYMO_DO_JUMP,       /* to a */
  KYMO_DO_JUMP_FALSE, /* [x] to a if x is false or absent */
  KYMO_DO_JUMP_TRUE,  /* [x] to a if x is true */
  /* items */
  KYMO_DO_LOAD,   /* [size if POPPED] → value of type a at the position, which moves after it */
  KYMO_DO_FILL,   /* [n] skip n × a bits (a = 1 or 8); b: byte that all must be (R4) plus 1, or 0 */
  KYMO_DO_GO,     /* [n] FILLER TO n: bytes from the base, forward; b as in FILL */
  KYMO_DO_ALIGN,  /* [n] to the next multiple of n bytes from the base; b as in FILL */
  KYMO_DO_APPEND, /* [x] to the list of column a (absolute) as its option b; nothing if x is absent */
  KYMO_DO_CHECK,  /* [x] raise R<a> with message text b (or NONE) if x is false; continues if the policy
                   * is MARK. Unless c is 0, the field's value is below x on the stack, and the field began
                   * c - 1 bits before the position */
  KYMO_DO_FAIL,   /* raise R<a> with message text b; the record ends */
  KYMO_DO_AT,     /* [n] remember the position, go to n bytes from the base (any within the window) */
  KYMO_DO_BACK,   /* return to the remembered position */
  KYMO_DO_ENTER,  /* [n] WITHIN n BYTES: window and base */
  KYMO_DO_AFTER,  /* [key if XOR] the rest of the window is replaced by the output of method a, enum
                   * kymo_plan_method */
  KYMO_DO_LEAVE,  /* ends the window; the position is after its n bytes */
  KYMO_DO_LENGTH, /* [n] the record has n bytes from its start: narrows the window. R2 if it is too short
                   * or beyond the window; a: bytes that loads have read beyond the place where the length
                   * is known */
  KYMO_DO_LENGTH_CHECK, /* [n] R4 unless the record has n bytes: its LENGTH, or the bytes read up to here
                         * if there is no LENGTH */
  KYMO_DO_LOOP,  /* a: instruction after the TURN. b = 0 TIMES: [n]; 1 TO END: none if at the end; 2 UNTIL.
                 * c: LIMIT */
  KYMO_DO_TURN,  /* a: the LOOP. UNTIL: [x] leaves if true */
  KYMO_DO_ORDER, /* a: LITTLE or BIG, from here on in this record */
  KYMO_DO_ORDER_FILE, /* a: … in this file */
  KYMO_DO_CHECKSUM,   /* [begin end own_begin own_end] → algorithm a, enum kymo_plan_checksum, over bytes
                       * begin … end - 1 (as HERE), with the checksum's own bytes counted as zeros; b, c:
                       * SEED low, high, if bit 8 of a is set */
  /* state */
  KYMO_DO_DEFINE,        /* [key value] table a; nothing if either is absent. R7 if the key has another
                          * value */
  KYMO_DO_FORGET,        /* [key] table a */
  KYMO_DO_DEFINE_RECORD, /* [key name | LETTERS: letters names | TEXT: text | LIST: nothing | length if
                          * has_length] recipe a */
  KYMO_DO_SYNC,          /* [x y] from here on tick x of clock a is tick y of clock b */
  KYMO_DO_TIME,          /* [x, unit if any, per if any] → time or span in ns, absent if x is. a: clock; b:
                          * KYMO_TIME_… mode and flags; c: n of LOW n. ADD pushes the sum of its ticks and
                          * those of the TIMEs before it, back to the last that is no ADD, rounded once */
  KYMO_DO_SEQUENCE,      /* [x, per if any] counter a (0 to root.sequence_count - 1) modulo 2^b; c: enum
                     * kymo_plan_per; a gap is a loss and R6. At the record's end */
  KYMO_DO_LOST,          /* [x] x records were lost before this one */
  KYMO_DO_EXPECT,  /* [x y] raise R<a> with message text b, x and y unless they are equal: y is the found
                   * value, x the expected one */
  KYMO_DO_ELEMENT, /* an element more in the list of structs of column a (absolute): what APPEND adds to its
                    * members from here on belongs to it. Since version 1.1 */
  /* since version 1.2 */
  KYMO_DO_NAME_OF, /* [x] → the text of token list a for it, or absent */
  KYMO_DO_CONCAT,  /* [x y] → a text: x, then y; numbers are their digits */
  KYMO_DO_FIELDS,  /* FROM: reads the fields of the definition; else they are read after the part */
  KYMO_DO_FIELD, /* → the value of the field with name a that FIELDS has read, if it has one, of sort b (enum
                    * kymo_plan_field_sort); else absent */
  KYMO_DO_COUNT, /* number of codes */
};

enum kymo_plan_field_sort { KYMO_FIELD_NUMBER, KYMO_FIELD_TEXT };
enum kymo_plan_loop { KYMO_LOOP_TIMES, KYMO_LOOP_TO_END, KYMO_LOOP_UNTIL };
/* PLAIN: nothing is packed; only of boxes. */
enum kymo_plan_method {
  KYMO_METHOD_ZLIB,
  KYMO_METHOD_ZSTD,
  KYMO_METHOD_LZ4,
  KYMO_METHOD_XOR,
  KYMO_METHOD_PLAIN
};
enum kymo_plan_checksum {
  KYMO_SUM8,
  KYMO_SUM16,
  KYMO_SUM32,
  KYMO_XOR8,
  KYMO_CRC8,
  KYMO_CRC16_CCITT,
  KYMO_CRC16_ARC,
  KYMO_CRC32,
  KYMO_CRC32C,
  KYMO_ADLER32,
  KYMO_CHECKSUMS,
  KYMO_CHECKSUM_SEEDED = 0x100,
};
/* operand b of TIME: mode, and flags in the bits above it */
enum kymo_plan_time {
  KYMO_TIME_POINT,
  KYMO_TIME_DISTANCE,
  KYMO_TIME_ADD,
  KYMO_TIME_LOW,
  KYMO_TIME_BASE,
  KYMO_TIME_UNTIL,
  KYMO_TIME_SPAN,
  KYMO_TIME_MODES,
  KYMO_TIME_MODE = 0xff,
  KYMO_TIME_UNIT = 0x100,  /* unit on the stack: picoseconds (a duration such as 1 ms) */
  KYMO_TIME_TICKS = 0x200, /* … ticks of the clock */
  KYMO_TIME_RATE = 0x300,  /* RATE: units a second */
  KYMO_TIME_UNITS = 0x300,
  KYMO_TIME_PER = 0x400, /* value of PER on the stack */
  KYMO_TIME_IS_ACQUISITION = 0x1000,
  KYMO_TIME_IS_SIGNED = 0x2000, /* x may be negative */
};

struct kymo_plan_instruction {
  uint32_t code, a, b, c;
};
/* Code is made of blocks: items of a prefix or kind, or one expression. */
struct kymo_plan_block {
  uint32_t first, count;
};
struct kymo_plan_text {
  uint32_t offset, size;
}; /* in `bytes` */

/* ---- the whole ---- */

/* Section, struct and array in struct kymo_plan, in the order of the bytes: those that are added as items,
 * and all. */
/* clang-format off */
#define KYMO_PLAN_ITEMS(X) \
  X(ROOT, root, root) X(CLOCK, clock, clocks) X(TOKEN, token, tokens) \
  X(TOKEN_ITEM, token_item, token_items) X(FLAG, flag, flags) X(FLAG_ITEM, flag_item, flag_items) \
  X(TABLE, table, tables) X(TYPE, type, types) X(VIEW, view, views) \
  X(LETTERS, letters, letter_lists) X(LETTER, letter, letters) X(LOAD, load, loads) \
  X(PREFIX, prefix, prefixes) X(KIND, kind, kinds) X(COLUMN, column, columns) \
  X(OPTION, option, options) X(KEEP, keep, keeps) X(DISPATCH, dispatch, dispatches) \
  X(KIND_REF, kind_ref, kind_refs) X(CASE, case, cases) X(STEP, step, steps) \
  X(RECIPE, recipe, recipes) X(OVERRIDE, override, overrides)
#define KYMO_PLAN_SECTIONS(X) \
  KYMO_PLAN_ITEMS(X) X(TEXT, text, texts) X(BLOCK, block, blocks) X(INSTRUCTION, instruction, code) \
  X(BOX, box, boxes) /* since minor version 1 */
/* clang-format on */

enum kymo_plan_section {
#define X(name, what, array) KYMO_SECTION_##name,
  KYMO_PLAN_SECTIONS(X)
#undef X
      KYMO_SECTION_COUNT,
};

/* A plan in memory: .kinds[i] of .counts[KYMO_SECTION_KIND]. */
struct kymo_plan {
#define X(name, what, array) const struct kymo_plan_##what *array;
  KYMO_PLAN_SECTIONS(X)
#undef X
  uint32_t counts[KYMO_SECTION_COUNT];
  const uint8_t *bytes; /* the bytes of the texts */
  uint32_t byte_count;
};

/* ---- builder ---- */

/* A builder belongs to one thread. kymo_plan_finish reports that memory ran out. */
struct kymo_plan_builder;
struct kymo_plan_builder *kymo_plan_builder_new(void);
void kymo_plan_builder_free(struct kymo_plan_builder *builder);
/* Returns the index of a text (any bytes). */
uint32_t kymo_plan_add_text(struct kymo_plan_builder *builder, const void *bytes, size_t size);
/* Adds a copy of one item to a section; returns its index. Use the typed functions:
 * kymo_plan_add_kind(builder, &kind) … Items that are referred to as a range must be added after one
 * another. */
uint32_t kymo_plan_add(struct kymo_plan_builder *builder, enum kymo_plan_section section, const void *item);
/* An item that was added before, for changing it; valid until the next addition to its section. */
void *kymo_plan_item(struct kymo_plan_builder *builder, enum kymo_plan_section section, uint32_t index);
uint32_t kymo_plan_count(const struct kymo_plan_builder *builder, enum kymo_plan_section section);
#define X(name, what, array)                                                         \
  static inline uint32_t kymo_plan_add_##what(struct kymo_plan_builder *builder,     \
                                              const struct kymo_plan_##what *item) { \
    return kymo_plan_add(builder, KYMO_SECTION_##name, item);                        \
  }
KYMO_PLAN_ITEMS(X)
#undef X
static inline uint32_t kymo_plan_add_box(struct kymo_plan_builder *builder, const struct kymo_plan_box *box) {
  return kymo_plan_add(builder, KYMO_SECTION_BOX, box);
}

/* Begins a block of code; one at a time. */
void kymo_plan_block_begin(struct kymo_plan_builder *builder);
/* Ends the block; returns its index, KYMO_PLAN_NONE if it has no instruction. */
uint32_t kymo_plan_block_end(struct kymo_plan_builder *builder);
/* Adds an instruction; returns its index. Unused operands are 0. */
uint32_t kymo_plan_emit(struct kymo_plan_builder *builder, enum kymo_plan_code code, uint32_t a, uint32_t b,
                        uint32_t c);
/* Adds an instruction that pushes a signed (is_unsigned: unsigned) number of up to 64 bits. */
uint32_t kymo_plan_emit_number(struct kymo_plan_builder *builder, uint64_t value, bool is_unsigned);
/* The index that the next instruction will have: a target for kymo_plan_aim. */
uint32_t kymo_plan_here(const struct kymo_plan_builder *builder);
/* Sets operand a of a jump or LOOP. */
void kymo_plan_aim(struct kymo_plan_builder *builder, uint32_t instruction, uint32_t target);
/*
 * Verifies the plan and makes the schema with its event classes (names `TRACE:interpretation`, or
 * `TRACE:kind`), which carries the plan. The builder is freed in either case. NULL with `error`:
 * KYMO_E_LIMIT, KYMO_E_MEMORY, or KYMO_E_FORMAT for a mistake of the caller.
 */
struct kymo_schema *kymo_plan_finish(struct kymo_plan_builder *builder, struct kymo_error *error);

/* ---- reading ---- */

/* The plan that a schema carries, verified; or NULL with `error`: KYMO_E_ABSENT if it carries none,
 * KYMO_E_FORMAT (R8) if it is corrupt or of another major version. `file` names it in errors. The caller
 * frees it with kymo_plan_close. */
struct kymo_plan *kymo_plan_open(const struct kymo_schema *schema, const char *file,
                                 struct kymo_error *error);
void kymo_plan_close(struct kymo_plan *plan);

#endif
