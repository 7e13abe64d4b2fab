/* SPDX-License-Identifier: MIT */
/*
 * What decides whether a tracepoint is on, for those that are registered and those to come:
 *
 *   patterns of a recorder that is attached        any that matches: on
 *   what was enabled and disabled, newest first    the first that matches decides
 *   KYMO_ENABLE                                    matches: on; else off
 *
 * All of this is called with the registry's lock held.
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

/* A rule is copied. False with *wrong (static) and errno: the pattern is wrong, there are too many, memory is
 * short. */
bool kymo_rules_start(const char *patterns, const char **wrong); /* NULL: nothing is on at first */
bool kymo_rules_add(const struct kymo_choice *choice, bool on, const char **wrong);
bool kymo_rules_attach(const struct kymo_choice *choice, const char **wrong);
void kymo_rules_detach(void);
/* Whether a tracepoint is to be on; `level` < 0: it has none. */
bool kymo_rules_decide(const char *name, int32_t level);
/* Whether what is on by itself, a stream, is to stay so: no rule of the running process has switched it
 * off. */
bool kymo_rules_leave_on(const char *name);
/* Whether some rule may switch something on. */
bool kymo_rules_are_there(void);
/* Whether the newest rule matches it. */
bool kymo_rules_newest_matches(const char *name, int32_t level);

#endif
