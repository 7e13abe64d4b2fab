/* SPDX-License-Identifier: MIT */
/* probed ROUNDS: calls functions without any tracepoint. Compiled with and without optimisation. */
#include <stdio.h>
#include <stdlib.h>

enum shape { ROUND, SQUARE };

__attribute__((noipa)) int add(int number, const char *text, enum shape shape, unsigned char small,
                               double real, unsigned long long wide) {
  return number + text[0] + (int)shape + small + (int)real + (int)wide;
}

struct large {
  long values[4];
};

__attribute__((noipa)) long after_struct(struct large large, int number) { return large.values[0] + number; }

int main(int argc, char **argv) {
  int rounds = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 1;
  long sum = 0;
  for (int i = 0; i < rounds; i++)
    sum += add(i - 2, i % 2 ? "odd" : "even", i % 2 ? SQUARE : ROUND, (unsigned char)i, 1.5, 1ULL << 40);
  sum += after_struct((struct large){{rounds}}, rounds);
  printf("%ld\n", sum);
  return 0;
}
