/* SPDX-License-Identifier: MIT */
/*
 * Values of columns, as SQLite gets them, and as tests compare them. They go to the result of a column, or
 * to a parameter of a statement that inserts a row.
 */
#ifndef KYMO_QUERY_VALUE_H
#define KYMO_QUERY_VALUE_H

#include "query/columns.h"
#include "query/sqlite.h"

/* Numbers of 2^63 and more, as texts, that were among values: their order is wrong if both lengths are. */
enum query_large { QUERY_LARGE_19 = 1, QUERY_LARGE_20 = 2 };
static inline unsigned query_large_of(size_t digits) { return digits < 20 ? QUERY_LARGE_19 : QUERY_LARGE_20; }

/* Where a value goes. Nothing put there is NULL. */
struct query_out {
  sqlite3_context *context; /* NULL: to the statement */
  sqlite3_stmt *statement;
  int parameter;
  int status;     /* of the statement: the last error */
  unsigned large; /* enum query_large */
};

static inline void query_out_note(struct query_out *out, int status) {
  if (status != SQLITE_OK)
    out->status = status;
}
static inline void query_out_integer(struct query_out *out, int64_t value) {
  if (out->context)
    sqlite3_result_int64(out->context, value);
  else
    query_out_note(out, sqlite3_bind_int64(out->statement, out->parameter, value));
}
static inline void query_out_real(struct query_out *out, double value) {
  if (out->context)
    sqlite3_result_double(out->context, value);
  else
    query_out_note(out, sqlite3_bind_double(out->statement, out->parameter, value));
}
/* UTF-8, which is copied. */
static inline void query_out_text(struct query_out *out, const char *text, uint64_t length) {
  if (out->context)
    sqlite3_result_text64(out->context, text, length, SQLITE_TRANSIENT, SQLITE_UTF8);
  else
    query_out_note(out, sqlite3_bind_text64(out->statement, out->parameter, text, length, SQLITE_TRANSIENT,
                                            SQLITE_UTF8));
}
static inline void query_out_blob(struct query_out *out, const void *bytes, uint64_t count) {
  if (out->context)
    sqlite3_result_blob64(out->context, bytes, count, SQLITE_TRANSIENT);
  else
    query_out_note(out, sqlite3_bind_blob64(out->statement, out->parameter, bytes, count, SQLITE_TRANSIENT));
}
static inline void query_out_no_memory(struct query_out *out) {
  if (out->context)
    sqlite3_result_error_nomem(out->context);
  else
    out->status = SQLITE_NOMEM;
}

/* The value of a column of the current event. */
void query_put_column(struct query_out *out, struct query_reader *reader, const struct kymo_event *event,
                      const struct query_columns *columns, uint32_t column);

/* Integers of 64 bits without a sign: an INTEGER below 2^63, else the text of the digits. */
void query_put_unsigned(struct query_out *out, uint64_t value);
/* A text in any encoding as UTF-8; what is no character becomes U+FFFD. `text` is used for it. */
void query_put_text(struct query_out *out, struct kymo_strbuf *text, const uint8_t *bytes, uint64_t count,
                    enum kymo_encoding encoding);

/* Adds a text in any encoding as UTF-8. */
void query_add_text(struct kymo_strbuf *text, const uint8_t *bytes, uint64_t count,
                    enum kymo_encoding encoding);
/* Adds "A|C|8": names of flags, and the bits without a name as a number; of an enumeration the first name.
 * False: the value has none. */
bool query_add_label(struct kymo_strbuf *out, const struct kymo_type *type, uint64_t value);

/* ---- properties of every event ---- */

/* The name and the number of the process that recorded the part; NULL and false: unknown. */
const char *query_process_of(const struct kymo_part *part);
bool query_pid_of(struct query_reader *reader, const struct kymo_event *event, int64_t *pid);
/* The number for all events of a part; and whether events of a class have one of their own. */
bool query_part_pid(const struct kymo_part *part, int64_t *pid);
bool query_has_pid(struct query_reader *reader, const struct kymo_event_class *class_);
/* The number of the event's stream: as its trace numbers it, or its place among the streams. */
uint64_t query_stream_of(const struct kymo_event *event);

#endif
