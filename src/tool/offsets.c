/* SPDX-License-Identifier: MIT */
#include "tool/offsets.h"
#include "base/nearest.h"
#include <kymo/time.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct offset_option {
  const char *name;
  const struct tool_texts *texts;
  bool is_ns;
};

static size_t length_without_slashes(const char *path, size_t length) {
  while (length > 1 && path[length - 1] == '/')
    length--;
  return length;
}

static bool is_path(const char *path, const char *text, size_t length) {
  size_t own = length_without_slashes(path, strlen(path));
  return own == length_without_slashes(text, length) && strncmp(path, text, own) == 0;
}

static int say_wrong(const struct offset_option *option, const char *text, const char *why) {
  tool_say("--%s %s: %s", option->name, text, why);
  return TOOL_USAGE;
}

static int parse_amount(const struct offset_option *option, const char *text, const char *amount,
                        int64_t *ns) {
  struct kymo_time_mistake mistake;
  char *end;
  if (!option->is_ns)
    return kymo_duration_parse(ns, amount, &mistake) ? TOOL_OK : say_wrong(option, text, mistake.why);
  errno = 0;
  *ns = strtoll(amount, &end, 10);
  if (*end || end == amount || strchr(" \t\n", *amount))
    return say_wrong(option, text, "expected a whole number of nanoseconds");
  return errno ? say_wrong(option, text, "too large") : TOOL_OK;
}

static int say_unknown_path(const struct offset_option *option, const char *text, size_t length,
                            const struct tool_input *input) {
  char *path = strndup(text, length);
  struct kymo_nearest nearest = kymo_nearest_to(path ? path : "");
  for (size_t i = 0; i < input->count; i++)
    kymo_nearest_consider(&nearest, input->paths[i]);
  tool_say("--%s %s: expected one of the traces, found \"%s\"%s", option->name, text, path ? path : "",
           kymo_nearest_hint(&nearest).text);
  free(path);
  return TOOL_USAGE;
}

static int add_offset(int64_t *offsets_ns, const struct offset_option *option, const char *text,
                      const struct tool_input *input) {
  const char *sign = strrchr(text, '=');
  bool is_any = !sign;
  int64_t ns;
  int status = parse_amount(option, text, sign ? sign + 1 : text, &ns);
  if (status != TOOL_OK)
    return status;
  for (size_t i = 0; i < input->count; i++) {
    if (sign && !is_path(input->paths[i], text, (size_t)(sign - text)))
      continue;
    is_any = true;
    if (__builtin_add_overflow(offsets_ns[i], ns, &offsets_ns[i]))
      return say_wrong(option, text, "too large");
  }
  return is_any ? TOOL_OK : say_unknown_path(option, text, (size_t)(sign - text), input);
}

int tool_offsets_make(int64_t **offsets_ns, const struct tool_input *input) {
  const struct offset_option options[] = {{"clock-offset", &input->clock_offsets, false},
                                          {"clock-offset-ns", &input->clock_offsets_ns, true}};
  *offsets_ns = NULL;
  if (input->clock_offsets.count + input->clock_offsets_ns.count == 0)
    return TOOL_OK;
  *offsets_ns = calloc(input->count, sizeof **offsets_ns);
  if (!*offsets_ns) {
    tool_say("out of memory");
    return TOOL_FAILED;
  }
  int status = TOOL_OK;
  for (size_t i = 0; i < 2; i++)
    for (size_t k = 0; k < options[i].texts->count && status == TOOL_OK; k++)
      status = add_offset(*offsets_ns, &options[i], options[i].texts->list[k], input);
  return status;
}
