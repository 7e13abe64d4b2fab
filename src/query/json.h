/* SPDX-License-Identifier: MIT */
/* Fields as JSON, as docs/json.md describes them. */
#ifndef KYMO_QUERY_JSON_H
#define KYMO_QUERY_JSON_H

#include "query/source.h"

/* The fields of a scope as an object into reader->text: "{}" if the event has no such scope. */
void query_json_scope(struct query_reader *reader, const struct kymo_event *event, enum kymo_scope scope);
/* A list, struct or scalar; false: the event does not have the field. */
bool query_json_field(struct query_reader *reader, const struct kymo_event *event, uint32_t field);

#endif
