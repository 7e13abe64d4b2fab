/* SPDX-License-Identifier: MIT */
/* kymo record --calls: tracing programs that nobody changed, by libraries that are loaded into them first. */
#ifndef KYMO_TOOL_CALLS_H
#define KYMO_TOOL_CALLS_H

#include "base/strbuf.h"
#include <kymo/error.h>

/* What was asked for. All zeroes: nothing. */
struct kymo_calls {
  bool libc; /* --calls libc, and of its functions those below */
  bool *chosen;
  bool functions; /* --calls functions */
};

/* Takes one --calls: "functions", "libc" or "libc:WORD,…", each word a family or a function. KYMO_E_USAGE,
 * KYMO_E_MEMORY. */
int kymo_calls_add(struct kymo_calls *calls, const char *argument, struct kymo_error *error);
/* Adds the patterns that switch on what was asked for to those of -e in `patterns`; if there are none, to all
 * other tracepoints. */
void kymo_calls_patterns(const struct kymo_calls *calls, struct kymo_strbuf *patterns);
/* Adds the paths of the libraries, as LD_PRELOAD takes them. KYMO_E_SYSTEM: one is not where it was built or
 * installed. */
int kymo_calls_libraries(const struct kymo_calls *calls, struct kymo_strbuf *preload,
                         struct kymo_error *error);
/* Whether the command, found as execvp does, is a program into which no library can be loaded. */
bool kymo_calls_have_no_effect(const char *command);
void kymo_calls_free(struct kymo_calls *calls);

#endif
