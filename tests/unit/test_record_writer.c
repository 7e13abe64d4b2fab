/* SPDX-License-Identifier: MIT */
/* The writer's slow path from within: packets closed by others' poison, threads that come and go, copies
 * meanwhile. */
#include "ring_memory.h"

#if defined(__x86_64__) || defined(__aarch64__)

#include "record/session.h"
#include "ring/pools.h"
#include <pthread.h>
#include <sched.h>

static char scratch[4096];

static int start_recording(void **state) {
  (void)state;
  scratch_directory(scratch);
  kymo_session_init();
  kymo_session_.options.rings = scratch;
  kymo_session_.options.out = scratch;
  kymo_session_.options.save_at_exit = false;
  kymo_session_.options.mode = KYMO_MODE_OVERWRITE;
  kymo_session_.options.buffer_bytes = 1 << 17;
  assert_true(kymo_tracepoint_enable("*") > 0);
  return 0;
}

static int stop_recording(void **state) {
  (void)state;
  if (kymo_pool_is_ours())
    kymo_pool_delete(kymo_session_.pool.directory);
  remove_file(scratch, "kymo/clock");
  rmdir(scratch);
  return 0;
}

static struct kymo_pool_view own_pool(void) {
  struct kymo_pool_view view;
  assert_int_equal(kymo_pool_check(&view, kymo_session_.pool.header, kymo_session_.pool.size, "own", NULL),
                   KYMO_OK);
  return view;
}

enum { EVENT_SIZE = 8 + 8, POISONED = 300 };
static uint64_t recorded, poisoned;
static bool done;

static void *record_sequence(void *unused) {
  for (uint64_t seq = 0; seq < 100000 || __atomic_load_n(&poisoned, __ATOMIC_RELAXED) < POISONED; seq++) {
    KYMO(writer, sequence, seq);
    __atomic_store_n(&recorded, seq + 1, __ATOMIC_RELEASE);
  }
  __atomic_store_n(&done, true, __ATOMIC_RELEASE);
  return unused;
}

/* Events of a copied packet are `first_event` … in order. */
static void check_sequence(const uint8_t *packet) {
  struct kymo_packet_header h = header_of(packet);
  for (uint32_t e = 0; e < h.event_count; e++) {
    uint64_t seq;
    memcpy(&seq, packet + KYMO_PACKET_HEADER_SIZE + e * EVENT_SIZE + 8, sizeof seq);
    if (seq != h.first_event + e)
      fail_msg("packet %llu: event %u is %llu", (unsigned long long)h.packet_seq_num, e,
               (unsigned long long)seq);
  }
  if (h.event_count && h.content_size != (KYMO_PACKET_HEADER_SIZE + h.event_count * EVENT_SIZE) * 8u)
    fail_msg("packet %llu: wrong size", (unsigned long long)h.packet_seq_num);
}

/* The packets that are there now; `quiet`: no thread writes, so they are all of the last ones. */
static void check_ring(bool quiet) {
  struct kymo_pool_view view = own_pool();
  struct kymo_ring_view ring = kymo_pool_ring(&view, 0, 0);
  uint8_t *out = malloc(view.packet_size);
  uint64_t first, end, copied = 0, expected = 0;
  assert_non_null(out);
  kymo_ring_range(&ring, &first, &end);
  for (uint64_t n = first; n < end; n++) {
    uint32_t bytes;
    if (kymo_ring_copy(&ring, n, out, &bytes) == KYMO_COPY_GONE)
      continue;
    struct kymo_packet_header h = header_of(out);
    check_sequence(out);
    if (quiet && copied && h.first_event != expected)
      fail_msg("packet %llu begins at event %llu", (unsigned long long)n, (unsigned long long)h.first_event);
    expected = h.first_event + h.event_count;
    copied++;
  }
  free(out);
  if (quiet)
    assert_int_equal(expected, recorded);
}

/* Another thread may end an open packet only by poison; the owner closes it: no event is lost, doubled or
 * torn. */
static void pitfall_1_packets_poisoned_by_others_are_closed_by_their_owner(void **state) {
  (void)state;
  pthread_t thread;
  uint64_t last = 0;
  if (!kymo_session_.pool.header)
    skip(); /* no pool on this machine (emulators) */
  done = false;
  assert_int_equal(pthread_create(&thread, NULL, record_sequence, NULL), 0);
  while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) {
    uint64_t seen = __atomic_load_n(&recorded, __ATOMIC_ACQUIRE);
    bool has_moved =
        seen > last; /* there is a packet to poison, and the owner has closed the packets that were
                      * poisoned before */
    last = seen;
    if (has_moved) {
      kymo_writer_poison(UINT64_MAX);
      uint64_t times = __atomic_add_fetch(&poisoned, 1, __ATOMIC_RELAXED);
      if (times % 8 == 0)
        check_ring(false);
    }
    sched_yield();
  }
  pthread_join(thread, NULL);
  check_ring(true);
  struct kymo_pool_view view = own_pool();
  struct kymo_ring_view ring = kymo_pool_ring(&view, 0, 0);
  uint64_t full = recorded / ((view.packet_size - KYMO_PACKET_HEADER_SIZE - KYMO_PACKET_SLACK) / EVENT_SIZE);
  uint64_t opened = ring.control->opened;
  print_message("# poisoned %llu times: %llu packets instead of %llu\n", (unsigned long long)poisoned,
                (unsigned long long)opened, (unsigned long long)full + 1);
  assert_true(opened > full + 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pitfall_1_packets_poisoned_by_others_are_closed_by_their_owner),
  };
  return cmocka_run_group_tests(tests, start_recording, stop_recording);
}

#else

/* Poison means something only where the hot path reads the counter itself. */
static void pitfall_1_packets_poisoned_by_others_are_closed_by_their_owner(void **state) {
  (void)state;
  skip();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pitfall_1_packets_poisoned_by_others_are_closed_by_their_owner)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
