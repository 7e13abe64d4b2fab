/* SPDX-License-Identifier: MIT */
#include "source/modules.h"
#include "base/fail.h"
#include "trace/trace.h"
#include <string.h>

static struct part_state *state_of(const struct kymo_part *part) {
  return (struct part_state *)(uintptr_t)part;
}

static int grow(struct kymo_trace *trace, struct part_state *state, struct kymo_error *error) {
  size_t capacity = state->module_capacity ? state->module_capacity * 2 : 16;
  struct kymo_module *grown = kymo_arena_array(&trace->arena, capacity, sizeof *grown);
  if (!grown)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (state->module_count)
    memcpy(grown, state->modules, state->module_count * sizeof *grown);
  state->modules = grown;
  state->module_capacity = capacity;
  return KYMO_OK;
}

/* Parts of a rotated trace repeat the modules that they share. */
static bool is_there(const struct part_state *state, const struct kymo_module *module) {
  for (size_t i = 0; i < state->module_count; i++) {
    const struct kymo_module *other = &state->modules[i];
    if (other->loaded == module->loaded && other->start == module->start &&
        !strcmp(other->path, module->path))
      return true;
  }
  return false;
}

int kymo_part_add_module(struct kymo_trace *trace, struct kymo_part *part, const struct kymo_module *module,
                         struct kymo_error *error) {
  struct part_state *state = state_of(part);
  if (is_there(state, module))
    return KYMO_OK;
  struct kymo_module copy = *module;
  copy.path = kymo_arena_copy(&trace->arena, module->path, strlen(module->path));
  copy.build_id = kymo_arena_copy(&trace->arena, module->build_id, strlen(module->build_id));
  if (!copy.path || !copy.build_id)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  int status = state->module_count == state->module_capacity ? grow(trace, state, error) : KYMO_OK;
  if (!status)
    state->modules[state->module_count++] = copy;
  return status;
}

void kymo_part_unload_module(struct kymo_part *part, uint64_t start, uint64_t cycles) {
  struct part_state *state = state_of(part);
  for (size_t i = state->module_count; i-- > 0;) {
    if (state->modules[i].start != start || state->modules[i].loaded > cycles)
      continue;
    if (state->modules[i].unloaded == UINT64_MAX)
      state->modules[i].unloaded = cycles;
    return;
  }
}

bool kymo_part_has_modules(const struct kymo_part *part) {
  return state_of(part)->module_count > 0 || state_of(part)->map;
}

const struct kymo_load_map *kymo_part_load_map(const struct kymo_part *part) { return state_of(part)->map; }

const struct kymo_module *kymo_part_module(const struct kymo_part *part, uint64_t address, uint64_t cycles) {
  const struct part_state *state = state_of(part);
  const struct kymo_module *later = NULL;
  for (size_t i = state->module_count; i-- > 0;) {
    const struct kymo_module *module = &state->modules[i];
    if (address < module->start || address >= module->end)
      continue;
    if (module->loaded <= cycles)
      return cycles < module->unloaded ? module : later;
    later = module;
  }
  return later;
}
