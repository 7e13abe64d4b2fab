/* SPDX-License-Identifier: MIT */
#include "symbols/symbols.h"
#include "base/search.h"
#include "source/modules.h"
#include "symbols/demangle.h"
#include "symbols/file.h"
#include "source/format.h"
#include "trace/namer.h"
#include "trace/part.h"
#include <stdlib.h>
#include <string.h>

enum { TITLE_MAX = 4096, RECENT = 64, KNOWN_BITS = 13 };

struct file {
  struct file *next;
  char *path, *build_id;
  uint64_t inode;
  bool is_there;
  struct kymo_symbol_table table;
};

/* An address that was looked for in a view of a load map; view 0: none. */
struct known {
  const struct kymo_part *part;
  uint64_t address, view;
  struct kymo_symbol symbol; /* without a name: unknown */
};

struct kymo_symbols {
  struct kymo_trace *trace;
  struct file *files;
  struct {
    const struct kymo_module *module;
    struct file *file;
  } recent[RECENT]; /* by the place of the module in memory */
  struct known known[1 << KNOWN_BITS];
};

struct kymo_symbols *kymo_symbols_new(const struct kymo_trace *trace) {
  struct kymo_symbols *symbols = calloc(1, sizeof *symbols);
  if (symbols)
    symbols->trace = (struct kymo_trace *)(uintptr_t)trace; /* only its damage and warnings grow */
  return symbols;
}

void kymo_symbols_free(struct kymo_symbols *symbols) {
  while (symbols && symbols->files) {
    struct file *file = symbols->files;
    symbols->files = file->next;
    kymo_symbol_table_free(&file->table);
    free(file->path);
    free(file->build_id);
    free(file);
  }
  free(symbols);
}

bool kymo_symbols_are_there(const struct kymo_trace *trace) {
  for (size_t i = 0; i < kymo_trace_part_count(trace); i++)
    if (kymo_part_has_modules(kymo_trace_part(trace, i)))
      return true;
  return false;
}

static bool is_same(const struct file *file, const char *message, const char *other_path,
                    const char *other_message) {
  return strcmp(other_path, file->path) == 0 && strcmp(other_message, message) == 0;
}

/* A filter and a sink have symbols of their own. */
static bool is_reported(const struct kymo_trace *trace, const struct file *file, const char *message) {
  bool is = false;
  for (size_t i = 0; i < kymo_trace_damage_count(trace) && !is; i++)
    is = is_same(file, message, kymo_trace_damage(trace, i)->path, kymo_trace_damage(trace, i)->message);
  for (size_t i = 0; i < kymo_trace_warning_count(trace) && !is; i++)
    is = is_same(file, message, kymo_trace_warning(trace, i)->path, kymo_trace_warning(trace, i)->message);
  return is;
}

static void report(struct kymo_symbols *symbols, int status, const struct file *file,
                   const struct kymo_error *error) {
  if ((status == KYMO_E_SYSTEM || status == KYMO_E_USAGE) &&
      is_reported(symbols->trace, file, error->message))
    return;
  if (status == KYMO_E_MEMORY)
    kymo_trace_note_no_memory(symbols->trace);
  else if (status == KYMO_E_SYSTEM)
    kymo_trace_add_damage(symbols->trace, &(struct kymo_damage){.path = file->path,
                                                                .offset = KYMO_ERROR_NO_OFFSET,
                                                                .code = status,
                                                                .message = error->message});
  else if (status == KYMO_E_USAGE)
    kymo_trace_warn(symbols->trace, file->path, KYMO_ERROR_NO_OFFSET, "%s", error->message);
}

/* The file of a module, opened at the first use. NULL: out of memory. */
static struct file *file_of(struct kymo_symbols *symbols, const struct kymo_module *module) {
  struct file *file = symbols->files;
  while (file && (strcmp(file->path, module->path) != 0 || strcmp(file->build_id, module->build_id) != 0 ||
                  file->inode != module->inode))
    file = file->next;
  if (file)
    return file;
  file = calloc(1, sizeof *file);
  if (!file)
    return NULL;
  file->inode = module->inode;
  file->path = strdup(module->path);
  file->build_id = strdup(module->build_id);
  if (!file->path || !file->build_id) {
    free(file->path);
    free(file->build_id);
    free(file);
    return NULL;
  }
  struct kymo_error error;
  int status = kymo_symbol_table_read(&file->table, module, &error);
  report(symbols, status, file, &error);
  file->is_there = status == KYMO_OK;
  file->next = symbols->files;
  return symbols->files = file;
}

/* The readable name of a symbol. */
static const char *title_of(struct kymo_symbol_entry *entry) {
  char title[TITLE_MAX];
  if (!entry->is_asked) {
    entry->is_asked = true;
    entry->title = kymo_demangle(entry->name, title, sizeof title) ? strdup(title) : NULL;
  }
  return entry->title ? entry->title : entry->name;
}

/* The last symbol that begins at or before the address, and includes it. */
static struct kymo_symbol_entry *find(const struct kymo_symbol_table *table, uint64_t address) {
  size_t count = KYMO_COUNT_BEFORE(table->count, i, table->list[i].start <= address);
  if (!count)
    return NULL;
  struct kymo_symbol_entry *entry = &table->list[count - 1];
  while (entry > table->list && entry[-1].start == entry->start) /* the best of its names */
    entry--;
  return entry->size && address - entry->start >= entry->size ? NULL : entry;
}

/* The same as kymo_part_module, from the load map of the format if it has one. */
static const struct kymo_module *module_of(const struct kymo_part *part, const struct kymo_event *event,
                                           uint64_t address) {
  const struct kymo_load_map *map = kymo_part_load_map(part);
  return map ? map->module(map->user, event, address)
             : kymo_part_module(part, address, event ? event->cycles : UINT64_MAX);
}

/* A function of the kernel. */
static bool find_function(const struct kymo_part *part, const struct kymo_event *event, uint64_t address,
                          struct kymo_symbol *out) {
  const struct kymo_load_map *map = kymo_part_load_map(part);
  uint64_t begin = 0;
  const char *name = map ? map->function(map->user, event, address, &begin) : NULL;
  if (name)
    *out = (struct kymo_symbol){name, name, address - begin, (uintptr_t)name};
  return name != NULL;
}

static struct file *recent_file(struct kymo_symbols *symbols, const struct kymo_module *module) {
  size_t slot = (uintptr_t)module / sizeof *module % RECENT;
  if (symbols->recent[slot].module != module) {
    symbols->recent[slot].module = module;
    symbols->recent[slot].file = file_of(symbols, module);
    if (!symbols->recent[slot].file)
      kymo_trace_note_no_memory(symbols->trace);
  }
  return symbols->recent[slot].file;
}

static bool look_for(struct kymo_symbols *symbols, const struct kymo_part *part, uint64_t address,
                     const struct kymo_event *event, struct kymo_symbol *out) {
  const struct kymo_module *module = module_of(part, event, address);
  if (!module)
    return find_function(part, event, address, out);
  struct file *file = recent_file(symbols, module);
  if (!file || !file->is_there)
    return false;
  uint64_t place = address - module->bias;
  if (module->is_by_offset)
    place = kymo_symbol_table_address(&file->table, place);
  struct kymo_symbol_entry *entry = place == UINT64_MAX ? NULL : find(&file->table, place);
  if (!entry)
    return false;
  *out = (struct kymo_symbol){title_of(entry), entry->name, place - entry->start, (uintptr_t)entry};
  return true;
}

bool kymo_symbols_find(struct kymo_symbols *symbols, const struct kymo_part *part, uint64_t address,
                       const struct kymo_event *event, struct kymo_symbol *out) {
  const struct kymo_load_map *map = kymo_part_load_map(part);
  if (!map || !event)
    return look_for(symbols, part, address, event, out);
  uint64_t view = map->view(map->user, event);
  uint64_t hash = (address + (view << 48)) * UINT64_C(0x9E3779B97F4A7C15);
  struct known *known = &symbols->known[hash >> (64 - KNOWN_BITS)];
  if (known->address != address || known->view != view || known->part != part) {
    *known = (struct known){.part = part, .address = address, .view = view};
    if (!look_for(symbols, part, address, event, &known->symbol))
      known->symbol.name = NULL;
  }
  *out = known->symbol;
  return out->name != NULL;
}

/* ---- names for filters ---- */

static void *namer_begin(const struct kymo_trace *trace) { return kymo_symbols_new(trace); }

static void namer_end(void *symbols) { kymo_symbols_free(symbols); }

static bool namer_find(void *symbols, const struct kymo_part *part, uint64_t address,
                       const struct kymo_event *event, struct kymo_address_name *out) {
  struct kymo_symbol symbol;
  if (!kymo_symbols_find(symbols, part, address, event, &symbol))
    return false;
  *out = (struct kymo_address_name){symbol.name, symbol.mangled, symbol.offset};
  return true;
}

const struct kymo_namer kymo_namer = {namer_begin, namer_end, namer_find};
