/* SPDX-License-Identifier: MIT */
#include "trace/lookahead.h"
#include "base/fail.h"
#include <stdlib.h>

static struct stream_state *add_twin(struct kymo_trace *lookahead, const struct stream_state *stream,
                                     uint32_t rank) {
  const struct kymo_stream_source source = {
      .operations = stream->operations, .source = stream->source, .may_repeat = stream->may_repeat};
  struct stream_state *twin = kymo_stream_new(lookahead, &stream->decoder.stream, &source);
  if (!twin)
    return NULL;
  twin->rank = rank;
  return kymo_stream_prepare(twin, NULL) == KYMO_OK ? twin : NULL;
}

struct kymo_trace *kymo_lookahead_new(const struct kymo_trace *trace, struct stream_state *const *streams,
                                      size_t count) {
  struct kymo_trace *lookahead = kymo_trace_new();
  if (!lookahead)
    return NULL;
  lookahead->options = trace->options;
  lookahead->stream_count = count;
  lookahead->streams = kymo_arena_array(&lookahead->arena, count + 1, sizeof(*lookahead->streams));
  for (size_t i = 0; i < count && lookahead->streams; i++)
    if (!(lookahead->streams[i] = add_twin(lookahead, streams[i], (uint32_t)i))) {
      kymo_lookahead_free(lookahead);
      return NULL;
    }
  if (!lookahead->streams) {
    kymo_lookahead_free(lookahead);
    return NULL;
  }
  return lookahead;
}

void kymo_lookahead_free(struct kymo_trace *lookahead) {
  for (size_t i = 0; lookahead && lookahead->streams && i < lookahead->stream_count && lookahead->streams[i];
       i++) {
    struct stream_state *twin = lookahead->streams[i];
    if (twin->cursor)
      twin->operations->end(twin->cursor);
    kymo_index_free(&twin->index);
  }
  kymo_trace_close(lookahead); /* it has no parts */
}

/* ---- counting ---- */

/* A lookahead reader for all streams that begins at the trace's last checkpoint that `fits`; it owns the
 * trace's checkpoints until `send_back`. */
static struct kymo_trace *send(struct kymo_trace *trace,
                               bool (*fits)(const struct kymo_trace *, const struct kymo_checkpoint *)) {
  struct kymo_trace *lookahead = kymo_lookahead_new(trace, trace->streams, trace->stream_count);
  size_t last = trace->checkpoints.count;
  if (!lookahead)
    return NULL;
  while (last > 0 && !fits(trace, &trace->checkpoints.list[last - 1]))
    last--;
  lookahead->checkpoints = trace->checkpoints;
  trace->checkpoints = (struct kymo_checkpoints){.count = 0};
  if (last > 0)
    kymo_checkpoint_return(lookahead, &lookahead->checkpoints.list[last - 1], NULL);
  return lookahead;
}

static void send_back(struct kymo_trace *trace, struct kymo_trace *lookahead) {
  trace->checkpoints = lookahead->checkpoints;
  lookahead->checkpoints = (struct kymo_checkpoints){.count = 0};
  kymo_lookahead_free(lookahead);
}

static bool any_fits(const struct kymo_trace *trace, const struct kymo_checkpoint *checkpoint) {
  (void)trace, (void)checkpoint;
  return true;
}

int kymo_trace_count_events(struct kymo_trace *trace, uint64_t *count, struct kymo_error *error) {
  struct kymo_trace *lookahead = send(trace, any_fits);
  int status = KYMO_OK;
  if (!lookahead)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  while (status == KYMO_OK)
    status = kymo_trace_merge_batch(lookahead, error);
  *count = lookahead->batch_end;
  send_back(trace, lookahead);
  return status < 0 ? status : KYMO_OK;
}

/* The lookahead reader merges on to the first event that is not before a time; its batch_begin and *before
 * lead there. */
static int count_before(struct kymo_trace *lookahead, int64_t time_ns, uint64_t *before,
                        struct kymo_error *error) {
  for (;;) {
    int status = kymo_trace_merge_batch(lookahead, error);
    *before = lookahead->batch_end;
    if (status != KYMO_OK)
      return status < 0 ? status : KYMO_OK;
    for (uint32_t i = 0; i < lookahead->batch_count; i++)
      if (kymo_place_ns(lookahead->batch[i]) >= time_ns) {
        *before = lookahead->batch_begin + i;
        return KYMO_OK;
      }
  }
}

static bool is_before(const struct kymo_trace *trace, const struct kymo_checkpoint *checkpoint) {
  return trace->is_landing_known && kymo_checkpoint_is_before(trace, checkpoint);
}

static int make_exact(struct kymo_trace *trace, struct kymo_error *error) {
  uint64_t before;
  int status = kymo_trace_check_order(trace, error);
  struct kymo_trace *lookahead = status == KYMO_OK ? send(trace, is_before) : NULL;
  if (status == KYMO_OK && !lookahead)
    status = kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (status != KYMO_OK)
    return status;
  status = count_before(lookahead, trace->landed_ns, &before, error);
  send_back(trace, lookahead);
  if (status != KYMO_OK)
    return status;
  kymo_trace_renumber(trace, trace->number - trace->landed_number + before);
  kymo_checkpoint_clear(trace);
  trace->lay_number = 0;
  return KYMO_OK;
}

int kymo_trace_get_number(struct kymo_trace *trace, const struct kymo_event *event, uint64_t *number,
                          struct kymo_error *error) {
  int status = KYMO_OK;
  uint64_t given = event->number, last = trace->number;
  if (given >= KYMO_NUMBER_RELATIVE && trace->number >= KYMO_NUMBER_RELATIVE)
    status = make_exact(trace, error);
  if (status != KYMO_OK)
    return status;
  if (given >= KYMO_NUMBER_RELATIVE) { /* events of the batch before the last one may be requested, too */
    given = trace->number - (last - given);
    ((struct kymo_event *)(uintptr_t)event)->number = given;
  }
  *number = given;
  return KYMO_OK;
}
