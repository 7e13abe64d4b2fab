/* SPDX-License-Identifier: MIT */
/*
 * The bytes of the events, one after another: "raw" as they are, "stream" each in its frame again
 * (docs/bprintf.md), in one file for all files of a framed log. The frames keep their numbers, so missing
 * frames stay a gap.
 */
#include "base/bytes.h"
#include "base/fail.h"
#include "print/out.h"
#include "print/terminal.h"
#include "schema/definition.h"
#include "trace/original.h"
#include <kymo/sink.h>
#include <kymo/log.h>
#include <stdlib.h>
#include <unistd.h>

/* In the header of a file. */
enum {
  AT_SIZE = 14,
  AT_ID = 16,
  ID_BYTES = 16,
  AT_NUMBER = 32,
  AT_PART = 36,
  AT_HOW = 40,
  AT_DEFINED_TO = 56
};

struct kymo_sink_state {
  struct kymo_out out;
  struct kymo_terminal terminal; /* the terminal that `file` writes to, if it is one */
  FILE *file;
  const char *path;
  bool is_framed, has_failed;
  const struct kymo_stream *stream; /* framed: the stream of the frames */
};

static int begin(struct kymo_sink_state **out, const struct kymo_sink_options *options, bool is_framed,
                 struct kymo_error *error) {
  struct kymo_sink_state *state = *out = calloc(1, sizeof *state);
  if (!state)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  state->is_framed = is_framed;
  state->path = options->path;
  state->has_failed = true;
  bool is_printed = strcmp(state->path, "-") == 0;
  if (is_printed && isatty(STDOUT_FILENO))
    state->file = kymo_terminal_open(&state->terminal, STDOUT_FILENO, NULL);
  else
    state->file = is_printed ? fdopen(dup(STDOUT_FILENO), "wb") : fopen(state->path, "wbxe");
  if (!state->file)
    return kymo_fail_errno(error, state->path, "cannot write");
  setvbuf(state->file, NULL, _IONBF, 0);
  int status = kymo_out_begin(&state->out, state->file, error);
  state->has_failed = status < 0;
  return status;
}

static int begin_framed(struct kymo_sink_state **state, struct kymo_trace *trace,
                        const struct kymo_sink_options *options, struct kymo_error *error) {
  (void)trace;
  return begin(state, options, true, error);
}

static int begin_raw(struct kymo_sink_state **state, struct kymo_trace *trace,
                     const struct kymo_sink_options *options, struct kymo_error *error) {
  (void)trace;
  return begin(state, options, false, error);
}

/* A number in the order of the file. */
static uint32_t in_order(const struct kymo_original *original, uint32_t number) {
  return original->is_big == KYMO_HOST_IS_BIG ? number : __builtin_bswap32(number);
}

/* The header of one of the files, for a file of all threads; it is not a part of the stream that it was read
 * from. Definitions may be anywhere in it. */
static void write_header(struct kymo_sink_state *state, const struct kymo_original *original,
                         bool has_definitions) {
  uint8_t header[KYMO_LOG_HEADER_BYTES_];
  if (!original->header)
    return;
  memcpy(header, original->header, sizeof header);
  header[AT_SIZE + (original->is_big ? 1 : 0)] = sizeof header; /* theirs may be longer */
  header[AT_SIZE + (original->is_big ? 0 : 1)] = 0;
  memset(header + AT_NUMBER, 0, AT_PART + 4 - AT_NUMBER);
  uint8_t *how = &header[AT_HOW + (original->is_big ? 3 : 0)];
  for (int i = 0; i < ID_BYTES && !(*how & KYMO_LOG_MERGED_); i++)
    header[AT_ID + i] ^= 0xff;
  *how |= KYMO_LOG_MERGED_;
  memset(header + AT_DEFINED_TO, has_definitions ? 0xff : 0, sizeof header - AT_DEFINED_TO);
  kymo_out_bytes(&state->out, header, sizeof header);
}

static int write_frame(struct kymo_sink_state *state, const struct kymo_event *event,
                       const struct kymo_original *original, struct kymo_error *error) {
  const struct kymo_stream *stream = event->packet->stream;
  /* only files with a header contain the source of each event */
  uint32_t source_bytes = original->header ? 4 : 0;
  if (!original->is_framed)
    return kymo_fail_at(error, KYMO_E_USAGE, stream->path, KYMO_ERROR_NO_OFFSET,
                        "its events have no frames: --to raw writes their bytes");
  if (!state->stream)
    write_header(state, original, kymo_has_definitions(event->class_->stream));
  else if (state->stream != stream)
    return kymo_fail_at(error, KYMO_E_USAGE, stream->path, KYMO_ERROR_NO_OFFSET,
                        "another stream than %s, with numbers of its own", state->stream->path);
  state->stream = stream;
  if (original->size > KYMO_FRAME_LENGTH_ - source_bytes)
    return kymo_fail_at(error, KYMO_E_LIMIT, stream->path, KYMO_ERROR_NO_OFFSET,
                        "an event of %zu bytes is too long for a frame", original->size);
  const uint32_t numbers[] = {in_order(original, original->sequence),
                              in_order(original, (uint32_t)(original->size + source_bytes) | original->flags),
                              in_order(original, original->source)};
  kymo_out_bytes(&state->out, KYMO_FRAME_MAGIC_, 4);
  kymo_out_bytes(&state->out, numbers, 8 + source_bytes);
  return KYMO_OK;
}

static int write_event(struct kymo_sink_state *state, const struct kymo_event *event,
                       struct kymo_error *error) {
  struct kymo_original original;
  int status = kymo_event_original(event, &original, error);
  if (status == KYMO_OK && state->is_framed)
    status = write_frame(state, event, &original, error);
  if (status == KYMO_OK) {
    size_t index = !state->is_framed && original.flags & KYMO_FRAME_DEFINED_ && original.size >= 2
                       ? 2
                       : 0; /* no byte of the event */
    kymo_out_bytes(&state->out, original.bytes + index, original.size - index);
    status = kymo_out_check(&state->out, error);
  }
  state->has_failed |= status < 0;
  return status;
}

/* A file that cannot be written completely is removed. */
static int end(struct kymo_sink_state *state, struct kymo_error *error) {
  int status = KYMO_OK;
  if (!state)
    return status;
  if (state->out.data)
    status = kymo_out_finish(&state->out, error);
  if (state->file && fclose(state->file) && status == KYMO_OK)
    status = kymo_fail_errno(error, state->path, "cannot write");
  if (state->file && (status < 0 || state->has_failed) && strcmp(state->path, "-") != 0)
    unlink(state->path);
  free(state);
  return status;
}

const struct kymo_sink kymo_sink_stream = {
    KYMO_SINK_ABI,        .name = "stream",    .summary = "one file, from the files of one framed log",
    .makes_files = true,  .all_classes = true, .begin = begin_framed,
    .event = write_event, .end = end,
};

const struct kymo_sink kymo_sink_raw = {
    KYMO_SINK_ABI,       .name = "raw",      .summary = "the bytes of events alone, one after another",
    .makes_files = true, .begin = begin_raw, .event = write_event,
    .end = end,
};
