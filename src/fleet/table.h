/* SPDX-License-Identifier: MIT */
/*
 * Tables of ClickHouse, and the batches of rows that are inserted into them.
 *
 *   rows ──► block ──full, or another day──► batch ──► one INSERT, which makes one part, or nothing
 *
 * A batch depends on the trace alone: the same trace is cut into the same batches each time. Each row has the
 * number of its batch, so the table itself says what is there:
 *
 *   INSERT INTO t (…) SELECT 'host', …, c0, c1 FROM batch
 *   WHERE (SELECT count() FROM t WHERE trace = … AND piece = … AND batch = …) = 0
 *
 * The rows are uploaded before the statement begins, and two statements of the same query_id do not run
 * at the same time. So the test and the insertion are one step for all senders.
 */
#ifndef KYMO_FLEET_TABLE_H
#define KYMO_FLEET_TABLE_H

#include "base/arena.h"
#include "fleet/block.h"
#include "fleet/http.h"

/* The servers of a database. */
struct fleet_database {
  struct fleet_server **servers; /* each has the rows of some traces */
  unsigned server_count;
  const char *cluster;      /* or NULL: one server */
  bool has_low_cardinality; /* what the version of the server can do: texts of few values as numbers … */
  bool has_codecs;          /* … and columns of differences */
  struct fleet_posts *posts;
};

/* A recording: what all of its rows have in common. */
struct fleet_part {
  const char *host, *process; /* process may be NULL */
  bool has_pid;
  int64_t pid; /* of all events whose contexts do not say it */
  char uuid[37];
  uint64_t piece; /* which of several parts of this UUID: a hash of where its streams begin */
  struct fleet_server *server;
};

/* One batch, as the table or as the sender knows it. */
struct fleet_batch {
  uint64_t piece, digest, rows;
  uint32_t batch;
  bool is_mixed; /* it has several digests */
};

struct fleet_batches {
  struct fleet_batch *list;
  size_t count, capacity;
};

struct fleet_table {
  struct fleet_database *database;
  const struct fleet_part *part; /* of the rows in the block */
  const char *name;              /* as users know it */
  const char *class_name;        /* a table of events: of this class; else NULL */
  const char *order;             /* the sorting key */
  const char *bounded[2];   /* columns of which the statement names the bounds: they find a batch; or NULL */
  uint32_t bounds[2];       /* … these in the block */
  uint32_t keeps;           /* a column with a value of its own in each row */
  const uint32_t *identity; /* columns that distinguish events, for the digest */
  uint32_t identity_count;
  struct fleet_block block;
  int64_t day;      /* of the rows in the block, since 1970 */
  bool is_ready;    /* the servers have all columns … */
  char **titles;    /* … by these names, by column; in the arena */
  char *local_name; /* of the table that has the rows, in the arena */
  bool has_ledger;
  struct fleet_batches there, cut; /* what the table had at the begin, and the batches that were cut so far */
  uint64_t cut_rows;               /* of all these batches */
  struct kymo_arena arena;
};

/* The days that ClickHouse's Date has. */
#define FLEET_DAY_MAX 65535

/* The names of the tables that are not of an event class, NULL at the end. */
extern const char *const fleet_reserved[];

/* Asks for the version. KYMO_E_SYSTEM, KYMO_E_UNKNOWN: it is too old. */
int fleet_database_open(struct fleet_database *database, struct fleet_server *server, const char *cluster,
                        unsigned jobs, struct kymo_error *error);
void fleet_database_close(struct fleet_database *database);
/* Makes the table of all events, which reads the tables of the classes; it has the columns of `like`. */
int fleet_make_events(struct fleet_table *like, struct kymo_error *error);
/* Makes the table and adds its missing columns. */
int fleet_table_make(struct fleet_table *table, struct kymo_error *error);
/* Sends the rows of the block as a batch, unless the table has it; the block is empty then. */
int fleet_table_flush(struct fleet_table *table, struct kymo_error *error);
/* Compares what the table has of the part with what was cut. Everything is sent. */
int fleet_table_check(struct fleet_table *table, struct kymo_error *error);
/* For rows of another part. */
void fleet_table_reset(struct fleet_table *table, const struct fleet_part *part);
void fleet_table_free(struct fleet_table *table);

#endif
