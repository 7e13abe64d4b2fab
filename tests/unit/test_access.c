/* SPDX-License-Identifier: MIT */
/*
 * The access library on files of real tools and in bulk: moving in formats of all sorts, thousands of
 * streams, batches, segments, places in files, damage that stops, traces out of memory and pipes, times from
 * clock to clock.
 */
#include "decode/walk.h"
#include "folder.h"
#include "random_trace.h"
#include "rounds.h"
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <kymo/filter.h>
#include <sys/stat.h>

/* ---- walking over any trace ---- */

/* The identity of an event. */
struct print {
  uint64_t hash;
  int64_t time_ns;
};

static struct print print_of(const struct kymo_event *event) {
  const uint8_t *bytes;
  uint64_t count, hash = UINT64_C(14695981039346656037);
  assert_int_equal(kymo_event_get_raw(event, &bytes, &count), KYMO_OK);
  for (uint64_t i = 0; i < count; i++)
    hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
  return (struct print){(hash ^ event->packet->stream->index) * 31 + event->class_->index, event->time_ns};
}

static struct print *read_prints(struct kymo_trace *trace, size_t *count) {
  size_t capacity = 1024;
  struct print *prints = malloc(capacity * sizeof *prints);
  const struct kymo_event *event;
  for (*count = 0; (event = next_event(trace)); ++*count) {
    if (*count == capacity)
      prints = realloc(prints, (capacity *= 2) * sizeof *prints);
    prints[*count] = print_of(event);
  }
  return prints;
}

static void check_print(const char *path, const struct print *prints, uint64_t number,
                        const struct kymo_event *event) {
  struct print print = print_of(event);
  if (event->number != number || memcmp(&print, &prints[number - 1], sizeof print) != 0)
    fail_msg("%s: event %" PRIu64 " is not the one that the linear way has there (%" PRIu64 ")", path, number,
             event->number);
}

/* Backward from the end, and to records at random. */
static void check_moves(struct kymo_trace *trace, const char *path) {
  const struct kymo_event *event;
  size_t count;
  uint64_t counted;
  struct print *prints = read_prints(trace, &count);
  assert_int_equal(kymo_trace_count_events(trace, &counted, NULL), KYMO_OK);
  assert_int_equal(counted, count);
  for (size_t left = count; left > 0 && count - left < rounds(3000); left--) {
    assert_int_equal(kymo_trace_previous(trace, &event, NULL), KYMO_OK);
    check_print(path, prints, left, event);
  }
  for (unsigned i = 0; i < rounds(200) && count > 0; i++) {
    uint64_t number = 1 + random_below(count);
    assert_int_equal(kymo_trace_goto_event(trace, number, &event, NULL), KYMO_OK);
    check_print(path, prints, number, event);
    if (number > 1 && random_below(2)) {
      assert_int_equal(kymo_trace_previous(trace, &event, NULL), KYMO_OK);
      check_print(path, prints, number - 1, event);
    } else if (number < count) {
      assert_int_equal(kymo_trace_next(trace, &event, NULL), KYMO_OK);
      check_print(path, prints, number + 1, event);
    }
  }
  assert_int_equal(kymo_trace_goto_event(trace, count + 1, &event, NULL), KYMO_END);
  assert_int_equal(kymo_trace_goto_event(trace, 0, &event, NULL), KYMO_OK);
  free(prints);
}

/* All traces right below a folder of the reference data. */
static size_t check_folder(const char *folder) {
  const char *shared = getenv("KYMO_SHARED");
  char path[4096];
  size_t checked = 0;
  snprintf(path, sizeof path, "%s/data/%s", shared ? shared : "", folder);
  DIR *directory = shared ? opendir(path) : NULL;
  for (struct dirent *entry; directory && (entry = readdir(directory));) {
    struct kymo_trace *trace;
    char file[8192];
    const char *paths[] = {file};
    snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
    if (entry->d_name[0] == '.' || strstr(entry->d_name, ".txt") ||
        kymo_trace_open(&trace, paths, 1, NULL, NULL) != KYMO_OK)
      continue;
    check_moves(trace, file);
    kymo_trace_close(trace);
    checked++;
  }
  if (directory)
    closedir(directory);
  return checked;
}

static void traces_of_real_tools_are_walked_either_way(void **state) {
  (void)state;
  static const char *const folders[] = {"cpel", "ctf", "ctf/field", "ctf/babeltrace",
                                        "ctf/babeltrace/succeed"};
  size_t checked = 0;
  random_seed(1);
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
    checked += check_folder(folders[i]);
  if (checked == 0)
    skip();
}

/* ---- a described file ---- */

static const char notes_text[] = "TRACE notes;\n"
                                 "  BYTES LITTLE;\n"
                                 "  CLOCK run IS;\n"
                                 "  TOKEN sorts=(\"plain\"=0,\"loud\"=1);\n"
                                 "  RECORD note EVENT IS\n"
                                 "    ACQUISITION: UNSIGNED 32 TIME run POINT;\n"
                                 "    EVENT: UNSIGNED 8 TOKEN sorts;\n"
                                 "    n: UNSIGNED 8 LENGTH OF words;\n"
                                 "    words: STRING;\n"
                                 "  END;\n"
                                 "  LAYOUT REPEAT note; SORTED YES;\n"
                                 "END TRACE.\n";

static void records_of_described_files_are_walked_either_way(void **state) {
  (void)state;
  struct kymo_trace_options options = {0};
  struct kymo_error error = {.code = KYMO_OK};
  struct kymo_trace *trace;
  struct kymo_description_summary summary;
  uint8_t *bytes = calloc(20000, 64);
  size_t size = 0;
  random_seed(11);
  for (uint32_t i = 0; i < 20000; i++) {
    uint8_t length = (uint8_t)random_below(40);
    memcpy(bytes + size,
           (uint8_t[]){(uint8_t)(i * 3), (uint8_t)(i * 3 >> 8), (uint8_t)(i * 3 >> 16), 0,
                       (uint8_t)random_below(2), length},
           6);
    memset(bytes + size + 6, 'a' + (int)(i % 26), length);
    size += 6u + length;
  }
  if (kymo_description_compile(&options.description, notes_text, sizeof notes_text - 1, "notes.tdl", "tdl",
                               &error) != KYMO_OK)
    fail_msg("%s", error.message);
  kymo_description_info(options.description, &summary);
  assert_true(summary.plan_bytes > 0 && summary.event_classes > 0);
  char path[4096];
  snprintf(path, sizeof path, "%s", below("notes.key"));
  assert_int_equal(kymo_description_save(options.description, path, &error), KYMO_OK);
  kymo_description_release(options.description);
  assert_int_equal(kymo_description_load(&options.description, path, &error), KYMO_OK);
  if (kymo_trace_open_memory(&trace, bytes, size, &options, &error) != KYMO_OK)
    fail_msg("%s", error.message);
  kymo_description_release(options.description);
  free(bytes);
  check_moves(trace, "notes");
  assert_int_equal(kymo_trace_damage_count(trace), 0);
  kymo_trace_close(trace);
}

/* Every third record fails its check; every fifth has a time before the clock's zero, which is none the
 * worse. */
static void events_that_fail_a_check_are_those_that_are_damaged(void **state) {
  (void)state;
  static const char text[] =
      "TRACE checks;\n  BYTES LITTLE;\n  CLOCK run IS;\n"
      "  RECORD note EVENT IS\n    ACQUISITION: INTEGER 32 TIME run POINT;\n    n: UNSIGNED 8;\n"
      "    CHECK n % 3 <> 0;\n  END;\n  LAYOUT REPEAT note;\nEND TRACE.\n";
  struct kymo_trace_options options = {0};
  struct kymo_error error = {.code = KYMO_OK};
  struct kymo_trace *trace;
  const struct kymo_event *event;
  uint8_t bytes[200 * 5] = {0};
  for (uint8_t i = 0; i < 200; i++) {
    bytes[i * 5] = bytes[i * 5 + 4] = i;
    memset(bytes + i * 5 + 1, i % 5 == 0 && i ? 0xff : 0, 3);
  }
  if (kymo_description_compile(&options.description, text, sizeof text - 1, "checks.tdl", "tdl", &error) !=
          KYMO_OK ||
      kymo_trace_open_memory(&trace, bytes, sizeof bytes, &options, &error) != KYMO_OK)
    fail_msg("%s", error.message);
  kymo_description_release(options.description);
  uint64_t n;
  for (uint64_t i = 0; i < 200; i++) {
    assert_int_equal(kymo_trace_next(trace, &event, &error), KYMO_OK);
    assert_int_equal(kymo_event_get_uint(event, kymo_field_id(trace, event->class_, "n"), &n), KYMO_OK);
    assert_int_equal(n, i);
    assert_int_equal(event->time_ns, i % 5 == 0 && i ? (int64_t)i - 256 : (int64_t)i);
    if (event->is_damaged != (i % 3 == 0))
      fail_msg("record %d: damaged %d", (int)i, event->is_damaged);
  }
  assert_int_equal(kymo_trace_next(trace, &event, &error), KYMO_END);
  kymo_trace_close(trace);
}

/* Files of records 1 … 9; those of kind 1 are SEGMENT records, and a check fails at 5. */
static void segments_of_described_files_begin_with_their_records(void **state) {
  (void)state;
  static const char text[] =
      "TRACE laps;\n  BYTES LITTLE;\n  PREFIX head IS kind: UNSIGNED 8; n: UNSIGNED 8; END;\n"
      "  RECORD lap SEGMENT WITH head WHEN kind = 1 IS END;\n"
      "  RECORD note EVENT WITH head WHEN kind = 0 IS CHECK n <> 5; END;\n"
      "  LAYOUT REPEAT lap OR note;\nEND TRACE.\n";
  static const uint8_t bytes[] = {0, 1, 0, 2, 1, 3, 0, 4, 0, 5, 0, 6, 1, 7, 1, 8, 0, 9};
  static const uint64_t firsts[] = {1, 3, 6};
  struct kymo_trace_options options = {0};
  struct kymo_error error = {.code = KYMO_OK};
  struct kymo_trace *trace = NULL;
  size_t count;
  if (kymo_description_compile(&options.description, text, sizeof text - 1, "laps.tdl", "tdl", &error) !=
          KYMO_OK ||
      kymo_trace_open_memory(&trace, bytes, sizeof bytes, &options, &error) != KYMO_OK)
    fail_msg("%s", error.message);
  kymo_description_release(options.description);
  assert_int_equal(kymo_trace_count_segments(trace, &count, &error), KYMO_OK);
  assert_int_equal(count, 3);
  for (size_t i = 0; i < count; i++) {
    assert_int_equal(kymo_trace_segment(trace, i)->first, firsts[i]);
    assert_int_equal(kymo_trace_segment(trace, i)->cause, i ? KYMO_SEGMENT_MARK : KYMO_SEGMENT_STREAM);
  }
  kymo_trace_close(trace);
}

/* A list and a blob need numbers, which are not fields of the description; n_l is one. */
static void numbers_for_decoding_are_no_fields(void **state) {
  (void)state;
  static const char text[] =
      "TRACE s;\n  BYTES LITTLE;\n  RECORD r EVENT IS\n    _n: UNSIGNED 8;\n"
      "    l: REPEAT TIMES _n IS a: UNSIGNED 8; b: BYTES a; END;\n    n_l: UNSIGNED 8;\n  END;\n"
      "  LAYOUT REPEAT r;\nEND TRACE.\n";
  static const uint8_t bytes[] = {2, 1, 'x', 2, 'y', 'z', 99};
  static const char *const wanted[] = {"l", "n_l"};
  struct kymo_trace_options options = {0};
  struct kymo_error error = {.code = KYMO_OK};
  struct kymo_trace *trace = NULL;
  const struct kymo_event *event;
  const uint32_t *ids;
  size_t count;
  char shown[40];
  uint64_t value;
  if (kymo_description_compile(&options.description, text, sizeof text - 1, "s.tdl", "tdl", &error) !=
          KYMO_OK ||
      kymo_trace_open_memory(&trace, bytes, sizeof bytes, &options, &error) != KYMO_OK)
    fail_msg("%s", error.message);
  kymo_description_release(options.description);
  assert_int_equal(kymo_trace_next(trace, &event, &error), KYMO_OK);
  assert_int_equal(kymo_field_list(trace, event->class_, &ids, &count), KYMO_OK);
  assert_int_equal(count, 2);
  for (size_t i = 0; i < count; i++) {
    struct kymo_field field;
    assert_int_equal(kymo_field_info(trace, event->class_, ids[i], &field), KYMO_OK);
    assert_string_equal(field.path, wanted[i]);
  }
  for (uint32_t i = 0; i < event->class_->payload->member_count; i++) {
    const char *name = event->class_->payload->members[i].name;
    bool is_wanted = !strcmp(name, "l") || !strcmp(name, "n_l");
    assert_int_equal(kymo_field_id(trace, event->class_, name) != KYMO_FIELD_NONE, is_wanted);
  }
  assert_int_equal(kymo_event_get_uint(event, kymo_field_id(trace, event->class_, "n_l"), &value), KYMO_OK);
  assert_int_equal(value, 99);
  assert_int_equal(
      kymo_event_format_field(event, kymo_field_id(trace, event->class_, "l"), shown, sizeof shown, NULL),
      KYMO_OK);
  assert_string_equal(shown, "[{a = 1, b = 78}, {a = 2, b = 797a}]");
  kymo_trace_close(trace);
}

static const char doors_text[] =
    "TRACE doors;\n"
    "  BYTES LITTLE;\n"
    "  TABLE names KEY NUMBER HOLDS NAMES;\n"
    "  TABLE numbers KEY NAME HOLDS NUMBERS;\n"
    "  PREFIX p IS kind: UNSIGNED 8; id: UNSIGNED 8; END;\n"
    "  RECORD name DEFINITION WITH p WHEN kind=0 IS\n"
    "    words: STRING 4;\n"
    "    DEFINE names[id]=words; DEFINE numbers[words]=id;\n"
    "  END;\n"
    "  RECORD door EVENT WITH p WHEN kind=1 IS EVENT: UNSIGNED 8 TOKEN names; END;\n"
    "  LAYOUT REPEAT name OR door;\n"
    "END TRACE.\n";

static void tables_of_described_files_are_looked_up(void **state) {
  (void)state;
  struct kymo_trace_options options = {0};
  struct kymo_error error = {.code = KYMO_OK};
  struct kymo_trace *trace;
  struct kymo_table_value value;
  static const uint8_t bytes[] = {0, 7, 'h', 'a', 'l', 'l', 1, 0, 7, 1, 0, 9};
  if (kymo_description_compile(&options.description, doors_text, sizeof doors_text - 1, "doors.tdl", NULL,
                               &error) != KYMO_OK)
    fail_msg("%s", error.message);
  if (kymo_trace_open_memory(&trace, bytes, sizeof bytes, &options, &error) != KYMO_OK)
    fail_msg("%s", error.message);
  kymo_description_release(options.description);
  const struct kymo_stream *stream = kymo_part_stream(trace, kymo_trace_part(trace, 0), 0);
  assert_int_equal(kymo_stream_table_count(stream), 2);
  size_t length;
  assert_memory_equal(kymo_stream_table_name(stream, 0, &length), "names", 5);
  assert_int_equal(length, 5);
  assert_null(kymo_stream_table_name(stream, 2, &length));
  const struct kymo_event *event = next_event(trace);
  const char *text;
  assert_int_equal(kymo_event_get_token(event, kymo_field_id(trace, event->class_, "EVENT"), NULL, &text),
                   KYMO_OK);
  assert_string_equal(text, "hall");
  assert_int_equal(kymo_stream_table_get(stream, 0, &(struct kymo_table_key){.number = 7}, &value), KYMO_OK);
  assert_int_equal(value.count, 4);
  assert_memory_equal(value.bytes, "hall", 4);
  assert_int_equal(
      kymo_stream_table_get(stream, 1, &(struct kymo_table_key){.text = "hall", .length = 4}, &value),
      KYMO_OK);
  assert_null(value.bytes);
  assert_int_equal(value.number, 7);
  assert_int_equal(kymo_stream_table_get(stream, 0, &(struct kymo_table_key){.number = 8}, &value),
                   KYMO_E_ABSENT);
  assert_int_equal(kymo_stream_table_get(stream, 2, &(struct kymo_table_key){.number = 8}, &value),
                   KYMO_E_UNKNOWN);
  kymo_trace_close(trace);
}

/* ---- many streams ---- */

#define MANY 1000

static void thousands_of_streams_are_walked_either_way(void **state) {
  (void)state;
  random_seed(5);
  struct packet_bytes *bytes = calloc(MANY, sizeof *bytes);
  for (size_t i = 0; i < MANY; i++)
    make_stream(&bytes[i], (struct shape){64, 64, 48, 1}, false);
  struct kymo_trace *trace = open_memory(make_schema((struct shape){64, 64, 48, 1}, 1000000000), bytes, MANY);
  struct kymo_trace_limits limits = {.checkpoint_bytes = 1 << 20};
  kymo_trace_set_limits(trace, &limits);
  check_moves(trace, "memory");
  kymo_trace_close(trace);
  free(bytes);
}

/* ---- programs of other versions ---- */

/* Checks the filled part of a struct of `size` bytes: bytes of 0xaa are not touched, and zeros follow the
 * members that the library knows. */
static void check_filled(const unsigned char *bytes, size_t size, size_t known) {
  for (size_t i = known; i < size; i++)
    assert_int_equal(bytes[i], 0);
  for (size_t i = size; i < 1024; i++)
    assert_int_equal(bytes[i], 0xaa);
}

static void structs_of_older_and_newer_programs_are_filled_as_far_as_they_go(void **state) {
  (void)state;
  struct packet_bytes *bytes = calloc(1, sizeof *bytes);
  struct shape shape = {64, 64, 48, 1};
  random_seed(5);
  make_stream(bytes, shape, false);
  struct kymo_trace *trace = open_memory(make_schema(shape, 1000000000), bytes, 1);
  const struct kymo_part *part = kymo_trace_part(trace, 0);
  const struct kymo_stream *stream = kymo_part_stream(trace, part, 0);
  const struct kymo_event *event;
  assert_int_equal(kymo_trace_next(trace, &event, NULL), KYMO_OK);
  for (size_t size = 0; size <= 512; size++) {
    unsigned char to[1024];
    struct kymo_walk walk;
    enum kymo_token token;
#define FILLS(type, call) memset(to, 0xaa, sizeof to), call, check_filled(to, size, sizeof(struct type))
    FILLS(kymo_bookmark, kymo_trace_tell_(trace, (void *)to, size));
    FILLS(kymo_trace_counts, kymo_trace_count_(trace, (void *)to, size));
    FILLS(kymo_losses, kymo_trace_losses_(trace, (void *)to, size));
    FILLS(kymo_stream_info, kymo_stream_describe_(trace, stream, (void *)to, size, NULL));
    FILLS(kymo_field, kymo_field_info_(trace, event->class_, KYMO_FIELD_EVENT, (void *)to, size));
    FILLS(kymo_filter_result, kymo_filter_counts_(trace, (void *)to, size));
    FILLS(kymo_description_summary, kymo_description_info_(part->schema, (void *)to, size));
    FILLS(kymo_value, kymo_event_get_value_(event, KYMO_FIELD_EVENT, (void *)to, size, &token));
    assert_true(kymo_walk_begin(&walk, event, KYMO_SCOPE_PAYLOAD));
    FILLS(kymo_value, kymo_walk_next_(&walk, (void *)to, size));
    memset(to, 0xaa, sizeof to);
    if (kymo_trace_next_batch_(trace, (void *)to, size, NULL) != KYMO_OK)
      kymo_trace_rewind(trace);
    check_filled(to, size, sizeof(struct kymo_batch));
    assert_int_equal(kymo_trace_rewind(trace), KYMO_OK);
    assert_int_equal(kymo_trace_next(trace, &event, NULL), KYMO_OK);
  }
  kymo_trace_close(trace);
  free(bytes);
}

/* ---- batches, segments, places ---- */

struct small {
  struct packet_bytes *bytes;
  struct kymo_trace *trace;
};

/* Two streams; the second has a packet with a bad head, and a loss. */
static struct small open_small(void) {
  struct shape shape = {64, 64, 48, 1};
  struct small small = {.bytes = calloc(2, sizeof *small.bytes)};
  struct making_stream a = {.out = &small.bytes[0], .shape = shape, .clock = 100};
  struct making_stream b = {.out = &small.bytes[1], .shape = shape, .clock = 100};
  random_seed(3);
  for (unsigned i = 0; i < 6; i++) {
    add_packet(&a, false, false);
    uint64_t begin = b.out->bits / 8;
    add_packet(&b, false, false);
    if (i == 2)
      b.out->bytes[begin] ^= 0xff;
  }
  small.trace = open_memory(make_schema(shape, 1000000000), small.bytes, 2);
  return small;
}

static void close_small(struct small *small) {
  kymo_trace_close(small->trace);
  free(small->bytes);
}

static void batches_hold_what_single_steps_give(void **state) {
  (void)state;
  struct small small = open_small();
  struct kymo_batch batch;
  size_t count, at = 0;
  struct print *prints = read_prints(small.trace, &count);
  assert_int_equal(kymo_trace_rewind(small.trace), KYMO_OK);
  while (kymo_trace_next_batch(small.trace, &batch, NULL) == KYMO_OK) {
    assert_true(batch.count > 0);
    assert_int_equal(batch.number, at + 1);
    for (size_t i = 0; i < batch.count; i++, at++) {
      check_print("memory", prints, at + 1, batch.events[i]);
      assert_int_equal(batch.times_ns[i], batch.events[i]->time_ns);
      assert_ptr_equal(batch.classes[i], batch.events[i]->class_);
      assert_int_equal(batch.offsets[i], batch.events[i]->packet->offset + batch.events[i]->offset_bits / 8);
    }
  }
  assert_int_equal(at, count);
  free(prints);
  close_small(&small);
}

static void segments_hold_all_records_and_begin_behind_what_is_missing(void **state) {
  (void)state;
  struct small small = open_small();
  const struct kymo_event *event;
  size_t count, damaged = 0, streams = 0;
  uint64_t records, sum = 0;
  assert_int_equal(kymo_trace_count_events(small.trace, &records, NULL), KYMO_OK);
  assert_int_equal(kymo_trace_count_segments(small.trace, &count, NULL), KYMO_OK);
  for (size_t i = 0; i < count; i++) {
    const struct kymo_segment *segment = kymo_trace_segment(small.trace, i);
    assert_int_equal(kymo_trace_goto_segment(small.trace, i, &event, NULL), KYMO_OK);
    assert_int_equal(event->number, segment->first);
    assert_ptr_equal(event->packet->stream, segment->stream);
    assert_int_equal(event->time_ns, segment->begin_ns);
    assert_int_equal(event->is_damaged, segment->cause == KYMO_SEGMENT_DAMAGE);
    sum += segment->count;
    damaged += segment->cause == KYMO_SEGMENT_DAMAGE;
    streams += segment->cause == KYMO_SEGMENT_STREAM;
  }
  assert_int_equal(sum, records);
  assert_int_equal(streams, 2);
  assert_int_equal(damaged, 1);
  assert_null(kymo_trace_segment(small.trace, count));
  assert_int_equal(kymo_trace_goto_segment(small.trace, count, &event, NULL), KYMO_E_UNKNOWN);
  close_small(&small);
}

static void places_in_files_lead_to_their_events(void **state) {
  (void)state;
  struct small small = open_small();
  struct kymo_bookmark places[512];
  const struct kymo_event *event;
  size_t count = 0;
  uint64_t number;
  while (next_event(small.trace))
    kymo_trace_tell(small.trace, &places[count++]);
  for (size_t i = 0; i < count; i++) {
    assert_int_equal(places[i].number, i + 1);
    assert_int_equal(kymo_trace_goto_offset(small.trace, places[i].stream, places[i].offset, &event, NULL),
                     KYMO_OK);
    assert_int_equal(kymo_trace_get_number(small.trace, event, &number, NULL), KYMO_OK);
    assert_int_equal(number, i + 1);
  }
  assert_int_equal(kymo_trace_goto_offset(small.trace, places[0].stream, 1 << 20, &event, NULL), KYMO_END);
  assert_null(event);
  close_small(&small);
}

/* ---- damage ---- */

static void reading_stops_once_at_damage_if_it_shall(void **state) {
  (void)state;
  struct small small = open_small();
  const struct kymo_event *event;
  struct kymo_error error = {.code = KYMO_OK};
  unsigned stops = 0, marked = 0;
  uint64_t events = 0, all;
  assert_int_equal(kymo_trace_count_events(small.trace, &all, NULL), KYMO_OK);
  kymo_trace_set_policy(small.trace, KYMO_POLICY_STOP);
  for (int status = KYMO_OK; status != KYMO_END;) {
    status = kymo_trace_next(small.trace, &event, &error);
    stops += status == KYMO_E_FORMAT;
    events += status == KYMO_OK;
    marked += status == KYMO_OK && event->is_damaged;
    assert_true(status == KYMO_OK || status == KYMO_END || status == KYMO_E_FORMAT);
  }
  assert_int_equal(stops, 1);
  assert_int_equal(marked, 1);
  assert_int_equal(events, all);
  assert_int_equal(kymo_trace_last_error(small.trace)->code, KYMO_E_FORMAT);
  assert_string_equal(kymo_trace_last_error(small.trace)->message, error.message);
  assert_string_equal(kymo_status_text(error.code), "malformed data");
  struct kymo_trace_counts stats;
  kymo_trace_count(small.trace, &stats);
  assert_int_equal(stats.delivered, all);
  assert_int_equal(stats.streams, 2);
  assert_int_equal(stats.damage, 1);
  close_small(&small);
}

/* ---- opening ---- */

/* A CPEL file of two events: strings, one definition, one track, events. */
static size_t make_cpel(uint8_t out[512]) {
  struct packet_bytes bytes = {.bits = 0};
  put(&bytes, 0x01, 8, true);
  put(&bytes, 0, 8, true);
  put(&bytes, 4, 16, true);
  put(&bytes, 0, 32, true);
  static const char table[64] = "strings";
  static const char strings[] = "strings\0"
                                "door %d\0"
                                "%d\0"
                                "hall";
  uint64_t padded = (sizeof strings + 3) / 4 * 4;
  put(&bytes, 1, 32, true);
  put(&bytes, padded, 32, true);
  put_text(&bytes, strings, sizeof strings);
  pad_to(&bytes, 32);
  put(&bytes, 3, 32, true);
  put(&bytes, 64 + 4 + 12, 32, true);
  put_text(&bytes, table, 64);
  put(&bytes, 1, 32, true);
  put(&bytes, 7, 32, true), put(&bytes, 8, 32, true), put(&bytes, 16, 32, true);
  put(&bytes, 4, 32, true);
  put(&bytes, 64 + 4 + 8, 32, true);
  put_text(&bytes, table, 64);
  put(&bytes, 1, 32, true);
  put(&bytes, 2, 32, true), put(&bytes, 19, 32, true);
  put(&bytes, 5, 32, true);
  put(&bytes, 64 + 8 + 40, 32, true);
  put_text(&bytes, table, 64);
  put(&bytes, 2, 32, true), put(&bytes, 1000000, 32, true);
  for (uint64_t i = 1; i <= 2; i++) {
    put(&bytes, i * 1000, 64, true);
    put(&bytes, 2, 32, true), put(&bytes, 7, 32, true), put(&bytes, i, 32, true);
  }
  assert_true(bytes.bits / 8 <= 512);
  memcpy(out, bytes.bytes, (size_t)(bytes.bits / 8));
  return (size_t)(bytes.bits / 8);
}

static uint64_t count_and_close(struct kymo_trace *trace) {
  uint64_t count = 0;
  while (next_event(trace))
    count++;
  assert_int_equal(kymo_trace_damage_count(trace), 0);
  kymo_trace_close(trace);
  return count;
}

static void traces_come_out_of_memory_pipes_and_sets(void **state) {
  (void)state;
  uint8_t file[512];
  size_t size = make_cpel(file);
  struct kymo_trace *trace;
  struct kymo_error error = {.code = KYMO_OK};
  int ends[2];
  if (kymo_trace_open_memory(&trace, file, size, NULL, &error) != KYMO_OK)
    fail_msg("%s", error.message);
  assert_int_equal(count_and_close(trace), 2);
  assert_int_equal(pipe(ends), 0);
  assert_int_equal(write(ends[1], file, size), size);
  close(ends[1]);
  assert_int_equal(kymo_trace_open_fd(&trace, ends[0], NULL, &error), KYMO_OK);
  close(ends[0]);
  assert_int_equal(count_and_close(trace), 2);
  assert_int_equal(kymo_trace_open_memory(&trace, "nothing", 7, NULL, &error), KYMO_E_UNKNOWN);
  assert_null(trace);
  write_file("one.cpel", file, size);
  write_file("other.cpel", file, size);
  char one[4096], other[4096];
  snprintf(one, sizeof one, "%s", below("one.cpel"));
  snprintf(other, sizeof other, "%s", below("other.cpel"));
  struct kymo_input inputs[] = {{.path = one, .format = "cpel"}, {.path = other, .clock_offset_ns = 1500000}};
  assert_int_equal(kymo_trace_open_set(&trace, inputs, 2, NULL, &error), KYMO_OK);
  const struct kymo_event *event = next_event(trace);
  int64_t first_ns = event->time_ns;
  event = next_event(trace); /* the first file's second event is before the second file's first */
  assert_int_equal(event->time_ns, first_ns + 1000000);
  event = next_event(trace);
  assert_int_equal(event->time_ns, first_ns + 1500000);
  assert_int_equal(count_and_close(trace), 1);
  inputs[0].format = "nonsense";
  assert_int_equal(kymo_trace_open_set(&trace, inputs, 2, NULL, &error), KYMO_E_UNKNOWN);
  assert_string_equal(error.message, "no format is called 'nonsense'");
}

/* ---- clocks ---- */

static void times_are_converted_along_snapshots(void **state) {
  (void)state;
  struct small small = open_small();
  struct kymo_part *part = (struct kymo_part *)(uintptr_t)kymo_trace_part(small.trace, 0);
  const struct kymo_clock_snapshot list[] = {
      {.cycles = 1000, .span = 10, .monotonic_ns = 5000, .realtime_ns = 100000, .error_ns = 7},
      {.cycles = 2000, .span = 20, .monotonic_ns = 7000, .realtime_ns = 90000, .error_ns = 9},
      {.cycles = 3000, .span = 10, .monotonic_ns = 8000, .realtime_ns = 91000, .error_ns = 9},
  };
  const struct kymo_clock_snapshots snapshots = {"boot", "host", list, 3};
  int64_t ns;
  uint64_t error_ns;
  assert_int_equal(kymo_part_convert_time(part, 1500, KYMO_TO_MONOTONIC, &ns, NULL), KYMO_E_ABSENT);
  assert_int_equal(kymo_part_add_clock_snapshots(small.trace, part, &snapshots, NULL), KYMO_OK);
  assert_int_equal(kymo_part_convert_time(part, 1500, KYMO_TO_MONOTONIC, &ns, NULL), KYMO_OK);
  assert_int_equal(ns, 6000);
  assert_int_equal(kymo_part_convert_time(part, 2250, KYMO_TO_REALTIME, &ns, &error_ns), KYMO_OK);
  assert_int_equal(ns, 90250);
  assert_int_equal(error_ns, 9 + 10 + 1);
  assert_int_equal(kymo_part_convert_time(part, 900, KYMO_TO_MONOTONIC, &ns, &error_ns), KYMO_OK);
  assert_int_equal(ns, 4900);
  assert_true(error_ns == UINT64_MAX);
  assert_int_equal(kymo_part_convert_time(part, 3100, KYMO_TO_MONOTONIC, &ns, NULL), KYMO_OK);
  assert_int_equal(ns, 8100);
  assert_int_equal(kymo_part_convert_time(part, UINT64_MAX, KYMO_TO_MONOTONIC, &ns, NULL), KYMO_E_RANGE);
  close_small(&small);
}

static void texts_of_times_go_by_the_trace(void **state) {
  (void)state;
  struct small small = open_small();
  struct kymo_error error;
  int64_t begin_ns, end_ns, ns;
  assert_int_equal(kymo_trace_range(small.trace, &begin_ns, &end_ns, NULL), KYMO_OK);
  assert_int_equal(kymo_trace_parse_time(small.trace, "+1us", &ns, NULL), KYMO_OK);
  assert_int_equal(ns, begin_ns + 1000);
  assert_int_equal(kymo_trace_parse_time(small.trace, "-2ns", &ns, NULL), KYMO_OK);
  assert_int_equal(ns, end_ns - 2);
  assert_int_equal(kymo_trace_parse_time(small.trace, "1970-01-01T00:00:05Z", &ns, NULL), KYMO_OK);
  assert_int_equal(ns, 5000000000);
  assert_int_equal(kymo_trace_parse_time(small.trace, "+1 year", &ns, &error), KYMO_E_SYNTAX);
  assert_int_equal(error.column, 2);
  close_small(&small);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(traces_of_real_tools_are_walked_either_way),
      cmocka_unit_test_setup_teardown(records_of_described_files_are_walked_either_way, make_top, remove_top),
      cmocka_unit_test(events_that_fail_a_check_are_those_that_are_damaged),
      cmocka_unit_test(segments_of_described_files_begin_with_their_records),
      cmocka_unit_test(numbers_for_decoding_are_no_fields),
      cmocka_unit_test(tables_of_described_files_are_looked_up),
      cmocka_unit_test(thousands_of_streams_are_walked_either_way),
      cmocka_unit_test(structs_of_older_and_newer_programs_are_filled_as_far_as_they_go),
      cmocka_unit_test(batches_hold_what_single_steps_give),
      cmocka_unit_test(segments_hold_all_records_and_begin_behind_what_is_missing),
      cmocka_unit_test(places_in_files_lead_to_their_events),
      cmocka_unit_test(reading_stops_once_at_damage_if_it_shall),
      cmocka_unit_test_setup_teardown(traces_come_out_of_memory_pipes_and_sets, make_top, remove_top),
      cmocka_unit_test(times_are_converted_along_snapshots),
      cmocka_unit_test(texts_of_times_go_by_the_trace),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
