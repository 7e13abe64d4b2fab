/* SPDX-License-Identifier: MIT */
/*
 * Columns of Arrow: values one after the other, a bit for each that is not null, and for texts and lists the
 * places where they begin. A column of a struct or list has columns in it:
 *
 *   KYMO type                      column
 *   integer, boolean, float        Int, Bool, FloatingPoint of its width
 *   text, bytes                    Utf8, Binary
 *   enumeration `state`            `state`: its label from a dictionary, `state.value`: the number;
 *                                  an element of a list: a Struct of these two
 *   flags `mode`                   the same; the labels are a text, "READ|WRITE"
 *   array, sequence                List
 *   struct, union                  Struct
 *   variant                        Struct with a member for each option, of which one is not null
 *   optional                       the column of its element, null if it is absent
 */
#ifndef KYMO_SINK_ARROW_COLUMN_H
#define KYMO_SINK_ARROW_COLUMN_H

#include "base/arena.h"
#include "base/strbuf.h"
#include "base/table.h"
#include <kymo/read.h>

enum kymo_arrow_kind {
  KYMO_ARROW_BOOL,
  KYMO_ARROW_INT,
  KYMO_ARROW_FLOAT,
  KYMO_ARROW_TIME, /* nanoseconds since 1970 */
  KYMO_ARROW_TEXT,
  KYMO_ARROW_BYTES,
  KYMO_ARROW_LABEL, /* a text from a dictionary */
  KYMO_ARROW_LIST,
  KYMO_ARROW_STRUCT,
};

/* How values of a type go into a column. */
enum kymo_arrow_form {
  KYMO_ARROW_PLAIN,
  KYMO_ARROW_LABELLED, /* a struct of a label and a number */
  KYMO_ARROW_CHOICE,   /* a struct of the options of a variant */
};

/* Texts, each once. */
struct kymo_arrow_dictionary {
  int64_t id;
  struct kymo_hash_table table;
  struct kymo_strbuf text;
  uint32_t *ends;
  uint32_t count, capacity;
  uint32_t sent; /* how many of them are written */
  bool is_begun; /* something is */
};

struct kymo_arrow_column {
  const char *name;
  enum kymo_arrow_kind kind;
  enum kymo_arrow_form form;
  unsigned bits; /* INT, FLOAT */
  bool is_signed;
  uint32_t count;
  struct kymo_arrow_column *columns; /* in a LIST (one) or STRUCT */
  uint32_t *slots;                   /* STRUCT: the column of each member of the type, or UINT32_MAX … */
  uint32_t slot_count;
  struct kymo_arrow_dictionary *dictionary;
  /* values */
  uint64_t length, null_count;
  struct kymo_strbuf validity, offsets, data;
};

/* Where columns are made: names and columns in the arena, ids of dictionaries. */
struct kymo_arrow_making {
  struct kymo_arena *arena;
  int64_t next_dictionary;
};

/* A column of a kind without columns in it. False: out of memory. */
bool kymo_arrow_make(struct kymo_arrow_making *making, struct kymo_arrow_column *column, const char *name,
                     enum kymo_arrow_kind kind);
/* A column of the members of a struct. False: out of memory. */
bool kymo_arrow_make_struct(struct kymo_arrow_making *making, struct kymo_arrow_column *column,
                            const char *name, const struct kymo_type *type);
/* Whether values of the same types go into both columns, which have the same names. */
bool kymo_arrow_is_same(const struct kymo_arrow_column *one, const struct kymo_arrow_column *other);
/* Drops the values of a column and of those in it; and also the memory. */
void kymo_arrow_clear(struct kymo_arrow_column *column);
void kymo_arrow_free(struct kymo_arrow_column *column);

/* Append a value; false: out of memory, or a column is too long for its offsets. */
bool kymo_arrow_put_null(struct kymo_arrow_column *column);
bool kymo_arrow_put_number(struct kymo_arrow_column *column, uint64_t value);
bool kymo_arrow_put_float(struct kymo_arrow_column *column, double value);
/* TEXT, BYTES, LABEL: as they are. */
bool kymo_arrow_put_bytes(struct kymo_arrow_column *column, const void *bytes, size_t length);
/* TEXT, LABEL: what is no character becomes U+FFFD; `space` is used for it. */
bool kymo_arrow_put_text(struct kymo_arrow_column *column, struct kymo_strbuf *space, const uint8_t *bytes,
                         uint64_t count, enum kymo_encoding encoding);
/* A struct of what a walk goes over next, up to its END or to the end of the walk. */
bool kymo_arrow_put_members(struct kymo_arrow_column *column, struct kymo_strbuf *space,
                            struct kymo_walk *walk, const struct kymo_type *type);
/* Bytes that the values have. */
size_t kymo_arrow_size(const struct kymo_arrow_column *column);

#endif
