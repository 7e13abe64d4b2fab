/* SPDX-License-Identifier: MIT */
/* Tables of commands whose rows are known before the first is printed: as wide as their texts, or as the
 * terminal (stat/table.h). */
#ifndef KYMO_TOOL_GRID_H
#define KYMO_TOOL_GRID_H

#include "stat/table.h"
#include <stddef.h>

struct tool_grid {
  const struct kymo_column *columns; /* set by the owner */
  unsigned count;                    /* of columns */
  char **cells;
  size_t rows, room;
};

/* Adds a row of copies of these texts, one for each column. Ends the command if there is no memory. */
void tool_grid_add(struct tool_grid *grid, const char *const *cells);
/* Prints the titles, if the columns have any, and the rows; nothing if there are no rows. Control characters
 * in texts become question marks. */
void tool_grid_print(const struct tool_grid *grid);
void tool_grid_free(struct tool_grid *grid);

#endif
