/* SPDX-License-Identifier: MIT */
/*
 * Traces in tables of ClickHouse: one table for each name of event classes, `spans`, `losses`, and `events`,
 * which reads the tables of the classes. Each event is there exactly once, however often its trace is
 * sent and whatever breaks meanwhile (fleet/table.h).
 */
#ifndef KYMO_FLEET_FLEET_H
#define KYMO_FLEET_FLEET_H

#include "base/strbuf.h"
#include <kymo/read.h>

struct query_source;

struct fleet_options {
  const char *url;                                   /* http://[USER[:PASSWORD]@]HOST:PORT/DATABASE */
  const char *cluster;                               /* whose servers share the traces; or NULL */
  unsigned jobs;                                     /* batches that are sent at a time */
  bool (*wants)(void *user, const char *class_name); /* which events; NULL: all */
  void *user;
};

/* Sends all traces of a source, whose first reader delivers streams one after another. KYMO_OK, or negative
 * with the error: KYMO_E_USAGE for the address, KYMO_E_SYSTEM for what the server refuses. */
int fleet_send(const struct fleet_options *options, struct query_source *source, struct kymo_error *error);

/* Runs one statement there; *answer becomes its rows, in the format that the statement names. */
int fleet_query(const char *url, const char *sql, struct kymo_strbuf *answer, struct kymo_error *error);

#endif
