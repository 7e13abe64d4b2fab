/* SPDX-License-Identifier: MIT */
/*
 * The print fmt of the kernel's format files: a format as of printk, and arguments that are expressions of C
 * over the fields of the event:
 *
 *   "dev %d state=%s%s", ((unsigned int) ((REC->dev) >> 20)), __print_symbolic(REC->state, { 0x0, "R" }),
 *       REC->more & 0x100 ? "+" : ""
 *
 * It comes from a file, so it is parsed to a tree and rendered by decode/kernel_message.c.
 */
#ifndef KYMO_LANG_FTRACE_PRINT_H
#define KYMO_LANG_FTRACE_PRINT_H

#include "base/printfmt.h"
#include <kymo/error.h>

enum kymo_ftrace_node_kind {
  KYMO_FTRACE_NUMBER,
  KYMO_FTRACE_TEXT,      /* "…", or a name that is no field, such as that of an enumeration's value */
  KYMO_FTRACE_FIELD,     /* REC->field */
  KYMO_FTRACE_CAST,      /* (type)a */
  KYMO_FTRACE_UNARY,     /* op a */
  KYMO_FTRACE_BINARY,    /* a op b */
  KYMO_FTRACE_CONDITION, /* a ? b : c */
  KYMO_FTRACE_INDEX,     /* a[b] */
  KYMO_FTRACE_FLAGS,     /* __print_flags(a, text, labels) */
  KYMO_FTRACE_SYMBOLIC,  /* __print_symbolic(a, labels) */
  KYMO_FTRACE_HEX,       /* __print_hex(a, b): a is an array, b its size */
  KYMO_FTRACE_HEX_TEXT,  /* __print_hex_str(a, b) */
  KYMO_FTRACE_ARRAY,     /* __print_array(a, b, c): b elements of c bytes */
  KYMO_FTRACE_BITMASK,   /* __get_bitmask(field) */
  KYMO_FTRACE_CPUMASK,   /* __get_cpumask(field) */
  KYMO_FTRACE_VALUE,     /* __get_str(field), __get_dynamic_array(field) and the like: an array's bytes */
  KYMO_FTRACE_LENGTH,    /* __get_dynamic_array_len(field) */
  KYMO_FTRACE_SIZE,      /* sizeof(type): its size is `number`, or 0 for a long; or sizeof(REC->field) */
};

enum kymo_ftrace_operator {
  KYMO_FTRACE_OR,
  KYMO_FTRACE_AND,
  KYMO_FTRACE_BIT_OR,
  KYMO_FTRACE_BIT_XOR,
  KYMO_FTRACE_BIT_AND,
  KYMO_FTRACE_EQUAL,
  KYMO_FTRACE_UNEQUAL,
  KYMO_FTRACE_LESS,
  KYMO_FTRACE_GREATER,
  KYMO_FTRACE_AT_MOST,
  KYMO_FTRACE_AT_LEAST,
  KYMO_FTRACE_LEFT,
  KYMO_FTRACE_RIGHT,
  KYMO_FTRACE_PLUS,
  KYMO_FTRACE_MINUS,
  KYMO_FTRACE_TIMES,
  KYMO_FTRACE_DIVIDE,
  KYMO_FTRACE_REMAINDER,
  KYMO_FTRACE_NOT, /* unary from here on; so are PLUS and MINUS */
  KYMO_FTRACE_COMPLEMENT,
};

struct kymo_ftrace_label {
  const char *name;
  uint64_t value;
  bool is_unknown; /* the value has names in it that are not known: no number has this label */
  bool is_end;     /* the name is NULL: the labels after it do not count */
  /* As trace-cmd reads it: names that it does not know, and negative numbers, are -1. */
  int64_t trace_cmd_value;
};

struct kymo_ftrace_node {
  uint8_t kind, operation; /* enum kymo_ftrace_node_kind, enum kymo_ftrace_operator */
  uint8_t bits;            /* CAST: of the type; 0: it does not change the value */
  bool is_signed;          /* CAST */
  bool is_masked;          /* CAST: trace-cmd knows the type, too */
  bool is_pointer;         /* CAST to a pointer to a type of `bits` */
  bool is_text;            /* VALUE: of __get_str */
  uint16_t depth;          /* of the tree, so that walking it is bounded */
  uint32_t field;          /* of those that name a field: its index */
  uint32_t label_count;
  const struct kymo_ftrace_label *labels;
  uint64_t number;
  const char *text; /* TEXT; FLAGS: what is between two names, or NULL */
  const struct kymo_ftrace_node *a, *b, *c;
  struct kymo_ftrace_node *next; /* of the arguments */
};

/* A conversion and the text before it. */
struct kymo_ftrace_piece {
  const char *text;
  size_t length;
  struct kymo_printfmt_piece number; /* its flags, width, precision; conversion 0: the end */
  bool is_plain;   /* d, i, u, x without flags, width and precision; or x with zeros before it */
  char pointer[5]; /* what follows %p: "S", "I4h", "hD"; or "" */
  const struct kymo_ftrace_node *argument, *width; /* width: that of *, or NULL */
  int8_t longs;                                    /* letters l, less letters h */
};

struct kymo_ftrace_print {
  const struct kymo_ftrace_piece *pieces; /* the last one is the end */
  uint32_t count;
};

/* Whose rules decide where they differ: the kernel's, which are those of C, or those of trace-cmd 3.1.6. */
enum kymo_ftrace_rules { KYMO_FTRACE_OF_KERNEL, KYMO_FTRACE_OF_TRACE_CMD };

/* Finds a field by its name: an index, or UINT32_MAX if there is none. */
typedef uint32_t kymo_ftrace_find(const void *user, const char *name, size_t length);

/* Parses a print fmt, whose text must live as long as `out`, as all else is in the arena. KYMO_OK,
 * KYMO_E_SYNTAX with the place in `text`, or KYMO_E_MEMORY. */
int kymo_ftrace_print_parse(struct kymo_ftrace_print *out, struct kymo_arena *arena, const char *text,
                            enum kymo_ftrace_rules rules, kymo_ftrace_find *find, const void *user,
                            struct kymo_error *error);

/* Reads the text and the conversion that a format of trace_printk begins with; the text is added to `out`.
 * Returns how many bytes of the format they are; a conversion that is not known ends it. */
size_t kymo_ftrace_scan(struct kymo_ftrace_piece *piece, struct kymo_strbuf *out, const char *format,
                        size_t length);

/* The value of an operation on two numbers; of a division by zero 0. `is_signed`: comparison, division and
 * shifting to the right are those of signed numbers. */
uint64_t kymo_ftrace_operate(enum kymo_ftrace_operator operation, uint64_t a, uint64_t b, bool is_signed);

#endif
