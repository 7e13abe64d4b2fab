/* SPDX-License-Identifier: MIT */
/* A small CPEL trace in memory, for what reads one besides its input. */
#ifndef KYMO_FUZZ_SMALL_TRACE_H
#define KYMO_FUZZ_SMALL_TRACE_H

#include <kymo/read.h>
#include <string.h>

enum { EVENTS = 40, TRACE_ROOM = 2048 };

static uint8_t trace_bytes[TRACE_ROOM];
static size_t trace_size;

static inline void put(uint32_t value, unsigned bytes) {
  while (bytes-- > 0)
    trace_bytes[trace_size++] = (uint8_t)(value >> 8 * bytes);
}

static inline void put_text(const char *text, size_t size) {
  memcpy(trace_bytes + trace_size, text, size);
  trace_size += size;
}

/* A section that refers to the table of strings, "T". */
static inline void put_section(uint32_t kind, uint32_t size) {
  static const char name[64] = "T";
  put(kind, 4);
  put(size + 64, 4);
  put_text(name, sizeof name);
}

/* Two tracks with pairs of one span. */
static inline void make_trace(void) {
  static const char strings[] = "T\0go_begin\0go_end\0%d\0one\0two\0\0";
  put(0x01000004, 4);
  put(0, 4);
  put(1, 4);
  put(sizeof strings, 4);
  put_text(strings, sizeof strings);
  put_section(3, 4 + 2 * 12);
  for (uint32_t i = 0, table[] = {2, 0, 2, 18, 1, 11, 18}; i < sizeof table / sizeof *table; i++)
    put(table[i], 4);
  put_section(4, 4 + 2 * 8);
  for (uint32_t i = 0, table[] = {2, 0, 21, 1, 25}; i < sizeof table / sizeof *table; i++)
    put(table[i], 4);
  put_section(5, 8 + EVENTS * 20);
  put(EVENTS, 4);
  put(1000000000, 4);
  for (uint32_t i = 0; i < EVENTS; i++) {
    put(0, 4);
    put(i * 100, 4);
    put(i / 2 % 2, 4);
    put(i % 2, 4);
    put(i * i, 4);
  }
}

static inline int open_trace(void *user, bool is_live, struct kymo_trace **out, struct kymo_error *error) {
  (void)user;
  (void)is_live;
  return kymo_trace_open_memory(out, trace_bytes, trace_size, NULL, error);
}

#endif
