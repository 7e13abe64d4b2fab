/* SPDX-License-Identifier: MIT */
/* A pool in memory of exact size, and a writer that fills it by the protocol that ring.c describes. */
#ifndef KYMO_TEST_RING_MEMORY_H
#define KYMO_TEST_RING_MEMORY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ring/collect.h"
#include "ring/places.h"
#include "ring/ring.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { T_PACKETS = 4, T_ALTERNATE = 2, T_PACKET_SIZE = 1024, T_SLOTS = 3 };

struct pool_memory {
  struct kymo_pool_header *header;
  uint64_t size;
  struct kymo_pool_view view;
};

static inline uint64_t round_to(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

static inline struct kymo_pool_header sound_header(void) {
  struct kymo_pool_header h = {.magic = KYMO_POOL_MAGIC,
                               .version = KYMO_POOL_VERSION,
                               .header_size = 4096,
                               .slots = T_SLOTS,
                               .slots_used = T_SLOTS,
                               .packet_size = T_PACKET_SIZE,
                               .packets = T_PACKETS,
                               .alternate_packets = T_ALTERNATE,
                               .mode = KYMO_MODE_DISCARD,
                               .pid = 1 << 30, /* free */
                               .name = "test"};
  for (int i = 0; i < 16; i++)
    h.uuid[i] = (uint8_t)(i * 17);
  uint64_t packets = T_PACKETS + T_ALTERNATE;
  h.control_size =
      (uint32_t)round_to(sizeof(struct kymo_slot_control) + packets * sizeof(struct kymo_packet_control), 64);
  h.slot_size = round_to(h.control_size + packets * T_PACKET_SIZE, 64);
  return h;
}

/* Memory of exactly the size that the header asks for, so that sanitizers see reads after it. */
static inline struct pool_memory make_pool(void) {
  struct kymo_pool_header h = sound_header();
  struct pool_memory m = {.size = h.header_size + h.slots * h.slot_size};
  void *memory = NULL;
  assert_int_equal(posix_memalign(&memory, 4096, m.size), 0);
  m.header = memset(memory, 0, m.size);
  *m.header = h;
  struct kymo_error error = {0};
  int status = kymo_pool_check(&m.view, m.header, m.size, "pool", &error);
  if (status)
    print_message("%s\n", error.message);
  assert_int_equal(status, KYMO_OK);
  return m;
}

static inline void free_pool(struct pool_memory *m) {
  kymo_pool_close(&m->view);
  free(m->header);
}

/* ---- the writer's side ---- */

static inline uint64_t word_of(uint64_t events, uint32_t offset) { return events << 16 | offset; }

struct test_writer {
  struct kymo_ring_view ring;
  uint64_t events, time;
  uint32_t offset; /* in the open packet */
};

static inline struct test_writer write_to(const struct kymo_pool_view *view, uint32_t slot,
                                          uint32_t alternate) {
  return (struct test_writer){.ring = kymo_pool_ring(view, slot, alternate), .time = 1000};
}

static inline struct kymo_packet_control *newest(struct test_writer *w) {
  uint64_t number = w->ring.control->opened - 1;
  return (struct kymo_packet_control *)(uintptr_t)&w->ring.packet[number & (w->ring.packets - 1)];
}

static inline void close_newest(struct test_writer *w) {
  struct kymo_packet_control *packet = newest(w);
  packet->end = w->ring.control->shared.last;
  packet->discarded = w->ring.control->discarded;
  packet->discarded_large = (uint32_t)w->ring.control->discarded_large;
  packet->discarded_nested = (uint32_t)w->ring.control->discarded_nested;
  __atomic_store_n(&packet->closed, w->ring.control->shared.word, __ATOMIC_RELEASE);
}

static inline void open_next(struct test_writer *w) {
  uint64_t number = w->ring.control->opened;
  struct kymo_packet_control *packet =
      (struct kymo_packet_control *)(uintptr_t)&w->ring.packet[number & (w->ring.packets - 1)];
  __atomic_store_n(&packet->sequence, 0, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_RELEASE);
  __atomic_store_n(&packet->closed, 0, __ATOMIC_RELAXED);
  packet->begin = packet->end = ++w->time;
  packet->first_event = w->events;
  packet->discarded = packet->discarded_before = w->ring.control->discarded;
  packet->tid = 77;
  memcpy(packet->thread_name, "writer\0\0\0\0\0\0\0\0\0", 16);
  w->offset = KYMO_PACKET_HEADER_SIZE;
  __atomic_store_n(&w->ring.control->shared.word, word_of(w->events, w->offset), __ATOMIC_RELEASE);
  __atomic_store_n(&packet->sequence, number + 1, __ATOMIC_RELEASE);
  __atomic_store_n(&w->ring.control->opened, number + 1, __ATOMIC_RELEASE);
}

/* An event of `size` bytes, each of which is `value`. */
static inline void put_event(struct test_writer *w, uint8_t value, uint32_t size) {
  uint64_t number = w->ring.control->opened - 1;
  uint32_t at = (w->offset + 7) & ~7u;
  assert_true(at + size <= w->ring.pool->packet_size);
  uint8_t *data =
      (uint8_t *)(uintptr_t)w->ring.data + (number & (w->ring.packets - 1)) * w->ring.pool->packet_size;
  memset(data + at, value, size);
  w->offset = at + size;
  w->events++;
  __atomic_store_n(&w->ring.control->shared.last, ++w->time, __ATOMIC_RELAXED);
  __atomic_store_n(&w->ring.control->shared.word, word_of(w->events, w->offset), __ATOMIC_RELEASE);
}

/* `count` packets of `events` events each, all but the last one closed. */
static inline void fill_ring(struct test_writer *w, int count, int events) {
  for (int i = 0; i < count; i++) {
    if (i || w->ring.control->opened)
      close_newest(w);
    open_next(w);
    for (int e = 0; e < events; e++)
      put_event(w, (uint8_t)(w->events + 1), 21);
  }
}

static inline struct kymo_packet_header header_of(const uint8_t *packet) {
  struct kymo_packet_header h;
  memcpy(&h, packet, sizeof h);
  return h;
}

/* ---- directories ---- */

static inline void scratch_directory(char path[4096]) {
  const char *parent = getenv("TMPDIR");
  snprintf(path, 4096, "%s/kymo-ring-XXXXXX", parent ? parent : "/tmp");
  assert_non_null(mkdtemp(path));
}

static inline void write_file(const char *directory, const char *name, const void *data, size_t size) {
  char path[8400];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  FILE *out = fopen(path, "w");
  assert_non_null(out);
  assert_int_equal(fwrite(data, 1, size, out), size);
  assert_int_equal(fclose(out), 0);
}

static inline void remove_file(const char *directory, const char *name) {
  char path[8400];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  unlink(path);
  rmdir(path);
}

#endif
