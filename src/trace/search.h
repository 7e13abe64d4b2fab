/* SPDX-License-Identifier: MIT */
/* Finding traces below paths. */
#ifndef KYMO_TRACE_SEARCH_H
#define KYMO_TRACE_SEARCH_H

#include "source/format.h"

/* Paths that one format accepted, and the argument at which each was found. After all formats there is an
 * entry of those that could not be examined: `unread` has the reason. */
struct found {
  char **paths;
  size_t *arguments, count;
  struct kymo_error *unread;
  size_t path_capacity, argument_capacity, unread_capacity;
};

/*
 * Looks for traces of all these formats (NULL at the end), or that of this name, at the paths and below.
 * *found: by index in `formats`; to be given to kymo_found_free, also after a failure: then it has what was
 * found at the other paths. KYMO_E_UNKNOWN: there is no such format, or nothing at a path is a trace;
 * KYMO_E_SYSTEM, KYMO_E_MEMORY. What cannot be looked at below a path is no failure if something else is
 * found there.
 */
int kymo_search(struct found **found, const struct kymo_format *const *formats, const char *const *paths,
                size_t count, const char *format, struct kymo_error *error);
/* The paths of a kymo_search that could not be examined. */
const struct found *kymo_found_unread(const struct found *found, const struct kymo_format *const *formats);
void kymo_found_free(struct found *found, const struct kymo_format *const *formats);

#endif
