/* SPDX-License-Identifier: MIT */
#include "trace/follow.h"
#include "base/fail.h"
#include "trace/search.h"
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MS_NS INT64_C(1000000)
#define HOLD_NS (1000 * MS_NS)
/* The same for traces of kymo's recorder: a stored event is in its file a quarter of a second later. */
#define HOLD_OURS_NS (500 * MS_NS)
/* Changes that inotify does not report (network file systems, deep directories) are found by polling at this
 * interval. */
#define LOOK_NS (1000 * MS_NS)
#define MEMORY_LOOK_MS 50
/* The shortest pause while events wait for their time. */
#define PAUSE_LEAST_MS 5
/* A description is written at most this much later than the events that need it. */
#define DESCRIBE_NS (5000 * MS_NS)

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 * MS_NS + now.tv_nsec;
}

static const struct kymo_format *format_of(const struct kymo_trace *trace, const struct kymo_part *part) {
  for (size_t i = 0; trace->formats[i]; i++)
    if (strcmp(trace->formats[i]->name, part->format) == 0)
      return trace->formats[i];
  return NULL;
}

/* ---- begin and end ---- */

static bool has_only_memory(const struct kymo_trace *trace) {
  for (size_t i = 0; i < trace->part_count; i++)
    if (!format_of(trace, &trace->parts[i]->part)->is_memory)
      return false;
  return true;
}

static bool is_ours(const struct kymo_schema *schema) {
  for (uint32_t i = 0; i < schema->environment_count; i++) {
    const struct kymo_environment *entry = schema->environment[i];
    if (entry->text && strcmp(entry->name, "tracer_name") == 0)
      return strcmp(entry->text, "kymo") == 0;
  }
  return false;
}

/* How long silent streams delay the others by default. */
static int64_t usual_hold(const struct kymo_trace *trace) {
  bool are_ours = true;
  if (has_only_memory(trace))
    return 0;
  for (size_t i = 0; i < trace->part_count; i++)
    are_ours &= is_ours(trace->parts[i]->part.schema);
  return are_ours ? HOLD_OURS_NS : HOLD_NS;
}

static bool has_memory(const struct kymo_trace *trace) {
  for (size_t i = 0; i < trace->part_count; i++)
    if (format_of(trace, &trace->parts[i]->part)->is_memory)
      return true;
  return false;
}

int kymo_follow_begin(struct kymo_trace *trace, const char *const *paths, size_t count,
                      const int64_t *path_offsets_ns, struct kymo_error *error) {
  struct kymo_follow *follow = trace->follow = calloc(1, sizeof *follow);
  if (!follow)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  follow->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  follow->bound_ns = INT64_MIN;
  follow->must_look = true;
  follow->paths = calloc(count, sizeof *follow->paths);
  follow->path_offsets_ns = path_offsets_ns ? calloc(count, sizeof *path_offsets_ns) : NULL;
  if (!follow->paths || (path_offsets_ns && !follow->path_offsets_ns))
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  for (; follow->path_count < count; follow->path_count++) {
    follow->paths[follow->path_count] = strdup(paths[follow->path_count]);
    if (!follow->paths[follow->path_count])
      return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
    if (path_offsets_ns)
      follow->path_offsets_ns[follow->path_count] = path_offsets_ns[follow->path_count];
  }
  return KYMO_OK;
}

void kymo_follow_end(struct kymo_trace *trace) {
  struct kymo_follow *follow = trace->follow;
  if (!follow)
    return;
  if (follow->inotify >= 0)
    close(follow->inotify);
  for (size_t i = 0; i < follow->path_count; i++)
    free(follow->paths[i]);
  free(follow->paths);
  free(follow->path_offsets_ns);
  free(follow);
  trace->follow = NULL;
}

bool kymo_trace_is_growing(const struct kymo_trace *trace) { return trace->follow != NULL; }

bool kymo_trace_is_followed(const struct kymo_trace *trace) {
  return trace->follow && !trace->follow->is_stopping;
}

void kymo_trace_stop_following(struct kymo_trace *trace) {
  if (trace->follow)
    trace->follow->is_stopping = true;
}

void kymo_trace_set_growth_handler(struct kymo_trace *trace, kymo_growth_handler *handler, void *user) {
  if (!trace->follow)
    return;
  trace->follow->handler = handler;
  trace->follow->user = user;
}

/* ---- looking for what has grown ---- */

static void watch(const struct kymo_follow *follow, const char *path) {
  if (follow->inotify >= 0)
    inotify_add_watch(follow->inotify, path, IN_MODIFY | IN_CREATE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE);
}

static int grow_all(struct kymo_trace *trace, const struct found *found, struct kymo_error *error) {
  int status = KYMO_OK;
  for (size_t i = 0; trace->formats[i] && status == KYMO_OK; i++) {
    for (size_t k = 0; k < found[i].count; k++)
      watch(trace->follow, found[i].paths[k]);
    if (trace->formats[i]->grow)
      status = trace->formats[i]->grow(trace, (const char *const *)found[i].paths, found[i].count, error);
  }
  return status;
}

static size_t count_streams(const struct kymo_trace *trace) {
  size_t count = 0;
  for (size_t i = 0; i < trace->part_count; i++)
    count += trace->parts[i]->part.stream_count;
  return count;
}

/* A path that is not found now (it is being moved) may be found later. */
static int look(struct kymo_trace *trace, struct kymo_error *error) {
  struct kymo_follow *follow = trace->follow;
  size_t parts = trace->part_count;
  struct found *found;
  for (size_t i = 0; i < follow->path_count; i++)
    watch(follow, follow->paths[i]);
  kymo_search(&found, trace->formats, (const char *const *)follow->paths, follow->path_count,
              trace->options.format, NULL);
  if (!found)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  trace->found = found;
  trace->options.path_offsets_ns = follow->path_offsets_ns;
  int status = grow_all(trace, found, error);
  trace->found = NULL;
  trace->options.path_offsets_ns = NULL;
  kymo_found_free(found, trace->formats);
  bool has_new = count_streams(trace) != trace->stream_count;
  follow->has_grown |= has_new || parts != trace->part_count;
  return status == KYMO_OK && has_new ? kymo_trace_take_in(trace, error) : status;
}

/* Growth of known files is no reason to read directories. */
static bool is_reason(const struct inotify_event *event) {
  bool is_data = event->mask == IN_MODIFY && event->len > 0 && strcmp(event->name, "metadata") != 0;
  return !is_data;
}

static void read_changes(struct kymo_follow *follow) {
  _Alignas(struct inotify_event) char bytes[4096];
  ssize_t size;
  while (follow->inotify >= 0 && (size = read(follow->inotify, bytes, sizeof bytes)) > 0)
    for (char *at = bytes; at < bytes + size;) {
      const struct inotify_event *event = (const struct inotify_event *)(void *)at;
      follow->must_look |= is_reason(event);
      at += sizeof *event + event->len;
    }
}

/* ---- the bound ---- */

/* The end time of the stream's current packet. */
static int64_t time_of_packet(struct stream_state *stream) {
  const struct kymo_packet *packet = &stream->decoder.packet;
  bool is_in = stream->in_packet && !stream->is_through && packet->has_end &&
               packet->end_cycles > stream->decoder.clock;
  return kymo_ns_of(&stream->decoder.ns, is_in ? packet->end_cycles : stream->decoder.clock);
}

bool kymo_follow_move_bound(struct kymo_trace *trace) {
  struct kymo_follow *follow = trace->follow;
  int64_t before_ns = follow->bound_ns;
  for (size_t i = 0; i < trace->stream_count; i++) {
    struct stream_state *stream = trace->streams[i];
    if (!stream->decoder.ns.clock || stream->decoder.packet_count == 0 ||
        stream->entered_ns > follow->round_ns - follow->hold_ns)
      continue;
    int64_t time_ns = time_of_packet(stream);
    follow->bound_ns = time_ns > follow->bound_ns ? time_ns : follow->bound_ns;
  }
  return follow->bound_ns > before_ns;
}

static void add_size(struct follow_sizes *sizes, int64_t at_ns, uint64_t bytes) {
  const uint32_t most = sizeof sizes->list / sizeof *sizes->list;
  if (sizes->count && bytes <= sizes->list[sizes->count - 1].bytes)
    return;
  if (sizes->count == most)
    memmove(sizes->list, sizes->list + 1, --sizes->count * sizeof *sizes->list);
  sizes->list[sizes->count].at_ns = at_ns;
  sizes->list[sizes->count++].bytes = bytes;
}

/* Stores the sizes of the files, so that a packet after others is known to have existed before it is
 * reached. */
static void look_at_sizes(struct kymo_trace *trace) {
  struct stat st;
  for (size_t i = 0; i < trace->stream_count && trace->follow->hold_ns > 0; i++) {
    struct stream_state *stream = trace->streams[i];
    if (stream->decoder.packet_count && stream->decoder.path && !stat(stream->decoder.path, &st))
      add_size(&stream->sizes, trace->follow->round_ns, (uint64_t)st.st_size);
  }
}

void kymo_follow_enter_packet(struct stream_state *stream) {
  struct follow_sizes *sizes = &stream->sizes;
  uint64_t end = stream->decoder.packet.offset + stream->packet_bytes;
  uint32_t i = 0;
  if (sizes->file != stream->file)
    sizes->count = 0;
  sizes->file = stream->file;
  while (i < sizes->count && sizes->list[i].bytes < end)
    i++;
  stream->entered_ns = i < sizes->count ? sizes->list[i].at_ns : now_ns();
  add_size(sizes, stream->entered_ns, end);
}

/* ---- rounds ---- */

int kymo_follow_round(struct kymo_trace *trace, struct kymo_error *error) {
  struct kymo_follow *follow = trace->follow;
  int64_t at_ns = now_ns();
  int status = KYMO_OK;
  read_changes(follow);
  follow->hold_ns = trace->options.hold_ns >= 0 ? trace->options.hold_ns : usual_hold(trace);
  follow->round_ns = at_ns;
  look_at_sizes(trace);
  kymo_follow_move_bound(trace);
  if (follow->must_look || follow->is_stopping || at_ns - follow->looked_ns >= LOOK_NS || has_memory(trace)) {
    follow->must_look = false;
    follow->looked_ns = at_ns;
    status = look(trace, error);
  }
  if (follow->has_grown && status == KYMO_OK && follow->handler)
    follow->handler(follow->user);
  follow->has_grown = false;
  return status;
}

bool kymo_follow_may_describe(const struct kymo_trace *trace, int64_t *since_ns) {
  if (!kymo_trace_is_followed(trace))
    return false;
  if (*since_ns == 0)
    *since_ns = now_ns();
  trace->follow->must_look = true;
  return now_ns() - *since_ns < DESCRIBE_NS;
}

/* Whether an event that was read waits for its time. */
static bool has_held(const struct kymo_trace *trace) {
  for (size_t i = 0; i < trace->stream_count; i++)
    if (trace->streams[i]->phase == STREAM_EVENT || trace->streams[i]->phase == STREAM_NOTICE)
      return true;
  return false;
}

void kymo_trace_wait(struct kymo_trace *trace, int timeout_ms) {
  struct kymo_follow *follow = trace->follow;
  if (!follow || follow->is_stopping)
    return;
  int64_t most = LOOK_NS / MS_NS;
  if (has_memory(trace))
    most = MEMORY_LOOK_MS;
  else if (has_held(trace))
    most = follow->hold_ns / MS_NS / 8 + PAUSE_LEAST_MS;
  if (timeout_ms >= 0 && timeout_ms < most)
    most = timeout_ms;
  struct pollfd changes = {.fd = follow->inotify, .events = POLLIN};
  poll(&changes, follow->inotify >= 0, (int)most);
}

/* ---- parts that are described anew ---- */

void *kymo_part_memory(const struct kymo_part *part) { return ((const struct part_state *)part)->memory; }

void *kymo_stream_source(const struct kymo_stream *stream) {
  return ((const struct stream_state *)stream)->source;
}

static bool begins_with(const struct kymo_schema *schema, const struct kymo_schema *old) {
  bool begins = schema->stream_count >= old->stream_count;
  for (uint32_t i = 0; begins && i < old->stream_count; i++) {
    const struct kymo_stream_class *one = schema->streams[i], *other = old->streams[i];
    begins = one->id == other->id && one->event_count >= other->event_count;
    for (uint32_t k = 0; begins && k < other->event_count; k++)
      begins = one->events[k]->id == other->events[k]->id;
  }
  return begins;
}

int kymo_part_renew(struct kymo_trace *trace, struct kymo_part *part, struct kymo_schema *schema,
                    struct kymo_error *error) {
  struct part_state *state = (struct part_state *)part;
  struct retired_schema *retired = kymo_arena_alloc(&trace->arena, sizeof *retired);
  if (!retired || !begins_with(schema, state->schema)) {
    kymo_schema_release(schema);
    return retired ? kymo_fail_at(error, KYMO_E_FORMAT, part->path, KYMO_ERROR_NO_OFFSET,
                                  "the description has changed, not grown")
                   : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  }
  *retired = (struct retired_schema){state->retired, state->schema};
  state->retired = retired;
  state->schema = schema;
  part->schema = schema;
  kymo_trace_number_kinds(trace);
  trace->follow->has_grown = true;
  int status = kymo_schema_plan_new(&state->plan, &trace->arena, schema, error);
  for (uint32_t i = 0; status == KYMO_OK && i < part->stream_count; i++)
    status = kymo_stream_renew(state->streams[i], error);
  return status;
}
