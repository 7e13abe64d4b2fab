/* SPDX-License-Identifier: MIT */
#include "record/pattern.h"
#include <fnmatch.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

struct pattern {
  bool excludes, is_regex;
  char *glob;
  regex_t regex;
};

struct kymo_patterns {
  size_t count;
  bool only_excludes;
  struct pattern pattern[];
};

static bool add(struct kymo_patterns *patterns, const char *text, size_t length) {
  struct pattern *p = &patterns->pattern[patterns->count];
  p->excludes = length && *text == '!';
  if (p->excludes)
    text++, length--;
  p->is_regex = length > 3 && !strncmp(text, "re:", 3);
  if (p->is_regex)
    text += 3, length -= 3;
  p->glob = strndup(text, length);
  if (!p->glob)
    return false;
  if (p->is_regex && regcomp(&p->regex, p->glob, REG_EXTENDED | REG_NOSUB)) {
    free(p->glob);
    return false;
  }
  patterns->count++;
  patterns->only_excludes &= p->excludes;
  return true;
}

/* Room for `most` patterns. */
static struct kymo_patterns *make_room(size_t most, const char **wrong) {
  struct kymo_patterns *patterns = calloc(1, sizeof *patterns + most * sizeof(struct pattern));
  if (patterns)
    patterns->only_excludes = true;
  else
    *wrong = "out of memory";
  return patterns;
}

static struct kymo_patterns *refuse(struct kymo_patterns *patterns, const char **wrong) {
  *wrong = "a regular expression is not well formed";
  kymo_patterns_free(patterns);
  return NULL;
}

struct kymo_patterns *kymo_pattern_new(const char *text, const char **wrong) {
  struct kymo_patterns *patterns = make_room(1, wrong);
  return !patterns || add(patterns, text, strlen(text)) ? patterns : refuse(patterns, wrong);
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
    if (trimmed && !add(patterns, text, trimmed))
      return refuse(patterns, wrong);
    text += length;
  }
  if (!patterns->count)
    patterns->only_excludes = false;
  return patterns;
}

void kymo_patterns_free(struct kymo_patterns *patterns) {
  for (size_t i = 0; patterns && i < patterns->count; i++) {
    if (patterns->pattern[i].is_regex)
      regfree(&patterns->pattern[i].regex);
    free(patterns->pattern[i].glob);
  }
  free(patterns);
}

/* A glob without a colon also names a group. */
static bool matches(const struct pattern *p, const char *name) {
  if (p->is_regex)
    return regexec(&p->regex, name, 0, NULL, 0) == 0;
  if (!fnmatch(p->glob, name, 0))
    return true;
  const char *colon = strchr(name, ':');
  char group[256];
  if (!colon || strchr(p->glob, ':') || (size_t)(colon - name) >= sizeof group)
    return false;
  memcpy(group, name, (size_t)(colon - name));
  group[colon - name] = 0;
  return !fnmatch(p->glob, group, 0);
}

bool kymo_patterns_match(const struct kymo_patterns *patterns, const char *name) {
  bool on = patterns->only_excludes;
  for (size_t i = 0; i < patterns->count; i++) {
    const struct pattern *p = &patterns->pattern[i];
    if (!matches(p, name))
      continue;
    if (p->excludes)
      return false;
    on = true;
  }
  return on;
}
