/* SPDX-License-Identifier: MIT */
/* A plan as text, for people: what is loaded where, and the code of each part, one instruction a line. */
#ifndef KYMO_PLAN_DUMP_H
#define KYMO_PLAN_DUMP_H

#include "base/strbuf.h"
#include "plan/plan.h"

/* Adds the plan that the schema carries as text, or why there is none. out->failed is set when memory runs
 * out. */
void kymo_plan_print_plan(struct kymo_strbuf *out, const struct kymo_schema *schema);
/* Adds the description that the plan was compiled from, or a comment that says why there is none. */
void kymo_plan_print_source(struct kymo_strbuf *out, const struct kymo_schema *schema);

#endif
