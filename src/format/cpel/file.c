/* SPDX-License-Identifier: MIT */
/* Taking a CPEL file apart. */
#include "format/cpel/file.h"
#include "base/fail.h"
#include "base/search.h"
#include "source/format.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER_SIZE 8
#define COUNT_AT 2     /* offset of the number of sections in the header */
#define HEADING_SIZE 8 /* of a section: type, length */
#define WORD 4         /* string tables end at a multiple of this */

/* Clocks up to this count ticks per microsecond, as the format's page says; faster ones ticks per second, as
 * in VPP. */
#define CLOCK_PER_MICROSECOND_MAX 100000
#define CLOCK_ASSUMED 1000000000

void kymo_cpel_damage(const struct cpel_file *file, struct kymo_trace *trace, uint64_t at, const char *format,
                      ...) {
  char text[400];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  /* the format of an event and that of its datum may be the same */
  const struct kymo_damage *last = kymo_trace_damage(trace, kymo_trace_damage_count(trace) - 1);
  if (last && last->offset == at && strcmp(last->message, text) == 0 && strcmp(last->path, file->path) == 0)
    return;
  kymo_trace_add_damage(
      trace, &(struct kymo_damage){.path = file->path, .offset = at, .code = KYMO_E_FORMAT, .message = text});
}

static uint32_t load_at(const struct cpel_file *file, uint64_t at) {
  return cpel_load(file->data + at, file->is_big);
}

/* ---- sections ---- */

static int read_header(struct cpel_file *file, uint16_t *sections, struct kymo_error *error) {
  if (file->size < HEADER_SIZE)
    return kymo_fail_at(error, KYMO_E_FORMAT, file->path, 0,
                        "a CPEL header has 8 bytes, the file has %" PRIu64, file->size);
  unsigned version = file->data[0] & 0x7f;
  if (version != 1)
    return kymo_fail_at(error, KYMO_E_FORMAT, file->path, 0, "expected CPEL of version 1, found %u", version);
  file->is_big = !(file->data[0] & 0x80);
  *sections = file->is_big ? (uint16_t)(file->data[2] << 8 | file->data[3])
                           : (uint16_t)(file->data[3] << 8 | file->data[2]);
  file->date = load_at(file, 4);
  return KYMO_OK;
}

static int list_sections(struct cpel_file *file, struct kymo_trace *trace, uint16_t said,
                         struct kymo_error *error) {
  uint64_t at = HEADER_SIZE;
  file->sections = kymo_arena_array(&file->arena, said + 1u, sizeof *file->sections);
  if (!file->sections)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  for (unsigned i = 0; i < said; i++) {
    if (file->size - at < HEADING_SIZE) {
      file->is_cut = true;
      kymo_cpel_damage(file, trace, at, "expected section %u of %u, found the end of the file", i + 1, said);
      return KYMO_OK;
    }
    struct cpel_section *section = &file->sections[file->section_count++];
    uint32_t length = load_at(file, at + 4);
    *section = (struct cpel_section){.type = load_at(file, at), .at = at + HEADING_SIZE, .size = length};
    if (length > file->size - section->at) {
      file->is_cut = section->is_cut = true;
      section->size = (uint32_t)(file->size - section->at);
      kymo_cpel_damage(file, trace, at + 4,
                       "section %u (type %" PRIu32 ") has %" PRIu32 " bytes, the file ends after %" PRIu32,
                       i + 1, section->type, length, section->size);
      return KYMO_OK;
    }
    at = section->at + length;
  }
  file->is_cut = at < file->size;
  if (file->is_cut) /* without this warning, a section that the header does not count would be lost
                     * silently */
    kymo_cpel_damage(file, trace, at, "%" PRIu64 " byte%s after the last of %u sections", file->size - at,
                     file->size - at == 1 ? "" : "s", said);
  return KYMO_OK;
}

/* ---- string tables ---- */

const char *kymo_cpel_string(const uint8_t *data, uint64_t size, const struct cpel_table *table,
                             uint32_t offset, size_t *length) {
  if (!table || offset >= table->size)
    return NULL;
  if (table->bytes) {
    data = table->bytes;
    size = table->at + table->size;
  }
  if (table->at + offset >= size)
    return NULL;
  const char *text = (const char *)data + table->at + offset;
  uint64_t room = table->size - offset, there = size - (table->at + offset);
  size_t most = (size_t)(room < there ? room : there);
  *length = strnlen(text, most);
  return *length < most ? text : NULL;
}

static size_t count_sections(const struct cpel_file *file, uint32_t type) {
  size_t count = 0;
  for (size_t i = 0; i < file->section_count; i++)
    count += file->sections[i].type == type;
  return count;
}

/* Those without a name come last. */
static int compare_tables(const void *a, const void *b) {
  const struct cpel_table *one = a, *other = b;
  int order = !one->name || !other->name ? !one->name - !other->name : strcmp(one->name, other->name);
  return order ? order : one->at < other->at ? -1 : one->at > other->at;
}

/* Of tables with the same name, ordered by their offsets, the first one is used. */
static void warn_of_tables(const struct cpel_file *file, struct kymo_trace *trace) {
  const struct cpel_table *first = file->tables;
  for (size_t i = 0; i < file->table_count; i++) {
    const struct cpel_table *table = &file->tables[i];
    bool ends_with_file = file->is_cut && table->at + table->size == file->size; /* that was reported */
    if (table->size % WORD && !ends_with_file)
      kymo_trace_warn(trace, file->path, table->at,
                      "string table \"%s\" has %" PRIu32 " bytes, not a multiple of %d",
                      table->name ? table->name : "", table->size, WORD);
    if (i > 0 && table->name && first->name && strcmp(table->name, first->name) == 0)
      kymo_trace_warn(trace, file->path, table->at,
                      "another string table \"%s\": the one at byte %" PRIu64 " is used", table->name,
                      first->at);
    else
      first = table;
  }
}

static int list_tables(struct cpel_file *file, struct kymo_trace *trace, struct kymo_error *error) {
  file->tables = kymo_arena_array(&file->arena, count_sections(file, CPEL_STRINGS) + 1, sizeof *file->tables);
  if (!file->tables)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  for (size_t i = 0; i < file->section_count; i++) {
    const struct cpel_section *section = &file->sections[i];
    struct cpel_table table = {.at = section->at, .size = section->size};
    size_t length;
    const char *name = kymo_cpel_string(file->data, file->size, &table, 0, &length);
    if (section->type != CPEL_STRINGS)
      continue;
    if (name && length <= CPEL_NAME_SIZE && !(table.name = kymo_arena_copy(&file->arena, name, length)))
      return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
    file->tables[file->table_count++] = table;
  }
  if (file->table_count)
    qsort(file->tables, file->table_count, sizeof *file->tables, compare_tables);
  warn_of_tables(file, trace);
  return KYMO_OK;
}

/* The table that a section names at its begin; NULL, and damage, if there is none. */
static const struct cpel_table *find_table(struct cpel_file *file, struct kymo_trace *trace,
                                           const struct cpel_section *section,
                                           char name[CPEL_NAME_SIZE + 1]) {
  memcpy(name, file->data + section->at, CPEL_NAME_SIZE);
  name[CPEL_NAME_SIZE] = '\0';
  const struct cpel_table *tables = file->tables;
  size_t at = KYMO_COUNT_BEFORE(file->table_count, i, tables[i].name && strcmp(tables[i].name, name) < 0);
  if (at < file->table_count && tables[at].name && strcmp(tables[at].name, name) == 0)
    return &tables[at];
  kymo_cpel_damage(file, trace, section->at, "no string table has the name \"%s\"", name);
  return NULL;
}

/* ---- definitions ---- */

/* How many entries of `size` bytes a section has after its head of `head` bytes, if its count is `said`. */
static uint32_t bound_count(const struct cpel_file *file, struct kymo_trace *trace,
                            const struct cpel_section *section, uint32_t head, uint32_t size) {
  uint32_t said = load_at(file, section->at + CPEL_NAME_SIZE), there = (section->size - head) / size;
  uint64_t end = head + (uint64_t)said * size;
  if (said <= there && end < section->size)
    kymo_trace_warn(trace, file->path, section->at + end,
                    "%" PRIu64 " byte%s after the last of %" PRIu32 " entries of the section: not read",
                    section->size - end, section->size - end == 1 ? "" : "s", said);
  if (said <= there)
    return said;
  if (!section->is_cut) /* else that was reported */
    kymo_cpel_damage(file, trace, section->at + CPEL_NAME_SIZE,
                     "%" PRIu32 " entries in a section that has space for %" PRIu32, said, there);
  return there;
}

/* False, and damage, if the section's head is missing. */
static bool has_head(const struct cpel_file *file, struct kymo_trace *trace,
                     const struct cpel_section *section, uint32_t head) {
  if (section->size >= head)
    return true;
  kymo_cpel_damage(file, trace, section->at,
                   "a section of type %" PRIu32 " begins with %" PRIu32 " bytes, it has %" PRIu32,
                   section->type, head, section->size);
  return false;
}

/* Whether `count` symbols are in the order of their values, as is required within a section. */
static bool are_sorted(const struct cpel_symbol *symbols, size_t count) {
  for (size_t i = 1; i < count; i++)
    if (symbols[i - 1].value > symbols[i].value)
      return false;
  return true;
}

/* Calls `add` for each entry of the sections of a type. */
typedef void entry_reader(struct cpel_file *file, const uint8_t *from, const struct cpel_table *table);

static void read_entries(struct cpel_file *file, struct kymo_trace *trace, uint32_t type, uint32_t size,
                         entry_reader *add) {
  for (size_t i = 0; i < file->section_count; i++) {
    const struct cpel_section *section = &file->sections[i];
    uint32_t head = CPEL_NAME_SIZE + 4;
    char name[CPEL_NAME_SIZE + 1];
    if (section->type != type || !has_head(file, trace, section, head))
      continue;
    const struct cpel_table *table = find_table(file, trace, section, name);
    uint32_t count = bound_count(file, trace, section, head, size);
    size_t symbols = file->symbol_count;
    for (uint32_t j = 0; j < count; j++)
      add(file, file->data + section->at + head + (uint64_t)j * size, table);
    if (!are_sorted(file->symbols + symbols, file->symbol_count - symbols))
      kymo_trace_warn(trace, file->path, section->at,
                      "symbol table \"%s\" is not sorted by value: sorted for reading", name);
  }
}

/* The maximum number of entries in all sections of a type. */
static size_t most_entries(const struct cpel_file *file, uint32_t type, uint32_t size) {
  size_t count = 1;
  for (size_t i = 0; i < file->section_count; i++)
    count += file->sections[i].type == type ? file->sections[i].size / size : 0;
  return count;
}

static void add_symbol(struct cpel_file *file, const uint8_t *from, const struct cpel_table *table) {
  file->symbols[file->symbol_count++] =
      (struct cpel_symbol){cpel_load(from, file->is_big), cpel_load(from + 4, file->is_big), table};
}

static void add_event(struct cpel_file *file, const uint8_t *from, const struct cpel_table *table) {
  file->event_definitions[file->event_count] =
      (struct cpel_definition){.at = (uint64_t)(from - file->data),
                               .key = cpel_load(from, file->is_big),
                               .format = cpel_load(from + 4, file->is_big),
                               .datum_format = cpel_load(from + 8, file->is_big),
                               .table = table};
  file->event_count++;
}

static void add_track(struct cpel_file *file, const uint8_t *from, const struct cpel_table *table) {
  file->track_definitions[file->track_count] =
      (struct cpel_definition){.at = (uint64_t)(from - file->data),
                               .key = cpel_load(from, file->is_big),
                               .format = cpel_load(from + 4, file->is_big),
                               .table = table};
  file->track_count++;
}

static int compare_symbols(const void *a, const void *b) {
  const struct cpel_symbol *one = a, *other = b;
  if (one->value != other->value)
    return one->value < other->value ? -1 : 1;
  return one->name < other->name ? -1 : one->name > other->name;
}

static void sort_symbols(struct cpel_file *file) {
  if (!are_sorted(file->symbols, file->symbol_count))
    qsort(file->symbols, file->symbol_count, sizeof *file->symbols, compare_symbols);
}

const struct cpel_symbol *kymo_cpel_symbol(const struct cpel_file *file, uint32_t value) {
  size_t count = KYMO_COUNT_BEFORE(file->symbol_count, i, file->symbols[i].value <= value);
  return count ? &file->symbols[count - 1] : NULL;
}

static int compare_keys(const void *a, const void *b) {
  const struct cpel_definition *one = a, *other = b;
  return one->key < other->key ? -1 : one->key > other->key;
}

static int compare_definitions(const void *a, const void *b) {
  const struct cpel_definition *one = a, *other = b;
  int order = compare_keys(a, b);
  return order ? order : one->at < other->at ? -1 : one->at > other->at;
}

size_t kymo_cpel_sort(struct cpel_definition *list, size_t count) {
  size_t kept = 0;
  bool is_sorted = true;
  for (size_t i = 1; i < count; i++)
    is_sorted &= list[i - 1].key < list[i].key;
  if (is_sorted)
    return count;
  qsort(list, count, sizeof *list, compare_definitions);
  for (size_t i = 0; i < count; i++)
    if (kept == 0 || list[kept - 1].key != list[i].key)
      list[kept++] = list[i];
  return kept;
}

/* Orders the definitions of a file: only the first one of a code or track is used. */
static size_t sort_definitions(const struct cpel_file *file, struct kymo_trace *trace,
                               struct cpel_definition *list, size_t count, const char *what) {
  const struct cpel_definition *first = list;
  bool is_sorted = true;
  for (size_t i = 1; i < count; i++)
    is_sorted &= list[i - 1].key < list[i].key;
  if (is_sorted)
    return count;
  qsort(list, count, sizeof *list, compare_definitions);
  for (size_t i = 1; i < count; i++) {
    if (list[i].key == first->key)
      kymo_trace_warn(trace, file->path, list[i].at,
                      "another definition of %s %" PRIu32 ": the one at byte %" PRIu64 " is used", what,
                      list[i].key, first->at);
    else
      first = &list[i];
  }
  return kymo_cpel_sort(list, count);
}

static int read_definitions(struct cpel_file *file, struct kymo_trace *trace, struct kymo_error *error) {
  struct kymo_arena *arena = &file->arena;
  file->symbols = kymo_arena_array(arena, most_entries(file, CPEL_SYMBOLS, 8), sizeof *file->symbols);
  file->event_definitions = kymo_arena_array(arena, most_entries(file, CPEL_EVENT_DEFINITIONS, 12),
                                             sizeof *file->event_definitions);
  file->track_definitions =
      kymo_arena_array(arena, most_entries(file, CPEL_TRACK_DEFINITIONS, 8), sizeof *file->track_definitions);
  if (!file->symbols || !file->event_definitions || !file->track_definitions)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  read_entries(file, trace, CPEL_SYMBOLS, 8, add_symbol);
  read_entries(file, trace, CPEL_EVENT_DEFINITIONS, 12, add_event);
  read_entries(file, trace, CPEL_TRACK_DEFINITIONS, 8, add_track);
  sort_symbols(file);
  file->event_count = sort_definitions(file, trace, file->event_definitions, file->event_count, "event");
  file->track_count = sort_definitions(file, trace, file->track_definitions, file->track_count, "track");
  return KYMO_OK;
}

const struct cpel_definition *kymo_cpel_find(const struct cpel_definition *list, size_t count, uint32_t key) {
  struct cpel_definition wanted = {.key = key};
  return count ? bsearch(&wanted, list, count, sizeof *list, compare_keys) : NULL;
}

/* ---- events ---- */

static void read_clock(struct cpel_file *file, struct kymo_trace *trace, struct cpel_events *events,
                       uint64_t at) {
  events->clock = load_at(file, at);
  const char *unit = kymo_trace_options(trace)->cpel_clock;
  events->is_per_microsecond = unit ? strcmp(unit, "us") == 0 : events->clock <= CLOCK_PER_MICROSECOND_MAX;
  events->frequency = events->clock * (events->is_per_microsecond ? UINT64_C(1000000) : 1);
  if (events->clock)
    return;
  events->frequency = CLOCK_ASSUMED;
  events->is_per_microsecond = false;
  kymo_cpel_damage(file, trace, at, "a clock of 0 ticks a second: read as %d", CLOCK_ASSUMED);
}

static int read_event_sections(struct cpel_file *file, struct kymo_trace *trace, struct kymo_error *error) {
  file->events = kymo_arena_array(&file->arena, count_sections(file, CPEL_EVENTS) + 1, sizeof *file->events);
  if (!file->events)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  for (size_t i = 0; i < file->section_count; i++) {
    const struct cpel_section *section = &file->sections[i];
    uint32_t head = CPEL_NAME_SIZE + 8;
    if (section->type != CPEL_EVENTS || !has_head(file, trace, section, head))
      continue;
    struct cpel_events *events = &file->events[file->events_count++];
    events->table = find_table(file, trace, section, events->table_name);
    events->at = section->at + head;
    events->count = bound_count(file, trace, section, head, CPEL_EVENT_SIZE);
    read_clock(file, trace, events, section->at + CPEL_NAME_SIZE + 4);
  }
  if (!file->is_cut && count_sections(file, CPEL_EVENTS) == 0)
    kymo_trace_warn(trace, file->path, COUNT_AT, "none of the %zu sections has events", file->section_count);
  return KYMO_OK;
}

/* ---- what is reported of sections ---- */

static const struct {
  const char *name, *holds;
  uint32_t head;
} kinds[] = {
    [CPEL_STRINGS] = {"string table", "strings", 0},
    [CPEL_SYMBOLS] = {"symbol table", "symbols", CPEL_NAME_SIZE + 4},
    [CPEL_EVENT_DEFINITIONS] = {"event definitions", "definitions", CPEL_NAME_SIZE + 4},
    [CPEL_TRACK_DEFINITIONS] = {"track definitions", "definitions", CPEL_NAME_SIZE + 4},
    [CPEL_EVENTS] = {"events", "events", CPEL_NAME_SIZE + 8},
};

/* A string ends with a zero; zeros after the last one fill up to a boundary of 4 bytes. */
static uint32_t count_strings(const struct cpel_file *file, const struct cpel_section *section) {
  uint32_t count = 0;
  const uint8_t *at = file->data + section->at, *end = at + section->size;
  while (end - at > 1 && end[-1] == 0 && end[-2] == 0)
    end--;
  for (; at < end && (at = memchr(at, 0, (size_t)(end - at))); at++)
    count++;
  return count;
}

/* "12 strings in "FileStrtab"", "3 events in "FileStrtab", 1000000000 ticks a second" */
static void describe_section(const struct cpel_file *file, const struct cpel_section *section, char *out,
                             size_t size) {
  uint32_t said = section->type == CPEL_STRINGS ? count_strings(file, section)
                                                : load_at(file, section->at + CPEL_NAME_SIZE);
  int name = (int)strnlen((const char *)file->data + section->at,
                          section->size < CPEL_NAME_SIZE ? section->size : CPEL_NAME_SIZE);
  int length = snprintf(out, size, "%" PRIu32 " %s, %s \"%.*s\"", said, kinds[section->type].holds,
                        section->type == CPEL_STRINGS ? "named" : "strings of", name,
                        (const char *)file->data + section->at);
  for (size_t i = 0;
       section->type == CPEL_EVENTS && i < file->events_count && length > 0 && (size_t)length < size; i++)
    if (file->events[i].at == section->at + kinds[CPEL_EVENTS].head)
      snprintf(out + length, size - (size_t)length, ", %" PRIu32 " ticks a %s", file->events[i].clock,
               file->events[i].is_per_microsecond ? "microsecond" : "second");
}

int kymo_cpel_add_sections(const struct cpel_file *file, struct kymo_trace *trace, struct kymo_part *part,
                           struct kymo_error *error) {
  int status = KYMO_OK;
  for (size_t i = 0; i < file->section_count && status == KYMO_OK; i++) {
    const struct cpel_section *from = &file->sections[i];
    bool is_known = from->type >= CPEL_STRINGS && from->type <= CPEL_EVENTS;
    char holds[256];
    struct kymo_section section = {.type = from->type,
                                   .offset = from->at,
                                   .size_bytes = from->size,
                                   .name = is_known ? kinds[from->type].name : "unknown"};
    if (is_known && from->size >= kinds[from->type].head) {
      describe_section(file, from, holds, sizeof holds);
      section.holds = holds;
    }
    status = kymo_part_add_section(trace, part, &section, error);
  }
  return status;
}

/* ---- life ---- */

int kymo_cpel_open(struct cpel_file *file, struct kymo_trace *trace, const char *path,
                   struct kymo_error *error) {
  uint16_t sections = 0;
  *file = (struct cpel_file){.map.fd = -1, .format = "cpel", .conversions = "diuoxXcskI", .has_date = true};
  file->path = kymo_arena_copy(&file->arena, path, strlen(path));
  if (!file->path)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  int status = kymo_map_open(&file->map, file->path, error);
  if (status == KYMO_OK)
    status = kymo_map_get(&file->map, 0, UINT64_MAX, &file->data, &file->size, error);
  if (status == KYMO_OK)
    status = read_header(file, &sections, error);
  if (status == KYMO_OK)
    status = list_sections(file, trace, sections, error);
  if (status == KYMO_OK)
    status = list_tables(file, trace, error);
  if (status == KYMO_OK)
    status = read_definitions(file, trace, error);
  if (status == KYMO_OK)
    status = read_event_sections(file, trace, error);
  return status == KYMO_OK ? kymo_map_check(&file->map, error) : status;
}

void kymo_cpel_close(struct cpel_file *file) {
  kymo_map_close(&file->map);
  kymo_arena_free(&file->arena);
}

/* ---- holes ---- */

uint64_t kymo_cpel_hole(struct kymo_holes *holes, const struct cpel_events *events, uint64_t next,
                        uint64_t count) {
  uint64_t at = events->at + next * CPEL_EVENT_SIZE, end = events->at + count * CPEL_EVENT_SIZE;
  uint64_t hole = at < end ? kymo_holes_large(holes, at, end) : end;
  uint64_t first = (hole - events->at + CPEL_EVENT_SIZE - 1) / CPEL_EVENT_SIZE;
  return first < count ? first : count;
}

uint64_t kymo_cpel_hole_events(const struct kymo_holes *holes, const struct cpel_events *events,
                               uint64_t next, uint64_t count) {
  uint64_t at = events->at + next * CPEL_EVENT_SIZE;
  uint64_t inside = holes->large_end > at ? (holes->large_end - at) / CPEL_EVENT_SIZE : 0;
  inside = inside ? inside : 1;
  return inside < count - next ? inside : count - next;
}
