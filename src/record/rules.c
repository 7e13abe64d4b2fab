/* SPDX-License-Identifier: MIT */
#include "record/rules.h"
#include "base/list.h"
#include "base/pattern.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { RULES_MAX = 4096, STEPS_MAX = 1 << 16 }; /* STEPS_MAX: of the patterns of all rules */

struct rule {
  char *text;
  struct kymo_patterns *patterns;
  int32_t level;
  bool on;
};

static const char too_many[] = "too many different patterns were enabled and disabled";

static struct {
  struct rule start, attached; /* no patterns: there is none */
  struct rule *rule;           /* newest last */
  uint32_t count, room, steps;
} rules;

static void empty(struct rule *rule) {
  rules.steps -= rule->patterns ? kymo_patterns_steps(rule->patterns) : 0;
  kymo_patterns_free(rule->patterns);
  free(rule->text);
  *rule = (struct rule){0};
}

static bool fill(struct rule *rule, const struct kymo_choice *choice, const char **wrong) {
  struct rule made = {.level = choice->level, .on = true};
  made.patterns = kymo_patterns_new(choice->patterns, wrong);
  if (!made.patterns) {
    errno = *wrong == kymo_patterns_no_memory ? ENOMEM : EINVAL;
    return false;
  }
  rules.steps += kymo_patterns_steps(made.patterns);
  if (rules.steps > STEPS_MAX) {
    *wrong = too_many;
    empty(&made);
    errno = ENOSPC;
    return false;
  }
  made.text = strdup(choice->patterns);
  if (!made.text) {
    *wrong = "out of memory";
    empty(&made);
    errno = ENOMEM;
    return false;
  }
  empty(rule);
  *rule = made;
  return true;
}

static bool matches(const struct rule *rule, const char *name, int32_t level) {
  if (rule->level != KYMO_LEVEL_ANY && (level < 0 || level > rule->level))
    return false;
  return rule->patterns && kymo_patterns_match(rule->patterns, name);
}

bool kymo_rules_start(const char *patterns, const char **wrong) {
  empty(&rules.start);
  return !patterns || fill(&rules.start, &(struct kymo_choice){patterns, KYMO_LEVEL_ANY}, wrong);
}

/* Removes an older rule with the same patterns, which has no effect any more: years of switching on and off
 * do not grow the table. */
static void forget_equal(const struct rule *newest) {
  for (uint32_t i = 0; i + 1 < rules.count; i++)
    if (rules.rule[i].level == newest->level && !strcmp(rules.rule[i].text, newest->text)) {
      empty(&rules.rule[i]);
      memmove(&rules.rule[i], &rules.rule[i + 1], (rules.count - i - 1) * sizeof *rules.rule);
      rules.count--;
      return;
    }
}

bool kymo_rules_add(const struct kymo_choice *choice, bool on, const char **wrong) {
  if (!KYMO_LIST_ROOM_UP_TO(rules.rule, rules.room, rules.count, RULES_MAX)) {
    *wrong = rules.count < RULES_MAX ? "out of memory" : too_many;
    errno = rules.count < RULES_MAX ? ENOMEM : ENOSPC;
    return false;
  }
  struct rule *rule = &rules.rule[rules.count];
  *rule = (struct rule){0};
  if (!fill(rule, choice, wrong))
    return false;
  rule->on = on;
  rules.count++;
  forget_equal(rule);
  return true;
}

bool kymo_rules_attach(const struct kymo_choice *choice, const char **wrong) {
  return fill(&rules.attached, choice, wrong);
}

void kymo_rules_detach(void) { empty(&rules.attached); }

bool kymo_rules_decide(const char *name, int32_t level) {
  if (matches(&rules.attached, name, level))
    return true;
  for (uint32_t i = rules.count; i-- > 0;)
    if (matches(&rules.rule[i], name, level))
      return rules.rule[i].on;
  return matches(&rules.start, name, level);
}

bool kymo_rules_leave_on(const char *name) {
  for (uint32_t i = rules.count; i-- > 0;)
    if (matches(&rules.rule[i], name, -1))
      return rules.rule[i].on;
  return true;
}

bool kymo_rules_are_there(void) { return rules.start.patterns || rules.attached.patterns || rules.count; }

bool kymo_rules_newest_matches(const char *name, int32_t level) {
  return rules.count && matches(&rules.rule[rules.count - 1], name, level);
}
