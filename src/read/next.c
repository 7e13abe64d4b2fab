/* SPDX-License-Identifier: MIT */
/*
 * kymo_get_next: gives out the picks one by one; when they are used up, merges on.
 *
 *   streams ── look ahead ──► entries ── loser tree ──► picks ──► kymo_get_next
 *
 * Merging stops where something else than an entry comes first: a stream whose entries are all
 * picked (they must be given out before it may look on), losses to be told, the end.
 */
#include "base/fail.h"
#include "read/step.h"
#include <stdlib.h>

#define PICKS 256

/* ---- keys ---- */

static bool has_entries(const struct kymo_trace *trace, uint32_t rank) {
  return trace->cursors[rank].next < trace->cursors[rank].end;
}

/* What stands next in a stream: its time. */
static int64_t time_of(const struct kymo_trace *trace, uint32_t rank) {
  return has_entries(trace, rank) ? *trace->cursors[rank].time_ns : kymo_stream_key(trace->streams[rank]);
}

static void set_cursor(struct kymo_trace *trace, const struct stream_state *stream) {
  struct merge_cursor *cursor = &trace->cursors[stream->rank];
  cursor->time_ns = stream->times_ns;
  cursor->next = stream->entries;
  cursor->end = stream->entries + (stream->phase == STREAM_EVENT ? stream->entry_count : 0);
}

static int build(struct kymo_trace *trace, struct kymo_error *error) {
  size_t count = trace->stream_count;
  int64_t *times_ns = malloc(count * sizeof *times_ns);
  bool *is_over = malloc(count * sizeof *is_over);
  int status = times_ns && is_over ? KYMO_OK : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  for (uint32_t i = 0; status == KYMO_OK && i < count; i++) {
    is_over[i] = trace->streams[i]->phase == STREAM_DONE;
    times_ns[i] = is_over[i] ? INT64_MAX : time_of(trace, i);
  }
  if (status == KYMO_OK)
    kymo_merge_build(&trace->merge, times_ns, is_over);
  free(times_ns);
  free(is_over);
  return status;
}

/* Lets the stream that stood first, and now has entries, losses, or nothing, play again. */
static int enter(struct kymo_trace *trace, struct stream_state *stream, struct kymo_error *error) {
  set_cursor(trace, stream);
  if (stream->phase == STREAM_DONE) {
    kymo_merge_replay(&trace->merge, kymo_merge_last_key(&trace->merge, stream->rank));
    return KYMO_OK;
  }
  uint64_t key = kymo_merge_key(&trace->merge, time_of(trace, stream->rank), stream->rank);
  kymo_merge_replay(&trace->merge, key);
  return kymo_merge_is_far(&trace->merge, key) ? build(trace, error) : KYMO_OK;
}

static int begin_merging(struct kymo_trace *trace, struct kymo_error *error) {
  size_t count = trace->stream_count;
  uint64_t *nodes = kymo_arena_array(&trace->arena, count, sizeof *nodes);
  trace->cursors = kymo_arena_array(&trace->arena, count, sizeof *trace->cursors);
  trace->picks = kymo_arena_array(&trace->arena, PICKS, sizeof *trace->picks);
  if (!nodes || !trace->cursors || !trace->picks)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  kymo_merge_begin(&trace->merge, nodes, count);
  for (size_t i = 0; i < count; i++) {
    struct stream_state *stream = trace->streams[i];
    int status = kymo_stream_advance(stream, error);
    if (status < 0)
      return status;
    set_cursor(trace, stream);
  }
  trace->is_merging = true;
  return build(trace, error);
}

static struct stream_state *first_stream(const struct kymo_trace *trace) {
  return trace->streams[kymo_merge_rank(&trace->merge, trace->merge.nodes[0])];
}

/* Makes the stream that stands first one with entries. KYMO_OK, KYMO_END, KYMO_AGAIN or negative. */
static int settle(struct kymo_trace *trace, struct kymo_error *error) {
  int status = KYMO_OK;
  /* Keys that are far away may hide an order: then, look from nearer by. */
  if (trace->must_build || kymo_merge_is_far(&trace->merge, trace->merge.nodes[0]))
    status = build(trace, error);
  trace->must_build = false;
  while (status >= 0) {
    struct stream_state *stream = first_stream(trace);
    if (has_entries(trace, stream->rank))
      return KYMO_OK;
    if (stream->phase == STREAM_DONE)
      return KYMO_END;
    status = stream->phase == STREAM_LOSS ? kymo_stream_pass_losses(stream, error) : kymo_stream_advance(stream, error);
    if (status >= 0 && stream->phase == STREAM_WAITING)
      return KYMO_AGAIN;
    if (status >= 0)
      status = enter(trace, stream, error);
  }
  return status;
}

/* ---- picking ---- */

/* A single stream: its entries, as they are. */
static uint32_t pick_all(struct kymo_trace *trace) {
  struct merge_cursor *cursor = trace->cursors;
  uint32_t count = (uint32_t)(cursor->end - cursor->next);
  if (trace->picks[0] != cursor->next || trace->picks[count - 1] != cursor->end - 1)
    for (uint32_t i = 0; i < count; i++)
      trace->picks[i] = cursor->next + i;
  cursor->next = cursor->end;
  trace->empty = trace->streams[0];
  return count;
}

static inline uint32_t least(size_t a, size_t b, size_t c) {
  size_t two = a < b ? a : b;
  return (uint32_t)(two < c ? two : c);
}

/* Two streams with entries: which comes first cannot be foreseen, so no branch asks. As many games as the shorter one
 * has entries can be played without looking for its end. */
static uint32_t pick_two(struct kymo_trace *trace) {
  struct merge_cursor one = trace->cursors[0], other = trace->cursors[1];
  struct kymo_entry **pick = trace->picks, **full = pick + PICKS;
  for (uint32_t games; (games = least((size_t)(one.end - one.next), (size_t)(other.end - other.next),
                                      (size_t)(full - pick))) > 0;) {
    size_t lost = 0; /* by `one` */
    for (size_t game = 0; game < games; game++) {
      size_t won = game - lost;
      bool is_other = other.time_ns[lost] < one.time_ns[won];
      uintptr_t first = (uintptr_t)(one.next + won), second = (uintptr_t)(other.next + lost);
      pick[game] = (struct kymo_entry *)(first ^ ((first ^ second) & -(uintptr_t)is_other)); /* ?: would be a branch */
      lost += is_other;
    }
    pick += games;
    one.next += games - lost;
    one.time_ns += games - lost;
    other.next += lost;
    other.time_ns += lost;
  }
  trace->cursors[0] = one;
  trace->cursors[1] = other;
  bool one_is_empty = one.next == one.end, other_is_empty = other.next == other.end;
  uint32_t first = one_is_empty ? 0 : other_is_empty ? 1 : *other.time_ns < *one.time_ns;
  if (one_is_empty || other_is_empty)
    trace->empty = trace->streams[first];
  trace->merge.nodes[0] = first; /* not a key, but the rank is right, and the next game needs no more */
  trace->merge.nodes[1] = kymo_merge_key(&trace->merge, first ? *one.time_ns : *other.time_ns, !first);
  trace->must_build = kymo_merge_is_far(&trace->merge, trace->merge.nodes[1]);
  return (uint32_t)(pick - trace->picks);
}

/* Picks entries of one stream while they come before the key `limit`. Returns how many. */
static uint32_t pick_run(const struct kymo_trace *trace, struct kymo_entry **picks, uint32_t room, uint32_t rank,
                         uint64_t limit) {
  struct merge_cursor *cursor = &trace->cursors[rank];
  struct kymo_entry *entry = cursor->next, *end = cursor->end;
  const int64_t *time_ns = cursor->time_ns;
  uint32_t count = 0;
  for (; entry < end && count < room && kymo_merge_key(&trace->merge, *time_ns, rank) < limit; time_ns++)
    picks[count++] = entry++;
  cursor->next = entry;
  cursor->time_ns = time_ns;
  return count;
}

/* Picks one entry. When many streams alternate, much time passes till it is given out, and more till its
 * stream has its turn again: what is needed then is called for now. */
static inline struct kymo_entry *pick_one(struct merge_cursor *cursor, const struct stream_state *stream) {
  struct kymo_entry *entry = cursor->next++;
  cursor->time_ns++;
  __builtin_prefetch(entry);
  __builtin_prefetch((const char *)entry + KYMO_CACHE_LINE);
  if (cursor->end - cursor->next == 2) {
    __builtin_prefetch(&stream->next_bits);
    __builtin_prefetch(&stream->ns.anchor_cycles);
  } else if (cursor->end - cursor->next == 1) {
    __builtin_prefetch(stream->packet.data + stream->next_bits / 8);
  }
  return entry;
}

/* Picks as many entries as can be ordered now. The first stream has some. */
static uint32_t pick_many(struct kymo_trace *trace) {
  struct merge *merge = &trace->merge;
  struct kymo_entry **picks = trace->picks;
  uint64_t key = merge->nodes[0];
  uint32_t count = 0, last = UINT32_MAX;
  for (;;) {
    uint32_t rank = kymo_merge_rank(merge, key);
    struct merge_cursor *cursor = &trace->cursors[rank];
    if (KYMO_UNLIKELY(cursor->next == cursor->end))
      break; /* losses, or the end */
    if (rank == last) /* several in a row: then it pays to know how far it may go */
      count += pick_run(trace, picks + count, PICKS - count, rank, kymo_merge_runner_up(merge));
    else
      picks[count++] = pick_one(cursor, trace->streams[rank]);
    last = rank;
    if (KYMO_UNLIKELY(cursor->next == cursor->end)) {
      trace->empty = trace->streams[rank];
      break;
    }
    key = kymo_merge_key(merge, *cursor->time_ns, rank);
    bool is_far = kymo_merge_is_far(merge, key);
    key = kymo_merge_replay(merge, key);
    if (KYMO_UNLIKELY(is_far) || count == PICKS) {
      trace->must_build = is_far;
      break;
    }
  }
  return count;
}

/* ---- moving ---- */

static bool are_two(const struct kymo_trace *trace) {
  return trace->stream_count == 2 && has_entries(trace, 0) && has_entries(trace, 1);
}

__attribute__((noinline)) static int merge_on(struct kymo_trace *trace, struct kymo_error *error) {
  int status = KYMO_OK;
  trace->pick_next = trace->pick_count = 0;
  if (trace->stream_count == 0)
    return KYMO_END;
  if (!trace->is_merging) {
    status = begin_merging(trace, error);
  } else if (trace->empty) {
    status = kymo_stream_advance(trace->empty, error);
    if (status >= 0)
      status = enter(trace, trace->empty, error);
    trace->empty = NULL;
  }
  if (status >= 0)
    status = settle(trace, error);
  if (status == KYMO_OK)
    trace->pick_count = trace->stream_count == 1 ? pick_all(trace) : are_two(trace) ? pick_two(trace) : pick_many(trace);
  return status;
}

int kymo_get_next(struct kymo_trace *trace, const struct kymo_event **event, struct kymo_error *error) {
  if (KYMO_UNLIKELY(trace->pick_next == trace->pick_count)) {
    int status = merge_on(trace, error);
    if (status != KYMO_OK) {
      *event = NULL;
      return status;
    }
  }
  struct kymo_event *next = &trace->picks[trace->pick_next++]->event;
  next->number = ++trace->number;
  *event = next;
  return KYMO_OK;
}
