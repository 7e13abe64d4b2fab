/* SPDX-License-Identifier: MIT */
/* The text of an event whose class has a format as print template (schema/message.h). */
#ifndef KYMO_DECODE_MESSAGE_H
#define KYMO_DECODE_MESSAGE_H

#include "base/arena.h"
#include "base/strbuf.h"
#include <kymo/read.h>

struct kymo_message;

/* A class's parsed format, in the arena. NULL: it has none, or one that does not fit the fields (the writer
 * of the trace did not check it), which are then shown as fields; or there is no memory. */
const struct kymo_message *kymo_message_new(struct kymo_arena *arena, const struct kymo_event_class *class_);

/* Whether the text shows the payload's member of this index. */
bool kymo_message_shows(const struct kymo_message *message, uint32_t index);

/* Adds the text of an event of that class to `out`, as printf would print it. False: the event's bytes do not
 * fit its type, or there is no memory (out->failed). */
bool kymo_message_add(const struct kymo_message *message, const struct kymo_event *event,
                      struct kymo_strbuf *out);

/* Bytes of the text in one line: a line feed at its end is that of the line. */
static inline size_t kymo_message_line(const struct kymo_strbuf *text) {
  return text->length && text->text[text->length - 1] == '\n' ? text->length - 1 : text->length;
}

#endif
