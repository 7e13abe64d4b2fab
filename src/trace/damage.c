/* SPDX-License-Identifier: MIT */
/* Lists of a trace: damaged places, warnings, sections, directories. */
#include "base/fail.h"
#include "base/list.h"
#include "trace/trace.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define DAMAGE_LIMIT 4096
#define WARNING_LIMIT 64
#define UNLISTED_TEXT 96

/* ---- damage ---- */

/* After a move back, the same places are found again. */
static bool is_known(const struct kymo_trace *trace, const struct kymo_damage *damage) {
  for (size_t i = 0; trace->has_jumped && i < trace->damage_count; i++) {
    const struct kymo_damage *known = &trace->damage[i];
    if (known->offset == damage->offset && strcmp(known->path, damage->path) == 0 &&
        strcmp(known->message, damage->message) == 0)
      return true;
  }
  return false;
}

static void count_unlisted(struct kymo_trace *trace, const struct kymo_damage *damage, size_t limit) {
  struct kymo_damage *last = &trace->damage[limit - 1];
  last->bytes_lost += damage->bytes_lost;
  if (trace->damage_unlisted == 0)
    trace->unlisted_text = kymo_arena_alloc(&trace->arena, UNLISTED_TEXT);
  trace->damage_unlisted +=
      trace->damage_unlisted ? 1 : 2; /* the last one of the list is replaced by this sentence */
  if (trace->unlisted_text)
    snprintf(trace->unlisted_text, UNLISTED_TEXT,
             "%zu damaged places from here on are counted, but not listed", trace->damage_unlisted);
  last->message = trace->unlisted_text ? trace->unlisted_text : "further damage is not listed";
}

void kymo_trace_add_damage(struct kymo_trace *trace, const struct kymo_damage *damage) {
  if (is_known(trace, damage))
    return;
  size_t limit = trace->damage_limit ? trace->damage_limit : DAMAGE_LIMIT;
  if (trace->damage_count >=
      limit) { /* untrusted files may be one long damage: the last entry contains how much more there is */
    count_unlisted(trace, damage, limit);
    return;
  }
  struct kymo_damage copy = *damage;
  copy.path = kymo_arena_copy(&trace->arena, damage->path, strlen(damage->path));
  copy.message = kymo_arena_copy(&trace->arena, damage->message, strlen(damage->message));
  if (!copy.path || !copy.message ||
      !KYMO_LIST_ROOM(trace->damage, trace->damage_capacity, trace->damage_count)) {
    trace->arena.failed = true; /* the note is lost: reading ends with KYMO_E_MEMORY */
    return;
  }
  trace->damage[trace->damage_count++] = copy;
}

size_t kymo_trace_damage_count(const struct kymo_trace *trace) { return trace->damage_count; }

size_t kymo_trace_damage_total(const struct kymo_trace *trace) {
  return trace->damage_unlisted ? trace->damage_count - 1 + trace->damage_unlisted : trace->damage_count;
}

const struct kymo_damage *kymo_trace_damage(const struct kymo_trace *trace, size_t index) {
  return index < trace->damage_count ? &trace->damage[index] : NULL;
}

/* ---- warnings ---- */

void kymo_trace_warn(struct kymo_trace *trace, const char *path, uint64_t offset, const char *format, ...) {
  char text[400];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (trace->warning_count == WARNING_LIMIT) {
    trace->warnings[WARNING_LIMIT - 1].message = "further warnings are not listed";
    return;
  }
  struct kymo_warning warning = {.path = kymo_arena_copy(&trace->arena, path, strlen(path)),
                                 .offset = offset,
                                 .message = kymo_arena_copy(&trace->arena, text, strlen(text))};
  if (warning.path && warning.message &&
      KYMO_LIST_ROOM(trace->warnings, trace->warning_capacity, trace->warning_count))
    trace->warnings[trace->warning_count++] = warning;
}

size_t kymo_trace_warning_count(const struct kymo_trace *trace) { return trace->warning_count; }

const struct kymo_warning *kymo_trace_warning(const struct kymo_trace *trace, size_t index) {
  return index < trace->warning_count ? &trace->warnings[index] : NULL;
}

/* ---- places ---- */

int kymo_part_add_place(struct kymo_trace *trace, struct kymo_part *part, const char *directory,
                        struct kymo_error *error) {
  struct part_state *state = (struct part_state *)part;
  const char *copy = kymo_arena_copy(&trace->arena, directory, strlen(directory));
  if (!copy || !KYMO_LIST_ROOM(state->places, state->place_capacity, state->place_count))
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  state->places[state->place_count++] = copy;
  return KYMO_OK;
}

/* ---- sections ---- */

int kymo_part_add_section(struct kymo_trace *trace, struct kymo_part *part,
                          const struct kymo_section *section, struct kymo_error *error) {
  struct part_state *state = (struct part_state *)part;
  struct kymo_section copy = *section;
  copy.name = kymo_arena_copy(&trace->arena, section->name, strlen(section->name));
  copy.holds = section->holds ? kymo_arena_copy(&trace->arena, section->holds, strlen(section->holds)) : NULL;
  if (!copy.name || (section->holds && !copy.holds) ||
      !KYMO_LIST_ROOM(state->sections, state->section_capacity, state->section_count))
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  state->sections[state->section_count++] = copy;
  return KYMO_OK;
}

size_t kymo_part_section_count(const struct kymo_part *part) {
  return ((const struct part_state *)part)->section_count;
}

const struct kymo_section *kymo_part_section(const struct kymo_part *part, size_t index) {
  const struct part_state *state = (const struct part_state *)part;
  return index < state->section_count ? &state->sections[index] : NULL;
}
