/* SPDX-License-Identifier: MIT */
/*
 * Writes a schema, or parts of it, as TSDL (CTF 1.8 metadata text). The whole text is
 * preamble + one block per event class, so a growing trace appends blocks. Output is
 * deterministic; field names get a leading underscore, as LTTng does, so that no name can
 * meet a keyword.
 */
#ifndef KYMO_LANG_TSDL_WRITE_H
#define KYMO_LANG_TSDL_WRITE_H

#include "base/strbuf.h"
#include <kymo/schema.h>

/* The CTF 1.8 signature comment, trace, env, clocks and stream classes without their events. */
void kymo_tsdl_write_preamble(struct kymo_strbuf *out, const struct kymo_schema *schema);
/* One event { } block. */
void kymo_tsdl_write_event(struct kymo_strbuf *out, const struct kymo_event_class *event);
/* Everything. */
void kymo_tsdl_write(struct kymo_strbuf *out, const struct kymo_schema *schema);

#endif
