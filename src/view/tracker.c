/* SPDX-License-Identifier: MIT */
#include "view/tracker.h"
#include "base/fail.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MANY UINT32_MAX /* in track_of: the stream's events are on several tracks */

/* ---- life ---- */

static bool has_track_field(const struct view_tracker *tracker) {
  for (uint32_t i = 0; i < kymo_trace_class_count(tracker->trace); i++)
    if (kymo_field_id(tracker->trace, kymo_trace_class(tracker->trace, i), "track") != KYMO_FIELD_NONE)
      return true;
  return false;
}

/* What goes by the numbers of streams and classes. */
static int prepare(struct view_tracker *tracker, const char *field, struct kymo_error *error) {
  const char *by = tracker->by == VIEW_BY_FIELD ? field : tracker->by == VIEW_BY_EVENT ? "event" : "track";
  int status = kymo_whos_begin(&tracker->whos, tracker->trace, error);
  if (status == KYMO_OK)
    status = kymo_grouping_begin(&tracker->track, by, tracker->trace, &tracker->whos, error);
  if (status == KYMO_OK)
    status = kymo_grouping_begin(&tracker->event, "event", tracker->trace, &tracker->whos, error);
  if (status != KYMO_OK)
    return status;
  const struct kymo_numbers *numbers = &tracker->whos.numbers;
  tracker->kind_of = calloc(numbers->class_count + 1u, sizeof *tracker->kind_of);
  tracker->recent = calloc(numbers->stream_count + 1u, sizeof *tracker->recent);
  tracker->track_of = calloc(numbers->stream_count + 1u, sizeof *tracker->track_of);
  if (!tracker->kind_of || !tracker->recent || !tracker->track_of)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  tracker->has_field = tracker->by == VIEW_BY_THREAD && has_track_field(tracker);
  return KYMO_OK;
}

static void release(struct view_tracker *tracker) {
  kymo_grouping_end(&tracker->track);
  kymo_grouping_end(&tracker->event);
  kymo_whos_end(&tracker->whos);
  free(tracker->kind_of);
  free(tracker->recent);
  free(tracker->track_of);
  tracker->kind_of = NULL;
  tracker->recent = NULL;
  tracker->track_of = NULL;
}

static bool add_parts(struct view_tracker *tracker) {
  size_t count = kymo_trace_part_count(tracker->trace);
  struct kymo_groups *more = realloc(tracker->tracks, (count + 1) * sizeof *more);
  if (more)
    tracker->tracks = more;
  struct kymo_stat_group **rest = realloc(tracker->rest, (count + 1) * sizeof(struct kymo_stat_group *));
  if (rest)
    tracker->rest = rest;
  for (; more && rest && tracker->part_count < count; tracker->part_count++) {
    more[tracker->part_count] = (struct kymo_groups){0};
    rest[tracker->part_count] = NULL;
  }
  return more && rest;
}

int view_tracker_begin(struct view_tracker *tracker, struct kymo_trace *trace, enum view_track_by by,
                       const char *field, struct kymo_error *error) {
  *tracker = (struct view_tracker){.trace = trace, .by = by};
  return add_parts(tracker) ? prepare(tracker, field, error)
                            : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
}

int view_tracker_renew(struct view_tracker *tracker, struct kymo_error *error) {
  const char *field = tracker->track.by;
  release(tracker);
  return add_parts(tracker) ? prepare(tracker, field, error)
                            : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
}

void view_tracker_end(struct view_tracker *tracker) {
  if (!tracker->trace)
    return;
  release(tracker);
  for (size_t i = 0; i < tracker->part_count; i++)
    kymo_groups_free(&tracker->tracks[i]);
  free(tracker->tracks);
  free(tracker->rest);
  kymo_groups_free(&tracker->kinds);
  *tracker = (struct view_tracker){0};
}

/* ---- tracks ---- */

/* The number of a group, given now if it has none. */
static uint32_t number_of(struct kymo_stat_group *group, uint32_t *count, uint32_t most,
                          const char **is_new) {
  if (!group->calls) {
    if (*count < most)
      *is_new = group->name;
    group->calls = *count < most ? ++*count : most;
  }
  return (uint32_t)group->calls - 1;
}

struct key {
  uint64_t number;
  bool is_text;
};

static struct kymo_stat_group *new_group(struct kymo_groups *groups, struct key key, const char *name) {
  struct kymo_stat_group *group = kymo_arena_alloc(&groups->arena, sizeof *group);
  const char *copy = kymo_arena_copy(&groups->arena, name, strlen(name));
  if (!group || !copy)
    return NULL;
  *group = (struct kymo_stat_group){.key = key.number, .is_text = key.is_text, .name = copy};
  return kymo_groups_put(groups, group) ? group : NULL;
}

/* The group of a processor or stream, made if there is none. These are few, and asked for only when they
 * change. */
static struct kymo_stat_group *numbered(struct kymo_groups *groups, uint64_t number, const char *name) {
  for (size_t i = 0; i < groups->count; i++)
    if (groups->list[i]->key == number && !groups->list[i]->is_text)
      return groups->list[i];
  return new_group(groups, (struct key){number, false}, name);
}

static struct kymo_stat_group *of_stream(struct kymo_groups *groups, const struct kymo_stream *stream) {
  const char *path = stream->path ? stream->path : "", *last = strrchr(path, '/');
  char name[128];
  snprintf(name, sizeof name, "stream %" PRIu32 " %s", stream->index, last ? last + 1 : path);
  return numbered(groups, stream->index, name);
}

static struct kymo_stat_group *of_cpu(struct kymo_groups *groups, uint64_t cpu) {
  char name[32];
  snprintf(name, sizeof name, "cpu %" PRIu64, cpu);
  return numbered(groups, cpu, name);
}

/* By what the tracker goes: the group, or NULL when memory has run out. */
static struct kymo_stat_group *find_group(struct view_tracker *tracker, const struct kymo_event *event) {
  struct kymo_groups *groups = &tracker->tracks[event->packet->stream->part->index];
  struct kymo_stat_group *group = NULL;
  const struct kymo_who *who = tracker->by == VIEW_BY_CPU ? kymo_who_of(&tracker->whos, event) : NULL;
  if (tracker->by == VIEW_BY_STREAM)
    return of_stream(groups, event->packet->stream);
  if (tracker->by == VIEW_BY_CPU && who && who->has_cpu)
    return of_cpu(groups, who->cpu);
  int status =
      tracker->by == VIEW_BY_CPU ? KYMO_E_ABSENT : kymo_grouping_find(&tracker->track, groups, event, &group);
  if (status != KYMO_E_ABSENT)
    return status == KYMO_OK ? group : NULL;
  struct kymo_stat_group **rest = &tracker->rest[event->packet->stream->part->index];
  if (!*rest)
    *rest = new_group(groups, (struct key){UINT64_MAX, true}, "(none)");
  return *rest;
}

/* Whether the track of an event is that of the one before it in its stream, which is mostly so. */
static bool is_as_recent(const struct view_tracker *tracker, const struct view_recent *recent,
                         uint64_t version) {
  return tracker->by == VIEW_BY_STREAM ? recent->version : recent->version && recent->version == version;
}

static uint64_t version_of(struct view_tracker *tracker, const struct kymo_event *event) {
  if (tracker->by == VIEW_BY_STREAM)
    return 1;
  if (tracker->by == VIEW_BY_CPU || (tracker->by == VIEW_BY_THREAD && !tracker->has_field)) {
    const struct kymo_who *who = kymo_who_of(&tracker->whos, event);
    return who ? who->version : 0;
  }
  return 0;
}

static void note_stream(struct view_tracker *tracker, uint32_t stream, uint32_t track) {
  uint32_t *of = &tracker->track_of[stream];
  *of = *of == 0 || *of == track + 1 ? track + 1 : MANY;
}

int view_tracker_find(struct view_tracker *tracker, const struct kymo_event *event,
                      struct view_place *place) {
  const struct kymo_numbers *numbers = &tracker->whos.numbers;
  const struct kymo_stream *stream = event->packet->stream;
  uint32_t stream_number = stream->number,
           *kind = &tracker->kind_of[kymo_class_number(numbers, stream->part->index, event->class_)];
  struct view_recent *recent = &tracker->recent[stream_number];
  place->new_track = place->new_kind = NULL;
  if (!*kind) {
    struct kymo_stat_group *group;
    if (kymo_grouping_find(&tracker->event, &tracker->kinds, event, &group) != KYMO_OK)
      return KYMO_E_MEMORY;
    *kind = number_of(group, &tracker->kind_count, VIEW_KINDS_MAX, &place->new_kind) + 1;
  }
  place->kind = *kind - 1;
  uint64_t version = version_of(tracker, event);
  if (is_as_recent(tracker, recent, version)) {
    place->track = recent->track;
    return KYMO_OK;
  }
  struct kymo_stat_group *group = find_group(tracker, event);
  if (!group)
    return KYMO_E_MEMORY;
  place->track = number_of(group, &tracker->track_count, VIEW_TRACKS_MAX, &place->new_track);
  *recent = (struct view_recent){version, place->track};
  note_stream(tracker, stream_number, place->track);
  return KYMO_OK;
}

uint32_t view_tracker_of_stream(const struct view_tracker *tracker, const struct kymo_stream *stream) {
  uint32_t track = tracker->track_of[stream->number];
  return track == 0 || track == MANY ? UINT32_MAX : track - 1;
}

bool view_tracker_names_stream(const struct view_tracker *tracker, const struct kymo_event *event,
                               const char *name) {
  char made[32];
  snprintf(made, sizeof made, "stream %" PRIu32, event->packet->stream->number);
  return tracker->by == VIEW_BY_STREAM || (tracker->by == VIEW_BY_THREAD && strcmp(name, made) == 0);
}
