/* SPDX-License-Identifier: MIT */
/* The fields of an event as JSON, for exports that show them beside a slice. */
#ifndef KYMO_SINK_EXPORT_ARGUMENTS_H
#define KYMO_SINK_EXPORT_ARGUMENTS_H

#include "base/strbuf.h"
#include <kymo/read.h>

struct kymo_arguments {
  struct kymo_walk *walk;
  struct kymo_strbuf text, message;
};

/* False: out of memory. */
bool kymo_arguments_begin(struct kymo_arguments *arguments);
void kymo_arguments_end(struct kymo_arguments *arguments);
/* The event's message, of a class with a format; NULL: it has none, or memory ran out (message.failed). Valid
 * until the next call. */
const char *kymo_arguments_message(struct kymo_arguments *arguments, const struct kymo_event *event,
                                   size_t *length);
/* Adds "message":"…","port":80,…, without brackets, to `text`, which is empty before; as docs/json.md
 * describes values. */
void kymo_arguments_add(struct kymo_arguments *arguments, const struct kymo_event *event);

#endif
