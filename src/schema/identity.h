/* SPDX-License-Identifier: MIT */
/*
 * The identity of a type or an event class, as a hash: its parts, numbers in little-endian order and texts
 * with their lengths, in one fixed order, through MurmurHash3. Parts that are types are represented by their
 * own hashes, so a hash takes the time of its type's own members.
 */
#ifndef KYMO_SCHEMA_IDENTITY_H
#define KYMO_SCHEMA_IDENTITY_H

#include "base/strbuf.h"
#include <kymo/schema.h>

/* Sets type->hashes; those of all its parts are already set. `scratch` is emptied first; false if there is no
 * memory. */
bool kymo_identify_type(struct kymo_type *type, struct kymo_strbuf *scratch);
/* Sets event->hashes; those of its types are set. */
bool kymo_identify_event(struct kymo_event_class *event, struct kymo_strbuf *scratch);

#endif
