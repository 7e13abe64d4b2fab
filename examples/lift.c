/* SPDX-License-Identifier: MIT */
/* lift: writes a small log in a custom format, which docs/cookbook.md infers and describes. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static FILE *file;

static void put(uint32_t number, int bytes) {
  for (int i = 0; i < bytes; i++)
    putc((int)(number >> (8 * i) & 0xff), file);
}

/* A record: its kind, its size in bytes with these four, milliseconds since the record before. */
static void begin(uint32_t kind, uint32_t size, uint32_t wait_ms) {
  put(kind, 1), put(4 + size, 1), put(wait_ms, 2);
}

static void door(uint32_t wait_ms, uint32_t what, uint32_t floor) {
  begin(1, 2, wait_ms), put(what, 1), put(floor, 1);
}

static void ride(uint32_t wait_ms, uint32_t from, uint32_t to, uint32_t load_100g) {
  begin(2, 4, wait_ms), put(from, 1), put(to, 1), put(load_100g, 2);
}

static void fault(uint32_t wait_ms, uint32_t alarms, const char *text) {
  begin(3, 1 + (uint32_t)strlen(text), wait_ms), put(alarms, 1), fputs(text, file);
}

int main(int argc, char **argv) {
  if (argc != 2 || !(file = fopen(argv[1], "wb")))
    return fprintf(stderr, "usage: lift FILE\n"), 2;
  fputs("LIFT", file), put(1, 2), put(9, 2), put(1767225600, 4); /* version, floors, 2026-01-01 */
  for (uint32_t i = 0; i < 4; i++) {
    door(800, 1, i), door(4000 + 700 * i, 3, i);
    ride(500, i, 2 * i + 1, 755 + 380 * i);
    if (i == 2)
      fault(2500, 5, "brake hot");
  }
  door(900, 1, 7), door(300, 2, 7), door(3000, 3, 7);
  return fclose(file) ? 1 : 0;
}
