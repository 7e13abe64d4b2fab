/* SPDX-License-Identifier: MIT */
/*
 * Traces as CTF, version 1.8 or 2: directories with `metadata`, one file per stream, and the registry.
 *
 *   convert   each trace to one of its own, stream by stream in the bytes that they are read in (copy.h): CTF
 *             describes nearly any layout, so only the description is written again. Traces that do not
 *             consist of packets are written as by merge.
 *   merge     all traces to one (merge.h)
 */
#include "base/fail.h"
#include "lang/ctf2/write.h"
#include "lang/tsdl/tsdl.h"
#include "lang/tsdl/write.h"
#include "schema/registry_metadata.h"
#include "sink/ctf/beside.h"
#include "sink/ctf/copy.h"
#include "sink/ctf/kernel.h"
#include "sink/ctf/merge.h"
#include "sink/ctf/names.h"
#include "sink/ctf/schema.h"
#include "sink/ctf/share.h"
#include "trace/part.h"
#include <kymo/sink.h>
#include <stdlib.h>
#include <string.h>

/* Limit of the gathered bytes of all files, and minimum for each. */
enum { GATHER_BYTES = 16 << 20, GATHER_LEAST = 4 << 10, GATHER_MOST = 64 << 10 };

/* One trace that is written, of one part or, merged, of several. */
struct output {
  char *directory;
  const struct kymo_part **parts;
  size_t part_count;
  struct kymo_schema *schema; /* as it is written */
  struct kymo_strbuf metadata;
  bool is_merged;
  struct kymo_ctf_merge merge;
  struct kymo_ctf_copy *copies; /* by stream index */
  uint32_t copy_count;
  uint32_t *boundaries;
};

struct kymo_sink_state {
  struct kymo_trace *trace;
  bool is_ctf2, is_merge, has_failed;
  struct kymo_ctf_files files;
  struct output *outputs; /* by part; merged: only one */
  size_t output_count;
  char **paths; /* of the parts */
};

static int no_memory(struct kymo_error *error) { return kymo_fail(error, KYMO_E_MEMORY, "out of memory"); }

/* ---- descriptions ---- */

static int write_metadata(const struct kymo_sink_state *state, struct output *out, struct kymo_error *error) {
  struct kymo_error why = {.offset = KYMO_ERROR_NO_OFFSET};
  if (state->is_ctf2)
    kymo_ctf2_write(&out->metadata, out->schema);
  else
    kymo_tsdl_write(&out->metadata, out->schema);
  if (out->metadata.failed)
    return no_memory(error);
  if (state->is_ctf2)
    return KYMO_OK;
  struct kymo_schema *check = kymo_tsdl_compile(out->metadata.text, out->metadata.length, "metadata", &why);
  kymo_schema_release(check);
  const char *excerpt = why.excerpt + strspn(why.excerpt, " \t");
  return check ? KYMO_OK
               : kymo_fail_at(error, KYMO_E_LIMIT, out->parts[0]->path, KYMO_ERROR_NO_OFFSET,
                              "CTF 1.8 has no words for this (--to ctf2 has): %s: %s", why.message, excerpt);
}

/* Formats other than CTF, and streams of several files, know boundaries of packets that the bytes do not
 * contain. */
static bool needs_sizes(const struct kymo_part *part) {
  bool has_boundaries = strcmp(part->format, "ctf") != 0 || kymo_part_may_repeat(part);
  return has_boundaries && !kymo_ctf_has_sizes(part->schema);
}

static int describe_copy(const struct kymo_sink_state *state, struct output *out, struct kymo_error *error) {
  const struct kymo_part *part = out->parts[0];
  struct kymo_ctf_demand demand = {.is_ctf2 = state->is_ctf2,
                                   .needs_sizes = needs_sizes(part),
                                   .is_kernel = !state->is_ctf2 && kymo_ctf_is_kernel(part),
                                   .clock_offset_ns = kymo_part_offset_ns(part)};
  return kymo_ctf_schema_new(&out->schema, part->schema, &demand, error);
}

/* "TRACE/STREAM", or "STREAM" if there is only one trace. */
static char *name_source(const struct kymo_sink_state *state, const struct kymo_part *part, uint32_t index) {
  const char *path = state->paths[part->index];
  char *name = kymo_ctf_name_stream(state->trace, part, index);
  if (!*path || !name)
    return name;
  char *whole = kymo_ctf_join(path, name);
  free(name);
  return whole;
}

static int describe_merge(const struct kymo_sink_state *state, struct output *out, struct kymo_error *error) {
  size_t most = 0, count = 0;
  for (size_t i = 0; i < out->part_count; i++)
    most += out->parts[i]->stream_count;
  char **sources = calloc(most + 1, sizeof *sources);
  bool is_named = sources != NULL;
  for (size_t i = 0; i < out->part_count && is_named; i++)
    for (uint32_t k = 0; k < out->parts[i]->stream_count && is_named; k++)
      is_named = (sources[count++] = name_source(state, out->parts[i], k)) != NULL;
  struct kymo_ctf_merge_demand demand = {
      state->is_ctf2, state->trace, out->parts, out->part_count, (const char *const *)sources, count};
  int status = is_named ? kymo_ctf_merge_begin(&out->merge, &demand, error) : no_memory(error);
  if (status == KYMO_OK)
    out->schema = kymo_schema_retain(out->merge.merged.schema);
  for (size_t i = 0; sources && i < count; i++)
    free(sources[i]);
  free(sources);
  return status;
}

/* Hidden from other readers; kymo uses it for properties that the metadata cannot express, as long as it
 * matches that text. */
static int write_registry(const struct output *out, struct kymo_error *error) {
  struct kymo_strbuf registry = {0};
  uint8_t *bytes = NULL;
  size_t size;
  char *directory = kymo_ctf_join(out->directory, ".kymo");
  int status = directory ? kymo_registry_write(out->schema, &bytes, &size, error) : no_memory(error);
  if (status == KYMO_OK) {
    kymo_strbuf_add(&registry, (const char *)bytes, size);
    kymo_registry_append_text(&registry, out->metadata.text, out->metadata.length);
    status = kymo_ctf_make_directory(directory, error);
  }
  if (status == KYMO_OK)
    status = kymo_ctf_write_file(directory, "registry", &registry, error);
  kymo_strbuf_free(&registry);
  free(bytes);
  free(directory);
  return status;
}

/* ---- outputs ---- */

/* Properties that cannot be expressed are reported before anything is written. */
static int begin_output(const struct kymo_sink_state *state, struct output *out, const char *path,
                        struct kymo_error *error) {
  const char *rest = state->is_merge ? "" : state->paths[out->parts[0]->index];
  out->is_merged = state->is_merge || !kymo_part_has_packets(out->parts[0]);
  out->directory = *rest ? kymo_ctf_join(path, rest) : strdup(path);
  if (!out->directory)
    return no_memory(error);
  int status = out->is_merged ? describe_merge(state, out, error) : describe_copy(state, out, error);
  return status == KYMO_OK ? write_metadata(state, out, error) : status;
}

static int open_copies(struct kymo_sink_state *state, struct output *out, struct kymo_error *error) {
  const struct kymo_part *part = out->parts[0];
  bool is_plain = !state->is_ctf2 && kymo_ctf_is_strange(part->schema);
  out->boundaries = kymo_ctf_boundaries(part->schema);
  out->copies = calloc((size_t)part->stream_count + 1, sizeof *out->copies);
  if (!out->boundaries || !out->copies)
    return no_memory(error);
  for (; out->copy_count < part->stream_count; out->copy_count++) {
    struct kymo_ctf_copy *copy = &out->copies[out->copy_count];
    char *name = kymo_ctf_name_stream(state->trace, part, out->copy_count);
    kymo_ctf_copy_begin(copy, state->trace, kymo_part_stream(state->trace, part, out->copy_count),
                        &state->files, name ? kymo_ctf_join(out->directory, name) : NULL);
    copy->boundaries = out->boundaries;
    copy->is_plain = is_plain;
    copy->is_relaid = is_plain || needs_sizes(part);
    copy->is_kernel = !state->is_ctf2 && kymo_ctf_is_kernel(part);
    free(name);
  }
  return KYMO_OK;
}

static int open_output(struct kymo_sink_state *state, struct output *out, struct kymo_error *error) {
  int status = kymo_ctf_make_directory(out->directory, error);
  if (status == KYMO_OK)
    status = kymo_ctf_write_file(out->directory, "metadata", &out->metadata, error);
  if (status == KYMO_OK)
    status = write_registry(out, error);
  if (status == KYMO_OK && !out->is_merged) /* else the cycles are others */
    status = kymo_ctf_carry(out->parts[0], out->directory, error);
  if (status == KYMO_OK)
    status = kymo_ctf_carry_notes(out->parts, out->part_count, out->directory, error);
  kymo_strbuf_free(&out->metadata);
  if (status < 0)
    return status;
  return out->is_merged ? kymo_ctf_merge_open(&out->merge, out->directory, error)
                        : open_copies(state, out, error);
}

static int end_output(const struct kymo_sink_state *state, struct output *out, struct kymo_error *error) {
  int status = KYMO_OK;
  for (uint32_t i = 0; i < out->copy_count; i++) {
    int one = kymo_ctf_copy_end(&out->copies[i], !state->has_failed, status == KYMO_OK ? error : NULL);
    status = status < 0 ? status : one;
  }
  if (out->is_merged)
    status = kymo_ctf_merge_end(&out->merge, error);
  free(out->copies);
  free(out->boundaries);
  free(out->parts);
  free(out->directory);
  kymo_schema_release(out->schema);
  kymo_strbuf_free(&out->metadata);
  return status;
}

/* ---- the sink ---- */

static size_t gather_bytes(const struct kymo_trace *trace) {
  size_t streams = 0;
  for (size_t i = 0; i < kymo_trace_part_count(trace); i++)
    streams += kymo_trace_part(trace, i)->stream_count;
  size_t share = GATHER_BYTES / (streams ? streams : 1);
  return share < GATHER_LEAST ? GATHER_LEAST : share > GATHER_MOST ? GATHER_MOST : share;
}

/* Which parts go where. */
static int share_out(struct kymo_sink_state *state, struct kymo_error *error) {
  size_t count = kymo_trace_part_count(state->trace);
  state->paths = calloc(count + 1, sizeof *state->paths);
  state->outputs = calloc(count + 1, sizeof *state->outputs);
  if (!state->paths || !state->outputs || !kymo_ctf_name_parts(state->paths, state->trace))
    return no_memory(error);
  state->output_count = state->is_merge ? 1 : count;
  for (size_t i = 0; i < state->output_count; i++) {
    struct output *out = &state->outputs[i];
    out->part_count = state->is_merge ? count : 1;
    out->parts = calloc(out->part_count, sizeof *out->parts);
    if (!out->parts)
      return no_memory(error);
    for (size_t k = 0; k < out->part_count; k++)
      out->parts[k] = kymo_trace_part(state->trace, i + k);
  }
  return KYMO_OK;
}

static int begin(struct kymo_sink_state **out, struct kymo_trace *trace,
                 const struct kymo_sink_options *options, bool is_ctf2, struct kymo_error *error) {
  struct kymo_sink_state *state = *out = calloc(1, sizeof *state);
  if (!state)
    return no_memory(error);
  *state = (struct kymo_sink_state){.trace = trace, .is_ctf2 = is_ctf2, .has_failed = true};
  state->is_merge = options->text && strcmp(options->text, "merge") == 0;
  state->files.capacity = gather_bytes(trace);
  int status = kymo_ctf_check_empty(options->path, error);
  if (status == KYMO_OK)
    status = share_out(state, error);
  for (size_t i = 0; i < state->output_count && status == KYMO_OK; i++)
    status = begin_output(state, &state->outputs[i], options->path, error);
  for (size_t i = 0; i < state->output_count && status == KYMO_OK; i++)
    status = open_output(state, &state->outputs[i], error);
  state->has_failed = status < 0;
  return status;
}

static int begin_ctf1(struct kymo_sink_state **state, struct kymo_trace *trace,
                      const struct kymo_sink_options *options, struct kymo_error *error) {
  return begin(state, trace, options, false, error);
}

static int begin_ctf2(struct kymo_sink_state **state, struct kymo_trace *trace,
                      const struct kymo_sink_options *options, struct kymo_error *error) {
  return begin(state, trace, options, true, error);
}

static int write_event(struct kymo_sink_state *state, const struct kymo_event *event,
                       struct kymo_error *error) {
  const struct kymo_stream *stream = event->packet->stream;
  size_t part = stream->part->index;
  struct output *out = &state->outputs[state->is_merge ? 0 : part];
  int status = out->is_merged ? kymo_ctf_merge_event(&out->merge, state->is_merge ? part : 0, event, error)
                              : kymo_ctf_copy_event(&out->copies[stream->index], event, error);
  state->has_failed |= status < 0;
  return status;
}

/* Copies report losses by the heads of their packets. */
static int write_loss(struct kymo_sink_state *state, const struct kymo_loss *loss, struct kymo_error *error) {
  size_t part = loss->stream->part->index;
  struct output *out = &state->outputs[state->is_merge ? 0 : part];
  int status =
      out->is_merged ? kymo_ctf_merge_loss(&out->merge, state->is_merge ? part : 0, loss, error) : KYMO_OK;
  state->has_failed |= status < 0;
  return status;
}

/* ---- several processes ---- */

bool kymo_ctf_share_begin(struct kymo_sink_state *state, struct kymo_ctf_mark *marks) {
  for (size_t i = 0; i < state->output_count; i++)
    if (state->outputs[i].is_merged)
      return false;
  for (size_t i = 0; i < state->output_count; i++)
    for (uint32_t k = 0; k < state->outputs[i].copy_count; k++) {
      struct kymo_ctf_copy *copy = &state->outputs[i].copies[k];
      copy->file.mark = &marks[copy->stream->number];
    }
  return true;
}

int kymo_ctf_share_end_stream(struct kymo_sink_state *state, const struct kymo_stream *stream,
                              struct kymo_error *error) {
  return kymo_ctf_copy_end(&state->outputs[stream->part->index].copies[stream->index], !state->has_failed,
                           error);
}

void kymo_ctf_share_end(struct kymo_sink_state *state, bool is_kept) {
  for (size_t i = 0; i < state->output_count; i++)
    for (uint32_t k = 0; k < state->outputs[i].copy_count; k++) {
      struct kymo_ctf_copy *copy = &state->outputs[i].copies[k];
      copy->is_elsewhere = is_kept;
      kymo_ctf_file_take_over(&copy->file, is_kept);
    }
}

/* ---- the end ---- */

/* After a failure, the written part becomes a readable trace as far as possible. */
static int end(struct kymo_sink_state *state, struct kymo_error *error) {
  int status = KYMO_OK;
  if (!state)
    return status;
  for (size_t i = 0; i < state->output_count; i++) {
    int one = end_output(state, &state->outputs[i], status == KYMO_OK ? error : NULL);
    status = status < 0 ? status : one;
  }
  for (size_t i = 0; state->paths && i < kymo_trace_part_count(state->trace); i++)
    free(state->paths[i]);
  free(state->paths);
  free(state->outputs);
  free(state);
  return status;
}

const struct kymo_sink kymo_sink_ctf1 = {
    KYMO_SINK_ABI,       .name = "ctf1",      .summary = "CTF 1.8, for any reader of CTF",
    .makes_files = true, .begin = begin_ctf1, .event = write_event,
    .loss = write_loss,  .end = end,
};

const struct kymo_sink kymo_sink_ctf2 = {
    KYMO_SINK_ABI,       .name = "ctf2",      .summary = "CTF 2, which keeps nearly all that kymo knows",
    .makes_files = true, .begin = begin_ctf2, .event = write_event,
    .loss = write_loss,  .end = end,
};
