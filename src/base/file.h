/* SPDX-License-Identifier: MIT */
/* Files that are read whole, or of which a few bytes are read: descriptions, not traces. */
#ifndef KYMO_BASE_FILE_H
#define KYMO_BASE_FILE_H

#include <kymo/error.h>
#include <stddef.h>
#include <stdio.h>

/* Reads a regular file of at most `limit` bytes. The caller owns and frees *bytes, which has a zero after
 * the `*size` bytes; it is NULL on failure. KYMO_E_SYSTEM, KYMO_E_FORMAT if it is not a regular file,
 * KYMO_E_LIMIT, KYMO_E_MEMORY. */
int kymo_file_read(const char *path, uint64_t limit, uint8_t **bytes, size_t *size, struct kymo_error *error);
/* The same for a file that may be missing: *bytes is NULL then, which is no failure. */
int kymo_file_read_if_there(const char *path, uint64_t limit, uint8_t **bytes, size_t *size,
                            struct kymo_error *error);
/* The same for a path that a user gives: any readable file; it waits for data of a pipe; "-" is the standard
 * input. */
int kymo_input_read(const char *path, uint64_t limit, uint8_t **bytes, size_t *size,
                    struct kymo_error *error);
/* Reads the first bytes of a regular file, at most `room`; *info, unless NULL, receives the result of fstat.
 * Never waits. KYMO_E_UNKNOWN: there is no such file, or it is not a regular file; KYMO_E_SYSTEM with the
 * offset at which reading failed. */
struct stat;
int kymo_file_peek(const char *path, void *bytes, size_t room, size_t *size, struct stat *info,
                   struct kymo_error *error);
/* Opens a regular file for reading; NULL for everything else, and never waits: a FIFO in a trace's directory
 * must not make its reader hang. */
FILE *kymo_file_open(const char *path);

#endif
