/* SPDX-License-Identifier: MIT */
/* Writes structs with all that C has in them by fwrite(): their bytes are those of the compiler and the
 * machine. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum state { IDLE, BUSY = 2, BROKEN = 7 };
enum sign { MINUS = -1, PLUS = 1 };
enum rights { READ = 1, WRITE = 2, RUN = 8 };
struct point {
  int16_t x, y;
};
struct never;
typedef struct {
  uint8_t a;
  uint32_t b;
} pair_t;

struct sample {
  uint64_t time;
  uint8_t kind;
  /* padding */
  enum state state;
  enum sign sign;
  enum rights rights;
  char name[7];
  char letter;
  struct point at;
  struct point track[2];
  pair_t pair;
  float low;
  double high;
  uint32_t counts[2][3];
  unsigned few : 3;
  int more : 7;
  unsigned : 2;
  unsigned most : 12;
  bool is_good;
  uint8_t raw[3];
  union {
    int i;
    float f;
  } either;
  struct {
    uint8_t inner;
  };
  long double wide;
  struct never *nothing;
  int EVENT, END, next;
};

int main(int argc, char **argv) {
  struct sample samples[3];
  FILE *file = argc == 2 ? fopen(argv[1], "wb") : NULL;
  memset(samples, 0xa5, sizeof samples); /* padding */
  for (int i = 0; i < 3; i++)
    samples[i] = (struct sample){.time = 1000000u + (uint64_t)i,
                                 .kind = (uint8_t)i,
                                 .state = i == 1 ? BUSY : BROKEN,
                                 .sign = i ? PLUS : MINUS,
                                 .rights = i == 2 ? READ | RUN : WRITE,
                                 .name = "sample",
                                 .letter = (char)('a' + i),
                                 .at = {(int16_t)-i, 5},
                                 .track = {{1, 2}, {3, (int16_t)(4 + i)}},
                                 .pair = {7, 70000},
                                 .low = 0.5f,
                                 .high = -2.25,
                                 .counts = {{1, 2, 3}, {4, 5, 6 + (uint32_t)i}},
                                 .few = 5,
                                 .more = -3,
                                 .most = 0xabc,
                                 .is_good = true,
                                 .raw = {1, 2, 3},
                                 .either = {.i = 9},
                                 .inner = 11,
                                 .EVENT = 12,
                                 .END = -13,
                                 .next = 14};
  return !file || fwrite(samples, sizeof *samples, 3, file) != 3 || fclose(file);
}
