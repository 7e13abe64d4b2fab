/* SPDX-License-Identifier: MIT */
/*
 * Events as columns of Apache Arrow, by its C data interface and C stream interface: structs and callbacks
 * whose layout is fixed, so that no library of Arrow is needed. Nothing here knows Python, but for the end
 * of arrow_stream.c.
 *
 *   table ── rows of ──► columns (a tree) ── column_export ──► ArrowArray, which owns their memory
 */
#ifndef KYMO_PYTHON_ARROW_H
#define KYMO_PYTHON_ARROW_H

#include "reader.h"

/* ---- the interface of Arrow ---- */

#define ARROW_FLAG_NULLABLE 2

struct ArrowSchema {
  const char *format, *name, *metadata;
  int64_t flags, n_children;
  struct ArrowSchema **children, *dictionary;
  void (*release)(struct ArrowSchema *);
  void *private_data;
};

struct ArrowArray {
  int64_t length, null_count, offset, n_buffers, n_children;
  const void **buffers;
  struct ArrowArray **children, *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
  int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *);
  const char *(*get_last_error)(struct ArrowArrayStream *);
  void (*release)(struct ArrowArrayStream *);
  void *private_data;
};

/* ---- columns (arrow_columns.c) ---- */

struct buffer {
  uint8_t *bytes;
  size_t size, capacity;
};

enum column_kind {
  COLUMN_INTEGER, /* of `width` bytes, either sign */
  COLUMN_BOOLEAN,
  COLUMN_FLOAT, /* of `width` bytes */
  COLUMN_TEXT,
  COLUMN_BYTES,
  COLUMN_LABEL, /* an index of a name in `names` */
  COLUMN_FLAGS, /* a text of names */
  COLUMN_LIST,  /* one child */
  COLUMN_STRUCT,
  COLUMN_VARIANT, /* a struct with a child for each option, one of which is there */
};

/* Where the values of one field go: a column, and for labels and flags another one for the number; nowhere
 * if the column is NULL, for a hidden field. */
struct slot {
  struct column *column, *number;
};

struct column {
  enum column_kind kind;
  char *name;
  char format[12];
  unsigned width;
  const struct kymo_type *type; /* of a variant: for the options */
  struct slot *slots;           /* of members, options, or the element */
  size_t slot_count;
  struct column **children; /* all columns of the slots, in order */
  size_t child_count;
  char **names; /* of labels */
  size_t name_count;
  const struct kymo_type *known_type; /* the label that was looked for last */
  uint64_t known_value;
  int32_t known_label;
  /* rows */
  int64_t length, null_count;
  struct buffer validity, offsets, data;
};

/* NULL: out of memory. The caller frees the column. */
struct column *column_new(enum column_kind kind, const char *name, const char *format, unsigned width);
void column_free(struct column *column); /* NULL is fine */
/* Adds a slot, which takes the columns; both may be NULL. False: out of memory, and the columns are freed. */
bool column_add_slot(struct column *parent, struct column *column, struct column *number);
/* The columns of a field. False: out of memory. */
bool column_slot_of(struct slot *slot, const struct kymo_type *type, const char *name);
/* Whether two columns have the same names and types. NULL is allowed. */
bool column_is_same(const struct column *a, const struct column *b);

/* The functions below return false if memory is missing, or if a column gets too long. */
bool column_add_null(struct column *column);
bool column_add_integer(struct column *column, uint64_t bits);
bool column_add_text(struct column *column, const void *bytes, uint64_t count, enum kymo_encoding encoding);
bool slot_add_null(const struct slot *slot);
/* A value at which the walk is; its parts are read too. */
bool slot_add(const struct slot *slot, struct kymo_walk *walk, enum kymo_token token,
              const struct kymo_value *value);
/* Of a struct: the members of its slots are added. */
bool column_end_row(struct column *column);
/* Bytes of the largest buffer. */
size_t column_size(const struct column *column);

/* ---- export (arrow_export.c) ---- */

/* 0 or ENOMEM. */
int column_export_schema(const struct column *column, struct ArrowSchema *out);
/* Moves the rows; the column is empty afterwards. 0 or ENOMEM. */
int column_export(struct column *column, struct ArrowArray *out);

/* ---- tables (arrow_table.c) ---- */

/* The events of one class, or all events with what all have, as rows. */
struct table;
/* `class_name` NULL: all events. The table owns the reader from then on, also if it fails. */
int table_new(struct table **out, struct reader *reader, const char *class_name, struct kymo_error *error);
void table_free(struct table *table);
/* The next rows. *is_over: there are no more, and no rows. KYMO_OK or negative with the error. */
int table_read(struct table *table, bool *is_over, struct kymo_error *error);
struct column *table_columns(struct table *table);
struct reader *table_reader(struct table *table);

#endif
