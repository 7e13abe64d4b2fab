/* SPDX-License-Identifier: MIT */
/* Event classes that begin and end spans: the writing side of kymo_event_class_edge. */
#ifndef KYMO_SCHEMA_SPAN_H
#define KYMO_SCHEMA_SPAN_H

/* The attributes of an event class that is the "begin" or "end" of a span; static. */
const char *kymo_span_attributes(const char *edge);

#endif
