/* SPDX-License-Identifier: MIT */
/*
 * What worker.c records and check_trace.c expects: every event has its thread and its place in that thread's
 * sequence, and all its other bytes follow from these two. So every reader notices a torn, doubled, misplaced
 * or missing event.
 *
 *   work:pair   thread, seq, sum
 *   work:text   thread, seq, sum, text
 *   work:data   thread, seq, data (counted bytes)
 */
#ifndef KYMO_TEST_WORK_H
#define KYMO_TEST_WORK_H

#include <stdint.h>
#include <string.h>

enum { WORK_TEXT_MAX = 64, WORK_DATA_MAX = 96, WORK_THREADS_MAX = 16384 };

/* Threads count their recorded events in a file of these, mapped shared: it outlives a killed process. The
 * sequences of a thread's signal handler are at thread + WORK_HANDLER. */
enum { WORK_HANDLER = WORK_THREADS_MAX / 2 };
struct work_counters {
  uint64_t recorded[WORK_THREADS_MAX];
};

static inline uint64_t work_sum(uint32_t thread, uint64_t seq) {
  uint64_t x = (seq + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ thread;
  return x ^ x >> 29;
}

static inline void work_text(char out[WORK_TEXT_MAX], uint32_t thread, uint64_t seq) {
  size_t length = 1 + (size_t)((seq * 7 + thread) % 41); /* babeltrace2 2.0.4 prints empty texts wrongly */
  for (size_t i = 0; i < length; i++)
    out[i] = (char)('a' + (seq + i * 3) % 26);
  out[length] = 0;
}

static inline size_t work_data(unsigned char out[WORK_DATA_MAX], uint32_t thread, uint64_t seq) {
  size_t length = (size_t)((seq * 5 + thread) % 67);
  for (size_t i = 0; i < length; i++)
    out[i] = (unsigned char)(seq * 31 + i * 7 + thread);
  return length;
}

#endif
