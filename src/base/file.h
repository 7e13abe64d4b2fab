/* SPDX-License-Identifier: MIT */
/* Files that are read whole, or in which a few bytes are looked up: descriptions, not traces. */
#ifndef KYMO_BASE_FILE_H
#define KYMO_BASE_FILE_H

#include <kymo/error.h>
#include <stddef.h>
#include <stdio.h>

/* Reads a regular file of at most `limit` bytes. *bytes is the caller's, to be freed, with a zero after the
 * `*size` bytes; NULL on failure. KYMO_E_SYSTEM, KYMO_E_FORMAT for what is no regular file, KYMO_E_LIMIT,
 * KYMO_E_MEMORY. */
int kymo_file_read(const char *path, uint64_t limit, uint8_t **bytes, size_t *size, struct kymo_error *error);
/* The same for a file that need not be there: *bytes is NULL then, which is no failure. */
int kymo_file_read_if_there(const char *path, uint64_t limit, uint8_t **bytes, size_t *size,
                            struct kymo_error *error);
/* The same for what a user names: any file that can be read, waiting for what comes through a pipe; "-" is
 * the standard input. */
int kymo_input_read(const char *path, uint64_t limit, uint8_t **bytes, size_t *size,
                    struct kymo_error *error);
/* Reads the first bytes of a regular file, at most `room`; *info, unless NULL, becomes what the system says
 * of it. Never waits. KYMO_E_UNKNOWN: there is no such file, or it is no regular one; KYMO_E_SYSTEM with the
 * place that cannot be read. */
struct stat;
int kymo_file_peek(const char *path, void *bytes, size_t room, size_t *size, struct stat *info,
                   struct kymo_error *error);
/* Opens a regular file for reading; NULL for everything else, and never waits: a FIFO lies in a trace's
 * directory only to make its reader hang. */
FILE *kymo_file_open(const char *path);

#endif
