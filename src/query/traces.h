/* SPDX-License-Identifier: MIT */
/*
 * Traces as programs with the extension name them: paths, and options by their names, in USING kymo(…) and
 * by kymo_option. The options mean the same as those of kymo.open in Python.
 */
#ifndef KYMO_QUERY_TRACES_H
#define KYMO_QUERY_TRACES_H

#include "query/source.h"

/* The value of an option: a text, or a number if `text` is NULL. */
struct query_value {
  const char *text;
  int64_t number;
};

struct query_traces;
/* NULL: out of memory. */
struct query_traces *query_traces_new(void);
/* NULL is fine. */
void query_traces_free(struct query_traces *traces);

/* Adds a path, which is copied. KYMO_OK or negative. */
int query_traces_add(struct query_traces *traces, const char *path, struct kymo_error *error);
size_t query_traces_count(const struct query_traces *traces);
/* Sets an option; its value is copied. KYMO_OK, or negative: there is no such option, it was set before, or
 * it does not take this value. */
int query_traces_set(struct query_traces *traces, const char *name, const struct query_value *value,
                     struct kymo_error *error);
/* Whether a statement that meets damage ends without an error. */
bool query_traces_skips_damage(const struct query_traces *traces);

/* Opens the traces, which it takes also if it fails. The caller owns the share. */
int query_traces_open(struct query_source **source, struct query_traces *traces, struct kymo_error *error);
#endif
