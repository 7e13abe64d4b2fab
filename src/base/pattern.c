/* SPDX-License-Identifier: MIT */
#include "base/pattern.h"
#include "base/regex.h"
#include <stdlib.h>
#include <string.h>

enum { STEPS_MAX = 4 * KYMO_REGEX_STEPS }; /* of all patterns of a list; a step takes about 100 bytes */

const char kymo_patterns_no_memory[] = "out of memory";

struct pattern {
  bool excludes, is_regex, has_colon;
  char *name; /* a name without wildcards */
  struct kymo_regex *regex;
  struct kymo_regex_memory *memory;
};

struct kymo_patterns {
  size_t count;
  uint32_t steps;
  bool only_excludes;
  struct pattern pattern[];
};

static bool compile(struct pattern *p, const char *text, size_t length, const char **wrong) {
  size_t at;
  *wrong = NULL;
  if (p->is_regex)
    p->regex = kymo_regex_new(text, length, wrong, &at);
  else if (strcspn(text, "*?[\\") < length)
    p->regex = kymo_regex_new_glob(text, length, wrong, &at);
  else
    p->name = strndup(text, length);
  if (p->regex)
    p->memory = kymo_regex_memory_new(p->regex);
  if (!*wrong && !p->memory && !p->name)
    *wrong = kymo_patterns_no_memory;
  return !*wrong;
}

static bool add(struct kymo_patterns *patterns, const char *text, size_t length, const char **wrong) {
  struct pattern *p = &patterns->pattern[patterns->count];
  p->excludes = length && *text == '!';
  if (p->excludes)
    text++, length--;
  p->is_regex = length > 3 && !strncmp(text, "re:", 3);
  if (p->is_regex)
    text += 3, length -= 3;
  p->has_colon = memchr(text, ':', length);
  patterns->count++; /* counted also if it is invalid, so that it is freed */
  if (!compile(p, text, length, wrong))
    return false;
  patterns->steps += p->regex ? kymo_regex_steps(p->regex) : 0;
  patterns->only_excludes &= p->excludes;
  if (patterns->steps > STEPS_MAX)
    *wrong = "patterns of more than 16384 steps together";
  return !*wrong;
}

/* Space for `most` patterns. */
static struct kymo_patterns *make_room(size_t most, const char **wrong) {
  struct kymo_patterns *patterns = calloc(1, sizeof *patterns + most * sizeof(struct pattern));
  if (patterns)
    patterns->only_excludes = true;
  else
    *wrong = kymo_patterns_no_memory;
  return patterns;
}

struct kymo_patterns *kymo_pattern_new(const char *text, const char **wrong) {
  struct kymo_patterns *patterns = make_room(1, wrong);
  if (!patterns || add(patterns, text, strlen(text), wrong))
    return patterns;
  kymo_patterns_free(patterns);
  return NULL;
}

struct kymo_patterns *kymo_patterns_new(const char *text, const char **wrong) {
  size_t most = 1;
  for (const char *c = text; *c; c++)
    most += *c == ',';
  struct kymo_patterns *patterns = make_room(most, wrong);
  if (!patterns)
    return NULL;
  while (*text) {
    while (*text == ' ' || *text == ',')
      text++;
    size_t length = strcspn(text, ",");
    size_t trimmed = length;
    while (trimmed && text[trimmed - 1] == ' ')
      trimmed--;
    if (trimmed && !add(patterns, text, trimmed, wrong)) {
      kymo_patterns_free(patterns);
      return NULL;
    }
    text += length;
  }
  if (!patterns->count)
    patterns->only_excludes = false;
  return patterns;
}

void kymo_patterns_free(struct kymo_patterns *patterns) {
  for (size_t i = 0; patterns && i < patterns->count; i++) {
    kymo_regex_memory_free(patterns->pattern[i].memory);
    kymo_regex_free(patterns->pattern[i].regex);
    free(patterns->pattern[i].name);
  }
  free(patterns);
}

uint32_t kymo_patterns_steps(const struct kymo_patterns *patterns) { return patterns->steps; }

static bool matches_text(struct pattern *p, const char *text, size_t length) {
  if (p->name)
    return strlen(p->name) == length && !memcmp(p->name, text, length);
  return kymo_regex_matches(p->memory, (const uint8_t *)text, length);
}

/* A name or glob without a colon also matches a group. */
static bool matches(struct pattern *p, const char *name) {
  if (matches_text(p, name, strlen(name)))
    return true;
  const char *colon = p->is_regex || p->has_colon ? NULL : strchr(name, ':');
  return colon && matches_text(p, name, (size_t)(colon - name));
}

bool kymo_patterns_match(struct kymo_patterns *patterns, const char *name) {
  bool on = patterns->only_excludes;
  for (size_t i = 0; i < patterns->count; i++) {
    struct pattern *p = &patterns->pattern[i];
    if (!matches(p, name))
      continue;
    if (p->excludes)
      return false;
    on = true;
  }
  return on;
}
