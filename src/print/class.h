/* SPDX-License-Identifier: MIT */
/*
 * Event classes as text: name, level, source line, what they begin or end, description, fields.
 *
 *   net:rx  info  src/net.c:120  "a packet was received"
 *     port   unsigned short u16
 *     state  enum conn_state u8 { OPEN = 1, CLOSED = 2 }
 *     where  struct point
 *       x  int i32
 */
#ifndef KYMO_PRINT_CLASS_H
#define KYMO_PRINT_CLASS_H

#include "base/strbuf.h"
#include <kymo/schema.h>

/* Adds the lines of a class; `brief`: its name alone. Names are as in the trace. */
void kymo_class_print(struct kymo_strbuf *buf, const struct kymo_schema *schema,
                      const struct kymo_event_class *class_, bool brief);

#endif
