/* SPDX-License-Identifier: MIT */
/* The metadata file of a CTF trace: plain text, or text in packets. */
#ifndef KYMO_FORMAT_METADATA_H
#define KYMO_FORMAT_METADATA_H

#include <kymo/schema.h>

/* Reads and compiles the metadata file at `path`. NULL with `error` if it is no good. The schema
 * is the caller's (kymo_schema_release). */
struct kymo_schema *kymo_metadata_load(const char *path, struct kymo_error *error);

/*
 * Unpacks metadata in packets into plain text, in place: the text is shorter than the packets. `*length`
 * is the size of `bytes`, then of the text. KYMO_OK, also for what is not in packets; KYMO_E_FORMAT.
 */
int kymo_metadata_unpack(uint8_t *bytes, size_t *length, const char *file, struct kymo_error *error);

#endif
