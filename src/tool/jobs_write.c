/* SPDX-License-Identifier: MIT */
#include "tool/jobs_write.h"
#include "filter/program.h"
#include "sink/ctf/file.h"
#include "sink/ctf/share.h"
#include "trace/apart.h"
#include <kymo/filter.h>
#include <stdlib.h>
#include <sys/mman.h>

/* A job looks this often whether the others go on. */
#define LOOK_EVENTS 4096

struct one {
  const struct kymo_stream *stream;
  uint64_t bytes;
};

/* All streams. The largest ones are begun first, so that all jobs end at about the same time. */
struct streams {
  const struct kymo_stream **list;
  size_t count;
  uint64_t bytes;
};

/* Of a job. */
struct writer {
  const struct tool_writing *writing;
  const struct streams *streams;
};

static int compare(const void *a, const void *b) {
  const struct one *one = a, *other = b;
  if (one->bytes != other->bytes)
    return one->bytes < other->bytes ? 1 : -1;
  return (one->stream->number > other->stream->number) - (one->stream->number < other->stream->number);
}

static bool list_streams(struct streams *streams, const struct kymo_trace *trace) {
  size_t most = 1, parts = kymo_trace_part_count(trace);
  for (size_t i = 0; i < parts; i++)
    most += kymo_trace_part(trace, i)->stream_count;
  struct one *ones = calloc(most, sizeof *ones);
  streams->list = calloc(most, sizeof *streams->list);
  for (size_t i = 0; ones && streams->list && i < parts; i++)
    for (uint32_t k = 0; k < kymo_trace_part(trace, i)->stream_count; k++) {
      const struct kymo_stream *stream = kymo_part_stream(trace, kymo_trace_part(trace, i), k);
      ones[streams->count] = (struct one){stream, kymo_stream_bytes(stream)};
      streams->bytes += ones[streams->count++].bytes;
    }
  bool is_listed = ones && streams->list;
  if (is_listed)
    qsort(ones, streams->count, sizeof *ones, compare);
  for (size_t i = 0; is_listed && i < streams->count; i++)
    streams->list[i] = ones[i].stream;
  free(ones);
  return is_listed;
}

static bool write_stream(void *user, size_t number) {
  const struct writer *writer = user;
  const struct tool_writing *writing = writer->writing;
  const struct kymo_event *event;
  struct kymo_error error;
  int status;
  uint64_t count = 0;
  while ((status = kymo_trace_next_filtered(writing->trace, &event, &error)) == KYMO_OK)
    if (writing->sink->event(writing->state, event, &error) < 0 ||
        (++count % LOOK_EVENTS == 0 && tool_jobs_are_ended()))
      return false;
  return status == KYMO_END &&
         kymo_ctf_share_end_stream(writing->state, writer->streams->list[number], &error) == KYMO_OK;
}

static enum tool_jobs_result write_streams(const struct tool_writing *writing, const struct streams *streams,
                                           unsigned jobs) {
  struct writer writer = {writing, streams};
  size_t size = streams->count * sizeof(struct kymo_ctf_mark);
  struct kymo_ctf_mark *marks = tool_jobs_share(size);
  enum tool_jobs_result result = TOOL_JOBS_NONE;
  if (!marks)
    return result;
  if (kymo_ctf_share_begin(writing->state, marks)) {
    result = tool_jobs_run_streams(writing->trace, streams->list, streams->count, jobs,
                                   &(struct tool_job_work){.read = write_stream, .user = &writer});
    kymo_ctf_share_end(writing->state, result != TOOL_JOBS_UNDONE);
  }
  munmap(marks, size);
  return result;
}

bool tool_jobs_can_write(const struct kymo_sink *sink) {
  return sink == kymo_sink_find_files("ctf1") || sink == kymo_sink_find_files("ctf2");
}

enum tool_jobs_result tool_jobs_write(const struct tool_writing *writing) {
  unsigned jobs = writing->jobs ? writing->jobs : tool_jobs_usual();
  struct streams streams = {.count = 0};
  enum tool_jobs_result result = TOOL_JOBS_NONE;
  if (jobs < 2 || !tool_jobs_can_write(writing->sink) || !kymo_filter_is_alone(writing->trace) ||
      !kymo_trace_can_read_apart(writing->trace))
    return result;
  if (list_streams(&streams, writing->trace) && streams.count > 1 &&
      (writing->jobs || streams.bytes >= TOOL_JOBS_BYTES_LEAST))
    result = write_streams(writing, &streams, jobs < streams.count ? jobs : (unsigned)streams.count);
  free(streams.list);
  return result;
}
