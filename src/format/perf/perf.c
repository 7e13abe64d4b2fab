/* SPDX-License-Identifier: MIT */
/* perf's perf.data, and directories of `kymo record --sample` that contain one: a part with one stream. All
 * records are passed over once when it is opened (tasks.h). */
#include "base/fail.h"
#include "base/file.h"
#include "base/list.h"
#include "base/path.h"
#include "decode/decoder.h"
#include "format/clocks.h"
#include "format/formats.h"
#include "format/perf/stream.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROBE_BYTES 8
#define RECENT 1024

/* A process at times between which it loads no file. */
struct perf_view {
  uint64_t since, until; /* until 0: none */
  uint64_t number;
  int32_t pid;
};

static int perf_probe(const char *path, struct kymo_error *error) {
  char head[PROBE_BYTES];
  size_t size;
  int status = kymo_file_peek(path, head, sizeof head, &size, NULL, error);
  if (status != KYMO_OK)
    return status;
  return kymo_perf_is_file((const uint8_t *)head, size) ? KYMO_OK : KYMO_E_UNKNOWN;
}

/* ---- names of addresses ---- */

static const char *function_at(void *user, uint64_t address, uint64_t *begin) {
  struct perf_shared *shared = user;
  return kymo_perf_function(&shared->kernel, address, begin);
}

static const char *printk_at(void *user, uint64_t address) {
  struct perf_shared *shared = user;
  return kymo_perf_printk(&shared->kernel, address);
}

static const char *map_function(void *user, const struct kymo_event *event, uint64_t address,
                                uint64_t *begin) {
  (void)event;
  return function_at(user, address, begin);
}

/* The process is in the common context, whose layout is ours (schema.c). */
static int32_t process_of(const struct perf_shared *shared, const struct kymo_event *event) {
  const uint8_t *context = event->packet->data + kymo_body_bits(event) / 8;
  return (int32_t)kymo_load_le32(context + (shared->classes.has_cpu ? 4 : 0));
}

static const struct kymo_module *map_module(void *user, const struct kymo_event *event, uint64_t address) {
  struct perf_shared *shared = user;
  if (!event)
    return kymo_perf_any_module(&shared->tasks, address);
  return kymo_perf_module(&shared->tasks, process_of(shared, event), address, event->cycles);
}

static uint64_t map_view(void *user, const struct kymo_event *event) {
  struct perf_shared *shared = user;
  int32_t pid = process_of(shared, event);
  uint64_t time = event->cycles;
  struct perf_view *view = &shared->views[(uint32_t)pid % RECENT];
  if (view->pid != pid || time < view->since || time >= view->until)
    *view =
        (struct perf_view){time, kymo_perf_files_until(&shared->tasks, pid, time), ++shared->view_count, pid};
  return view->number;
}

/* ---- the pass over all records ---- */

static int note_error(struct kymo_trace *trace, const struct perf_file *file, int status,
                      const struct kymo_error *why, struct kymo_error *error) {
  if (status == KYMO_OK)
    return KYMO_OK;
  if (status != KYMO_E_FORMAT)
    return kymo_fail(error, status, "%s", why->message);
  struct kymo_damage damage = {.path = file->path, .offset = why->offset, .message = why->message};
  kymo_trace_add_damage(trace, &damage);
  return KYMO_OK;
}

/* Records that describe others: all that pipes have of them, and CPUs of ids. */
static int pass_describing(struct perf_shared *shared, struct kymo_trace *trace, struct kymo_error *error) {
  struct perf_file *file = &shared->file;
  struct perf_records records;
  struct perf_record record;
  int status = KYMO_OK;
  kymo_perf_records_begin(&records, file, file->data);
  while (status == KYMO_OK && kymo_perf_records_next(&records, &record, NULL) == KYMO_OK) {
    struct kymo_error why = {.code = KYMO_OK, .offset = KYMO_ERROR_NO_OFFSET};
    bool is_after = record.type == PERF_HEADER_TRACING_DATA;
    if (record.type >= PERF_USER)
      status = note_error(trace, file,
                          kymo_perf_take(file, trace, record.type, record.data + (is_after ? record.size : 0),
                                         is_after ? record.more_size : record.size,
                                         record.at + (is_after ? record.size : 0), &why),
                          &why, error);
    kymo_perf_records_forget(&records, ++records.round);
  }
  kymo_perf_records_end(&records);
  return status;
}

static bool add_round(struct perf_shared *shared, uint64_t at, uint64_t latest) {
  if (!KYMO_LIST_ROOM(shared->rounds, shared->round_capacity, shared->round_count))
    return false;
  shared->rounds[shared->round_count++] = (struct perf_round){at, latest};
  return true;
}

/* Threads, processes and rounds. What is corrupt is reported when it is read again. */
static int pass_records(struct perf_shared *shared, struct kymo_error *error) {
  const struct perf_file *file = &shared->file;
  struct perf_records records;
  struct perf_record record;
  struct perf_place place;
  uint64_t latest = 0;
  bool is_good = add_round(shared, file->records_at, 0);
  kymo_perf_records_begin(&records, file, file->data);
  while (is_good && kymo_perf_records_next(&records, &record, NULL) == KYMO_OK) {
    if (record.type == PERF_FINISHED_ROUND) {
      is_good = add_round(shared, records.at, latest);
    } else if (record.type < PERF_USER) {
      kymo_perf_locate(file, &record, &place);
      latest = place.time > latest ? place.time : latest;
      if (record.type != PERF_SAMPLE)
        is_good = kymo_perf_tasks_add(&shared->tasks, &record, record.size - place.end,
                                      place.time ? place.time : latest, place.time != 0);
    }
    kymo_perf_records_forget(&records, ++records.round);
  }
  shared->was_packed = records.was_packed;
  kymo_perf_records_end(&records);
  return is_good && kymo_perf_tasks_finish(&shared->tasks) ? KYMO_OK
                                                           : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
}

/* ---- the part ---- */

static void free_part(void *memory) { kymo_perf_give_up(memory); }

static int add_part(struct kymo_trace *trace, struct perf_shared *shared, struct kymo_error *error) {
  struct kymo_part *part = NULL;
  const struct perf_file *file = &shared->file;
  struct kymo_part_source source = {.format = file->directory ? "samples" : "perf",
                                    .path = file->directory ? file->directory : file->path,
                                    /* as the times of the programs beside it */
                                    .quirks = file->directory ? KYMO_QUIRK_ROUNDED : 0,
                                    .memory = shared,
                                    .free_memory = free_part,
                                    .kernel = &shared->functions,
                                    .map = &shared->map,
                                    .schema =
                                        kymo_perf_schema(&shared->classes, &shared->file, trace, error)};
  if (!source.schema)
    return error->code;
  shared->users++;
  int status = kymo_trace_add_part(trace, &source, &part, error);
  if (status == KYMO_OK && file->directory)
    status = kymo_clocks_load(trace, part, file->directory, error);
  if (status == KYMO_OK && file->beside.lost)
    kymo_trace_warn(trace, source.path, KYMO_ERROR_NO_OFFSET,
                    "%" PRIu64 " samples were lost after the last ones that could be written",
                    file->beside.lost);
  if (status != KYMO_OK)
    return status;
  shared->users++;
  struct kymo_stream_source stream = {.operations = shared->was_packed ? &kymo_perf_packed_operations
                                                                       : &kymo_perf_operations,
                                      .source = shared,
                                      .class_ = part->schema->streams[0],
                                      .path = shared->file.path,
                                      .instance = UINT64_MAX};
  return kymo_part_add_stream(trace, part, &stream, error);
}

/* What a recording has beside its file. */
static int take_directory(struct perf_file *file, const char *directory, struct kymo_error *error) {
  file->directory = kymo_arena_copy(&file->arena, directory, strlen(directory));
  return file->directory ? kymo_beside_read(&file->beside, directory, &file->arena, error)
                         : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
}

/* A file, also in a directory of a recording; or NULL. */
static int open_one(struct kymo_trace *trace, const char *path, const char *directory,
                    struct kymo_error *error) {
  struct perf_shared *shared = calloc(1, sizeof *shared);
  if (!shared)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  shared->users = 1;
  int status = kymo_perf_open(&shared->file, trace, path, error);
  if (status == KYMO_OK && directory)
    status = take_directory(&shared->file, directory, error);
  kymo_perf_tasks_begin(&shared->tasks, &shared->file);
  kymo_perf_kernel_begin(&shared->kernel, &shared->tasks);
  shared->views = calloc(RECENT, sizeof *shared->views);
  if (status == KYMO_OK && !shared->views)
    status = kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (status == KYMO_OK && (shared->file.is_pipe || kymo_perf_lacks_cpus(&shared->file)))
    status = pass_describing(shared, trace, error);
  if (status == KYMO_OK)
    status = kymo_perf_finish(&shared->file, error);
  if (status == KYMO_OK)
    status = pass_records(shared, error);
  if (status == KYMO_OK)
    status = kymo_map_check(&shared->file.map, error);
  uint8_t long_size = shared->file.formats.page_long_size;
  shared->functions = (struct kymo_kernel){
      .user = shared, .function = function_at, .format = printk_at, .long_size = long_size ? long_size : 8};
  shared->map = (struct kymo_load_map){
      .user = shared, .module = map_module, .function = map_function, .view = map_view};
  if (status == KYMO_OK)
    status = add_part(trace, shared, error);
  kymo_perf_give_up(shared);
  return status;
}

static int open_file(struct kymo_trace *trace, const char *path, struct kymo_error *error) {
  return open_one(trace, path, NULL, error);
}

static int perf_open_all(struct kymo_trace *trace, const char *const *paths, size_t count,
                         struct kymo_error *error) {
  return kymo_open_each(trace, paths, count, open_file, error);
}

const struct kymo_format kymo_format_perf = {
    .name = "perf",
    .summary = "samples and tracepoints that perf record saves (perf.data)",
    .probe = perf_probe,
    .open = perf_open_all,
};

/* ---- directories ---- */

#define DATA_NAME "perf.data"

static int samples_probe(const char *path, struct kymo_error *error) {
  char data[4096], clock[4096];
  if (!kymo_path_join(data, sizeof data, path, DATA_NAME) ||
      !kymo_path_join(clock, sizeof clock, path, "clock") || access(clock, F_OK))
    return KYMO_E_UNKNOWN;
  return perf_probe(data, error);
}

static int open_directory(struct kymo_trace *trace, const char *path, struct kymo_error *error) {
  char data[4096];
  kymo_path_join(data, sizeof data, path, DATA_NAME); /* it was probed */
  return open_one(trace, data, path, error);
}

static int samples_open_all(struct kymo_trace *trace, const char *const *paths, size_t count,
                            struct kymo_error *error) {
  return kymo_open_each(trace, paths, count, open_directory, error);
}

const struct kymo_format kymo_format_samples = {
    .name = "samples",
    .summary = "samples of programs, as kymo record --sample keeps them",
    .probe = samples_probe,
    .open = samples_open_all,
};
