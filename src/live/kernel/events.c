/* SPDX-License-Identifier: MIT */
#include "live/kernel/events.h"
#include "base/fail.h"
#include "base/list.h"
#include "base/nearest.h"
#include "base/pattern.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(struct kymo_error *error) { return kymo_fail(error, KYMO_E_MEMORY, "out of memory"); }

bool kymo_kernel_events_add(struct kymo_kernel_events *events, const char *group, const char *name) {
  if (!KYMO_LIST_ROOM(events->list, events->capacity, events->count))
    return false;
  events->list[events->count++] = (struct kymo_kernel_event){group, name, true};
  return true;
}

static int by_group(const void *one, const void *other) {
  const struct kymo_kernel_event *a = one, *b = other;
  int order = strcmp(a->group, b->group);
  return order ? order : strcmp(a->name, b->name);
}

/* Lines "group:name". Modules may add to a group whose other events are far from there. */
static int list_all(struct kymo_kernel_events *events, const char *tracefs, struct kymo_error *error) {
  int status = kymo_tracefs_read(tracefs, "available_events", &events->text, error);
  for (char *line = events->text.text, *next; status == KYMO_OK && line && *line; line = next) {
    size_t length = strcspn(line, "\n");
    next = line + length + (line[length] == '\n');
    line[length] = '\0';
    char *colon = strchr(line, ':');
    if (!colon)
      continue;
    *colon = '\0';
    if (!kymo_kernel_events_add(events, line, colon + 1))
      return no_memory(error);
    events->list[events->count - 1].is_on = false;
  }
  if (events->count)
    qsort(events->list, events->count, sizeof *events->list, by_group);
  return status;
}

/* A pattern without a colon is one of names as well as of groups. */
static bool matches(struct kymo_patterns *pattern, const struct kymo_kernel_event *event, bool has_colon) {
  char both[256];
  snprintf(both, sizeof both, "%s:%s", event->group, event->name);
  return kymo_patterns_match(pattern, both) || (!has_colon && kymo_patterns_match(pattern, event->name));
}

static int fail_unmatched(const struct kymo_kernel_events *events, const char *pattern,
                          struct kymo_error *error) {
  struct kymo_nearest nearest = kymo_nearest_to(pattern);
  for (size_t i = 0; i < events->count; i++) {
    kymo_nearest_consider(&nearest, events->list[i].name);
    kymo_nearest_consider(&nearest, events->list[i].group);
  }
  return kymo_fail(error, KYMO_E_USAGE, "no event of the kernel matches \"%s\"%s", pattern,
                   kymo_nearest_hint(&nearest).text);
}

static int take_pattern(struct kymo_kernel_events *events, const char *text, struct kymo_error *error) {
  const char *wrong, *pattern = text + (*text == '!');
  bool is_on = *text != '!', is_regex = strncmp(pattern, "re:", 3) == 0, is_met = false;
  struct kymo_patterns *compiled = kymo_pattern_new(pattern, &wrong);
  if (!compiled)
    return wrong == kymo_patterns_no_memory ? no_memory(error)
                                            : kymo_fail(error, KYMO_E_USAGE, "\"%s\": %s", pattern, wrong);
  for (size_t i = 0; i < events->count; i++) {
    if (!matches(compiled, &events->list[i], !is_regex && strchr(pattern, ':')))
      continue;
    is_met = true;
    events->list[i].is_on = is_on;
  }
  kymo_patterns_free(compiled);
  return is_met ? KYMO_OK : fail_unmatched(events, pattern, error);
}

static void set_all(struct kymo_kernel_events *events, bool is_on) {
  for (size_t i = 0; i < events->count; i++)
    events->list[i].is_on = is_on;
}

/* Those that exclude come last, wherever they are; if there are no others, all events are meant. */
static int take_patterns(struct kymo_kernel_events *events, char *patterns, struct kymo_error *error) {
  int status = KYMO_OK;
  size_t length = strlen(patterns);
  bool includes = false;
  for (size_t i = 0; i < length; i++)
    patterns[i] = (char)(patterns[i] == ',' ? '\0' : patterns[i]);
  for (int excludes = 0; excludes < 2 && status == KYMO_OK; excludes++) {
    if (excludes && !includes)
      set_all(events, true);
    for (size_t at = 0; at < length && status == KYMO_OK; at += strlen(patterns + at) + 1) {
      const char *pattern = patterns + at + strspn(patterns + at, " ");
      if (!*pattern || (*pattern == '!') != excludes)
        continue;
      includes |= !excludes;
      status = take_pattern(events, pattern, error);
    }
  }
  return status;
}

void kymo_kernel_events_want(struct kymo_kernel_events *events, const char *group, const char *name) {
  for (size_t i = 0; i < events->count; i++)
    if (!strcmp(events->list[i].name, name) && !strcmp(events->list[i].group, group))
      events->list[i].is_on = true;
}

int kymo_kernel_events_find(struct kymo_kernel_events *events, const char *tracefs, const char *patterns,
                            struct kymo_error *error) {
  *events = (struct kymo_kernel_events){0};
  int status = list_all(events, tracefs, error);
  char *copy = strdup(patterns);
  if (!copy)
    status = no_memory(error);
  if (status == KYMO_OK && *copy)
    status = take_patterns(events, copy, error);
  free(copy);
  return status;
}

/* A whole group is one write: there are 700 events of system calls. */
static int switch_on_group(const struct kymo_kernel_events *events, size_t first, size_t end,
                           const char *instance, struct kymo_error *error) {
  char name[256];
  size_t on = 0;
  int status = KYMO_OK;
  for (size_t i = first; i < end; i++)
    on += events->list[i].is_on;
  if (on == end - first) {
    snprintf(name, sizeof name, "events/%s/enable", events->list[first].group);
    return kymo_tracefs_write(instance, name, "1", error);
  }
  for (size_t i = first; i < end && on && status == KYMO_OK; i++) {
    snprintf(name, sizeof name, "events/%s/%s/enable", events->list[i].group, events->list[i].name);
    if (events->list[i].is_on)
      status = kymo_tracefs_write(instance, name, "1", error);
  }
  return status;
}

int kymo_kernel_events_switch_on(const struct kymo_kernel_events *events, const char *instance,
                                 struct kymo_error *error) {
  int status = KYMO_OK;
  for (size_t first = 0, end; first < events->count && status == KYMO_OK; first = end) {
    for (end = first + 1; end < events->count && !strcmp(events->list[first].group, events->list[end].group);)
      end++;
    status = switch_on_group(events, first, end, instance, error);
  }
  return status;
}

void kymo_kernel_events_free(struct kymo_kernel_events *events) {
  kymo_strbuf_free(&events->text);
  free(events->list);
  *events = (struct kymo_kernel_events){0};
}
