/* SPDX-License-Identifier: MIT */
/* Packets that are collected while they are open: no number is left out, which readers would count as lost.
 * Descriptions that grow while events are collected. */
#include "ring_memory.h"
#include <pthread.h>
#include <sched.h>
#include <sys/stat.h>

struct collecting {
  struct pool_memory memory;
  struct test_writer writer;
  struct kymo_collector collector;
  char source[4096], trace[4096];
};

static struct collecting *begin(void) {
  struct collecting *c = calloc(1, sizeof *c);
  struct kymo_error error = {0};
  assert_non_null(c);
  c->memory = make_pool();
  c->writer = write_to(&c->memory.view, 0, 0);
  scratch_directory(c->source);
  scratch_directory(c->trace);
  write_file(c->source, KYMO_POOL_METADATA, "text", 4);
  assert_int_equal(kymo_collect_begin(&c->collector, &c->memory.view, c->source, c->trace, &error), KYMO_OK);
  return c;
}

/* A pass that takes the open packet too. */
static void collect(struct collecting *c) {
  struct kymo_error error = {0};
  c->collector.open_taken_ns = 0;
  assert_int_equal(kymo_collect_closed(&c->collector, true, &error), KYMO_OK);
}

static void remove_all(const char *path) {
  char command[4200];
  snprintf(command, sizeof command, "rm -r '%s'", path);
  assert_int_equal(system(command), 0);
}

/* Ends the trace, and compares the event counts of its packets with `counts`, which ends with -1. */
static void end(struct collecting *c, const int *counts) {
  struct kymo_error error = {0};
  char path[4200];
  struct kymo_packet_header h;
  assert_int_equal(kymo_collect_end(&c->collector, &error), KYMO_OK);
  snprintf(path, sizeof path, "%s/stream_0", c->trace);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  uint64_t number = 0, events = 0;
  for (long at = 0; !fseek(file, at, SEEK_SET) && fread(&h, sizeof h, 1, file) == 1; number++) {
    assert_int_equal(h.packet_seq_num, number);
    assert_int_equal(h.first_event, events);
    assert_int_equal(h.event_count, counts[number]);
    events += h.event_count;
    at += (long)(h.packet_size / 8);
  }
  assert_int_equal(counts[number], -1);
  assert_int_equal(events, c->writer.events);
  fclose(file);
  kymo_collect_free(&c->collector);
  free_pool(&c->memory);
  remove_all(c->source);
  remove_all(c->trace);
  free(c);
}

static void put(struct collecting *c, int events) {
  for (int i = 0; i < events; i++)
    put_event(&c->writer, 7, 21);
}

static void an_open_packet_that_grows_becomes_several(void **state) {
  (void)state;
  struct collecting *c = begin();
  fill_ring(&c->writer, 1, 2);
  collect(c);
  put(c, 3);
  collect(c);
  put(c, 1);
  fill_ring(&c->writer, 1, 4);
  end(c, (const int[]){0, 2, 3, 1, 4, -1});
}

static void an_open_packet_that_is_closed_as_it_was_leaves_no_gap(void **state) {
  (void)state;
  struct collecting *c = begin();
  fill_ring(&c->writer, 1, 2);
  collect(c);
  fill_ring(&c->writer, 1, 4);
  collect(c);
  put(c, 1);
  collect(c);
  fill_ring(&c->writer, 2, 5);
  end(c, (const int[]){0, 2, 4, 1, 5, 5, -1});
}

static void an_open_packet_to_which_nothing_is_added_is_taken_once(void **state) {
  (void)state;
  struct collecting *c = begin();
  fill_ring(&c->writer, 1, 2);
  collect(c);
  collect(c);
  collect(c);
  fill_ring(&c->writer, 1, 1);
  end(c, (const int[]){0, 2, 1, -1});
}

/* ---- descriptions that grow meanwhile ---- */

enum { CLASSES = 20000, ROOM = 24000 };

/* Describes a class by one byte more, then records an event of it; again and again. */
static void *describe(void *of) {
  struct collecting *c = of;
  char path[4200];
  snprintf(path, sizeof path, "%s/" KYMO_POOL_METADATA, c->source);
  FILE *file = fopen(path, "a");
  for (int i = 0; file && i < CLASSES; i++) {
    if (fputc('c', file) == EOF || fflush(file))
      break;
    const struct kymo_ring_control *ring = c->writer.ring.control;
    bool is_full = !ring->opened || c->writer.offset + 32 > T_PACKET_SIZE;
    while (is_full && ring->opened - __atomic_load_n(&ring->consumed, __ATOMIC_ACQUIRE) >= T_PACKETS)
      sched_yield();
    if (is_full)
      fill_ring(&c->writer, 1, 0);
    put_event(&c->writer, 0, 21);
  }
  if (file)
    fclose(file);
  return NULL;
}

/* Whether there are at least as many bytes of description as the number of the last event. */
static void check_described(const char *trace) {
  char path[4200];
  struct kymo_packet_header h;
  struct stat st = {0};
  uint64_t last = 0;
  snprintf(path, sizeof path, "%s/stream_0", trace);
  FILE *file = fopen(path, "r");
  for (long at = 0; file && !fseek(file, at, SEEK_SET) && fread(&h, sizeof h, 1, file) == 1;) {
    last = h.first_event + h.event_count;
    at += (long)(h.packet_size / 8);
  }
  if (file)
    fclose(file);
  snprintf(path, sizeof path, "%s/metadata", trace);
  if (last && (stat(path, &st) || (uint64_t)st.st_size < last))
    fail_msg("event %llu is written, %lld classes are described", (unsigned long long)last,
             (long long)st.st_size);
}

static void no_part_has_an_event_before_its_class(void **state) {
  (void)state;
  struct collecting *c = begin();
  struct kymo_error error = {0};
  struct kymo_collect_room room = {.bytes = ROOM};
  pthread_t thread;
  int status = KYMO_OK, parts = 0;
  c->collector.room = &room;
  assert_int_equal(pthread_create(&thread, NULL, describe, c), 0);
  while (c->collector.sums.events + c->collector.sums.overwritten < CLASSES) {
    c->collector.open_taken_ns = 0;
    status = kymo_collect_closed(&c->collector, true, &error);
    check_described(c->trace);
    if (status != KYMO_COLLECT_FULL)
      continue;
    remove_all(c->trace);
    scratch_directory(c->trace);
    assert_int_equal(kymo_collect_part(&c->collector, c->trace, &error), KYMO_OK);
    room = (struct kymo_collect_room){.bytes = ROOM};
    parts++;
  }
  pthread_join(thread, NULL);
  assert_true(parts > 0);
  print_message("# %d parts\n", parts);
  kymo_collect_free(&c->collector);
  free_pool(&c->memory);
  remove_all(c->source);
  remove_all(c->trace);
  free(c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_open_packet_that_grows_becomes_several),
      cmocka_unit_test(an_open_packet_that_is_closed_as_it_was_leaves_no_gap),
      cmocka_unit_test(an_open_packet_to_which_nothing_is_added_is_taken_once),
      cmocka_unit_test(no_part_has_an_event_before_its_class),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
