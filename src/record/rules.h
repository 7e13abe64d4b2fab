/* SPDX-License-Identifier: MIT */
/*
 * The rules that decide whether a tracepoint is enabled, for registered tracepoints and later ones:
 *   patterns of a recorder that is attached        any that matches: on
 *   what was enabled and disabled, newest first    the first that matches decides
 *   KYMO_ENABLE                                    matches: on; else off
 *
 * Call all functions with the registry's lock held.
 */
#ifndef KYMO_RECORD_RULES_H
#define KYMO_RECORD_RULES_H

#include <stdbool.h>
#include <stdint.h>

enum { KYMO_LEVEL_ANY = -1 };

/* The tracepoints that a pattern (base/pattern.h) matches, and whose level is `level` or more urgent, which
 * is a smaller number; KYMO_LEVEL_ANY: with any level or none. */
struct kymo_choice {
  const char *patterns;
  int32_t level;
};

/* A rule is copied. False with *wrong (static) and errno: the pattern is invalid, there are too many rules,
 * or there is no memory. */
bool kymo_rules_start(const char *patterns, const char **wrong); /* NULL: nothing is enabled at first */
bool kymo_rules_add(const struct kymo_choice *choice, bool on, const char **wrong);
bool kymo_rules_attach(const struct kymo_choice *choice, const char **wrong);
void kymo_rules_detach(void);
/* Whether a tracepoint should be enabled; `level` < 0: it has none. */
bool kymo_rules_decide(const char *name, int32_t level);
/* Whether a stream, which is enabled by default, stays enabled: no rule of the running process has disabled
 * it. */
bool kymo_rules_leave_on(const char *name);
/* Whether there is a rule that may enable a tracepoint. */
bool kymo_rules_are_there(void);
/* Whether the newest rule matches it. */
bool kymo_rules_newest_matches(const char *name, int32_t level);

#endif
