/* SPDX-License-Identifier: MIT */
/* Definitions while they are built, and the comparisons of formats with them. */
#ifndef KYMO_STREAM_DEFINE_H
#define KYMO_STREAM_DEFINE_H

#include "schema/definition.h"
#include "stream/format.h"
#include "stream/stream.h"

struct kymo_definition_state {
  struct kymo_bdefinition hot; /* first */
  struct kymo_definition_state *next;
  struct kymo_definition definition; /* its texts are ours */
  uint32_t is_complete;
};

/* ---- define_format.c ---- */

/* NULL, or how a format of kymo_bprintf differs from the fields. */
const char *kymo_definition_format_fault(const struct kymo_definition *definition, const char *format);
/* NULL, or the fault of the template: in its syntax, or (`with_fields`) for the fields. */
const char *kymo_definition_template_fault(const struct kymo_definition *definition, bool with_fields);

#endif
