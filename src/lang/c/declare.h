/* SPDX-License-Identifier: MIT */
/*
 * A schema as declarations of C (GNU C11): the named structs, unions and enumerations, and a struct for the
 * payload of each event class, laid out exactly as the bytes in the trace.
 *
 *   struct __attribute__((packed)) net_rx {     event class "net:rx"
 *     uint16_t port;                            padding is written out, so no compiler adds any
 *     uint8_t state;                            an enumeration: of the trace's size, not the compiler's
 *     (text note)                               in a comment: its size depends on values, and so do all
 *                                               places after it
 *   };
 *
 * For a compiled description also constants for programs that use <kymo/read.h> (see docs/reading.md):
 *
 *   enum lift_kind { LIFT_DOOR = 1, … };      what kymo_event_get_class_number returns
 *   #define LIFT_DOOR_FLOOR "floor"           what kymo_field_id takes
 *
 * Integers have their width in bits as type, since the types of the traced machine may have other widths on
 * this one.
 */
#ifndef KYMO_LANG_C_DECLARE_H
#define KYMO_LANG_C_DECLARE_H

#include "base/strbuf.h"
#include <kymo/schema.h>

/* Adds the declarations to `out`; out->failed is set if memory ran out. */
void kymo_c_print(struct kymo_strbuf *out, const struct kymo_schema *schema);

#endif
