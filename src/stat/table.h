/* SPDX-License-Identifier: MIT */
/*
 * Tables for people: columns of numbers and one of names, as wide as they need, or as the terminal is. On a
 * narrow terminal, columns are left out by their rank, then names are cut in the middle.
 */
#ifndef KYMO_STAT_TABLE_H
#define KYMO_STAT_TABLE_H

#include "base/strbuf.h"

enum { KYMO_TABLE_COLUMNS = 16, KYMO_TABLE_NAME_LEAST = 16 };

struct kymo_column {
  const char *title; /* NULL: the table has no line of titles */
  int width;         /* of numbers: at least; of names: cut to less only after other columns are left out */
  unsigned rank;     /* 0: never left out; else those of the highest rank are left out first */
  enum kymo_cell {
    KYMO_CELL_NUMBER, /* aligned to the right, as texts below to the left */
    KYMO_CELL_NAME,   /* as wide as the longest one, or the remaining width: one column */
    KYMO_CELL_TEXT,
  } kind;
};

struct kymo_table {
  const struct kymo_column *columns;
  unsigned count;
  bool is_cut;                    /* names are cut to their column */
  int widths[KYMO_TABLE_COLUMNS]; /* -1: left out */
};

/* The number of terminal columns of a text: its characters. */
int kymo_text_width(const char *text);
/* Computes the widths: `name_width` is that of the longest name, `width` that of the terminal, 0 if there is
 * none. Titles count too. */
void kymo_table_begin(struct kymo_table *table, const struct kymo_column *columns, unsigned count,
                      int name_width, int width);
/* Adds the titles, and a row with one cell for each column, each as a line. Cells are safe for a terminal. */
void kymo_table_head(const struct kymo_table *table, struct kymo_strbuf *out);
void kymo_table_row(const struct kymo_table *table, const char *const *cells, struct kymo_strbuf *out);

#endif
