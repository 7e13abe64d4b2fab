/* SPDX-License-Identifier: MIT */
/*
 * kymo_trace_next returns the events of the merged batch one by one; when they are used up, it merges the
 * next batch.
 *
 *   streams ── look ahead ──► found ── loser tree ──► batch of events ──► kymo_trace_next
 *
 * Merging stops where something else than an event comes first: a stream that has no more events in its
 * packet (those in the batch must be returned before it may leave it), pending notices, the end.
 */
#include "base/fail.h"
#include "source/prefilter.h"
#include "trace/follow.h"
#include "trace/pause.h"
#include "decode/step.h"
#include <stdlib.h>

/* ---- keys ---- */

static bool has_events(const struct kymo_trace *trace, uint32_t rank) {
  return trace->cursors[rank].next < trace->cursors[rank].end;
}

/* The time of the next event or notice of a stream. */
static int64_t time_of(const struct kymo_trace *trace, uint32_t rank) {
  return has_events(trace, rank) ? trace->cursors[rank].next->time_ns : kymo_stream_key(trace->streams[rank]);
}

/* The key of the event after the next one. After the last time there is one that is far away. */
static inline uint64_t following_key(const struct kymo_trace *trace, uint32_t rank) {
  return kymo_merge_key(&trace->merge, trace->cursors[rank].next[1].time_ns, rank);
}

static void set_following(struct kymo_trace *trace, uint32_t rank) {
  if (has_events(trace, rank))
    *kymo_merge_following(&trace->merge, rank) = following_key(trace, rank);
}

/* A stream with a notice may have found the events after it already: their times do not change. */
static void set_cursor(struct kymo_trace *trace, struct stream_state *stream) {
  struct merge_cursor *cursor = &trace->cursors[stream->rank];
  uint32_t count = stream->phase == STREAM_EVENT ? stream->decoder.event_count : 0;
  if (stream->phase == STREAM_EVENT)
    stream->decoder.found[count].time_ns = INT64_MAX;
  cursor->packet = &stream->decoder.packet;
  cursor->plans = stream->decoder.plan ? stream->decoder.plan->events : NULL;
  cursor->more = count ? stream->decoder.packet.data + stream->decoder.next_bits / 8 : NULL;
  cursor->next = stream->decoder.found;
  cursor->end = stream->decoder.found + count;
  set_following(trace, stream->rank);
}

/* Leaves out unwanted events of those that were just found. An event that is later than the next one stays,
 * since it delays it; so does the last one, after which the stream looks on: then all others come in the same
 * order, and so does damage. */
static void thin(const struct kymo_trace *trace, struct stream_state *stream) {
  struct kymo_decoder *decoder = &stream->decoder;
  if (KYMO_LIKELY(!trace->is_thinned) || stream->phase != STREAM_EVENT || decoder->event_count == 0)
    return;
  const struct kymo_event_plan *plans = decoder->plan->events;
  struct kymo_found *found = decoder->found;
  uint32_t kept = 0, last = decoder->event_count - 1;
  for (uint32_t i = 0; i < last; i++) {
    found[kept] = found[i];
    kept += !plans[found[i].index].is_unwanted | (found[i].time_ns > found[i + 1].time_ns);
  }
  found[kept] = found[last];
  decoder->event_count = kept + 1;
}

void kymo_trace_set_cursor(struct kymo_trace *trace, struct stream_state *stream, uint32_t given) {
  set_cursor(trace, stream);
  trace->cursors[stream->rank].next += given;
}

static void build(struct kymo_trace *trace) {
  size_t count = trace->stream_count;
  for (uint32_t i = 0; i < count; i++) {
    trace->are_over[i] = trace->streams[i]->phase == STREAM_DONE;
    trace->heads_ns[i] = trace->are_over[i] ? INT64_MAX : time_of(trace, i);
  }
  kymo_merge_build(&trace->merge, trace->heads_ns, trace->are_over);
  for (uint32_t i = 0; i < count; i++)
    set_following(trace, i);
}

/* Replays the games of the stream that was first, and now has events, notices, or nothing. */
static void enter(struct kymo_trace *trace, struct stream_state *stream) {
  thin(trace, stream);
  set_cursor(trace, stream);
  if (stream->phase == STREAM_DONE) {
    kymo_merge_replay(&trace->merge, kymo_merge_last_key(&trace->merge, stream->rank));
    return;
  }
  uint64_t key = kymo_merge_key(&trace->merge, time_of(trace, stream->rank), stream->rank);
  kymo_merge_replay(&trace->merge, key);
  trace->must_build |= kymo_merge_is_far(&trace->merge, key);
}

/* An array that begins with a cache line. */
static void *make_lines(struct kymo_trace *trace, size_t count, size_t size) {
  char *memory = kymo_arena_array(&trace->arena, count + KYMO_CACHE_LINE / size + 1, size);
  return memory ? memory + (-(uintptr_t)memory & (KYMO_CACHE_LINE - 1)) : NULL;
}

static bool make_batch(struct kymo_trace *trace) {
  trace->batch_events = make_lines(trace, KYMO_BATCH_EVENTS, sizeof *trace->batch_events);
  trace->batch = kymo_arena_array(&trace->arena, KYMO_BATCH_EVENTS, sizeof *trace->batch);
  return trace->batch_events && trace->batch;
}

/* For all streams, and when following for as many new ones. */
static int make_room(struct kymo_trace *trace, struct kymo_error *error) {
  size_t count = trace->stream_count, capacity = trace->follow ? 2 * count : count;
  uint64_t *nodes = trace->merge.nodes;
  if (count > trace->merge_capacity) {
    nodes = kymo_arena_array(&trace->arena, 2 * capacity, sizeof *nodes);
    trace->cursors = make_lines(trace, capacity, sizeof *trace->cursors);
    trace->heads_ns = kymo_arena_array(&trace->arena, capacity, sizeof *trace->heads_ns);
    trace->are_over = kymo_arena_array(&trace->arena, capacity, sizeof *trace->are_over);
    trace->merge_capacity = capacity;
  }
  if ((!trace->batch_events && !make_batch(trace)) || !nodes || !trace->cursors || !trace->heads_ns ||
      !trace->are_over)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  kymo_merge_begin(&trace->merge, nodes, count);
  return KYMO_OK;
}

static int begin_merging(struct kymo_trace *trace, struct kymo_error *error) {
  if (make_room(trace, error) != KYMO_OK)
    return KYMO_E_MEMORY;
  for (size_t i = 0; i < trace->stream_count; i++) {
    struct stream_state *stream = trace->streams[i];
    int status = kymo_stream_advance(stream, error);
    if (status < 0)
      return status;
    thin(trace, stream);
    set_cursor(trace, stream);
  }
  trace->is_merging = true;
  trace->alone = 0;
  build(trace);
  return KYMO_OK;
}

/* Whether a stream has nothing more to deliver, up to the end of the wanted range. */
static bool is_over(const struct kymo_trace *trace, uint32_t rank) {
  int64_t end_ns = trace->end_ns < trace->slice_end_ns ? trace->end_ns : trace->slice_end_ns;
  return trace->streams[rank]->phase == STREAM_DONE || time_of(trace, rank) > end_ns;
}

static struct stream_state *first_stream(struct kymo_trace *trace) {
  if (trace->options.unmerged) {
    while (trace->alone + 1 < trace->stream_count && is_over(trace, trace->alone))
      trace->alone++;
    return trace->streams[trace->alone];
  }
  return trace->streams[kymo_merge_rank(&trace->merge, trace->merge.nodes[0])];
}

/* Continues until the first stream has events. KYMO_OK, KYMO_END, KYMO_AGAIN or negative. */
static int settle(struct kymo_trace *trace, struct kymo_error *error) {
  int status = KYMO_OK;
  while (status >= 0) {
    /* Keys that are far away may hide an order, also after a stream that has just ended: then the tree is
     * built from a nearer base. */
    if (trace->must_build || kymo_merge_is_far(&trace->merge, trace->merge.nodes[0]))
      build(trace);
    trace->must_build = false;
    struct stream_state *stream = first_stream(trace);
    if (is_over(trace, stream->rank))
      return KYMO_END;
    if (has_events(trace, stream->rank))
      return KYMO_OK;
    if (stream->phase == STREAM_WAITING && trace->follow)
      return KYMO_AGAIN;
    status = stream->phase == STREAM_NOTICE ? kymo_stream_pass_notice(stream, error)
                                            : kymo_stream_advance(stream, error);
    if (status >= 0 && stream->phase == STREAM_WAITING)
      return KYMO_AGAIN;
    if (status >= 0)
      enter(trace, stream);
  }
  return status;
}

/* ---- merging ---- */

/* A single stream: its events, unchanged. */
static uint32_t merge_all(struct kymo_trace *trace, struct stream_state *stream) {
  struct merge_cursor *cursor = &trace->cursors[stream->rank];
  uint32_t count = (uint32_t)(cursor->end - cursor->next);
  for (uint32_t i = 0; i < count; i++)
    kymo_event_build(&trace->batch_events[i], cursor->next + i, cursor->packet, cursor->plans);
  cursor->next = cursor->end;
  trace->empty = stream;
  return count;
}

static inline uint32_t least(size_t a, size_t b, size_t c) {
  size_t two = a < b ? a : b;
  return (uint32_t)(two < c ? two : c);
}

/* Two streams with events: their order cannot be predicted, so no branch depends on it. As many games as the
 * shorter one has events need no check for its end. */
static uint32_t merge_two(struct kymo_trace *trace, uint32_t count) {
  struct merge_cursor one = trace->cursors[0], other = trace->cursors[1];
  const struct kymo_packet *const packets[] = {one.packet, other.packet};
  const struct kymo_event_plan *const plans[] = {one.plans, other.plans};
  struct kymo_event *merged = trace->batch_events + count, *full = trace->batch_events + KYMO_BATCH_EVENTS;
  for (uint32_t games; (games = least((size_t)(one.end - one.next), (size_t)(other.end - other.next),
                                      (size_t)(full - merged))) > 0;) {
    size_t lost = 0; /* by `one` */
    for (size_t game = 0; game < games; game++) {
      const struct kymo_found *mine = one.next + (game - lost), *yours = other.next + lost;
      bool is_other = yours->time_ns < mine->time_ns;
      uintptr_t first = (uintptr_t)mine, second = (uintptr_t)yours;
      first ^= (first ^ second) & -(uintptr_t)is_other; /* ?: would be a branch */
      kymo_event_build(&merged[game], (const struct kymo_found *)first, packets[is_other], plans[is_other]);
      lost += is_other;
    }
    merged += games;
    one.next += games - lost;
    other.next += lost;
  }
  trace->cursors[0] = one;
  trace->cursors[1] = other;
  set_following(trace, 0);
  set_following(trace, 1);
  bool one_is_empty = one.next == one.end, other_is_empty = other.next == other.end;
  uint32_t first = one_is_empty ? 0 : other_is_empty ? 1 : other.next->time_ns < one.next->time_ns;
  if (one_is_empty || other_is_empty)
    trace->empty = trace->streams[first];
  trace->merge.nodes[0] = first; /* not a key, but the rank is right, and the next game needs no more */
  trace->merge.nodes[1] =
      kymo_merge_key(&trace->merge, first ? one.next->time_ns : other.next->time_ns, !first);
  trace->must_build = kymo_merge_is_far(&trace->merge, trace->merge.nodes[1]);
  return (uint32_t)(merged - trace->batch_events) - count;
}

/* Adds events of one stream to the batch while they come before the key `limit`. Returns their number. The
 * event that is first then is the one that follows. */
static uint32_t merge_run(const struct kymo_trace *trace, uint32_t count, uint32_t rank, uint64_t limit) {
  struct merge_cursor *cursor = &trace->cursors[rank];
  const struct kymo_found *found = cursor->next;
  uint32_t begin = count;
  for (; found < cursor->end && count < KYMO_BATCH_EVENTS &&
         kymo_merge_key(&trace->merge, found->time_ns, rank) < limit;
       found++)
    kymo_event_build(&trace->batch_events[count++], found, cursor->packet, cursor->plans);
  cursor->next = found;
  *kymo_merge_following(&trace->merge, rank) = kymo_merge_key(&trace->merge, found->time_ns, rank);
  return count - begin;
}

/* What looking on needs: the state of the stream, and the first lines of data, after which the processor sees
 * where it goes. */
static __attribute__((noinline)) void prefetch_state(const struct stream_state *stream, const uint8_t *more) {
  enum { DATA_LINES = 8 };
  const char *state = (const char *)stream + offsetof(struct stream_state, decoder.has_damage);
  const char *end = (const char *)&stream->causes;
  __asm__ volatile("" : : : "memory"); /* a function that only prefetches is taken for one without effect */
  for (; state < end; state += KYMO_CACHE_LINE)
    __builtin_prefetch(state);
  for (unsigned i = 0; i < DATA_LINES; i++)
    __builtin_prefetch(more + (size_t)i * KYMO_CACHE_LINE);
}

/* The winner so far has a new key: returns the new winner's. As kymo_merge_replay; but the cursor of a stream
 * that wins the games of a sixteenth of all, and so will be first soon, is prefetched. */
static inline uint64_t replay(struct merge *merge, const struct merge_cursor *cursors, uint64_t key) {
  enum { SOON = 16 };
  size_t node = (merge->count + kymo_merge_rank(merge, key)) / 2;
  for (; node >= SOON; node /= 2)
    key = kymo_merge_play(merge, node, key);
  __builtin_prefetch(&cursors[kymo_merge_rank(merge, key)]);
  for (; node > 0; node /= 2)
    key = kymo_merge_play(merge, node, key);
  return merge->nodes[0] = key;
}

/* Adds as many events to the batch as can be ordered now. The first stream has some. One game waits for the
 * previous one, so its input is ready: the key of the following event of the same stream was computed at that
 * stream's last turn, and is in the tree's array. Between two turns of a stream, many others use the cache:
 * what it needs at its next turn is prefetched at this one. */
static uint32_t merge_many(struct kymo_trace *trace, uint32_t begin) {
  struct merge merge = trace->merge; /* a copy, which no store to the nodes changes */
  struct merge_cursor *const cursors = trace->cursors;
  struct kymo_event *events = trace->batch_events;
  uint64_t key = merge.nodes[0];
  uint32_t count = begin, last = UINT32_MAX;
  for (;;) {
    uint32_t rank = kymo_merge_rank(&merge, key);
    struct merge_cursor *cursor = &cursors[rank];
    const struct kymo_found *next = cursor->next;
    if (KYMO_UNLIKELY(next == cursor->end))
      break;            /* notices, or the end */
    if (rank == last) { /* several in a row: then it is worth computing how far it may go */
      count += merge_run(trace, count, rank, kymo_merge_runner_up(&merge));
      next = cursor->next;
    } else {
      kymo_event_build(&events[count++], next, cursor->packet, cursor->plans);
      cursor->next = ++next;
    }
    last = rank;
    uint64_t *following = kymo_merge_following(&merge, rank);
    key = *following;
    __builtin_prefetch(next + 2);
    bool is_far = kymo_merge_is_far(&merge, key);
    if (KYMO_UNLIKELY(cursor->end - next <= 1)) {
      if (is_far && next == cursor->end) {
        trace->empty = trace->streams[rank];
        break;
      }
      prefetch_state(trace->streams[rank], cursor->more);
    }
    *following = kymo_merge_key(&merge, next[1].time_ns, rank);
    key = replay(&merge, cursors, key);
    if (KYMO_UNLIKELY(is_far) || count == KYMO_BATCH_EVENTS) {
      trace->must_build = is_far;
      break;
    }
  }
  return count - begin;
}

/* Adds events to the `count` that the batch has, of which the first stream has some. Returns their number. */
static uint32_t merge_some(struct kymo_trace *trace, uint32_t count) {
  if (trace->stream_count == 2 && has_events(trace, 0) && has_events(trace, 1))
    return merge_two(trace, count);
  return merge_many(trace, count);
}

/* Whether streams may look ahead while events that they found before are in the batch: what is damaged must
 * not be reported before these, those after a slice are returned to the streams, and a trace that grows is
 * described anew between batches. */
static bool may_look_on(const struct kymo_trace *trace) {
  return !trace->stops_at_damage && !trace->follow && trace->slice_end_ns == INT64_MAX;
}

/* After the end, thinned streams are not read on, not even for a wanted event: that may be far away. */
static inline bool is_past_end(const struct kymo_trace *trace, const struct kymo_event *event) {
  return trace->is_thinned && kymo_place_ns(event) > trace->end_ns;
}

/* Merges the next batch of the streams, the first of which has events. */
static uint32_t merge_batch(struct kymo_trace *trace) {
  if (trace->stream_count == 1 || trace->options.unmerged)
    return merge_all(trace, first_stream(trace));
  uint32_t count = merge_some(trace, 0);
  while (trace->empty && count < KYMO_BATCH_EVENTS && may_look_on(trace) &&
         !is_past_end(trace, &trace->batch_events[count - 1]) && kymo_stream_look_on(trace->empty)) {
    enter(trace, trace->empty);
    trace->empty = NULL;
    if (trace->must_build || kymo_merge_is_far(&trace->merge, trace->merge.nodes[0]))
      break;
    count += merge_some(trace, count);
  }
  return count;
}

/* The batch has the events in their order again, after some were left out. */
static void straighten(struct kymo_trace *trace) {
  for (uint32_t i = 0; i < KYMO_BATCH_EVENTS; i++)
    trace->batch[i] = &trace->batch_events[i];
  trace->is_straight = true;
}

/* Returns what was merged from the end of the slice on to its streams. */
static uint32_t end_slice(struct kymo_trace *trace, uint32_t count) {
  uint32_t kept = 0;
  while (kept < count && trace->batch[kept]->time_ns <= trace->slice_end_ns)
    kept++;
  for (uint32_t i = kept; i < count; i++) {
    const struct stream_state *stream = kymo_stream_of(trace->batch[i]);
    trace->cursors[stream->rank].next--;
  }
  if (kept < count) {
    trace->must_build = true;
    trace->empty = NULL; /* its last event was the last one of all */
  }
  return kept;
}

/* ---- following ---- */

/* Moves cursors, which are ordered by the streams' old ranks, to their new places. */
static int move_cursors(struct kymo_trace *trace, struct stream_state *const *old, size_t old_count,
                        struct kymo_error *error) {
  struct merge_cursor *saved = malloc((old_count + 1) * sizeof *saved);
  if (!saved)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (old_count > 0)
    memcpy(saved, trace->cursors, old_count * sizeof *saved);
  int status = make_room(trace, error);
  if (status == KYMO_OK)
    memset(trace->cursors, 0, trace->stream_count * sizeof *trace->cursors);
  for (size_t i = 0; i < old_count && status == KYMO_OK; i++)
    trace->cursors[old[i]->rank] = saved[i];
  free(saved);
  return status;
}

int kymo_trace_take_in(struct kymo_trace *trace, struct kymo_error *error) {
  struct stream_state **old = trace->streams;
  size_t old_count = trace->stream_count;
  int status = kymo_trace_finish(trace, error);
  return status == KYMO_OK && trace->is_merging ? move_cursors(trace, old, old_count, error) : status;
}

/* No event could be returned: checks whether that has changed. */
static int go_round(struct kymo_trace *trace, struct kymo_error *error) {
  int status = kymo_follow_round(trace, error);
  for (size_t i = 0; i < trace->stream_count && status >= 0 && trace->is_merging; i++) {
    struct stream_state *stream = trace->streams[i];
    if (stream->phase != STREAM_WAITING && stream->phase != STREAM_NEW)
      continue;
    status = kymo_stream_advance(stream, error);
    if (status >= 0)
      set_cursor(trace, stream);
  }
  trace->must_build = true;
  return status;
}

/* ---- selecting ---- */

void kymo_trace_select_classes(struct kymo_trace *trace, kymo_class_filter *wants, void *user) {
  trace->is_selecting = trace->wants_times;
  for (size_t i = 0; i < trace->part_count; i++) {
    const struct kymo_schema_plan *plan = trace->parts[i]->plan;
    for (uint32_t j = 0; j < plan->schema->stream_count; j++)
      for (uint32_t k = 0; k < plan->schema->streams[j]->event_count; k++) {
        struct kymo_event_plan *event = &plan->streams[j].events[k];
        event->is_unwanted = !wants(user, event->class_);
        trace->is_selecting |= event->is_unwanted;
      }
  }
  if (trace->filter)
    trace->filter_operations->start_anew(trace->filter);
}

/* If all have one, nothing needs to be selected. */
void kymo_trace_want_times(struct kymo_trace *trace) {
  for (size_t i = 0; i < trace->part_count; i++) {
    const struct kymo_schema_plan *plan = trace->parts[i]->plan;
    for (uint32_t j = 0; j < plan->schema->stream_count; j++)
      trace->wants_times |= plan->streams[j].has_timed || !plan->schema->streams[j]->clock;
  }
  trace->is_selecting |= trace->wants_times;
}

void kymo_trace_thin(struct kymo_trace *trace, bool is_thinned) {
  trace->is_thinned = is_thinned && trace->is_selecting && !trace->filter && !trace->follow;
}

bool kymo_event_is_unwanted(const struct kymo_trace *trace, const struct kymo_event *event) {
  return event->plan->is_unwanted || (trace->wants_times && !event->has_time);
}

void kymo_trace_select(struct kymo_trace *trace) {
  struct kymo_event **batch = trace->batch;
  uint32_t kept = trace->batch_next;
  for (uint32_t i = 0; i < trace->batch_count && !trace->are_numbered; i++)
    batch[i]->number = trace->batch_begin + i + 1;
  for (uint32_t i = kept; i < trace->batch_count; i++) {
    batch[kept] = batch[i];
    kept += !kymo_event_is_unwanted(trace, batch[i]) || is_past_end(trace, batch[i]);
  }
  trace->batch_count = kept;
  trace->is_straight = false;
  trace->are_numbered = true;
}

/* ---- pausing ---- */

void kymo_trace_pause_after(struct kymo_trace *trace, uint64_t events) {
  trace->pause_number = events ? trace->number + events : 0;
}

uint64_t kymo_trace_passed(const struct kymo_trace *trace) { return trace->number; }

/* ---- moving ---- */

void kymo_trace_set_end_time(struct kymo_trace *trace, int64_t end_ns) {
  uint32_t limit = end_ns == INT64_MAX ? trace->batch_count : trace->batch_next;
  while (limit < trace->batch_count && kymo_place_ns(trace->batch[limit]) <= end_ns)
    limit++;
  trace->batch_limit = limit;
  trace->end_ns = end_ns;
}

/* The stream's next event is after the end: if streams come one after another, the next one follows. */
static bool leave_stream(struct kymo_trace *trace) {
  if (!trace->options.unmerged || trace->alone + 1 >= trace->stream_count)
    return false;
  trace->alone++;
  trace->empty = NULL;
  trace->batch_end = trace->number; /* events that are left out here were not counted */
  return true;
}

/* Without streams, some may be added later. */
static int end_of_nothing(struct kymo_trace *trace) {
  trace->is_at_rest = kymo_trace_is_followed(trace);
  return trace->is_at_rest ? KYMO_AGAIN : KYMO_END;
}

int kymo_trace_drop_batch(struct kymo_trace *trace, uint64_t number, struct kymo_error *error) {
  trace->batch_next = trace->batch_limit = trace->batch_count = 0;
  trace->number = trace->batch_begin = trace->batch_end = number;
  trace->empty = NULL;
  trace->is_merging = trace->must_build = trace->is_at_end = trace->are_numbered = false;
  trace->lay_number = 0;
  return trace->stream_count ? make_room(trace, error) : KYMO_OK;
}

void kymo_trace_renumber(struct kymo_trace *trace, uint64_t number) {
  uint64_t merged = trace->batch_end - trace->batch_begin;
  trace->batch_begin = number - (trace->number - trace->batch_begin);
  trace->batch_end = trace->batch_begin + merged;
  for (uint32_t i = 0; i < trace->batch_count && trace->are_numbered; i++)
    trace->batch[i]->number += number - trace->number;
  trace->number = number;
}

__attribute__((noinline)) int kymo_trace_merge_batch(struct kymo_trace *trace, struct kymo_error *error) {
  int status = KYMO_OK;
  if (trace->batch_limit < trace->batch_count && !leave_stream(trace))
    return KYMO_END;
  trace->batch_next = trace->batch_limit = trace->batch_count = 0;
  trace->number = trace->batch_begin = trace->batch_end;
  trace->are_numbered = false;
  if (KYMO_UNLIKELY(trace->is_at_rest))
    status = go_round(trace, error);
  if (status < 0 || trace->stream_count == 0)
    return status < 0 ? status : end_of_nothing(trace);
  if (!trace->is_merging) {
    status = begin_merging(trace, error);
  } else if (trace->empty) {
    status = kymo_stream_advance(trace->empty, error);
    if (status >= 0)
      enter(trace, trace->empty);
    trace->empty = NULL;
  }
  if (status >= 0)
    status = settle(trace, error);
  while (status == KYMO_AGAIN && trace->follow && kymo_follow_move_bound(trace)) {
    trace->must_build = true;
    status = settle(trace, error);
  }
  trace->is_at_rest = status == KYMO_AGAIN && trace->follow;
  if (status == KYMO_OK && trace->number >= trace->lay_number && !trace->is_thinned)
    kymo_checkpoint_lay(trace);
  if (!trace->is_straight)
    straighten(trace);
  if (status == KYMO_OK)
    trace->batch_count = merge_batch(trace);
  if (KYMO_UNLIKELY(trace->slice_end_ns != INT64_MAX))
    trace->batch_count = end_slice(trace, trace->batch_count);
  trace->batch_end = trace->batch_begin + trace->batch_count;
  if (KYMO_UNLIKELY(trace->is_selecting | trace->is_prefiltered))
    kymo_trace_select(trace);
  kymo_trace_set_end_time(trace, trace->end_ns); /* for the events in the batch */
  return status;
}

static int next_without_prefilters(struct kymo_trace *trace, const struct kymo_event **event,
                                   struct kymo_error *error);

/* Any next event. is_whole: for callers other than the filter, which must not see a batch merged for the
 * filter. */
static __attribute__((noinline)) int next_of_any(struct kymo_trace *trace, bool is_whole,
                                                 const struct kymo_event **event, struct kymo_error *error) {
  if (is_whole && trace->is_prefiltered)
    return next_without_prefilters(trace, event, error);
  while (trace->batch_next == trace->batch_limit) {
    if (trace->pause_number && trace->batch_end >= trace->pause_number) {
      *event = NULL;
      return KYMO_AGAIN;
    }
    int status = kymo_trace_merge_batch(trace, error ? error : &trace->last_error);
    if (KYMO_UNLIKELY(trace->stops_at_damage) && status >= 0 && kymo_trace_met_damage(trace, error))
      status = trace->last_error.code;
    if (KYMO_UNLIKELY(trace->arena.failed) && status >= 0) /* what was found so far may be incomplete */
      status = kymo_fail(error, KYMO_E_MEMORY, "out of memory");
    if (status != KYMO_OK) {
      if (status < 0 && error)
        trace->last_error = *error;
      *event = NULL;
      trace->is_at_end = status == KYMO_END;
      return status;
    }
  }
  struct kymo_event *next = trace->batch[trace->batch_next++];
  trace->number = next->number = trace->are_numbered ? next->number : trace->number + 1;
  *event = next;
  return KYMO_OK;
}

/* The next event, which usually is in the batch, and was not numbered: no more than this, so that a caller
 * needs no registers for it. */
static inline __attribute__((always_inline)) int
get_next(struct kymo_trace *trace, bool is_whole, const struct kymo_event **event, struct kymo_error *error) {
  if (KYMO_UNLIKELY((trace->batch_next == trace->batch_limit) | trace->are_numbered))
    return next_of_any(trace, is_whole, event, error);
  struct kymo_event *next = trace->batch[trace->batch_next++];
  next->number = ++trace->number;
  *event = next;
  return KYMO_OK;
}

int kymo_trace_next(struct kymo_trace *trace, const struct kymo_event **event, struct kymo_error *error) {
  return get_next(trace, true, event, error);
}

int kymo_trace_move_on(struct kymo_trace *trace, const struct kymo_event **event, struct kymo_error *error) {
  return get_next(trace, false, event, error);
}

/* After all streams there is nothing to find again. */
static bool are_done(const struct kymo_trace *trace) {
  bool are_done = trace->is_at_end;
  for (size_t i = 0; are_done && i < trace->stream_count; i++)
    are_done = trace->streams[i]->phase == STREAM_DONE;
  return are_done;
}

static int next_without_prefilters(struct kymo_trace *trace, const struct kymo_event **event,
                                   struct kymo_error *error) {
  *event = NULL;
  if (are_done(trace))
    return KYMO_END;
  int status = kymo_trace_end_prefilters(trace, error);
  return status == KYMO_OK ? kymo_trace_next(trace, event, error) : status;
}
