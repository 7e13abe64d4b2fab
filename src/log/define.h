/* SPDX-License-Identifier: MIT */
/* Definitions while they are built, and the comparisons of formats with them. */
#ifndef KYMO_LOG_DEFINE_H
#define KYMO_LOG_DEFINE_H

#include "schema/definition.h"
#include "log/format.h"
#include "log/log.h"

struct kymo_definition_state {
  struct kymo_definition hot; /* first */
  struct kymo_definition_state *next;
  struct kymo_event_definition definition; /* its texts are ours */
  uint32_t is_complete;
};

/* ---- define_format.c ---- */

/* NULL, or how a format of kymo_bprintf differs from the fields. */
const char *kymo_event_definition_format_fault(const struct kymo_event_definition *definition,
                                               const char *format);
/* NULL, or the fault of the template: in its syntax, or (`with_fields`) for the fields. */
const char *kymo_event_definition_template_fault(const struct kymo_event_definition *definition,
                                                 bool with_fields);

#endif
