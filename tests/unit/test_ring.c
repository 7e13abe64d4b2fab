/* SPDX-License-Identifier: MIT */
/* Looking at pools from beside: untrusted headers, packets copied whole, open, overwritten, damaged. */
#include "ring_memory.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

/* ---- headers ---- */

static void a_sound_pool_is_accepted(void **state) {
  (void)state;
  struct pool_memory m = make_pool();
  assert_int_equal(m.view.packets, T_PACKETS);
  assert_int_equal(m.view.slots, T_SLOTS);
  assert_int_equal(kymo_pool_slots(&m.view), T_SLOTS);
  free_pool(&m);
}

static int check_with(struct pool_memory *m, struct kymo_pool_view *view, struct kymo_error *error) {
  memset(error, 0, sizeof *error);
  int status = kymo_pool_check(view, m->header, m->size, "pool", error);
  if (status)
    assert_true(error->message[0] != 0);
  return status;
}

static void files_of_other_kinds_are_refused_by_name(void **state) {
  (void)state;
  struct pool_memory m = make_pool();
  struct kymo_pool_view view;
  struct kymo_error error;
  m.header->magic = 0x1122334455667788;
  assert_int_equal(check_with(&m, &view, &error), KYMO_E_FORMAT);
  assert_non_null(strstr(error.message, "0x1122334455667788"));
  m.header->magic = __builtin_bswap64(KYMO_POOL_MAGIC);
  assert_int_equal(check_with(&m, &view, &error), KYMO_E_FORMAT);
  assert_non_null(strstr(error.message, "other byte order"));
  m.header->magic = KYMO_POOL_MAGIC;
  m.header->version = 7;
  assert_int_equal(check_with(&m, &view, &error), KYMO_E_FORMAT);
  assert_non_null(strstr(error.message, "found 7"));
  free_pool(&m);
}

static void a_pool_shorter_than_its_header_is_refused(void **state) {
  (void)state;
  struct kymo_pool_header h = sound_header();
  for (size_t size = 0; size < sizeof h; size += 3) {
    void *exact = malloc(size + !size);
    assert_non_null(exact);
    memcpy(exact, &h, size);
    struct kymo_pool_view view;
    assert_int_equal(kymo_pool_check(&view, exact, size, "pool", NULL), KYMO_E_FORMAT);
    free(exact);
  }
}

/* For every accepted view: every ring is inside of the memory, and can be read to its end. */
static void use_everything(const struct pool_memory *m, const struct kymo_pool_view *view) {
  uint8_t *out = malloc(view->packet_size);
  assert_non_null(out);
  for (uint32_t slot = 0; slot < kymo_pool_slots(view); slot++)
    for (uint32_t alternate = 0; alternate < 2; alternate++) {
      struct kymo_ring_view ring = kymo_pool_ring(view, slot, alternate);
      const uint8_t *begin = (const uint8_t *)m->header, *end = begin + m->size;
      assert_true((const uint8_t *)ring.control >= begin && (const uint8_t *)(ring.control + 1) <= end);
      assert_true((const uint8_t *)(ring.packet + ring.packets) <= end);
      assert_true(ring.data >= begin && ring.data + (uint64_t)ring.packets * view->packet_size <= end);
      uint64_t first, last;
      kymo_ring_range(&ring, &first, &last);
      assert_true(last - first <= ring.packets);
      for (uint64_t n = first; n < last; n++) {
        uint32_t bytes;
        if (kymo_ring_copy(&ring, n, out, &bytes) == KYMO_COPY_GONE)
          continue;
        assert_true(bytes >= KYMO_PACKET_HEADER_SIZE && bytes <= view->packet_size && bytes % 8 == 0);
      }
    }
  free(out);
}

/* Every size in the header by every value that breaks arithmetic: refused, or harmless. */
static void untrusted_sizes_are_refused_or_harmless(void **state) {
  (void)state;
  static const uint64_t values[] = {0,
                                    1,
                                    2,
                                    3,
                                    7,
                                    8,
                                    63,
                                    64,
                                    65,
                                    100,
                                    1000,
                                    1023,
                                    1024,
                                    1025,
                                    4095,
                                    4096,
                                    4160,
                                    65535,
                                    65536,
                                    65537,
                                    1u << 20,
                                    (1u << 20) + 1,
                                    1u << 28,
                                    1u << 30,
                                    0x7fffffff,
                                    0x80000000,
                                    0xfffffff8,
                                    0xffffffff,
                                    UINT64_C(1) << 32,
                                    UINT64_C(1) << 40,
                                    UINT64_C(1) << 62,
                                    UINT64_C(1) << 63,
                                    UINT64_MAX - 63,
                                    UINT64_MAX};
  static const struct {
    size_t at, size;
  } fields[] = {
#define FIELD(name) {offsetof(struct kymo_pool_header, name), sizeof(((struct kymo_pool_header *)0)->name)}
      FIELD(header_size), FIELD(slots),   FIELD(slots_used),        FIELD(slot_size), FIELD(control_size),
      FIELD(packet_size), FIELD(packets), FIELD(alternate_packets), FIELD(mode),      FIELD(pid),
  };
  int refused = 0, accepted = 0;
  enum { FIELDS = sizeof fields / sizeof *fields, VALUES = sizeof values / sizeof *values };
  for (int pair = 0; pair < FIELDS * FIELDS; pair++) {
    for (int value = 0; value < VALUES * 3; value++) {
      struct pool_memory m = make_pool();
      struct test_writer w = write_to(&m.view, 0, 0);
      fill_ring(&w, 6, 3);
      for (int i = 0; i < 2; i++) { /* one field, and any two at once */
        int field = i ? pair / FIELDS : pair % FIELDS,
            which = i ? (value * 7 + pair) % VALUES : value % VALUES;
        memcpy((uint8_t *)m.header + fields[field].at, &values[which], fields[field].size);
      }
      struct kymo_pool_view view;
      if (kymo_pool_check(&view, m.header, m.size, "pool", NULL))
        refused++;
      else {
        accepted++;
        use_everything(&m, &view);
      }
      free_pool(&m);
    }
  }
  assert_true(refused > 100 && accepted > 10);
}

static void more_used_slots_than_slots_are_cut_off(void **state) {
  (void)state;
  struct pool_memory m = make_pool();
  m.header->slots_used = UINT32_MAX;
  assert_int_equal(kymo_pool_slots(&m.view), T_SLOTS);
  free_pool(&m);
}

static void truncated_pool_files_are_refused(void **state) {
  (void)state;
  struct pool_memory m = make_pool();
  char directory[4096];
  struct kymo_error error;
  struct kymo_pool_view view;
  uint64_t slot = m.header->slot_size;
  scratch_directory(directory);
  const uint64_t sizes[] = {0,          1,      8,         sizeof *m.header - 1, sizeof *m.header,
                            4095,       4096,   4097,      4096 + slot,          4096 + 2 * slot,
                            m.size - 1, m.size, m.size + 1};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    uint64_t size = sizes[i] < m.size ? sizes[i] : m.size;
    write_file(directory, KYMO_POOL_FILE, m.header, size);
    int status = kymo_pool_open(&view, directory, i % 2, &error);
    assert_int_equal(status, sizes[i] < m.size ? KYMO_E_FORMAT : KYMO_OK);
    if (status)
      assert_non_null(strstr(error.file, KYMO_POOL_FILE));
    kymo_pool_close(&view);
  }
  remove_file(directory, KYMO_POOL_FILE);
  assert_int_equal(kymo_pool_open(&view, directory, false, &error), KYMO_E_SYSTEM);
  char path[4200];
  snprintf(path, sizeof path, "%s/%s", directory, KYMO_POOL_FILE);
  assert_int_equal(mkdir(path, 0700), 0);
  assert_true(kymo_pool_open(&view, directory, false, &error) < 0);
  remove_file(directory, KYMO_POOL_FILE);
  rmdir(directory);
  free_pool(&m);
}

/* ---- packets ---- */

static enum kymo_copy copy(struct test_writer *w, uint64_t number, uint8_t *out, uint32_t *bytes) {
  memset(out, 0x5a, T_PACKET_SIZE);
  return kymo_ring_copy(&w->ring, number, out, bytes);
}

static void a_closed_packet_is_finished_when_it_is_copied(void **state) {
  (void)state;
  struct pool_memory m = make_pool();
  struct test_writer w = write_to(&m.view, 2, 1);
  uint8_t out[T_PACKET_SIZE];
  uint32_t bytes;
  w.ring.control->discarded = 5;
  fill_ring(&w, 1, 2);
  w.ring.control->discarded = 9;
  w.ring.control->discarded_large = 3;
  close_newest(&w);
  assert_int_equal(copy(&w, 0, out, &bytes), KYMO_COPY_OK);
  struct kymo_packet_header h = header_of(out);
  assert_int_equal(h.magic, KYMO_CTF_MAGIC);
  assert_memory_equal(h.uuid, m.header->uuid, 16);
  assert_int_equal(h.stream_instance_id, 5); /* slot 2, the alternate ring */
  assert_int_equal(h.timestamp_begin, 1001);
  assert_int_equal(h.timestamp_end, 1003);
  assert_int_equal(h.content_size,
                   (KYMO_PACKET_HEADER_SIZE + 24 + 21) * 8); /* exact: the last event's last byte */
  assert_int_equal(h.packet_size, (uint64_t)bytes * 8);
  assert_int_equal(bytes, KYMO_PACKET_HEADER_SIZE + 48);
  assert_int_equal(h.packet_seq_num, 1);
  assert_int_equal(h.events_discarded, 9);
  assert_int_equal(h.discarded_large, 3);
  assert_int_equal(h.event_count, 2);
  assert_int_equal(h.tid, 77);
  assert_string_equal(h.thread_name, "writer");
  for (int i = 0; i < 3; i++)
    assert_int_equal(out[KYMO_PACKET_HEADER_SIZE + 45 + i], 0); /* padding is not left-overs */
  assert_int_equal(kymo_ring_discarded_before(&w.ring, &h), 0); /* a stream's count begins at 0 */
  free_pool(&m);
}

static void an_open_packet_is_copied_up_to_its_last_event(void **state) {
  (void)state;
  struct pool_memory m = make_pool();
  struct test_writer w = write_to(&m.view, 0, 0);
  uint8_t out[T_PACKET_SIZE];
  uint32_t bytes;
  fill_ring(&w, 2, 2);
  assert_int_equal(copy(&w, 0, out, &bytes), KYMO_COPY_OK);
  assert_int_equal(copy(&w, 1, out, &bytes), KYMO_COPY_OPEN);
  struct kymo_packet_header h = header_of(out);
  assert_int_equal(h.event_count, 2);
  assert_int_equal(h.first_event, 2);
  assert_int_equal(h.timestamp_end, w.time);
  w.ring.control->discarded = 3; /* since it was opened */
  put_event(&w, 9, 8);
  assert_int_equal(copy(&w, 1, out, &bytes), KYMO_COPY_OPEN);
  assert_int_equal(header_of(out).event_count, 3);
  assert_int_equal(header_of(out).events_discarded, 3);
  free_pool(&m);
}

static void a_packet_that_was_just_opened_ends_when_it_begins(void **state) {
  (void)state;
  struct pool_memory m = make_pool();
  struct test_writer w = write_to(&m.view, 0, 0);
  uint8_t out[T_PACKET_SIZE];
  uint32_t bytes;
  fill_ring(&w, 1, 2);
  close_newest(&w);
  open_next(&w);
  assert_int_equal(copy(&w, 1, out, &bytes), KYMO_COPY_OPEN);
  struct kymo_packet_header h = header_of(out);
  assert_int_equal(bytes, KYMO_PACKET_HEADER_SIZE);
  assert_int_equal(h.event_count, 0);
  assert_int_equal(h.timestamp_end, h.timestamp_begin);
  free_pool(&m);
}

static void packets_that_were_overwritten_are_gone(void **state) {
  (void)state;
  struct pool_memory m = make_pool();
  struct test_writer w = write_to(&m.view, 1, 0);
  uint8_t out[T_PACKET_SIZE];
  uint32_t bytes;
  uint64_t first, end;
  fill_ring(&w, T_PACKETS + 3, 2);
  kymo_ring_range(&w.ring, &first, &end);
  assert_int_equal(first, 3);
  assert_int_equal(end, T_PACKETS + 3);
  for (uint64_t n = 0; n < end + 5; n++)
    assert_int_equal(copy(&w, n, out, &bytes) == KYMO_COPY_GONE, n < first || n >= end);
  assert_int_equal(copy(&w, UINT64_MAX, out, &bytes), KYMO_COPY_GONE);
  free_pool(&m);
}

/* Control entries hold anything: nothing outside the packet is read or written. */
static void untrusted_control_entries_stay_within_the_packet(void **state) {
  (void)state;
  struct pool_memory m = make_pool();
  struct test_writer w = write_to(&m.view, T_SLOTS - 1, 1); /* its last packet ends where the memory ends */
  uint8_t *out = malloc(T_PACKET_SIZE);
  assert_non_null(out);
  fill_ring(&w, T_ALTERNATE, 3);
  uint64_t seed = 1;
  int copied = 0;
  for (int round = 0; round < 20000; round++) {
    for (uint32_t i = 0; i < T_ALTERNATE; i++) {
      struct kymo_packet_control *packet = (struct kymo_packet_control *)(uintptr_t)&w.ring.packet[i];
      seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
      if (round % 2)
        packet->closed = seed >> (seed >> 58);
      else {
        packet->closed = 0;
        w.ring.control->shared.word = seed >> (seed >> 58);
      }
      packet->first_event = seed * 3;
      packet->begin = seed * 5;
      packet->end = seed * 7;
    }
    for (uint64_t n = 0; n < T_ALTERNATE; n++) {
      uint32_t bytes;
      if (kymo_ring_copy(&w.ring, n, out, &bytes) == KYMO_COPY_GONE)
        continue;
      struct kymo_packet_header h = header_of(out);
      assert_true(bytes <= T_PACKET_SIZE && h.packet_size == (uint64_t)bytes * 8 &&
                  h.content_size <= h.packet_size);
      assert_true(h.timestamp_end >= h.timestamp_begin);
      copied++;
    }
  }
  assert_true(copied > 1000);
  free(out);
  free_pool(&m);
}

static void a_range_of_a_untrusted_count_is_no_longer_than_the_ring(void **state) {
  (void)state;
  struct pool_memory m = make_pool();
  struct kymo_ring_view ring = kymo_pool_ring(&m.view, 0, 0);
  const uint64_t counts[] = {0, 1, T_PACKETS, T_PACKETS + 1, UINT64_MAX, UINT64_MAX - 1};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    uint64_t first, end;
    ring.control->opened = counts[i];
    kymo_ring_range(&ring, &first, &end);
    assert_true(first <= end && end - first <= T_PACKETS);
  }
  use_everything(&m, &m.view);
  free_pool(&m);
}

/* Cut after each of its events, a packet has the later ones unchanged, and begins with the first of them. */
static void a_packet_is_cut_in_front_at_any_event(void **state) {
  (void)state;
  enum { EVENTS = 5 };
  struct pool_memory m = make_pool();
  struct test_writer w = write_to(&m.view, 0, 0);
  uint64_t words[EVENTS + 1];
  uint8_t whole[T_PACKET_SIZE], cut[T_PACKET_SIZE];
  uint32_t bytes, left;
  w.events = 1000;
  open_next(&w);
  words[0] = w.ring.control->shared.word;
  for (uint32_t i = 0; i < EVENTS; i++) {
    put_event(&w, (uint8_t)(i + 1), 16 + 5 * i); /* the last one ends between boundaries */
    words[i + 1] = w.ring.control->shared.word;
  }
  assert_int_equal(kymo_ring_copy(&w.ring, 0, whole, &bytes), KYMO_COPY_OPEN);
  for (uint32_t i = 0; i <= EVENTS; i++) {
    memcpy(cut, whole, sizeof cut);
    left = bytes;
    kymo_ring_cut_front(cut, words[i], &left);
    struct kymo_packet_header before = header_of(whole), h = header_of(cut);
    uint32_t gone = ((uint32_t)(uint16_t)words[i] + 7) / 8 * 8 - KYMO_PACKET_HEADER_SIZE;
    if (i == EVENTS)
      gone = (uint32_t)(before.content_size / 8) - KYMO_PACKET_HEADER_SIZE;
    assert_int_equal(h.first_event, 1000 + i);
    assert_int_equal(h.event_count, EVENTS - i);
    assert_int_equal(h.content_size / 8, before.content_size / 8 - gone);
    assert_int_equal(h.packet_size / 8, left);
    assert_memory_equal(cut + KYMO_PACKET_HEADER_SIZE, whole + KYMO_PACKET_HEADER_SIZE + gone,
                        h.content_size / 8 - KYMO_PACKET_HEADER_SIZE);
    uint64_t stamp = UINT64_C(0x010101010101) * (i + 1); /* the 48 bits of the event's header */
    if (i == EVENTS)
      assert_int_equal(h.timestamp_begin, h.timestamp_end);
    else if (i)
      assert_int_equal(h.timestamp_begin & 0xffffffffffff, stamp);
  }
  memcpy(cut, whole, sizeof cut);
  left = bytes;
  kymo_ring_cut_front(cut, UINT64_MAX, &left); /* no word of this packet's: nothing changes */
  assert_memory_equal(cut, whole, bytes);
  free_pool(&m);
}

static void an_empty_packet_carries_place_and_losses(void **state) {
  (void)state;
  struct kymo_packet_header like = {.magic = KYMO_CTF_MAGIC,
                                    .stream_instance_id = 3,
                                    .event_count = 7,
                                    .tid = 9},
                            h;
  uint8_t out[KYMO_PACKET_HEADER_SIZE];
  kymo_ring_empty(out, &like, 41, 1234, 17);
  h = header_of(out);
  assert_int_equal(h.content_size, KYMO_PACKET_HEADER_SIZE * 8);
  assert_int_equal(h.packet_size, KYMO_PACKET_HEADER_SIZE * 8);
  assert_int_equal(h.timestamp_begin, 1234);
  assert_int_equal(h.timestamp_end, 1234);
  assert_int_equal(h.packet_seq_num, 41);
  assert_int_equal(h.events_discarded, 17);
  assert_int_equal(h.event_count, 0);
  assert_int_equal(h.stream_instance_id, 3);
}

/* ---- a copy while the writer overwrites ---- */

enum { RACE_PACKETS = 30000, RACE_EVENTS = 20 };

static void *race(void *writer) {
  struct test_writer *w = writer;
  fill_ring(w, RACE_PACKETS, RACE_EVENTS);
  return NULL;
}

/* Every copy that was accepted holds the events of one packet, whole. */
static void copies_made_while_overwritten_are_whole_or_refused(void **state) {
  (void)state;
  struct pool_memory m = make_pool();
  struct test_writer w = write_to(&m.view, 0, 0);
  struct kymo_ring_view ring = kymo_pool_ring(&m.view, 0, 0);
  pthread_t thread;
  uint8_t out[T_PACKET_SIZE];
  uint64_t first = 0, end = 0, copied = 0, gone = 0, open = 0;
  assert_int_equal(pthread_create(&thread, NULL, race, &w), 0);
  while (end < RACE_PACKETS) {
    kymo_ring_range(&ring, &first, &end);
    for (uint64_t n = first; n < end; n++) {
      uint32_t bytes;
      enum kymo_copy result = kymo_ring_copy(&ring, n, out, &bytes);
      if (result == KYMO_COPY_GONE) {
        gone++;
        continue;
      }
      struct kymo_packet_header h = header_of(out);
      copied++;
      open += result == KYMO_COPY_OPEN;
      if (h.packet_seq_num != n + 1 || h.first_event != n * RACE_EVENTS || h.event_count > RACE_EVENTS ||
          (result == KYMO_COPY_OK && h.event_count != RACE_EVENTS) || h.timestamp_end < h.timestamp_begin)
        fail_msg("packet %llu: header of another one", (unsigned long long)n);
      if (h.event_count && h.content_size != (KYMO_PACKET_HEADER_SIZE + (h.event_count - 1) * 24u + 21u) * 8u)
        fail_msg("packet %llu: %u events in %llu bits", (unsigned long long)n, h.event_count,
                 (unsigned long long)h.content_size);
      for (uint32_t e = 0; e < h.event_count; e++)
        for (uint32_t i = 0; i < 21; i++)
          if (out[KYMO_PACKET_HEADER_SIZE + e * 24 + i] != (uint8_t)(h.first_event + e + 1))
            fail_msg("packet %llu, event %u: torn", (unsigned long long)n, e);
    }
  }
  pthread_join(thread, NULL);
  print_message("# %llu copied, %llu of them open, %llu gone\n", (unsigned long long)copied,
                (unsigned long long)open, (unsigned long long)gone);
  assert_true(copied > 0);
  free_pool(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_sound_pool_is_accepted),
      cmocka_unit_test(files_of_other_kinds_are_refused_by_name),
      cmocka_unit_test(a_pool_shorter_than_its_header_is_refused),
      cmocka_unit_test(untrusted_sizes_are_refused_or_harmless),
      cmocka_unit_test(more_used_slots_than_slots_are_cut_off),
      cmocka_unit_test(truncated_pool_files_are_refused),
      cmocka_unit_test(a_closed_packet_is_finished_when_it_is_copied),
      cmocka_unit_test(an_open_packet_is_copied_up_to_its_last_event),
      cmocka_unit_test(a_packet_that_was_just_opened_ends_when_it_begins),
      cmocka_unit_test(packets_that_were_overwritten_are_gone),
      cmocka_unit_test(untrusted_control_entries_stay_within_the_packet),
      cmocka_unit_test(a_range_of_a_untrusted_count_is_no_longer_than_the_ring),
      cmocka_unit_test(a_packet_is_cut_in_front_at_any_event),
      cmocka_unit_test(an_empty_packet_carries_place_and_losses),
      cmocka_unit_test(copies_made_while_overwritten_are_whole_or_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
