/* SPDX-License-Identifier: MIT */
/* Files and packets that are larger than 32 bits can count, or than a 32-bit machine maps at a time. The
 * files have holes, so they take no space. */
#include "folder.h"
#include "read_memory.h"
#include <fcntl.h>
#include <inttypes.h>
#include <sys/mman.h>

#define GIB4 (UINT64_C(1) << 32)

static const char head_text[] =
    "/* CTF 1.8 */\n"
    "typealias integer { size = 8; align = 8; signed = false; } := u8;\n"
    "typealias integer { size = 32; align = 8; signed = false; } := u32;\n"
    "typealias integer { size = 64; align = 8; signed = false; } := u64;\n"
    "trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; }; };\n"
    "clock { name = c; freq = 1000000000; };\n"
    "typealias integer { size = 64; align = 8; signed = false; map = clock.c.value; } := t64;\n";

static const char sized_text[] =
    "stream { event.header := struct { t64 timestamp; };\n"
    "  packet.context := struct { t64 timestamp_begin; t64 timestamp_end; u64 content_size; u64 packet_size; "
    "}; };\n"
    "event { name = e; fields := struct { u32 v; u8 room[84]; }; };\n";

static const char unsized_text[] =
    "stream { event.header := struct { t64 timestamp; }; packet.context := struct { t64 timestamp_begin; }; "
    "};\n"
    "event { name = e; fields := struct { u32 v; u8 room[65524]; }; };\n";

static void write_metadata(const char *text) {
  char whole[2048];
  int size = snprintf(whole, sizeof whole, "%s%s", head_text, text);
  write_file("trace/metadata", whole, (size_t)size);
}

static void write_at(int fd, uint64_t offset, const struct packet_bytes *bytes) {
  assert_int_equal(pwrite(fd, bytes->bytes, (size_t)(bytes->bits / 8), (off_t)offset), bytes->bits / 8);
}

static int create(uint64_t size) {
  int fd = open(below("trace/stream"), O_WRONLY | O_CREAT, 0600);
  assert_true(fd >= 0);
  assert_int_equal(ftruncate(fd, (off_t)size), 0);
  return fd;
}

static struct kymo_trace *open_trace(void) {
  struct kymo_trace *trace;
  struct kymo_error error = {0};
  const char *path = below("trace");
  if (kymo_trace_open(&trace, &path, 1, NULL, &error) != KYMO_OK)
    fail_msg("%s: %s", path, error.message);
  return trace;
}

static uint64_t value_of(struct kymo_trace *trace, const struct kymo_event *event) {
  uint64_t value = UINT64_MAX;
  assert_non_null(event);
  assert_int_equal(kymo_event_get_uint(event, kymo_field_id(trace, event->class_, "v"), &value), KYMO_OK);
  return value;
}

/* ---- across 4 GiB ---- */

#define HEAD_BYTES 36
#define EVENT_BYTES 96

/* A packet of `count` events at begin, begin + 1 … whose values are their times. */
static void write_packet(int fd, uint64_t offset, uint64_t size_bytes, uint64_t begin, unsigned count) {
  struct packet_bytes head = {.bits = 0};
  put_le(&head, 0xc1fc1fc1, 32);
  put_le(&head, begin, 64);
  put_le(&head, begin + count, 64);
  put_le(&head, (HEAD_BYTES + (uint64_t)count * EVENT_BYTES) * 8, 64);
  put_le(&head, size_bytes * 8, 64);
  write_at(fd, offset, &head);
  for (unsigned i = 0; i < count; i++) {
    struct packet_bytes event = {.bits = 0};
    put_le(&event, begin + i, 64);
    put_le(&event, begin + i, 32);
    write_at(fd, offset + HEAD_BYTES + i * EVENT_BYTES, &event);
  }
}

static const struct {
  uint64_t offset, size, begin;
  unsigned count;
} packets[] = {
    {0, GIB4 - 4096, 100, 3},        /* nearly all of it is padding */
    {GIB4 - 4096, 65536, 1000, 600}, /* begins before 4 GiB and ends after */
    {GIB4 + 61440, 4096, 2000, 5},   /* after */
};
#define PACKETS (sizeof packets / sizeof *packets)

static void write_far_packets(void) {
  write_metadata(sized_text);
  int fd = create(GIB4 + 65536);
  for (size_t i = 0; i < PACKETS; i++)
    write_packet(fd, packets[i].offset, packets[i].size, packets[i].begin, packets[i].count);
  close(fd);
}

/* The events from a time on. */
static void check_from(struct kymo_trace *trace, uint64_t time) {
  for (size_t i = 0; i < PACKETS; i++)
    for (unsigned k = 0; k < packets[i].count; k++) {
      if (packets[i].begin + k < time)
        continue;
      const struct kymo_event *event = next_event(trace);
      assert_int_equal(value_of(trace, event), packets[i].begin + k);
      assert_int_equal(event->packet->offset, packets[i].offset);
    }
  assert_null(next_event(trace));
  assert_int_equal(kymo_trace_damage_count(trace), 0);
}

/* Emulators of 32-bit machines before qemu 8.1 forget the upper half of where a mapping begins. */
static bool maps_behind_four_gib(void) {
  uint8_t read[16], *mapped;
  int fd = open(below("trace/stream"), O_RDONLY);
  assert_int_equal(pread(fd, read, sizeof read, (off_t)packets[2].offset), sizeof read);
  uint64_t page = packets[2].offset & ~(uint64_t)65535;
  mapped = mmap(NULL, 1 << 17, PROT_READ, MAP_PRIVATE, fd, (off_t)page);
  close(fd);
  if (mapped == MAP_FAILED)
    return false;
  bool is_same = memcmp(mapped + (packets[2].offset - page), read, sizeof read) == 0;
  munmap(mapped, 1 << 17);
  return is_same;
}

static void packets_lie_across_and_behind_four_gib(void **state) {
  (void)state;
  write_far_packets();
  if (!maps_behind_four_gib())
    skip();
  struct kymo_trace *trace = open_trace();
  struct kymo_stream_info info;
  int64_t begin_ns, end_ns;
  check_from(trace, 0);
  assert_int_equal(kymo_trace_range(trace, &begin_ns, &end_ns, NULL), KYMO_OK);
  assert_int_equal(begin_ns, 100);
  assert_int_equal(end_ns, 2005);
  assert_int_equal(
      kymo_stream_describe(trace, kymo_part_stream(trace, kymo_trace_part(trace, 0), 0), &info, NULL),
      KYMO_OK);
  assert_int_equal(info.packets, PACKETS);
  assert_true(info.bytes == GIB4 + 65536);
  static const uint64_t times[] = {2003, 1599, 1000, 1042, 101, 2004, 0};
  for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
    assert_int_equal(kymo_trace_goto_time(trace, (int64_t)times[i], NULL), KYMO_OK);
    check_from(trace, times[i]);
  }
  kymo_trace_close(trace);
}

/* ---- by numbers ---- */

#define FAR_PACKETS 3072
#define FAR_BYTES (UINT64_C(4) << 20) /* of each packet: 12 GiB together, most of it padding */

/* Events of a packet: not the same everywhere. Values count from 1 over the whole trace. */
static unsigned far_events(uint64_t packet) { return 1 + (unsigned)(packet * 7 % 16); }

static uint64_t write_far_trace(void) {
  uint64_t count = 0;
  write_metadata(sized_text);
  int fd = create(FAR_PACKETS * FAR_BYTES);
  for (uint64_t i = 0; i < FAR_PACKETS; i++) {
    write_packet(fd, i * FAR_BYTES, FAR_BYTES, count + 1, far_events(i));
    count += far_events(i);
  }
  close(fd);
  return count;
}

static void check_record(struct kymo_trace *trace, const struct kymo_event *event, uint64_t number) {
  assert_int_equal(value_of(trace, event), number);
  assert_int_equal(event->number, number);
}

static void records_are_reached_by_number_in_twelve_gib(void **state) {
  (void)state;
  uint64_t count = write_far_trace(), counted = 0;
  if (sizeof(void *) < 8) /* windows of it would all be mapped in turn; and see maps_behind_four_gib */
    skip();
  struct kymo_trace *trace = open_trace();
  const struct kymo_event *event;
  assert_int_equal(kymo_trace_goto_event(trace, count, &event, NULL), KYMO_OK);
  check_record(trace, event, count);
  for (uint64_t number = count - 1; number > count - 2000; number--) {
    assert_int_equal(kymo_trace_previous(trace, &event, NULL), KYMO_OK);
    check_record(trace, event, number);
  }
  for (uint64_t i = 0; i < 60; i++) {
    uint64_t number = 1 + i * 48271 % count;
    assert_int_equal(kymo_trace_goto_event(trace, number, &event, NULL), KYMO_OK);
    check_record(trace, event, number);
  }
  assert_int_equal(kymo_trace_goto_time(trace, (int64_t)count - 5, NULL), KYMO_OK);
  event = next_event(trace);
  assert_int_equal(value_of(trace, event), count - 5);
  assert_int_equal(kymo_trace_previous(trace, &event, NULL), KYMO_OK);
  assert_int_equal(value_of(trace, event), count - 6);
  assert_int_equal(kymo_trace_get_number(trace, event, &counted, NULL), KYMO_OK);
  assert_int_equal(counted, count - 6);
  assert_int_equal(kymo_trace_count_events(trace, &counted, NULL), KYMO_OK);
  assert_int_equal(counted, count);
  assert_int_equal(kymo_trace_goto_event(trace, count + 1, &event, NULL), KYMO_END);
  kymo_trace_close(trace);
}

static void damage_behind_four_gib_is_told_at_its_byte(void **state) {
  (void)state;
  struct packet_bytes wrong = {.bits = 0};
  write_far_packets();
  int fd = open(below("trace/stream"), O_WRONLY);
  put_le(&wrong, 0xdeadbeef, 32);
  write_at(fd, packets[2].offset, &wrong);
  close(fd);
  struct kymo_trace *trace = open_trace();
  kymo_trace_goto_time(trace, 1500, NULL);
  for (uint64_t i = 1500; i < 1600; i++)
    assert_int_equal(value_of(trace, next_event(trace)), i);
  assert_null(next_event(trace));
  assert_int_equal(kymo_trace_damage_count(trace), 1);
  assert_true(kymo_trace_damage(trace, 0)->offset == packets[2].offset);
  assert_string_equal(kymo_trace_damage(trace, 0)->message,
                      "packet magic number: expected 0xc1fc1fc1, found 0xdeadbeef");
  kymo_trace_close(trace);
}

/* ---- one packet ---- */

#define ROOMY_BYTES 65536
#define ROOMY_HEAD 12
#define ROOMY_EVENTS 640 /* 40 MiB, more than a window */

static void check_roomy(struct kymo_trace *trace, uint64_t first) {
  for (uint64_t i = first; i < ROOMY_EVENTS; i++)
    assert_int_equal(value_of(trace, next_event(trace)), i);
  assert_null(next_event(trace));
}

static int write_roomy(uint64_t more_bytes) {
  struct packet_bytes head = {.bits = 0};
  write_metadata(unsized_text);
  int fd = create(ROOMY_HEAD + (uint64_t)ROOMY_EVENTS * ROOMY_BYTES + more_bytes);
  put_le(&head, 0xc1fc1fc1, 32);
  put_le(&head, 10, 64);
  write_at(fd, 0, &head);
  for (uint64_t i = 0; i < ROOMY_EVENTS; i++) {
    struct packet_bytes event = {.bits = 0};
    put_le(&event, 10 + i * 10, 64);
    put_le(&event, i, 32);
    write_at(fd, ROOMY_HEAD + i * ROOMY_BYTES, &event);
  }
  return fd;
}

static void packets_of_unknown_size_are_the_whole_file(void **state) {
  (void)state;
  int64_t begin_ns, end_ns;
  close(write_roomy(0));
  struct kymo_trace *trace = open_trace();
  check_roomy(trace, 0);
  assert_int_equal(kymo_trace_range(trace, &begin_ns, &end_ns, NULL), KYMO_OK);
  assert_int_equal(begin_ns, 10);
  assert_int_equal(end_ns, ROOMY_EVENTS * 10);
  kymo_trace_goto_time(trace, 5005, NULL);
  check_roomy(trace, 500);
  kymo_trace_goto_time(trace, 31, NULL);
  check_roomy(trace, 3);
  assert_int_equal(kymo_trace_damage_count(trace), 0);
  kymo_trace_close(trace);
}

static void events_cut_at_the_end_of_a_large_packet_are_told(void **state) {
  (void)state;
  close(write_roomy(100));
  struct kymo_trace *trace = open_trace();
  check_roomy(trace, 0);
  assert_int_equal(kymo_trace_damage_count(trace), 1);
  const struct kymo_damage *damage = kymo_trace_damage(trace, 0);
  assert_true(damage->offset >= ROOMY_HEAD + ROOMY_EVENTS * ROOMY_BYTES);
  assert_int_equal(damage->bytes_lost, 100);
  kymo_trace_close(trace);
}

/* ---- heads ---- */

static const char long_head_text[] =
    "stream { event.header := struct { t64 timestamp; };\n"
    "  packet.context := struct { u8 room[3000]; t64 timestamp_begin; u64 packet_size; }; };\n"
    "event { name = e; fields := struct { u32 v; }; };\n";

/* More than is read at a glance. */
static void packets_may_have_long_heads(void **state) {
  (void)state;
  int64_t begin_ns, end_ns;
  write_metadata(long_head_text);
  int fd = create(20 * 8192);
  for (uint64_t i = 0; i < 20; i++) {
    struct packet_bytes packet = {.bits = 0};
    put_le(&packet, 0xc1fc1fc1, 32);
    packet.bits += 3000 * 8;
    put_le(&packet, i * 100, 64);
    put_le(&packet, 8192 * 8, 64);
    put_le(&packet, i * 100 + 10, 64);
    put_le(&packet, i, 32);
    write_at(fd, i * 8192, &packet);
  }
  close(fd);
  struct kymo_trace *trace = open_trace();
  struct kymo_stream_info info;
  assert_int_equal(
      kymo_stream_describe(trace, kymo_part_stream(trace, kymo_trace_part(trace, 0), 0), &info, NULL),
      KYMO_OK);
  assert_int_equal(info.packets, 20);
  assert_int_equal(kymo_trace_range(trace, &begin_ns, &end_ns, NULL), KYMO_OK);
  assert_int_equal(begin_ns, 0);
  kymo_trace_goto_time(trace, 1700, NULL);
  assert_int_equal(value_of(trace, next_event(trace)), 17);
  kymo_trace_close(trace);
}

/* A packet of one event in a file of its own; its stream is named after `room` bytes. */
static void write_after_room(const char *path, uint64_t room, uint64_t begin) {
  static const uint8_t zeros[1024];
  struct packet_bytes packet = {.bits = 0};
  int fd = open(below(path), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  assert_true(fd >= 0);
  put_le(&packet, 0xc1fc1fc1, 32);
  write_at(fd, 0, &packet);
  assert_int_equal(pwrite(fd, zeros, room, 4), room);
  packet.bits = 0;
  put_le(&packet, 7, 64);
  put_le(&packet, begin, 64);
  put_le(&packet, begin, 64);
  put_le(&packet, begin, 32);
  write_at(fd, 4 + room, &packet);
  close(fd);
}

/* 512 bytes are read of each file at first. */
static void long_heads_name_the_stream_of_a_file(void **state) {
  (void)state;
  static const uint64_t rooms[] = {0, 492, 493, 500, 508, 600};
  for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
    char text[2048];
    const char *header = strstr(head_text, "trace {");
    int size = snprintf(text, sizeof text,
                        "%.*strace { major = 1; minor = 8; byte_order = le;\n"
                        "  packet.header := struct { u32 magic; u8 room[%" PRIu64
                        "]; u64 stream_instance_id; }; };\n"
                        "%s"
                        "stream { event.header := struct { t64 timestamp; };\n"
                        "  packet.context := struct { t64 timestamp_begin; }; };\n"
                        "event { name = e; fields := struct { u32 v; }; };\n",
                        (int)(header - head_text), head_text, rooms[i], strchr(header, '\n') + 1);
    write_file("trace/metadata", text, (size_t)size);
    write_after_room("trace/later", rooms[i], 20);
    write_after_room("trace/sooner", rooms[i], 10);
    struct kymo_trace *trace = open_trace();
    assert_int_equal(kymo_trace_part(trace, 0)->stream_count, 1);
    assert_int_equal(value_of(trace, next_event(trace)), 10);
    assert_int_equal(value_of(trace, next_event(trace)), 20);
    assert_int_equal(kymo_trace_damage_count(trace), 0);
    kymo_trace_close(trace);
  }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_top, remove_top)
  const struct CMUnitTest tests[] = {
      TEST(packets_lie_across_and_behind_four_gib),
      TEST(records_are_reached_by_number_in_twelve_gib),
      TEST(damage_behind_four_gib_is_told_at_its_byte),
      TEST(packets_of_unknown_size_are_the_whole_file),
      TEST(packets_may_have_long_heads),
      TEST(long_heads_name_the_stream_of_a_file),
      TEST(events_cut_at_the_end_of_a_large_packet_are_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
