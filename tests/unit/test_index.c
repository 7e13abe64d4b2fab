/* SPDX-License-Identifier: MIT */
/*
 * The index of packets: what is kept beside a trace, when it is trusted, and that it changes only the speed.
 * The trace has two streams, one of two files; an event's value is its time.
 */
#include "folder.h"
#include "read_memory.h"
#include "trace/index_file.h"
#include <fcntl.h>
#include <inttypes.h>

static const char metadata[] =
    "/* CTF 1.8 */\n"
    "typealias integer { size = 8; align = 8; signed = false; } := u8;\n"
    "typealias integer { size = 32; align = 8; signed = false; } := u32;\n"
    "typealias integer { size = 64; align = 8; signed = false; } := u64;\n"
    "trace { major = 1; minor = 8; byte_order = le; uuid = \"2a6422d0-6cee-11e0-8c08-cb07d7b3a564\";\n"
    "  packet.header := struct { u32 magic; u32 stream_id; u32 stream_instance_id; }; };\n"
    "clock { name = c; freq = 1000000000; };\n"
    "typealias integer { size = 64; align = 8; signed = false; map = clock.c.value; } := t64;\n"
    "typealias integer { size = 16; align = 8; signed = false; map = clock.c.value; } := t16;\n"
    "stream { id = 0; event.header := struct { u8 id; t16 timestamp; };\n"
    "  packet.context := struct { t64 timestamp_begin; t64 timestamp_end; u32 content_size; u32 "
    "packet_size;\n"
    "    u32 packet_seq_num; u32 events_discarded; }; };\n"
    "event { id = 0; name = e; stream_id = 0; fields := struct { u32 v; }; };\n";

#define EVENTS 3    /* a packet */
#define STEP_NS 100 /* from packet to packet */
#define HEAD_BYTES 44
#define PACKET_BYTES (HEAD_BYTES + EVENTS * 7)
#define PACKETS 600 /* a file */

static void put_packet(struct packet_bytes *out, uint32_t instance, uint64_t number, uint64_t shift_ns) {
  uint64_t begin = (number + 1) * STEP_NS + instance * 7 + shift_ns;
  put_le(out, 0xc1fc1fc1, 32);
  put_le(out, 0, 32);
  put_le(out, instance, 32);
  put_le(out, begin, 64);
  put_le(out, begin + 50, 64);
  put_le(out, PACKET_BYTES * 8, 32);
  put_le(out, PACKET_BYTES * 8, 32);
  put_le(out, number, 32);
  put_le(out, 0, 32);
  for (uint64_t i = 0; i < EVENTS; i++) {
    put_le(out, 0, 8);
    put_le(out, (begin + i * 10) & 0xffff, 16);
    put_le(out, begin + i * 10, 32);
  }
}

/* Appends to a file. */
static void write_packets(const char *name, uint32_t instance, uint64_t first, uint64_t count,
                          uint64_t shift_ns) {
  const char *path = below(name);
  make_folders(path);
  FILE *file = fopen(path, "ab");
  assert_non_null(file);
  for (uint64_t i = first; i < first + count; i++) {
    struct packet_bytes packet = {.bits = 0};
    put_packet(&packet, instance, i, shift_ns);
    assert_int_equal(fwrite(packet.bytes, 1, PACKET_BYTES, file), PACKET_BYTES);
  }
  assert_int_equal(fclose(file), 0);
}

static void write_trace(uint64_t packets) {
  write_file("trace/metadata", metadata, sizeof metadata - 1);
  write_packets("trace/a_0", 1, 0, packets, 0);
  write_packets("trace/a_1", 1, packets, packets, 0);
  write_packets("trace/b", 2, 0, packets, 0);
}

/* ---- reading ---- */

static struct kymo_trace *open_trace(void) {
  struct kymo_trace *trace;
  struct kymo_error error = {0};
  const char *path = below("trace");
  if (kymo_trace_open(&trace, &path, 1, NULL, &error) != KYMO_OK)
    fail_msg("%s: %s", path, error.message);
  return trace;
}

static uint64_t value_of(const struct kymo_trace *trace, const struct kymo_event *event) {
  uint64_t value = 0;
  uint32_t field = kymo_field_id((struct kymo_trace *)(uintptr_t)trace, event->class_, "v");
  assert_int_equal(kymo_event_get_uint(event, field, &value), KYMO_OK);
  assert_int_equal(value, event->time_ns);
  return value;
}

/* All times from there on, one after the other, folded into one number; and how many. */
static uint64_t fold(struct kymo_trace *trace, uint64_t *count) {
  uint64_t folded = 0, before = 0;
  *count = 0;
  for (const struct kymo_event *event; (event = next_event(trace)); ++*count) {
    uint64_t value = value_of(trace, event);
    assert_true(value >= before);
    before = value;
    folded = folded * 31 + value;
  }
  return folded;
}

/* The same of the linear way. */
static uint64_t fold_linear(int64_t from_ns, uint64_t *count) {
  struct kymo_trace *trace = open_trace();
  uint64_t folded = 0;
  *count = 0;
  for (const struct kymo_event *event; (event = next_event(trace));)
    if (event->time_ns >= from_ns) {
      folded = folded * 31 + value_of(trace, event);
      ++*count;
    }
  kymo_trace_close(trace);
  return folded;
}

static size_t damaged_places; /* that going all the way meets */

/* Goes to the time in a newly opened trace: the next events must be those of a linear reading. Returns the
 * number of packets that the index knew before it was needed. */
static uint64_t check_jump(int64_t time_ns) {
  uint64_t expected_count, count, kept = 0;
  uint64_t expected = fold_linear(time_ns, &expected_count);
  struct kymo_trace *trace = open_trace();
  assert_int_equal(kymo_trace_goto_time(trace, time_ns, NULL), KYMO_OK);
  uint64_t found = fold(trace, &count);
  if (found != expected || count != expected_count)
    fail_msg("from %" PRId64 ": expected %" PRIu64 " events, found %" PRIu64 "%s", time_ns, expected_count,
             count, count == expected_count ? " others" : "");
  assert_true(kymo_trace_damage_count(trace) <= damaged_places);
  kymo_trace_close(trace);
  trace = open_trace();
  kymo_index_load(trace);
  for (size_t i = 0; i < trace->stream_count; i++)
    kept += trace->streams[i]->index.kept;
  kymo_trace_close(trace);
  return kept;
}

static void check_jumps(uint64_t packets) {
  int64_t last_ns = (int64_t)packets * STEP_NS;
  const int64_t times[] = {INT64_MIN,   0,       STEP_NS,       last_ns / 2, last_ns / 2 + 7,
                           last_ns - 3, last_ns, last_ns + 500, INT64_MAX};
  for (size_t i = 0; i < sizeof times / sizeof *times; i++)
    check_jump(times[i]);
}

static uint64_t size_of(const char *name) {
  struct stat info;
  return stat(below(name), &info) == 0 ? (uint64_t)info.st_size : 0;
}

static uint8_t *read_whole(const char *name, size_t *size) {
  *size = (size_t)size_of(name);
  uint8_t *bytes = malloc(*size + 1);
  FILE *file = fopen(below(name), "rb");
  assert_non_null(file);
  assert_int_equal(fread(bytes, 1, *size, file), *size);
  fclose(file);
  return bytes;
}

#define INDEX "trace/.kymo/index"

/* Without other settings an index is only written beside the trace. */
static int begin(void **state) {
  int status = make_top(state);
  setenv("XDG_CACHE_HOME", below("cache"), 1);
  mkdir(below("cache"), 0700);
  return status;
}

/* ---- keeping ---- */

static void jumps_are_the_same_with_a_kept_index(void **state) {
  (void)state;
  write_trace(PACKETS);
  assert_int_equal(check_jump(INT64_MIN), 0); /* the first packets are enough */
  assert_int_equal(size_of(INDEX), 0);
  assert_int_equal(check_jump(INT64_MAX), 3 * PACKETS);
  assert_true(size_of(INDEX) > 3 * PACKETS * 16);
  check_jumps(2 * PACKETS);
  assert_int_equal(check_jump(INT64_MAX), 3 * PACKETS);
}

static void the_index_grows_as_far_as_it_was_needed(void **state) {
  (void)state;
  write_trace(PACKETS);
  uint64_t some = check_jump(PACKETS * STEP_NS), more = check_jump(PACKETS * 3 / 2 * STEP_NS);
  assert_true(some >= 2 * PACKETS - 4 && some <= 2 * PACKETS + 4);
  assert_int_equal(more, some); /* not enough was learnt to write it anew */
  assert_int_equal(check_jump(INT64_MAX), 3 * PACKETS - (3 * PACKETS - some < 1024 ? 3 * PACKETS - some : 0));
  check_jumps(2 * PACKETS);
}

static void small_traces_have_no_index(void **state) {
  (void)state;
  write_trace(100);
  check_jumps(200);
  assert_int_equal(size_of(INDEX), 0);
  assert_int_not_equal(access(below("trace/.kymo"), F_OK), 0);
  assert_int_not_equal(access(below("cache/kymo"), F_OK), 0);
}

static void ranges_come_from_the_index(void **state) {
  (void)state;
  int64_t begin_ns = 0, end_ns = 0;
  write_trace(PACKETS);
  for (int i = 0; i < 2; i++) {
    struct kymo_trace *trace = open_trace();
    assert_int_equal(kymo_trace_range(trace, &begin_ns, &end_ns, NULL), KYMO_OK);
    assert_int_equal(begin_ns, STEP_NS + 7);
    assert_int_equal(end_ns, 2 * PACKETS * STEP_NS + 7 + 50);
    const struct kymo_event *event = next_event(trace);
    assert_int_equal(event->time_ns, STEP_NS + 7); /* nothing was moved */
    kymo_trace_close(trace);
  }
}

/* ---- believing ---- */

static void damaged_indexes_are_made_anew(void **state) {
  (void)state;
  size_t size;
  write_trace(PACKETS);
  check_jump(INT64_MAX);
  uint8_t *bytes = read_whole(INDEX, &size);
  for (size_t i = 0; i < size; i += i < 80 ? 3 : size / 10) {
    bytes[i] ^= 0x55;
    write_file(INDEX, bytes, i % 2 ? size : i);
    bytes[i] ^= 0x55;
    assert_int_equal(check_jump(INT64_MAX), 3 * PACKETS);
  }
  free(bytes);
}

/* An index whose sum is right, and nothing else: each entry is shifted. */
static void wrong_indexes_are_noticed_at_the_packet(void **state) {
  (void)state;
  size_t size;
  write_trace(PACKETS);
  check_jump(INT64_MAX);
  uint8_t *bytes = read_whole(INDEX, &size);
  for (unsigned turn = 0; turn < 3; turn++) {
    struct kymo_strbuf text = {0};
    struct kymo_bytes at;
    struct kymo_index_bytes stream;
    kymo_index_write_begin(&text);
    assert_true(kymo_index_read_begin(&at, bytes, size));
    while (kymo_index_read(&at, &stream)) {
      struct kymo_index index;
      struct kymo_index_file files[2] = {kymo_index_read_file(&stream, 0),
                                         kymo_index_read_file(&stream, stream.file_count - 1)};
      kymo_index_begin(&index, 1);
      assert_true(kymo_index_take(&index, &stream));
      for (uint32_t i = 0; i < index.count; i++) {
        index.entries[i].clock += turn == 0 ? 1 : turn == 1 ? 100000 : 0;
        index.entries[i].position += turn == 2 ? 7 : 0;
      }
      index.last_position += 7;
      kymo_index_write(&text, &index, files, stream.file_count);
      kymo_index_free(&index);
    }
    kymo_index_write_end(&text);
    assert_false(text.failed);
    write_file(INDEX, text.text, text.length);
    check_jumps(2 * PACKETS);
    kymo_strbuf_free(&text);
  }
  free(bytes);
}

static void other_files_under_the_same_names_have_other_indexes(void **state) {
  (void)state;
  struct stat before;
  const uint64_t many = 1100; /* so that one file alone is worth an index */
  write_trace(many);
  check_jump(INT64_MAX);
  assert_int_equal(stat(below("trace/b"), &before), 0);
  assert_int_equal(truncate(below("trace/b"), 0), 0);
  write_packets("trace/b", 2, 0, many, 77); /* the same inode and size, another time of change */
  check_jump((int64_t)many * STEP_NS);
  assert_int_equal(check_jump(INT64_MAX), 3 * many);
  assert_int_equal(truncate(below("trace/b"), 0), 0);
  write_packets("trace/b", 2, 0, many, 33); /* and now the same time of change, too */
  assert_int_equal(
      utimensat(AT_FDCWD, below("trace/b"), (struct timespec[]){before.st_atim, before.st_mtim}, 0), 0);
  check_jumps(many);
}

static void files_that_have_grown_keep_their_index(void **state) {
  (void)state;
  write_trace(PACKETS);
  assert_int_equal(check_jump(INT64_MAX), 3 * PACKETS);
  write_packets("trace/b", 2, PACKETS, 500, 0);
  write_packets("trace/a_2", 1, 2 * PACKETS, 500, 0);
  assert_int_equal(check_jump(PACKETS * STEP_NS), 3 * PACKETS);
  check_jumps(PACKETS + 500);
  write_packets("trace/b", 2, PACKETS + 500, 500, 0);
  assert_int_equal(check_jump(INT64_MAX), 3 * PACKETS + 1500);
}

static void damaged_packets_are_in_no_index(void **state) {
  (void)state;
  write_trace(PACKETS);
  int middle = open(below("trace/b"), O_WRONLY), last = open(below("trace/a_1"), O_WRONLY);
  for (off_t packet = 300; packet < 303; packet++) /* its magic number */
    assert_int_equal(pwrite(middle, "", 1, packet * PACKET_BYTES), 1);
  assert_int_equal(pwrite(middle, "\7", 1, 400 * PACKET_BYTES + HEAD_BYTES + 7),
                   1); /* the id of its second event */
  assert_int_equal(ftruncate(last, (PACKETS - 1) * PACKET_BYTES + HEAD_BYTES + 10), 0);
  close(middle);
  close(last);
  damaged_places = 3;
  assert_int_equal(check_jump(INT64_MAX), 3 * PACKETS - 4);
  for (int64_t packet = 297; packet < 306; packet++)
    for (int64_t shift_ns = 0; shift_ns < STEP_NS; shift_ns += 34)
      check_jump(packet * STEP_NS + shift_ns);
  for (int64_t shift_ns = 0; shift_ns < 3 * STEP_NS; shift_ns += 34) {
    check_jump(400 * STEP_NS + shift_ns);
    check_jump((2 * PACKETS - 1) * STEP_NS + shift_ns);
  }
  check_jumps(2 * PACKETS);
  damaged_places = 0;
}

static void streams_without_packets_or_files_do_no_harm(void **state) {
  (void)state;
  write_trace(PACKETS);
  write_file("trace/empty", "", 0);
  assert_int_equal(check_jump(INT64_MAX), 3 * PACKETS);
  check_jumps(2 * PACKETS);
  assert_int_equal(unlink(below("trace/empty")), 0);
  assert_int_equal(check_jump(INT64_MAX), 3 * PACKETS);
}

/* ---- places ---- */

static void indexes_of_traces_that_cannot_be_written_go_to_the_cache(void **state) {
  (void)state;
  write_trace(PACKETS);
  write_file("trace/.kymo", "", 0); /* a file in the folder's place: so even root cannot write there */
  assert_int_equal(check_jump(INT64_MAX), 3 * PACKETS);
  assert_int_equal(access(below("cache/kymo"), F_OK), 0);
  check_jumps(2 * PACKETS);
}

static void no_place_for_an_index_is_no_error(void **state) {
  (void)state;
  write_trace(PACKETS);
  write_file("trace/.kymo", "", 0);
  write_file("cache/kymo", "", 0);
  assert_int_equal(check_jump(INT64_MAX), 0);
  check_jumps(2 * PACKETS);
}

static void nothing_is_written_through_symbolic_links(void **state) {
  (void)state;
  write_trace(PACKETS);
  mkdir(below("elsewhere"), 0700);
  assert_int_equal(symlink(below("elsewhere"), below("trace/.kymo")), 0);
  check_jump(INT64_MAX);
  assert_int_equal(rmdir(below("elsewhere")), 0); /* it is empty */
}

/* ---- many packets ---- */

static void long_streams_have_thinner_indexes(void **state) {
  (void)state;
  struct kymo_index index;
  struct kymo_clock clock = {.frequency = 1000000000};
  struct kymo_ns ns;
  kymo_ns_begin(&ns, &clock, 0, false);
  kymo_index_begin(&index, 1000000);
  assert_int_equal(index.limit, KYMO_INDEX_ENTRIES_LEAST);
  for (uint64_t i = 0; i < 1000; i++) {
    kymo_index_add(&index, (struct kymo_position){(uint32_t)(i / 400), i % 400 * 4096}, i * 10);
    kymo_index_add(&index, (struct kymo_position){0, 0}, 0); /* known */
    assert_int_equal(index.packets, i + 1);
    assert_true(index.count <= index.limit && index.count >= (i < 8 ? i : 8));
    for (uint32_t k = 0; k < index.count; k++)
      assert_int_equal(index.entries[k].clock, ((uint64_t)k << index.stride_bits) * 10);
    int64_t time_ns = (int64_t)(i * 5);
    uint32_t entry = kymo_index_find(&index, &ns, time_ns);
    assert_true(entry == 0 || (int64_t)index.entries[entry + 1].clock < time_ns);
    assert_true(entry + 2 >= index.count || (int64_t)index.entries[entry + 2].clock >= time_ns);
  }
  struct kymo_position last = kymo_index_position(&index, index.count - 1);
  assert_int_equal(last.file, 2);
  kymo_index_add(&index, (struct kymo_position){3, 0}, 9989);
  assert_true(index.is_useless);
  kymo_index_free(&index);
}

static void streams_whose_packets_go_back_in_time_are_stepped_over(void **state) {
  (void)state;
  uint64_t count;
  write_file("trace/metadata", metadata, sizeof metadata - 1);
  write_packets("trace/b", 2, 500, 10, 0);
  write_packets("trace/b", 2, 100, 10, 0);
  struct kymo_trace *trace = open_trace();
  assert_int_equal(kymo_trace_goto_time(trace, 506 * STEP_NS, NULL), KYMO_OK);
  while (next_event(trace))
    ;
  assert_int_equal(kymo_trace_goto_time(trace, 600 * STEP_NS, NULL), KYMO_OK);
  assert_null(next_event(trace));
  assert_true(trace->streams[0]->index.is_useless);
  assert_int_equal(kymo_trace_goto_time(trace, 506 * STEP_NS, NULL), KYMO_OK);
  assert_int_equal(next_event(trace)->time_ns, 506 * STEP_NS + 14);
  for (count = 1; next_event(trace); count++)
    ;
  assert_int_equal(count, 5 * EVENTS + 10 * EVENTS);
  kymo_trace_close(trace);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, remove_top)
  const struct CMUnitTest tests[] = {
      TEST(jumps_are_the_same_with_a_kept_index),
      TEST(the_index_grows_as_far_as_it_was_needed),
      TEST(small_traces_have_no_index),
      TEST(ranges_come_from_the_index),
      TEST(damaged_indexes_are_made_anew),
      TEST(wrong_indexes_are_noticed_at_the_packet),
      TEST(other_files_under_the_same_names_have_other_indexes),
      TEST(files_that_have_grown_keep_their_index),
      TEST(damaged_packets_are_in_no_index),
      TEST(streams_without_packets_or_files_do_no_harm),
      TEST(indexes_of_traces_that_cannot_be_written_go_to_the_cache),
      TEST(no_place_for_an_index_is_no_error),
      TEST(nothing_is_written_through_symbolic_links),
      cmocka_unit_test(long_streams_have_thinner_indexes),
      TEST(streams_whose_packets_go_back_in_time_are_stepped_over),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
