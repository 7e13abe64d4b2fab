/* SPDX-License-Identifier: MIT */
/*
 * Rows of events. There is a table for each name of event classes, as those of kymo query: the columns of
 * every event, then one for each field (query/columns.h).
 */
#ifndef KYMO_FLEET_EVENTS_H
#define KYMO_FLEET_EVENTS_H

#include "fleet/queue.h"
#include "fleet/table.h"
#include "query/columns.h"

/* A field of an event class, and the column of its values. */
struct fleet_field {
  uint32_t column, id;
  enum query_get get;
  const struct kymo_type *type;
  struct near near; /* of a number that one load reads */
};

struct fleet_fields {
  bool is_set, has_pid;
  const struct kymo_event_plan *plan; /* of events that have such numbers */
  struct fleet_field *list;
  uint32_t count;
  uint32_t *absent; /* columns that the class does not have */
  uint32_t absent_count;
  struct fleet_quick quick;
};

/* What the steady columns of an event are made of; all of one size, so that they are compared as they were
 * stored, without waiting. */
struct fleet_steady {
  uint64_t packet;      /* the number of the packet among all that are read */
  uint64_t who_version; /* of the writer */
  uint64_t error_ns;    /* of the clock */
  uint64_t class_number, has_pid;
  int64_t pid;
  bool is_of_packet;          /* they are the same for all events of this class in the packet … */
  struct kymo_packet_key key; /* … which is this one */
};

/* The table of the classes of one name. */
struct fleet_kind {
  struct fleet_table table;
  struct query_columns columns;
  bool is_set, is_wanted;
  struct fleet_steady steady; /* of the last row */
  struct fleet_queue queue;   /* the rows after it */
};

/* How far the reading of a stream is. */
struct fleet_place {
  const struct kymo_stream *stream;
  uint64_t offset, begin_cycles; /* of the packet */
  uint64_t ordinal;              /* of the packet among those of the stream that have events */
  uint64_t packet, seq;          /* the columns of the next event */
  uint64_t number;               /* of the packet among all that are read */
};

struct fleet_events {
  struct fleet_database *database;
  struct query_source *source;
  struct query_reader *reader;
  const struct fleet_part *parts; /* by index */
  const struct fleet_part *part;  /* of the rows in the blocks */
  struct fleet_kind *kinds;       /* by kind of the source */
  struct fleet_fields *fields;    /* by class number */
  struct fleet_place place;
  struct kymo_strbuf text;
  struct kymo_arena arena;
  uint64_t taken; /* of the part */
  size_t snapshot_count;
  size_t snapshot; /* the first clock snapshot of the part after the current event */
};

int fleet_events_begin(struct fleet_events *events, struct fleet_database *database,
                       struct query_source *source, const struct fleet_part *parts, struct kymo_error *error);
int fleet_events_take(struct fleet_events *events, const struct kymo_event *event, struct kymo_error *error);
/* The rows so far are sent, and compared with the tables. */
int fleet_events_finish(struct fleet_events *events, struct kymo_error *error);
void fleet_events_end(struct fleet_events *events);

/* The columns of every event, for the table of all events. */
void fleet_events_columns(struct fleet_table *table, struct fleet_column *columns);
enum { FLEET_EVENT_COLUMNS = 10 };

/* ---- for other rows ---- */

/* Puts a text of a trace as UTF-8; what is no character becomes U+FFFD. */
void fleet_put_utf8(struct fleet_block *block, uint32_t column, struct kymo_strbuf *scratch,
                    const uint8_t *bytes, uint64_t count, enum kymo_encoding encoding);
/* The day of a time, as ClickHouse counts them, and the first and the last time of a day. */
#define FLEET_DAY_NS INT64_C(86400000000000)
static inline int64_t fleet_day_of(int64_t time_ns, bool is_epoch) {
  int64_t day = is_epoch && time_ns > 0 ? time_ns / FLEET_DAY_NS : 0;
  return day < FLEET_DAY_MAX ? day : FLEET_DAY_MAX;
}
static inline int64_t fleet_day_begin(int64_t day, bool is_epoch) {
  return is_epoch && day > 0 ? day * FLEET_DAY_NS : INT64_MIN;
}
static inline int64_t fleet_day_end(int64_t day, bool is_epoch) {
  return is_epoch && day < FLEET_DAY_MAX ? (day + 1) * FLEET_DAY_NS - 1 : INT64_MAX;
}
/* Looks after each FLEET_LOOK_ROWS rows whether a batch is complete. */
#define FLEET_LOOK_ROWS 1024
int fleet_table_look(struct fleet_table *table, int64_t day, struct kymo_error *error);
/* Begins a row, after sending the rows so far if there are enough or if the day changes. */
static inline int fleet_table_row(struct fleet_table *table, int64_t day, struct kymo_error *error) {
  const struct fleet_block *block = &table->block;
  if (block->rows % FLEET_LOOK_ROWS && day == table->day && !block->failed)
    return KYMO_OK;
  return fleet_table_look(table, day, error);
}

#endif
