/* SPDX-License-Identifier: MIT */
/*
 * A block of rows in memory, by columns, and its bytes as ClickHouse's format Native:
 *
 * number of columns, number of rows, then of each column: name, type, [a byte for each row: is NULL],
 * values
 *
 * Integers are as wide as the largest one of the block needs, texts have their length before them. A
 * column with one value in all rows is not a part of the bytes but a constant in the statement that
 * inserts them; in memory it is this value alone, until another one comes.
 */
#ifndef KYMO_FLEET_BLOCK_H
#define KYMO_FLEET_BLOCK_H

#include "base/strbuf.h"
#include <string.h>

enum fleet_type { FLEET_I64, FLEET_U64, FLEET_F64, FLEET_TEXT };

struct fleet_column {
  const char *name; /* borrowed */
  enum fleet_type type;
  bool may_be_null, is_label; /* a label: one of few texts */
  /* of the rows so far */
  bool differs;      /* they are listed, as they may have several values … */
  bool has_nulls;    /* some are NULL; all are, if they are not listed */
  uint64_t first;    /* … else all are this number, or the one text in `texts` */
  uint8_t *nulls;    /* if they are listed and has_nulls */
  uint64_t *numbers; /* if they are listed */
  uint32_t capacity, null_capacity;
  struct kymo_strbuf texts; /* each with its length before it … */
  size_t head;              /* … which is this long for the first one */
  size_t last, last_head;   /* where the last one begins, and the same of it */
  unsigned width;           /* bytes of each number, as it is sent */
};

struct fleet_block {
  struct fleet_column *columns;
  uint32_t column_count, rows;
  const uint32_t *steady; /* columns that are often the same in many rows, one after another */
  uint32_t steady_count;
  uint32_t repeats; /* the last rows, which have the steady columns of the row before them: not stored yet */
  bool failed;      /* out of memory */
};

/* The ClickHouse name of a column's type, without Nullable. */
const char *fleet_type_name(enum fleet_type type);

/* Each column of a row is put once, in any order; then the row is counted … */
static inline void fleet_block_end_row(struct fleet_block *block) { block->rows++; }
/* … or each but the steady ones, which are those of the row before it. There is one. */
static inline void fleet_block_end_repeated(struct fleet_block *block) {
  block->rows++;
  block->repeats++;
}
static inline void fleet_block_end_many(struct fleet_block *block, uint32_t count) {
  block->rows += count;
  block->repeats += count;
}
/* Stores what is repeated: before another value of a steady column, and before anything below. */
void fleet_block_settle(struct fleet_block *block);

/* What a number that is not that of all rows so far does. */
void fleet_put_other(struct fleet_block *block, struct fleet_column *column, uint64_t value);
static inline void fleet_put_number(struct fleet_block *block, uint32_t column, uint64_t value) {
  struct fleet_column *to = &block->columns[column];
  if (to->differs && !to->has_nulls && block->rows < to->capacity)
    to->numbers[block->rows] = value;
  else if (to->differs || !block->rows || to->has_nulls || to->first != value)
    fleet_put_other(block, to, value);
}
/* The same for the numbers of the next `count` rows. */
void fleet_put_numbers(struct fleet_block *block, uint32_t column, const uint64_t *values, uint32_t count);
/* NULL in a column that has had nothing else is the common case. */
void fleet_put_other_null(struct fleet_block *block, struct fleet_column *column);
static inline void fleet_put_null(struct fleet_block *block, uint32_t column) {
  struct fleet_column *to = &block->columns[column];
  if (to->differs || !block->rows || !to->has_nulls)
    fleet_put_other_null(block, to);
}
void fleet_put_text(struct fleet_block *block, uint32_t column, const char *text, size_t length);

/* About the bytes that the rows are when they are sent, and those of memory that they take. */
size_t fleet_block_bytes(const struct fleet_block *block);
size_t fleet_block_held(const struct fleet_block *block);
/* Adds the declarations of a table of the block's columns, "c0 UInt64,c1 …", and makes the block ready for
 * fleet_block_encode. `keeps` is a column that is always a part of it. */
void fleet_block_declare(struct fleet_block *block, uint32_t keeps, struct kymo_strbuf *structure);
/* Adds the block as bytes of Native, whose columns are c0, c1, … */
void fleet_block_encode(const struct fleet_block *block, uint32_t keeps, struct kymo_strbuf *bytes);
/* Adds what the columns are in the statement: c0 or a constant, with commas between them. */
void fleet_block_select(const struct fleet_block *block, uint32_t keeps, struct kymo_strbuf *sql);
/* A hash of the rows of some columns, of numbers. */
uint64_t fleet_block_digest(const struct fleet_block *block, const uint32_t *columns, uint32_t count);
/* No rows; the space stays. */
void fleet_block_clear(struct fleet_block *block);
/* Frees what the columns hold; not the columns. */
void fleet_block_free(struct fleet_block *block);

/* ---- SQL ---- */

/* A name or a text as ClickHouse spells it. */
void fleet_add_name(struct kymo_strbuf *out, const char *name);
void fleet_add_text(struct kymo_strbuf *out, const char *text, size_t length);

#endif
