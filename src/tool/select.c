/* SPDX-License-Identifier: MIT */
#include "tool/select.h"
#include "base/list.h"
#include "print/hint.h"
#include "base/pattern.h"
#include <stdlib.h>
#include <string.h>

struct pattern {
  char *text;
  struct kymo_patterns *one; /* without the "!" */
  bool excludes;
  bool is_met; /* some class matches */
};

struct tool_selection {
  struct pattern *list;
  size_t count, capacity;
  bool only_excludes;
};

/* ---- parsing ---- */

/* A regular expression may contain commas: it is a whole argument. Otherwise commas separate patterns. */
static size_t length_of_first(const char *text) {
  return strncmp(text + (*text == '!'), "re:", 3) == 0 ? strlen(text) : strcspn(text, ",");
}

static int add_pattern(struct tool_selection *selection, const char *text, size_t length) {
  struct pattern pattern = {.text = strndup(text, length), .excludes = *text == '!'};
  if (!pattern.text || !KYMO_LIST_ROOM(selection->list, selection->capacity, selection->count)) {
    free(pattern.text);
    tool_say("out of memory");
    return TOOL_FAILED;
  }
  const char *wrong = NULL;
  pattern.one = kymo_pattern_new(pattern.text + pattern.excludes, &wrong);
  selection->list[selection->count++] = pattern;
  selection->only_excludes = selection->only_excludes && pattern.excludes;
  if (pattern.one)
    return TOOL_OK;
  tool_say("--event %s: %s", pattern.text, wrong);
  return TOOL_USAGE;
}

static int parse_texts(struct tool_selection *selection, const struct tool_texts *texts) {
  int status = TOOL_OK;
  selection->only_excludes = true;
  for (size_t i = 0; i < texts->count && status == TOOL_OK; i++)
    for (const char *text = texts->list[i]; *text && status == TOOL_OK;) {
      size_t length = length_of_first(text);
      if (length)
        status = add_pattern(selection, text, length);
      text += length;
      text += *text == ',';
    }
  return status;
}

/* ---- matching ---- */

bool tool_selection_wants(struct tool_selection *selection, const char *name) {
  bool is_chosen = selection->only_excludes, is_excluded = false;
  for (size_t i = 0; i < selection->count; i++) {
    struct pattern *pattern = &selection->list[i];
    if (!kymo_patterns_match(pattern->one, name))
      continue;
    pattern->is_met = true;
    is_chosen = is_chosen || !pattern->excludes;
    is_excluded = is_excluded || pattern->excludes;
  }
  return is_chosen && !is_excluded;
}

static bool wants(void *user, const struct kymo_event_class *class_) {
  return tool_selection_wants(user, class_->name ? class_->name : "");
}

static int check_all_met(const struct tool_selection *selection, const struct kymo_trace *trace) {
  for (size_t i = 0; i < selection->count; i++) {
    const struct pattern *pattern = &selection->list[i];
    if (pattern->is_met)
      continue;
    struct kymo_hint hint = kymo_event_hint(trace, pattern->text + pattern->excludes);
    tool_say("--event %s: the traces have no event of such a name%s", pattern->text, hint.text);
    return TOOL_USAGE;
  }
  return TOOL_OK;
}

static void free_patterns(struct tool_selection *selection) {
  for (size_t i = 0; i < selection->count; i++) {
    kymo_patterns_free(selection->list[i].one);
    free(selection->list[i].text);
  }
  free(selection->list);
}

int tool_select(struct kymo_trace *trace, const struct tool_texts *patterns, bool may_grow) {
  struct tool_selection selection = {0};
  int status = parse_texts(&selection, patterns);
  if (status == TOOL_OK && selection.count) {
    kymo_trace_select_classes(trace, wants, &selection);
    if (!may_grow)
      status = check_all_met(&selection, trace);
  }
  free_patterns(&selection);
  return status;
}

struct tool_selection *tool_selection_new(const struct tool_texts *patterns) {
  struct tool_selection *selection = calloc(1, sizeof *selection);
  if (!selection)
    tool_end_without_memory();
  if (parse_texts(selection, patterns) == TOOL_OK && selection->count)
    return selection;
  tool_selection_free(selection);
  return NULL;
}

void tool_selection_free(struct tool_selection *selection) {
  if (selection)
    free_patterns(selection);
  free(selection);
}
