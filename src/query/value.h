/* SPDX-License-Identifier: MIT */
/* Values of columns, as SQLite gets them, and as tests compare them. */
#ifndef KYMO_QUERY_VALUE_H
#define KYMO_QUERY_VALUE_H

#include "query/columns.h"
#include "query/sqlite.h"

/* The result of a column of the current event. */
void query_put_column(sqlite3_context *context, struct query_reader *reader, const struct kymo_event *event,
                      const struct query_columns *columns, uint32_t column);

/* Integers of 64 bits without a sign: an INTEGER below 2^63, else the text of the digits. */
void query_put_unsigned(sqlite3_context *context, uint64_t value);
/* A text in any encoding as UTF-8; what is no character becomes U+FFFD. `text` is used for it. */
void query_put_text(sqlite3_context *context, struct kymo_strbuf *text, const uint8_t *bytes, uint64_t count,
                    enum kymo_encoding encoding);

/* ---- properties of every event ---- */

/* The name and the number of the process that recorded the part; NULL and false: unknown. */
const char *query_process_of(const struct kymo_part *part);
bool query_pid_of(struct query_reader *reader, const struct kymo_event *event, int64_t *pid);
/* The number of the event's stream: as its trace numbers it, or its place among the streams. */
uint64_t query_stream_of(const struct kymo_event *event);

#endif
