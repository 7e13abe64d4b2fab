/* SPDX-License-Identifier: MIT */
#include "print/level.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* From the most urgent to the least. */
static const char *const names[] = {"emergency",      "alert",         "critical",     "error",
                                    "warning",        "notice",        "info",         "debug:system",
                                    "debug:program",  "debug:process", "debug:module", "debug:unit",
                                    "debug:function", "debug:line",    "debug"};

const char *kymo_level_text(int32_t level, char number[KYMO_LEVEL_MAX]) {
  if (level >= 0 && (size_t)level < sizeof(names) / sizeof(*names))
    return names[level];
  snprintf(number, KYMO_LEVEL_MAX, "%d", (int)level);
  return number;
}

/* KYMO_LEVEL(debug_unit) has an underscore. */
static bool is_called(const char *name, const char *text) {
  for (; *name && (*name == *text || (*name == ':' && *text == '_')); name++)
    text++;
  return !*name && !*text;
}

int32_t kymo_level_of(const char *text) {
  char *end;
  for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
    if (is_called(names[i], text))
      return (int32_t)i;
  long number = strtol(text, &end, 10);
  return *text && !*end && number >= 0 && number < 1000 ? (int32_t)number : -1;
}

struct kymo_hint kymo_level_hint(const char *text) {
  return kymo_hint_among(text, names, sizeof(names) / sizeof(*names));
}
