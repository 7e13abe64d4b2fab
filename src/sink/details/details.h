/* SPDX-License-Identifier: MIT */
/*
 * The output of `babeltrace2 … -c sink.text.details`, in three files:
 *
 *   details.c             messages: begin and end of streams and packets, events, losses
 *   class.c       the trace class with all that is in it, before the first message of a trace
 *   value.c       numbers with their digits in groups, and user attributes
 */
#ifndef KYMO_SINK_DETAILS_DETAILS_H
#define KYMO_SINK_DETAILS_DETAILS_H

#include "base/strbuf.h"
#include "print/names.h"

/* Space for any number of the next two functions. */
#define KYMO_DETAILS_NUMBER 40

/* In base 10: 1,234,567 (but 1234); in base 8: 01:234:567; in base 16, and 2: 0x12:3456. */
char *kymo_details_put_unsigned(char *at, uint64_t value, unsigned base);
/* The same for a signed number: its amount, after a sign. */
char *kymo_details_put_signed(char *at, int64_t value, unsigned base);

/* The maximum size of a trace class in bytes: the text of types that contain one another twice can grow
 * without limit. */
#define KYMO_DETAILS_MAX (64u << 20)

/* A text that grows line by line. */
struct kymo_details {
  struct kymo_strbuf text;
  unsigned indent;
  bool is_too_long;
  bool as_2_0; /* as babeltrace2 2.0 prints, else as 2.1 does */
};

/* Spaces up to the begin of the line's text. */
void kymo_details_indent(struct kymo_details *details);
void kymo_details_unsigned(struct kymo_details *details, uint64_t value);
void kymo_details_signed(struct kymo_details *details, int64_t value);
/* "NAME: VALUE\n". */
void kymo_details_line(struct kymo_details *details, const char *name, const char *value);
/* User attributes as JSON (CTF 2): "User attributes:" and the lines of all values, without the last newline.
 * False, and nothing is printed, if there are none. */
bool kymo_details_attributes(struct kymo_details *details, const char *json);
/* A text in kymo's attributes of identity (namespace, uid; see lang/ctf2/attributes.c), or NULL; the caller
 * frees it. */
char *kymo_details_identity(const char *json, const char *property);

/* The trace class of a schema. `names` are those of its part. */
void kymo_details_trace_class(struct kymo_details *details, const struct kymo_schema *schema,
                              const struct kymo_names_part *names);
/* Namespace and UID of a trace, each or NULL; the caller frees them. For CTF 1.8, LTTng is recognised by its
 * environment. */
struct kymo_details_trace {
  char *space, *uid;
  bool failed; /* memory ran out */
};
struct kymo_details_trace kymo_details_trace_of(const struct kymo_schema *schema);
/* " (Namespace `…`, UID `…`)" of the trace, or nothing: 2.1. */
void kymo_details_trace_identity(struct kymo_details *details, const struct kymo_schema *schema);

#endif
