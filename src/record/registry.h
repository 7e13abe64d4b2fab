/* SPDX-License-Identifier: MIT */
/* The call sites of this process, for functions that switch and list them. Call with the lock held
 * (record/session.h). */
#ifndef KYMO_RECORD_REGISTRY_H
#define KYMO_RECORD_REGISTRY_H

#include "record/point.h"

/* Switches all call sites according to the rules (record/rules.h). False with errno: not all that should be
 * enabled are. */
bool kymo_registry_apply(void);

/* Called for each call site; copies of one inlined function are visited once. */
typedef void kymo_site_visitor(void *user, struct kymo_tracepoint *point, const struct kymo_point_text *text);
/* False: out of memory, not all have been visited. */
bool kymo_registry_visit(kymo_site_visitor *visitor, void *user);

#endif
