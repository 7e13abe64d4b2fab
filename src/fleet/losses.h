/* SPDX-License-Identifier: MIT */
/* The tables of losses and of spans: those of kymo query, for each part of the traces. */
#ifndef KYMO_FLEET_LOSSES_H
#define KYMO_FLEET_LOSSES_H

#include "fleet/table.h"
#include "query/source.h"

/* Rows of a table for each part. */
struct fleet_sets {
  struct fleet_table *tables; /* by part */
  size_t count;
  struct kymo_arena arena;
  struct kymo_strbuf text;
  int status; /* of a handler that cannot return one … */
  struct kymo_error error;
};

int fleet_losses_begin(struct fleet_sets *sets, struct fleet_database *database,
                       const struct fleet_part *parts, size_t count, struct kymo_error *error);
/* The handler of losses; `user` is the struct fleet_sets. */
void fleet_losses_take(void *user, const struct kymo_loss *loss);

int fleet_spans_begin(struct fleet_sets *sets, struct fleet_database *database,
                      const struct fleet_part *parts, size_t count, struct kymo_error *error);
/* Reads the spans of all parts, if the traces have any, and sends them. */
int fleet_spans_send(struct fleet_sets *sets, struct query_source *source, struct kymo_error *error);

/* Makes the tables, also if they have no rows; sends the rest of the rows, and compares. */
int fleet_sets_finish(struct fleet_sets *sets, struct kymo_error *error);
void fleet_sets_end(struct fleet_sets *sets);

#endif
