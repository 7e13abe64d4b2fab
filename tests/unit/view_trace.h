/* SPDX-License-Identifier: MIT */
/* For the tests of the viewer: a CTF trace of a few threads in a folder, with spans, values and losses, and
 * its view. */
#ifndef TEST_VIEW_TRACE_H
#define TEST_VIEW_TRACE_H

#include "folder.h"
#include "view/view.h"

static const char view_metadata[] =
    "/* CTF 1.8 */\n"
    "typealias integer { size = 16; align = 8; signed = false; } := uint16_t;\n"
    "typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
    "typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
    "trace { major = 1; minor = 8; byte_order = le; uuid = \"00112233-4455-6677-8899-aabbccddeeff\";\n"
    "  packet.header := struct { uint32_t magic; uint32_t stream_id; uint64_t stream_instance_id; }; };\n"
    "clock { name = c; freq = 1000000000; offset = 1000000000; };\n"
    "typealias integer { size = 64; align = 8; signed = false; map = clock.c.value; } := clock64;\n"
    "stream { id = 0;\n"
    "  packet.context := struct { clock64 timestamp_begin; clock64 timestamp_end; uint32_t content_size;\n"
    "    uint32_t packet_size; uint32_t packet_seq_num;\n"
    "    uint32_t events_discarded; uint32_t tid; uint32_t cpu_id; };\n"
    "  event.header := struct { uint16_t id; clock64 timestamp; }; };\n"
    "event { name = \"t:plain\"; id = 0; stream_id = 0; fields := struct { uint32_t value; }; };\n"
    "event { name = \"t:work_entry\"; id = 1; stream_id = 0; fields := struct { uint32_t value; }; };\n"
    "event { name = \"t:work_exit\"; id = 2; stream_id = 0; fields := struct { uint32_t value; }; };\n"
    "event { name = \"t:io_begin\"; id = 3; stream_id = 0; fields := struct { uint32_t value; }; };\n"
    "event { name = \"t:io_end\"; id = 4; stream_id = 0; fields := struct { uint32_t value; }; };\n"
    "event { name = \"t:rare\"; id = 5; stream_id = 0; fields := struct { uint32_t value; }; };\n";

enum { VIEW_TEST_TRACKS = 5, VIEW_TEST_PACKET = 4096, VIEW_TEST_HEAD = 56 };

static uint64_t view_seed = 4711;

static inline uint64_t view_chance(uint64_t below) {
  view_seed ^= view_seed << 13, view_seed ^= view_seed >> 7, view_seed ^= view_seed << 17;
  return (view_seed >> 11) % below;
}

struct view_test_stream {
  uint8_t packet[VIEW_TEST_PACKET];
  uint32_t used, sequence, discarded, tid;
  uint64_t begin, end;
  FILE *file;
};

static inline void view_put(struct view_test_stream *stream, uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; i++)
    stream->packet[stream->used++] = (uint8_t)(value >> (8 * i));
}

static bool view_is_lossless;

static inline void view_flush(struct view_test_stream *stream) {
  uint32_t content = stream->used;
  if (content <= VIEW_TEST_HEAD)
    return;
  if (!view_is_lossless && view_chance(20) == 0)
    stream->discarded += 3;
  stream->used = 0;
  const uint64_t words[] = {0xc1fc1fc1, 0}, numbers[] = {stream->tid, stream->begin, stream->end};
  for (unsigned i = 0; i < 2; i++)
    view_put(stream, words[i], 4);
  for (unsigned i = 0; i < 3; i++)
    view_put(stream, numbers[i], 8);
  const uint32_t rest[] = {content * 8,       VIEW_TEST_PACKET * 8, stream->sequence++,
                           stream->discarded, 1000 + stream->tid,   stream->tid % 2};
  for (unsigned i = 0; i < 6; i++)
    view_put(stream, rest[i], 4);
  assert_int_equal(fwrite(stream->packet, 1, VIEW_TEST_PACKET, stream->file), VIEW_TEST_PACKET);
  memset(stream->packet, 0, VIEW_TEST_PACKET);
  stream->used = VIEW_TEST_HEAD;
}

static inline void view_emit(struct view_test_stream *stream, uint64_t time, unsigned id, uint32_t value) {
  if (stream->used + 14 > VIEW_TEST_PACKET)
    view_flush(stream);
  stream->begin = stream->used == VIEW_TEST_HEAD ? time : stream->begin;
  stream->end = time;
  view_put(stream, id, 2);
  view_put(stream, time, 8);
  view_put(stream, value, 4);
}

static inline void view_begin_metadata(const char *name) {
  char path[128];
  snprintf(path, sizeof path, "%s/metadata", name);
  write_file(path, view_metadata, sizeof view_metadata - 1);
}

/* The file below(name)/stream_NUMBER of a thread. */
static inline void view_begin_stream(struct view_test_stream *stream, const char *name, unsigned number) {
  char path[128];
  snprintf(path, sizeof path, "%s/stream_%u", name, number);
  *stream =
      (struct view_test_stream){.tid = number, .used = VIEW_TEST_HEAD, .file = fopen(below(path), "wb")};
  assert_non_null(stream->file);
}

static inline void view_end_stream(struct view_test_stream *stream) {
  view_flush(stream);
  assert_int_equal(fclose(stream->file), 0);
}

/* Writes below(name) with this number of events. Equal times are common. */
static inline void view_write_trace(const char *name, unsigned events) {
  static struct view_test_stream streams[VIEW_TEST_TRACKS];
  uint64_t time = 1;
  view_begin_metadata(name);
  for (unsigned i = 0; i < VIEW_TEST_TRACKS; i++)
    view_begin_stream(&streams[i], name, i);
  for (unsigned i = 0; i < events; i++) {
    unsigned id = view_chance(5000) == 0 ? 5 : view_chance(4) ? 0 : 1 + (unsigned)view_chance(4);
    time += view_chance(1000) == 0 ? view_chance(UINT64_C(1) << 36) : view_chance(3);
    unsigned stream =
        (unsigned)(view_chance(VIEW_TEST_TRACKS) * view_chance(VIEW_TEST_TRACKS) / (VIEW_TEST_TRACKS - 1));
    view_emit(&streams[stream], time, id, i % 1000);
  }
  for (unsigned i = 0; i < VIEW_TEST_TRACKS; i++)
    view_end_stream(&streams[i]);
}

/* ---- CPEL files, whose events are in any order, on tracks of their own ---- */

struct view_cpel_event {
  uint64_t time;
  uint32_t track, code, datum;
};

static inline void view_put_big(FILE *file, uint64_t value, unsigned bytes) {
  for (unsigned i = bytes; i-- > 0;)
    fputc((int)(value >> (8 * i) & 255), file);
}

static inline void view_put_zeros(FILE *file, const char *text, unsigned bytes) {
  for (unsigned i = 0; i < bytes; i++)
    fputc(i < strlen(text) ? text[i] : 0, file);
}

static inline uint8_t *view_store_big(uint8_t *at, uint64_t value, unsigned bytes) {
  for (unsigned i = bytes; i-- > 0; at++)
    *at = (uint8_t)(value >> (8 * i));
  return at;
}

/* Writes below(name): codes are called e0, e1, …, tracks t0, t1, …; a tick is a nanosecond. */
static inline void view_write_cpel(const char *name, const struct view_cpel_event *list, uint32_t count,
                                   uint32_t codes, uint32_t tracks) {
  FILE *file = fopen(below(name), "wb");
  assert_non_null(file);
  uint32_t strings = 8 + 8 * (codes + tracks), here = 5;
  view_put_big(file, UINT64_C(0x0100000400000000), 8);
  view_put_big(file, UINT64_C(1) << 32 | strings, 8);
  view_put_zeros(file, "T", 2);
  view_put_zeros(file, "%d", 3);
  for (uint32_t i = 0; i < codes + tracks; i++) {
    char text[16];
    snprintf(text, sizeof text, "%c%u", i < codes ? 'e' : 't', i < codes ? i : i - codes);
    view_put_zeros(file, text, 8);
  }
  view_put_zeros(file, "", 3);
  view_put_big(file, UINT64_C(3) << 32 | (68 + 12 * codes), 8);
  view_put_zeros(file, "T", 64);
  view_put_big(file, codes, 4);
  for (uint32_t i = 0; i < codes; i++, here += 8) {
    view_put_big(file, i, 4);
    view_put_big(file, here, 4);
    view_put_big(file, 2, 4);
  }
  view_put_big(file, UINT64_C(4) << 32 | (68 + 8 * tracks), 8);
  view_put_zeros(file, "T", 64);
  view_put_big(file, tracks, 4);
  for (uint32_t i = 0; i < tracks; i++, here += 8) {
    view_put_big(file, i, 4);
    view_put_big(file, here, 4);
  }
  view_put_big(file, UINT64_C(5) << 32 | (72 + 20 * (uint64_t)count), 8);
  view_put_zeros(file, "T", 64);
  view_put_big(file, count, 4);
  view_put_big(file, 1000000000, 4);
  for (uint32_t i = 0; i < count; i++) {
    uint8_t bytes[20], *at = view_store_big(bytes, list[i].time, 8);
    at = view_store_big(at, list[i].track, 4);
    at = view_store_big(at, list[i].code, 4);
    view_store_big(at, list[i].datum, 4);
    assert_int_equal(fwrite(bytes, sizeof bytes, 1, file), 1);
  }
  assert_int_equal(fclose(file), 0);
}

/* ---- views ---- */

static const char *view_path;
static bool view_is_live;
static kymo_class_filter *view_wants; /* of all traces that are opened; NULL: all classes */

static inline int view_open_trace(void *user, bool is_live, struct kymo_trace **out,
                                  struct kymo_error *error) {
  const struct kymo_trace_options options = {.follow = is_live};
  (void)user;
  int status = kymo_trace_open(out, &view_path, 1, &options, error);
  if (status == KYMO_OK && view_wants)
    kymo_trace_select_classes(*out, view_wants, NULL);
  return status;
}

static inline void view_expect_ok(int status, const struct kymo_error *error) {
  if (status < 0)
    print_error("%s\n", error->message);
  assert_true(status >= 0);
}

static inline struct view *view_start(const char *path, enum view_track_by by, const char *field,
                                      bool is_kept) {
  struct view *view;
  struct kymo_error error = {0};
  view_path = path;
  const struct view_options options = {.open = view_open_trace,
                                       .paths = &view_path,
                                       .path_count = 1,
                                       .by = by,
                                       .field = field,
                                       .is_live = view_is_live,
                                       .is_kept = is_kept};
  view_expect_ok(view_open(&view, &options, &error), &error);
  return view;
}

static inline void view_finish(struct view *view) {
  struct kymo_error error = {0};
  int status;
  while ((status = view_build_step(view, 777, &error)) == KYMO_OK)
    continue;
  view_expect_ok(status, &error);
}

/* ---- the same by reading all events ---- */

enum { VIEW_TEST_EVENTS = 60000 };

struct view_test_event {
  int64_t time_ns;
  uint32_t tid, cpu, value;
  char name[16];
};
static struct view_test_event *view_events;
static unsigned view_event_count;

static inline void view_read_all(void) {
  struct kymo_trace *trace;
  const struct kymo_event *event;
  assert_int_equal(view_open_trace(NULL, false, &trace, NULL), KYMO_OK);
  view_events = realloc(view_events, VIEW_TEST_EVENTS * sizeof *view_events);
  for (view_event_count = 0; kymo_trace_next(trace, &event, NULL) == KYMO_OK; view_event_count++) {
    struct view_test_event *one = &view_events[view_event_count];
    uint64_t tid, cpu, value;
    kymo_event_get_uint(event, kymo_field_id(trace, event->class_, "tid"), &tid);
    kymo_event_get_uint(event, kymo_field_id(trace, event->class_, "cpu_id"), &cpu);
    kymo_event_get_uint(event, kymo_field_id(trace, event->class_, "value"), &value);
    *one = (struct view_test_event){event->time_ns, (uint32_t)tid, (uint32_t)cpu, (uint32_t)value, ""};
    snprintf(one->name, sizeof one->name, "%s", event->class_->name);
    assert_int_equal(event->number, view_event_count + 1);
  }
  kymo_trace_close(trace);
}

/* The name of the track on which an event is. */
static inline const char *view_track_of(const struct view_test_event *event, enum view_track_by by) {
  static char name[32];
  if (by == VIEW_BY_EVENT)
    return event->name;
  snprintf(name, sizeof name,
           by == VIEW_BY_CPU      ? "cpu %u"
           : by == VIEW_BY_STREAM ? "stream %u stream_%u"
                                  : "%u",
           by == VIEW_BY_CPU      ? event->cpu
           : by == VIEW_BY_STREAM ? event->tid - 1000
           : by == VIEW_BY_FIELD  ? event->value
                                  : event->tid,
           event->tid - 1000);
  return name;
}

/* Whether two events have a track of one name. */
static inline bool view_share_track(const struct view_test_event *one, const struct view_test_event *other,
                                    enum view_track_by by) {
  if (by == VIEW_BY_EVENT)
    return strcmp(one->name, other->name) == 0;
  return by == VIEW_BY_CPU     ? one->cpu == other->cpu
         : by == VIEW_BY_FIELD ? one->value == other->value
                               : one->tid == other->tid;
}

/* The first event on the track of a name, or NULL. */
static inline const struct view_test_event *view_first_on(const char *name, enum view_track_by by) {
  for (unsigned i = 0; i < view_event_count; i++)
    if (strcmp(view_track_of(&view_events[i], by), name) == 0)
      return &view_events[i];
  return NULL;
}

#endif
