/* SPDX-License-Identifier: MIT */
/* What descriptions inside of the library use of the builder beyond <kymo/schema.h>: its arena. */
#ifndef KYMO_SCHEMA_BUILD_H
#define KYMO_SCHEMA_BUILD_H

#include "base/arena.h"
#include <kymo/schema.h>

/* Memory that lives as long as the schema: for names, member arrays, mappings, steps. */
struct kymo_arena *kymo_builder_arena(struct kymo_builder *builder);

#endif
