/* SPDX-License-Identifier: MIT */
#include "fleet/fleet.h"
#include "base/fail.h"
#include "fleet/events.h"
#include "fleet/losses.h"
#include "fleet/part.h"
#include <stdlib.h>

struct sending {
  const struct fleet_options *options;
  struct query_source *source;
  struct fleet_database database;
  struct fleet_part *parts;
  size_t part_count;
  struct fleet_events events;
  struct fleet_sets losses, spans;
};

static int no_memory(struct kymo_error *error) { return kymo_fail(error, KYMO_E_MEMORY, "out of memory"); }

static int connect_to(struct sending *sending, struct kymo_error *error) {
  const struct fleet_options *options = sending->options;
  struct fleet_server *server;
  int status = fleet_server_new(&server, options->url, error);
  if (status == KYMO_OK)
    status = fleet_database_open(&sending->database, server, options->cluster, options->jobs, error);
  return status;
}

static int describe_parts(struct sending *sending, struct kymo_error *error) {
  const struct kymo_trace *trace = sending->source->first->trace;
  size_t count = sending->part_count = kymo_trace_part_count(trace);
  int status = KYMO_OK;
  sending->parts = calloc(count + 1, sizeof *sending->parts);
  if (!sending->parts)
    return no_memory(error);
  for (size_t i = 0; status == KYMO_OK && i < count; i++)
    status =
        fleet_part_describe(&sending->parts[i], trace, kymo_trace_part(trace, i), &sending->database, error);
  return status;
}

static int make_events(struct sending *sending, struct kymo_error *error) {
  struct fleet_column columns[FLEET_EVENT_COLUMNS];
  struct fleet_table like = {.database = &sending->database, .name = "events", .class_name = "events"};
  fleet_events_columns(&like, columns);
  int status = fleet_make_events(&like, error);
  kymo_arena_free(&like.arena);
  return status;
}

static int begin(struct sending *sending, struct kymo_error *error) {
  struct fleet_database *database = &sending->database;
  int status = connect_to(sending, error);
  if (status == KYMO_OK)
    status = describe_parts(sending, error);
  if (status == KYMO_OK)
    status = fleet_losses_begin(&sending->losses, database, sending->parts, sending->part_count, error);
  if (status == KYMO_OK)
    status = fleet_spans_begin(&sending->spans, database, sending->parts, sending->part_count, error);
  if (status == KYMO_OK)
    status = make_events(sending, error);
  if (status == KYMO_OK)
    status = fleet_events_begin(&sending->events, database, sending->source, sending->parts, error);
  for (uint32_t i = 0; status == KYMO_OK && i < sending->source->kind_count; i++)
    sending->events.kinds[i].is_wanted =
        !sending->options->wants ||
        sending->options->wants(sending->options->user, sending->source->kinds[i]);
  return status;
}

/* Reads the streams one after another. */
static int send_events(struct sending *sending, struct kymo_error *error) {
  struct query_window all = {.begin_ns = INT64_MIN, .end_ns = INT64_MAX};
  struct query_reader *reader = sending->events.reader;
  const struct kymo_event *event;
  kymo_trace_set_loss_handler(reader->trace, fleet_losses_take, &sending->losses);
  int status = query_reader_begin(reader, &all, error);
  while (status == KYMO_OK && (status = query_reader_next(reader, &event, error)) == KYMO_OK)
    status = fleet_events_take(&sending->events, event, error);
  kymo_trace_set_loss_handler(reader->trace, NULL, NULL);
  return status == KYMO_END ? fleet_events_finish(&sending->events, error) : status;
}

int fleet_send(const struct fleet_options *options, struct query_source *source, struct kymo_error *error) {
  struct sending sending = {.options = options, .source = source};
  int status = begin(&sending, error);
  if (status == KYMO_OK)
    status = send_events(&sending, error);
  if (status == KYMO_OK)
    status = fleet_sets_finish(&sending.losses, error);
  if (status ==
      KYMO_OK) /* the reader of events is in use: spans are read in the order of time by another one */
    status = fleet_spans_send(&sending.spans, source, error);
  if (status == KYMO_OK)
    status = fleet_sets_finish(&sending.spans, error);
  fleet_posts_free(sending.database.posts); /* while what it sends is there */
  sending.database.posts = NULL;
  if (sending.events.source)
    fleet_events_end(&sending.events);
  fleet_sets_end(&sending.losses);
  fleet_sets_end(&sending.spans);
  free(sending.parts);
  fleet_database_close(&sending.database);
  return status;
}

int fleet_query(const char *url, const char *sql, struct kymo_strbuf *answer, struct kymo_error *error) {
  struct fleet_server *server;
  int status = fleet_server_new(&server, url, error);
  if (status == KYMO_OK)
    status = fleet_ask(server, sql, answer, NULL, error);
  fleet_server_free(server);
  return status;
}
