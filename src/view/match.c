/* SPDX-License-Identifier: MIT */
/*
 * Events of a trace that is read again, in the index. Of a live trace their numbers may be others: the index
 * numbers them as they came, and late ones came after those that they are read before. An event is known by
 * its track, its time, its kind and its stream; equal ones of a stream are in one order. Streams are known by
 * part and instance; where several have the same, any of them may be meant. Kinds are known by their names;
 * so are tracks, but for those that are called by the number of a stream, which is another one when a stream
 * has come in between: these are known by the path of the stream.
 */
#include "view/state.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/list.h"
#include <stdlib.h>
#include <string.h>

int view_match_begin(struct view_match *match, struct view *view, struct kymo_trace *trace,
                     struct kymo_error *error) {
  *match = (struct view_match){.view = view};
  return view_tracker_begin(&match->tracker, trace, view->options.by, view->field, error);
}

static void free_aliases(struct view_aliases *aliases) {
  kymo_hash_table_free(&aliases->names);
  free(aliases->list);
}

void view_match_end(struct view_match *match) {
  view_tracker_end(&match->tracker);
  view_marks_end(&match->seen);
  free_aliases(&match->tracks);
  free_aliases(&match->kinds);
  free(match->turns);
  free(match->origins);
  *match = (struct view_match){0};
}

/* ---- tracks and kinds ---- */

static uint32_t hash_of(const struct view_alias *alias) {
  struct kymo_keyed hash;
  kymo_keyed_begin(&hash);
  kymo_keyed_add_text(&hash, alias->part);
  kymo_keyed_add_text(&hash, alias->name);
  return (uint32_t)kymo_keyed_end(&hash);
}

static struct view_alias alias_of_track(const struct view *view, uint32_t number) {
  const struct view_track *track = &view->tracks[number];
  return (struct view_alias){.part = view->parts[track->part],
                             .name = track->stream ? track->stream : track->name,
                             .is_stream = track->stream};
}

static struct view_alias alias_of_kind(const struct view *view, uint32_t number) {
  return (struct view_alias){.part = "", .name = view->kinds[number].name};
}

typedef struct view_alias namer(const struct view *view, uint32_t number);

/* The view's number of what has a name, of `count`; UINT32_MAX: none, KYMO_E_MEMORY. */
static int find_alias(struct view_aliases *aliases, const struct view *view, namer *name_of, uint32_t count,
                      struct view_alias *alias) {
  for (; aliases->known < count; aliases->known++) {
    const struct view_alias known = name_of(view, aliases->known);
    if (!kymo_hash_table_add(&aliases->names, NULL, hash_of(&known), aliases->known + (uintptr_t)1))
      return KYMO_E_MEMORY;
  }
  uint32_t hash = hash_of(alias), at = hash;
  for (uintptr_t item; (item = kymo_hash_table_next(&aliases->names, hash, &at)) != 0;) {
    const struct view_alias known = name_of(view, (uint32_t)(item - 1));
    if (known.is_stream == alias->is_stream && strcmp(known.name, alias->name) == 0 &&
        strcmp(known.part, alias->part) == 0)
      return alias->number = (uint32_t)(item - 1), KYMO_OK;
  }
  return KYMO_E_ABSENT;
}

/* The view's number of a number of the tracker; `is_new`: what that is called. KYMO_OK, KYMO_E_ABSENT,
 * KYMO_E_MEMORY. */
static int number_of(struct view_aliases *aliases, const struct view *view, namer *name_of, uint32_t count,
                     uint32_t number, const struct view_alias *is_new, uint32_t *out) {
  if (is_new) {
    if (!KYMO_LIST_ROOM(aliases->list, aliases->capacity, aliases->count))
      return KYMO_E_MEMORY;
    aliases->list[aliases->count++] = *is_new;
  }
  struct view_alias *alias = number < aliases->count ? &aliases->list[number] : NULL;
  int status = alias ? KYMO_OK : KYMO_E_MEMORY;
  if (alias && alias->number == UINT32_MAX)
    status = alias->tried == count ? KYMO_E_ABSENT : find_alias(aliases, view, name_of, count, alias);
  if (alias)
    alias->tried = count;
  *out = status == KYMO_OK ? alias->number : UINT32_MAX;
  return status;
}

/* The path of a part in the index. A trace that has been moved since, as kymo record does with that of one
 * process when it ends, has others: there it is the one with the same number. */
static const char *path_of(const struct view *view, const struct kymo_part *part) {
  for (uint32_t i = 0; i < view->part_count; i++)
    if (strcmp(view->parts[i], part->path) == 0)
      return part->path;
  return part->index < view->part_count ? view->parts[part->index] : part->path;
}

/* The only stream of the index with this part and instance; 0: there is none, or there are several. */
static uint32_t find_origin(const struct view *view, const struct kymo_stream *stream) {
  const char *path = path_of(view, stream->part);
  uint32_t found = 0, count = 0;
  for (uint32_t i = 0; i < view->stream_count; i++) {
    const struct view_stream *known = &view->streams[i];
    if (known->first_ns != INT64_MAX && known->instance == stream->instance &&
        known->part < view->part_count && strcmp(view->parts[known->part], path) == 0) {
      found = i + 1;
      count++;
    }
  }
  return count == 1 ? found : 0;
}

uint32_t view_match_origin(struct view_match *match, const struct kymo_stream *stream) {
  const struct view *view = match->view;
  while (stream->number >= match->origin_count) {
    if (!KYMO_LIST_ROOM(match->origins, match->origin_capacity, match->origin_count))
      return 0;
    match->origins[match->origin_count++] = (struct view_origin){0};
  }
  struct view_origin *origin = &match->origins[stream->number];
  if (origin->tried != view->stream_count + 1) {
    origin->number = find_origin(view, stream);
    origin->tried = view->stream_count + 1;
  }
  return origin->number;
}

int view_match_event(struct view_match *match, const struct kymo_event *event, uint32_t *track,
                     uint32_t *kind) {
  const struct view *view = match->view;
  const struct kymo_stream *stream = event->packet->stream;
  struct view_place place;
  if (view_tracker_find(&match->tracker, event, &place) != KYMO_OK)
    return KYMO_E_MEMORY;
  struct view_alias new_track = {place.new_track ? path_of(view, stream->part) : NULL, place.new_track, false,
                                 UINT32_MAX, 0},
                    new_kind = {"", place.new_kind, false, UINT32_MAX, 0};
  if (place.new_track && view_names_stream(view, &match->tracker, event, place.new_track)) {
    new_track.name = stream->path;
    new_track.is_stream = true;
  }
  int of_track = number_of(&match->tracks, view, alias_of_track, view->track_count, place.track,
                           place.new_track ? &new_track : NULL, track),
      of_kind = number_of(&match->kinds, view, alias_of_kind, view->kind_count, place.kind,
                          place.new_kind ? &new_kind : NULL, kind);
  return of_track == KYMO_E_MEMORY || of_kind == KYMO_E_MEMORY ? KYMO_E_MEMORY
         : of_track != KYMO_OK                                 ? of_track
                                                               : of_kind;
}

/* ---- numbers ---- */

static struct view_turn *turn_of(struct view_match *match, uint32_t track) {
  if (track >= match->turn_count) {
    uint32_t count = match->view->track_count;
    struct view_turn *more = realloc(match->turns, count * sizeof *more);
    if (!more)
      return NULL;
    memset(more + match->turn_count, 0, (count - match->turn_count) * sizeof *more);
    match->turns = more;
    match->turn_count = count;
  }
  return &match->turns[track];
}

static bool is_free(struct view_match *match, const struct kymo_event *event, const struct view_entry *entry,
                    uint32_t kind) {
  return entry->code == kind && !view_marks_have(&match->seen, entry->value) &&
         view_is_origin(view_origin_of(match->view, entry->value),
                        view_match_origin(match, event->packet->stream));
}

/* Of a pass that leaves events out: the one that has the same number, if it is the same. */
static bool has_same_number(struct view_match *match, const struct kymo_event *event,
                            const struct view_series *series, uint32_t kind) {
  const struct view_store *store = &match->view->store;
  uint64_t at = view_series_find_equal(series, store, event->time_ns, event->number);
  if (at >= series->count)
    return false;
  struct view_entry entry = view_series_get(series, store, at);
  return entry.time_ns == event->time_ns && entry.value == event->number &&
         is_free(match, event, &entry, kind);
}

/* From the first one of the time that was not found yet. */
static int find_free(struct view_match *match, const struct kymo_event *event, uint32_t track, uint32_t kind,
                     struct view_turn *turn, uint64_t *number) {
  const struct view *view = match->view;
  const struct view_series *series = &view->tracks[track].events;
  if (!turn->is_set || turn->time_ns != event->time_ns ||
      turn->revision != view->tracks[track].events.revision)
    *turn = (struct view_turn){event->time_ns, view_series_find(series, &view->store, event->time_ns, 0),
                               view->tracks[track].events.revision, true};
  for (uint64_t at = turn->at; at < series->count; at++) {
    struct view_entry entry = view_series_get(series, &view->store, at);
    if (entry.time_ns != event->time_ns)
      return KYMO_E_ABSENT;
    *number = entry.value;
    if (is_free(match, event, &entry, kind))
      return KYMO_OK;
    turn->at += at == turn->at && view_marks_have(&match->seen, entry.value);
  }
  return KYMO_E_ABSENT;
}

int view_match_number(struct view_match *match, const struct kymo_event *event, uint64_t *number) {
  uint32_t track, kind;
  int status = view_match_event(match, event, &track, &kind);
  return status == KYMO_OK ? view_match_number_on(match, event, track, kind, number) : status;
}

int view_match_number_on(struct view_match *match, const struct kymo_event *event, uint32_t track,
                         uint32_t kind, uint64_t *number) {
  const struct view *view = match->view;
  struct view_turn *turn = event->has_time ? turn_of(match, track) : NULL;
  if (!turn)
    return event->has_time ? KYMO_E_MEMORY : KYMO_E_ABSENT;
  if (!match->seen.store.base && view_marks_begin(&match->seen, view->last_number, NULL) != KYMO_OK)
    return KYMO_E_MEMORY;
  int status = KYMO_OK;
  *number = event->number;
  if (!match->is_part || !has_same_number(match, event, &view->tracks[track].events, kind))
    status = find_free(match, event, track, kind, turn, number);
  return status == KYMO_OK && !view_marks_put(&match->seen, *number) ? KYMO_E_MEMORY : status;
}
