/* SPDX-License-Identifier: MIT */
/*
 * What describes the traces of a directory: `metadata`, and beside it, if whoever wrote the trace knew more
 * than that can say, `.kymo/registry`. Any trace may carry one; it counts if it says of itself that it
 * describes this very metadata (schema/registry_metadata.h).
 */
#ifndef KYMO_FORMAT_DESCRIPTION_H
#define KYMO_FORMAT_DESCRIPTION_H

#include "source/format.h"

/* The schema of the trace in `directory`, the caller's; NULL with `error`. `is_growing`: a process may be
 * writing the description now, or may have died while it wrote, so its end does not count. A registry that is
 * damaged is told as damage of `trace`, and the metadata is used. Not used either: the registry, if the trace
 * is to be seen as babeltrace2 sees it. */
struct kymo_schema *kymo_description_load(struct kymo_trace *trace, const char *directory, bool is_growing,
                                          struct kymo_error *error);

#endif
