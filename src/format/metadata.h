/* SPDX-License-Identifier: MIT */
/* The metadata file of a CTF trace: plain text, or text in packets. */
#ifndef KYMO_FORMAT_METADATA_H
#define KYMO_FORMAT_METADATA_H

#include <kymo/schema.h>

/* The text of the metadata file at `path`, unpacked. The caller frees *bytes in any case; it ends in a
 * zero. */
int kymo_metadata_read(const char *path, uint8_t **bytes, size_t *length, struct kymo_error *error);
/* Compiles it. NULL with `error`, in which `path` is its name, if it is invalid. The caller owns the
 * schema. */
struct kymo_schema *kymo_metadata_compile(const uint8_t *bytes, size_t length, const char *path,
                                          struct kymo_error *error);

/* True if a file begins like metadata in packets. */
bool kymo_metadata_is_packets(const uint8_t *bytes, size_t length);
/*
 * Unpacks metadata in packets into plain text, in place: the text is shorter than the packets. `*length` is
 * the size of `bytes`, then of the text. KYMO_OK, also for text that is not in packets; KYMO_E_FORMAT.
 */
int kymo_metadata_unpack(uint8_t *bytes, size_t *length, const char *file, struct kymo_error *error);

#endif
