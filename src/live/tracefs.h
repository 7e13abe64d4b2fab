/* SPDX-License-Identifier: MIT */
/* tracefs, the files by which Linux traces itself: where it is mounted, reading and writing its files. */
#ifndef KYMO_LIVE_TRACEFS_H
#define KYMO_LIVE_TRACEFS_H

#include "base/strbuf.h"
#include "ring/places.h"
#include <kymo/error.h>

/* Finds where it is mounted. KYMO_E_ABSENT with a message that says how to mount it. */
int kymo_tracefs_find(char out[KYMO_PATH_MAX], struct kymo_error *error);
/* A failed system call on a file of tracefs: who may do that. */
int kymo_tracefs_fail(const char *path, const char *what, struct kymo_error *error);
/* Appends a whole file to a text; its size is not known before. */
int kymo_tracefs_read(const char *directory, const char *name, struct kymo_strbuf *out,
                      struct kymo_error *error);
/* The same for a file that older kernels do not have, or that root alone may read: nothing is added then. */
void kymo_tracefs_read_if_there(const char *directory, const char *name, struct kymo_strbuf *out);
/* Writes a text by one system call. Never truncates: with some files that removes what others have made. */
int kymo_tracefs_write(const char *directory, const char *name, const char *text, struct kymo_error *error);

#endif
