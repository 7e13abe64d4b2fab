/* SPDX-License-Identifier: MIT */
/* kymo record --calls: traces unmodified programs, by libraries that are preloaded. */
#ifndef KYMO_LIVE_CALLS_H
#define KYMO_LIVE_CALLS_H

#include "base/strbuf.h"
#include <kymo/error.h>

/* The requested calls. All zeroes: none. */
struct kymo_calls {
  bool libc; /* --calls libc, and the chosen functions below */
  bool *chosen;
  bool functions; /* --calls functions */
};

/* Takes one --calls: "functions", "libc" or "libc:WORD,…", each word a family or a function. KYMO_E_USAGE,
 * KYMO_E_MEMORY. */
int kymo_calls_add(struct kymo_calls *calls, const char *argument, struct kymo_error *error);
/* Adds the patterns that enable the requested calls to those of -e in `patterns`; if there are none, to a
 * pattern for all other tracepoints. */
void kymo_calls_patterns(const struct kymo_calls *calls, struct kymo_strbuf *patterns);
/* Adds the paths of the libraries, in the form of LD_PRELOAD. They are beside the running program, or in
 * `folder`, which may be relative to it. KYMO_E_SYSTEM: one is in neither. */
int kymo_calls_libraries(const struct kymo_calls *calls, const char *folder, struct kymo_strbuf *preload,
                         struct kymo_error *error);
/* Whether the command, searched like by execvp, is a program into which no library can be loaded. */
bool kymo_calls_have_no_effect(const char *command);
void kymo_calls_free(struct kymo_calls *calls);

#endif
