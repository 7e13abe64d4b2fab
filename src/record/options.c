/* SPDX-License-Identifier: MIT */
#include "record/options.h"
#include "ring/layout.h"
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

void kymo_warn(const char *first, ...) {
  static bool warned;
  if (__atomic_exchange_n(&warned, true, __ATOMIC_RELAXED))
    return;
  char line[512] = "kymo: ";
  size_t length = 6;
  va_list parts;
  va_start(parts, first);
  for (const char *part = first; part; part = va_arg(parts, const char *))
    for (; *part && length < sizeof line - 1; part++)
      line[length++] = *part;
  va_end(parts);
  line[length++] = '\n';
  if (write(STDERR_FILENO, line, length) < 0)
    return; /* a report would reach no one */
}

bool kymo_options_mode(struct kymo_options *options, const char *text) {
  if (!strcmp(text, "discard"))
    options->mode = KYMO_MODE_DISCARD;
  else if (!strcmp(text, "overwrite"))
    options->mode = KYMO_MODE_OVERWRITE;
  else {
    kymo_warn("expected the mode discard or overwrite, found ", text, NULL);
    return false;
  }
  return true;
}

bool kymo_options_size(const char *text, uint32_t *bytes) {
  char *end;
  errno = 0;
  unsigned long long size = strtoull(text, &end, 0);
  static const char units[] = "kKmMgG";
  const char *unit = *end ? strchr(units, *end) : NULL;
  if (unit && size <= KYMO_BUFFER_MAX)
    size <<= 10 * ((unit - units) / 2 + 1), end++;
  if (errno || end == text || *end || text[0] == '-' || size < KYMO_BUFFER_MIN || size > KYMO_BUFFER_MAX)
    return false;
  for (*bytes = KYMO_BUFFER_MIN; *bytes < size;)
    *bytes <<= 1;
  return true;
}

bool kymo_options_buffer(struct kymo_options *options, const char *text) {
  if (kymo_options_size(text, &options->buffer_bytes))
    return true;
  kymo_warn("expected a buffer size from 16k to 1G, found ", text, NULL);
  return false;
}

static void read_clock(struct kymo_options *options, const char *text) {
  static const char *const names[] = {
      [KYMO_CLOCK_COUNTER] = "counter", [KYMO_CLOCK_MONOTONIC] = "monotonic", [KYMO_CLOCK_NONE] = "none"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!strcmp(text, names[i])) {
      options->clock = (enum kymo_clock_choice)i;
      return;
    }
  kymo_warn("expected the clock counter, monotonic or none, found ", text, NULL);
}

static const char *variable(const char *name) {
  const char *value = secure_getenv(name);
  return value && *value ? value : NULL;
}

const char *kymo_options_absolute(const char *path) {
  char here[4096], *out;
  if (!path || path[0] == '/' || !getcwd(here, sizeof here) || asprintf(&out, "%s/%s", here, path) < 0)
    return path;
  return out;
}

void kymo_options_enable(struct kymo_options *options, const char *patterns) {
  options->enable = patterns;
  if (!options->save_is_chosen)
    options->save_at_exit = true;
}

void kymo_options_read(struct kymo_options *options) {
  *options = (struct kymo_options){
      .enable = variable("KYMO_ENABLE"),
      .out = kymo_options_absolute(variable("KYMO_OUT")),
      .rings = kymo_options_absolute(variable("KYMO_RINGS")),
      .mode = KYMO_MODE_OVERWRITE,
      .buffer_bytes = KYMO_BUFFER_DEFAULT,
      .clock = KYMO_CLOCK_COUNTER,
      .origin = variable("KYMO_ORIGIN"),
      .control = !getauxval(AT_SECURE),
      .is_privileged = getauxval(AT_SECURE) != 0,
  };
  const char *value;
  if ((value = variable("KYMO_MODE")))
    kymo_options_mode(options, value);
  if ((value = variable("KYMO_BUFFER")))
    kymo_options_buffer(options, value);
  if ((value = variable("KYMO_GROW")) && !kymo_options_size(value, &options->grow_bytes))
    kymo_warn("expected a size from 16k to 1G for rings to grow by, found ", value, NULL);
  options->buffer_is_chosen = variable("KYMO_BUFFER") || variable("KYMO_GROW");
  options->save_at_exit = options->enable;
  if ((value = variable("KYMO_SAVE"))) {
    options->save_is_chosen = true;
    options->keep_all = !strcmp(value, "outside");
    options->save_at_exit = !options->keep_all && strcmp(value, "never") != 0;
  }
  if ((value = variable("KYMO_CLOCK")))
    read_clock(options, value);
  options->marks_crash = (value = variable("KYMO_CRASH")) && !strcmp(value, "mark");
  if ((value = variable("KYMO_CONTROL")))
    options->control = options->control && strcmp(value, "0") != 0;
}
