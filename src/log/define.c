/* SPDX-License-Identifier: MIT */
/*
 * Definitions of events. A complete definition is appended, as a frame, to the definitions of its log;
 * before bytes of a buffer are written to a file, the definitions that the file lacks are written (file.c),
 * so each definition is in each file that has an event of its kind.
 */
#include "log/define.h"
#include "base/sized.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

static uint32_t last_serial;

static int fail(int reason) {
  errno = reason;
  return -1;
}

static struct kymo_definition_state *state_of(struct kymo_definition *definition) {
  return (struct kymo_definition_state *)definition;
}

/* ---- building ---- */

static bool read_options(struct kymo_definition_options *out, const struct kymo_definition_options *given,
                         size_t size) {
  *out = (struct kymo_definition_options){0};
  if (given)
    kymo_sized_in(out, sizeof *out, given, size);
  return !out->template_text ||
         strnlen(out->template_text, KYMO_DEFINITION_TEMPLATE_MAX + 1) <= KYMO_DEFINITION_TEMPLATE_MAX;
}

static void free_one(struct kymo_definition_state *state) {
  for (uint32_t i = 0; i < state->definition.field_count; i++)
    free((void *)(uintptr_t)state->definition.fields[i].name);
  free((void *)(uintptr_t)state->definition.name);
  free((void *)(uintptr_t)state->definition.template_text);
  free(state);
}

static struct kymo_definition_state *make(const char *name, const struct kymo_definition_options *options) {
  struct kymo_definition_state *state = calloc(1, sizeof *state);
  if (!state)
    return NULL;
  struct kymo_event_definition *definition = &state->definition;
  definition->application = options->application;
  definition->version = options->version;
  definition->id = options->id;
  definition->name = strdup(name);
  definition->name_length = (uint16_t)strlen(name);
  if (options->template_text) {
    definition->template_text = strdup(options->template_text);
    definition->template_length = (uint16_t)strlen(options->template_text);
  }
  int reason = !definition->name || (options->template_text && !definition->template_text) ? ENOMEM
               : kymo_event_definition_template_fault(definition, false)                   ? EINVAL
                                                                                           : 0;
  if (!reason)
    return state;
  free_one(state);
  errno = reason;
  return NULL;
}

/* Assigns an index in its log. */
static bool enter(struct kymo_log_state *log, struct kymo_definition_state *state) {
  kymo_logs_lock();
  bool has_room = log->definition_count <= UINT16_MAX;
  if (has_room) {
    state->hot = (struct kymo_definition){&log->hot, ++last_serial, (uint16_t)log->definition_count++};
    state->definition.index = state->hot.index;
    state->definition.id = state->definition.id ? state->definition.id : log->definition_count;
    state->next = log->definitions;
    log->definitions = state;
  }
  kymo_logs_unlock();
  return has_room;
}

struct kymo_definition *kymo_definition_new_(struct kymo_log *log, const char *name,
                                             const struct kymo_definition_options *given, size_t size) {
  struct kymo_definition_options options;
  if (!log->frame || log->event_max < sizeof(uint16_t) || !name ||
      !kymo_field_is_name(name, strnlen(name, KYMO_DEFINITION_NAME_MAX + 1)) ||
      !read_options(&options, given, size)) {
    errno = EINVAL;
    return NULL;
  }
  struct kymo_definition_state *state = make(name, &options);
  if (!state || enter(kymo_log_state(log), state))
    return state ? &state->hot : NULL;
  free_one(state);
  errno = ENOSPC;
  return NULL;
}

static bool has_field(const struct kymo_event_definition *definition, const char *name, size_t length) {
  for (uint32_t i = 0; i < definition->field_count; i++)
    if (definition->fields[i].name_length == length && !memcmp(definition->fields[i].name, name, length))
      return true;
  return false;
}

int kymo_definition_add_field(struct kymo_definition *hot, const char *name, uint32_t field) {
  struct kymo_definition_state *state = state_of(hot);
  struct kymo_event_definition *definition = &state->definition;
  size_t length = name ? strnlen(name, KYMO_DEFINITION_NAME_MAX + 1) : 0;
  if (__atomic_load_n(&state->is_complete, __ATOMIC_RELAXED))
    return fail(EBUSY);
  if (!kymo_field_is_known(field) || !kymo_field_is_name(name, length) || has_field(definition, name, length))
    return fail(EINVAL);
  if (definition->field_count == KYMO_DEFINITION_FIELDS_MAX)
    return fail(ENOSPC);
  char *copy = strdup(name);
  if (!copy)
    return fail(ENOMEM);
  definition->fields[definition->field_count++] =
      (struct kymo_event_definition_field){field, (uint32_t)length, copy};
  return 0;
}

void kymo_event_definitions_free(struct kymo_log_state *log) {
  struct kymo_definition_state *next;
  for (struct kymo_definition_state *state = log->definitions; state; state = next) {
    next = state->next;
    free_one(state);
  }
  if (log->defined)
    munmap(log->defined, KYMO_DEFINED_ROOM);
}

/* ---- into the log ---- */

static void put_frame(const struct kymo_event_definition *definition, unsigned char *at) {
  uint32_t sequence = 0, length = (uint32_t)kymo_event_definition_size(definition) | KYMO_FRAME_DEFINITION_;
  memcpy(at, KYMO_FRAME_MAGIC_, 4);
  memcpy(at + 4, &sequence, 4);
  memcpy(at + 8, &length, 4);
  kymo_event_definition_put(definition, at + KYMO_FRAME_BYTES_);
}

/* With the lock held. Returns an errno, or 0. */
static int append(struct kymo_log_state *log, const struct kymo_event_definition *definition) {
  size_t used = log->defined_bytes, size = KYMO_FRAME_BYTES_ + kymo_event_definition_size(definition);
  if (!log->defined) {
    void *memory = mmap(NULL, KYMO_DEFINED_ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      return ENOMEM;
    log->defined = memory;
  }
  if (size > KYMO_DEFINED_ROOM - used)
    return ENOSPC;
  put_frame(definition, log->defined + used);
  /* release: the bytes are stored, and so is their space; partner: defined_of in file.c */
  __atomic_store_n(&log->defined_bytes, used + size, __ATOMIC_RELEASE);
  return 0;
}

int kymo_definition_end(struct kymo_definition *hot) {
  struct kymo_definition_state *state = state_of(hot);
  int reason = 0;
  /* acquire: the definition is in the log; partner: below */
  if (__atomic_load_n(&state->is_complete, __ATOMIC_ACQUIRE))
    return 0;
  kymo_logs_lock();
  if (!state->is_complete) {
    reason = kymo_event_definition_template_fault(&state->definition, true)
                 ? EINVAL
                 : append(kymo_log_state(hot->log), &state->definition);
    __atomic_store_n(&state->is_complete, !reason, __ATOMIC_RELEASE);
  }
  kymo_logs_unlock();
  return reason ? fail(reason) : 0;
}

/* ---- events ---- */

const char *kymo_definition_fault(struct kymo_definition *definition, const char *format) {
  const struct kymo_event_definition *of = &state_of(definition)->definition;
  const char *wrong = kymo_event_definition_template_fault(of, true);
  return wrong ? wrong : kymo_event_definition_format_fault(of, format);
}

bool kymo_definition_fits_(struct kymo_definition *definition, uint32_t *fitted, const char *format) {
  if (kymo_definition_end(definition))
    return false;
  if (kymo_event_definition_format_fault(&state_of(definition)->definition, format)) {
    errno = EINVAL;
    return false;
  }
  __atomic_store_n(fitted, definition->serial, __ATOMIC_RELEASE);
  return true;
}

int kymo_definition_write(struct kymo_definition *definition, const void *bytes, size_t size) {
  struct kymo_event_definition_fault fault;
  if (!__atomic_load_n(&definition->log->point->enabled, __ATOMIC_RELAXED))
    return 0;
  if (kymo_definition_end(definition))
    return -1;
  if (!kymo_event_definition_fits(&state_of(definition)->definition, bytes, size, KYMO_HOST_IS_BIG, &fault))
    return fail(EINVAL);
  if (size > definition->log->event_max - sizeof definition->index)
    return kymo_log_lose(definition->log);
  struct kymo_bplace_ place = kymo_breserve_defined_(definition, size);
  if (!place.at)
    return -1;
  if (size)
    memcpy(place.at, bytes, size);
  kymo_bcommit_(place, place.at + size);
  return (int)size;
}
