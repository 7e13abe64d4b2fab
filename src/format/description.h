/* SPDX-License-Identifier: MIT */
/*
 * The description of the traces of a directory: `metadata`, and beside it, if the writer of the trace knew
 * more than that can express, `.kymo/registry`. Any trace may have one; it is used if its text records match
 * this metadata (schema/registry_metadata.h).
 */
#ifndef KYMO_FORMAT_DESCRIPTION_H
#define KYMO_FORMAT_DESCRIPTION_H

#include "source/format.h"

/*
 * The schema of the trace in `directory`, which the caller owns; NULL with `error`. `is_growing`: a process
 * may be writing the description now, or may have died while it wrote, so its incomplete end is ignored. A
 * corrupt registry is listed as damage of `trace`, and the metadata is used. The registry is also not used if
 * the trace is read as babeltrace2 reads it.
 */
struct kymo_schema *kymo_metadata_load(struct kymo_trace *trace, const char *directory, bool is_growing,
                                       struct kymo_error *error);

#endif
