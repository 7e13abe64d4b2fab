/* SPDX-License-Identifier: MIT */
/* Reading the rings of a process that continues to record, and describing new classes. */
#include "ring_memory.h"
#include <fcntl.h>
#include <kymo/read.h>
#include <sys/mman.h>

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define HOST_ORDER "le"
#else
#define HOST_ORDER "be"
#endif

/* Events of `value` 1 are described: 16 bytes, of which id 0x0101; those of `value` 2 later. */
static const char metadata[] =
    "/* CTF 1.8 */\n"
    "typealias integer { size = 8; align = 8; signed = false; } := u8;\n"
    "typealias integer { size = 16; align = 8; signed = false; } := u16;\n"
    "typealias integer { size = 32; align = 8; signed = false; } := u32;\n"
    "typealias integer { size = 64; align = 8; signed = false; } := u64;\n"
    "trace { major = 1; minor = 8; byte_order = " HOST_ORDER
    "; uuid = \"00112233-4455-6677-8899-aabbccddeeff\";\n"
    "  packet.header := struct { u32 magic; u8 uuid[16]; u32 stream_id; u64 stream_instance_id; }; };\n"
    "clock { name = c; freq = 1000000000; };\n"
    "typealias integer { size = 48; align = 8; signed = false; map = clock.c.value; } := t48;\n"
    "typealias integer { size = 64; align = 8; signed = false; map = clock.c.value; } := t64;\n"
    "stream { id = 0; event.header := struct { u16 id; t48 timestamp; } align(64);\n"
    "  packet.context := struct { t64 timestamp_begin; t64 timestamp_end; u64 content_size; u64 "
    "packet_size;\n"
    "    u64 packet_seq_num; u64 events_discarded; u64 first_event; u32 event_count; u32 large; u32 nested; "
    "u32 tid;\n"
    "    u8 name[16]; }; };\n"
    "event { id = 0x0101; name = early; stream_id = 0; fields := struct { u64 v; }; };\n";

static const char late_metadata[] =
    "event { id = 0x0202; name = late; stream_id = 0; fields := struct { u64 v; }; };\n";

/* A pool file that this process writes to, and its metadata. */
struct live {
  char directory[4096];
  void *map;
  size_t size;
  struct kymo_pool_view view;
};

static void begin_live(struct live *live) {
  struct pool_memory m = make_pool();
  char path[8400];
  scratch_directory(live->directory);
  write_file(live->directory, KYMO_POOL_FILE, m.header, m.size);
  write_file(live->directory, KYMO_POOL_METADATA, metadata, sizeof metadata - 1);
  snprintf(path, sizeof path, "%s/%s", live->directory, KYMO_POOL_FILE);
  int fd = open(path, O_RDWR);
  assert_true(fd >= 0);
  live->size = m.size;
  live->map = mmap(NULL, m.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  assert_true(live->map != MAP_FAILED);
  close(fd);
  assert_int_equal(kymo_pool_check(&live->view, live->map, m.size, "pool", NULL), KYMO_OK);
  free_pool(&m);
}

static void end_live(struct live *live) {
  munmap(live->map, live->size);
  remove_file(live->directory, KYMO_POOL_FILE);
  remove_file(live->directory, KYMO_POOL_METADATA);
  assert_int_equal(rmdir(live->directory), 0);
}

static struct kymo_trace *open_live(const struct live *live) {
  const char *path = live->directory;
  struct kymo_error error = {0};
  struct kymo_trace *trace;
  if (kymo_trace_open(&trace, &path, 1, NULL, &error) != KYMO_OK)
    fail_msg("%s", error.message);
  return trace;
}

/* How many events of this name there are. */
static unsigned count(struct kymo_trace *trace, const char *name) {
  const struct kymo_event *event;
  unsigned events = 0;
  while (kymo_trace_next(trace, &event, NULL) == KYMO_OK)
    events += strcmp(event->class_->name, name) == 0;
  if (kymo_trace_damage_count(trace))
    fail_msg("%s", kymo_trace_damage(trace, 0)->message);
  return events;
}

static void describe_late(const struct live *live) {
  char both[sizeof metadata + sizeof late_metadata];
  int length = snprintf(both, sizeof both, "%s%s", metadata, late_metadata);
  write_file(live->directory, KYMO_POOL_METADATA, both, (size_t)length);
}

static void late(struct test_writer *w) {
  put_event(w, 2, 16); /* its class is not described yet, for the reader */
}

static void nothing_is_read_that_came_after_the_description(void **state) {
  (void)state;
  struct live live;
  begin_live(&live);
  struct test_writer main_ring = write_to(&live.view, 0, 0), alternate = write_to(&live.view, 0, 1);
  struct test_writer other = write_to(&live.view, 1, 0), newer = write_to(&live.view, 2, 0);
  struct test_writer *used[] = {&main_ring, &alternate, &other, &newer};
  open_next(&main_ring);
  put_event(&main_ring, 1, 16);
  close_newest(&main_ring);
  open_next(&main_ring);
  put_event(&main_ring, 1, 16);
  put_event(&main_ring, 1, 16);
  open_next(&alternate);
  put_event(&alternate, 1, 16);
  close_newest(&alternate);
  open_next(&other); /* and nothing in it */
  struct kymo_trace *trace = open_live(&live);
  describe_late(&live);
  late(&main_ring);
  late(&other);
  close_newest(&main_ring);
  open_next(&alternate);
  open_next(&newer);
  for (unsigned i = 1; i < 4; i++)
    late(used[i]);
  assert_int_equal(count(trace, "early"), 4);
  kymo_trace_close(trace);
  trace = open_live(&live); /* now they are there */
  assert_int_equal(count(trace, "late"), 5);
  kymo_trace_close(trace);
  end_live(&live);
}

/* What a live process overwrites faster than it is read would else leave nothing to read. */
static void what_comes_after_opening_is_read_if_its_classes_are_known(void **state) {
  (void)state;
  struct live live;
  begin_live(&live);
  struct test_writer ring = write_to(&live.view, 0, 0);
  open_next(&ring);
  put_event(&ring, 1, 16);
  struct kymo_trace *trace = open_live(&live);
  for (uint32_t i = 0; i <= live.view.packets; i++) { /* all the way around */
    close_newest(&ring);
    open_next(&ring);
    put_event(&ring, 1, 16);
  }
  assert_int_equal(count(trace, "early"), live.view.packets);
  kymo_trace_close(trace);
  end_live(&live);
}

static void a_packet_that_is_cut_tells_how_many_events_are_left(void **state) {
  (void)state;
  struct pool_memory m = make_pool();
  struct test_writer w = write_to(&m.view, 0, 0);
  uint8_t out[T_PACKET_SIZE];
  uint32_t bytes;
  fill_ring(&w, 2, 2); /* of 21 bytes, on boundaries of 8 */
  uint64_t word = kymo_ring_word(&w.ring, 1);
  put_event(&w, 7, 21);
  assert_int_equal(kymo_ring_copy(&w.ring, 1, out, &bytes), KYMO_COPY_OPEN);
  assert_int_equal(header_of(out).event_count, 3);
  kymo_ring_cut(out, word, &bytes);
  struct kymo_packet_header h = header_of(out);
  assert_int_equal(h.event_count, 2);
  assert_int_equal(h.content_size, (KYMO_PACKET_HEADER_SIZE + 24 + 21) * 8);
  assert_int_equal(h.packet_size, (uint64_t)bytes * 8);
  assert_int_equal(bytes, KYMO_PACKET_HEADER_SIZE + 48);
  for (int i = 0; i < 3; i++)
    assert_int_equal(out[KYMO_PACKET_HEADER_SIZE + 45 + i], 0);
  kymo_ring_cut(out, word, &bytes); /* nothing is left to take */
  kymo_ring_cut(out, 5, &bytes);    /* an untrusted word */
  assert_int_equal(header_of(out).event_count, 2);
  close_newest(&w);
  assert_int_equal(kymo_ring_word(&w.ring, 1), word_of(5, KYMO_PACKET_HEADER_SIZE + 48 + 21));
  free_pool(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_is_read_that_came_after_the_description),
      cmocka_unit_test(what_comes_after_opening_is_read_if_its_classes_are_known),
      cmocka_unit_test(a_packet_that_is_cut_tells_how_many_events_are_left),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
