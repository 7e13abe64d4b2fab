/* SPDX-License-Identifier: MIT */
/* What is the same in all rows of a part of a trace. */
#ifndef KYMO_FLEET_PART_H
#define KYMO_FLEET_PART_H

#include "fleet/table.h"
#include <kymo/read.h>

/* Describes a part. A trace without a UUID gets one from the contents of its files. KYMO_E_SYSTEM. */
int fleet_part_describe(struct fleet_part *part, const struct kymo_trace *trace, const struct kymo_part *of,
                        const struct fleet_database *database, struct kymo_error *error);

#endif
