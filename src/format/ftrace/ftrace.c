/* SPDX-License-Identifier: MIT */
/* trace-cmd's trace.dat, and directories of `kymo record --kernel`: a part for each buffer, a stream for each
 * CPU. */
#include "base/fail.h"
#include "base/file.h"
#include "format/formats.h"
#include "base/path.h"
#include "format/clocks.h"
#include "format/ftrace/directory.h"
#include "format/ftrace/stream.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PROBE_BYTES 16
#define PIECES_MAX (1u << 24)

/* What a part keeps: the classes are in the memory of the schema, which lives as long. */
struct part_memory {
  struct ftrace_shared *shared;
  struct ftrace_classes classes;
};

static void free_part(void *from) {
  struct part_memory *memory = from;
  kymo_ftrace_give_up(memory->shared);
  free(memory);
}

static int ftrace_probe(const char *path, struct kymo_error *error) {
  char head[PROBE_BYTES];
  size_t size;
  int status = kymo_file_peek(path, head, sizeof head, &size, NULL, error);
  if (status != KYMO_OK)
    return status;
  return kymo_ftrace_is_file((const uint8_t *)head, size) ? KYMO_OK : KYMO_E_UNKNOWN;
}

/* ---- streams ---- */

/* The pieces that the file has: their number, and before each its two sizes. The size of the CPU's pages in
 * the file does not include the number. */
static int find_pieces(struct ftrace_source *source, struct kymo_error *error) {
  const struct ftrace_file *file = &source->shared->file;
  const struct ftrace_cpu *cpu = source->cpu;
  uint64_t rest = cpu->at <= file->size && file->size - cpu->at >= 4 ? file->size - cpu->at - 4 : 0;
  uint64_t end = cpu->size <= rest ? cpu->at + 4 + cpu->size : file->size;
  struct kymo_bytes bytes = {
      .data = file->data, .size = (size_t)end, .at = rest ? (size_t)cpu->at : 0, .is_big = file->is_big};
  uint32_t count = rest ? kymo_bytes_u32(&bytes) : 0;
  source->expected = rest ? 0 : cpu->size;
  bool is_cut = count > PIECES_MAX || (uint64_t)count * 8 > end - bytes.at;
  count = is_cut ? (uint32_t)((end - bytes.at) / 8) : count;
  source->pieces = calloc(count + 1u, sizeof *source->pieces);
  if (!source->pieces)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  for (uint32_t i = 0; i < count; i++) {
    uint32_t size = kymo_bytes_u32(&bytes), unpacked_size = kymo_bytes_u32(&bytes);
    if (bytes.failed)
      break;
    struct ftrace_piece piece = {bytes.at, size, unpacked_size, source->size};
    is_cut |= !kymo_bytes_take(&bytes, size);
    source->expected += unpacked_size;
    if (bytes.failed)
      break;
    source->size += unpacked_size;
    source->pieces[source->piece_count] = piece;
    source->piece_count += unpacked_size != 0;
  }
  source->expected += is_cut && source->expected == source->size;
  return KYMO_OK;
}

static int add_stream(struct kymo_trace *trace, struct kymo_part *part, const struct part_memory *memory,
                      const struct ftrace_buffer *buffer, const struct ftrace_cpu *cpu,
                      struct kymo_error *error) {
  struct ftrace_source *source = calloc(1, sizeof *source);
  struct ftrace_file *file = &memory->shared->file;
  if (!source)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  *source = (struct ftrace_source){
      .shared = memory->shared, .buffer = buffer, .cpu = cpu, .classes = &memory->classes};
  if (buffer->is_packed) {
    int status = find_pieces(source, error);
    if (status != KYMO_OK) {
      free(source);
      return status;
    }
  } else if (cpu->path) {
    source->expected = source->size = cpu->size;
  } else {
    uint64_t rest = cpu->at < file->size ? file->size - cpu->at : 0;
    source->expected = cpu->size;
    source->size = cpu->size < rest ? cpu->size : rest;
  }
  memory->shared->users++;
  struct kymo_stream_source stream = {.operations = &kymo_ftrace_operations,
                                      .source = source,
                                      .class_ = part->schema->streams[0],
                                      .path = cpu->path ? cpu->path : file->path,
                                      .instance = cpu->id};
  return kymo_part_add_stream(trace, part, &stream, error);
}

/* ---- parts ---- */

static int add_part(struct kymo_trace *trace, struct ftrace_shared *shared,
                    const struct ftrace_buffer *buffer, struct kymo_error *error) {
  struct part_memory *memory = calloc(1, sizeof *memory);
  struct kymo_part *part = NULL;
  if (!memory)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  memory->shared = shared;
  shared->users++;
  struct kymo_part_source source = {
      .format = shared->file.directory ? "kernel" : "trace-cmd",
      .path = shared->file.directory ? shared->file.directory : shared->file.path,
      .quirks = shared->file.directory ? KYMO_QUIRK_ROUNDED : 0, /* as the times of the programs beside it */
      .memory = memory,
      .free_memory = free_part,
      .kernel = &shared->kernel,
      .schema = kymo_ftrace_schema(&memory->classes, &shared->file, buffer, trace, error)};
  if (!source.schema) {
    free_part(memory);
    return error->code;
  }
  int status = kymo_trace_add_part(trace, &source, &part, error);
  if (status == KYMO_OK && shared->file.directory)
    status = kymo_clocks_load(trace, part, shared->file.directory, error);
  if (status == KYMO_OK && shared->file.beside.lost)
    kymo_trace_warn(trace, source.path, KYMO_ERROR_NO_OFFSET,
                    "%" PRIu64 " events of the kernel were lost after the last ones that could be written",
                    shared->file.beside.lost);
  for (uint32_t i = 0; status == KYMO_OK && i < buffer->cpu_count; i++)
    if (buffer->cpus[i].size)
      status = add_stream(trace, part, memory, buffer, &buffer->cpus[i], error);
  return status;
}

/* A file, or the head in a directory. */
static int open_one(struct kymo_trace *trace, const char *path, const char *directory,
                    struct kymo_error *error) {
  struct ftrace_shared *shared = calloc(1, sizeof *shared);
  if (!shared)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  shared->users = 1;
  int status = kymo_ftrace_open(&shared->file, trace, path, error);
  shared->kernel = (struct kymo_kernel){.user = &shared->names,
                                        .function = kymo_ftrace_function,
                                        .format = kymo_ftrace_printk,
                                        .long_size = shared->file.page_long_size};
  if (status == KYMO_OK && directory)
    status = kymo_ftrace_take_directory(&shared->file, directory, error);
  if (status == KYMO_OK && !kymo_ftrace_names_begin(&shared->names, &shared->file))
    status = kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  for (uint32_t i = 0; status == KYMO_OK && i < shared->file.buffer_count; i++)
    status = add_part(trace, shared, &shared->file.buffers[i], error);
  kymo_ftrace_give_up(shared);
  return status;
}

static int open_file(struct kymo_trace *trace, const char *path, struct kymo_error *error) {
  return open_one(trace, path, NULL, error);
}

static int ftrace_open_all(struct kymo_trace *trace, const char *const *paths, size_t count,
                           struct kymo_error *error) {
  return kymo_open_each(trace, paths, count, open_file, error);
}

const struct kymo_format kymo_format_trace_cmd = {
    .name = "trace-cmd",
    .summary = "events of the Linux kernel, as trace-cmd saves them (trace.dat)",
    .probe = ftrace_probe,
    .open = ftrace_open_all,
};

/* ---- directories ---- */

static int kernel_probe(const char *path, struct kymo_error *error) {
  char head[4096];
  if (!kymo_path_join(head, sizeof head, path, FTRACE_HEAD))
    return KYMO_E_UNKNOWN;
  int status = ftrace_probe(head, error);
  return status == KYMO_OK && !kymo_ftrace_is_directory(path) ? KYMO_E_UNKNOWN : status;
}

static int open_directory(struct kymo_trace *trace, const char *path, struct kymo_error *error) {
  char head[4096];
  kymo_path_join(head, sizeof head, path, FTRACE_HEAD); /* it was probed */
  return open_one(trace, head, path, error);
}

static int kernel_open_all(struct kymo_trace *trace, const char *const *paths, size_t count,
                           struct kymo_error *error) {
  return kymo_open_each(trace, paths, count, open_directory, error);
}

const struct kymo_format kymo_format_kernel = {
    .name = "kernel",
    .summary = "events of the Linux kernel, as kymo record --kernel keeps them",
    .probe = kernel_probe,
    .open = kernel_open_all,
};
