/* SPDX-License-Identifier: MIT */
/* The call sites of this process, for whoever switches and lists them. Call with the lock held
 * (record/session.h). */
#ifndef KYMO_RECORD_REGISTRY_H
#define KYMO_RECORD_REGISTRY_H

#include "record/point.h"

/* Switches all call sites as the rules say (record/rules.h). False with errno: not all that are to be on
 * are. */
bool kymo_registry_apply(void);

/* Called for each call site; copies of one inlined function come once. */
typedef void kymo_site_visitor(void *user, struct kymo_tracepoint *point, const struct kymo_point_text *text);
/* False: out of memory, not all have been visited. */
bool kymo_registry_visit(kymo_site_visitor *visitor, void *user);

#endif
