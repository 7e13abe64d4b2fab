/* SPDX-License-Identifier: MIT */
/*
 * Gist: the event logs before CPEL. They contain only events, big-endian, as in CPEL:
 *
 *   count | count × { time high, time low, pid, code, datum }        32 bits each
 *
 * Names come from C headers (gist_header.h); the clock is not in any file. So a log is read as a CPEL file of
 * one event section whose definitions are elsewhere. Its first byte is 0, since no log has 2^24 events.
 */
#include "base/fail.h"
#include "base/file.h"
#include "format/cpel/gist_header.h"
#include "format/cpel/stream.h"
#include "format/formats.h"
#include "source/format.h"
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define HEAD_SIZE 4
#define CLOCK_ASSUMED 1000000000

static bool ends_with(const char *path, const char *ending) {
  size_t length = strlen(path), size = strlen(ending);
  return length > size && strcmp(path + length - size, ending) == 0;
}

/* No magic number: it is recognised by the first byte, and a size that matches the number of events, or a
 * usual name of logs. */
static int gist_probe(const char *path, struct kymo_error *error) {
  struct stat info;
  uint8_t head[HEAD_SIZE];
  size_t size;
  int status = kymo_file_peek(path, head, sizeof head, &size, &info, error);
  if (status != KYMO_OK)
    return status;
  if (size < sizeof head || head[0] != 0)
    return KYMO_E_UNKNOWN;
  uint64_t count = cpel_load(head, true);
  bool is_gist = ends_with(path, ".ev") || ends_with(path, ".cpel") ||
                 (count > 0 && (uint64_t)info.st_size == HEAD_SIZE + count * CPEL_EVENT_SIZE);
  return is_gist ? KYMO_OK : KYMO_E_UNKNOWN;
}

/* ---- definitions ---- */

static int is_header(const struct dirent *entry) { return ends_with(entry->d_name, ".h"); }

/* Reads the headers beside a log that include others; if there are none, the header with the name of the
 * log. */
static int read_beside(struct gist_definitions *definitions, struct kymo_trace *trace, const char *log,
                       struct kymo_error *error) {
  const char *slash = strrchr(log, '/'), *name = slash ? slash + 1 : log, *dot = strrchr(name, '.');
  int directory = (int)(name - log), stem = dot && dot > name ? (int)(dot - log) : (int)strlen(log),
      status = KYMO_OK;
  char path[4096];
  struct dirent **entries = NULL;
  snprintf(path, sizeof path, "%.*s", directory, log);
  int count = scandir(directory ? path : ".", &entries, is_header, alphasort);
  for (int i = 0; i < count; i++) {
    snprintf(path, sizeof path, "%.*s%s", directory, log, entries[i]->d_name);
    free(entries[i]);
    if (status == KYMO_OK && kymo_gist_names_headers(path))
      status = kymo_gist_read_header(definitions, trace, path, error);
  }
  free(entries);
  struct stat info;
  snprintf(path, sizeof path, "%.*s.h", stem, log);
  if (status == KYMO_OK && definitions->headers == 0 && stat(path, &info) == 0)
    status = kymo_gist_read_header(definitions, trace, path, error);
  return status;
}

static int define_events(struct cpel_file *file, struct kymo_trace *trace, struct kymo_error *error) {
  const char *header = kymo_trace_options(trace)->gist_header;
  struct gist_definitions definitions = {0};
  int status = header ? kymo_gist_read_header(&definitions, trace, header, error)
                      : read_beside(&definitions, trace, file->path, error);
  if (status == KYMO_OK && definitions.count == 0)
    kymo_trace_warn(trace, file->path, KYMO_ERROR_NO_OFFSET,
                    "no header defines its events: their numbers are used as names");
  struct cpel_table *table = kymo_arena_alloc(&file->arena, sizeof *table);
  file->event_definitions =
      kymo_arena_array(&file->arena, definitions.count + 1, sizeof *file->event_definitions);
  char *strings = kymo_arena_copy(&file->arena, definitions.strings.text ? definitions.strings.text : "",
                                  definitions.strings.length);
  if (status == KYMO_OK && (!table || !file->event_definitions || !strings))
    status = kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (status == KYMO_OK) {
    *table = (struct cpel_table){
        .size = (uint32_t)definitions.strings.length, .name = "", .bytes = (const uint8_t *)strings};
    for (size_t i = 0; i < definitions.count; i++) {
      file->event_definitions[i] = definitions.list[i];
      file->event_definitions[i].table = table;
    }
    file->event_count = definitions.count;
  }
  kymo_gist_free(&definitions);
  return status;
}

/* ---- opening ---- */

static int describe_events(struct cpel_file *file, struct kymo_trace *trace, struct kymo_error *error) {
  if (file->size < HEAD_SIZE)
    return kymo_fail_at(error, KYMO_E_FORMAT, file->path, 0,
                        "a Gist log begins with 4 bytes, the file has %" PRIu64, file->size);
  uint64_t said = cpel_load(file->data, true), there = (file->size - HEAD_SIZE) / CPEL_EVENT_SIZE;
  uint64_t end = HEAD_SIZE + said * CPEL_EVENT_SIZE, clock = kymo_trace_options(trace)->gist_clock;
  if (said > there)
    kymo_cpel_damage(file, trace, 0, "%" PRIu64 " events in a file that has space for %" PRIu64, said, there);
  else if (end < file->size)
    kymo_cpel_damage(file, trace, end, "%" PRIu64 " bytes after the last event", file->size - end);
  if (!clock)
    kymo_trace_warn(trace, file->path, KYMO_ERROR_NO_OFFSET,
                    "Gist logs do not state the frequency of their clock: read as %d ticks a second",
                    CLOCK_ASSUMED);
  file->events = kymo_arena_alloc(&file->arena, sizeof *file->events);
  if (!file->events)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  file->events_count = 1;
  *file->events = (struct cpel_events){.at = HEAD_SIZE,
                                       .count = (uint32_t)(said < there ? said : there),
                                       .clock = clock ? (uint32_t)clock : CLOCK_ASSUMED,
                                       .frequency = clock ? clock : CLOCK_ASSUMED,
                                       .is_assumed = !clock};
  return KYMO_OK;
}

static int open_one(struct kymo_trace *trace, const char *path, struct kymo_error *error) {
  struct cpel_file file = {
      .map.fd = -1, .format = "gist", .conversions = KYMO_GIST_CONVERSIONS, .is_big = true};
  struct kymo_part *part;
  file.path = kymo_arena_copy(&file.arena, path, strlen(path));
  int status = file.path ? kymo_map_open(&file.map, file.path, error)
                         : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (status == KYMO_OK)
    status = kymo_map_get(&file.map, 0, UINT64_MAX, &file.data, &file.size, error);
  if (status == KYMO_OK)
    status = describe_events(&file, trace, error);
  if (status == KYMO_OK)
    status = define_events(&file, trace, error);
  if (status == KYMO_OK)
    return kymo_cpel_add(trace, &file, &part, error);
  kymo_cpel_close(&file);
  return status;
}

static int gist_open(struct kymo_trace *trace, const char *const *paths, size_t count,
                     struct kymo_error *error) {
  int status = KYMO_OK;
  for (size_t i = 0; i < count && status == KYMO_OK; i++)
    status = open_one(trace, paths[i], error);
  return status;
}

const struct kymo_format kymo_format_gist = {
    .name = "gist",
    .summary = "Gist, the predecessor of CPEL, with names from C headers",
    .probe = gist_probe,
    .open = gist_open,
};
