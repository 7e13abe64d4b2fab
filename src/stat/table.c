/* SPDX-License-Identifier: MIT */
#include "stat/table.h"
#include "base/utf8.h"
#include <string.h>

enum { GAP = 2 };
static const char ellipsis[] = "...";

int kymo_text_width(const char *text) {
  int width = 0;
  for (; *text; text++)
    width += kymo_begins_character(*text);
  return width;
}

/* ---- widths ---- */

/* With the name column as wide as necessary, or at its minimum. */
static int whole_width(const struct kymo_table *table, int name_width) {
  int width = -GAP;
  for (unsigned i = 0; i < table->count; i++)
    if (table->widths[i] >= 0)
      width += GAP + (table->columns[i].kind == KYMO_CELL_NAME ? name_width : table->widths[i]);
  return width;
}

/* The column to leave out next, or -1. */
static int least_needed(const struct kymo_table *table) {
  int found = -1;
  for (unsigned i = 0; i < table->count; i++)
    if (table->widths[i] >= 0 && table->columns[i].rank > (found < 0 ? 0 : table->columns[found].rank))
      found = (int)i;
  return found;
}

void kymo_table_begin(struct kymo_table *table, const struct kymo_column *columns, unsigned count,
                      int name_width, int width) {
  *table = (struct kymo_table){.columns = columns,
                               .count = count < KYMO_TABLE_COLUMNS ? count : KYMO_TABLE_COLUMNS};
  unsigned name = 0;
  for (unsigned i = 0; i < table->count; i++) {
    int title = columns[i].title ? kymo_text_width(columns[i].title) : 0;
    if (columns[i].kind == KYMO_CELL_NAME)
      name = i;
    table->widths[i] = columns[i].kind == KYMO_CELL_NAME ? (name_width > title ? name_width : title)
                       : title > columns[i].width        ? title
                                                         : columns[i].width;
  }
  int wanted = table->widths[name], next;
  int least = wanted < KYMO_TABLE_NAME_LEAST ? wanted : KYMO_TABLE_NAME_LEAST;
  int first = columns[name].width < least    ? least
              : wanted < columns[name].width ? wanted
                                             : columns[name].width;
  if (width <= 0)
    return;
  while (whole_width(table, first) > width && (next = least_needed(table)) >= 0)
    table->widths[next] = -1;
  int room = width - whole_width(table, 0);
  if (room < wanted) {
    table->widths[name] = room < least ? least : room;
    table->is_cut = true;
  }
}

/* ---- rows ---- */

/* `count` characters of a text, from one on. */
static void add_part(struct kymo_strbuf *out, const char *text, int from, int count) {
  const char *begin = NULL, *at = text;
  for (int seen = 0;; at++) {
    bool is_begin = kymo_begins_character(*at);
    if (is_begin && seen == from && !begin)
      begin = at;
    if (!*at || (is_begin && seen == from + count))
      break;
    seen += is_begin;
  }
  if (begin)
    kymo_strbuf_add(out, begin, (size_t)(at - begin));
}

static void add_blanks(struct kymo_strbuf *out, int count) {
  if (count > 0)
    kymo_strbuf_printf(out, "%*s", count, "");
}

static void add_name(const struct kymo_table *table, const char *text, int width, bool is_last,
                     struct kymo_strbuf *out) {
  int whole = kymo_text_width(text), marks = (int)sizeof ellipsis - 1;
  if (table->is_cut && whole > width && width > marks) { /* in the middle: names often differ at their ends */
    int after = (width - marks) / 3;
    add_part(out, text, 0, width - marks - after);
    kymo_strbuf_puts(out, ellipsis);
    add_part(out, text, whole - after, after);
    return;
  }
  kymo_strbuf_puts(out, text);
  if (!is_last)
    add_blanks(out, width - whole);
}

static bool is_last(const struct kymo_table *table, unsigned column) {
  while (++column < table->count)
    if (table->widths[column] >= 0)
      return false;
  return true;
}

void kymo_table_row(const struct kymo_table *table, const char *const *cells, struct kymo_strbuf *out) {
  bool is_first = true;
  for (unsigned i = 0; i < table->count; i++) {
    if (table->widths[i] < 0)
      continue;
    add_blanks(out, is_first ? 0 : GAP);
    is_first = false;
    if (table->columns[i].kind == KYMO_CELL_NAME)
      add_name(table, cells[i], table->widths[i], is_last(table, i), out);
    else {
      int blanks = table->widths[i] - kymo_text_width(cells[i]);
      bool is_left = table->columns[i].kind == KYMO_CELL_TEXT;
      add_blanks(out, is_left ? 0 : blanks);
      kymo_strbuf_puts(out, cells[i]);
      add_blanks(out, is_left && !is_last(table, i) ? blanks : 0);
    }
  }
  kymo_strbuf_puts(out, "\n");
}

void kymo_table_head(const struct kymo_table *table, struct kymo_strbuf *out) {
  const char *titles[KYMO_TABLE_COLUMNS];
  for (unsigned i = 0; i < table->count; i++)
    titles[i] = table->columns[i].title;
  kymo_table_row(table, titles, out);
}
