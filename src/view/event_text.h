/* SPDX-License-Identifier: MIT */
/* An event as text: the row of a table, and each of its fields. In the viewer's table, and in the file of
 * `kymo view --html`. */
#ifndef KYMO_VIEW_EVENT_TEXT_H
#define KYMO_VIEW_EVENT_TEXT_H

#include "base/strbuf.h"
#include "view/view.h"

enum view_fields {
  VIEW_FIELDS_ALL,
  VIEW_FIELDS_OF_EVENT, /* without those of its packet, which are the same in all events of the packet */
  VIEW_FIELDS_OF_PAYLOAD,
};

/* Calls the handler for each field that the event of the trace has, in order, until it returns false. Groups
 * are left out: their members are fields too. `text` is a buffer of the caller, in which the texts are that
 * the handler gets. KYMO_OK, KYMO_E_MEMORY. */
int view_each_field(struct kymo_trace *trace, const struct kymo_event *event, enum view_fields which,
                    struct kymo_strbuf *text, view_field_handler *handler, void *user);
/* Replaces `out` with the event's message, or else with the fields of its payload ("a = 1, b = 2"). `text` as
 * of view_each_field; both are the caller's, to be freed also on failure. KYMO_OK, KYMO_E_MEMORY. */
int view_event_text(struct kymo_trace *trace, const struct kymo_event *event, struct kymo_strbuf *text,
                    struct kymo_strbuf *out);

#endif
