/* SPDX-License-Identifier: MIT */
/* Creates checkpoints, and returns to them. */
#include "trace/checkpoint.h"
#include "base/fail.h"
#include "base/list.h"
#include "base/search.h"
#include "trace/trace.h"
#include <stdlib.h>

/* Limit of the memory for marks; but at least this many checkpoints are kept. */
#define MARKS_BYTES ((size_t)8 << 20)
#define CHECKPOINTS_LEAST 4
/* Events between two: for each stream enough that creating checkpoints costs little. */
#define STRIDE_LEAST UINT64_C(16384)
#define STRIDE_PER_STREAM UINT64_C(256)
/* Nearer to the aim than this, no more are created. */
#define NEAR_LEAST UINT64_C(256)

/* ---- marks ---- */

static enum kymo_mark_kind kind_of(const struct stream_state *stream) {
  switch (stream->phase) {
  case STREAM_EVENT: return KYMO_MARK_EVENTS;
  case STREAM_DONE: return KYMO_MARK_DONE;
  case STREAM_NOTICE:
    return stream->is_ended ? KYMO_MARK_DONE : stream->is_through ? KYMO_MARK_THROUGH : KYMO_MARK_NOTICES;
  default: return stream->in_packet ? KYMO_MARK_THROUGH : KYMO_MARK_START;
  }
}

static void set_mark(struct kymo_stream_mark *mark, const struct stream_state *stream,
                     const struct merge_cursor *cursor) {
  const struct kymo_packet *previous = &stream->previous;
  *mark =
      (struct kymo_stream_mark){.kind = kind_of(stream),
                                .is_damaged = stream->phase == STREAM_EVENT ? stream->decoder.ahead.is_damaged
                                                                            : stream->decoder.has_damage,
                                .is_begun = stream->is_begun,
                                .is_dropping = stream->begin_ns != INT64_MIN,
                                .has_previous = stream->has_previous,
                                .previous_has_end = previous->has_end,
                                .previous_has_discarded = previous->has_discarded,
                                .position = {stream->file, stream->decoder.packet.offset},
                                .sequence = stream->decoder.packet.sequence,
                                .ordinal = stream->ordinal,
                                .entry_clock = stream->entry_clock,
                                .next_bits = stream->decoder.ahead.next_bits,
                                .clock = stream->decoder.ahead.clock,
                                .budget = stream->decoder.ahead.budget,
                                .previous_sequence = previous->sequence,
                                .previous_discarded = previous->discarded,
                                .previous_end = previous->end_cycles};
  if (mark->kind == KYMO_MARK_EVENTS)
    mark->given = stream->decoder.ahead.dropped + (uint32_t)(cursor->next - stream->decoder.found);
  else if (mark->kind == KYMO_MARK_NOTICES)
    mark->given = stream->notice_next;
  else
    mark->clock = stream->decoder.clock;
  if (mark->kind != KYMO_MARK_EVENTS) /* it did not look ahead here */
    mark->next_bits = mark->kind == KYMO_MARK_THROUGH ? UINT64_MAX : 0;
}

/* ---- returning ---- */

static int fail_changed(const struct stream_state *stream, const struct kymo_stream_mark *mark,
                        struct kymo_error *error) {
  return kymo_fail_at(error, KYMO_E_FORMAT, stream->decoder.stream.path, mark->position.offset,
                      "the packet that was read here no longer exists");
}

static bool is_in_packet(const struct stream_state *stream, const struct kymo_stream_mark *mark) {
  return stream->cursor && stream->in_packet && stream->ordinal == mark->ordinal &&
         stream->file == mark->position.file && stream->decoder.packet.offset == mark->position.offset &&
         stream->decoder.packet.sequence == mark->sequence;
}

static void set_previous(struct stream_state *stream, const struct kymo_stream_mark *mark) {
  stream->has_previous = mark->has_previous;
  stream->previous.has_end = mark->previous_has_end;
  stream->previous.has_discarded = mark->previous_has_discarded;
  stream->previous.sequence = mark->previous_sequence;
  stream->previous.discarded = mark->previous_discarded;
  stream->previous.end_cycles = mark->previous_end;
}

/* Passes packets, or events, up to the one before the mark's: their offsets cannot be used. */
static int replay(struct stream_state *stream, const struct kymo_stream_mark *mark, int64_t begin_ns,
                  struct kymo_error *error) {
  kymo_stream_restart(stream, begin_ns);
  int status = kymo_stream_begin(stream, error);
  while (status == KYMO_OK && stream->ordinal + 1 < mark->ordinal)
    status = kymo_stream_enter(stream);
  if (status == KYMO_OK && stream->in_packet)
    kymo_stream_leave(stream);
  return status == KYMO_OK || status == KYMO_E_MEMORY ? status : fail_changed(stream, mark, error);
}

static int seek(struct stream_state *stream, const struct kymo_stream_mark *mark, int64_t begin_ns,
                struct kymo_error *error) {
  struct kymo_cursor *cursor = stream->cursor;
  stream->cursor = NULL;
  kymo_stream_restart(stream, begin_ns);
  stream->cursor = cursor;
  int status = cursor ? KYMO_OK : kymo_stream_begin(stream, error);
  if (status != KYMO_OK || !stream->cursor)
    return status != KYMO_OK ? status : fail_changed(stream, mark, error);
  stream->operations->seek(stream->cursor, mark->position.file, mark->position.offset);
  stream->ordinal = mark->ordinal - 1;
  return KYMO_OK;
}

/* Enters the mark's packet again. */
static int enter(struct stream_state *stream, const struct kymo_stream_mark *mark, int64_t begin_ns,
                 struct kymo_error *error) {
  int status =
      stream->operations->seek ? seek(stream, mark, begin_ns, error) : replay(stream, mark, begin_ns, error);
  if (status != KYMO_OK)
    return status;
  stream->decoder.clock = mark->entry_clock;
  stream->is_begun = mark->is_begun;
  set_previous(stream, mark);
  status = kymo_stream_enter(stream);
  return status == KYMO_OK && is_in_packet(stream, mark) ? KYMO_OK : fail_changed(stream, mark, error);
}

/* Skips `given` of the buffered events. The size of the buffer may have changed meanwhile. */
static int look_again(struct stream_state *stream, const struct kymo_stream_mark *mark, uint32_t *given,
                      struct kymo_error *error) {
  int status = KYMO_OK;
  *given = mark->given;
  stream->phase = STREAM_WAITING;
  if (stream->operations->next_event) { /* the event is there */
    stream->phase = STREAM_EVENT;
    return KYMO_OK;
  }
  stream->decoder.next_bits = mark->next_bits;
  stream->decoder.clock = mark->clock;
  stream->decoder.budget = mark->budget;
  stream->decoder.has_damage = mark->is_damaged;
  do
    status = kymo_stream_advance(stream, error);
  while (status == KYMO_OK && stream->phase == STREAM_EVENT && *given >= stream->decoder.event_count &&
         (*given -= stream->decoder.event_count, true));
  return status != KYMO_OK || stream->phase == STREAM_EVENT ? status : fail_changed(stream, mark, error);
}

static void drop_notices(struct stream_state *stream) {
  stream->notice_count = stream->notice_next = 0;
  stream->is_ahead = stream->is_through = stream->is_reported = false;
}

/* Moves the stream to the mark; *given of the buffered events are after it. */
static int return_stream(struct stream_state *stream, const struct kymo_stream_mark *mark, int64_t begin_ns,
                         uint32_t *given, struct kymo_error *error) {
  *given = 0;
  if (mark->kind == KYMO_MARK_DONE || mark->kind == KYMO_MARK_START) {
    kymo_stream_restart(stream, mark->is_dropping ? begin_ns : INT64_MIN);
    stream->phase = mark->kind == KYMO_MARK_DONE ? STREAM_DONE : STREAM_NEW;
    return mark->kind == KYMO_MARK_DONE ? KYMO_OK : kymo_stream_advance(stream, error);
  }
  bool is_here =
      is_in_packet(stream, mark) && mark->kind == KYMO_MARK_EVENTS && !stream->operations->next_event;
  if (is_here && stream->phase == STREAM_EVENT && stream->decoder.ahead.next_bits == mark->next_bits &&
      stream->decoder.ahead.budget == mark->budget && mark->given >= stream->decoder.ahead.dropped &&
      mark->given - stream->decoder.ahead.dropped < stream->decoder.event_count) {
    *given = mark->given - stream->decoder.ahead.dropped;
    set_previous(stream, mark);
    return KYMO_OK;
  }
  int status = is_here ? KYMO_OK : enter(stream, mark, mark->is_dropping ? begin_ns : INT64_MIN, error);
  if (status != KYMO_OK)
    return status;
  if (mark->kind == KYMO_MARK_NOTICES) {
    stream->decoder.has_damage = mark->is_damaged;
    stream->notice_next = mark->given < stream->notice_count ? mark->given : 0;
    stream->phase = stream->notice_count ? STREAM_NOTICE : STREAM_WAITING;
    return stream->notice_count ? KYMO_OK : kymo_stream_advance(stream, error);
  }
  drop_notices(stream);
  stream->begin_ns = mark->is_dropping ? begin_ns : INT64_MIN;
  set_previous(stream, mark);
  if (mark->kind == KYMO_MARK_EVENTS)
    return look_again(stream, mark, given, error);
  stream->decoder.clock = mark->clock;
  stream->decoder.has_damage = mark->is_damaged;
  stream->is_through = true;
  stream->phase = STREAM_WAITING;
  return kymo_stream_advance(stream, error);
}

int kymo_checkpoint_return(struct kymo_trace *trace, const struct kymo_checkpoint *checkpoint,
                           struct kymo_error *error) {
  int status = kymo_trace_drop_batch(trace, checkpoint->number, error);
  trace->has_jumped = true;
  trace->alone = checkpoint->alone;
  trace->begin_ns = checkpoint->begin_ns;
  for (size_t i = 0; status == KYMO_OK && i < trace->stream_count; i++) {
    uint32_t given;
    status = return_stream(trace->streams[i], &checkpoint->marks[i], checkpoint->begin_ns, &given, error);
    if (status == KYMO_OK)
      kymo_trace_set_cursor(trace, trace->streams[i], given);
  }
  if (status == KYMO_OK)
    trace->is_merging = trace->must_build = true;
  else
    kymo_trace_rewind(trace);
  return status;
}

/* ---- laying down ---- */

static bool fill(struct kymo_checkpoint *checkpoint, const struct kymo_trace *trace) {
  if (!checkpoint->marks)
    checkpoint->marks = calloc(trace->stream_count, sizeof *checkpoint->marks);
  if (!checkpoint->marks)
    return false;
  checkpoint->number = trace->number;
  checkpoint->alone = trace->alone;
  checkpoint->begin_ns = trace->begin_ns;
  for (size_t i = 0; i < trace->stream_count; i++)
    set_mark(&checkpoint->marks[i], trace->streams[i], &trace->cursors[i]);
  return true;
}

static void begin_checkpoints(struct kymo_checkpoints *checkpoints, size_t streams, size_t bytes) {
  size_t fit = (bytes ? bytes : MARKS_BYTES) / (streams * sizeof(struct kymo_stream_mark));
  checkpoints->limit = fit < CHECKPOINTS_LEAST ? CHECKPOINTS_LEAST : fit;
  checkpoints->stride =
      STRIDE_LEAST > STRIDE_PER_STREAM * streams ? STRIDE_LEAST : STRIDE_PER_STREAM * streams;
}

/* Removes every second one; their memory is kept after the others. */
static void thin_out(struct kymo_checkpoints *checkpoints) {
  for (size_t i = 1; 2 * i < checkpoints->count; i++) {
    struct kymo_checkpoint spare = checkpoints->list[i];
    checkpoints->list[i] = checkpoints->list[2 * i];
    checkpoints->list[2 * i] = spare;
  }
  checkpoints->count = (checkpoints->count + 1) / 2;
  checkpoints->stride *= 2;
}

/* Without memory there are fewer checkpoints: moves read further then. */
static void lay_in_passing(struct kymo_trace *trace, struct kymo_checkpoints *checkpoints) {
  if (checkpoints->count == checkpoints->limit) {
    thin_out(checkpoints);
    return;
  }
  size_t had = checkpoints->capacity;
  if (!KYMO_LIST_ROOM(checkpoints->list, checkpoints->capacity, checkpoints->count))
    return;
  if (checkpoints->capacity > had)
    memset(checkpoints->list + had, 0, (checkpoints->capacity - had) * sizeof *checkpoints->list);
  checkpoints->count += fill(&checkpoints->list[checkpoints->count], trace);
}

static uint64_t due_in_passing(const struct kymo_trace *trace, const struct kymo_checkpoints *checkpoints) {
  uint64_t first = checkpoints == &trace->relative ? trace->landed_number : 0;
  uint64_t last = checkpoints->count ? checkpoints->list[checkpoints->count - 1].number : first;
  return last + checkpoints->stride;
}

static bool goes_back(const struct kymo_back *back, uint64_t number) {
  return back->target > number && back->target - number > NEAR_LEAST && back->count < KYMO_BACK_CHECKPOINTS;
}

/* When to create the next one, for going back: at half of the rest. */
static uint64_t due_for_back(const struct kymo_back *back, uint64_t number) {
  return goes_back(back, number) ? number + (back->target - number) / 2 : UINT64_MAX;
}

static bool is_relative(uint64_t number) { return number >= KYMO_NUMBER_RELATIVE; }

void kymo_checkpoint_lay(struct kymo_trace *trace) {
  struct kymo_checkpoints *checkpoints = is_relative(trace->number) ? &trace->relative : &trace->checkpoints;
  struct kymo_back *back = trace->back;
  if (trace->follow || (trace->options.unmerged && trace->end_ns != INT64_MAX)) {
    /* Late events would come in order the second time; and events that are left out there were not
     * counted. */
    trace->lay_number = UINT64_MAX;
    return;
  }
  if (!checkpoints->stride)
    begin_checkpoints(checkpoints, trace->stream_count, trace->checkpoint_bytes);
  if (is_relative(trace->number) && !trace->is_landing_known && trace->number == trace->landed_number)
    trace->is_landing_known = fill(&trace->landing, trace);
  if (trace->number >= due_in_passing(trace, checkpoints))
    lay_in_passing(trace, checkpoints);
  uint64_t due = due_in_passing(trace, checkpoints);
  if (back && goes_back(back, trace->number)) {
    if (trace->number >= trace->lay_back) {
      back->count += fill(&back->list[back->count], trace);
      back->made = back->count > back->made ? back->count : back->made;
    }
    trace->lay_back = due_for_back(back, trace->number);
    due = trace->lay_back < due ? trace->lay_back : due;
  }
  trace->lay_number = due;
}

void kymo_checkpoint_aim(struct kymo_trace *trace, uint64_t target) {
  if (!trace->back && target)
    trace->back = calloc(1, sizeof *trace->back); /* without memory moves read further */
  struct kymo_back *back = trace->back;
  if (!back)
    return;
  back->target = target;
  while (target && back->count > 0 && back->list[back->count - 1].number > target)
    back->count--;
  trace->lay_back = due_for_back(back, trace->number);
  trace->lay_number = 0; /* asks anew */
}

const struct kymo_checkpoint *kymo_checkpoint_find(const struct kymo_trace *trace, uint64_t number) {
  const struct kymo_checkpoints *checkpoints = is_relative(number) ? &trace->relative : &trace->checkpoints;
  const struct kymo_checkpoint *found = NULL;
  if (is_relative(number) && trace->is_landing_known && trace->landed_number <= number)
    found = &trace->landing;
  size_t count = KYMO_COUNT_BEFORE(checkpoints->count, i, checkpoints->list[i].number <= number);
  if (count > 0)
    found = &checkpoints->list[count - 1];
  for (unsigned i = trace->back ? trace->back->count : 0; i > 0; i--) {
    const struct kymo_checkpoint *near = &trace->back->list[i - 1];
    if (near->number <= number)
      return found && found->number >= near->number ? found : near;
  }
  return found;
}

/* The order of two marks of a stream: below 0 if `a` comes first. */
static int compare_marks(const struct kymo_stream_mark *a, const struct kymo_stream_mark *b,
                         bool has_places) {
  if (a->kind == KYMO_MARK_DONE || b->kind == KYMO_MARK_DONE)
    return (a->kind == KYMO_MARK_DONE) - (b->kind == KYMO_MARK_DONE);
  if (!has_places && a->ordinal != b->ordinal)
    return a->ordinal < b->ordinal ? -1 : 1;
  if (has_places && a->position.file != b->position.file)
    return a->position.file < b->position.file ? -1 : 1;
  if (has_places && a->position.offset != b->position.offset)
    return a->position.offset < b->position.offset ? -1 : 1;
  if (a->next_bits != b->next_bits)
    return a->next_bits < b->next_bits ? -1 : 1;
  return (a->given > b->given) - (a->given < b->given);
}

/* Both are on the single path of all streams together, so the first difference decides. */
bool kymo_checkpoint_is_before(const struct kymo_trace *trace, const struct kymo_checkpoint *checkpoint) {
  int order = 0;
  for (size_t i = 0; i < trace->stream_count && order == 0; i++)
    order =
        compare_marks(&checkpoint->marks[i], &trace->landing.marks[i], trace->streams[i]->operations->seek);
  return order <= 0;
}

void kymo_checkpoint_clear(struct kymo_trace *trace) {
  trace->relative.count = 0;
  trace->is_landing_known = false;
  if (trace->back)
    trace->back->count = 0;
}

static void free_list(struct kymo_checkpoints *checkpoints) {
  for (size_t i = 0; i < checkpoints->capacity; i++)
    free(checkpoints->list[i].marks);
  free(checkpoints->list);
}

void kymo_checkpoint_limit(struct kymo_trace *trace, size_t bytes) {
  trace->checkpoint_bytes = bytes;
  free_list(&trace->checkpoints);
  free_list(&trace->relative);
  trace->checkpoints = trace->relative = (struct kymo_checkpoints){.count = 0};
}

void kymo_checkpoint_free(struct kymo_trace *trace) {
  free_list(&trace->checkpoints);
  free_list(&trace->relative);
  free(trace->landing.marks);
  for (unsigned i = 0; trace->back && i < KYMO_BACK_CHECKPOINTS; i++)
    free(trace->back->list[i].marks);
  free(trace->back);
  trace->back = NULL;
}
