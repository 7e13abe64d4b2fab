/* SPDX-License-Identifier: MIT */
/* Values of fields as JSON in memory, as docs/json.md describes them; without names of addresses. */
#ifndef KYMO_PRINT_JSON_VALUE_H
#define KYMO_PRINT_JSON_VALUE_H

#include "base/strbuf.h"
#include <kymo/read.h>

/* A value that is no struct, union or list. */
void kymo_json_add_scalar(struct kymo_strbuf *out, enum kymo_token token, const struct kymo_value *value);
/* What follows in a walk in a list or struct of this type, without its brackets: up to its END, then true; or
 * up to the end of the walk, then false. */
bool kymo_json_add_rest(struct kymo_strbuf *out, struct kymo_walk *walk, const struct kymo_type *outer);

#endif
