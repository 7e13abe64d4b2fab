/* SPDX-License-Identifier: MIT */
#include "tool/grid.h"
#include "base/list.h"
#include "live/client.h"
#include "tool/tool.h"
#include <stdlib.h>
#include <string.h>

void tool_grid_add(struct tool_grid *grid, const char *const *cells) {
  if (!KYMO_LIST_ROOM_OF(grid->count * sizeof *grid->cells, grid->cells, grid->room, grid->rows))
    tool_end_without_memory();
  for (unsigned i = 0; i < grid->count; i++) {
    char *copy = strdup(cells[i] ? cells[i] : "");
    if (!copy)
      tool_end_without_memory();
    for (char *at = copy; *at; at++) /* a row is one line */
      if ((unsigned char)*at < ' ' || *at == 127)
        *at = '?';
    grid->cells[grid->rows * grid->count + i] = copy;
  }
  grid->rows++;
}

void tool_grid_print(const struct tool_grid *grid) {
  struct kymo_column columns[KYMO_TABLE_COLUMNS];
  struct kymo_table table;
  struct kymo_strbuf line = {0};
  int name = 0;
  if (!grid->rows)
    return;
  memcpy(columns, grid->columns, grid->count * sizeof *columns);
  for (size_t i = 0; i < grid->rows * grid->count; i++) {
    struct kymo_column *column = &columns[i % grid->count];
    int width = kymo_text_width(grid->cells[i]);
    if (column->kind == KYMO_CELL_NAME)
      name = width > name ? width : name;
    else if (width > column->width)
      column->width = width;
  }
  kymo_table_begin(&table, columns, grid->count, name, tool_columns());
  if (columns[0].title)
    kymo_table_head(&table, &line);
  for (size_t i = 0; i < grid->rows; i++)
    kymo_table_row(&table, (const char *const *)&grid->cells[i * grid->count], &line);
  if (line.failed)
    tool_end_without_memory();
  fputs(line.text, stdout);
  kymo_strbuf_free(&line);
}

void tool_grid_free(struct tool_grid *grid) {
  for (size_t i = 0; i < grid->rows * grid->count; i++)
    free(grid->cells[i]);
  free(grid->cells);
  grid->cells = NULL;
  grid->rows = grid->room = 0;
}
