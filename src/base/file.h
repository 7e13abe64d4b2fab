/* SPDX-License-Identifier: MIT */
/* Files that are read into memory whole: descriptions, not traces. */
#ifndef KYMO_BASE_FILE_H
#define KYMO_BASE_FILE_H

#include <kymo/error.h>
#include <stddef.h>

/* Reads a regular file of at most `limit` bytes. *bytes is the caller's, to be freed, with a zero behind the `*size`
 * bytes; NULL on failure. KYMO_E_SYSTEM, KYMO_E_FORMAT for what is no regular file, KYMO_E_LIMIT, KYMO_E_MEMORY. */
int kymo_file_read(const char *path, uint64_t limit, uint8_t **bytes, size_t *size, struct kymo_error *error);
/* The same for what a user names: any file that can be read, waiting for what comes through a pipe; "-" is the
 * standard input. */
int kymo_input_read(const char *path, uint64_t limit, uint8_t **bytes, size_t *size, struct kymo_error *error);

#endif
